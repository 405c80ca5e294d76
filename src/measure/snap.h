// SPDX-License-Identifier: GPL-2.0-or-later
//
// Snapshots of what a run has recorded, and the figures computed from them. An
// interval is the difference of two snapshots. Pure: time is a parameter.
#ifndef SB_SNAP_H
#define SB_SNAP_H

#include "measure/rank_figures.h"
#include "measure/stats.h"

struct sb_rate_search;

struct sb_snap_op {
    uint64_t count, errors, ns, min, max, hits, misses;
    uint64_t rows; // returned or changed by the executions
    // Events; SB_OP_WORKLOAD only. Result files do not have cut_short.
    uint64_t failed, restarts, cut_short;
    struct sb_hist_snap hist;
};

// Whether the operation was executed, failed, or restarted an event. Pure.
static inline bool sb_snap_op_occurred(const struct sb_snap_op *op)
{
    return op->count || op->errors || op->failed || op->restarts;
}

struct sb_snap_code {
    int native;
    char state[8], driver[16], sample[96];
    uint64_t first_ns, count;
    uint64_t lost; // of them: no connection; only known during the run
};

// A metric of a script. Names, units and help: struct sb_stats.metrics, with
// the same number.
struct sb_snap_metric {
    enum sb_metric_kind kind;
    uint64_t count; // values given to a counter, set or recorded
    double value;   // sum of them; of a gauge: the sum over users of the last
                    // value that each has set, NaN if one is unknown
    double min, max, scale;   // of a distribution; 0 without values
    struct sb_hist_snap hist; // of a distribution, in units of 1 / scale
};

struct sb_snap {
    uint64_t ns;          // time of the snapshot on the run's clock; of a
                          // difference: its length
    uint64_t scheduled;   // arrivals due by `ns` (closed loop: started)
    uint64_t skipped;     // arrivals whose event() returned true
    uint64_t unfinished;  // events in progress
    uint64_t queue;       // arrivals due and not started at the later snapshot;
                          // set by sb_snap_sub()
    unsigned running;     // users inside their loop
    struct sb_counters c; // sums over users
    // Exact, since the start; min is 0 if nothing was recorded.
    uint64_t service_min, service_max, response_min, response_max, lag_min,
        lag_max, client_delay_min, client_delay_max;
    struct sb_hist_snap service, response, lag, client_delay;
    bool has_client_delay; // of a sum: of some of its parts
    unsigned users;
    // Per user; NULL in light snapshots. Times are service times; extremes are
    // since the start, 0 if there is none.
    uint64_t *user_events, *user_ns, *user_min, *user_max;
    unsigned nops;
    // nops entries; NULL in light snapshots, and in SB_SNAP_CODES, for which
    // struct sb_op_reader has them.
    struct sb_snap_op *op;
    unsigned ncodes;
    size_t cap_codes;          // entries that `code` has room for
    struct sb_snap_code *code; // merged over users; NULL in light snapshots
    unsigned nmetrics;
    struct sb_snap_metric *metric; // nmetrics entries, in every snapshot
};

enum sb_snap_detail {
    // Counters, event histograms and metrics of scripts. The counters are
    // current; histograms lack the times that recorders hold back.
    SB_SNAP_LIGHT = 0,
    // Also codes.
    SB_SNAP_CODES = 1,
    // Also users, operations and codes. The counts are consistent while users
    // write: events and operations count if their time is in a histogram.
    SB_SNAP_FULL = 2,
    SB_SNAP_FINAL = 3, // also the times that recorders hold back: only after
                       // every user has ended or its recorder is closed
};

// Takes a snapshot of s at the time ns. The caller sets scheduled, skipped,
// unfinished and running. earlier: only used by SB_SNAP_FULL; the last
// SB_SNAP_FULL of s, from which this one may be subtracted, or NULL. Any
// thread; writers continue. 0 or SB_ENOMEM.
int sb_snap_take(struct sb_snap *out, const struct sb_stats *s,
    enum sb_snap_detail detail, uint64_t ns, const struct sb_snap *earlier);
void sb_snap_done(struct sb_snap *s); // {0} allowed
// out = later - earlier; {0} as earlier is the start of the run. unfinished,
// running and queue are those of the later snapshot. Codes without an
// occurrence in between are left out; of SB_SNAP_CODES those with a loss are
// kept. Extremes are exact if earlier has no completed event; otherwise they
// come from the histograms.
int sb_snap_sub(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier);
// Checks every identity listed in stats.h. pending: arrivals due and not
// started at the end. SB_EINTERNAL names the violated one with its numbers.
int sb_snap_check(const struct sb_snap *s, const struct sb_stats *stats,
    uint64_t pending, struct sb_err *err);
// Checks a difference of SB_SNAP_FULL or SB_SNAP_FINAL snapshots before it is
// printed: completed events = latency histogram = sum over users, service time
// = sum over users, and the count of each operation = its histogram.
int sb_snap_check_printed(
    const struct sb_snap *s, bool open_loop, struct sb_err *err);

// The failed events that count against the run. An event that failed only
// because the run ended before its next try does not, unless no event
// succeeded.
uint64_t sb_counters_failed(const struct sb_counters *c);
// The same of a workload.
uint64_t sb_snap_op_failed(const struct sb_snap_op *op);

// The figures of an interval or a whole run. Latencies are in nanoseconds:
// response times in an open loop, service times in a closed loop.
struct sb_report {
    double interval_s; // length of the reported interval
    double total_s;    // since the start, without warm-up
    unsigned threads;  // users configured
    unsigned running;
    bool open_loop;
    const struct sb_snap *snap;         // the difference behind the figures
    const struct sb_snap *whole;        // final report: the whole phase, all
                                        // checkpoints included; else NULL
    uint64_t queue;                     // arrivals due and not started
    uint64_t concurrency;               // events in progress
    const struct sb_hist_snap *latency; // response or service
    uint64_t lat_min, lat_max, lat_sum;
    double lat_avg;
    uint64_t errors; // ignored, restarted and given up
    bool final, warmup;
    bool partial;      // the rest of a run that is shorter than an interval
    bool paused;       // and the pause behind a warm-up, in which users waited
    double warmup_s;   // length of the warm-up
    uint64_t start_ns; // start of the reported phase, on the run's clock
    const struct sb_stats *stats; // for the names of operations; may be NULL
    const char *failure;          // final report: why the run failed, or NULL
    // --stages: the number, 0 first, and the name of the stage in which the
    // middle of the reported time lies; 0 and NULL without stages.
    unsigned stage;
    const char *stage_name;
    // Of that stage, at its start and its end; without rates, 0.
    unsigned stage_users[2];
    double stage_rate[2];
    const char *stage_mix; // "report:1/oltp:3"; "" or NULL without a mix
    // Final report: a report for each stage that began, in order; else 0.
    const struct sb_report *stages;
    unsigned nstages;
    // Final report of a run of several ranks, by number; else 0.
    const struct sb_rank_figures *ranks;
    unsigned nranks;
    // Final report of a run that found its rate itself (measure/search.h); else
    // NULL.
    const struct sb_rate_search *search;
};

// Computes the figures of a difference. The caller owns diff, which must
// outlive *r.
void sb_report_fill(struct sb_report *r, const struct sb_snap *diff,
    unsigned threads, bool open_loop, double total_s);
// Percentile of a distribution; 0 without values.
double sb_snap_metric_percentile(const struct sb_snap_metric *m, double pct);
// Percentile of the report's latency, in nanoseconds.
double sb_report_percentile(const struct sb_report *r, double pct);
// Sets the figures of a rank that only open loops have: lag, service and load.
// *s: everything that the rank recorded, in this many seconds.
void sb_report_rank_open(
    struct sb_rank_figures *f, const struct sb_snap *s, double seconds);
// Mean and population standard deviation of n values; both 0 if n = 0.
void sb_report_mean(const uint64_t *v, unsigned n, double *mean, double *dev);

// Adds the results of processes that ran side by side, or the intervals of one
// run, without loss: counters by sum, histograms by bucket, users one after the
// other. Pure; any thread.

// Adds *from to *to. Both are final snapshots of a whole run. Operations and
// metrics are matched by the names in the stats, and error codes by driver,
// number and SQLSTATE. New operations and metrics are registered in to_stats.
// {0} as *to is a run of nothing. later_ns: how much later than *to the run of
// *from started; error codes were first seen so much later. A distribution
// whose `largest` differs between the runs is added within the width of a
// bucket, everything else exactly. SB_ENOMEM; SB_EUSAGE: a metric is of another
// kind in *to. After an error, *to can only be freed.
int sb_snap_add(struct sb_snap *to, struct sb_stats *to_stats,
    const struct sb_snap *from, const struct sb_stats *from_stats,
    uint64_t later_ns, struct sb_err *err);

// Adds the executions of an operation, which is registered on first use. Not
// min and max if op->count is 0. 0 or SB_ENOMEM.
int sb_snap_add_op(struct sb_snap *to, struct sb_stats *to_stats,
    const char *name, enum sb_op_kind kind, const struct sb_snap_op *from);

// Adds the values of a metric, which is registered on first use. Errors as
// above.
int sb_snap_add_metric(struct sb_snap *to, struct sb_stats *to_stats,
    const struct sb_metric_def *def, const struct sb_snap_metric *from,
    struct sb_err *err);

// Adds an interval to the sum of earlier intervals of the same run. Operations
// and metrics are matched by their number. Users are left out. States (the
// running users, events in progress, the queue, gauges) become those of *from.
// Extremes are those of the intervals. {0} as *to is the start of the run. 0 or
// SB_ENOMEM; *to can then only be freed.
int sb_snap_add_interval(struct sb_snap *to, const struct sb_snap *from);

#endif
