// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a sweep measures: the options of --sweep and the like, its runs and
// their order. A point is one combination of values; each point is measured
// once per round. Main thread.
#ifndef SB_SWEEP_PLAN_H
#define SB_SWEEP_PLAN_H

#include <jansson.h>

#include "base/opts.h"
#include "cmd/sweep_list.h"
#include "out/facts.h"

#define SB_SWEEP_OPTIONS_MAX 8u
#define SB_SWEEP_RUNS_MAX    1000u

enum sb_sweep_order { SB_SWEEP_LISTED, SB_SWEEP_RANDOM };

// "Sweep options"
struct sb_sweep_opts {
    const char *sweep; // the last --sweep; sb_sweep_plan_init() reads all
    int64_t repeat;
    int order;                        // enum sb_sweep_order
    int64_t pause;                    // ns
    struct sb_opt_list before, after; // commands of the workload
    bool stop, resume;
};

extern const struct sb_opt_table sb_sweep_opt_table;

struct sb_sweep_plan {
    struct sb_sweep_list option[SB_SWEEP_OPTIONS_MAX];
    unsigned noptions;
    unsigned npoints, rounds, nruns; // nruns = npoints * rounds
    uint64_t seed;                   // of the order
    bool random;
    unsigned order[SB_SWEEP_RUNS_MAX]; // numbers of runs, as they are executed
};

// Whether the settings ask for a sweep.
bool sb_sweep_wanted(const struct sb_opts *opts);

// Reads all --sweep settings of the strongest source. SB_EUSAGE, SB_ERANGE:
// a list is wrong, an option is swept twice, cannot be swept or is also given
// on the command line, too many runs. SB_ENOMEM. Call sb_sweep_plan_done() in
// either case.
int sb_sweep_plan_init(struct sb_sweep_plan *p, const struct sb_sweep_opts *o,
    struct sb_opts *opts, uint64_t seed, struct sb_err *err);
void sb_sweep_plan_done(struct sb_sweep_plan *p); // {0} allowed

// Computes the order of runs from p->random and p->seed. Run n measures point
// n % npoints in round n / npoints. A round measures every point, so that a
// drift of the server affects all points alike.
void sb_sweep_plan_order(struct sb_sweep_plan *p);

// Writes the values of a run to fact, which has room for p->noptions; they
// belong to the plan.
void sb_sweep_values(
    const struct sb_sweep_plan *p, unsigned run, struct sb_fact *fact);
// Writes "threads=4 rate=100".
void sb_sweep_text(
    const struct sb_fact *swept, unsigned n, char *out, size_t size);

// The plan and the given options as JSON, kept to continue the sweep; secrets
// are masked. NULL if out of memory.
json_t *sb_sweep_plan_json(const struct sb_sweep_plan *p, struct sb_opts *opts);
// Compares a kept plan with this one, whose order it takes over. SB_EUSAGE
// names what differs.
int sb_sweep_plan_continue(struct sb_sweep_plan *p, const json_t *kept,
    const json_t *now, struct sb_err *err);

#endif
