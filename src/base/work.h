// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the processes of a server on this machine have done so far: processor
// time and disk I/O of a process with its children, or of their control group,
// and context switches. Main thread; reading takes about 20 us for each process
// of the machine.
#ifndef SB_WORK_H
#define SB_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define SB_WORK_GROUP_MAX 512

struct sb_worker {
    int64_t pid;
    uint64_t start_ticks; // identifies the process together with the pid
    // The control group that has these processes and no others, as a path below
    // that of its file system: "/system.slice/a.service"; "": none.
    char group[SB_WORK_GROUP_MAX];
};

// Totals; NaN: unknown.
struct sb_work {
    double cpu_us, system_us; // system_us: the part of cpu_us in the kernel
    double read, written;     // bytes, on disks
};

// Finds a process and its control group. SB_ENOTFOUND: there is no such
// process. SB_EUSAGE: this process is one of its children, so that what it does
// is not only a server's work.
int sb_worker_find(struct sb_worker *w, int64_t pid, struct sb_err *err);
// Reads the totals. SB_ENOTFOUND: the process has ended.
int sb_work_look(
    const struct sb_worker *w, struct sb_work *out, struct sb_err *err);

// The same for control groups below `root` instead of "/", for tests.
//
// Writes the group of `pid` to out if this process is in another one that is
// not below it, and if owns() is true of all processes in it. Otherwise "".
void sb_work_group(const char *root, int64_t pid,
    bool (*owns)(int64_t process, int64_t pid), char *out, size_t size);
// Replaces the totals that the files of the group have: processor time, and
// disk I/O if it is unknown so far.
void sb_work_group_look(
    const char *root, const char *group, struct sb_work *out);

// Context switches are known of threads that run. To count them, look at all
// threads from time to time.
struct sb_switches {
    struct sb_switches_thread {
        int64_t id;
        uint64_t n;
        uint64_t counted; // of n, in `total`
        bool seen;        // in the look in progress
    } * thread;           // nthreads of them, by id
    size_t nthreads, capacity;
    bool begun, failed; // failed: out of memory
    // Since the first look. lost: the part of threads that have ended, whose
    // last switches are unknown.
    double total, lost;
};

void sb_switches_done(struct sb_switches *s); // {0} allowed
// A look: begin, put each thread, end.
void sb_switches_begin(struct sb_switches *s);
void sb_switches_put(struct sb_switches *s, int64_t thread, uint64_t n);
void sb_switches_end(struct sb_switches *s);
// Looks at the threads of a server. Errors as of sb_procstat_switches().
int sb_switches_look(
    struct sb_switches *s, const struct sb_worker *w, struct sb_err *err);

#endif
