// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/sweep_files.h"

#include <errno.h>
#include <string.h>

#include "base/paths.h"
#include "out/json_parts.h"
#include "out/page.h"
#include "out/spool.h"

// What a document of this program ends with: document.c.
#define END      "]}\n"
#define RUNS     "\"runs\":["
#define RUNS_LEN (sizeof(RUNS) - 1)

static bool is_kind(const struct sb_reporter *r, const char *name)
{
    return strcmp(r->kind->name, name) == 0;
}

static bool is_ours(const struct sb_reporter *r)
{
    return is_kind(r, "json") || is_kind(r, "html");
}

static int check_page(struct sb_err *err)
{
    struct sb_paths paths;
    int rc = sb_paths_find(&paths, err);

    return rc ? rc
              : sb_page_check(&(struct sb_page_parts){ .page = paths.page,
                                  .charts = paths.charts },
                    err);
}

int sb_sweep_files_open(
    struct sb_sweep_files *f, const struct sb_reporters *rs, struct sb_err *err)
{
    *f = (struct sb_sweep_files){ 0 };
    for (unsigned i = 0; i < rs->n; i++) {
        const struct sb_reporter *r = &rs->item[i];
        struct sb_err why = { 0 };
        int rc;

        if (!is_ours(r))
            continue;
        f->item[f->n].reporter = r;
        rc = sb_target_open(
            &f->item[f->n++].target, r->target, SB_TARGET_WHOLE, &why);
        if (rc == 0 && is_kind(r, "html"))
            rc = check_page(&why);
        if (rc)
            return sb_err_set(
                err, rc, "--report=%s: %.400s", r->kind->name, why.msg);
    }
    return 0;
}

void sb_sweep_files_done(struct sb_sweep_files *f)
{
    for (unsigned i = 0; i < f->n; i++)
        sb_target_done(&f->item[i].target);
    f->n = 0;
}

void sb_sweep_files_leave(struct sb_sweep_files *f)
{
    for (unsigned i = 0; i < f->n; i++)
        sb_target_leave(&f->item[i].target);
    f->n = 0;
}

const char *sb_sweep_files_main(const struct sb_reporters *rs)
{
    const char *html = NULL;

    for (unsigned i = 0; i < rs->n; i++) {
        const struct sb_reporter *r = &rs->item[i];

        if (strcmp(r->target, "-") == 0)
            continue;
        if (is_kind(r, "json"))
            return r->target;
        if (is_kind(r, "html") && !html)
            html = r->target;
    }
    return html;
}

// Writing ---------------------------------------------------------------------

static int not_ours(const char *path, struct sb_err *err)
{
    return sb_err_set(err, SB_EUSAGE, "%s was not written by a sweep", path);
}

// Copies the rest of the stream without END.
static int copy_rest(FILE *in, FILE *out, const char *path, struct sb_err *err)
{
    const size_t keep = sizeof(END) - 1;
    char buf[65536];
    size_t have = 0, n;

    while ((n = fread(buf + have, 1, sizeof(buf) - have, in)) > 0) {
        have += n;
        if (have <= keep)
            continue;
        fwrite(buf, 1, have - keep, out);
        memmove(buf, buf + have - keep, keep);
        have = keep;
    }
    if (ferror(in))
        return sb_err_set(
            err, SB_ESYS, "cannot read %s: %s", path, strerror(errno));
    if (have < keep || memcmp(buf, END, keep) != 0)
        return not_ours(path, err);
    return 0;
}

// Appends the runs of a document. The first document also gives the head.
static int copy_runs(
    FILE *in, FILE *out, const char *path, bool first, struct sb_err *err)
{
    char line[1024];

    for (;;) {
        if (!fgets(line, sizeof(line), in))
            return not_ours(path, err);
        if (strncmp(line, RUNS, RUNS_LEN) == 0)
            break;
        if (first)
            fputs(line, out);
    }
    fputs(first ? line : ",\n", out);
    if (!first)
        fputs(line + RUNS_LEN, out);
    return copy_rest(in, out, path, err);
}

static int copy_file(
    FILE *out, const char *path, bool first, struct sb_err *err)
{
    FILE *in = fopen(path, "re");

    if (!in)
        return sb_err_set(
            err, SB_ESYS, "cannot read %s: %s", path, strerror(errno));
    int rc = copy_runs(in, out, path, first, err);

    fclose(in);
    return rc;
}

static int write_document(FILE *out, const char *const *path, unsigned n,
    json_t *sweep, struct sb_err *err)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = copy_file(out, path[i], i == 0, err);
    fputs("],\n\"sweep\":", out);
    bool dumped = rc || (sweep && json_dumpf(sweep, out, SB_JSON_FLAGS) == 0);
    fputs("}\n", out);
    if (rc == 0 && (fflush(out) || ferror(out)))
        return sb_err_set(
            err, SB_ESYS, "cannot write a temporary file: %s", strerror(errno));
    return dumped ? rc : sb_err_set(err, SB_ENOMEM, "out of memory");
}

static int write_page(
    FILE *out, FILE *document, const char *title, struct sb_err *err)
{
    struct sb_page_doc doc = { .file = document };
    struct sb_paths paths;
    int rc = sb_paths_find(&paths, err);

    return rc ? rc
              : sb_page_write(out,
                    &(struct sb_page_parts){ .page = paths.page,
                        .charts = paths.charts,
                        .title = title,
                        .docs = &doc,
                        .ndocs = 1 },
                    err);
}

static int copy(FILE *out, FILE *in, struct sb_err *err)
{
    char buf[65536];
    size_t n;

    while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
        fwrite(buf, 1, n, out);
    return ferror(in) ? sb_err_set(err, SB_ESYS,
                            "cannot read a temporary file: %s", strerror(errno))
                      : 0;
}

static int write_item(struct sb_sweep_files *f, unsigned i, FILE *document,
    const char *title, struct sb_err *err)
{
    struct sb_target *t = &f->item[i].target;

    rewind(document);
    int rc = is_kind(f->item[i].reporter, "html")
                 ? write_page(t->file, document, title, err)
                 : copy(t->file, document, err);

    return rc ? rc : sb_target_commit(t, err);
}

int sb_sweep_files_write(struct sb_sweep_files *f, const char *const *path,
    unsigned n, json_t *sweep, const char *title, struct sb_err *err)
{
    struct sb_spool document = { 0 };
    char dir[4096];

    if (f->n == 0 || n == 0)
        return 0;
    sb_target_folder(f->item[0].reporter->target, dir, sizeof(dir));
    int rc = sb_spool_open(&document, dir, err);

    if (rc == 0)
        rc = write_document(document.file, path, n, sweep, err);
    for (unsigned i = 0; rc == 0 && i < f->n; i++)
        rc = write_item(f, i, document.file, title, err);
    sb_spool_done(&document);
    return rc;
}
