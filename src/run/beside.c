// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // memrchr()
#define _GNU_SOURCE // asprintf()
#include "run/beside.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/outfile.h"
#include "kit/locale.h"
#include "kit/spawn.h"
#include "loop/waiter.h"

// The name of the command of --beside: its first word, but nothing that may be
// a password.

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS  "0123456789"

// Whether the shell may replace what is at p by something with quotes or spaces
// of its own: by the output of a command, or "${a:-b c}". "$a" and "${a}" are
// plain.
static bool is_substitution(const char *p)
{
    if (p[0] != '$' || p[1] != '{')
        return p[0] == '`' || (p[0] == '$' && p[1] == '(');
    return p[2 + strspn(p + 2, LETTERS DIGITS)] != '}';
}

// Reads a quotation that begins at p. Returns its end, or NULL if it is not
// clear what the shell makes of it.
static const char *skip_quotation(const char *p)
{
    char quote = *p++;

    while (*p && *p != quote) {
        if (quote == '"' && is_substitution(p))
            return NULL;
        if (quote == '"' && *p == '\\' && p[1])
            p++;
        p++;
    }
    return *p ? p + 1 : NULL;
}

// Returns the end of the word at p as the shell reads it, or NULL if that is
// not clear: a value that looks like several words may be a password.
static const char *skip_word(const char *p)
{
    while (*p && !strchr(" \t\n;|&)", *p)) {
        if (*p == '\'' || *p == '"') {
            p = skip_quotation(p);
            if (!p)
                return NULL;
            continue;
        }
        // $'...' depends on the shell.
        if (strchr("(<>", *p) || is_substitution(p) ||
            (*p == '$' && (p[1] == '\'' || p[1] == '"')))
            return NULL;
        p += *p == '\\' && p[1] ? 2 : 1;
    }
    return p;
}

static bool is_assignment(const char *word)
{
    size_t len = strspn(word, LETTERS DIGITS);

    return len && !strchr(DIGITS, *word) &&
           (word[len] == '=' || (word[len] == '+' && word[len + 1] == '='));
}

static const char *skip_space(const char *p)
{
    for (;;) {
        p += strspn(p, " \t\n;|&(");
        if (p[0] != '\\' || p[1] != '\n')
            return p;
        p += 2;
    }
}

// Finds the first word that is no assignment. Returns its length without
// quotes, or 0 if it does not look like the name of a command.
static size_t find_command(const char *p, const char **word)
{
    const char *end;

    for (p = skip_space(p); is_assignment(p); p = skip_space(end)) {
        end = skip_word(p);
        if (!end)
            return 0;
    }
    end = skip_word(p);
    if (!end || end == p)
        return 0;
    bool quoted = *p == '\'' || *p == '"';

    if (quoted && (end - p < 3 || end[-1] != *p))
        return 0;
    p += quoted;
    end -= quoted;
    size_t len = (size_t)(end - p);
    const char *sign = memchr(p, '=', len);

    *word = p;
    if (sign && !memchr(p, '/', (size_t)(sign - p)))
        return 0;
    return strspn(p, LETTERS DIGITS "+-./=") >= len ? len : 0;
}

void sb_beside_name(const struct sb_beside_opts *o, char out[SB_BESIDE_NAME])
{
    const char *word = "", *slash;
    size_t len = 0;

    if (*o->name) {
        snprintf(out, SB_BESIDE_NAME, "%s", o->name);
        return;
    }
    len = find_command(o->command, &word);
    slash = len ? memrchr(word, '/', len) : NULL;
    if (slash) {
        len -= (size_t)(slash + 1 - word);
        word = slash + 1;
    }
    snprintf(out, SB_BESIDE_NAME, "%.*s", len ? (int)len : 7,
        len ? word : "command");
}

// How long processes that the command left behind may take to end.
#define LEFT_NS (2 * SB_SECOND)
#define STEP_NS (SB_SECOND / 100)
// The maximum of the default of --beside-start.
#define START_MAX ((int64_t)(30 * SB_SECOND))

#define AT(field) offsetof(struct sb_beside_opts, field)

static const struct sb_opt options[] = {
    { .name = "beside",
        .type = SB_OPT_STRING,
        .offset = AT(command),
        .def = "",
        .flags = SB_OPT_YIELDS | SB_OPT_SECRET | SB_OPT_TEXT,
        .help = "shell command that runs beside the workload, such as a dump "
                "or a backup; the figures before, during and after it are "
                "compared" },
    { .name = "beside-name",
        .type = SB_OPT_STRING,
        .offset = AT(name),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "with --beside: name of the command in reports; by default "
                "its first word" },
    { .name = "beside-start",
        .type = SB_OPT_DURATION,
        .offset = AT(start),
        .given = AT(start_given),
        .min = 0,
        .max = 1e7,
        .flags = SB_OPT_YIELDS,
        .help = "with --beside: start the command this long after the start of "
                "the measured part; by default after a quarter of --time, at "
                "most 30 s" },
    { .name = "beside-output",
        .type = SB_OPT_STRING,
        .offset = AT(output),
        .def = "",
        .flags = SB_OPT_YIELDS | SB_OPT_FILENAME,
        .help =
            "with --beside: file for the output of the command, by "
            "default its name and .beside.log; - for the output of sysbench" },
    { .name = "beside-alone",
        .type = SB_OPT_BOOL,
        .offset = AT(alone),
        .def = "off",
        .flags = SB_OPT_YIELDS,
        .help = "with --beside: also run the command before the run, without "
                "load, and compare the times" },
    { .name = "beside-wait",
        .type = SB_OPT_BOOL,
        .offset = AT(wait),
        .def = "off",
        .flags = SB_OPT_YIELDS,
        .help = "with --beside: end the run after the interval in which the "
                "command ends, or after --time if that is earlier" },
    { 0 },
};

const struct sb_opt_table sb_beside_opt_table = {
    .title = "Options of a command beside the run",
    .section = "beside",
    .opts = options,
};

struct sb_beside {
    const struct sb_beside_opts *o;
    char name[SB_BESIDE_NAME];
    char *path;  // of the output, as in messages; NULL: fd is -1
    char *whole; // the same from the root
    int fd;      // output; -1: those of the program
    off_t size;  // of the output, in the last sb_beside_look()
    uint64_t at; // time of the start
    pthread_t thread;
    // Protected by the mutex.
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_thread;
    bool stop; // the command is or will be stopped
    bool over; // the command has ended or was not started
    pid_t pid; // 0: not started
    struct sb_beside_state state;
};

// The group of the command, for sb_beside_kill(), which has no argument because
// it is called when the process is about to end; 0: none.
static _Atomic pid_t running_group;

int64_t sb_beside_start_time(const struct sb_beside_opts *o, int64_t time)
{
    if (o->start_given)
        return o->start;
    return time / 4 < START_MAX ? time / 4 : START_MAX;
}

int sb_beside_check(const struct sb_beside_opts *o, bool others, int64_t time,
    struct sb_err *err)
{
    if (!*o->command && others)
        return sb_err_set(err, SB_EUSAGE,
            "the options --beside-... require a command: --beside='COMMAND'");
    if (*o->command && o->start_given && time > 0 && o->start >= time)
        return sb_err_set(err, SB_EUSAGE,
            "--beside-start: %g s is too late; the run ends after %g s",
            (double)o->start / 1e9, (double)time / 1e9);
    if (strlen(o->name) >= SB_BESIDE_NAME || strchr(o->name, '/'))
        return sb_err_set(err, SB_EUSAGE,
            "--beside-name: '%.100s' is not a name of at most %d bytes "
            "without '/'",
            o->name, SB_BESIDE_NAME - 1);
    return 0;
}

// Output ---------------------------------------------------------------------

// The names differ from those that other programs use, because what the file
// contains is deleted.
static int make_path(struct sb_beside *b, unsigned number, bool alone)
{
    const char *path = b->o->output;
    int rc;

    if (*path)
        rc = asprintf(&b->path, "%s%s", path, alone ? ".alone" : "");
    else if (number)
        rc = asprintf(&b->path, "%s%s-%u.beside.log", b->name,
            alone ? "-alone" : "", number);
    else
        rc = asprintf(
            &b->path, "%s%s.beside.log", b->name, alone ? "-alone" : "");
    if (rc < 0)
        b->path = NULL;
    return rc < 0 ? SB_ENOMEM : 0;
}

// Opens a file, a device or a pipe that the user has named. Without O_NONBLOCK,
// opening a pipe that has no reader blocks.
static int open_given(const char *path, const char **why)
{
    int fd = open(path,
        O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

    if (fd < 0 && errno == ENXIO)
        *why = "no program reads from it";
    if (flags >= 0)
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    return fd;
}

static int open_output(
    struct sb_beside *b, unsigned number, bool alone, struct sb_err *err)
{
    b->fd = -1;
    if (strcmp(b->o->output, "-") == 0)
        return 0;
    if (make_path(b, number, alone))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    b->whole = sb_outfile_path(b->path);
    if (!b->whole)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    bool given = *b->o->output && !alone; // may name a pipe or a device
    const char *why = "";
    int rc = 0;

    b->fd = given ? open_given(b->whole, &why)
                  : sb_outfile_open(b->whole, O_WRONLY | O_APPEND, &why);
    if (b->fd < 0 || (!given && ftruncate(b->fd, 0)))
        rc = sb_err_set(err, SB_ESYS, "%s: cannot write to '%s': %s",
            *b->o->output ? "--beside-output" : "--beside", b->path,
            *why ? why : strerror(errno));
    return rc;
}

int sb_beside_create(struct sb_beside **out, const struct sb_beside_opts *o,
    unsigned number, bool alone, struct sb_err *err)
{
    struct sb_beside *b = calloc(1, sizeof(*b));

    *out = NULL;
    if (!b)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    b->o = o;
    sb_beside_name(o, b->name);
    int rc = open_output(b, number, alone, err);

    if (rc == 0 && sb_lock_init(&b->lock, &b->changed))
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    if (rc) {
        if (b->fd >= 0)
            close(b->fd);
        free(b->path);
        free(b->whole);
        free(b);
        return rc;
    }
    *out = b;
    return 0;
}

// The lock is held. Returns false at or after this time.
static bool wait_until(struct sb_beside *b, uint64_t ns)
{
    struct timespec t = sb_clock_timespec(ns);

    return pthread_cond_timedwait(&b->changed, &b->lock, &t) == 0;
}

// The process -----------------------------------------------------------------

static uint64_t time_ns(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * SB_SECOND + (uint64_t)t->tv_usec * 1000;
}

// The result, if the system reports it.
static void take_result(pid_t pid, struct sb_beside_state *s)
{
    struct rusage u = { 0 };
    int raw = 0;

    s->status = -1;
    if (wait4(pid, &raw, 0, &u) != pid)
        return;
    s->status = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
    s->signal = WIFSIGNALED(raw) ? WTERMSIG(raw) : 0;
    s->cpu_user_ns = time_ns(&u.ru_utime);
    s->cpu_system_ns = time_ns(&u.ru_stime);
    s->rss = (uint64_t)u.ru_maxrss * 1024;
}

static void warn_failed(
    const struct sb_beside *b, const struct sb_beside_state *s)
{
    double seconds = (double)(s->end_ns - s->start_ns) / 1e9;

    if (s->stopped || s->status == 0)
        return;
    if (s->signal)
        sb_log(SB_LOG_ALERT, "--beside: %s was ended by signal %d after %.3f s",
            b->name, s->signal, seconds);
    else if (s->status < 0)
        sb_log(SB_LOG_ALERT,
            "--beside: the exit status of %s is unknown: the system does not "
            "report it",
            b->name);
    else
        sb_log(SB_LOG_ALERT,
            "--beside: %s failed after %.3f s: exit status %d%s%s", b->name,
            seconds, s->status, b->path ? "; its output is in " : "",
            b->path ? b->path : "");
}

// The process is reaped with the lock held: signals are never sent to another
// process with the same number.
static void wait_for_process(struct sb_beside *b)
{
    siginfo_t info;

    assert(b->pid > 0);
    while (
        waitid(P_PID, (id_t)b->pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
        ;
    uint64_t end = sb_clock_monotonic();

    pthread_mutex_lock(&b->lock);
    take_result(b->pid, &b->state);
    b->state.end_ns = end;
    b->state.ended = true;
    b->state.stopped = b->stop;
    b->over = true;
    // Otherwise sb_beside_stop() looks for processes that are left.
    if (!b->stop)
        atomic_store(&running_group, 0);
    const struct sb_beside_state s = b->state;

    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    warn_failed(b, &s);
}

// Returns whether the command was started.
static bool start_in_time(struct sb_beside *b)
{
    int rc = 0;

    pthread_mutex_lock(&b->lock);
    while (!b->stop && sb_clock_monotonic() < b->at)
        wait_until(b, b->at);
    if (!b->stop) {
        uint64_t now = sb_clock_monotonic();

        rc = sb_spawn(b->o->command, b->fd, b->fd, &b->pid);
        b->state.start_ns = now;
        b->state.started = rc == 0;
        if (rc == 0)
            atomic_store(&running_group, b->pid);
    }
    b->over = !b->state.started;
    pthread_cond_broadcast(&b->changed);
    bool started = b->state.started;

    pthread_mutex_unlock(&b->lock);
    if (rc)
        sb_log(SB_LOG_ALERT, "--beside: %s was not started: %s", b->name,
            strerror(rc));
    return started;
}

static void *thread_main(void *arg)
{
    struct sb_beside *b = arg;

    sb_locale_keep();
    if (start_in_time(b))
        wait_for_process(b);
    return NULL;
}

// Interface -------------------------------------------------------------------

// If the program was started with SIGCHLD ignored, the system reports no exit
// status.
static void receive_exit_status(void)
{
    struct sigaction a;

    if (sigaction(SIGCHLD, NULL, &a) == 0 &&
        (a.sa_handler == SIG_IGN || (a.sa_flags & SA_NOCLDWAIT)))
        signal(SIGCHLD, SIG_DFL);
}

// The thread blocks all signals: they are left to the thread that waits for
// them.
int sb_beside_start(struct sb_beside *b, uint64_t ns, struct sb_err *err)
{
    sigset_t all, old;

    assert(!b->has_thread);
    receive_exit_status();
    b->at = ns;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_mutex_lock(&b->lock);
    int rc = pthread_create(&b->thread, NULL, thread_main, b);

    b->has_thread = rc == 0;
    pthread_mutex_unlock(&b->lock);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc)
        return sb_err_set(err, SB_ESYS,
            "--beside: cannot start the thread of the command: %s",
            strerror(rc));
    return 0;
}

void sb_beside_state(struct sb_beside *b, struct sb_beside_state *state)
{
    pthread_mutex_lock(&b->lock);
    *state = b->state;
    pthread_mutex_unlock(&b->lock);
}

int sb_beside_look(struct sb_beside *b, struct sb_err *err)
{
    struct stat st;

    if (b->fd < 0 || fstat(b->fd, &st) || !S_ISREG(st.st_mode))
        return 0;
    bool shrunk = st.st_size < b->size;

    b->size = st.st_size;
    if (!shrunk && sb_outfile_is(b->fd, b->whole))
        return 0;
    return sb_err_set(err, SB_ESYS,
        "--beside: %s was removed, replaced or truncated during the run: the "
        "output of %s is not complete",
        b->path, b->name);
}

bool sb_beside_wait(struct sb_beside *b, uint64_t ns)
{
    pthread_mutex_lock(&b->lock);
    while (!b->over && sb_clock_monotonic() < ns)
        wait_until(b, ns);
    bool over = b->over;

    pthread_mutex_unlock(&b->lock);
    return over;
}

// Processes that the command started may end later than the command. As long as
// there is one, the number of the group is not used again.
static void stop_left(pid_t group, uint64_t until)
{
    uint64_t now = sb_clock_monotonic();
    bool left;

    assert(group > 0);
    if (until > now + LEFT_NS)
        until = now + LEFT_NS;
    while (
        (left = kill(-group, 0) == 0) && (now = sb_clock_monotonic()) < until)
        sb_clock_sleep_until(now + STEP_NS);
    if (left)
        kill(-group, SIGKILL);
    atomic_store(&running_group, 0);
}

// A stopped process ends only when it continues.
static void terminate(pid_t group)
{
    assert(group > 0); // 0 would be that of this process
    kill(-group, SIGTERM);
    kill(-group, SIGCONT);
}

void sb_beside_stop(struct sb_beside *b, uint64_t grace_ns)
{
    uint64_t until = sb_clock_monotonic() + grace_ns;

    pthread_mutex_lock(&b->lock);
    bool running = b->state.started && !b->over;

    b->stop = true;
    pthread_cond_broadcast(&b->changed);
    if (running)
        terminate(b->pid);
    while (b->has_thread && !b->over && sb_clock_monotonic() < until)
        wait_until(b, until);
    if (!b->over && b->state.started)
        kill(-b->pid, SIGKILL);
    while (b->has_thread && !b->over)
        pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
    if (running)
        stop_left(b->pid, until);
}

void sb_beside_kill(void)
{
    pid_t group = atomic_load(&running_group);

    if (group > 0)
        kill(-group, SIGKILL);
}

void sb_beside_destroy(struct sb_beside *b)
{
    if (!b)
        return;
    sb_beside_stop(b, 0);
    if (b->has_thread)
        pthread_join(b->thread, NULL);
    if (b->fd >= 0)
        close(b->fd);
    free(b->path);
    free(b->whole);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
}
