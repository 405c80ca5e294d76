// SPDX-License-Identifier: GPL-2.0-or-later
//
// What was measured, as text: --report-context, with workload, seed, labels,
// host, and the databases with their settings; and the disclosure of how it was
// measured. Main thread.
#ifndef SB_CONTEXT_H
#define SB_CONTEXT_H

#include <jansson.h>
#include <stdio.h>

// Prints the context of a run: an object as result files have it
// (sb_json_facts()). Members that are missing or null are left out.
void sb_context_print(const json_t *run, FILE *out);
// Prints how the figures were measured, for a paper or a bug report: the
// command line, the program, the context with those settings of servers that
// are not defaults, scripts, data and checks. program: the member of the result
// file.
void sb_disclosure_print(const json_t *program, const json_t *run, FILE *out);

#endif
