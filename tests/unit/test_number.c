// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit/number.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

// Returns the first len bytes of out as text. Checks that none follows them.
static const char *ended(char *out, size_t len)
{
    CHECK(len < SB_NUMBER_ROOM);
    CHECK(out[len] == '#');
    out[len] = '\0';
    return out;
}

static const char *int_text(int64_t i)
{
    static char out[SB_NUMBER_ROOM];

    memset(out, '#', sizeof(out));
    return ended(out, sb_number_int(out, i));
}

static const char *uint_text(uint64_t u)
{
    static char out[SB_NUMBER_ROOM];

    memset(out, '#', sizeof(out));
    return ended(out, sb_number_uint(out, u));
}

static void integers(void)
{
    char want[40];

    CHECK_STR(int_text(0), "0");
    CHECK_STR(int_text(-1), "-1");
    CHECK_STR(int_text(INT64_MAX), "9223372036854775807");
    CHECK_STR(int_text(INT64_MIN), "-9223372036854775808");
    CHECK_STR(uint_text(UINT64_MAX), "18446744073709551615");
    for (int64_t i = 1; i < INT64_MAX / 11; i = i * 11 - 3) {
        snprintf(want, sizeof(want), "-%" PRId64, i);
        CHECK_STR(int_text(-i), want);
        CHECK_STR(int_text(i), want + 1);
        CHECK_STR(uint_text((uint64_t)i), want + 1);
    }
}

static void powers_of_ten(void)
{
    char want[40];

    for (uint64_t u = 10; u < UINT64_MAX / 10; u *= 10) {
        snprintf(want, sizeof(want), "%" PRIu64, u);
        CHECK_STR(uint_text(u), want);
        snprintf(want, sizeof(want), "%" PRIu64, u - 1);
        CHECK_STR(uint_text(u - 1), want);
    }
}

static const char *double_text(double d)
{
    static char out[SB_NUMBER_ROOM + 1];
    size_t len;

    memset(out, '#', sizeof(out));
    len = sb_number_double(out, d);
    CHECK_INT(len, strlen(out));
    CHECK(out[SB_NUMBER_ROOM] == '#');
    return out;
}

static void doubles(void)
{
    static const double samples[] = { 0.1 + 0.2, 1.0 / 3, -DBL_MAX, DBL_MIN,
        -5e-324, 123456789012345678, -1.2345678901234567e-300, 1e15 };

    CHECK_STR(double_text(0.1), "0.1");
    CHECK_STR(double_text(3), "3");
    CHECK_STR(double_text(1e22), "1e+22");
    CHECK_STR(double_text(0.1 + 0.2), "0.30000000000000004");
    CHECK_STR(double_text(-DBL_MAX), "-1.7976931348623157e+308");
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        CHECK(strtod(double_text(samples[i]), NULL) == samples[i]);
}

static void not_finite(void)
{
    CHECK_STR(double_text(0.0), "0");
    CHECK_STR(double_text(-0.0), "-0");
    CHECK_STR(double_text(INFINITY), "inf");
    CHECK_STR(double_text(-INFINITY), "-inf");
    CHECK_STR(double_text(copysign(NAN, 1)), "nan");
    CHECK_STR(double_text(copysign(NAN, -1)), "-nan");
}

static void hex(void)
{
    static const unsigned char bytes[] = { 0x00, 0x09, 0xa0, 0xff };
    char out[10];

    memset(out, '#', sizeof(out));
    CHECK_INT(sb_number_hex(out, bytes, sizeof(bytes)), 8);
    CHECK(memcmp(out, "0009a0ff#", 9) == 0);
    CHECK_INT(sb_number_hex(out, NULL, 0), 0);
    CHECK(out[0] == '0');
}

CHECK_FILE
{
    RUN(integers);
    RUN(powers_of_ten);
    RUN(doubles);
    RUN(not_finite);
    RUN(hex);
    return check_done();
}
