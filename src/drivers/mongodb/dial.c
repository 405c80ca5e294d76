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

#include "base/sock.h"
#include "drivers/mongodb/mongodb_priv.h"
#include "kit/clock.h"

// Interval at which a connect in progress checks for a cancel.
#define TICK_NS UINT64_C(50000000)

// Waits until the connection is established. 0 or errno.
static int wait_connected(struct sbmo_conn *c, int fd)
{
    uint64_t end = sb_clock_monotonic() +
                   (uint64_t)c->env->connect_ms * 1000000;
    socklen_t len = sizeof(int);
    int why = 0, n;
    bool late;

    do {
        uint64_t now = sb_clock_monotonic();

        late = now >= end;
        n = c->host->wait(fd, POLLOUT, now + TICK_NS);
        if (sbmo_canceled(c))
            return ECANCELED;
        if (n < 0)
            return -n;
    } while (n == 0 && !late);
    if (n == 0)
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) ? errno : why;
}

// Returns a connected descriptor, or -1 with errno.
static int dial(struct sbmo_conn *c, int family, int protocol,
    const struct sockaddr *to, socklen_t len)
{
    int fd = socket(
        family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    int why = 0;

    if (fd < 0)
        return -1;
    if (connect(fd, to, len)) {
        why = errno;
        if (why == EINPROGRESS || why == EINTR)
            why = wait_connected(c, fd);
    }
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
// Looking up a name blocks, so a helper thread does it.
static struct addrinfo *addresses_of(
    struct sbmo_conn *c, const mongoc_host_list_t *host, bson_error_t *error)
{
    uint64_t end = sb_clock_monotonic() +
                   (uint64_t)c->env->connect_ms * 1000000;
    struct lookup l = { .host = host, .rc = EAI_AGAIN };

    if (sb_sock_is_numeric(host->host))
        look_up(&l);
    else
        c->host->apart(look_up, NULL, &l, end);
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
    return fd < 0 ? sbmo_no_socket(host->host, error) : fd;
}

int sbmo_dial(
    struct sbmo_conn *c, const mongoc_host_list_t *host, bson_error_t *error)
{
    return host->family == AF_UNIX ? dial_unix(c, host, error)
                                   : dial_tcp(c, host, error);
}
