// SPDX-License-Identifier: GPL-2.0-or-later
//
// --report=json=FILE: the result file. Rows of intervals are kept in spools;
// the document is written when the run has ended.
#include <stdlib.h>

#include "out/json_document.h"
#include "out/json_parts.h"
#include "out/spool.h"
#include "out/target.h"

struct json {
    struct sb_target target;
    struct sb_spool rows, heat;
    struct sb_buf line;
    json_t *totals, *columns;
    double seconds;
};

static int json_open(struct sb_reporter *r, struct sb_err *err)
{
    struct json *j = calloc(1, sizeof(*j));
    char dir[4096];
    int rc;

    r->data = j;
    if (!j)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    sb_buf_init(&j->line, 0);
    sb_target_folder(r->target, dir, sizeof(dir));
    rc = sb_target_open(&j->target, r->target, SB_TARGET_WHOLE, err);
    if (rc == 0)
        rc = sb_spool_open(&j->rows, dir, err);
    return rc ? rc : sb_spool_open(&j->heat, dir, err);
}

static int json_interval(struct sb_reporter *r, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err)
{
    struct json *j = r->data;
    int rc;

    sb_buf_clear(&j->line);
    sb_series_json(&j->line, row);
    size_t len = j->line.len;
    sb_series_heat(&j->line, report->latency);
    if (j->line.failed)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    json_decref(j->columns);
    j->columns = sb_json_columns(row);
    rc = sb_spool_add(&j->rows, j->line.data, len, err);
    return rc ? rc
              : sb_spool_add(
                    &j->heat, j->line.data + len, j->line.len - len, err);
}

static int json_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct json *j = r->data;

    j->seconds = whole->total_s;
    j->totals = sb_json_totals(whole);
    return j->totals ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");
}

// Writes "name":value, and takes the reference. The caller checks the stream.
static int write_member(
    FILE *out, const char *before, const char *name, json_t *value)
{
    int rc = value ? 0 : SB_ENOMEM;

    fprintf(out, "%s\"%s\":", before, name);
    if (value)
        json_dumpf(value, out, SB_JSON_FLAGS);
    json_decref(value);
    return rc;
}

// Writes the members of an object, one per line, each followed by a comma.
static int write_members(FILE *out, json_t *object)
{
    const char *name;
    json_t *value;

    if (!object)
        return SB_ENOMEM;
    json_object_foreach(object, name, value)
    {
        write_member(out, "", name, json_incref(value));
        fputs(",\n", out);
    }
    json_decref(object);
    return 0;
}

static int write_rows(struct json *j, FILE *out, struct sb_err *err)
{
    int rc;

    fputs("\"intervals\":{\"rows\":[\n", out);
    rc = sb_spool_copy(&j->rows, ",", out, err);
    fputs("],\n\"columns\":", out);
    if (j->columns)
        json_dumpf(j->columns, out, SB_JSON_FLAGS);
    else
        fputs("[]", out);
    fputs("},\n\"histograms\":{\"octave\":4,\"rows\":[\n", out);
    if (rc == 0)
        rc = sb_spool_copy(&j->heat, ",", out, err);
    fputs("]},\n", out);
    return rc;
}

static int write_run(struct json *j, FILE *out, const struct sb_facts *facts,
    const struct sb_outcome *o, struct sb_err *err)
{
    int rc = write_members(out, sb_json_facts(facts));

    if (rc == 0)
        rc = write_rows(j, out, err);
    if (rc == 0 && j->totals)
        rc = write_members(out, json_incref(j->totals));
    if (rc == 0 && facts->limits) {
        rc = write_member(out, "", "limits", sb_json_limits(facts->limits));
        fputs(",\n", out);
    }
    return rc ? rc
              : write_member(out, "", "end", sb_json_outcome(o, j->seconds));
}

int sb__json_document(struct sb_reporter *r, const struct sb_outcome *o,
    FILE *out, struct sb_err *err)
{
    struct json *j = r->data;
    int rc;

    fputs("{\"format\":\"sysbench-result\",\n", out);
    fprintf(out, "\"version\":%d,\n", SB_RESULT_VERSION);
    rc = write_member(out, "", "program", sb_json_program(r->facts));
    fputs(",\n\"runs\":[{\n", out);
    if (rc == 0)
        rc = write_run(j, out, r->facts, o, err);
    fputs("}]}\n", out);
    if (rc == SB_ENOMEM)
        return sb_err_set(err, rc, "out of memory");
    return rc;
}

struct sb_target *sb__json_target(struct sb_reporter *r)
{
    return &((struct json *)r->data)->target;
}

static int json_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct sb_target *t = sb__json_target(r);
    int rc = sb__json_document(r, o, t->file, err);

    return rc ? rc : sb_target_commit(t, err);
}

static void json_done(struct sb_reporter *r)
{
    struct json *j = r->data;

    if (!j)
        return;
    sb_target_done(&j->target);
    sb_spool_done(&j->rows);
    sb_spool_done(&j->heat);
    sb_buf_done(&j->line);
    json_decref(j->totals);
    json_decref(j->columns);
    free(j);
}

const struct sb_reporter_kind sb__json_kind = {
    .name = "json",
    .target = "FILE",
    .open = json_open,
    .interval = json_interval,
    .final = json_final,
    .finish = json_finish,
    .done = json_done,
};
