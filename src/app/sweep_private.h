// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the files of a sweep: app/sweep.c is the course of a sweep,
// app/sweep_check.c what is checked before the first run, app/sweep_run.c the
// runs, and app/sweep_result.c what is printed and written. Main thread.
#ifndef SB_APP_SWEEP_PRIVATE_H
#define SB_APP_SWEEP_PRIVATE_H

#include "app/child.h"
#include "app/app.h"
#include "results/sweep_figures.h"
#include "results/sweep_files.h"
#include "results/sweep_names.h"
#include "results/sweep_state.h"

// What the process that loads the test to check the options has found out: the
// test has options of these names itself. In memory that this process shares
// with its parent, because the test may end it with any exit status.
struct sb__sweep_owned {
    bool sweep, repeat;
};

// The commands after a run.
enum sb__sweep_after {
    SB__AFTER_DONE,   // successful, or there are none
    SB__AFTER_OPEN,   // not executed, or interrupted
    SB__AFTER_FAILED, // one failed in this attempt
};

struct sb_app_sweep {
    struct sb_sweep_plan plan;
    struct sb_err plan_err; // of the plan, if plan_rc
    int plan_rc;
    struct sb_sweep_files files;
    struct sb_sweep_names names;
    struct sb_sweep_state state;
    struct sb_sweep_figures figures;
    struct sb_app_children children;
    struct sb__sweep_owned *owned; // NULL except during the check
    bool text;                     // the whole report of each run was asked for
    bool executed;                 // at least one run, now
    // Of each run, as sb_sweep_state_read() says. A run that failed in an
    // earlier attempt is open until it is executed again.
    enum sb_sweep_outcome outcome[SB_SWEEP_RUNS_MAX];
    // Of each run that is finished; of others SB__AFTER_DONE.
    enum sb__sweep_after after[SB_SWEEP_RUNS_MAX];
    bool left_failed; // a command that an earlier attempt has left
    // In the process of a run.
    int child_rc;
    struct sb_err child_err;
    struct sb_fact swept[SB_SWEEP_OPTIONS_MAX];
};

// --mix names what is measured, as a test does.
#define SB__SWEEP_MIX                                                        \
    "--sweep: --mix cannot be swept; measure each mix in a run of its own, " \
    "and compare the results"

// app/sweep_check.c -----------------------------------------------------------

// Called in that process before the test is loaded: gives it the values of the
// first run, because the test may not load without them.
void sb__sweep_check_begin(struct sb_app *a);

// app/sweep_run.c -------------------------------------------------------------

// Executes the commands that earlier attempts have left, then all runs that are
// not finished. Returns 1 in the process of a run, otherwise 0 or SB_E*.
int sb__sweep_runs(struct sb_app *a, struct sb_err *err);

// app/sweep_result.c ----------------------------------------------------------

// Whether a run needs no other attempt.
bool sb__sweep_finished(enum sb_sweep_outcome outcome);
unsigned sb__sweep_count(
    const struct sb_app_sweep *s, enum sb_sweep_outcome outcome);
// The number of finished runs whose commands ended so.
unsigned sb__sweep_count_after(
    const struct sb_app_sweep *s, enum sb__sweep_after after);
// Writes the values of a run: "threads=4 rate=100", "" without swept options.
void sb__sweep_name(
    const struct sb_app_sweep *s, unsigned run, char *out, size_t size);

void sb__sweep_print_plan(const struct sb_app *a);
// Prints one line for a run that is over, which is the `number`th, from 0.
// status: of its process; kept: it was measured by an earlier attempt.
void sb__sweep_print_run(const struct sb_app *a, unsigned number, unsigned run,
    int status, const struct sb_result_file *f, bool kept);
// Prints the table, and writes the files with all runs. SB_ESYS, SB_ENOMEM.
int sb__sweep_finish(struct sb_app *a, struct sb_err *err);

#endif
