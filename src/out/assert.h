// SPDX-License-Identifier: GPL-2.0-or-later
//
// Limits for the figures of a run: --assert='p99<10ms, tps>1000, failed==0'.
// A list of limits is parsed before the run, checked against reports, and
// printed after it. Main thread.
#ifndef SB_ASSERT_H
#define SB_ASSERT_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "kit/buf.h"
#include "measure/answers.h"
#include "measure/snap.h"
#include "out/answers.h"
#include "out/costs.h"
#include "out/validity.h"

// The figures: name as typed, what it is measured in, what it can be taken of.
enum sb_assert_unit {
    SB_ASSERT_MS,
    SB_ASSERT_PER_S,
    SB_ASSERT_COUNT,
    SB_ASSERT_PERCENT,
    SB_ASSERT_STATE, // enum sb_validity_state
    SB_ASSERT_COST,  // sb_cost_unit()
    SB_ASSERT_OWN,   // the unit that a script gave to its result
};

struct sb_assert_figure; // assert.c
struct sb_beside_figures;

// What a limit is about.
enum sb_assert_of {
    SB_ASSERT_EVENTS,   // all events: latency as in the report
    SB_ASSERT_SERVICE,  // service times of events
    SB_ASSERT_RESPONSE, // response times of events; only with --rate
    SB_ASSERT_LAG,      // only with --rate
    SB_ASSERT_DELAY,    // client delay of answers; only if users share workers
    SB_ASSERT_OP,       // an operation, a kind of operations, or a workload
    SB_ASSERT_VALIDITY, // the checks of the run's figures
    SB_ASSERT_COSTS,    // what an event costs the server
    SB_ASSERT_RESULT,   // a result of the script
    SB_ASSERT_BESIDE,   // events during the command of --beside, or its time
};

// The names of a run that limits may contain, as far as they are known before
// it. The parser does not keep them.
struct sb_assert_names {
    const char *const *stage; // of --stages, nstages in order
    const char *const *part;  // the workloads of a mix, nparts
    unsigned nstages, nparts;
    bool beside; // a command is executed beside the run
    bool alone;  // and before it
    bool price;  // the price of the server is given
};

// What is known of a finished run beside its report; NULL: not found out.
struct sb_assert_facts {
    const struct sb_validity *validity;
    const struct sb_costs *costs;
    const struct sb_beside_figures *beside;
};

enum sb_assert_cmp {
    SB_ASSERT_LT,
    SB_ASSERT_LE,
    SB_ASSERT_GT,
    SB_ASSERT_GE,
    SB_ASSERT_EQ,
    SB_ASSERT_NE,
};

// A figure of a report, compared with a limit.
struct sb_verdict {
    bool known;   // the figure has a value
    bool passed;  // false if it has none
    double value; // in the unit of the limit: ms, per second, %, a state
    char
        why[200]; // if it has none: why, one sentence without a final full stop
};

struct sb_limit {
    char *text;     // as typed, without spaces at both ends
    char *name;     // of the operation, workload or result, or NULL
    char near[64];  // the stage with the most similar name, or ""
    unsigned stage; // the figures are those of this stage, from 1; 0: of all
    enum sb_assert_of of;
    enum sb_check_id check; // of SB_ASSERT_VALIDITY; SB_CHECKS: all
    enum sb_cost_id cost;   // of SB_ASSERT_COSTS; SB_COSTS: USD
    unsigned phase;         // of SB_ASSERT_BESIDE: SB_BESIDE_DURING, ...
    bool ratio;             // and to the figure without the command
    const struct sb_assert_figure *figure;
    double pct; // of a percentile
    enum sb_assert_cmp cmp;
    double value; // in the unit of the figure; of a result, see given
    // The unit of the limit of a result: "": that of the result; "ms", "%".
    const char *given;
    char unit[SB_ANSWER_UNIT]; // of a result, when it is known
    bool abort;                // end the run when the limit is exceeded
    double after;              // seconds that it must be exceeded for
    // State of a run:
    double since; // start of the intervals in which it is exceeded, or < 0
    double sum;   // of a count, over the intervals so far
    struct sb_verdict verdict; // at the end of the run
};

struct sb_asserts {
    struct sb_limit *limit; // n entries
    unsigned n;
    bool looked;               // sb_asserts_look() was called
    bool done;                 // the verdicts are those of a finished run
    const struct sb_limit *by; // the limit that ended the run, or NULL
    char why[320];             // why it did: one sentence
};

#define SB_ASSERTS_MAX 256

// Parses a list of limits; "" has none. names: NULL if they are unknown: any
// name is then accepted, as that of an operation. SB_EUSAGE names the limit,
// the position in the list, and what was expected there. SB_ENOMEM. On an
// error, *a is empty.
int sb_asserts_init(struct sb_asserts *a, const char *text,
    const struct sb_assert_names *names, struct sb_err *err);
// The same for --rate-limit: only maximums ("<", "<=", "==0"), no rates, and
// nothing ends the run.
int sb_asserts_init_search(struct sb_asserts *a, const char *text,
    const struct sb_assert_names *names, struct sb_err *err);
void sb_asserts_done(struct sb_asserts *a); // {0} allowed

// True if a limit may end the run, and if one of these is about an operation,
// which requires reports with operations.
bool sb_asserts_abort(const struct sb_asserts *a);
bool sb_asserts_need_operations(const struct sb_asserts *a);
// True if a limit is about an operation.
bool sb_asserts_of_operations(const struct sb_asserts *a);
// Calls warn() with a sentence for each limit of an operation that does not
// exist at this time, if another one or a stage has a similar name. r: any
// interval. Does nothing the second time.
void sb_asserts_look(struct sb_asserts *a, const struct sb_report *r,
    void (*warn)(const char *text));
// True if a limit is about the checks of the run's figures.
bool sb_asserts_need_validity(const struct sb_asserts *a);
// True if a limit is about what events cost the server.
bool sb_asserts_need_costs(const struct sb_asserts *a);
// True if a limit is about a result of the script.
bool sb_asserts_need_results(const struct sb_asserts *a);

// Whether a name may be that of a result: it is not the name of a figure.
bool sb_assert_is_result(const char *name);

// Parses --headline, a figure without a limit, as a list with one limit whose
// verdict gets the value of the figure; "" has none. Errors as above.
int sb_asserts_init_headline(struct sb_asserts *a, const char *text,
    const struct sb_assert_names *names, struct sb_err *err);
// Fills *h from a list of the function above after sb_asserts_results(), or, if
// the list is empty, with the headline of the script.
void sb_asserts_headline(const struct sb_asserts *a,
    const struct sb_answers *answers, const char *test, struct sb_headline *h);

// Compares the figure of a limit with it, at the end of a run or of a trial. A
// limit of checks, costs or the command beside the run has no value here.
void sb_assert_check(
    const struct sb_limit *l, const struct sb_report *r, struct sb_verdict *v);
// Checks the limits that may end the run. r: an interval; those of a warm-up
// are ignored, and for a limit of a stage those of others. Returns true if the
// run must end: a->by and a->why are then set. Counts are added up over the
// intervals.
bool sb_asserts_interval(struct sb_asserts *a, const struct sb_report *r);
// Checks all limits against the report of the whole run. A limit that has ended
// the run fails, whatever the final figure is.
void sb_asserts_final(struct sb_asserts *a, const struct sb_report *whole,
    const struct sb_assert_facts *facts);
// Checks the limits on results, when the script has reported them. After
// sb_asserts_final(). test: the name of the workload without a mix.
void sb_asserts_results(
    struct sb_asserts *a, const struct sb_answers *answers, const char *test);
// The number of limits that failed; all, if there was no final report.
unsigned sb_asserts_failed(const struct sb_asserts *a);

// "ms", "/s", "%", "x" (a ratio), "us" ..., or "" for a count or a state.
const char *sb_assert_unit(const struct sb_limit *l);
// Whether values are states of checks (enum sb_validity_state).
bool sb_assert_is_state(const struct sb_limit *l);
// Writes the measured value with its unit: "12.41 ms", "doubtful", "no value".
// Returns out.
const char *sb_assert_value(const struct sb_limit *l, char *out, size_t size);
// Prints the table "Limits:". Prints nothing without limits.
void sb_asserts_text(const struct sb_asserts *a, FILE *out);

// junit.c: the limits as JUnit XML, which CI servers such as Jenkins and GitLab
// read: a test suite with the run as its first test case, and one for each
// limit.

struct sb_junit_run {
    const char *test;        // "oltp_read_write"
    const char *host;        // name of the machine, "" if unknown
    struct timespec started; // on the wall clock
    double seconds;          // length of the run
    const char *reason;      // how it ended, as in result files
    const char *failure;     // why it failed, or NULL
};

// Writes the document. limits and answers may be NULL. A failed run is an error
// of its test case, an exceeded limit is a failure with the measured value, and
// so is a verdict that is not true. 0, or
// SB_ENOMEM. Call it with an empty buffer.
int sb_junit_write(struct sb_buf *out, const struct sb_junit_run *run,
    const struct sb_asserts *limits, const struct sb_answers *answers);

// Appends text as it may be in an attribute or an element. Characters that XML
// 1.0 does not allow, and bytes that are not UTF-8, become U+FFFD.
void sb_junit_escape(struct sb_buf *out, const char *text);

#endif
