// SPDX-License-Identifier: GPL-2.0-or-later
//
// Coordinates the users of a parallel command: a barrier, tickets, progress.
// If one fails, the waiting of the others ends.
#ifndef SB_CREW_H
#define SB_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define SB_CREW_TICKETS 64

struct sb_crew {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned size;          // members
    unsigned arrived, gone; // at the barrier; finished
    uint64_t generation;    // of the barrier
    _Atomic bool canceled;
    unsigned
        settled; // under lock, as the next two: members in sb_crew_settle()
    bool held;   // sb_crew_settle() does not return
    bool let_go; // sb_crew_settle() returns without waiting for others
    _Atomic uint64_t ticket[SB_CREW_TICKETS];
    char title[64]; // of the progress line, under lock
    double done, total;
    uint64_t since_ns; // start of `title`
};

int sb_crew_init(struct sb_crew *c, unsigned size);
void sb_crew_done(struct sb_crew *c); // {0} allowed

// All functions below: any thread.

// Waits for all members that have not finished. 0 or SB_ECANCELED.
int sb_crew_barrier(struct sb_crew *c);
// Called when a member has finished its task, successfully or not.
void sb_crew_leave(struct sb_crew *c);
// Ends all waiting, now and later; tickets return SB_ECANCELED.
void sb_crew_cancel(struct sb_crew *c);
// Called after a cancel, before a member removes what it created: waits until
// all members have called this or have finished, so that no call in progress
// creates it again, or until sb_crew_let_go().
void sb_crew_settle(struct sb_crew *c);
// Keeps sb_crew_settle() from returning until sb_crew_let_go(), so that calls
// that remove things are not canceled. Returns false if nothing is held:
// sb_crew_let_go() was called, or all members have reached sb_crew_settle().
bool sb_crew_hold(struct sb_crew *c);
void sb_crew_let_go(struct sb_crew *c); // allowed without hold, too
// Returns 0, 1, 2 ... for each key; SB_ECANCELED (negative) if canceled,
// SB_ERANGE for an invalid key.
double sb_crew_ticket(struct sb_crew *c, int key);
void sb_crew_progress(struct sb_crew *c, const char *title, double n,
    double total, uint64_t now_ns);
// Writes a line for the terminal: "loading: 120000 of 1000000 (12 %), 85000/s,
// 10 s left"; returns false if there is nothing to show.
bool sb_crew_progress_line(
    struct sb_crew *c, uint64_t now_ns, char *out, size_t size);

#endif
