// SPDX-License-Identifier: GPL-2.0-or-later
//
// Queries by SQL text, and the syntax of literals.
#include "db/sql/sql.h"

#include "fake.h"

static void with_and_without_rows(void)
{
    struct sb_rs *rs;

    start();
    rs = sb_con_query(&c.pub, "select", 6);
    CHECK(rs && rs->nrows == 1 && !rs->statement);
    CHECK(sb_con_query(&c.pub, "begin", 5) == NULL);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    CHECK(sb_con_query(&c.pub, "error", 5) == NULL);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_STR(logged(), "query(select) query(begin) query(error) ");
    CHECK_INT(sb__query_execute(&c, "select", 6), 0);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    finish();
}

static void a_driver_without_sql(void)
{
    start();
    c.sql = NULL;
    CHECK(sb_con_query(&c.pub, "select", 6) == NULL);
    CHECK_STR(c.pub.sql_errmsg, "the fake driver has no SQL operations");
    finish();
}

static void collected(void)
{
    start();
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    CHECK(sb_con_query(&c.pub, "select", 6) == NULL);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    CHECK_INT(c.pipe.n, 1);
    CHECK(sb_con_query_now(&c.pub, "select", 6) == NULL);
    CHECK(strstr(c.pub.sql_errmsg, "query_row() cannot be used"));
    CHECK_STR(logged(), "");
    finish();
}

// The literals are a property of the driver, not of its name or dialect.
static void literals(void)
{
    static const uint64_t caps[] = { 0, SB_CAP_CAST_LITERALS,
        SB_CAP_HUGE_LITERALS };

    for (int i = 0; i < 3; i++) {
        struct sb__quoting q;

        drv.caps = caps[i];
        start();
        q = sb__query_quoting(&c);
        CHECK_INT(q.casts, i == 1);
        CHECK_INT(q.huge, i == 2);
        finish();
    }
    drv.caps = 0;
}

static void quoted(void)
{
    char out[16];

    start();
    CHECK_INT(sb_con_quote(&c.pub, "it's", 4, out, sizeof(out)), 7);
    CHECK_STR(out, "'it''s'");
    finish();
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL - 1);
    RUN(with_and_without_rows);
    RUN(a_driver_without_sql);
    RUN(collected);
    RUN(literals);
    RUN(quoted);
    return check_done();
}
