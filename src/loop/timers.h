// SPDX-License-Identifier: GPL-2.0-or-later
//
// Timers of one loop, earliest first: a heap with four children per node, in
// which each timer has its index. Pure: times are parameters and results. One
// thread.
#ifndef SB_LOOP_TIMERS_H
#define SB_LOOP_TIMERS_H

#include <stdint.h>

struct sb_timer {
    uint64_t at;    // ns
    uint32_t place; // in the heap, from 1; 0: not set
};

struct sb_timers {
    struct sb_timer **heap;
    uint32_t n, cap;
};

// cap: the largest number of timers that are set at once, so that setting one
// never allocates. 0 or SB_ENOMEM.
int sb_timers_init(struct sb_timers *t, uint32_t cap);
void sb_timers_done(struct sb_timers *t); // {0} allowed
// Sets a timer, or moves one that is set. At most `cap` are set at once.
void sb_timers_set(struct sb_timers *t, struct sb_timer *timer, uint64_t at);
// Does nothing if it is not set.
void sb_timers_clear(struct sb_timers *t, struct sb_timer *timer);
// The earliest timer; NULL: none is set.
static inline struct sb_timer *sb_timers_first(const struct sb_timers *t)
{
    return t->n > 0 ? t->heap[0] : (struct sb_timer *)0;
}

// How much earlier than needed to set a timer, so that the wake-up comes in
// time: timers of virtual machines are late by 50 us and more. The caller
// sleeps until the early time, busy-waits for the rest, and says how late each
// wake-up was, from which the margin follows. Pure. One thread.

// {0}: nothing is known yet.
struct sb_alarm {
    uint64_t margin; // ns
};

#define SB_ALARM_FIRST 80000u  // before the first observation
#define SB_ALARM_MIN   2000u   // about what a system call takes
#define SB_ALARM_MAX   300000u // a busier wait costs more than it is worth

static inline uint64_t sb_alarm_margin(const struct sb_alarm *a)
{
    return a->margin ? a->margin : SB_ALARM_FIRST;
}

// A timer for time t woke its thread `late` ns after t. The margin grows with
// each wake-up that was later than it, and shrinks slowly with the others:
// about 19 of 20 wake-ups come in time.
void sb_alarm_learn(struct sb_alarm *a, uint64_t late);

#endif
