// SPDX-License-Identifier: GPL-2.0-or-later
//
// --help: the options of the program by section, or those of a workload.
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/log.h"
#include "base/opts.h"
#include "kit/buf.h"

enum sb_app_help sb_app_asks_for_help(const struct sb_app *a)
{
    if (strcmp(a->o.help, "off") == 0)
        return SB_HELP_NONE;
    if (strcmp(a->o.help, "on") != 0)
        return SB_HELP_PROGRAM;
    if (sb_app_cmd(a))
        return SB_HELP_COMMAND;
    return a->o.test[0] || a->run.mix.n || sb_opts_positional(a->opts, 0)
               ? SB_HELP_WORKLOAD
               : SB_HELP_PROGRAM;
}

// Sections --------------------------------------------------------------------

struct sections {
    struct sb_app *a;
    const char *wanted; // print the options of this section
    unsigned flags;     // that they must have
    bool found;
    struct sb_buf *names; // NULL, or add the names of all sections
    bool list;            // print the names and titles of all sections
};

static void visit_section(
    struct sections *s, const char *name, const struct sb_opt_table *table)
{
    if (s->list)
        printf("  %-10s %s\n", name, table->title);
    if (s->names)
        sb_buf_addf(s->names, "%s, ", name);
    if (s->wanted && strcmp(s->wanted, name) == 0) {
        s->found = true;
        sb_opts_help(s->a->opts, table, 0, stdout);
    }
}

static int visit_driver(void *arg, const char *name,
    const struct sb_driver *driver, const char *problem)
{
    (void)problem;
    if (driver && driver->opts)
        visit_section(arg, name, driver->opts);
    return 0;
}

// The drivers are loaded only if they are needed.
static void each_section(struct sections *s)
{
    for (const struct sb_app_table *t = sb_app_tables; t->table; t++)
        visit_section(s, t->table->section, t->table);
    if (!s->found)
        sb_drivers_each(s->a->drivers, visit_driver, s);
}

static int help_section(struct sb_app *a, struct sb_err *err)
{
    struct sb_buf names = { 0 };
    struct sections s = { .a = a, .wanted = a->o.help, .names = &names };

    each_section(&s);
    if (!s.found)
        sb_err_set(err, SB_EUSAGE,
            "Invalid value for the 'help' option: '%.100s' (must be one of "
            "%sall)",
            SB_SHOWN(a->o.help), names.data ? names.data : "");
    sb_buf_done(&names);
    return s.found ? 0 : SB_EUSAGE;
}

// All sections ----------------------------------------------------------------

static void table_help(
    const struct sb_app *a, const struct sb_opt_table *table, unsigned flags)
{
    if (sb_opts_help(a->opts, table, flags, stdout))
        printf("\n");
}

struct driver_help {
    const struct sb_app *a;
    unsigned flags;
};

static int driver_options(void *arg, const char *name,
    const struct sb_driver *driver, const char *problem)
{
    const struct driver_help *h = arg;

    (void)problem;
    if (driver && driver->opts)
        table_help(h->a, driver->opts, h->flags);
    return 0;
}

// Prints a line "  name - title".
static void help_line(const char *name, const char *format, const char *title)
{
    struct sb_buf text = { 0 };

    sb_buf_addf(&text, format, title);
    printf("  %s - ", name);
    sb_wrap(stdout, strlen(name) + 5, 6, text.data ? text.data : title);
    sb_buf_done(&text);
}

static int driver_line(void *arg, const char *name,
    const struct sb_driver *driver, const char *problem)
{
    (void)arg;
    if (driver)
        help_line(name, "%s", driver->title);
    else
        help_line(name, "cannot be used: %s", problem);
    return 0;
}

static void help_tables(struct sb_app *a, unsigned flags)
{
    struct driver_help h = { a, flags };

    for (const struct sb_app_table *t = sb_app_tables; t->table; t++)
        table_help(a, t->table, flags);
    if (!flags) {
        printf("Database drivers:\n");
        sb_drivers_each(a->drivers, driver_line, NULL);
        printf("\n");
    }
    sb_drivers_each(a->drivers, driver_options, &h);
}

static void help_usage(void)
{
    static const char *const usage[] = { "[options]... [testname] [command]",
        "[options]... --mix=TEST:WEIGHT,... [command]",
        "compare|history|merge|report|rerun|show [options]... FILE..." };

    printf("Usage:\n");
    for (size_t i = 0; i < sizeof(usage) / sizeof(usage[0]); i++) {
        printf("  sysbench ");
        sb_wrap(stdout, 11, 6, usage[i]);
    }
    printf("\n");
    sb_wrap(stdout, 0, 0,
        "Commands implemented by most tests: prepare run cleanup help");
    printf("\n");
}

static void help_commands(void)
{
    printf("Commands on result files:\n");
    for (size_t i = 0; sb_app_cmds[i]; i++) {
        printf("  sysbench ");
        sb_wrap(stdout, 11, 6, sb_app_cmds[i]->usage);
    }
    printf("\n");
}

static void help_end(void)
{
    sb_wrap(stdout, 0, 0,
        "See 'sysbench <testname> --help' for a list of options for each test, "
        "and 'sysbench --list' for the workloads.");
    sb_wrap(stdout, 0, 0,
        "Every option can also be set in a --config-file or in the environment "
        "(SYSBENCH_REPORT_INTERVAL=1).");
    sb_wrap(stdout, 0, 0,
        "Suffixes: numbers (N) take k, M, G, T (powers of 1,000), sizes (SIZE) "
        "take K, M, G, T (powers of 1,024), durations (DURATION) take us, ms, "
        "s, m, h, d, also combined (1h30m). Durations without a suffix are in "
        "seconds.");
}

static void help_all(struct sb_app *a)
{
    help_usage();
    help_tables(a, 0);
    printf("Built-in tests:\n");
    for (size_t i = 0; i < sb_builtin_count; i++)
        help_line(sb_builtins[i]->name, "%s", sb_builtins[i]->title);
    printf("\n");
    help_commands();
    help_end();
}

static void help_common(struct sb_app *a)
{
    struct sections s = { .a = a, .list = true };

    help_usage();
    help_tables(a, SB_OPT_COMMON);
    printf("More options, by section: sysbench --help=SECTION\n");
    each_section(&s);
    printf("  %-10s All options\n\n", "all");
    help_commands();
    help_end();
}

int sb_app_help(struct sb_app *a, struct sb_err *err)
{
    if (sb_app_asks_for_help(a) == SB_HELP_PROGRAM &&
        strcmp(a->o.help, "on") != 0 && strcmp(a->o.help, "all") != 0)
        return help_section(a, err);
    if (strcmp(a->o.help, "all") == 0)
        help_all(a);
    else
        help_common(a);
    return 0;
}

// Workloads -------------------------------------------------------------------

static void workload_usage(struct sb_app *a)
{
    static const char *const usual[] = { "cleanup", "help", "prepare", "run",
        NULL };
    const char *const *command = a->script ? sb_script_commands(a->script)
                                           : usual;
    struct sb_buf text = { 0 };

    sb_buf_addf(
        &text, "[options]... %s%s", a->run.mix.n ? "--mix=" : "", a->test);
    for (const char *mark = " "; *command; command++) {
        if (!a->script && !sb_app_has_command(a, *command))
            continue;
        sb_buf_addf(&text, "%s%s", mark, *command);
        mark = "|";
    }
    printf("Usage: sysbench ");
    sb_wrap(stdout, 16, 4, text.data ? text.data : "");
    printf("\n");
    sb_buf_done(&text);
}

int sb_app_workload_help(struct sb_app *a)
{
    int status = SB_EXIT_OK;

    workload_usage(a);
    if (sb_app_has_command(a, "help"))
        status = sb_app_perform(a);
    else
        printf("This workload has no options of its own.\n\n");
    sb_wrap(stdout, 0, 0,
        "See 'sysbench --help' for the options of all workloads, such as "
        "--threads, --time and --db-driver.");
    return status;
}
