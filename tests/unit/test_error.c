// SPDX-License-Identifier: GPL-2.0-or-later
//
// The error of a connection.
#include "fake.h"

static void shown(void)
{
    start();
    sb_err_native(&c.err, SB_EQUERY, 1064, "42000", "syntax");
    CHECK_INT(sb__error_show(&c), SB_EQUERY);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_INT(c.pub.sql_errno, 1064);
    CHECK_STR(c.pub.sql_state, "42000");
    CHECK_STR(c.pub.sql_errmsg, "syntax");
    sb__error_clear(&c);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    CHECK_INT(c.pub.sql_errno, 0);
    CHECK_STR(c.pub.sql_errmsg, "");
    sb_err_native(&c.err, SB_ERESTART, 1213, "40001", "");
    CHECK_INT(sb__error_show(&c), SB_ERESTART);
    CHECK_INT(c.pub.error, SB_SQL_IGNORABLE);
    CHECK(strstr(c.pub.sql_errmsg, "no details given"));
    finish();
}

static void usage(void)
{
    start();
    CHECK_INT(sb__error_usage(&c, "no %s", "way"), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "no way");
    CHECK_INT(sb__error_no_memory(&c), SB_ENOMEM);
    finish();
}

// An error that reports a loss breaks the connection, once.
static void losses(void)
{
    start();
    sb_err_set(&c.err, SB_ELOST, "gone");
    CHECK_INT(sb__error_report(&c, "query", "a\n  b", 5), SB_ELOST);
    CHECK_INT(c.state, SB__CON_BROKEN);
    CHECK_INT(c.lost_at, fake.ns0);
    CHECK_STR(sb_con_failed_sql(&c.pub), "a b");
    fake.ns0++;
    sb__con_enter(&c, SB__CON_AWAY);
    opts.reconnect = true;
    sb_err_set(&c.err, SB_ELOST, "gone");
    CHECK_INT(sb__error_report(&c, "query", "", 0), SB_ERECONNECT);
    CHECK_INT(c.state, SB__CON_AWAY);
    CHECK_INT(c.lost_at, fake.ns0 - 1);
    opts.reconnect = false;
    finish();
}

static void ignored(void)
{
    static const char *const items[] = { "1205" };

    start();
    opts.ignore_errors.item = items;
    opts.ignore_errors.count = 1;
    sb_err_native(&c.err, SB_EQUERY, 1205, "HY000", "timeout");
    CHECK_INT(sb__error_report(&c, "query", "", 0), SB_EIGNORE);
    CHECK_INT(c.state, SB__CON_OPEN);
    sb_err_native(&c.err, SB_EQUERY, 1206, "HY000", "other");
    CHECK_INT(sb__error_report(&c, "query", "", 0), SB_EQUERY);
    opts.ignore_errors.count = 0;
    finish();
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL - 1);
    RUN(shown);
    RUN(usage);
    RUN(losses);
    RUN(ignored);
    return check_done();
}
