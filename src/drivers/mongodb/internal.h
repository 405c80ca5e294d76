// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the MongoDB driver share.
#ifndef MONGODB_INTERNAL_H
#define MONGODB_INTERNAL_H

#include <assert.h>
#include <mongoc/mongoc.h>
#include <poll.h>
#include <stdatomic.h>

#include "db/driver.h"
#include "drivers/mongodb/bson.h"
#include "kit/buf.h"
#include "kit/spin.h"

struct sbmo_opts {
    const char *url, *db, *user, *password, *password_file, *password_command,
        *auth_source;
    const char *write_concern, *app_name;
    // Indexes into their choices.
    int journal, read_concern, read_preference, tls, tls_allow_invalid;
    int64_t connect_timeout, selection_timeout, socket_timeout; // ns
    const char *tls_ca, *tls_cert, *tls_password;
    struct {
        bool connect_timeout, selection_timeout, socket_timeout;
    } given;
};

extern const char *const sbmo_switches[];
extern const char *const sbmo_read_concerns[];

// The options that a command is sent with; see struct sbmo_conn.
#define SBMO_WITH_READ    1u
#define SBMO_WITH_WRITE   2u
#define SBMO_WITH_SESSION 4u
#define SBMO_WITHS        8u

// Shared by the connections of one instance; read-only.
struct sbmo_env {
    const struct sbmo_opts *o;
    const struct sb_host *host;
    mongoc_uri_t *uri;          // the URL with the options in it
    struct sb_passcmd *passcmd; // NULL: no --mongo-password-command
    const char *db;
    char *where;                         // its hosts, for messages
    mongoc_read_concern_t *read_concern; // for commands that support one
    mongoc_write_concern_t *write_concern;
    mongoc_read_prefs_t *prefs;
    mongoc_read_prefs_t *primary; // for transactions
    // For the library, which otherwise adds its own.
    mongoc_read_concern_t *no_read_concern;
    mongoc_write_concern_t *no_write_concern;
    bool unacknowledged; // w: 0
    int32_t connect_ms;
    uint64_t selection_ns; // how long to look for a server; 0: once
};

// Properties of a command, which depend on its name and some fields.

// How the library sends the command.
enum sbmo_way {
    SBMO_READ,  // to the server for reads; retried once after a lost connection
    SBMO_WRITE, // to the server for writes
    SBMO_READWRITE, // the same, for an aggregate that ends with $out or $merge
    SBMO_OTHER,     // to the primary, once
};

// Where the answer is.
enum sbmo_shape {
    SBMO_REPLY,  // the reply itself
    SBMO_CURSOR, // documents of a cursor
    SBMO_VALUES, // an array, "values"
    SBMO_COUNT,  // "n" of the reply
};

struct sbmo_kind {
    const char *name;
    enum sbmo_way way;
    enum sbmo_shape shape;
    int result;                       // enum sb_result_kind
    const char *writes;               // the field with its statements, or NULL
    bool read_concern, write_concern; // supports one
};

struct sbmo_command {
    const struct sbmo_kind *kind;
    const char *name;                         // of the command
    bool own_read_concern, own_write_concern; // the command has one
    bool multi;    // changes many documents with one statement
    bool tailable; // its cursor never ends
    uint32_t statements;
    int64_t batch;  // requested size, 0: none
    const char *db; // "$db", or NULL
};

struct sbmo_result {
    bson_t **batch;  // replies of the server, the first of them to the
                     // command itself; the array is reused
    uint32_t n, cap; // of replies, and of memory for them
    size_t room;     // of the array
    enum sbmo_shape shape;
    bool given;           // the reply itself was returned as the only document
    uint32_t at;          // the batch that `walk` iterates over
    struct sb_walk walk;  // documents not returned yet
    struct sb_buf values; // of distinct: consecutive documents
    size_t value_at;
    // Rows for SQL calls.
    bool rows;             // the caller reads rows
    struct sb_buf names;   // of the columns, each with its NUL
    struct sb_buf offsets; // uint32_t each: where a name begins
    struct sb_buf text;    // of the columns of a row
    struct sb_buf spans;   // position of each column
};

struct sbmo_sock; // stream.c

// This driver's struct sb_conn.
struct sbmo_conn {
    struct sbmo_env *env;
    const struct sb_host *host;
    mongoc_client_t *client;          // NULL: not connected
    mongoc_client_session_t *session; // of all commands; NULL: not supported
    bson_t *with[SBMO_WITHS];         // options of a command, by SBMO_WITH_*
    // Session for numbered writes: a write that is sent twice is applied once.
    mongoc_client_session_t *numbered;
    bson_t *with_number;
    int64_t number;
    uint32_t server; // server of the cursor being read, 0: any
    bool in_trx;
    bool has_reply;
    bool loading; // a load is in progress; its writes are always acknowledged
    bool leaving; // disconnecting: use short timeouts
    struct sbmo_result result;
    uint64_t affected; // documents inserted, matched or removed by the last
                       // command of the document API
    struct sb_buf compiled;   // a compiled command with its values
    struct sb_buf bulk, head; // rows to send; the bytes before them
    struct sb_buf columns;    // names of the loaded columns, each with its NUL
    uint32_t ncolumns, nrows;
    // For cancel(), which another thread calls:
    _Atomic bool connected, busy, canceled;
    struct sb_spin guard; // guards the list
    struct sbmo_sock *socks;
    struct sbmo_sock *last; // the socket written to last; NULL: it has been
                            // closed
    char last_name[272];    // its "host:port", kept after it was closed
    int why;                // errno of its last failure; 0: none, or the peer
                            // closed it
    bool found_closed;      // the peer closed it before anything was sent
    bool broken;            // its last function failed, or the peer closed it
};

static inline struct sbmo_conn *sbmo_own(struct sb_conn *conn)
{
    return (struct sbmo_conn *)conn;
}

// Appends to a buffer. False: no memory.
static inline bool sbmo_add(struct sb_buf *b, const void *data, size_t len)
{
    return sb_buf_add(b, data, len) == 0;
}

static inline bool sbmo_canceled(struct sbmo_conn *c)
{
    return atomic_load_explicit(&c->canceled, memory_order_relaxed);
}

// mongodb.c
extern const struct sb_opt_table sbmo_opt_table;

// lua.c, which scripts/embed writes
extern const unsigned char sbmo_lua[], sbmo_lua_declarations[];
extern const struct sb_driver_lua sbmo_lua_modules[];

// settings.c
int sbmo_env_init(
    struct sb_driver_env *env, const void *opts, struct sb_err *err);
void sbmo_env_done(struct sb_driver_env *env);

// conn.c
extern const struct sb_generic_ops sbmo_generic_ops;

// call.c

// Called before and after every call in which the library communicates with
// servers. begin: SB_ELOST if there is no connection.
int sbmo_begin(struct sbmo_conn *c, struct sb_err *err);
void sbmo_end(struct sbmo_conn *c);

// Whether a timeout of the library in ms limits a wait; if not, it is negative
// or very long.
bool sbmo_is_limit(int32_t ms);
// Returns the deadline, for struct sb_host, of a wait that begins now and has
// this timeout.
uint64_t sbmo_deadline(int32_t ms);
// As poll(), with a timeout of the library, but other users of the thread may
// run meanwhile. Returns the number of descriptors with events, or -1 with
// errno. host: NULL if n is 0.
int sbmo_poll(
    const struct sb_host *host, struct pollfd *p, size_t n, int32_t timeout);

// The attempts to find a server for a call; {0} before the first.
struct sbmo_search {
    uint64_t until;   // when they end; 0: not known yet
    bson_error_t why; // the last error with a reason
};
// Called after a failed attempt. If the library has found no server, and the
// time for that is not over, waits and returns true: the call must then be
// repeated. Otherwise, or if the call was canceled, returns false; *e then has
// a reason if the error of an earlier attempt had one. If the library made the
// attempts itself, it would block the thread between them, and a cancel would
// not end them.
bool sbmo_look_again(
    struct sbmo_conn *c, struct sbmo_search *s, bson_error_t *e);
// Calls run(arg), which blocks its thread or computes for long, in a helper
// thread of the core. Returns 0; or SB_ECANCELED with *error if it was canceled
// before run() was called. The wait for a thread has no deadline. Its length
// depends on earlier calls of other users, all of which end, and not on the
// server.
int sbmo_apart(struct sbmo_conn *c, void (*run)(void *arg), void *arg,
    bson_error_t *error);

// stream.c

// Whether connections to the servers of this URL use TLS.
bool sbmo_is_encrypted(const mongoc_uri_t *uri);

// A mongoc_stream_initiator_t; data: the connection.
mongoc_stream_t *sbmo_stream(const mongoc_uri_t *uri,
    const mongoc_host_list_t *host, void *data, bson_error_t *error);
void sbmo_streams_cancel(struct sbmo_conn *c);
// "host:port" of the socket that was written to last, or NULL.
const char *sbmo_stream_last(const struct sbmo_conn *c);
// The descriptor of that socket, or -1.
int sbmo_stream_socket(const struct sbmo_conn *c);

// errors.c

// Server numbers for errors that have no number in the client library.
#define SBMO_HOST_UNREACHABLE 6
#define SBMO_HOST_NOT_FOUND   7
#define SBMO_AUTH_FAILED      18
#define SBMO_NETWORK_TIMEOUT  89
#define SBMO_NO_SERVER        133
#define SBMO_SOCKET           9001

// SB_E* for an error number of a server.
int sbmo_classify(int native);
// A hint for the user, or "".
const char *sbmo_hint(int native);

// An error that a reply reports.
struct sbmo_complaint {
    int native;       // 0: no error
    const char *text; // len bytes
    size_t len;
    const char *name;   // codeName, or ""
    uint32_t others;    // number of errors of further statements
    bool write_concern; // applied, but not acknowledged as requested
    bool transient;     // the transaction or the command may be retried
    bool unknown;       // unknown whether the commit was applied
    bool retryable;     // the write may be sent again
};
// Looks for an error of the command, of its statements, and of the write
// concern, in this order. False if there is no error.
bool sbmo_read_complaint(
    struct sbmo_complaint *c, const uint8_t *reply, size_t len);

// Fills err with the library's error, or with the server's if there is a reply
// (NULL: none). Returns the code.
int sbmo_fail(struct sbmo_conn *c, const bson_error_t *e, const bson_t *reply,
    struct sb_err *err);
// The same while connecting.
int sbmo_no_connection(
    struct sbmo_conn *c, const bson_error_t *e, struct sb_err *err);
// Fills err with the error that the server reported.
int sbmo_set_complaint(const struct sbmo_complaint *p, struct sb_err *err);

// command.c

// False if body is not a document with at least one field.
bool sbmo_look(struct sbmo_command *c, const uint8_t *body, size_t len);
// A document whose first key is the name of the command. "$db" in it selects a
// database other than the connection's. *res is filled as by query(): ROWS for
// commands that read (nrows: documents, all of which have arrived), WRITE for
// those that write (affected: documents inserted, matched or removed), NONE for
// others. A reply with "ok": 1 that contains errors of single writes or of the
// write concern is an error; *res is filled also in this case.
int sbmo_command(struct sb_conn *conn, const uint8_t *body, size_t len,
    struct sb_result *res, struct sb_err *err);

// result.c
void sbmo_result_clear(struct sbmo_result *r);
void sbmo_result_done(struct sbmo_result *r);
// Returns space for one more batch, which the library fills in; NULL: no
// memory.
bson_t *sbmo_result_batch(struct sbmo_result *r);
// Reads the cursor in batch i: its documents, its id, its namespace. False if
// there is none.
struct sbmo_cursor {
    struct sb_elem documents, ns;
    int64_t id;
};
bool sbmo_result_cursor(
    const struct sbmo_result *r, uint32_t i, struct sbmo_cursor *out);
// All batches have arrived: counts the documents and moves to the first.
int sbmo_result_ready(
    struct sbmo_result *r, struct sb_result *res, struct sb_err *err);
// Gets the next document of the result. Returns 1, 0 after the last one, or
// SB_E*. The documents are those of the cursor, if the reply has one;
// {"value": ...} for each value of "distinct"; otherwise the reply. Valid until
// free_result().
int sbmo_next(struct sb_conn *conn, struct sb_result *res, const uint8_t **doc,
    size_t *len, struct sb_err *err);
// Returns the (first) reply of the server to the last command, also if it
// failed; NULL if there was none.
const uint8_t *sbmo_reply(struct sb_conn *conn, size_t *len);

// rows.c
extern const struct sb_sql_ops sbmo_sql_ops;

// trx.c

// Creates the sessions of the connection; those that the server does not
// support stay NULL. 0 or SB_E*.
int sbmo_sessions_init(struct sbmo_conn *c, struct sb_err *err);
void sbmo_sessions_done(struct sbmo_conn *c);
// Begins, commits or aborts a transaction on the connection's session; commands
// between the begin and the end are part of it.
struct sbmo_doc_transaction;
int sbmo_transaction(struct sb_conn *conn, const struct sbmo_doc_transaction *t,
    struct sb_err *err);
int sbmo_abort(struct sbmo_conn *c, struct sb_err *err);

// json.c

// Convert Extended JSON to a document and back. The caller frees the result
// with free(). NULL on failure, with *err filled. Any thread.
uint8_t *sbmo_from_json(
    const char *json, size_t len, size_t *doc_len, struct sb_err *err);
char *sbmo_to_json(
    const uint8_t *doc, size_t len, size_t *json_len, struct sb_err *err);
// Appends the text of a value to m: numbers and texts unchanged, documents and
// arrays as JSON. False: no memory.
bool sbmo_value_text(struct sb_buf *m, const struct sb_elem *e);

// activity.c: activity() and session() of struct sb_info_ops.
int sbmo_activity(struct sb_conn *conn, const struct sb_activity_sink *to,
    struct sb_err *err);
uint64_t sbmo_session(const struct sb_conn *conn);

// bulk.c, info.c
extern const struct sb_bulk_ops sbmo_bulk_ops;
extern const struct sb_info_ops sbmo_info_ops;
extern const struct sb_upkeep_ops sbmo_upkeep_ops;

#endif
