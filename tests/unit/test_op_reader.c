// SPDX-License-Identifier: GPL-2.0-or-later
//
// Operations by interval: nothing is lost or counted twice, also while users
// record.
#include "measure/op_reader.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "check.h"

#define USERS 6
#define OPS   3
#define TAKES 50

static struct sb_stats s;
static struct sb_op_reader reader;
static _Atomic bool stop;
static _Atomic unsigned started;

static void setup(unsigned users, unsigned shards)
{
    CHECK_INT(sb_stats_init(&s, users, shards, false), 0);
    CHECK_INT(sb_op_reader_init(&reader, &s), 0);
}

static void teardown(void)
{
    sb_op_reader_done(&reader);
    sb_stats_done(&s);
}

static void an_interval_has_what_was_new(void)
{
    const struct sb_snap_op *op;

    setup(2, 1);
    CHECK_INT(sb_op_reader_take(&reader), 0);
    CHECK_INT(reader.nops, 0);
    CHECK_INT(sb_stats_op(&s, "a", SB_OP_READ), 0);
    sb_rec_op_found(&s.rec[0], 0, SB_FOUND_ROWS, 100, 5000, 2000000);
    sb_rec_op_found(&s.rec[1], 0, SB_FOUND_NOTHING, 0, 400, 2000000);
    CHECK_INT(sb_op_reader_take(&reader), 0);
    CHECK_INT(reader.nops, 1);
    op = &reader.op[0];
    CHECK_INT(op->count, 2);
    CHECK_INT(op->ns, 5400);
    CHECK_INT(op->min, 400);
    CHECK_INT(op->max, 5000);
    CHECK_INT(op->rows, 100);
    CHECK_INT(op->hits, 1);
    CHECK_INT(op->misses, 1);
    CHECK_INT(op->hist.total, 2);
    CHECK_INT(sb_stats_op(&s, "b", SB_OP_WRITE), 1);
    sb_rec_op(&s.rec[0], 0, 700);
    sb_rec_op(&s.rec[0], 1, 9);
    sb_tally_add(&sb_rec_op_tally(&s.rec[1], 1)->errors, 3);
    CHECK_INT(sb_op_reader_take(&reader), 0);
    CHECK_INT(reader.nops, 2);
    CHECK_INT(op->count, 1);
    CHECK_INT(op->ns, 700);
    CHECK_INT(op->rows, 0);
    CHECK_INT(op->min, 700);
    CHECK_INT(op->max, 700);
    CHECK_INT(op->hist.total, 1);
    CHECK_INT(sb_hist_snap_count(&op->hist, sb_hist_index(700)), 1);
    CHECK_INT(reader.op[1].count, 1);
    CHECK_INT(reader.op[1].errors, 3);
    CHECK_INT(sb_op_reader_take(&reader), 0);
    CHECK_INT(op->count + op->ns + op->max + op->hist.total, 0);
    CHECK_NEAR(sb_hist_snap_percentile(&op->hist, 99, op->max), 0, 0);
    teardown();
}

// Failed events and restarts are those of workloads. The cache line that has
// them is not read for other operations.
static void only_workloads_have_failed_events(void)
{
    setup(2, 1);
    CHECK_INT(sb_stats_op(&s, "a", SB_OP_WORKLOAD), 0);
    CHECK_INT(sb_stats_op(&s, "a/select", SB_OP_READ), 1);
    s.rec[0].workload = s.rec[1].workload = 1 + 0;
    sb_rec_failed(&s.rec[0], true);
    sb_rec_restarted(&s.rec[1]);
    CHECK_INT(sb_op_reader_take(&reader), 0);
    CHECK_INT(reader.op[0].failed, 1);
    CHECK_INT(reader.op[0].cut_short, 1);
    CHECK_INT(reader.op[0].restarts, 1);
    sb_rec_restarted(&s.rec[0]);
    sb_rec_restarted(&s.rec[1]);
    // An operation that a script names has no such counters.
    CHECK(s.op[0].workload && !s.op[1].workload);
    s.rec[0].workload = 1 + 1;
    sb_rec_failed(&s.rec[0], false);
    CHECK_INT(sb_op_reader_take(&reader), 0);
    CHECK_INT(reader.op[0].failed, 0);
    CHECK_INT(reader.op[0].cut_short, 0);
    CHECK_INT(reader.op[0].restarts, 2);
    CHECK_INT(reader.op[1].failed, 0);
    CHECK_INT(reader.op[1].restarts, 0);
    teardown();
}

// A reader of intervals clears flags; complete snapshots still have everything.
static void snapshots_stay_complete(void)
{
    struct sb_snap snap;

    setup(1, 1);
    sb_stats_op(&s, "a", SB_OP_READ);
    sb_rec_op(&s.rec[0], 0, 5000);
    CHECK_INT(sb_op_reader_take(&reader), 0);
    sb_rec_op(&s.rec[0], 0, 70);
    CHECK_INT(sb_snap_take(&snap, &s, SB_SNAP_FULL, 1, NULL), 0);
    CHECK_INT(snap.op[0].hist.total, 2);
    sb_snap_done(&snap);
    CHECK_INT(sb_op_reader_take(&reader), 0);
    CHECK_INT(reader.op[0].hist.total, 1);
    CHECK_INT(sb_snap_take(&snap, &s, SB_SNAP_FINAL, 1, NULL), 0);
    CHECK_INT(snap.op[0].hist.total, 2);
    sb_snap_done(&snap);
    teardown();
}

static void *user(void *arg)
{
    struct sb_rec *r = arg;

    atomic_fetch_add(&started, 1);
    for (uint64_t n = 1; !atomic_load_explicit(&stop, memory_order_relaxed);
         n++) {
        uint64_t ns = (n * 7919) % 10007;

        sb_rec_op_found(r, 0, SB_FOUND_ROWS, n % 5, ns, n * 1000);
        sb_rec_op(r, 1, ns / 3);
        if (n % 64 == 0)
            sb_rec_op(r, 2, ns * 11);
    }
    sb_rec_flush(r);
    return NULL;
}

static struct sb_snap_op sum[OPS];

// Takes an interval. Returns false if a number decreased, which shows as nearly
// 2^64.
static bool take(void)
{
    bool good = sb_op_reader_take(&reader) == 0;

    for (unsigned i = 0; i < OPS; i++) {
        const struct sb_snap_op *op = &reader.op[i];

        good = good && op->count < UINT32_MAX && op->ns >> 60 == 0 &&
               op->hist.total < UINT32_MAX && op->rows < UINT32_MAX &&
               op->hits < UINT32_MAX && (op->count > 0 || op->ns == 0);
        sum[i].count += op->count;
        sum[i].ns += op->ns;
        sum[i].rows += op->rows;
        sum[i].hits += op->hits;
        CHECK_INT(sb_hist_snap_add(&sum[i].hist, &op->hist), 0);
    }
    return good;
}

static void compare(const struct sb_snap_op *a, const struct sb_snap_op *b)
{
    CHECK(a->count > 0);
    CHECK_INT(a->count, b->count);
    CHECK_INT(a->ns, b->ns);
    CHECK_INT(a->rows, b->rows);
    CHECK_INT(a->hits, b->hits);
    CHECK_INT(a->hist.total, b->count);
    for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++)
        CHECK(
            sb_hist_snap_count(&a->hist, i) == sb_hist_snap_count(&b->hist, i));
}

static void live(unsigned shards)
{
    pthread_t thread[USERS];
    struct sb_snap whole;
    bool good = true;

    setup(USERS, shards);
    for (unsigned i = 0; i < OPS; i++)
        sb_stats_op(&s, (const char *[]){ "a", "b", "c" }[i], SB_OP_READ);
    atomic_store(&stop, false);
    atomic_store(&started, 0);
    for (unsigned u = 0; u < USERS; u++)
        CHECK_INT(pthread_create(&thread[u], NULL, user, &s.rec[u]), 0);
    while (atomic_load(&started) < USERS)
        sched_yield();
    for (int i = 0; good && i < TAKES; i++)
        good = take();
    atomic_store(&stop, true);
    for (unsigned u = 0; u < USERS; u++)
        pthread_join(thread[u], NULL);
    // Counts that lost their flag show when their operation has its turn.
    for (int i = 0; i < OPS; i++)
        good = take() && good;
    CHECK(good);
    CHECK_INT(sb_snap_take(&whole, &s, SB_SNAP_FINAL, 1, NULL), 0);
    for (unsigned i = 0; i < OPS; i++) {
        compare(&sum[i], &whole.op[i]);
        sb_hist_snap_done(&sum[i].hist);
        sum[i] = (struct sb_snap_op){ 0 };
    }
    sb_snap_done(&whole);
    teardown();
}

static void users_with_their_own_histograms(void)
{
    live(USERS);
}

static void users_that_share_histograms(void)
{
    live(2);
}

// A count without a flag, as a race can leave it.
static void a_lost_flag_delays_a_count(void)
{
    uint64_t total = 0;

    setup(1, 1);
    for (unsigned i = 0; i < OPS; i++)
        sb_stats_op(&s, (const char *[]){ "a", "b", "c" }[i], SB_OP_READ);
    for (unsigned i = 0; i < OPS; i++)
        sb_rec_op(&s.rec[0], (int)i, 70);
    CHECK_INT(sb_op_reader_take(&reader), 0);
    for (unsigned i = 0; i < OPS; i++) {
        sb_rec_op(&s.rec[0], (int)i, 71);
        atomic_store(&s.op[i].shard[0].fresh[0], 0);
    }
    for (unsigned i = 0; i < OPS; i++) {
        CHECK_INT(sb_op_reader_take(&reader), 0);
        for (unsigned k = 0; k < OPS; k++)
            total += reader.op[k].hist.total;
    }
    CHECK_INT(total, OPS);
    teardown();
}

static void done_accepts_zeroed_struct(void)
{
    struct sb_op_reader r = { 0 };

    sb_op_reader_done(&r);
}

CHECK_FILE
{
    RUN(an_interval_has_what_was_new);
    RUN(only_workloads_have_failed_events);
    RUN(snapshots_stay_complete);
    RUN(users_with_their_own_histograms);
    RUN(users_that_share_histograms);
    RUN(a_lost_flag_delays_a_count);
    RUN(done_accepts_zeroed_struct);
    return check_done();
}
