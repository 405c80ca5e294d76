// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/array.h"

static const char *const betters[] = { [SB_BETTER_UNKNOWN] = "",
    [SB_BETTER_LOWER] = "lower",
    [SB_BETTER_HIGHER] = "higher" };

void sb_answers_done(struct sb_answers *a)
{
    free(a->result);
    free(a->verdict);
    *a = (struct sb_answers){ 0 };
}

const char *sb_better_name(enum sb_better better)
{
    return betters[better];
}

enum sb_better sb_better_named(const char *name)
{
    for (int i = SB_BETTER_LOWER; i <= SB_BETTER_HIGHER; i++)
        if (strcmp(name, betters[i]) == 0)
            return (enum sb_better)i;
    return SB_BETTER_UNKNOWN;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool sb_answer_is_name(const char *name, size_t len)
{
    if (len == 0 || len >= SB_ANSWER_NAME || !is_letter(name[0]))
        return false;
    for (size_t i = 1; i < len; i++)
        if (!is_letter(name[i]) && name[i] != '_' &&
            !(name[i] >= '0' && name[i] <= '9'))
            return false;
    return true;
}

const char *sb_answer_stop(const char *text, size_t len)
{
    while (len > 0)
        if (text[--len] == '.')
            return text + len;
    return NULL;
}

// what: "result"
static int check_name(const char *what, const char *name, struct sb_err *err)
{
    if (sb_answer_is_name(name, strlen(name)))
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "'%.80s' cannot be the name of a %s: at most %d letters, digits and "
        "'_' are allowed, and a letter must come first",
        name, what, SB_ANSWER_NAME - 1);
}

static int check_room(const char *what, unsigned n, struct sb_err *err)
{
    return n < SB_ANSWERS_MAX
               ? 0
               : sb_err_set(err, SB_EUSAGE, "too many %ss; the maximum is %d",
                     what, SB_ANSWERS_MAX);
}

static int check_result(const struct sb_answers *a,
    const struct sb_own_result *r, struct sb_err *err)
{
    int rc = check_name("result", r->name, err);

    if (rc == 0)
        rc = check_room("result", a->nresults, err);
    if (rc)
        return rc;
    if (isinf(r->value))
        return sb_err_set(
            err, SB_EUSAGE, "the value of '%s' must be finite", r->name);
    if (isnan(r->value) && !*r->why)
        return sb_err_set(err, SB_EUSAGE,
            "the value of '%s' is unknown: give the reason, {why = \"...\"}",
            r->name);
    for (unsigned i = 0; i < a->nresults; i++) {
        const struct sb_own_result *other = &a->result[i];

        if (strcmp(other->workload, r->workload) != 0)
            continue;
        if (strcmp(other->name, r->name) == 0)
            return sb_err_set(
                err, SB_EUSAGE, "the result '%s' was already given", r->name);
        if (other->headline && r->headline)
            return sb_err_set(err, SB_EUSAGE,
                "the headline is already the result '%s'", other->name);
    }
    return 0;
}

static int no_memory(struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM, "out of memory");
}

int sb_answers_add_result(
    struct sb_answers *a, const struct sb_own_result *r, struct sb_err *err)
{
    struct sb_own_result *grown;
    int rc = check_result(a, r, err);

    if (rc)
        return rc;
    grown = sb_array_least(
        a->result, &a->nresults, a->nresults + 1, sizeof(*grown));
    if (!grown)
        return no_memory(err);
    a->result = grown;
    a->result[a->nresults - 1] = *r;
    return 0;
}

int sb_answers_add_verdict(
    struct sb_answers *a, const struct sb_own_verdict *v, struct sb_err *err)
{
    struct sb_own_verdict *grown;
    int rc = check_name("verdict", v->name, err);

    if (rc == 0)
        rc = check_room("verdict", a->nverdicts, err);
    if (rc)
        return rc;
    for (unsigned i = 0; i < a->nverdicts; i++)
        if (strcmp(a->verdict[i].workload, v->workload) == 0 &&
            strcmp(a->verdict[i].name, v->name) == 0)
            return sb_err_set(
                err, SB_EUSAGE, "the verdict '%s' was already given", v->name);
    grown = sb_array_least(
        a->verdict, &a->nverdicts, a->nverdicts + 1, sizeof(*grown));
    if (!grown)
        return no_memory(err);
    a->verdict = grown;
    a->verdict[a->nverdicts - 1] = *v;
    return 0;
}

static bool is(const char *text, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(text, name, len) == 0;
}

const struct sb_own_result *sb_answers_find(const struct sb_answers *a,
    const char *test, const char *text, size_t len, bool *several)
{
    const char *stop = sb_answer_stop(text, len);
    size_t before = stop ? (size_t)(stop - text) : 0;
    size_t skip = stop ? before + 1 : 0;
    const struct sb_own_result *found = NULL;

    *several = false;
    for (unsigned i = 0; i < a->nresults; i++) {
        const struct sb_own_result *r = &a->result[i];

        if (!is(text + skip, len - skip, r->name) ||
            (stop && !is(text, before, *r->workload ? r->workload : test)))
            continue;
        *several = found != NULL;
        if (found)
            return NULL;
        found = r;
    }
    return found;
}

const struct sb_own_result *sb_answers_headline(const struct sb_answers *a)
{
    const struct sb_own_result *found = NULL;

    for (unsigned i = 0; i < a->nresults; i++) {
        if (!a->result[i].headline)
            continue;
        if (found)
            return NULL;
        found = &a->result[i];
    }
    return found;
}

unsigned sb_answers_failed(const struct sb_answers *a)
{
    unsigned failed = 0;

    for (unsigned i = 0; i < a->nverdicts; i++)
        failed += a->verdict[i].passed != SB_PASSED_YES;
    return failed;
}

const char *sb_answer_full_name(
    char *out, const char *workload, const char *name)
{
    snprintf(out, 2 * SB_ANSWER_NAME, "%.64s%s%.64s", workload,
        *workload ? "." : "", name);
    return out;
}
