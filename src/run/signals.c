// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "kit/locale.h"
#include "run/beside.h"
#include "run/thread_error.h"

// timeout(1) sends its signal to the process, and again to the process group:
// two signals within this time are one request.
#define SAME_REQUEST_NS UINT64_C(200000000)

// SIGUSR2, sent only to the waiting thread, ends it.
static void watched(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGALRM); // of a script that calls alarm()
    sigaddset(set, SIGUSR2);
}

static bool is_end(const struct sb_signals *s, int sig)
{
    return sig == SIGUSR2 && atomic_load(&s->ending);
}

// Takes the other signals of a request. A thread that did not get a processor
// for SAME_REQUEST_NS takes all that are pending. Returns false at the end.
static bool take_request(const struct sb_signals *s, const sigset_t *set)
{
    uint64_t end = sb_clock_monotonic() + SAME_REQUEST_NS;
    int sig;

    do {
        uint64_t now = sb_clock_monotonic();
        uint64_t left = now < end ? end - now : 0;
        struct timespec t = { .tv_nsec = (long)left };
        sig = sigtimedwait(set, NULL, &t);
        if (is_end(s, sig))
            return false;
    } while (sig != -1 || errno != EAGAIN);
    return true;
}

static void *wait_for_signals(void *arg)
{
    struct sb_signals *s = arg;
    sigset_t set;
    int sig;

    sb_locale_keep();
    watched(&set);
    for (;;) {
        if (sigwait(&set, &sig) || is_end(s, sig))
            return NULL;
        if (sig == SIGUSR2)
            continue;
        if (atomic_load(&s->seen)) {
            sb_beside_kill();
            _exit(128 + sig);
        }
        atomic_store(&s->seen, sig);
        sem_post(&s->wake);
        if (!take_request(s, &set))
            return NULL;
    }
}

// In a thread of its own: first() may wait for contended locks, and the second
// signal must not wait for it.
static void *call_first(void *arg)
{
    struct sb_signals *s = arg;

    sb_locale_keep();
    while (sem_wait(&s->wake))
        ;
    int sig = atomic_load(&s->seen);
    if (sig)
        s->first(s->arg, sig);
    return NULL;
}

static int start_threads(struct sb_signals *s)
{
    int rc = pthread_create(&s->thread, NULL, wait_for_signals, s);

    if (rc)
        return rc;
    rc = pthread_create(&s->caller, NULL, call_first, s);
    if (rc) {
        atomic_store(&s->ending, true);
        pthread_kill(s->thread, SIGUSR2);
        pthread_join(s->thread, NULL);
    }
    return rc;
}

static size_t default_stack(void)
{
    pthread_attr_t attr;
    size_t size = 0;

    pthread_attr_init(&attr);
    pthread_attr_getstacksize(&attr, &size);
    pthread_attr_destroy(&attr);
    return size;
}

int sb_signals_start(struct sb_signals *s, void (*first)(void *arg, int sig),
    void *arg, struct sb_err *err)
{
    sigset_t set;

    memset(s, 0, sizeof(*s));
    s->first = first;
    s->arg = arg;
    sem_init(&s->wake, 0, 0);
    watched(&set);
    pthread_sigmask(SIG_BLOCK, &set, &s->old);
    int rc = start_threads(s);
    if (rc) {
        pthread_sigmask(SIG_SETMASK, &s->old, NULL);
        sem_destroy(&s->wake);
        char why[200];

        sb__thread_error(rc, default_stack(), why, sizeof(why));
        return sb_err_set(err, SB_ELIMIT,
            "cannot start the threads that wait for signals: %s", why);
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
    sem_post(&s->wake);
    pthread_join(s->caller, NULL);
    sem_destroy(&s->wake);
    pthread_sigmask(SIG_SETMASK, &s->old, NULL);
    s->running = false;
}

const char *sb_signals_name(int sig)
{
    return sig == SIGINT ? "SIGINT" : sig == SIGTERM ? "SIGTERM" : "SIGALRM";
}
