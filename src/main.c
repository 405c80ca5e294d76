// SPDX-License-Identifier: GPL-2.0-or-later
//
// Connects the layers: reads the settings, loads the test, runs the command.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "base/log.h"
#include "base/outfile.h"
#include "kit/limits.h"
#include "kit/locale.h"
#include "run/thread_error.h"

// Stack of the main thread for a run with reports, whose script needs little.
#define MIN_STACK (256 * 1024)

extern char **environ;

static int add_tables(struct sb_app *a, bool early, struct sb_err *err)
{
    // Other commands and scripts have options of the same names.
    enum sb_app_help help = early ? SB_HELP_NONE : sb_app_asks_for_help(a);
    bool ab = a->ab || (help != SB_HELP_NONE && help != SB_HELP_COMMAND);

    for (const struct sb_app_table *t = sb_app_tables; t->table; t++) {
        bool skipped = t->early != early ||
                       (t->table == &sb_ab_opt_table && !ab);
        int rc = skipped ? 0
                         : sb_opts_add(
                               a->opts, t->table, (char *)a + t->offset, err);
        if (rc)
            return rc;
    }
    return 0;
}

// --config-file names another source of settings.
static int read_settings(struct sb_app *a, struct sb_err *err)
{
    int rc = sb_opts_argv(a->opts, a->argc, a->argv, err);

    a->ab = rc == 0 && sb_app_ab_wanted(a);
    if (rc == 0)
        rc = sb_opts_env(a->opts, environ, err);
    if (rc == 0)
        rc = add_tables(a, true, err);
    if (rc == 0 && a->o.config_file[0])
        rc = sb_app_read_config(a, err);
    else if (rc == 0)
        rc = sb_app_mix_parse(a, err);
    return rc;
}

static int read_positionals(struct sb_app *a, struct sb_err *err)
{
    size_t n = a->ab ? 1 : 0;

    if (a->o.test[0]) {
        a->test = a->o.test;
    } else if (a->run.mix.n) {
        a->test = a->o.mix;
    } else {
        a->test = sb_opts_positional(a->opts, n++);
    }
    a->command = a->test ? sb_opts_positional(a->opts, n++) : NULL;
    // Each side has a script of its own.
    if (a->ab && a->test && !a->command) {
        a->command = a->test;
        a->test = NULL;
    }
    if (sb_app_asks_for_help(a) == SB_HELP_WORKLOAD) {
        a->command = "help";
        return 0;
    }
    const char *extra = sb_opts_positional(a->opts, n);
    for (size_t i = 0; extra && i <= n; i++)
        if (sb_opts_unshown(a->opts, sb_opts_positional(a->opts, i), err))
            return err->code;
    if (extra)
        return sb_err_set(err, SB_EUSAGE,
            "Unrecognized command line argument: %s", SB_SHOWN(extra));
    return 0;
}

static int load_builtin(struct sb_app *a, struct sb_err *err)
{
    size_t size = a->builtin->opts_size;

    a->builtin_opts = calloc(1, size ? size : 1);
    if (!a->builtin_opts)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    if (!a->builtin->opts)
        return 0;
    return sb_opts_add(a->opts, a->builtin->opts, a->builtin_opts, err);
}

static int load_script(struct sb_app *a, struct sb_err *err)
{
    struct sb_script_env env;

    sb_app_script_env(a, &env);
    int rc = sb_app_load_script(a, &a->script, &env, a->test, err);

    if (rc == SB_ENOTFOUND && sb_opts_unshown(a->opts, a->test, err))
        return err->code;
    if (rc == SB_ENOTFOUND && a->o.mix[0] && !a->o.test[0])
        rc = sb_err_set(err, SB_EUSAGE,
            "--mix already names the workloads; only a command may follow, not "
            "'%.100s %.100s'",
            SB_SHOWN(a->test), a->command ? SB_SHOWN(a->command) : "");
    // In 1.0, --mix was a global of such a script.
    if (rc == 0 && a->o.mix[0] && sb_script_is_legacy(a->script))
        rc = sb_opts_add_script(a->opts, sb_script_title(a->script), "mix", "",
            SB_OPT_STRING, "", err);
    return rc;
}

// --mix was given with a test that has no option of this name.
static int check_mix(const struct sb_app *a, struct sb_err *err)
{
    if (a->mix || !a->o.mix[0])
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "--mix and the test '%.100s' cannot be combined",
        a->test ? a->test : "");
}

static void warn(const char *text)
{
    sb_log(SB_LOG_WARNING, "%s", text);
}

static int check_options(struct sb_app *a, struct sb_err *err)
{
    int rc = sb_opts_check(a->opts, warn, err);

    if (rc)
        sb_app_option_hint(a, err);
    return rc ? rc : sb_app_finish_options(a, err);
}

static int load_test(struct sb_app *a, struct sb_err *err)
{
    int rc = sb_drivers_claim(a->drivers, err);

    if (rc)
        return rc;
    a->builtin = a->test && !a->run.mix.n ? sb_builtin_find(a->test) : NULL;
    rc = a->run.mix.n ? sb_app_mix_load(a, err)
         : a->builtin ? load_builtin(a, err)
                      : load_script(a, err);
    if (rc == 0)
        rc = check_mix(a, err);
    // Help is printed even if the given options do not fit together.
    if (rc == 0 && !sb_app_asks_for_help(a))
        rc = check_options(a, err);
    if (rc == 0 && a->script)
        rc = sb_script_ready(a->script, err);
    if (rc == 0 && a->mix)
        rc = sb_app_mix_ready(a, err);
    return rc;
}

static int report_error(struct sb_app *a, const struct sb_err *err)
{
    if (err->msg[0] && !sb_app_job_told(a, err->msg))
        sb_log(SB_LOG_FATAL, "%s", err->msg);
    return SB_EXIT_FAILED;
}

// As in 1.0, errors of the option parser have no "FATAL: " prefix.
static int fail_usage(struct sb_app *a, const struct sb_err *err)
{
    if (err->code != SB_EUSAGE && err->code != SB_ERANGE)
        return report_error(a, err);
    if (!sb_app_job_told(a, err->msg))
        sb_log(SB_LOG_USAGE, "%s", err->msg);
    return SB_EXIT_FAILED;
}

// Finds the folders of the program, and sets the environment variables that
// client libraries read. This precedes all threads, including those of an MPI
// library.
static int begin_process(struct sb_app *a, struct sb_err *err)
{
    int rc = sb_paths_find(&a->paths, err);

    sb_outfile_begin();
    if (rc == 0)
        sb_environ_set(a->paths.drivers);
    return rc;
}

static int set_up(struct sb_app *a, struct sb_err *err)
{
    a->opts = sb_opts_new();
    if (!a->opts)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    if (a->setup.workloads && a->setup.workloads[0])
        snprintf(a->paths.workloads, sizeof(a->paths.workloads), "%s",
            a->setup.workloads);
    int rc = read_settings(a, err);
    if (rc == 0)
        rc = add_tables(a, false, err);
    if (rc)
        return rc;
    a->drivers = sb_drivers_new(a->paths.drivers, a->opts, &a->db);
    return a->drivers ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");
}

// 'sysbench help', unless a script has that name.
static bool is_help(const struct sb_app *a, const struct sb_err *err)
{
    return err->code == SB_ENOTFOUND && a->test &&
           (!a->command || sb_app_asks_for_help(a)) &&
           strcmp(a->test, "help") == 0;
}

// --new-workload without "=": a name after it would be the workload.
static int check_new_workload(const struct sb_app *a, struct sb_err *err)
{
    if (a->o.new_workload[0] || !sb_opts_given(a->opts, "new-workload", false))
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "Invalid value for --new-workload: a name is required; write "
        "--new-workload=...");
}

// --list and --new-workload.
static bool only_shows(const struct sb_app *a)
{
    return a->o.list || a->o.new_workload[0];
}

static int show(struct sb_app *a, struct sb_err *err)
{
    int rc = a->o.new_workload[0] ? sb_app_new_workload(a, err)
                                  : sb_app_list(a, err);

    return rc ? fail_usage(a, err) : SB_EXIT_OK;
}

static int load_and_perform(
    struct sb_app *a, enum sb_sweep_role role, struct sb_err *err)
{
    // The run of a sweep has options and a seed of its own.
    if (role == SB_SWEEP_RUN && sb_app_prepare_options(a, err))
        return fail_usage(a, err);
    // A script may declare an option `list` of its own.
    if (load_test(a, err) && !only_shows(a)) {
        if (is_help(a, err))
            return sb_app_help(a, err);
        if (err->code == SB_ENOTFOUND)
            check_new_workload(a, err);
        return fail_usage(a, err);
    }
    if (sb_app_asks_for_help(a))
        return sb_app_workload_help(a);
    if (sb_app_answers_check(a, err))
        return fail_usage(a, err);
    if (role == SB_SWEEP_CHECK)
        return sb_app_sweep_check(a);
    if (only_shows(a))
        return show(a, err);
    if (a->o.print_config) {
        sb_opts_print_config(a->opts, stdout);
        return SB_EXIT_OK;
    }
    if (a->setup.role == SB_SETUP_OF_RERUN && sb_app_rerun_check(a, err))
        return fail_usage(a, err);
    if (sb_app_sweep_misused(a, err))
        return fail_usage(a, err);
    // Rank 0 carries out other commands alone.
    if (a->run.job)
        sb_app_job_loaded(a);
    if (sb_app_job_follows(a))
        sb_log_set_level(
            sb_log_level() < SB_LOG_ALERT ? sb_log_level() : SB_LOG_WARNING);
    return sb_app_ranks_idle(a) ? SB_EXIT_OK : sb_app_perform(a);
}

// The user has forgotten the workload.
static bool would_wait_for_script(const struct sb_app *a)
{
    return !a->test && !a->ab && !a->o.print_config && isatty(STDIN_FILENO);
}

static int show_or_perform(struct sb_app *a, struct sb_err *err)
{
    enum sb_app_help help = sb_app_asks_for_help(a);

    if (help == SB_HELP_PROGRAM)
        return sb_app_help(a, err) ? fail_usage(a, err) : SB_EXIT_OK;
    if (sb_app_prepare_options(a, err))
        return fail_usage(a, err);
    a->cmd = sb_app_cmd(a);
    if (a->cmd)
        return sb_app_run_cmd(a, a->cmd);
    if (read_positionals(a, err))
        return fail_usage(a, err);
    if (help)
        return load_and_perform(a, SB_SWEEP_NONE, err);
    if (!a->test && check_new_workload(a, err))
        return fail_usage(a, err);
    if ((only_shows(a) && !a->test) || strcmp(a->db.driver, "help") == 0)
        return show(a, err);
    if (would_wait_for_script(a)) {
        sb_err_set(err, SB_EUSAGE,
            "Which workload? For example: sysbench oltp_read_write run. "
            "'sysbench --list' shows the workloads, 'sysbench --help' the "
            "options; 'sysbench -' reads a script from the terminal.");
        return fail_usage(a, err);
    }
    if (!a->o.print_config && !only_shows(a) && !a->reporters.no_text &&
        sb_log_level() >= SB_LOG_NOTICE)
        sb_app_banner(stdout);
    int status = SB_EXIT_OK;
    sb_app_ranks_begin(a);
    enum sb_sweep_role role = sb_app_sweep(a, &status);

    return role == SB_SWEEP_DONE ? status : load_and_perform(a, role, err);
}

static void clean_up(struct sb_app *a)
{
    sb_app_sweep_done(a);
    sb_app_rerun_done(a);
    sb_app_settled_done(a);
    sb_asserts_done(&a->asserts);
    sb_asserts_done(&a->rate_limits);
    sb_asserts_done(&a->headline_of);
    sb_answers_done(&a->answers);
    sb_script_free(a->script);
    sb_app_mix_done(a);
    free(a->builtin_opts);
    sb_drivers_free(a->drivers);
    sb_opts_free(a->opts);
    sb_app_setup_done(a);
}

// The exit status if standard output could not be written. A verdict of
// `compare` that cannot be printed is an error. SB_EXIT_LIMITS stays: stderr
// names the limits.
static int without_output(const struct sb_app *a, int status)
{
    return a->cmd || status == SB_EXIT_OK ? SB_EXIT_FAILED : status;
}

// Not a part of main(), which must not need much stack.
__attribute__((noinline)) static int run_program(int argc, char **argv)
{
    struct sb_app a = { .argc = argc, .argv = argv };
    struct sb_err err = { 0 };
    int status;

    sb_locale_keep();
    if (sb_app_open_streams(&err))
        return report_error(&a, &err);
    // Each connection is an open file. Many systems have a soft limit of 1,024,
    // for old programs that use select(), and a much higher hard limit.
    sb_raise_limit_of_files();
    if (begin_process(&a, &err) || sb_app_job_begin(&a, &err) ||
        set_up(&a, &err)) {
        status = fail_usage(&a, &err);
    } else if (a.o.version) {
        printf("%s\n", sb_app_version());
        status = SB_EXIT_OK;
    } else {
        sb_run_guard_main();
        status = show_or_perform(&a, &err);
        status = sb_app_rerun_end(&a, status);
    }
    if (sb_app_flush_output(&err)) {
        report_error(&a, &err);
        status = without_output(&a, status);
    }
    sb_log_flush();
    status = sb_app_job_end(&a, status);
    // Threads that did not return still use what clean_up() would free.
    if (a.leave)
        _exit(status);
    clean_up(&a);
    return status;
}

int main(int argc, char **argv)
{
    unsigned long long stack = sb_raise_limit_of_stack(MIN_STACK);

    if (stack) {
        fprintf(stderr,
            "FATAL: the stack is limited to %llu KiB (ulimit -s): the minimum "
            "is %d KiB\n",
            stack / 1024, MIN_STACK / 1024);
        return SB_EXIT_FAILED;
    }
    return run_program(argc, argv);
}
