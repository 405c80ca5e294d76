// SPDX-License-Identifier: GPL-2.0-or-later
//
// The results of folders as series over time: which runs can be compared, in
// which order, and their figures. Main thread.
#ifndef SB_HISTORY_RUNS_H
#define SB_HISTORY_RUNS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/option.h"

enum sb_history_figure {
    SB_HISTORY_THROUGHPUT, // events/s
    SB_HISTORY_P95,        // ms, of response times with --rate
    SB_HISTORY_P99,
    SB_HISTORY_ERRORS,   // percent of the events; restarted errors do not count
    SB_HISTORY_HEADLINE, // of a script or of --headline
    SB_HISTORY_FIGURES,
};

struct sb_history_run {
    char *path;
    unsigned number, of; // of the runs of its file, from 1
    const char *why;     // it is left out, a verb: "failed"; NULL: it is not
    char *started;       // ISO 8601 in UTC, which sorts as text
    char *label;         // the value of --by; "": none
    char *order;         // the value of --order; "": none
    char *identity;      // the same for the same run in another file
    json_t *facts;       // which runs can be compared: name -> text
    char *key;           // the facts as one text
    bool open_loop;
    json_t *headline; // the member of the result file; NULL: none
    double figure[SB_HISTORY_FIGURES]; // NaN: unknown
};

// Runs of the same thing that were measured together: of one label, or of one
// file if they have no label. Figures are their means.
struct sb_history_point {
    const struct sb_history_run *run; // the first one
    size_t runs;                      // neighbors in memory
    double figure[SB_HISTORY_FIGURES];
    double low[SB_HISTORY_FIGURES], high[SB_HISTORY_FIGURES]; // of the runs
};

struct sb_history_series {
    char *name; // "oltp_read_write, 8 threads, rate=100"
    // All runs have the same facts; this one says what the headline is.
    const struct sb_history_run *last;
    struct sb_history_point *point;
    size_t n;
    bool newest; // its last point belongs to the newest results of all
};

// Files or runs that do not count.
enum sb_history_why {
    SB_HISTORY_FOREIGN, // no result files
    SB_HISTORY_DAMAGED, // cannot be read
    SB_HISTORY_NEWER,   // of a later version of the format; these do count
    SB_HISTORY_USELESS, // failed, or ended before its measured part
    SB_HISTORY_TWICE,   // the same run as another one
    SB_HISTORY_WHYS,
};

struct sb_history_skipped {
    size_t n;
    char *first; // its path, or a message that has it; NULL: none
};

struct sb_history_opts {
    const char *by, *order;            // labels; order "": by start
    const struct sb_opt_list *ignored; // options that need not be equal
    const struct sb_opt_list *at;      // "threads=8": only these series
    size_t last;                       // points of each series; 0: all
};

struct sb_history_runs {
    struct sb_history_run *run;
    size_t n, cap;
    struct sb_history_series *series;
    size_t nseries;
    struct sb_history_skipped skipped[SB_HISTORY_WHYS];
    size_t files; // result files
    // Runs that say nothing about the speed.
    struct sb_history_run *left_out;
    size_t nleft_out, left_out_cap;
    // The newest run. missing: one of the newest results that was left out and
    // not repeated; NULL: none.
    const struct sb_history_run *newest, *missing;
    json_t *ignored;   // the names of --ignore that occur
    json_t *drivers;   // their names
    json_t *defaults;  // of options: name -> text
    json_t *different; // names of facts that are not equal in all series
};

// Reads the files, and the files "*.json" in folders and everything below them
// without hidden ones and links to folders. Logs errors: a file or folder that
// was named must be readable. 0 or SB_E*. Call sb_history_runs_done() in either
// case.
int sb_history_runs_read(struct sb_history_runs *h, const char *const *path,
    unsigned n, const struct sb_history_opts *o);
void sb_history_runs_done(struct sb_history_runs *h); // {0} allowed

// The value of a fact of a series; "": none.
const char *sb_history_fact(const struct sb_history_runs *h,
    const struct sb_history_series *s, const char *name);

#endif
