// SPDX-License-Identifier: GPL-2.0-or-later
//
// The driver for PostgreSQL and a fake server that sends exactly the bytes a
// test specifies.
#ifndef FAKE_PGSQL_H
#define FAKE_PGSQL_H

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "driver_host.h"
#include "check_folder.h"
#include "base/opts.h"
#include "drivers/pgsql/internal.h"

// The server -----------------------------------------------------------------

#define ANSWERS 8

static struct server {
    int listener, fd;
    pthread_t thread;
    // The answers to the requests after startup. The server closes the
    // connection after the last one.
    char answer[ANSWERS][512];
    size_t len[ANSWERS];
    int n;
    // Called when the request was received, and when the answer was sent, or
    // NULL.
    void (*before[ANSWERS])(int fd), (*after[ANSWERS])(int fd);
    // The simple queries it received, one per line.
    char queries[1024];
} server;

static inline bool read_all(int fd, void *to, size_t len)
{
    char *p = to;

    while (len > 0) {
        ssize_t n = read(fd, p, len);

        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static inline uint32_t get_size(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

// Reads the body of a message and keeps the text of a query.
static inline bool read_body(int fd, uint32_t len, char type)
{
    size_t n = strlen(server.queries);
    static char room[65536];
    bool good = true;

    for (uint32_t left = len, part; good && left > 0; left -= part) {
        part = left < sizeof(room) ? left : sizeof(room);
        good = read_all(fd, room, part);
    }
    if (good && type == 'Q')
        snprintf(server.queries + n, sizeof(server.queries) - n, "%.*s\n",
            (int)len, room);
    return good;
}

// Returns the type of the message; 0: the connection has ended.
static inline char read_message(int fd)
{
    unsigned char head[5];

    if (!read_all(fd, head, sizeof(head)) ||
        !read_body(fd, get_size(head + 1) - 4, (char)head[0]))
        return 0;
    return (char)head[0];
}

// Reads up to a message that requires an answer: Sync, Query, or the end of
// COPY.
static inline bool read_request(int fd)
{
    char type;

    do
        type = read_message(fd);
    while (type && !strchr("SQcf", type));
    return type != 0;
}

static inline void *serve(void *arg)
{
    // libpq 18 sends no cancel requests without the key for them.
    static const char hello[] = { 'R', 0, 0, 0, 8, 0, 0, 0, 0, 'K', 0, 0, 0, 12,
        0, 0, 0, 1, 0, 0, 0, 2, 'Z', 0, 0, 0, 5, 'I' };
    int fd = accept(server.listener, NULL, NULL);
    unsigned char size[4];
    bool good = read_all(fd, size, sizeof(size)) &&
                read_body(fd, get_size(size) - 4, 0) &&
                write(fd, hello, sizeof(hello)) == (ssize_t)sizeof(hello);

    // One write, so that the driver reads the answer in one piece.
    for (int i = 0; good && i < server.n; i++) {
        good = read_request(fd);
        if (good && server.before[i])
            server.before[i](fd);
        good = good && write(fd, server.answer[i], server.len[i]) ==
                           (ssize_t)server.len[i];
        if (good && server.after[i])
            server.after[i](fd);
    }
    close(fd);
    return NULL;
}

static inline void message(char type, const char *body, size_t len)
{
    char *p = server.answer[server.n] + server.len[server.n];

    p[0] = type;
    p[1] = p[2] = 0;
    p[3] = (char)((len + 4) >> 8);
    p[4] = (char)(len + 4);
    memcpy(p + 5, body, len);
    server.len[server.n] += len + 5;
}

#define MESSAGE(type, body) message(type, body, sizeof(body) - 1)
#define SHUTDOWN_MESSAGE                                                   \
    MESSAGE('E', "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to " \
                 "administrator command\0\0")

static inline void add_byte(char byte)
{
    server.answer[server.n][server.len[server.n]++] = byte;
}

static inline void next_answer(void)
{
    server.n++;
}

// Ends an answer. tag: of CommandComplete, or NULL.
static inline void done(const char *tag, const char *state)
{
    if (tag)
        message('C', tag, strlen(tag) + 1);
    message('Z', state, 1);
    next_answer();
}

static inline void answer_prepare(void)
{
    MESSAGE('1', "");
    MESSAGE('Z', "I");
    next_answer();
}

// libpq executes the first time, and also requires a description.
static inline void answer_first(void)
{
    MESSAGE('2', "");
    MESSAGE('n', "");
    MESSAGE('C', "INSERT 0 1\0");
    MESSAGE('Z', "I");
    next_answer();
}

static inline void answer_again(const char *state)
{
    MESSAGE('2', "");
    MESSAGE('C', "INSERT 0 1\0");
    message('Z', state, 1);
}

// The client -----------------------------------------------------------------

static struct sb_opts *opts;
static struct pgsql_opts values;
static struct sb_driver_env env;
static union {
    struct pgsql_conn own;
    max_align_t align;
} room;
static struct sb_conn *const conn = (struct sb_conn *)&room;
static struct pgsql_stmt statement;
static struct sb_stmt *const stmt = (struct sb_stmt *)&statement;
static struct sb_err err;

// Not constant: a test may replace a function.
static struct sb_host host = DRIVER_HOST;

static inline int listen_here(void)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX,
        .sun_path = ".s.PGSQL.5432" };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    unlink(a.sun_path);
    if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 1))
        return -1;
    return fd;
}

static inline int start(void)
{
    struct sb_conn_info info = { 0 };
    char here[512];

    opts = sb_opts_new();
    memset(&err, 0, sizeof(err));
    sb_opts_add(opts, &pgsql_opt_table, &values, &err);
    if (!getcwd(here, sizeof(here)) ||
        sb_opts_set(opts, "pgsql-host", here, SB_SRC_CMDLINE, &err))
        return -1;
    server.listener = listen_here();
    pthread_create(&server.thread, NULL, serve, NULL);
    env = (struct sb_driver_env){ .host = &host };
    if (sb_driver.generic->env_init(&env, &values, &err))
        return -1;
    memset(&room, 0, sizeof(room));
    return sb_driver.generic->connect(conn, &env, &values, &info, &err);
}

static inline void finish(void)
{
    if (statement.sql)
        sb_driver.sql->close(conn, stmt);
    sb_driver.generic->disconnect(conn);
    sb_driver.generic->env_done(&env);
    pthread_join(server.thread, NULL);
    close(server.listener);
    sb_opts_free(opts);
    memset(&server, 0, sizeof(server));
}

static inline int execute(struct sb_result *res)
{
    *res = (struct sb_result){ 0 };
    memset(&err, 0, sizeof(err));
    return sb_driver.sql->execute(conn, stmt, NULL, 0, res, &err);
}

static inline int run_query(const char *sql)
{
    struct sb_result res = { 0 };

    memset(&err, 0, sizeof(err));
    return sb_driver.sql->query(conn, sql, strlen(sql), &res, &err);
}

static inline int query(void)
{
    return run_query("SELECT 1");
}

static inline void prepare(const char *sql)
{
    uint32_t n = 0;

    CHECK_INT(
        sb_driver.sql->prepare(conn, stmt, sql, strlen(sql), NULL, &n, &err),
        0);
}

// Prepares a statement and executes it once through libpq.
static inline void ready(void)
{
    struct sb_result res;

    CHECK_INT(start(), 0);
    prepare("INSERT INTO t VALUES (1)");
    CHECK_INT(execute(&res), 0);
    CHECK_INT(res.affected, 1);
}

static inline void check_shutdown(int rc)
{
    CHECK_INT(rc, SB_ELOST);
    CHECK_STR(err.state, "57P01");
    CHECK_STR(err.msg, "terminating connection due to administrator command");
}

#endif
