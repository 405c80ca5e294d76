// SPDX-License-Identifier: GPL-2.0-or-later
//
// --sweep and --repeat: the runs of a sweep, one after the other, each in a
// child process. docs/internals/sweep.md
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_child.h"
#include "app_private.h"
#include "base/log.h"
#include "base/units.h"
#include "cmd/sweep_figures.h"
#include "cmd/sweep_files.h"
#include "cmd/sweep_state.h"

#define REPORTS_SIZE 32768

// Exit status of the process that loads the test to check the options: it has
// options of these names itself.
enum { OWNS = 64, OWNS_SWEEP = 1, OWNS_REPEAT = 2 };

struct sb_app_sweep {
    struct sb_sweep_plan plan;
    struct sb_err plan_err; // of the plan, if plan_rc
    int plan_rc;
    struct sb_sweep_files files;
    struct sb_sweep_state state;
    struct sb_sweep_figures figures;
    struct sb_app_children children;
    bool text;     // the whole report of each run was asked for
    bool executed; // at least one run, now
    unsigned done, failed, missed, left;
    // In the process of a run.
    int child_rc;
    struct sb_err child_err;
    struct sb_fact swept[SB_SWEEP_OPTIONS_MAX];
};

// Roles -----------------------------------------------------------------------

static enum sb_sweep_role end(int *status, int value)
{
    *status = value;
    return SB_SWEEP_DONE;
}

static int failure(const struct sb_err *err)
{
    sb_log(SB_LOG_FATAL, "%s", err->msg);
    return SB_EXIT_FAILED;
}

// Turns this process into that of a command with the options of a run.
static int take_options(struct sb_app *a, unsigned run, const char *command,
    const char *reports, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    const struct sb_sweep_plan *p = &s->plan;
    int rc = 0;

    sb_sweep_values(p, run, s->swept);
    for (unsigned i = 0; rc == 0 && i < p->noptions; i++)
        rc = sb_opts_give(a->opts, s->swept[i].name, s->swept[i].value, err);
    if (rc == 0)
        rc = sb_opts_give(a->opts, "report", reports, err);
    a->command = command;
    a->swept = s->swept;
    a->nswept = p->noptions;
    a->round = run / p->npoints + 1;
    return rc;
}

// Runs ------------------------------------------------------------------------

static void name_of(
    const struct sb_app_sweep *s, unsigned run, char *out, size_t size)
{
    struct sb_fact swept[SB_SWEEP_OPTIONS_MAX];

    sb_sweep_values(&s->plan, run, swept);
    sb_sweep_text(swept, s->plan.noptions, out, size);
}

static bool quiet(const struct sb_app *a)
{
    return sb__app_quiet(a);
}

// Reads the file of a run. Returns its exit status, or -1 if there is no file
// or the run was interrupted.
static int read_run(
    const struct sb_app_sweep *s, unsigned run, struct sb_result_file *f)
{
    char path[4200];
    struct sb_err err = { 0 };

    memset(f, 0, sizeof(*f));
    sb_sweep_state_file(&s->state, run, path, sizeof(path));
    if (access(path, R_OK) || sb_result_read(f, path, &err) || f->nruns != 1)
        return -1;
    json_t *ending = json_object_get(f->run[0].json, "end");
    const char *reason = json_string_value(json_object_get(ending, "reason"));

    if (!reason || strcmp(reason, "signal") == 0)
        return -1;
    return (int)json_integer_value(json_object_get(ending, "status"));
}

static void print_figures(const struct sb_result_run *r)
{
    const struct sb_report *p = &r->report;
    double p95 = sb_hist_snap_percentile(p->latency, 95, p->lat_max) / 1e6;
    struct sb_mean rate;

    if (sb_sweep_rate(r, &rate) == 0)
        printf("%.2f events/s, p95 %.*f ms", rate.value,
            sb_units_ms_decimals(p95, 2), p95);
}

// Prints one line for a run that is over.
static void print_run(const struct sb_app *a, unsigned number, unsigned run,
    int status, const struct sb_result_file *f, bool kept)
{
    const struct sb_app_sweep *s = a->sweep;
    char name[400];

    if (quiet(a))
        return;
    name_of(s, run, name, sizeof(name));
    printf("[%u/%u] %s%s", number + 1, s->plan.nruns, name, *name ? ": " : "");
    if (sb_sweep_failed(status))
        printf("failed, exit status %d", status);
    else if (f->nruns && f->run[0].has_totals)
        print_figures(&f->run[0]);
    printf("%s%s\n", status == SB_STATUS_LIMITS ? ", a limit was not kept" : "",
        kept ? " (measured before)" : "");
    fflush(stdout);
}

// Executes a command in a process of its own. Returns 1 in this process.
static int execute(struct sb_app *a, unsigned run, const char *command,
    const char *reports, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int rc = sb_app_child(&s->children, !s->text, status, err);

    if (rc == 1)
        s->child_rc = take_options(a, run, command, reports, &s->child_err);
    return rc;
}

static int execute_list(struct sb_app *a, unsigned run,
    const struct sb_opt_list *commands, int *status, struct sb_err *err)
{
    for (size_t i = 0; i < commands->count && *status == 0; i++) {
        char name[400];
        int rc = execute(a, run, commands->item[i],
            a->sweep->text ? "text" : "none", status, err);

        if (rc)
            return rc;
        name_of(a->sweep, run, name, sizeof(name));
        if (*status)
            sb_log(SB_LOG_ALERT, "%s failed before or after the run %s",
                commands->item[i], name);
    }
    return 0;
}

// Executes one run with what belongs before and after it.
static int execute_run(
    struct sb_app *a, unsigned run, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    char path[4200], name[400], reports[REPORTS_SIZE];
    int after = 0;

    sb_sweep_state_file(&s->state, run, path, sizeof(path));
    unlink(path);
    name_of(s, run, name, sizeof(name));
    int rc = sb_sweep_files_reports(&a->reporters, s->text, path, name,
        run / s->plan.npoints + 1, reports, sizeof(reports), err);
    *status = 0;
    if (rc == 0)
        rc = execute_list(a, run, &a->sweep_opts.before, status, err);
    if (rc == 0 && *status == 0 && !s->children.seen)
        rc = execute(a, run, "run", reports, status, err);
    if (rc == 0 && !s->children.seen)
        rc = execute_list(a, run, &a->sweep_opts.after, &after, err);
    if (rc == 0 && *status == 0)
        *status = after;
    return rc;
}

// Returns 1 in the process of the run, otherwise 0 or SB_E*.
static int next_run(struct sb_app *a, unsigned number, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    unsigned run = s->plan.order[number];
    struct sb_result_file f = { 0 };
    int status = read_run(s, run, &f), rc = 0;
    bool kept = status == 0 || status == SB_STATUS_LIMITS;

    if (!kept) {
        sb_result_done(&f);
        if (s->executed)
            sb_app_children_pause(&s->children, a->sweep_opts.pause);
        s->executed = true;
        if (!s->children.seen)
            rc = execute_run(a, run, &status, err);
        if (rc || s->children.seen)
            return rc;
        read_run(s, run, &f);
    }
    print_run(a, number, run, status, &f, kept);
    sb_result_done(&f);
    s->done++;
    s->failed += sb_sweep_failed(status);
    s->missed += status == SB_STATUS_LIMITS;
    return 0;
}

static int execute_all(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->plan.nruns; i++) {
        if (s->children.seen || (a->sweep_opts.stop && s->failed))
            break;
        rc = next_run(a, i, err);
    }
    s->left = s->plan.nruns - s->done;
    return rc;
}

// Results ---------------------------------------------------------------------

// Adds a run to the figures. *keep: its file belongs to the result.
static int add_run(struct sb_app_sweep *s, unsigned run, bool *keep)
{
    struct sb_fact swept[SB_SWEEP_OPTIONS_MAX];
    struct sb_result_file f;
    int status = read_run(s, run, &f), rc = 0;

    *keep = status >= 0;
    sb_sweep_values(&s->plan, run, swept);
    if (*keep)
        rc = sb_sweep_figures_add(
            &s->figures, swept, s->plan.noptions, &f.run[0], status);
    else if (s->left == 0)
        rc = sb_sweep_figures_add(
            &s->figures, swept, s->plan.noptions, NULL, SB_EXIT_FAILED);
    sb_result_done(&f);
    return rc;
}

static int write_results(struct sb_app *a, char **path, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    unsigned n = 0;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->plan.nruns; i++) {
        char name[4200];
        bool keep;

        rc = add_run(s, i, &keep);
        sb_sweep_state_file(&s->state, i, name, sizeof(name));
        if (rc == 0 && keep && !(path[n++] = strdup(name)))
            rc = SB_ENOMEM;
    }
    if (rc == 0)
        rc = sb_sweep_figures_compute(&s->figures);
    if (rc)
        return sb_err_set(err, rc, "out of memory");
    if (!quiet(a) && s->figures.npoints) {
        printf("\n");
        sb_sweep_figures_print(&s->figures, stdout);
    }
    json_t *sweep = sb_sweep_figures_json(&s->figures);

    rc = sb_sweep_files_write(
        &s->files, (const char *const *)path, n, sweep, a->test, err);
    json_decref(sweep);
    return rc;
}

static int finish(struct sb_app *a, struct sb_err *err)
{
    unsigned n = a->sweep->plan.nruns;
    char **path = calloc(n, sizeof(*path));
    int rc = path ? write_results(a, path, err)
                  : sb_err_set(err, SB_ENOMEM, "out of memory");

    for (unsigned i = 0; path && i < n; i++)
        free(path[i]);
    free(path);
    return rc;
}

static void explain(const struct sb_app_sweep *s)
{
    if (s->left == 0 && s->failed == 0)
        return;
    if (s->left)
        sb_log(SB_LOG_ALERT,
            "the sweep ended early: %u of %u runs are measured",
            s->done - s->failed, s->plan.nruns);
    else
        sb_log(SB_LOG_ALERT, "%u of %u runs failed", s->failed, s->plan.nruns);
    if (!s->state.temporary)
        sb_log(SB_LOG_ALERT,
            "the finished runs are in %s; add --sweep-resume to measure the "
            "others",
            s->state.dir);
}

static int exit_status(const struct sb_app_sweep *s)
{
    if (s->children.seen)
        return 128 + s->children.seen;
    if (s->failed || s->left)
        return SB_EXIT_FAILED;
    return s->missed ? SB_EXIT_LIMITS : SB_EXIT_OK;
}

// The sweep -------------------------------------------------------------------

static void print_plan(const struct sb_app *a)
{
    const struct sb_sweep_plan *p = &a->sweep->plan;

    if (quiet(a))
        return;
    printf(
        "Sweep of %s: %u run%s", a->test, p->nruns, p->nruns == 1 ? "" : "s");
    if (p->rounds > 1)
        printf(" (%u combination%s, %u rounds%s)", p->npoints,
            p->npoints == 1 ? "" : "s", p->rounds,
            p->random ? ", random order" : "");
    printf("\n\n");
    fflush(stdout);
}

static int perform(struct sb_app *a, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    char reports[REPORTS_SIZE];
    int rc = sb_sweep_files_reports(
        &a->reporters, false, "", "", 1, reports, sizeof(reports), err);

    if (rc == 0)
        rc = sb_sweep_files_open(&s->files, &a->reporters, err);
    if (rc == 0)
        rc = sb_sweep_state_open(&s->state, sb_sweep_files_main(&a->reporters),
            a->sweep_opts.resume, &s->plan, a->opts, err);
    if (rc)
        return rc;
    print_plan(a);
    rc = execute_all(a, err);
    if (rc == 1)
        return 1;
    struct sb_err later = { 0 };
    int written = finish(a, rc ? &later : err);

    rc = rc ? rc : written;
    *status = exit_status(s);
    explain(s);
    return rc;
}

// In the process of a run, what belongs to the sweep is left to the parent.
static enum sb_sweep_role carry_out(
    struct sb_app *a, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;

    s->state.lock = -1;
    int rc = perform(a, status, err);

    if (rc == 1)
        return s->child_rc ? end(status, failure(&s->child_err)) : SB_SWEEP_RUN;
    if (rc)
        *status = failure(err);
    sb_sweep_state_done(&s->state, rc == 0 && s->left == 0 && s->failed == 0);
    sb_sweep_files_done(&s->files);
    return SB_SWEEP_DONE;
}

// Checks
// -----------------------------------------------------------------------

static bool owned(const struct sb_app *a, const char *name)
{
    struct sb_opt_view view;

    return sb_opts_find(a->opts, name, &view) &&
           view.table != &sb_sweep_opt_table;
}

static int check_option(
    struct sb_app *a, const struct sb_sweep_list *l, struct sb_err *err)
{
    const char *near = sb_opts_nearest(a->opts, l->name);
    struct sb_opt_view view;
    int rc = 0;

    if (!sb_opts_find(a->opts, l->name, &view))
        return sb_err_set(err, SB_EUSAGE,
            "--sweep: there is no option --%s%s%s%s", l->name,
            near ? " (did you mean --" : "", near ? near : "",
            near ? "?)" : "");
    for (unsigned i = 0; rc == 0 && i < l->n; i++)
        rc = sb_opts_give(a->opts, l->name, l->value[i], err);
    return rc;
}

// The exit status of the process that has loaded the test.
int sb_app_sweep_check(struct sb_app *a)
{
    struct sb_app_sweep *s = a->sweep;
    struct sb_err err = { 0 };
    int owns = (owned(a, "sweep") ? OWNS_SWEEP : 0) |
               (owned(a, "repeat") ? OWNS_REPEAT : 0);

    if (owns & OWNS_SWEEP)
        return OWNS | owns;
    if (owns && !sb_opts_given(a->opts, "sweep", false))
        return OWNS | owns;
    int rc = s->plan_rc;

    if (rc)
        err = s->plan_err;
    for (unsigned i = 0; rc == 0 && i < s->plan.noptions; i++)
        rc = check_option(a, &s->plan.option[i], &err);
    if (rc) {
        sb_log(SB_LOG_USAGE, "%s", err.msg);
        return SB_EXIT_FAILED;
    }
    return owns ? OWNS | owns : SB_EXIT_OK;
}

int sb_app_sweep_misused(const struct sb_app *a, struct sb_err *err)
{
    static const char *const names[] = { "sweep", "repeat", "sweep-resume" };
    struct sb_opt_view view;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (a->command && strcmp(a->command, "run") != 0 && !a->sweep &&
            sb_opts_find(a->opts, names[i], &view) &&
            view.table == &sb_sweep_opt_table && view.source == SB_SRC_CMDLINE)
            return sb_err_set(err, SB_EUSAGE,
                "--%s only applies to the command run, not to %s", names[i],
                a->command);
    return 0;
}

// A script from standard input can be read only once.
static int check_source(const struct sb_app *a, struct sb_err *err)
{
    if (strcmp(a->test, "-") == 0 || strcmp(a->test, "/dev/stdin") == 0)
        return sb_err_set(err, SB_EUSAGE,
            "--sweep: a script from standard input cannot be swept: write it "
            "to a file");
    return 0;
}

// Executes a process that loads the test and checks all options and values.
// SB_SWEEP_CHECK in this process; otherwise what to do next.
static enum sb_sweep_role check(struct sb_app *a, int *status)
{
    struct sb_app_sweep *s = a->sweep;
    struct sb_err err = { 0 };
    int rc = check_source(a, &err);

    if (rc == 0)
        rc = sb_app_child(&s->children, true, status, &err);
    if (rc == 1)
        return SB_SWEEP_CHECK;
    if (rc)
        return end(status, failure(&err));
    if ((*status & OWNS) && *status < 128) {
        if ((*status & OWNS_SWEEP) || !sb_opts_given(a->opts, "sweep", false))
            return SB_SWEEP_NONE;
        s->plan.nruns = s->plan.npoints;
        s->plan.rounds = 1;
        sb_sweep_plan_order(&s->plan);
        *status = 0;
    }
    return *status ? SB_SWEEP_DONE : SB_SWEEP_RUN;
}

static bool text_given(const struct sb_app *a)
{
    const struct sb_opt_list *list = &a->report_opts.report;
    struct sb_opt_view view;

    if (!sb_opts_find(a->opts, "report", &view) ||
        view.source == SB_SRC_DEFAULT)
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i], "text") == 0)
            return true;
    return false;
}

enum sb_sweep_role sb_app_sweep(struct sb_app *a, int *status)
{
    struct sb_err err = { 0 };

    if (!sb_sweep_wanted(a->opts) || !a->command ||
        strcmp(a->command, "run") != 0 || a->o.print_config || a->o.list)
        return SB_SWEEP_NONE;
    a->sweep = calloc(1, sizeof(*a->sweep));
    if (!a->sweep) {
        sb_err_set(&err, SB_ENOMEM, "out of memory");
        return end(status, failure(&err));
    }
    a->sweep->text = text_given(a);
    a->sweep->plan_rc = sb_sweep_plan_init(&a->sweep->plan, &a->sweep_opts,
        a->opts, a->random.seed, &a->sweep->plan_err);
    sb_app_children_start(&a->sweep->children);
    enum sb_sweep_role role = check(a, status);

    if (role == SB_SWEEP_RUN)
        role = carry_out(a, status, &err);
    if (role == SB_SWEEP_DONE || role == SB_SWEEP_NONE)
        sb_app_children_stop(&a->sweep->children);
    return role;
}

void sb_app_sweep_done(struct sb_app *a)
{
    if (!a->sweep)
        return;
    sb_sweep_files_leave(&a->sweep->files);
    sb_sweep_plan_done(&a->sweep->plan);
    sb_sweep_figures_done(&a->sweep->figures);
    free(a->sweep);
    a->sweep = NULL;
}
