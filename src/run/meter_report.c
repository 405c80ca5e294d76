// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/meter_report_private.h"

#include <string.h>

#include "run/joint.h"
#include "run/run_private.h"

// Adds the queue length at this moment, not the growth during the interval.
static void add_queue(struct sb_report *r, const struct sb_snap *s)
{
    uint64_t begun = s->c.started + s->skipped;

    r->queue = s->scheduled > begun ? s->scheduled - begun : 0;
    r->concurrency = s->unfinished;
    r->running = s->running;
}

void sb__meter_report_fill(struct sb_meter *m, struct sb_report *r,
    const struct sb_snap *diff, const struct sb_snap *s)
{
    struct sb_run *run = m->run;
    uint64_t now = s->ns;

    sb_report_fill(r, diff, sb__run_report_users(run), run->open_loop,
        (double)(now - m->phase_start) / 1e9);
    r->warmup = m->phase == SB_PHASE_WARMUP;
    r->warmup_s = run->searching ? 0 : (double)run->o->warmup_time / 1e9;
    r->start_ns = m->phase_start;
    r->stats = sb__run_report_names(run, m->phase);
    add_queue(r, s);
    // At the time limit, users have just ended their loops. They count as
    // running, because they ran during this interval.
    if (now >= run->deadline)
        r->running = sb__run_report_users_at_end(run);
    sb__run_report_stage_at(run, r, now);
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

void sb__meter_report_cumulative(struct sb_meter *m, struct sb_snap *s,
    const struct sb_snap *diff,
    void (*tell)(void *data, const struct sb_report *r), bool final,
    const char *failure)
{
    struct sb_report r;

    sb__meter_report_fill(m, &r, diff, s);
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
