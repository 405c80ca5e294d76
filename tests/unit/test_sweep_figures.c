// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "check.h"
#include "check_folder.h"
#include "cmd/sweep_figures.h"

static int intervals = 20;

// Writes the result of a run with about this throughput.
static void put(const char *swept, double rate, int status)
{
    FILE *f = fopen("run.json", "w");
    double sum = 0;

    fprintf(f,
        "{\"format\":\"sysbench-result\",\"version\":1,\"runs\":[{"
        "\"swept\":%s,\"interval\":1,\"intervals\":{\"rows\":[\n",
        swept);
    for (int i = 0; i < intervals; i++) {
        double now = rate + i * 7 % 5 - 2;

        fprintf(f, "[%d,1,%.0f]%s\n", i + 1, now, i + 1 < intervals ? "," : "");
        sum += now;
    }
    fprintf(f, "],\"columns\":[");
    const char *const names[] = { "time", "seconds", "events" };
    for (int i = 0; i < 3; i++)
        fprintf(f, "%s{\"group\":\"run\",\"name\":\"\",\"figure\":\"%s\"}",
            i ? "," : "", names[i]);
    fprintf(f,
        "]},\"histograms\":{\"rows\":[\n]},\"counters\":{\"completed\":%.0f},"
        "\"errors\":[{\"count\":3}],"
        "\"latency\":{\"min\":1000000,\"max\":1000000,\"sum\":0,"
        "\"histogram\":[]},\"end\":{\"seconds\":%d,\"status\":%d}}]}",
        sum, intervals, status);
    fclose(f);
}

static int add(
    struct sb_sweep_figures *f, const char *swept, double rate, int status)
{
    struct sb_result_file r;
    struct sb_err err = { 0 };

    put(swept, rate, status);
    CHECK_INT(sb_result_read(&r, "run.json", &err), 0);
    CHECK_STR(err.msg, "");
    int rc = sb_sweep_figures_add_run(f, &r.run[0]);

    sb_result_done(&r);
    return rc;
}

static char *printed(const struct sb_sweep_figures *f)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    sb_sweep_figures_print(f, out);
    fclose(out);
    return text;
}

static void peak_and_knee_are_named(void)
{
    static const double rates[] = { 1000, 2000, 3990, 4000, 3000 };
    struct sb_sweep_figures f;
    char swept[64];

    sb_sweep_figures_init(&f);
    // The order of loads is that of numbers: 16 is above 8.
    for (int i = 0; i < 15; i++) {
        snprintf(swept, sizeof(swept), "{\"threads\":\"%d\"}", 1 << i % 5);
        CHECK_INT(add(&f, swept, rates[i % 5] + i / 5, 0), 0);
    }
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    CHECK_INT(f.npoints, 5);
    CHECK_INT(f.axis, 0);
    CHECK_INT(f.ngroups, 1);
    CHECK_INT(f.point[3].runs, 3);
    CHECK_NEAR(f.point[3].figure[SB_SWEEP_RATE].value, 4001, 0.01);
    CHECK(f.point[3].figure[SB_SWEEP_RATE].low < 4001);
    CHECK_NEAR(f.point[3].errors, 9, 0);
    CHECK_INT(f.group[0].knee.peak, 3);
    CHECK_INT(f.group[0].knee.knee, 2);
    char *text = printed(&f);
    CHECK(strstr(text, "\nPeak: 4001.00 events/s at threads=8") != NULL);
    CHECK(strstr(text, "\nKnee: threads=4, the lowest with 95 % of the peak") !=
          NULL);
    free(text);
    json_t *o = sb_sweep_figures_json(&f);
    const json_t *g = json_array_get(json_object_get(o, "groups"), 0);

    CHECK_STR(json_string_value(json_object_get(o, "axis")), "threads");
    CHECK_STR(
        json_string_value(json_object_get(json_object_get(g, "knee"), "value")),
        "4");
    CHECK_INT(json_array_size(json_object_get(o, "points")), 5);
    json_decref(o);
    sb_sweep_figures_done(&f);
}

static void other_options_make_groups(void)
{
    struct sb_sweep_figures f;

    sb_sweep_figures_init(&f);
    CHECK_INT(add(&f, "{\"t\":\"4K\",\"x\":\"a\"}", 100, 0), 0);
    CHECK_INT(add(&f, "{\"t\":\"16K\",\"x\":\"a\"}", 200, 0), 0);
    CHECK_INT(add(&f, "{\"t\":\"4K\",\"x\":\"b\"}", 300, 0), 0);
    CHECK_INT(add(&f, "{\"t\":\"16K\",\"x\":\"b\"}", 200, 0), 0);
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    CHECK_INT(f.axis, 0);
    CHECK_INT(f.ngroups, 2);
    char *text = printed(&f);
    CHECK(strstr(text, "Knee (x=a): t=16K, ") != NULL);
    CHECK(strstr(text, "Knee (x=b): t=4K, ") != NULL);
    free(text);
    CHECK_INT(add(&f, "{\"other\":\"4K\",\"x\":\"b\"}", 300, 0), SB_EUSAGE);
    CHECK_INT(add(&f, "{\"t\":\"4K\"}", 300, 0), SB_EUSAGE);
    sb_sweep_figures_done(&f);
}

static void texts_have_a_peak_and_no_knee(void)
{
    struct sb_sweep_figures f;

    sb_sweep_figures_init(&f);
    CHECK_INT(add(&f, "{\"x\":\"a\"}", 100, 0), 0);
    CHECK_INT(add(&f, "{\"x\":\"b\"}", 200, 0), 0);
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    CHECK_INT(f.axis, -1);
    char *text = printed(&f);
    CHECK(strstr(text, "Peak: 200.00 events/s at x=b\n") != NULL);
    CHECK(strstr(text, "Knee") == NULL);
    free(text);
    sb_sweep_figures_done(&f);
}

static void without_margins_the_table_says_so(void)
{
    static const char *const swept[] = { "{\"t\":\"1\"}", "{\"t\":\"2\"}" };
    struct sb_sweep_figures f;

    for (int i = 0; i < 2; i++) {
        sb_sweep_figures_init(&f);
        CHECK_INT(add(&f, swept[0], 100, 0), 0);
        intervals = i == 0 ? 20 : 1;
        CHECK_INT(add(&f, swept[1], 200, 0), 0);
        intervals = 20;
        CHECK_INT(sb_sweep_figures_compute(&f), 0);
        char *text = printed(&f);
        json_t *o = sb_sweep_figures_json(&f);
        const json_t *peak = json_object_get(
            json_array_get(json_object_get(o, "groups"), 0), "peak");

        CHECK_INT(strstr(text, "; still rising at the highest value\n") != NULL,
            i == 0);
        CHECK_INT(
            strstr(text, "at t=2 (no error margins: measure longer or use "
                         "--repeat)\n") != NULL,
            i == 1);
        CHECK_INT(json_is_true(json_object_get(peak, "estimated")), i == 1);
        CHECK_INT(json_is_true(json_object_get(peak, "still_rising")), i == 0);
        json_decref(o);
        free(text);
        sb_sweep_figures_done(&f);
    }
}

static void failed_runs_have_no_figures(void)
{
    static const struct sb_fact swept[] = { { "t", "3" } };
    struct sb_sweep_figures f;

    sb_sweep_figures_init(&f);
    CHECK_INT(add(&f, "{\"t\":\"1\"}", 100, 0), 0);
    CHECK_INT(add(&f, "{\"t\":\"1\"}", 900, 1), 0);
    CHECK_INT(add(&f, "{\"t\":\"2\"}", 200, SB_STATUS_LIMITS), 0);
    CHECK_INT(sb_sweep_figures_add(&f, swept, 1, NULL, 1), 0);
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    CHECK_INT(f.point[0].runs, 1);
    CHECK_INT(f.point[0].failed, 1);
    CHECK_NEAR(f.point[0].figure[SB_SWEEP_RATE].value, 100, 1);
    CHECK_INT(f.point[1].missed, 1);
    CHECK_INT(f.point[2].failed, 1);
    CHECK(isnan(f.point[2].figure[SB_SWEEP_RATE].value));
    CHECK_INT(f.group[0].knee.peak, 1);
    char *text = printed(&f);
    CHECK(strstr(text, "  1 failed\n") != NULL);
    CHECK(strstr(text, "  1 did not keep a limit\n") != NULL);
    free(text);
    json_t *o = sb_sweep_figures_json(&f);
    CHECK(o != NULL);
    json_decref(o);
    sb_sweep_figures_done(&f);
}

static void other_runs_are_no_sweep(void)
{
    struct sb_sweep_figures f;

    sb_sweep_figures_init(&f);
    CHECK_INT(add(&f, "null", 100, 0), 0);
    CHECK_INT(f.npoints, 0);
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    CHECK_INT(add(&f, "{}", 100, 0), 0);
    CHECK_INT(f.npoints, 1);
    sb_sweep_figures_done(&f);
}

int main(void)
{
    check_folder();
    RUN(peak_and_knee_are_named);
    RUN(other_options_make_groups);
    RUN(texts_have_a_peak_and_no_knee);
    RUN(without_margins_the_table_says_so);
    RUN(failed_runs_have_no_figures);
    RUN(other_runs_are_no_sweep);
    return check_done();
}
