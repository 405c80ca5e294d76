// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "check_folder.h"
#include "results/sweep_figures.h"

static int intervals = 20;
static double client;         // processors that other processes use; 0: unknown
static double late;           // share of the arrivals that were not completed
static const char *more = ""; // other members of the run

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

        fprintf(f, "[%d,1,%.0f", i + 1, now);
        if (client > 0)
            fprintf(f, ",1.25,%g", 1.25 + client);
        fprintf(f, "]%s\n", i + 1 < intervals ? "," : "");
        sum += now;
    }
    fprintf(f, "],\"columns\":[");
    const char *const names[] = { "time", "seconds", "events" };
    for (int i = 0; i < 3; i++)
        fprintf(f, "%s{\"group\":\"run\",\"name\":\"\",\"figure\":\"%s\"}",
            i ? "," : "", names[i]);
    if (client > 0)
        fprintf(f, ",{\"group\":\"client\",\"name\":\"cpu\",\"figure\":"
                   "\"value\"},{\"group\":\"client\",\"name\":\"machine\","
                   "\"figure\":\"value\"}");
    fprintf(f,
        "]},\"histograms\":{\"rows\":[\n]},\"counters\":{\"completed\":%.0f,"
        "\"scheduled\":%.0f},%s\"errors\":[{\"count\":3}],"
        "\"latency\":{\"min\":1000000,\"max\":1000000,\"sum\":0,"
        "\"histogram\":[]},\"end\":{\"seconds\":%d,\"status\":%d}}]}",
        sum, sum / (1 - late), more, intervals, status);
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

    sb_sweep_figures_print(f, true, out);
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

// Ports are names, too.
static void names_have_neither_peak_nor_knee(void)
{
    static const char *const swept[2][3] = { { "{\"x\":\"a\"}", "{\"x\":\"b\"}",
                                                 "{\"x\":\"c\"}" },
        { "{\"pgsql-port\":\"1\"}", "{\"pgsql-port\":\"2\"}",
            "{\"pgsql-port\":\"3\"}" } };
    struct sb_sweep_figures f;

    for (int i = 0; i < 2; i++) {
        sb_sweep_figures_init(&f);
        CHECK_INT(add(&f, swept[i][0], 100, 0), 0);
        CHECK_INT(add(&f, swept[i][1], 200, 0), 0);
        CHECK_INT(add(&f, swept[i][2], 200, 0), 0);
        CHECK_INT(sb_sweep_figures_compute(&f), 0);
        CHECK_INT(f.axis, -1);
        char *text = printed(&f);
        json_t *o = sb_sweep_figures_json(&f);

        CHECK(
            strstr(text,
                i ? "\nHighest throughput: 200.00 events/s at pgsql-port=2; no "
                    "difference seen to pgsql-port=3\n"
                  : "\nHighest throughput: 200.00 events/s at x=b; no "
                    "difference seen to x=c\n") != NULL);
        CHECK(strstr(text, "Knee") == NULL);
        CHECK(json_object_get(json_array_get(json_object_get(o, "groups"), 0),
                  "peak") == NULL);
        json_decref(o);
        free(text);
        sb_sweep_figures_done(&f);
    }
}

static void no_peak_is_named_if_no_difference_was_seen(void)
{
    static const char *const swept[] = { "{\"threads\":\"1\"}",
        "{\"threads\":\"2\"}" };
    struct sb_sweep_figures f;

    sb_sweep_figures_init(&f);
    CHECK_INT(add(&f, swept[0], 1000, 0), 0);
    CHECK_INT(add(&f, swept[1], 1004, 0), 0);
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    char *text = printed(&f);
    json_t *o = sb_sweep_figures_json(&f);
    const json_t *g = json_array_get(json_object_get(o, "groups"), 0);

    CHECK(strstr(text, "\nNo peak can be named: no difference between the "
                       "values was seen\n") != NULL);
    CHECK(strstr(text, "Knee") == NULL);
    CHECK(json_is_false(json_object_get(g, "resolved")));
    CHECK(json_object_get(g, "peak") == NULL);
    CHECK(json_object_get(g, "knee") == NULL);
    json_decref(o);
    free(text);
    sb_sweep_figures_done(&f);
}

// Each round is 10 % slower than the one before; a run of the first is missing.
static void rounds_are_compared_within_themselves(void)
{
    static const double rates[] = { 1000, 2000, 2100 };
    struct sb_sweep_figures f;
    char swept[64], round[64];

    sb_sweep_figures_init(&f);
    for (int i = 0; i < 12; i++) {
        snprintf(swept, sizeof(swept), "{\"threads\":\"%d\"}", 1 << i % 3);
        snprintf(round, sizeof(round), "\"round\":%d,", i / 3 + 1);
        more = round;
        CHECK_INT(
            add(&f, swept, rates[i % 3] * (1 - 0.1 * (i / 3)), i == 1), 0);
    }
    more = "";
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    CHECK_INT(f.group[0].knee.peak, 2);
    CHECK_INT(f.group[0].knee.first_like_peak, 2);
    CHECK_NEAR(f.group[0].to_peak[1].difference, -0.048, 0.005);
    sb_sweep_figures_done(&f);
}

// Processors in use: of the machine and of the run. The run of 2 threads does
// not know them.
static void the_share_of_other_processes_is_shown(void)
{
    struct sb_sweep_figures f;

    sb_sweep_figures_init(&f);
    more = "\"host\":{\"processors\":4},";
    client = 0.5;
    CHECK_INT(add(&f, "{\"threads\":\"1\"}", 100, 0), 0);
    client = 2.5;
    CHECK_INT(add(&f, "{\"threads\":\"1\"}", 100, 0), 0);
    client = 0;
    CHECK_INT(add(&f, "{\"threads\":\"2\"}", 200, 0), 0);
    more = "";
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    char *text = printed(&f);
    json_t *o = sb_sweep_figures_json(&f);

    CHECK(
        strstr(text,
            "\nOther processes, with a server on this machine, used 37.5 % of "
            "its processor time (12.5 % to 62.5 % per run)\n") != NULL);
    CHECK_NEAR(json_number_value(
                   json_object_get(json_object_get(o, "others"), "mean")),
        0.375, 1e-9);
    json_decref(o);
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
            strstr(text, "\nNo peak can be named: there are no error "
                         "margins (measure longer or use --repeat)\n") != NULL,
            i == 1);
        CHECK_INT(peak == NULL, i == 1);
        CHECK_INT(
            json_is_true(json_object_get(
                json_array_get(json_object_get(o, "groups"), 0), "estimated")),
            i == 1);
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

// Adds an open loop at a rate of which a share is not completed.
static void add_open(
    struct sb_sweep_figures *f, const char *swept, double rate, double missing)
{
    late = missing;
    more = "\"open_loop\":true,";
    CHECK_INT(add(f, swept, rate * (1 - missing), 0), 0);
    late = 0;
    more = "";
}

static void an_open_loop_has_no_peak(void)
{
    struct sb_sweep_figures f;

    sb_sweep_figures_init(&f);
    // The axis is the rate, although the threads are swept, too.
    add_open(&f, "{\"threads\":\"1\",\"rate\":\"100\"}", 100, 0);
    add_open(&f, "{\"threads\":\"1\",\"rate\":\"900\"}", 900, 0.2);
    add_open(&f, "{\"threads\":\"1\",\"rate\":\"200\"}", 200, 0.009);
    add_open(&f, "{\"threads\":\"2\",\"rate\":\"100\"}", 100, 0.02);
    add_open(&f, "{\"threads\":\"4\",\"rate\":\"100\"}", 100, 0);
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    CHECK_INT(f.peak, SB_SWEEP_PEAK_NONE);
    CHECK_INT(f.axis, 1);
    char *text = printed(&f);
    CHECK(strstr(text, "eak") == NULL);
    CHECK(strstr(text, "Knee") == NULL);
    CHECK(strstr(text, "\nRates reached (threads=1): up to rate=200, not "
                       "rate=900 (at least 99 % of the arrivals completed)\n"
                       "Rates reached (threads=2): none (at") != NULL);
    CHECK(strstr(text, "(threads=4): all, up to rate=100 (") != NULL);
    free(text);
    json_t *o = sb_sweep_figures_json(&f);
    const json_t *groups = json_object_get(o, "groups");
    const json_t *one = json_object_get(json_array_get(groups, 0), "reached");

    CHECK(json_is_null(json_object_get(o, "peak_of")));
    CHECK_STR(json_string_value(json_object_get(one, "value")), "200");
    CHECK(json_is_false(json_object_get(one, "all")));
    one = json_object_get(json_array_get(groups, 1), "reached");
    CHECK(json_is_null(json_object_get(one, "value")));
    CHECK(json_object_get(json_array_get(groups, 0), "peak") == NULL);
    json_decref(o);
    sb_sweep_figures_done(&f);
    // Nothing follows the rate.
    sb_sweep_figures_init(&f);
    add_open(&f, "{\"threads\":\"1\"}", 100, 0);
    add_open(&f, "{\"threads\":\"2\"}", 110, 0);
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    text = printed(&f);
    CHECK(strstr(text, "\nNo peak: the rate is given.\n") != NULL);
    CHECK(strstr(text, "Knee") == NULL);
    free(text);
    sb_sweep_figures_done(&f);
}

// With --events all arrivals are completed, however long it takes.
static void a_number_of_events_reaches_no_rate(void)
{
    static const char *const swept[] = { "{\"rate\":\"100\"}",
        "{\"rate\":\"120\"}" };
    struct sb_sweep_figures f;

    more = "\"open_loop\":true,\"options\":[{\"name\":\"events\","
           "\"value\":\"2000\"}],";
    sb_sweep_figures_init(&f);
    CHECK_INT(add(&f, swept[0], 98, 0), 0);
    CHECK_INT(add(&f, swept[1], 100, 0), 0);
    more = "";
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    CHECK_INT(f.group[0].reached, 1);
    sb_sweep_figures_done(&f);
}

static void add_search(
    struct sb_sweep_figures *f, const char *swept, const char *end, double rate)
{
    char text[500];

    snprintf(text, sizeof(text),
        "\"open_loop\":true,\"search\":{\"percent\":null,\"maximum\":900,"
        "\"rate\":50,\"limit\":\"p99<1ms\",\"unit\":\"ms\",\"end\":\"%s\","
        "\"highest\":%g,\"low\":%g,\"high\":%g,\"safe\":50,\"bounds\":[1,"
        "9999],\"trials\":[{\"rate\":1,\"value\":1,\"kept\":true}]},",
        end, rate, 0.9 * rate, 1.2 * rate);
    more = text;
    CHECK_INT(add(f, swept, 50, 0), 0);
    more = "";
}

// With --rate=80% the throughput is a share of what was measured.
static void a_share_of_the_maximum_has_a_peak(void)
{
    struct sb_sweep_figures f;

    for (int given = 0; given < 2; given++) {
        sb_sweep_figures_init(&f);
        for (int i = 0; i < 2; i++) {
            more = given ? "\"open_loop\":true,"
                         : "\"open_loop\":true,\"search\":{\"percent\":80,"
                           "\"maximum\":900,\"rate\":50},";
            CHECK_INT(add(&f, i ? "{\"threads\":\"2\"}" : "{\"threads\":\"1\"}",
                          100 * (i + 1), 0),
                0);
            more = "";
        }
        CHECK_INT(sb_sweep_figures_compute(&f), 0);
        CHECK_INT(f.peak, given ? SB_SWEEP_PEAK_NONE : SB_SWEEP_PEAK_RATE);
        char *text = printed(&f);
        CHECK_INT(strstr(text, "\nPeak: 200.00 events/s at threads=2") != NULL,
            !given);
        CHECK_INT(strstr(text, "No peak: the rate is given.\n") != NULL, given);
        free(text);
        sb_sweep_figures_done(&f);
    }
}

// The user set the shares; over another option the throughput has a peak.
static void swept_shares_have_no_peak(void)
{
    static const char *const swept[][2] = {
        { "{\"rate\":\"20%\"}", "{\"rate\":\"80%\"}" },
        { "{\"rate\":\"20%\",\"threads\":\"1\"}",
            "{\"rate\":\"20%\",\"threads\":\"2\"}" },
    };

    for (int over = 0; over < 2; over++) {
        struct sb_sweep_figures f;

        sb_sweep_figures_init(&f);
        more = "\"open_loop\":true,\"search\":{\"percent\":80,"
               "\"maximum\":900,\"rate\":50},";
        for (int i = 0; i < 2; i++)
            CHECK_INT(add(&f, swept[over][i], 100 * (i + 1), 0), 0);
        more = "";
        CHECK_INT(sb_sweep_figures_compute(&f), 0);
        CHECK_INT(f.peak, over ? SB_SWEEP_PEAK_RATE : SB_SWEEP_PEAK_NONE);
        char *text = printed(&f);
        CHECK_INT(strstr(text, "No peak: the rate is given.\n") != NULL, !over);
        CHECK_INT(strstr(text, "Peak: ") != NULL, over);
        free(text);
        sb_sweep_figures_done(&f);
    }
}

static void found_rates_are_shown(void)
{
    struct sb_sweep_figures f;

    sb_sweep_figures_init(&f);
    add_search(&f, "{\"threads\":\"1\"}", "found", 100);
    add_search(&f, "{\"threads\":\"2\"}", "exhausted", 400);
    add_search(&f, "{\"threads\":\"4\"}", "below", 800);
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    CHECK_INT(f.peak, SB_SWEEP_PEAK_FOUND);
    CHECK_INT(f.axis, 0);
    CHECK_NEAR(f.point[1].figure[SB_SWEEP_FOUND].value, 400, 1e-9);
    CHECK_NEAR(f.point[1].figure[SB_SWEEP_FOUND].low, 360, 1e-9);
    CHECK_NEAR(f.point[1].figure[SB_SWEEP_FOUND].high, 480, 1e-9);
    CHECK_NEAR(f.point[1].figure[SB_SWEEP_SAFE].value, 50, 1e-9);
    char *text = printed(&f);
    CHECK(strstr(text, "highest/s") != NULL);
    CHECK(strstr(text, "       400.00   20.0% ") != NULL);
    CHECK(strstr(text, "  1 found no rate\n") != NULL);
    CHECK(
        strstr(text, "\nHighest rate that keeps the limit: 400.00 events/s at "
                     "threads=2") != NULL);
    CHECK(strstr(text, "\nKnee: threads=2, the lowest with 95 % of the highest "
                       "rate") != NULL);
    free(text);
    json_t *o = sb_sweep_figures_json(&f);
    const json_t *p = json_array_get(json_object_get(o, "points"), 0);
    const json_t *s = json_object_get(p, "search");

    CHECK_STR(json_string_value(json_object_get(o, "peak_of")), "search");
    CHECK_NEAR(json_number_value(
                   json_object_get(json_object_get(s, "highest"), "high")),
        120, 1e-9);
    json_decref(o);
    sb_sweep_figures_done(&f);
    // Repeats: the interval of their mean.
    sb_sweep_figures_init(&f);
    for (int i = 0; i < 3; i++)
        add_search(&f, "{\"threads\":\"1\"}", "found", 100 + 10 * i);
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    CHECK_NEAR(f.point[0].figure[SB_SWEEP_FOUND].value, 110, 1e-9);
    CHECK_NEAR(f.point[0].figure[SB_SWEEP_FOUND].high - 110,
        4.302653 * 10 / sqrt(3), 1e-3);
    sb_sweep_figures_done(&f);
}

// The average is that of all values of all repeats.
static void distributions_have_columns(void)
{
    struct sb_sweep_figures f;
    char *text;

    sb_sweep_figures_init(&f);
    more = "\"metrics\":[{\"name\":\"hits\",\"kind\":\"counter\",\"sum\":5},"
           "{\"name\":\"fo\\nund\",\"kind\":\"distribution\",\"unit\":\"ms\","
           "\"scale\":1,\"count\":10,\"sum\":20,\"histogram\":[[2,2,10]]}],";
    CHECK_INT(add(&f, "{\"threads\":\"1\"}", 1000, 0), 0);
    more = "\"metrics\":[{\"name\":\"fo\\nund\",\"kind\":\"distribution\","
           "\"scale\":1,\"count\":30,\"sum\":180,\"histogram\":[[6,6,30]]}],";
    CHECK_INT(add(&f, "{\"threads\":\"1\"}", 1000, 0), 0);
    more = "";
    CHECK_INT(add(&f, "{\"threads\":\"2\"}", 1000, 0), 0);
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    CHECK_INT(f.nmetrics, 1);
    text = printed(&f);
    CHECK(strstr(text, "errors  fo und ms\n") != NULL);
    CHECK(strstr(text, "        6       5.00\n") != NULL);
    CHECK(strstr(text, "        3          -\n") != NULL);
    free(text);
    json_t *o = sb_sweep_figures_json(&f);
    const json_t *points = json_object_get(o, "points");
    const json_t *m = json_object_get(json_array_get(points, 0), "metrics");

    CHECK_NEAR(json_number_value(json_object_get(m, "fo\nund")), 5, 1e-9);
    CHECK(json_is_null(json_object_get(
        json_object_get(json_array_get(points, 1), "metrics"), "fo\nund")));
    json_decref(o);
    sb_sweep_figures_done(&f);
    // There is room for some.
    sb_sweep_figures_init(&f);
    more = "\"metrics\":["
#define D(name)                                         \
    "{\"name\":\"" name "\",\"kind\":\"distribution\"," \
    "\"scale\":1,\"count\":1,\"sum\":1,\"histogram\":[[1,1,1]]}"
        D("a") "," D("b") "," D("c") "," D("d") "," D("e") "],";
#undef D
    CHECK_INT(add(&f, "{\"threads\":\"1\"}", 1000, 0), 0);
    CHECK_INT(f.nmetrics, SB_SWEEP_METRICS_MAX);
    more = "";
    sb_sweep_figures_done(&f);
}

// The headline is the first column; a result that is unknown in a run does not
// count, and one with the name of a distribution is left out.
static void results_have_columns(void)
{
    struct sb_sweep_figures f;
    char *text;

    sb_sweep_figures_init(&f);
    more = "\"metrics\":[{\"name\":\"recall\",\"kind\":\"distribution\","
           "\"unit\":\"\",\"scale\":1,\"count\":1,\"sum\":1,"
           "\"histogram\":[[1,1,1]]}],"
           "\"results\":[{\"name\":\"recall\",\"value\":7,\"unit\":\"\"},"
           "{\"name\":\"late\",\"value\":3,\"unit\":\"s\"},"
           "{\"workload\":\"shop\",\"name\":\"lost\",\"value\":5,"
           "\"unit\":\"writes\",\"headline\":true}],";
    CHECK_INT(add(&f, "{\"threads\":\"1\"}", 1000, 0), 0);
    more = "\"results\":[{\"name\":\"late\",\"value\":null,\"unit\":\"s\"},"
           "{\"workload\":\"shop\",\"name\":\"lost\",\"value\":8,"
           "\"unit\":\"writes\",\"headline\":true}],";
    CHECK_INT(add(&f, "{\"threads\":\"1\"}", 1000, 0), 0);
    more = "";
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    text = printed(&f);
    CHECK(strstr(text, "errors shop.lost writes     late s     recall\n"));
    CHECK(strstr(text, "             6.50       3.00       1.00\n"));
    free(text);
    sb_sweep_figures_done(&f);
}

// Adds three runs with 1, 2 and 4 threads, whose headline falls while the
// throughput rises.
static void add_headlines(struct sb_sweep_figures *f, const char *figure,
    const char *better, const char *last)
{
    char swept[64], members[256];

    sb_sweep_figures_init(f);
    for (int i = 0; i < 9; i++) {
        snprintf(swept, sizeof(swept), "{\"threads\":\"%d\"}", 1 << i % 3);
        snprintf(members, sizeof(members),
            "\"round\":%d,\"headline\":{\"figure\":\"%s\",\"value\":%d,"
            "\"unit\":\"/min\",\"better\":%s,\"chosen\":true},",
            i / 3 + 1, i == 8 ? last : figure, 300 - 100 * (i % 3) + i / 3,
            better);
        more = members;
        CHECK_INT(add(f, swept, 1000 * (1 + i % 3) + i / 3, 0), 0);
    }
    more = "";
    CHECK_INT(sb_sweep_figures_compute(f), 0);
}

static void peak_and_knee_are_those_of_the_headline(void)
{
    struct sb_sweep_figures f;
    char *text;

    add_headlines(&f, "orders", "\"higher\"", "orders");
    text = printed(&f);
    CHECK(strstr(text, "errors orders /min\n"));
    CHECK(strstr(text, "\nPeak of orders: 301.00 /min at threads=1\n"
                       "Knee: threads=1, the lowest with 95 % of the peak\n"));
    free(text);
    json_t *o = sb_sweep_figures_json(&f);
    json_t *point = json_array_get(json_object_get(o, "points"), 1);

    CHECK_STR(json_string_value(json_object_get(o, "peak_of")), "headline");
    CHECK_STR(json_string_value(
                  json_object_get(json_object_get(o, "headline"), "figure")),
        "orders");
    CHECK_NEAR(json_number_value(json_object_get(
                   json_object_get(point, "headline"), "value")),
        201, 1e-9);
    CHECK(json_number_value(json_object_get(
              json_object_get(point, "headline"), "high")) > 201);
    json_decref(o);
    sb_sweep_figures_done(&f);
    // Lower is better; one run has another headline; the direction is unknown;
    // figures of all events.
    add_headlines(&f, "lost", "\"lower\"", "lost");
    text = printed(&f);
    CHECK(strstr(text, "\nNo peak: a lower lost is better.\n"));
    CHECK(!strstr(text, "Peak") && !strstr(text, "Knee"));
    free(text);
    sb_sweep_figures_done(&f);
    static const char *const others[][3] = {
        { "orders", "\"higher\"", "shop.tps" },
        { "orders", "null", "orders" },
        { "tps", "\"higher\"", "tps" },
        { "p99", "\"lower\"", "p99" },
    };
    for (int i = 0; i < 4; i++) {
        add_headlines(&f, others[i][0], others[i][1], others[i][2]);
        text = printed(&f);
        CHECK(strstr(text, "\nPeak: 3001.00 events/s at threads=4"));
        CHECK(i < 2 || strstr(text, "   errors\n"));
        free(text);
        sb_sweep_figures_done(&f);
    }
}

// A headline has one value per run, and no margins without repeats. That of a
// script does not count.
static void a_headline_is_chosen_and_needs_repeats(void)
{
    static const char *const chosen[] = {
        "\"headline\":{\"figure\":\"orders\",\"value\":7,\"unit\":\"\","
        "\"better\":\"higher\",\"chosen\":true},",
        "\"headline\":{\"figure\":\"orders\",\"value\":7,\"unit\":\"\","
        "\"better\":\"higher\",\"chosen\":false},",
    };
    static const char *const lines[] = {
        "\nNo highest orders can be named: there are no error margins (use "
        "--repeat)\n",
        "\nHighest throughput: 2000.00 events/s at engine=b",
    };

    for (int i = 0; i < 2; i++) {
        struct sb_sweep_figures f;

        sb_sweep_figures_init(&f);
        more = chosen[i];
        CHECK_INT(add(&f, "{\"engine\":\"a\"}", 1000, 0), 0);
        CHECK_INT(add(&f, "{\"engine\":\"b\"}", 2000, 0), 0);
        more = "";
        CHECK_INT(sb_sweep_figures_compute(&f), 0);
        char *text = printed(&f);

        if (!strstr(text, lines[i]))
            printf("# %s\n", text);
        CHECK(strstr(text, lines[i]));
        free(text);
        sb_sweep_figures_done(&f);
    }
}

static void figures_have_three_digits(void)
{
    static const struct {
        double value;
        int decimals;
    } some[] = { { 123456, 2 }, { 1, 2 }, { 0.9994, 3 }, { 0.9996, 2 },
        { 0.5, 3 }, { 0.0412, 4 }, { 0.00999, 5 }, { 0.0001, 6 }, { 1e-9, 6 },
        { 0, 2 }, { NAN, 2 } };

    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
        CHECK_INT(sb_sweep_decimals(some[i].value), some[i].decimals);
}

static void other_runs_are_no_sweep(void)
{
    struct sb_sweep_figures f;

    sb_sweep_figures_init(&f);
    CHECK_INT(add(&f, "null", 100, 0), 0);
    CHECK_INT(f.npoints, 0);
    CHECK_INT(sb_sweep_figures_compute(&f), 0);
    sb_sweep_figures_done(&f);
    CHECK_INT(add(&f, "{}", 100, 0), 0);
    CHECK_INT(f.npoints, 1);
    sb_sweep_figures_done(&f);
}

CHECK_FILE
{
    check_folder();
    RUN(peak_and_knee_are_named);
    RUN(other_options_make_groups);
    RUN(names_have_neither_peak_nor_knee);
    RUN(no_peak_is_named_if_no_difference_was_seen);
    RUN(rounds_are_compared_within_themselves);
    RUN(the_share_of_other_processes_is_shown);
    RUN(without_margins_the_table_says_so);
    RUN(failed_runs_have_no_figures);
    RUN(an_open_loop_has_no_peak);
    RUN(a_number_of_events_reaches_no_rate);
    RUN(a_share_of_the_maximum_has_a_peak);
    RUN(swept_shares_have_no_peak);
    RUN(found_rates_are_shown);
    RUN(distributions_have_columns);
    RUN(results_have_columns);
    RUN(peak_and_knee_are_those_of_the_headline);
    RUN(a_headline_is_chosen_and_needs_repeats);
    RUN(figures_have_three_digits);
    RUN(other_runs_are_no_sweep);
    return check_done();
}
