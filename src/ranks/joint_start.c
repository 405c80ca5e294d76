// SPDX-License-Identifier: GPL-2.0-or-later
//
// The start of a run of several ranks: rank 0 waits until the users of all are
// ready, each compares its clock with that of rank 0, and rank 0 chooses the
// moment.
#include "ranks/joint.h"

#include <assert.h>
#include <time.h>

#include "base/log.h"
#include "kit/clock.h"

#define LEAD_NS      (SB_SECOND / 20)
#define LEAD_RANK_NS (SB_SECOND / 20000)
// How many times each clock is compared; the fastest answer counts.
#define PINGS      25
#define PONG_LIMIT (10 * SB_SECOND)
// All clocks are compared, and the start is known, within this time.
#define SYNC_LIMIT (30 * SB_SECOND)
// Before the start, the main thread busy-waits for this long, because timers
// are late.
#define SPIN_NS 200000
// A start that is late by more than this is logged.
#define LATE_NS 1000000

static void on_go(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;
    const struct sb_workload *workload = j->run->w;
    struct sb_err err;

    (void)from;
    j->go = true;
    if (workload->ops->adopt && workload->ops->adopt(j->run->w, w, &err))
        sb__run_fail(j->run, &err);
}

static void on_ready(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;

    if (!j->of)
        return;
    j->of[from].users = (unsigned)sb_wire_get(w);
    j->of[from].ready = true;
}

static void send_two(struct sb__joint *j, unsigned to, enum sb_job_what what,
    int64_t a, uint64_t b)
{
    struct sb_buf body;

    sb_buf_init(&body, 0);
    sb_wire_put_signed(&body, a);
    sb_wire_put(&body, b);
    sb_job_send(j->job, to, what, &body);
    sb_buf_done(&body);
}

static void on_ping(void *arg, unsigned from, struct sb_wire *w)
{
    (void)w;
    send_two(arg, from, SB_JOB_PONG, 0, sb_clock_monotonic());
}

static void on_pong(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;

    (void)from;
    j->pong_here = sb_clock_monotonic();
    sb_wire_get_signed(w);
    j->pong_root = sb_wire_get(w);
    j->pong = true;
}

// To another rank: compare the clocks. To rank 0: the result.
static void on_sync(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;

    if (!j->of) {
        j->sync = true;
        return;
    }
    j->of[from].offset_ns = sb_wire_get_signed(w);
    j->of[from].error_ns = sb_wire_get(w);
    j->of[from].synced = true;
}

static void on_start(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;

    (void)from;
    sb_wire_get_signed(w);
    j->group.began = sb_wire_get(w) + (uint64_t)j->offset_ns;
    j->heard = sb_clock_monotonic();
    j->started = true;
}

void sb__joint_start_init(struct sb__joint *j)
{
    sb_job_on(j->job, SB_JOB_GO, on_go, j);
    sb_job_on(j->job, SB_JOB_READY, on_ready, j);
    sb_job_on(j->job, SB_JOB_PING, on_ping, j);
    sb_job_on(j->job, SB_JOB_PONG, on_pong, j);
    sb_job_on(j->job, SB_JOB_SYNC, on_sync, j);
    sb_job_on(j->job, SB_JOB_START, on_start, j);
}

uint64_t sb__joint_start_lead_ns(const struct sb__joint *j)
{
    return LEAD_NS + j->job->ranks * LEAD_RANK_NS;
}

static bool may_go(struct sb__joint *j)
{
    return j->go;
}

bool sb__joint_start_go(struct sb_run *run)
{
    struct sb__joint *j = sb__joint_of(run);

    if (!j->of)
        return sb__joint_poll_until(run, may_go, UINT64_MAX);
    struct sb_buf b;

    sb_buf_init(&b, 0);
    if (run->w->ops->share)
        run->w->ops->share(run->w, &b);
    sb_job_tell_all(j->job, SB_JOB_GO, &b);
    sb_buf_done(&b);
    return true;
}

static bool got_pong(struct sb__joint *j)
{
    return j->pong;
}

// Fails the run, unless it was stopped. Returns false.
static bool too_slow(struct sb_run *run, const char *what)
{
    struct sb_err err;

    if (!atomic_load(&run->stop)) {
        sb_err_set(&err, SB_ETIMEOUT, "%s", what);
        sb__run_fail(run, &err);
    }
    return false;
}

// Computes the offset of this clock from that of rank 0, from the fastest
// answer. Its two directions are assumed to have taken the same time, so the
// error is at most half of the time that it took.
static bool compare_clocks(struct sb_run *run)
{
    struct sb__joint *j = sb__joint_of(run);
    uint64_t fastest = UINT64_MAX;

    for (int i = 0; i < PINGS; i++) {
        uint64_t sent = sb_clock_monotonic();

        j->pong = false;
        sb_job_send(j->job, 0, SB_JOB_PING, NULL);
        // Without naps, which would be part of the answer's time.
        while (!j->pong && sb_clock_monotonic() < sent + SB_SECOND / 100)
            sb_job_poll(j->job);
        if (!j->pong && !sb__joint_poll_until(run, got_pong, sent + PONG_LIMIT))
            return too_slow(run, "rank 0 does not answer");
        uint64_t took = j->pong_here - sent;
        if (took >= fastest)
            continue;
        fastest = took;
        j->error_ns = took / 2;
        j->offset_ns = (int64_t)(sent + took / 2 - j->pong_root);
    }
    send_two(j, 0, SB_JOB_SYNC, j->offset_ns, j->error_ns);
    return true;
}

static bool may_sync(struct sb__joint *j)
{
    return j->sync;
}

static bool has_started(struct sb__joint *j)
{
    return j->started;
}

static bool follow_start(struct sb_run *run)
{
    struct sb__joint *j = sb__joint_of(run);
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_wire_put(&b, run->users);
    sb_job_send(j->job, 0, SB_JOB_READY, &b);
    sb_buf_done(&b);
    if (!sb__joint_poll_until(run, may_sync, UINT64_MAX) ||
        !compare_clocks(run))
        return false;
    return sb__joint_poll_until(
               run, has_started, sb_clock_monotonic() + SYNC_LIMIT) ||
           too_slow(run, "rank 0 does not start the run");
}

static unsigned count_ranks(const struct sb__joint *j, bool synced)
{
    unsigned n = 0;

    for (unsigned i = 1; i < j->job->ranks; i++)
        n += synced ? j->of[i].synced : j->of[i].ready;
    return n;
}

static bool all_ready(struct sb__joint *j)
{
    return count_ranks(j, false) == j->job->ranks - 1;
}

static bool all_synced(struct sb__joint *j)
{
    return count_ranks(j, true) == j->job->ranks - 1;
}

static bool wait_for_ranks(struct sb_run *run)
{
    struct sb__joint *j = sb__joint_of(run);
    uint64_t limit = run->start_at + (uint64_t)run->o->thread_init_timeout;
    struct sb_err err;

    while (!all_ready(j)) {
        uint64_t now = sb_clock_monotonic();

        if (sb__joint_poll_until(run, all_ready, now + SB__RUN_PROGRESS_EVERY))
            break;
        if (atomic_load(&run->stop))
            return false;
        if (now > limit) {
            sb_err_set(&err, SB_ETIMEOUT,
                "the users of %u of %u ranks are not ready after %lld s "
                "(--thread-init-timeout)",
                j->job->ranks - 1 - count_ranks(j, false), j->job->ranks,
                (long long)(run->o->thread_init_timeout / (int64_t)SB_SECOND));
            sb__run_fail(run, &err);
            return false;
        }
        sb_log_progress("starting ranks: %u of %u ready",
            1 + count_ranks(j, false), j->job->ranks);
    }
    sb_log_progress_done();
    return true;
}

// Rank 0 answers without naps while clocks are compared.
static bool lead_start(struct sb_run *run)
{
    struct sb__joint *j = sb__joint_of(run);

    assert(!j->started);
    if (!wait_for_ranks(run))
        return false;
    sb__run_wait_start_at(run);
    // Before the start is chosen: the listener may need some time.
    if (run->l->started)
        run->l->started(run->l->data);
    sb_job_tell_all(j->job, SB_JOB_SYNC, NULL);
    uint64_t limit = sb_clock_monotonic() + SYNC_LIMIT;

    while (!all_synced(j) && !atomic_load(&run->stop) &&
           sb_clock_monotonic() < limit)
        sb__joint_poll(run);
    if (!all_synced(j))
        return too_slow(run, "not all ranks have compared their clocks");
    j->group.began = sb_clock_monotonic() + sb__joint_start_lead_ns(j);
    for (unsigned i = 1; i < j->job->ranks; i++)
        send_two(j, i, SB_JOB_START, 0, j->group.began);
    j->started = true;
    return true;
}

bool sb__joint_start_agree(struct sb_run *run)
{
    return sb__joint_of(run)->of ? lead_start(run) : follow_start(run);
}

void sb__joint_start_wait(struct sb_run *run, uint64_t at)
{
    const struct timespec nap = { .tv_nsec = SPIN_NS / 4 };
    uint64_t now = sb_clock_monotonic();

    if (now > at + LATE_NS)
        sb_log(SB_LOG_WARNING, "rank %u starts %.1f ms late",
            sb__joint_of(run)->job->rank, (double)(now - at) / 1e6);
    while (sb_clock_monotonic() + SPIN_NS < at && !atomic_load(&run->stop)) {
        sb__joint_poll(run);
        nanosleep(&nap, NULL);
    }
    while (sb_clock_monotonic() < at && !atomic_load(&run->stop))
        ;
}
