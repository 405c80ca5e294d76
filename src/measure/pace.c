// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/pace.h"

#include <assert.h>
#include <math.h>

#include "base/rng.h"

#define UNITS_PER_SECOND (1e9 * (1 << SB_PACE_FRACTION_BITS))

// step / 2^shift is the gap, exact to the last bit of the double.
static void fraction_init(struct sb_pace *p)
{
    int exponent;
    double mantissa = frexp(p->gap, &exponent);

    p->step = (uint64_t)ldexp(mantissa, 53);
    if (exponent > 53) {
        p->step <<= exponent - 53;
        exponent = 53;
    }
    p->shift = (unsigned)(53 - exponent);
}

void sb_pace_init(
    struct sb_pace *p, enum sb_pace_kind kind, double rate, uint64_t seed)
{
    assert(rate > 0);
    p->kind = kind;
    p->seed = sb_rng_mix(seed);
    p->gap = fmin(fmax(UNITS_PER_SECOND / rate, 1), 0x1p63);
    fraction_init(p);
}

static sb_pace_pos constant_place(const struct sb_pace *p, uint64_t n)
{
    unsigned __int128 half = ((unsigned __int128)1 << p->shift) >> 1;
    unsigned __int128 place = ((unsigned __int128)n * p->step + half) >>
                              p->shift;

    return place < UINT64_MAX ? (sb_pace_pos)place : UINT64_MAX;
}

// Positions are computed from their number, so that rounding errors do not
// accumulate. Where doubles are coarser than the gap, the quotient may be off
// by a few, so the exact number is searched from there.
static sb_pace_pos constant_after(const struct sb_pace *p, sb_pace_pos pos)
{
    uint64_t n = (uint64_t)fmin((double)pos / p->gap, 0x1.fffffffffffffp63);

    while (n > 0 && constant_place(p, n - 1) > pos)
        n--;
    while (constant_place(p, n) <= pos)
        n++;
    return constant_place(p, n);
}

static sb_pace_pos poisson_after(const struct sb_pace *p, sb_pace_pos pos)
{
    uint64_t noise = sb_rng_mix(p->seed ^ pos) >> 11;
    double gap = -log((double)(noise + 1) * 0x1p-53) * p->gap;
    // At least one unit: a cursor cannot tell two arrivals at one position
    // apart.
    double step = fmax(nearbyint(gap), 1);

    if (step >= 0x1p64 || (uint64_t)step > UINT64_MAX - pos)
        return UINT64_MAX;
    return pos + (uint64_t)step;
}

sb_pace_pos sb_pace_after(const struct sb_pace *p, sb_pace_pos pos)
{
    if (pos == UINT64_MAX)
        return pos;
    return p->kind == SB_PACE_CONSTANT ? constant_after(p, pos)
                                       : poisson_after(p, pos);
}

// Relaxed order is enough: the cursor is the whole state and publishes no
// other memory (*p was complete before the threads started). The modification
// order of one atomic is total, and a successful exchange reads the value just
// before its own in that order, so each arrival is taken exactly once.
uint64_t sb_pace_take(const struct sb_pace *p, _Atomic sb_pace_pos *cursor)
{
    sb_pace_pos pos = atomic_load_explicit(cursor, memory_order_relaxed), next;

    do {
        next = sb_pace_after(p, pos);
    } while (!atomic_compare_exchange_weak_explicit(
        cursor, &pos, next, memory_order_relaxed, memory_order_relaxed));
    return sb_pace_ns(next);
}

uint64_t sb_pace_walk(const struct sb_pace *p, sb_pace_pos *pos,
    uint64_t until_ns, uint64_t limit)
{
    uint64_t n = 0;

    while (n < limit && *pos < UINT64_MAX) {
        sb_pace_pos next = sb_pace_after(p, *pos);

        if (next == UINT64_MAX || sb_pace_ns(next) > until_ns)
            break;
        *pos = next;
        n++;
    }
    return n;
}
