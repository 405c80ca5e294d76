// SPDX-License-Identifier: GPL-2.0-or-later
//
// A growing byte buffer with a fixed maximum. If an append fails, the content
// is kept and `failed` is set, so that one check after a series of appends is
// enough.
#ifndef SB_BUF_H
#define SB_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct sb_buf {
    char *data; // NUL-terminated; NULL before the first append
    size_t len, cap, max;
    bool failed; // an append did not fit or memory ran out
};

// max: maximum number of bytes, 0 for no limit.
void sb_buf_init(struct sb_buf *b, size_t max);
void sb_buf_done(struct sb_buf *b);  // frees; {0} allowed
void sb_buf_clear(struct sb_buf *b); // keeps the memory
int sb_buf_add(struct sb_buf *b, const void *data, size_t len);
int sb_buf_adds(struct sb_buf *b, const char *text);
int sb_buf_addf(struct sb_buf *b, const char *fmt, ...) SB_PRINTF(2, 3);

#endif
