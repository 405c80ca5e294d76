// SPDX-License-Identifier: GPL-2.0-or-later
//
// Simulated searches with fixed seeds.
// Not with asan, qemu, tsan: thousands of searches on one thread; cli/rate.t
// runs some with asan.
#include "measure/search.h"

#include <math.h>

#include "kit/rng.h"
#include "check.h"
#include "check_stat.h"

#define RUNS 400

// A server: at `rate` half of the trials keep the limit. slope 0: no noise.
struct server {
    double rate, slope, lapse;
    uint64_t seed;
};

static double uniform(struct server *v)
{
    v->seed = sb_rng_mix(v->seed + 1);
    return (double)(v->seed >> 11) * 0x1p-53;
}

static bool keeps(struct server *v, double rate)
{
    double p = 1 / (1 + exp(v->slope * log(rate / v->rate)));

    if (v->slope <= 0)
        p = rate <= v->rate;
    if (uniform(v) < v->lapse)
        return uniform(v) < 0.5;
    return uniform(v) < p;
}

static void look_for(struct server *v, double guess, double tolerance,
    unsigned max_trials, struct sb_search_result *r)
{
    struct sb_search s;

    CHECK_INT(sb_search_init(&s, guess, 100, 10000, tolerance, max_trials), 0);
    do {
        double rate = sb_search_next(&s);

        CHECK(rate >= 99.999 && rate <= 10000.001);
        sb_search_add(&s, rate, keeps(v, rate));
        sb_search_result(&s, r);
        CHECK(isnan(r->rate) || (r->low <= r->rate && r->rate <= r->high));
    } while (r->end == SB_SEARCH_GOES_ON);
    CHECK(r->trials <= max_trials);
    sb_search_done(&s);
}

static void a_server_without_noise(void)
{
    static const double rates[] = { 137, 1000, 2222, 9000 };

    for (int i = 0; i < 4; i++)
        for (double guess = 100; guess <= 10000; guess *= 10) {
            struct server v = { .rate = rates[i] };
            struct sb_search_result r;

            look_for(&v, guess, 0.05, 100, &r);
            CHECK_INT(r.end, SB_SEARCH_FOUND);
            CHECK(r.low <= v.rate && v.rate <= r.high);
            CHECK(r.high / r.low <= 1.051);
            CHECK(r.trials <= 40);
        }
}

// The interval holds the true rate as often as it says, however noisy trials
// are, and although some go wrong at any rate.
static void the_interval_is_honest(void)
{
    static const double noise[] = { 8, 20, 60, 200 };

    for (int i = 0; i < 4; i++) {
        int inside = 0, above = 0;
        double trials = 0, kept = 0;

        for (uint64_t seed = 0; seed < RUNS; seed++) {
            struct server v = { .slope = noise[i], .lapse = 0.02 };
            struct sb_search_result r;

            v.seed = sb_rng_mix(seed * 4 + (uint64_t)i);
            v.rate = 200 * pow(25, uniform(&v));
            look_for(&v, 1000, 0.1, 60, &r);
            inside += r.low <= v.rate && v.rate <= r.high;
            above += r.rate > v.rate;
            trials += r.trials;
            kept += 1 / (1 + exp(v.slope * log(r.safe / v.rate)));
            CHECK(r.safe <= r.rate);
        }
        printf("# slope %g: %.1f %% inside, %.1f %% above, %.1f trials, %.1f "
               "%% kept at the safe rate\n",
            noise[i], 100.0 * inside / RUNS, 100.0 * above / RUNS,
            trials / RUNS, 100 * kept / RUNS);
        CHECK(kept / RUNS >= (noise[i] < 20 ? 0.85 : 0.93));
        CHECK(inside >= RUNS * (0.95 - STAT_Z * sqrt(0.95 * 0.05 / RUNS)));
        CHECK_NEAR((double)above / RUNS, 0.5, STAT_Z * 0.5 / sqrt(RUNS));
    }
}

// By default a search takes at most 30 trials. If the guess is not far off and
// trials are not very noisy, it finds the rate in fewer, and the safe rate is
// not much lower.
static void a_usual_search_is_short(void)
{
    double trials = 0, safe = 0;
    int found = 0;

    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct server v = { .slope = 200, .lapse = 0.02 };
        struct sb_search_result r;

        v.seed = sb_rng_mix(seed + 777);
        v.rate = 1000 * exp(log(0.25) + uniform(&v) * log(4.4));
        look_for(&v, 700, 0.1, 30, &r);
        found += r.end == SB_SEARCH_FOUND;
        trials += r.trials;
        safe += r.safe / v.rate;
    }
    printf("# %.1f trials, %.1f %% found, the safe rate is %.1f %%\n",
        trials / RUNS, 100.0 * found / RUNS, 100 * safe / RUNS);
    CHECK(trials / RUNS < 23);
    CHECK(found > 0.85 * RUNS);
    CHECK(safe / RUNS > 0.93);
}

static double normal(struct server *v)
{
    return sqrt(-2 * log(1 - uniform(v))) * cos(2 * M_PI * uniform(v));
}

// A server whose speed drifts: of trials after each other, most are slower, or
// most are faster, than the server is on average. The correlation of
// neighbours is 0.8, the standard deviation that of `sd`.
static bool search_drifting(struct server *v, double sd)
{
    const double phi = 0.8;
    double mean = v->rate, drift = sd * normal(v);
    struct sb_search s;
    struct sb_search_result r;

    CHECK_INT(sb_search_init(&s, 1000, 100, 10000, 0.1, 60), 0);
    do {
        double rate = sb_search_next(&s);

        v->rate = mean * exp(drift);
        sb_search_add(&s, rate, keeps(v, rate));
        sb_search_result(&s, &r);
        drift = phi * drift + sd * sqrt(1 - phi * phi) * normal(v);
    } while (r.end == SB_SEARCH_GOES_ON);
    sb_search_done(&s);
    v->rate = mean;
    return r.low <= mean && mean <= r.high;
}

// The interval takes trials as independent, but is wide enough for a server
// that drifts.
static void a_drifting_server(void)
{
    static const double sds[] = { 0.01, 0.03, 0.05 };

    for (int i = 0; i < 3; i++) {
        int inside = 0;

        for (uint64_t seed = 0; seed < RUNS; seed++) {
            struct server v = { .slope = 60, .lapse = 0.02 };

            v.seed = sb_rng_mix(seed * 3 + (uint64_t)i + 12345);
            v.rate = 200 * pow(25, uniform(&v));
            inside += search_drifting(&v, sds[i]);
        }
        printf("# drift %g: %.1f %% inside\n", sds[i], 100.0 * inside / RUNS);
        CHECK(inside >= RUNS * (0.9 - STAT_Z * sqrt(0.9 * 0.1 / RUNS)));
    }
}

static void a_queue_grows(void)
{
    CHECK(!sb_search_grew(0, 1000, 8));
    CHECK(!sb_search_grew(-50, 1000, 8));
    CHECK(!sb_search_grew(sqrt(1000) + 7, 1000, 8));
    CHECK(sb_search_grew(sqrt(1000) + 9, 1000, 8));
    CHECK(!sb_search_grew(90, 1000, 64));
}

static void check_sentence(
    struct sb_rate_search *f, enum sb_search_end end, const char *want)
{
    char text[400];

    f->result.end = end;
    CHECK_STR(sb_search_sentence(f, text, sizeof(text)), want);
}

static void sentences(void)
{
    struct sb_search_trial trial[] = {
        { .rate = 90, .kept = true, .missed = SB_SEARCH_NONE },
        { .rate = 120, .grew = true, .missed = 0 },
        { .rate = 110, .grew = true, .missed = SB_SEARCH_NONE },
    };
    struct sb_rate_search f = { .max = 100,
        .lowest = 0.1,
        .highest = 400,
        .trial = trial,
        .trials = 3,
        .result = { .rate = 97, .low = 95, .high = 99.75, .trials = 3 } };

    check_sentence(&f, SB_SEARCH_FOUND, "The rate is known to 5.0 %.");
    trial[1].missed = SB_SEARCH_NONE;
    check_sentence(&f, SB_SEARCH_FOUND,
        "The rate is known to 5.0 %; this is the maximum rate of these users: "
        "the limit does not lower it.");
    check_sentence(&f, SB_SEARCH_BELOW,
        "The limit is not kept even at 0.1 per sec., the lowest rate of the "
        "search.");
    check_sentence(&f, SB_SEARCH_ABOVE,
        "The limit is kept even at 400 per sec., the highest rate of the "
        "search.");
    check_sentence(&f, SB_SEARCH_EXHAUSTED,
        "The rate is known to 5.0 % only: 3 trials were not enough "
        "(--rate-trials; longer ones are less noisy: --rate-trial-time).");
    check_sentence(&f, SB_SEARCH_GOES_ON, "The search was interrupted.");
    f.result.high = 95 * 1.264;
    check_sentence(&f, SB_SEARCH_EXHAUSTED,
        "The rate is known to 26 % only: 3 trials were not enough "
        "(--rate-trials; longer ones are less noisy: --rate-trial-time).");
    f.result.high = 95 * 1.098;
    trial[1].missed = 0;
    check_sentence(&f, SB_SEARCH_FOUND, "The rate is known to 9.8 %.");
    f.result.high = 95 * 2;
    check_sentence(&f, SB_SEARCH_FOUND, "The rate is known to 100 %.");
    f.result.high = 209.5;
    check_sentence(&f, SB_SEARCH_EXHAUSTED,
        "The rate is only known to be between 95 and 209.5 per sec.: 3 trials "
        "were not enough (--rate-trials; longer ones are less noisy: "
        "--rate-trial-time).");
}

// A plain bisection never recovers from one wrong outcome.
static void a_wrong_outcome_is_corrected(void)
{
    for (unsigned wrong = 0; wrong < 10; wrong++) {
        struct server v = { .rate = 1234 };
        struct sb_search s;
        struct sb_search_result r;

        sb_search_init(&s, 1000, 100, 10000, 0.05, 100);
        do {
            double rate = sb_search_next(&s);

            sb_search_add(&s, rate, keeps(&v, rate) != (s.trials == wrong));
            sb_search_result(&s, &r);
        } while (r.end == SB_SEARCH_GOES_ON);
        CHECK_INT(r.end, SB_SEARCH_FOUND);
        CHECK_NEAR(r.rate, v.rate, 0.05 * v.rate);
        sb_search_done(&s);
    }
}

static void rates_out_of_bounds(void)
{
    struct server low = { .rate = 1 }, high = { .rate = 1e9 };
    struct sb_search_result r;

    look_for(&low, 1000, 0.05, 100, &r);
    CHECK_INT(r.end, SB_SEARCH_BELOW);
    CHECK_INT(r.kept, 0);
    // What the grid says there is the bound, not a rate that was found.
    CHECK(isnan(r.rate) && isnan(r.low) && isnan(r.high) && isnan(r.safe));
    look_for(&high, 1000, 0.05, 100, &r);
    CHECK_INT(r.end, SB_SEARCH_ABOVE);
    CHECK_INT(r.kept, r.trials);
    CHECK(isnan(r.rate) && isnan(r.low) && isnan(r.high));
    CHECK(r.safe > 9000 && r.safe <= 10000);
}

static void trials_are_limited(void)
{
    struct server v = { .rate = 1000, .slope = 4, .seed = 1 };
    struct sb_search_result r;

    look_for(&v, 1000, 0.01, 20, &r);
    CHECK_INT(r.end, SB_SEARCH_EXHAUSTED);
    CHECK_INT(r.trials, 20);
    CHECK(r.high / r.low > 1.01);
    look_for(&v, 1000, 0.01, 1, &r);
    CHECK_INT(r.trials, 1);
}

CHECK_FILE
{
    RUN(a_server_without_noise);
    RUN(the_interval_is_honest);
    RUN(a_wrong_outcome_is_corrected);
    RUN(rates_out_of_bounds);
    RUN(trials_are_limited);
    RUN(a_usual_search_is_short);
    RUN(a_drifting_server);
    RUN(a_queue_grows);
    RUN(sentences);
    return check_done();
}
