// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a run calls: the only thing that run/ knows of Lua, databases and
// built-in tests. script/ and bench/ implement it.
#ifndef SB_WORKLOAD_H
#define SB_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct sb_user;
struct sb_workload;

struct sb_workload_ops {
    // Main thread, before any user exists: init() of a script. Optional.
    int (*begin)(struct sb_workload *w, struct sb_err *err);
    // After begin(), before any user exists, if w->looks: whether the workload
    // finds what it needs. In a thread of its own, while the main thread waits
    // for it, for signals and for --thread-init-timeout.
    int (*look)(struct sb_workload *w, struct sb_err *err);
    // Makes a blocking call of look() return soon. The main thread.
    void (*cancel_look)(struct sb_workload *w);
    // The user's own thread, before the start barrier: connections and
    // statements. Sets u->data.
    int (*user_init)(
        struct sb_workload *w, struct sb_user *u, struct sb_err *err);
    // The user's own thread: loops over sb_user_next() until it says 0.
    int (*user_run)(
        struct sb_workload *w, struct sb_user *u, struct sb_err *err);
    // The user's own thread, after a loop that did not fail. Optional.
    int (*user_done)(
        struct sb_workload *w, struct sb_user *u, struct sb_err *err);
    // Frees u->data; also after a failure. The user's own thread.
    void (*user_free)(struct sb_workload *w, struct sb_user *u);
    // Makes a blocking call of this user return soon. Any thread, while
    // user_init .. user_done may be under way. Optional.
    void (*cancel)(struct sb_workload *w, struct sb_user *u);
    // Main thread, after the final report: done() of a script. Optional.
    int (*end)(struct sb_workload *w, struct sb_err *err);
};

struct sb_workload {
    const struct sb_workload_ops *ops;
    void *data; // the implementation's
    bool looks; // has something to look at: look() and cancel_look() exist
};

#endif
