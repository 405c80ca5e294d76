// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/decimal.ffi.h"

#include <stdint.h>
#include <string.h>

#define DIGITS_MAX 20

int sb_decimal(char *out, double value, int digits)
{
    uint64_t v = (uint64_t)value;
    char text[DIGITS_MAX];
    int from = DIGITS_MAX, n;

    do {
        text[--from] = (char)('0' + v % 10);
        v /= 10;
    } while (from > 0 && (v > 0 || DIGITS_MAX - from < digits));
    n = DIGITS_MAX - from;
    memcpy(out, text + from, (size_t)n);
    return n;
}
