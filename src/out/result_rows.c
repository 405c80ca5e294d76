// SPDX-License-Identifier: GPL-2.0-or-later
//
// Rows of numbers in the text of a result file. A day of intervals has ten
// million numbers: Jansson needs two seconds and 400 MB for them, this file a
// tenth. It reads only what out/json.c writes: one row per line, behind a line
// that ends with "rows":[ .
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/array.h"
#include "out/result_private.h"

void sb__rows_done(struct sb_rows *r)
{
    free(r->value);
    free(r->first);
    memset(r, 0, sizeof(*r));
}

int sb__rows_begin(struct sb_rows *r)
{
    size_t *first = sb_array_room(
        r->first, &r->row_cap, r->nrows, 2, sizeof(*first));

    if (!first)
        return SB_ENOMEM;
    r->first = first;
    r->first[r->nrows++] = r->nvalues;
    r->first[r->nrows] = r->nvalues;
    return 0;
}

int sb__rows_value(struct sb_rows *r, double value)
{
    double *v = sb_array_room(
        r->value, &r->value_cap, r->nvalues, 1, sizeof(*v));

    assert(r->nrows > 0); // sb__rows_begin()
    if (!v)
        return SB_ENOMEM;
    r->value = v;
    r->value[r->nvalues++] = value;
    r->first[r->nrows] = r->nvalues;
    return 0;
}

// Powers of ten that a double holds exactly.
static const double powers[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
    1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
    1e22 };

#define POWERS     (int)(sizeof(powers) / sizeof(powers[0]))
#define DIGITS_MAX 15 // a double holds every integer of this length exactly

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Adds the digits at *p to *mantissa. Returns their number.
static int read_digits(const char **p, uint64_t *mantissa)
{
    const char *start = *p;

    while (is_digit(**p)) {
        if (*p - start < 2 * DIGITS_MAX)
            *mantissa = *mantissa * 10 + (uint64_t)(**p - '0');
        ++*p;
    }
    return (int)(*p - start);
}

// Reads the number at *p and moves *p behind it. With few digits and a small
// exponent, one multiplication or division of exact values gives the nearest
// double; all other numbers are left to strtod(). False: no number.
static bool read_number(const char **p, double *value)
{
    const char *start = *p;
    uint64_t mantissa = 0;
    int exponent = 0, digits;
    bool negative = **p == '-';

    if (strncmp(start, "null", 4) == 0) {
        *p += 4;
        *value = NAN;
        return true;
    }
    *p += negative;
    digits = read_digits(p, &mantissa);
    if (digits == 0)
        return false;
    if (**p == '.') {
        ++*p;
        int decimals = read_digits(p, &mantissa);
        if (decimals == 0)
            return false;
        digits += decimals;
        exponent = -decimals;
    }
    if ((**p | 32) == 'e' || digits > DIGITS_MAX || -exponent >= POWERS) {
        char *end;

        *value = strtod(start, &end);
        *p = end;
        return isfinite(*value);
    }
    *value = (double)mantissa / powers[-exponent];
    if (negative)
        *value = -*value;
    return true;
}

// Reads the row at *p, "[1,2]", and moves *p behind it. The text ends with NUL.
// SB_EUSAGE: not such a row.
static int read_row(struct sb_rows *r, const char **p)
{
    double value;
    int rc = sb__rows_begin(r);

    if (*(*p)++ != '[')
        return SB_EUSAGE;
    if (**p == ']') {
        ++*p;
        return rc;
    }
    for (;;) {
        if (!read_number(p, &value))
            return SB_EUSAGE;
        if (rc == 0)
            rc = sb__rows_value(r, value);
        if (rc)
            return rc;
        if (**p == ']')
            break;
        if (*(*p)++ != ',')
            return SB_EUSAGE;
    }
    ++*p;
    return 0;
}

int sb__rows_read(struct sb_rows *r, const char **p)
{
    int rc;

    while (**p == '[') {
        rc = read_row(r, p);
        if (rc)
            return rc;
        bool more = **p == ',';
        *p += more;
        if (*(*p)++ != '\n')
            return SB_EUSAGE;
        if (!more)
            break;
    }
    return **p == ']' ? 0 : SB_EUSAGE;
}
