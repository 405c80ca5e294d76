// SPDX-License-Identifier: GPL-2.0-or-later
//
// Calls, and the socket on which they wait: what the driver itself sends and
// receives on the library's socket, and where the library waits. No other file
// of the driver waits for the server, except by calling the library. The core
// waits, and may run other users meanwhile.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "drivers/mysql/internal.h"
#include "kit/clock.h"
#include "kit/sock.h"

#define MS      UINT64_C(1000000)
#define AT_ONCE 16384u // bytes that the empty buffer of any socket takes

// The socket -----------------------------------------------------------------

static void mark_lost(struct sbmy_conn *c)
{
    if (c->state == SBMY_USABLE)
        c->state = SBMY_LOST;
}

static int milliseconds(unsigned seconds)
{
    return seconds == 0 || seconds > INT32_MAX / 1000 ? -1
                                                      : (int)seconds * 1000;
}

void sbmy_socket_init(struct sbmy_socket *s, const struct sb_host *host,
    unsigned read_timeout, unsigned write_timeout)
{
    int flags;

    s->host = host;
    s->late = s->unsent = false;
    s->out_len = 0;
    s->read_ms = milliseconds(read_timeout);
    s->write_ms = milliseconds(write_timeout);
    s->polls = s->read_ms >= 0 || sb_sock_is_local(s->fd);
    if (s->polls || s->write_ms >= 0)
        return;
    // Some libraries leave the socket non-blocking, which costs a poll() before
    // each recv(). Without timeouts this is not necessary.
    flags = fcntl(s->fd, F_GETFL);
    if (flags >= 0 && flags & O_NONBLOCK)
        fcntl(s->fd, F_SETFL, flags & ~O_NONBLOCK);
}

static uint64_t deadline_in(int ms)
{
    return ms < 0 ? UINT64_MAX : sb_clock_monotonic() + (uint64_t)ms * MS;
}

uint64_t sbmy_socket_deadline(const struct sbmy_conn *c)
{
    int64_t ns = c->o->connect_timeout;

    return ns > 0 ? sb_clock_monotonic() + (uint64_t)ns : UINT64_MAX;
}

static bool my_wait_for(struct sbmy_socket *s, short what, int ms)
{
    int n = s->host->wait(s->fd, what, deadline_in(ms));

    s->late = n == 0;
    return n > 0;
}

bool sbmy_socket_send(struct sbmy_socket *s, const uint8_t *p, size_t len)
{
    assert(s->out_len == 0);
    while (len > 0) {
        ssize_t n = send(s->fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n > 0) {
            p += n;
            len -= (size_t)n;
        } else if (n < 0 && sb_sock_would_block(errno)) {
            if (!my_wait_for(s, POLLOUT, s->write_ms))
                return false;
        } else if (n == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

// The time for an answer begins when the request is sent. For a request that
// may take long to send, or with a timeout for sending, it is sent on its own.
bool sbmy_socket_request(struct sbmy_socket *s, const uint8_t *p, size_t len)
{
    s->out_len = 0;
    if (s->write_ms >= 0 || (s->read_ms >= 0 && len > AT_ONCE))
        return sbmy_socket_send(s, p, len);
    s->out = p;
    s->out_len = len;
    return true;
}

// Sends the request, if there is one, and receives once.
static ssize_t receive_some(
    struct sbmy_socket *s, uint8_t *in, size_t cap, bool first)
{
    struct sb_exchange x = { .fd = s->fd,
        .poll_first = s->polls && first,
        .out = s->out,
        .len = s->out_len,
        .in = in,
        .cap = cap,
        .deadline = deadline_in(s->read_ms) };
    ssize_t n;

    s->out_len = 0;
    // With a deadline and no request, exchange() tries to receive first.
    if (x.len == 0 && x.poll_first && s->read_ms >= 0 &&
        !my_wait_for(s, POLLIN, s->read_ms))
        return 0;
    n = s->host->exchange(&x);
    // The network has timeouts, too.
    s->late = n == -ETIMEDOUT && sb_clock_monotonic() >= x.deadline;
    s->unsent = x.unsent;
    return n;
}

// Polls first only for the beginning of an answer, because the rest of one may
// have arrived already.
bool sbmy_socket_receive(
    struct sbmy_socket *s, uint8_t *in, size_t *len, size_t want, size_t cap)
{
    assert(*len < want && want <= cap);
    do {
        ssize_t n = receive_some(s, in + *len, cap - *len, *len == 0);

        if (n <= 0)
            return false;
        *len += (size_t)n;
    } while (*len < want);
    return true;
}

int sbmy_descriptor(MYSQL *my)
{
#ifdef HAVE_MYSQL_GET_SOCKET
    return (int)mysql_get_socket(my);
#else
    return my->net.vio ? (int)my->net.fd : -1;
#endif
}

#if SBMY_LOOP
// How often a connect in progress checks whether it was canceled.
#define TICK_MS 50

// Waits for the library. Returns what it expects, with errno.
static int wait_library(
    const struct sb_host *host, int fd, bool writes, uint64_t deadline)
{
    int n = host->wait(fd, writes ? POLLOUT : POLLIN, deadline);

    if (n > 0)
        return 1;
    errno = n == 0 ? ETIMEDOUT : -n;
    return n == 0 ? 0 : -1;
}

// The library passes no argument to the function with which it waits, so this
// is static. It is the same for the whole process, and valid until the process
// ends.
static const struct sb_host *_Atomic library_host;

// 0 is no timeout, either, as in the library.
static uint64_t library_deadline(int timeout_ms)
{
    return deadline_in(timeout_ms > 0 ? timeout_ms : -1);
}

static int library_wait(my_socket fd, my_bool is_read, int timeout_ms)
{
    const struct sb_host *host = atomic_load_explicit(
        &library_host, memory_order_relaxed);

    return wait_library(host, (int)fd, !is_read, library_deadline(timeout_ms));
}

// The function of the OpenSSL that the library uses. NULL: it uses another TLS
// library, or a copy of its own.
extern void ERR_clear_error(void) __attribute__((weak));

// The connection whose call the thread executes. Other users of the thread run
// only while a user waits, so each user sets this again after it has waited.
static _Thread_local struct sbmy_conn *teller;

// Notes that the library waits next for this connection, in the calling thread.
// To be called if c->socket.tells.
//
// The errors of a lost connection stay in OpenSSL's queue, which belongs to the
// thread. The library does not clear it and would take them for errors of the
// next connection whose socket is not ready.
static void tell_socket(struct sbmy_conn *c)
{
    teller = c;
    if (ERR_clear_error)
        ERR_clear_error();
}

static int library_connect(my_socket fd, my_bool is_read, int timeout_ms)
{
    struct sbmy_conn *c = teller;
    uint64_t deadline = library_deadline(timeout_ms), tick;
    int n;

    do {
        if (sbmy_take_cancel(c)) {
            errno = ECANCELED;
            return -1;
        }
        tick = deadline_in(TICK_MS);
        if (tick > deadline)
            tick = deadline;
        n = wait_library(c->host, (int)fd, !is_read, tick);
        tell_socket(c);
    } while (n == 0 && tick < deadline);
    return n;
}

void sbmy_socket_library_connect(struct sbmy_conn *c, MYSQL *my)
{
    tell_socket(c);
    mysql_optionsv(my, MARIADB_OPT_IO_WAIT, library_connect);
}

// With TLS, the library always passes that it waits for data to read, and
// timeouts in s. The real direction and the timeouts are in its handle.
static int library_tls(my_socket fd, my_bool unused_is_read, int unused_timeout)
{
    struct sbmy_conn *c = teller;
    bool writes = c->my->net.reading_or_writing == 2;
    const struct st_mysql_options *o = &c->my->options;
    int ms = milliseconds(writes ? o->write_timeout : o->read_timeout);
    int n;

    assert(c->socket.fd == (int)fd);
    n = wait_library(c->host, (int)fd, writes, deadline_in(ms));
    tell_socket(c);
    return n;
}

// With TLS the library leaves the socket blocking, and waits only on one that
// does not block.
static bool unblock(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && !fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void sbmy_socket_library(struct sbmy_conn *c)
{
    bool unblocked;

    c->socket.tells = mysql_get_ssl_cipher(c->my) != NULL;
    unblocked = c->socket.tells && c->host->shared() && unblock(c->socket.fd);
    atomic_store_explicit(&library_host, c->host, memory_order_relaxed);
    mysql_optionsv(
        c->my, MARIADB_OPT_IO_WAIT, unblocked ? library_tls : library_wait);
}
#else
// Notes that the library waits next for this connection, in the calling thread.
// To be called if c->socket.tells.
static void tell_socket(struct sbmy_conn *c)
{
}

void sbmy_socket_library_connect(struct sbmy_conn *c, MYSQL *my)
{
}

void sbmy_socket_library(struct sbmy_conn *c)
{
    c->socket.host = c->host;
    c->socket.read_ms = milliseconds(c->my->options.read_timeout);
}
#endif

void sbmy_socket_hang_up(struct sbmy_conn *c)
{
    assert(sbmy_in_call(c));
    mark_lost(c);
    shutdown(c->socket.fd, SHUT_RDWR);
}

#if SBMY_NONBLOCKING
bool sbmy_yields(const struct sbmy_conn *c)
{
    return c->host->shared();
}

// Waits until the library can continue. If that takes too long, the connection
// is closed, which the library then notices.
static void my_await(struct sbmy_conn *c)
{
    if (!my_wait_for(&c->socket, POLLIN, c->socket.read_ms))
        sbmy_socket_hang_up(c);
}
#else
bool sbmy_yields(const struct sbmy_conn *c)
{
    return false;
}
#endif

struct sending {
    MYSQL *my;
    const char *sql;
    unsigned long len;
    int rc;
};

static void send_apart(void *arg)
{
    struct sending *a = arg;

    sbmy_thread();
    a->rc = mysql_send_query(a->my, a->sql, a->len);
}

// Sending a short text never blocks. Only the library itself can use
// mysql_send_query_nonblocking(): otherwise, it sends a second text wrongly.
int sbmy_send_query(struct sbmy_conn *c, const char *sql, size_t len)
{
    struct sending a = { c->my, sql, (unsigned long)len, 1 };

    if (len > AT_ONCE && sbmy_yields(c))
        c->host->apart(send_apart, NULL, &a, UINT64_MAX);
    else
        a.rc = mysql_send_query(a.my, a.sql, a.len);
    return a.rc;
}

// The library has no function that does this without waiting. But an answer
// begins with one packet of a few bytes, or with the descriptions of the
// columns, which the server sends together, so waiting for the first byte is
// enough. sbmy_store_result() reads the rows.
int sbmy_read_query_result(struct sbmy_conn *c)
{
#if SBMY_NONBLOCKING
    if (sbmy_yields(c))
        my_await(c);
#endif
    return mysql_read_query_result(c->my);
}

int sbmy_real_query(struct sbmy_conn *c, const char *sql, size_t len)
{
    return sbmy_yields(c)
               ? sbmy_send_query(c, sql, len) || sbmy_read_query_result(c)
               : mysql_real_query(c->my, sql, (unsigned long)len);
}

MYSQL_RES *sbmy_store_result(struct sbmy_conn *c)
{
#if SBMY_NONBLOCKING
    MYSQL_RES *res = NULL;

    if (sbmy_yields(c)) {
        while (
            mysql_store_result_nonblocking(c->my, &res) == NET_ASYNC_NOT_READY)
            my_await(c);
        return res;
    }
#endif
    return mysql_store_result(c->my);
}

int sbmy_next_result(struct sbmy_conn *c)
{
#if SBMY_NONBLOCKING
    enum net_async_status status;

    if (sbmy_yields(c)) {
        while ((status = mysql_next_result_nonblocking(c->my)) ==
               NET_ASYNC_NOT_READY)
            my_await(c);
        return status == NET_ASYNC_COMPLETE_NO_MORE_RESULTS
                   ? -1
                   : status != NET_ASYNC_COMPLETE;
    }
#endif
    return mysql_next_result(c->my);
}

// Calls ----------------------------------------------------------------------

// The error of a call that cannot begin.
static int my_refused(struct sbmy_conn *c, struct sb_err *err)
{
    if (!c->my)
        return sb_err_native(
            err, SB_ELOST, SBMY_CR_GONE, "HY000", "not connected");
    if (c->bulk)
        return sb_err_set(err, SB_EUSAGE, "the connection is loading a table");
    if (sbmy_take_cancel(c))
        return sb_err_set(err, SB_ECANCELED, "the call was canceled");
    return sbmy_fail_with(c, SBMY_CR_GONE, "HY000",
        *c->why ? c->why : "the connection was lost", err);
}

// Finds out whether the library has closed the socket during the call that now
// ends. Its descriptor may soon be that of another connection.
static void check_socket(struct sbmy_conn *c)
{
    if (!c->my || sbmy_descriptor(c->my) >= 0)
        return;
    atomic_store_explicit(&c->shared_fd, -1, memory_order_release);
    c->socket.fd = -1;
    mark_lost(c);
}

void sbmy_call_resume(struct sbmy_conn *c)
{
    assert(!sbmy_in_call(c));
    if (c->socket.tells)
        tell_socket(c);
    atomic_store_explicit(&c->busy, true, memory_order_release);
}

int sbmy_call_begin(struct sbmy_conn *c, struct sb_err *err)
{
    if (!c->my || c->state != SBMY_USABLE || c->bulk ||
        atomic_load_explicit(&c->canceled, memory_order_relaxed))
        return my_refused(c, err);
    sbmy_thread();
    sbmy_call_resume(c);
    return 0;
}

int sbmy_call_end_own(struct sbmy_conn *c, int rc)
{
    assert(sbmy_in_call(c) && !c->apart);
    atomic_store_explicit(&c->busy, false, memory_order_release);
    return rc;
}

int sbmy_call_end(struct sbmy_conn *c, int rc)
{
    check_socket(c);
    return sbmy_call_end_own(c, rc);
}

void sbmy_apart_begin(struct sbmy_conn *c)
{
    assert(!c->apart);
    sbmy_thread();
    if (c->socket.tells)
        tell_socket(c);
    c->apart = true;
}

void sbmy_apart_end(struct sbmy_conn *c)
{
    assert(c->apart);
    check_socket(c);
    c->apart = false;
}
