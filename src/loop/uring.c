// SPDX-License-Identifier: GPL-2.0-or-later
//
// Waits with io_uring: what all fibers have started since the last wait goes to
// the kernel in one system call, and the answers that have arrived are received
// by that call.
#define _GNU_SOURCE // cpu_set_t in liburing.h
#ifdef HAVE_LIBURING

#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/fiber_private.h"
#include "loop/poller.h"

#define MIN_ENTRIES 64u
#define MAX_ENTRIES 4096u // more operations are submitted earlier

// What a completion belongs to: the address of a fiber plus one of these. The
// first is the operation whose result the fiber waits for.
enum tag { TAG_RESULT, TAG_SEND, TAG_CANCEL, TAG_NOTIFY, TAGS };

struct uring {
    struct io_uring ring;
    int notify; // eventfd
};

static struct uring *uring_of(const struct sb_loop *l)
{
    return l->kernel;
}

static void set_data(
    struct io_uring_sqe *s, const struct sb_fiber *f, enum tag tag)
{
    assert(((uintptr_t)f & (TAGS - 1)) == 0);
    io_uring_sqe_set_data64(s, (uintptr_t)f | tag);
}

// Makes room for n operations, which then go to the kernel in one system call:
// a chain must not be divided.
static struct io_uring *with_room(struct uring *u, unsigned n)
{
    while (io_uring_sq_space_left(&u->ring) < n)
        io_uring_submit(&u->ring);
    return &u->ring;
}

static void start_notify(struct uring *u)
{
    struct io_uring_sqe *s = io_uring_get_sqe(with_room(u, 1));

    io_uring_prep_poll_add(s, u->notify, POLLIN);
    set_data(s, NULL, TAG_NOTIFY);
}

static unsigned entries_for(unsigned fibers)
{
    unsigned n = MIN_ENTRIES;

    // Two for an exchange.
    while (n < 2 * fibers && n < MAX_ENTRIES)
        n *= 2;
    return n;
}

static int uring_refused(int no, struct sb_err *err)
{
    if (no == EMFILE || no == ENFILE || no == ENOMEM)
        return sb__loop_refused(no, err);
    return sb_err_set(
        err, SB_EUNSUPPORTED, "io_uring is not available: %s", strerror(no));
}

static int uring_open(struct sb_loop *l, struct sb_err *err)
{
    unsigned n = entries_for(l->max);
    struct io_uring_params p = {
        // The completions are handled by the thread that waits for them, when
        // it waits: no interruptions of the fiber that runs.
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                 IORING_SETUP_CQSIZE,
        .cq_entries = 2 * n,
    };
    struct uring *u = calloc(1, sizeof(*u));
    int rc;

    if (!u)
        return sb__loop_no_memory(err);
    rc = io_uring_queue_init_params(n, &u->ring, &p);
    if (rc == 0 && !(p.features & IORING_FEAT_CQE_SKIP)) {
        io_uring_queue_exit(&u->ring);
        rc = -ENOSYS;
    }
    if (rc == 0 && (u->notify = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
        rc = -errno;
        io_uring_queue_exit(&u->ring);
    }
    if (rc) {
        free(u);
        return uring_refused(-rc, err);
    }
    io_uring_ring_dontfork(&u->ring);
    l->kernel = u;
    start_notify(u);
    return 0;
}

static void uring_close(struct sb_loop *l)
{
    struct uring *u = uring_of(l);

    io_uring_queue_exit(&u->ring);
    close(u->notify);
    free(u);
    l->kernel = NULL;
}

static int uring_start_poll(struct sb_fiber *f, int fd, short events)
{
    struct uring *u = uring_of(f->loop);
    struct io_uring_sqe *s = io_uring_get_sqe(with_room(u, 1));

    io_uring_prep_poll_add(s, fd, (unsigned short)events);
    set_data(s, f, TAG_RESULT);
    return 0;
}

// The receive begins when all is sent. A send that succeeds has no completion.
// One that fails has one, and the receive, which is then canceled, has none.
static int uring_start_exchange(struct sb_fiber *f, int fd, const void *out,
    size_t len, void *in, size_t cap)
{
    struct io_uring *ring = with_room(uring_of(f->loop), 2);
    struct io_uring_sqe *s;

    f->io.unsent = false;
    if (len > 0) {
        s = io_uring_get_sqe(ring);
        io_uring_prep_send(s, fd, out, len, MSG_NOSIGNAL | MSG_WAITALL);
        io_uring_sqe_set_flags(s, IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS);
        set_data(s, f, TAG_SEND);
    }
    s = io_uring_get_sqe(ring);
    io_uring_prep_recv(s, fd, in, cap, 0);
    set_data(s, f, TAG_RESULT);
    return 0;
}

// The send is canceled, too: while it waits, the receive is not known yet.
static void uring_cancel(struct sb_fiber *f)
{
    struct io_uring *ring = with_room(uring_of(f->loop), 2);

    for (int tag = TAG_SEND; tag >= TAG_RESULT; tag--) {
        struct io_uring_sqe *s = io_uring_get_sqe(ring);

        io_uring_prep_cancel64(s, (uintptr_t)f | (unsigned)tag, 0);
        set_data(s, f, TAG_CANCEL);
    }
}

// res: the result of the failed send, which may have sent a part.
static int send_failed(const struct sb_fiber *f, int res)
{
    if (res < 0)
        return res;
    return f->io.expired ? -ECANCELED : -EPIPE;
}

static void complete(struct sb_loop *l, const struct io_uring_cqe *q)
{
    struct sb_fiber *f = (void *)(uintptr_t)(q->user_data &
                                             ~(uint64_t)(TAGS - 1));
    uint64_t n;

    switch ((enum tag)(q->user_data & (TAGS - 1))) {
    case TAG_RESULT:
        sb__fiber_complete(f, q->res);
        break;
    case TAG_SEND:
        f->io.unsent = true;
        sb__fiber_complete(f, send_failed(f, q->res));
        break;
    case TAG_NOTIFY:
        while (read(uring_of(l)->notify, &n, sizeof(n)) > 0)
            ;
        start_notify(uring_of(l));
        break;
    default:
        break; // of a cancel: the operation itself completes
    }
}

static void complete_all(struct sb_loop *l)
{
    struct uring *u = uring_of(l);
    struct io_uring_cqe *q;
    unsigned head, n = 0;

    l->now = sb_clock_monotonic();
    io_uring_for_each_cqe(&u->ring, head, q)
    {
        complete(l, q);
        n++;
    }
    io_uring_cq_advance(&u->ring, n);
}

static void uring_wait(struct sb_loop *l, uint64_t until)
{
    struct uring *u = uring_of(l);
    struct io_uring_cqe *q;
    struct __kernel_timespec ts;
    struct timespec left;

    if (until == 0) {
        io_uring_submit_and_get_events(&u->ring);
    } else if (until == SB_FOREVER) {
        io_uring_submit_and_wait(&u->ring, 1);
    } else {
        uint64_t now = sb_clock_monotonic();

        left = sb_clock_timespec(until > now ? until - now : 0);
        ts.tv_sec = left.tv_sec;
        ts.tv_nsec = left.tv_nsec;
        io_uring_submit_and_wait_timeout(&u->ring, &q, 1, &ts, NULL);
    }
    complete_all(l);
}

static void uring_notify(struct sb_loop *l)
{
    uint64_t one = 1;

    while (write(uring_of(l)->notify, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

const struct sb__poller sb__uring = {
    .name = "io_uring",
    .open = uring_open,
    .close = uring_close,
    .start_poll = uring_start_poll,
    .start_exchange = uring_start_exchange,
    .cancel = uring_cancel,
    .wait = uring_wait,
    .notify = uring_notify,
};

#else

typedef int sb__uring_is_not_built; // a file must declare something

#endif
