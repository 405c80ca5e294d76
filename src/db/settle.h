// SPDX-License-Identifier: GPL-2.0-or-later
//
// Has servers do before a run what they have put off, and fills their caches:
// --settle and --prewarm.
#ifndef SB_DB_SETTLE_H
#define SB_DB_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option.h"

struct sb_drivers;

// "Settling options"
struct sb_settle_opts {
    const char *settle; // --settle: "off", "on" or a duration
    bool prewarm;       // --prewarm
};

extern const struct sb_opt_table sb_settle_opt_table;

// Stores the limit of --settle in *ns; 0: off. 0 or SB_EUSAGE.
int sb_settle_limit(
    const struct sb_settle_opts *o, uint64_t *ns, struct sb_err *err);

// What was done on a server. Texts are valid during the call.
struct sb_settle_step {
    const char *name;   // "analyze", "write", "checkpoint", "wait", "prewarm"
    const char *server; // its address; "" if there is one server
    const char *text;   // "analyzed 4 tables"
    double seconds;
    bool failed; // all or a part of it; the text says why
};

// stop: the run is over, NULL: nothing sets it. Settles, then fills the caches
// of: the servers and databases that were used, or else those that options
// select. Each has a connection of its own, which is closed again. Calls done()
// after each step. Takes as long as the limit of
// --settle, and as --prewarm needs. No users may be connecting. Main thread.
void sb_settle(struct sb_drivers *d, const struct sb_settle_opts *o,
    const _Atomic bool *stop,
    void (*done)(void *arg, const struct sb_settle_step *s), void *arg);

#endif
