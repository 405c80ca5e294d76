// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include <stdlib.h>

#include "check.h"
#include "check_folder.h"
#include "results/merge.h"

// Writes a result file with these rows.
static void put(
    const char *path, const char *rows, const char *heat, const char *more)
{
    FILE *f = fopen(path, "w");

    fprintf(f,
        "{\"format\":\"sysbench-result\",\"version\":1,\"runs\":[{"
        "\"intervals\":{\"rows\":[\n%s\n],\"columns\":["
        "{\"group\":\"run\",\"name\":\"\",\"figure\":\"time\",\"unit\":\"s\"},"
        "{\"group\":\"run\",\"name\":\"\",\"figure\":\"seconds\",\"unit\":"
        "\"s\"},"
        "{\"group\":\"run\",\"name\":\"\",\"figure\":\"events\",\"unit\":\"\"},"
        "{\"group\":\"run\",\"name\":\"\",\"figure\":\"avg\",\"unit\":\"ms\"},"
        "{\"group\":\"run\",\"name\":\"\",\"figure\":\"p99\",\"unit\":\"ms\"},"
        "{\"group\":\"run\",\"name\":\"\",\"figure\":\"max\",\"unit\":\"ms\"}"
        "%s]},\"histograms\":{\"rows\":[\n%s\n]},\"end\":{}}]}",
        rows, more, heat);
    fclose(f);
}

static char *text_of(
    int (*write)(void *, FILE *, struct sb_err *), struct sb_merge_rows *m)
{
    struct sb_err err = { 0 };
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    CHECK_INT(write(m, out, &err), 0);
    fclose(out);
    return text;
}

static double length = 1; // of an interval, s

static void check_merged(double offset, const char *want, const char *want_heat)
{
    struct sb_result_file a, b;
    struct sb_err err = { 0 };
    struct sb_merge_rows m;
    double offsets[] = { 0, offset };

    CHECK_INT(sb_result_read(&a, "a.json", &err), 0);
    CHECK_INT(sb_result_read(&b, "b.json", &err), 0);
    const struct sb_result_run *run[] = { &a.run[0], &b.run[0] };
    CHECK_INT(sb_merge_rows_init(&m, run, offsets, 2, length), 0);
    char *text = text_of(sb_merge_rows_write, &m);
    CHECK_STR(text, want);
    free(text);
    text = text_of(sb_merge_rows_heat, &m);
    CHECK_STR(text, want_heat);
    free(text);
    sb_merge_rows_done(&m);
    sb_result_done(&a);
    sb_result_done(&b);
}

static void rows_of_the_same_moment_are_added(void)
{
    put("a.json", "[1,1,10,2,3,4],\n[2,1,20,2,3,4]", "[5,10],\n[5,20]", "");
    put("b.json", "[1.01,1,30,4,5,6],\n[2.01,1,0,null,null,null]",
        "[4,10,20],\n[]", "");
    // A percentile of two runs is unknown; of one run, it is that run's.
    check_merged(0, "[1.01,1,40,3.5,null,6],\n[2.01,1,20,2,3,4]\n",
        "[4,10,30],\n[5,20]\n");
}

static void runs_may_start_later(void)
{
    put("a.json", "[1,1,10,2,3,4]", "[5,10]", "");
    put("b.json", "[1,1,30,4,5,6]", "[5,30]", "");
    check_merged(
        1.2, "[1,1,10,2,3,4],\n[2.2,1,30,4,5,6]\n", "[5,10],\n[5,30]\n");
    // A time without any run has no row.
    check_merged(5, "[1,1,10,2,3,4],\n[6,1,30,4,5,6]\n", "[5,10],\n[5,30]\n");
}

// The warm-up of a run that started later is at the time of measured rows.
static void warm_ups_are_left_out(void)
{
    put("a.json", "[1,1,10,2,3,4],\n[2,1,10,2,3,4]", "[5,10],\n[5,10]", "");
    put("b.json", "[0,1,500,4,5,6],\n[1,1,30,4,5,6]", "[5,500],\n[5,30]", "");
    check_merged(
        1, "[1,1,10,2,3,4],\n[2,1,40,3.5,null,6]\n", "[5,10],\n[5,40]\n");
}

static void columns_are_united(void)
{
    put("a.json", "[1,1,10,2,3,4,7]", "[5,10]",
        ",{\"group\":\"operation\",\"name\":\"x\",\"figure\":\"count\","
        "\"unit\":\"\"}");
    put("b.json", "[1,1,30,4,5,6,8]", "[5,30]",
        ",{\"group\":\"operation\",\"name\":\"y\",\"figure\":\"count\","
        "\"unit\":\"\"}");
    check_merged(0, "[1,1,40,3.5,null,6,7,8]\n", "[5,40]\n");
}

// One row of a run in each slot: if rows were put where their middle lies in
// time, the second and the third row of b would be in one slot.
static void a_slot_has_one_row_of_a_run(void)
{
    put("a.json", "[1,1,10,2,3,4],\n[2,1,10,2,3,4],\n[3,1,10,2,3,4]",
        "[5,10],\n[5,10],\n[5,10]", "");
    put("b.json",
        "[1.02,1.02,1,4,5,6],\n[2.021,1.001,2,4,5,6],\n[3,0.979,4,4,5,6]",
        "[5,1],\n[5,2],\n[5,4]", "");
    check_merged(0.489,
        "[1.509,1.02,11,2.182,null,6],\n[2.51,1.001,12,2.333,null,6],"
        "\n[3.489,1,14,2.571,null,6]\n",
        "[5,11],\n[5,12],\n[5,14]\n");
    // Half an interval: the rows of the run that started later come later.
    check_merged(0.5,
        "[1,1,10,2,3,4],\n[2,1.02,11,2.182,null,6],\n[3,1.001,12,2.333,"
        "null,6],\n[3.5,0.979,4,4,5,6]\n",
        "[5,10],\n[5,11],\n[5,12],\n[5,4]\n");
}

// A report that is late, and a last interval that is short.
static void late_and_short_rows(void)
{
    put("a.json",
        "[1.1,1.1,10,2,3,4],\n[2.9,1.8,20,2,3,4],\n[3,0.1,1,2,3,4],\n"
        "[4,1,10,2,3,4],\n[4.05,0.05,1,2,3,4]",
        "[5,10],\n[5,20],\n[5,1],\n[5,10],\n[5,1]", "");
    put("b.json", "[1,1,1,2,3,4],\n[2,1,1,2,3,4],\n[2.2,0.2,1,2,3,4]",
        "[5,1],\n[5,1],\n[5,1]", "");
    check_merged(0,
        "[1.1,1.1,11,2,null,4],\n[2.9,1.8,21,2,null,4],\n[3,0.2,2,2,null,4],"
        "\n[4,1,10,2,3,4],\n[4.05,0.05,1,2,3,4]\n",
        "[5,11],\n[5,21],\n[5,2],\n[5,10],\n[5,1]\n");
    // A short row ends before the row of the other run in the slot before.
    put("a.json", "[1,1,10,2,3,4]", "[5,10]", "");
    put("b.json", "[1,1,1,2,3,4],\n[1.05,0.05,1,2,3,4]", "[5,1],\n[5,1]", "");
    check_merged(
        -0.4, "[1,1,11,2,null,4],\n[1,0.05,1,2,3,4]\n", "[5,11],\n[5,1]\n");
}

// Times have seven digits, so after a day an end may be a little too early.
static void rounded_times(void)
{
    put("a.json", "[86400.3,0.3,1,2,3,4],\n[86400.59,0.3,2,2,3,4]",
        "[5,1],\n[5,2]", "");
    put("b.json", "[86400.3,0.3,4,2,3,4],\n[86400.6,0.3,8,2,3,4]",
        "[5,4],\n[5,8]", "");
    length = 0.3;
    check_merged(0, "[86400.3,0.3,5,2,null,4],\n[86400.6,0.3,10,2,null,4]\n",
        "[5,5],\n[5,10]\n");
    length = 1;
}

#define MORE(group, name, figure, unit)                                    \
    ",{\"group\":\"" group "\",\"name\":\"" name "\",\"figure\":\"" figure \
    "\",\"unit\":\"" unit "\"}"

// A gauge is a sum over users, a processor is seen by every process.
static void metrics_and_the_client(void)
{
    static const char more[] = MORE("metric", "depth", "value", "ms")
        MORE("metric", "hits", "sum", "") MORE("metric", "size", "count", "")
            MORE("metric", "size", "avg", "") MORE("metric", "size", "max", "")
                MORE("client", "cpu", "value", "")
                    MORE("client", "machine", "value", "");

    put("a.json", "[1,1,10,2,3,4,1200.5,7,1,10,20,0.5,1.5]", "[5,10]", more);
    put("b.json", "[1,1,30,4,5,6,2,8.25,3,20,30,0.25,1.25]", "[5,30]", more);
    check_merged(
        0, "[1,1,40,3.5,null,6,1202.5,15.25,4,17.5,30,0.75,1.5]\n", "[5,40]\n");
}

CHECK_FILE
{
    check_folder();
    RUN(a_slot_has_one_row_of_a_run);
    RUN(late_and_short_rows);
    RUN(rounded_times);
    RUN(metrics_and_the_client);
    RUN(rows_of_the_same_moment_are_added);
    RUN(runs_may_start_later);
    RUN(warm_ups_are_left_out);
    RUN(columns_are_united);
    return check_done();
}
