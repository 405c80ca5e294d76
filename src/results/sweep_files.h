// SPDX-License-Identifier: GPL-2.0-or-later
//
// The result files of a sweep: one document, or one page, with all runs. Main
// thread.
#ifndef SB_SWEEP_FILES_H
#define SB_SWEEP_FILES_H

#include <jansson.h>

#include "out/reporter.h"
#include "out/target.h"

struct sb_sweep_files {
    struct {
        const struct sb_reporter *reporter; // json or html
        struct sb_target target;
    } item[SB_REPORTERS_MAX];
    unsigned n;
};

// Opens and locks the files of the reporters json and html. rs must outlive
// *f. SB_ESYS, SB_ELIMIT, SB_ENOTFOUND (files of the page) name the report and
// the reason. Call sb_sweep_files_done() in either case.
int sb_sweep_files_open(struct sb_sweep_files *f, const struct sb_reporters *rs,
    struct sb_err *err);
void sb_sweep_files_done(struct sb_sweep_files *f); // {0} allowed
// For the process of a run: frees what it inherited, and leaves the files.
void sb_sweep_files_leave(struct sb_sweep_files *f);

// Returns the name of the first file that is not standard output, json before
// html, or NULL.
const char *sb_sweep_files_main(const struct sb_reporters *rs);

// Writes the runs of n result files of this program, in this order, with the
// member `sweep`, to all files; without runs, nothing. title: of the page.
// SB_ESYS, SB_ENOMEM.
int sb_sweep_files_write(struct sb_sweep_files *f, const char *const *path,
    unsigned n, json_t *sweep, const char *title, struct sb_err *err);

#endif
