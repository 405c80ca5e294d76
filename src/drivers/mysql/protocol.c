// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mysql/protocol.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/number.h"

// Answers --------------------------------------------------------------------

enum stage { FIRST, COLUMNS, BEHIND_COLUMNS, ROWS };

#define IS_OK       0x00
#define IS_ROW      0x00
#define IS_FILE     0xfb
#define IS_EOF      0xfe
#define IS_ERROR    0xff
#define EOF_LEN     5u
#define OK_LEN      7u     // at least
#define PROGRESS    0xffff // an "error" packet that reports progress
#define COLUMNS_MAX 65535u
#define FIXED_LEN   13u // end of a definition: a length byte, then 12 bytes

void sbmy_answer_begin(struct sbmy_answer *a, uint8_t seq, bool may_omit)
{
    *a = (struct sbmy_answer){
        .seq = seq,
        .agreed = may_omit,
        .want = SBMY_HEAD,
    };
}

const uint8_t *sbmy_get_number(
    const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    size_t n;

    if (p >= end || *p == 0xfb || *p == 0xff)
        return NULL;
    if (*p < 0xfb) {
        *out = *p;
        return p + 1;
    }
    n = *p == 0xfc ? 2 : *p == 0xfd ? 3 : 8;
    p++;
    if ((size_t)(end - p) < n)
        return NULL;
    *out = n == 2 ? sbmy_get16(p) : n == 3 ? sbmy_get24(p) : sbmy_get32(p);
    if (n == 8)
        *out |= (uint64_t)sbmy_get32(p + 4) << 32;
    return p + n;
}

static enum sbmy_step my_take_error(
    struct sbmy_answer *a, size_t at, const uint8_t *p, size_t len)
{
    if (len < 3)
        return SBMY_STEP_BAD;
    if (a->stage == FIRST && sbmy_get16(p + 1) == PROGRESS)
        return SBMY_STEP_MORE;
    a->error = at;
    a->error_len = len;
    return SBMY_STEP_DONE;
}

bool sbmy_matched(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && (text[i] < '0' || text[i] > '9'))
        i++;
    return i < len && text[i] != '0';
}

// The text follows its length, and may be followed by the state of the session.
// From servers that do not send that, it has no length and ends the packet.
static bool matched_in_ok(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *text;
    uint64_t n;

    if (p == end)
        return false;
    text = sbmy_get_number(p, end, &n);
    if (!text || n > (uint64_t)(end - text)) {
        text = p;
        n = (uint64_t)(end - p);
    }
    return sbmy_matched((const char *)text, (size_t)n);
}

static enum sbmy_step take_ok(
    struct sbmy_answer *a, const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len;

    p = sbmy_get_number(p + 1, end, &a->affected);
    if (p)
        p = sbmy_get_number(p, end, &a->insert_id);
    if (!p || end - p < 4)
        return SBMY_STEP_BAD;
    a->status = (uint16_t)sbmy_get16(p);
    a->warnings = (uint16_t)sbmy_get16(p + 2);
    if (a->affected == 0)
        a->matched = matched_in_ok(p + 4, end);
    return SBMY_STEP_DONE;
}

static enum sbmy_step take_count(
    struct sbmy_answer *a, size_t after, const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len;
    uint64_t n = 0;
    bool follow = true;

    p = sbmy_get_number(p, end, &n);
    if (!p || end - p > a->agreed || n == 0 || n > COLUMNS_MAX)
        return SBMY_STEP_BAD;
    if (p < end) {
        a->remembers = true;
        follow = *p != 0;
    }
    a->nfields = (uint32_t)n;
    a->left = follow ? a->nfields : 0;
    a->columns = follow ? after : 0;
    a->stage = follow ? COLUMNS : BEHIND_COLUMNS;
    return SBMY_STEP_MORE;
}

static enum sbmy_step my_take_first(
    struct sbmy_answer *a, size_t at, const uint8_t *p, size_t len)
{
    switch (p[0]) {
    case IS_OK:
        return take_ok(a, p, len);
    case IS_ERROR:
        return my_take_error(a, at, p, len);
    case IS_FILE:
        a->file = true;
        return SBMY_STEP_DONE;
    default:
        return take_count(a, at + len, p, len);
    }
}

static enum sbmy_step my_take_row(
    struct sbmy_answer *a, size_t at, const uint8_t *p, size_t len)
{
    if (p[0] == IS_ROW) {
        a->nrows++;
        return SBMY_STEP_MORE;
    }
    if (p[0] == IS_ERROR)
        return my_take_error(a, at, p, len);
    if (p[0] != IS_EOF)
        return SBMY_STEP_BAD;
    if (len >= OK_LEN)
        return take_ok(a, p, len);
    if (len != EOF_LEN)
        return SBMY_STEP_BAD;
    a->warnings = (uint16_t)sbmy_get16(p + 1);
    a->status = (uint16_t)sbmy_get16(p + 3);
    return SBMY_STEP_DONE;
}

// Parses one whole packet, whose body is at `at`. MORE: the answer continues.
static enum sbmy_step take_packet(
    struct sbmy_answer *a, size_t at, const uint8_t *p, size_t len)
{
    if (len == 0)
        return SBMY_STEP_BAD;
    switch (a->stage) {
    case FIRST:
        return my_take_first(a, at, p, len);
    case COLUMNS:
        if (p[0] == IS_ERROR)
            return my_take_error(a, at, p, len);
        if (--a->left == 0) {
            a->columns_end = at + len;
            a->stage = BEHIND_COLUMNS;
        }
        return SBMY_STEP_MORE;
    case BEHIND_COLUMNS:
        a->stage = ROWS;
        if (p[0] == IS_EOF && len == EOF_LEN) {
            a->rows = at + len;
            return SBMY_STEP_MORE;
        }
        a->rows = at - SBMY_HEAD;
        return my_take_row(a, at, p, len);
    default:
        return my_take_row(a, at, p, len);
    }
}

// Checks the number of a packet. If the server sends an error packet without a
// request before it closes the connection, its number does not follow.
static bool in_order(struct sbmy_answer *a, const uint8_t *head)
{
    if (head[3] == a->seq)
        return true;
    if (a->stage != FIRST || sbmy_get24(head) == 0 ||
        head[SBMY_HEAD] != IS_ERROR)
        return false;
    a->seq = head[3];
    return true;
}

enum sbmy_step sbmy_answer_read(
    struct sbmy_answer *a, const uint8_t *in, size_t len)
{
    for (;;) {
        enum sbmy_step step = SBMY_STEP_MORE;
        size_t at = a->at + SBMY_HEAD;
        uint32_t size;

        a->want = at;
        if (len < at)
            return SBMY_STEP_MORE;
        size = sbmy_get24(in + a->at);
        a->want = at + size;
        if (len < a->want)
            return SBMY_STEP_MORE;
        if (!in_order(a, in + a->at))
            return SBMY_STEP_BAD;
        a->seq++;
        if (!a->goes_on)
            step = take_packet(a, at, in + at, size);
        a->goes_on = size == SBMY_PACKET_FULL;
        if (a->goes_on && (step != SBMY_STEP_MORE || a->stage != ROWS))
            return SBMY_STEP_BAD; // only rows can be that long
        a->at = a->want;
        if (step != SBMY_STEP_MORE)
            return step;
    }
}

bool sbmy_problem_read(
    const uint8_t *body, size_t len, struct sbmy_problem *out)
{
    const uint8_t *end = body + len;

    if (len < 3 || body[0] != IS_ERROR)
        return false;
    *out = (struct sbmy_problem){
        .native = (int)sbmy_get16(body + 1),
        .state = "HY000",
    };
    body += 3;
    if (end - body >= 6 && *body == '#') {
        memcpy(out->state, body + 1, 5);
        body += 6;
    }
    out->text = (const char *)body;
    out->len = (size_t)(end - body);
    return true;
}

static const uint8_t *get_text(
    const uint8_t *p, const uint8_t *end, const uint8_t **text, uint64_t *len)
{
    p = sbmy_get_number(p, end, len);
    if (!p || (uint64_t)(end - p) < *len)
        return NULL;
    *text = p;
    return p + *len;
}

// A definition contains catalog, schema, table, original table, name and
// original name; some servers append details of the type. Therefore the fields
// with a fixed position are read from the end.
bool sbmy_column_read(
    const uint8_t *body, size_t len, struct sbmy_column_def *out)
{
    const uint8_t *p = body, *end = body + len, *text = NULL, *fixed;
    uint64_t n = 0;

    if (len < FIXED_LEN)
        return false;
    fixed = end - FIXED_LEN;
    for (int i = 0; p && i < 5; i++)
        p = get_text(p, fixed, &text, &n);
    if (!p || fixed[0] != FIXED_LEN - 1)
        return false;
    *out = (struct sbmy_column_def){
        .length = sbmy_get32(fixed + 3),
        .type = fixed[7],
        .flags = (uint16_t)sbmy_get16(fixed + 8),
        .decimals = fixed[10],
        .name = (const char *)text,
        .name_len = (size_t)n,
    };
    return true;
}

// Rows of LOAD DATA ----------------------------------------------------------

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
static char my_escaped(char c)
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

static char *my_put_bytes(char *out, const char *s, uint32_t len)
{
    for (const char *end = s + len; s < end; s++) {
        char e = (unsigned char)*s > SBMY_ESCAPE ? 0 : my_escaped(*s);

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
        out = my_put_bytes(out, v->s, v->len);
        break;
    case SB_VALUE_NULL:
    default:
        *out++ = SBMY_ESCAPE;
        *out++ = 'N';
    }
    *out++ = after;
    return out;
}

// Binary rows ----------------------------------------------------------------

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

static double my_number_of(const struct digits *g)
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
    return my_number_of(g) == v;
}

// Sets the fewest digits that read back as v > 0.
static void shortest(struct digits *g, double v)
{
    for (int n = v < 2.3e-308 ? 1 : SAFE_DIGITS; n < DOUBLE_DIGITS; n++) {
        set_digits(g, v, n);
        if (my_number_of(g) == v || (n > SAFE_DIGITS && fits_next(g, v)))
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

static size_t my_put_any(double v, bool is_float, char *out)
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
        n += my_put_any(v, s->type == SBMY_TYPE_FLOAT, out + n);
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
static const uint8_t *my_time_cell(const struct sbmy_shape *s, const uint8_t *p,
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
        return my_time_cell(s, p, end, cell, text);
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
