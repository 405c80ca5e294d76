// SPDX-License-Identifier: GPL-2.0-or-later
//
// What each rank of a run does while it waits: handles messages, detects ranks
// that are lost, passes on a stop, and says why the run of all ends.
#include "ranks/joint.h"

#include <signal.h>
#include <time.h>

#include "kit/clock.h"

void sb__joint_fail_if_broken(struct sb__joint *j)
{
    if (!j->broken.code || j->told_error)
        return;
    j->told_error = true;
    sb__run_fail(j->run, &j->broken);
}

void sb__joint_fail_lost(const struct sb__joint *j, unsigned rank, uint64_t now,
    struct sb_err *failure)
{
    const struct sb_job_rank *r = &j->job->of[rank];

    if (r->failed)
        sb_err_set(
            failure, SB_ECONNECT, "rank %u (%.60s): %s", rank, r->host, r->why);
    else
        sb_err_set(failure, SB_ELOST,
            "rank %u (%.60s) was lost: its last message came %.1f s ago%s",
            rank, r->host, (double)(now - (r->heard ? r->heard : now)) / 1e9,
            j->run->task ? ""
                         : "; the figures are those of the intervals until "
                           "then");
}

// How often a rank sends its figures: rank 0 gets at most 1,000 messages per
// second; with more than 1,000 ranks, each rank sends one per second.
// STOP_EVERY: after SIGTERM, each rank tells rank 0 why it stops, and rank 0
// sends STOP again after this time, to the ranks that it has heard from
// meanwhile.
#define STATE_MIN   (SB_SECOND / 10)
#define STATE_MAX   SB_SECOND
#define STATE_RANKS (SB_SECOND / 1000)
#define STOP_EVERY  (SB_SECOND / 50)
// A rank that was not heard for so long is lost.
#define SILENCE (10 * SB_SECOND)
// Rank 0 may be held up by its reports.
#define SILENCE_OF_0 (30 * SB_SECOND)
// How long a rank that was itself held up waits for the answer of rank 0: it
// first reads the messages that have arrived meanwhile.
#define CATCH_UP (3 * SB_SECOND)
#define NAP_NS   50000

// A rank that has failed ends the run; rank 0 says why.
static void look_for_failures(struct sb__joint *j)
{
    const struct sb_job_rank *r;
    struct sb_err err;
    unsigned n;

    if (j->told_error)
        return;
    r = j->of ? sb_job_failed(j->job, &n) : NULL;
    if (j->job->broken.code)
        err = j->job->broken;
    else if (r)
        sb_err_set(
            &err, SB_ECONNECT, "rank %u (%.60s): %s", n, r->host, r->why);
    else if (j->job->quit)
        sb_err_set(&err, SB_ECANCELED, "rank 0 has left the job");
    else
        return;
    j->told_error = true;
    sb__run_fail(j->run, &err);
}

// In a parallel command, ranks begin when they have loaded the script.
static uint64_t silence_of(const struct sb__joint *j, unsigned rank)
{
    return j->run->task && !j->of[rank].answered
               ? (uint64_t)j->run->o->thread_init_timeout
               : SILENCE;
}

// Returns the first rank that rank 0 has not heard for too long; 0: none.
static unsigned silent_rank(const struct sb__joint *j, uint64_t now)
{
    for (unsigned i = 1; i < j->job->ranks; i++) {
        uint64_t heard = j->job->of[i].heard;

        heard = heard > j->awake ? heard : j->awake;
        if (!j->of[i].final && now > heard + silence_of(j, i))
            return i;
    }
    return 0;
}

static void look_for_silence(struct sb__joint *j, uint64_t now)
{
    struct sb_err err;

    // Messages that came while this process was held up are not read yet.
    if (!j->started || now > j->polled + SB_SECOND)
        j->awake = now;
    j->polled = now;
    if (!j->started)
        return;
    if (j->of)
        j->lost = silent_rank(j, now);
    if (j->told_error)
        return;
    if (j->lost)
        sb__joint_fail_lost(j, j->lost, now, &err);
    else if (!j->of && now > j->heard + SILENCE_OF_0 &&
             now > j->awake + CATCH_UP)
        sb_err_set(&err, SB_ELOST, "rank 0 was lost: no message for %.1f s",
            (double)(now - (j->heard ? j->heard : j->group.began)) / 1e9);
    else
        return;
    j->told_error = true;
    j->job->lost |= !j->of;
    sb__run_fail(j->run, &err);
}

static uint64_t state_every(const struct sb__joint *j)
{
    uint64_t every = j->job->ranks * STATE_RANKS;

    every = every < STATE_MIN ? STATE_MIN : every;
    return every < STATE_MAX ? every : STATE_MAX;
}

// Sends the figures of this rank so far to rank 0, which shows that this rank
// is alive. Rank 0 answers.
static void tell_state(struct sb__joint *j, uint64_t now)
{
    const struct sb_stats *s = &j->run->stats[SB_PHASE_MEASURED];
    uint64_t completed = 0, errors = 0;
    struct sb_buf b;

    if (j->of || !j->started || now < j->told_state + state_every(j))
        return;
    j->told_state = now;
    for (unsigned i = 0; i < s->users; i++) {
        const struct sb_tally *t = &s->rec[i].tally;

        completed += atomic_load_explicit(&t->completed, memory_order_relaxed);
        errors += atomic_load_explicit(&t->failed, memory_order_relaxed);
    }
    sb_buf_init(&b, 0);
    sb_wire_put(&b, completed);
    sb_wire_put(&b, errors);
    sb_job_send(j->job, 0, SB_JOB_STATE, &b);
    sb_buf_done(&b);
}

// Rank 0 stops all others. Open MPI blocks a process that sends to one that was
// killed on another host; its launcher has then sent SIGTERM to the others.
static void stop_all(struct sb__joint *j, int sig, uint64_t now)
{
    if (sig == SIGTERM && j->started && !j->job->wary_since)
        // A rank that has reported the signal is alive, so its message counts.
        j->job->wary_since = j->signaled ? j->signaled : now;
    sb_job_tell_all(j->job, SB_JOB_STOP, NULL);
    j->stop_again = j->job->wary_since ? now + STOP_EVERY : UINT64_MAX;
}

// Another rank tells rank 0 that it must stop.
static void pass_on_stop(struct sb__joint *j, uint64_t now)
{
    struct sb_run *run = j->run;
    struct sb_buf b;

    if (!atomic_load(&run->stop) ||
        (j->told_stop && (!j->of || now < j->stop_again)))
        return;
    pthread_mutex_lock(&run->lock);
    int sig = run->signal;
    struct sb_err err = run->err;
    pthread_mutex_unlock(&run->lock);
    if (!j->told_stop)
        j->stopped_at = now;
    j->told_stop = true;
    if (j->of) {
        stop_all(j, sig, now);
        return;
    }
    if (err.code && err.code != SB_ECANCELED)
        sb_job_fail(j->job, err.msg);
    if (!sig)
        return;
    sb_buf_init(&b, 0);
    sb_wire_put(&b, (uint64_t)sig);
    sb_job_send(j->job, 0, SB_JOB_STOP, &b);
    sb_buf_done(&b);
}

void sb__joint_poll(struct sb_run *run)
{
    struct sb__joint *j = sb__joint_of(run);

    sb_job_poll(j->job);
    uint64_t now = sb_clock_monotonic();

    look_for_failures(j);
    look_for_silence(j, now);
    pass_on_stop(j, now);
    if (j->poll_command)
        j->poll_command(j, now);
    tell_state(j, now);
}

bool sb__joint_poll_until(
    struct sb_run *run, bool (*done)(struct sb__joint *j), uint64_t until)
{
    const struct timespec nap = { .tv_nsec = NAP_NS };

    for (;;) {
        sb__joint_poll(run);
        if (done(sb__joint_of(run)))
            return true;
        if (atomic_load(&run->stop) || sb_clock_monotonic() >= until)
            return false;
        nanosleep(&nap, NULL);
    }
}
