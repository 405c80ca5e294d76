// SPDX-License-Identifier: GPL-2.0-or-later
//
// Hits and misses: the results that count as one or the other, for each kind of
// statement and each way to execute it.
// Not with tsan: one thread.
#include "fake_recorded.h"

static const struct sb_result nothing = { .kind = SB_RESULT_NONE };
static const struct sb_result unknown = { .kind = SB_RESULT_UNKNOWN };
static const struct sb_result no_rows = { .kind = SB_RESULT_ROWS };
static const struct sb_result rows = { .kind = SB_RESULT_ROWS, .nrows = 3 };
static const struct sb_result no_write = { .kind = SB_RESULT_WRITE };
static const struct sb_result write = { .kind = SB_RESULT_WRITE,
    .affected = 2 };

// Returns "hits/misses of count" of an operation.
static const char *found(const char *name)
{
    static char text[64];
    const struct sb_op_tally *t;

    sb_rec_flush(rec);
    t = sb_rec_op_tally(rec, op_index(name));
    snprintf(text, sizeof(text), "%d/%d of %d", (int)t->hits, (int)t->misses,
        (int)t->count);
    return text;
}

static void run_text(const char *sql, const struct sb_result *res)
{
    fixed = res;
    sb_con_query(&c.pub, sql, strlen(sql));
    CHECK_INT(c.pub.error, SB_SQL_NONE);
}

static void texts(void)
{
    start_recorded();
    run_text("SELECT 1", &rows);
    run_text("SELECT 1", &no_rows);
    run_text("SELECT 1", &no_rows);
    CHECK_STR(found("select"), "1/2 of 3");
    // Some servers answer a write that changes no row like BEGIN.
    run_text("UPDATE t", &write);
    run_text("UPDATE t", &no_write);
    run_text("UPDATE t", &nothing);
    CHECK_STR(found("update"), "1/2 of 3");
    run_text("delete from t", &nothing);
    run_text("delete from t", &unknown);
    CHECK_STR(found("delete"), "0/1 of 2");
    // An INSERT does not search for rows.
    run_text("INSERT INTO t", &write);
    run_text("INSERT INTO t", &nothing);
    run_text("INSERT INTO t", &no_rows); // RETURNING
    CHECK_STR(found("insert"), "0/0 of 3");
    run_text("REPLACE INTO t", &nothing);
    CHECK_STR(found("replace"), "0/0 of 1");
    run_text("BEGIN", &nothing);
    CHECK_STR(found("begin"), "0/0 of 1");
    run_text("CREATE TABLE t", &nothing);
    CHECK_STR(found("create"), "0/0 of 1");
    // Every statement that returns rows is a read.
    run_text("SHOW TABLES", &no_rows);
    run_text("HANDLER t READ", &rows);
    CHECK_STR(found("query"), "1/1 of 2");
    run_text("UPDATE t RETURNING id", &no_rows);
    CHECK_STR(found("update"), "1/3 of 4");
    finish_recorded();
}

static void run_prepared(const char *sql, const struct sb_result *res)
{
    struct sb_stmt_handle *st = sb_stmt_open(&c.pub, sql, strlen(sql), "mine");

    fixed = res;
    sb_stmt_execute(st);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    sb_stmt_free(st);
}

static void statements(void)
{
    start_recorded();
    run_prepared("DELETE FROM t", &write);
    run_prepared("DELETE FROM t", &nothing);
    CHECK_STR(found("mine"), "1/1 of 2");
    c.emulate = true;
    run_prepared("DELETE FROM t", &nothing);
    run_prepared("DELETE FROM t", &write);
    CHECK_STR(found("mine"), "2/2 of 4");
    CHECK(strstr(logged(), "query(DELETE FROM t)") != NULL);
    finish_recorded();
}

static int pipeline_send(struct sb_conn *conn, const struct sb_item *items,
    uint32_t n, struct sb_err *err)
{
    return 0;
}

static int pipeline_receive(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err)
{
    *res = *fixed;
    return 0;
}

static int pipeline_end(struct sb_conn *conn, struct sb_err *err)
{
    return 0;
}

static void run_pipeline(const struct sb_result *res)
{
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    run_prepared("UPDATE t", res);
    sb_con_query(&c.pub, "SELECT 1", 8);
    CHECK_INT(sb_con_pipeline_run(&c.pub), 2);
}

static void pipelines(void)
{
    start_recorded();
    run_pipeline(&no_rows); // executed one by one
    run_pipeline(&rows);
    CHECK_STR(found("mine"), "1/1 of 2");
    CHECK_STR(found("select"), "1/1 of 2");
    sql_ops.pipeline_send = pipeline_send;
    sql_ops.pipeline_receive = pipeline_receive;
    sql_ops.pipeline_end = pipeline_end;
    run_pipeline(&no_rows);
    run_pipeline(&rows);
    CHECK_STR(found("mine"), "2/2 of 4");
    CHECK_STR(found("select"), "2/2 of 4");
    sql_ops.pipeline_send = NULL;
    sql_ops.pipeline_receive = NULL;
    sql_ops.pipeline_end = NULL;
    finish_recorded();
}

static int answer_own(
    struct sb_conn *conn, void *arg, struct sb_result *res, struct sb_err *err)
{
    *res = *fixed;
    return 0;
}

static void run_own(
    const char *name, enum sb_own_kind kind, const struct sb_result *res)
{
    const struct sb_own_call made = { .driver = &drv,
        .what = "command",
        .op = name,
        .kind = kind,
        .run = answer_own };

    fixed = res;
    CHECK_INT(host.call(&c.pub, &made), 0);
}

static void own_calls(void)
{
    start_recorded();
    run_own("find", SB_OWN_READ, &rows);
    run_own("find", SB_OWN_READ, &no_rows);
    CHECK_STR(found("find"), "1/1 of 2");
    run_own("update", SB_OWN_CHANGE, &write);
    run_own("update", SB_OWN_CHANGE, &no_write);
    CHECK_STR(found("update"), "1/1 of 2");
    run_own("delete", SB_OWN_CHANGE, &no_write);
    CHECK_STR(found("delete"), "0/1 of 1");
    run_own("insert", SB_OWN_WRITE, &no_write);
    run_own("insert", SB_OWN_WRITE, &write);
    CHECK_STR(found("insert"), "0/0 of 2");
    run_own("ping", SB_OWN_OTHER, &nothing);
    CHECK_STR(found("ping"), "0/0 of 1");
    finish_recorded();
}

CHECK_FILE
{
    RUN(texts);
    RUN(statements);
    RUN(pipelines);
    RUN(own_calls);
    return check_done();
}
