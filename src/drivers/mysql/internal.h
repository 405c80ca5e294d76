// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations shared by the files of the MySQL driver. Names begin with sbmy_,
// because the client library uses mysql_ and my_.
#ifndef MYSQL_INTERNAL_H
#define MYSQL_INTERNAL_H

#include <assert.h>
#include <mysql.h>
#include <pthread.h>
#include <stdatomic.h>

#include "db/driver.h"
#include "drivers/mysql/protocol.h"
#include "kit/buf.h"
#include "kit/sqlscan.h"

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

// The library can be told where to wait: sbmy_socket_library().
#if HAVE_DECL_MARIADB_OPT_IO_WAIT
#define SBMY_LOOP 1
#else
#define SBMY_LOOP 0
#endif

// Oracle's library has calls that do not wait: sbmy_store_result().
#if !SBMY_MARIADB && defined(HAVE_MYSQL_STORE_RESULT_NONBLOCKING)
#define SBMY_NONBLOCKING 1
#else
#define SBMY_NONBLOCKING 0
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
    const char *user, *password, *password_file, *password_command, *db;
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

// Numbers of the client library that the driver also uses for its own errors.
enum {
    SBMY_CR_GONE = 2006,         // the server has gone away
    SBMY_CR_FILE_REFUSED = 2068, // LOAD DATA LOCAL
    SBMY_CR_SSL = 2026,
    SBMY_CR_PLUGIN_REFUSED = 5010, // in MariaDB's library: of authentication
};

// --mysql-ignore-errors, read once.
struct sbmy_ignore {
    bool all;
    int *code; // n of them
    size_t n;
};

struct sbmy_place {
    const char *host;   // NULL: the library's default
    unsigned port;      // 0: the library's default
    const char *socket; // NULL: host and port are used
};

// The servers of the connections, in turn: hosts and ports, or sockets.
struct sbmy_places {
    const struct sb_opt_list *hosts, *ports, *sockets;
};

// The state that the connections of one instance share.
struct sbmy_env {
    const struct sbmy_opts *o;
    struct sbmy_ignore ignore;
    struct sbmy_places places;
    char *password;             // NULL: taken from the option files
    struct sb_passcmd *passcmd; // NULL: no --mysql-password-command
    char *defaults_file;        // NULL: none
    _Atomic bool no_load; // LOAD DATA LOCAL was refused, the notice is logged
    _Atomic bool
        as_text; // the notice that statements are sent as text was logged
};

struct sbmy_stmt;
struct sbmy_bulk;
struct sbmy_conn;

// One column of a row of a prepared statement: where the library stores a
// number, and the text, whose buffer grows.
struct sbmy_column {
    struct sbmy_shape shape;
    union {
        int64_t i;
        double d;
        float f;
    } number;
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

// The library's socket, for what the driver itself sends and receives.
struct sbmy_socket {
    int fd; // -1: none, or the library has closed it
    const struct sb_host *host;
    bool polls;         // waits in poll(), not in recv()
    bool late;          // the last wait timed out
    bool unsent;        // the last receive could not send the request
    bool tells;         // the library must be told whom it waits for (socket.c)
    const uint8_t *out; // a request that the next receive sends
    size_t out_len;     // 0: none
    int read_ms, write_ms; // timeouts; -1: none
};

// The state of executions that bypass the library (wire.c): buffers, the
// current answer, and the position in it.
struct sbmy_wire {
    bool plain;    // the connection can be used without the library
    bool decoded;  // the columns of the answer are in `shape`
    bool may_omit; // see sbmy_answer_begin()
    bool named;    // parameters have names: query attributes of MySQL 8
    struct sb_buf in, out;
    struct sbmy_answer answer;
    // For fetching rows:
    size_t row; // offset of the next row in `in`
    uint64_t rows_left;
    struct sbmy_shape *shape; // of the columns
    size_t cap_shapes;
    char *text; // values that had to be converted to text
    size_t cap_text;
    char *name; // column name returned last
    size_t cap_name;
};

// The operations on a current result. They depend on where it comes from: a
// text statement, a statement of a pipeline, a prepared statement executed by
// the library, one executed without it, or copies of several results. The
// function that begins a result selects them.
struct sbmy_result_ops {
    // As in struct sb_sql_ops.
    int (*fetch)(struct sbmy_conn *c, struct sb_result *res,
        struct sb_cell *cells, struct sb_err *err);
    const char *(*column)(struct sbmy_conn *c, uint32_t i); // i < nfields
    // Ends the result and receives the one that follows it. Only if c->more.
    // Returns 1, 0 if none follows, or SB_E*.
    int (*next)(struct sbmy_conn *c, struct sb_result *res, struct sb_err *err);
    // Ends the result and discards those that follow it.
    void (*free)(struct sbmy_conn *c);
};

// Which of the results after a result belong to the same call.
enum sbmy_extent {
    SBMY_ALL,     // all
    SBMY_ONE,     // none: it has one result
    SBMY_OF_CALL, // those up to the first one without columns, which ends a
                  // CALL
};

// The results of a call that has several (result.c).
struct sbmy_several {
    struct sb_result *result; // n of them
    size_t n, cap;
    size_t now;         // index of the current result
    uint64_t rows_left; // of the current result, not fetched yet
    // For each result with rows: nfields names, then its values row by row.
    struct sbmy_copy *copy;
    size_t ncopies, cap_copies;
    size_t names; // index of the first name of the current result
    size_t next;  // index of the first value of the next row
    struct sb_buf bytes;
};

// Whether calls can begin. A connection that cannot be used stays in its state
// until it is connected again.
enum sbmy_state {
    SBMY_USABLE,
    SBMY_LOST,
    SBMY_CANCELED, // cancel() has shut its socket down
};

// The connection: struct sb_conn in this driver.
struct sbmy_conn {
    // The fields that each execution uses are adjacent: with many users, none
    // of them is in the processor's cache.
    MYSQL *my; // NULL: not connected, or a dry run
    struct sbmy_env *env;
    const struct sbmy_opts *o;
    const struct sb_host *host;
    uint64_t place; // index of the server: sbmy_places_get()
    // For cancel(), which another thread calls. It may do so as soon as these
    // are zero.
    _Atomic int shared_fd; // descriptor of the socket + 1; 0: not connected;
                           // -1: lost
    _Atomic bool busy;     // a call is in progress
    _Atomic bool canceled; // not reported yet: sbmy_take_cancel()
    bool apart;            // a call of sbmy_apart_begin() is in progress
    enum sbmy_state state; // as the thread of the connection knows
    // The current result.
    const struct sbmy_result_ops *result; // never NULL after connect()
    bool more;                            // other results of the call follow
    struct sbmy_stmt *stmt;               // its prepared statement, or NULL
    MYSQL_RES *res;                       // the rows of a text statement
    uint64_t stmt_rows; // number of rows of `stmt` that the library holds
    struct sbmy_rows rows;
    struct sbmy_socket socket;
    struct sbmy_wire wire;
    struct sbmy_several several;
    uint32_t piped; // results of a pipeline not received yet
    bool first;     // no result of the pipeline was received yet
    bool *calls;    // of each of its statements: whether it is a CALL
    size_t cap_calls;
    uint32_t npiped;         // the number of its statements
    size_t piped_bytes;      // their length
    enum sbmy_extent extent; // of the current text result
    char why[200];           // lost between two calls: error of the next call
    int way;                 // how activity() asks; 0: not known yet
    bool has_lock;
    pthread_mutex_t lock; // guards the pointer bulk
    struct sbmy_bulk *bulk;
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
    char **names; // of the columns; NULL: all are in the library's memory
    uint32_t nnames;
    // Only for a statement that is executed without the library, otherwise
    // NULL and 0: the type of each parameter, the number by which the server
    // knows the statement, and the column definitions that the server sent last
    // (kept if it does not send them each time; NULL: those of the
    // preparation).
    uint16_t *types;
    uint32_t id;
    uint32_t ndefs;
    uint8_t *defs; // of ndefs columns
    size_t defs_len;
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

// Returns SB_EUSAGE if a port is invalid.
int sbmy_places_check(const struct sbmy_places *p, struct sb_err *err);
// Returns the number of places; at least 1.
uint64_t sbmy_places_count(const struct sbmy_places *p);
// Returns the place with index number % count. The order is: the sockets, if
// there are any; otherwise all ports of the first host, then those of the next.
// The strings belong to the lists.
struct sbmy_place sbmy_places_get(const struct sbmy_places *p, uint64_t number);
// True if the place is an IP address: no name has to be looked up.
bool sbmy_place_is_address(struct sbmy_place p);
// Whether the client libraries use their default socket: for the host
// localhost, whatever the port is.
bool sbmy_place_is_default(struct sbmy_place p);

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
// Frees what only the connect needed: the attributes of the connection take 8
// KiB in MariaDB's library.
void sbmy_settings_forget(MYSQL *my);
// Restricts the authentication plugins that the server at p may request. To be
// called after sbmy_settings().
void sbmy_auth(MYSQL *my, const struct sbmy_opts *o, struct sbmy_place p,
    enum sbmy_tls mode);

// The files below are in layers: each one calls only those above it.

// errors.c: errors, and the log of calls

// Parses a list of error numbers and the word "all". SB_EUSAGE names an invalid
// item. To be paired with sbmy_ignore_done(), also after a failure.
int sbmy_ignore_init(
    struct sbmy_ignore *ig, const struct sb_opt_list *list, struct sb_err *err);
void sbmy_ignore_done(struct sbmy_ignore *ig); // {0} allowed

// Returns the code for an error number and SQLSTATE: SB_ERESTART, SB_EIGNORE,
// SB_ERECONNECT, SB_ELOST or SB_EQUERY. Any thread.
int sbmy_classify(const struct sbmy_ignore *ig, int native, const char *state);

// True if the error means that the server or a proxy does not support this
// prepared statement.
bool sbmy_refuses_prepare(int native);
// True if the error means that the server or a proxy does not accept LOAD DATA
// LOCAL.
bool sbmy_refuses_load(int native);
// Returns a hint for the user, or "".
const char *sbmy_hint(int native);

// Fills err from an error of the server or the library, and classifies it.
// Returns the code.
int sbmy_fail_with(struct sbmy_conn *c, int native, const char *state,
    const char *text, struct sb_err *err);
int sbmy_fail(struct sbmy_conn *c, struct sb_err *err); // mysql_error()
// Adds to the error of a lost connection that the call has sent many bytes,
// more than the server may accept.
void sbmy_name_limit(struct sb_err *err, size_t sent);
int sbmy_fail_stmt(
    struct sbmy_conn *c, struct sbmy_stmt *p, struct sb_err *err);
// True if an execution that failed with this error may be retried once after
// the statement was prepared again.
bool sbmy_stmt_forgotten(const struct sbmy_conn *c, int native);
// Logs a call (--mysql-debug).
void sbmy_trace(struct sbmy_conn *c, const char *fmt, ...) SB_PRINTF(2, 3);

// Returns whether cancel() has ended the connection, or its connecting. Its
// calls fail from then on, whatever the server has answered.
bool sbmy_take_cancel(struct sbmy_conn *c);

// socket.c: calls, in which the library or the driver waits for the server

static inline bool sbmy_in_call(const struct sbmy_conn *c)
{
    return c->apart || atomic_load_explicit(&c->busy, memory_order_relaxed);
}

// Begins a call. Returns 0, or an error code if there is no connection or it
// is loading.
int sbmy_call_begin(struct sbmy_conn *c, struct sb_err *err);
// Begins a call that ends what an earlier one began. It cannot fail.
void sbmy_call_resume(struct sbmy_conn *c);
// Ends a call in which the library was not used, successful or not. Returns rc.
// Does not read the library's structures: with many connections, they are not
// in the processor's caches.
int sbmy_call_end_own(struct sbmy_conn *c, int rc);
// Ends any other call, successful or not. Returns rc.
int sbmy_call_end(struct sbmy_conn *c, int rc);
// The same for calls whose socket cancel() does not shut down: connecting,
// closing a statement or the connection.
void sbmy_apart_begin(struct sbmy_conn *c);
void sbmy_apart_end(struct sbmy_conn *c);

// The socket: socket.c is the only file in which the driver itself waits.

// The socket of a new connection. Timeouts in s; 0: none.
void sbmy_socket_init(struct sbmy_socket *s, const struct sb_host *host,
    unsigned read_timeout, unsigned write_timeout);
// Closes the connection during a call. The library detects this when it closes
// the handle. Calls that follow fail with the text in c->why.
void sbmy_socket_hang_up(struct sbmy_conn *c);
// Sends all len bytes. Returns false if the connection is lost, or if the
// server received nothing until the timeout (s->late).
bool sbmy_socket_send(struct sbmy_socket *s, const uint8_t *p, size_t len);
// The same, but may leave the sending to the next sbmy_socket_receive(), until
// which the bytes must be valid: both are then one operation of the core.
bool sbmy_socket_request(struct sbmy_socket *s, const uint8_t *p, size_t len);
// Receives until at least `want` bytes are in the buffer, of which *len are
// there already; at most cap. Returns false as sbmy_socket_send() does.
// s->unsent: because the connection was closed before the request was sent.
bool sbmy_socket_receive(
    struct sbmy_socket *s, uint8_t *in, size_t *len, size_t want, size_t cap);
// Returns the descriptor of the library's socket; -1: the library has closed
// it.
int sbmy_descriptor(MYSQL *my);
// Returns the time of --mysql-connect-timeout for an attempt that begins now.
uint64_t sbmy_socket_deadline(const struct sbmy_conn *c);
// Makes the library wait by host->wait() while it connects, if it can be told
// where to wait, and give up when c is canceled. In the thread that connects.
void sbmy_socket_library_connect(struct sbmy_conn *c, MYSQL *my);
// The same, without giving up, for a new connection.
void sbmy_socket_library(struct sbmy_conn *c);

// Whether other users run in this thread while the functions below wait, and
// the library's own calls would block it. Always false if the library can be
// told where to wait.
bool sbmy_yields(const struct sbmy_conn *c);
// As the library's functions with these names, and with their results.
int sbmy_send_query(struct sbmy_conn *c, const char *sql, size_t len);
int sbmy_read_query_result(struct sbmy_conn *c);
int sbmy_real_query(struct sbmy_conn *c, const char *sql, size_t len);
MYSQL_RES *sbmy_store_result(struct sbmy_conn *c);
int sbmy_next_result(struct sbmy_conn *c);

// meta.c: the parameters and columns of a prepared statement

// Returns the type of a parameter with this value, which is not NULL.
enum enum_field_types sbmy_meta_type(const struct sb_value *v);
// Returns the description of the columns; NULL if out of memory.
MYSQL_FIELD *sbmy_meta_fields(struct sbmy_stmt *p);
void sbmy_meta_drop(struct sbmy_stmt *p);
// To be called after an execution by the library: takes over names of columns
// that have changed on the server. Returns false if out of memory.
bool sbmy_names_take(const struct sbmy_conn *c, struct sbmy_stmt *p);
// To be called when the library has closed the statement.
void sbmy_names_done(struct sbmy_stmt *p);
struct sbmy_shape sbmy_meta_shape(const MYSQL_FIELD *f);

// result.c: the current result

extern const struct sbmy_result_ops sbmy_no_result;
// Makes an answer that has just arrived the current result. stmt: its prepared
// statement, or NULL.
static inline void sbmy_result_set(struct sbmy_conn *c,
    const struct sbmy_result_ops *ops, struct sbmy_stmt *stmt)
{
    assert(c->result == &sbmy_no_result && !c->more && !c->stmt);
    c->result = ops;
    c->stmt = stmt;
}

// There is no result: what it held was freed.
static inline void sbmy_result_unset(struct sbmy_conn *c)
{
    assert(!c->res);
    c->result = &sbmy_no_result;
    c->stmt = NULL;
    c->more = false;
}

// Fills the result of a statement without rows that the library has executed.
void sbmy_result_changed(struct sbmy_conn *c, struct sb_result *res,
    uint64_t rows, uint64_t insert_id);
// If other results of the call follow the one that has just begun (*res),
// receives and copies all of them, so that an error in any of them is that of
// the call. The first one is then the current result. After an error there is
// none. In a call. Returns 0 or SB_E*.
int sbmy_result_collect(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err);
// Frees the current result and discards those that follow it. In a call.
void sbmy_result_drop(struct sbmy_conn *c);
// Operations of struct sb_sql_ops.
int sbmy_result_fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err);
const char *sbmy_result_column(
    struct sb_conn *conn, struct sb_result *res, uint32_t i);
int sbmy_result_next(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err);
void sbmy_result_free(struct sb_conn *conn, struct sb_result *res);

// query.c: text statements

// Makes the answer that has just arrived the current result. of: which of the
// results after it belong to the same call.
int sbmy_text_begin(struct sbmy_conn *c, enum sbmy_extent of,
    struct sb_result *res, struct sb_err *err);
// Discards the results that follow. Returns 0, or the error that one of them
// is.
int sbmy_text_drain(struct sbmy_conn *c, struct sb_err *err);

// Operations of struct sb_sql_ops.
int sbmy_query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err);
size_t sbmy_quote(
    struct sb_conn *conn, const char *text, size_t len, char *out, size_t size);

// Statements of the driver itself.

// Runs a statement and discards its result.
int sbmy_ask_nothing(struct sbmy_conn *c, const char *sql, struct sb_err *err);
// Runs a query. Stores its rows, which have at least ncolumns columns, in *res;
// the caller frees them by mysql_free_result(). *res is NULL after an error. An
// answer without such rows is SB_EQUERY without a native number.
int sbmy_ask(struct sbmy_conn *c, const char *sql, unsigned ncolumns,
    MYSQL_RES **res, struct sb_err *err);
// Returns the next row whose first ncolumns (at least 1) values are not NULL;
// NULL after the last.
MYSQL_ROW sbmy_ask_row(MYSQL_RES *res, unsigned ncolumns);
// The same as both: runs a query and calls take(), which returns 0 or an SB_E*
// that ends the calls and is returned, for each such row.
int sbmy_ask_each(struct sbmy_conn *c, const char *sql, unsigned ncolumns,
    int (*take)(void *arg, MYSQL_ROW row), void *arg, struct sb_err *err);
// Returns the second column of the first row whose first one is this name, in
// any case of letters; NULL: no such row.
const char *sbmy_ask_value(MYSQL_RES *res, const char *name);

// wire.c: execution of prepared statements without the library

// To be called for a new connection: decides whether it can be used without
// the library.
void sbmy_wire_open(struct sbmy_conn *c);
// {0} allowed
void sbmy_wire_done(struct sbmy_wire *w);
int sbmy_wire_execute(struct sbmy_conn *c, struct sbmy_stmt *p,
    const struct sb_value *values, struct sb_result *res, struct sb_err *err);

// stmt.c

void sbmy_rows_done(struct sbmy_rows *r); // {0} allowed
int sbmy_prepare(struct sb_conn *conn, struct sb_stmt *stmt, const char *sql,
    size_t len, const uint8_t *types, uint32_t *nparams, struct sb_err *err);
int sbmy_execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err);
uint32_t sbmy_scan(const struct sb_conn *conn);
void sbmy_close(struct sb_conn *conn, struct sb_stmt *stmt);

// pipeline.c

int sbmy_pipeline_send(struct sb_conn *conn, const struct sb_item *items,
    uint32_t n, struct sb_err *err);
int sbmy_pipeline_receive(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err);
int sbmy_pipeline_end(struct sb_conn *conn, struct sb_err *err);

// bulk.c

// To be called for a new handle: makes the library refuse every file that the
// server requests, except the rows of a load of c.
void sbmy_infile_guard(struct sbmy_conn *c, MYSQL *my);
extern const struct sb_bulk_ops sbmy_bulk_ops;
// Wakes the threads that wait in a load. Any thread; the caller holds c->lock.
void sbmy_bulk_cancel(struct sbmy_bulk *b);
// To be called when the connection is closed: aborts a load that was not ended.
void sbmy_bulk_drop(struct sbmy_conn *c);

// info.c
extern const struct sb_info_ops sbmy_info_ops;

// upkeep.c
extern const struct sb_upkeep_ops sbmy_upkeep_ops;

// inspect.c: inspect() of struct sb_info_ops.
int sbmy_inspect(
    struct sb_conn *conn, const struct sb_inspect_sink *to, struct sb_err *err);

// explain.c: explain() of struct sb_info_ops.
int sbmy_explain(struct sb_conn *conn, const struct sb_statement *s,
    const struct sb_plan_sink *to, struct sb_err *err);

// activity.c: activity() and session() of struct sb_info_ops.
int sbmy_activity(struct sb_conn *conn, const struct sb_activity_sink *to,
    struct sb_err *err);
uint64_t sbmy_session(const struct sb_conn *conn);

// statements.c: statements() of struct sb_info_ops.
int sbmy_statements(struct sb_conn *conn, const struct sb_statement_sink *to,
    struct sb_err *err);

// conn.c
extern const struct sb_generic_ops sbmy_generic_ops;

#endif
