// SPDX-License-Identifier: GPL-2.0-or-later
//
// The line of a statement that --db-debug logs.
#include "check_log.h"
#include "fake.h"

static const char *line(
    const char *sql, size_t len, const struct sb_value *v, uint32_t n)
{
    capture();
    sb__debug_stmt(&c, 1234567, sql, len, v, n);
    return captured();
}

static const char *value(const struct sb_value *v)
{
    return line("q", 1, v, 1);
}

#define BYTES(kind, text)                                    \
    &(struct sb_value)                                       \
    {                                                        \
        .type = (kind), .s = (text), .len = sizeof(text) - 1 \
    }
#define BEFORE "fake: user 7: 1.235 ms: q "

static void statement_and_time(void)
{
    CHECK_STR(
        line("select 1; no", 8, NULL, 0), "fake: user 7: 1.235 ms: select 1\n");
    // Each counts: equal lines are not collapsed.
    capture();
    sb__debug_stmt(&c, 0, "q", 1, NULL, 0);
    sb__debug_stmt(&c, 0, "q", 1, NULL, 0);
    CHECK_STR(
        captured(), "fake: user 7: 0.000 ms: q\nfake: user 7: 0.000 ms: q\n");
}

static void values_of_all_types(void)
{
    const struct sb_value v[] = {
        { .type = SB_VALUE_INT, .i = INT64_MIN },
        { .type = SB_VALUE_UINT, .u = UINT64_MAX },
        { .type = SB_VALUE_DOUBLE, .d = 0.1 },
        { .type = SB_VALUE_NULL },
    };

    CHECK_STR(line("q", 1, v, 4),
        BEFORE "[-9223372036854775808, 18446744073709551615, "
               "0.10000000000000001, NULL]\n");
    CHECK_STR(value(BYTES(SB_VALUE_TIME, "12:00")), BEFORE "['12:00']\n");
    CHECK_STR(value(BYTES(SB_VALUE_BLOB, "\x01\xff")), BEFORE "[X'01ff']\n");
    CHECK_STR(value(BYTES(SB_VALUE_TEXT, "")), BEFORE "['']\n");
}

// A value can neither end its quotes nor the line.
static void texts_are_quoted(void)
{
    CHECK_STR(value(BYTES(SB_VALUE_TEXT, "it's")), BEFORE "['it''s']\n");
    CHECK_STR(
        value(BYTES(SB_VALUE_TEXT, "a\nb\x7f")), BEFORE "['a\\x0ab\\x7f']\n");
}

static void long_values_are_cut(void)
{
    static const char bytes[65] = "0123456789abcdef0123456789abcdef"
                                  "0123456789abcdef0123456789abcdefZ";
    struct sb_value v = { .type = SB_VALUE_TEXT, .s = bytes, .len = 65 };

    CHECK(strstr(value(&v), "cdef...']\n") != NULL);
    v.len = 64;
    CHECK(strstr(value(&v), "cdef']\n") != NULL);
    v.type = SB_VALUE_BLOB;
    v.len = 33;
    CHECK(strstr(value(&v), "646566...']\n") != NULL);
    v.len = 32;
    CHECK(strstr(value(&v), "646566']\n") != NULL);
}

static void long_lines_are_cut(void)
{
    static char sql[1025];
    struct sb_value v[100];
    const char *text;

    memset(sql, 's', sizeof(sql));
    text = line(sql, 1025, NULL, 0);
    CHECK_INT(strlen(text), strlen(BEFORE) - 2 + 1024 + 4);
    CHECK(strstr(text, "ss...\n") != NULL);
    CHECK(strstr(line(sql, 1024, NULL, 0), "...") == NULL);
    for (int i = 0; i < 100; i++)
        v[i] = (struct sb_value){ .type = SB_VALUE_INT, .i = INT64_MIN };
    text = line("q", 1, v, 100);
    CHECK(strlen(text) < 1200);
    CHECK(strstr(text, "808, ...]\n") != NULL);
}

CHECK_FILE
{
    start();
    ctx.user = 7;
    RUN(statement_and_time);
    RUN(values_of_all_types);
    RUN(texts_are_quoted);
    RUN(long_values_are_cut);
    RUN(long_lines_are_cut);
    finish();
    return check_done();
}
