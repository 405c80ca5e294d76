// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the PostgreSQL driver share.
#ifndef PGSQL_PRIV_H
#define PGSQL_PRIV_H

#include <libpq-fe.h>
#include <stdatomic.h>

#include "db/driver.h"
#include "drivers/pgsql/binary.h"
#include "drivers/pgsql/encode.h"
#include "drivers/pgsql/errors.h"

struct pgsql_opts {
    struct sb_opt_list host, port; // as libpq takes them
    const char *user, *password, *password_file, *db;
    const char *conninfo, *service, *options;
    int sslmode; // index into pgsql_sslmodes
    const char *sslrootcert, *sslcert, *sslkey, *sslcrl, *sslpassword;
    const char *require_auth;
    bool bypass;             // libpq, for executions: wire.c
    int64_t connect_timeout; // ns, 0: as libpq finds it
    struct {
        bool host, port, user, db, sslmode;
    } given; // which of them are no defaults
};

extern const char *const pgsql_sslmodes[];

// What the connections of one instance share.
struct pgsql_env {
    const struct pgsql_opts *o;
    PQconninfoOption *conninfo; // parsed; NULL: none was given
    char *password;             // out of the password file, or NULL
    _Atomic unsigned silences;  // cancel requests without effect
    _Atomic bool forgets;       // prepared statements are forgotten or known
                                // twice: a pooler is between
    _Atomic bool no_copy;       // that COPY is not possible was told
};

// Keywords and values for libpq, the strings not owned.
#define PGSQL_KEYWORDS 64
struct pgsql_target {
    const char *key[PGSQL_KEYWORDS], *value[PGSQL_KEYWORDS]; // end with NULL
    int n;
};

// What a statement answers, as its first execution has shown.
enum pgsql_shape {
    PGSQL_UNKNOWN,
    PGSQL_LIBPQ, // something that only libpq can handle
    PGSQL_NO_ROWS,
    PGSQL_ROWS,
};

// What struct sb_stmt is.
struct pgsql_stmt {
    char *sql;     // with $1, $2 ...
    char name[40]; // "": not prepared, the text goes along each time
    uint32_t name_len;
    uint32_t nfields;
    enum pgsql_shape shape;
    char *columns; // nfields names, each with its NUL
};

// An answer as it came (wire.c).
struct pgsql_wire {
    char *in;
    size_t len, cap;
    size_t at; // the message that is looked at next
    uint64_t nrows, affected;
    size_t error; // place of its error message, SIZE_MAX: none
    bool counted; // `affected` was said
    bool ready;   // the answer is complete
};

// What a server says that is about to close the connection.
struct pgsql_farewell {
    char state[8];
    char text[256];
};

// The connection: what struct sb_conn is in this driver.
struct pgsql_conn {
    // What each execution touches lies together: with many users nothing of
    // it is in the processor's cache.
    int fd;                // libpq's socket
    char status;           // of the transaction: I, T or E; 0: libpq knows
    bool plain;            // that socket carries the protocol as it is (wire.c)
    bool gone;             // lost there, which libpq has not noticed
    bool local;            // it is a unix socket (base/sock.h)
    bool waits;            // the socket blocks, as libpq does not want it
    unsigned row_of_wire;  // executions past libpq in a row
    _Atomic bool busy;     // a call is under way
    _Atomic bool canceled; // until a call has said so
    struct pgsql_env *env;
    const struct pgsql_stmt *shown; // whose answer is in `wire`, or NULL
    struct pgsql_text bound;        // parameters on their way
    struct pgsql_wire wire;
    uint32_t nresults, cap_results; // of libpq, those of the last call
    PGresult **result;
    uint32_t now; // the current one ...
    uint64_t row; // ... and its row that fetch gives next
    PGconn *db;
    const struct sb_host *host;
    struct pgsql_farewell *farewell; // said between two statements, or NULL
    // For cancel(), which another thread calls:
    _Atomic(PGcancel *) cancel; // NULL: not connected, or in use there
    _Atomic int socket;         // descriptor + 1; 0: not connected
    struct pgsql_text sql;      // a text with its NUL
    // Parameters for libpq; room for cap_params of them.
    const char **value;
    int *length, *format;
    uint32_t cap_params;
    uint64_t prepared;        // statements so far, for their names
    struct pgsql_text closed; // DEALLOCATE of those that were closed
    unsigned nclosed;
    bool synced;      // the end of the pipeline was sent
    uint32_t waiting; // statements of it that did not succeed so far
    // Bulk load.
    struct pgsql_text copy; // the COPY statements: see bulk.c
    struct pgsql_text rows; // on their way
    uint8_t *field;         // enum pgsql_field, one a column
    uint32_t columns;
    bool binary; // the format of the rows
};

// What an error says; "" for what it does not.
struct pgsql_problem {
    const char *state, *text, *detail;
};

static inline struct pgsql_conn *pgsql_own(struct sb_conn *conn)
{
    return (struct pgsql_conn *)conn;
}

// Whether recv() waits on the connection's socket. wire.c
void pgsql_wire_blocks(struct pgsql_conn *c, bool on);

static inline void pgsql_set_busy(struct pgsql_conn *c, bool on)
{
    atomic_store_explicit(&c->busy, on, memory_order_release);
}

// Around every call in which libpq waits for the server.
static inline void pgsql_call_begin(struct pgsql_conn *c)
{
    c->row_of_wire = 0;
    c->status = 0;
    if (c->waits)
        pgsql_wire_blocks(c, false);
    pgsql_set_busy(c, true);
}

static inline void pgsql_call_end(struct pgsql_conn *c)
{
    pgsql_set_busy(c, false);
}

// pgsql.c
extern const struct sb_opt_table pgsql_opt_table;

// conninfo.c

// Parses a connection string or URI. SB_EUSAGE says what is wrong with it and
// shows nothing of it. *out is the caller's, for PQconninfoFree(), in any case.
int pgsql_conninfo_parse(
    const char *conninfo, PQconninfoOption **out, struct sb_err *err);
// Takes away what a message quotes, to its end.
void pgsql_cut_quotes(char *text);
// Whether the len bytes at s (more may follow) can be a host: a name, an
// address or a folder of sockets.
bool pgsql_is_host(const char *s, size_t len);

// target.c

// Where connection number `number` goes.
void pgsql_target_fill(
    struct pgsql_target *t, const struct pgsql_env *env, uint64_t number);
// Whether libpq has a connection setting of this name.
bool pgsql_knows(const char *keyword);
int pgsql_env_init(
    struct sb_driver_env *env, const void *opts, struct sb_err *err);
void pgsql_env_done(struct sb_driver_env *env);

// conn.c
PGTransactionStatusType pgsql_transaction(const struct pgsql_conn *c);
extern const struct sb_generic_ops pgsql_generic_ops;

// cancel.c: as sb_generic_ops.cancel.
void pgsql_cancel(struct sb_conn *conn);

// result.c

// True when the connection is of no more use.
bool pgsql_gone(const struct pgsql_conn *c);
// Keeps the reason why the server is going to close the connection, which it
// gave when nothing was asked: the next call that finds it closed tells.
void pgsql_keep_farewell(
    struct pgsql_conn *c, const char *state, const char *text);
// Classifies an error, fills err and returns the code.
int pgsql_fail_with(
    struct pgsql_conn *c, const struct pgsql_problem *p, struct sb_err *err);
// Fills err from r, or from the connection when r is NULL or says little, and
// classifies it. Returns the code.
int pgsql_fail(struct pgsql_conn *c, const PGresult *r, struct sb_err *err);
int pgsql_no_memory(struct sb_err *err);
// The results of what was sent, all of them, into c->result. An error of any
// of them is the error of the whole, and nothing is kept.
int pgsql_collect(struct pgsql_conn *c, struct sb_err *err);
// Ends a COPY that no caller asked for. libpq would answer with nothing but it
// for ever, so a COPY that does not end ends the connection: SB_ELOST.
int pgsql_leave_copy(
    struct pgsql_conn *c, ExecStatusType status, struct sb_err *err);
void pgsql_clear(struct pgsql_conn *c);
// What the current result is, for the core.
void pgsql_describe(const struct pgsql_conn *c, struct sb_result *res);
// Runs text that ends with a NUL and waits. Results are kept until the next
// call; err may be NULL.
int pgsql_run(struct pgsql_conn *c, const char *sql, struct sb_err *err);
// The answer to a query of the driver's own, which pgsql_run() has run: one
// result with at least `rows` rows and with `columns` columns (0: any number).
// NULL with *err (which may be NULL) filled for any other; SB_EQUERY.
const PGresult *pgsql_answer(
    const struct pgsql_conn *c, int rows, int columns, struct sb_err *err);
// A cell of it; NULL for SQL NULL and where there is none.
const char *pgsql_cell(const PGresult *r, int row, int column);
int pgsql_fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err);
const char *pgsql_column(
    struct sb_conn *conn, struct sb_result *res, uint32_t i);
int pgsql_next_result(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err);
void pgsql_free_result(struct sb_conn *conn, struct sb_result *res);

// stmt.c
extern const struct sb_sql_ops pgsql_sql_ops;
// A copy with a NUL, for libpq; NULL with *err filled.
const char *pgsql_terminated(
    struct pgsql_conn *c, const char *sql, size_t len, struct sb_err *err);
// Sends a statement with its values. 0 or SB_E*.
int pgsql_send_stmt(struct pgsql_conn *c, const struct pgsql_stmt *st,
    const struct sb_value *values, uint32_t n, struct sb_err *err);
// True when err says that the server's prepared statements are not ours alone;
// from then on their texts are sent. Tells the user once.
bool pgsql_forgotten(struct pgsql_conn *c, const struct sb_err *err);

// wire.c

// Whether the statement can be executed past libpq.
bool pgsql_wire_ready(const struct pgsql_conn *c, const struct pgsql_stmt *st,
    const struct sb_value *v, uint32_t n);
// Executes it; the result is there until pgsql_clear(). 0 or SB_E*.
int pgsql_wire_execute(struct pgsql_conn *c, const struct pgsql_stmt *st,
    const struct sb_value *v, uint32_t n, struct sb_err *err);
void pgsql_wire_describe(const struct pgsql_conn *c, struct sb_result *res);
int pgsql_wire_fetch(struct pgsql_conn *c, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err);
void pgsql_wire_clear(struct pgsql_conn *c);

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

#endif
