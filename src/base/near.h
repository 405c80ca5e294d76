// SPDX-License-Identifier: GPL-2.0-or-later
//
// "Did you mean": the name that a mistyped one is nearest to. Pure.
#ifndef SB_NEAR_H
#define SB_NEAR_H

#include <stddef.h>

struct sb_near {
    const char *name; // as typed
    const char *best; // the nearest candidate so far, NULL: none is near
    size_t most;      // a candidate has to be as near as this
};

// name must live as long as *n is used.
void sb_near_init(struct sb_near *n, const char *name);
// Candidates must live as long as n->best is used; of equal ones the first
// wins. Near is an edit distance of 2 at most, or of a third of the name if
// that is more; of less for very short names. Swapped letters are one edit;
// case, and '-' or '_', do not count.
void sb_near_try(struct sb_near *n, const char *candidate);

#endif
