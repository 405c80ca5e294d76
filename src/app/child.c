// SPDX-License-Identifier: GPL-2.0-or-later
#include "app/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "kit/clock.h"

// Signals are blocked and received by sigwait(). A blocked signal that would be
// ignored may be dropped, so SIGCHLD needs a handler, which is never called.
static void ignore(int sig)
{
    (void)sig;
}

// A signal may be ignored on purpose, for example by nohup.
static void watch_unless_ignored(sigset_t *set, int sig)
{
    struct sigaction now;

    if (sigaction(sig, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaddset(set, sig);
}

static bool ends_sweep(int sig)
{
    return sig != SIGCHLD && sig != SIGALRM;
}

void sb_app_children_start(struct sb_app_children *c)
{
    struct sigaction child = { .sa_handler = ignore };

    memset(c, 0, sizeof(*c));
    sigemptyset(&c->watched);
    sigaddset(&c->watched, SIGINT);
    sigaddset(&c->watched, SIGTERM);
    sigaddset(&c->watched, SIGCHLD);
    sigaddset(&c->watched, SIGALRM);
    watch_unless_ignored(&c->watched, SIGHUP);
    watch_unless_ignored(&c->watched, SIGPIPE);
    sigprocmask(SIG_BLOCK, &c->watched, &c->old);
    sigaction(SIGCHLD, &child, &c->old_child);
}

// Receives the watched signals that have come already.
static void receive_pending(struct sb_app_children *c)
{
    const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGALRM };
    sigset_t pending, one;
    int sig;

    sigpending(&pending);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (!sigismember(&pending, signals[i]) ||
            !sigismember(&c->watched, signals[i]))
            continue;
        sigemptyset(&one);
        sigaddset(&one, signals[i]);
        if (sigwait(&one, &sig) == 0 && ends_sweep(sig) && !c->seen)
            c->seen = sig;
    }
}

int sb_app_children_seen(struct sb_app_children *c)
{
    receive_pending(c);
    return c->seen;
}

void sb_app_children_stop(struct sb_app_children *c)
{
    sigaction(SIGCHLD, &c->old_child, NULL);
    sigprocmask(SIG_SETMASK, &c->old, NULL);
}

// A process group of its own: Ctrl-C goes to the parent only, which passes it
// on once. A second one would end the child at once.
static void become_child(
    struct sb_app_children *c, const struct sb_app_child *child, pid_t parent)
{
    // Shells let jobs in the background ignore SIGINT. The parent acts on it
    // all the same, so a child that does not handle it must end.
    struct sigaction end = { .sa_handler = SIG_DFL };
    int null = child->quiet ? open("/dev/null", O_WRONLY) : -1;

    setpgid(0, 0);
    sigaction(SIGINT, &end, NULL);
    sb_app_children_stop(c);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        raise(SIGTERM);
    dup2(child->input, STDIN_FILENO);
    if (null >= 0)
        dup2(null, STDOUT_FILENO);
    if (child->keep >= 0)
        fcntl(child->keep, F_SETFD, 0);
    execv(child->path, child->argv);
    dprintf(STDERR_FILENO, "FATAL: cannot execute %s: %s\n", child->path,
        strerror(errno));
    _exit(127);
}

// How often to look whether a process has started.
#define LOOK_NS (SB_SECOND / 50)
// From SIGTERM to SIGKILL for a process that has not started.
#define KILL_NS (2 * SB_SECOND)

// Returns the next signal; 0: none until this time.
static int next_signal(struct sb_app_children *c, uint64_t until)
{
    struct timespec limit = { 0 };
    uint64_t now = sb_clock_monotonic();
    int sig = 0;

    if (until == UINT64_MAX)
        return sigwait(&c->watched, &sig) ? 0 : sig;
    if (until > now)
        limit = sb_clock_timespec(until - now);
    sig = sigtimedwait(&c->watched, NULL, &limit);
    return sig > 0 ? sig : 0;
}

// Ends a process that does not start in time. Returns when to look again.
static uint64_t check_start(
    struct sb_app_child *child, pid_t pid, uint64_t began)
{
    uint64_t now = sb_clock_monotonic();

    if (!child->started || access(child->started, F_OK) == 0)
        return UINT64_MAX;
    if (now < began + (uint64_t)child->limit)
        return now + LOOK_NS;
    // The processes that it has started, too.
    kill(-pid, child->late ? SIGKILL : SIGTERM);
    child->late = true;
    return now + KILL_NS;
}

static void wait_for(struct sb_app_children *c, struct sb_app_child *child,
    pid_t pid, int *status)
{
    uint64_t began = sb_clock_monotonic();
    int raw = 0, sig;
    pid_t got;

    while ((got = waitpid(pid, &raw, WNOHANG)) == 0) {
        sig = next_signal(c, check_start(child, pid, began));
        if (sig == 0 || !ends_sweep(sig))
            continue;
        if (!c->seen)
            c->seen = sig;
        kill(pid, sig == SIGINT ? SIGINT : SIGTERM);
    }
    *status = 1;
    if (got == pid)
        *status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

int sb_app_child(struct sb_app_children *c, struct sb_app_child *child,
    int *status, struct sb_err *err)
{
    pid_t parent = getpid(), pid;

    // Otherwise the end of the process would not be noticed.
    assert(sigismember(&c->watched, SIGCHLD) == 1);
    sb_log_flush();
    fflush(stdout);
    pid = fork();
    if (pid < 0)
        return sb_err_set(
            err, SB_ESYS, "cannot create a process: %s", strerror(errno));
    if (pid == 0)
        become_child(c, child, parent);
    setpgid(pid, pid);
    wait_for(c, child, pid, status);
    return 0;
}

void sb_app_children_pause(struct sb_app_children *c, int64_t ns)
{
    struct itimerval timer = { .it_value = { .tv_sec = ns / (int64_t)SB_SECOND,
                                   .tv_usec = ns / 1000 % 1000000 } };
    int sig = 0;

    if (ns < 1000 || setitimer(ITIMER_REAL, &timer, NULL))
        return;
    while (sig != SIGALRM && !c->seen) {
        if (sigwait(&c->watched, &sig) == 0 && ends_sweep(sig))
            c->seen = sig;
    }
    timer = (struct itimerval){ 0 };
    setitimer(ITIMER_REAL, &timer, NULL);
}
