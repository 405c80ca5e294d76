// SPDX-License-Identifier: GPL-2.0-or-later
//
// Samples of draws, and what they say about the hottest keys. Not with tsan:
// one thread.
#include "measure/skew.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "check.h"

static struct sb_dist_opts opts = { .seed = 42,
    .type = SB_DIST_ZIPFIAN,
    .spec_iter = 12,
    .spec_pct = 1,
    .spec_res = 75,
    .pareto_h = 0.2,
    .zipfian_exp = 0.8 };

struct users {
    struct sb_random_shared shared;
    struct sb_random user[2];
};

static void start(struct users *r)
{
    CHECK_INT(sb_random_share(&r->shared, &opts, 1, NULL), 0);
    r->shared.draws = sb_draws_new();
    CHECK(r->shared.draws);
    for (unsigned i = 0; i < 2; i++)
        sb_random_init(&r->user[i], &r->shared, i);
}

static void end(struct users *r, struct sb_skew *out)
{
    struct sb_draw *draw = calloc(SB_DRAWS_MAX, sizeof(*draw));

    CHECK(draw);
    sb_skew(draw, sb_draws_take(r->shared.draws, draw), out);
    free(draw);
    sb_draws_free(r->shared.draws);
}

typedef double draw_function(struct sb_random *r, double a, double b);

// How much the hottest keys of 1 to n get, estimated from so many draws.
static double share(draw_function *draw, double n, unsigned draws)
{
    struct sb_skew skew;
    struct users r;

    start(&r);
    for (unsigned i = 0; i < draws; i++)
        draw(&r.user[i % 2], 1, n);
    end(&r, &skew);
    CHECK(skew.keys == n);
    CHECK(skew.hot == (n < 100 ? 1 : floor(n / 100)));
    return skew.share;
}

// The exact share of the first `hot` of n keys whose frequency falls with k^-e.
static double zipf(double hot, double n, double e)
{
    double part = 0, all = 0;

    for (double k = 1; k <= n; k++) {
        all += pow(k, -e);
        if (k <= hot)
            part += pow(k, -e);
    }
    return part / all;
}

// The same of YCSB, whose frequencies of keys after the second one are
// approximate (sb_ycsb_zipfian()).
static double latest(double hot, double n)
{
    double e = 1 - SB_YCSB_THETA, zeta = sb_ycsb_zeta((uint64_t)n);
    double eta = (1 - pow(2 / n, e)) / (1 - sb_ycsb_zeta(2) / zeta);

    return hot < 2 ? 1 / zeta : 1 - (1 - pow(hot / n, e)) / eta;
}

#define NEAR(x, y) CHECK(fabs((x) - (y)) < 0.03 * (y) + 0.004)

static void shares_of_distributions(void)
{
    static const double n[] = { 40, 1000, 100000 };

    for (int i = 0; i < 3; i++) {
        double hot = n[i] < 100 ? 1 : n[i] / 100;

        NEAR(share(sb_random_uniform, n[i], 200000), hot / n[i]);
        NEAR(share(sb_random_zipfian, n[i], 200000), zipf(hot, n[i], 0.8));
        NEAR(share(sb_random_default, n[i], 200000), zipf(hot, n[i], 0.8));
        NEAR(share(sb_random_latest, n[i], 200000), latest(hot, n[i]));
        NEAR(share(sb_random_pareto, n[i], 200000),
            pow(hot / n[i], log1p(-0.2) / log(0.2)));
    }
    // 75 % are in the middle 0.75 %, the others are gaussian.
    NEAR(share(sb_random_special, 100000, 200000), 0.76);
}

// The numbers of a range of a few keys are hashes of many numbers, which are
// hot because of the first ones of them; a large range has them all.
static void scrambled(void)
{
    double all = sb_ycsb_zeta(SB_YCSB_ITEMS);
    double first = sb_ycsb_zeta(1000) / all;

    NEAR(share(sb_random_scrambled_zipfian, 100000, 200000),
        first + (1 - first) / 100);
    CHECK(share(sb_random_scrambled_zipfian, 10, 200000) > 0.12);
}

// Keys that --rand-scatter spreads over the range are as hot as before.
static void scattered(void)
{
    opts.scatter = true;
    NEAR(share(sb_random_default, 100000, 200000), zipf(1000, 100000, 0.8));
    NEAR(share(sb_random_default, 40, 200000), zipf(1, 40, 0.8));
    opts.scatter = false;
}

// A sample chooses the keys that it has drawn most often by chance, too.
static void a_small_sample_is_not_biased(void)
{
    double sum = 0;

    for (int i = 0; i < 200; i++) {
        opts.seed = i + 1;
        sum += share(sb_random_uniform, 1000, 300);
    }
    opts.seed = 42;
    CHECK(fabs(sum / 200 - 0.01) < 0.002);
}

// Each draw of a run has the same chance: the first and the last ones.
static void all_draws_count_alike(void)
{
    struct sb_draw *draw = calloc(SB_DRAWS_MAX, sizeof(*draw));
    double early = 0;
    struct users r;
    size_t n;

    CHECK(draw);
    start(&r);
    for (unsigned i = 0; i < 1000000; i++)
        sb_random_uniform(&r.user[i % 2], 0, i < 250000 ? 9 : 99);
    n = sb_draws_take(r.shared.draws, draw);
    CHECK_INT(n, SB_DRAWS_MAX);
    for (size_t i = 0; i < n; i++)
        early += draw[i].span == 9;
    NEAR(early / (double)n, 0.25);
    sb_draws_restart(r.shared.draws);
    CHECK_INT(sb_draws_take(r.shared.draws, draw), 0);
    free(draw);
    sb_draws_free(r.shared.draws);
}

static void draws_are_the_same_with_a_sample(void)
{
    struct sb_random_shared plain;
    struct sb_random user;
    struct sb_skew skew;
    struct users r;

    opts.scatter = true;
    start(&r);
    CHECK_INT(sb_random_share(&plain, &opts, 1, NULL), 0);
    sb_random_init(&user, &plain, 1);
    for (int i = 0; i < 1000; i++) {
        CHECK(sb_random_default(&user, 1, 77) ==
              sb_random_default(&r.user[1], 1, 77));
        CHECK(sb_random_scrambled_zipfian(&user, 5, 9) ==
              sb_random_scrambled_zipfian(&r.user[1], 5, 9));
    }
    end(&r, &skew);
    opts.scatter = false;
}

// Skewed draws are keys; numbers of tables, lengths and rows are none.
static void ranges_of_keys(void)
{
    struct sb_skew skew;
    struct users r;

    start(&r);
    for (int i = 0; i < 1000; i++) {
        sb_random_uniform(&r.user[0], 1, 100000);
        sb_random_uniform(&r.user[0], 1, 8);
        sb_random_default(&r.user[0], 1, 500);
    }
    end(&r, &skew);
    CHECK_INT(skew.kind, SB_DRAW_DEFAULT);
    CHECK_INT(skew.draws, 1000);
    CHECK(skew.keys == 500);

    start(&r);
    for (int i = 0; i < 1000; i++) {
        sb_random_uniform(&r.user[0], 1, 8);
        sb_random_uniform(&r.user[0], 1, 300);
        if (i % 50 == 0)
            sb_random_uniform(&r.user[0], 0, 1e9);
        sb_random_row(&r.user[0], 1, i);
        sb_random_default(&r.user[0], 1, 500);
        sb_random_resume(&r.user[0]);
    }
    end(&r, &skew);
    CHECK_INT(skew.kind, SB_DRAW_UNIFORM);
    CHECK(skew.keys == 300);

    start(&r);
    end(&r, &skew);
    CHECK_INT(skew.draws, 0);
}

// A table that grows has one range.
static void growing(void)
{
    struct sb_skew skew;
    struct users r;

    start(&r);
    for (int i = 0; i < 5000; i++)
        sb_random_latest(&r.user[0], 1, 3000 + i / 100);
    end(&r, &skew);
    CHECK_INT(skew.draws, 5000);
    CHECK(skew.keys == 3049);
    NEAR(skew.share, latest(30, 3025));
}

CHECK_FILE
{
    RUN(shares_of_distributions);
    RUN(scrambled);
    RUN(scattered);
    RUN(a_small_sample_is_not_biased);
    RUN(all_draws_count_alike);
    RUN(draws_are_the_same_with_a_sample);
    RUN(ranges_of_keys);
    RUN(growing);
    return check_done();
}
