// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a sweep measures: the options of --sweep and the like, its runs and
// their order. A point is one combination of values; each point is measured
// once per round. Main thread.
#ifndef SB_SWEEP_PLAN_H
#define SB_SWEEP_PLAN_H

#include <jansson.h>

#include "base/opts.h"
#include "out/facts.h"
#include "base/err.h"
#include "results/ab.h"

// One swept option: NAME=LIST, as --sweep gives it. Pure; any thread.

#define SB_SWEEP_VALUES_MAX 1000u

struct sb_sweep_list {
    char *name;
    char **value;       // n texts, each once, in the order given
    const char **shown; // room for n texts; the user's of the list
    unsigned n;
};

// Parses "threads=1,2,4..256". An item of the list is a value or a range of
// numbers, whose ends have the same unit (4K..64K): A..B doubles from A and
// ends with B; A..B:STEP adds STEP and does not exceed B. Values have as many
// decimals as the numbers they are computed from. A text that does not
// begin with a number is a value, also if it contains "..".
//
// SB_EUSAGE: no name, no value, or a range that is no range. SB_ERANGE: more
// than SB_SWEEP_VALUES_MAX values. SB_ENOMEM. Call sb_sweep_list_done() in
// either case.
int sb_sweep_list_parse(
    struct sb_sweep_list *l, const char *text, struct sb_err *err);
void sb_sweep_list_done(struct sb_sweep_list *l); // {0} allowed

// Writes the number of a value to *number, also of one with a unit ("64K",
// "250ms"), for sorting. Returns 0 or SB_EUSAGE.
int sb_sweep_number(const char *value, double *number);

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
    const char *launch;     // "": none
    int64_t launch_timeout; // ns
};

extern const struct sb_opt_table sb_sweep_opt_table;

struct sb_sweep_plan {
    struct sb_sweep_list option[SB_SWEEP_OPTIONS_MAX];
    unsigned noptions;
    // Set by the caller, who owns it: a test or the workloads of a mix. NULL:
    // no name.
    const char *test;
    unsigned npoints, rounds, nruns; // nruns = npoints * rounds
    // Of sysbench ab: the points are its sides, the rounds are pairs of runs,
    // the first `aa` of them of the first side with itself. NULL: a sweep.
    const struct sb_ab_side *side;
    unsigned aa;
    unsigned planned; // pairs, when the experiment began
    uint64_t seed;    // of the order
    bool random;
    unsigned order[SB_SWEEP_RUNS_MAX]; // numbers of runs, as they are executed
};

// Whether the settings ask for a sweep.
bool sb_sweep_wanted(const struct sb_opts *opts);

// Reads all --sweep settings of the strongest source. An alias stands for its
// option. SB_EUSAGE, SB_ERANGE: a list is wrong, an option is swept twice,
// cannot be swept or is also given on the command line, too many runs, or as
// sb_sweep_plan_mask(). SB_ENOMEM. Call sb_sweep_plan_done() in
// either case.
int sb_sweep_plan_init(struct sb_sweep_plan *p, const struct sb_sweep_opts *o,
    struct sb_opts *opts, uint64_t seed, struct sb_err *err);
// The plan of sysbench ab: side[0] and side[1] must outlive it. SB_ERANGE,
// SB_ENOMEM.
int sb_sweep_plan_sides(struct sb_sweep_plan *p, const struct sb_ab_opts *o,
    const struct sb_ab_side *side, uint64_t seed, struct sb_err *err);
void sb_sweep_plan_done(struct sb_sweep_plan *p); // {0} allowed

// Finds what may be shown of the values. Called again when the options of
// drivers and scripts are known, some of which are secret. SB_EUSAGE: a value
// is a secret, or two differ only in a part that is one: nothing would tell
// their runs apart. SB_ENOMEM.
int sb_sweep_plan_mask(
    struct sb_sweep_plan *p, struct sb_opts *opts, struct sb_err *err);

// Computes the order of runs from p->random and p->seed. Run n measures point
// n % npoints in round n / npoints. A round measures every point, so that a
// drift of the server affects all points alike. Of two successive pairs of
// sides, chance decides which one begins with the first side.
void sb_sweep_plan_order(struct sb_sweep_plan *p);

// Writes the values of a run to fact, which has room for p->noptions, as they
// may be shown and stored: passwords in URLs are masked. They belong to the
// plan.
void sb_sweep_values(
    const struct sb_sweep_plan *p, unsigned run, struct sb_fact *fact);
// The same for the run itself, without masks. Returns their number: sides have
// none.
unsigned sb_sweep_raw_values(
    const struct sb_sweep_plan *p, unsigned run, struct sb_fact *fact);
// The side that a run measures, 0 or 1; only of sysbench ab.
unsigned sb_sweep_side(const struct sb_sweep_plan *p, unsigned run);
// Whether a run is one of the first side with itself.
bool sb_sweep_is_same(const struct sb_sweep_plan *p, unsigned run);
// Writes "threads=4 rate=100".
void sb_sweep_text(
    const struct sb_fact *swept, unsigned n, char *out, size_t size);

// The plan with the name of the test and the given options as JSON, kept to
// continue the sweep; secrets are masked. NULL if out of memory.
json_t *sb_sweep_plan_json(const struct sb_sweep_plan *p, struct sb_opts *opts);
// Whether a JSON value, which may be NULL, is a plan that was kept.
bool sb_sweep_plan_is(const json_t *kept);
// Compares a kept plan with this one, whose order it takes over. SB_EUSAGE
// names what differs.
int sb_sweep_plan_continue(struct sb_sweep_plan *p, const json_t *kept,
    const json_t *now, struct sb_err *err);

#endif
