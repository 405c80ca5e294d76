// SPDX-License-Identifier: GPL-2.0-or-later
//
// The two sides of a comparison: runs of result files, and their figures as
// series. Main thread.
#ifndef SB_SIDES_H
#define SB_SIDES_H

#include "kit/buf.h"
#include "base/option.h"
#include "measure/compare.h"
#include "out/result_file.h"

#define SB_SIDE_RUNS_MAX  1000u
#define SB_SIDE_NOTES_MAX 10u

// A run whose figures are not those of a whole run.
struct sb_side_note {
    const struct sb_result_file *file;
    const struct sb_result_run *run;
    const char *what; // "was left out, because it failed"
};

// One side: the runs of one or several files.
struct sb_side {
    const char *text; // as typed: "a.json" or "a1.json,a2.json"
    char *paths;      // what file[].path points to
    struct sb_result_file *file;
    unsigned nfiles;
    const struct sb_result_run *run[SB_SIDE_RUNS_MAX]; // with figures
    unsigned nruns;
    struct sb_side_note note[SB_SIDE_NOTES_MAX];
    unsigned nnotes; // may be above SB_SIDE_NOTES_MAX: the others are not kept
    unsigned left_out; // runs, by sb_side_leave_out(); their notes come first
    char name[64];     // in sentences and tables; set by the caller
};

// Reads the files of a side, which are separated by commas, and logs errors. Of
// "sweep.json:threads=16", only the runs with this value belong to the side;
// several values are separated by colons. At least one run has figures. 0 or
// SB_E*. Call sb_side_done() in either case.
int sb_side_read(struct sb_side *s, const char *text);
void sb_side_done(struct sb_side *s); // {0} allowed
// Whether `output` is one of the files of a side, which it would replace; then
// it logs an error. text: as for sb_side_read().
bool sb_side_is_output(const char *text, const char *output);

// Keeps only the runs of a sweep with these values ("threads=16"); runs that
// are not part of a sweep stay. Logs an error if no run is left, or if the runs
// have different values: they are not repeats of the same thing. 0 or
// SB_EUSAGE.
int sb_side_select(struct sb_side *s, const struct sb_opt_list *at);

// Leaves out the runs that failed or did not reach their measured part, because
// their figures cannot be compared with those of the other runs. Adds notes
// about these runs and about interrupted ones. Logs an error if no run is left.
// 0 or SB_EUSAGE.
int sb_side_leave_out(struct sb_side *s);

// True if start, test, seed, host and totals are the same. A run without a
// start time is not the same as any other.
bool sb_result_run_is_same(
    const struct sb_result_run *a, const struct sb_result_run *b);

// Logs an error if one of n runs is there twice. what: the subject of the
// message. 0 or SB_EUSAGE.
int sb_runs_check_different(
    const struct sb_result_run *const *run, unsigned n, const char *what);

// A figure that is compared.
struct sb_figure {
    const char *group;   // "run", "operation", "costs", "result" or "headline"
    const char *name;    // of the operation or result, otherwise ""
    const char *figure;  // "throughput", "p50", "p95", "p99", "avg"; of "costs"
                         // the names of out/costs.h; of results "value"
    const char *unit;    // "/s", "ms" ...
    bool less_is_better; // it is a time: slower or faster, not higher or lower
};

// Returns the completed events per second of a run that has figures, as its own
// report shows them; NAN: the run has no length.
double sb_result_run_throughput(const struct sb_result_run *r);
// The value of a result of a script ("failover.lost") in a run; NAN: unknown,
// or the run has no such result. The same of the headline, whose name may be
// any figure.
double sb_result_run_own(const struct sb_result_run *r, const char *name);
double sb_result_run_headline(const struct sb_result_run *r, const char *name);
// A figure of "costs", by number from 0: those of out/costs.h, then the price
// of a million events. False: there is no such number.
bool sb_cost_figure(unsigned n, struct sb_figure *f);
// Computes a figure of a run that has figures: its value is that of the whole
// run, its error follows from the intervals; a cost has no error. SB_ENOMEM.
int sb_result_run_mean(const struct sb_result_run *r, const struct sb_figure *f,
    struct sb_mean *mean);
// The same for each run of a side, s->nruns entries.
// SB_ENOMEM.
int sb_side_means(
    const struct sb_side *s, const struct sb_figure *f, struct sb_mean *mean);

#endif
