// SPDX-License-Identifier: GPL-2.0-or-later
//
// The ranks of a job in one process, without users: what they have recorded is
// given by the test.
#ifndef JOINT_RANKS_H
#define JOINT_RANKS_H

#include "base/clock.h"
#include "check.h"
#include "loopback.h"
#include "ranks/joint.h"
#include "ranks/place.h"
#include "run/lock.h"

#define SECOND UINT64_C(1000000000)

struct reports {
    unsigned n;
    struct {
        double total_s, interval_s;
        uint64_t events, queries;
        unsigned running, nops;
        bool partial, warmup;
        char op[32];
    } row[32];
};

struct rank {
    struct sb_run_opts o;
    struct sb_run run;
    struct sb_user user[2];
    struct sb_listener l;
    struct reports reports;
    struct sb_stats stats;
    struct sb_workload w;
    uint64_t agreed, shared, adopted;
    unsigned results, taken; // of users: given to rank 0; their sum by rank
};

static void on_report(void *data, const struct sb_report *r)
{
    struct reports *all = data;
    unsigned n = all->n++;

    all->row[n].total_s = r->total_s;
    all->row[n].interval_s = r->interval_s;
    all->row[n].events = r->snap->c.completed;
    all->row[n].running = r->running;
    all->row[n].partial = r->partial;
    all->row[n].warmup = r->warmup;
    for (unsigned i = 0; i < r->snap->nops; i++) {
        if (r->snap->op[i].count == 0)
            continue;
        all->row[n].nops++;
        snprintf(all->row[n].op, sizeof(all->row[n].op), "%.31s",
            r->stats->op[i].name);
    }
}

static struct rank *of_workload(struct sb_workload *w)
{
    return w->data;
}

static void share(struct sb_workload *w, struct sb_buf *b)
{
    sb_wire_put(b, of_workload(w)->shared);
}

static int adopt(struct sb_workload *w, struct sb_wire *r, struct sb_err *err)
{
    (void)err;
    of_workload(w)->adopted = sb_wire_get(r);
    return 0;
}

// One result in each message.
static bool give_results(struct sb_workload *w, struct sb_buf *b, size_t max)
{
    CHECK(max > 0);
    sb_wire_put(b, of_workload(w)->results > 0);
    return of_workload(w)->results && --of_workload(w)->results > 0;
}

static int take_results(
    struct sb_workload *w, unsigned rank, struct sb_wire *r, struct sb_err *err)
{
    if (sb_wire_get(r) == 0)
        return 0;
    of_workload(w)->taken += rank;
    return of_workload(w)->taken > 100
               ? sb_err_set(err, SB_ENOMEM, "out of memory")
               : 0;
}

static const struct sb_workload_ops workload_ops = { .share = share,
    .adopt = adopt,
    .give_results = give_results,
    .take_results = take_results };

static inline void rank_init(struct rank *r, unsigned number, unsigned ranks)
{
    static const char *const hosts[] = { "alpha", "beta", "gamma" };

    *r = (struct rank){ 0 };
    r->o.job = loopback_job(number, ranks, hosts[number % 3]);
    r->o.join = sb_ranks_join;
    r->o.threads = 2 * ranks;
    r->o.thread_init_timeout = 10 * (int64_t)SECOND;
    r->l = (struct sb_listener){
        .data = &r->reports, .interval = on_report, .partial = true
    };
    r->w = (struct sb_workload){ .ops = &workload_ops, .data = r };
    r->run.o = &r->o;
    r->run.l = &r->l;
    r->run.w = &r->w;
    r->run.users = 2;
    r->run.user = r->user;
    r->run.deadline = UINT64_MAX;
    r->run.start_at = sb_clock_monotonic();
    r->run.has_lock = sb__lock_init(&r->run.lock, &r->run.changed) == 0;
    sb_crew_init(&r->run.crew, 2);
    sb_stats_init(&r->stats, 2, 2, false);
    CHECK_INT(r->o.join(&r->run), 0);
}

static inline void rank_done(struct rank *r)
{
    r->run.group->ops->leave(&r->run);
    sb_job_free(r->o.job);
    sb_stats_done(&r->stats);
    sb_crew_done(&r->run.crew);
    pthread_cond_destroy(&r->run.changed);
    pthread_mutex_destroy(&r->run.lock);
}

// What a rank did in an interval: n events of 1 ms, with an operation.
static inline void part(struct rank *r, uint64_t from, uint64_t key, unsigned n,
    const char *op, bool full)
{
    struct sb_stats s;
    struct sb_snap snap = { 0 };

    sb_stats_init(&s, 2, 2, false);
    int number = sb_stats_op(&s, op, SB_OP_READ);
    for (unsigned i = 0; i < n; i++) {
        sb_rec_event(&s.rec[0], 0, 0, 1000000);
        sb_rec_op(&s.rec[1], number, 5);
    }
    sb_snap_take(&snap, &s, SB_SNAP_FINAL, 0, NULL);
    snap.ns = (key - from) * SECOND;
    snap.running = 2;
    sb__joint_intervals_add(
        &r->run, &snap, &s, from * SECOND, key * SECOND, full);
    sb_snap_done(&snap);
    sb_stats_done(&s);
}

static inline void end(struct rank *r)
{
    sb__joint_intervals_add(&r->run, NULL, NULL, 0, SB_GROUP_LAST, false);
}

// Until all messages have arrived, also those that they caused.
static inline void poll_all(struct rank *r, unsigned n)
{
    for (int turn = 0; turn < 4; turn++)
        for (unsigned i = n; i-- > 0;)
            sb__joint_poll(&r[i].run);
}

#endif
