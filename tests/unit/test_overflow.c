// SPDX-License-Identifier: GPL-2.0-or-later
//
// Faults in fibers and threads. Each is in a process of its own.
#include "loop/overflow.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/asan.h"
#include "kit/tsan.h"
#include "loop/loop.h"
#include "check.h"
#include "deep.h"

#define STACK (256 * 1024)

static int told = -1;

static void say(void *arg)
{
    const char *text = arg;

    if (write(told, text, strlen(text)) < 0)
        _exit(99);
}

static void write_nowhere(void *arg)
{
    volatile char *volatile nowhere = NULL;

    (void)arg;
    *nowhere = 1;
}

static void send_signal(void *arg)
{
    (void)arg;
    kill(getpid(), SIGSEGV);
}

static void run_fiber(void (*run)(void *arg))
{
    struct sb_loop *l = sb_loop_new(1, false);
    struct sb_err err = { 0 };

    if (!l || !sb_loop_add(l, STACK, run, "too deep") ||
        sb_loop_open(l, SB_LOOP_EPOLL, &err))
        _exit(96);
    sb_loop_run(l);
    _exit(95);
}

static void *thread_main(void *run)
{
    sb_overflow_guard("too deep");
    (*(void (**)(void *arg))run)(NULL);
    sb_overflow_unguard();
    return NULL;
}

static void run_thread(void (*run)(void *arg))
{
    pthread_t thread;
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    pthread_attr_setguardsize(&attr, SB_OVERFLOW_GUARD);
    if (pthread_create(&thread, &attr, thread_main, &run))
        _exit(96);
    pthread_join(thread, NULL);
    _exit(95);
}

// Runs a function in a fiber or a thread of a process. text: for what it says.
// Returns the process's status.
static int status_of(void (*on)(void (*run)(void *arg)), void (*run)(void *arg),
    char *text, size_t size)
{
    int fd[2], status = -1;
    pid_t pid;
    ssize_t n;

    CHECK_INT(pipe(fd), 0);
    pid = fork();
    if (pid == 0) {
        struct rlimit none = { 0 };

        told = fd[1];
        setrlimit(RLIMIT_CORE, &none);
        sb_overflow_catch(say);
        on(run);
    }
    close(fd[1]);
    n = read(fd[0], text, size - 1);
    text[n > 0 ? n : 0] = '\0';
    close(fd[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

static void check_overflow(void (*on)(void (*run)(void *arg)))
{
    char text[100];
    int status = status_of(on, overflow, text, sizeof(text));

    CHECK_STR(text, "too deep");
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), EXIT_FAILURE);
}

static void an_overflow_is_told(void)
{
    check_overflow(run_fiber);
    check_overflow(run_thread);
}

static void return_at_once(void *arg)
{
    (void)arg;
}

// A thread that is no longer guarded overflows without a message.
static void *thread_after(void *run)
{
    thread_main(&(void (*)(void *arg)){ return_at_once });
    (*(void (**)(void *arg))run)(NULL);
    return NULL;
}

static void run_unguarded(void (*run)(void *arg))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, thread_after, &run))
        _exit(96);
    pthread_join(thread, NULL);
    _exit(95);
}

static void check_signal(
    void (*on)(void (*run)(void *arg)), void (*run)(void *arg))
{
    char text[100];
    int status = status_of(on, run, text, sizeof(text));

    CHECK_STR(text, "");
    CHECK(WIFSIGNALED(status));
    CHECK_INT(WTERMSIG(status), SIGSEGV);
}

static void other_faults_have_their_signal(void)
{
    check_signal(run_fiber, write_nowhere);
    check_signal(run_fiber, send_signal);
    check_signal(run_thread, write_nowhere);
    check_signal(run_thread, send_signal);
    check_signal(run_unguarded, overflow);
}

CHECK_FILE
{
#if defined(SB_ASAN) || defined(SB_TSAN)
    puts("1..0 # SKIP sanitizers handle faults themselves");
    (void)an_overflow_is_told;
    (void)other_faults_have_their_signal;
    return 0;
#else
    RUN(an_overflow_is_told);
    RUN(other_faults_have_their_signal);
    return check_done();
#endif
}
