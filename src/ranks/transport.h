// SPDX-License-Identifier: GPL-2.0-or-later
//
// How the processes of a job reach each other: messages, and nothing else. The
// program links no MPI library; a module for each family of libraries
// implements this (src/ranks/mpi/). Only one thread of a process uses a
// transport.
#ifndef SB_TRANSPORT_H
#define SB_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

// Changes with struct sb_transport_ops: a module of another build is refused.
#define SB_TRANSPORT_ABI 3

struct sb_transport {
    const struct sb_transport_ops *ops;
    unsigned rank, ranks; // of this process, from 0; of all
    uint64_t kill_after;  // ns from SIGTERM of the launcher to SIGKILL
    void *priv;
};

// A message that has arrived; `data` is freed by the receiver.
struct sb_transport_message {
    unsigned from;
    char *data;
    size_t len;
};

struct sb_transport_ops {
    unsigned abi;
    // Joins the job and sets all members except ops; waits until the library of
    // every process has started. SB_E*.
    int (*open)(struct sb_transport *t, struct sb_err *err);
    // Name and version of the library, such as "Open MPI 4.1.4".
    void (*library)(char *out, size_t size);
    // Starts to send a copy of the data and does not wait; the messages to a
    // process arrive in this order. SB_E*.
    int (*send)(struct sb_transport *t, unsigned to, const void *data,
        size_t len, struct sb_err *err);
    // Takes the next message and advances what is being sent; does not wait.
    // Returns 1, 0 if none is complete, or SB_E*. The messages of a process are
    // returned in the order in which it sent them.
    int (*receive)(struct sb_transport *t, struct sb_transport_message *m,
        struct sb_err *err);
    // Whether messages that were sent still need receive() to be called.
    bool (*sending)(struct sb_transport *t);
    // Leaves the job; may wait until every process does so. If a process does
    // not answer, the others exit without this.
    void (*close)(struct sb_transport *t);
    // Rank 0 will exit with this status, without close(): makes the launcher
    // end the others. Its output must have been flushed.
    void (*abandon)(struct sb_transport *t, int status);
};

// What a module exports, with the name "sb_transport_ops".
extern const struct sb_transport_ops sb_transport_ops;

#endif
