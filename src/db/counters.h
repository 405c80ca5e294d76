// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which counters are selected, and the table of their latest values. Pure: time
// is a parameter. Not thread-safe: the sampler has a lock.
#ifndef SB_DB_COUNTERS_H
#define SB_DB_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"
#include "db/driver.h"

// Selection ------------------------------------------------------------------

enum sb__picks {
    SB__PICK_NONE,
    SB__PICK_AUTO, // the short lists, if a result file is written
    SB__PICK_SOME, // by the items
};

// Checks the items of --server-stats: off, auto, default, all, and patterns.
// Returns enum sb__picks or SB_EUSAGE.
int sb__picks_check(const struct sb_opt_list *items, struct sb_err *err);
// True if an item selects the counter. short_list: patterns separated by
// commas, for which the item "default" stands; NULL: all.
bool sb__picked(
    const struct sb_opt_list *items, const char *short_list, const char *name);
// Sets found[i] if item i is a pattern that the name matches.
void sb__picks_found(
    const struct sb_opt_list *items, const char *name, bool *found);
// Writes the patterns that were not found, separated by ", ", to out. Returns
// how many there are.
size_t sb__picks_unknown(
    const struct sb_opt_list *items, const bool *found, char *out, size_t size);
// True if an item may select counters whose names begin with prefix.
bool sb__picked_prefix(const struct sb_opt_list *items, const char *short_list,
    const char *prefix);

// Table ----------------------------------------------------------------------

// One counter, as a reader gets it.
struct sb_server_value {
    const char *name; // "Com_insert", or "Com_insert@10.0.0.1:3306" if the run
                      // uses several servers; valid until the table is freed
    const char *unit; // "/s", "bytes/s"; of levels "bytes" ..., or ""; a
                      // constant, valid until the drivers are freed
    bool has_value;
    double value;
    uint64_t from, to; // the time that a rate covers; of a level both the same
};

struct sb__counter_entry;

struct sb__counters {
    struct sb__counter_entry *entry; // n of them, in order of appearance
    size_t n, cap;
    uint32_t *slot; // hash table of 1 + index, 0: free
    size_t slots;
    bool full; // more counters appeared than are kept
};

// The maximum number of counters of a run.
#define SB__COUNTERS_MAX 4096u

// {0} is an empty table.
void sb__counters_done(struct sb__counters *t);
// What begins with a value.
enum sb__counters_base {
    SB__BASE_RATE = 1,   // the next rate
    SB__BASE_GROWTH = 2, // the growth
};
// Stores a value that was read at `now`. Control characters and bytes that are
// not UTF-8 are escaped in its name. The names of two servers differ in
// `suffix` ("" or "@10.0.0.1:3306"). A total has a value from the second call
// on; not if it went backwards, and not after sb__counters_forget(). The rate
// covers the time since the last value that was used. least: the minimum time,
// in ns, that the rate of a total that may be late covers. base: 0 or bits of
// enum sb__counters_base. False if the table is full or there is no memory.
bool sb__counters_put(struct sb__counters *t, const struct sb_counter *c,
    const char *suffix, uint64_t now, uint64_t least, unsigned base);
// The server was away: treats the next value of each total with this suffix as
// its first one.
void sb__counters_forget(struct sb__counters *t, const char *suffix);
// Returns by how much counter i has grown since its first value, or since the
// last value with SB__BASE_GROWTH; false if it is a level, or has no later
// value. The growth includes what the server counted while it was away, but not
// the counts that it lost in a restart.
bool sb__counters_growth(
    const struct sb__counters *t, size_t i, const char **name, double *growth);
// Counter i has been used in a report: its next rate begins where the last one
// ended, so that the rates of all reports add up to what was counted. False if
// its last value was used before.
bool sb__counters_use(struct sb__counters *t, size_t i);
// Fills *out with counter i. It has no value if the last one was read before
// `oldest`.
void sb__counters_get(const struct sb__counters *t, size_t i, uint64_t oldest,
    struct sb_server_value *out);

#endif
