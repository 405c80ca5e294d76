// SPDX-License-Identifier: GPL-2.0-or-later

#include "kit/buf.h"

#define FIRST 64u // bytes

void sb_buf_init(struct sb_buf *b, size_t max)
{
    *b = (struct sb_buf){ .max = max };
}

void sb_buf_done(struct sb_buf *b)
{
    free(b->data);
    *b = (struct sb_buf){ 0 };
}

// The capacity is never greater than the maximum and the NUL together. So
// everything that fits into it is allowed, and sb_buf_room() needs only one
// comparison.
int sb_buf_grow(struct sb_buf *b, size_t more)
{
    size_t most = b->max ? b->max : SIZE_MAX / 4, cap;
    char *grown;

    assert(b->len <= b->cap);
    if (b->len > most || more > most - b->len) {
        b->failed = true;
        return SB_ELIMIT;
    }
    if (b->len + more < b->cap)
        return 0;
    cap = b->cap ? b->cap * 2 : FIRST;
    if (cap > most + 1)
        cap = most + 1;
    if (cap < b->len + more + 1)
        cap = b->len + more + 1;
    grown = realloc(b->data, cap);
    if (!grown) {
        b->failed = true;
        return SB_ENOMEM;
    }
    b->data = grown;
    b->cap = cap;
    return 0;
}

int sb_buf_add(struct sb_buf *b, const void *data, size_t len)
{
    if (len >= b->cap - b->len) {
        int rc = sb_buf_grow(b, len);

        if (rc)
            return rc;
    }
    assert(b->len + len < b->cap);
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = '\0';
    return 0;
}

int sb_buf_adds(struct sb_buf *b, const char *text)
{
    return sb_buf_add(b, text, strlen(text));
}

int sb_buf_addf(struct sb_buf *b, const char *fmt, ...)
{
    va_list ap;
    int n, rc;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
        return SB_EINTERNAL;
    }
    rc = sb_buf_grow(b, (size_t)n);
    if (rc)
        return rc;
    va_start(ap, fmt);
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
    return 0;
}
