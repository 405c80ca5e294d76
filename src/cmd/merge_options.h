// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options in which runs that are merged differ. Main thread.
#ifndef SB_MERGE_OPTIONS_H
#define SB_MERGE_OPTIONS_H

#include "out/result_file.h"

// Logs a warning that names the options that n runs have different values of,
// other than their files, seeds and threads.
void sb_merge_warn_of_options(
    const struct sb_result_run *const *run, unsigned n);

#endif
