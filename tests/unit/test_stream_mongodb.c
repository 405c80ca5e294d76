// SPDX-License-Identifier: GPL-2.0-or-later
//
// The timeout of a read or write of the driver's sockets holds for the whole,
// however many parts it has: a peer sends or takes a few bytes at a time,
// without end.
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "check.h"
#include "drivers/mongodb/internal.h"
#include "loop/helper.h"
#include "loop/io.h"
#include "loop/loop.h"

#define HANGS      120 // seconds after which the program counts as hung
#define TIMEOUT_MS 200
#define LONG       ((size_t)64 << 20)

static const struct sb_host host = { .wait = sb_io_wait,
    .exchange = sb_io_exchange,
    .sleep = sb_io_sleep,
    .apart = sb_helper_run,
    .shared = sb_helper_shared };

// The peer -------------------------------------------------------------------

static int listener, room = 65536; // room: size of buffers
static size_t portion;             // bytes at a time
static bool sends;                 // or receives
static _Atomic bool over;

static void *be_peer(void *arg)
{
    static char some[65536];
    int fd = accept(listener, NULL, NULL);

    while (!over) {
        if (sends)
            send(fd, some, portion, MSG_NOSIGNAL);
        else
            recv(fd, some, portion, MSG_DONTWAIT);
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
    close(fd);
    return NULL;
}

static mongoc_uri_t *listen_tcp(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(a);
    char url[64];

    listener = socket(AF_INET, SOCK_STREAM, 0);
    // Small buffers, so that something can be sent each time.
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    CHECK_INT(bind(listener, (struct sockaddr *)&a, len), 0);
    CHECK_INT(listen(listener, 1), 0);
    getsockname(listener, (struct sockaddr *)&a, &len);
    snprintf(url, sizeof(url), "mongodb://127.0.0.1:%u", ntohs(a.sin_port));
    return mongoc_uri_new(url);
}

// The driver -----------------------------------------------------------------

static struct sbmo_env env = { .connect_ms = HANGS * 1000 };
static struct sbmo_conn conn = { .env = &env, .host = &host };
static char *buffer;

static void call(void *arg)
{
    mongoc_stream_t *s = sbmo_stream(
        arg, mongoc_uri_get_hosts(arg), &conn, NULL);
    ssize_t n;
    int why;

    mongoc_stream_setsockopt(s, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    n = sends ? mongoc_stream_read(s, buffer, LONG, LONG, TIMEOUT_MS)
              : mongoc_stream_write(s, buffer, LONG, TIMEOUT_MS);
    why = errno;
    CHECK_INT(n, -1);
    CHECK_INT(why, ETIMEDOUT);
    CHECK(mongoc_stream_timed_out(s));
    mongoc_stream_destroy(s);
}

static void in_fiber(mongoc_uri_t *uri, enum sb_loop_kind kind)
{
    struct sb_loop *l = sb_loop_new(1, false);
    struct sb_err err = { 0 };

    sb_loop_add(l, 256 * 1024, call, uri);
    CHECK_INT(sb_loop_open(l, kind, &err), 0);
    sb_loop_run(l);
    sb_loop_close(l);
    sb_loop_free(l);
}

static void against_peer(void (*run)(mongoc_uri_t *uri))
{
    mongoc_uri_t *uri = listen_tcp();
    pthread_t peer;

    over = false;
    pthread_create(&peer, NULL, be_peer, NULL);
    alarm(HANGS);
    run(uri);
    alarm(0);
    over = true;
    pthread_join(peer, NULL);
    close(listener);
    mongoc_uri_destroy(uri);
}

static void as_thread(mongoc_uri_t *uri)
{
    call(uri);
}
static void as_fiber(mongoc_uri_t *uri)
{
    in_fiber(uri, SB_LOOP_ANY);
}
static void with_epoll(mongoc_uri_t *uri)
{
    in_fiber(uri, SB_LOOP_EPOLL);
}

static void each_way(void)
{
    against_peer(as_thread);
    against_peer(as_fiber);
    against_peer(with_epoll);
}

static void an_answer_without_end(void)
{
    sends = true;
    portion = 1;
    each_way();
}

static void a_request_without_end(void)
{
    sends = false;
    portion = 65536;
    each_way();
}

CHECK_FILE
{
    buffer = calloc(1, LONG);
    mongoc_init();
    RUN(an_answer_without_end);
    RUN(a_request_without_end);
    mongoc_cleanup();
    free(buffer);
    return check_done();
}
