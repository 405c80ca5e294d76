// SPDX-License-Identifier: GPL-2.0-or-later
//
// A run that the ranks of a job carry out together: they start at one moment,
// rank 0 adds up and reports the intervals and the end of all, and all of them
// stop if one must. The load of a rank never waits for another rank. Main
// thread. docs/internals/ranks.md.
#ifndef SB_JOINT_H
#define SB_JOINT_H

#include "job/job.h"
#include "run/part.h"
#include "run/run_private.h"

// The key of a part after which a rank sends no more.
#define SB__JOINT_END UINT64_MAX
// Each rank sends its intervals to one rank, so that rank 0 reads few messages:
// rank r to (r - 1) / 8.
#define SB__JOINT_FANOUT 8u

struct sb__joint_section;

enum sb__joint_section_kind {
    SB__JOINT_STAGE,      // by its number
    SB__JOINT_CHECKPOINT, // what precedes a checkpoint, by its number
    SB__JOINT_SECTION_KINDS
};

// An interval of all ranks below this one, while parts are missing.
struct sb__joint_slot {
    struct sb__joint_slot *next; // by key
    uint64_t key;                // its planned end, in ns since the start
    bool full;                   // an interval; otherwise the rest of one
    struct sb_snap sum;
};

// A part that covers several intervals, because its rank was late: they cannot
// be told apart.
struct sb__joint_span {
    uint64_t from, to;
};

// What rank 0 knows about a rank.
struct sb__joint_rank {
    bool ready, synced, final, settled;
    uint64_t barrier; // of a parallel command: number + 1 of the one where its
                      // users are
    unsigned users;
    int64_t offset_ns;          // its clock is so much ahead of that of rank 0
    uint64_t error_ns;          // maximum error of the offset
    uint64_t completed, errors; // so far
    uint64_t answered;          // when rank 0 last answered its figures
    struct sb_buf body;         // of FINAL
};

struct sb__joint {
    struct sb_run *run;
    struct sb_job *job;
    struct sb__joint_rank *of; // rank 0 only: job->ranks entries
    // Start:
    bool go, sync, started;
    uint64_t pong_root, pong_here; // the last answer: the clocks of both
    bool pong;
    int64_t offset_ns; // of this rank
    uint64_t error_ns;
    uint64_t began; // agreed start, on this rank's clock
    // Intervals:
    struct sb_stats names; // operations and metrics of all ranks, by number
    bool has_names;
    struct sb__joint_slot *slots;
    struct sb__joint_span *span;
    unsigned nspans;
    size_t cap_spans;
    unsigned child, children; // the first child and their number
    uint64_t *reached;        // own, then the children's: keys
    uint64_t sent;            // key of the last interval that was passed on
    struct sb_snap sofar;     // rank 0: all intervals of the measured part
    struct sb_err broken;     // figures could not be added
    // A search for the rate:
    struct sb__part part; // another rank: the one that begins
    bool has_part;
    struct sb__part_figures part_sum; // rank 0: of the ranks that have sent it
    unsigned part_ranks;
    // Sections, on rank 0:
    struct sb__joint_section *sections;
    void (*on_section)(void *arg, enum sb__joint_section_kind kind,
        unsigned number, struct sb_snap *sum); // reports a sum
    void *on_section_arg;
    // By kind and rank: the number of the last one that has arrived + 1.
    unsigned *sections_of[SB__JOINT_SECTION_KINDS];
    // Parallel commands:
    uint64_t barrier, opened, told_progress;
    bool told_settled;
    // End:
    bool told_stop, told_error;
    uint64_t stopped_at;    // when this rank passed its stop on
    uint64_t stop_again;    // rank 0: when it sends STOP again
    uint64_t signaled;      // rank 0: when another rank told it of a signal
    uint64_t heard;         // another rank: time of the last message of rank 0
    bool stopped;           // another rank: rank 0 has told it to stop
    uint64_t polled, awake; // last look for messages; since when without a gap
    unsigned lost;          // rank 0: a rank that is silent; 0: none
    uint64_t told_state;
    double cpu_s;                    // of this process when the run began
    unsigned processors;             // of this host
    struct sb_rank_figures *figures; // rank 0: job->ranks entries
};

// Prepares run->joint for the job of run->o. 0 or SB_ENOMEM.
int sb__joint_init(struct sb_run *run);
void sb__joint_done(struct sb_run *run);

#endif
