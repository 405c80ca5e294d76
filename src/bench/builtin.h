// SPDX-License-Identifier: GPL-2.0-or-later
//
// The built-in tests: workloads in C that need no database and no script.
#ifndef SB_BUILTIN_H
#define SB_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/option.h"
#include "measure/snap.h"
#include "run/run.h"
#include "run/workload.h"

// One built-in test. opts: the struct that its option table fills, opts_size
// bytes, the caller's; it outlives the workload. Main thread.
struct sb_builtin {
    const char *name;  // "cpu"
    const char *title; // "CPU performance test"
    const struct sb_opt_table *opts;
    size_t opts_size;
    // The test counts its own events: --events and --warmup-time mean nothing
    // to it, and the caller clears them.
    bool own_limit;
    // Whether a run with these options ends without --time and --events. NULL:
    // it does not.
    bool (*ends)(const void *opts);
    // Checks the options and makes the workload. NULL: *err says why. run and
    // opts outlive it.
    struct sb_workload *(*create)(
        const void *opts, const struct sb_run_opts *run, struct sb_err *err);
    void (*destroy)(struct sb_workload *w); // NULL allowed
    // "prepare" and "cleanup", with progress on out, which may be NULL. NULL:
    // the test has no commands; SB_EUNSUPPORTED: not this one.
    int (*command)(const char *command, const void *opts,
        const struct sb_run_opts *run, FILE *out, struct sb_err *err);
    // The test's own lines between the options of the run and "Initializing
    // worker threads...". Any of these may be NULL.
    void (*describe)(struct sb_workload *w, FILE *out);
    // An interval line without the "[ 2s ] " before it, and what stands before
    // "General statistics"; NULL: the plain ones. w: the workload; pct: the
    // classic percentile, 0 if disabled. They fit struct sb_text_own.
    void (*interval)(void *w, const struct sb_report *r, double pct, FILE *out);
    void (*final)(void *w, const struct sb_report *r, FILE *out);
};

// All of them in the order of --help; a NULL follows the last.
extern const struct sb_builtin *const sb_builtins[];
extern const size_t sb_builtin_count;

// By name, NULL when there is none.
const struct sb_builtin *sb_builtin_find(const char *name);

#endif
