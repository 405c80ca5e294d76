// SPDX-License-Identifier: GPL-2.0-or-later
//
// The driver and a fake server that sends exactly the bytes a test specifies:
// invalid answers, unrequested messages, and silence.
#include "fake_mysql.h"

// Adds an answer with one column and a hundred rows, more than 12 KB.
static void answer_rows(void)
{
    char row[2 + 1 + 120];
    uint8_t seq = 1;

    memset(row, 'x', sizeof(row));
    row[0] = row[1] = 0;
    row[2] = 120;
    PACKET(seq++, "\1");
    PACKET(seq++, "\3def\0\0\0\1c\0\14\41\0\170\0\0\0\376\0\0\0\0\0");
    PACKET(seq++, "\376\0\0\2\0");
    for (int i = 0; i < 100; i++)
        packet(seq++, row, sizeof(row));
    PACKET(seq, "\376\0\0\2\0");
    next_answer();
}

static int execute(struct sb_result *res)
{
    *res = (struct sb_result){ 0 };
    memset(&err, 0, sizeof(err));
    return sb_driver.sql->execute(conn, stmt, NULL, 0, res, &err);
}

static void ready_with(const char *option, const char *value)
{
    uint32_t n;

    CHECK_INT(start(option, value), 0);
    CHECK_STR(err.msg, "");
    CHECK_INT(sb_driver.sql->prepare(conn, stmt, "DO 1", 4, NULL, &n, &err), 0);
    CHECK_STR(err.msg, "");
    CHECK(statement.types != NULL); // not executed by the library
}

static void ready(void)
{
    ready_with("mysql-ssl", "off");
}

static void check_execute(int rc, int native, const char *text)
{
    struct sb_result res;

    CHECK_INT(execute(&res), rc);
    CHECK_INT(err.native, native);
    CHECK_STR(err.msg, text);
}

static void check_ok(void)
{
    struct sb_result res;

    CHECK_INT(execute(&res), 0);
    CHECK_INT(res.kind, SB_RESULT_WRITE);
    CHECK_INT(res.affected, 1);
    sb_driver.sql->free_result(conn, &res);
}

#define NO_ANSWER "Lost connection to server during query: malformed answer"
#define UNASKED   "Server has gone away: it sent unexpected data"
#define INACTIVE                                                            \
    "Server has gone away: error 4031: The client was disconnected by the " \
    "server because of inactivity."

// Requests for a file of the client -------------------------------------------

static void file_is_rejected(void)
{
    answer_prepare();
    PACKET(1, "\373/etc/hostname");
    next_answer();
    PACKET(3, OK);
    next_answer();
    answer_ok();
    ready();
    check_execute(SB_EQUERY, 2068,
        "the server requested a local file, which is refused (instead of "
        "LOAD DATA LOCAL, use con:load())");
    check_ok(); // the connection still works
    finish();
}

static void no_file_contents_are_sent(void)
{
    static const uint8_t nothing[] = { 0, 0, 0, 2, 0 };

    answer_prepare();
    PACKET(1, "\373/etc/hostname");
    next_answer();
    PACKET(3, "\377\174\4#42000not allowed");
    next_answer();
    ready();
    check_execute(SB_EQUERY, 2068,
        "the server requested a local file, which is refused (instead of "
        "LOAD DATA LOCAL, use con:load())");
    finish();
    CHECK(memcmp(requests[2], nothing, sizeof(nothing)) == 0);
}

static void two_file_requests(void)
{
    answer_prepare();
    PACKET(1, "\373/etc/hostname");
    next_answer();
    PACKET(3, "\373/etc/hosts");
    next_answer();
    ready();
    check_execute(SB_ELOST, 2013, NO_ANSWER);
    finish();
}

// Unrequested messages --------------------------------------------------------

static void bytes_after_an_answer(void)
{
    answer_prepare();
    PACKET(1, OK);
    PACKET(1, OK);
    next_answer();
    answer_ok();
    ready();
    check_ok();
    check_execute(SB_ELOST, 2006, UNASKED);
    memset(&err, 0, sizeof(err));
    CHECK_INT(sb_driver.generic->reset(conn, &err), SB_ELOST);
    CHECK_STR(err.msg, UNASKED);
    finish();
}

static void half_a_packet_after_an_error(void)
{
    answer_prepare();
    PACKET(1, "\377\275\4#40001Deadlock found");
    server.len[server.n] += 2;
    next_answer();
    ready();
    check_execute(SB_ERESTART, 1213, "Deadlock found");
    check_execute(SB_ELOST, 2006, UNASKED);
    finish();
}

// Errors that cause a reconnect do so here, too.
static void shutdown_after_an_answer(void)
{
    answer_prepare();
    PACKET(1, OK);
    SHUTDOWN_MESSAGE;
    next_answer();
    ready_with("mysql-ignore-errors", "2006");
    check_ok();
    check_execute(SB_ERECONNECT, 2006, INACTIVE);
    finish();
}

static void shutdown_instead_of_an_answer(void)
{
    answer_prepare();
    SHUTDOWN_MESSAGE;
    next_answer();
    ready();
    check_execute(SB_ELOST, 4031,
        "The client was disconnected by the server because of inactivity.");
    finish();
}

// The server reports a protocol error (SQLSTATE class 08).
static void network_error(void)
{
    answer_prepare();
    PACKET(1, "\377\204\4#08S01Got packets out of order");
    next_answer();
    ready();
    check_execute(SB_ELOST, 1156, "Got packets out of order");
    finish();
}

static void packet_out_of_order(void)
{
    answer_prepare();
    PACKET(2, OK);
    next_answer();
    ready();
    check_execute(SB_ELOST, 2013, NO_ANSWER);
    finish();
}

// Omitted definitions of columns ----------------------------------------------

#define COLUMN(name) \
    "\3def\0\0\0\1" name "\0\14\77\0\24\0\0\0\10\0\0\0\0\0" // BIGINT
#define EOF_PACKET "\376\0\0\2\0"
#define ROW        "\0\0\7\0\0\0\0\0\0\0" // of one column: 7

// Adds an answer with one column, one row, and the definition of the column.
static void answer_column(void)
{
    PACKET(1, "\1\1");
    PACKET(2, COLUMN("c"));
    PACKET(3, EOF_PACKET);
    PACKET(4, ROW);
    PACKET(5, EOF_PACKET);
    next_answer();
}

#ifdef MARIADB_CLIENT_CACHE_METADATA
static void check_column(void)
{
    struct sb_result res;
    struct sb_cell cell = { 0 };

    CHECK_INT(execute(&res), 0);
    CHECK_INT(res.nfields, 1);
    CHECK_INT(sb_driver.sql->fetch(conn, &res, &cell, &err), 1);
    CHECK_INT(cell.len, 1);
    CHECK_STR(sb_driver.sql->column(conn, &res, 0), "c");
    CHECK(cell.s && cell.s[0] == '7'); // still valid after column()
    CHECK(!sb_driver.sql->column(conn, &res, 1));
    sb_driver.sql->free_result(conn, &res);
}

static void omitted_definitions(void)
{
    server.mariadb = true;
    answer_prepare();
    answer_column();
    PACKET(1, "\1\0");
    PACKET(2, EOF_PACKET);
    PACKET(3, ROW);
    PACKET(4, EOF_PACKET);
    next_answer();
    ready();
    check_column();
    check_column();
    finish();
}

// More columns than in the last definitions.
static void omitted_with_more_columns(void)
{
    server.mariadb = true;
    answer_prepare();
    answer_column();
    PACKET(1, "\374\0\40\0"); // 8192
    PACKET(2, EOF_PACKET);
    PACKET(3, EOF_PACKET);
    next_answer();
    ready();
    check_column();
    check_execute(SB_ELOST, 2013, NO_ANSWER);
    finish();
}

static void omitted_in_the_first_answer(void)
{
    server.mariadb = true;
    answer_prepare();
    PACKET(1, "\1\0");
    PACKET(2, EOF_PACKET);
    PACKET(3, EOF_PACKET);
    next_answer();
    ready();
    check_execute(SB_ELOST, 2013, NO_ANSWER);
    finish();
}
#endif

static void omitting_was_not_agreed(void)
{
    answer_prepare();
    answer_column();
    ready();
    check_execute(SB_ELOST, 2013, NO_ANSWER);
    finish();
}

// Silence ---------------------------------------------------------------------

// Login may take longer; after it the read timeout is 1 s.
static void ready_with_timeout_of_1_s(void)
{
    ready_with("mysql-read-timeout", "60s");
    CHECK_INT(room.own.socket.read_ms, 60000);
    room.own.socket.read_ms = 1000;
}

static void read_timeout(void)
{
    answer_prepare();
    next_answer(); // an answer without bytes
    answer_ok();
    ready_with_timeout_of_1_s();
    check_execute(SB_ELOST, 2013,
        "Lost connection to server during query: no answer for 1 s");
    check_execute(SB_ELOST, 2006, "the connection was lost");
    finish();
}

static void read_timeout_in_an_answer(void)
{
    answer_prepare();
    PACKET(1, "\1");
    next_answer();
    answer_ok();
    ready_with_timeout_of_1_s();
    check_execute(SB_ELOST, 2013,
        "Lost connection to server during query: no answer for 1 s");
    finish();
}

// Which of two timeouts has expired.
static void read_timeout_beside_a_write_timeout(void)
{
    answer_prepare();
    next_answer();
    answer_ok();
    ready_with_timeout_of_1_s();
    room.own.socket.write_ms = 60000;
    check_execute(SB_ELOST, 2013,
        "Lost connection to server during query: no answer for 1 s");
    finish();
}

// A statement with a parameter, whose value is longer than what the socket of
// the connection takes, and a server that does not receive it.
static void ready_to_send(int read_ms, int write_ms)
{
    const int least = 1;

    PACKET(1, "\0\1\0\0\0\0\0\1\0\0\0\0");
    PACKET(2, COLUMN("?"));
    PACKET(3, EOF_PACKET);
    next_answer();
    server.deaf = true;
    ready();
    CHECK_INT(setsockopt(room.own.socket.fd, SOL_SOCKET, SO_SNDBUF, &least,
                  sizeof(least)),
        0);
    room.own.socket.read_ms = read_ms;
    room.own.socket.write_ms = write_ms;
}

static void check_send(const char *text)
{
    static char long_text[12000];
    const struct sb_value v = {
        .type = SB_VALUE_BLOB, .s = long_text, .len = sizeof(long_text)
    };
    struct sb_result res = { 0 };

    memset(&err, 0, sizeof(err));
    CHECK_INT(sb_driver.sql->execute(conn, stmt, &v, 1, &res, &err), SB_ELOST);
    CHECK_INT(err.native, 2006);
    CHECK_STR(err.msg, text);
    finish();
}

static void write_timeout(void)
{
    ready_to_send(60000, 1000);
    check_send("Server has gone away: it received nothing for 1 s");
}

// Without a write timeout, the read timeout also limits how long a request
// takes.
static void read_timeout_while_sending(void)
{
    ready_to_send(1000, -1);
    check_send("Server has gone away: it received nothing for 1 s");
}

static void server_closes_the_connection(void)
{
    answer_prepare();
    PACKET(1, "\1");
    next_answer();
    ready_with("mysql-read-timeout", "60s");
    check_execute(SB_ELOST, 2013, "Lost connection to server during query");
    finish();
}

// The buffer ------------------------------------------------------------------

// The buffer grows once, to the size of the largest answer.
static void buffer_is_reused(void)
{
    const struct sbmy_wire *w = &room.own.wire;
    struct sb_result res;
    const char *in;
    size_t cap;

    answer_prepare();
    answer_rows();
    answer_ok();
    answer_rows();
    ready();
    CHECK_INT(execute(&res), 0);
    CHECK_INT(res.nrows, 100);
    sb_driver.sql->free_result(conn, &res);
    in = w->in.data;
    cap = w->in.cap;
    CHECK(cap > 12000);
    check_ok();
    CHECK_INT(execute(&res), 0);
    CHECK_INT(res.nrows, 100);
    CHECK(w->in.data == in);
    CHECK_INT(w->in.cap, cap);
    sb_driver.sql->free_result(conn, &res);
    finish();
}

CHECK_FILE
{
    RUN(file_is_rejected);
    RUN(no_file_contents_are_sent);
    RUN(two_file_requests);
    RUN(bytes_after_an_answer);
    RUN(half_a_packet_after_an_error);
    RUN(shutdown_after_an_answer);
    RUN(shutdown_instead_of_an_answer);
    RUN(network_error);
    RUN(packet_out_of_order);
#ifdef MARIADB_CLIENT_CACHE_METADATA
    RUN(omitted_definitions);
    RUN(omitted_with_more_columns);
    RUN(omitted_in_the_first_answer);
#endif
    RUN(omitting_was_not_agreed);
    RUN(read_timeout);
    RUN(read_timeout_in_an_answer);
    RUN(read_timeout_beside_a_write_timeout);
    RUN(write_timeout);
    RUN(read_timeout_while_sending);
    RUN(server_closes_the_connection);
    RUN(buffer_is_reused);
    return check_done();
}
