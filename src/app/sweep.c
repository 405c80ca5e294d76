// SPDX-License-Identifier: GPL-2.0-or-later
//
// --sweep and --repeat: the course of a sweep, whose runs are carried out one
// after the other, each in a child process. docs/internals/sweep.md
#define _GNU_SOURCE // MAP_ANONYMOUS
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "app/sweep_private.h"
#include "base/log.h"

static enum sb_sweep_role end_with(int *status, int value)
{
    *status = value;
    return SB_SWEEP_DONE;
}

static int failure(const struct sb_err *err)
{
    sb_log(SB_LOG_FATAL, "%s", err->msg);
    return SB_EXIT_FAILED;
}

static bool is_complete(const struct sb_app_sweep *s)
{
    return sb__sweep_count(s, SB_SWEEP_OPEN) == 0 &&
           sb__sweep_count(s, SB_SWEEP_FAILED) == 0 &&
           sb__sweep_count_after(s, SB__AFTER_OPEN) == 0 &&
           sb__sweep_count_after(s, SB__AFTER_FAILED) == 0;
}

// The commands after runs. Returns what is to do with them, NULL: nothing.
static const char *explain_after(const struct sb_app_sweep *s)
{
    unsigned open = sb__sweep_count_after(s, SB__AFTER_OPEN);
    unsigned failed = sb__sweep_count_after(s, SB__AFTER_FAILED);

    if (failed)
        sb_log(SB_LOG_ALERT,
            "the commands after %u of %u runs failed; the figures of these "
            "runs are kept",
            failed, s->plan.nruns);
    if (open)
        sb_log(SB_LOG_ALERT,
            "the commands after %u of %u runs were not completed; the figures "
            "of these runs are kept",
            open, s->plan.nruns);
    if (failed)
        return "repeat";
    return open ? "execute" : NULL;
}

// written: the results are.
static void explain(const struct sb_app_sweep *s, bool written)
{
    unsigned open = sb__sweep_count(s, SB_SWEEP_OPEN);
    unsigned failed = sb__sweep_count(s, SB_SWEEP_FAILED);

    if (open)
        sb_log(SB_LOG_ALERT,
            "the sweep ended early: %u of %u runs are measured",
            s->plan.nruns - open - failed, s->plan.nruns);
    else if (failed)
        sb_log(SB_LOG_ALERT, "%u of %u runs failed", failed, s->plan.nruns);
    const char *todo = explain_after(s);

    if (s->state.temporary)
        return;
    if (open + failed == s->plan.nruns)
        sb_log(SB_LOG_ALERT,
            "no run is finished; begin again, or add --sweep-resume to "
            "continue the sweep in %s",
            s->state.dir);
    else if (open || failed)
        sb_log(SB_LOG_ALERT,
            "the finished runs are in %s; add --sweep-resume to measure the "
            "others",
            s->state.dir);
    else if (todo)
        sb_log(SB_LOG_ALERT,
            "the finished runs are in %s; add --sweep-resume to %s only these "
            "commands",
            s->state.dir, todo);
    else if (!written)
        sb_log(SB_LOG_ALERT,
            "all runs are finished and kept in %s; add --sweep-resume to write "
            "the results",
            s->state.dir);
}

static int exit_status(const struct sb_app_sweep *s)
{
    if (s->children.seen)
        return 128 + s->children.seen;
    if (!is_complete(s))
        return SB_EXIT_FAILED;
    return sb__sweep_count(s, SB_SWEEP_MISSED) ? SB_EXIT_LIMITS : SB_EXIT_OK;
}

// Opens all files, so that no run is measured for nothing.
static int open_files(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int rc = sb_sweep_names_init(&s->names, &a->reporters, &s->plan, err);

    if (rc == 0)
        rc = sb_sweep_files_open(&s->files, &a->reporters, err);
    if (rc == 0)
        rc = sb_sweep_state_open(&s->state, sb_sweep_files_main(&a->reporters),
            a->sweep_opts.resume, &s->plan, a->opts, err);
    return rc;
}

static int perform_sweep(struct sb_app *a, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    struct sb_err later = { 0 };
    int rc = open_files(a, err);

    if (rc)
        return rc;
    sb__sweep_print_plan(a);
    rc = sb__sweep_runs(a, err);
    if (rc == 1)
        return 1;
    int written = sb__sweep_finish(a, rc ? &later : err);

    // The last lines may have been written to a pipe without a reader.
    sb_app_children_seen(&s->children);
    *status = exit_status(s);
    if (sb_sweep_state_check(&s->state, &later) == 0)
        explain(s, written == 0);
    return rc ? rc : written;
}

// In the process of a run, what belongs to the sweep is left to the parent.
static enum sb_sweep_role carry_out(
    struct sb_app *a, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;

    assert(s->plan_rc == 0);
    s->state.lock = -1;
    int rc = perform_sweep(a, status, err);

    if (rc == 1)
        return s->child_rc ? end_with(status, failure(&s->child_err))
                           : SB_SWEEP_RUN;
    if (rc)
        *status = failure(err);
    sb_sweep_state_done(&s->state, rc == 0 && is_complete(s));
    sb_sweep_files_done(&s->files);
    return SB_SWEEP_DONE;
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

// What to do after the check, which ended with this status. A script that has
// the option --repeat takes no part in repeats.
static enum sb_sweep_role without_owned(
    struct sb_app *a, const struct sb__sweep_owned *owns, int status)
{
    struct sb_sweep_plan *p = &a->sweep->plan;

    if (owns->sweep ||
        (owns->repeat && !sb_opts_given(a->opts, "sweep", false)))
        return SB_SWEEP_NONE;
    if (owns->repeat) {
        p->nruns = p->npoints;
        p->rounds = 1;
        sb_sweep_plan_order(p);
    }
    return status ? SB_SWEEP_DONE : SB_SWEEP_RUN;
}

// The counterpart of share_memory().
static void unshare_owned(struct sb_app_sweep *s)
{
    if (s->owned)
        munmap(s->owned, sizeof(*s->owned));
    s->owned = NULL;
}

static int share_memory(struct sb_app_sweep *s, struct sb_err *err)
{
    void *p = mmap(NULL, sizeof(*s->owned), PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    s->owned = p;
    return 0;
}

// Executes a process that loads the test and checks all options and values.
// SB_SWEEP_CHECK in this process; otherwise what to do next.
static enum sb_sweep_role check_in_child(struct sb_app *a, int *status)
{
    struct sb_app_sweep *s = a->sweep;
    struct sb__sweep_owned owns;
    struct sb_err err = { 0 };
    int rc = check_source(a, &err);

    if (rc == 0)
        rc = share_memory(s, &err);
    if (rc == 0)
        rc = sb_app_child(&s->children, true, status, &err);
    if (rc == 1) {
        sb_app_job_detach(a);
        sb__sweep_check_begin(a);
        return SB_SWEEP_CHECK;
    }
    if (rc)
        return end_with(status, failure(&err));
    owns = *s->owned;
    unshare_owned(s);
    enum sb_sweep_role role = without_owned(a, &owns, *status);

    // A test that ended this process has kept it from saying so.
    if (role == SB_SWEEP_RUN && s->plan_rc) {
        sb_log(SB_LOG_USAGE, "%s", s->plan_err.msg);
        return end_with(status, SB_EXIT_FAILED);
    }
    return role;
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

static int is_mix(void *arg, const char *text)
{
    (void)arg;
    return strncmp(text, "mix=", 4) == 0;
}

// Without --mix and without a test, the command would be taken for the test.
static bool sweeps_mix(const struct sb_app *a)
{
    struct sb_opt_view view;

    return !a->command && sb_opts_find(a->opts, "sweep", &view) &&
           view.source > SB_SRC_DEFAULT &&
           sb_opts_values(a->opts, "sweep", view.source, is_mix, NULL);
}

// Another rank: this is the process of a run, or of a command before or after
// it, whose options rank 0 has given.
static int take_given(struct sb_app *a, struct sb_err *err)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < a->ngiven; i++)
        rc = sb_opts_give(a->opts, a->given[i].name, a->given[i].value, err);
    a->command = a->given_command;
    return rc;
}

enum sb_sweep_role sb_app_sweep(struct sb_app *a, int *status)
{
    struct sb_err err = { 0 };

    if (a->is_given)
        return take_given(a, &err) ? end_with(status, failure(&err))
                                   : SB_SWEEP_RUN;
    if (sweeps_mix(a)) {
        sb_log(SB_LOG_USAGE, SB__SWEEP_MIX);
        return end_with(status, SB_EXIT_FAILED);
    }
    if (!sb_sweep_wanted(a->opts) || !a->command ||
        strcmp(a->command, "run") != 0 || a->o.print_config || a->o.list)
        return SB_SWEEP_NONE;
    a->sweep = calloc(1, sizeof(*a->sweep));
    if (!a->sweep) {
        sb_err_set(&err, SB_ENOMEM, "out of memory");
        return end_with(status, failure(&err));
    }
    a->sweep->text = text_given(a);
    a->sweep->plan_rc = sb_sweep_plan_init(&a->sweep->plan, &a->sweep_opts,
        a->opts, a->random.seed, &a->sweep->plan_err);
    a->sweep->plan.test = a->test;
    sb_app_children_start(&a->sweep->children);
    enum sb_sweep_role role = check_in_child(a, status);

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
    unshare_owned(a->sweep);
    sb_sweep_files_leave(&a->sweep->files);
    sb_sweep_plan_done(&a->sweep->plan);
    sb_sweep_figures_done(&a->sweep->figures);
    free(a->sweep);
    a->sweep = NULL;
}
