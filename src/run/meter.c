// SPDX-License-Identifier: GPL-2.0-or-later
//
// The reporting side of a run: takes snapshots, subtracts them, and passes
// reports to the listener. Runs in the main thread; never writes to what
// workers write.
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "kit/units.h"
#include "run/joint.h"

// Maximum number of arrivals to count: 2^32 take half a minute.
#define WALK_MAX (UINT64_C(1) << 32)
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
        run->joint->meter = m;
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

static int replace(struct sb_meter *m, struct sb_snap *old,
    enum sb_snap_detail detail, uint64_t now)
{
    struct sb_snap s = { 0 };
    int rc = sb__meter_snapshot(
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
    uint64_t now = sb_clock_monotonic();
    int rc = replace(m, &m->checkpoint, SB_SNAP_FULL, now);

    m->phase_start = now;
    return rc ? rc : replace(m, &m->last, SB_SNAP_LIGHT, now);
}

void sb__meter_measured(struct sb_meter *m)
{
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

// Returns the number of arrivals of this phase that were due by `until`.
static uint64_t scheduled_by(
    struct sb_meter *m, uint64_t until, const struct sb_snap *s)
{
    struct sb_run *run = m->run;

    if (!run->open_loop || run->searching)
        return s->c.started;
    m->until = until;
    m->scheduled += sb_pace_walk(
        &run->pace, &m->walked, until - run->t0, WALK_MAX);
    if (run->limited && m->phase == SB_PHASE_MEASURED &&
        m->scheduled > run->events)
        return run->events;
    return m->scheduled;
}

static void count_users(const struct sb_meter *m, struct sb_snap *s)
{
    struct sb_run *run = m->run;

    for (unsigned i = 0; i < run->users; i++) {
        s->unfinished += atomic_load_explicit(&run->user[i].in_event,
                             memory_order_relaxed) == 1 + m->phase;
        if (m->phase == SB_PHASE_MEASURED)
            s->skipped += atomic_load_explicit(
                &run->priv[i].skipped, memory_order_relaxed);
    }
    pthread_mutex_lock(&run->lock);
    s->running = run->running;
    pthread_mutex_unlock(&run->lock);
}

int sb__meter_snapshot(struct sb_meter *m, struct sb_snap *s,
    enum sb_snap_detail detail, const struct sb_snap *earlier, uint64_t now,
    uint64_t until)
{
    struct sb_run *run = m->run;

    int rc = sb_snap_take(s, &run->stats[m->phase], detail, now, earlier);
    if (rc)
        return rc;
    count_users(m, s);
    // Users are writing: a full snapshot is consistent all the same.
    if (detail == SB_SNAP_FULL)
        s->c.started = s->c.completed + s->c.failed + s->unfinished;
    s->scheduled = scheduled_by(m, until, s);
    if (detail == SB_SNAP_FULL && s->scheduled < s->c.started + s->skipped)
        s->scheduled = s->c.started + s->skipped;
    return 0;
}

// Adds the queue length at this moment, not the growth during the interval.
static void add_queue(struct sb_report *r, const struct sb_snap *s)
{
    uint64_t begun = s->c.started + s->skipped;

    r->queue = s->scheduled > begun ? s->scheduled - begun : 0;
    r->concurrency = s->unfinished;
    r->running = s->running;
}

unsigned sb__meter_users_at_end(const struct sb_run *run)
{
    uint64_t last = run->deadline - run->warm_end - 1;
    unsigned n = 0;

    if (!run->staged)
        return (unsigned)(run->joint ? run->o->threads : run->users);
    if (run->joint)
        return sb_stages_users(&run->o->stages, last);
    for (unsigned i = 0; i < run->users; i++) {
        uint64_t until;

        n += sb_stages_user(&run->o->stages, run->priv[i].turn, last, &until);
    }
    return n;
}

// What names the operations and metrics of reports.
static const struct sb_stats *stats_of(const struct sb_meter *m)
{
    const struct sb_run *run = m->run;

    return run->joint ? &run->joint->names : &run->stats[m->phase];
}

void sb__meter_report(struct sb_meter *m, struct sb_report *r,
    const struct sb_snap *diff, const struct sb_snap *s)
{
    struct sb_run *run = m->run;
    uint64_t now = s->ns;

    sb_report_fill(r, diff,
        (unsigned)(run->joint ? run->o->threads : run->users), run->open_loop,
        (double)(now - m->phase_start) / 1e9);
    r->warmup = m->phase == SB_PHASE_WARMUP;
    r->warmup_s = run->searching ? 0 : (double)run->o->warmup_time / 1e9;
    r->start_ns = m->phase_start;
    r->stats = stats_of(m);
    add_queue(r, s);
    // At the time limit, users have just ended their loops. They count as
    // running, because they ran during this interval.
    if (now >= run->deadline)
        r->running = sb__meter_users_at_end(run);
    sb__meter_stage_of(run, r, now);
}

void sb__meter_sum_report(struct sb_run *run, struct sb_report *r,
    const struct sb_snap *sum, uint64_t now, bool warmup)
{
    uint64_t start = warmup ? run->t0 : run->warm_end;
    unsigned users = (unsigned)(run->joint ? run->o->threads : run->users);
    enum sb_phase phase = warmup ? SB_PHASE_WARMUP : SB_PHASE_MEASURED;

    sb_report_fill(r, sum, users, run->open_loop, (double)(now - start) / 1e9);
    r->warmup = warmup;
    r->warmup_s = run->searching ? 0 : (double)run->o->warmup_time / 1e9;
    r->start_ns = start;
    r->stats = run->joint ? &run->joint->names : &run->stats[phase];
    r->queue = sum->queue;
    r->concurrency = sum->unfinished;
    r->running = now >= run->deadline ? sb__meter_users_at_end(run)
                                      : sum->running;
    sb__meter_stage_of(run, r, now);
}

// Makes *s the snapshot at the end of an interval, and *diff the interval.
static int take_interval(struct sb_meter *m, struct sb_snap *s,
    struct sb_snap *diff, uint64_t now, uint64_t until)
{
    enum sb_snap_detail detail = m->ops.stats ? SB_SNAP_CODES : SB_SNAP_LIGHT;
    int rc = m->ops.stats ? sb_op_reader_take(&m->ops) : 0;

    if (rc == 0)
        rc = sb__meter_snapshot(m, s, detail, NULL, now, until);
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
static void interval(
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
            sb__meter_share_interval(m, &diff, now, partial);
        } else {
            sb__meter_report(m, &r, &diff, &s);
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
static void rest(struct sb_meter *m, uint64_t now, uint64_t until)
{
    bool wanted = m->run->joint || m->run->l->partial;

    if (wanted && m->interval && now > m->last.ns)
        interval(m, now, until, true);
}

// How the rate was found, and whether the measured part keeps the limits.
static void add_search(struct sb_meter *m, struct sb_report *r)
{
    struct sb_rate_search *f = &m->run->found;
    unsigned missed;

    if (!sb_run_opts_finds_rate(m->run->o))
        return;
    r->search = f;
    f->judged = m->run->o->rate_search && m->run->l->judge &&
                !m->run->searching;
    if (f->judged)
        f->kept = m->run->l->judge(m->run->l->data, r, &f->value, &missed);
}

void sb__meter_cumulative(struct sb_meter *m, struct sb_snap *s,
    const struct sb_snap *diff,
    void (*tell)(void *data, const struct sb_report *r), bool final,
    const char *failure)
{
    struct sb_report r;

    sb__meter_report(m, &r, diff, s);
    r.final = final;
    // A search that was interrupted: parts with different loads are not added.
    r.whole = !final ? NULL : m->run->searching ? diff : s;
    r.failure = failure;
    if (final && !m->run->staged)
        r.running = r.threads;
    if (final) {
        r.stages = m->stages;
        r.nstages = m->nstages;
        r.ranks = m->run->joint ? m->run->joint->figures : NULL;
        r.nranks = m->run->joint ? m->run->joint->job->ranks : 0;
        add_search(m, &r);
    }
    if (tell)
        tell(m->run->l->data, &r);
    sb_snap_done(&m->checkpoint);
    m->checkpoint = *s;
    memset(s, 0, sizeof(*s));
}

void sb__meter_check_printed(struct sb_meter *m, const struct sb_snap *diff)
{
    if (!m->broken.code)
        sb_snap_check_printed(diff, m->run->open_loop, &m->broken);
}

static void checkpoint(struct sb_meter *m, uint64_t now)
{
    struct sb_snap s = { 0 }, diff = { 0 };

    if (sb__meter_snapshot(
            m, &s, SB_SNAP_FULL, &m->checkpoint, now, report_end(m, now)) ||
        sb_snap_sub(&diff, &s, &m->checkpoint)) {
        sb_log(SB_LOG_WARNING, "no checkpoint report: out of memory");
    } else if (m->run->joint) {
        sb__meter_share_checkpoint(m, &s, &diff);
    } else {
        sb__meter_check_printed(m, &diff);
        sb__meter_cumulative(m, &s, &diff, m->run->l->checkpoint, false, NULL);
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
        interval(m, now, report_end(m, now), false);
        do
            m->next_tick += m->interval;
        while (m->next_tick <= now);
    }
    if (m->next_checkpoint <= now)
        checkpoint(m, now);
    if (m->next_stage <= now)
        sb__meter_stage_due(m, now, report_end(m, now));
    if (m->phase == SB_PHASE_WARMUP && now >= run->warm_end) {
        rest(m, run->warm_end, run->warm_end - 1);
        // The schedule continues; arrivals so far belong to the warm-up.
        sb_pace_walk(&run->pace, &m->walked, run->warm_end - 1 - run->t0,
            run->open_loop ? WALK_MAX : 0);
        enter_phase(m, SB_PHASE_MEASURED, run->warm_end);
    }
}

// Returns the number of arrivals of the measured part that were due by `until`
// and not started: no user took them, or the run was over when one did.
static uint64_t pending(
    struct sb_meter *m, uint64_t until, const struct sb_snap *s)
{
    struct sb_run *run = m->run;
    sb_pace_pos pos = atomic_load_explicit(&run->cursor, memory_order_relaxed);

    if (!run->open_loop)
        return 0;
    if (pos < m->border)
        pos = m->border; // those of the warm-up were dropped
    uint64_t n = sb_pace_walk(&run->pace, &pos, until - run->t0, WALK_MAX);
    for (unsigned i = 0; i < run->users; i++) {
        uint64_t held = atomic_load_explicit(
            &run->priv[i].held, memory_order_relaxed);

        n += held >= run->warm_end && held != 0 && held <= until;
    }
    uint64_t begun = s->c.started + s->skipped;
    if (run->limited && n > run->events - begun)
        n = run->events - begun; // --events does not allow more
    return n;
}

// Users that did not return in time may return now. From now on, what they do
// is not counted, so that the report is consistent.
static void close_recorders(struct sb_meter *m)
{
    struct sb_stats *s = &m->run->stats[m->phase];

    for (unsigned i = 0; i < s->users; i++)
        sb_rec_close(&s->rec[i]);
}

// Fails the run if more events failed than --max-failed allows, or all of
// them.
static int check_failed(const struct sb_run_opts *o,
    const struct sb_counters *c, struct sb_err *err)
{
    unsigned long long failed = sb_counters_failed(c);
    unsigned long long n = failed + c->completed;
    double percent = n ? 100 * (double)failed / (double)n : 0;
    char text[SB_UNITS_PERCENT];

    if (n > 0 && failed == n)
        return sb_err_set(err, SB_ELIMIT,
            n == 1 ? "the only event failed" : "all %llu events failed", n);
    if (failed == 0 || percent <= o->max_failed)
        return 0;
    return sb_err_set(err, SB_ELIMIT,
        "%llu of %llu events failed (%s %%), more than --max-failed=%.10g "
        "allows",
        failed, n, sb_units_percent(text, percent, 100), o->max_failed);
}

void sb__meter_check_success(struct sb_meter *m, const struct sb_snap *s,
    const struct sb_snap *diff, uint64_t left, bool all_ended,
    struct sb_run_result *res)
{
    struct sb_run *run = m->run;
    int rc;

    if (res->err.code)
        return;
    if (all_ended)
        sb__meter_check_printed(m, diff);
    if (all_ended && !m->broken.code && m->phase == SB_PHASE_MEASURED)
        sb_snap_check(s, stats_of(m), left, &m->broken);
    rc = m->broken.code;
    if (rc)
        res->err = m->broken;
    // SB_END_SIGNAL, SB_END_FORCED and SB_END_HUNG have an exit status of
    // their own.
    else if (res->end == SB_END_LIMIT || res->end == SB_END_SCRIPT)
        rc = check_failed(run->o, &s->c, &res->err);
    if (rc)
        res->end = SB_END_FAILED;
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
    rest(m, now, until);
    rc = sb__meter_snapshot(m, &s, SB_SNAP_FINAL, NULL, now, until);
    if (rc == 0)
        rc = sb__meter_stage_end(m, &s);
    if (rc == 0)
        rc = sb_snap_sub(&diff, &s, &m->checkpoint);
    if (rc == 0 && run->joint)
        rc = sb__meter_joint_end(
            m, &s, &diff, pending(m, until, &s), all_ended, res);
    if (rc == 0 && !run->joint) {
        sb__meter_check_success(
            m, &s, &diff, pending(m, until, &s), all_ended, res);
        sb__meter_cumulative(m, &s, &diff, run->l->final, true,
            res->err.code ? res->err.msg : NULL);
    } else if (rc && !res->err.code) {
        sb_err_set(&res->err, rc, "no final report: out of memory");
        res->end = SB_END_FAILED;
    }
    sb_snap_done(&diff);
    sb_snap_done(&s);
}
