// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MS          UINT64_C(1000000)
#define CALIBRATION (2 * MS)
#define RATE_WINDOW (16 * SB_SECOND)
#define TIGHT       (20 * UINT64_C(1000))
// A thread may sleep far beyond its next anchor. The correction then stays in
// effect for all that time, so it must be small.
#define STEER_MAX 2e-4
#define KERNEL_SOURCE \
    "/sys/devices/system/clocksource/clocksource0/current_clocksource"

void sb_clock_sleep_until(uint64_t ns)
{
    struct timespec t = sb_clock_timespec(ns);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        continue;
}

static double ns_per_tick(uint64_t ticks, uint64_t ns)
{
    return ticks ? (double)ns / (double)ticks : 0;
}

// Accepts 0.1 to 20 GHz; a rate outside is not plausible for a TSC.
static bool rate_plausible(double rate)
{
    return rate > 0.05 && rate < 10;
}

// Returns a short period at first, when the rate is least accurate.
static uint64_t next_period(uint64_t since_first)
{
    if (since_first < 10 * MS)
        return 10 * MS;
    return since_first < 100 * MS ? 100 * MS : SB_SECOND;
}

// The rate of CLOCK_MONOTONIC itself changes (NTP slews it), so the window it
// is measured over is kept between one and two times RATE_WINDOW.
static void window_move(struct sb_clock *c, uint64_t tsc, uint64_t ns)
{
    if (ns - c->mid_ns < RATE_WINDOW)
        return;
    c->first_tsc = c->mid_tsc;
    c->first_ns = c->mid_ns;
    c->mid_tsc = tsc;
    c->mid_ns = ns;
}

// Switches to clock_gettime. Starting at `ours` keeps sb_clock_now() from
// going back if the counter was ahead.
static bool give_up(struct sb_clock *c, uint64_t ours)
{
    c->tsc = false;
    c->ns0 = ours;
    c->anchor_ns = UINT64_MAX;
    return false;
}

bool sb_clock_steer(struct sb_clock *c, uint64_t tsc, uint64_t ns)
{
    uint64_t ours, period = next_period(ns - c->first_ns);
    double rate, behind, unseen;

    assert(c->tsc);
    c->anchor_ns = ns + period;
    if ((int64_t)(tsc - c->tsc0) <= 0)
        return true;
    ours = c->ns0 + sb_clock_ticks_ns(tsc - c->tsc0, c->mult);
    behind = (double)(int64_t)(ns - ours);
    unseen = (double)(int64_t)(ours - c->ns0);
    rate = ns_per_tick(tsc - c->first_tsc, ns - c->first_ns);
    if (fabs(behind) > (double)MS + unseen * 1e-3 || !rate_plausible(rate))
        return give_up(c, ours);
    c->ns0 = ours;
    c->tsc0 = tsc;
    rate *= 1 + fmax(fmin(behind / (double)period, STEER_MAX), -STEER_MAX);
    c->mult = (uint64_t)(rate * 0x1p32);
    window_move(c, tsc, ns);
    return true;
}

#if defined(__x86_64__)

static bool kernel_uses_tsc(void)
{
    char name[32] = "";
    FILE *f = fopen(KERNEL_SOURCE, "re");

    if (!f)
        return false;
    if (!fgets(name, sizeof(name), f))
        name[0] = '\0';
    fclose(f);
    return strcmp(name, "tsc\n") == 0;
}

struct reading {
    uint64_t tsc, ns, took; // took: ticks between which ns was read
};

// Reads both clocks several times and returns the reading that took the fewest
// ticks, since it is the least likely to have been interrupted.
static struct reading read_both(int tries)
{
    struct reading best = { .took = UINT64_MAX };

    while (tries-- > 0) {
        uint64_t before = __builtin_ia32_rdtsc();
        uint64_t t = sb_clock_monotonic();
        uint64_t took = __builtin_ia32_rdtsc() - before;

        if (took < best.took)
            best = (struct reading){ before + took / 2, t, took };
    }
    return best;
}

void sb_clock_init(struct sb_clock *c)
{
    struct reading from, to;
    double rate;

    *c = (struct sb_clock){ .anchor_ns = UINT64_MAX };
    if (!kernel_uses_tsc())
        return;
    from = read_both(20);
    sb_clock_sleep_until(from.ns + CALIBRATION);
    to = read_both(20);
    rate = ns_per_tick(to.tsc - from.tsc, to.ns - from.ns);
    if (!rate_plausible(rate))
        return;
    *c = (struct sb_clock){
        .tsc = true,
        .tsc0 = to.tsc,
        .ns0 = to.ns,
        .mult = (uint64_t)(rate * 0x1p32),
        .first_tsc = from.tsc,
        .first_ns = from.ns,
        .mid_tsc = from.tsc,
        .mid_ns = from.ns,
        .anchor_ns = to.ns + 10 * MS,
    };
}

void sb_clock_anchor(struct sb_clock *c)
{
    struct reading r;

    if (!c->tsc) {
        c->anchor_ns = UINT64_MAX;
        return;
    }
    r = read_both(5);
    // If every try was interrupted, the old rate is more accurate.
    if (sb_clock_ticks_ns(r.took, c->mult) > TIGHT)
        c->anchor_ns = r.ns + 10 * MS;
    else
        sb_clock_steer(c, r.tsc, r.ns);
}

#else

void sb_clock_init(struct sb_clock *c)
{
    *c = (struct sb_clock){ .anchor_ns = UINT64_MAX };
}

void sb_clock_anchor(struct sb_clock *c)
{
    c->anchor_ns = UINT64_MAX;
}

#endif
