// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of db/ share.
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

// A driver with one set of option values: what its connections share.
// Changes under the registry's lock.
struct sb__inst {
    struct sb_db *db;
    char *key;  // the overrides as text; NULL: none
    void *opts; // the driver's options struct
    struct sb_driver_env env;
    bool ready;             // env_init has succeeded
    bool kept;              // stays when its last connection goes
    unsigned refs;          // connections
    struct sb__feed *feeds; // shared loaders, under the registry's feed lock
    struct sb__inst *next;
};

struct sb_db {
    struct sb_drivers *owner;
    const struct sb_driver *drv;
    void *handle; // of dlopen
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
    pthread_mutex_t lock;      // everything below but the atomics
    pthread_mutex_t feed_lock; // lists of shared loaders
    struct sb_db *dbs;         // in order of loading
    struct sb__idle *idle;     // options of others, see sb_drivers_idle()
    bool noticed;              // the guess of the driver was told
    _Atomic bool used;
    _Atomic bool used_sql;        // by a driver without documents
    _Atomic uint64_t connections; // opened so far
    _Atomic unsigned down;        // users that try to get theirs back
    _Atomic bool crowded;         // that statements make room was told
};

// Result sets of a connection that are told from each other. Lua holds plain
// pointers to them: one of an earlier statement is refused until its place is
// taken again.
#define SB__RESULTS 4u

// Statements collected to be sent together (pipeline.c).
struct sb__pipe {
    bool open; // statements are collected, not executed
    bool sent; // their answers are being received
    uint32_t n, cap;
    uint32_t next; // the one to be answered next
    struct sb__pipe_item *item;
    uint32_t nvalues, values_cap, out_cap;
    struct sb_value *value;
    struct sb_item *out; // what the driver is given
    struct sb_buf bytes; // texts
    uint64_t start;      // when they were sent
};

// Bytes that grow; data moves then.
struct sb__bytes {
    uint8_t *data;
    size_t len, cap;
};

// Handles of connections and statements stay readable until their context
// ends, and are used again: Lua may hold a result set longer than the
// connection it came from, and finalizers run in any order.
struct sb_con_priv {
    struct sb_con pub; // first: the handle Lua holds
    struct sb_db_ctx *ctx;
    struct sb__inst *inst;
    const struct sb_driver *drv;
    const struct sb_sql_ops *sql;
    struct sb_conn *conn;
    struct sb_conn_info info;
    struct sb_con_priv *next; // in the context, under its lock
    bool idle;                // freed, waiting to be used again
    bool open;
    bool cancelable; // under the context's lock
    bool debug, emulate;
    bool has_result;
    bool ahead; // the next result is there, but was not asked for yet
    bool freed; // the result set was freed while others may follow
    struct sb_result res;
    struct sb_rs rs[SB__RESULTS];
    unsigned rs_now;                  // the one that may be valid
    struct sb_stmt_handle *statement; // that made the result, NULL: a text
    struct sb_err err;
    struct sb_stmt_handle *stmts;
    struct sb__lru prepared; // those that the server has
    struct sb_load *loads;   // list under the context's lock
    struct sb_load *load;    // the one that has the connection for itself
    struct sb_buf bulk;      // INSERT text being collected
    size_t bulk_head;        // its part before the rows; 0: none begun
    uint32_t bulk_rows;
    bool lost;        // by the server; open tells whether conn needs an end
    uint64_t lost_at; // when it was noticed
    // --db-refresh-*: after so many events, or at that time
    bool refresh;
    uint64_t events, refresh_event, refresh_at;
    uint64_t event_seen; // the event of the last statement
    struct sb__pipe pipe;
    bool doc_result;           // res is that of a document command
    struct sb__bytes doc_body; // such a command with its values (doc_op.c)
    struct sb__doc_kept *docs; // compiled commands and bulks (doc.h)
    char *failed_sql; // beginning of the statement that failed last, or NULL
};

// loader.c ---------------------------------------------------------------

// Opens <dir>/<name>.so and checks its driver. SB_ENOTFOUND: there is no such
// file; SB_EDRIVER: it cannot be used. *out is freed by sb__module_close().
int sb__module_open(
    const char *dir, const char *name, struct sb_db **out, struct sb_err *err);
void sb__module_close(struct sb_db *db);
// Checks what a driver says about itself. SB_EDRIVER names it and the file.
int sb__driver_check(const struct sb_driver *drv, const char *name,
    const char *file, struct sb_err *err);

// The options of a driver without the driver: <dir>/<name>-options.so. NULL
// when there is no such module, or one of another build. *handle is closed by
// sb__options_close(), which takes NULL.
const struct sb_driver_options *sb__options_open(
    const char *dir, const char *name, void **handle);
void sb__options_close(void *handle);

// idle.c ---------------------------------------------------------------------

// Adds the default options of a driver that is not loaded to d->idle, if it has
// an options module. 0 or SB_E*.
int sb__idle_add(struct sb_drivers *d, const char *name, struct sb_err *err);
int sb__idle_each(const struct sb_drivers *d,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg);
void sb__idle_done(struct sb_drivers *d);

// drivers.c, inst.c --------------------------------------------------------

void sb__inst_done(struct sb__inst *i);
// The instance with n overrides, ready, counted as one more user of it.
int sb__inst_get(struct sb_db *db, const char *const *names,
    const char *const *values, size_t n, struct sb__inst **out,
    struct sb_err *err);
void sb__inst_put(struct sb__inst *i);
// It will be asked for again: it lives as long as its driver.
void sb__inst_keep(struct sb__inst *i);
// All instances with overrides; there are no connections any more.
void sb__insts_free(struct sb_db *db);
// The option of this name, with the driver's prefix or without it; NULL: none.
const struct sb_opt *sb__opt_find(
    const struct sb_driver *drv, const char *name);

// databases.c ----------------------------------------------------------------

// As sb__inst_get(), but where the option for databases names several, the
// instance is that of the next one.
int sb__inst_in_turn(struct sb_db_ctx *ctx, struct sb_db *db,
    const char *const *names, const char *const *values, size_t n,
    struct sb__inst **out, struct sb_err *err);

// con.c ----------------------------------------------------------------------

// The only writer of `cancelable`.
void sb__con_cancelable(struct sb_con_priv *c, bool on);
// Connects c->conn, which is zeroed. 0 or SB_E*.
int sb__con_connect(struct sb_con_priv *c, struct sb_err *err);

// session.c, reconnect.c, ignore.c -------------------------------------------

// --db-isolation and --db-init-sql on a connection that has just been made.
int sb__session_begin(
    const struct sb_db *db, struct sb_conn *conn, struct sb_err *err);
// Makes a lost connection again, trying until it works. 0 also when the run
// ends meanwhile, with the connection still lost; SB_ELOST after
// --db-reconnect-timeout.
int sb__con_regain(struct sb_con_priv *c);
// --db-refresh-events, --db-refresh-time: begins counting; makes the
// connection anew when it is time. 0 or SB_E* as sb__con_error().
void sb__refresh_init(struct sb_con_priv *c);
int sb__refresh(struct sb_con_priv *c);
// SB_EUSAGE names an entry of --db-ignore-errors that is none.
int sb__ignore_check(const struct sb_opt_list *list, struct sb_err *err);
bool sb__ignored(const struct sb_opt_list *list, const struct sb_err *e);

// exec.c -------------------------------------------------------------------

// Ready for another call: open and not loading; ends the last result, clears
// the last error. SB_EUSAGE (with its alert) otherwise.
int sb__con_begin(struct sb_con_priv *c);
// Forgets the last error.
void sb__con_clear(struct sb_con_priv *c);
// Puts the error in c->err into the fields scripts read. Returns its code.
int sb__con_failed(struct sb_con_priv *c);
// The same and counts it and, when fatal, logs "<driver>: <what> failed ...
// for query '<sql>'". Returns the code.
int sb__con_error(
    struct sb_con_priv *c, const char *what, const char *sql, size_t len);
// The recorder of the moment, or NULL.
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
// The operation for the first word of sql, registered with rec's stats.
int sb__op_of_text(
    struct sb_db_ctx *ctx, struct sb_rec *rec, const char *sql, size_t len);
enum sb_op_kind sb__kind_of_text(const char *sql, size_t len);
// The operation for results after a statement's first; the one for preparing.
int sb__op_of_next(struct sb_db_ctx *ctx, struct sb_rec *rec);
int sb__op_of_prepare(struct sb_db_ctx *ctx, struct sb_rec *rec);
int sb__op_of_reconnect(struct sb_db_ctx *ctx, struct sb_rec *rec);
// Counts an execution of op that took ns until end_ns, by its result: as a
// read, a write or another query, and as a hit or a miss.
void sb__count_result(struct sb_rec *rec, int op, const struct sb_result *res,
    uint64_t ns, uint64_t end_ns);
// Runs text as sb_con_query() does after sb__con_begin(). op < 0: the
// operation of its first word. 0 or SB_E*.
int sb__con_run(struct sb_con_priv *c, const char *sql, size_t len, int op);
// The result of the call that has just succeeded, for the caller: NULL when it
// has no rows.
struct sb_rs *sb__con_result(struct sb_con_priv *c, struct sb_stmt_handle *st);
struct sb__quoting sb__con_quoting(const struct sb_con_priv *c);

// debug.c --------------------------------------------------------------------

// --db-debug: writes a statement, with its n values, and its time.
void sb__debug_line(
    struct sb_con_priv *c, uint64_t ns, const char *sql, size_t len);
void sb__debug_stmt(struct sb_con_priv *c, uint64_t ns, const char *sql,
    size_t len, const struct sb_value *values, uint32_t n);

// pipeline.c ------------------------------------------------------------------

// Collects one more statement: pipe.open is set. 0 or SB_E*.
int sb__pipeline_query(struct sb_con_priv *c, const char *sql, size_t len);
int sb__pipeline_execute(struct sb_con_priv *c, struct sb_stmt_handle *st);
// SB_EUSAGE, as the error of the connection, while a pipeline is open: `what`
// would be done at once, before what was collected. Otherwise 0.
int sb__pipeline_refuse(struct sb_con_priv *c, const char *what);
// True when a pipeline collects statements that the driver takes as texts.
static inline bool sb__pipeline_of_texts(const struct sb_con_priv *c)
{
    return c->pipe.open && c->sql->pipeline_send &&
           (c->drv->caps & SB_CAP_TEXT_PIPELINE);
}
// Ends what was sent: answers that nobody asked for are dropped.
int sb__pipeline_end(struct sb_con_priv *c);
// The same whatever its state is, and without a word.
void sb__pipeline_drop(struct sb_con_priv *c);
void sb__pipeline_done(struct sb_con_priv *c);

// A statement that is ready for execution.
struct sb__stmt_view {
    const char *sql;
    size_t len;
    struct sb_stmt *stmt; // NULL: emulated
    const struct sb_value *value;
    uint32_t nvalues;
    int op; // -1: nothing is recorded
};
void sb__stmt_view(struct sb_stmt_handle *st, struct sb__stmt_view *out);
// Appends its text with its values in it. 0 or SB_E* with the connection's
// error filled.
int sb__stmt_text(struct sb_stmt_handle *st, struct sb_buf *out);
// Executes it with these values, counted as any execution.
int sb__stmt_run(struct sb_stmt_handle *st, const struct sb_value *value);

// param.c ---------------------------------------------------------------------

// Whether only some drivers can take the value: see sb__value_check().
static inline bool sb__value_is_special(const struct sb_value *v)
{
    return v->type == SB_VALUE_UINT ||
           (v->type == SB_VALUE_DOUBLE && !isfinite(v->d));
}
// SB_ERANGE names a special value that the driver cannot take as it is.
int sb__value_check(
    const struct sb_driver *drv, const struct sb_value *v, struct sb_err *err);

// As sb_stmt_param(). NULL: *err says why.
struct sb_param *sb__param_new(int type, uint64_t max_len, struct sb_err *err);
// One more owner, who calls sb_param_free(). Returns param.
struct sb_param *sb__param_keep(struct sb_param *param);
// "1 parameter bound, but the statement has 2 placeholders"
void sb__params_counted(char *out, size_t size, size_t n, unsigned marks);
// One for each of the marks in sql. 0 or SB_EUSAGE.
int sb__params_check(struct sb_param *const *params, size_t n, unsigned marks,
    const char *sql, struct sb_err *err);

// stmt.c, result.c, load.c --------------------------------------------------

// Closes the server's side of every statement: they are prepared again when
// they are executed next.
void sb__stmts_reset(struct sb_con_priv *c);
// Closes the server's side of those used least recently, until there is room
// for `more` under --db-statement-cache. Not while a pipeline needs them.
void sb__stmts_make_room(struct sb_con_priv *c, uint32_t more);
// Frees the statements whose owner did so while a pipeline was under way.
void sb__stmts_free_late(struct sb_con_priv *c);
// The connection is being freed; of its statements only the handles stay, for
// sb_stmt_free().
void sb__stmts_orphan(struct sb_con_priv *c);
// Frees the handles of statements without a connection.
void sb__stmts_done(struct sb_db_ctx *ctx);
void sb__result_end(struct sb_con_priv *c);
// Loads that still use the connection are given up.
void sb__loads_drop(struct sb_con_priv *c);
// Whether to try once more to begin a load that `tries` times met a lock; tells
// the user what is waited for.
bool sb__load_wait(int rc, int tries, const char *table);
// Cancels the shared loaders that c feeds. The context's lock is held.
void sb__loads_cancel(struct sb_con_priv *c);

// doc.c ----------------------------------------------------------------------

// The connection is being freed; its compiled commands and bulks stay, for
// those who free them.
void sb__docs_orphan(struct sb_con_priv *c);
// Frees what is left of them, and the names of operations.
void sb__docs_done(struct sb_db_ctx *ctx);

// feed.c: shared loaders ------------------------------------------------------

// What a loader sends.
struct sb__block {
    const char *table, *columns;
    uint32_t ncolumns, nrows;
    const struct sb_value *values;
};

// The shared loader of the connection's instance for the table, connected;
// it is the caller's until sb__feed_put().
int sb__feed_get(struct sb_con_priv *c, const char *table,
    struct sb__feed **out, struct sb_err *err);
// Closes the connection when nobody feeds it any more.
void sb__feed_put(struct sb__feed *f);
// Hands over a block. After a failure everybody gets its error; *first is
// true for the one who met it.
int sb__feed_rows(struct sb__feed *f, const struct sb__block *b,
    struct sb_err *err, bool *first);
int sb__feed_commit(struct sb__feed *f, struct sb_err *err, bool *first);
// Somebody gives up: what is not committed is undone, all others fail.
void sb__feed_abandon(struct sb__feed *f, const char *table);
void sb__feed_cancel(struct sb__feed *f);

#endif
