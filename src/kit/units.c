// SPDX-License-Identifier: GPL-2.0-or-later

#include "kit/units.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define KB ((int64_t)1 << 10)
#define MB ((int64_t)1 << 20)
#define GB ((int64_t)1 << 30)
#define TB ((int64_t)1 << 40)
#define PB ((int64_t)1 << 50)

#define US ((int64_t)1000)
#define MS ((int64_t)1000000)
#define S  ((int64_t)1000000000)
#define M  (60 * S)
#define H  (60 * M)
#define D  (24 * H)

#define MS_DECIMALS_MAX 6

#define BLANKS " \t\r\n"

struct unit {
    const char *name;
    int64_t factor;
};

// Decimals that are kept: 10^18 times the largest factor still fits.
#define FRACTION_DIGITS 18

// A decimal number without sign, kept exactly.
struct decimal {
    uint64_t whole;
    uint64_t part, scale; // part / scale is the fractional part
    bool overflow, rest;  // rest: a digit that was not kept is not zero
};

// Parses a number at *text and moves *text after it; false: no digit.
static bool read_decimal(const char **text, struct decimal *out)
{
    const char *p = *text;
    int digits = 0, kept = 0;

    *out = (struct decimal){ .scale = 1 };
    for (; isdigit((unsigned char)*p); p++, digits++) {
        uint64_t digit = (uint64_t)(*p - '0');

        if (out->whole > (UINT64_MAX - digit) / 10)
            out->overflow = true;
        else
            out->whole = out->whole * 10 + digit;
    }
    if (*p == '.') {
        for (p++; isdigit((unsigned char)*p); p++, digits++) {
            if (kept++ >= FRACTION_DIGITS) {
                out->rest |= *p != '0';
                continue;
            }
            out->part = out->part * 10 + (uint64_t)(*p - '0');
            out->scale *= 10;
        }
    }
    *text = p;
    return digits > 0;
}

// Computes number x factor. SB_ERANGE if it exceeds int64_t. *exact: no digit
// was lost.
static int scale(
    const struct decimal *n, int64_t factor, int64_t *out, bool *exact)
{
    unsigned __int128 f = (unsigned __int128)factor;
    unsigned __int128 part = n->part * f;
    unsigned __int128 sum = n->whole * f + part / n->scale;

    assert(factor > 0 && n->scale > 0);
    if (n->overflow || sum > INT64_MAX)
        return SB_ERANGE;
    *out = (int64_t)sum;
    *exact = part % n->scale == 0 && !n->rest;
    return 0;
}

static const struct unit *find_unit(
    const struct unit *units, const char *name, size_t len)
{
    for (; units->name; units++) {
        if (strlen(units->name) == len && memcmp(units->name, name, len) == 0)
            return units;
    }
    return NULL;
}

static size_t trimmed(const char *text)
{
    size_t len = strlen(text);

    while (len && strchr(BLANKS, text[len - 1]))
        len--;
    return len;
}

// Looks up the suffix at the end of the text, in any case.
static const struct unit *suffix(const struct unit *units, const char *text)
{
    char name[8];
    size_t len;

    text += strspn(text, BLANKS);
    len = trimmed(text);
    if (len >= sizeof(name))
        return NULL;
    for (size_t i = 0; i < len; i++)
        name[i] = (char)tolower((unsigned char)text[i]);
    return find_unit(units, name, len);
}

static int parse_suffixed(
    const char *text, const struct unit *units, int64_t *out, bool *exact)
{
    struct decimal n;
    const struct unit *u;

    if (!read_decimal(&text, &n))
        return SB_EUSAGE;
    u = suffix(units, text);
    return u ? scale(&n, u->factor, out, exact) : SB_EUSAGE;
}

// Parses an integer with an optional sign and unit.
static int parse_signed(
    const char *text, const struct unit *units, int64_t *out)
{
    bool negative, exact = true;
    int64_t value;
    int rc;

    text += strspn(text, BLANKS);
    negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    rc = parse_suffixed(text, units, &value, &exact);
    if (rc)
        return rc;
    if (!exact)
        return SB_EUSAGE;
    *out = negative ? -value : value;
    return 0;
}

static const struct unit count_units[] = { { "", 1 }, { "k", 1000 },
    { "m", 1000000 }, { "g", 1000000000 }, { "b", 1000000000 },
    { "t", 1000000000000 }, { NULL, 0 } };

int sb_units_count(const char *text, int64_t *out)
{
    return parse_signed(text, count_units, out);
}

int sb_units_size(const char *text, int64_t *out)
{
    static const struct unit units[] = { { "", 1 }, { "b", 1 }, { "k", KB },
        { "kb", KB }, { "kib", KB }, { "m", MB }, { "mb", MB }, { "mib", MB },
        { "g", GB }, { "gb", GB }, { "gib", GB }, { "t", TB }, { "tb", TB },
        { "tib", TB }, { "p", PB }, { "pb", PB }, { "pib", PB }, { NULL, 0 } };
    int64_t value;
    int rc = parse_signed(text, units, &value);

    if (rc)
        return rc;
    if (value < 0)
        return SB_ERANGE;
    *out = value;
    return 0;
}

// Parses one part of a duration at *text, such as "1h" of "1h30m". A number
// without a unit is accepted only as the whole text.
static int duration_part(
    const char **text, int64_t bare_ns, int64_t *limit, int64_t *out)
{
    static const struct unit units[] = { { "ns", 1 }, { "us", US },
        { "\xc2\xb5s", US }, { "\xce\xbcs", US }, { "ms", MS }, { "s", S },
        { "m", M }, { "h", H }, { "d", D }, { NULL, 0 } };
    bool first = *limit == INT64_MAX, exact;
    struct decimal n;
    const char *name;
    const struct unit *u;
    size_t len;

    if (!read_decimal(text, &n))
        return SB_EUSAGE;
    *text += strspn(*text, BLANKS);
    name = *text;
    len = strcspn(name, "0123456789.+-" BLANKS);
    *text += len;
    *text += strspn(*text, BLANKS);
    if (len == 0) {
        if (!first || **text)
            return SB_EUSAGE;
        return scale(&n, bare_ns, out, &exact);
    }
    u = find_unit(units, name, len);
    if (!u || u->factor >= *limit)
        return SB_EUSAGE;
    *limit = u->factor;
    return scale(&n, u->factor, out, &exact);
}

int sb_units_duration(const char *text, int64_t bare_ns, int64_t *out)
{
    int64_t sum = 0, limit = INT64_MAX, part = 0;
    bool negative;
    int rc;

    assert(bare_ns > 0);
    text += strspn(text, BLANKS);
    negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    do {
        rc = duration_part(&text, bare_ns, &limit, &part);
        if (rc)
            return rc;
        if (__builtin_add_overflow(sum, part, &sum))
            return SB_ERANGE;
    } while (*text);
    if (negative && sum)
        return SB_ERANGE;
    *out = sum;
    return 0;
}

// Parses a number at *text and moves *text after it.
static int read_double(const char **text, double *out)
{
    const char *p = *text + strspn(*text, BLANKS);
    char *end;

    // strtod() also takes hexadecimal numbers, "inf" and "nan".
    size_t len = strspn(p, "0123456789.+-eE");

    *out = strtod(p, &end);
    if (end == p || end != p + len)
        return SB_EUSAGE;
    *text = end;
    return 0;
}

static int parse_double(const char *text, const struct unit *units, double *out)
{
    double value;

    if (read_double(&text, &value))
        return SB_EUSAGE;
    const struct unit *u = suffix(units, text);
    if (!u)
        return SB_EUSAGE;
    value *= (double)u->factor;
    if (!isfinite(value))
        return SB_ERANGE;
    *out = value;
    return 0;
}

int sb_units_double(const char *text, double *out)
{
    static const struct unit none[] = { { "", 1 }, { NULL, 0 } };

    return parse_double(text, none, out);
}

int sb_units_number(const char *text, double *out)
{
    return parse_double(text, count_units, out);
}

int sb_units_parse_percent(const char *text, double *out)
{
    static const struct unit sign[] = { { "%", 1 }, { NULL, 0 } };

    return parse_double(text, sign, out);
}

static int add_text(char *buf, size_t size, int at, const char *text)
{
    if ((size_t)at < size)
        snprintf(buf + at, size - (size_t)at, "%s", text);
    return at + (int)strlen(text);
}

// Appends value / unit with the decimals needed, and the unit's name.
static int add_decimal(
    char *buf, size_t size, int at, int64_t value, const struct unit *u)
{
    char text[48], *p;
    int n = snprintf(
        text, sizeof(text), "%lld", (long long)(value / u->factor));
    int64_t rest = value % u->factor;

    p = text + n;
    if (rest)
        *p++ = '.';
    while (rest) {
        rest *= 10;
        *p++ = (char)('0' + rest / u->factor);
        rest %= u->factor;
    }
    *p = '\0';
    return add_text(buf, size, add_text(buf, size, at, text), u->name);
}

int sb_units_ms_decimals(double ms, int usual)
{
    int n = 4;

    // Times that round to 0.1000 use the usual decimals.
    if (!(ms > 0) || ms >= 0.09995)
        return usual;
    while (n < MS_DECIMALS_MAX && ms < 0.01) {
        ms *= 10;
        n++;
    }
    return n > usual ? n : usual;
}

int sb_units_digits(double value)
{
    double size = fabs(value);

    return size >= 999.5 && size < 1e15 ? (int)log10(size + 0.5) + 1 : 3;
}

const char *sb_units_percent(char *buf, double n, double of)
{
    double percent = of > 0 ? 100 * n / of : NAN;

    if (percent < 100 && percent >= 99.95)
        percent = 99.9;
    if (!isfinite(percent))
        snprintf(buf, SB_UNITS_PERCENT, "-");
    else if (percent == 0 || percent >= 99.95)
        snprintf(buf, SB_UNITS_PERCENT, "%.0f", fmin(percent, 1e9));
    else if (percent >= 0.0001)
        snprintf(buf, SB_UNITS_PERCENT, "%#.3g", percent);
    else
        snprintf(buf, SB_UNITS_PERCENT, "< 0.0001");
    return buf;
}

void sb_units_format_duration(int64_t ns, char *buf, size_t size)
{
    static const struct unit whole[] = { { "d", D }, { "h", H }, { "m", M } };
    static const struct unit small[] = { { "s", S }, { "ms", MS }, { "us", US },
        { "ns", 1 } };
    uint64_t left = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    int at = ns < 0 ? add_text(buf, size, 0, "-") : 0;
    size_t i = 0;

    if (ns == 0 || size == 0) {
        add_text(buf, size, 0, "0s");
        return;
    }
    for (size_t k = 0; k < 3; k++) {
        uint64_t n = left / (uint64_t)whole[k].factor;

        if (n)
            at = add_decimal(
                buf, size, at, (int64_t)n * whole[k].factor, &whole[k]);
        left -= n * (uint64_t)whole[k].factor;
    }
    // "1h0.25s" rather than "1h250ms": use seconds after larger units.
    while (left < (uint64_t)small[i].factor && i < 3 && at <= (ns < 0))
        i++;
    if (left)
        add_decimal(buf, size, at, (int64_t)left, &small[i]);
}

void sb_units_format_size(int64_t bytes, char *buf, size_t size)
{
    static const struct unit units[] = { { "P", PB }, { "T", TB }, { "G", GB },
        { "M", MB }, { "K", KB }, { "", 1 } };
    size_t i = 0;

    while (bytes % units[i].factor || bytes == 0) {
        if (units[i].factor == 1)
            break;
        i++;
    }
    snprintf(buf, size, "%lld%s", (long long)(bytes / units[i].factor),
        units[i].name);
}
