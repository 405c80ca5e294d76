// SPDX-License-Identifier: GPL-2.0-or-later
//
// --beside: the command beside a run, alone before it and with it.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/clock.h"
#include "base/log.h"
#include "out/beside_figures.h"
#include "run/signals.h"

struct sb__app_beside {
    struct sb_beside *process; // NULL: could not be created
    struct sb_beside_figures figures;
    char name[SB_BESIDE_NAME];
    uint64_t measured;  // CLOCK_MONOTONIC in ns
    sigset_t mask;      // of the main thread before sb__app_beside_begin()
    bool complete;      // the output: the command has ended
    struct sb_err lost; // why the output is lost; code 0: it is not
};

static bool given(const struct sb_app *a, const char *name)
{
    struct sb_opt_view view;

    return sb_opts_find(a->opts, name, &view) &&
           view.table == &sb_beside_opt_table && view.source > SB_SRC_DEFAULT;
}

int sb_app_beside_check(const struct sb_app *a, struct sb_err *err)
{
    static const char *const names[] = { "beside-name", "beside-start",
        "beside-output", "beside-alone", "beside-wait" };
    bool others = false;
    struct sb_opt_view view;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        others = others || given(a, names[i]);
    if (a->command && strcmp(a->command, "run") != 0 &&
        sb_opts_find(a->opts, "beside", &view) &&
        view.table == &sb_beside_opt_table && view.source == SB_SRC_CMDLINE &&
        a->setup.role == SB_SETUP_OF_RANK)
        return sb_err_set(err, SB_EUSAGE,
            "--beside only applies to the command run, not to %s", a->command);
    if (a->run.share.ranks > 1 && a->beside_opts.alone)
        return sb_err_set(err, SB_EUSAGE,
            "--beside-alone cannot be combined with several ranks: the other "
            "ranks would run while the command runs without load");
    return sb_beside_check(&a->beside_opts, others, a->run.time, err);
}

static uint64_t grace(const struct sb_app *a)
{
    return (uint64_t)a->run.shutdown_grace;
}

// A time since `base`. The measured part begins when all users have started,
// which may be a few milliseconds after the command.
static double since(uint64_t base, uint64_t ns)
{
    return ns > base ? (double)(ns - base) / 1e9 : 0;
}

static void copy_state(
    struct sb_beside_command *c, struct sb_beside *p, uint64_t base)
{
    struct sb_beside_state s;

    sb_beside_state(p, &s);
    *c = (struct sb_beside_command){ .started = s.started,
        .ended = s.ended,
        .stopped = s.stopped,
        .start = since(base, s.start_ns),
        .end = since(base, s.end_ns),
        .seconds = since(s.start_ns, s.end_ns),
        .status = s.status,
        .signal = s.signal,
        .cpu_user = (double)s.cpu_user_ns / 1e9,
        .cpu_system = (double)s.cpu_system_ns / 1e9,
        .rss = s.rss };
}

struct stopped {
    struct sb_beside *process;
    uint64_t grace;
};

static void stop_for_signal(void *arg, int sig)
{
    const struct stopped *s = arg;

    (void)sig;
    sb_beside_stop(s->process, s->grace);
}

// Blocks SIGINT and SIGTERM before and after the run, when no thread waits for
// them: otherwise they would end the program and leave the command running.
// They stay pending until a thread waits for signals.
static void hold_signals(struct sb__app_beside *b)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &b->mask);
}

static void release_signals(const struct sb__app_beside *b)
{
    pthread_sigmask(SIG_SETMASK, &b->mask, NULL);
}

// Runs the command without load. Returns SB_EXIT_OK, SB_EXIT_FAILED if the
// command failed or could not start, or 128 + the signal that stopped it.
static int run_alone(struct sb_app *a, struct sb__app_beside *b)
{
    struct stopped alone = { .grace = grace(a) };
    struct sb_beside_command *c = &b->figures.alone;
    struct sb_signals signals;
    struct sb_err err = { 0 };
    int sig = 0;

    if (!sb__app_quiet(a))
        printf("Running %s alone...\n\n", b->name);
    fflush(stdout);
    int rc = sb_beside_create(
        &alone.process, &a->beside_opts, a->setup.place, true, &err);

    if (rc == 0)
        rc = sb_signals_start(&signals, stop_for_signal, &alone, &err);
    if (rc == 0) {
        uint64_t now = sb_clock_monotonic();

        rc = sb_beside_start(alone.process, now, &err);
        if (rc == 0)
            sb_beside_wait(alone.process, UINT64_MAX / 2);
        sb_signals_stop(&signals);
        sig = atomic_load(&signals.seen);
        copy_state(c, alone.process, now);
    }
    sb_beside_destroy(alone.process);
    b->figures.tried_alone = true;
    if (rc)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    if (sig)
        return 128 + sig;
    return rc || !c->ended || c->status ? SB_EXIT_FAILED : SB_EXIT_OK;
}

// A comparison needs a time without the command.
static void warn_of_start(const struct sb_app *a, const char *name)
{
    if (a->beside_opts.wait &&
        sb_beside_start_time(&a->beside_opts, a->run.time) == 0)
        sb_log(SB_LOG_WARNING,
            "--beside: the run begins and ends with %s: without "
            "--beside-start, there is nothing to compare it with",
            name);
}

// Returns the exit status.
static int prepare(struct sb_app *a, struct sb__app_beside *b)
{
    struct sb_err err = { 0 };

    sb_beside_name(&a->beside_opts, b->name);
    b->figures.name = b->name;
    b->figures.pct = a->text.npct ? a->text.classic_pct : 0;
    warn_of_start(a, b->name);
    int status = a->beside_opts.alone ? run_alone(a, b) : SB_EXIT_OK;

    if (status)
        return status;
    if (sb_beside_create(
            &b->process, &a->beside_opts, a->setup.place, false, &err)) {
        sb_log(SB_LOG_FATAL, "%s", err.msg);
        return SB_EXIT_FAILED;
    }
    return SB_EXIT_OK;
}

int sb__app_beside_begin(struct sb__listening *t)
{
    struct sb_app *a = t->a;

    // One rank starts the command of the whole run.
    if (!*a->beside_opts.command || a->run.share.rank > 0)
        return SB_EXIT_OK;
    assert(!t->beside);
    t->beside = calloc(1, sizeof(*t->beside));
    if (!t->beside) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_EXIT_FAILED;
    }
    hold_signals(t->beside);
    int status = prepare(a, t->beside);

    if (status)
        release_signals(t->beside);
    return status;
}

// The command starts --beside-start later.
static void schedule_beside(struct sb__listening *t, int64_t warmup_ns)
{
    const struct sb_app *a = t->a;
    struct sb__app_beside *b = t->beside;
    struct sb_err err = { 0 };

    if (!b)
        return;
    assert(b->process); // otherwise there is no run
    b->measured = sb_clock_monotonic() + (uint64_t)warmup_ns;
    if (sb_beside_start(b->process,
            b->measured +
                (uint64_t)sb_beside_start_time(&a->beside_opts, a->run.time),
            &err))
        sb_log(SB_LOG_ALERT, "%s", err.msg);
}

// Checks the output once more after the command has ended. After that, the user
// may change the file.
static void look_at_output(struct sb__app_beside *b)
{
    if (b->complete)
        return;
    b->complete = b->figures.command.ended;
    if (b->lost.code == 0 && sb_beside_look(b->process, &b->lost))
        sb_log(SB_LOG_ALERT, "%s", b->lost.msg);
}

static void add_beside(struct sb__listening *t, const struct sb_report *r)
{
    struct sb__app_beside *b = t->beside;

    if (!b || r->warmup)
        return;
    b->measured = r->start_ns;
    copy_state(&b->figures.command, b->process, b->measured);
    look_at_output(b);
    if (sb_beside_figures_add(&b->figures, r))
        sb_log(
            SB_LOG_WARNING, "--beside: an interval is missing: out of memory");
}

const struct sb__app_listener sb__app_beside_listener = {
    .measured = schedule_beside,
    .interval = add_beside,
};

bool sb__app_beside_stop(const struct sb__listening *t)
{
    return t->beside && t->a->beside_opts.wait && t->beside->process &&
           sb_beside_wait(t->beside->process, 0);
}

const struct sb_beside_figures *sb__app_beside_figures(
    const struct sb__listening *t)
{
    struct sb__app_beside *b = t->beside;

    if (!b)
        return NULL;
    copy_state(&b->figures.command, b->process, b->measured);
    return &b->figures;
}

// A signal ends the grace period. Returns it, or 0.
static int stop_in_time(const struct sb_app *a, struct sb__app_beside *b)
{
    struct stopped now = { .process = b->process };
    struct sb_signals signals;
    struct sb_err err = { 0 };

    if (sb_signals_start(&signals, stop_for_signal, &now, &err)) {
        sb_log(SB_LOG_WARNING, "--beside: %s", err.msg);
        sb_beside_stop(b->process, 0);
        return 0;
    }
    sb_beside_stop(b->process, grace(a));
    sb_signals_stop(&signals);
    return atomic_load(&signals.seen);
}

static void report_beside(const struct sb__app_beside *b)
{
    struct sb_beside_summary summary;

    sb_beside_summarize(&b->figures, &summary);
    sb_beside_print(&summary, stdout);
}

int sb__app_beside_end(struct sb__listening *t, int status)
{
    struct sb_app *a = t->a;
    struct sb__app_beside *b = t->beside;

    if (!b)
        return status;
    int sig = stop_in_time(a, b);

    release_signals(b);
    copy_state(&b->figures.command, b->process, b->measured);
    look_at_output(b);
    const struct sb_beside_command *c = &b->figures.command;

    a->facts.beside = &b->figures;
    if (t->printed && !sb__app_quiet(a))
        report_beside(b);
    if (status == SB_EXIT_OK && !c->started)
        sb_log(SB_LOG_ALERT, "--beside: %s was not started", b->name);
    if (c->stopped)
        sb_log(SB_LOG_WARNING,
            "--beside: %s was stopped, because the run ended first", b->name);
    bool failed = !c->started || (!c->stopped && c->status != 0) ||
                  b->lost.code;

    if (status == SB_EXIT_OK && sig)
        return 128 + sig;
    return status == SB_EXIT_OK && failed ? SB_EXIT_FAILED : status;
}

void sb__app_beside_done(struct sb__listening *t)
{
    if (!t->beside)
        return;
    sb_beside_destroy(t->beside->process);
    sb_beside_figures_done(&t->beside->figures);
    free(t->beside);
    t->beside = NULL;
    t->a->facts.beside = NULL;
}
