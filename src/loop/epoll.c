// SPDX-License-Identifier: GPL-2.0-or-later
//
// Waits with epoll, where io_uring is refused: in many containers, and by
// kernels before 6.1.
#define _GNU_SOURCE // epoll_pwait2, ppoll
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "kit/limits.h"
#include "loop/fiber_private.h"
#include "loop/poller.h"

#define BATCH 256

struct epoll {
    int fd, notify;
    bool no_pwait2; // the kernel does not have it
};

static struct epoll *epoll_of(const struct sb_loop *l)
{
    return l->kernel;
}

static void close_all(struct epoll *p)
{
    if (p->notify >= 0)
        close(p->notify);
    if (p->fd >= 0)
        close(p->fd);
    free(p);
}

int sb__loop_refused(int no, struct sb_err *err)
{
    char limit[80] = "";

    if (no == EMFILE)
        sb_limit_of_files(limit, sizeof(limit));
    return sb_err_set(err, SB_ELIMIT, "cannot create an event loop: %s%s",
        strerror(no), limit);
}

static int epoll_open(struct sb_loop *l, struct sb_err *err)
{
    struct epoll *p = calloc(1, sizeof(*p));
    struct epoll_event e = { .events = EPOLLIN }; // without a fiber

    if (!p)
        return sb__loop_no_memory(err);
    p->notify = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->fd = epoll_create1(EPOLL_CLOEXEC);
    if (p->fd < 0 || p->notify < 0 ||
        epoll_ctl(p->fd, EPOLL_CTL_ADD, p->notify, &e)) {
        int no = errno;

        close_all(p);
        return sb__loop_refused(no, err);
    }
    l->kernel = p;
    return 0;
}

static void epoll_shut(struct sb_loop *l)
{
    close_all(epoll_of(l));
    l->kernel = NULL;
}

// Each wait is for one event, so that no event arrives for a fiber that does
// not wait. A descriptor stays registered between waits.
static int epoll_start_poll(struct sb_fiber *f, int fd, short events)
{
    // The values of POLLIN etc. are those of EPOLLIN etc.
    struct epoll_event e = { .events = (uint32_t)(unsigned short)events |
                                       EPOLLONESHOT,
        .data = { .ptr = f } };
    int ep = epoll_of(f->loop)->fd;

    f->io.fd = fd;
    if (epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e) == 0)
        return 0;
    if (errno == ENOENT && epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) == 0)
        return 0;
    return -errno;
}

static void epoll_cancel(struct sb_fiber *f)
{
    // A registration without events would still report errors.
    epoll_ctl(epoll_of(f->loop)->fd, EPOLL_CTL_DEL, f->io.fd, NULL);
    sb__fiber_complete(f, -ECANCELED);
}

// The timeout of epoll_wait() is in ms, so a wake-up would be up to a
// millisecond too early or too late. That of ppoll() is in ns.
static int wait_by_poll(
    const struct epoll *p, struct epoll_event *e, const struct timespec *left)
{
    struct pollfd fd = { .fd = p->fd, .events = POLLIN };

    ppoll(&fd, 1, left, NULL);
    return epoll_wait(p->fd, e, BATCH, 0);
}

static int wait_events(struct epoll *p, struct epoll_event *e, uint64_t until)
{
    if (until == 0 || until == SB_FOREVER)
        return epoll_wait(p->fd, e, BATCH, until == 0 ? 0 : -1);

    uint64_t now = sb_clock_monotonic();
    uint64_t left = until > now ? until - now : 0;
    struct timespec ts = sb_clock_timespec(left);
#ifdef HAVE_EPOLL_PWAIT2
    if (!p->no_pwait2) {
        int n = epoll_pwait2(p->fd, e, BATCH, &ts, NULL);

        // EPERM: a container refuses calls that it does not know.
        if (n >= 0 || (errno != ENOSYS && errno != EPERM))
            return n;
        p->no_pwait2 = true;
    }
#endif
    return wait_by_poll(p, e, &ts);
}

static void epoll_await(struct sb_loop *l, uint64_t until)
{
    struct epoll *p = epoll_of(l);
    struct epoll_event e[BATCH];
    uint64_t count;
    int n = wait_events(p, e, until);

    l->now = sb_clock_monotonic();
    for (int i = 0; i < n; i++) {
        if (e[i].data.ptr)
            sb__fiber_complete(e[i].data.ptr, (int)e[i].events);
        else
            while (read(p->notify, &count, sizeof(count)) > 0)
                ;
    }
}

static void epoll_notify(struct sb_loop *l)
{
    uint64_t one = 1;

    while (write(epoll_of(l)->notify, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

const struct sb__poller sb__epoll = {
    .name = "epoll",
    .open = epoll_open,
    .close = epoll_shut,
    .start_poll = epoll_start_poll,
    .cancel = epoll_cancel,
    .wait = epoll_await,
    .notify = epoll_notify,
};
