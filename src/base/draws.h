// SPDX-License-Identifier: GPL-2.0-or-later
//
// A sample of the numbers that users draw from ranges: each draw of the run has
// the same chance to be in it. A draw costs a decrement and a branch; the
// number of draws that are taken grows with the logarithm of their number.
#ifndef SB_DRAWS_H
#define SB_DRAWS_H

#include <stddef.h>
#include <stdint.h>

// How it was drawn; names by sb_draw_name().
enum sb_draw_kind {
    SB_DRAW_UNIFORM,
    SB_DRAW_DEFAULT,
    SB_DRAW_GAUSSIAN,
    SB_DRAW_SPECIAL,
    SB_DRAW_PARETO,
    SB_DRAW_ZIPFIAN,
    SB_DRAW_SCRAMBLED,
    SB_DRAW_LATEST,
    SB_DRAW_KINDS
};

// A draw from `low` to `low` + `span`. at: its distance from low, before
// --rand-scatter. Of SCRAMBLED it is the zipfian number whose hash selects the
// key.
struct sb_draw {
    enum sb_draw_kind kind;
    int64_t low;
    uint64_t span, at;
};

#define SB_DRAWS_MAX 16384

struct sb_draws;

// NULL: out of memory.
struct sb_draws *sb_draws_new(void);
void sb_draws_free(struct sb_draws *d); // NULL allowed

// Offers a draw, of which `gap` have passed since the last one that this user
// offered. Returns the number of draws after which the user is to offer the
// next one, at least 1. Any thread; neither locks nor waits.
uint64_t sb_draws_offer(
    struct sb_draws *d, uint64_t gap, const struct sb_draw *one);

// Forgets all draws. Any thread.
void sb_draws_restart(struct sb_draws *d);
// Copies the sample, at most SB_DRAWS_MAX draws; returns their number. When
// users draw no more.
size_t sb_draws_take(const struct sb_draws *d, struct sb_draw *out);

// "default": the function of sysbench.rand.
const char *sb_draw_name(enum sb_draw_kind kind);

#endif
