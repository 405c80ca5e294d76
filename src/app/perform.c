// SPDX-License-Identifier: GPL-2.0-or-later
//
// Carries out the command: of a built-in test, a mix or a script.
#include <assert.h>
#include <string.h>

#include "app/private.h"
#include "base/log.h"

// Users of built-in tests have a thread each.
static void notice_workers(const struct sb_app *a, const struct sb_builtin *b)
{
    if (sb_run_opts_workers(&a->run, (unsigned)a->run.threads, 1) > 0)
        sb_log(SB_LOG_NOTICE,
            "--workers has no effect on the built-in test '%s': each of its "
            "users has a thread",
            b->name);
}

static void clear_limits(struct sb_app *a, const struct sb_builtin *b)
{
    if (a->run.events > 0)
        sb_log(SB_LOG_WARNING,
            "--events has no effect on the built-in test '%s': its own options "
            "set how much it does",
            b->name);
    if (a->run.warmup_time > 0)
        sb_log(SB_LOG_WARNING,
            "--warmup-time has no effect on the built-in test '%s'", b->name);
    a->run.events = a->run.warmup_time = 0;
}

static int run_builtin(struct sb_app *a, const struct sb_builtin *b)
{
    struct sb_err err = { 0 };

    notice_workers(a, b);
    if (b->own_limit)
        clear_limits(a, b);
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

        sb_app_unknown_command(a, b->command ? more : known);
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

int sb_app_perform(struct sb_app *a)
{
    assert(
        !!a->builtin + !!a->mix + !!a->script == 1); // what load_test() found
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
