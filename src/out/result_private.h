// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the files that read result files.
#ifndef SB_RESULT_PRIVATE_H
#define SB_RESULT_PRIVATE_H

#include "out/result_file.h"

// 2^53: a run reaches no larger number, except for sums of times and numbers of
// scripts. Counts up to here can be added without an overflow.
#define SB__LARGEST 9007199254740992.0
// 2^63 ns: the maximum of a time, and of a sum of times.
#define SB__LONGEST 9223372036854775808.0

// json_parts.c. Fills the search of a run and its report: 0 or SB_ENOMEM.
int sb__result_read_search(struct sb_result_run *r);

#endif
