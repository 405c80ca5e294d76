// SPDX-License-Identifier: GPL-2.0-or-later
//
// The marks on the timeline of a run: what happened when. Main thread.
#ifndef SB_MARKS_H
#define SB_MARKS_H

#include <jansson.h>

#include "out/beside_figures.h"
#include "out/facts.h"
#include "measure/snap.h"

// Further losses, reconnects and restarts are added to the last mark of their
// kind.
#define SB_MARKS_MAX 1000u

// Intervals one after the other in which something happened: one mark.
struct sb_mark_stretch {
    uint64_t n;
    double from, to; // ends of the first and the last interval, s
};

struct sb_marks {
    json_t *list; // of stretches that have ended
    struct sb_mark_stretch lost, reconnects, restarts;
};

// Notes what happened in an interval; {0} is the start of a run. 0 or
// SB_ENOMEM.
int sb_marks_interval(struct sb_marks *m, const struct sb_report *r);
void sb_marks_done(struct sb_marks *m); // {0} allowed

// Returns all marks by time, a new reference, or NULL if out of memory. stages:
// those of the totals, or NULL. o: how the run ended, or NULL while it runs.
// seconds: its length.
json_t *sb_marks_json(const struct sb_marks *m, const json_t *stages,
    const struct sb_outcome *o, double seconds);

// Adds the start and the end of the command of --beside. list may be NULL.
// False if out of memory.
bool sb_marks_add_beside(json_t *list, const struct sb_beside_figures *f);

#endif
