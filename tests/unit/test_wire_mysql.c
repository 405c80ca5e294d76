// SPDX-License-Identifier: GPL-2.0-or-later
//
// The driver against a server of a few lines that says what a test wants, to
// the byte: what no server says, what it says unasked, and silence.
#include "fake_mysql.h"

// One column of a hundred rows: 12 KB and more.
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
    CHECK_INT(sb_driver.sql->prepare(conn, stmt, "DO 1", 4, &n, &err), 0);
    CHECK_STR(err.msg, "");
    CHECK(statement.types != NULL); // past the library
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

#define NO_ANSWER \
    "Lost connection to server during query: what it sent is no answer"
#define UNASKED "Server has gone away: it sent what nobody asked for"
#define INACTIVE                                                            \
    "Server has gone away: error 4031: The client was disconnected by the " \
    "server because of inactivity."

// A file of this machine ------------------------------------------------------

static void file_is_refused(void)
{
    answer_prepare();
    PACKET(1, "\373/etc/hostname");
    next_answer();
    PACKET(3, OK);
    next_answer();
    answer_ok();
    ready();
    check_execute(SB_EQUERY, 2068, "no file of this machine is for you");
    check_ok(); // the connection goes on
    finish();
}

static void nothing_of_it_is_sent(void)
{
    static const uint8_t nothing[] = { 0, 0, 0, 2, 0 };

    answer_prepare();
    PACKET(1, "\373/etc/hostname");
    next_answer();
    PACKET(3, "\377\174\4#42000not allowed");
    next_answer();
    ready();
    check_execute(SB_EQUERY, 2068, "no file of this machine is for you");
    finish();
    CHECK(memcmp(asked[2], nothing, sizeof(nothing)) == 0);
}

static void file_after_file(void)
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

// Nobody asked for it ---------------------------------------------------------

static void bytes_behind_an_answer(void)
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

static void half_a_packet_behind_an_error(void)
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

// Errors that ask for a new connection do so here, too.
static void farewell_behind_an_answer(void)
{
    answer_prepare();
    PACKET(1, OK);
    FAREWELL;
    next_answer();
    ready_with("mysql-ignore-errors", "2006");
    check_ok();
    check_execute(SB_ERECONNECT, 2006, INACTIVE);
    finish();
}

static void farewell_in_place_of_an_answer(void)
{
    answer_prepare();
    FAREWELL;
    next_answer();
    ready();
    check_execute(SB_ELOST, 4031,
        "The client was disconnected by the server because of inactivity.");
    finish();
}

// The server lost the thread, and says so (class 08).
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

// Definitions of columns that are left out
// --------------------------------------

#define COLUMN(name) \
    "\3def\0\0\0\1" name "\0\14\77\0\24\0\0\0\10\0\0\0\0\0" // BIGINT
#define EOF_PACKET "\376\0\0\2\0"
#define ROW        "\0\0\7\0\0\0\0\0\0\0" // of one column: 7

// A result of one column; its definition is sent.
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
    CHECK(cell.s && cell.s[0] == '7'); // a name does not move it
    CHECK(!sb_driver.sql->column(conn, &res, 1));
    sb_driver.sql->free_result(conn, &res);
}

static void left_out(void)
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

// More columns than the last definitions had.
static void left_out_of_more(void)
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

static void left_out_from_the_start(void)
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

static void left_out_unagreed(void)
{
    answer_prepare();
    answer_column();
    ready();
    check_execute(SB_ELOST, 2013, NO_ANSWER);
    finish();
}

// Silence ---------------------------------------------------------------------

// Logging in may take its time; from here on a second is the limit.
static void ready_with_a_second(void)
{
    ready_with("mysql-read-timeout", "60s");
    CHECK_INT(room.own.wire.read_ms, 60000);
    room.own.wire.read_ms = 1000;
}

static void read_timeout(void)
{
    answer_prepare();
    next_answer(); // of no byte
    answer_ok();
    ready_with_a_second();
    check_execute(SB_ELOST, 2013,
        "Lost connection to server during query: no answer for 1 s");
    check_execute(SB_ELOST, 2006, "there is no connection");
    finish();
}

static void read_timeout_in_an_answer(void)
{
    answer_prepare();
    PACKET(1, "\1");
    next_answer();
    answer_ok();
    ready_with_a_second();
    check_execute(SB_ELOST, 2013,
        "Lost connection to server during query: no answer for 1 s");
    finish();
}

static void server_hangs_up(void)
{
    answer_prepare();
    PACKET(1, "\1");
    next_answer();
    ready_with("mysql-read-timeout", "60s");
    check_execute(SB_ELOST, 2013, "Lost connection to server during query");
    finish();
}

// The buffer ------------------------------------------------------------------

// It grows to the size of the answers once.
static void room_stays(void)
{
    const struct sbmy_wire *w = &room.own.wire;
    struct sb_result res;
    const uint8_t *in;
    size_t cap;

    answer_prepare();
    answer_rows();
    answer_ok();
    answer_rows();
    ready();
    CHECK_INT(execute(&res), 0);
    CHECK_INT(res.nrows, 100);
    sb_driver.sql->free_result(conn, &res);
    in = w->in;
    cap = w->cap;
    CHECK(cap > 12000);
    check_ok();
    CHECK_INT(execute(&res), 0);
    CHECK_INT(res.nrows, 100);
    CHECK(w->in == in);
    CHECK_INT(w->cap, cap);
    sb_driver.sql->free_result(conn, &res);
    finish();
}

int main(void)
{
    RUN(file_is_refused);
    RUN(nothing_of_it_is_sent);
    RUN(file_after_file);
    RUN(bytes_behind_an_answer);
    RUN(half_a_packet_behind_an_error);
    RUN(farewell_behind_an_answer);
    RUN(farewell_in_place_of_an_answer);
    RUN(network_error);
    RUN(packet_out_of_order);
#ifdef MARIADB_CLIENT_CACHE_METADATA
    RUN(left_out);
    RUN(left_out_of_more);
    RUN(left_out_from_the_start);
#endif
    RUN(left_out_unagreed);
    RUN(read_timeout);
    RUN(read_timeout_in_an_answer);
    RUN(server_hangs_up);
    RUN(room_stays);
    return check_done();
}
