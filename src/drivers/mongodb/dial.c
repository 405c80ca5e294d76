// SPDX-License-Identifier: GPL-2.0-or-later
//
// Connects sockets in small steps, so that another thread can cancel it and
// other users can run meanwhile.
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "drivers/mongodb/internal.h"
#include "kit/clock.h"
#include "kit/sock.h"

// How often a connect in progress checks whether it was canceled.
#define TICK_NS UINT64_C(50000000)
// How often to try again if the queue of a Unix socket is full.
#define AGAIN_NS UINT64_C(10000000)

// Whether to go on: 0, ECANCELED or ETIMEDOUT.
static int check_dial(struct sbmo_conn *c, uint64_t deadline)
{
    if (sbmo_canceled(c))
        return ECANCELED;
    return sb_clock_monotonic() >= deadline ? ETIMEDOUT : 0;
}

// Waits until the connection is established. 0 or errno.
static int wait_connected(struct sbmo_conn *c, int fd, uint64_t deadline)
{
    socklen_t len = sizeof(int);
    int why = 0, n;

    do {
        n = c->host->wait(fd, POLLOUT, sb_clock_until(deadline, TICK_NS));
        why = n < 0 ? -n : check_dial(c, deadline);
    } while (n == 0 && why == 0);
    if (n <= 0 || why == ECANCELED)
        return why;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) ? errno : why;
}

// Connects a Unix socket. 0 or errno: EAGAIN if the server's queue of
// connections was full until the deadline.
static int connect_unix(struct sbmo_conn *c, int fd, const struct sockaddr *to,
    socklen_t len, uint64_t deadline)
{
    while (connect(fd, to, len)) {
        int why = errno, over;

        if (!sb_sock_would_block(why))
            return why;
        c->host->sleep(sb_clock_until(deadline, AGAIN_NS));
        over = check_dial(c, deadline);
        if (over)
            return over == ETIMEDOUT ? why : over;
    }
    return 0;
}

// Connects a socket of TCP. 0 or errno.
static int connect_tcp(struct sbmo_conn *c, int fd, const struct sockaddr *to,
    socklen_t len, uint64_t deadline)
{
    if (connect(fd, to, len) == 0)
        return 0;
    return errno == EINPROGRESS || errno == EINTR
               ? wait_connected(c, fd, deadline)
               : errno;
}

// Returns a connected descriptor, or -1 with errno.
static int dial(struct sbmo_conn *c, int family, int protocol,
    const struct sockaddr *to, socklen_t len)
{
    uint64_t deadline = sbmo_deadline(c->env->connect_ms);
    int fd = socket(
        family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    int why;

    if (fd < 0)
        return -1;
    why = family == AF_UNIX ? connect_unix(c, fd, to, len, deadline)
                            : connect_tcp(c, fd, to, len, deadline);
    if (why == 0 && fcntl(fd, F_SETFL, 0))
        why = errno;
    if (why == 0)
        return fd;
    close(fd);
    errno = why;
    return -1;
}

static void tune(int fd)
{
    // Detects a vanished peer after 3.5 minutes.
    static const int on = 1, idle = 120, interval = 10, count = 9;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

int sbmo_no_socket(const char *where, bson_error_t *error)
{
    bson_set_error(error, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_CONNECT,
        "%s: %s", where, strerror(errno));
    return -1;
}

struct lookup {
    const mongoc_host_list_t *host;
    struct addrinfo *list;
    int rc; // of getaddrinfo()
};

static void look_up(void *arg)
{
    struct lookup *l = arg;
    struct addrinfo hints = { .ai_family = l->host->family,
        .ai_socktype = SOCK_STREAM };
    char port[8];

    snprintf(port, sizeof(port), "%u", (unsigned)l->host->port);
    l->rc = getaddrinfo(l->host->host, port, &hints, &l->list);
}

// The addresses of a host, to be freed with freeaddrinfo(); NULL: *error.
static struct addrinfo *addresses_of(
    struct sbmo_conn *c, const mongoc_host_list_t *host, bson_error_t *error)
{
    struct lookup l = { .host = host };

    if (sb_sock_is_numeric(host->host))
        look_up(&l);
    else if (sbmo_apart(c, look_up, &l, error))
        return NULL;
    if (l.rc == 0)
        return l.list;
    bson_set_error(error, MONGOC_ERROR_STREAM,
        MONGOC_ERROR_STREAM_NAME_RESOLUTION, "%s: %s", host->host_and_port,
        gai_strerror(l.rc));
    return NULL;
}

static int dial_tcp(
    struct sbmo_conn *c, const mongoc_host_list_t *host, bson_error_t *error)
{
    struct addrinfo *list = addresses_of(c, host, error);
    int fd = -1;

    if (!list)
        return -1;
    for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        if (sbmo_canceled(c))
            errno = ECANCELED;
        else
            fd = dial(
                c, a->ai_family, a->ai_protocol, a->ai_addr, a->ai_addrlen);
    }
    if (fd < 0)
        sbmo_no_socket(host->host_and_port, error);
    else
        tune(fd);
    freeaddrinfo(list);
    return fd;
}

static int dial_unix(
    struct sbmo_conn *c, const mongoc_host_list_t *host, bson_error_t *error)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = -1;

    errno = ENAMETOOLONG;
    if (strlen(host->host) < sizeof(to.sun_path)) {
        memcpy(to.sun_path, host->host, strlen(host->host) + 1);
        fd = dial(c, AF_UNIX, 0, (const struct sockaddr *)&to, sizeof(to));
    }
    if (fd >= 0)
        return fd;
    if (!sb_sock_would_block(errno))
        return sbmo_no_socket(host->host, error);
    bson_set_error(error, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_CONNECT,
        "%s: the server's queue of connections was full for %.3g s", host->host,
        c->env->connect_ms / 1e3);
    return -1;
}

int sbmo_dial(
    struct sbmo_conn *c, const mongoc_host_list_t *host, bson_error_t *error)
{
    return host->family == AF_UNIX ? dial_unix(c, host, error)
                                   : dial_tcp(c, host, error);
}
