// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a rank gives to the others, and what it reports for all of them.
#include "run/meter.h"

#include "joint_ranks.h"

static struct sb_meter m;
static struct sb_report seen;
static unsigned finals;
static char failure[200];
static uint64_t completed, whole;

static void on_final(void *data, const struct sb_report *r)
{
    (void)data;
    seen = *r;
    finals++;
    completed = r->snap->c.completed;
    whole = r->whole->c.completed;
    snprintf(failure, sizeof(failure), "%s", r->failure ? r->failure : "");
}

// Rank `number` of a job; the measured part lasts from 101 s to 105 s, after a
// warm-up of one second.
static void begin_rank(struct rank *r, unsigned number, unsigned ranks)
{
    rank_init(r, number, ranks);
    r->l.final = on_final;
    r->run.t0 = 100 * SECOND;
    r->run.warm_end = 101 * SECOND;
    r->run.deadline = 105 * SECOND;
    for (int i = 0; i < SB_PHASES; i++)
        sb_stats_init(&r->run.stats[i], 2, 2, false);
    m = (struct sb_meter){ .run = &r->run,
        .phase = SB_PHASE_MEASURED,
        .phase_start = 101 * SECOND,
        .interval = SECOND,
        .key = SECOND,
        .next_tick = 102 * SECOND };
    sb__meter_group_init(&m);
    finals = 0;
}

static void end_rank(struct rank *r)
{
    sb_snap_done(&m.checkpoint);
    for (int i = 0; i < SB_PHASES; i++)
        sb_stats_done(&r->run.stats[i]);
    rank_done(r);
}

// The planned end of an interval that is given now, in ns after the start.
static uint64_t interval(uint64_t now, bool partial)
{
    const struct sb_snap diff = { .ns = SECOND, .users = 2 };

    sb__meter_group_interval(&m, &diff, now, partial);
    return m.key;
}

static void intervals_have_planned_ends(void)
{
    struct rank r;

    begin_rank(&r, 0, 1);
    // The same on all ranks, however late one is.
    CHECK_INT(interval(102 * SECOND + 7, false), 2 * SECOND);
    m.next_tick = 103 * SECOND;
    CHECK_INT(interval(104 * SECOND + 7, false), 4 * SECOND);
    // What is left.
    m.next_tick = 105 * SECOND;
    r.run.deadline = 104 * SECOND + SECOND / 2;
    CHECK_INT(
        interval(104 * SECOND + SECOND / 2, true), 4 * SECOND + SECOND / 2);
    // Events that ended after the time limit.
    CHECK_INT(interval(105 * SECOND, true), 4 * SECOND + SECOND / 2 + 1);
    CHECK_INT(r.reports.n, 4);
    CHECK(!r.reports.row[1].partial && r.reports.row[2].partial);
    end_rank(&r);
}

static void no_interval_ends_after_its_phase(void)
{
    struct rank r;

    begin_rank(&r, 0, 1);
    CHECK_INT(interval(110 * SECOND, false), 5 * SECOND);
    end_rank(&r);
    begin_rank(&r, 0, 1);
    m.phase = SB_PHASE_WARMUP;
    m.key = 0;
    m.interval = SECOND / 4;
    m.next_tick = 100 * SECOND + SECOND / 4;
    CHECK_INT(interval(103 * SECOND, false), SECOND);
    end_rank(&r);
    // The rest of a warm-up that is no multiple of intervals.
    begin_rank(&r, 0, 1);
    m.phase = SB_PHASE_WARMUP;
    m.key = 0;
    r.run.warm_end = 100 * SECOND + SECOND / 3;
    m.next_tick = 101 * SECOND;
    CHECK_INT(interval(100 * SECOND + SECOND / 3, true), SECOND / 3);
    end_rank(&r);
}

// n more events of this rank, until `ns`.
static void figures(
    struct sb_snap *s, struct sb_stats *stats, unsigned n, uint64_t ns)
{
    for (unsigned i = 0; i < n; i++)
        sb_rec_event(&stats->rec[0], 0, 0, 1000000);
    sb_tally_add(&stats->rec[0].tally.started, n);
    sb_tally_add(&stats->rec[0].tally.tries, n);
    memset(s, 0, sizeof(*s));
    CHECK_INT(sb_snap_take(s, stats, SB_SNAP_FINAL, 0, NULL), 0);
    s->scheduled = s->c.started;
    s->ns = ns;
}

static void a_checkpoint_begins_the_next(void)
{
    static const char *const at[] = { "2" };
    const struct sb_snap diff = { .ns = SECOND };
    struct rank r;
    struct sb_snap s;

    begin_rank(&r, 0, 1);
    r.o.report_checkpoints = (struct sb_opt_list){ at, 1 };
    figures(&s, &r.stats, 5, 103 * SECOND);
    sb__meter_group_checkpoint(&m, &s, &diff);
    CHECK_INT(m.checkpoint.ns, 103 * SECOND);
    CHECK_INT(m.checkpoint.c.completed, 5);
    CHECK_INT(s.ns, 0);
    CHECK(s.user_events == NULL);
    end_rank(&r);
}

static int finish(struct rank *r, unsigned n, struct sb_run_result *res)
{
    struct sb_snap s, diff = { 0 };
    const struct sb_snap start = { .ns = m.checkpoint.ns ? m.checkpoint.ns
                                                         : 101 * SECOND };
    int rc;

    figures(&s, &r->stats, n, 105 * SECOND);
    CHECK_INT(
        sb_snap_sub(&diff, &s, m.checkpoint.ns ? &m.checkpoint : &start), 0);
    rc = sb__meter_group_final(&m, &s, &diff, 0, true, res);
    sb_snap_done(&diff);
    sb_snap_done(&s);
    return rc;
}

static void rank_0_reports_the_end(void)
{
    struct sb_run_result res = { .end = SB_END_LIMIT };
    struct rank r;

    begin_rank(&r, 0, 1);
    r.o.max_failed = 100;
    CHECK_INT(finish(&r, 3, &res), 0);
    CHECK_INT(finals, 1);
    CHECK_INT(completed, 3);
    CHECK_INT(whole, 3);
    CHECK_STR(failure, "");
    CHECK(seen.total_s == 4);
    CHECK_INT(res.end, SB_END_LIMIT);
    CHECK_INT(res.err.code, 0);
    end_rank(&r);
}

// The figures are those since the last one; the whole has all of them.
static void checkpoints_divide_the_final_report(void)
{
    static const char *const at[] = { "2" };
    const struct sb_snap diff = { .ns = SECOND };
    struct sb_run_result res = { .end = SB_END_LIMIT };
    struct sb_snap s;
    struct rank r;

    begin_rank(&r, 0, 1);
    r.o.max_failed = 100;
    r.o.report_checkpoints = (struct sb_opt_list){ at, 1 };
    figures(&s, &r.stats, 5, 103 * SECOND);
    sb__meter_group_checkpoint(&m, &s, &diff);
    CHECK_INT(finish(&r, 2, &res), 0);
    CHECK_INT(completed, 2);
    CHECK_INT(whole, 7);
    end_rank(&r);
}

// Rank 0 is lost, so this rank reports its own figures.
static void a_rank_without_rank_0_reports_alone(void)
{
    struct sb_run_result res = { .end = SB_END_LIMIT };
    struct rank r;

    begin_rank(&r, 1, 2);
    struct sb__joint *joint = sb__joint_of(&r.run);

    r.o.job->lost = true;
    CHECK_INT(finish(&r, 4, &res), 0);
    CHECK_INT(finals, 1);
    CHECK_INT(completed, 4);
    CHECK_STR(failure, "rank 0 was lost");
    CHECK_INT(seen.threads, 2); // its users, not those of all ranks
    CHECK(seen.ranks == NULL);
    CHECK(sb__joint_of(&r.run) == joint);
    end_rank(&r);
    loopback_reset();
}

CHECK_FILE
{
    RUN(intervals_have_planned_ends);
    RUN(no_interval_ends_after_its_phase);
    RUN(a_checkpoint_begins_the_next);
    RUN(rank_0_reports_the_end);
    RUN(checkpoints_divide_the_final_report);
    RUN(a_rank_without_rank_0_reports_alone);
    return check_done();
}
