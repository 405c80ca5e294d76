// SPDX-License-Identifier: GPL-2.0-or-later
//
// A fake MySQL server that sends exactly the bytes a test specifies, and the
// driver as its client. One pair exists at a time.
#ifndef FAKE_MYSQL_H
#define FAKE_MYSQL_H

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/opts.h"
#include "check.h"
#include "driver_host.h"
#include "drivers/mysql/internal.h"

// The server -----------------------------------------------------------------

#define ANSWERS 12
#define ROOM    16384
#define HANGS   300  // seconds after which a test counts as hung
#define CLOSE   0x19 // COM_STMT_CLOSE has no answer

static struct server {
    int listener;
    pthread_t thread;
    bool mariadb; // offers MariaDB's extensions of the protocol
    bool deaf;    // after the last answer, receives nothing until the client
                  // hangs up
    // The answers to the requests after login. The server closes the connection
    // after the last one.
    uint8_t answer[ANSWERS][ROOM];
    size_t len[ANSWERS];
    int n;
    // The requests that were answered: head and command.
    uint8_t request[ANSWERS][SBMY_HEAD + 1];
} server;

static inline bool read_all(int fd, void *to, size_t len)
{
    uint8_t *p = to;

    while (len > 0) {
        ssize_t n = read(fd, p, len);

        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

// Reads up to the next request that has an answer; an empty packet has one.
static inline bool read_request(int fd, uint8_t *head)
{
    uint8_t room[4096];
    uint32_t len;

    do {
        if (!read_all(fd, head, SBMY_HEAD))
            return false;
        len = sbmy_get24(head);
        if (len > sizeof(room) || !read_all(fd, room, len))
            return false;
        head[SBMY_HEAD] = len ? room[0] : 0;
    } while (head[SBMY_HEAD] == CLOSE);
    return true;
}

static inline bool write_all(int fd, const void *from, size_t len)
{
    // One write, so that the driver reads the answer in one piece.
    return len == 0 || write(fd, from, len) == (ssize_t)len;
}

// Protocol 41, mysql_native_password, none of the newer capabilities.
#define HELLO                                                              \
    "\111\0\0\0\12"                                                        \
    "5.6.0\0\1\0\0\0abcdefgh\0\211\242\41\2\0\13\0\25\0\0\0\0\0\0\0\0\0\0" \
    "abcdefghijkl\0mysql_native_password"
// The same from MariaDB: it sends definitions of columns only if they change.
#define HELLO_MARIADB                                             \
    "\124\0\0\0\12"                                               \
    "5.5.5-10-MariaDB\0\1\0\0\0abcdefgh\0\210\242\41\2\0\13\0\25" \
    "\0\0\0\0\0\0\20\0\0\0"                                       \
    "abcdefghijkl\0mysql_native_password"
#define OK "\0\1\0\2\0\0\0" // one row; no transaction

static inline void await_hang_up(int fd)
{
    struct pollfd p = { .fd = fd };

    while (poll(&p, 1, -1) < 0)
        continue;
}

static inline void *serve(void *arg)
{
    static const char welcome[] = "\7\0\0\2\0\0\0\2\0\0";
    uint8_t login[SBMY_HEAD + 1];
    int fd = accept(server.listener, NULL, NULL);
    bool good = (server.mariadb
                        ? write_all(fd, HELLO_MARIADB, sizeof(HELLO_MARIADB))
                        : write_all(fd, HELLO, sizeof(HELLO))) &&
                read_request(fd, login) &&
                write_all(fd, welcome, sizeof(welcome));

    for (int i = 0; good && i < server.n; i++)
        good = read_request(fd, server.request[i]) &&
               write_all(fd, server.answer[i], server.len[i]);
    if (good && server.deaf)
        await_hang_up(fd);
    close(fd);
    return NULL;
}

static inline void packet(uint8_t seq, const char *body, size_t len)
{
    uint8_t *p = server.answer[server.n] + server.len[server.n];

    p[0] = (uint8_t)len;
    p[1] = (uint8_t)(len >> 8);
    p[2] = 0;
    p[3] = seq;
    memcpy(p + SBMY_HEAD, body, len);
    server.len[server.n] += len + SBMY_HEAD;
}

#define PACKET(seq, body) packet(seq, body, sizeof(body) - 1)
#define SHUTDOWN_MESSAGE                                             \
    PACKET(0, "\377\277\17#HY000The client was disconnected by the " \
              "server because of inactivity.")

static inline void next_answer(void)
{
    server.n++;
}

// A statement without parameters and columns.
static inline void answer_prepare(void)
{
    PACKET(1, "\0\1\0\0\0\0\0\0\0\0\0\0");
    next_answer();
}

static inline void answer_ok(void)
{
    PACKET(1, OK);
    next_answer();
}

// The client -----------------------------------------------------------------

static struct sb_opts *opts;
static struct sbmy_opts values;
static struct sb_driver_env env;
static union {
    struct sbmy_conn own;
    max_align_t align;
} room;
static struct sb_conn *const conn = (struct sb_conn *)&room;
static struct sbmy_stmt statement;
static struct sb_stmt *const stmt = (struct sb_stmt *)&statement;
static struct sb_err err;
// The requests to the server that ended last.
static uint8_t requests[ANSWERS][SBMY_HEAD + 1];

static const struct sb_host host = DRIVER_HOST;

static char socket_path[64];

static inline int listen_here(void)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(socket_path, sizeof(socket_path), "fake-%ld.sock", (long)getpid());
    memcpy(a.sun_path, socket_path, sizeof(socket_path));
    unlink(socket_path);
    if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 1))
        return -1;
    return fd;
}

static inline int start(const char *option, const char *value)
{
    struct sb_conn_info info = { 0 };

    opts = sb_opts_new();
    memset(&err, 0, sizeof(err));
    sb_opts_add(opts, &sbmy_opt_table, &values, &err);
    server.listener = listen_here();
    if (sb_opts_set(opts, "mysql-socket", socket_path, SB_SRC_CMDLINE, &err) ||
        sb_opts_set(opts, option, value, SB_SRC_CMDLINE, &err))
        return -1;
    alarm(HANGS); // ends the test program
    pthread_create(&server.thread, NULL, serve, NULL);
    env = (struct sb_driver_env){ .host = &host };
    if (sb_driver.generic->env_init(&env, &values, &err))
        return -1;
    memset(&room, 0, sizeof(room));
    return sb_driver.generic->connect(conn, &env, &values, &info, &err);
}

static inline void finish(void)
{
    sb_driver.sql->close(conn, stmt);
    sb_driver.generic->disconnect(conn);
    sb_driver.generic->env_done(&env);
    pthread_join(server.thread, NULL);
    close(server.listener);
    unlink(socket_path);
    sb_opts_free(opts);
    memcpy(requests, server.request, sizeof(requests));
    memset(&server, 0, sizeof(server));
    alarm(0);
}

#endif
