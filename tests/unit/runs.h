// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs for tests: the figures that the listener of a run got, and the simplest
// workload.
#ifndef RUNS_H
#define RUNS_H

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "run/run.h"

#define MS INT64_C(1000000)
// On a busy machine no user may get the processor during a short run. A test
// that requires that users ran repeats the run, four times as long each time,
// up to this time.
#define LONGEST (30000 * MS)

struct seen {
    struct sb_run_opts o;
    struct sb_random_shared random;
    struct sb_run_result res;
    struct sb_counters c;     // of the final report
    struct sb_counters whole; // of the run, checkpoints included
    uint64_t scheduled, unfinished, sum_of_users, intervals;
    uint64_t interval_events, warm_events;
    uint64_t start_ns;    // of the phase of the last interval
    double end_s;         // when it ended
    unsigned end_running; // users that ran then
    bool operations;      // intervals have operations
    // Executions of the first operation, and errors with a code.
    uint64_t warm_ops, interval_ops, interval_codes, ops;
    uint64_t lat_min, lat_max, lag_max, queue;
    uint64_t op_ns; // of the first operation
    bool has_client_delay;
    double total_s;
    int finals, checkpoints;
    unsigned stages, final_stages; // reported when they ended, and at the end
    uint64_t stage_events;         // sum over stages
    unsigned running[8];           // at the end of a stage
    uint64_t connects;             // executions of the operation `connect`
    char failure[sizeof(((struct sb_err *)0)->msg)]; // that the report shows
    _Atomic int calls;                               // of event functions
    _Atomic bool canceled;
    _Atomic uint64_t keys[8]; // a random number of each user
};

// Intervals of a phase follow each other from its start on.
static void check_times(struct seen *s, const struct sb_report *r)
{
    if (sb_run_opts_finds_rate(&s->o)) // its parts have times of their own
        return;
    CHECK(r->interval_s > 0);
    CHECK(r->warmup_s == (double)s->o.warmup_time / 1e9);
    if (r->start_ns != s->start_ns) {
        s->end_s = 0;
        if (s->start_ns)
            CHECK_INT(r->start_ns - s->start_ns, s->o.warmup_time);
    }
    if (!r->partial)
        CHECK_NEAR(r->total_s - r->interval_s, s->end_s, 1e-6);
    if (s->o.stages.n && !r->warmup) {
        double middle = (r->total_s - r->interval_s / 2) * 1e9;

        CHECK_INT(r->stage, sb_stages_at(&s->o.stages, (uint64_t)middle));
    }
    s->start_ns = r->start_ns;
    s->end_s = r->total_s;
    s->end_running = r->running;
}

static void on_interval(void *data, const struct sb_report *r)
{
    struct seen *s = data;

    check_times(s, r);
    s->intervals++;
    if (r->snap->nops > 0)
        *(r->warmup ? &s->warm_ops : &s->interval_ops) += r->snap->op[0].count;
    for (unsigned i = 0; i < r->snap->ncodes; i++)
        s->interval_codes += r->snap->code[i].count;
    if (r->warmup)
        s->warm_events += r->snap->c.completed;
    else
        s->interval_events += r->snap->c.completed;
}

static void on_checkpoint(void *data, const struct sb_report *r)
{
    struct seen *s = data;

    s->checkpoints++;
    s->interval_events += r->snap->c.completed;
}

static void on_stage(void *data, const struct sb_report *r)
{
    struct seen *s = data;

    CHECK(r->stage_name != NULL);
    CHECK(r->stage >= s->stages); // a late report may leave stages out
    if (r->stage < 8)
        s->running[r->stage] = r->running;
    s->stages++;
    s->stage_events += r->snap->c.completed;
}

static void on_final(void *data, const struct sb_report *r)
{
    struct seen *s = data;

    if (s->o.stages.n == 0)
        CHECK_INT(r->running, r->threads); // until the end
    s->final_stages = r->nstages;
    for (unsigned i = 0; i < r->snap->nops; i++)
        if (strcmp(r->stats->op[i].name, "connect") == 0)
            s->connects += r->snap->op[i].count;
    s->finals++;
    s->c = r->snap->c;
    s->ops = r->whole->nops > 0 ? r->whole->op[0].count : 0;
    s->whole = r->whole->c;
    s->scheduled = r->snap->scheduled;
    s->unfinished = r->snap->unfinished;
    s->op_ns = r->whole->nops > 0 ? r->whole->op[0].ns : 0;
    s->has_client_delay = r->snap->has_client_delay;
    s->lat_min = r->lat_min;
    s->lat_max = r->lat_max;
    s->lag_max = r->snap->lag_max;
    s->queue = r->queue;
    s->total_s = r->total_s;
    if (r->failure)
        snprintf(s->failure, sizeof(s->failure), "%s", r->failure);
    for (unsigned i = 0; i < r->snap->users; i++)
        s->sum_of_users += r->snap->user_events[i];
}

static inline void prepare(struct seen *s, int threads)
{
    const struct sb_dist_opts dist = { .seed = 7,
        .spec_iter = 12,
        .spec_pct = 1,
        .spec_res = 75,
        .pareto_h = 0.2,
        .zipfian_exp = 0.8 };

    memset(s, 0, sizeof(*s));
    s->o = (struct sb_run_opts){ .threads = threads,
        .forced_shutdown_ns = -1,
        .thread_stack_size = 1 << 20,
        .thread_init_timeout = 30000 * MS,
        .think_time = "",
        .shutdown_grace = 10000 * MS,
        .max_failed = 100 };
    sb_random_share(&s->random, &dist, 1, NULL);
}

static inline int perform(struct seen *s, const struct sb_workload_ops *ops)
{
    struct sb_workload w = { .ops = ops, .data = s };
    const struct sb_listener l = { .data = s,
        .operations = s->operations,
        .interval = on_interval,
        .checkpoint = on_checkpoint,
        .stage = on_stage,
        .final = on_final };

    int rc = sb_run(&w, &s->o, &s->random, &l, &s->res);
    if (rc)
        printf("# %s: %s\n", sb_err_text(rc), s->res.err.msg);
    return rc;
}

static inline struct seen *seen_of(struct sb_workload *w)
{
    return w->data;
}

static inline int empty_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u))
        atomic_fetch_add(&seen_of(w)->calls, 1);
    return 0;
}

static const struct sb_workload_ops empty = { .user_run = empty_loop };

static inline void nap(int64_t ns)
{
    struct timespec ts = { .tv_sec = ns / 1000000000,
        .tv_nsec = ns % 1000000000 };

    nanosleep(&ts, NULL);
}

#endif
