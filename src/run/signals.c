// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/signals.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

// SIGUSR2, sent to the waiting thread alone, tells it to end.
static void watched(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGUSR2);
}

static void *wait_for_signals(void *arg)
{
    struct sb_signals *s = arg;
    sigset_t set;
    int sig, seen = 0;

    watched(&set);
    for (;;) {
        if (sigwait(&set, &sig) || (sig == SIGUSR2 && atomic_load(&s->ending)))
            return NULL;
        if (sig == SIGUSR2)
            continue;
        // The user insists: leave without asking anybody, as promised.
        if (seen++)
            _exit(128 + sig);
        s->first(s->arg, sig);
    }
}

int sb_signals_start(struct sb_signals *s, void (*first)(void *arg, int sig),
    void *arg, struct sb_err *err)
{
    sigset_t set;

    memset(s, 0, sizeof(*s));
    s->first = first;
    s->arg = arg;
    watched(&set);
    pthread_sigmask(SIG_BLOCK, &set, &s->old);
    int rc = pthread_create(&s->thread, NULL, wait_for_signals, s);
    if (rc) {
        pthread_sigmask(SIG_SETMASK, &s->old, NULL);
        return sb_err_set(
            err, SB_ELIMIT, "cannot start the signal thread: %s", strerror(rc));
    }
    s->running = true;
    return 0;
}

void sb_signals_stop(struct sb_signals *s)
{
    if (!s->running)
        return;
    atomic_store(&s->ending, true);
    pthread_kill(s->thread, SIGUSR2);
    pthread_join(s->thread, NULL);
    pthread_sigmask(SIG_SETMASK, &s->old, NULL);
    s->running = false;
}
