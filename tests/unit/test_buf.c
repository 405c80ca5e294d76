// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/buf.h"

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

int main(void)
{
    RUN(starts_empty);
    RUN(appends);
    RUN(grows);
    RUN(keeps_its_maximum);
    RUN(rejects_overflow);
    return check_done();
}
