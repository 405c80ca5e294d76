// SPDX-License-Identifier: GPL-2.0-or-later
//
// threads: repeatedly takes a lock, yields and releases it, to measure how the
// scheduler handles threads that compete for few locks.
#include "builtin/builtin.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

struct threads_opts {
    int64_t yields, locks;
};

struct threads {
    struct sb_workload w;
    const struct threads_opts *o;
    pthread_mutex_t *lock; // o->locks entries
};

static const struct sb_opt threads_options[] = {
    { .name = "thread-yields",
        .type = SB_OPT_INT,
        .offset = offsetof(struct threads_opts, yields),
        .def = "1000",
        .min = 0,
        .max = 1e15,
        .help = "number of yields to do per request" },
    { .name = "thread-locks",
        .type = SB_OPT_INT,
        .offset = offsetof(struct threads_opts, locks),
        .def = "8",
        .min = 1,
        .max = 1e7,
        .help = "number of locks per thread" },
    { .name = NULL },
};

static const struct sb_opt_table threads_opt_table = {
    .title = "threads options",
    .opts = threads_options,
};

static int threads_user_run(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct threads *t = w->data;
    uint64_t locks = (uint64_t)t->o->locks;

    while (sb_user_next(u) == 1) {
        pthread_mutex_t *lock = &t->lock[sb_rng_below(&u->random.rng, locks)];

        for (int64_t i = 0; i < t->o->yields; i++) {
            pthread_mutex_lock(lock);
            sched_yield();
            pthread_mutex_unlock(lock);
        }
    }
    return 0;
}

static const struct sb_workload_ops threads_ops = {
    .user_run = threads_user_run
};

static struct sb_workload *threads_create(
    const void *opts, const struct sb_run_opts *run, struct sb_err *err)
{
    const struct threads_opts *o = opts;
    struct threads *t = calloc(1, sizeof(*t));

    if (t)
        t->lock = calloc((size_t)o->locks, sizeof(*t->lock));
    if (!t || !t->lock) {
        free(t);
        sb_err_set(err, SB_ENOMEM, "threads: out of memory");
        return NULL;
    }
    t->w =
        (struct sb_workload){ .ops = &threads_ops, .data = t, .blocks = true };
    t->o = o;
    for (int64_t i = 0; i < o->locks; i++)
        pthread_mutex_init(&t->lock[i], NULL);
    return &t->w;
}

static void threads_destroy(struct sb_workload *w)
{
    struct threads *t = w ? w->data : NULL;

    if (!t)
        return;
    for (int64_t i = 0; i < t->o->locks; i++)
        pthread_mutex_destroy(&t->lock[i]);
    free(t->lock);
    free(t);
}

const struct sb_builtin sb__bench_threads = {
    .name = "threads",
    .title = "Threads subsystem performance test",
    .opts = &threads_opt_table,
    .opts_size = sizeof(struct threads_opts),
    .create = threads_create,
    .destroy = threads_destroy,
};
