// SPDX-License-Identifier: GPL-2.0-or-later
//
// The SQL functions that Lua calls: one API for all drivers. All functions are
// called by the thread that runs the connection's user.
#ifndef SB_SQL_FFI_H
#define SB_SQL_FFI_H

#include <stddef.h>
#include <stdint.h>

#include "base/export.h"
#include "db/sql_type.h" // constants, which Lua has by name

struct sb_db; // a driver, loaded and configured
struct sb_host;

// A connection. Scripts may read these fields; the rest is private.
struct sb_con {
    int error;              // enum sb_sql_error of the last call
    int sql_errno;          // the database's error number, 0 if none
    const char *sql_state;  // never NULL
    const char *sql_errmsg; // never NULL
    struct sb_db *driver;
    const struct sb_host *host; // for functions of drivers (db/driver.h)
};

// A parameter of a prepared statement. Lua writes the value to i, d or buffer,
// depending on the type.
struct sb_param {
    int type; // enum sb_sql_type
    int16_t is_null;
    int16_t is_unsigned; // i is a uint64_t
    int64_t i;
    double d;
    char *buffer; // max_len bytes, for text, blob and time types;
                  // sb_param_room() moves it
    uint64_t max_len;
    uint64_t data_len;
};

struct sb_stmt_handle; // a prepared statement

// A result set. A connection has one at a time; the next statement ends it.
// Until its context ends, a pointer to a result set that has ended may be
// passed to the functions below, which reject it.
struct sb_rs {
    uint32_t nrows;
    uint32_t nfields;
    uint64_t affected;
    uint64_t insert_id;
    struct sb_stmt_handle *statement; // NULL for a text query
    struct sb_con *connection;
};

struct sb_sql_cell {
    const char *s; // NULL for SQL NULL
    uint64_t len;
};

struct sb_db_ctx; // the user a connection belongs to (db/db.h)

// Returns the driver `name`; NULL or "": the driver of the run. NULL on
// failure; sb_db_error(ctx) returns the message.
SB_FFI struct sb_db *sb_db_get(struct sb_db_ctx *ctx, const char *name);
SB_FFI const char *sb_db_error(struct sb_db_ctx *ctx);
// The database's number and SQLSTATE of the same error; 0 and "" if none.
SB_FFI int sb_db_errno(const struct sb_db_ctx *ctx);
SB_FFI const char *sb_db_state(const struct sb_db_ctx *ctx);
SB_FFI const char *sb_db_name(const struct sb_db *db);
SB_FFI const char *sb_db_dialect(const struct sb_db *db);
// Return the driver's option for the database, such as "mysql-db", and its
// value: one name, or several separated by commas. NULL: the driver has no such
// option.
SB_FFI const char *sb_db_databases_option(const struct sb_db *db);
SB_FFI const char *sb_db_databases(const struct sb_db *db);

// Connects, as the operation `connect` of the event in progress. names/values:
// n option overrides ("db", "host" or the full "sqlite-db"); n = 0 for none.
// Several databases are used round-robin: consecutive users begin with
// consecutive databases, and each further connection of a user uses the next
// one. NULL on failure, see sb_db_error().
SB_FFI struct sb_con *sb_con_open(struct sb_db_ctx *ctx, struct sb_db *db,
    const char *const *names, const char *const *values, size_t n);
// Disconnects; the handle stays valid until sb_con_drop(). 0 or SB_E*.
SB_FFI int sb_con_close(struct sb_con *con);
SB_FFI int sb_con_reconnect(struct sb_con *con);
// Has each reconnect execute a statement that the caller has executed, after
// --db-init-sql: it sets something for the session. 0 or SB_ENOMEM.
SB_FFI int sb_con_init_sql(struct sb_con *con, const char *sql, size_t len);
// The next call of the user closes and frees the connection. For finalizers.
SB_FFI void sb_con_drop(struct sb_con *con);
// Closes the connections that were dropped. True if sb_con_open(), which has
// failed, may succeed if it is called again:
// it was not canceled, and open connections were freed after the failure.
SB_FFI int sb_con_retry(struct sb_db_ctx *ctx);
// Called once for a failure of sb_con_open(): counts it under its code in the
// event in progress. False if the caller caused the failure (wrong usage, a
// cancel, no memory), which is not counted.
SB_FFI int sb_con_refused(struct sb_db_ctx *ctx, struct sb_db *db);
// Closes the connections that were dropped. Returns the number of those that
// remain.
SB_FFI unsigned sb_con_held(struct sb_db_ctx *ctx);
// False if the connection is closed, or the server has closed it. Sends
// nothing: a server that hangs, or that vanished, is not detected.
SB_FFI int sb_con_alive(const struct sb_con *con);
// Calls a function of a driver, which may make calls on the connection. Returns
// what it returns: 0 or SB_E*; SB_EUSAGE if con is NULL.
SB_FFI int sb_con_run(struct sb_con *con,
    int (*function)(struct sb_con *con, void *arg), void *arg);
// True if queries are in SQL.
SB_FFI int sb_con_has_sql(const struct sb_con *con);
// True if the name of the driver of con is this one.
SB_FFI int sb_con_is_of(const struct sb_con *con, const char *driver);
// For finalizers of objects of drivers (object_new() in db/driver.h): the next
// call of the user frees the object.
SB_FFI void sb_object_drop(void *object);
// True if the last call failed because it was canceled.
SB_FFI int sb_con_canceled(const struct sb_con *con);
// Writes one line about the server to out; returns the length as snprintf()
// does. The last result remains, unless an object of the connection, such as a
// pipeline, has something to do first. Nothing is written while the connection
// is loading or closed.
SB_FFI int sb_con_server(struct sb_con *con, char *out, size_t size);
SB_FFI size_t sb_con_quote(
    struct sb_con *con, const char *text, size_t len, char *out, size_t size);
// Rolls back the open transaction of a failed event. 0 or SB_E*.
SB_FFI int sb_con_reset(struct sb_con *con);
// The same for all connections of the user except con, because the event is
// retried as a whole. con may be NULL. If a rollback fails, the next statement
// on its connection fails.
SB_FFI void sb_con_reset_others(
    struct sb_db_ctx *ctx, const struct sb_con *con);

// Runs SQL text. Returns the result set; NULL if the statement has none, or on
// failure (con->error != 0).
SB_FFI struct sb_rs *sb_con_query(
    struct sb_con *con, const char *sql, size_t len);
// The same for a caller that needs the rows immediately: fails while a
// pipeline is open.
SB_FFI struct sb_rs *sb_con_query_now(
    struct sb_con *con, const char *sql, size_t len);
// Rows changed by the last statement.
SB_FFI double sb_con_affected(const struct sb_con *con);
// The id that the last statement generated, 0 if none: an int64_t in these bits
// if sb_con_ids_are_signed().
SB_FFI uint64_t sb_con_insert_id(const struct sb_con *con);
SB_FFI int sb_con_ids_are_signed(const struct sb_con *con);

// The statement that failed last on con, in one line of at most about 200
// bytes; "" for none. Valid until the next failure.
SB_FFI const char *sb_con_failed_sql(const struct sb_con *con);

// Prepares a statement with '?' placeholders. It is sent to the server when it
// is first executed. op: the name under which executions are reported, NULL
// for the text with its digits folded. NULL on failure.
SB_FFI struct sb_stmt_handle *sb_stmt_open(
    struct sb_con *con, const char *sql, size_t len, const char *op);
// Returns a new parameter, to be freed with sb_param_free(); statements keep
// the parameters bound to them. type: enum sb_sql_type. max_len: of a
// text, in bytes; 0: the buffer grows with its texts. NULL on failure, see
// con->error.
SB_FFI struct sb_param *sb_stmt_param(
    struct sb_stmt_handle *st, int type, uint64_t max_len);
// Makes room for a text of len bytes in the buffer. Returns how many of them
// fit: fewer than len, with a warning once per run, if a maximum length was
// declared; -1 without memory or above 2^32 - 2 bytes.
SB_FFI int64_t sb_param_room(struct sb_param *param, uint64_t len);
SB_FFI void sb_param_free(struct sb_param *param);
// Binds n parameters, in the order of the placeholders. Surplus parameters are
// ignored with a warning, once per statement. 0 or SB_E*; SB_EUSAGE if there
// are fewer than placeholders.
SB_FFI int sb_stmt_bind(
    struct sb_stmt_handle *st, struct sb_param *const *params, size_t n);
// As sb_con_query().
SB_FFI struct sb_rs *sb_stmt_execute(struct sb_stmt_handle *st);
SB_FFI void sb_stmt_free(struct sb_stmt_handle *st);
// As sb_con_drop().
SB_FFI void sb_stmt_drop(struct sb_stmt_handle *st);

// Stores the next row in nfields cells. 1, 0 after the last row, or SB_E*.
SB_FFI int sb_rs_fetch(struct sb_rs *rs, struct sb_sql_cell *cells);
// The name of column i, from 0; NULL if out of range.
SB_FFI const char *sb_rs_column(struct sb_rs *rs, uint32_t i);
// Returns 1 if the same statement has another result, 0 if not. The current one
// stays open.
SB_FFI int sb_rs_more(struct sb_con *con);
// Ends the result and returns the next one of the same statement, as
// sb_con_query() does. NULL after the last one, which stays open.
SB_FFI struct sb_rs *sb_rs_next(struct sb_con *con);
SB_FFI void sb_rs_free(struct sb_rs *rs);

// Statements sent together. After sb_con_pipeline(), sb_con_query() and
// sb_stmt_execute() on con only collect statements and return NULL. send sends
// them all and returns their number. next returns the result of the next
// statement, in order, as sb_con_query() does. After a failure there are no
// more results, and the statements after the failed one were not executed.
// Latencies are measured from sending to the answer. While statements are
// collected, bulk inserts, loads and sb_con_query_now() fail with SB_EUSAGE;
// once they are sent, any other call on con ends the pipeline. 0, a number or
// SB_E*, in end and run also that of an answer which they receive.
SB_FFI int sb_con_pipeline(struct sb_con *con);
SB_FFI int sb_con_pipeline_send(struct sb_con *con);
SB_FFI struct sb_rs *sb_con_pipeline_next(struct sb_con *con);
// Ends a pipeline that was sent: receives the remaining answers, which counts
// the statements, and drops their rows. Otherwise it does nothing.
SB_FFI int sb_con_pipeline_end(struct sb_con *con);
// Sends the statements, and receives and drops all results.
SB_FFI int sb_con_pipeline_run(struct sb_con *con);

// Drops the collected statements and the answers not yet received.
SB_FFI void sb_con_pipeline_drop(struct sb_con *con);

// Multi-row INSERT as in sysbench 1.0: init("INSERT INTO t VALUES"),
// next("(1,'a')") ..., done(). Sends each statement before it exceeds 512 KiB.
// 0 or SB_E*.
SB_FFI int sb_con_bulk_init(struct sb_con *con, const char *sql, size_t len);
SB_FFI int sb_con_bulk_next(struct sb_con *con, const char *row, size_t len);
SB_FFI int sb_con_bulk_done(struct sb_con *con);

#endif
