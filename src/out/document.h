// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes result documents: members and rows on lines of their own, for people
// and line-based tools. The format is described in docs/internals/results.md.
// Main thread. The caller checks the stream.
#ifndef SB_DOCUMENT_H
#define SB_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

// The parts of a run. The references stay the caller's.
struct sb_document_run {
    json_t *facts;    // an object: all members but those below
    json_t *columns;  // of the rows; NULL: none
    uint64_t missing; // intervals without a row
    json_t *totals;   // an object; NULL: the run has none
    json_t *limits;   // NULL: none
    json_t *marks;    // NULL: none
    json_t *end;
    // Write the rows of intervals and of histograms, one per line, with a comma
    // at the end of each line but the last. 0 or SB_E* with *err filled.
    int (*rows)(void *arg, FILE *out, struct sb_err *err);
    int (*heat)(void *arg, FILE *out, struct sb_err *err);
    void *arg;
};

// Writes the beginning of a document up to its first run.
void sb_document_begin(FILE *out, json_t *program);
// Writes a run. first: the first one of the document. SB_ENOMEM if facts,
// columns or end are NULL where they must not be; or the error of rows() or
// heat(). The document is complete all the same.
int sb_document_run(FILE *out, const struct sb_document_run *run, bool first,
    struct sb_err *err);
void sb_document_end(FILE *out);

#endif
