// SPDX-License-Identifier: GPL-2.0-or-later
//
// What would block a worker while the library connects: a name, a Unix socket
// whose queue is full.
#include "slow_connect.h"

#include "drivers/mysql/mysql_priv.h"

extern const struct sb_driver sb_driver;

static struct sbmy_opts values;
static union {
    struct sbmy_conn own;
    max_align_t align;
} room;

static void start(void)
{
    begin_client(&sbmy_opt_table, &values, &room, sizeof(room));
    CHECK_INT(
        sb_driver.generic->env_init(&client.env, &values, &client.err), 0);
}

#define LOST 2013 // a connection that is closed before the server's greeting

static void a_name(void)
{
    char port[16];

    start();
    snprintf(port, sizeof(port), "%u", listen_tcp());
    set("mysql-host", SLOW_NAME);
    set("mysql-port", port);
    connect_beside(after_lookup);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK_INT(client.err.native, LOST);
    CHECK(!pthread_equal(looker, pthread_self()));
    finish();
}

static void a_full_queue(void)
{
    start();
    listen_full("full.sock");
    set("mysql-socket", "full.sock");
    connect_beside(at_once);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK_INT(client.err.native, LOST);
    finish();
}

static void addresses(void)
{
    static const struct {
        struct sbmy_place place;
        bool address;
    } c[] = {
        { { .host = "127.0.0.1" }, true },
        { { .host = "::1" }, true },
        { { .host = "127.0.0.1", .socket = "/s" }, false },
        { { .host = "localhost" }, false },
        { { .host = NULL }, false },
    };

    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
        CHECK_INT(sbmy_place_is_address(c[i].place), c[i].address);
}

int main(void)
{
    RUN(addresses);
    RUN(a_name);
    RUN(a_full_queue);
    return check_done();
}
