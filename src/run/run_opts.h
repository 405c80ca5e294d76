// SPDX-License-Identifier: GPL-2.0-or-later
//
// The options of a run.
#ifndef SB_RUN_OPTS_H
#define SB_RUN_OPTS_H

#include <stdbool.h>

#include "base/option.h"
#include "measure/share.h"
#include "run/mix.h"
#include "run/stages.h"

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

#endif
