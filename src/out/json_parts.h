// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parts of a result file as JSON values (Jansson). The format is described
// in docs/internals/results.md. All functions return a new reference, or NULL
// if out of memory. Main thread.
#ifndef SB_JSON_PARTS_H
#define SB_JSON_PARTS_H

#include <jansson.h>

#include "measure/search.h"
#include "out/json_value.h"
#include "out/reporter.h"

// Version of the format of result files.
#define SB_RESULT_VERSION 1

json_t *sb_json_program(const struct sb_facts *f);
// The servers of the run: an array.
json_t *sb_json_databases(const struct sb_facts *f);
// By how much the totals of the servers grew: an object.
json_t *sb_json_server_totals(const struct sb_facts *f);
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

#endif
