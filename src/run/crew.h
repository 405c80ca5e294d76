// SPDX-License-Identifier: GPL-2.0-or-later
//
// Coordinates the users of a parallel command: a barrier, tickets, progress.
// If one fails, the waiting of the others ends. If several processes carry out
// the command, each has a crew of its own users; the main thread exchanges what
// they wait for (ranks/joint_crew.c).
#ifndef SB_CREW_H
#define SB_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "loop/waiter.h"

#define SB_CREW_NAME 96 // room for the name of a counter of tickets

// A user waits for a counter of another process.
struct sb_crew_request {
    struct sb_crew_request *next;
    char name[SB_CREW_NAME];
    double n; // to be added
    bool sent, answered;
    double number;
};

struct sb_crew {
    pthread_mutex_t lock;
    struct sb_wait_list moved;
    unsigned size;          // members
    unsigned arrived, gone; // at the barrier; finished
    uint64_t generation;    // of the barrier
    _Atomic bool canceled;
    // Under lock:
    unsigned settled; // members in sb_crew_settle()
    bool held;        // sb_crew_settle() does not return
    bool let_go;      // sb_crew_settle() returns without waiting for others
    void *tickets;    // counters by name, for tsearch()
    // Several processes: called without the lock when the main thread has
    // something to exchange; NULL: there is one process.
    void (*wake)(void *arg);
    void *wake_arg;
    bool root;                     // this process counts the tickets of all
    bool settle_all;               // the users of all processes have settled
    struct sb_crew_request *first; // waiting users
    char title[64];                // of the progress line, under lock
    double done, total, added;     // added: since sb_crew_take_progress()
    uint64_t since_ns;             // start of `title`
};

int sb_crew_init(struct sb_crew *c, unsigned size);
void sb_crew_done(struct sb_crew *c); // {0} allowed

// All functions below: any thread. w: the waiter of the user that calls; may be
// NULL if the crew is that of a single process.

// Waits for all members that have not finished. 0 or SB_ECANCELED.
int sb_crew_barrier(struct sb_crew *c, struct sb_waiter *w);
// Called when a member has finished its task, successfully or not.
void sb_crew_leave(struct sb_crew *c);
// Ends all waiting, now and later; tickets return SB_ECANCELED.
void sb_crew_cancel(struct sb_crew *c);
// Called after a cancel, before a member removes what it created: waits until
// all members have called this or have finished, so that no call in progress
// creates it again, or until sb_crew_let_go().
void sb_crew_settle(struct sb_crew *c, struct sb_waiter *w);
// Keeps sb_crew_settle() from returning until sb_crew_let_go(), so that calls
// that remove things are not canceled. Returns false if nothing is held:
// sb_crew_let_go() was called, or all members have reached sb_crew_settle().
bool sb_crew_hold(struct sb_crew *c);
void sb_crew_let_go(struct sb_crew *c); // allowed without hold, too
// Adds n >= 0 to the counter of this name and returns what it was before, so
// that with n = 1 each number is returned once. SB_ECANCELED (negative) if
// canceled, SB_ERANGE if the name is too long, SB_ENOMEM. Exact up to 2^53.
double sb_crew_add(
    struct sb_crew *c, struct sb_waiter *w, const char *name, double n);
void sb_crew_progress(struct sb_crew *c, const char *title, double n,
    double total, uint64_t now_ns);
// Writes a line for the terminal: "loading: 120000 of 1000000 (12 %), 85000/s,
// 10 s left"; returns false if there is nothing to show.
bool sb_crew_progress_line(
    struct sb_crew *c, uint64_t now_ns, char *out, size_t size);

// Several processes. The main thread calls the functions below.

// Before there are members. root: this process counts the tickets.
void sb_crew_share(
    struct sb_crew *c, bool root, void (*wake)(void *arg), void *arg);
// Returns whether all members of this process are at the barrier or have
// finished. Stores the number of the barrier, and in *gone whether all have
// finished.
bool sb_crew_full(struct sb_crew *c, uint64_t *barrier, bool *gone);
// Opens this barrier: the members of all processes are there.
void sb_crew_open(struct sb_crew *c, uint64_t barrier);
// Returns what a member wants to add to a counter, each request once; false:
// there is no new request.
bool sb_crew_wanted(struct sb_crew *c, char name[SB_CREW_NAME], double *n);
// Passes the answer to the first member that waits for it.
void sb_crew_answer(
    struct sb_crew *c, const char *name, double n, double number);
// Returns whether all members of this process have settled or finished; notes
// that the members of all processes have.
bool sb_crew_settled(struct sb_crew *c);
void sb_crew_settle_all(struct sb_crew *c);
// Returns the progress that was added since the last call; false: none.
bool sb_crew_take_progress(
    struct sb_crew *c, char title[64], double *n, double *total);

#endif
