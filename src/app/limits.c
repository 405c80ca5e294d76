// SPDX-License-Identifier: GPL-2.0-or-later
//
// The limits of a run: --assert during the run and at its end, and
// --rate-limit, by which --rate=max judges.
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "app/app.h"
#include "base/log.h"

// Logs which limit ends the run.
static void check_interval(struct sb__listening *t, const struct sb_report *r)
{
    struct sb_asserts *limits = &t->a->asserts;

    if (!limits->by && sb_asserts_interval(limits, r))
        sb_log(SB_LOG_ALERT, "%s; ending the run", limits->why);
}

static void check_search(
    struct sb__listening *t, const struct sb_rate_search *f)
{
    if (!f || !f->limit || f->result.end == SB_SEARCH_GOES_ON ||
        (f->result.end != SB_SEARCH_BELOW && f->result.kept > 0))
        return;
    snprintf(t->no_rate, sizeof(t->no_rate),
        "--rate=max: no rate was found that keeps --rate-limit=%s", f->limit);
}

static void check_final(struct sb__listening *t, const struct sb_report *final)
{
    struct sb_report whole;

    sb_reporters_whole(&whole, final);
    sb_asserts_final(&t->a->asserts, &whole);
    check_search(t, final->search);
}

static void print_limits(struct sb__listening *t, const struct sb_report *r)
{
    (void)r;
    if (!sb__app_quiet(t->a))
        sb_asserts_text(&t->a->asserts, stdout);
    fflush(stdout);
}

const struct sb__app_listener sb__app_limits_listener = {
    .interval = check_interval,
    .complete = check_final,
    .after = print_limits,
};

bool sb__app_limits_missed(const struct sb__listening *t)
{
    return sb_asserts_failed(&t->a->asserts) > 0 || *t->no_rate;
}

// At any verbosity, because these limits explain the exit status.
static void log_missed(const struct sb_asserts *s)
{
    char value[64];

    for (unsigned i = 0; i < s->n; i++) {
        const struct sb_limit *l = &s->limit[i];
        const struct sb_verdict *v = &l->verdict;

        if (!v->passed)
            sb_log(SB_LOG_USAGE, "limit not kept: %s: %s%s%s%s", l->text,
                sb_assert_value(l, value, sizeof(value)), *v->why ? " (" : "",
                v->why, *v->why ? ")" : "");
    }
}

int sb__app_limits_status(const struct sb__listening *t, int status)
{
    if (!sb__app_limits_missed(t))
        return status;
    log_missed(&t->a->asserts);
    if (*t->no_rate)
        sb_log(SB_LOG_USAGE, "%s", t->no_rate);
    return status == SB_EXIT_OK ? SB_EXIT_LIMITS : status;
}

// The final report is judged without its checkpoints.
bool sb__app_limits_judge(
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
