// SPDX-License-Identifier: GPL-2.0-or-later
//
// The document facade as Lua sees it. Documents are BSON bytes; mongodb.lua
// makes them of Lua tables and back. All functions: the thread that runs the
// connection's user. Those that talk to the server return 0 or SB_E*, with
// con->error, sql_errno, sql_state and sql_errmsg set as sb_con_query() does,
// and count and time what they do under an operation.
#ifndef SB_DOC_FFI_H
#define SB_DOC_FFI_H

#include <stddef.h>
#include <stdint.h>

#include "base/export.h"

struct sb_con;    // sql.ffi.h
struct sb_doc_op; // a command, compiled

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

// Whether the driver of con has document operations.
SB_FFI int sb_doc_has(const struct sb_con *con);

// Runs a command. op: the operation it is counted under (sb_doc_name()), NULL
// for the name of the command.
struct sb_doc_name;
SB_FFI int sb_doc_command(struct sb_con *con, const uint8_t *body, size_t len,
    struct sb_doc_name *op);
// A name of an operation, for the life of the connection's context; the same
// pointer for the same name. "": what runs under it is neither counted as a
// query nor timed, its errors are counted as ever. NULL: out of memory.
SB_FFI struct sb_doc_name *sb_doc_name(struct sb_con *con, const char *name);

// Compiles a command. A placeholder is a document {"$arg": n} in place of any
// value, or {"$arg": n, "type": "int32"}: the n-th value of an execution, from
// 1; the type is one of int32, int64, double, string, bool, date, any. Doubles
// for "any": int32 if the number is an integer in its range, else int64 if it
// is one below 2^53, else double; ints: int64. Null goes everywhere. name: as
// sb_doc_name() takes it, NULL for the name of the command. NULL on failure, as
// above. Freed by sb_doc_op_free(), also after the connection.
SB_FFI struct sb_doc_op *sb_doc_compile(
    struct sb_con *con, const uint8_t *body, size_t len, const char *name);
SB_FFI uint32_t sb_doc_op_nargs(const struct sb_doc_op *op);
SB_FFI void sb_doc_op_free(struct sb_doc_op *op);
// Its n = nargs values; texts are copied.
SB_FFI int sb_doc_execute(
    struct sb_doc_op *op, const struct sb_doc_value *values, uint32_t n);

// Of the result of the last command, until the next one: documents (rows) and
// how many were inserted, matched or removed; the next document: 1, 0 after the
// last one, SB_E*; the server's reply, NULL for none.
SB_FFI double sb_doc_nrows(const struct sb_con *con);
SB_FFI double sb_doc_affected(const struct sb_con *con);
SB_FFI int sb_doc_next(struct sb_con *con, const uint8_t **doc, size_t *len);
SB_FFI const uint8_t *sb_doc_reply(struct sb_con *con, size_t *len);
// A field of the reply: a number, of an array how many elements it has; 0 when
// there is no such field.
SB_FFI double sb_doc_reply_number(struct sb_con *con, const char *name);

// step: enum sb_doc_step. Counted as an operation "begin", "commit", "abort".
SB_FFI int sb_doc_transaction(
    struct sb_con *con, int step, const uint8_t *options, size_t len);

// Several writes in few commands. A bulk belongs to its connection; its
// operations are collected, and sent by sb_doc_bulk_execute(): consecutive ones
// of a kind in one command (unordered: all of a kind), at most 1,000 and 12 MB
// each. kind: 'i' insert (a: the document), 'u' update (a: one element of the
// command's "updates"), 'd' delete (a: one of its "deletes"). Documents are
// copied. NULL, SB_E*: as above. Executing empties it, also when it fails;
// ordered ones stop at the first failure. ordered: 1, or 0; plus 2: as under
// the name "".
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
// What the last execution did, all commands together.
struct sb_doc_bulk_result {
    double inserted; // one a line: scripts/embed takes names before commas
    double matched;  // for those of parameters
    double modified;
    double upserted;
    double removed;
};
SB_FFI void sb_doc_bulk_result(
    const struct sb_doc_bulk *bulk, struct sb_doc_bulk_result *out);
SB_FFI void sb_doc_bulk_free(struct sb_doc_bulk *bulk);

// Extended JSON to BSON and back; *out is freed by sb_doc_free().
SB_FFI int sb_doc_from_json(struct sb_con *con, const char *json, size_t len,
    uint8_t **out, size_t *out_len);
SB_FFI int sb_doc_to_json(struct sb_con *con, const uint8_t *doc, size_t len,
    char **out, size_t *out_len);
SB_FFI void sb_doc_free(void *memory);

#endif
