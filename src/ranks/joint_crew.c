// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parallel commands of several ranks: barriers, tickets and progress of all
// users. Rank 0 counts tickets and opens barriers.

#include "ranks/joint.h"

#include <assert.h>
#include <time.h>

static void send_counter(
    struct sb__joint *j, unsigned to, const char *name, double n, double number)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_wire_put_text(&b, name);
    sb_wire_put_double(&b, n);
    sb_wire_put_double(&b, number);
    sb_job_send(j->job, to, SB_JOB_TICKET, &b);
    sb_buf_done(&b);
}

static void send_number(struct sb__joint *j, enum sb_job_what what, uint64_t n)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_wire_put(&b, n);
    if (j->of)
        sb_job_tell_all(j->job, what, &b);
    else
        sb_job_send(j->job, 0, what, &b);
    sb_buf_done(&b);
}

// Handlers --------------------------------------------------------------------

// To rank 0: all users of a rank are at the barrier with this number; a rank
// without users is at all of them. From rank 0: the barrier opens.
static void on_barrier(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;
    uint64_t number = sb_wire_get(w);

    if (j->of)
        j->of[from].barrier = number;
    else
        sb_crew_open(&j->run->crew, number);
}

static void on_ticket(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;
    char name[SB_CREW_NAME];

    sb_wire_get_text(w, name, sizeof(name));
    double n = sb_wire_get_double(w), number = sb_wire_get_double(w);
    if (w->bad)
        return;
    if (j->of)
        send_counter(
            j, from, name, n, sb_crew_add(&j->run->crew, NULL, name, n));
    else
        sb_crew_answer(&j->run->crew, name, n, number);
}

static void on_settled(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;

    (void)w;
    if (j->of)
        j->of[from].settled = true;
    else
        sb_crew_settle_all(&j->run->crew);
}

static void on_progress(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;
    char title[64];

    (void)from;
    sb_wire_get_text(w, title, sizeof(title));
    double n = sb_wire_get_double(w), total = sb_wire_get_double(w);
    if (!w->bad && j->of)
        sb_crew_progress(&j->run->crew, title, n, total, sb_clock_monotonic());
}

static void on_ended(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;

    (void)w;
    if (j->of)
        j->of[from].final = true;
}

static void wake_main_thread(void *arg)
{
    struct sb_run *run = arg;

    pthread_mutex_lock(&run->lock);
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
}

// The exchange ----------------------------------------------------------------

// Number of a barrier for a rank whose users have all finished.
#define GONE UINT64_MAX

static void tell_barrier(struct sb__joint *j)
{
    uint64_t number;
    bool gone, full = sb_crew_full(&j->run->crew, &number, &gone);

    // Numbers of messages begin with 1: 0 is "not there".
    number = gone ? GONE : number + 1;
    if (!full || j->barrier == number)
        return;
    j->barrier = number;
    if (j->of)
        j->of[0].barrier = number;
    else
        send_number(j, SB_JOB_BARRIER, number);
}

static void open_barrier(struct sb__joint *j)
{
    uint64_t lowest = GONE;

    assert(j->of); // rank 0
    for (unsigned i = 0; i < j->job->ranks; i++)
        lowest = j->of[i].barrier < lowest ? j->of[i].barrier : lowest;
    if (lowest == GONE || lowest <= j->opened)
        return;
    j->opened = lowest;
    send_number(j, SB_JOB_BARRIER, lowest - 1);
    sb_crew_open(&j->run->crew, lowest - 1);
}

static void tell_settled(struct sb__joint *j)
{
    bool all = true;

    if (!atomic_load(&j->run->stop) || j->told_settled ||
        !sb_crew_settled(&j->run->crew))
        return;
    if (!j->of) {
        j->told_settled = true;
        sb_job_send(j->job, 0, SB_JOB_SETTLED, NULL);
        return;
    }
    for (unsigned i = 1; i < j->job->ranks; i++)
        all = all && (j->of[i].settled || j->of[i].final);
    if (!all)
        return;
    j->told_settled = true;
    sb_job_tell_all(j->job, SB_JOB_SETTLED, NULL);
    sb_crew_settle_all(&j->run->crew);
}

static void tell_progress(struct sb__joint *j, uint64_t now)
{
    char title[64];
    double n, total;
    struct sb_buf b;

    if (j->of || now < j->told_progress + SB__RUN_PROGRESS_EVERY)
        return;
    j->told_progress = now;
    if (!sb_crew_take_progress(&j->run->crew, title, &n, &total))
        return;
    sb_buf_init(&b, 0);
    sb_wire_put_text(&b, title);
    sb_wire_put_double(&b, n);
    sb_wire_put_double(&b, total);
    sb_job_send(j->job, 0, SB_JOB_PROGRESS, &b);
    sb_buf_done(&b);
}

static void exchange(struct sb__joint *j, uint64_t now)
{
    char name[SB_CREW_NAME];
    double n;

    tell_barrier(j);
    if (j->of)
        open_barrier(j);
    while (!j->of && sb_crew_wanted(&j->run->crew, name, &n))
        send_counter(j, 0, name, n, 0);
    tell_settled(j);
    tell_progress(j, now);
}

void sb__joint_crew_init(struct sb__joint *j)
{
    assert(!j->started);
    j->poll_command = exchange;
    sb_job_on(j->job, SB_JOB_BARRIER, on_barrier, j);
    sb_job_on(j->job, SB_JOB_TICKET, on_ticket, j);
    sb_job_on(j->job, SB_JOB_SETTLED, on_settled, j);
    sb_job_on(j->job, SB_JOB_PROGRESS, on_progress, j);
    sb_job_on(j->job, SB_JOB_ENDED, on_ended, j);
    sb_crew_share(&j->run->crew, j->of != NULL, wake_main_thread, j->run);
    // Every rank shows that it lives from now on.
    j->group.began = sb_clock_monotonic();
    j->heard = j->group.began;
    j->started = true;
}

// The end of a parallel command of several ranks.

// Returns whether a rank has ended. A rank that has failed still removes what
// it created, and then sends its figures, unless it failed before it had users.
static bool has_ended(const struct sb__joint *j, unsigned rank)
{
    const struct sb__joint_rank *r = &j->of[rank];

    return r->final || rank == j->lost ||
           (j->job->of[rank].failed && !r->answered);
}

static bool all_ended(const struct sb__joint *j)
{
    for (unsigned i = 1; i < j->job->ranks; i++)
        if (!has_ended(j, i))
            return false;
    return true;
}

// The other ranks may take as long to remove what they created as it took to
// create it: see sb__watch_stop_task().
static uint64_t removal_ns(const struct sb__joint *j)
{
    uint64_t grace = (uint64_t)j->run->o->shutdown_grace;
    uint64_t took = j->stopped_at - j->group.began;

    return 2 * (took > grace ? took : grace) + grace;
}

void sb__joint_crew_end(struct sb_run *run)
{
    const struct timespec nap = { .tv_nsec = 1000000 };
    struct sb__joint *j = sb__joint_of(run);
    uint64_t limit = UINT64_MAX;

    sb__joint_poll(run);
    if (!j->of) {
        sb_job_send(j->job, 0, SB_JOB_ENDED, NULL);
        return;
    }
    while (!all_ended(j) && !j->job->broken.code) {
        sb__joint_poll(run);
        uint64_t now = sb_clock_monotonic();

        if (limit == UINT64_MAX && j->told_stop)
            limit = j->stopped_at + removal_ns(j);
        if (now > limit)
            break;
        nanosleep(&nap, NULL);
    }
    j->job->lost |= !all_ended(j) || j->lost;
}
