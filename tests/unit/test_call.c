// SPDX-License-Identifier: GPL-2.0-or-later
//
// Calls: their times, their counters, their errors.
#include "fake.h"

#define EPOCH (UINT64_C(1) << 62) // of the fake clock

static struct sb_stats stats;
static struct sb_rec *rec;
static int op;
static const struct sb__call_text text = { "query", "SELECT 1", 8, NULL, 0 };

static void start_calls(void)
{
    start();
    CHECK_INT(sb_stats_init(&stats, 1, 1, false), 0);
    rec = &stats.rec[0];
    ctx.rec = &rec;
    op = sb_stats_op(&stats, "op", SB_OP_READ);
    fake.ns0 = EPOCH + 1000;
}

static void finish_calls(void)
{
    finish();
    sb_stats_done(&stats);
    ctx.rec = &no_rec;
}

static const struct sb_op_tally *tally(void)
{
    sb_rec_flush(rec);
    return sb_rec_op_tally(rec, op);
}

static void timed_and_counted(void)
{
    struct sb__call call;

    start_calls();
    call = sb__call_begin(&c, op);
    CHECK_INT(call.start, EPOCH + 1000);
    fake.ns0 = EPOCH + 1700;
    c.res = (struct sb_result){ .kind = SB_RESULT_ROWS, .nrows = 3 };
    CHECK(sb__call_ends_well(&call, 0));
    CHECK_INT(tally()->count, 1);
    CHECK_INT(tally()->ns, 700);
    CHECK_INT(tally()->rows, 3);
    CHECK_INT(tally()->hits, 1);
    CHECK_INT(rec->tally.reads, 1);
    finish_calls();
}

// An UPDATE that changed no row does not count as a write.
static void counted_by_result(void)
{
    static const struct sb_result results[] = {
        { .kind = SB_RESULT_WRITE },
        { .kind = SB_RESULT_WRITE, .affected = 5 },
        { .kind = SB_RESULT_ROWS },
        { .kind = SB_RESULT_UNKNOWN },
    };

    start_calls();
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        struct sb__call call = sb__call_begin(&c, op);

        c.res = results[i];
        CHECK(sb__call_ends_well(&call, 0));
    }
    CHECK_INT(rec->tally.reads, 1);
    CHECK_INT(rec->tally.writes, 1);
    CHECK_INT(rec->tally.others, 2);
    CHECK_INT(tally()->rows, 5);
    finish_calls();
}

// What follows the answer is not part of the call.
static void ends_once(void)
{
    struct sb__call call;

    start_calls();
    c.debug = true;
    call = sb__call_begin(&c, op);
    fake.ns0 = EPOCH + 1200;
    CHECK(!sb__call_ends_well(&call, 0));
    fake.ns0 = EPOCH + 9000;
    CHECK_INT(sb__call_end(call, 0, &text), 0);
    CHECK_INT(tally()->ns, 200);
    c.debug = false;
    finish_calls();
}

static void failed(void)
{
    struct sb__call call;

    start_calls();
    call = sb__call_begin(&c, op);
    CHECK(!sb__call_ends_well(&call, SB_EQUERY));
    sb_err_clear(&c.err);
    CHECK_INT(sb__call_end(call, SB_EQUERY, &text), SB_EQUERY);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_STR(c.pub.sql_errmsg, sb_err_text(SB_EQUERY));
    CHECK_STR(sb_con_failed_sql(&c.pub), "SELECT 1");
    CHECK_INT(tally()->count, 0);
    CHECK_INT(tally()->errors, 1);
    finish_calls();
}

static void not_counted(void)
{
    struct sb__call call;

    start_calls();
    ctx.rec = &no_rec;
    call = sb__call_begin(&c, op);
    CHECK_INT(call.start, 0);
    CHECK_INT(call.op, -1);
    CHECK(sb__call_ends_well(&call, 0));
    sb__call_record(&call);
    CHECK_INT(sb__call_end(call, 0, &text), 0);
    CHECK_INT(tally()->count, 0);
    finish_calls();
}

static void recorded_since(void)
{
    struct sb__call call;

    start_calls();
    call = sb__call_since(&c, op, EPOCH + 400);
    sb__call_record(&call);
    CHECK_INT(tally()->ns, 600);
    CHECK_INT(rec->tally.others, 0); // not a query
    finish_calls();
}

// A user in a fiber: a call without a wait, and calls whose answer waited.
static void answers_that_waited_for_their_user(void)
{
    struct sb_fiber_waits waits = { .count = 5, .late = 300 };
    struct sb__call call;

    start_calls();
    CHECK_INT(sb_stats_add_delays(&stats), 0);
    ctx.waits = &waits;
    call = sb__call_begin(&c, op);
    fake.ns0 = EPOCH + 1700;
    CHECK(sb__call_ends_well(&call, 0));
    CHECK_INT(tally()->ns, 700);
    CHECK_INT(rec->tally.client_delays, 0);
    call = sb__call_begin(&c, op);
    fake.ns0 = EPOCH + 2700;
    waits = (struct sb_fiber_waits){ .count = 8,
        .late = 400 }; // earlier waits do not count
    CHECK(sb__call_ends_well(&call, 0));
    CHECK_INT(tally()->ns, 700 + 600);
    CHECK_INT(rec->tally.client_delays, 1);
    CHECK_INT(rec->tally.client_delay_ns, 400);
    // A call that fails delays its event as well. No call ends before it began.
    call = sb__call_begin(&c, op);
    fake.ns0 = EPOCH + 2800;
    waits = (struct sb_fiber_waits){ .count = 9, .late = 5000 };
    CHECK(!sb__call_ends_well(&call, SB_EQUERY));
    CHECK_INT(call.end, call.start);
    CHECK_INT(sb__call_end(call, SB_EQUERY, &text), SB_EQUERY);
    tally();
    CHECK_INT(rec->tally.client_delays, 2);
    CHECK_INT(sb_rec_delayed(rec), 400 + 100);
    ctx.waits = NULL;
    finish_calls();
}

static bool is_range(
    const struct sb_prefetch *p, unsigned slot, const void *start)
{
    uintptr_t first = p->range[slot] & ~(uintptr_t)63;

    return first == ((uintptr_t)start & ~(uintptr_t)63) &&
           (p->range[slot] & 63) > 0;
}

// A call says what its user's fiber uses when it continues.
static void what_is_prefetched(void)
{
    struct sb_prefetch p = { { 0 } };

    start_calls();
    sb__call_begin(&c, op);
    ctx.prefetch = &p;
    sb__call_begin(&c, -1);
    CHECK(is_range(&p, SB__PREFETCH_CONTEXT, &ctx));
    CHECK(is_range(&p, SB__PREFETCH_CONNECTION, &c));
    CHECK(is_range(&p, SB__PREFETCH_DRIVER_CONNECTION, c.conn));
    CHECK_INT(p.range[SB__PREFETCH_OPERATION], 0);
    sb__call_begin(&c, op);
    CHECK(is_range(&p, SB__PREFETCH_OPERATION, sb_rec_op_tally(rec, op)));
    ctx.prefetch = NULL;
    finish_calls();
}

// Two answers that one wait brought: each is earlier by its delay, which is
// that of one wait.
static void one_wait_for_two_answers(void)
{
    struct sb_fiber_waits waits = { .count = 1 };
    struct sb__call call[2];

    start_calls();
    CHECK_INT(sb_stats_add_delays(&stats), 0);
    ctx.waits = &waits;
    ctx.delayed = 0;
    call[0] = call[1] = sb__call_since(&c, op, EPOCH + 1000);
    waits = (struct sb_fiber_waits){ .count = 2, .late = 100 };
    fake.ns0 = EPOCH + 1500;
    CHECK(sb__call_ends_well(&call[0], 0));
    CHECK(sb__call_ends_well(&call[1], 0));
    CHECK_INT(tally()->ns, 2 * 400);
    CHECK_INT(rec->tally.client_delays, 1);
    CHECK_INT(sb_rec_delayed(rec), 100);
    ctx.waits = NULL;
    finish_calls();
}

static void refused(void)
{
    static const struct {
        enum sb__con_state state;
        int code;
        const char *text;
    } cases[] = {
        { SB__CON_CLOSED, SB_EUSAGE, "the connection is closed" },
        { SB__CON_AWAY, SB_ELOST, "the connection was lost" },
        { SB__CON_LOADING, SB_EUSAGE, "the connection is loading a table" },
        { SB__CON_BROKEN, 0, "" },
        { SB__CON_OPEN, 0, "" },
    };

    start_calls();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        c.state = cases[i].state;
        CHECK_INT(sb__call_ready(&c), cases[i].code);
        CHECK_STR(c.pub.sql_errmsg, cases[i].text);
    }
    finish_calls();
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL - 1);
    RUN(timed_and_counted);
    RUN(counted_by_result);
    RUN(ends_once);
    RUN(failed);
    RUN(not_counted);
    RUN(recorded_since);
    RUN(answers_that_waited_for_their_user);
    RUN(one_wait_for_two_answers);
    RUN(what_is_prefetched);
    RUN(refused);
    return check_done();
}
