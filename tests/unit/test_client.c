// SPDX-License-Identifier: GPL-2.0-or-later
#include "check.h"
#include "out/client.h"

#define S UINT64_C(1000000000)

static void usage_between_samples(void)
{
    const struct sb_client_sample a = { 10 * S, 5 * S, 4 * S, 1 * S, 20 * S,
        true, true };
    struct sb_client_sample b = { 12 * S, 8 * S, 7 * S, 2 * S, 26 * S, true,
        true };
    struct sb_client_usage u;

    sb_client_usage(&a, &b, &u);
    CHECK_NEAR(u.cpu, 1.5, 1e-12);
    CHECK_NEAR(u.wait, 0.25, 1e-12);
    CHECK_NEAR(u.machine, 3, 1e-12);
    // A thread has ended: its times are missing.
    b.wait_ns = 0;
    sb_client_usage(&a, &b, &u);
    CHECK(isnan(u.wait));
    CHECK_NEAR(u.cpu, 1.5, 1e-12);
    b.has_machine = false;
    sb_client_usage(&a, &b, &u);
    CHECK(isnan(u.machine));
    sb_client_usage(&a, &a, &u);
    CHECK(isnan(u.cpu));
}

static bool judge(double cpu, double wait, double machine, unsigned threads,
    char *why, size_t size)
{
    const struct sb_host_facts host = { .processors = 4 };
    const struct sb_client_usage u = { cpu, wait, machine };

    return sb_client_is_bottleneck(&u, &host, threads, why, size);
}

static void bottlenecks(void)
{
    char why[200];

    CHECK(!judge(2, 0.01, 3, 64, why, sizeof(why)));
    CHECK(judge(3.7, 0.01, 3.9, 64, why, sizeof(why)));
    CHECK_STR(why, "it used 3.70 of 4 processors");
    CHECK(judge(3.7, 0.314, 3.9, 64, why, sizeof(why)));
    CHECK_STR(why, "it used 3.70 of 4 processors, and its threads waited for a "
                   "processor 31 % of their time");
    // A server on the same machine took the rest.
    CHECK(judge(1.5, 0.3, 3.9, 64, why, sizeof(why)));
    CHECK(!judge(1.5, 0.3, 3, 64, why, sizeof(why)));
    CHECK(!judge(1.5, 0.1, 3.9, 64, why, sizeof(why)));
    // One user that is busy by itself.
    CHECK(judge(0.95, 0.01, 1.5, 1, why, sizeof(why)));
    CHECK_STR(why, "its 1 thread used 0.95 processors");
    CHECK(!judge(0.5, 0.01, 1.5, 1, why, sizeof(why)));
    CHECK(!judge(NAN, NAN, NAN, 1, why, sizeof(why)));
}

static void containers_have_fewer_processors(void)
{
    const struct sb_host_facts host = { .processors = 8,
        .container_cpus = 1.5 };
    const struct sb_client_usage u = { 1.45, NAN, 2 };
    char why[200], small[4];

    CHECK_NEAR(sb_client_processors(&host), 1.5, 0);
    CHECK(sb_client_is_bottleneck(&u, &host, 16, why, sizeof(why)));
    CHECK_STR(why, "it used 1.45 of 1.5 processors");
    CHECK(sb_client_is_bottleneck(&u, &host, 16, small, sizeof(small)));
    CHECK_STR(small, "it ");
}

int main(void)
{
    RUN(usage_between_samples);
    RUN(bottlenecks);
    RUN(containers_have_fewer_processors);
    return check_done();
}
