// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the sampler and its tests.
#ifndef SB_SAMPLER_PRIVATE_H
#define SB_SAMPLER_PRIVATE_H

#include <pthread.h>

#include "db/explain.h"
#include "db/inspect.h"
#include "db/internal.h"
#include "db/probe.h"
#include "db/sampler.h"
#include "db/server_waits.h"
#include "db/statements.h"

#define TARGETS_MAX 32u
#define MISSING_MAX 8u

// What a thread has done since the start of the measured part. Used by that
// thread only.
struct sb__sampler_rebased {
    bool tried; // to take the first sample
    bool done;
};

// A server, which has a thread of its own.
struct sb__sampler_target {
    struct sb_sampler *s;
    struct sb__probe *probe; // used by the thread only, except to cancel
    struct sb__waits_sampler *waits; // used by another thread; NULL: not wanted
    pthread_t thread, waits_thread;
    // Protected by the lock of the sampler:
    bool has_thread, has_waits_thread;
    bool tried; // the first attempt to describe the server has ended
    bool same;  // another target has the same counters
    struct sb_server_facts facts;
    char suffix[400]; // of the names of its counters
    unsigned samples; // that were complete
    // Before and after the measured part; the latter of the last attempt.
    struct sb_inspected before, after;
    unsigned looks; // as in struct sb_inspection
    double waiters;
    struct sb_plans plans_before, plans_after;
    struct sb_statements counted; // of statements, before it
    uint64_t counted_late;        // ns: sb_sampler_growth.late_s
    struct sb_statements_growth growth;
    bool last; // what follows the run was asked, or failed
    // Used by the thread only:
    bool described, warned;
    bool inspected;    // before the run, or the server failed to answer
    uint64_t based_at; // when it had answered; 0: before the users connected
    bool explained;    // before the run, or it is too late
    // Rates begin with a sample after this time: before, the totals of a server
    // that is late lack what the users do. 0: not sampled yet.
    uint64_t settled_at;
    bool settled;
    unsigned base; // enum sb__counters_base, of the sample in progress
    struct sb__sampler_rebased rebased;
    char missing[MISSING_MAX][64]; // sources that were reported
    unsigned nmissing;
};

struct sb_sampler {
    struct sb_sampler_setup setup;
    bool samples;         // false: facts only
    uint64_t period;      // ns between two samples
    uint64_t started;     // when the users were ready
    pthread_mutex_t lock; // protects what follows
    pthread_cond_t changed;
    bool stop, joined, left;
    bool last;            // a last sample of each server is asked for
    bool searched;        // the finder has looked for servers at least once
    unsigned running;     // threads
    uint64_t phase;       // samples are taken at this time modulo the period
    uint64_t measured_at; // start of the measured part; UINT64_MAX: unknown
    uint64_t plans_at;    // when plans are explained before it, in the same way
    struct sb__counters table;
    bool full_warned;
    bool *found; // which items of --server-stats have matched a counter
    bool found_warned;
    struct sb__sampler_target *target[TARGETS_MAX];
    size_t ntargets;
    // The server whose counters have plain names. It stays the same, also if an
    // earlier one answers later.
    const struct sb__sampler_target *plain;
    // Instances with a reference each; the first `searched_insts` have targets.
    // Used by the finder.
    struct sb__inst *inst[TARGETS_MAX];
    size_t ninsts, searched_insts;
    struct sb__process process;         // used by the finder
    struct sb__sampler_rebased rebased; // of the process
    bool base; // its sample in progress is the first one of the measured part
    pthread_t finder;
};

// Waits for a change of the sampler, at most until ns. The lock is held.
void sb__sampler_wait_until(struct sb_sampler *s, uint64_t ns);
// Waits for the sample of t after one that began at `last` and ends now, at
// most until `limit`. t may be NULL. Returns false if the sampler is stopped.
bool sb__sampler_wait_next(struct sb_sampler *s,
    const struct sb__sampler_target *t, uint64_t last, uint64_t limit);
// A sample begins at `now`. Returns true if it is the first one of the measured
// part, and was not taken yet (r->done).
bool sb__sampler_is_base(
    struct sb_sampler *s, struct sb__sampler_rebased *r, uint64_t now);
// Whether the sampler was told to stop. Any thread.
bool sb__sampler_stopped(struct sb_sampler *s);
// Called last by each thread of the sampler.
void sb__sampler_thread_ends(struct sb_sampler *s);
// Warns, once, of patterns of --server-stats that match no counter, if each
// server has been sampled `samples` times, and at least one was.
void sb__sampler_check_found(struct sb_sampler *s, unsigned samples);
// Whether two targets are connected to the same server.
bool sb__sampler_same(
    const struct sb_server_facts *a, const struct sb_server_facts *b);
// Returns the first server that has an address, which the null driver has not;
// NULL: none is known. The lock is held.
const struct sb__sampler_target *sb__sampler_first(const struct sb_sampler *s);
// The thread of a server. arg: its target.
void *sb__sampler_target_main(void *arg);

#endif
