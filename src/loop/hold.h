// SPDX-License-Identifier: GPL-2.0-or-later
//
// Fibers that keep their thread for too long: what they call blocks it, or they
// compute. The others of the thread have to wait meanwhile.
//
// A loop reads the clock once per round anyway. Only after a round that took
// too long, for some seconds, it also does so between two fibers, to find the
// one that holds the thread. A thread that checks the loop meanwhile finds
// every fiber that blocks for long, also if that happens once.
#ifndef SB_LOOP_HOLD_H
#define SB_LOOP_HOLD_H

#include <stdbool.h>
#include <stdint.h>

struct sb_account;
struct sb_fiber;
struct sb_loop;

#define SB_HOLD_NS       UINT64_C(10000000) // a longer turn is a hold
#define SB_HOLD_CHECK_NS UINT64_C(20000000)

// From a switch to a fiber to the next switch; if turns were not timed (see
// sb_fiber_turn()), from and to are those of the round. Times of
// CLOCK_MONOTONIC in ns.
struct sb_hold {
    uint64_t from, to;
    // How long the fiber held its thread. Time in which the thread was ready,
    // but had no processor, does not count.
    uint64_t ns;
    bool computed; // for most of this time
    bool at_least; // turns were not timed: the hold was longer than ns
    // sb_loop_check() saw the thread asleep. If false, something else may have
    // stopped the thread, such as a debugger.
    bool blocked;
};

// Has held(arg, hold) called for each hold that is found, in the loop's thread
// and between two fibers. arg: of the fiber, see sb_loop_add(). Before
// sb_loop_run().
void sb_loop_watch(
    struct sb_loop *l, void (*held)(void *arg, const struct sb_hold *hold));
// Finds out whether a fiber blocks the loop's thread. Called about every
// SB_HOLD_CHECK_NS, by one thread, not after sb_loop_close(); calls within half
// of it are ignored. now: of sb_clock_monotonic(). Three checks in one turn
// find a thread that sleeps; the loop reports the hold when the fiber returns.
void sb_loop_check(struct sb_loop *l, uint64_t now);
// Returns the argument of the fiber whose turn has not ended since *since, as
// far as sb_loop_check() has seen, and which does not block the thread. Returns
// NULL if no fiber has such a turn. Called by the thread of sb_loop_check().
void *sb_loop_stuck(struct sb_loop *l, uint64_t *since);
// When the loop switched to the fiber last: `from` of a hold. 0: the clock is
// not read between fibers at present. Called by the fiber itself.
uint64_t sb_fiber_turn(const struct sb_fiber *f);

// The kernel's account of the time of a thread: how long it ran, how long it
// was ready without a processor, and how often it slept. The difference between
// two accounts shows how long a fiber held the thread between them.

// Takes the account of the calling thread. schedstat: its open file of that
// name in /proc, or -1. now: the current time.
void sb_account_take(struct sb_account *a, int schedstat, uint64_t now);
// How often the calling thread has slept; < 0: not known.
long sb_account_sleeps(void);
// How long the thread was held from `from` to `to`, without the time in which
// it had no processor although it could have run. a: taken shortly before
// `from`; what it did in between makes the result too small, never too large.
// b: taken at `to`. slept: how often it had slept at some time between a and
// `from`; < 0: not known. Pure.
uint64_t sb_account_held(const struct sb_account *a, const struct sb_account *b,
    long slept, uint64_t from, uint64_t to);

// For loop.c.

// Called before and after the calling thread runs the fibers of the loop.
void sb__turns_begin(struct sb_loop *l);
void sb__turns_end(struct sb_loop *l);
// The loop is closed: no other thread checks it any more.
void sb__turns_close(struct sb_loop *l);
// A round begins, while turns are timed.
void sb__turns_ready(struct sb_loop *l);
// A round has ended: between these times the fibers ran.
void sb__turns_round(struct sb_loop *l, uint64_t from, uint64_t to);
// The loop has switched back from a fiber, while turns are timed.
void sb__turns_switched(struct sb_loop *l, struct sb_fiber *f);

#endif
