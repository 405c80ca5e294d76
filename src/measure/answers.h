// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a script says of its run: results, which are figures of its own, and
// verdicts. Main thread.
#ifndef SB_ANSWERS_H
#define SB_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define SB_ANSWERS_MAX   100 // results, and verdicts, of a run
#define SB_ANSWER_NAME   65  // sizes with the null byte
#define SB_ANSWER_UNIT   33
#define SB_ANSWER_REASON 501

// Which of two values is better.
enum sb_better { SB_BETTER_UNKNOWN, SB_BETTER_LOWER, SB_BETTER_HIGHER };

struct sb_own_result {
    char workload[SB_ANSWER_NAME]; // of a mix; otherwise ""
    char name[SB_ANSWER_NAME];
    double value; // NaN: unknown
    char unit[SB_ANSWER_UNIT];
    char why[SB_ANSWER_REASON]; // it is unknown; or ""
    enum sb_better better;
    bool headline; // the script says that it is the main result
};

// Whether the script is content with the run.
enum sb_passed { SB_PASSED_NO, SB_PASSED_YES, SB_PASSED_UNKNOWN };

struct sb_own_verdict {
    char workload[SB_ANSWER_NAME], name[SB_ANSWER_NAME];
    enum sb_passed passed;
    char text[SB_ANSWER_REASON];
};

struct sb_answers {
    struct sb_own_result *result; // in the order in which they were added
    struct sb_own_verdict *verdict;
    unsigned nresults, nverdicts;
};

void sb_answers_done(struct sb_answers *a); // {0} allowed

// "lower", "higher", or "" if it is unknown.
const char *sb_better_name(enum sb_better better);
// The reverse. SB_BETTER_UNKNOWN for any other text.
enum sb_better sb_better_named(const char *name);

// Whether len bytes are a name: letters, digits and '_', a letter first, at
// most 64.
bool sb_answer_is_name(const char *name, size_t len);

// The full stop in len bytes of text after which the name of a result begins:
// "failover.lost". NULL if the text has none.
const char *sb_answer_stop(const char *text, size_t len);

// Adds a copy. SB_EUSAGE says what is wrong: the name, a second result or
// verdict of this name, a second headline of this workload, a value that is
// infinite, an unknown value without a reason, or too many. SB_ENOMEM.
int sb_answers_add_result(
    struct sb_answers *a, const struct sb_own_result *r, struct sb_err *err);
int sb_answers_add_verdict(
    struct sb_answers *a, const struct sb_own_verdict *v, struct sb_err *err);

// Finds the result that len bytes of text name: "lost", or "failover.lost" with
// the name of the workload; test: that of a run without a mix. NULL: there is
// none; *several then says whether more than one workload has such a result.
const struct sb_own_result *sb_answers_find(const struct sb_answers *a,
    const char *test, const char *text, size_t len, bool *several);
// The result that a script calls its headline, if there is exactly one; or
// NULL.
const struct sb_own_result *sb_answers_headline(const struct sb_answers *a);
// The number of verdicts that are not true.
unsigned sb_answers_failed(const struct sb_answers *a);

// The name with that of its workload: "failover.lost". out: 2 * SB_ANSWER_NAME
// bytes. Returns out.
const char *sb_answer_full_name(
    char *out, const char *workload, const char *name);

#endif
