// SPDX-License-Identifier: GPL-2.0-or-later
//
// A report with everything it points to, and the classic text of it.
#ifndef REPORTS_H
#define REPORTS_H

#include <stdlib.h>

#include "check.h"
#include "out/text.h"

#define MS UINT64_C(1000000)

// One report with everything it points to, and where the text goes.
struct fixture {
    struct sb_snap snap;
    struct sb_report report;
    struct sb_text text;
    uint64_t events[2], ns[2], min[2], max[2];
    struct sb_snap_op op[3];
    struct sb_snap_code code[3];
    char *got;
    size_t size;
};

static const char *const list_95[] = { "95" };

static inline struct sb_text_opts defaults(void)
{
    return (struct sb_text_opts){
        .verbosity = 3,
        .percentile = { list_95, 1 },
        .report_errors = true,
    };
}

static inline void put(struct sb_hist_snap *h, uint64_t ns, uint64_t n)
{
    CHECK_INT(sb_hist_snap_put(h, sb_hist_index(ns), n), 0);
}

// 200 events of two users in two seconds: 1 ms, a tenth of them 10 ms.
static inline void setup(struct fixture *f, const struct sb_text_opts *o)
{
    *f = (struct fixture){ .events = { 90, 110 },
        .ns = { 190 * MS, 190 * MS },
        .min = { 1 * MS, 3 * MS / 2 },
        .max = { 10 * MS, 9 * MS } };
    f->snap = (struct sb_snap){ .ns = 2000 * MS,
        .running = 2,
        .users = 2,
        .user_events = f->events,
        .user_ns = f->ns,
        .user_min = f->min,
        .user_max = f->max,
        .scheduled = 210,
        .queue = 7,
        .unfinished = 0,
        .service_min = 1 * MS,
        .service_max = 10 * MS };
    f->snap.c = (struct sb_counters){ .started = 200,
        .completed = 200,
        .tries = 200,
        .reads = 2800,
        .writes = 800,
        .others = 400,
        .err_ignored = 1,
        .err_restarted = 2,
        .err_givenup = 3,
        .reconnects = 4,
        .service_ns = 380 * MS };
    put(&f->snap.service, 1 * MS, 180);
    put(&f->snap.service, 10 * MS, 20);
    sb_report_fill(&f->report, &f->snap, 2, false, 2.00041);
    f->report.final = true;
    CHECK_INT(
        sb_text_init(&f->text, o, open_memstream(&f->got, &f->size), NULL), 0);
    f->text.err = f->text.out;
}

static inline void teardown(struct fixture *f)
{
    fclose(f->text.out);
    free(f->got);
    sb_hist_snap_done(&f->snap.service);
    sb_hist_snap_done(&f->snap.response);
    sb_hist_snap_done(&f->snap.lag);
    sb_hist_snap_done(&f->snap.client_delay);
    for (int i = 0; i < 3; i++)
        sb_hist_snap_done(&f->op[i].hist);
}

static inline const char *text(struct fixture *f)
{
    fflush(f->text.out);
    return f->got;
}

static inline void make_open(struct fixture *f)
{
    f->snap.response_min = 2 * MS;
    f->snap.response_max = 40 * MS;
    f->snap.lag_max = 30 * MS;
    f->snap.c.response_ns = 1000 * MS;
    f->snap.c.lag_ns = 620 * MS;
    f->snap.unfinished = 3;
    f->snap.c.started = 203;
    put(&f->snap.response, 2 * MS, 100);
    put(&f->snap.response, 40 * MS, 100);
    put(&f->snap.lag, 0, 200);
    sb_report_fill(&f->report, &f->snap, 2, true, 2.00041);
}

#define GENERAL                                          \
    "\n"                                                 \
    "General statistics:\n"                              \
    "    total time:                          2.0004s\n" \
    "    total number of events:              200\n"     \
    "\n"

#define LATENCY                                               \
    "Latency (ms):\n"                                         \
    "         min:                                    1.00\n" \
    "         avg:                                    1.90\n" \
    "         max:                                   10.00\n" \
    "         95th percentile:                       10.00\n" \
    "         sum:                                  380.00\n" \
    "\n"

#define FAIRNESS                                          \
    "Threads fairness:\n"                                 \
    "    events (avg/stddev):           100.0000/10.00\n" \
    "    execution time (avg/stddev):   0.1900/0.00\n"    \
    "\n"

#endif
