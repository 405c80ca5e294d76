// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/random.h"

#include "base/likely.h"

// The permutation of sb_random_unique_in().
#define UNIQUE_KEY 1

// Converts a Lua number to an integer; numbers out of range are clamped.
static int64_t whole(double v)
{
    if (v >= 0x1p63)
        return INT64_MAX;
    if (v <= -0x1p63)
        return INT64_MIN;
    return v == v ? (int64_t)v : 0;
}

int sb_random_share(struct sb_random_shared *s, const struct sb_dist_opts *o,
    uint64_t now_ns, struct sb_err *err)
{
    int rc = sb_dist_prepare(&s->dist, o, err);

    if (rc)
        return rc;
    // 31 bits: short to type, and exact both as a Lua number and as an int of
    // sysbench 1.0.
    s->seed = o->seed ? (uint64_t)o->seed : sb_rng_mix(now_ns) >> 33;
    if (s->seed == 0)
        s->seed = 1;
    atomic_store_explicit(&s->uniques, 0, memory_order_relaxed);
    for (unsigned i = 0; i < SB_RANDOM_RANGES; i++) {
        atomic_store_explicit(&s->range[i].key, 0, memory_order_relaxed);
        atomic_store_explicit(&s->range[i].calls, 0, memory_order_relaxed);
    }
    s->counter = NULL;
    s->draws = NULL;
    s->rank = 0;
    s->ranks = 1;
    return 0;
}

static struct sb_random_shared *counter_of(struct sb_random_shared *s)
{
    return s->counter ? s->counter : s;
}

void sb_random_init(
    struct sb_random *r, struct sb_random_shared *s, uint64_t user)
{
    *r = (struct sb_random){ .shared = s };
    sb_rng_init(&r->rng, s->seed, user);
    if (counter_of(s)->draws)
        r->left = r->gap = 1;
}

double sb_random_seed_of(const struct sb_random *r)
{
    struct sb_rng copy = r->rng;

    return (double)(sb_rng_next(&copy) >> 11);
}

// Draws -----------------------------------------------------------------------

static double draw_default(struct sb_random *r, double a, double b)
{
    return (double)sb_dist_default(
        &r->shared->dist, &r->zipf, &r->rng, whole(a), whole(b));
}

static double draw_uniform(struct sb_random *r, double a, double b)
{
    return (double)sb_dist_uniform(&r->rng, whole(a), whole(b));
}

static double draw_gaussian(struct sb_random *r, double a, double b)
{
    return (double)sb_dist_gaussian(
        &r->shared->dist, &r->rng, whole(a), whole(b));
}

static double draw_special(struct sb_random *r, double a, double b)
{
    return (double)sb_dist_special(
        &r->shared->dist, &r->rng, whole(a), whole(b));
}

static double draw_pareto(struct sb_random *r, double a, double b)
{
    return (double)sb_dist_pareto(
        &r->shared->dist, &r->rng, whole(a), whole(b));
}

static double draw_zipfian(struct sb_random *r, double a, double b)
{
    return (double)sb_dist_zipfian(
        &r->shared->dist, &r->zipf, &r->rng, whole(a), whole(b));
}

// Stores the lower bound in *low and returns the number of values from a to b,
// less 1.
static uint64_t range(double a, double b, int64_t *low)
{
    int64_t x = whole(a), y = whole(b);

    *low = x < y ? x : y;
    return x < y ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y;
}

// The number of values.
static uint64_t width(double a, double b, int64_t *low)
{
    uint64_t span = range(a, b, low);

    return span == UINT64_MAX ? span : span + 1;
}

static double draw_scrambled(struct sb_random *r, double a, double b)
{
    int64_t low;
    uint64_t n = width(a, b, &low);

    return (
        double)(low + (int64_t)sb_ycsb_scrambled(&r->scrambled, &r->rng, n));
}

static double draw_latest(struct sb_random *r, double a, double b)
{
    int64_t low;
    uint64_t n = width(a, b, &low);

    return (double)(low +
                    (int64_t)(n - 1 - sb_ycsb_zipfian(&r->latest, &r->rng, n)));
}

static double (*const draw[SB_DRAW_KINDS])(
    struct sb_random *r, double a, double b) = {
    [SB_DRAW_UNIFORM] = draw_uniform,
    [SB_DRAW_DEFAULT] = draw_default,
    [SB_DRAW_GAUSSIAN] = draw_gaussian,
    [SB_DRAW_SPECIAL] = draw_special,
    [SB_DRAW_PARETO] = draw_pareto,
    [SB_DRAW_ZIPFIAN] = draw_zipfian,
    [SB_DRAW_SCRAMBLED] = draw_scrambled,
    [SB_DRAW_LATEST] = draw_latest,
};

// Draws a number and offers it for the sample. What a row holds is no key.
static __attribute__((noinline, cold)) double draw_and_offer(
    struct sb_random *r, enum sb_draw_kind kind, double a, double b)
{
    struct sb_draws *sample = counter_of(r->shared)->draws;
    struct sb_rng before = r->rng;
    double v = draw[kind](r, a, b);
    struct sb_draw one = { .kind = kind };

    one.span = range(a, b, &one.low);
    one.at = (uint64_t)whole(v) - (uint64_t)one.low;
    if (kind == SB_DRAW_SCRAMBLED) {
        one.at = sb_ycsb_zipfian(&r->scrambled, &before, SB_YCSB_ITEMS);
    } else if (kind == SB_DRAW_DEFAULT && r->shared->dist.o.scatter) {
        struct sb_dist unscattered = r->shared->dist;

        unscattered.o.scatter = false;
        one.at = (uint64_t)sb_dist_default(
                     &unscattered, &r->zipf, &before, whole(a), whole(b)) -
                 (uint64_t)one.low;
    }
    if (sample && !r->in_row)
        r->gap = sb_draws_offer(sample, r->gap, &one);
    r->left = r->gap;
    return v;
}

// Decides before the draw, so that the path without a sample keeps no values in
// registers.
static inline bool is_offered(struct sb_random *r)
{
    return SB_UNLIKELY(--r->left == 0);
}

#define DRAW(name, function, kind)                                   \
    double sb_random_##name(struct sb_random *r, double a, double b) \
    {                                                                \
        return is_offered(r) ? draw_and_offer(r, kind, a, b)         \
                             : function(r, a, b);                    \
    }

DRAW(default, draw_default, SB_DRAW_DEFAULT)
DRAW(uniform, draw_uniform, SB_DRAW_UNIFORM)
DRAW(gaussian, draw_gaussian, SB_DRAW_GAUSSIAN)
DRAW(special, draw_special, SB_DRAW_SPECIAL)
DRAW(pareto, draw_pareto, SB_DRAW_PARETO)
DRAW(zipfian, draw_zipfian, SB_DRAW_ZIPFIAN)
DRAW(scrambled_zipfian, draw_scrambled, SB_DRAW_SCRAMBLED)
DRAW(latest, draw_latest, SB_DRAW_LATEST)

int64_t sb_random_fnv(double v)
{
    return sb_ycsb_hash((uint64_t)whole(v));
}

double sb_random_scatter(
    struct sb_random *r, double v, double a, double b, double key)
{
    const struct sb_scatter *s = &r->shared->dist.scatter;
    struct sb_scatter other;

    if (key != 0) {
        sb_scatter_init(&other, (uint64_t)whole(key));
        s = &other;
    }
    return (double)sb_scatter(s, whole(v), whole(a), whole(b));
}

// Returns the number that stands for number x of this process's counter. The
// seed chooses where the counter starts, so that the numbers of runs with other
// seeds rarely overlap.
static uint64_t started(const struct sb_random_shared *s,
    const struct sb_random_shared *counter, uint64_t x)
{
    if (counter->ranks > 1)
        x = x * counter->ranks + counter->rank;
    return (sb_rng_mix(s->seed) >> 1) + x;
}

static uint64_t next_unique(struct sb_random_shared *s)
{
    struct sb_random_shared *c = counter_of(s);
    uint32_t x = atomic_fetch_add_explicit(
        &c->uniques, 1, memory_order_relaxed);

    return started(s, c, x);
}

// Returns the counter of n numbers from low, or NULL if all are in use.
static struct sb_random_range *range_of(
    struct sb_random_shared *s, int64_t low, uint64_t n)
{
    uint64_t key = sb_rng_mix(sb_rng_mix((uint64_t)low) + n) | 1;

    for (unsigned i = 0; i < SB_RANDOM_RANGES; i++) {
        struct sb_random_range *r = &s->range[(key / 2 + i) % SB_RANDOM_RANGES];
        uint64_t found = 0;

        if (atomic_compare_exchange_strong_explicit(&r->key, &found, key,
                memory_order_relaxed, memory_order_relaxed) ||
            found == key)
            return r;
    }
    return NULL;
}

// As next_unique(), with a counter of the range.
static uint64_t next_of_range(
    struct sb_random_shared *s, int64_t low, uint64_t n)
{
    struct sb_random_shared *c = counter_of(s);
    struct sb_random_range *r = range_of(c, low, n);

    if (!r)
        return next_unique(s);
    return started(
        s, c, atomic_fetch_add_explicit(&r->calls, 1, memory_order_relaxed));
}

uint32_t sb_random_unique(struct sb_random *r)
{
    uint32_t x = (uint32_t)next_unique(r->shared);

    // Each step is reversible, so that different numbers stay different. The
    // seed must not take part: runs with other seeds would then share numbers.
    x = (x ^ (x >> 16)) * 0x21f0aaadu;
    x = (x ^ (x >> 15)) * 0xd35a2d97u;
    return x ^ (x >> 15);
}

double sb_random_unique_in(struct sb_random *r, double a, double b)
{
    struct sb_scatter s;
    int64_t low;
    uint64_t n = width(a, b, &low);
    int64_t v = low + (int64_t)(next_of_range(r->shared, low, n) % n);

    sb_scatter_init(&s, UNIQUE_KEY);
    return (double)sb_scatter(&s, v, low, low + (int64_t)(n - 1));
}

uint64_t sb_random_uint64(struct sb_random *r)
{
    return sb_rng_next(&r->rng);
}

double sb_random_double(struct sb_random *r)
{
    return sb_rng_double(&r->rng);
}

void sb_random_string(
    struct sb_random *r, const char *fmt, size_t len, char *out)
{
    sb_dist_string(&r->rng, fmt, len, out);
}

size_t sb_random_varstring(
    struct sb_random *r, size_t min, size_t max, char *out)
{
    return sb_dist_varstring(&r->rng, min, max, out);
}

void sb_random_alphanumeric(struct sb_random *r, size_t len, char *out)
{
    sb_dist_alphanumeric(&r->rng, len, out);
}

void sb_random_row(struct sb_random *r, uint32_t table, double id)
{
    if (!r->in_row)
        r->own = r->rng;
    r->in_row = true;
    sb_rng_init_row(&r->rng, r->shared->seed, table, (uint64_t)whole(id));
}

void sb_random_resume(struct sb_random *r)
{
    if (r->in_row)
        r->rng = r->own;
    r->in_row = false;
}
