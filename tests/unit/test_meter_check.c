// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/meter.h"

#include "check.h"

static struct sb_run_opts o;
static struct sb_run run;
static struct sb_meter m;
static struct sb_run_result res;

static void reset(double max_failed)
{
    o = (struct sb_run_opts){ .max_failed = max_failed };
    run = (struct sb_run){ .o = &o };
    m = (struct sb_meter){ .run = &run, .phase = SB_PHASE_WARMUP };
    res = (struct sb_run_result){ .end = SB_END_LIMIT };
}

// Decides about a run with these events, some of whose users are busy: only the
// share of failed events counts.
static int decide(uint64_t completed, uint64_t failed)
{
    const struct sb_snap s = { .c = {
                                   .completed = completed, .failed = failed } };

    sb__meter_check_success(&m, &s, &s, 0, false, &res);
    return res.err.code;
}

static void the_share_of_failed_events_has_a_limit(void)
{
    reset(10);
    CHECK_INT(decide(90, 10), 0);
    CHECK_INT(res.end, SB_END_LIMIT);
    CHECK_INT(decide(89, 11), SB_ELIMIT);
    CHECK_INT(res.end, SB_END_FAILED);
    CHECK(strstr(res.err.msg, "11 of 100 events failed") != NULL);
}

static void a_run_whose_events_all_failed_has_failed(void)
{
    reset(100);
    CHECK_INT(decide(1, 99), 0);
    CHECK_INT(decide(0, 0), 0);
    CHECK_INT(decide(0, 5), SB_ELIMIT);
    CHECK_STR(res.err.msg, "all 5 events failed");
    reset(100);
    CHECK_INT(decide(0, 1), SB_ELIMIT);
    CHECK_STR(res.err.msg, "the only event failed");
}

// Their exit status says more than failed events.
static void other_ends_stay(void)
{
    reset(0);
    res.end = SB_END_SIGNAL;
    CHECK_INT(decide(1, 1), 0);
    CHECK_INT(res.end, SB_END_SIGNAL);
    reset(0);
    sb_err_set(&res.err, SB_ECONNECT, "the first error");
    res.end = SB_END_FAILED;
    CHECK_INT(decide(0, 1), SB_ECONNECT);
    CHECK_STR(res.err.msg, "the first error");
}

static void inconsistent_figures_fail_the_run(void)
{
    reset(100);
    sb_err_set(&m.broken, SB_EINTERNAL, "figures do not add up");
    CHECK_INT(decide(5, 0), SB_EINTERNAL);
    CHECK_INT(res.end, SB_END_FAILED);
    CHECK_STR(res.err.msg, "figures do not add up");
}

CHECK_FILE
{
    RUN(the_share_of_failed_events_has_a_limit);
    RUN(a_run_whose_events_all_failed_has_failed);
    RUN(other_ends_stay);
    RUN(inconsistent_figures_fail_the_run);
    return check_done();
}
