// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parts of a search for the rate. What they count does not depend on how
// fast the users and the main thread are.
#include "run/rate_part_private.h"

#include <sched.h>

#include "base/clock.h"
#include "check.h"
#include "run/gate.h"
#include "run/lock.h"
#include "run/user_private.h"

#define USERS  2
#define SECOND UINT64_C(1000000000)
#define MS     UINT64_C(1000000)

static struct sb_run_opts o;
static struct sb_run run;
static struct sb_user user[USERS];
static struct sb_user_priv priv[USERS];
static struct sb_random_shared random_shared;
static struct sb_listener l;
static struct sb_meter m;
static pthread_t thread[USERS];
static unsigned warmups;
static _Atomic bool busy; // users complete events until they are to go

static void on_warmup(void *data, int64_t ns)
{
    CHECK_INT(ns, 2 * MS);
    warmups++;
}

// Keeps the main thread from counting in time.
static void on_searching(void *data, const struct sb_searching *now)
{
    while (sb_clock_monotonic() < run.t0 + 50 * MS)
        sched_yield();
}

static void *pass(void *arg)
{
    struct sb_user *u = arg;

    while (sb__gate_wait(u)) {
        while (atomic_load(&busy) && sb_clock_monotonic() < u->priv->leave)
            sb_rec_event(u->rec, 0, 0, 1);
    }
    return NULL;
}

static void begin(void)
{
    o = (struct sb_run_opts){ .threads = USERS,
        .arrivals = SB_PACE_CONSTANT,
        .time = (int64_t)(5 * SECOND),
        .warmup_time = 2 * MS,
        .rate_probe_time = 20 * MS,
        .rate_trial_time = 40 * MS,
        .shutdown_grace = (int64_t)(60 * SECOND) };
    l = (struct sb_listener){ .warmup = on_warmup };
    run = (struct sb_run){ .o = &o,
        .l = &l,
        .random = &random_shared,
        .users = USERS,
        .user = user,
        .priv = priv,
        .searching = true };
    sb_share_whole(&run.share, USERS);
    CHECK_INT(sb__lock_init(&run.lock, &run.changed), 0);
    sb_crew_init(&run.crew, USERS);
    for (unsigned i = 0; i < SB_PHASES; i++)
        sb_stats_init(&run.stats[i], USERS, USERS, true);
    memset(priv, 0, sizeof(priv));
    m = (struct sb_meter){ .run = &run };
    warmups = 0;
    atomic_store(&busy, false);
    for (unsigned i = 0; i < USERS; i++) {
        user[i] = (struct sb_user){ .id = i,
            .run = &run,
            .priv = &priv[i],
            .rec = &run.stats[SB_PHASE_WARMUP].rec[i] };
        CHECK_INT(sb_waiter_init(&priv[i].waiter), 0);
        pthread_create(&thread[i], NULL, pass, &user[i]);
    }
    CHECK(sb__gate_meet(&run, sb_clock_monotonic() + 60 * SECOND));
}

static void end(void)
{
    sb__run_stop(&run);
    for (unsigned i = 0; i < USERS; i++) {
        pthread_join(thread[i], NULL);
        sb_waiter_done(&priv[i].waiter);
    }
    sb_snap_done(&m.last);
    sb_snap_done(&m.checkpoint);
    for (unsigned i = 0; i < SB_PHASES; i++)
        sb_stats_done(&run.stats[i]);
    sb_crew_done(&run.crew);
    sb_pace_done(&run.pace);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
}

static bool carry_out(
    enum sb__part_kind kind, double rate, struct sb__part_figures *f)
{
    const struct sb__part part = { .kind = kind, .rate = rate };

    memset(f, 0xee, sizeof(*f));
    return sb__rate_part(&run, &m, &part, f);
}

static void the_warmup_is_not_counted(void)
{
    struct sb__part_figures f;

    begin();
    uint64_t before = sb_clock_monotonic();

    CHECK(carry_out(SB__PART_WARMUP, 0, &f));
    CHECK(sb_clock_monotonic() >= before + 2 * MS);
    CHECK_INT(warmups, 1);
    CHECK(f.rate == 0 && f.arrivals == 0 && !f.late);
    CHECK_INT(run.waiting, USERS); // at the gate again
    CHECK(!run.open_loop);
    end();
}

static void a_probe_counts_events(void)
{
    struct sb__part_figures f;

    begin();
    CHECK(carry_out(SB__PART_PROBE, 0, &f));
    CHECK(f.rate == 0); // there were none
    // A machine may be so busy that no user runs meanwhile.
    atomic_store(&busy, true);
    for (int turn = 0; turn < 6 && f.rate == 0; turn++) {
        CHECK(carry_out(SB__PART_PROBE, 0, &f));
        o.rate_probe_time *= 4;
    }
    CHECK(f.rate > 0);
    CHECK_INT(run.waiting, USERS);
    CHECK(!run.open_loop);
    end();
}

// No user takes the arrivals: 1,000 per second for 40 ms, and 10 ms before.
static void a_trial_counts_arrivals(void)
{
    struct sb__part_figures f;

    begin();
    CHECK(carry_out(SB__PART_TRIAL, 1000, &f));
    CHECK(run.open_loop);
    CHECK_NEAR((double)f.left, 50, 1);
    CHECK(f.arrivals > 0 && f.arrivals <= 40.001);
    CHECK_NEAR(f.growth, f.arrivals, 1.001);
    // Figures of a late count are left out.
    CHECK(f.late || f.sum.ns > 0);
    CHECK(!f.late || f.sum.ns == 0);
    CHECK(f.sum.ns <= 40 * MS);
    CHECK_INT(run.waiting, USERS);
    sb_snap_done(&f.sum);
    // This rank has half of the users, so it has half of the arrivals.
    run.share.total = 2 * USERS;
    CHECK(carry_out(SB__PART_TRIAL, 1000, &f));
    CHECK(f.arrivals > 0 && f.arrivals <= 20.001);
    sb_snap_done(&f.sum);
    run.share.total = USERS;
    end();
}

static void a_late_count_has_no_figures(void)
{
    struct sb__part_figures f;

    begin();
    l.searching = on_searching;
    CHECK(carry_out(SB__PART_TRIAL, 1000, &f));
    CHECK(f.late);
    CHECK_INT(f.sum.ns, 0);
    CHECK(f.sum.user_events == NULL);
    sb_snap_done(&f.sum);
    end();
}

static void the_measured_part_only_begins(void)
{
    struct sb__part_figures f;

    begin();
    CHECK(carry_out(SB__PART_MEASURED, 1000, &f));
    CHECK(!run.searching);
    CHECK_INT(run.deadline, run.t0 + 5 * SECOND);
    CHECK_INT(m.phase, SB_PHASE_MEASURED);
    CHECK_INT(m.phase_start, run.t0);
    end();
}

static void a_run_that_is_over_has_no_further_part(void)
{
    struct sb__part_figures f;

    for (int kind = SB__PART_WARMUP; kind <= SB__PART_TRIAL; kind++) {
        begin();
        sb__run_stop(&run);
        CHECK(!carry_out(
            (enum sb__part_kind)kind, kind == SB__PART_TRIAL ? 1000 : 0, &f));
        CHECK_INT(run.err.code, 0);
        CHECK(f.rate == 0 && f.sum.ns == 0);
        sb_snap_done(&f.sum);
        end();
    }
}

static void a_lack_of_memory_ends_the_run(void)
{
    begin();
    CHECK(!sb__rate_part_no_memory(&run));
    CHECK_INT(run.err.code, SB_ENOMEM);
    CHECK_STR(run.err.msg, "out of memory for the search of the rate");
    CHECK(atomic_load(&run.stop));
    end();
}

CHECK_FILE
{
    RUN(the_warmup_is_not_counted);
    RUN(a_probe_counts_events);
    RUN(a_trial_counts_arrivals);
    RUN(a_late_count_has_no_figures);
    RUN(the_measured_part_only_begins);
    RUN(a_run_that_is_over_has_no_further_part);
    RUN(a_lack_of_memory_ends_the_run);
    return check_done();
}
