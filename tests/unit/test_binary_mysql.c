// SPDX-License-Identifier: GPL-2.0-or-later
//
// Rows of the binary protocol as text. tests/db/mysql_api.lua compares them
// with the text protocol of real servers.
#include "check.h"
#include "drivers/mysql/protocol.h"
#include "guard_page.h"

#define UNSIGNED 0x20
#define ZEROFILL 0x60 // ZEROFILL implies UNSIGNED

// Returns the text of a row's only cell, "NULL", or "(bad)".
static const char *cell(struct sbmy_shape shape, const void *value, size_t len)
{
    static char out[2000];
    char text[1000];
    uint8_t row[300] = { 0 };
    struct sb_cell c = { 0 };
    size_t room = sbmy_binary_room(&shape);

    memcpy(row + 2, value, len);
    memset(text, '#', sizeof(text));
    if (!sbmy_binary_row(guarded(row, 2 + len), 2 + len, &shape, 1, &c, text))
        return "(bad)";
    CHECK(room == 0 || c.len <= room);
    CHECK(text[room] == '#');
    snprintf(out, sizeof(out), "%.*s", (int)c.len, c.s ? c.s : "NULL");
    return c.s ? out : "NULL";
}

static const char *integer(int type, int flags, uint32_t width, uint64_t v)
{
    struct sbmy_shape s = {
        .type = (uint8_t)type, .flags = (uint16_t)flags, .length = width
    };
    static const uint8_t size[] = { [SBMY_TYPE_TINY] = 1,
        [SBMY_TYPE_SHORT] = 2,
        [SBMY_TYPE_YEAR] = 2,
        [SBMY_TYPE_LONG] = 4,
        [SBMY_TYPE_INT24] = 4,
        [SBMY_TYPE_LONGLONG] = 8 };
    uint8_t bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(v >> 8 * i);
    return cell(s, bytes, size[type]);
}

static void integers(void)
{
    CHECK_STR(integer(SBMY_TYPE_TINY, 0, 4, 0x80), "-128");
    CHECK_STR(integer(SBMY_TYPE_TINY, UNSIGNED, 3, 0xff), "255");
    CHECK_STR(integer(SBMY_TYPE_SHORT, 0, 6, 0xffff), "-1");
    CHECK_STR(integer(SBMY_TYPE_SHORT, UNSIGNED, 5, 0xffff), "65535");
    CHECK_STR(integer(SBMY_TYPE_YEAR, ZEROFILL, 4, 1901), "1901");
    CHECK_STR(integer(SBMY_TYPE_YEAR, ZEROFILL, 4, 0), "0000");
    CHECK_STR(integer(SBMY_TYPE_INT24, 0, 9, 0xff800000), "-8388608");
    CHECK_STR(integer(SBMY_TYPE_LONG, 0, 11, 0x80000000), "-2147483648");
    CHECK_STR(integer(SBMY_TYPE_LONG, UNSIGNED, 10, 0xffffffff), "4294967295");
    CHECK_STR(integer(SBMY_TYPE_LONG, ZEROFILL, 8, 42), "00000042");
    CHECK_STR(integer(SBMY_TYPE_LONG, ZEROFILL, 1, 42), "42");
    CHECK_STR(integer(SBMY_TYPE_LONGLONG, ZEROFILL, 30, 7),
        "000000000000000000000000000007");
    CHECK_STR(integer(SBMY_TYPE_LONGLONG, 0, 20, UINT64_C(1) << 63),
        "-9223372036854775808");
    CHECK_STR(integer(SBMY_TYPE_LONGLONG, UNSIGNED, 20, UINT64_MAX),
        "18446744073709551615");
    // No server has columns of that width: it is ignored.
    CHECK_STR(integer(SBMY_TYPE_LONG, ZEROFILL, UINT32_MAX, 1), "1");
}

static const char *real(double v, int decimals)
{
    struct sbmy_shape s = { .type = SBMY_TYPE_DOUBLE,
        .decimals = (uint8_t)decimals };
    return cell(s, &v, sizeof(v)); // on little-endian machines
}

static const char *small(float v, int decimals)
{
    struct sbmy_shape s = { .type = SBMY_TYPE_FLOAT,
        .decimals = (uint8_t)decimals };
    return cell(s, &v, sizeof(v));
}

static void reals(void)
{
    CHECK_STR(real(0, 31), "0");
    CHECK_STR(real(-0.0, 31), "-0");
    CHECK_STR(real(0.1, 31), "0.1");
    CHECK_STR(real(-1.5, 31), "-1.5");
    CHECK_STR(real(0.1 + 0.2, 31), "0.30000000000000004");
    CHECK_STR(real(123456789012345680, 31), "1.2345678901234568e17");
    CHECK_STR(real(1e15, 31), "1e15");
    CHECK_STR(real(1e14, 31), "100000000000000");
    CHECK_STR(real(1234567890123456.5, 31), "1234567890123456.5");
    CHECK_STR(real(1e-14, 31), "0.00000000000001");
    CHECK_STR(real(1e-15, 31), "0.000000000000001");
    CHECK_STR(real(1e-16, 31), "1e-16");
    CHECK_STR(real(-1.7976931348623157e308, 31), "-1.7976931348623157e308");
    CHECK_STR(real(5e-324, 31), "5e-324");
    CHECK_STR(real(2.2250738585072014e-308, 31), "2.2250738585072014e-308");
    // A power of two, for which the nearest value of 16 digits is not exact.
    CHECK_STR(real(0x1p-44, 31), "0.00000000000005684341886080802");
    CHECK_STR(real(9007199254740993.0, 31), "9.007199254740992e15");
    CHECK_STR(real(INFINITY, 31), "0");
    CHECK_STR(real(-INFINITY, 31), "0");
}

static void floats(void)
{
    CHECK_STR(small(1.5f, 31), "1.5");
    CHECK_STR(small(3.14159f, 31), "3.14159");
    CHECK_STR(small(0.1f, 31), "0.1");
    CHECK_STR(small(-1e-10f, 31), "-0.0000000001");
    CHECK_STR(small(1e20f, 31), "1e20");
    CHECK_STR(small(16777216.0f, 31), "16777200");
    CHECK_STR(small(3.40282e38f, 31), "3.40282e38");
    CHECK_STR(small(1.1f, 3), "1.100");
}

static void fixed_decimals(void)
{
    struct sbmy_shape s = {
        .type = SBMY_TYPE_DOUBLE, .decimals = 2, .flags = ZEROFILL, .length = 9
    };
    double v = 1.5;

    CHECK_STR(real(2.5, 4), "2.5000");
    CHECK_STR(real(0, 2), "0.00");
    CHECK_STR(real(-0.001, 2), "-0.00");
    CHECK_STR(real(2.675, 2), "2.67");
    CHECK_STR(real(0.125, 2), "0.12");
    CHECK_STR(real(1e23, 2), "100000000000000000000000.00");
    CHECK_STR(real(7, 0), "7");
    CHECK_INT(strlen(real(-1.7976931348623157e308, 30)), 1 + 309 + 1 + 30);
    CHECK_STR(cell(s, &v, sizeof(v)), "000001.50");
}

static const char *timed(int type, int decimals, const char *bytes, size_t len)
{
    struct sbmy_shape s = { .type = (uint8_t)type,
        .decimals = (uint8_t)decimals };
    return cell(s, bytes, len);
}

static void times(void)
{
    static const char full[] = "\x0b\xe8\x07\x02\x1d\x17\x3b\x3b\xc0\xd4\x01";
    static const char span[] = "\x0c\x01\x22\0\0\0\x16\x3b\x3b\x07\0\0";

    CHECK_STR(
        timed(SBMY_TYPE_DATETIME, 3, full, 12), "2024-02-29 23:59:59.120");
    CHECK_STR(timed(SBMY_TYPE_TIMESTAMP, 0, full, 12), "2024-02-29 23:59:59");
    CHECK_STR(timed(SBMY_TYPE_DATETIME, 6, "\4\xe8\7\2\x1d", 5),
        "2024-02-29 00:00:00.000000");
    CHECK_STR(
        timed(SBMY_TYPE_DATETIME, 39, "", 1), "0000-00-00 00:00:00.000000");
    CHECK_STR(timed(SBMY_TYPE_DATE, 0, "\4\1\0\1\1", 5), "0001-01-01");
    CHECK_STR(timed(SBMY_TYPE_DATE, 0, "", 1), "0000-00-00");
    CHECK_STR(timed(SBMY_TYPE_TIME, 6, span, 13), "-838:59:59.000007");
    CHECK_STR(timed(SBMY_TYPE_TIME, 0, "\x08\0\0\0\0\0\0\0\1", 9), "00:00:01");
    CHECK_STR(timed(SBMY_TYPE_TIME, 2, "", 1), "00:00:00.00");
    CHECK_STR(timed(SBMY_TYPE_TIME, 0, "\x0d\0\0\0\0\0\0\0\0\0\0\0\0\0", 14),
        "(bad)");
    // No value that a server sends is longer than its buffer.
    CHECK_STR(timed(SBMY_TYPE_TIME, 9,
                  "\x0c\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 13),
        "-103079215335:255:255.967295");
    CHECK_STR(timed(SBMY_TYPE_DATETIME, 6,
                  "\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12),
        "65535-255-255 255:255:255.967295");
}

// The third column is NULL, and the ninth is in the bitmap's second byte.
static void rows(void)
{
    struct sbmy_shape shape[9] = { { .type = SBMY_TYPE_TINY }, { .type = 253 },
        { .type = SBMY_TYPE_DATE }, { .type = 252 }, { .type = SBMY_TYPE_LONG },
        { .type = SBMY_TYPE_NULL }, { .type = 246 }, { .type = SBMY_TYPE_TIME },
        { .type = 16 } };
    static const uint8_t row[] = { 0, 0x10, 0, 5, 2, 'h', 'i', 0, 1, 0, 0, 0, 3,
        '1', '.', '0', 0, 1, 0xff };
    struct sb_cell c[9];
    char text[500];

    for (size_t n = 0; n < sizeof(row); n++)
        CHECK(!sbmy_binary_row(guarded(row, n), n, shape, 9, c, text));
    CHECK(sbmy_binary_row(
        guarded(row, sizeof(row)), sizeof(row), shape, 9, c, text));
    CHECK_INT(c[0].len, 1);
    CHECK(c[1].len == 2 && memcmp(c[1].s, "hi", 2) == 0);
    CHECK(!c[2].s && c[2].len == 0);
    CHECK(c[3].s && c[3].len == 0);
    CHECK(c[4].len == 1 && c[4].s[0] == '1');
    CHECK(!c[5].s);
    CHECK(c[6].len == 3 && memcmp(c[6].s, "1.0", 3) == 0);
    CHECK(c[7].len == 8 && memcmp(c[7].s, "00:00:00", 8) == 0);
    CHECK(c[8].len == 1 && (uint8_t)c[8].s[0] == 0xff);
}

// Texts whose length exceeds the row.
static void long_lengths(void)
{
    struct sbmy_shape s = { .type = 253 };

    CHECK_STR(cell(s, "\x03yes", 4), "yes");
    CHECK_STR(cell(s, "\x04yes", 4), "(bad)");
    CHECK_STR(cell(s, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff", 9), "(bad)");
    CHECK_STR(cell(s, "\xfb", 1), "(bad)");
    CHECK_STR(cell(s, "\xfc\x01", 2), "(bad)");
    CHECK_STR(cell(s, "\xfc\x01\0x", 4), "x");
}

CHECK_FILE
{
    RUN(integers);
    RUN(reals);
    RUN(floats);
    RUN(fixed_decimals);
    RUN(times);
    RUN(rows);
    RUN(long_lengths);
    return check_done();
}
