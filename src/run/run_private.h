// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of run/ share.
#ifndef SB_RUN_PRIVATE_H
#define SB_RUN_PRIVATE_H

#include <pthread.h>

#include "base/likely.h"
#include "run/crew.h"
#include "run/run.h"
#include "run/signals.h"

enum sb_phase { SB_PHASE_WARMUP, SB_PHASE_MEASURED, SB_PHASES };

// Where a user stands; changes under run->lock.
enum sb_user_state {
    SB_USER_NEW,
    SB_USER_READY,   // initialised, waits for the start
    SB_USER_RUNNING, // inside its loop or task
    SB_USER_ENDED,   // its thread is about to return
};

struct sb_user_priv {
    pthread_t thread;
    bool has_thread;
    enum sb_user_state state;
    pthread_mutex_t lock; // for `wake`
    pthread_cond_t wake;  // CLOCK_MONOTONIC; the stop flag has changed
    struct sb_dist_time think;
    _Atomic uint64_t held; // an arrival taken and not started, 0 if none
    // Arrivals of the measured part whose event turned out to be none.
    _Atomic uint64_t skipped;
    bool chained;         // nothing lies between two events of this user
    struct sb_crew *crew; // the run's, or an idle user's own
};

struct sb_run {
    struct sb_workload *w;
    const struct sb_run_opts *o;
    struct sb_random_shared *random;
    const struct sb_listener *l;
    int (*task)(struct sb_workload *w, struct sb_user *u, struct sb_err *err);
    const char *what; // the name of the task

    struct sb_user *user; // o->threads of them
    struct sb_user_priv *priv;
    struct sb_clock clock; // calibrated; users copy it, main reads it

    uint64_t start_at; // when the first thread was made
    // Fixed when the users are released.
    uint64_t t0;       // start
    uint64_t warm_end; // t0 without warm-up
    uint64_t deadline; // UINT64_MAX without a time limit
    bool open_loop, limited;
    bool crowded; // more users than processors
    struct sb_pace pace;
    _Alignas(64) _Atomic sb_pace_pos cursor; // which all users write

    _Alignas(64) struct sb_stats stats[SB_PHASES];
    _Atomic bool stop;
    // What all users write, away from what all of them read.
    _Alignas(64) _Atomic uint64_t claims; // events begun under --events
    _Alignas(64) struct sb_crew crew;

    pthread_mutex_t lock;   // everything below
    pthread_cond_t changed; // the main thread waits here
    pthread_cond_t go;      // users that are ready wait here
    bool has_lock, has_go;
    bool released; // users may start
    bool aborted;  // users must not start
    unsigned made; // threads that were started
    unsigned ready, running, ended;
    uint64_t ended_at; // when the last user ended
    int signal;        // the first one that came
    bool looked;       // the workload's look() has returned
    int look_rc;       // and what
    struct sb_err look_err;
    struct sb_err err; // the first failure
};

// Ends every user's loop at its next event, wakes those that wait. Any thread.
void sb__run_stop(struct sb_run *run);
// Keeps the first failure and stops the run. Any thread.
void sb__run_fail(struct sb_run *run, const struct sb_err *err);
// Waits until something changes or the moment comes. Call with run->lock held.
// Main thread.
void sb__run_wait(struct sb_run *run, uint64_t until);
// Cancels the calls of all users that have not ended; gives up at `until`.
void sb__run_cancel(struct sb_run *run, uint64_t until);

#define SB__PROGRESS_EVERY UINT64_C(250000000) // ns between progress lines

// start.c. Lets the workload look before there are users; 0 when it is content.
// Otherwise *res says how the run ended.
int sb__look(struct sb_run *run, struct sb_run_result *res);
// Makes the users; 0 when all are ready (of a parallel command: at
// work). Otherwise none of them starts, and *res says how the run ended.
int sb__start_users(struct sb_run *run, struct sb_run_result *res);
// Shows how many users are ready. since: when the first one was made.
void sb__start_progress(struct sb_run *run, uint64_t since, uint64_t now);

// run_state.c. Both, by the monotonic clock: 0 or SB_ENOMEM.
int sb__lock_init(pthread_mutex_t *lock, pthread_cond_t *cond);
// NULL: out of memory. sb__run_init(): 0 or SB_ENOMEM; what was
// made is freed by sb__run_free() either way.
struct sb_run *sb__run_new(struct sb_workload *w, const struct sb_run_opts *o,
    struct sb_random_shared *random);
int sb__run_init(struct sb_run *run);
void sb__run_free(struct sb_run *run);

int sb__user_init(struct sb_user *u, struct sb_run *run, unsigned id);
void sb__user_done(struct sb_user *u);
// An error ended the loop of this user, maybe in the middle of an event.
void sb__user_failed(struct sb_user *u, const struct sb_err *err);
// Errors that no event will settle any more were ignored.
void sb__user_settle(struct sb_user *u);
// Called once by the user's thread when the run is released.
void sb__user_start(struct sb_user *u);
// Waits until the moment or a stop; returns the time then.
uint64_t sb__user_wait(struct sb_user *u, uint64_t until);

// Starts a thread for each user and shows how many are ready meanwhile. 0, or
// SB_ELIMIT naming the limit. A stop of the run ends it early: run->made says
// how many threads there are then.
int sb__workers_start(struct sb_run *run, struct sb_err *err);
// thread_error.c. What a failed pthread_create() is to be put down to, as text:
// rc is what it returned, stack the bytes of stack that were asked for.
void sb__thread_error(int rc, size_t stack, char *out, size_t size);
// Joins every user that has ended; true when that was all.
bool sb__workers_join(struct sb_run *run);

// The reporting side of a run, in the main thread.
struct sb_meter {
    struct sb_run *run;
    struct sb_snap last;       // at the last interval line
    struct sb_snap checkpoint; // at the last checkpoint, zero before
    uint64_t phase_start;      // of the phase being reported
    enum sb_phase phase;
    uint64_t next_tick, next_checkpoint;
    size_t checkpoint_no;
    sb_pace_pos border;   // last place of the schedule before this phase
    sb_pace_pos walked;   // schedule walked so far ...
    uint64_t scheduled;   // ... and arrivals counted in this phase ...
    uint64_t until;       // ... which were due by then
    struct sb_err broken; // the first identity that a report broke
};

void sb__meter_init(struct sb_meter *m, struct sb_run *run);
void sb__meter_done(struct sb_meter *m);
// The users were released at run->t0.
void sb__meter_start(struct sb_meter *m);
// The next moment something is to be printed.
uint64_t sb__meter_next(const struct sb_meter *m);
// Prints what is due at now.
void sb__meter_tick(struct sb_meter *m, uint64_t now);
// The final report. Before it, unless the run has failed already, the
// identities are checked, if every user has ended, and the share of failed
// events: what is wrong ends up in res->err. until: arrivals due by then were
// scheduled.
void sb__meter_final(struct sb_meter *m, uint64_t now, uint64_t until,
    bool all_ended, struct sb_run_result *res);

#endif
