// SPDX-License-Identifier: GPL-2.0-or-later
//
// mutex: each thread runs one event, which locks random mutexes of a large
// array, with a short busy loop before each.
#include "builtin/builtin.h"

#include <pthread.h>
#include <stdlib.h>

struct mutex_opts {
    int64_t num, locks, loops;
};

// One mutex per cache line, so that neighbors do not slow each other down.
struct slot {
    _Alignas(64) pthread_mutex_t lock;
    uint64_t touched; // protected by the mutex
};

struct mutex {
    struct sb_workload w;
    const struct mutex_opts *o;
    struct slot *slot; // o->num entries
};

static const struct sb_opt mutex_options[] = {
    { .name = "mutex-num",
        .type = SB_OPT_INT,
        .offset = offsetof(struct mutex_opts, num),
        .def = "4096",
        .min = 1,
        .max = 1e8,
        .help = "total size of mutex array" },
    { .name = "mutex-locks",
        .type = SB_OPT_INT,
        .offset = offsetof(struct mutex_opts, locks),
        .def = "50000",
        .min = 0,
        .max = 1e15,
        .help = "number of mutex locks to do per thread" },
    { .name = "mutex-loops",
        .type = SB_OPT_INT,
        .offset = offsetof(struct mutex_opts, loops),
        .def = "10000",
        .min = 0,
        .max = 1e15,
        .help = "number of empty loops to do outside mutex lock" },
    { .name = NULL },
};

static const struct sb_opt_table mutex_opt_table = {
    .title = "mutex options",
    .opts = mutex_options,
};

static void mutex_event(struct mutex *t, struct sb_user *u)
{
    for (int64_t i = 0; i < t->o->locks; i++) {
        struct slot *s =
            &t->slot[sb_rng_below(&u->random.rng, (uint64_t)t->o->num)];

        for (int64_t n = t->o->loops; n > 0; n--)
            atomic_signal_fence(memory_order_seq_cst); // keeps the loop
        pthread_mutex_lock(&s->lock);
        s->touched++;
        pthread_mutex_unlock(&s->lock);
    }
}

static int mutex_user_run(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    if (sb_user_next(u) == 1) {
        mutex_event(w->data, u);
        sb_user_end(u);
    }
    return 0;
}

static const struct sb_workload_ops mutex_ops = { .user_run = mutex_user_run };

static struct sb_workload *mutex_create(
    const void *opts, const struct sb_run_opts *run, struct sb_err *err)
{
    const struct mutex_opts *o = opts;
    struct mutex *t = calloc(1, sizeof(*t));

    if (t)
        t->slot = aligned_alloc(
            _Alignof(struct slot), (size_t)o->num * sizeof(*t->slot));
    if (!t || !t->slot) {
        free(t);
        sb_err_set(err, SB_ENOMEM, "mutex: out of memory");
        return NULL;
    }
    t->w = (struct sb_workload){ .ops = &mutex_ops, .data = t, .blocks = true };
    t->o = o;
    for (int64_t i = 0; i < o->num; i++) {
        pthread_mutex_init(&t->slot[i].lock, NULL);
        t->slot[i].touched = 0;
    }
    return &t->w;
}

static void mutex_destroy(struct sb_workload *w)
{
    struct mutex *t = w ? w->data : NULL;

    if (!t)
        return;
    for (int64_t i = 0; i < t->o->num; i++)
        pthread_mutex_destroy(&t->slot[i].lock);
    free(t->slot);
    free(t);
}

static bool mutex_ends(const void *opts)
{
    return true;
}

const struct sb_builtin sb__bench_mutex = {
    .name = "mutex",
    .title = "Mutex performance test",
    .opts = &mutex_opt_table,
    .opts_size = sizeof(struct mutex_opts),
    .own_limit = true,
    .ends = mutex_ends,
    .create = mutex_create,
    .destroy = mutex_destroy,
};
