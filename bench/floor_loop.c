// SPDX-License-Identifier: GPL-2.0-or-later
//
// The minimum cost of a prepared point select by the way in which the client
// waits for answers. The client library connects and prepares; after that, the
// program sends and receives the messages of the protocol itself and looks only
// at their types and lengths.
//   threads  a thread per connection, blocking send() and recv()
//   epoll    all connections on one thread
//   uring    the same with io_uring: a send linked to the receive after it
// Prints the queries per second. The table is sbtest1 (id, k, c, pad).
// usage: floor_loop threads|epoll|uring CONNECTIONS EVENTS TARGET TABLE_SIZE
//     EVENTS: total of all connections; 0: they only connect
//     TARGET: connection string (PostgreSQL) or socket (MySQL)
// build: cc -O2 floor_loop.c floor_loop_pgsql.c $(pkg-config --cflags --libs
//        libpq liburing) -lpthread, or with floor_loop_mysql.c and libmariadb
#define _GNU_SOURCE
#include "floor_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#define BATCH 256
#define RING  4096

static unsigned table_size;

void floor_fail(const char *what, const char *why)
{
    fprintf(stderr, "floor_loop: %s: %s\n", what, why);
    exit(1);
}

static void fail(const char *what)
{
    floor_fail(what, strerror(errno));
}

void floor_consume(struct connection *c, size_t at)
{
    memmove(c->answer, c->answer + at, c->have - at);
    c->have -= at;
}

static void make_request(struct connection *c)
{
    floor_make_request(c, 1 + (unsigned)rand_r(&c->seed) % table_size);
}

static void send_request(struct connection *c)
{
    make_request(c);
    if (send(c->fd, c->request, c->request_len, MSG_NOSIGNAL) !=
        (ssize_t)c->request_len)
        fail("send");
}

static void add_received(struct connection *c, ssize_t n)
{
    if (n <= 0)
        fail("recv");
    c->have += (size_t)n;
}

static ssize_t receive(struct connection *c)
{
    return recv(c->fd, c->answer + c->have, sizeof(c->answer) - c->have, 0);
}

static void *ask_and_block(void *arg)
{
    struct connection *c = arg;

    for (; c->events > 0; c->events--) {
        send_request(c);
        do
            add_received(c, receive(c));
        while (!floor_is_answered(c));
    }
    return NULL;
}

static void run_threads(struct connection *c, size_t n, long events)
{
    pthread_t *thread = calloc(n, sizeof(*thread));

    for (size_t i = 0; thread && i < n; i++) {
        c[i].events = events / (long)n;
        if (pthread_create(&thread[i], NULL, ask_and_block, &c[i]))
            fail("pthread_create");
    }
    for (size_t i = 0; thread && i < n; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}

static void run_epoll(struct connection *c, size_t n, long events)
{
    struct epoll_event ready[BATCH];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    long sent = 0, answered = 0;

    for (size_t i = 0; i < n; i++) {
        struct epoll_event e = { .events = EPOLLIN | EPOLLET,
            .data.ptr = &c[i] };

        if (epoll_ctl(epoll, EPOLL_CTL_ADD, c[i].fd, &e))
            fail("epoll_ctl");
    }
    for (size_t i = 0; i < n && sent < events; i++, sent++)
        send_request(&c[i]);
    while (answered < events) {
        int count = epoll_wait(epoll, ready, BATCH, -1);

        for (int i = 0; i < count; i++) {
            struct connection *one = ready[i].data.ptr;
            ssize_t got = receive(one);

            if (got < 0 && errno == EAGAIN)
                continue;
            add_received(one, got);
            if (!floor_is_answered(one))
                continue;
            answered++;
            if (sent++ < events)
                send_request(one);
        }
    }
}

// Returns the first of n entries, which the kernel gets in one submission: a
// link does not reach into the next one.
static struct io_uring_sqe *entries(struct io_uring *ring, unsigned n)
{
    if (io_uring_sq_space_left(ring) < n)
        io_uring_submit(ring);
    return io_uring_get_sqe(ring);
}

static void queue_receive(struct io_uring *ring, struct connection *c)
{
    struct io_uring_sqe *s = entries(ring, 1);

    io_uring_prep_recv(
        s, c->fd, c->answer + c->have, sizeof(c->answer) - c->have, 0);
    io_uring_sqe_set_data(s, c);
}

static void queue_request(struct io_uring *ring, struct connection *c)
{
    struct io_uring_sqe *s = entries(ring, 2);

    make_request(c);
    io_uring_prep_send(s, c->fd, c->request, c->request_len, MSG_NOSIGNAL);
    s->flags |= IOSQE_CQE_SKIP_SUCCESS | IOSQE_IO_LINK;
    io_uring_sqe_set_data(s, NULL); // completes only if it fails
    queue_receive(ring, c);
}

static void run_uring(struct connection *c, size_t n, long events)
{
    struct io_uring_params params = { .flags = IORING_SETUP_SINGLE_ISSUER |
                                               IORING_SETUP_DEFER_TASKRUN };
    struct io_uring ring;
    long sent = 0, answered = 0;

    errno = -io_uring_queue_init_params(RING, &ring, &params);
    if (errno)
        fail("io_uring");
    for (size_t i = 0; i < n && sent < events; i++, sent++)
        queue_request(&ring, &c[i]);
    while (answered < events) {
        struct io_uring_cqe *done;
        unsigned head, seen = 0;

        io_uring_submit_and_wait(&ring, 1);
        io_uring_for_each_cqe(&ring, head, done)
        {
            struct connection *one = io_uring_cqe_get_data(done);

            seen++;
            errno = -done->res;
            add_received(one, one ? done->res : -1);
            if (!floor_is_answered(one)) {
                queue_receive(&ring, one);
                continue;
            }
            answered++;
            if (sent++ < events)
                queue_request(&ring, one);
        }
        io_uring_cq_advance(&ring, seen);
    }
    io_uring_queue_exit(&ring);
}

static void set_blocking(const struct connection *c, bool on)
{
    int flags = fcntl(c->fd, F_GETFL);

    fcntl(c->fd, F_SETFL, on ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    size_t n = argc == 6 ? strtoul(argv[2], NULL, 10) : 0;
    struct connection *c = n ? calloc(n, sizeof(*c)) : NULL;

    if (!c || !strchr("teu", argv[1][0])) {
        fprintf(stderr,
            "usage: floor_loop threads|epoll|uring CONNECTIONS EVENTS %s "
            "TABLE_SIZE\n",
            floor_target);
        return 2;
    }
    long events = strtol(argv[3], NULL, 10) / (long)n * (long)n;

    table_size = (unsigned)strtoul(argv[5], NULL, 10);
    for (size_t i = 0; i < n; i++) {
        c[i].fd = floor_dial(&c[i], argv[4]);
        c[i].seed = (unsigned)i + 1;
        set_blocking(&c[i], argv[1][0] != 'e');
    }
    double start = wall();

    (argv[1][0] == 't'      ? run_threads
        : argv[1][0] == 'e' ? run_epoll
                            : run_uring)(c, n, events);
    printf("queries/s=%.0f\n", (double)events / (wall() - start));
    return 0;
}
