// SPDX-License-Identifier: GPL-2.0-or-later
//
// A listener: finds out what the events of the measured part cost the server.
// docs/internals/costs.md has the rules.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/clock.h"
#include "base/energy.h"
#include "base/log.h"
#include "base/work.h"
#include "out/costs.h"

// Context switches are looked at when the measured part has become longer by
// this share, because a look at thousands of threads takes a while.
#define LOOK_SHARE 0.1
// Looks end when more than this share of them is of threads that have ended,
// whose last ones are not counted: the users are leaving.
#define LOST_MAX 0.01
// They are unknown if users connected again more often than this, per user: a
// process that lives for a moment is not seen.
#define CONNECTS_MAX 0.1
// Totals must not be later than this share of the measured part.
#define LATE_MAX 0.05

struct sb__app_costs {
    struct sb_costs result;
    // The server's processes, if they are known; otherwise why not.
    struct sb_worker worker;
    char why_no_worker[160];
    struct sb_work begin; // of the measured part
    bool warmed_up;       // something preceded it
    struct sb_switches switches;
    bool looked;             // no look at them is to follow
    double events, queries;  // of the measured part so far
    struct sb_cost switched; // at the last look at `switches`
    struct sb_energy energy;
};

bool sb__app_costs_wanted(const struct sb_app *a)
{
    switch (a->text_opts.report_costs) {
    case SB_TEXT_COSTS_ON:
        return true;
    case SB_TEXT_COSTS_OFF:
        return false;
    default:
        return a->reporters.n > 0 || a->text_opts.price > 0 ||
               sb_asserts_need_costs(&a->asserts) ||
               sb_asserts_need_costs(&a->headline_of);
    }
}

// What processes and machine have done ----------------------------------------

static void no_worker(struct sb__app_costs *c, const char *why)
{
    c->worker.pid = 0;
    snprintf(c->why_no_worker, sizeof(c->why_no_worker), "%.150s", why);
}

int64_t sb__app_server_process(const struct sb__listening *t)
{
    const struct sb_first_look *l = &t->server.first;
    const char *text = t->a->sampler_opts.pid;

    if (!*text)
        return l->pid;
    if (strcmp(text, "auto") == 0)
        return sb_procstat_listener(l->facts.server.address);
    return strtoll(text, NULL, 10);
}

static void find_worker(struct sb__listening *t)
{
    const char *text = t->a->sampler_opts.pid;
    struct sb__app_costs *c = t->costs;
    int64_t pid = sb__app_server_process(t);
    struct sb_err err = { 0 };

    if (pid == 0)
        no_worker(c, *text ? "the process of --server-pid=auto was not found"
                           : "the server's process was not found; see "
                             "--server-pid");
    else if (sb_worker_find(&c->worker, pid, &err))
        no_worker(c, err.msg);
}

static void look_at_switches(struct sb__app_costs *c)
{
    struct sb_switches *s = &c->switches;

    if (!c->worker.pid || c->looked)
        return;
    c->looked = sb_switches_look(s, &c->worker, NULL) || s->failed ||
                s->lost > LOST_MAX * s->total;
    if (!c->looked)
        c->switched = (struct sb_cost){
            .total = s->total, .events = c->events, .queries = c->queries
        };
}

// The measured part begins.
static void begin(struct sb__listening *t)
{
    struct sb__app_costs *c = t->costs;
    struct sb_err err = { 0 };

    if (c->worker.pid && sb_work_look(&c->worker, &c->begin, &err))
        no_worker(c, err.msg);
    sb_switches_done(&c->switches);
    c->looked = false;
    look_at_switches(c);
    sb_energy_begin(&c->energy, "", sb_clock_monotonic());
}

// The server was looked at before.
static void make_costs(struct sb__listening *t)
{
    if (!sb__app_costs_wanted(t->a))
        return;
    t->costs = calloc(1, sizeof(*t->costs));
    if (t->costs)
        find_worker(t);
    else
        sb_log(SB_LOG_WARNING, "costs: out of memory");
}

static void begin_costs(struct sb__listening *t, int64_t warmup_ns)
{
    (void)warmup_ns; // follow_costs() begins again
    if (!t->costs)
        return;
    t->costs->warmed_up = sb_run_opts_finds_rate(&t->a->run);
    begin(t);
}

// The last interval of the warm-up ends where the measured part begins.
static void follow_costs(struct sb__listening *t, const struct sb_report *r)
{
    const struct sb_counters *n = &r->snap->c;
    struct sb__app_costs *c = t->costs;

    if (!c)
        return;
    if (r->warmup) {
        c->warmed_up = true;
        begin(t);
        return;
    }
    c->events += (double)n->completed;
    c->queries += (double)(n->reads + n->writes + n->others);
    sb_energy_look(&c->energy, "", sb_clock_monotonic());
    if (!r->partial && c->events > (1 + LOOK_SHARE) * c->switched.events)
        look_at_switches(c);
}

// Figures ---------------------------------------------------------------------

static void miss_work(struct sb__app_costs *c, const char *why)
{
    static const enum sb_cost_id ids[] = { SB_COST_CPU, SB_COST_SYSTEM,
        SB_COST_SWITCHES, SB_COST_STORAGE_READ, SB_COST_STORAGE_WRITTEN };

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        sb_costs_miss(&c->result, ids[i], why);
}

static void set_io(struct sb__app_costs *c, enum sb_cost_id id, double bytes,
    const char *source)
{
    if (isfinite(bytes))
        sb_costs_set(&c->result, id, bytes / 1e3, source);
    else
        sb_costs_miss(&c->result, id,
            "this user may not see the disk I/O of the server's processes");
}

// How often users connected in the measured part, per user.
static double connects(const struct sb_report *r)
{
    const struct sb_snap *all = r->whole;
    double n = 0;

    for (unsigned i = 0; all->op && i < all->nops; i++) {
        const char *name = r->stats->op[i].name;

        if (strcmp(name, "connect") == 0 || strcmp(name, "reconnect") == 0)
            n += (double)all->op[i].count;
    }
    return n / fmax(r->threads, 1);
}

static void set_switches(
    struct sb__app_costs *c, const struct sb_report *r, const char *source)
{
    struct sb_cost *f = &c->result.cost[SB_COST_SWITCHES];

    if (connects(r) > CONNECTS_MAX) {
        sb_costs_miss(&c->result, SB_COST_SWITCHES,
            "the users connected again during the run");
    } else if (c->switched.events > 0) {
        sb_costs_set(&c->result, SB_COST_SWITCHES, c->switched.total, source);
        f->events = c->switched.events;
        f->queries = c->switched.queries;
    } else if (c->looked) {
        sb_costs_miss(&c->result, SB_COST_SWITCHES,
            "threads of the server ended during the run");
    } else {
        sb_costs_miss(
            &c->result, SB_COST_SWITCHES, "no report interval was completed");
    }
}

static void set_work(struct sb__listening *t, const struct sb_report *r)
{
    struct sb__app_costs *c = t->costs;
    const struct sb_work *from = &c->begin;
    struct sb_err err = { 0 };
    struct sb_work to;
    char process[64], group[64];

    if (!sb_drivers_used_server(t->a->drivers))
        no_worker(c, "no server was used");
    else if (c->worker.pid && sb_work_look(&c->worker, &to, &err))
        no_worker(c, err.msg);
    if (!c->worker.pid) {
        miss_work(c, c->why_no_worker);
        return;
    }
    snprintf(process, sizeof(process), "process %" PRId64 ", its children",
        c->worker.pid);
    snprintf(group, sizeof(group), "control group %.45s", c->worker.group);
    const char *source = c->worker.group[0] ? group : process;

    sb_costs_set(&c->result, SB_COST_CPU, to.cpu_us - from->cpu_us, source);
    sb_costs_set(
        &c->result, SB_COST_SYSTEM, to.system_us - from->system_us, source);
    set_io(c, SB_COST_STORAGE_READ, to.read - from->read, source);
    set_io(c, SB_COST_STORAGE_WRITTEN, to.written - from->written, source);
    set_switches(c, r, process);
}

// Energy is that of the whole machine, so the server has to be on it.
static void set_energy(struct sb__listening *t)
{
    struct sb__app_costs *c = t->costs;
    bool remote = sb_drivers_used_server(t->a->drivers) &&
                  t->client.seen.peers != SB_PEERS_LOCAL;

    if (remote || t->a->run.job)
        sb_costs_miss(&c->result, SB_COST_ENERGY,
            remote ? "the server is not on this machine"
                   : "the run has several ranks");
    else if (c->energy.nzones == 0)
        sb_costs_miss(&c->result, SB_COST_ENERGY, c->energy.why);
    else
        sb_costs_set(&c->result, SB_COST_ENERGY, c->energy.joules,
            sb_drivers_used_server(t->a->drivers)
                ? "this machine: client and server"
                : "this machine");
}

// Whether another database of the same server was inspected before.
static bool is_repeated(const struct sb__listening *t, unsigned i)
{
    const struct sb_inspection *all = t->server.inspection;

    for (unsigned k = 0; k < i; k++) {
        if (all[i].address[0] && strcmp(all[k].address, all[i].address) == 0)
            return true;
    }
    return false;
}

// Whether the totals of a server are not late, or so little that it does not
// matter. They begin late only after a warm-up: the users connect before.
static bool is_in_time(
    const struct sb__app_costs *c, const struct sb_inspection *i)
{
    return !c->warmed_up ||
           (double)i->late_ns / 1e9 <= LATE_MAX * c->result.seconds;
}

// What all servers counted.
static void set_counted(struct sb__listening *t, enum sb_cost_id cost,
    enum sb_fact_id id, double unit)
{
    struct sb_costs *c = &t->costs->result;
    const char *why = t->server.ninspections           ? NULL
                      : sb_drivers_used(t->a->drivers) ? "no server was asked"
                                                       : "no server was used";
    double sum = 0;

    for (unsigned i = 0; !why && i < t->server.ninspections; i++) {
        const struct sb_inspection *n = &t->server.inspection[i];

        if (id != SB_FACT_LOG_BYTES && !is_in_time(t->costs, n))
            why = "the server counts late: measure longer, or without a "
                  "warm-up";
        else if (!is_repeated(t, i))
            sum += sb_inspected_growth(&n->before, &n->after, id, &why);
    }
    if (why)
        sb_costs_miss(c, cost, why);
    else
        sb_costs_set(c, cost, sum / unit, "server");
}

static void complete_costs(struct sb__listening *t, const struct sb_report *r)
{
    struct sb__app_costs *c = t->costs;
    const struct sb_counters *n = &r->whole->c;

    if (!c || r->warmup)
        return;
    sb_costs_init(&c->result, "");
    c->result.seconds = r->total_s;
    c->result.events = (double)n->completed;
    c->result.queries = (double)(n->reads + n->writes + n->others);
    c->result.price = t->a->text_opts.price;
    set_work(t, r);
    set_counted(t, SB_COST_READ, SB_FACT_READ_BYTES, 1e3);
    set_counted(t, SB_COST_WRITTEN, SB_FACT_WRITTEN_BYTES, 1e3);
    set_counted(t, SB_COST_LOG_BYTES, SB_FACT_LOG_BYTES, 1);
    set_counted(t, SB_COST_LOG_FLUSHES, SB_FACT_LOG_FLUSHES, 1);
    set_counted(t, SB_COST_FSYNCS, SB_FACT_FSYNCS, 1);
    set_counted(t, SB_COST_ROWS, SB_FACT_ROWS_EXAMINED, 1);
    set_energy(t);
    t->a->facts.costs = &c->result;
}

static void print_costs(struct sb__listening *t, const struct sb_report *r)
{
    const struct sb_text_opts *o = &t->a->text_opts;

    if (!t->costs || r->warmup || sb__app_quiet(t->a) ||
        (o->report_costs != SB_TEXT_COSTS_ON && !(o->price > 0)))
        return;
    sb_costs_text(&t->costs->result, stdout);
    fflush(stdout);
}

// Before the servers are asked for the last time, which takes a while.
static void look_last(struct sb__listening *t, const struct sb_report *r)
{
    (void)r;
    if (t->costs)
        sb_energy_look(&t->costs->energy, "", sb_clock_monotonic());
}

void sb__app_costs_done(struct sb__listening *t)
{
    if (!t->costs)
        return;
    sb_switches_done(&t->costs->switches);
    free(t->costs);
    t->costs = NULL;
    t->a->facts.costs = NULL;
}

const struct sb__app_listener sb__app_work_listener = {
    .measured = begin_costs,
    .interval = follow_costs,
    .complete = look_last,
};

const struct sb__app_listener sb__app_costs_listener = {
    .connecting = make_costs,
    .complete = complete_costs,
    .after = print_costs,
};
