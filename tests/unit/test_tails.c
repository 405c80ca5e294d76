// SPDX-License-Identifier: GPL-2.0-or-later
//
// How often a confidence interval holds the true percentile is simulated. Not
// with tsan: one thread.
#include "measure/tails.h"

#include "check.h"
#include "hists.h"
#include "simulate.h"

#define MS        1e6
#define INTERVALS 40
#define EVENTS    100 // in an interval

static const double pcts[] = { 50, 95, 99.9 };

// Adds an interval of exponential latencies with this mean, in ms.
static void add_events(struct sb_hist_snap *to, struct sb_rng *r, double mean)
{
    for (int i = 0; i < EVENTS; i++)
        count(to, (uint64_t)(-log(1 - sb_rng_double(r)) * mean * MS), 1);
}

struct series {
    struct sb_tails tails;
    struct sb_hist_snap whole;
};

// A run whose intervals are slow by turns: the mean of an interval deviates by
// this share, with autocorrelation.
static void simulate(struct series *s, uint64_t seed, double share)
{
    double level[INTERVALS];
    struct sb_rng r;

    *s = (struct series){ 0 };
    sb_rng_init(&r, seed, 0);
    sim_ar1(&r, SIM_NORMAL, 0.6, level, INTERVALS);
    sb_tails_init(&s->tails, pcts, 3);
    for (int i = 0; i < INTERVALS; i++) {
        struct sb_hist_snap one = { 0 };

        add_events(&one, &r, exp(share * level[i]));
        CHECK_INT(sb_tails_add(&s->tails, &one), 0);
        CHECK_INT(sb_hist_snap_add(&s->whole, &one), 0);
        sb_hist_snap_done(&one);
    }
}

static void simulated(struct series *s)
{
    sb_tails_done(&s->tails);
    sb_hist_snap_done(&s->whole);
}

// The percentile of all intervals that such runs consist of, in ns.
static double truth(double share, double pct)
{
    struct sb_hist_snap all = { 0 };
    struct sb_rng r;
    double value;

    sb_rng_init(&r, 99, 1);
    for (int i = 0; i < 20000; i++)
        add_events(&all, &r, exp(share * sim_normal(&r)));
    value = sb_hist_snap_percentile(&all, pct, UINT64_MAX);
    sb_hist_snap_done(&all);
    return value;
}

struct coverage {
    double held;      // share of the runs with an interval whose interval has
                      // the true percentile
    double known;     // share of the runs with an interval
    double effective; // mean share of effective events
};

static struct coverage coverage(double share, unsigned i)
{
    double want = truth(share, pcts[i]);
    struct coverage c = { 0 };
    int n = 200;

    for (int seed = 0; seed < n; seed++) {
        struct sb_tail t;
        struct series s;

        simulate(&s, (uint64_t)seed, share);
        sb_tails_estimate(&s.tails, i, &s.whole, UINT64_MAX, 0.95, &t);
        simulated(&s);
        if (isnan(t.low))
            continue;
        c.known++;
        c.held += t.low <= want && want <= t.high;
        c.effective += t.effective / (INTERVALS * EVENTS);
        CHECK(t.low <= t.value && t.value <= t.high);
    }
    c.held /= c.known;
    c.effective /= c.known;
    c.known /= n;
    return c;
}

static void intervals_hold_the_percentile(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct coverage c = coverage(0, i);
        CHECK(c.held >= 0.93);
        CHECK(c.known > 0.95);
        CHECK(c.effective > 0.6);
    }
}

// Events of one interval are slow together: they say less than as many
// independent ones.
static void dependence_widens_them(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct coverage c = coverage(0.3, i);
        CHECK(c.held >= 0.85);
        CHECK(c.known > 0.95);
        CHECK(c.effective < 0.5);
    }
}

static void events_beyond(void)
{
    struct sb_tail t;
    struct series s;

    simulate(&s, 1, 0);
    sb_tails_estimate(&s.tails, 2, &s.whole, UINT64_MAX, 0.95, &t);
    CHECK_NEAR(t.beyond, INTERVALS * EVENTS * 0.001, 1e-9);
    sb_tails_estimate(&s.tails, 1, &s.whole, UINT64_MAX, 0.95, &t);
    CHECK_NEAR(t.beyond, INTERVALS * EVENTS * 0.05, 1e-9);
    CHECK_NEAR(
        t.value, sb_hist_snap_percentile(&s.whole, 95, UINT64_MAX), 1e-9);
    simulated(&s);
}

// Empty intervals are left out; a few say nothing about dependence.
static void few_intervals(void)
{
    struct sb_hist_snap one = { 0 }, none = { 0 };
    struct sb_tails tails;
    struct sb_tail t;

    sb_tails_init(&tails, pcts, 1);
    count(&one, 5 * (uint64_t)MS, 10);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(sb_tails_add(&tails, &one), 0);
        CHECK_INT(sb_tails_add(&tails, &none), 0);
    }
    CHECK_INT(tails.intervals, 4);
    sb_tails_estimate(&tails, 0, &one, UINT64_MAX, 0.95, &t);
    CHECK_NEAR(t.value, 5 * MS, 0.01 * MS);
    CHECK(isnan(t.low) && isnan(t.high));
    CHECK_NEAR(t.beyond, 5, 1e-9);
    sb_tails_done(&tails);
    sb_hist_snap_done(&one);
}

CHECK_FILE
{
    RUN(intervals_hold_the_percentile);
    RUN(dependence_widens_them);
    RUN(events_beyond);
    RUN(few_intervals);
    return check_done();
}
