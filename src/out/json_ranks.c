// SPDX-License-Identifier: GPL-2.0-or-later
//
// The ranks of a run in a result file.
#include "out/division.h"
#include "out/json_private.h"

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
    json_t *o = json_object();
    bool ok = sb__json_set(o, "rank", sb_json_count(number)) &&
              sb__json_set(o, "host", sb_json_text(f->host)) &&
              sb__json_set(o, "lost", json_boolean(f->lost)) &&
              sb__json_set(o, "threads", sb_json_count(f->users)) &&
              sb__json_set(o, "events", sb_json_count(f->events)) &&
              sb__json_set(o, "failed_events", sb_json_count(f->failed)) &&
              sb__json_set(o, "latency", f->lost ? json_null() : latency(f)) &&
              sb__json_set(o, "cpu_seconds", sb_json_number(f->cpu_s)) &&
              sb__json_set(o, "processors", sb_json_count(f->processors)) &&
              sb__json_set(o, "clock_offset", ms((double)f->offset_ns)) &&
              sb__json_set(o, "clock_error", ms((double)f->error_ns));

    return sb__json_complete(o, ok);
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
    json_t *o = json_object();
    bool ok = sb__json_set(o, "load", sb_json_number(d.load)) &&
              sb__json_set(o, "wait", ms(d.wait)) &&
              sb__json_set(o, "wait_undivided", ms(d.wait_undivided)) &&
              sb__json_set(o, "cost", ms(d.cost));

    return sb__json_complete(o, ok);
}

bool sb__json_set_ranks(json_t *o, const struct sb_report *whole)
{
    // The division is that of a whole run, not of stages.
    unsigned n = whole->nstages ? 0 : whole->nranks;

    return sb__json_set(o, "ranks", ranks(whole)) &&
           sb__json_set(o, "ranks_reported", reported(whole)) &&
           sb__json_set(o, "division", sb_json_division(whole->ranks, n));
}
