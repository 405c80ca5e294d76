// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench report FILE... --html=FILE: the HTML report of saved results, with
// several runs in the same charts.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/paths.h"
#include "out/page.h"
#include "out/spool.h"
#include "out/target.h"
#include "results/cmd.h"

struct report_opts {
    const char *html;
};

static const struct sb_opt options[] = {
    { .name = "html",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct report_opts, html),
        .def = "report.html",
        .flags = SB_OPT_FILENAME | SB_OPT_YIELDS,
        .help = "the file to write, '-' for standard output" },
    { .name = NULL },
};

static const struct sb_opt_table option_table = {
    .title = "Options of report",
    .opts = options,
};

// A document of the page, and the copy of what cannot be read twice.
struct input {
    FILE *file;
    struct sb_spool copy;
};

static bool is_file(FILE *in)
{
    struct stat st;

    return fstat(fileno(in), &st) == 0 && S_ISREG(st.st_mode);
}

// Copies what a pipe contains to a temporary file.
static int copy_pipe(struct input *in, const char *path, struct sb_err *err)
{
    char dir[4096], part[65536];
    bool first = true, other = false;
    size_t n;
    int rc;

    sb_target_folder("-", dir, sizeof(dir));
    rc = sb_spool_open(&in->copy, dir, err);
    while (
        rc == 0 && !other && (n = fread(part, 1, sizeof(part), in->file)) > 0) {
        other = sb_result_is_other(part, n, first);
        first = false;
        if (fwrite(part, 1, n, in->copy.file) != n)
            rc = SB_ESYS;
    }
    if (rc == 0 && ferror(in->file))
        return sb_err_set(
            err, SB_ESYS, "cannot read %s: %s", path, strerror(errno));
    if (rc == 0 && fflush(in->copy.file))
        rc = SB_ESYS;
    if (rc && !err->code)
        sb_err_set(err, rc, "cannot write a temporary file in %s: %s", dir,
            strerror(errno));
    return rc;
}

// Opens a result file and reads it once to check it. The page then contains it
// as it is.
// runs: their number grows.
static int open_doc(struct input *in, struct sb_page_doc *doc, const char *path,
    unsigned *runs, struct sb_err *err)
{
    struct sb_result_file f;
    int rc = 0;

    in->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!in->file)
        return sb_err_set(
            err, SB_ESYS, "cannot read %s: %s", path, strerror(errno));
    if (!is_file(in->file))
        rc = copy_pipe(in, path, err);
    if (rc)
        return rc;
    doc->name = path;
    doc->file = in->copy.file ? in->copy.file : in->file;
    rewind(doc->file);
    rc = sb__cmd_read_from(&f, doc->file, path);
    *runs += f.nruns;
    sb_result_done(&f);
    rewind(doc->file);
    return rc;
}

// *runs: their number.
static int open_docs(const struct sb_cmd_args *args, struct input *in,
    struct sb_page_doc *docs, const char *output, unsigned *runs,
    struct sb_err *err)
{
    int rc = 0;

    *runs = 0;

    for (unsigned i = 0; rc == 0 && i < args->nfiles; i++)
        if (sb__cmd_is_output(args->file[i], output))
            return SB_EUSAGE;
    for (unsigned i = 0; rc == 0 && i < args->nfiles; i++)
        rc = open_doc(&in[i], &docs[i], args->file[i], runs, err);
    return rc;
}

static void close_docs(struct input *in, unsigned n)
{
    for (unsigned i = 0; in && i < n; i++) {
        sb_spool_done(&in[i].copy);
        if (in[i].file && in[i].file != stdin)
            fclose(in[i].file);
    }
    free(in);
}

int sb__cmd_write_page(
    const char *path, const struct sb_page_parts *parts, struct sb_err *err)
{
    struct sb_target target = { 0 };
    int rc = sb_page_check(parts, err);

    if (rc)
        return rc;
    rc = sb_target_open(&target, path, SB_TARGET_WHOLE, err);
    if (rc == 0)
        rc = sb_page_write(target.file, parts, err);
    if (rc == 0)
        rc = sb_target_commit(&target, err);
    sb_target_done(&target);
    return rc;
}

static int write_page(const struct sb_cmd_args *args)
{
    const struct report_opts *o = args->o;
    struct sb_page_doc *docs = calloc(args->nfiles, sizeof(*docs));
    struct input *in = calloc(args->nfiles, sizeof(*in));
    struct sb_err err = { 0 };
    struct sb_paths paths;
    unsigned runs = 0;
    int rc = 0;

    if (!docs || !in)
        rc = sb_err_set(&err, SB_ENOMEM, "out of memory");
    if (rc == 0)
        rc = open_docs(args, in, docs, o->html, &runs, &err);
    if (rc == 0)
        rc = sb_paths_find(&paths, &err);
    if (rc == 0)
        rc = sb__cmd_write_page(o->html,
            &(struct sb_page_parts){ .page = paths.page,
                .charts = paths.charts,
                .several = runs > 1,
                .docs = docs,
                .ndocs = args->nfiles },
            &err);
    if (err.code)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    close_docs(in, args->nfiles);
    free(docs);
    return rc ? SB_CMD_FAILED : SB_CMD_OK;
}

const struct sb_cmd sb_cmd_report = {
    .name = "report",
    .usage = "report [--html=FILE] FILE...",
    .title =
        "Writes a page with charts of result files: several runs are drawn "
        "in the same charts.",
    .min_files = 1,
    .max_files = 100,
    .opts = &option_table,
    .opts_size = sizeof(struct report_opts),
    .run = write_page,
};
