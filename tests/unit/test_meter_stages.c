// SPDX-License-Identifier: GPL-2.0-or-later
//
// Figures of stages of a process; those of several ranks: test_joint_sections.
#include "run/meter.h"

#include "check.h"
#include "run/meter.h"
#include "run/user_private.h"

#define USERS  2
#define SECOND UINT64_C(1000000000)

static struct sb_run_opts o;
static struct sb_run run;
static struct sb_user user[USERS];
static struct sb_user_priv priv[USERS];
static struct sb_listener l;
static struct sb_meter m;
static unsigned told;
static char names[3][8];
static uint64_t events[3];
static double lengths[3];

static void on_stage(void *data, const struct sb_report *r)
{
    CHECK(data == &told);
    if (told < 3) {
        snprintf(names[told], sizeof(names[told]), "%s", r->stage_name);
        events[told] = r->snap->c.completed;
        lengths[told] = r->interval_s;
    }
    told++;
}

// Three stages: from 10 s, 11 s and 13 s on, until 16 s.
static void reset(void)
{
    struct sb_err err;

    o = (struct sb_run_opts){ .threads = USERS };
    CHECK_INT(
        sb_stages_parse(&o.stages,
            "a: threads=1 for 1s; b: threads=2 for 2s; c: threads=1 for 3s", 1,
            0, NULL, &err),
        0);
    l = (struct sb_listener){ .data = &told, .stage = on_stage };
    run = (struct sb_run){ .o = &o,
        .l = &l,
        .users = USERS,
        .user = user,
        .priv = priv,
        .staged = true,
        .t0 = 10 * SECOND,
        .warm_end = 10 * SECOND,
        .deadline = 16 * SECOND };
    pthread_mutex_init(&run.lock, NULL);
    sb_stats_init(&run.stats[SB_PHASE_MEASURED], USERS, USERS, false);
    memset(user, 0, sizeof(user));
    memset(priv, 0, sizeof(priv));
    m = (struct sb_meter){
        .run = &run, .phase = SB_PHASE_MEASURED, .phase_start = run.warm_end
    };
    told = 0;
}

static void done(void)
{
    sb__meter_stages_done(&m);
    CHECK(!m.stages && !m.stage_diff && m.nstages == 0);
    sb_stats_done(&run.stats[SB_PHASE_MEASURED]);
    pthread_mutex_destroy(&run.lock);
}

static void complete(unsigned n)
{
    struct sb_rec *rec = &run.stats[SB_PHASE_MEASURED].rec[0];

    while (n-- > 0)
        sb_rec_event(rec, 0, 0, 1000000);
    sb_rec_flush(rec);
}

static void due(uint64_t now)
{
    sb__meter_stages_due(&m, now, now);
}

static void finish(uint64_t now)
{
    struct sb_snap s = { 0 };

    CHECK_INT(
        sb__meter_snap_take(&m, &s, SB_SNAP_FINAL, &m.stage_snap, now, now), 0);
    CHECK_INT(sb__meter_stages_end(&m, &s), 0);
    sb_snap_done(&s);
}

static void each_stage_has_its_figures(void)
{
    reset();
    sb__meter_stages_start(&m);
    CHECK_INT(m.next_stage, 11 * SECOND);
    complete(3);
    due(11 * SECOND);
    CHECK_INT(told, 1);
    CHECK_STR(names[0], "a");
    CHECK_INT(events[0], 3);
    CHECK(lengths[0] == 1);
    CHECK_INT(m.stage, 1);
    CHECK_INT(m.next_stage, 13 * SECOND);
    complete(4);
    due(13 * SECOND);
    CHECK_STR(names[1], "b");
    CHECK_INT(events[1], 4);
    CHECK(lengths[1] == 2);
    // The final report ends the last one.
    CHECK(m.next_stage == UINT64_MAX);
    complete(5);
    finish(16 * SECOND);
    CHECK_INT(told, 3);
    CHECK_STR(names[2], "c");
    CHECK_INT(events[2], 5);
    CHECK_INT(m.nstages, 3);
    CHECK_INT(m.stages[1].snap->c.completed, 4);
    CHECK_INT(m.stages[1].stage, 1);
    CHECK(m.stages[2].total_s == 6);
    done();
}

static void a_late_report_leaves_out_a_stage(void)
{
    reset();
    sb__meter_stages_start(&m);
    complete(6);
    due(14 * SECOND);
    CHECK_INT(told, 1);
    CHECK_STR(names[0], "a");
    CHECK(lengths[0] == 4);
    CHECK_INT(m.stage, 2);
    complete(1);
    finish(16 * SECOND);
    CHECK_STR(names[1], "c");
    CHECK_INT(events[1], 1);
    CHECK_INT(m.nstages, 2);
    done();
}

static void after_the_time_limit_only_the_final_report_counts(void)
{
    reset();
    sb__meter_stages_start(&m);
    due(16 * SECOND);
    CHECK_INT(told, 0);
    CHECK(m.next_stage == UINT64_MAX);
    CHECK_INT(m.stage, 0);
    finish(16 * SECOND);
    CHECK_STR(names[0], "a");
    done();
}

static void without_stages(void)
{
    struct sb_snap s = { .ns = 12 * SECOND };

    reset();
    run.staged = false;
    m.next_stage = UINT64_MAX;
    sb__meter_stages_start(&m);
    CHECK(m.next_stage == UINT64_MAX && !m.stages);
    CHECK_INT(sb__meter_stages_end(&m, &s), 0);
    // The warm-up has none, either.
    run.staged = true;
    m.phase = SB_PHASE_WARMUP;
    CHECK_INT(sb__meter_stages_end(&m, &s), 0);
    CHECK_INT(told, 0);
    // There was no memory when they began.
    m.phase = SB_PHASE_MEASURED;
    CHECK_INT(sb__meter_stages_end(&m, &s), SB_ENOMEM);
    done();
}

static void sums_of_ranks_are_taken_over(void)
{
    struct sb_snap sum = { .ns = 2 * SECOND, .c = { .completed = 8 } };

    reset();
    sb__meter_stages_start(&m);
    sum.user_events = calloc(1, sizeof(*sum.user_events));
    sb__meter_stages_sum(&m, 1, &sum);
    CHECK(sum.user_events == NULL);
    CHECK_INT(told, 1);
    CHECK_STR(names[0], "b");
    CHECK_INT(events[0], 8);
    CHECK(m.stages[0].total_s == 3); // from the start of the run
    // Another rank has stages that this one does not know.
    sum.c.completed = 1;
    sb__meter_stages_sum(&m, 3, &sum);
    CHECK_INT(told, 1);
    done();
}

CHECK_FILE
{
    RUN(each_stage_has_its_figures);
    RUN(a_late_report_leaves_out_a_stage);
    RUN(after_the_time_limit_only_the_final_report_counts);
    RUN(without_stages);
    RUN(sums_of_ranks_are_taken_over);
    return check_done();
}
