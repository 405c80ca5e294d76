// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the files that make the parts of result files. Functions that
// return a value return a new reference, or NULL if out of memory.
#ifndef SB_JSON_PRIVATE_H
#define SB_JSON_PRIVATE_H

#include "out/json_parts.h"

// json_value.c. Set a member or append to an array, which may be NULL; false if
// out of memory. Take the reference. text: NULL becomes null.
bool sb__json_set(json_t *object, const char *name, json_t *value);
bool sb__json_set_text(json_t *object, const char *name, const char *text);
bool sb__json_set_count(json_t *object, const char *name, uint64_t n);
bool sb__json_append(json_t *array, json_t *value);
// Returns the value if everything in it was set, and otherwise frees it.
json_t *sb__json_complete(json_t *value, bool ok);

// json_latency.c. What the latencies of events are in this report: "response"
// or "service".
const char *sb__json_latency_kind(const struct sb_report *r);
// The counters of a run or a stage: an object.
json_t *sb__json_counters(const struct sb_report *r);
// As sb_json_latency(), without the histogram.
json_t *sb__json_latency_figures(const char *kind, const struct sb_hist_snap *h,
    uint64_t min, uint64_t sum, uint64_t max);
// Triples of lowest value, highest value and count.
json_t *sb__json_histogram(const struct sb_hist_snap *h);

// json_stages.c: the totals of each stage, an array.
json_t *sb__json_stages(const struct sb_report *whole);
// json_ranks.c: sets the members of o that tell what the ranks did. False: out
// of memory.
bool sb__json_set_ranks(json_t *o, const struct sb_report *whole);
// How the run found its rate: the member "search".
json_t *sb__json_search(const struct sb_rate_search *f);

#endif
