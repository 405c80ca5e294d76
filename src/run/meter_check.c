// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/meter_check.h"

#include "kit/units.h"
#include "run/run_private.h"

void sb__meter_check_printed(struct sb_meter *m, const struct sb_snap *diff)
{
    if (!m->broken.code)
        sb_snap_check_printed(diff, m->run->open_loop, &m->broken);
}

// Fails the run if more events failed than --max-failed allows, or all of
// them.
static int check_failed(const struct sb_run_opts *o,
    const struct sb_counters *c, struct sb_err *err)
{
    unsigned long long failed = sb_counters_failed(c);
    unsigned long long n = failed + c->completed;
    double percent = n ? 100 * (double)failed / (double)n : 0;
    char text[SB_UNITS_PERCENT];

    if (n > 0 && failed == n)
        return sb_err_set(err, SB_ELIMIT,
            n == 1 ? "the only event failed" : "all %llu events failed", n);
    if (failed == 0 || percent <= o->max_failed)
        return 0;
    return sb_err_set(err, SB_ELIMIT,
        "%llu of %llu events failed (%s %%), more than --max-failed=%.10g "
        "allows",
        failed, n, sb_units_percent(text, percent, 100), o->max_failed);
}

void sb__meter_check_success(struct sb_meter *m, const struct sb_snap *s,
    const struct sb_snap *diff, uint64_t left, bool all_ended,
    struct sb_run_result *res)
{
    struct sb_run *run = m->run;
    int rc;

    if (res->err.code)
        return;
    if (all_ended)
        sb__meter_check_printed(m, diff);
    if (all_ended && !m->broken.code && m->phase == SB_PHASE_MEASURED)
        sb_snap_check(s, sb__run_report_names(run, m->phase), left, &m->broken);
    rc = m->broken.code;
    if (rc)
        res->err = m->broken;
    // SB_END_SIGNAL, SB_END_FORCED and SB_END_HUNG have an exit status of
    // their own.
    else if (res->end == SB_END_LIMIT || res->end == SB_END_SCRIPT)
        rc = check_failed(run->o, &s->c, &res->err);
    if (rc)
        res->end = SB_END_FAILED;
}
