// SPDX-License-Identifier: GPL-2.0-or-later
//
// --rate=80% and --rate=max: judges the trials of a search by --rate-limit, and
// prints how the search proceeds.
#include <assert.h>
#include <math.h>

#include "app/private.h"
#include "base/log.h"

int sb_app_rate_init(struct sb_app *a, struct sb_err *err)
{
    sb_asserts_done(&a->rate_limits);
    if (!a->run.rate_search)
        return 0;
    return sb_asserts_init_search(&a->rate_limits, a->run.rate_limit, err);
}

// Trials at rates that are too high take longer, because all their arrivals are
// waited for; most searches need fewer trials.
static void print_length(const struct sb_run_opts *o)
{
    double s = (double)sb_rate_search_ns(o) / 1e9;

    if (o->rate_search)
        printf("Time before the measured part: usually less than %.0f seconds "
               "(up to %lld trials)\n",
            ceil(s), (long long)o->rate_trials);
    else
        printf("Time before the measured part: about %.10g seconds\n", s);
}

void sb__app_rate_mode(const struct sb_app *a)
{
    const struct sb_run_opts *o = &a->run;

    if (o->rate_percent > 0)
        printf("Target transaction rate: %.10g%% of the maximum\n",
            o->rate_percent);
    else if (o->rate_search)
        printf("Target transaction rate: the highest that keeps %s\n",
            o->rate_limit);
    else if (o->rate > 0)
        printf("Target transaction rate: %.10g/sec\n", o->rate);
    if (sb_run_opts_finds_rate(o))
        print_length(o);
}

// The final report is judged without its checkpoints.
static bool judge_report(
    void *data, const struct sb_report *r, double *value, unsigned *missed)
{
    const struct sb__listening *t = data;
    struct sb_asserts *limits = &t->a->rate_limits;
    struct sb_report whole = *r;
    bool kept = true;

    assert(limits->n > 0);
    if (r->whole)
        sb_reporters_whole(&whole, r);
    for (unsigned i = 0; i < limits->n; i++) {
        struct sb_limit *l = &limits->limit[i];

        sb_assert_check(l, &whole, &l->verdict);
        if (kept && !l->verdict.passed)
            *missed = i;
        kept = kept && l->verdict.passed;
    }
    *value = limits->limit[0].verdict.known ? limits->limit[0].verdict.value
                                            : NAN;
    return kept;
}

static void print_trial(
    const struct sb_app *a, const struct sb_search_trial *t, unsigned n)
{
    const struct sb_limit *l = a->rate_limits.limit;
    char value[64];

    printf("trial %u: rate: %.2f/sec, %s: %s", n, t->rate, l->text,
        sb_assert_value(l, value, sizeof(value)));
    if (t->kept)
        printf(", kept\n");
    else if (t->missed == SB_SEARCH_NONE || (t->grew && t->missed == 0))
        printf(", not kept: the queue grew\n");
    else if (t->missed > 0)
        printf(", not kept: %s: %s\n", l[t->missed].text,
            sb_assert_value(&l[t->missed], value, sizeof(value)));
    else
        printf(", not kept\n");
}

static void on_searching(void *data, const struct sb_searching *now)
{
    const struct sb__listening *t = data;
    char line[120];

    if (!t->progress)
        return;
    sb_progress_search(line, sizeof(line), now);
    sb__app_show_progress(t->a, line);
}

static void on_rate_found(void *data, const struct sb_rate_search *f)
{
    const struct sb__listening *t = data;

    sb_log_progress_done();
    if (sb__app_quiet(t->a))
        return;
    if (f->trials == 0)
        printf("Maximum of a closed loop: %.2f/sec%s\n", f->max,
            f->limit ? "\n" : "");
    else
        print_trial(t->a, &f->trial[f->trials - 1], f->trials);
    fflush(stdout);
}

static void on_measured(void *data, const struct sb_rate_search *f)
{
    const struct sb__listening *t = data;
    char text[400];

    sb_log_progress_done();
    sb__app_measured(t->a, 0);
    if (sb__app_quiet(t->a))
        return;
    if (f->limit)
        printf("\n%s\n", sb_search_sentence(f, text, sizeof(text)));
    printf("Rate of the measured part: %.2f/sec\n\n", f->rate);
    fflush(stdout);
}

void sb__app_rate_listen(struct sb_app *a, struct sb_listener *l)
{
    l->judge = a->run.rate_search ? judge_report : NULL;
    l->rate_found = on_rate_found;
    l->searching = on_searching;
    l->measured = on_measured;
    l->judge_unit = a->rate_limits.n ? sb_assert_unit(a->rate_limits.limit)
                                     : "";
}
