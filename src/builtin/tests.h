// SPDX-License-Identifier: GPL-2.0-or-later
//
// The built-in tests and their shared code.
#ifndef SB_BENCH_TESTS_H
#define SB_BENCH_TESTS_H

#include "builtin/builtin.h"

extern const struct sb_builtin sb__bench_cpu, sb__bench_fileio,
    sb__bench_memory, sb__bench_mutex, sb__bench_threads;

static inline double sb__bench_rate(const struct sb_report *r, uint64_t n)
{
    return r->interval_s > 0 ? (double)n / r->interval_s : 0;
}

#endif
