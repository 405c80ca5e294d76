// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sockets: how to wait for data, and addresses.
#ifndef SB_KIT_SOCK_H
#define SB_KIT_SOCK_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

// Returns whether fd is a Unix socket. Linux wakes a recv() that waits on a
// Unix socket not only when data arrives, but also when the peer has read the
// data that was sent: two context switches per request instead of one. A poll()
// for POLLIN before recv() costs less than that, because it does not wake when
// the peer reads. TCP sockets do not behave like this, so there recv() alone is
// cheaper. See unix_write_space() in net/unix/af_unix.c.
static inline bool sb_sock_is_local(int fd)
{
    struct sockaddr_storage a = { .ss_family = AF_UNSPEC };
    socklen_t len = sizeof(a);

    return getsockname(fd, (struct sockaddr *)&a, &len) == 0 &&
           a.ss_family == AF_UNIX;
}

// Returns whether an errno says that a call would have had to wait.
static inline bool sb_sock_would_block(int no)
{
    return no == EAGAIN || no == EWOULDBLOCK;
}

// Returns whether a host is a numeric address of IPv4 or IPv6, which needs no
// lookup.
static inline bool sb_sock_is_numeric(const char *host)
{
    struct in6_addr unused;

    return inet_pton(AF_INET, host, &unused) == 1 ||
           inet_pton(AF_INET6, host, &unused) == 1;
}

// Writes the address that fd is connected to: "10.0.0.1:5432", "[::1]:5432",
// the path of a Unix socket, or "" if it is not connected or has no name.
static inline void sb_sock_peer(int fd, char *out, size_t size)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
        struct sockaddr_storage room;
    } a = { .any = { .sa_family = AF_UNSPEC } };
    socklen_t len = sizeof(a);
    char text[INET6_ADDRSTRLEN] = "";

    snprintf(out, size, "%s", "");
    if (getpeername(fd, &a.any, &len))
        return;
    if (a.any.sa_family == AF_UNIX &&
        len > (socklen_t)offsetof(struct sockaddr_un, sun_path)) {
        snprintf(
            out, size, "%.*s", (int)sizeof(a.local.sun_path), a.local.sun_path);
    } else if (a.any.sa_family == AF_INET &&
               inet_ntop(AF_INET, &a.v4.sin_addr, text, sizeof(text))) {
        snprintf(out, size, "%s:%u", text, ntohs(a.v4.sin_port));
    } else if (a.any.sa_family == AF_INET6 &&
               inet_ntop(AF_INET6, &a.v6.sin6_addr, text, sizeof(text))) {
        snprintf(out, size, "[%s]:%u", text, ntohs(a.v6.sin6_port));
    }
}

#endif
