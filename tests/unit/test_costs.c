// SPDX-License-Identifier: GPL-2.0-or-later
// Not with tsan: one thread.
#include "out/costs.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"

static struct sb_costs c;

// 10 s, 1,000 events with 20 queries each.
static void begin(void)
{
    sb_costs_init(&c, "not asked");
    c.seconds = 10;
    c.events = 1000;
    c.queries = 20000;
}

static void names(void)
{
    for (int i = 0; i < SB_COSTS; i++) {
        const char *name = sb_cost_name(i);

        CHECK_INT(sb_cost_named(name, strlen(name)), i);
    }
    CHECK_INT(sb_cost_named("cpu_us_", 6), SB_COST_CPU);
    CHECK_INT(sb_cost_named("cpu_us_", 7), SB_COSTS);
    CHECK_INT(sb_cost_named("", 0), SB_COSTS);
}

static void per_event_and_query(void)
{
    begin();
    CHECK(!sb_costs_known(&c));
    CHECK(isnan(sb_cost_per_event(&c, SB_COST_CPU)));
    sb_costs_set(&c, SB_COST_CPU, 5e6, "process 1");
    CHECK(sb_costs_known(&c));
    CHECK_NEAR(sb_cost_per_event(&c, SB_COST_CPU), 5000, 0);
    CHECK_NEAR(sb_cost_per_query(&c, SB_COST_CPU), 250, 0);
    // A figure of a part of the time.
    c.cost[SB_COST_CPU].events = 500;
    CHECK_NEAR(sb_cost_per_event(&c, SB_COST_CPU), 10000, 0);
    sb_costs_miss(&c, SB_COST_CPU, "it ended");
    CHECK(!sb_costs_known(&c));
    // What cost nothing is known.
    sb_costs_set(&c, SB_COST_FSYNCS, 0, "server");
    CHECK_NEAR(sb_cost_per_event(&c, SB_COST_FSYNCS), 0, 0);
    c.cost[SB_COST_FSYNCS].events = 0;
    CHECK(isnan(sb_cost_per_event(&c, SB_COST_FSYNCS)));
}

static void price(void)
{
    begin();
    CHECK(isnan(sb_costs_usd(&c)));
    // 100 events per second at 0.001 USD per second.
    c.price = 3.6;
    CHECK_NEAR(sb_costs_usd(&c), 10, 1e-12);
    CHECK(sb_costs_known(&c));
    c.events = 0;
    CHECK(isnan(sb_costs_usd(&c)));
}

static void power(void)
{
    begin();
    CHECK(isnan(sb_costs_watts(&c)));
    sb_costs_set(&c, SB_COST_ENERGY, 700, "this machine");
    CHECK_NEAR(sb_costs_watts(&c), 70, 1e-12);
    CHECK_NEAR(sb_cost_per_event(&c, SB_COST_ENERGY), 0.7, 1e-12);
}

static char *printed(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    sb_costs_text(&c, out);
    fclose(out);
    return text;
}

static void text(void)
{
    char *got;

    begin();
    sb_costs_set(&c, SB_COST_CPU, 1234567, "process 1");
    sb_costs_set(&c, SB_COST_LOG_BYTES, 7000000, "server");
    sb_costs_set(&c, SB_COST_ENERGY, 700, "this machine");
    for (int i = 0; i < SB_COSTS; i++) {
        if (isnan(c.cost[i].total) && i != SB_COST_ROWS)
            sb_costs_set(&c, i, 0, "server");
    }
    sb_costs_miss(&c, SB_COST_SWITCHES, "it ended");
    sb_costs_miss(&c, SB_COST_FSYNCS, "it ended");
    c.price = 3.6;
    got = printed();
    CHECK_STR(got,
        "Costs:                             per event     per query  source\n"
        "    processor time, us                  1235         61.73  process "
        "1\n"
        "      in the kernel, us                    0             0  server\n"
        "    read from storage, KB                  0             0  server\n"
        "    written to storage, KB                 0             0  server\n"
        "    pages read, KB                         0             0  server\n"
        "    pages written, KB                      0             0  server\n"
        "    log, bytes                          7000           350  server\n"
        "    flushes of the log                     0             0  server\n"
        "    energy, J                            0.7         0.035  this "
        "machine\n"
        "    unknown: context_switches, fsyncs: it ended\n"
        "    unknown: rows_examined: not asked\n"
        "    power, W                              70\n"
        "    million events, USD                   10                3.6 USD "
        "per hour\n\n");
    free(got);
}

static void json(void)
{
    struct sb_costs again;
    json_t *o;

    begin();
    c.price = 3.6;
    sb_costs_set(&c, SB_COST_CPU, 5e6, "process 1");
    c.cost[SB_COST_CPU].events = 500;
    c.cost[SB_COST_CPU].queries = 10000;
    sb_costs_set(&c, SB_COST_FSYNCS, 0, "server");
    o = sb_costs_json(&c);
    CHECK_NEAR(sb_costs_member(o, "cpu_us"), 10000, 0);
    CHECK_NEAR(sb_costs_member(o, "fsyncs"), 0, 0);
    CHECK_NEAR(sb_costs_member(o, SB_COSTS_USD), 10, 1e-12);
    CHECK(isnan(sb_costs_member(o, "log_bytes")));
    CHECK(isnan(sb_costs_member(o, "weather")));
    CHECK(isnan(sb_costs_member(NULL, "cpu_us")));
    CHECK(isnan(sb_costs_member(NULL, SB_COSTS_USD)));
    // Of a later version.
    json_array_append_new(json_object_get(o, "figures"),
        json_pack("{s:s,s:i}", "name", "weather", "total", 1));
    sb_costs_read(&again, o);
    json_decref(o);
    CHECK_NEAR(sb_cost_per_event(&again, SB_COST_CPU), 10000, 0);
    CHECK_NEAR(sb_cost_per_query(&again, SB_COST_CPU), 500, 0);
    CHECK_STR(again.cost[SB_COST_CPU].source, "process 1");
    CHECK_NEAR(sb_cost_per_event(&again, SB_COST_FSYNCS), 0, 0);
    CHECK(isnan(again.cost[SB_COST_LOG_BYTES].total));
    CHECK_STR(again.cost[SB_COST_LOG_BYTES].why, "not asked");
    CHECK_NEAR(sb_costs_usd(&again), 10, 1e-12);
    sb_costs_read(&again, NULL);
    CHECK(!sb_costs_known(&again));
    CHECK_STR(again.cost[SB_COST_CPU].why, "the result file does not have it");
}

CHECK_FILE
{
    RUN(names);
    RUN(per_event_and_query);
    RUN(price);
    RUN(power);
    RUN(text);
    RUN(json);
    return check_done();
}
