// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the MongoDB driver share.
#ifndef MONGODB_PRIV_H
#define MONGODB_PRIV_H

#include <mongoc/mongoc.h>
#include <stdatomic.h>

#include "db/driver.h"
#include "drivers/mongodb/errors.h"
#include "drivers/mongodb/kinds.h"
#include "drivers/mongodb/walk.h"

struct sbmo_opts {
    const char *url, *db, *user, *password, *password_file, *auth_source;
    const char *write_concern, *app_name;
    // Of their choices.
    int journal, read_concern, read_preference, tls, tls_allow_invalid;
    int64_t connect_timeout, selection_timeout, socket_timeout; // ns
    const char *tls_ca, *tls_cert, *tls_password;
    struct {
        bool connect_timeout, selection_timeout, socket_timeout;
    } given;
};

extern const char *const sbmo_switches[];
extern const char *const sbmo_read_concerns[];
extern const char *const sbmo_preferences[];

// Which of the options a command is sent with; see struct sbmo_conn.
#define SBMO_WITH_READ    1u
#define SBMO_WITH_WRITE   2u
#define SBMO_WITH_SESSION 4u
#define SBMO_WITHS        8u

// What the connections of one instance share; nothing of it changes.
struct sbmo_env {
    const struct sbmo_opts *o;
    const struct sb_host *host;
    mongoc_uri_t *uri; // the URL with the options in it
    const char *db;
    char *where;                         // its hosts, for messages
    mongoc_read_concern_t *read_concern; // of commands that take one
    mongoc_write_concern_t *write_concern;
    mongoc_read_prefs_t *prefs;
    // For the library, which adds its own where we said nothing.
    mongoc_read_concern_t *no_read_concern;
    mongoc_write_concern_t *no_write_concern;
    bool unacknowledged; // w: 0
    int32_t connect_ms;
};

// Memory that grows and is kept.
struct sbmo_room {
    uint8_t *p;
    size_t len, cap;
};

struct sbmo_result {
    bson_t **batch; // replies of the server, the first that of the command;
                    // memory for more is kept
    uint32_t n, cap;
    enum sbmo_shape shape;
    bool given;              // the reply, when it is all there is
    uint32_t at;             // batch that `walk` is in
    struct sbmo_walk walk;   // documents still to be given
    struct sbmo_room values; // of distinct: documents, one behind the other
    size_t value_at;
    // Rows for SQL calls.
    bool rows;                // asked for
    struct sbmo_room names;   // of the columns, each with its NUL
    struct sbmo_room offsets; // uint32_t each: where a name begins
    struct sbmo_room text;    // of the cells of a row
    struct sbmo_room spans;   // where each of them lies
};

struct sbmo_sock; // stream.c

// The connection: what struct sb_conn is in this driver.
struct sbmo_conn {
    struct sbmo_env *env;
    const struct sb_host *host;
    mongoc_client_t *client;          // NULL: not connected
    mongoc_client_session_t *session; // every command's; NULL: server has none
    bson_t *with[SBMO_WITHS];         // options of a command, by SBMO_WITH_*
    // Writes with a number of their own, so that one which was sent twice is
    // done once.
    mongoc_client_session_t *numbered;
    bson_t *with_number;
    int64_t number;
    uint32_t server; // where the cursor being read is, 0: anywhere
    bool in_trx;
    bool has_reply;
    bool loading; // rows of a load, which are always confirmed
    bool leaving; // disconnecting: nothing is waited for long
    struct sbmo_result result;
    struct sbmo_room bulk, head; // rows on their way; what comes before them
    struct sbmo_room columns;    // names of the loaded ones, each with its NUL
    uint32_t ncolumns, nrows;
    // For cancel(), which another thread calls:
    _Atomic bool connected, busy, canceled;
    atomic_flag guard; // the list; held for a few system calls at most
    struct sbmo_sock *socks;
    struct sbmo_sock *last; // the one that was written to last; NULL: it was
                            // closed since ...
    char last_name[272];    // ... and its "host:port", also when it is closed
    int why;                // errno of the last failure there; 0: none, or
                            // the other side has closed it
    bool found_closed;      // that one was, before anything was sent
};

static inline struct sbmo_conn *sbmo_own(struct sb_conn *conn)
{
    return (struct sbmo_conn *)conn;
}

static inline bool sbmo_canceled(struct sbmo_conn *c)
{
    return atomic_load_explicit(&c->canceled, memory_order_relaxed);
}

// mongodb.c
extern const struct sb_opt_table sbmo_opt_table;

// settings.c
int sbmo_env_init(
    struct sb_driver_env *env, const void *opts, struct sb_err *err);
void sbmo_env_done(struct sb_driver_env *env);

// conn.c
extern const struct sb_generic_ops sbmo_generic_ops;
// Around every call in which the library talks to servers. begin: SB_ELOST
// when there is no connection.
int sbmo_begin(struct sbmo_conn *c, struct sb_err *err);
void sbmo_end(struct sbmo_conn *c);

// dial.c

// Connects: a blocking descriptor, or -1 with *error and errno.
int sbmo_dial(
    struct sbmo_conn *c, const mongoc_host_list_t *host, bson_error_t *error);
// Puts "where: errno's text" into *error, keeps errno, and returns -1.
int sbmo_no_socket(const char *where, bson_error_t *error);

// stream.c: a mongoc_stream_initiator_t; data: the connection.
mongoc_stream_t *sbmo_stream(const mongoc_uri_t *uri,
    const mongoc_host_list_t *host, void *data, bson_error_t *error);
void sbmo_streams_cancel(struct sbmo_conn *c);
// "host:port" of the socket that was written to last, or NULL.
const char *sbmo_stream_last(const struct sbmo_conn *c);

// fail.c

// Fills err with the library's error, and the server's when it has sent a
// reply (NULL: none). Returns the code.
int sbmo_fail(struct sbmo_conn *c, const bson_error_t *e, const bson_t *reply,
    struct sb_err *err);
// The same while connecting.
int sbmo_no_connection(
    struct sbmo_conn *c, const bson_error_t *e, struct sb_err *err);
// Fills err with what the server complains about.
int sbmo_complain(const struct sbmo_complaint *p, struct sb_err *err);
int sbmo_no_memory(struct sb_err *err);

// command.c

// Sends a command and receives its (first) reply. 0 or SB_E*.
int sbmo_run(struct sbmo_conn *c, const struct sbmo_command *cmd,
    const bson_t *body, struct sb_err *err);
int sbmo_command(struct sb_conn *conn, const uint8_t *body, size_t len,
    struct sb_result *res, struct sb_err *err);
const uint8_t *sbmo_reply(struct sb_conn *conn, size_t *len);

// result.c
void sbmo_result_clear(struct sbmo_result *r);
void sbmo_result_done(struct sbmo_result *r);
// Room for one more batch, to be filled in by the library; NULL: no memory.
bson_t *sbmo_result_batch(struct sbmo_result *r);
// The cursor in batch number i: its documents, its id, its namespace. False
// when there is none.
struct sbmo_cursor {
    struct sbmo_elem documents, ns;
    int64_t id;
};
bool sbmo_result_cursor(
    const struct sbmo_result *r, uint32_t i, struct sbmo_cursor *out);
// All batches are there: counts documents and begins with the first.
int sbmo_result_ready(
    struct sbmo_result *r, struct sb_result *res, struct sb_err *err);
int sbmo_next(struct sb_conn *conn, struct sb_result *res, const uint8_t **doc,
    size_t *len, struct sb_err *err);
uint8_t *sbmo_room(struct sbmo_room *m, size_t more); // NULL: no memory
bool sbmo_room_add(struct sbmo_room *m, const void *p, size_t len);

// rows.c
extern const struct sb_sql_ops sbmo_sql_ops;

// trx.c

// Sessions of the connection; what the server lacks is left NULL. 0 or SB_E*.
int sbmo_sessions_init(struct sbmo_conn *c, struct sb_err *err);
void sbmo_sessions_done(struct sbmo_conn *c);
int sbmo_transaction(struct sb_conn *conn, enum sb_doc_step step,
    const uint8_t *options, size_t len, struct sb_err *err);
int sbmo_abort(struct sbmo_conn *c, struct sb_err *err);

// json.c
uint8_t *sbmo_from_json(
    const char *json, size_t len, size_t *doc_len, struct sb_err *err);
char *sbmo_to_json(
    const uint8_t *doc, size_t len, size_t *json_len, struct sb_err *err);
// Appends the text of a value to m: numbers and texts as they are, documents
// and arrays as JSON. False: no memory.
bool sbmo_value_text(struct sbmo_room *m, const struct sbmo_elem *e);

// bulk.c, info.c
extern const struct sb_bulk_ops sbmo_bulk_ops;
extern const struct sb_info_ops sbmo_info_ops;

#endif
