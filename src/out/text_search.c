// SPDX-License-Identifier: GPL-2.0-or-later
//
// How a run found its rate, in the final report.
#include "measure/search.h"

#include <math.h>

#include "base/escape.h"
#include "out/text_private.h"

#define ROUNDING 1e-6 // files have fewer digits

static void write_rate(const struct sb_text *t, const char *label, double rate)
{
    fprintf(t->out, "    %-37s%.2f per sec.\n", label, rate);
}

// A rate may be unknown (NAN): it is beyond a bound of the search, or there
// were too few trials.
static void bounded(const struct sb_text *t, const char *label, double rate,
    const struct sb_rate_search *f)
{
    if (isfinite(rate))
        write_rate(t, label, rate);
    else if (f->result.end == SB_SEARCH_BELOW)
        fprintf(t->out, "    %-37sunknown (below %.2f per sec.)\n", label,
            f->lowest);
    else if (f->result.end == SB_SEARCH_ABOVE)
        fprintf(t->out, "    %-37sunknown (above %.2f per sec.)\n", label,
            f->highest);
    else
        fprintf(t->out, "    %-37sunknown\n", label);
}

// Bounds of an interval that are those of the search say little.
static const char *at_bounds(const struct sb_rate_search *f)
{
    bool low = f->result.low <= f->lowest * (1 + ROUNDING);
    bool high = f->result.high >= f->highest * (1 - ROUNDING);

    if (low && high)
        return ", the bounds of the search";
    return low    ? ", from the lowest rate of the search"
           : high ? ", to the highest rate of the search"
                  : "";
}

// The interval follows from the trials alone. The maximum is one measurement.
static void explain_high(
    const struct sb_text *t, const struct sb_rate_search *f)
{
    unsigned above = 0;

    if (!(f->max > 0) || !(f->result.high > f->max))
        return;
    for (unsigned i = 0; i < f->trials; i++)
        above += f->trial[i].kept && f->trial[i].rate > f->max;
    if (above)
        fprintf(t->out,
            "    %u trial%s above the maximum of a closed loop kept the limit: "
            "it was measured too low.\n",
            above, above == 1 ? "" : "s");
    else
        fprintf(t->out,
            "    The interval ends above the maximum of a closed loop, but no "
            "trial there kept the limit.\n");
}

static void trials(const struct sb_text *t, const struct sb_rate_search *f)
{
    const struct sb_search_result *r = &f->result;
    char text[400];

    bounded(t, "kept in half of the trials:", r->rate, f);
    if (isfinite(r->low) && isfinite(r->high))
        fprintf(t->out, "    %-37s%.2f to %.2f per sec.%s\n",
            "95% confidence interval:", r->low, r->high, at_bounds(f));
    bounded(t, "kept in 95% of trials (estimate):", r->safe, f);
    fprintf(t->out, "    %-37s%u (%u kept the limit)\n", "trials:", r->trials,
        r->kept);
    if (f->judged) {
        fprintf(t->out, "    %-37s%s", "measured part:",
            f->kept ? "kept the limit" : "did not keep the limit");
        if (isfinite(f->value))
            fprintf(
                t->out, " (%.4g%s%s)", f->value, *f->unit ? " " : "", f->unit);
        fprintf(t->out, "\n");
    }
    fprintf(t->out, "    %s\n", sb_search_sentence(f, text, sizeof(text)));
    explain_high(t, f);
}

void sb__text_search(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_rate_search *f = r->search;
    char limit[400];

    if (!f)
        return;
    if (f->limit) {
        sb_escape_line(limit, sizeof(limit), f->limit);
        fprintf(t->out, "Rate search (%s):\n", limit);
    } else {
        fprintf(t->out, "Rate (%.10g%% of the maximum):\n", f->percent);
    }
    if (f->max > 0)
        write_rate(t, "maximum of a closed loop:", f->max);
    else
        fprintf(t->out, "    %-37sunknown\n", "maximum of a closed loop:");
    if (f->limit && f->trials > 0)
        trials(t, f);
    if (f->rate > 0)
        write_rate(t, "rate of the measured part:", f->rate);
    fprintf(t->out, "\n");
}
