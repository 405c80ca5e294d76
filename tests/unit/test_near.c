// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "base/near.h"

#include "check.h"

static const char *nearest(const char *name)
{
    static const char *const all[] = { "oltp_read_write", "oltp_read_only",
        "run", "cpu", "oltp_write_only" };
    struct sb_near n;

    sb_near_init(&n, name);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        sb_near_try(&n, all[i]);
    return n.best;
}

static void edits_are_counted(void)
{
    CHECK_STR(nearest("oltp_raed_write"), "oltp_read_write");
    CHECK_STR(nearest("OLTP-read-onli"), "oltp_read_only");
    CHECK_STR(nearest("runn"), "run");
    CHECK_STR(nearest("rn"), "run");
    CHECK_STR(nearest("cpuu"), "cpu");
}

static void distant_names_are_not_suggested(void)
{
    char longer[200];

    CHECK(!nearest("prepare"));
    CHECK(!nearest(""));
    CHECK(!nearest("x"));
    memset(longer, 'o', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    CHECK(!nearest(longer));
}

static void first_of_equally_near_names_is_chosen(void)
{
    struct sb_near n;

    sb_near_init(&n, "abcx");
    sb_near_try(&n, "abcd");
    sb_near_try(&n, "abce");
    CHECK_STR(n.best, "abcd");
    sb_near_try(&n, "abcx");
    CHECK_STR(n.best, "abcx");
}

CHECK_FILE
{
    RUN(edits_are_counted);
    RUN(distant_names_are_not_suggested);
    RUN(first_of_equally_near_names_is_chosen);
    return check_done();
}
