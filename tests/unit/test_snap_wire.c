// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include <stdlib.h>

#include "check.h"
#include "measure/snap.h"
#include "measure/snap_wire.h"

#define MS UINT64_C(1000000)

// What a rank recorded: two users, an operation that only it has, one that all
// have, an error, and metrics of every kind.
struct rank {
    struct sb_stats stats;
    struct sb_snap snap;
};

static void put_metrics(struct sb_metrics *m, double v)
{
    const struct sb_metric_def def[] = {
        { .name = "rows", .kind = SB_METRIC_COUNTER, .unit = "rows" },
        { .name = "depth", .kind = SB_METRIC_GAUGE, .help = "of the queue" },
        { .name = "size", .kind = SB_METRIC_DISTRIBUTION, .largest = 1000 },
    };

    for (size_t i = 0; i < sizeof(def) / sizeof(def[0]); i++)
        sb_metrics_add(m, &def[i], NULL);
    sb_metric_put(m, 0, 0, v);
    sb_metric_set(m, 1, 0, v, 0);
    sb_metric_put(m, 2, 0, v);
}

static void record(struct rank *p, const char *own, uint64_t ms)
{
    struct sb_err error = { .code = SB_ELOST, .native = -7, .msg = "seven" };

    sb_stats_init(&p->stats, 2, 2, true);
    sb_stats_add_delays(&p->stats);
    sb_stats_op(&p->stats, "never executed", SB_OP_READ);
    int a = sb_stats_op(&p->stats, own, SB_OP_READ);
    int b = sb_stats_op(&p->stats, "both", SB_OP_WRITE);
    int w = sb_stats_op(&p->stats, "work", SB_OP_WORKLOAD);
    for (unsigned user = 0; user < 2; user++) {
        struct sb_rec *r = &p->stats.rec[user];

        for (uint64_t i = 1; i <= 3; i++) {
            sb_rec_event(r, 0, i * MS / 7, (i * ms + user) * MS);
            sb_rec_op_found(r, a, SB_FOUND_ROWS, 3, i * ms * MS, 0);
            sb_rec_op(r, b, 1);
            sb_rec_delay(r, ms * i, 0);
        }
        r->workload = 1 + w;
        sb_rec_failed(r, true);
        sb_rec_code(r, "driver", &error, 1, ms);
        sb_rec_flush(r);
    }
    put_metrics(&p->stats.metrics, (double)ms);
    sb_snap_take(&p->snap, &p->stats, SB_SNAP_FINAL, 9, NULL);
    p->snap.scheduled = 8;
    p->snap.skipped = 1;
    p->snap.queue = 2;
    p->snap.running = 2;
}

static void done(struct rank *p)
{
    sb_snap_done(&p->snap);
    sb_stats_done(&p->stats);
}

static bool same_hist(
    const struct sb_hist_snap *a, const struct sb_hist_snap *b)
{
    for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++)
        if (sb_hist_snap_count(a, i) != sb_hist_snap_count(b, i))
            return false;
    return a->total == b->total;
}

static bool same_users(const struct sb_snap *a, const struct sb_snap *b)
{
    size_t size = a->users * sizeof(uint64_t);

    return a->users == b->users && a->users &&
           memcmp(a->user_events, b->user_events, size) == 0 &&
           memcmp(a->user_ns, b->user_ns, size) == 0 &&
           memcmp(a->user_min, b->user_min, size) == 0 &&
           memcmp(a->user_max, b->user_max, size) == 0;
}

static void check_events(const struct sb_snap *a, const struct sb_snap *b)
{
    CHECK_INT(a->ns, b->ns);
    CHECK_INT(a->scheduled, b->scheduled);
    CHECK_INT(a->skipped, b->skipped);
    CHECK_INT(a->unfinished, b->unfinished);
    CHECK_INT(a->queue, b->queue);
    CHECK_INT(a->running, b->running);
    CHECK(memcmp(&a->c, &b->c, sizeof(a->c)) == 0);
    CHECK_INT(a->service_min, b->service_min);
    CHECK_INT(a->service_max, b->service_max);
    CHECK_INT(a->response_max, b->response_max);
    CHECK_INT(a->lag_min, b->lag_min);
    CHECK_INT(a->lag_max, b->lag_max);
    CHECK(same_hist(&a->service, &b->service));
    CHECK(same_hist(&a->response, &b->response));
    CHECK(same_hist(&a->lag, &b->lag));
    CHECK(a->has_client_delay && b->has_client_delay);
    CHECK_INT(a->client_delay_min, b->client_delay_min);
    CHECK_INT(a->client_delay_max, b->client_delay_max);
    CHECK(same_hist(&a->client_delay, &b->client_delay));
    CHECK(a->client_delay.total > 0);
    CHECK(same_users(a, b));
}

static void check_operation(const char *name, const struct sb_snap *a,
    struct sb_stats *a_stats, const struct sb_snap *b, struct sb_stats *b_stats)
{
    const struct sb_snap_op *x = &a->op[sb_stats_op(a_stats, name, 0)];
    const struct sb_snap_op *y = &b->op[sb_stats_op(b_stats, name, 0)];

    CHECK_INT(x->count, y->count);
    CHECK_INT(x->errors, y->errors);
    CHECK_INT(x->ns, y->ns);
    CHECK_INT(x->min, y->min);
    CHECK_INT(x->max, y->max);
    CHECK_INT(x->hits, y->hits);
    CHECK_INT(x->rows, y->rows);
    CHECK(same_hist(&x->hist, &y->hist));
}

static void check_metrics(const struct sb_snap *a, const struct sb_stats *a_of,
    const struct sb_snap *b, const struct sb_stats *b_of)
{
    CHECK_INT(a->nmetrics, 3);
    CHECK_INT(b->nmetrics, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct sb_metric *x = &a_of->metrics.metric[i];
        const struct sb_metric *y = &b_of->metrics.metric[i];

        CHECK_STR(x->name, y->name);
        CHECK_STR(x->unit, y->unit);
        CHECK_STR(x->help, y->help);
        CHECK_INT(x->kind, y->kind);
        CHECK_INT(a->metric[i].count, b->metric[i].count);
        CHECK(a->metric[i].value == b->metric[i].value);
        CHECK(a->metric[i].max == b->metric[i].max);
        CHECK(same_hist(&a->metric[i].hist, &b->metric[i].hist));
    }
}

// Sending two snapshots and adding them is the same as adding them here.
static void sums_are_the_same(void)
{
    struct sb_stats here, there;
    struct sb_snap sum = { 0 }, sent = { 0 };
    struct sb_buf b;
    struct rank p[2];

    record(&p[0], "a", 5);
    record(&p[1], "b", 700);
    sb_stats_init(&here, 1, 1, true);
    sb_stats_init(&there, 1, 1, true);
    sb_buf_init(&b, 0);
    for (int i = 0; i < 2; i++) {
        sb_snap_add(&sum, &here, &p[i].snap, &p[i].stats, 4, NULL);
        sb_snap_write(&b, &p[i].snap, &p[i].stats);
    }
    CHECK(!b.failed);
    struct sb_wire w = sb_wire_of(b.data, b.len);
    CHECK_INT(sb_snap_read_add(&w, &sent, &there, 4, NULL), 0);
    CHECK_INT(sb_snap_read_add(&w, &sent, &there, 4, NULL), 0);
    CHECK(w.at == w.end);

    check_events(&sent, &sum);
    check_operation("a", &sent, &there, &sum, &here);
    check_operation("b", &sent, &there, &sum, &here);
    check_operation("both", &sent, &there, &sum, &here);
    check_metrics(&sent, &there, &sum, &here);
    int work = sb_stats_op(&there, "work", SB_OP_WORKLOAD);
    CHECK_INT(sent.op[work].failed, 4);
    CHECK_INT(sent.op[work].cut_short, 4);
    CHECK_INT(sent.ncodes, 1);
    CHECK_INT(sent.code[0].count, 4);
    CHECK_INT(sent.code[0].lost, 4);
    CHECK_INT(sent.code[0].native, -7);
    CHECK_INT(sent.code[0].first_ns, 9);
    CHECK_STR(sent.code[0].sample, "seven");
    for (uint32_t i = 0; i < there.nops; i++)
        CHECK(strcmp(there.op[i].name, "never executed") != 0);

    sb_buf_done(&b);
    sb_snap_done(&sum);
    sb_snap_done(&sent);
    sb_stats_done(&here);
    sb_stats_done(&there);
    done(&p[0]);
    done(&p[1]);
}

// Data of any length, and with any wrong byte, is read without harm.
static void invalid_data_is_refused(void)
{
    struct sb_err err;
    struct sb_buf b;
    struct rank p;

    record(&p, "a", 5);
    sb_buf_init(&b, 0);
    sb_snap_write(&b, &p.snap, &p.stats);
    for (size_t cut = 0; cut < 2 * b.len; cut++) {
        struct sb_stats stats;
        struct sb_snap s = { 0 };
        size_t len = cut < b.len ? cut : b.len;
        unsigned char *copy = malloc(len + 1);

        memcpy(copy, b.data, len);
        if (cut >= b.len)
            copy[cut - b.len] ^= 0xff;
        struct sb_wire w = sb_wire_of(copy, len);
        sb_stats_init(&stats, 1, 1, true);
        int rc = sb_snap_read_add(&w, &s, &stats, 0, &err);
        if (cut < b.len) {
            CHECK_INT(rc, SB_EINTERNAL);
            CHECK_STR(err.msg, "invalid data of another rank");
        }
        sb_snap_done(&s);
        sb_stats_done(&stats);
        free(copy);
    }
    sb_buf_done(&b);
    done(&p);
}

CHECK_FILE
{
    RUN(sums_are_the_same);
    RUN(invalid_data_is_refused);
    return check_done();
}
