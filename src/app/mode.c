// SPDX-License-Identifier: GPL-2.0-or-later
//
// The lines before a run: its options, and "Initializing worker threads...".
#include <stdio.h>

#include "app/private.h"
#include "base/log.h"

static void print_list(
    const char *before, const struct sb_opt_list *list, const char *after)
{
    printf("%s", before);
    for (size_t i = 0; i < list->count; i++)
        printf("%s%s", i ? ", " : "", list->item[i]);
    printf("%s\n", after);
}

static void print_mode(const struct sb_app *a)
{
    const struct sb_run_opts *o = &a->run;
    const double s = 1e9;
    bool found = sb_run_opts_finds_rate(o);

    printf("Running the test with following options:\n");
    printf("Number of threads: %lld\n", (long long)o->threads);
    sb__app_print_workers(a);
    if (o->job)
        printf("Number of ranks: %u\n", o->share.ranks);
    else if (o->share.ranks > 1)
        printf("Rank %u of %u: threads %llu to %llu\n", o->share.rank,
            o->share.ranks, (unsigned long long)o->share.first,
            (unsigned long long)(o->share.first + o->share.users - 1));
    if (o->warmup_time)
        printf("Warmup time: %gs\n", (double)o->warmup_time / s);
    sb__app_rate_mode(a);
    if (o->mix.n)
        printf("Mix by %s: %s\n",
            o->mix.by == SB_MIX_USERS ? "users" : "events", a->o.mix);
    if (o->stages.n)
        printf("Stages: %s\n", o->stages_text);
    if (o->report_interval)
        printf("Report intermediate results every %g second(s)\n",
            (double)o->report_interval / s);
    if (o->report_checkpoints.count)
        print_list(
            "Report checkpoint(s) at ", &o->report_checkpoints, " seconds");
    if (o->debug)
        printf("Debug mode enabled.\n\n");
    if (o->validate)
        printf("Validation checks: on.\n\n");
    if (a->dist.seed)
        printf("Initializing random number generator from seed (%lld).\n\n",
            (long long)a->dist.seed);
    else
        printf("Initializing random number generator from current time "
               "(seed %llu)\n\n",
            (unsigned long long)a->random.seed);
    if (o->forced_shutdown_ns >= 0)
        printf("Forcing shutdown %s%g seconds%s\n", found ? "" : "in ",
            (double)(o->time + o->forced_shutdown_ns) / s,
            found ? " after the measured part begins" : "");
    printf("\n");
}

void sb__app_print_initializing(const struct sb_app *a)
{
    if (!sb__app_quiet(a))
        printf("Initializing worker threads...\n\n");
    fflush(stdout);
}

// The events of a script may end the run, but only the script knows: without
// limits, a script that does not say so counts as endless.
static bool is_endless(const struct sb_app *a)
{
    if (a->run.time > 0 || a->run.events > 0)
        return false;
    if (a->mix)
        return !sb_app_mix_ends(a);
    if (a->script)
        return !sb_script_ends(a->script);
    return !a->builtin || !a->builtin->ends ||
           !a->builtin->ends(a->builtin_opts);
}

void sb__app_print_mode(struct sb_app *a, struct sb_workload *w)
{
    if (!sb__app_quiet(a))
        print_mode(a);
    if (!sb__app_quiet(a) && a->builtin && a->builtin->describe)
        a->builtin->describe(w, stdout);
    if (is_endless(a))
        sb_log(SB_LOG_WARNING,
            "Both event and time limits are disabled, running an endless "
            "test");
    sb__app_print_initializing(a);
}
