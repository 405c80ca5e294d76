// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/text_private.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/log.h"
#include "kit/units.h"

// Width of a column of times, and maximum length of a label like "99.9999%".
#define TIME  11
#define LABEL 24

// sb_text_found() reports an operation with at least this number of misses,
// and more than this percentage of the executions that look for rows.
#define MISSES_MIN     10u
#define MISSES_PERCENT 1.0

// Prints the headings "min avg 95% 99% max" of columns of times.
static void time_heads(const struct sb_text *t)
{
    char label[LABEL];

    fprintf(t->out, "%*s%*s", TIME, "min", TIME, "avg");
    for (unsigned i = 0; i < t->npct; i++) {
        snprintf(label, sizeof(label), "%.12g%%", t->pct[i]);
        fprintf(t->out, "%*s", TIME, label);
    }
    fprintf(t->out, "%*s", TIME, "max");
}

static void time_cell(const struct sb_text *t, double ns)
{
    double ms = ns / 1e6;

    fprintf(t->out, "%*.*f", TIME, sb_units_ms_decimals(ms, 3), ms);
}

// There are no times without events.
static void time_cells(const struct sb_text *t, const struct sb_hist_snap *h,
    uint64_t min, uint64_t sum, uint64_t max)
{
    if (h->total == 0) {
        for (unsigned i = 0; i < t->npct + 3; i++)
            fprintf(t->out, "%*s", TIME, "-");
        return;
    }
    time_cell(t, (double)min);
    time_cell(t, (double)sum / (double)h->total);
    for (unsigned i = 0; i < t->npct; i++)
        time_cell(t, sb_hist_snap_percentile(h, t->pct[i], max));
    time_cell(t, (double)max);
}

void sb__text_open_loop(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;

    fprintf(t->out, "Open loop (ms):     ");
    time_heads(t);
    fprintf(t->out, "\n    response time   ");
    time_cells(
        t, &s->response, s->response_min, s->c.response_ns, s->response_max);
    fprintf(t->out, "\n    service time    ");
    time_cells(t, &s->service, s->service_min, s->c.service_ns, s->service_max);
    fprintf(t->out, "\n    lag             ");
    time_cells(t, &s->lag, s->lag_min, s->c.lag_ns, s->lag_max);
    fprintf(t->out,
        "\n    scheduled: %" PRIu64 ", started: %" PRIu64 ", skipped: %" PRIu64
        ", queue length: %" PRIu64 ", concurrency: %" PRIu64 "\n\n",
        s->scheduled, s->c.started, s->skipped, r->queue, r->concurrency);
}

void sb__text_client_delay(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;

    if (!s->has_client_delay)
        return;
    fprintf(t->out, "Event loops (ms):   ");
    time_heads(t);
    fprintf(t->out, "\n    client delay    ");
    time_cells(t, &s->client_delay, s->client_delay_min, s->c.client_delay_ns,
        s->client_delay_max);
    fprintf(t->out, "\n    answers that users waited for: %" PRIu64 "\n\n",
        s->c.client_delays);
}

// Room for a name of 63 bytes, each of them escaped.
#define NAME 256

static void op_name(
    const struct sb_text *t, unsigned i, char *name, size_t size)
{
    if (t->stats && i < SB_OPS_MAX)
        sb_escape_line(name, size, t->stats->op[i].name);
    else
        snprintf(name, size, "operation %u", i);
}

bool sb__text_is_workload(const struct sb_text *t, unsigned i)
{
    return t->stats && i < SB_OPS_MAX && t->stats->op[i].kind == SB_OP_WORKLOAD;
}

// The rows of workloads below their stage are indented.
#define INDENT 2

static int widest(int width, int indent, const char *name)
{
    int n = indent + (int)strlen(name);

    return n > width ? n : width;
}

static int stages_width(const struct sb_text *t, const struct sb_report *r)
{
    int width = (int)strlen("Stages (ms)");
    char name[NAME];

    for (unsigned i = 0; i < r->nstages; i++) {
        sb_escape_line(name, sizeof(name), r->stages[i].stage_name);
        width = widest(width, 0, name);
    }
    for (unsigned i = 0; i < r->snap->nops; i++) {
        if (!sb__text_is_workload(t, i))
            continue;
        op_name(t, i, name, sizeof(name));
        width = widest(width, INDENT, name);
    }
    return width;
}

static double stage_seconds(const struct sb_report *stage)
{
    return stage->interval_s > 0 ? stage->interval_s : 1;
}

// Restarts and failed events, of which only a run of workloads has columns.
static void workload_cells(
    const struct sb_text *t, uint64_t restarts, uint64_t failed)
{
    fprintf(t->out, " %10" PRIu64 " %10" PRIu64, restarts, failed);
}

static bool has_workloads(const struct sb_text *t, const struct sb_snap *s)
{
    bool any = false;

    for (unsigned i = 0; s->op && i < s->nops; i++)
        any = any || sb__text_is_workload(t, i);
    return any;
}

// Rows of the workloads that did something in a stage.
static void stage_workloads(
    const struct sb_text *t, const struct sb_report *stage, int width)
{
    char name[NAME];

    for (unsigned i = 0; stage->snap->op && i < stage->snap->nops; i++) {
        const struct sb_snap_op *op = &stage->snap->op[i];

        if (!sb__text_is_workload(t, i) || !sb_snap_op_occurred(op))
            continue;
        op_name(t, i, name, sizeof(name));
        fprintf(t->out, "%*s%-*s %10s %10s %12" PRIu64 " %12.2f %10" PRIu64,
            INDENT, "", width - INDENT, name, "", "", op->count,
            (double)op->count / stage_seconds(stage), op->errors);
        workload_cells(t, op->restarts, op->failed);
        time_cells(t, &op->hist, op->min, op->ns, op->max);
        fprintf(t->out, "\n");
    }
}

void sb__text_stages(const struct sb_text *t, const struct sb_report *r)
{
    int width = stages_width(t, r);
    bool mix = has_workloads(t, r->snap);
    char name[NAME];

    if (r->nstages == 0)
        return;
    fprintf(t->out, "%-*s %10s %10s %12s %12s %10s", width, "Stages (ms)",
        "start (s)", "end (s)", "events", "per sec.", "errors");
    if (mix)
        fprintf(t->out, " %10s %10s", "restarts", "failed");
    time_heads(t);
    fprintf(t->out, "\n");
    for (unsigned i = 0; i < r->nstages; i++) {
        const struct sb_report *a = &r->stages[i];
        uint64_t n = a->snap->c.completed;

        sb_escape_line(name, sizeof(name), a->stage_name);
        fprintf(t->out, "%-*s %10.3f %10.3f %12" PRIu64 " %12.2f %10" PRIu64,
            width, name, a->total_s - a->interval_s, a->total_s, n,
            (double)n / stage_seconds(a), a->errors);
        if (mix)
            workload_cells(t, a->snap->c.restarts, a->snap->c.failed);
        time_cells(t, a->latency, a->lat_min, a->lat_sum, a->lat_max);
        fprintf(t->out, "\n");
        stage_workloads(t, a, width);
    }
    fprintf(t->out, "\n");
}

static int name_width(
    const struct sb_text *t, const struct sb_snap *s, bool workloads)
{
    int width = (int)strlen(workloads ? "Workload (ms)" : "Operation (ms)");
    char name[NAME];

    for (unsigned i = 0; i < s->nops; i++) {
        if (sb__text_is_workload(t, i) != workloads)
            continue;
        op_name(t, i, name, sizeof(name));
        if ((int)strlen(name) > width)
            width = (int)strlen(name);
    }
    return width;
}

// Name, count, rate, errors and times of operation i; of a workload also its
// restarts and failed events.
static void op_cells(
    const struct sb_text *t, const struct sb_report *r, unsigned i, int width)
{
    const struct sb_snap_op *op = &r->snap->op[i];
    double seconds = r->interval_s > 0 ? r->interval_s : 1;
    char name[NAME];

    op_name(t, i, name, sizeof(name));
    fprintf(t->out, "%-*s %12" PRIu64 " %12.2f %10" PRIu64, width, name,
        op->count, (double)op->count / seconds, op->errors);
    if (sb__text_is_workload(t, i))
        workload_cells(t, op->restarts, op->failed);
    time_cells(t, &op->hist, op->min, op->ns, op->max);
}

void sb__text_workload_line(
    const struct sb_text *t, const struct sb_report *r, unsigned i)
{
    const struct sb_snap_op *op = &r->snap->op[i];
    double seconds = r->interval_s > 0 ? r->interval_s : 1, ms = 0;
    char name[NAME];

    assert(i < r->snap->nops && sb__text_is_workload(t, i));
    if (t->npct)
        ms = sb_hist_snap_percentile(&op->hist, t->classic_pct, op->max) / 1e6;
    op_name(t, i, name, sizeof(name));
    fprintf(t->out, "  %s: eps: %4.2f lat (ms,%g%%): %4.*f err/s: %4.2f\n",
        name, (double)op->count / seconds, t->classic_pct,
        sb_units_ms_decimals(ms, 2), ms, (double)op->errors / seconds);
}

void sb__text_workloads(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    int width = name_width(t, s, true);
    bool any = false;

    for (unsigned i = 0; s->op && i < s->nops; i++) {
        if (!sb__text_is_workload(t, i))
            continue;
        if (!any) {
            fprintf(t->out, "%-*s %12s %12s %10s %10s %10s", width,
                "Workload (ms)", "events", "per sec.", "errors", "restarts",
                "failed");
            time_heads(t);
            fprintf(t->out, "\n");
        }
        any = true;
        op_cells(t, r, i, width);
        fprintf(t->out, "\n");
    }
    if (any)
        fprintf(t->out, "\n");
}

void sb__text_operations(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    unsigned workloads = 0;
    int width;

    for (unsigned i = 0; i < s->nops; i++)
        workloads += sb__text_is_workload(t, i);
    if (!s->op || s->nops == workloads)
        return;
    width = name_width(t, s, false);
    fprintf(t->out, "%-*s %12s %12s %10s", width, "Operation (ms)", "count",
        "per sec.", "errors");
    time_heads(t);
    fprintf(t->out, " %12s\n", "rows");
    for (unsigned i = 0; i < s->nops; i++) {
        const struct sb_snap_op *op = &s->op[i];

        if (sb__text_is_workload(t, i) || !sb_snap_op_occurred(op))
            continue;
        op_cells(t, r, i, width);
        fprintf(t->out, " %12" PRIu64 "\n", op->rows);
    }
    fprintf(t->out, "\n");
}

// True if this many executions found nothing that it must be reported.
static bool misses_many(const struct sb_snap_op *op)
{
    double pct = 100 * (double)op->misses / (double)(op->hits + op->misses);

    return op->misses >= MISSES_MIN && pct > MISSES_PERCENT;
}

void sb_text_found(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_snap *s = r->whole;
    const char *before = "found nothing: ";
    char name[NAME];

    if (!s->op || t->o.verbosity < SB_LOG_WARNING)
        return;
    for (unsigned i = 0; i < s->nops; i++) {
        const struct sb_snap_op *op = &s->op[i];
        char percent[SB_UNITS_PERCENT];

        if (!misses_many(op))
            continue;
        op_name(t, i, name, sizeof(name));
        fprintf(t->err, "%s%s %% of %s", before,
            sb_units_percent(
                percent, (double)op->misses, (double)(op->hits + op->misses)),
            name);
        before = ", ";
    }
    if (before[0] == ',')
        fprintf(t->err, "\n");
}

static void error_row(const struct sb_text *t, const struct sb_snap_code *c)
{
    uint64_t first = c->first_ns > t->start_ns ? c->first_ns - t->start_ns : 0;
    char driver[4 * sizeof(c->driver)], state[4 * sizeof(c->state)];
    char first_line[sizeof(c->sample)], sample[4 * sizeof(c->sample)];

    snprintf(first_line, sizeof(first_line), "%.*s",
        (int)strcspn(c->sample, "\r\n"), c->sample);
    // The recorder keeps the beginning of a long message.
    bool cut = strlen(first_line) == sizeof(first_line) - 1;
    sb_escape_line(sample, sizeof(sample), first_line);
    sb_escape_line(driver, sizeof(driver), c->driver);
    sb_escape_line(state, sizeof(state), c->state[0] ? c->state : "-");
    fprintf(t->err, "    %-10s %8d %-6s %10" PRIu64 " %11.3fs  %s%s\n", driver,
        c->native, state, c->count, (double)first / 1e9, sample,
        cut ? "..." : "");
}

void sb__text_errors(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;

    if (!s->code || s->ncodes == 0)
        return;
    fprintf(t->err, "Errors by code:\n    %-10s %8s %-6s %10s %12s  %s\n",
        "driver", "code", "state", "count", "first seen", "sample");
    for (unsigned i = 0; i < s->ncodes; i++)
        error_row(t, &s->code[i]);
    fprintf(t->err,
        "    ignored: %" PRIu64 ", restarted: %" PRIu64 ", given up: %" PRIu64
        ", fatal: %" PRIu64 "; failed events: %" PRIu64 "\n",
        s->c.err_ignored, s->c.err_restarted, s->c.err_givenup, s->c.err_fatal,
        s->c.failed);
}
