// SPDX-License-Identifier: GPL-2.0-or-later
//
// Values in PostgreSQL's formats: parameters and rows of COPY as text, numbers
// of the protocol. Pure.
#ifndef PGSQL_ENCODE_H
#define PGSQL_ENCODE_H

#include "db/driver.h"
#include "kit/number.h"
#include "kit/sqlscan.h"

// How statements are read.
#define PGSQL_SCAN (SB_SQLSCAN_DOLLAR | SB_SQLSCAN_NEST)

// Writes 16 or 32 bits in network byte order. Returns the position after them.
static inline char *pgsql_put16(char *out, uint32_t v)
{
    *out++ = (char)(v >> 8);
    *out++ = (char)v;
    return out;
}

static inline char *pgsql_put32(char *out, uint32_t v)
{
    return pgsql_put16(pgsql_put16(out, v >> 16), v);
}

// As sb_number_double(), with the names that PostgreSQL has for NaN and
// infinite values.
size_t pgsql_put_double(char *out, double d);

// Returns the maximum number of bytes that pgsql_copy_value() writes for v.
size_t pgsql_copy_size(const struct sb_value *v);
// Writes a value in COPY's text format, escaped. Returns the length.
size_t pgsql_copy_value(char *out, const struct sb_value *v);

// The operation sb_sql_ops.quote: writes a literal, with the size and return
// value of snprintf(). backslash: the server treats backslashes in plain
// literals as escapes.
size_t pgsql_put_literal(
    const char *s, size_t len, bool backslash, char *out, size_t size);

// Writes sql with each '?' replaced by "$1", "$2" ..., and '??' by '?'; at most
// 6 * len + 1 bytes including the NUL. Returns the number of parameters.
// scan: as sb_sql_ops.scan.
uint32_t pgsql_number_marks(
    const char *sql, size_t len, uint32_t scan, char *out);
// True if the text contains more than one statement. scratch: len bytes.
bool pgsql_several(const char *sql, size_t len, uint32_t scan, char *scratch);

#endif
