// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/pgsql/encode.h"

#include <math.h>
#include <stdio.h>

#include "kit/sqlscan.h"

// Numbers ------------------------------------------------------------------

size_t pgsql_put_double(char *out, double d)
{
    if (isnan(d))
        return (size_t)snprintf(out, SB_NUMBER_ROOM, "NaN");
    if (isinf(d))
        return (size_t)snprintf(
            out, SB_NUMBER_ROOM, d < 0 ? "-Infinity" : "Infinity");
    return sb_number_double(out, d);
}

// COPY ---------------------------------------------------------------------

size_t pgsql_copy_size(const struct sb_value *v)
{
    if (v->type < SB_VALUE_TEXT)
        return SB_NUMBER_ROOM;
    return 3 + 2 * (size_t)v->len;
}

// The character after the backslash; 0: the byte is not escaped.
static const char escape[256] = {
    ['\b'] = 'b',
    ['\f'] = 'f',
    ['\n'] = 'n',
    ['\r'] = 'r',
    ['\t'] = 't',
    ['\v'] = 'v',
    ['\\'] = '\\',
};

static size_t copy_text(char *out, const char *s, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        char e = escape[(unsigned char)s[i]];

        if (e) {
            out[n++] = '\\';
            out[n++] = e;
        } else {
            out[n++] = s[i];
        }
    }
    return n;
}

// The hex format of bytea. Its backslash must be escaped.
static size_t copy_blob(char *out, const char *s, size_t len)
{
    memcpy(out, "\\\\x", 3);
    return 3 + sb_number_hex(out + 3, s, len);
}

size_t pgsql_copy_value(char *out, const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        return sb_number_int(out, v->i);
    case SB_VALUE_UINT:
        return sb_number_uint(out, v->u);
    case SB_VALUE_DOUBLE:
        return pgsql_put_double(out, v->d);
    case SB_VALUE_TEXT:
    case SB_VALUE_TIME:
        return copy_text(out, v->s, v->len);
    case SB_VALUE_BLOB:
        return copy_blob(out, v->s, v->len);
    case SB_VALUE_NULL:
    default:
        out[0] = '\\';
        out[1] = 'N';
        return 2;
    }
}

// SQL ----------------------------------------------------------------------

static void put_char(char *out, size_t size, size_t at, char c)
{
    if (at < size)
        out[at] = c;
}

size_t pgsql_put_literal(
    const char *s, size_t len, bool backslash, char *out, size_t size)
{
    bool escapes = backslash && len > 0 && memchr(s, '\\', len);
    size_t n = 0;

    // The blank separates the E from a word before it.
    if (escapes) {
        put_char(out, size, n++, ' ');
        put_char(out, size, n++, 'E');
    }
    put_char(out, size, n++, '\'');
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '\'' || (escapes && s[i] == '\\'))
            put_char(out, size, n++, s[i]);
        put_char(out, size, n++, s[i]);
    }
    put_char(out, size, n++, '\'');
    if (size > 0)
        out[n < size ? n : size - 1] = '\0';
    return n;
}

uint32_t pgsql_number_marks(
    const char *sql, size_t len, uint32_t scan, char *out)
{
    uint32_t count = 0;
    size_t from = 0, n = 0, at;

    while ((at = sb_sqlscan_mark(sql, len, from, scan)) < len) {
        memcpy(out + n, sql + from, at - from);
        n += at - from;
        from = at + 1;
        if (sb_sqlscan_escaped(sql, len, at)) {
            out[n++] = '?';
            from++;
        } else {
            out[n++] = '$';
            n += sb_number_int(out + n, ++count);
        }
    }
    memcpy(out + n, sql + from, len - from);
    out[n + len - from] = '\0';
    return count;
}

// Replaces each semicolon by a mark, so that the scanner for marks finds those
// outside of strings and comments.
bool pgsql_several(const char *sql, size_t len, uint32_t scan, char *scratch)
{
    size_t at;

    for (size_t i = 0; i < len; i++)
        scratch[i] = sql[i] == ';' ? '?' : sql[i] == '?' ? ' ' : sql[i];
    at = sb_sqlscan_mark(scratch, len, 0, scan);
    while (at < len && strchr("? \n\r\t", scratch[at]))
        at++;
    return at < len;
}
