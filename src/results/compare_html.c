// SPDX-License-Identifier: GPL-2.0-or-later
//
// The comparison as a page: the document of the comparison, then all results.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/paths.h"
#include "results/cmd_private.h"
#include "results/compare_private.h"
#include "out/page.h"

static int open_side(const struct sb_side *s, const char *name,
    struct sb_page_doc *doc, struct sb_err *err)
{
    for (unsigned i = 0; i < s->nfiles; i++) {
        const char *path = s->file[i].path;
        struct stat st;

        if (strcmp(path, "-") == 0)
            return sb_err_set(err, SB_EUSAGE,
                "--html: standard input cannot be used: write it to a file");
        doc[i] = (struct sb_page_doc){
            .file = fopen(path, "re"), .name = path, .side = name
        };
        if (!doc[i].file)
            return sb_err_set(
                err, SB_ESYS, "cannot read %s: %s", path, strerror(errno));
        // It has been read once, for the comparison.
        if (fstat(fileno(doc[i].file), &st) || !S_ISREG(st.st_mode))
            return sb_err_set(err, SB_EUSAGE,
                "--html: %s cannot be read twice: write it to a file", path);
    }
    return 0;
}

// A page for the comparison's text, which ends with a null byte.
static int write_page(const struct sb__comparison *c, char *text,
    struct sb_page_doc *doc, struct sb_err *err)
{
    struct sb_page_parts parts = { .docs = doc,
        .ndocs = 1 + c->a.nfiles + c->b.nfiles,
        .title = "sysbench compare" };
    struct sb_paths paths;
    int rc = sb_paths_find(&paths, err);

    if (rc)
        return rc;
    parts.page = paths.page;
    parts.charts = paths.charts;
    doc[0] = (struct sb_page_doc){ .file = fmemopen(text, strlen(text), "r"),
        .kind = "comparison" };
    if (!doc[0].file)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    rc = open_side(&c->a, "A", doc + 1, err);
    if (rc == 0)
        rc = open_side(&c->b, "B", doc + 1 + c->a.nfiles, err);
    return rc ? rc : sb__cmd_write_page(c->o.html, &parts, err);
}

int sb__compare_write_html(const struct sb__comparison *c)
{
    size_t n = 1 + c->a.nfiles + c->b.nfiles;
    struct sb_page_doc *doc = calloc(n, sizeof(*doc));
    json_t *o = sb__compare_document(c);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    struct sb_err err = { 0 };
    int rc = doc && text ? write_page(c, text, doc, &err)
                         : sb_err_set(&err, SB_ENOMEM, "out of memory");

    if (rc)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    for (size_t i = 0; doc && i < n; i++) {
        if (doc[i].file)
            fclose(doc[i].file);
    }
    free(doc);
    free(text);
    json_decref(o);
    return rc;
}
