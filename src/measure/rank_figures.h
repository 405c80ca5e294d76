// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a report says about each rank of a run that several processes carried
// out together: it shows ranks that are slower than others, and clients that
// are the limit.
#ifndef SB_RANK_FIGURES_H
#define SB_RANK_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#define SB_RANK_PERCENTILES 4

struct sb_rank_figures {
    char host[256];
    // The rank was lost: its figures are the last ones that rank 0 received,
    // without latencies.
    bool lost;
    unsigned users;
    uint64_t events, failed;
    // Latency of its events, of the same kind as in the report, ns.
    double mean, max;
    double percentile[SB_RANK_PERCENTILES]; // sb_rank_percentiles
    // Open loop, else 0: mean lag, mean service time, ns; arrivals per second
    // times the mean service time in seconds.
    double lag, service, load;
    double cpu_s;        // CPU time of the process during the measured part
    unsigned processors; // that the process may use
    int64_t offset_ns;   // how far its clock is ahead of rank 0's
    uint64_t error_ns;   // maximum error of the offset
};

static const double sb_rank_percentiles[SB_RANK_PERCENTILES] = { 50, 95, 99,
    99.9 };

// Returns whether one of the n ranks was lost. Stores in *events the number of
// events that all ranks have reported; after a loss, the report of the run may
// have fewer.
static inline bool sb_ranks_reported(
    const struct sb_rank_figures *f, unsigned n, uint64_t *events)
{
    bool lost = false;

    *events = 0;
    for (unsigned i = 0; i < n; i++) {
        lost |= f[i].lost;
        *events += f[i].events;
    }
    return lost;
}

#endif
