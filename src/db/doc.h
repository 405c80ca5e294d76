// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the document facade share.
#ifndef SB_DOC_H
#define SB_DOC_H

#include "db/doc.ffi.h"
#include "db/doc_type.h"
#include "db/internal.h"

// Reading BSON: doc_bson.c ---------------------------------------------------

enum sb__bson_type {
    SB__BSON_DOUBLE = 0x01,
    SB__BSON_TEXT = 0x02,
    SB__BSON_DOCUMENT = 0x03,
    SB__BSON_ARRAY = 0x04,
    SB__BSON_BOOL = 0x08,
    SB__BSON_DATE = 0x09,
    SB__BSON_NULL = 0x0a,
    SB__BSON_INT32 = 0x10,
    SB__BSON_INT64 = 0x12,
};

#define SB__BSON_DEPTH 200u // of documents in each other, as servers have it
#define SB__BSON_EMPTY 5u   // bytes of an empty document

struct sb__elem {
    uint8_t type;
    const char *key; // NUL-terminated
    size_t key_len;
    const uint8_t *value;
    size_t len; // of the value
};

struct sb__walk {
    const uint8_t *at, *end;
};

// Numbers in BSON: little-endian, anywhere.
static inline uint32_t sb__get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline uint64_t sb__get64(const uint8_t *p)
{
    return sb__get32(p) | (uint64_t)sb__get32(p + 4) << 32;
}

static inline void sb__put32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
}

static inline void sb__put64(uint8_t *p, uint64_t v)
{
    sb__put32(p, (uint32_t)v);
    sb__put32(p + 4, (uint32_t)(v >> 32));
}

// Whether doc, len bytes, has a document's length and end. Nothing is said of
// what is between.
static inline bool sb__bson_framed(const uint8_t *doc, size_t len)
{
    return len >= SB__BSON_EMPTY && len <= INT32_MAX && sb__get32(doc) == len &&
           doc[len - 1] == '\0';
}

// How long the value of that type is that begins at p, of which `left` bytes
// can be read. SIZE_MAX: it is malformed. Documents in it are only framed.
size_t sb__bson_size(uint8_t type, const uint8_t *p, size_t left);
// The elements of a framed document.
void sb__walk_begin(struct sb__walk *w, const uint8_t *doc, size_t len);
// 1: *e is the next one, 0: none is left, -1: malformed.
int sb__walk_next(struct sb__walk *w, struct sb__elem *e);
// The element of that name; false when there is none.
bool sb__bson_find(
    const uint8_t *doc, size_t len, const char *key, struct sb__elem *e);
// Of a number of any type, or a bool; 0 for others.
double sb__elem_number(const struct sb__elem *e);

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
