// SPDX-License-Identifier: GPL-2.0-or-later
//
// When a cancel arrives: before, in and after a call, with an answer, before
// and in a connect.
#include "fake_mysql.h"

static void cancel(void)
{
    sb_driver.generic->cancel(conn);
}

static void ready(void)
{
    uint32_t n;

    answer_prepare();
    answer_ok();
    answer_ok();
    CHECK_INT(start("mysql-ssl", "off"), 0);
    CHECK_INT(sb_driver.sql->prepare(conn, stmt, "DO 1", 4, NULL, &n, &err), 0);
    CHECK(statement.types != NULL); // not executed by the library
}

static int execute(void)
{
    struct sb_result res = { 0 };
    int rc;

    memset(&err, 0, sizeof(err));
    rc = sb_driver.sql->execute(conn, stmt, NULL, 0, &res, &err);
    sb_driver.sql->free_result(conn, &res);
    return rc;
}

static int query(void)
{
    struct sb_result res = { 0 };

    memset(&err, 0, sizeof(err));
    return sb_driver.sql->query(conn, "DO 1", 4, &res, &err);
}

static ssize_t answer_then_cancel(struct sb_exchange *x)
{
    ssize_t n = sb_io_exchange(x);

    cancel();
    return n;
}

static ssize_t cancel_then_answer(struct sb_exchange *x)
{
    cancel();
    return sb_io_exchange(x);
}

// The next call that the driver itself sends is canceled.
static struct sb_host meddling;

static void meddle(ssize_t (*exchange)(struct sb_exchange *x))
{
    meddling = host;
    meddling.exchange = exchange;
    room.own.socket.host = &meddling;
}

static void check_canceled_for_good(void)
{
    CHECK_INT(execute(), SB_ECANCELED);
    CHECK_STR(err.msg, "the call was canceled");
    CHECK_INT(query(), SB_ECANCELED);
    memset(&err, 0, sizeof(err));
    CHECK_INT(sb_driver.generic->reset(conn, &err), SB_ERECONNECT);
}

static void no_call(void)
{
    ready();
    cancel();
    CHECK_INT(execute(), 0);
    cancel();
    CHECK_INT(query(), 0);
    finish();
}

static void a_call(void)
{
    ready();
    meddle(cancel_then_answer);
    CHECK_INT(execute(), SB_ECANCELED);
    check_canceled_for_good();
    finish();
}

// The call has succeeded, but its connection is closed.
static void with_an_answer(void)
{
    ready();
    meddle(answer_then_cancel);
    CHECK_INT(execute(), 0);
    CHECK_INT(sb_driver.generic->socket(conn), -1); // not known to be lost
    check_canceled_for_good();
    finish();
}

static void connected_again(void)
{
    ready();
    meddle(cancel_then_answer);
    CHECK_INT(execute(), SB_ECANCELED);
    pthread_join(server.thread, NULL);
    pthread_create(&server.thread, NULL, serve, NULL);
    sb_driver.sql->close(conn, stmt);
    memset(&err, 0, sizeof(err));
    CHECK_INT(sb_driver.generic->reconnect(conn, &err), 0);
    CHECK_STR(err.msg, "");
    CHECK_INT(query(), 0);
    finish();
}

static void before_a_connect(void)
{
    struct sb_conn_info info = { 0 };

    ready();
    sb_driver.sql->close(conn, stmt);
    sb_driver.generic->disconnect(conn);
    memset(&room, 0, sizeof(room));
    memset(&err, 0, sizeof(err));
    cancel();
    CHECK_INT(sb_driver.generic->connect(conn, &env, &values, &info, &err),
        SB_ECANCELED);
    CHECK_STR(err.msg, "connecting was canceled");
    finish();
}

CHECK_FILE
{
    RUN(no_call);
    RUN(a_call);
    RUN(with_an_answer);
    RUN(connected_again);
    RUN(before_a_connect);
    return check_done();
}
