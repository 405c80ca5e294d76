// SPDX-License-Identifier: GPL-2.0-or-later
//
// When a server is asked about itself: before the users connect, when the
// measured part begins, and after the run.
#include "db/inspect.h"

#include <math.h>

#include "db/plans.h"
#include "db/sampler.h"
#include "fake_server.h"

#define INTERVAL UINT64_C(20000000)
#define ANY_AGE  UINT64_C(600000000000)
#define LATE_NS  UINT64_C(1000000000)

static const char *item[] = { "off" };
static struct sb_sampler_opts opts = { .stats = { item, 1 }, .pid = "" };
static struct sb_db_opts db_opts = { .driver = "" };
static struct sb_inspection got;
static unsigned ngot;
static uint64_t interval = INTERVAL;

static struct sb_sampler *start(struct sb_first_look *first)
{
    return sb_sampler_start(&(struct sb_sampler_setup){ .drivers = &owner,
                                .opts = &opts,
                                .interval = interval,
                                .inspects = SB_INSPECT_ALL,
                                .first = first },
        NULL);
}

// Ends the run, and fills `got`.
static void stop(struct sb_sampler *s)
{
    struct sb_inspection *all;

    sb_sampler_last(s, ANY_AGE);
    CHECK(sb_sampler_stop(s));
    sb_sampler_interval(s, sb_clock_monotonic(), NULL, NULL);
    all = sb_sampler_inspections(s, &ngot);
    got = all[0];
    free(all);
    sb_sampler_free(s);
}

static void taken(void)
{
    sb_inspected_done(&got.before);
    sb_inspected_done(&got.after);
}

static void wait_for_disconnects(unsigned n)
{
    while (disconnects < n)
        nap();
}

// Waits until the last visit of the server is over and came, in relation to the
// time since `begun`, not late.
static void run_on(uint64_t begun, unsigned visits)
{
    uint64_t late;

    wait_for_disconnects(visits);
    late = sb_clock_monotonic() - begun;
    while (sb_clock_monotonic() - begun < 21 * late)
        nap();
}

static void wait_for_inspections(unsigned n)
{
    while (inspections < n)
        nap();
}

static void before_and_after(void)
{
    uint64_t begun = sb_clock_monotonic();
    struct sb_sampler *s;
    struct sb__inst *i;

    begin();
    total_now = 100;
    i = use(NULL);
    s = start(NULL);
    run_on(begun, 1);
    total_now = 300;
    stop(s);
    CHECK_INT(ngot, 1);
    CHECK_INT(inspections, 2);
    CHECK_STR(got.driver, "fake");
    CHECK_STR(got.address, "10.0.0.0:1");
    CHECK(got.before.asked && got.after.asked);
    CHECK_NEAR(got.before.fact[SB_FACT_CACHE_REQUESTS], 100, 0);
    CHECK_NEAR(got.after.fact[SB_FACT_CACHE_REQUESTS], 300, 0);
    CHECK(isnan(got.after.fact[SB_FACT_LOG_BYTES]));
    CHECK(got.after.known[SB_PART_CACHE]);
    CHECK(!got.after.known[SB_PART_STATISTICS]);
    CHECK_STR(got.after.why[SB_PART_STATISTICS], "secrets: not allowed");
    CHECK(!got.after.known[SB_PART_LOG]);
    CHECK_STR(got.after.why[SB_PART_LOG], "");
    CHECK(sb_inspected_find(&got.after, "t") != NULL);
    CHECK(sb_inspected_find(&got.after, "u") == NULL);
    taken();
    sb__inst_put(i);
    end();
}

// The connection of the first look is closed before the users connect; the
// server is not asked again until a warm-up ends.
static void first_look(void)
{
    struct sb_first_look first;
    struct sb_sampler *s;
    struct sb__inst *i;
    uint64_t begun;

    begin();
    owner.opts = &db_opts;
    total_now = 100;
    i = use(NULL);
    sb_inspect_first(&owner, SB_INSPECT_ALL, false, &first);
    CHECK(first.inst == i);
    CHECK_INT(connects, 1);
    CHECK_INT(disconnects, 1);
    CHECK(first.trips.n > 0 && pings == first.trips.n + 1);
    CHECK(first.trips.min > 0 && first.trips.min <= first.trips.p90);
    CHECK_STR(first.facts.server.address, "10.0.0.0:1");
    CHECK(!first.failed && !first.counted.asked);
    s = start(&first);
    wait_for_disconnects(2);
    total_now = 200;
    begun = sb_clock_monotonic();
    sb_sampler_rebase(s, sb_clock_monotonic());
    run_on(begun, 3);
    total_now = 300;
    stop(s);
    CHECK_INT(inspections, 3);
    CHECK_NEAR(got.before.fact[SB_FACT_CACHE_REQUESTS], 200, 0);
    CHECK_NEAR(sb_inspected_find(&got.before, "t")->rows, 100, 0);
    CHECK_STR(got.before.why[SB_PART_STATISTICS], "secrets: not allowed");
    CHECK_NEAR(sb_inspected_find(&got.after, "t")->rows, 300, 0);
    taken();
    sb_first_look_done(&first);
    sb__inst_put(i);
    CHECK_INT(i->refs, 0);
    end();
}

// When the measured part begins after a warm-up, the server does not answer, or
// answers late.
static void base_of_the_totals(void)
{
    enum { NO_WARM_UP, MISSED, LATE, WAYS };

    for (int way = 0; way < WAYS; way++) {
        struct sb_first_look first;
        struct sb_sampler *s;
        struct sb__inst *i;

        begin();
        owner.opts = &db_opts;
        total_now = 100;
        i = use(NULL);
        sb_inspect_first(&owner, SB_INSPECT_ALL, false, &first);
        interval = ANY_AGE; // no second attempt
        s = start(&first);
        wait_for_disconnects(2);
        mode = way == MISSED ? REFUSES : ANSWERS;
        if (way != NO_WARM_UP) {
            sb_sampler_rebase(
                s, sb_clock_monotonic() - (way == LATE) * LATE_NS);
            wait_for_disconnects(3);
        }
        mode = ANSWERS;
        total_now = 300;
        stop(s);
        CHECK(got.before.known[SB_PART_CACHE] == (way == NO_WARM_UP));
        CHECK(isnan(got.before.fact[SB_FACT_CACHE_REQUESTS]) ==
              (way != NO_WARM_UP));
        CHECK_STR(got.before.why[SB_PART_CACHE],
            way == NO_WARM_UP ? "" : "the server's totals were read too late");
        CHECK_NEAR(sb_inspected_find(&got.before, "t")->rows, 100, 0);
        CHECK_NEAR(got.after.fact[SB_FACT_CACHE_REQUESTS], 300, 0);
        taken();
        sb_first_look_done(&first);
        sb__inst_put(i);
        interval = INTERVAL;
        end();
    }
}

static void nothing_to_look_at(void)
{
    struct sb_first_look first;

    begin();
    owner.opts = &db_opts;
    mode = REFUSES;
    sb_inspect_first(&owner, SB_INSPECT_ALL, false, &first);
    CHECK(!first.inst && !first.failed && first.trips.n == 0);
    CHECK_STR(
        first.trips.why, "no server was known before the users connected");
    sb_first_look_done(&first);
    db.given = true; // its options select it
    sb_inspect_first(&owner, SB_INSPECT_ALL, false, &first);
    CHECK(first.inst == &db.base && first.trips.n == 0 && !first.seen.asked);
    CHECK(first.failed);
    CHECK_STR(first.trips.why, "refused");
    sb_first_look_done(&first);
    db.given = false;
    CHECK_INT(db.base.refs, 0);
    end();
}

// A server that is lost while it answers is not asked again before the end.
static void lost(void)
{
    struct sb_sampler *s;
    struct sb__inst *i;

    begin();
    i = use(NULL);
    mode = LOSES;
    s = start(NULL);
    wait_for_inspections(1);
    mode = ANSWERS;
    while (disconnects < 1)
        nap();
    stop(s);
    CHECK_INT(ngot, 1);
    CHECK(!got.before.asked);
    taken();
    sb__inst_put(i);
    end();
}

// Plans ----------------------------------------------------------------------

static _Atomic unsigned explained;
static int explain_rc;

static int fake_explain(struct sb_conn *conn, const struct sb_statement *s,
    const struct sb_plan_sink *to, struct sb_err *err)
{
    const struct sb_plan_step scan = { "Scan t", "t", true, 7, NAN };
    const struct sb_plan_step sort = { .text = "Sort" };
    int rc = to->plan(to->arg, "custom", false);

    explained++;
    if (explain_rc)
        return sb_err_set(err, explain_rc, "no: %s", s->sql);
    if (rc == 0)
        rc = to->plan(to->arg, "generic", true);
    if (rc == 0)
        rc = to->step(to->arg, &sort);
    return rc ? rc : to->step(to->arg, &scan);
}

static struct sb__inst *use_plans(void)
{
    struct sb__inst *i;

    begin();
    owner.opts = &db_opts;
    owner.plans = true;
    fake_info.explain = fake_explain;
    explained = 0;
    explain_rc = 0;
    i = use(NULL);
    sb__plans_note(
        i, "op", &(struct sb_statement){ .sql = "SELECT 1", .len = 8 }, 0);
    return i;
}

static void end_plans(struct sb__inst *i)
{
    sb_inspection_done(&got);
    sb__inst_put(i);
    sb__inst_done(i);
    fake_info.explain = NULL;
    owner.plans = false;
    end();
}

static void plans_after_the_run(void)
{
    struct sb__inst *i = use_plans();
    struct sb_sampler *s = start(NULL);
    const struct sb_plan *p;

    wait_for_inspections(1);
    stop(s);
    CHECK_INT(explained, 1);
    CHECK(!got.plans_before.asked && got.plans_after.asked);
    CHECK_INT(got.plans_after.n, 1);
    CHECK_STR(got.plans_after.op[0].operation, "op");
    CHECK_STR(got.plans_after.op[0].why, "");
    CHECK_INT(got.plans_after.op[0].nplans, 2);
    p = sb_plan_used(&got.plans_after.op[0]);
    CHECK_STR(p->kind, "generic");
    CHECK_STR(p->text, "Sort > Scan t");
    CHECK_INT(p->ntables, 1);
    CHECK_STR(p->table[0].name, "t");
    CHECK(p->table[0].scanned && p->table[0].size == 7);
    end_plans(i);
}

static void plans_before_the_run(void)
{
    unsigned before = 0;

    // On a busy machine, the thread may be too late.
    for (uint64_t ms = 100; before == 0 && ms < 30000; ms *= 4) {
        struct sb__inst *i = use_plans();
        struct sb_sampler *s = start(NULL);
        uint64_t at = sb_clock_monotonic() + ms * 1000000;

        sb_sampler_rebase(s, at);
        while (sb_clock_monotonic() < at)
            nap();
        before = explained;
        sb_sampler_rebase(s, sb_clock_monotonic());
        wait_for_inspections(2);
        CHECK_INT(explained, before);
        stop(s);
        CHECK_INT(explained, before + 1);
        CHECK_INT(got.plans_before.n, before);
        end_plans(i);
    }
    CHECK_INT(before, 1);
}

static void plans_that_are_refused(void)
{
    struct sb__inst *i = use_plans();
    struct sb_sampler *s;

    explain_rc = SB_EQUERY;
    sb__plans_note(
        i, "two", &(struct sb_statement){ .sql = "SELECT 2", .len = 8 }, 0);
    s = start(NULL);
    wait_for_inspections(1);
    stop(s);
    CHECK_INT(got.plans_after.n, 2);
    CHECK_STR(got.plans_after.op[0].why, "no: SELECT 1");
    CHECK_STR(got.plans_after.op[1].why, "no: SELECT 2");
    CHECK_INT(got.plans_after.op[1].nplans, 0);
    end_plans(i);
}

static void plans_of_a_lost_server(void)
{
    struct sb__inst *i = use_plans();
    struct sb_sampler *s;

    explain_rc = SB_ELOST;
    s = start(NULL);
    wait_for_inspections(1);
    stop(s);
    CHECK(got.after.asked && !got.plans_after.asked);
    end_plans(i);
}

static void tables_have_a_maximum(void)
{
    struct sb_inspected i;
    const struct sb_inspect_sink sink = sb_inspect_into(&i, SB_INSPECT_ALL);
    char name[32];

    for (int k = 0; k < SB_INSPECT_TABLES_MAX + 5; k++) {
        const struct sb_table_facts t = { .name = name };

        snprintf(name, sizeof(name), "t%d", k);
        CHECK_INT(sink.table(sink.arg, &t), 0);
    }
    CHECK_INT(i.ntables, SB_INSPECT_TABLES_MAX);
    CHECK(sb_inspected_find(&i, "t0") && !sb_inspected_find(&i, name));
    sink.undurable(sink.arg, "fsync=off");
    sink.undurable(sink.arg, "synchronous_commit=off");
    CHECK_STR(i.undurable, "fsync=off, synchronous_commit=off");
    sb_inspected_done(&i);
}

#define RESTARTED                                                            \
    "the server was restarted, its counters were reset, or the answers are " \
    "of different servers"

static double grown(const struct sb_inspected *from,
    const struct sb_inspected *to, const char *want)
{
    const char *why = "";
    double growth = sb_inspected_growth(from, to, SB_FACT_LOG_BYTES, &why);

    CHECK_STR(why, want);
    return growth;
}

static void growth_of_totals(void)
{
    struct sb_inspected from = { 0 }, to = { 0 };

    CHECK(isnan(grown(&from, &to, "the server did not answer")));
    sb_inspect_into(&from, 0);
    sb_inspect_into(&to, 0);
    to.ns = from.ns + UINT64_C(10000000000);
    CHECK(isnan(grown(&from, &to, "not counted by the server")));
    snprintf(to.why[SB_PART_LOG], 20, "not allowed");
    CHECK(isnan(grown(&from, &to, "not allowed")));
    from.fact[SB_FACT_LOG_BYTES] = 100;
    CHECK(isnan(grown(&from, &to, "not allowed")));
    to.fact[SB_FACT_LOG_BYTES] = 300;
    CHECK_NEAR(grown(&from, &to, ""), 200, 0);
    to.fact[SB_FACT_LOG_BYTES] = 99;
    CHECK(isnan(grown(&from, &to, RESTARTED)));
    // Restarted, and then it has done more than before.
    to.fact[SB_FACT_LOG_BYTES] = 300;
    from.fact[SB_FACT_UPTIME] = 5;
    to.fact[SB_FACT_UPTIME] = 7;
    CHECK(isnan(grown(&from, &to, RESTARTED)));
    to.fact[SB_FACT_UPTIME] = 14; // whole seconds
    CHECK_NEAR(grown(&from, &to, ""), 200, 0);
    to.fact[SB_FACT_UPTIME] = 3000; // of another server
    CHECK(isnan(grown(&from, &to, RESTARTED)));
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL);
    RUN(before_and_after);
    RUN(first_look);
    RUN(base_of_the_totals);
    RUN(nothing_to_look_at);
    RUN(lost);
    RUN(plans_after_the_run);
    RUN(plans_before_the_run);
    RUN(plans_that_are_refused);
    RUN(plans_of_a_lost_server);
    RUN(tables_have_a_maximum);
    RUN(growth_of_totals);
    return check_done();
}
