// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the MySQL driver share. Names begin with sbmy_: the client
// library owns mysql_ and my_.
#ifndef MYSQL_PRIV_H
#define MYSQL_PRIV_H

#include <mysql.h>
#include <pthread.h>
#include <stdatomic.h>

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
    bool bypass; // the library, for executions: wire.c
    bool cleartext_password;
    const char *compression_algorithms;
    int64_t connect_timeout, read_timeout, write_timeout; // ns
    struct {
        bool hosts, ports, user, charset;
    } given; // which of them are no defaults
};

#define SBMY_ZLIB "zlib"

extern const struct sb_opt_table sbmy_opt_table;
extern const char *const sbmy_ssl_words[];

// What the connections of one instance share.
struct sbmy_env {
    const struct sbmy_opts *o;
    struct sbmy_ignore ignore;
    struct sbmy_places places;
    char *password;       // NULL: leave it to the client's own files
    char *defaults_file;  // NULL: none
    _Atomic bool no_load; // LOAD DATA LOCAL was refused, the user knows
};

struct sbmy_stmt;
struct sbmy_bulk;

// Place for the cells of one row of a prepared statement; grows.
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
    bool bound; // to the current result
};

// Executions past the library (wire.c): an answer as it came, and how it is
// read.
struct sbmy_wire {
    int fd;
    bool plain;              // the socket carries the protocol as it is
    bool gone;               // lost there, which the library has not noticed
    bool late;               // because the time to wait was over
    char why[200];           // gone between two calls: what the next one says
    bool more;               // results that follow the one that is here
    bool decoded;            // the columns of the answer are in `shape`
    bool polls;              // waits in poll(), not in recv()
    bool may_omit;           // see sbmy_answer_begin()
    int read_ms, write_ms;   // how long to wait; -1: for ever
    struct sbmy_stmt *shown; // whose answer is here, or NULL
    uint8_t *in, *out;
    size_t len, cap, out_cap;
    struct sbmy_answer answer;
    // For who looks at rows:
    size_t row; // the place of the next ...
    uint64_t rows_left;
    struct sbmy_shape *shape; // room for cap_shapes columns
    uint32_t cap_shapes;
    char *text; // cells that are not in the row
    size_t cap_text;
    char *name; // of a column
    size_t cap_name;
};

// The connection: what struct sb_conn is in this driver.
struct sbmy_conn {
    MYSQL *my; // NULL: not connected, or a dry run
    struct sbmy_env *env;
    const struct sbmy_opts *o;
    const struct sb_host *host;
    uint64_t place; // where it goes: sbmy_places_get()
    // For cancel(), which comes from another thread.
    _Atomic int fd;    // -1: none
    _Atomic bool busy; // a call is under way
    _Atomic bool canceled;
    bool has_lock;
    pthread_mutex_t lock; // guards the pointer bulk
    struct sbmy_bulk *bulk;
    // The current result: of a text, or of a prepared statement.
    MYSQL_RES *res;
    struct sbmy_stmt *stmt;
    uint64_t stmt_rows; // how many the library holds of it
    struct sbmy_rows rows;
    struct sbmy_wire wire;
    uint32_t piped; // answers of a pipeline still to come
    bool first;     // the next of them is the first
};

struct sbmy_param {
    union {
        long long i;
        double d;
    };
    unsigned long len;
    sbmy_bool null;
};

// What struct sb_stmt is.
struct sbmy_stmt {
    MYSQL_STMT *st; // NULL in a dry run
    MYSQL_RES *meta;
    // Of a statement that is executed past the library, else NULL: the type of
    // each parameter, and the definitions of columns that the server sent last,
    // where it does not send them each time.
    uint16_t *types;
    uint8_t *defs; // of ndefs columns
    size_t defs_len;
    uint32_t ndefs;
    MYSQL_BIND *bind; // nparams of them; param lies behind, in one block
    struct sbmy_param *param;
    uint32_t nparams;
    bool bound; // the library, or the server, knows the types
};

// What --mysql-dry-run answers.
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
// To be called before the library is used in a thread that may be new.
void sbmy_thread(void);
// What options were not given comes from the client's own files, because the
// user asked for these.
bool sbmy_from_files(const struct sbmy_opts *o);
// --mysql-ssl as a mode.
enum sbmy_tls sbmy_tls(const struct sbmy_opts *o);

// settings.c

// Tells a new handle what the options ask for; mode is --mysql-ssl, or what
// is tried in its place.
int sbmy_settings(MYSQL *my, const struct sbmy_env *e, enum sbmy_tls mode,
    struct sb_err *err);

// auth.c

// Tells a handle, after its settings, which plugins the server at p may choose
// to log in with.
void sbmy_auth(MYSQL *my, const struct sbmy_opts *o, struct sbmy_place p,
    enum sbmy_tls mode);

// conn.c

extern const struct sb_generic_ops sbmy_generic_ops;
// A call begins: 0, or an error code when there is no connection.
int sbmy_begin(struct sbmy_conn *c, struct sb_err *err);
// It ends, with or without an error. Returns rc.
int sbmy_end(struct sbmy_conn *c, int rc);
// Fills err from an error of the server or the library and classifies it.
int sbmy_fail_with(struct sbmy_conn *c, int native, const char *state,
    const char *text, struct sb_err *err);
int sbmy_fail(struct sbmy_conn *c, struct sb_err *err); // mysql_error()
// Runs a statement whose result nobody wants.
int sbmy_simple(struct sbmy_conn *c, const char *sql, struct sb_err *err);
// --mysql-debug: a line about a call.
void sbmy_trace(struct sbmy_conn *c, const char *fmt, ...) SB_PRINTF(2, 3);

// query.c

extern const struct sb_sql_ops sbmy_sql_ops;
// Takes the answer that has just arrived into *res and c->res.
int sbmy_take(struct sbmy_conn *c, struct sb_result *res, struct sb_err *err);
// Frees the current result and reads over those that follow it.
void sbmy_drop_result(struct sbmy_conn *c);
// Reads over the results of a text that follow the one that was taken.
void sbmy_drop_texts(struct sbmy_conn *c);

// ask.c: queries of the driver's own, whose answers may have any shape

// Runs a text. *res: its rows, which have ncolumns columns or more, to be freed
// by mysql_free_result(); NULL after an error. An answer without such rows is
// SB_EQUERY without a native number.
int sbmy_ask(struct sbmy_conn *c, const char *sql, unsigned ncolumns,
    MYSQL_RES **res, struct sb_err *err);
// The next row whose first ncolumns (at least 1) cells are not NULL; NULL
// behind the last.
MYSQL_ROW sbmy_ask_row(MYSQL_RES *res, unsigned ncolumns);

// stmt.c

int sbmy_prepare(struct sb_conn *conn, struct sb_stmt *stmt, const char *sql,
    size_t len, uint32_t *nparams, struct sb_err *err);
int sbmy_execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err);
void sbmy_close(struct sb_conn *conn, struct sb_stmt *stmt);
// As the operation next_result, for the result of a prepared statement.
int sbmy_stmt_next(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err);
// Frees the result of c->stmt and reads over those that follow it.
void sbmy_stmt_drop(struct sbmy_conn *c);
int sbmy_stmt_fail(
    struct sbmy_conn *c, struct sbmy_stmt *p, struct sb_err *err);
// Whether an execution that failed with this error may be tried once more with
// the statement prepared anew.
bool sbmy_stmt_forgotten(const struct sbmy_conn *c, int native);
// Description of the columns; NULL when memory ran out.
MYSQL_FIELD *sbmy_stmt_fields(struct sbmy_stmt *p);

// rows.c: rows of prepared statements as text

int sbmy_rows_fetch(
    struct sbmy_conn *c, struct sb_cell *cells, struct sb_err *err);
void sbmy_rows_done(struct sbmy_rows *r); // {0} allowed

// wire.c: prepared statements executed past the library

// A new connection: finds out whether it can be done there.
void sbmy_wire_open(struct sbmy_conn *c);
// {0} allowed
void sbmy_wire_done(struct sbmy_wire *w);
int sbmy_wire_execute(struct sbmy_conn *c, struct sbmy_stmt *p,
    const struct sb_value *values, struct sb_result *res, struct sb_err *err);
// As the operation next_result, when there are more.
int sbmy_wire_next(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err);
// Ends the result that is here and reads over those that follow it.
void sbmy_wire_drop(struct sbmy_conn *c);

// wire_rows.c: as the operations of the same names, for the result that is here

int sbmy_wire_fetch(
    struct sbmy_conn *c, struct sb_cell *cells, struct sb_err *err);
const char *sbmy_wire_column(struct sbmy_conn *c, uint32_t i);

// bulk.c

extern const struct sb_bulk_ops sbmy_bulk_ops;
// Wakes whoever waits in a load. Any thread; c->lock is held.
void sbmy_bulk_cancel(struct sbmy_bulk *b);
// The connection goes: ends a load that nobody ended.
void sbmy_bulk_drop(struct sbmy_conn *c);
// A new handle: whatever the server asks for, it gets no file of this machine,
// only the rows of a load of c.
void sbmy_bulk_guard(struct sbmy_conn *c, MYSQL *my);

// pipeline.c

int sbmy_pipeline_send(struct sb_conn *conn, const struct sb_item *items,
    uint32_t n, struct sb_err *err);
int sbmy_pipeline_receive(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err);
int sbmy_pipeline_end(struct sb_conn *conn, struct sb_err *err);

// info.c
extern const struct sb_info_ops sbmy_info_ops;

#endif
