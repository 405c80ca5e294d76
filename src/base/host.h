// SPDX-License-Identifier: GPL-2.0-or-later
//
// Facts about this machine, for result files: what a run needs to be trusted
// or repeated. Linux reads /proc and the cgroup file system; elsewhere, only
// what POSIX provides is known.
#ifndef SB_HOST_H
#define SB_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct sb_host_facts {
    char name[256];
    char cpu[256];             // model, "" if unknown
    char kernel[256];          // "Linux 6.1.0-18-amd64"
    unsigned processors;       // that the process may use
    uint64_t memory;           // bytes, 0 if unknown
    double container_cpus;     // limit of the control group, 0: none
    uint64_t container_memory; // bytes, 0: none
};

// Never fails: what cannot be read is empty. Any thread.
void sb_host_facts(struct sb_host_facts *f);
// The same with files below `root` instead of "/"; for tests.
void sb_host_facts_below(struct sb_host_facts *f, const char *root);

#endif
