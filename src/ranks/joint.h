// SPDX-License-Identifier: GPL-2.0-or-later
//
// A run that the ranks of a job carry out together: they start at the same
// moment, rank 0 adds up and reports the intervals and the final figures of all
// ranks, and all ranks stop if one of them must. The load of a rank never waits
// for another rank. Main thread. docs/internals/ranks.md.
#ifndef SB_JOINT_H
#define SB_JOINT_H

#include "ranks/job.h"
#include "run/group.h"
#include "run/run_state.h"

// Each rank sends its intervals to one rank, so that rank 0 reads few messages:
// rank r to (r - 1) / 8.
#define SB__JOINT_FANOUT 8u

struct sb__joint_section;

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
    uint64_t barrier; // of a parallel command: 1 + the number of the barrier at
                      // which its users wait
    unsigned users;
    int64_t offset_ns;          // how far its clock is ahead of rank 0's
    uint64_t error_ns;          // maximum error of the offset
    uint64_t completed, errors; // so far
    uint64_t answered;          // when rank 0 last answered its figures
    struct sb_buf body;         // of FINAL
};

struct sb__joint {
    struct sb_group group; // first
    struct sb_run *run;
    struct sb_job *job;
    struct sb__joint_rank *of; // rank 0 only: job->ranks entries
    // Start:
    bool go, sync, started;
    uint64_t pong_root, pong_here; // the last answer: the clocks of both
    bool pong;
    int64_t offset_ns; // of this rank
    uint64_t error_ns;
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
    // By kind and rank: the number of the last one that has arrived + 1.
    unsigned *sections_of[SB_SECTIONS];
    // Parallel commands: in each poll, NULL: it is a run.
    void (*poll_command)(struct sb__joint *j, uint64_t now);
    uint64_t barrier, opened, told_progress;
    bool told_settled;
    // End:
    bool told_stop, told_error;
    uint64_t stopped_at;    // when this rank passed its stop on
    uint64_t stop_again;    // rank 0: when it sends STOP again
    uint64_t signaled;      // rank 0: when another rank told it of a signal
    uint64_t heard;         // another rank: time of the last message of rank 0
    bool stopped;           // another rank: rank 0 has told it to stop
    uint64_t polled, awake; // last poll for messages; polls without a gap since
    unsigned lost;          // rank 0: a rank that is silent; 0: none
    uint64_t told_state;
    double cpu_s;                    // of this process when the run began
    unsigned processors;             // of this host
    struct sb_rank_figures *figures; // rank 0: job->ranks entries
};

static inline struct sb__joint *sb__joint_of(const struct sb_run *run)
{
    return (struct sb__joint *)run->group;
}

// joint.c ---------------------------------------------------------------------

// sb_group_ops.poll()
void sb__joint_poll(struct sb_run *run);
// Polls until done(joint), a stop of the run or the time. Returns done().
bool sb__joint_poll_until(
    struct sb_run *run, bool (*done)(struct sb__joint *j), uint64_t until);
// Fails the run if figures of other ranks could not be added.
void sb__joint_fail_if_broken(struct sb__joint *j);
// Says that a rank has failed, or was not heard.
void sb__joint_fail_lost(const struct sb__joint *j, unsigned rank, uint64_t now,
    struct sb_err *failure);

// The following files ---------------------------------------------------------

// Functions of sb_group_ops, and init, which adds handlers: 0 or SB_ENOMEM.

void sb__joint_start_init(struct sb__joint *j);
bool sb__joint_start_go(struct sb_run *run);
bool sb__joint_start_agree(struct sb_run *run);
void sb__joint_start_wait(struct sb_run *run, uint64_t at);
// Returns how long before the start it is chosen: messages must reach all ranks
// within this time.
uint64_t sb__joint_start_lead_ns(const struct sb__joint *j);

int sb__joint_intervals_init(struct sb__joint *j);
void sb__joint_intervals_done(struct sb__joint *j);
void sb__joint_intervals_add(struct sb_run *run, const struct sb_snap *diff,
    const struct sb_stats *stats, uint64_t from, uint64_t key, bool full);
// Whether rank 0 has the last intervals of all ranks.
bool sb__joint_intervals_complete(const struct sb__joint *j);

int sb__joint_sections_init(struct sb__joint *j);
void sb__joint_sections_done(struct sb__joint *j);
void sb__joint_sections_add(struct sb_run *run, enum sb_section kind,
    unsigned number, const struct sb_snap *diff, const struct sb_stats *stats);
// Rank 0: reports sections of which all ranks have sent their figures, or have
// ended.
void sb__joint_sections_report(struct sb__joint *j);

void sb__joint_parts_init(struct sb__joint *j);
void sb__joint_parts_done(struct sb__joint *j);
void sb__joint_parts_begin(struct sb_run *run, struct sb__part *part);
bool sb__joint_parts_sum(struct sb_run *run, struct sb__part_figures *f);
bool sb__joint_parts_next(struct sb_run *run, struct sb__part *part);
void sb__joint_parts_send(struct sb_run *run, const struct sb__part_figures *f);

void sb__joint_end_init(struct sb__joint *j);
void sb__joint_end_start(struct sb_run *run);
enum sb_group_report sb__joint_end_final(struct sb_run *run,
    const struct sb_snap *whole, const struct sb_snap *since,
    const struct sb_stats *stats, struct sb_group_end *e);

void sb__joint_crew_init(struct sb__joint *j);
void sb__joint_crew_end(struct sb_run *run);

#endif
