// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench report FILE... --html=FILE: the HTML report of saved results, with
// several runs in the same charts.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/paths.h"
#include "cmd/cmd.h"
#include "cmd/cmd_private.h"
#include "out/target.h"

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

// Result files are read once to check them. The page then contains them as they
// are.
static int check_file(const char *path)
{
    struct sb_result_file f;
    int rc = sb__cmd_read(&f, path);

    sb_result_done(&f);
    return rc;
}

static int open_docs(const struct sb_cmd_args *args, struct sb_page_doc *docs,
    struct sb_err *err)
{
    for (unsigned i = 0; i < args->nfiles; i++) {
        docs[i].name = args->file[i];
        // It has been read already, to check it.
        if (strcmp(args->file[i], "-") == 0)
            return sb_err_set(err, SB_EUSAGE,
                "report: standard input cannot be used: write it to a file");
        docs[i].file = fopen(args->file[i], "re");
        if (!docs[i].file)
            return sb_err_set(err, SB_ESYS, "cannot read %s: %s", args->file[i],
                strerror(errno));
    }
    return 0;
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

static int report(const struct sb_cmd_args *args)
{
    const struct report_opts *o = args->o;
    struct sb_page_doc *docs = calloc(args->nfiles, sizeof(*docs));
    struct sb_err err = { 0 };
    struct sb_paths paths;
    int rc = 0;

    if (!docs)
        rc = sb_err_set(&err, SB_ENOMEM, "out of memory");
    for (unsigned i = 0; rc == 0 && i < args->nfiles; i++)
        rc = check_file(args->file[i]);
    if (rc == 0)
        rc = sb_paths_find(&paths, &err);
    if (rc == 0)
        rc = open_docs(args, docs, &err);
    if (rc == 0)
        rc = sb__cmd_write_page(o->html,
            &(struct sb_page_parts){ .page = paths.page,
                .charts = paths.charts,
                .docs = docs,
                .ndocs = args->nfiles },
            &err);
    if (err.code)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    for (unsigned i = 0; docs && i < args->nfiles; i++) {
        if (docs[i].file)
            fclose(docs[i].file);
    }
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
    .run = report,
};
