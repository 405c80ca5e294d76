// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads the clocks of the system, in nanoseconds. The functions have no state:
// any thread may call them, and a user may call them in different threads.
#ifndef SB_KIT_CLOCK_H
#define SB_KIT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define SB_SECOND UINT64_C(1000000000) // ns

// Returns a time or a duration in the form that the system's calls take.
static inline struct timespec sb_clock_timespec(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / SB_SECOND),
        .tv_nsec = (long)(ns % SB_SECOND) };
}

// A clock that every kernel has: CLOCK_MONOTONIC, CLOCK_REALTIME,
// CLOCK_PROCESS_CPUTIME_ID or CLOCK_THREAD_CPUTIME_ID.
static inline uint64_t sb_clock_read(clockid_t clock)
{
    struct timespec t = { 0 };

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * SB_SECOND + (uint64_t)t.tv_nsec;
}

// The time of deadlines, such as those of struct sb_host: CLOCK_MONOTONIC,
// which does not jump if the clock of the host is set. Threads of one host may
// compare their readings, processes also; hosts may not. About 20 ns, mostly
// without a system call.
static inline uint64_t sb_clock_monotonic(void)
{
    return sb_clock_read(CLOCK_MONOTONIC);
}

// Returns the time `ns` from now, or the deadline if that is earlier
// (UINT64_MAX: none).
static inline uint64_t sb_clock_until(uint64_t deadline, uint64_t ns)
{
    uint64_t time = sb_clock_monotonic() + ns;

    return deadline < time ? deadline : time;
}

// The time since 1970. It jumps if the clock of the host is set, so use
// sb_clock_monotonic() for deadlines and durations.
static inline uint64_t sb_clock_wall(void)
{
    return sb_clock_read(CLOCK_REALTIME);
}

#endif
