// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "check.h"
#include "check_folder.h"
#include "results/sweep_files.h"
#include "out/result_file.h"

// A document in the layout of document.c, with lines that look like its end.
static void put(const char *path, int number, unsigned rows)
{
    FILE *f = fopen(path, "w");

    fprintf(f,
        "{\"format\":\"sysbench-result\",\n\"version\":1,\n"
        "\"program\":{},\n\"runs\":[{\n\"test\":\"t%d\",\n"
        "\"intervals\":{\"rows\":[\n",
        number);
    for (unsigned i = 0; i < rows; i++)
        fprintf(f, "[%u]%s\n", i, i + 1 < rows ? "," : "");
    fprintf(f, "],\n\"columns\":[]},\n\"histograms\":{\"octave\":4,\"rows\":[\n"
               "]},\n\"end\":{}}]}\n");
    fclose(f);
}

static int combine(const char *const *path, unsigned n, struct sb_err *err)
{
    const char *const items[] = { "json=all.json" };
    const struct sb_report_opts o = { .report = { items, 1 } };
    struct sb_reporters rs;
    struct sb_sweep_files files;

    CHECK_INT(sb_reporters_init(&rs, &o, err), 0);
    CHECK_STR(sb_sweep_files_main(&rs), "all.json");
    CHECK_INT(sb_sweep_files_open(&files, &rs, err), 0);
    json_t *sweep = json_pack("{s:s}", "axis", "threads");
    int rc = sb_sweep_files_write(&files, path, n, sweep, "t", err);

    json_decref(sweep);
    sb_sweep_files_done(&files);
    return rc;
}

static void one_file_has_all_runs(void)
{
    static const char *const path[] = { "1.json", "2.json", "3.json" };
    struct sb_result_file f;
    struct sb_err err = { 0 };

    put("1.json", 1, 2);
    put("2.json", 2, 30000); // longer than a buffer
    put("3.json", 3, 0);
    CHECK_INT(combine(path, 3, &err), 0);
    CHECK_INT(sb_result_read(&f, "all.json", &err), 0);
    CHECK_STR(err.msg, "");
    CHECK_INT(f.nruns, 3);
    CHECK_STR(sb_result_text(&f.run[0], "test"), "t1");
    CHECK_STR(sb_result_text(&f.run[2], "test"), "t3");
    CHECK_INT(f.run[0].intervals.nrows, 2);
    CHECK_INT(f.run[1].intervals.nrows, 30000);
    CHECK_STR(json_string_value(
                  json_object_get(json_object_get(f.json, "sweep"), "axis")),
        "threads");
    sb_result_done(&f);
}

// Another program has sorted and indented the members.
static void reformatted_files_are_copied(void)
{
    static const char *const path[] = { "1.json", "2.json" };
    struct sb_result_file f;
    struct sb_err err = { 0 };

    for (int i = 0; i < 2; i++) {
        FILE *out = fopen(path[i], "w");

        fprintf(out,
            " {\n  \"format\" : \"sysbench-result\",\n  \"runs\" :\n  [ {\n"
            "      \"test\" : \"]}\",\n      \"round\" : %d\n    }\n  ],\n"
            "  \"version\" : 1\n }\n\n",
            i + 1);
        fclose(out);
    }
    CHECK_INT(combine(path, 2, &err), 0);
    CHECK_INT(sb_result_read(&f, "all.json", &err), 0);
    CHECK_STR(err.msg, "");
    CHECK_INT(f.version, 1);
    CHECK_INT(f.nruns, 2);
    for (unsigned i = 0; i < 2; i++) {
        const json_t *round = json_object_get(f.run[i].json, "round");

        CHECK_STR(sb_result_text(&f.run[i], "test"), "]}");
        CHECK_INT(json_integer_value(round), i + 1);
    }
    CHECK(json_object_get(f.json, "sweep") != NULL);
    sb_result_done(&f);
}

static void damaged_files_are_named(void)
{
    static const char *const path[] = { "1.json", "cut.json" };
    struct sb_err err = { 0 };
    FILE *f = fopen("cut.json", "w");

    put("1.json", 1, 1);
    fprintf(f, "{\n\"runs\":[{\n\"test\":1,\n");
    fclose(f);
    CHECK_INT(combine(path, 2, &err), SB_EUSAGE);
    CHECK(
        strncmp(err.msg, "cut.json is not a complete JSON document", 40) == 0);
    f = fopen("cut.json", "w");
    fprintf(f, "{\"format\":\"sysbench-result\",\"version\":1}");
    fclose(f);
    CHECK_INT(combine(path, 2, &err), SB_EUSAGE);
    CHECK_STR(err.msg, "cut.json has no run");
    remove("cut.json");
    CHECK_INT(combine(path, 2, &err), SB_ESYS);
}

CHECK_FILE
{
    check_folder();
    RUN(one_file_has_all_runs);
    RUN(reformatted_files_are_copied);
    RUN(damaged_files_are_named);
    return check_done();
}
