// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include <stdlib.h>

#include "check.h"
#include "out/json_parts.h"

static void interval(
    struct sb_marks *m, double end, uint64_t reconnects, uint64_t restarts)
{
    struct sb_snap s = { .c = {
                             .reconnects = reconnects, .restarts = restarts } };
    struct sb_report r = { .snap = &s, .total_s = end };

    CHECK_INT(sb_marks_interval(m, &r), 0);
}

static void check_marks(const struct sb_marks *m, const char *stages,
    const struct sb_outcome *o, const char *want)
{
    json_t *list = stages ? json_loads(stages, 0, NULL) : NULL;
    json_t *got = sb_marks_json(m, list, o, 9.5);
    char *text = json_dumps(got, JSON_COMPACT);

    CHECK_STR(text, want);
    free(text);
    json_decref(got);
    json_decref(list);
}

static void nothing_happened(void)
{
    struct sb_marks m = { 0 };

    check_marks(&m, NULL, NULL, "[]");
    interval(&m, 1, 0, 0);
    check_marks(&m, "[]", NULL, "[]");
    sb_marks_done(&m);
}

// Intervals one after the other are one mark.
static void stretches(void)
{
    struct sb_marks m = { 0 };

    interval(&m, 1, 0, 0);
    interval(&m, 2, 1, 0);
    interval(&m, 3, 0, 5);
    interval(&m, 4.00018, 0, 6);
    interval(&m, 5, 0, 0);
    interval(&m, 6, 2, 1);
    check_marks(&m, NULL, NULL,
        "[{\"time\":2,\"kind\":\"reconnect\",\"text\":\"1 reconnect\"},"
        "{\"time\":3,\"kind\":\"restart\",\"text\":\"11 restarts until 4 s\"},"
        "{\"time\":6,\"kind\":\"reconnect\",\"text\":\"2 reconnects\"},"
        "{\"time\":6,\"kind\":\"restart\",\"text\":\"1 restart\"}]");
    // Asking changes nothing.
    interval(&m, 7, 3, 0);
    check_marks(&m, NULL, NULL,
        "[{\"time\":2,\"kind\":\"reconnect\",\"text\":\"1 reconnect\"},"
        "{\"time\":3,\"kind\":\"restart\",\"text\":\"11 restarts until 4 s\"},"
        "{\"time\":6,\"kind\":\"restart\",\"text\":\"1 restart\"},"
        "{\"time\":6,\"kind\":\"reconnect\",\"text\":\"5 reconnects until "
        "7 s\"}]");
    sb_marks_done(&m);
}

static void stages_and_the_end(void)
{
    const struct sb_outcome stopped = { .reason = "signal" };
    const struct sb_outcome ended = { .reason = "limit" };
    const char *stages = "[{\"name\":\"low\",\"start\":0},"
                         "{\"name\":\"high\",\"start\":4.25}]";
    struct sb_marks m = { 0 };

    interval(&m, 3, 1, 0);
    check_marks(&m, stages, &stopped,
        "[{\"time\":0,\"kind\":\"stage\",\"text\":\"low\"},"
        "{\"time\":3,\"kind\":\"reconnect\",\"text\":\"1 reconnect\"},"
        "{\"time\":4.25,\"kind\":\"stage\",\"text\":\"high\"},"
        "{\"time\":9.5,\"kind\":\"interrupt\",\"text\":\"ended by a "
        "signal\"}]");
    check_marks(&m, NULL, &ended,
        "[{\"time\":3,\"kind\":\"reconnect\",\"text\":\"1 reconnect\"}]");
    sb_marks_done(&m);
}

static void codes(
    struct sb_marks *m, double end, struct sb_snap_code *code, unsigned n)
{
    struct sb_snap s = { .ncodes = n, .code = code };
    struct sb_report r = { .snap = &s, .total_s = end };

    CHECK_INT(sb_marks_interval(m, &r), 0);
}

// Connections that were lost, other errors, and the end of the run.
static void a_lost_server(void)
{
    const struct sb_outcome failed = { .reason = "failed",
        .failure = "the server is gone" };
    struct sb_snap_code code[] = {
        { .driver = "pgsql", .state = "57P05", .count = 4, .lost = 4 },
        { .driver = "mongodb", .native = 9001, .count = 3, .lost = 2 },
        { .driver = "mysql", .state = "HY000", .native = 2013, .count = 1 },
    };
    struct sb_marks m = { 0 };

    codes(&m, 1, code + 2, 1);
    codes(&m, 2, code, 3);
    codes(&m, 3.00018, code, 1);
    codes(&m, 4, NULL, 0);
    check_marks(&m, NULL, &failed,
        "[{\"time\":2,\"kind\":\"lost\",\"text\":\"10 connection errors "
        "until 3 s\"},{\"time\":9.5,\"kind\":\"failure\",\"text\":\"the "
        "server is gone\"}]");
    sb_marks_done(&m);
}

static void a_length_is_rounded(void)
{
    struct sb_marks m = { 0 };

    interval(&m, 9.5, 1, 0);
    interval(&m, 10.2537, 1, 0);
    interval(&m, 11, 0, 0);
    interval(&m, 100, 1, 0);
    interval(&m, 120.004, 1, 0);
    check_marks(&m, NULL, NULL,
        "[{\"time\":9.5,\"kind\":\"reconnect\",\"text\":\"2 reconnects "
        "until 10.25 s\"},{\"time\":100,\"kind\":\"reconnect\",\"text\":\"2 "
        "reconnects until 120 s\"}]");
    sb_marks_done(&m);
}

// What comes after the last mark is in it.
static void memory_is_bounded(void)
{
    struct sb_marks m = { 0 };

    for (unsigned i = 1; i <= 4 * SB_MARKS_MAX; i++)
        interval(&m, i, i % 2, 0);
    json_t *got = sb_marks_json(&m, NULL, NULL, 0);
    CHECK_INT(json_array_size(got), SB_MARKS_MAX + 1);
    CHECK_STR(json_string_value(
                  json_object_get(json_array_get(got, SB_MARKS_MAX), "text")),
        "1000 reconnects until 3999 s");
    json_decref(got);
    sb_marks_done(&m);
}

static void the_warmup_is_left_out(void)
{
    struct sb_snap s = { .c = { .reconnects = 3 } };
    struct sb_report r = { .snap = &s, .total_s = 1, .warmup = true };
    struct sb_marks m = { 0 };

    CHECK_INT(sb_marks_interval(&m, &r), 0);
    check_marks(&m, NULL, NULL, "[]");
    sb_marks_done(&m);
}

CHECK_FILE
{
    RUN(nothing_happened);
    RUN(stretches);
    RUN(stages_and_the_end);
    RUN(a_lost_server);
    RUN(a_length_is_rounded);
    RUN(memory_is_bounded);
    RUN(the_warmup_is_left_out);
    return check_done();
}
