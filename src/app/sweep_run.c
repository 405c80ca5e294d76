// SPDX-License-Identifier: GPL-2.0-or-later
//
// The runs of a sweep and the commands before and after them, each in a process
// of its own.
#include <assert.h>
#include <string.h>

#include "app/sweep_private.h"
#include "base/log.h"
#include "kit/clock.h"
#include "out/progress.h"

#define REPORTS_SIZE 32768

// The number of a run in the order in which they are executed.
static unsigned place_of(const struct sb_sweep_plan *p, unsigned run)
{
    unsigned i = 0;

    while (p->order[i] != run)
        i++;
    assert(i < p->nruns);
    return i;
}

// The runs that are still to be measured, from this place on.
static unsigned following(const struct sb_app_sweep *s, unsigned place)
{
    unsigned n = 0;

    for (; place < s->plan.nruns; place++)
        n += !sb__sweep_finished(s->outcome[s->plan.order[place]]);
    return n;
}

// Turns this process into that of a command with the options of a run.
static int take_options(struct sb_app *a, unsigned run, const char *command,
    const char *reports, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    const struct sb_sweep_plan *p = &s->plan;
    struct sb_fact value[SB_SWEEP_OPTIONS_MAX];
    int rc = 0;

    sb_sweep_raw_values(p, run, value);
    sb_sweep_values(p, run, s->swept);
    for (unsigned i = 0; rc == 0 && i < p->noptions; i++)
        rc = sb_opts_give(a->opts, value[i].name, value[i].value, err);
    if (rc == 0)
        rc = sb_opts_give(a->opts, "report", reports, err);
    a->command = command;
    memcpy(a->given, value, sizeof(value));
    a->ngiven = p->noptions;
    a->swept = s->swept;
    a->nswept = p->noptions;
    a->round = run / p->npoints + 1;
    assert(a->round <= p->rounds);
    a->place = place_of(p, run) + 1;
    a->places = p->nruns;
    a->following = following(s, a->place);
    return rc;
}

// Executes a command in a process of its own. Returns 1 in this process.
static int execute(struct sb_app *a, unsigned run, const char *command,
    const char *reports, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int rc = sb_app_job_child(a, &s->children, !s->text, status, err);

    if (rc != 1)
        return rc;
    s->child_err = *err;
    s->child_rc = err->code
                      ? err->code
                      : take_options(a, run, command, reports, &s->child_err);
    return rc;
}

// when: "before" or "after" the run. A command that a signal interrupts has not
// failed.
static int execute_list(struct sb_app *a, unsigned run, const char *when,
    const struct sb_opt_list *commands, int *status, struct sb_err *err)
{
    struct sb_app_children *c = &a->sweep->children;
    char name[400];

    sb__sweep_name(a->sweep, run, name, sizeof(name));
    for (size_t i = 0; i < commands->count && *status == 0; i++) {
        int rc = execute(a, run, commands->item[i],
            a->sweep->text ? "text" : "none", status, err);

        if (rc || sb_app_children_seen(c))
            return rc;
        if (*status)
            sb_log(SB_LOG_ALERT, "%s %s the run%s%s failed, exit status %d",
                commands->item[i], when, *name ? " " : "", name, *status);
    }
    return 0;
}

// *status: 0, or that of the first process that failed.
static int execute_steps(struct sb_app *a, unsigned run, const char *reports,
    int *status, struct sb_err *err)
{
    struct sb_app_children *c = &a->sweep->children;

    *status = 0;
    int rc = execute_list(a, run, "before", &a->sweep_opts.before, status, err);

    if (rc == 0 && *status == 0 && !sb_app_children_seen(c))
        rc = execute(a, run, "run", reports, status, err);
    return rc;
}

// Executes the commands after a run that is over. If they fail or a signal
// comes, they and not the run are repeated.
static int execute_after(struct sb_app *a, unsigned run, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int status = 0;

    if (sb_app_children_seen(&s->children))
        return 0;
    int rc = execute_list(a, run, "after", &a->sweep_opts.after, &status, err);

    if (rc || sb_app_children_seen(&s->children))
        return rc;
    if (status == 0)
        sb_sweep_state_after_done(&s->state, run);
    s->after[run] = status ? SB__AFTER_FAILED : SB__AFTER_DONE;
    return 0;
}

// Executes a run with what belongs to it. The file of a run that is interrupted
// does not count; that of one that had ended before the signal does.
static int execute_run(
    struct sb_app *a, unsigned run, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    char path[4200], reports[REPORTS_SIZE];

    assert(!sb__sweep_finished(s->outcome[run])); // its file would be removed
    int rc = sb_sweep_state_begin(
        &s->state, run, a->sweep_opts.after.count > 0, path, sizeof(path), err);

    if (rc == 0)
        rc = sb_sweep_names_reports(
            &s->names, run, s->text, path, reports, sizeof(reports), err);
    if (rc == 0)
        rc = execute_steps(a, run, reports, status, err);
    s->after[run] = SB__AFTER_OPEN;
    if (rc == 0)
        rc = sb_sweep_state_settle(&s->state, run, *status,
            sb_app_children_seen(&s->children) != 0, err);
    return rc ? rc : execute_after(a, run, err);
}

// Waits until the next run, unless a signal comes.
static void pause_before(struct sb_app *a, unsigned run)
{
    struct sb_app_sweep *s = a->sweep;
    int64_t left = a->sweep_opts.pause, step;
    bool shown = sb__app_has_progress(a);
    char line[120];

    for (; left > 0 && !sb_app_children_seen(&s->children); left -= step) {
        step = left > (int64_t)SB_SECOND ? (int64_t)SB_SECOND : left;
        sb_progress_pause(line, sizeof(line), place_of(&s->plan, run) + 1,
            s->plan.nruns, (double)left / SB_SECOND);
        if (shown)
            sb_log_progress("%s", line);
        sb_app_children_pause(&s->children, step);
    }
    if (shown)
        sb_log_progress_done();
}

// Measures a run that is not finished, unless a signal comes.
static int measure(
    struct sb_app *a, unsigned run, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;

    if (s->executed)
        pause_before(a, run);
    s->executed = true;
    return sb_app_children_seen(&s->children)
               ? 0
               : execute_run(a, run, status, err);
}

// Sets `after` of a run whose outcome is known. failed: in this attempt.
static void find_after(struct sb_app_sweep *s, unsigned run, bool failed)
{
    s->after[run] = SB__AFTER_DONE;
    if (sb__sweep_finished(s->outcome[run]) &&
        sb_sweep_state_after(&s->state, run))
        s->after[run] = failed ? SB__AFTER_FAILED : SB__AFTER_OPEN;
}

static int next_run(struct sb_app *a, unsigned number, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    unsigned run = s->plan.order[number];
    struct sb_result_file f = { 0 };
    bool kept = sb__sweep_finished(s->outcome[run]);
    int status = 0;
    int rc = kept ? 0 : measure(a, run, &status, err);

    if (rc)
        return rc;
    s->outcome[run] = sb_sweep_state_read(&s->state, run, &f);
    find_after(s, run, s->after[run] == SB__AFTER_FAILED);
    // Of an interrupted run nothing is known.
    if (s->outcome[run] != SB_SWEEP_OPEN)
        sb__sweep_print_run(a, number, run, status, &f, kept);
    sb_result_done(&f);
    return 0;
}

// What earlier attempts have finished.
static void find_finished(struct sb_app_sweep *s)
{
    for (unsigned i = 0; i < s->plan.nruns; i++) {
        struct sb_result_file f;

        s->outcome[i] = sb_sweep_state_read(&s->state, i, &f);
        if (s->outcome[i] == SB_SWEEP_FAILED)
            s->outcome[i] = SB_SWEEP_OPEN;
        find_after(s, i, false);
        sb_result_done(&f);
    }
}

// Whether --sweep-stop ends the sweep here.
static bool stops(const struct sb_app *a)
{
    const struct sb_app_sweep *s = a->sweep;

    return a->sweep_opts.stop &&
           (s->left_failed || sb__sweep_count(s, SB_SWEEP_FAILED) ||
               sb__sweep_count_after(s, SB__AFTER_FAILED));
}

// Executes the commands that earlier attempts have left, also those of a run
// that failed or was interrupted and is repeated. No run begins before: the
// commands before a run may need what these commands remove.
static int execute_left(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->plan.nruns && !stops(a); i++) {
        unsigned run = s->plan.order[i];

        if (!sb_sweep_state_after(&s->state, run))
            continue;
        rc = execute_after(a, run, err);
        s->left_failed = s->left_failed || s->after[run] == SB__AFTER_FAILED;
        find_after(s, run, s->after[run] == SB__AFTER_FAILED);
    }
    return rc;
}

void sb_app_sweep_mark(struct sb_app *a)
{
    if (a->places)
        sb_sweep_names_mark(&a->sweep->names, &a->reporters);
}

int sb__sweep_runs(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int rc;

    find_finished(s);
    rc = execute_left(a, err);
    for (unsigned i = 0; rc == 0 && i < s->plan.nruns; i++) {
        bool kept = sb__sweep_finished(s->outcome[s->plan.order[i]]);

        if (sb_app_children_seen(&s->children) || (!kept && stops(a)))
            break;
        rc = next_run(a, i, err);
    }
    return rc;
}
