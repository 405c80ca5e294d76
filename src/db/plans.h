// SPDX-License-Identifier: GPL-2.0-or-later
//
// Statements whose plans a run wants to know: the text and the values with
// which each operation was executed first. Users note them, without a lock;
// the sampler has them explained (db/explain.h).
#ifndef SB_DB_PLANS_H
#define SB_DB_PLANS_H

#include "db/driver.h"

struct sb__inst;
struct sb__plans;

#define SB__PLANS_MAX      100u   // operations
#define SB__PLANS_TEXT_MAX 65536u // bytes of a statement with its values

// An operation. Does not change once it is in the list.
struct sb__plan_op {
    char *name;
    struct sb_statement statement; // all in one allocation with this struct
    bool filters;                  // it has a WHERE
    char why[80]; // why it cannot be explained; "": nothing prevents it
};

// For users, with each SET, and each time that an operation is looked up in
// statistics that are new to its connection: notes the statement, unless the
// operation has one, or what it changes in the session. op: its name; NULL:
// outside of events, where only the latter matters. scan: enum
// sb_sqlscan_flags. Does nothing if the run wants no plans. Any thread.
void sb__plans_note(struct sb__inst *inst, const char *op,
    const struct sb_statement *s, unsigned scan);

// The operations of an instance so far, in the order of their first execution:
// up to SB__PLANS_MAX. Returns their number. Any thread.
unsigned sb__plans_list(
    const struct sb__inst *inst, const struct sb__plan_op **out);
// The first statement with which a session was given settings of its own: plans
// of other sessions may differ. NULL: there was none. Any thread.
const char *sb__plans_session(const struct sb__inst *inst);
// Whether a text has the name of a temporary table that a user has created.
// Any thread.
bool sb__plans_temporary(const struct sb__inst *inst, const char *sql);

void sb__plans_free(struct sb__plans *p); // NULL allowed

#endif
