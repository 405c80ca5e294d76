// SPDX-License-Identifier: GPL-2.0-or-later
//
// SIGINT and SIGTERM as messages: a thread waits for them, so that no handler
// runs anywhere. The first is reported; the second ends the process at once,
// whatever the report of the first is waiting for.
#ifndef SB_SIGNALS_H
#define SB_SIGNALS_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>

#include "base/err.h"

struct sb_signals {
    pthread_t thread; // waits for signals
    pthread_t caller; // calls first()
    bool running;
    _Atomic bool ending; // SIGUSR2 means the end, not a stranger's
    _Atomic int seen;    // the first signal, 0 before
    sem_t wake;          // of the caller: a signal was seen, or the end
    sigset_t old;        // mask to restore
    void (*first)(void *arg, int sig);
    void *arg;
};

// Blocks the signals in the calling thread (threads made later inherit that)
// and calls first(arg, sig) in a thread of its own when one comes. SB_ELIMIT.
int sb_signals_start(struct sb_signals *s, void (*first)(void *arg, int sig),
    void *arg, struct sb_err *err);
// Ends the thread, restores the mask. {0} allowed.
void sb_signals_stop(struct sb_signals *s);

// "SIGINT" or "SIGTERM".
const char *sb_signals_name(int sig);

#endif
