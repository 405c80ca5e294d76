// SPDX-License-Identifier: GPL-2.0-or-later
//
// A parallel command: one task for each user, at the same time.
#include <string.h>

#include "base/log.h"
#include "kit/clock.h"
#include "run/joint_crew_end.h"
#include "run/run_state.h"
#include "run/signals.h"
#include "run/start.h"
#include "run/watch.h"
#include "run/worker.h"

// One step of watching an interrupted command. Returns false if users take too
// long to remove what they created: they are not waited for.
static bool step_task(
    struct sb_run *run, struct sb__watch *w, uint64_t since, uint64_t now)
{
    if (!w->stopped_at) {
        if (run->signal)
            sb_log(SB_LOG_NOTICE,
                "%s: interrupting '%s'; a second signal exits at once.",
                sb_signals_name(run->signal), run->command);
        sb__watch_stop_task(w, run, since, now);
    } else if (now >= w->leave_at) {
        return false;
    } else if (now >= w->cancel_at) {
        w->cancel_at = now + SB_SECOND;
        if (sb_crew_hold(&run->crew) || now >= w->force_at)
            sb__run_cancel(run, UINT64_MAX);
    }
    return true;
}

// Waits until every user has ended. Returns false if some are still running.
static bool watch_task(struct sb_run *run)
{
    uint64_t since = sb_clock_monotonic(), now = since;
    struct sb__watch w = { 0 };
    uint64_t shown = 0;
    char line[160];
    bool all = false, go_on = true;

    while (!all && go_on) {
        uint64_t next = now + SB__RUN_PROGRESS_EVERY;

        pthread_mutex_lock(&run->lock);
        all = run->ended == run->users;
        if (!all)
            sb__run_wait(run, next);
        all = run->ended == run->users;
        bool interrupted = run->signal != 0 ||
                           (run->joint && atomic_load(&run->stop));
        pthread_mutex_unlock(&run->lock);
        now = sb_clock_monotonic();
        w.force_at += sb__watch_extend(&w, next, now);
        if (interrupted && !all)
            go_on = step_task(run, &w, since, now);
        if (!all && now >= shown + SB__RUN_PROGRESS_EVERY / 2 &&
            sb_crew_progress_line(&run->crew, now, line, sizeof(line))) {
            sb_log_progress("%s", line);
            shown = now;
        }
    }
    sb_log_progress_done();
    return all;
}

int sb_run_parallel(struct sb_workload *w, const char *command,
    const struct sb_run_opts *o, struct sb_random_shared *random,
    int (*task)(struct sb_workload *w, struct sb_user *u, struct sb_err *err),
    struct sb_run_result *res)
{
    struct sb_signals signals = { 0 };
    struct sb_run *run = sb__run_state_new(w, o, random);

    memset(res, 0, sizeof(*res));
    res->end = SB_END_FAILED;
    if (!run)
        return sb_err_set(
            &res->err, SB_ENOMEM, "out of memory for %s", command);
    run->task = task;
    run->command = command;
    if (sb__run_state_init(run))
        sb_err_set(&res->err, SB_ENOMEM, "out of memory for %s", command);
    else
        sb_signals_start(&signals, sb__run_on_signal, run, &res->err);
    if (!signals.running)
        return sb__run_state_end(run, res);
    if (sb__start_users(run, res) == 0) {
        res->unjoined = !watch_task(run);
        if (res->unjoined)
            sb_log(SB_LOG_WARNING,
                "%u of %u users of '%s' are still busy; exiting without them; "
                "what they created is not removed",
                sb__run_busy(run), run->users, command);
        else
            sb__worker_join_ended(run);
        if (run->joint)
            sb__joint_crew_end(run);
        pthread_mutex_lock(&run->lock);
        res->err = run->err;
        res->told = run->told;
        res->signal = run->signal;
        pthread_mutex_unlock(&run->lock);
        res->end = run->signal     ? SB_END_SIGNAL
                   : run->err.code ? SB_END_FAILED
                                   : SB_END_SCRIPT;
    } else if (run->joint) {
        sb__joint_crew_end(run);
    }
    sb_signals_stop(&signals);
    return sb__run_state_end(run, res);
}
