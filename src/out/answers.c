// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/answers.h"

#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "out/json_value.h"

static const char *const passed_texts[] = { [SB_PASSED_NO] = "not passed",
    [SB_PASSED_YES] = "passed",
    [SB_PASSED_UNKNOWN] = "unknown" };

bool sb_answers_empty(const struct sb_answers *a, const struct sb_headline *h)
{
    return a->nresults == 0 && a->nverdicts == 0 && !*h->figure;
}

// Text ------------------------------------------------------------------------

static void print_row(const char *name, double value, const char *unit,
    const char *why, const char *note, FILE *out)
{
    char number[32];

    if (isnan(value))
        fprintf(out, "    %-32s %14s", name, "unknown");
    else
        fprintf(out, "    %-32s %14s%s%s", name,
            sb_number_text(number, sizeof(number), value), *unit ? " " : "",
            unit);
    if (*why || *note)
        fprintf(out, " (%s%s%s)", why, *why && *note ? "; " : "", note);
    fputc('\n', out);
}

static void print_results(
    const struct sb_answers *a, const struct sb_headline *h, FILE *out)
{
    char name[2 * SB_ANSWER_NAME];

    for (unsigned i = 0; i < a->nresults; i++) {
        const struct sb_own_result *r = &a->result[i];

        sb_answer_full_name(name, r->workload, r->name);
        if (strcmp(name, h->figure) != 0)
            print_row(name, r->value, r->unit, r->why, "", out);
    }
}

static void print_verdicts(const struct sb_answers *a, FILE *out)
{
    char name[2 * SB_ANSWER_NAME];

    for (unsigned i = 0; i < a->nverdicts; i++) {
        const struct sb_own_verdict *v = &a->verdict[i];

        fprintf(out, "    %s: %s: %s\n",
            sb_answer_full_name(name, v->workload, v->name),
            passed_texts[v->passed], v->text);
    }
}

void sb_answers_text(
    const struct sb_answers *a, const struct sb_headline *h, FILE *out)
{
    if (sb_answers_empty(a, h))
        return;
    fprintf(out, "Results:\n");
    if (*h->figure)
        print_row(h->figure, h->value, h->unit, h->why, "headline", out);
    print_results(a, h, out);
    print_verdicts(a, out);
    fputc('\n', out);
}

// JSON ------------------------------------------------------------------------

// The members that results and the headline have in common.
static bool set_value(json_t *o, double value, const char *unit,
    enum sb_better better, const char *why)
{
    return sb__json_set(o, "value", sb_json_number(value)) &&
           sb__json_set_text(o, "unit", unit) &&
           sb__json_set(o, "better",
               better == SB_BETTER_UNKNOWN
                   ? json_null()
                   : sb_json_text(sb_better_name(better))) &&
           (!*why || sb__json_set_text(o, "why", why));
}

static json_t *result_json(const struct sb_own_result *r)
{
    json_t *o = json_object();
    bool ok = (!*r->workload ||
                  sb__json_set_text(o, "workload", r->workload)) &&
              sb__json_set_text(o, "name", r->name) &&
              set_value(o, r->value, r->unit, r->better, r->why) &&
              (!r->headline || sb__json_set(o, "headline", json_true()));

    return sb__json_complete(o, ok);
}

static json_t *verdict_json(const struct sb_own_verdict *v)
{
    json_t *o = json_object();
    bool ok = (!*v->workload ||
                  sb__json_set_text(o, "workload", v->workload)) &&
              sb__json_set_text(o, "name", v->name) &&
              sb__json_set(o, "passed",
                  v->passed == SB_PASSED_UNKNOWN
                      ? json_null()
                      : json_boolean(v->passed == SB_PASSED_YES)) &&
              sb__json_set_text(o, "text", v->text);

    return sb__json_complete(o, ok);
}

static json_t *headline_json(const struct sb_headline *h)
{
    json_t *o = json_object();
    bool ok = sb__json_set_text(o, "figure", h->figure) &&
              set_value(o, h->value, h->unit, h->better, h->why) &&
              sb__json_set(o, "chosen", json_boolean(h->chosen));

    return sb__json_complete(o, ok);
}

bool sb_answers_set(
    json_t *run, const struct sb_answers *a, const struct sb_headline *h)
{
    json_t *results = json_array(), *verdicts = json_array();
    bool ok = results && verdicts;

    if (*h->figure)
        ok = sb__json_set(run, "headline", headline_json(h)) && ok;
    for (unsigned i = 0; ok && i < a->nresults; i++)
        ok = sb__json_append(results, result_json(&a->result[i]));
    for (unsigned i = 0; ok && i < a->nverdicts; i++)
        ok = sb__json_append(verdicts, verdict_json(&a->verdict[i]));
    if (ok && a->nresults)
        ok = json_object_set(run, "results", results) == 0;
    if (ok && a->nverdicts)
        ok = json_object_set(run, "verdicts", verdicts) == 0;
    json_decref(results);
    json_decref(verdicts);
    return ok;
}

// A file may contain anything, and the texts are printed.
static void take_text(char *out, size_t size, const json_t *o, const char *name)
{
    sb_escape_line(out, size, sb__json_text_of(o, name));
}

static int read_result(struct sb_answers *a, const json_t *o)
{
    struct sb_own_result r = { .value = sb__json_number_of(o, "value"),
        .better = sb_better_named(sb__json_text_of(o, "better")),
        .headline = json_is_true(json_object_get(o, "headline")) };
    struct sb_err err = { 0 };

    take_text(r.workload, sizeof(r.workload), o, "workload");
    take_text(r.name, sizeof(r.name), o, "name");
    take_text(r.unit, sizeof(r.unit), o, "unit");
    take_text(r.why, sizeof(r.why), o, "why");
    return sb_answers_add_result(a, &r, &err) == SB_ENOMEM ? SB_ENOMEM : 0;
}

static int read_verdict(struct sb_answers *a, const json_t *o)
{
    const json_t *passed = json_object_get(o, "passed");
    struct sb_own_verdict v = { .passed = json_is_true(passed) ? SB_PASSED_YES
                                          : json_is_false(passed)
                                              ? SB_PASSED_NO
                                              : SB_PASSED_UNKNOWN };
    struct sb_err err = { 0 };

    take_text(v.workload, sizeof(v.workload), o, "workload");
    take_text(v.name, sizeof(v.name), o, "name");
    take_text(v.text, sizeof(v.text), o, "text");
    return sb_answers_add_verdict(a, &v, &err) == SB_ENOMEM ? SB_ENOMEM : 0;
}

int sb_answers_read(
    struct sb_answers *a, struct sb_headline *h, const json_t *run)
{
    const json_t *results = json_object_get(run, "results");
    const json_t *verdicts = json_object_get(run, "verdicts");
    const json_t *o = json_object_get(run, "headline");
    int rc = 0;

    *a = (struct sb_answers){ 0 };
    *h = (struct sb_headline){ .value = sb__json_number_of(o, "value"),
        .better = sb_better_named(sb__json_text_of(o, "better")),
        .chosen = json_is_true(json_object_get(o, "chosen")) };
    take_text(h->figure, sizeof(h->figure), o, "figure");
    take_text(h->unit, sizeof(h->unit), o, "unit");
    take_text(h->why, sizeof(h->why), o, "why");
    for (size_t i = 0; rc == 0 && i < json_array_size(results); i++)
        rc = read_result(a, json_array_get(results, i));
    for (size_t i = 0; rc == 0 && i < json_array_size(verdicts); i++)
        rc = read_verdict(a, json_array_get(verdicts, i));
    return rc;
}
