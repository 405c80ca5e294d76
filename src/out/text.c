// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/text_private.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/log.h"
#include "kit/units.h"

// Right edge of the latency block.
#define EDGE 53

#define OPT(field) offsetof(struct sb_text_opts, field)

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
        .help = "add to the final report what was measured: server, address, "
                "settings, client library, host, seed, labels" },
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
        if (!sb__text_is_workload(t, i))
            continue;
        stamp(t, r);
        sb__text_workload_line(t, r, i);
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

        if (op->count == 0 || sb__text_is_workload(t, i))
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

    fprintf(t->out, " %*.*f\n", n < EDGE - 1 ? EDGE - 1 - n : 0,
        sb_units_ms_decimals(ms, 2), ms);
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
        sb__text_hist(r->latency, t->out);
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
        sb__text_open_loop(t, r);
    sb__text_client_delay(t, r);
    sb__text_search(t, r);
    sb__text_workloads(t, r);
    sb__text_stages(t, r);
    sb__text_ranks(t, r);
    if (t->o.report_operations)
        sb__text_operations(t, r);
    sb__text_metrics(t, r);
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
        sb__text_errors(t, r);
}
