// SPDX-License-Identifier: GPL-2.0-or-later
//
// Facts about this machine, for result files: what a run needs to be trusted
// or repeated. Linux reads /proc and the cgroup file system; elsewhere, only
// what POSIX provides is known.
#ifndef SB_HOST_H
#define SB_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/procstat.h"

struct sb_host_facts {
    char name[256];
    char cpu[256];             // model, "" if unknown
    char kernel[256];          // "Linux 6.1.0-18-amd64"
    unsigned processors;       // that the process may use
    uint64_t memory;           // bytes, 0 if unknown
    double container_cpus;     // limit of the control group, 0: none
    uint64_t container_memory; // bytes, 0: none
    char clock[32];            // clock source of the kernel: "tsc"
    char governor[32], frequency_driver[32]; // as of struct sb_host_state
};

// Periods of control groups that limit the processors of a process, and those
// in which the limit stopped it.
struct sb_throttled {
    uint64_t periods, throttled;
};

// What has happened on this machine so far. The difference of two says what
// happened between them; what cannot be read stays 0 or empty.
struct sb_host_state {
    struct sb_proc_machine cpu; // ticks
    struct sb_throttled groups; // of this process
    uint64_t swapped;           // bytes read from and written to swap space
    uint64_t hot; // times that processors slowed down because of their
                  // temperature
    uint64_t segments, resent; // TCP segments sent, and sent again
    int64_t clock_ns;          // time of day minus monotonic time
    char clock[32];            // clock source of the kernel: "tsc"
    char governor[32], frequency_driver[32]; // of the frequency of processor 0
};

// Reads it; takes some 100 us. Any thread.
void sb_host_look(struct sb_host_state *s);
// The same with files below `root`, except for `cpu` and `clock_ns`.
void sb_host_look_below(struct sb_host_state *s, const char *root);

// Reads the same about another process of this machine, a server. Groups that
// have this process, too, are left out. 0 if there are no others, or the
// process has ended. Any thread.
void sb_host_throttled(struct sb_throttled *t, int64_t pid);
void sb_host_throttled_below( // as above
    struct sb_throttled *t, int64_t pid, const char *root);

// Returns the shortest time in ns that the device of a folder's file system
// needed to flush a write of 4 KB, of up to 20 in 0.1 s. Writes to a file of
// its own, there or in another folder of the file system, and removes it. NaN:
// there is no such folder, or none that can be written. Any thread.
double sb_host_flush(const char *folder);

// Opens a file of the system below `root`, "" outside of tests, and one of a
// control group. NULL on failure, with errno. Any thread.
FILE *sb__host_open(const char *root, const char *path);
FILE *sb__host_open_group(
    const char *root, const char *group, const char *file);
// Reads the first line of a file. 0 or the number of an error. Any thread.
int sb__host_line(const char *root, const char *path, char *out, size_t size);

// Never fails: what cannot be read is empty. Any thread.
void sb_host_facts(struct sb_host_facts *f);
// Returns the number of processors that the process may use at a time:
// `processors`, or the limit of the control group if that is less. Above 0.
double sb_host_processors(const struct sb_host_facts *f);
// Returns this number for this machine, rounded up, without the other facts.
// Any thread.
unsigned sb_host_usable(void);
// As sb_host_facts(), with files below `root` instead of "/"; for tests.
void sb_host_facts_below(struct sb_host_facts *f, const char *root);

#endif
