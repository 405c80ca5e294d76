// SPDX-License-Identifier: GPL-2.0-or-later
//
// What scripts say of the run, and its headline: checked before the run, judged
// and printed when their last functions have returned.
#include <stdio.h>
#include <string.h>

#include "app/app.h"
#include "base/log.h"
#include "base/near.h"

// Names -----------------------------------------------------------------------

// Looks for a result among those that a workload declares.
struct look {
    const char *name;
    struct sb_near near;
    bool found;
};

static void look_at(void *arg, const char *name)
{
    struct look *look = arg;

    look->found = look->found || strcmp(name, look->name) == 0;
    sb_near_try(&look->near, name);
}

// Whether the script may report the result. A script of the user that declares
// none may report any.
static bool may_report(struct sb_script *s, struct look *look)
{
    if (!sb_script_results(s, look_at, look))
        return !sb_script_is_installed(s);
    return look->found;
}

// Whether a workload of the test has this name and may report the result; stop:
// the full stop in text, or NULL.
static bool is_known(const struct sb_app *a, const char *text, const char *stop,
    struct look *look)
{
    size_t before = stop ? (size_t)(stop - text) : 0;
    unsigned n = a->mix ? a->run.mix.n : 1;
    bool known = false;

    for (unsigned i = 0; i < n; i++) {
        struct sb_script *s = a->mix ? sb__app_mix_script(a, i) : a->script;
        const char *name = a->mix ? a->run.mix.part[i].name
                           : s    ? sb_script_name(s)
                                  : "";

        if (s && (!stop || (strlen(name) == before &&
                               memcmp(name, text, before) == 0)))
            known = may_report(s, look) || known;
    }
    return known;
}

static bool is_known_result(
    const struct sb_app *a, const char *name, struct look *look)
{
    const char *stop = strrchr(name, '.');

    *look = (struct look){ .name = stop ? stop + 1 : name };
    sb_near_init(&look->near, look->name);
    return is_known(a, name, stop, look);
}

#define FIGURE_MAX (3 * SB_ANSWER_NAME)

// Whether the figure can only be meant to be a declared result: "lag.max" and
// "replica.lag.max" are not measured if the workload has the result "lag_max".
// right: gets the name of the result; FIGURE_MAX bytes.
static bool is_misspelled(const struct sb_app *a, const struct sb_limit *l,
    const char *figure, char *right)
{
    struct look look;

    if (l->of != SB_ASSERT_RESULT && l->of != SB_ASSERT_OP &&
        (l->of != SB_ASSERT_LAG || sb_run_opts_open_loop(&a->run)))
        return false;
    snprintf(right, FIGURE_MAX, "%s", figure);
    char *stop = strrchr(right, '.');

    if (!stop)
        return false;
    *stop = '_';
    // A workload may have an operation "lag".
    if (l->of == SB_ASSERT_OP && !strchr(right, '.'))
        return false;
    is_known_result(a, right, &look);
    return look.found;
}

static int check_limits(const struct sb_app *a, const struct sb_asserts *limits,
    const char *option, struct sb_err *err)
{
    for (unsigned i = 0; i < limits->n; i++) {
        const struct sb_limit *l = &limits->limit[i];
        char figure[FIGURE_MAX], right[FIGURE_MAX];
        struct look look = { 0 };

        snprintf(figure, sizeof(figure), "%.*s",
            (int)strcspn(l->text, " \t\r\n<>=!"), l->text);
        bool misspelled = is_misspelled(a, l, figure, right);

        if (!misspelled &&
            (l->of != SB_ASSERT_RESULT || is_known_result(a, l->name, &look)))
            continue;
        const char *near = misspelled ? right : look.near.best;

        return sb_err_set(err, SB_EUSAGE,
            "%s: '%s' is neither a figure nor a result of the "
            "workload%s%s%s",
            option, SB_SHOWN(figure), near ? " (did you mean " : "",
            near ? near : "", near ? "?)" : "");
    }
    return 0;
}

int sb_app_answers_check(const struct sb_app *a, struct sb_err *err)
{
    int rc;

    if (!a->command || strcmp(a->command, "run") != 0)
        return 0; // for example, a config file has them
    rc = check_limits(a, &a->asserts, "--assert", err);
    return rc ? rc : check_limits(a, &a->headline_of, "--headline", err);
}

// The end ---------------------------------------------------------------------

static const char *test_name(const struct sb_app *a)
{
    return a->script ? sb_script_name(a->script) : "";
}

void sb__app_answers_judge(struct sb_app *a)
{
    sb_asserts_results(&a->asserts, &a->answers, test_name(a));
    sb_asserts_results(&a->headline_of, &a->answers, test_name(a));
    sb_asserts_headline(
        &a->headline_of, &a->answers, test_name(a), &a->headline);
}

void sb__app_answers_end(struct sb__listening *t)
{
    struct sb_app *a = t->a;

    sb__app_answers_judge(a);
    if (!a->asserts.done || sb__app_quiet(a))
        return; // there was no final report
    if (t->printed)
        sb_answers_text(&a->answers, &a->headline, stdout);
    if (sb_asserts_need_results(&a->asserts))
        sb_asserts_text(&a->asserts, stdout);
}

unsigned sb__app_answers_log(const struct sb_app *a)
{
    char name[2 * SB_ANSWER_NAME];

    for (unsigned i = 0; i < a->answers.nverdicts; i++) {
        const struct sb_own_verdict *v = &a->answers.verdict[i];

        if (v->passed == SB_PASSED_YES)
            continue;
        sb_answer_full_name(name, v->workload, v->name);
        sb_log(SB_LOG_USAGE, "%s %s: %s", name,
            v->passed == SB_PASSED_NO ? "not passed" : "unknown", v->text);
    }
    return sb_answers_failed(&a->answers);
}
