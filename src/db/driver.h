// SPDX-License-Identifier: GPL-2.0-or-later
//
// The driver interface. A driver is a loadable module that exports
//
//     const struct sb_driver sb_driver = { .abi = SB_DRIVER_ABI, ... };
//
// what its own .ffi.h lists and sb_driver_options (below), nothing else.
// docs/driver-api.md explains it; drivers/template/ is a driver to start from.
// The core calls operations from db/ only.
//
// Threads: a connection and everything made from it is used by one thread at
// a time, not always by the same one. cancel() alone may come from another
// thread while a call is under way. Drivers keep no static mutable state;
// what belongs to a configured instance lies in struct sb_driver_env.
#ifndef SB_DRIVER_H
#define SB_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option.h"

#define SB_DRIVER_ABI 2u

// What the core lets a driver do. Passed at load; valid for ever.
struct sb_host {
    uint32_t abi;
    // A line for the user on stderr; level as in enum sb_log_level
    // (0 fatal ... 3 notice ... 5 debug).
    void (*log)(int level, const char *text);
};

// The part of a driver that one configured instance shares between its
// connections; allocated by the core.
struct sb_driver_env {
    const struct sb_host *host;
    void *shared; // the driver's own, made by env_init, freed by env_done
};

// Who connects, so that a driver can spread connections over hosts and seed
// what it draws.
struct sb_conn_info {
    uint64_t number; // 0, 1, 2 ... in order of connecting in this process
    uint64_t seed;   // of this connection: the same for the same run seed,
                     // user and place among the connections of that user
    unsigned user;   // number of the user that connects
};

// Values -------------------------------------------------------------------

enum sb_value_type {
    SB_VALUE_NULL,
    SB_VALUE_INT,    // i
    SB_VALUE_UINT,   // u, greater than any int64_t: SB_CAP_UNSIGNED
    SB_VALUE_DOUBLE, // d
    SB_VALUE_TEXT,   // s, len bytes of UTF-8, not NUL-terminated
    SB_VALUE_BLOB,   // s, len bytes
    SB_VALUE_TIME,   // s, len bytes: "2026-01-31 23:59:59.123456" or a part
};

struct sb_value {
    int32_t type; // enum sb_value_type
    uint32_t len;
    union {
        int64_t i;
        uint64_t u;
        double d;
        const char *s;
    };
};

// One cell of a fetched row, as text, or NULL. Valid until the next fetch or
// free of that result.
struct sb_cell {
    const char *s; // NULL for SQL NULL
    uint64_t len;
};

// What a statement did.
enum sb_result_kind {
    SB_RESULT_NONE,    // neither rows nor changes: BEGIN, DDL
    SB_RESULT_ROWS,    // a result set, maybe empty
    SB_RESULT_WRITE,   // changed `affected` rows
    SB_RESULT_UNKNOWN, // the statement was not executed: a dry run
};

// A result belongs to its connection: the next statement there ends it. rows
// are complete in memory when execution returns (as mysql_store_result does),
// so that latency covers the transfer.
struct sb_result {
    int32_t kind; // enum sb_result_kind
    uint32_t nfields;
    uint64_t nrows;
    uint64_t affected;
    uint64_t insert_id; // 0 if none
    void *priv;         // the driver's
};

// Operations ---------------------------------------------------------------
//
// All return 0 or SB_E* with *err filled. Errors of statements are classified
// by the driver: SB_ERESTART (deadlock, busy, serialization: the event can be
// tried again), SB_ELOST (connection gone), SB_ECANCELED, SB_EQUERY (all
// others). A driver with an option of its own for errors to ignore answers
// SB_EIGNORE for them, and SB_ERECONNECT for a lost connection that the user
// wants to be made again. `conn` points to conn_size bytes, zeroed by the core.

struct sb_conn; // the driver's own; a driver casts to its struct
struct sb_stmt; // likewise, stmt_size bytes zeroed by the core

struct sb_generic_ops {
    // Optional pair: what the connections of one instance share.
    int (*env_init)(
        struct sb_driver_env *env, const void *opts, struct sb_err *err);
    void (*env_done)(struct sb_driver_env *env);
    // opts: the driver's options struct, filled; outlives the connection.
    int (*connect)(struct sb_conn *conn, struct sb_driver_env *env,
        const void *opts, const struct sb_conn_info *info, struct sb_err *err);
    // Frees everything the connection holds; also after a failed connect.
    void (*disconnect)(struct sb_conn *conn);
    // Same options, same struct. The core closes its statements before.
    // NULL: the core disconnects and connects.
    int (*reconnect)(struct sb_conn *conn, struct sb_err *err);
    // Makes a call that is under way in another thread return soon, with
    // SB_ECANCELED. Does nothing when none is. Optional.
    void (*cancel)(struct sb_conn *conn);
    // After an event failed half-way: ends an open transaction by rollback,
    // so that the next try starts clean. Optional.
    int (*reset)(struct sb_conn *conn, struct sb_err *err);
};

// One statement of a pipeline: text, or a prepared statement with its values.
struct sb_item {
    const char *sql; // len bytes
    size_t len;
    struct sb_stmt *stmt; // NULL: text without placeholders
    const struct sb_value *values;
    uint32_t nvalues;
};

struct sb_sql_ops {
    // Runs SQL text. *res is zeroed by the core.
    int (*query)(struct sb_conn *conn, const char *sql, size_t len,
        struct sb_result *res, struct sb_err *err);
    // Prepares SQL with '?' placeholders; *nparams out. SB_EUNSUPPORTED: the
    // core emulates this statement by text substitution.
    int (*prepare)(struct sb_conn *conn, struct sb_stmt *stmt, const char *sql,
        size_t len, uint32_t *nparams, struct sb_err *err);
    // Executes with n = nparams values. SB_EUNSUPPORTED: the server does not
    // know the statement (any more); it is closed and prepared again, once.
    int (*execute)(struct sb_conn *conn, struct sb_stmt *stmt,
        const struct sb_value *values, uint32_t n, struct sb_result *res,
        struct sb_err *err);
    void (*close)(struct sb_conn *conn, struct sb_stmt *stmt);
    // Next row into cells[0..nfields-1]: 1, or 0 after the last, or SB_E*.
    int (*fetch)(struct sb_conn *conn, struct sb_result *res,
        struct sb_cell *cells, struct sb_err *err);
    // Name of a column of the current result; NULL if out of range.
    const char *(*column)(
        struct sb_conn *conn, struct sb_result *res, uint32_t i);
    // The next result of the same statement: 1, 0 when there is none, SB_E*.
    // Optional.
    int (*next_result)(
        struct sb_conn *conn, struct sb_result *res, struct sb_err *err);
    // Ends a result; {0} allowed.
    void (*free_result)(struct sb_conn *conn, struct sb_result *res);
    // Writes text as a quoted SQL string literal; returns the length needed,
    // without the NUL, as snprintf does. NULL: doubled single quotes.
    size_t (*quote)(struct sb_conn *conn, const char *text, size_t len,
        char *out, size_t size);
    // Several statements sent together, answered one by one. Optional, all
    // three or none. send returns when everything is on its way (answers that
    // come meanwhile are kept); the items need not stay valid.
    int (*pipeline_send)(struct sb_conn *conn, const struct sb_item *items,
        uint32_t n, struct sb_err *err);
    // The answer to the next item, in order; its rows until free_result. What
    // comes after an item that failed was not executed: nobody receives it.
    int (*pipeline_receive)(
        struct sb_conn *conn, struct sb_result *res, struct sb_err *err);
    // Ends the pipeline in any case, drops the answers nobody received; the
    // connection takes other calls again afterwards.
    int (*pipeline_end)(struct sb_conn *conn, struct sb_err *err);
};

// Loading many rows into one table at the server's own pace.
struct sb_bulk_ops {
    // columns: names, comma-separated. SB_EUNSUPPORTED: the core sends
    // multi-row INSERTs instead. SB_ERESTART: it tries again.
    int (*begin)(struct sb_conn *conn, const char *table, const char *columns,
        uint32_t ncolumns, struct sb_err *err);
    // nrows * ncolumns values, row by row. May keep them no longer than the
    // call.
    int (*rows)(struct sb_conn *conn, const struct sb_value *values,
        uint32_t nrows, struct sb_err *err);
    // commit = false: undoes what was not committed yet.
    int (*end)(struct sb_conn *conn, bool commit, struct sb_err *err);
};

struct sb_info_ops {
    // One line: "SQLite 3.40.1, journal mode wal"; snprintf's length.
    int (*server)(struct sb_conn *conn, char *out, size_t size);
    // Version of the client library.
    int (*client)(char *out, size_t size);
    // Server counters, for the timeline: calls visit for each. Optional.
    int (*counters)(struct sb_conn *conn,
        int (*visit)(void *arg, const char *name, double value), void *arg,
        struct sb_err *err);
};

// Documents ------------------------------------------------------------------
//
// A document is BSON (bsonspec.org): `len` bytes, the first four of which are
// that length. Everything a document database does is a command: a document
// whose first key names it. A driver with these operations has SQL operations,
// too: query() takes a command as JSON text, and free_result() ends results of
// either kind.

enum sb_doc_step { SB_DOC_BEGIN, SB_DOC_COMMIT, SB_DOC_ABORT };

struct sb_doc_ops {
    // Runs a command; "$db" in it names another database than the
    // connection's. *res is zeroed by the core and filled as query() does:
    // ROWS for commands that read (nrows: documents, all of which have
    // arrived), WRITE for those that write (affected: documents inserted,
    // matched or removed), NONE for others. A reply that is good as a whole but
    // holds errors of single writes or of the write concern is an error; res
    // is filled then, too.
    int (*command)(struct sb_conn *conn, const uint8_t *body, size_t len,
        struct sb_result *res, struct sb_err *err);
    // The next document of the result: 1, or 0 after the last, or SB_E*. For
    // commands that answer with a cursor its documents; of distinct
    // {"value": ...} each; else the reply, once. Valid until free_result.
    int (*next)(struct sb_conn *conn, struct sb_result *res,
        const uint8_t **doc, size_t *len, struct sb_err *err);
    // The (first) reply of the server to the last command, also to one that
    // failed; NULL when there was none.
    const uint8_t *(*reply)(struct sb_conn *conn, size_t *len);
    // A transaction on the connection's session; commands between BEGIN and
    // COMMIT or ABORT belong to it. options: a document for BEGIN, or NULL.
    // Optional.
    int (*transaction)(struct sb_conn *conn, enum sb_doc_step step,
        const uint8_t *options, size_t len, struct sb_err *err);
    // Extended JSON to a document and back, in memory that the caller frees
    // with free(). NULL: *err tells why. Any thread.
    uint8_t *(*from_json)(
        const char *json, size_t len, size_t *doc_len, struct sb_err *err);
    char *(*to_json)(
        const uint8_t *doc, size_t len, size_t *json_len, struct sb_err *err);
};

// Capabilities. Each has a reader in the core; say which.
enum sb_driver_caps {
    // One loading connection a table is fastest: loading threads hand their
    // rows to it (db/load.c).
    SB_CAP_ONE_LOADER = 1u << 0,
    // All connections of a run write through one lock, so loading several
    // tables at once through several connections does not pay (db/load.c).
    SB_CAP_ONE_WRITER = 1u << 1,
    // cancel() may come while connect() runs, as soon as conn is zeroed, and
    // ends it (db/con.c).
    SB_CAP_CANCEL_CONNECT = 1u << 2,
    // A table is loaded fastest in one transaction: the core does not commit
    // in between (db/load.c).
    SB_CAP_ONE_COMMIT = 1u << 3,
    // Pipelines take texts only: the core puts the values of prepared
    // statements into their texts (db/pipeline.c).
    SB_CAP_TEXT_PIPELINE = 1u << 4,
    // prepare() takes '??' for a '?' of the statement itself: without it the
    // core sends such statements as texts (db/stmt.c).
    SB_CAP_ESCAPED_MARKS = 1u << 5,
    // Values that the driver can send as they are. Without the capability the
    // core refuses them (db/param.c), and the driver never sees them.
    SB_CAP_UNSIGNED = 1u << 6, // SB_VALUE_UINT
    SB_CAP_NAN = 1u << 7,      // NaN as SB_VALUE_DOUBLE
    SB_CAP_INFINITY = 1u << 8, // infinities as SB_VALUE_DOUBLE
};

struct sb_driver {
    uint32_t abi;      // SB_DRIVER_ABI
    const char *name;  // "sqlite": file name of the module, option prefix
    const char *title; // "SQLite driver": for --list and --help
    const char
        *dialect; // key of the SQL dialect table (tests/lua/sb/dialect.lua)
    const char *isolation; // what comes before "READ COMMITTED" in the
                           // statement for a session; NULL: no such levels
    uint64_t caps;
    const struct sb_opt_table *opts; // names begin with the option prefix;
                                     // NULL: no options
    size_t opts_size, conn_size, stmt_size;
    const struct sb_generic_ops *generic; // required
    const struct sb_sql_ops *sql;         // optional, as are the rest
    const struct sb_doc_ops *doc;         // needs sql
    const struct sb_bulk_ops *bulk;
    const struct sb_info_ops *info;
    const char *lua; // source of the driver's own Lua module, or NULL
};

#if defined(__GNUC__)
#define SB_DRIVER_EXPORT __attribute__((visibility("default")))
#else
#define SB_DRIVER_EXPORT
#endif

extern SB_DRIVER_EXPORT const struct sb_driver sb_driver;

// The options of a driver, for scripts that look at them while the driver is
// not in use. A source file with the table and SB_DRIVER_OPTIONS() is linked
// into the driver, and alone, without the client library, into a second module
// beside it: <name>-options.so. It is optional.
struct sb_driver_options {
    uint32_t abi;
    const char *name; // of the driver
    const struct sb_opt_table *opts;
    size_t opts_size;
};

extern SB_DRIVER_EXPORT const struct sb_driver_options sb_driver_options;

// driver: its name. table: a struct sb_opt_table. type: what the table fills.
#define SB_DRIVER_OPTIONS(driver, table, type)                            \
    SB_DRIVER_EXPORT const struct sb_driver_options sb_driver_options = { \
        SB_DRIVER_ABI, driver, &(table), sizeof(type)                     \
    }

#endif
