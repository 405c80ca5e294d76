// SPDX-License-Identifier: GPL-2.0-or-later
//
// What an interval costs the program that reports it, in CPU time: snapshot,
// difference, operations, and four percentiles of each. Meanwhile the threads
// of the users record.
//
// usage: interval USERS OPERATIONS EXECUTIONS INTERVALS PROCESSORS
//     USERS: even. EXECUTIONS: per interval. Prints the median in milliseconds.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "times.h"
#include "measure/op_reader.h"

#define THREADS 2

static struct sb_stats stats;
static unsigned users, ops;
static uint64_t executions, seed;

static void *record(void *arg)
{
    unsigned me = *(unsigned *)arg;
    struct sb_rng r;

    sb_rng_init(&r, me, seed);
    for (uint64_t i = me; i < executions; i += THREADS) {
        unsigned user = (unsigned)(i % users);
        unsigned op = (unsigned)sb_rng_below(&r, ops);
        uint64_t ns = time_of(&r, op);

        sb_rec_op_found(&stats.rec[user], (int)op, SB_FOUND_ROWS, 1, ns, 0);
        sb_rec_event_later(&stats.rec[user], 0, ns);
    }
    for (unsigned user = me; user < users; user += THREADS)
        sb_rec_flush(&stats.rec[user]);
    return NULL;
}

static double figures(const struct sb_snap_op *op)
{
    static const double pct[] = { 50, 95, 99, 99.9 };
    double sum = 0;

    for (unsigned i = 0; i < 4; i++)
        sum += sb_hist_snap_percentile(&op->hist, pct[i], op->max);
    return sum;
}

static double interval(
    struct sb_op_reader *reader, struct sb_snap *last, double *sum)
{
    double start = cpu_ms();
    struct sb_snap snap, diff;

    if (sb_op_reader_take(reader) ||
        sb_snap_take(&snap, &stats, SB_SNAP_CODES, 1, NULL) ||
        sb_snap_sub(&diff, &snap, last))
        exit(1);
    for (unsigned i = 0; i < reader->nops; i++)
        *sum += figures(&reader->op[i]);
    *sum += sb_hist_snap_percentile(&diff.service, 99, diff.service_max);
    sb_snap_done(&diff);
    sb_snap_done(last);
    *last = snap;
    return cpu_ms() - start;
}

int main(int argc, char **argv)
{
    struct sb_op_reader reader;
    struct sb_snap last = { 0 };
    char name[16];
    double sum = 0;

    unsigned number[5] = { 0 };

    for (int i = 0; i < 5 && i + 1 < argc; i++)
        number[i] = (unsigned)strtoul(argv[i + 1], NULL, 10);
    users = number[0];
    ops = number[1];
    executions = number[2];
    int n = (int)number[3];
    double *ms = malloc(((size_t)n + 1) * sizeof(*ms));
    if (!ms || users == 0 || n == 0 ||
        sb_stats_init(
            &stats, users, sb_stats_shards(users, number[4]), false) ||
        sb_op_reader_init(&reader, &stats))
        return 2;
    for (unsigned i = 0; i < ops; i++) {
        snprintf(name, sizeof(name), "op%u", i);
        sb_stats_op(&stats, name, SB_OP_READ);
    }
    // The first two intervals touch new memory.
    for (int i = -2; i < n; i++) {
        pthread_t thread[THREADS];
        unsigned id[THREADS];

        seed++;
        for (unsigned t = 0; t < THREADS; t++) {
            id[t] = t;
            if (pthread_create(&thread[t], NULL, record, &id[t]))
                return 1;
        }
        for (unsigned t = 0; t < THREADS; t++)
            pthread_join(thread[t], NULL);
        double took = interval(&reader, &last, &sum);
        if (i >= 0)
            ms[i] = took;
    }
    qsort(ms, (size_t)n, sizeof(*ms), ascending);
    printf("%.3f\n", ms[n / 2]);
    fprintf(stderr, "min %.3f max %.3f ms\n", ms[0], ms[n - 1]);
    return sum > 0 ? 0 : 1;
}
