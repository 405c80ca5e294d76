// SPDX-License-Identifier: GPL-2.0-or-later
//
// A user in a mix: which component its next event or its visit has, and the
// figures of components.
#include <stdlib.h>
#include <string.h>

#include "run/mix_user.h"
#include "run/user_private.h"

// Stream of the random numbers that choose components; see also init_common().
#define MIX_STREAM (UINT64_C(1) << 41)

static bool by_users(const struct sb_run *run)
{
    return run->mixed && run->o->mix.by == SB_MIX_USERS;
}

static unsigned stage_at(const struct sb_run *run, uint64_t now)
{
    if (!run->staged)
        return 0;
    return sb_stages_at(
        &run->o->stages, now > run->warm_end ? now - run->warm_end : 0);
}

static const double *weights_of_stage(const struct sb_run *run, unsigned stage)
{
    return run->staged ? run->o->stages.stage[stage].mix : run->o->mix.weight;
}

// The components of the users of all ranks in each stage. Any range of users
// has the shares of the weights, to within two or three users. Stages with the
// same weights share them.
static int assign_components(struct sb_run *run)
{
    unsigned n = run->staged ? run->o->stages.n : 1;
    uint32_t users = (uint32_t)run->share.total;

    run->mix_of = calloc(n, sizeof(*run->mix_of));
    if (!run->mix_of)
        return SB_ENOMEM;
    for (unsigned i = 0; i < n; i++) {
        if (i > 0 &&
            memcmp(weights_of_stage(run, i), weights_of_stage(run, i - 1),
                sizeof(run->o->mix.weight)) == 0) {
            run->mix_of[i] = run->mix_of[i - 1];
            continue;
        }
        run->mix_of[i] = malloc(users);
        if (!run->mix_of[i])
            return SB_ENOMEM;
        sb_mix_assign(
            weights_of_stage(run, i), run->o->mix.n, run->mix_of[i], users);
    }
    return 0;
}

int sb__mix_user_register(struct sb_run *run)
{
    const struct sb_mix *m = &run->o->mix;

    run->mixed = !run->task && m->n > 0;
    if (!run->mixed)
        return 0;
    for (unsigned i = 0; i < m->n; i++)
        run->mix_op[i] = sb_stats_op(
            &run->stats[SB_PHASE_MEASURED], m->part[i].name, SB_OP_WORKLOAD);
    return by_users(run) ? assign_components(run) : 0;
}

void sb__mix_user_unregister(struct sb_run *run)
{
    unsigned n = run->staged ? run->o->stages.n : 1;

    for (unsigned i = 0; run->mix_of && i < n; i++)
        if (i == 0 || run->mix_of[i] != run->mix_of[i - 1])
            free(run->mix_of[i]);
    free(run->mix_of);
}

void sb__mix_user_init(struct sb_user *u)
{
    sb_rng_init(&u->priv->mix, u->run->random->seed, MIX_STREAM + u->number);
}

// Users -----------------------------------------------------------------------

unsigned sb__mix_user_component(const struct sb_user *u)
{
    const struct sb_run *run = u->run;
    uint64_t now = run->released ? sb_clock_monotonic() : 0;

    // Of the users of a stage, who come by turns, any range has the right
    // shares.
    return run
        ->mix_of[stage_at(run, now)][run->staged ? u->priv->turn : u->number];
}

uint64_t sb__mix_user_until(const struct sb_run *run, unsigned id, uint64_t ns)
{
    const struct sb_stages *s = &run->o->stages;
    uint64_t border = 0, user = run->priv[id].turn;
    unsigned now;

    if (!by_users(run))
        return UINT64_MAX;
    now = sb_stages_at(s, ns);
    for (unsigned i = 0; i < s->n; border += s->stage[i++].ns)
        if (i > now && run->mix_of[i][user] != run->mix_of[now][user])
            return border;
    return UINT64_MAX;
}

// Events ----------------------------------------------------------------------

bool sb__mix_user_keeps(struct sb_user *u, uint64_t arrival, uint64_t now)
{
    struct sb_user_priv *p = u->priv;
    const struct sb_run *run = u->run;
    unsigned k;

    if (run->o->mix.by == SB_MIX_USERS)
        return true;
    k = sb_mix_draw(weights_of_stage(run, stage_at(run, arrival)),
        run->o->mix.n, sb_rng_double(&p->mix));
    if (k == p->component)
        return true;
    p->handed = true;
    p->next_component = k;
    p->handed_arrival = arrival;
    p->handed_start = now;
    // Counts as pending until it starts.
    if (run->open_loop)
        atomic_store_explicit(&p->held, arrival, memory_order_relaxed);
    return false;
}

void sb__mix_user_started(struct sb_user *u)
{
    u->rec->workload = 1 + u->run->mix_op[u->priv->component];
}

void sb__mix_user_completed(struct sb_user *u, uint64_t now)
{
    uint64_t since = u->run->open_loop ? atomic_load_explicit(
                                             &u->arrival, memory_order_relaxed)
                                       : u->start;

    sb_rec_op(u->rec, u->run->mix_op[u->priv->component], now - since);
}
