// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/pace.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/likely.h"
#include "kit/rng.h"

#define UNITS_PER_SECOND (1e9 * (1 << SB_PACE_FRACTION_BITS))

// A piece of a rate that changes. Times in units, rates as fractions of the
// maximum rate: s units after its start the speed of the second clock is
// speed + change * s.
struct sb_pace_piece {
    uint64_t pos;   // time on the second clock at its start
    uint64_t start; // time at its start
    uint64_t length;
    double speed, change;
    double users_from, users_to;
};

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
    p->npieces = 0;
    p->piece = NULL;
    p->divided = false;
    p->kind = kind;
    p->seed = sb_rng_mix(seed);
    p->gap = fmin(fmax(UNITS_PER_SECOND / rate, 1), 0x1p63);
    fraction_init(p);
}

static uint64_t sum_or_end(uint64_t a, double b)
{
    return b < 0x1p64 && (uint64_t)b <= UINT64_MAX - a ? a + (uint64_t)b
                                                       : UINT64_MAX;
}

static uint64_t units_of(uint64_t ns)
{
    return ns <= UINT64_MAX >> SB_PACE_FRACTION_BITS
               ? ns << SB_PACE_FRACTION_BITS
               : UINT64_MAX;
}

int sb_pace_init_parts(struct sb_pace *p, enum sb_pace_kind kind,
    const struct sb_pace_part *part, unsigned n, uint64_t seed)
{
    struct sb_pace_piece *piece = calloc(n + 1, sizeof(*piece));
    double max = 0;

    assert(n > 0);
    for (unsigned i = 0; i < n; i++)
        max = fmax(max, fmax(part[i].from, part[i].to));
    sb_pace_init(p, kind, max, seed);
    if (!piece)
        return SB_ENOMEM;
    for (unsigned i = 0; i < n; i++) {
        struct sb_pace_piece *a = &piece[i], *next = &piece[i + 1];
        double from = part[i].from / max, to = part[i].to / max;
        double length = (double)units_of(part[i].ns);

        a->length = units_of(part[i].ns);
        a->speed = from;
        a->change = length > 0 ? (to - from) / length : 0;
        a->users_from = (double)part[i].users_from;
        a->users_to = (double)part[i].users_to;
        next->start = sum_or_end(a->start, length);
        next->pos = sum_or_end(a->pos, nearbyint((from + to) / 2 * length));
    }
    piece[n].length = UINT64_MAX;
    piece[n].speed = part[n - 1].to / max;
    p->piece = piece;
    p->npieces = n + 1;
    return 0;
}

void sb_pace_done(struct sb_pace *p)
{
    free(p->piece);
    p->piece = NULL;
    p->npieces = 0;
}

// The last piece that starts before pos. Pieces of rate 0 end at the position
// at which they start, so they are never the last one.
static const struct sb_pace_piece *piece_of(
    const struct sb_pace *p, sb_pace_pos pos)
{
    unsigned low = 0, high = p->npieces;

    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;

        if (p->piece[middle].pos < pos)
            low = middle;
        else
            high = middle;
    }
    return &p->piece[low];
}

// Solves x = speed * s + change * s^2 / 2 for s, in the form that does not
// subtract numbers of similar size.
static uint64_t piece_time(const struct sb_pace_piece *a, sb_pace_pos pos)
{
    double x = (double)(pos - a->pos), s;

    if (a->change == 0 && a->speed == 1)
        return a->start <= UINT64_MAX - (pos - a->pos)
                   ? a->start + (pos - a->pos)
                   : UINT64_MAX;
    if (a->change == 0)
        s = x / a->speed;
    else
        s = 2 * x /
            (a->speed + sqrt(fmax(a->speed * a->speed + 2 * a->change * x, 0)));
    return sum_or_end(a->start, fmin(nearbyint(s), (double)a->length));
}

uint64_t sb_pace_time(const struct sb_pace *p, sb_pace_pos pos)
{
    if (SB_LIKELY(p->npieces == 0) || pos == 0 || pos == UINT64_MAX)
        return sb_pace_ns(pos);
    return sb_pace_ns(piece_time(piece_of(p, pos), pos));
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
static uint64_t constant_number_after(const struct sb_pace *p, sb_pace_pos pos)
{
    uint64_t n = (uint64_t)fmin((double)pos / p->gap, 0x1.fffffffffffffp63);

    while (n > 0 && constant_place(p, n - 1) > pos)
        n--;
    while (constant_place(p, n) <= pos)
        n++;
    return n;
}

static sb_pace_pos constant_after(const struct sb_pace *p, sb_pace_pos pos)
{
    return constant_place(p, constant_number_after(p, pos));
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

void sb_pace_divide(struct sb_pace *p, const struct sb_share *share)
{
    assert(share->users > 0 && share->first + share->users <= share->total);
    p->divided = share->ranks > 1;
    p->share = *share;
}

// The number of users that can take the arrival at pos. In a ramp, at least one
// user is left out: it has just started, or is about to stop.
static uint64_t takers(const struct sb_pace *p, sb_pace_pos pos)
{
    uint64_t total = p->share.total;

    if (p->npieces == 0)
        return total;
    const struct sb_pace_piece *a = piece_of(p, pos);
    // After the last part, all users count, so that every rank soon finds an
    // arrival.
    if (a == &p->piece[p->npieces - 1])
        return total;
    double passed = (double)(piece_time(a, pos) - a->start) / (double)a->length;
    double change = a->users_to - a->users_from;
    double n = floor(a->users_from + change * passed);

    if (change < 0)
        n--;
    // A ramp from or to 0 always has the first user.
    if (n < 1 && (a->users_from > 0 || a->users_to > 0))
        return 1;
    // Without users, arrivals wait for those of a later part.
    return n >= 1 && n < (double)total ? (uint64_t)n : total;
}

// Whether the arrival at pos is one of this process. Arrivals are assigned to
// users, and so to the ranks in proportion to their users. Poisson arrivals are
// assigned by a hash that is independent of the gaps: so the parts are
// independent Poisson processes.
static bool is_own(const struct sb_pace *p, sb_pace_pos pos)
{
    const struct sb_share *s = &p->share;
    uint64_t users = takers(p, pos), user;

    if (p->kind == SB_PACE_CONSTANT) {
        user = sb_share_spread(s, (constant_number_after(p, pos) - 2) % users);
    } else {
        uint64_t noise = sb_rng_mix(~p->seed ^ sb_rng_mix(pos));

        user = (uint64_t)(((unsigned __int128)noise * users) >> 64);
        if (p->npieces)
            user = sb_share_spread(s, user);
    }
    return sb_share_owns(s, user);
}

// Returns the next arrival of this process, or the first arrival at or after
// limit_ns if that is earlier. The limit is needed because a rank without users
// may have no arrivals for a long time.
static sb_pace_pos own_after(
    const struct sb_pace *p, sb_pace_pos pos, uint64_t limit_ns)
{
    do
        pos = sb_pace_after(p, pos);
    while (SB_UNLIKELY(p->divided) && pos != UINT64_MAX && !is_own(p, pos) &&
           sb_pace_time(p, pos) < limit_ns);
    return pos;
}

// Relaxed order is enough: the cursor is the whole state and publishes no
// other memory (*p was complete before the threads started). The modification
// order of one atomic is total, and a successful exchange reads the value just
// before its own in that order, so each arrival is taken exactly once.
uint64_t sb_pace_take(const struct sb_pace *p, _Atomic sb_pace_pos *cursor)
{
    sb_pace_pos pos = atomic_load_explicit(cursor, memory_order_relaxed), next;

    do {
        next = own_after(p, pos, UINT64_MAX);
    } while (!atomic_compare_exchange_weak_explicit(
        cursor, &pos, next, memory_order_relaxed, memory_order_relaxed));
    return sb_pace_time(p, next);
}

bool sb_pace_take_before(const struct sb_pace *p, _Atomic sb_pace_pos *cursor,
    uint64_t limit_ns, uint64_t *ns)
{
    sb_pace_pos pos = atomic_load_explicit(cursor, memory_order_relaxed), next;

    do {
        next = own_after(p, pos, limit_ns);
        *ns = sb_pace_time(p, next);
        if (*ns >= limit_ns)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        cursor, &pos, next, memory_order_relaxed, memory_order_relaxed));
    return true;
}

uint64_t sb_pace_walk(const struct sb_pace *p, sb_pace_pos *pos,
    uint64_t until_ns, uint64_t limit)
{
    uint64_t n = 0;

    while (n < limit && *pos < UINT64_MAX) {
        sb_pace_pos next = sb_pace_after(p, *pos);

        if (next == UINT64_MAX || sb_pace_time(p, next) > until_ns)
            break;
        *pos = next;
        n += !p->divided || is_own(p, next);
    }
    return n;
}
