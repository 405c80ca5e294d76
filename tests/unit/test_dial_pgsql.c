// SPDX-License-Identifier: GPL-2.0-or-later
//
// What would block a worker while the driver connects: a name, a Unix socket
// whose queue is full.
#include "slow_connect.h"

#include "drivers/pgsql/internal.h"

extern const struct sb_driver sb_driver;

static struct pgsql_opts values;
static union {
    struct pgsql_conn own;
    max_align_t align;
} room;

static void start(const char *host_name)
{
    begin_client(&pgsql_opt_table, &values, &room, sizeof(room));
    set("pgsql-host", host_name);
    CHECK_INT(
        sb_driver.generic->env_init(&client.env, &values, &client.err), 0);
}

static void start_full(void)
{
    char here[512];

    CHECK(getcwd(here, sizeof(here)) != NULL);
    listen_full(".s.PGSQL.5432");
    start(here);
}

static bool says(const char *text)
{
    return strstr(client.err.msg, text) != NULL;
}

static void a_name(void)
{
    char port[16];

    snprintf(port, sizeof(port), "%u", listen_tcp());
    start(SLOW_NAME);
    set("pgsql-port", port);
    connect_beside(after_lookup);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK(says("closed the connection"));
    CHECK(!pthread_equal(looker, pthread_self()));
    finish();
}

// libpq looks up the second name after it could not connect to the first.
static void a_list_of_names(void)
{
    struct sb_err err = { 0 };
    char text[160];

    snprintf(text, sizeof(text), "host=127.0.0.1,%s port=1,%u", SLOW_NAME,
        listen_tcp());
    start("");
    set("pgsql-host", "");
    set("pgsql-conninfo", text);
    sb_driver.generic->env_done(&client.env);
    CHECK_INT(sb_driver.generic->env_init(&client.env, &values, &err), 0);
    connect_beside(after_lookup);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK(says("closed the connection"));
    CHECK(!pthread_equal(looker, pthread_self()));
    finish();
}

static void a_full_queue(void)
{
    start_full();
    connect_beside(at_once);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK(says("closed the connection"));
    CHECK(!says("temporarily unavailable"));
    finish();
}

static void a_full_queue_for_too_long(void)
{
    start_full();
    set("pgsql-connect-timeout", "0.05");
    connect_beside(never);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK(says("temporarily unavailable"));
    finish();
}

static bool cancels(void)
{
    sb_driver.generic->cancel(client.conn);
    return false;
}

static void a_full_queue_until_a_cancel(void)
{
    start_full();
    connect_beside(cancels);
    CHECK_INT(client.rc, SB_ECANCELED);
    finish();
}

// The connect has not begun: no helper is free to look up the name.
static void no_helper_until_a_cancel(void)
{
    listen_tcp();
    start(SLOW_NAME);
    set("pgsql-connect-timeout", "1000");
    connect_without_helper(cancels);
    CHECK_INT(client.rc, SB_ECANCELED);
    CHECK_STR(client.err.msg, "connecting was canceled");
    CHECK(!looking);
    finish();
}

static void no_helper_for_too_long(void)
{
    listen_tcp();
    start(SLOW_NAME);
    set("pgsql-connect-timeout", "0.05");
    connect_without_helper(never);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK_STR(client.err.msg,
        "no thread was free to look up the name of the host before the connect "
        "timeout of 0.05 s");
    CHECK(!looking);
    finish();
}

static void names(void)
{
    static const struct {
        const char *host, *address;
        enum pgsql_names names;
    } c[] = {
        { "/tmp", NULL, PGSQL_NO_NAME },
        { "@abstract", NULL, PGSQL_NO_NAME },
        { "", NULL, PGSQL_NO_NAME },
        { "127.0.0.1", NULL, PGSQL_NO_NAME },
        { "::1,127.0.0.1,/tmp", NULL, PGSQL_NO_NAME },
        { "db", NULL, PGSQL_ONE_NAME },
        { "127.1", NULL, PGSQL_ONE_NAME },
        { "::1,db", NULL, PGSQL_NAMES },
        { "db", "10.0.0.1", PGSQL_NO_NAME },
        { "db", "", PGSQL_ONE_NAME },
        { NULL, NULL, PGSQL_NAMES },
    };

    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
        struct pgsql_target t = { 0 };

        if (c[i].host) {
            t.key[t.n] = "host";
            t.value[t.n++] = c[i].host;
        }
        if (c[i].address) {
            t.key[t.n] = "hostaddr";
            t.value[t.n++] = c[i].address;
        }
        CHECK_INT(pgsql_target_names(&t), c[i].names);
    }
}

CHECK_FILE
{
    RUN(names);
    RUN(a_name);
    RUN(a_list_of_names);
    RUN(a_full_queue);
    RUN(a_full_queue_for_too_long);
    RUN(a_full_queue_until_a_cancel);
    RUN(no_helper_until_a_cancel);
    RUN(no_helper_for_too_long);
    return check_done();
}
