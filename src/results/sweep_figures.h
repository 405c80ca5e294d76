// SPDX-License-Identifier: GPL-2.0-or-later
//
// The figures of a sweep: each point with error margins, the peak and the knee.
// Computed from the runs of a sweep or from those of a result file. Main
// thread.
#ifndef SB_SWEEP_FIGURES_H
#define SB_SWEEP_FIGURES_H

#include <jansson.h>

#include "results/checks.h"
#include "results/sweep_plan.h"
#include "measure/answers.h"
#include "measure/knee.h"
#include "measure/search.h"
#include "out/costs.h"
#include "out/result_file.h"

enum {
    SB_SWEEP_RATE,
    SB_SWEEP_P50,
    SB_SWEEP_P95,
    SB_SWEEP_P99,
    SB_SWEEP_FOUND,    // with --rate=max: half of the trials keep the limit
    SB_SWEEP_SAFE,     // 95 % of the trials keep it
    SB_SWEEP_HEADLINE, // of struct sb_sweep_figures
    SB_SWEEP_COST,     // the first one of sb_cost_figure()
    SB_SWEEP_N = SB_SWEEP_COST + SB_COSTS + 1
};

// The figure whose peak and knee are computed.
enum sb_sweep_peak {
    SB_SWEEP_PEAK_RATE,     // throughput
    SB_SWEEP_PEAK_FOUND,    // all runs searched a rate: SB_SWEEP_FOUND
    SB_SWEEP_PEAK_HEADLINE, // all runs have the same chosen headline, which is
                            // not the throughput or a percentile of all events
    SB_SWEEP_PEAK_NONE,     // the rate is given, and with it the throughput
};

// A rate was reached if this share of its arrivals was completed.
#define SB_SWEEP_REACHED 0.99

#define SB_SWEEP_METRICS_MAX 4

// A distribution or a result of the script, of which the table has the average.
struct sb_sweep_metric {
    char name[2 * SB_ANSWER_NAME], unit[SB_ANSWER_UNIT];
};

// The headline that the user has chosen (--headline).
struct sb_sweep_headline {
    char figure[2 * SB_ANSWER_NAME], unit[SB_ANSWER_UNIT];
    enum sb_better better; // with SB_BETTER_LOWER there is no peak
    unsigned runs; // that have it, with a value; of others, the first one
};

// The share of the machine's processors that other processes used, 0 to 1: the
// sum over runs, and the extremes. runs: 0 if it is unknown.
struct sb_sweep_others {
    unsigned runs;
    double sum, low, high;
};

struct sb_sweep_point {
    struct sb_fact swept[SB_SWEEP_OPTIONS_MAX]; // owned copies
    unsigned group;                             // of struct sb_sweep_figures
    double load;                                // value of the axis
    struct sb_mean *run[SB_SWEEP_N];            // of each run with figures
    unsigned *round;                            // of them; 0: unknown
    unsigned runs, failed;   // runs with figures; failed runs, which have none
    unsigned missed;         // of `runs`: a limit of --assert was not kept
    unsigned shares;         // of `runs`: with --rate=80%
    unsigned given;          // of `runs`: other open loops
    unsigned searched;       // of `runs`: with --rate=max
    unsigned unfound;        // of `searched`: no rate was found
    unsigned on_workers;     // of `runs`: users ran on workers
    unsigned on_threads;     // of `runs`: each user had a thread
    struct sb_checks checks; // of `runs`
    double found_low, found_high; // interval of the last rate that was found
    double errors;                // of all runs
    double due, completed;        // arrivals of all runs, and their events
    struct sb_sweep_others others;
    struct sb_estimate figure[SB_SWEEP_N]; // events/s, ms; of costs per event
    // Of sb_sweep_figures.metric, over all runs: sums and numbers of values.
    double metric_sum[SB_SWEEP_METRICS_MAX], metric_count[SB_SWEEP_METRICS_MAX];
};

// The points that differ only in the option of the axis.
struct sb_sweep_group {
    unsigned *point; // by rising load
    unsigned npoints;
    bool found; // the following are valid; they refer to `point`
                // knee.resolved: peak and knee can be named
    struct sb_knee knee;
    struct sb_compare *to_peak;
    // If the axis is the rate of open loops: the first `reached` points have
    // reached it, the next one has not.
    unsigned reached;
};

struct sb_sweep_figures {
    const char *name[SB_SWEEP_OPTIONS_MAX]; // of the swept options
    unsigned noptions;
    struct sb_sweep_metric metric[SB_SWEEP_METRICS_MAX];
    unsigned nmetrics;
    struct sb_sweep_point *point; // in the order in which they were added
    unsigned npoints;
    int axis; // the option with the loads: in open loops `rate`, otherwise
              // `threads`, or the first one that has only numbers and no names
              // (ports); -1: none
    enum sb_sweep_peak peak;
    struct sb_sweep_headline headline;
    bool searched; // at least one run has searched a rate
    struct sb_sweep_group *group;
    unsigned ngroups;
};

void sb_sweep_figures_init(struct sb_sweep_figures *f);
void sb_sweep_figures_done(struct sb_sweep_figures *f);

// Adds a run. All runs have the same swept options. status: its exit status;
// run: NULL if it failed before it wrote a file. The figures of a failed run do
// not count. SB_ENOMEM; SB_EUSAGE: other options.
int sb_sweep_figures_add(struct sb_sweep_figures *f,
    const struct sb_fact *swept, unsigned n, const struct sb_result_run *run,
    int status);
// The same with the options and the status that the file says. 0 without adding
// if the run is not one of a sweep.
int sb_sweep_figures_add_run(
    struct sb_sweep_figures *f, const struct sb_result_run *run);
// Computes points and groups, when all runs are added. SB_ENOMEM.
int sb_sweep_figures_compute(struct sb_sweep_figures *f);

// Decimals that show at least three digits of a value, and at least two.
int sb_sweep_decimals(double value);

// Writes which checks of the runs are doubtful or bad: "2 of 6 runs are
// doubtful: steady in 1, samples in 2". Returns false if none is.
bool sb_sweep_figures_doubt(
    const struct sb_sweep_figures *f, char *out, size_t size);
// Prints the table, with `found` the peak and the knee of each group, and
// doubts.
void sb_sweep_figures_print(
    const struct sb_sweep_figures *f, bool found, FILE *out);
// The member `sweep` of a result file; NULL if out of memory.
json_t *sb_sweep_figures_json(const struct sb_sweep_figures *f);

#endif
