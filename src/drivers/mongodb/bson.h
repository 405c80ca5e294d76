// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads BSON (bsonspec.org) that may be malformed, and numbers in it. Any
// thread.
//
// The driver does not use bson_iter_t, because it copies values whose type does
// not matter, and returns documents out of the middle of a reply. For both it
// needs the place and the length of any value, which bson_iter_t does not have.
#ifndef SB_BSON_H
#define SB_BSON_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum sb_bson_type {
    SB_BSON_DOUBLE = 0x01,
    SB_BSON_TEXT = 0x02,
    SB_BSON_DOCUMENT = 0x03,
    SB_BSON_ARRAY = 0x04,
    SB_BSON_BINARY = 0x05,
    SB_BSON_UNDEFINED = 0x06,
    SB_BSON_OID = 0x07,
    SB_BSON_BOOL = 0x08,
    SB_BSON_DATE = 0x09,
    SB_BSON_NULL = 0x0a,
    SB_BSON_REGEX = 0x0b,
    SB_BSON_POINTER = 0x0c,
    SB_BSON_CODE = 0x0d,
    SB_BSON_SYMBOL = 0x0e,
    SB_BSON_CODE_SCOPE = 0x0f,
    SB_BSON_INT32 = 0x10,
    SB_BSON_TIMESTAMP = 0x11,
    SB_BSON_INT64 = 0x12,
    SB_BSON_DECIMAL = 0x13,
    SB_BSON_MAX_KEY = 0x7f,
    SB_BSON_MIN_KEY = 0xff,
};

#define SB_BSON_DEPTH 200u // limit of nested documents, as on servers
#define SB_BSON_EMPTY 5u   // bytes of an empty document

struct sb_elem {
    uint8_t type;
    const char *key; // NUL-terminated
    size_t key_len;
    const uint8_t *value;
    size_t len; // of the value
};

struct sb_walk {
    const uint8_t *at, *end;
};

// Numbers in BSON are little-endian and unaligned.
static inline uint32_t sb_get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline uint64_t sb_get64(const uint8_t *p)
{
    return sb_get32(p) | (uint64_t)sb_get32(p + 4) << 32;
}

static inline double sb_get_double(const uint8_t *p)
{
    uint64_t bits = sb_get64(p);
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

static inline void sb_put32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
}

static inline void sb_put64(uint8_t *p, uint64_t v)
{
    sb_put32(p, (uint32_t)v);
    sb_put32(p + 4, (uint32_t)(v >> 32));
}

// True if doc, len bytes, has the length and the end of a document. The
// elements between them are not checked.
static inline bool sb_bson_framed(const uint8_t *doc, size_t len)
{
    return len >= SB_BSON_EMPTY && len <= INT32_MAX && sb_get32(doc) == len &&
           doc[len - 1] == '\0';
}

// Returns the length of the value of this type at p, of which `left` bytes can
// be read. SIZE_MAX: malformed. The elements of a document are not checked.
size_t sb_bson_size(uint8_t type, const uint8_t *p, size_t left);
// Begins a walk over the elements of a framed document.
static inline void sb_walk_begin(
    struct sb_walk *w, const uint8_t *doc, size_t len)
{
    assert(sb_bson_framed(doc, len));
    w->at = doc + 4;
    w->end = doc + len - 1;
}
// The same for bytes that may not be a framed document. False: they are not
// one; the walk then has no elements.
bool sb_walk_open(struct sb_walk *w, const uint8_t *doc, size_t len);
// Stores the next element in *e and returns 1; 0: no more elements, -1:
// malformed.
int sb_walk_next(struct sb_walk *w, struct sb_elem *e);
// The same, for callers that treat a malformed element as the end: returns
// false there, too.
static inline bool sb_walk_more(struct sb_walk *w, struct sb_elem *e)
{
    return sb_walk_next(w, e) == 1;
}
// Begins a walk over a document or an array; other values have no elements.
static inline void sb_walk_into(struct sb_walk *w, const struct sb_elem *e)
{
    bool nested = e->type == SB_BSON_DOCUMENT || e->type == SB_BSON_ARRAY;

    sb_walk_open(w, e->value, nested ? e->len : 0);
}
// Finds the element with this key; false if it does not exist.
bool sb_bson_find(
    const uint8_t *doc, size_t len, const char *key, struct sb_elem *e);

static inline bool sb_elem_is(const struct sb_elem *e, const char *key)
{
    return strcmp(e->key, key) == 0;
}
// The value of a number of any type, or of a bool; 0 for others.
double sb_elem_number(const struct sb_elem *e);
// The same as an integer: without the digits after the point; 0 for a double
// that does not fit.
int64_t sb_elem_int(const struct sb_elem *e);
// The text of a string, and its length (NULL: not needed); "" for others.
const char *sb_elem_text(const struct sb_elem *e, size_t *len);

#endif
