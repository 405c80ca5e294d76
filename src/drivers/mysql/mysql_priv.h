// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations shared by the files of the MySQL driver. Names begin with sbmy_,
// because the client library uses mysql_ and my_.
#ifndef MYSQL_PRIV_H
#define MYSQL_PRIV_H

#include <mysql.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/sqlscan.h"
#include "db/driver.h"
#include "drivers/mysql/answer.h"
#include "drivers/mysql/binary.h"
#include "drivers/mysql/errors.h"
#include "drivers/mysql/place.h"

#ifdef HAVE_MY_BOOL
typedef my_bool sbmy_bool;
#else
typedef bool sbmy_bool;
#endif

#ifdef MARIADB_BASE_VERSION
#define SBMY_MARIADB 1
#else
#define SBMY_MARIADB 0
#endif

// In the order of the words of --mysql-ssl; see sbmy_tls().
enum sbmy_tls {
    SBMY_TLS_DISABLED,
    SBMY_TLS_PREFERRED,
    SBMY_TLS_REQUIRED,
    SBMY_TLS_VERIFY_CA,
    SBMY_TLS_VERIFY_IDENTITY,
};

struct sbmy_opts {
    struct sb_opt_list hosts, ports, sockets, ignore;
    const char *user, *password, *password_file, *db;
    const char *defaults_file, *defaults_group, *charset;
    int ssl; // index into sbmy_ssl_words
    const char *ssl_key, *ssl_ca, *ssl_cert, *ssl_cipher;
    bool compression, debug, dry_run;
    bool bypass; // execute statements without the library: wire.c
    bool cleartext_password;
    const char *compression_algorithms;
    int64_t connect_timeout, read_timeout, write_timeout; // ns
    struct {
        bool hosts, ports, user, charset;
    } given; // set by the user
};

#define SBMY_ZLIB "zlib"

// How statements are read.
#define SBMY_SCAN (SB_SQLSCAN_BACKSLASH | SB_SQLSCAN_HASH | SB_SQLSCAN_BANG)

extern const struct sb_opt_table sbmy_opt_table;
extern const char *const sbmy_ssl_words[];

// The state that the connections of one instance share.
struct sbmy_env {
    const struct sbmy_opts *o;
    struct sbmy_ignore ignore;
    struct sbmy_places places;
    char *password;       // NULL: taken from the option files
    char *defaults_file;  // NULL: none
    _Atomic bool no_load; // LOAD DATA LOCAL was refused, the notice is logged
};

struct sbmy_stmt;
struct sbmy_bulk;

// The buffer for one column of a row of a prepared statement. It grows.
struct sbmy_column {
    char *s;
    size_t cap;
    unsigned long len;
    sbmy_bool null, error;
};

struct sbmy_rows {
    MYSQL_BIND *bind; // n of them
    struct sbmy_column *column;
    uint32_t n;
    bool bound; // bind is in effect for the current result
};

// The state of executions that bypass the library (wire.c): buffers, the
// current answer, and the position in it.
struct sbmy_wire {
    int fd;
    bool plain;              // the connection can be used without the library
    bool gone;               // connection lost; the library has not detected it
    bool late;               // the last wait timed out
    char why[200];           // lost between two calls: error of the next call
    bool more;               // more results follow the current one
    bool decoded;            // the columns of the answer are in `shape`
    bool polls;              // waits in poll(), not in recv()
    bool may_omit;           // see sbmy_answer_begin()
    int read_ms, write_ms;   // timeouts; -1: none
    struct sbmy_stmt *shown; // statement of the current answer, or NULL
    uint8_t *in, *out;
    size_t len, cap, out_cap;
    struct sbmy_answer answer;
    // For fetching rows:
    size_t row; // offset of the next row in `in`
    uint64_t rows_left;
    struct sbmy_shape *shape; // allocated for cap_shapes columns
    uint32_t cap_shapes;
    char *text; // values that had to be converted to text
    size_t cap_text;
    char *name; // column name returned last
    size_t cap_name;
};

// The connection: struct sb_conn in this driver.
struct sbmy_conn {
    MYSQL *my; // NULL: not connected, or a dry run
    struct sbmy_env *env;
    const struct sbmy_opts *o;
    const struct sb_host *host;
    uint64_t place; // index of the server: sbmy_places_get()
    // For cancel(), which another thread calls.
    _Atomic int fd;    // -1: none
    _Atomic bool busy; // a call is in progress
    _Atomic bool canceled;
    bool has_lock;
    pthread_mutex_t lock; // guards the pointer bulk
    struct sbmy_bulk *bulk;
    // The current result: of a text statement (res) or of a prepared statement
    // (stmt).
    MYSQL_RES *res;
    struct sbmy_stmt *stmt;
    uint64_t stmt_rows; // number of rows that the library holds
    struct sbmy_rows rows;
    struct sbmy_wire wire;
    uint32_t piped; // results of a pipeline not received yet
    bool first;     // no result of the pipeline was received yet
};

struct sbmy_param {
    union {
        long long i;
        double d;
    };
    unsigned long len;
    sbmy_bool null;
};

// The statement: struct sb_stmt in this driver.
struct sbmy_stmt {
    MYSQL_STMT *st; // NULL in a dry run
    MYSQL_RES *meta;
    // Only for a statement that is executed without the library, otherwise
    // NULL: the type of each parameter, and the column definitions that the
    // server sent last (kept if it does not send them each time).
    uint16_t *types;
    uint8_t *defs; // of ndefs columns
    size_t defs_len;
    uint32_t ndefs;
    MYSQL_BIND *bind; // nparams elements; param follows in the same block
    struct sbmy_param *param;
    uint32_t nparams;
    bool bound; // the types were passed to the library or the server
};

// Fills *res with the result of every statement with --mysql-dry-run.
static inline int sbmy_dry(struct sb_result *res)
{
    res->kind = SB_RESULT_UNKNOWN;
    return 0;
}

static inline struct sbmy_conn *sbmy_own(struct sb_conn *conn)
{
    return (struct sbmy_conn *)conn;
}

// env.c

int sbmy_env_init(
    struct sb_driver_env *env, const void *opts, struct sb_err *err);
void sbmy_env_done(struct sb_driver_env *env);
// Initializes the library for the calling thread. To be called before the
// library is used in a thread that may be new.
void sbmy_thread(void);
// True if the user asked for the library's option files: they provide the
// settings whose options were not given.
bool sbmy_from_files(const struct sbmy_opts *o);
// Returns the mode that --mysql-ssl selects.
enum sbmy_tls sbmy_tls(const struct sbmy_opts *o);

// settings.c

// Applies the options to a new handle. mode: the mode of --mysql-ssl, or the
// one that is tried instead of it.
int sbmy_settings(MYSQL *my, const struct sbmy_env *e, enum sbmy_tls mode,
    struct sb_err *err);

// auth.c

// Restricts the authentication plugins that the server at p may request. To be
// called after sbmy_settings().
void sbmy_auth(MYSQL *my, const struct sbmy_opts *o, struct sbmy_place p,
    enum sbmy_tls mode);

// conn.c

extern const struct sb_generic_ops sbmy_generic_ops;
// Begins a call. Returns 0, or an error code if there is no connection.
int sbmy_begin(struct sbmy_conn *c, struct sb_err *err);
// Ends a call, successful or not. Returns rc.
int sbmy_end(struct sbmy_conn *c, int rc);
// Fills err from an error of the server or the library, and classifies it.
// Returns the code.
int sbmy_fail_with(struct sbmy_conn *c, int native, const char *state,
    const char *text, struct sb_err *err);
int sbmy_fail(struct sbmy_conn *c, struct sb_err *err); // mysql_error()
// Runs a statement and discards its result.
int sbmy_simple(struct sbmy_conn *c, const char *sql, struct sb_err *err);
// Logs a call (--mysql-debug).
void sbmy_trace(struct sbmy_conn *c, const char *fmt, ...) SB_PRINTF(2, 3);

// query.c

extern const struct sb_sql_ops sbmy_sql_ops;
// Stores the answer that has just arrived in *res and c->res.
int sbmy_take(struct sbmy_conn *c, struct sb_result *res, struct sb_err *err);
// Fills the result of a statement without rows that the library has executed.
void sbmy_changed(struct sbmy_conn *c, struct sb_result *res, uint64_t rows,
    uint64_t insert_id);
// Frees the current result and discards those that follow it.
void sbmy_drop_result(struct sbmy_conn *c);
// Discards the results of a text statement that follow the current one.
void sbmy_drop_texts(struct sbmy_conn *c);

// ask.c: internal queries of the driver

// Runs a query. Stores its rows, which have at least ncolumns columns, in *res;
// the caller frees them by mysql_free_result(). *res is NULL after an error. An
// answer without such rows is SB_EQUERY without a native number.
int sbmy_ask(struct sbmy_conn *c, const char *sql, unsigned ncolumns,
    MYSQL_RES **res, struct sb_err *err);
// Returns the next row whose first ncolumns (at least 1) values are not NULL;
// NULL after the last.
MYSQL_ROW sbmy_ask_row(MYSQL_RES *res, unsigned ncolumns);

// stmt.c

int sbmy_prepare(struct sb_conn *conn, struct sb_stmt *stmt, const char *sql,
    size_t len, uint32_t *nparams, struct sb_err *err);
int sbmy_execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err);
void sbmy_close(struct sb_conn *conn, struct sb_stmt *stmt);
// The operation next_result for the result of a prepared statement.
int sbmy_stmt_next(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err);
// Frees the result of c->stmt and discards those that follow it.
void sbmy_stmt_drop(struct sbmy_conn *c);
int sbmy_stmt_fail(
    struct sbmy_conn *c, struct sbmy_stmt *p, struct sb_err *err);
// True if an execution that failed with this error may be retried once after
// the statement was prepared again.
bool sbmy_stmt_forgotten(const struct sbmy_conn *c, int native);
// Returns the description of the columns; NULL if out of memory.
MYSQL_FIELD *sbmy_stmt_fields(struct sbmy_stmt *p);

// rows.c: rows of prepared statements as text

int sbmy_rows_fetch(
    struct sbmy_conn *c, struct sb_cell *cells, struct sb_err *err);
void sbmy_rows_done(struct sbmy_rows *r); // {0} allowed

// wire.c: execution of prepared statements without the library

// To be called for a new connection: decides whether it can be used without
// the library.
void sbmy_wire_open(struct sbmy_conn *c);
// {0} allowed
void sbmy_wire_done(struct sbmy_wire *w);
int sbmy_wire_execute(struct sbmy_conn *c, struct sbmy_stmt *p,
    const struct sb_value *values, struct sb_result *res, struct sb_err *err);
// The operation next_result, if more results follow.
int sbmy_wire_next(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err);
// Ends the current result and discards those that follow it.
void sbmy_wire_drop(struct sbmy_conn *c);

// wire_rows.c: the operations fetch and column for the current result

int sbmy_wire_fetch(
    struct sbmy_conn *c, struct sb_cell *cells, struct sb_err *err);
const char *sbmy_wire_column(struct sbmy_conn *c, uint32_t i);

// bulk.c

extern const struct sb_bulk_ops sbmy_bulk_ops;
// Wakes the threads that wait in a load. Any thread; the caller holds c->lock.
void sbmy_bulk_cancel(struct sbmy_bulk *b);
// To be called when the connection is closed: aborts a load that was not ended.
void sbmy_bulk_drop(struct sbmy_conn *c);
// To be called for a new handle: makes the library refuse every file that the
// server requests, except the rows of a load of c.
void sbmy_bulk_guard(struct sbmy_conn *c, MYSQL *my);

// pipeline.c

int sbmy_pipeline_send(struct sb_conn *conn, const struct sb_item *items,
    uint32_t n, struct sb_err *err);
int sbmy_pipeline_receive(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err);
int sbmy_pipeline_end(struct sb_conn *conn, struct sb_err *err);

// counters.c

// The operation counters of struct sb_info_ops, and its short list.
int sbmy_counters(
    struct sb_conn *conn, const struct sb_counter_sink *to, struct sb_err *err);
#define SBMY_COUNTERS                                                       \
    "Questions,Com_commit,Com_rollback,Handler_read_key,Handler_read_next," \
    "Handler_write,Handler_update,Handler_delete,Threads_connected,"        \
    "Threads_running,Innodb_row_lock_waits,Innodb_row_lock_current_waits,"  \
    "Innodb_buffer_pool_read_requests,Innodb_buffer_pool_reads,"            \
    "Innodb_buffer_pool_pages_dirty,Innodb_buffer_pool_pages_flushed,"      \
    "Innodb_data_fsyncs,Innodb_os_log_written,Innodb_log_waits,"            \
    "Innodb_checkpoint_age,Innodb_history_list_length,Bytes_received,"      \
    "Bytes_sent"

// info.c
extern const struct sb_info_ops sbmy_info_ops;

#endif
