// SPDX-License-Identifier: GPL-2.0-or-later
//
// The totals of each stage of --stages in a result file.
#include "out/json_private.h"

static json_t *range(double from, double to)
{
    json_t *a = json_array();
    bool ok = json_array_append_new(a, sb_json_number(from)) == 0 &&
              json_array_append_new(a, sb_json_number(to)) == 0;

    return sb__json_complete(a, ok);
}

static json_t *workload(
    const struct sb_report *r, const struct sb_snap_op *op, const char *name)
{
    json_t *o = json_object();
    bool ok = sb__json_set(o, "name", sb_json_text(name)) &&
              sb__json_set(o, "errors", sb_json_count(op->errors)) &&
              sb__json_set(o, "failed", sb_json_count(op->failed)) &&
              sb__json_set(o, "restarts", sb_json_count(op->restarts)) &&
              sb__json_set(o, "latency",
                  sb_json_latency(sb__json_latency_kind(r), &op->hist, op->min,
                      op->ns, op->max));

    return sb__json_complete(o, ok);
}

// The workloads of a mix that did something in the stage.
static json_t *workloads(const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && s->op && r->stats && i < s->nops; i++) {
        const struct sb_op *op = &r->stats->op[i];

        if (op->kind == SB_OP_WORKLOAD && sb_snap_op_occurred(&s->op[i]))
            ok = json_array_append_new(a, workload(r, &s->op[i], op->name)) ==
                 0;
    }
    return sb__json_complete(a, ok);
}

static json_t *stage(const struct sb_report *r)
{
    json_t *o = json_object();
    bool mix = r->stage_mix && r->stage_mix[0];
    bool ok = sb__json_set(o, "name", sb_json_text(r->stage_name)) &&
              sb__json_set(
                  o, "start", sb_json_number(r->total_s - r->interval_s)) &&
              sb__json_set(o, "seconds", sb_json_number(r->interval_s)) &&
              sb__json_set(
                  o, "threads", range(r->stage_users[0], r->stage_users[1])) &&
              sb__json_set(o, "rate",
                  r->open_loop ? range(r->stage_rate[0], r->stage_rate[1])
                               : json_null()) &&
              (!mix || sb__json_set(o, "mix", sb_json_text(r->stage_mix))) &&
              sb__json_set(o, "counters", sb__json_counters(r)) &&
              sb__json_set(o, "latency",
                  sb_json_latency(sb__json_latency_kind(r), r->latency,
                      r->lat_min, r->lat_sum, r->lat_max)) &&
              (!mix || sb__json_set(o, "workloads", workloads(r)));

    return sb__json_complete(o, ok);
}

json_t *sb__json_stages(const struct sb_report *whole)
{
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && i < whole->nstages; i++)
        ok = json_array_append_new(a, stage(&whole->stages[i])) == 0;
    return sb__json_complete(a, ok);
}
