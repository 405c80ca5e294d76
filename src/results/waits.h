// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the sessions of the servers were waiting for, of two sides. Main thread.
#ifndef SB_RESULTS_WAITS_H
#define SB_RESULTS_WAITS_H

#include <stdio.h>

#include "results/sides.h"

// Writes a line with the classes of waits whose shares of the active sessions
// differ by more than their errors, if there are any.
void sb__compare_waits(
    const struct sb_side *a, const struct sb_side *b, FILE *out);

#endif
