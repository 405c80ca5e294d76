// SPDX-License-Identifier: GPL-2.0-or-later
//
// A request on a socket and its answer, for the exchange() of struct sb_host.
#ifndef SB_EXCHANGE_H
#define SB_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A request to the server at the other end of a stream socket, and (a part of)
// its answer.
struct sb_exchange {
    int fd;
    bool poll_first; // waits with poll() before it receives
                     // (sb_sock_is_local())
    bool times_out;  // SO_RCVTIMEO of fd ends a recv() at about the
                     // deadline: without a request, a user with a thread of
                     // its own then needs no poll() before recv()
    const void *out;
    size_t len; // 0: sends nothing
    void *in;
    size_t cap;        // at least 1
    uint64_t deadline; // of the whole: a time of CLOCK_MONOTONIC in ns;
                       // UINT64_MAX: none
    bool unsent;       // result: an error occurred before all was sent
};

#endif
