// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the ranks of a job exchange beside intervals: stages, checkpoints, and
// the parts of a search for the rate.
#include "joint_ranks.h"
#include "ranks/joint.h"
#include "run/meter.h"

#define RANKS 3

// A job with stages and a checkpoint.
struct world {
    struct rank r[RANKS];
    struct sb_meter m[RANKS];
    struct sb_report stages[2];
    struct sb_snap diffs[2];
    // What rank 0 has reported.
    unsigned nstages, ncheckpoints;
    unsigned stage[2];
    char name[2][16];
    uint64_t events[2], checkpoint_events;
    double total_s[2], checkpoint_s;
};

static void on_stage(void *data, const struct sb_report *r)
{
    struct world *w = data;
    unsigned n = w->nstages++;

    w->stage[n] = r->stage;
    snprintf(w->name[n], sizeof(w->name[n]), "%s", r->stage_name);
    w->events[n] = r->snap->c.completed;
    w->total_s[n] = r->total_s;
    CHECK_INT(r->threads, 2 * RANKS);
}

static void on_checkpoint(void *data, const struct sb_report *r)
{
    struct world *w = data;

    w->ncheckpoints++;
    w->checkpoint_events = r->snap->c.completed;
    w->checkpoint_s = r->total_s;
    CHECK(!r->final);
}

static void world_init(struct world *w)
{
    static const char *const checkpoints[] = { "1.5" };
    struct sb_err err;

    *w = (struct world){ .nstages = 0 };
    for (unsigned i = 0; i < RANKS; i++) {
        struct rank *r = &w->r[i];

        rank_init(r, i, RANKS);
        r->l = (struct sb_listener){
            .data = w, .stage = on_stage, .checkpoint = on_checkpoint
        };
        r->o.report_checkpoints = (struct sb_opt_list){ checkpoints, 1 };
        CHECK_INT(
            sb_stages_parse(&r->o.stages,
                "a: threads=3 for 1s; b: threads=6 for 1s", 6, 0, NULL, &err),
            0);
        r->run.staged = true;
        w->m[i] = (struct sb_meter){ .run = &r->run };
        sb__meter_group_init(&w->m[i]);
    }
    w->m[0].stages = w->stages;
    w->m[0].stage_diff = w->diffs;
}

static void world_done(struct world *w)
{
    for (unsigned i = 0; i < w->m[0].nstages; i++)
        sb_snap_done(&w->diffs[i]);
    for (unsigned i = 0; i < RANKS; i++)
        rank_done(&w->r[i]);
    loopback_reset();
}

// The rank has completed n events in a section of one second.
static void section(struct world *w, unsigned rank, enum sb_section kind,
    unsigned number, unsigned n)
{
    struct sb_stats s;
    struct sb_snap snap = { 0 };

    sb_stats_init(&s, 2, 2, false);
    for (unsigned i = 0; i < n; i++)
        sb_rec_event(&s.rec[0], 0, 0, 1000000);
    sb_snap_take(&snap, &s, SB_SNAP_FINAL, 0, NULL);
    snap.ns = SECOND;
    sb__joint_sections_add(&w->r[rank].run, kind, number, &snap, &s);
    sb_snap_done(&snap);
    sb_stats_done(&s);
    poll_all(w->r, RANKS);
}

static void stages_wait_for_all_ranks(void)
{
    struct world w;

    world_init(&w);
    section(&w, 0, SB_SECTION_STAGE, 0, 1);
    section(&w, 1, SB_SECTION_STAGE, 0, 2);
    section(&w, 1, SB_SECTION_STAGE, 1, 20);
    section(&w, 0, SB_SECTION_STAGE, 1, 10);
    CHECK_INT(w.nstages, 0);
    section(&w, 2, SB_SECTION_STAGE, 0, 3);
    CHECK_INT(w.nstages, 1);
    CHECK_STR(w.name[0], "a");
    CHECK_INT(w.events[0], 6);
    CHECK(w.total_s[0] == 1);
    section(&w, 2, SB_SECTION_STAGE, 1, 30);
    CHECK_INT(w.nstages, 2);
    CHECK_INT(w.stage[1], 1);
    CHECK_STR(w.name[1], "b");
    CHECK_INT(w.events[1], 60);
    CHECK(w.total_s[1] == 2);
    CHECK_INT(w.m[0].nstages, 2);
    CHECK_INT(w.stages[1].snap->c.completed, 60);
    world_done(&w);
}

// A rank that was late counts a stage as part of another one.
static void a_late_rank_leaves_out_a_stage(void)
{
    struct world w;

    world_init(&w);
    section(&w, 0, SB_SECTION_STAGE, 0, 1);
    section(&w, 1, SB_SECTION_STAGE, 0, 1);
    section(&w, 2, SB_SECTION_STAGE, 1, 5);
    CHECK_INT(w.nstages, 1);
    CHECK_INT(w.events[0], 2);
    // Ranks that have ended send no more.
    sb__joint_of(&w.r[0].run)->of[0].final =
        sb__joint_of(&w.r[0].run)->of[1].final = true;
    sb__joint_sections_report(sb__joint_of(&w.r[0].run));
    CHECK_INT(w.nstages, 2);
    CHECK_INT(w.events[1], 5);
    world_done(&w);
}

static void checkpoints_are_sums(void)
{
    struct world w;

    world_init(&w);
    for (unsigned i = RANKS; i-- > 0;) {
        CHECK_INT(w.ncheckpoints, 0);
        section(&w, i, SB_SECTION_CHECKPOINT, 0, 4);
    }
    CHECK_INT(w.ncheckpoints, 1);
    CHECK_INT(w.checkpoint_events, 12);
    CHECK(w.checkpoint_s == 1.5);
    CHECK_INT(w.nstages, 0);
    world_done(&w);
}

CHECK_FILE
{
    RUN(stages_wait_for_all_ranks);
    RUN(a_late_rank_leaves_out_a_stage);
    RUN(checkpoints_are_sums);
    return check_done();
}
