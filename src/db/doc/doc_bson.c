// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads BSON (bsonspec.org) that may be malformed, never beyond its end.
#include "db/doc/doc.h"

#define BAD SIZE_MAX

// A length, followed by that many bytes, the last of which is NUL.
static size_t text_size(const uint8_t *p, size_t left)
{
    uint32_t n;

    if (left < 5)
        return BAD;
    n = sb_get32(p);
    if (n < 1 || n > left - 4 || p[4 + n - 1] != '\0')
        return BAD;
    return 4 + (size_t)n;
}

static size_t document_size(const uint8_t *p, size_t left)
{
    uint32_t n;

    if (left < SB_BSON_EMPTY)
        return BAD;
    n = sb_get32(p);
    return n <= left && sb_bson_framed(p, n) ? n : BAD;
}

static size_t binary_size(const uint8_t *p, size_t left)
{
    uint32_t n;

    if (left < 5)
        return BAD;
    n = sb_get32(p);
    return n <= left - 5 && n <= INT32_MAX ? 5 + (size_t)n : BAD;
}

// Two texts that end with NUL.
static size_t regex_size(const uint8_t *p, size_t left)
{
    const uint8_t *a = memchr(p, '\0', left), *b;

    if (!a)
        return BAD;
    left -= (size_t)(a - p) + 1;
    b = memchr(a + 1, '\0', left);
    return b ? (size_t)(b - p) + 1 : BAD;
}

static size_t pointer_size(const uint8_t *p, size_t left)
{
    size_t n = text_size(p, left);

    return n != BAD && left - n >= 12 ? n + 12 : BAD;
}

// The total length, a text, a document.
static size_t code_size(const uint8_t *p, size_t left)
{
    size_t n, text, scope;

    if (left < 4 || (n = sb_get32(p)) > left || n < 4 || n > INT32_MAX)
        return BAD;
    text = text_size(p + 4, n - 4);
    if (text == BAD)
        return BAD;
    scope = document_size(p + 4 + text, n - 4 - text);
    return scope != BAD && 4 + text + scope == n ? n : BAD;
}

static size_t fixed_size(uint8_t type)
{
    switch (type) {
    case 0x06: // undefined
    case SB_BSON_NULL:
    case 0x7f: // max key
    case 0xff: // min key
        return 0;
    case SB_BSON_BOOL:
        return 1;
    case SB_BSON_INT32:
        return 4;
    case SB_BSON_DOUBLE:
    case SB_BSON_DATE:
    case 0x11: // timestamp
    case SB_BSON_INT64:
        return 8;
    case 0x07: // object id
        return 12;
    case 0x13: // decimal
        return 16;
    default:
        return BAD;
    }
}

size_t sb_bson_size(uint8_t type, const uint8_t *p, size_t left)
{
    size_t n;

    switch (type) {
    case SB_BSON_TEXT:
    case 0x0d: // code
    case 0x0e: // symbol
        return text_size(p, left);
    case SB_BSON_DOCUMENT:
    case SB_BSON_ARRAY:
        return document_size(p, left);
    case 0x05:
        return binary_size(p, left);
    case 0x0b:
        return regex_size(p, left);
    case 0x0c:
        return pointer_size(p, left);
    case 0x0f:
        return code_size(p, left);
    default:
        n = fixed_size(type);
        return n != BAD && n <= left ? n : BAD;
    }
}

void sb_walk_begin(struct sb_walk *w, const uint8_t *doc, size_t len)
{
    w->at = doc + 4;
    w->end = doc + len - 1;
}

int sb_walk_next(struct sb_walk *w, struct sb_elem *e)
{
    const uint8_t *key = w->at + 1, *stop;

    if (w->at == w->end)
        return 0;
    stop = memchr(key, '\0', (size_t)(w->end - key));
    if (!stop)
        return -1;
    e->type = w->at[0];
    e->key = (const char *)key;
    e->key_len = (size_t)(stop - key);
    e->value = stop + 1;
    e->len = sb_bson_size(e->type, e->value, (size_t)(w->end - e->value));
    if (e->len == BAD)
        return -1;
    w->at = e->value + e->len;
    return 1;
}

bool sb_bson_find(
    const uint8_t *doc, size_t len, const char *key, struct sb_elem *e)
{
    struct sb_walk w;

    if (!sb_bson_framed(doc, len))
        return false;
    sb_walk_begin(&w, doc, len);
    while (sb_walk_next(&w, e) == 1) {
        if (strcmp(e->key, key) == 0)
            return true;
    }
    return false;
}

double sb_elem_number(const struct sb_elem *e)
{
    uint64_t bits;
    double d;

    switch (e->type) {
    case SB_BSON_BOOL:
        return e->value[0] != 0;
    case SB_BSON_INT32:
        return (int32_t)sb_get32(e->value);
    case SB_BSON_INT64:
        return (double)(int64_t)sb_get64(e->value);
    case SB_BSON_DOUBLE:
        bits = sb_get64(e->value);
        memcpy(&d, &bits, sizeof(d));
        return d;
    default:
        return 0;
    }
}
