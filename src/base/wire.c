// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/wire.h"

#include <assert.h>

// Seven bits in each byte, the lowest first; the highest bit of a byte says
// that another one follows.
int sb_wire_put(struct sb_buf *b, uint64_t v)
{
    unsigned char bytes[10];
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (unsigned char)(v | 0x80);
    bytes[n++] = (unsigned char)v;
    assert(n <= sizeof(bytes));
    return sb_buf_add(b, bytes, n);
}

// The sign is the lowest bit, so that small negative numbers are short, too.
int sb_wire_put_signed(struct sb_buf *b, int64_t v)
{
    return sb_wire_put(b, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

int sb_wire_put_double(struct sb_buf *b, double v)
{
    return sb_buf_add(b, &v, sizeof(v));
}

int sb_wire_put_bytes(struct sb_buf *b, const void *data, size_t len)
{
    int rc = sb_wire_put(b, len);

    return rc || len == 0 ? rc : sb_buf_add(b, data, len);
}

int sb_wire_put_text(struct sb_buf *b, const char *text)
{
    return sb_wire_put_bytes(b, text, text ? strlen(text) : 0);
}

struct sb_wire sb_wire_of(const void *data, size_t len)
{
    const unsigned char *p = data;

    return (struct sb_wire){ p, p + len, false };
}

static void mark_bad(struct sb_wire *w)
{
    w->bad = true;
    w->at = w->end;
}

uint64_t sb_wire_get(struct sb_wire *w)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 70 && w->at < w->end; shift += 7) {
        unsigned char byte = *w->at++;

        if (shift == 63 && byte > 1)
            break;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
    mark_bad(w);
    return 0;
}

int64_t sb_wire_get_signed(struct sb_wire *w)
{
    uint64_t v = sb_wire_get(w);

    return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

double sb_wire_get_double(struct sb_wire *w)
{
    double v;

    if ((size_t)(w->end - w->at) < sizeof(v)) {
        mark_bad(w);
        return 0;
    }
    memcpy(&v, w->at, sizeof(v));
    w->at += sizeof(v);
    return v;
}

const char *sb_wire_get_bytes(struct sb_wire *w, size_t *len)
{
    uint64_t n = sb_wire_get(w);
    const char *data = (const char *)w->at;

    *len = 0;
    if (n > (size_t)(w->end - w->at)) {
        mark_bad(w);
        return "";
    }
    *len = (size_t)n;
    w->at += n;
    assert(w->at <= w->end);
    return data;
}

void sb_wire_get_text(struct sb_wire *w, char *out, size_t size)
{
    size_t len;
    const char *data = sb_wire_get_bytes(w, &len);

    assert(size > 0);
    out[0] = '\0';
    if (len >= size) {
        mark_bad(w);
        return;
    }
    memcpy(out, data, len);
    out[len] = '\0';
}
