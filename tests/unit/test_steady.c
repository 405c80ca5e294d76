// SPDX-License-Identifier: GPL-2.0-or-later
//
// How often a series of one level is called unsteady, and a change is missed,
// is simulated. Not with tsan: one thread.
#include "measure/steady.h"

#include "check.h"
#include "simulate.h"

#define N 120

static struct sb_steady steady(const double *value, size_t n)
{
    struct sb_values s = { value, NULL, n, NAN };
    struct sb_steady out;

    sb_steady(&s, &out);
    return out;
}

// Values around 1000 with a standard deviation of 20.
static void noise(double *x, size_t n, double rho, uint64_t seed)
{
    struct sb_rng r;

    sb_rng_init(&r, seed, 0);
    sim_ar1(&r, SIM_NORMAL, rho, x, n);
    for (size_t i = 0; i < n; i++)
        x[i] = 1000 + 20 * x[i];
}

static void add(double *x, size_t first, size_t end, double value)
{
    for (size_t i = first; i < end; i++)
        x[i] += value;
}

static void a_few_intervals_say_nothing(void)
{
    double x[SB_STEADY_VALUES_MIN] = { 0 };

    x[0] = NAN;
    CHECK_INT(steady(x, SB_STEADY_VALUES_MIN).nparts, 0);
    CHECK_INT(steady(x, 0).nparts, 0);
    x[0] = 0;
    CHECK_INT(steady(x, SB_STEADY_VALUES_MIN).nparts, 1);
}

static void a_constant_series_is_steady(void)
{
    double x[N];
    struct sb_steady s;

    for (size_t i = 0; i < N; i++)
        x[i] = 0.1;
    s = steady(x, N);
    CHECK_INT(s.nparts, 1);
    CHECK_NEAR(s.part[0].mean, 0.1, 1e-12);
    CHECK(!s.drifts);
}

static void parts_are_found_where_they_are(void)
{
    double x[N];
    struct sb_steady s;

    noise(x, N, 0.3, 1);
    add(x, 0, 30, -200);
    add(x, 70, 80, -400);
    s = steady(x, N);
    CHECK_INT(s.nparts, 4);
    CHECK_INT(s.part[0].first, 0);
    CHECK_INT(s.part[0].end, 30);
    CHECK_INT(s.part[1].end, 70);
    CHECK_INT(s.part[2].end, 80);
    CHECK_INT(s.part[3].end, N);
    CHECK_NEAR(s.part[0].mean, 800, 15);
    CHECK_NEAR(s.part[1].mean, 1000, 15);
    CHECK_NEAR(s.part[2].mean, 600, 30);
    CHECK_NEAR(s.part[3].mean, 1000, 15);
    CHECK(!s.drifts);
}

// From one bin to several intervals in each, and with intervals of no value.
static void long_series_and_gaps(void)
{
    static double x[5000], seconds[5000];
    struct sb_values v = { x, seconds, 5000, NAN };
    struct sb_steady s;

    noise(x, 5000, 0.3, 2);
    add(x, 0, 1000, 100);
    for (size_t i = 0; i < 5000; i++)
        seconds[i] = i % 7 ? 1 : 0;
    x[4000] = NAN;
    sb_steady(&v, &s);
    CHECK_INT(s.nparts, 2);
    CHECK_NEAR((double)s.part[0].end, 1000, 30);
    CHECK_INT(s.part[1].first, s.part[0].end);
    CHECK_INT(s.part[1].end, 5000);
    CHECK_NEAR(s.part[0].mean, 1100, 5);
    CHECK_NEAR(s.part[1].mean, 1000, 5);
}

static void lengths_are_weights(void)
{
    double x[20], seconds[20];
    struct sb_values v = { x, seconds, 20, NAN };
    struct sb_steady s;

    for (size_t i = 0; i < 20; i++) {
        x[i] = i % 2 ? 10 : 20;
        seconds[i] = i % 2 ? 3 : 1;
    }
    sb_steady(&v, &s);
    CHECK_INT(s.nparts, 1);
    CHECK_NEAR(s.part[0].mean, 12.5, 1e-12);
}

static void a_trend_is_drift(void)
{
    double x[N];
    int drifts = 0;

    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sb_steady s;

        noise(x, N, 0.3, seed);
        for (size_t i = 0; i < N; i++)
            x[i] -= 150 * (double)i / N;
        s = steady(x, N);
        drifts += s.drifts;
        if (s.nparts == 1)
            CHECK_NEAR(s.drift, -150. / 925, 0.06);
    }
    CHECK(drifts >= 95);
}

// A series may not have more parts than there is room for.
static void many_changes(void)
{
    static double x[4000];
    struct sb_steady s;

    noise(x, 4000, 0, 3);
    for (size_t i = 0; i < 40; i++)
        add(x, 100 * i, 100 * i + 50, 300);
    s = steady(x, 4000);
    CHECK(s.nparts <= SB_STEADY_PARTS_MAX);
    for (size_t i = 1; i < s.nparts; i++)
        CHECK_INT(s.part[i].first, s.part[i - 1].end);
    CHECK(s.nparts == 0 || s.part[s.nparts - 1].end == 4000);
}

// At most 1 % in all: the limit of each is 0.5 % of series whose correlation is
// at most 0.6, and of 1,000 series 12 are more than 3 standard deviations away.
static void series_of_one_level_are_steady(void)
{
    static const size_t sizes[] = { 10, 20, 60, 200, 600 };
    static const double rhos[] = { 0, 0.3, 0.6 };
    static const enum sim_noise kinds[] = { SIM_NORMAL, SIM_SKEWED,
        SIM_OUTLIERS };
    static double x[600];

    for (size_t a = 0; a < 5; a++)
        for (size_t b = 0; b < 3; b++)
            for (size_t c = 0; c < 3; c++) {
                int parts = 0, drifts = 0;

                for (uint64_t seed = 0; seed < 200; seed++) {
                    struct sb_steady s;
                    struct sb_rng r;

                    sb_rng_init(&r, seed, a);
                    sim_ar1(&r, kinds[c], rhos[b], x, sizes[a]);
                    add(x, 0, sizes[a], 30);
                    s = steady(x, sizes[a]);
                    parts += s.nparts > 1;
                    drifts += s.drifts;
                }
                CHECK(parts <= 4);
                CHECK(drifts <= 6);
            }
}

// A change of ten standard deviations, as from 1,000 to 800 where values
// deviate by 2 %: after the first fifth, at half, for a seventh of the run.
static void changes_are_found(void)
{
    static const struct {
        size_t n, first, end;
        int found; // at least, of 200
    } change[] = { { 20, 0, 4, 130 }, { 20, 10, 20, 190 }, { 20, 10, 13, 80 },
        { 60, 0, 12, 190 }, { 60, 30, 60, 195 }, { 60, 30, 39, 185 } };
    double x[60];

    for (size_t k = 0; k < 6; k++) {
        int found = 0;

        for (uint64_t seed = 0; seed < 200; seed++) {
            noise(x, change[k].n, 0.3, seed);
            add(x, change[k].first, change[k].end, -200);
            found += steady(x, change[k].n).nparts > 1;
        }
        CHECK(found >= change[k].found);
    }
}

CHECK_FILE
{
    RUN(a_few_intervals_say_nothing);
    RUN(a_constant_series_is_steady);
    RUN(parts_are_found_where_they_are);
    RUN(long_series_and_gaps);
    RUN(lengths_are_weights);
    RUN(a_trend_is_drift);
    RUN(many_changes);
    RUN(series_of_one_level_are_steady);
    RUN(changes_are_found);
    return check_done();
}
