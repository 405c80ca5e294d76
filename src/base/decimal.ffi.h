// SPDX-License-Identifier: GPL-2.0-or-later
//
// Integers as text, for Lua code that writes statements into a buffer:
// tests/lua/sb/row_text.lua, which repeats the declaration, as scripts do.
#ifndef SB_DECIMAL_FFI_H
#define SB_DECIMAL_FFI_H

#include "base/export.h"

// Writes the integer part of value, from 0 to 2^53, with at least `digits`
// digits (1 to 20), without a NUL at the end. out: room for the result, at most
// 20 characters. Returns the number of characters. Thread-safe.
SB_FFI int sb_decimal(char *out, double value, int digits);

#endif
