// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include <stdlib.h>

#include "check.h"
#include "out/json_parts.h"

static void check_json(json_t *value, const char *want)
{
    char *text = value ? json_dumps(value, SB_JSON_FLAGS) : NULL;

    CHECK_STR(text, want);
    free(text);
    json_decref(value);
}

static void large_counts_are_strings(void)
{
    check_json(sb_json_count(0), "0");
    check_json(sb_json_count(UINT64_C(1) << 53), "9007199254740992");
    check_json(sb_json_count((UINT64_C(1) << 53) + 1), "\"9007199254740993\"");
    check_json(sb_json_count(UINT64_MAX), "\"18446744073709551615\"");
}

static void text_is_always_utf8(void)
{
    check_json(sb_json_text("a\"b\n"), "\"a\\\"b\\n\"");
    check_json(sb_json_text("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
    check_json(sb_json_text("a\xff"), "\"a\\\\xff\"");
}

static void latencies_of_nothing_are_null(void)
{
    struct sb_hist_snap h = { 0 };
    json_t *l = sb_json_latency("service", &h, 0, 0, 0);

    CHECK(json_is_null(json_object_get(l, "min")));
    CHECK(json_is_null(json_object_get(l, "avg")));
    CHECK(
        json_is_null(json_object_get(json_object_get(l, "percentiles"), "99")));
    CHECK_INT(json_array_size(json_object_get(l, "histogram")), 0);
    json_decref(l);
}

static void latencies(void)
{
    struct sb_hist_snap h = { 0 };

    sb_hist_snap_put(&h, sb_hist_index(5), 1);
    sb_hist_snap_put(&h, sb_hist_index(3000000), 2);
    json_t *l = sb_json_latency("lag", &h, 5, 6000005, 3000001);
    CHECK_STR(json_string_value(json_object_get(l, "kind")), "lag");
    CHECK_INT(json_integer_value(json_object_get(l, "count")), 3);
    CHECK_INT(json_integer_value(json_object_get(l, "max")), 3000001);
    CHECK_INT(json_integer_value(
                  json_object_get(json_object_get(l, "percentiles"), "100")),
        3000001);
    json_t *last = json_array_get(json_object_get(l, "histogram"), 1);
    int64_t low = json_integer_value(json_array_get(last, 0));
    int64_t high = json_integer_value(json_array_get(last, 1));
    CHECK(low <= 3000000 && 3000000 <= high);
    CHECK_INT(sb_hist_index((uint64_t)high), sb_hist_index(3000000));
    CHECK_INT(sb_hist_index((uint64_t)high + 1), sb_hist_index(3000000) + 1);
    CHECK_INT(json_integer_value(json_array_get(last, 2)), 2);
    json_decref(l);
    sb_hist_snap_done(&h);
}

// The live view gets no histograms of operations.
static void live_totals(void)
{
    struct sb_stats stats;
    struct sb_snap_op op = { .count = 2, .ns = 6000000 };
    struct sb_snap snap = { .op = &op, .nops = 1 };
    struct sb_report r;

    CHECK_INT(sb_hist_snap_put(&op.hist, sb_hist_index(3000000), 2), 0);
    CHECK_INT(sb_stats_init(&stats, 1, 1, false), 0);
    CHECK_INT(sb_stats_op(&stats, "q", SB_OP_READ), 0);
    sb_report_fill(&r, &snap, 1, false, 1);
    r.stats = &stats;
    for (int live = 0; live < 2; live++) {
        json_t *t = live ? sb_json_live_totals(&r) : sb_json_totals(&r);
        const json_t *q = json_array_get(json_object_get(t, "operations"), 0);
        const json_t *l = json_object_get(q, "latency");

        CHECK_INT(json_integer_value(json_object_get(l, "count")), 2);
        CHECK_INT(json_object_get(l, "histogram") == NULL, live);
        CHECK(json_object_get(json_object_get(t, "latency"), "histogram"));
        json_decref(t);
    }
    sb_stats_done(&stats);
    sb_hist_snap_done(&op.hist);
}

static void totals_of_servers(void)
{
    const struct sb_server_total totals[] = { { "xact_commit", 326389 },
        { "wal_bytes@10.0.0.2:5432", 0.5 } };
    const struct sb_facts f = { .totals = totals, .ntotals = 2 };

    check_json(sb_json_server_totals(&f),
        "{\"xact_commit\":326389,\"wal_bytes@10.0.0.2:5432\":0.5}");
}

static void row_as_an_object(void)
{
    struct sb_series s;

    sb_series_init(&s);
    sb_series_set(&s, "run", "", "events", "", 12);
    sb_series_set(&s, "run", "", "p99", "ms", 0.123456);
    sb_series_set(&s, "operation", "SELECT", "count", "", 3);
    sb_series_set(&s, "operation", "SELECT", "p99", "ms", NAN);
    check_json(sb_json_row(&s),
        "{\"events\":12,\"p99\":0.1235,"
        "\"operation\":{\"SELECT\":{\"count\":3,\"p99\":null}}}");
    check_json(sb_json_columns(&s),
        "[{\"group\":\"run\",\"name\":\"\",\"figure\":\"events\","
        "\"unit\":\"\"},"
        "{\"group\":\"run\",\"name\":\"\",\"figure\":\"p99\","
        "\"unit\":\"ms\"},"
        "{\"group\":\"operation\",\"name\":\"SELECT\",\"figure\":\"count\","
        "\"unit\":\"\"},"
        "{\"group\":\"operation\",\"name\":\"SELECT\",\"figure\":\"p99\","
        "\"unit\":\"ms\"}]");
    sb_series_done(&s);
}

CHECK_FILE
{
    RUN(large_counts_are_strings);
    RUN(text_is_always_utf8);
    RUN(latencies_of_nothing_are_null);
    RUN(latencies);
    RUN(live_totals);
    RUN(totals_of_servers);
    RUN(row_as_an_object);
    return check_done();
}
