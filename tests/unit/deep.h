// SPDX-License-Identifier: GPL-2.0-or-later
//
// A function that overflows the stack it runs on.
#ifndef SB_TEST_DEEP_H
#define SB_TEST_DEEP_H

#include <unistd.h>

// Needs more than any stack. depth: enough for that, and unknown to compilers.
static int recurse(volatile int *depth)
{
    volatile char frame[2000];

    frame[0] = (char)*depth;
    if (--*depth <= 0)
        return frame[0];
    return recurse(depth) + frame[0];
}

// Does not return.
static inline void overflow(void *arg)
{
    volatile int depth = 1000000;

    (void)arg;
    _exit(recurse(&depth) ? 98 : 97);
}

#endif
