// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads the totals of a run back into the structures that reports are made
// from. A file may come from anywhere, so every value is checked.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/json_parts.h"
#include "out/result_private.h"

#define SPACES " \t\r\n"

struct times {
    uint64_t *min, *max, *sum;
    struct sb_hist_snap *hist;
};

static int read_times(
    const json_t *o, const struct times *t, struct sb_err *err)
{
    uint64_t count; // the histogram has it
    int rc = sb__result_count(o, "min", t->min, err);

    if (rc == 0)
        rc = sb__result_count(o, "max", t->max, err);
    if (rc == 0)
        rc = sb__result_count(o, "sum", t->sum, err);
    return rc ? rc : sb__result_buckets(o, t->hist, &count, err);
}

static int read_counters(
    struct sb_snap *s, const json_t *counters, struct sb_err *err)
{
    int rc = sb__result_count(counters, "scheduled", &s->scheduled, err);

    if (rc == 0)
        rc = sb__result_count(counters, "skipped", &s->skipped, err);
    if (rc == 0)
        rc = sb__result_count(counters, "unfinished", &s->unfinished, err);
    if (rc == 0)
        rc = sb__result_count(counters, "queue", &s->queue, err);
#define X(name)  \
    if (rc == 0) \
        rc = sb__result_count(counters, #name, &s->c.name, err);
    SB_COUNTER_MAP(X)
#undef X
    return rc;
}

static int read_latencies(
    struct sb_snap *s, const json_t *run, bool open_loop, struct sb_err *err)
{
    const struct times service = { &s->service_min, &s->service_max,
        &s->c.service_ns, &s->service };
    const struct times response = { &s->response_min, &s->response_max,
        &s->c.response_ns, &s->response };
    const struct times lag = { &s->lag_min, &s->lag_max, &s->c.lag_ns,
        &s->lag };
    const json_t *latency = json_object_get(run, "latency");
    const struct times delay = { &s->client_delay_min, &s->client_delay_max,
        &s->c.client_delay_ns, &s->client_delay };
    const json_t *client = json_object_get(run, "client_delay");
    int rc = 0;

    s->has_client_delay = json_is_object(client);
    if (s->has_client_delay)
        rc = read_times(client, &delay, err);
    if (rc == 0 && !open_loop)
        return read_times(latency, &service, err);
    if (rc == 0)
        rc = read_times(latency, &response, err);
    if (rc == 0)
        rc = read_times(json_object_get(run, "service"), &service, err);
    return rc ? rc : read_times(json_object_get(run, "lag"), &lag, err);
}

static int read_numbers(const json_t *users, const char *name, uint64_t **list,
    unsigned n, struct sb_err *err)
{
    const json_t *a = json_object_get(users, name);

    *list = calloc(n ? n : 1, sizeof(**list));
    if (!*list)
        return SB_ENOMEM;
    for (unsigned i = 0; i < n; i++)
        if (!sb__result_is_count(json_array_get(a, i), &(*list)[i]))
            return sb_err_set(err, SB_EUSAGE,
                "\"users\": \"%s\" has no number for user %u", name, i);
    return 0;
}

static int read_users(
    struct sb_snap *s, const json_t *users, struct sb_err *err)
{
    size_t n = json_array_size(json_object_get(users, "events"));
    int rc;

    // A run that has lost a rank has no figures of users.
    if (n == 0)
        return 0;
    s->users = (unsigned)n;
    rc = read_numbers(users, "events", &s->user_events, s->users, err);
    if (rc == 0)
        rc = read_numbers(users, "service_ns", &s->user_ns, s->users, err);
    if (rc == 0)
        rc = read_numbers(users, "min_ns", &s->user_min, s->users, err);
    return rc ? rc : read_numbers(users, "max_ns", &s->user_max, s->users, err);
}

static enum sb_op_kind kind_of(const json_t *op)
{
    static const char *const kinds[] = { "read", "write", "change", "other",
        "custom", "workload" };
    const char *name = json_string_value(json_object_get(op, "kind"));

    for (int i = 0; name && i <= SB_OP_WORKLOAD; i++)
        if (strcmp(kinds[i], name) == 0)
            return (enum sb_op_kind)i;
    return SB_OP_CUSTOM;
}

static int read_operation(
    struct sb_result_run *r, const json_t *op, struct sb_err *err)
{
    const char *name = json_string_value(json_object_get(op, "name"));
    const json_t *latency = json_object_get(op, "latency");
    int n = sb_stats_op(&r->stats, name ? name : "", kind_of(op));
    struct sb_snap_op *o = &r->snap.op[n];
    const struct times t = { &o->min, &o->max, &o->ns, &o->hist };
    int rc;

    assert(n >= 0 && n < SB_OPS_MAX); // others are SB_OPS_REST
    rc = sb__result_count(latency, "count", &o->count, err);
    if ((unsigned)n >= r->snap.nops)
        r->snap.nops = (unsigned)n + 1;
    if (rc == 0)
        rc = sb__result_count(op, "errors", &o->errors, err);
    if (rc == 0)
        rc = sb__result_count(op, "hits", &o->hits, err);
    if (rc == 0)
        rc = sb__result_count(op, "misses", &o->misses, err);
    if (rc == 0)
        rc = sb__result_count(op, "rows", &o->rows, err);
    if (rc == 0)
        rc = sb__result_count(op, "failed", &o->failed, err);
    if (rc == 0)
        rc = sb__result_count(op, "restarts", &o->restarts, err);
    return rc ? rc : read_times(latency, &t, err);
}

// Reads the operation at *p and moves *p behind it and the comma.
static int read_next(
    struct sb_result_run *r, const char **p, struct sb_err *err)
{
    json_error_t why;
    json_t *op = json_loads(
        *p, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &why);
    int rc;

    if (!op)
        return sb_err_set(
            err, SB_EUSAGE, "an operation is not valid JSON: %s", why.text);
    rc = sb__result_numbers(op, err);
    if (rc == 0)
        rc = read_operation(r, op, err);
    json_decref(op);
    *p += why.position;
    *p += strspn(*p, SPACES);
    if (rc || **p == ']')
        return rc;
    if (**p != ',')
        return sb_err_set(
            err, SB_EUSAGE, "the list of operations is not valid JSON");
    ++*p;
    return 0;
}

static int read_operations(struct sb_result_run *r, struct sb_err *err)
{
    const json_t *list = json_object_get(r->json, "operations");
    const char *p = r->operations;
    int rc = 0;

    r->snap.op = calloc(SB_OPS_MAX, sizeof(*r->snap.op));
    if (!r->snap.op || sb_stats_init(&r->stats, 1, 1, false))
        return SB_ENOMEM;
    if (p) {
        for (p += strspn(p, SPACES); rc == 0 && *p != ']';)
            rc = read_next(r, &p, err);
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
        rc = read_operation(r, json_array_get(list, i), err);
    return rc;
}

static void copy_text(char *to, size_t size, const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));

    snprintf(to, size, "%s", text ? text : "");
}

static int read_errors(struct sb_result_run *r, struct sb_err *err)
{
    const json_t *list = json_object_get(r->json, "errors");
    size_t n = json_array_size(list);
    int rc = 0;

    r->snap.code = calloc(n ? n : 1, sizeof(*r->snap.code));
    if (!r->snap.code)
        return SB_ENOMEM;
    r->snap.cap_codes = n ? n : 1;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const json_t *o = json_array_get(list, i);
        struct sb_snap_code *c = &r->snap.code[i];

        c->native = (int)json_integer_value(json_object_get(o, "code"));
        copy_text(c->driver, sizeof(c->driver), o, "driver");
        copy_text(c->state, sizeof(c->state), o, "state");
        copy_text(c->sample, sizeof(c->sample), o, "sample");
        double first = json_number_value(json_object_get(o, "first_seen"));
        if (first > 0 && first < 1e9)
            c->first_ns = (uint64_t)llround(first * 1e9);
        rc = sb__result_count(o, "count", &c->count, err);
        r->snap.ncodes = (unsigned)i + 1;
    }
    return rc;
}

// Of a run that was in progress when it was saved: its last interval.
static double run_seconds(const struct sb_result_run *r, const json_t *end)
{
    size_t n = r->intervals ? r->intervals->nrows : 0;

    if (json_is_object(end) || n == 0)
        return json_number_value(json_object_get(end, "seconds"));
    return sb_result_value(r, n - 1, sb_result_column(r, "run", "", "time"));
}

static void fill_report(struct sb_result_run *r)
{
    const json_t *end = json_object_get(r->json, "end");
    double seconds = run_seconds(r, end);
    bool open_loop = json_is_true(json_object_get(r->json, "open_loop"));
    json_int_t threads = json_integer_value(
        json_object_get(r->json, "threads"));
    struct sb_report *p = &r->report;

    r->snap.ns = (uint64_t)(seconds > 0 && seconds < 1e9 ? seconds * 1e9 : 0);
    sb_report_fill(p, &r->snap, threads > 0 ? (unsigned)threads : r->snap.users,
        open_loop, seconds);
    p->interval_s = seconds;
    p->running = p->threads;
    p->final = true;
    p->whole = &r->snap;
    p->stats = &r->stats;
    p->warmup = json_is_true(json_object_get(r->json, "warmup"));
    p->failure = json_string_value(json_object_get(end, "failure"));
}

static void read_range(
    const json_t *o, const char *name, double *from, double *to)
{
    const json_t *a = json_object_get(o, name);

    *from = json_number_value(json_array_get(a, 0));
    *to = json_number_value(json_array_get(a, 1));
}

static unsigned users_of(double n)
{
    return n > 0 && n < 1e9 ? (unsigned)n : 0;
}

// Returns the number of a workload of the run, or nops: a stage has no others.
static unsigned find_workload(const struct sb_result_run *r, const char *name)
{
    unsigned i = 0;

    while (
        i < r->snap.nops && (r->stats.op[i].kind != SB_OP_WORKLOAD || !name ||
                                strcmp(r->stats.op[i].name, name) != 0))
        i++;
    return i;
}

// The workloads of a mix in a stage.
static int read_workloads(const struct sb_result_run *r, struct sb_snap *s,
    const json_t *list, struct sb_err *err)
{
    int rc = 0;

    if (json_array_size(list) == 0)
        return 0;
    s->nops = r->snap.nops;
    s->op = calloc(s->nops + 1, sizeof(*s->op));
    if (!s->op)
        return SB_ENOMEM;
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const json_t *latency = json_object_get(o, "latency");
        unsigned n = find_workload(
            r, json_string_value(json_object_get(o, "name")));
        struct sb_snap_op *op = &s->op[n];
        const struct times t = { &op->min, &op->max, &op->ns, &op->hist };

        if (n == s->nops || op->hist.total > 0)
            continue;
        rc = sb__result_count(latency, "count", &op->count, err);
        if (rc == 0)
            rc = sb__result_count(o, "errors", &op->errors, err);
        if (rc == 0)
            rc = sb__result_count(o, "failed", &op->failed, err);
        if (rc == 0)
            rc = sb__result_count(o, "restarts", &op->restarts, err);
        if (rc == 0)
            rc = read_times(latency, &t, err);
    }
    return rc;
}

static int read_stage(struct sb_result_run *r, unsigned i, const json_t *o,
    bool open_loop, struct sb_err *err)
{
    const struct times service = { &r->stage_snap[i].service_min,
        &r->stage_snap[i].service_max, &r->stage_snap[i].c.service_ns,
        &r->stage_snap[i].service };
    const struct times response = { &r->stage_snap[i].response_min,
        &r->stage_snap[i].response_max, &r->stage_snap[i].c.response_ns,
        &r->stage_snap[i].response };
    const char *name = json_string_value(json_object_get(o, "name"));
    double start = json_number_value(json_object_get(o, "start"));
    double seconds = json_number_value(json_object_get(o, "seconds"));
    struct sb_report *p = &r->stage[i];
    double users[2];
    int rc = read_counters(
        &r->stage_snap[i], json_object_get(o, "counters"), err);

    if (rc == 0)
        rc = read_times(json_object_get(o, "latency"),
            open_loop ? &response : &service, err);
    if (rc == 0)
        rc = read_workloads(
            r, &r->stage_snap[i], json_object_get(o, "workloads"), err);
    sb_report_fill(
        p, &r->stage_snap[i], r->report.threads, open_loop, start + seconds);
    p->interval_s = seconds;
    p->stats = &r->stats;
    p->stage = i;
    p->stage_name = name ? name : "";
    read_range(o, "threads", &users[0], &users[1]);
    p->stage_users[0] = users_of(users[0]);
    p->stage_users[1] = users_of(users[1]);
    read_range(o, "rate", &p->stage_rate[0], &p->stage_rate[1]);
    p->stage_mix = json_string_value(json_object_get(o, "mix"));
    return rc;
}

static int read_stages(
    struct sb_result_run *r, bool open_loop, struct sb_err *err)
{
    const json_t *list = json_object_get(r->json, "stages");
    size_t n = json_array_size(list);
    int rc = 0;

    r->stage = calloc(n + 1, sizeof(*r->stage));
    r->stage_snap = calloc(n + 1, sizeof(*r->stage_snap));
    if (!r->stage || !r->stage_snap)
        return SB_ENOMEM;
    r->report.stages = r->stage;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        r->report.nstages = (unsigned)i + 1;
        rc = read_stage(
            r, (unsigned)i, json_array_get(list, i), open_loop, err);
    }
    return rc;
}

static void read_rank(struct sb_rank_figures *f, const json_t *o)
{
    const json_t *latency = json_object_get(o, "latency");
    const json_t *list = json_object_get(latency, "percentiles");

    copy_text(f->host, sizeof(f->host), o, "host");
    f->lost = json_is_true(json_object_get(o, "lost"));
    f->users = users_of(json_number_value(json_object_get(o, "threads")));
    f->mean = json_number_value(json_object_get(latency, "mean")) * 1e6;
    f->max = json_number_value(json_object_get(latency, "max")) * 1e6;
    for (unsigned i = 0; i < SB_RANK_PERCENTILES; i++) {
        char name[32];

        snprintf(name, sizeof(name), "%g", sb_rank_percentiles[i]);
        f->percentile[i] = json_number_value(json_object_get(list, name)) * 1e6;
    }
    f->cpu_s = json_number_value(json_object_get(o, "cpu_seconds"));
    f->processors = users_of(
        json_number_value(json_object_get(o, "processors")));
}

static int read_ranks(struct sb_result_run *r, struct sb_err *err)
{
    const json_t *list = json_object_get(r->json, "ranks");
    size_t n = json_array_size(list);
    int rc = 0;

    if (n == 0)
        return 0;
    r->ranks = calloc(n, sizeof(*r->ranks));
    if (!r->ranks)
        return SB_ENOMEM;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const json_t *o = json_array_get(list, i);

        read_rank(&r->ranks[i], o);
        rc = sb__result_count(o, "events", &r->ranks[i].events, err);
        if (rc == 0)
            rc = sb__result_count(o, "failed_events", &r->ranks[i].failed, err);
    }
    r->report.ranks = r->ranks;
    r->report.nranks = (unsigned)n;
    return rc;
}

int sb__result_totals(struct sb_result_run *r, struct sb_err *err)
{
    bool open_loop = json_is_true(json_object_get(r->json, "open_loop"));
    int rc = read_counters(&r->snap, json_object_get(r->json, "counters"), err);

    if (rc == 0)
        rc = read_latencies(&r->snap, r->json, open_loop, err);
    if (rc == 0)
        rc = read_users(&r->snap, json_object_get(r->json, "users"), err);
    if (rc == 0)
        rc = read_operations(r, err);
    if (rc == 0)
        rc = read_errors(r, err);
    if (rc == 0)
        rc = sb__result_metrics(r, err);
    if (rc)
        return rc;
    fill_report(r);
    rc = read_stages(r, open_loop, err);
    if (rc == 0)
        rc = read_ranks(r, err);
    if (rc == 0)
        rc = sb__result_read_search(r);
    r->has_totals = rc == 0;
    return rc;
}
