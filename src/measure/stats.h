// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a run records. Each user owns one struct sb_rec: counters with a single
// writer, and histograms. If there are few users, each has histograms of its
// own; otherwise users share them (shards, see sb_stats_shards). Everything is
// cumulative: readers take snapshots and subtract them; nothing is ever reset.
// Recording takes no lock and allocates no memory.
//
// Identities, checked at the end of every run (sb_snap_check):
//     scheduled = started + skipped + pending
//     started   = completed + failed + unfinished
//     tries     = started + restarts
//     queries   = reads + writes + others
//     errors    = ignored + restarted + given up + fatal = sum over codes
//     sums over users = totals; sum over histogram buckets = completed;
//     count of each operation = count of its histogram, and is not less than
//     hits + misses; client delays = count of their histogram; count of each
//     distribution = count of its histogram; in a mix: completed, failed and
//     restarts = sums over its workloads
#ifndef SB_STATS_H
#define SB_STATS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/hist.h"
#include "measure/metrics.h"

#define SB_OPS_MAX \
    1024                // maximum number of operations in a run; with more
                        // than 1,000 users it is lower (sb_stats_op())
#define SB_CODES_MAX 16 // maximum number of error codes kept per user
// The operation, and the driver of the error code, that collect the rest.
#define SB_OPS_REST "(others)"

// Single-writer cumulative counters. Times in nanoseconds.
#define SB_COUNTER_MAP(X)                                                   \
    X(started)         /* events that were started */                       \
    X(completed)       /* events that returned and are counted */           \
    X(failed)          /* events given up or ended by a fatal error */      \
    X(cut_short)       /* failed because the run ended before a retry */    \
    X(tries)           /* calls of event(), restarts included */            \
    X(restarts)        /* tries after the first */                          \
    X(reads)           /* queries that returned rows */                     \
    X(writes)          /* queries that changed rows */                      \
    X(others)          /* all other queries */                              \
    X(err_ignored)     /* errors after which the event continued */         \
    X(err_restarted)   /* errors that restarted their event */              \
    X(err_givenup)     /* errors after which the event was given up */      \
    X(err_fatal)       /* errors that ended the run */                      \
    X(reconnects)      /* lost connections that were opened again */        \
    X(bytes_read)      /* by scripts and built-in tests that count bytes */ \
    X(bytes_written)   /* by scripts and built-in tests that count bytes */ \
    X(service_ns)      /* sum of service times of completed events */       \
    X(response_ns)     /* sum of response times; open loop only */          \
    X(lag_ns)          /* sum of lags; open loop only */                    \
    X(client_delays)   /* answers whose client delay is known */            \
    X(client_delay_ns) /* sum of client delays */

struct sb_counters { // plain copy
#define X(name) uint64_t name;
    SB_COUNTER_MAP(X)
#undef X
};

struct sb_tally { // live counters
#define X(name) _Atomic uint64_t name;
    SB_COUNTER_MAP(X)
#undef X
    // Exact extremes of completed events; min is UINT64_MAX before the first.
    _Atomic uint64_t service_min, service_max;
    _Atomic uint64_t response_min, response_max;
    _Atomic uint64_t lag_min, lag_max;
    _Atomic uint64_t client_delay_min, client_delay_max;
    // Completed events whose times are in the histograms. Written after the
    // histograms, with release, so it never exceeds what they hold.
    _Atomic uint64_t recorded;
};

static inline void sb_tally_add(_Atomic uint64_t *c, uint64_t n)
{
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n,
        memory_order_relaxed);
}

// The kind that an operation is registered with.
enum sb_op_kind {
    SB_OP_READ,
    SB_OP_WRITE,  // adds rows: INSERT, REPLACE
    SB_OP_CHANGE, // changes or deletes existing rows: UPDATE, DELETE
    SB_OP_OTHER,
    SB_OP_CUSTOM,
    SB_OP_WORKLOAD // whole events of a component of a mix
};

// How a query is counted.
enum sb_query { SB_QUERY_READ, SB_QUERY_WRITE, SB_QUERY_OTHER };

// The outcome of an execution that looks for rows.
enum sb_found {
    SB_FOUND_UNKNOWN, // does not look for rows, or unknown
    SB_FOUND_ROWS,    // a hit
    SB_FOUND_NOTHING, // a miss
};

// What the database answered to a query.
struct sb_answer {
    enum sb_query query;
    enum sb_found found;
    uint64_t rows; // returned or changed
};

// One user's part of an operation, in a cache line of its own.
struct sb_op_tally {
    _Alignas(64) _Atomic uint64_t count;
    _Atomic uint64_t errors, ns, min, max;
    _Atomic uint64_t hits, misses;
    _Atomic uint64_t rows; // returned or changed
};

// What else a user counts for SB_OP_WORKLOAD: events.
struct sb_workload_tally {
    _Alignas(64) _Atomic uint64_t failed;
    _Atomic uint64_t restarts;
    _Atomic uint64_t cut_short; // of the failed ones
};

// An error code as counted by one user; n is published with release.
struct sb_code_tally {
    int native;
    char state[8];
    char driver[16];
    char sample[96];   // text of the first one
    uint64_t first_ns; // time of the first one, on the run's clock
    _Atomic uint64_t count;
    _Atomic uint64_t lost; // of them: see sb_err_is_loss()
};

struct sb_stats;

// Limits for the times that a recorder holds back: their number, and how long.
#define SB_REC_LATER    32u
#define SB_REC_LATER_NS 1000000u

enum sb_rec_gate {
    SB_REC_OPEN,
    SB_REC_INSIDE, // its user makes a change that reports must see as a whole
    SB_REC_CLOSED, // the last report reads it; no more changes
};

struct sb_rec {
    _Alignas(64) struct sb_tally tally;
    struct sb_stats *stats;
    struct sb_hist *service;        // this user's, or its shard
    struct sb_hist *response, *lag; // NULL in a closed loop
    struct sb_hist *client_delay;   // NULL if the user has a thread of its own
    // Owner only: sum of all client delays, and of those before the event in
    // progress.
    uint64_t delayed, delayed_before;
    uint64_t open_errors; // their fate is not decided yet; owner only
    unsigned user, shard;
    struct sb_code_tally *codes; // SB_CODES_MAX; the last one collects the rest
    _Atomic uint32_t ncodes;
    // 1 + operation that counts the errors, the failure and the restarts of
    // this event, 0: none.
    int workload;
    // Times that are not in the histograms yet. Each bucket is a cache line of
    // its own, which is cold after a call to a server. Recording several at
    // once is faster, because the cache misses overlap. An entry is
    //     rows << 54 | found << 52 | (op + 1) << 40 | ns
    // where op + 1 = 0 stands for the service time of an event, and
    // SB__LATER_DELAY for a client delay.
    _Atomic uint32_t nlater;
    // Which side may change or read the recorder, enum sb_rec_gate.
    _Atomic uint32_t gate;
    uint64_t flushed_ns; // time of the last flush; owner only
    _Atomic uint64_t later[SB_REC_LATER];
};

// The number of bytes at the beginning of a recorder that events use most,
// including the first entries of `later`.
#define SB_REC_HOT (offsetof(struct sb_rec, later) + 64)

// The outcome of an error for its event.
enum sb_fate {
    SB_FATE_IGNORED,
    SB_FATE_RESTARTED,
    SB_FATE_GIVENUP,
    SB_FATE_FATAL,
};

struct sb_op {
    char name[96];
    enum sb_op_kind kind;  // as registered; reads, writes, others count results
    struct sb_hist *shard; // one per shard
    struct sb_op_tally *tally; // one per user
    // One per user; NULL if the kind is not SB_OP_WORKLOAD.
    struct sb_workload_tally *workload;
};

struct sb_stats {
    unsigned users, shards;
    bool open_loop;
    struct sb_rec *rec;                       // one per user
    struct sb_hist *service, *response, *lag; // one per shard
    struct sb_hist *client_delay;             // the same; NULL: not known
    // Allocated for SB_OPS_REST until it is registered.
    struct sb_hist *others;
    struct sb_op_tally *others_tally;
    struct sb_code_tally *codes; // of all users; untouched without errors
    pthread_mutex_t op_lock;     // registration only
    struct sb_op op[SB_OPS_MAX];
    uint32_t op_hash[SB_OPS_MAX]; // of the names
    _Atomic uint32_t nops;        // published with release
    struct sb_stats *primary;     // where operations are registered
    struct sb_stats *twin;        // also registered here, with the same number
    struct sb_metrics metrics;
};

// Returns the number of histogram shards for this number of users and
// processors: one per user up to four users per processor; otherwise 8 to 64.
// Times that vary touch hundreds of pages of each shard.
unsigned sb_stats_shards(unsigned users, unsigned processors);

// shards: 1 to users; user n records in shard n mod shards. 0 or SB_ENOMEM.
int sb_stats_init(
    struct sb_stats *s, unsigned users, unsigned shards, bool open_loop);
void sb_stats_done(struct sb_stats *s); // {0} allowed
// Client delays will be known: users share threads. Before anything is
// recorded. 0 or SB_ENOMEM.
int sb_stats_add_delays(struct sb_stats *s);

// Makes both assign the same numbers to operations, so that a user can move
// from one to the other (from warm-up to the measured part) with its
// statements. Call it before any operation is registered.
void sb_stats_twin(struct sb_stats *primary, struct sb_stats *twin);

// Returns the number of the operation with this name or text, and registers it
// on first use, as sb_utf8_name() shows it.
// SB_OP_WORKLOAD has names of its own; all other kinds share theirs, and the
// first one stays. Any thread. Takes a lock and allocates: not for use per
// event. If the table is full, or memory runs out, SB_OPS_REST becomes the last
// operation and collects the rest. Never fails. Names that are known, and the
// rest, are found without the lock.
int sb_stats_op(struct sb_stats *s, const char *text, enum sb_op_kind kind);
// True if SB_OPS_REST is in use.
bool sb_stats_full(const struct sb_stats *s);

// Records a completed event. In a closed loop arrival == start.
void sb_rec_event(
    struct sb_rec *r, uint64_t arrival, uint64_t start, uint64_t end);
// Records a completed event of a closed loop. The time may be held back in
// r->later until the next call or sb_rec_flush().
static inline void sb_rec_event_later(
    struct sb_rec *r, uint64_t start, uint64_t end);
// Records one execution of an operation.
void sb_rec_op(struct sb_rec *r, int op, uint64_t ns);
// Like sb_rec_op(), for an execution that ended at end_ns, with a hit or a
// miss, and the number of rows that it returned or changed. May be held back,
// too.
static inline void sb_rec_op_found(struct sb_rec *r, int op,
    enum sb_found found, uint64_t rows, uint64_t ns, uint64_t end_ns);
// The same for a query, which is also counted as such.
static inline void sb_rec_query(struct sb_rec *r, int op,
    struct sb_answer answer, uint64_t ns, uint64_t end_ns);
// Records how long an answer waited for its user (client delay), which ran at
// now_ns. Only after sb_stats_add_delays(). May be held back, too.
void sb_rec_delay(struct sb_rec *r, uint64_t ns, uint64_t now_ns);
// The event that begins now has no client delay yet.
static inline void sb_rec_no_delay(struct sb_rec *r)
{
    r->delayed_before = r->delayed;
}
// The client delays of the event in progress, in ns.
static inline uint64_t sb_rec_delayed(const struct sb_rec *r)
{
    return r->delayed - r->delayed_before;
}
// Records all times held back, unless the recorder is closed. Called by the
// user's thread before it waits or ends.
void sb_rec_flush(struct sb_rec *r);
// Enclose a change that the last report must see completely or not at all: the
// end of an event after the end of the run. False: too late, the event does
// not count. No other call that flushes this recorder is allowed in between.
bool sb_rec_enter(struct sb_rec *r);
void sb_rec_leave(struct sb_rec *r);
// For the last report of a run in which some users did not end: from now on,
// no time held back is recorded and no event ends. Waits for a user that is
// between enter and leave, which takes as long as updating a dozen counters.
// Any thread.
void sb_rec_close(struct sb_rec *r);
// Counts an error under its code; sb_rec_settle() decides its fate. times: how
// often it occurred.
void sb_rec_code(struct sb_rec *r, const char *driver, const struct sb_err *err,
    uint64_t times, uint64_t now_ns);
// The same for one failed execution of an operation; op < 0: of none.
void sb_rec_error(struct sb_rec *r, int op, const char *driver,
    const struct sb_err *err, uint64_t now_ns);
// Decides the fate of the open errors when their event ends or is restarted:
// the last one gets the given fate, those before it were ignored. If none is
// open and the fate is not "ignored", the error is the script's own: it is
// first counted under the driver "script", with err (may be NULL). All of them
// are also counted as errors of r->workload.
void sb_rec_settle(struct sb_rec *r, enum sb_fate last,
    const struct sb_err *err, uint64_t now_ns);

// Counts an event that failed, or another try of an event, for the run and for
// r->workload. Both are changes for sb_rec_enter().
void sb_rec_failed(struct sb_rec *r, bool cut_short);
void sb_rec_restarted(struct sb_rec *r);

// The counters of this user for an operation.
struct sb_op_tally *sb_rec_op_tally(const struct sb_rec *r, int op);

// An entry of r->later, decoded.
struct sb__later {
    uint64_t ns, rows;
    // Number + 1; 0: the service time of an event; or SB__LATER_DELAY.
    unsigned op;
    enum sb_found found;
};

// Bits of an entry: the time has 18 minutes, rows 1023.
#define SB__LATER_NS    40
#define SB__LATER_OP    12
#define SB__LATER_FOUND 2
#define SB__LATER_ROWS  10
// Instead of an operation: a client delay.
#define SB__LATER_DELAY ((1u << SB__LATER_OP) - 1)

struct sb__later sb__rec_later_of(uint64_t word);

// Records an execution at once.
void sb__rec_op(
    struct sb_rec *r, int op, enum sb_found found, uint64_t rows, uint64_t ns);

// Holds back a time that ended at end_ns. tag: the bits above it.
static inline void sb__rec_hold(
    struct sb_rec *r, uint64_t tag, uint64_t ns, uint64_t end_ns)
{
    uint32_t n = atomic_load_explicit(&r->nlater, memory_order_relaxed);

    atomic_store_explicit(
        &r->later[n], tag << SB__LATER_NS | ns, memory_order_relaxed);
    atomic_store_explicit(&r->nlater, n + 1, memory_order_release);
    // With client delays, an end may be earlier than the one before it.
    if (n + 1 == SB_REC_LATER ||
        (int64_t)(end_ns - r->flushed_ns) >= (int64_t)SB_REC_LATER_NS) {
        r->flushed_ns = end_ns;
        sb_rec_flush(r);
    }
}

static inline void sb_rec_event_later(
    struct sb_rec *r, uint64_t start, uint64_t end)
{
    if ((end - start) >> SB__LATER_NS) {
        sb_rec_event(r, start, start, end);
        return;
    }
    sb_tally_add(&r->tally.completed, 1);
    sb__rec_hold(r, 0, end - start, end);
}

static inline void sb_rec_op_found(struct sb_rec *r, int op,
    enum sb_found found, uint64_t rows, uint64_t ns, uint64_t end_ns)
{
    if (!(ns >> SB__LATER_NS | rows >> SB__LATER_ROWS))
        sb__rec_hold(r,
            (rows << SB__LATER_FOUND | (uint64_t)found) << SB__LATER_OP |
                ((uint64_t)op + 1),
            ns, end_ns);
    else
        sb__rec_op(r, op, found, rows, ns);
}

static inline void sb_rec_query(struct sb_rec *r, int op,
    struct sb_answer answer, uint64_t ns, uint64_t end_ns)
{
    struct sb_tally *t = &r->tally;

    sb_tally_add(answer.query == SB_QUERY_READ    ? &t->reads
                 : answer.query == SB_QUERY_WRITE ? &t->writes
                                                  : &t->others,
        1);
    sb_rec_op_found(r, op, answer.found, answer.rows, ns, end_ns);
}

#endif
