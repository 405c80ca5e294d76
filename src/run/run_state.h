// SPDX-License-Identifier: GPL-2.0-or-later
//
// A run that is in progress and its users, as the files of run/ and ranks/
// share them; stop, failure and waiting.
#ifndef SB_RUN_STATE_H
#define SB_RUN_STATE_H

#include <pthread.h>

#include "kit/timedist.h"
#include "loop/timers.h"
#include "loop/waiter.h"
#include "measure/pace.h"
#include "run/crew.h"
#include "run/listener.h"
#include "run/run_opts.h"
#include "run/user.h"
#include "run/workload.h"

struct sb_group;

enum sb_phase { SB_PHASE_WARMUP, SB_PHASE_MEASURED, SB_PHASES };

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

// What has held workers: holds.c. {0} at first. Under run->lock, except for
// `known`.
#define SB__HOLD_LINES 8
struct sb__holds {
    unsigned count;    // holds by users that were not watched
    unsigned computed; // those in which the user computed
    unsigned blocked;  // those in which it was seen to block
    unsigned watches;  // users that were watched
    unsigned others;   // users that waited for the last one
    // Of those counted, the longest:
    uint64_t longest; // in ns
    bool at_least;    // it was longer
    char who[192];    // what held, without a line
    struct {
        char text[192]; // "" from the first unused one on
        unsigned seen;  // how often it held
        uint64_t longest;
    } line[SB__HOLD_LINES];
    _Atomic bool known; // the warning was given
};

// A thread with an event loop: loops.c.
struct sb__loop_worker {
    struct sb_run *run;
    struct sb_loop *loop;
    unsigned number;
    pthread_t thread;
    bool has_thread;
    // Written by its thread before its users begin; static texts.
    const char *event_loop, *policy;
    bool ended; // under run->lock: the thread is about to return
};

// How far a search for the rate is: rate_search.c.
struct sb__search_course {
    unsigned waiting; // users that wait for the next part
    uint64_t part;    // its number; a change lets the users go
    double rate;      // of the part; 0: a closed loop
    uint64_t end;     // when its arrivals end
    uint64_t shown;   // last call of searching()
    struct sb_rate_search found;
    struct sb_search_trial *trials; // of `found`
    // Stages whose rates are parts of the one to be found; NULL: the run has
    // none, or they are those of the options. `staged` is set when the measured
    // part begins.
    struct sb_stages *stages;
};

struct sb_run {
    struct sb_workload *w;
    const struct sb_run_opts *o;
    struct sb_random_shared *random;
    const struct sb_listener *l;
    int (*task)(struct sb_workload *w, struct sb_user *u, struct sb_err *err);
    const char *command; // name of the parallel command

    struct sb_group *group; // the ranks of the run; NULL: this process alone
    struct sb_share share;  // the part of this process
    unsigned users;         // of this process: share.users
    uint64_t events;        // its part of --events
    struct sb_user *user;   // users entries
    unsigned workers; // with event loops; 0: each user has a thread of its own
    struct sb__loop_worker *worker; // `workers` entries
    struct sb_helpers *helpers;     // of all workers, or NULL
    struct sb_user_priv *priv;
    struct sb_clock clock; // calibrated; users copy it, main reads it

    uint64_t start_at; // creation of the first thread
    // Fixed when the users are released.
    uint64_t began;    // first release of the users
    uint64_t t0;       // start; in a search for the rate, of each part
    uint64_t warm_end; // t0 without warm-up
    uint64_t deadline; // UINT64_MAX without a time limit
    bool open_loop, limited;
    bool staged;            // users come and go, or the rate changes
    bool crowded;           // more users than processors
    bool mixed;             // a mix: o->mix
    int mix_op[SB_MIX_MAX]; // operations of its components
    uint8_t **mix_of;       // by users: components of users, for each stage
    // What precedes the measured part has parts: users wait at the end of each
    // (rate_search.c). searching: the rate is being found. These change, as
    // everything above, only while all users wait.
    bool gated, searching;
    struct sb_pace pace;
    _Alignas(64) _Atomic sb_pace_pos cursor; // written by all users

    _Alignas(64) struct sb_stats stats[SB_PHASES];
    _Atomic bool stop;
    _Atomic bool over; // the users have ended: reports and done() follow
    // Written by all users, so not in a cache line that all of them read.
    _Alignas(64) _Atomic uint64_t claims; // events started under --events
    _Atomic bool used_up; // of a run with stages: all of --events
    _Alignas(64) struct sb_crew crew;

    pthread_mutex_t lock;   // for everything below
    pthread_cond_t changed; // the main thread waits here
    struct sb_wait_list go; // users that are ready wait here
    bool has_lock;
    _Atomic bool released; // users may start; changes under `lock`
    _Atomic bool aborted;  // users must not start; the same
    unsigned made;         // users whose thread was started
    unsigned ready, ended;
    _Atomic unsigned running; // without `lock`
    struct sb__search_course search;
    uint64_t ended_at; // when the last user ended
    int signal;        // the first one received
    struct {
        bool done; // the workload's check() has returned
        int rc;    // its result
        struct sb_err err;
    } check;
    struct sb_err err; // the first failure
    bool told;         // it was printed
    struct sb__holds holds;
};

static inline const struct sb_stages *sb__run_stages(const struct sb_run *run)
{
    return run->search.stages ? run->search.stages : &run->o->stages;
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

#define SB__RUN_PROGRESS_EVERY UINT64_C(250000000) // ns between progress lines
// Maximum number of arrivals to count: 2^32 take half a minute.
#define SB__RUN_WALK_MAX (UINT64_C(1) << 32)

// Ends the loop of every user at its next event, and wakes waiting users. Any
// thread.
void sb__run_stop(struct sb_run *run);
// Keeps the first failure and stops the run. Any thread.
void sb__run_fail(struct sb_run *run, const struct sb_err *err);
// Prints that failure now, unless it was printed. Any thread.
void sb__run_tell_failure(struct sb_run *run);
// Waits until something changes or the time is reached. Call with run->lock
// held. Main thread.
void sb__run_wait(struct sb_run *run, uint64_t until);
// Waits until --start-at, or until the run is stopped: the users are ready.
// Main thread.
void sb__run_wait_start_at(struct sb_run *run);
// Longest event that has ended so far, in ns.
uint64_t sb__run_longest_event(const struct sb_run *run);
// Makes the schedule of the stages, behind a warm-up of this length at the rate
// with which they begin. 0 or SB_ENOMEM. While no user runs.
int sb__run_pace_stages(struct sb_run *run, uint64_t warmup);
// Whether this process is a rank other than rank 0, which leads.
bool sb__run_follows(const struct sb_run *run);

#endif
