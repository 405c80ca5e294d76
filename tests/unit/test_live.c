// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "out/live.h"
#include "series_value.h"

#define MS UINT64_C(1000000)

// Intervals of a run: each has `events` events of 2 ms, an operation, an error,
// a gauge and a counter.
struct source {
    struct sb_live live;
    struct sb_stats names;
    struct sb_series series;
    double total_s;
};

static void begin(struct source *s)
{
    memset(s, 0, sizeof(*s));
    CHECK_INT(sb_live_init(&s->live, ".", NULL), 0);
    snprintf(s->names.op[0].name, sizeof(s->names.op[0].name), "read");
    snprintf(s->names.metrics.metric[0].name, 64, "depth");
    snprintf(s->names.metrics.metric[1].name, 64, "hits");
    sb_series_init(&s->series);
}

static void end(struct source *s)
{
    sb_series_done(&s->series);
    sb_live_done(&s->live);
}

static void fill(struct source *s, struct sb_snap *snap, struct sb_report *r,
    unsigned events)
{
    static struct sb_snap_op op;
    static struct sb_snap_code code = { .native = 7, .driver = "d" };
    static struct sb_snap_metric metric[2] = {
        { .kind = SB_METRIC_GAUGE, .count = 1, .scale = 1 },
        { .kind = SB_METRIC_COUNTER, .count = 1, .scale = 1 }
    };

    memset(snap, 0, sizeof(*snap));
    sb_hist_snap_put(&snap->service, sb_hist_index(2 * MS), events);
    memset(&op, 0, sizeof(op));
    op.count = events;
    sb_hist_snap_put(&op.hist, sb_hist_index(1 * MS), events);
    code.count = 1;
    metric[0].value = events;
    metric[1].value = events;
    snap->c.completed = events;
    snap->c.service_ns = events * 2 * MS;
    snap->ns = 1000 * MS;
    snap->running = events;
    snap->op = &op;
    snap->nops = 1;
    snap->code = &code;
    snap->ncodes = 1;
    snap->metric = metric;
    snap->nmetrics = 2;
    s->total_s += 1;
    sb_report_fill(r, snap, 4, false, s->total_s);
    r->stats = &s->names;
    r->running = events;
}

static int add(struct source *s, unsigned events, bool warmup)
{
    struct sb_snap snap;
    struct sb_report r;
    struct sb_err err = { 0 };

    fill(s, &snap, &r, events);
    r.warmup = warmup;
    CHECK_INT(sb_series_row(&s->series, &r), 0);
    int rc = sb_live_interval(&s->live, &r, &s->series, &err);
    sb_hist_snap_done(&snap.service);
    sb_hist_snap_done(&snap.op->hist);
    return rc;
}

static void check_sums(const struct sb_live_state *s, unsigned events,
    unsigned intervals, unsigned last)
{
    CHECK_INT(s->nrows, intervals);
    CHECK_INT(s->sums.c.completed, events);
    CHECK_INT(s->report.latency->total, events);
    CHECK_INT(s->report.running, last);
    CHECK_INT(s->sums.op[0].count, events);
    CHECK_INT(s->sums.op[0].hist.total, events);
    CHECK_INT(s->sums.code[0].count, intervals);
    CHECK_NEAR(s->sums.metric[0].value, last, 0);   // a gauge
    CHECK_NEAR(s->sums.metric[1].value, events, 0); // a counter
    CHECK_STR(s->report.stats->op[0].name, "read");
    CHECK_STR(s->report.stats->metrics.metric[1].name, "hits");
    CHECK_NEAR(series_value(&s->series, "run", "", "events"), last, 0);
}

static void intervals_add_up(void)
{
    struct source s;

    begin(&s);
    CHECK(sb_live_read(&s.live) == NULL);
    CHECK_INT(add(&s, 5, false), 0);
    check_sums(sb_live_read(&s.live), 5, 1, 5);
    // Several at once, also while nothing is new.
    CHECK_INT(add(&s, 7, false), 0);
    CHECK_INT(add(&s, 3, false), 0);
    CHECK_INT(add(&s, 1, false), 0);
    check_sums(sb_live_read(&s.live), 16, 4, 1);
    check_sums(sb_live_read(&s.live), 16, 4, 1);
    end(&s);
}

static void the_warm_up_only_has_rows(void)
{
    struct source s;

    begin(&s);
    CHECK_INT(add(&s, 5, true), 0);
    const struct sb_live_state *now = sb_live_read(&s.live);
    CHECK_INT(now->nrows, 1);
    CHECK_INT(now->sums.c.completed, 0);
    CHECK(now->report.warmup);
    CHECK_INT(add(&s, 7, false), 0);
    now = sb_live_read(&s.live);
    CHECK_INT(now->nrows, 2);
    CHECK_INT(now->sums.c.completed, 7);
    CHECK(!now->report.warmup);
    end(&s);
}

static void a_final_report_replaces_the_sums(void)
{
    struct source s;
    struct sb_snap snap;
    struct sb_report r;
    struct sb_err err = { 0 };

    begin(&s);
    CHECK_INT(add(&s, 5, false), 0);
    sb_live_read(&s.live);
    CHECK_INT(add(&s, 6, false), 0);
    fill(&s, &snap, &r, 12);
    struct sb_report stage = r;
    stage.stage_name = "ramp";
    r.stages = &stage;
    r.nstages = 1;
    CHECK_INT(sb_live_final(&s.live, &r, &err), 0);
    const struct sb_live_state *now = sb_live_read(&s.live);
    CHECK_INT(now->sums.c.completed, 12);
    CHECK_INT(now->sums.op[0].count, 12);
    CHECK_INT(now->nrows, 2);
    sb_hist_snap_done(&snap.service);
    sb_hist_snap_done(&snap.op->hist);
    // The sums stay those of the whole run when the end comes.
    json_t *answers = json_pack("{s:[i]}", "results", 1);

    CHECK_INT(
        sb_live_end(&s.live, NULL, NULL, answers, json_object(), &err), 0);
    now = sb_live_read(&s.live);
    CHECK_INT(json_array_size(json_object_get(now->answers, "results")), 1);
    CHECK_INT(now->sums.c.completed, 12);
    CHECK(now->end != NULL);
    CHECK_STR(json_string_value(
                  json_object_get(json_array_get(now->stages, 0), "name")),
        "ramp");
    CHECK_NEAR(series_value(&now->series, "run", "", "events"), 6, 0);
    end(&s);
}

static void facts_are_kept_until_others_come(void)
{
    struct source s;
    struct sb_err err = { 0 };

    begin(&s);
    CHECK_INT(sb_live_facts(&s.live, json_integer(1), &err), 0);
    CHECK_INT(sb_live_facts(&s.live, json_integer(2), &err), 0);
    const struct sb_live_state *now = sb_live_read(&s.live);
    CHECK_INT(json_integer_value(now->facts), 2);
    CHECK(!now->has_report);
    CHECK_INT(add(&s, 5, false), 0);
    now = sb_live_read(&s.live);
    CHECK_INT(json_integer_value(now->facts), 2);
    CHECK(now->end == NULL);
    CHECK_INT(sb_live_facts(&s.live, json_integer(3), &err), 0);
    now = sb_live_read(&s.live);
    CHECK_INT(json_integer_value(now->facts), 3);
    check_sums(now, 5, 1, 5);
    end(&s);
}

static void text(const struct sb_live_part *p, char *to, size_t size)
{
    ssize_t n = pread(
        p->fd, to, p->size < size ? p->size : size - 1, (off_t)p->from);

    to[n > 0 ? n : 0] = '\0';
}

static void rows_are_json(void)
{
    struct sb_live_part rows, heat;
    struct source s;
    struct sb_err err = { 0 };
    char got[4096];

    begin(&s);
    for (unsigned i = 1; i <= 3; i++)
        CHECK_INT(add(&s, i, false), 0);
    CHECK_INT(sb_live_rows(&s.live, 0, 3, &rows, &heat, &err), 0);
    text(&heat, got, sizeof(got));
    CHECK_STR(got, "[47,1],\n[47,2],\n[47,3]");
    CHECK_INT(sb_live_rows(&s.live, 1, 2, &rows, &heat, &err), 0);
    text(&heat, got, sizeof(got));
    CHECK_STR(got, "[47,2]");
    text(&rows, got, sizeof(got));
    CHECK(strncmp(got, "[2,1,0,2,2,", 11) == 0);
    CHECK(got[strlen(got) - 1] == ']');
    CHECK_INT(sb_live_rows(&s.live, 3, 3, &rows, &heat, &err), 0);
    CHECK_INT(rows.size, 0);
    CHECK_INT(sb_live_rows(&s.live, 0, 0, &rows, &heat, &err), 0);
    CHECK_INT(heat.size, 0);
    end(&s);
}

// Adds an interval while the folder for temporary files is full.
static void lose(struct source *s, unsigned events)
{
    struct rlimit old, limit;

    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 1;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_INT(add(s, events, false), SB_ESYS);
    setrlimit(RLIMIT_FSIZE, &old);
}

static void an_interval_without_a_row_counts(void)
{
    struct sb_live_part rows, heat;
    struct source s;
    struct sb_err err = { 0 };
    char got[64];

    begin(&s);
    CHECK_INT(add(&s, 5, false), 0);
    lose(&s, 7);
    const struct sb_live_state *now = sb_live_read(&s.live);
    CHECK_INT(now->nrows, 1);
    CHECK_INT(now->missing, 1);
    CHECK_INT(now->sums.c.completed, 12);
    CHECK_NEAR(now->report.total_s, 2, 0);
    CHECK_NEAR(series_value(&now->series, "run", "", "events"), 7, 0);
    CHECK_INT(add(&s, 3, false), 0);
    now = sb_live_read(&s.live);
    CHECK_INT(now->nrows, 2);
    CHECK_INT(now->missing, 1);
    CHECK_INT(now->sums.c.completed, 15);
    CHECK_INT(sb_live_rows(&s.live, 0, 2, &rows, &heat, &err), 0);
    text(&heat, got, sizeof(got));
    CHECK_STR(got, "[47,5],\n[47,3]");
    end(&s);
}

#define INTERVALS 3000u

static void *read_all(void *arg)
{
    struct source *s = arg;
    const struct sb_live_state *now = NULL;
    uint64_t rows = 0, events = 0;

    while (!now || now->nrows < INTERVALS) {
        now = sb_live_read(&s->live);
        if (!now)
            continue;
        // Rows and sums always belong to the same moment.
        if (now->nrows < rows || now->sums.c.completed != 2 * now->nrows ||
            now->sums.c.completed < events)
            return s;
        rows = now->nrows;
        events = now->sums.c.completed;
    }
    return NULL;
}

static void nothing_is_lost_between_threads(void)
{
    struct source s;
    pthread_t reader;
    void *bad;

    begin(&s);
    CHECK_INT(pthread_create(&reader, NULL, read_all, &s), 0);
    for (unsigned i = 0; i < INTERVALS; i++)
        CHECK_INT(add(&s, 2, false), 0);
    CHECK_INT(pthread_join(reader, &bad), 0);
    CHECK(bad == NULL);
    end(&s);
}

CHECK_FILE
{
    RUN(intervals_add_up);
    RUN(the_warm_up_only_has_rows);
    RUN(a_final_report_replaces_the_sums);
    RUN(facts_are_kept_until_others_come);
    RUN(rows_are_json);
    RUN(an_interval_without_a_row_counts);
    RUN(nothing_is_lost_between_threads);
    return check_done();
}
