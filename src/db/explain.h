// SPDX-License-Identifier: GPL-2.0-or-later
//
// The plans of a run's operations at one moment, as a server explains the
// statement with which each was executed first.
#ifndef SB_DB_EXPLAIN_H
#define SB_DB_EXPLAIN_H

#include "db/driver.h"

struct sb__probe;

struct sb_plan_table {
    char *name; // as in struct sb_table_facts, if the server says that
    bool scanned;
    double size, rows; // as in struct sb_plan_step
};

struct sb_plan {
    char kind[12]; // "", "custom", "generic"
    bool used;     // most likely, by the run
    char *text;    // the texts of its steps; "": it has none
    struct sb_plan_table *table;
    unsigned ntables;
};

#define SB_PLANS_OF_ONE 2 // plans of a statement

// An operation.
struct sb_op_plans {
    char *operation;
    bool filters;  // its statement has a WHERE
    char why[200]; // why it cannot be explained; "": it was
    struct sb_plan plan[SB_PLANS_OF_ONE];
    unsigned nplans;
};

// {0}: the server was not asked. A list that was made later begins with the
// same operations.
struct sb_plans {
    bool asked;
    char why[200]; // it could not be asked; "": nothing is known
    struct sb_op_plans *op;
    unsigned n;
    // A statement by which a session of the run was given settings of its own:
    // its plans may be other ones. "": there was none.
    char session[120];
};

struct sb__explain_limit {
    uint64_t until; // CLOCK_MONOTONIC in ns; no statement begins later
    bool strict;    // answers that come later are dropped: they may be of a
                    // later time
};

// Has the operations that were executed so far explained. *out: see
// sb_plans_done(). 0 or SB_E*: the connection is lost. The probe is
// connected, and may be disconnected afterwards.
int sb__plans_explain(struct sb__probe *p,
    const struct sb__explain_limit *limit, struct sb_plans *out,
    struct sb_err *err);

// The plan that the run has most likely used; NULL: unknown.
const struct sb_plan *sb_plan_used(const struct sb_op_plans *op);

void sb_plans_done(struct sb_plans *p); // {0} allowed

#endif
