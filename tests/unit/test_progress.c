// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "check.h"
#include "out/progress.h"

// An interval of 2 s with 100 events of 4 ms, after `total` seconds.
static void fill(struct sb_snap *s, struct sb_report *r, double total)
{
    memset(s, 0, sizeof(*s));
    s->ns = UINT64_C(2000000000);
    s->running = 8;
    s->c.completed = 100;
    sb_hist_snap_put(&s->service, sb_hist_index(4000000), 100);
    s->service_max = 4000000;
    sb_report_fill(r, s, 8, false, total);
}

static void check_line(const struct sb_report *r, double seconds,
    uint64_t events, double pct, uint64_t done, const char *want)
{
    const struct sb_progress_plan plan = { seconds, events, pct };
    char line[200];

    sb_progress_text(line, sizeof(line), r, &plan, done);
    CHECK_STR(line, want);
}

static void time_left(void)
{
    struct sb_snap s;
    struct sb_report r;

    fill(&s, &r, 10);
    check_line(
        &r, 60, 0, 95, 500, "0:50 left: 8 users, 50 events/s, p95 4.00 ms");
    check_line(&r, 7210, 0, 0, 500, "2:00:00 left: 8 users, 50 events/s");
    // 1,000 events take 20 s.
    check_line(&r, 0, 1500, 0, 500, "0:20 left: 8 users, 50 events/s");
    check_line(&r, 15, 1500, 0, 500, "0:05 left: 8 users, 50 events/s");
    check_line(&r, 0, 0, 0, 500, "0:10 so far: 8 users, 50 events/s");
    // Late at the end.
    check_line(&r, 9, 0, 0, 500, "0:00 left: 8 users, 50 events/s");
    sb_snap_done(&s);
}

static void warm_up_queue_and_errors(void)
{
    struct sb_snap s;
    struct sb_report r;

    fill(&s, &r, 10);
    r.warmup = true;
    r.warmup_s = 30;
    check_line(&r, 60, 0, 0, 0, "warm-up, 0:20 left: 8 users, 50 events/s");
    r.warmup = false;
    r.errors = 3;
    r.open_loop = true;
    r.queue = 17;
    check_line(&r, 60, 0, 0, 500,
        "0:50 left: 8 users, 50 events/s, 1.5 errors/s, queue 17");
    sb_snap_done(&s);
}

static void nothing_happened(void)
{
    struct sb_snap s = { 0 };
    struct sb_report r;

    sb_report_fill(&r, &s, 1, false, 0);
    check_line(&r, 10, 100, 95, 0, "0:10 left: 0 users, 0 events/s");
}

static void short_buffers_are_kept(void)
{
    struct sb_snap s;
    struct sb_report r;
    const struct sb_progress_plan plan = { 60, 0, 95 };
    char line[8];

    fill(&s, &r, 10);
    sb_progress_text(line, sizeof(line), &r, &plan, 0);
    CHECK(strlen(line) < sizeof(line));
    sb_snap_done(&s);
}

static void check_search(struct sb_searching now, const char *want)
{
    char line[120];

    sb_progress_search(line, sizeof(line), &now);
    CHECK_STR(line, want);
}

static void searches(void)
{
    check_search((struct sb_searching){ .warmup = true, .left = 65 },
        "warm-up: 1:05 left");
    check_search((struct sb_searching){ .max_trials = 20, .left = 3 },
        "maximum of a closed loop: 0:03 left");
    check_search(
        (struct sb_searching){
            .trial = 3, .max_trials = 20, .rate = 1234.4, .left = 4.6 },
        "trial 3 of at most 20: 1234 events/s, 0:05 left");
}

static void pauses(void)
{
    char line[120];

    sb_progress_pause(line, sizeof(line), 2, 15, 65);
    CHECK_STR(line, "pause, 1:05 left until run 2/15");
}

static void runs_of_a_sweep(void)
{
    char line[200];

    sb_progress_run(line, sizeof(line), 3, 15, 165, "0:05 left: 8 users");
    CHECK_STR(line, "run 3/15 (last ends in 2:45), 0:05 left: 8 users");
    sb_progress_run(line, sizeof(line), 3, 15, NAN, "0:05 left: 8 users");
    CHECK_STR(line, "run 3/15, 0:05 left: 8 users");
    // The last run takes longer than the others.
    sb_progress_run(line, sizeof(line), 15, 15, -3, "0:05 left: 8 users");
    CHECK_STR(line, "run 15/15 (last ends in 0:00), 0:05 left: 8 users");
}

CHECK_FILE
{
    RUN(runs_of_a_sweep);
    RUN(pauses);
    RUN(searches);
    RUN(time_left);
    RUN(warm_up_queue_and_errors);
    RUN(nothing_happened);
    RUN(short_buffers_are_kept);
    return check_done();
}
