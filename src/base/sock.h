// SPDX-License-Identifier: GPL-2.0-or-later
//
// How to wait for data on a socket.
#ifndef SB_BASE_SOCK_H
#define SB_BASE_SOCK_H

#include <stdbool.h>
#include <sys/socket.h>

// Returns whether fd is a Unix socket. Linux wakes a recv() that waits on a
// Unix socket not only when data arrives, but also when the peer has read what
// was sent: two context switches per request instead of one. That costs more
// than a poll() for POLLIN before recv(), which sleeps through the first. TCP
// sockets do not behave like this, so there recv() alone is cheaper. See
// unix_write_space() in net/unix/af_unix.c.
static inline bool sb_sock_is_local(int fd)
{
    struct sockaddr_storage a = { .ss_family = AF_UNSPEC };
    socklen_t len = sizeof(a);

    return getsockname(fd, (struct sockaddr *)&a, &len) == 0 &&
           a.ss_family == AF_UNIX;
}

#endif
