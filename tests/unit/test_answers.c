// SPDX-License-Identifier: GPL-2.0-or-later
// Not with tsan: one thread.
#include "measure/answers.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "out/answers.h"

static struct sb_answers a;

static struct sb_own_result result_of(
    const char *workload, const char *name, double value)
{
    struct sb_own_result r = { .value = value };

    snprintf(r.workload, sizeof(r.workload), "%s", workload);
    snprintf(r.name, sizeof(r.name), "%s", name);
    return r;
}

static int add(const char *workload, const char *name, double value, bool head)
{
    struct sb_own_result r = result_of(workload, name, value);
    struct sb_err err = { 0 };

    r.headline = head;
    return sb_answers_add_result(&a, &r, &err);
}

static double found(const char *test, const char *text)
{
    bool several;
    const struct sb_own_result *r = sb_answers_find(
        &a, test, text, strlen(text), &several);

    return r ? r->value : several ? -2 : -1;
}

static void names_are_found(void)
{
    CHECK_INT(add("shop", "lost", 1, false), 0);
    CHECK_INT(add("bank", "lost", 2, false), 0);
    CHECK_INT(add("bank", "kept", 3, false), 0);
    CHECK_NEAR(found("", "shop.lost"), 1, 0);
    CHECK_NEAR(found("", "bank.lost"), 2, 0);
    CHECK_NEAR(found("", "kept"), 3, 0);
    CHECK_NEAR(found("", "lost"), -2, 0);
    CHECK_NEAR(found("", "shop.kept"), -1, 0);
    CHECK_NEAR(found("", "kep"), -1, 0);
    CHECK_NEAR(found("", "ban.kept"), -1, 0);
    sb_answers_done(&a);
    // Without a mix, the name of the test may come first, also with a full
    // stop in it.
    CHECK_INT(add("", "lost", 1, false), 0);
    CHECK_NEAR(found("my.test", "my.test.lost"), 1, 0);
    CHECK_NEAR(found("my.test", "lost"), 1, 0);
    CHECK_NEAR(found("my.test", "test.lost"), -1, 0);
    sb_answers_done(&a);
}

static void a_headline_is_the_only_one(void)
{
    CHECK(!sb_answers_headline(&a));
    CHECK_INT(add("shop", "lost", 1, true), 0);
    CHECK_STR(sb_answers_headline(&a)->name, "lost");
    CHECK_INT(add("shop", "kept", 1, true), SB_EUSAGE);
    CHECK_INT(add("bank", "lost", 1, true), 0);
    CHECK(!sb_answers_headline(&a));
    CHECK_INT(a.nresults, 2);
    sb_answers_done(&a);
}

static void bad_results_are_refused(void)
{
    CHECK_INT(add("", "lost", INFINITY, false), SB_EUSAGE);
    CHECK_INT(add("", "lost", NAN, false), SB_EUSAGE); // no reason
    CHECK_INT(add("", "_lost", 1, false), SB_EUSAGE);
    CHECK_INT(add("", "lo-st", 1, false), SB_EUSAGE);
    CHECK_INT(add("", "", 1, false), SB_EUSAGE);
    CHECK_INT(a.nresults, 0);
    CHECK_INT(add("", "l0_S", 1, false), 0);
    CHECK_INT(add("", "l0_S", 1, false), SB_EUSAGE);
    sb_answers_done(&a);
}

static void add_verdict(enum sb_passed passed, const char *name)
{
    struct sb_own_verdict v = { .passed = passed, .text = "why" };
    struct sb_err err = { 0 };

    snprintf(v.name, sizeof(v.name), "%s", name);
    CHECK_INT(sb_answers_add_verdict(&a, &v, &err), 0);
    CHECK_INT(sb_answers_add_verdict(&a, &v, &err), SB_EUSAGE);
}

static char *printed(
    const struct sb_answers *answers, const struct sb_headline *h)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    sb_answers_text(answers, h, out);
    fclose(out);
    return text;
}

// What is read again from a result file prints the same.
static void files_keep_everything(void)
{
    struct sb_own_result r = result_of("shop", "lost", 3);
    struct sb_headline h = { .figure = "shop.lost",
        .value = 3,
        .unit = "writes",
        .better = SB_BETTER_LOWER },
                       again;
    struct sb_answers b;
    struct sb_err err = { 0 };
    json_t *run = json_object();

    snprintf(r.unit, sizeof(r.unit), "writes");
    r.better = SB_BETTER_LOWER;
    r.headline = true;
    CHECK_INT(sb_answers_add_result(&a, &r, &err), 0);
    r = result_of("shop", "late", NAN);
    snprintf(r.why, sizeof(r.why), "not asked");
    CHECK_INT(sb_answers_add_result(&a, &r, &err), 0);
    add_verdict(SB_PASSED_NO, "a");
    add_verdict(SB_PASSED_YES, "b");
    add_verdict(SB_PASSED_UNKNOWN, "c");
    CHECK_INT(sb_answers_failed(&a), 2);
    CHECK(sb_answers_set(run, &a, &h));
    CHECK_INT(sb_answers_read(&b, &again, run), 0);
    CHECK_INT(b.result[0].better, SB_BETTER_LOWER);
    CHECK(b.result[0].headline && !b.result[1].headline);
    CHECK(isnan(b.result[1].value));
    CHECK_INT(again.better, SB_BETTER_LOWER);
    CHECK(!again.chosen);
    char *first = printed(&a, &h), *second = printed(&b, &again);

    CHECK_STR(second, first);
    CHECK_STR(first,
        "Results:\n"
        "    shop.lost                                     3 writes "
        "(headline)\n"
        "    shop.late                               unknown (not asked)\n"
        "    a: not passed: why\n"
        "    b: passed: why\n"
        "    c: unknown: why\n\n");
    free(first);
    free(second);
    json_decref(run);
    sb_answers_done(&b);
    sb_answers_done(&a);
}

static void without_answers_nothing_is_written(void)
{
    struct sb_headline h = { 0 };
    json_t *run = json_object();
    char *text = printed(&a, &h);

    CHECK_STR(text, "");
    CHECK(sb_answers_set(run, &a, &h));
    CHECK_INT(json_object_size(run), 0);
    json_decref(run);
    free(text);
}

CHECK_FILE
{
    RUN(names_are_found);
    RUN(a_headline_is_the_only_one);
    RUN(bad_results_are_refused);
    RUN(files_keep_everything);
    RUN(without_answers_nothing_is_written);
    return check_done();
}
