// SPDX-License-Identifier: GPL-2.0-or-later
//
// The classic report, compared byte by byte with the text that sysbench 1.0.20
// prints for the same figures.
#include "reports.h"

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

// The same lines under a heading without "SQL".
static void final_documents(void)
{
    static const char heading[] = "OLTP test statistics:\n"
                                  "    queries performed:\n"
                                  "        read:                            "
                                  "2800\n";
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.text.sql = f.text.documents = true;
    sb_text_final(&f.text, &f.report);
    CHECK(strncmp(text(&f), heading, sizeof(heading) - 1) == 0);
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

// Times of a few microseconds are not rounded to 0.00.
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

CHECK_FILE
{
    RUN(final_plain);
    RUN(final_sql);
    RUN(final_documents);
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
    RUN(quiet);
    return check_done();
}
