// SPDX-License-Identifier: GPL-2.0-or-later
//
// Values as PostgreSQL reads them: parameters and rows of COPY as text, numbers
// of the protocol. Pure but for the memory of the buffer.
#ifndef PGSQL_ENCODE_H
#define PGSQL_ENCODE_H

#include "db/driver.h"

// Longest text of a number, with its NUL.
#define PGSQL_NUMBER 32u

// A growing buffer; {0} is an empty one.
struct pgsql_text {
    char *s;
    size_t len, cap; // bytes
};

// Frees; {0} allowed.
void pgsql_text_done(struct pgsql_text *t);
// Room for `more` bytes behind len, which stays: NULL when memory is out.
char *pgsql_text_room(struct pgsql_text *t, size_t more);

// 16 or 32 bits as the protocol has them, the highest byte first. Returns the
// place behind them.
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

// Writes an integer, without a NUL; at most PGSQL_NUMBER bytes. Returns its
// length.
size_t pgsql_put_int(char *out, int64_t i);
size_t pgsql_put_uint(char *out, uint64_t u);
// A double that reads back as the same, NUL-terminated; at most PGSQL_NUMBER
// bytes. Returns its length.
size_t pgsql_put_double(char *out, double d);

// Most bytes that pgsql_copy_value() writes for v.
size_t pgsql_copy_size(const struct sb_value *v);
// A value as COPY's text format has it, escaped. Returns the length.
size_t pgsql_copy_value(char *out, const struct sb_value *v);

// As sb_sql_ops.quote: a literal, in snprintf's manner. backslash: the server
// takes backslashes in plain literals for escapes.
size_t pgsql_put_literal(
    const char *s, size_t len, bool backslash, char *out, size_t size);

// Writes sql with "$1", "$2" ... in the places of the '?', and '?' for '??'; at
// most 6 * len + 1 bytes with the NUL. Returns their number.
uint32_t pgsql_number_marks(const char *sql, size_t len, char *out);
// True when the text holds more than one statement. scratch: len bytes.
bool pgsql_several(const char *sql, size_t len, char *scratch);

#endif
