// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a sweep writes: the names of the files of each run, and the files with
// all runs.
#include "results/sweep_files.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "base/paths.h"
#include "out/json_parts.h"
#include "out/page.h"
#include "out/result_file.h"
#include "out/spool.h"
#include "out/target.h"

// A file has up to 255 bytes in its name, of which ".part" needs some.
#define NAME_BYTES 250u
#define VALUES_LEN 120u

// Room for the values of a run, and for its number.
#define VALUES_SIZE (VALUES_LEN + 24)

static bool is_kind(const struct sb_reporter *r, const char *name)
{
    return strcmp(r->kind->name, name) == 0;
}

// Returns whether the sweep itself writes the report, with all runs.
static bool is_common(const struct sb_reporter *r)
{
    return is_kind(r, "json") || is_kind(r, "html");
}

// Names -----------------------------------------------------------------------

static bool is_plain(char c)
{
    return (unsigned char)c > ' ' && c != '\177' && !strchr("/,\"'*", c);
}

// The values of a run as part of a file name. Returns false if they were cut.
static bool values_of(const struct sb_sweep_names *n, unsigned run, char *out)
{
    struct sb_fact fact[SB_SWEEP_OPTIONS_MAX];
    char text[VALUES_LEN + 2];

    sb_sweep_values(n->plan, run, fact);
    sb_sweep_text(fact, n->plan->noptions, text, sizeof(text));
    size_t len = strlen(text), at = 0;
    bool whole = len <= VALUES_LEN;

    len = whole ? len : VALUES_LEN;
    // Not inside of a character.
    while (!whole && len > 0 && (text[len] & 0xC0) == 0x80)
        len--;

    if (n->numbered)
        at = (size_t)snprintf(
            out, VALUES_SIZE, "%u-", run % n->plan->npoints + 1);
    for (size_t i = 0; i < len; i++)
        out[at++] = is_plain(text[i]) ? text[i] : '_';
    out[at] = '\0';
    return whole;
}

// Returns 1 if names need numbers, otherwise 0 or SB_ENOMEM.
static int need_numbers(const struct sb_sweep_names *n)
{
    char(*name)[VALUES_SIZE] = calloc(n->plan->npoints, sizeof(*name));
    int rc = name ? 0 : SB_ENOMEM;

    for (unsigned i = 0; rc == 0 && i < n->plan->npoints; i++) {
        rc = !values_of(n, i, name[i]);
        for (unsigned k = 0; rc == 0 && k < i; k++)
            rc = strcmp(name[i], name[k]) == 0;
    }
    free(name);
    return rc;
}

static void name_of(const struct sb_sweep_names *n, const struct sb_reporter *r,
    unsigned run, char *out, size_t size)
{
    const char *slash = strrchr(r->target, '/');
    const char *name = slash ? slash + 1 : r->target;
    const char *dot = strrchr(name, '.');
    const char *end = dot && dot > name ? dot : name + strlen(name);
    char values[VALUES_SIZE];

    values_of(n, run, values);
    snprintf(out, size, "%.*s-%s%s%u%s", (int)(end - r->target), r->target,
        values, *values ? "-" : "", run / n->plan->npoints + 1, end);
}

// Checks ----------------------------------------------------------------------

static int cannot_write(const struct sb_reporter *r, const char *path,
    const char *why, struct sb_err *err)
{
    return sb_err_set(err, SB_ESYS, "--report=%s: cannot write %.300s: %s",
        r->kind->name, path, why);
}

static int check_name(const struct sb_sweep_names *n,
    const struct sb_reporter *r, unsigned run, struct sb_err *err)
{
    char path[8192], dir[4096];

    name_of(n, r, run, path, sizeof(path));
    const char *slash = strrchr(path, '/');

    if (strlen(slash ? slash + 1 : path) > NAME_BYTES)
        return sb_err_set(err, SB_ERANGE,
            "--report=%s: the name of the file of a run would be too long: "
            "%.200s...",
            r->kind->name, path);
    if (sb_target_is_folder(path))
        return cannot_write(r, path, strerror(EISDIR), err);
    const char *unfit = sb_outfile_unfit(path);

    if (unfit)
        return cannot_write(r, path, unfit, err);
    sb_target_folder(path, dir, sizeof(dir));
    if (access(dir, W_OK | X_OK) ||
        (access(path, F_OK) == 0 && access(path, W_OK)))
        return cannot_write(r, path, strerror(errno), err);
    return 0;
}

static int check_report(
    struct sb_sweep_names *n, const struct sb_reporter *r, struct sb_err *err)
{
    int rc = 0;

    if (is_common(r))
        return 0;
    if (strcmp(r->target, "-") == 0)
        return sb_err_set(err, SB_EUSAGE,
            "--report=%s: the runs of a sweep cannot share standard output",
            r->kind->name);
    if (sb_target_is_folder(r->target))
        return cannot_write(r, r->target, strerror(EISDIR), err);
    bool kept = is_kind(r, "web") || sb_target_is_special(r->target);

    n->kept[n->nkept++] = kept;
    for (unsigned i = 0; rc == 0 && !kept && i < n->plan->nruns; i++)
        rc = check_name(n, r, i, err);
    return rc;
}

int sb_sweep_names_init(struct sb_sweep_names *n, const struct sb_reporters *rs,
    const struct sb_sweep_plan *plan, struct sb_err *err)
{
    *n = (struct sb_sweep_names){ .rs = rs, .plan = plan };
    int rc = need_numbers(n);

    if (rc < 0)
        return sb_err_set(err, rc, "out of memory");
    n->numbered = rc == 1;
    n->nkept = 1;
    rc = 0;
    for (unsigned i = 0; rc == 0 && i < rs->n; i++)
        rc = check_report(n, &rs->item[i], err);
    return rc;
}

int sb_sweep_names_reports(const struct sb_sweep_names *n, unsigned run,
    bool text, const char *result, char *out, size_t size, struct sb_err *err)
{
    unsigned k = 1;

    snprintf(out, size, "%s,json=%s", text ? "text" : "none", result);
    for (unsigned i = 0; i < n->rs->n; i++) {
        const struct sb_reporter *r = &n->rs->item[i];
        size_t at = strlen(out);
        char name[8192];

        if (is_common(r))
            continue;
        snprintf(name, sizeof(name), "%s", r->target);
        if (!n->kept[k++])
            name_of(n, r, run, name, sizeof(name));
        snprintf(out + at, size - at, ",%s=%s", r->kind->name, name);
    }
    if (strlen(out) + 1 >= size)
        return sb_err_set(
            err, SB_ERANGE, "--report: the names of the reports are too long");
    return 0;
}

void sb_sweep_names_mark(const bool *kept, struct sb_reporters *rs)
{
    for (unsigned i = 0; i < rs->n; i++)
        rs->item[i].chosen = kept[i] ? 0 : SB_TARGET_CHOSEN;
}

// Files with all runs ---------------------------------------------------------

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

        if (!is_common(r))
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

static int copy_part(
    FILE *out, const char *path, size_t at, size_t end, struct sb_err *err)
{
    FILE *in = fopen(path, "re");
    bool found = in && fseeko(in, (off_t)at, SEEK_SET) == 0;
    char buf[65536];
    size_t n = found;

    for (; at < end && n > 0; at += n) {
        n = end - at < sizeof(buf) ? end - at : sizeof(buf);
        errno = EIO; // of a file that has become shorter
        n = fread(buf, 1, n, in);
        fwrite(buf, 1, n, out);
    }
    int rc = at < end ? sb_err_set(err, SB_ESYS, "cannot read %s: %s", path,
                            strerror(errno))
                      : 0;
    if (in)
        fclose(in);
    return rc;
}

// Copies the documents as text, because a day has millions of numbers. The
// first one also gives the members before and behind its runs.
static int write_runs(
    FILE *out, const char *const *path, unsigned n, struct sb_err *err)
{
    size_t behind = 0, end = 0;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < n; i++) {
        struct sb_result_file f;

        rc = sb_result_read(&f, path[i], err);
        if (rc == 0 && f.nruns == 0)
            rc = sb_err_set(err, SB_EUSAGE, "%s has no run", path[i]);
        if (i == 0) {
            behind = f.runs_end + 1;
            end = f.end;
        }
        fputs(i ? ",\n" : "", out);
        if (rc == 0)
            rc = copy_part(out, path[i], i ? f.runs_at : 0, f.runs_end, err);
        sb_result_done(&f);
    }
    fputs("]", out);
    return rc ? rc : copy_part(out, path[0], behind, end, err);
}

static int write_document(FILE *out, const char *const *path, unsigned n,
    json_t *members, struct sb_err *err)
{
    int rc = write_runs(out, path, n, err);
    bool dumped = members != NULL;
    const char *name;
    json_t *member;

    json_object_foreach(members, name, member)
    {
        fprintf(out, ",\n\"%s\":", name);
        dumped = dumped && json_dumpf(member, out, SB_JSON_FLAGS) == 0;
    }
    fputs("}\n", out);
    if (rc == 0 && (fflush(out) || ferror(out)))
        return sb_err_set(
            err, SB_ESYS, "cannot write a temporary file: %s", strerror(errno));
    return rc || dumped ? rc : sb_err_set(err, SB_ENOMEM, "out of memory");
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
                        .several = true,
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
    unsigned n, json_t *members, const char *title, struct sb_err *err)
{
    struct sb_spool document = { 0 };
    char dir[4096];

    if (f->n == 0 || n == 0)
        return 0;
    sb_target_folder(f->item[0].reporter->target, dir, sizeof(dir));
    int rc = sb_spool_open(&document, dir, err);

    if (rc == 0)
        rc = write_document(document.file, path, n, members, err);
    for (unsigned i = 0; rc == 0 && i < f->n; i++)
        if (title || !is_kind(f->item[i].reporter, "html"))
            rc = write_item(f, i, document.file, title, err);
    sb_spool_done(&document);
    return rc;
}
