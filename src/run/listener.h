// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the caller of a run learns from it: calls while it is in progress, and
// its result.
#ifndef SB_LISTENER_H
#define SB_LISTENER_H

#include <stdbool.h>

#include "base/err.h"
#include "measure/search.h"
#include "measure/snap.h"

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
    // The warm-up, or the search, is over: the users wait until this returns,
    // and then for the time in ns that it returns; then the measured part
    // begins. It must return soon after *stop becomes true, which ends the run.
    // Not called with several processes, or with stages and without a search.
    int64_t (*pause)(void *data, const _Atomic bool *stop);
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

#endif
