// SPDX-License-Identifier: GPL-2.0-or-later
//
// The server's side of the sockets. This file defines connect(), send(), recv()
// and poll(). Client libraries also call them, because symbols of the program
// precede those of libraries. The descriptors are real, so all other calls work
// as usual.
#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hostile.h"

#define CONNECTIONS 16u
#define ANSWERS_MAX 1000u // per input; then the server closes connections
#define PUBLIC      __attribute__((visibility("default")))

// One connection.
struct line {
    int client, server; // descriptors
    struct hostile_session session;
    struct hostile_bytes in, out; // requests received, answers to be sent
    size_t pieces;
    bool close;    // after `out` has been sent
    bool answered; // recording: the last turn has an answer
};

static struct server {
    pthread_mutex_t lock; // a driver may load rows in a separate thread
    bool on;
    const struct hostile_protocol *proto;
    struct hostile_tape *tape;
    const uint8_t *input;
    size_t size;
    const char *real;
    struct line line[CONNECTIONS];
    unsigned lines;
    unsigned at;     // the next turn
    unsigned number; // answers so far
} server = { .lock = PTHREAD_MUTEX_INITIALIZER };

// The original functions ----------------------------------------------------

#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

static struct {
    int (*connect)(int, const struct sockaddr *, socklen_t);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*recv)(int, void *, size_t, int);
    int (*poll)(struct pollfd *, nfds_t, int);
} next;

static void find_next(void)
{
    if (next.poll)
        return;
    next.connect = NEXT(connect);
    next.send = NEXT(send);
    next.recv = NEXT(recv);
    next.poll = NEXT(poll);
}

static void drop(struct line *l)
{
    close(l->server);
    free(l->in.data);
    free(l->out.data);
    *l = server.line[--server.lines];
}

static struct line *find(int fd)
{
    for (unsigned i = 0; i < server.lines; i++) {
        if (server.line[i].client == fd)
            return &server.line[i];
    }
    return NULL;
}

// Answers -------------------------------------------------------------------

static void answer(struct line *l, const uint8_t *request, size_t len)
{
    struct hostile_tape *t = server.tape;
    struct hostile_bytes bytes = { 0 };
    struct hostile_fate fate;
    unsigned turn = hostile_tape_find(t, server.at, request, len);

    if (server.number >= ANSWERS_MAX) {
        l->close = true;
        return;
    }
    hostile_add(&bytes, t->turn[turn].answer.data, t->turn[turn].answer.len);
    server.at = turn + 1;
    fate = hostile_change(
        server.proto, t, server.input, server.size, server.number++, &bytes);
    hostile_add(&l->out, bytes.data, bytes.len);
    free(bytes.data);
    l->close = l->close || fate.close;
    l->pieces = fate.pieces;
}

static void add_turn(const uint8_t *request, size_t len)
{
    struct hostile_tape *t = server.tape;
    struct hostile_turn *turn = &t->turn[t->n];

    if (t->n == HOSTILE_TURNS) {
        fprintf(stderr, "the conversation is too long for a recording\n");
        abort();
    }
    t->n++;
    turn->request_len = len < HOSTILE_REQUEST ? len : HOSTILE_REQUEST;
    if (len > 0)
        memcpy(turn->request, request, turn->request_len);
}

// Handles the complete requests in l->in and removes them.
static void take_requests(struct line *l)
{
    size_t len;
    bool answered;

    while (l->in.len > 0 && (len = server.proto->request(&l->session,
                                 l->in.data, l->in.len, &answered)) > 0) {
        if (answered && server.real)
            add_turn(l->in.data, len);
        else if (answered)
            answer(l, l->in.data, len);
        hostile_splice(&l->in, 0, len, NULL, 0);
    }
}

// Reads and handles what the client has sent. Returns false if the client has
// closed its end.
static bool read_client(struct line *l)
{
    uint8_t buf[4096];
    ssize_t n;
    bool open;

    while ((n = next.recv(l->server, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
        hostile_add(&l->in, buf, (size_t)n);
    open = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    take_requests(l);
    return open;
}

static bool client_has_bytes(const struct line *l)
{
    int n = 0;

    return ioctl(l->client, FIONREAD, &n) == 0 && n > 0;
}

// Sends the client the next part of the answers. waits: the client will block
// until it receives something; if there is nothing to send, the connection is
// closed.
static void serve(int fd, bool waits)
{
    struct line *l = find(fd);
    size_t n;

    if (!l || server.real)
        return;
    if (!read_client(l)) {
        drop(l);
        return;
    }
    if (client_has_bytes(l))
        return;
    n = l->pieces && l->pieces < l->out.len ? l->pieces : l->out.len;
    if (n > 0) {
        ssize_t sent = next.send(
            l->server, l->out.data, n, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent > 0)
            hostile_splice(&l->out, 0, (size_t)sent, NULL, 0);
        else
            l->out.len = 0;
    }
    if (l->out.len == 0 && (l->close || (n == 0 && waits)))
        shutdown(l->server, SHUT_RDWR);
}

// Connections ---------------------------------------------------------------

static bool for_us(const struct sockaddr *a)
{
    const struct sockaddr_un *un = (const struct sockaddr_un *)a;

    return a->sa_family == AF_UNIX &&
           strncmp(un->sun_path, HOSTILE_FOLDER, strlen(HOSTILE_FOLDER)) == 0;
}

static struct line *add_line(int client, int other)
{
    struct line *l = find(client);

    if (l)
        drop(l); // its descriptor was closed and reused
    if (server.lines == CONNECTIONS)
        return NULL;
    l = &server.line[server.lines++];
    *l = (struct line){ .client = client, .server = other };
    return l;
}

// Makes the client's socket one end of a socket pair.
static int connect_here(int fd)
{
    int pair[2], flags = fcntl(fd, F_GETFL), more = fcntl(fd, F_GETFD);
    struct line *l;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return -1;
    if (dup2(pair[0], fd) < 0 || fcntl(fd, F_SETFL, flags) ||
        fcntl(fd, F_SETFD, more))
        abort();
    close(pair[0]);
    l = add_line(fd, pair[1]);
    if (!l) {
        close(pair[1]);
        errno = ECONNREFUSED;
        return -1;
    }
    if (server.proto->speaks_first)
        answer(l, NULL, 0);
    return 0;
}

static int connect_real(int fd)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", server.real);
    if (next.connect(fd, (struct sockaddr *)&a, sizeof(a)))
        return -1;
    add_line(fd, dup(STDERR_FILENO));
    if (server.proto->speaks_first)
        add_turn(NULL, 0);
    return 0;
}

PUBLIC int connect(int fd, const struct sockaddr *a, socklen_t len)
{
    int rc;

    find_next();
    if (!server.on || !for_us(a))
        return next.connect(fd, a, len);
    pthread_mutex_lock(&server.lock);
    rc = server.real ? connect_real(fd) : connect_here(fd);
    pthread_mutex_unlock(&server.lock);
    return rc;
}

// Traffic -------------------------------------------------------------------

static void record_request(int fd, const void *data, ssize_t n)
{
    struct line *l = find(fd);

    if (!server.real || !l || n <= 0)
        return;
    hostile_add(&l->in, data, (size_t)n);
    take_requests(l);
}

static void record_answer(int fd, const void *data, ssize_t n)
{
    struct hostile_tape *t = server.tape;

    if (server.real && find(fd) && n > 0)
        hostile_add(&t->turn[t->n - 1].answer, data, (size_t)n);
}

PUBLIC ssize_t send(int fd, const void *data, size_t len, int flags)
{
    ssize_t n;

    find_next();
    n = next.send(fd, data, len, flags);
    if (!server.on)
        return n;
    pthread_mutex_lock(&server.lock);
    record_request(fd, data, n);
    if (!server.real)
        // The server reads at once, so that the socket's buffer never fills.
        serve(fd, false);
    pthread_mutex_unlock(&server.lock);
    return n;
}

static bool may_wait(int fd, int flags)
{
    return !(flags & MSG_DONTWAIT) && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

PUBLIC ssize_t recv(int fd, void *data, size_t len, int flags)
{
    ssize_t n;

    find_next();
    if (!server.on)
        return next.recv(fd, data, len, flags);
    pthread_mutex_lock(&server.lock);
    serve(fd, may_wait(fd, flags));
    pthread_mutex_unlock(&server.lock);
    n = next.recv(fd, data, len, flags);
    pthread_mutex_lock(&server.lock);
    record_answer(fd, data, n);
    pthread_mutex_unlock(&server.lock);
    return n;
}

PUBLIC int poll(struct pollfd *p, nfds_t n, int ms)
{
    find_next();
    if (!server.on)
        return next.poll(p, n, ms);
    pthread_mutex_lock(&server.lock);
    for (nfds_t i = 0; i < n; i++)
        serve(p[i].fd, ms != 0 && !(p[i].events & POLLOUT));
    pthread_mutex_unlock(&server.lock);
    return next.poll(p, n, ms);
}

// Begin and end -------------------------------------------------------------

void hostile_begin(const struct hostile_protocol *proto,
    struct hostile_tape *tape, const uint8_t *input, size_t size,
    const char *real)
{
    find_next();
    server.proto = proto;
    server.tape = tape;
    server.input = input;
    server.size = size;
    server.real = real;
    server.at = server.number = 0;
    server.on = true;
}

unsigned hostile_end(void)
{
    unsigned open = 0;

    server.on = false;
    while (server.lines > 0) {
        if (!server.real && read_client(&server.line[0]))
            open++;
        drop(&server.line[0]);
    }
    return open;
}
