// SPDX-License-Identifier: GPL-2.0-or-later
//
// The reporting side of a run, in the main thread: intervals, checkpoints,
// stages, the final report.
#ifndef SB_METER_H
#define SB_METER_H

#include "measure/op_reader.h"
#include "run/run_state.h"

struct sb_meter {
    struct sb_run *run;
    struct sb_snap last;       // at the last interval line
    struct sb_snap checkpoint; // at the last checkpoint, zero before
    struct sb_op_reader ops;   // of the phase, if the listener wants them
    uint64_t phase_start;      // of the phase being reported
    enum sb_phase phase;
    uint64_t interval; // ns between interval reports, 0: none
    uint64_t next_tick, next_checkpoint;
    uint64_t
        key; // of a group: planned end of the last interval, since the start
    size_t checkpoint_no;
    sb_pace_pos border;   // last position of the schedule before this phase
    sb_pace_pos walked;   // position up to which arrivals were counted
    uint64_t scheduled;   // arrivals counted in this phase,
    uint64_t until;       // which were due by this time
    uint64_t paused_at;   // when the users paused behind a warm-up, or 0
    struct sb_err broken; // the first identity that a report violated
    // --stages:
    uint64_t next_stage;        // end of the stage in progress
    unsigned stage;             // its number
    struct sb_snap stage_snap;  // at its start
    struct sb_report *stages;   // of the stages that have ended
    struct sb_snap *stage_diff; // behind them
    unsigned nstages;
    // The warning that the table of operations or metrics is full was printed.
    bool told_ops, told_metrics;
};

void sb__meter_init(struct sb_meter *m, struct sb_run *run);
void sb__meter_done(struct sb_meter *m);
// Called when the users were released, at run->t0.
void sb__meter_start(struct sb_meter *m);
// Returns the time of the next report.
uint64_t sb__meter_next(const struct sb_meter *m);
// Prints the reports that are due at `now`.
void sb__meter_tick(struct sb_meter *m, uint64_t now);
// A part of the search begins: only this part is in the final report if the run
// ends in it. Call while no user runs. 0 or SB_ENOMEM.
int sb__meter_part(struct sb_meter *m);
// The users pause behind a warm-up: reports what is left of it.
void sb__meter_pause(struct sb_meter *m);
// The pause ends: an interval of its own (r->paused).
void sb__meter_resume(struct sb_meter *m);
// What preceded the measured part is over: it began at run->t0.
void sb__meter_measured(struct sb_meter *m);
// Prints the final report. If the run has not failed, first checks the share
// of failed events and, if every user has ended, the identities; the error is
// stored in res->err. until: arrivals due by then were scheduled.
void sb__meter_final(struct sb_meter *m, uint64_t now, uint64_t until,
    bool all_ended, struct sb_run_result *res);

// For the search of the rate, and for ranks/: parts that all reports of a run
// have in common.

// The number of users of this process, or of all ranks.
unsigned sb__run_report_users(const struct sb_run *run);
// Fills in a report of figures that ended at `now`: of the sum over all ranks,
// or without a group, of this process.
void sb__run_report_fill(struct sb_run *run, struct sb_report *r,
    const struct sb_snap *sum, uint64_t now, bool warmup);

// For the search of the rate: a snapshot of the phase that is being reported.
// until: arrivals due by then were scheduled.
int sb__meter_snap_take(struct sb_meter *m, struct sb_snap *s,
    enum sb_snap_detail detail, const struct sb_snap *earlier, uint64_t now,
    uint64_t until);

// For tests. Gives an interval of this rank to the others. partial: the rest of
// one.
void sb__meter_group_interval(
    struct sb_meter *m, const struct sb_snap *diff, uint64_t now, bool partial);

#endif
