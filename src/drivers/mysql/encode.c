// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mysql/encode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBER_ROOM 40u // more than "-1.7976931348623157e+308"

size_t sbmy_encode_room(const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_TEXT:
    case SB_VALUE_BLOB:
    case SB_VALUE_TIME:
        return 2 * (size_t)v->len + 1;
    default:
        return NUMBER_ROOM;
    }
}

static char *put_uint(char *out, uint64_t n)
{
    char digits[24], *p = digits + sizeof(digits);

    do {
        *--p = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    while (p < digits + sizeof(digits))
        *out++ = *p++;
    return out;
}

static char *put_int(char *out, int64_t i)
{
    if (i >= 0)
        return put_uint(out, (uint64_t)i);
    *out++ = '-';
    return put_uint(out, 0 - (uint64_t)i);
}

// Writes the shorter form if it reads back as the same number.
static char *put_double(char *out, double d)
{
    int n = snprintf(out, NUMBER_ROOM, "%.15g", d);

    if (strtod(out, NULL) != d)
        n = snprintf(out, NUMBER_ROOM, "%.17g", d);
    return out + n;
}

// Returns the character that represents c after a backslash; 0: c is not
// escaped.
static char escaped(char c)
{
    switch (c) {
    case '\0':
        return '0';
    case '\n':
        return 'n';
    case '\t':
        return 't';
    case '\\':
        return '\\';
    default:
        return 0;
    }
}

static char *put_bytes(char *out, const char *s, uint32_t len)
{
    for (const char *end = s + len; s < end; s++) {
        char e = (unsigned char)*s > '\n' && *s != '\\' ? 0 : escaped(*s);

        if (e)
            *out++ = '\\';
        *out++ = e ? e : *s;
    }
    return out;
}

char *sbmy_encode(char *out, const struct sb_value *v, char after)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        out = put_int(out, v->i);
        break;
    case SB_VALUE_UINT:
        out = put_uint(out, v->u);
        break;
    case SB_VALUE_DOUBLE:
        out = put_double(out, v->d);
        break;
    case SB_VALUE_TEXT:
    case SB_VALUE_BLOB:
    case SB_VALUE_TIME:
        out = put_bytes(out, v->s, v->len);
        break;
    case SB_VALUE_NULL:
    default:
        *out++ = '\\';
        *out++ = 'N';
    }
    *out++ = after;
    return out;
}
