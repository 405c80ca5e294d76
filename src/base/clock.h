// SPDX-License-Identifier: GPL-2.0-or-later
//
// A monotonic clock in nanoseconds. If the kernel itself uses the TSC, the
// clock reads it and is re-anchored to CLOCK_MONOTONIC from time to time;
// otherwise it calls clock_gettime. A struct sb_clock belongs to one thread;
// nothing is shared or static.
#ifndef SB_CLOCK_H
#define SB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "kit/clock.h"

struct sb_clock {
    bool tsc;
    uint64_t tsc0; // anchor: value of the counter
    uint64_t ns0;  // anchor: its time, the minimum of sb_clock_now()
    uint64_t mult; // nanoseconds per tick, 32.32 fixed point
    uint64_t first_tsc, first_ns; // start of the window for the rate
    uint64_t mid_tsc, mid_ns;     // start of the next window
    uint64_t anchor_ns;           // time of the next sb_clock_anchor()
};

// Selects the TSC or clock_gettime and measures the rate of the TSC, which
// takes about 2 ms. Copy the result to give each thread its own clock.
void sb_clock_init(struct sb_clock *c);

static inline uint64_t sb_clock_ticks_ns(uint64_t ticks, uint64_t mult)
{
    return (uint64_t)(((unsigned __int128)ticks * mult) >> 32);
}

// The current time. Never goes backwards within one sb_clock.
static inline uint64_t sb_clock_now(const struct sb_clock *c)
{
#if defined(__x86_64__)
    if (c->tsc) {
        uint64_t ticks = __builtin_ia32_rdtsc() - c->tsc0;

        // The TSC of another core may be a few ticks behind the anchor: treat
        // the difference as 0.
        if ((int64_t)ticks < 0)
            ticks = 0;
        return c->ns0 + sb_clock_ticks_ns(ticks, c->mult);
    }
#endif
    uint64_t now = sb_clock_monotonic();

    return now > c->ns0 ? now : c->ns0;
}

// Call if sb_clock_now() >= c->anchor_ns. Compares the clock with
// CLOCK_MONOTONIC and adjusts the rate, by at most 200 ppm, so that the
// difference is gone by the next anchor. Sets the next anchor_ns (UINT64_MAX
// without the TSC). The clock never steps back. Takes about a microsecond.
void sb_clock_anchor(struct sb_clock *c);
// The arithmetic of sb_clock_anchor(), for values of the counter and of
// CLOCK_MONOTONIC that were read at the same time; pure. Returns false if the
// two differ by more than 1 ms and 0.1 % of the time between: clock_gettime is
// used from then on. If the counter was ahead, the clock stands still until
// clock_gettime has caught up.
bool sb_clock_steer(struct sb_clock *c, uint64_t tsc, uint64_t ns);

// Sleeps until the given time of CLOCK_MONOTONIC, in nanoseconds. Stop
// requests do not interrupt it: for short waits only.
void sb_clock_sleep_until(uint64_t ns);

#endif
