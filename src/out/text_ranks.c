// SPDX-License-Identifier: GPL-2.0-or-later
//
// --report-per-rank: a line for each rank of a run.
#include <inttypes.h>

#include "base/escape.h"
#include "out/text_private.h"

static double ms(double ns)
{
    return ns / 1e6;
}

// seconds: 0 if they are not known.
static void write_rank(const struct sb_text *t, const struct sb_report *r,
    unsigned i, double seconds)
{
    const struct sb_rank_figures *f = &r->ranks[i];
    char host[260], rate[32] = "-", cpu[32] = "-";

    if (seconds > 0) {
        snprintf(rate, sizeof(rate), "%.2f", (double)f->events / seconds);
        snprintf(cpu, sizeof(cpu), "%.1f",
            100 * f->cpu_s / seconds / (f->processors ? f->processors : 1));
    }
    sb_escape_line(host, sizeof(host), f->host);
    fprintf(t->out, "%6u  %-20s %8u %12" PRIu64 " %12s %10" PRIu64, i, host,
        f->users, f->events, rate, f->failed);
    if (f->lost)
        fprintf(t->out, "  lost; events up to its last message\n");
    else
        fprintf(t->out, " %10.4g %10.4g %10.4g %7s\n", ms(f->mean),
            ms(f->percentile[1]), ms(f->percentile[2]), cpu);
}

void sb__text_ranks(const struct sb_text *t, const struct sb_report *r)
{
    uint64_t reported;

    if (!t->o.report_per_rank || r->nranks == 0)
        return;
    // Ranks have events behind the last interval that all had completed: their
    // seconds are not known.
    bool lost = sb_ranks_reported(r->ranks, r->nranks, &reported);

    fprintf(t->out, "%6s  %-20s %8s %12s %12s %10s %10s %10s %10s %7s\n",
        "Rank", "host", "threads", "events", "per sec.", "failed", "avg (ms)",
        "95%", "99%", "CPU %");
    for (unsigned i = 0; i < r->nranks; i++)
        write_rank(t, r, i, lost ? 0 : r->interval_s);
    fprintf(t->out, "\n");
}
