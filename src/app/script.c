// SPDX-License-Identifier: GPL-2.0-or-later
//
// Carries out the command of a script: run, or a function of the script.
#include <string.h>

#include "app/private.h"
#include "base/log.h"

static int perform_parallel(struct sb_app *a, struct sb_script *s)
{
    struct sb_run_result res;

    if (a->run.threads > 1)
        sb__app_print_initializing(a);
    sb_run_parallel(sb_script_workload(s), a->command, &a->run, &a->random,
        sb_script_task, &res);
    return sb__app_exit_status(a, &res);
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
    const char *hidden = sb_script_hidden(a->script);

    if (sb_script_command_is_empty(a->script, a->command))
        sb_log(SB_LOG_USAGE,
            "sysbench.cmdline.commands.%s has no function (is it defined "
            "further down?)",
            a->command);
    else if (is_standard(a->command))
        sb_log(SB_LOG_USAGE,
            "'%s' test does not implement the '%s' command%s%s.",
            slash ? slash + 1 : a->test, a->command,
            hidden ? ": a file of the current folder hides the workload " : "",
            hidden ? hidden : "");
    else
        sb_app_unknown_command(a, sb_script_commands(a->script));
    return SB_EXIT_FAILED;
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
