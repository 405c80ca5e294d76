// SPDX-License-Identifier: GPL-2.0-or-later
//
// Result files: their parts as JSON values (Jansson), and the document. The
// format is described in docs/internals/results.md. Functions that return a
// value return a new reference, or NULL if out of memory. Main thread.
#ifndef SB_JSON_PARTS_H
#define SB_JSON_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "measure/search.h"
#include "measure/snap.h"
#include "out/beside_figures.h"
#include "out/json_value.h"
#include "out/reporter.h"

// Version of the format of result files.
#define SB_RESULT_VERSION 1

json_t *sb_json_program(const struct sb_facts *f);
// The servers of the run: an array.
json_t *sb_json_databases(const struct sb_facts *f);
// By how much the totals of the servers grew: an object.
json_t *sb_json_server_totals(const struct sb_facts *f);
// The plans of its operations: an array.
json_t *sb_json_plans(const struct sb_facts *f);
// What the sessions of the servers were waiting for: an array.
json_t *sb_json_waits(const struct sb_facts *f);
// What is known about a run before it starts: an object.
json_t *sb_json_facts(const struct sb_facts *f);
// The totals of a run: an object.
json_t *sb_json_totals(const struct sb_report *whole);
// The totals that the live view shows. Operations have no histograms, which can
// be megabytes.
json_t *sb_json_live_totals(const struct sb_report *whole);
// What the division of an open loop among n ranks costs: an object, or null if
// there is no such figure.
json_t *sb_json_division(const struct sb_rank_figures *f, unsigned n);
json_t *sb_json_outcome(const struct sb_outcome *o, double seconds);
// The limits of --assert with what was measured; an empty array for NULL.
json_t *sb_json_limits(const struct sb_asserts *limits);
json_t *sb_json_columns(const struct sb_series *s);
// The current row as an object for NDJSON: figures of the run as members,
// those of operations and other groups below their names.
json_t *sb_json_row(const struct sb_series *s);
// {"min": ..., "percentiles": {...}, "histogram": [...]} in nanoseconds.
json_t *sb_json_latency(const char *kind, const struct sb_hist_snap *h,
    uint64_t min, uint64_t sum, uint64_t max);

// The totals of each stage, an array.
json_t *sb__json_stages(const struct sb_report *whole);
// The name of an end of a search in result files; static.
const char *sb__json_search_end(enum sb_search_end end);

// The marks on the timeline of a run: what happened when.

// Further losses, reconnects and restarts are added to the last mark of their
// kind.
#define SB_MARKS_MAX 1000u

// Intervals one after the other in which something happened: one mark.
struct sb_mark_stretch {
    uint64_t n;
    double from, to; // ends of the first and the last interval, s
};

struct sb_marks {
    json_t *list; // of stretches that have ended
    struct sb_mark_stretch lost, reconnects, restarts;
};

// Notes what happened in an interval; {0} is the start of a run. 0 or
// SB_ENOMEM.
int sb_marks_interval(struct sb_marks *m, const struct sb_report *r);
void sb_marks_done(struct sb_marks *m); // {0} allowed

// Returns all marks by time. stages: those of the totals, or NULL. o: how the
// run ended, or NULL while it runs. seconds: its length.
json_t *sb_marks_json(const struct sb_marks *m, const json_t *stages,
    const struct sb_outcome *o, double seconds);

// Adds the start and the end of the command of --beside. list may be NULL.
// False if out of memory.
bool sb_marks_add_beside(json_t *list, const struct sb_beside_figures *f);

// The document: members and rows on lines of their own, for people and
// line-based tools. The caller checks the stream.

// The parts of a run. The references stay the caller's.
struct sb_document_run {
    json_t *facts;    // an object: all members but those below
    json_t *columns;  // of the rows; NULL: none
    uint64_t missing; // intervals without a row
    json_t *totals;   // an object; NULL: the run has none
    json_t *limits;   // NULL: none
    json_t *validity; // NULL: none
    json_t *costs;    // NULL: none
    json_t *until;    // NULL: none
    json_t *answers;  // an object: members of the run; NULL: none
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
