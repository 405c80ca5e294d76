// SPDX-License-Identifier: GPL-2.0-or-later
//
// A driver connects in a fiber, to a name whose lookup takes long or to a Unix
// socket whose queue is full. Another fiber of the same thread ends that: if
// the connect holds up its thread, the test hangs, and alarm() ends it. The
// server closes every connection at once.
#ifndef SLOW_CONNECT_H
#define SLOW_CONNECT_H

#define _GNU_SOURCE // RTLD_NEXT
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/opts.h"
#include "check.h"
#include "driver_host.h"
#include "db/driver.h"
#include "loop/loop.h"

#define HANGS     120 // seconds after which the program counts as hung
#define SLOW_NAME "slow.test"
#define MS        UINT64_C(1000000)
#define FILLERS   16

static inline void sleep_a_little(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

// The name server -------------------------------------------------------------

static _Atomic bool looking, answers;
static pthread_t looker; // before `looking`

// Replaces that of the C library, also for the client libraries.
__attribute__((visibility("default"))) int getaddrinfo(const char *name,
    const char *service, const struct addrinfo *hints, struct addrinfo **out)
{
    int (*real)(const char *, const char *, const struct addrinfo *,
        struct addrinfo **);

    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (name && strcmp(name, SLOW_NAME) == 0) {
        looker = pthread_self();
        looking = true;
        while (!answers)
            sleep_a_little();
        name = "127.0.0.1";
    }
    return real(name, service, hints, out);
}

// The server ------------------------------------------------------------------

static int listener, filler[FILLERS], fillers;

static inline int listen_on(int family, const struct sockaddr *a, socklen_t len)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);

    CHECK_INT(bind(fd, a, len), 0);
    CHECK_INT(listen(fd, 0), 0);
    return fd;
}

static inline unsigned listen_tcp(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(a);

    listener = listen_on(AF_INET, (struct sockaddr *)&a, len);
    getsockname(listener, (struct sockaddr *)&a, &len);
    return ntohs(a.sin_port);
}

// Listens with a queue that is full.
static inline void listen_full(const char *path)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };

    memcpy(a.sun_path, path, strlen(path) + 1);
    unlink(path);
    listener = listen_on(AF_UNIX, (struct sockaddr *)&a, sizeof(a));
    for (fillers = 0; fillers < FILLERS; fillers++) {
        filler[fillers] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(filler[fillers], (struct sockaddr *)&a, sizeof(a)))
            break;
    }
    CHECK(fillers < FILLERS && errno == EAGAIN);
}

static inline void close_all(void)
{
    for (int i = 0; i < fillers; i++)
        close(filler[i]);
    fillers = 0;
    close(listener);
}

// The client -----------------------------------------------------------------

static const struct sb_host host = DRIVER_HOST;

// What the fibers share.
static struct client {
    struct sb_conn *conn;
    size_t size; // of conn
    const void *options;
    struct sb_driver_env env;
    int rc;
    struct sb_err err;
    _Atomic bool done;
    bool (*released)(void); // the wait has ended: the server accepts
    struct sb_fiber *other;
    bool other_ran; // before `done`
} client;

static struct sb_opts *opts;

static inline void set(const char *option, const char *value)
{
    struct sb_err err = { 0 };

    CHECK_INT(sb_opts_set(opts, option, value, SB_SRC_CMDLINE, &err), 0);
    CHECK_STR(err.msg, "");
}

// values: where the options of `table` are stored. conn: of `size` bytes.
static inline void begin_client(
    const struct sb_opt_table *table, void *values, void *conn, size_t size)
{
    struct sb_err err = { 0 };

    opts = sb_opts_new();
    sb_opts_add(opts, table, values, &err);
    client.env = (struct sb_driver_env){ .host = &host };
    client.conn = conn;
    client.size = size;
    client.options = values;
}

static inline void finish(void)
{
    sb_driver.generic->env_done(&client.env);
    sb_opts_free(opts);
    close_all();
}

static inline void connect_in_fiber(void *arg)
{
    struct sb_conn_info info = { 0 };

    memset(&client.err, 0, sizeof(client.err));
    client.rc = sb_driver.generic->connect(
        client.conn, &client.env, client.options, &info, &client.err);
    sb_driver.generic->disconnect(client.conn);
    client.done = true;
}

static inline void until_done(void *arg)
{
    while (!client.done)
        sleep_a_little();
}

static inline void occupy_helper(void *arg)
{
    CHECK_INT(sb_helper_run(until_done, NULL, NULL, SB_FOREVER), 0);
}

static inline void end_the_wait(void *arg)
{
    client.other_ran = !client.done;
    while (!client.done) {
        int fd = client.released() ? accept(listener, NULL, NULL) : -1;

        if (fd >= 0)
            close(fd);
        sb_fiber_sleep(client.other, sb_clock_monotonic() + MS);
    }
}

static inline bool at_once(void)
{
    return true;
}

static inline bool never(void)
{
    return false;
}

static inline bool after_lookup(void)
{
    if (looking)
        answers = true;
    return looking;
}

// Connects in this thread, while another one executes released().
static inline void *end_the_wait_in_thread(void *arg)
{
    while (!client.done) {
        client.released();
        sleep_a_little();
    }
    return NULL;
}

static inline void connect_in_thread(bool (*released)(void))
{
    pthread_t other;

    looking = answers = false;
    client.done = false;
    client.released = released;
    memset(client.conn, 0, client.size);
    pthread_create(&other, NULL, end_the_wait_in_thread, NULL);
    alarm(HANGS);
    connect_in_fiber(NULL);
    alarm(0);
    pthread_join(other, NULL);
}

// Connects in one of the fibers; the outcome is in client. helper_busy: the
// only helper is, until the connect has ended.
static inline void connect_in_loop(bool (*released)(void), bool helper_busy)
{
    struct sb_loop *l = sb_loop_new(3, false);
    struct sb_helpers *h = sb_helpers_new(1);
    struct sb_err err = { 0 };

    looking = answers = false;
    client.done = false;
    client.released = released;
    memset(client.conn, 0, client.size);
    sb_loop_helpers(l, h);
    if (helper_busy)
        sb_loop_add(l, 256 * 1024, occupy_helper, NULL);
    sb_loop_add(l, 256 * 1024, connect_in_fiber, NULL);
    client.other = sb_loop_add(l, 256 * 1024, end_the_wait, NULL);
    CHECK_INT(sb_loop_open(l, SB_LOOP_ANY, &err), 0);
    alarm(HANGS);
    sb_loop_run(l);
    alarm(0);
    sb_helpers_free(h);
    sb_loop_close(l);
    sb_loop_free(l);
    CHECK(client.other_ran);
}

static inline void connect_beside(bool (*released)(void))
{
    connect_in_loop(released, false);
}

// All helpers are busy until the connect has ended.
static inline void connect_without_helper(bool (*released)(void))
{
    connect_in_loop(released, true);
}

#endif
