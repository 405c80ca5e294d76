// SPDX-License-Identifier: GPL-2.0-or-later
//
// Text that grows during a run and is read at its end: a temporary file without
// a name, so that memory does not grow with the length of the run. Main thread.
#ifndef SB_SPOOL_H
#define SB_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "out/series.h"

// The start of a name that the file has for a moment, where it needs one. A
// killed process may leave such a file.
#define SB_SPOOL_NAME ".sysbench-"

struct sb_spool {
    FILE *file;
    uint64_t lines;
    uint64_t size, last; // bytes of all lines, and of the last one
};

// Creates the file in the folder `dir`. SB_ESYS names the folder.
int sb_spool_open(struct sb_spool *s, const char *dir, struct sb_err *err);
void sb_spool_done(struct sb_spool *s); // {0} allowed
// Adds a line without its line feed. SB_ESYS, for example if the disk is full:
// then this line is not kept, and later ones may be.
int sb_spool_add(
    struct sb_spool *s, const char *line, size_t len, struct sb_err *err);
// Removes the line that was added last. Call it once per line.
void sb_spool_drop(struct sb_spool *s);
// Copies everything to `out`, with `between` at the end of each line but the
// last. SB_ESYS if it cannot be read; the caller checks `out`.
int sb_spool_copy(
    struct sb_spool *s, const char *between, FILE *out, struct sb_err *err);
// Writes text at a position of the file, for callers that keep no lines in it.
// SB_ESYS: some of it may have been written.
int sb_spool_put(struct sb_spool *s, const char *text, size_t len, uint64_t at,
    struct sb_err *err);

// The rows of intervals and histograms as result documents have them, kept in
// spools until the run ends. All documents of a run (--report=json=FILE,
// html=FILE) share them. Main thread.

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
