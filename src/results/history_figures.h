// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a series of results shows: the changes of each figure, and the newest
// result judged by those before it. docs/internals/history.md has the rules.
// Main thread.
#ifndef SB_HISTORY_FIGURES_H
#define SB_HISTORY_FIGURES_H

#include "measure/changes.h"
#include "results/history_runs.h"

#define SB_HISTORY_MIN 5u // earlier results without which there is no verdict
// Without a margin, the newest result is as before if a change of more than
// this is excluded.
#define SB_HISTORY_EXCLUDED 0.1

enum sb_history_verdict {
    SB_HISTORY_BETTER,
    SB_HISTORY_SAME, // as before
    SB_HISTORY_UNDECIDED,
    SB_HISTORY_FEW, // not enough results before it
    SB_HISTORY_WORSE,
    SB_HISTORY_VERDICTS,
};

struct sb_history_limits {
    double confidence; // of the intervals, e.g. 0.99
    double margin;     // smaller relative changes do not count; 0: none
};

struct sb_history_series_figure {
    const char *name, *unit; // "throughput", "/s"
    bool less_is_better;
    bool relative;          // differences are shares of the level
    bool known;             // all points have a value
    struct sb_changes all;  // of all points
    struct sb_changes past; // without the newest point
    // Of the newest point: the level of the results before it, the difference
    // from it, and the verdict. shows: it is the difference of the last change,
    // which is found with the newest point only.
    double level;
    struct sb_difference newest;
    enum sb_history_verdict verdict;
    bool shows;
};

// Levels are in units of the figure. Differences are relative (0.05 is 5 %), or
// in units of the figure.
struct sb_history_judged {
    const struct sb_history_series *series;
    struct sb_history_series_figure figure[SB_HISTORY_FIGURES];
    enum sb_history_figure deciding;
    enum sb_history_figure reason;   // the figure that gives the verdict
    enum sb_history_verdict verdict; // if series->newest
};

// 0 or SB_ENOMEM. Call sb_history_judged_done() in either case.
int sb_history_judge(struct sb_history_judged *j,
    const struct sb_history_series *s, const struct sb_history_limits *l);
void sb_history_judged_done(struct sb_history_judged *j);

// "worse", "as before".
const char *sb_history_verdict_name(enum sb_history_verdict v);
// Returns "better" or "worse" for a difference.
const char *sb_history_word(
    const struct sb_history_series_figure *g, const struct sb_difference *d);
// Writes a difference: a share, or in units of the figure. Returns out.
const char *sb_history_change_text(char *out, size_t size,
    const struct sb_history_series_figure *g, double change);
// The label of a run, or its start.
const char *sb_history_run_name(const struct sb_history_run *r);
const char *sb_history_point_name(const struct sb_history_point *p);

#endif
