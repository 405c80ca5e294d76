// SPDX-License-Identifier: GPL-2.0-or-later
//
// Pairs of runs of two sides, A and B, measured one pair after the other until
// the answer is known: is B higher, lower, or equivalent?
// docs/internals/pairs.md has the model and how often it errs. Pure; one thread
// at a time.
#ifndef SB_PAIRS_H
#define SB_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/sequential.h"

// The same figure of the two runs of a pair.
struct sb_pair {
    double a, b;  // above 0
    bool b_first; // B was measured before A
};

struct sb_pairs_opts {
    double confidence; // of all looks together, e.g. 0.95
    double margin;     // smaller relative differences do not matter; below 1
    unsigned planned;  // maximum number of pairs, at least SB_SEQUENTIAL_FIRST
};

enum sb_pairs_verdict {
    SB_PAIRS_UNKNOWN,    // not yet
    SB_PAIRS_HIGHER,     // B is higher than A by more than the margin
    SB_PAIRS_LOWER,      // B is lower than A by more than the margin
    SB_PAIRS_EQUIVALENT, // they differ by less than the margin
};

// An influence of the order of runs, relative: 0.01 is 1 %. NaN: unknown.
struct sb_pairs_effect {
    double value, p; // p value of "no effect"
};

struct sb_pairs_answer {
    enum sb_pairs_verdict verdict;
    double difference; // B / A - 1, without the effect of the order; NaN:
                       // unknown
    double low, high;  // its interval, which may be used at every look; NaN:
                       // unknown
    double deviation;  // standard deviation of the relative difference of a
                       // pair; NaN: unknown
    struct sb_pairs_effect order; // of the second run of a pair against the
                                  // first: also a steady drift
    struct sb_pairs_effect carry; // of a run after one of B against one after
                                  // one of A
};

// Makes the levels for these functions. The caller frees them. 0 or SB_ENOMEM.
int sb_pairs_design(const struct sb_pairs_opts *o, struct sb_sequential **out);

// Judges n pairs, in the order in which they were measured. A predecessor of
// the first pair is not known.
void sb_pairs_judge(const struct sb_pair *pair, size_t n,
    const struct sb_pairs_opts *o, struct sb_sequential *levels,
    struct sb_pairs_answer *answer);

// Returns how many more pairs are likely to give a verdict, if the difference
// and the deviation stay as they are; 0: it is known; `most`: more than that.
unsigned sb_pairs_more(const struct sb_pairs_answer *answer, size_t n,
    const struct sb_pairs_opts *o, struct sb_sequential *levels, unsigned most);

// The smallest distance from the margin that `planned` pairs find in nine of
// ten experiments, relative.
struct sb_pairs_resolution {
    double value, low, high; // its interval; NaN: unknown
};

// From the deviation of a pair, which has this many degrees of freedom.
void sb_pairs_resolve(double deviation, double df,
    const struct sb_pairs_opts *o, struct sb_sequential *levels,
    struct sb_pairs_resolution *r);

#endif
