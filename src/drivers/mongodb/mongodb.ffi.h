// SPDX-License-Identifier: GPL-2.0-or-later
//
// The functions that the Lua modules call. Documents are BSON bytes, which
// lua_bson.c converts from Lua tables and back. All functions are called by the
// thread that runs the connection's user. con must not be NULL. SB_E* is also
// the error of the connection, which a script reads in con.error etc.
#ifndef MONGODB_FFI_H
#define MONGODB_FFI_H

#include <stddef.h>
#include <stdint.h>

#include "base/export.h"

struct sb_con;        // sql.ffi.h
struct sbmo_doc_op;   // a compiled command
struct sbmo_doc_bulk; // several writes in few commands

// Calls. They wait, so Lua calls them by api.call(); arg: the struct before
// each, whose contents must stay valid until it returns. 0 or SB_E*.

// A command. op: the operation it is counted under, NULL for the name of the
// command, "" for none: then it is not timed and not counted as a query; its
// errors are counted.
struct sbmo_doc_command {
    const uint8_t *body;
    size_t len;
    const char *op;
};
SB_FFI int sbmo_doc_command(struct sb_con *con, void *arg);

// A value for a placeholder. type: enum sbmo_doc_type.
struct sbmo_doc_value {
    int32_t type;
    uint32_t len; // of s
    union {
        int64_t i;
        double d;
        const char *s;
    };
};
enum sbmo_doc_type {
    SBMO_DOC_NULL,
    SBMO_DOC_INT,
    SBMO_DOC_DOUBLE, // a Lua number, see sbmo_doc_compile()
    SBMO_DOC_TEXT,   // s, len bytes of UTF-8
    SBMO_DOC_BOOL,   // i
    SBMO_DOC_ELEMENT // s: a BSON type byte and the value; len: of both
};
// An execution of a compiled command with its values.
struct sbmo_doc_execution {
    struct sbmo_doc_op *op;
    const struct sbmo_doc_value *values;
    uint32_t n;
};
SB_FFI int sbmo_doc_execute(struct sb_con *con, void *arg);

// Begins, commits or aborts a transaction. options: a document for BEGIN, or
// NULL. Counted as operation "begin", "commit" or "abort".
enum sbmo_doc_step { SBMO_DOC_BEGIN, SBMO_DOC_COMMIT, SBMO_DOC_ABORT };
struct sbmo_doc_transaction {
    int step; // enum sbmo_doc_step
    const uint8_t *options;
    size_t len;
};
SB_FFI int sbmo_doc_transaction(struct sb_con *con, void *arg);

// Executes a bulk, which is arg, and empties it, also on failure. An ordered
// bulk stops at the first failure.
SB_FFI int sbmo_doc_bulk_execute(struct sb_con *con, void *arg);

// Compiled commands. Any value may be a placeholder, a document {"$arg": n} or
// {"$arg": n, "type": "int32"}: the n-th value of an execution, from 1. The
// type is one of int32, int64, double, string, bool, date, any. For "any", a
// double becomes an int32 if it is an integer in its range, otherwise an int64
// if it is an integer below 2^53, otherwise a double; an int becomes an int64.
// Every type accepts null. name: an operation, as above. NULL on failure. An
// object of the connection (api.object() in Lua).
SB_FFI struct sbmo_doc_op *sbmo_doc_compile(
    struct sb_con *con, const uint8_t *body, size_t len, const char *name);
SB_FFI uint32_t sbmo_doc_op_nargs(const struct sbmo_doc_op *op);

// Bulks. A bulk collects operations: consecutive ones of one kind become one
// command (unordered: all of one kind), at most 1,000 and 12 MB per command.
// Documents are copied. kind: 'i' insert (a: the document), 'u' update (a: one
// element of the command's "updates"), 'd' delete (a: one of its "deletes").
// ordered: 1 or 0, plus 2 to count as under the name "". NULL on failure. An
// object of the connection.
SB_FFI struct sbmo_doc_bulk *sbmo_doc_bulk_open(
    struct sb_con *con, const char *collection, int ordered);
SB_FFI int sbmo_doc_bulk_add(struct sb_con *con, struct sbmo_doc_bulk *bulk,
    int kind, const uint8_t *a, size_t len);
// The same with a compiled document and its values.
SB_FFI int sbmo_doc_bulk_add_op(struct sb_con *con, struct sbmo_doc_bulk *bulk,
    int kind, struct sbmo_doc_op *op, const struct sbmo_doc_value *values,
    uint32_t n);
SB_FFI double sbmo_doc_bulk_count(const struct sbmo_doc_bulk *bulk);
// The sums of the last execution over all its commands.
struct sbmo_doc_bulk_result {
    double inserted; // one field per line: scripts/embed removes names before
    double matched;  // commas as names of parameters
    double modified;
    double upserted;
    double removed;
};
SB_FFI void sbmo_doc_bulk_result(
    const struct sbmo_doc_bulk *bulk, struct sbmo_doc_bulk_result *out);

// The result of the last command, until the next one: the number of documents
// returned, and the number of documents inserted, matched or removed.
SB_FFI double sbmo_doc_nrows(const struct sb_con *con);
SB_FFI double sbmo_doc_affected(const struct sb_con *con);
// Gets the next document of the result: 1, 0 after the last one, or SB_E*.
SB_FFI int sbmo_doc_next(struct sb_con *con, const uint8_t **doc, size_t *len);
// The server's reply, NULL for none.
SB_FFI const uint8_t *sbmo_doc_reply(const struct sb_con *con, size_t *len);
// A field of the reply: the value of a number, or the number of elements of an
// array; 0 if there is no such field.
SB_FFI double sbmo_doc_reply_number(const struct sb_con *con, const char *name);

// Extended JSON to BSON and back; *out is freed by sbmo_doc_free().
SB_FFI int sbmo_doc_from_json(struct sb_con *con, const char *json, size_t len,
    uint8_t **out, size_t *out_len);
SB_FFI int sbmo_doc_to_json(struct sb_con *con, const uint8_t *doc, size_t len,
    char **out, size_t *out_len);
SB_FFI void sbmo_doc_free(void *memory);

// A function of Lua's C API, for api.symbol(): adds the functions that write
// and read BSON to a table, which lua_bson.c describes.
struct lua_State;
SB_FFI int sbmo_lua_bson(struct lua_State *L);

#endif
