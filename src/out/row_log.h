// SPDX-License-Identifier: GPL-2.0-or-later
//
// The rows of intervals and histograms as result documents have them, kept in
// spools until the run ends. All documents of a run (--report=json=FILE,
// html=FILE) share them. Main thread.
#ifndef SB_ROW_LOG_H
#define SB_ROW_LOG_H

#include "out/series.h"
#include "out/spool.h"

struct sb_row_log {
    const struct sb_series *series;
    struct sb_spool intervals, histograms;
    struct sb_buf line;
    bool open;
    struct sb_err failed; // of the last row; code 0: none
    uint64_t missing;     // rows that could not be kept
};

// series has the current row, and must outlive r. Nothing is kept yet.
void sb_row_log_init(struct sb_row_log *r, const struct sb_series *series);
// Keeps rows from now on, in the folder `dir`. A second call has no effect.
// SB_ESYS names the folder.
int sb_row_log_open(struct sb_row_log *r, const char *dir, struct sb_err *err);
void sb_row_log_done(struct sb_row_log *r); // {0} allowed
// Adds the current row of the series, and the histogram of the report: both or
// neither. Does nothing before sb_row_log_open(). An error is kept in
// r->failed; later rows may be kept again.
void sb_row_log_add(struct sb_row_log *r, const struct sb_report *report);
// The series has no row of this interval: memory is out.
void sb_row_log_miss(struct sb_row_log *r);

#endif
