// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/peers.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/sock.h"

#define FILES_MAX 4096L

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
};

static bool same_host(const union address *a, const union address *b)
{
    if (a->any.sa_family == AF_INET)
        return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
    return memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, 16) == 0;
}

static enum sb_peers peer_of(int fd)
{
    union address peer = { .any = { .sa_family = AF_UNSPEC } }, own = peer;
    socklen_t len = sizeof(peer), own_len = sizeof(own);

    if (getpeername(fd, &peer.any, &len))
        return SB_PEERS_NONE;
    if (peer.any.sa_family == AF_UNIX)
        return len > offsetof(struct sockaddr_un, sun_path) ? SB_PEERS_LOCAL
                                                            : SB_PEERS_NONE;
    if ((peer.any.sa_family != AF_INET && peer.any.sa_family != AF_INET6) ||
        getsockname(fd, &own.any, &own_len))
        return SB_PEERS_NONE;
    return same_host(&peer, &own) ? SB_PEERS_LOCAL : SB_PEERS_REMOTE;
}

enum sb_peers sb_peers(void)
{
    long n = sysconf(_SC_OPEN_MAX);
    enum sb_peers all = SB_PEERS_NONE;

    if (n < 0 || n > FILES_MAX)
        n = FILES_MAX;
    for (int fd = STDERR_FILENO + 1; fd < n && all != SB_PEERS_LOCAL; fd++) {
        enum sb_peers one = peer_of(fd);

        all = one > all ? one : all;
    }
    return all;
}
