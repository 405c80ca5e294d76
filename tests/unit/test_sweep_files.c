// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_folder.h"
#include "check_sweep.h"
#include "out/result_file.h"
#include "results/sweep_files.h"

// Returns the reports of a run of a sweep, or the error of all names.
static const char *reports(
    const char *sweep, const char *const *items, size_t n, unsigned run)
{
    static char out[4000];
    const struct sb_report_opts o = { .report = { items, n } };
    struct fixture f;
    struct sb_reporters rs;
    struct sb_sweep_names names;
    struct sb_err err = { 0 };

    CHECK_INT(fill(&f, ARGS((char *)sweep, "--repeat=2")), 0);
    CHECK_INT(sb_reporters_init(&rs, &o, &err), 0);
    int rc = sb_sweep_names_init(&names, &rs, &f.plan, &err);

    if (rc == 0)
        rc = sb_sweep_names_reports(
            &names, run, false, "s/r.json", out, sizeof(out), &err);
    if (rc)
        snprintf(out, sizeof(out), "%s", err.msg);
    empty(&f);
    return out;
}

static const char *csv(const char *sweep, const char *target, unsigned run)
{
    return reports(sweep, &target, 1, run);
}

static void files_have_the_values_in_their_names(void)
{
    const char *const own[] = { "json=a.json", "html=a.html", "text" };
    const char *const others[] = { "csv=d.x/r.csv", "hgrm=d.x/r", "hdr=.r" };

    mkdir("d.x", 0777);
    CHECK_STR(reports("--sweep=x=4,5", own, 3, 0), "none,json=s/r.json");
    CHECK_STR(reports("--sweep=x=4,a/b;c", others, 3, 3),
        "none,json=s/r.json,csv=d.x/r-x=a_b;c-2.csv,hgrm=d.x/r-x=a_b;c-2,"
        "hdr=.r-x=a_b;c-2");
    CHECK_STR(csv("--sweep-pause=0", "csv=d.x/r.csv", 1),
        "none,json=s/r.json,csv=d.x/r-2.csv");
    CHECK_STR(csv("--sweep=x=1", "ndjson=-", 0),
        "--report=ndjson: the runs of a sweep cannot share standard output");
    CHECK_STR(csv("--sweep=url=http://u:pw@a/b", "csv=r.csv", 0),
        "none,json=s/r.json,csv=r-url=http:__u:___@a_b-1.csv");
}

static void no_two_runs_have_the_same_file(void)
{
    char sweep[600], long_value[200];

    CHECK_STR(csv("--sweep=x=a/b,a_b", "csv=r.csv", 0),
        "none,json=s/r.json,csv=r-1-x=a_b-1.csv");
    CHECK_STR(csv("--sweep=x=a/b,a_b", "csv=r.csv", 1),
        "none,json=s/r.json,csv=r-2-x=a_b-1.csv");
    memset(long_value, 'v', sizeof(long_value) - 1);
    long_value[sizeof(long_value) - 1] = '\0';
    snprintf(sweep, sizeof(sweep), "--sweep=x=%s1,%s2", long_value, long_value);
    CHECK(strstr(csv(sweep, "csv=r.csv", 1), "csv=r-2-x=vvv") != NULL);
    CHECK(strlen(csv(sweep, "csv=r.csv", 1)) < 200);
}

// 117 bytes, then a character of three: it does not fit as a whole, and a part
// of it is no name.
static void names_are_cut_between_characters(void)
{
    char sweep[600], want[200];

    snprintf(sweep, sizeof(sweep), "--sweep=x=%.*d\u20ac\u20ac,2", 116, 0);
    snprintf(want, sizeof(want), "csv=r-1-x=%.*d-1.csv", 116, 0);
    CHECK(strstr(csv(sweep, "csv=r.csv", 0), want) != NULL);
    snprintf(sweep, sizeof(sweep), "--sweep=x=%.*d\u20ac\u20ac,2", 115, 0);
    snprintf(want, sizeof(want), "csv=r-1-x=%.*d\u20ac-1.csv", 115, 0);
    CHECK(strstr(csv(sweep, "csv=r.csv", 0), want) != NULL);
}

static void devices_keep_their_names(void)
{
    CHECK_STR(csv("--sweep=x=1,2", "csv=/dev/null", 1),
        "none,json=s/r.json,csv=/dev/null");
    CHECK_STR(csv("--sweep=x=1,2", "csv=pipe", 1),
        "none,json=s/r.json,csv=pipe-x=2-1");
    CHECK_INT(mkfifo("pipe", 0666), 0);
    CHECK_STR(
        csv("--sweep=x=1,2", "csv=pipe", 1), "none,json=s/r.json,csv=pipe");
    unlink("pipe");
}

static void files_that_cannot_be_written_are_found_at_once(void)
{
    char target[300] = "csv=";

    CHECK_STR(csv("--sweep=x=1,2", "csv=no/such/r.csv", 0),
        "--report=csv: cannot write no/such/r-x=1-1.csv: No such file or "
        "directory");
    // A folder is no device: its runs would fail one after the other.
    CHECK_INT(mkdir("folder", 0777), 0);
    CHECK_STR(csv("--sweep=x=1,2", "csv=folder", 0),
        "--report=csv: cannot write folder: Is a directory");
    CHECK_INT(mkdir("r-x=2-1.csv", 0777), 0);
    CHECK_STR(csv("--sweep=x=1,2", "csv=r.csv", 0),
        "--report=csv: cannot write r-x=2-1.csv: Is a directory");
    CHECK_INT(rmdir("r-x=2-1.csv"), 0);
    CHECK_INT(mkfifo("r-x=2-1.csv", 0666), 0);
    CHECK_STR(csv("--sweep=x=1,2", "csv=r.csv", 0),
        "--report=csv: cannot write r-x=2-1.csv: it is no regular file");
    CHECK_INT(unlink("r-x=2-1.csv"), 0);
    CHECK_INT(symlink("nothing", "r-x=2-1.csv"), 0);
    CHECK_STR(csv("--sweep=x=1,2", "csv=r.csv", 0),
        "--report=csv: cannot write r-x=2-1.csv: it is a symbolic link");
    CHECK_INT(unlink("r-x=2-1.csv"), 0);
    memset(target + 4, 'n', 248);
    CHECK(strncmp(csv("--sweep=x=1", target, 0),
              "--report=csv: the name of the file of a run would be too long",
              60) == 0);
}

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
    json_t *members = json_pack("{s:{s:s}}", "sweep", "axis", "threads");
    int rc = sb_sweep_files_write(&files, path, n, members, "t", err);

    json_decref(members);
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
    RUN(files_have_the_values_in_their_names);
    RUN(no_two_runs_have_the_same_file);
    RUN(names_are_cut_between_characters);
    RUN(devices_keep_their_names);
    RUN(files_that_cannot_be_written_are_found_at_once);
    RUN(one_file_has_all_runs);
    RUN(reformatted_files_are_copied);
    RUN(damaged_files_are_named);
    return check_done();
}
