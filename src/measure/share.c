// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/share.h"

#include <assert.h>
#include <math.h>

static uint64_t divide(uint64_t n, uint64_t part, uint64_t whole)
{
    return (uint64_t)((unsigned __int128)n * part / whole);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

// Multiples of the golden ratio fill a circle evenly, however many of them.
static uint64_t golden_step(uint64_t total)
{
    uint64_t step = (uint64_t)((double)total * 0.6180339887498949);

    if (step == 0)
        step = 1;
    while (gcd(step, total) != 1)
        step++;
    return step;
}

void sb_share_whole(struct sb_share *s, uint64_t total)
{
    *s = (struct sb_share){
        .ranks = 1, .users = total, .total = total, .step = 1
    };
}

// Sums are computed in the same order in every rank, so they are equal to the
// last bit.
static uint64_t users_before(
    unsigned rank, unsigned ranks, const double *weight, uint64_t total)
{
    double sum = 0, before = 0;

    if (!weight || rank == ranks)
        return divide(total, rank, ranks);
    for (unsigned i = 0; i < ranks; i++) {
        if (i == rank)
            before = sum;
        sum += weight[i];
    }
    double users = (double)total * before / sum, whole = nearbyint(users);

    // Decimal weights are not exact: 55 users with the weights 0.3 and 0.8 are
    // 15 and 40.
    if (fabs(users - whole) > 1e-9 * whole)
        whole = floor(users);
    return whole < (double)total ? (uint64_t)whole : total;
}

int sb_share_init(struct sb_share *s, unsigned rank, unsigned ranks,
    const double *weight, uint64_t total, struct sb_err *err)
{
    uint64_t from = 0;

    assert(rank < ranks);
    sb_share_whole(s, total);
    s->rank = rank;
    s->ranks = ranks;
    s->step = weight ? golden_step(total) : 0;
    for (unsigned i = 0; i < ranks; i++) {
        uint64_t to = users_before(i + 1, ranks, weight, total);

        if (to <= from)
            return sb_err_set(err, SB_ERANGE,
                "rank %u would have no user: %llu user%s for %u ranks%s "
                "(--threads is the total of all ranks)",
                i, (unsigned long long)total, total == 1 ? "" : "s", ranks,
                weight ? " with these weights" : "");
        if (i == rank) {
            s->first = from;
            s->users = to - from;
        }
        from = to;
    }
    return 0;
}

uint64_t sb_share_of(const struct sb_share *s, uint64_t n)
{
    assert(s->first + s->users <= s->total);
    return divide(n, s->first + s->users, s->total) -
           divide(n, s->first, s->total);
}

// Each rank has `each` users or one more.
static uint64_t in_turn(const struct sb_share *s, uint64_t n)
{
    uint64_t each = s->total / s->ranks, more = s->total % s->ranks;
    uint64_t rank = n % s->ranks, i = n / s->ranks;

    if (i >= each) {
        uint64_t k = n - each * s->ranks; // among the ranks with one more

        rank = ((k + 1) * s->ranks + more - 1) / more - 1;
        i = each;
    }
    return divide(s->total, rank, s->ranks) + i;
}

uint64_t sb_share_spread(const struct sb_share *s, uint64_t n)
{
    n %= s->total;
    if (s->step == 0)
        return in_turn(s, n);
    return (uint64_t)((unsigned __int128)n * s->step % s->total);
}

// The rank of a user, if the ranks have equal weights: users_before() is the
// inverse.
static uint64_t rank_of(const struct sb_share *s, uint64_t user)
{
    uint64_t rank = divide(user, s->ranks, s->total);

    while (divide(s->total, rank + 1, s->ranks) <= user)
        rank++;
    return rank;
}

static uint64_t turn_of(const struct sb_share *s, uint64_t user)
{
    uint64_t each = s->total / s->ranks, rank = rank_of(s, user);
    uint64_t before = divide(s->total, rank, s->ranks), i = user - before;

    // Ranks with one more have turns after all others.
    return i < each ? i * s->ranks + rank
                    : each * s->ranks + before - each * rank;
}

// Returns x with a * x = 1 modulo m; a and m have no common divisor.
static uint64_t inverse(uint64_t a, uint64_t m)
{
    int64_t x = 1, next = 0;
    uint64_t b = m;

    while (b) {
        int64_t quotient = (int64_t)(a / b), t = x - quotient * next;
        uint64_t rest = a % b;

        x = next;
        next = t;
        a = b;
        b = rest;
    }
    return (uint64_t)(x < 0 ? x + (int64_t)m : x);
}

uint64_t sb_share_turn(const struct sb_share *s, uint64_t user)
{
    assert(user < s->total);
    if (s->step == 0)
        return turn_of(s, user);
    uint64_t back = inverse(s->step, s->total);

    return (uint64_t)((unsigned __int128)user * back % s->total);
}
