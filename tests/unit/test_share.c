// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/share.h"

#include <stdlib.h>

#include "kit/rng.h"
#include "check.h"
#include "measure/pace.h"

#define S UINT64_C(1000000000)

static struct sb_share part(
    unsigned rank, unsigned ranks, const double *weight, uint64_t total)
{
    struct sb_share s;
    struct sb_err err;

    CHECK_INT(sb_share_init(&s, rank, ranks, weight, total, &err), 0);
    return s;
}

// The parts of n are n together, and each differs from the exact quotient by
// less than 1.
static void check_sum(
    unsigned ranks, const double *weight, uint64_t total, uint64_t n)
{
    uint64_t users = 0, sum = 0;

    for (unsigned r = 0; r < ranks; r++) {
        struct sb_share s = part(r, ranks, weight, total);
        double exact = (double)n * (double)s.users / (double)total;

        CHECK_INT(s.first, users);
        CHECK(s.users > 0);
        CHECK(fabs((double)sb_share_of(&s, n) - exact) < 1.001);
        users += s.users;
        sum += sb_share_of(&s, n);
    }
    CHECK_INT(users, total);
    CHECK_INT(sum, n);
}

static void parts_are_exact(void)
{
    static const double weights[] = { 1, 1, 2, 0.5, 3 };
    static const uint64_t numbers[] = { 0, 1, 2, 999, 1000003, 1ull << 52 };

    for (unsigned ranks = 1; ranks <= 17; ranks++)
        for (uint64_t total = ranks; total < 60; total++)
            for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
                check_sum(ranks, NULL, total, numbers[i]);
    for (uint64_t total = 15; total < 100; total++)
        check_sum(5, weights, total, 1000003);
    check_sum(1000, NULL, 1000000, 12345678901);
}

static void users_follow_weights(void)
{
    static const double weights[] = { 1, 1, 2 };

    for (unsigned r = 0; r < 3; r++) {
        struct sb_share s = part(r, 3, weights, 256);

        CHECK_INT(s.users, 64 * weights[r]);
        CHECK_INT(s.first, 64 * r);
    }
}

// Products of weights are not rounded down.
static void weights_are_exact(void)
{
    static const double weights[][2] = { { 1, 48 }, { 3, 8 }, { 0.3, 0.8 },
        { 0.1, 0.2 } };
    static const uint64_t totals[] = { 49, 55, 55, 30 };
    static const uint64_t first[] = { 1, 15, 15, 10 };

    for (size_t i = 0; i < 4; i++) {
        struct sb_share s = part(0, 2, weights[i], totals[i]);

        CHECK_INT(s.users, first[i]);
    }
}

static void each_rank_has_a_user(void)
{
    static const double weights[] = { 1, 1e-3, 1 };
    struct sb_share s;
    struct sb_err err;

    CHECK_INT(sb_share_init(&s, 0, 3, NULL, 2, &err), SB_ERANGE);
    CHECK(strstr(err.msg, "rank 0 would have no user: 2 users for 3 ranks"));
    CHECK_INT(sb_share_init(&s, 0, 3, weights, 101, &err), SB_ERANGE);
    CHECK(strstr(err.msg, "rank 1 would have no user"));
}

// Every user occurs once, and the first n have those of all ranks.
static void check_spread(const struct sb_share *s, double tolerance)
{
    bool seen[200] = { false };
    uint64_t own = 0;

    for (uint64_t n = 0; n < s->total; n++) {
        uint64_t user = sb_share_spread(s, n);

        CHECK(user < s->total && !seen[user]);
        seen[user] = true;
        own += sb_share_owns(s, user);
        CHECK_NEAR((double)own,
            (double)(n + 1) * (double)s->users / (double)s->total, tolerance);
    }
    CHECK_INT(own, s->users);
    CHECK_INT(sb_share_spread(s, s->total), sb_share_spread(s, 0));
}

static void users_take_turns(void)
{
    static const double weights[] = { 1, 2, 4, 1.5, 1 };

    for (uint64_t total = 1; total < 200; total++)
        for (unsigned ranks = 1; ranks <= 9 && ranks <= total; ranks++)
            for (unsigned r = 0; r < ranks; r++) {
                struct sb_share s = part(r, ranks, NULL, total);

                check_spread(&s, 2);
            }
    // By chance, this would be 12 and more.
    for (uint64_t total = 20; total < 200; total++)
        for (unsigned r = 0; r < 5; r++) {
            struct sb_share s = part(r, 5, weights, total);

            check_spread(&s, 6);
        }
}

// Arrivals --------------------------------------------------------------------

#define RANKS 3

struct ranks {
    struct sb_pace whole, part[RANKS];
    _Atomic sb_pace_pos cursor[RANKS];
};

static void start(struct ranks *r, enum sb_pace_kind kind, bool changes)
{
    static const double weights[RANKS] = { 1, 2, 4 };
    static const struct sb_pace_part parts[] = {
        { S, 500, 2000, 0, 0 },
        { S / 2, 0, 0, 0, 0 },
        { S, 1000, 1000, 0, 0 },
    };

    for (unsigned i = 0; i <= RANKS; i++) {
        struct sb_pace *p = i < RANKS ? &r->part[i] : &r->whole;
        struct sb_share s = part(i % RANKS, RANKS, weights, 70);

        if (changes)
            CHECK_INT(sb_pace_init_parts(p, kind, parts, 3, 11), 0);
        else
            sb_pace_init(p, kind, 1000, 11);
        if (i < RANKS)
            sb_pace_divide(p, &s);
    }
    for (unsigned i = 0; i < RANKS; i++)
        atomic_store(&r->cursor[i], 0);
}

static void end(struct ranks *r)
{
    for (unsigned i = 0; i < RANKS; i++)
        sb_pace_done(&r->part[i]);
    sb_pace_done(&r->whole);
}

// Together the ranks have the arrivals of the whole schedule, each of them
// once.
static void check_arrivals(enum sb_pace_kind kind, bool changes)
{
    struct ranks r;
    uint64_t next[RANKS], n[RANKS] = { 0 };
    _Atomic sb_pace_pos cursor = 0;
    sb_pace_pos at[RANKS] = { 0 };

    start(&r, kind, changes);
    for (unsigned i = 0; i < RANKS; i++)
        next[i] = sb_pace_take(&r.part[i], &r.cursor[i]);
    for (int k = 0; k < 7000; k++) {
        uint64_t ns = sb_pace_take(&r.whole, &cursor);
        unsigned owner = 0;

        while (owner < RANKS - 1 && next[owner] != ns)
            owner++;
        CHECK_INT(next[owner], ns);
        n[owner]++;
        // The reporter counts the same arrivals.
        CHECK_INT(sb_pace_walk(&r.part[owner], &at[owner], ns, UINT64_MAX), 1);
        next[owner] = sb_pace_take(&r.part[owner], &r.cursor[owner]);
    }
    // 1000, 2000 and 4000 are expected; a constant schedule is regular.
    for (unsigned i = 0; i < RANKS; i++)
        CHECK_NEAR((double)n[i], 1000 << i,
            kind == SB_PACE_CONSTANT ? 2 : 4 * sqrt(1000 << i));
    end(&r);
}

static void ranks_have_all_arrivals(void)
{
    check_arrivals(SB_PACE_POISSON, false);
    check_arrivals(SB_PACE_CONSTANT, false);
    check_arrivals(SB_PACE_POISSON, true);
    check_arrivals(SB_PACE_CONSTANT, true);
}

// With equal ranks, constant arrivals stay at constant distances.
static void constant_arrivals_alternate(void)
{
    _Atomic sb_pace_pos cursor = 0;
    struct sb_pace p;
    struct sb_share s = part(1, 4, NULL, 4);
    uint64_t last = 0;

    sb_pace_init(&p, SB_PACE_CONSTANT, 1000, 1);
    sb_pace_divide(&p, &s);
    for (int i = 0; i < 1000; i++) {
        uint64_t ns = sb_pace_take(&p, &cursor);

        if (last)
            CHECK_INT(ns - last, 4000000);
        last = ns;
    }
}

// The part of a rank is a Poisson process: the variance of the counts per slot
// is their mean, and counts of two ranks are not correlated.
static void poisson_parts_are_independent(void)
{
    enum { SLOTS = 5000, PER_SLOT = 40 };
    struct sb_pace p[2];
    sb_pace_pos at[2] = { 0 };
    double sum[2] = { 0 }, squares[2] = { 0 }, product = 0;

    for (unsigned i = 0; i < 2; i++) {
        struct sb_share s = part(i, 4, NULL, 4);

        sb_pace_init(&p[i], SB_PACE_POISSON, 4 * PER_SLOT, 5);
        sb_pace_divide(&p[i], &s);
    }
    for (uint64_t slot = 1; slot <= SLOTS; slot++) {
        double n[2];

        for (unsigned i = 0; i < 2; i++) {
            n[i] = (double)sb_pace_walk(&p[i], &at[i], slot * S, UINT64_MAX) -
                   PER_SLOT;
            sum[i] += n[i];
            squares[i] += n[i] * n[i];
        }
        product += n[0] * n[1];
    }
    for (unsigned i = 0; i < 2; i++) {
        CHECK_NEAR(sum[i] / SLOTS, 0, 4 * sqrt((double)PER_SLOT / SLOTS));
        CHECK_NEAR(squares[i] / SLOTS / PER_SLOT, 1, 4 * sqrt(2.0 / SLOTS));
    }
    CHECK_NEAR(product / SLOTS / PER_SLOT, 0, 4 / sqrt(SLOTS));
}

// sb_share_turn() is the inverse of sb_share_spread().
static void turns_are_the_inverse(void)
{
    static const double weights[] = { 1, 1, 2, 0.5, 3 };

    for (unsigned ranks = 1; ranks <= 9; ranks++)
        for (uint64_t total = ranks; total < 80; total++) {
            struct sb_share s = part(ranks - 1, ranks, NULL, total);

            for (uint64_t n = 0; n < total; n++)
                CHECK_INT(sb_share_turn(&s, sb_share_spread(&s, n)), n);
        }
    for (uint64_t total = 15; total < 100; total++) {
        struct sb_share s = part(3, 5, weights, total);

        for (uint64_t n = 0; n < total; n++)
            CHECK_INT(sb_share_turn(&s, sb_share_spread(&s, n)), n);
    }
}

// In a schedule of parts, only ranks with users have arrivals, in proportion to
// them; together they have all. After the end, every rank has some.
static void arrivals_follow_the_users(int kind)
{
    enum { THREE = 3, PARTS = 7 };
    static const struct sb_pace_part parts[] = {
        { 10 * S, 100, 100, 2, 2 }, // users 0 and 4: of ranks 0 and 1
        { 10 * S, 100, 300, 3, 12 },
        { 10 * S, 90, 90, 0, 0 }, // those of later users
        { 10 * S, 120, 120, 12, 12 },
        { 10 * S, 100, 100, 1, 1 },
        // From the first moment, a ramp from 0 has its first user, and one to 0
        // until the end.
        { 10 * S, 100, 100, 0, 1 },
        { 10 * S, 100, 100, 1, 0 },
    };
    uint64_t n[PARTS][THREE] = { 0 }, after[THREE], all[PARTS] = { 0 };
    struct sb_pace whole;
    sb_pace_pos pos = 0;

    sb_pace_init_parts(&whole, (enum sb_pace_kind)kind, parts, PARTS, 3);
    for (unsigned i = 0; i < PARTS; i++)
        all[i] = sb_pace_walk(&whole, &pos, (i + 1) * 10 * S, UINT64_MAX);
    for (unsigned r = 0; r < THREE; r++) {
        struct sb_share s = part(r, THREE, NULL, 12);
        struct sb_pace p;
        _Atomic sb_pace_pos cursor;
        uint64_t ns;

        pos = 0;
        sb_pace_init_parts(&p, (enum sb_pace_kind)kind, parts, PARTS, 3);
        sb_pace_divide(&p, &s);
        for (unsigned i = 0; i < PARTS; i++)
            n[i][r] = sb_pace_walk(&p, &pos, (i + 1) * 10 * S, UINT64_MAX);
        atomic_init(&cursor, pos);
        after[r] = sb_pace_take(&p, &cursor);
        CHECK(after[r] < 71 * S);
        // Where it has none, the walk ends at the limit.
        atomic_init(&cursor, 0);
        CHECK_INT(sb_pace_take_before(&p, &cursor, 9 * S, &ns), n[0][r] > 0);
        sb_pace_done(&p);
    }
    for (unsigned i = 0; i < PARTS; i++)
        CHECK_INT(n[i][0] + n[i][1] + n[i][2], all[i]);
    CHECK_INT(n[0][2], 0);
    for (unsigned i = 4; i < PARTS; i++)
        // One at the very end may count as the first one after it.
        CHECK(n[i][1] + n[i][2] <= 1);
    for (unsigned r = 0; r < THREE; r++) {
        CHECK_NEAR((double)n[2][r] / (double)all[2], 1.0 / THREE, 0.06);
        CHECK_NEAR((double)n[3][r] / (double)all[3], 1.0 / THREE, 0.06);
        // Of 4 users, rank 0 has two; of 5, ranks 0 and 1.
        CHECK_NEAR((double)n[1][r] / (double)all[1], 1.0 / THREE, 0.1);
    }
    CHECK_NEAR((double)n[0][0] / (double)all[0], 0.5, 0.06);
    sb_pace_done(&whole);
}

static void constant_arrivals_follow_the_users(void)
{
    arrivals_follow_the_users(SB_PACE_CONSTANT);
}

static void poisson_arrivals_follow_the_users(void)
{
    arrivals_follow_the_users(SB_PACE_POISSON);
}

CHECK_FILE
{
    RUN(parts_are_exact);
    RUN(users_follow_weights);
    RUN(weights_are_exact);
    RUN(each_rank_has_a_user);
    RUN(users_take_turns);
    RUN(ranks_have_all_arrivals);
    RUN(constant_arrivals_alternate);
    RUN(poisson_parts_are_independent);
    RUN(turns_are_the_inverse);
    RUN(constant_arrivals_follow_the_users);
    RUN(poisson_arrivals_follow_the_users);
    return check_done();
}
