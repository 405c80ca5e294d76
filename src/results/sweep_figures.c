// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/sweep_figures.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "kit/array.h"
#include "out/json_parts.h"
#include "results/cmd.h"
#include "results/sides.h"

// How a figure of a sweep is printed.

#define LARGE        1e15 // beyond that, values are printed as 1.23e+15
#define DECIMALS_MAX 6    // as times in milliseconds: nanoseconds

int sb_sweep_decimals(double value)
{
    int n = 2;

    // Values that round to 1.00 have three digits with two decimals.
    for (double v = value; n < DECIMALS_MAX && v > 0 && v < 0.9995; v *= 10)
        n++;
    return n;
}

// Writes a figure, or "-" for no value. Returns out.
static const char *sweep_value(char *out, size_t size, double value)
{
    if (isfinite(value) && fabs(value) >= LARGE)
        snprintf(out, size, "%.3g", value);
    else if (isfinite(value))
        snprintf(out, size, "%.*f", sb_sweep_decimals(value), value);
    else
        snprintf(out, size, "-");
    return out;
}

// The distributions of a script in the figures of a sweep, and its results:
// their averages.

#define WIDTH_MIN   10
#define HEADING_MAX 200

// Returns the index of the metric, SB_SWEEP_METRICS_MAX if there is no room.
static unsigned metric_of(
    struct sb_sweep_figures *f, const char *name, const char *unit)
{
    unsigned i = 0;

    while (i < f->nmetrics && strcmp(f->metric[i].name, name) != 0)
        i++;
    if (i == f->nmetrics && i < SB_SWEEP_METRICS_MAX) {
        struct sb_sweep_metric *m = &f->metric[f->nmetrics++];

        snprintf(m->name, sizeof(m->name), "%s", name);
        snprintf(m->unit, sizeof(m->unit), "%s", unit);
    }
    return i;
}

static bool has_distribution(const struct sb_result_run *run, const char *name)
{
    for (unsigned i = 0; i < run->snap.nmetrics; i++)
        if (run->snap.metric[i].kind == SB_METRIC_DISTRIBUTION &&
            strcmp(run->stats->metrics.metric[i].name, name) == 0)
            return true;
    return false;
}

// o: the result or the headline.
static void add_result(struct sb_sweep_figures *f, struct sb_sweep_point *p,
    const struct sb_result_run *run, const json_t *o, const char *name)
{
    double value = sb__json_number_of(o, "value");
    unsigned at;

    if (!isfinite(value) || has_distribution(run, name))
        return;
    at = metric_of(f, name, sb__json_text_of(o, "unit"));
    if (at == SB_SWEEP_METRICS_MAX)
        return;
    p->metric_sum[at] += value;
    p->metric_count[at]++;
}

// Whether the table has a column for this figure of all events.
static bool has_column(const char *headline)
{
    static const char *const names[] = { "tps", "eps", "events", "p50", "p95",
        "p99" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(headline, names[i]) == 0)
            return true;
    return false;
}

// Adds the headline and the results that scripts have reported, one value for
// each run: first those that they call their headlines, because there is room
// for few. A result with the name of a distribution is most likely its average.
static void add_results(struct sb_sweep_figures *f, struct sb_sweep_point *p,
    const struct sb_result_run *run)
{
    const json_t *list = json_object_get(run->json, "results");
    const json_t *headline = json_object_get(run->json, "headline");
    const char *first = sb__json_text_of(headline, "figure");
    char name[2 * SB_ANSWER_NAME];

    if (!has_column(first))
        add_result(f, p, run, headline, first);
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *o = json_array_get(list, i);

            sb_answer_full_name(name, sb__json_text_of(o, "workload"),
                sb__json_text_of(o, "name"));
            if (json_is_true(json_object_get(o, "headline")) == !others &&
                strcmp(name, first) != 0)
                add_result(f, p, run, o, name);
        }
}

// Adds the distributions of the script of this run. Those beyond
// SB_SWEEP_METRICS_MAX are left out.
static void add_metrics(struct sb_sweep_figures *f, struct sb_sweep_point *p,
    const struct sb_result_run *run)
{
    for (unsigned i = 0; i < run->snap.nmetrics; i++) {
        const struct sb_snap_metric *m = &run->snap.metric[i];
        unsigned at;

        if (m->kind != SB_METRIC_DISTRIBUTION)
            continue;
        at = metric_of(f, run->stats->metrics.metric[i].name,
            run->stats->metrics.metric[i].unit);
        if (at == SB_SWEEP_METRICS_MAX)
            continue;
        p->metric_sum[at] += m->value;
        p->metric_count[at] += (double)m->count;
    }
}

static double average(const struct sb_sweep_point *p, unsigned metric)
{
    return p->metric_count[metric] > 0
               ? p->metric_sum[metric] / p->metric_count[metric]
               : NAN;
}

// Writes the heading of the column of a metric; returns the width of the
// column. The name is printed, and a file may contain anything.
static int column(const struct sb_sweep_metric *m, char *out, size_t size)
{
    char text[sizeof(m->name) + sizeof(m->unit) + 1];

    snprintf(
        text, sizeof(text), "%s%s%s", m->name, *m->unit ? " " : "", m->unit);
    int n = (int)sb_escape_line(out, size, text);

    return n > WIDTH_MIN ? n : WIDTH_MIN;
}

// Print the columns of the metrics: their names, the averages of a point.
static void print_metric_names(const struct sb_sweep_figures *f, FILE *out)
{
    char text[HEADING_MAX];

    for (unsigned i = 0; i < f->nmetrics; i++) {
        int width = column(&f->metric[i], text, sizeof(text));

        fprintf(out, " %*s", width, text);
    }
}

static void print_metrics(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p, FILE *out)
{
    char text[HEADING_MAX], value[32];

    for (unsigned i = 0; i < f->nmetrics; i++)
        fprintf(out, " %*s", column(&f->metric[i], text, sizeof(text)),
            sweep_value(value, sizeof(value), average(p, i)));
}

// {"recall": 0.97}, owned by the caller; NULL if out of memory.
static json_t *metrics_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p)
{
    json_t *o = json_object();
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < f->nmetrics; i++) {
        // As in the list of metrics of a run.
        json_t *name = sb_json_text(f->metric[i].name);

        rc = json_object_set_new(
            o, json_string_value(name), sb_json_number(average(p, i)));
        json_decref(name);
    }
    if (rc) {
        json_decref(o);
        return NULL;
    }
    return o;
}

// What an event costs the server. All known costs are in the JSON document; the
// table has two of them.

static const struct {
    const char *figure, *heading;
} cost_columns[] = { { "cpu_us", "cpu us" }, { SB_COSTS_USD, "USD/M" } };

// Whether a point knows a cost; its number.
static bool has_cost(
    const struct sb_sweep_figures *f, const char *figure, unsigned *n)
{
    struct sb_figure cost;
    bool known = false;

    for (*n = 0; sb_cost_figure(*n, &cost); (*n)++) {
        if (strcmp(cost.figure, figure) == 0)
            break;
    }
    for (unsigned i = 0; i < f->npoints && !known; i++)
        known = isfinite(f->point[i].figure[SB_SWEEP_COST + *n].value);
    return known;
}

// p: NULL for the headings.
static void print_costs(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p, FILE *out)
{
    char value[32];
    unsigned n;

    for (size_t i = 0; i < sizeof(cost_columns) / sizeof(*cost_columns); i++) {
        if (has_cost(f, cost_columns[i].figure, &n))
            fprintf(out, " %*s", WIDTH_MIN,
                p ? sweep_value(value, sizeof(value),
                        p->figure[SB_SWEEP_COST + n].value)
                  : cost_columns[i].heading);
    }
}

// {"cpu_us": {...}}, owned by the caller; NULL if out of memory.
static json_t *costs_json(const struct sb_sweep_point *p)
{
    json_t *o = json_object();
    struct sb_figure cost;
    int rc = 0;

    for (unsigned n = 0; rc == 0 && sb_cost_figure(n, &cost); n++) {
        const struct sb_estimate *e = &p->figure[SB_SWEEP_COST + n];

        if (isfinite(e->value))
            rc = json_object_set_new(
                o, cost.figure, sb_estimate_json(e, false));
    }
    if (rc) {
        json_decref(o);
        return NULL;
    }
    return o;
}

// What a sweep says if users ran on workers in some of its points, and had
// threads of their own in others, as with --workers=auto.

// Counts the run in on_workers or on_threads, if its file says how it ran its
// users.
static void add_workers(
    struct sb_sweep_point *p, const struct sb_result_run *run)
{
    const json_t *workers = json_object_get(run->json, "workers");

    p->on_workers += json_is_integer(workers);
    p->on_threads += json_is_null(workers);
}

static const char *value_of(
    const struct sb_sweep_figures *f, unsigned point, int option)
{
    assert(point < f->npoints && option >= 0 && option < (int)f->noptions);
    return f->point[point].swept[option].value;
}

// Whether the value of the option says which points had workers.
static bool decides(const struct sb_sweep_figures *f, int option)
{
    for (unsigned i = 0; i < f->npoints; i++)
        for (unsigned k = 0; k < f->npoints; k++)
            if (f->point[i].on_workers && f->point[k].on_threads &&
                strcmp(value_of(f, i, option), value_of(f, k, option)) == 0)
                return false;
    return true;
}

// The option that decides, first the load; -1: none does.
static int deciding_option(const struct sb_sweep_figures *f)
{
    if (f->axis >= 0 && decides(f, f->axis))
        return f->axis;
    for (int i = 0; i < (int)f->noptions; i++)
        if (decides(f, i))
            return i;
    return -1;
}

// Whether the point is the first one with workers that has this value.
static bool is_listed(
    const struct sb_sweep_figures *f, unsigned point, int option)
{
    if (!f->point[point].on_workers)
        return false;
    for (unsigned i = 0; i < point; i++)
        if (f->point[i].on_workers &&
            strcmp(value_of(f, i, option), value_of(f, point, option)) == 0)
            return false;
    return true;
}

// "threads=16, 24 and 32"
static void print_values(
    const struct sb_sweep_figures *f, int option, FILE *out)
{
    unsigned n = 0, at = 0;

    for (unsigned i = 0; i < f->npoints; i++)
        n += is_listed(f, i, option);
    fprintf(out, "%s=", f->name[option]);
    for (unsigned i = 0; i < f->npoints; i++) {
        if (!is_listed(f, i, option))
            continue;
        fprintf(out, "%s%s",
            at == 0       ? ""
            : at == n - 1 ? " and "
                          : ", ",
            value_of(f, i, option));
        at++;
    }
}

// Prints a note if users ran on workers in some points, and had threads in
// others: their latencies do not include the same.
static void print_workers(const struct sb_sweep_figures *f, FILE *out)
{
    unsigned workers = 0, threads = 0;
    int option;

    for (unsigned i = 0; i < f->npoints; i++) {
        workers += f->point[i].on_workers > 0;
        threads += f->point[i].on_threads > 0;
    }
    if (workers == 0 || threads == 0)
        return;
    option = deciding_option(f);
    fprintf(out, "Users shared workers with ");
    if (option >= 0)
        print_values(f, option, out);
    else
        fprintf(out, "%u of %u combinations", workers, f->npoints);
    fprintf(out, ": latencies there do not include client delay.\n");
}

// What other processes of the client's machine used, also a server on it.

static void add_others(
    struct sb_sweep_point *p, const struct sb_result_run *run)
{
    unsigned time = sb_result_column(run, "run", "", "time");
    unsigned seconds = sb_result_column(run, "run", "", "seconds");
    unsigned own = sb_result_column(run, "client", "cpu", "value");
    unsigned machine = sb_result_column(run, "client", "machine", "value");
    double processors = json_number_value(
        json_object_get(json_object_get(run->json, "host"), "processors"));
    struct sb_sweep_others *o = &p->others;
    double used = 0, length = 0;

    for (size_t i = 0; i < run->intervals.nrows; i++) {
        double s = sb_result_value(run, i, seconds);
        double now = sb_result_value(run, i, machine) -
                     sb_result_value(run, i, own);

        if (sb_result_value(run, i, time) > 0 && s > 0 && isfinite(now)) {
            used += s * fmax(now, 0);
            length += s;
        }
    }
    if (!(length > 0) || !(processors > 0))
        return;
    double share = fmin(used / length / processors, 1);

    o->low = o->runs ? fmin(o->low, share) : share;
    o->high = fmax(o->high, share);
    o->sum += share;
    o->runs++;
}

static struct sb_sweep_others all_others(const struct sb_sweep_figures *f)
{
    struct sb_sweep_others all = { 0 };

    for (unsigned i = 0; i < f->npoints; i++) {
        const struct sb_sweep_others *o = &f->point[i].others;

        if (!o->runs)
            continue;
        all.low = all.runs ? fmin(all.low, o->low) : o->low;
        all.high = fmax(all.high, o->high);
        all.sum += o->sum;
        all.runs += o->runs;
    }
    return all;
}

static void print_others(const struct sb_sweep_figures *f, FILE *out)
{
    const struct sb_sweep_others o = all_others(f);

    if (!o.runs)
        return;
    fprintf(out,
        "Other processes, with a server on this machine, used %.1f %% "
        "of its processor time",
        100 * o.sum / o.runs);
    if (o.runs > 1)
        fprintf(
            out, " (%.1f %% to %.1f %% per run)", 100 * o.low, 100 * o.high);
    fprintf(out, "\n");
}

// A new reference; null if it is unknown.
static json_t *others_json(const struct sb_sweep_figures *f)
{
    const struct sb_sweep_others o = all_others(f);

    return o.runs ? json_pack("{s:o,s:o,s:o}", "mean",
                        sb_json_number(o.sum / o.runs), "low",
                        sb_json_number(o.low), "high", sb_json_number(o.high))
                  : json_null();
}

// Degrees of freedom of an interval that is no estimate from few values.
#define KNOWN     1e6
#define NORMAL_95 1.96

static const struct sb_figure figures[SB_SWEEP_FOUND] = {
    { "run", "", "throughput", "/s", false },
    { "run", "", "p50", "ms", true },
    { "run", "", "p95", "ms", true },
    { "run", "", "p99", "ms", true },
};

void sb_sweep_figures_init(struct sb_sweep_figures *f)
{
    memset(f, 0, sizeof(*f));
}

void sb_sweep_figures_done(struct sb_sweep_figures *f)
{
    for (unsigned i = 0; i < f->npoints; i++) {
        for (unsigned k = 0; k < f->noptions; k++) {
            free((char *)f->point[i].swept[k].name);
            free((char *)f->point[i].swept[k].value);
        }
        for (int k = 0; k < SB_SWEEP_N; k++)
            free(f->point[i].run[k]);
        free(f->point[i].round);
    }
    for (unsigned i = 0; i < f->ngroups; i++) {
        free(f->group[i].point);
        free(f->group[i].to_peak);
    }
    free(f->point);
    free(f->group);
    memset(f, 0, sizeof(*f));
}

// Adding ----------------------------------------------------------------------

static bool same_values(
    const struct sb_sweep_point *p, const struct sb_fact *swept, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(p->swept[i].value, swept[i].value) != 0)
            return false;
    return true;
}

// The texts are printed, and a file may contain anything.
static char *clean_copy(const char *text)
{
    char out[512];

    sb_escape_line(out, sizeof(out), text);
    return strdup(out);
}

static struct sb_sweep_point *new_point(
    struct sb_sweep_figures *f, const struct sb_fact *swept, unsigned n)
{
    struct sb_sweep_point *p = sb_array_least(
        f->point, &f->npoints, f->npoints + 1, sizeof(*p));
    bool ok = true;

    if (!p)
        return NULL;
    f->point = p;
    p += f->npoints - 1;
    for (unsigned i = 0; i < n; i++) {
        p->swept[i] = (struct sb_fact){ clean_copy(swept[i].name),
            clean_copy(swept[i].value) };
        ok = ok && p->swept[i].name && p->swept[i].value;
    }
    return ok ? p : NULL;
}

static struct sb_sweep_point *find_point(
    struct sb_sweep_figures *f, const struct sb_fact *swept, unsigned n)
{
    for (unsigned i = 0; i < f->npoints; i++)
        if (same_values(&f->point[i], swept, n))
            return &f->point[i];
    return new_point(f, swept, n);
}

static double count_errors(const struct sb_result_run *run)
{
    const json_t *list = json_object_get(run->json, "errors");
    double sum = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        sum += json_number_value(
            json_object_get(json_array_get(list, i), "count"));
    return sum;
}

// The rates of a search whose interval says something.
static void add_found(struct sb_sweep_point *p, const struct sb_result_run *run,
    struct sb_mean *found, struct sb_mean *safe)
{
    const struct sb_rate_search *s = run->report.search;

    *found = *safe = (struct sb_mean){ .value = NAN, .error = NAN };
    if (!s || !s->limit)
        return;
    p->searched++;
    if (!sb_search_found(s)) {
        p->unfound++;
        return;
    }
    p->found_low = s->result.low;
    p->found_high = s->result.high;
    *found = (struct sb_mean){ .value = s->result.rate,
        .error = (s->result.high - s->result.low) / (2 * NORMAL_95),
        .df = KNOWN,
        .effective = s->result.trials };
    safe->value = s->result.safe;
}

// Returns the number of arrivals that were due. With --events, a run schedules
// no more arrivals, however long it takes; then this is at least the expected
// number in this time minus two standard deviations.
static double due(const struct sb_sweep_figures *f,
    const struct sb_sweep_point *p, const struct sb_result_run *run)
{
    const char *events = sb_result_option(run, "events");
    double n = (double)run->snap.scheduled - (double)run->snap.skipped;
    double rate, usual;

    if (!events || strcmp(events, "0") == 0 || run->report.nstages)
        return n;
    for (unsigned i = 0; i < f->noptions; i++) {
        if (strcmp(p->swept[i].name, "rate") != 0 ||
            sb_sweep_number(p->swept[i].value, &rate))
            continue;
        usual = rate * run->report.total_s;
        n = fmax(n, usual - 2 * sqrt(usual));
    }
    return n;
}

// Returns whether the run used a share of the maximum, as with --rate=80%. Such
// a run measures the maximum first, so its throughput depends on the system.
static bool is_share(const struct sb_result_run *run)
{
    const struct sb_rate_search *s = run->report.search;

    return run->report.open_loop && s && !s->limit;
}

static void add_cost(
    const struct sb_result_run *run, unsigned n, struct sb_mean *m)
{
    struct sb_figure cost;

    sb_cost_figure(n, &cost);
    *m = (struct sb_mean){ .value = sb_costs_member(
                               json_object_get(run->json, "costs"),
                               cost.figure),
        .error = NAN };
}

static void add_headline(struct sb_sweep_figures *f,
    const struct sb_result_run *run, struct sb_mean *m)
{
    const json_t *o = json_object_get(run->json, "headline");
    struct sb_sweep_headline *first = &f->headline, h = {
        .better = sb_better_named(sb__json_text_of(o, "better"))
    };

    sb_escape_line(h.figure, sizeof(h.figure), sb__json_text_of(o, "figure"));
    sb_escape_line(h.unit, sizeof(h.unit), sb__json_text_of(o, "unit"));
    *m = (struct sb_mean){ .value = sb__json_number_of(o, "value"),
        .error = NAN };
    // As in compare and history, that of a script does not decide: a sweep of
    // a search in vectors is about its throughput, too.
    if (!json_is_true(json_object_get(o, "chosen")) || !isfinite(m->value) ||
        h.better == SB_BETTER_UNKNOWN || has_column(h.figure))
        return;
    if (first->runs == 0)
        *first = h;
    first->runs += strcmp(first->figure, h.figure) == 0 &&
                   strcmp(first->unit, h.unit) == 0 &&
                   first->better == h.better;
}

static int add_figures(struct sb_sweep_figures *f, struct sb_sweep_point *p,
    const struct sb_result_run *run)
{
    for (int k = 0; k < SB_SWEEP_N; k++) {
        struct sb_mean *m = realloc(p->run[k], (p->runs + 1) * sizeof(*m));

        if (!m)
            return SB_ENOMEM;
        p->run[k] = m;
        if (k < SB_SWEEP_FOUND &&
            sb_result_run_mean(run, &figures[k], &m[p->runs]))
            return SB_ENOMEM;
        if (k >= SB_SWEEP_COST)
            add_cost(run, (unsigned)(k - SB_SWEEP_COST), &m[p->runs]);
    }
    add_found(p, run, &p->run[SB_SWEEP_FOUND][p->runs],
        &p->run[SB_SWEEP_SAFE][p->runs]);
    add_headline(f, run, &p->run[SB_SWEEP_HEADLINE][p->runs]);
    unsigned *round = realloc(p->round, (p->runs + 1) * sizeof(*round));

    if (!round)
        return SB_ENOMEM;
    p->round = round;
    round[p->runs] = (unsigned)json_integer_value(
        json_object_get(run->json, "round"));
    p->runs++;
    p->shares += is_share(run);
    p->given += run->report.open_loop && !is_share(run);
    p->due += due(f, p, run);
    p->completed += (double)run->snap.c.completed;
    p->errors += count_errors(run);
    sb_checks_add(&p->checks, run->json);
    add_workers(p, run);
    add_results(f, p, run);
    add_others(p, run);
    add_metrics(f, p, run);
    return 0;
}

// Whether a run with this exit status failed. Limits that were not kept are no
// failure.
static bool has_failed(int status)
{
    return status != 0 && status != SB_STATUS_LIMITS;
}

int sb_sweep_figures_add(struct sb_sweep_figures *f,
    const struct sb_fact *swept, unsigned n, const struct sb_result_run *run,
    int status)
{
    assert(n <= SB_SWEEP_OPTIONS_MAX);
    if (f->npoints == 0)
        f->noptions = n;
    if (n != f->noptions)
        return SB_EUSAGE;
    for (unsigned i = 0; f->npoints && i < n; i++)
        if (strcmp(f->point[0].swept[i].name, swept[i].name) != 0)
            return SB_EUSAGE;
    assert(!f->group); // the figures were not computed yet
    struct sb_sweep_point *p = find_point(f, swept, n);

    if (!p)
        return SB_ENOMEM;
    if (has_failed(status) || !run || !run->has_totals) {
        p->failed++;
        return 0;
    }
    p->missed += status == SB_STATUS_LIMITS;
    return add_figures(f, p, run);
}

int sb_sweep_figures_add_run(
    struct sb_sweep_figures *f, const struct sb_result_run *run)
{
    json_t *swept = json_object_get(run->json, "swept");
    struct sb_fact fact[SB_SWEEP_OPTIONS_MAX];
    const char *name;
    json_t *value;
    unsigned n = 0;

    if (!json_is_object(swept))
        return 0;
    json_object_foreach(swept, name, value)
    {
        if (n < SB_SWEEP_OPTIONS_MAX && json_is_string(value))
            fact[n++] = (struct sb_fact){ name, json_string_value(value) };
    }
    return sb_sweep_figures_add(f, fact, n, run,
        (int)json_integer_value(
            json_object_get(json_object_get(run->json, "end"), "status")));
}

// Computing -------------------------------------------------------------------

// The numbers of ports are names of servers.
static bool is_name(const char *option)
{
    const char *end = strrchr(option, '-');

    return strcmp(end ? end + 1 : option, "port") == 0;
}

static bool only_numbers(const struct sb_sweep_figures *f, unsigned option)
{
    double number;

    if (is_name(f->name[option]))
        return false;
    for (unsigned i = 0; i < f->npoints; i++)
        if (sb_sweep_number(f->point[i].swept[option].value, &number))
            return false;
    return true;
}

// Whether the points are compared over shares of the maximum: only the rate
// tells them apart.
static bool over_shares(const struct sb_sweep_figures *f)
{
    bool rate = false;

    for (unsigned i = 0; i < f->noptions; i++) {
        if (only_numbers(f, i))
            return false;
        rate = rate || strcmp(f->name[i], "rate") == 0;
    }
    return rate;
}

static void find_peak_of(struct sb_sweep_figures *f)
{
    unsigned runs = 0, given = 0, searched = 0;
    bool set = over_shares(f);

    for (unsigned i = 0; i < f->npoints; i++) {
        runs += f->point[i].runs;
        given += f->point[i].given + (set ? f->point[i].shares : 0);
        searched += f->point[i].searched;
    }
    f->searched = searched > 0;
    f->peak = runs == 0                  ? SB_SWEEP_PEAK_RATE
              : searched == runs         ? SB_SWEEP_PEAK_FOUND
              : given == runs            ? SB_SWEEP_PEAK_NONE
              : f->headline.runs == runs ? SB_SWEEP_PEAK_HEADLINE
                                         : SB_SWEEP_PEAK_RATE;
}

static void find_axis(struct sb_sweep_figures *f)
{
    const char *load = f->peak == SB_SWEEP_PEAK_NONE ? "rate" : "threads";

    f->axis = -1;
    for (unsigned i = f->noptions; i-- > 0;)
        if (only_numbers(f, i))
            f->axis = (int)i;
    for (unsigned i = 0; i < f->noptions; i++)
        if (strcmp(f->name[i], "threads") == 0 && only_numbers(f, i))
            f->axis = (int)i;
    for (unsigned i = 0; i < f->noptions; i++)
        if (strcmp(f->name[i], load) == 0 && only_numbers(f, i))
            f->axis = (int)i;
}

// Whether the axis is the rate of open loops, so that groups have `reached`.
static bool has_reached(const struct sb_sweep_figures *f)
{
    return f->peak == SB_SWEEP_PEAK_NONE && f->axis >= 0 &&
           strcmp(f->name[f->axis], "rate") == 0;
}

static bool same_group(const struct sb_sweep_figures *f,
    const struct sb_sweep_point *a, const struct sb_sweep_point *b)
{
    for (int i = 0; f->axis >= 0 && i < (int)f->noptions; i++)
        if (i != f->axis && strcmp(a->swept[i].value, b->swept[i].value) != 0)
            return false;
    return true;
}

// Puts the point behind all points of the group with a lower load.
static void insert(
    const struct sb_sweep_figures *f, struct sb_sweep_group *g, unsigned point)
{
    unsigned i = g->npoints++;

    assert(i < f->npoints); // the room of a group
    for (; i > 0 && f->point[g->point[i - 1]].load > f->point[point].load; i--)
        g->point[i] = g->point[i - 1];
    g->point[i] = point;
}

static int add_to_group(struct sb_sweep_figures *f, unsigned point)
{
    struct sb_sweep_point *p = &f->point[point];
    unsigned i = 0;

    while (i < f->ngroups && !same_group(f, &f->point[f->group[i].point[0]], p))
        i++;
    if (i == f->ngroups) {
        struct sb_sweep_group *g = &f->group[f->ngroups++];

        assert(f->ngroups <= f->npoints);
        g->point = calloc(f->npoints, sizeof(*g->point));
        g->to_peak = calloc(f->npoints, sizeof(*g->to_peak));
        if (!g->point || !g->to_peak)
            return SB_ENOMEM;
    }
    p->group = i;
    insert(f, &f->group[i], point);
    return 0;
}

static void find_reached(
    const struct sb_sweep_figures *f, struct sb_sweep_group *g)
{
    for (g->reached = 0; g->reached < g->npoints; g->reached++) {
        const struct sb_sweep_point *p = &f->point[g->point[g->reached]];

        if (p->runs == 0 || p->completed < SB_SWEEP_REACHED * p->due)
            return;
    }
}

// Puts the runs of a point at the places of their rounds. Returns false if the
// round of a run is unknown, or another run has it.
static bool place_runs(const struct sb_sweep_point *p, int figure,
    struct sb_mean *out, unsigned rounds)
{
    for (unsigned k = 0; k < rounds; k++)
        out[k] = (struct sb_mean){ .value = NAN, .error = NAN };
    for (unsigned i = 0; i < p->runs; i++) {
        unsigned at = p->round[i];

        if (at < 1 || at > rounds || isfinite(out[at - 1].value))
            return false;
        out[at - 1] = p->run[figure][i];
    }
    return true;
}

static unsigned last_round(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g)
{
    unsigned last = 0;

    for (unsigned i = 0; i < g->npoints; i++) {
        const struct sb_sweep_point *p = &f->point[g->point[i]];

        for (unsigned k = 0; k < p->runs; k++)
            last = p->round[k] > last ? p->round[k] : last;
    }
    return last < SB_SWEEP_RUNS_MAX ? last : 0;
}

static int find_knee(const struct sb_sweep_figures *f, struct sb_sweep_group *g,
    int figure, struct sb_load *load, struct sb_mean *runs, unsigned rounds)
{
    struct sb_knee_opts o = { .run_deviation = SB_COMPARE_RUN_DEVIATION,
        .rounds = rounds > 1 };

    for (unsigned i = 0; i < g->npoints; i++) {
        const struct sb_sweep_point *p = &f->point[g->point[i]];

        o.rounds = o.rounds && place_runs(p, figure, &runs[i * rounds], rounds);
        load[i] = (struct sb_load){ p->load, p->run[figure], p->runs };
    }
    for (unsigned i = 0; o.rounds && i < g->npoints; i++) {
        load[i].run = &runs[i * rounds];
        load[i].n = rounds;
    }
    return sb_knee(load, g->npoints, &o, g->to_peak, &g->knee);
}

static int main_figure(const struct sb_sweep_figures *f)
{
    return f->peak == SB_SWEEP_PEAK_FOUND      ? SB_SWEEP_FOUND
           : f->peak == SB_SWEEP_PEAK_HEADLINE ? SB_SWEEP_HEADLINE
                                               : SB_SWEEP_RATE;
}

// Whether the peak is that of a headline of which lower values are better.
static bool lower_is_better(const struct sb_sweep_figures *f)
{
    return f->peak == SB_SWEEP_PEAK_HEADLINE &&
           f->headline.better == SB_BETTER_LOWER;
}

static int compute_group(
    const struct sb_sweep_figures *f, struct sb_sweep_group *g)
{
    unsigned rounds = last_round(f, g);

    find_reached(f, g);
    if (f->peak == SB_SWEEP_PEAK_NONE || lower_is_better(f))
        return 0;
    struct sb_load *load = calloc(g->npoints, sizeof(*load));
    struct sb_mean *runs = calloc(
        (size_t)g->npoints * rounds + 1, sizeof(*runs));
    int rc = load && runs ? find_knee(f, g, main_figure(f), load, runs, rounds)
                          : SB_ENOMEM;

    g->found = rc == 0;
    free(load);
    free(runs);
    return rc == SB_ENOTFOUND ? 0 : rc;
}

static void compute_point(struct sb_sweep_figures *f, struct sb_sweep_point *p)
{
    const struct sb_compare_opts o = {
        .run_deviation = SB_COMPARE_RUN_DEVIATION
    };

    for (int k = 0; k < SB_SWEEP_N; k++) {
        struct sb_compare c;

        sb_compare(p->run[k], p->runs, p->run[k], p->runs, &o, &c);
        p->figure[k] = c.a;
    }
    // Of a single search, the interval that its own report shows.
    if (p->figure[SB_SWEEP_FOUND].runs == 1) {
        p->figure[SB_SWEEP_FOUND].low = p->found_low;
        p->figure[SB_SWEEP_FOUND].high = p->found_high;
    }
    p->load = 0;
    if (f->axis >= 0)
        sb_sweep_number(p->swept[f->axis].value, &p->load);
}

int sb_sweep_figures_compute(struct sb_sweep_figures *f)
{
    int rc = 0;

    assert(!f->group);
    for (unsigned i = 0; f->npoints && i < f->noptions; i++)
        f->name[i] = f->point[0].swept[i].name;
    find_peak_of(f);
    find_axis(f);
    for (unsigned i = 0; i < f->npoints; i++)
        compute_point(f, &f->point[i]);
    f->group = calloc(f->npoints + 1, sizeof(*f->group));
    if (!f->group)
        return SB_ENOMEM;
    for (unsigned i = 0; rc == 0 && i < f->npoints; i++)
        rc = add_to_group(f, i);
    for (unsigned i = 0; rc == 0 && i < f->ngroups; i++)
        rc = compute_group(f, &f->group[i]);
    return rc;
}

// The figures of a sweep as a table, and as JSON.

#define KNEE_PERCENT 95

// Headlines have error margins only with several runs.
static const char *advice(const struct sb_sweep_figures *f)
{
    return f->peak == SB_SWEEP_PEAK_HEADLINE ? "use --repeat"
                                             : "measure longer or use --repeat";
}

// Text ------------------------------------------------------------------------

static int column_width(const struct sb_sweep_figures *f, unsigned option)
{
    size_t width = strlen(f->name[option]);

    for (unsigned i = 0; i < f->npoints; i++) {
        size_t n = strlen(f->point[i].swept[option].value);

        width = n > width ? n : width;
    }
    return (int)width;
}

// Half the width of the interval, in percent of the value. The interval of a
// percentile may be asymmetric: the wider half counts.
static const char *margin(char *out, size_t size, const struct sb_estimate *e)
{
    double half = fmax(e->high - e->value, e->value - e->low);

    if (isfinite(half) && e->value > 0)
        snprintf(out, size, "%.1f%%", 100 * half / e->value);
    else
        snprintf(out, size, "-");
    return out;
}

static void print_point(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p, FILE *out)
{
    const struct sb_estimate *rate = &p->figure[SB_SWEEP_RATE];
    const struct sb_estimate *found = &p->figure[SB_SWEEP_FOUND];
    char a[32], b[32], c[32], d[32], e[32], runs[32];

    for (unsigned i = 0; i < f->noptions; i++)
        fprintf(out, "%*s  ", column_width(f, i), p->swept[i].value);
    snprintf(runs, sizeof(runs), "%u", p->runs);
    fprintf(out, "%4s %12s %7s", runs, sweep_value(a, sizeof(a), rate->value),
        margin(b, sizeof(b), rate));
    if (f->searched)
        fprintf(out, " %12s %7s", sweep_value(a, sizeof(a), found->value),
            margin(b, sizeof(b), found));
    fprintf(out, " %10s %10s %7s %10s %8.0f",
        sweep_value(b, sizeof(b), p->figure[SB_SWEEP_P50].value),
        sweep_value(c, sizeof(c), p->figure[SB_SWEEP_P95].value),
        margin(d, sizeof(d), &p->figure[SB_SWEEP_P95]),
        sweep_value(e, sizeof(e), p->figure[SB_SWEEP_P99].value), p->errors);
    print_costs(f, p, out);
    print_metrics(f, p, out);
    if (p->failed)
        fprintf(out, "  %u failed", p->failed);
    if (p->unfound)
        fprintf(out, "  %u found no rate", p->unfound);
    if (p->missed)
        fprintf(out, "  %u did not keep a limit", p->missed);
    if (p->checks.doubtful)
        fprintf(out, "  %u doubtful", p->checks.doubtful);
    if (p->checks.bad)
        fprintf(out, "  %u bad", p->checks.bad);
    fprintf(out, "\n");
}

static const char *value_at(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, size_t i)
{
    const struct sb_sweep_point *p = &f->point[g->point[i]];

    assert(i < g->npoints);
    return f->axis >= 0 ? p->swept[f->axis].value : "";
}

// The values of the other options of a group: " (rate=100)".
static void print_group_name(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, FILE *out)
{
    const struct sb_sweep_point *p = &f->point[g->point[0]];
    const char *before = " (";

    for (int i = 0; i < (int)f->noptions; i++) {
        if (i == f->axis || f->ngroups == 1)
            continue;
        fprintf(out, "%s%s=%s", before, f->name[i], p->swept[i].value);
        before = ", ";
    }
    fprintf(out, "%s", before[0] == ',' ? ")" : "");
}

// "; no difference seen to a, b": the values that are not lower than the peak.
static void print_equals(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, FILE *out)
{
    const char *before = "; no difference seen to ";
    char text[400];

    for (unsigned i = 0; i < g->npoints; i++) {
        if (i == g->knee.peak || g->to_peak[i].verdict == SB_VERDICT_LOWER)
            continue;
        sb_sweep_text(
            f->point[g->point[i]].swept, f->noptions, text, sizeof(text));
        fprintf(out, "%s%s", before, text);
        before = ", ";
    }
}

// "Peak of shop.tps", "No highest throughput". Names have no order: the highest
// of them is no peak.
static void print_title(const struct sb_sweep_figures *f, bool none, FILE *out)
{
    bool own = f->peak == SB_SWEEP_PEAK_HEADLINE;
    const char *what = f->axis >= 0 ? (own ? "peak of " : "peak")
                       : own        ? "highest "
                                    : "highest throughput";

    if (f->peak == SB_SWEEP_PEAK_FOUND)
        what = none ? "highest rate" : "highest rate that keeps the limit";
    if (none)
        fprintf(out, "No %s", what);
    else
        fprintf(out, "%c%s", toupper((unsigned char)what[0]), what + 1);
    fprintf(out, "%s", own ? f->headline.figure : "");
}

static void print_peak(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, FILE *out)
{
    const struct sb_knee *k = &g->knee;
    const struct sb_sweep_point *p = &f->point[g->point[k->peak]];
    bool own = f->peak == SB_SWEEP_PEAK_HEADLINE;
    char value[32], text[400];

    sb_sweep_text(p->swept, f->noptions, text, sizeof(text));
    sweep_value(value, sizeof(value), p->figure[main_figure(f)].value);
    print_title(f, false, out);
    fprintf(out, ": %s%s%s at %s", value, own && !*f->headline.unit ? "" : " ",
        own ? f->headline.unit : "events/s", text);
    if (k->estimated) {
        fprintf(out, " (no error margins: %s)\n", advice(f));
        return;
    }
    if (f->axis < 0)
        print_equals(f, g, out);
    else if (k->first_like_peak < k->last_like_peak)
        fprintf(out, "; no difference seen from %s to %s",
            value_at(f, g, k->first_like_peak),
            value_at(f, g, k->last_like_peak));
    if (f->axis >= 0 && k->still_rising)
        fprintf(out, "; still rising at the highest value");
    fprintf(out, "\n");
}

static void print_unresolved(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, FILE *out)
{
    print_title(f, true, out);
    fprintf(out, " can be named");
    print_group_name(f, g, out);
    if (g->knee.estimated)
        fprintf(out, ": there are no error margins (%s)\n", advice(f));
    else
        fprintf(out, ": no difference between the values was seen\n");
}

static void print_knee(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, FILE *out)
{
    const struct sb_knee *k = &g->knee;

    if (f->axis < 0)
        return;
    fprintf(out, "Knee");
    print_group_name(f, g, out);
    fprintf(out, ": %s=%s, the lowest with %d %% of the %s", f->name[f->axis],
        value_at(f, g, k->knee), KNEE_PERCENT,
        f->peak == SB_SWEEP_PEAK_FOUND ? "highest rate" : "peak");
    if (k->estimated)
        fprintf(out, " (no error margins: %s)", advice(f));
    else if (k->knee_low != k->knee_high)
        fprintf(out, " (within the error margins from %s to %s)",
            value_at(f, g, k->knee_low), value_at(f, g, k->knee_high));
    fprintf(out, "\n");
}

// What is said of an open loop, whose throughput has no peak of its own.
static void print_reached(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, FILE *out)
{
    unsigned n = g->reached;

    fprintf(out, "Rates reached");
    print_group_name(f, g, out);
    if (n == 0)
        fprintf(out, ": none");
    else if (n == g->npoints)
        fprintf(out, ": all, up to rate=%s", value_at(f, g, n - 1));
    else
        fprintf(out, ": up to rate=%s, not rate=%s", value_at(f, g, n - 1),
            value_at(f, g, n));
    fprintf(out, " (at least %.0f %% of the arrivals completed)\n",
        100 * SB_SWEEP_REACHED);
}

static void print_found(const struct sb_sweep_figures *f, FILE *out)
{
    if (f->peak == SB_SWEEP_PEAK_NONE && !has_reached(f))
        fprintf(out, "No peak: the rate is given.\n");
    if (lower_is_better(f) && f->npoints > 1)
        fprintf(out, "No peak: a lower %s is better.\n", f->headline.figure);
    for (unsigned i = 0; i < f->ngroups; i++) {
        const struct sb_sweep_group *g = &f->group[i];

        if (has_reached(f))
            print_reached(f, g, out);
        if (!g->found || f->noptions == 0 || g->npoints == 1)
            continue;
        if (!g->knee.resolved) {
            print_unresolved(f, g, out);
            continue;
        }
        print_peak(f, g, out);
        print_knee(f, g, out);
    }
}

// Returns what the checks of all runs say.
static struct sb_checks all_checks(const struct sb_sweep_figures *f)
{
    struct sb_checks all = { 0 };

    for (unsigned i = 0; i < f->npoints; i++)
        sb_checks_sum(&all, &f->point[i].checks);
    return all;
}

bool sb_sweep_figures_doubt(
    const struct sb_sweep_figures *f, char *out, size_t size)
{
    const struct sb_checks all = all_checks(f);
    char names[400];

    if (all.doubtful + all.bad == 0)
        return false;
    snprintf(out, size, "%u of %u run%s %s %s: %s", all.doubtful + all.bad,
        all.runs, all.runs > 1 ? "s" : "",
        all.doubtful + all.bad > 1 ? "are" : "is",
        all.bad ? "doubtful or bad" : "doubtful",
        sb_checks_names(&all, names, sizeof(names)));
    return true;
}

void sb_sweep_figures_print(
    const struct sb_sweep_figures *f, bool found, FILE *out)
{
    char doubt[500];

    for (unsigned i = 0; i < f->noptions; i++)
        fprintf(out, "%*s  ", column_width(f, i), f->name[i]);
    fprintf(out, "%4s %12s %7s", "runs", "events/s", "+/-");
    if (f->searched)
        fprintf(out, " %12s %7s", "highest/s", "+/-");
    fprintf(out, " %10s %10s %7s %10s %8s", "p50 ms", "p95 ms", "+/-", "p99 ms",
        "errors");
    print_costs(f, NULL, out);
    print_metric_names(f, out);
    fprintf(out, "\n");
    for (unsigned i = 0; i < f->npoints; i++)
        print_point(f, &f->point[i], out);
    fprintf(out, "\n");
    if (found)
        print_found(f, out);
    print_others(f, out);
    print_workers(f, out);
    if (sb_sweep_figures_doubt(f, doubt, sizeof(doubt)))
        fprintf(out, "Validity: %s\n", doubt);
}

// JSON ------------------------------------------------------------------------

static json_t *options_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p, int skip)
{
    json_t *o = json_object();

    for (int i = 0; i < (int)f->noptions; i++)
        if (i != skip && json_object_set_new(o, p->swept[i].name,
                             sb_json_text(p->swept[i].value))) {
            json_decref(o);
            return NULL;
        }
    return o;
}

static json_t *point_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p)
{
    json_t *o = json_pack("{s:o,s:i,s:i,s:o,s:o,s:o,s:o}", "options",
        options_json(f, p, -1), "runs", (int)p->runs, "failed", (int)p->failed,
        "throughput", sb_estimate_json(&p->figure[SB_SWEEP_RATE], false), "p50",
        sb_estimate_json(&p->figure[SB_SWEEP_P50], false), "p95",
        sb_estimate_json(&p->figure[SB_SWEEP_P95], false), "p99",
        sb_estimate_json(&p->figure[SB_SWEEP_P99], false));
    const struct sb_estimate *found = &p->figure[SB_SWEEP_FOUND];

    if (o && f->peak == SB_SWEEP_PEAK_HEADLINE &&
        json_object_set_new(o, "headline",
            sb_estimate_json(&p->figure[SB_SWEEP_HEADLINE], false))) {
        json_decref(o);
        return NULL;
    }
    if (o && f->nmetrics &&
        json_object_set_new(o, "metrics", metrics_json(f, p))) {
        json_decref(o);
        return NULL;
    }
    if (o && json_object_set_new(o, "validity", sb_checks_json(&p->checks))) {
        json_decref(o);
        return NULL;
    }
    json_t *costs = costs_json(p);

    if (o && json_object_size(costs) > 0 &&
        json_object_set(o, "costs", costs)) {
        json_decref(o);
        o = NULL;
    }
    json_decref(costs);
    if (o && p->searched &&
        json_object_set_new(o, "search",
            json_pack("{s:o,s:o,s:i}", "highest",
                sb_estimate_json(found, false), "safe",
                sb_json_number(p->figure[SB_SWEEP_SAFE].value), "found",
                (int)found->runs))) {
        json_decref(o);
        return NULL;
    }
    return o;
}

// The highest rate that was reached.
static json_t *reached_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g)
{
    return json_pack("{s:o,s:f,s:b}", "value",
        g->reached ? sb_json_text(value_at(f, g, g->reached - 1)) : json_null(),
        "share", SB_SWEEP_REACHED, "all", g->reached == g->npoints);
}

static json_t *group_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g)
{
    const struct sb_knee *k = &g->knee;
    json_t *o = json_pack(
        "{s:o}", "options", options_json(f, &f->point[g->point[0]], f->axis));

    if (o && has_reached(f) &&
        json_object_set_new(o, "reached", reached_json(f, g))) {
        json_decref(o);
        return NULL;
    }
    if (o && g->found && g->npoints > 1 &&
        (json_object_set_new(o, "resolved", json_boolean(g->knee.resolved)) ||
            json_object_set_new(
                o, "estimated", json_boolean(g->knee.estimated)))) {
        json_decref(o);
        return NULL;
    }
    if (!g->found || f->axis < 0 || !g->knee.resolved)
        return o;
    json_t *peak = json_pack("{s:o,s:o,s:o,s:b,s:b}", "value",
        sb_json_text(value_at(f, g, k->peak)), "low",
        sb_json_text(value_at(f, g, k->first_like_peak)), "high",
        sb_json_text(value_at(f, g, k->last_like_peak)), "estimated",
        k->estimated, "still_rising", k->still_rising);
    json_t *knee = json_pack("{s:o,s:o,s:o,s:f}", "value",
        sb_json_text(value_at(f, g, k->knee)), "low",
        sb_json_text(value_at(f, g, k->knee_low)), "high",
        sb_json_text(value_at(f, g, k->knee_high)), "share",
        KNEE_PERCENT / 100.0);
    if (json_object_set_new(o, "peak", peak) ||
        json_object_set_new(o, "knee", knee)) {
        json_decref(o);
        return NULL;
    }
    return o;
}

static json_t *peak_of_json(const struct sb_sweep_figures *f)
{
    switch (f->peak) {
    case SB_SWEEP_PEAK_RATE:
        return json_string("throughput");
    case SB_SWEEP_PEAK_FOUND:
        return json_string("search");
    case SB_SWEEP_PEAK_HEADLINE:
        return json_string("headline");
    case SB_SWEEP_PEAK_NONE:
        break;
    }
    return json_null();
}

static json_t *headline_json(const struct sb_sweep_figures *f)
{
    return json_pack("{s:o,s:o,s:s}", "figure",
        sb_json_text(f->headline.figure), "unit",
        sb_json_text(f->headline.unit), "better",
        sb_better_name(f->headline.better));
}

json_t *sb_sweep_figures_json(const struct sb_sweep_figures *f)
{
    json_t *points = json_array(), *groups = json_array();
    json_t *axis = f->axis >= 0 ? sb_json_text(f->name[f->axis]) : json_null();
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < f->npoints; i++)
        rc = json_array_append_new(points, point_json(f, &f->point[i]));
    for (unsigned i = 0; rc == 0 && i < f->ngroups; i++)
        rc = json_array_append_new(groups, group_json(f, &f->group[i]));
    json_t *o = json_pack("{s:o,s:o,s:f,s:o,s:o,s:o}", "axis", axis, "peak_of",
        peak_of_json(f), "confidence", 0.95, "points", points, "groups", groups,
        "others", others_json(f));
    if (rc == 0 && f->peak == SB_SWEEP_PEAK_HEADLINE)
        rc = json_object_set_new(o, "headline", headline_json(f));
    if (rc) {
        json_decref(o);
        return NULL;
    }
    return o;
}
