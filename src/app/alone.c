// SPDX-License-Identifier: GPL-2.0-or-later
//
// The run of another rank than 0, which reports nothing by itself. If rank 0 is
// lost, its figures are written to a result file of its own.
#include <stdio.h>
#include <string.h>

#include "app/private.h"
#include "base/log.h"
#include "kit/clock.h"
#include "out/target.h"

// How long a rank stays after it has written its figures. A launcher ends all
// others when the first one leaves, and they may detect the loss a moment
// later.
#define STAY_S 8

// Returns FILE of --report=json=FILE, or NULL without such a report.
static const char *result_file(const struct sb_app *a)
{
    for (unsigned i = 0; i < a->reporters.n; i++) {
        const struct sb_reporter *r = &a->reporters.item[i];

        if (strcmp(r->kind->name, "json") == 0 && strcmp(r->target, "-") != 0 &&
            !sb_target_is_special(r->target))
            return r->target;
    }
    return NULL;
}

static void set_facts(struct sb_app *a, const struct sb_report *r)
{
    uint64_t ago = sb_clock_monotonic() - r->start_ns;
    uint64_t began = sb_clock_wall() - ago;

    sb__app_facts(a);
    a->facts.started = sb_clock_timespec(began);
    a->facts.share = &a->run.share;
    a->facts.threads = (unsigned)a->run.share.users;
    a->facts.open_loop = r->open_loop;
}

static int write_result(
    struct sb_app *a, const struct sb_report *r, const char *path)
{
    const struct sb_outcome o = {
        .reason = "failed", .status = SB_EXIT_FAILED, .failure = r->failure
    };
    struct sb_reporters files = { 0 };
    struct sb_err err = { 0 };
    char item[4200];

    snprintf(item, sizeof(item), "json=%s", path);
    const char *const items[] = { item };
    const struct sb_report_opts only = { .report = { items, 1 } };
    int rc = sb_reporters_init(&files, &only, &err);

    files.item[0].chosen = SB_TARGET_CHOSEN;
    set_facts(a, r);
    if (rc == 0)
        rc = sb_reporters_open(&files, &a->facts, &err);
    if (rc) {
        sb_log(SB_LOG_ALERT, "%s", err.msg);
        sb_reporters_done(&files);
        return rc;
    }
    sb_reporters_final(&files, r);
    sb_reporters_finish(&files, &o);
    rc = files.failed ? SB_ESYS : 0;
    sb_reporters_done(&files);
    return rc;
}

// Rank 0 does not answer any more.
static void on_final(void *data, const struct sb_report *r)
{
    struct sb_app *a = data;
    const char *file = result_file(a);
    char path[4100];

    if (!file)
        return;
    snprintf(path, sizeof(path), "%.4000s.rank%u", file, a->job->rank);
    if (write_result(a, r, path))
        return;
    sb_log(SB_LOG_ALERT,
        "rank 0 does not answer: the figures of rank %u are in %s",
        a->job->rank, path);
    nanosleep(&(const struct timespec){ .tv_sec = STAY_S }, NULL);
}

static void on_workers(void *data, const struct sb_run_workers *w)
{
    struct sb_app *a = data;

    a->workers = *w; // see sb__app_facts()
}

void sb__app_follow(
    struct sb_app *a, struct sb_workload *w, struct sb_run_result *res)
{
    // Intervals have what rank 0 may need.
    const struct sb_listener l = {
        .data = a,
        .operations = true,
        .workers = on_workers,
        .final = on_final,
    };

    sb_run(w, &a->run, &a->random, &l, res);
}
