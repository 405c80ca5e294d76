// SPDX-License-Identifier: GPL-2.0-or-later
//
// Carries out the command: prepare, run, cleanup, help or a script's own.
#include <stdlib.h>
#include <string.h>

#include "app_private.h"
#include "base/log.h"
#include "kit/units.h"

static int exit_status(struct sb_app *a, const struct sb_run_result *res)
{
    a->leave = a->leave || res->unjoined;
    bool stopped = sb_app_job_follows(a) && res->err.code == SB_ECANCELED;

    if (res->err.code && res->end != SB_END_SIGNAL && !stopped &&
        !sb_app_job_told(a, res->err.msg))
        sb_log(SB_LOG_FATAL, "%s", res->err.msg);
    switch (res->end) {
    case SB_END_LIMIT:
    case SB_END_SCRIPT:
        return res->err.code ? SB_EXIT_FAILED : SB_EXIT_OK;
    case SB_END_SIGNAL:
        return 128 + res->signal;
    case SB_END_FORCED:
    case SB_END_HUNG:
        return SB_EXIT_FORCED;
    case SB_END_FAILED:
        break;
    }
    return SB_EXIT_FAILED;
}

// Lines before "Initializing worker threads..." ------------------------------

bool sb__app_quiet(const struct sb_app *a)
{
    return sb_log_level() < SB_LOG_NOTICE || a->reporters.no_text;
}

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

static void print_initializing(const struct sb_app *a)
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
    print_initializing(a);
}

int sb__app_run_workload(struct sb_app *a, struct sb_workload *w)
{
    struct sb__listening t;
    struct sb_listener l;
    struct sb_run_result res;
    struct sb_err err = { 0 };

    if (sb_app_job_follows(a)) {
        sb__app_follow(a, w, &res);
        return exit_status(a, &res);
    }
    if (a->reporters.omitted)
        sb_log(SB_LOG_NOTICE,
            "The text report is omitted, because standard output has another "
            "one (--report=none,... hides this message, --report=text,... "
            "prints both)");
    sb__app_facts(a);
    if (sb_reporters_open(&a->reporters, &a->facts, &err)) {
        sb_log(SB_LOG_FATAL, "%s", err.msg);
        return SB_EXIT_FAILED;
    }
    int begun = sb__app_beside_begin(a);

    if (begun) {
        sb_reporters_done(&a->reporters);
        return begun;
    }
    sb__app_listen(a, w, &t, &l);
    sb_run(w, &a->run, &a->random, &l, &res);
    sb_app_server_stop(a);
    sb__app_context(&t);
    int status = exit_status(a, &res);

    status = sb__app_beside_end(a, t.printed, status ? status : t.status);
    return sb__app_finish_reports(&t, &res, status);
}

// Built-in tests -------------------------------------------------------------

static int run_builtin(struct sb_app *a, const struct sb_builtin *b)
{
    struct sb_err err = { 0 };

    if (b->own_limit)
        a->run.events = a->run.warmup_time = 0;
    struct sb_workload *w = b->create(a->builtin_opts, &a->run, &err);
    if (!w) {
        sb_log(SB_LOG_FATAL, "%s", err.msg);
        return SB_EXIT_FAILED;
    }
    a->text.own = (struct sb_text_own){
        .data = w, .interval = b->interval, .final = b->final
    };
    int status = sb__app_run_workload(a, w);
    if (!a->leave)
        b->destroy(w);
    return status;
}

static int perform_builtin(struct sb_app *a)
{
    const struct sb_builtin *b = a->builtin;
    struct sb_err err = { 0 };

    if (!a->command) {
        sb_log(SB_LOG_USAGE,
            "The '%s' test requires a command argument. See 'sysbench %s "
            "help'",
            b->name, b->name);
        return SB_EXIT_FAILED;
    }
    if (strcmp(a->command, "help") == 0) {
        sb_app_builtin_help(a);
        return SB_EXIT_OK;
    }
    if (strcmp(a->command, "run") == 0)
        return run_builtin(a, b);
    if (strcmp(a->command, "prepare") && strcmp(a->command, "cleanup")) {
        static const char *const known[] = { "help", "run", NULL };
        static const char *const more[] = { "cleanup", "help", "prepare", "run",
            NULL };

        sb_app_unknown_command(a->command, b->command ? more : known);
        return SB_EXIT_FAILED;
    }
    if (!b->command) {
        sb_log(SB_LOG_USAGE, "'%s' test does not implement the '%s' command.",
            b->name, a->command);
        return SB_EXIT_FAILED;
    }
    FILE *out = sb__app_quiet(a) ? NULL : stdout;
    if (b->command(a->command, a->builtin_opts, &a->run, out, &err) == 0)
        return SB_EXIT_OK;
    sb_log(SB_LOG_FATAL, "%s", err.msg);
    return SB_EXIT_FAILED;
}

// Scripts --------------------------------------------------------------------

static int perform_parallel(struct sb_app *a, struct sb_script *s)
{
    struct sb_run_result res;

    if (a->run.threads > 1)
        print_initializing(a);
    sb_run_parallel(sb_script_workload(s), a->command, &a->run, &a->random,
        sb_script_task, &res);
    return exit_status(a, &res);
}

static int perform_serial(const struct sb_app *a, struct sb_script *s)
{
    struct sb_err err = { 0 };

    if (sb_script_call(s, a->command, &err) == 0)
        return SB_EXIT_OK;
    sb_log(SB_LOG_FATAL, "%s", err.msg);
    return SB_EXIT_FAILED;
}

static bool is_standard(const char *command)
{
    static const char *const names[] = { "help", "prepare", "cleanup", "run" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(command, names[i]) == 0)
            return true;
    return false;
}

static int not_implemented(const struct sb_app *a)
{
    const char *slash = strrchr(a->test, '/');

    if (is_standard(a->command))
        sb_log(SB_LOG_USAGE, "'%s' test does not implement the '%s' command.",
            slash ? slash + 1 : a->test, a->command);
    else
        sb_app_unknown_command(a->command, sb_script_commands(a->script));
    return SB_EXIT_FAILED;
}

bool sb_app_has_command(const struct sb_app *a, const char *command)
{
    if (a->mix)
        return sb_app_mix_has_command(a, command);
    if (!a->builtin)
        return sb_script_command(a->script, command) != SB_COMMAND_NONE;
    if (strcmp(command, "run") == 0 || strcmp(command, "help") == 0)
        return true;
    return a->builtin->command &&
           (strcmp(command, "prepare") == 0 || strcmp(command, "cleanup") == 0);
}

int sb__app_command(struct sb_app *a, struct sb_script *s)
{
    switch (sb_script_command(s, a->command)) {
    case SB_COMMAND_RUN:
        return sb__app_run_workload(a, sb_script_workload(s));
    case SB_COMMAND_PARALLEL:
        return perform_parallel(a, s);
    case SB_COMMAND_SERIAL:
        return perform_serial(a, s);
    case SB_COMMAND_NONE:
        break;
    }
    return not_implemented(a);
}

int sb_app_perform(struct sb_app *a)
{
    if (a->builtin)
        return perform_builtin(a);
    if (a->mix)
        return sb_app_mix_perform(a);
    // Without a command, running the body of the script was all there was to
    // do.
    if (!a->command || sb_script_from_stdin(a->script))
        return SB_EXIT_OK;
    return sb__app_command(a, a->script);
}
