// SPDX-License-Identifier: GPL-2.0-or-later
//
// --report=html=FILE: the page with the result document of the run. The
// document is kept and written as by the json reporter.
#include <errno.h>
#include <string.h>

#include "base/paths.h"
#include "out/json_document.h"
#include "out/page.h"
#include "out/spool.h"

// Where the files of the page are. They are looked for before the load starts.
static int html_open(struct sb_reporter *r, struct sb_err *err)
{
    struct sb_paths paths;
    struct sb_page_parts parts = { .page = paths.page, .charts = paths.charts };
    int rc = sb_paths_find(&paths, err);

    if (rc == 0)
        rc = sb_page_check(&parts, err);
    return rc ? rc : sb__json_kind.open(r, err);
}

static int html_interval(struct sb_reporter *r, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err)
{
    return sb__json_kind.interval(r, report, row, err);
}

static int html_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    return sb__json_kind.final(r, whole, err);
}

static int write_page(struct sb_reporter *r, FILE *document, struct sb_err *err)
{
    struct sb_page_doc doc = { .file = document };
    struct sb_target *t = sb__json_target(r);
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
    rc = sb_target_again(sb__json_target(r), err);
    if (rc == 0)
        rc = sb_spool_open(&document, dir, err);
    if (rc == 0)
        rc = sb__json_document(r, o, document.file, err);
    if (rc == 0)
        rc = write_page(r, document.file, err);
    sb_spool_done(&document);
    return rc;
}

static int html_draft(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    r->drafted = sb_target_is_replaced(sb__json_target(r));
    return r->drafted ? html_finish(r, o, err) : 0;
}

static void html_done(struct sb_reporter *r)
{
    sb__json_kind.done(r);
}

const struct sb_reporter_kind sb__html_kind = {
    .name = "html",
    .target = "FILE",
    .form = SB_REPORT_DOCUMENT,
    .open = html_open,
    .interval = html_interval,
    .final = html_final,
    .draft = html_draft,
    .finish = html_finish,
    .done = html_done,
};
