// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "check.h"
#include "drivers/mysql/protocol.h"

static char out[4096];

// Returns the text of one value. Checks that it fits the size that
// sbmy_encode_room() returned.
static const char *text(struct sb_value v, char after)
{
    size_t room = sbmy_encode_room(&v);
    char *end;

    memset(out, '#', sizeof(out));
    end = sbmy_encode(out, &v, after);
    CHECK((size_t)(end - out) <= room);
    CHECK(*end == '#');
    *end = '\0';
    return out;
}

static struct sb_value integer(int64_t i)
{
    return (struct sb_value){ .type = SB_VALUE_INT, .i = i };
}

static struct sb_value number(double d)
{
    return (struct sb_value){ .type = SB_VALUE_DOUBLE, .d = d };
}

static struct sb_value bytes(int type, const char *s, size_t len)
{
    return (struct sb_value){ .type = type, .s = s, .len = (uint32_t)len };
}

static void integers(void)
{
    CHECK_STR(text(integer(0), '\t'), "0\t");
    CHECK_STR(text(integer(42), '\n'), "42\n");
    CHECK_STR(text(integer(-7), '\n'), "-7\n");
    CHECK_STR(text(integer(INT64_MAX), '\n'), "9223372036854775807\n");
    CHECK_STR(text(integer(INT64_MIN), '\n'), "-9223372036854775808\n");
    CHECK_STR(
        text((struct sb_value){ .type = SB_VALUE_UINT, .u = UINT64_MAX }, '\n'),
        "18446744073709551615\n");
}

static void doubles(void)
{
    static const double samples[] = { 0.1, 1.0 / 3, -1.7976931348623157e308,
        5e-324, 0.30000000000000004, 123456789012345678, -0.0, 1e15 };

    CHECK_STR(text(number(0.1), '\t'), "0.1\t");
    CHECK_STR(text(number(1.5), '\t'), "1.5\t");
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        CHECK(strtod(text(number(samples[i]), '\t'), NULL) == samples[i]);
}

static void null_and_empty(void)
{
    CHECK_STR(
        text((struct sb_value){ .type = SB_VALUE_NULL }, '\t'), "\033N\t");
    CHECK_STR(text(bytes(SB_VALUE_TEXT, "", 0), '\t'), "\t");
}

static void escapes(void)
{
    CHECK_STR(text(bytes(SB_VALUE_TEXT, "a\tb\nc\\d", 7), '\n'),
        "a\033tb\033nc\\d\n");
    CHECK_STR(text(bytes(SB_VALUE_TEXT, "\033N", 2), '\t'), "\033\033N\t");
    CHECK_STR(text(bytes(SB_VALUE_BLOB, "x\0y\0", 4), '\t'), "x\0330y\0330\t");
    CHECK_STR(
        text(bytes(SB_VALUE_TIME, "2026-01-31", 10), '\t'), "2026-01-31\t");
    CHECK_STR(text(bytes(SB_VALUE_TEXT, "it's \"q\" \r", 10), '\t'),
        "it's \"q\" \r\t");
}

// Decodes a cell as LOAD DATA does.
static size_t decode(const char *s, char *to)
{
    size_t n = 0;

    for (; *s != '\t'; s++) {
        if (*s != SBMY_ESCAPE) {
            to[n++] = *s;
            continue;
        }
        s++;
        to[n++] = (char)(*s == '0'   ? '\0'
                         : *s == 'n' ? '\n'
                         : *s == 't' ? '\t'
                                     : *s);
    }
    return n;
}

static void every_byte(void)
{
    char all[256], back[512];

    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    CHECK_INT(decode(text(bytes(SB_VALUE_BLOB, all, 256), '\t'), back), 256);
    CHECK(memcmp(all, back, 256) == 0);
}

CHECK_FILE
{
    RUN(integers);
    RUN(doubles);
    RUN(null_and_empty);
    RUN(escapes);
    RUN(every_byte);
    return check_done();
}
