// SPDX-License-Identifier: GPL-2.0-or-later
//
// The reporting side of a run: takes snapshots, subtracts them, and passes
// reports to the listener. Runs in the main thread; never writes to what
// workers write.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "run/joint_end.h"
#include "run/meter.h"
#include "run/meter_check.h"
#include "run/meter_joint_private.h"
#include "run/meter_report_private.h"
#include "run/meter_snap.h"
#include "run/meter_stages_private.h"

// Interval of a job without --report-interval.
#define JOINT_INTERVAL UINT64_C(1000000000)

void sb__meter_init(struct sb_meter *m, struct sb_run *run)
{
    memset(m, 0, sizeof(*m));
    m->run = run;
    m->interval = (uint64_t)(run->o->report_interval > 0
                                 ? run->o->report_interval
                             : run->l ? run->l->interval_ns
                                      : 0);
    // Rank 0 keeps the intervals of all ranks, in case one is lost.
    if (run->joint && m->interval == 0)
        m->interval = JOINT_INTERVAL;
    if (run->joint)
        sb__meter_joint_init(m);
    m->next_tick = m->next_checkpoint = m->next_stage = UINT64_MAX;
}

void sb__meter_done(struct sb_meter *m)
{
    sb_snap_done(&m->last);
    sb_snap_done(&m->checkpoint);
    sb_op_reader_done(&m->ops);
    sb__meter_stages_done(m);
}

static void set_next_checkpoint(struct sb_meter *m)
{
    const struct sb_opt_list *list = &m->run->o->report_checkpoints;

    m->next_checkpoint = UINT64_MAX;
    if (m->phase == SB_PHASE_MEASURED && m->checkpoint_no < list->count)
        m->next_checkpoint =
            m->phase_start +
            (uint64_t)(strtod(list->item[m->checkpoint_no], NULL) * 1e9);
}

static void read_operations(struct sb_meter *m)
{
    struct sb_run *run = m->run;

    sb_op_reader_done(&m->ops);
    // What rank 0 keeps of a job has all of them.
    if ((run->l->operations || run->joint) && m->next_tick != UINT64_MAX &&
        sb_op_reader_init(&m->ops, &run->stats[m->phase]))
        sb_log(SB_LOG_WARNING, "no operations in intervals: out of memory");
}

static void enter_phase(struct sb_meter *m, enum sb_phase phase, uint64_t at)
{
    assert(phase >= m->phase);
    m->phase = phase;
    m->phase_start = at;
    m->next_tick = m->interval ? at + m->interval : UINT64_MAX;
    sb_snap_done(&m->last);
    m->last.ns = m->checkpoint.ns = at;
    m->key = at - m->run->t0;
    m->border = m->walked;
    m->scheduled = 0;
    set_next_checkpoint(m);
    read_operations(m);
    if (phase == SB_PHASE_MEASURED)
        sb__meter_stages_start(m);
    if (m->run->joint)
        sb__joint_end_start(m->run->joint);
}

void sb__meter_start(struct sb_meter *m)
{
    struct sb_run *run = m->run;
    bool warm = run->warm_end > run->t0;

    enter_phase(m, warm ? SB_PHASE_WARMUP : SB_PHASE_MEASURED, run->t0);
}

static int replace_snap(struct sb_meter *m, struct sb_snap *old,
    enum sb_snap_detail detail, uint64_t now)
{
    struct sb_snap s = { 0 };
    int rc = sb__meter_snap_take(
        m, &s, detail, detail == SB_SNAP_FULL ? old : NULL, now, now);

    if (rc == 0) {
        sb_snap_done(old);
        *old = s;
    } else {
        sb_snap_done(&s);
    }
    return rc;
}

int sb__meter_part(struct sb_meter *m)
{
    assert(m->run->searching && m->phase == SB_PHASE_WARMUP);
    uint64_t now = sb_clock_monotonic();
    int rc = replace_snap(m, &m->checkpoint, SB_SNAP_FULL, now);

    m->phase_start = now;
    return rc ? rc : replace_snap(m, &m->last, SB_SNAP_LIGHT, now);
}

void sb__meter_measured(struct sb_meter *m)
{
    assert(!m->run->searching && m->phase == SB_PHASE_WARMUP);
    m->walked = 0; // the schedule is a new one
    sb_snap_done(&m->checkpoint);
    enter_phase(m, SB_PHASE_MEASURED, m->run->t0);
}

uint64_t sb__meter_next(const struct sb_meter *m)
{
    uint64_t next = m->next_tick;

    if (m->next_checkpoint < next)
        next = m->next_checkpoint;
    if (m->next_stage < next)
        next = m->next_stage;
    if (m->phase == SB_PHASE_WARMUP && m->run->warm_end < next)
        next = m->run->warm_end;
    return next;
}

// Returns `now`, or the end of the current phase if the report is late.
// Arrivals after that belong to the next phase, or to none.
static uint64_t report_end(const struct sb_meter *m, uint64_t now)
{
    const struct sb_run *run = m->run;
    uint64_t end = m->phase == SB_PHASE_WARMUP ? run->warm_end - 1
                                               : run->deadline;

    return now < end ? now : end;
}

// Makes *s the snapshot at the end of an interval, and *diff the interval.
static int take_interval(struct sb_meter *m, struct sb_snap *s,
    struct sb_snap *diff, uint64_t now, uint64_t until)
{
    enum sb_snap_detail detail = m->ops.stats ? SB_SNAP_CODES : SB_SNAP_LIGHT;
    int rc = m->ops.stats ? sb_op_reader_take(&m->ops) : 0;

    if (rc == 0)
        rc = sb__meter_snap_take(m, s, detail, NULL, now, until);
    return rc ? rc : sb_snap_sub(diff, s, &m->last);
}

static void tell_interval(struct sb_meter *m, const struct sb_report *r)
{
    if (m->run->l->interval)
        m->run->l->interval(m->run->l->data, r);
    if (m->run->l->stop && m->run->l->stop(m->run->l->data))
        sb__run_stop(m->run);
}

// until: arrivals due by then count as scheduled.
static void end_interval(
    struct sb_meter *m, uint64_t now, uint64_t until, bool partial)
{
    struct sb_snap s = { 0 }, diff = { 0 };
    struct sb_report r;

    // Its operations stay in the memory of their reader.
    if (take_interval(m, &s, &diff, now, until)) {
        sb_log(SB_LOG_WARNING, "no interval report: out of memory");
    } else {
        diff.op = m->ops.op;
        diff.nops = m->ops.nops;
        if (m->run->joint) {
            sb__meter_joint_interval(m, &diff, now, partial);
        } else {
            sb__meter_report_fill(m, &r, &diff, &s);
            r.partial = partial;
            tell_interval(m, &r);
        }
        diff.op = NULL;
        diff.nops = 0;
        sb_snap_done(&m->last);
        m->last = s;
        memset(&s, 0, sizeof(s));
    }
    sb_snap_done(&diff);
    sb_snap_done(&s);
}

// Reports what has happened since the last interval, if that was asked for.
static void end_rest(struct sb_meter *m, uint64_t now, uint64_t until)
{
    bool wanted = m->run->joint || m->run->l->partial;

    if (wanted && m->interval && now > m->last.ns)
        end_interval(m, now, until, true);
}

static void end_checkpoint(struct sb_meter *m, uint64_t now)
{
    struct sb_snap s = { 0 }, diff = { 0 };

    if (sb__meter_snap_take(
            m, &s, SB_SNAP_FULL, &m->checkpoint, now, report_end(m, now)) ||
        sb_snap_sub(&diff, &s, &m->checkpoint)) {
        sb_log(SB_LOG_WARNING, "no checkpoint report: out of memory");
    } else if (m->run->joint) {
        sb__meter_joint_checkpoint(m, &s, &diff);
    } else {
        sb__meter_check_printed(m, &diff);
        sb__meter_report_cumulative(
            m, &s, &diff, m->run->l->checkpoint, false, NULL);
    }
    sb_snap_done(&diff);
    sb_snap_done(&s);
    m->checkpoint_no++;
    set_next_checkpoint(m);
}

// Warns once if a script uses more names than there is room for.
static void warn_full(struct sb_meter *m)
{
    const struct sb_stats *s = &m->run->stats[m->phase];
    uint32_t n = sb_metrics_count(&s->metrics);

    if (!m->told_ops && sb_stats_full(s)) {
        m->told_ops = true;
        sb_log(SB_LOG_WARNING,
            "there is room for %u different operations: all others are "
            "reported together as '" SB_OPS_REST "'",
            (unsigned)s->nops - 1);
    }
    if (!m->told_metrics && n > 0 &&
        s->metrics.metric[n - 1].kind == SB_METRIC_REST) {
        m->told_metrics = true;
        sb_log(SB_LOG_WARNING,
            "there is room for %u different metrics: of all others, only the "
            "number of values is counted, as '" SB_METRICS_REST "'",
            n - 1);
    }
}

void sb__meter_tick(struct sb_meter *m, uint64_t now)
{
    struct sb_run *run = m->run;

    warn_full(m);
    // A late report covers the longer interval.
    if (m->next_tick <= now) {
        end_interval(m, now, report_end(m, now), false);
        do
            m->next_tick += m->interval;
        while (m->next_tick <= now);
    }
    if (m->next_checkpoint <= now)
        end_checkpoint(m, now);
    if (m->next_stage <= now)
        sb__meter_stages_due(m, now, report_end(m, now));
    if (m->phase == SB_PHASE_WARMUP && now >= run->warm_end) {
        end_rest(m, run->warm_end, run->warm_end - 1);
        // The schedule continues; arrivals so far belong to the warm-up.
        sb_pace_walk(&run->pace, &m->walked, run->warm_end - 1 - run->t0,
            run->open_loop ? SB__RUN_WALK_MAX : 0);
        enter_phase(m, SB_PHASE_MEASURED, run->warm_end);
    }
}

// Users that did not return in time may return now. From now on, what they do
// is not counted, so that the report is consistent.
static void close_recorders(struct sb_meter *m)
{
    struct sb_stats *s = &m->run->stats[m->phase];

    for (unsigned i = 0; i < s->users; i++)
        sb_rec_close(&s->rec[i]);
}

void sb__meter_final(struct sb_meter *m, uint64_t now, uint64_t until,
    bool all_ended, struct sb_run_result *res)
{
    struct sb_run *run = m->run;
    struct sb_snap s = { 0 }, diff = { 0 };
    int rc;

    if (m->phase == SB_PHASE_WARMUP && until >= run->warm_end)
        sb__meter_tick(m, until);
    if (m->run->searching)
        sb_log(SB_LOG_WARNING,
            "the run ended before its rate was found; the figures are those of "
            "the last part of the search");
    else if (m->phase == SB_PHASE_WARMUP)
        sb_log(SB_LOG_WARNING,
            "the run ended during its warm-up; the figures are those "
            "of the warm-up");
    warn_full(m);
    if (!all_ended)
        close_recorders(m);
    // Arrivals that an interval line has counted stay scheduled.
    until = until > m->until ? until : m->until;
    end_rest(m, now, until);
    rc = sb__meter_snap_take(m, &s, SB_SNAP_FINAL, NULL, now, until);
    if (rc == 0)
        rc = sb__meter_stages_end(m, &s);
    if (rc == 0)
        rc = sb_snap_sub(&diff, &s, &m->checkpoint);
    if (rc == 0 && run->joint)
        rc = sb__meter_joint_final(
            m, &s, &diff, sb__meter_snap_pending(m, until, &s), all_ended, res);
    if (rc == 0 && !run->joint) {
        sb__meter_check_success(
            m, &s, &diff, sb__meter_snap_pending(m, until, &s), all_ended, res);
        sb__meter_report_cumulative(m, &s, &diff, run->l->final, true,
            res->err.code ? res->err.msg : NULL);
    } else if (rc && !res->err.code) {
        sb_err_set(&res->err, rc, "no final report: out of memory");
        res->end = SB_END_FAILED;
    }
    sb_snap_done(&diff);
    sb_snap_done(&s);
}
