// SPDX-License-Identifier: GPL-2.0-or-later
//
// Statements of which the servers of two sides of a comparison counted
// something else. Main thread.
#ifndef SB_RESULTS_STATEMENTS_H
#define SB_RESULTS_STATEMENTS_H

#include <jansson.h>
#include <stdio.h>

struct sb_side;

// Appends such statements to the list of differences, as {"kind": "statement",
// "name", "a", "b"}. Nothing, if a side has no such counts. 0 or SB_ENOMEM.
int sb__statements_differ(
    json_t *list, const struct sb_side *a, const struct sb_side *b);
// Prints those of the list, a line for each.
void sb__statements_print(const json_t *list, FILE *out);

#endif
