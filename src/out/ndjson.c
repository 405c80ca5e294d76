// SPDX-License-Identifier: GPL-2.0-or-later
//
// --report=ndjson=FILE: one JSON object per line. The first one describes the
// run, then there is one for each interval; the last one has the totals.
#include <stdlib.h>

#include "out/assert.h"
#include "out/answers.h"
#include "out/costs.h"
#include "out/json_parts.h"
#include "out/target.h"

struct ndjson {
    struct sb_target target;
    bool begun; // the first line is written
    json_t *totals;
    double seconds;
    off_t last; // where the last line begins, if draft() has written it
};

static int ndjson_open(struct sb_reporter *r, struct sb_err *err)
{
    struct ndjson *n = calloc(1, sizeof(*n));

    r->data = n;
    if (!n)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return sb_target_open(
        &n->target, r->target, SB_TARGET_LINES | r->chosen, err);
}

// Writes an object with its kind first, and takes the reference.
static int write_line(
    struct ndjson *n, const char *kind, json_t *o, struct sb_err *err)
{
    FILE *out = n->target.file;

    if (!o)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    char *text = json_dumps(o, SB_JSON_FLAGS);
    json_decref(o);
    if (!text)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    fprintf(out, "{\"line\":\"%s\"%s%s\n", kind, text[1] == '}' ? "" : ",",
        text + 1);
    free(text);
    return sb_target_flush(&n->target, err);
}

static int ndjson_begin(struct sb_reporter *r, struct sb_err *err)
{
    struct ndjson *n = r->data;

    return sb_target_begin(&n->target, err);
}

static int write_first(struct sb_reporter *r, struct sb_err *err)
{
    struct ndjson *n = r->data;
    json_t *o;

    if (n->begun)
        return 0;
    n->begun = true;
    o = sb_json_facts(r->facts);
    if (o && (json_object_set_new(o, "program", sb_json_program(r->facts)) ||
                 json_object_set_new(
                     o, "version", json_integer(SB_RESULT_VERSION)))) {
        json_decref(o);
        o = NULL;
    }
    return write_line(n, "run", o, err);
}

static int ndjson_interval(struct sb_reporter *r,
    const struct sb_report *report, const struct sb_series *row,
    struct sb_err *err)
{
    int rc = write_first(r, err);

    (void)report;
    return rc ? rc : write_line(r->data, "interval", sb_json_row(row), err);
}

static int ndjson_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct ndjson *n = r->data;

    n->seconds = whole->total_s;
    n->totals = sb_json_totals(whole);
    return n->totals ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");
}

// Adds what may be large or missing. Takes the reference to last.
static json_t *with_more(json_t *last, const struct sb_facts *f)
{
    if ((!f->statements ||
            json_object_set(last, "statements", f->statements) == 0) &&
        (!f->answers || sb_answers_set(last, f->answers, f->headline)))
        return last;
    json_decref(last);
    return NULL;
}

// The totals, how the run ended, and the servers again: the first line lacks
// those that had not answered when it was written.
static json_t *last_line(struct sb_reporter *r, const struct sb_outcome *o)
{
    struct ndjson *n = r->data;
    const struct sb_asserts *limits = r->facts->limits;
    const struct sb_validity *validity = r->facts->validity;
    const struct sb_costs *costs = r->facts->costs;
    json_t *last = n->totals ? json_incref(n->totals) : json_object();

    if (json_object_set_new(last, "end", sb_json_outcome(o, n->seconds)) ||
        json_object_set_new(last, "databases", sb_json_databases(r->facts)) ||
        (r->facts->ntotals && json_object_set_new(last, "server_totals",
                                  sb_json_server_totals(r->facts))) ||
        (r->facts->nplans &&
            json_object_set_new(last, "plans", sb_json_plans(r->facts))) ||
        (r->facts->nwaits &&
            json_object_set_new(last, "waits", sb_json_waits(r->facts))) ||
        (limits && limits->n &&
            json_object_set_new(last, "limits", sb_json_limits(limits))) ||
        (costs && sb_costs_known(costs) &&
            json_object_set_new(last, "costs", sb_costs_json(costs))) ||
        (r->facts->until && json_object_set_new(last, "until",
                                sb_until_json(r->facts->until))) ||
        (validity && json_object_set_new(
                         last, "validity", sb_validity_json(validity)))) {
        json_decref(last);
        return NULL;
    }
    return with_more(last, r->facts);
}

static int ndjson_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct ndjson *n = r->data;
    int rc = write_first(r, err);

    if (rc == 0 && r->drafted)
        rc = sb_target_cut(&n->target, n->last, err);
    if (rc == 0)
        rc = write_line(n, "end", last_line(r, o), err);
    return rc ? rc : sb_target_commit(&n->target, err);
}

static int ndjson_draft(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct ndjson *n = r->data;
    int rc = write_first(r, err);

    n->last = ftello(n->target.file);
    // What is in a pipe cannot be taken back.
    r->drafted = n->target.own && n->last >= 0;
    if (rc == 0 && r->drafted)
        rc = write_line(n, "end", last_line(r, o), err);
    // finish() may have nothing to do.
    return rc ? rc : sb_target_check(&n->target, err);
}

static void ndjson_done(struct sb_reporter *r)
{
    struct ndjson *n = r->data;

    if (!n)
        return;
    sb_target_done(&n->target);
    json_decref(n->totals);
    free(n);
}

const struct sb_reporter_kind sb__ndjson_kind = {
    .name = "ndjson",
    .target = "FILE",
    .form = SB_REPORT_LINES,
    .open = ndjson_open,
    .begin = ndjson_begin,
    .interval = ndjson_interval,
    .final = ndjson_final,
    .draft = ndjson_draft,
    .finish = ndjson_finish,
    .done = ndjson_done,
};
