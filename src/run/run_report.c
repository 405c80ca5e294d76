// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run_report.h"

#include <assert.h>

#include "run/user_private.h"

void sb__run_report_stage(
    const struct sb_run *run, struct sb_report *r, unsigned stage)
{
    const struct sb_stage *s = &run->o->stages.stage[stage];

    assert(stage < run->o->stages.n);
    r->stage = stage;
    r->stage_name = s->name;
    r->stage_users[0] = s->users_from;
    r->stage_users[1] = s->users_to;
    r->stage_rate[0] = s->rate_from;
    r->stage_rate[1] = s->rate_to;
    r->stage_mix = s->mix_text;
}

void sb__run_report_stage_at(
    const struct sb_run *run, struct sb_report *r, uint64_t now)
{
    uint64_t start = run->warm_end;
    uint64_t middle = now - r->snap->ns / 2;

    if (run->staged)
        sb__run_report_stage(run, r,
            sb_stages_at(&run->o->stages, middle > start ? middle - start : 0));
}

unsigned sb__run_report_users(const struct sb_run *run)
{
    return (unsigned)(run->joint ? run->o->threads : run->users);
}

unsigned sb__run_report_users_at_end(const struct sb_run *run)
{
    uint64_t last = run->deadline - run->warm_end - 1;
    unsigned n = 0;

    if (!run->staged)
        return sb__run_report_users(run);
    if (run->joint)
        return sb_stages_users(&run->o->stages, last);
    for (unsigned i = 0; i < run->users; i++) {
        uint64_t until;

        n += sb_stages_user(&run->o->stages, run->priv[i].turn, last, &until);
    }
    return n;
}

const struct sb_stats *sb__run_report_names(
    const struct sb_run *run, enum sb_phase phase)
{
    return run->joint ? run->names : &run->stats[phase];
}

void sb__run_report_fill(struct sb_run *run, struct sb_report *r,
    const struct sb_snap *sum, uint64_t now, bool warmup)
{
    uint64_t start = warmup ? run->t0 : run->warm_end;
    enum sb_phase phase = warmup ? SB_PHASE_WARMUP : SB_PHASE_MEASURED;

    sb_report_fill(r, sum, sb__run_report_users(run), run->open_loop,
        (double)(now - start) / 1e9);
    r->warmup = warmup;
    r->warmup_s = run->searching ? 0 : (double)run->o->warmup_time / 1e9;
    r->start_ns = start;
    r->stats = sb__run_report_names(run, phase);
    r->queue = sum->queue;
    r->concurrency = sum->unfinished;
    r->running = now >= run->deadline ? sb__run_report_users_at_end(run)
                                      : sum->running;
    sb__run_report_stage_at(run, r, now);
}
