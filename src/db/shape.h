// SPDX-License-Identifier: GPL-2.0-or-later
//
// The shape of an SQL text: what is left of it without its values, so that the
// text that a client sent and the one that a server shows for it can be
// compared. Pure.
#ifndef SB_SHAPE_H
#define SB_SHAPE_H

#include <stddef.h>

// Returns the shape, NUL-terminated, for free(); NULL: out of memory. Two texts
// of one statement have the same shape, whatever their white space, comments,
// quotes around names, case of letters, values and placeholders (?, $1), the
// length of lists of values, and digits at the end of words: statements about
// sbtest1 and sbtest2 have one shape. flags: enum sb_sqlscan_flags.
char *sb_shape(const char *sql, size_t len, unsigned flags);

#endif
