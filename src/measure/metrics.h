// SPDX-License-Identifier: GPL-2.0-or-later
//
// Metrics of scripts (sysbench.metric): counters, gauges and distributions with
// a cell per user, which only that user writes. Counters and distributions are
// cumulative, like operations: readers subtract snapshots. Recording takes no
// lock and allocates no memory.
#ifndef SB_METRICS_H
#define SB_METRICS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/hist.h"

#define SB_METRICS_MAX 64 // maximum number of metrics in a run
// The counter that counts the values given to all further metrics.
#define SB_METRICS_REST "(others)"
// Maximum value of a distribution unless the script gives another one.
#define SB_METRIC_LARGEST 0x1p28

enum sb_metric_kind {
    SB_METRIC_COUNTER,      // a sum
    SB_METRIC_GAUGE,        // a state: the sum of what each user set last
    SB_METRIC_DISTRIBUTION, // single values
    SB_METRIC_REST          // counts the values, whatever they are
};

struct sb_metric_cell {
    // Published last, with release: how often the user gave a value.
    _Alignas(64) _Atomic uint64_t count;
    _Atomic double value;    // sum; of a gauge: the last value
    _Atomic double min, max; // of a distribution, if count > 0
    // Of a gauge: the time on the run's clock after which the value is unknown;
    // 0: none. Published after the value, with release.
    _Atomic uint64_t until;
};

struct sb_metric {
    char name[64];
    char unit[16]; // "" if none
    char help[128];
    enum sb_metric_kind kind;
    double scale; // of a distribution: units of the histogram for a value of 1
    struct sb_metric_cell *cell; // one per user; a gauge of a twin borrows them
    struct sb_hist *shard;       // of a distribution: one per shard
};

struct sb_metrics {
    unsigned users, shards;
    pthread_mutex_t lock; // registration only
    struct sb_metric metric[SB_METRICS_MAX];
    _Atomic uint32_t n;          // published with release
    struct sb_metric_cell *rest; // for SB_METRICS_REST until it is registered
    struct sb_metrics *primary;  // where metrics are registered
    struct sb_metrics *twin;     // also registered here, with the same number
};

// What a script says about a metric.
struct sb_metric_def {
    const char *name;
    enum sb_metric_kind kind;
    const char *unit, *help; // or NULL
    double largest; // of a distribution: its greatest value; 0: the default
};

// user n records distributions in shard n mod shards. 0 or SB_ENOMEM.
int sb_metrics_init(struct sb_metrics *m, unsigned users, unsigned shards);
void sb_metrics_done(struct sb_metrics *m); // {0} allowed
// Makes both assign the same numbers. Gauges have the same values in both,
// because a state survives the end of the warm-up. Before any registration.
void sb_metrics_twin(struct sb_metrics *primary, struct sb_metrics *twin);

// Returns the number of the metric, and registers it on first use; the first
// definition decides unit, help and largest. Any thread. Takes a lock and
// allocates: not for use per event. If the table is full, or memory runs out,
// SB_METRICS_REST becomes the last metric. SB_EUSAGE: the metric has another
// kind; err names both.
int sb_metrics_add(
    struct sb_metrics *m, const struct sb_metric_def *def, struct sb_err *err);

// The number of registered metrics.
static inline uint32_t sb_metrics_count(const struct sb_metrics *m)
{
    return atomic_load_explicit(&m->n, memory_order_acquire);
}

// The greatest value of a distribution with this scale, for
// sb_metric_def.largest.
double sb_metric_largest(double scale);

// A user stops while the run continues (--stages): its gauges are 0 from now
// on.
// Only the user's thread.
void sb_metrics_leave(struct sb_metrics *m, unsigned user);

// Gives metric number i, which is no gauge, a value: adds to a counter, records
// in a distribution. value: finite, not negative; a distribution treats values
// above the largest one as that in its histogram. Only the user's thread.
void sb_metric_put(struct sb_metrics *m, uint32_t i, unsigned user, double v);
// Sets gauge number i. value: NaN: unknown. until: a time on the clock of
// snapshots, in ns, after which the value is unknown unless it was set again;
// 0: none. So the gauge of a user that blocks does not keep an old value. Only
// the user's thread.
void sb_metric_set(struct sb_metrics *m, uint32_t i, unsigned user,
    double value, uint64_t until);

#endif
