// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a script says of its run (measure/answers.h), and the headline of the
// run, as text and as members of result files. Main thread.
#ifndef SB_OUT_ANSWERS_H
#define SB_OUT_ANSWERS_H

#include <jansson.h>
#include <stdio.h>

#include "measure/answers.h"

// The main figure of a run: that of --headline, otherwise the result that a
// script calls its headline.
struct sb_headline {
    char figure[2 * SB_ANSWER_NAME]; // "failover.lost", "p99"; "": none
    double value;                    // NaN: unknown
    char unit[SB_ANSWER_UNIT];
    char why[SB_ANSWER_REASON]; // it is unknown; or ""
    enum sb_better better;
    bool chosen; // by --headline
};

// Whether there is nothing to print.
bool sb_answers_empty(const struct sb_answers *a, const struct sb_headline *h);
// Prints the block "Results:", the headline first, and the verdicts; nothing
// if there are none.
void sb_answers_text(
    const struct sb_answers *a, const struct sb_headline *h, FILE *out);

// Sets the members of a run that are not empty: "headline", "results",
// "verdicts". False if out of memory.
bool sb_answers_set(
    json_t *run, const struct sb_answers *a, const struct sb_headline *h);
// Reads them again. What this version would not write is left out. 0 or
// SB_ENOMEM. Call sb_answers_done() in either case.
int sb_answers_read(
    struct sb_answers *a, struct sb_headline *h, const json_t *run);

#endif
