// SPDX-License-Identifier: GPL-2.0-or-later
//
// The result that a connection has: one at a time, in one of four places.
#include "fake.h"

static struct sb_rs *next_rows(uint64_t nrows)
{
    c.res = (struct sb_result){
        .kind = SB_RESULT_ROWS, .nrows = nrows, .nfields = 1, .insert_id = 7
    };
    return sb__result_new(&c, NULL);
}

static void places_are_reused(void)
{
    struct sb_rs *first, *rs;

    start();
    first = next_rows(1);
    CHECK_INT(first->nrows, 1);
    CHECK_INT(first->insert_id, 7);
    CHECK(first->connection == &c.pub);
    for (unsigned i = 1; i < SB__RESULTS; i++) {
        rs = next_rows(i + 1);
        CHECK(rs != first && first->nrows == 1);
    }
    CHECK(next_rows(9) == first && first->nrows == 9);
    finish();
}

static void only_rows_have_a_place(void)
{
    unsigned place;

    start();
    place = c.rs_now;
    c.res = (struct sb_result){ .kind = SB_RESULT_WRITE, .affected = 2 };
    CHECK(sb__result_new(&c, NULL) == NULL);
    CHECK_INT(c.rs_now, place);
    CHECK_INT(c.outcome, SB__OUTCOME_SQL); // the driver may have to free it
    finish();
}

static int ended;

static void count_end(struct sb_conn *conn, struct sb_result *res)
{
    ended++;
}

static void ends_once(void)
{
    start();
    sql_ops.free_result = count_end;
    sb__result_end(&c);
    CHECK_INT(ended, 0);
    next_rows(1);
    sb__result_end(&c);
    CHECK_INT(ended, 1);
    CHECK_INT(c.outcome, SB__OUTCOME_NONE);
    sb__result_end(&c);
    CHECK_INT(ended, 1);
    c.outcome = SB__OUTCOME_DROPPED;
    sb__result_end(&c);
    CHECK_INT(ended, 2);
    sql_ops.free_result = free_result;
    finish();
}

CHECK_FILE
{
    RUN(places_are_reused);
    RUN(only_rows_have_a_place);
    RUN(ends_once);
    return check_done();
}
