// SPDX-License-Identifier: GPL-2.0-or-later
//
// Iterates over the elements of BSON bytes. Pure; checks every length, so the
// bytes may be untrusted.
#ifndef SBMO_WALK_H
#define SBMO_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Element types, numbered as in bsonspec.org.
enum sbmo_type {
    SBMO_DOUBLE = 0x01,
    SBMO_UTF8 = 0x02,
    SBMO_DOCUMENT = 0x03,
    SBMO_ARRAY = 0x04,
    SBMO_BINARY = 0x05,
    SBMO_UNDEFINED = 0x06,
    SBMO_OID = 0x07,
    SBMO_BOOL = 0x08,
    SBMO_DATE = 0x09,
    SBMO_NULL = 0x0a,
    SBMO_REGEX = 0x0b,
    SBMO_DBPOINTER = 0x0c,
    SBMO_CODE = 0x0d,
    SBMO_SYMBOL = 0x0e,
    SBMO_CODE_SCOPE = 0x0f,
    SBMO_INT32 = 0x10,
    SBMO_TIMESTAMP = 0x11,
    SBMO_INT64 = 0x12,
    SBMO_DECIMAL = 0x13,
    SBMO_MAX_KEY = 0x7f,
    SBMO_MIN_KEY = 0xff,
};

struct sbmo_elem {
    uint8_t type;
    const char *key; // NUL-terminated
    uint32_t key_len;
    const uint8_t *value;
    uint32_t len; // of the value in memory
};

struct sbmo_walk {
    const uint8_t *p, *end; // end: the document's final 0
};

// False, and a walk without elements, if doc is not a document of len bytes.
bool sbmo_walk_init(struct sbmo_walk *w, const uint8_t *doc, size_t len);
// False at the end, or at invalid bytes.
bool sbmo_walk_next(struct sbmo_walk *w, struct sbmo_elem *e);
// Walks a document or an array; other values have no elements.
void sbmo_walk_into(struct sbmo_walk *w, const struct sbmo_elem *e);
bool sbmo_walk_find(
    const uint8_t *doc, size_t len, const char *key, struct sbmo_elem *e);
bool sbmo_is(const struct sbmo_elem *e, const char *key);

uint32_t sbmo_u32(const uint8_t *p);
int64_t sbmo_i64(const uint8_t *p);
double sbmo_f64(const uint8_t *p);
// Value of a number or a bool of any type; 0 for others.
int64_t sbmo_number(const struct sbmo_elem *e);
// Text of a string and its length; "" for others.
const char *sbmo_text(const struct sbmo_elem *e, uint32_t *len);

#endif
