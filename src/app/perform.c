// SPDX-License-Identifier: GPL-2.0-or-later
//
// Carries out the command: on result files, of a built-in test, a mix or a
// script.
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "base/log.h"
#include "results/sweep_files.h"

// Commands on result files ----------------------------------------------------
//
// `sysbench show FILE`. A script of the same name in the current folder runs
// instead if a command of workloads follows.

#define FILES_MAX 1000u

const struct sb_cmd *const sb_app_cmds[] = { &sb_cmd_compare, &sb_cmd_history,
    &sb_cmd_merge, &sb_cmd_report, &sb_app_rerun_cmd, &sb_cmd_show, NULL };

static const struct sb_cmd *find_cmd(const char *name)
{
    for (size_t i = 0; sb_app_cmds[i]; i++)
        if (strcmp(sb_app_cmds[i]->name, name) == 0)
            return sb_app_cmds[i];
    return NULL;
}

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
    const struct sb_cmd *cmd = name && !a->o.test[0] ? find_cmd(name) : NULL;

    if (cmd && is_script(name) &&
        is_workload_command(sb_opts_positional(a->opts, 1)))
        return NULL;
    return cmd;
}

// A script of this name is executed instead if a command follows.
bool sb_app_ab_wanted(const struct sb_app *a)
{
    const char *name = sb_opts_positional(a->opts, 0);

    return name && strcmp(name, "ab") == 0 &&
           !(is_script(name) &&
               is_workload_command(sb_opts_positional(a->opts, 1)));
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

    if (cmd == &sb_app_rerun_cmd && !asks_for_help(a))
        return sb_app_rerun(a);
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

// Runs ------------------------------------------------------------------------

// The exit status of a run or a command that has ended; logs its error.
static int exit_status(struct sb_app *a, const struct sb_run_result *res)
{
    a->leave = a->leave || res->unjoined;
    bool stopped = sb_app_job_follows(a) && res->err.code == SB_ECANCELED;
    // When a rank is lost, its launcher sends SIGTERM to the others, which may
    // arrive before the loss is noticed.
    bool expected = res->end == SB_END_SIGNAL && res->err.code != SB_ELOST;

    if (res->err.code && !expected && !stopped && !res->told &&
        !sb_app_job_told(a, res->err.msg))
        sb_log(SB_LOG_FATAL, "%s", res->err.msg);
    return sb__app_status_of(res);
}

// Runs the workload with all reports. Returns the exit status.
static int run_workload(struct sb_app *a, struct sb_workload *w)
{
    struct sb_run_result res;
    struct sb__listening t = { .a = a, .w = w, .res = &res };
    struct sb_listener l;
    struct sb_err err = { 0 };

    sb__app_choose_workers(a);
    if (sb_app_job_follows(a)) {
        sb__app_follow(a, w, &res);
        return exit_status(a, &res);
    }
    if (a->reporters.omitted)
        sb_log(SB_LOG_NOTICE,
            "The text report is omitted, because another report is written to "
            "standard output (--report=none,... hides this message, "
            "--report=text,... prints both)");
    sb__app_facts(a);
    sb__app_fill_streams();
    sb__app_settle(a);
    if (a->setup.places)
        sb_sweep_names_mark(a->setup.kept, &a->reporters);
    if (sb_reporters_open(&a->reporters, &a->facts, &err)) {
        sb_log(SB_LOG_FATAL, "%s", err.msg);
        return SB_EXIT_FAILED;
    }
    int status = sb__app_beside_begin(&t);

    if (status) {
        sb_reporters_done(&a->reporters);
    } else {
        sb__app_listen(&t, &l);
        sb_run(w, &a->run, &a->random, &l, &res);
        sb__app_server_stop(&t, NULL);
        sb__app_context(&t);
        status = exit_status(a, &res);
        status = sb__app_beside_end(&t, status ? status : t.status);
        status = sb__app_finish_reports(&t, status);
    }
    if (!a->leave)
        sb__app_listening_done(&t);
    return status;
}

// Scripts ---------------------------------------------------------------------

static int perform_parallel(struct sb_app *a, struct sb_script *s)
{
    struct sb_run_result res;

    if (a->run.threads > 1)
        sb__app_print_initializing(a);
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

// Carries out a->command of a script that implements it. Returns
// the exit status.
static int perform_script(struct sb_app *a, struct sb_script *s)
{
    switch (sb_script_command(s, a->command)) {
    case SB_COMMAND_RUN:
        return run_workload(a, sb_script_workload(s));
    case SB_COMMAND_PARALLEL:
        return perform_parallel(a, s);
    case SB_COMMAND_SERIAL:
        return perform_serial(a, s);
    case SB_COMMAND_NONE:
        break;
    }
    return not_implemented(a);
}

// Mixes -----------------------------------------------------------------------

// Warns that report hooks are not called: their figures would be those of all
// workloads, but a script would print them as its own.
static void warn_hooks(const struct sb_app *a)
{
    for (unsigned i = 0; i < a->run.mix.n; i++) {
        const struct sb_script *s = sb__app_mix_script(a, i);

        if (sb_script_has_report_hook(s, false) ||
            sb_script_has_report_hook(s, true))
            sb_log(SB_LOG_WARNING,
                "the report hooks of '%s' are not called in a mix",
                a->run.mix.part[i].name);
    }
}

static int run_mix(struct sb_app *a)
{
    struct sb_mixed *m = sb__app_mix_mixed(a);

    warn_hooks(a);
    m->mix = &a->run.mix;
    for (unsigned i = 0; i < a->run.mix.n; i++)
        m->part[i] = sb_script_workload(sb__app_mix_script(a, i));
    sb_mixed_init(m);
    return run_workload(a, &m->workload);
}

// Carries out a->command and returns the exit status.
static int perform_mix(struct sb_app *a)
{
    unsigned done = 0;
    int status = SB_EXIT_OK;

    if (!a->command) {
        sb_log(SB_LOG_USAGE,
            "--mix requires a command, such as prepare, run or cleanup");
        return SB_EXIT_FAILED;
    }
    if (strcmp(a->command, "run") == 0)
        return run_mix(a);
    for (unsigned i = 0; status == SB_EXIT_OK && i < a->run.mix.n; i++) {
        struct sb_script *s = sb__app_mix_script(a, i);

        if (sb_script_command(s, a->command) == SB_COMMAND_NONE)
            continue;
        if (!sb__app_quiet(a))
            printf("Workload %s:\n", a->run.mix.part[i].name);
        status = perform_script(a, s);
        if (!sb__app_quiet(a))
            printf("\n");
        done++;
    }
    if (status == SB_EXIT_FAILED && done > 1 &&
        strcmp(a->command, "prepare") == 0)
        sb_log(SB_LOG_NOTICE,
            "Workloads that use the same tables are prepared by one of them, "
            "without --mix.");
    if (done)
        return status;
    sb_log(SB_LOG_USAGE, "no workload of --mix implements the '%s' command.",
        a->command);
    return SB_EXIT_FAILED;
}

// Built-in tests --------------------------------------------------------------

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
            "limit its events",
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
    int status = run_workload(a, w);
    if (!a->leave)
        b->destroy(w);
    return status;
}

// Prints the options of a built-in test. Scripts print their own help.
static void builtin_help(const struct sb_app *a)
{
    if (!a->builtin->opts)
        return;
    sb_opts_help(a->opts, a->builtin->opts, 0, stdout);
    printf("\n");
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
        builtin_help(a);
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

static int perform(struct sb_app *a)
{
    assert(
        !!a->builtin + !!a->mix + !!a->script == 1); // what load_test() found
    if (a->builtin)
        return perform_builtin(a);
    if (a->mix)
        return perform_mix(a);
    // Without a command, running the body of the script was all there was to
    // do.
    if (!a->command || sb_script_from_stdin(a->script))
        return SB_EXIT_OK;
    return perform_script(a, a->script);
}

int sb_app_perform(struct sb_app *a)
{
    int status = perform(a);

    if (status == SB_EXIT_OK && !a->builtin && a->command &&
        strcmp(a->command, "prepare") == 0)
        sb__app_settle(a);
    return status;
}
