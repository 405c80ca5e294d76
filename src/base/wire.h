// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bytes that processes send each other: numbers with a variable length, texts.
// A reader checks every length: after data that is not complete it only returns
// zeros and empty texts, so that one check at the end is enough. Pure.
#ifndef SB_WIRE_H
#define SB_WIRE_H

#include "kit/buf.h"

// Append a value. Numbers take 1 byte below 128 and 10 bytes at most. A NULL
// text is an empty one.
int sb_wire_put(struct sb_buf *b, uint64_t v);
int sb_wire_put_signed(struct sb_buf *b, int64_t v);
int sb_wire_put_double(struct sb_buf *b, double v);
int sb_wire_put_text(struct sb_buf *b, const char *text);
// Any bytes, with their number before them.
int sb_wire_put_bytes(struct sb_buf *b, const void *data, size_t len);

struct sb_wire {
    const unsigned char *at, *end;
    bool bad; // the data ended too early, or has an invalid value
};

struct sb_wire sb_wire_of(const void *data, size_t len);
uint64_t sb_wire_get(struct sb_wire *w);
int64_t sb_wire_get_signed(struct sb_wire *w);
double sb_wire_get_double(struct sb_wire *w);
// A text that does not fit is invalid.
void sb_wire_get_text(struct sb_wire *w, char *out, size_t size);
// Returns a pointer into the data and its length; "" if invalid.
const char *sb_wire_get_bytes(struct sb_wire *w, size_t *len);

#endif
