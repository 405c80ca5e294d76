// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/client.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "kit/units.h"

// Shares from which processors or threads count as saturated, and from which
// waiting for a processor counts.
#define SATURATED 0.9
#define WAITING   0.2
// Client delay matters from this share of the time of events on, if that many
// answers show it. Latencies may include about as much again, which cannot be
// measured: see docs/measurement.md, Client delay.
#define DELAY       0.2
#define ANSWERS_MIN 100u
// Workers are blocked by scripts if they run for less than this share of the
// time while answers wait.
#define BLOCKED 0.3
// The use of the machine is known to a tick or two for each processor.
#define TICKS_MIN 20

static double growth(uint64_t from, uint64_t to)
{
    return to >= from ? (double)(to - from) : 0;
}

bool sb_client_add(struct sb_client_sum *sum,
    const struct sb_client_sample *from, const struct sb_client_sample *to)
{
    double ns = growth(from->ns, to->ns);
    // The sums shrink when a thread ends.
    bool same = from->threads > 0 && from->threads == to->threads &&
                to->run_ns >= from->run_ns && to->wait_ns >= from->wait_ns;

    sum->ns += ns;
    sum->cpu_ns += growth(from->cpu_ns, to->cpu_ns);
    if (same) {
        sum->ready_ns += ns;
        sum->run_ns += growth(from->run_ns, to->run_ns);
        sum->wait_ns += growth(from->wait_ns, to->wait_ns);
    }
    if (from->processors > 0 && to->processors > 0) {
        sum->machine_ns += ns;
        sum->busy_ns += growth(from->busy_ns, to->busy_ns);
    }
    return same;
}

double sb_client_machine(const struct sb_client_sample *from,
    const struct sb_client_sample *to, uint64_t tick_ns)
{
    double ns = growth(from->ns, to->ns);

    if (from->processors == 0 || to->processors == 0 ||
        ns < TICKS_MIN * (double)tick_ns)
        return NAN;
    // Ticks of earlier may be counted late.
    return fmin(growth(from->busy_ns, to->busy_ns) / ns, to->processors);
}

static double share_of(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

void sb_client_usage(
    const struct sb_client_sum *sum, struct sb_client_usage *out)
{
    *out = (struct sb_client_usage){
        .cpu = share_of(sum->cpu_ns, sum->ns),
        .wait = share_of(sum->wait_ns, sum->run_ns + sum->wait_ns),
        .machine = share_of(sum->busy_ns, sum->machine_ns),
    };
}

// Returns the share of their time in which the threads of users ran or were
// ready to run. The processor time of other threads is counted as theirs. A
// thread that runs many users nearly always has a user that is ready, even if
// the server is slow, so for such threads only running counts.
static double busy_share(
    const struct sb_client_usage *u, const struct sb_client_limits *limits)
{
    double wait = u->wait < 1 && !limits->loops ? u->wait : 0;
    double busy = u->cpu / (1 - wait) / limits->threads;

    assert(limits->threads > 0);
    return busy > 1 ? 1 : busy;
}

bool sb_client_delays_matter(const struct sb_client_delays *d,
    const struct sb_client_usage *u, const struct sb_client_limits *limits,
    char *why, size_t size)
{
    double delay = (double)d->delay_ns, whole = delay + (double)d->service_ns;
    char percent[SB_UNITS_PERCENT];
    const char *advice = "use more --workers, or more machines for the client";
    double ms;

    if (d->answers < ANSWERS_MIN || !(delay >= DELAY * whole) ||
        (!limits->remote_server && u->wait >= WAITING))
        return false;
    if (busy_share(u, limits) < BLOCKED)
        advice = "the workers were idle most of the time, because the script "
                 "blocks them: use --workers=users";
    ms = delay / (double)d->answers / 1e6;
    snprintf(why, size,
        "client delay was %s %% of the time of events, %.*f ms per answer on "
        "average; %s",
        sb_units_percent(percent, delay, whole), sb_units_ms_decimals(ms, 2),
        ms, advice);
    return true;
}

bool sb_client_is_bottleneck(const struct sb_client_usage *u,
    const struct sb_client_limits *limits, char *why, size_t size)
{
    double busy = busy_share(u, limits);
    char percent[SB_UNITS_PERCENT];

    if (u->cpu >= SATURATED * limits->processors) {
        snprintf(why, size, "it used %.2f of %.4g processor%s", u->cpu,
            limits->processors, limits->processors == 1 ? "" : "s");
        return true;
    }
    if (busy >= SATURATED) {
        snprintf(why, size, "its %u %s%s ran%s %s %% of the time",
            limits->threads, limits->loops ? "worker" : "thread",
            limits->threads == 1 ? "" : "s",
            limits->loops ? "" : " or waited for a processor",
            sb_units_percent(percent, busy, 1));
        return true;
    }
    // If the server is on the same machine, it may use the other processors.
    if (!limits->remote_server || limits->machine <= 0 ||
        !(u->wait >= WAITING) || !(u->machine >= SATURATED * limits->machine))
        return false;
    snprintf(why, size,
        "its machine used %.2f of %.4g processors, and its threads waited "
        "for one %s %% of the time that they were ready to run",
        u->machine, limits->machine, sb_units_percent(percent, u->wait, 1));
    return true;
}
