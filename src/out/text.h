// SPDX-License-Identifier: GPL-2.0-or-later
//
// The classic text report of sysbench 1.0, line by line as parsers expect it,
// followed by what options add. Writes to the given stream; main thread.
#ifndef SB_TEXT_H
#define SB_TEXT_H

#include <stdio.h>

#include "base/option.h"
#include "measure/snap.h"

// "Log options"
struct sb_text_opts {
    int64_t verbosity;             // below 3 (notices), no report is printed
    struct sb_opt_list percentile; // "95" or "50,95,99.9"; "0": disabled
    bool histogram;
    bool report_operations; // adds a table of operations
    bool report_errors; // adds a table of error codes, on stderr, if there were
                        // errors
    bool report_per_rank; // adds a line for each rank
    bool report_context;  // adds what was measured; printed by out/context.h
    int report_validity;  // enum sb_text_validity
    int report_costs;     // enum sb_text_costs
    double price;         // of the server, USD per hour; 0: unknown
};

// Of --report-validity.
enum sb_text_validity {
    SB_TEXT_VALIDITY_AUTO, // checks are made if a result file is written
    SB_TEXT_VALIDITY_ON,   // adds all checks; printed by out/validity.h
    SB_TEXT_VALIDITY_OFF,  // no checks are made
};

// Of --report-costs.
enum sb_text_costs {
    SB_TEXT_COSTS_AUTO, // found out if a result file is written or for --price
    SB_TEXT_COSTS_ON,   // adds them; printed by out/costs.h
    SB_TEXT_COSTS_OFF,  // not found out
};

extern const struct sb_opt_table sb_text_opt_table;

#define SB_TEXT_PERCENTILES 32

// Replaces lines of the report for a built-in test. Either may be NULL.
struct sb_text_own {
    void *data;
    // Prints one line without the leading "[ 2s ] ". pct: the classic
    // percentile, 0 if disabled.
    void (*interval)(
        void *data, const struct sb_report *r, double pct, FILE *out);
    // Prints the block before "General statistics".
    void (*final)(void *data, const struct sb_report *r, FILE *out);
};

struct sb_text {
    FILE *out;
    FILE *err; // for the table of errors; stderr unless changed
    struct sb_text_opts o;
    double pct[SB_TEXT_PERCENTILES]; // sorted
    unsigned npct;                   // 0: disabled
    double classic_pct; // 95 if in the list, otherwise the first one
    // Set by the caller after sb_text_init():
    bool none; // --report=none: print nothing to out
    bool debug, db_debug;
    bool sql;          // a database driver was used: SQL lines
    bool documents;    // no SQL driver was used: another heading
    uint64_t start_ns; // start of the run on its clock; "first seen" of errors
                       // is relative to it
    // Percentiles of the final report above 100 - censored are lower bounds,
    // and printed as such: sb_validity_censored().
    double censored;
    int64_t interval_ns;          // --report-interval: decimals of "[ 0.5s ] "
    const struct sb_stats *stats; // names of operations; may be NULL
    struct sb_text_own own;
};

// Parses the list of percentiles and clears the fields set by the caller.
// SB_EUSAGE / SB_ERANGE; also for a histogram without percentiles.
int sb_text_init(struct sb_text *t, const struct sb_text_opts *o, FILE *out,
    struct sb_err *err);

// Prints the lines "[ 2s ] thds: ..."; those of the warm-up are marked.
void sb_text_interval(struct sb_text *t, const struct sb_report *r);
// Prints one more line of a report; in an interval it begins with "[ 2s ] ".
void sb_text_line(
    struct sb_text *t, const struct sb_report *r, const char *line);
void sb_text_checkpoint(struct sb_text *t, const struct sb_report *r);
// Prints the classic block and the additions that options ask for; the table
// of errors goes to t->err.
void sb_text_final(struct sb_text *t, const struct sb_report *r);
// Prints a line to t->err with the operations that found nothing in more than
// 1 % of the executions that look for rows, and at least 10 times. Counts the
// whole run, whatever checkpoints have reported. Only if the log level includes
// warnings. r: a final report.
void sb_text_found(const struct sb_text *t, const struct sb_report *r);

struct sb_outcome; // out/facts.h

// The length of a run, s.
struct sb_text_times {
    double seconds; // of the measured part
    double planned; // --time, 0: no limit
    bool warmup;    // it ended during its warm-up
};

// Prints a line about a run that a signal or a limit of --assert ended, or that
// was longer than --time; otherwise nothing.
void sb_text_end(struct sb_text *t, const struct sb_outcome *o,
    const struct sb_text_times *times);

#endif
