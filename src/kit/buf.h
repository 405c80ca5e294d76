// SPDX-License-Identifier: GPL-2.0-or-later
//
// A growing byte buffer, with a maximum if it needs one. A failed growth keeps
// the content and sets `failed`, so that one check after a series of appends is
// enough. {0} is an empty buffer without a maximum.
//
// Two ways to fill it: the functions that append and keep the NUL; and
// sb_buf_room(), for code that writes into the buffer itself, counts what it
// wrote in `len`, and writes a NUL only if it needs one.
#ifndef SB_BUF_H
#define SB_BUF_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/err.h"

struct sb_buf {
    char *data;      // NULL before the first growth
    size_t len, cap; // len < cap if there is memory: the NUL has room
    size_t max;      // of len; 0: no limit
    bool failed;     // an append did not fit or memory ran out
};

// max: maximum number of bytes, 0 for no limit.
void sb_buf_init(struct sb_buf *b, size_t max);
void sb_buf_done(struct sb_buf *b); // frees; {0} allowed

// Append. 0, SB_ELIMIT, SB_ENOMEM or SB_EINTERNAL (fmt). The arguments must not
// point into the buffer.
int sb_buf_add(struct sb_buf *b, const void *data, size_t len);
int sb_buf_adds(struct sb_buf *b, const char *text);
int sb_buf_addf(struct sb_buf *b, const char *fmt, ...) SB_PRINTF(2, 3);

// Makes room for `more` bytes and a NUL behind the content. 0, SB_ELIMIT or
// SB_ENOMEM. For sb_buf_room().
int sb_buf_grow(struct sb_buf *b, size_t more);

// Empties the buffer and keeps the memory.
static inline void sb_buf_clear(struct sb_buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = '\0';
}

// The same, but frees memory of more than `keep` bytes.
static inline void sb_buf_trim(struct sb_buf *b, size_t keep)
{
    if (b->cap > keep) {
        free(b->data);
        b->data = NULL;
        b->cap = 0;
    }
    sb_buf_clear(b);
}

// Returns the position behind the content, with room for `more` bytes and a
// NUL, valid until the buffer grows again; len does not change. NULL: the
// growth failed.
static inline char *sb_buf_room(struct sb_buf *b, size_t more)
{
    assert(b->len <= b->cap);
    if (more >= b->cap - b->len && sb_buf_grow(b, more))
        return NULL;
    return b->data + b->len;
}

#endif
