// SPDX-License-Identifier: GPL-2.0-or-later
//
// Messages directly after the end of an answer, and answers of any form.
#include "fake_pgsql.h"

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

CHECK_FILE
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
