// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads: the finder looks for servers that the script has begun to use, once
// per interval, and reads the process of --server-pid. Each server has a thread
// with a probe (sampler_target.c), because a server that hangs must not delay
// the samples of the others.
#include "db/sampler_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "kit/locale.h"

// The minimum time between two samples. With shorter intervals, some get no
// values.
#define PERIOD_MIN_NS UINT64_C(100000000)
// How long sb_sampler_stop() waits: for samples in progress, and after it has
// canceled them.
#define FINISH_NS UINT64_C(50000000)
#define CANCEL_NS UINT64_C(100000000)
#define STOP_NS   UINT64_C(1500000000)

// Finding servers ------------------------------------------------------------

static void target_free(struct sb__sampler_target *t)
{
    sb__probe_free(t->probe);
    sb_server_facts_done(&t->facts);
    free(t);
}

// Threads have the signal mask of their creator: signals are left to the thread
// that waits for them.
static int start_thread(
    struct sb_sampler *s, pthread_t *thread, void *(*main)(void *), void *arg)
{
    pthread_mutex_lock(&s->lock);
    s->running++;
    pthread_mutex_unlock(&s->lock);
    if (pthread_create(thread, NULL, main, arg) == 0)
        return 0;
    sb__sampler_thread_ends(s);
    return SB_ESYS;
}

static void add_target(
    struct sb_sampler *s, struct sb__inst *inst, uint64_t number)
{
    struct sb__sampler_target *t = calloc(1, sizeof(*t));
    struct sb_err err = { 0 };
    bool started;

    if (!t)
        return;
    t->s = s;
    t->probe = sb__probe_new(inst, number, &err);
    if (!t->probe) {
        sb_log(SB_LOG_DEBUG, "server statistics: %s", err.msg);
        free(t);
        return;
    }
    sb__probe_client(t->probe, &t->facts);
    pthread_mutex_lock(&s->lock);
    assert(s->ntargets < TARGETS_MAX);
    s->target[s->ntargets++] = t;
    pthread_mutex_unlock(&s->lock);
    started = start_thread(s, &t->thread, sb__sampler_target_main, t) == 0;
    pthread_mutex_lock(&s->lock);
    t->has_thread = started;
    pthread_mutex_unlock(&s->lock);
    if (!started)
        sb__sampler_tried(t);
}

static void find_insts(struct sb_sampler *s)
{
    s->ninsts += sb__insts_used(
        s->setup.drivers, s->inst, s->ninsts, TARGETS_MAX);
}

static void find_targets(struct sb_sampler *s)
{
    find_insts(s);
    for (; s->searched_insts < s->ninsts; s->searched_insts++) {
        struct sb__inst *inst = s->inst[s->searched_insts];
        uint64_t n = sb__probe_servers(inst);

        for (uint64_t k = 0; k < n && s->ntargets < TARGETS_MAX; k++)
            add_target(s, inst, k);
    }
}

// The process of --server-pid -------------------------------------------------

static void take_process(void *arg, const struct sb_counter *c)
{
    struct sb_sampler *s = arg;

    pthread_mutex_lock(&s->lock);
    sb__picks_found(&s->setup.opts->stats, c->name, s->found);
    sb__counters_put_late(&s->table, c, "", sb_clock_monotonic(), 0,
        s->base ? SB__BASE_GROWTH : 0);
    pthread_mutex_unlock(&s->lock);
}

static void sample_process(struct sb_sampler *s)
{
    const struct sb__sampler_target *t;
    char address[sizeof(t->facts.server.address)] = "";

    s->base = sb__sampler_is_base(s, &s->rebased, sb_clock_monotonic());
    pthread_mutex_lock(&s->lock);
    t = sb__sampler_first(s);
    if (t)
        memcpy(address, t->facts.server.address, sizeof(address));
    pthread_mutex_unlock(&s->lock);
    sb__process_find(&s->process, address);
    sb__process_sample(&s->process, take_process, s);
    s->rebased.done = s->rebased.done || s->base;
}

static void note_search(struct sb_sampler *s)
{
    pthread_mutex_lock(&s->lock);
    s->searched = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void *finder_main(void *arg)
{
    struct sb_sampler *s = arg;
    uint64_t last;

    sb_locale_keep();
    do {
        last = sb_clock_monotonic();
        find_targets(s);
        note_search(s);
        sample_process(s);
    } while (sb__sampler_wait_next(s, NULL, last, UINT64_MAX));
    sb__sampler_thread_ends(s);
    return NULL;
}

// Interface ------------------------------------------------------------------

bool sb_sampler_samples(const struct sb_sampler_opts *o, bool wanted)
{
    int picks = sb__picks_check(&o->stats, NULL);

    return picks == SB__PICK_SOME || (picks == SB__PICK_AUTO && wanted);
}

static struct sb_sampler *sampler_new(const struct sb_sampler_setup *setup)
{
    struct sb_sampler *s = calloc(1, sizeof(*s));
    pthread_condattr_t attr;

    if (!s)
        return NULL;
    s->found = calloc(setup->opts->stats.count + 1, sizeof(*s->found));
    if (!s->found) {
        free(s);
        return NULL;
    }
    s->setup = *setup;
    s->samples = sb_sampler_samples(setup->opts, setup->wanted);
    s->period = setup->interval > PERIOD_MIN_NS ? setup->interval
                                                : PERIOD_MIN_NS;
    s->phase = sb_clock_monotonic();
    s->measured_at = UINT64_MAX;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    return s;
}

static void sampler_free(struct sb_sampler *s)
{
    assert(s->running == 0);
    for (size_t i = 0; i < s->ntargets; i++)
        target_free(s->target[i]);
    for (size_t i = 0; i < s->ninsts; i++)
        sb__inst_put(s->inst[i]);
    sb__counters_done(&s->table);
    free(s->found);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

struct sb_sampler *sb_sampler_start(
    const struct sb_sampler_setup *setup, struct sb_err *err)
{
    struct sb_sampler *s = sampler_new(setup);

    if (!s) {
        sb_err_set(err, SB_ENOMEM, "out of memory");
        return NULL;
    }
    if (sb__process_init(&s->process, setup->opts->pid, err)) {
        sampler_free(s);
        return NULL;
    }
    // A run may end, and with it the use of an instance, before the thread
    // looks.
    find_insts(s);
    if (start_thread(s, &s->finder, finder_main, s)) {
        sb_err_set(err, SB_ESYS, "cannot start a thread for server statistics");
        sampler_free(s);
        return NULL;
    }
    return s;
}

// The lock is held.
static void read_all(struct sb_sampler *s, uint64_t now, bool use,
    void (*visit)(void *arg, unsigned index, const struct sb_server_value *v),
    void *arg)
{
    uint64_t interval = s->setup.interval;
    uint64_t oldest = now > interval ? now - interval : 0;

    for (size_t i = 0; i < s->table.n; i++) {
        struct sb_server_value v;

        sb__counters_get(&s->table, i, oldest, &v);
        if (use && v.has_value)
            v.has_value = sb__counters_use(&s->table, i);
        if (visit)
            visit(arg, (unsigned)i, &v);
    }
}

// Sets the time of the next samples. The lock is held.
static void set_phase(struct sb_sampler *s, uint64_t end)
{
    // Shorter intervals would move the samples closer together.
    if (s->period != s->setup.interval)
        return;
    s->phase = end;
    pthread_cond_broadcast(&s->changed);
}

void sb_sampler_rebase(struct sb_sampler *s, uint64_t at)
{
    bool now = at <= sb_clock_monotonic();

    pthread_mutex_lock(&s->lock);
    s->measured_at = at;
    if (now)
        set_phase(s, at);
    for (size_t i = 0; now && i < s->table.n; i++)
        sb__counters_use(&s->table, i);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void sb_sampler_interval(struct sb_sampler *s, uint64_t end,
    void (*visit)(void *arg, unsigned index, const struct sb_server_value *v),
    void *arg)
{
    pthread_mutex_lock(&s->lock);
    set_phase(s, end);
    read_all(s, end, true, visit, arg);
    pthread_mutex_unlock(&s->lock);
}

void sb_sampler_read(struct sb_sampler *s, uint64_t now,
    void (*visit)(void *arg, unsigned index, const struct sb_server_value *v),
    void *arg)
{
    pthread_mutex_lock(&s->lock);
    read_all(s, now, false, visit, arg);
    pthread_mutex_unlock(&s->lock);
}

// The lock is held.
static bool has_last(const struct sb_sampler *s)
{
    bool all = true;

    for (size_t i = 0; i < s->ntargets; i++) {
        const struct sb__sampler_target *t = s->target[i];

        all = all && (t->last || t->same || t->samples == 0);
    }
    return all;
}

void sb_sampler_last(struct sb_sampler *s, uint64_t ns)
{
    uint64_t until = sb_clock_monotonic() + ns;

    if (!s->samples)
        return;
    pthread_mutex_lock(&s->lock);
    s->last = true;
    pthread_cond_broadcast(&s->changed);
    while (!has_last(s) && sb_clock_monotonic() < until)
        sb__sampler_wait_until(s, until);
    pthread_mutex_unlock(&s->lock);
}

void sb_sampler_totals(struct sb_sampler *s,
    void (*visit)(void *arg, const char *name, double growth), void *arg)
{
    const char *name;
    double growth;

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->table.n; i++) {
        if (sb__counters_growth(&s->table, i, &name, &growth))
            visit(arg, name, growth);
    }
    pthread_mutex_unlock(&s->lock);
}

void sb_sampler_servers(struct sb_sampler *s,
    void (*visit)(void *arg, const struct sb_server_facts *f), void *arg)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->ntargets; i++) {
        bool first = true;

        for (size_t k = 0; k < i && first; k++)
            first = !sb__sampler_same(
                &s->target[k]->facts, &s->target[i]->facts);
        if (first)
            visit(arg, &s->target[i]->facts);
    }
    pthread_mutex_unlock(&s->lock);
}

// The lock is held.
static bool all_tried(const struct sb_sampler *s)
{
    bool all = s->searched;

    for (size_t i = 0; i < s->ntargets; i++)
        all = all && s->target[i]->tried;
    return all;
}

void sb_sampler_wait(struct sb_sampler *s, uint64_t ns)
{
    uint64_t until = sb_clock_monotonic() + ns;

    pthread_mutex_lock(&s->lock);
    while (!all_tried(s) && sb_clock_monotonic() < until)
        sb__sampler_wait_until(s, until);
    pthread_mutex_unlock(&s->lock);
}

// Waits until no thread runs. Returns whether that is so.
static bool wait_threads(struct sb_sampler *s, uint64_t until)
{
    while (s->running > 0 && sb_clock_monotonic() < until)
        sb__sampler_wait_until(s, until);
    return s->running == 0;
}

// Not called with the lock, because it may take a while.
static void cancel_all(struct sb_sampler *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sb__probe_cancel(s->target[i]->probe);
}

static void join_all(struct sb_sampler *s)
{
    pthread_join(s->finder, NULL);
    for (size_t i = 0; i < s->ntargets; i++) {
        if (s->target[i]->has_thread)
            pthread_join(s->target[i]->thread, NULL);
    }
}

// Threads that cannot be ended free what they use of the system by themselves.
static void detach_all(struct sb_sampler *s)
{
    pthread_mutex_lock(&s->lock);
    pthread_detach(s->finder);
    for (size_t i = 0; i < s->ntargets; i++) {
        if (s->target[i]->has_thread)
            pthread_detach(s->target[i]->thread);
    }
    pthread_mutex_unlock(&s->lock);
}

bool sb_sampler_stop(struct sb_sampler *s)
{
    uint64_t start = sb_clock_monotonic(), wait = FINISH_NS;
    bool ended;

    pthread_mutex_lock(&s->lock);
    if (s->joined || s->left) {
        pthread_mutex_unlock(&s->lock);
        return s->joined;
    }
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    while (!(ended = wait_threads(s, sb_clock_monotonic() + wait)) &&
           sb_clock_monotonic() - start < STOP_NS) {
        size_t n = s->ntargets;

        pthread_mutex_unlock(&s->lock);
        cancel_all(s, n);
        pthread_mutex_lock(&s->lock);
        wait = CANCEL_NS;
    }
    pthread_mutex_unlock(&s->lock);
    if (ended)
        join_all(s);
    else
        detach_all(s);
    s->joined = ended;
    s->left = !ended;
    sb__sampler_check_found(s, 0); // of a run without a second sample
    return ended;
}

void sb_sampler_free(struct sb_sampler *s)
{
    if (s && sb_sampler_stop(s))
        sampler_free(s);
}
