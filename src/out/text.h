// SPDX-License-Identifier: GPL-2.0-or-later
//
// The classic text report of sysbench 1.0, line by line as parsers expect it,
// and the additions that options ask for, after the classic block. Writes to
// the given stream; main thread.
#ifndef SB_TEXT_H
#define SB_TEXT_H

#include <stdio.h>

#include "base/option.h"
#include "measure/snap.h"

// "Log options"
struct sb_text_opts {
    int64_t verbosity;             // below 3 (notices) nothing is written
    struct sb_opt_list percentile; // "95" or "50,95,99.9"; "0": disabled
    bool histogram;
    bool report_operations; // after the classic block: a table of operations
    bool report_errors;     // and one of error codes (default on: only shown
                            // when there were any, on stderr)
};

extern const struct sb_opt_table sb_text_opt_table;

#define SB_TEXT_PERCENTILES 32

// Lines that a built-in test prints in the place of the plain ones. Either
// may be NULL.
struct sb_text_own {
    void *data;
    // One line without the "[ 2s ] " before it. pct: the classic percentile,
    // 0 when disabled.
    void (*interval)(
        void *data, const struct sb_report *r, double pct, FILE *out);
    // What stands before "General statistics".
    void (*final)(void *data, const struct sb_report *r, FILE *out);
};

struct sb_text {
    FILE *out;
    FILE *err; // for the table of errors; stderr unless changed
    struct sb_text_opts o;
    double pct[SB_TEXT_PERCENTILES]; // sorted
    unsigned npct;                   // 0: disabled
    double classic_pct; // 95 if in the list, else the first as given
    // Set by the caller after sb_text_init():
    bool debug, db_debug;
    bool sql;            // a database driver was used: SQL lines
    bool documents;      // and none that speaks SQL: another heading
    uint64_t start_ns;   // when the run started, on its clock: the "first
                         // seen" of errors counts from here
    int64_t interval_ns; // --report-interval: decimals of "[ 0.5s ] "
    const struct sb_stats *stats; // for the names of operations; may be NULL
    struct sb_text_own own;
};

// Parses the percentile list and clears what the caller sets. SB_EUSAGE /
// SB_ERANGE, also for a histogram without percentiles.
int sb_text_init(struct sb_text *t, const struct sb_text_opts *o, FILE *out,
    struct sb_err *err);

// "[ 2s ] thds: ..." lines; warm-up ones are tagged.
void sb_text_interval(struct sb_text *t, const struct sb_report *r);
// One more line of the same report; those of intervals begin with "[ 2s ] ".
void sb_text_line(
    struct sb_text *t, const struct sb_report *r, const char *line);
void sb_text_checkpoint(struct sb_text *t, const struct sb_report *r);
// The classic block and what was asked for besides; the table of errors goes
// to t->err.
void sb_text_final(struct sb_text *t, const struct sb_report *r);
// A line to t->err with the operations that found nothing in more than 1 % of
// the executions that look for rows, and at least 10 times. Not below the level
// of warnings.
void sb_text_found(const struct sb_text *t, const struct sb_report *r);

#endif
