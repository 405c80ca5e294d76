// SPDX-License-Identifier: GPL-2.0-or-later
//
// The figures of stages: the differences of snapshots at their borders.
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "run/run_private.h"

static const struct sb_stages *stages_of(const struct sb_meter *m)
{
    return &m->run->o->stages;
}

// Time at which the stage in progress ends; the last one ends with the run.
static uint64_t end_of_stage(const struct sb_meter *m)
{
    const struct sb_stages *s = stages_of(m);
    uint64_t end = m->run->warm_end;

    if (m->stage + 1 >= s->n)
        return UINT64_MAX;
    for (unsigned i = 0; i <= m->stage; i++)
        end += s->stage[i].ns;
    return end;
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

static void name(const struct sb_meter *m, struct sb_report *r, unsigned stage)
{
    const struct sb_stage *s = &stages_of(m)->stage[stage];

    r->stage = stage;
    r->stage_name = s->name;
    r->stage_users[0] = s->users_from;
    r->stage_users[1] = s->users_to;
    r->stage_rate[0] = s->rate_from;
    r->stage_rate[1] = s->rate_to;
    r->stage_mix = s->mix_text;
}

void sb__meter_stage_of(
    const struct sb_meter *m, struct sb_report *r, uint64_t now)
{
    uint64_t start = m->run->warm_end;
    uint64_t middle = now - r->snap->ns / 2;

    if (m->run->staged)
        name(m, r,
            sb_stages_at(stages_of(m), middle > start ? middle - start : 0));
}

int sb__meter_stage_end(struct sb_meter *m, const struct sb_snap *s)
{
    if (!m->run->staged || m->phase == SB_PHASE_WARMUP)
        return 0;
    if (!m->stages || !m->stage_diff)
        return SB_ENOMEM;

    struct sb_snap *diff = &m->stage_diff[m->nstages];
    struct sb_report *r = &m->stages[m->nstages];
    int rc = sb_snap_sub(diff, s, &m->stage_snap);

    if (rc)
        return rc;
    m->nstages++;
    sb__meter_report(m, r, diff, s);
    name(m, r, m->stage);
    if (m->run->l->stage)
        m->run->l->stage(m->run->l->data, r);
    return 0;
}

// If the report is so late that a whole stage has passed, that stage is part of
// the one before it.
void sb__meter_stage_due(struct sb_meter *m, uint64_t now, uint64_t until)
{
    const struct sb_run *run = m->run;
    struct sb_snap s = { 0 };

    // The final report ends the last stage.
    m->next_stage = UINT64_MAX;
    if (now >= run->deadline)
        return;
    if (sb__meter_snapshot(m, &s, SB_SNAP_FULL, &m->stage_snap, now, until) ||
        sb__meter_stage_end(m, &s)) {
        sb_log(SB_LOG_WARNING, "no figures of a stage: out of memory");
        sb_snap_done(&s);
    } else {
        sb_snap_done(&m->stage_snap);
        m->stage_snap = s;
    }
    m->stage = sb_stages_at(stages_of(m), now - run->warm_end);
    m->next_stage = end_of_stage(m);
}
