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

// One built-in test. opts: the struct filled from its option table, opts_size
// bytes, owned by the caller; it outlives the workload. Main thread.
struct sb_builtin {
    const char *name;  // "cpu"
    const char *title; // "CPU performance test"
    const struct sb_opt_table *opts;
    size_t opts_size;
    // The test counts its own events: the caller clears --events and
    // --warmup-time, which have no effect.
    bool own_limit;
    // Returns whether a run with these options ends without --time and
    // --events. NULL: it does not end.
    bool (*ends)(const void *opts);
    // Checks the options and creates the workload. Returns NULL and fills *err
    // on failure. run and opts outlive the workload.
    struct sb_workload *(*create)(
        const void *opts, const struct sb_run_opts *run, struct sb_err *err);
    void (*destroy)(struct sb_workload *w); // NULL allowed
    // Runs "prepare" or "cleanup", with progress on out, which may be NULL.
    // Returns SB_EUNSUPPORTED for other commands. NULL: the test has no
    // commands.
    int (*command)(const char *command, const void *opts,
        const struct sb_run_opts *run, FILE *out, struct sb_err *err);
    // Prints the test's own lines before "Initializing worker threads...".
    // This and the next two may be NULL.
    void (*describe)(struct sb_workload *w, FILE *out);
    // Print an interval line without the leading "[ 2s ] ", and the block
    // before "General statistics"; NULL: the standard ones. w: the workload;
    // pct: the classic percentile, 0 if disabled. They fit struct sb_text_own.
    void (*interval)(void *w, const struct sb_report *r, double pct, FILE *out);
    void (*final)(void *w, const struct sb_report *r, FILE *out);
};

// All built-in tests in the order of --help, followed by NULL.
extern const struct sb_builtin *const sb_builtins[];
extern const size_t sb_builtin_count;

// Finds a test by name, or returns NULL.
const struct sb_builtin *sb_builtin_find(const char *name);

// For the files of builtin/: the tests, and what they share.

extern const struct sb_builtin sb__bench_cpu, sb__bench_fileio,
    sb__bench_memory, sb__bench_mutex, sb__bench_threads;

static inline double sb__bench_rate(const struct sb_report *r, uint64_t n)
{
    return r->interval_s > 0 ? (double)n / r->interval_s : 0;
}

#endif
