// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations that the files of the document facade share.
#ifndef SB_DOC_H
#define SB_DOC_H

#include "db/doc.ffi.h"
#include "kit/bson.h"
#include "db/doc_type.h"
#include "db/call.h"

#define SB__DOC_BUCKETS 16

// The names of operations of a context.
struct sb__doc_names {
    struct sb__child child; // first
    unsigned n;
    struct sb_doc_name *bucket[SB__DOC_BUCKETS]; // by hash
};

// doc.c ----------------------------------------------------------------------

// Checks that documents can be prepared on the connection, without a call to
// the server. The current result stays. 0 or SB_E*.
int sb__doc_ready(struct sb_con_priv *c);
// As sb__call_ready(), for a command.
int sb__doc_begin(struct sb_con_priv *c);
// Checks that the command is framed and has a name. 0 or SB_EUSAGE.
int sb__doc_check(struct sb_con_priv *c, const uint8_t *body, size_t len);
// Runs a checked command, after sb__doc_begin(). name: the operation, NULL for
// the name of the command. 0 or SB_E*.
int sb__doc_run(struct sb_con_priv *c, const uint8_t *body, size_t len,
    struct sb_doc_name *name);
// Called when the connection of a compiled command or a bulk is freed: the
// object stays valid for the function that frees it.
void sb__doc_orphan(struct sb__child *k);

void sb_doc_op_free(struct sb_doc_op *op);
void sb_doc_bulk_free(struct sb_doc_bulk *bulk);

// doc_text.c -----------------------------------------------------------------

// Returns the beginning of a command as JSON, *n bytes, for messages; the
// caller frees it with free(). NULL: out of memory.
char *sb__doc_text(
    const struct sb_con_priv *c, const uint8_t *body, size_t len, size_t *n);

// doc_value.c ----------------------------------------------------------------

// The type that a placeholder requires.
enum sb__want {
    SB__WANT_ANY,
    SB__WANT_INT32,
    SB__WANT_INT64,
    SB__WANT_DOUBLE,
    SB__WANT_TEXT,
    SB__WANT_BOOL,
    SB__WANT_DATE,
};

// The enum sb__want of a name of a type in documents; -1: unknown.
int sb__want_named(const char *name, size_t len);
// Maximum number of bytes of a value.
static inline size_t sb__value_room(const struct sb_doc_value *v)
{
    return v->type == SB_DOC_TEXT || v->type == SB_DOC_ELEMENT
               ? (size_t)v->len + 5
               : 8;
}
// Writes the value to out and its type to *type; returns the end of the value.
// NULL: the value does not have the required type; *err gives the reason
// without the number of the placeholder, and what was written is invalid.
uint8_t *sb__value_put(const struct sb_doc_value *v, enum sb__want want,
    uint8_t *type, uint8_t *out, struct sb_err *err);

// doc_op.c -------------------------------------------------------------------

// Checks that n values fit the compiled document, and stores its maximum
// length with them in *room. 0, or SB_EUSAGE as the error of c.
int sb__doc_op_room(const struct sb_doc_op *op, struct sb_con_priv *c,
    const struct sb_doc_value *values, uint32_t n, size_t *room);
// Writes the document to out; returns its length, or 0 with SB_EUSAGE as the
// error of c.
size_t sb__doc_op_write(const struct sb_doc_op *op, struct sb_con_priv *c,
    const struct sb_doc_value *values, uint8_t *out);

#endif
