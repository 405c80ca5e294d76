// SPDX-License-Identifier: GPL-2.0-or-later
//
// The line that shows on a terminal how a run is going: --progress. Pure.
#ifndef SB_PROGRESS_H
#define SB_PROGRESS_H

#include <stddef.h>

#include "measure/search.h"
#include "measure/snap.h"

// What the run was asked for; 0: no limit.
struct sb_progress_plan {
    double seconds;  // of the measured part
    uint64_t events; // in total
    double pct;      // the percentile to show, 0: none
};

// Writes one line without a line feed: time or events left, throughput,
// percentile, errors. r: the last interval. done: events completed since the
// start of the measured part.
void sb_progress_text(char *out, size_t size, const struct sb_report *r,
    const struct sb_progress_plan *plan, uint64_t done);
// The same before the measured part of a run that finds its rate.
void sb_progress_search(char *out, size_t size, const struct sb_searching *now);
// Writes `line`, one of the others, for run `place` of `places` of a sweep that
// is estimated to end in `left` seconds; NAN: unknown.
void sb_progress_run(char *out, size_t size, unsigned place, unsigned places,
    double left, const char *line);
// The same between two runs of a sweep: run `place` of `places`, counted from
// 1, begins in `seconds`.
void sb_progress_pause(
    char *out, size_t size, unsigned place, unsigned places, double seconds);

#endif
