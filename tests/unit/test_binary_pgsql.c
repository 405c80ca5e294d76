// SPDX-License-Identifier: GPL-2.0-or-later
//
// Values in the binary format of COPY, byte by byte. The test includes the
// source file, which does not need libpq.
#include "check.h"
#include "drivers/pgsql/binary.h"

// Returns a value encoded for a field, in hex; "" if the field's format cannot
// represent it.
static const char *coded(enum pgsql_field field, struct sb_value v)
{
    static char hex[100];
    char out[80];
    size_t most = pgsql_binary_size(&v), n;

    memset(out, 'x', sizeof(out));
    n = pgsql_binary_value(out, field, &v);
    CHECK(n <= most);
    CHECK(out[most] == 'x');
    hex[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)out[i]);
    return hex;
}

static struct sb_value whole(int64_t i)
{
    return (struct sb_value){ .type = SB_VALUE_INT, .i = i };
}

static struct sb_value real(double d)
{
    return (struct sb_value){ .type = SB_VALUE_DOUBLE, .d = d };
}

static struct sb_value bytes(int type, const char *s, size_t len)
{
    return (struct sb_value){ .type = type, .len = (uint32_t)len, .s = s };
}

static void integers(void)
{
    CHECK_STR(coded(PGSQL_FIELD_INT2, whole(-2)), "00000002fffe");
    CHECK_STR(coded(PGSQL_FIELD_INT4, whole(258)), "0000000400000102");
    CHECK_STR(
        coded(PGSQL_FIELD_INT8, whole(INT64_MIN)), "000000088000000000000000");
    CHECK_STR(coded(PGSQL_FIELD_FLOAT8, whole(-2)), "00000008c000000000000000");
    CHECK_STR(coded(PGSQL_FIELD_CHARS, whole(-7)), "000000022d37");
    // The longest number.
    CHECK_STR(coded(PGSQL_FIELD_CHARS, whole(INT64_MIN)),
        "00000014"
        "2d39323233333732303336383534373735383038");
}

// Values that do not fit are left to the server, which rejects them.
static void unsigned_integers(void)
{
    struct sb_value v = { .type = SB_VALUE_UINT, .u = UINT64_C(1) << 63 };

    CHECK_STR(coded(PGSQL_FIELD_INT8, v), "");
    CHECK_STR(coded(PGSQL_FIELD_INT4, v), "");
    CHECK_STR(coded(PGSQL_FIELD_BYTES, v), "");
    CHECK_STR(coded(PGSQL_FIELD_FLOAT8, v), "0000000843e0000000000000");
    CHECK_STR(coded(PGSQL_FIELD_CHARS, v),
        "00000013"
        "39323233333732303336383534373735383038");
}

static void limits(void)
{
    CHECK_STR(coded(PGSQL_FIELD_INT2, whole(INT16_MAX)), "000000027fff");
    CHECK_STR(coded(PGSQL_FIELD_INT2, whole(INT16_MAX + 1)), "");
    CHECK_STR(coded(PGSQL_FIELD_INT2, whole(INT16_MIN)), "000000028000");
    CHECK_STR(coded(PGSQL_FIELD_INT2, whole(INT16_MIN - 1)), "");
    CHECK_STR(coded(PGSQL_FIELD_INT4, whole(INT32_MAX)), "000000047fffffff");
    CHECK_STR(coded(PGSQL_FIELD_INT4, whole((int64_t)INT32_MAX + 1)), "");
    CHECK_STR(coded(PGSQL_FIELD_INT4, whole((int64_t)INT32_MIN - 1)), "");
}

static void others(void)
{
    struct sb_value null = { .type = SB_VALUE_NULL };

    CHECK_STR(coded(PGSQL_FIELD_INT4, null), "ffffffff");
    CHECK_STR(coded(PGSQL_FIELD_CHARS, null), "ffffffff");
    CHECK_STR(coded(PGSQL_FIELD_FLOAT8, real(1.5)), "000000083ff8000000000000");
    CHECK_STR(coded(PGSQL_FIELD_CHARS, real(1.5)), "00000003312e35");
    CHECK_STR(coded(PGSQL_FIELD_CHARS, bytes(SB_VALUE_TEXT, "a\0\n\\", 4)),
        "0000000461000a5c");
    CHECK_STR(
        coded(PGSQL_FIELD_CHARS, bytes(SB_VALUE_TEXT, NULL, 0)), "00000000");
    CHECK_STR(coded(PGSQL_FIELD_CHARS, bytes(SB_VALUE_TIME, "12", 2)),
        "000000023132");
    CHECK_STR(coded(PGSQL_FIELD_BYTES, bytes(SB_VALUE_BLOB, "\xff\0", 2)),
        "00000002ff00");
}

// Conversions that only the server can do.
static void conversions(void)
{
    for (int f = PGSQL_FIELD_TEXT_ONLY; f <= PGSQL_FIELD_NUMERIC; f++) {
        if (f != PGSQL_FIELD_CHARS)
            CHECK_STR(coded(f, bytes(SB_VALUE_TEXT, "12", 2)), "");
        if (f != PGSQL_FIELD_BYTES)
            CHECK_STR(coded(f, bytes(SB_VALUE_BLOB, "12", 2)), "");
    }
    CHECK_STR(coded(PGSQL_FIELD_INT4, real(3)), "");
    CHECK_STR(coded(PGSQL_FIELD_BYTES, whole(3)), "");
    CHECK_STR(coded(PGSQL_FIELD_BYTES, real(3)), "");
    CHECK_INT(pgsql_field_of(1184), PGSQL_FIELD_TEXT_ONLY); // timestamptz
    CHECK_INT(pgsql_field_of(0), PGSQL_FIELD_TEXT_ONLY);
}

// Number of digits, weight, sign, scale; digits of base 10,000. The same as
// numeric_send() of a server for the same text.
static void numerics(void)
{
    static const double text_only[] = { 0.00001, 1.23456, 1e10, -1e300,
        INFINITY, NAN, 0.1 + 0.2 };

    CHECK_STR(coded(PGSQL_FIELD_NUMERIC, whole(0)), "000000080000000000000000");
    CHECK_STR(
        coded(PGSQL_FIELD_NUMERIC, whole(-10)), "0000000a0001000040000000000a");
    CHECK_STR(coded(PGSQL_FIELD_NUMERIC, whole(300000)),
        "0000000a0001000100000000001e");
    CHECK_STR(coded(PGSQL_FIELD_NUMERIC, real(0)), "000000080000000000000000");
    CHECK_STR(
        coded(PGSQL_FIELD_NUMERIC, real(0.05)), "0000000a0001ffff0000000201f4");
    CHECK_STR(coded(PGSQL_FIELD_NUMERIC, real(-123.4)),
        "0000000c0002000040000001007b0fa0");
    CHECK_STR(coded(PGSQL_FIELD_NUMERIC, real(9999999999.9999)),
        "000000100004000200000004006"
        "3270f270f270f");
    for (size_t i = 0; i < sizeof(text_only) / sizeof(text_only[0]); i++)
        CHECK_STR(coded(PGSQL_FIELD_NUMERIC, real(text_only[i])), "");
    CHECK_STR(coded(PGSQL_FIELD_NUMERIC, whole(INT64_MIN)), "");
    CHECK_INT(pgsql_field_of(1700), PGSQL_FIELD_NUMERIC);
}

static const char *stamp(const char *text)
{
    return coded(
        PGSQL_FIELD_TIMESTAMP, bytes(SB_VALUE_TEXT, text, strlen(text)));
}

// Microseconds since 2000-01-01.
static void timestamps(void)
{
    static const char *const text_only[] = { "", "2026-01-01",
        "2026-01-01T00:00:00", "2026-01-01 00:00:00.5", "2026-13-01 00:00:00",
        "2026-00-01 00:00:00", "2026-01-00 00:00:00", "2026-01-29 00:00:00",
        "2026-01-01 24:00:00", "2026-01-01 00:60:00", "2026-01-01 00:00:60",
        "0000-01-01 00:00:00", "20a6-01-01 00:00:00", "2026-01-01 00:00-00" };

    CHECK_STR(stamp("2000-01-01 00:00:00"), "000000080000000000000000");
    CHECK_STR(stamp("2000-01-01 00:00:01"), "0000000800000000000f4240");
    CHECK_STR(stamp("1999-12-28 23:59:59"), "00000008ffffffc3a66a9dc0");
    CHECK_STR(stamp("2000-03-01 00:00:00"), "00000008000004b6fe7a8000");
    CHECK_STR(stamp("2026-01-01 12:30:45"), "000000080002ea5187cc8740");
    CHECK_STR(stamp("0001-01-01 00:00:00"), "00000008ff1fe2ffc59c6000");
    for (size_t i = 0; i < sizeof(text_only) / sizeof(text_only[0]); i++)
        CHECK_STR(stamp(text_only[i]), "");
    CHECK_INT(pgsql_field_of(1114), PGSQL_FIELD_TIMESTAMP);
}

static void frame(void)
{
    char out[PGSQL_BINARY_HEADER + 1];

    memset(out, 'x', sizeof(out));
    pgsql_binary_header(out);
    CHECK(memcmp(out, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0x", sizeof(out)) == 0);
    pgsql_binary_count(out, 258);
    CHECK(memcmp(out, "\1\2C", 3) == 0);
    pgsql_binary_count(out, -1);
    CHECK(memcmp(out, "\xff\xff", 2) == 0);
}

CHECK_FILE
{
    RUN(integers);
    RUN(unsigned_integers);
    RUN(limits);
    RUN(others);
    RUN(conversions);
    RUN(numerics);
    RUN(timestamps);
    RUN(frame);
    return check_done();
}
