// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "base/escape.h"

#include <string.h>

#include "check.h"

static char out[64];

static const char *escaped(const char *text)
{
    CHECK_INT(sb_escape(out, sizeof(out), text), strlen(out));
    return out;
}

static const char *line(const char *text)
{
    CHECK_INT(sb_escape_line(out, sizeof(out), text), strlen(out));
    return out;
}

static void text_stays(void)
{
    CHECK_STR(escaped(""), "");
    CHECK_STR(escaped("a \\ b~\n\tc"), "a \\ b~\n\tc");
    CHECK_STR(escaped("\xc2\xa0 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
        "\xc2\xa0 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    CHECK_STR(escaped("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"),
        "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf");
}

static void control_characters_are_escaped(void)
{
    CHECK_STR(escaped("\033[31mred\033[0m"), "\\x1b[31mred\\x1b[0m");
    CHECK_STR(escaped("\001\b\r\177"), "\\x01\\x08\\x0d\\x7f");
    // U+009B (CSI), and the single byte that 8-bit terminals treat as CSI.
    CHECK_STR(escaped("\xc2\x9b[2J \x9b[2J"), "\\xc2\\x9b[2J \\x9b[2J");
}

static void invalid_utf8_is_escaped(void)
{
    CHECK_STR(escaped("caf\xe9"), "caf\\xe9");
    CHECK_STR(escaped("\xc3"), "\\xc3");
    CHECK_STR(escaped("\xe2\x82"), "\\xe2\\x82");
    CHECK_STR(escaped("\xc0\xaf"), "\\xc0\\xaf");
    CHECK_STR(escaped("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");
    CHECK_STR(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");
    CHECK_STR(escaped("\xf0\x80\x80\x80"), "\\xf0\\x80\\x80\\x80");
    CHECK_STR(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
    CHECK_STR(escaped("\xf5\x80\xff"), "\\xf5\\x80\\xff");
}

static void one_line(void)
{
    CHECK_STR(line("a\r\n\tb\nc\n"), "a b c");
    CHECK_STR(line("\n\n"), "");
    CHECK_STR(line("a\033\xc3\xa9"), "a\\x1b\xc3\xa9");
}

static void truncated_between_characters(void)
{
    char small[5];

    CHECK_INT(sb_escape(small, 1, "abc"), 0);
    CHECK_STR(small, "");
    CHECK_INT(sb_escape(small, 5, "abcdef"), 4);
    CHECK_STR(small, "abcd");
    CHECK_INT(sb_escape(small, 5, "abc\xc3\xa9"), 3);
    CHECK_STR(small, "abc");
    CHECK_INT(sb_escape(small, 5, "ab\xc3\xa9"), 4);
    CHECK_INT(sb_escape(small, 5, "\033\033"), 4);
    CHECK_STR(small, "\\x1b");
    CHECK_INT(sb_escape_line(small, 5, "abcd\n\ne"), 4);
    CHECK_STR(small, "abcd");
}

static void copies_are_utf8(void)
{
    char copy[8];

    CHECK(sb_utf8_copy(copy, sizeof(copy), "a\033\xc3\xa9"));
    CHECK_STR(copy, "a\033\xc3\xa9");
    CHECK(!sb_utf8_copy(copy, sizeof(copy), "a\xe9z"));
    CHECK_STR(copy, "a\xef\xbf\xbdz");
    CHECK(!sb_utf8_copy(copy, sizeof(copy), "\xe9\xe9\xe9\xe9"));
    CHECK_STR(copy, "\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(!sb_utf8_copy(copy, sizeof(copy), "abcdef\xc3\xa9"));
    CHECK_STR(copy, "abcdef");
    CHECK_INT(sb_utf8_cut("ab\xc3\xa9z", 5, 3), 2);
    CHECK_INT(sb_utf8_cut("ab\xc3\xa9z", 5, 4), 4);
    CHECK_INT(sb_utf8_cut("abc", 3, 9), 3);
    CHECK_INT(sb_utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
}

static void names_of_different_texts_differ(void)
{
    char a[24], b[24], again[24];

    sb_utf8_name(a, sizeof(a), "SELECT 1");
    CHECK_STR(a, "SELECT 1");
    sb_utf8_name(a, sizeof(a), "caf\xe9");
    sb_utf8_name(b, sizeof(b), "caf\xe8");
    CHECK_INT(strncmp(a, "caf\xef\xbf\xbd~", 7), 0);
    CHECK(strcmp(a, b) != 0);
    sb_utf8_name(a, sizeof(a), "SELECT c FROM sbtest WHERE id=1");
    sb_utf8_name(b, sizeof(b), "SELECT c FROM sbtest WHERE id=2");
    CHECK_INT(strlen(a), 23);
    CHECK(strcmp(a, b) != 0);
    sb_utf8_name(again, sizeof(again), a);
    CHECK_STR(again, a);
    // The suffix replaces a whole character.
    sb_utf8_name(a, sizeof(a), "SELECT '12345\xe2\x82\xac' FROM sbtest");
    CHECK_INT(strncmp(a, "SELECT '12345~", 14), 0);
}

CHECK_FILE
{
    RUN(text_stays);
    RUN(control_characters_are_escaped);
    RUN(invalid_utf8_is_escaped);
    RUN(one_line);
    RUN(truncated_between_characters);
    RUN(copies_are_utf8);
    RUN(names_of_different_texts_differ);
    return check_done();
}
