// SPDX-License-Identifier: GPL-2.0-or-later
//
// How to wait at a socket.
#ifndef SB_BASE_SOCK_H
#define SB_BASE_SOCK_H

#include <stdbool.h>
#include <sys/socket.h>

// Whether fd is a unix socket. Linux wakes a recv() that waits at one of these
// not only when there is something to read, but also when the other side has
// taken what was sent: two switches of context for each question instead of
// one, which costs more than a poll() in front of recv(). A poll() for POLLIN
// sleeps through the first. On TCP sockets there is no such thing, and recv()
// alone is the cheaper way to wait. (unix_write_space() in net/unix/af_unix.c.)
static inline bool sb_sock_is_local(int fd)
{
    struct sockaddr_storage a = { .ss_family = AF_UNSPEC };
    socklen_t len = sizeof(a);

    return getsockname(fd, (struct sockaddr *)&a, &len) == 0 &&
           a.ss_family == AF_UNIX;
}

#endif
