// SPDX-License-Identifier: GPL-2.0-or-later
//
// How much earlier than needed to set a timer, so that the wake-up comes in
// time: timers of virtual machines are late by 50 us and more. The caller
// sleeps until the early time, busy-waits for the rest, and says how late each
// wake-up was, from which the margin follows. Pure. One thread.
#ifndef SB_LOOP_ALARM_H
#define SB_LOOP_ALARM_H

#include <stdint.h>

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
