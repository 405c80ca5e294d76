// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a server says about itself, by the standard names of driver.h, at one
// moment. The checks of a run's figures compare two of them.
#ifndef SB_INSPECT_H
#define SB_INSPECT_H

#include "db/driver.h"
#include "db/probe.h"
#include "db/statements.h"

#define SB_INSPECT_TABLES_MAX 1000

struct sb_inspected_table {
    char *name;
    struct sb_table_facts facts; // facts.name is name
};

// {0}: nothing is known.
struct sb_inspected {
    bool asked; // the server was asked, at monotonic time `ns`
    uint64_t ns;
    // By part: whether it is complete; if not, why: the source and the error,
    // or "" if the driver has no answer.
    bool known[SB_PARTS];
    char why[SB_PARTS][200];
    double fact[SB_FACTS]; // NaN: unknown
    struct sb_inspected_table *table;
    unsigned ntables;
    char undurable[200]; // "fsync=off, synchronous_commit=off"; "" for none
    char folder[400];    // of its files, on its machine; "" if unknown
};

#define SB_INSPECT_ALL ((1u << SB_PARTS) - 1)
// Totals that are read again when the measured part begins; cheap for the
// server.
#define SB_INSPECT_TOTALS                                           \
    (1u << SB_PART_CACHE | 1u << SB_PART_LOG | 1u << SB_PART_DEBT | \
        1u << SB_PART_LOCKS | 1u << SB_PART_WORK)
// What the costs of an event are computed from.
#define SB_INSPECT_COSTS (1u << SB_PART_LOG | 1u << SB_PART_WORK)

// Returns a sink for these parts that fills *out. Call sb_inspected_done()
// before it is used again.
struct sb_inspect_sink sb_inspect_into(
    struct sb_inspected *out, unsigned parts);
// Replaces what belongs to these parts by what a later inspection found.
void sb_inspected_update(
    struct sb_inspected *i, const struct sb_inspected *later, unsigned parts);
// Nothing that belongs to these parts is known any more, for this reason.
void sb_inspected_miss(struct sb_inspected *i, unsigned parts, const char *why);
void sb_inspected_done(struct sb_inspected *i); // {0} allowed

#define SB_INSPECT_NOT_SAME                                                  \
    "the server was restarted, its counters were reset, or the answers are " \
    "of different servers"
// Whether two inspections are of the same server, without a restart between
// them, as far as its uptime shows. A proxy may have asked different ones.
bool sb_inspected_same(
    const struct sb_inspected *from, const struct sb_inspected *to);
// Returns by how much a total has grown. NaN: unknown, for the reason in *why,
// which is valid as long as *from and *to; otherwise *why stays.
double sb_inspected_growth(const struct sb_inspected *from,
    const struct sb_inspected *to, enum sb_fact_id id, const char **why);

// Asks a server for these parts and fills *out. What the costs are computed
// from comes last, or, after a run, first: other questions are no part of them.
// 0 or SB_E*; then *out is empty.
int sb__inspect(struct sb__probe *p, unsigned parts, bool after,
    struct sb_inspected *out, struct sb_err *err);

// Returns the facts of a table; NULL: it is not in the list.
const struct sb_table_facts *sb_inspected_find(
    const struct sb_inspected *i, const char *name);

struct sb_drivers;

// The shortest round trips to a server, without load.
struct sb_round_trips {
    unsigned n;      // 0: unknown
    char why[200];   // if unknown
    double min, p90; // ns
};

// A look at a server before the users connect.
struct sb_first_look {
    struct sb__inst *inst; // whose server it was; NULL: none
    // Of a database in this process, only the library is known before its files
    // are opened.
    struct sb_server_facts facts;
    bool failed; // the server did not answer, for the reason trips.why
    struct sb_round_trips trips;
    struct sb_inspected seen;     // asked: the server answered
    struct sb_statements counted; // in the same way
    // ns that a device of this machine needs to flush a write, if it has a
    // folder of that name; NaN: unknown. Whether the server is on this machine
    // is not known yet.
    double flush;
    // The process of this machine that listens at the address, if it is the
    // server's; 0: unknown.
    int64_t pid;
};

// Looks at the first server that was used, or else at the one that options
// select, on a connection of its own, which is closed again. Takes some
// milliseconds; up to 5 s if the server does not answer. parts: that are asked
// for. statements: what it counts of them, too. No users may be connecting.
// Main thread.
void sb_inspect_first(struct sb_drivers *d, unsigned parts, bool statements,
    struct sb_first_look *out);
void sb_first_look_done(struct sb_first_look *l); // {0} allowed

#endif
