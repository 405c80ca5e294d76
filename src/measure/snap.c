// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/snap_private.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/array.h"

const struct sb_snap_code *sb__snap_code_find(
    const struct sb_snap *s, int native, const char *state, const char *driver)
{
    for (unsigned i = 0; i < s->ncodes; i++) {
        const struct sb_snap_code *c = &s->code[i];

        if (c->native == native && strcmp(c->state, state) == 0 &&
            strcmp(c->driver, driver) == 0)
            return c;
    }
    return NULL;
}

struct sb_snap_code *sb__snap_code_new(struct sb_snap *s)
{
    struct sb_snap_code *p = sb_array_room(
        s->code, &s->cap_codes, s->ncodes, 1, sizeof(*p));

    if (!p)
        return NULL;
    s->code = p;
    return &s->code[s->ncodes++];
}

void sb_snap_done(struct sb_snap *s)
{
    sb_hist_snap_done(&s->service);
    sb_hist_snap_done(&s->response);
    sb_hist_snap_done(&s->lag);
    sb_hist_snap_done(&s->client_delay);
    for (unsigned i = 0; s->op && i < s->nops; i++)
        sb_hist_snap_done(&s->op[i].hist);
    free(s->op);
    free(s->code);
    sb__snap_done_metrics(s);
    free(s->user_events);
    free(s->user_ns);
    free(s->user_min);
    free(s->user_max);
    memset(s, 0, sizeof(*s));
}

// Takes the extremes of a difference from its histogram, limited by the exact
// extremes of the whole run. They are exact if the difference covers the run.
void sb__snap_bounds(const struct sb_hist_snap *h, uint64_t *min, uint64_t *max)
{
    uint64_t lo, hi;

    if (!sb_hist_snap_bounds(h, &lo, &hi)) {
        *min = *max = 0;
        return;
    }
    if (lo > *min)
        *min = lo;
    if (hi < *max)
        *max = hi;
}

static uint64_t *values_sub(
    const uint64_t *later, const uint64_t *earlier, unsigned n)
{
    uint64_t *v = malloc((n ? n : 1) * sizeof(*v));

    for (unsigned i = 0; v && i < n; i++)
        v[i] = later[i] - (earlier ? earlier[i] : 0);
    return v;
}

static int sub_users(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    if (!later->user_events)
        return 0;
    assert(!earlier->user_events || earlier->users == later->users);
    out->user_events = values_sub(
        later->user_events, earlier->user_events, later->users);
    out->user_ns = values_sub(later->user_ns, earlier->user_ns, later->users);
    out->user_min = values_sub(later->user_min, NULL, later->users);
    out->user_max = values_sub(later->user_max, NULL, later->users);
    return out->user_events && out->user_ns && out->user_min && out->user_max
               ? 0
               : SB_ENOMEM;
}

static int sub_ops(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    static const struct sb_snap_op zero;
    int rc = 0;

    if (!later->op)
        return 0;
    out->op = calloc(later->nops ? later->nops : 1, sizeof(*out->op));
    if (!out->op)
        return SB_ENOMEM;
    out->nops = later->nops;
    for (unsigned i = 0; rc == 0 && i < later->nops; i++) {
        const struct sb_snap_op *a = &later->op[i];
        const struct sb_snap_op *b = i < earlier->nops ? &earlier->op[i]
                                                       : &zero;
        struct sb_snap_op *o = &out->op[i];

        *o = (struct sb_snap_op){
            .count = a->count - b->count,
            .errors = a->errors - b->errors,
            .ns = a->ns - b->ns,
            .min = a->min,
            .max = a->max,
            .hits = a->hits - b->hits,
            .misses = a->misses - b->misses,
            .rows = a->rows - b->rows,
            .failed = a->failed - b->failed,
            .restarts = a->restarts - b->restarts,
        };
        rc = sb_hist_snap_sub(&o->hist, &a->hist, &b->hist);
        if (rc == 0)
            sb__snap_bounds(&o->hist, &o->min, &o->max);
    }
    return rc;
}

static int sub_codes(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    for (unsigned i = 0; i < later->ncodes; i++) {
        const struct sb_snap_code *a = &later->code[i];
        const struct sb_snap_code *b = sb__snap_code_find(
            earlier, a->native, a->state, a->driver);
        uint64_t was = b ? b->count : 0, lost = b ? b->lost : 0;
        struct sb_snap_code *c;

        // An error may be counted before a snapshot, and as a loss behind it.
        // Then it belongs to a mark of the interval, but to no list of errors.
        if (a->count == was && (later->user_events || a->lost == lost))
            continue;
        c = sb__snap_code_new(out);
        if (!c)
            return SB_ENOMEM;
        *c = *a;
        c->count = a->count - was;
        c->lost = a->lost - lost;
    }
    return 0;
}

static int sub_hists(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    int rc = sb_hist_snap_sub(
        &out->service, &later->service, &earlier->service);

    if (rc == 0)
        rc = sb_hist_snap_sub(
            &out->response, &later->response, &earlier->response);
    if (rc == 0)
        rc = sb_hist_snap_sub(&out->lag, &later->lag, &earlier->lag);
    if (rc == 0)
        rc = sb_hist_snap_sub(
            &out->client_delay, &later->client_delay, &earlier->client_delay);
    if (rc)
        return rc;
    sb__snap_bounds(&out->service, &out->service_min, &out->service_max);
    sb__snap_bounds(&out->response, &out->response_min, &out->response_max);
    sb__snap_bounds(&out->lag, &out->lag_min, &out->lag_max);
    sb__snap_bounds(
        &out->client_delay, &out->client_delay_min, &out->client_delay_max);
    return 0;
}

static uint64_t growth(uint64_t later, uint64_t earlier)
{
    return later > earlier ? later - earlier : 0;
}

// An event that was in progress at the earlier moment and turned out not to be
// one (sb_user_drop) has moved from started to skipped. The earlier report has
// counted it as started, so the later one counts it as neither.
static void sub_started(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    uint64_t back = growth(earlier->c.started, later->c.started);

    out->c.started = growth(later->c.started, earlier->c.started);
    out->c.tries = growth(later->c.tries, earlier->c.tries);
    out->skipped -= back < out->skipped ? back : out->skipped;
}

static void sub_scalars(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    uint64_t taken = later->skipped + later->c.started;

    out->ns = later->ns - earlier->ns;
    out->scheduled = growth(later->scheduled, earlier->scheduled);
    out->skipped = later->skipped - earlier->skipped;
    out->queue = later->scheduled > taken ? later->scheduled - taken : 0;
    out->unfinished = later->unfinished;
    out->running = later->running;
    out->users = later->users;
#define X(name) out->c.name = later->c.name - earlier->c.name;
    SB_COUNTER_MAP(X)
#undef X
    sub_started(out, later, earlier);
    out->service_min = later->service_min;
    out->service_max = later->service_max;
    out->response_min = later->response_min;
    out->response_max = later->response_max;
    out->lag_min = later->lag_min;
    out->lag_max = later->lag_max;
    out->client_delay_min = later->client_delay_min;
    out->client_delay_max = later->client_delay_max;
    out->has_client_delay = later->has_client_delay;
}

uint64_t sb_counters_failed(const struct sb_counters *c)
{
    return c->completed > 0 ? c->failed - c->cut_short : c->failed;
}

int sb_snap_sub(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    int rc;

    assert(out != later && out != earlier);
    memset(out, 0, sizeof(*out));
    sub_scalars(out, later, earlier);
    rc = sub_hists(out, later, earlier);
    if (rc == 0)
        rc = sub_users(out, later, earlier);
    if (rc == 0)
        rc = sub_ops(out, later, earlier);
    if (rc == 0)
        rc = sub_codes(out, later, earlier);
    if (rc == 0)
        rc = sb__snap_sub_metrics(out, later, earlier);
    if (rc)
        sb_snap_done(out);
    return rc;
}

static int check_equal(
    struct sb_err *err, const char *identity, uint64_t left, uint64_t right)
{
    if (left == right)
        return 0;
    return sb_err_set(err, SB_EINTERNAL,
        "accounting: %s does not hold: %" PRIu64 " and %" PRIu64, identity,
        left, right);
}

static int check_events(
    const struct sb_snap *s, uint64_t pending, struct sb_err *err)
{
    const struct sb_counters *c = &s->c;
    int rc = check_equal(err, "scheduled = started + skipped + pending",
        s->scheduled, c->started + s->skipped + pending);

    if (rc == 0)
        rc = check_equal(err, "started = completed + failed + unfinished",
            c->started, c->completed + c->failed + s->unfinished);
    if (rc == 0)
        rc = check_equal(err, "tries = started + restarts", c->tries,
            c->started + c->restarts);
    return rc;
}

// Events that did not return may have errors whose fate is not decided.
static int check_errors(const struct sb_snap *s, struct sb_err *err)
{
    const struct sb_counters *c = &s->c;
    uint64_t fates, codes = 0;

    fates = c->err_ignored + c->err_restarted + c->err_givenup + c->err_fatal;
    for (unsigned i = 0; i < s->ncodes; i++)
        codes += s->code[i].count;
    if (!s->user_events || (s->unfinished > 0 && fates <= codes))
        return 0;
    return check_equal(err, "errors = sum over codes", fates, codes);
}

static int check_hists(
    const struct sb_snap *s, bool open_loop, struct sb_err *err)
{
    uint64_t n = s->c.completed;
    int rc = check_equal(err, "completed = service times", n, s->service.total);

    if (rc == 0 && open_loop)
        rc = check_equal(
            err, "completed = response times", n, s->response.total);
    if (rc == 0 && open_loop)
        rc = check_equal(err, "completed = lags", n, s->lag.total);
    if (rc == 0)
        rc = check_equal(err, "client delays = their histogram",
            s->c.client_delays, s->client_delay.total);
    return rc;
}

static int check_ops(const struct sb_snap *s, struct sb_err *err)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->nops; i++)
        rc = check_equal(err, "count of an operation = its histogram",
            s->op[i].count, s->op[i].hist.total);
    return rc;
}

static int check_found(const struct sb_snap *s, struct sb_err *err)
{
    for (unsigned i = 0; i < s->nops; i++) {
        const struct sb_snap_op *op = &s->op[i];

        if (op->hits + op->misses > op->count)
            return sb_err_set(err, SB_EINTERNAL,
                "accounting: hits + misses <= count of an operation does not "
                "hold: %" PRIu64 " + %" PRIu64 " and %" PRIu64,
                op->hits, op->misses, op->count);
    }
    return 0;
}

static int check_metrics(const struct sb_snap *s, struct sb_err *err)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->nmetrics; i++) {
        if (s->metric[i].kind == SB_METRIC_DISTRIBUTION)
            rc = check_equal(err, "count of a distribution = its histogram",
                s->metric[i].count, s->metric[i].hist.total);
    }
    return rc;
}

static int check_users(const struct sb_snap *s, struct sb_err *err)
{
    uint64_t events = 0, ns = 0;
    int rc;

    if (!s->user_events)
        return 0;
    for (unsigned i = 0; i < s->users; i++) {
        events += s->user_events[i];
        ns += s->user_ns[i];
    }
    rc = check_equal(err, "completed = sum over users", s->c.completed, events);
    if (rc == 0)
        rc = check_equal(
            err, "service time = sum over users", s->c.service_ns, ns);
    return rc;
}

static int check_workloads(
    const struct sb_snap *s, const struct sb_stats *stats, struct sb_err *err)
{
    uint64_t events = 0, failed = 0, restarts = 0;
    bool any = false;

    for (unsigned i = 0; s->op && i < s->nops; i++) {
        if (stats->op[i].kind != SB_OP_WORKLOAD)
            continue;
        any = true;
        events += s->op[i].count;
        failed += s->op[i].failed;
        restarts += s->op[i].restarts;
    }
    if (!any)
        return 0;
    int rc = check_equal(
        err, "completed = sum over workloads", s->c.completed, events);
    if (rc == 0)
        rc = check_equal(
            err, "failed = sum over workloads", s->c.failed, failed);
    if (rc == 0)
        rc = check_equal(
            err, "restarts = sum over workloads", s->c.restarts, restarts);
    return rc;
}

int sb_snap_check(const struct sb_snap *s, const struct sb_stats *stats,
    uint64_t pending, struct sb_err *err)
{
    int rc = check_events(s, pending, err);

    if (rc == 0)
        rc = check_errors(s, err);
    if (rc == 0)
        rc = check_hists(s, stats->open_loop, err);
    if (rc == 0)
        rc = check_ops(s, err);
    if (rc == 0)
        rc = check_found(s, err);
    if (rc == 0)
        rc = check_workloads(s, stats, err);
    if (rc == 0)
        rc = check_metrics(s, err);
    if (rc == 0)
        rc = check_users(s, err);
    return rc;
}

int sb_snap_check_printed(
    const struct sb_snap *s, bool open_loop, struct sb_err *err)
{
    int rc = check_equal(err, "completed = latencies", s->c.completed,
        open_loop ? s->response.total : s->service.total);

    if (rc == 0)
        rc = check_ops(s, err);
    if (rc == 0)
        rc = check_users(s, err);
    return rc;
}

void sb_report_fill(struct sb_report *r, const struct sb_snap *diff,
    unsigned threads, bool open_loop, double total_s)
{
    const struct sb_counters *c = &diff->c;

    *r = (struct sb_report){
        .interval_s = (double)diff->ns / 1e9,
        .total_s = total_s,
        .threads = threads,
        .running = diff->running,
        .open_loop = open_loop,
        .snap = diff,
        .queue = diff->queue,
        .concurrency = diff->unfinished,
        .latency = open_loop ? &diff->response : &diff->service,
        .lat_min = open_loop ? diff->response_min : diff->service_min,
        .lat_max = open_loop ? diff->response_max : diff->service_max,
        .lat_sum = open_loop ? c->response_ns : c->service_ns,
        .errors = c->err_ignored + c->err_restarted + c->err_givenup,
    };
    if (r->latency->total > 0)
        r->lat_avg = (double)r->lat_sum / (double)r->latency->total;
}

void sb_report_rank_open(
    struct sb_rank_figures *f, const struct sb_snap *s, double seconds)
{
    double n = (double)s->c.completed;

    if (n == 0 || seconds <= 0)
        return;
    f->lag = (double)s->c.lag_ns / n;
    f->service = (double)s->c.service_ns / n;
    // Arrivals, not events: a rank that cannot keep up has more load than
    // users.
    f->load = ((double)s->scheduled - (double)s->skipped) / seconds *
              f->service / 1e9;
}

double sb_report_percentile(const struct sb_report *r, double pct)
{
    return sb_hist_snap_percentile(r->latency, pct, r->lat_max);
}

void sb_report_mean(const uint64_t *v, unsigned n, double *mean, double *dev)
{
    double sum = 0, squares = 0;

    *mean = *dev = 0;
    if (n == 0)
        return;
    for (unsigned i = 0; i < n; i++)
        sum += (double)v[i];
    *mean = sum / n;
    for (unsigned i = 0; i < n; i++) {
        double d = (double)v[i] - *mean;

        squares += d * d;
    }
    *dev = sqrt(squares / n);
}
