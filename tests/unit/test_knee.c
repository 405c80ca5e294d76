// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "measure/knee.h"

#include "base/err.h"
#include "check.h"
#include "check_stat.h"
#include "simulate.h"

#define LOADS   9
#define REPEATS 3

struct sweep {
    struct sb_mean run[LOADS][REPEATS];
    struct sb_load load[LOADS];
    struct sb_compare to_peak[LOADS];
    struct sb_knee k;
};

static struct sb_knee_opts defaults;

// Loads 1, 2, 4, ... with REPEATS runs each, which deviate by `deviation`.
static void sweep_init(
    struct sweep *s, const double *value, double deviation, struct sb_rng *r)
{
    for (size_t i = 0; i < LOADS; i++) {
        for (size_t k = 0; k < REPEATS; k++)
            s->run[i][k] = (struct sb_mean){
                .value = value[i] * (1 + deviation * sim_normal(r)),
                .error = NAN,
            };
        s->load[i] = (struct sb_load){ (double)(1 << i), s->run[i], REPEATS };
    }
}

static int sweep_run(
    struct sweep *s, const double *value, double deviation, uint64_t seed)
{
    struct sb_rng r;

    sb_rng_init(&r, seed, 0);
    sweep_init(s, value, deviation, &r);
    return sb_knee(s->load, LOADS, &defaults, s->to_peak, &s->k);
}

static void peak_and_knee_of_a_curve(void)
{
    static const double curve[] = { 100, 195, 380, 700, 960, 1000, 990, 900,
        700 };
    struct sweep s;

    CHECK_INT(sweep_run(&s, curve, 0.001, 1), 0);
    CHECK_INT(s.k.peak, 5);
    CHECK_INT(s.k.first_like_peak, 5);
    CHECK_INT(s.k.last_like_peak, 5);
    CHECK_INT(s.k.knee, 4);
    CHECK_INT(s.k.knee_low, 4);
    CHECK_INT(s.k.knee_high, 4);
    CHECK(!s.k.still_rising);
    CHECK(isnan(s.to_peak[5].p));
    CHECK_INT(s.to_peak[4].verdict, SB_VERDICT_LOWER);
    CHECK_NEAR(s.to_peak[4].difference, -0.04, 0.004);
    CHECK_NEAR(s.to_peak[4].b.value, 960, 4);
}

static void noise_widens_what_is_said(void)
{
    static const double curve[] = { 100, 195, 380, 700, 960, 1000, 990, 900,
        700 };
    struct sweep s;

    CHECK_INT(sweep_run(&s, curve, 0.02, 2), 0);
    CHECK(s.k.first_like_peak <= 4 && s.k.last_like_peak >= 6);
    CHECK(s.k.last_like_peak < 8 && s.k.first_like_peak > 2);
    CHECK(s.k.resolved);
    CHECK_INT(s.k.knee_low, 4);
    CHECK(s.k.knee_high > 4 && s.k.knee_high <= s.k.peak);
}

static void a_curve_that_still_rises_has_no_known_peak(void)
{
    static const double rising[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256 };
    static const double level[] = { 1, 2, 4, 8, 16, 32, 64, 128, 128.01 };
    struct sweep s;

    CHECK_INT(sweep_run(&s, rising, 0.01, 3), 0);
    CHECK_INT(s.k.peak, 8);
    CHECK_INT(s.k.knee, 8);
    CHECK(s.k.still_rising);
    CHECK_INT(sweep_run(&s, level, 0.01, 3), 0);
    CHECK_INT(s.k.first_like_peak, 7);
    CHECK(!s.k.still_rising);
}

static void loads_without_throughput_do_not_count(void)
{
    static const double curve[] = { 100, NAN, 380, 700, 960, 0, 1000, 990,
        NAN };
    static const double rising[] = { 1, 2, 4, 8, 16, 32, NAN, 128, NAN };
    static const double none[LOADS] = { 0, NAN };
    struct sweep s;

    CHECK_INT(sweep_run(&s, curve, 0.001, 4), 0);
    CHECK_INT(s.k.peak, 6);
    CHECK_INT(s.k.knee, 4);
    CHECK_INT(s.k.knee_low, 4);
    CHECK_INT(s.to_peak[1].verdict, SB_VERDICT_NONE);
    CHECK_INT(sweep_run(&s, rising, 0.001, 4), 0);
    CHECK(s.k.still_rising);
    CHECK_INT(sweep_run(&s, none, 0, 4), SB_ENOTFOUND);
    CHECK_INT(sb_knee(NULL, 0, &defaults, NULL, &s.k), SB_ENOTFOUND);
}

static void repeats_without_throughput_do_not_count(void)
{
    static const double curve[] = { 1, 2, 4, 8, 9, 10, 9, 8, 7 };
    struct sweep s;
    struct sb_rng r;

    sb_rng_init(&r, 7, 0);
    sweep_init(&s, curve, 0.001, &r);
    s.run[5][1].value = NAN;
    CHECK_INT(sb_knee(s.load, LOADS, &defaults, s.to_peak, &s.k), 0);
    CHECK_INT(s.k.peak, 5);
    CHECK_INT(s.to_peak[4].a.runs, 2);
}

// Single runs without an error: only the estimates are known.
static void without_intervals_the_estimates_decide(void)
{
    static const double curve[] = { 100, 200, 400, 800, 960, 1000, 970, 900,
        700 };
    struct sweep s;
    struct sb_rng r;

    sb_rng_init(&r, 5, 0);
    sweep_init(&s, curve, 0, &r);
    for (size_t i = 0; i < LOADS; i++)
        s.load[i].n = 1;
    CHECK_INT(sb_knee(s.load, LOADS, &defaults, s.to_peak, &s.k), 0);
    CHECK_INT(s.k.knee, 4);
    CHECK_INT(s.k.knee_low, 4);
    CHECK_INT(s.k.knee_high, 5);
    CHECK_INT(s.k.first_like_peak, 4);
    CHECK_INT(s.k.last_like_peak, 6);
    CHECK(s.k.estimated);
    CHECK(!s.k.resolved);
}

// One load without an interval is enough: it may be as good as the peak.
static void estimates_do_not_say_that_it_still_rises(void)
{
    static const double curve[] = { 100, 200, 300, 400, 500, 600, 700, 800,
        900 };
    struct sweep s;

    CHECK_INT(sweep_run(&s, curve, 0.001, 1), 0);
    CHECK(!s.k.estimated);
    CHECK(s.k.still_rising);
    s.load[2].n = 1;
    s.load[8].n = 1;
    CHECK_INT(sb_knee(s.load, LOADS, &defaults, s.to_peak, &s.k), 0);
    CHECK(s.k.estimated);
    CHECK(!s.k.still_rising);
}

static void the_share_is_an_option(void)
{
    static const double curve[] = { 100, 200, 400, 800, 960, 1000, 970, 900,
        700 };
    struct sb_knee_opts o = { .share = 0.75 };
    struct sweep s;

    CHECK_INT(sweep_run(&s, curve, 0.001, 6), 0);
    CHECK_INT(s.k.knee, 4);
    CHECK_INT(sb_knee(s.load, LOADS, &o, s.to_peak, &s.k), 0);
    CHECK_INT(s.k.knee, 3);
}

// The peak is the highest of several, by chance higher than it should be.
static void equal_loads_are_rarely_told_apart(void)
{
    double flat[LOADS], apart = 0;
    int sweeps = 2000;
    struct sweep s;

    for (size_t i = 0; i < LOADS; i++)
        flat[i] = 1000;
    for (int i = 0; i < sweeps; i++) {
        bool any = false;

        CHECK_INT(sweep_run(&s, flat, 0.02, (uint64_t)i), 0);
        for (size_t k = 0; k < LOADS; k++)
            any |= s.to_peak[k].verdict > SB_VERDICT_SAME;
        apart += any / (double)sweeps;
    }
    CHECK_NEAR(apart, 0, 0.05 + STAT_Z * sqrt(0.05 * 0.95 / sweeps));
}

// Runs in rounds, while the machine becomes slower by 4 % per round.
static int drifting_rounds(struct sweep *s, size_t loads, double lower,
    double deviation, bool rounds, uint64_t seed)
{
    struct sb_knee_opts o = { .rounds = rounds };
    double value[LOADS];
    struct sb_rng r;

    sb_rng_init(&r, seed, 1);
    for (size_t i = 0; i < LOADS; i++)
        value[i] = i + 1 == loads ? 1000 * (1 - lower) : 1000;
    sweep_init(s, value, deviation, &r);
    for (size_t i = 0; i < LOADS; i++)
        for (size_t k = 0; k < REPEATS; k++)
            s->run[i][k].value *= 1 - 0.04 * (double)k;
    return sb_knee(s->load, loads, &o, s->to_peak, &s->k);
}

// Returns the share of simulated sweeps in which the last load is called lower,
// or with `any`, any load.
static double called_lower(size_t loads, double lower, bool rounds, bool any)
{
    int sweeps = 1000, found = 0;
    struct sweep s;

    for (int i = 0; i < sweeps; i++) {
        CHECK_INT(
            drifting_rounds(&s, loads, lower, 0.01, rounds, (uint64_t)i), 0);
        found += any ? s.k.resolved
                     : s.to_peak[loads - 1].verdict == SB_VERDICT_LOWER;
    }
    return found / (double)sweeps;
}

// Without rounds, the drift of 8 % looks like chance.
static void drift_from_round_to_round_cancels_out(void)
{
    static const size_t loads[] = { 2, 3, LOADS };
    const double chance = 0.05 + STAT_Z * sqrt(0.05 * 0.95 / 1000);

    for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
        CHECK(called_lower(loads[i], 0, true, true) < chance);
        CHECK(called_lower(loads[i], 0.08, true, false) > 0.85);
        CHECK(called_lower(loads[i], 0.08, false, false) < 0.2);
    }
}

// The round of the run that is missing was the slow one.
static void a_load_that_lacks_a_round_is_no_faster(void)
{
    const struct sb_knee_opts o = { .rounds = true };
    struct sweep s;

    CHECK_INT(drifting_rounds(&s, LOADS, 0, 0.001, true, 1), 0);
    s.run[4][2].value = NAN;
    CHECK_INT(sb_knee(s.load, LOADS, &o, s.to_peak, &s.k), 0);
    CHECK(!s.k.resolved);
    CHECK_NEAR(s.to_peak[4].b.value, 960, 3);
    CHECK_INT(s.to_peak[4].b.runs, 2);
}

CHECK_FILE
{
    RUN(peak_and_knee_of_a_curve);
    RUN(noise_widens_what_is_said);
    RUN(a_curve_that_still_rises_has_no_known_peak);
    RUN(loads_without_throughput_do_not_count);
    RUN(repeats_without_throughput_do_not_count);
    RUN(without_intervals_the_estimates_decide);
    RUN(estimates_do_not_say_that_it_still_rises);
    RUN(the_share_is_an_option);
    RUN(equal_loads_are_rarely_told_apart);
    RUN(drift_from_round_to_round_cancels_out);
    RUN(a_load_that_lacks_a_round_is_no_faster);
    return check_done();
}
