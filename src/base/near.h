// SPDX-License-Identifier: GPL-2.0-or-later
//
// "Did you mean": finds the name most similar to a mistyped one. Pure.
#ifndef SB_NEAR_H
#define SB_NEAR_H

#include <stddef.h>

struct sb_near {
    const char *name; // as typed
    const char *best; // the most similar candidate so far, or NULL
    size_t max_edits; // maximum number of edits of a candidate
};

// name must stay valid as long as *n is used.
void sb_near_init(struct sb_near *n, const char *name);
// Compares a candidate, which must stay valid as long as n->best is used. If
// several are equally similar, the first is kept. A name is similar if it
// differs by at most 2 edits or a third of its length, whichever is more, and
// by fewer for very short names. Swapped letters are one edit; case, and '-'
// versus '_', do not count.
void sb_near_try(struct sb_near *n, const char *candidate);

#endif
