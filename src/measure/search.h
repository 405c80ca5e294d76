// SPDX-License-Identifier: GPL-2.0-or-later
//
// Searches the highest rate at which a limit is kept ("p99<10ms") by repeated
// short trials, each of which keeps the limit or does not. Trials are noisy:
// near the limit, one rate sometimes keeps it and sometimes does not. What is
// searched is the rate at which half of the trials keep it, and how noisy they
// are: from both follows the rate at which 95 % keep it. Pure: decides which
// rate to try next and when to stop, and computes how sure the result is.
#ifndef SB_SEARCH_H
#define SB_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

struct sb_search {
    double min;  // natural logarithm of the lowest rate
    double step; // between points of the grid, in logarithms
    unsigned points;
    double *weight; // probability of each slope and point; sum 1
    double *sum;    // of each point, over slopes
    double tolerance;
    unsigned trials, max_trials, kept;
};

enum sb_search_end {
    SB_SEARCH_GOES_ON,
    SB_SEARCH_FOUND,    // the interval is as narrow as asked for
    SB_SEARCH_BELOW,    // even the lowest rate does not keep the limit
    SB_SEARCH_ABOVE,    // even the highest rate keeps the limit
    SB_SEARCH_EXHAUSTED // no more trials; see the interval
};

struct sb_search_result {
    enum sb_search_end end;
    // NAN if the search ended below or above its bounds.
    double rate;      // the estimate: more or less with equal probability
    double low, high; // the true rate is in between with 95 % probability
    // The highest rate at which the next trial keeps the limit with 95 %
    // probability, given what is known; NAN if the lowest one does not.
    double safe;
    unsigned trials, kept;
};

// A trial, as it is reported.
struct sb_search_trial {
    double rate;     // arrivals per second
    double value;    // measured, of the first limit; NAN if unknown
    bool kept;       // all limits, and the queue did not grow
    bool grew;       // users could not start as many events as arrived
    unsigned missed; // the first limit that was not kept, or SB_SEARCH_NONE
};

#define SB_SEARCH_NONE ((unsigned)-1)

// How a run found its rate: of --rate=80% and --rate=max.
struct sb_rate_search {
    double percent; // of the maximum; 0: a search
    double max;     // completed events per second of a closed loop; 0: unknown
    double rate;    // of the measured part; 0: it did not begin
    // The rest is only set by a search.
    const char *limit;      // as given: "p99<10ms, errors==0"
    const char *unit;       // of the values: "ms"
    double lowest, highest; // bounds of the search
    const struct sb_search_trial *trial;
    unsigned trials;
    struct sb_search_result result;
    // The measured part kept the limits, at this value of the first one.
    bool judged, kept;
    double value;
};

// The part of a search of the rate that is in progress.
struct sb_searching {
    bool warmup;         // nothing is counted
    unsigned trial;      // its number, 1 first; 0: the maximum is measured
    unsigned max_trials; // 0: there are no trials
    double rate;         // events per second that arrive in the trial
    double left;         // s until no more events arrive
};

// guess: a rate of the right order of magnitude. min, max: bounds of the
// search, above 0. tolerance: width of the interval at which the search ends,
// 0.05 for 5 %. 0 or SB_ENOMEM.
int sb_search_init(struct sb_search *s, double guess, double min, double max,
    double tolerance, unsigned max_trials);
void sb_search_done(struct sb_search *s); // {0} allowed

// Returns the rate to try next.
double sb_search_next(const struct sb_search *s);
// Adds the outcome of a trial at this rate.
void sb_search_add(struct sb_search *s, double rate, bool kept);
void sb_search_result(const struct sb_search *s, struct sb_search_result *r);

// Returns whether a queue has grown, rather than fluctuated. growth: by how
// many arrivals it became longer. arrivals: the number of arrivals meanwhile,
// which are as random as those of a Poisson process. users: the users that
// started events.
bool sb_search_grew(double growth, double arrivals, unsigned users);
// Whether the search found a rate: not if it was interrupted, or if the rate is
// beyond its bounds.
bool sb_search_found(const struct sb_rate_search *f);
// Writes one sentence on what the result says: how sure it is, or why there is
// no rate. Returns out.
const char *sb_search_sentence(
    const struct sb_rate_search *f, char *out, size_t size);

#endif
