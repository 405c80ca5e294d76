// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which share of the accesses the hottest keys got, estimated from a sample of
// the draws. Pure.
#ifndef SB_SKEW_H
#define SB_SKEW_H

#include "base/draws.h"

struct sb_skew {
    enum sb_draw_kind kind; // how the keys were drawn
    double keys;            // in the range; the greatest number if it changed
    double hot;             // of them, the hottest ones: 1 %, at least one
    double share;           // of the draws that they got, 0 to 1
    size_t draws; // in the sample; 0: no number was drawn from a range
};

// Finds the range of the keys, and the share of its hottest ones. The keys are
// the numbers that functions with a skewed distribution, or that of
// --rand-type, draw most often; otherwise those of the widest range of which
// uniform() draws a twentieth of its numbers. draw: n draws, in an order that
// does not depend on their values; they are sorted by range.
void sb_skew(struct sb_draw *draw, size_t n, struct sb_skew *out);

#endif
