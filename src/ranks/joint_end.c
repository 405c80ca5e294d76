// SPDX-License-Identifier: GPL-2.0-or-later
//
// The end of a run of several ranks: rank 0 collects the figures of all ranks.
// If a rank is lost, the report has the sums of the intervals that all ranks
// had completed.
#define _GNU_SOURCE // sched_getaffinity()
#include "ranks/joint.h"

#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "kit/clock.h"
#include "measure/snap.h"
#include "measure/snap_wire.h"

// How often rank 0 shows a rank that it is alive. It does so only in answers,
// because Open MPI blocks a process that sends to a process that was killed on
// another host.
#define ANSWER_EVERY SB_SECOND
// How long rank 0 waits for the last intervals: they arrive through other
// ranks, the final figures directly.
#define TREE_NS SB_SECOND
// A message with results that has this many bytes is full: the next result goes
// into another one.
#define RESULTS_BYTES 1000000
// How long rank 0 waits for the figures of the other ranks after one is lost.
// The others have stopped by then.
#define LOST_NS (2 * SB_SECOND)

// After SIGTERM, the launcher soon ends all processes: how long a rank waits
// for the figures of others, or for rank 0.
static uint64_t hurry_ns(const struct sb__joint *j)
{
    return j->job->t.kill_after * 3 / 10;
}

// After a stop, rank 0 answers within this time. The rest of the time until
// SIGKILL is for writing the file of this rank.
static uint64_t answer_ns(const struct sb__joint *j)
{
    return j->job->t.kill_after * 7 / 10;
}

static void on_state(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;

    if (!j->of) {
        j->heard = sb_clock_monotonic();
        return;
    }
    j->of[from].completed = sb_wire_get(w);
    j->of[from].errors = sb_wire_get(w);
    uint64_t now = sb_clock_monotonic();

    if (now < j->of[from].answered + ANSWER_EVERY)
        return;
    j->of[from].answered = now;
    sb_job_send(j->job, from, SB_JOB_STATE, NULL);
}

static void on_stop(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;
    struct sb_run *run = j->run;
    int sig = j->of ? (int)sb_wire_get(w) : 0;

    if (sig) {
        if (!j->signaled)
            j->signaled = j->job->of[from].heard;
        pthread_mutex_lock(&run->lock);
        run->signal = run->signal ? run->signal : sig;
        pthread_mutex_unlock(&run->lock);
    }
    // A stop that rank 0 has ordered is not passed on.
    j->told_stop |= !j->of;
    j->stopped |= !j->of;
    sb__run_stop(run);
}

static void on_final(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;
    size_t len = (size_t)(w->end - w->at);

    if (!j->of || j->of[from].final)
        return;
    sb_buf_init(&j->of[from].body, 0);
    if (sb_buf_add(&j->of[from].body, w->at, len))
        sb_err_set(&j->broken, SB_ENOMEM, "out of memory for final figures");
    j->of[from].final = true;
}

static void on_results(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;
    struct sb_workload *workload = j->run->w;

    if (j->of && workload->ops->take_results)
        workload->ops->take_results(workload, from, w, &j->broken);
    sb__joint_fail_if_broken(j);
}

void sb__joint_end_init(struct sb__joint *j)
{
    sb_job_on(j->job, SB_JOB_STATE, on_state, j);
    sb_job_on(j->job, SB_JOB_STOP, on_stop, j);
    sb_job_on(j->job, SB_JOB_RESULTS, on_results, j);
    sb_job_on(j->job, SB_JOB_FINAL, on_final, j);
}

static double cpu_seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static unsigned processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0
               ? (unsigned)CPU_COUNT(&set)
               : (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
}

// Launchers bind processes to processors, which suits programs with one thread.
static void warn_bound(const struct sb__joint *j)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    if (online > 0 && j->processors < (unsigned)online &&
        j->processors < j->run->users)
        sb_log(SB_LOG_WARNING,
            "rank %u may use %u of the %ld processors of its host for %u users "
            "(Open MPI: mpirun --bind-to none lets it use all)",
            j->job->rank, j->processors, online, j->run->users);
}

void sb__joint_end_start(struct sb_run *run)
{
    struct sb__joint *j = sb__joint_of(run);

    if (j->processors == 0) {
        j->processors = processors();
        warn_bound(j);
    }
    j->cpu_s = cpu_seconds();
}

// Messages of a rank arrive in order: rank 0 has them all with FINAL.
static void send_results(struct sb__joint *j)
{
    struct sb_workload *w = j->run->w;
    bool more = w->ops->give_results != NULL;
    struct sb_buf b;

    sb_buf_init(&b, 0);
    while (more) {
        more = w->ops->give_results(w, &b, RESULTS_BYTES);
        sb_job_send(j->job, 0, SB_JOB_RESULTS, &b);
        sb_buf_clear(&b);
    }
    sb_buf_done(&b);
}

static void send_final(struct sb__joint *j, const struct sb_snap *whole,
    const struct sb_snap *since, const struct sb_stats *stats,
    const struct sb_group_end *e)
{
    struct sb_buf b;

    assert(!j->of);
    sb_buf_init(&b, 0);
    sb_wire_put(&b, j->group.began);
    sb_wire_put(&b, e->pending);
    sb_wire_put(&b, e->all_ended);
    sb_wire_put(&b, e->end);
    sb_wire_put_signed(&b, e->err.code);
    sb_wire_put_text(&b, e->err.msg);
    sb_wire_put_double(&b, cpu_seconds() - j->cpu_s);
    sb_wire_put(&b, j->processors);
    sb_snap_write(&b, whole, stats);
    sb_wire_put(&b, since != NULL);
    if (since)
        sb_snap_write(&b, since, stats);
    sb_job_send(j->job, 0, SB_JOB_FINAL, &b);
    sb_buf_done(&b);
}

// Returns the first rank whose final figures have not arrived; 0: none. alive:
// leaves out the rank that is lost.
static unsigned first_missing_rank(const struct sb__joint *j, bool alive)
{
    for (unsigned i = 1; i < j->job->ranks; i++)
        if (!j->of[i].final && !(alive && i == j->lost))
            return i;
    return 0;
}

static bool terminated(struct sb_run *run)
{
    pthread_mutex_lock(&run->lock);
    bool is = run->signal == SIGTERM;
    pthread_mutex_unlock(&run->lock);
    return is;
}

// Waits until the last intervals of all ranks have been reported.
static void wait_for_intervals(struct sb__joint *j)
{
    const struct timespec nap = { .tv_nsec = 1000000 };
    uint64_t limit = sb_clock_monotonic() + TREE_NS;

    while (!sb__joint_intervals_complete(j) && !j->job->broken.code &&
           sb_clock_monotonic() < limit) {
        sb__joint_poll(j->run);
        nanosleep(&nap, NULL);
    }
}

// Waits for the figures of all ranks; if one is lost, only a short time.
static void wait_for_finals(struct sb__joint *j)
{
    const struct timespec nap = { .tv_nsec = 1000000 };
    uint64_t limit = UINT64_MAX;
    unsigned rank;

    while ((rank = first_missing_rank(j, true)) != 0 && !j->job->broken.code) {
        sb__joint_poll(j->run);
        uint64_t now = sb_clock_monotonic();

        if (limit == UINT64_MAX && terminated(j->run))
            limit = now + hurry_ns(j);
        if (limit == UINT64_MAX && j->lost)
            limit = now + LOST_NS;
        if (now > limit || j->job->of[rank].left)
            return;
        nanosleep(&nap, NULL);
    }
}

// Returns false if the figures of a rank are missing.
static bool collect_finals(struct sb__joint *j, struct sb_err *failure)
{
    wait_for_finals(j);
    unsigned rank = first_missing_rank(j, false);

    if (rank == 0)
        wait_for_intervals(j);
    if (rank) {
        j->job->lost = true;
        sb__joint_fail_lost(
            j, j->lost ? j->lost : rank, sb_clock_monotonic(), failure);
    }
    return rank == 0;
}

// What rank 0 knows of a rank without its final figures.
static void note_state(struct sb__joint *j, unsigned rank)
{
    struct sb_rank_figures *f = &j->figures[rank];

    snprintf(f->host, sizeof(f->host), "%s", j->job->of[rank].host);
    f->users = rank ? j->of[rank].users : j->run->users;
    f->offset_ns = j->of[rank].offset_ns;
    f->error_ns = j->of[rank].error_ns;
    f->events = j->of[rank].completed;
    f->failed = j->of[rank].errors;
    f->lost = rank > 0 && !j->of[rank].final;
}

static void note_final(struct sb__joint *j, unsigned rank,
    const struct sb_snap *s, double cpu_s, unsigned cpus)
{
    struct sb_rank_figures *f = &j->figures[rank];
    bool open = j->run->open_loop;
    uint64_t max = open ? s->response_max : s->service_max;
    uint64_t sum = open ? s->c.response_ns : s->c.service_ns;

    f->events = s->c.completed;
    f->failed = s->c.failed;
    f->mean = f->events ? (double)sum / (double)f->events : 0;
    f->max = (double)max;
    for (unsigned i = 0; i < SB_RANK_PERCENTILES; i++)
        f->percentile[i] = sb_hist_snap_percentile(
            open ? &s->response : &s->service, sb_rank_percentiles[i], max);
    if (open)
        sb_report_rank_open(f, s, (double)s->ns / 1e9);
    f->cpu_s = cpu_s;
    f->processors = cpus;
}

// How the run of another rank ended, if that of rank 0 did not fail itself.
static void merge_end(struct sb__joint *j, unsigned rank,
    struct sb_group_end *e, enum sb_run_end end, const struct sb_err *err)
{
    bool good = e->end == SB_END_LIMIT || e->end == SB_END_SCRIPT;

    if (!good || e->err.code || !err->code || err->code == SB_ECANCELED)
        return;
    e->end = end;
    sb_err_set(&e->err, err->code, "rank %u (%.60s): %.400s", rank,
        j->job->of[rank].host, err->msg);
}

// Adds the figures of a rank; with figures = false, only notes them.
static int add_final(struct sb__joint *j, unsigned rank, struct sb_group_end *e,
    bool figures, struct sb_err *err)
{
    const struct sb_buf *b = &j->of[rank].body;
    struct sb_wire w = sb_wire_of(b->data, b->len);
    uint64_t began = sb_wire_get(&w);
    struct sb_snap one = { 0 };
    struct sb_err why = { 0 };

    assert(rank > 0 && j->of[rank].final);
    e->pending += sb_wire_get(&w);
    e->all_ended &= sb_wire_get(&w) != 0;
    enum sb_run_end end = (enum sb_run_end)sb_wire_get(&w);
    why.code = (int)sb_wire_get_signed(&w);
    sb_wire_get_text(&w, why.msg, sizeof(why.msg));
    double cpu_s = sb_wire_get_double(&w);
    unsigned cpus = (unsigned)sb_wire_get(&w);
    int rc = sb_snap_read_add(&w, &one, &j->names, j->group.began - began, err);

    if (rc == 0) {
        merge_end(j, rank, e, end, &why);
        note_final(j, rank, &one, cpu_s, cpus);
    }
    if (rc == 0 && figures)
        rc = sb_snap_add(&e->sum, &j->names, &one, &j->names, 0, err);
    if (rc == 0 && figures && sb_wire_get(&w))
        rc = sb_snap_read_add(
            &w, &e->since, &j->names, j->group.began - began, err);
    sb_snap_done(&one);
    return rc;
}

// Errors and signals that came while rank 0 waited for the others.
static void look_again(struct sb_run *run, struct sb_group_end *e)
{
    bool good = e->end == SB_END_LIMIT || e->end == SB_END_SCRIPT;

    pthread_mutex_lock(&run->lock);
    if (good && !e->err.code && run->err.code) {
        e->err = run->err;
        e->end = SB_END_FAILED;
    } else if (good && !e->err.code && run->signal) {
        e->end = SB_END_SIGNAL;
        e->signal = run->signal;
    }
    pthread_mutex_unlock(&run->lock);
}

static void sum_up(struct sb__joint *j, const struct sb_snap *whole,
    const struct sb_snap *since, const struct sb_stats *stats,
    struct sb_group_end *e)
{
    struct sb_err lost = { 0 }, err = { 0 };
    bool all = collect_finals(j, &lost);
    int rc = 0;

    look_again(j->run, e);
    j->of[0].final = true;
    sb__joint_sections_report(j);
    for (unsigned i = 0; i < j->job->ranks; i++)
        note_state(j, i);
    note_final(j, 0, whole, cpu_seconds() - j->cpu_s, j->processors);
    if (all)
        rc = sb_snap_add(&e->sum, &j->names, whole, stats, 0, &err);
    else
        rc = sb_snap_add_interval(&e->sum, &j->sofar);
    e->has_since = all && since;
    if (rc == 0 && e->has_since)
        rc = sb_snap_add(&e->since, &j->names, since, stats, 0, &err);
    for (unsigned i = 1; rc == 0 && i < j->job->ranks; i++)
        if (j->of[i].final)
            rc = add_final(j, i, e, all, &err);
    e->all_ended &= all;
    if (!all && (!e->err.code || e->err.code == SB_ECANCELED))
        e->err = lost;
    else if (rc && !e->err.code)
        sb_err_set(&e->err, rc, "%.300s",
            err.msg[0] ? err.msg : "out of memory for final figures");
    if (e->err.code && (e->end == SB_END_LIMIT || e->end == SB_END_SCRIPT))
        e->end = SB_END_FAILED;
}

// Passes on the remaining intervals of the ranks below this one.
static void pass_on_the_rest(struct sb__joint *j)
{
    const struct timespec nap = { .tv_nsec = 1000000 };

    while (j->sent != SB_GROUP_LAST && !j->job->quit && !j->job->broken.code &&
           !j->job->lost) {
        sb__joint_poll(j->run);
        nanosleep(&nap, NULL);
    }
}

// After SIGTERM, which the launcher sends to all ranks if one is lost: whether
// rank 0 answers.
static bool root_answers(struct sb__joint *j)
{
    const struct timespec nap = { .tv_nsec = 1000000 };
    uint64_t limit = sb_clock_monotonic() + hurry_ns(j);
    uint64_t answered = j->stopped_at + answer_ns(j);

    limit = limit > answered ? limit : answered;
    while (!j->stopped && !j->job->quit && !j->job->broken.code &&
           sb_clock_monotonic() < limit) {
        sb__joint_poll(j->run);
        nanosleep(&nap, NULL);
    }
    return j->stopped || j->job->quit;
}

// Until rank 0 has written its report, this rank may be needed.
static void wait_for_root(struct sb__joint *j)
{
    const struct timespec nap = { .tv_nsec = SB_JOB_POLL };

    while (!j->job->quit && !j->job->broken.code && !j->job->lost &&
           !terminated(j->run)) {
        sb_job_poll(j->job);
        nanosleep(&nap, NULL);
    }
}

static bool is_alone(struct sb__joint *j)
{
    wait_for_root(j);
    // If rank 0 is not lost but slow, this rank leaves the job in the usual
    // way, and its file was not needed.
    return j->job->broken.code || j->job->lost ||
           (terminated(j->run) && !root_answers(j));
}

enum sb_group_report sb__joint_end_final(struct sb_run *run,
    const struct sb_snap *whole, const struct sb_snap *since,
    const struct sb_stats *stats, struct sb_group_end *e)
{
    struct sb__joint *j = sb__joint_of(run);

    if (j->of) {
        sum_up(j, whole, since, stats, e);
        return SB_GROUP_ALL;
    }
    sb__joint_poll(run); // tells why this rank has failed
    send_results(j);
    send_final(j, whole, since, stats, e);
    pass_on_the_rest(j);
    return is_alone(j) ? SB_GROUP_ALONE : SB_GROUP_NONE;
}
