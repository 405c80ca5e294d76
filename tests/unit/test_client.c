// SPDX-License-Identifier: GPL-2.0-or-later
#include "check.h"
#include "out/client.h"

#define S UINT64_C(1000000000)

static void use_between_samples(void)
{
    const struct sb_client_sample a = { .ns = 10 * S,
        .cpu_ns = 5 * S,
        .run_ns = 4 * S,
        .wait_ns = 1 * S,
        .threads = 3,
        .busy_ns = 20 * S,
        .processors = 4 };
    struct sb_client_sample b = { .ns = 12 * S,
        .cpu_ns = 8 * S,
        .run_ns = 7 * S,
        .wait_ns = 2 * S,
        .threads = 3,
        .busy_ns = 26 * S,
        .processors = 4 };
    struct sb_client_sum sum = { 0 };
    struct sb_client_usage u;

    sb_client_usage(&sum, &u);
    CHECK(isnan(u.cpu) && isnan(u.wait) && isnan(u.machine));
    CHECK(sb_client_add(&sum, &a, &b));
    sb_client_usage(&sum, &u);
    CHECK_NEAR(u.cpu, 1.5, 1e-12);
    CHECK_NEAR(u.wait, 0.25, 1e-12);
    CHECK_NEAR(u.machine, 3, 1e-12);
    // Two seconds of which all is known but the waiting: a thread has ended.
    struct sb_client_sample c = b;
    c.ns += 2 * S;
    c.cpu_ns += 1 * S;
    c.run_ns -= 1;
    CHECK(!sb_client_add(&sum, &b, &c));
    sb_client_usage(&sum, &u);
    CHECK_NEAR(u.cpu, 1, 1e-12);
    CHECK_NEAR(u.wait, 0.25, 1e-12);
    CHECK_NEAR(u.machine, 1.5, 1e-12);
    c.run_ns += 2;
    c.threads++;
    CHECK(!sb_client_add(&sum, &b, &c));
    // Neither the threads nor the machine are known.
    sum = (struct sb_client_sum){ 0 };
    b.threads = c.threads = b.processors = 0;
    CHECK(!sb_client_add(&sum, &b, &c));
    sb_client_usage(&sum, &u);
    CHECK_NEAR(u.cpu, 0.5, 1e-12);
    CHECK(isnan(u.wait) && isnan(u.machine));
}

// The system counts ticks of 10 ms, and a run of 2.6 ms must not have 4.6 of 2
// processors.
static void machine_of_short_times(void)
{
    const uint64_t tick = S / 100;
    struct sb_client_sample a = { .ns = S, .busy_ns = S, .processors = 2 };
    struct sb_client_sample b = a;

    b.ns += 2600000;
    b.busy_ns += tick;
    CHECK(isnan(sb_client_machine(&a, &b, tick)));
    b.ns = a.ns + S / 5 - 1;
    b.busy_ns = a.busy_ns + S / 5;
    CHECK(isnan(sb_client_machine(&a, &b, tick)));
    b.ns++;
    CHECK_NEAR(sb_client_machine(&a, &b, tick), 1, 1e-12);
    // Ticks of the time before.
    b.busy_ns = a.busy_ns + S / 2;
    CHECK_NEAR(sb_client_machine(&a, &b, tick), 2, 1e-12);
    b.processors = 0;
    CHECK(isnan(sb_client_machine(&a, &b, tick)));
}

static char why[200];

// On a machine of 4 processors.
static bool judge(
    double cpu, double wait, double machine, unsigned threads, bool remote)
{
    const struct sb_client_limits limits = {
        .processors = 4,
        .machine = 4,
        .threads = threads,
        .remote_server = remote,
    };
    const struct sb_client_usage u = { cpu, wait, machine };

    return sb_client_is_bottleneck(&u, &limits, why, sizeof(why));
}

static void process_uses_all_processors(void)
{
    CHECK(!judge(2, 0.01, 3, 64, false));
    CHECK(judge(3.7, 0.01, 3.9, 64, false));
    CHECK_STR(why, "it used 3.70 of 4 processors");
    CHECK(judge(3.7, NAN, NAN, 64, true));
    CHECK(!judge(3.59, NAN, NAN, 64, true));
    CHECK(!judge(NAN, NAN, NAN, 1, true));
}

static void threads_never_wait_for_the_server(void)
{
    CHECK(judge(0.95, 0.01, 1.5, 1, false));
    CHECK_STR(
        why, "its 1 thread ran or waited for a processor 96.0 % of the time");
    CHECK(!judge(0.88, 0.01, 1.5, 1, false));
    CHECK(!judge(0.95, 0.01, 1.5, 2, false));
    // Other processes use the processors that it is ready to use.
    CHECK(judge(0.5, 0.47, 4, 1, false));
    CHECK(!judge(0.5, 0.4, 4, 1, false));
    CHECK(judge(0.5, 1, 4, 1, true));
}

static void machine_is_saturated(void)
{
    CHECK(judge(1.5, 0.3, 3.9, 64, true));
    CHECK_STR(why,
        "its machine used 3.90 of 4 processors, and its threads waited for "
        "one 30.0 % of the time that they were ready to run");
    CHECK(!judge(1.5, 0.3, 3, 64, true));
    CHECK(!judge(1.5, 0.1, 3.9, 64, true));
    CHECK(!judge(1.5, NAN, 3.9, 64, true));
    // The server may be what uses the machine.
    CHECK(!judge(1.5, 0.3, 3.9, 64, false));
}

static void containers_have_fewer_processors(void)
{
    const struct sb_client_limits limits = {
        .processors = 1.5, .machine = 8, .threads = 16, .remote_server = true
    };
    const struct sb_client_usage u = { 1.45, 0.5, 2 }, idle = { 1, 0.5, 2 };
    char small[4];

    CHECK(sb_client_is_bottleneck(&u, &limits, why, sizeof(why)));
    CHECK_STR(why, "it used 1.45 of 1.5 processors");
    CHECK(sb_client_is_bottleneck(&u, &limits, small, sizeof(small)));
    CHECK_STR(small, "it ");
    CHECK(!sb_client_is_bottleneck(&idle, &limits, why, sizeof(why)));
}

// A worker that runs many users waits for a processor whenever another process
// has it, but only one that runs all the time is the bottleneck.
static void waiting_workers_are_no_bottleneck(void)
{
    const struct sb_client_limits limits = {
        .processors = 4, .machine = 4, .threads = 2, .loops = true
    };
    const struct sb_client_usage waits = { 1, 0.6, 3 }, runs = { 1.9, 0.1, 3 };

    CHECK(!sb_client_is_bottleneck(&waits, &limits, why, sizeof(why)));
    CHECK(sb_client_is_bottleneck(&runs, &limits, why, sizeof(why)));
    CHECK_STR(why, "its 2 workers ran 95.0 % of the time");
}

static void answers_wait_for_their_users(void)
{
    struct sb_client_limits limits = { .threads = 2, .loops = true };
    struct sb_client_delays d = { 1000, 250 * S / 1000, 990 * S / 1000 };
    struct sb_client_usage u = { 1, 0.1, 2 };

    CHECK(sb_client_delays_matter(&d, &u, &limits, why, sizeof(why)));
    CHECK_STR(why,
        "client delay was 20.2 % of the time of events, 0.25 ms per answer on "
        "average; use more --workers, or more machines for the client");
    u.cpu = 0.5;
    CHECK(sb_client_delays_matter(&d, &u, &limits, why, sizeof(why)));
    CHECK_STR(why, "client delay was 20.2 % of the time of events, 0.25 ms per "
                   "answer on average; the workers were idle most of the time, "
                   "because the script blocks them: use --workers=users");
    u.cpu = 1;
    // A server on the same machine may be what keeps the workers waiting.
    u.wait = 0.2;
    CHECK(!sb_client_delays_matter(&d, &u, &limits, why, sizeof(why)));
    limits.remote_server = true;
    CHECK(sb_client_delays_matter(&d, &u, &limits, why, sizeof(why)));
    limits.remote_server = false;
    u.wait = NAN;
    CHECK(sb_client_delays_matter(&d, &u, &limits, why, sizeof(why)));
    d.service_ns = 1010 * S / 1000;
    CHECK(!sb_client_delays_matter(&d, &u, &limits, why, sizeof(why)));
    d = (struct sb_client_delays){ 99, S, 0 };
    CHECK(!sb_client_delays_matter(&d, &u, &limits, why, sizeof(why)));
    d = (struct sb_client_delays){ 0 }; // users have threads
    CHECK(!sb_client_delays_matter(&d, &u, &limits, why, sizeof(why)));
}

CHECK_FILE
{
    RUN(use_between_samples);
    RUN(machine_of_short_times);
    RUN(process_uses_all_processors);
    RUN(threads_never_wait_for_the_server);
    RUN(machine_is_saturated);
    RUN(waiting_workers_are_no_bottleneck);
    RUN(answers_wait_for_their_users);
    RUN(containers_have_fewer_processors);
    return check_done();
}
