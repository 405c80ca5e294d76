// SPDX-License-Identifier: GPL-2.0-or-later
//
// Samples of what the sessions of a server were doing: how many of them waited
// for what, and in which operation, on average, and how exactly that is known.
// Memory is bounded, whatever the length of the run. Pure: the caller protects
// a struct that several threads use.
#ifndef SB_WAITS_H
#define SB_WAITS_H

#include <stdbool.h>
#include <stdint.h>

// What a session was doing: three texts. Combinations beyond this number are
// counted under SB_WAITS_REST in their class.
#define SB_WAITS_KINDS 256
#define SB_WAITS_REST  "(other)"

struct sb_waits;

// NULL: out of memory.
struct sb_waits *sb_waits_new(void);
void sb_waits_free(struct sb_waits *w); // NULL allowed

// sb_waits_seen() adds each session that is not idle to a sample. The texts are
// cut after 95 bytes. sb_waits_end() completes the sample, which was taken at
// `at` (ns), and sb_waits_drop() drops it.
void sb_waits_seen(struct sb_waits *w, const char *wait_class,
    const char *event, const char *operation);
void sb_waits_end(struct sb_waits *w, uint64_t at);
void sb_waits_drop(struct sb_waits *w);

// Samples before this time (ns) do not count: the measured part begins. So far
// no sample after it may have ended.
void sb_waits_restart(struct sb_waits *w, uint64_t at);
// The measured part ended at this time (ns): later samples do not count, as
// far as they are among the last 32.
void sb_waits_finish(struct sb_waits *w, uint64_t at);

// Visits the mean number of sessions by class in the samples since the last
// call; every class that was seen so far, in the order of their appearance. No
// visits if there were no samples. The names live as long as w.
void sb_waits_interval(struct sb_waits *w,
    void (*visit)(void *arg, const char *wait_class, double sessions),
    void *arg);

// Sessions of some kinds. Half-widths are those of 95 % confidence intervals;
// NaN: unknown. They account for sessions of the same sample depending on each
// other, and for samples on those before.
struct sb_waits_row {
    const char *wait_class, *event, *operation; // NULL: all
    double sessions, sessions_within;           // mean number
    double share, share_within;                 // of all sessions
};

struct sb_waits_figures {
    uint64_t samples;
    double seconds;          // from the first to the last one
    struct sb_waits_row all; // all sessions; without samples {0}
    // By class, then by class and event, by operation, by operation and class;
    // the most sessions first. nrows of them. The texts are those of w.
    struct sb_waits_row *row;
    unsigned nrows;
};

// False: out of memory. After sb_waits_finish(). Call sb_waits_figures_done().
bool sb_waits_figures(const struct sb_waits *w, struct sb_waits_figures *out);
void sb_waits_figures_done(struct sb_waits_figures *f); // {0} allowed

#endif
