// SPDX-License-Identifier: GPL-2.0-or-later
//
// A run that the ranks of a job carry out together: they start at one moment,
// rank 0 adds up and reports the intervals and the end of all, and all of them
// stop if one must. The load of a rank never waits for another rank. Main
// thread. docs/internals/ranks.md.
#ifndef SB_JOINT_H
#define SB_JOINT_H

#include "job/job.h"
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
    struct sb_meter *meter;    // set by sb__meter_init()
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

// joint.c. Prepares run->joint for the job of run->o. 0 or SB_ENOMEM.
int sb__joint_init(struct sb_run *run);
void sb__joint_done(struct sb_run *run);
// Handles messages, and passes on a stop of the run.
void sb__joint_poll(struct sb_run *run);
// Waits, handling messages, until done(joint), a stop of the run or the time.
// Returns done().
bool sb__joint_wait(
    struct sb_run *run, bool (*done)(struct sb__joint *j), uint64_t until);
bool sb__joint_follows(const struct sb_run *run);   // not rank 0
void sb__joint_fail_if_broken(struct sb__joint *j); // fails the run for that

// joint_start.c. Before users are created: the other ranks wait until rank 0
// has called init(). Returns false if the run is over.
bool sb__joint_go(struct sb_run *run);
// All users of this rank are ready: agrees on the start, j->began. Returns
// false if the run is over.
bool sb__joint_agree(struct sb_run *run);
// From the choice of a start to it: messages to all ranks must arrive by then.
uint64_t sb__joint_lead_ns(const struct sb__joint *j);
// Waits for a start, or a stop of the run.
void sb__joint_wait_until(struct sb_run *run, uint64_t at);
void sb__joint_start_handlers(struct sb__joint *j);

// joint_intervals.c. This rank has recorded *diff since the last call. from,
// key: the planned end of the last interval and of this one; full: see
// sb__joint_slot.
void sb__joint_part(struct sb_run *run, const struct sb_snap *diff,
    const struct sb_stats *stats, uint64_t from, uint64_t key, bool full);
int sb__joint_intervals_init(struct sb__joint *j);
void sb__joint_intervals_done(struct sb__joint *j);

// Whether rank 0 has the last intervals of all ranks.
bool sb__joint_all_intervals(const struct sb__joint *j);

// joint_parts.c: a search for the rate. Rank 0: a part begins; sets part->at.
void sb__joint_part_begin(struct sb_run *run, struct sb__part *part);
// Waits for the figures of the other ranks and adds them. Returns false if the
// run is over.
bool sb__joint_part_sum(struct sb_run *run, struct sb__part_figures *f);
// Another rank: waits for the next part; false if the run is over.
bool sb__joint_part_next(struct sb_run *run, struct sb__part *part);
void sb__joint_part_send(struct sb_run *run, const struct sb__part_figures *f);
void sb__joint_parts_init(struct sb__joint *j);
void sb__joint_parts_done(struct sb__joint *j);

// joint_sections.c. A section of this rank has ended: its figures, as a
// difference of SB_SNAP_FULL. Sections of a kind end in the order of their
// numbers; some may be left out.
void sb__joint_section(struct sb_run *run, enum sb__joint_section_kind kind,
    unsigned number, const struct sb_snap *diff, const struct sb_stats *stats);
// Rank 0: reports sections of which all ranks have sent their figures, or have
// ended.
void sb__joint_sections_report(struct sb__joint *j);
int sb__joint_sections_init(struct sb__joint *j);
void sb__joint_sections_done(struct sb__joint *j);

// How a run has ended: in this rank, or in all of them.
struct sb__joint_end {
    struct sb_snap sum;   // rank 0: figures of all; the caller frees it
    bool has_since;       // it may have checkpoints; then
    struct sb_snap since; // the same since the last one
    uint64_t pending;     // arrivals that were due and not started
    bool all_ended;       // every user has ended, so the figures are final
    enum sb_run_end end;
    int signal; // SB_END_SIGNAL
    struct sb_err err;
};

// joint_end.c. The users of this rank have ended: whole is its final snapshot,
// since the same from the last checkpoint on, or NULL without checkpoints, *e
// how it ended. On rank 0, *e becomes the end of all ranks. Another rank sends
// its figures and waits until the ranks below it have ended.
enum sb__joint_report {
    SB__JOINT_ALL,  // rank 0 reports *e
    SB__JOINT_NONE, // rank 0 reports the figures of this rank
    SB__JOINT_ALONE // rank 0 is lost: this rank reports its own figures
};
enum sb__joint_report sb__joint_final(struct sb_run *run,
    const struct sb_snap *whole, const struct sb_snap *since,
    const struct sb_stats *stats, struct sb__joint_end *e);
void sb__joint_end_start(struct sb__joint *j); // the measured part begins
// Says that a rank has failed, or was not heard.
void sb__joint_name_lost(const struct sb__joint *j, unsigned rank, uint64_t now,
    struct sb_err *failure);
void sb__joint_end_handlers(struct sb__joint *j);

// joint_crew.c: parallel commands. Exchanges what users wait for.
void sb__joint_crew_init(struct sb__joint *j);
void sb__joint_crew_poll(struct sb__joint *j, uint64_t now);
// The users of this rank have ended; rank 0 waits for those of the others.
void sb__joint_crew_end(struct sb_run *run);

#endif
