// SPDX-License-Identifier: GPL-2.0-or-later
#include "check.h"
#include "drivers/mysql/internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const int lost[] = { 1053, 1080, 1152, 1154, 1155, 1156, 1157, 1158,
    1159, 1160, 1161, 1184, 1243, 1317, 1927, 2002, 2003, 2006, 2011, 2013,
    2026, 2055, 3169, 4031, 9001, 9002 };
static const int again[] = { 1297, 1412, 1613, 1614, 1615, 1637, 1689, 3058,
    3101, 3572, 8002, 8005, 8022, 8028, 8229, 9007 };
static const int other[] = { 1047, 1062, 1064, 1146, 1153, 1189, 1190, 1218,
    1290, 99999, 0 };

static int init(struct sbmy_ignore *ig, const char *const *items, size_t n)
{
    struct sb_opt_list list = { .item = items, .count = n };

    return sbmy_ignore_init(ig, &list, NULL);
}

static void defaults(void)
{
    static const char *const items[] = { "1213", "1020", "1205" };
    struct sbmy_ignore ig;

    CHECK_INT(init(&ig, items, COUNT(items)), 0);
    CHECK_INT(sbmy_classify(&ig, 1213, "HY000"), SB_ERESTART);
    CHECK_INT(sbmy_classify(&ig, 1205, "HY000"), SB_ERESTART);
    CHECK_INT(sbmy_classify(&ig, 1020, "HY000"), SB_ERESTART);
    for (size_t i = 0; i < COUNT(lost); i++)
        CHECK_INT(sbmy_classify(&ig, lost[i], "HY000"), SB_ELOST);
    for (size_t i = 0; i < COUNT(other); i++)
        CHECK_INT(sbmy_classify(&ig, other[i], "HY000"), SB_EQUERY);
    sbmy_ignore_done(&ig);
}

static void ignore_none(void)
{
    struct sbmy_ignore ig;

    CHECK_INT(init(&ig, NULL, 0), 0);
    CHECK_INT(sbmy_classify(&ig, 1213, "HY000"), SB_EQUERY);
    CHECK_INT(sbmy_classify(&ig, 2013, "HY000"), SB_ELOST);
    for (size_t i = 0; i < COUNT(again); i++)
        CHECK_INT(sbmy_classify(&ig, again[i], "HY000"), SB_ERESTART);
    sbmy_ignore_done(&ig);
}

static void ignore_some(void)
{
    static const char *const items[] = { "1062", "2013" };
    struct sbmy_ignore ig;

    CHECK_INT(init(&ig, items, COUNT(items)), 0);
    CHECK_INT(sbmy_classify(&ig, 1062, "HY000"), SB_EIGNORE);
    CHECK_INT(sbmy_classify(&ig, 2013, "HY000"), SB_ERECONNECT);
    CHECK_INT(sbmy_classify(&ig, 2006, "HY000"), SB_ELOST);
    CHECK_INT(sbmy_classify(&ig, 1213, "HY000"), SB_EQUERY);
    sbmy_ignore_done(&ig);
}

static void ignore_all(void)
{
    static const char *const items[] = { "1213", "all" };
    struct sbmy_ignore ig;

    CHECK_INT(init(&ig, items, COUNT(items)), 0);
    CHECK_INT(sbmy_classify(&ig, 1064, "HY000"), SB_EIGNORE);
    CHECK_INT(sbmy_classify(&ig, 1205, "HY000"), SB_ERESTART);
    for (size_t i = 0; i < COUNT(lost); i++)
        CHECK_INT(sbmy_classify(&ig, lost[i], "HY000"), SB_ERECONNECT);
    sbmy_ignore_done(&ig);
    sbmy_ignore_done(&ig);
}

// SQLSTATE class 08 means a lost connection, whatever the error number, except
// for numbers that servers use for errors of the statement or of another
// connection.
static void by_state(void)
{
    static const char *const items[] = { "99999" };
    static const int still_other[] = { 1040, 1153, 1189, 1190, 1218 };
    struct sbmy_ignore ig;

    CHECK_INT(init(&ig, items, COUNT(items)), 0);
    CHECK_INT(sbmy_classify(&ig, 1156, "08S01"), SB_ELOST);
    CHECK_INT(sbmy_classify(&ig, 1047, "08S01"), SB_ELOST);
    CHECK_INT(sbmy_classify(&ig, 77777, "08S01"), SB_ELOST);
    CHECK_INT(sbmy_classify(&ig, 77777, "08003"), SB_ELOST);
    CHECK_INT(sbmy_classify(&ig, 77777, "HY008"), SB_EQUERY);
    CHECK_INT(sbmy_classify(&ig, 99999, "08006"), SB_ERECONNECT);
    for (size_t i = 0; i < COUNT(still_other); i++)
        CHECK_INT(sbmy_classify(&ig, still_other[i], "08S01"), SB_EQUERY);
    sbmy_ignore_done(&ig);
}

static void malformed_lists(void)
{
    static const char *const items[] = { "", "x", "12x", "-1", "0", "ALL",
        "99999999999" };

    for (size_t i = 0; i < COUNT(items); i++) {
        struct sbmy_ignore ig;
        struct sb_opt_list list = { .item = &items[i], .count = 1 };
        struct sb_err err = { 0 };

        CHECK_INT(sbmy_ignore_init(&ig, &list, &err), SB_EUSAGE);
        CHECK(strstr(err.msg, "mysql-ignore-errors") != NULL);
        sbmy_ignore_done(&ig);
    }
}

static void rejected_prepare_and_load(void)
{
    CHECK(sbmy_refuses_prepare(1295));
    CHECK(sbmy_refuses_prepare(1047));
    CHECK(sbmy_refuses_prepare(6413));
    CHECK(!sbmy_refuses_prepare(1064));
    CHECK(!sbmy_refuses_prepare(1148));
    CHECK(sbmy_refuses_load(1148));
    CHECK(sbmy_refuses_load(3948));
    CHECK(sbmy_refuses_load(4166));
    CHECK(!sbmy_refuses_load(1146));
    CHECK(!sbmy_refuses_load(2013));
}

static void hints(void)
{
    CHECK(strstr(sbmy_hint(1146), "prepare") != NULL);
    CHECK(strstr(sbmy_hint(1461), "--db-statement-cache") != NULL);
    CHECK(strstr(sbmy_hint(1461), "--db-ps-mode") != NULL);
    CHECK(strstr(sbmy_hint(1020), "--mysql-ignore-errors") != NULL);
    CHECK_STR(sbmy_hint(1064), "");
}

CHECK_FILE
{
    RUN(defaults);
    RUN(ignore_none);
    RUN(ignore_some);
    RUN(ignore_all);
    RUN(by_state);
    RUN(malformed_lists);
    RUN(rejected_prepare_and_load);
    RUN(hints);
    return check_done();
}
