// SPDX-License-Identifier: GPL-2.0-or-later
//
// The processes of a sweep: each run executes the program again, so that runs
// have nothing in common. Main thread, without other threads.
#ifndef SB_APP_CHILD_H
#define SB_APP_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct sb_app_children {
    sigset_t watched, old;
    struct sigaction old_child;
    int seen; // the first signal that ends the sweep, 0 before
};

// A process to start.
struct sb_app_child {
    const char *path;
    char *const *argv;
    int input;  // its standard input
    int keep;   // a descriptor that it inherits; -1: none
    bool quiet; // stdout is /dev/null
    // If not NULL: the process is ended if this file does not exist `limit` ns
    // after its start, and *late is set.
    const char *started;
    int64_t limit;
    bool late;
};

// Blocks the signals that the following functions receive: SIGINT, SIGTERM, and
// unless they are ignored, SIGHUP and SIGPIPE (standard output has no reader
// any more).
void sb_app_children_start(struct sb_app_children *c);
void sb_app_children_stop(struct sb_app_children *c);
// Returns c->seen, after looking whether a signal has come.
int sb_app_children_seen(struct sb_app_children *c);

// Executes a program, with the signal mask that this process had before
// sb_app_children_start(), and waits for its end. On Linux, the program gets
// SIGTERM if this process dies. *status: its exit status, 128 + signal if a
// signal killed it, 127 if it cannot be executed. Signals that this process
// receives are passed to the program, SIGHUP and SIGPIPE as SIGTERM, which ends
// a run in order; the first signal is kept in c->seen. 0, or SB_ESYS: no
// process can be created.
int sb_app_child(struct sb_app_children *c, struct sb_app_child *child,
    int *status, struct sb_err *err);

// Waits. A signal ends the wait.
void sb_app_children_pause(struct sb_app_children *c, int64_t ns);

#endif
