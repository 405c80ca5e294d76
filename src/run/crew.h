// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the users of a parallel command coordinate by: a barrier, tickets,
// progress. Ends everybody's waiting when one fails.
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
    unsigned arrived, gone; // at the barrier; finished for good
    uint64_t generation;    // of the barrier
    _Atomic bool canceled;
    unsigned settled;  // under lock, as the next two: members in settle()
    bool held, let_go; // none of them passes; those that come do
    _Atomic uint64_t ticket[SB_CREW_TICKETS];
    char what[64]; // progress, under lock
    double done, total;
    uint64_t since_ns; // when `what` began
};

int sb_crew_init(struct sb_crew *c, unsigned size);
void sb_crew_done(struct sb_crew *c); // {0} allowed

// All functions below: any thread.

// Waits for all members that are not gone. 0 or SB_ECANCELED.
int sb_crew_barrier(struct sb_crew *c);
// A member has finished its task, well or not.
void sb_crew_leave(struct sb_crew *c);
// Ends all waiting now and later; tickets end too.
void sb_crew_cancel(struct sb_crew *c);
// Of a crew that is canceled, before a member undoes what it made: waits until
// all members are here or gone, so that nothing is under way any more that
// would bring it back, or until it is let go.
void sb_crew_settle(struct sb_crew *c);
// From now on nobody passes sb_crew_settle() until it is let go, so that calls
// can be canceled and what undoes is not. False: they were let go, or all were
// there.
bool sb_crew_hold(struct sb_crew *c);
void sb_crew_let_go(struct sb_crew *c); // held or not
// 0, 1, 2 ... for each key; SB_ECANCELED (negative) when canceled, SB_ERANGE
// for a key that is none.
double sb_crew_ticket(struct sb_crew *c, int key);
void sb_crew_progress(struct sb_crew *c, const char *what, double n,
    double total, uint64_t now_ns);
// A line for the terminal: "loading: 120000 of 1000000 (12 %), 85000/s,
// 10 s left"; false when there is nothing to show.
bool sb_crew_progress_line(
    struct sb_crew *c, uint64_t now_ns, char *out, size_t size);

#endif
