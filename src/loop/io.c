// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/io.h"

#include <assert.h>
#include <ck_pr.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "kit/sock.h"
#include "loop/fiber_private.h"
#include "loop/poller.h"

#define MS UINT64_C(1000000)
// Typical delay of the kernel in waking a thread.
#define SPIN_NS 60000u
// Bytes that are prefetched: of the request, because its buffer is used again,
// and of the answer.
#define REQUEST 128
#define ANSWER  256

// In a thread ----------------------------------------------------------------

// The milliseconds until a deadline for poll(), rounded up; -1: no deadline.
static int left_ms(uint64_t deadline)
{
    uint64_t now, left;

    if (deadline == SB_FOREVER)
        return -1;
    now = sb_clock_monotonic();
    left = deadline > now ? (deadline - now + MS - 1) / MS : 0;
    return left < 3600000 ? (int)left : 3600000;
}

static int thread_wait(int fd, short events, uint64_t deadline)
{
    struct pollfd p = { .fd = fd, .events = events };
    int n, ms;

    do {
        ms = left_ms(deadline);
        n = poll(&p, 1, ms);
    } while ((n < 0 && errno == EINTR) || (n == 0 && ms == 3600000));
    if (n < 0)
        return -errno;
    return n > 0 ? p.revents : 0;
}

static void thread_sleep(uint64_t until)
{
    if (sb_clock_monotonic() + SPIN_NS < until)
        sb_clock_sleep_until(until - SPIN_NS);
    while (sb_clock_monotonic() < until)
        ck_pr_stall();
}

// In both --------------------------------------------------------------------

int sb_io_wait(int fd, short events, uint64_t deadline)
{
    struct sb_fiber *f = sb_fiber_current();
    int rc;

    if (!f)
        return thread_wait(fd, events, deadline);
    rc = f->loop->poller->start_poll(f, fd, events);
    // epoll does not accept files, which are always ready.
    if (rc)
        return rc == -EPERM ? events : rc;
    rc = sb__fiber_await(f, deadline);
    return rc == -ETIMEDOUT ? 0 : rc;
}

// Waits for an event of a socket. 0, -ETIMEDOUT or -errno.
static int await(int fd, short events, uint64_t deadline)
{
    int n = sb_io_wait(fd, events, deadline);

    if (n < 0)
        return n;
    return n == 0 ? -ETIMEDOUT : 0;
}

static int send_all(const struct sb_exchange *x, int flags)
{
    const char *p = x->out;
    size_t left = x->len;
    int rc;

    while (left > 0) {
        ssize_t n = send(x->fd, p, left, flags | MSG_NOSIGNAL);

        if (n > 0) {
            p += n;
            left -= (size_t)n;
        } else if (n == 0) {
            return -EPIPE;
        } else if (sb_sock_would_block(errno)) {
            rc = await(x->fd, POLLOUT, x->deadline);
            if (rc)
                return rc;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

// first: wait before the first attempt.
static ssize_t receive(const struct sb_exchange *x, int flags, bool first)
{
    for (;;) {
        ssize_t n;
        int rc = first ? await(x->fd, POLLIN, x->deadline) : 0;

        if (rc)
            return rc;
        n = recv(x->fd, x->in, x->cap, flags);
        if (n >= 0)
            return n;
        if (errno != EINTR && !sb_sock_would_block(errno))
            return -errno;
        first = sb_sock_would_block(errno);
    }
}

static ssize_t by_calls(struct sb_exchange *x, bool blocks)
{
    int flags = blocks ? 0 : MSG_DONTWAIT;
    int rc = x->len > 0 ? send_all(x, flags) : 0;

    x->unsent = rc != 0;
    // The answer to a request that was just sent has not arrived.
    return rc ? rc : receive(x, flags, blocks ? x->poll_first : x->len > 0);
}

ssize_t sb_io_exchange(struct sb_exchange *x)
{
    struct sb_fiber *f = sb_fiber_current();
    const struct sb__poller *poller = f ? f->loop->poller : NULL;
    ssize_t n;

    assert(x->cap > 0);
    x->unsent = false;
    if (!f)
        return by_calls(
            x, x->deadline == SB_FOREVER || (x->times_out && x->len == 0));
    sb_prefetch_set(&f->prefetch, SB_PREFETCH_REQUEST, x->out,
        x->len < REQUEST ? x->len : REQUEST);
    sb_prefetch_set(&f->prefetch, SB_PREFETCH_ANSWER, x->in,
        x->cap < ANSWER ? x->cap : ANSWER);
    if (!poller->start_exchange ||
        poller->start_exchange(f, x->fd, x->out, x->len, x->in, x->cap))
        return by_calls(x, false);
    n = sb__fiber_await(f, x->deadline);
    x->unsent = f->io.unsent;
    // Some kernels do not wait for a socket that is set to non-blocking.
    if (n != -EAGAIN)
        return n;
    return x->unsent ? by_calls(x, false) : receive(x, MSG_DONTWAIT, true);
}

void sb_io_sleep(uint64_t until)
{
    struct sb_fiber *f = sb_fiber_current();

    if (f)
        sb_fiber_sleep(f, until);
    else
        thread_sleep(until);
}
