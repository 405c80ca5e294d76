// SPDX-License-Identifier: GPL-2.0-or-later
//
// How a loop waits for the kernel: epoll.c, uring.c.
#ifndef SB_POLLER_H
#define SB_POLLER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kit/limits.h"

struct sb_fiber;
struct sb_loop;

// io: of a fiber in state WAITING. After start_*() returned 0,
// sb__fiber_complete() is called once for it, in wait().
struct sb__poller {
    const char *name;
    int (*open)(struct sb_loop *l, struct sb_err *err);
    void (*close)(struct sb_loop *l);
    // Waits for events of poll() on fd; the result is those that happened. 0 or
    // -errno.
    int (*start_poll)(struct sb_fiber *f, int fd, short events);
    // Sends out[0..len-1] completely and then receives at most `cap` bytes; the
    // result is the number received. NULL: the poller cannot do that.
    int (*start_exchange)(struct sb_fiber *f, int fd, const void *out,
        size_t len, void *in, size_t cap);
    // Has the io end early, with -ECANCELED. It may be too late for that, or
    // too early: the caller repeats it.
    void (*cancel)(struct sb_fiber *f);
    // Waits until something is complete, the time is reached, or notify() is
    // called. until 0: does not wait.
    void (*wait)(struct sb_loop *l, uint64_t until);
    // Ends a wait(). Any thread.
    void (*notify)(struct sb_loop *l);
};

extern const struct sb__poller sb__epoll;
#ifdef HAVE_LIBURING
extern const struct sb__poller sb__uring;
#endif

// Defined in epoll.c. Fills err if the kernel refuses what a loop needs. no:
// the errno of the refused call. Returns SB_ELIMIT.
int sb__loop_refused(int no, struct sb_err *err);

// There is no memory for an event loop: SB_ENOMEM, with the limit.
static inline int sb__loop_no_memory(struct sb_err *err)
{
    char limit[80];

    sb_limit_of_memory(limit, sizeof(limit));
    return sb_err_set(
        err, SB_ENOMEM, "out of memory for an event loop%s", limit);
}

#endif
