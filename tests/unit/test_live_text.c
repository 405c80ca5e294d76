// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include <stdlib.h>

#include "check.h"
#include "out/json_parts.h"
#include "out/live.h"

#define MS UINT64_C(1000000)

struct source {
    struct sb_live live;
    struct sb_series series;
    const struct sb_live_state *state;
};

static void add(struct source *s, unsigned n)
{
    struct sb_snap snap = { 0 };
    struct sb_report r;
    struct sb_err err = { 0 };

    sb_hist_snap_put(&snap.service, sb_hist_index(2 * MS), n);
    snap.c.completed = n;
    sb_report_fill(&r, &snap, 4, false, n);
    CHECK_INT(sb_series_row(&s->series, &r), 0);
    CHECK_INT(sb_live_interval(&s->live, &r, &s->series, &err), 0);
    sb_hist_snap_done(&snap.service);
}

static void begin(struct source *s, unsigned rows)
{
    struct sb_err err = { 0 };

    memset(s, 0, sizeof(*s));
    CHECK_INT(sb_live_init(&s->live, ".", &err), 0);
    sb_series_init(&s->series);
    CHECK_INT(
        sb_live_facts(&s->live, json_pack("{s:s}", "test", "t"), &err), 0);
    for (unsigned i = 1; i <= rows; i++)
        add(s, i);
    s->state = sb_live_read(&s->live);
}

static void end(struct source *s)
{
    sb_series_done(&s->series);
    sb_live_done(&s->live);
}

// Reads the document in pieces of this size, and parses it.
static json_t *read_in(const struct sb_live_text *t, size_t piece)
{
    char *text = malloc(t->size + piece + 1);
    uint64_t pos = 0;
    ssize_t n;
    json_error_t why;

    while ((n = sb_live_text_read(t, pos, text + pos, piece)) > 0)
        pos += (uint64_t)n;
    CHECK_INT(n, 0);
    CHECK_INT(pos, t->size);
    text[pos] = '\0';
    json_t *doc = json_loads(text, 0, &why);
    if (!doc)
        printf("# %s at %d in %s\n", why.text, why.position, text);
    free(text);
    return doc;
}

static json_t *result(struct source *s, size_t piece)
{
    struct sb_live_text t;
    struct sb_err err = { 0 };
    json_t *program = json_object();

    CHECK_INT(sb_live_result(&t, &s->live, s->state, program, &err), 0);
    json_t *doc = read_in(&t, piece);
    sb_live_text_done(&t);
    json_decref(program);
    return doc;
}

static json_t *intervals(struct source *s, uint64_t from)
{
    struct sb_live_text t;
    struct sb_err err = { 0 };

    CHECK_INT(sb_live_intervals(&t, &s->live, s->state, from, &err), 0);
    json_t *doc = read_in(&t, 1000);
    sb_live_text_done(&t);
    return doc;
}

static json_t *rows_of(json_t *run)
{
    return json_object_get(json_object_get(run, "intervals"), "rows");
}

static void documents_of_any_length(void)
{
    const size_t pieces[] = { 1, 7, 100, 100000 };
    struct source s;

    for (unsigned n = 0; n < 4; n++) {
        begin(&s, n);
        for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
            json_t *doc = result(&s, pieces[i]);
            json_t *run = json_array_get(json_object_get(doc, "runs"), 0);
            json_t *last = json_array_get(rows_of(run), n - 1);

            CHECK_INT(json_array_size(rows_of(run)), n);
            CHECK_INT(json_integer_value(json_array_get(last, 0)), n);
            CHECK_STR(json_string_value(json_object_get(run, "test")), "t");
            CHECK(json_is_null(json_object_get(run, "end")));
            CHECK((json_object_get(run, "counters") != NULL) == (n > 0));
            json_decref(doc);
        }
        end(&s);
    }
}

static void rows_from_a_number(void)
{
    struct source s;

    begin(&s, 5);
    for (unsigned from = 0; from < 8; from++) {
        json_t *doc = intervals(&s, from);
        unsigned first = from < 5 ? from : 5;
        json_t *rows = json_object_get(doc, "rows");
        json_t *counters = json_object_get(doc, "counters");

        CHECK_INT(json_integer_value(json_object_get(doc, "from")), first);
        CHECK_INT(json_array_size(rows), 5 - first);
        CHECK_INT(
            json_array_size(json_object_get(doc, "histograms")), 5 - first);
        if (first < 5)
            CHECK_INT(
                json_integer_value(json_array_get(json_array_get(rows, 0), 0)),
                first + 1);
        CHECK_INT(
            json_integer_value(json_object_get(counters, "completed")), 15);
        CHECK(json_array_size(json_object_get(doc, "columns")) > 10);
        CHECK(json_is_null(json_object_get(doc, "end")));
        json_decref(doc);
    }
    end(&s);
}

static void long_answers_are_divided(void)
{
    unsigned n = 30000; // 2 MB
    struct source s;

    begin(&s, n);
    json_t *doc = intervals(&s, 10);
    size_t got = json_array_size(json_object_get(doc, "rows"));
    CHECK(got > 1000 && got < n / 2 + 1);
    CHECK_INT(json_array_size(json_object_get(doc, "histograms")), got);
    json_decref(doc);
    doc = intervals(&s, 10 + got);
    CHECK_INT(json_integer_value(json_array_get(
                  json_array_get(json_object_get(doc, "rows"), 0), 0)),
        10 + (long)got + 1);
    json_decref(doc);
    end(&s);
}

CHECK_FILE
{
    RUN(documents_of_any_length);
    RUN(rows_from_a_number);
    RUN(long_answers_are_divided);
    return check_done();
}
