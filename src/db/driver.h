// SPDX-License-Identifier: GPL-2.0-or-later
//
// The driver interface. A driver is a loadable module that exports
//
//     const struct sb_driver sb_driver = { .abi = SB_DRIVER_ABI, ... };
//
// It may also export sb_driver_options (below) and the functions that its own
// .ffi.h lists, but nothing else. docs/driver-api.md explains the interface;
// drivers/template/ is a driver to start from. Only db/ calls a driver.
//
// Threads: one thread at a time uses a connection and everything made from it,
// but not always the same thread. Only cancel() may be called by another
// thread while a call is in progress. Drivers have no static mutable state,
// unless a callback of the client library has no context: the state of a
// configured instance is in struct sb_driver_env.
#ifndef SB_DRIVER_H
#define SB_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option.h"
#include "db/sql_type.h"
#include "kit/exchange.h"

// Increment it when a struct, a flag or an operation changes in this header, in
// one that it includes or in db/sql.ffi.h: a driver that was built before is
// then refused.
#define SB_DRIVER_ABI 16u

struct sb_con;      // a connection as Lua has it (db/sql.ffi.h)
struct sb_conn;     // the driver's own; a driver casts to its struct
struct sb_driver;   // below
struct sb_own_call; // below
struct sb_result;   // below

// Functions of the core that a driver may call. Passed to env_init() and
// connect(); valid until the process ends.
struct sb_host {
    uint32_t abi;
    // Writes a line to stderr for the user; level as in enum sb_log_level
    // (0 fatal ... 3 notice ... 5 debug).
    void (*log)(int level, const char *text);
    // Where a driver waits. The user that calls may be one of many in its
    // thread: others run meanwhile, so a driver neither holds a lock nor relies
    // on thread-local state across these calls. Only in the thread and on the
    // stack of the operation in progress; callbacks of client libraries are
    // fine. docs/driver-api.md describes each.
    //
    // Waits until one of the events of poll() happens on fd, or until the
    // deadline, a time of CLOCK_MONOTONIC in ns (UINT64_MAX: none). Returns the
    // events, 0 after the deadline, or -errno.
    int (*wait)(int fd, short events, uint64_t deadline);
    // Sends all of x->out, then receives at least one byte. Returns the number
    // of bytes received, 0 if the peer has closed the connection, or -errno:
    // -ETIMEDOUT after the deadline; x->unsent then says whether all was sent.
    // Not for requests whose answers the server begins to send before it has
    // read them.
    ssize_t (*exchange)(struct sb_exchange *x);
    // Sleeps until a time of CLOCK_MONOTONIC in ns. Where users share a thread,
    // it may return early, and late with --pace=sleep.
    void (*sleep)(uint64_t until);
    // Calls run(arg) and returns 0 when it has returned. For what blocks its
    // thread, such as looking up the name of a host: where users share a
    // thread, run() is called in another one, in which the functions above
    // block. If run() was not called: SB_ETIMEOUT, no thread was free until
    // the deadline, a time of CLOCK_MONOTONIC in ns (UINT64_MAX: none), or
    // SB_ECANCELED, canceled(arg) returned true. That is called every 0.25 s
    // until then and must not wait; NULL: never.
    int (*apart)(void (*run)(void *arg), bool (*canceled)(void *arg), void *arg,
        uint64_t deadline);
    // Returns whether other users may run in this thread while the caller waits
    // in one of these functions.
    bool (*shared)(void);

    // For the driver's own API (struct sb_own_call). con: from Lua. Only in the
    // thread that runs the connection's user.
    //
    // Makes a call, after what every call does first: it ends the last result
    // and reports a connection that was closed or lost. Waits. 0 or SB_E* as
    // the error of the connection.
    int (*call)(struct sb_con *con, const struct sb_own_call *call);
    // Checks that con is open and belongs to this driver, without a call, and
    // clears its last error. 0 or SB_EUSAGE as the error of the connection.
    int (*ready)(struct sb_con *con, const struct sb_driver *driver);
    // Returns the driver's connection; NULL: con is not connected, or belongs
    // to another driver.
    struct sb_conn *(*conn)(
        const struct sb_con *con, const struct sb_driver *driver);
    // Returns the result of the last call; NULL: the call failed, or the result
    // has ended.
    struct sb_result *(*result)(
        const struct sb_con *con, const struct sb_driver *driver);
    // Sets the error of the connection and returns its code. what: the
    // operation that failed, such as "fetch": the error is counted, and logged
    // with the text. NULL: it was counted before, or the script has caused it.
    // text: of the call, NUL-terminated, or NULL.
    int (*fail)(struct sb_con *con, const char *what, const char *text,
        const struct sb_err *err);
    // Returns `size` bytes, zeroed, that belong to the connection: an object
    // that Lua holds (api.object() in the driver's Lua module). done() frees
    // its contents: when Lua has dropped the object, and at the latest when the
    // user of the connection ends. NULL: out of memory.
    void *(*object_new)(
        struct sb_con *con, size_t size, void (*done)(void *object));
    // Has the object freed as if Lua did not use it any more.
    void (*object_drop)(void *object);
    // Returns the connection of an object; NULL: it was freed.
    struct sb_con *(*object_con)(const void *object);
};

// The state that the connections of one configured instance of a driver share.
// The core allocates it.
struct sb_driver_env {
    const struct sb_host *host;
    void *shared; // the driver's own, made by env_init, freed by env_done
};

// Identifies a new connection, so that a driver can spread connections over
// hosts and seed its random numbers.
struct sb_conn_info {
    uint64_t number; // 0, 1, 2 ... in order of connecting in this process
    uint64_t seed; // a function of the seed of the run, the user, the position
                   // among the connections of that user, and the reconnects
    unsigned user; // number of the user that connects
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

// One column of a fetched row, as text, or NULL. Valid until the next fetch or
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

// A result belongs to its connection and ends with the next statement on it.
// All rows are in memory when execution returns (as with
// mysql_store_result()), so that the latency covers the transfer.
struct sb_result {
    int32_t kind; // enum sb_result_kind
    uint32_t nfields;
    uint64_t nrows;
    uint64_t affected;
    uint64_t insert_id; // 0 if none
    // An UPDATE found rows but changed none, because they had these values.
    // Only of servers that do not count such rows in `affected`.
    bool matched;
    bool more;  // next_result() returns another result of the same statement
    void *priv; // the driver's
};

// Operations ---------------------------------------------------------------
//
// All return 0 or SB_E* with *err filled. The driver classifies errors of
// statements: SB_ERESTART (deadlock, busy, serialization failure: the event
// can be retried), SB_ELOST (connection lost), SB_ECANCELED, SB_EQUERY (all
// others). A driver with its own option for errors to ignore returns
// SB_EIGNORE for them, and SB_ERECONNECT for a lost connection that is to be
// reconnected. `conn` points to conn_size bytes, zeroed by the core.

// The first bytes of a connection and of a statement that event loops prefetch
// before a user continues. Drivers put what each execution uses there.
#define SB_DRIVER_HOT_CONN 384u
#define SB_DRIVER_HOT_STMT 128u

struct sb_stmt; // also the driver's own: stmt_size bytes zeroed by the core

struct sb_generic_ops {
    // Create and free what the connections of one instance share. Optional,
    // both or neither.
    int (*env_init)(
        struct sb_driver_env *env, const void *opts, struct sb_err *err);
    void (*env_done)(struct sb_driver_env *env);
    // opts: the driver's options struct, filled; outlives the connection.
    int (*connect)(struct sb_conn *conn, struct sb_driver_env *env,
        const void *opts, const struct sb_conn_info *info, struct sb_err *err);
    // Frees everything the connection holds. Also called after a failed
    // connect().
    void (*disconnect)(struct sb_conn *conn);
    // Reconnects with the same options, in the same struct. The core has
    // closed the connection's statements. NULL: the core disconnects and
    // connects.
    int (*reconnect)(struct sb_conn *conn, struct sb_err *err);
    // Makes a call that is in progress in another thread return soon, with
    // SB_ECANCELED. Does nothing if no call is in progress. Optional.
    void (*cancel)(struct sb_conn *conn);
    // Called after an event failed: rolls back an open transaction, so that
    // the retry starts clean. After SB_ERECONNECT the core reconnects.
    // Optional.
    int (*reset)(struct sb_conn *conn, struct sb_err *err);
    // Returns the descriptor of the socket to the server, so that the core can
    // find out whether the server has closed an idle connection; -1: none, of a
    // new connection: there is no server (a dry run);
    // SB_ELOST: the driver has closed it, because the connection is lost.
    // Optional.
    int (*socket)(const struct sb_conn *conn);
    // Returns NULL if no transaction is open that disconnect() would roll back.
    // Otherwise why one is open without a BEGIN ("autocommit is off: ..."), as
    // part of a sentence, or "" if the script began it. Optional.
    const char *(*open_transaction)(const struct sb_conn *conn);
    // Returns whether the transaction that is open has written anything, also
    // by statements that return rows or call functions. Called before
    // disconnect(), if the core does not know of a change. Optional.
    bool (*has_written)(struct sb_conn *conn);
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
    // Runs SQL text. *res is zeroed by the core. If the server sends several
    // results, here or in execute(), an error in any of them is returned.
    int (*query)(struct sb_conn *conn, const char *sql, size_t len,
        struct sb_result *res, struct sb_err *err);
    // Prepares SQL with '?' placeholders. In: *nparams parameters are bound, of
    // these types (enum sb_sql_type). Out: *nparams, the number of
    // placeholders. SB_EUNSUPPORTED: the core emulates this statement by text
    // substitution.
    int (*prepare)(struct sb_conn *conn, struct sb_stmt *stmt, const char *sql,
        size_t len, const uint8_t *types, uint32_t *nparams,
        struct sb_err *err);
    // Executes with n = nparams values. SB_EUNSUPPORTED: the statement does
    // not exist on the server (any more); the core closes it and prepares it
    // again, once.
    int (*execute)(struct sb_conn *conn, struct sb_stmt *stmt,
        const struct sb_value *values, uint32_t n, struct sb_result *res,
        struct sb_err *err);
    void (*close)(struct sb_conn *conn, struct sb_stmt *stmt);
    // Returns how the core finds placeholders in texts for this connection, if
    // that depends on the server: as sb_driver.scan, which is used if this
    // function is NULL.
    uint32_t (*scan)(const struct sb_conn *conn);
    // Stores the next row in cells[0..nfields-1]. Returns 1, 0 after the last
    // row, or SB_E*.
    int (*fetch)(struct sb_conn *conn, struct sb_result *res,
        struct sb_cell *cells, struct sb_err *err);
    // Name of a column of the current result; NULL if out of range.
    const char *(*column)(
        struct sb_conn *conn, struct sb_result *res, uint32_t i);
    // Moves to the next result of the same statement and fills *res. Called
    // only if res->more is set. Returns 1; 0 if there is no other result; or
    // SB_E*. Optional.
    int (*next_result)(
        struct sb_conn *conn, struct sb_result *res, struct sb_err *err);
    // Ends a result; {0} is allowed.
    void (*free_result)(struct sb_conn *conn, struct sb_result *res);
    // Writes text as a quoted SQL string literal; returns the required length
    // without the NUL, as snprintf() does. NULL: the core doubles single
    // quotes.
    size_t (*quote)(struct sb_conn *conn, const char *text, size_t len,
        char *out, size_t size);
    // Several statements are sent together and answered one by one. Optional,
    // all three or none. pipeline_send() returns when all of them are sent
    // (answers that arrive before that are kept); the items need not stay
    // valid.
    int (*pipeline_send)(struct sb_conn *conn, const struct sb_item *items,
        uint32_t n, struct sb_err *err);
    // Receives the answer to the next item, in order; its rows are valid until
    // free_result(). Items after one that failed were not executed; the core
    // does not receive them.
    int (*pipeline_receive)(
        struct sb_conn *conn, struct sb_result *res, struct sb_err *err);
    // Ends the pipeline, even if it fails, and drops the answers that were not
    // received; returns the error that one of them is. After that the
    // connection can be used for other calls.
    int (*pipeline_end)(struct sb_conn *conn, struct sb_err *err);
};

// Loading many rows into one table by the fastest method of the server.
struct sb_bulk_ops {
    // columns: names, comma-separated. SB_EUNSUPPORTED: the core sends
    // multi-row INSERTs instead. SB_ERESTART: the core retries.
    int (*begin)(struct sb_conn *conn, const char *table, const char *columns,
        uint32_t ncolumns, struct sb_err *err);
    // Loads nrows * ncolumns values, row by row. They are valid during the
    // call only.
    int (*rows)(struct sb_conn *conn, const struct sb_value *values,
        uint32_t nrows, struct sb_err *err);
    // commit = false: rolls back what was not committed yet.
    int (*end)(struct sb_conn *conn, bool commit, struct sb_err *err);
    // The same as begin() for a load of few rows by one of several connections
    // that load at once: takes no lock that an INSERT would not take, and
    // begins fast. rows() and end() may then return SB_ERESTART or SB_EIGNORE,
    // because end() undoes the whole load. Optional: begin() does this, too.
    int (*begin_short)(struct sb_conn *conn, const char *table,
        const char *columns, uint32_t ncolumns, struct sb_err *err);
};

// The server at the other end of a connection. Texts that are too long are cut.
struct sb_server {
    char name[128];     // product and version: "PostgreSQL 15.8"
    char address[256];  // "10.0.0.1:5432", "[::1]:5432", a socket, a file
    char database[128]; // the database, if counters() reads those of one
                        // database and not of the whole server
    bool bypass;        // statements are executed without the client library
    int64_t pid; // id of a process of the server on its machine: the first one,
                 // or a child of it; 0: unknown
};

enum sb_counter_kind {
    SB_COUNTER_TOTAL, // grows: users see how much it grows per second
    SB_COUNTER_LEVEL, // goes up and down: users see its value
};

struct sb_counter {
    const char *name; // valid during the call
    double value;
    int32_t kind;     // enum sb_counter_kind
    const char *unit; // "bytes", "ms" ...; NULL: none. A constant
};

// Takes the counters of a server. The core implements it.
struct sb_counter_sink {
    void *arg;
    // False if no counter whose name begins with this prefix was selected, so
    // that their source need not be read.
    bool (*wanted)(void *arg, const char *prefix);
    // Takes a counter, selected or not. Returns 0, or an SB_E* that ends the
    // visits and is returned.
    int (*take)(void *arg, const struct sb_counter *c);
    // A source of counters ("information_schema.INNODB_METRICS") cannot be
    // read. The other sources still can.
    void (*missing)(void *arg, const char *source, const struct sb_err *why);
};

// What a server says about itself, for the checks of a run's figures
// (docs/validity.md). Facts have standard names: the core decides what they
// mean. Totals grow from any start.
enum sb_fact_id {
    SB_FACT_CACHE_BYTES,    // size of the cache of pages
    SB_FACT_CACHE_REQUESTS, // total: pages that were looked for in it
    SB_FACT_CACHE_MISSES,   // total: those of them that were not in it
    SB_FACT_DATA_BYTES,     // of the database with indexes; if table() is not
                            // called
    SB_FACT_LOG_BYTES,      // total: bytes of log that were written, on a
                            // replica with those that it received; up to date,
                            // whatever counters_delay is
    SB_FACT_LOG_FLUSHES, // total: times that the log was flushed to its device
    SB_FACT_LOG_DEBT,    // bytes of log since the last checkpoint
    SB_FACT_LOG_LIMIT,   // bytes of it that force the next one
    SB_FACT_DIRTY_BYTES, // pages of the cache that are to be written
    SB_FACT_DIRTY_LIMIT, // bytes of them from which on they are written at once
    SB_FACT_PURGE,       // transactions whose old row versions are left
    SB_FACT_REPLICA_BYTES, // log that a replica of this server has not applied
    SB_FACT_REPLICA_SECONDS, // how far this server is behind its source
    SB_FACT_LOCK_WAITS,   // total: times that a session waited for the lock of
                          // a row, or repeated a change because of a conflict
    SB_FACT_LOCK_WAITERS, // sessions that wait for the lock of a row now; of
                          // servers that do not count waits
    SB_FACT_DEADLOCKS,    // total
    SB_FACT_UPTIME, // total: s since the server, which counts, was started
    SB_FACT_ROWS_EXAMINED, // total: rows, and entries of indexes, that were
                           // read
    SB_FACT_READ_BYTES,    // total: pages read from files into the cache
    SB_FACT_WRITTEN_BYTES, // total: pages written from the cache to files
    SB_FACT_FSYNCS,        // total: times that any file was flushed
    SB_FACTS
};

struct sb_table_facts {
    const char *name;
    // NaN: unknown.
    double analyzed;    // 1: the planner has statistics of it; 0: it has not
    double rows, bytes; // bytes: with indexes
    double changed;     // rows, since its statistics were collected
    double dead;        // rows that wait for a vacuum
    double uses;        // total: accesses
};

// What the answers belong to.
enum sb_inspect_part {
    SB_PART_CACHE,      // SB_FACT_CACHE_*
    SB_PART_SIZE,       // sizes of tables, or SB_FACT_DATA_BYTES
    SB_PART_STATISTICS, // analyzed, changed
    SB_PART_DURABILITY, // undurable(), folder()
    SB_PART_LOG,        // SB_FACT_LOG_BYTES, _FLUSHES
    SB_PART_DEBT,       // SB_FACT_LOG_DEBT to _REPLICA_SECONDS
    SB_PART_LOCKS,      // SB_FACT_LOCK_WAITS or _WAITERS, _DEADLOCKS
    SB_PART_WORK,       // SB_FACT_UPTIME, _ROWS_EXAMINED, _READ_BYTES,
                        // _WRITTEN_BYTES, _FSYNCS: of the whole server
    SB_PARTS
};

// Takes the answers. The core implements it. The functions return 0, or an
// SB_E* that ends the inspection and is returned.
struct sb_inspect_sink {
    void *arg;
    unsigned parts; // wanted: 1u << enum sb_inspect_part
    int (*fact)(void *arg, enum sb_fact_id id, double value);
    // A table of the current database. Valid during the call.
    int (*table)(void *arg, const struct sb_table_facts *t);
    // A setting that lets commits return before they are on a device:
    // "fsync=off".
    int (*undurable)(void *arg, const char *setting);
    // The folder of the log, or else of the data, on the server's machine.
    int (*folder)(void *arg, const char *path);
    // A part is complete (why NULL), or some of it cannot be known: `source`
    // cannot be read. A part without a call is one that the driver does not
    // know.
    void (*part)(void *arg, enum sb_inspect_part part, const char *source,
        const struct sb_err *why);
};

// A statement of an operation, as the run executed it first.
struct sb_statement {
    const char *sql; // len bytes, NUL-terminated; with '?' placeholders
    size_t len;
    // Whether it was prepared on the server, with these values; otherwise
    // nvalues is 0, and the text has literals.
    bool prepared;
    uint32_t nvalues;
    const struct sb_value *values;
    const uint8_t *types; // enum sb_sql_type, nvalues of them
    // If it was prepared: `sql` with a literal for each placeholder,
    // NUL-terminated; NULL: a value has none.
    const char *literal;
    size_t literal_len;
};

// A step of a plan: how one table is read, or what is done with rows.
struct sb_plan_step {
    const char *text;  // "Index Scan using k_1 on t": what does not depend on
                       // values and statistics
    const char *table; // as in struct sb_table_facts; NULL: it reads none
    bool scans;        // it reads the whole table, without an index
    // Estimates; NaN: unknown.
    double size; // rows of the table
    double rows; // of them, those that the step passes on
};

// Takes plans. The core implements it. The functions return 0, or an SB_E* that
// ends the call of explain() and is returned.
struct sb_plan_sink {
    void *arg;
    // A plan begins. kind: "" if a statement has only one, or "custom" for
    // the values of the statement and "generic" for any values. used: it is the
    // one that the run has most likely used.
    int (*plan)(void *arg, const char *kind, bool used);
    // Its steps, in the order of the server.
    int (*step)(void *arg, const struct sb_plan_step *s);
};

// Whether a setting of a server has its default value.
enum sb_setting_state {
    SB_SETTING_UNKNOWN,
    SB_SETTING_DEFAULT,
    SB_SETTING_CHANGED,
};

// A session of the server that is not idle: it executes a statement, or waits
// in a transaction for its client. Texts are valid during the call.
struct sb_activity {
    uint64_t session; // as sb_info_ops.session returns it; 0: unknown
    // Whether it waits, and for what: names of the server. Classes that all
    // have: "CPU" (no wait is known), "Lock", "IO", "Client".
    const char *wait_class;
    const char *event; // "" if the server does not say more
    // The statement, which may be cut; of a driver without SQL, the name of the
    // command. "": unknown; NULL: none is executed.
    const char *text;
    size_t len; // of text, which is NUL-terminated
};

// Takes a sample of the sessions. The core implements it.
struct sb_activity_sink {
    void *arg;
    // 0, or an SB_E* that ends the visits and is returned.
    int (*session)(void *arg, const struct sb_activity *a);
    // Says what all samples of this server lack, or which sessions they have,
    // as a sentence without its full stop. May be repeated.
    void (*note)(void *arg, const char *text);
};

// What a server has counted of a statement, or of all statements that differ
// only in their values. Totals grow from any start; NaN: the server does not
// count this.
struct sb_statement_count {
    const char *id;   // on this server; valid during the call
    bool is_prepared; // all executions of prepared statements: the server does
                      // not count these by their texts
    double calls;
    double ns;                 // in the server
    double rows;               // returned or changed
    double examined;           // rows that were read
    double hit, read, written; // pages: found in the cache, read into it,
                               // written
    double errors;
};

// Takes what a server has counted. The core implements it. The functions return
// 0, or an SB_E* that ends the visits and is returned.
struct sb_statement_sink {
    void *arg;
    // The statements whose texts are asked for: only text() may be called.
    // nids 0: totals() of all statements and lost() are asked for, and only
    // these may be called.
    const char *const *ids;
    unsigned nids;
    int (*totals)(void *arg, const struct sb_statement_count *s);
    // Valid during the call. Not called for statements of the other functions
    // of struct sb_info_ops, which are no part of the load.
    int (*text)(void *arg, const char *id, const char *text);
    // A total: how often the server had no room for a statement, or has removed
    // one.
    int (*lost)(void *arg, double n);
    // What this server is known by until it is restarted; of the same moment
    // as the totals. Optional for the driver: a proxy may send two readings to
    // different servers.
    int (*server)(void *arg, const char *id);
};

struct sb_info_ops {
    // Writes one line about the server, such as "SQLite 3.40.1, journal mode
    // wal"; returns the length as snprintf() does. An open result stays open.
    int (*server)(struct sb_conn *conn, char *out, size_t size);
    // Writes the version of the client library, in the same way.
    int (*client)(char *out, size_t size);
    // Fills *out, which the core has zeroed, and calls setting() for each
    // setting of the server that affects performance, and for those of which
    // the server says that they are not defaults. It leaves out what the
    // server does not have, or does not show to this user, and names, places
    // and passwords. setting() returns 0, or an SB_E* that ends the visits and
    // is returned. Optional. 0, or SB_E* if the server did not answer.
    int (*describe)(struct sb_conn *conn, struct sb_server *out,
        int (*setting)(void *arg, const char *name, const char *value,
            enum sb_setting_state state),
        void *arg, struct sb_err *err);
    // Returns the number of servers that the connections of one environment
    // are spread over by sb_conn_info.number: connection i uses server i
    // modulo that number. NULL: 1.
    uint64_t (*servers)(const struct sb_driver_env *env);
    // Passes the counters of the server to the sink. A source that this user
    // may not read is reported as missing and is no error. Optional. 0 or
    // SB_E*.
    int (*counters)(struct sb_conn *conn, const struct sb_counter_sink *to,
        struct sb_err *err);
    // Makes the shortest round trip to the server that there is, on a
    // connection without a transaction. Optional. 0 or SB_E*.
    int (*ping)(struct sb_conn *conn, struct sb_err *err);
    // Answers what the sink takes, as far as the server lets this user see it.
    // Called a few times per run, on a connection without a transaction.
    // Optional. 0 or SB_E*.
    int (*inspect)(struct sb_conn *conn, const struct sb_inspect_sink *to,
        struct sb_err *err);
    // Passes the plans of a statement to the sink, without executing it. A plan
    // without steps means that the server needs none to see that no row
    // fits. Called on a connection without a transaction, and leaves none.
    // Optional. 0 or SB_E*; SB_EQUERY: this statement cannot be explained.
    int (*explain)(struct sb_conn *conn, const struct sb_statement *s,
        const struct sb_plan_sink *to, struct sb_err *err);
    // Passes the sessions that are not idle to the sink: those that belong to
    // this program, as far as the server can tell them from others, without
    // this one. Called ten times per second, on a connection of its own without
    // a transaction. Optional. 0 or SB_E*; SB_EUNSUPPORTED: the server cannot
    // say this, or not to this user.
    int (*activity)(struct sb_conn *conn, const struct sb_activity_sink *to,
        struct sb_err *err);
    // Returns the number by which the server identifies the session of this
    // connection, 0 if unknown. Required with activity().
    uint64_t (*session)(const struct sb_conn *conn);
    // Passes what the server has counted of the statements of this user or, if
    // it does not count by user, of all users, in the current database. Changes
    // nothing in the server. Optional. 0, or SB_E*: SB_EUNSUPPORTED if the
    // server does not count statements.
    int (*statements)(struct sb_conn *conn, const struct sb_statement_sink *to,
        struct sb_err *err);
    // The counters that are shown if the user selects none: patterns as in
    // fnmatch(), separated by commas, in any case of letters. NULL: all.
    const char *counters_default;
    // By how many ns totals may be late, because the server adds what a
    // connection did only from time to time; 0: they are up to date.
    uint64_t counters_delay;
};

// Settling --------------------------------------------------------------------

// What --settle and --prewarm do to a database before a run. Each operation is
// optional. They are called on a connection of their own without a transaction,
// may take long, and may be canceled. table: as inspect() names it; an
// operation that belongs to the whole server gets NULL. 0 or SB_E*; SB_EQUERY
// if the user lacks the right, also if the server then only skips the table.
struct sb_upkeep_ops {
    // Collects the statistics of a table. vacuums: also removes its dead rows.
    int (*analyze)(struct sb_conn *conn, const char *table, struct sb_err *err);
    bool vacuums;
    // Writes the changed pages of a table to its file.
    int (*write)(struct sb_conn *conn, const char *table, struct sb_err *err);
    // Writes the changed pages of all tables.
    int (*checkpoint)(
        struct sb_conn *conn, const char *table, struct sb_err *err);
    // Has the server write what it would keep in its cache. `undo`, at least
    // 300 bytes, gets the statement that ends this, which the core passes to
    // relax() in any case.
    int (*rush)(
        struct sb_conn *conn, char *undo, size_t size, struct sb_err *err);
    int (*relax)(struct sb_conn *conn, const char *undo, struct sb_err *err);
    // Reads a table and its indexes into the server's cache. After success,
    // err->msg may have a sentence on what was left out.
    int (*prewarm)(struct sb_conn *conn, const char *table, struct sb_err *err);
    const char *no_prewarm; // why prewarm is NULL, as part of a sentence
};

// The driver's own API -------------------------------------------------------
//
// Functions for scripts that SQL does not cover. The driver exports C functions
// (SB_FFI, declared in its .ffi.h), and its Lua module calls them and offers
// methods to scripts. A function that uses the server has the type of
//
//     int mydb_get(struct sb_con *con, void *arg);
//
// and makes calls by con->host->call(). The Lua module calls it by api.call(),
// because it waits. Functions that do not use the server may have any type.
// docs/driver-api.md explains both; drivers/template/kv.c is an example.

// Under which kind of operations a call is counted.
enum sb_own_kind {
    SB_OWN_READ,
    SB_OWN_WRITE,  // adds
    SB_OWN_CHANGE, // changes or removes what exists
    SB_OWN_OTHER
};

// A call: it is timed, counted under an operation, and its error becomes that
// of the connection, as those of SQL statements.
struct sb_own_call {
    const struct sb_driver *driver; // the connection must belong to it
    const char *what;               // for messages: "command"
    // The name of the operation. "": neither timed nor counted as a query. A
    // run has room for 249 to 1,023 names; all others share an operation.
    const char *op;
    int kind; // enum sb_own_kind
    // Performs the call. *res is zeroed, and is to be filled as by query():
    // ROWS and nrows, WRITE and affected, or NONE. Errors are classified as
    // those of statements. 0 or SB_E*.
    int (*run)(struct sb_conn *conn, void *arg, struct sb_result *res,
        struct sb_err *err);
    // Returns the text of the call for messages and --db-debug, *len bytes from
    // malloc(), or NULL. Optional.
    char *(*text)(struct sb_conn *conn, void *arg, size_t *len);
    void *arg;
};

// A Lua module of a driver, in addition to the first one.
struct sb_driver_lua {
    const char *name;
    const char *text; // len bytes, NUL-terminated
    size_t len;
};

// Capabilities. Each comment names the file of the core that checks it.
enum sb_driver_caps {
    // Loading is fastest with one connection per table: all loading threads
    // pass their rows to it (db/load/load.c).
    SB_CAP_ONE_LOADER = 1u << 0,
    // All connections of a run write under one lock, so loading several tables
    // at once through several connections is not faster (db/load/load.c).
    SB_CAP_ONE_WRITER = 1u << 1,
    // cancel() may be called during connect(), as soon as conn is zeroed, and
    // makes it return (db/link.c, db/load/feed.c).
    SB_CAP_CANCEL_CONNECT = 1u << 2,
    // Loading is fastest with one transaction per table: the core commits only
    // at the end (db/load/load.c).
    SB_CAP_ONE_COMMIT = 1u << 3,
    // Pipelines accept SQL texts only: the core writes the values of prepared
    // statements into their texts (db/sql/pipeline.c).
    SB_CAP_TEXT_PIPELINE = 1u << 4,
    // prepare() accepts '??' for a literal '?'. Without this capability the
    // core sends such statements as SQL texts (db/sql/stmt.c).
    SB_CAP_ESCAPED_MARKS = 1u << 5,
    // Values that the driver can send unchanged. Without the capability the
    // core rejects them (db/sql/stmt.c) and does not pass them to the driver.
    SB_CAP_UNSIGNED = 1u << 6,   // SB_VALUE_UINT
    SB_CAP_NAN = 1u << 7,        // NaN as SB_VALUE_DOUBLE
    SB_CAP_INFINITY = 1u << 8,   // infinities as SB_VALUE_DOUBLE
    SB_CAP_SIGNED_IDS = 1u << 9, // insert_id holds an int64_t
    // The driver uses no server: the database runs inside this process, or does
    // not exist (db/open.c).
    SB_CAP_EMBEDDED = 1u << 10,
    // Literals that are no numbers and no texts are casts of texts:
    // '\x00'::bytea rather than X'00', 'NaN'::float8 (db/sql/query.c).
    SB_CAP_CAST_LITERALS = 1u << 11,
    // A number beyond the range of a double is a literal for infinity: 9e999
    // (db/sql/query.c).
    SB_CAP_HUGE_LITERALS = 1u << 12,
    // The driver waits only in functions of struct sb_host, so that one thread
    // can run many users (db/link.c).
    SB_CAP_LOOP = 1u << 13,
    // Bulk operations wait in other ways: a user on an event loop sends INSERTs
    // instead, because others of its thread may hold what the load waits for
    // (db/load/load.c).
    SB_CAP_BULK_BLOCKS = 1u << 14,
    // X'00' may be read as a number, _binary X'00' is not (db/sql/query.c).
    SB_CAP_BINARY_LITERALS = 1u << 15,
    // prepare() depends on the declared types of parameters: the core prepares
    // a statement again that is bound to others (db/sql/stmt.c).
    SB_CAP_PARAM_TYPES = 1u << 16,
    // query() takes no SQL: the core sends no SELECT 1 after it has connected,
    // and the report has no SQL statistics (db/link.c, db/open.c).
    SB_CAP_NO_SQL = 1u << 17,
};

struct sb_driver {
    uint32_t abi;      // SB_DRIVER_ABI
    const char *name;  // "sqlite": file name of the module, option prefix
    const char *title; // "SQLite driver": for --list and --help
    const char
        *dialect; // key of the SQL dialect table (tests/lua/sb/dialect.lua)
    const char *isolation; // beginning of the statement that sets the isolation
                           // level of a session, before "READ COMMITTED";
                           // NULL: levels cannot be set
    uint32_t scan; // enum sb_sqlscan_flags (kit/sqlscan.h): how the core finds
                   // placeholders in SQL texts
    uint64_t caps;
    const struct sb_opt_table *opts; // names begin with the option prefix;
                                     // NULL: no options
    size_t opts_size, conn_size, stmt_size;
    const struct sb_generic_ops *generic; // required
    const struct sb_sql_ops *sql;         // optional, as are the rest
    const struct sb_bulk_ops *bulk;
    const struct sb_info_ops *info;
    const struct sb_upkeep_ops *upkeep;
    // The source of the driver's Lua module, and C declarations for it
    // (sysbench calls ffi.cdef() with them; see SB_DRIVER_DECLARE()); NULL:
    // none.
    const char *lua, *lua_declarations;
    // Further modules, for api.module(); the last one has no name. NULL: none.
    const struct sb_driver_lua *lua_modules;
    // Users for each processor from which event loops, one for each processor,
    // have at least the throughput of a thread for each user, as measured:
    // --workers=auto selects them. 0: never. Requires SB_CAP_LOOP.
    uint32_t loop_users;
};

#if defined(__GNUC__)
#define SB_DRIVER_EXPORT __attribute__((visibility("default")))
#else
#define SB_DRIVER_EXPORT
#endif

extern SB_DRIVER_EXPORT const struct sb_driver sb_driver;

// Declares the structs and functions that the driver's Lua module uses, for C
// and as the text `name`, for lua_declarations. The text has the words of the
// source: no macro is replaced in it, so SB_FFI is before the definitions of
// the functions.
#define SB_DRIVER_DECLARE(name, ...) \
    __VA_ARGS__ static const char name[] = #__VA_ARGS__

// The options of a driver, for scripts that read them while the driver is not
// loaded. A source file with the table and SB_DRIVER_OPTIONS() is linked into
// the driver, and also, without the client library, into a second, optional
// module in the same folder: <name>-options.so.
struct sb_driver_options {
    uint32_t abi;
    const char *name; // of the driver
    const struct sb_opt_table *opts;
    size_t opts_size;
    // "NAME=value", up to NULL: environment variables that the client library
    // reads when it is loaded. The core sets them before it loads any driver
    // (db/loader.c), unless the user has set them. NULL: none.
    const char *const *environment;
    // Used if the user names no driver and gives options of none. Of several
    // such drivers, the first by name (db/drivers.c).
    bool fallback;
};

extern SB_DRIVER_EXPORT const struct sb_driver_options sb_driver_options;

// driver: its name. table: a struct sb_opt_table. type: the struct that the
// table fills.
#define SB_DRIVER_OPTIONS(driver, table, type) \
    SB_DRIVER_OPTIONS_ENVIRONMENT(driver, table, type, NULL)
// The same with `environment`.
#define SB_DRIVER_OPTIONS_ENVIRONMENT(driver, table, type, environment) \
    SB_DRIVER_OPTIONS_ALL(driver, table, type, environment, false)
// The same with `fallback`.
#define SB_DRIVER_OPTIONS_FALLBACK(driver, table, type) \
    SB_DRIVER_OPTIONS_ALL(driver, table, type, NULL, true)
#define SB_DRIVER_OPTIONS_ALL(driver, table, type, environment, fallback)    \
    SB_DRIVER_EXPORT const struct sb_driver_options sb_driver_options = {    \
        SB_DRIVER_ABI, driver, &(table), sizeof(type), environment, fallback \
    }

#endif
