// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the document facade share.
#ifndef SB_DOC_H
#define SB_DOC_H

#include "db/doc.ffi.h"
#include "db/doc_bson.h"
#include "db/doc_type.h"
#include "db/internal.h"

// What belongs to a connection and may be freed later than it: it waits in the
// context then, without connection.
struct sb__doc_kept {
    struct sb_con_priv *con;
    struct sb__doc_kept *next, **prev;
    void (*free)(struct sb__doc_kept *k);
};

// doc.c ----------------------------------------------------------------------

void sb__doc_keep(struct sb_con_priv *c, struct sb__doc_kept *k);
void sb__doc_unkeep(struct sb__doc_kept *k);
// Whether documents can be prepared on the connection; the server is not asked
// and the current result stays. 0 or SB_E*.
int sb__doc_ready(struct sb_con_priv *c);
// As sb__con_begin(), for a command.
int sb__doc_begin(struct sb_con_priv *c);
// Fails the call: SB_EUSAGE, ...
int sb__doc_usage(struct sb_con_priv *c, const char *fmt, ...) SB_PRINTF(2, 3);
int sb__doc_no_memory(struct sb_con_priv *c);
// That the command has a frame and a name. 0 or SB_EUSAGE.
int sb__doc_check(struct sb_con_priv *c, const uint8_t *body, size_t len);
// Runs what was checked, after sb__doc_begin(). name: NULL for the command's.
int sb__doc_run(struct sb_con_priv *c, const uint8_t *body, size_t len,
    struct sb_doc_name *name);
// Room for `more` bytes behind b->len: where they begin, NULL when memory is
// out.
uint8_t *sb__bytes_room(struct sb__bytes *b, size_t more);

// doc_text.c -----------------------------------------------------------------

// The beginning of a command as JSON, for people; freed by free(). NULL when
// memory is out; something to read in any case else.
char *sb__doc_text(
    const struct sb_con_priv *c, const uint8_t *body, size_t len, size_t *n);

// doc_value.c ----------------------------------------------------------------

// What a placeholder takes.
enum sb__want {
    SB__WANT_ANY,
    SB__WANT_INT32,
    SB__WANT_INT64,
    SB__WANT_DOUBLE,
    SB__WANT_TEXT,
    SB__WANT_BOOL,
    SB__WANT_DATE,
};

// By its name in documents; -1 for none.
int sb__want_named(const char *name, size_t len);
// Most bytes that a value takes.
static inline size_t sb__value_room(const struct sb_doc_value *v)
{
    return v->type == SB_DOC_TEXT || v->type == SB_DOC_ELEMENT
               ? (size_t)v->len + 5
               : 8;
}
// Writes the value and its type; returns where it ends. NULL: it is none of the
// wanted type, *err says why without naming it; what was written is void.
uint8_t *sb__value_put(const struct sb_doc_value *v, enum sb__want want,
    uint8_t *type, uint8_t *out, struct sb_err *err);

// doc_op.c -------------------------------------------------------------------

// Whether n values fit the compiled document: SB_EUSAGE in c else; how many
// bytes it has with them at most.
int sb__doc_op_room(const struct sb_doc_op *op, struct sb_con_priv *c,
    const struct sb_doc_value *values, uint32_t n, size_t *room);
// Writes it to out; its length, 0: SB_EUSAGE in c.
size_t sb__doc_op_write(const struct sb_doc_op *op, struct sb_con_priv *c,
    const struct sb_doc_value *values, uint8_t *out);

#endif
