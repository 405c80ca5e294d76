// SPDX-License-Identifier: GPL-2.0-or-later
//
// The driver against a server of a few lines that says what a test wants, to
// the byte: what comes right behind the end of an answer.
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "base/opts.h"
#include "drivers/pgsql/pgsql_priv.h"

// The server -----------------------------------------------------------------

#define ANSWERS 8

static struct server {
    int listener, fd;
    pthread_t thread;
    // The answers to what is asked after the start; the server closes the
    // connection behind the last.
    char answer[ANSWERS][512];
    size_t len[ANSWERS];
    int n;
    // What was asked as text, one a line.
    char asked[1024];
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

// Reads a message's body; keeps the text of a query.
static bool skip(int fd, uint32_t len, char type)
{
    size_t n = strlen(server.asked);
    char room[4096];

    if (len > sizeof(room) || !read_all(fd, room, len))
        return false;
    if (type == 'Q')
        snprintf(server.asked + n, sizeof(server.asked) - n, "%.*s\n", (int)len,
            room);
    return true;
}

// Up to a message that wants an answer: Sync or Query.
static bool read_request(int fd)
{
    unsigned char head[5];

    do {
        if (!read_all(fd, head, sizeof(head)) ||
            !skip(fd, get_size(head + 1) - 4, (char)head[0]))
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
                skip(fd, get_size(size) - 4, 0) &&
                write(fd, hello, sizeof(hello)) == (ssize_t)sizeof(hello);

    // In one piece: that is how the driver reads it.
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
#define FATAL                                                              \
    MESSAGE('E', "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to " \
                 "administrator command\0\0")

static void stray(char byte)
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

// As libpq wants it: with a description.
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

static const struct sb_host host = { .abi = SB_DRIVER_ABI, .log = quiet };

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

// Prepared, and executed once: libpq's part of it.
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

static void check_farewell(int rc)
{
    CHECK_INT(rc, SB_ELOST);
    CHECK_STR(err.state, "57P01");
    CHECK_STR(err.msg, "terminating connection due to administrator command");
}

// Tests
// ------------------------------------------------------------------------

static void farewell_behind_an_answer(void)
{
    struct sb_result res;

    answer_prepare();
    answer_first();
    answer_again("I");
    FATAL;
    next_answer();
    ready();
    CHECK_INT(execute(&res), 0);
    CHECK_INT(res.kind, SB_RESULT_WRITE);
    CHECK_INT(res.affected, 1);
    check_farewell(execute(&res));
    check_farewell(query());
    finish();
}

static void farewell_in_a_transaction(void)
{
    struct sb_result res;

    answer_prepare();
    answer_first();
    answer_again("T");
    FATAL;
    next_answer();
    ready();
    CHECK_INT(execute(&res), 0);
    memset(&err, 0, sizeof(err));
    check_farewell(sb_driver.generic->reset(conn, &err));
    finish();
}

static void farewell_behind_an_error(void)
{
    struct sb_result res;

    answer_prepare();
    answer_first();
    MESSAGE('E', "SERROR\0VERROR\0C40P01\0Mdeadlock detected\0\0");
    MESSAGE('Z', "E");
    FATAL;
    next_answer();
    ready();
    CHECK_INT(execute(&res), SB_ERESTART);
    CHECK_STR(err.state, "40P01");
    check_farewell(sb_driver.generic->reset(conn, &err));
    finish();
}

static void farewell_to_libpq(void)
{
    MESSAGE('C', "BEGIN\0");
    MESSAGE('Z', "T");
    FATAL;
    next_answer();
    CHECK_INT(start(), 0);
    CHECK_INT(query(), 0);
    check_farewell(query());
    finish();
}

static void end_of_a_statement(void)
{
    struct sb_result res;

    answer_prepare();
    answer_first();
    MESSAGE('2', "");
    FATAL;
    next_answer();
    ready();
    check_farewell(execute(&res));
    finish();
}

static void half_a_message(void)
{
    struct sb_result res;

    answer_prepare();
    answer_first();
    answer_again("I");
    stray('N');
    stray(0);
    next_answer();
    ready();
    CHECK_INT(execute(&res), 0);
    CHECK_INT(sb_driver.sql->fetch(conn, &res, NULL, &err), 0);
    CHECK_INT(execute(&res), SB_ELOST);
    CHECK_STR(err.state, PGSQL_LOST);
    finish();
}

// Bytes behind an answer that are the beginning of nothing, from a server that
// waits for the next question.
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
            stray(bytes[i][k]);
        next_answer();
        answer_again("I");
        next_answer();
        ready();
        CHECK_INT(execute(&res), 0);
        CHECK_INT(res.affected, 1);
        CHECK_INT(execute(&res), SB_ELOST);
        CHECK_STR(err.state, PGSQL_VIOLATION);
        CHECK(strstr(err.msg, "belong to no answer"));
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

// Columns and rows of the answer; -1 columns: none.
static void facts(int columns, int rows, bool nulls, const char *wanted)
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

static void facts_of_any_form(void)
{
    facts(5, 1, false,
        "x, shared_buffers x, fsync x, synchronous_commit x, wal_level x");
    facts(5, 1, true, "PostgreSQL ?");
    facts(5, 0, false, "PostgreSQL ?");
    facts(9, 1, false, "PostgreSQL ?");
    facts(1, 1, false, "PostgreSQL ?");
    facts(0, 1, false, "PostgreSQL ?");
    facts(-1, 0, false, "PostgreSQL ?");
}

static int visits;

static int visit(void *arg, const char *name, double value)
{
    visits++;
    return 0;
}

static void counters_of(int columns, int rows, bool nulls, int rc, int n)
{
    visits = 0;
    if (columns >= 0)
        describe(columns);
    for (int i = 0; i < rows; i++)
        row(columns, nulls);
    done(columns >= 0 ? "SELECT" : NULL, "I");
    CHECK_INT(start(), 0);
    CHECK_INT(sb_driver.info->counters(conn, visit, NULL, &err), rc);
    CHECK_INT(visits, n);
    finish();
}

static void counters_of_any_form(void)
{
    counters_of(3, 1, false, 0, 3);
    counters_of(3, 1, true, 0, 0);
    counters_of(3, 0, false, SB_EQUERY, 0);
    counters_of(-1, 0, false, SB_EQUERY, 0);
}

// Whether a table is empty cannot be told from no answer: it is not truncated.
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
    CHECK_STR(server.asked, "BEGIN\nLOCK TABLE t IN ACCESS EXCLUSIVE MODE\n"
                            "SELECT id FROM t LIMIT 1\nROLLBACK\nBEGIN\n"
                            "COPY t (id) FROM STDIN\nROLLBACK\n");
    finish();
}

int main(void)
{
    alarm(300); // rather than wait for ever, as this side once did
    RUN(farewell_behind_an_answer);
    RUN(farewell_in_a_transaction);
    RUN(farewell_behind_an_error);
    RUN(farewell_to_libpq);
    RUN(end_of_a_statement);
    RUN(half_a_message);
    RUN(stray_bytes);
    RUN(facts_of_any_form);
    RUN(counters_of_any_form);
    RUN(load_without_an_answer);
    return check_done();
}
