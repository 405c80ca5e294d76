// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether the figures of a run may be believed: the outcomes of the checks that
// docs/validity.md describes, as text and as part of result files. Main thread.
#ifndef SB_VALIDITY_H
#define SB_VALIDITY_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "measure/until.h"

// In the order of reports. validity.c has the names.
enum sb_check_id {
    SB_CHECK_STEADY,
    SB_CHECK_CACHED,
    SB_CHECK_DEBT,
    SB_CHECK_DURABLE,
    SB_CHECK_STATISTICS,
    SB_CHECK_PLANS,
    SB_CHECK_MACHINE,
    SB_CHECK_NETWORK,
    SB_CHECK_CLIENT,
    SB_CHECK_SAMPLES,
    SB_CHECK_CENSORED,
    SB_CHECK_SKEW,
    SB_CHECK_MISSES,
    SB_CHECK_ERRORS,
    SB_CHECKS
};

// From OK to BAD, each state is worse than the one before it. The last two say
// nothing about the figures.
enum sb_validity_state {
    SB_VALIDITY_OK,
    SB_VALIDITY_DOUBTFUL,
    SB_VALIDITY_BAD,
    SB_VALIDITY_UNKNOWN,        // the check could not be made
    SB_VALIDITY_NOT_APPLICABLE, // there is nothing to check: "n/a"
    SB_VALIDITY_STATES
};

struct sb_check {
    bool made; // false: the rest is not set
    enum sb_validity_state state;
    double value;     // in `unit`; NaN: none
    const char *unit; // "%", "s" ... or "": a constant, or of the document
    bool told;        // a warning of its own has named it
    // Sentences without the final full stop: what the outcome means for the
    // figures, or why it is unknown or n/a; and what to do, "" for nothing.
    char meaning[480];
    char advice[200];
};

// A percentile of the report, in ms.
struct sb_percentile {
    double pct, value;
    double low, high; // its 95 % confidence interval; NaN: unknown
    double beyond;    // number of events that took longer
    bool is_bound;    // a lower bound: events whose times are unknown may have
                      // taken longer
};

#define SB_VALIDITY_PERCENTILES 32

struct sb_validity { // {0}: no check was made
    struct sb_check check[SB_CHECKS];
    struct sb_percentile percentile[SB_VALIDITY_PERCENTILES]; // falling
    unsigned npercentiles;
};

// "steady"
const char *sb_check_name(enum sb_check_id id);
// The check of this name, of which len bytes count; SB_CHECKS: no check has it.
enum sb_check_id sb_check_named(const char *name, size_t len);

// "ok", "doubtful", "bad", "unknown", "n/a".
const char *sb_validity_name(enum sb_validity_state state);
// The state of a name; SB_VALIDITY_STATES: no state has it.
enum sb_validity_state sb_validity_named(const char *name);

// Makes a check, in this state, without a value, meaning and advice.
struct sb_check *sb_validity_make(
    struct sb_validity *v, enum sb_check_id id, enum sb_validity_state state);
// Appends a finding to its meaning. The worst finding gives the check its state
// and advice.
__attribute__((format(printf, 4, 5))) void sb_check_find(struct sb_check *c,
    enum sb_validity_state state, const char *advice, const char *format, ...);
// Sets the value, or keeps the one that it has, if that is lower: of several
// servers.
void sb_check_keep_lowest(struct sb_check *c, double value, const char *unit);
// OK, DOUBTFUL or BAD.
enum sb_validity_state sb_check_grade(
    double percent, double doubtful, double bad);
// 0 of 0 is 0 %. NaN: unknown.
double sb_check_percent(double part, double all);

// The share of the events whose times are unknown, in percent: percentiles
// above 100 less this share are lower bounds. 0 also if it was not checked.
double sb_validity_censored(const struct sb_validity *v);

// The worst of the states that say something about the figures; OK if no check
// has such a state.
enum sb_validity_state sb_validity_worst(const struct sb_validity *v);
// The number of checks in such a state.
unsigned sb_validity_known(const struct sb_validity *v);

// Adds the checks of run `number` of several that are one together: each check
// has the worst of their states, and says of which run it is. Percentiles are
// not those of the sum, and are left out.
void sb_validity_add(
    struct sb_validity *to, const struct sb_validity *run, unsigned number);

// Prints all checks that were made.
void sb_validity_text(const struct sb_validity *v, FILE *out);
// Writes a line about the checks that are doubtful or bad and were not told:
// "steady is bad: ...; samples is doubtful: ...". Returns false if no check is.
bool sb_validity_line(const struct sb_validity *v, char *out, size_t size);

// Returns a new reference, or NULL if out of memory.
json_t *sb_validity_json(const struct sb_validity *v);
// Reads it again. Checks that this version does not know are left out.
void sb_validity_read(struct sb_validity *v, const json_t *json);

// How exactly the figures of --until are known at the end of a run, as text and
// as JSON. seconds: the length of the run.
void sb_until_print(const struct sb_until *u, double seconds, FILE *out);
json_t *sb_until_json(const struct sb_until *u);

#endif
