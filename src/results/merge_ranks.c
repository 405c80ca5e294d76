// SPDX-License-Identifier: GPL-2.0-or-later
//
// Checks whether the runs that sysbench merge adds are the ranks of one run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "results/cmd_private.h"
#include "out/division.h"
#include "out/json_parts.h"

// Ranks that began this many seconds apart were not one run for that long.
#define APART_MAX 1.0

static const json_t *rank_of(const struct sb_result_run *r)
{
    return json_object_get(r->json, "rank");
}

static unsigned count(const struct sb_result_run *r, const char *name)
{
    return (unsigned)json_integer_value(json_object_get(rank_of(r), name));
}

static int refuse_files(const char *why)
{
    sb_log(SB_LOG_FATAL, "the files are not ranks of one run: %s", why);
    return SB_EUSAGE;
}

// The first run is a rank.
static int check_same(
    const struct sb_result_run *const *run, unsigned n, unsigned ranks)
{
    static const char *const divided[] = { "rate", "events", "rank-weight" };
    char why[120];

    for (unsigned i = 1; i < n; i++) {
        if (!rank_of(run[i]))
            return refuse_files("some have no rank");
        if (count(run[i], "ranks") != ranks) {
            snprintf(why, sizeof(why), "one is of %u ranks, another of %u",
                ranks, count(run[i], "ranks"));
            return refuse_files(why);
        }
        if (count(run[i], "total_users") != count(run[0], "total_users"))
            return refuse_files("--threads differs");
        for (size_t k = 0; k < sizeof(divided) / sizeof(*divided); k++) {
            const char *a = sb_result_option(run[0], divided[k]);
            const char *b = sb_result_option(run[i], divided[k]);

            if (a && b && strcmp(a, b) == 0)
                continue;
            snprintf(why, sizeof(why), "--%s differs", divided[k]);
            return refuse_files(why);
        }
        if (strcmp(sb_result_text(run[i], "seed"),
                sb_result_text(run[0], "seed")) != 0)
            return refuse_files("--rand-seed differs");
    }
    return 0;
}

// Warns of ranks without a run.
static int check_each(
    const struct sb_result_run *const *run, unsigned n, unsigned ranks)
{
    bool *seen = calloc(ranks ? ranks : 1, sizeof(*seen));
    unsigned missing = 0, first = 0;
    char why[80];

    if (!seen) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_ENOMEM;
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned rank = count(run[i], "rank");

        if (rank >= ranks) {
            free(seen);
            return refuse_files("the number of a rank is not valid");
        }
        if (seen[rank]) {
            snprintf(why, sizeof(why), "rank %u occurs twice", rank);
            free(seen);
            return refuse_files(why);
        }
        seen[rank] = true;
    }
    for (unsigned i = ranks; i-- > 0;)
        if (!seen[i]) {
            first = i;
            missing++;
        }
    free(seen);
    if (missing)
        sb_log(SB_LOG_WARNING,
            "%u of %u ranks %s missing (rank %u%s): the totals are not those "
            "of the whole run",
            missing, ranks, missing == 1 ? "is" : "are", first,
            missing > 1 ? ", ..." : "");
    return 0;
}

static void warn_of_starts(const double *offset, unsigned n)
{
    double last = 0;

    for (unsigned i = 0; i < n; i++)
        last = fmax(last, offset[i]);
    if (last > APART_MAX)
        sb_log(SB_LOG_WARNING,
            "the ranks began up to %.3g s apart (--start-at lets all begin at "
            "the same time)",
            last);
}

int sb__merge_check_ranks(
    const struct sb_result_run *const *run, const double *offset, unsigned n)
{
    unsigned ranks, with = 0;

    for (unsigned i = 0; i < n; i++)
        with += rank_of(run[i]) != NULL;
    if (with == 0)
        return 0;
    if (!rank_of(run[0]))
        return refuse_files("some have no rank");
    ranks = count(run[0], "ranks");
    if (ranks > 100000)
        return refuse_files("the number of ranks is not valid");
    int rc = check_same(run, n, ranks);

    if (rc == 0)
        rc = check_each(run, n, ranks);
    if (rc == 0)
        warn_of_starts(offset, n);
    return rc;
}

static struct sb_rank_figures figures_of(const struct sb_result_run *run)
{
    const struct sb_report *r = &run->report;
    struct sb_rank_figures f = {
        .users = r->threads, .events = run->snap.c.completed, .mean = r->lat_avg
    };

    if (r->open_loop)
        sb_report_rank_open(&f, &run->snap, r->interval_s);
    return f;
}

void sb__merge_division(
    const struct sb_result_run *const *run, unsigned n, json_t *facts)
{
    struct sb_rank_figures *f;

    if (!rank_of(run[0]) || count(run[0], "ranks") != n ||
        run[0]->report.nstages)
        return;
    f = calloc(n, sizeof(*f));
    for (unsigned i = 0; f && i < n; i++)
        f[i] = figures_of(run[i]);
    if (!f)
        return;
    sb_division_warn(f, n);
    json_object_set_new(facts, "division", sb_json_division(f, n));
    free(f);
}
