// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mongodb/walk.h"

#include <string.h>

#define MIN_DOC 5u // length and final 0

uint32_t sbmo_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

int64_t sbmo_i64(const uint8_t *p)
{
    return (int64_t)((uint64_t)sbmo_u32(p) | (uint64_t)sbmo_u32(p + 4) << 32);
}

double sbmo_f64(const uint8_t *p)
{
    int64_t bits = sbmo_i64(p);
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

bool sbmo_walk_init(struct sbmo_walk *w, const uint8_t *doc, size_t len)
{
    static const uint8_t none[] = { 0 };

    if (len < MIN_DOC || sbmo_u32(doc) != len || doc[len - 1] != 0) {
        *w = (struct sbmo_walk){ none, none };
        return false;
    }
    *w = (struct sbmo_walk){ doc + 4, doc + len - 1 };
    return true;
}

// Reads the length at p, which excludes `head` bytes. 0: invalid.
static size_t counted(const uint8_t *p, size_t room, size_t head, size_t least)
{
    size_t n = room < 4 ? 0 : sbmo_u32(p);

    return n < least || n > room || n + head > room ? 0 : n + head;
}

// Size of two strings, each with its NUL.
static size_t regex_size(const uint8_t *p, size_t room)
{
    const uint8_t *one = memchr(p, 0, room), *two;

    if (!one)
        return 0;
    one++;
    two = memchr(one, 0, room - (size_t)(one - p));
    return two ? (size_t)(two - p) + 1 : 0;
}

// Size of the value at p; larger than the room if it is invalid.
static size_t value_size(uint8_t type, const uint8_t *p, size_t room)
{
    size_t n;

    switch (type) {
    case SBMO_DOUBLE:
    case SBMO_DATE:
    case SBMO_TIMESTAMP:
    case SBMO_INT64:
        return 8;
    case SBMO_INT32:
        return 4;
    case SBMO_BOOL:
        return 1;
    case SBMO_OID:
        return 12;
    case SBMO_DECIMAL:
        return 16;
    case SBMO_NULL:
    case SBMO_UNDEFINED:
    case SBMO_MAX_KEY:
    case SBMO_MIN_KEY:
        return 0;
    case SBMO_UTF8:
    case SBMO_CODE:
    case SBMO_SYMBOL:
        n = counted(p, room, 4, 1);
        break;
    case SBMO_DOCUMENT:
    case SBMO_ARRAY:
        n = counted(p, room, 0, MIN_DOC);
        break;
    case SBMO_CODE_SCOPE:
        n = counted(p, room, 0, 4 + 4 + 1 + MIN_DOC);
        break;
    case SBMO_BINARY:
        n = room < MIN_DOC ? 0 : (size_t)sbmo_u32(p) + 5;
        break;
    case SBMO_DBPOINTER:
        n = counted(p, room, 4 + 12, 1);
        break;
    case SBMO_REGEX:
        n = regex_size(p, room);
        break;
    default:
        n = 0;
    }
    return n ? n : SIZE_MAX;
}

bool sbmo_walk_next(struct sbmo_walk *w, struct sbmo_elem *e)
{
    size_t room = (size_t)(w->end - w->p), n;
    const uint8_t *nul;

    if (room < 2)
        return false;
    e->type = w->p[0];
    e->key = (const char *)w->p + 1;
    nul = memchr(e->key, 0, room - 1);
    if (!nul)
        return false;
    e->key_len = (uint32_t)(nul - w->p) - 1;
    e->value = nul + 1;
    room = (size_t)(w->end - e->value);
    n = value_size(e->type, e->value, room);
    if (n > room)
        return false;
    e->len = (uint32_t)n;
    w->p = e->value + n;
    return true;
}

void sbmo_walk_into(struct sbmo_walk *w, const struct sbmo_elem *e)
{
    bool nested = e->type == SBMO_DOCUMENT || e->type == SBMO_ARRAY;

    sbmo_walk_init(w, e->value, nested ? e->len : 0);
}

bool sbmo_is(const struct sbmo_elem *e, const char *key)
{
    return strcmp(e->key, key) == 0;
}

bool sbmo_walk_find(
    const uint8_t *doc, size_t len, const char *key, struct sbmo_elem *e)
{
    struct sbmo_walk w;

    sbmo_walk_init(&w, doc, len);
    while (sbmo_walk_next(&w, e)) {
        if (sbmo_is(e, key))
            return true;
    }
    return false;
}

int64_t sbmo_number(const struct sbmo_elem *e)
{
    double d;

    switch (e->type) {
    case SBMO_INT32:
        return (int32_t)sbmo_u32(e->value);
    case SBMO_INT64:
        return sbmo_i64(e->value);
    case SBMO_BOOL:
        return e->value[0] != 0;
    case SBMO_DOUBLE:
        d = sbmo_f64(e->value);
        return d > -9.2e18 && d < 9.2e18 ? (int64_t)d : 0;
    default:
        return 0;
    }
}

const char *sbmo_text(const struct sbmo_elem *e, uint32_t *len)
{
    bool text = e->type == SBMO_UTF8 && e->len >= 5 &&
                e->value[e->len - 1] == 0;

    if (len)
        *len = text ? e->len - 5 : 0;
    return text ? (const char *)e->value + 4 : "";
}
