// SPDX-License-Identifier: GPL-2.0-or-later
//
// The library loses the connection and closes its descriptor, whose number
// another socket has soon after: here a stranger, which must not receive a
// byte.
#include <fcntl.h>
#include <limits.h>

#include "check_folder.h"
#include "fake_mysql.h"

#define LOST     "the connection was lost"
#define NO_CLASH 100 // above the numbers of all other descriptors

static int number; // of the descriptor of the connection
static int stranger[2];

static void prepare_in(struct sbmy_stmt *p)
{
    uint32_t n;

    CHECK_INT(sb_driver.sql->prepare(
                  conn, (struct sb_stmt *)p, "DO 1", 4, NULL, &n, &err),
        0);
    CHECK_STR(err.msg, "");
    CHECK(p->types != NULL); // not executed by the library
}

static void ready(void)
{
    CHECK_INT(start("mysql-ssl", "off"), 0);
    prepare_in(&statement);
    number = room.own.socket.fd;
}

// The server closes the connection after one more request.
static void ready_for_one(void)
{
    answer_prepare();
    next_answer(); // an answer without bytes
    ready();
}

// Gives the number of the descriptor to another socket.
static void reuse_number(void)
{
    int pair[2];

    CHECK_INT(fcntl(number, F_GETFD), -1); // the library has closed it
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    for (int i = 0; i < 2; i++) {
        stranger[i] = fcntl(pair[i], F_DUPFD, NO_CLASH);
        close(pair[i]);
    }
    CHECK_INT(dup2(stranger[0], number), number);
    shutdown(stranger[1], SHUT_WR); // who reads from the number does not wait
}

static void check_stranger(void)
{
    char byte;

    CHECK_INT(recv(stranger[1], &byte, 1, MSG_DONTWAIT), -1);
    // Nor was it shut down, or closed.
    CHECK_INT(send(number, "x", 1, MSG_NOSIGNAL), 1);
    CHECK_INT(recv(stranger[1], &byte, 1, MSG_DONTWAIT), 1);
    close(stranger[0]);
    close(stranger[1]);
    close(number);
}

static void check_refused(int rc)
{
    CHECK_INT(rc, SB_ELOST);
    CHECK_INT(err.native, 2006);
    CHECK_STR(err.msg, LOST);
    memset(&err, 0, sizeof(err));
}

static void check_all_refused(void)
{
    const struct sb_item item = { .sql = "DO 1", .len = 4 };
    struct sb_result res = { 0 };
    struct sbmy_stmt other = { 0 };
    uint32_t n;

    reuse_number();
    CHECK_INT(sb_driver.generic->socket(conn), SB_ELOST);
    memset(&err, 0, sizeof(err));
    check_refused(sb_driver.sql->execute(conn, stmt, NULL, 0, &res, &err));
    check_refused(sb_driver.sql->query(conn, "DO 1", 4, &res, &err));
    check_refused(sb_driver.sql->pipeline_send(conn, &item, 1, &err));
    check_refused(sb_driver.sql->prepare(
        conn, (struct sb_stmt *)&other, "DO 1", 4, NULL, &n, &err));
    check_refused(sb_driver.generic->reset(conn, &err));
    check_refused(sb_driver.bulk->begin(conn, "t", "id", 1, &err));
    sb_driver.generic->cancel(conn);
    CHECK(!atomic_load(&room.own.canceled)); // no call was in progress
    finish();
    check_stranger();
}

static void in_a_text_statement(void)
{
    struct sb_result res = { 0 };

    ready_for_one();
    CHECK_INT(sb_driver.sql->query(conn, "DO 1", 4, &res, &err), SB_ELOST);
    check_all_refused();
}

#if SBMY_MARIADB
// An option file tells the library to connect again: no server answers there.
static void with_a_library_that_reconnects(void)
{
    struct sb_result res = { 0 };
    FILE *f = fopen("my.cnf", "w");
    char path[PATH_MAX]; // realpath() refuses less with _FORTIFY_SOURCE

    CHECK(f && fputs("[client]\nreconnect=1\n", f) >= 0 && fclose(f) == 0);
    CHECK(realpath("my.cnf", path) != NULL);
    answer_prepare();
    CHECK_INT(start("mysql-defaults-file", path), 0);
    prepare_in(&statement);
    number = room.own.socket.fd;
    await_hang_up(number);
    CHECK_INT(sb_driver.sql->query(conn, "DO 1", 4, &res, &err), SB_ELOST);
    check_all_refused();
}
#endif

static void in_a_pipeline(void)
{
    const struct sb_item items[] = { { .sql = "DO 1", .len = 4 },
        { .sql = "DO 2", .len = 4 } };
    struct sb_result res = { 0 };

    answer_prepare();
    PACKET(1, "\0\1\0\12\0\0\0"); // OK, and more results follow
    next_answer();
    ready();
    CHECK_INT(sb_driver.sql->pipeline_send(conn, items, 2, &err), 0);
    CHECK_INT(sb_driver.sql->pipeline_receive(conn, &res, &err), 0);
    sb_driver.sql->free_result(conn, &res);
    CHECK_INT(sb_driver.sql->pipeline_receive(conn, &res, &err), SB_ELOST);
    CHECK_INT(sb_driver.sql->pipeline_end(conn, &err), 0);
    check_all_refused();
}

static void in_answers_that_are_dropped(void)
{
    const struct sb_item item = { .sql = "DO 1", .len = 4 };

    ready_for_one();
    CHECK_INT(sb_driver.sql->pipeline_send(conn, &item, 1, &err), 0);
    CHECK_INT(sb_driver.sql->pipeline_end(conn, &err), SB_ELOST);
    check_all_refused();
}

// No call reports this loss.
static void in_the_end_of_a_statement(void)
{
    struct sbmy_stmt other = { 0 };

    answer_prepare();
    answer_prepare();
    ready();
    prepare_in(&other);
    await_hang_up(number);
    sb_driver.sql->close(conn, (struct sb_stmt *)&other);
    check_all_refused();
}

CHECK_FILE
{
    check_folder();
    RUN(in_a_text_statement);
#if SBMY_MARIADB
    RUN(with_a_library_that_reconnects);
#endif
    RUN(in_a_pipeline);
    RUN(in_answers_that_are_dropped);
    RUN(in_the_end_of_a_statement);
    return check_done();
}
