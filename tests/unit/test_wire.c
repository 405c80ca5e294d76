// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "base/wire.h"
#include "check.h"

static void values_come_back(void)
{
    const uint64_t v[] = { 0, 1, 127, 128, 16383, 16384, UINT64_C(1) << 62,
        UINT64_MAX };
    const int64_t sv[] = { 0, -1, 1, -64, 64, INT64_MIN, INT64_MAX };
    struct sb_buf b;
    char text[8];
    size_t len;

    sb_buf_init(&b, 0);
    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
        sb_wire_put(&b, v[i]);
    CHECK_INT(b.len, 1 + 1 + 1 + 2 + 2 + 3 + 9 + 10);
    for (size_t i = 0; i < sizeof(sv) / sizeof(sv[0]); i++)
        sb_wire_put_signed(&b, sv[i]);
    sb_wire_put_double(&b, -0.1);
    sb_wire_put_text(&b, "seven77");
    sb_wire_put_text(&b, NULL);
    sb_wire_put_bytes(&b, "a\0b", 3);

    struct sb_wire w = sb_wire_of(b.data, b.len);
    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
        CHECK(sb_wire_get(&w) == v[i]);
    for (size_t i = 0; i < sizeof(sv) / sizeof(sv[0]); i++)
        CHECK(sb_wire_get_signed(&w) == sv[i]);
    CHECK(sb_wire_get_double(&w) == -0.1);
    sb_wire_get_text(&w, text, sizeof(text));
    CHECK_STR(text, "seven77");
    sb_wire_get_text(&w, text, sizeof(text));
    CHECK_STR(text, "");
    const char *bytes = sb_wire_get_bytes(&w, &len);
    CHECK_INT(len, 3);
    CHECK(memcmp(bytes, "a\0b", 3) == 0);
    CHECK(!w.bad);
    CHECK(w.at == w.end);
    sb_buf_done(&b);
}

static struct sb_wire of(const char *bytes, size_t n)
{
    return sb_wire_of(bytes, n);
}

static void invalid_data_is_noticed(void)
{
    struct sb_wire w = of("\x80", 1); // a second byte is missing
    char text[4];
    size_t len;

    CHECK_INT(sb_wire_get(&w), 0);
    CHECK(w.bad);
    CHECK_INT(sb_wire_get(&w), 0);
    w = of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10); // 65 bits
    CHECK_INT(sb_wire_get(&w), 0);
    CHECK(w.bad);
    w = of("\x05"
           "abc",
        4); // shorter than its length
    CHECK_STR(sb_wire_get_bytes(&w, &len), "");
    CHECK_INT(len, 0);
    CHECK(w.bad);
    w = of("\x04"
           "abcd",
        5); // no room for the final NUL
    sb_wire_get_text(&w, text, sizeof(text));
    CHECK_STR(text, "");
    CHECK(w.bad);
    w = of("1234567", 7);
    CHECK(sb_wire_get_double(&w) == 0);
    CHECK(w.bad);
}

CHECK_FILE
{
    RUN(values_come_back);
    RUN(invalid_data_is_noticed);
    return check_done();
}
