// SPDX-License-Identifier: GPL-2.0-or-later
//
// A run that is in progress, as all parts of run/ use it: what they share, and
// stop, failure and waiting. Calls nothing of what is built on it.
#ifndef SB_RUN_PRIVATE_H
#define SB_RUN_PRIVATE_H

#include <pthread.h>

#include "loop/waiter.h"
#include "run/crew.h"
#include "run/run.h"

enum sb_phase { SB_PHASE_WARMUP, SB_PHASE_MEASURED, SB_PHASES };

struct sb_group;
struct sb_user_priv;

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
    // The rate is being found. Changes, as everything above, only while all
    // users wait: before the start, or between parts (rate_search.c).
    bool searching;
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
// A signal stops the run: see sb_signals_start().
void sb__run_on_signal(void *run, int sig);
// Waits until something changes or the time is reached. Call with run->lock
// held. Main thread.
void sb__run_wait(struct sb_run *run, uint64_t until);
// Cancels the calls of all users that have not ended; stops trying at `until`.
void sb__run_cancel(struct sb_run *run, uint64_t until);
// The same for users that come with a stage and have no event yet. Returns how
// many there are.
unsigned sb__run_cancel_coming(struct sb_run *run);
// Longest event that has ended so far, in ns.
uint64_t sb__run_longest_event(const struct sb_run *run);
// Makes the schedule of the stages, behind a warm-up of this length at the rate
// with which they begin. 0 or SB_ENOMEM. While no user runs.
int sb__run_pace_stages(struct sb_run *run, uint64_t warmup);
// Number of users that have not ended.
unsigned sb__run_busy(struct sb_run *run);
// Whether this process is a rank other than rank 0, which leads.
bool sb__run_follows(const struct sb_run *run);

// Parts that all reports of a run have in common.

// The number of users of this process, or of all ranks.
unsigned sb__run_report_users(const struct sb_run *run);
// The same, only with users that run until the end.
unsigned sb__run_report_users_at_end(const struct sb_run *run);
// Returns the stats with the names of operations and metrics in reports.
const struct sb_stats *sb__run_report_names(
    const struct sb_run *run, enum sb_phase phase);
// Fills in a report of figures that ended at `now`: of the sum over all ranks,
// or without a group, of this process.
void sb__run_report_fill(struct sb_run *run, struct sb_report *r,
    const struct sb_snap *sum, uint64_t now, bool warmup);
// Fills in this stage.
void sb__run_report_stage(
    const struct sb_run *run, struct sb_report *r, unsigned stage);
// Fills in the stage of a report that ended at `now`.
void sb__run_report_stage_at(
    const struct sb_run *run, struct sb_report *r, uint64_t now);

// The state of a run: created before its first thread, freed after the last.

// Returns NULL if out of memory.
struct sb_run *sb__run_state_new(struct sb_workload *w,
    const struct sb_run_opts *o, struct sb_random_shared *random);
// 0 or SB_ENOMEM. Call sb__run_state_end() in either case.
int sb__run_state_init(struct sb_run *run);
// Frees a run that has ended as *res says. Returns the code of its error.
int sb__run_state_end(struct sb_run *run, const struct sb_run_result *res);

#endif
