// SPDX-License-Identifier: GPL-2.0-or-later
#include <sched.h>

#include "measure/snap.h"
#include "measure/stats.h"

#include "check.h"

static struct sb_stats s;

static void done_accepts_zeroed_struct(void)
{
    struct sb_stats zero = { 0 };

    sb_stats_done(&zero);
    CHECK_INT(zero.users, 0);
}

static void few_users_have_own_histograms(void)
{
    CHECK_INT(sb_stats_init(&s, 3, 3, false), 0);
    CHECK_INT(s.shards, 3);
    CHECK(!s.service[2].shared);
    CHECK(s.rec[1].service == &s.service[1]);
    CHECK(s.rec[1].response == NULL && s.rec[1].lag == NULL);
    CHECK(((uintptr_t)&s.rec[1] & 63) == 0);
    sb_stats_done(&s);
}

static void many_users_share_histograms(void)
{
    CHECK_INT(sb_stats_init(&s, 64 + 6, 16, true), 0);
    CHECK_INT(s.shards, 16);
    CHECK(s.service[0].shared && s.lag[0].shared);
    CHECK(s.rec[0].service == s.rec[s.shards].service);
    CHECK(s.rec[5].response != s.rec[6].response);
    CHECK_INT(sb_stats_op(&s, "a", SB_OP_READ), 0);
    CHECK(s.op[0].shard[0].shared);
    sb_stats_done(&s);
}

static void shards_follow_processors(void)
{
    CHECK_INT(sb_stats_shards(1, 2), 1);
    CHECK_INT(sb_stats_shards(8, 1), 8);
    CHECK_INT(sb_stats_shards(9, 1), 8);
    CHECK_INT(sb_stats_shards(100, 4), 16);
    CHECK_INT(sb_stats_shards(15, 4), 15);
    CHECK_INT(sb_stats_shards(100, 16), 64);
    CHECK_INT(sb_stats_shards(100, 1000000000), 64);
}

static void events_are_recorded(void)
{
    struct sb_tally *t;

    sb_stats_init(&s, 1, 1, true);
    t = &s.rec[0].tally;
    sb_rec_event(&s.rec[0], 100, 150, 1150);
    sb_rec_event(&s.rec[0], 200, 1150, 1400);
    CHECK_INT(t->completed, 2);
    CHECK_INT(t->service_ns, 1250);
    CHECK_INT(t->service_min, 250);
    CHECK_INT(t->service_max, 1000);
    CHECK_INT(t->response_ns, 1050 + 1200);
    CHECK_INT(t->response_max, 1200);
    CHECK_INT(t->lag_min, 50);
    CHECK_INT(t->lag_max, 950);
    CHECK_INT(s.lag[0].bucket[sb_hist_index(950)], 1);
    sb_stats_done(&s);
}

static void operations_have_one_number(void)
{
    char name[200];

    sb_stats_init(&s, 2, 2, false);
    CHECK_INT(sb_stats_op(&s, "select", SB_OP_READ), 0);
    CHECK_INT(sb_stats_op(&s, "update", SB_OP_WRITE), 1);
    CHECK_INT(sb_stats_op(&s, "select", SB_OP_READ), 0);
    sb_rec_op(&s.rec[1], 1, 5000);
    sb_rec_op(&s.rec[1], 1, 3000);
    CHECK_INT(s.op[1].tally[1].count, 2);
    CHECK_INT(s.op[1].tally[1].ns, 8000);
    CHECK_INT(s.op[1].tally[1].min, 3000);
    CHECK_INT(s.op[1].tally[1].max, 5000);
    CHECK_INT(s.op[1].shard[1].bucket[sb_hist_index(5000)], 1);
    CHECK_INT(s.op[1].tally[0].count, 0);
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    CHECK_INT(sb_stats_op(&s, name, SB_OP_OTHER), 2);
    CHECK_INT(sb_stats_op(&s, name, SB_OP_OTHER), 2);
    sb_stats_done(&s);
}

// Names of workloads are checked (mix.c: reserved). If one is that of another
// operation all the same, the two do not count in one tally.
static void workloads_have_names_of_their_own(void)
{
    sb_stats_init(&s, 1, 1, false);
    CHECK_INT(sb_stats_op(&s, "connect", SB_OP_WORKLOAD), 0);
    CHECK_INT(sb_stats_op(&s, "connect", SB_OP_CUSTOM), 1);
    CHECK_INT(sb_stats_op(&s, "connect", SB_OP_WORKLOAD), 0);
    CHECK_INT(sb_stats_op(&s, "connect", SB_OP_READ), 1);
    sb_rec_failed(&s.rec[0], false);
    sb_rec_restarted(&s.rec[0]);
    CHECK_INT(s.op[0].workload[0].failed, 0);
    s.rec[0].workload = 1 + 0;
    sb_rec_failed(&s.rec[0], true);
    sb_rec_restarted(&s.rec[0]);
    sb_rec_restarted(&s.rec[0]);
    CHECK_INT(s.op[0].workload[0].failed, 1);
    CHECK_INT(s.op[0].workload[0].restarts, 2);
    CHECK_INT(s.rec[0].tally.failed, 2);
    CHECK_INT(s.rec[0].tally.cut_short, 1);
    CHECK_INT(s.rec[0].tally.restarts, 3);
    CHECK_INT(s.rec[0].tally.tries, 3);
    sb_stats_done(&s);
}

static void a_full_table_collects_the_rest(void)
{
    char name[16];

    sb_stats_init(&s, 2, 1, false);
    for (int i = 0; i < SB_OPS_MAX - 1; i++) {
        snprintf(name, sizeof(name), "op%d", i);
        CHECK_INT(sb_stats_op(&s, name, SB_OP_READ), i);
    }
    CHECK_INT(sb_stats_op(&s, "one more", SB_OP_READ), SB_OPS_MAX - 1);
    CHECK_INT(sb_stats_op(&s, "and more", SB_OP_READ), SB_OPS_MAX - 1);
    CHECK_INT(sb_stats_op(&s, "op7", SB_OP_READ), 7);
    CHECK_STR(s.op[SB_OPS_MAX - 1].name, "(others)");
    CHECK_INT(s.nops, SB_OPS_MAX);
    sb_rec_op(&s.rec[0], SB_OPS_MAX - 1, 1);
    // A workload that has no line of its own counts in the run only.
    s.rec[1].workload = 1 + sb_stats_op(&s, "w", SB_OP_WORKLOAD);
    CHECK_INT(s.rec[1].workload, SB_OPS_MAX);
    sb_rec_failed(&s.rec[1], false);
    sb_rec_restarted(&s.rec[1]);
    CHECK_INT(s.rec[1].tally.failed, 1);
    CHECK_INT(s.rec[1].tally.restarts, 1);
    sb_stats_done(&s);
}

static struct sb_err error(int native, const char *state)
{
    struct sb_err e;

    sb_err_native(&e, SB_EQUERY, native, state, "it failed");
    return e;
}

static void codes_are_counted_separately(void)
{
    struct sb_err a = error(1213, "40001"), b = error(1205, "HY000");
    struct sb_rec *r;

    sb_stats_init(&s, 1, 1, false);
    r = &s.rec[0];
    sb_rec_code(r, "mysql", &a, 1, 10);
    sb_rec_code(r, "mysql", &b, 1, 20);
    sb_rec_code(r, "mysql", &a, 1, 30);
    sb_rec_code(r, "pgsql", &a, 1, 40);
    CHECK_INT(r->ncodes, 3);
    CHECK_INT(r->codes[0].count, 2);
    CHECK_INT(r->codes[0].first_ns, 10);
    CHECK_STR(r->codes[0].sample, "it failed");
    CHECK_INT(r->open_errors, 4);
    CHECK_INT(r->codes[0].lost, 0);
    // One number may have several classes.
    static const int losses[] = { SB_ELOST, SB_ERECONNECT, SB_ECONNECT };
    for (int i = 0; i < 3; i++) {
        b.code = losses[i];
        sb_rec_code(r, "mysql", &b, 1, 45);
    }
    CHECK_INT(r->codes[1].count, 4);
    CHECK_INT(r->codes[1].lost, 3);
    for (int i = 0; i < 40; i++) {
        a.native = i;
        sb_rec_code(r, "mysql", &a, 1, 50);
    }
    CHECK_INT(r->ncodes, SB_CODES_MAX);
    CHECK_STR(r->codes[SB_CODES_MAX - 1].driver, "(others)");
    CHECK_INT(r->codes[SB_CODES_MAX - 1].count, 40 - (SB_CODES_MAX - 4));
    sb_stats_done(&s);
}

static void errors_are_settled(void)
{
    struct sb_err e = error(1, "");
    struct sb_rec *r;

    sb_stats_init(&s, 1, 1, false);
    r = &s.rec[0];
    sb_rec_settle(r, SB_FATE_IGNORED, NULL, 1);
    CHECK_INT(r->tally.err_ignored, 0);
    sb_rec_code(r, "x", &e, 1, 1);
    sb_rec_code(r, "x", &e, 1, 1);
    sb_rec_code(r, "x", &e, 1, 1);
    sb_rec_settle(r, SB_FATE_RESTARTED, &e, 1);
    CHECK_INT(r->tally.err_ignored, 2);
    CHECK_INT(r->tally.err_restarted, 1);
    CHECK_INT(r->open_errors, 0);
    sb_rec_code(r, "x", &e, 1, 1);
    sb_rec_settle(r, SB_FATE_IGNORED, NULL, 1);
    CHECK_INT(r->tally.err_ignored, 3);
    // A script counts as many as it likes.
    sb_rec_code(r, "x", &e, 5000000000, 1);
    CHECK_INT(r->codes[0].count, 5000000004);
    sb_rec_settle(r, SB_FATE_IGNORED, NULL, 1);
    CHECK_INT(r->tally.err_ignored, 5000000003);
    sb_rec_settle(r, SB_FATE_FATAL, NULL, 1);
    sb_rec_settle(r, SB_FATE_GIVENUP, &e, 1);
    CHECK_INT(r->tally.err_fatal, 1);
    CHECK_INT(r->tally.err_givenup, 1);
    CHECK_STR(r->codes[1].driver, "script");
    CHECK_INT(
        r->codes[0].count + r->codes[1].count + r->codes[2].count, 5000000006);
    sb_stats_done(&s);
}

// Times of fast events are buffered and recorded together. None is lost.
static void buffered_times(void)
{
    struct sb_snap snap;
    int op;

    CHECK_INT(sb_stats_init(&s, 2, 2, false), 0);
    op = sb_stats_op(&s, "x", SB_OP_READ);
    sb_rec_event_later(
        &s.rec[0], 2000000, 2000100); // the first one: recorded at once
    CHECK_INT(s.rec[0].nlater, 0);
    sb_rec_op_found(&s.rec[0], op, SB_FOUND_NOTHING, 0, 50, 2000160);
    sb_rec_event_later(&s.rec[0], 2000100, 2000170);
    CHECK_INT(s.rec[0].nlater, 2);
    CHECK_INT(s.rec[0].tally.completed, 2);
    CHECK_INT(s.rec[0].tally.service_ns, 100);
    CHECK_INT(s.op[op].tally[0].count, 0);
    // The last report includes buffered times of a user still in a call.
    CHECK_INT(sb_snap_take(&snap, &s, SB_SNAP_FINAL, 1, NULL), 0);
    CHECK_INT(snap.service.total, 2);
    CHECK_INT(snap.c.service_ns, 170);
    CHECK_INT(snap.service_min, 70);
    CHECK_INT(snap.user_ns[0], 170);
    CHECK_INT(snap.user_min[0], 70);
    CHECK_INT(snap.user_max[0], 100);
    CHECK_INT(snap.op[op].count, 1);
    CHECK_INT(snap.op[op].ns, 50);
    CHECK_INT(snap.op[op].hist.total, 1);
    CHECK_INT(snap.op[op].hits, 0);
    CHECK_INT(snap.op[op].misses, 1);
    sb_snap_done(&snap);
    // Buffered times are recorded a millisecond after the last recording.
    sb_rec_event_later(&s.rec[0], 2900000, 3000100);
    CHECK_INT(s.rec[0].nlater, 0);
    CHECK_INT(s.rec[0].tally.service_ns, 100 + 70 + 100100);
    CHECK_INT(s.op[op].tally[0].count, 1);
    CHECK_INT(s.op[op].tally[0].misses, 1);
    // A full buffer is recorded.
    for (unsigned i = 0; i < SB_REC_LATER; i++)
        sb_rec_op_found(&s.rec[0], op, SB_FOUND_UNKNOWN, 0, 7, 3000200);
    CHECK_INT(s.rec[0].nlater, 0);
    CHECK_INT(s.op[op].tally[0].count, 1 + SB_REC_LATER);
    sb_rec_op_found(&s.rec[0], op, SB_FOUND_UNKNOWN, 0, 7, 3000200);
    sb_rec_flush(&s.rec[0]);
    CHECK_INT(s.op[op].tally[0].count, 2 + SB_REC_LATER);
    // A time that is too long for the buffer is recorded at once.
    sb_rec_op_found(&s.rec[1], op, SB_FOUND_UNKNOWN, 0, UINT64_C(1) << 50, 5);
    CHECK_INT(s.rec[1].nlater, 0);
    CHECK_INT(s.op[op].tally[1].max, UINT64_C(1) << 50);
    sb_rec_op_found(&s.rec[1], op, SB_FOUND_ROWS, 1, UINT64_C(1) << 50, 6);
    CHECK_INT(s.op[op].tally[1].hits, 1);
    CHECK_INT(s.op[op].tally[1].misses, 0);
    // The same for a number of rows.
    sb_rec_op_found(
        &s.rec[1], op, SB_FOUND_ROWS, (1 << SB__LATER_ROWS) - 1, 5, 7);
    CHECK_INT(s.rec[1].nlater, 1);
    CHECK_INT(s.op[op].tally[1].rows, 1);
    sb_rec_op_found(&s.rec[1], op, SB_FOUND_ROWS, 1 << SB__LATER_ROWS, 5, 7);
    CHECK_INT(s.rec[1].nlater, 1);
    CHECK_INT(s.op[op].tally[1].rows, 1 + (1 << SB__LATER_ROWS));
    sb_rec_flush(&s.rec[1]);
    CHECK_INT(s.op[op].tally[1].rows,
        1 + (1 << SB__LATER_ROWS) + (1 << SB__LATER_ROWS) - 1);
    sb_stats_done(&s);
}

// Client delays are buffered like other times; those of an event are known at
// once.
static void client_delays(void)
{
    struct sb_snap snap;
    struct sb_rec *r;
    struct sb_err err;

    CHECK_INT(sb_stats_init(&s, 2, 1, false), 0);
    r = &s.rec[1];
    CHECK(!r->client_delay);
    CHECK_INT(sb_stats_add_delays(&s), 0);
    CHECK(r->client_delay == &s.client_delay[0] && r->client_delay->shared);
    sb_rec_delay(r, 70, 100);
    sb_rec_delay(r, 30, 200);
    CHECK_INT(sb_rec_delayed(r), 100);
    sb_rec_no_delay(r);
    CHECK_INT(sb_rec_delayed(r), 0);
    CHECK_INT(r->tally.client_delays, 0);
    CHECK_INT(sb_snap_take(&snap, &s, SB_SNAP_FULL, 1, NULL), 0);
    CHECK_INT(snap.c.client_delays, 0);
    sb_snap_done(&snap);
    // The last report includes what is buffered.
    CHECK_INT(sb_snap_take(&snap, &s, SB_SNAP_FINAL, 1, NULL), 0);
    CHECK(snap.has_client_delay);
    CHECK_INT(snap.c.client_delays, 2);
    CHECK_INT(snap.c.client_delay_ns, 100);
    CHECK_INT(snap.client_delay_min, 30);
    CHECK_INT(snap.client_delay_max, 70);
    CHECK_INT(snap.client_delay.total, 2);
    CHECK_INT(snap.service.total, 0);
    sb_snap_done(&snap);
    sb_rec_flush(r);
    CHECK_INT(r->tally.client_delays, 2);
    sb_rec_delay(r, UINT64_C(1) << 45, 300); // too long for the buffer
    CHECK_INT(r->tally.client_delay_max, UINT64_C(1) << 45);
    CHECK_INT(sb_snap_take(&snap, &s, SB_SNAP_FINAL, 1, NULL), 0);
    CHECK_INT(snap.c.client_delays, 3);
    CHECK_INT(sb_snap_check(&snap, &s, 0, &err), 0);
    sb_snap_done(&snap);
    sb_stats_done(&s);
}

// Hits and misses of the last row of the table, through the buffer
// sb_rec.later.
static void buffered_hits_and_misses(void)
{
    struct sb_snap snap;
    char name[16];
    int op = 0;

    CHECK_INT(sb_stats_init(&s, 2, 1, false), 0);
    for (int i = 0; i < SB_OPS_MAX; i++) {
        snprintf(name, sizeof(name), "op%d", i);
        op = sb_stats_op(&s, name, SB_OP_READ);
    }
    CHECK_INT(op, SB_OPS_MAX - 1);
    for (unsigned u = 0; u < 2; u++) {
        for (int i = 0; i < 5; i++)
            sb_rec_op_found(&s.rec[u], op,
                i < 2 ? SB_FOUND_ROWS : SB_FOUND_NOTHING, i < 2 ? 7 : 0, 7, 1);
        sb_rec_op_found(&s.rec[u], op, SB_FOUND_UNKNOWN, 0, 7, 1);
    }
    sb_rec_flush(&s.rec[0]); // the other user is still in a call
    CHECK_INT(sb_snap_take(&snap, &s, SB_SNAP_FINAL, 1, NULL), 0);
    CHECK_INT(snap.op[op].count, 12);
    CHECK_INT(snap.op[op].hits, 4);
    CHECK_INT(snap.op[op].misses, 6);
    CHECK_INT(snap.op[op].rows, 4 * 7);
    CHECK_INT(snap.op[0].hits + snap.op[0].misses, 0);
    sb_snap_done(&snap);
    sb_stats_done(&s);
}

// Times that are buffered when the last report begins are in it once, whatever
// their user does afterwards.
static void closed_recorder(void)
{
    struct sb_snap snap;
    int op;

    CHECK_INT(sb_stats_init(&s, 1, 1, false), 0);
    op = sb_stats_op(&s, "x", SB_OP_READ);
    sb_rec_event_later(&s.rec[0], 2000000, 2000100);
    for (int i = 0; i < 3; i++)
        sb_rec_op_found(&s.rec[0], op, SB_FOUND_UNKNOWN, 0, 7, 2000200);
    sb_rec_close(&s.rec[0]);
    sb_rec_flush(&s.rec[0]);
    CHECK_INT(s.rec[0].nlater, 3);
    CHECK_INT(s.op[op].tally[0].count, 0);
    CHECK(!sb_rec_enter(&s.rec[0]));
    CHECK_INT(sb_snap_take(&snap, &s, SB_SNAP_FINAL, 1, NULL), 0);
    CHECK_INT(snap.op[op].count, 3);
    CHECK_INT(snap.op[op].hist.total, 3);
    sb_snap_done(&snap);
    // The buffer of a closed recorder never overflows.
    for (unsigned i = 0; i < 3 * SB_REC_LATER; i++)
        sb_rec_op_found(&s.rec[0], op, SB_FOUND_UNKNOWN, 0, 7, 900000000 + i);
    CHECK_INT(s.rec[0].nlater, SB_REC_LATER - 1);
    CHECK_INT(s.op[op].tally[0].count, 0);
    sb_rec_close(&s.rec[0]);
    sb_stats_done(&s);
}

static struct {
    _Atomic bool closes, closed, over;
    _Atomic uint64_t begun, done;
} side;

static void *closer(void *arg)
{
    atomic_store(&side.closes, true);
    sb_rec_close(&s.rec[0]);
    atomic_store(&side.closed, true);
    return NULL;
}

static void closing_waits(void)
{
    pthread_t t;

    memset(&side, 0, sizeof(side));
    CHECK_INT(sb_stats_init(&s, 1, 1, false), 0);
    CHECK(sb_rec_enter(&s.rec[0]));
    pthread_create(&t, NULL, closer, NULL);
    while (!atomic_load(&side.closes))
        sched_yield();
    for (int i = 0; i < 100; i++)
        sched_yield();
    CHECK(!atomic_load(&side.closed));
    sb_rec_leave(&s.rec[0]);
    pthread_join(t, NULL);
    CHECK(!sb_rec_enter(&s.rec[0]));
    sb_stats_done(&s);
}

static void *recorder(void *arg)
{
    uint64_t now = 0;

    while (!atomic_load(&side.over)) {
        atomic_fetch_add(&side.begun, 1);
        sb_rec_op_found(&s.rec[0], 0, SB_FOUND_UNKNOWN, 0, 7, now += 100000);
        atomic_fetch_add(&side.done, 1);
    }
    return NULL;
}

// A user records during the last report: no time is in it twice, and no earlier
// one is missing.
static void closed_while_recording(void)
{
    for (int round = 0; round < 300; round++) {
        struct sb_snap snap;
        uint64_t least, most;
        pthread_t t;

        memset(&side, 0, sizeof(side));
        CHECK_INT(sb_stats_init(&s, 1, 1, false), 0);
        sb_stats_op(&s, "x", SB_OP_READ);
        pthread_create(&t, NULL, recorder, NULL);
        while (atomic_load(&side.done) < 20 + (uint64_t)round % 16)
            sched_yield();
        least = atomic_load(&side.done);
        sb_rec_close(&s.rec[0]);
        CHECK_INT(sb_snap_take(&snap, &s, SB_SNAP_FINAL, 1, NULL), 0);
        most = atomic_load(&side.begun);
        CHECK(snap.op[0].count <= most);
        CHECK(snap.op[0].count + SB_REC_LATER >= least);
        CHECK_INT(snap.op[0].count, snap.op[0].hist.total);
        CHECK_INT(snap.op[0].ns, 7 * snap.op[0].count);
        sb_snap_done(&snap);
        atomic_store(&side.over, true);
        pthread_join(t, NULL);
        sb_stats_done(&s);
    }
}

CHECK_FILE
{
    RUN(done_accepts_zeroed_struct);
    RUN(few_users_have_own_histograms);
    RUN(many_users_share_histograms);
    RUN(shards_follow_processors);
    RUN(events_are_recorded);
    RUN(operations_have_one_number);
    RUN(workloads_have_names_of_their_own);
    RUN(a_full_table_collects_the_rest);
    RUN(codes_are_counted_separately);
    RUN(errors_are_settled);
    RUN(buffered_times);
    RUN(client_delays);
    RUN(buffered_hits_and_misses);
    RUN(closed_recorder);
    RUN(closing_waits);
    RUN(closed_while_recording);
    return check_done();
}
