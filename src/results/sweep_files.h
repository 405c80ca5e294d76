// SPDX-License-Identifier: GPL-2.0-or-later
//
// The result files of a sweep: one document, or one page, with all runs. Main
// thread.
#ifndef SB_SWEEP_FILES_H
#define SB_SWEEP_FILES_H

#include <jansson.h>

#include "out/reporter.h"
#include "out/target.h"
#include "results/sweep_plan.h"

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

// Writes the runs of n result files, in this order, with these members, such as
// `sweep`, to all files; without runs, nothing. Other programs may have
// reformatted the result files. title: of the page; NULL: no page is written.
// SB_EUSAGE: not a result file. SB_ESYS, SB_ENOMEM.
int sb_sweep_files_write(struct sb_sweep_files *f, const char *const *path,
    unsigned n, json_t *members, const char *title, struct sb_err *err);

// The reports that each run of a sweep writes itself, and their names:
// run.csv becomes run-threads=4-1.csv. Main thread.

struct sb_sweep_names {
    const struct sb_reporters *rs;
    const struct sb_sweep_plan *plan;
    bool numbered; // names have the number of the point: the values would be
                   // cut, or two points would have the same name
    // Of the reports of a run, the first of which is its result file: whether
    // it keeps the user's name, as devices, pipes and addresses do.
    bool kept[SB_REPORTERS_MAX + 1];
    unsigned nkept;
};

// Decides on the names, and checks that no run fails because of them. rs and
// plan must outlive *n. SB_EUSAGE: a report cannot be written for each run.
// SB_ESYS: a folder does not exist or is not writable. SB_ERANGE: a name, or
// the list for a run, is too long. SB_ENOMEM.
int sb_sweep_names_init(struct sb_sweep_names *n, const struct sb_reporters *rs,
    const struct sb_sweep_plan *plan, struct sb_err *err);

// Writes the list of reports of a run: `text` or none, its result file, and the
// other reports, whose names get the values of the run and its round, unless
// they are kept. SB_ERANGE: the list is too long.
int sb_sweep_names_reports(const struct sb_sweep_names *n, unsigned run,
    bool text, const char *result, char *out, size_t size, struct sb_err *err);
// In the process of a run, rs: of that list. Marks those whose names the sweep
// has chosen; kept: of struct sb_sweep_names.
void sb_sweep_names_mark(const bool *kept, struct sb_reporters *rs);

#endif
