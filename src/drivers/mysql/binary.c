// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mysql/binary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

#define FLAG_UNSIGNED 0x20u
#define FLAG_ZEROFILL 0x40u
#define WIDTH_MOST    255u // maximum width of a number column
#define INT_ROOM      24u
#define REAL_ROOM     400u // more than 309 digits, a point and 30 decimals
#define TIME_ROOM     48u
#define ANY_DECIMALS  31u // this or more: no fixed number of decimals
#define FLOAT_DIGITS  6
#define DOUBLE_DIGITS 17
#define SAFE_DIGITS   15 // digits that every double preserves
#define POINT_MOST    15 // maximum digits before the point, or zeros after it
#define BEHIND_ROW    2u // bits at the start of the bitmap without a column

enum sbmy_form sbmy_binary_form(const struct sbmy_shape *s)
{
    switch ((enum sbmy_type)s->type) {
    case SBMY_TYPE_TINY:
    case SBMY_TYPE_SHORT:
    case SBMY_TYPE_YEAR:
    case SBMY_TYPE_LONG:
    case SBMY_TYPE_INT24:
    case SBMY_TYPE_LONGLONG:
        return SBMY_FORM_INT;
    case SBMY_TYPE_FLOAT:
    case SBMY_TYPE_DOUBLE:
        return SBMY_FORM_REAL;
    case SBMY_TYPE_DATE:
    case SBMY_TYPE_TIME:
    case SBMY_TYPE_DATETIME:
    case SBMY_TYPE_TIMESTAMP:
        return SBMY_FORM_TIME;
    default:
        return SBMY_FORM_TEXT;
    }
}

// The width of a ZEROFILL column is that of its definition.
static size_t width_of(const struct sbmy_shape *s)
{
    return s->flags & FLAG_ZEROFILL && s->length <= WIDTH_MOST ? s->length : 0;
}

size_t sbmy_binary_room(const struct sbmy_shape *s)
{
    switch (sbmy_binary_form(s)) {
    case SBMY_FORM_INT:
        return INT_ROOM + width_of(s);
    case SBMY_FORM_REAL:
        return REAL_ROOM + width_of(s);
    case SBMY_FORM_TIME:
        return TIME_ROOM;
    default:
        return 0;
    }
}

static size_t fill_zeros(const struct sbmy_shape *s, char *out, size_t n)
{
    size_t width = width_of(s);

    if (n >= width)
        return n;
    memmove(out + width - n, out, n);
    memset(out, '0', width - n);
    return width;
}

// Integers -------------------------------------------------------------------

static size_t bytes_of(uint8_t type)
{
    switch (type) {
    case SBMY_TYPE_TINY:
        return 1;
    case SBMY_TYPE_SHORT:
    case SBMY_TYPE_YEAR:
        return 2;
    case SBMY_TYPE_LONGLONG:
    case SBMY_TYPE_DOUBLE:
        return 8;
    default:
        return 4;
    }
}

static uint64_t get_bytes(const uint8_t *p, size_t n)
{
    uint64_t v = 0;

    while (n > 0)
        v = v << 8 | p[--n];
    return v;
}

// Returns the value, sign-extended if it has a sign.
static int64_t get_int(const struct sbmy_shape *s, const uint8_t *p)
{
    size_t n = bytes_of(s->type);
    unsigned unused = 64 - 8 * (unsigned)n;
    uint64_t v = get_bytes(p, n);

    return s->flags & FLAG_UNSIGNED ? (int64_t)v
                                    : (int64_t)(v << unused) >> unused;
}

size_t sbmy_binary_int(const struct sbmy_shape *s, int64_t v, char *out)
{
    int len = s->flags & FLAG_UNSIGNED
                  ? snprintf(out, INT_ROOM, "%" PRIu64, (uint64_t)v)
                  : snprintf(out, INT_ROOM, "%" PRId64, v);

    return fill_zeros(s, out, (size_t)len);
}

// Reals ----------------------------------------------------------------------

// A number in decimal: 0.DIGITS times ten to the power of `point`.
struct digits {
    char d[32];
    int n, point;
};

static void set_digits(struct digits *g, double v, int n)
{
    char text[48];

    snprintf(text, sizeof(text), "%.*e", n - 1, v);
    g->d[0] = text[0];
    if (n > 1)
        memcpy(g->d + 1, text + 2, (size_t)n - 1);
    g->point = 1 + (int)strtol(text + (n > 1 ? n + 2 : 2), NULL, 10);
    while (n > 1 && g->d[n - 1] == '0')
        n--;
    g->n = n;
}

static double number_of(const struct digits *g)
{
    char text[48];

    snprintf(text, sizeof(text), "0.%.*se%d", g->n, g->d, g->point);
    return strtod(text, NULL);
}

// Increments the last of n digits.
static void step_up(struct digits *g, int n)
{
    while (g->n < n)
        g->d[g->n++] = '0';
    while (g->n > 0 && g->d[g->n - 1] == '9')
        g->n--;
    if (g->n > 0) {
        g->d[g->n - 1]++;
    } else {
        g->d[g->n++] = '1';
        g->point++;
    }
}

// Tries the next decimal if v is a power of two. The doubles above it are
// further apart than those below, so with 16 digits the nearest decimal may not
// read back as v although the next one does.
static bool fits_next(struct digits *g, double v)
{
    int exp;

    if (frexp(v, &exp) != 0.5)
        return false;
    step_up(g, SAFE_DIGITS + 1);
    return number_of(g) == v;
}

// Sets the fewest digits that read back as v > 0.
static void shortest(struct digits *g, double v)
{
    for (int n = v < 2.3e-308 ? 1 : SAFE_DIGITS; n < DOUBLE_DIGITS; n++) {
        set_digits(g, v, n);
        if (number_of(g) == v || (n > SAFE_DIGITS && fits_next(g, v)))
            return;
    }
    set_digits(g, v, DOUBLE_DIGITS);
}

static size_t put_exponent(const struct digits *g, char *out)
{
    char *p = out;

    *p++ = g->d[0];
    if (g->n > 1) {
        *p++ = '.';
        memcpy(p, g->d + 1, (size_t)g->n - 1);
        p += g->n - 1;
    }
    return (size_t)(p - out) +
           (size_t)snprintf(p, REAL_ROOM / 2, "e%d", g->point - 1);
}

// Writes the number without an exponent, with at least `decimals` decimals.
static size_t put_plain(const struct digits *g, int decimals, char *out)
{
    char *p = out;

    if (g->point <= 0)
        *p++ = '0';
    for (int i = 0; i < g->point; i++)
        *p++ = i < g->n ? g->d[i] : '0';
    if (decimals < g->n - g->point)
        decimals = g->n - g->point;
    if (decimals > 0)
        *p++ = '.';
    for (int i = g->point; i < g->point + decimals; i++)
        *p++ = i >= 0 && i < g->n ? g->d[i] : '0';
    return (size_t)(p - out);
}

static size_t put_any(double v, bool is_float, char *out)
{
    struct digits g;

    if (is_float)
        set_digits(&g, v, FLOAT_DIGITS);
    else
        shortest(&g, v);
    if (g.point < 1 - POINT_MOST || (g.point > POINT_MOST && g.n <= g.point))
        return put_exponent(&g, out);
    return put_plain(&g, 0, out);
}

// For DOUBLE(10,2): digits beyond the shortest form are zeros, not those of the
// binary value.
static size_t put_fixed(double v, int decimals, char *out)
{
    struct digits g;

    shortest(&g, v);
    if (g.n - g.point > decimals)
        return (size_t)snprintf(out, REAL_ROOM - 1, "%.*f", decimals, v);
    return put_plain(&g, decimals, out);
}

static size_t put_zero(const struct sbmy_shape *s, char *out)
{
    struct digits g = { .d = "0", .n = 1, .point = 1 };

    return put_plain(
        &g, s->decimals < ANY_DECIMALS ? (int)s->decimals : 0, out);
}

static double get_real(const struct sbmy_shape *s, const uint8_t *p)
{
    uint64_t bits = get_bytes(p, bytes_of(s->type));
    uint32_t half = (uint32_t)bits;
    double d;
    float f;

    if (s->type == SBMY_TYPE_FLOAT) {
        memcpy(&f, &half, sizeof(f));
        return f;
    }
    memcpy(&d, &bits, sizeof(d));
    return d;
}

size_t sbmy_binary_real(const struct sbmy_shape *s, double v, char *out)
{
    size_t n = 0;

    if (!isfinite(v))
        v = 0; // servers do not store NaN and infinity
    if (signbit(v))
        out[n++] = '-';
    v = fabs(v);
    if (v == 0)
        n += put_zero(s, out + n);
    else if (s->decimals >= ANY_DECIMALS)
        n += put_any(v, s->type == SBMY_TYPE_FLOAT, out + n);
    else
        n += put_fixed(v, s->decimals, out + n);
    return fill_zeros(s, out, n);
}

// Times ----------------------------------------------------------------------

static size_t put_fraction(const struct sbmy_shape *s, uint32_t us, char *out)
{
    char text[16];
    size_t n = s->decimals < 6 ? s->decimals : 6;

    if (n == 0)
        return 0;
    snprintf(text, sizeof(text), "%06" PRIu32, us % 1000000);
    out[0] = '.';
    memcpy(out + 1, text, n);
    return 1 + n;
}

static size_t put_time(const struct sbmy_shape *s, const uint8_t *p, char *out)
{
    uint64_t hours = (uint64_t)sbmy_get32(p + 1) * 24 + p[5];
    int n = snprintf(out, TIME_ROOM - 8, "%s%02" PRIu64 ":%02u:%02u",
        p[0] ? "-" : "", hours, (unsigned)p[6], (unsigned)p[7]);

    return (size_t)n + put_fraction(s, sbmy_get32(p + 8), out + n);
}

static size_t put_date(const struct sbmy_shape *s, const uint8_t *p, char *out)
{
    int n = snprintf(out, TIME_ROOM, "%04u-%02u-%02u", (unsigned)sbmy_get16(p),
        (unsigned)p[2], (unsigned)p[3]);

    if (s->type == SBMY_TYPE_DATE)
        return (size_t)n;
    n += snprintf(out + n, TIME_ROOM - (size_t)n - 8, " %02u:%02u:%02u",
        (unsigned)p[4], (unsigned)p[5], (unsigned)p[6]);
    return (size_t)n + put_fraction(s, sbmy_get32(p + 7), out + n);
}

// Values ---------------------------------------------------------------------

// Reads the value at p. Returns the position after it, or NULL if the row ends
// before it.
static const uint8_t *text_cell(
    const uint8_t *p, const uint8_t *end, struct sb_cell *cell)
{
    uint64_t len = 0;

    p = sbmy_get_number(p, end, &len);
    if (!p || (uint64_t)(end - p) < len)
        return NULL;
    *cell = (struct sb_cell){ .s = (const char *)p, .len = len };
    return p + len;
}

// Servers omit trailing zeros of a time.
static const uint8_t *time_cell(const struct sbmy_shape *s, const uint8_t *p,
    const uint8_t *end, struct sb_cell *cell, char *text)
{
    uint8_t part[12] = { 0 };
    size_t len;

    if (p >= end)
        return NULL;
    len = *p++;
    if (len > sizeof(part) || (size_t)(end - p) < len)
        return NULL;
    memcpy(part, p, len);
    cell->s = text;
    cell->len = s->type == SBMY_TYPE_TIME ? put_time(s, part, text)
                                          : put_date(s, part, text);
    return p + len;
}

static const uint8_t *number_cell(const struct sbmy_shape *s, const uint8_t *p,
    const uint8_t *end, struct sb_cell *cell, char *text)
{
    size_t len = bytes_of(s->type);

    if ((size_t)(end - p) < len)
        return NULL;
    cell->s = text;
    cell->len = sbmy_binary_form(s) == SBMY_FORM_REAL
                    ? sbmy_binary_real(s, get_real(s, p), text)
                    : sbmy_binary_int(s, get_int(s, p), text);
    return p + len;
}

static const uint8_t *one_cell(const struct sbmy_shape *s, const uint8_t *p,
    const uint8_t *end, struct sb_cell *cell, char *text)
{
    switch (sbmy_binary_form(s)) {
    case SBMY_FORM_INT:
    case SBMY_FORM_REAL:
        return number_cell(s, p, end, cell, text);
    case SBMY_FORM_TIME:
        return time_cell(s, p, end, cell, text);
    default:
        if (s->type != SBMY_TYPE_NULL)
            return text_cell(p, end, cell);
        *cell = (struct sb_cell){ 0 };
        return p;
    }
}

bool sbmy_binary_row(const uint8_t *row, size_t len,
    const struct sbmy_shape *shape, uint32_t n, struct sb_cell *cells,
    char *text)
{
    const uint8_t *end = row + len, *nulls = row + 1, *p;
    size_t bitmap = ((size_t)n + BEHIND_ROW + 7) / 8;

    if (len < 1 + bitmap)
        return false;
    p = nulls + bitmap;
    for (uint32_t i = 0; i < n; i++) {
        size_t bit = (size_t)i + BEHIND_ROW;
        size_t room = sbmy_binary_room(&shape[i]);

        if (nulls[bit / 8] >> bit % 8 & 1) {
            cells[i] = (struct sb_cell){ 0 };
            continue;
        }
        p = one_cell(&shape[i], p, end, &cells[i], text);
        if (!p)
            return false;
        if (room > 0) // text may be NULL if no column needs room
            text += room;
    }
    return true;
}
