// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the files of --assert.
#ifndef SB_ASSERT_PRIVATE_H
#define SB_ASSERT_PRIVATE_H

#include "out/assert.h"

enum sb__figure {
    SB__FIGURE_RATE,
    SB__FIGURE_QUERIES, // per second
    SB__FIGURE_EVENTS,
    SB__FIGURE_ERRORS,
    SB__FIGURE_FAILED,
    SB__FIGURE_FAILED_PCT,
    SB__FIGURE_RESTARTS,
    SB__FIGURE_RECONNECTS,
    SB__FIGURE_QUEUE,
    SB__FIGURE_ROWS,
    SB__FIGURE_MIN,
    SB__FIGURE_AVG,
    SB__FIGURE_MAX,
    SB__FIGURE_PERCENTILE,
};

struct sb_assert_figure {
    const char *name; // "p" is followed by a number
    enum sb__figure id;
    enum sb_assert_unit unit;
    bool of_events, of_op; // times of events are times of anything
    bool sum;              // of an interval: add up the intervals
};

#endif
