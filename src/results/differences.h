// SPDX-License-Identifier: GPL-2.0-or-later
//
// Facts in which runs differ: options, settings of the server, and so on. Such
// a fact may be the reason of a difference between figures, or a mistake. Main
// thread.
#ifndef SB_DIFFERENCES_H
#define SB_DIFFERENCES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

// Facts of one or several runs: kind -> name -> list of the different values.
struct sb_run_facts {
    json_t *kinds;
    bool older;  // a run lists no settings that are not defaults
    bool failed; // an allocation failed
};

void sb_run_facts_init(struct sb_run_facts *f);
void sb_run_facts_done(struct sb_run_facts *f);
// Add what a result file says about the program, and about a run: the member
// `program` and an object of `runs`.
void sb_run_facts_add_program(struct sb_run_facts *f, json_t *program);
void sb_run_facts_add(struct sb_run_facts *f, json_t *run);
// The file and the version of the program, a text or NULL, where they are
// known.
void sb_run_facts_add_build(struct sb_run_facts *f, json_t *build);

// Returns the facts in which a and b differ: a new list of {"kind", "name",
// "a", "b"}, where a and b are lists of the different values, as text. NULL: no
// memory.
json_t *sb_run_facts_compare(
    const struct sb_run_facts *a, const struct sb_run_facts *b);
// Prints them, a line for each kind that differs.
void sb_differences_print(const json_t *list, FILE *out);

#endif
