// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/procstat.h"
#include "db/texts.h"
#include "kit/array.h"

// Samples how busy this process and its machine are, for result files and for
// the notice that the client was the bottleneck.

// Shorter runs do not show saturation.
#define SECONDS_MIN 1.0

static void take_sample(struct sb_client_sample *s)
{
    struct sb_proc_self self;
    struct sb_proc_machine machine;

    *s = (struct sb_client_sample){ .ns = sb_clock_monotonic() };
    if (sb_procstat_self(&self, NULL) == 0) {
        s->cpu_ns = self.cpu_ns;
        s->run_ns = self.run_ns;
        s->wait_ns = self.wait_ns;
        s->threads = self.has_wait ? self.threads : 0;
    }
    if (sb_procstat_machine(&machine, NULL) == 0) {
        s->busy_ns = machine.busy * sb_procstat_tick_ns();
        s->processors = machine.processors;
    }
}

// Intervals of the warm-up have values, too.
static void start_client(struct sb__listening *t)
{
    struct sb__app_client *c = &t->client;

    *c = (struct sb__app_client){ 0 };
    take_sample(&c->last);
    c->machine = c->last;
    // Users have their connections now, or create them in each event.
    sb_peers_look(&c->seen, c->last.ns);
}

// Short intervals have no value; the next one includes them.
static double machine(struct sb__app_client *c)
{
    double used = sb_client_machine(
        &c->machine, &c->last, sb_procstat_tick_ns());

    if (!isnan(used))
        c->machine = c->last;
    return used;
}

static void add_client(
    struct sb__listening *t, const struct sb_report *r, struct sb_series *row)
{
    struct sb__app_client *c = &t->client;
    bool remote = sb_drivers_used_server(t->a->drivers);
    const struct sb_client_sample last = c->last;
    struct sb_client_sum sum = { 0 };
    struct sb_client_usage u;

    // Neither a file nor the notice needs it.
    if (!row && !remote && !r->paused)
        return;
    take_sample(&c->last);
    if (remote)
        sb_peers_look(&c->seen, c->last.ns);
    bool steady = sb_client_add(&sum, &last, &c->last);
    sb_client_usage(&sum, &u);
    if (row) {
        sb_series_set(row, "client", "cpu", "value", "processors", u.cpu);
        sb_series_set(row, "client", "wait", "value", "", u.wait);
        sb_series_set(
            row, "client", "machine", "value", "processors", machine(c));
    }
    if (r->warmup)
        return;
    sb_client_add(&c->whole, &last, &c->last);
    if (steady)
        sb_client_add(&c->steady, &last, &c->last);
}

static void restart_client(struct sb__listening *t, int64_t warmup_ns)
{
    (void)warmup_ns;
    start_client(t);
}

// Returns the sums over the intervals in which the waiting of threads is known,
// if these are at least half of the time; otherwise the sums over all.
static const struct sb_client_sum *measured(const struct sb__app_client *c)
{
    return 2 * c->steady.ns >= c->whole.ns ? &c->steady : &c->whole;
}

// Whether users, or their workers, use processors while they wait for times.
static bool waits_busily(const struct sb_app *a, unsigned workers)
{
    if (a->facts.open_loop && a->run.pace == SB_PACE_SPIN)
        return true;
    return workers > 0 && a->run.pace != SB_PACE_SLEEP &&
           (a->facts.open_loop || a->run.think_time[0]);
}

// Finds out whether the client was the bottleneck.
static void judge_client(struct sb__listening *t, const struct sb_report *r)
{
    const struct sb_app *a = t->a;
    unsigned workers = sb__app_workers(a);
    const struct sb_client_limits limits = {
        .processors = sb_host_processors(&a->facts.host),
        .machine = t->client.last.processors,
        .threads = workers > 0 ? workers : (unsigned)a->run.share.users,
        .loops = workers > 0,
        .remote_server = t->client.seen.peers == SB_PEERS_REMOTE,
    };
    const struct sb_counters *c = &r->whole->c;
    const struct sb_client_delays delays = { c->client_delays,
        c->client_delay_ns, c->service_ns };
    struct sb_client_usage u;
    char *why = t->client.why;
    size_t size = sizeof(t->client.why);

    assert(r->final);
    // A database inside this process is what was measured.
    if (!sb_drivers_used_server(a->drivers) || r->warmup ||
        r->total_s < SECONDS_MIN)
        return;
    t->client.judged = true;
    sb_client_usage(measured(&t->client), &u);
    if ((waits_busily(a, workers) ||
            !sb_client_is_bottleneck(&u, &limits, why, size)) &&
        !sb_client_delays_matter(&delays, &u, &limits, why, size))
        why[0] = '\0';
}

static void warn_of_client(struct sb__listening *t, const struct sb_report *r)
{
    (void)r;
    if (t->client.why[0])
        sb_log(SB_LOG_WARNING,
            "the client was the bottleneck, not the server: %s", t->client.why);
}

const struct sb__app_listener sb__app_client_listener = {
    .started = start_client,
    .measured = restart_client,
    .row = add_client,
    .complete = judge_client,
    .after = warn_of_client,
};

// The servers of a run: starts and stops the sampler, and passes what it
// returns to the result files and, for debugging, to the log.

#define DEFAULT_INTERVAL INT64_C(1000000000)

// How long to wait for the facts of a very short run.
#define WAIT_FACTS INT64_C(2000000000)

// How long to wait for the sample after the run, and for plans.
#define WAIT_LAST INT64_C(2000000000)

// True if something shows what the servers are.
static bool shows_facts(const struct sb_app *a)
{
    return a->reporters.n > 0 || a->text_opts.report_context;
}

static bool debugging(void)
{
    return sb_log_level() >= SB_LOG_DEBUG;
}

// The parts of servers that are asked for.
static unsigned inspected_parts(const struct sb_app *a)
{
    if (sb__app_validity_wanted(a))
        return SB_INSPECT_ALL;
    return sb__app_costs_wanted(a) ? SB_INSPECT_COSTS : 0;
}

static void look_first(struct sb__listening *t)
{
    unsigned parts = inspected_parts(t->a);
    bool statements = sb__app_statements_wanted(t->a);

    // What a server says of statements and sessions is told by operation.
    if (t->a->sampler_opts.waits || statements)
        sb_drivers_keep_texts(t->a->drivers);
    if (parts || statements || t->a->rerun)
        sb_inspect_first(t->a->drivers, parts, statements, &t->server.first);
}

static void start_server(struct sb__listening *t)
{
    const struct sb_app *a = t->a;
    const struct sb_sampler_setup setup = {
        .drivers = a->drivers,
        .opts = &a->sampler_opts,
        .wanted = a->reporters.n > 0,
        .inspects = inspected_parts(a),
        .statements = sb__app_statements_wanted(a),
        .first = &t->server.first,
        .interval = (uint64_t)(a->run.report_interval ? a->run.report_interval
                                                      : DEFAULT_INTERVAL),
    };
    struct sb_err err = { 0 };

    // Result files name the server also without its counters.
    if (!sb_sampler_samples(setup.opts, setup.wanted) && !shows_facts(a) &&
        !*setup.opts->pid && !setup.opts->waits && !setup.inspects &&
        !setup.statements && !debugging())
        return;
    assert(!t->server.sampler);
    t->server.sampler = sb_sampler_start(&setup, &err);
    if (!t->server.sampler)
        sb_log(SB_LOG_WARNING, "%s", err.msg);
}

static void log_value(unsigned index, const struct sb_server_value *v)
{
    if (v->has_value)
        sb_log_each(SB_LOG_DEBUG, "server counter %u: %s %.6g %s (%.6f s)",
            index, v->name, v->value, v->unit, (double)(v->to - v->from) / 1e9);
    else
        sb_log_each(
            SB_LOG_DEBUG, "server counter %u: %s has no value", index, v->name);
}

// Totals grow from the start of the measured part.
static void rebase_server(struct sb__listening *t, int64_t warmup_ns)
{
    // If nothing precedes the measured part, its base is the first sample.
    if (t->server.sampler &&
        (warmup_ns > 0 || sb_run_opts_finds_rate(&t->a->run)))
        sb_sampler_rebase(
            t->server.sampler, sb_clock_monotonic() + (uint64_t)warmup_ns);
}

// row: a struct sb_series, or NULL.
static void take_value(
    void *row, unsigned index, const struct sb_server_value *v)
{
    if (row && v->has_value)
        sb_series_set(row, "server", v->name, "value", v->unit, v->value);
    if (debugging())
        log_value(index, v);
}

// row: a struct sb_series.
static void take_sessions(void *row, const char *name, double sessions)
{
    if (row)
        sb_series_set(row, "waits", name, "value", "sessions", sessions);
}

// Facts about servers ---------------------------------------------------------

// A server as result files have it, with its own copy of the texts.
struct sb__app_database {
    struct sb_server_facts server;
    struct sb_setting_fact *settings;
};

static void free_databases(struct sb__listening *t)
{
    struct sb_facts *f = &t->a->facts;

    for (unsigned i = 0; i < f->ndatabases; i++) {
        sb_server_facts_done(&t->server.database[i].server);
        free(t->server.database[i].settings);
    }
    free(t->server.database);
    free((void *)f->databases);
    t->server.database = NULL;
    f->databases = NULL;
    f->ndatabases = 0;
}

struct sb_setting_fact *sb__app_settings(const struct sb_server_facts *s)
{
    size_t n = s->nsettings;
    struct sb_setting_fact *list = calloc(n ? n : 1, sizeof(*list));

    for (size_t i = 0; list && i < n; i++)
        list[i] = (struct sb_setting_fact){ s->setting[i].name,
            s->setting[i].value, s->setting[i].state == SB_SETTING_DEFAULT };
    return list;
}

static void add_database(void *arg, const struct sb_server_facts *f)
{
    struct sb__listening *t = arg;
    unsigned n = t->a->facts.ndatabases;
    struct sb__app_database *d = sb_array_least(
        t->server.database, &n, n + 1, sizeof(*d));

    if (!d)
        return;
    t->server.database = d;
    d += n - 1;
    if (!sb_server_facts_copy(f, &d->server))
        return;
    d->settings = sb__app_settings(&d->server);
    if (d->settings)
        t->a->facts.ndatabases = n;
    else
        sb_server_facts_done(&d->server);
}

struct sb_database_facts sb__app_database_facts(
    const struct sb_server_facts *s, const struct sb_setting_fact *settings)
{
    return (struct sb_database_facts){ .driver = s->driver,
        .client = s->client,
        .server = s->server.name,
        .address = s->server.address,
        .bypass = s->server.bypass,
        .documents = s->documents,
        .totals_late_s = (double)s->totals_late_ns / 1e9,
        .settings = settings,
        .nsettings = (unsigned)s->nsettings };
}

// Takes what the sampler knows about the servers by now.
static void take_facts(struct sb__listening *t)
{
    struct sb_facts *f = &t->a->facts;
    struct sb_database_facts *list;

    assert(t->server.sampler);
    free_databases(t);
    sb_sampler_servers(t->server.sampler, add_database, t);
    list = calloc(f->ndatabases + 1, sizeof(*list));
    if (!list) {
        free_databases(t);
        return;
    }
    for (unsigned i = 0; i < f->ndatabases; i++) {
        const struct sb__app_database *d = &t->server.database[i];

        list[i] = sb__app_database_facts(&d->server, d->settings);
    }
    f->databases = list;
}

// NDJSON shows the facts in its first line, which the first interval writes.
static void add_server(
    struct sb__listening *t, const struct sb_report *r, struct sb_series *row)
{
    if (!t->server.sampler)
        return;
    if (t->a->facts.ndatabases == 0 && t->a->reporters.n > 0)
        take_facts(t);
    sb_sampler_interval(
        t->server.sampler, sb_clock_monotonic(), take_value, row);
    if (row || r->paused)
        sb_sampler_waits_interval(t->server.sampler, take_sessions, row);
}

static void log_server(void *arg, const struct sb_server_facts *f)
{
    (void)arg;
    sb_log_each(SB_LOG_DEBUG, "server: %s, %s, %s, %s, bypass %s", f->driver,
        f->client, f->server.name, f->server.address,
        f->server.bypass ? "yes" : "no");
    for (size_t i = 0; i < f->nsettings; i++)
        sb_log_each(SB_LOG_DEBUG, "server setting: %s = %s", f->setting[i].name,
            f->setting[i].value);
}

static void add_total(void *arg, const char *name, double growth)
{
    struct sb__listening *t = arg;
    struct sb_facts *f = &t->a->facts;
    unsigned n = f->ntotals;
    struct sb_server_total *total = sb_array_least(
        t->server.totals, &n, n + 1, sizeof(*total));

    if (!total)
        return;
    f->totals = t->server.totals = total;
    total[n - 1] = (struct sb_server_total){ strdup(name), growth };
    f->ntotals += total[n - 1].name != NULL;
}

// end: of the measured part.
static void take_waits(
    struct sb__listening *t, struct sb_sampler *sampler, uint64_t end)
{
    struct sb_facts *f = &t->a->facts;

    t->server.waits = sb_sampler_waits(sampler, end, &t->server.nwaits);
    if (t->server.nwaits == 0 && !t->a->leave)
        sb_log(SB_LOG_WARNING, "--server-waits: no server was used");
    t->server.shown = calloc(t->server.nwaits + 1, sizeof(*t->server.shown));
    if (!t->server.shown)
        return;
    for (unsigned i = 0; i < t->server.nwaits; i++) {
        const struct sb_server_waits *w = &t->server.waits[i];

        t->server.shown[i] = (struct sb_waits_facts){ .address = w->address,
            .note = w->note,
            .why = w->why,
            .figures = &w->figures };
    }
    f->waits = t->server.shown;
    f->nwaits = t->server.nwaits;
}

static void print_waits(struct sb__listening *t, const struct sb_report *r)
{
    (void)r;
    for (unsigned i = 0; i < t->a->facts.nwaits && !sb__app_quiet(t->a); i++)
        sb_waits_text(&t->a->facts.waits[i], t->a->facts.nwaits > 1, stdout);
}

void sb__app_server_stop(struct sb__listening *t, const struct sb_report *r)
{
    struct sb_sampler *sampler = t->server.sampler;
    struct sb_app *a = t->a;

    if (!sampler)
        return;
    bool asks = inspected_parts(a) != 0 || sb__app_statements_wanted(a);

    if (shows_facts(a) || asks)
        sb_sampler_wait(sampler, WAIT_FACTS);
    if ((a->reporters.n > 0 || asks) && !a->leave)
        sb_sampler_last(sampler, WAIT_LAST);
    if (!sb_sampler_stop(sampler))
        a->leave = true;
    if (a->reporters.n > 0)
        sb_sampler_totals(sampler, add_total, t);
    t->server.inspection = sb_sampler_inspections(
        sampler, &t->server.ninspections);
    sb__app_server_data(t);
    if (a->sampler_opts.waits && r)
        take_waits(t, sampler, r->start_ns + (uint64_t)(r->total_s * 1e9));
    sb__app_statements_take(t, sampler);
    if (debugging())
        sb_sampler_servers(sampler, log_server, NULL);
    if (shows_facts(a))
        take_facts(t);
    sb_sampler_free(sampler);
    t->server.sampler = NULL;
}

void sb__app_server_done(struct sb__listening *t)
{
    struct sb_facts *f = &t->a->facts;

    free_databases(t);
    sb_first_look_done(&t->server.first);
    free(t->server.data);
    t->server.data = NULL;
    f->data = NULL;
    f->ndata = 0;
    for (unsigned i = 0; i < t->server.nwaits; i++)
        sb_server_waits_done(&t->server.waits[i]);
    free(t->server.waits);
    free(t->server.shown);
    t->server.waits = NULL;
    t->server.shown = NULL;
    t->server.nwaits = 0;
    f->waits = NULL;
    f->nwaits = 0;
    for (unsigned i = 0; i < t->server.ninspections; i++)
        sb_inspection_done(&t->server.inspection[i]);
    free(t->server.inspection);
    t->server.inspection = NULL;
    t->server.ninspections = 0;
    for (unsigned i = 0; i < f->ntotals; i++)
        free((void *)t->server.totals[i].name);
    free(t->server.totals);
    free(t->server.plans);
    t->server.totals = NULL;
    t->server.plans = NULL;
    f->totals = NULL;
    f->ntotals = 0;
    f->plans = NULL;
    f->nplans = 0;
}

const struct sb__app_listener sb__app_server_listener = {
    .connecting = look_first,
    .started = start_server,
    .measured = rebase_server,
    .row = add_server,
    .complete = sb__app_server_stop,
    .after = print_waits,
};
