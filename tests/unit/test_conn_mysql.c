// SPDX-License-Identifier: GPL-2.0-or-later
//
// What would block a worker while the library connects: a name, a Unix socket
// whose queue is full. How long a connect waits, and that it can be canceled.
#include "slow_connect.h"

#include "drivers/mysql/internal.h"

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

static void start_tcp(const char *name)
{
    char port[16];

    start();
    snprintf(port, sizeof(port), "%u", listen_tcp());
    set("mysql-host", name);
    set("mysql-port", port);
}

#define LOST 2013 // a connection that is closed before the server's greeting

static void a_name(void)
{
    start_tcp(SLOW_NAME);
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

static void check_error(int rc, const char *text)
{
    CHECK_INT(client.rc, rc);
    CHECK(strstr(client.err.msg, text) != NULL);
    finish();
}

#if SBMY_LOOP
static bool cancels(void)
{
    sb_driver.generic->cancel(client.conn);
    return false;
}

static bool cancels_after_lookup(void)
{
    return after_lookup() && cancels();
}

// The server accepts, but sends no greeting.
static void no_greeting_until_a_cancel(void)
{
    start_tcp("127.0.0.1");
    connect_beside(cancels);
    check_error(SB_ECANCELED, "connecting was canceled");
}

static void no_greeting_in_a_helper_until_a_cancel(void)
{
    start_tcp(SLOW_NAME);
    connect_beside(cancels_after_lookup);
    check_error(SB_ECANCELED, "connecting was canceled");
}

static void no_greeting_in_a_thread_until_a_cancel(void)
{
    start_tcp("127.0.0.1");
    connect_in_thread(cancels);
    check_error(SB_ECANCELED, "connecting was canceled");
}

static void no_helper_until_a_cancel(void)
{
    start_tcp(SLOW_NAME);
    connect_without_helper(cancels);
    CHECK(!looking);
    check_error(SB_ECANCELED, "connecting was canceled");
}
#endif

static void no_helper_for_too_long(void)
{
    start_tcp(SLOW_NAME);
    set("mysql-connect-timeout", "1");
    connect_without_helper(never);
    CHECK(!looking);
    check_error(SB_ECONNECT,
        "no thread was free to connect within --mysql-connect-timeout, because "
        "too many other connections were being opened");
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

CHECK_FILE
{
    RUN(addresses);
    RUN(a_name);
    RUN(a_full_queue);
#if SBMY_LOOP
    RUN(no_greeting_until_a_cancel);
    RUN(no_greeting_in_a_helper_until_a_cancel);
    RUN(no_greeting_in_a_thread_until_a_cancel);
    RUN(no_helper_until_a_cancel);
#endif
    RUN(no_helper_for_too_long);
    return check_done();
}
