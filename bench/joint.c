// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the intervals of several ranks cost, without a network: all ranks are in
// this process. Each records, takes its interval and sends it to the rank above
// it as in a run; rank 0 adds them up and computes four percentiles of each
// operation. Then rank 0 adds final figures.
//
// usage: joint RANKS OPERATIONS EXECUTIONS INTERVALS USERS
//     EXECUTIONS, USERS: of each rank, per interval. Prints a line: the bytes
//     of an interval of a rank without others below it, the maximum of all
//     ranks; CPU time of an interval in rank 0, the maximum of the others, in
//     ms; bytes of the final figures of a rank, and CPU time in rank 0 for
//     them, in ms; CPU time of a look for ranks that have failed, which each
//     poll of rank 0 does, in us. Medians over intervals.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/op_reader.h"
#include "measure/snap.h"
#include "measure/snap_wire.h"
#include "ranks/joint.h"
#include "run/run_state.h"
#include "times.h"

#define SECOND UINT64_C(1000000000)
#define FINALS 20

struct queued {
    struct queued *next;
    struct sb_transport_message m;
};

struct rank {
    struct sb_run_opts o;
    struct sb_run run;
    struct sb__joint j;
    struct sb_listener l;
    struct queued *first, **last; // messages to it
    size_t bytes;                 // sent in this interval
};

static struct rank *all;
static unsigned ranks, ops, users;
static uint64_t executions, seed;
static struct sb_stats stats;
static struct sb_op_reader reader;
static struct sb_snap last;
static double figures;

static int send_message(struct sb_transport *t, unsigned to, const void *data,
    size_t len, struct sb_err *err)
{
    struct queued *q = calloc(1, sizeof(*q));

    (void)err;
    q->m = (struct sb_transport_message){ t->rank, malloc(len), len };
    memcpy(q->m.data, data, len);
    all[t->rank].bytes += len;
    *all[to].last = q;
    all[to].last = &q->next;
    return 0;
}

static int receive_message(
    struct sb_transport *t, struct sb_transport_message *m, struct sb_err *err)
{
    struct rank *r = &all[t->rank];
    struct queued *q = r->first;

    (void)err;
    if (!q)
        return 0;
    *m = q->m;
    r->first = q->next;
    if (!r->first)
        r->last = &r->first;
    free(q);
    return 1;
}

static const struct sb_transport_ops transport_ops = {
    .abi = SB_TRANSPORT_ABI, .send = send_message, .receive = receive_message
};

static void on_interval(void *data, const struct sb_report *r)
{
    static const double pct[] = { 50, 95, 99, 99.9 };

    (void)data;
    for (unsigned i = 0; i < r->snap->nops; i++)
        for (unsigned k = 0; k < 4; k++)
            figures += sb_hist_snap_percentile(
                &r->snap->op[i].hist, pct[k], r->snap->op[i].max);
    figures += sb_report_percentile(r, 99);
}

static int rank_init(unsigned i)
{
    struct rank *r = &all[i];
    const struct sb_transport t = {
        .ops = &transport_ops, .rank = i, .ranks = ranks
    };

    r->last = &r->first;
    r->o.threads = users * ranks;
    r->o.job = sb_job_new(&t, "host");
    r->l.interval = on_interval;
    r->run.o = &r->o;
    r->run.l = &r->l;
    r->run.deadline = UINT64_MAX;
    r->run.group = &r->j.group;
    r->j.group.names = &r->j.names;
    r->j.run = &r->run;
    r->j.job = r->o.job;
    if (i == 0)
        r->j.of = calloc(ranks, sizeof(*r->j.of));
    return r->j.job ? sb__joint_intervals_init(&r->j) : SB_ENOMEM;
}

static void record(void)
{
    struct sb_rng r;

    sb_rng_init(&r, 1, ++seed);
    for (uint64_t i = 0; i < executions; i++) {
        unsigned user = (unsigned)(i % users);
        unsigned op = (unsigned)sb_rng_below(&r, ops);
        uint64_t ns = time_of(&r, op);

        sb_rec_op_found(&stats.rec[user], (int)op, SB_FOUND_ROWS, 1, ns, 0);
        sb_rec_event_later(&stats.rec[user], 0, ns);
    }
    for (unsigned user = 0; user < users; user++)
        sb_rec_flush(&stats.rec[user]);
}

// What the main thread of a rank does. Ranks use the same memory for what they
// record, one after the other.
static double interval(unsigned rank, uint64_t key)
{
    double start = cpu_ms();
    struct sb_snap snap, diff;

    all[rank].bytes = 0;
    if (sb_op_reader_take(&reader) ||
        sb_snap_take(&snap, &stats, SB_SNAP_CODES, seed, NULL) ||
        sb_snap_sub(&diff, &snap, &last))
        exit(1);
    diff.op = reader.op;
    diff.nops = reader.nops;
    sb_job_poll(all[rank].j.job);
    sb__joint_intervals_add(
        &all[rank].run, &diff, &stats, key - SECOND, key, true);
    diff.op = NULL;
    diff.nops = 0;
    sb_snap_done(&diff);
    sb_snap_done(&last);
    last = snap;
    return cpu_ms() - start;
}

struct figures {
    double leaf, most, root_ms, other_ms;
};

static struct figures intervals(uint64_t key)
{
    struct figures f = { 0 };

    for (unsigned i = ranks; i-- > 0;) {
        record();
        double ms = interval(i, key), bytes = (double)all[i].bytes;

        f.most = fmax(f.most, bytes);
        if (i == 0)
            f.root_ms = ms;
        else
            f.other_ms = fmax(f.other_ms, ms);
        if (i == ranks - 1)
            f.leaf = bytes;
    }
    return f;
}

// Returns the time for one rank.
static double finals(size_t *bytes)
{
    struct sb_snap whole, sum = { 0 };
    struct sb_stats names;
    struct sb_err err;
    struct sb_buf b;
    double start;

    sb_buf_init(&b, 0);
    if (sb_snap_take(&whole, &stats, SB_SNAP_FINAL, 1, NULL) ||
        sb_stats_init(&names, 1, 1, false))
        exit(1);
    sb_snap_write(&b, &whole, &stats);
    *bytes = b.len;
    start = cpu_ms();
    for (int i = 0; i < FINALS; i++) {
        struct sb_wire w = sb_wire_of(b.data, b.len);
        struct sb_snap one = { 0 };

        if (sb_snap_read_add(&w, &one, &names, 0, &err) ||
            sb_snap_add(&sum, &names, &one, &names, 0, &err))
            exit(1);
        for (unsigned k = 0; k < SB_RANK_PERCENTILES; k++)
            figures += sb_hist_snap_percentile(
                &one.service, sb_rank_percentiles[k], one.service_max);
        sb_snap_done(&one);
    }
    double ms = (cpu_ms() - start) / FINALS;
    sb_snap_done(&whole);
    sb_snap_done(&sum);
    sb_stats_done(&names);
    sb_buf_done(&b);
    return ms;
}

// Between looks, other data is in the caches.
static double look_us(void)
{
    enum { LOOKS = 200, OTHER = 1 << 20 };
    static volatile char other[OTHER];
    double us = 0;
    unsigned n;

    for (int i = 0; i < LOOKS; i++) {
        for (int k = 0; k < OTHER; k += 64)
            other[k]++;
        double start = cpu_ms();
        figures += sb_job_failed(all[0].j.job, &n) != NULL;
        us += (cpu_ms() - start) * 1e3;
    }
    return us / LOOKS;
}

static double median(const struct figures *f, int n, size_t member)
{
    double *v = malloc((size_t)n * sizeof(*v)), m;

    for (int i = 0; i < n; i++)
        memcpy(&v[i], (const char *)&f[i] + member, sizeof(*v));
    qsort(v, (size_t)n, sizeof(*v), ascending);
    m = v[n / 2];
    free(v);
    return m;
}

int main(int argc, char **argv)
{
    unsigned number[5] = { 0 };
    char name[16];
    size_t bytes;

    for (int i = 0; i < 5 && i + 1 < argc; i++)
        number[i] = (unsigned)strtoul(argv[i + 1], NULL, 10);
    ranks = number[0];
    ops = number[1];
    executions = number[2];
    int n = (int)number[3];
    users = number[4];
    if (ranks == 0 || users == 0 || n == 0)
        return 2;
    all = calloc(ranks, sizeof(*all));
    struct figures *f = calloc((size_t)n, sizeof(*f));
    if (!all || !f || sb_stats_init(&stats, users, 1, false) ||
        sb_op_reader_init(&reader, &stats))
        return 1;
    for (unsigned i = 0; i < ops; i++) {
        snprintf(name, sizeof(name), "op%u", i);
        sb_stats_op(&stats, name, SB_OP_READ);
    }
    for (unsigned i = 0; i < ranks; i++)
        if (rank_init(i))
            return 1;
    // The first two intervals touch new memory.
    for (int i = -2; i < n; i++) {
        struct figures one = intervals((uint64_t)(i + 3) * SECOND);

        if (i >= 0)
            f[i] = one;
    }
    double final_ms = finals(&bytes);
    printf("%.0f %.0f %.3f %.3f %zu %.3f %.2f\n",
        median(f, n, offsetof(struct figures, leaf)),
        median(f, n, offsetof(struct figures, most)),
        median(f, n, offsetof(struct figures, root_ms)),
        median(f, n, offsetof(struct figures, other_ms)), bytes, final_ms,
        look_us());
    return figures > 0 ? 0 : 1;
}
