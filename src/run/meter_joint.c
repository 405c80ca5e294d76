// SPDX-License-Identifier: GPL-2.0-or-later
//
// The reporting side of a job: gives the figures of this rank to rank 0, and
// reports the sums over all ranks.
#include <stdlib.h>
#include <string.h>

#include "run/joint_end.h"
#include "run/joint_intervals.h"
#include "run/joint_sections.h"
#include "run/meter_check.h"
#include "run/meter_joint_private.h"
#include "run/meter_report_private.h"
#include "run/meter_stages_private.h"
#include "run/run_private.h"

// The planned end of an interval is the last one before `now`; that of the rest
// of an interval is the next one.
void sb__meter_joint_interval(
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
    // Events that ended after the time limit.
    if (end - run->t0 <= m->key)
        end = run->t0 + m->key + 1;
    sb__joint_intervals_add(
        run, diff, &run->stats[m->phase], m->key, end - run->t0, !partial);
    m->key = end - run->t0;
}

void sb__meter_joint_checkpoint(
    struct sb_meter *m, struct sb_snap *s, const struct sb_snap *diff)
{
    sb__joint_sections_add(m->run, SB__JOINT_CHECKPOINT,
        (unsigned)m->checkpoint_no, diff, &m->run->stats[m->phase]);
    sb_snap_done(&m->checkpoint);
    m->checkpoint = *s;
    memset(s, 0, sizeof(*s));
}

static void report_checkpoint(
    struct sb_meter *m, unsigned number, const struct sb_snap *sum)
{
    struct sb_run *run = m->run;
    const char *text = run->o->report_checkpoints.item[number];
    uint64_t at = run->warm_end + (uint64_t)(strtod(text, NULL) * 1e9);
    struct sb_report r;

    sb__meter_check_printed(m, sum);
    sb__run_report_fill(run, &r, sum, at, false);
    if (run->l->checkpoint)
        run->l->checkpoint(run->l->data, &r);
}

static void report_section(void *arg, enum sb__joint_section_kind kind,
    unsigned number, struct sb_snap *sum)
{
    if (kind == SB__JOINT_STAGE)
        sb__meter_stages_sum(arg, number, sum);
    else
        report_checkpoint(arg, number, sum);
}

void sb__meter_joint_init(struct sb_meter *m)
{
    sb__joint_sections_on(m->run->joint, report_section, m);
}

// Rank 0 is lost: the report of this rank, as that of a run of its own.
static void report_alone(struct sb_meter *m, const struct sb_snap *mine)
{
    struct sb_run *run = m->run;
    struct sb__joint *j = run->joint;
    const struct sb_snap start = { .ns = 0 };
    struct sb_snap end = { 0 };

    if (sb_snap_sub(&end, mine, &start))
        return;
    end.ns = m->phase_start + mine->ns;
    run->joint = NULL;
    sb__meter_report_cumulative(
        m, &end, mine, run->l->final, true, "rank 0 was lost");
    run->joint = j;
}

// The figures of all ranks. From now on, this rank has nothing to send. since:
// those of this rank since the last checkpoint, or NULL.
static void joint_final(struct sb_meter *m, const struct sb_snap *mine,
    const struct sb_snap *since, uint64_t left, bool all_ended,
    struct sb_run_result *res)
{
    struct sb_run *run = m->run;
    struct sb__joint_end e = { .pending = left,
        .all_ended = all_ended,
        .end = res->end,
        .signal = res->signal,
        .err = res->err };
    struct sb_snap end;

    sb__joint_intervals_add(run, mine, NULL, 0, SB__JOINT_END, false);
    enum sb__joint_report report = sb__joint_end_final(
        run, mine, since, &run->stats[m->phase], &e);
    if (report == SB__JOINT_ALONE)
        report_alone(m, mine);
    if (report != SB__JOINT_ALL)
        return;
    res->end = e.end;
    res->signal = e.signal;
    res->err = e.err;
    res->told = false; // it may be the error of another rank
    sb__meter_check_success(m, &e.sum, &e.sum, e.pending, e.all_ended, res);
    end = e.sum;
    end.ns = m->phase_start + e.sum.ns;
    // After the loss of a rank, only the whole is known.
    sb__meter_report_cumulative(m, &end, e.has_since ? &e.since : &e.sum,
        run->l->final, true, res->err.code ? res->err.msg : NULL);
    sb_snap_done(&e.since);
}

int sb__meter_joint_final(struct sb_meter *m, const struct sb_snap *s,
    const struct sb_snap *diff, uint64_t left, bool all_ended,
    struct sb_run_result *res)
{
    const struct sb_snap start = { .ns = m->phase_start };
    struct sb_snap whole = { 0 };

    if (m->run->o->report_checkpoints.count == 0 || m->run->searching) {
        joint_final(m, diff, NULL, left, all_ended, res);
        return 0;
    }
    int rc = sb_snap_sub(&whole, s, &start);
    if (rc == 0)
        joint_final(m, &whole, diff, left, all_ended, res);
    sb_snap_done(&whole);
    return rc;
}
