// SPDX-License-Identifier: GPL-2.0-or-later
//
// How often the interval of a run that was ended early holds the truth is
// simulated. Not with tsan: one thread.
#include "measure/until.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "hists.h"
#include "simulate.h"

#define PLANNED 300
#define RUNS    150

static void check_error(const char *text, const char *want)
{
    struct sb_err err = { 0 };
    struct sb_until u;

    CHECK(sb_until_init(&u, text, &err) < 0);
    CHECK_STR(err.msg, want);
}

static void parsing(void)
{
    struct sb_until u;
    char text[64];

    CHECK_INT(sb_until_init(&u, " ", NULL), 0);
    CHECK_INT(u.n, 0);
    CHECK_INT(sb_until_init(
                  &u, "p99.9 within 5%,tps  within 0.5% , avg within 2%", NULL),
        0);
    CHECK_INT(u.n, 3);
    CHECK_STR(sb_until_text(&u.goal[0], text, sizeof(text)), "p99.9 within 5%");
    CHECK_STR(sb_until_text(&u.goal[1], text, sizeof(text)), "tps within 0.5%");
    CHECK_STR(sb_until_text(&u.goal[2], text, sizeof(text)), "avg within 2%");
    CHECK_NEAR(u.goal[0].pct, 99.9, 1e-12);
    CHECK_NEAR(u.goal[1].within, 0.005, 1e-12);
    check_error("p99", "--until: 'p99': expected 'within' after the figure");
    check_error("p99, tps within 2%",
        "--until: 'p99': expected 'within' after the figure");
    check_error("qps within 5%", "--until: 'qps within 5%': expected tps, avg "
                                 "or a percentile such as p99");
    check_error("p100 within 5%", "--until: 'p100 within 5%': expected tps, "
                                  "avg or a percentile such as p99");
    check_error("tps within 5", "--until: 'tps within 5': expected a "
                                "percentage, such as 5%");
    check_error("tps within 0%", "--until: 'tps within 0%': expected a "
                                 "percentage, such as 5%");
    check_error("tps within 5%,", "--until: '': expected tps, avg or a "
                                  "percentile such as p99");
}

enum kind {
    WEAK,   // correlation 0.3
    STRONG, // 0.8
    MODES,  // two levels, each for at most a tenth of the run
    DRIFTS, // falls by 15 %
};

static void generate(struct sb_rng *r, enum kind kind, double *x)
{
    double mode = 1;
    int left = 0;

    sim_ar1(r, SIM_NORMAL,
        kind == STRONG  ? 0.8
        : kind == MODES ? 0
                        : 0.3,
        x, PLANNED);
    for (int i = 0; i < PLANNED; i++) {
        if (kind == MODES && left-- == 0) {
            mode = -mode;
            left = (int)(sb_rng_double(r) * PLANNED / 10);
        }
        x[i] = 1000 + 20 * (x[i] + (kind == MODES ? mode : 0));
        if (kind == DRIFTS)
            x[i] -= 150.0 * i / PLANNED;
    }
}

struct result {
    int ended, held;
    double at;
};

// Runs with a throughput of this kind, which end when it is known within 5 %.
static struct result runs_of(enum kind kind)
{
    static double x[PLANNED], seconds[PLANNED];
    struct result out = { 0 };

    for (int i = 0; i < PLANNED; i++)
        seconds[i] = 1;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct sb_until_series s = { seconds, x, x, seconds, 0, NULL };
        struct sb_until u;
        struct sb_rng r;
        double sum = 0;

        sb_rng_init(&r, seed, 0);
        generate(&r, kind, x);
        sb_until_init(&u, "tps within 5%", NULL);
        while (s.n < PLANNED && !u.reached) {
            sum += x[s.n++];
            sb_until_look(&u, &s, PLANNED);
        }
        if (!u.reached)
            continue;
        out.ended++;
        out.held += fabs(sum / (double)s.n / 1000 - 1) < 0.05;
        out.at += (double)s.n;
    }
    return out;
}

static void intervals_hold_the_truth(void)
{
    for (int kind = WEAK; kind <= MODES; kind++) {
        struct result r = runs_of(kind);

        CHECK(r.ended >= RUNS / 10);
        CHECK(r.held >= 0.93 * r.ended);
    }
    CHECK(runs_of(WEAK).at / RUNS < 0.4 * PLANNED);
}

static void a_drift_is_refused(void)
{
    CHECK(runs_of(DRIFTS).ended <= RUNS / 20);
}

// p95 of 50 exponential events per interval, whose mean deviates slowly.
static void percentiles(void)
{
    int ended = 0, held = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        static double level[PLANNED], seconds[PLANNED], rate[PLANNED];
        static const double pct[] = { 95 };
        struct sb_until_series s = { seconds, rate, rate, seconds, 0, NULL };
        struct sb_tails tails;
        struct sb_until u;
        struct sb_rng r;

        sb_rng_init(&r, seed, 7);
        sim_ar1(&r, SIM_NORMAL, 0.5, level, PLANNED);
        sb_tails_init(&tails, pct, 1);
        s.tails = &tails;
        sb_until_init(&u, "p95 within 10%", NULL);
        while (s.n < PLANNED && !u.reached) {
            struct sb_hist_snap one = { 0 };

            for (int i = 0; i < 50; i++)
                count(&one,
                    (uint64_t)(-log(1 - sb_rng_double(&r)) *
                               (1 + 0.05 * level[s.n]) * 1e6),
                    1);
            CHECK_INT(sb_tails_add(&tails, &one), 0);
            sb_hist_snap_done(&one);
            seconds[s.n] = 1;
            rate[s.n] = 50 + 0.5 * level[s.n];
            s.n++;
            sb_until_look(&u, &s, PLANNED);
        }
        ended += u.reached;
        held += u.reached &&
                fabs(sb_hist_snap_percentile(&tails.sum, 95, UINT64_MAX) /
                         (-log(0.05) * 1e6) -
                     1) < 0.1;
        sb_tails_done(&tails);
    }
    CHECK(ended >= 40);
    CHECK(held >= 0.93 * ended);
}

static void short_runs_go_on(void)
{
    static double x[PLANNED], seconds[PLANNED];
    struct sb_until_series s = { seconds, x, x, seconds, 0, NULL };
    struct sb_until u;

    for (int i = 0; i < PLANNED; i++) {
        x[i] = 100;
        seconds[i] = 1;
    }
    sb_until_init(&u, "tps within 5%,avg within 5%", NULL);
    for (s.n = 1; s.n < PLANNED / 5; s.n++)
        CHECK(!sb_until_look(&u, &s, PLANNED));
    for (; s.n < PLANNED && !u.reached; s.n++)
        sb_until_look(&u, &s, PLANNED);
    CHECK(s.n >= PLANNED / 5 && s.n < PLANNED / 4);
    CHECK_NEAR(u.goal[0].now, 0, 1e-6);
}

CHECK_FILE
{
    RUN(parsing);
    RUN(intervals_hold_the_truth);
    RUN(a_drift_is_refused);
    RUN(percentiles);
    RUN(short_runs_go_on);
    return check_done();
}
