// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/json_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/assert.h"
#include "out/beside_report.h"

// Facts -----------------------------------------------------------------------

json_t *sb_json_program(const struct sb_facts *f)
{
    json_t *p = json_object();
    bool ok = sb__json_set_text(p, "name", "sysbench") &&
              sb__json_set_text(p, "version", f->version) &&
              sb__json_set_text(p, "luajit", f->luajit) &&
              sb__json_set_text(p, "compiler", __VERSION__);

    return sb__json_complete(p, ok);
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
              sb__json_set_text(o, "kernel", h->kernel);

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

static json_t *database(const struct sb_database_facts *d)
{
    json_t *o = json_object();
    bool ok = sb__json_set_text(o, "driver", d->driver) &&
              sb__json_set_text(o, "client", d->client) &&
              sb__json_set_text(o, "server", d->server) &&
              sb__json_set_text(o, "address", d->address) &&
              sb__json_set(o, "bypass", json_boolean(d->bypass)) &&
              sb__json_set(o, "documents", json_boolean(d->documents)) &&
              sb__json_set(o, "totals_late", sb_json_number(d->totals_late_s));

    ok = sb__json_set(o, "settings", fact_object(d->settings, d->nsettings)) &&
         ok;
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
    json_t *a = arg, *o = json_object();
    bool ok = sb__json_set_text(o, "name", view->opt->name) &&
              sb__json_set_text(o, "value", view->text) &&
              sb__json_set_text(o, "source", sources[view->source]) &&
              sb__json_set_text(o, "origin", view->origin);

    // An alias shows its target, which is listed itself.
    if (view->opt->alias_of) {
        json_decref(o);
        return 0;
    }
    o = sb__json_complete(o, ok);
    return o && sb__json_append(a, o) ? 0 : SB_ENOMEM;
}

static json_t *options(const struct sb_opts *opts)
{
    json_t *a = json_array();
    bool ok = a && (!opts || sb_opts_each(opts, add_option, a) == 0);

    return sb__json_complete(a, ok);
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
    json_t *o = json_object();
    bool ok = sb__json_set_count(o, "rank", s->rank) &&
              sb__json_set_count(o, "ranks", s->ranks) &&
              sb__json_set_count(o, "first_user", s->first) &&
              sb__json_set_count(o, "users", s->users) &&
              sb__json_set_count(o, "total_users", s->total);

    return sb__json_complete(o, ok);
}

// null for each: every user has a thread. The texts are null, too, if the run
// ended before its users were ready.
static bool set_workers(json_t *o, const struct sb_facts *f)
{
    return sb__json_set(o, "workers",
               f->workers ? sb_json_count(f->workers) : json_null()) &&
           sb__json_set_text(o, "event_loop", f->event_loop) &&
           sb__json_set_text(o, "worker_policy", f->worker_policy) &&
           sb__json_set_text(o, "workers_reason", f->workers_reason);
}

// Members that not every run has.
static bool optional_facts(json_t *o, const struct sb_facts *f)
{
    bool ok = true;

    if (f->ntotals)
        ok = sb__json_set(o, "server_totals", sb_json_server_totals(f)) && ok;
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
              sb__json_set(o, "databases", sb_json_databases(f)) &&
              sb__json_set(o, "options", options(f->opts));

    ok = optional_facts(o, f) && ok;
    return sb__json_complete(o, ok);
}

json_t *sb_json_outcome(const struct sb_outcome *o, double seconds)
{
    json_t *end = json_object();
    bool ok = sb__json_set_text(end, "reason", o->reason) &&
              sb__json_set(end, "status", json_integer(o->status)) &&
              sb__json_set(end, "seconds", sb_json_number(seconds)) &&
              sb__json_set_text(end, "failure", o->failure);

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
    json_t *o = json_object();
    bool ok = sb__json_set(o, "events", numbers(s->user_events, s->users)) &&
              sb__json_set(o, "service_ns", numbers(s->user_ns, s->users)) &&
              sb__json_set(o, "min_ns", numbers(s->user_min, s->users)) &&
              sb__json_set(o, "max_ns", numbers(s->user_max, s->users));

    return sb__json_complete(o, ok);
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
    const char *times = workload ? sb__json_latency_kind(r) : "service";
    json_t *o = json_object();
    bool ok = sb__json_set_text(o, "name", of->name) &&
              sb__json_set_text(o, "kind", kinds[of->kind]) &&
              sb__json_set_count(o, "errors", op->errors) &&
              sb__json_set_count(o, "hits", op->hits) &&
              sb__json_set_count(o, "misses", op->misses) &&
              sb__json_set_count(o, "rows", op->rows) &&
              sb__json_set(o, "latency",
                  sb__json_latency_figures(
                      times, &op->hist, op->min, op->ns, op->max));

    if (with_histogram)
        ok = ok && sb__json_set(json_object_get(o, "latency"), "histogram",
                       sb__json_histogram(&op->hist));
    if (workload)
        ok = ok && sb__json_set_count(o, "failed", op->failed) &&
             sb__json_set_count(o, "restarts", op->restarts);
    return sb__json_complete(o, ok);
}

// Operations that occurred, and all workloads of a mix: one without events says
// something.
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
    json_t *o = json_object();
    uint64_t first = c->first_ns > start_ns ? c->first_ns - start_ns : 0;
    bool ok = sb__json_set_text(o, "driver", c->driver) &&
              sb__json_set(o, "code", json_integer(c->native)) &&
              sb__json_set_text(o, "state", c->state) &&
              sb__json_set_count(o, "count", c->count) &&
              sb__json_set(
                  o, "first_seen", sb_json_number((double)first / 1e9)) &&
              sb__json_set_text(o, "sample", c->sample);

    return sb__json_complete(o, ok);
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
    json_t *o = json_object();
    bool ok = sb__json_set(o, "counters", sb__json_counters(r)) &&
              sb__json_set(o, "latency",
                  sb_json_latency(sb__json_latency_kind(r), r->latency,
                      r->lat_min, r->lat_sum, r->lat_max)) &&
              sb__json_set(o, "operations", operations(r, with_histograms)) &&
              sb__json_set(o, "errors", errors(r)) &&
              sb__json_set(o, "metrics", sb_json_metrics(r));

    return sb__json_complete(o, ok);
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
        ok = sb__json_set_ranks(o, r) && ok;
    if (r->search)
        ok = sb__json_set(o, "search", sb__json_search(r->search)) && ok;
    return sb__json_complete(o, ok);
}

static json_t *limit(const struct sb_limit *l)
{
    json_t *o = json_object();
    bool ok = sb__json_set_text(o, "limit", l->text) &&
              sb__json_set(o, "value",
                  l->verdict.known ? sb_json_number(l->verdict.value)
                                   : json_null()) &&
              sb__json_set_text(o, "unit", sb_assert_unit(l)) &&
              sb__json_set(o, "passed", json_boolean(l->verdict.passed));

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
        json_t *o = json_object();
        bool set_all = sb__json_set_text(o, "group", c->group) &&
                       sb__json_set_text(o, "name", c->name) &&
                       sb__json_set_text(o, "figure", c->figure) &&
                       sb__json_set_text(o, "unit", c->unit);

        ok = sb__json_append(a, sb__json_complete(o, set_all));
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
