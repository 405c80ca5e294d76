// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reports of this process, from snapshots.
#include "run/meter.h"

#include "check.h"
#include "run/group.h"

#define USERS  3
#define SECOND UINT64_C(1000000000)

static struct sb_run_opts o;
static struct sb_run run;
static struct sb_listener l;
static struct sb_meter m;
static struct sb_report seen; // the last report,
static unsigned reports;      // and their number
static bool kept;

static void tell(void *data, const struct sb_report *r)
{
    CHECK(data == &seen);
    seen = *r;
    reports++;
}

static bool judge(
    void *data, const struct sb_report *r, double *value, unsigned *missed)
{
    CHECK(data == &seen && r->final);
    *value = 7;
    *missed = 0;
    return kept;
}

// The measured part begins at 11 s, after a warm-up of one second.
static void reset(void)
{
    o = (struct sb_run_opts){ .threads = USERS, .warmup_time = SECOND };
    l = (struct sb_listener){ .data = &seen, .judge = judge };
    run = (struct sb_run){ .o = &o,
        .l = &l,
        .users = USERS,
        .open_loop = true,
        .t0 = 10 * SECOND,
        .warm_end = 11 * SECOND,
        .deadline = 100 * SECOND };
    m = (struct sb_meter){
        .run = &run, .phase = SB_PHASE_MEASURED, .phase_start = run.warm_end
    };
    seen = (struct sb_report){ .final = false };
    reports = 0;
}

static struct sb_snap at(uint64_t ns)
{
    return (struct sb_snap){ .ns = ns,
        .scheduled = 20,
        .skipped = 3,
        .unfinished = 2,
        .running = 1,
        .c = { .started = 10 } };
}

static void figures_of_a_moment(void)
{
    const struct sb_snap diff = { .ns = 2 * SECOND, .scheduled = 5 };
    struct sb_snap s = at(15 * SECOND);
    struct sb_report r;

    reset();
    sb__meter_report_fill(&m, &r, &diff, &s);
    CHECK(r.snap == &diff);
    CHECK(r.interval_s == 2);
    CHECK(r.total_s == 4);
    CHECK_INT(r.start_ns, 11 * SECOND);
    CHECK_INT(r.queue, 7); // of all, not those of the interval
    CHECK_INT(r.concurrency, 2);
    CHECK_INT(r.running, 1);
    CHECK_INT(r.threads, USERS);
    CHECK(r.open_loop && !r.warmup && !r.final);
    CHECK(r.warmup_s == 1);
    CHECK(r.stats == &run.stats[SB_PHASE_MEASURED]);
    CHECK(r.stage_name == NULL);
    // Counters are read one after the other: the difference may be negative.
    s.scheduled = 12;
    sb__meter_report_fill(&m, &r, &diff, &s);
    CHECK_INT(r.queue, 0);
}

static void figures_of_the_warmup(void)
{
    const struct sb_snap diff = { .ns = SECOND / 2 };
    struct sb_snap s = at(10 * SECOND + SECOND / 2);
    struct sb_report r;

    reset();
    m.phase = SB_PHASE_WARMUP;
    m.phase_start = run.t0;
    sb__meter_report_fill(&m, &r, &diff, &s);
    CHECK(r.warmup);
    CHECK(r.total_s == 0.5);
    CHECK(r.stats == &run.stats[SB_PHASE_WARMUP]);
    // The warm-up of a search is a part of its own.
    run.searching = true;
    sb__meter_report_fill(&m, &r, &diff, &s);
    CHECK(r.warmup_s == 0);
}

static void users_that_end_at_the_limit_have_run(void)
{
    const struct sb_snap diff = { .ns = SECOND };
    struct sb_snap s = at(100 * SECOND - 1);
    struct sb_report r;

    reset();
    sb__meter_report_fill(&m, &r, &diff, &s);
    CHECK_INT(r.running, 1);
    s.ns = 100 * SECOND;
    sb__meter_report_fill(&m, &r, &diff, &s);
    CHECK_INT(r.running, USERS);
}

static void the_stage_is_that_of_the_middle(void)
{
    struct sb_snap s = at(16 * SECOND), diff = { .ns = 4 * SECOND };
    struct sb_report r;
    struct sb_err err;

    reset();
    run.staged = true;
    CHECK_INT(
        sb_stages_parse(&o.stages, "a: threads=1 for 3s; b: threads=3 for 9s",
            USERS, 0, NULL, &err),
        0);
    sb__meter_report_fill(&m, &r, &diff, &s); // from 1 s to 5 s
    CHECK_STR(r.stage_name, "b");
    diff.ns = 4 * SECOND + 4;
    sb__meter_report_fill(&m, &r, &diff, &s);
    CHECK_STR(r.stage_name, "a");
    CHECK_INT(r.stage_users[0], 1);
}

// A snapshot of users, so that the sanitizer sees if it is lost or freed twice.
static void begin_at(struct sb_snap *s, uint64_t ns)
{
    *s = at(ns);
    s->user_events = calloc(USERS, sizeof(*s->user_events));
}

static void a_checkpoint_begins_the_next(void)
{
    const struct sb_snap diff = { .ns = SECOND };
    struct sb_snap s;

    reset();
    begin_at(&s, 12 * SECOND);
    sb__meter_report_cumulative(&m, &s, &diff, tell, false, NULL);
    CHECK_INT(reports, 1);
    CHECK(!seen.final && !seen.whole && !seen.failure);
    CHECK(seen.snap == &diff);
    CHECK_INT(m.checkpoint.ns, 12 * SECOND);
    CHECK(s.user_events == NULL);
    CHECK_INT(s.ns, 0);
    begin_at(&s, 13 * SECOND);
    sb__meter_report_cumulative(&m, &s, &diff, NULL, false, NULL);
    CHECK_INT(reports, 1);
    CHECK_INT(m.checkpoint.ns, 13 * SECOND);
    sb_snap_done(&m.checkpoint);
}

static void finish(struct sb_snap *s, const struct sb_snap *diff)
{
    begin_at(s, 15 * SECOND);
    sb__meter_report_cumulative(&m, s, diff, tell, true, "it failed");
    sb_snap_done(&m.checkpoint);
}

static void the_final_report_has_the_whole(void)
{
    const struct sb_snap diff = { .ns = SECOND };
    struct sb_rank_figures figures[2];
    struct sb_report stages[2];
    struct sb_group group = { .ranks = 2, .figures = figures };
    struct sb_snap s;

    reset();
    m.stages = stages;
    m.nstages = 2;
    finish(&s, &diff);
    CHECK(seen.final);
    CHECK(seen.whole == &s && seen.snap == &diff);
    CHECK_STR(seen.failure, "it failed");
    CHECK_INT(seen.running, USERS);
    CHECK(seen.stages == stages);
    CHECK_INT(seen.nstages, 2);
    CHECK(seen.ranks == NULL && seen.search == NULL);
    run.group = &group;
    finish(&s, &diff);
    CHECK(seen.ranks == figures);
    CHECK_INT(seen.nranks, 2);
}

static void the_final_report_of_a_search(void)
{
    const struct sb_snap diff = { .ns = SECOND };
    struct sb_snap s;

    reset();
    o.rate_percent = 80;
    finish(&s, &diff);
    CHECK(seen.search == &run.search.found);
    CHECK(!run.search.found.judged); // there are no limits
    o.rate_percent = 0;
    o.rate_search = kept = true;
    finish(&s, &diff);
    CHECK(run.search.found.judged && run.search.found.kept);
    CHECK(run.search.found.value == 7);
    kept = false;
    finish(&s, &diff);
    CHECK(run.search.found.judged && !run.search.found.kept);
    // It was interrupted: parts with different loads are not added.
    run.searching = true;
    finish(&s, &diff);
    CHECK(seen.whole == &diff);
    CHECK(!run.search.found.judged);
}

CHECK_FILE
{
    RUN(figures_of_a_moment);
    RUN(figures_of_the_warmup);
    RUN(users_that_end_at_the_limit_have_run);
    RUN(the_stage_is_that_of_the_middle);
    RUN(a_checkpoint_begins_the_next);
    RUN(the_final_report_has_the_whole);
    RUN(the_final_report_of_a_search);
    return check_done();
}
