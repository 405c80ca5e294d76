// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/json_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/assert.h"
#include "out/beside_figures.h"
#include "out/division.h"
#include "out/waits.h"

// Latencies and counters: of a run, a stage, an operation ---------------------

static const struct {
    const char *name;
    double pct;
} percentiles[] = {
    { "1", 1 },
    { "5", 5 },
    { "10", 10 },
    { "25", 25 },
    { "50", 50 },
    { "75", 75 },
    { "90", 90 },
    { "95", 95 },
    { "99", 99 },
    { "99.9", 99.9 },
    { "99.99", 99.99 },
    { "99.999", 99.999 },
    { "100", 100 },
};

static json_t *percentile_object(const struct sb_hist_snap *h, uint64_t max)
{
    json_t *o = json_object();
    bool ok = o != NULL;

    for (size_t i = 0; ok && i < sizeof(percentiles) / sizeof(percentiles[0]);
         i++)
        ok = sb__json_set(o, percentiles[i].name,
            h->total ? sb_json_number(round(
                           sb_hist_snap_percentile(h, percentiles[i].pct, max)))
                     : json_null());
    return sb__json_complete(o, ok);
}

struct buckets {
    json_t *array;
    bool ok;
};

static void add_bucket(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct buckets *b = arg;
    json_t *triple = json_array();

    b->ok = b->ok && sb__json_append(triple, sb_json_count(low)) &&
            sb__json_append(triple, sb_json_count(low + width - 1)) &&
            sb__json_append(triple, sb_json_count(count));
    b->ok = sb__json_append(b->array, triple) && b->ok;
}

// Triples of lowest value, highest value and count.
static json_t *json_histogram(const struct sb_hist_snap *h)
{
    struct buckets b = { json_array(), true };

    sb_hist_snap_each(h, add_bucket, &b);
    return sb__json_complete(b.array, b.ok);
}

// As sb_json_latency(), without the histogram.
static json_t *json_latency_figures(const char *kind,
    const struct sb_hist_snap *h, uint64_t min, uint64_t sum, uint64_t max)
{
    uint64_t n = h->total;

    return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "kind", kind, "count",
        sb_json_count(n), "min", n ? sb_json_count(min) : json_null(), "avg",
        n ? sb_json_number((double)sum / (double)n) : json_null(), "max",
        n ? sb_json_count(max) : json_null(), "sum", sb_json_count(sum),
        "percentiles", percentile_object(h, max));
}

json_t *sb_json_latency(const char *kind, const struct sb_hist_snap *h,
    uint64_t min, uint64_t sum, uint64_t max)
{
    json_t *o = json_latency_figures(kind, h, min, sum, max);

    return sb__json_complete(
        o, sb__json_set(o, "histogram", json_histogram(h)));
}

// The counters of a run or a stage: an object.
static json_t *json_counters(const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    json_t *o = json_pack("{s:o,s:o,s:o,s:o}", "scheduled",
        sb_json_count(s->scheduled), "skipped", sb_json_count(s->skipped),
        "unfinished", sb_json_count(s->unfinished), "queue",
        sb_json_count(r->queue));
    bool ok = o != NULL;

#define X(name) ok = ok && sb__json_set_count(o, #name, s->c.name);
    SB_COUNTER_MAP(X)
#undef X
    return sb__json_complete(o, ok);
}

// Returns the kind of the latencies of events in this report.
static const char *json_latency_kind(const struct sb_report *r)
{
    return r->open_loop ? "response" : "service";
}

// Metrics of a script ---------------------------------------------------------

static json_t *metric_percentiles(const struct sb_snap_metric *m)
{
    static const struct {
        const char *name;
        double pct;
    } list[] = { { "1", 1 }, { "5", 5 }, { "25", 25 }, { "50", 50 },
        { "75", 75 }, { "95", 95 }, { "99", 99 }, { "99.9", 99.9 },
        { "100", 100 } };
    json_t *o = json_object();
    bool ok = o != NULL;

    for (size_t i = 0; ok && i < sizeof(list) / sizeof(list[0]); i++)
        ok = sb__json_set(o, list[i].name,
            m->count ? sb_json_number(sb_snap_metric_percentile(m, list[i].pct))
                     : json_null());
    return sb__json_complete(o, ok);
}

static json_t *if_any(const struct sb_snap_metric *m, double value)
{
    return m->count ? sb_json_number(value) : json_null();
}

static bool set_distribution(json_t *o, const struct sb_snap_metric *m)
{
    return sb__json_set(o, "count", sb_json_count(m->count)) &&
           sb__json_set(o, "sum", sb_json_number(m->value)) &&
           sb__json_set(o, "min", if_any(m, m->min)) &&
           sb__json_set(o, "avg",
               if_any(m, m->count ? m->value / (double)m->count : 0)) &&
           sb__json_set(o, "max", if_any(m, m->max)) &&
           sb__json_set(o, "percentiles", metric_percentiles(m)) &&
           sb__json_set(o, "scale", sb_json_number(m->scale)) &&
           sb__json_set(o, "histogram", json_histogram(&m->hist));
}

static json_t *metric(
    const struct sb_metric *def, const struct sb_snap_metric *m)
{
    static const char *const kinds[] = { [SB_METRIC_COUNTER] = "counter",
        [SB_METRIC_GAUGE] = "gauge",
        [SB_METRIC_DISTRIBUTION] = "distribution",
        [SB_METRIC_REST] = "counter" };
    json_t *o = json_pack("{s:o,s:s,s:o,s:o}", "name", sb_json_text(def->name),
        "kind", kinds[m->kind], "unit", sb_json_text(def->unit), "help",
        sb_json_text(def->help));
    bool ok = o != NULL;

    if (ok && m->kind == SB_METRIC_DISTRIBUTION)
        ok = set_distribution(o, m);
    else if (ok)
        ok = sb__json_set(o, m->kind == SB_METRIC_GAUGE ? "value" : "sum",
            sb_json_number(m->value));
    return sb__json_complete(o, ok);
}

// The metrics of the script: an array.
static json_t *json_metrics(const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && r->stats && i < s->nmetrics; i++)
        ok = json_array_append_new(
                 a, metric(&r->stats->metrics.metric[i], &s->metric[i])) == 0;
    return sb__json_complete(a, ok);
}

// Ranks -----------------------------------------------------------------------

static json_t *ms(double ns)
{
    return sb_json_number(ns / 1e6);
}

static json_t *latency(const struct sb_rank_figures *f)
{
    json_t *o = json_object(), *p = json_object();
    bool ok = sb__json_set(o, "mean", ms(f->mean)) &&
              sb__json_set(o, "max", ms(f->max));
    char name[32];

    for (unsigned i = 0; ok && i < SB_RANK_PERCENTILES; i++) {
        snprintf(name, sizeof(name), "%g", sb_rank_percentiles[i]);
        ok = sb__json_set(p, name, ms(f->percentile[i]));
    }
    ok = sb__json_set(o, "percentiles", p) && ok;
    return sb__json_complete(o, ok);
}

static json_t *rank(const struct sb_rank_figures *f, unsigned number)
{
    return json_pack("{s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "rank",
        sb_json_count(number), "host", sb_json_text(f->host), "lost", f->lost,
        "threads", sb_json_count(f->users), "events", sb_json_count(f->events),
        "failed_events", sb_json_count(f->failed), "latency",
        f->lost ? json_null() : latency(f), "cpu_seconds",
        sb_json_number(f->cpu_s), "processors", sb_json_count(f->processors),
        "clock_offset", ms((double)f->offset_ns), "clock_error",
        ms((double)f->error_ns));
}

static json_t *ranks(const struct sb_report *whole)
{
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && i < whole->nranks; i++)
        ok = json_array_append_new(a, rank(&whole->ranks[i], i)) == 0;
    return sb__json_complete(a, ok);
}

static json_t *reported(const struct sb_report *whole)
{
    uint64_t events;

    if (!sb_ranks_reported(whole->ranks, whole->nranks, &events))
        return json_null();
    return sb_json_count(events);
}

json_t *sb_json_division(const struct sb_rank_figures *f, unsigned n)
{
    struct sb_division d;

    if (!sb_division_of(&d, f, n))
        return json_null();

    return json_pack("{s:o,s:o,s:o,s:o}", "load", sb_json_number(d.load),
        "wait", ms(d.wait), "wait_undivided", ms(d.wait_undivided), "cost",
        ms(d.cost));
}

// Sets the members with the figures of the ranks. False: out of memory.
static bool json_set_ranks(json_t *o, const struct sb_report *whole)
{
    // The division is that of a whole run, not of stages.
    unsigned n = whole->nstages ? 0 : whole->nranks;

    return sb__json_set(o, "ranks", ranks(whole)) &&
           sb__json_set(o, "ranks_reported", reported(whole)) &&
           sb__json_set(o, "division", sb_json_division(whole->ranks, n));
}

// Stages ----------------------------------------------------------------------

static json_t *range(double from, double to)
{
    json_t *a = json_array();
    bool ok = json_array_append_new(a, sb_json_number(from)) == 0 &&
              json_array_append_new(a, sb_json_number(to)) == 0;

    return sb__json_complete(a, ok);
}

static json_t *workload(
    const struct sb_report *r, const struct sb_snap_op *op, const char *name)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "name", sb_json_text(name),
        "errors", sb_json_count(op->errors), "failed",
        sb_json_count(op->failed), "restarts", sb_json_count(op->restarts),
        "latency",
        sb_json_latency(
            json_latency_kind(r), &op->hist, op->min, op->ns, op->max));
}

// The workloads of a mix that did something in the stage.
static json_t *workloads(const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && s->op && r->stats && i < s->nops; i++) {
        const struct sb_op *op = &r->stats->op[i];

        if (op->kind == SB_OP_WORKLOAD && sb_snap_op_occurred(&s->op[i]))
            ok = json_array_append_new(a, workload(r, &s->op[i], op->name)) ==
                 0;
    }
    return sb__json_complete(a, ok);
}

static json_t *stage(const struct sb_report *r)
{
    json_t *o = json_object();
    bool mix = r->stage_mix && r->stage_mix[0];
    bool ok = sb__json_set(o, "name", sb_json_text(r->stage_name)) &&
              sb__json_set(
                  o, "start", sb_json_number(r->total_s - r->interval_s)) &&
              sb__json_set(o, "seconds", sb_json_number(r->interval_s)) &&
              sb__json_set(
                  o, "threads", range(r->stage_users[0], r->stage_users[1])) &&
              sb__json_set(o, "rate",
                  r->open_loop ? range(r->stage_rate[0], r->stage_rate[1])
                               : json_null()) &&
              (!mix || sb__json_set(o, "mix", sb_json_text(r->stage_mix))) &&
              sb__json_set(o, "counters", json_counters(r)) &&
              sb__json_set(o, "latency",
                  sb_json_latency(json_latency_kind(r), r->latency, r->lat_min,
                      r->lat_sum, r->lat_max)) &&
              (!mix || sb__json_set(o, "workloads", workloads(r)));

    return sb__json_complete(o, ok);
}

json_t *sb__json_stages(const struct sb_report *whole)
{
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && i < whole->nstages; i++)
        ok = json_array_append_new(a, stage(&whole->stages[i])) == 0;
    return sb__json_complete(a, ok);
}

// How a run found its rate ----------------------------------------------------

const char *sb__json_search_end(enum sb_search_end end)
{
    static const char *const names[] = {
        [SB_SEARCH_GOES_ON] = "interrupted",
        [SB_SEARCH_FOUND] = "found",
        [SB_SEARCH_BELOW] = "below",
        [SB_SEARCH_ABOVE] = "above",
        [SB_SEARCH_EXHAUSTED] = "exhausted",
    };

    return names[end];
}

static bool set_number(json_t *o, const char *name, double value)
{
    return sb__json_set(o, name, sb_json_number(value));
}

static json_t *trial_value(const struct sb_search_trial *t)
{
    return json_pack("{s:o,s:o,s:b,s:b,s:o}", "rate", sb_json_number(t->rate),
        "value", sb_json_number(t->value), "kept", t->kept, "queue_grew",
        t->grew, "missed",
        t->missed == SB_SEARCH_NONE ? json_null()
                                    : json_integer((json_int_t)t->missed));
}

static json_t *trial_list(const struct sb_rate_search *f)
{
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && i < f->trials; i++)
        ok = json_array_append_new(a, trial_value(&f->trial[i])) == 0;
    return sb__json_complete(a, ok);
}

static bool set_search(json_t *o, const struct sb_rate_search *f)
{
    const struct sb_search_result *r = &f->result;
    bool known = r->trials > 0;

    return sb__json_set(o, "limit", sb_json_text(f->limit)) &&
           sb__json_set(o, "unit", sb_json_text(f->unit)) &&
           sb__json_set(o, "end", json_string(sb__json_search_end(r->end))) &&
           set_number(o, "highest", known ? r->rate : NAN) &&
           set_number(o, "low", known ? r->low : NAN) &&
           set_number(o, "high", known ? r->high : NAN) &&
           set_number(o, "safe", known ? r->safe : NAN) &&
           sb__json_set(
               o, "bounds", json_pack("[f, f]", f->lowest, f->highest)) &&
           sb__json_set(o, "measured_kept",
               f->judged ? json_boolean(f->kept) : json_null()) &&
           set_number(o, "measured_value", f->judged ? f->value : NAN) &&
           sb__json_set(o, "trials", trial_list(f));
}

// How the run found its rate: the member "search".
static json_t *json_search(const struct sb_rate_search *f)
{
    json_t *o = json_pack("{s:o,s:o,s:o}", "percent",
        sb_json_number(f->percent > 0 ? f->percent : NAN), "maximum",
        sb_json_number(f->max > 0 ? f->max : NAN), "rate",
        sb_json_number(f->rate > 0 ? f->rate : NAN));
    bool ok = o != NULL;

    if (ok && f->limit)
        ok = set_search(o, f);
    return sb__json_complete(o, ok);
}

// Facts -----------------------------------------------------------------------

json_t *sb_json_program(const struct sb_facts *f)
{
    return json_pack("{s:s,s:o,s:o,s:s}", "name", "sysbench", "version",
        sb_json_text(f->version), "luajit", sb_json_text(f->luajit), "compiler",
        __VERSION__);
}

static json_t *host(const struct sb_host_facts *h)
{
    json_t *o = json_object(), *c = json_object();
    bool ok = sb__json_set(c, "cpus",
                  h->container_cpus > 0 ? sb_json_number(h->container_cpus)
                                        : json_null()) &&
              sb__json_set(c, "memory_bytes",
                  h->container_memory ? sb_json_count(h->container_memory)
                                      : json_null()) &&
              sb__json_set_text(o, "name", h->name) &&
              sb__json_set_text(o, "cpu", h->cpu) &&
              sb__json_set_count(o, "processors", h->processors) &&
              sb__json_set_count(o, "memory_bytes", h->memory) &&
              sb__json_set_text(o, "kernel", h->kernel) &&
              sb__json_set_text(o, "clock", h->clock) &&
              sb__json_set_text(o, "governor", h->governor) &&
              sb__json_set_text(o, "frequency_driver", h->frequency_driver);

    ok = sb__json_set(o, "container", c) && ok;
    return sb__json_complete(o, ok);
}

static json_t *fact_object(const struct sb_fact *fact, unsigned n)
{
    json_t *o = json_object();
    bool ok = o != NULL;

    for (unsigned i = 0; ok && i < n; i++)
        ok = sb__json_set_text(o, fact[i].name, fact[i].value);
    return sb__json_complete(o, ok);
}

// The settings, and the names of those that are known to be defaults.
static bool set_settings(json_t *o, const struct sb_database_facts *d)
{
    json_t *settings = json_object(), *defaults = json_array();
    bool ok = true;

    for (unsigned i = 0; ok && i < d->nsettings; i++) {
        const struct sb_setting_fact *s = &d->settings[i];

        ok = sb__json_set_text(settings, s->name, s->value);
        if (ok && s->is_default)
            ok = sb__json_append(defaults, sb_json_text(s->name));
    }
    ok = sb__json_set(o, "settings", settings) && ok;
    return sb__json_set(o, "defaults", defaults) && ok;
}

static json_t *database(const struct sb_database_facts *d)
{
    json_t *o = json_pack("{s:o,s:o,s:o,s:o,s:b,s:b,s:o}", "driver",
        sb_json_text(d->driver), "client", sb_json_text(d->client), "server",
        sb_json_text(d->server), "address", sb_json_text(d->address), "bypass",
        d->bypass, "documents", d->documents, "totals_late",
        sb_json_number(d->totals_late_s));
    bool ok = o != NULL;

    ok = set_settings(o, d) && ok;
    return sb__json_complete(o, ok);
}

json_t *sb_json_databases(const struct sb_facts *f)
{
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && i < f->ndatabases; i++)
        ok = sb__json_append(a, database(&f->databases[i]));
    return sb__json_complete(a, ok);
}

json_t *sb_json_server_totals(const struct sb_facts *f)
{
    json_t *o = json_object();
    bool ok = o != NULL;

    for (unsigned i = 0; ok && i < f->ntotals; i++)
        ok = sb__json_set(
            o, f->totals[i].name, sb_json_number(f->totals[i].growth));
    return sb__json_complete(o, ok);
}

json_t *sb_json_plans(const struct sb_facts *f)
{
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && i < f->nplans; i++) {
        const struct sb_plan_facts *p = &f->plans[i];

        ok = sb__json_append(a,
            json_pack("{s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o}", "operation",
                sb_json_text(p->operation), "address", sb_json_text(p->address),
                "kind", sb_json_text(p->kind), "used", p->used, "before",
                sb_json_text(p->before), "after", sb_json_text(p->after),
                "scans", sb_json_text(p->scans), "why", sb_json_text(p->why)));
    }
    return sb__json_complete(a, ok);
}

static json_t *labels(const struct sb_opt_list *list)
{
    json_t *o = json_object();
    bool ok = o != NULL;

    for (size_t i = 0; ok && i < list->count; i++) {
        const char *sign = strchr(list->item[i], '=');
        char *key = strndup(list->item[i], (size_t)(sign - list->item[i]));
        json_t *clean = key ? sb_json_text(key) : NULL;
        char *value = sb_opts_hide(sign + 1);

        ok = clean && value &&
             sb__json_set_text(o, json_string_value(clean),
                 sb_opts_secret_name(key) ? "***" : value);
        json_decref(clean);
        free(value);
        free(key);
    }
    return sb__json_complete(o, ok);
}

static int add_option(void *arg, const struct sb_opt_view *view)
{
    static const char *const sources[] = {
        [SB_SRC_DEFAULT] = "default",
        [SB_SRC_FILE] = "file",
        [SB_SRC_ENV] = "environment",
        [SB_SRC_CMDLINE] = "command line",
    };
    // An alias shows its target, which is listed itself.
    if (view->opt->alias_of)
        return 0;
    json_t *o = json_pack("{s:o,s:o,s:s,s:o}", "name",
        sb_json_text(view->opt->name), "value", sb_json_text(view->text),
        "source", sources[view->source], "origin", sb_json_text(view->origin));

    return sb__json_append(arg, o) ? 0 : SB_ENOMEM;
}

static json_t *options(const struct sb_opts *opts)
{
    json_t *a = json_array();
    bool ok = a && (!opts || sb_opts_each(opts, add_option, a) == 0);

    return sb__json_complete(a, ok);
}

static void add_script(void *arg, const char *path, const char *sha256)
{
    json_t *list = arg, *other;
    json_t *one = json_pack(
        "{s:o,s:s}", "file", sb_json_text(path), "sha256", sha256);
    size_t i;

    // The workloads of a mix share modules.
    json_array_foreach(list, i, other)
    {
        if (json_equal(one, other)) {
            json_decref(one);
            return;
        }
    }
    sb__json_append(list, one);
}

// The files with Lua code, of which a built-in test has none.
static json_t *scripts(const struct sb_facts *f)
{
    json_t *list = json_array();

    if (f->each_file && list)
        f->each_file(f->app, add_script, list);
    return list;
}

static json_t *wall_time(const struct timespec *t)
{
    char text[64], day[32];
    struct tm tm;

    gmtime_r(&t->tv_sec, &tm);
    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, sizeof(text), "%s.%03ldZ", day, t->tv_nsec / 1000000);
    return json_string(text);
}

// The place of a run in its sweep.
static bool set_swept(json_t *o, const struct sb_facts *f)
{
    return sb__json_set(o, "swept", fact_object(f->swept, f->nswept)) &&
           sb__json_set_count(o, "round", f->round) &&
           sb__json_set_count(o, "place", f->place) &&
           sb__json_set_count(o, "places", f->places) &&
           sb__json_set_count(o, "following", f->following);
}

// The part of this process in a run of several.
static json_t *rank_object(const struct sb_share *s)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "rank", sb_json_count(s->rank),
        "ranks", sb_json_count(s->ranks), "first_user", sb_json_count(s->first),
        "users", sb_json_count(s->users), "total_users",
        sb_json_count(s->total));
}

// Each member is null if every user has a thread. The texts are also null if
// the run ended before its users were ready.
static bool set_workers(json_t *o, const struct sb_facts *f)
{
    return sb__json_set(o, "workers",
               f->workers ? sb_json_count(f->workers) : json_null()) &&
           sb__json_set_text(o, "event_loop", f->event_loop) &&
           sb__json_set_text(o, "worker_policy", f->worker_policy) &&
           sb__json_set_text(o, "workers_reason", f->workers_reason);
}

static json_t *data(const struct sb_facts *f)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (unsigned i = 0; ok && i < f->ndata; i++) {
        const struct sb_data_fact *d = &f->data[i];

        ok = sb__json_append(list,
            json_pack("{s:o,s:o,s:o,s:o}", "server", sb_json_text(d->server),
                "table", sb_json_text(d->table), "rows",
                sb_json_number(d->rows), "bytes", sb_json_number(d->bytes)));
    }
    return sb__json_complete(list, ok);
}

json_t *sb_json_waits(const struct sb_facts *f)
{
    json_t *list = json_array();
    bool ok = true;

    for (unsigned i = 0; i < f->nwaits; i++)
        ok = sb__json_append(list, sb_waits_json(&f->waits[i])) && ok;
    return sb__json_complete(list, ok);
}

static json_t *settle_object(const struct sb_settled *s)
{
    json_t *o = json_object(), *steps = json_array();
    bool ok = sb__json_set(o, "seconds", sb_json_number(s->seconds));

    for (unsigned i = 0; i < s->n; i++) {
        const struct sb_settled_step *step = &s->step[i];
        json_t *one = json_object();
        bool set = sb__json_set_text(one, "name", step->name) &&
                   sb__json_set_text(one, "server", step->server) &&
                   sb__json_set_text(one, "text", step->text) &&
                   sb__json_set(
                       one, "seconds", sb_json_number(step->seconds)) &&
                   sb__json_set(one, "done", json_boolean(!step->failed)) &&
                   sb__json_set_text(
                       one, "before", step->again ? "measured part" : "run");

        ok = sb__json_append(steps, sb__json_complete(one, set)) && ok;
    }
    ok = sb__json_set(o, "steps", steps) && ok;
    return sb__json_complete(o, ok);
}

static bool server_facts(json_t *o, const struct sb_facts *f)
{
    bool ok = true;

    if (f->ntotals)
        ok = sb__json_set(o, "server_totals", sb_json_server_totals(f)) && ok;
    if (f->nplans)
        ok = sb__json_set(o, "plans", sb_json_plans(f)) && ok;
    if (f->nwaits)
        ok = sb__json_set(o, "waits", sb_json_waits(f)) && ok;
    if (f->statements)
        ok = sb__json_set(o, "statements", json_incref(f->statements)) && ok;
    return ok;
}

// Members that not every run has.
static bool optional_facts(json_t *o, const struct sb_facts *f)
{
    bool ok = server_facts(o, f);

    if (f->ndata)
        ok = sb__json_set(o, "data", data(f)) && ok;
    if (f->settled)
        ok = sb__json_set(o, "settle", settle_object(f->settled)) && ok;
    if (f->share && f->share->ranks > 1)
        ok = sb__json_set(o, "rank", rank_object(f->share)) && ok;
    if (f->beside)
        ok = sb__json_set(o, "beside", sb_beside_json(f->beside)) && ok;
    if (f->block)
        ok = sb__json_set_text(o, "block", f->block) && ok;
    if (f->round)
        ok = set_swept(o, f) && ok;

    return ok;
}

json_t *sb_json_facts(const struct sb_facts *f)
{
    char seed[24];
    json_t *o = json_object();

    snprintf(seed, sizeof(seed), "%" PRIu64, f->seed);
    bool ok = sb__json_set_text(o, "test", f->test) &&
              sb__json_set_text(o, "command", f->command) &&
              sb__json_set(o, "started", wall_time(&f->started)) &&
              sb__json_set_text(o, "seed", seed) &&
              sb__json_set(o, "labels", labels(f->labels)) &&
              sb__json_set_count(o, "threads", f->threads) &&
              set_workers(o, f) &&
              sb__json_set(o, "interval", sb_json_number(f->interval_s)) &&
              sb__json_set(o, "open_loop", json_boolean(f->open_loop)) &&
              sb__json_set(o, "host", host(&f->host)) &&
              sb__json_set(o, "scripts", scripts(f)) &&
              sb__json_set(o, "databases", sb_json_databases(f)) &&
              sb__json_set(o, "options", options(f->opts));

    ok = optional_facts(o, f) && ok;
    return sb__json_complete(o, ok);
}

json_t *sb_json_outcome(const struct sb_outcome *o, double seconds)
{
    json_t *end = json_pack("{s:o,s:i,s:o,s:o}", "reason",
        sb_json_text(o->reason), "status", o->status, "seconds",
        sb_json_number(seconds), "failure", sb_json_text(o->failure));
    bool ok = end != NULL;

    if (ok && o->limit)
        ok = sb__json_set_text(end, "limit", o->limit);
    if (ok && o->overrun > 0)
        ok = sb__json_set(end, "overrun", sb_json_number(o->overrun));
    return sb__json_complete(end, ok);
}

// Totals ----------------------------------------------------------------------

static json_t *numbers(const uint64_t *v, unsigned n)
{
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && v && i < n; i++)
        ok = sb__json_append(a, sb_json_count(v[i]));
    return sb__json_complete(a, ok);
}

static json_t *users(const struct sb_snap *s)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "events",
        numbers(s->user_events, s->users), "service_ns",
        numbers(s->user_ns, s->users), "min_ns", numbers(s->user_min, s->users),
        "max_ns", numbers(s->user_max, s->users));
}

static json_t *operation(
    const struct sb_report *r, unsigned i, bool with_histogram)
{
    static const char *const kinds[] = {
        [SB_OP_READ] = "read",
        [SB_OP_WRITE] = "write",
        [SB_OP_CHANGE] = "change",
        [SB_OP_OTHER] = "other",
        [SB_OP_CUSTOM] = "custom",
        [SB_OP_WORKLOAD] = "workload",
    };
    const struct sb_snap_op *op = &r->snap->op[i];
    const struct sb_op *of = &r->stats->op[i];
    // Those of a mix: whole events.
    bool workload = of->kind == SB_OP_WORKLOAD;
    const char *times = workload ? json_latency_kind(r) : "service";
    json_t *o = json_pack("{s:o,s:s,s:o,s:o,s:o,s:o,s:o}", "name",
        sb_json_text(of->name), "kind", kinds[of->kind], "errors",
        sb_json_count(op->errors), "hits", sb_json_count(op->hits), "misses",
        sb_json_count(op->misses), "rows", sb_json_count(op->rows), "latency",
        json_latency_figures(times, &op->hist, op->min, op->ns, op->max));
    bool ok = o != NULL;

    if (with_histogram)
        ok = ok && sb__json_set(json_object_get(o, "latency"), "histogram",
                       json_histogram(&op->hist));
    if (workload)
        ok = ok && sb__json_set_count(o, "failed", op->failed) &&
             sb__json_set_count(o, "restarts", op->restarts);
    return sb__json_complete(o, ok);
}

// Operations that occurred, and all workloads of a mix, including those without
// events.
static json_t *operations(const struct sb_report *r, bool with_histograms)
{
    const struct sb_snap *s = r->snap;
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && s->op && r->stats && i < s->nops; i++)
        if (r->stats->op[i].kind == SB_OP_WORKLOAD ||
            sb_snap_op_occurred(&s->op[i]))
            ok = sb__json_append(a, operation(r, i, with_histograms));
    return sb__json_complete(a, ok);
}

static json_t *error(const struct sb_snap_code *c, uint64_t start_ns)
{
    uint64_t first = c->first_ns > start_ns ? c->first_ns - start_ns : 0;

    return json_pack("{s:o,s:i,s:o,s:o,s:o,s:o}", "driver",
        sb_json_text(c->driver), "code", c->native, "state",
        sb_json_text(c->state), "count", sb_json_count(c->count), "first_seen",
        sb_json_number((double)first / 1e9), "sample", sb_json_text(c->sample));
}

static json_t *errors(const struct sb_report *r)
{
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && i < r->snap->ncodes; i++)
        ok = sb__json_append(a, error(&r->snap->code[i], r->start_ns));
    return sb__json_complete(a, ok);
}

// The members that the totals of the live view share with the final ones.
static json_t *common_totals(const struct sb_report *r, bool with_histograms)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "counters", json_counters(r),
        "latency",
        sb_json_latency(json_latency_kind(r), r->latency, r->lat_min,
            r->lat_sum, r->lat_max),
        "operations", operations(r, with_histograms), "errors", errors(r),
        "metrics", json_metrics(r));
}

json_t *sb_json_live_totals(const struct sb_report *r)
{
    return common_totals(r, false);
}

json_t *sb_json_totals(const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    json_t *o = common_totals(r, true);
    bool ok =
        sb__json_set(o, "warmup", json_boolean(r->warmup)) &&
        sb__json_set(o, "service",
            r->open_loop ? sb_json_latency("service", &s->service,
                               s->service_min, s->c.service_ns, s->service_max)
                         : json_null()) &&
        sb__json_set(o, "lag",
            r->open_loop ? sb_json_latency("lag", &s->lag, s->lag_min,
                               s->c.lag_ns, s->lag_max)
                         : json_null()) &&
        sb__json_set(o, "client_delay",
            s->has_client_delay ? sb_json_latency("client_delay",
                                      &s->client_delay, s->client_delay_min,
                                      s->c.client_delay_ns, s->client_delay_max)
                                : json_null()) &&
        sb__json_set(o, "users", users(s)) &&
        sb__json_set(o, "stages", sb__json_stages(r));

    if (r->nranks)
        ok = json_set_ranks(o, r) && ok;
    if (r->search)
        ok = sb__json_set(o, "search", json_search(r->search)) && ok;
    return sb__json_complete(o, ok);
}

// A number, or the name of a state.
static json_t *limit_value(const struct sb_limit *l)
{
    char text[64];

    if (!l->verdict.known)
        return json_null();
    if (sb_assert_is_state(l))
        return sb_json_text(sb_assert_value(l, text, sizeof(text)));
    return sb_json_number(l->verdict.value);
}

static json_t *limit(const struct sb_limit *l)
{
    json_t *o = json_pack("{s:o,s:o,s:o,s:b}", "limit", sb_json_text(l->text),
        "value", limit_value(l), "unit", sb_json_text(sb_assert_unit(l)),
        "passed", l->verdict.passed);
    bool ok = o != NULL;

    if (ok && *l->verdict.why)
        ok = sb__json_set_text(o, "why", l->verdict.why);
    return sb__json_complete(o, ok);
}

json_t *sb_json_limits(const struct sb_asserts *limits)
{
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && limits && i < limits->n; i++)
        ok = sb__json_append(a, limit(&limits->limit[i]));
    return sb__json_complete(a, ok);
}

// Rows ------------------------------------------------------------------------

json_t *sb_json_columns(const struct sb_series *s)
{
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && i < s->ncols; i++) {
        const struct sb_column *c = &s->col[i];

        ok = sb__json_append(
            a, json_pack("{s:o,s:o,s:o,s:o}", "group", sb_json_text(c->group),
                   "name", sb_json_text(c->name), "figure",
                   sb_json_text(c->figure), "unit", sb_json_text(c->unit)));
    }
    return sb__json_complete(a, ok);
}

// Returns a member that is an object, made on first use; NULL if out of memory.
// Borrowed.
static json_t *member(json_t *o, const char *name)
{
    json_t *m = json_object_get(o, name);

    if (m || !o)
        return m;
    m = json_object();
    return sb__json_set(o, name, m) ? m : NULL;
}

// The same number as in the rows of result files.
static json_t *rounded(double value, const char *unit)
{
    char text[32];

    if (!isfinite(value))
        return json_null();
    sb_series_text(text, sizeof(text), value, unit);
    return sb_json_number(strtod(text, NULL));
}

json_t *sb_json_row(const struct sb_series *s)
{
    json_t *o = json_object();
    bool ok = o != NULL;

    for (unsigned i = 0; ok && i < s->ncols; i++) {
        const struct sb_column *c = &s->col[i];
        json_t *to = o;

        if (strcmp(c->group, "run") != 0) {
            to = member(o, c->group);
            to = to && *c->name ? member(to, c->name) : to;
        }
        // Names are UTF-8: see sb_utf8_name().
        ok = to && sb__json_set(to, c->figure,
                       rounded(s->value[i], sb_series_digits(c)));
    }
    return sb__json_complete(o, ok);
}

// Marks -----------------------------------------------------------------------

static json_t *mark(double time, const char *kind, const char *text)
{
    return json_pack("{s:o,s:s,s:o}", "time", sb_json_number(time), "kind",
        kind, "text", sb_json_text(text));
}

// The kinds of stretches, and what happened in them.
static const struct kind {
    const char *name, *noun;
} lost = { "lost", "connection error" },
  reconnect = { "reconnect", "reconnect" }, restart = { "restart", "restart" };

static json_t *stretch_mark(
    const struct sb_mark_stretch *s, const struct kind *kind)
{
    char text[96], until[40] = "";

    if (s->to > s->from)
        snprintf(
            until, sizeof(until), " until %.9g s", round(100 * s->to) / 100);
    snprintf(text, sizeof(text), "%" PRIu64 " %s%s%s", s->n, kind->noun,
        s->n == 1 ? "" : "s", until);
    return mark(s->from, kind->name, text);
}

// Inserts a mark behind those that are not later. Takes the reference.
static bool insert(json_t *list, json_t *one)
{
    double time = json_number_value(json_object_get(one, "time"));
    size_t i = json_array_size(list);

    while (i > 0 && json_number_value(json_object_get(
                        json_array_get(list, i - 1), "time")) > time)
        i--;
    return json_array_insert_new(list, i, one) == 0;
}

static int note(struct sb_marks *m, struct sb_mark_stretch *s,
    const struct kind *kind, uint64_t n, double time)
{
    bool full = json_array_size(m->list) >= SB_MARKS_MAX;

    if (n > 0) {
        s->from = s->n ? s->from : time;
        s->to = time;
        s->n += n;
    } else if (s->n > 0 && !full) {
        if (!insert(m->list, stretch_mark(s, kind)))
            return SB_ENOMEM;
        s->n = 0;
    }
    return 0;
}

static uint64_t losses(const struct sb_snap *s)
{
    uint64_t n = 0;

    for (unsigned i = 0; s->code && i < s->ncodes; i++)
        n += s->code[i].lost;
    return n;
}

int sb_marks_interval(struct sb_marks *m, const struct sb_report *r)
{
    const struct sb_counters *c = &r->snap->c;
    int rc;

    if (r->warmup)
        return 0;
    if (!m->list)
        m->list = json_array();
    if (!m->list)
        return SB_ENOMEM;
    rc = note(m, &m->lost, &lost, losses(r->snap), r->total_s);
    if (rc == 0)
        rc = note(m, &m->reconnects, &reconnect, c->reconnects, r->total_s);
    if (rc == 0)
        rc = note(m, &m->restarts, &restart, c->restarts, r->total_s);
    return rc;
}

void sb_marks_done(struct sb_marks *m)
{
    json_decref(m->list);
    *m = (struct sb_marks){ 0 };
}

static bool add_stages(json_t *list, const json_t *stages)
{
    bool ok = true;

    for (size_t i = 0; ok && i < json_array_size(stages); i++) {
        const json_t *s = json_array_get(stages, i);

        ok = insert(
            list, mark(json_number_value(json_object_get(s, "start")), "stage",
                      json_string_value(json_object_get(s, "name"))));
    }
    return ok;
}

json_t *sb_marks_json(const struct sb_marks *m, const json_t *stages,
    const struct sb_outcome *o, double seconds)
{
    json_t *list = m->list ? json_copy(m->list) : json_array();
    bool ok = list != NULL;

    if (ok && m->lost.n)
        ok = insert(list, stretch_mark(&m->lost, &lost));
    if (ok && m->reconnects.n)
        ok = insert(list, stretch_mark(&m->reconnects, &reconnect));
    if (ok && m->restarts.n)
        ok = insert(list, stretch_mark(&m->restarts, &restart));
    if (ok)
        ok = add_stages(list, stages);
    if (ok && o && strcmp(o->reason, "signal") == 0)
        ok = insert(list, mark(seconds, "interrupt", "ended by a signal"));
    if (ok && o && o->failure)
        ok = insert(list, mark(seconds, "failure", o->failure));
    return sb__json_complete(list, ok);
}

bool sb_marks_add_beside(json_t *list, const struct sb_beside_figures *f)
{
    const struct sb_beside_command *c = &f->command;
    char text[160];

    if (!list)
        return false;
    if (!c->started)
        return true;
    snprintf(text, sizeof(text), "%s starts", f->name);
    if (!insert(list, mark(c->start, "beside", text)))
        return false;
    if (!c->ended)
        return true;
    snprintf(text, sizeof(text), "%s %s after %.3f s", f->name,
        c->stopped               ? "is stopped"
        : c->signal || c->status ? "fails"
                                 : "ends",
        c->seconds);
    return insert(list, mark(c->end, "beside-end", text));
}

// The document ----------------------------------------------------------------

static void write_member(FILE *out, const char *name, json_t *value)
{
    fprintf(out, "\"%s\":", name);
    if (!value || json_dumpf(value, out, SB_JSON_FLAGS))
        fputs("null", out);
}

// Writes the members of an object, one per line, each followed by a comma.
static void write_members(FILE *out, json_t *object)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        write_member(out, name, value);
        fputs(",\n", out);
    }
}

void sb_document_begin(FILE *out, json_t *program)
{
    fprintf(out, "{\"format\":\"sysbench-result\",\n\"version\":%d,\n",
        SB_RESULT_VERSION);
    write_member(out, "program", program);
    fputs(",\n\"runs\":[", out);
}

static int write_rows(
    FILE *out, const struct sb_document_run *run, struct sb_err *err)
{
    int rc;

    fputs("\"intervals\":{\"rows\":[\n", out);
    rc = run->rows(run->arg, out, err);
    fputs("],\n", out);
    if (run->columns)
        write_member(out, "columns", run->columns);
    else
        fputs("\"columns\":[]", out);
    if (run->missing)
        fprintf(out, ",\n\"missing\":%" PRIu64, run->missing);
    fputs("},\n\"histograms\":{\"octave\":4,\"rows\":[\n", out);
    if (rc == 0)
        rc = run->heat(run->arg, out, err);
    fputs("]},\n", out);
    return rc;
}

int sb_document_run(FILE *out, const struct sb_document_run *run, bool first,
    struct sb_err *err)
{
    int rc;

    fputs(first ? "{\n" : ",\n{\n", out);
    write_members(out, run->facts);
    rc = write_rows(out, run, err);
    write_members(out, run->totals);
    if (run->marks) {
        write_member(out, "marks", run->marks);
        fputs(",\n", out);
    }
    if (run->limits) {
        write_member(out, "limits", run->limits);
        fputs(",\n", out);
    }
    if (run->validity) {
        write_member(out, "validity", run->validity);
        fputs(",\n", out);
    }
    if (run->costs) {
        write_member(out, "costs", run->costs);
        fputs(",\n", out);
    }
    if (run->until) {
        write_member(out, "until", run->until);
        fputs(",\n", out);
    }
    if (run->answers)
        write_members(out, run->answers);
    write_member(out, "end", run->end);
    fputs("}", out);
    if (rc == 0 && (!run->facts || !run->end))
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    return rc;
}

void sb_document_end(FILE *out)
{
    fputs("]}\n", out);
}
