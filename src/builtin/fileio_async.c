// SPDX-License-Identifier: GPL-2.0-or-later
//
// fileio: requests that are in progress while their user starts others, by
// io_uring.
#define _GNU_SOURCE // cpu_set_t in liburing.h
#include "builtin/fileio.h"

#ifdef HAVE_LIBURING

#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

// A request has a buffer of its own, so that its contents can be validated.
struct slot {
    struct sb__fileio_req q;
    char *buf;
    struct slot *next; // that is free
};

struct sb__fileio_queue {
    struct io_uring ring;
    size_t pending, count;
    struct slot *free;
    struct slot slot[]; // count
};

int sb__fileio_queue_built(struct sb_err *err)
{
    return 0;
}

static int fileio_refused(int no, struct sb_err *err)
{
    const char *why = no == ENOSYS || no == EINVAL ? "it requires Linux 5.6"
                      : no == EPERM || no == EACCES
                          ? "forbidden by the seccomp profile of a container "
                            "or by the sysctl kernel.io_uring_disabled"
                      : no == ENOMEM ? "see ulimit -l"
                                     : "see ulimit -n";

    return sb_err_set(err, SB_EUNSUPPORTED,
        "--file-io-mode=async requires io_uring, which this system refuses: "
        "%s (%s); use sync or mmap",
        strerror(no), why);
}

static void free_slots(struct sb__fileio_queue *queue)
{
    for (size_t i = 0; i < queue->count; i++)
        free(queue->slot[i].buf);
    free(queue);
}

int sb__fileio_queue_new(const struct sb__fileio *t,
    struct sb__fileio_queue **queue, struct sb_err *err)
{
    size_t n = (size_t)t->o->async_backlog;
    struct io_uring_params p = {
        .flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
        .cq_entries = (unsigned)n,
    };
    struct sb__fileio_queue *d = calloc(1, sizeof(*d) + n * sizeof(*d->slot));
    bool ok = d != NULL;
    int rc;

    for (; ok && d->count < n; d->count++) {
        struct slot *s = &d->slot[d->count];

        s->buf = sb__fileio_buffer(t->request);
        s->next = d->free;
        d->free = s;
        ok = s->buf != NULL;
    }
    if (!ok) {
        if (d)
            free_slots(d);
        return sb_err_set(err, SB_ENOMEM,
            "fileio: out of memory for --file-async-backlog=%zu", n);
    }
    rc = io_uring_queue_init_params(1, &d->ring, &p);
    if (rc) {
        free_slots(d);
        return fileio_refused(-rc, err);
    }
    io_uring_ring_dontfork(&d->ring);
    *queue = d;
    return 0;
}

// The rest of a request that was done in part is done here, which also finds
// the reason.
static int finish(struct sb__fileio *t, const struct slot *s, int res,
    struct sb_rec *rec, struct sb_err *err)
{
    int rc = 0;

    if (res == -EINTR || res == -EAGAIN)
        res = 0;
    if (res < 0)
        rc = sb__fileio_failed(&s->q, -res, err);
    else
        rc = sb__fileio_transfer(t, s->buf, &s->q, (size_t)res, err);
    sb__fileio_unlock(t, &s->q);
    if (rc == 0)
        rc = sb__fileio_check(t, s->buf, &s->q, err);
    if (rc == 0 && rec)
        sb__fileio_count(rec, &s->q);
    return rc;
}

// Waits until at least `wanted` requests are complete, and finishes all that
// are, also after an error. Returns the first error.
static int reap(struct sb__fileio *t, struct sb__fileio_queue *queue,
    size_t wanted, struct sb_rec *rec, struct sb_err *err)
{
    struct io_uring_cqe *c;
    int rc = 0;

    while (queue->pending > 0) {
        int no = wanted > 0 ? io_uring_wait_cqe(&queue->ring, &c)
                            : io_uring_peek_cqe(&queue->ring, &c);
        if (no == -EINTR)
            continue;
        if (no == -EAGAIN && wanted == 0)
            break;
        if (no)
            return rc ? rc
                      : sb_err_set(err, SB_ESYS,
                            "Failed to wait for requests: %s", strerror(-no));
        struct slot *s = io_uring_cqe_get_data(c);
        int failed = finish(t, s, c->res, rec, rc ? NULL : err);

        rc = rc ? rc : failed;
        io_uring_cqe_seen(&queue->ring, c);
        s->next = queue->free;
        queue->free = s;
        queue->pending--;
        wanted -= wanted > 0;
    }
    return rc;
}

// With --validate: a user that waits for a file has no requests in progress, so
// that users never wait for each other.
static int lock(struct sb__fileio *t, struct sb__fileio_queue *queue,
    struct sb_rec *rec, const struct sb__fileio_req *q, struct sb_err *err)
{
    int rc;

    if (sb__fileio_trylock(t, q))
        return 0;
    rc = reap(t, queue, queue->pending, rec, err);
    if (rc == 0)
        sb__fileio_lock(t, q);
    return rc;
}

int sb__fileio_queue_add(struct sb__fileio *t, struct sb__fileio_queue *queue,
    struct sb_rec *rec, const struct sb__fileio_req *q, struct sb_rng *rng,
    struct sb_err *err)
{
    int fd = t->file[q->file].fd, n, rc = lock(t, queue, rec, q, err);

    if (rc)
        return rc;
    struct io_uring_sqe *e = io_uring_get_sqe(&queue->ring);
    struct slot *s = queue->free;
    assert(s && e && queue->pending < queue->count);
    s->q = *q;
    sb__fileio_fill(t, s->buf, q, rng);
    if (q->write)
        io_uring_prep_write(e, fd, s->buf, (unsigned)q->size, (uint64_t)q->pos);
    else
        io_uring_prep_read(e, fd, s->buf, (unsigned)q->size, (uint64_t)q->pos);
    io_uring_sqe_set_data(e, s);
    while ((n = io_uring_submit(&queue->ring)) == -EINTR)
        ;
    if (n < 0) {
        sb__fileio_unlock(t, q);
        return sb__fileio_failed(q, -n, err);
    }
    queue->free = s->next;
    queue->pending++;
    return reap(t, queue, queue->pending == queue->count, rec, err);
}

int sb__fileio_queue_wait(struct sb__fileio *t, struct sb__fileio_queue *queue,
    struct sb_rec *rec, struct sb_err *err)
{
    return queue ? reap(t, queue, queue->pending, rec, err) : 0;
}

void sb__fileio_queue_free(struct sb__fileio *t, struct sb__fileio_queue *queue)
{
    if (!queue)
        return;
    reap(t, queue, queue->pending, NULL, NULL);
    io_uring_queue_exit(&queue->ring);
    free_slots(queue);
}

#else

int sb__fileio_queue_built(struct sb_err *err)
{
    return sb_err_set(err, SB_EUNSUPPORTED,
        "--file-io-mode=async requires io_uring, and this sysbench was built "
        "without liburing; use sync or mmap");
}

int sb__fileio_queue_new(const struct sb__fileio *t,
    struct sb__fileio_queue **queue, struct sb_err *err)
{
    return sb__fileio_queue_built(err);
}

int sb__fileio_queue_add(struct sb__fileio *t, struct sb__fileio_queue *queue,
    struct sb_rec *rec, const struct sb__fileio_req *q, struct sb_rng *rng,
    struct sb_err *err)
{
    return sb__fileio_queue_built(err);
}

int sb__fileio_queue_wait(struct sb__fileio *t, struct sb__fileio_queue *queue,
    struct sb_rec *rec, struct sb_err *err)
{
    return 0;
}

void sb__fileio_queue_free(struct sb__fileio *t, struct sb__fileio_queue *queue)
{
}

#endif
