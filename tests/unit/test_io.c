// SPDX-License-Identifier: GPL-2.0-or-later
//
// Waiting for descriptors in fibers and in threads.
#include "loop/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/loop.h"
#include "check.h"

#define STACK (256 * 1024)
#define MS    UINT64_C(1000000)
#define N     50

// NULL: in this thread, without a loop.
static const enum sb_loop_kind *kind;

static void run_in(void (*fn)(void *arg), void *args, size_t size, int n)
{
    struct sb_loop *l = sb_loop_new((unsigned)n, false);
    struct sb_err err = { 0 };

    for (int i = 0; i < n; i++) {
        void *arg = (char *)args + (size_t)i * size;

        if (kind)
            sb_loop_add(l, STACK, fn, arg);
        else
            fn(arg);
    }
    if (kind && sb_loop_open(l, *kind, &err) == 0)
        sb_loop_run(l);
    CHECK_STR(err.msg, "");
    sb_loop_close(l);
    sb_loop_free(l);
}

static uint64_t after(uint64_t ms)
{
    return sb_clock_monotonic() + ms * MS;
}

// A peer that answers each request with its bytes, in a thread. ------------

struct echo {
    int fd[2]; // [0]: of the user
    pthread_t thread;
    int rounds;
    size_t size; // of a request
};

static void *answer(void *arg)
{
    struct echo *e = arg;
    char *buf = malloc(e->size);

    for (;;) {
        size_t got = 0;

        while (got < e->size) {
            ssize_t n = recv(e->fd[1], buf + got, e->size - got, 0);

            if (n <= 0) {
                free(buf);
                return NULL;
            }
            got += (size_t)n;
        }
        send(e->fd[1], buf, e->size, MSG_NOSIGNAL);
    }
}

static void open_echo(struct echo *e, int rounds, size_t size)
{
    *e = (struct echo){ .rounds = rounds, .size = size };
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, e->fd), 0);
    pthread_create(&e->thread, NULL, answer, e);
}

static void close_echo(struct echo *e)
{
    shutdown(e->fd[0], SHUT_RDWR);
    pthread_join(e->thread, NULL);
    close(e->fd[0]);
    close(e->fd[1]);
}

static void converse(void *arg)
{
    struct echo *e = arg;
    char *out = malloc(e->size), *in = malloc(e->size);

    for (int i = 0; i < e->rounds; i++) {
        size_t got = 0;

        memset(out, i, e->size);
        while (got < e->size) {
            struct sb_exchange x = { .fd = e->fd[0],
                .poll_first = true,
                .out = out,
                .len = got ? 0 : e->size,
                .in = in + got,
                .cap = e->size - got,
                .deadline = SB_FOREVER };
            ssize_t n = sb_io_exchange(&x);

            CHECK(n > 0);
            if (n <= 0)
                break;
            got += (size_t)n;
        }
        CHECK(memcmp(in, out, e->size) == 0);
    }
    free(out);
    free(in);
}

static void requests_are_answered(void)
{
    static struct echo e[N];

    for (int i = 0; i < N; i++)
        open_echo(&e[i], 20, 100);
    run_in(converse, e, sizeof(e[0]), N);
    for (int i = 0; i < N; i++)
        close_echo(&e[i]);
}

// Requests that no socket buffer holds: the send is continued.
static void long_requests_are_sent_whole(void)
{
    struct echo e[3];

    for (int i = 0; i < 3; i++)
        open_echo(&e[i], 3, 2000000);
    run_in(converse, e, sizeof(e[0]), 3);
    for (int i = 0; i < 3; i++)
        close_echo(&e[i]);
}

static void non_blocking_sockets_are_waited_for(void)
{
    struct echo e[3];

    for (int i = 0; i < 3; i++) {
        open_echo(&e[i], 20, 100);
        fcntl(e[i].fd[0], F_SETFL, O_NONBLOCK);
    }
    run_in(converse, e, sizeof(e[0]), 3);
    for (int i = 0; i < 3; i++)
        close_echo(&e[i]);
}

// Deadlines ----------------------------------------------------------------

static void wait_for_nothing(void *arg)
{
    int *fd = arg;
    uint64_t until = after(3);
    char in[10];
    struct sb_exchange x = {
        .fd = fd[0], .out = "x", .len = 1, .in = in, .cap = sizeof(in)
    };

    CHECK_INT(sb_io_wait(fd[0], POLLIN, until), 0);
    CHECK(sb_clock_monotonic() >= until);
    x.deadline = until = after(3);
    CHECK_INT(sb_io_exchange(&x), -ETIMEDOUT);
    CHECK(sb_clock_monotonic() >= until);
    // The receive was canceled: what arrives later is not lost.
    CHECK_INT(send(fd[1], "late", 4, 0), 4);
    x.len = 0;
    x.deadline = SB_FOREVER;
    CHECK_INT(sb_io_exchange(&x), 4);
    CHECK(!x.unsent);
    CHECK(memcmp(in, "late", 4) == 0);
}

static void deadlines_end_waiting(void)
{
    int fd[4][2];

    for (int i = 0; i < 4; i++)
        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fd[i]), 0);
    run_in(wait_for_nothing, fd, sizeof(fd[0]), 4);
    for (int i = 0; i < 8; i++)
        close(fd[i / 2][i % 2]);
}

// With SO_RCVTIMEO, in a thread recv() itself waits.
static void receive_nothing(void *arg)
{
    int *fd = arg;
    struct timeval t = { .tv_usec = 3000 };
    char in[10];
    struct sb_exchange x = {
        .fd = fd[0], .times_out = true, .in = in, .cap = sizeof(in)
    };

    CHECK_INT(setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)), 0);
    x.deadline = after(3);
    CHECK_INT(sb_io_exchange(&x), -ETIMEDOUT);
    CHECK(sb_clock_monotonic() >= x.deadline);
    // It ends earlier than the deadline: the rest is waited for.
    x.deadline = after(9);
    CHECK_INT(sb_io_exchange(&x), -ETIMEDOUT);
    CHECK(sb_clock_monotonic() >= x.deadline);
    CHECK_INT(send(fd[1], "late", 4, 0), 4);
    x.deadline = after(60000);
    CHECK_INT(sb_io_exchange(&x), 4);
    CHECK(memcmp(in, "late", 4) == 0);
}

static void sockets_may_time_out_by_themselves(void)
{
    int fd[4][2];

    for (int i = 0; i < 4; i++)
        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fd[i]), 0);
    run_in(receive_nothing, fd, sizeof(fd[0]), 4);
    for (int i = 0; i < 8; i++)
        close(fd[i / 2][i % 2]);
}

// After a wait that has timed out, what happens to its socket is not reported
// to the fiber, which waits for something else.
static void time_out_and_sleep(void *arg)
{
    int *fd = arg;
    uint64_t until = after(2);

    CHECK_INT(sb_io_wait(fd[0], POLLIN, until), 0);
    shutdown(fd[0], SHUT_RDWR);
    until = after(3);
    sb_io_sleep(until);
    CHECK(sb_clock_monotonic() >= until);
    CHECK(sb_io_wait(fd[0], POLLIN, SB_FOREVER) & POLLHUP);
}

static void a_wait_that_timed_out_is_over(void)
{
    int fd[3][2];

    for (int i = 0; i < 3; i++)
        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fd[i]), 0);
    run_in(time_out_and_sleep, fd, sizeof(fd[0]), 3);
    for (int i = 0; i < 6; i++)
        close(fd[i / 2][i % 2]);
}

// A send that waits is canceled, too.
static void send_too_much(void *arg)
{
    int *fd = arg;
    size_t len = 8000000;
    char *out = calloc(1, len), in[10];
    struct sb_exchange x = { .fd = fd[0],
        .out = out,
        .len = len,
        .in = in,
        .cap = sizeof(in),
        .deadline = after(3) };

    CHECK_INT(sb_io_exchange(&x), -ETIMEDOUT);
    free(out);
}

static void a_send_that_is_not_read_ends(void)
{
    int fd[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    run_in(send_too_much, fd, sizeof(fd), 1);
    close(fd[0]);
    close(fd[1]);
}

// Ends ---------------------------------------------------------------------

static void receive_end(void *arg)
{
    int *fd = arg;
    char in[10];
    struct sb_exchange x = {
        .fd = fd[0], .in = in, .cap = sizeof(in), .deadline = SB_FOREVER
    };

    CHECK_INT(sb_io_exchange(&x), 0);
    x.out = "x";
    x.len = 1;
    CHECK_INT(sb_io_exchange(&x), -EPIPE);
    CHECK(x.unsent);
    CHECK(sb_io_wait(fd[0], POLLIN, SB_FOREVER) & POLLHUP);
}

static void the_end_of_a_connection_is_seen(void)
{
    int fd[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    close(fd[1]);
    run_in(receive_end, fd, sizeof(fd), 1);
    close(fd[0]);
}

static void wait_for_file(void *arg)
{
    const int *fd = arg;

    CHECK(sb_io_wait(*fd, POLLIN, SB_FOREVER) & POLLIN);
    CHECK(sb_io_wait(-1, POLLIN, after(1)) <= 0);
}

static void files_are_always_ready(void)
{
    int fd = open("/proc/self/exe", O_RDONLY);

    run_in(wait_for_file, &fd, sizeof(fd), 1);
    close(fd);
}

// Another thread ends a wait by shutting the socket down, as a driver's
// cancel() does.
static void *shut_down(void *arg)
{
    const int *fd = arg;

    sb_clock_sleep_until(after(2));
    shutdown(fd[0], SHUT_RDWR);
    return NULL;
}

static void wait_for_shutdown(void *arg)
{
    const int *fd = arg;
    char in[10];
    struct sb_exchange x = { .fd = fd[0],
        .out = "x",
        .len = 1,
        .in = in,
        .cap = sizeof(in),
        .deadline = SB_FOREVER };

    CHECK(sb_io_exchange(&x) <= 0);
}

static void a_shutdown_ends_waiting(void)
{
    pthread_t thread;
    int fd[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    pthread_create(&thread, NULL, shut_down, fd);
    run_in(wait_for_shutdown, fd, sizeof(fd), 1);
    pthread_join(thread, NULL);
    close(fd[0]);
    close(fd[1]);
}

static void sleep_twice(void *arg)
{
    uint64_t *until = arg;

    *until = after(2);
    sb_io_sleep(*until);
    CHECK(sb_clock_monotonic() >= *until);
    sb_io_sleep(*until); // has passed
}

static void sleeping_lasts_as_long_as_it_should(void)
{
    uint64_t until[3];

    run_in(sleep_twice, until, sizeof(until[0]), 3);
}

static void run_all(void)
{
    RUN(requests_are_answered);
    RUN(long_requests_are_sent_whole);
    RUN(non_blocking_sockets_are_waited_for);
    RUN(deadlines_end_waiting);
    RUN(sockets_may_time_out_by_themselves);
    RUN(a_wait_that_timed_out_is_over);
    RUN(a_send_that_is_not_read_ends);
    RUN(the_end_of_a_connection_is_seen);
    RUN(files_are_always_ready);
    RUN(a_shutdown_ends_waiting);
    RUN(sleeping_lasts_as_long_as_it_should);
}

static int has(enum sb_loop_kind k)
{
    struct sb_loop *l = sb_loop_new(1, false);
    struct sb_err err;
    int rc = sb_loop_open(l, k, &err);

    sb_loop_close(l);
    sb_loop_free(l);
    return rc == 0;
}

CHECK_FILE
{
    static const enum sb_loop_kind epoll = SB_LOOP_EPOLL, uring = SB_LOOP_URING;

    signal(SIGPIPE, SIG_IGN);
    run_all();
    kind = &epoll;
    run_all();
    if (has(SB_LOOP_URING)) {
        kind = &uring;
        run_all();
    } else {
        printf("ok %d - io_uring # SKIP refused\n", ++check_tests);
    }
    return check_done();
}
