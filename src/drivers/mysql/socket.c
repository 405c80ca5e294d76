// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the driver itself sends and receives on the library's socket. No other
// file of the driver waits for the server, except by calling the library.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/sock.h"
#include "drivers/mysql/mysql_priv.h"

static int milliseconds(unsigned seconds)
{
    return seconds == 0 || seconds > INT32_MAX / 1000 ? -1
                                                      : (int)seconds * 1000;
}

void sbmy_socket_init(
    struct sbmy_socket *s, unsigned read_timeout, unsigned write_timeout)
{
    int flags;

    s->late = false;
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

static bool wait_for(struct sbmy_socket *s, short what, int ms)
{
    struct pollfd p = { .fd = s->fd, .events = what };
    int n;

    do
        n = poll(&p, 1, ms);
    while (n < 0 && errno == EINTR);
    s->late = n == 0;
    return n > 0;
}

bool sbmy_socket_send(struct sbmy_socket *s, const uint8_t *p, size_t len)
{
    int flags = MSG_NOSIGNAL | (s->write_ms < 0 ? 0 : MSG_DONTWAIT);

    while (len > 0) {
        ssize_t n = send(s->fd, p, len, flags);

        if (n > 0) {
            p += n;
            len -= (size_t)n;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (!wait_for(s, POLLOUT, s->write_ms))
                return false;
        } else if (n == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

// Polls first only for the beginning of an answer, because the rest of one may
// have arrived already.
bool sbmy_socket_receive(
    struct sbmy_socket *s, uint8_t *in, size_t *len, size_t want, size_t cap)
{
    bool wait = s->polls && *len == 0;

    assert(want <= cap);
    do {
        ssize_t n;

        if (wait && !wait_for(s, POLLIN, s->read_ms))
            return false;
        n = recv(s->fd, in + *len, cap - *len, s->polls ? MSG_DONTWAIT : 0);
        wait = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (n > 0)
            *len += (size_t)n;
        else if (n == 0 || !(wait || errno == EINTR))
            return false;
    } while (*len < want);
    return true;
}
