// SPDX-License-Identifier: GPL-2.0-or-later
//
// The folder that keeps the finished runs of a sweep until the sweep is
// complete: FILE.sweep beside the result file. Main thread.
//
//     lock                  held by the process that uses the folder
//     plan.json             what is measured
//     run-0001.new.json     written by a run; its commands are not done yet
//     run-0001.json         the result file of a finished run
//     run-0001.after.json   empty; the run or a command before it began, and
//                           the commands after it were not successful yet
//     run-0001.failed.json  of a run that failed, but whose file does not say
//                           so; empty if it wrote none
//     started               a launcher has started the run in progress
#ifndef SB_SWEEP_STATE_H
#define SB_SWEEP_STATE_H

#include <stdbool.h>

#include "results/sweep_plan.h"
#include "out/result_file.h"

struct sb_sweep_state {
    char dir[4096];
    int lock; // file descriptor; processes that inherit it hold the lock, too
    bool temporary; // there is no result file: removed in any case
};

// How a run ended. This is the only place that decides it: tables, messages,
// exit status and --sweep-resume follow it.
enum sb_sweep_outcome {
    SB_SWEEP_OPEN,   // not measured, or interrupted
    SB_SWEEP_GOOD,   // finished
    SB_SWEEP_MISSED, // finished; a limit of --assert was not kept
    SB_SWEEP_FAILED,
};

// Creates or continues the folder for a result file; target NULL: a temporary
// folder. SB_EUSAGE: an unfinished sweep exists but `resume` is not set, or
// `resume` is set but no unfinished sweep exists, or the plans differ, or the
// folder has files that are not those of a sweep. SB_ELIMIT: another process
// uses the folder. SB_ESYS, SB_ENOMEM. Call
// sb_sweep_state_done() in either case.
int sb_sweep_state_open(struct sb_sweep_state *s, const char *target,
    bool resume, struct sb_sweep_plan *plan, struct sb_opts *opts,
    struct sb_err *err);
// Writes the path of the file of a finished run, counted from 0.
void sb_sweep_state_file(
    const struct sb_sweep_state *s, unsigned run, char *out, size_t size);

// Writes the path of "started", and removes that file.
void sb_sweep_state_started(
    const struct sb_sweep_state *s, char *out, size_t size);

// SB_ESYS if the folder is no longer the one that was opened: another process
// has removed or replaced it.
int sb_sweep_state_check(const struct sb_sweep_state *s, struct sb_err *err);

// A run or the first command before it is about to begin. Removes what is left
// of an earlier attempt, and writes the path of the file that the run will
// write. after: there are commands after it. SB_ESYS, also of
// sb_sweep_state_check().
int sb_sweep_state_begin(const struct sb_sweep_state *s, unsigned run,
    bool after, char *out, size_t size, struct sb_err *err);
// The run and the commands before it have ended. status: 0, or the exit status
// of the run or of a command that failed. If the file of the run has the
// outcome that the status means, it is kept as the file of a finished run;
// otherwise it is not part of the result. signaled: a signal that ends the
// sweep was received. Then only a run that had ended by itself before the
// signal counts, also if the signal killed its process after that. SB_ESYS,
// also of sb_sweep_state_check().
int sb_sweep_state_settle(const struct sb_sweep_state *s, unsigned run,
    int status, bool signaled, struct sb_err *err);
// Describes the file of a run that has failed, as in "the run ...". Returns
// false if the file says why the run failed.
bool sb_sweep_state_explain(
    const struct sb_sweep_state *s, unsigned run, char *out, size_t size);
// Whether the commands after a run that has begun were not successful yet.
bool sb_sweep_state_after(const struct sb_sweep_state *s, unsigned run);
// Called when these commands were successful.
void sb_sweep_state_after_done(const struct sb_sweep_state *s, unsigned run);
// Returns how a run ended. If it has a file that belongs to the result, *f is
// that file; otherwise f->nruns is 0. Call sb_result_done().
enum sb_sweep_outcome sb_sweep_state_read(
    const struct sb_sweep_state *s, unsigned run, struct sb_result_file *f);

// Closes the folder. Removes it if `remove` is set or it is temporary.
void sb_sweep_state_done(struct sb_sweep_state *s, bool remove);

#endif
