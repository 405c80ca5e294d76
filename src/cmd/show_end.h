// SPDX-License-Identifier: GPL-2.0-or-later
//
// The end of the report that sysbench show prints. Main thread.
#ifndef SB_SHOW_END_H
#define SB_SHOW_END_H

#include "out/result_file.h"
#include "out/text.h"

// Prints the table of limits, if the run had any.
void sb__show_limits(const struct sb_result_run *run, FILE *out);
// Prints how the run ended, if early.
void sb__show_end(const struct sb_result_run *run, struct sb_text *text);

#endif
