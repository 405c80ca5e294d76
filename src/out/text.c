// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/log.h"
#include "kit/units.h"
#include "measure/search.h"
#include "out/facts.h"

#define ROWS   1024
#define MIN_MS 0.001
#define MAX_MS 100000.0
#define STARS  40

struct rows {
    uint64_t count[ROWS];
    uint64_t max;
};

// Number of rows per factor of e.
static double rows_per_e(void)
{
    return (ROWS - 1) / (log(MAX_MS) - log(MIN_MS));
}

static double row_value(int row)
{
    return exp(row / rows_per_e() + log(MIN_MS));
}

static int row_of(double ms)
{
    double row;

    if (ms <= MIN_MS)
        return 0;
    row = floor((log(ms) - log(MIN_MS)) * rows_per_e() + 0.5);
    return row < ROWS - 1 ? (int)row : ROWS - 1;
}

// Our buckets are narrower than a row: the middle of a bucket selects its row.
static void count_bucket(
    void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct rows *r = arg;
    int i = row_of(((double)low + (double)(width - 1) / 2) / 1e6);

    assert(i >= 0 && i < ROWS);
    r->count[i] += count;
    if (r->count[i] > r->max)
        r->max = r->count[i];
}

// Prints the rows of --histogram that have counts, with a heading, in the
// layout of sysbench 1.0 (1,024 buckets from 0.001 to 100,000 ms).
static void text_hist(const struct sb_hist_snap *h, FILE *out)
{
    static const char stars[] = "****************************************";
    struct rows r = { { 0 }, 0 };

    _Static_assert(sizeof(stars) == STARS + 1, "a full bar");
    sb_hist_snap_each(h, count_bucket, &r);
    fprintf(out, "Latency histogram (values are in milliseconds)\n"
                 "       value  ------------- distribution -------------"
                 " count\n");
    for (int i = 0; i < ROWS; i++) {
        int n = r.max ? (int)floor(
                            (double)r.count[i] * STARS / (double)r.max + 0.5)
                      : 0;

        double ms = row_value(i);

        if (r.count[i] > 0)
            fprintf(out, "%12.*f |%-*.*s %" PRIu64 "\n",
                sb_units_ms_decimals(ms, 3), ms, STARS, n, stars, r.count[i]);
    }
    fprintf(out, " \n");
}

// Tables of the metrics of a script: one for each kind that it uses.

#define NUMBER 12 // width of a column

static const struct sb_metric *metric_of(const struct sb_text *t, unsigned i)
{
    assert(i < SB_METRICS_MAX);
    return &t->stats->metrics.metric[i];
}

// "name (unit)"
static void label(const struct sb_text *t, unsigned i, char *out, size_t size)
{
    const struct sb_metric *m = metric_of(t, i);
    char text[sizeof(m->name) + sizeof(m->unit) + 4];

    snprintf(
        text, sizeof(text), m->unit[0] ? "%s (%s)" : "%s", m->name, m->unit);
    sb_escape_line(out, size, text);
}

// Integers as they are, otherwise six significant digits.
static void write_number(const struct sb_text *t, double v)
{
    if (isnan(v))
        fprintf(t->out, " %*s", NUMBER, "unknown");
    else if (v == floor(v) && v < 1e15)
        fprintf(t->out, " %*.0f", NUMBER, v);
    else
        fprintf(t->out, " %*.6g", NUMBER, v);
}

static void heading(const struct sb_text *t, int width, enum sb_metric_kind k)
{
    static const char *const titles[] = { [SB_METRIC_COUNTER] = "Counter",
        [SB_METRIC_GAUGE] = "Gauge",
        [SB_METRIC_DISTRIBUTION] = "Distribution" };
    static const char *const first[] = { [SB_METRIC_COUNTER] = "sum",
        [SB_METRIC_GAUGE] = "value",
        [SB_METRIC_DISTRIBUTION] = "count" };
    char pct[24];

    assert(k < sizeof(titles) / sizeof(titles[0])); // see kind_of()
    fprintf(t->out, "%-*s %*s", width, titles[k], NUMBER, first[k]);
    if (k == SB_METRIC_COUNTER)
        fprintf(t->out, " %*s", NUMBER, "per sec.");
    if (k == SB_METRIC_DISTRIBUTION) {
        fprintf(t->out, " %*s %*s", NUMBER, "min", NUMBER, "avg");
        for (unsigned i = 0; i < t->npct; i++) {
            snprintf(pct, sizeof(pct), "%.12g%%", t->pct[i]);
            fprintf(t->out, " %*s", NUMBER, pct);
        }
        fprintf(t->out, " %*s", NUMBER, "max");
    }
    fprintf(t->out, "\n");
}

static void distribution(
    const struct sb_text *t, const struct sb_snap_metric *m)
{
    write_number(t, (double)m->count);
    if (m->count == 0) {
        for (unsigned i = 0; i < t->npct + 3; i++) // min, avg, max
            fprintf(t->out, " %*s", NUMBER, "-");
        return;
    }
    write_number(t, m->min);
    write_number(t, m->value / (double)m->count);
    for (unsigned i = 0; i < t->npct; i++)
        write_number(t, sb_snap_metric_percentile(m, t->pct[i]));
    write_number(t, m->max);
}

static void row(
    const struct sb_text *t, const struct sb_snap_metric *m, double seconds)
{
    if (m->kind == SB_METRIC_DISTRIBUTION) {
        distribution(t, m);
    } else {
        write_number(t, m->value);
        if (m->kind != SB_METRIC_GAUGE)
            fprintf(t->out, " %*.2f", NUMBER, m->value / seconds);
    }
    fprintf(t->out, "\n");
}

// The rest of the table of metrics is a counter.
static enum sb_metric_kind kind_of(const struct sb_snap_metric *m)
{
    return m->kind == SB_METRIC_REST ? SB_METRIC_COUNTER : m->kind;
}

static void table(const struct sb_text *t, const struct sb_report *r,
    enum sb_metric_kind kind, int width)
{
    const struct sb_snap *s = r->snap;
    double seconds = r->interval_s > 0 ? r->interval_s : 1;
    char name[512];
    bool any = false;

    for (unsigned i = 0; i < s->nmetrics; i++) {
        if (kind_of(&s->metric[i]) != kind)
            continue;
        if (!any)
            heading(t, width, kind);
        any = true;
        label(t, i, name, sizeof(name));
        fprintf(t->out, "%-*s", width, name);
        row(t, &s->metric[i], seconds);
    }
    if (any)
        fprintf(t->out, "\n");
}

// Prints tables of the metrics of the script, if it has any.
static void text_metrics(const struct sb_text *t, const struct sb_report *r)
{
    int width = (int)strlen("Distribution");
    char name[512];

    if (!t->stats || r->snap->nmetrics == 0)
        return;
    for (unsigned i = 0; i < r->snap->nmetrics; i++) {
        label(t, i, name, sizeof(name));
        if ((int)strlen(name) > width)
            width = (int)strlen(name);
    }
    table(t, r, SB_METRIC_COUNTER, width);
    table(t, r, SB_METRIC_GAUGE, width);
    table(t, r, SB_METRIC_DISTRIBUTION, width);
}

// --report-per-rank: a line for each rank of a run.

static double ms(double ns)
{
    return ns / 1e6;
}

// seconds: 0 if they are not known.
static void write_rank(const struct sb_text *t, const struct sb_report *r,
    unsigned i, double seconds)
{
    const struct sb_rank_figures *f = &r->ranks[i];
    char host[260], rate[32] = "-", cpu[32] = "-";

    if (seconds > 0) {
        snprintf(rate, sizeof(rate), "%.2f", (double)f->events / seconds);
        snprintf(cpu, sizeof(cpu), "%.1f",
            100 * f->cpu_s / seconds / (f->processors ? f->processors : 1));
    }
    sb_escape_line(host, sizeof(host), f->host);
    fprintf(t->out, "%6u  %-20s %8u %12" PRIu64 " %12s %10" PRIu64, i, host,
        f->users, f->events, rate, f->failed);
    if (f->lost)
        fprintf(t->out, "  lost; figures up to its last message\n");
    else
        fprintf(t->out, " %10.4g %10.4g %10.4g %7s\n", ms(f->mean),
            ms(f->percentile[1]), ms(f->percentile[2]), cpu);
}

// Prints a line for each rank with --report-per-rank. Nothing without ranks.
static void text_ranks(const struct sb_text *t, const struct sb_report *r)
{
    uint64_t reported;

    if (!t->o.report_per_rank || r->nranks == 0)
        return;
    // If a rank was lost, the others have events after the last interval that
    // all ranks had completed, and the length of that time is unknown.
    bool lost = sb_ranks_reported(r->ranks, r->nranks, &reported);

    fprintf(t->out, "%6s  %-20s %8s %12s %12s %10s %10s %10s %10s %7s\n",
        "Rank", "host", "threads", "events", "per sec.", "failed", "avg (ms)",
        "95%", "99%", "CPU %");
    for (unsigned i = 0; i < r->nranks; i++)
        write_rank(t, r, i, lost ? 0 : r->interval_s);
    fprintf(t->out, "\n");
}

// How a run found its rate, in the final report.

#define ROUNDING 1e-6 // files have fewer digits

static void write_rate(const struct sb_text *t, const char *label, double rate)
{
    fprintf(t->out, "    %-37s%.2f per sec.\n", label, rate);
}

// A rate may be unknown (NAN): it is beyond a bound of the search, or there
// were too few trials.
static void bounded(const struct sb_text *t, const char *label, double rate,
    const struct sb_rate_search *f)
{
    if (isfinite(rate))
        write_rate(t, label, rate);
    else if (f->result.end == SB_SEARCH_BELOW)
        fprintf(t->out, "    %-37sunknown (below %.2f per sec.)\n", label,
            f->lowest);
    else if (f->result.end == SB_SEARCH_ABOVE)
        fprintf(t->out, "    %-37sunknown (above %.2f per sec.)\n", label,
            f->highest);
    else
        fprintf(t->out, "    %-37sunknown\n", label);
}

// Bounds of an interval that are those of the search say little.
static const char *at_bounds(const struct sb_rate_search *f)
{
    bool low = f->result.low <= f->lowest * (1 + ROUNDING);
    bool high = f->result.high >= f->highest * (1 - ROUNDING);

    if (low && high)
        return ", the bounds of the search";
    return low    ? ", from the lowest rate of the search"
           : high ? ", to the highest rate of the search"
                  : "";
}

// The interval follows from the trials alone. The maximum is one measurement.
static void explain_high(
    const struct sb_text *t, const struct sb_rate_search *f)
{
    unsigned above = 0;

    if (!(f->max > 0) || !(f->result.high > f->max))
        return;
    for (unsigned i = 0; i < f->trials; i++)
        above += f->trial[i].kept && f->trial[i].rate > f->max;
    if (above)
        fprintf(t->out,
            "    %u trial%s above the maximum of a closed loop kept the limit: "
            "the measured maximum is too low.\n",
            above, above == 1 ? "" : "s");
    else
        fprintf(t->out,
            "    The interval ends above the maximum of a closed loop, but no "
            "trial there kept the limit.\n");
}

static void trials(const struct sb_text *t, const struct sb_rate_search *f)
{
    const struct sb_search_result *r = &f->result;
    char text[400];

    bounded(t, "kept in half of the trials:", r->rate, f);
    if (isfinite(r->low) && isfinite(r->high))
        fprintf(t->out, "    %-37s%.2f to %.2f per sec.%s\n",
            "95% confidence interval:", r->low, r->high, at_bounds(f));
    bounded(t, "kept in 95% of trials (estimate):", r->safe, f);
    fprintf(t->out, "    %-37s%u (%u kept the limit)\n", "trials:", r->trials,
        r->kept);
    if (f->judged) {
        fprintf(t->out, "    %-37s%s", "measured part:",
            f->kept ? "kept the limit" : "did not keep the limit");
        if (isfinite(f->value))
            fprintf(
                t->out, " (%.4g%s%s)", f->value, *f->unit ? " " : "", f->unit);
        fprintf(t->out, "\n");
    }
    fprintf(t->out, "    %s\n", sb_search_sentence(f, text, sizeof(text)));
    explain_high(t, f);
}

// Prints how the run found its rate. Prints nothing if it was given.
static void text_search(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_rate_search *f = r->search;
    char limit[400];

    if (!f)
        return;
    if (f->limit) {
        sb_escape_line(limit, sizeof(limit), f->limit);
        fprintf(t->out, "Rate search (%s):\n", limit);
    } else {
        fprintf(t->out, "Rate (%.10g%% of the maximum):\n", f->percent);
    }
    if (f->max > 0)
        write_rate(t, "maximum of a closed loop:", f->max);
    else
        fprintf(t->out, "    %-37sunknown\n", "maximum of a closed loop:");
    if (f->limit && f->trials > 0)
        trials(t, f);
    if (f->rate > 0)
        write_rate(t,
            r->nstages ? "rate found, 100% of the stages:"
                       : "rate of the measured part:",
            f->rate);
    fprintf(t->out, "\n");
}

// The last line of the report of a run that ended early or late.

void sb_text_end(struct sb_text *t, const struct sb_outcome *o,
    const struct sb_text_times *times)
{
    bool interrupted = strcmp(o->reason, "signal") == 0;
    char why[1024] = "", of[40] = "";

    if (t->none || t->o.verbosity < SB_LOG_NOTICE)
        return;
    if (times->planned > times->seconds)
        snprintf(of, sizeof(of), " of %g", times->planned);
    if (o->limit)
        sb_escape_line(why, sizeof(why), o->limit);
    if (interrupted && times->warmup)
        fprintf(t->out, "The run was interrupted during its warm-up\n\n");
    else if (interrupted)
        fprintf(t->out, "The run was interrupted after %.1f%s s\n\n",
            times->seconds, of);
    else if (o->limit)
        fprintf(t->out, "The run ended after %.1f%s s: %s\n\n", times->seconds,
            of, why);
    else if (o->overrun > 0)
        fprintf(t->out,
            "The run took %.1f s longer than --time: users were still "
            "busy\n\n",
            o->overrun);
    fflush(t->out);
}

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

// Whether events whose times are unknown may have taken longer than a
// percentile of the run.
static bool is_bound(
    const struct sb_text *t, const struct sb_report *r, double pct)
{
    return r->final && pct > 100 - t->censored;
}

static void time_cell(const struct sb_text *t, double ns, bool bound)
{
    double ms = ns / 1e6;
    char value[40];

    snprintf(value, sizeof(value), "%s%.*f", bound ? "> " : "",
        sb_units_ms_decimals(ms, 3), ms);
    fprintf(t->out, "%*s", TIME, value);
}

// There are no times without events. r: the report whose percentiles these are;
// NULL: a part of its events.
static void times_of(const struct sb_text *t, const struct sb_report *r,
    const struct sb_hist_snap *h, uint64_t min, uint64_t sum, uint64_t max)
{
    if (h->total == 0) {
        for (unsigned i = 0; i < t->npct + 3; i++)
            fprintf(t->out, "%*s", TIME, "-");
        return;
    }
    time_cell(t, (double)min, false);
    time_cell(t, (double)sum / (double)h->total, false);
    for (unsigned i = 0; i < t->npct; i++)
        time_cell(t, sb_hist_snap_percentile(h, t->pct[i], max),
            r && is_bound(t, r, t->pct[i]));
    time_cell(t, (double)max, false);
}

static void time_cells(const struct sb_text *t, const struct sb_hist_snap *h,
    uint64_t min, uint64_t sum, uint64_t max)
{
    times_of(t, NULL, h, min, sum, max);
}

// Prints response time, service time and lag of an open loop, and the counts
// of its schedule.
static void text_open_loop(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;

    fprintf(t->out, "Open loop (ms):     ");
    time_heads(t);
    fprintf(t->out, "\n    response time   ");
    times_of(
        t, r, &s->response, s->response_min, s->c.response_ns, s->response_max);
    fprintf(t->out, "\n    service time    ");
    times_of(
        t, r, &s->service, s->service_min, s->c.service_ns, s->service_max);
    fprintf(t->out, "\n    lag             ");
    time_cells(t, &s->lag, s->lag_min, s->c.lag_ns, s->lag_max);
    fprintf(t->out,
        "\n    scheduled: %" PRIu64 ", started: %" PRIu64 ", skipped: %" PRIu64
        ", queue length: %" PRIu64 ", concurrency: %" PRIu64 "\n\n",
        s->scheduled, s->c.started, s->skipped, r->queue, r->concurrency);
}

// Prints how long answers waited for their users on event loops. Prints nothing
// if users had threads of their own.
static void text_client_delay(
    const struct sb_text *t, const struct sb_report *r)
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

// True if operation i has the events of a workload of a mix.
static bool text_is_workload(const struct sb_text *t, unsigned i)
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
        if (!text_is_workload(t, i))
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
        any = any || text_is_workload(t, i);
    return any;
}

// Rows of the workloads that did something in a stage.
static void stage_workloads(
    const struct sb_text *t, const struct sb_report *stage, int width)
{
    char name[NAME];

    for (unsigned i = 0; stage->snap->op && i < stage->snap->nops; i++) {
        const struct sb_snap_op *op = &stage->snap->op[i];

        if (!text_is_workload(t, i) || !sb_snap_op_occurred(op))
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

// Prints the figures of each stage of --stages, with a mix also those of each
// workload in it. Prints nothing without stages.
static void text_stages(const struct sb_text *t, const struct sb_report *r)
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
        if (text_is_workload(t, i) != workloads)
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
    if (text_is_workload(t, i))
        workload_cells(t, op->restarts, op->failed);
    time_cells(t, &op->hist, op->min, op->ns, op->max);
}

// Prints the figures of that workload in an interval: a line without the time
// at its beginning.
static void text_workload_line(
    const struct sb_text *t, const struct sb_report *r, unsigned i)
{
    const struct sb_snap_op *op = &r->snap->op[i];
    double seconds = r->interval_s > 0 ? r->interval_s : 1, ms = 0;
    char name[NAME];

    assert(i < r->snap->nops && text_is_workload(t, i));
    if (t->npct)
        ms = sb_hist_snap_percentile(&op->hist, t->classic_pct, op->max) / 1e6;
    op_name(t, i, name, sizeof(name));
    fprintf(t->out, "  %s: eps: %4.2f lat (ms,%g%%): %4.*f err/s: %4.2f\n",
        name, (double)op->count / seconds, t->classic_pct,
        sb_units_ms_decimals(ms, 2), ms, (double)op->errors / seconds);
}

// Prints the figures of each workload of a mix. Prints nothing without a mix.
static void text_workloads(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    int width = name_width(t, s, true);
    bool any = false;

    for (unsigned i = 0; s->op && i < s->nops; i++) {
        if (!text_is_workload(t, i))
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

// Prints name, count, rate, errors, times and rows of operations. Prints
// nothing if the report has none.
static void text_operations(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    unsigned workloads = 0;
    int width;

    for (unsigned i = 0; i < s->nops; i++)
        workloads += text_is_workload(t, i);
    if (!s->op || s->nops == workloads)
        return;
    width = name_width(t, s, false);
    fprintf(t->out, "%-*s %12s %12s %10s", width, "Operation (ms)", "count",
        "per sec.", "errors");
    time_heads(t);
    fprintf(t->out, " %12s\n", "rows");
    for (unsigned i = 0; i < s->nops; i++) {
        const struct sb_snap_op *op = &s->op[i];

        if (text_is_workload(t, i) || !sb_snap_op_occurred(op))
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

// Whether earlier runs of a sweep have shown these codes.
static bool errors_are_known(const struct sb_snap *s)
{
    char key[100];
    bool all = true;

    for (unsigned i = 0; i < s->ncodes; i++) {
        snprintf(key, sizeof(key), "error %s %d %s", s->code[i].driver,
            s->code[i].native, s->code[i].state);
        all = sb_log_is_known(key) && all;
    }
    return all;
}

// Prints the error codes to t->err. Prints nothing if there are none.
static void text_errors(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;

    if (!s->code || s->ncodes == 0 || errors_are_known(s))
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

// Right edge of the latency block.
#define EDGE 53

#define OPT(field) offsetof(struct sb_text_opts, field)

static const char *const auto_choices[] = { [SB_TEXT_VALIDITY_AUTO] = "auto",
    [SB_TEXT_VALIDITY_ON] = "on",
    [SB_TEXT_VALIDITY_OFF] = "off",
    [SB_TEXT_VALIDITY_OFF + 1] = NULL };
_Static_assert((int)SB_TEXT_COSTS_ON == (int)SB_TEXT_VALIDITY_ON &&
                   (int)SB_TEXT_COSTS_OFF == (int)SB_TEXT_VALIDITY_OFF,
    "both have auto_choices");

static const struct sb_opt text_options[] = {
    { .name = "verbosity",
        .type = SB_OPT_INT,
        .offset = OPT(verbosity),
        .def = "3",
        .min = 0,
        .max = 5,
        .flags = SB_OPT_COMMON,
        .help = "verbosity level {5 - debug, 0 - only critical "
                "messages}" },
    { .name = "percentile",
        .type = SB_OPT_LIST,
        .offset = OPT(percentile),
        .def = "95",
        .flags = SB_OPT_COMMON,
        .help = "percentiles of latency to report (0 to 100, "
                "fractions allowed), 0 for none" },
    { .name = "histogram",
        .type = SB_OPT_BOOL,
        .offset = OPT(histogram),
        .def = "off",
        .flags = SB_OPT_COMMON,
        .help = "print latency histogram in report" },
    { .name = "report-operations",
        .type = SB_OPT_BOOL,
        .offset = OPT(report_operations),
        .def = "off",
        .flags = SB_OPT_YIELDS,
        .help = "print a table of operations (statement kinds) in "
                "the final report" },
    { .name = "report-errors",
        .type = SB_OPT_BOOL,
        .offset = OPT(report_errors),
        .def = "on",
        .flags = SB_OPT_YIELDS,
        .help = "print a table of error codes on stderr if there "
                "were errors" },
    { .name = "report-per-rank",
        .type = SB_OPT_BOOL,
        .offset = OPT(report_per_rank),
        .def = "off",
        .flags = SB_OPT_YIELDS,
        .help = "with MPI: add a line for each rank to the final report: host, "
                "events, latency, CPU" },
    { .name = "report-context",
        .type = SB_OPT_BOOL,
        .offset = OPT(report_context),
        .def = "off",
        .flags = SB_OPT_YIELDS,
        .help = "add the context to the final report: server, address, "
                "settings, client library, host, seed, labels" },
    { .name = "report-validity",
        .type = SB_OPT_ENUM,
        .offset = OPT(report_validity),
        .def = "auto",
        .choices = auto_choices,
        .flags = SB_OPT_YIELDS | SB_OPT_SWITCH,
        .help = "check whether the figures of the run may be believed {auto: "
                "if a result file is written, with a warning if they are "
                "doubtful; on: print all checks, too; off: never}" },
    { .name = "report-costs",
        .type = SB_OPT_ENUM,
        .offset = OPT(report_costs),
        .def = "auto",
        .choices = auto_choices,
        .flags = SB_OPT_YIELDS | SB_OPT_SWITCH,
        .help = "find out what an event costs the server: processor time, "
                "I/O, log, rows {auto: if a result file is written, and with "
                "--price; on: print it, too; off: never}" },
    { .name = "price",
        .type = SB_OPT_DOUBLE,
        .offset = OPT(price),
        .def = "0",
        .min = 0,
        .max = 1000000,
        .flags = SB_OPT_YIELDS,
        .help = "price of the server in USD per hour: the report has what a "
                "million events cost" },
    { .name = NULL },
};

const struct sb_opt_table sb_text_opt_table = {
    .title = "Log options",
    .section = "log",
    .opts = text_options,
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool listed(const struct sb_text *t, double pct)
{
    for (unsigned i = 0; i < t->npct; i++)
        if (t->pct[i] == pct)
            return true;
    return false;
}

static int add_percentile(
    struct sb_text *t, const char *text, struct sb_err *err)
{
    double pct;

    if (sb_units_double(text, &pct))
        return sb_err_set(err, SB_EUSAGE,
            "Invalid value for the 'percentile' option: '%s' (must be "
            "comma-separated numbers from 0 to 100)",
            text);
    if (pct < 0 || pct > 100)
        return sb_err_set(err, SB_ERANGE,
            "Invalid value for the 'percentile' option: '%s' (the minimum is "
            "0, the maximum is 100)",
            text);
    if (pct == 0)
        return sb_err_set(err, SB_EUSAGE,
            "--percentile: 0 disables percentiles and cannot be combined with "
            "other values");
    if (listed(t, pct))
        return 0;
    if (t->npct == SB_TEXT_PERCENTILES)
        return sb_err_set(err, SB_ERANGE,
            "--percentile: too many values; the maximum is %d",
            SB_TEXT_PERCENTILES);
    t->pct[t->npct++] = pct;
    return 0;
}

static bool disabled(const struct sb_opt_list *list)
{
    double pct;

    return list->count == 0 ||
           (list->count == 1 && sb_units_double(list->item[0], &pct) == 0 &&
               pct == 0);
}

int sb_text_init(struct sb_text *t, const struct sb_text_opts *o, FILE *out,
    struct sb_err *err)
{
    int rc = 0;

    *t = (struct sb_text){ .out = out, .err = stderr, .o = *o };
    if (disabled(&o->percentile)) {
        if (o->histogram)
            return sb_err_set(err, SB_EUSAGE,
                "--histogram cannot be used with --percentile=0");
        return 0;
    }
    for (size_t i = 0; rc == 0 && i < o->percentile.count; i++)
        rc = add_percentile(t, o->percentile.item[i], err);
    if (rc)
        return rc;
    assert(t->npct > 0);
    t->classic_pct = listed(t, 95) ? 95 : t->pct[0];
    qsort(t->pct, t->npct, sizeof(t->pct[0]), compare);
    return 0;
}

// Below the level at which 1.0 writes the report (NOTICE), prints nothing.
static bool silent(const struct sb_text *t)
{
    return t->none || t->o.verbosity < SB_LOG_NOTICE;
}

static double per_second(const struct sb_report *r, uint64_t n)
{
    return r->interval_s > 0 ? (double)n / r->interval_s : 0;
}

static double classic_ms(const struct sb_text *t, const struct sb_report *r)
{
    return t->npct ? sb_report_percentile(r, t->classic_pct) / 1e6 : 0;
}

// Decimals of the report interval, at most milliseconds.
static int decimals(const struct sb_text *t)
{
    int64_t unit = 1000000000;
    int n = 0;

    while (n < 3 && t->interval_ns % unit != 0) {
        unit /= 10;
        n++;
    }
    return n;
}

static void stamp(const struct sb_text *t, const struct sb_report *r)
{
    fprintf(t->out, "[ %.*fs ] %s", decimals(t), r->total_s,
        r->warmup ? "(warm-up) " : "");
}

static void interval_sql(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_counters *c = &r->snap->c;
    double ms = classic_ms(t, r);

    fprintf(t->out,
        "thds: %u tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) "
        "lat (ms,%g%%): %4.*f err/s: %4.2f reconn/s: %4.2f\n",
        r->running, per_second(r, c->completed),
        per_second(r, c->reads + c->writes + c->others),
        per_second(r, c->reads), per_second(r, c->writes),
        per_second(r, c->others), t->classic_pct, sb_units_ms_decimals(ms, 2),
        ms, per_second(r, r->errors), per_second(r, c->reconnects));
}

static void interval_plain(const struct sb_text *t, const struct sb_report *r)
{
    double ms = classic_ms(t, r);

    fprintf(t->out, "thds: %u eps: %4.2f lat (ms,%g%%): %4.*f\n", r->running,
        per_second(r, r->snap->c.completed), t->classic_pct,
        sb_units_ms_decimals(ms, 2), ms);
}

static void interval_workloads(
    const struct sb_text *t, const struct sb_report *r)
{
    for (unsigned i = 0; r->snap->op && i < r->snap->nops; i++) {
        if (!text_is_workload(t, i))
            continue;
        stamp(t, r);
        text_workload_line(t, r, i);
    }
}

void sb_text_interval(struct sb_text *t, const struct sb_report *r)
{
    if (silent(t))
        return;
    stamp(t, r);
    if (t->own.interval) {
        t->own.interval(t->own.data, r, t->classic_pct, t->out);
    } else {
        if (t->sql)
            interval_sql(t, r);
        else
            interval_plain(t, r);
        if (r->open_loop) {
            stamp(t, r);
            fprintf(t->out,
                "queue length: %" PRIu64 "%s concurrency: %" PRIu64 "\n",
                r->queue, t->sql ? "," : "", r->concurrency);
        }
        interval_workloads(t, r);
    }
    fflush(t->out);
}

void sb_text_line(
    struct sb_text *t, const struct sb_report *r, const char *line)
{
    if (silent(t))
        return;
    if (!r->final)
        stamp(t, r);
    fprintf(t->out, "%s\n", line);
    fflush(t->out);
}

static void counted(const struct sb_text *t, const struct sb_report *r,
    const char *label, uint64_t n)
{
    fprintf(t->out, "    %-37s%-6" PRIu64 " (%.2f per sec.)\n", label, n,
        per_second(r, n));
}

static void query(const struct sb_text *t, const char *label, uint64_t n)
{
    fprintf(t->out, "        %-33s%" PRIu64 "\n", label, n);
}

// Four decimals as in sysbench 1.0, or more for short times.
static int seconds_decimals(double s)
{
    return 3 + sb_units_ms_decimals(s * 1e3, 1);
}

static void debug_line(const struct sb_text *t, const char *label, double ns)
{
    fprintf(t->out, "DEBUG: %7s:%38.*fs\n", label, seconds_decimals(ns / 1e9),
        ns / 1e9);
}

// Times are in nanoseconds.
static void debug_times(const struct sb_text *t, const char *title, uint64_t n,
    uint64_t min, uint64_t ns, uint64_t max)
{
    fprintf(t->out, "DEBUG: %s statistics:\n", title);
    debug_line(t, "min", n ? (double)min : 0);
    debug_line(t, "avg", n ? (double)ns / (double)n : 0);
    debug_line(t, "max", (double)max);
    debug_line(t, "total", (double)ns);
}

// Printed with --db-debug. The times of operations include fetching rows, so
// the second block is all zeros, as it was in 1.0. The events of a workload of
// a mix are not queries.
static void query_times(const struct sb_text *t, const struct sb_snap *s)
{
    uint64_t n = 0, ns = 0, min = UINT64_MAX, max = 0;

    for (unsigned i = 0; s->op && i < s->nops; i++) {
        const struct sb_snap_op *op = &s->op[i];

        if (op->count == 0 || text_is_workload(t, i))
            continue;
        n += op->count;
        ns += op->ns;
        min = op->min < min ? op->min : min;
        max = op->max > max ? op->max : max;
    }
    fprintf(t->out, "DEBUG: \n");
    debug_times(t, "Query execution", n, min, ns, max);
    debug_times(t, "Results fetching", 0, 0, 0, 0);
}

static void sql(const struct sb_text *t, const struct sb_report *r)
{
    const struct sb_counters *c = &r->snap->c;
    uint64_t queries = c->reads + c->writes + c->others;

    // The MongoDB fork of sysbench 0.5 also had this heading.
    fprintf(t->out, "%s statistics:\n    queries performed:\n",
        t->documents ? "OLTP test" : "SQL");
    query(t, "read:", c->reads);
    query(t, "write:", c->writes);
    query(t, "other:", c->others);
    query(t, "total:", queries);
    counted(t, r, "transactions:", c->completed);
    counted(t, r, "queries:", queries);
    counted(t, r, "ignored errors:", r->errors);
    counted(t, r, "reconnects:", c->reconnects);
    if (t->db_debug)
        query_times(t, r->snap);
}

static void latency_line(const struct sb_text *t, const char *label, double ms)
{
    fprintf(t->out, "%12s: %*.*f\n", label, EDGE - 14,
        sb_units_ms_decimals(ms, 2), ms);
}

static void percentile_line(
    const struct sb_text *t, const struct sb_report *r, double pct)
{
    int n = fprintf(t->out, "%11.12gth percentile:", pct);
    double ms = sb_report_percentile(r, pct) / 1e6;
    char value[40];

    snprintf(value, sizeof(value), "%s%.*f", is_bound(t, r, pct) ? "> " : "",
        sb_units_ms_decimals(ms, 2), ms);
    fprintf(t->out, " %*s\n", n < EDGE - 1 ? EDGE - 1 - n : 0, value);
}

static void general(const struct sb_text *t, const struct sb_report *r)
{
    uint64_t reported;

    fprintf(t->out,
        "\nGeneral statistics:\n"
        "    total time:                          %.4fs\n"
        "    total number of events:              %" PRIu64,
        r->total_s, r->snap->c.completed);
    if (sb_ranks_reported(r->ranks, r->nranks, &reported))
        fprintf(t->out,
            " (a rank was lost; the ranks had reported %" PRIu64 ")", reported);
    fprintf(t->out, "\n");
}

static void latency(const struct sb_text *t, const struct sb_report *r)
{
    fprintf(t->out, "\nLatency (ms):\n");
    latency_line(t, "min", (double)r->lat_min / 1e6);
    latency_line(t, "avg", r->lat_avg / 1e6);
    latency_line(t, "max", (double)r->lat_max / 1e6);
    if (t->npct)
        percentile_line(t, r, t->classic_pct);
    else
        fprintf(t->out, "         percentile stats:               disabled\n");
    latency_line(t, "sum", (double)r->lat_sum / 1e6);
}

static void fairness(const struct sb_text *t, const struct sb_snap *s)
{
    double events = 0, events_dev = 0, ns = 0, ns_dev = 0;

    // A run that has lost a process has no figures of users.
    if (!s->user_events && s->c.completed) {
        fprintf(t->out, "\n");
        return;
    }
    if (s->user_events && s->user_ns) {
        sb_report_mean(s->user_events, s->users, &events, &events_dev);
        sb_report_mean(s->user_ns, s->users, &ns, &ns_dev);
    }
    fprintf(t->out,
        "\nThreads fairness:\n"
        "    events (avg/stddev):           %.4f/%3.2f\n"
        "    execution time (avg/stddev):   %.4f/%3.2f\n\n",
        events, events_dev, ns / 1e9, ns_dev / 1e9);
}

// Printed with --debug.
static void per_thread(const struct sb_text *t, const struct sb_snap *s)
{
    fprintf(t->out, "DEBUG: Verbose per-thread statistics:\n\n");
    for (unsigned i = 0; s->user_min && i < s->users; i++) {
        uint64_t n = s->user_events[i];
        double sum = (double)s->user_ns[i] / 1e9;
        double min = (double)s->user_min[i] / 1e9;
        double avg = n ? sum / (double)n : 0;
        double max = (double)s->user_max[i] / 1e9;

        fprintf(t->out,
            "DEBUG:     thread #%3u: min: %.*fs  avg: %.*fs  max: %.*fs  "
            "events: %" PRIu64 "\n"
            "DEBUG:                  total time taken by event execution: "
            "%.4fs\n",
            i, seconds_decimals(min), min, seconds_decimals(avg), avg,
            seconds_decimals(max), max, n, sum);
    }
    fprintf(t->out, "\n");
}

static void classic(const struct sb_text *t, const struct sb_report *r)
{
    if (r->final && r->snap->unfinished > 0)
        fprintf(t->out,
            "\nNumber of unfinished transactions on forced shutdown: %" PRIu64
            "\n",
            r->snap->unfinished);
    if (t->o.histogram && r->final)
        text_hist(r->latency, t->out);
    if (t->own.final)
        t->own.final(t->own.data, r, t->out);
    else if (t->sql)
        sql(t, r);
    general(t, r);
    latency(t, r);
    fairness(t, r->snap);
    if (t->debug)
        per_thread(t, r->snap);
}

// Warns that the figures below are not those of a complete run.
static void failure(const struct sb_text *t, const struct sb_report *r)
{
    char why[4 * sizeof(((struct sb_err *)0)->msg)];

    sb_escape_line(why, sizeof(why), r->failure);
    fprintf(t->out, "The run failed after %.4f s: %s\n\n", r->total_s, why);
}

static void failed_events(const struct sb_text *t, const struct sb_counters *c)
{
    uint64_t failed = sb_counters_failed(c), ended = c->completed + failed;
    char percent[SB_UNITS_PERCENT];

    if (failed > 0)
        fprintf(t->out, "Failed events: %" PRIu64 " of %" PRIu64 " (%s %%)\n\n",
            failed, ended,
            sb_units_percent(percent, (double)failed, (double)ended));
}

// Omits the classic percentile, because parsers expect it in one line only.
static void percentiles(const struct sb_text *t, const struct sb_report *r)
{
    if (t->npct < 2)
        return;
    fprintf(t->out, "Latency percentiles (ms):\n");
    for (unsigned i = 0; i < t->npct; i++)
        if (t->pct[i] != t->classic_pct)
            percentile_line(t, r, t->pct[i]);
    fprintf(t->out, "\n");
}

static void write_report(struct sb_text *t, const struct sb_report *r)
{
    if (r->failure)
        failure(t, r);
    classic(t, r);
    failed_events(t, &r->snap->c);
    percentiles(t, r);
    if (r->open_loop)
        text_open_loop(t, r);
    text_client_delay(t, r);
    text_search(t, r);
    text_workloads(t, r);
    text_stages(t, r);
    text_ranks(t, r);
    if (t->o.report_operations)
        text_operations(t, r);
    text_metrics(t, r);
    fflush(t->out);
}

void sb_text_checkpoint(struct sb_text *t, const struct sb_report *r)
{
    if (silent(t))
        return;
    // Whole seconds as in 1.0, tenths if a checkpoint has a fraction.
    int tenths = fabs(r->total_s - round(r->total_s)) >= 0.05;
    fprintf(t->out, "[ %.*fs ] Checkpoint report:\n", tenths, r->total_s);
    write_report(t, r);
}

void sb_text_final(struct sb_text *t, const struct sb_report *r)
{
    if (!silent(t))
        write_report(t, r);
    if (t->o.report_errors)
        text_errors(t, r);
}
