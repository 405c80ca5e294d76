// SPDX-License-Identifier: GPL-2.0-or-later
//
// --report-context: what was measured, as text: workload, seed, labels, host,
// and the databases with their settings. Main thread.
#ifndef SB_CONTEXT_H
#define SB_CONTEXT_H

#include <jansson.h>
#include <stdio.h>

// Prints the context of a run: an object as result files have it
// (sb_json_facts()). Members that are missing or null are left out.
void sb_context_print(const json_t *run, FILE *out);

#endif
