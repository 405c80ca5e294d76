// SPDX-License-Identifier: GPL-2.0-or-later
//
// The events of one user: what happens between two calls of event().
#include <assert.h>
#include <ck_pr.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/likely.h"
#include "loop/prefetch.h"
#include "run/events.h"
#include "run/holds.h"
#include "run/mix_user.h"
#include "run/rate_search.h"
#include "run/run_state.h"

// How a user waits for a time, and for others of its worker.

// --pace=spin: the time before an arrival at which sleeping ends and spinning
// starts. On virtual machines, timers are late by 0.1 ms and more; 99 % are
// late by less than this.
#define SPIN_NS 400000u

static void sleep_until(struct sb_user *u, uint64_t until)
{
    while (!sb__user_stopped(u) && sb_waiter_sleep(&u->priv->waiter, until))
        ;
}

// How long before the end of a wait the user's thread begins to busy-wait. A
// loop does that itself. With --pace=auto, only arrivals are worth that.
static uint64_t spin_ns(const struct sb_user *u, bool arrival)
{
    int pace = u->run->o->pace;

    if (u->priv->waiter.fiber || pace == SB_PACE_SLEEP)
        return 0;
    if (pace == SB_PACE_SPIN)
        return SPIN_NS;
    return arrival ? sb_alarm_margin(&u->priv->alarm) : 0;
}

// Sleeps until a time and learns how late the thread wakes up. A loop learns
// that itself.
static uint64_t sleep_and_learn(struct sb_user *u, uint64_t until)
{
    sleep_until(u, until);

    uint64_t now = sb__user_now(u);
    if (now >= until && !u->priv->waiter.fiber)
        sb_alarm_learn(&u->priv->alarm, now - until);
    return now;
}

static uint64_t wait_until(struct sb_user *u, uint64_t until, uint64_t spin)
{
    uint64_t now = sb__user_now(u);

    while (now < until && !sb__user_stopped(u)) {
        if (until - now > spin) {
            now = sleep_and_learn(u, until - spin);
            continue;
        }
        if (u->run->crowded)
            sched_yield(); // a user that is due may need this processor
        else
            ck_pr_stall();
        now = sb__user_now(u);
    }
    return now;
}

uint64_t sb__user_wait(struct sb_user *u, uint64_t until)
{
    return wait_until(u, until, spin_ns(u, false));
}

// The same for the arrival of an event, exactly (--pace).
static uint64_t user_wait_arrival(struct sb_user *u, uint64_t until)
{
    return wait_until(u, until, spin_ns(u, true));
}

bool sb__user_await(struct sb_user *u, uint64_t until)
{
    bool over;

    while (!(over = sb__user_stopped(u) || atomic_load(&u->run->used_up)) &&
           sb_waiter_sleep(&u->priv->waiter, until))
        ;
    return !over;
}

bool sb_user_sleep(struct sb_user *u, uint64_t ns)
{
    uint64_t now = sb__user_now(u);
    uint64_t end = u->run->deadline;
    uint64_t until = ns < end && now < end - ns ? now + ns : end;

    if (u->rec)
        sb_rec_flush(u->rec);
    return sb__user_wait(u, until) < end && !sb__user_stopped(u);
}

struct sb_waiter *sb_user_waiter(const struct sb_user *u)
{
    return &u->priv->waiter;
}

bool sb_user_stopped(const struct sb_user *u)
{
    return sb__user_stopped(u);
}

bool sb_user_has_task(const struct sb_user *u)
{
    return u->run->task;
}

bool sb_user_all_start(const struct sb_user *u)
{
    return !u->run->staged && !u->run->mixed;
}

const struct sb_fiber_waits *sb_user_waits(const struct sb_user *u)
{
    struct sb_fiber *f = u->priv->waiter.fiber;

    return f ? sb_fiber_waits(f) : NULL;
}

struct sb_prefetch *sb_user_prefetch(const struct sb_user *u)
{
    struct sb_fiber *f = u->priv->waiter.fiber;

    return f ? sb_fiber_prefetch(f) : NULL;
}

// Returns whether this user has run for SB__USER_SLICE_NS without waiting.
static bool user_is_to_yield(const struct sb_user *u, uint64_t now)
{
    const struct sb_fiber *f = u->priv->waiter.fiber;

    // Signed: the loop has another clock, which may be a little ahead.
    return f && now - u->priv->slice >= SB__USER_SLICE_NS &&
           (int64_t)(now - sb_fiber_reported(f)) >= SB__USER_SLICE_NS;
}

uint64_t sb__user_take_turns(struct sb_user *u, uint64_t now)
{
    if (!user_is_to_yield(u, now))
        return now;
    sb_fiber_yield(u->priv->waiter.fiber);
    return u->priv->slice = sb__user_now(u);
}

// Maximum wait before a restart of an event.
#define BACKOFF_MAX_NS 100000000u
// The result of next_of_part() if the user must leave its loop for now: the
// next event belongs to another component of a mix, or lines are to be watched.
#define LEAVE 2

static void set_boundary(struct sb_user *u, uint64_t ns)
{
    atomic_store_explicit(&u->boundary, ns, memory_order_seq_cst);
    // Without this check, a stop between the caller's test and the store would
    // be lost. A stop sets the flag first and this boundary second, both
    // sequentially consistent.
    if (atomic_load_explicit(&u->run->stop, memory_order_seq_cst))
        atomic_store_explicit(&u->boundary, 0, memory_order_relaxed);
}

bool sb_user_late(const struct sb_user *u)
{
    // Only this thread changes the state.
    return u->run->staged && !u->rec &&
           (u->priv->state == SB_USER_READY || u->priv->state == SB_USER_AWAY);
}

// Starts an event that is due.
static int start_event(struct sb_user *u, uint64_t arrival, uint64_t now)
{
    struct sb_tally *t = &u->rec->tally;

    atomic_store_explicit(&u->arrival, arrival, memory_order_relaxed);
    u->start = now;
    u->restarts = 0;
    sb_tally_add(&t->started, 1);
    sb_tally_add(&t->tries, 1);
    atomic_store_explicit(&u->in_event, u->mark, memory_order_relaxed);
    return 1;
}

// The same in a mix: the event may belong to another component.
static int start_mixed(struct sb_user *u, uint64_t arrival, uint64_t now)
{
    struct sb_user_priv *p = u->priv;

    if (p->handed) {
        p->handed = false;
        if (u->run->open_loop)
            atomic_store_explicit(&p->held, 0, memory_order_relaxed);
    } else if (!sb__mix_user_keeps(u, arrival, now)) {
        return LEAVE;
    }
    sb__mix_user_started(u);
    return start_event(u, arrival, now);
}

// The ranges of a user.
enum { PREFETCH_USER = SB_PREFETCH_OWNER, PREFETCH_PRIV, PREFETCH_RECORDER };

// What the user's fiber uses at the end of an event and at the start of the
// next one.
static void prefetch_user(const struct sb_user *u)
{
    struct sb_prefetch *p = sb_user_prefetch(u);

    if (!p)
        return;
    sb_prefetch_set(p, PREFETCH_USER, u, offsetof(struct sb_user, part));
    sb_prefetch_set(p, PREFETCH_PRIV, u->priv, sizeof(*u->priv));
    sb_prefetch_set(p, PREFETCH_RECORDER, u->rec, SB_REC_HOT);
}

static void change_recorder(struct sb_user *u, struct sb_rec *rec)
{
    if (u->rec)
        sb_rec_flush(u->rec);
    // An operation of the script may have begun with the last recorder, or in
    // thread_init() without one.
    rec->delayed = u->rec ? u->rec->delayed : 0;
    u->rec = rec;
    prefetch_user(u);
}

static void enter_phase(struct sb_user *u, uint64_t arrival)
{
    struct sb_run *run = u->run;
    enum sb_phase phase = arrival < run->warm_end ? SB_PHASE_WARMUP
                                                  : SB_PHASE_MEASURED;

    struct sb_rec *rec = &run->stats[phase].rec[u->id];

    if (u->rec != rec)
        change_recorder(u, rec);
    sb_rec_no_delay(rec);
    u->mark = (uint8_t)(1 + phase);
}

// Takes the next arrival of the schedule. Arrivals of the warm-up that were
// not started before its end are dropped, so that the measured part begins
// with an empty queue. Returns false if this user goes before the next arrival,
// which another user will take.
static bool take_arrival(struct sb_user *u, uint64_t now, uint64_t *arrival)
{
    struct sb_run *run = u->run;
    uint64_t before = u->priv->before;

    do {
        if (SB_LIKELY(before == UINT64_MAX))
            *arrival = sb_pace_take(&run->pace, &run->cursor);
        else if (!sb_pace_take_before(
                     &run->pace, &run->cursor, before - run->t0, arrival))
            return false;
        *arrival += run->t0;
    } while (now >= run->warm_end && *arrival < run->warm_end);
    return true;
}

// Users that are away do not come again.
static void use_up(struct sb_run *run)
{
    if (!run->staged || atomic_exchange(&run->used_up, true))
        return;
    for (unsigned i = 0; i < run->users; i++)
        sb_waiter_wake(&run->priv[i].waiter);
}

// Returns false if --events is used up. Warm-up events do not count.
static bool claim_event(struct sb_run *run, uint64_t arrival)
{
    if (!run->limited || arrival < run->warm_end)
        return true;
    if (atomic_fetch_add_explicit(&run->claims, 1, memory_order_relaxed) <
        run->events)
        return true;
    use_up(run);
    return false;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// Takes the next arrival and waits for it. Returns false if the run ends
// first.
static bool next_arrival(struct sb_user *u, uint64_t *arrival, uint64_t *now)
{
    struct sb_run *run = u->run;

    if (!take_arrival(u, *now, arrival)) {
        if (run->gated)
            return false;
        *now = sb__user_wait(u, earlier(u->priv->leave, run->deadline));
        return false;
    }
    if (!claim_event(run, *arrival))
        return false;
    atomic_store_explicit(&u->priv->held, *arrival, memory_order_relaxed);
    // Without a further arrival, the run still lasts until its deadline.
    uint64_t until = earlier(*arrival, run->deadline);
    *now = user_wait_arrival(u, until);
    if (until == run->deadline || *now >= run->deadline || sb__user_stopped(u))
        return false;
    assert(*now >= *arrival);
    atomic_store_explicit(&u->priv->held, 0, memory_order_relaxed);
    return true;
}

// Ends the loop of a user. Notes whether the user goes because of its stage,
// and not because the script has ended the loop. This must be decided here,
// because a later reading of the clock could differ from `now`.
static int end_loop(struct sb_user *u, uint64_t now)
{
    u->priv->gone = now >= u->priv->leave;
    return 0;
}

// Starts the next event and returns 1. Returns 0 if this user has no further
// event, or none in this part of the run, and LEAVE if it must leave its loop.
// turns: other users of the worker may run first.
static int next_of_part(struct sb_user *u, uint64_t now, bool turns)
{
    struct sb_run *run = u->run;
    uint64_t arrival, leave;

    if (u->priv->last)
        return 0;
    if (now >= u->clock.anchor_ns)
        now = sb__user_now(u);
    if (turns)
        now = sb__user_take_turns(u, now);
    if (SB_UNLIKELY(u->priv->lines) && sb__holds_leave(u, now))
        return LEAVE;
    leave = earlier(u->priv->leave, run->deadline);
    if (now < u->resume)
        now = sb__user_wait(u, earlier(u->resume, leave));
    if (sb__user_stopped(u) || now >= leave)
        return end_loop(u, now);
    if (run->open_loop) {
        if (!next_arrival(u, &arrival, &now))
            return end_loop(u, now);
    } else {
        arrival = now;
        if (!claim_event(run, arrival))
            return 0;
        uint64_t b = now < run->warm_end ? earlier(run->warm_end, leave)
                                         : leave;
        bool every = run->limited || !u->priv->chained;
        if (u->priv->waiter.fiber)
            b = earlier(b, now + SB__USER_SLICE_NS);
        set_boundary(u, every ? 0 : earlier(b, u->clock.anchor_ns));
    }
    enter_phase(u, arrival);
    return SB_UNLIKELY(run->mixed) ? start_mixed(u, arrival, now)
                                   : start_event(u, arrival, now);
}

// The slow path of starting an event: a boundary was reached, or this run
// waits before every event or counts it.
static int next_slow(struct sb_user *u, uint64_t now, bool turns)
{
    struct sb_run *run = u->run;

    if (run->task)
        return 0;
    if (SB_UNLIKELY(u->priv->handed)) {
        if (SB_UNLIKELY(u->priv->lines) && sb__holds_leave(u, now))
            return 0;
        return start_mixed(u, u->priv->handed_arrival, u->priv->handed_start);
    }
    int rc = next_of_part(u, now, turns);
    while (rc == 0 && run->gated && sb__rate_search_wait(u))
        rc = next_of_part(u, sb_clock_now(&u->clock), turns);
    return rc == LEAVE ? 0 : rc;
}

// When the event in progress ended, if its call of event() returned at `now`:
// without the times for which answers waited for the user on its event loop.
static uint64_t end_of_event(const struct sb_user *u, uint64_t now)
{
    uint64_t delays = sb_rec_delayed(u->rec);

    return delays < now - u->start ? now - delays : u->start;
}

// After the end of the run, the last report may be in progress: either it
// counts this event, or the event stays unfinished.
static void complete_late(struct sb_user *u, uint64_t now)
{
    struct sb_rec *r = u->rec;
    uint64_t end = end_of_event(u, now);

    assert(sb__user_stopped(u));
    if (!sb_rec_enter(r))
        return;
    sb_rec_event(r, atomic_load_explicit(&u->arrival, memory_order_relaxed),
        u->start, end);
    if (u->run->mixed)
        sb__mix_user_completed(u, end);
    sb_rec_no_delay(r);
    if (r->open_errors)
        sb_rec_settle(r, SB_FATE_IGNORED, NULL, now);
    atomic_store_explicit(&u->in_event, 0, memory_order_relaxed);
    sb_rec_leave(r);
}

static void record_event(struct sb_user *u, uint64_t end)
{
    if (u->priv->chained) {
        sb_rec_event_later(u->rec, u->start, end);
        return;
    }
    sb_rec_flush(u->rec);
    sb_rec_event(u->rec,
        atomic_load_explicit(&u->arrival, memory_order_relaxed), u->start, end);
    if (SB_UNLIKELY(u->run->mixed))
        sb__mix_user_completed(u, end);
}

static void complete_event(struct sb_user *u, uint64_t now)
{
    // A stop sets the boundary to 0.
    if (SB_UNLIKELY(
            now >= atomic_load_explicit(&u->boundary, memory_order_relaxed)) &&
        sb__user_stopped(u)) {
        complete_late(u, now);
        return;
    }
    if (SB_LIKELY(u->priv->plain)) {
        sb_rec_event_later(u->rec, u->start, now);
    } else {
        record_event(u, end_of_event(u, now));
        sb_rec_no_delay(u->rec);
    }
    if (SB_UNLIKELY(u->rec->open_errors))
        sb_rec_settle(u->rec, SB_FATE_IGNORED, NULL, now);
    atomic_store_explicit(&u->in_event, 0, memory_order_relaxed);
}

static void begin_pause(struct sb_user *u, uint64_t now)
{
    uint64_t pause = u->pause;

    if (!sb_timedist_is_zero(&u->priv->think))
        pause += (uint64_t)sb_timedist_draw(&u->priv->think, &u->think);
    u->pause = 0;
    u->resume = now + pause;
}

// Ends the event in progress, and starts the next one if that is due. Returns
// false if next_slow() has to decide.
static inline bool next_at_once(struct sb_user *u, uint64_t now)
{
    if (SB_LIKELY(atomic_load_explicit(&u->in_event, memory_order_relaxed))) {
        complete_event(u, now);
        if (SB_UNLIKELY(!u->priv->chained))
            begin_pause(u, now);
    }
    return SB_LIKELY(
        now < atomic_load_explicit(&u->boundary, memory_order_relaxed));
}

int sb_user_next(struct sb_user *u)
{
    uint64_t now = sb_clock_now(&u->clock);

    return next_at_once(u, now) ? start_event(u, now, now)
                                : next_slow(u, now, true);
}

// Whether the next event may begin later than now.
static bool may_wait(const struct sb_user *u, uint64_t now)
{
    const struct sb_run *run = u->run;

    return run->open_loop || run->gated || now < u->resume || u->priv->lines ||
           user_is_to_yield(u, now);
}

int sb_user_next_now(struct sb_user *u)
{
    uint64_t now = sb_clock_now(&u->clock);

    if (next_at_once(u, now))
        return start_event(u, now, now);
    if (u->run->task || !may_wait(u, now))
        return next_slow(u, now, false);
    u->priv->ended = now;
    return 2;
}

int sb_user_next_wait(struct sb_user *u)
{
    return next_slow(u, u->priv->ended, true);
}

int sb_user_begin(struct sb_user *u)
{
    // The last event stayed unfinished: see complete_late().
    if (atomic_load_explicit(&u->in_event, memory_order_relaxed)) {
        assert(sb__user_stopped(u));
        return 0;
    }
    if (u->rec)
        sb_rec_no_delay(u->rec);
    return sb_user_next(u);
}

void sb_user_end(struct sb_user *u)
{
    if (!atomic_load_explicit(&u->in_event, memory_order_relaxed))
        return;
    uint64_t now = sb_clock_now(&u->clock);
    complete_event(u, now);
    begin_pause(u, now);
}

// Decrements a counter for an event that turned out not to be one. A
// checkpoint may have reported it as started: see sb_snap_sub().
static void uncount(_Atomic uint64_t *c)
{
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) - 1,
        memory_order_relaxed);
}

void sb_user_drop(struct sb_user *u)
{
    if (!atomic_load_explicit(&u->in_event, memory_order_relaxed) ||
        !sb_rec_enter(u->rec))
        return;
    uncount(&u->rec->tally.started);
    uncount(&u->rec->tally.tries);
    if (u->run->open_loop && u->mark == 1 + SB_PHASE_MEASURED)
        sb_tally_add(&u->priv->skipped, 1);
    if (u->rec->open_errors)
        sb_rec_settle(u->rec, SB_FATE_IGNORED, NULL, u->start);
    sb_rec_no_delay(u->rec);
    atomic_store_explicit(&u->in_event, 0, memory_order_relaxed);
    sb_rec_leave(u->rec);
}

// cut_short: the event is not tried again only because the run has ended.
static void give_up(struct sb_user *u, enum sb_fate fate,
    const struct sb_err *err, bool cut_short)
{
    uint64_t now = sb_clock_now(&u->clock);

    if (!sb_rec_enter(u->rec))
        return;
    if (!u->priv->chained)
        begin_pause(u, now);
    sb_rec_settle(u->rec, fate, err, now);
    sb_rec_failed(u->rec, cut_short);
    sb_rec_no_delay(u->rec);
    atomic_store_explicit(&u->in_event, 0, memory_order_relaxed);
    sb_rec_leave(u->rec);
}

void sb_user_fail(struct sb_user *u)
{
    if (atomic_load_explicit(&u->in_event, memory_order_relaxed))
        give_up(u, SB_FATE_IGNORED, NULL, false);
}

void sb__user_failed(struct sb_user *u, const struct sb_err *err)
{
    if (atomic_load_explicit(&u->in_event, memory_order_relaxed))
        give_up(u, SB_FATE_FATAL, err, false);
    else if (u->rec && u->rec->open_errors)
        sb_rec_settle(u->rec, SB_FATE_FATAL, err, sb_clock_now(&u->clock));
}

void sb__user_ignore_errors(struct sb_user *u)
{
    if (!u->rec)
        return;
    if (u->rec->open_errors)
        sb_rec_settle(u->rec, SB_FATE_IGNORED, NULL, sb_clock_now(&u->clock));
    sb_rec_flush(u->rec);
}

// Waits before try n + 1 for a random time, uniform in [0, base * 2^(n-1)], so
// that users that had a deadlock are unlikely to have another one.
static void back_off(struct sb_user *u, uint32_t n)
{
    uint64_t max_wait = (uint64_t)u->run->o->restart_backoff;

    for (uint32_t i = 1; i < n && max_wait < BACKOFF_MAX_NS; i++)
        max_wait *= 2;
    if (max_wait > BACKOFF_MAX_NS)
        max_wait = BACKOFF_MAX_NS;
    if (max_wait > 0)
        sb__user_wait(
            u, sb__user_now(u) + sb_rng_below(&u->think, max_wait + 1));
}

int sb_user_restart(struct sb_user *u)
{
    const int64_t max = u->run->o->max_restarts;

    // Scripts with their own loop can call this outside of an event.
    if (!atomic_load_explicit(&u->in_event, memory_order_relaxed))
        return 0;
    bool over = sb__user_stopped(u) ||
                sb_clock_now(&u->clock) >= u->run->deadline;

    if (over || (max > 0 && u->restarts >= max)) {
        give_up(u, SB_FATE_GIVENUP, NULL, over);
        return 0;
    }
    u->restarts++;
    sb_rec_settle(u->rec, SB_FATE_RESTARTED, NULL, sb_clock_now(&u->clock));
    back_off(u, u->restarts);
    // The last report may be reading.
    if (sb_rec_enter(u->rec)) {
        sb_rec_restarted(u->rec);
        sb_rec_leave(u->rec);
    }
    return 1;
}

void sb_user_think(struct sb_user *u, double ns)
{
    if (!(ns > 0))
        return;
    u->pause = sb__user_pause_ns(ns);
    // Between events, the pause starts now; before the first one, when the user
    // starts. Only this thread changes the state.
    if (!atomic_load_explicit(&u->in_event, memory_order_relaxed) &&
        u->priv->state == SB_USER_RUNNING)
        begin_pause(u, sb_clock_now(&u->clock));
    set_boundary(u, 0);
    u->priv->chained = u->priv->plain = false;
}

void sb__user_start(struct sb_user *u)
{
    assert(u->priv->state == SB_USER_READY || u->priv->state == SB_USER_AWAY);
    // The first event takes the slow path, which sets the right boundary.
    set_boundary(u, 0);
    u->clock = u->run->clock;
    sb_clock_anchor(&u->clock);
    u->priv->last = false;
    if (u->pause == 0)
        return;
    // A thread may start late: the pauses of all users that are there from the
    // start begin at the same moment.
    u->resume = u->pause +
                (u->priv->coming ? sb_clock_now(&u->clock) : u->run->t0);
    u->pause = 0;
}

static void init_common(
    struct sb_user *u, struct sb_random_shared *random, unsigned number)
{
    u->number = number;
    pthread_mutex_init(&u->part_lock, NULL);
    sb_random_init(&u->random, random, number);
    // This stream is separate from those of keys, so that waiting does not
    // change keys.
    sb_rng_init(&u->think, random->seed, (UINT64_C(1) << 40) + number);
}

int sb__user_init(struct sb_user *u, struct sb_run *run, unsigned id)
{
    struct sb_user_priv *p = &run->priv[id];

    u->run = run;
    u->priv = p;
    u->clock = run->clock;
    u->id = id;
    init_common(u, run->random, (unsigned)(run->share.first + id));
    p->turn = (uint32_t)sb_share_turn(&run->share, u->number);
    p->leave = p->before = UINT64_MAX;
    if (run->o->think_time[0])
        sb_timedist_parse(run->o->think_time, &p->think, NULL);
    p->chained = sb_timedist_is_zero(&p->think) && !run->open_loop &&
                 !run->mixed;
    p->plain = p->chained && run->workers == 0;
    sb__mix_user_init(u);
    return sb_waiter_init(&p->waiter);
}

void sb__user_done(struct sb_user *u)
{
    if (!u->priv)
        return;
    sb_waiter_done(&u->priv->waiter);
    pthread_mutex_destroy(&u->part_lock);
    u->priv = NULL;
}
