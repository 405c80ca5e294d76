// SPDX-License-Identifier: GPL-2.0-or-later
//
// --sweep and --repeat: the course of a sweep, whose runs are carried out one
// after the other, each in a process of its own. docs/internals/sweep.md
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // memfd_create()
#endif
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/app.h"
#include "base/escape.h"
#include "base/log.h"
#include "kit/clock.h"
#include "kit/units.h"
#include "out/progress.h"
#include "results/sides.h"
#include "results/sweep_figures.h"
#include "results/sweep_files.h"
#include "results/sweep_state.h"

// Processes and signals -------------------------------------------------------
//
// Each run executes the program again, so that runs have nothing in common. The
// sweep has one thread.

struct children {
    sigset_t watched, old;
    struct sigaction old_child;
    int seen; // the first signal that ends the sweep, 0 before
};

// A process to start.
struct child {
    const char *path; // without a slash: a program of $PATH
    char *const *argv;
    int input;   // its standard input
    int keep[2]; // descriptors that it inherits; -1: none
    bool group;  // signals go to the processes that it has started, too
    bool quiet;  // stdout is /dev/null
    bool other;  // another program, which has drivers and workloads of its own
    // The process is ended `limit` ns after its start, and `late` is set; with
    // `started`, only if this file does not exist then. 0: no limit.
    const char *started;
    int64_t limit;
    bool late;
};

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

// Blocks the signals that the following functions receive: SIGINT, SIGTERM, and
// unless they are ignored, SIGHUP and SIGPIPE (standard output has no reader
// any more).
static void children_start(struct children *c)
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
static void receive_pending(struct children *c)
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

// Returns c->seen, after looking whether a signal has come.
static int children_seen(struct children *c)
{
    receive_pending(c);
    return c->seen;
}

static void children_stop(struct children *c)
{
    sigaction(SIGCHLD, &c->old_child, NULL);
    sigprocmask(SIG_SETMASK, &c->old, NULL);
}

// A process group of its own: Ctrl-C goes to the parent only, which passes it
// on once. A second one would end the child at once.
static void become_child(
    struct children *c, const struct child *child, pid_t parent)
{
    // Shells let jobs in the background ignore SIGINT. The parent acts on it
    // all the same, so a child that does not handle it must end.
    struct sigaction end = { .sa_handler = SIG_DFL };
    int null = child->quiet ? open("/dev/null", O_WRONLY) : -1;

    setpgid(0, 0);
    sigaction(SIGINT, &end, NULL);
    children_stop(c);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        raise(SIGTERM);
    dup2(child->input, STDIN_FILENO);
    if (null >= 0)
        dup2(null, STDOUT_FILENO);
    for (int i = 0; i < 2; i++) {
        if (child->keep[i] >= 0)
            fcntl(child->keep[i], F_SETFD, 0);
    }
    if (child->other) {
        unsetenv("SYSBENCH_DRIVER_DIR");
        unsetenv("SYSBENCH_LUA_DIR");
    }
    execvp(child->path, child->argv);
    dprintf(STDERR_FILENO, "FATAL: cannot execute %s: %s\n", child->path,
        strerror(errno));
    _exit(127);
}

// How often to look whether a process has started.
#define LOOK_NS (SB_SECOND / 50)
// From SIGTERM to SIGKILL for a process that has not started.
#define KILL_NS (2 * SB_SECOND)

// Returns the next signal; 0: none until this time.
static int next_signal(struct children *c, uint64_t until)
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
static uint64_t check_start(struct child *child, pid_t pid, uint64_t began)
{
    uint64_t now = sb_clock_monotonic();

    if (!child->limit || (child->started && access(child->started, F_OK) == 0))
        return UINT64_MAX;
    if (now < began + (uint64_t)child->limit)
        return now + LOOK_NS;
    // The processes that it has started, too.
    kill(-pid, child->late ? SIGKILL : SIGTERM);
    child->late = true;
    return now + KILL_NS;
}

static void wait_for(
    struct children *c, struct child *child, pid_t pid, int *status)
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
        kill(child->group ? -pid : pid, sig == SIGINT ? SIGINT : SIGTERM);
    }
    *status = 1;
    if (got == pid)
        *status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

// Executes a program, with the signal mask that this process had before
// children_start(), and waits for its end. On Linux, the program gets SIGTERM
// if this process dies. *status: its exit status, 128 + signal if a signal
// killed it, 127 if it cannot be executed. Signals that this process receives
// are passed to the program, SIGHUP and SIGPIPE as SIGTERM, which ends a run in
// order; the first signal is kept in c->seen. 0, or SB_ESYS: no process can be
// created.
static int execute_child(
    struct children *c, struct child *child, int *status, struct sb_err *err)
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

// Waits. A signal ends the wait.
static void children_pause(struct children *c, int64_t ns)
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

// The sweep -------------------------------------------------------------------

// The commands after a run.
enum sb__sweep_after {
    SB__AFTER_DONE,   // successful, or there are none
    SB__AFTER_OPEN,   // not executed, or interrupted
    SB__AFTER_FAILED, // one failed in this attempt
};

struct sb_app_sweep {
    struct sb_sweep_plan plan;
    struct sb_err plan_err; // of the plan, if plan_rc
    int plan_rc;
    struct sb_sweep_files files;
    struct sb_sweep_names names;
    struct sb_sweep_state state;
    struct sb_sweep_figures figures;
    struct sb_app_ab *ab; // NULL: a sweep
    struct children children;
    char *script; // from standard input, or NULL
    size_t script_len;
    bool text;     // the whole report of each run was asked for
    bool executed; // at least one run, now
    int notices;   // a file, see sb_log_share(); -1: none
    uint64_t took; // ns, by the runs of this attempt with all that belongs to
                   // them
    unsigned ntook;
    // The outcome of each run: see sb_sweep_state_read(). A run that failed in
    // an earlier attempt is open until it is executed again.
    enum sb_sweep_outcome outcome[SB_SWEEP_RUNS_MAX];
    // The commands after each finished run; SB__AFTER_DONE for other runs.
    enum sb__sweep_after after[SB_SWEEP_RUNS_MAX];
    int verdict;      // of sysbench ab: its exit status
    bool left_failed; // a command that an earlier attempt has left
    bool explained;   // the log says why the current run failed
};

// --mix names what is measured, as a test does.
#define SB__SWEEP_MIX                                                        \
    "--sweep: --mix cannot be swept; measure each mix in a run of its own, " \
    "and compare the results"

// The check -------------------------------------------------------------------
//
// Before the first run, a process loads the test and checks the swept options
// with all their values, and the commands.

// The answer of this process if the test itself has an option of this name.
#define SB__SWEEP_OWNED  '1'
#define SB__REPEAT_OWNED '2'

// Called in the process that loads the test, before it does so: gives the swept
// options the values of the first run, because the test may not load without
// them.
static void give_first_values(struct sb_app *a)
{
    const struct sb_sweep_plan *p = &a->sweep->plan;
    struct sb_fact fact[SB_SWEEP_OPTIONS_MAX];
    struct sb_opt_view view;
    struct sb_err err;

    if (a->sweep->plan_rc)
        return;
    unsigned n = sb_sweep_raw_values(p, 0, fact);
    // sb_app_sweep_check() finds these errors again. It can tell whether the
    // options are options of the sweep or of the test.
    for (unsigned i = 0; i < n; i++)
        if (sb_opts_find(a->opts, fact[i].name, &view))
            sb_opts_give(a->opts, fact[i].name, fact[i].value, &err);
}

static bool owned(const struct sb_app *a, const char *name)
{
    struct sb_opt_view view;

    return sb_opts_find(a->opts, name, &view) &&
           view.table != &sb_sweep_opt_table;
}

static int check_name(
    const struct sb_app *a, const char *name, struct sb_err *err)
{
    struct sb_opts_unknown u;
    struct sb_opt_view view;

    if (sb_opts_find(a->opts, name, &view))
        return 0;
    sb_opts_unknown(a->opts, name, true, &u);
    return sb_err_set(err, SB_EUSAGE, "--sweep: there is no option --%s%s%s%s",
        u.name, u.meant[0] ? " (did you mean --" : "", u.meant,
        u.meant[0] ? "?)" : "");
}

// Rejects stages that set a swept option: the runs would not have the values
// that their names contain.
static int check_stages(
    const struct sb_app *a, const char *name, struct sb_err *err)
{
    const struct sb_stages *s = &a->run.stages;
    bool sets = (strcmp(name, "threads") == 0 && s->sets_users) ||
                (strcmp(name, "rate") == 0 && s->sets_rate);

    if (s->n == 0 || !sets)
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "--%s is swept, but --stages sets it, too, so the runs would not have "
        "the swept values: %s",
        name,
        strcmp(name, "rate") == 0
            ? "give the rates of --stages in percent of --rate (rate=50%)"
            : "use only one of them");
}

// A script may have an option --mix, which can be swept.
static int check_mix(const struct sb_app *a, struct sb_err *err)
{
    const struct sb_sweep_plan *p = &a->sweep->plan;
    struct sb_opt_view view;

    if (!sb_opts_find(a->opts, "mix", &view) || view.table != &sb_mix_opt_table)
        return 0;
    for (unsigned i = 0; i < p->noptions; i++)
        if (p->option[i].name && strcmp(p->option[i].name, "mix") == 0)
            return sb_err_set(err, SB_EUSAGE, SB__SWEEP_MIX);
    return 0;
}

// Values may be wrong only together: --rate-limit without --rate=max.
static int check_point(struct sb_app *a, unsigned point, struct sb_err *err)
{
    const struct sb_sweep_plan *p = &a->sweep->plan;
    struct sb_fact fact[SB_SWEEP_OPTIONS_MAX];
    int rc = 0;

    sb_sweep_raw_values(p, point, fact);
    for (unsigned i = 0; rc == 0 && i < p->noptions; i++)
        rc = sb_opts_give(a->opts, fact[i].name, fact[i].value, err);
    // Settings that are derived from the values of one point must not apply to
    // the next one.
    const struct sb_run_opts given = a->run;

    if (rc == 0)
        rc = sb_app_finish_options(a, err);
    for (unsigned i = 0; rc == 0 && i < p->noptions; i++)
        rc = check_stages(a, fact[i].name, err);
    a->run = given;
    return rc;
}

static int check_commands(const struct sb_app *a, const char *option,
    const struct sb_opt_list *commands, struct sb_err *err)
{
    for (size_t i = 0; i < commands->count; i++)
        if (!sb_app_has_command(a, commands->item[i]))
            return sb_err_set(err, SB_EUSAGE,
                "--%s: '%s' test does not implement the '%s' command.", option,
                a->test, commands->item[i]);
    return 0;
}

// The options of each side were given to its own check.
static int check_side(const struct sb_app *a, struct sb_err *err)
{
    struct sb_opt_view view;

    for (const struct sb_opt *o = sb_ab_opt_table.opts; o->name; o++)
        if (sb_opts_find(a->opts, o->name, &view) &&
            view.table != &sb_ab_opt_table)
            return sb_err_set(err, SB_EUSAGE,
                "ab: the test has an option --%s of its own", o->name);
    for (int i = 0; i < 2; i++)
        if (a->sweep->ab->side[i].program &&
            sb_opts_find(a->opts, "program", &view))
            return sb_err_set(err, SB_EUSAGE,
                "ab: the test has an option --program of its own, so the sides "
                "cannot name their programs");
    return 0;
}

static int check_values(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int rc = check_mix(a, err);

    if (rc == 0) {
        rc = s->plan_rc;
        *err = s->plan_err;
    }
    for (unsigned i = 0; rc == 0 && i < s->plan.noptions; i++)
        rc = check_name(a, s->plan.option[i].name, err);
    // The options of drivers, some of which are secret, are known now.
    if (rc == 0)
        rc = sb_sweep_plan_mask(&s->plan, a->opts, err);
    for (unsigned i = 0; rc == 0 && i < s->plan.npoints; i++)
        rc = check_point(a, i, err);
    return rc;
}

static int check_all(struct sb_app *a, struct sb_err *err)
{
    int rc = a->ab ? check_side(a, err) : check_values(a, err);

    if (rc == 0)
        rc = check_commands(a, "sweep-before", &a->sweep_opts.before, err);
    if (rc == 0)
        rc = check_commands(a, "sweep-after", &a->sweep_opts.after, err);
    return rc;
}

static void answer(const struct sb_app *a, char what)
{
    ssize_t n = write(a->setup.answer, &what, 1);

    (void)n; // if the answer is lost, the sweep begins, and its runs fail
}

// The exit status of the process that has loaded the test.
int sb_app_sweep_check(struct sb_app *a)
{
    bool sweep = !a->ab && owned(a, "sweep");
    bool repeat = !a->ab && owned(a, "repeat");
    struct sb_err err = { 0 };

    if (sweep || repeat)
        answer(a, sweep ? SB__SWEEP_OWNED : SB__REPEAT_OWNED);
    if (sweep || (repeat && !sb_opts_given(a->opts, "sweep", false)))
        return SB_EXIT_OK;
    if (check_all(a, &err)) {
        sb_log(SB_LOG_USAGE, "%s", err.msg);
        return SB_EXIT_FAILED;
    }
    return SB_EXIT_OK;
}

int sb_app_sweep_misused(const struct sb_app *a, struct sb_err *err)
{
    static const char *const names[] = { "sweep", "repeat", "sweep-resume",
        "launch" };
    struct sb_opt_view view;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (a->command && strcmp(a->command, "run") != 0 && !a->sweep &&
            a->setup.role == SB_SETUP_OF_RANK &&
            sb_opts_find(a->opts, names[i], &view) &&
            view.table == &sb_sweep_opt_table && view.source == SB_SRC_CMDLINE)
            return sb_err_set(err, SB_EUSAGE,
                "--%s only applies to the command run, not to %s", names[i],
                a->command);
    return 0;
}

// Runs ------------------------------------------------------------------------

// Whether a run needs no other attempt.
static bool is_finished(enum sb_sweep_outcome outcome)
{
    return outcome == SB_SWEEP_GOOD || outcome == SB_SWEEP_MISSED;
}

static unsigned count_runs(
    const struct sb_app_sweep *s, enum sb_sweep_outcome outcome)
{
    unsigned n = 0;

    for (unsigned i = 0; i < s->plan.nruns; i++)
        n += s->outcome[i] == outcome;
    return n;
}

// Returns the number of finished runs whose commands ended in this way.
static unsigned count_after(
    const struct sb_app_sweep *s, enum sb__sweep_after after)
{
    unsigned n = 0;

    for (unsigned i = 0; i < s->plan.nruns; i++)
        n += s->after[i] == after;
    return n;
}

// Writes the values of a run: "threads=4 rate=100", "" without swept options.
static void name_of_run(
    const struct sb_app_sweep *s, unsigned run, char *out, size_t size)
{
    struct sb_fact swept[SB_SWEEP_OPTIONS_MAX];
    char text[400];

    sb_sweep_values(&s->plan, run, swept);
    if (s->ab)
        snprintf(text, sizeof(text), "%s", swept[0].value);
    else
        sb_sweep_text(swept, s->plan.noptions, text, sizeof(text));
    sb_escape_line(out, size, text);
}

// How long a run takes, ns: as long as the others, or as the options say; 0:
// unknown.
static uint64_t length_of_run(const struct sb_app *a)
{
    const struct sb_app_sweep *s = a->sweep;
    const struct sb_run_opts *o = &a->run;
    bool given = o->time > 0 && o->events == 0 && o->stages_text[0] == '\0';

    if (s->ntook)
        return s->took / s->ntook;
    for (unsigned i = 0; i < s->plan.noptions && given; i++)
        given = strcmp(s->plan.option[i].name, "time") != 0 &&
                strcmp(s->plan.option[i].name, "events") != 0;
    if (!given)
        return 0;
    return (uint64_t)(o->time + o->warmup_time + a->sweep_opts.pause);
}

// Lines -----------------------------------------------------------------------

static void print_sides(const struct sb_app *a, const char *test)
{
    const struct sb_ab_side *side = a->sweep->ab->side;
    char text[1024];

    printf("%s: %s and %s, up to %" PRId64 " pairs of runs after %" PRId64
           " A/A pairs, margin %g %%\n",
        test, side[0].name, side[1].name, a->ab_opts.pairs, a->ab_opts.aa,
        a->ab_opts.margin);
    for (int i = 0; i < 2; i++) {
        sb_escape_line(text, sizeof(text), side[i].shown);
        if (*text)
            printf("%s: %s\n", side[i].name, text);
    }
    printf("\n");
    fflush(stdout);
}

static void print_plan(const struct sb_app *a)
{
    const struct sb_sweep_plan *p = &a->sweep->plan;
    uint64_t length = length_of_run(a) * p->nruns;
    char test[1024], time[32];

    if (sb__app_quiet(a))
        return;
    sb_escape_line(test, sizeof(test), a->test ? a->test : "Scripts");
    if (a->ab) {
        print_sides(a, test);
        return;
    }
    printf("Sweep of %s: %u run%s", test, p->nruns, p->nruns == 1 ? "" : "s");
    if (p->rounds > 1)
        printf(" (%u combination%s, %u rounds%s)", p->npoints,
            p->npoints == 1 ? "" : "s", p->rounds,
            p->random ? ", random order" : "");
    sb_units_format_duration(
        (int64_t)(length - length % SB_SECOND), time, sizeof(time));
    if (length >= SB_SECOND)
        printf(", at least %s", time);
    printf("\n\n");
    fflush(stdout);
}

static void print_figures(const struct sb_result_run *r)
{
    const struct sb_report *p = &r->report;
    double p95 = sb_hist_snap_percentile(p->latency, 95, p->lat_max) / 1e6;
    double rate = sb_result_run_throughput(r);

    printf("%.*f events/s, p95 %.*f ms", sb_sweep_decimals(rate), rate,
        sb_sweep_decimals(p95), p95);
    if (p->search && sb_search_found(p->search))
        printf(", highest rate %.*f/s",
            sb_sweep_decimals(p->search->result.rate), p->search->result.rate);
}

// Prints one line for a run that is over, which is the `number`th, from 0.
// status: of its process; kept: it was measured by an earlier attempt.
static void print_run(const struct sb_app *a, unsigned number, unsigned run,
    int status, const struct sb_result_file *f, bool kept)
{
    const struct sb_app_sweep *s = a->sweep;
    static const char *const after[] = {
        [SB__AFTER_DONE] = "",
        [SB__AFTER_OPEN] = ", the commands after it were not completed",
        [SB__AFTER_FAILED] = ", a command after it failed",
    };
    enum sb_sweep_outcome outcome = s->outcome[run];
    char name[400];

    assert(number < s->plan.nruns && s->plan.order[number] == run);
    // Pairs have a line.
    if (sb__app_quiet(a) || (s->ab && is_finished(outcome)))
        return;
    name_of_run(s, run, name, sizeof(name));
    printf("[%u/%u] %s%s", number + 1, s->plan.nruns, name, *name ? ": " : "");
    if (!is_finished(outcome))
        printf("failed, exit status %d", status);
    else if (f->nruns && f->run[0].has_totals)
        print_figures(&f->run[0]);
    printf("%s%s%s\n",
        outcome == SB_SWEEP_MISSED ? ", a limit was not kept" : "",
        after[s->after[run]], kept ? " (measured before)" : "");
    fflush(stdout);
}

// Files -----------------------------------------------------------------------

static int status_of(enum sb_sweep_outcome outcome)
{
    if (outcome == SB_SWEEP_GOOD)
        return SB_EXIT_OK;
    return outcome == SB_SWEEP_MISSED ? SB_EXIT_LIMITS : SB_EXIT_FAILED;
}

// Adds a run to the figures. *keep: its file belongs to the result.
static int add_run(struct sb_app_sweep *s, unsigned run, bool *keep)
{
    struct sb_fact swept[SB_SWEEP_OPTIONS_MAX];
    struct sb_result_file f;

    *keep = false;
    if (s->outcome[run] == SB_SWEEP_OPEN)
        return 0;
    enum sb_sweep_outcome now = sb_sweep_state_read(&s->state, run, &f);

    if (now == SB_SWEEP_OPEN && is_finished(s->outcome[run])) {
        char path[4200];

        sb_sweep_state_file(&s->state, run, path, sizeof(path));
        sb_log(
            SB_LOG_ALERT, "%s was removed or damaged during the sweep", path);
        s->outcome[run] = SB_SWEEP_OPEN;
        sb_result_done(&f);
        return 0;
    }
    *keep = f.nruns == 1;
    sb_sweep_values(&s->plan, run, swept);
    int rc = sb_sweep_figures_add(&s->figures, swept, s->plan.noptions,
        *keep ? &f.run[0] : NULL, status_of(s->outcome[run]));

    sb_result_done(&f);
    return rc;
}

// The file of the result that a reporter writes, or "".
static const char *target_of(const struct sb_app *a, const char *kind)
{
    for (unsigned i = 0; i < a->reporters.n; i++)
        if (strcmp(a->reporters.item[i].kind->name, kind) == 0)
            return a->reporters.item[i].target;
    return "";
}

// Compares the runs of the complete pairs, and writes the page. Sets the status
// of the verdict.
static int compare_sides(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    struct sb_buf side[2] = { { 0 }, { 0 } };

    for (unsigned pair = s->plan.aa; pair < s->plan.rounds; pair++) {
        if (!is_finished(s->outcome[2 * pair]) ||
            !is_finished(s->outcome[2 * pair + 1]))
            continue;
        for (unsigned i = 0; i < 2; i++) {
            char path[4200];

            sb_sweep_state_file(&s->state, 2 * pair + i, path, sizeof(path));
            sb_buf_addf(&side[i], "%s%s", side[i].len ? "," : "", path);
        }
    }
    int rc = side[0].failed || side[1].failed
                 ? sb_err_set(err, SB_ENOMEM, "out of memory")
                 : 0;

    if (rc == 0 && s->ab->ab.n > 1)
        s->verdict = sb_compare_sides(&s->ab->ab, side[0].data, side[1].data,
            target_of(a, "html"), sb__app_quiet(a) ? NULL : stdout);
    sb_buf_done(&side[0]);
    sb_buf_done(&side[1]);
    return rc;
}

static json_t *members_of(struct sb_app_sweep *s)
{
    if (s->ab)
        return json_pack("{s:o,s:o}", "sweep",
            sb_sweep_figures_json(&s->figures), "ab", sb_ab_json(&s->ab->ab));
    return json_pack("{s:o}", "sweep", sb_sweep_figures_json(&s->figures));
}

static int write_results(struct sb_app *a, char **path, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    char doubt[500];
    unsigned n = 0;
    int rc = sb_sweep_state_check(&s->state, err);

    if (rc)
        return rc;
    for (unsigned i = 0; rc == 0 && i < s->plan.nruns; i++) {
        char name[4200];
        bool keep;

        rc = add_run(s, i, &keep);
        sb_sweep_state_file(&s->state, i, name, sizeof(name));
        if (rc == 0 && keep && !(path[n++] = strdup(name)))
            rc = SB_ENOMEM;
    }
    if (rc == 0)
        rc = sb_sweep_figures_compute(&s->figures);
    if (rc)
        return sb_err_set(err, rc, "out of memory");
    if (s->ab) {
        printf("%s", sb__app_quiet(a) ? "" : "\n");
    } else if (!sb__app_quiet(a) && s->figures.npoints) {
        printf("\n");
        sb_sweep_figures_print(&s->figures, true, stdout);
    } else if (sb_sweep_figures_doubt(&s->figures, doubt, sizeof(doubt))) {
        sb_log(SB_LOG_WARNING, "validity: %s", doubt);
    }
    json_t *members = members_of(s);

    rc = sb_sweep_files_write(&s->files, (const char *const *)path, n, members,
        s->ab ? NULL : a->test, err);
    json_decref(members);
    if (rc || !s->ab)
        return rc;
    // The comparison writes the page.
    sb_sweep_files_done(&s->files);
    return compare_sides(a, err);
}

// Prints the table, and writes the files with all runs. SB_ESYS, SB_ENOMEM.
static int print_and_write(struct sb_app *a, struct sb_err *err)
{
    unsigned n = a->sweep->plan.nruns;
    char **path = calloc(n, sizeof(*path));
    int rc = path ? write_results(a, path, err)
                  : sb_err_set(err, SB_ENOMEM, "out of memory");

    for (unsigned i = 0; path && i < n; i++)
        free(path[i]);
    free(path);
    return rc;
}

// Processes of runs and of the commands before and after them -----------------

// The number of a run in the order in which they are executed.
static unsigned place_of(const struct sb_sweep_plan *p, unsigned run)
{
    unsigned i = 0;

    while (p->order[i] != run)
        i++;
    assert(i < p->nruns);
    return i;
}

// The runs that are still to be measured, from this place on.
static unsigned following(const struct sb_app_sweep *s, unsigned place)
{
    unsigned n = 0;

    for (; place < s->plan.nruns; place++)
        n += !is_finished(s->outcome[s->plan.order[place]]);
    return n;
}

// child->path: the program; NULL: this one.
static int start(
    struct sb_app *a, struct child *child, int *status, struct sb_err *err)
{
    const struct sb_app_sweep *s = a->sweep;
    const char *launcher = child->started ? a->sweep_opts.launch : "";
    const char *program = child->path;
    char self[4096], mpi[64];
    struct sb_buf shell = { 0 };
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *argv[10];
    size_t n = 0;

    if (len < 0)
        return sb_err_set(
            err, SB_ESYS, "cannot find the program: %s", strerror(errno));
    self[len] = '\0';
    child->path = *launcher ? "/bin/sh" : program ? program : "/proc/self/exe";
    if (*launcher) {
        // The shell splits the words of --launch, which may name many hosts.
        if (sb_buf_addf(&shell, "exec %s \"$@\"", launcher))
            return sb_err_set(err, SB_ENOMEM, "out of memory");
        argv[n++] = (char *)"sh";
        argv[n++] = (char *)"-c";
        argv[n++] = shell.data;
        argv[n++] = (char *)"sh";
    }
    argv[n++] = program ? (char *)program : *launcher ? self : a->argv[0];
    argv[n++] = (char *)SB_SETUP_FROM_STDIN;
    // Read before the setup is there.
    snprintf(mpi, sizeof(mpi), "--mpi=%s", sb_app_job_setting(a));
    argv[n++] = mpi;
    argv[n++] = (char *)(s->plan.test ? s->plan.test : "");
    argv[n++] = (char *)"run";
    argv[n] = NULL;
    child->argv = argv;
    int rc = execute_child(&a->sweep->children, child, status, err);

    sb_buf_done(&shell);
    return rc;
}

// Logs or returns an error if the launcher has not started all ranks, for which
// rank 0 waits before it creates the file `started`. A signal that ends the
// sweep also ends a launcher before that.
static int judge_launch(struct sb_app *a, const struct child *child,
    int *status, struct sb_err *err)
{
    const char *launcher = a->sweep_opts.launch;
    bool started = !child->late && access(child->started, F_OK) == 0;

    if (started || children_seen(&a->sweep->children))
        return 0;
    if (child->late)
        sb_log(SB_LOG_ALERT,
            "--launch: '%.200s' did not start all ranks within %g s "
            "(--launch-timeout), or rank 0 cannot write to %s",
            launcher, (double)child->limit / 1e9, a->sweep->state.dir);
    else if (*status == 126 || *status == 127)
        return sb_err_set(err, SB_ESYS,
            "--launch: '%.200s' cannot be executed, or cannot execute sysbench "
            "on a host (exit status %d)",
            launcher, *status);
    else
        sb_log(SB_LOG_ALERT,
            "--launch: '%.200s' ended with exit status %d before all ranks "
            "were started, or rank 0 cannot write to %s",
            launcher, *status, a->sweep->state.dir);
    a->sweep->explained = true;
    *status = *status ? *status : SB_EXIT_FAILED;
    return 0;
}

// Executes the program with this setup, to which it adds what all processes of
// the sweep get. started: NULL, or a file that the process creates; a launcher
// starts it. *status: of the process; *answer: what it wrote, or 0. 0 or SB_E*.
static int execute_setup(struct sb_app *a, struct sb_app_setup *setup,
    bool quiet, const char *started, int *status, char *answer,
    struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    struct child child = { .path = setup->program,
        .keep = { s->state.lock, setup->notices },
        .quiet = quiet,
        .other = setup->program != NULL,
        .started = started,
        .limit = started ? a->sweep_opts.launch_timeout : 0 };
    struct sb_buf b;

    setup->started = (char *)started;
    setup->script = s->script;
    setup->script_len = s->script_len;
    sb_buf_init(&b, 0);
    sb_app_setup_put(a, setup, &b);
    child.input = sb_app_setup_file(&b, err);
    int rc = child.input < 0 ? err->code : start(a, &child, status, err);

    if (rc == 0 && started)
        rc = judge_launch(a, &child, status, err);
    if (answer && (rc || pread(child.input, answer, 1, (off_t)b.len) != 1))
        *answer = 0;
    if (child.input >= 0)
        close(child.input);
    sb_buf_done(&b);
    return rc;
}

static void use_side(
    const struct sb_app_ab *ab, unsigned side, struct sb_app_setup *setup)
{
    setup->given = &ab->given[side];
    setup->program = ab->side[side].program;
}

// Executes a command in a process of its own, with the options of a run.
static int execute(struct sb_app *a, unsigned run, const char *command,
    const char *reports, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    const struct sb_sweep_plan *p = &s->plan;
    struct sb_app_setup setup = {
        .role = SB_SETUP_OF_RUN,
        .command = (char *)command,
        .report = (char *)reports,
        .nshown = p->noptions,
        .round = run / p->npoints + 1,
        .place = place_of(p, run) + 1,
        .places = p->nruns,
    };
    char started[4200];

    setup.following = following(s, setup.place);
    setup.ends = length_of_run(a) * (setup.following + 1);
    // A launcher may not pass the file on. Whole reports are complete.
    setup.notices = *a->sweep_opts.launch || s->text ? -1 : s->notices;
    setup.nvalues = sb_sweep_raw_values(p, run, setup.value);
    sb_sweep_values(p, run, setup.shown);
    if (s->ab)
        use_side(s->ab, sb_sweep_side(p, run), &setup);
    memcpy(setup.kept, s->names.kept, sizeof(setup.kept));
    if (*a->sweep_opts.launch)
        sb_sweep_state_started(&s->state, started, sizeof(started));
    return execute_setup(a, &setup, !s->text,
        *a->sweep_opts.launch ? started : NULL, status, NULL, err);
}

// when: "before" or "after" the run. A command that a signal interrupts has not
// failed.
static int execute_list(struct sb_app *a, unsigned run, const char *when,
    const struct sb_opt_list *commands, int *status, struct sb_err *err)
{
    struct children *c = &a->sweep->children;
    char name[400];

    name_of_run(a->sweep, run, name, sizeof(name));
    for (size_t i = 0; i < commands->count && *status == 0; i++) {
        int rc = execute(a, run, commands->item[i],
            a->sweep->text ? "text" : "none", status, err);

        if (rc || children_seen(c))
            return rc;
        if (*status) {
            sb_log(SB_LOG_ALERT, "%s %s the run%s%s failed, exit status %d",
                commands->item[i], when, *name ? " " : "", name, *status);
            a->sweep->explained = true;
        }
    }
    return 0;
}

// How long --switch may take, ns: a server may have to be started.
#define SWITCH_NS (INT64_C(1800) * (int64_t)SB_SECOND)

// Executes the command of --switch.
static int execute_switch(
    struct sb_app *a, unsigned run, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    char *command = sb_app_ab_switch(a, s->ab, sb_sweep_side(&s->plan, run));
    char *const argv[] = { (char *)"sh", (char *)"-c", command, NULL };
    struct child child = { .path = "/bin/sh",
        .argv = argv,
        .input = open("/dev/null", O_RDONLY | O_CLOEXEC),
        .keep = { -1, -1 },
        .group = true,
        .limit = SWITCH_NS };

    if (!command)
        return 0;
    int rc = child.input < 0 ? sb_err_set(err, SB_ESYS,
                                   "cannot open /dev/null: %s", strerror(errno))
                             : execute_child(&s->children, &child, status, err);

    if (child.input >= 0)
        close(child.input);
    if (rc == 0 && *status && !children_seen(&s->children)) {
        sb_log(SB_LOG_ALERT,
            child.late ? "--switch: '%.200s' did not end within 30 minutes"
                       : "--switch: '%.200s' failed, exit status %d",
            command, *status);
        s->explained = true;
    }
    free(command);
    return rc;
}

// *status: 0, or that of the first process that failed.
static int execute_steps(struct sb_app *a, unsigned run, const char *reports,
    int *status, struct sb_err *err)
{
    struct children *c = &a->sweep->children;

    *status = 0;
    int rc = a->ab ? execute_switch(a, run, status, err) : 0;

    if (rc == 0 && *status == 0 && !children_seen(c))
        rc = execute_list(a, run, "before", &a->sweep_opts.before, status, err);

    if (rc == 0 && *status == 0 && !children_seen(c))
        rc = execute(a, run, "run", reports, status, err);
    return rc;
}

// Executes the commands after a run that has ended. If they fail or a signal
// interrupts them, --sweep-resume repeats only the commands, not the run.
static int execute_after(struct sb_app *a, unsigned run, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int status = 0;

    if (children_seen(&s->children))
        return 0;
    int rc = execute_list(a, run, "after", &a->sweep_opts.after, &status, err);

    if (rc || children_seen(&s->children))
        return rc;
    if (status == 0)
        sb_sweep_state_after_done(&s->state, run);
    s->after[run] = status ? SB__AFTER_FAILED : SB__AFTER_DONE;
    return 0;
}

// Executes a run and the commands before and after it. The file of a run counts
// only if the run had ended before a signal.
static int execute_run(
    struct sb_app *a, unsigned run, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    char path[4200], reports[32768];

    assert(!is_finished(s->outcome[run])); // its file would be removed
    s->explained = false;
    int rc = sb_sweep_state_begin(
        &s->state, run, a->sweep_opts.after.count > 0, path, sizeof(path), err);

    if (rc == 0)
        rc = sb_sweep_names_reports(
            &s->names, run, s->text, path, reports, sizeof(reports), err);
    if (rc == 0)
        rc = execute_steps(a, run, reports, status, err);
    if (rc)
        return rc;
    s->after[run] = SB__AFTER_OPEN;
    rc = sb_sweep_state_settle(
        &s->state, run, *status, children_seen(&s->children) != 0, err);
    return rc ? rc : execute_after(a, run, err);
}

// The course of the sweep -----------------------------------------------------

// Waits until the next run, unless a signal comes.
static void pause_before(struct sb_app *a, unsigned run)
{
    struct sb_app_sweep *s = a->sweep;
    int64_t left = a->sweep_opts.pause, step;
    bool shown = sb__app_has_progress(a);
    char line[120];

    for (; left > 0 && !children_seen(&s->children); left -= step) {
        step = left > (int64_t)SB_SECOND ? (int64_t)SB_SECOND : left;
        sb_progress_pause(line, sizeof(line), place_of(&s->plan, run) + 1,
            s->plan.nruns, (double)left / SB_SECOND);
        if (shown)
            sb_log_progress("%s", line);
        children_pause(&s->children, step);
    }
    if (shown)
        sb_log_progress_done();
}

// Measures a run that is not finished, unless a signal comes.
static int measure(
    struct sb_app *a, unsigned run, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;

    uint64_t began = sb_clock_monotonic();

    if (s->executed)
        pause_before(a, run);
    s->executed = true;
    if (children_seen(&s->children))
        return 0;
    int rc = execute_run(a, run, status, err);

    s->took += sb_clock_monotonic() - began;
    s->ntook++;
    return rc;
}

// Sets `after` of a run whose outcome is known. failed: in this attempt.
static void find_after(struct sb_app_sweep *s, unsigned run, bool failed)
{
    s->after[run] = SB__AFTER_DONE;
    if (is_finished(s->outcome[run]) && sb_sweep_state_after(&s->state, run))
        s->after[run] = failed ? SB__AFTER_FAILED : SB__AFTER_OPEN;
}

// Logs why a run has failed, unless its process has done so: with other
// statuses than these, it was killed, or a script or a launcher has ended it.
static void explain_failure(const struct sb_app *a, unsigned run, int status)
{
    const struct sb_app_sweep *s = a->sweep;
    bool killed = status > 128 && status <= 128 + SIGRTMAX;
    char name[400], what[600];

    if (s->explained || status == SB_EXIT_FAILED || status == SB_EXIT_FORCED ||
        !sb_sweep_state_explain(&s->state, run, what, sizeof(what)))
        return;
    name_of_run(s, run, name, sizeof(name));
    sb_log(SB_LOG_ALERT, "the run%s%s %s: its %s %s %d", *name ? " " : "", name,
        what, *a->sweep_opts.launch ? "launcher" : "process",
        killed ? "was killed by signal" : "ended with exit status",
        killed ? status - 128 : status);
}

// Judges the pair that a run has completed. number: of the run.
static void take_pair(struct sb_app *a, unsigned number)
{
    struct sb_app_sweep *s = a->sweep;
    unsigned pair = number / 2, first = s->plan.order[2 * pair];
    bool same = sb_sweep_is_same(&s->plan, first), taken = false;
    struct sb_result_file f[2] = { { 0 }, { 0 } };

    for (unsigned i = 0; i < 2; i++)
        sb_sweep_state_read(&s->state, 2 * pair + i, &f[i]);
    if (f[0].nruns && f[1].nruns)
        taken = sb_ab_add(
            &s->ab->ab, &f[0].run[0], &f[1].run[0], same, first % 2 == 1);
    sb_result_done(&f[0]);
    sb_result_done(&f[1]);
    if (!taken || sb__app_quiet(a))
        return;
    sb_ab_print_pair(&s->ab->ab, same, stdout);
    if (pair + 1 == s->plan.aa) {
        sb_ab_print_resolution(&s->ab->ab, stdout);
        printf("\n");
    }
    fflush(stdout);
}

static int next_run(struct sb_app *a, unsigned number, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    unsigned run = s->plan.order[number];
    struct sb_result_file f = { 0 };
    bool kept = is_finished(s->outcome[run]);
    int status = 0;
    int rc = kept ? 0 : measure(a, run, &status, err);

    if (rc)
        return rc;
    s->outcome[run] = sb_sweep_state_read(&s->state, run, &f);
    find_after(s, run, s->after[run] == SB__AFTER_FAILED);
    // An interrupted run has no figures.
    if (s->outcome[run] != SB_SWEEP_OPEN)
        print_run(a, number, run, status, &f, kept);
    if (s->outcome[run] == SB_SWEEP_FAILED)
        explain_failure(a, run, status);
    sb_result_done(&f);
    if (s->ab && number % 2 == 1)
        take_pair(a, number);
    return 0;
}

// Warns that a run whose file an earlier attempt has completed is repeated.
static void warn_of_damage(const struct sb_app_sweep *s, unsigned run)
{
    char path[4200], name[400];

    sb_sweep_state_file(&s->state, run, path, sizeof(path));
    if (access(path, F_OK))
        return;
    name_of_run(s, run, name, sizeof(name));
    sb_log(SB_LOG_WARNING, "%s is damaged: the run%s%s is repeated", path,
        *name ? " " : "", name);
}

// Sets the outcomes of the runs that earlier attempts have finished.
static void find_finished(struct sb_app_sweep *s)
{
    for (unsigned i = 0; i < s->plan.nruns; i++) {
        struct sb_result_file f;

        s->outcome[i] = sb_sweep_state_read(&s->state, i, &f);
        if (s->outcome[i] == SB_SWEEP_OPEN)
            warn_of_damage(s, i);
        if (s->outcome[i] == SB_SWEEP_FAILED)
            s->outcome[i] = SB_SWEEP_OPEN;
        find_after(s, i, false);
        sb_result_done(&f);
    }
}

// Whether --sweep-stop ends the sweep here.
static bool stops(const struct sb_app *a)
{
    const struct sb_app_sweep *s = a->sweep;

    return (a->sweep_opts.stop || s->ab) &&
           (s->left_failed || count_runs(s, SB_SWEEP_FAILED) ||
               count_after(s, SB__AFTER_FAILED));
}

// Executes the commands that earlier attempts have left, also those of a run
// that failed or was interrupted and is repeated. No run begins before: the
// commands before a run may need what these commands remove.
static int execute_left(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->plan.nruns && !stops(a); i++) {
        unsigned run = s->plan.order[i];

        if (!sb_sweep_state_after(&s->state, run))
            continue;
        rc = execute_after(a, run, err);
        s->left_failed = s->left_failed || s->after[run] == SB__AFTER_FAILED;
        find_after(s, run, s->after[run] == SB__AFTER_FAILED);
    }
    return rc;
}

// Executes the commands that earlier attempts have left, then all runs that are
// not finished. 0 or SB_E*.
static int execute_runs(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int rc;

    find_finished(s);
    rc = execute_left(a, err);
    for (unsigned i = 0; rc == 0 && i < s->plan.nruns; i++) {
        bool kept = is_finished(s->outcome[s->plan.order[i]]);

        if (children_seen(&s->children) || (!kept && stops(a)) ||
            (s->ab && sb_ab_is_known(&s->ab->ab)))
            break;
        rc = next_run(a, i, err);
    }
    return rc;
}

static enum sb_sweep_role end_with(int *status, int value)
{
    *status = value;
    return SB_SWEEP_DONE;
}

static int failure(const struct sb_err *err)
{
    sb_log(SB_LOG_FATAL, "%s", err->msg);
    return SB_EXIT_FAILED;
}

// An experiment without an answer may be continued with more pairs.
static bool is_complete(const struct sb_app_sweep *s)
{
    if (s->ab)
        return sb_ab_is_known(&s->ab->ab);
    return count_runs(s, SB_SWEEP_OPEN) == 0 &&
           count_runs(s, SB_SWEEP_FAILED) == 0 &&
           count_after(s, SB__AFTER_OPEN) == 0 &&
           count_after(s, SB__AFTER_FAILED) == 0;
}

// Logs the state of the commands after runs. Returns the words for what is left
// to do with them, or NULL.
static const char *explain_after(const struct sb_app_sweep *s)
{
    unsigned open = count_after(s, SB__AFTER_OPEN);
    unsigned failed = count_after(s, SB__AFTER_FAILED);

    if (failed)
        sb_log(SB_LOG_ALERT,
            "the commands after %u of %u runs failed; the figures of these "
            "runs are kept",
            failed, s->plan.nruns);
    if (open)
        sb_log(SB_LOG_ALERT,
            "the commands after %u of %u runs were not completed; the figures "
            "of these runs are kept",
            open, s->plan.nruns);
    if (failed)
        return "repeat";
    return open ? "execute" : NULL;
}

// Logs which runs and commands of the sweep are not finished, and how to finish
// them. written: the files with the results were written.
static void explain(const struct sb_app_sweep *s, bool written)
{
    unsigned open = count_runs(s, SB_SWEEP_OPEN);
    unsigned failed = count_runs(s, SB_SWEEP_FAILED);

    if (s->ab && sb_ab_is_known(&s->ab->ab))
        return;
    if (open)
        sb_log(SB_LOG_ALERT,
            "the sweep ended early: %u of %u runs are measured",
            s->plan.nruns - open - failed, s->plan.nruns);
    else if (failed)
        sb_log(SB_LOG_ALERT, "%u of %u runs failed", failed, s->plan.nruns);
    const char *todo = explain_after(s);

    if (s->state.temporary)
        return;
    if (open + failed == s->plan.nruns)
        sb_log(SB_LOG_ALERT,
            "no run is finished; begin again, or add --sweep-resume to "
            "continue the sweep in %s",
            s->state.dir);
    else if (open || failed)
        sb_log(SB_LOG_ALERT,
            "the finished runs are in %s; add --sweep-resume to measure the "
            "others",
            s->state.dir);
    else if (todo)
        sb_log(SB_LOG_ALERT,
            "the finished runs are in %s; add --sweep-resume to %s only these "
            "commands",
            s->state.dir, todo);
    else if (!written)
        sb_log(SB_LOG_ALERT,
            "all runs are finished and kept in %s; add --sweep-resume to write "
            "the results",
            s->state.dir);
}

static int exit_status(const struct sb_app_sweep *s)
{
    if (s->children.seen)
        return 128 + s->children.seen;
    if (s->ab && count_runs(s, SB_SWEEP_FAILED) == 0)
        return s->verdict;
    if (!is_complete(s))
        return SB_EXIT_FAILED;
    return count_runs(s, SB_SWEEP_MISSED) ? SB_EXIT_LIMITS : SB_EXIT_OK;
}

// Opens all files, so that no run is measured for nothing.
static int open_files(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int rc = sb_sweep_names_init(&s->names, &a->reporters, &s->plan, err);

    if (rc == 0)
        rc = sb_sweep_files_open(&s->files, &a->reporters, err);
    if (rc == 0)
        rc = sb_sweep_state_open(&s->state, sb_sweep_files_main(&a->reporters),
            a->sweep_opts.resume, &s->plan, a->opts, err);
    return rc;
}

static int perform_sweep(struct sb_app *a, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    struct sb_err later = { 0 };
    int rc = open_files(a, err);

    if (rc)
        return rc;
    print_plan(a);
    if (s->ab &&
        sb_ab_init(&s->ab->ab, &a->ab_opts, s->plan.planned, s->ab->side))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    rc = execute_runs(a, err);
    int written = print_and_write(a, rc ? &later : err);

    unsigned long hidden = sb_log_hidden(s->notices);

    if (hidden)
        sb_log(SB_LOG_NOTICE,
            "%lu message%s of later runs %s not shown, because earlier runs "
            "had the same",
            hidden, hidden == 1 ? "" : "s", hidden == 1 ? "was" : "were");
    // The last lines may have caused SIGPIPE.
    children_seen(&s->children);
    *status = exit_status(s);
    if (sb_sweep_state_check(&s->state, &later) == 0)
        explain(s, written == 0);
    return rc ? rc : written;
}

static enum sb_sweep_role carry_out(
    struct sb_app *a, int *status, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;

    assert(s->plan_rc == 0);
    int rc = perform_sweep(a, status, err);

    if (rc)
        *status = failure(err);
    sb_sweep_state_done(&s->state, rc == 0 && is_complete(s));
    sb_sweep_files_done(&s->files);
    return SB_SWEEP_DONE;
}

// The roles of processes ------------------------------------------------------

// Standard input can be read only once.
static int read_script(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    char part[65536];
    struct sb_buf b;
    size_t n;

    if (a->ab || (a->test && strcmp(a->test, "-") != 0 &&
                     strcmp(a->test, "/dev/stdin") != 0))
        return 0;
    sb_buf_init(&b, 0);
    while ((n = fread(part, 1, sizeof(part), stdin)) > 0)
        sb_buf_add(&b, part, n);
    if (ferror(stdin) || b.failed || sb_buf_add(&b, "", 1)) {
        sb_buf_done(&b);
        return sb_err_set(err, SB_ESYS,
            "cannot read the script from standard input: %s",
            strerror(b.failed ? ENOMEM : errno));
    }
    s->script = b.data;
    s->script_len = b.len - 1;
    return 0;
}

// Returns the role after the check, which ended with this status. The runs of a
// script that has its own option --repeat are not repeated.
static enum sb_sweep_role without_owned(
    struct sb_app *a, char owned, int status)
{
    struct sb_sweep_plan *p = &a->sweep->plan;

    if (owned == SB__SWEEP_OWNED ||
        (owned == SB__REPEAT_OWNED && !sb_opts_given(a->opts, "sweep", false)))
        return SB_SWEEP_NONE;
    if (owned == SB__REPEAT_OWNED) {
        p->nruns = p->npoints;
        p->rounds = 1;
        sb_sweep_plan_order(p);
    }
    return status ? SB_SWEEP_DONE : SB_SWEEP_RUN;
}

// Executes a process that loads the test and checks all options and values.
// Returns what to do next.
static enum sb_sweep_role check(struct sb_app *a, int *status)
{
    struct sb_app_setup setup = { .role = SB_SETUP_OF_CHECK,
        .notices = -1,
        .command = (char *)a->command,
        .report = (char *)"" };
    struct sb_app_sweep *s = a->sweep;
    struct sb_err err = { 0 };
    char owned = 0;
    int rc = read_script(a, &err);

    s->state.lock = -1;
    *status = 0;
    // Each side has options of its own.
    for (int i = 0; rc == 0 && *status == 0 && i < (s->ab ? 2 : 1); i++) {
        if (s->ab && s->plan_rc == 0)
            use_side(s->ab, (unsigned)i, &setup);
        rc = execute_setup(a, &setup, true, NULL, status, &owned, &err);
        if (rc == 0 && *status && setup.program && !children_seen(&s->children))
            sb_log(SB_LOG_USAGE,
                "%s: its program, %s, failed when it checked the options, exit "
                "status %d",
                s->ab->side[i].name, s->ab->side[i].build, *status);
    }
    if (rc)
        return end_with(status, failure(&err));
    enum sb_sweep_role role = without_owned(a, owned, *status);

    // The process of the check reports errors of the plan, unless the test has
    // ended it before.
    if (role == SB_SWEEP_RUN && s->plan_rc) {
        sb_log(SB_LOG_USAGE, "%s", s->plan_err.msg);
        return end_with(status, SB_EXIT_FAILED);
    }
    return role;
}

static bool text_given(const struct sb_app *a)
{
    const struct sb_opt_list *list = &a->report_opts.report;
    struct sb_opt_view view;

    if (!sb_opts_find(a->opts, "report", &view) ||
        view.source == SB_SRC_DEFAULT)
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i], "text") == 0)
            return true;
    return false;
}

static int is_mix(void *arg, const char *text)
{
    (void)arg;
    return strncmp(text, "mix=", 4) == 0;
}

// Returns whether --mix is swept without a test: the command would then be
// taken for the test.
static bool sweeps_mix(const struct sb_app *a)
{
    struct sb_opt_view view;

    return !a->command && sb_opts_find(a->opts, "sweep", &view) &&
           view.source > SB_SRC_DEFAULT &&
           sb_opts_values(a->opts, "sweep", view.source, is_mix, NULL);
}

// This is the process of a run, or of a command before or after it.
static int take_options(struct sb_app *a, struct sb_err *err)
{
    const struct sb_app_setup *s = &a->setup;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->nvalues; i++)
        rc = sb_opts_give(a->opts, s->value[i].name, s->value[i].value, err);
    // Ranks other than 0 write a file only if rank 0 is lost; its name is the
    // one that the user gave.
    if (rc == 0 && s->report[0] && !sb_app_job_follows(a))
        rc = sb_opts_give(a->opts, "report", s->report, err);
    a->command = s->command;
    return rc;
}

static int plan_sides(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;

    s->ab = calloc(1, sizeof(*s->ab));
    s->verdict = SB_CMD_NO_VERDICT; // also without complete pairs
    if (!s->ab)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    if (sb_sweep_wanted(a->opts) &&
        !sb_opts_given(a->opts, "sweep-resume", false))
        return sb_err_set(err, SB_EUSAGE,
            "ab: --sweep and --repeat cannot be combined with it");
    int rc = sb_app_ab_init(a, s->ab, err);

    return rc ? rc
              : sb_sweep_plan_sides(
                    &s->plan, &a->ab_opts, s->ab->side, a->random.seed, err);
}

static int make_plan(struct sb_app *a)
{
    struct sb_app_sweep *s = calloc(1, sizeof(*s));

    if (!s)
        return SB_ENOMEM;
    a->sweep = s;
    s->notices = memfd_create("sysbench-notices", MFD_CLOEXEC);
    s->text = text_given(a);
    s->plan_rc = a->ab ? plan_sides(a, &s->plan_err)
                       : sb_sweep_plan_init(&s->plan, &a->sweep_opts, a->opts,
                             a->random.seed, &s->plan_err);
    s->plan.test = a->test;
    return 0;
}

static int check_alone(const struct sb_app *a, struct sb_err *err)
{
    if (a->job)
        return sb_err_set(err, SB_EUSAGE,
            "a sweep starts its runs itself: use --launch='mpirun -n %u' "
            "instead of starting the sweep with a launcher",
            a->job->ranks);
    return 0;
}

static enum sb_sweep_role lead(struct sb_app *a, int *status)
{
    struct sb_err err = { 0 };

    if (check_alone(a, &err)) {
        sb_log(SB_LOG_USAGE, "%s", err.msg);
        return end_with(status, SB_EXIT_FAILED);
    }
    children_start(&a->sweep->children);
    enum sb_sweep_role role = check(a, status);

    if (role == SB_SWEEP_RUN)
        role = carry_out(a, status, &err);
    children_stop(&a->sweep->children);
    // The script has an option of this name, and is loaded again.
    if (role == SB_SWEEP_NONE && a->sweep->script) {
        a->setup.script = a->sweep->script;
        a->setup.script_len = a->sweep->script_len;
        a->sweep->script = NULL;
    }
    return role;
}

enum sb_sweep_role sb_app_sweep(struct sb_app *a, int *status)
{
    struct sb_err err = { 0 };

    if (a->setup.role == SB_SETUP_OF_RUN)
        return take_options(a, &err) ? end_with(status, failure(&err))
                                     : SB_SWEEP_RUN;
    if (sweeps_mix(a)) {
        sb_log(SB_LOG_USAGE, SB__SWEEP_MIX);
        return end_with(status, SB_EXIT_FAILED);
    }
    bool wanted = a->ab || sb_sweep_wanted(a->opts);

    if (a->ab && (!a->command || strcmp(a->command, "run") != 0)) {
        sb_log(SB_LOG_USAGE, "Usage: sysbench ab TEST --a='NAME: --OPTION=VALUE"
                             " ...' --b=... [options]... run");
        return end_with(status, SB_EXIT_FAILED);
    }
    if (!wanted || !a->command || strcmp(a->command, "run") != 0 ||
        a->o.print_config || a->o.list)
        return SB_SWEEP_NONE;
    if (make_plan(a)) {
        sb_err_set(&err, SB_ENOMEM, "out of memory");
        return end_with(status, failure(&err));
    }
    if (a->setup.role == SB_SETUP_OF_CHECK) {
        give_first_values(a);
        return SB_SWEEP_CHECK;
    }
    return lead(a, status);
}

void sb_app_sweep_done(struct sb_app *a)
{
    if (!a->sweep)
        return;
    free(a->sweep->script);
    sb_sweep_files_leave(&a->sweep->files);
    if (a->sweep->ab)
        sb_app_ab_done(a->sweep->ab);
    free(a->sweep->ab);
    sb_sweep_plan_done(&a->sweep->plan);
    sb_sweep_figures_done(&a->sweep->figures);
    if (a->sweep->notices >= 0)
        close(a->sweep->notices);
    free(a->sweep);
    a->sweep = NULL;
}
