// SPDX-License-Identifier: GPL-2.0-or-later
//
// SIGINT and SIGTERM as messages: a thread waits for them, so that no handler
// runs anywhere. The first is reported; the second ends the process at once.
#ifndef SB_SIGNALS_H
#define SB_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "base/err.h"

struct sb_signals {
    pthread_t thread;
    bool running;
    _Atomic bool ending; // SIGUSR2 means the end, not a stranger's
    sigset_t old;        // mask to restore
    void (*first)(void *arg, int sig);
    void *arg;
};

// Blocks the signals in the calling thread (threads made later inherit that)
// and calls first(arg, sig) in a thread of its own when one comes.
int sb_signals_start(struct sb_signals *s, void (*first)(void *arg, int sig),
    void *arg, struct sb_err *err);
// Ends the thread, restores the mask. {0} allowed.
void sb_signals_stop(struct sb_signals *s);

#endif
