// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // pipe2()
#include "kit/passcmd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/clock.h"
#include "kit/spawn.h"
#include "kit/units.h"

// A tool that asks a service answers within seconds or not at all.
#define COMMAND_NS (60 * SB_SECOND)
// How often a command that runs checks whether it is to end.
#define TICK_MS 100
// Tokens have up to some 2 KB.
#define LONGEST 65536
// A password is renewed after this share of its time, and after a failure again
// after a further twelfth.
#define RENEW(ttl) ((ttl) / 4 * 3)
#define AGAIN(ttl) ((ttl) / 12)
// Maximum number of tries after a refused login, and the delay before the first
// one. The delay doubles each time: 0.6 s in all, and 5 s once a login has
// succeeded, because the command is right then, and the password has changed.
#define MOST_REFUSED          5
#define MOST_REFUSED_ACCEPTED 8
#define REFUSED_NS            UINT64_C(20000000)

struct sb_passcmd {
    const char *option;
    char *command;
    uint64_t ttl;         // ns; UINT64_MAX: until a login is refused
    int null;             // descriptor of /dev/null
    atomic_bool accepted; // a login has succeeded
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t moved; // CLOCK_MONOTONIC
    // Runs of the command are numbered from 1: which one a login waits for,
    // which ones have begun and ended, and which one has printed the password.
    uint64_t wanted, begun, ended, number;
    char *password;
    uint64_t expires, next; // ns; next: when the command is to run again
    struct sb_err failure;  // of the last run; code 0: none
    bool stop;
};

// The command ----------------------------------------------------------------

// Shows the first word of the command, or its part before '=': the rest may be
// secrets.
static int failed(const struct sb_passcmd *p, struct sb_err *err,
    const char *what, const char *why)
{
    int first = (int)strcspn(p->command, " \t\n;|&<>=");

    return sb_err_set(err, SB_ECONNECT, "%s: '%.*s%s' %s%s", p->option,
        first < 80 ? first : 80, p->command, p->command[first] ? " ..." : "",
        what, why);
}

static bool is_to_stop(struct sb_passcmd *p)
{
    pthread_mutex_lock(&p->lock);
    bool stop = p->stop;

    pthread_mutex_unlock(&p->lock);
    return stop;
}

// Fails if the command has to end now.
static int check_time(
    struct sb_passcmd *p, uint64_t deadline, struct sb_err *err)
{
    if (is_to_stop(p))
        return failed(p, err, "was ended", "");
    if (sb_clock_monotonic() >= deadline)
        return failed(p, err, "did not end within 60 s", "");
    return 0;
}

// Reads what the command prints until it closes its output. Returns the number
// of bytes, at most LONGEST, or a negative SB_E*.
static ssize_t read_all(struct sb_passcmd *p, int fd, char *buf,
    uint64_t deadline, struct sb_err *err)
{
    size_t n = 0;

    for (;;) {
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        char rest[512];
        int rc = check_time(p, deadline, err);

        if (rc)
            return rc;
        if (poll(&ready, 1, TICK_MS) <= 0)
            continue;
        ssize_t got = n < LONGEST ? read(fd, buf + n, LONGEST - n)
                                  : read(fd, rest, sizeof(rest));

        if (got == 0 || (got < 0 && errno != EINTR))
            return (ssize_t)n;
        if (got > 0 && n < LONGEST)
            n += (size_t)got;
    }
}

// Waits for the process, which may continue after it has closed its output, and
// checks its status. *ended: whether it has ended.
static int check_end(struct sb_passcmd *p, pid_t pid, uint64_t deadline,
    bool *ended, struct sb_err *err)
{
    char why[16];
    int raw = 0;
    pid_t rc;

    for (int ms = 1; (rc = waitpid(pid, &raw, WNOHANG)) == 0;
         ms = ms < TICK_MS / 2 ? 2 * ms : TICK_MS) {
        int over = check_time(p, deadline, err);

        if (over)
            return over;
        poll(NULL, 0, ms);
    }
    *ended = true;
    // If the program was started with SIGCHLD ignored, the system reports no
    // status.
    if (rc < 0 || (WIFEXITED(raw) && WEXITSTATUS(raw) == 0))
        return 0;
    snprintf(why, sizeof(why), "%d",
        WIFSIGNALED(raw) ? WTERMSIG(raw) : WEXITSTATUS(raw));
    return failed(p, err,
        WIFSIGNALED(raw) ? "was ended by signal " : "failed with exit status ",
        why);
}

static void kill_command(pid_t pid)
{
    kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

// The first line, without its end. buf has room for one more byte.
static int first_line(const struct sb_passcmd *p, char *buf, size_t n,
    char **out, struct sb_err *err)
{
    char *end = memchr(buf, '\n', n);
    size_t len = end ? (size_t)(end - buf) : n;

    if (end && len > 0 && buf[len - 1] == '\r')
        len--;
    buf[len] = '\0';
    if (n == 0)
        return failed(p, err, "printed nothing", "");
    if (len == 0)
        return failed(p, err, "printed an empty line first", "");
    if (n == LONGEST && !end)
        return failed(p, err, "printed a line of more than 64 KiB", "");
    if (strlen(buf) < len)
        return failed(p, err, "printed a zero byte", "");
    *out = strdup(buf);
    return *out ? 0 : sb_err_no_memory(err);
}

static int run_piped(struct sb_passcmd *p, const int fd[2], char *buf,
    char **out, struct sb_err *err)
{
    uint64_t deadline = sb_clock_monotonic() + COMMAND_NS;
    bool ended = false;
    pid_t pid;
    int rc = sb_spawn(p->command, fd[1], p->null, &pid);

    close(fd[1]);
    if (rc)
        return failed(p, err, "was not started: ", strerror(rc));
    ssize_t n = read_all(p, fd[0], buf, deadline, err);

    rc = n < 0 ? (int)n : check_end(p, pid, deadline, &ended, err);
    if (!ended)
        kill_command(pid);
    return rc ? rc : first_line(p, buf, (size_t)n, out, err);
}

// Runs the command once. The caller frees *out.
static int run_command(struct sb_passcmd *p, char **out, struct sb_err *err)
{
    char *buf = malloc(LONGEST + 1);
    int fd[2], rc;

    if (!buf)
        return sb_err_no_memory(err);
    if (pipe2(fd, O_CLOEXEC)) {
        rc = failed(p, err, "was not started: ", strerror(errno));
    } else {
        rc = run_piped(p, fd, buf, out, err);
        close(fd[0]);
    }
    memset(buf, 0, LONGEST);
    free(buf);
    return rc;
}

// The thread ------------------------------------------------------------------

static uint64_t after(uint64_t time, uint64_t ns)
{
    return ns == UINT64_MAX ? UINT64_MAX : time + ns;
}

static uint64_t share(uint64_t ttl, uint64_t part)
{
    return ttl == UINT64_MAX ? UINT64_MAX : part;
}

// The lock is held.
static void take(struct sb_passcmd *p, char *password, uint64_t begin,
    const struct sb_err *err)
{
    p->ended = p->begun;
    p->failure = *err;
    if (password) {
        free(p->password);
        p->password = password;
        p->number = p->begun;
        p->expires = after(begin, p->ttl);
        p->next = after(begin, share(p->ttl, RENEW(p->ttl)));
    } else {
        p->next = after(sb_clock_monotonic(), share(p->ttl, AGAIN(p->ttl)));
    }
    pthread_cond_broadcast(&p->moved);
}

static void wait_until(struct sb_passcmd *p, uint64_t time)
{
    struct timespec t = sb_clock_timespec(time);

    if (time == UINT64_MAX)
        pthread_cond_wait(&p->moved, &p->lock);
    else
        pthread_cond_timedwait(&p->moved, &p->lock, &t);
}

static void *thread_main(void *arg)
{
    struct sb_passcmd *p = arg;

    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        if (p->wanted <= p->begun && sb_clock_monotonic() < p->next) {
            wait_until(p, p->next);
            continue;
        }
        uint64_t begin = sb_clock_monotonic();
        struct sb_err err = { 0 };
        char *password = NULL;

        p->begun++;
        pthread_mutex_unlock(&p->lock);
        run_command(p, &password, &err);
        pthread_mutex_lock(&p->lock);
        take(p, password, begin, &err);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int start_thread(struct sb_passcmd *p, struct sb_err *err)
{
    sigset_t all, old;

    // Signals are left to the threads that wait for them.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&p->thread, NULL, thread_main, p);

    pthread_sigmask(SIG_SETMASK, &old, NULL);
    p->has_thread = rc == 0;
    return rc ? sb_err_set(err, SB_ESYS, "%s: cannot start a thread: %s",
                    p->option, strerror(rc))
              : 0;
}

// Getting a password ---------------------------------------------------------

struct getting {
    struct sb_passcmd *p;
    uint64_t refused; // number of the password that was refused; 0: none
    uint64_t number;  // of the password
    char *password;   // a copy, to be freed
    int rc;
    struct sb_err *err;
};

// Returns whether the password can be used. A password that this run or a later
// one has printed is always used, because there is no newer one. The lock is
// held.
static bool is_good(const struct getting *g, uint64_t run)
{
    const struct sb_passcmd *p = g->p;

    if (!p->password)
        return false;
    return p->number >= run ||
           (sb_clock_monotonic() < p->expires && p->number > g->refused);
}

// Blocks its thread until there is a password that can be used, or the command
// has failed.
static void get(void *arg)
{
    struct getting *g = arg;
    struct sb_passcmd *p = g->p;

    pthread_mutex_lock(&p->lock);
    // A run that has begun before may print what the server has just refused.
    uint64_t run = p->begun + 1;

    while (!is_good(g, run) && p->ended < run) {
        if (p->wanted < run)
            p->wanted = run;
        pthread_cond_broadcast(&p->moved);
        wait_until(p, UINT64_MAX);
    }
    if (is_good(g, run)) {
        g->password = strdup(p->password);
        g->number = p->number;
        g->rc = g->password ? 0 : sb_err_no_memory(g->err);
    } else {
        g->rc = p->failure.code;
        if (g->err)
            *g->err = p->failure;
    }
    pthread_mutex_unlock(&p->lock);
}

// Interface -------------------------------------------------------------------

// Splits the value of the option. The command may contain semicolons itself.
static int set_command(
    struct sb_passcmd *p, const char *text, struct sb_err *err)
{
    char *ttl, *next;
    int64_t ns;

    p->ttl = UINT64_MAX;
    p->command = strdup(text);
    if (!p->command)
        return sb_err_no_memory(err);
    ttl = strstr(p->command, ";ttl=");
    while (ttl && (next = strstr(ttl + 1, ";ttl=")) != NULL)
        ttl = next;
    if (!ttl)
        return 0;
    if (sb_units_duration(ttl + 5, (int64_t)SB_SECOND, &ns) || ns <= 0)
        return sb_err_set(err, SB_EUSAGE,
            "%s: invalid ttl: a time such as ';ttl=10m' is expected at the end",
            p->option);
    *ttl = '\0';
    p->ttl = (uint64_t)ns;
    return 0;
}

int sb_passcmd_new(const char *option, const char *text,
    struct sb_passcmd **out, struct sb_err *err)
{
    struct sb_passcmd *p = calloc(1, sizeof(*p));
    struct getting first = { .p = p, .err = err };
    pthread_condattr_t attr;
    int rc;

    if (!p)
        return sb_err_no_memory(err);
    p->option = option;
    p->next = UINT64_MAX;
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->moved, &attr);
    pthread_condattr_destroy(&attr);
    p->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    rc = p->null < 0 ? sb_err_set(err, SB_ESYS, "cannot open /dev/null: %s",
                           strerror(errno))
                     : set_command(p, text, err);
    if (rc == 0)
        rc = start_thread(p, err);
    if (rc == 0) {
        get(&first);
        rc = first.rc;
    }
    free(first.password);
    if (rc)
        sb_passcmd_free(p);
    else
        *out = p;
    return rc;
}

void sb_passcmd_free(struct sb_passcmd *p)
{
    if (!p)
        return;
    if (p->has_thread) {
        pthread_mutex_lock(&p->lock);
        p->stop = true;
        pthread_cond_broadcast(&p->moved);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
    }
    if (p->null >= 0)
        close(p->null);
    pthread_cond_destroy(&p->moved);
    pthread_mutex_destroy(&p->lock);
    free(p->command);
    free(p->password);
    free(p);
}

int sb_passcmd_login(struct sb_passcmd *p, const struct sb_passcmd_calls *calls,
    void *arg, struct sb_err *err)
{
    struct getting g = { .p = p };

    for (unsigned tries = 0;; tries++) {
        struct sb_err why = { 0 };
        int rc;

        g.err = &why;
        rc = calls->apart(get, NULL, &g, UINT64_MAX);
        if (rc == 0)
            rc = g.rc;
        if (rc == 0) {
            rc = calls->log_in(arg, g.password, &why);
            free(g.password);
        }
        if (rc == 0)
            atomic_store(&p->accepted, true);
        unsigned most = atomic_load(&p->accepted) ? MOST_REFUSED_ACCEPTED
                                                  : MOST_REFUSED;

        if (rc == 0 || tries >= most || !calls->is_refused(&why)) {
            if (rc && err)
                *err = why;
            return rc;
        }
        g.refused = g.number;
        calls->sleep(sb_clock_monotonic() + (REFUSED_NS << tries));
    }
}
