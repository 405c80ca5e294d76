// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/pgsql/binary.h"

#include "drivers/pgsql/encode.h"

// Types that have the same OID on every server (pg_type.dat).
enum {
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_FLOAT8 = 701,
    OID_BPCHAR = 1042,
    OID_VARCHAR = 1043,
};

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

static size_t put_bytes(char *out, const char *s, size_t len)
{
    out = pgsql_put32(out, (uint32_t)len);
    if (len > 0)
        memcpy(out, s, len);
    return 4 + len;
}

size_t pgsql_binary_size(const struct sb_value *v)
{
    return 4 + (v->type < SB_VALUE_TEXT ? PGSQL_NUMBER : (size_t)v->len);
}

static size_t int_value(char *out, enum pgsql_field field, int64_t i)
{
    char digits[PGSQL_NUMBER];

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
        return put_bytes(out, digits, pgsql_put_int(digits, i));
    case PGSQL_FIELD_BYTES:
    case PGSQL_FIELD_TEXT_ONLY:
    default:
        return 0;
    }
}

// Values greater than the maximum of the integer formats.
static size_t uint_value(char *out, enum pgsql_field field, uint64_t u)
{
    char digits[PGSQL_NUMBER];

    if (field == PGSQL_FIELD_FLOAT8)
        return put_float8(out, (double)u);
    if (field == PGSQL_FIELD_CHARS)
        return put_bytes(out, digits, pgsql_put_uint(digits, u));
    return 0;
}

static size_t double_value(char *out, enum pgsql_field field, double d)
{
    char digits[PGSQL_NUMBER];

    if (field == PGSQL_FIELD_FLOAT8)
        return put_float8(out, d);
    if (field == PGSQL_FIELD_CHARS)
        return put_bytes(out, digits, pgsql_put_double(digits, d));
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
        return chars && v->len <= INT32_MAX ? put_bytes(out, v->s, v->len) : 0;
    case SB_VALUE_BLOB:
        return field == PGSQL_FIELD_BYTES && v->len <= INT32_MAX
                   ? put_bytes(out, v->s, v->len)
                   : 0;
    case SB_VALUE_NULL:
    default:
        return put_null(out);
    }
}
