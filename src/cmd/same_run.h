// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether two results are of the same run, perhaps in different files. Main
// thread.
#ifndef SB_SAME_RUN_H
#define SB_SAME_RUN_H

#include "out/result_file.h"

// True if start, test, seed, host and totals are the same. A run without a
// start time is not the same as any other.
bool sb_run_is_same(
    const struct sb_result_run *a, const struct sb_result_run *b);

// Logs an error if one of n runs is there twice. what: the subject of the
// message. 0 or SB_EUSAGE.
int sb_runs_check_different(
    const struct sb_result_run *const *run, unsigned n, const char *what);

#endif
