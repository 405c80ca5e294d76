// SPDX-License-Identifier: GPL-2.0-or-later
//
// The minimum cost of a prepared point select on PostgreSQL by the way in which
// the client waits for answers. libpq connects and prepares; after that, the
// program sends and receives the messages of the protocol itself and looks only
// at their types and lengths.
//   threads  a thread per connection, blocking send() and recv()
//   epoll    all connections on one thread
//   uring    the same with io_uring: a send linked to the receive after it
// Prints the queries per second. The table is sbtest1 (id, k, c, pad).
// usage: floor_loop threads|epoll|uring CONNECTIONS EVENTS CONNINFO TABLE_SIZE
//     EVENTS: total of all connections; 0: they only connect
// build: cc -O2 floor_loop.c -o floor_loop $(pkg-config --cflags --libs libpq
//        liburing) -lpthread
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <liburing.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#define INT4  23 // OID of the type
#define BATCH 256

struct connection {
    int fd;
    unsigned seed;
    long events; // that are left; of run_threads()
    size_t request_len, have;
    unsigned char request[64], answer[8192];
};

static unsigned table_size;

static void fail(const char *what)
{
    fprintf(stderr, "floor_loop: %s: %s\n", what, strerror(errno));
    exit(1);
}

static unsigned char *put32(unsigned char *to, uint32_t value)
{
    value = htonl(value);
    memcpy(to, &value, sizeof(value));
    return to + sizeof(value);
}

// Bind of a binary int4 to statement "s" with a binary result, Execute, Sync.
static void make_request(struct connection *c)
{
    static const unsigned char names[] = { 0, 's', 0 };
    static const unsigned char formats[] = { 0, 1, 0, 1, 0, 1 };
    static const unsigned char result_formats[] = { 0, 1, 0, 0 };
    unsigned char *p = c->request;

    *p++ = 'B';
    p = put32(p,
        4 + sizeof(names) + sizeof(formats) + 4 + 4 + sizeof(result_formats));
    p = mempcpy(p, names, sizeof(names));
    p = mempcpy(p, formats, sizeof(formats));
    p = put32(p, 4);
    p = put32(p, 1 + (unsigned)rand_r(&c->seed) % table_size);
    p = mempcpy(p, result_formats, sizeof(result_formats));
    *p++ = 'E';
    p = put32(p, 9);
    *p++ = 0;
    p = put32(p, 0);
    *p++ = 'S';
    p = put32(p, 4);
    c->request_len = (size_t)(p - c->request);
}

// Consumes the complete messages. Returns true after ReadyForQuery.
static bool is_answered(struct connection *c)
{
    size_t at = 0;
    bool ready = false;

    while (c->have - at >= 5) {
        uint32_t len;

        memcpy(&len, c->answer + at + 1, sizeof(len));
        len = 1 + ntohl(len);
        if (c->have - at < len)
            break;
        if (c->answer[at] == 'E') {
            errno = EPROTO;
            fail("the server reports an error");
        }
        ready = c->answer[at] == 'Z';
        at += len;
    }
    memmove(c->answer, c->answer + at, c->have - at);
    c->have -= at;
    return ready;
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
        while (!is_answered(c));
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
            if (!is_answered(one))
                continue;
            answered++;
            if (sent++ < events)
                send_request(one);
        }
    }
}

static void queue_receive(struct io_uring *ring, struct connection *c)
{
    struct io_uring_sqe *s = io_uring_get_sqe(ring);

    io_uring_prep_recv(
        s, c->fd, c->answer + c->have, sizeof(c->answer) - c->have, 0);
    io_uring_sqe_set_data(s, c);
}

static void queue_request(struct io_uring *ring, struct connection *c)
{
    struct io_uring_sqe *s = io_uring_get_sqe(ring);

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

    errno = -io_uring_queue_init_params(4096, &ring, &params);
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
            if (!is_answered(one)) {
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

static void connect_one(
    struct connection *c, const char *conninfo, unsigned seed, bool wait)
{
    PGconn *db = PQconnectdb(conninfo);
    PGresult *r = PQprepare(
        db, "s", "SELECT c FROM sbtest1 WHERE id=$1", 1, (Oid[]){ INT4 });

    if (PQresultStatus(r) != PGRES_COMMAND_OK) {
        fprintf(stderr, "floor_loop: %s", PQerrorMessage(db));
        exit(1);
    }
    PQclear(r);
    c->fd = PQsocket(db);
    c->seed = seed;
    int flags = fcntl(c->fd, F_GETFL);

    fcntl(c->fd, F_SETFL, wait ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
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
        fputs("usage: floor_loop threads|epoll|uring CONNECTIONS EVENTS "
              "CONNINFO TABLE_SIZE\n",
            stderr);
        return 2;
    }
    long events = strtol(argv[3], NULL, 10) / (long)n * (long)n;

    table_size = (unsigned)strtoul(argv[5], NULL, 10);
    for (size_t i = 0; i < n; i++)
        connect_one(&c[i], argv[4], (unsigned)i + 1, argv[1][0] != 'e');
    double start = wall();

    (argv[1][0] == 't'      ? run_threads
        : argv[1][0] == 'e' ? run_epoll
                            : run_uring)(c, n, events);
    printf("queries/s=%.0f\n", (double)events / (wall() - start));
    return 0;
}
