// SPDX-License-Identifier: GPL-2.0-or-later
//
// The driver against a server of a few lines that says what a test wants, to
// the byte: what no server says, what it says unasked, and silence.
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "base/opts.h"
#include "drivers/mysql/mysql_priv.h"

// The server -----------------------------------------------------------------

#define ANSWERS 8
#define ROOM    16384
#define CLOSE   0x19 // COM_STMT_CLOSE has no answer
#define SOCKET  "fake.sock"

static struct server {
    int listener;
    pthread_t thread;
    // The answers to what is asked after logging in; the server closes the
    // connection behind the last.
    uint8_t answer[ANSWERS][ROOM];
    size_t len[ANSWERS];
    int n;
    // What they were answers to: head and command.
    uint8_t asked[ANSWERS][SBMY_HEAD + 1];
} server;

static bool read_all(int fd, void *to, size_t len)
{
    uint8_t *p = to;

    while (len > 0) {
        ssize_t n = read(fd, p, len);

        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

// What wants an answer; an empty packet does.
static bool read_request(int fd, uint8_t *head)
{
    uint8_t room[4096];
    uint32_t len;

    do {
        if (!read_all(fd, head, SBMY_HEAD))
            return false;
        len = sbmy_get24(head);
        if (len > sizeof(room) || !read_all(fd, room, len))
            return false;
        head[SBMY_HEAD] = len ? room[0] : 0;
    } while (head[SBMY_HEAD] == CLOSE);
    return true;
}

static bool write_all(int fd, const void *from, size_t len)
{
    // In one piece: that is how the driver reads it.
    return len == 0 || write(fd, from, len) == (ssize_t)len;
}

// Protocol 41, mysql_native_password, none of the newer agreements.
#define HELLO                                                              \
    "\111\0\0\0\12"                                                        \
    "5.6.0\0\1\0\0\0abcdefgh\0\211\242\41\2\0\13\0\25\0\0\0\0\0\0\0\0\0\0" \
    "abcdefghijkl\0mysql_native_password"
#define OK "\0\1\0\2\0\0\0" // one row; no transaction

static void *serve(void *arg)
{
    static const char welcome[] = "\7\0\0\2\0\0\0\2\0\0";
    uint8_t login[SBMY_HEAD + 1];
    int fd = accept(server.listener, NULL, NULL);
    bool good = write_all(fd, HELLO, sizeof(HELLO)) &&
                read_request(fd, login) &&
                write_all(fd, welcome, sizeof(welcome));

    for (int i = 0; good && i < server.n; i++)
        good = read_request(fd, server.asked[i]) &&
               write_all(fd, server.answer[i], server.len[i]);
    close(fd);
    return NULL;
}

static void packet(uint8_t seq, const char *body, size_t len)
{
    uint8_t *p = server.answer[server.n] + server.len[server.n];

    p[0] = (uint8_t)len;
    p[1] = (uint8_t)(len >> 8);
    p[2] = 0;
    p[3] = seq;
    memcpy(p + SBMY_HEAD, body, len);
    server.len[server.n] += len + SBMY_HEAD;
}

#define PACKET(seq, body) packet(seq, body, sizeof(body) - 1)
#define FAREWELL                                                     \
    PACKET(0, "\377\277\17#HY000The client was disconnected by the " \
              "server because of inactivity.")

static void next_answer(void)
{
    server.n++;
}

// Neither parameters nor columns.
static void answer_prepare(void)
{
    PACKET(1, "\0\1\0\0\0\0\0\0\0\0\0\0");
    next_answer();
}

static void answer_ok(void)
{
    PACKET(1, OK);
    next_answer();
}

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

// The client -----------------------------------------------------------------

static struct sb_opts *opts;
static struct sbmy_opts values;
static struct sb_driver_env env;
static union {
    struct sbmy_conn own;
    max_align_t align;
} room;
static struct sb_conn *const conn = (struct sb_conn *)&room;
static struct sbmy_stmt statement;
static struct sb_stmt *const stmt = (struct sb_stmt *)&statement;
static struct sb_err err;
static uint8_t asked[ANSWERS][SBMY_HEAD + 1]; // of the server that ended last

static void quiet(int level, const char *text)
{
}

static const struct sb_host host = { .abi = SB_DRIVER_ABI, .log = quiet };

static int listen_here(void)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = SOCKET };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    unlink(a.sun_path);
    if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 1))
        return -1;
    return fd;
}

static int start(const char *option, const char *value)
{
    struct sb_conn_info info = { 0 };

    opts = sb_opts_new();
    memset(&err, 0, sizeof(err));
    sb_opts_add(opts, &sbmy_opt_table, &values, &err);
    if (sb_opts_set(opts, "mysql-socket", SOCKET, SB_SRC_CMDLINE, &err) ||
        sb_opts_set(opts, option, value, SB_SRC_CMDLINE, &err))
        return -1;
    server.listener = listen_here();
    pthread_create(&server.thread, NULL, serve, NULL);
    env = (struct sb_driver_env){ .host = &host };
    if (sb_driver.generic->env_init(&env, &values, &err))
        return -1;
    memset(&room, 0, sizeof(room));
    return sb_driver.generic->connect(conn, &env, &values, &info, &err);
}

static void finish(void)
{
    sb_driver.sql->close(conn, stmt);
    sb_driver.generic->disconnect(conn);
    sb_driver.generic->env_done(&env);
    pthread_join(server.thread, NULL);
    close(server.listener);
    unlink(SOCKET);
    sb_opts_free(opts);
    memcpy(asked, server.asked, sizeof(asked));
    memset(&server, 0, sizeof(server));
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

static void packet_out_of_order(void)
{
    answer_prepare();
    PACKET(2, OK);
    next_answer();
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
    RUN(packet_out_of_order);
    RUN(read_timeout);
    RUN(read_timeout_in_an_answer);
    RUN(server_hangs_up);
    RUN(room_stays);
    return check_done();
}
