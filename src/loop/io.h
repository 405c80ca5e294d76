// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where drivers wait: in a fiber, other fibers run meanwhile; in a thread of
// its own, the thread blocks. Drivers call these functions through struct
// sb_host.
#ifndef SB_LOOP_IO_H
#define SB_LOOP_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kit/exchange.h"

// Waits until one of the events of poll() happens on fd, or until the deadline,
// a time of CLOCK_MONOTONIC in ns (UINT64_MAX: none). Returns the events, 0
// after the deadline, or -errno. Signals do not interrupt it.
int sb_io_wait(int fd, short events, uint64_t deadline);

// Sends all of `out`, then receives at least one byte. Returns the number of
// bytes received, 0 if the peer has closed the connection, or -errno:
// -ETIMEDOUT after the deadline. Both buffers are used until it returns. Must
// not be used to send more than the peer reads without being read from.
ssize_t sb_io_exchange(struct sb_exchange *x);

// Sleeps until a time of CLOCK_MONOTONIC in ns, exactly: a thread busy-waits
// for the last part. A fiber may return early; it is exact if its loop is, see
// sb_loop_new().
void sb_io_sleep(uint64_t until);

#endif
