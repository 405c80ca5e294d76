// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bulk inserts: when statements are sent, and what they consist of.
#include "db/sql/sql.h"
#include "fake.h"

#define LIMIT (512u * 1024)
#define HEAD  "insert into t values"

static size_t sizes[8]; // of the statements that were sent
static unsigned nsizes;
static char first[64], last_byte;
static int fails;

static int query_sized(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    note("query ");
    snprintf(first, sizeof(first), "%.*s", (int)(len < 60 ? len : 60), sql);
    last_byte = sql[len - 1];
    if (nsizes < 8)
        sizes[nsizes++] = len;
    return fails ? sb_err_native(err, SB_EQUERY, 7, "HY000", "broken") : 0;
}

static void begin(void)
{
    sql_ops.query = query_sized;
    start();
    nsizes = 0;
    fails = 0;
}

static int init(void)
{
    return sb_con_bulk_init(&c.pub, HEAD, strlen(HEAD));
}

static int next(const char *row)
{
    return sb_con_bulk_next(&c.pub, row, strlen(row));
}

static void rows_are_one_statement(void)
{
    begin();
    CHECK_INT(init(), 0);
    CHECK_INT(next("(1)"), 0);
    CHECK_INT(next("(2)"), 0);
    CHECK_INT(nsizes, 0);
    CHECK_INT(sb_con_bulk_done(&c.pub), 0);
    CHECK_INT(nsizes, 1);
    CHECK_STR(first, HEAD " (1),(2)");
    CHECK_INT(sb_con_bulk_done(&c.pub), 0); // there is no other
    CHECK_INT(nsizes, 1);
    CHECK(c.bulk.data == NULL);
    finish();
}

static void no_rows_are_no_statement(void)
{
    begin();
    CHECK_INT(sb_con_bulk_done(&c.pub), 0);
    CHECK_INT(init(), 0);
    CHECK_INT(sb_con_bulk_done(&c.pub), 0);
    CHECK_INT(nsizes, 0);
    finish();
}

// A statement has at most LIMIT bytes: the last row that fits is in it.
static void statements_have_a_maximum_length(void)
{
    static char row[LIMIT];
    size_t head = strlen(HEAD) + 1, half = (LIMIT - head - 1) / 2;

    begin();
    memset(row, 'x', sizeof(row));
    CHECK_INT(init(), 0);
    CHECK_INT(sb_con_bulk_next(&c.pub, row, half), 0);
    CHECK_INT(sb_con_bulk_next(&c.pub, row, LIMIT - head - 1 - half), 0);
    CHECK_INT(nsizes, 0);
    CHECK_INT(next("y"), 0);
    CHECK_INT(nsizes, 1);
    CHECK_INT(sizes[0], LIMIT);
    CHECK(last_byte == 'x');
    CHECK_INT(sb_con_bulk_done(&c.pub), 0);
    CHECK_INT(nsizes, 2);
    CHECK_STR(first, HEAD " y");
    // A row of its own.
    CHECK_INT(init(), 0);
    CHECK_INT(sb_con_bulk_next(&c.pub, row, LIMIT - head), 0);
    CHECK_INT(sb_con_bulk_done(&c.pub), 0);
    CHECK_INT(sizes[2], LIMIT);
    CHECK_INT(init(), 0);
    CHECK_INT(sb_con_bulk_next(&c.pub, row, LIMIT - head + 1), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg,
        "Query length exceeds the maximum value (524288), aborting");
    CHECK_INT(sb_con_bulk_done(&c.pub), 0);
    CHECK_INT(nsizes, 3);
    finish();
}

static void rows_that_fail_are_not_sent_again(void)
{
    begin();
    CHECK_INT(init(), 0);
    CHECK_INT(next("(1)"), 0);
    fails = 1;
    CHECK_INT(sb_con_bulk_done(&c.pub), SB_EQUERY);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_STR(c.pub.sql_errmsg, "broken");
    fails = 0;
    CHECK_INT(init(), 0);
    CHECK_INT(next("(2)"), 0);
    CHECK_INT(sb_con_bulk_done(&c.pub), 0);
    CHECK_STR(first, HEAD " (2)");
    finish();
}

static void wrong_use(void)
{
    static const char long_text[LIMIT];

    begin();
    CHECK_INT(next("(1)"), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg,
        "attempt to call bulk_insert_next() before bulk_insert_init()");
    CHECK_INT(sb_con_bulk_init(&c.pub, "", 0), SB_EUSAGE);
    CHECK_STR(
        c.pub.sql_errmsg, "attempt to begin a bulk insert without a statement");
    CHECK_INT(sb_con_bulk_init(&c.pub, long_text, LIMIT), SB_EUSAGE);
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    CHECK_INT(init(), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "bulk_insert_init()") != NULL);
    sb_con_pipeline_drop(&c.pub);
    CHECK_INT(init(), 0);
    CHECK_INT(next("(1)"), 0);
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    CHECK_INT(sb_con_bulk_done(&c.pub), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "a bulk insert") != NULL);
    CHECK_INT(nsizes, 0);
    finish();
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL - 1);
    RUN(rows_are_one_statement);
    RUN(no_rows_are_no_statement);
    RUN(statements_have_a_maximum_length);
    RUN(rows_that_fail_are_not_sent_again);
    RUN(wrong_use);
    return check_done();
}
