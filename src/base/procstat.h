// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the system knows about processes, from /proc: processor time, memory and
// disk I/O of a process with its children, of this process, and of the machine.
// The functions sb_procstat_parse_*() are pure. The others read files, which
// takes some 10 us each; any thread may call them.
#ifndef SB_PROCSTAT_H
#define SB_PROCSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

// Parsing --------------------------------------------------------------------

// A part of /proc/PID/stat.
struct sb_proc_stat {
    int64_t pid, parent;
    char state;            // R, S, D, Z ...
    uint64_t own_ticks;    // utime + stime
    uint64_t child_ticks;  // the same of children that have ended and were
                           // waited for
    uint64_t system_ticks; // the part of stime in both
    uint64_t start_ticks;  // since the boot; identifies the process together
                           // with the pid
};

// The name of the program may contain blanks and parentheses. False if the text
// is not complete.
bool sb_procstat_parse_stat(const char *text, struct sb_proc_stat *out);
// /proc/PID/statm: pages in memory, and those of them that may be shared.
bool sb_procstat_parse_statm(
    const char *text, uint64_t *resident, uint64_t *shared);
// /proc/PID/io: bytes read from and written to disks.
bool sb_procstat_parse_io(const char *text, uint64_t *read, uint64_t *written);
// /proc/PID/task/TID/status: how often the thread has left its processor,
// because it waited for something or because another one was to run.
bool sb_procstat_parse_switches(const char *text, uint64_t *switches);
// /proc/PID/schedstat: ns on a processor, and ns runnable without one.
bool sb_procstat_parse_sched(const char *text, uint64_t *run, uint64_t *wait);

// Processor time of a machine, in ticks: the first line of /proc/stat.
struct sb_proc_machine {
    uint64_t busy;       // user, nice, system, interrupts
    uint64_t idle;       // idle, waiting for disks
    uint64_t stolen;     // a hypervisor did not provide a processor
    unsigned processors; // that are online
};

bool sb_procstat_parse_machine(const char *text, struct sb_proc_machine *out);

// Reading --------------------------------------------------------------------

// Duration of a tick in ns.
uint64_t sb_procstat_tick_ns(void);

// The machine that /proc describes; in a container usually the host. 0 or
// SB_ESYS.
int sb_procstat_machine(struct sb_proc_machine *out, struct sb_err *err);

#define SB_PROC_THREADS 32u // threads whose waiting is read

struct sb_proc_self {
    uint64_t cpu_ns; // processor time of all threads, also of ended ones
    // Of the SB_PROC_THREADS oldest threads that are running: time on a
    // processor, and time that they were ready to run and had none. The share
    // wait / (run + wait) of an interval says how much the process was delayed.
    // The sums shrink when a thread ends. has_wait: the kernel counts this.
    uint64_t run_ns, wait_ns;
    unsigned threads; // how many were read
    bool has_wait;
};

// This process. Takes 10 us per thread that is read. 0 or SB_ESYS.
int sb_procstat_self(struct sb_proc_self *out, struct sb_err *err);

// A process with its children and their children.
struct sb_proc_tree {
    uint64_t cpu_ns;    // also of children that have ended
    uint64_t system_ns; // of cpu_ns: in the kernel
    uint64_t rss;       // bytes in memory. What processes share (PostgreSQL's
                        // shared_buffers) counts once, by the process that has
                        // most of it
    uint64_t read, written; // bytes, on disks; has_io: they could be read
    bool has_io;
    unsigned processes;
    uint64_t start_ticks; // of the first process: differs if the pid is used by
                          // another process now
};

// Reads all processes of the tree: about 20 us for each process of the machine.
// SB_ENOTFOUND: there is no process with this pid, or it has ended.
int sb_procstat_tree(int64_t pid, struct sb_proc_tree *out, struct sb_err *err);

// Calls visit() for each thread of these processes with the number of its
// context switches so far: about 20 us each. Errors as above.
int sb_procstat_switches(int64_t pid,
    void (*visit)(void *arg, int64_t thread, uint64_t switches), void *arg,
    struct sb_err *err);

// Whether a process is `pid`, or a child of it, or one of their children.
bool sb_procstat_descends(int64_t process, int64_t pid);

// Finds the process that listens at an address as in struct sb_server: a Unix
// socket, or host:port on this machine. It needs the right to read the open
// files of that process. Returns its pid; 0: not found.
int64_t sb_procstat_listener(const char *address);

#endif
