// SPDX-License-Identifier: GPL-2.0-or-later
//
// Service times for benchmarks of intervals, and the CPU time that they take.
#ifndef TIMES_H
#define TIMES_H

#include <math.h>
#include <time.h>

#include "kit/rng.h"

// Times around 1 ms, different for each operation: most within a factor of 20,
// one of 100 is 10 times longer.
static inline uint64_t time_of(struct sb_rng *r, unsigned op)
{
    double n = 0;

    for (int i = 0; i < 12; i++)
        n += (double)(sb_rng_next(r) >> 11) / 0x1p53;
    n = exp((n - 6) * 0.7) * 1e6 * (1 + op % 7);
    return (uint64_t)(sb_rng_below(r, 100) ? n : 10 * n);
}

// CPU time of this thread.
static inline double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

// For qsort().
static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

#endif
