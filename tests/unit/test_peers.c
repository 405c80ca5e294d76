// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/peers.h"
#include "check.h"
#include "check_folder.h"
#include "kit/sock.h"

// Connects two sockets of this process. Returns false if the system has no
// such addresses.
static bool connect_to(const struct sockaddr *to, socklen_t size, int fd[3])
{
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);

    fd[0] = socket(to->sa_family, SOCK_STREAM, 0);
    fd[1] = socket(to->sa_family, SOCK_STREAM, 0);
    fd[2] = -1;
    if (bind(fd[0], to, size) || listen(fd[0], 1) ||
        getsockname(fd[0], (struct sockaddr *)&bound, &len) ||
        connect(fd[1], (struct sockaddr *)&bound, len))
        return false;
    fd[2] = accept(fd[0], NULL, NULL);
    return fd[2] >= 0;
}

#define SECOND UINT64_C(1000000000)

static void close_all(const int fd[3])
{
    for (int i = 0; i < 3; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

static void tcp(void)
{
    const struct sockaddr_in v4 = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
        .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    int fd[3];

    CHECK_INT(sb_peers(), SB_PEERS_NONE);
    CHECK(connect_to((const struct sockaddr *)&v4, sizeof(v4), fd));
    CHECK_INT(sb_peers(), SB_PEERS_LOCAL);
    close_all(fd);
    CHECK_INT(sb_peers(), SB_PEERS_NONE);
    // Not every machine has IPv6.
    if (connect_to((const struct sockaddr *)&v6, sizeof(v6), fd))
        CHECK_INT(sb_peers(), SB_PEERS_LOCAL);
    close_all(fd);
}

// A browser that shows the live view is not a server.
static void clients_of_this_process(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    int server = socket(AF_INET, SOCK_STREAM, 0), hold[2], fd[3], status;

    CHECK(pipe(hold) == 0);
    CHECK(bind(server, (struct sockaddr *)&at, len) == 0);
    CHECK(listen(server, 1) == 0);
    getsockname(server, (struct sockaddr *)&at, &len);
    pid_t child = fork();
    if (child == 0) {
        char c;
        int client = socket(AF_INET, SOCK_STREAM, 0);

        close(hold[1]);
        _exit(connect(client, (struct sockaddr *)&at, len) ||
              read(hold[0], &c, 1) != 0);
    }
    int accepted = accept(server, NULL, NULL);
    CHECK(accepted >= 0);
    CHECK_INT(sb_peers(), SB_PEERS_NONE);
    // A server beside it.
    at.sin_port = 0;
    CHECK(connect_to((const struct sockaddr *)&at, sizeof(at), fd));
    CHECK_INT(sb_peers(), SB_PEERS_LOCAL);
    close_all(fd);
    close(hold[0]);
    close(hold[1]);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(accepted);
    close(server);
}

static void unix_sockets(void)
{
    struct sockaddr_un path = { .sun_family = AF_UNIX, .sun_path = "s.sock" };
    int pair[2], fd[3];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CHECK_INT(sb_peers(), SB_PEERS_NONE);
    close(pair[0]);
    close(pair[1]);
    CHECK(connect_to((const struct sockaddr *)&path, sizeof(path), fd));
    CHECK_INT(sb_peers(), SB_PEERS_LOCAL);
    close_all(fd);
    unlink(path.sun_path);
}

// An address of another machine is not available to tests. Two addresses of
// this one are like it: the ends of the connection differ.
static void other_machine(void)
{
    struct sb_peers_seen seen = { .peers = SB_PEERS_NONE };
    const struct sockaddr_in from = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1) };
    struct sockaddr_in at = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    int server = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET, SOCK_STREAM, 0), fd[3];

    CHECK_INT(sb_peers_look(&seen, 6), SB_PEERS_NONE);
    CHECK(bind(server, (struct sockaddr *)&at, len) == 0);
    CHECK(listen(server, 1) == 0);
    getsockname(server, (struct sockaddr *)&at, &len);
    // Systems other than Linux lack 127.0.0.2.
    if (bind(client, (const struct sockaddr *)&from, sizeof(from)) == 0) {
        CHECK(connect(client, (struct sockaddr *)&at, len) == 0);
        CHECK_INT(sb_peers(), SB_PEERS_REMOTE);
        CHECK_INT(sb_peers_look(&seen, 7), SB_PEERS_REMOTE);
        at.sin_port = 0;
        CHECK(connect_to((const struct sockaddr *)&at, sizeof(at), fd));
        CHECK_INT(sb_peers(), SB_PEERS_LOCAL);
        // The sockets are not looked at in each interval.
        CHECK_INT(sb_peers_look(&seen, 5 * SECOND), SB_PEERS_REMOTE);
        CHECK_INT(sb_peers_look(&seen, 5 * SECOND + 7), SB_PEERS_LOCAL);
        close_all(fd);
        CHECK_INT(sb_peers_look(&seen, 60 * SECOND), SB_PEERS_LOCAL);
    }
    close(client);
    close(server);
}

CHECK_FILE
{
    check_folder();
    RUN(tcp);
    RUN(clients_of_this_process);
    RUN(unix_sockets);
    RUN(other_machine);
    return check_done();
}
