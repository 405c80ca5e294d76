// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/watch.h"

#include <signal.h>

#include "check.h"
#include "kit/clock.h"
#include "run/group.h"

#define SECOND SB_SECOND

static struct sb_run_opts o;
static struct sb_run run;

static void reset(void)
{
    o = (struct sb_run_opts){ .shutdown_grace = (int64_t)(2 * SECOND),
        .forced_shutdown_ns = -1 };
    run = (struct sb_run){ .o = &o, .deadline = 100 * SECOND };
}

static void half_of_the_grace_precedes_a_cancel(void)
{
    struct sb__watch w = { 0 };

    reset();
    CHECK_INT(sb__watch_next(&w, &run, 7 * SECOND), 7 * SECOND);
    CHECK_INT(sb__watch_next(&w, &run, UINT64_MAX), 100 * SECOND);
    sb__watch_stop(&w, &run, 10 * SECOND);
    CHECK_INT(w.stopped_at, 10 * SECOND);
    CHECK_INT(w.cancel_at, 11 * SECOND);
    CHECK_INT(w.leave_at, 12 * SECOND);
    CHECK(w.force_at == UINT64_MAX);
    // Reports after the stop are not due.
    CHECK_INT(sb__watch_next(&w, &run, 10 * SECOND), 10 * SECOND);
    CHECK_INT(sb__watch_next(&w, &run, 10 * SECOND + 1), 11 * SECOND);
}

static void slow_events_have_more_time(void)
{
    struct sb__watch w = { 0 };

    reset();
    sb_stats_init(&run.stats[SB_PHASE_MEASURED], 2, 2, false);
    sb_rec_event(&run.stats[SB_PHASE_MEASURED].rec[1], 0, 0, 3 * SECOND);
    sb__watch_stop(&w, &run, 10 * SECOND);
    CHECK_INT(w.leave_at, 25 * SECOND);
    sb_stats_done(&run.stats[SB_PHASE_MEASURED]);
}

static void a_forced_end_follows_the_deadline(void)
{
    struct sb__watch w = { 0 };

    reset();
    o.forced_shutdown_ns = (int64_t)(SECOND / 2);
    sb__watch_stop(&w, &run, 50 * SECOND); // not at the deadline
    CHECK(w.force_at == UINT64_MAX);
    w = (struct sb__watch){ 0 };
    sb__watch_stop(&w, &run, 101 * SECOND);
    CHECK_INT(w.stopped_at, 100 * SECOND);
    CHECK_INT(w.force_at, 100 * SECOND + SECOND / 2);
    CHECK_INT(sb__watch_next(&w, &run, UINT64_MAX), w.force_at);
}

// A launcher kills its processes this time after SIGTERM.
static void a_group_hurries_after_sigterm(void)
{
    struct sb_group group = { .kill_after = SECOND };
    struct sb__watch w = { 0 };

    reset();
    run.signal = SIGTERM;
    run.group = &group;
    sb__watch_stop(&w, &run, 10 * SECOND);
    CHECK_INT(w.leave_at, 10 * SECOND + SECOND * 4 / 10);
    group.kill_after = SECOND / 4;
    w = (struct sb__watch){ 0 };
    sb__watch_stop(&w, &run, 10 * SECOND);
    CHECK_INT(w.cancel_at, 10 * SECOND + SECOND / 20);
    CHECK_INT(w.leave_at, 10 * SECOND + SECOND / 10);
    run.signal = SIGINT;
    w = (struct sb__watch){ 0 };
    sb__watch_stop(&w, &run, 10 * SECOND);
    CHECK_INT(w.leave_at, 12 * SECOND);
}

static void a_command_may_take_as_long_to_remove(void)
{
    struct sb__watch w = { 0 };

    reset();
    sb__watch_stop_task(&w, &run, 10 * SECOND, 40 * SECOND);
    CHECK_INT(w.cancel_at, 41 * SECOND);
    CHECK_INT(w.force_at, 70 * SECOND);
    CHECK_INT(w.leave_at, 100 * SECOND);
    // An early signal: at least the grace.
    w = (struct sb__watch){ 0 };
    sb__watch_stop_task(&w, &run, 10 * SECOND, 11 * SECOND);
    CHECK_INT(w.force_at, 13 * SECOND);
    CHECK_INT(w.leave_at, 15 * SECOND);
}

static void own_delays_do_not_count(void)
{
    struct sb__watch w = { 0 };

    reset();
    CHECK_INT(sb__watch_extend(&w, 5 * SECOND, 8 * SECOND), 0);
    CHECK_INT(w.cancel_at, 0);
    sb__watch_stop(&w, &run, 10 * SECOND);
    w.force_at = 20 * SECOND;
    CHECK_INT(sb__watch_extend(&w, 11 * SECOND, 14 * SECOND), 3 * SECOND);
    CHECK_INT(w.cancel_at, 14 * SECOND);
    CHECK_INT(w.leave_at, 15 * SECOND);
    CHECK_INT(w.force_at, 20 * SECOND);
    CHECK_INT(sb__watch_extend(&w, 11 * SECOND, 11 * SECOND), 0);
}

CHECK_FILE
{
    RUN(half_of_the_grace_precedes_a_cancel);
    RUN(slow_events_have_more_time);
    RUN(a_forced_end_follows_the_deadline);
    RUN(a_group_hurries_after_sigterm);
    RUN(a_command_may_take_as_long_to_remove);
    RUN(own_delays_do_not_count);
    return check_done();
}
