// SPDX-License-Identifier: GPL-2.0-or-later
//
// By how much the counts of statements grow between two readings, and when a
// server is asked for them.
#include "db/statements.h"

#include <math.h>

#include "db/sampler.h"
#include "fake_server.h"

#define ANY_AGE UINT64_C(600000000000)

// What the server has counted, with as many calls as milliseconds.
static struct counted {
    const char *id;
    double calls;
    const char *text; // NULL: it is not part of the load
} counted[300];
// Of a reading, `readings` is incremented last, so that a test may change the
// others behind it.
static unsigned ncounted, text_readings;
static _Atomic unsigned readings;
static double lost_now;
static int refuses;            // an error instead of an answer
static const char *server_now; // NULL: the driver does not say

static void count(const char *id, double n, const char *text)
{
    counted[ncounted++] = (struct counted){ id, n, text };
}

static int pass_totals(const struct sb_statement_sink *to)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < ncounted; i++) {
        const struct sb_statement_count s = { .id = counted[i].id,
            .is_prepared = counted[i].id[0] == 'p',
            .calls = counted[i].calls,
            .ns = counted[i].calls * 1e6,
            .rows = 2 * counted[i].calls,
            .hit = NAN };

        rc = to->totals(to->arg, &s);
    }
    if (rc == 0 && server_now)
        rc = to->server(to->arg, server_now);
    return rc ? rc : to->lost(to->arg, lost_now);
}

static int pass_texts(const struct sb_statement_sink *to)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < ncounted; i++) {
        bool wanted = false;

        for (unsigned k = 0; k < to->nids; k++)
            wanted = wanted || strcmp(to->ids[k], counted[i].id) == 0;
        if (wanted && counted[i].text)
            rc = to->text(to->arg, counted[i].id, counted[i].text);
    }
    return rc;
}

static int fake_statements(struct sb_conn *conn,
    const struct sb_statement_sink *to, struct sb_err *err)
{
    if (refuses)
        return sb_err_set(err, refuses, "not allowed");
    text_readings += to->nids > 0;
    int rc = to->nids > 0 ? pass_texts(to) : pass_totals(to);

    readings += to->nids == 0;
    return rc;
}

static void begin_counting(void)
{
    begin();
    fake_info.statements = fake_statements;
    ncounted = text_readings = 0;
    readings = 0;
    lost_now = 0;
    refuses = 0;
    server_now = NULL;
}

static struct sb__probe *probe;
static struct sb__inst *inst;
static struct sb_statements was;
static struct sb_statements_growth growth;

// Reads what is counted now for the first time.
static void read_first(void)
{
    struct sb_err err = { 0 };

    inst = use(NULL);
    probe = sb__probe_new(inst, 0, &err);
    CHECK_INT(sb__probe_connect(probe, &err), 0);
    CHECK_INT(sb__statements_read(probe, &was, &err), 0);
    ncounted = 0;
}

static void read_growth(void)
{
    struct sb_statements now;
    struct sb_err err = { 0 };

    CHECK_INT(sb__statements_read(probe, &now, &err), 0);
    CHECK_INT(sb__statements_grow(probe, &was, &now, &growth, &err), 0);
    sb_statements_done(&now);
}

static void end_counting(void)
{
    sb_statements_done(&was);
    sb_statements_growth_done(&growth);
    sb__probe_free(probe);
    sb__inst_put(inst);
    end();
}

// The growth between readings of two servers, or NULL.
static void read_servers(const char *first, const char *second)
{
    begin_counting();
    server_now = first;
    count("a", 10, "A");
    read_first();
    server_now = second;
    count("a", 13, "A");
    read_growth();
}

// As behind a pooler with several servers.
static void readings_of_different_servers(void)
{
    read_servers("one", "two");
    CHECK(strstr(growth.why, "different servers"));
    CHECK_INT(growth.n, 0);
    end_counting();
    read_servers("one", "one");
    CHECK_STR(growth.why, "");
    CHECK_INT(growth.n, 1);
    end_counting();
    read_servers(NULL, "two");
    CHECK_STR(growth.why, "");
    end_counting();
}

static void what_has_grown(void)
{
    begin_counting();
    count("a", 10, "A");
    count("b", 5, "B");
    read_first();
    count("c", 7, "C");
    count("b", 5, "B");
    count("a", 13, "A");
    count("p", 1, NULL);
    read_growth();
    CHECK_STR(growth.why, "");
    CHECK(growth.asked && !growth.lost && !growth.reset);
    CHECK_INT(growth.n, 3);
    CHECK_STR(growth.item[0].id, "c");
    CHECK_STR(growth.item[0].text, "C");
    CHECK_NEAR(growth.item[0].by.calls, 7, 0);
    CHECK_STR(growth.item[1].text, "A");
    CHECK_NEAR(growth.item[1].by.calls, 3, 0);
    CHECK_NEAR(growth.item[1].by.ns, 3e6, 0);
    CHECK_NEAR(growth.item[1].by.rows, 6, 0);
    CHECK(isnan(growth.item[1].by.hit));
    CHECK(growth.item[2].by.is_prepared && !growth.item[2].text);
    CHECK_INT(growth.others, 0);
    CHECK_INT(text_readings, 1);
    end_counting();
}

static void statements_of_the_driver(void)
{
    begin_counting();
    read_first();
    count("a", 1, "A");
    count("own", 2, NULL);
    read_growth();
    CHECK_INT(growth.n, 1);
    CHECK_STR(growth.item[0].id, "a");
    end_counting();
}

static void too_many(void)
{
    static char ids[250][16];

    begin_counting();
    read_first();
    for (int i = 0; i < 250; i++) {
        snprintf(ids[i], sizeof(ids[i]), "x%d", i);
        count(ids[i], i + 1, "X");
    }
    read_growth();
    CHECK_INT(growth.n, SB_STATEMENTS_MAX);
    CHECK_STR(growth.item[0].id, "x249");
    CHECK_INT(growth.others, 50);
    CHECK_NEAR(growth.others_calls, 50 * 51 / 2, 0);
    CHECK_NEAR(growth.others_ns, 50 * 51 / 2 * 1e6, 0);
    end_counting();
}

static void incomplete(void)
{
    begin_counting();
    count("a", 10, "A");
    read_first();
    count("a", 4, "A");
    lost_now = 1;
    read_growth();
    CHECK(growth.lost && growth.reset);
    CHECK_INT(growth.n, 0);
    CHECK_INT(text_readings, 0);
    end_counting();
}

// An answer is no reason to connect again; a lost connection is.
static void refused(void)
{
    struct sb_statements now;
    struct sb_err err = { 0 };

    begin_counting();
    refuses = SB_EUNSUPPORTED;
    read_first();
    CHECK_STR(was.why, "not allowed");
    refuses = 0;
    read_growth();
    CHECK_STR(growth.why, "not allowed");
    refuses = SB_ELOST;
    CHECK_INT(sb__statements_read(probe, &now, &err), SB_ELOST);
    sb_statements_done(&now);
    end_counting();
}

// The sampler -----------------------------------------------------------------

static const char *item[] = { "off" };
static struct sb_sampler_opts opts = { .stats = { item, 1 }, .pid = "" };
static struct sb_db_opts db_opts = { .driver = "" };
static struct sb_sampler_growth got;
static uint64_t interval = 20000000;

static struct sb_sampler *start(struct sb_first_look *first)
{
    return sb_sampler_start(&(struct sb_sampler_setup){ .drivers = &owner,
                                .opts = &opts,
                                .interval = interval,
                                .statements = true,
                                .first = first },
        NULL);
}

// Takes what was counted.
static void take(struct sb_sampler *s)
{
    unsigned n;
    struct sb_sampler_growth *all = sb_sampler_statements(s, &n);

    CHECK_INT(n, 1);
    got = all[0];
    free(all);
    sb_sampler_free(s);
}

static void stop(struct sb_sampler *s)
{
    ncounted = 0;
    count("a", 9, "A");
    sb_sampler_last(s, ANY_AGE);
    CHECK(sb_sampler_stop(s));
    take(s);
}

// It is read before the users connect, and after a warm-up again.
static void before_and_after(void)
{
    for (int warm_up = 0; warm_up <= 1; warm_up++) {
        struct sb_first_look first;
        struct sb_sampler *s;

        begin_counting();
        owner.opts = &db_opts;
        inst = use(NULL);
        count("a", 2, "A");
        sb_inspect_first(&owner, 0, true, &first);
        CHECK_INT(connects, 1);
        CHECK_INT(disconnects, 1);
        CHECK_INT(readings, 1);
        s = start(&first);
        sb_sampler_wait(s, ANY_AGE);
        CHECK_INT(readings, 1);
        if (warm_up) {
            counted[0].calls = 5;
            sb_sampler_rebase(s, sb_clock_monotonic());
            while (readings < 2)
                nap();
        }
        stop(s);
        CHECK_STR(got.driver, "fake");
        CHECK_STR(got.address, "10.0.0.0:1");
        CHECK_STR(got.growth.why, "");
        CHECK_INT(got.growth.n, 1);
        CHECK_NEAR(got.growth.item[0].by.calls, warm_up ? 4 : 7, 0);
        CHECK((got.late_s > 0) == (warm_up > 0));
        sb_statements_growth_done(&got.growth);
        sb_first_look_done(&first);
        sb__inst_put(inst);
        CHECK_INT(inst->refs, 0);
        end();
    }
}

// The server does not answer when the warm-up ends, and does so after the run.
static void without_a_base(void)
{
    struct sb_sampler *s;

    begin_counting();
    inst = use(NULL);
    count("a", 2, "A");
    interval = ANY_AGE; // no second attempt
    s = start(NULL);
    while (disconnects < 1)
        nap();
    mode = REFUSES;
    sb_sampler_rebase(s, sb_clock_monotonic());
    while (disconnects < 2)
        nap();
    mode = ANSWERS;
    stop(s);
    CHECK_STR(got.growth.why, "the server's totals were read too late");
    CHECK_INT(got.growth.n, 0);
    sb_statements_growth_done(&got.growth);
    sb__inst_put(inst);
    interval = 20000000;
    end();
}

static void without_an_answer(void)
{
    struct sb_sampler *s;

    begin_counting();
    fake_info.statements = NULL;
    inst = use(NULL);
    s = start(NULL);
    sb_sampler_wait(s, ANY_AGE);
    stop(s);
    CHECK_STR(got.growth.why, "the fake driver cannot report this");
    sb_statements_growth_done(&got.growth);
    mode = REFUSES;
    s = start(NULL);
    sb_sampler_wait(s, ANY_AGE);
    sb_sampler_last(s, 0);
    CHECK(sb_sampler_stop(s));
    take(s);
    CHECK_STR(got.growth.why, "the server did not answer");
    sb__inst_put(inst);
    disconnects = connects; // refused ones have none
    end();
}

CHECK_FILE
{
    RUN(what_has_grown);
    RUN(readings_of_different_servers);
    RUN(statements_of_the_driver);
    RUN(too_many);
    RUN(incomplete);
    RUN(refused);
    RUN(before_and_after);
    RUN(without_a_base);
    RUN(without_an_answer);
    return check_done();
}
