// SPDX-License-Identifier: GPL-2.0-or-later

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>

void sb_buf_init(struct sb_buf *b, size_t max)
{
    *b = (struct sb_buf){ .max = max };
}

void sb_buf_done(struct sb_buf *b)
{
    free(b->data);
    *b = (struct sb_buf){ 0 };
}

void sb_buf_clear(struct sb_buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = '\0';
}

// Makes room for `more` bytes and the NUL.
static int reserve(struct sb_buf *b, size_t more)
{
    size_t need, cap;
    char *grown;

    if (more > SIZE_MAX / 4 - b->len || (b->max && b->len + more > b->max)) {
        b->failed = true;
        return SB_ELIMIT;
    }
    need = b->len + more + 1;
    if (need <= b->cap)
        return 0;
    cap = b->cap ? b->cap * 2 : 64;
    if (cap < need)
        cap = need;
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
    int rc = reserve(b, len);

    if (rc)
        return rc;
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
    rc = reserve(b, (size_t)n);
    if (rc)
        return rc;
    va_start(ap, fmt);
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
    return 0;
}
