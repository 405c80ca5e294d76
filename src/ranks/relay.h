// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs of a sweep over several ranks: each run is a process of its own on every
// rank, which was forked and cannot use MPI. It forms a job with the processes
// of the other ranks; its parent passes on their messages. Main thread.
#ifndef SB_RELAY_H
#define SB_RELAY_H

#include "ranks/job.h"

struct sb_relay;

// The relay of a rank, for one run after the other. NULL if out of memory.
struct sb_relay *sb_relay_new(struct sb_job *job);
void sb_relay_free(struct sb_relay *r); // NULL allowed

// Rank 0: tells the other ranks to fork; then it forks itself. SB_ESYS, or why
// the job is broken.
int sb_relay_begin(struct sb_relay *r, struct sb_err *err);
// Another rank: whether rank 0 has begun a run that this rank must fork for.
bool sb_relay_begun(const struct sb_relay *r);
// Another rank, before the fork. SB_ESYS.
int sb_relay_accept(struct sb_relay *r, struct sb_err *err);

// In the new process: *t becomes a transport to those of the other ranks.
void sb_relay_child(struct sb_relay *r, struct sb_transport *t);

// In the parent, while the process runs: passes on messages. Returns whether
// there were some.
bool sb_relay_step(struct sb_relay *r);
// Another rank: since when the process of rank 0 has ended, or rank 0 is gone,
// in monotonic time; 0: it has not.
uint64_t sb_relay_over(const struct sb_relay *r);
// Rank 0: whether a rank has no process for this run.
bool sb_relay_failed(const struct sb_relay *r);
// The process has ended; status: its exit status. Rank 0 waits until those of
// all ranks have, at most limit_ns, and returns SB_ELOST naming one that has
// not. Another rank tells rank 0 of it.
int sb_relay_end(
    struct sb_relay *r, int status, uint64_t limit_ns, struct sb_err *err);

#endif
