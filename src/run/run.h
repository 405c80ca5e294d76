// SPDX-License-Identifier: GPL-2.0-or-later
//
// A run: users in worker threads, paced, warmed up, measured and stopped. It
// does not depend on databases, Lua or output formats.
#ifndef SB_RUN_H
#define SB_RUN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/random.h"
#include "measure/pace.h"
#include "measure/search.h"
#include "measure/share.h"
#include "measure/snap.h"
#include "run/mix.h"
#include "run/stages.h"
#include "run/user.ffi.h"
#include "run/workload.h"

struct sb_fiber_waits;
struct sb_prefetch;
struct sb_job;
struct sb_run;

enum sb_pace_mode { SB_PACE_AUTO, SB_PACE_SLEEP, SB_PACE_SPIN };
enum sb_worker_policy { SB_POLICY_AUTO, SB_POLICY_BATCH, SB_POLICY_NORMAL };

// The options of a run, filled from the three tables below. Durations in
// nanoseconds.
struct sb_run_opts {
    int64_t threads;
    const char *workers; // "users": a thread for each; "auto", "processors",
                         // or a number
    bool auto_loops;     // what "auto" means, set before the run: event loops,
                         // one per processor, or a thread for each user
    int event_loop;      // enum sb_loop_kind
    int worker_policy;   // enum sb_worker_policy
    int64_t events;      // 0: no limit
    int64_t time;        // 0: no limit
    int64_t warmup_time;
    const char *forced_shutdown; // "off", "N" seconds, "N%" of time
    int64_t forced_shutdown_ns;  // derived; < 0: off
    int64_t thread_stack_size;
    int64_t thread_init_timeout;
    double rate;            // 0: closed loop; see SB_OPT_RATE
    double rate_percent;    // derived: --rate=80%, else 0
    bool rate_search;       // derived: --rate=max
    const char *rate_limit; // text; "" without a search
    int64_t rate_probe_time, rate_trial_time;
    int64_t rate_trials;     // maximum
    double rate_tolerance;   // percent
    const char *stages_text; // "": none
    struct sb_stages stages; // derived; threads and time include theirs
    struct sb_share share; // derived; ranks 0: the whole run. Other numbers of
                           // this struct are those of the whole run
    int64_t start_at;      // wall clock, ns since 1970; 0: as soon as all
                           // users are ready
    // The other ranks, over MPI, and the function that joins the run to them:
    // sb_ranks_join(). Set by the caller; NULL: this process alone.
    struct sb_job *job;
    int (*join)(struct sb_run *run);
    struct sb_mix mix; // of --mix, set by the caller; n = 0: no mix
    int arrivals;      // enum sb_pace_kind
    int pace;          // enum sb_pace_mode
    int64_t report_interval;
    struct sb_opt_list report_checkpoints;
    const char *think_time; // text of a time distribution, "" for none
    int64_t max_restarts;   // 0: no limit
    int64_t restart_backoff;
    double max_failed;      // percent of events that may fail
    int64_t shutdown_grace; // minimum wait for calls at the end
    bool debug;
    bool validate;
};

extern const struct sb_opt_table sb_run_opt_table, sb_rate_opt_table,
    sb_worker_opt_table;

// Derives values, and checks what depends on several options. time_given: the
// user gave a time. requests_given: the user gave --max-requests, which without
// a time removes the time limit as it did in sysbench 0.5. SB_EUSAGE /
// SB_ERANGE.
int sb_run_opts_finish(struct sb_run_opts *o, bool time_given,
    bool requests_given, struct sb_err *err);

// Returns the number of workers with event loops for this number of users; 0:
// each user has a thread.
unsigned sb_run_opts_workers(
    const struct sb_run_opts *o, unsigned users, unsigned processors);

// Whether the scheduling policy of workers is SCHED_BATCH.
bool sb_run_opts_batch(const struct sb_run_opts *o);

// Whether a run measures the maximum, or searches its rate, before its measured
// part; and whether its measured part is an open loop.
bool sb_run_opts_finds_rate(const struct sb_run_opts *o);
bool sb_run_opts_open_loop(const struct sb_run_opts *o);

// How long the parts before the measured part take, in ns, if none is delayed;
// of a search: with all its trials.
uint64_t sb_rate_search_ns(const struct sb_run_opts *o);

// How the users of a run were run. The texts are static.
struct sb_run_workers {
    unsigned n;             // workers with event loops; 0: each user has a
                            // thread, and the texts are NULL
    const char *event_loop; // "io_uring", "epoll", or "mixed" if the system
                            // gave only some workers io_uring
    const char *policy;     // that the workers have: "normal", "batch", ...
};

// Callbacks, called in the main thread. Any may be NULL.
struct sb_listener {
    void *data;
    // Notifications. A report is complete.
    void (*connecting)(void *data); // before users are created
    // All users of this process are ready. Before started().
    void (*workers)(void *data, const struct sb_run_workers *w);
    void (*started)(void *data); // all users are ready
    void (*warmup)(void *data, int64_t ns);
    // --rate=80% and --rate=max. Called about once per second before the
    // measured part; the maximum was measured, or a trial has ended; the
    // measured part begins.
    void (*searching)(void *data, const struct sb_searching *now);
    void (*rate_found)(void *data, const struct sb_rate_search *f);
    void (*measured)(void *data, const struct sb_rate_search *f);
    void (*interval)(void *data, const struct sb_report *r);
    void (*checkpoint)(void *data, const struct sb_report *r);
    // A stage has ended: its figures. Also called for the last one.
    void (*stage)(void *data, const struct sb_report *r);
    // The result that sb_run() fills is complete, but for what done() adds.
    void (*final)(void *data, const struct sb_report *r);
    // Questions. stop(), after each interval(): whether the run ends as by its
    // time limit. judge(): whether r, a trial of --rate=max or the final
    // report, keeps the limits; sets the value of the first limit, and the
    // number of the first one that was not kept.
    bool (*stop)(void *data);
    bool (*judge)(
        void *data, const struct sb_report *r, double *value, unsigned *missed);
    const char *judge_unit; // of the values
    // interval() gets operations and error codes, too (r->snap->op and code).
    bool operations;
    // Call interval() also for what is left at the end of the warm-up and of
    // the run, with r->partial, so that the intervals add up to the totals.
    bool partial;
    // If there is no --report-interval: nanoseconds between calls of
    // interval(), 0 for none.
    int64_t interval_ns;
};

// Why a run ended.
enum sb_run_end {
    SB_END_LIMIT,  // --time or --events
    SB_END_SCRIPT, // every user's loop ended by itself
    SB_END_SIGNAL, // SIGINT or SIGTERM
    SB_END_FAILED, // an error ended it
    SB_END_FORCED, // --forced-shutdown, --thread-init-timeout, or calls that
                   // only returned after they were canceled
    SB_END_HUNG,   // calls did not return after they were canceled
};

struct sb_run_result {
    enum sb_run_end end;
    int signal;        // SB_END_SIGNAL
    bool unjoined;     // threads are still running: end by _exit()
    struct sb_err err; // SB_END_FAILED: the first error
    bool told;         // it was printed: sb_user_tell_failure()
};

// Runs the workload: begin, users, reports, end. Once events have started,
// there is a final report, however the run ends. Blocks SIGINT and SIGTERM
// during the run: the first one stops it, the second one ends the process at
// once with status 130 or 143. Main thread. Returns 0, or SB_E* if the run
// could not start or failed (as in res->err).
int sb_run(struct sb_workload *w, const struct sb_run_opts *o,
    struct sb_random_shared *random, const struct sb_listener *l,
    struct sb_run_result *res);

// From now on, an overflow of the main thread's stack ends the process with a
// message and status 1. Main thread, once, before it runs a script.
void sb_run_guard_main(void);

// The workload of a mix: its parts, by component, which must outlive it. Slots
// are the numbers of components.
struct sb_mixed {
    struct sb_workload workload; // for sb_run() with o->mix
    const struct sb_mix *mix;
    struct sb_workload *part[SB_MIX_MAX];
};

// Fills m->workload for m->mix and m->part.
void sb_mixed_init(struct sb_mixed *m);

// Runs `task` once in each of o->threads users at the same time, without pace,
// limits and reports: a parallel command. command: "prepare", for progress and
// messages. Ends early if one fails or a signal arrives.
int sb_run_parallel(struct sb_workload *w, const char *command,
    const struct sb_run_opts *o, struct sb_random_shared *random,
    int (*task)(struct sb_workload *w, struct sb_user *u, struct sb_err *err),
    struct sb_run_result *res);

// A virtual user: what workloads may use of it.
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
