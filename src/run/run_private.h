// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the files of run/.
#ifndef SB_RUN_PRIVATE_H
#define SB_RUN_PRIVATE_H

#include <pthread.h>

#include "base/likely.h"
#include "kit/timedist.h"
#include "measure/op_reader.h"
#include "run/crew.h"
#include "run/run.h"
#include "run/signals.h"

enum sb_phase { SB_PHASE_WARMUP, SB_PHASE_MEASURED, SB_PHASES };

// The state of a user; changes under run->lock.
enum sb_user_state {
    SB_USER_NEW,
    SB_USER_READY,   // initialized, waits for the start
    SB_USER_RUNNING, // inside its loop or task
    SB_USER_AWAY,    // its stage has fewer users: without connections
    SB_USER_ENDED,   // its thread is about to return
};

struct sb_meter;

struct sb_user_priv {
    pthread_t thread;
    bool has_thread;
    enum sb_user_state state;
    pthread_mutex_t lock; // for `wake`
    pthread_cond_t wake;  // CLOCK_MONOTONIC; signaled when the run stops
    struct sb_timedist think;
    _Atomic uint64_t held; // an arrival taken and not started, 0 if none
    // Arrivals of the measured part whose event() returned true.
    _Atomic uint64_t skipped;
    uint32_t turn;   // of --stages: its place among the users of all ranks
    uint64_t leave;  // when the user goes; UINT64_MAX: it stays
    bool gone;       // its loop has ended because of that
    bool last;       // the script wants no further event
    uint64_t before; // takes only arrivals before this time
    bool chained;    // the end of an event is the start of the next
    // Of a mix: the component whose code runs, and a random stream. An event
    // of next_component was begun by another component's loop: it starts with
    // these times.
    unsigned component, next_component;
    bool handed;
    uint64_t handed_arrival, handed_start;
    struct sb_rng mix;
    struct sb_crew *crew; // the run's, or an idle user's own
};

struct sb__joint;

struct sb_run {
    struct sb_workload *w;
    const struct sb_run_opts *o;
    struct sb_random_shared *random;
    const struct sb_listener *l;
    int (*task)(struct sb_workload *w, struct sb_user *u, struct sb_err *err);
    const char *command; // name of the parallel command

    struct sb__joint *joint; // with the other ranks of a job, or NULL
    struct sb_share share;   // the part of this process
    unsigned users;          // of this process: share.users
    uint64_t events;         // its part of --events
    struct sb_user *user;    // users entries
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
    // users wait: before the start, or at the gate (gate.c).
    bool searching;
    struct sb_pace pace;
    _Alignas(64) _Atomic sb_pace_pos cursor; // written by all users

    _Alignas(64) struct sb_stats stats[SB_PHASES];
    _Atomic bool stop;
    // Written by all users, so not in a cache line that all of them read.
    _Alignas(64) _Atomic uint64_t claims; // events started under --events
    _Atomic bool used_up; // of a run with stages: all of --events
    _Alignas(64) struct sb_crew crew;

    pthread_mutex_t lock;   // for everything below
    pthread_cond_t changed; // the main thread waits here
    pthread_cond_t go;      // users that are ready wait here
    bool has_lock, has_go;
    bool released; // users may start
    bool aborted;  // users must not start
    unsigned made; // number of started threads
    unsigned ready, running, ended;
    unsigned waiting; // users at the gate
    uint64_t part;    // of the search; its number changes to open the gate
    double part_rate; // 0: a closed loop
    uint64_t part_end, shown; // when arrivals end; last call of searching()
    struct sb_rate_search found;
    struct sb_search_trial *trials; // of `found`
    uint64_t ended_at;              // when the last user ended
    int signal;                     // the first one received
    bool check_done;                // the workload's check() has returned
    int check_rc;                   // its result
    struct sb_err check_err;
    struct sb_err err; // the first failure
};

// Ends the loop of every user at its next event, and wakes waiting users. Any
// thread.
void sb__run_stop(struct sb_run *run);
// Keeps the first failure and stops the run. Any thread.
void sb__run_fail(struct sb_run *run, const struct sb_err *err);
// Waits until something changes or the time is reached. Call with run->lock
// held. Main thread.
void sb__run_wait(struct sb_run *run, uint64_t until);
// Longest event that has ended so far, in ns.
uint64_t sb__longest_event(const struct sb_run *run);
// Cancels the calls of all users that have not ended; stops trying at `until`.
void sb__run_cancel(struct sb_run *run, uint64_t until);

#define SB__SHOW_EVERY     UINT64_C(1000000000) // ns between calls of searching()
#define SB__PROGRESS_EVERY UINT64_C(250000000) // ns between progress lines

// start.c. Calls check() of the workload before there are users. Returns 0 if
// it succeeds; otherwise *res says how the run ended.
int sb__check_data(struct sb_run *run, struct sb_run_result *res);
// Creates the users. Returns 0 if all are ready (in a parallel command:
// working). Otherwise none of them starts, and *res says how the run ended.
int sb__start_users(struct sb_run *run, struct sb_run_result *res);
// The run was stopped before its users were created: *res says how it ended.
// Returns SB_E*.
int sb__start_interrupted(struct sb_run *run, struct sb_run_result *res);
// Waits until --start-at, or until the run is stopped.
void sb__start_wait(struct sb_run *run);
// Shows how many users are ready. since: creation of the first one.
void sb__start_progress(struct sb_run *run, uint64_t since, uint64_t now);

// run_state.c. Initializes both, with the monotonic clock: 0 or SB_ENOMEM.
int sb__lock_init(pthread_mutex_t *lock, pthread_cond_t *cond);
// sb__run_new() returns NULL if out of memory; sb__run_init() returns 0 or
// SB_ENOMEM. Call sb__run_free() in either case.
struct sb_run *sb__run_new(struct sb_workload *w, const struct sb_run_opts *o,
    struct sb_random_shared *random);
int sb__run_init(struct sb_run *run);
void sb__run_free(struct sb_run *run);

int sb__user_init(struct sb_user *u, struct sb_run *run, unsigned id);
void sb__user_done(struct sb_user *u);
// An error ended the loop of this user, possibly during an event.
void sb__user_failed(struct sb_user *u, const struct sb_err *err);
// Marks errors as ignored that no event will settle.
void sb__user_settle(struct sb_user *u);
// Called once by the user's thread when the run is released.
void sb__user_start(struct sb_user *u);
// Converts the pause of a script to ns; at most a year.
static inline uint64_t sb__pause_ns(double ns)
{
    return ns < 3.2e16 ? (uint64_t)ns : (uint64_t)3.2e16;
}
// Waits until the given time or a stop; returns the current time.
uint64_t sb__user_wait(struct sb_user *u, uint64_t until);
// For a user that is away: waits until the given time. Returns false if the run
// is over, or all of --events are used up.
bool sb__user_await(struct sb_user *u, uint64_t until);

// mix_user.c. Registers the components of a mix, after the recorders were made.
// 0 or SB_ENOMEM; call sb__mix_done() in either case.
int sb__mix_init(struct sb_run *run);
void sb__mix_done(struct sb_run *run);
void sb__mix_user_init(struct sb_user *u);
// By users: the component of this user now. The user's thread.
unsigned sb__mix_of_user(const struct sb_user *u);
// When that changes for user id, in ns since the start of the first stage, from
// ns on; UINT64_MAX: never.
uint64_t sb__mix_until(const struct sb_run *run, unsigned id, uint64_t ns);
// Called when an event is due, by the loop of a component: chooses the
// component of the event. Returns false if it is another one, and keeps the
// event for it.
bool sb__mix_here(struct sb_user *u, uint64_t arrival, uint64_t now);
// The event in progress has started, or was completed.
void sb__mix_started(struct sb_user *u);
void sb__mix_completed(struct sb_user *u, uint64_t now);

// Parts of a search for the rate ---------------------------------------------

// Part of a probe or trial that is not counted, as a divisor: the server and
// its queue get used to the new rate.
#define SB__SETTLE 4
// A probe continues for this part of its length, so that the users still run
// if the main thread is late to count.
#define SB__PROBE_REST 10

enum sb__part_kind {
    SB__PART_WARMUP,
    SB__PART_PROBE, // of the maximum, in a closed loop
    SB__PART_TRIAL,
    SB__PART_MEASURED // no search any more
};

struct sb__part {
    enum sb__part_kind kind;
    double rate; // 0: a closed loop
    uint64_t at; // its start; 0: now
};

// Of this process, or the sum of all ranks.
struct sb__part_figures {
    double rate; // of a probe: events that were completed per second
    // Of a trial:
    bool late;       // the main thread did not count in time: no outcome
    double growth;   // of the queue while it counted,
    double arrivals; // and expected arrivals meanwhile
    uint64_t left;   // arrivals that no user has started
    struct sb_snap sum;
};

// rate_part.c. Carries out a part, from its start until all users are at the
// gate again (SB__PART_MEASURED: only its start). Returns false if the run is
// over. The caller frees f->sum.
bool sb__rate_part(struct sb_run *run, struct sb_meter *m,
    const struct sb__part *part, struct sb__part_figures *f);
bool sb__rate_no_memory(struct sb_run *run); // fails the run; false

// gate.c: users wait there between the parts of a search, while the main thread
// changes what they use. Called by a user that has nothing to do in this part.
// Returns true if the next part has begun, false if the run is over for it.
bool sb__gate_wait(struct sb_user *u);
// Lets the users go, for arrivals before `end`, and events that begin before
// `close`: times in ns since the start of the part; UINT64_MAX: no limit. Main
// thread, as the following.
void sb__gate_open(struct sb_run *run, const struct sb__part *part,
    uint64_t end, uint64_t close);
// Waits until the time. Returns false if the run is over.
bool sb__gate_sleep(struct sb_run *run, uint64_t until);
// Waits until all users are at the gate; at most until the time. Returns false
// if the run is over or they were not there in time, which fails the run.
bool sb__gate_meet(struct sb_run *run, uint64_t limit);

// rate_search.c: from the release of the users to the start of the measured
// part. Returns false if the run is over.
bool sb__rate_search(struct sb_run *run, struct sb_meter *m);

// Starts a thread for each user and shows how many users are ready. Returns 0,
// or SB_ELIMIT naming the limit. A stop of the run ends it early: run->made is
// the number of threads then.
int sb__workers_start(struct sb_run *run, struct sb_err *err);
// thread_error.c. Writes the likely reason why pthread_create() failed: rc is
// its return value, stack the requested stack size in bytes.
void sb__thread_error(int rc, size_t stack, char *out, size_t size);
// Joins every user that has ended; returns true if all have.
bool sb__workers_join(struct sb_run *run);

// The reporting side of a run, in the main thread.
struct sb_meter {
    struct sb_run *run;
    struct sb_snap last;       // at the last interval line
    struct sb_snap checkpoint; // at the last checkpoint, zero before
    struct sb_op_reader ops;   // of the phase, if the listener wants them
    uint64_t phase_start;      // of the phase being reported
    enum sb_phase phase;
    uint64_t interval; // ns between interval reports, 0: none
    uint64_t next_tick, next_checkpoint;
    uint64_t key; // of a job: planned end of the last interval, since the start
    size_t checkpoint_no;
    sb_pace_pos border;   // last position of the schedule before this phase
    sb_pace_pos walked;   // position up to which arrivals were counted
    uint64_t scheduled;   // arrivals counted in this phase,
    uint64_t until;       // which were due by this time
    struct sb_err broken; // the first identity that a report violated
    // --stages:
    uint64_t next_stage;        // end of the stage in progress
    unsigned stage;             // its number
    struct sb_snap stage_snap;  // at its start
    struct sb_report *stages;   // of the stages that have ended
    struct sb_snap *stage_diff; // behind them
    unsigned nstages;
    // The warning that the table of operations or metrics is full was printed.
    bool told_ops, told_metrics;
};

void sb__meter_init(struct sb_meter *m, struct sb_run *run);
void sb__meter_done(struct sb_meter *m);
// Called when the users were released, at run->t0.
void sb__meter_start(struct sb_meter *m);
// Returns the time of the next report.
uint64_t sb__meter_next(const struct sb_meter *m);
// Prints the reports that are due at `now`.
void sb__meter_tick(struct sb_meter *m, uint64_t now);
// A part of the search begins: only this part is in the final report if the run
// ends in it. Call while no user runs. 0 or SB_ENOMEM.
int sb__meter_part(struct sb_meter *m);
// The search of the rate is over: the measured part began at run->t0.
void sb__meter_measured(struct sb_meter *m);
// Prints the final report. If the run has not failed, first checks the share
// of failed events and, if every user has ended, the identities; the error is
// stored in res->err. until: arrivals due by then were scheduled.
void sb__meter_final(struct sb_meter *m, uint64_t now, uint64_t until,
    bool all_ended, struct sb_run_result *res);

// Takes a snapshot of the current phase. until: arrivals due by then were
// scheduled.
int sb__meter_snapshot(struct sb_meter *m, struct sb_snap *s,
    enum sb_snap_detail detail, const struct sb_snap *earlier, uint64_t now,
    uint64_t until);
// Fills in a report of diff, which ended at s.
void sb__meter_report(struct sb_meter *m, struct sb_report *r,
    const struct sb_snap *diff, const struct sb_snap *s);

// Reports what has happened since the last checkpoint: diff, which ends at s.
// s becomes the start of the next checkpoint. failure: for a final report, why
// the run failed.
void sb__meter_cumulative(struct sb_meter *m, struct sb_snap *s,
    const struct sb_snap *diff,
    void (*tell)(void *data, const struct sb_report *r), bool final,
    const char *failure);
// Inconsistent figures fail the run at its end.
void sb__meter_check_printed(struct sb_meter *m, const struct sb_snap *diff);
// Decides whether the run was successful, from the figures of the whole run,
// s, and those to be printed, diff. left: arrivals that were due and not
// started. Figures of users that are still busy may change, so they are not
// checked.
void sb__meter_check_success(struct sb_meter *m, const struct sb_snap *s,
    const struct sb_snap *diff, uint64_t left, bool all_ended,
    struct sb_run_result *res);
// Fills in a report of figures that ended at `now`: of the sum over all ranks,
// or without a job, of this process.
void sb__meter_sum_report(struct sb_run *run, struct sb_report *r,
    const struct sb_snap *sum, uint64_t now, bool warmup);
// The users of this process, or of all ranks of a job, that run until the end.
unsigned sb__meter_users_at_end(const struct sb_run *run);

// meter_joint.c, only for a job. Gives an interval of this rank to the others.
// partial: the rest of one.
void sb__meter_share_interval(
    struct sb_meter *m, const struct sb_snap *diff, uint64_t now, bool partial);
// Gives what precedes a checkpoint to rank 0: diff, which ends at s. s becomes
// the start of the next one.
void sb__meter_share_checkpoint(
    struct sb_meter *m, struct sb_snap *s, const struct sb_snap *diff);
// Reports the sum over all ranks of what precedes a checkpoint.
void sb__meter_checkpoint_sum(
    struct sb_meter *m, unsigned number, const struct sb_snap *sum);
// The final report of all ranks, with the figures of this one: s, and the
// difference to the last checkpoint. 0 or SB_ENOMEM.
int sb__meter_joint_end(struct sb_meter *m, const struct sb_snap *s,
    const struct sb_snap *diff, uint64_t left, bool all_ended,
    struct sb_run_result *res);

// meter_stages.c. Called when the measured part begins.
void sb__meter_stages_start(struct sb_meter *m);
void sb__meter_stages_done(struct sb_meter *m);
// Fills in the stage of a report that ended at `now`.
void sb__meter_stage_of(
    const struct sb_run *run, struct sb_report *r, uint64_t now);
// Ends the stage in progress, if any, at snapshot s: makes its report and
// passes it to the listener. 0 or SB_ENOMEM.
int sb__meter_stage_end(struct sb_meter *m, const struct sb_snap *s);
// Of a job: the sum over all ranks of a stage that has ended. Takes over *sum.
void sb__meter_stage_sum(
    struct sb_meter *m, unsigned stage, struct sb_snap *sum);
// The end of a stage is due. until: as for sb__meter_snapshot().
void sb__meter_stage_due(struct sb_meter *m, uint64_t now, uint64_t until);

#endif
