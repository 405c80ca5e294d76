// SPDX-License-Identifier: GPL-2.0-or-later
//
// The sockets that the library uses. They belong to the driver, so that another
// thread can shut them down to end a hanging call. The core waits for them and
// may run other users meanwhile. They read ahead, so that a command needs only
// one system call to send and one to receive.
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "drivers/mongodb/internal.h"
#include "kit/clock.h"
#include "kit/sock.h"

// Puts TLS on a stream.

#ifdef MONGOC_ENABLE_SSL
bool sbmo_is_encrypted(const mongoc_uri_t *uri)
{
    const char *how = mongoc_uri_get_auth_mechanism(uri);

    return mongoc_uri_get_tls(uri) || (how && strcmp(how, "MONGODB-X509") == 0);
}

static mongoc_ssl_opt_t mo_options_of(const mongoc_uri_t *uri)
{
    bool any = mongoc_uri_get_option_as_bool(
        uri, MONGOC_URI_TLSINSECURE, false);

    return (mongoc_ssl_opt_t){
        .pem_file = mongoc_uri_get_option_as_utf8(
            uri, MONGOC_URI_TLSCERTIFICATEKEYFILE, NULL),
        .pem_pwd = mongoc_uri_get_option_as_utf8(
            uri, MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD, NULL),
        .ca_file = mongoc_uri_get_option_as_utf8(
            uri, MONGOC_URI_TLSCAFILE, NULL),
        .weak_cert_validation = mongoc_uri_get_option_as_bool(
            uri, MONGOC_URI_TLSALLOWINVALIDCERTIFICATES, any),
        .allow_invalid_hostname = mongoc_uri_get_option_as_bool(
            uri, MONGOC_URI_TLSALLOWINVALIDHOSTNAMES, any),
    };
}

struct wrap {
    mongoc_stream_t *base, *over;
    const char *host;
    mongoc_ssl_opt_t options;
};

// Reads and parses the certificates: those of the system take 40 ms.
static void mo_wrap(void *arg)
{
    struct wrap *w = arg;

    w->over = mongoc_stream_tls_new_with_hostname(
        w->base, w->host, &w->options, 1);
}

// Returns a stream on top of `base`, or NULL with *error; then `base` is gone.
static mongoc_stream_t *encrypt_stream(struct sbmo_conn *c,
    mongoc_stream_t *base, const mongoc_uri_t *uri,
    const mongoc_host_list_t *host, bson_error_t *error)
{
    struct wrap w = {
        .base = base, .host = host->host, .options = mo_options_of(uri)
    };
    bson_error_t why = { 0 };

    if (sbmo_apart(c, mo_wrap, &w, error)) {
        mongoc_stream_destroy(base);
        return NULL;
    }
    if (!w.over) {
        bson_set_error(error, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_CONNECT,
            "%s: TLS setup failed; are the certificate files "
            "right?",
            host->host_and_port);
        mongoc_stream_destroy(base);
        return NULL;
    }
    if (mongoc_stream_tls_handshake_block(
            w.over, host->host, c->env->connect_ms, &why))
        return w.over;
    bson_set_error(error, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_CONNECT,
        "%s: %s", host->host_and_port, why.message);
    mongoc_stream_destroy(w.over);
    return NULL;
}
#else
bool sbmo_is_encrypted(const mongoc_uri_t *uri)
{
    return mongoc_uri_get_tls(uri);
}

static mongoc_stream_t *encrypt_stream(struct sbmo_conn *c,
    mongoc_stream_t *base, const mongoc_uri_t *uri,
    const mongoc_host_list_t *host, bson_error_t *error)
{
    bson_set_error(error, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_CONNECT,
        "%s: this client library was built without TLS", host->host_and_port);
    mongoc_stream_destroy(base);
    return NULL;
}
#endif

// Connects sockets in small steps, so that another thread can cancel it and
// other users can run meanwhile.

// How often a connect in progress checks whether it was canceled.
#define TICK_NS UINT64_C(50000000)
// How often to try again if the queue of a Unix socket is full.
#define AGAIN_NS UINT64_C(10000000)

// Whether to go on: 0, ECANCELED or ETIMEDOUT.
static int mo_check_dial(struct sbmo_conn *c, uint64_t deadline)
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
        why = n < 0 ? -n : mo_check_dial(c, deadline);
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
        over = mo_check_dial(c, deadline);
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
static int mo_dial(struct sbmo_conn *c, int family, int protocol,
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

// Puts "where: errno's text" into *error and returns -1.
static int sbmo_no_socket(const char *where, bson_error_t *error)
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
            fd = mo_dial(
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
        fd = mo_dial(c, AF_UNIX, 0, (const struct sockaddr *)&to, sizeof(to));
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

// Connects. Returns a blocking descriptor, or -1 with *error.
static int sbmo_dial(
    struct sbmo_conn *c, const mongoc_host_list_t *host, bson_error_t *error)
{
    return host->family == AF_UNIX ? dial_unix(c, host, error)
                                   : dial_tcp(c, host, error);
}

#define STREAM_TYPE 0x5b62u // not one of the library's types
#define AHEAD       16384u
// Timeout for an answer while disconnecting.
#define LEAVE_MS 500

struct sbmo_sock {
    mongoc_stream_t base; // first: the library's handle
    struct sbmo_conn *c;
    struct sbmo_sock *next; // of the connection, under its guard
    int fd;                 // -1: closed
    int32_t receive_ms;     // its SO_RCVTIMEO; 0: none
    bool local;             // a unix socket (kit/sock.h)
    bool timed_out, again;  // how the last call failed
    char *name;             // "host:port"
    size_t at, len;         // unread bytes of ahead[]
    uint8_t ahead[AHEAD];
};

static struct sbmo_sock *mo_own(mongoc_stream_t *stream)
{
    return (struct sbmo_sock *)stream;
}

// The list -------------------------------------------------------------------

static void mo_list_add(struct sbmo_sock *s)
{
    sb_spin_lock(&s->c->guard);
    s->next = s->c->socks;
    s->c->socks = s;
    sb_spin_unlock(&s->c->guard);
}

static void mo_list_remove(struct sbmo_sock *s)
{
    struct sbmo_sock **p = &s->c->socks;

    sb_spin_lock(&s->c->guard);
    while (*p && *p != s)
        p = &(*p)->next;
    if (*p)
        *p = s->next;
    sb_spin_unlock(&s->c->guard);
}

void sbmo_streams_cancel(struct sbmo_conn *c)
{
    sb_spin_lock(&c->guard);
    for (struct sbmo_sock *s = c->socks; s; s = s->next)
        shutdown(s->fd, SHUT_RDWR);
    sb_spin_unlock(&c->guard);
}

const char *sbmo_stream_last(const struct sbmo_conn *c)
{
    return c->last_name[0] ? c->last_name : NULL;
}

int sbmo_stream_socket(const struct sbmo_conn *c)
{
    return c->last ? c->last->fd : -1;
}

// Reading and writing --------------------------------------------------------

// In a thread of its own, a recv() that ends by itself saves a poll() before
// it. The library passes a timeout with each call; it rarely changes.
static void mo_set_limit(struct sbmo_sock *s, int32_t ms)
{
    struct timeval t = { .tv_sec = ms / 1000,
        .tv_usec = (suseconds_t)(ms % 1000) * 1000 };

    if (ms == s->receive_ms)
        return;
    setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
    s->receive_ms = ms;
}

static int32_t mo_allowed(const struct sbmo_sock *s, int32_t ms)
{
    return s->c->leaving && (ms < 0 || ms > LEAVE_MS) ? LEAVE_MS : ms;
}

// How long a call of the library may take, with all its parts.
struct limit {
    int32_t ms; // 0: does not wait
    uint64_t deadline;
    bool whole; // no part of the time has been waited for
};

static struct limit limit_of(const struct sbmo_sock *s, int32_t ms)
{
    struct limit l = { .ms = mo_allowed(s, ms), .whole = true };

    l.deadline = sbmo_deadline(l.ms);
    return l;
}

static void note_failure(struct sbmo_sock *s, const struct limit *l)
{
    bool none = sb_sock_would_block(errno);

    s->again = none && l->ms == 0;
    s->timed_out = none && l->ms != 0;
    if (s->timed_out)
        errno = ETIMEDOUT;
    if (s->again)
        return;
    s->c->why = errno;
    s->c->broken = true;
}

// Skips `done` bytes; true if more are left.
static bool skip(mongoc_iovec_t **iov, size_t *n, size_t done)
{
    while (*n > 0 && done >= (*iov)->iov_len) {
        done -= (*iov)->iov_len;
        (*iov)++;
        (*n)--;
    }
    if (*n == 0)
        return false;
    (*iov)->iov_base = (char *)(*iov)->iov_base + done;
    (*iov)->iov_len -= done;
    return true;
}

static void set_last(struct sbmo_sock *s)
{
    if (s->c->last == s)
        return;
    s->c->last = s;
    snprintf(s->c->last_name, sizeof(s->c->last_name), "%s", s->name);
}

// Waits until more can be sent. False: errno is set, EAGAIN after the deadline.
static bool wait_writable(struct sbmo_sock *s, const struct limit *l)
{
    int n = l->ms == 0 ? 0 : s->c->host->wait(s->fd, POLLOUT, l->deadline);

    if (n <= 0)
        errno = n < 0 ? -n : EAGAIN;
    return n > 0;
}

// Sends some bytes. Returns their number, or -1 with errno.
static ssize_t send_some(
    struct sbmo_sock *s, mongoc_iovec_t *iov, size_t n, const struct limit *l)
{
    struct msghdr m = { .msg_iov = (struct iovec *)iov,
        .msg_iovlen = n < 64 ? n : 64 };
    ssize_t sent;

    do {
        sent = sendmsg(s->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && (errno == EINTR || (sb_sock_would_block(errno) &&
                                                wait_writable(s, l))));
    return sent;
}

static ssize_t stream_writev(
    mongoc_stream_t *stream, mongoc_iovec_t *iov, size_t n, int32_t timeout)
{
    struct sbmo_sock *s = mo_own(stream);
    struct limit l = limit_of(s, timeout);
    ssize_t sum = 0;
    bool more = skip(&iov, &n, 0);

    s->timed_out = s->again = false;
    set_last(s);
    while (more) {
        ssize_t done = send_some(s, iov, n, &l);

        if (done < 0) {
            note_failure(s, &l);
            return sum > 0 && s->again ? sum : -1;
        }
        sum += done;
        more = skip(&iov, &n, (size_t)done);
    }
    return sum;
}

// Copies bytes that were read ahead into iov.
static size_t take_ahead(struct sbmo_sock *s, mongoc_iovec_t *iov)
{
    size_t n = s->len < iov->iov_len ? s->len : iov->iov_len;

    memcpy(iov->iov_base, s->ahead + s->at, n);
    s->at += n;
    s->len -= n;
    return n;
}

// Receives without waiting.
static ssize_t receive_now(struct sbmo_sock *s, void *in, size_t cap)
{
    ssize_t n;

    do {
        n = recv(s->fd, in, cap, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    return n;
}

// Waits until at least one byte has arrived. Returns -1 with errno after an
// error: EAGAIN after the deadline; ETIMEDOUT if the kernel has ended the
// connection before the deadline.
static ssize_t receive_within(
    struct sbmo_sock *s, void *in, size_t cap, struct limit *l)
{
    struct sb_exchange x = { .fd = s->fd,
        .poll_first = s->local,
        .times_out = l->whole,
        .in = in,
        .cap = cap,
        .deadline = l->deadline };
    ssize_t n;

    if (l->whole)
        mo_set_limit(s, sbmo_is_limit(l->ms) ? l->ms : 0);
    l->whole = false;
    n = s->c->host->exchange(&x);
    if (n >= 0)
        return n;
    errno = n == -ETIMEDOUT && sb_clock_monotonic() >= x.deadline ? EAGAIN
                                                                  : (int)-n;
    return -1;
}

// Fills iov with further bytes. If iov has room for AHEAD bytes, receives
// directly into it; otherwise receives into ahead[], which is empty, and copies
// from there. Returns the number of bytes in iov; 0: the peer has closed the
// connection; -1: error.
static ssize_t mo_receive(
    struct sbmo_sock *s, mongoc_iovec_t *iov, struct limit *l)
{
    bool direct = iov->iov_len >= AHEAD;
    void *in = direct ? iov->iov_base : s->ahead;
    size_t cap = direct ? iov->iov_len : AHEAD;
    ssize_t n;

    assert(s->len == 0);
    n = l->ms == 0 ? receive_now(s, in, cap) : receive_within(s, in, cap, l);
    if (n < 0)
        note_failure(s, l);
    if (n <= 0 || direct)
        return n;
    s->at = 0;
    s->len = (size_t)n;
    return (ssize_t)take_ahead(s, iov);
}

static ssize_t stream_readv(mongoc_stream_t *stream, mongoc_iovec_t *iov,
    size_t n, size_t min, int32_t timeout)
{
    struct sbmo_sock *s = mo_own(stream);
    struct limit l = limit_of(s, timeout);
    size_t sum = 0;
    bool more = skip(&iov, &n, 0);

    s->timed_out = s->again = false;
    while (more) {
        ssize_t got = s->len ? (ssize_t)take_ahead(s, iov)
                             : mo_receive(s, iov, &l);

        if (got <= 0) {
            if (got == 0) {
                s->c->why = 0;
                s->c->broken = true;
                errno = ECONNRESET;
            }
            return sum >= min && (sum > 0 || min == 0) ? (ssize_t)sum : -1;
        }
        s->c->broken = false;
        sum += (size_t)got;
        more = skip(&iov, &n, (size_t)got);
        if (sum >= min && s->len == 0)
            break;
    }
    return (ssize_t)sum;
}

// Called for a stream that was idle for a while. The library silently drops a
// closed one and looks for a server.
static bool stream_check_closed(mongoc_stream_t *stream)
{
    struct sbmo_sock *s = mo_own(stream);
    char byte;
    ssize_t n;

    if (s->fd < 0)
        return true;
    if (s->len)
        return false;
    n = recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n > 0 || (n < 0 && sb_sock_would_block(errno)))
        return false;
    set_last(s);
    s->c->why = n < 0 ? errno : 0;
    s->c->found_closed = true;
    return true;
}

// Called after a timeout. While disconnecting, answers are not needed, so the
// sockets are shut down.
static void stop_leaving(struct sbmo_conn *c)
{
    if (c->leaving)
        sbmo_streams_cancel(c);
}

static ssize_t stream_poll(
    mongoc_stream_poll_t *streams, size_t n, int32_t timeout)
{
    struct pollfd *p = calloc(n ? n : 1, sizeof(*p));
    ssize_t ready = 0;
    int rc;

    if (!p)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct sbmo_sock *s = mo_own(streams[i].stream);

        p[i] = (struct pollfd){ .fd = s->fd,
            .events = (short)streams[i].events };
        // Bytes that were read ahead count as well.
        if (s->len && (streams[i].events & POLLIN))
            timeout = 0;
        timeout = mo_allowed(s, timeout);
    }
    rc = sbmo_poll(
        n ? mo_own(streams[0].stream)->c->host : NULL, p, n, timeout);
    // Without this, the library would keep waiting.
    if (rc == 0 && n > 0 && timeout == LEAVE_MS)
        stop_leaving(mo_own(streams[0].stream)->c);
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        streams[i].revents = p[i].revents;
        if (mo_own(streams[i].stream)->len)
            streams[i].revents |= streams[i].events & POLLIN;
        ready += streams[i].revents != 0;
    }
    free(p);
    return rc < 0 ? -1 : ready;
}

static int stream_setsockopt(mongoc_stream_t *stream, int level, int name,
    void *value, mongoc_socklen_t len)
{
    return setsockopt(mo_own(stream)->fd, level, name, value, (socklen_t)len);
}

static bool stream_timed_out(mongoc_stream_t *stream)
{
    return mo_own(stream)->timed_out;
}

static bool stream_should_retry(mongoc_stream_t *stream)
{
    return mo_own(stream)->again;
}

static int stream_flush(mongoc_stream_t *stream)
{
    return 0;
}

static int stream_close(mongoc_stream_t *stream)
{
    struct sbmo_sock *s = mo_own(stream);

    if (s->fd < 0)
        return 0;
    mo_list_remove(s);
    if (s->c->last == s)
        s->c->last = NULL;
    close(s->fd);
    s->fd = -1;
    return 0;
}

static void stream_destroy(mongoc_stream_t *stream)
{
    struct sbmo_sock *s = mo_own(stream);

    stream_close(stream);
    free(s->name);
    free(s);
}

// Opening --------------------------------------------------------------------

static const mongoc_stream_t calls = {
    .type = (int)STREAM_TYPE,
    .destroy = stream_destroy,
    .close = stream_close,
    .flush = stream_flush,
    .writev = stream_writev,
    .readv = stream_readv,
    .setsockopt = stream_setsockopt,
    .check_closed = stream_check_closed,
    .poll = stream_poll,
    .failed = stream_destroy,
    .timed_out = stream_timed_out,
    .should_retry = stream_should_retry,
};

static struct sbmo_sock *sock_new(
    struct sbmo_conn *c, int fd, const char *name, bson_error_t *error)
{
    struct sbmo_sock *s = malloc(sizeof(*s));
    char *copy = strdup(name);

    if (!s || !copy) {
        free(s);
        free(copy);
        close(fd);
        errno = ENOMEM;
        sbmo_no_socket(name, error);
        return NULL;
    }
    // Not ahead[]: its pages may never be used.
    memset(s, 0, offsetof(struct sbmo_sock, ahead));
    s->base = calls;
    s->c = c;
    s->fd = fd;
    s->local = sb_sock_is_local(fd);
    s->name = copy;
    mo_list_add(s);
    return s;
}

static mongoc_stream_t *open_stream(struct sbmo_conn *c,
    const mongoc_uri_t *uri, const mongoc_host_list_t *host,
    bson_error_t *error)
{
    struct sbmo_sock *s;
    int fd;

    if (sbmo_canceled(c) || c->leaving) {
        errno = ECANCELED;
        sbmo_no_socket(host->host_and_port, error);
        return NULL;
    }
    fd = sbmo_dial(c, host, error);
    if (fd < 0)
        return NULL;
    s = sock_new(c, fd, host->host_and_port, error);
    if (!s)
        return NULL;
    // A cancel before this line may not have found the socket in the list.
    if (sbmo_canceled(c))
        shutdown(fd, SHUT_RDWR);
    return sbmo_is_encrypted(uri)
               ? encrypt_stream(c, &s->base, uri, host, error)
               : &s->base;
}

// The library repeats a hello that failed, under the lock of its topology. If
// it gets no stream then, libmongoc before 1.24.3 takes the lock again and
// hangs (CDRIVER-4666); a stream that the peer has closed only fails.
static mongoc_stream_t *closed_stream(
    struct sbmo_conn *c, const mongoc_host_list_t *host, bson_error_t *error)
{
    struct sbmo_sock *s;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return NULL;
    close(pair[1]);
    s = sock_new(c, pair[0], host->host_and_port, error);
    return s ? &s->base : NULL;
}

mongoc_stream_t *sbmo_stream(const mongoc_uri_t *uri,
    const mongoc_host_list_t *host, void *data, bson_error_t *error)
{
    struct sbmo_conn *c = data;
    mongoc_stream_t *stream = open_stream(c, uri, host, error);

    return stream || !atomic_load(&c->connected)
               ? stream
               : closed_stream(c, host, error);
}
