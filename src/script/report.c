// SPDX-License-Identifier: GPL-2.0-or-later
//
// Report hooks: they run in a separate state and get a table of figures.
// Latencies are in seconds.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "script/script_private.h"

bool sb_script_has_report_hook(const struct sb_script *s, bool final)
{
    return final ? s->report_final : s->report_interval;
}

static int report_state(struct sb_script *s, struct sb_err *err)
{
    int rc;

    if (s->report)
        return 0;
    rc = sb__state_new(
        &s->report, s, NULL, (unsigned)s->env.run->threads, false, err);
    if (rc)
        return rc;
    rc = sb__state_body(s->report, err);
    if (rc) {
        sb__state_free(s->report);
        s->report = NULL;
    }
    return rc;
}

// NaN is unknown: nil.
static void add_number(lua_State *L, const char *name, double value)
{
    if (isnan(value))
        lua_pushnil(L);
    else
        lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void push_text(lua_State *L, const char *name, const char *value)
{
    lua_pushstring(L, value); // nil for NULL
    lua_setfield(L, -2, name);
}

// Pushes the figures of a metric.
static void push_metric(lua_State *L, const struct sb_script *s,
    const struct sb_metric *def, const struct sb_snap_metric *m)
{
    static const char *const kinds[] = { [SB_METRIC_COUNTER] = "counter",
        [SB_METRIC_GAUGE] = "gauge",
        [SB_METRIC_DISTRIBUTION] = "distribution",
        [SB_METRIC_REST] = "counter" };

    assert(m->kind < sizeof(kinds) / sizeof(kinds[0]));
    lua_createtable(L, 0, 8);
    push_text(L, "kind", kinds[m->kind]);
    push_text(L, "unit", def->unit);
    if (m->kind != SB_METRIC_DISTRIBUTION) {
        add_number(L, m->kind == SB_METRIC_GAUGE ? "value" : "sum", m->value);
        return;
    }
    add_number(L, "sum", m->value);
    add_number(L, "count", (double)m->count);
    add_number(L, "avg", m->count ? m->value / (double)m->count : 0);
    add_number(L, "min", m->min);
    add_number(L, "max", m->max);
    if (s->env.npercentiles)
        add_number(
            L, "pct", sb_snap_metric_percentile(m, s->env.percentiles[0]));
}

// The name that the script gave to a metric. A component of a mix has only its
// own: NULL for those of others.
static const char *own_name(const struct sb_script *s, const char *name)
{
    size_t len = s->env.component ? strlen(s->env.component) : 0;

    if (!s->env.component)
        return name;
    return strncmp(name, s->env.component, len) == 0 && name[len] == '/'
               ? name + len + 1
               : NULL;
}

// Adds the table of metrics by name to the table on the stack.
static void add_metrics(
    lua_State *L, const struct sb_script *s, const struct sb_report *r)
{
    const struct sb_snap *d = r->snap;

    lua_createtable(L, 0, (int)d->nmetrics);
    for (unsigned i = 0; r->stats && i < d->nmetrics; i++) {
        const struct sb_metric *def = &r->stats->metrics.metric[i];
        const char *name = own_name(s, def->name);

        if (!name)
            continue;
        push_metric(L, s, def, &d->metric[i]);
        lua_setfield(L, -2, name);
    }
    lua_setfield(L, -2, "metrics");
}

// stat.operations[name].percentile(rank): valid while the hook runs. Upvalues:
// the script, the number of the operation.
static int op_percentile(lua_State *L)
{
    const struct sb_script *s = lua_touserdata(L, lua_upvalueindex(1));
    size_t i = (size_t)lua_tointeger(L, lua_upvalueindex(2));
    double rank = luaL_checknumber(L, 1);
    const struct sb_snap_op *op;

    if (!s->reported || !s->reported->snap->op || i >= s->reported->snap->nops)
        return luaL_error(L, "percentile() was called outside of the hook");
    if (!(rank >= 0 && rank <= 100))
        return luaL_error(L, "the rank of a percentile must be from 0 to 100");
    op = &s->reported->snap->op[i];
    lua_pushnumber(L, sb_hist_snap_percentile(&op->hist, rank, op->max) / 1e9);
    return 1;
}

static void push_op(
    lua_State *L, struct sb_script *s, const struct sb_snap_op *op, size_t i)
{
    lua_createtable(L, 0, 8);
    add_number(L, "count", (double)op->count);
    add_number(L, "errors", (double)op->errors);
    add_number(L, "sum", (double)op->ns / 1e9);
    add_number(
        L, "avg", op->count ? (double)op->ns / (double)op->count / 1e9 : 0);
    add_number(L, "min", (double)op->min / 1e9);
    add_number(L, "max", (double)op->max / 1e9);
    lua_pushlightuserdata(L, s);
    lua_pushinteger(L, (lua_Integer)i);
    lua_pushcclosure(L, op_percentile, 2);
    lua_setfield(L, -2, "percentile");
}

// Adds the table of operations by name, which is nil if the report has none.
static void add_operations(
    lua_State *L, struct sb_script *s, const struct sb_report *r)
{
    const struct sb_snap *d = r->snap;

    if (!d->op || !r->stats)
        return;
    lua_createtable(L, 0, (int)d->nops);
    for (size_t i = 0; i < d->nops; i++) {
        const char *name = own_name(s, r->stats->op[i].name);

        if (!name || (d->op[i].count == 0 && d->op[i].errors == 0))
            continue;
        push_op(L, s, &d->op[i], i);
        lua_setfield(L, -2, name);
    }
    lua_setfield(L, -2, "operations");
}

// Times of answers that waited for their users; nil without event loops.
static void add_client_delay(lua_State *L, const struct sb_snap *s)
{
    uint64_t n = s->c.client_delays;

    if (!s->has_client_delay)
        return;
    add_number(L, "client_delay_avg",
        n ? (double)s->c.client_delay_ns / (double)n / 1e9 : 0);
    add_number(L, "client_delay_max", (double)s->client_delay_max / 1e9);
}

static void push_stat(
    lua_State *L, struct sb_script *s, const struct sb_report *r)
{
    const struct sb_counters *c = &r->snap->c;
    double pct = s->env.npercentiles
                     ? sb_report_percentile(r, s->env.percentiles[0])
                     : 0;

    lua_createtable(L, 0, 25);
    // No user is running at the time of the final report.
    add_number(L, "threads_running", r->final ? r->threads : r->running);
    add_number(L, "time_interval", r->interval_s);
    add_number(L, "time_total", r->total_s);
    add_number(L, "latency_pct", pct / 1e9);
    if (s->env.npercentiles)
        add_number(L, "latency_pct_rank", s->env.percentiles[0]);
    add_number(L, "events", (double)c->completed);
    add_number(L, "reads", (double)c->reads);
    add_number(L, "writes", (double)c->writes);
    add_number(L, "other", (double)c->others);
    add_number(L, "failed", (double)c->failed);
    add_number(L, "errors", (double)r->errors);
    add_number(L, "reconnects", (double)c->reconnects);
    add_number(L, "bytes_read", (double)c->bytes_read);
    add_number(L, "bytes_written", (double)c->bytes_written);
    add_number(L, "queue_length", (double)r->queue);
    add_number(L, "concurrency", (double)r->concurrency);
    add_number(L, "latency_min", (double)r->lat_min / 1e9);
    add_number(L, "latency_max", (double)r->lat_max / 1e9);
    add_number(L, "latency_avg", r->lat_avg / 1e9);
    add_number(L, "latency_sum", (double)r->lat_sum / 1e9);
    add_client_delay(L, r->snap);
    push_text(L, "failure", r->failure);
    // Hooks for 1.0 concatenate every value that pairs() finds: it must not
    // find these tables.
    lua_createtable(L, 0, 1);
    lua_createtable(L, 0, 2);
    add_metrics(L, s, r);
    add_operations(L, s, r);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

// Pushes sysbench.hooks[name].
static void push_hook(lua_State *L, const char *name)
{
    lua_getglobal(L, "sysbench");
    lua_getfield(L, -1, "hooks");
    lua_getfield(L, -1, name);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

int sb_script_before_final(struct sb_script *s, struct sb_err *err)
{
    int rc;

    if (!s->report)
        return 0;
    rc = sb__state_module(s->report, "report", "before_final", err);
    if (rc)
        return rc;
    push_hook(s->report->L, "report_cumulative");
    return sb__state_call(s->report, "report_cumulative", 1, 0, err);
}

bool sb_script_stops(const struct sb_script *s)
{
    return s->ends;
}

// Frees the state of the report hooks after a hook has called os.exit(), or
// because the rest of the program needs the memory that a hook has used up.
static void drop_report_state(struct sb_script *s)
{
    sb__state_free(s->report);
    s->report = NULL;
    s->report_interval = s->report_final = s->report_line = false;
}

static int call_hook(struct sb_script *s, const struct sb_report *r,
    const char *hook, int nresults, struct sb_err *err)
{
    int rc = report_state(s, err);

    if (rc)
        return rc;
    assert(!s->reported); // a hook makes no reports
    s->reported = r;
    s->answering = r->final && r->whole; // not of a checkpoint
    push_hook(s->report->L, hook);
    push_stat(s->report->L, s, r);
    lua_pushboolean(s->report->L, r->final);
    rc = sb__state_call(s->report, hook, 2, nresults, err);
    s->reported = NULL;
    s->answering = false;
    if (rc == SB_ENOMEM || s->ends)
        drop_report_state(s);
    return rc;
}

int sb_script_report(
    struct sb_script *s, const struct sb_report *r, struct sb_err *err)
{
    const char *hook = r->final ? "report_cumulative" : "report_intermediate";
    int rc = call_hook(s, r, hook, 0, err);

    fflush(stdout);
    return rc;
}

int sb_script_report_line(struct sb_script *s, const struct sb_report *r,
    char **line, struct sb_err *err)
{
    int rc;

    *line = NULL;
    if (!s->report_line)
        return 0;
    rc = call_hook(s, r, "report_line", 1, err);
    if (rc)
        return rc;
    const char *text = lua_tostring(s->report->L, -1);
    *line = text ? strdup(text) : NULL;
    lua_pop(s->report->L, 1);
    return text && !*line ? sb_err_set(err, SB_ENOMEM, "out of memory") : 0;
}
