// SPDX-License-Identifier: GPL-2.0-or-later
//
// A virtual user, as its workload sees it. events.c and user_api.c have the
// functions.
#ifndef SB_USER_H
#define SB_USER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/random.h"
#include "run/mix.h"
#include "run/user.ffi.h"

struct sb_err;
struct sb_fiber_waits;
struct sb_prefetch;
struct sb_rec;
struct sb_run;
struct sb_user_priv;

struct sb_user {
    // Used in every event, most frequent first.
    _Alignas(64) _Atomic uint64_t
        boundary; // next_slow() from this time on; 0: always
    struct sb_clock clock;
    struct sb_rec *rec;       // records events; NULL outside a run
    _Atomic uint64_t arrival; // of the event in progress; its owner writes it
    uint64_t start;           // of the event in progress; its owner writes it
    // 0, or 1 + the phase (warm-up, measured) in which the event in progress
    // is counted; written by its owner only.
    _Atomic uint8_t in_event;
    uint8_t mark;      // next value of in_event
    unsigned id;       // among the users of this process, from 0
    uint32_t restarts; // of the event in progress
    uint64_t resume;   // think time: earliest start of the next event
    uint64_t pause;    // set by sb_user_think(); starts at the end of the event
    struct sb_random random;
    struct sb_rng think; // random numbers of think time and back-off: a stream
                         // of their own, so that pacing does not change keys
    unsigned number;     // among the users of all ranks
    unsigned visit;      // how often it has begun its events: with --stages,
                         // users go and come again
    struct sb_run *run;
    void *data;                // the workload's
    struct sb_user_priv *priv; // run/'s own
    // In a mix: what names of operations and metrics begin with; else NULL.
    const char *prefix;
    void *part[SB_MIX_MAX]; // data of scripts, by slot
    // Protects `part` from cancel() of the scripts. It is the user's own, so
    // that canceling a user that is slow to return holds up no other.
    pthread_mutex_t part_lock;
};

// Sleeps ns, or until the run ends; returns false if it is over. Only in the
// user's thread.
bool sb_user_sleep(struct sb_user *u, uint64_t ns);

// Returns the user's waiter; returns whether its run was stopped, which wakes
// the waiter.
struct sb_waiter *sb_user_waiter(const struct sb_user *u);
bool sb_user_stopped(const struct sb_user *u); // any thread
// Whether the user executes a command (sb_run_parallel()) and not events. Any
// thread.
bool sb_user_has_task(const struct sb_user *u);
// Whether all users of the run start with this workload, before its begin.
bool sb_user_all_start(const struct sb_user *u);
// How the waits of its fiber ended, for the client delays of its calls; NULL if
// it has a thread of its own. Only in the user's thread.
const struct sb_fiber_waits *sb_user_waits(const struct sb_user *u);
// The memory that its fiber uses when it continues; NULL if it has a thread of
// its own. Only in the user's thread.
struct sb_prefetch *sb_user_prefetch(const struct sb_user *u);
// Called by a workload, which supports user_held, when sb_user_next() has
// returned 0. The loop may have been ended only so that the workload can begin
// or end to note which line runs: it does so and calls sb_user_next() again.
// Only in the user's thread.
enum sb_user_lines { SB_LINES_OVER, SB_LINES_BEGIN, SB_LINES_END };
int sb_user_lines(struct sb_user *u);
// When the worker began to run the user last, in ns of CLOCK_MONOTONIC; 0 if
// it does not know. Only in the user's thread.
uint64_t sb_user_turn(const struct sb_user *u);

// Ends the run with an error, unless it has failed before. The user may go on
// with its event. Only in the user's thread, in a run or a parallel command.
void sb_user_fail_run(struct sb_user *u, const struct sb_err *err);
// Prints the error that ends the run at once, and only once: the program may
// crash before it would print the error otherwise. Only in the user's thread,
// in a run or a parallel command.
void sb_user_tell_failure(struct sb_user *u);

// True while the user is being created because a stage needs it and the run is
// in progress. Only in the user's thread.
bool sb_user_late(const struct sb_user *u);

#endif
