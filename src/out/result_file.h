// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads result files (docs/internals/results.md). A file belongs to one
// thread at a time; several files may be read by several threads.
#ifndef SB_RESULT_FILE_H
#define SB_RESULT_FILE_H

#include <jansson.h>

#include "measure/search.h"
#include "measure/snap.h"

// Rows of numbers, each with a length of its own.
struct sb_rows {
    double *value; // of all rows, one after the other; NAN for null
    size_t *first; // nrows + 1 positions in value
    size_t nrows, nvalues;
    size_t row_cap, value_cap;
};

struct sb_result_column {
    const char *group, *name, *figure, *unit; // borrowed from the document
};

struct sb_result_run {
    json_t *json; // without rows and operations; borrowed from the file
    struct sb_rows intervals, histograms;
    struct sb_result_column *col;
    unsigned ncols;
    // The totals, if has_totals; otherwise no event was started.
    bool has_totals;
    struct sb_snap snap;
    struct sb_stats *stats;  // for the names of operations and metrics only
    struct sb_report report; // of the whole run; points to snap and stats
    struct sb_report *stage; // report.stages, with the snapshots behind them
    struct sb_snap *stage_snap;
    struct sb_rank_figures *ranks; // report.ranks
    // If the run found its rate itself: report.search.
    struct sb_rate_search search;
    struct sb_search_trial *trials; // of search
};

struct sb_result_file {
    const char *path; // as given; the caller's
    json_t *json;     // the document without rows and operations
    int version;
    struct sb_result_run *run;
    unsigned nruns;
    // Positions in the text, if nruns is not 0: behind the "[" of the runs, of
    // their "]", and of the "}" that ends the document.
    size_t runs_at, runs_end, end;
};

// True if a file that contains these bytes is no result file, so that the rest
// need not be read: a device has no end. first: the file begins with them.
bool sb_result_is_other(const char *part, size_t n, bool first);

// Reads a file; "-" is standard input. SB_ESYS: cannot be read. SB_EUSAGE: not
// a result file, or not a complete one; the message names the file and what is
// wrong. SB_ENOMEM. Call sb_result_done() in either case.
int sb_result_read(
    struct sb_result_file *f, const char *path, struct sb_err *err);
// The same from a stream, which stays open, up to its end. path: its name in
// messages; the caller's.
int sb_result_read_from(
    struct sb_result_file *f, FILE *in, const char *path, struct sb_err *err);
// Reads only what a list of many results needs: of each run `json` with its
// test, start, labels, host, options, servers, totals of the whole run without
// histograms, metrics and end, and has_totals; all else of a run is empty, and
// unread parts may be wrong. SB_ENOTFOUND: not a result file; other errors as
// above.
int sb_result_read_brief(
    struct sb_result_file *f, const char *path, struct sb_err *err);
void sb_result_done(struct sb_result_file *f); // {0} allowed

// Returns the number of a column, or ncols if the run has none.
unsigned sb_result_column(const struct sb_result_run *r, const char *group,
    const char *name, const char *figure);
// Returns a value, or NAN if the row has no value in this column.
double sb_result_value(const struct sb_result_run *r, size_t row, unsigned col);

// A text member of a run; "" if there is none.
const char *sb_result_text(const struct sb_result_run *r, const char *name);
// The same of any object of the document.
const char *sb_result_member(const json_t *o, const char *name);
// The value of an option of the run; NULL if it is not in the file.
const char *sb_result_option(const struct sb_result_run *r, const char *name);
// Whether an option says where results and settings are, or when and as which
// test a run is started, and nothing about what it measures.
bool sb_result_option_is_of_place(const char *name);

#endif
