// SPDX-License-Identifier: GPL-2.0-or-later
//
// The document functions that Lua calls. Documents are BSON bytes; mongodb.lua
// converts Lua tables to them and back. All functions are called by the thread
// that runs the connection's user. Functions that send something to the server
// return 0 or SB_E*, set con->error, sql_errno, sql_state and sql_errmsg as
// sb_con_query() does, and count and time the call under an operation.
#ifndef SB_DOC_FFI_H
#define SB_DOC_FFI_H

#include <stddef.h>
#include <stdint.h>

#include "base/export.h"

struct sb_con;    // sql.ffi.h
struct sb_doc_op; // a compiled command

// A value for a placeholder. type: enum sb_doc_type (db/doc_type.h).
struct sb_doc_value {
    int32_t type;
    uint32_t len; // of s
    union {
        int64_t i;
        double d;
        const char *s;
    };
};

// True if the driver of con has document operations.
SB_FFI int sb_doc_has(const struct sb_con *con);

// Runs a command. op: the operation it is counted under (sb_doc_name()), NULL
// for the name of the command.
struct sb_doc_name;
SB_FFI int sb_doc_command(struct sb_con *con, const uint8_t *body, size_t len,
    struct sb_doc_name *op);
// Returns the name of an operation, valid until the connection's context ends;
// the same pointer for the same name. Calls under the name "" are not timed and
// not counted as queries; their errors are counted. NULL: out of memory.
SB_FFI struct sb_doc_name *sb_doc_name(struct sb_con *con, const char *name);

// Compiles a command. Any value in it may be a placeholder, a document
// {"$arg": n} or {"$arg": n, "type": "int32"}: the n-th value of an execution,
// from 1. The type is one of int32, int64, double, string, bool, date, any. For
// "any", a double becomes an int32 if it is an integer in its range, otherwise
// an int64 if it is an integer below 2^53, otherwise a double; an int becomes
// an int64. Every type accepts null. name: as for sb_doc_name(), NULL for the
// name of the command. NULL on failure, as above. Freed by sb_doc_op_drop(),
// also after the connection.
SB_FFI struct sb_doc_op *sb_doc_compile(
    struct sb_con *con, const uint8_t *body, size_t len, const char *name);
SB_FFI uint32_t sb_doc_op_nargs(const struct sb_doc_op *op);
// The next call of the user frees it. For finalizers.
SB_FFI void sb_doc_op_drop(struct sb_doc_op *op);
// Executes it with n = nargs values; texts are copied.
SB_FFI int sb_doc_execute(
    struct sb_doc_op *op, const struct sb_doc_value *values, uint32_t n);

// The result of the last command, until the next one: the number of documents
// returned, and the number of documents inserted, matched or removed.
SB_FFI double sb_doc_nrows(const struct sb_con *con);
SB_FFI double sb_doc_affected(const struct sb_con *con);
// Gets the next document of the result: 1, 0 after the last one, or SB_E*.
SB_FFI int sb_doc_next(struct sb_con *con, const uint8_t **doc, size_t *len);
// The server's reply, NULL for none.
SB_FFI const uint8_t *sb_doc_reply(struct sb_con *con, size_t *len);
// A field of the reply: the value of a number, or the number of elements of an
// array; 0 if there is no such field.
SB_FFI double sb_doc_reply_number(struct sb_con *con, const char *name);

// Begins, commits or aborts a transaction. step: enum sb_doc_step. Counted as
// operation "begin", "commit" or "abort".
SB_FFI int sb_doc_transaction(
    struct sb_con *con, int step, const uint8_t *options, size_t len);

// Several writes in few commands. A bulk belongs to its connection. It collects
// operations, and sb_doc_bulk_execute() sends them: consecutive operations of
// one kind in one command (unordered: all operations of one kind), at most
// 1,000 and 12 MB per command. kind: 'i' insert (a: the document), 'u' update
// (a: one element of the command's "updates"), 'd' delete (a: one of its
// "deletes"). Documents are copied. NULL, SB_E*: as above. Executing empties
// the bulk, also on failure; an ordered bulk stops at the first failure.
// ordered: 1 or 0, plus 2 to count as under the name "".
struct sb_doc_bulk;
SB_FFI struct sb_doc_bulk *sb_doc_bulk_open(
    struct sb_con *con, const char *collection, int ordered);
SB_FFI int sb_doc_bulk_add(
    struct sb_doc_bulk *bulk, int kind, const uint8_t *a, size_t len);
// The same with a compiled document (sb_doc_compile() of it) and its values.
SB_FFI int sb_doc_bulk_add_op(struct sb_doc_bulk *bulk, int kind,
    struct sb_doc_op *op, const struct sb_doc_value *values, uint32_t n);
SB_FFI double sb_doc_bulk_count(const struct sb_doc_bulk *bulk);
SB_FFI int sb_doc_bulk_execute(struct sb_doc_bulk *bulk);
// The sums of the last execution over all its commands.
struct sb_doc_bulk_result {
    double inserted; // one field per line: scripts/embed removes names before
    double matched;  // commas as names of parameters
    double modified;
    double upserted;
    double removed;
};
SB_FFI void sb_doc_bulk_result(
    const struct sb_doc_bulk *bulk, struct sb_doc_bulk_result *out);
// As sb_doc_op_drop().
SB_FFI void sb_doc_bulk_drop(struct sb_doc_bulk *bulk);

// Extended JSON to BSON and back; *out is freed by sb_doc_free().
SB_FFI int sb_doc_from_json(struct sb_con *con, const char *json, size_t len,
    uint8_t **out, size_t *out_len);
SB_FFI int sb_doc_to_json(struct sb_con *con, const uint8_t *doc, size_t len,
    char **out, size_t *out_len);
SB_FFI void sb_doc_free(void *memory);

#endif
