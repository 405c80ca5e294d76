// SPDX-License-Identifier: GPL-2.0-or-later
//
// --until='p99 within 5%, tps within 2%': whether figures of a run are known
// exactly enough to end it. docs/internals/validity.md describes the rule.
// Pure; one thread.
#ifndef SB_UNTIL_H
#define SB_UNTIL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "measure/tails.h"

#define SB_UNTIL_MAX 8

enum sb_until_figure {
    SB_UNTIL_RATE,       // tps: events per second
    SB_UNTIL_MEAN,       // avg: mean latency
    SB_UNTIL_PERCENTILE, // p99: of latency
};

struct sb_until_goal {
    enum sb_until_figure figure;
    double pct;    // of a percentile
    double within; // half of the confidence interval over the figure: 0.05
    double now;    // the same, as known by now; NaN: unknown
};

struct sb_until {
    unsigned n; // goals; 0: the run has none
    struct sb_until_goal goal[SB_UNTIL_MAX];
    size_t next;   // number of intervals at the next look
    size_t since;  // intervals at the look since which all goals have been
                   // reached; 0: they are not
    bool unsteady; // the goals were reached at the last look, but throughput or
                   // latency had several levels or drifted
    bool reached;
};

// The measured part so far, in whole intervals.
struct sb_until_series {
    const double *seconds, *rate, *latency, *events; // n values each
    size_t n;
    const struct sb_tails *tails; // with the percentiles of all goals
};

// Parses "FIGURE within N%", separated by commas; "" has no goals. SB_EUSAGE
// names the goal and what was expected.
int sb_until_init(struct sb_until *u, const char *text, struct sb_err *err);
// Writes a goal as it was typed: "p99 within 5%". Returns out.
const char *sb_until_text(
    const struct sb_until_goal *g, char *out, size_t size);
// Called after each interval. planned: the number of intervals that the run may
// have, 0 if that is unknown. Returns true if all goals are reached.
bool sb_until_look(
    struct sb_until *u, const struct sb_until_series *s, size_t planned);

#endif
