// SPDX-License-Identifier: GPL-2.0-or-later
//
// Snapshots of a run: users, and the arrivals of an open loop.
#include "run/meter.h"

#include "check.h"
#include "run/user_private.h"

#define USERS  3
#define SECOND UINT64_C(1000000000)

static struct sb_run_opts o;
static struct sb_run run;
static struct sb_user user[USERS];
static struct sb_user_priv priv[USERS];
static struct sb_meter m;

// 10 arrivals per second, from 1 s on.
static void reset(void)
{
    o = (struct sb_run_opts){ .threads = USERS };
    run = (struct sb_run){ .o = &o,
        .users = USERS,
        .user = user,
        .priv = priv,
        .open_loop = true,
        .t0 = SECOND,
        .warm_end = SECOND,
        .deadline = 100 * SECOND };
    pthread_mutex_init(&run.lock, NULL);
    sb_pace_init(&run.pace, SB_PACE_CONSTANT, 10, 1);
    sb_stats_init(&run.stats[SB_PHASE_MEASURED], USERS, USERS, true);
    memset(user, 0, sizeof(user));
    memset(priv, 0, sizeof(priv));
    m = (struct sb_meter){ .run = &run, .phase = SB_PHASE_MEASURED };
}

static void done(void)
{
    sb_stats_done(&run.stats[SB_PHASE_MEASURED]);
    sb_pace_done(&run.pace);
    pthread_mutex_destroy(&run.lock);
}

static void take(struct sb_snap *s, enum sb_snap_detail detail, uint64_t now)
{
    memset(s, 0, sizeof(*s));
    CHECK_INT(sb__meter_snap_take(&m, s, detail, NULL, now, now), 0);
}

static void users_are_counted(void)
{
    struct sb_snap s;

    reset();
    run.running = 2;
    user[0].in_event = 1 + SB_PHASE_MEASURED;
    user[1].in_event = 1 + SB_PHASE_WARMUP; // began before the warm-up ended
    priv[0].skipped = 4;
    priv[2].skipped = 5;
    take(&s, SB_SNAP_LIGHT, 2 * SECOND);
    CHECK_INT(s.running, 2);
    CHECK_INT(s.unfinished, 1);
    CHECK_INT(s.skipped, 9);
    sb_snap_done(&s);
    done();
}

static void arrivals_are_counted_from_snapshot_to_snapshot(void)
{
    struct sb_snap s;

    reset();
    take(&s, SB_SNAP_LIGHT, SECOND + SECOND / 20);
    uint64_t first = s.scheduled;

    CHECK(first <= 1);
    sb_snap_done(&s);
    take(&s, SB_SNAP_LIGHT, 3 * SECOND + SECOND / 20);
    CHECK_INT(s.scheduled, first + 20);
    sb_snap_done(&s);
    // --events is the limit.
    run.limited = true;
    run.events = 25;
    take(&s, SB_SNAP_LIGHT, 9 * SECOND);
    CHECK_INT(s.scheduled, 25);
    sb_snap_done(&s);
    done();
}

// Users write while a full snapshot is taken: it is consistent all the same.
static void full_snapshots_are_consistent(void)
{
    struct sb_snap s;

    reset();
    sb_tally_add(&run.stats[SB_PHASE_MEASURED].rec[0].tally.started, 7);
    user[0].in_event = user[1].in_event = 1 + SB_PHASE_MEASURED;
    priv[1].skipped = 3;
    take(&s, SB_SNAP_FULL, SECOND);
    CHECK_INT(s.c.started, 2);
    CHECK_INT(s.scheduled, 5);
    sb_snap_done(&s);
    done();
}

static void what_nobody_has_started_is_pending(void)
{
    struct sb_snap s = { 0 };
    uint64_t arrival, until = 2 * SECOND + SECOND / 20;

    reset();
    uint64_t all = sb__meter_snap_pending(&m, until, &s);

    CHECK(all == 10 || all == 11);
    // Two were taken; one of them waits for its time.
    arrival = sb_pace_take(&run.pace, &run.cursor);
    arrival = sb_pace_take(&run.pace, &run.cursor) + run.t0;
    CHECK_INT(sb__meter_snap_pending(&m, until, &s), all - 2);
    priv[1].held = arrival;
    CHECK_INT(sb__meter_snap_pending(&m, until, &s), all - 1);
    priv[1].held = until + 1; // is due later
    CHECK_INT(sb__meter_snap_pending(&m, until, &s), all - 2);
    // --events allows no more.
    run.limited = true;
    run.events = all - 1;
    s.c.started = 3;
    CHECK_INT(sb__meter_snap_pending(&m, until, &s), all - 4);
    run.open_loop = false;
    CHECK_INT(sb__meter_snap_pending(&m, until, &s), 0);
    done();
}

CHECK_FILE
{
    RUN(users_are_counted);
    RUN(arrivals_are_counted_from_snapshot_to_snapshot);
    RUN(full_snapshots_are_consistent);
    RUN(what_nobody_has_started_is_pending);
    return check_done();
}
