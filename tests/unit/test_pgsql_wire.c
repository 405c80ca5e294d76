// SPDX-License-Identifier: GPL-2.0-or-later
//
// The driver and a fake server that sends exactly the bytes a test specifies:
// messages directly after the end of an answer.
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "loop/helper.h"
#include "loop/io.h"
#include "check.h"
#include "check_folder.h"
#include "base/opts.h"
#include "drivers/pgsql/pgsql_priv.h"

// The server -----------------------------------------------------------------

#define ANSWERS 8

static struct server {
    int listener, fd;
    pthread_t thread;
    // The answers to the requests after startup. The server closes the
    // connection after the last one.
    char answer[ANSWERS][512];
    size_t len[ANSWERS];
    int n;
    // The simple queries it received, one per line.
    char queries[1024];
} server;

static bool read_all(int fd, void *to, size_t len)
{
    char *p = to;

    while (len > 0) {
        ssize_t n = read(fd, p, len);

        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static uint32_t get_size(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

// Reads the body of a message and keeps the text of a query.
static bool read_body(int fd, uint32_t len, char type)
{
    size_t n = strlen(server.queries);
    char room[4096];

    if (len > sizeof(room) || !read_all(fd, room, len))
        return false;
    if (type == 'Q')
        snprintf(server.queries + n, sizeof(server.queries) - n, "%.*s\n",
            (int)len, room);
    return true;
}

// Reads up to a message that requires an answer: Sync or Query.
static bool read_request(int fd)
{
    unsigned char head[5];

    do {
        if (!read_all(fd, head, sizeof(head)) ||
            !read_body(fd, get_size(head + 1) - 4, (char)head[0]))
            return false;
    } while (head[0] != 'S' && head[0] != 'Q');
    return true;
}

static void *serve(void *arg)
{
    static const char hello[] = { 'R', 0, 0, 0, 8, 0, 0, 0, 0, 'Z', 0, 0, 0, 5,
        'I' };
    int fd = accept(server.listener, NULL, NULL);
    unsigned char size[4];
    bool good = read_all(fd, size, sizeof(size)) &&
                read_body(fd, get_size(size) - 4, 0) &&
                write(fd, hello, sizeof(hello)) == (ssize_t)sizeof(hello);

    // One write, so that the driver reads the answer in one piece.
    for (int i = 0; good && i < server.n; i++)
        good = read_request(fd) && write(fd, server.answer[i], server.len[i]) ==
                                       (ssize_t)server.len[i];
    close(fd);
    return NULL;
}

static void message(char type, const char *body, size_t len)
{
    char *p = server.answer[server.n] + server.len[server.n];

    p[0] = type;
    p[1] = p[2] = 0;
    p[3] = (char)((len + 4) >> 8);
    p[4] = (char)(len + 4);
    memcpy(p + 5, body, len);
    server.len[server.n] += len + 5;
}

#define MESSAGE(type, body) message(type, body, sizeof(body) - 1)
#define SHUTDOWN_MESSAGE                                                   \
    MESSAGE('E', "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to " \
                 "administrator command\0\0")

static void add_byte(char byte)
{
    server.answer[server.n][server.len[server.n]++] = byte;
}

static void next_answer(void)
{
    server.n++;
}

static void answer_prepare(void)
{
    MESSAGE('1', "");
    MESSAGE('Z', "I");
    next_answer();
}

// libpq executes the first time, and also requires a description.
static void answer_first(void)
{
    MESSAGE('2', "");
    MESSAGE('n', "");
    MESSAGE('C', "INSERT 0 1\0");
    MESSAGE('Z', "I");
    next_answer();
}

static void answer_again(const char *state)
{
    MESSAGE('2', "");
    MESSAGE('C', "INSERT 0 1\0");
    message('Z', state, 1);
}

// The client -----------------------------------------------------------------

static struct sb_opts *opts;
static struct pgsql_opts values;
static struct sb_driver_env env;
static union {
    struct pgsql_conn own;
    max_align_t align;
} room;
static struct sb_conn *const conn = (struct sb_conn *)&room;
static struct pgsql_stmt statement;
static struct sb_stmt *const stmt = (struct sb_stmt *)&statement;
static struct sb_err err;

static void quiet(int level, const char *text)
{
}

static const struct sb_host host = { .abi = SB_DRIVER_ABI,
    .log = quiet,
    .wait = sb_io_wait,
    .exchange = sb_io_exchange,
    .sleep = sb_io_sleep,
    .apart = sb_helper_run,
    .shared = sb_helper_shared };

static int listen_here(void)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX,
        .sun_path = ".s.PGSQL.5432" };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    unlink(a.sun_path);
    if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 1))
        return -1;
    return fd;
}

static int start(void)
{
    struct sb_conn_info info = { 0 };
    char here[512];

    opts = sb_opts_new();
    memset(&err, 0, sizeof(err));
    sb_opts_add(opts, &pgsql_opt_table, &values, &err);
    if (!getcwd(here, sizeof(here)) ||
        sb_opts_set(opts, "pgsql-host", here, SB_SRC_CMDLINE, &err))
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
    if (statement.sql)
        sb_driver.sql->close(conn, stmt);
    sb_driver.generic->disconnect(conn);
    sb_driver.generic->env_done(&env);
    pthread_join(server.thread, NULL);
    close(server.listener);
    sb_opts_free(opts);
    memset(&server, 0, sizeof(server));
}

static int execute(struct sb_result *res)
{
    *res = (struct sb_result){ 0 };
    memset(&err, 0, sizeof(err));
    return sb_driver.sql->execute(conn, stmt, NULL, 0, res, &err);
}

static int query(void)
{
    struct sb_result res = { 0 };

    memset(&err, 0, sizeof(err));
    return sb_driver.sql->query(conn, "SELECT 1", 8, &res, &err);
}

// Prepares a statement and executes it once through libpq.
static void ready(void)
{
    struct sb_result res;
    uint32_t n;

    CHECK_INT(start(), 0);
    CHECK_INT(sb_driver.sql->prepare(
                  conn, stmt, "INSERT INTO t VALUES (1)", 24, &n, &err),
        0);
    CHECK_INT(execute(&res), 0);
    CHECK_INT(res.affected, 1);
}

static void check_shutdown(int rc)
{
    CHECK_INT(rc, SB_ELOST);
    CHECK_STR(err.state, "57P01");
    CHECK_STR(err.msg, "terminating connection due to administrator command");
}

// Tests ---------------------------------------------------------------------

static void shutdown_after_an_answer(void)
{
    struct sb_result res;

    answer_prepare();
    answer_first();
    answer_again("I");
    SHUTDOWN_MESSAGE;
    next_answer();
    ready();
    CHECK_INT(execute(&res), 0);
    CHECK_INT(res.kind, SB_RESULT_WRITE);
    CHECK_INT(res.affected, 1);
    check_shutdown(execute(&res));
    check_shutdown(query());
    finish();
}

static void shutdown_in_a_transaction(void)
{
    struct sb_result res;

    answer_prepare();
    answer_first();
    answer_again("T");
    SHUTDOWN_MESSAGE;
    next_answer();
    ready();
    CHECK_INT(execute(&res), 0);
    memset(&err, 0, sizeof(err));
    check_shutdown(sb_driver.generic->reset(conn, &err));
    finish();
}

static void shutdown_after_an_error(void)
{
    struct sb_result res;

    answer_prepare();
    answer_first();
    MESSAGE('E', "SERROR\0VERROR\0C40P01\0Mdeadlock detected\0\0");
    MESSAGE('Z', "E");
    SHUTDOWN_MESSAGE;
    next_answer();
    ready();
    CHECK_INT(execute(&res), SB_ERESTART);
    CHECK_STR(err.state, "40P01");
    check_shutdown(sb_driver.generic->reset(conn, &err));
    finish();
}

static void shutdown_read_by_libpq(void)
{
    MESSAGE('C', "BEGIN\0");
    MESSAGE('Z', "T");
    SHUTDOWN_MESSAGE;
    next_answer();
    CHECK_INT(start(), 0);
    CHECK_INT(query(), 0);
    check_shutdown(query());
    finish();
}

static void shutdown_within_an_answer(void)
{
    struct sb_result res;

    answer_prepare();
    answer_first();
    MESSAGE('2', "");
    SHUTDOWN_MESSAGE;
    next_answer();
    ready();
    check_shutdown(execute(&res));
    finish();
}

static void half_a_message(void)
{
    struct sb_result res;

    answer_prepare();
    answer_first();
    answer_again("I");
    add_byte('N');
    add_byte(0);
    next_answer();
    ready();
    CHECK_INT(execute(&res), 0);
    CHECK_INT(sb_driver.sql->fetch(conn, &res, NULL, &err), 0);
    CHECK_INT(execute(&res), SB_ELOST);
    CHECK_STR(err.state, PGSQL_LOST);
    finish();
}

// Bytes after an answer that do not begin a message, from a server that waits
// for the next request.
static void stray_bytes(void)
{
    static const char *const bytes[] = { "X", "N", "D", "Z\0\0\0\5I",
        "N\0\0\0\3", "N\x7f\0\0\0" };
    static const size_t len[] = { 1, 1, 1, 6, 5, 5 };
    struct sb_result res;

    for (int i = 0; i < 6; i++) {
        answer_prepare();
        answer_first();
        answer_again("I");
        for (size_t k = 0; k < len[i]; k++)
            add_byte(bytes[i][k]);
        next_answer();
        answer_again("I");
        next_answer();
        ready();
        CHECK_INT(execute(&res), 0);
        CHECK_INT(res.affected, 1);
        CHECK_INT(execute(&res), SB_ELOST);
        CHECK_STR(err.state, PGSQL_VIOLATION);
        CHECK(strstr(err.msg, "unexpected data"));
        finish();
    }
}

// Internal queries ---------------------------------------------------------

static void describe(int columns)
{
    char body[400] = { 0 }, *p = body + 2;

    body[1] = (char)columns;
    for (int i = 0; i < columns; i++) {
        *p = 'c';
        p[11] = 25; // text
        p += 2 + 18;
    }
    message('T', body, (size_t)(p - body));
}

// A row of NULLs, or of texts "x".
static void row(int columns, bool nulls)
{
    char body[400] = { 0 }, *p = body + 2;

    body[1] = (char)columns;
    for (int i = 0; i < columns; i++) {
        memset(p, nulls ? 0xff : 0, 4);
        p += 4;
        if (!nulls) {
            p[-1] = 1;
            *p++ = 'x';
        }
    }
    message('D', body, (size_t)(p - body));
}

static void done(const char *tag, const char *state)
{
    if (tag)
        message('C', tag, strlen(tag) + 1);
    message('Z', state, 1);
    next_answer();
}

// Checks the line about the server after an answer with this number of columns
// and rows. columns: -1 if the answer has no result set.
static void server_line(int columns, int rows, bool nulls, const char *wanted)
{
    char text[200];

    if (columns >= 0)
        describe(columns);
    for (int i = 0; i < rows; i++)
        row(columns, nulls);
    done(columns >= 0 ? "SELECT" : NULL, "I");
    CHECK_INT(start(), 0);
    CHECK_INT(sb_driver.info->server(conn, text, sizeof(text)), strlen(wanted));
    CHECK_STR(text, wanted);
    finish();
}

static void server_line_of_any_answer(void)
{
    server_line(5, 1, false,
        "x, shared_buffers x, fsync x, synchronous_commit x, wal_level x");
    server_line(5, 1, true, "PostgreSQL ?");
    server_line(5, 0, false, "PostgreSQL ?");
    server_line(9, 1, false, "PostgreSQL ?");
    server_line(1, 1, false, "PostgreSQL ?");
    server_line(0, 1, false, "PostgreSQL ?");
    server_line(-1, 0, false, "PostgreSQL ?");
}

static int visits, missed;

// The first source only.
static bool wanted(void *arg, const char *prefix)
{
    return strcmp(prefix, "xact_") == 0;
}

static int visit(void *arg, const struct sb_counter *c)
{
    visits++;
    return 0;
}

static void missing(void *arg, const char *source, const struct sb_err *why)
{
    CHECK_STR(source, "pg_stat_database");
    missed++;
}

static const struct sb_counter_sink sink = { NULL, wanted, visit, missing };

static void check_counters(int columns, int rows, bool nulls, int n)
{
    visits = missed = 0;
    if (columns >= 0)
        describe(columns);
    for (int i = 0; i < rows; i++)
        row(columns, nulls);
    done(columns >= 0 ? "SELECT" : NULL, "I");
    CHECK_INT(start(), 0);
    CHECK_INT(sb_driver.info->counters(conn, &sink, &err), 0);
    CHECK_INT(visits, n);
    CHECK_INT(missed, 0);
    finish();
}

static void counters_of_any_answer(void)
{
    check_counters(3, 1, true, 0);
    check_counters(3, 0, false, 0);
    check_counters(-1, 0, false, 0);
    check_counters(3, 1, false, 0); // texts
}

static void counters_without_rights(void)
{
    visits = missed = 0;
    MESSAGE('E', "SERROR\0VERROR\0C42501\0Mnot allowed\0\0");
    done(NULL, "I");
    CHECK_INT(start(), 0);
    CHECK_INT(sb_driver.info->counters(conn, &sink, &err), 0);
    CHECK_INT(visits, 0);
    CHECK_INT(missed, 1);
    CHECK_STR(err.msg, "not allowed");
    finish();
}

// Without an answer the driver cannot know that the table is empty, so it does
// not truncate it.
static void load_without_an_answer(void)
{
    done("BEGIN", "T");
    done("LOCK TABLE", "T");
    done(NULL, "T");
    done("ROLLBACK", "I");
    done("BEGIN", "T");
    MESSAGE('E', "SERROR\0VERROR\0C42501\0Mnot allowed\0\0");
    done(NULL, "E");
    done("ROLLBACK", "I");
    CHECK_INT(start(), 0);
    CHECK_INT(sb_driver.bulk->begin(conn, "t", "id", 1, &err), SB_EQUERY);
    CHECK_STR(err.msg, "not allowed");
    CHECK_STR(server.queries, "BEGIN\nLOCK TABLE t IN ACCESS EXCLUSIVE MODE\n"
                              "SELECT id FROM t LIMIT 1\nROLLBACK\nBEGIN\n"
                              "COPY t (id) FROM STDIN\nROLLBACK\n");
    finish();
}

int main(void)
{
    check_folder();
    alarm(300); // ends the program if the driver hangs
    RUN(shutdown_after_an_answer);
    RUN(shutdown_in_a_transaction);
    RUN(shutdown_after_an_error);
    RUN(shutdown_read_by_libpq);
    RUN(shutdown_within_an_answer);
    RUN(half_a_message);
    RUN(stray_bytes);
    RUN(server_line_of_any_answer);
    RUN(counters_of_any_answer);
    RUN(counters_without_rights);
    RUN(load_without_an_answer);
    return check_done();
}
