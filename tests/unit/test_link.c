// SPDX-License-Identifier: GPL-2.0-or-later
//
// Connecting, disconnecting, one attempt to reconnect; when a cancel reaches
// the driver.
#include "db/link.h"

#include "fake.h"
#include "loop/fiber.h"

static int fails; // of connect() and reconnect()
static struct sb_fiber_waits waits;
static uint64_t queue_ns; // how long connect() waits for a helper thread

static int attempt(const char *what, struct sb_err *err)
{
    note("%s%s ", what, c.cancelable ? "!" : "");
    return fails ? sb_err_set(err, fails, "refused") : 0;
}

static int fake_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *values, const struct sb_conn_info *info, struct sb_err *err)
{
    waits.queued += queue_ns;
    return attempt("connect", err);
}

static int fake_reconnect(struct sb_conn *conn, struct sb_err *err)
{
    return attempt("reconnect", err);
}

static void fake_disconnect(struct sb_conn *conn)
{
    note("disconnect%s ", c.cancelable ? "!" : "");
}

static struct sb_generic_ops generic_ops = { .connect = fake_connect,
    .disconnect = fake_disconnect };

static void start_link(uint64_t caps)
{
    drv.generic = &generic_ops;
    drv.caps = caps;
    generic_ops.reconnect = NULL;
    fails = 0;
    start();
}

// "!" in the log: cancel() may be called.
static void cancels_only_what_it_may(void)
{
    for (int i = 0; i < 2; i++) {
        start_link(i ? SB_CAP_CANCEL_CONNECT : 0);
        c.state = SB__CON_CLOSED;
        CHECK_INT(sb__link_open(&c, &c.err), 0);
        CHECK(c.cancelable);
        CHECK_STR(logged(), i ? "connect! " : "connect ");
        sb__link_close(&c);
        CHECK(!c.cancelable);
        fails = SB_ECONNECT;
        CHECK_INT(sb__link_open(&c, &c.err), SB_ECONNECT);
        CHECK(!c.cancelable);
        CHECK_STR(logged(), i ? "disconnect connect! disconnect "
                              : "disconnect connect disconnect ");
        finish();
    }
}

static void time_in_the_queue_of_helpers(void)
{
    start_link(0);
    waits.queued = 1000;
    ctx.waits = &waits;
    queue_ns = 70;
    c.state = SB__CON_CLOSED;
    CHECK_INT(sb__link_open(&c, &c.err), 0);
    CHECK_INT(c.queued_ns, 70);
    CHECK_INT(c.queued_waits, 0); // not for --connect-parallel
    ctx.waits = NULL;
    queue_ns = 0;
    finish();
}

static void again(void)
{
    start_link(0);
    c.cancelable = true;
    CHECK_INT(sb__link_again(&c), 0);
    CHECK_INT(c.state, SB__CON_OPEN);
    CHECK_STR(logged(), "disconnect connect ");
    CHECK_INT(c.lost_at, fake.ns0);
    generic_ops.reconnect = fake_reconnect;
    CHECK_INT(sb__link_again(&c), 0);
    CHECK(c.cancelable);
    CHECK_STR(logged(), "reconnect ");
    finish();
}

static void again_until_a_cancel(void)
{
    start_link(SB_CAP_CANCEL_CONNECT);
    generic_ops.reconnect = fake_reconnect;
    fails = SB_ECANCELED;
    CHECK_INT(sb__link_again(&c), SB_ECANCELED);
    CHECK(!c.cancelable);
    CHECK_STR(logged(), "reconnect! disconnect ");
    finish();
}

static int answers; // of the server that the proxy connects to
static int fake_query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    note("query(%.*s) ", (int)len, sql);
    return answers ? sb_err_set(err, answers, "no server") : 0;
}

static void free_nothing(struct sb_conn *conn, struct sb_result *res)
{
}

// A proxy accepts the connection, but has no connection to the server.
static void lost_behind_a_proxy(void)
{
    struct sb_sql_ops sql = { .query = fake_query,
        .free_result = free_nothing };

    start_link(0);
    c.sql = &sql;
    CHECK_INT(sb__link_again(&c), 0); // was not lost
    CHECK_STR(logged(), "disconnect connect ");
    c.state = SB__CON_BROKEN;
    answers = SB_ELOST;
    CHECK_INT(sb__link_again(&c), SB_ELOST);
    CHECK_INT(c.state, SB__CON_AWAY);
    CHECK_STR(logged(), "disconnect connect query(SELECT 1) disconnect ");
    answers = SB_ECANCELED;
    CHECK_INT(sb__link_again(&c), SB_ECANCELED);
    CHECK_STR(logged(), "connect query(SELECT 1) disconnect ");
    answers = SB_EQUERY; // an answer
    CHECK_INT(sb__link_again(&c), 0);
    CHECK_INT(c.state, SB__CON_OPEN);
    CHECK_INT(c.err.code, 0);
    CHECK_STR(logged(), "connect query(SELECT 1) ");
    c.sql = NULL;
    finish();
}

// A failed attempt leaves it disconnected: the next one connects.
static void failed_and_tried_again(void)
{
    start_link(0);
    generic_ops.reconnect = fake_reconnect;
    fails = SB_ECONNECT;
    CHECK_INT(sb__link_again(&c), SB_ECONNECT);
    CHECK_INT(c.state, SB__CON_AWAY);
    CHECK_STR(logged(), "reconnect disconnect ");
    fake.ns0++;
    fails = 0;
    CHECK_INT(sb__link_again(&c), 0);
    CHECK_STR(logged(), "connect query(SELECT 1) ");
    CHECK_INT(c.lost_at, fake.ns0 - 1);
    CHECK_INT(c.state, SB__CON_OPEN);
    finish();
}

// What exists on the server ends before the connection does.
static void statements_are_closed_first(void)
{
    struct sb_stmt_handle *st;

    start_link(0);
    st = sb_stmt_open(&c.pub, "select", 6, NULL);
    CHECK(sb_stmt_execute(st) != NULL);
    logged();
    CHECK_INT(sb__link_again(&c), 0);
    CHECK_STR(logged(), "close(select) disconnect connect ");
    CHECK_INT(c.outcome, SB__OUTCOME_NONE);
    CHECK(sb_stmt_execute(st) != NULL);
    CHECK_STR(logged(), "prepare(select) execute() ");
    finish();
    drv.caps = 0;
}

CHECK_FILE
{
    RUN(cancels_only_what_it_may);
    RUN(time_in_the_queue_of_helpers);
    RUN(again);
    RUN(again_until_a_cancel);
    RUN(failed_and_tried_again);
    RUN(lost_behind_a_proxy);
    RUN(statements_are_closed_first);
    return check_done();
}
