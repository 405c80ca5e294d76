// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/peers.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "kit/sock.h"

#define FILES_MAX 4096L
#define PORTS_MAX 16u
#define LOOK_NS   UINT64_C(5000000000)

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

static unsigned port_of(const union address *a)
{
    return a->any.sa_family == AF_INET    ? a->v4.sin_port
           : a->any.sa_family == AF_INET6 ? a->v6.sin6_port
                                          : 0;
}

// The ports on which this process waits for clients of its own.
struct ports {
    unsigned port[PORTS_MAX];
    unsigned n;
};

static void find_port(int fd, struct ports *p)
{
    union address own = { .any = { .sa_family = AF_UNSPEC } };
    socklen_t len = sizeof(own), size = sizeof(int);
    int listens = 0;

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) ||
        !listens || getsockname(fd, &own.any, &len) || p->n == PORTS_MAX)
        return;
    p->port[p->n] = port_of(&own);
    p->n += p->port[p->n] != 0;
}

static bool has_port(const struct ports *p, unsigned port)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->port[i] == port)
            return true;
    return false;
}

static enum sb_peers peer_of(int fd, const struct ports *listening)
{
    union address peer = { .any = { .sa_family = AF_UNSPEC } }, own = peer;
    socklen_t len = sizeof(peer), own_len = sizeof(own);

    if (getpeername(fd, &peer.any, &len))
        return SB_PEERS_NONE;
    if (peer.any.sa_family == AF_UNIX)
        return len > offsetof(struct sockaddr_un, sun_path) ? SB_PEERS_LOCAL
                                                            : SB_PEERS_NONE;
    if ((peer.any.sa_family != AF_INET && peer.any.sa_family != AF_INET6) ||
        getsockname(fd, &own.any, &own_len) ||
        has_port(listening, port_of(&own)))
        return SB_PEERS_NONE;
    return same_host(&peer, &own) ? SB_PEERS_LOCAL : SB_PEERS_REMOTE;
}

enum sb_peers sb_peers(void)
{
    long n = sysconf(_SC_OPEN_MAX);
    enum sb_peers all = SB_PEERS_NONE;
    struct ports listening = { .n = 0 };

    if (n < 0 || n > FILES_MAX)
        n = FILES_MAX;
    for (int fd = STDERR_FILENO + 1; fd < n; fd++)
        find_port(fd, &listening);
    for (int fd = STDERR_FILENO + 1; fd < n && all != SB_PEERS_LOCAL; fd++) {
        enum sb_peers one = peer_of(fd, &listening);

        all = one > all ? one : all;
    }
    return all;
}

enum sb_peers sb_peers_look(struct sb_peers_seen *seen, uint64_t now)
{
    if (seen->peers == SB_PEERS_LOCAL ||
        (seen->peers != SB_PEERS_NONE && now < seen->next))
        return seen->peers;
    enum sb_peers peers = sb_peers();

    seen->next = now + LOOK_NS;
    seen->peers = peers > seen->peers ? peers : seen->peers;
    return seen->peers;
}
