// SPDX-License-Identifier: GPL-2.0-or-later
//
// --report=json=FILE, the result file, and --report=html=FILE, the page with
// the same document. It is written when the run has ended; until then,
// sb_row_log has the rows of intervals.
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "out/answers.h"
#include "out/costs.h"
#include "out/json_parts.h"
#include "out/reporter.h"
#include "out/page.h"
#include "out/spool.h"
#include "out/target.h"
#include "out/validity.h"

struct json {
    struct sb_target target;
    json_t *totals;
    struct sb_marks marks;
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
    sb_target_folder(r->target, dir, sizeof(dir));
    rc = sb_target_open(
        &j->target, r->target, SB_TARGET_WHOLE | r->chosen, err);
    return rc ? rc : sb_row_log_open(r->rows, dir, err);
}

// The caller has already added the row, for all documents together.
static int json_interval(struct sb_reporter *r, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err)
{
    struct json *j = r->data;

    (void)row;
    if (sb_marks_interval(&j->marks, report))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    if (r->rows->failed.code)
        *err = r->rows->failed;
    return r->rows->failed.code;
}

static int json_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct json *j = r->data;

    assert(!j->totals);
    j->seconds = whole->total_s;
    j->totals = sb_json_totals(whole);
    return j->totals ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");
}

static int write_rows(void *arg, FILE *out, struct sb_err *err)
{
    struct sb_row_log *rows = arg;

    return sb_spool_copy(&rows->intervals, ",", out, err);
}

static int write_heat(void *arg, FILE *out, struct sb_err *err)
{
    struct sb_row_log *rows = arg;

    return sb_spool_copy(&rows->histograms, ",", out, err);
}

// Writes the document to out. SB_ENOMEM, or SB_ESYS if what was kept cannot be
// read. The caller checks the stream.
static int write_document(struct sb_reporter *r, const struct sb_outcome *o,
    FILE *out, struct sb_err *err)
{
    struct json *j = r->data;
    const struct sb_facts *f = r->facts;
    json_t *program = sb_json_program(f);
    struct sb_document_run run = {
        .facts = sb_json_facts(f),
        .columns = sb_json_columns(r->rows->series),
        .missing = r->rows->missing,
        .totals = j->totals,
        .marks = sb_marks_json(
            &j->marks, json_object_get(j->totals, "stages"), o, j->seconds),
        .limits = f->limits ? sb_json_limits(f->limits) : NULL,
        .validity = f->validity ? sb_validity_json(f->validity) : NULL,
        .costs = f->costs && sb_costs_known(f->costs) ? sb_costs_json(f->costs)
                                                      : NULL,
        .answers = f->answers ? json_object() : NULL,
        .until = f->until ? sb_until_json(f->until) : NULL,
        .end = sb_json_outcome(o, j->seconds),
        .rows = write_rows,
        .heat = write_heat,
        .arg = r->rows,
    };
    int rc;

    if (f->beside && !sb_marks_add_beside(run.marks, f->beside)) {
        json_decref(run.marks);
        run.marks = NULL;
    }
    if (run.answers)
        sb_answers_set(run.answers, f->answers, f->headline);
    sb_document_begin(out, program);
    rc = sb_document_run(out, &run, true, err);
    sb_document_end(out);
    json_decref(program);
    json_decref(run.facts);
    json_decref(run.columns);
    json_decref(run.marks);
    json_decref(run.limits);
    json_decref(run.validity);
    json_decref(run.costs);
    json_decref(run.until);
    json_decref(run.answers);
    json_decref(run.end);
    return rc;
}

// The file that json_open() opened.
static struct sb_target *json_target(struct sb_reporter *r)
{
    return &((struct json *)r->data)->target;
}

static int json_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct sb_target *t = json_target(r);
    int rc = sb_target_again(t, err);

    if (rc == 0)
        rc = write_document(r, o, t->file, err);
    return rc ? rc : sb_target_commit(t, err);
}

static int json_draft(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    r->drafted = sb_target_is_replaced(json_target(r));
    return r->drafted ? json_finish(r, o, err) : 0;
}

static void json_done(struct sb_reporter *r)
{
    struct json *j = r->data;

    if (!j)
        return;
    sb_target_done(&j->target);
    sb_marks_done(&j->marks);
    json_decref(j->totals);
    free(j);
}

const struct sb_reporter_kind sb__json_kind = {
    .name = "json",
    .target = "FILE",
    .form = SB_REPORT_DOCUMENT,
    .open = json_open,
    .interval = json_interval,
    .final = json_final,
    .draft = json_draft,
    .finish = json_finish,
    .done = json_done,
};

// --report=html=FILE ----------------------------------------------------------

// Where the files of the page are. They are looked for before the load starts.
static int html_open(struct sb_reporter *r, struct sb_err *err)
{
    struct sb_paths paths;
    struct sb_page_parts parts = { .page = paths.page, .charts = paths.charts };
    int rc = sb_paths_find(&paths, err);

    if (rc == 0)
        rc = sb_page_check(&parts, err);
    return rc ? rc : json_open(r, err);
}

static int write_page(struct sb_reporter *r, FILE *document, struct sb_err *err)
{
    struct sb_page_doc doc = { .file = document };
    struct sb_target *t = json_target(r);
    struct sb_paths paths;
    int rc = sb_paths_find(&paths, err);

    if (rc)
        return rc;
    if (fflush(document) || ferror(document))
        return sb_err_set(
            err, SB_ESYS, "cannot write a temporary file: %s", strerror(errno));
    rewind(document);
    rc = sb_page_write(t->file,
        &(struct sb_page_parts){ .page = paths.page,
            .charts = paths.charts,
            .title = r->facts->test,
            .docs = &doc,
            .ndocs = 1 },
        err);
    return rc ? rc : sb_target_commit(t, err);
}

static int html_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct sb_spool document = { 0 };
    char dir[4096];
    int rc;

    sb_target_folder(r->target, dir, sizeof(dir));
    rc = sb_target_again(json_target(r), err);
    if (rc == 0)
        rc = sb_spool_open(&document, dir, err);
    if (rc == 0)
        rc = write_document(r, o, document.file, err);
    if (rc == 0)
        rc = write_page(r, document.file, err);
    sb_spool_done(&document);
    return rc;
}

static int html_draft(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    r->drafted = sb_target_is_replaced(json_target(r));
    return r->drafted ? html_finish(r, o, err) : 0;
}

const struct sb_reporter_kind sb__html_kind = {
    .name = "html",
    .target = "FILE",
    .form = SB_REPORT_DOCUMENT,
    .open = html_open,
    .interval = json_interval,
    .final = json_final,
    .draft = html_draft,
    .finish = html_finish,
    .done = json_done,
};
