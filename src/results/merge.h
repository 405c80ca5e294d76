// SPDX-License-Identifier: GPL-2.0-or-later
//
// The intervals of several runs as one series: rows of the same moment are
// added. A run has at most one row in each of them. Main thread.
#ifndef SB_MERGE_H
#define SB_MERGE_H

#include "out/result_file.h"

struct sb_merge_rows {
    const struct sb_result_run *const *run;
    const double *offset; // start of each run, s after that of the first one
    unsigned nruns;
    double interval; // nominal length, s
    json_t *columns; // of all runs
    // Of each run: the column of the merged row for each of its columns.
    unsigned **to;
    unsigned ncols;
};

// Prepares the rows of nruns runs, whose arrays outlive *m. SB_ENOMEM. Call
// sb_merge_rows_done() in either case.
int sb_merge_rows_init(struct sb_merge_rows *m,
    const struct sb_result_run *const *run, const double *offset,
    unsigned nruns, double interval);
void sb_merge_rows_done(struct sb_merge_rows *m); // {0} allowed

// Write all rows, as struct sb_document_run needs it. arg: struct
// sb_merge_rows. Counts are summed; minimum and maximum are exact, averages
// weighted. Percentiles of several runs cannot be computed from theirs: null,
// unless only one run has events then.
int sb_merge_rows_write(void *arg, FILE *out, struct sb_err *err);
int sb_merge_rows_heat(void *arg, FILE *out, struct sb_err *err);

#endif
