// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "run/group.h"
#include "run/loops.h"
#include "run/lock.h"
#include "run/mix_user.h"
#include "run/user_private.h"

struct sb_run *sb__run_state_new(struct sb_workload *w,
    const struct sb_run_opts *o, struct sb_random_shared *random)
{
    struct sb_run *run = calloc(1, sizeof(*run));

    if (run) {
        run->w = w;
        run->o = o;
        run->random = random;
        if (o->share.ranks)
            run->share = o->share;
        else
            sb_share_whole(&run->share, (uint64_t)o->threads);
        run->users = (unsigned)run->share.users;
        run->events = sb_share_of(&run->share, (uint64_t)o->events);
    }
    return run;
}

static int init_stats(struct sb_run *run)
{
    unsigned n = run->users;
    unsigned shards = sb_stats_shards(n, sb_host_usable());
    int rc = sb_stats_init(
        &run->stats[SB_PHASE_MEASURED], n, shards, run->open_loop);

    bool warm = run->o->warmup_time > 0 || run->searching;
    if (rc == 0 && run->workers > 0)
        rc = sb_stats_add_delays(&run->stats[SB_PHASE_MEASURED]);
    if (rc == 0 && warm)
        rc = sb_stats_init(
            &run->stats[SB_PHASE_WARMUP], n, shards, run->open_loop);
    if (rc == 0 && warm && run->workers > 0)
        rc = sb_stats_add_delays(&run->stats[SB_PHASE_WARMUP]);
    if (rc == 0 && warm)
        sb_stats_twin(
            &run->stats[SB_PHASE_MEASURED], &run->stats[SB_PHASE_WARMUP]);
    return rc;
}

static int init_pace(struct sb_run *run)
{
    if (run->searching)
        return 0; // each part has a schedule of its own
    if (run->staged)
        return sb__run_pace_stages(run, (uint64_t)run->o->warmup_time);
    sb_pace_init(&run->pace, (enum sb_pace_kind)run->o->arrivals, run->o->rate,
        sb_rng_mix(run->random->seed));
    sb_pace_divide(&run->pace, &run->share);
    return 0;
}

// The rates of the stages are parts of the one that the search finds.
static int init_stages(struct sb_run *run)
{
    const struct sb_stages *s = &run->o->stages;

    run->staged = !run->task && !run->searching && s->n > 0;
    if (!run->searching || s->n == 0)
        return 0;
    run->search.stages = malloc(sizeof(*s));
    if (!run->search.stages)
        return SB_ENOMEM;
    *run->search.stages = *s;
    return 0;
}

int sb__run_state_init(struct sb_run *run)
{
    unsigned processors = sb_host_usable();
    size_t n = run->users;

    sb_clock_init(&run->clock);
    run->open_loop = !run->task && sb_run_opts_open_loop(run->o);
    run->searching = !run->task && sb_run_opts_finds_rate(run->o);
    if (init_stages(run))
        return SB_ENOMEM;
    run->limited = !run->task && run->o->events > 0;
    if (!run->task && !run->w->blocks)
        run->workers = sb_run_opts_workers(run->o, run->users, processors);
    run->crowded = run->users > processors;
    run->user = aligned_alloc(64, n * sizeof(*run->user));
    run->priv = calloc(n, sizeof(*run->priv));
    if (run->user)
        memset(run->user, 0, n * sizeof(*run->user));
    if (!run->user || !run->priv || sb__lock_init(&run->lock, &run->changed))
        return SB_ENOMEM;
    run->has_lock = true;
    if (sb_crew_init(&run->crew, (unsigned)n))
        return SB_ENOMEM;
    if (run->open_loop && init_pace(run))
        return SB_ENOMEM;
    int rc = run->task ? 0 : init_stats(run);
    if (rc == 0)
        rc = sb__mix_user_register(run);
    // Before the first thread, because that may have to stop all users.
    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = sb__user_init(&run->user[i], run, i);
    if (rc == 0 && run->o->job)
        rc = run->o->join(run);
    return rc;
}

static void leave_group(struct sb_run *run)
{
    if (run->group)
        run->group->ops->leave(run);
}

static void free_run(struct sb_run *run)
{
    leave_group(run);
    sb__loops_free(run);
    for (size_t i = 0; run->user && i < run->users; i++) {
        assert(!run->priv || !run->priv[i].has_thread); // it uses the run
        sb__user_done(&run->user[i]);
    }
    sb_stats_done(&run->stats[SB_PHASE_WARMUP]);
    sb_stats_done(&run->stats[SB_PHASE_MEASURED]);
    sb__mix_user_unregister(run);
    sb_crew_done(&run->crew);
    sb_pace_done(&run->pace);
    if (run->has_lock) {
        pthread_cond_destroy(&run->changed);
        pthread_mutex_destroy(&run->lock);
    }
    free(run->search.stages);
    free(run->search.trials);
    free(run->priv);
    free(run->user);
    free(run);
}

// Users that are still running use the run, so it is not freed.
int sb__run_state_end(struct sb_run *run, const struct sb_run_result *res)
{
    int rc = res->err.code;

    if (res->unjoined)
        leave_group(run);
    else
        free_run(run);
    return rc;
}
