// SPDX-License-Identifier: GPL-2.0-or-later
//
// The limits of --assert during a run and at its end.
#include "app/private.h"
#include "base/log.h"

void sb__app_limits_interval(struct sb_app *a, const struct sb_report *r)
{
    if (!a->asserts.by && sb_asserts_interval(&a->asserts, r))
        sb_log(SB_LOG_ALERT, "%s; ending the run", a->asserts.why);
}

static void judge_search(struct sb_app *a, const struct sb_rate_search *f)
{
    if (!f || !f->limit || f->result.end == SB_SEARCH_GOES_ON ||
        (f->result.end != SB_SEARCH_BELOW && f->result.kept > 0))
        return;
    snprintf(a->no_rate, sizeof(a->no_rate),
        "--rate=max: no rate was found that keeps --rate-limit=%s", f->limit);
}

bool sb__app_limits_missed(const struct sb_app *a)
{
    return sb_asserts_failed(&a->asserts) > 0 || *a->no_rate;
}

void sb__app_limits_judge(struct sb_app *a, const struct sb_report *final)
{
    struct sb_report whole;

    sb_reporters_whole(&whole, final);
    sb_asserts_final(&a->asserts, &whole);
    judge_search(a, final->search);
}

void sb__app_limits_text(struct sb_app *a)
{
    if (!sb__app_quiet(a))
        sb_asserts_text(&a->asserts, stdout);
    fflush(stdout);
}

// Logs the limits that were not kept, at any verbosity, because they explain
// the exit status.
static void log_failed(const struct sb_asserts *s)
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

int sb__app_limits_status(struct sb_app *a, int status)
{
    if (!sb__app_limits_missed(a))
        return status;
    log_failed(&a->asserts);
    if (*a->no_rate)
        sb_log(SB_LOG_USAGE, "%s", a->no_rate);
    return status == SB_EXIT_OK ? SB_EXIT_LIMITS : status;
}
