// SPDX-License-Identifier: GPL-2.0-or-later
//
// A. K. Erlang, "Solution of some problems in the theory of probabilities of
// significance in automatic telephone exchanges", 1917; in textbooks: L.
// Kleinrock, Queueing Systems, volume 1, 1975, sections 3.5 and 3.6.
//
// B(c), the share of arrivals that find all of c users busy if arrivals do not
// wait, follows from B(0) = 1 by
//
//     B(n) = a B(n - 1) / (n + a B(n - 1)),    a = load
//
// and the probability that an arrival waits is
//
//     C = c B(c) / (c - a (1 - B(c))).
//
// The mean wait is C / (c - a) mean service times. Every term is positive, so
// nothing is cancelled, and no power or factorial overflows.
#include "measure/erlang.h"

#include <math.h>

// The recursion may begin later than at 0: below the load, an error of B(n - 1)
// shrinks in B(n) by the factor n / a, so that one at a - K sqrt(a) is less
// than exp(-K^2 / 2) of it at a.
#define BEGIN 10
// Above the load, B decreases: from here on, the wait is 0.
#define NOTHING 1e-15

double sb_erlang_c_wait(unsigned users, double load)
{
    double n = floor(load - BEGIN * sqrt(load));
    // Users that are far fewer than the load are always busy: B = 1 - n / a.
    double b = n > 0 ? 1 - n / load : 1;

    if (load >= users)
        return INFINITY;
    for (n = n > 0 ? n : 0; n < users; n++) {
        b = load * b / (n + 1 + load * b);
        if (n > load && b < NOTHING)
            return 0;
    }
    return users * b / (users - load * (1 - b)) / (users - load);
}
