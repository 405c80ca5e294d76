// SPDX-License-Identifier: GPL-2.0-or-later
//
// Comparison of two sides, A and B: of one figure, of a share or of a rate. A
// side is one run or several runs of the same thing. docs/internals/compare.md
// describes the methods and how often they err. Pure; any thread.
#ifndef SB_COMPARE_H
#define SB_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/mean.h"

// The default of run_deviation.
#define SB_COMPARE_RUN_DEVIATION 0.01

struct sb_compare_opts {
    double confidence;    // of all intervals, e.g. 0.95; 0: 0.95
    double margin;        // smaller relative differences do not count: 0.02 is
                          // 2 %; below 1, 0: none
    double run_deviation; // relative standard deviation between runs of the
                          // same thing, assumed if both sides are single runs
    bool paired; // run i of A and run i of B were measured one after the other
};

enum sb_compare_verdict {
    SB_VERDICT_NONE,   // not enough data for a verdict
    SB_VERDICT_SAME,   // no difference seen, or none beyond the margin
    SB_VERDICT_HIGHER, // B is higher than A (by more than the margin)
    SB_VERDICT_LOWER,
};

struct sb_estimate {
    double value;     // mean over the runs; NaN: none
    double low, high; // its interval; of a single run: within this run; NaN:
                      // unknown
    double effective; // independent values within the runs; 0: unknown
    size_t runs;      // number of runs with a value
};

struct sb_compare {
    struct sb_estimate a, b;
    double difference; // B / A - 1; NaN: a side has no value above 0
    double low, high;  // its interval; NaN: unknown
    double p;          // p value of "no difference (beyond the margin)"; NaN:
                       // unknown
    double p_adjusted; // the same after sb_compare_holm()
    enum sb_compare_verdict verdict;
    bool within_margin; // the whole interval lies within the margin
    bool drift_unknown; // a side is a single run: differences between runs of
                        // the same thing cannot be estimated from it
    bool too_short;     // a single run has too few intervals for its
                        // correlation: there is no verdict
    bool drifts_differ; // single runs that drift differently: the interval
                        // was extended, see the page
};

// Compares A (na runs) with B (nb runs), each run as sb_mean() returned it.
// Runs without a value do not count; in pairs, neither does their partner.
// `paired` needs na == nb, otherwise it is ignored.
void sb_compare(const struct sb_mean *a, size_t na, const struct sb_mean *b,
    size_t nb, const struct sb_compare_opts *o, struct sb_compare *c);

// Corrects n comparisons of different figures of the same two sides for their
// number (Holm's method): the chance that any of them is called different
// although nothing differs is at most 1 - confidence. Sets p_adjusted; verdicts
// that are not significant any more become SB_VERDICT_SAME. Comparisons
// without p do not count. Returns 0 or SB_ENOMEM.
int sb_compare_holm(struct sb_compare *c, size_t n, double confidence);

// Shares (how many events failed, how many lookups found nothing) and rates
// (errors per event, of which one event may have several).

// Occurrences among a number of events, lookups, ...
struct sb_occurrences {
    double n, of;
};

// One side of a comparison. Its parts (runs, or stretches of runs) show how
// much the share varies within the side; their sum need not be `total`. With
// less than two parts, occurrences are assumed to be independent.
struct sb_share_side {
    struct sb_occurrences total;
    const struct sb_occurrences *part;
    size_t nparts;
};

// Returns the two-sided p value of "both sides have the same share": a quasi-
// binomial test, which assumes no less variation than independent occurrences
// have. 1 if nothing or everything occurred on both sides. NaN if a side has
// none of what it counts (`of` is 0).
double sb_share_p(const struct sb_share_side *a, const struct sb_share_side *b);
// The same for rates, which may exceed 1: a quasi-Poisson test. 1 if nothing
// occurred on both sides.
double sb_rate_p(const struct sb_share_side *a, const struct sb_share_side *b);

#endif
