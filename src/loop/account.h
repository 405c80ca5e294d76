// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the kernel knows of the time of a thread: how long it ran, how long it
// was ready without a processor, how often it slept. From two accounts follows
// how long a fiber held its thread in between.
#ifndef SB_LOOP_ACCOUNT_H
#define SB_LOOP_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

// Of a thread since its start. Times in ns.
struct sb_account {
    uint64_t at;    // when it was taken
    uint64_t cpu;   // time with a processor
    uint64_t delay; // time ready, without a processor
    bool has_delay;
    // How often it lost its processor, and gave it up; < 0: not known.
    long preempted, sleeps;
};

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

#endif
