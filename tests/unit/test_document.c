// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "check.h"
#include "check_folder.h"
#include "out/json_parts.h"
#include "out/result_file.h"

static int rows(void *arg, FILE *out, struct sb_err *err)
{
    (void)err;
    fputs("[1],\n[2]\n", out);
    return *(int *)arg;
}

static int heat(void *arg, FILE *out, struct sb_err *err)
{
    (void)arg;
    (void)err;
    fputs("[]\n", out);
    return 0;
}

static struct sb_document_run make_run(const char *test, int *rc)
{
    return (struct sb_document_run){
        .facts = json_pack("{s:s}", "test", test),
        .columns = json_pack("[{s:s}]", "figure", "time"),
        .end = json_pack("{s:i}", "status", 0),
        .rows = rows,
        .heat = heat,
        .arg = rc,
    };
}

static void free_run(struct sb_document_run *run)
{
    json_decref(run->facts);
    json_decref(run->columns);
    json_decref(run->end);
}

// The reader finds every run of a document, and its rows.
static void several_runs(void)
{
    int rc = 0;
    struct sb_document_run a = make_run("a", &rc), b = make_run("b", &rc);
    struct sb_result_file f;
    struct sb_err err = { 0 };
    FILE *out = fopen("two.json", "w");

    sb_document_begin(out, NULL);
    CHECK_INT(sb_document_run(out, &a, true, &err), 0);
    CHECK_INT(sb_document_run(out, &b, false, &err), 0);
    sb_document_end(out);
    fclose(out);
    CHECK_INT(sb_result_read(&f, "two.json", &err), 0);
    CHECK_STR(err.msg, "");
    CHECK_INT(f.nruns, 2);
    CHECK_STR(sb_result_text(&f.run[1], "test"), "b");
    CHECK_INT(f.run[1].intervals.nrows, 2);
    CHECK_NEAR(sb_result_value(&f.run[1], 1, 0), 2, 0);
    sb_result_done(&f);
    free_run(&a);
    free_run(&b);
}

// Whatever fails, the document can be read.
static void failures_leave_a_document(void)
{
    int rc = SB_ESYS;
    struct sb_document_run a = make_run("a", &rc);
    struct sb_result_file f;
    struct sb_err err = { 0 };
    FILE *out = fopen("failed.json", "w");

    sb_document_begin(out, NULL);
    CHECK_INT(sb_document_run(out, &a, true, &err), SB_ESYS);
    sb_document_end(out);
    fclose(out);
    CHECK_INT(sb_result_read(&f, "failed.json", &err), 0);
    CHECK_INT(f.nruns, 1);
    sb_result_done(&f);
    json_decref(a.end);
    a.end = NULL;
    rc = 0;
    out = fopen("failed.json", "w");
    sb_document_begin(out, NULL);
    CHECK_INT(sb_document_run(out, &a, true, &err), SB_ENOMEM);
    sb_document_end(out);
    fclose(out);
    CHECK_INT(sb_result_read(&f, "failed.json", &err), 0);
    sb_result_done(&f);
    free_run(&a);
}

CHECK_FILE
{
    check_folder();
    RUN(several_runs);
    RUN(failures_leave_a_document);
    return check_done();
}
