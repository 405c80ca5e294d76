// SPDX-License-Identifier: GPL-2.0-or-later
//
// The figures of stages: the differences of snapshots at their borders.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "run/joint_sections.h"
#include "run/meter_report_private.h"
#include "run/meter_snap.h"
#include "run/meter_stages_private.h"
#include "run/run_private.h"

static const struct sb_stages *stages_of(const struct sb_meter *m)
{
    return &m->run->o->stages;
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

void sb__meter_stages_start(struct sb_meter *m)
{
    if (!m->run->staged)
        return;
    m->stage_snap.ns = m->run->warm_end;
    m->next_stage = end_of_stage(m);
    m->stages = calloc(stages_of(m)->n, sizeof(*m->stages));
    m->stage_diff = calloc(stages_of(m)->n, sizeof(*m->stage_diff));
}

void sb__meter_stages_done(struct sb_meter *m)
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

static void tell_stage(struct sb_meter *m, const struct sb_report *r)
{
    if (m->run->l->stage)
        m->run->l->stage(m->run->l->data, r);
}

void sb__meter_stages_sum(
    struct sb_meter *m, unsigned stage, struct sb_snap *sum)
{
    struct sb_report *r;

    if (!m->stages || !m->stage_diff || stage >= stages_of(m)->n)
        return;
    struct sb_snap *diff = &m->stage_diff[m->nstages];

    r = &m->stages[m->nstages++];
    *diff = *sum;
    memset(sum, 0, sizeof(*sum));
    sb__run_report_fill(m->run, r, diff, start_of(m, stage) + diff->ns, false);
    sb__run_report_stage(m->run, r, stage);
    tell_stage(m, r);
}

static int share_stage(struct sb_meter *m, const struct sb_snap *s)
{
    struct sb_snap diff = { 0 };
    int rc = sb_snap_sub(&diff, s, &m->stage_snap);

    if (rc == 0)
        sb__joint_sections_add(
            m->run, SB__JOINT_STAGE, m->stage, &diff, &m->run->stats[m->phase]);
    sb_snap_done(&diff);
    return rc;
}

int sb__meter_stages_end(struct sb_meter *m, const struct sb_snap *s)
{
    if (!m->run->staged || m->phase == SB_PHASE_WARMUP)
        return 0;
    if (!m->stages || !m->stage_diff)
        return SB_ENOMEM;
    if (m->run->joint)
        return share_stage(m, s);

    assert(m->nstages <= m->stage && m->stage < stages_of(m)->n);
    struct sb_snap *diff = &m->stage_diff[m->nstages];
    struct sb_report *r = &m->stages[m->nstages];
    int rc = sb_snap_sub(diff, s, &m->stage_snap);

    if (rc)
        return rc;
    m->nstages++;
    sb__meter_report_fill(m, r, diff, s);
    sb__run_report_stage(m->run, r, m->stage);
    tell_stage(m, r);
    return 0;
}

// If the report is so late that a whole stage has passed, that stage is part of
// the one before it.
void sb__meter_stages_due(struct sb_meter *m, uint64_t now, uint64_t until)
{
    const struct sb_run *run = m->run;
    struct sb_snap s = { 0 };

    // The final report ends the last stage.
    m->next_stage = UINT64_MAX;
    if (now >= run->deadline)
        return;
    if (sb__meter_snap_take(m, &s, SB_SNAP_FULL, &m->stage_snap, now, until) ||
        sb__meter_stages_end(m, &s)) {
        sb_log(SB_LOG_WARNING, "no figures of a stage: out of memory");
        sb_snap_done(&s);
    } else {
        sb_snap_done(&m->stage_snap);
        m->stage_snap = s;
    }
    m->stage = sb_stages_at(stages_of(m), now - run->warm_end);
    m->next_stage = end_of_stage(m);
}
