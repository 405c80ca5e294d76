// SPDX-License-Identifier: GPL-2.0-or-later
//
// Snapshots of what a run has recorded, and the figures computed from them.
// An interval is the difference of two snapshots. Pure: time is a parameter.
#ifndef SB_SNAP_H
#define SB_SNAP_H

#include "measure/stats.h"

struct sb_snap_op {
    uint64_t count, errors, ns, min, max, hits, misses;
    struct sb_hist_snap hist;
};

struct sb_snap_code {
    int native;
    char state[8], driver[16], sample[96];
    uint64_t first_ns, count;
};

struct sb_snap {
    uint64_t ns;          // when it was taken, on the run's clock; of a
                          // difference: its length
    uint64_t scheduled;   // arrivals due by then (closed loop: started)
    uint64_t skipped;     // arrivals dropped on purpose
    uint64_t unfinished;  // events in flight
    uint64_t queue;       // arrivals due and not started at the later moment;
                          // filled by sb_snap_sub()
    unsigned running;     // users inside their loop
    struct sb_counters c; // sums over users
    uint64_t service_min, service_max, response_min, response_max, lag_min,
        lag_max; // exact since the start; min is 0 when there was none
    struct sb_hist_snap service, response, lag;
    unsigned users;
    // users of each; NULL unless asked for. Service times; the extremes are
    // those since the start, 0 when there was none.
    uint64_t *user_events, *user_ns, *user_min, *user_max;
    unsigned nops;
    struct sb_snap_op *op; // nops; NULL unless asked for
    unsigned ncodes;
    struct sb_snap_code *code; // merged over users; NULL unless asked for
};

enum sb_snap_what {
    // Counters and event histograms. Counts are as of now; histograms miss the
    // times that recorders keep back.
    SB_SNAP_LIGHT = 0,
    // Users, operations and codes too, and counts that fit together while users
    // write: events and operations count when their time is in a histogram.
    SB_SNAP_FULL = 1,
    SB_SNAP_FINAL = 2, // and the times that recorders keep back: only when
                       // every user has ended or its recorder is closed
};

// Takes a snapshot of s at the moment ns; the caller fills scheduled, skipped,
// unfinished and running. earlier: the last SB_SNAP_FULL of s, from which this
// one may be subtracted, or NULL; only SB_SNAP_FULL uses it. Any thread;
// writers go on. 0 or SB_ENOMEM.
int sb_snap_take(struct sb_snap *out, const struct sb_stats *s,
    enum sb_snap_what what, uint64_t ns, const struct sb_snap *earlier);
void sb_snap_done(struct sb_snap *s); // {0} allowed
// out = later - earlier; an earlier of {0} is the start of the run.
// unfinished, running and queue are those of the later moment. Codes that did
// not occur in between are left out. Extremes: from the histograms, unless
// earlier has no completed event, then exact.
int sb_snap_sub(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier);
// Checks every identity that stats.h lists; pending is what the schedule owed
// at the end. SB_EINTERNAL names the broken one with its numbers.
int sb_snap_check(const struct sb_snap *s, const struct sb_stats *stats,
    uint64_t pending, struct sb_err *err);
// Checks what is printed of a difference of SB_SNAP_FULL and SB_SNAP_FINAL
// ones: completed events = the latency histogram = the sum over users, service
// time = the sum over users, and each operation = its histogram.
int sb_snap_check_printed(
    const struct sb_snap *s, bool open_loop, struct sb_err *err);

// The figures of an interval or a whole run. Latencies in nanoseconds: they
// are response times in an open loop, service times in a closed one.
struct sb_report {
    double interval_s; // length of what is reported
    double total_s;    // since the run started, warm-up left out
    unsigned threads;  // users configured
    unsigned running;
    bool open_loop;
    const struct sb_snap *snap;         // the difference behind the figures
    uint64_t queue;                     // arrivals due and not started
    uint64_t concurrency;               // events in flight
    const struct sb_hist_snap *latency; // response or service
    uint64_t lat_min, lat_max, lat_sum;
    double lat_avg;
    uint64_t errors; // ignored, restarted and given up
    bool final, warmup;
    uint64_t start_ns; // when the reported phase began, on the run's clock
    const struct sb_stats *stats; // for names of operations; may be NULL
    const char *failure; // of the final report: why the run failed, or NULL
};

// Fills the report from a difference; snap stays the caller's.
void sb_report_fill(struct sb_report *r, const struct sb_snap *diff,
    unsigned threads, bool open_loop, double total_s);
// Percentile of the report's latency in nanoseconds.
double sb_report_percentile(const struct sb_report *r, double pct);
// Mean and population standard deviation of n values; 0, 0 for n = 0.
void sb_report_mean(const uint64_t *v, unsigned n, double *mean, double *dev);

#endif
