// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "check.h"
#include "cmd/merge_rows.h"

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

static void check_merged(double offset, const char *want, const char *want_heat)
{
    struct sb_result_file a, b;
    struct sb_err err = { 0 };
    struct sb_merge_rows m;
    double offsets[] = { 0, offset };

    CHECK_INT(sb_result_read(&a, "a.json", &err), 0);
    CHECK_INT(sb_result_read(&b, "b.json", &err), 0);
    const struct sb_result_run *run[] = { &a.run[0], &b.run[0] };
    CHECK_INT(sb_merge_rows_init(&m, run, offsets, 2, 1), 0);
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

int main(void)
{
    RUN(rows_of_the_same_moment_are_added);
    RUN(runs_may_start_later);
    RUN(warm_ups_are_left_out);
    RUN(columns_are_united);
    return check_done();
}
