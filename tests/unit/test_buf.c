// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit/buf.h"

#include "check.h"

static void starts_empty(void)
{
    struct sb_buf b = { 0 };

    sb_buf_done(&b);
    sb_buf_init(&b, 0);
    CHECK(!b.data && b.len == 0 && !b.failed);
    sb_buf_clear(&b);
    CHECK_INT(sb_buf_adds(&b, ""), 0);
    CHECK_STR(b.data, "");
    sb_buf_done(&b);
    CHECK(!b.data && b.cap == 0);
}

static void appends(void)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    CHECK_INT(sb_buf_adds(&b, "ab"), 0);
    CHECK_INT(sb_buf_add(&b, "c\0d", 3), 0);
    CHECK_INT(b.len, 5);
    CHECK(memcmp(b.data, "abc\0d", 6) == 0);
    sb_buf_clear(&b);
    CHECK_INT(b.len, 0);
    CHECK_STR(b.data, "");
    CHECK_INT(sb_buf_addf(&b, "%s-%d", "x", 7), 0);
    CHECK_INT(sb_buf_addf(&b, "%s", ""), 0);
    CHECK_STR(b.data, "x-7");
    sb_buf_done(&b);
}

static void grows(void)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(sb_buf_addf(&b, "%03d,", i), 0);
    CHECK_INT(b.len, 4000);
    CHECK(memcmp(b.data + 3996, "999,", 5) == 0);
    sb_buf_done(&b);
}

static void keeps_its_maximum(void)
{
    struct sb_buf b;

    sb_buf_init(&b, 4);
    CHECK_INT(sb_buf_adds(&b, "abc"), 0);
    CHECK_INT(sb_buf_adds(&b, "de"), SB_ELIMIT);
    CHECK(b.failed);
    CHECK_STR(b.data, "abc");
    CHECK_INT(sb_buf_addf(&b, "%d", 42), SB_ELIMIT);
    CHECK_STR(b.data, "abc");
    CHECK_INT(sb_buf_adds(&b, "d"), 0);
    CHECK(b.failed);
    CHECK_STR(b.data, "abcd");
    sb_buf_clear(&b);
    CHECK(!b.failed);
    CHECK_INT(b.max, 4);
    sb_buf_done(&b);
}

static void rejects_overflow(void)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    CHECK_INT(sb_buf_adds(&b, "x"), 0);
    CHECK_INT(sb_buf_add(&b, "", SIZE_MAX), SB_ELIMIT);
    CHECK(b.failed);
    CHECK_STR(b.data, "x");
    sb_buf_done(&b);
}

// A maximum holds although the capacity grows in steps.
static void room_up_to_the_maximum(void)
{
    struct sb_buf b;
    char *p;

    sb_buf_init(&b, 100);
    p = sb_buf_room(&b, 0);
    CHECK(p && p == b.data);
    p = sb_buf_room(&b, 70);
    CHECK(p && b.cap <= 101);
    memset(p, 'x', 70);
    b.len = 70;
    CHECK(sb_buf_room(&b, 30) == b.data + 70);
    CHECK_INT(b.len, 70);
    CHECK(!b.failed && !sb_buf_room(&b, 31) && b.failed);
    CHECK(b.len == 70 && b.data[0] == 'x' && b.data[69] == 'x');
    sb_buf_clear(&b);
    CHECK(sb_buf_room(&b, 100) == b.data);
    sb_buf_done(&b);
}

// Room for n bytes is room for a NUL behind them, too.
static void room_includes_the_nul(void)
{
    struct sb_buf b = { 0 };

    for (size_t n = 0; n < 300; n++) {
        CHECK(sb_buf_room(&b, n) == b.data);
        CHECK(b.cap > n);
        b.len = n;
        CHECK_INT(sb_buf_add(&b, "", 0), 0);
        CHECK(b.data[n] == '\0');
        sb_buf_done(&b);
    }
    CHECK(!sb_buf_room(&b, SIZE_MAX) && !sb_buf_room(&b, SIZE_MAX / 2));
    CHECK(!b.data && b.cap == 0);
}

static void trims(void)
{
    struct sb_buf b;

    sb_buf_init(&b, 5000);
    CHECK_INT(sb_buf_adds(&b, "abc"), 0);
    sb_buf_trim(&b, b.cap);
    CHECK(b.data && b.len == 0 && b.data[0] == '\0');
    CHECK(sb_buf_room(&b, 1000) != NULL);
    CHECK(!sb_buf_room(&b, 6000) && b.failed);
    sb_buf_trim(&b, 1000);
    CHECK(!b.data && b.cap == 0 && !b.failed);
    CHECK_INT(b.max, 5000);
    sb_buf_done(&b);
}

CHECK_FILE
{
    RUN(starts_empty);
    RUN(appends);
    RUN(grows);
    RUN(keeps_its_maximum);
    RUN(rejects_overflow);
    RUN(room_up_to_the_maximum);
    RUN(room_includes_the_nul);
    RUN(trims);
    return check_done();
}
