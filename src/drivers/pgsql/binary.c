// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/pgsql/binary.h"

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

static size_t pg_copy_text(char *out, const char *s, size_t len)
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
        return pg_copy_text(out, v->s, v->len);
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

static void pg_put_char(char *out, size_t size, size_t at, char c)
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
        pg_put_char(out, size, n++, ' ');
        pg_put_char(out, size, n++, 'E');
    }
    pg_put_char(out, size, n++, '\'');
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '\'' || (escapes && s[i] == '\\'))
            pg_put_char(out, size, n++, s[i]);
        pg_put_char(out, size, n++, s[i]);
    }
    pg_put_char(out, size, n++, '\'');
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

enum pgsql_field pgsql_field_of(unsigned oid)
{
    switch (oid) {
    case OID_INT2:
        return PGSQL_FIELD_INT2;
    case OID_INT4:
        return PGSQL_FIELD_INT4;
    case OID_INT8:
        return PGSQL_FIELD_INT8;
    case OID_FLOAT8:
        return PGSQL_FIELD_FLOAT8;
    case OID_TEXT:
    case OID_BPCHAR:
    case OID_VARCHAR:
        return PGSQL_FIELD_CHARS;
    case OID_BYTEA:
        return PGSQL_FIELD_BYTES;
    case OID_TIMESTAMP:
        return PGSQL_FIELD_TIMESTAMP;
    case OID_NUMERIC:
        return PGSQL_FIELD_NUMERIC;
    default:
        return PGSQL_FIELD_TEXT_ONLY;
    }
}

void pgsql_binary_count(char *out, int columns)
{
    pgsql_put16(out, (uint32_t)columns);
}

void pgsql_binary_header(char *out)
{
    // Signature; flags and the length of an extension, both 0.
    memcpy(out, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0", PGSQL_BINARY_HEADER);
}

// Values, each after its length.

static size_t put_null(char *out)
{
    pgsql_put32(out, UINT32_MAX);
    return 4;
}

static size_t put_int2(char *out, int64_t i)
{
    pgsql_put16(pgsql_put32(out, 2), (uint32_t)i);
    return 6;
}

static size_t put_int4(char *out, int64_t i)
{
    pgsql_put32(pgsql_put32(out, 4), (uint32_t)i);
    return 8;
}

static size_t put_int8(char *out, int64_t i)
{
    out = pgsql_put32(out, 8);
    out = pgsql_put32(out, (uint32_t)((uint64_t)i >> 32));
    pgsql_put32(out, (uint32_t)i);
    return 12;
}

static size_t put_float8(char *out, double d)
{
    int64_t bits;

    memcpy(&bits, &d, sizeof(bits));
    return put_int8(out, bits);
}

static size_t pg_put_bytes(char *out, const char *s, size_t len)
{
    out = pgsql_put32(out, (uint32_t)len);
    if (len > 0)
        memcpy(out, s, len);
    return 4 + len;
}

// A numeric is a list of digits of base 10,000, of which the first has the
// weight 10,000^weight; scale: decimals that are shown, up to 4.
static size_t put_numeric(char *out, bool negative, uint64_t units, int scale)
{
    uint32_t digits[6], n = 0, first = 0;
    int weight = -2;
    char *p;

    for (uint64_t left = units; left > 0; left /= 10000) {
        digits[n++] = (uint32_t)(left % 10000);
        weight++;
    }
    while (first < n && digits[first] == 0) // zeros at the end are not sent
        first++;
    p = pgsql_put32(out, 8 + 2 * (n - first));
    p = pgsql_put16(p, n - first);
    p = pgsql_put16(p, n ? (uint32_t)weight : 0);
    p = pgsql_put16(p, negative && n ? 0x4000 : 0);
    p = pgsql_put16(p, (uint32_t)scale);
    for (uint32_t i = n; i > first; i--)
        p = pgsql_put16(p, digits[i - 1]);
    return (size_t)(p - out);
}

static size_t numeric_int(char *out, uint64_t value, bool negative)
{
    return value <= 900000000000000
               ? put_numeric(out, negative, value * 10000, 0)
               : 0;
}

// Doubles that are the nearest ones to a number with up to four decimals: the
// server would get the same number as text. Others are sent as text.
static size_t numeric_double(char *out, double d)
{
    double abs = d < 0 ? -d : d;
    uint64_t units;
    int scale = 4;

    if (!(abs < 1e10))
        return 0;
    units = (uint64_t)(abs * 10000 + 0.5);
    if ((double)units / 10000 != abs)
        return 0;
    for (uint64_t u = units; scale > 0 && u % 10 == 0; u /= 10)
        scale--;
    return put_numeric(out, d < 0, units, scale);
}

// Days from 2000-01-01 to a date of the Gregorian calendar.
static int64_t days_from_2000(int year, int month, int day)
{
    int y = month > 2 ? year : year - 1; // years begin in March
    int64_t era = y / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
           730426;
}

// Reads year, month, day, hour, minute and second from "2026-01-31 12:00:00".
static bool read_parts(const char *s, size_t len, int *part)
{
    static const char form[] = "dddd-dd-dd dd:dd:dd";

    if (len != sizeof(form) - 1)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (form[i] != 'd' && s[i] != form[i])
            return false;
        if (form[i] != 'd')
            part++;
        else if (s[i] < '0' || s[i] > '9')
            return false;
        else
            *part = *part * 10 + s[i] - '0';
    }
    return true;
}

// The server converts texts in other forms, and reports those that are no date.
static size_t timestamp_text(char *out, const char *s, size_t len)
{
    static const int min[] = { 1, 1, 1, 0, 0, 0 };
    // Later days of a month may not exist.
    static const int max[] = { 9999, 12, 28, 23, 59, 59 };
    int part[6] = { 0 };
    int64_t seconds;

    if (!read_parts(s, len, part))
        return 0;
    for (int i = 0; i < 6; i++) {
        if (part[i] < min[i] || part[i] > max[i])
            return 0;
    }
    seconds = days_from_2000(part[0], part[1], part[2]) * 86400 +
              part[3] * 3600 + part[4] * 60 + part[5];
    return put_int8(out, seconds * 1000000);
}

size_t pgsql_binary_size(const struct sb_value *v)
{
    return 4 + (v->type < SB_VALUE_TEXT ? SB_NUMBER_ROOM : (size_t)v->len);
}

static size_t int_value(char *out, enum pgsql_field field, int64_t i)
{
    char digits[SB_NUMBER_ROOM];

    switch (field) {
    case PGSQL_FIELD_INT2:
        return i == (int16_t)i ? put_int2(out, i) : 0;
    case PGSQL_FIELD_INT4:
        return i == (int32_t)i ? put_int4(out, i) : 0;
    case PGSQL_FIELD_INT8:
        return put_int8(out, i);
    case PGSQL_FIELD_FLOAT8:
        return put_float8(out, (double)i);
    case PGSQL_FIELD_CHARS:
        return pg_put_bytes(out, digits, sb_number_int(digits, i));
    case PGSQL_FIELD_NUMERIC:
        return numeric_int(out, i < 0 ? -(uint64_t)i : (uint64_t)i, i < 0);
    case PGSQL_FIELD_TIMESTAMP:
    case PGSQL_FIELD_BYTES:
    case PGSQL_FIELD_TEXT_ONLY:
    default:
        return 0;
    }
}

// Values greater than the maximum of the integer formats.
static size_t uint_value(char *out, enum pgsql_field field, uint64_t u)
{
    char digits[SB_NUMBER_ROOM];

    if (field == PGSQL_FIELD_FLOAT8)
        return put_float8(out, (double)u);
    if (field == PGSQL_FIELD_CHARS)
        return pg_put_bytes(out, digits, sb_number_uint(digits, u));
    return 0;
}

static size_t double_value(char *out, enum pgsql_field field, double d)
{
    char digits[SB_NUMBER_ROOM];

    if (field == PGSQL_FIELD_FLOAT8)
        return put_float8(out, d);
    if (field == PGSQL_FIELD_CHARS)
        return pg_put_bytes(out, digits, pgsql_put_double(digits, d));
    if (field == PGSQL_FIELD_NUMERIC)
        return numeric_double(out, d);
    return 0;
}

size_t pgsql_binary_value(
    char *out, enum pgsql_field field, const struct sb_value *v)
{
    bool chars = field == PGSQL_FIELD_CHARS;

    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        return int_value(out, field, v->i);
    case SB_VALUE_UINT:
        return uint_value(out, field, v->u);
    case SB_VALUE_DOUBLE:
        return double_value(out, field, v->d);
    case SB_VALUE_TEXT:
    case SB_VALUE_TIME:
        if (field == PGSQL_FIELD_TIMESTAMP)
            return timestamp_text(out, v->s, v->len);
        return chars && v->len <= INT32_MAX ? pg_put_bytes(out, v->s, v->len)
                                            : 0;
    case SB_VALUE_BLOB:
        return field == PGSQL_FIELD_BYTES && v->len <= INT32_MAX
                   ? pg_put_bytes(out, v->s, v->len)
                   : 0;
    case SB_VALUE_NULL:
    default:
        return put_null(out);
    }
}
