// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations that the files of db/ share.
#ifndef SB_DB_INTERNAL_H
#define SB_DB_INTERNAL_H

#include <math.h>

#include "base/buf.h"
#include "base/likely.h"
#include "base/log.h"
#include "db/db.h"
#include "db/lru.h"
#include "db/placeholder.h"

struct sb__feed;
struct sb__init_sql;

// An instance: a driver with one set of option values, shared by its
// connections. Protected by the lock of struct sb_drivers.
struct sb__inst {
    struct sb_db *db;
    char *key;  // the overrides as text; NULL: none
    void *opts; // the driver's options struct
    struct sb_driver_env env;
    bool ready;             // env_init has succeeded
    _Atomic bool used;      // a user has opened a connection
    bool kept;              // not freed with its last connection
    unsigned refs;          // connections
    struct sb__feed *feeds; // shared loaders, protected by feed_lock
    struct sb__inst *next;
};

struct sb_db {
    struct sb_drivers *owner;
    const struct sb_driver *drv;
    void *handle; // from dlopen()
    char *file;
    bool given; // some of its options were given by the user
    struct sb__inst base;
    struct sb__inst *more; // with overrides
    struct sb_db *next;
};

struct sb__idle;

struct sb_drivers {
    const char *dir;
    struct sb_opts *o;
    const struct sb_db_opts *opts;
    struct sb_host host;
    pthread_mutex_t lock;      // protects what follows except the atomics
    pthread_mutex_t feed_lock; // protects the lists of shared loaders
    struct sb_db *dbs;         // in order of loading
    struct sb__idle *idle;     // unloaded drivers, see sb_drivers_idle()
    bool noticed;              // the chosen default driver was logged
    _Atomic bool used;
    _Atomic bool used_sql;        // by a driver without documents
    _Atomic bool used_server;     // by a driver without SB_CAP_EMBEDDED
    _Atomic uint64_t connections; // opened so far
    _Atomic unsigned down;        // users that are trying to reconnect
    _Atomic bool crowded;         // a full statement cache was logged
};

// Places for result sets of a connection. Lua holds plain pointers to them: a
// pointer to an earlier result set is rejected until its place is reused.
#define SB__RESULTS 4u

// Statements collected to be sent together (pipeline.c).
struct sb__pipe {
    bool open; // statements are collected, not executed
    bool sent; // answers are being received
    uint32_t n, cap;
    uint32_t next; // the item whose answer is next
    struct sb__pipe_item *item;
    uint32_t nvalues, values_cap, out_cap;
    struct sb_value *value;
    struct sb_item *out; // the items as the driver takes them
    struct sb_buf bytes; // texts of statements and values
    uint64_t start;      // when the items were sent
};

// A growing array of bytes; `data` may move when it grows.
struct sb__bytes {
    uint8_t *data;
    size_t len, cap;
};

// Handles of connections and statements stay readable until their context
// ends, and are reused: Lua may hold a result set longer than the connection
// it came from, and finalizers run in any order.
struct sb_con_priv {
    struct sb_con pub; // first: the handle Lua holds
    struct sb_db_ctx *ctx;
    struct sb__inst *inst;
    const struct sb_driver *drv;
    const struct sb_sql_ops *sql;
    struct sb_conn *conn;
    struct sb_conn_info info;
    struct sb_con_priv *next, *prev; // in the context, protected by its lock
    bool idle;                       // freed, waiting to be reused
    bool open;
    bool cancelable; // protected by the context's lock
    bool debug, emulate;
    bool has_result;
    bool ahead; // res is the next result, which the caller has not requested
    bool freed; // the result set was freed, but more results may follow
    struct sb_result res;
    struct sb_rs rs[SB__RESULTS];
    unsigned rs_now;                  // the only one that may be valid
    struct sb_stmt_handle *statement; // source of the result, NULL: SQL text
    struct sb_err err;
    struct sb_stmt_handle *stmts;
    bool late_stmts;         // some of them were freed during a pipeline
    struct sb__lru prepared; // statements that exist on the server
    struct sb_load *loads;   // list, protected by the context's lock
    struct sb_load *load;    // the one with exclusive use of the connection
    struct sb_buf bulk;      // INSERT text being collected
    size_t bulk_head;        // length before the rows; 0: no bulk insert
    uint32_t bulk_rows;
    bool lost;        // the server is gone; if open, conn must be disconnected
    uint64_t lost_at; // when the loss was detected
    // --db-refresh-*: at this number of events, or at this time
    bool refresh;
    uint64_t events, refresh_event, refresh_at;
    uint64_t event_seen; // the event of the last statement
    struct sb__pipe pipe;
    bool doc_result;               // res comes from a document command
    struct sb__bytes doc_body;     // such a command with its values (doc_op.c)
    struct sb__doc_kept *docs;     // compiled commands and bulks (doc.h)
    struct sb__init_sql *init_sql; // statements of sb_con_init_sql()
    char *failed_sql; // beginning of the last failed statement, or NULL
};

// loader.c ---------------------------------------------------------------

// Opens <dir>/<name>.so and checks its driver. 0, SB_ENOTFOUND (there is no
// such file) or SB_EDRIVER (it cannot be used). The caller frees *out with
// sb__module_close().
int sb__module_open(
    const char *dir, const char *name, struct sb_db **out, struct sb_err *err);
void sb__module_close(struct sb_db *db);
// Checks the struct that a driver exports. 0 or SB_EDRIVER, with an error that
// names the driver and the file.
int sb__driver_check(const struct sb_driver *drv, const char *name,
    const char *file, struct sb_err *err);

// Opens <dir>/<name>-options.so: the options of a driver without the driver.
// NULL if there is no such module, or if it belongs to another build. The
// caller closes *handle with sb__options_close(), which accepts NULL.
const struct sb_driver_options *sb__options_open(
    const char *dir, const char *name, void **handle);
void sb__options_close(void *handle);

// idle.c ---------------------------------------------------------------------

// Adds the default options of a driver that is not loaded to d->idle, if it has
// an options module and they are not there yet. 0 or SB_E*.
int sb__idle_add(struct sb_drivers *d, const char *name, struct sb_err *err);
int sb__idle_each(const struct sb_drivers *d, const char *name,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg);
void sb__idle_done(struct sb_drivers *d);

// drivers.c, inst.c --------------------------------------------------------

void sb__inst_done(struct sb__inst *i);
// Gets the instance with n option overrides, ready for use, and adds a
// reference. The caller drops it with sb__inst_put(). 0 or SB_E*.
int sb__inst_get(struct sb_db *db, const char *const *names,
    const char *const *values, size_t n, struct sb__inst **out,
    struct sb_err *err);
void sb__inst_put(struct sb__inst *i);
// Keeps the instance until its driver is closed, even without references.
void sb__inst_keep(struct sb__inst *i);
// Adds the instances that users have opened connections with and that are not
// in inst[] yet, with a reference each, to the n in inst[], at most up to
// `most`. Returns how many it added. Any thread.
size_t sb__insts_used(
    struct sb_drivers *d, struct sb__inst **inst, size_t n, size_t most);
// Frees all instances with overrides. No connections may be left.
void sb__insts_free(struct sb_db *db);
// Finds an option by name, with or without the driver's prefix; NULL: none.
const struct sb_opt *sb__opt_find(
    const struct sb_driver *drv, const char *name);

// databases.c ----------------------------------------------------------------

// As sb__inst_get(). If the option for the database names several, the
// instance is the one for the next of them.
int sb__inst_in_turn(struct sb_db_ctx *ctx, struct sb_db *db,
    const char *const *names, const char *const *values, size_t n,
    struct sb__inst **out, struct sb_err *err);

// con.c ----------------------------------------------------------------------

// Sets c->cancelable. No other function may do so.
void sb__con_cancelable(struct sb_con_priv *c, bool on);
// Connects c->conn, which must be zeroed. 0 or SB_E*.
int sb__con_connect(struct sb_con_priv *c, struct sb_err *err);

// session.c, reconnect.c, ignore.c -------------------------------------------

// Applies --db-isolation and --db-init-sql to a new connection. 0 or SB_E*.
int sb__session_begin(
    const struct sb_db *db, struct sb_conn *conn, struct sb_err *err);
// The same after a reconnect, and the statements of sb_con_init_sql().
int sb__session_again(struct sb_con_priv *c, struct sb_err *err);
// Frees the statements of sb_con_init_sql().
void sb__session_done(struct sb_con_priv *c);
// Reconnects a lost connection, trying until it succeeds. Returns 0 also if
// the run ends before that, with the connection still lost; SB_ELOST after
// --db-reconnect-timeout.
int sb__con_regain(struct sb_con_priv *c);
// *err: why a new connection, which is closed again, could not be opened. If
// the server may be away, --db-reconnect is on, and the user is late, tries as
// sb__con_regain() and returns 0 when connected. Otherwise returns the error,
// or SB_ECANCELED if the run ended.
int sb__con_await(struct sb_con_priv *c, struct sb_err *err);
// --db-refresh-events, --db-refresh-time: sb__refresh_init() starts counting,
// sb__refresh() reconnects if it is time. 0 or SB_E* as sb__con_error().
void sb__refresh_init(struct sb_con_priv *c);
int sb__refresh(struct sb_con_priv *c);
// 0, or SB_EUSAGE with the first invalid entry of --db-ignore-errors.
int sb__ignore_check(const struct sb_opt_list *list, struct sb_err *err);
bool sb__ignored(const struct sb_opt_list *list, const struct sb_err *e);

// exec.c -------------------------------------------------------------------

// Prepares the connection for another call: ends the last result and clears
// the last error. 0, or SB_EUSAGE (which is logged) if the connection is not
// open or is loading.
int sb__con_begin(struct sb_con_priv *c);
// Clears the last error.
void sb__con_clear(struct sb_con_priv *c);
// Copies the error in c->err to the fields that scripts read. Returns its code.
int sb__con_failed(struct sb_con_priv *c);
// As sb__con_failed(); also counts the error and, if it is fatal, logs
// "<driver>: <what> failed ... for query '<sql>'". Returns the code.
int sb__con_error(
    struct sb_con_priv *c, const char *what, const char *sql, size_t len);
// The current recorder, or NULL.
static inline struct sb_rec *sb__rec(const struct sb_con_priv *c)
{
    return c->ctx->rec ? *c->ctx->rec : NULL;
}
static inline bool sb__timed(const struct sb_con_priv *c)
{
    return sb__rec(c) || c->debug;
}
static inline uint64_t sb__now(const struct sb_con_priv *c)
{
    return sb_clock_now(c->ctx->clock);
}
// Returns the operation of this name, registered with rec's stats. In a mix its
// name begins with that of the component.
int sb__op_named(const struct sb_db_ctx *ctx, struct sb_rec *rec,
    const char *name, enum sb_op_kind kind);
// Returns the operation for the first word of sql.
int sb__op_of_text(
    struct sb_db_ctx *ctx, struct sb_rec *rec, const char *sql, size_t len);
enum sb_op_kind sb__kind_of_text(const char *sql, size_t len);
// The operations for the results after a statement's first one, for preparing,
// reconnecting and connecting.
int sb__op_of_next(struct sb_db_ctx *ctx, struct sb_rec *rec);
int sb__op_of_prepare(struct sb_db_ctx *ctx, struct sb_rec *rec);
int sb__op_of_reconnect(struct sb_db_ctx *ctx, struct sb_rec *rec);
int sb__op_of_connect(struct sb_db_ctx *ctx, struct sb_rec *rec);
// Counts an execution of op that took ns and ended at end_ns: by its result as
// a read, a write or another query, and as a hit or a miss.
void sb__count_result(struct sb_rec *rec, int op, const struct sb_result *res,
    uint64_t ns, uint64_t end_ns);
// Runs SQL text as sb_con_query() does, after sb__con_begin(). op < 0: the
// operation of its first word. 0 or SB_E*.
int sb__con_run(struct sb_con_priv *c, const char *sql, size_t len, int op);
// Runs SQL text whose rows are not needed. 0 or SB_E*.
int sb__con_execute(struct sb_con_priv *c, const char *sql, size_t len);
// Returns the result set of the call that has just succeeded; NULL if it has
// no rows. st: the statement executed, NULL for SQL text.
struct sb_rs *sb__con_result(struct sb_con_priv *c, struct sb_stmt_handle *st);
struct sb__quoting sb__con_quoting(const struct sb_con_priv *c);

// debug.c --------------------------------------------------------------------

// --db-debug: log a statement, with its n values, and its time.
void sb__debug_line(
    struct sb_con_priv *c, uint64_t ns, const char *sql, size_t len);
void sb__debug_stmt(struct sb_con_priv *c, uint64_t ns, const char *sql,
    size_t len, const struct sb_value *values, uint32_t n);

// pipeline.c ------------------------------------------------------------------

// Collect one more statement, while pipe.open is set. 0 or SB_E*.
int sb__pipeline_query(struct sb_con_priv *c, const char *sql, size_t len);
int sb__pipeline_execute(struct sb_con_priv *c, struct sb_stmt_handle *st);
// Fails with SB_EUSAGE, as the error of the connection, while a pipeline is
// open: `what` would be done before the collected statements. Otherwise 0.
int sb__pipeline_refuse(struct sb_con_priv *c, const char *what);
// True if a pipeline is open whose driver accepts SQL texts only.
static inline bool sb__pipeline_of_texts(const struct sb_con_priv *c)
{
    return c->pipe.open && c->sql->pipeline_send &&
           (c->drv->caps & SB_CAP_TEXT_PIPELINE);
}
// Ends a pipeline that was sent and drops its remaining answers. 0 or SB_E*.
int sb__pipeline_end(struct sb_con_priv *c);
// Ends a pipeline in any state and ignores errors.
void sb__pipeline_drop(struct sb_con_priv *c);
void sb__pipeline_done(struct sb_con_priv *c);

// What is needed to execute a statement later.
struct sb__stmt_view {
    const char *sql;
    size_t len;
    struct sb_stmt *stmt; // NULL: emulated
    const struct sb_value *value;
    uint32_t nvalues;
    int op; // -1: nothing is recorded
};
void sb__stmt_view(struct sb_stmt_handle *st, struct sb__stmt_view *out);
// Appends the statement's text with its values filled in. 0 or SB_E* with the
// connection's error filled.
int sb__stmt_text(struct sb_stmt_handle *st, struct sb_buf *out);
// Executes it with these values and counts the execution. 0 or SB_E*.
int sb__stmt_run(struct sb_stmt_handle *st, const struct sb_value *value);

// param.c ---------------------------------------------------------------------

// True if only some drivers accept the value: see sb__value_check().
static inline bool sb__value_is_special(const struct sb_value *v)
{
    return v->type == SB_VALUE_UINT ||
           (v->type == SB_VALUE_DOUBLE && !isfinite(v->d));
}
// 0, or SB_ERANGE for a special value that the driver cannot send unchanged.
int sb__value_check(
    const struct sb_driver *drv, const struct sb_value *v, struct sb_err *err);

// As sb_stmt_param(). NULL on failure, with *err filled.
struct sb_param *sb__param_new(int type, uint64_t max_len, struct sb_err *err);
// Adds a reference, to be dropped with sb_param_free(). Returns param.
struct sb_param *sb__param_keep(struct sb_param *param);
// Writes "1 parameter bound, but the statement has 2 placeholders".
void sb__params_counted(char *out, size_t size, size_t n, unsigned marks);
// Checks that there are n = marks parameters, none of them NULL. 0 or
// SB_EUSAGE.
int sb__params_check(struct sb_param *const *params, size_t n, unsigned marks,
    const char *sql, struct sb_err *err);

// stmt.c, result.c, load.c --------------------------------------------------

// Closes every prepared statement on the server: they are prepared again when
// they are executed next.
void sb__stmts_reset(struct sb_con_priv *c);
// Closes the least recently used statements on the server until there is room
// for `more` under --db-statement-cache. Not while a pipeline needs them.
void sb__stmts_make_room(struct sb_con_priv *c, uint32_t more);
// Frees the statements that the script freed while a pipeline needed them.
void sb__stmts_free_late(struct sb_con_priv *c);
// Called when the connection is freed: keeps only the handles of its
// statements, for sb_stmt_free().
void sb__stmts_orphan(struct sb_con_priv *c);
// Frees the handles of statements without a connection.
void sb__stmts_done(struct sb_db_ctx *ctx);
void sb__result_end(struct sb_con_priv *c);
// Aborts the loads that still use the connection.
void sb__loads_drop(struct sb_con_priv *c);
// True if a load that failed to begin is to be retried: rc says that a lock was
// the reason, and `tries` is below the maximum. Logs the first wait.
bool sb__load_wait(int rc, int tries, const char *table);
// Cancels the shared loaders that c uses. The context's lock is held.
void sb__loads_cancel(struct sb_con_priv *c);

// doc.c ----------------------------------------------------------------------

// Called when the connection is freed: its compiled commands and bulks stay
// valid for the functions that free them.
void sb__docs_orphan(struct sb_con_priv *c);
// Frees the remaining ones, and the names of operations.
void sb__docs_done(struct sb_db_ctx *ctx);

// feed.c: shared loaders ------------------------------------------------------

// A block of rows for a loader.
struct sb__block {
    const char *table, *columns;
    uint32_t ncolumns, nrows;
    const struct sb_value *values;
};

// Gets the shared loader of the connection's instance for the table,
// connected. The caller drops it with sb__feed_put(). 0 or SB_E*.
int sb__feed_get(struct sb_con_priv *c, const char *table,
    struct sb__feed **out, struct sb_err *err);
// Drops the loader; the last caller closes its connection.
void sb__feed_put(struct sb__feed *f);
// Sends a block. After a failure all callers get its error; *first is true for
// the caller whose block failed.
int sb__feed_rows(struct sb__feed *f, const struct sb__block *b,
    struct sb_err *err, bool *first);
int sb__feed_commit(struct sb__feed *f, struct sb_err *err, bool *first);
// Rolls back what is not committed; the calls of all other callers fail.
void sb__feed_abandon(struct sb__feed *f, const char *table);
void sb__feed_cancel(struct sb__feed *f);

#endif
