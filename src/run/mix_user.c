// SPDX-License-Identifier: GPL-2.0-or-later
//
// A user in a mix: which component its next event or its visit has, and the
// figures of components.
#include "run/mix_user.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "run/run_state.h"

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
        sb__run_stages(run), now > run->warm_end ? now - run->warm_end : 0);
}

static const double *weights_of_stage(const struct sb_run *run, unsigned stage)
{
    return run->staged ? sb__run_stages(run)->stage[stage].mix
                       : run->o->mix.weight;
}

// The components of the users of all ranks in each stage. Any range of users
// has the shares of the weights, to within two or three users. Stages with the
// same weights share them.
static int assign_components(struct sb_run *run)
{
    unsigned n = run->staged ? sb__run_stages(run)->n : 1;
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
    unsigned n = run->staged ? sb__run_stages(run)->n : 1;

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

// If users are assigned to components: the present component of this user. The
// user's thread.
static unsigned mix_user_component(const struct sb_user *u)
{
    const struct sb_run *run = u->run;
    uint64_t now = run->released ? sb_clock_monotonic() : 0;

    // In a run with stages, users come in the order of their turns, so that any
    // range of turns must have the shares of the weights.
    return run
        ->mix_of[stage_at(run, now)][run->staged ? u->priv->turn : u->number];
}

uint64_t sb__mix_user_until(const struct sb_run *run, unsigned id, uint64_t ns)
{
    const struct sb_stages *s = sb__run_stages(run);
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

// The workload of a mix: calls the workloads of its components.

static struct sb_mixed *mixed_of(struct sb_workload *w)
{
    return w->data;
}

// The code of component k runs next.
static void enter_component(struct sb_mixed *m, struct sb_user *u, unsigned k)
{
    assert(k < m->mix->n);
    u->priv->component = k;
    u->prefix = m->mix->part[k].prefix;
}

static int begin_parts(struct sb_workload *w, struct sb_err *err)
{
    struct sb_mixed *m = mixed_of(w);
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < m->mix->n; i++)
        if (m->part[i]->ops->begin)
            rc = m->part[i]->ops->begin(m->part[i], err);
    return rc;
}

static int check_parts(struct sb_workload *w, struct sb_err *err)
{
    struct sb_mixed *m = mixed_of(w);
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < m->mix->n; i++)
        if (m->part[i]->check_name)
            rc = m->part[i]->ops->check(m->part[i], err);
    return rc;
}

static void cancel_check(struct sb_workload *w)
{
    struct sb_mixed *m = mixed_of(w);

    for (unsigned i = 0; i < m->mix->n; i++)
        if (m->part[i]->check_name)
            m->part[i]->ops->cancel_check(m->part[i]);
}

// Returns whether a user that has component `own` has component k, too.
static bool has_workload(const struct sb_mixed *m, unsigned own, unsigned k)
{
    return m->mix->by == SB_MIX_EVENTS || own == k;
}

static int user_init(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb_mixed *m = mixed_of(w);
    int rc = 0;

    if (m->mix->by == SB_MIX_USERS)
        u->priv->component = mix_user_component(u);
    unsigned own = u->priv->component;
    for (unsigned i = 0; rc == 0 && i < m->mix->n; i++) {
        if (!has_workload(m, own, i))
            continue;
        enter_component(m, u, i);
        rc = m->part[i]->ops->user_init(m->part[i], u, err);
    }
    return rc;
}

// Changes the component until the run is over for this user.
static int user_run(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb_mixed *m = mixed_of(w);
    unsigned k = u->priv->component;

    for (;;) {
        enter_component(m, u, k);
        int rc = m->part[k]->ops->user_run(m->part[k], u, err);

        // The loop has not ended for an event of another component, or has not
        // started the event that was handed to it: do not call it again.
        if (rc || !u->priv->handed || u->priv->next_component == k)
            return rc;
        k = u->priv->next_component;
    }
}

static int user_done(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb_mixed *m = mixed_of(w);
    unsigned own = u->priv->component;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < m->mix->n; i++) {
        if (!has_workload(m, own, i))
            continue;
        enter_component(m, u, i);
        if (m->part[i]->ops->user_done)
            rc = m->part[i]->ops->user_done(m->part[i], u, err);
    }
    return rc;
}

static enum sb_held user_held(struct sb_workload *w, struct sb_user *u,
    const struct sb_hold *hold, char *what, size_t size)
{
    struct sb_workload *part = mixed_of(w)->part[u->priv->component];

    return part->ops->user_held
               ? part->ops->user_held(part, u, hold, what, size)
               : SB_HELD_UNKNOWN;
}

static enum sb_held user_stuck(struct sb_workload *w, struct sb_user *u,
    pthread_t thread, char *what, size_t size)
{
    struct sb_workload *part = mixed_of(w)->part[u->priv->component];

    return part->ops->user_stuck
               ? part->ops->user_stuck(part, u, thread, what, size)
               : SB_HELD_UNKNOWN;
}

static bool user_connected(struct sb_workload *w, const struct sb_user *u)
{
    struct sb_mixed *m = mixed_of(w);
    bool any = false;

    for (unsigned i = 0; i < m->mix->n; i++) {
        const struct sb_workload_ops *o = m->part[i]->ops;

        any = any ||
              (has_workload(m, u->priv->component, i) &&
                  (!o->user_connected || o->user_connected(m->part[i], u)));
    }
    return any;
}

static void user_free(struct sb_workload *w, struct sb_user *u)
{
    struct sb_mixed *m = mixed_of(w);

    for (unsigned i = 0; i < m->mix->n; i++)
        m->part[i]->ops->user_free(m->part[i], u);
}

// Components that this user does not have ignore it.
static void cancel_user(struct sb_workload *w, struct sb_user *u)
{
    struct sb_mixed *m = mixed_of(w);

    for (unsigned i = 0; i < m->mix->n; i++)
        m->part[i]->ops->cancel(m->part[i], u);
}

// Every component ends, also if one fails; the first error is returned.
static int end_parts(struct sb_workload *w, struct sb_err *err)
{
    struct sb_mixed *m = mixed_of(w);
    struct sb_err later;
    int rc = 0;

    for (unsigned i = 0; i < m->mix->n; i++) {
        int one = m->part[i]->ops->end
                      ? m->part[i]->ops->end(m->part[i], rc ? &later : err)
                      : 0;

        rc = rc ? rc : one;
    }
    return rc;
}

static void tell_parts_failed(struct sb_workload *w, const char *why)
{
    struct sb_mixed *m = mixed_of(w);

    for (unsigned i = 0; i < m->mix->n; i++) {
        if (m->part[i]->ops->failed)
            m->part[i]->ops->failed(m->part[i], why);
    }
}

static void share_parts(struct sb_workload *w, struct sb_buf *b)
{
    struct sb_mixed *m = mixed_of(w);

    for (unsigned i = 0; i < m->mix->n; i++)
        if (m->part[i]->ops->share)
            m->part[i]->ops->share(m->part[i], b);
}

static int adopt_parts(
    struct sb_workload *w, struct sb_wire *r, struct sb_err *err)
{
    struct sb_mixed *m = mixed_of(w);
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < m->mix->n; i++)
        if (m->part[i]->ops->adopt)
            rc = m->part[i]->ops->adopt(m->part[i], r, err);
    return rc;
}

static bool give_results(struct sb_workload *w, struct sb_buf *b, size_t max)
{
    struct sb_mixed *m = mixed_of(w);
    bool more = false;

    for (unsigned i = 0; i < m->mix->n; i++)
        if (m->part[i]->ops->give_results)
            more |= m->part[i]->ops->give_results(m->part[i], b, max);
    return more;
}

static int take_results(
    struct sb_workload *w, unsigned rank, struct sb_wire *r, struct sb_err *err)
{
    struct sb_mixed *m = mixed_of(w);
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < m->mix->n; i++)
        if (m->part[i]->ops->take_results)
            rc = m->part[i]->ops->take_results(m->part[i], rank, r, err);
    return rc;
}

static const struct sb_workload_ops ops = {
    .begin = begin_parts,
    .share = share_parts,
    .adopt = adopt_parts,
    .check = check_parts,
    .cancel_check = cancel_check,
    .user_init = user_init,
    .user_run = user_run,
    .user_done = user_done,
    .user_held = user_held,
    .user_stuck = user_stuck,
    .user_connected = user_connected,
    .user_free = user_free,
    .cancel = cancel_user,
    .give_results = give_results,
    .take_results = take_results,
    .end = end_parts,
    .failed = tell_parts_failed,
};

void sb_mixed_init(struct sb_mixed *m)
{
    assert(m->mix->n > 0);
    m->workload = (struct sb_workload){ .ops = &ops, .data = m };
    for (unsigned i = 0; i < m->mix->n; i++)
        m->workload.blocks |= m->part[i]->blocks;
    for (unsigned i = 0; i < m->mix->n; i++) {
        m->part[i]->slot = i;
        if (m->part[i]->check_name)
            m->workload.check_name = m->part[i]->check_name;
    }
}
