// SPDX-License-Identifier: GPL-2.0-or-later
//
// Additions to the classic report: tables of the open loop, of operations and
// of errors; lines about failures.
// Not with tsan: one thread.
#include "reports.h"

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

static void event_loops(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    sb_text_final(&f.text, &f.report);
    CHECK(!strstr(text(&f), "client delay"));
    teardown(&f);
    setup(&f, &o);
    f.snap.has_client_delay = true;
    f.snap.client_delay_max = 3 * MS;
    f.snap.c.client_delays = 40;
    f.snap.c.client_delay_ns = 30 * MS;
    put(&f.snap.client_delay, 0, 30);
    put(&f.snap.client_delay, 3 * MS, 10);
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f), FAIRNESS
        "Event loops (ms):           min        avg        95%        max\n"
        "    client delay          0.000      0.750      3.000      3.000\n"
        "    answers that users waited for: 40\n"
        "\n"));
    teardown(&f);
}

// A table of workloads; that of operations has no heading without rows.
static void workloads(void)
{
    static struct sb_stats stats;
    struct sb_text_opts o = defaults();
    struct fixture f;

    o.report_operations = true;
    setup(&f, &o);
    snprintf(stats.op[0].name, sizeof(stats.op[0].name), "shop");
    stats.op[0].kind = SB_OP_WORKLOAD;
    f.op[0] = (struct sb_snap_op){ .count = 100,
        .errors = 5,
        .failed = 1,
        .restarts = 4,
        .ns = 200 * MS,
        .min = 1 * MS,
        .max = 3 * MS };
    put(&f.op[0].hist, 2 * MS, 100);
    f.snap.op = f.op;
    f.snap.nops = 1;
    f.text.stats = &stats;
    f.text.sql = f.text.db_debug = true;
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f),
        "Workload (ms)       events     per sec.     errors   restarts"
        "     failed        min        avg        95%        max\n"
        "shop                   100        50.00          5          4"
        "          1      1.000      2.000      2.001      3.000\n"
        "\n"));
    CHECK(!strstr(text(&f), "Operation (ms)"));
    // Events are not queries.
    CHECK(strstr(text(&f),
        "DEBUG: Query execution statistics:\n"
        "DEBUG:     min:                                0.0000s\n"));
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
    f.op[0] = (struct sb_snap_op){ .count = 100,
        .errors = 2,
        .ns = 200 * MS,
        .min = 1 * MS,
        .max = 3 * MS,
        .rows = 700 };
    put(&f.op[0].hist, 2 * MS, 100);
    f.op[2] = (struct sb_snap_op){ .errors = 1 };
    f.snap.op = f.op;
    f.snap.nops = 3;
    f.text.stats = &stats;
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f),
        FAIRNESS "Operation (ms)                 count     per sec.     errors"
                 "        min        avg        95%        max         rows\n"
                 "select                           100        50.00          2"
                 "      1.000      2.000      2.001      3.000          700\n"
                 "a_rather_long_operation            0         0.00          1"
                 "          -          -          -          -            0\n"
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

// Two workloads of a mix and an operation of one of them.
static void set_workloads(struct fixture *f, struct sb_stats *stats)
{
    static const char *const names[] = { "a", "a/select", "longer_name" };

    for (int i = 0; i < 3; i++) {
        snprintf(stats->op[i].name, sizeof(stats->op[i].name), "%s", names[i]);
        stats->op[i].kind = i == 1 ? SB_OP_READ : SB_OP_WORKLOAD;
    }
    f->op[0] = (struct sb_snap_op){ .count = 150,
        .errors = 1,
        .failed = 7,
        .restarts = 8,
        .ns = 300 * MS,
        .min = 1 * MS,
        .max = 3 * MS };
    put(&f->op[0].hist, 2 * MS, 150);
    f->op[1] = (struct sb_snap_op){ .count = 150 };
    f->snap.op = f->op;
    f->snap.nops = 3;
    f->text.stats = stats;
}

// Workloads have lines of their own behind those of all events, also those
// without events. Operations have none.
static void workloads_of_an_interval(void)
{
    static struct sb_stats stats;
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.text.interval_ns = 2000 * MS;
    set_workloads(&f, &stats);
    f.report.final = false;
    sb_text_interval(&f.text, &f.report);
    CHECK_STR(text(&f),
        "[ 2s ] thds: 2 eps: 100.00 lat (ms,95%): 10.00\n"
        "[ 2s ]   a: eps: 75.00 lat (ms,95%): 2.00 err/s: 0.50\n"
        "[ 2s ]   longer_name: eps: 0.00 lat (ms,95%): 0.00 err/s: 0.00\n");
    teardown(&f);
    setup(&f, &o);
    set_workloads(&f, &stats);
    f.text.interval_ns = 2000 * MS;
    f.report.warmup = true;
    f.text.npct = 0;
    f.text.classic_pct = 0;
    sb_text_interval(&f.text, &f.report);
    CHECK(strstr(text(&f), "[ 2s ] (warm-up)   a: eps: 75.00 lat (ms,0%): 0.00 "
                           "err/s: 0.50\n"));
    teardown(&f);
}

// Below each stage: the workloads that had events in it.
static void stages_of_a_mix(void)
{
    static struct sb_stats stats;
    struct sb_text_opts o = defaults();
    struct sb_snap_op rare[3] = { { .failed = 1 } };
    struct sb_report stage[2];
    struct sb_snap none;
    struct fixture f;

    setup(&f, &o);
    set_workloads(&f, &stats);
    f.snap.c.failed = 9;
    f.snap.c.restarts = 10;
    stage[0] = stage[1] = f.report;
    stage[0].stage_name = "one";
    stage[1].stage_name = "two";
    stage[1].total_s = 4.00041;
    none = f.snap;
    none.nops = 3;
    none.op = rare;
    stage[1].snap = &none;
    f.report.stages = stage;
    f.report.nstages = 2;
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f),
        "Stages (ms)    start (s)    end (s)       events     per sec.     "
        "errors   restarts     failed        min        avg        95%        "
        "max\n"
        "one                0.000      2.000          200       100.00         "
        " 6         10          9      1.000      1.900      9.998     10.000\n"
        "  a                                          150        75.00         "
        " 1          8          7      1.000      2.000      2.001      3.000\n"
        "two                2.000      4.000          200       100.00         "
        " 6         10          9      1.000      1.900      9.998     10.000\n"
        "  a                                            0         0.00         "
        " 0          0          1          -          -          -          -\n"
        "\n"));
    CHECK(strstr(text(&f), "a/select") == NULL);
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
        "Errors by code:\n"
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

// Of a long message, the beginning is known.
static void cut_sample(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.code[0] = (struct sb_snap_code){ .driver = "mysql", .count = 1 };
    memset(f.code[0].sample, 'x', sizeof(f.code[0].sample) - 1);
    f.snap.code = f.code;
    f.snap.ncodes = 1;
    sb_text_final(&f.text, &f.report);
    CHECK(strstr(text(&f), "xxx...\n"));
    teardown(&f);
    setup(&f, &o);
    f.code[0] = (struct sb_snap_code){ .driver = "mysql", .count = 1 };
    memset(f.code[0].sample, 'x', sizeof(f.code[0].sample) - 2);
    f.snap.code = f.code;
    f.snap.ncodes = 1;
    sb_text_final(&f.text, &f.report);
    CHECK(!strstr(text(&f), "..."));
    teardown(&f);
}

// A server's message may contain control sequences of terminals.
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

static void a_failed_run_says_so_first(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.report.failure = "no table\n\tsbtest7\033[m\n";
    sb_text_final(&f.text, &f.report);
    CHECK_STR(text(&f),
        "The run failed after 2.0004 s: no table sbtest7\\x1b[m\n"
        "\n" GENERAL LATENCY FAIRNESS);
    teardown(&f);
}

static void failed_events(void)
{
    struct sb_text_opts o = defaults();
    struct fixture f;

    setup(&f, &o);
    f.snap.c.failed = 50;
    sb_text_checkpoint(&f.text, &f.report);
    CHECK_STR(text(&f), "[ 2s ] Checkpoint report:\n" GENERAL LATENCY FAIRNESS
                        "Failed events: 50 of 250 (20.0 %)\n\n");
    teardown(&f);
}

CHECK_FILE
{
    RUN(open_loop);
    RUN(event_loops);
    RUN(workloads);
    RUN(operations);
    RUN(workloads_of_an_interval);
    RUN(stages_of_a_mix);
    RUN(errors);
    RUN(cut_sample);
    RUN(error_of_a_hostile_server);
    RUN(a_fatal_error_alone);
    RUN(a_failed_run_says_so_first);
    RUN(failed_events);
    return check_done();
}
