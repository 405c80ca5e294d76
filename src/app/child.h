// SPDX-License-Identifier: GPL-2.0-or-later
//
// Child processes of a sweep: each run is a process that was forked before a
// test was loaded, so that runs have nothing in common and need no command line
// with passwords. Main thread, without other threads.
#ifndef SB_APP_CHILD_H
#define SB_APP_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct sb_app_children {
    sigset_t watched, old;
    struct sigaction old_child;
    int seen; // the first signal that ends the sweep, 0 before
    // Called again and again while a child runs; returns how long to sleep, in
    // ns. NULL: nothing.
    uint64_t (*idle)(void *arg);
    void *idle_arg;
    pid_t pid; // the child
};

// Blocks the signals that the following functions receive: SIGINT, SIGTERM, and
// unless they are ignored, SIGHUP and SIGPIPE (standard output has no reader
// any more).
void sb_app_children_start(struct sb_app_children *c);
void sb_app_children_stop(struct sb_app_children *c);
// Returns c->seen, after looking whether a signal has come.
int sb_app_children_seen(struct sb_app_children *c);

// Forks. Returns 1 in the child, which has the signal mask of before, reads
// from /dev/null and, with `quiet`, writes stdout to /dev/null. It gets SIGTERM
// if the parent dies (Linux). Returns 0 in the parent when the child has
// ended, with its exit status in *status (128 + signal if a signal killed it).
// A signal is passed to the child, SIGHUP and SIGPIPE as SIGTERM, which ends a
// run in order; the first is kept in c->seen.
// SB_ESYS: no process can be created.
int sb_app_child(
    struct sb_app_children *c, bool quiet, int *status, struct sb_err *err);

// Waits. A signal ends the wait.
void sb_app_children_pause(struct sb_app_children *c, int64_t ns);

#endif
