// SPDX-License-Identifier: GPL-2.0-or-later
//
// Result files may come from anywhere: whatever is in them, they are read or
// rejected with a message.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "measure/snap.h"
#include "out/result_file.h"

// Adds the run to itself, as `sysbench merge` would.
static void merge(const struct sb_result_run *r)
{
    struct sb_snap sum = { 0 };
    struct sb_stats stats;
    struct sb_err err = { 0 };

    if (sb_stats_init(&stats, 1, 1, false))
        abort();
    for (int i = 0; i < 2; i++)
        if (sb_snap_add(&sum, &stats, &r->snap, r->stats, 1, &err))
            abort(); // the kinds of its metrics are its own
    sb_snap_done(&sum);
    sb_stats_done(&stats);
}

static double totals(const struct sb_result_run *r)
{
    double sum = sb_report_percentile(&r->report, 95);

    for (unsigned i = 0; i < r->snap.nmetrics; i++)
        if (r->snap.metric[i].kind == SB_METRIC_DISTRIBUTION)
            sum += sb_snap_metric_percentile(&r->snap.metric[i], 99);
    for (unsigned i = 0; i < r->report.nstages; i++)
        sum += sb_report_percentile(&r->report.stages[i], 50) +
               (double)strlen(r->report.stages[i].stage_name);
    merge(r);
    return sum;
}

// Reads all that a command would read.
static void use(const struct sb_result_run *r)
{
    double sum = 0;

    for (size_t row = 0; row <= r->intervals.nrows; row++)
        for (unsigned i = 0; i <= r->ncols; i++)
            sum += sb_result_value(r, row, i);
    for (size_t i = 0; i < r->histograms.nvalues; i++)
        sum += r->histograms.value[i];
    sum += sb_result_option(r, "threads") != NULL;
    if (r->has_totals)
        sum += totals(r);
    if (sum > 1e308)
        puts("large");
}

static bool same(const json_t *a, const json_t *b, const char *name)
{
    const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);

    return x ? json_equal(x, y) : !y;
}

// What sysbench history reads is the same.
static void compare_brief(const struct sb_result_file *f, bool read)
{
    struct sb_result_file brief;
    struct sb_err err = { 0 };
    int rc = sb_result_read_brief(&brief, f->path, &err);

    if (rc ? read || !err.msg[0] : read && brief.nruns != f->nruns)
        abort();
    for (unsigned i = 0; rc == 0 && read && i < f->nruns; i++)
        if (!same(brief.run[i].json, f->run[i].json, "counters") ||
            !same(brief.run[i].json, f->run[i].json, "end"))
            abort();
    sb_result_done(&brief);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/fuzz-result-XXXXXX";
    struct sb_result_file f;
    struct sb_err err = { 0 };
    int fd = mkstemp(path);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    if (sb_result_read(&f, path, &err) == 0) {
        for (unsigned i = 0; i < f.nruns; i++)
            use(&f.run[i]);
    } else if (!err.msg[0]) {
        abort();
    }
    compare_brief(&f, err.code == 0);
    sb_result_done(&f);
    unlink(path);
    return 0;
}
