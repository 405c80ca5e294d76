// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a sweep prints and writes: a line for each run, the table, the files
// with all runs.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "app/sweep_private.h"
#include "base/escape.h"
#include "base/log.h"
#include "results/sides.h"

bool sb__sweep_finished(enum sb_sweep_outcome outcome)
{
    return outcome == SB_SWEEP_GOOD || outcome == SB_SWEEP_MISSED;
}

unsigned sb__sweep_count(
    const struct sb_app_sweep *s, enum sb_sweep_outcome outcome)
{
    unsigned n = 0;

    for (unsigned i = 0; i < s->plan.nruns; i++)
        n += s->outcome[i] == outcome;
    return n;
}

unsigned sb__sweep_count_after(
    const struct sb_app_sweep *s, enum sb__sweep_after after)
{
    unsigned n = 0;

    for (unsigned i = 0; i < s->plan.nruns; i++)
        n += s->after[i] == after;
    return n;
}

void sb__sweep_name(
    const struct sb_app_sweep *s, unsigned run, char *out, size_t size)
{
    struct sb_fact swept[SB_SWEEP_OPTIONS_MAX];
    char text[400];

    sb_sweep_values(&s->plan, run, swept);
    sb_sweep_text(swept, s->plan.noptions, text, sizeof(text));
    sb_escape_line(out, size, text);
}

// Lines -----------------------------------------------------------------------

void sb__sweep_print_plan(const struct sb_app *a)
{
    const struct sb_sweep_plan *p = &a->sweep->plan;
    char test[1024];

    if (sb__app_quiet(a))
        return;
    sb_escape_line(test, sizeof(test), a->test);
    printf("Sweep of %s: %u run%s", test, p->nruns, p->nruns == 1 ? "" : "s");
    if (p->rounds > 1)
        printf(" (%u combination%s, %u rounds%s)", p->npoints,
            p->npoints == 1 ? "" : "s", p->rounds,
            p->random ? ", random order" : "");
    printf("\n\n");
    fflush(stdout);
}

static void print_figures(const struct sb_result_run *r)
{
    const struct sb_report *p = &r->report;
    double p95 = sb_hist_snap_percentile(p->latency, 95, p->lat_max) / 1e6;
    double rate = sb_result_run_throughput(r);

    printf("%.*f events/s, p95 %.*f ms", sb_sweep_decimals(rate), rate,
        sb_sweep_decimals(p95), p95);
    if (p->search && sb_search_found(p->search))
        printf(", highest rate %.*f/s",
            sb_sweep_decimals(p->search->result.rate), p->search->result.rate);
}

void sb__sweep_print_run(const struct sb_app *a, unsigned number, unsigned run,
    int status, const struct sb_result_file *f, bool kept)
{
    const struct sb_app_sweep *s = a->sweep;
    static const char *const after[] = {
        [SB__AFTER_DONE] = "",
        [SB__AFTER_OPEN] = ", the commands after it were not completed",
        [SB__AFTER_FAILED] = ", a command after it failed",
    };
    enum sb_sweep_outcome outcome = s->outcome[run];
    char name[400];

    assert(number < s->plan.nruns && s->plan.order[number] == run);
    if (sb__app_quiet(a))
        return;
    sb__sweep_name(s, run, name, sizeof(name));
    printf("[%u/%u] %s%s", number + 1, s->plan.nruns, name, *name ? ": " : "");
    if (!sb__sweep_finished(outcome))
        printf("failed, exit status %d", status);
    else if (f->nruns && f->run[0].has_totals)
        print_figures(&f->run[0]);
    printf("%s%s%s\n",
        outcome == SB_SWEEP_MISSED ? ", a limit was not kept" : "",
        after[s->after[run]], kept ? " (measured before)" : "");
    fflush(stdout);
}

// Files -----------------------------------------------------------------------

static int status_of(enum sb_sweep_outcome outcome)
{
    if (outcome == SB_SWEEP_GOOD)
        return SB_EXIT_OK;
    return outcome == SB_SWEEP_MISSED ? SB_EXIT_LIMITS : SB_EXIT_FAILED;
}

// Adds a run to the figures. *keep: its file belongs to the result.
static int add_run(struct sb_app_sweep *s, unsigned run, bool *keep)
{
    struct sb_fact swept[SB_SWEEP_OPTIONS_MAX];
    struct sb_result_file f;

    *keep = false;
    if (s->outcome[run] == SB_SWEEP_OPEN)
        return 0;
    enum sb_sweep_outcome now = sb_sweep_state_read(&s->state, run, &f);

    if (now == SB_SWEEP_OPEN && sb__sweep_finished(s->outcome[run])) {
        char path[4200];

        sb_sweep_state_file(&s->state, run, path, sizeof(path));
        sb_log(
            SB_LOG_ALERT, "%s was removed or damaged during the sweep", path);
        s->outcome[run] = SB_SWEEP_OPEN;
        sb_result_done(&f);
        return 0;
    }
    *keep = f.nruns == 1;
    sb_sweep_values(&s->plan, run, swept);
    int rc = sb_sweep_figures_add(&s->figures, swept, s->plan.noptions,
        *keep ? &f.run[0] : NULL, status_of(s->outcome[run]));

    sb_result_done(&f);
    return rc;
}

static int write_results(struct sb_app *a, char **path, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    unsigned n = 0;
    int rc = sb_sweep_state_check(&s->state, err);

    if (rc)
        return rc;
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
    if (!sb__app_quiet(a) && s->figures.npoints) {
        printf("\n");
        sb_sweep_figures_print(&s->figures, stdout);
    }
    json_t *sweep = sb_sweep_figures_json(&s->figures);

    rc = sb_sweep_files_write(
        &s->files, (const char *const *)path, n, sweep, a->test, err);
    json_decref(sweep);
    return rc;
}

int sb__sweep_finish(struct sb_app *a, struct sb_err *err)
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
