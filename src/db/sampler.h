// SPDX-License-Identifier: GPL-2.0-or-later
//
// The sampler asks the servers that a script uses about themselves: once for
// their facts, and once per interval for their counters. It has threads and
// connections of its own, so a server that does not answer delays neither the
// load nor the reports. All functions belong to the main thread, except where
// stated.
#ifndef SB_DB_SAMPLER_H
#define SB_DB_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/option.h"
#include "db/counters.h"
#include "db/explain.h"
#include "db/inspect.h"
#include "db/probe.h"
#include "db/server_waits.h"
#include "db/statements.h"

struct sb_drivers;

// "Server statistics options"
struct sb_sampler_opts {
    struct sb_opt_list stats; // --server-stats
    const char *pid;          // --server-pid, "" for none
    bool waits;               // --server-waits
    int statements;           // --server-statements, enum sb_sampler_statements
};

enum sb_sampler_statements {
    SB_STATEMENTS_AUTO, // if a result file is written and the server has them
    SB_STATEMENTS_ON,
    SB_STATEMENTS_OFF,
};

extern const struct sb_opt_table sb_sampler_opt_table;

// Checks the values. 0 or SB_EUSAGE.
int sb_sampler_check(const struct sb_sampler_opts *o, struct sb_err *err);

// True if counters of servers are sampled. wanted: a result file or another
// report shows the counters. --server-stats=auto then means `default`,
// otherwise `off`.
bool sb_sampler_samples(const struct sb_sampler_opts *o, bool wanted);

struct sb_sampler_setup {
    struct sb_drivers *drivers;         // outlives the sampler
    const struct sb_sampler_opts *opts; // outlives the sampler
    bool wanted;       // as above; the facts are always asked for
    unsigned inspects; // servers are asked for these parts before and after the
                       // run: 1u << enum sb_inspect_part
    struct sb_first_look *first; // of a server; NULL: none. The sampler takes
                                 // what was seen and counted
    bool statements;   // the counts of statements are read before and after it
    uint64_t interval; // ns between two reports, more than 0; samples are at
                       // least 100 ms apart
};

struct sb_sampler;

// Starts the sampler. It finds the servers by itself: those to which the script
// has opened connections, also later ones. Its connections are opened at once,
// so users should have theirs. Returns NULL with *err filled on failure, also
// if --server-pid names a process that does not exist.
struct sb_sampler *sb_sampler_start(
    const struct sb_sampler_setup *setup, struct sb_err *err);

// An interval of the reports has ended at `end` (CLOCK_MONOTONIC in ns). Visits
// the counters in order of their appearance: the same counter always has the
// same index. A rate covers the time since the sample of which an earlier
// interval got the value. A counter without a new sample in the interval before
// `end` has no value; what it counts is part of the next value. From now on
// samples are taken shortly before `end` plus a multiple of the interval, so
// that a report finds a fresh one, if intervals are at least 100 ms. visit may
// be NULL; it is called with a lock held and must not wait.
void sb_sampler_interval(struct sb_sampler *s, uint64_t end,
    void (*visit)(void *arg, unsigned index, const struct sb_server_value *v),
    void *arg);

// The measured part begins at `at` (CLOCK_MONOTONIC in ns), which may be in the
// future. Each server is sampled then, and totals grow from that sample. If
// `at` is not in the future, the next values cover the time from now on, and
// not the time since the last interval.
void sb_sampler_rebase(struct sb_sampler *s, uint64_t at);
// The run is over: takes one more sample of each server that has answered
// before, for the counts that the last interval lacks, and inspects it. Waits
// for this, at most `ns`.
void sb_sampler_last(struct sb_sampler *s, uint64_t ns);

// Visits the totals: by how much each has grown since the measured part began,
// or since its first sample if that is later or the run ended before. The names
// are valid until the sampler is freed.
void sb_sampler_totals(struct sb_sampler *s,
    void (*visit)(void *arg, const char *name, double growth), void *arg);

// What sessions were waiting for, with opts->waits. Visits the mean number of
// sessions by class of waits in the samples since the last call: as for the
// counters, classes of further servers have names with an address.
void sb_sampler_waits_interval(struct sb_sampler *s,
    void (*visit)(void *arg, const char *name, double sessions), void *arg);

// Returns what the samples of waits have shown, once per server: an array of
// *n, which the caller frees, after sb_server_waits_done(). NULL: no memory.
// end: of the measured part (CLOCK_MONOTONIC in ns). Once, after
// sb_sampler_stop().
struct sb_server_waits *sb_sampler_waits(
    struct sb_sampler *s, uint64_t end, unsigned *n);

// Visits the servers, one entry for each address. Those that have not answered
// (yet) have empty fields. Does not wait. The facts are valid during the visit.
// Any thread.
void sb_sampler_servers(struct sb_sampler *s,
    void (*visit)(void *arg, const struct sb_server_facts *f), void *arg);

// What a server said when the measured part began and after it.
struct sb_inspection {
    char driver[32], address[256];
    bool documents;   // as sb_server_facts
    bool embedded;    // there is no server
    uint64_t late_ns; // by how much totals may be late
    struct sb_inspected before, after;
    // Looks at sessions that wait for locks during the measured part, and the
    // sum of SB_FACT_LOCK_WAITERS: of servers that say this.
    unsigned looks;
    double waiters;
    struct sb_plans plans_before, plans_after;
};

// Returns what the servers said, once per server and database, in the same way.
struct sb_inspection *sb_sampler_inspections(struct sb_sampler *s, unsigned *n);
void sb_inspection_done(struct sb_inspection *i);

// What a server has counted of statements in the measured part.
struct sb_sampler_growth {
    char driver[32], address[256];
    // How long it had been in progress when the first reading was complete: 0,
    // if that was before the users connected.
    double late_s;
    struct sb_statements_growth growth;
};

// Returns it, once per server and database, also if nothing is known, in the
// same way.
struct sb_sampler_growth *sb_sampler_statements(
    struct sb_sampler *s, unsigned *n);

// Waits until each server has answered once, or failed to, but at most `ns`:
// for the facts of a run that was very short.
void sb_sampler_wait(struct sb_sampler *s, uint64_t ns);

// Ends sampling, in at most about two seconds, also if a server hangs. The
// values can still be read. Returns false if a thread could not be ended: it
// still uses the drivers, so the process must end by _exit().
bool sb_sampler_stop(struct sb_sampler *s);

// Stops and frees the sampler; after a failed stop, its memory stays. NULL
// allowed.
void sb_sampler_free(struct sb_sampler *s);

#endif
