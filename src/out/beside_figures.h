// SPDX-License-Identifier: GPL-2.0-or-later
//
// The figures of a workload before, during and after the command of --beside,
// and the figures of the command alone and beside the workload; as text and as
// JSON. Main thread.
#ifndef SB_BESIDE_FIGURES_H
#define SB_BESIDE_FIGURES_H

#include "measure/compare.h"
#include "measure/snap.h"
#include <jansson.h>
#include <stdio.h>

// One execution of the command. Times are in seconds, at least 0: since the
// start of the measured part or, for the execution alone, since its own start.
struct sb_beside_command {
    bool started, ended, stopped; // stopped: by the end of the run
    double start, end, seconds;
    int status, signal; // status: -1 if a signal ended it or it is unknown
    double cpu_user, cpu_system;
    uint64_t rss; // bytes
};

// SB_BESIDE_EDGES: the intervals in which the command started or ended. Events
// that it blocked until its end complete there.
enum {
    SB_BESIDE_BEFORE,
    SB_BESIDE_DURING,
    SB_BESIDE_EDGES,
    SB_BESIDE_AFTER,
    SB_BESIDE_PHASES
};

enum { SB_BESIDE_RATE, SB_BESIDE_AVG, SB_BESIDE_PCT, SB_BESIDE_VALUES };

struct sb_beside_phase {
    size_t n, room;
    double seconds;
    uint64_t events, errors, lat_sum, lat_max;
    struct sb_hist_snap latency;
    double *value[SB_BESIDE_VALUES]; // of each interval
    double *length;                  // s
};

struct sb_beside_figures {
    const char *name;
    double pct; // percentile of the latency
    bool tried_alone;
    struct sb_beside_command alone, command;
    struct sb_beside_phase phase[SB_BESIDE_PHASES];
};

void sb_beside_figures_done(struct sb_beside_figures *f); // {0} allowed

// Adds an interval of the measured part to its phase. f->command is what is
// known of the command at that time. A partial interval only counts if the
// command started or ended in it. 0 or SB_ENOMEM.
int sb_beside_figures_add(
    struct sb_beside_figures *f, const struct sb_report *r);

// A figure of a phase, in events/s or ms; NaN: unknown.
double sb_beside_figure(
    const struct sb_beside_figures *f, unsigned phase, unsigned value);
// The phase without the command that is compared with the phase during it:
// before, or after if there is no interval before.
unsigned sb_beside_base(const struct sb_beside_figures *f);
// Compares the phase during the command with sb_beside_base().
void sb_beside_compare(
    const struct sb_beside_figures *f, struct sb_compare c[SB_BESIDE_VALUES]);

// What reports say, from the figures of a run (sb_beside_summarize()) or from
// its result file (sb_beside_read()). NaN: unknown.
struct sb_beside_column {
    double intervals, seconds, events, errors;
    double value[SB_BESIDE_VALUES]; // events/s, ms
    double max;                     // ms
};

struct sb_beside_difference {
    double value, low, high;
};

struct sb_beside_summary {
    const char *name; // not owned
    double pct;
    bool tried_alone;
    struct sb_beside_command alone, command;
    unsigned base; // phase, as sb_beside_base() returns it
    struct sb_beside_column column[SB_BESIDE_PHASES];
    struct sb_beside_difference difference[SB_BESIDE_VALUES];
};

void sb_beside_summarize(
    const struct sb_beside_figures *f, struct sb_beside_summary *s);

// Prints the section of the text report.
void sb_beside_print(const struct sb_beside_summary *s, FILE *out);
// The member "beside" of a run; NULL if out of memory.
json_t *sb_beside_json(const struct sb_beside_figures *f);
// Reads that member. s->name belongs to it. False if it is no such member.
bool sb_beside_read(struct sb_beside_summary *s, const json_t *member);

#endif
