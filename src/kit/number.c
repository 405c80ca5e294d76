// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324"
    "25262728293031323334353637383940414243444546474849"
    "50515253545556575859606162636465666768697071727374"
    "75767778798081828384858687888990919293949596979899";

size_t sb_number_uint(char *out, uint64_t u)
{
    char digits[20], *p = digits + sizeof(digits);
    size_t n;

    for (; u >= 100; u /= 100) {
        p -= 2;
        memcpy(p, pairs + 2 * (u % 100), 2);
    }
    p -= 2;
    memcpy(p, pairs + 2 * u, 2);
    p += u < 10;
    n = (size_t)(digits + sizeof(digits) - p);
    memcpy(out, p, n);
    return n;
}

size_t sb_number_int(char *out, int64_t i)
{
    if (i >= 0)
        return sb_number_uint(out, (uint64_t)i);
    *out = '-';
    return 1 + sb_number_uint(out + 1, 0 - (uint64_t)i);
}

size_t sb_number_double(char *out, double d)
{
    int n = snprintf(out, SB_NUMBER_ROOM, "%.15g", d);

    if (strtod(out, NULL) != d)
        n = snprintf(out, SB_NUMBER_ROOM, "%.17g", d);
    return (size_t)n;
}

size_t sb_number_hex(char *out, const void *bytes, size_t len)
{
    static const char digit[] = "0123456789abcdef";
    const unsigned char *from = bytes;

    for (size_t i = 0; i < len; i++) {
        *out++ = digit[from[i] >> 4];
        *out++ = digit[from[i] & 15];
    }
    return 2 * len;
}
