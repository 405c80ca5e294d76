// SPDX-License-Identifier: GPL-2.0-or-later
//
// What only run/ knows of a user, and uses of it.
#ifndef SB_USER_PRIVATE_H
#define SB_USER_PRIVATE_H

#include <pthread.h>

#include "kit/timedist.h"
#include "loop/timers.h"
#include "loop/waiter.h"
#include "run/crew.h"
#include "run/run_private.h"

// The state of a user; changes under run->lock.
enum sb_user_state {
    SB_USER_NEW,
    SB_USER_READY,   // initialized, waits for the start
    SB_USER_RUNNING, // inside its loop or task
    SB_USER_AWAY,    // its stage has fewer users: without connections
    SB_USER_ENDED,   // its thread is about to return
};

// The watch of a user's lines: holds.c.
enum sb__lines {
    SB__LINES_NONE,
    SB__LINES_WANTED, // from the next event of the component on
    SB__LINES_BEGIN,  // the user's loop ends for it
    SB__LINES_ON,
    SB__LINES_END, // the same, at its end
};

struct sb_user_priv {
    pthread_t thread;
    bool has_thread;
    _Atomic enum sb_user_state state;
    struct sb_waiter waiter; // woken when the run stops
    struct sb_alarm alarm;   // of a user with a thread
    uint64_t slice;          // when its worker last ran the others
    struct sb_timedist think;
    _Atomic uint64_t held; // an arrival taken and not started, 0 if none
    // Arrivals of the measured part whose event() returned true.
    _Atomic uint64_t skipped;
    uint32_t turn;   // of --stages: its place among the users of all ranks
    uint64_t leave;  // when the user goes; UINT64_MAX: it stays
    bool gone;       // its loop has ended because of that
    bool last;       // the script wants no further event
    uint64_t before; // takes only arrivals before this time
    // Nothing happens between two events: the end of an event is the start of
    // the next, unless an answer has waited for the user.
    bool chained;
    bool plain;          // chained, and no answer waits: the user has a thread
    _Atomic bool coming; // its stage began; until its loop begins
    uint64_t ended;      // of sb_user_next_now(): when the last event ended
    bool in_loop;        // the workload runs the user's events
    uint64_t loop_since; // when it began to
    enum sb__lines lines;
    uint64_t lines_until; // when the watch ends; 0: it has not begun
    unsigned lines_of;    // component that is watched
    // In a mix: the component whose code runs, and a random stream. handed: the
    // loop of another component has taken an event for next_component, which
    // starts with these times.
    unsigned component, next_component;
    bool handed;
    uint64_t handed_arrival, handed_start;
    struct sb_rng mix;
};

int sb__user_init(struct sb_user *u, struct sb_run *run, unsigned id);
void sb__user_done(struct sb_user *u);
// An error ended the loop of this user, possibly during an event.
void sb__user_failed(struct sb_user *u, const struct sb_err *err);
// Marks errors as ignored that no event will settle.
void sb__user_ignore_errors(struct sb_user *u);
// Called once by the user's thread when the run is released.
void sb__user_start(struct sb_user *u);
// Converts the pause of a script to ns; at most a year.
static inline uint64_t sb__user_pause_ns(double ns)
{
    return ns < 3.2e16 ? (uint64_t)ns : (uint64_t)3.2e16;
}
// Whether the run has begun for this user: in its loop, and in thread_init() if
// it comes with a stage.
static inline bool sb__user_is_in_run(const struct sb_user *u)
{
    return !u->run->task &&
           (u->priv->state == SB_USER_RUNNING || u->priv->coming);
}
// Whether the run was stopped. Any thread.
static inline bool sb__user_stopped(const struct sb_user *u)
{
    return atomic_load_explicit(&u->run->stop, memory_order_acquire);
}
// The current time, from a clock that is anchored often enough.
static inline uint64_t sb__user_now(struct sb_user *u)
{
    uint64_t now = sb_clock_now(&u->clock);

    if (now >= u->clock.anchor_ns) {
        sb_clock_anchor(&u->clock);
        now = sb_clock_now(&u->clock);
    }
    return now;
}

// user.c. Waits until the given time or a stop; returns the current time.
uint64_t sb__user_wait(struct sb_user *u, uint64_t until);
// For a user that is away: waits until the given time. Returns false if the run
// is over, or all of --events are used up.
bool sb__user_await(struct sb_user *u, uint64_t until);
// On an event loop: how long a user whose events do not wait may run before the
// others of its worker do.
#define SB__USER_SLICE_NS 100000
// Lets the other users of the worker run if this user has run for so long.
// Returns the current time.
uint64_t sb__user_take_turns(struct sb_user *u, uint64_t now);

#endif
