// SPDX-License-Identifier: GPL-2.0-or-later
//
// One swept option: NAME=LIST, as --sweep gives it. Pure; any thread.
#ifndef SB_SWEEP_LIST_H
#define SB_SWEEP_LIST_H

#include "base/err.h"

#define SB_SWEEP_VALUES_MAX 1000u

struct sb_sweep_list {
    char *name;
    char **value;       // n texts, each once, in the order given
    const char **shown; // room for n texts; the user's of the list
    unsigned n;
};

// Parses "threads=1,2,4..256". An item of the list is a value or a range of
// numbers, whose ends have the same unit (4K..64K): A..B doubles from A and
// ends with B; A..B:STEP adds STEP and does not exceed B. Values have as many
// decimals as the numbers they are computed from. A text that does not
// begin with a number is a value, also if it contains "..".
//
// SB_EUSAGE: no name, no value, or a range that is no range. SB_ERANGE: more
// than SB_SWEEP_VALUES_MAX values. SB_ENOMEM. Call sb_sweep_list_done() in
// either case.
int sb_sweep_list_parse(
    struct sb_sweep_list *l, const char *text, struct sb_err *err);
void sb_sweep_list_done(struct sb_sweep_list *l); // {0} allowed

// Writes the number of a value to *number, also of one with a unit ("64K",
// "250ms"), for sorting. Returns 0 or SB_EUSAGE.
int sb_sweep_number(const char *value, double *number);

#endif
