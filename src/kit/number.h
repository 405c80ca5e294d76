// SPDX-License-Identifier: GPL-2.0-or-later
//
// Numbers and bytes as text, in the locale "C", which the program and its
// modules never change. Pure; any thread.
#ifndef SB_NUMBER_H
#define SB_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define SB_NUMBER_ROOM 32u // bytes of the longest number, with a NUL

// Writes an integer in decimal digits, without a NUL; less than SB_NUMBER_ROOM
// bytes. Returns its length.
size_t sb_number_uint(char *out, uint64_t u);
size_t sb_number_int(char *out, int64_t i);

// Writes a double, NUL-terminated, at most SB_NUMBER_ROOM bytes: in 15 digits,
// or in 17 if 15 do not read back as the same number. As printf(): "-0", "inf",
// "-inf", "nan", "-nan". Returns its length.
size_t sb_number_double(char *out, double d);

// Writes two hexadecimal digits for each byte, in lower case, without a NUL.
// Returns their number, 2 * len.
size_t sb_number_hex(char *out, const void *bytes, size_t len);

#endif
