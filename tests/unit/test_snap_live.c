// SPDX-License-Identifier: GPL-2.0-or-later
//
// Snapshots taken while users record as fast as they can: the printed figures
// of each are consistent, and intervals add up to the total.
#include <pthread.h>

#include "check.h"
#include "kit/tsan.h"
#include "measure/snap.h"

#define USERS 6
#define OPS   2
// A snapshot takes 20 times as long with tsan, which needs no wrong sum to find
// a race.
#ifdef SB_TSAN
#define SNAPS 20
#else
#define SNAPS 100
#endif

static struct sb_stats s;
static _Atomic bool stop;
static _Atomic unsigned started;

// Returns varying times, so that many buckets are used.
static uint64_t time_of(uint64_t n)
{
    return (n * 7919) % 100003;
}

static void record(struct sb_rec *r, uint64_t n, uint64_t now)
{
    uint64_t ns = time_of(n);

    sb_tally_add(&r->tally.started, 1);
    sb_tally_add(&r->tally.tries, 1);
    sb_rec_op_found(
        r, 0, n % 3 ? SB_FOUND_ROWS : SB_FOUND_NOTHING, n % 3, ns / 2, now);
    sb_rec_op(r, 1, ns / 3);
    sb_rec_delay(r, ns / 5, now);
    if (s.open_loop)
        sb_rec_event(r, now, now + ns / 4, now + ns);
    else
        sb_rec_event_later(r, now, now + ns);
}

static void *user(void *arg)
{
    struct sb_rec *r = arg;
    uint64_t n = 0;

    atomic_fetch_add(&started, 1);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        n++;
        record(r, n, n * 1000);
    }
    sb_rec_flush(r);
    return NULL;
}

// Sums of the figures printed so far.
struct printed {
    uint64_t events, ops[OPS], hist, ns, user_events[USERS];
    uint64_t delays, delay_hist, delay_ns;
};

static void add(struct printed *p, const struct sb_snap *diff)
{
    p->events += diff->c.completed;
    p->ns += diff->c.service_ns;
    p->delays += diff->c.client_delays;
    p->delay_hist += diff->client_delay.total;
    p->delay_ns += diff->c.client_delay_ns;
    p->hist += s.open_loop ? diff->response.total : diff->service.total;
    for (unsigned i = 0; i < OPS; i++)
        p->ops[i] += diff->op[i].count;
    for (unsigned u = 0; u < USERS; u++)
        p->user_events[u] += diff->user_events[u];
}

// Adds what was recorded since *earlier to *p, and replaces *earlier by the new
// snapshot. Returns false if the figures are not consistent.
static bool print(
    struct printed *p, struct sb_snap *earlier, enum sb_snap_detail detail)
{
    struct sb_err err = { 0 };
    struct sb_snap snap, diff;

    CHECK_INT(sb_snap_take(&snap, &s, detail, 1, earlier), 0);
    CHECK_INT(sb_snap_sub(&diff, &snap, earlier), 0);
    bool good = sb_snap_check_printed(&diff, s.open_loop, &err) == 0 &&
                sb_snap_check_printed(&snap, s.open_loop, &err) == 0;
    if (!good)
        printf("# %s\n", err.msg);
    // A count that decreased would show as nearly 2^64.
    for (unsigned u = 0; u < USERS; u++)
        good = good && diff.user_events[u] <= snap.user_events[u] &&
               diff.user_ns[u] <= snap.user_ns[u];
    good = good && diff.c.service_ns <= snap.c.service_ns &&
           diff.op[0].ns <= snap.op[0].ns &&
           diff.c.client_delay_ns <= snap.c.client_delay_ns &&
           diff.c.client_delays == diff.client_delay.total;
    add(p, &diff);
    sb_snap_done(&diff);
    sb_snap_done(earlier);
    *earlier = snap;
    return good;
}

static void live(unsigned shards, bool open_loop)
{
    struct sb_snap earlier = { 0 };
    struct printed p = { 0 };
    pthread_t thread[USERS];
    struct sb_err err;
    bool good = true;

    CHECK_INT(sb_stats_init(&s, USERS, shards, open_loop), 0);
    CHECK_INT(sb_stats_add_delays(&s), 0);
    sb_stats_op(&s, "select", SB_OP_READ);
    sb_stats_op(&s, "custom", SB_OP_CUSTOM);
    atomic_store(&stop, false);
    atomic_store(&started, 0);
    for (unsigned u = 0; u < USERS; u++)
        CHECK_INT(pthread_create(&thread[u], NULL, user, &s.rec[u]), 0);
    while (atomic_load(&started) < USERS)
        sched_yield();
    for (int i = 0; good && i < SNAPS; i++)
        good = print(&p, &earlier, SB_SNAP_FULL);
    CHECK(good);
    atomic_store(&stop, true);
    for (unsigned u = 0; u < USERS; u++)
        pthread_join(thread[u], NULL);
    CHECK(print(&p, &earlier, SB_SNAP_FINAL));
    earlier.scheduled = earlier.c.started;
    CHECK_INT(sb_snap_check(&earlier, &s, 0, &err), 0);
    CHECK(earlier.c.completed > 0);
    CHECK_INT(p.events, earlier.c.completed);
    CHECK_INT(p.ns, earlier.c.service_ns);
    CHECK_INT(p.hist, earlier.c.completed);
    CHECK_INT(p.delays, earlier.c.completed);
    CHECK_INT(p.delay_hist, earlier.c.completed);
    CHECK_INT(p.delay_ns, earlier.c.client_delay_ns);
    for (unsigned i = 0; i < OPS; i++)
        CHECK_INT(p.ops[i], earlier.c.completed);
    for (unsigned u = 0; u < USERS; u++)
        CHECK_INT(p.user_events[u], earlier.user_events[u]);
    sb_snap_done(&earlier);
    sb_stats_done(&s);
}

static void closed_loop(void)
{
    live(USERS, false);
}

static void closed_loop_with_shared_histograms(void)
{
    live(2, false);
}

static void open_loop(void)
{
    live(USERS, true);
}

static void open_loop_with_shared_histograms(void)
{
    live(2, true);
}

// Events of users that are idle during the snapshot are complete, each counted
// for its user.
static void idle_users(void)
{
    struct sb_snap snap;
    struct sb_err err;

    CHECK_INT(sb_stats_init(&s, 3, 2, false), 0);
    for (unsigned u = 0; u < 3; u++)
        for (unsigned i = 0; i <= u; i++)
            sb_rec_event(&s.rec[u], 0, 0, 1000 * (u + 1));
    CHECK_INT(sb_snap_take(&snap, &s, SB_SNAP_FULL, 1, NULL), 0);
    CHECK_INT(sb_snap_check_printed(&snap, false, &err), 0);
    for (unsigned u = 0; u < 3; u++) {
        CHECK_INT(snap.user_events[u], u + 1);
        CHECK_INT(snap.user_ns[u], 1000 * (u + 1) * (u + 1));
    }
    CHECK_INT(snap.c.service_ns, 14000);
    sb_snap_done(&snap);
    sb_stats_done(&s);
}

// A buffered time counts in the next report, together with its event.
static void buffered_times(void)
{
    struct sb_snap a, b, diff;
    struct sb_err err;

    CHECK_INT(sb_stats_init(&s, 1, 1, false), 0);
    sb_rec_event_later(&s.rec[0], 0, 500);
    CHECK_INT(sb_snap_take(&a, &s, SB_SNAP_FULL, 1, NULL), 0);
    CHECK_INT(a.c.completed, 0);
    CHECK_INT(a.user_events[0], 0);
    CHECK_INT(sb_snap_check_printed(&a, false, &err), 0);
    sb_rec_flush(&s.rec[0]);
    CHECK_INT(sb_snap_take(&b, &s, SB_SNAP_FULL, 1, &a), 0);
    CHECK_INT(sb_snap_sub(&diff, &b, &a), 0);
    CHECK_INT(diff.c.completed, 1);
    CHECK_INT(diff.user_events[0], 1);
    CHECK_INT(diff.c.service_ns, 500);
    CHECK_INT(sb_snap_check_printed(&diff, false, &err), 0);
    sb_snap_done(&diff);
    sb_snap_done(&b);
    sb_snap_done(&a);
    sb_stats_done(&s);
}

// In a shared histogram, a user with buffered events is not credited with
// events of other users.
static void buffered_times_in_a_shared_histogram(void)
{
    struct sb_snap snap;

    CHECK_INT(sb_stats_init(&s, 3, 1, false), 0);
    for (unsigned i = 0; i < 10; i++) {
        sb_rec_event_later(&s.rec[1], 0, 500);
        sb_rec_event(&s.rec[2], 0, 0, 1000);
    }
    sb_rec_flush(&s.rec[1]);
    for (unsigned i = 0; i < 5; i++)
        sb_rec_event_later(&s.rec[0], 0, 500);
    CHECK_INT(sb_snap_take(&snap, &s, SB_SNAP_FULL, 1, NULL), 0);
    CHECK_INT(snap.c.completed, 20);
    CHECK_INT(snap.user_events[0], 0);
    CHECK_INT(snap.user_events[1], 10);
    CHECK_INT(snap.user_ns[1], 5000);
    CHECK_INT(snap.user_events[2], 10);
    CHECK_INT(snap.user_ns[2], 10000);
    sb_snap_done(&snap);
    sb_stats_done(&s);
}

// The average of the interval between two snapshots, and its extremes, in ns.
static void check_interval(const struct sb_snap *later,
    const struct sb_snap *earlier, double avg, uint64_t completed)
{
    struct sb_snap diff;
    struct sb_report r;

    CHECK_INT(sb_snap_sub(&diff, later, earlier), 0);
    sb_report_fill(&r, &diff, 2, false, 1);
    CHECK_INT(diff.c.completed, completed);
    CHECK_NEAR(r.lat_avg, avg, 1e-9);
    CHECK((double)r.lat_min <= r.lat_avg && r.lat_avg <= (double)r.lat_max);
    sb_snap_done(&diff);
}

// Events whose times are buffered are in the average of the interval in which
// their times are recorded, as they are in its minimum and maximum.
static void buffered_times_at_the_end_of_an_interval(void)
{
    const struct sb_snap none = { 0 };
    struct sb_snap first, last;

    CHECK_INT(sb_stats_init(&s, 2, 2, false), 0);
    for (unsigned i = 0; i < 10; i++)
        sb_rec_event(&s.rec[0], 0, 0, 1000);
    for (unsigned i = 0; i < 5; i++)
        sb_rec_event_later(&s.rec[1], 0, 1000);
    CHECK_INT(sb_snap_take(&first, &s, SB_SNAP_LIGHT, 1, NULL), 0);
    check_interval(&first, &none, 1000, 15);
    sb_rec_event(&s.rec[0], 0, 0, 1000);
    sb_rec_flush(&s.rec[1]);
    CHECK_INT(sb_snap_take(&last, &s, SB_SNAP_FINAL, 2, NULL), 0);
    check_interval(&last, &first, 1000, 1);
    sb_snap_done(&first);
    sb_snap_done(&last);
    sb_stats_done(&s);
}

CHECK_FILE
{
    RUN(closed_loop);
    RUN(closed_loop_with_shared_histograms);
    RUN(open_loop);
    RUN(open_loop_with_shared_histograms);
    RUN(idle_users);
    RUN(buffered_times);
    RUN(buffered_times_in_a_shared_histogram);
    RUN(buffered_times_at_the_end_of_an_interval);
    return check_done();
}
