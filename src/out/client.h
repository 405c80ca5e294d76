// SPDX-License-Identifier: GPL-2.0-or-later
//
// How busy the client was: processors that this process used, time that its
// threads waited for one, and how busy the machine was. Tells whether a run
// measured the client rather than the server. Pure; docs/measurement.md states
// the rule.
#ifndef SB_CLIENT_H
#define SB_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host.h"

// What the system had counted at one moment.
struct sb_client_sample {
    uint64_t ns;     // monotonic clock
    uint64_t cpu_ns; // of the process
    // Of its threads: on a processor, and ready to run without one.
    uint64_t run_ns, wait_ns;
    uint64_t busy_ns; // of the machine, all processors
    bool has_wait, has_machine;
};

// The use between two samples; NAN: unknown.
struct sb_client_usage {
    double cpu;     // processors used by the process
    double wait;    // share of the time of its threads, 0 to 1
    double machine; // processors of the machine in use
};

void sb_client_usage(const struct sb_client_sample *from,
    const struct sb_client_sample *to, struct sb_client_usage *out);

// Returns the number of processors that the process can use.
double sb_client_processors(const struct sb_host_facts *host);

// Returns true if the client was the bottleneck, and writes a sentence that
// says why.
bool sb_client_is_bottleneck(const struct sb_client_usage *u,
    const struct sb_host_facts *host, unsigned threads, char *why, size_t size);

#endif
