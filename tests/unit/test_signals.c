// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/signals.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void note(void *arg, int sig)
{
    atomic_store((_Atomic int *)arg, sig);
}

static void start_and_interrupt(struct sb_signals *s, _Atomic int *seen)
{
    CHECK_INT(sb_signals_start(s, note, (void *)seen, NULL), 0);
    kill(getpid(), SIGTERM);
    for (int i = 0; i < 300000 && !*seen; i++)
        usleep(1000);
    CHECK_INT(*seen, SIGTERM);
}

static void the_first_signal_calls_the_handler(void)
{
    struct sb_signals s;
    _Atomic int seen = 0;

    start_and_interrupt(&s, &seen);
    sb_signals_stop(&s);
    CHECK(!s.running);
}

// Runs in a child process, whose exit status the parent checks.
static void the_second_signal_ends_the_process(void)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        struct sb_signals s;
        _Atomic int seen = 0;

        alarm(300); // ends the child if signals do not
        if (sb_signals_start(&s, note, (void *)&seen, NULL))
            _exit(1);
        kill(getpid(), SIGINT);
        while (!seen)
            usleep(1000);
        sleep(1);
        kill(getpid(), SIGINT);
        for (;;)
            pause();
    }
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 128 + SIGINT);
}

// A handler that never returns, for example because it waits for a lock.
static void hang(void *arg, int sig)
{
    atomic_store((_Atomic int *)arg, sig);
    for (;;)
        pause();
}

static void the_second_signal_does_not_wait_for_the_first(void)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        struct sb_signals s;
        _Atomic int seen = 0;

        alarm(100);
        if (sb_signals_start(&s, hang, (void *)&seen, NULL))
            _exit(1);
        kill(getpid(), SIGTERM);
        while (!seen)
            usleep(1000);
        sleep(1);
        kill(getpid(), SIGINT);
        for (;;)
            pause();
    }
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 128 + SIGINT);
}

// As timeout(1) does. Different signals, because the same one would be pending
// only once.
static void signals_of_one_request_are_one(void)
{
    struct sb_signals s;
    _Atomic int seen = 0;
    sigset_t both;

    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    kill(getpid(), SIGINT);
    kill(getpid(), SIGTERM); // ends the test if it counts
    CHECK_INT(sb_signals_start(&s, note, &seen, NULL), 0);
    sigset_t pending = both;
    for (int i = 0; i < 300000 && sigismember(&pending, SIGTERM); i++) {
        usleep(1000);
        sigpending(&pending);
    }
    usleep(100000);
    sb_signals_stop(&s); // waits until note() has returned
    CHECK_INT(seen, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
}

static void stop_without_a_signal_restores_the_mask(void)
{
    struct sb_signals s = { 0 };
    sigset_t now;

    sb_signals_stop(&s);
    CHECK_INT(sb_signals_start(&s, note, NULL, NULL), 0);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK(sigismember(&now, SIGINT));
    sb_signals_stop(&s);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK(!sigismember(&now, SIGINT));
}

CHECK_FILE
{
    RUN(the_first_signal_calls_the_handler);
    RUN(the_second_signal_ends_the_process);
    RUN(the_second_signal_does_not_wait_for_the_first);
    RUN(signals_of_one_request_are_one);
    RUN(stop_without_a_signal_restores_the_mask);
    return check_done();
}
