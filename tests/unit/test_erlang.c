// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "out/division.h"

#include "check.h"

static void one_user_is_mm1(void)
{
    for (double rho = 0.001; rho < 1; rho += 0.01)
        CHECK_NEAR(sb_erlang_c_wait(1, rho) * (1 - rho) / rho, 1, 1e-12);
}

// C = 2 rho^2 / (1 + rho) for two users.
static void two_users_have_a_closed_form(void)
{
    for (double rho = 0.001; rho < 1; rho += 0.01) {
        double wait = rho * rho / (1 - rho * rho);

        CHECK_NEAR(sb_erlang_c_wait(2, 2 * rho) / wait, 1, 1e-12);
    }
}

// The table of docs/distributed.md.
static void waits_are_those_of_the_page(void)
{
    static const struct {
        unsigned users;
        double half, most, nine;
    } row[] = {
        { 1, 1, 4, 9 },
        { 2, 0.33, 1.78, 4.26 },
        { 4, 0.087, 0.75, 1.97 },
        { 8, 0.015, 0.29, 0.88 },
        { 16, 0.001, 0.095, 0.37 },
        { 64, 0, 0.004, 0.049 },
    };

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        unsigned c = row[i].users;

        CHECK_NEAR(sb_erlang_c_wait(c, 0.5 * c), row[i].half, 0.006);
        CHECK_NEAR(sb_erlang_c_wait(c, 0.8 * c), row[i].most, 0.006);
        CHECK_NEAR(sb_erlang_c_wait(c, 0.9 * c), row[i].nine, 0.006);
    }
}

// The sum of the textbooks, of which each term is computed as a logarithm.
static double by_the_sum(unsigned users, double load)
{
    double last = users * log(load) - lgamma(users + 1.0), sum = 0;
    double more = users / (users - load);

    for (unsigned n = 0; n < users; n++)
        sum += exp(n * log(load) - lgamma(n + 1.0) - last);
    return more / (sum + more) / (users - load);
}

// Also where the recursion begins late: from 100 on.
static void recursion_is_the_sum(void)
{
    static const unsigned users[] = { 3, 20, 101, 130, 500, 4000, 50000 };
    static const double share[] = { 0.3, 0.9, 0.95, 0.99, 0.999 };

    for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
        for (size_t k = 0; k < sizeof(share) / sizeof(share[0]); k++) {
            double load = share[k] * users[i];
            double sum = by_the_sum(users[i], load);

            CHECK_NEAR(
                sb_erlang_c_wait(users[i], load), sum, 1e-12 + 1e-7 * sum);
        }
}

static void wait_grows_with_load_and_shrinks_with_users(void)
{
    double last = -1;

    for (double load = 0; load < 200; load += 0.37) {
        double wait = sb_erlang_c_wait(200, load);

        CHECK(wait >= last);
        CHECK(sb_erlang_c_wait(201, load) <= wait);
        last = wait;
    }
}

// With x users more than the load, in units of its square root, C is 1 / (1 + x
// F(x) / f(x)), F and f those of the normal distribution: Halfin and Whitt,
// 1981. x = 1: 0.2234.
static void a_million_users_are_as_predicted(void)
{
    double load = 1e6 - 1000, wait = sb_erlang_c_wait(1000000, load);

    CHECK_NEAR(wait * 1000, 0.2234, 0.0005);
    // x = 0.001: 0.99875.
    CHECK_NEAR(sb_erlang_c_wait(1000000, 1e6 - 1), 0.99875, 1e-5);
    CHECK_NEAR(sb_erlang_c_wait(1000000, 5e5), 0, 0);
}

static void ends_are_exact(void)
{
    CHECK_NEAR(sb_erlang_c_wait(1, 0), 0, 0);
    CHECK_NEAR(sb_erlang_c_wait(64, 0), 0, 0);
    CHECK(isinf(sb_erlang_c_wait(1, 1)));
    CHECK(isinf(sb_erlang_c_wait(64, 64)));
    CHECK(isinf(sb_erlang_c_wait(64, 1e9)));
    CHECK(isinf(sb_erlang_c_wait(64, INFINITY)));
    CHECK(isfinite(sb_erlang_c_wait(64, 63.999999)));
}

CHECK_FILE
{
    RUN(one_user_is_mm1);
    RUN(two_users_have_a_closed_form);
    RUN(waits_are_those_of_the_page);
    RUN(recursion_is_the_sum);
    RUN(wait_grows_with_load_and_shrinks_with_users);
    RUN(a_million_users_are_as_predicted);
    RUN(ends_are_exact);
    return check_done();
}
