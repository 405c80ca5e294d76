// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "out/division.h"

#include <string.h>

#include "check.h"

#define MS 1e6

// A rank whose events take 5 ms each on average, and wait as the formula says.
static struct sb_rank_figures rank(unsigned users, double load, double lag)
{
    return (struct sb_rank_figures){ .users = users,
        .events = (uint64_t)(load * 10000),
        .mean = lag + 5 * MS,
        .lag = lag,
        .service = 5 * MS,
        .load = load };
}

static void fill(
    struct sb_rank_figures *f, unsigned n, struct sb_rank_figures one)
{
    for (unsigned i = 0; i < n; i++)
        f[i] = one;
}

static void few_users_wait_for_their_own(void)
{
    struct sb_rank_figures f[4];
    struct sb_division d;
    char why[400];

    fill(f, 4, rank(1, 0.8, 20 * MS));
    CHECK(sb_division_of(&d, f, 4));
    CHECK_INT(d.ranks, 4);
    CHECK_NEAR(d.load, 3.2, 1e-9);
    CHECK_NEAR(d.response / MS, 25, 1e-9);
    CHECK_NEAR(d.wait / MS, 20, 1e-9);
    CHECK_NEAR(d.wait_undivided / MS, 5 * 0.7455, 1e-2);
    CHECK_NEAR(d.cost / MS, 20 - 5 * 0.7455, 1e-2);
    CHECK(sb_division_matters(&d, why, sizeof(why)));
    CHECK_STR(why,
        "the division among 4 ranks costs about 16.3 ms of the mean response "
        "time of 25 ms, because users of one rank cannot serve arrivals of "
        "another (wait according to Erlang C: 20 ms with 4 ranks, 3.73 ms with "
        "all users in one process): give each rank more users (--threads)");
}

static void cost_of_five_percent_matters(void)
{
    struct sb_rank_figures f[4];
    struct sb_division d;
    char why[400];

    // 0.091 of 1.095 service times, then 0.014 of 1.015.
    fill(f, 4, rank(16, 0.8 * 16, 0.475 * MS));
    CHECK(sb_division_of(&d, f, 4));
    CHECK_NEAR(d.cost / d.response, 0.083, 0.001);
    CHECK(sb_division_matters(&d, why, sizeof(why)));
    fill(f, 4, rank(8, 4, 0.0738 * MS));
    CHECK(sb_division_of(&d, f, 4));
    CHECK_NEAR(d.cost / d.response, 0.0145, 0.001);
    CHECK(!sb_division_matters(&d, why, sizeof(why)));
}

// Regular service times: the formula says 20 ms.
static void cost_is_part_of_what_was_measured(void)
{
    struct sb_rank_figures f[4];
    struct sb_division d;
    char why[400];

    fill(f, 4, rank(1, 0.8, 10 * MS));
    CHECK(sb_division_of(&d, f, 4));
    CHECK_NEAR(d.wait / MS, 20, 1e-9);
    CHECK_NEAR(d.cost / MS, 10 * (1 - 0.7455 / 4), 1e-2);
    fill(f, 4, rank(1, 0.8, 0.2 * MS));
    CHECK(sb_division_of(&d, f, 4));
    CHECK(!sb_division_matters(&d, why, sizeof(why)));
    // A lag with other causes.
    fill(f, 4, rank(1, 0.8, 90 * MS));
    CHECK(sb_division_of(&d, f, 4));
    CHECK_NEAR(d.cost / MS, 20 - 5 * 0.7455, 1e-2);
}

static void events_are_the_weights(void)
{
    struct sb_rank_figures f[2] = { rank(2, 1.8, 21.3 * MS),
        rank(2, 0.2, 0.05 * MS) };
    struct sb_division d;

    CHECK(sb_division_of(&d, f, 2));
    CHECK_NEAR(d.wait / MS, 5 * (0.9 * 4.263 + 0.1 * 0.0101), 1e-2);
    CHECK_NEAR(d.response / MS, 0.9 * 26.3 + 0.1 * 5.05, 1e-9);
    CHECK_NEAR(d.wait_undivided / MS, 5 * 0.0870, 1e-2);
    // A rank without events has users all the same.
    f[1] = (struct sb_rank_figures){ .users = 2 };
    CHECK(sb_division_of(&d, f, 2));
    CHECK_NEAR(d.load, 1.8, 1e-9);
    CHECK_NEAR(d.wait / MS, 5 * 4.263, 1e-2);
}

static void one_rank_may_have_more_load_than_users(void)
{
    struct sb_rank_figures f[2] = { rank(2, 2.5, 900 * MS),
        rank(2, 0.5, 0.1 * MS) };
    struct sb_division d;
    char why[400];

    CHECK(sb_division_of(&d, f, 2));
    CHECK(isinf(d.wait));
    CHECK_NEAR(d.cost, d.lag, 1e-3 * d.lag);
    CHECK(sb_division_matters(&d, why, sizeof(why)));
    CHECK(strstr(why,
              "(wait according to Erlang C: one has more load than users, ") !=
          NULL);
}

static void some_runs_have_no_cost(void)
{
    struct sb_rank_figures f[2];
    struct sb_division d;

    fill(f, 2, rank(1, 1.2, 900 * MS)); // one process could not serve it
    CHECK(!sb_division_of(&d, f, 2));
    fill(f, 2, rank(1, 0.8, 20 * MS));
    CHECK(!sb_division_of(&d, f, 1));
    CHECK(!sb_division_of(&d, NULL, 0));
    f[1].lost = true;
    CHECK(!sb_division_of(&d, f, 2));
    fill(f, 2, (struct sb_rank_figures){ .users = 1 });
    CHECK(!sb_division_of(&d, f, 2));
    // A closed loop.
    fill(f, 2, (struct sb_rank_figures){ .users = 1, .events = 9, .mean = 9 });
    CHECK(!sb_division_of(&d, f, 2));
}

CHECK_FILE
{
    RUN(few_users_wait_for_their_own);
    RUN(cost_of_five_percent_matters);
    RUN(cost_is_part_of_what_was_measured);
    RUN(events_are_the_weights);
    RUN(one_rank_may_have_more_load_than_users);
    RUN(some_runs_have_no_cost);
    return check_done();
}
