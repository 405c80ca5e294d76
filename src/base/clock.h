// SPDX-License-Identifier: GPL-2.0-or-later
//
// One monotonic clock in nanoseconds. Reads the TSC where the kernel itself
// keeps time by it, re-anchored to CLOCK_MONOTONIC; clock_gettime elsewhere.
// A struct sb_clock belongs to one thread; nothing is shared or static.
#ifndef SB_CLOCK_H
#define SB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct sb_clock {
    bool tsc;
    uint64_t tsc0; // anchor: this reading of the counter ...
    uint64_t ns0;  // ... is this moment; nothing is ever before it
    uint64_t mult; // nanoseconds a tick, 32.32 fixed point
    uint64_t first_tsc, first_ns; // the rate is taken from here ...
    uint64_t mid_tsc, mid_ns;     // ... which moves on to here in time
    uint64_t anchor_ns;           // re-anchor when this moment has come
};

// CLOCK_MONOTONIC by the system call (or vdso), nanoseconds.
uint64_t sb_clock_monotonic(void);

// Decides between TSC and clock_gettime and finds the rate; takes about 2 ms
// with the TSC. Copy the result to give each thread its own.
void sb_clock_init(struct sb_clock *c);

static inline uint64_t sb_clock_ticks_ns(uint64_t ticks, uint64_t mult)
{
    return (uint64_t)(((unsigned __int128)ticks * mult) >> 32);
}

// Now. Never goes backwards within one sb_clock.
static inline uint64_t sb_clock_now(const struct sb_clock *c)
{
#if defined(__x86_64__)
    if (c->tsc) {
        uint64_t ticks = __rdtsc() - c->tsc0;

        // Another core may be a few ticks behind: not 2^64 ticks ahead.
        if ((int64_t)ticks < 0)
            ticks = 0;
        return c->ns0 + sb_clock_ticks_ns(ticks, c->mult);
    }
#endif
    uint64_t now = sb_clock_monotonic();

    return now > c->ns0 ? now : c->ns0;
}

// Call when sb_clock_now() >= c->anchor_ns: compares with CLOCK_MONOTONIC and
// steers the rate so that the difference is gone by the next anchor (at most
// 200 ppm of steering). Sets the next anchor_ns (UINT64_MAX without the TSC).
// No step back, ever. Costs about a microsecond.
void sb_clock_anchor(struct sb_clock *c);
// The arithmetic of it, for one pair of simultaneous readings of the counter
// and of CLOCK_MONOTONIC; pure. False when the two have run apart (by more
// than 1 ms and 0.1 % of the time between): clock_gettime is used from then
// on, and where the counter was ahead, time stands until that has caught up.
bool sb_clock_steer(struct sb_clock *c, uint64_t tsc, uint64_t ns);

// Sleeps until the moment (CLOCK_MONOTONIC ns); not interruptible by stop
// requests, so for short waits only.
void sb_clock_sleep_until(uint64_t ns);

#endif
