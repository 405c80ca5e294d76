// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a new connection executes before anything else.
#include "db/link.h"
#include "fake.h"

static struct sb_err err;
static unsigned more;     // results that follow the first one
static const char *fails; // the text of the only statement that fails

static int one_fails(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *e)
{
    note("query(%.*s) ", (int)len, sql);
    return fails && strcmp(sql, fails) == 0
               ? sb_err_native(e, SB_EQUERY, 7, "HY000", "broken")
               : 0;
}

static int next_result(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *e)
{
    note("next ");
    if (fails && strcmp(fails, "next") == 0)
        return sb_err_set(e, SB_EQUERY, "the second one");
    return more > 0 ? (more--, 1) : 0;
}

static void free_result_noted(struct sb_conn *conn, struct sb_result *res)
{
    note("free ");
}

static void begin(void)
{
    opts.isolation = SB_DB_ISOLATION_DEFAULT;
    opts.init_sql = NULL;
    drv.isolation = "ISOLATION";
    drv.sql = &sql_ops;
    sql_ops.query = one_fails;
    sql_ops.next_result = NULL;
    sql_ops.free_result = free_result_noted;
    fails = NULL;
    more = 0;
    start();
}

static int session(void)
{
    sb_err_clear(&err);
    return sb__session_begin(&db, c.conn, &err);
}

static void nothing_by_default(void)
{
    begin();
    CHECK_INT(session(), 0);
    opts.init_sql = "";
    CHECK_INT(session(), 0);
    // Neither option is used, so a driver needs no SQL.
    drv.sql = NULL;
    CHECK_INT(session(), 0);
    CHECK_STR(logged(), "");
    finish();
}

static void isolation_levels(void)
{
    begin();
    opts.isolation = SB_DB_READ_UNCOMMITTED;
    CHECK_INT(session(), 0);
    CHECK_STR(logged(), "query(ISOLATION READ UNCOMMITTED) free ");
    opts.isolation = SB_DB_READ_COMMITTED;
    CHECK_INT(session(), 0);
    CHECK_STR(logged(), "query(ISOLATION READ COMMITTED) free ");
    opts.isolation = SB_DB_REPEATABLE_READ;
    CHECK_INT(session(), 0);
    CHECK_STR(logged(), "query(ISOLATION REPEATABLE READ) free ");
    opts.isolation = SB_DB_SERIALIZABLE;
    CHECK_INT(session(), 0);
    CHECK_STR(logged(), "query(ISOLATION SERIALIZABLE) free ");
    // It is set first, and nothing follows a failure.
    opts.init_sql = "set a";
    CHECK_INT(session(), 0);
    CHECK_STR(
        logged(), "query(ISOLATION SERIALIZABLE) free query(set a) free ");
    fails = "ISOLATION SERIALIZABLE";
    CHECK_INT(session(), SB_EQUERY);
    CHECK_STR(logged(), "query(ISOLATION SERIALIZABLE) ");
    CHECK_STR(err.msg, "--db-isolation 'ISOLATION SERIALIZABLE': broken");
    CHECK_INT(err.code, SB_EQUERY);
    CHECK_INT(err.native, 7);
    finish();
}

static void all_results_are_read(void)
{
    begin();
    opts.init_sql = "several";
    sql_ops.next_result = next_result;
    more = 2;
    CHECK_INT(session(), 0);
    CHECK_STR(logged(), "query(several) next next next free ");
    fails = "next";
    CHECK_INT(session(), SB_EQUERY);
    CHECK_STR(logged(), "query(several) next free ");
    CHECK_STR(err.msg, "--db-init-sql 'several': the second one");
    finish();
}

static void drivers_without_them(void)
{
    begin();
    drv.isolation = NULL;
    opts.isolation = SB_DB_SERIALIZABLE;
    CHECK_INT(session(), SB_EUSAGE);
    CHECK_STR(err.msg,
        "--db-isolation: the fake driver does not support isolation levels");
    opts.isolation = SB_DB_ISOLATION_DEFAULT;
    opts.init_sql = "set a";
    drv.sql = NULL;
    CHECK_INT(session(), SB_EUSAGE);
    CHECK_STR(err.msg, "--db-init-sql: the fake driver does not support SQL");
    CHECK_STR(logged(), "");
    finish();
}

// The statements of a script follow those of the options, in their order.
static void after_a_reconnect(void)
{
    static const char text[] = "set b; not this";

    begin();
    opts.init_sql = "set a";
    CHECK_INT(sb_con_init_sql(&c.pub, text, 5), 0);
    CHECK_INT(sb_con_init_sql(&c.pub, "set c", 5), 0);
    CHECK_STR(logged(), ""); // the caller has executed them
    sb_err_clear(&err);
    CHECK_INT(sb__session_again(&c, &err), 0);
    CHECK_STR(
        logged(), "query(set a) free query(set b) free query(set c) free ");
    fails = "set b";
    CHECK_INT(sb__session_again(&c, &err), SB_EQUERY);
    CHECK_STR(logged(), "query(set a) free query(set b) ");
    CHECK_STR(err.msg, "the script's statement 'set b': broken");
    fails = "set a";
    CHECK_INT(sb__session_again(&c, &err), SB_EQUERY);
    CHECK_STR(logged(), "query(set a) ");
    fails = NULL;
    sb__session_done(&c);
    CHECK(c.init_sql == NULL);
    CHECK_INT(sb__session_again(&c, &err), 0);
    CHECK_STR(logged(), "query(set a) free ");
    finish();
}

CHECK_FILE
{
    RUN(nothing_by_default);
    RUN(isolation_levels);
    RUN(all_results_are_read);
    RUN(drivers_without_them);
    RUN(after_a_reconnect);
    return check_done();
}
