// SPDX-License-Identifier: GPL-2.0-or-later
//
// The processes that carry out a run together (ranks/), as the run of each of
// them sees the others: when to start, whom to give figures to, how all ended.
// A run of one process has no group. Main thread.
#ifndef SB_GROUP_H
#define SB_GROUP_H

#include "measure/rank_figures.h"
#include "measure/snap.h"
#include "run/listener.h"

struct sb_run;

// The key with which a rank says that it has no more intervals.
#define SB_GROUP_LAST UINT64_MAX

// Parts of a run that have figures of their own.
enum sb_section {
    SB_SECTION_STAGE,      // by its number
    SB_SECTION_CHECKPOINT, // what precedes a checkpoint, by its number
    SB_SECTIONS
};

// The parts of a search for the rate: rate_search.h.
enum sb__part_kind {
    SB__PART_WARMUP,
    SB__PART_PROBE, // of the maximum, in a closed loop
    SB__PART_TRIAL,
    SB__PART_MEASURED // no search any more
};

struct sb__part {
    enum sb__part_kind kind;
    double rate; // 0: a closed loop
    uint64_t at; // its start; 0: now
};

// Of this process, or the sum of all ranks.
struct sb__part_figures {
    double rate; // of a probe: events that were completed per second
    // Of a trial:
    bool late;       // the main thread did not count in time: no outcome
    double growth;   // of the queue while it counted,
    double arrivals; // and expected arrivals meanwhile
    uint64_t left;   // arrivals that no user has started
    struct sb_snap sum;
};

// How a run has ended: in this rank, or in all of them.
struct sb_group_end {
    struct sb_snap sum;   // rank 0: figures of all; the caller frees it
    bool has_since;       // the run may have checkpoints, and `since` is set:
    struct sb_snap since; // figures of all since the last checkpoint
    uint64_t pending;     // arrivals that were due and not started
    bool all_ended;       // every user has ended, so the figures are final
    enum sb_run_end end;
    int signal; // SB_END_SIGNAL
    struct sb_err err;
};

enum sb_group_report {
    SB_GROUP_ALL,  // rank 0 reports the sum
    SB_GROUP_NONE, // rank 0 reports the figures of this rank
    SB_GROUP_ALONE // rank 0 is lost: this rank reports its own figures
};

struct sb_group_ops {
    // Handles messages, detects ranks that are lost, and passes on a stop of
    // the run. Called every poll_every ns while the main thread waits.
    void (*poll)(struct sb_run *run);
    // Before users are created: the other ranks wait until rank 0 has called
    // init(). Returns false if the run is over.
    bool (*go)(struct sb_run *run);
    // All users of this rank are ready: agrees on the start, group->began.
    // Returns false if the run is over.
    bool (*agree)(struct sb_run *run);
    // Waits for a start, or a stop of the run.
    void (*wait)(struct sb_run *run, uint64_t at);
    // The measured part, or a warm-up, begins.
    void (*begin)(struct sb_run *run);

    // A search for the rate. Rank 0: a part begins; sets part->at.
    void (*begin_part)(struct sb_run *run, struct sb__part *part);
    // Rank 0: waits for the figures of the other ranks and adds them. Returns
    // false if the run is over.
    bool (*add_part)(struct sb_run *run, struct sb__part_figures *f);
    // Another rank: waits for the next part; false if the run is over.
    bool (*next_part)(struct sb_run *run, struct sb__part *part);
    void (*give_part)(struct sb_run *run, const struct sb__part_figures *f);

    // This rank has recorded *diff since the last call. from, key: the planned
    // end of the last interval and of this one, ns after the start; full: it is
    // an interval, otherwise the rest of one. Rank 0 reports the sums to the
    // listener. key SB_GROUP_LAST: there are no more; diff and stats are NULL.
    void (*give_interval)(struct sb_run *run, const struct sb_snap *diff,
        const struct sb_stats *stats, uint64_t from, uint64_t key, bool full);
    // A section of this rank has ended: its figures, as a difference of
    // SB_SNAP_FULL. Sections of a kind end in the order of their numbers; some
    // may be left out. Rank 0 passes the sums to group->on_section().
    void (*give_section)(struct sb_run *run, enum sb_section kind,
        unsigned number, const struct sb_snap *diff,
        const struct sb_stats *stats);
    // The users of this rank have ended. whole: its final snapshot. since: the
    // same from the last checkpoint on; NULL without checkpoints. *e: how this
    // rank ended; on rank 0, it becomes the end of all ranks. Another rank
    // sends its figures to rank 0 and waits until the ranks below it have
    // ended.
    enum sb_group_report (*end)(struct sb_run *run, const struct sb_snap *whole,
        const struct sb_snap *since, const struct sb_stats *stats,
        struct sb_group_end *e);
    // The users of a parallel command have ended; rank 0 waits for those of the
    // others.
    void (*end_command)(struct sb_run *run);
    // Frees the group.
    void (*leave)(struct sb_run *run);
};

struct sb_group {
    const struct sb_group_ops *ops;
    unsigned rank, ranks;
    uint64_t poll_every;
    // How long after SIGTERM its launcher kills a process, ns.
    uint64_t kill_after;
    uint64_t began;               // agreed start, on this rank's clock
    const struct sb_stats *names; // of operations and metrics of all ranks
    // Rank 0, after end(): one for each rank.
    const struct sb_rank_figures *figures;
    // Rank 0: a section that all ranks have ended. It may take over *sum.
    void (*on_section)(
        void *arg, enum sb_section kind, unsigned number, struct sb_snap *sum);
    void *on_section_arg;
};

#endif
