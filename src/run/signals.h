// SPDX-License-Identifier: GPL-2.0-or-later
//
// SIGINT, SIGTERM and SIGALRM without handlers: a thread waits for them. The
// first one is reported; the second one ends the process at once, even if
// first() is still running. Signals within 0.2 s of the first one are
// ignored.
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
    _Atomic bool ending; // SIGUSR2 comes from sb_signals_stop()
    _Atomic int seen;    // the first signal, 0 before
    sem_t wake;          // wakes `caller`: a signal was seen, or the end
    sigset_t old;        // signal mask to restore
    void (*first)(void *arg, int sig);
    void *arg;
};

// Blocks the signals in the calling thread (and in threads that it creates
// later). If one arrives, calls first(arg, sig) in a thread of its own.
// Returns 0 or SB_ELIMIT.
int sb_signals_start(struct sb_signals *s, void (*first)(void *arg, int sig),
    void *arg, struct sb_err *err);
// Ends the threads and restores the mask. {0} allowed.
void sb_signals_stop(struct sb_signals *s);

// "SIGINT", "SIGTERM" or "SIGALRM".
const char *sb_signals_name(int sig);

#endif
