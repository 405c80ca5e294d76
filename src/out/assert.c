// SPDX-License-Identifier: GPL-2.0-or-later
//
// Checks the limits of --assert against reports, and prints them.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/near.h"
#include "out/assert_private.h"

// What a figure is computed from: all events, or operations.
struct source {
    const struct sb_hist_snap *times; // NULL: not measured
    uint64_t min, sum, max;           // ns
    uint64_t count, queries, errors, rows;
    double seconds;
    const struct sb_report *r; // NULL for operations
    struct sb_hist_snap merged;
};

static void no_value(struct sb_verdict *v, const char *why)
{
    v->known = v->passed = false;
    v->value = NAN;
    snprintf(v->why, sizeof(v->why), "%s", why);
}

// Sources ---------------------------------------------------------------------

static void of_events(struct source *s, const struct sb_report *r)
{
    const struct sb_counters *c = &r->snap->c;

    *s = (struct source){
        .times = r->latency,
        .min = r->lat_min,
        .sum = r->lat_sum,
        .max = r->lat_max,
        .count = c->completed,
        .queries = c->reads + c->writes + c->others,
        .errors = r->errors + c->err_fatal,
        .seconds = r->interval_s,
        .r = r,
    };
}

static void of_times(
    struct source *s, const struct sb_report *r, enum sb_assert_of of)
{
    const struct sb_snap *n = r->snap;

    of_events(s, r);
    if (of == SB_ASSERT_SERVICE) {
        s->times = &n->service;
        s->min = n->service_min;
        s->sum = n->c.service_ns;
        s->max = n->service_max;
    } else if (of == SB_ASSERT_DELAY) {
        s->times = n->has_client_delay ? &n->client_delay : NULL;
        s->min = n->client_delay_min;
        s->sum = n->c.client_delay_ns;
        s->max = n->client_delay_max;
    } else if (!r->open_loop) {
        s->times = NULL;
    } else if (of == SB_ASSERT_RESPONSE) {
        s->times = &n->response;
        s->min = n->response_min;
        s->sum = n->c.response_ns;
        s->max = n->response_max;
    } else {
        s->times = &n->lag;
        s->min = n->lag_min;
        s->sum = n->c.lag_ns;
        s->max = n->lag_max;
    }
}

static int add_op(struct source *s, const struct sb_snap_op *op)
{
    s->count += op->count;
    s->errors += op->errors;
    s->rows += op->rows;
    if (op->count == 0)
        return 0;
    s->min = s->sum == 0 && s->max == 0 ? op->min
             : op->min < s->min         ? op->min
                                        : s->min;
    s->max = op->max > s->max ? op->max : s->max;
    s->sum += op->ns;
    return sb_hist_snap_add(&s->merged, &op->hist);
}

// True if the name is that of a kind of operations, and this is one of them.
static bool is_kind(const char *name, enum sb_op_kind kind)
{
    switch (kind) {
    case SB_OP_READ:
        return strcmp(name, "read") == 0;
    case SB_OP_WRITE:
    case SB_OP_CHANGE:
        return strcmp(name, "write") == 0;
    case SB_OP_OTHER:
        return strcmp(name, "other") == 0;
    case SB_OP_CUSTOM:
    case SB_OP_WORKLOAD:
        break;
    }
    return false;
}

static const struct sb_op *op_at(const struct sb_report *r, unsigned i)
{
    return &r->stats->op[i];
}

static void unknown_op(
    const char *name, const struct sb_report *r, struct sb_verdict *v)
{
    struct sb_near near;
    char why[sizeof(v->why)];

    sb_near_init(&near, name);
    for (unsigned i = 0; i < r->snap->nops; i++)
        sb_near_try(&near, op_at(r, i)->name);
    if (near.best)
        snprintf(why, sizeof(why),
            "no operation has this name (did you mean %.100s?)", near.best);
    else
        snprintf(why, sizeof(why), "no operation has this name");
    no_value(v, why);
}

// The operation with this name, or all operations of the kind. If they do not
// exist, returns false with the reason in *v.
static bool of_op(struct source *s, const char *name, const struct sb_report *r,
    struct sb_verdict *v)
{
    unsigned found = 0, nops = r->stats && r->snap->op ? r->snap->nops : 0;
    int rc = 0;

    *s = (struct source){ .seconds = r->interval_s };
    s->times = &s->merged;
    for (unsigned i = 0; i < nops && !found; i++)
        if (strcmp(op_at(r, i)->name, name) == 0) {
            found++;
            rc = add_op(s, &r->snap->op[i]);
        }
    if (found == 0)
        for (unsigned i = 0; rc == 0 && i < nops; i++)
            if (is_kind(name, op_at(r, i)->kind)) {
                found++;
                rc = add_op(s, &r->snap->op[i]);
            }
    s->queries = s->count;
    if (rc)
        no_value(v, "out of memory");
    else if (nops == 0)
        no_value(v, "there are no operations");
    else if (found == 0)
        unknown_op(name, r, v);
    return rc == 0 && found > 0;
}

// Figures ---------------------------------------------------------------------

// A time in milliseconds; the source has times.
static double time_of(const struct sb_limit *l, const struct source *s)
{
    assert(s->times && s->times->total > 0);
    switch (l->figure->id) {
    case SB__FIGURE_MIN:
        return (double)s->min / 1e6;
    case SB__FIGURE_AVG:
        return (double)s->sum / (double)s->times->total / 1e6;
    case SB__FIGURE_MAX:
        return (double)s->max / 1e6;
    default:
        return sb_hist_snap_percentile(s->times, l->pct, s->max) / 1e6;
    }
}

static double failed_pct(const struct sb_counters *c)
{
    double failed = (double)sb_counters_failed(c);
    double all = failed + (double)c->completed;

    return all > 0 ? 100 * failed / all : NAN;
}

static double figure_of(const struct sb_limit *l, const struct source *s)
{
    switch (l->figure->id) {
    case SB__FIGURE_RATE:
        return s->seconds > 0 ? (double)s->count / s->seconds : NAN;
    case SB__FIGURE_QUERIES:
        return s->seconds > 0 ? (double)s->queries / s->seconds : NAN;
    case SB__FIGURE_EVENTS:
        return (double)s->count;
    case SB__FIGURE_ERRORS:
        return (double)s->errors;
    case SB__FIGURE_FAILED:
        return (double)sb_counters_failed(&s->r->snap->c);
    case SB__FIGURE_FAILED_PCT:
        return failed_pct(&s->r->snap->c);
    case SB__FIGURE_RESTARTS:
        return (double)s->r->snap->c.restarts;
    case SB__FIGURE_RECONNECTS:
        return (double)s->r->snap->c.reconnects;
    case SB__FIGURE_QUEUE:
        return (double)s->r->queue;
    case SB__FIGURE_ROWS:
        return (double)s->rows;
    default:
        return time_of(l, s);
    }
}

static bool holds(const struct sb_limit *l, double value)
{
    switch (l->cmp) {
    case SB_ASSERT_LT:
        return value < l->value;
    case SB_ASSERT_LE:
        return value <= l->value;
    case SB_ASSERT_GT:
        return value > l->value;
    case SB_ASSERT_GE:
        return value >= l->value;
    case SB_ASSERT_EQ:
        return value == l->value;
    case SB_ASSERT_NE:
        return value != l->value;
    }
    return false;
}

// Why there are no times: they are not measured, or there was nothing.
static const char *no_times(const struct sb_limit *l, const struct source *s)
{
    if (l->of == SB_ASSERT_DELAY)
        return s->times ? "no user waited for an answer"
                        : "it is only known if users share workers";
    if (!s->times)
        return "it is only measured with --rate";
    return s->r ? "no event was completed" : "it was not executed";
}

static void judge_limit(
    const struct sb_limit *l, const struct source *s, struct sb_verdict *v)
{
    bool time = l->figure->unit == SB_ASSERT_MS;

    assert(s->r || l->figure->of_op); // see read_left()
    if (time && (!s->times || s->times->total == 0)) {
        no_value(v, no_times(l, s));
    } else {
        v->value = figure_of(l, s);
        v->known = isfinite(v->value);
        v->passed = v->known && holds(l, v->value);
        if (!v->known)
            no_value(v, "there were no events");
    }
}

void sb_assert_check(
    const struct sb_limit *l, const struct sb_report *r, struct sb_verdict *v)
{
    struct source s;

    *v = (struct sb_verdict){ 0 };
    if (l->of == SB_ASSERT_OP) {
        if (of_op(&s, l->name, r, v))
            judge_limit(l, &s, v);
        sb_hist_snap_done(&s.merged);
        return;
    }
    if (l->of == SB_ASSERT_EVENTS)
        of_events(&s, r);
    else
        of_times(&s, r, l->of);
    judge_limit(l, &s, v);
}

// The course of a run ---------------------------------------------------------

bool sb_asserts_abort(const struct sb_asserts *a)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->limit[i].abort)
            return true;
    return false;
}

bool sb_asserts_need_operations(const struct sb_asserts *a)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->limit[i].abort && a->limit[i].of == SB_ASSERT_OP)
            return true;
    return false;
}

// Returns true if the limit is exceeded for long enough, by the value in *v.
// An interval without a value neither begins nor ends such a time.
static bool exceeded(
    struct sb_limit *l, const struct sb_report *r, struct sb_verdict *v)
{
    sb_assert_check(l, r, v);
    if (v->known && l->figure->sum) {
        v->value = l->sum += v->value;
        v->passed = holds(l, v->value);
        // Below the required number now, but it may be reached.
        if (l->cmp == SB_ASSERT_EQ && v->value < l->value)
            v->passed = true;
    }
    if (v->known && v->passed)
        l->since = -1;
    else if (v->known && l->since < 0)
        l->since = fmax(r->total_s - r->interval_s, 0);
    return v->known && !v->passed && r->total_s - l->since >= l->after;
}

bool sb_asserts_interval(struct sb_asserts *a, const struct sb_report *r)
{
    assert(!a->done);
    // The rest of a run is too short to judge it.
    if (r->warmup || r->partial)
        return false;
    for (unsigned i = 0; i < a->n && !a->by; i++) {
        struct sb_limit *l = &a->limit[i];
        char value[64];

        if (!l->abort || !exceeded(l, r, &l->verdict))
            continue;
        a->by = l;
        snprintf(a->why, sizeof(a->why),
            "the limit %.150s was not kept after %.4g s: %s", l->text,
            r->total_s, sb_assert_value(l, value, sizeof(value)));
    }
    return a->by != NULL;
}

void sb_asserts_final(struct sb_asserts *a, const struct sb_report *whole)
{
    assert(!a->done); // it would forget which interval has failed
    for (unsigned i = 0; i < a->n; i++) {
        struct sb_limit *l = &a->limit[i];
        struct sb_verdict v;

        sb_assert_check(l, whole, &v);
        // The interval that ended the run failed, even if the whole run passes.
        if (l != a->by || !v.passed)
            l->verdict = v;
    }
    a->done = true;
}

unsigned sb_asserts_failed(const struct sb_asserts *a)
{
    unsigned failed = 0;

    for (unsigned i = 0; i < a->n; i++)
        failed += !a->done || !a->limit[i].verdict.passed;
    return failed;
}
