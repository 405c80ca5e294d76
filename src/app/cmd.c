// SPDX-License-Identifier: GPL-2.0-or-later
//
// Commands on result files: `sysbench show FILE`. A script of the same name in
// the current folder runs instead if a command of workloads follows.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "base/log.h"

#define FILES_MAX 1000u

static bool is_script(const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "%s.lua", name);
    return access(name, F_OK) == 0 || access(path, F_OK) == 0;
}

static bool is_workload_command(const char *word)
{
    static const char *const commands[] = { "prepare", "run", "cleanup", "help",
        "check", "prewarm" };

    for (size_t i = 0; word && i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(word, commands[i]) == 0)
            return true;
    return false;
}

const struct sb_cmd *sb_app_cmd(const struct sb_app *a)
{
    const char *name = sb_opts_positional(a->opts, 0);
    const struct sb_cmd *cmd = name && !a->o.test[0] ? sb_cmd_find(name) : NULL;

    if (cmd && is_script(name) &&
        is_workload_command(sb_opts_positional(a->opts, 1)))
        return NULL;
    return cmd;
}

static int usage_failed(const struct sb_cmd *cmd, const struct sb_err *err)
{
    sb_log(SB_LOG_USAGE, "%s", err->msg);
    sb_log(SB_LOG_USAGE, "Usage: sysbench %s", cmd->usage);
    sb_log(SB_LOG_USAGE, "See 'sysbench %s --help'.", cmd->name);
    return SB_EXIT_FAILED;
}

static int collect_files(const struct sb_app *a, const struct sb_cmd *cmd,
    const char **file, unsigned *n, struct sb_err *err)
{
    const char *name;

    for (*n = 0; (name = sb_opts_positional(a->opts, *n + 1)); ++*n) {
        if (*n == cmd->max_files || *n == FILES_MAX)
            return sb_err_set(err, SB_EUSAGE,
                "%s: too many files; the maximum is %u", cmd->name, *n);
        file[*n] = name;
    }
    if (*n < cmd->min_files)
        return sb_err_set(err, SB_EUSAGE,
            cmd->min_files == 1 ? "%s: the name of a result file is missing"
                                : "%s: needs at least %u result files",
            cmd->name, cmd->min_files);
    return 0;
}

static bool asks_for_help(const struct sb_app *a)
{
    const char *first = sb_opts_positional(a->opts, 1);

    if (strcmp(a->o.help, "on") == 0)
        return true;
    return first && strcmp(first, "help") == 0 &&
           !sb_opts_positional(a->opts, 2);
}

int sb_app_run_cmd(struct sb_app *a, const struct sb_cmd *cmd)
{
    const char *file[FILES_MAX];
    struct sb_cmd_args args = {
        .file = file, .opts = a->opts, .text = &a->text_opts, .out = stdout
    };
    struct sb_err err = { 0 };
    int rc = 0;

    a->builtin_opts = calloc(1, cmd->opts_size ? cmd->opts_size : 1);
    args.o = a->builtin_opts;
    if (!a->builtin_opts)
        rc = sb_err_set(&err, SB_ENOMEM, "out of memory");
    else if (cmd->opts)
        rc = sb_opts_add(a->opts, cmd->opts, a->builtin_opts, &err);
    if (rc == 0)
        rc = sb_opts_check(a->opts, NULL, &err);
    if (rc == 0 && asks_for_help(a)) {
        sb_cmd_help(cmd, a->opts, stdout);
        return SB_EXIT_OK;
    }
    if (rc == 0)
        rc = collect_files(a, cmd, file, &args.nfiles, &err);
    return rc ? usage_failed(cmd, &err) : cmd->run(&args);
}
