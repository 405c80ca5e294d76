// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "check_folder.h"
#include "out/result_file.h"

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
}

#define HEAD                                                        \
    "{\"format\":\"sysbench-result\",\"version\":1,\"program\":{}," \
    "\"runs\":[{\"test\":\"t\",\"threads\":2,\"intervals\":{\"rows\":[\n"
#define COLUMNS                                                             \
    "],\"columns\":[{\"group\":\"run\",\"name\":\"\",\"figure\":\"time\"}," \
    "{\"group\":\"operation\",\"name\":\"a\",\"figure\":\"p99\"}]},"        \
    "\"histograms\":{\"rows\":[\n[71,3,4],\n[]\n]},"

// Reads a file with these rows of intervals, and checks their number.
static void read_rows(
    struct sb_result_file *f, const char *rows, size_t nrows, size_t nvalues)
{
    struct sb_err err = { 0 };
    char text[1024];

    snprintf(text, sizeof(text), HEAD "%s" COLUMNS "\"end\":{}}]}", rows);
    put("rows.json", text);
    CHECK_INT(sb_result_read(f, "rows.json", &err), 0);
    CHECK_STR(err.msg, "");
    CHECK_INT(f->run[0].intervals.nrows, nrows);
    CHECK_INT(f->run[0].intervals.nvalues, nvalues);
}

static void rows_of_any_length_and_layout(void)
{
    static const struct {
        const char *text;
        size_t nrows, nvalues;
    } rows[] = { { "", 0, 0 }, { "[]\n", 1, 0 }, { "[1],\n[]\n", 2, 1 },
        { "[1,2,3],\n[4,null]\n", 2, 5 }, { "[1,2],[3,4]", 2, 4 },
        { " [ 1 , null ]\r\n,\t[\n 2\n] ", 2, 3 } };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sb_result_file f;

        read_rows(&f, rows[i].text, rows[i].nrows, rows[i].nvalues);
        sb_result_done(&f);
    }
}

// Numbers are exactly those that strtod() returns.
static void numbers_are_exact(void)
{
    static const char *const texts[] = { "0", "-0", "1", "-1", "0.1", "123.456",
        "99999.9999999999", "123456789012345", "1234567890123456789", "1e5",
        "1.5e-7", "-2.5E+3", "0.1234", "0.0000000000000000000000001",
        "9007199254740993", "3.141592653589793238462643383279" };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct sb_result_file f;
        char line[64];

        snprintf(line, sizeof(line), "[%s]\n", texts[i]);
        read_rows(&f, line, 1, 1);
        CHECK_NEAR(sb_result_value(&f.run[0], 0, 0), strtod(texts[i], NULL), 0);
        sb_result_done(&f);
    }
}

// The message has the line and the column.
static void rows_that_are_not_json(void)
{
    static const char *const texts[] = { "[", "[1", "[1,", "[1,]", "[,1]",
        "[1],", "[1]]", "[+1]", "[.5]", "[1.]", "[1e999]", "[1e]", "[nan]",
        "[0x10]", "[-]", "[-\"a\"]", "[1 2]", "[1][2]", "[1],\v[2]" };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct sb_result_file f;
        struct sb_err err = { 0 };
        char text[1024];

        snprintf(
            text, sizeof(text), HEAD "%s" COLUMNS "\"end\":{}}]}", texts[i]);
        put("rows.json", text);
        CHECK_INT(sb_result_read(&f, "rows.json", &err), SB_EUSAGE);
        if (!strstr(err.msg, "rows.json is not valid JSON: line "))
            printf("# rows %s: %s\n", texts[i], err.msg);
        CHECK(strstr(err.msg, "rows.json is not valid JSON: line "));
        sb_result_done(&f);
    }
}

static void intervals(void)
{
    struct sb_result_file f;
    struct sb_err err = { 0 };

    put("ok.json", HEAD "[1],\n[2,0.5]\n" COLUMNS "\"end\":{}}]}");
    CHECK_INT(sb_result_read(&f, "ok.json", &err), 0);
    CHECK_STR(err.msg, "");
    CHECK_INT(f.nruns, 1);
    CHECK_STR(sb_result_text(&f.run[0], "test"), "t");
    CHECK(!f.run[0].has_totals);
    unsigned p99 = sb_result_column(&f.run[0], "operation", "a", "p99");
    CHECK_INT(p99, 1);
    CHECK_INT(sb_result_column(&f.run[0], "operation", "b", "p99"), 2);
    CHECK(isnan(sb_result_value(&f.run[0], 0, p99)));
    CHECK_NEAR(sb_result_value(&f.run[0], 1, p99), 0.5, 0);
    CHECK(isnan(sb_result_value(&f.run[0], 2, p99)));
    CHECK_INT(f.run[0].histograms.nrows, 2);
    CHECK_INT(f.run[0].histograms.nvalues, 3);
    sb_result_done(&f);
}

// The same file after another program has formatted it.
static void formatted_by_another_program(void)
{
    struct sb_result_file f;
    struct sb_err err = { 0 };

    put("other.json",
        "{\"runs\": [{\"histograms\": {\"rows\": [[71, 3, 4], []]},\n"
        "\"intervals\": {\"columns\": [{\"figure\": \"time\"}],\n"
        "  \"rows\": [\n    [1],\n    [2, null]]}, \"end\": {}}],\n"
        " \"version\": 1, \"format\": \"sysbench-result\"}\n");
    CHECK_INT(sb_result_read(&f, "other.json", &err), 0);
    CHECK_STR(err.msg, "");
    CHECK_INT(f.run[0].intervals.nrows, 2);
    CHECK_NEAR(sb_result_value(&f.run[0], 1, 0), 2, 0);
    CHECK(isnan(sb_result_value(&f.run[0], 1, 1)));
    CHECK_INT(f.run[0].histograms.nvalues, 3);
    sb_result_done(&f);
}

// Texts that look like rows or operations, and lists with these names that
// belong to something else.
static void rows_elsewhere(void)
{
    struct sb_result_file f;
    struct sb_err err = { 0 };

    put("elsewhere.json",
        "{\"format\":\"sysbench-result\",\"version\":1,\"rows\":[\n1],"
        "\"program\":{\"runs\":[1],\"rows\":[\n[1]\n]},\"runs\":[{"
        "\"labels\":{\"operations\":\"[\",\"rows\":\"[\\n[1]\\n]\","
        "\"a\\\"rows\\\":[\\n\":\"\\\"intervals\\\":{\\\"rows\\\":[\\n\"},"
        "\"marks\":[{\"operations\":[\"x\"],\"intervals\":{\"rows\":[\n7]}}],"
        "\"rows\":[\n[1,2]\n],\"histograms\":null,"
        "\"intervals\":{\"missing\":1,\"rows\":[\n[5]\n],"
        "\"more\":{\"rows\":[\n[6]\n]}}},"
        "{\"test\":\"second\",\"intervals\":{\"rows\":[[8],[9]]}}]}");
    CHECK_INT(sb_result_read(&f, "elsewhere.json", &err), 0);
    CHECK_STR(err.msg, "");
    CHECK_INT(f.nruns, 2);
    CHECK_INT(f.run[0].intervals.nrows, 1);
    CHECK_NEAR(f.run[0].intervals.value[0], 5, 0);
    CHECK_INT(f.run[0].histograms.nrows, 0);
    CHECK_INT(f.run[1].intervals.nrows, 2);
    CHECK_STR(sb_result_text(&f.run[1], "test"), "second");
    json_t *labels = json_object_get(f.run[0].json, "labels");
    CHECK_STR(sb_result_member(labels, "rows"), "[\n[1]\n]");
    json_t *mark = json_array_get(json_object_get(f.run[0].json, "marks"), 0);
    CHECK_INT(json_array_size(json_object_get(mark, "operations")), 1);
    sb_result_done(&f);
}

#define TOTALS(counters, buckets)                                              \
    HEAD "[1]\n" COLUMNS "\"counters\":{" counters "},"                        \
         "\"latency\":{\"min\":5,\"max\":7,\"sum\":12,\"histogram\":[" buckets \
         "]},\"users\":{\"events\":[1,1],\"service_ns\":[5,7],"                \
         "\"min_ns\":[5,7],\"max_ns\":[5,7]},\"operations\":[{\"name\":\"a\"," \
         "\"kind\":\"write\",\"errors\":1,\"latency\":{\"count\":1,"           \
         "\"histogram\":[[9,9,1]]}}],\"errors\":[{\"driver\":\"d\","           \
         "\"code\":-3,\"count\":2,\"first_seen\":1.5}],"                       \
         "\"end\":{\"seconds\":2}}]}"

static void totals(void)
{
    struct sb_result_file f;
    struct sb_err err = { 0 };

    put("totals.json", TOTALS("\"completed\":2,\"reads\":\"9007199254740993\"",
                           "[5,5,1],[7,7,1]"));
    CHECK_INT(sb_result_read(&f, "totals.json", &err), 0);
    CHECK_STR(err.msg, "");
    const struct sb_report *r = &f.run[0].report;
    CHECK(f.run[0].has_totals);
    CHECK_NEAR(r->total_s, 2, 0);
    CHECK_INT(r->snap->c.completed, 2);
    CHECK_INT(r->snap->c.reads, INT64_C(9007199254740993));
    CHECK_INT(r->lat_max, 7);
    CHECK_NEAR(r->lat_avg, 6, 0);
    CHECK_INT(r->latency->total, 2);
    CHECK_INT(r->snap->users, 2);
    CHECK_INT(r->snap->user_ns[1], 7);
    CHECK_INT(r->snap->nops, 1);
    CHECK_STR(r->stats->op[0].name, "a");
    CHECK_INT(r->stats->op[0].kind, SB_OP_WRITE);
    CHECK_INT(r->snap->op[0].errors, 1);
    CHECK_INT(r->snap->op[0].hist.total, 1);
    CHECK_INT(r->snap->code[0].native, -3);
    CHECK_INT(r->snap->code[0].first_ns, 1500000000);
    sb_result_done(&f);
}

#define METRICS                                                               \
    "\"metrics\":[{\"name\":\"hits\",\"kind\":\"counter\",\"unit\":\"x\","    \
    "\"help\":\"of it\",\"sum\":2.5},{\"name\":\"depth\",\"kind\":\"gauge\"," \
    "\"value\":4},{\"name\":\"later\",\"kind\":\"of a later version\"},"      \
    "{\"name\":\"size\",\"kind\":\"distribution\",\"count\":3,\"sum\":12,"    \
    "\"min\":1,\"max\":7,\"scale\":" SCALE                                    \
    ",\"histogram\":[[2,2,2],[14,14,1]]}"                                     \
    "],"
#define SCALE "2"
#define STAGES                                                              \
    "\"stages\":[{\"name\":\"low\",\"start\":0,\"seconds\":1.5,"            \
    "\"threads\":[1,8],\"rate\":null,\"counters\":{\"completed\":1,"        \
    "\"err_ignored\":2},\"latency\":{\"min\":5,\"max\":5,\"sum\":5,"        \
    "\"histogram\":[[5,5,1]]}},{\"name\":\"high\",\"start\":1.5,"           \
    "\"seconds\":0.5,\"threads\":[8,8],\"rate\":[10,20.5],\"counters\":{}," \
    "\"latency\":{\"min\":null,\"histogram\":[]}}],"

static void metrics_and_stages(void)
{
    struct sb_result_file f;
    struct sb_err err = { 0 };

    put("more.json",
        HEAD "[1]\n" COLUMNS METRICS STAGES
             "\"warmup\":true,\"counters\":{},\"end\":{\"seconds\":2}}]}");
    CHECK_INT(sb_result_read(&f, "more.json", &err), 0);
    CHECK_STR(err.msg, "");
    const struct sb_report *r = &f.run[0].report;
    const struct sb_snap_metric *m = r->snap->metric;
    CHECK(r->warmup);
    CHECK_INT(r->snap->nmetrics, 3);
    CHECK_STR(r->stats->metrics.metric[0].unit, "x");
    CHECK_STR(r->stats->metrics.metric[0].help, "of it");
    CHECK_NEAR(m[0].value, 2.5, 0);
    CHECK_INT(m[1].kind, SB_METRIC_GAUGE);
    CHECK_NEAR(m[1].value, 4, 0);
    CHECK_STR(r->stats->metrics.metric[2].name, "size");
    CHECK_NEAR(m[2].scale, 2, 0);
    CHECK_INT(m[2].count, 3);
    CHECK_INT(m[2].hist.total, 3);
    CHECK_NEAR(m[2].min, 1, 0);
    CHECK_NEAR(m[2].max, 7, 0);
    CHECK_NEAR(sb_snap_metric_percentile(&m[2], 50), 1, 0);
    CHECK_INT(r->nstages, 2);
    CHECK_STR(r->stages[0].stage_name, "low");
    CHECK_NEAR(r->stages[0].total_s, 1.5, 0);
    CHECK_INT(r->stages[0].stage_users[1], 8);
    CHECK_INT(r->stages[0].errors, 2);
    CHECK_INT(r->stages[0].latency->total, 1);
    CHECK_NEAR(r->stages[1].interval_s, 0.5, 0);
    CHECK_NEAR(r->stages[1].stage_rate[1], 20.5, 0);
    CHECK_INT(r->stages[1].latency->total, 0);
    sb_result_done(&f);
}

static void bad_file(const char *text, const char *message)
{
    struct sb_result_file f;
    struct sb_err err = { 0 };

    put("bad.json", text);
    CHECK_INT(sb_result_read(&f, "bad.json", &err), SB_EUSAGE);
    CHECK_STR(err.msg, message);
    sb_result_done(&f);
}

// Other values instead of rows, which no reporter writes.
static void values_are_no_rows(void)
{
    static const struct {
        const char *text, *message;
    } values[] = { { "null", "" }, { "[[null]]", "" },
        { "{}", "\"rows\" is not a list of rows" },
        { "7", "\"rows\" is not a list of rows" },
        { "[-1]", "row 1 of the intervals is not a list" },
        { "[[1],\"x\"]", "row 2 of the intervals is not a list" },
        { "[[\"x\"]]",
            "row 1 of the intervals has a value that is not a number" },
        { "[[1],[1,true]]",
            "row 2 of the intervals has a value that is not a number" },
        { "[[[1]]]",
            "row 1 of the intervals has a value that is not a number" } };

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct sb_result_file f;
        struct sb_err err = { 0 };
        char text[256];

        snprintf(text, sizeof(text),
            "{\"format\":\"sysbench-result\",\"version\":1,"
            "\"runs\":[{\"intervals\":{\"rows\":%s},\"histograms\":{\"rows\":%"
            "s}}]}",
            values[i].text, values[i].text);
        put("numbers.json", text);
        CHECK_INT(sb_result_read(&f, "numbers.json", &err),
            *values[i].message ? SB_EUSAGE : 0);
        CHECK_STR(err.msg + (err.msg[0] ? strlen("numbers.json: ") : 0),
            values[i].message);
        CHECK(*values[i].message || isnan(sb_result_value(&f.run[0], 0, 0)));
        sb_result_done(&f);
    }
}

static void wrong_files_are_explained(void)
{
    struct sb_result_file f;
    struct sb_err err = { 0 };

    bad_file("", "bad.json is empty");
    bad_file("{}", "bad.json is not a result file (written by "
                   "--report=json=FILE)");
    bad_file(HEAD "[1]\n",
        "bad.json is not a complete JSON document: line 3, column 0: ']' "
        "expected near end of file");
    bad_file("{\"format\":",
        "bad.json is not a complete JSON document: line 1, "
        "column 10: unexpected token near end of file");
    bad_file("{\"a\":1,\"b\":2,\"a\":3}",
        "bad.json is not valid JSON: line 1, column 16: duplicate object key "
        "near '\"a\"'");
    bad_file("{\"runs\":[],\"runs\":[]}",
        "bad.json is not valid JSON: line 1, column 17: duplicate object key "
        "near '\"runs\"'");
    bad_file("{} x", "bad.json is not valid JSON: line 1, column 4: end of "
                     "file expected near 'x'");
    bad_file("a,b\n1,2\n", "bad.json is not a result file (written by "
                           "--report=json=FILE)");
    bad_file("{\"line\":\"run\"}\n{\"line\":\"interval\"}\n",
        "bad.json is not a result file: it was written by "
        "--report=ndjson=FILE; use the file of --report=json=FILE");
    bad_file("{\"format\":\"sysbench-result\",\"version\":0,\"runs\":[]}",
        "bad.json: \"version\" is not a number above 0");
    bad_file(TOTALS("\"completed\":-1", ""),
        "bad.json: \"completed\" is not a count");
    bad_file(TOTALS("\"completed\":1", "[5,6,1]"),
        "bad.json: a histogram has a bucket from 5 to 6 ns, which sysbench "
        "does not use");
    bad_file(TOTALS("\"completed\":1", "[5]"),
        "bad.json: a histogram has an entry that is not of the form [low, "
        "high, count]");
    CHECK_INT(sb_result_read(&f, "none.json", &err), SB_ESYS);
    CHECK_STR(err.msg, "cannot read none.json: No such file or directory");
    sb_result_done(&f);
}

// A scale that the program does not use has other buckets.
#undef SCALE
static void bad_metrics(void)
{
#define TAIL  "\"counters\":{},\"end\":{}}]}"
#define SCALE "3"
    bad_file(HEAD "[1]\n" COLUMNS METRICS TAIL,
        "bad.json: metric 'size': the scale is not a power of two");
#undef SCALE
#define SCALE "0"
    bad_file(HEAD "[1]\n" COLUMNS METRICS TAIL,
        "bad.json: metric 'size': the scale is not a power of two");
#undef SCALE
#define SCALE "1e-300"
    bad_file(HEAD "[1]\n" COLUMNS METRICS TAIL,
        "bad.json: metric 'size': the scale is not a power of two");
    bad_file(HEAD "[1]\n" COLUMNS
                  "\"metrics\":[{\"name\":\"a\",\"kind\":\"gauge\"},"
                  "{\"name\":\"a\",\"kind\":\"counter\"}]," TAIL,
        "bad.json: metric 'a' is a gauge, not a counter");
}

CHECK_FILE
{
    check_folder();
    RUN(rows_of_any_length_and_layout);
    RUN(numbers_are_exact);
    RUN(rows_that_are_not_json);
    RUN(intervals);
    RUN(formatted_by_another_program);
    RUN(rows_elsewhere);
    RUN(totals);
    RUN(metrics_and_stages);
    RUN(bad_metrics);
    RUN(values_are_no_rows);
    RUN(wrong_files_are_explained);
    return check_done();
}
