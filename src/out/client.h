// SPDX-License-Identifier: GPL-2.0-or-later
//
// How busy the client was: processors that this process used, time that its
// threads waited for one, and how busy the machine was. Decides whether a run
// measured the client rather than the server. Pure; docs/measurement.md states
// the rule.
#ifndef SB_CLIENT_H
#define SB_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the system had counted at one moment. ns: monotonic clock.
struct sb_client_sample {
    uint64_t ns;
    uint64_t cpu_ns; // of the process
    // Of its threads: on a processor, and ready to run without one. threads: 0
    // if that is unknown.
    uint64_t run_ns, wait_ns;
    unsigned threads;
    uint64_t busy_ns;    // of the machine, all processors
    unsigned processors; // of the machine; 0: unknown
};

// Sums over the time between samples. {0} is empty.
struct sb_client_sum {
    double ns, cpu_ns;
    double ready_ns, run_ns, wait_ns; // ready_ns: length of the time of run_ns
    double machine_ns, busy_ns;       // machine_ns: length of that of busy_ns
};

// The use during that time; NAN: unknown.
struct sb_client_usage {
    double cpu;     // processors used by the process
    double wait;    // share of the time that threads were ready to run, 0 to 1
    double machine; // processors of the machine in use
};

// Adds the time between two samples. Returns false if it lacks the waiting of
// the threads: because it is unknown, or because threads came or went.
bool sb_client_add(struct sb_client_sum *sum,
    const struct sb_client_sample *from, const struct sb_client_sample *to);
// Returns how many processors of the machine were in use between two samples.
// The system counts in ticks: NAN if the time is too short for them, or if it
// is unknown. tick_ns: duration of a tick.
double sb_client_machine(const struct sb_client_sample *from,
    const struct sb_client_sample *to, uint64_t tick_ns);
void sb_client_usage(
    const struct sb_client_sum *sum, struct sb_client_usage *out);

// What a run had.
struct sb_client_limits {
    double processors;  // that the process can use
    double machine;     // processors of the machine, 0: unknown
    unsigned threads;   // of users
    bool loops;         // each runs many users: one is always ready under load
    bool remote_server; // all servers are known to be on other machines
};

// Sums over the answers and the completed events of a run on event loops.
struct sb_client_delays {
    uint64_t answers;    // that users waited for
    uint64_t delay_ns;   // client delay
    uint64_t service_ns; // service time of events, without it
};

// Returns true if answers waited for their users for a considerable part of the
// time of events, and writes how long. Returns false if the workers may have
// lacked processors because the server used them.
bool sb_client_delays_matter(const struct sb_client_delays *d,
    const struct sb_client_usage *u, const struct sb_client_limits *limits,
    char *why, size_t size);
// Returns true if the client was the bottleneck, and writes the reason: "it
// used 3.70 of 4 processors".
bool sb_client_is_bottleneck(const struct sb_client_usage *u,
    const struct sb_client_limits *limits, char *why, size_t size);

#endif
