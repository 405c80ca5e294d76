// SPDX-License-Identifier: GPL-2.0-or-later
//
// The functions that a run calls: its only interface to Lua, databases and
// built-in tests. Implemented by script/ and bench/.
#ifndef SB_WORKLOAD_H
#define SB_WORKLOAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wire.h"

struct sb_hold;
struct sb_user;
struct sb_workload;

// IGNORED: a message about the hold would not help the user.
enum sb_held {
    SB_HELD_UNKNOWN,
    SB_HELD_FUNCTION,
    SB_HELD_LINE,
    SB_HELD_IGNORED
};

struct sb_workload_ops {
    // Main thread, before any user exists: init() of a script. Optional.
    int (*begin)(struct sb_workload *w, struct sb_err *err);
    // For a run of several processes: share() writes the results of begin() for
    // the other processes, which read them with adopt() and do not call
    // begin(). Main thread. Optional.
    void (*share)(struct sb_workload *w, struct sb_buf *b);
    int (*adopt)(struct sb_workload *w, struct sb_wire *r, struct sb_err *err);
    // After begin(), before any user exists, if w->check_name: checks whether
    // the data that the workload needs exists. In a thread of its own, while
    // the main thread waits for it, for signals and for --thread-init-timeout.
    int (*check)(struct sb_workload *w, struct sb_err *err);
    // Makes a blocking call of check() return soon. Main thread.
    void (*cancel_check)(struct sb_workload *w);
    // In the user's thread, before the start barrier: opens connections and
    // prepares statements. Sets u->data, or u->part[w->slot].
    int (*user_init)(
        struct sb_workload *w, struct sb_user *u, struct sb_err *err);
    // In the user's thread: loops over sb_user_next() until it returns 0.
    int (*user_run)(
        struct sb_workload *w, struct sb_user *u, struct sb_err *err);
    // In the user's thread, after a loop that did not fail. Optional. What the
    // user returns is kept until end() or failed(), or given to rank 0.
    int (*user_done)(
        struct sb_workload *w, struct sb_user *u, struct sb_err *err);
    // The user, which is in user_run, has held its worker. Writes the line
    // ("x.lua:12") or the function that held it to `what`. UNKNOWN: lines of
    // the user cannot be noted, so sb_user_next() must not end its loop. Called
    // in the user's thread, but not in the user's turn: must not wait.
    // Optional; only of a workload that calls sb_user_lines().
    enum sb_held (*user_held)(struct sb_workload *w, struct sb_user *u,
        const struct sb_hold *hold, char *what, size_t size);
    // The user, which is in user_run, executes code in this thread and does not
    // return. Writes what does so, as user_held; the text stays as it is if
    // nothing is known. LINE, or UNKNOWN. Main thread. Optional.
    enum sb_held (*user_stuck)(struct sb_workload *w, struct sb_user *u,
        pthread_t thread, char *what, size_t size);
    // Whether user_init has opened connections: the time that such a user takes
    // to come is the operation `connect`. NULL: yes.
    bool (*user_connected)(struct sb_workload *w, const struct sb_user *u);
    // Frees what user_init set, also after a failure. In the user's thread.
    void (*user_free)(struct sb_workload *w, struct sb_user *u);
    // Makes a blocking call of this user return soon. Any thread, while
    // user_init .. user_done may be in progress. Optional.
    void (*cancel)(struct sb_workload *w, struct sb_user *u);
    // Of a run of several processes: what users have returned at their end.
    // give_results() takes some of it out and appends it to *b, and stops once
    // *b has `max` bytes; it returns whether more is left. take_results() adds
    // it to the results of rank 0, before end() or failed(); 0 or SB_ENOMEM.
    // Main thread; users may still be running. Optional, both or none.
    bool (*give_results)(struct sb_workload *w, struct sb_buf *b, size_t max);
    int (*take_results)(struct sb_workload *w, unsigned rank, struct sb_wire *r,
        struct sb_err *err);
    // Main thread, after the final report: done() of a script. Optional.
    int (*end)(struct sb_workload *w, struct sb_err *err);
    // The same, instead of end(), of a run that has failed, or some of whose
    // users did not return. why: the reason. Optional.
    void (*failed)(struct sb_workload *w, const char *why);
};

struct sb_workload {
    const struct sb_workload_ops *ops;
    void *data; // the implementation's
    // The name of check() in messages; NULL: there is no check().
    const char *check_name;
    unsigned slot; // in sb_user.part
    // Its users compute, or wait in other ways than sb_user_sleep() and drivers
    // do: each needs a thread of its own.
    bool blocks;
};

#endif
