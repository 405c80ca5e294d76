// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parser of --assert and the checks of limits.
#include "out/assert.h"

#include <stdlib.h>

#include "hists.h"
#include "out/beside_figures.h"

#define MS UINT64_C(1000000)

// Parsing ---------------------------------------------------------------------

// A run with these stages and with a mix of these workloads.
static const char *const stages[] = { "warm", "soak", "threads=1..8", "read",
    "soaking", "twice", "twice", "shop" };
static const char *const parts[] = { "shop", "report" };
static const struct sb_assert_names names = { .stage = stages,
    .nstages = 8,
    .part = parts,
    .nparts = 2,
    .beside = true,
    .alone = true,
    .price = true };
// A run without any of these.
static const struct sb_assert_names nameless;

static struct sb_asserts parsed_of(
    const char *text, const struct sb_assert_names *of)
{
    struct sb_asserts a;
    struct sb_err err = { 0 };

    if (sb_asserts_init(&a, text, of, &err))
        CHECK_STR(err.msg, "");
    return a;
}

static struct sb_asserts parsed(const char *text)
{
    return parsed_of(text, NULL);
}

static void check_error_of(
    const char *text, const struct sb_assert_names *of, const char *want)
{
    struct sb_asserts a;
    struct sb_err err = { 0 };

    CHECK_INT(sb_asserts_init(&a, text, of, &err), SB_EUSAGE);
    CHECK_STR(err.msg, want);
    CHECK(a.n == 0 && !a.limit);
}

static void check_error(const char *text, const char *want)
{
    check_error_of(text, &nameless, want);
}

static void list_is_parsed(void)
{
    struct sb_asserts a = parsed(
        " p99<10ms, tps >= 1k ,errors==0,read.p95 < 5 ");

    CHECK_INT(a.n, 4);
    if (a.n == 4) {
        CHECK_STR(a.limit[0].text, "p99<10ms");
        CHECK(a.limit[0].value == 10 && a.limit[0].pct == 99);
        CHECK_STR(a.limit[1].text, "tps >= 1k");
        CHECK(a.limit[1].value == 1000 && a.limit[1].cmp == SB_ASSERT_GE);
        CHECK(a.limit[2].value == 0 && a.limit[2].cmp == SB_ASSERT_EQ);
        CHECK_STR(a.limit[3].name, "read");
        CHECK(a.limit[3].of == SB_ASSERT_OP && a.limit[3].pct == 95);
        CHECK(a.limit[3].value == 5); // milliseconds
    }
    sb_asserts_done(&a);
    a = parsed(" ");
    CHECK_INT(a.n, 0);
    sb_asserts_done(&a);
}

static void check_search(const char *text, const char *want)
{
    struct sb_asserts a;
    struct sb_err err = { 0 };

    sb_asserts_init_search(&a, text, &names, &err);
    CHECK_STR(err.msg, want);
    sb_asserts_done(&a);
}

static void limits_of_a_search(void)
{
    check_search("p99<10ms, errors==0,write.p95 <= 5, failed<1%", "");
    check_search("errors == 0, failed==0%", "");
    check_search("p99<1,errors==5", "--rate-limit: 'errors==5', character 16: "
                                    "the search requires a maximum: == only "
                                    "with 0");
    check_search("p99>10ms", "--rate-limit: 'p99>10ms', character 5: the "
                             "search requires a maximum: use <, <= or ==0");
    check_search("p99<1,tps<5", "--rate-limit: 'tps<5', character 11: a rate "
                                "cannot be a limit of the search for a rate");
    check_search("p99<10ms abort", "--rate-limit: 'p99<10ms abort', character "
                                   "10: expected a comma or the end");
    check_search("p99<", "--rate-limit: 'p99<', character 5: expected a "
                         "time such as 10ms, 500us or 1.5s (ms if it has no "
                         "unit)");
}

static void check_value(const char *text, double want, const char *unit)
{
    struct sb_asserts a = parsed(text);

    CHECK_INT(a.n, 1);
    if (a.n == 1) {
        CHECK_NEAR(a.limit[0].value, want, 1e-9);
        CHECK_STR(sb_assert_unit(&a.limit[0]), unit);
    }
    sb_asserts_done(&a);
}

static void values_have_units(void)
{
    check_value("max<250us", 0.25, "ms");
    check_value("min>90ns", 0.00009, "ms");
    check_value("lag.p99<=1.5s", 1500, "ms");
    check_value("avg<3", 3, "ms");
    check_value("qps>2.5M", 2.5e6, "/s");
    check_value("eps>10/s", 10, "/s");
    check_value("failed<1%", 1, "%");
    check_value("failed<1", 1, "");
    check_value("failed_pct<0.5", 0.5, "%");
    check_value("queue<5k", 5000, "");
}

static void units_may_follow_a_space(void)
{
    struct sb_asserts a = parsed("p99.9 < 5 ms,p50 <5ms abort after 10 s,"
                                 "tps > 2 k/s , failed < 1 %,min<3 abort");

    CHECK_INT(a.n, 5);
    if (a.n == 5) {
        CHECK(a.limit[0].pct == 99.9 && a.limit[0].value == 5);
        CHECK_STR(a.limit[0].text, "p99.9 < 5 ms");
        CHECK(a.limit[1].value == 5 && a.limit[1].after == 10);
        CHECK(a.limit[2].value == 2000);
        CHECK(a.limit[3].value == 1);
        CHECK_STR(sb_assert_unit(&a.limit[3]), "%");
        CHECK(a.limit[4].value == 3 && a.limit[4].abort);
    }
    sb_asserts_done(&a);
    check_error("tps>1 000", "--assert: 'tps>1 000', character 7: expected a "
                             "comma, 'abort' or the end");
    check_error("tps>1 e3", "--assert: 'tps>1 e3', character 7: expected a "
                            "comma, 'abort' or the end");
    check_error("p99<1 parsec", "--assert: 'p99<1 parsec', character 7: "
                                "expected a comma, 'abort' or the end");
    check_error("p9<1 abort after 1 0", "--assert: 'p9<1 abort after 1 0', "
                                        "character 20: expected a comma or the "
                                        "end");
}

static void check_name(
    const char *text, enum sb_assert_of of, const char *name, double pct)
{
    struct sb_asserts a = parsed(text);

    CHECK_INT(a.n, 1);
    if (a.n == 1) {
        CHECK_INT(a.limit[0].of, of);
        CHECK_STR(a.limit[0].name ? a.limit[0].name : "", name);
        CHECK(a.limit[0].pct == pct);
    }
    sb_asserts_done(&a);
}

static void names_have_dots_and_quotes(void)
{
    check_name("p99.9<1", SB_ASSERT_EVENTS, "", 99.9);
    check_name("lag.p99.9<1", SB_ASSERT_LAG, "", 99.9);
    check_name("service.max<1", SB_ASSERT_SERVICE, "", 0);
    check_name("response.avg<1", SB_ASSERT_RESPONSE, "", 0);
    check_name("client_delay.avg<1", SB_ASSERT_DELAY, "", 0);
    check_name("\"lag\".p99<1", SB_ASSERT_OP, "lag", 99);
    check_name("a.b.p99.9<1", SB_ASSERT_OP, "a.b", 99.9);
    check_name("a.p99.p50<1", SB_ASSERT_OP, "a.p99", 50);
    check_name("INSERT sbtest1.max<1", SB_ASSERT_OP, "INSERT sbtest1", 0);
    check_name(
        "\"INSERT, \"\"x\"\" <1\".p5<1", SB_ASSERT_OP, "INSERT, \"x\" <1", 5);
    check_name("lag.tps>1", SB_ASSERT_OP, "lag", 0);
    check_name("read.rows>1", SB_ASSERT_OP, "read", 0);
}

static void errors_name_limit_and_position(void)
{
    check_error("p99<10ms, tsp>1",
        "--assert: 'tsp>1', character 11: unknown figure 'tsp' (did you mean "
        "tps?)");
    check_error("read.p101<1",
        "--assert: 'read.p101<1', character 6: unknown figure 'p101' (must be "
        "one of tps, eps, qps, events, count, errors, failed, failed_pct, "
        "restarts, reconnects, queue, rows, min, avg, max, or a percentile "
        "such as p99.9)");
    check_error("p99", "--assert: 'p99', character 4: expected one of < <= > "
                       ">= == !=");
    check_error("p99=1", "--assert: 'p99=1', character 4: expected one of < <= "
                         "> >= == !=");
    check_error("p99<",
        "--assert: 'p99<', character 5: expected a time such as "
        "10ms, 500us or 1.5s (ms if it has no unit)");
    check_error("tps>10ms",
        "--assert: 'tps>10ms', character 5: expected a rate "
        "per second, such as 1000 or 2.5k");
    check_error("errors<-1", "--assert: 'errors<-1', character 8: expected a "
                             "number that is at least 0, such as 10 or 5k");
    check_error("failed<101%", "--assert: 'failed<101%', character 8: expected "
                               "a percentage from 0 to 100, such as 0.1%");
    check_error("tps>1,,qps>1",
        "--assert: character 7: expected a limit, such as p99<10ms");
    check_error("tps>1, ", "--assert: character 8: expected a limit, such as "
                           "p99<10ms; the list ends here");
    check_error("\"a.p99<1", "--assert: '\"a.p99<1', character 1: the name has "
                             "no closing quote");
    check_error("\"a\"\"", "--assert: '\"a\"\"', character 1: the name has no "
                           "closing quote");
    check_error(
        "\"\".p9<1", "--assert: '\"\".p9<1', character 1: the name is empty");
    check_error("\"a\"p9<1", "--assert: '\"a\"p9<1', character 4: expected a "
                             "full stop and a figure after the name");
    check_error("\"a\".queue<1", "--assert: '\"a\".queue<1', character 5: "
                                 "'queue' is not measured for operations, only "
                                 "for all events and stages");
    check_error("x.queue<1", "--assert: 'x.queue<1', character 3: 'queue' is "
                             "not measured for operations, only for all "
                             "events and stages");
    check_error("rows>1", "--assert: 'rows>1', character 1: 'rows' is only "
                          "measured for operations: write NAME.rows");
}

static void parts_may_not_be_missing(void)
{
    struct sb_asserts a;

    check_error(".p9<1", "--assert: '.p9<1', character 1: expected a name "
                         "before the full stop");
    CHECK_INT(sb_asserts_init(&a, "p0<1", &nameless, NULL), SB_EUSAGE);
    CHECK_INT(sb_asserts_init(&a, "p<1", &nameless, NULL), SB_EUSAGE);
    CHECK_INT(sb_asserts_init(&a, "<1", &nameless, NULL), SB_EUSAGE);
    CHECK_INT(sb_asserts_init(&a, "x.<1", &nameless, NULL), SB_EUSAGE);
}

static void abort_is_parsed(void)
{
    struct sb_asserts a = parsed("p99<50 abort,tps>1 abort after 10s,p9<1");

    CHECK_INT(a.n, 3);
    if (a.n == 3) {
        CHECK(a.limit[0].abort && a.limit[0].after == 0);
        CHECK_STR(a.limit[0].text, "p99<50 abort");
        CHECK(a.limit[1].abort && a.limit[1].after == 10);
        CHECK(!a.limit[2].abort);
        CHECK(sb_asserts_abort(&a) && !sb_asserts_need_operations(&a));
    }
    sb_asserts_done(&a);
    a = parsed("x.p99<1 abort");
    CHECK(sb_asserts_need_operations(&a));
    sb_asserts_done(&a);
    check_error("p99<1 abrot", "--assert: 'p99<1 abrot', character 7: expected "
                               "a comma, 'abort' or the end");
    check_error("p99<1 abort for 1s", "--assert: 'p99<1 abort for 1s', "
                                      "character 13: expected a comma, 'after' "
                                      "or the end");
    check_error("p99<1 abort after x", "--assert: 'p99<1 abort after x', "
                                       "character 19: expected a duration such "
                                       "as 10s");
    check_error("p99<1 abort after 1s x", "--assert: 'p99<1 abort after 1s x', "
                                          "character 22: expected a comma or "
                                          "the end");
    check_error("events>9 abort", "--assert: 'events>9 abort', character 10: a "
                                  "limit with 'abort' on a count that grows "
                                  "must be a maximum: use < or <=");
}

static void number_of_limits_is_bounded(void)
{
    char text[6 * (SB_ASSERTS_MAX + 1) + 1];
    struct sb_asserts a;
    struct sb_err err = { 0 };

    for (size_t i = 0; i <= SB_ASSERTS_MAX; i++)
        memcpy(text + 6 * i, "tps>1,", 7);
    text[6 * (SB_ASSERTS_MAX + 1) - 1] = '\0';
    CHECK_INT(sb_asserts_init(&a, text, NULL, &err), SB_ERANGE);
    CHECK_STR(err.msg, "--assert: too many limits; the maximum is 256");
    text[6 * SB_ASSERTS_MAX - 1] = '\0';
    a = parsed(text);
    CHECK_INT(a.n, SB_ASSERTS_MAX);
    sb_asserts_done(&a);
}

// Stages, workloads, the command beside the run -------------------------------

static void check_stage(
    const char *text, unsigned stage, enum sb_assert_of of, const char *name)
{
    struct sb_asserts a = parsed_of(text, &names);

    CHECK_INT(a.n, 1);
    if (a.n == 1) {
        CHECK_INT(a.limit[0].stage, stage);
        CHECK_INT(a.limit[0].of, of);
        CHECK_STR(a.limit[0].name ? a.limit[0].name : "", name);
        CHECK_STR(a.limit[0].text, text);
    }
    sb_asserts_done(&a);
}

static void stages_and_workloads_have_names(void)
{
    static const char *const alone[] = { "warm", "soak", "read",
        "point-selects", "q1", "run" };
    static const struct sb_assert_names staged = { .stage = alone,
        .nstages = 6 };
    static const char *const fine[] = { "\"sok\".p99<1", "soaks.p99<1",
        "sick.p99<1", "reads.avg<1", "write.p99<1", "soak.sok.p99<1",
        "SOAK.p99<1", "point_selects.p99<1", "q2.p99<1", "rum.p99<1" };

    check_stage("soak.p99.9<10ms", 2, SB_ASSERT_EVENTS, "");
    check_stage("soaking.failed<1%", 5, SB_ASSERT_EVENTS, "");
    check_stage("soak.lag.max<1", 2, SB_ASSERT_LAG, "");
    check_stage("\"soak\".tps>1", 2, SB_ASSERT_EVENTS, "");
    check_stage("threads=1..8.tps>1", 3, SB_ASSERT_EVENTS, "");
    check_stage("\"threads=1..8\".queue<1", 3, SB_ASSERT_EVENTS, "");
    check_stage("soak.report.failed==0", 2, SB_ASSERT_OP, "report");
    check_stage("soak.\"shop/a.b\".p99<1", 2, SB_ASSERT_OP, "shop/a.b");
    check_stage("soak.read.p99<1", 2, SB_ASSERT_OP, "read");
    check_stage("report.restarts<5", 0, SB_ASSERT_OP, "report");
    check_stage("shop/read.p99<5", 0, SB_ASSERT_OP, "shop/read");
    check_stage("connect.max<5", 0, SB_ASSERT_OP, "connect");
    check_stage("report.lag.max<2s", 0, SB_ASSERT_RESULT, "report.lag.max");
    check_stage("\"shop/a.b\".max<2s", 0, SB_ASSERT_OP, "shop/a.b");
    check_error_of("soka.failed<1", &names,
        "--assert: 'soka.failed<1', character 6: 'failed' is not measured for "
        "operations, and no stage or workload is called 'soka' (did you mean "
        "soak?)");
    check_error_of("tps>1,soka.p99<1", &names,
        "--assert: 'soka.p99<1', character 7: no workload or stage is called "
        "'soka', and operations of a mix are called WORKLOAD/NAME (did you "
        "mean soak?)");
    // Without a mix, an operation may have any name.
    check_error_of("sok.p99<1", &staged,
        "--assert: 'sok.p99<1', character 1: no stage is called 'sok' (did you "
        "mean soak?); if an operation is, write \"sok\"");
    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
        struct sb_asserts a = parsed_of(fine[i], &staged);

        CHECK_INT(a.n, 1);
        sb_asserts_done(&a);
    }
    check_error_of("report.queue<1", &names,
        "--assert: 'report.queue<1', character 8: 'queue' is not measured for "
        "workloads of a mix, only for all events and stages");
    check_error_of("soak.rows<1", &names,
        "--assert: 'soak.rows<1', character 6: 'rows' is only measured for "
        "operations: write NAME.rows");
    check_error_of("read.p99<1", &names,
        "--assert: 'read.p99<1', character 1: 'read' is a stage and has "
        "another meaning in limits, too; give the stage another name: NAME: "
        "...");
    check_error_of("shop.p99<1", &names,
        "--assert: 'shop.p99<1', character 1: 'shop' is a stage and has "
        "another meaning in limits, too; give the stage another name: NAME: "
        "...");
    check_error_of("twice.p99<1", &names,
        "--assert: 'twice.p99<1', character 1: stages 6 and 7 are both called "
        "'twice'; give them different names: NAME: ...");
    check_search("soak.p99<1", "--rate-limit: 'soak.p99<1', character 1: a "
                               "stage cannot be a limit of the search for a "
                               "rate");
    check_search("report.failed<1%", "");
    check_error("a.failed<1", "--assert: 'a.failed<1', character 3: 'failed' "
                              "is not measured for operations, only for all "
                              "events, stages and workloads of a mix");
}

static void names_beside_a_command(void)
{
    struct sb_asserts a = parsed_of(
        "beside.p99 < 2 x, beside.after.tps>0.9x,beside.edges.max<1s,"
        "beside.time<1.5x,beside.time<30s,beside.errors==0",
        &names);

    CHECK_INT(a.n, 6);
    if (a.n == 6) {
        CHECK(a.limit[0].ratio && a.limit[0].value == 2);
        CHECK_INT(a.limit[0].phase, SB_BESIDE_DURING);
        CHECK(a.limit[1].ratio && a.limit[1].value == 0.9);
        CHECK_INT(a.limit[1].phase, SB_BESIDE_AFTER);
        CHECK(!a.limit[2].ratio && a.limit[2].value == 1000);
        CHECK_INT(a.limit[2].phase, SB_BESIDE_EDGES);
        CHECK_STR(sb_assert_unit(&a.limit[3]), "x");
        CHECK_STR(sb_assert_unit(&a.limit[4]), "ms");
        CHECK(a.limit[4].value == 30000);
        CHECK_STR(sb_assert_unit(&a.limit[5]), "");
    }
    sb_asserts_done(&a);
    check_error("beside.p99<2x", "--assert: 'beside.p99<2x', character 1: "
                                 "figures beside a command require --beside");
    check_error_of("beside.qps>1", &names,
        "--assert: 'beside.qps>1', character 8: expected a figure beside the "
        "command: time, tps, events, errors, avg, max, or a percentile such as "
        "p99; before., edges. or after. may precede it");
    check_error_of("beside.errors<2x", &names,
        "--assert: 'beside.errors<2x', character 15: expected a number that is "
        "at least 0, such as 10 or 5k");
    check_error_of("beside.p99<x", &names,
        "--assert: 'beside.p99<x', character 12: expected a time such as 10ms "
        "or 1.5s (ms if it has no unit), or a ratio such as 2x");
    check_error_of("beside.p99<2x abort", &names,
        "--assert: 'beside.p99<2x abort', character 15: figures beside a "
        "command are known when the run has ended");
    const struct sb_assert_names not_alone = { .beside = true };
    check_error_of("beside.time<2x", &not_alone,
        "--assert: 'beside.time<2x', character 13: the time of the command is "
        "compared with that of --beside-alone, which is not given");
    check_search("beside.p99<1", "--rate-limit: 'beside.p99<1', character 12: "
                                 "figures beside a command cannot be a limit "
                                 "of the search for a rate");
    check_error("costs.usd_per_million_events<2",
        "--assert: 'costs.usd_per_million_events<2', character 1: "
        "usd_per_million_events requires --price");
    check_error("p99<2x", "--assert: 'p99<2x', character 5: expected a time "
                          "such as 10ms, 500us or 1.5s (ms if it has no "
                          "unit)");
}

// Checking --------------------------------------------------------------------

struct fixture {
    struct sb_stats *stats;
    struct sb_snap snap;
    struct sb_snap_op op[4];
    struct sb_report report;
};

static void add_op(struct fixture *f, unsigned i, const char *name,
    enum sb_op_kind kind, uint64_t n, uint64_t ns)
{
    struct sb_snap_op *op = &f->op[i];

    snprintf(f->stats->op[i].name, sizeof(f->stats->op[i].name), "%s", name);
    f->stats->op[i].kind = kind;
    *op = (struct sb_snap_op){ .count = n,
        .errors = i,
        .rows = 10 * n,
        .ns = n * ns,
        .min = ns,
        .max = ns };
    if (n)
        count(&op->hist, ns, n);
}

// 100 events in two seconds: 90 of 1 ms and 10 of 20 ms; 5 failed, 4 errors.
static void setup(struct fixture *f, bool open_loop)
{
    *f = (struct fixture){ .stats = calloc(1, sizeof(*f->stats)) };
    f->snap = (struct sb_snap){ .ns = 2000 * MS,
        .service_min = 1 * MS,
        .service_max = 20 * MS,
        .response_max = 50 * MS,
        .lag_max = 30 * MS,
        .op = f->op,
        .nops = 4 };
    f->snap.c = (struct sb_counters){ .completed = 100,
        .failed = 5,
        .restarts = 7,
        .reconnects = 2,
        .reads = 300,
        .writes = 80,
        .others = 20,
        .err_ignored = 1,
        .err_givenup = 2,
        .err_fatal = 1,
        .service_ns = 290 * MS };
    count(&f->snap.service, 1 * MS, 90);
    count(&f->snap.service, 20 * MS, 10);
    if (open_loop) {
        count(&f->snap.response, 50 * MS, 100);
        count(&f->snap.lag, 30 * MS, 100);
        f->snap.c.response_ns = 5000 * MS;
    }
    add_op(f, 0, "point_selects", SB_OP_READ, 200, 1 * MS);
    add_op(f, 1, "sum_ranges", SB_OP_READ, 100, 4 * MS);
    add_op(f, 2, "updates", SB_OP_CHANGE, 50, 2 * MS);
    add_op(f, 3, "never", SB_OP_OTHER, 0, 0);
    sb_report_fill(&f->report, &f->snap, 2, open_loop, 2);
    f->report.stats = f->stats;
    f->report.queue = 6;
}

static void teardown(struct fixture *f)
{
    sb_hist_snap_done(&f->snap.service);
    sb_hist_snap_done(&f->snap.response);
    sb_hist_snap_done(&f->snap.lag);
    sb_hist_snap_done(&f->snap.client_delay);
    for (int i = 0; i < 4; i++)
        sb_hist_snap_done(&f->op[i].hist);
    free(f->stats);
}

// Checks one limit against the report. The result is valid until the next call.
static const struct sb_verdict *verdict(struct fixture *f, const char *text)
{
    static struct sb_verdict v;
    struct sb_asserts a = parsed(text);

    v = (struct sb_verdict){ 0 };
    if (a.n)
        sb_assert_check(&a.limit[0], &f->report, &v);
    sb_asserts_done(&a);
    return &v;
}

#define VALUE(text, want)                                \
    do {                                                 \
        const struct sb_verdict *v_ = verdict(&f, text); \
        CHECK(v_->known);                                \
        CHECK_STR(v_->why, "");                          \
        CHECK_NEAR(v_->value, want, 1e-3 * (want));      \
    } while (0)

static void figures_of_events(void)
{
    struct fixture f;

    setup(&f, false);
    VALUE("tps>0", 50.0);
    VALUE("eps>0", 50.0);
    VALUE("qps>0", 200.0);
    VALUE("events>0", 100.0);
    VALUE("errors<9", 4.0);
    VALUE("failed<9", 5.0);
    VALUE("failed<9%", 100 * 5 / 105.0);
    VALUE("restarts<9", 7.0);
    VALUE("reconnects<9", 2.0);
    VALUE("queue<9", 6.0);
    VALUE("min<9", 1.0);
    VALUE("avg<9", 2.9);
    VALUE("max<9", 20.0);
    VALUE("p50<9", 1.0);
    VALUE("p99<9", 20.0);
    VALUE("service.p99<9", 20.0);
    teardown(&f);
}

static void figures_of_an_open_loop(void)
{
    struct fixture f;

    setup(&f, false);
    CHECK(!verdict(&f, "lag.p99<9")->known);
    CHECK_STR(verdict(&f, "lag.p99<9")->why, "it is only measured with --rate");
    CHECK(!verdict(&f, "response.p99<9")->known);
    CHECK(!verdict(&f, "client_delay.p99<9")->known);
    f.snap.has_client_delay = true;
    count(&f.snap.client_delay, 0, 9);
    CHECK(verdict(&f, "client_delay.p99<9")->known);
    teardown(&f);
    setup(&f, true);
    VALUE("p99<9", 50.0);
    VALUE("response.avg<9", 50.0);
    VALUE("service.p99<9", 20.0);
    VALUE("lag.p99<9", 30.0);
    VALUE("lag.max<9", 30.0);
    teardown(&f);
}

static void figures_of_operations(void)
{
    struct fixture f;

    setup(&f, false);
    VALUE("sum_ranges.p99<9", 4.0);
    VALUE("sum_ranges.tps<9", 50.0);
    VALUE("sum_ranges.count<9", 100.0);
    VALUE("sum_ranges.errors<9", 1.0);
    VALUE("sum_ranges.rows<9", 1000.0);
    VALUE("read.count<9", 300.0); // both reads
    VALUE("read.avg<9", 2.0);
    VALUE("read.min<9", 1.0);
    VALUE("read.max<9", 4.0);
    VALUE("read.p99<9", 4.0);
    f.stats->op[3].kind = SB_OP_READ; // not executed: has no minimum
    VALUE("read.min<9", 1.0);
    VALUE("write.max<9", 2.0);
    VALUE("never.count<9", 0.0);
    CHECK_STR(verdict(&f, "never.p99<9")->why, "it was not executed");
    CHECK_STR(verdict(&f, "sum_range.p99<9")->why,
        "no operation has this name (did you mean sum_ranges?)");
    CHECK_STR(verdict(&f, "xyz.p99<9")->why, "no operation has this name");
    // A name wins over a kind.
    snprintf(f.stats->op[2].name, sizeof(f.stats->op[2].name), "read");
    VALUE("read.count<9", 50.0);
    f.snap.nops = 0;
    CHECK_STR(verdict(&f, "read.p99<9")->why, "there are no operations");
    CHECK(!verdict(&f, "read.p99<9")->passed);
    teardown(&f);
}

// The fixture as a mix: two workloads with two operations each.
static void figures_of_workloads(void)
{
    struct fixture f;

    setup(&f, false);
    const char *const name[] = { "shop", "shop/a", "shop/b", "shop2/a" };
    for (int i = 0; i < 4; i++)
        snprintf(
            f.stats->op[i].name, sizeof(f.stats->op[i].name), "%s", name[i]);
    f.stats->op[0].kind = SB_OP_WORKLOAD;
    f.op[0].failed = 50;
    f.op[0].restarts = 8;
    f.op[0].errors = 9;
    f.op[3].count = 1000;
    VALUE("shop.tps>0", 100.0);
    VALUE("shop.events>0", 200.0);
    VALUE("shop.count>0", 200.0);
    VALUE("shop.errors<9", 9.0);
    VALUE("shop.failed<9", 50.0);
    VALUE("shop.failed<9%", 20.0);
    f.op[0].cut_short = 49;
    VALUE("shop.failed<9", 1.0);
    VALUE("shop.restarts<9", 8.0);
    VALUE("shop.p99<9", 1.0);
    VALUE("shop.qps>9", 75.0); // a: 100, b: 50, in 2 s
    VALUE("shop.rows>9", 1500.0);
    VALUE("shop/read.count>9", 100.0);
    VALUE("shop/write.count>9", 50.0);
    CHECK_STR(
        verdict(&f, "nothing/read.count>9")->why, "no operation has this name");
    CHECK_STR(verdict(&f, "shop/a.failed<9")->why,
        "it is not measured for operations");
    CHECK_STR(
        verdict(&f, "shop.queue<9")->why, "it is not measured for a workload");
    // With more operations than are kept, the rest has no workload.
    snprintf(f.stats->op[3].name, sizeof(f.stats->op[3].name), SB_OPS_REST);
    CHECK_STR(verdict(&f, "shop.qps>9")->why,
        "there are too many operations to know those of each workload");
    VALUE("shop.tps>0", 100.0);
    teardown(&f);
}

// Checks one limit of a run with stages against the report.
static const struct sb_verdict *verdict_of_stage(
    struct fixture *f, const char *text)
{
    static struct sb_verdict v;
    struct sb_asserts a = parsed_of(text, &names);

    sb_assert_check(&a.limit[0], &f->report, &v);
    sb_asserts_done(&a);
    return &v;
}

static void figures_of_stages(void)
{
    struct fixture whole, soak;
    struct sb_report done[2];

    setup(&whole, false);
    setup(&soak, false);
    soak.snap.c.completed = 40;
    done[0] = whole.report;
    done[1] = soak.report;
    done[0].stage = 0;
    done[1].stage = 1;
    whole.report.stages = done;
    whole.report.nstages = 2;
    CHECK_NEAR(verdict_of_stage(&whole, "warm.tps>1")->value, 50, 1e-9);
    CHECK_NEAR(verdict_of_stage(&whole, "soak.tps>1")->value, 20, 1e-9);
    CHECK_NEAR(verdict_of_stage(&whole, "soak.events>1")->value, 40, 1e-9);
    CHECK_NEAR(verdict_of_stage(&whole, "soak.read.count>1")->value, 300, 1e-9);
    CHECK_NEAR(verdict_of_stage(&whole, "soak.queue<9")->value, 6, 1e-9);
    CHECK(!verdict_of_stage(&whole, "soaking.tps>1")->passed);
    CHECK_STR(verdict_of_stage(&whole, "soaking.tps>1")->why,
        "the run ended before this stage");
    done[1].stage = 4;
    CHECK_STR(verdict_of_stage(&whole, "soak.tps>1")->why,
        "the stage was too short to be measured");
    teardown(&whole);
    teardown(&soak);
}

// 10 s before the command with 1,000 events of 1 ms, 5 s during it with 250 of
// 4 ms and one of 9 ms.
static void setup_beside(struct sb_beside_figures *b)
{
    struct sb_beside_phase *before = &b->phase[SB_BESIDE_BEFORE];
    struct sb_beside_phase *during = &b->phase[SB_BESIDE_DURING];

    *b = (struct sb_beside_figures){ .name = "dump" };
    *before = (struct sb_beside_phase){ .n = 10,
        .seconds = 10,
        .events = 1000,
        .lat_sum = 1000 * MS,
        .lat_max = 1 * MS };
    count(&before->latency, 1 * MS, 1000);
    *during = (struct sb_beside_phase){ .n = 5,
        .seconds = 5,
        .events = 251,
        .errors = 3,
        .lat_sum = 1009 * MS,
        .lat_max = 9 * MS };
    count(&during->latency, 4 * MS, 250);
    count(&during->latency, 9 * MS, 1);
    b->command = (struct sb_beside_command){
        .started = true, .ended = true, .seconds = 6
    };
    b->alone = (struct sb_beside_command){
        .started = true, .ended = true, .seconds = 4
    };
}

// Checks one limit against figures beside a command.
static const struct sb_verdict *verdict_beside(
    const struct sb_beside_figures *b, const char *text)
{
    static struct sb_verdict v;
    struct sb_asserts a = parsed_of(text, &names);
    struct sb_report whole = { 0 };

    sb_asserts_final(&a, &whole, &(struct sb_assert_facts){ .beside = b });
    v = a.limit[0].verdict;
    sb_asserts_done(&a);
    return &v;
}

#define BESIDE(text, want)                                      \
    do {                                                        \
        const struct sb_verdict *v_ = verdict_beside(&b, text); \
        CHECK_STR(v_->why, "");                                 \
        CHECK_NEAR(v_->value, want, 1e-3 * (want));             \
    } while (0)

static void figures_beside_a_command(void)
{
    struct sb_beside_figures b;

    setup_beside(&b);
    BESIDE("beside.p50<5ms", 4.0);
    BESIDE("beside.p50<5x", 4.0);
    BESIDE("beside.max<5x", 9.0);
    BESIDE("beside.avg<5x", 1009 / 251.0);
    BESIDE("beside.tps>1", 50.2);
    BESIDE("beside.tps>1x", 0.502);
    BESIDE("beside.before.tps>1", 100.0);
    BESIDE("beside.events>1", 251.0);
    BESIDE("beside.errors<1", 3.0);
    BESIDE("beside.time<1s", 6000.0);
    BESIDE("beside.time<1x", 1.5);
    CHECK(verdict_beside(&b, "beside.p50<4.1x")->passed);
    CHECK(!verdict_beside(&b, "beside.p50<3.9x")->passed);
    CHECK_STR(verdict_beside(&b, "beside.after.tps>1")->why,
        "there is no whole interval after the command");
    // Without intervals before, those after the command are the base.
    b.phase[SB_BESIDE_AFTER] = b.phase[SB_BESIDE_BEFORE];
    b.phase[SB_BESIDE_BEFORE] = (struct sb_beside_phase){ 0 };
    BESIDE("beside.tps>1x", 0.502);
    CHECK_STR(verdict_beside(&b, "beside.before.tps>1")->why,
        "there is no whole interval before the command");
    b.phase[SB_BESIDE_AFTER].events = 0;
    CHECK_STR(verdict_beside(&b, "beside.tps>1x")->why,
        "the figure without the command is 0");
    b.command.ended = false;
    CHECK_STR(verdict_beside(&b, "beside.time<1s")->why,
        "the run ended before the command");
    sb_beside_figures_done(&b);
    CHECK_STR(verdict_beside(NULL, "beside.tps>1")->why,
        "no command was executed beside the run");
}

static void comparisons_are_exact(void)
{
    struct fixture f;

    setup(&f, false);
    CHECK(verdict(&f, "events<101")->passed);
    CHECK(!verdict(&f, "events<100")->passed);
    CHECK(verdict(&f, "events<=100")->passed);
    CHECK(!verdict(&f, "events<=99")->passed);
    CHECK(verdict(&f, "events>99")->passed);
    CHECK(!verdict(&f, "events>100")->passed);
    CHECK(verdict(&f, "events>=100")->passed);
    CHECK(!verdict(&f, "events>=101")->passed);
    CHECK(verdict(&f, "events==100")->passed);
    CHECK(!verdict(&f, "events==101")->passed);
    CHECK(verdict(&f, "events!=101")->passed);
    CHECK(!verdict(&f, "events!=100")->passed);
    teardown(&f);
}

static void limits_without_a_value_fail(void)
{
    struct sb_snap none = { 0 };
    struct fixture f = { 0 };

    sb_report_fill(&f.report, &none, 1, false, 0);
    CHECK(!verdict(&f, "p99<9")->passed);
    CHECK_STR(verdict(&f, "p99<9")->why, "no event was completed");
    CHECK(!verdict(&f, "tps>=0")->passed);
    CHECK_STR(verdict(&f, "failed<1%")->why, "there were no events");
    CHECK(verdict(&f, "errors==0")->passed);
    struct sb_asserts a = parsed("errors==0,p99<1");
    CHECK_INT(sb_asserts_failed(&a), 2); // no final report yet
    sb_asserts_final(&a, &f.report, &(struct sb_assert_facts){ 0 });
    CHECK_INT(sb_asserts_failed(&a), 1);
    sb_asserts_done(&a);
}

static void costs(void)
{
    struct sb_asserts a = parsed(
        "costs.cpu_us<100, costs.log_bytes == 0,costs.usd_per_million_events<3,"
        "costs.p99<4");
    struct sb_costs c;
    struct fixture f = { 0 };
    char value[64];

    setup(&f, false);
    CHECK(sb_asserts_need_costs(&a));
    CHECK_INT(a.limit[3].of, SB_ASSERT_OP); // of this name
    sb_costs_init(&c, "the server is gone");
    c.seconds = c.events = 10;
    c.queries = 20;
    sb_costs_set(&c, SB_COST_CPU, 999, "server");
    sb_asserts_final(&a, &f.report, &(struct sb_assert_facts){ .costs = &c });
    CHECK(a.limit[0].verdict.passed);
    CHECK_STR(sb_assert_value(&a.limit[0], value, sizeof(value)), "99.9 us");
    CHECK(!a.limit[1].verdict.passed);
    CHECK_STR(a.limit[1].verdict.why, "the server is gone");
    CHECK_STR(sb_assert_value(&a.limit[1], value, sizeof(value)), "no value");
    CHECK_STR(a.limit[2].verdict.why, "--price was not given");
    sb_asserts_done(&a);
    a = parsed("costs.usd_per_million_events>2,costs.cpu_us>99.9");
    c.price = 0.0036;
    sb_asserts_final(&a, &f.report, &(struct sb_assert_facts){ .costs = &c });
    CHECK(!a.limit[0].verdict.passed && a.limit[0].verdict.known);
    CHECK_NEAR(a.limit[0].verdict.value, 1, 1e-9);
    CHECK_STR(sb_assert_unit(&a.limit[0]), "USD");
    CHECK(!a.limit[1].verdict.passed);
    sb_asserts_done(&a);
    a = parsed("costs.cpu_us<1");
    sb_asserts_final(&a, &f.report, &(struct sb_assert_facts){ 0 });
    CHECK_STR(
        a.limit[0].verdict.why, "the costs of the run were not found out");
    sb_asserts_done(&a);
    a = parsed("tps>1");
    CHECK(!sb_asserts_need_costs(&a));
    sb_asserts_done(&a);
    teardown(&f);
}

static void states_of_checks(void)
{
    struct sb_asserts a = parsed("validity==ok, validity.steady!=bad,"
                                 "validity.known >= 2,validity.errors==n/a");
    struct sb_validity v = { 0 };
    struct fixture f = { 0 };
    char value[64];

    setup(&f, false);
    sb_validity_make(&v, SB_CHECK_STEADY, SB_VALIDITY_DOUBTFUL);
    sb_validity_make(&v, SB_CHECK_ERRORS, SB_VALIDITY_NOT_APPLICABLE);
    snprintf(v.check[SB_CHECK_STEADY].meaning, 99, "it fell");
    CHECK_INT(a.n, 4);
    CHECK(sb_asserts_need_validity(&a));
    sb_asserts_final(
        &a, &f.report, &(struct sb_assert_facts){ .validity = &v });
    CHECK(!a.limit[0].verdict.passed);
    CHECK_STR(sb_assert_value(&a.limit[0], value, sizeof(value)), "doubtful");
    CHECK(a.limit[1].verdict.passed);
    CHECK(!a.limit[2].verdict.passed);
    CHECK_STR(sb_assert_value(&a.limit[2], value, sizeof(value)), "1");
    CHECK(a.limit[3].verdict.passed);
    sb_asserts_done(&a);
    // Without checks there is no value, and why is said.
    a = parsed("validity.steady==doubtful,tps>0");
    sb_asserts_final(&a, &f.report, &(struct sb_assert_facts){ 0 });
    CHECK(!a.limit[0].verdict.known && !a.limit[0].verdict.passed);
    CHECK_STR(
        a.limit[0].verdict.why, "the figures of the run were not checked");
    sb_asserts_done(&a);
    a = parsed("validity.steady==ok");
    sb_asserts_final(
        &a, &f.report, &(struct sb_assert_facts){ .validity = &v });
    CHECK_STR(a.limit[0].verdict.why, "it fell");
    sb_asserts_done(&a);
    a = parsed("tps>1");
    CHECK(!sb_asserts_need_validity(&a));
    sb_asserts_done(&a);
    teardown(&f);
}

// Aborting --------------------------------------------------------------------

// An interval of one second that ends at `end`, with n events of ms.
static bool interval(
    struct sb_asserts *a, double end, uint64_t n, uint64_t ms, uint64_t errors)
{
    struct sb_snap s = { .ns = 1000 * MS, .service_max = ms * MS };
    struct sb_report r;

    s.c.completed = n;
    s.c.err_ignored = errors;
    s.c.service_ns = n * ms * MS;
    if (n)
        count(&s.service, ms * MS, n);
    sb_report_fill(&r, &s, 1, false, end);
    bool stop = sb_asserts_interval(a, &r);
    sb_hist_snap_done(&s.service);
    return stop;
}

static void exceeded_limit_ends_the_run(void)
{
    struct sb_asserts a = parsed("p50<5 abort, tps>1, errors<3 abort");

    CHECK(!interval(&a, 1, 10, 4, 1));
    CHECK_INT(sb_asserts_failed(&a), 3); // the run has not ended
    CHECK(!interval(&a, 2, 0, 0, 1));    // tps has no abort, p50 no value
    CHECK(!a.by);
    CHECK(interval(&a, 3, 10, 4, 1)); // three errors in all
    CHECK(a.by == &a.limit[2]);
    CHECK_STR(a.why, "the limit errors<3 abort was not kept after 3 s: 3");
    sb_asserts_done(&a);
    a = parsed("p50<5ms abort");
    CHECK(interval(&a, 1, 10, 6, 0));
    CHECK(strstr(a.why, "the limit p50<5ms abort was not kept after 1 s: 6.0"));
    // The whole run keeps the limit, but the interval did not.
    struct sb_snap s = { .ns = 1000 * MS };
    struct sb_report r;
    s.c.completed = 1;
    count(&s.service, 1 * MS, 1);
    sb_report_fill(&r, &s, 1, false, 1);
    sb_asserts_final(&a, &r, &(struct sb_assert_facts){ 0 });
    CHECK_INT(sb_asserts_failed(&a), 1);
    CHECK_NEAR(a.limit[0].verdict.value, 6, 0.01);
    sb_hist_snap_done(&s.service);
    sb_asserts_done(&a);
}

static void abort_after_counts_without_a_break(void)
{
    struct sb_asserts a = parsed("p50<5 abort after 3s");

    CHECK(!interval(&a, 1, 10, 6, 0));
    CHECK(!interval(&a, 2, 10, 6, 0));
    CHECK(!interval(&a, 3, 10, 4, 0)); // kept again
    CHECK(!interval(&a, 4, 10, 6, 0));
    CHECK(!interval(&a, 5, 0, 0, 0)); // no value: goes on
    CHECK(interval(&a, 6, 10, 6, 0));
    sb_asserts_done(&a);
    // Equality with a count: exceeded only when it is too high.
    a = parsed("events==15 abort");
    CHECK(!interval(&a, 1, 10, 6, 0));
    CHECK(!interval(&a, 2, 5, 6, 0));
    CHECK(interval(&a, 3, 1, 6, 0));
    sb_asserts_done(&a);
}

// A limit of a stage is checked in the intervals of this stage, and counts are
// those of the stage.
static void stage_ends_the_run(void)
{
    struct sb_asserts a = parsed_of("soak.events<15 abort", &names);
    struct sb_snap s = { .ns = 1000 * MS };
    struct sb_report r;

    s.c.completed = 10;
    sb_report_fill(&r, &s, 1, false, 1);
    CHECK(!sb_asserts_interval(&a, &r));
    CHECK(!sb_asserts_interval(&a, &r));
    r.stage = 1;
    CHECK(!sb_asserts_interval(&a, &r));
    r.stage = 2;
    CHECK(!sb_asserts_interval(&a, &r));
    r.stage = 1;
    CHECK(sb_asserts_interval(&a, &r));
    sb_asserts_done(&a);
}

static void warmup_and_rest_are_not_judged(void)
{
    struct sb_asserts a = parsed("tps>1 abort");
    struct sb_snap s = { .ns = 1000 * MS };
    struct sb_report r;

    sb_report_fill(&r, &s, 1, false, 1);
    r.warmup = true;
    CHECK(!sb_asserts_interval(&a, &r));
    r.warmup = false;
    r.partial = true;
    CHECK(!sb_asserts_interval(&a, &r));
    r.partial = false;
    CHECK(sb_asserts_interval(&a, &r));
    sb_asserts_done(&a);
}

// Text ------------------------------------------------------------------------

static void text_has_values_and_verdicts(void)
{
    struct sb_asserts a = parsed("p99 < 10ms, tps>1,\"x y\".p9<1,failed<10%,"
                                 "p50<1.0001,errors==4");
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    struct fixture f;

    setup(&f, false);
    sb_asserts_final(&a, &f.report, &(struct sb_assert_facts){ 0 });
    sb_asserts_text(&a, out);
    fflush(out);
    CHECK_STR(got,
        "Limits:\n"
        "    p99 < 10ms          20.00 ms  not kept\n"
        "    tps>1               50.00 /s  kept\n"
        "    \"x y\".p9<1          no value  not kept (no operation has this "
        "name)\n"
        "    failed<10%            4.76 %  kept\n"
        "    p50<1.0001         1.0002 ms  not kept\n"
        "    errors==4                  4  kept\n"
        "\n");
    fclose(out);
    free(got);
    sb_asserts_done(&a);
    teardown(&f);
}

CHECK_FILE
{
    RUN(list_is_parsed);
    RUN(limits_of_a_search);
    RUN(values_have_units);
    RUN(units_may_follow_a_space);
    RUN(stages_and_workloads_have_names);
    RUN(names_beside_a_command);
    RUN(names_have_dots_and_quotes);
    RUN(errors_name_limit_and_position);
    RUN(parts_may_not_be_missing);
    RUN(abort_is_parsed);
    RUN(number_of_limits_is_bounded);
    RUN(figures_of_events);
    RUN(figures_of_an_open_loop);
    RUN(figures_of_operations);
    RUN(figures_of_workloads);
    RUN(figures_of_stages);
    RUN(figures_beside_a_command);
    RUN(comparisons_are_exact);
    RUN(limits_without_a_value_fail);
    RUN(states_of_checks);
    RUN(costs);
    RUN(exceeded_limit_ends_the_run);
    RUN(abort_after_counts_without_a_break);
    RUN(stage_ends_the_run);
    RUN(warmup_and_rest_are_not_judged);
    RUN(text_has_values_and_verdicts);
    return check_done();
}
