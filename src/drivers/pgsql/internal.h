// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations shared by the files of the PostgreSQL driver.
#ifndef PGSQL_INTERNAL_H
#define PGSQL_INTERNAL_H

#include <assert.h>
#include <libpq-fe.h>
#include <stdatomic.h>

#include "db/driver.h"
#include "kit/buf.h"

struct pgsql_opts {
    struct sb_opt_list host, port; // in the form of libpq
    const char *user, *password, *password_file, *password_command, *db;
    const char *conninfo, *service, *options;
    int sslmode; // index into pgsql_sslmodes
    const char *sslrootcert, *sslcert, *sslkey, *sslcrl, *sslpassword;
    const char *require_auth;
    bool bypass;             // execute statements without libpq: wire.c
    int64_t connect_timeout; // ns, 0: libpq's setting
    struct {
        bool host, port, user, db, sslmode;
    } given; // set by the user
};

extern const char *const pgsql_sslmodes[];

// SQLSTATEs that the driver handles or reports itself.
#define PGSQL_CANCELED      "57014"
#define PGSQL_NO_STATEMENT  "26000"
#define PGSQL_DUP_STATEMENT "42P05"
#define PGSQL_NO_TABLE      "42P01"
#define PGSQL_LOST          "08006"
#define PGSQL_ROLLED_BACK   "40000"
#define PGSQL_VIOLATION     "08P01"

// Maximum number of statements in which the server cannot infer types; others
// are restarted each time that they are prepared in a transaction.
#define PGSQL_DECLARE 64

// The state that the connections of one instance share.
struct pgsql_env {
    const struct pgsql_opts *o;
    PQconninfoOption *conninfo;      // parsed; NULL: none was given
    char *password;                  // from the password file, or NULL
    struct sb_passcmd *passcmd;      // NULL: no --pgsql-password-command
    _Atomic unsigned failed_cancels; // number of cancel requests without effect
    _Atomic bool text_only;    // prepared statements are lost or exist twice
                               // (a pooler): send the SQL text instead
    _Atomic bool no_copy;      // COPY is not supported, the notice is logged
    _Atomic bool no_savepoint; // the server refuses SAVEPOINT
    _Atomic uint64_t declare[PGSQL_DECLARE]; // hashes of statements in which
                                             // the server cannot infer types
};

// Keywords and values for libpq. The strings are not owned.
#define PGSQL_KEYWORDS 64
struct pgsql_target {
    const char *key[PGSQL_KEYWORDS], *value[PGSQL_KEYWORDS]; // end with NULL
    int n;
};

// The kind of answer to a statement, learned from its first execution.
enum pgsql_shape {
    PGSQL_UNKNOWN,
    PGSQL_LIBPQ, // only libpq can handle it
    PGSQL_NO_ROWS,
    PGSQL_ROWS,
};

// The statement: struct sb_stmt in this driver.
struct pgsql_stmt {
    char *sql;     // with $1, $2 ...
    char name[40]; // "": not prepared, the text is sent each time
    uint32_t name_len;
    uint32_t plans; // the connection's `plans` when it was prepared
    uint32_t nfields;
    enum pgsql_shape shape;
    char *columns; // nfields names, each with its NUL
    Oid *types;    // of the parameters, 0: the server infers it; with `bound`
    const uint8_t *bound; // the types that the script declares
    uint32_t ntypes;      // 0: `types` and `bound` are NULL
};

// The answer to an execution without libpq (wire.c).
struct pgsql_wire {
    const char *out; // a request that was not sent yet: out_len bytes
    size_t out_len;
    struct sb_buf in;
    size_t at; // offset of the next message
    uint64_t nrows, affected;
    size_t error;  // offset of the error message, SIZE_MAX: none
    bool counted;  // the answer contained `affected`
    bool commit;   // a COMMIT has succeeded
    bool rollback; // the transaction was rolled back
    bool ready;    // the answer is complete
};

// The message of a server that is about to close the connection.
struct pgsql_closing {
    char state[8];
    char text[256];
};

// The connection: struct sb_conn in this driver.
struct pgsql_conn {
    // The fields that each execution uses are adjacent: with many users, none
    // of them is in the processor's cache.
    int fd;         // libpq's socket
    char status;    // of the transaction: I, T or E; 0: ask libpq
    bool plain;     // the socket can be used without libpq (wire.c)
    bool gone;      // connection lost, which libpq may not have detected
    bool local;     // the socket is a Unix socket (kit/sock.h)
    bool shared;    // other users run in the thread while the server is awaited
    bool blocking;  // the socket is blocking (libpq's is non-blocking)
    uint32_t plans; // incremented when statements must be prepared again
    // Of wait.c:
    bool encrypted;   // by TLS or GSSAPI
    bool hidden;      // decrypted bytes may be left that libpq has not read
    uint64_t look_ns; // how long to wait until it looks for such bytes again
    unsigned wire_executions; // consecutive executions without libpq
    _Atomic bool busy;        // a call is in progress
    _Atomic bool canceled;    // reset by the call that reports it, or the next
    struct pgsql_env *env;
    const struct pgsql_stmt *wire_stmt; // statement of the answer in `wire`, or
                                        // NULL
    struct sb_buf bound;                // parameters to send
    struct pgsql_wire wire;
    PGresult *result; // of the last call, by libpq; NULL: none
    uint64_t row;     // its next row to fetch
    PGconn *db;
    const struct sb_host *host;
    struct pgsql_closing *closing; // received between statements, or NULL
    // For cancel(), which another thread calls.
    _Atomic(PGcancel *) cancel; // NULL: not connected, or used by cancel()
    _Atomic int socket;         // descriptor + 1; 0: not connected
    struct sb_buf sql;          // a NUL-terminated statement
    // Parameters for libpq; allocated for cap_params.
    const char **value;
    int *length, *format;
    uint32_t cap_params;
    uint64_t prepared;    // number of statements so far, for their names
    bool plan_changed;    // the last error was that of a plan which returns
                          // other columns since a table was altered
    struct sb_buf closed; // DEALLOCATE statements for closed statements
    unsigned nclosed;
    bool synced;         // the end of the pipeline was sent
    bool drained;        // its answer was received
    bool failed;         // it could not be sent, or an answer was an error
    uint32_t unanswered; // its statements whose answers were not received
    // Bulk load.
    struct sb_buf copy; // the COPY statements: see bulk.c
    struct sb_buf rows; // rows to send
    uint8_t *field;     // enum pgsql_field, one per column
    uint32_t columns;
    bool heard;      // the server has sent something during COPY, and libpq has
                     // read it
    bool binary;     // the format of the rows
    bool short_load; // began by begin_short()
};

// The fields of an error; "" for missing ones.
struct pgsql_problem {
    const char *state, *text, *detail, *routine;
};

static inline struct pgsql_conn *pgsql_own(struct sb_conn *conn)
{
    return (struct pgsql_conn *)conn;
}

static inline void pgsql_set_busy(struct pgsql_conn *c, bool on)
{
    // Resets the cancel of an earlier call that was complete when it was
    // canceled.
    if (on && atomic_load_explicit(&c->canceled, memory_order_relaxed))
        atomic_store_explicit(&c->canceled, false, memory_order_relaxed);
    atomic_store_explicit(&c->busy, on, memory_order_release);
}

// wait.c

// Around each call in which libpq waits for the server.
void pgsql_call_begin(struct pgsql_conn *c);
void pgsql_call_end(struct pgsql_conn *c);
// Sets whether recv() blocks on the connection's socket.
void pgsql_set_blocking(struct pgsql_conn *c, bool on);

// pgsql.c
extern const struct sb_opt_table pgsql_opt_table;

// target.c

// Truncates a message at the first quote.
void pgsql_cut_quotes(char *text);
// Sets *t to the connection parameters of connection number `number`. password:
// NULL if libpq is to find it.
void pgsql_target_fill(struct pgsql_target *t, const struct pgsql_env *env,
    uint64_t number, const char *password);
// Which names libpq looks up to connect.
enum pgsql_names {
    PGSQL_NO_NAME,  // none: addresses, Unix sockets
    PGSQL_ONE_NAME, // one, before it connects
    PGSQL_NAMES,    // several, or unknown ones; maybe also later
};
enum pgsql_names pgsql_target_names(const struct pgsql_target *t);
// True if libpq supports a connection setting of this name.
bool pgsql_has_setting(const char *keyword);
int pgsql_env_init(
    struct sb_driver_env *env, const void *opts, struct sb_err *err);
void pgsql_env_done(struct sb_driver_env *env);

// conn.c
PGTransactionStatusType pgsql_transaction(const struct pgsql_conn *c);
extern const struct sb_generic_ops pgsql_generic_ops;

// errors.c

// Returns SB_ERESTART, SB_EIGNORE, SB_ELOST or SB_EQUERY for a SQLSTATE and its
// text.
int pgsql_classify(const char *state, const char *text);

// Returns a hint for the user; NULL: none.
const char *pgsql_hint(const char *state, const char *text);

// True if a table was altered since the statement was prepared, so that it has
// other result columns now. routine: the function of the server's source.
bool pgsql_plan_changed(
    const char *state, const char *text, const char *routine);

// True for errors of statements whose parameters have types that the server
// cannot infer.
bool pgsql_types_missing(const char *state);

// True for errors of servers that do not support a command or one of its
// options, such as PostgreSQL-compatible servers.
bool pgsql_not_known(const char *state);

// Copies a message as one line, without blanks at its end. Returns the length.
// out is truncated to size and NUL-terminated.
size_t pgsql_one_line(const char *text, char *out, size_t size);
// The same for a message of libpq. Its lines are sentences or messages, not all
// of which end with a full stop.
size_t pgsql_sentences(const char *text, char *out, size_t size);

// Removes the SQLSTATE and the line LOCATION from messages of the server that
// libpq formatted with PQERRORS_VERBOSE: "FATAL:  53300: sorry, too many
// clients already". Stores the last SQLSTATE in `state`, which does not change
// if the text has no SQLSTATE.
void pgsql_take_state(char *text, char state[6]);

// True if the connection is lost.
bool pgsql_gone(const struct pgsql_conn *c);
// Keeps the server's reason for closing the connection, which it sent without a
// request. The next call that finds the connection closed reports it.
void pgsql_keep_closing(
    struct pgsql_conn *c, const char *state, const char *text);
// Classifies an error, fills err and returns the code.
int pgsql_fail_with(
    struct pgsql_conn *c, const struct pgsql_problem *p, struct sb_err *err);
// *err is an error of the server after which the connection was found closed:
// it was fatal for the session. Returns the code of the loss.
int pgsql_fail_fatal(struct pgsql_conn *c, struct sb_err *err);
// Fills err from r, or from the connection if r is NULL or has no message, and
// classifies it. Returns the code.
int pgsql_fail(struct pgsql_conn *c, const PGresult *r, struct sb_err *err);
// Returns SB_ECANCELED if `tag` is that of a COMMIT whose call was canceled,
// and otherwise 0.
int pgsql_check_commit(
    struct pgsql_conn *c, const char *tag, struct sb_err *err);
// After the tag ROLLBACK. Returns SB_ERESTART if the text is a COMMIT, which
// rolls back if a statement of the transaction has failed, and otherwise 0.
int pgsql_check_rollback(const char *sql, size_t len, struct sb_err *err);

// result.c

// Receives all results of what was sent, and keeps the last one in c->result.
// If one of them is an error, returns it and keeps none.
int pgsql_collect(struct pgsql_conn *c, struct sb_err *err);
#ifdef LIBPQ_HAS_PIPELINING
// Discards the results up to the last sync of a pipeline. Two NULLs in a row
// mean that there are no more. Without BEGIN, the server commits at the sync:
// an error there, after all statements have succeeded, undoes all of them.
// Fills err only if no statement has failed.
int pgsql_drain(struct pgsql_conn *c, struct sb_err *err);
#endif
void pgsql_clear(struct pgsql_conn *c);
// Whether the current result is that of a rollback.
bool pgsql_rolled_back(const struct pgsql_conn *c);
// Describes the current result in *res.
void pgsql_describe(const struct pgsql_conn *c, struct sb_result *res);
// Runs a NUL-terminated text and waits for its results, which are kept until
// the next call. err may be NULL.
int pgsql_run(struct pgsql_conn *c, const char *sql, struct sb_err *err);
// Returns the answer to an internal query that pgsql_run() has run: one result
// with at least `rows` rows and with `columns` columns (0: any number). For any
// other answer, returns NULL and fills *err (which may be NULL); the code is
// SB_EQUERY.
const PGresult *pgsql_answer(
    const struct pgsql_conn *c, int rows, int columns, struct sb_err *err);
// Returns a value of the answer; NULL for SQL NULL and for a position outside
// the result.
const char *pgsql_cell(const PGresult *r, int row, int column);
// The same as a number; NaN: NULL.
double pgsql_number(const PGresult *r, int row, int column);
int pgsql_fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err);
const char *pgsql_column(
    struct sb_conn *conn, struct sb_result *res, uint32_t i);
void pgsql_free_result(struct sb_conn *conn, struct sb_result *res);

// stmt.c

// True if the same statement can be executed after err, the last error. Either
// a table was altered: the statements are prepared again when they are used.
// Or the connection does not have exclusive use of the server's prepared
// statements: from then on, SQL texts are sent, which is logged once.
bool pgsql_stmt_lost(struct pgsql_conn *c, const struct sb_err *err);
int pgsql_query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err);
size_t pgsql_quote(
    struct sb_conn *conn, const char *text, size_t len, char *out, size_t size);
int pgsql_prepare(struct sb_conn *conn, struct sb_stmt *stmt, const char *sql,
    size_t len, const uint8_t *types, uint32_t *nparams, struct sb_err *err);
int pgsql_execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err);
void pgsql_close(struct sb_conn *conn, struct sb_stmt *stmt);
// Returns a NUL-terminated copy for libpq, valid until the next call; NULL with
// *err filled after an error.
const char *pgsql_terminated(
    struct pgsql_conn *c, const char *sql, size_t len, struct sb_err *err);
uint32_t pgsql_scan(const struct sb_conn *conn);
// Sends a statement with its values. Returns 0 or SB_E*.
int pgsql_send_stmt(struct pgsql_conn *c, const struct pgsql_stmt *st,
    const struct sb_value *values, uint32_t n, struct sb_err *err);
// Prepares the statement again if the connection's statements must be prepared
// again since it was prepared. Returns 0 or SB_E*.
int pgsql_renew(
    struct pgsql_conn *c, struct pgsql_stmt *st, struct sb_err *err);

// wire.c

// True if the statement can be executed without libpq.
bool pgsql_wire_ready(const struct pgsql_conn *c, const struct pgsql_stmt *st,
    const struct sb_value *v, uint32_t n);
// Executes it. The result is valid until pgsql_clear(). Returns 0 or SB_E*.
int pgsql_wire_execute(struct pgsql_conn *c, const struct pgsql_stmt *st,
    const struct sb_value *v, uint32_t n, struct sb_err *err);
void pgsql_wire_describe(const struct pgsql_conn *c, struct sb_result *res);
int pgsql_wire_fetch(struct pgsql_conn *c, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err);
void pgsql_wire_clear(struct pgsql_conn *c);

// wait.c

// Waits until libpq can read more, and lets it read. Afterwards, libpq may have
// read nothing. False after an error, which libpq reports.
bool pgsql_receive_more(struct pgsql_conn *c);
// Sends what libpq has not sent yet, and reads what arrives meanwhile. 0, or -1
// with libpq's error.
int pgsql_flush(struct pgsql_conn *c);
// As PQgetResult().
PGresult *pgsql_next(struct pgsql_conn *c);
// As PQputCopyData() and PQputCopyEnd(), but 0 if successful, otherwise -1.
int pgsql_put_copy(struct pgsql_conn *c, const char *data, int len);
int pgsql_put_copy_end(struct pgsql_conn *c, const char *why);
// Reads and discards the rows of COPY TO STDOUT. 0, or -1 if they do not end.
int pgsql_skip_copy(struct pgsql_conn *c);

// pipeline.c
int pgsql_pipeline_send(struct sb_conn *conn, const struct sb_item *items,
    uint32_t n, struct sb_err *err);
int pgsql_pipeline_receive(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err);
int pgsql_pipeline_end(struct sb_conn *conn, struct sb_err *err);

// bulk.c
extern const struct sb_bulk_ops pgsql_bulk_ops;

// info.c
extern const struct sb_info_ops pgsql_info_ops;

// upkeep.c
extern const struct sb_upkeep_ops pgsql_upkeep_ops;

// inspect.c: inspect() of struct sb_info_ops.
int pgsql_inspect(
    struct sb_conn *conn, const struct sb_inspect_sink *to, struct sb_err *err);

// explain.c: explain() of struct sb_info_ops.
int pgsql_explain(struct sb_conn *conn, const struct sb_statement *s,
    const struct sb_plan_sink *to, struct sb_err *err);

// activity.c: activity() and session() of struct sb_info_ops.
int pgsql_activity(struct sb_conn *conn, const struct sb_activity_sink *to,
    struct sb_err *err);
uint64_t pgsql_session(const struct sb_conn *conn);

// statements.c: statements() of struct sb_info_ops.
int pgsql_statements(struct sb_conn *conn, const struct sb_statement_sink *to,
    struct sb_err *err);

#endif
