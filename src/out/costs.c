// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/costs.h"

#include <math.h>
#include <string.h>

#include "out/json_value.h"

static const struct {
    const char *name, *unit, *text;
} figures[SB_COSTS] = {
    [SB_COST_CPU] = { "cpu_us", "us", "processor time, us" },
    [SB_COST_SYSTEM] = { "cpu_system_us", "us", "  in the kernel, us" },
    [SB_COST_SWITCHES] = { "context_switches", "", "context switches" },
    [SB_COST_STORAGE_READ] = { "storage_read_kb", "KB",
        "read from storage, KB" },
    [SB_COST_STORAGE_WRITTEN] = { "storage_written_kb", "KB",
        "written to storage, KB" },
    [SB_COST_READ] = { "read_kb", "KB", "pages read, KB" },
    [SB_COST_WRITTEN] = { "written_kb", "KB", "pages written, KB" },
    [SB_COST_LOG_BYTES] = { "log_bytes", "bytes", "log, bytes" },
    [SB_COST_LOG_FLUSHES] = { "log_flushes", "", "flushes of the log" },
    [SB_COST_FSYNCS] = { "fsyncs", "", "flushes of all files" },
    [SB_COST_ROWS] = { "rows_examined", "", "rows examined" },
    [SB_COST_ENERGY] = { "energy_j", "J", "energy, J" },
};

const char *sb_cost_name(enum sb_cost_id id)
{
    return figures[id].name;
}

const char *sb_cost_unit(enum sb_cost_id id)
{
    return figures[id].unit;
}

enum sb_cost_id sb_cost_named(const char *name, size_t len)
{
    int i = 0;

    while (i < SB_COSTS && (strlen(figures[i].name) != len ||
                               memcmp(figures[i].name, name, len) != 0))
        i++;
    return (enum sb_cost_id)i;
}

void sb_costs_init(struct sb_costs *c, const char *why)
{
    *c = (struct sb_costs){ 0 };
    for (int i = 0; i < SB_COSTS; i++)
        sb_costs_miss(c, (enum sb_cost_id)i, why);
}

void sb_costs_set(
    struct sb_costs *c, enum sb_cost_id id, double total, const char *source)
{
    struct sb_cost *f = &c->cost[id];

    *f = (struct sb_cost){
        .total = total, .events = c->events, .queries = c->queries
    };
    snprintf(f->source, sizeof(f->source), "%s", source);
}

void sb_costs_miss(struct sb_costs *c, enum sb_cost_id id, const char *why)
{
    struct sb_cost *f = &c->cost[id];

    *f = (struct sb_cost){ .total = NAN };
    snprintf(f->why, sizeof(f->why), "%s", why);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

double sb_cost_per_event(const struct sb_costs *c, enum sb_cost_id id)
{
    return ratio(c->cost[id].total, c->cost[id].events);
}

double sb_cost_per_query(const struct sb_costs *c, enum sb_cost_id id)
{
    return ratio(c->cost[id].total, c->cost[id].queries);
}

double sb_costs_usd(const struct sb_costs *c)
{
    if (!(c->price > 0))
        return NAN;
    return ratio(c->price / 3600 * c->seconds * 1e6, c->events);
}

double sb_costs_watts(const struct sb_costs *c)
{
    return ratio(c->cost[SB_COST_ENERGY].total, c->seconds);
}

bool sb_costs_known(const struct sb_costs *c)
{
    bool known = isfinite(sb_costs_usd(c));

    for (int i = 0; i < SB_COSTS; i++)
        known = known || isfinite(c->cost[i].total);
    return known;
}

// Text ------------------------------------------------------------------------

static bool same_reason(const struct sb_costs *c, int a, int b)
{
    return isnan(c->cost[b].total) &&
           strcmp(c->cost[a].why, c->cost[b].why) == 0;
}

// The figures that are unknown for the same reason share a line.
static void print_missing(const struct sb_costs *c, FILE *out)
{
    for (int i = 0; i < SB_COSTS; i++) {
        bool first = true;

        for (int k = 0; k < i && first; k++)
            first = !same_reason(c, i, k);
        if (isfinite(c->cost[i].total) || !first)
            continue;
        fprintf(out, "    unknown: %s", figures[i].name);
        for (int k = i + 1; k < SB_COSTS; k++) {
            if (same_reason(c, i, k))
                fprintf(out, ", %s", figures[k].name);
        }
        fprintf(out, ": %s\n", c->cost[i].why);
    }
}

void sb_costs_text(const struct sb_costs *c, FILE *out)
{
    char a[32], b[32];

    fprintf(out, "%-30s%14s%14s  %s\n", "Costs:", "per event", "per query",
        "source");
    for (int i = 0; i < SB_COSTS; i++) {
        enum sb_cost_id id = (enum sb_cost_id)i;

        if (isfinite(c->cost[i].total))
            fprintf(out, "    %-26s%14s%14s  %s\n", figures[i].text,
                sb_number_text(a, sizeof(a), sb_cost_per_event(c, id)),
                sb_number_text(b, sizeof(b), sb_cost_per_query(c, id)),
                c->cost[i].source);
    }
    print_missing(c, out);
    if (isfinite(sb_costs_watts(c)))
        fprintf(out, "    %-26s%14s\n", "power, W",
            sb_number_text(a, sizeof(a), sb_costs_watts(c)));
    if (c->price > 0)
        fprintf(out, "    %-26s%14s%14s  %g USD per hour\n",
            "million events, USD",
            sb_number_text(a, sizeof(a), sb_costs_usd(c)), "", c->price);
    fputc('\n', out);
}

// JSON ------------------------------------------------------------------------

static json_t *cost_json(const struct sb_costs *c, enum sb_cost_id id)
{
    const struct sb_cost *f = &c->cost[id];
    json_t *o = json_object();
    bool ok = sb__json_set_text(o, "name", figures[id].name) &&
              sb__json_set_text(o, "unit", figures[id].unit) &&
              sb__json_set(
                  o, "per_event", sb_json_number(sb_cost_per_event(c, id))) &&
              sb__json_set(
                  o, "per_query", sb_json_number(sb_cost_per_query(c, id))) &&
              sb__json_set(o, "total", sb_json_number(f->total));

    if (isfinite(f->total))
        ok = ok && sb__json_set(o, "events", sb_json_number(f->events)) &&
             sb__json_set(o, "queries", sb_json_number(f->queries)) &&
             sb__json_set_text(o, "source", f->source);
    else
        ok = ok && sb__json_set_text(o, "why", f->why);
    return sb__json_complete(o, ok);
}

json_t *sb_costs_json(const struct sb_costs *c)
{
    json_t *o = json_object(), *list = json_array();
    bool ok = sb__json_set(o, "seconds", sb_json_number(c->seconds)) &&
              sb__json_set(o, "events", sb_json_number(c->events)) &&
              sb__json_set(o, "queries", sb_json_number(c->queries));

    if (c->price > 0)
        ok = ok && sb__json_set(o, "price", sb_json_number(c->price)) &&
             sb__json_set(o, SB_COSTS_USD, sb_json_number(sb_costs_usd(c)));
    if (isfinite(sb_costs_watts(c)))
        ok = ok && sb__json_set(o, "watts", sb_json_number(sb_costs_watts(c)));
    for (int i = 0; i < SB_COSTS; i++)
        ok = ok && sb__json_append(list, cost_json(c, (enum sb_cost_id)i));
    ok = sb__json_set(o, "figures", list) && ok;
    return sb__json_complete(o, ok);
}

double sb_costs_member(const json_t *json, const char *name)
{
    const json_t *list = json_object_get(json, "figures");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);

        if (strcmp(sb__json_text_of(o, "name"), name) == 0)
            return sb__json_number_of(o, "per_event");
    }
    return strcmp(name, SB_COSTS_USD) == 0 ? sb__json_number_of(json, name)
                                           : NAN;
}

void sb_costs_read(struct sb_costs *c, const json_t *json)
{
    const json_t *list = json_object_get(json, "figures");

    sb_costs_init(c, "the result file does not have it");
    c->seconds = sb__json_number_of(json, "seconds");
    c->events = sb__json_number_of(json, "events");
    c->queries = sb__json_number_of(json, "queries");
    c->price = sb__json_number_of(json, "price");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *name = sb__json_text_of(o, "name");
        enum sb_cost_id id = sb_cost_named(name, strlen(name));

        if (id == SB_COSTS)
            continue;
        if (!isfinite(sb__json_number_of(o, "total"))) {
            sb_costs_miss(c, id, sb__json_text_of(o, "why"));
            continue;
        }
        sb_costs_set(c, id, sb__json_number_of(o, "total"),
            sb__json_text_of(o, "source"));
        c->cost[id].events = sb__json_number_of(o, "events");
        c->cost[id].queries = sb__json_number_of(o, "queries");
    }
}
