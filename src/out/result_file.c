// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/result_file.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/opts.h"
#include "kit/array.h"
#include "kit/buf.h"
#include "measure/snap.h"
#include "out/json_parts.h"
#include "out/json_value.h"

// 2^53: a run reaches no larger number, except for sums of times and numbers of
// scripts. Counts up to here can be added without an overflow.
#define LARGEST 9007199254740992.0
// 2^63 ns: the maximum of a time, and of a sum of times.
#define LONGEST 9223372036854775808.0

// Checks the numbers of result files, and reads counts and histograms. A file
// may come from anywhere.

static bool is_time(const char *name)
{
    size_t len = strlen(name);

    return strcmp(name, "min") == 0 || strcmp(name, "max") == 0 ||
           strcmp(name, "sum") == 0 ||
           (len > 3 && strcmp(name + len - 3, "_ns") == 0);
}

// Reads a member. A missing one is 0: files may be older than the member.
// SB_EUSAGE.
static int result_count(
    const json_t *o, const char *name, uint64_t *n, struct sb_err *err)
{
    const json_t *value = json_object_get(o, name);

    *n = 0;
    if (value && !json_is_null(value) && !sb__json_is_count(value, n))
        return sb_err_set(err, SB_EUSAGE, "\"%s\" is not a count", name);
    if ((double)*n > (is_time(name) ? LONGEST : LARGEST))
        return sb_err_set(err, SB_EUSAGE, "\"%s\" is too large", name);
    return 0;
}

// A member that is a count, and where it is stored.
struct count {
    const char *name; // NULL: end of a list
    uint64_t *n;
};

static int result_counts(
    const json_t *o, const struct count *list, struct sb_err *err)
{
    int rc = 0;

    for (; rc == 0 && list->name; list++)
        rc = result_count(o, list->name, list->n, err);
    return rc;
}

static int read_bucket(
    struct sb_hist_snap *h, const json_t *triple, struct sb_err *err)
{
    uint64_t low, high, count;

    if (!sb__json_is_count(json_array_get(triple, 0), &low) ||
        !sb__json_is_count(json_array_get(triple, 1), &high) ||
        !sb__json_is_count(json_array_get(triple, 2), &count))
        return sb_err_set(err, SB_EUSAGE,
            "a histogram has an entry that is not of the form [low, high, "
            "count]");
    uint32_t index = sb_hist_index(low);
    if (sb_hist_low(index) != low || low + sb_hist_width(index) - 1 != high)
        return sb_err_set(err, SB_EUSAGE,
            "a histogram has a bucket from %llu to %llu ns, which sysbench "
            "does not use",
            (unsigned long long)low, (unsigned long long)high);
    if ((double)count + (double)h->total > LARGEST)
        return sb_err_set(
            err, SB_EUSAGE, "a histogram has counts that are too large");
    return sb_hist_snap_put(h, index, count);
}

// Reads "histogram" and "count" of an object. SB_EUSAGE.
static int result_buckets(const json_t *o, struct sb_hist_snap *h,
    uint64_t *count, struct sb_err *err)
{
    const json_t *buckets = json_object_get(o, "histogram");
    int rc = result_count(o, "count", count, err);

    for (size_t i = 0; rc == 0 && i < json_array_size(buckets); i++)
        rc = read_bucket(h, json_array_get(buckets, i), err);
    return rc;
}

// Numbers ---------------------------------------------------------------------

enum {
    WHOLE = 1,    // no fraction
    SIGNED = 2,   // may be negative
    ANY_SIZE = 4, // of a script's metric
    TIME = 32,    // up to LONGEST
    LIST = 8,     // may be a list of such numbers
    OBJECT = 16,  // may be an object instead
};

// Members that are numbers or null, in order of their names.
static const struct number {
    const char *name;
    unsigned flags;
} numbers[] = {
    { "avg", ANY_SIZE },
    { "bounds", LIST },
    { "clock_error", 0 },
    { "clock_offset", SIGNED },
    { "code", WHOLE | SIGNED },
    { "completed", WHOLE },
    { "confidence", 0 },
    { "cost", 0 },
    { "count", WHOLE },
    { "cpu_seconds", 0 },
    { "cpu_system", 0 },
    { "cpu_user", 0 },
    { "cpus", 0 },
    { "failed", WHOLE },
    { "failed_events", WHOLE },
    { "first_seen", 0 },
    { "first_user", WHOLE },
    { "found", WHOLE },
    { "hits", WHOLE },
    { "interval", 0 },
    { "latency_avg_ms", 0 },
    { "latency_max_ms", 0 },
    { "latency_pct_ms", 0 },
    { "load", 0 },
    { "max", ANY_SIZE },
    { "max_ns", WHOLE | LIST | TIME },
    { "maximum", 0 },
    { "mean", 0 },
    { "measured_value", 0 },
    { "memory_bytes", WHOLE },
    { "min", ANY_SIZE },
    { "min_ns", WHOLE | LIST | TIME },
    { "missed", WHOLE },
    { "misses", WHOLE },
    { "others", WHOLE },
    { "overrun", 0 },
    { "percentile", 0 },
    { "place", WHOLE },
    { "places", WHOLE },
    { "processors", WHOLE },
    { "queue", WHOLE },
    { "rank", WHOLE | OBJECT },
    { "ranks_reported", WHOLE },
    { "rate", LIST },
    { "reads", WHOLE },
    { "reconnects", WHOLE },
    { "restarts", WHOLE },
    { "round", WHOLE },
    { "rss_bytes", WHOLE },
    { "safe", 0 },
    { "samples", WHOLE },
    { "scale", ANY_SIZE },
    { "scheduled", WHOLE },
    { "seconds", 0 },
    { "service_ns", WHOLE | LIST | TIME },
    { "sessions", 0 },
    { "sessions_within", 0 },
    { "share", 0 },
    { "share_within", 0 },
    { "signal", WHOLE },
    { "skipped", WHOLE },
    { "start", SIGNED },
    { "status", WHOLE },
    { "sum", ANY_SIZE },
    { "threads", WHOLE | LIST },
    { "time", SIGNED },
    { "total_users", WHOLE },
    { "totals_late", 0 },
    { "unfinished", WHOLE },
    { "wait", 0 },
    { "wait_undivided", 0 },
    { "workers", WHOLE },
    { "writes", WHOLE },
};

static int compare_names(const void *name, const void *number)
{
    return strcmp(name, ((const struct number *)number)->name);
}

static int wrong(const char *name, const char *what, struct sb_err *err)
{
    return sb_err_set(err, SB_EUSAGE, "\"%s\" is %s", name, what);
}

static int check_number(
    const struct number *n, const json_t *value, struct sb_err *err)
{
    double v = json_number_value(value);
    uint64_t count;

    if (json_is_null(value) || (json_is_object(value) && (n->flags & OBJECT)))
        return 0;
    bool digits = json_is_string(value) && sb__json_is_count(value, &count);
    if (digits)
        v = (double)count;
    bool negative = v < 0 && !(n->flags & SIGNED);
    if ((n->flags & WHOLE) && !digits && (!json_is_integer(value) || negative))
        return wrong(n->name, "not a count", err);
    if (!digits && !json_is_number(value))
        return wrong(n->name, "not a number", err);
    if (negative)
        return wrong(n->name, "negative", err);
    double most = n->flags & TIME ? LONGEST : LARGEST;
    if (fabs(v) > most && !(n->flags & ANY_SIZE))
        return wrong(n->name, "too large", err);
    return 0;
}

static int check_member(
    const struct number *n, const json_t *value, struct sb_err *err)
{
    int rc = 0;

    if (!json_is_array(value) || !(n->flags & LIST))
        return check_number(n, value, err);
    for (size_t i = 0; rc == 0 && i < json_array_size(value); i++)
        rc = check_number(n, json_array_get(value, i), err);
    return rc;
}

// Returns 1 for an object whose members are numbers with any names, 0 for texts
// named by users or servers, -1 for objects whose members have fixed names.
static int kind_of_names(const char *name)
{
    static const struct {
        const char *name;
        int kind;
    } names[] = { { "labels", 0 }, { "settings", 0 }, { "swept", 0 },
        { "percentiles", 1 }, { "server_totals", 1 } };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i].name) == 0)
            return names[i].kind;
    return -1;
}

static int check_values(const json_t *object, struct sb_err *err)
{
    const char *name;
    json_t *member;

    json_object_foreach((json_t *)object, name, member)
    {
        const struct number n = { name, ANY_SIZE };

        if (check_number(&n, member, err))
            return err->code;
    }
    return 0;
}

// Checks the numbers of a value and of all in it: their types,
// their signs and sizes. SB_EUSAGE names the member.
static int result_numbers(const json_t *value, struct sb_err *err)
{
    const char *name;
    json_t *member;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < json_array_size(value); i++)
        rc = result_numbers(json_array_get(value, i), err);
    if (!json_is_object(value))
        return rc;
    json_object_foreach((json_t *)value, name, member)
    {
        const struct number *n = bsearch(name, numbers,
            sizeof(numbers) / sizeof(numbers[0]), sizeof(numbers[0]),
            compare_names);

        if (rc == 0 && n)
            rc = check_member(n, member, err);
        int kind = kind_of_names(name);
        if (rc == 0 && kind == 1)
            rc = check_values(member, err);
        if (rc == 0 && kind < 0)
            rc = result_numbers(member, err);
    }
    return rc;
}

// Reads the metrics of a script back from a result file.

static double number_of(const json_t *o, const char *name)
{
    return json_number_value(json_object_get(o, name));
}

static int read_gauge(struct sb_snap_metric *m, const json_t *o,
    const struct sb_metric_def *def, struct sb_err *err)
{
    const json_t *value = json_object_get(o, "value");

    if (value && !json_is_null(value) &&
        (!json_is_number(value) || json_number_value(value) < 0))
        return sb_err_set(err, SB_EUSAGE,
            "metric '%.60s': the value must be a number of at least 0",
            def->name);
    m->value = json_is_null(value) ? NAN : json_number_value(value);
    return 0;
}

// The scale decides how long a bucket of the histogram is, so it must be one
// that the program uses: a power of two.
static int read_distribution(struct sb_snap_metric *m, const json_t *o,
    struct sb_metric_def *def, struct sb_err *err)
{
    int exponent;

    m->scale = number_of(o, "scale");
    if (frexp(m->scale, &exponent) != 0.5 || exponent < -900 || exponent > 900)
        return sb_err_set(err, SB_EUSAGE,
            "metric '%.60s': the scale is not a power of two", def->name);
    def->largest = sb_metric_largest(m->scale);
    m->min = number_of(o, "min");
    m->max = number_of(o, "max");
    return result_buckets(o, &m->hist, &m->count, err);
}

static int read_metric(
    struct sb_result_run *r, const json_t *o, struct sb_err *err)
{
    static const char *const kinds[] = { "counter", "gauge", "distribution" };
    struct sb_metric_def def = { .name = sb_result_member(o, "name"),
        .unit = sb_result_member(o, "unit"),
        .help = sb_result_member(o, "help") };
    struct sb_snap_metric m = { .value = number_of(o, "sum") };
    int kind = 0, rc = 0;

    while (kind < 3 && strcmp(kinds[kind], sb_result_member(o, "kind")) != 0)
        kind++;
    if (kind == 3)
        return 0; // of a later version
    def.kind = m.kind = (enum sb_metric_kind)kind;
    if (kind == SB_METRIC_GAUGE)
        rc = read_gauge(&m, o, &def, err);
    else if (kind == SB_METRIC_DISTRIBUTION)
        rc = read_distribution(&m, o, &def, err);
    if (rc == 0)
        rc = sb_snap_add_metric(&r->snap, r->stats, &def, &m, err);
    sb_hist_snap_done(&m.hist);
    return rc;
}

// After the operations; errors as above.
static int result_metrics(struct sb_result_run *r, struct sb_err *err)
{
    const json_t *list = json_object_get(r->json, "metrics");
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
        rc = read_metric(r, json_array_get(list, i), err);
    return rc;
}

// Reads the totals of a run back into the structures that reports are made
// from. A file may come from anywhere, so every value is checked.

struct times {
    uint64_t *min, *max, *sum;
    struct sb_hist_snap *hist;
};

static int read_times(
    const json_t *o, const struct times *t, struct sb_err *err)
{
    const struct count counts[] = { { "min", t->min }, { "max", t->max },
        { "sum", t->sum }, { NULL, NULL } };
    uint64_t count; // the histogram has it
    int rc = result_counts(o, counts, err);

    return rc ? rc : result_buckets(o, t->hist, &count, err);
}

static int read_counters(
    struct sb_snap *s, const json_t *counters, struct sb_err *err)
{
#define X(name) { #name, &s->c.name },
    const struct count counts[] = { { "scheduled", &s->scheduled },
        { "skipped", &s->skipped }, { "unfinished", &s->unfinished },
        { "queue", &s->queue }, SB_COUNTER_MAP(X){ NULL, NULL } };
#undef X

    return result_counts(counters, counts, err);
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
        if (!sb__json_is_count(json_array_get(a, i), &(*list)[i]))
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
    int n = sb_stats_op(r->stats, name ? name : "", kind_of(op));
    struct sb_snap_op *o = &r->snap.op[n];
    const struct times t = { &o->min, &o->max, &o->ns, &o->hist };
    const struct count counts[] = { { "errors", &o->errors },
        { "hits", &o->hits }, { "misses", &o->misses }, { "rows", &o->rows },
        { "failed", &o->failed }, { "restarts", &o->restarts },
        { NULL, NULL } };
    int rc;

    assert(n >= 0 && n < SB_OPS_MAX); // others are SB_OPS_REST
    rc = result_count(latency, "count", &o->count, err);
    if ((unsigned)n >= r->snap.nops)
        r->snap.nops = (unsigned)n + 1;
    if (rc == 0)
        rc = result_counts(op, counts, err);
    return rc ? rc : read_times(latency, &t, err);
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
        double first = number_of(o, "first_seen");
        if (first > 0 && first < 1e9)
            c->first_ns = (uint64_t)llround(first * 1e9);
        rc = result_count(o, "count", &c->count, err);
        r->snap.ncodes = (unsigned)i + 1;
    }
    return rc;
}

// Returns the length of the run. For a run that was in progress when it was
// saved, this is the end of its last interval.
static double run_seconds(const struct sb_result_run *r, const json_t *end)
{
    size_t n = r->intervals.nrows;

    if (json_is_object(end) || n == 0)
        return number_of(end, "seconds");
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
    p->stats = r->stats;
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
        i < r->snap.nops && (r->stats->op[i].kind != SB_OP_WORKLOAD || !name ||
                                strcmp(r->stats->op[i].name, name) != 0))
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
        const struct count counts[] = { { "errors", &op->errors },
            { "failed", &op->failed }, { "restarts", &op->restarts },
            { NULL, NULL } };

        if (n == s->nops || op->hist.total > 0)
            continue;
        rc = result_count(latency, "count", &op->count, err);
        if (rc == 0)
            rc = result_counts(o, counts, err);
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
    double start = number_of(o, "start");
    double seconds = number_of(o, "seconds");
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
    p->stats = r->stats;
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
    f->users = users_of(number_of(o, "threads"));
    f->mean = number_of(latency, "mean") * 1e6;
    f->max = number_of(latency, "max") * 1e6;
    for (unsigned i = 0; i < SB_RANK_PERCENTILES; i++) {
        char name[32];

        snprintf(name, sizeof(name), "%g", sb_rank_percentiles[i]);
        f->percentile[i] = number_of(list, name) * 1e6;
    }
    f->cpu_s = number_of(o, "cpu_seconds");
    f->processors = users_of(number_of(o, "processors"));
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
        rc = result_count(o, "events", &r->ranks[i].events, err);
        if (rc == 0)
            rc = result_count(o, "failed_events", &r->ranks[i].failed, err);
    }
    r->report.ranks = r->ranks;
    r->report.nranks = (unsigned)n;
    return rc;
}

// How the run found its rate.

static double positive(const json_t *o, const char *name)
{
    double v = sb__json_number_of(o, name);

    return v > 0 ? v : 0;
}

static enum sb_search_end end_of(const json_t *o)
{
    const char *name = json_string_value(json_object_get(o, "end"));

    for (int i = 0; name && i <= SB_SEARCH_EXHAUSTED; i++)
        if (strcmp(sb__json_search_end((enum sb_search_end)i), name) == 0)
            return (enum sb_search_end)i;
    return SB_SEARCH_GOES_ON;
}

static int read_trials(struct sb_result_run *r, const json_t *list)
{
    struct sb_rate_search *f = &r->search;
    size_t n = json_array_size(list);

    r->trials = calloc(n ? n : 1, sizeof(*r->trials));
    if (!r->trials)
        return SB_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const json_t *t = json_array_get(list, i);
        const json_t *missed = json_object_get(t, "missed");

        r->trials[i] = (struct sb_search_trial){
            .rate = sb__json_number_of(t, "rate"),
            .value = sb__json_number_of(t, "value"),
            .kept = json_is_true(json_object_get(t, "kept")),
            .grew = json_is_true(json_object_get(t, "queue_grew")),
            .missed = json_is_integer(missed)
                          ? (unsigned)json_integer_value(missed)
                          : SB_SEARCH_NONE,
        };
        f->result.kept += r->trials[i].kept;
    }
    f->trial = r->trials;
    f->trials = f->result.trials = (unsigned)n;
    return 0;
}

// Fills the search of a run and its report: 0 or SB_ENOMEM.
static int read_search(struct sb_result_run *r)
{
    const json_t *o = json_object_get(r->json, "search");
    const json_t *bounds = json_object_get(o, "bounds");
    const json_t *kept = json_object_get(o, "measured_kept");
    const char *unit = json_string_value(json_object_get(o, "unit"));

    if (!json_is_object(o))
        return 0;
    r->search = (struct sb_rate_search){
        .percent = positive(o, "percent"),
        .max = positive(o, "maximum"),
        .rate = positive(o, "rate"),
        .limit = json_string_value(json_object_get(o, "limit")),
        .unit = unit ? unit : "",
        .lowest = json_number_value(json_array_get(bounds, 0)),
        .highest = json_number_value(json_array_get(bounds, 1)),
        .judged = json_is_boolean(kept),
        .kept = json_is_true(kept),
        .value = sb__json_number_of(o, "measured_value"),
        .result = { .end = end_of(o),
            .rate = sb__json_number_of(o, "highest"),
            .low = sb__json_number_of(o, "low"),
            .high = sb__json_number_of(o, "high"),
            .safe = sb__json_number_of(o, "safe") },
    };
    r->report.search = &r->search;
    return read_trials(r, json_object_get(o, "trials"));
}

// Fills snap, stats and report of a run. SB_EUSAGE names the
// member that is wrong.
static int result_totals(struct sb_result_run *r, struct sb_err *err)
{
    bool open_loop = json_is_true(json_object_get(r->json, "open_loop"));
    int rc = read_counters(&r->snap, json_object_get(r->json, "counters"), err);

    if (rc == 0)
        rc = read_latencies(&r->snap, r->json, open_loop, err);
    if (rc == 0)
        rc = read_users(&r->snap, json_object_get(r->json, "users"), err);
    if (rc == 0)
        rc = read_errors(r, err);
    if (rc == 0)
        rc = result_metrics(r, err);
    if (rc)
        return rc;
    fill_report(r);
    rc = read_stages(r, open_loop, err);
    if (rc == 0)
        rc = read_ranks(r, err);
    if (rc == 0)
        rc = read_search(r);
    r->has_totals = rc == 0;
    return rc;
}

// Access to a run of a result file: members, options, values of its rows.

const char *sb_result_member(const json_t *o, const char *name)
{
    return sb__json_text_of(o, name);
}

unsigned sb_result_column(const struct sb_result_run *r, const char *group,
    const char *name, const char *figure)
{
    unsigned i = 0;

    while (i < r->ncols && (strcmp(r->col[i].figure, figure) != 0 ||
                               strcmp(r->col[i].name, name) != 0 ||
                               strcmp(r->col[i].group, group) != 0))
        i++;
    return i;
}

double sb_result_value(const struct sb_result_run *r, size_t row, unsigned col)
{
    const struct sb_rows *rows = &r->intervals;

    if (row >= rows->nrows)
        return NAN;
    assert(rows->first[row] <= rows->first[row + 1]);
    if (col >= rows->first[row + 1] - rows->first[row])
        return NAN;
    return rows->value[rows->first[row] + col];
}

const char *sb_result_text(const struct sb_result_run *r, const char *name)
{
    return sb_result_member(r->json, name);
}

const char *sb_result_option(const struct sb_result_run *r, const char *name)
{
    json_t *options = json_object_get(r->json, "options");

    for (size_t i = 0; i < json_array_size(options); i++) {
        const json_t *o = json_array_get(options, i);

        if (strcmp(sb_result_member(o, "name"), name) == 0)
            return sb_result_member(o, "value");
    }
    return NULL;
}

bool sb_result_option_is_of_place(const char *name)
{
    static const char *const names[] = { "report", "config-file",
        "config-strict", "beside-output", "start-at", "test" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

// Text ------------------------------------------------------------------------

static int cannot_read(const char *path, int native, struct sb_err *err)
{
    return sb_err_set(
        err, SB_ESYS, "cannot read %s: %s", SB_SHOWN(path), strerror(native));
}

bool sb_result_is_other(const char *part, size_t n, bool first)
{
    size_t i = 0;

    while (i < n && part[i] && strchr(" \t\r\n", part[i]))
        i++;
    return memchr(part, '\0', n) || (first && i < n && part[i] != '{');
}

// Reads a whole file into *b, which ends with NUL; only the beginning of one
// that is no result file.
static int read_text(
    FILE *in, const char *path, struct sb_buf *b, struct sb_err *err)
{
    char part[65536];
    size_t n;

    while ((n = fread(part, 1, sizeof(part), in)) > 0 && !b->failed) {
        bool other = sb_result_is_other(part, n, b->len == 0);

        sb_buf_add(b, part, n);
        if (other)
            break;
    }
    if (ferror(in))
        return cannot_read(path, errno, err);
    if (b->failed)
        return sb_err_set(err, SB_ENOMEM, "out of memory for %s", path);
    return b->data ? 0 : sb_err_set(err, SB_EUSAGE, "%s is empty", path);
}

static int not_a_result(const char *path, struct sb_err *err)
{
    return sb_err_set(err, SB_EUSAGE,
        "%s is not a result file (written by --report=json=FILE)", path);
}

// Whether the text ends within the document, which is an object.
static bool is_cut(const struct sb_buf *text, const json_error_t *why)
{
    size_t len = text->len;

    if (json_error_code(why) == json_error_premature_end_of_input)
        return true;
    while (len > 0 && strchr(" \t\r\n", text->data[len - 1]))
        len--;
    // The last token may be a part of a number or of a character.
    return len > 0 && text->data[len - 1] != '}' &&
           (json_error_code(why) == json_error_invalid_syntax ||
               json_error_code(why) == json_error_invalid_utf8);
}

// The error of a text that is not JSON or has a wrong value (found: not empty).
static int explain(const char *path, const struct sb_buf *text,
    const struct sb_err *found, struct sb_err *err)
{
    const char *first = text->data + strspn(text->data, " \t\r\n");
    json_error_t why;

    if (strncmp(first, "{\"line\":", 8) == 0)
        return sb_err_set(err, SB_EUSAGE,
            "%s is not a result file: it was written by --report=ndjson=FILE; "
            "use the file of --report=json=FILE",
            path);
    json_t *whole = json_loadb(
        text->data, text->len, JSON_REJECT_DUPLICATES, &why);

    json_decref(whole);
    if (whole && found->code)
        return sb_err_set(err, SB_EUSAGE, "%s: %.300s", path, found->msg);
    if (whole || *first != '{')
        return not_a_result(path, err);
    return sb_err_set(err, SB_EUSAGE, "%s is not %s: line %d, column %d: %s",
        path, is_cut(text, &why) ? "a complete JSON document" : "valid JSON",
        why.line, why.column, why.text);
}

// Reading ---------------------------------------------------------------------
//
// Jansson needs ten times the size of a list of numbers, and two seconds for
// the ten million numbers of a day. So this parser follows the document down to
// rows and operations, converts these one by one, and leaves all other values
// to Jansson. The text may be formatted in any way.

// Powers of ten that a double holds exactly.
static const double powers[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
    1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
    1e22 };

#define POWERS     (int)(sizeof(powers) / sizeof(powers[0]))
#define DIGITS_MAX 15 // a double holds every integer of this length exactly

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Adds the digits at *p to *mantissa. Returns their number.
static int read_digits(const char **p, uint64_t *mantissa)
{
    const char *start = *p;

    while (is_digit(**p)) {
        if (*p - start < 2 * DIGITS_MAX)
            *mantissa = *mantissa * 10 + (uint64_t)(**p - '0');
        ++*p;
    }
    return (int)(*p - start);
}

// Reads the number at *p and moves *p behind it. With few digits and a small
// exponent, one multiplication or division of exact values gives the nearest
// double; all other numbers are left to strtod(). False: no number.
static bool read_number(const char **p, double *value)
{
    const char *start = *p;
    uint64_t mantissa = 0;
    int exponent = 0, digits;
    bool negative = **p == '-';

    if (strncmp(start, "null", 4) == 0) {
        *p += 4;
        *value = NAN;
        return true;
    }
    *p += negative;
    digits = read_digits(p, &mantissa);
    if (digits == 0)
        return false;
    if (**p == '.') {
        ++*p;
        int decimals = read_digits(p, &mantissa);
        if (decimals == 0)
            return false;
        digits += decimals;
        exponent = -decimals;
    }
    if ((**p | 32) == 'e' || digits > DIGITS_MAX || -exponent >= POWERS) {
        char *end;

        *value = strtod(start, &end);
        *p = end;
        return isfinite(*value);
    }
    *value = (double)mantissa / powers[-exponent];
    if (negative)
        *value = -*value;
    return true;
}

struct reader {
    struct sb_result_file *f;
    const char *start;    // of the text
    const char *p, *end;  // the rest of the text, with NUL behind it
    json_t *runs;         // the list in f->json
    struct sb_rows *rows; // to which rows are added
    struct sb_err *err;   // not filled if the text is not JSON
    bool brief;           // of sb_result_read_brief()
};

static struct sb_result_run *current_run(const struct reader *in)
{
    return &in->f->run[in->f->nruns - 1];
}

static bool next_is(struct reader *in, char c)
{
    while (*in->p == ' ' || *in->p == '\n' || *in->p == '\r' || *in->p == '\t')
        in->p++;
    return *in->p == c;
}

static bool skip_char(struct reader *in, char c)
{
    bool is = next_is(in, c);

    in->p += is;
    return is;
}

// NULL: not JSON.
static json_t *parse_value(struct reader *in)
{
    json_error_t why;
    json_t *value = json_loadb(in->p, (size_t)(in->end - in->p),
        JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES,
        &why);

    in->p += value ? why.position : 0;
    return value;
}

static bool skip_text(struct reader *in)
{
    in->p++;
    while (*(in->p += strcspn(in->p, "\"\\")) == '\\')
        in->p += in->p[1] ? 2 : 1;
    return skip_char(in, '"');
}

// Skips a value whose brackets and texts are complete.
static int skip_value(struct reader *in)
{
    unsigned depth = 0;
    bool begins = strchr(",]}", next_is(in, '"') ? '"' : *in->p) == NULL;

    do {
        if (*in->p == '"') {
            begins = begins && skip_text(in);
        } else if (*in->p == '[' || *in->p == '{') {
            depth++;
            in->p++;
        } else if (*in->p == ']' || *in->p == '}') {
            depth--;
            in->p++;
        } else {
            in->p += strcspn(in->p, depth ? "\"[]{}" : ",]} \t\r\n");
        }
    } while (begins && depth > 0 && *in->p);
    return begins && depth == 0 ? 0 : SB_EUSAGE;
}

// item() parses each member of the list.
static int parse_list(struct reader *in, int (*item)(struct reader *in))
{
    int rc = 0;

    if (!skip_char(in, '['))
        return SB_EUSAGE;
    if (skip_char(in, ']'))
        return 0;
    do
        rc = item(in);
    while (rc == 0 && skip_char(in, ','));
    return rc || skip_char(in, ']') ? rc : SB_EUSAGE;
}

// Parses the value of a member; *value becomes part of the object.
typedef int member_fn(struct reader *in, const char *name, json_t **value);

static int parse_member(struct reader *in, json_t *object, member_fn *member)
{
    json_t *name = next_is(in, '"') ? parse_value(in) : NULL;
    const char *text = json_string_value(name);
    json_t *value = NULL;
    int rc = SB_EUSAGE;

    if (text && skip_char(in, ':') && !json_object_get(object, text))
        rc = member(in, text, &value);
    if (value && json_object_set_new(object, text, value))
        rc = SB_ENOMEM;
    json_decref(name);
    return rc;
}

static int parse_object(struct reader *in, json_t *object, member_fn *member)
{
    int rc = 0;

    if (!skip_char(in, '{'))
        return SB_EUSAGE;
    if (skip_char(in, '}'))
        return 0;
    do
        rc = parse_member(in, object, member);
    while (rc == 0 && skip_char(in, ','));
    return rc || skip_char(in, '}') ? rc : SB_EUSAGE;
}

static int parse_other(struct reader *in, json_t **value)
{
    *value = parse_value(in);
    return *value ? 0 : SB_EUSAGE;
}

// A value that is not of the kind that the member has.
static int parse_wrong(
    struct reader *in, json_t **value, const char *name, const char *kind)
{
    int rc = parse_other(in, value);

    if (rc || json_is_null(*value))
        return rc;
    return sb_err_set(in->err, SB_EUSAGE, "\"%s\" is not %s", name, kind);
}

// *value is an empty list: its members are converted.
static int parse_items(
    struct reader *in, json_t **value, int (*item)(struct reader *in))
{
    *value = json_array();
    return *value ? parse_list(in, item) : SB_ENOMEM;
}

// A value that cannot be part of row n: skips it. SB_EUSAGE, with *err filled
// if it is JSON.
static int wrong_row(struct reader *in, size_t n, const char *why)
{
    json_t *value = parse_value(in);
    bool intervals = in->rows == &current_run(in)->intervals;

    json_decref(value);
    return value ? sb_err_set(in->err, SB_EUSAGE, "row %zu of the %s %s", n,
                       intervals ? "intervals" : "histograms", why)
                 : SB_EUSAGE;
}

static int parse_number(struct reader *in)
{
    struct sb_rows *r = in->rows;
    double *v = sb_array_room(
        r->value, &r->value_cap, r->nvalues, 1, sizeof(*v));

    if (!v)
        return SB_ENOMEM;
    r->value = v;
    bool text = next_is(in, '"');
    const char *end = in->p;

    if (text || !read_number(&end, &v[r->nvalues]))
        return wrong_row(in, r->nrows, "has a value that is not a number");
    in->p = end;
    r->first[r->nrows] = ++r->nvalues;
    return 0;
}

static int parse_row(struct reader *in)
{
    struct sb_rows *r = in->rows;
    size_t *first = sb_array_room(
        r->first, &r->row_cap, r->nrows, 2, sizeof(*first));

    if (!first)
        return SB_ENOMEM;
    r->first = first;
    if (!next_is(in, '['))
        return wrong_row(in, r->nrows + 1, "is not a list");
    r->first[r->nrows++] = r->nvalues;
    r->first[r->nrows] = r->nvalues;
    return parse_list(in, parse_number);
}

// A member of "intervals" or "histograms".
static int parse_rows_member(
    struct reader *in, const char *name, json_t **value)
{
    if (strcmp(name, "rows") != 0)
        return parse_other(in, value);
    return next_is(in, '[') ? parse_items(in, value, parse_row)
                            : parse_wrong(in, value, name, "a list of rows");
}

static int parse_operation(struct reader *in)
{
    json_t *op = parse_value(in);
    int rc = op ? result_numbers(op, in->err) : SB_EUSAGE;

    if (rc == 0)
        rc = read_operation(current_run(in), op, in->err);
    json_decref(op);
    return rc;
}

// The members that sb_result_read_brief() needs of a run, in order.
static const char *const brief_members[] = { "counters", "databases", "end",
    "headline", "host", "labels", "latency", "open_loop", "options", "scripts",
    "search", "seed", "started", "swept", "test", "threads", "warmup" };

static int by_name(const void *name, const void *member)
{
    return strcmp(name, *(const char *const *)member);
}

static int parse_brief_latency(
    struct reader *in, const char *name, json_t **value)
{
    return strcmp(name, "histogram") == 0 ? skip_value(in)
                                          : parse_other(in, value);
}

static int parse_brief_member(
    struct reader *in, const char *name, json_t **value)
{
    if (!bsearch(name, brief_members,
            sizeof(brief_members) / sizeof(brief_members[0]),
            sizeof(brief_members[0]), by_name))
        return skip_value(in);
    if (strcmp(name, "latency") != 0 || !next_is(in, '{'))
        return parse_other(in, value);
    *value = json_object();
    return *value ? parse_object(in, *value, parse_brief_latency) : SB_ENOMEM;
}

static int parse_run_member(struct reader *in, const char *name, json_t **value)
{
    struct sb_result_run *r = current_run(in);
    bool intervals = strcmp(name, "intervals") == 0;

    if (in->brief)
        return parse_brief_member(in, name, value);
    if (intervals || strcmp(name, "histograms") == 0) {
        if (!next_is(in, '{'))
            return parse_wrong(in, value, name, "an object");
        in->rows = intervals ? &r->intervals : &r->histograms;
        *value = json_object();
        return *value ? parse_object(in, *value, parse_rows_member) : SB_ENOMEM;
    }
    if (strcmp(name, "operations") != 0)
        return parse_other(in, value);
    return next_is(in, '[') ? parse_items(in, value, parse_operation)
                            : parse_wrong(in, value, name, "a list");
}

static int parse_run(struct reader *in)
{
    struct sb_result_file *f = in->f;
    struct sb_result_run *r = sb_array_least(
        f->run, &f->nruns, f->nruns + 1, sizeof(*r));

    if (!r)
        return SB_ENOMEM;
    f->run = r;
    r += f->nruns - 1;
    r->json = json_object();
    if (in->brief)
        return json_array_append_new(in->runs, r->json)
                   ? SB_ENOMEM
                   : parse_object(in, r->json, parse_run_member);
    r->stats = calloc(1, sizeof(*r->stats));
    r->snap.op = calloc(SB_OPS_MAX, sizeof(*r->snap.op));
    if (json_array_append_new(in->runs, r->json) || !r->snap.op || !r->stats ||
        sb_stats_init(r->stats, 1, 1, false))
        return SB_ENOMEM;
    return parse_object(in, r->json, parse_run_member);
}

static int parse_document_member(
    struct reader *in, const char *name, json_t **value)
{
    if (strcmp(name, "runs") != 0 || !next_is(in, '['))
        return in->brief && strcmp(name, "program") != 0 &&
                       (next_is(in, '[') || next_is(in, '{'))
                   ? skip_value(in)
                   : parse_other(in, value);
    in->f->runs_at = (size_t)(in->p + 1 - in->start);
    *value = in->runs = json_array();
    int rc = *value ? parse_list(in, parse_run) : SB_ENOMEM;

    in->f->runs_end = (size_t)(in->p - 1 - in->start);
    return rc;
}

static int parse(struct sb_result_file *f, const struct sb_buf *text,
    bool brief, struct sb_err *err)
{
    struct reader in = { .f = f,
        .brief = brief,
        .start = text->data,
        .p = text->data,
        .end = text->data + text->len,
        .err = err };

    f->json = json_object();
    if (!f->json)
        return SB_ENOMEM;
    int rc = parse_object(&in, f->json, parse_document_member);

    f->end = (size_t)(in.p - 1 - in.start);
    return rc || (next_is(&in, '\0') && in.p == in.end) ? rc : SB_EUSAGE;
}

// Runs ------------------------------------------------------------------------

static int read_columns(struct sb_result_run *r)
{
    json_t *list = json_object_get(
        json_object_get(r->json, "intervals"), "columns");
    size_t n = json_array_size(list);

    r->col = calloc(n ? n : 1, sizeof(*r->col));
    if (!r->col)
        return SB_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const json_t *c = json_array_get(list, i);

        r->col[i] = (struct sb_result_column){ sb_result_member(c, "group"),
            sb_result_member(c, "name"), sb_result_member(c, "figure"),
            sb_result_member(c, "unit") };
    }
    r->ncols = (unsigned)n;
    return 0;
}

// Returns whether the values of a column cannot be negative: figures that the
// program itself counts or measures, except the time, which is negative in a
// warm-up.
static bool is_positive(const struct sb_result_column *c)
{
    static const char *const groups[] = { "run", "operation", "metric",
        "client", "waits" };

    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        if (strcmp(c->group, groups[i]) == 0)
            return strcmp(c->figure, "time") != 0;
    return false;
}

static int check_rows(const struct sb_result_run *r, struct sb_err *err)
{
    for (unsigned i = 0; i < r->ncols; i++) {
        // Scripts may have larger values.
        double most = strcmp(r->col[i].group, "metric") == 0 ? INFINITY
                                                             : LARGEST;

        for (size_t row = 0;
             is_positive(&r->col[i]) && row < r->intervals.nrows; row++) {
            double v = sb_result_value(r, row, i);

            if (v < 0 || v > most)
                return sb_err_set(err, SB_EUSAGE,
                    "row %zu of the intervals: \"%s\" is %s", row + 1,
                    r->col[i].figure, v < 0 ? "negative" : "too large");
        }
    }
    return 0;
}

static int read_run(struct sb_result_run *r, struct sb_err *err)
{
    int rc = read_columns(r);

    if (rc == 0)
        rc = result_numbers(r->json, err);
    if (rc == 0)
        rc = check_rows(r, err);
    if (rc == 0 && json_is_object(json_object_get(r->json, "counters")))
        rc = result_totals(r, err);
    return rc;
}

static int read_document(
    struct sb_result_file *f, const struct sb_buf *text, struct sb_err *err)
{
    struct sb_err why = { 0 };
    int rc = parse(f, text, false, &why);

    if (rc == SB_EUSAGE)
        return explain(f->path, text, &why, err);
    if (rc == 0 &&
        strcmp(sb_result_member(f->json, "format"), "sysbench-result") != 0)
        return not_a_result(f->path, err);
    f->version = (int)json_integer_value(json_object_get(f->json, "version"));
    if (rc == 0 && f->version < 1)
        rc = sb_err_set(&why, SB_EUSAGE, "\"version\" is not a number above 0");
    for (unsigned i = 0; rc == 0 && i < f->nruns; i++)
        rc = read_run(&f->run[i], &why);
    if (rc == SB_ENOMEM)
        return sb_err_set(err, rc, "out of memory for %s", f->path);
    return rc ? sb_err_set(err, rc, "%s: %.300s", f->path, why.msg) : 0;
}

int sb_result_read(
    struct sb_result_file *f, const char *path, struct sb_err *err)
{
    // Two commas in a list of files.
    if (!*path) {
        *f = (struct sb_result_file){ .path = path };
        return sb_err_set(err, SB_EUSAGE, "the name of a result file is empty");
    }
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    int rc;

    *f = (struct sb_result_file){ .path = path };
    if (!in)
        return cannot_read(path, errno, err);
    rc = sb_result_read_from(f, in, path, err);
    if (in != stdin)
        fclose(in);
    return rc;
}

int sb_result_read_from(
    struct sb_result_file *f, FILE *in, const char *path, struct sb_err *err)
{
    struct sb_buf text;

    *f = (struct sb_result_file){ .path = path };
    sb_buf_init(&text, 0);
    int rc = read_text(in, path, &text, err);

    if (rc == 0)
        rc = read_document(f, &text, err);
    sb_buf_done(&text);
    return rc;
}

static int read_brief(
    struct sb_result_file *f, const struct sb_buf *text, struct sb_err *err)
{
    struct sb_err why = { 0 };
    int rc = parse(f, text, true, &why);
    bool named = strcmp(sb_result_member(f->json, "format"),
                     "sysbench-result") == 0;

    f->version = (int)json_integer_value(json_object_get(f->json, "version"));
    if (!named || (rc == 0 && f->version < 1))
        return sb_err_set(
            err, SB_ENOTFOUND, "%s is not a result file", f->path);
    for (unsigned i = 0; rc == 0 && i < f->nruns; i++) {
        struct sb_result_run *r = &f->run[i];

        rc = result_numbers(r->json, &why);
        r->has_totals = json_is_object(json_object_get(r->json, "counters"));
    }
    return rc == SB_EUSAGE ? explain(f->path, text, &why, err) : rc;
}

int sb_result_read_brief(
    struct sb_result_file *f, const char *path, struct sb_err *err)
{
    FILE *in = fopen(path, "re");
    struct sb_buf text;

    *f = (struct sb_result_file){ .path = path };
    if (!in)
        return cannot_read(path, errno, err);
    sb_buf_init(&text, 0);
    int rc = read_text(in, path, &text, err);

    fclose(in);
    if (rc == 0 && text.data[strspn(text.data, " \t\r\n")] != '{')
        rc = sb_err_set(err, SB_ENOTFOUND, "%s is not a result file", path);
    if (rc == 0)
        rc = read_brief(f, &text, err);
    if (rc == SB_ENOMEM)
        sb_err_set(err, rc, "out of memory for %s", path);
    sb_buf_done(&text);
    return rc;
}

static void free_rows(struct sb_rows *r)
{
    free(r->value);
    free(r->first);
}

void sb_result_done(struct sb_result_file *f)
{
    for (unsigned i = 0; i < f->nruns; i++) {
        for (unsigned n = 0; n < f->run[i].report.nstages; n++)
            sb_snap_done(&f->run[i].stage_snap[n]);
        free(f->run[i].stage_snap);
        free(f->run[i].stage);
        free(f->run[i].ranks);
        free(f->run[i].col);
        free(f->run[i].trials);
        sb_snap_done(&f->run[i].snap);
        if (f->run[i].stats)
            sb_stats_done(f->run[i].stats);
        free(f->run[i].stats);
        free_rows(&f->run[i].intervals);
        free_rows(&f->run[i].histograms);
    }
    free(f->run);
    json_decref(f->json);
    memset(f, 0, sizeof(*f));
}
