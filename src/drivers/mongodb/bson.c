// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mongodb/bson.h"

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
    case SB_BSON_UNDEFINED:
    case SB_BSON_NULL:
    case SB_BSON_MAX_KEY:
    case SB_BSON_MIN_KEY:
        return 0;
    case SB_BSON_BOOL:
        return 1;
    case SB_BSON_INT32:
        return 4;
    case SB_BSON_DOUBLE:
    case SB_BSON_DATE:
    case SB_BSON_TIMESTAMP:
    case SB_BSON_INT64:
        return 8;
    case SB_BSON_OID:
        return 12;
    case SB_BSON_DECIMAL:
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
    case SB_BSON_CODE:
    case SB_BSON_SYMBOL:
        return text_size(p, left);
    case SB_BSON_DOCUMENT:
    case SB_BSON_ARRAY:
        return document_size(p, left);
    case SB_BSON_BINARY:
        return binary_size(p, left);
    case SB_BSON_REGEX:
        return regex_size(p, left);
    case SB_BSON_POINTER:
        return pointer_size(p, left);
    case SB_BSON_CODE_SCOPE:
        return code_size(p, left);
    default:
        n = fixed_size(type);
        return n != BAD && n <= left ? n : BAD;
    }
}

bool sb_walk_open(struct sb_walk *w, const uint8_t *doc, size_t len)
{
    bool framed = sb_bson_framed(doc, len);

    *w = (struct sb_walk){ 0 };
    if (framed)
        sb_walk_begin(w, doc, len);
    return framed;
}

int sb_walk_next(struct sb_walk *w, struct sb_elem *e)
{
    const uint8_t *key, *stop;

    if (w->at == w->end)
        return 0;
    assert(w->at < w->end);
    key = w->at + 1;
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

    sb_walk_open(&w, doc, len);
    while (sb_walk_more(&w, e)) {
        if (sb_elem_is(e, key))
            return true;
    }
    return false;
}

double sb_elem_number(const struct sb_elem *e)
{
    switch (e->type) {
    case SB_BSON_BOOL:
        return e->value[0] != 0;
    case SB_BSON_INT32:
        return (int32_t)sb_get32(e->value);
    case SB_BSON_INT64:
        return (double)(int64_t)sb_get64(e->value);
    case SB_BSON_DOUBLE:
        return sb_get_double(e->value);
    default:
        return 0;
    }
}

int64_t sb_elem_int(const struct sb_elem *e)
{
    double d;

    if (e->type == SB_BSON_INT64)
        return (int64_t)sb_get64(e->value);
    d = sb_elem_number(e);
    return d > -9.2e18 && d < 9.2e18 ? (int64_t)d : 0;
}

const char *sb_elem_text(const struct sb_elem *e, size_t *len)
{
    bool text = e->type == SB_BSON_TEXT;

    assert(!text || e->len >= 5);
    if (len)
        *len = text ? e->len - 5 : 0;
    return text ? (const char *)e->value + 4 : "";
}
