// SPDX-License-Identifier: GPL-2.0-or-later
//
// When the threads of the sampler take samples, and when they end.
#include <assert.h>
#include <time.h>

#include "base/clock.h"
#include "db/sampler_private.h"

// Samples are taken this long before the end of an interval, or twice as long
// as the last one took, but at most half of the period.
#define LEAD_NS UINT64_C(50000000)

static uint64_t lead(const struct sb_sampler *s, uint64_t took)
{
    uint64_t most = s->period / 2;
    uint64_t ns = took * 2 > LEAD_NS ? took * 2 : LEAD_NS;

    return ns < most ? ns : most;
}

// Returns the time of the sample after one that began at `last` and took so
// long.
static uint64_t next_sample(
    const struct sb_sampler *s, uint64_t last, uint64_t took)
{
    uint64_t period = s->period;
    uint64_t first = s->phase % period + period - lead(s, took);
    uint64_t after = last + period / 4;

    return after + period - (after + period - first % period) % period;
}

void sb__sampler_wait_until(struct sb_sampler *s, uint64_t ns)
{
    struct timespec t = sb_clock_timespec(ns);

    pthread_cond_timedwait(&s->changed, &s->lock, &t);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool sb__sampler_is_base(
    struct sb_sampler *s, struct sb__sampler_rebased *r, uint64_t now)
{
    pthread_mutex_lock(&s->lock);
    bool measured = now >= s->measured_at;
    pthread_mutex_unlock(&s->lock);
    // A server that does not answer is tried once, then in the next interval.
    r->tried = r->tried || measured;
    return measured && !r->done;
}

bool sb__sampler_wait_next(struct sb_sampler *s,
    const struct sb__sampler_target *t, uint64_t last, uint64_t limit)
{
    const struct sb__sampler_rebased *r = t ? &t->rebased : &s->rebased;
    uint64_t took = sb_clock_monotonic() - last, next;
    bool go;

    pthread_mutex_lock(&s->lock);
    while (!s->stop && !(t && s->last && !t->last)) {
        next = earlier(next_sample(s, last, took), limit);
        if (!r->tried)
            next = earlier(next, s->measured_at);
        if (sb_clock_monotonic() >= next)
            break;
        sb__sampler_wait_until(s, next);
    }
    go = !s->stop;
    pthread_mutex_unlock(&s->lock);
    return go;
}

bool sb__sampler_stopped(struct sb_sampler *s)
{
    bool stop;

    pthread_mutex_lock(&s->lock);
    stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return stop;
}

void sb__sampler_thread_ends(struct sb_sampler *s)
{
    pthread_mutex_lock(&s->lock);
    assert(s->running > 0);
    s->running--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}
