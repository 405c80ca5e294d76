// SPDX-License-Identifier: GPL-2.0-or-later
//
// A run: users in worker threads, paced, warmed up, measured and stopped. It
// does not depend on databases, Lua or output formats.
#ifndef SB_RUN_H
#define SB_RUN_H

#include "run/listener.h"
#include "run/run_opts.h"
#include "run/user.h"
#include "run/workload.h"

// Runs the workload: begin, users, reports, end. Once events have started,
// there is a final report, however the run ends. Blocks SIGINT and SIGTERM
// during the run: the first one stops it, the second one ends the process at
// once with status 130 or 143. Main thread. Returns 0, or SB_E* if the run
// could not start or failed (as in res->err).
int sb_run(struct sb_workload *w, const struct sb_run_opts *o,
    struct sb_random_shared *random, const struct sb_listener *l,
    struct sb_run_result *res);

// Runs `task` once in each of o->threads users at the same time, without pace,
// limits and reports: a parallel command. command: "prepare", for progress and
// messages. Ends early if one fails or a signal arrives.
int sb_run_parallel(struct sb_workload *w, const char *command,
    const struct sb_run_opts *o, struct sb_random_shared *random,
    int (*task)(struct sb_workload *w, struct sb_user *u, struct sb_err *err),
    struct sb_run_result *res);

#endif
