// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/draws.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "kit/rng.h"

// Two users that write the same slot at once may leave a mixture of two draws.
// This is too rare to matter, and sb_draws_take() leaves out what is no draw.
struct slot {
    _Atomic uint64_t kind, low, span, at;
};

struct sb_draws {
    _Atomic uint64_t seen;  // draws of all users so far
    _Atomic uint64_t taken; // of them, into the sample
    struct slot slot[SB_DRAWS_MAX];
};

static const char *const names[SB_DRAW_KINDS] = {
    [SB_DRAW_UNIFORM] = "uniform",
    [SB_DRAW_DEFAULT] = "default",
    [SB_DRAW_GAUSSIAN] = "gaussian",
    [SB_DRAW_SPECIAL] = "special",
    [SB_DRAW_PARETO] = "pareto",
    [SB_DRAW_ZIPFIAN] = "zipfian",
    [SB_DRAW_SCRAMBLED] = "scrambled_zipfian",
    [SB_DRAW_LATEST] = "latest",
};

const char *sb_draw_name(enum sb_draw_kind kind)
{
    return names[kind];
}

struct sb_draws *sb_draws_new(void)
{
    return calloc(1, sizeof(struct sb_draws));
}

void sb_draws_free(struct sb_draws *d)
{
    free(d);
}

static void put(struct slot *s, const struct sb_draw *one)
{
    atomic_store_explicit(&s->kind, (uint64_t)one->kind, memory_order_relaxed);
    atomic_store_explicit(&s->low, (uint64_t)one->low, memory_order_relaxed);
    atomic_store_explicit(&s->span, one->span, memory_order_relaxed);
    atomic_store_explicit(&s->at, one->at, memory_order_relaxed);
}

// Reservoir sampling: of n draws, each is taken with a probability of
// SB_DRAWS_MAX / n and replaces one at random. Instead of a decision for each
// draw, the mean gap is n / SB_DRAWS_MAX. Gaps are random, because the draws of
// an event repeat.
uint64_t sb_draws_offer(
    struct sb_draws *d, uint64_t gap, const struct sb_draw *one)
{
    uint64_t seen = gap + atomic_fetch_add_explicit(
                              &d->seen, gap, memory_order_relaxed);
    uint64_t taken = atomic_fetch_add_explicit(
        &d->taken, 1, memory_order_relaxed);
    uint64_t random = sb_rng_mix(taken);
    double times = 2.0 * (double)seen / SB_DRAWS_MAX - 1;

    put(&d->slot[taken < SB_DRAWS_MAX ? taken : random % SB_DRAWS_MAX], one);
    if (times <= 1)
        return 1;
    return 1 + (uint64_t)((double)(random >> 11) * 0x1.0p-53 * times);
}

void sb_draws_restart(struct sb_draws *d)
{
    atomic_store_explicit(&d->seen, 0, memory_order_relaxed);
    atomic_store_explicit(&d->taken, 0, memory_order_relaxed);
}

size_t sb_draws_take(const struct sb_draws *d, struct sb_draw *out)
{
    uint64_t taken = atomic_load_explicit(&d->taken, memory_order_relaxed);
    size_t n = 0;

    for (uint64_t i = 0; i < taken && i < SB_DRAWS_MAX; i++) {
        const struct slot *s = &d->slot[i];
        struct sb_draw one = {
            .kind = (enum sb_draw_kind)atomic_load_explicit(
                &s->kind, memory_order_relaxed),
            .low = (int64_t)atomic_load_explicit(&s->low, memory_order_relaxed),
            .span = atomic_load_explicit(&s->span, memory_order_relaxed),
            .at = atomic_load_explicit(&s->at, memory_order_relaxed),
        };

        if (one.at <= one.span || one.kind == SB_DRAW_SCRAMBLED)
            out[n++] = one;
    }
    assert(n <= SB_DRAWS_MAX);
    return n;
}
