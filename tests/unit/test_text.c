// SPDX-License-Identifier: GPL-2.0-or-later
//
// The classic text, compared byte by byte with what sysbench 1.0.20 prints
// for the same figures.
#include "out/text.h"

#include <stdlib.h>

#include "check.h"

#define MS UINT64_C(1000000)

// One report with everything it points to, and where the text goes.
struct fixture {
    struct sb_snap snap;
    struct sb_report report;
    struct sb_text text;
    uint64_t events[2], ns[2], min[2], max[2];
    struct sb_snap_op op[3];
    struct sb_snap_code code[2];
    char *got;
    size_t size;
};

static const char *const list_95[] = { "95" };

static struct sb_text_opts defaults(void)
{
    return (struct sb_text_opts){
        .verbosity = 3,
        .percentile = { list_95, 1 },
        .report_errors = true,
    };
}

static void put(struct sb_hist_snap *h, uint64_t ns, uint64_t n)
{
    CHECK_INT(sb_hist_snap_put(h, sb_hist_index(ns), n), 0);
}

// 200 events of two users in two seconds: 1 ms, a tenth of them 10 ms.
static void setup(struct fixture *f, const struct sb_text_opts *o)
{
    *f = (struct fixture){ .events = { 90, 110 },
        .ns = { 190 * MS, 190 * MS },
        .min = { 1 * MS, 3 * MS / 2 },
        .max = { 10 * MS, 9 * MS } };
    f->snap = (struct sb_snap){ .ns = 2000 * MS,
        .running = 2,
        .users = 2,
        .user_events = f->events,
        .user_ns = f->ns,
        .user_min = f->min,
        .user_max = f->max,
        .scheduled = 210,
        .queue = 7,
        .unfinished = 0,
        .service_min = 1 * MS,
        .service_max = 10 * MS };
    f->snap.c = (struct sb_counters){ .started = 200,
        .completed = 200,
        .tries = 200,
        .reads = 2800,
        .writes = 800,
        .others = 400,
        .err_ignored = 1,
        .err_restarted = 2,
        .err_givenup = 3,
        .reconnects = 4,
        .service_ns = 380 * MS };
    put(&f->snap.service, 1 * MS, 180);
    put(&f->snap.service, 10 * MS, 20);
    sb_report_fill(&f->report, &f->snap, 2, false, 2.00041);
    f->report.final = true;
    CHECK_INT(
        sb_text_init(&f->text, o, open_memstream(&f->got, &f->size), NULL), 0);
    f->text.err = f->text.out;
}

static void teardown(struct fixture *f)
{
    fclose(f->text.out);
    free(f->got);
    sb_hist_snap_done(&f->snap.service);
    sb_hist_snap_done(&f->snap.response);
    sb_hist_snap_done(&f->snap.lag);
    for (int i = 0; i < 3; i++)
        sb_hist_snap_done(&f->op[i].hist);
}

static const char *text(struct fixture *f)
{
    fflush(f->text.out);
    return f->got;
}

static void make_open(struct fixture *f)
{
    f->snap.response_min = 2 * MS;
    f->snap.response_max = 40 * MS;
    f->snap.lag_max = 30 * MS;
    f->snap.c.response_ns = 1000 * MS;
    f->snap.c.lag_ns = 620 * MS;
    f->snap.unfinished = 3;
    f->snap.c.started = 203;
    put(&f->snap.response, 2 * MS, 100);
    put(&f->snap.response, 40 * MS, 100);
    put(&f->snap.lag, 0, 200);
    sb_report_fill(&f->report, &f->snap, 2, true, 2.00041);
}

#define GENERAL                                          \
    "\n"                                                 \
    "General statistics:\n"                              \
    "    total time:                          2.0004s\n" \
    "    total number of events:              200\n"     \
    "\n"

#define LATENCY                                               \
    "Latency (ms):\n"                                         \
    "         min:                                    1.00\n" \
    "         avg:                                    1.90\n" \
    "         max:                                   10.00\n" \
    "         95th percentile:                       10.00\n" \
    "         sum:                                  380.00\n" \
    "\n"

#define FAIRNESS                                          \
    "Threads fairness:\n"                                 \
    "    events (avg/stddev):           100.0000/10.00\n" \
    "    execution time (avg/stddev):   0.1900/0.00\n"    \
    "\n"

static void final_plain(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    sb_text_final(&f.text, &f.report);
    CHECK_STR(text(&f), GENERAL LATENCY FAIRNESS);
    teardown(&f);
}

static void final_sql(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.text.sql = true;
    sb_text_final(&f.text, &f.report);
    CHECK_STR(text(&f),
        "SQL statistics:\n"
        "    queries performed:\n"
        "        read:                            2800\n"
        "        write:                           800\n"
        "        other:                           400\n"
        "        total:                           4000\n"
        "    transactions:                        200    (100.00 per sec.)\n"
        "    queries:                             4000   (2000.00 per sec.)\n"
        "    ignored errors:                      6      (3.00 per sec.)\n"
        "    reconnects:                          4      (2.00 per "
        "sec.)\n" GENERAL LATENCY FAIRNESS);
    teardown(&f);
}

static void checkpoint(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.report.final = false;
    f.snap.unfinished = 2; // in flight, not shut down
    sb_text_checkpoint(&f.text, &f.report);
    CHECK_STR(text(&f), "[ 2s ] Checkpoint report:\n" GENERAL LATENCY FAIRNESS);
    teardown(&f);
}

static void unfinished(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.snap.unfinished = 2;
    sb_text_final(&f.text, &f.report);
    CHECK_STR(text(&f),
        "\nNumber of unfinished transactions on forced shutdown: 2\n" GENERAL
            LATENCY FAIRNESS);
    teardown(&f);
}

static void debug(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.text.debug = true;
    sb_text_final(&f.text, &f.report);
    CHECK_STR(text(&f), GENERAL LATENCY FAIRNESS
        "DEBUG: Verbose per-thread statistics:\n"
        "\n"
        "DEBUG:     thread #  0: min: 0.0010s  avg: 0.0021s  max: 0.0100s  "
        "events: 90\n"
        "DEBUG:                  total time taken by event execution: "
        "0.1900s\n"
        "DEBUG:     thread #  1: min: 0.0015s  avg: 0.0017s  max: 0.0090s  "
        "events: 110\n"
        "DEBUG:                  total time taken by event execution: "
        "0.1900s\n"
        "\n");
    teardown(&f);
}

static void no_percentile(void)
{
    static const char *const zero[] = { "0" };
    struct sb_text_opts o = defaults();
    struct fixture f;

    o.percentile = (struct sb_opt_list){ zero, 1 };
    setup(&f, &o);
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f), "max:                                   10.00\n"
                           "         percentile stats:               disabled\n"
                           "         sum: ") != NULL);
    sb_text_interval(&f.text, &f.report);
    CHECK(strstr(text(&f), "lat (ms,0%): 0.00\n") != NULL);
    teardown(&f);
}

static void more_percentiles(void)
{
    static const char *const three[] = { "99.9", "50", "95", "50" };
    struct sb_text_opts o = defaults();
    struct fixture f;

    o.percentile = (struct sb_opt_list){ three, 4 };
    setup(&f, &o);
    sb_text_final(&f.text, &f.report);
    CHECK_STR(text(&f), GENERAL LATENCY FAIRNESS
        "Latency percentiles (ms):\n"
        "         50th percentile:                        1.00\n"
        "       99.9th percentile:                       10.00\n"
        "\n");
    teardown(&f);
}

static void first_is_classic(void)
{
    static const char *const two[] = { "99.5", "50" };
    struct sb_text_opts o = defaults();
    struct fixture f;

    o.percentile = (struct sb_opt_list){ two, 2 };
    setup(&f, &o);
    CHECK_NEAR(f.text.classic_pct, 99.5, 0);
    CHECK_NEAR(f.text.pct[0], 50, 0);
    sb_text_interval(&f.text, &f.report);
    CHECK_STR(text(&f), "[ 2s ] thds: 2 eps: 100.00 lat (ms,99.5%): 10.00\n");
    teardown(&f);
}

static int init_code(bool histogram, const char *const *item, size_t n)
{
    struct sb_text_opts o = defaults();
    struct sb_text t;

    o.histogram = histogram;
    o.percentile = (struct sb_opt_list){ item, n };
    return sb_text_init(&t, &o, stdout, NULL);
}

static void bad_options(void)
{
    static const char *const bad[] = { "0", "x", "101", "-1", "99" };
    static char digits[SB_TEXT_PERCENTILES + 1][16];
    const char *many[SB_TEXT_PERCENTILES + 1];

    CHECK_INT(init_code(false, bad, 1), 0);
    CHECK_INT(init_code(true, bad, 1), SB_EUSAGE);
    CHECK_INT(init_code(false, bad + 1, 1), SB_EUSAGE);
    CHECK_INT(init_code(false, bad + 2, 1), SB_ERANGE);
    CHECK_INT(init_code(false, bad + 3, 1), SB_ERANGE);
    CHECK_INT(init_code(true, bad + 4, 1), 0);
    CHECK_INT(
        init_code(false, (const char *const[]){ "99", "0" }, 2), SB_EUSAGE);
    for (int i = 0; i <= SB_TEXT_PERCENTILES; i++) {
        snprintf(digits[i], sizeof(digits[i]), "%d", i + 1);
        many[i] = digits[i];
    }
    CHECK_INT(init_code(false, many, SB_TEXT_PERCENTILES), 0);
    CHECK_INT(init_code(false, many, SB_TEXT_PERCENTILES + 1), SB_ERANGE);
}

static void interval_lines(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    sb_text_interval(&f.text, &f.report);
    CHECK_STR(text(&f), "[ 2s ] thds: 2 eps: 100.00 lat (ms,95%): 10.00\n");
    teardown(&f);
    setup(&f, &o);
    f.text.sql = true;
    f.report.warmup = true;
    sb_text_interval(&f.text, &f.report);
    CHECK_STR(text(&f),
        "[ 2s ] (warm-up) thds: 2 tps: 100.00 qps: 2000.00 "
        "(r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 10.00 err/s: 3.00 "
        "reconn/s: 2.00\n");
    teardown(&f);
}

static void queue_lines(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    make_open(&f);
    sb_text_interval(&f.text, &f.report);
    CHECK_STR(text(&f), "[ 2s ] thds: 2 eps: 100.00 lat (ms,95%): 40.00\n"
                        "[ 2s ] queue length: 7 concurrency: 3\n");
    f.text.sql = true;
    sb_text_interval(&f.text, &f.report);
    CHECK(strstr(text(&f), "[ 2s ] queue length: 7, concurrency: 3\n"));
    teardown(&f);
}

static void short_intervals(void)
{
    static const struct {
        int64_t every_ms;
        double at;
        const char *want;
    } c[] = { { 0, 3.2, "[ 3s ] " }, { 1000, 1.04, "[ 1s ] " },
        { 500, 0.502, "[ 0.5s ] " }, { 500, 1.001, "[ 1.0s ] " },
        { 250, 0.2501, "[ 0.25s ] " }, { 1500, 1.5, "[ 1.5s ] " },
        { 1, 0.0073, "[ 0.007s ] " } };

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        struct sb_text_opts o = defaults();
        struct fixture f;

        setup(&f, &o);
        f.text.interval_ns = c[i].every_ms * (int64_t)MS;
        f.report.total_s = c[i].at;
        sb_text_interval(&f.text, &f.report);
        CHECK(strncmp(text(&f), c[i].want, strlen(c[i].want)) == 0);
        teardown(&f);
    }
}

static void own_interval(
    void *data, const struct sb_report *r, double pct, FILE *out)
{
    fprintf(out, "%s %u %g\n", (const char *)data, r->running, pct);
}

static void own_final(void *data, const struct sb_report *r, FILE *out)
{
    fprintf(out, "%s %.1f\n", (const char *)data, r->interval_s);
}

static void own_lines(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.text.own = (struct sb_text_own){ "own", own_interval, own_final };
    sb_text_interval(&f.text, &f.report);
    sb_text_final(&f.text, &f.report);
    CHECK_STR(text(&f), "[ 2s ] own 2 95\nown 2.0\n" GENERAL LATENCY FAIRNESS);
    teardown(&f);
}

// The rows are those that sysbench 1.0.20 prints for these values.
static void histogram(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    o.histogram = true;
    setup(&f, &o);
    sb_hist_snap_done(&f.snap.service);
    put(&f.snap.service, 100, 10);
    put(&f.snap.service, 1000, 10);
    put(&f.snap.service, 1100, 10);
    put(&f.snap.service, 1 * MS, 10);
    put(&f.snap.service, 100 * MS, 8);
    put(&f.snap.service, 10 * MS + 100000, 17);
    put(&f.snap.service, 200000 * MS, 10);
    put(&f.snap.service, 200000 * MS, 20);
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f),
              "Latency histogram (values are in milliseconds)\n"
              "       value  ------------- distribution ------------- count\n"
              "     0.00100 |***************************              20\n"
              "     0.00109 |*************                            10\n"
              "       1.007 |*************                            10\n"
              "      10.090 |***********************                  17\n"
              "      99.327 |***********                              8\n"
              "  100000.000 |**************************************** 30\n"
              " \n"
              "\n"
              "General statistics:\n") == text(&f));
    teardown(&f);
}

// Times of a client without a server: nothing is rounded to 0.00.
static void short_times(void)
{
    static const char *const two[] = { "50", "95" };
    struct sb_text_opts o = defaults();
    struct fixture f;

    o.percentile = (struct sb_opt_list){ two, 2 };
    setup(&f, &o);
    sb_hist_snap_done(&f.snap.service);
    put(&f.snap.service, 321, 100);
    put(&f.snap.service, 1840, 100);
    f.snap.service_min = 321;
    f.snap.service_max = 1840;
    f.snap.c.service_ns = 216100;
    f.min[0] = f.min[1] = 321;
    f.max[0] = f.max[1] = 1840;
    sb_report_fill(&f.report, &f.snap, 2, false, 2.00041);
    f.report.final = true;
    f.text.debug = true;
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f),
        "         min:                                0.000321\n"
        "         avg:                                 0.00108\n"
        "         max:                                 0.00184\n"
        "         95th percentile:                     0.00184\n"
        "         sum:                                    0.22\n"));
    CHECK(strstr(
        text(&f), "         50th percentile:                    0.000321\n"));
    CHECK(strstr(text(&f), "min: 0.000000321s  avg: "));
    CHECK(strstr(text(&f), "max: 0.00000184s  events: 90\n"));
    sb_text_interval(&f.text, &f.report);
    CHECK(strstr(text(&f), "eps: 100.00 lat (ms,95%): 0.00184\n"));
    f.text.sql = true;
    sb_text_interval(&f.text, &f.report);
    CHECK(strstr(text(&f), "lat (ms,95%): 0.00184 err/s: 3.00 "));
    make_open(&f);
    f.report.final = true;
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f),
        "    service time       0.000321    0.00108   0.000321    0.00184"
        "    0.00184\n"));
    teardown(&f);
}

static void open_loop(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    make_open(&f);
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f),
        "         min:                                    2.00\n"
        "         avg:                                    5.00\n"
        "         max:                                   40.00\n"
        "         95th percentile:                       40.00\n"
        "         sum:                                 1000.00\n"));
    CHECK(strstr(text(&f), FAIRNESS
        "Open loop (ms):             min        avg        95%        max\n"
        "    response time         2.000      5.000     40.000     40.000\n"
        "    service time          1.000      1.900      9.998     10.000\n"
        "    lag                   0.000      3.100      0.000     30.000\n"
        "    scheduled: 210, started: 203, skipped: 0, queue length: 7, "
        "concurrency: 3\n"
        "\n"));
    teardown(&f);
}

static void operations(void)
{
    static struct sb_stats stats;
    struct sb_text_opts o = defaults();
    struct fixture f;

    o.report_operations = true;
    setup(&f, &o);
    snprintf(stats.op[0].name, sizeof(stats.op[0].name), "select");
    snprintf(stats.op[1].name, sizeof(stats.op[1].name), "never");
    snprintf(
        stats.op[2].name, sizeof(stats.op[2].name), "a_rather_long_operation");
    f.op[0] = (struct sb_snap_op){
        .count = 100, .errors = 2, .ns = 200 * MS, .min = 1 * MS, .max = 3 * MS
    };
    put(&f.op[0].hist, 2 * MS, 100);
    f.op[2] = (struct sb_snap_op){ .errors = 1 };
    f.snap.op = f.op;
    f.snap.nops = 3;
    f.text.stats = &stats;
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f),
        FAIRNESS "Operation (ms)                 count     per sec.     errors"
                 "        min        avg        95%        max\n"
                 "select                           100        50.00          2"
                 "      1.000      2.000      2.001      3.000\n"
                 "a_rather_long_operation            0         0.00          1"
                 "      0.000      0.000      0.000      0.000\n"
                 "\n"));
    CHECK(strstr(text(&f), "never") == NULL);
    f.text.sql = f.text.db_debug = true;
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f),
        "DEBUG: \n"
        "DEBUG: Query execution statistics:\n"
        "DEBUG:     min:                                0.0010s\n"
        "DEBUG:     avg:                                0.0020s\n"
        "DEBUG:     max:                                0.0030s\n"
        "DEBUG:   total:                                0.2000s\n"
        "DEBUG: Results fetching statistics:\n"
        "DEBUG:     min:                                0.0000s\n"
        "DEBUG:     avg:                                0.0000s\n"
        "DEBUG:     max:                                0.0000s\n"
        "DEBUG:   total:                                0.0000s\n"
        "\n"));
    teardown(&f);
}

static void errors(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.code[0] = (struct sb_snap_code){ .native = 1213,
        .state = "40001",
        .driver = "mysql",
        .sample = "Deadlock found\nmore",
        .count = 5,
        .first_ns = 7250 * MS };
    f.code[1] = (struct sb_snap_code){
        .driver = "script", .count = 1, .sample = "counted by the script"
    };
    f.snap.code = f.code;
    f.snap.ncodes = 2;
    f.text.start_ns = 7000 * MS;
    sb_text_final(&f.text, &f.report);
    CHECK_STR(text(&f), GENERAL LATENCY FAIRNESS
        "Errors:\n"
        "    driver         code state       count   first seen  sample\n"
        "    mysql          1213 40001           5       0.250s  "
        "Deadlock found\n"
        "    script            0 -               1       0.000s  "
        "counted by the script\n"
        "    ignored: 1, restarted: 2, given up: 3, fatal: 0; failed events: "
        "0\n");
    teardown(&f);
    o.report_errors = false;
    setup(&f, &o);
    f.snap.code = f.code;
    f.snap.ncodes = 2;
    sb_text_final(&f.text, &f.report);
    CHECK_STR(text(&f), GENERAL LATENCY FAIRNESS);
    teardown(&f);
}

// A server may send what a terminal would obey.
static void error_of_a_hostile_server(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.code[0] = (struct sb_snap_code){ .native = 1,
        .state = "4\0331",
        .driver = "x",
        .sample = "\033[2J\xc3\xa9\r\nmore",
        .count = 1 };
    f.snap.code = f.code;
    f.snap.ncodes = 1;
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f), "    x                 1 4\\x1b1          1       "
                           "0.000s  \\x1b[2J\xc3\xa9\n"));
    teardown(&f);
}

static void a_fatal_error_alone(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.snap.c.err_ignored = f.snap.c.err_restarted = f.snap.c.err_givenup = 0;
    f.snap.c.err_fatal = 1;
    f.code[0] = (struct sb_snap_code){
        .driver = "mysql", .native = 1146, .count = 1, .sample = "no table"
    };
    f.snap.code = f.code;
    f.snap.ncodes = 1;
    sb_report_fill(&f.report, &f.snap, 2, false, 2.00041);
    f.report.final = true;
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f), "no table\n    ignored: 0, restarted: 0, given up: "
                           "0, fatal: 1; failed events: 0\n"));
    teardown(&f);
}

static void quiet(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    o.verbosity = 2;
    setup(&f, &o);
    sb_text_interval(&f.text, &f.report);
    sb_text_checkpoint(&f.text, &f.report);
    sb_text_final(&f.text, &f.report);
    CHECK_STR(text(&f), "");
    teardown(&f);
}

int main(void)
{
    RUN(final_plain);
    RUN(final_sql);
    RUN(checkpoint);
    RUN(unfinished);
    RUN(debug);
    RUN(no_percentile);
    RUN(more_percentiles);
    RUN(first_is_classic);
    RUN(bad_options);
    RUN(interval_lines);
    RUN(queue_lines);
    RUN(short_intervals);
    RUN(own_lines);
    RUN(histogram);
    RUN(short_times);
    RUN(open_loop);
    RUN(operations);
    RUN(errors);
    RUN(error_of_a_hostile_server);
    RUN(a_fatal_error_alone);
    RUN(quiet);
    return check_done();
}
