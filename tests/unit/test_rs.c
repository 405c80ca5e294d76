// SPDX-License-Identifier: GPL-2.0-or-later
//
// Statements with several results, on a fake driver in this file.
#include <stdlib.h>

#include "check.h"
#include "db/call.h"
#include "db/con.h"
#include "loop/fiber.h"

// The driver's results, one letter per result: r rows, w changes, n nothing,
// e an error.
static const char *results;
static int freed;
static struct sb_fiber_waits *waits_of_next; // NULL: it does not wait

static int step(struct sb_result *res, struct sb_err *err)
{
    char kind = *results;

    *res = (struct sb_result){ 0 };
    if (kind)
        results++;
    if (kind == 'e')
        return sb_err_native(err, SB_EQUERY, 7, "HY000", "broken");
    if (kind == 'r')
        *res = (struct sb_result){
            .kind = SB_RESULT_ROWS, .nrows = 1, .nfields = 1
        };
    else if (kind == 'w')
        *res = (struct sb_result){ .kind = SB_RESULT_WRITE, .affected = 2 };
    res->more = *results != '\0';
    return kind ? 1 : 0;
}

static int query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    int rc;

    results = sql;
    rc = step(res, err);
    return rc < 0 ? rc : 0;
}

static int next_result(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err)
{
    if (waits_of_next)
        waits_of_next->count++;
    return step(res, err);
}

static int fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    cells[0] = (struct sb_cell){ "x", 1 };
    return 1;
}

static void free_result(struct sb_conn *conn, struct sb_result *res)
{
    freed++;
}

static const struct sb_sql_ops sql_ops = {
    .query = query,
    .fetch = fetch,
    .next_result = next_result,
    .free_result = free_result,
};
static const struct sb_generic_ops generic_ops;
static const struct sb_driver drv = {
    .name = "fake", .generic = &generic_ops, .sql = &sql_ops
};
static const struct sb_clock still;
static struct sb_rec *const no_rec; // nothing is recorded
static struct sb_db_ctx ctx = { .rec = &no_rec, .clock = &still };
static const struct sb_db_opts opts;
static struct sb_drivers owner = { .opts = &opts };
static struct sb_db db = { .owner = &owner, .drv = &drv };
static struct sb__inst inst = { .db = &db };

static struct sb_con_priv c;

static struct sb_rs *start(const char *text)
{
    free(c.failed_sql);
    c = (struct sb_con_priv){ .ctx = &ctx,
        .inst = &inst,
        .drv = &drv,
        .sql = &sql_ops,
        .state = SB__CON_OPEN };
    c.pub.sql_state = c.pub.sql_errmsg = "";
    freed = 0;
    return sb_con_query(&c.pub, text, strlen(text));
}

// Reads all results as scripts of 1.1 do. Returns one letter per result: r for
// rows, - for none. ask: calls more_results(); release: frees each result.
static const char *walk(const char *text, bool ask, bool release)
{
    static char out[32];
    struct sb_rs *rs = start(text);
    size_t n = 0;

    while (n < sizeof(out) - 1) {
        out[n++] = rs ? 'r' : '-';
        if (rs && release)
            sb_rs_free(rs);
        if (ask && sb_rs_more(&c.pub) != 1)
            break;
        rs = sb_rs_next(&c.pub);
        if (!ask && !rs)
            break;
    }
    out[n] = '\0';
    return out;
}

static void several(void)
{
    CHECK_STR(walk("r", true, false), "r");
    CHECK_STR(walk("rrr", true, false), "rrr");
    CHECK_STR(walk("rwr", true, false), "r-r");
    CHECK_STR(walk("wnr", true, false), "--r");
    CHECK_STR(walk("rwr", true, true), "r-r");
    CHECK_STR(walk("rr", false, true), "rr");
    CHECK_INT(freed, 1);
    CHECK_INT(c.outcome, SB__OUTCOME_NONE);
}

static void looking_ahead(void)
{
    struct sb_sql_cell cell;
    struct sb_rs *rs = start("rrw"), *first = rs;

    CHECK_INT(sb_rs_fetch(rs, &cell), 1);
    CHECK_INT(sb_rs_more(&c.pub), 1);
    CHECK_INT(sb_rs_more(&c.pub), 1);
    // The result is still open.
    CHECK_INT(sb_rs_fetch(rs, &cell), 1);
    rs = sb_rs_next(&c.pub);
    CHECK(rs != NULL);
    CHECK_INT(sb_rs_fetch(first, &cell), SB_EUSAGE);
    CHECK_INT(sb_rs_fetch(rs, &cell), 1);
    CHECK_INT(sb_rs_more(&c.pub), 1);
    CHECK(sb_rs_next(&c.pub) == NULL);
    CHECK_INT(sb_con_affected(&c.pub), 2);
    CHECK_INT(sb_rs_more(&c.pub), 0);
    CHECK(sb_rs_next(&c.pub) == NULL);
    CHECK_INT(freed, 0);
    // The last result stays open, too.
    rs = start("r");
    CHECK_INT(sb_rs_more(&c.pub), 0);
    CHECK(sb_rs_next(&c.pub) == NULL);
    CHECK_INT(sb_rs_fetch(rs, &cell), 1);
    // The next statement discards the results that were not requested.
    start("rr");
    CHECK_INT(sb_rs_more(&c.pub), 1);
    CHECK(sb_con_query(&c.pub, "r", 1) != NULL);
    CHECK_INT(freed, 1);
    CHECK_INT(sb_rs_more(&c.pub), 0);
}

static void freeing(void)
{
    struct sb_sql_cell cell;
    struct sb_rs *rs = start("rr");

    sb_rs_free(rs);
    CHECK_INT(freed, 0);
    CHECK_INT(sb_rs_fetch(rs, &cell), SB_EUSAGE);
    rs = sb_rs_next(&c.pub);
    CHECK(rs != NULL);
    CHECK_INT(sb_rs_fetch(rs, &cell), 1);
    CHECK(sb_con_query(&c.pub, "w", 1) == NULL);
    CHECK_INT(freed, 1);
}

static void failing(void)
{
    CHECK(start("re") != NULL);
    CHECK_INT(sb_rs_more(&c.pub), 1);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    CHECK(sb_rs_next(&c.pub) == NULL);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_INT(c.pub.sql_errno, 7);
    start("w");
    CHECK_INT(c.pub.error, SB_SQL_NONE);
}

// A user in a fiber that waits late for a result, which is an error.
static void failing_late(void)
{
    struct sb_fiber_waits waits = { .count = 1 };
    struct sb_clock clock = { .ns0 = UINT64_C(1) << 62 }; // stands still
    struct sb_stats stats;
    struct sb_rec *rec;

    CHECK_INT(sb_stats_init(&stats, 1, 1, false), 0);
    CHECK_INT(sb_stats_add_delays(&stats), 0);
    rec = &stats.rec[0];
    ctx.clock = &clock;
    ctx.waits = &waits;
    CHECK(start("re") != NULL);
    ctx.rec = &rec;
    waits_of_next = &waits;
    CHECK(sb_rs_next(&c.pub) == NULL);
    sb_rec_flush(rec);
    CHECK_INT(rec->tally.client_delays, 1);
    waits_of_next = NULL;
    ctx = (struct sb_db_ctx){ .rec = &no_rec, .clock = &still };
    sb_stats_done(&stats);
}

// The statement as error messages show it.
static void failed_statement(void)
{
    char text[400], want[300];

    start("e");
    CHECK_STR(sb_con_failed_sql(&c.pub), "e");
    start("e  \n\tSELECT 1");
    CHECK_STR(sb_con_failed_sql(&c.pub), "e SELECT 1");
    memset(text, 'e', sizeof(text));
    text[200] = '\0';
    start(text);
    CHECK_STR(sb_con_failed_sql(&c.pub), text);
    text[200] = 'e';
    text[201] = '\0';
    start(text);
    snprintf(want, sizeof(want), "%.200s...", text);
    CHECK_STR(sb_con_failed_sql(&c.pub), want);
    // A three-byte character at the limit is removed as a whole.
    memcpy(text + 198, "\xe2\x82\xac", 3);
    start(text);
    snprintf(want, sizeof(want), "%.198s...", text);
    CHECK_STR(sb_con_failed_sql(&c.pub), want);
    // The next statement clears it.
    CHECK(sb_con_query(&c.pub, "r", 1) != NULL);
    CHECK_STR(sb_con_failed_sql(&c.pub), "");
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL);
    RUN(several);
    RUN(looking_ahead);
    RUN(freeing);
    RUN(failing);
    RUN(failing_late);
    RUN(failed_statement);
    free(c.failed_sql);
    return check_done();
}
