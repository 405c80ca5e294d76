// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether the server has closed an idle connection: with a pair of sockets, of
// which the test closes one.
#include <sys/socket.h>
#include <unistd.h>

#include "fake.h"

static int pair[2]; // of the connection, and of the server; -1: closed

static int socket_fake(const struct sb_conn *conn)
{
    return pair[0];
}

static const struct sb_generic_ops with_socket = { .socket = socket_fake };
static const struct sb_generic_ops without_socket = { 0 };

static void open_pair(const struct sb_generic_ops *generic)
{
    drv.generic = generic;
    start();
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
}

static int socket_lost(const struct sb_conn *conn)
{
    return SB_ELOST;
}

static const struct sb_generic_ops with_lost_socket = { .socket = socket_lost };

static void hang_up(void)
{
    close(pair[1]);
    pair[1] = -1;
}

static void close_pair(void)
{
    close(pair[0]);
    if (pair[1] >= 0)
        close(pair[1]);
    finish();
}

static void closed_by_the_server(void)
{
    open_pair(&with_socket);
    CHECK(sb_con_alive(&c.pub));
    hang_up();
    CHECK(!sb_con_alive(&c.pub));
    CHECK(!sb_con_alive(&c.pub));
    close_pair();
}

static void closed_by_the_driver(void)
{
    open_pair(&with_lost_socket);
    CHECK(!sb_con_alive(&c.pub));
    close_pair();
}

// A server may send something before it closes a connection, or without closing
// it.
static void data_before_the_end(void)
{
    open_pair(&with_socket);
    CHECK_INT(send(pair[1], "notice", 6, 0), 6);
    CHECK(sb_con_alive(&c.pub));
    hang_up();
    CHECK(!sb_con_alive(&c.pub));
    close_pair();
}

static void closed_here(void)
{
    open_pair(&with_socket);
    c.state = SB__CON_CLOSED;
    CHECK(!sb_con_alive(&c.pub));
    c.state = SB__CON_BROKEN;
    CHECK(!sb_con_alive(&c.pub));
    close_pair();
}

// A driver may close the socket to cancel a call.
static void canceled(void)
{
    open_pair(&with_socket);
    hang_up();
    CHECK(!sb_con_canceled(&c.pub));
    c.err.code = SB_ECANCELED;
    CHECK(sb_con_canceled(&c.pub));
    CHECK(sb_con_alive(&c.pub));
    close_pair();
}

static void no_socket(void)
{
    open_pair(&without_socket);
    hang_up();
    CHECK(sb_con_alive(&c.pub));
    close_pair();
    open_pair(&with_socket);
    close(pair[0]);
    pair[0] = -1;
    CHECK(sb_con_alive(&c.pub));
    hang_up();
    finish();
}

CHECK_FILE
{
    RUN(closed_by_the_server);
    RUN(closed_by_the_driver);
    RUN(data_before_the_end);
    RUN(closed_here);
    RUN(canceled);
    RUN(no_socket);
    return check_done();
}
