// SPDX-License-Identifier: GPL-2.0-or-later
//
// The reporting side of a run: takes snapshots, subtracts them, and passes
// reports to the listener. Runs in the main thread; never writes to what
// workers write.
#include "run/meter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "kit/units.h"
#include "run/group.h"
#include "run/run_state.h"

// Parts that all reports of a run have in common.

unsigned sb__run_report_users(const struct sb_run *run)
{
    return (unsigned)(run->group ? run->o->threads : run->users);
}

// The same, only with users that run until the end.
static unsigned users_at_end(const struct sb_run *run)
{
    uint64_t last = run->deadline - run->warm_end - 1;
    unsigned n = 0;

    if (!run->staged)
        return sb__run_report_users(run);
    if (run->group)
        return sb_stages_users(sb__run_stages(run), last);
    for (unsigned i = 0; i < run->users; i++) {
        uint64_t until;

        n += sb_stages_user(
            sb__run_stages(run), run->priv[i].turn, last, &until);
    }
    return n;
}

// Returns the stats with the names of operations and metrics in reports.
static const struct sb_stats *names_of(
    const struct sb_run *run, enum sb_phase phase)
{
    return run->group ? run->group->names : &run->stats[phase];
}

// Fills in this stage.
static void add_stage(
    const struct sb_run *run, struct sb_report *r, unsigned stage)
{
    const struct sb_stage *s = &sb__run_stages(run)->stage[stage];

    assert(stage < sb__run_stages(run)->n);
    r->stage = stage;
    r->stage_name = s->name;
    r->stage_users[0] = s->users_from;
    r->stage_users[1] = s->users_to;
    r->stage_rate[0] = s->rate_from;
    r->stage_rate[1] = s->rate_to;
    r->stage_mix = s->mix_text;
}

// Fills in the stage of a report that ended at `now`.
static void add_stage_at(
    const struct sb_run *run, struct sb_report *r, uint64_t now)
{
    uint64_t start = run->warm_end;
    uint64_t middle = now - r->snap->ns / 2;

    if (run->staged)
        add_stage(run, r,
            sb_stages_at(
                sb__run_stages(run), middle > start ? middle - start : 0));
}

// Fills in a report of sum, which ended at `now`, in a phase that began at
// `start`.
static void fill_report(struct sb_run *run, struct sb_report *r,
    const struct sb_snap *sum, enum sb_phase phase, uint64_t start,
    uint64_t now)
{
    sb_report_fill(r, sum, sb__run_report_users(run), run->open_loop,
        (double)(now - start) / 1e9);
    r->warmup = phase == SB_PHASE_WARMUP;
    r->warmup_s = run->searching ? 0 : (double)run->o->warmup_time / 1e9;
    r->start_ns = start;
    r->stats = names_of(run, phase);
    // At the time limit, users have just ended their loops. They count as
    // running, because they ran during this interval.
    if (now >= run->deadline)
        r->running = users_at_end(run);
    add_stage_at(run, r, now);
}

void sb__run_report_fill(struct sb_run *run, struct sb_report *r,
    const struct sb_snap *sum, uint64_t now, bool warmup)
{
    fill_report(run, r, sum, warmup ? SB_PHASE_WARMUP : SB_PHASE_MEASURED,
        warmup ? run->t0 : run->warm_end, now);
}

// Returns the number of arrivals of this phase that were due by `until`.
static uint64_t scheduled_by(
    struct sb_meter *m, uint64_t until, const struct sb_snap *s)
{
    struct sb_run *run = m->run;

    if (!run->open_loop || run->searching)
        return s->c.started;
    // After the arrivals of a warm-up, users pause.
    if (run->gated && until > run->search.end)
        until = run->search.end;
    m->until = until;
    m->scheduled += sb_pace_walk(
        &run->pace, &m->walked, until - run->t0, SB__RUN_WALK_MAX);
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

int sb__meter_snap_take(struct sb_meter *m, struct sb_snap *s,
    enum sb_snap_detail detail, const struct sb_snap *earlier, uint64_t now,
    uint64_t until)
{
    struct sb_run *run = m->run;

    assert(until >= run->t0);
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

// Returns the number of arrivals of the measured part that were due by `until`
// and not started: no user took them, or the run was over when one did.
static uint64_t meter_snap_pending(
    struct sb_meter *m, uint64_t until, const struct sb_snap *s)
{
    struct sb_run *run = m->run;
    sb_pace_pos pos = atomic_load_explicit(&run->cursor, memory_order_relaxed);

    if (!run->open_loop)
        return 0;
    if (pos < m->border)
        pos = m->border; // those of the warm-up were dropped
    uint64_t n = sb_pace_walk(
        &run->pace, &pos, until - run->t0, SB__RUN_WALK_MAX);
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

// Adds how the rate was found, and whether the measured part keeps the limits.
static void add_search(struct sb_meter *m, struct sb_report *r)
{
    struct sb_rate_search *f = &m->run->search.found;
    unsigned missed;

    if (!sb_run_opts_finds_rate(m->run->o))
        return;
    r->search = f;
    // Stages have other rates than the one that was found.
    f->judged = m->run->o->rate_search && m->run->l->judge &&
                !m->run->searching && !m->run->search.stages;
    if (f->judged)
        f->kept = m->run->l->judge(m->run->l->data, r, &f->value, &missed);
}

// The final report: the figures of the whole run, s, and those since the last
// checkpoint, diff. Takes over *s. failure: why the run failed, or NULL.
static void report_final(struct sb_meter *m, struct sb_snap *s,
    const struct sb_snap *diff, const char *failure)
{
    struct sb_run *run = m->run;
    struct sb_report r;

    fill_report(run, &r, diff, m->phase, m->phase_start, s->ns);
    r.final = true;
    // If the search was interrupted, its parts are not added up: their loads
    // differ.
    r.whole = run->searching ? diff : s;
    r.failure = failure;
    if (!run->staged)
        r.running = r.threads;
    r.stages = m->stages;
    r.nstages = m->nstages;
    r.ranks = run->group ? run->group->figures : NULL;
    r.nranks = run->group ? run->group->ranks : 0;
    add_search(m, &r);
    if (run->l->final)
        run->l->final(run->l->data, &r);
    sb_snap_done(&m->checkpoint);
    m->checkpoint = *s;
    memset(s, 0, sizeof(*s));
}

// Inconsistent figures fail the run at its end.
static void meter_check_printed(struct sb_meter *m, const struct sb_snap *diff)
{
    if (!m->broken.code)
        sb_snap_check_printed(diff, m->run->open_loop, &m->broken);
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

// Decides whether the run was successful, from the figures of the whole run,
// s, and those to be printed, diff. left: arrivals that were due and not
// started. Figures of users that are still busy may change, so they are not
// checked.
static void meter_check_success(struct sb_meter *m, const struct sb_snap *s,
    const struct sb_snap *diff, uint64_t left, bool all_ended,
    struct sb_run_result *res)
{
    struct sb_run *run = m->run;
    int rc;

    if (res->err.code)
        return;
    if (all_ended)
        meter_check_printed(m, diff);
    if (all_ended && !m->broken.code && m->phase == SB_PHASE_MEASURED)
        sb_snap_check(s, names_of(run, m->phase), left, &m->broken);
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

// The figures of stages: the differences of snapshots at their borders.

static const struct sb_stages *stages_of(const struct sb_meter *m)
{
    return sb__run_stages(m->run);
}

static uint64_t start_of(const struct sb_meter *m, unsigned stage)
{
    uint64_t start = m->run->warm_end;

    for (unsigned i = 0; i < stage; i++)
        start += stages_of(m)->stage[i].ns;
    return start;
}

// Time at which the stage in progress ends; the last one ends with the run.
static uint64_t end_of_stage(const struct sb_meter *m)
{
    return m->stage + 1 < stages_of(m)->n ? start_of(m, m->stage + 1)
                                          : UINT64_MAX;
}

// Called when the measured part begins.
static void meter_stages_start(struct sb_meter *m)
{
    if (!m->run->staged)
        return;
    m->stage_snap.ns = m->run->warm_end;
    m->next_stage = end_of_stage(m);
    m->stages = calloc(stages_of(m)->n, sizeof(*m->stages));
    m->stage_diff = calloc(stages_of(m)->n, sizeof(*m->stage_diff));
}

static void meter_stages_done(struct sb_meter *m)
{
    for (unsigned i = 0; i < m->nstages; i++)
        sb_snap_done(&m->stage_diff[i]);
    sb_snap_done(&m->stage_snap);
    free(m->stage_diff);
    free(m->stages);
    m->stage_diff = NULL;
    m->stages = NULL;
    m->nstages = 0;
}

// Takes over *diff.
static void report_stage(
    struct sb_meter *m, unsigned stage, struct sb_snap *diff, uint64_t now)
{
    struct sb_run *run = m->run;

    if (!m->stages || !m->stage_diff || stage >= stages_of(m)->n)
        return;
    struct sb_snap *kept = &m->stage_diff[m->nstages];
    struct sb_report *r = &m->stages[m->nstages++];

    *kept = *diff;
    memset(diff, 0, sizeof(*diff));
    sb__run_report_fill(run, r, kept, now, false);
    add_stage(run, r, stage);
    if (run->l->stage)
        run->l->stage(run->l->data, r);
}

static void report_checkpoint(
    struct sb_meter *m, const struct sb_snap *diff, uint64_t now)
{
    struct sb_run *run = m->run;
    struct sb_report r;

    meter_check_printed(m, diff);
    sb__run_report_fill(run, &r, diff, now, false);
    if (run->l->checkpoint)
        run->l->checkpoint(run->l->data, &r);
}

// Time at which a checkpoint is due.
static uint64_t checkpoint_at(const struct sb_meter *m, size_t number)
{
    const char *text = m->run->o->report_checkpoints.item[number];

    return m->run->warm_end + (uint64_t)(strtod(text, NULL) * 1e9);
}

// A group: all ranks have ended a section; sum: their figures.
static void on_section(
    void *arg, enum sb_section kind, unsigned number, struct sb_snap *sum)
{
    struct sb_meter *m = arg;

    if (kind == SB_SECTION_STAGE)
        report_stage(m, number, sum, start_of(m, number) + sum->ns);
    else
        report_checkpoint(m, sum, checkpoint_at(m, number));
}

// This process has ended a section, at `now`: reports its figures, or gives
// them to rank 0. May take over *diff.
static void end_section(struct sb_meter *m, enum sb_section kind,
    unsigned number, struct sb_snap *diff, uint64_t now)
{
    struct sb_run *run = m->run;

    if (run->group)
        run->group->ops->give_section(
            run, kind, number, diff, &run->stats[m->phase]);
    else if (kind == SB_SECTION_STAGE)
        report_stage(m, number, diff, now);
    else
        report_checkpoint(m, diff, now);
}

// Ends the stage in progress, if any, at snapshot s. 0 or SB_ENOMEM.
static int meter_stages_end(struct sb_meter *m, const struct sb_snap *s)
{
    struct sb_snap diff = { 0 };

    if (!m->run->staged || m->phase == SB_PHASE_WARMUP)
        return 0;
    if (!m->stages || !m->stage_diff)
        return SB_ENOMEM;
    assert(m->nstages <= m->stage && m->stage < stages_of(m)->n);
    int rc = sb_snap_sub(&diff, s, &m->stage_snap);

    if (rc == 0)
        end_section(m, SB_SECTION_STAGE, m->stage, &diff, s->ns);
    sb_snap_done(&diff);
    return rc;
}

// The end of a stage is due. If the report is so late that a whole stage has
// passed, that stage is part of the one before it.
static void meter_stages_due(struct sb_meter *m, uint64_t now, uint64_t until)
{
    const struct sb_run *run = m->run;
    struct sb_snap s = { 0 };

    // The final report ends the last stage.
    m->next_stage = UINT64_MAX;
    if (now >= run->deadline)
        return;
    if (sb__meter_snap_take(m, &s, SB_SNAP_FULL, &m->stage_snap, now, until) ||
        meter_stages_end(m, &s)) {
        sb_log(SB_LOG_WARNING, "no figures of a stage: out of memory");
        sb_snap_done(&s);
    } else {
        sb_snap_done(&m->stage_snap);
        m->stage_snap = s;
    }
    m->stage = sb_stages_at(stages_of(m), now - run->warm_end);
    m->next_stage = end_of_stage(m);
}

// The reporting side of a job: gives the figures of this rank to rank 0, and
// reports the sums over all ranks.

// Passes an interval of this rank to rank 0. The key of an interval is the
// last planned end before `now`; the key of the rest of an interval is the next
// planned end.
void sb__meter_group_interval(
    struct sb_meter *m, const struct sb_snap *diff, uint64_t now, bool partial)
{
    struct sb_run *run = m->run;
    uint64_t end = m->next_tick;

    uint64_t limit = m->phase == SB_PHASE_WARMUP ? run->warm_end
                                                 : run->deadline;

    while (!partial && end + m->interval <= now && end + m->interval <= limit)
        end += m->interval;
    if (partial && m->phase == SB_PHASE_WARMUP && now >= run->warm_end)
        end = run->warm_end;
    else if (partial && run->deadline < end)
        end = run->deadline;
    // Events that ended after the time limit are a rest of their own, with a
    // later key.
    if (end - run->t0 <= m->key)
        end = run->t0 + m->key + 1;
    run->group->ops->give_interval(
        run, diff, &run->stats[m->phase], m->key, end - run->t0, !partial);
    m->key = end - run->t0;
}

// Rank 0 is lost: reports the figures of this rank, as for a run of its own.
static void report_alone(struct sb_meter *m, const struct sb_snap *mine)
{
    struct sb_run *run = m->run;
    struct sb_group *g = run->group;
    const struct sb_snap start = { .ns = 0 };
    struct sb_snap end = { 0 };

    if (sb_snap_sub(&end, mine, &start))
        return;
    end.ns = m->phase_start + mine->ns;
    run->group = NULL;
    report_final(m, &end, mine, "rank 0 was lost");
    run->group = g;
}

// Reports the figures of all ranks. From now on, this rank has no more
// intervals. since: the figures of this rank since the last checkpoint, or
// NULL.
static void group_final(struct sb_meter *m, const struct sb_snap *mine,
    const struct sb_snap *since, uint64_t left, bool all_ended,
    struct sb_run_result *res)
{
    struct sb_run *run = m->run;
    struct sb_group_end e = { .pending = left,
        .all_ended = all_ended,
        .end = res->end,
        .signal = res->signal,
        .err = res->err };
    struct sb_snap end;

    run->group->ops->give_interval(run, NULL, NULL, 0, SB_GROUP_LAST, false);
    enum sb_group_report report = run->group->ops->end(
        run, mine, since, &run->stats[m->phase], &e);
    if (report == SB_GROUP_ALONE)
        report_alone(m, mine);
    if (report != SB_GROUP_ALL)
        return;
    res->end = e.end;
    res->signal = e.signal;
    res->err = e.err;
    res->told = false; // it may be the error of another rank
    meter_check_success(m, &e.sum, &e.sum, e.pending, e.all_ended, res);
    end = e.sum;
    end.ns = m->phase_start + e.sum.ns;
    // After the loss of a rank, only the figures of the whole run are known.
    report_final(m, &end, e.has_since ? &e.since : &e.sum,
        res->err.code ? res->err.msg : NULL);
    sb_snap_done(&e.since);
}

// The final report of all ranks, with the figures of this one: s, and the
// difference to the last checkpoint. 0 or SB_ENOMEM.
static int meter_group_final(struct sb_meter *m, const struct sb_snap *s,
    const struct sb_snap *diff, uint64_t left, bool all_ended,
    struct sb_run_result *res)
{
    const struct sb_snap start = { .ns = m->phase_start };
    struct sb_snap whole = { 0 };

    if (m->run->o->report_checkpoints.count == 0 || m->run->searching) {
        group_final(m, diff, NULL, left, all_ended, res);
        return 0;
    }
    int rc = sb_snap_sub(&whole, s, &start);
    if (rc == 0)
        group_final(m, &whole, diff, left, all_ended, res);
    sb_snap_done(&whole);
    return rc;
}

// Interval of a job without --report-interval.
#define GROUP_INTERVAL UINT64_C(1000000000)

void sb__meter_init(struct sb_meter *m, struct sb_run *run)
{
    memset(m, 0, sizeof(*m));
    m->run = run;
    m->interval = (uint64_t)(run->o->report_interval > 0
                                 ? run->o->report_interval
                             : run->l ? run->l->interval_ns
                                      : 0);
    // Rank 0 keeps the intervals of all ranks, in case one is lost.
    if (run->group && m->interval == 0)
        m->interval = GROUP_INTERVAL;
    if (run->group) {
        run->group->on_section = on_section;
        run->group->on_section_arg = m;
    }
    m->next_tick = m->next_checkpoint = m->next_stage = UINT64_MAX;
}

void sb__meter_done(struct sb_meter *m)
{
    sb_snap_done(&m->last);
    sb_snap_done(&m->checkpoint);
    sb_op_reader_done(&m->ops);
    meter_stages_done(m);
}

static void set_next_checkpoint(struct sb_meter *m)
{
    const struct sb_opt_list *list = &m->run->o->report_checkpoints;

    m->next_checkpoint = UINT64_MAX;
    if (m->phase == SB_PHASE_MEASURED && m->checkpoint_no < list->count)
        m->next_checkpoint = checkpoint_at(m, m->checkpoint_no);
}

static void read_operations(struct sb_meter *m)
{
    struct sb_run *run = m->run;

    sb_op_reader_done(&m->ops);
    // In a job they are always needed, because rank 0 keeps the intervals of
    // all ranks.
    if ((run->l->operations || run->group) && m->next_tick != UINT64_MAX &&
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
        meter_stages_start(m);
    if (m->run->group)
        m->run->group->ops->begin(m->run);
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
    struct sb_meter *m, uint64_t now, uint64_t until, bool partial, bool paused)
{
    struct sb_snap s = { 0 }, diff = { 0 };
    struct sb_report r;

    // The operations in `diff` belong to the reader m->ops, so they are removed
    // before `diff` is freed.
    if (take_interval(m, &s, &diff, now, until)) {
        sb_log(SB_LOG_WARNING, "no interval report: out of memory");
    } else {
        diff.op = m->ops.op;
        diff.nops = m->ops.nops;
        if (m->run->group) {
            sb__meter_group_interval(m, &diff, now, partial);
        } else {
            fill_report(m->run, &r, &diff, m->phase, m->phase_start, s.ns);
            r.partial = partial;
            r.paused = paused;
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
    bool wanted = m->run->group || m->run->l->partial;

    if (wanted && m->interval && now > m->last.ns)
        end_interval(m, now, until, true, false);
}

void sb__meter_pause(struct sb_meter *m)
{
    uint64_t now = sb_clock_monotonic();

    if (sb__meter_next(m) <= now)
        sb__meter_tick(m, now);
    end_rest(m, now, now);
    m->paused_at = now;
}

void sb__meter_resume(struct sb_meter *m)
{
    uint64_t now = sb_clock_monotonic();

    if (m->interval && now > m->last.ns)
        end_interval(m, now, now, true, true);
}

static void end_checkpoint(struct sb_meter *m, uint64_t now)
{
    struct sb_snap s = { 0 }, diff = { 0 };

    if (sb__meter_snap_take(
            m, &s, SB_SNAP_FULL, &m->checkpoint, now, report_end(m, now)) ||
        sb_snap_sub(&diff, &s, &m->checkpoint)) {
        sb_log(SB_LOG_WARNING, "no checkpoint report: out of memory");
    } else {
        end_section(
            m, SB_SECTION_CHECKPOINT, (unsigned)m->checkpoint_no, &diff, s.ns);
        sb_snap_done(&m->checkpoint);
        m->checkpoint = s;
        memset(&s, 0, sizeof(s));
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
            "there is room for %u different metrics: for all others, only the "
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
        end_interval(m, now, report_end(m, now), false, false);
        do
            m->next_tick += m->interval;
        while (m->next_tick <= now);
    }
    if (m->next_checkpoint <= now)
        end_checkpoint(m, now);
    if (m->next_stage <= now)
        meter_stages_due(m, now, report_end(m, now));
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
    if (m->phase == SB_PHASE_WARMUP && m->paused_at)
        now = until = m->paused_at;
    warn_full(m);
    if (!all_ended)
        close_recorders(m);
    // Arrivals that an interval line has counted stay scheduled.
    until = until > m->until ? until : m->until;
    end_rest(m, now, until);
    rc = sb__meter_snap_take(m, &s, SB_SNAP_FINAL, NULL, now, until);
    if (rc == 0)
        rc = meter_stages_end(m, &s);
    if (rc == 0)
        rc = sb_snap_sub(&diff, &s, &m->checkpoint);
    if (rc == 0 && run->group)
        rc = meter_group_final(
            m, &s, &diff, meter_snap_pending(m, until, &s), all_ended, res);
    if (rc == 0 && !run->group) {
        meter_check_success(
            m, &s, &diff, meter_snap_pending(m, until, &s), all_ended, res);
        report_final(m, &s, &diff, res->err.code ? res->err.msg : NULL);
    } else if (rc && !res->err.code) {
        sb_err_set(&res->err, rc, "no final report: out of memory");
        res->end = SB_END_FAILED;
    }
    sb_snap_done(&diff);
    sb_snap_done(&s);
}
