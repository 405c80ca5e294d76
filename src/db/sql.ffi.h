// SPDX-License-Identifier: GPL-2.0-or-later
//
// The SQL facade as Lua sees it: one connect / query API over every driver.
// All functions: the thread that runs the connection's user, unless noted.
#ifndef SB_SQL_FFI_H
#define SB_SQL_FFI_H

#include <stddef.h>
#include <stdint.h>

#include "base/export.h"
#include "db/sql_type.h" // constants, which Lua has by name

struct sb_db; // a driver, loaded and configured

// A connection. These fields may be read by scripts; the rest is private.
struct sb_con {
    int error;              // enum sb_sql_error of the last call
    int sql_errno;          // the database's error number, 0 if none
    const char *sql_state;  // never NULL
    const char *sql_errmsg; // never NULL
    struct sb_db *driver;
};

// A parameter of a prepared statement. The value lies in i, d or buffer,
// after its type; Lua writes it there.
struct sb_param {
    int type; // enum sb_sql_type
    int16_t is_null;
    int16_t is_unsigned; // i is a uint64_t
    int64_t i;
    double d;
    char *buffer; // max_len bytes, for text, blob and time types
    uint64_t max_len;
    uint64_t data_len;
};

struct sb_stmt_handle; // a prepared statement

// A result set. One a connection; the next statement there ends it. It may be
// passed to the functions below, and is refused by them, as long as its
// context lives.
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

// The driver `name`, NULL or "" for the run's own choice. NULL on failure,
// with the sentence in sb_db_error(ctx).
SB_FFI struct sb_db *sb_db_get(struct sb_db_ctx *ctx, const char *name);
SB_FFI const char *sb_db_error(struct sb_db_ctx *ctx);
SB_FFI const char *sb_db_name(const struct sb_db *db);
SB_FFI const char *sb_db_dialect(const struct sb_db *db);
// The driver's option for the database, such as "mysql-db", and its value: one
// name, or several separated by commas. NULL: it has no such option.
SB_FFI const char *sb_db_databases_option(const struct sb_db *db);
SB_FFI const char *sb_db_databases(const struct sb_db *db);

// Connects. names/values: n option overrides ("db", "host" or the full
// "sqlite-db"); n = 0 for none. Where several databases are named, the
// connection goes to the next one: the first connection of user u to number u,
// counted around. NULL on failure, see sb_db_error().
SB_FFI struct sb_con *sb_con_open(struct sb_db_ctx *ctx, struct sb_db *db,
    const char *const *names, const char *const *values, size_t n);
// Disconnects; the handle stays valid until sb_con_free(). 0 or SB_E*.
SB_FFI int sb_con_close(struct sb_con *con);
SB_FFI int sb_con_reconnect(struct sb_con *con);
SB_FFI void sb_con_free(struct sb_con *con);
// Whether sb_con_open(), having failed, may succeed now: open connections were
// freed since, and it was not canceled.
SB_FFI int sb_con_retry(struct sb_db_ctx *ctx);
// One line about the server, into out; length as snprintf.
SB_FFI int sb_con_server(struct sb_con *con, char *out, size_t size);
SB_FFI size_t sb_con_quote(
    struct sb_con *con, const char *text, size_t len, char *out, size_t size);
// Rolls back what a failed event left open. 0 or SB_E*.
SB_FFI int sb_con_reset(struct sb_con *con);
// The same for all other connections of the user: the event is tried again as
// a whole. What fails shows with the next statement there.
SB_FFI void sb_con_reset_others(struct sb_con *con);

// Runs SQL text. A result set: non-NULL. No result set, or failure (then
// con->error != 0): NULL; sb_con_affected() and sb_con_insert_id() tell more.
SB_FFI struct sb_rs *sb_con_query(
    struct sb_con *con, const char *sql, size_t len);
// The same for a caller that needs the rows at once: an error while a pipeline
// is open.
SB_FFI struct sb_rs *sb_con_query_now(
    struct sb_con *con, const char *sql, size_t len);
SB_FFI double sb_con_affected(const struct sb_con *con);
SB_FFI uint64_t sb_con_insert_id(const struct sb_con *con);

// The statement that the last failure on con was about, in one line, cut to
// some 200 bytes; "" for none. Valid until the next failure.
SB_FFI const char *sb_con_failed_sql(const struct sb_con *con);

// Prepares a statement with '?' placeholders. The server sees it when it is
// first executed. op: the name its executions are reported under, NULL for
// the text itself with digits folded.
SB_FFI struct sb_stmt_handle *sb_stmt_open(
    struct sb_con *con, const char *sql, size_t len, const char *op);
// A parameter, the caller's until sb_param_free(); statements that it is bound
// to keep it as long as they need it. type: enum sb_sql_type. NULL: con->error.
SB_FFI struct sb_param *sb_stmt_param(
    struct sb_stmt_handle *st, int type, uint64_t max_len);
SB_FFI void sb_param_free(struct sb_param *param);
// params: n of sb_stmt_param(), in order of the placeholders. With more of them
// than placeholders the others are ignored and the user is warned, once a
// statement. 0 or SB_E*; SB_EUSAGE for fewer.
SB_FFI int sb_stmt_bind(
    struct sb_stmt_handle *st, struct sb_param *const *params, size_t n);
// As sb_con_query().
SB_FFI struct sb_rs *sb_stmt_execute(struct sb_stmt_handle *st);
SB_FFI void sb_stmt_free(struct sb_stmt_handle *st);

// 1: cells filled (nfields of them), 0: no more rows, < 0: SB_E*.
SB_FFI int sb_rs_fetch(struct sb_rs *rs, struct sb_sql_cell *cells);
SB_FFI const char *sb_rs_column(struct sb_rs *rs, uint32_t i);
// Ends the result: is there another one of the same statement? 1, 0, SB_E*.
SB_FFI int sb_rs_more(struct sb_con *con);
// As sb_con_query() for the next result of the same statement.
SB_FFI struct sb_rs *sb_rs_next(struct sb_con *con);
SB_FFI void sb_rs_free(struct sb_rs *rs);

// Statements sent together. From sb_con_pipeline() on, sb_con_query() and
// sb_stmt_execute() on con only collect (they return NULL); send hands all to
// the server and returns their number; next is sb_con_query() for the answer
// to the next one, in order. After a failure nothing more comes, and what
// stood behind was not executed. Latencies: from the sending to the answer.
// While statements are collected, bulk inserts, loads and sb_con_query_now()
// fail with SB_EUSAGE; once they are sent, any other call on con ends the
// pipeline. 0, a number or SB_E*.
SB_FFI int sb_con_pipeline(struct sb_con *con);
SB_FFI int sb_con_pipeline_send(struct sb_con *con);
SB_FFI struct sb_rs *sb_con_pipeline_next(struct sb_con *con);
// send, and all answers, whose rows are dropped.
SB_FFI int sb_con_pipeline_run(struct sb_con *con);

// Forgets what was collected or not answered yet.
SB_FFI void sb_con_pipeline_drop(struct sb_con *con);

// Multi-row INSERT in the classic way: init("INSERT INTO t VALUES"),
// next("(1,'a')") ..., done(). Flushes before 512 KiB. 0 or SB_E*.
SB_FFI int sb_con_bulk_init(struct sb_con *con, const char *sql, size_t len);
SB_FFI int sb_con_bulk_next(struct sb_con *con, const char *row, size_t len);
SB_FFI int sb_con_bulk_done(struct sb_con *con);

#endif
