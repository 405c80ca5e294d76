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
// What follows the name of a list of rows on its line.
#define SB__ROWS_MARK "\"rows\":[\n"

// result_rows.c. Begins a row, and adds a value to it: 0 or SB_ENOMEM.
int sb__rows_begin(struct sb_rows *r);
int sb__rows_value(struct sb_rows *r, double value);
void sb__rows_done(struct sb_rows *r);
// Reads rows of text, one per line, and moves *p to the "]" behind them. The
// text ends with NUL. SB_EUSAGE: not written by out/json.c. SB_ENOMEM.
int sb__rows_read(struct sb_rows *r, const char **p);

// result_totals.c. Fills snap, stats and report of a run. SB_EUSAGE names the
// member that is wrong.
int sb__result_totals(struct sb_result_run *r, struct sb_err *err);

// result_counts.c. Checks the numbers of a value and of all in it: their types,
// their signs and sizes. SB_EUSAGE names the member.
int sb__result_numbers(const json_t *value, struct sb_err *err);
// Reads an integer, or text of digits; false for others.
bool sb__result_is_count(const json_t *value, uint64_t *n);
// Reads a member. A missing one is 0: files may be older than the member.
// SB_EUSAGE.
int sb__result_count(
    const json_t *o, const char *name, uint64_t *n, struct sb_err *err);
// Reads "histogram" and "count" of an object. SB_EUSAGE.
int sb__result_buckets(const json_t *o, struct sb_hist_snap *h, uint64_t *count,
    struct sb_err *err);

// result_metrics.c. After the operations; errors as above.
int sb__result_metrics(struct sb_result_run *r, struct sb_err *err);

// json_search.c. Fills the search of a run and its report: 0 or SB_ENOMEM.
int sb__result_read_search(struct sb_result_run *r);

#endif
