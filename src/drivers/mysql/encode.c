// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mysql/encode.h"

#include "kit/number.h"

size_t sbmy_encode_room(const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_TEXT:
    case SB_VALUE_BLOB:
    case SB_VALUE_TIME:
        return 2 * (size_t)v->len + 1;
    default:
        return SB_NUMBER_ROOM;
    }
}

// Returns the character that represents c after SBMY_ESCAPE; 0: c is not
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
    case SBMY_ESCAPE:
        return c;
    default:
        return 0;
    }
}

static char *put_bytes(char *out, const char *s, uint32_t len)
{
    for (const char *end = s + len; s < end; s++) {
        char e = (unsigned char)*s > SBMY_ESCAPE ? 0 : escaped(*s);

        if (e)
            *out++ = SBMY_ESCAPE;
        *out++ = e ? e : *s;
    }
    return out;
}

char *sbmy_encode(char *out, const struct sb_value *v, char after)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        out += sb_number_int(out, v->i);
        break;
    case SB_VALUE_UINT:
        out += sb_number_uint(out, v->u);
        break;
    case SB_VALUE_DOUBLE:
        out += sb_number_double(out, v->d);
        break;
    case SB_VALUE_TEXT:
    case SB_VALUE_BLOB:
    case SB_VALUE_TIME:
        out = put_bytes(out, v->s, v->len);
        break;
    case SB_VALUE_NULL:
    default:
        *out++ = SBMY_ESCAPE;
        *out++ = 'N';
    }
    *out++ = after;
    return out;
}
