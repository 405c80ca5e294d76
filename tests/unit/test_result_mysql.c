// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whose result the current one is, after answers that fail or that belong to
// several statements.
#include "fake_mysql.h"

#define COLUMN      "\3def\0\0\0\1c\0\14\41\0\170\0\0\0\375\0\0\0\0\0"
#define EOF_PACKET  "\376\0\0\2\0"
#define MORE_OK     "\0\1\0\12\0\0\0" // OK, and more results follow
#define INTERRUPTED "\377\320\13#HY000Query execution was interrupted"

static void connected(const char *option, const char *value)
{
    CHECK_INT(start(option, value), 0);
    CHECK_STR(err.msg, "");
}

// A statement without parameters that returns one column.
static void answer_prepare_column(void)
{
    PACKET(1, "\0\1\0\0\0\1\0\0\0\0\0\0");
    PACKET(2, COLUMN);
    PACKET(3, EOF_PACKET);
    next_answer();
}

static void put_rows(const char *row, size_t len)
{
    PACKET(1, "\1");
    PACKET(2, COLUMN);
    PACKET(3, EOF_PACKET);
    packet(4, row, len);
}

static void answer_text_row(void)
{
    put_rows("\0017", 2);
    PACKET(5, EOF_PACKET);
    next_answer();
}

static void prepare(void)
{
    uint32_t n;

    CHECK_INT(
        sb_driver.sql->prepare(conn, stmt, "SELECT c", 8, NULL, &n, &err), 0);
    CHECK_STR(err.msg, "");
}

static int query(struct sb_result *res)
{
    *res = (struct sb_result){ 0 };
    memset(&err, 0, sizeof(err));
    return sb_driver.sql->query(conn, "SELECT c", 8, res, &err);
}

static void check_text_row(void)
{
    struct sb_result res;
    struct sb_cell cell = { 0 };

    CHECK_INT(query(&res), 0);
    CHECK_INT(res.nfields, 1);
    CHECK_INT(sb_driver.sql->fetch(conn, &res, &cell, &err), 1);
    CHECK_INT(cell.len, 1);
    CHECK(cell.s && cell.s[0] == '7');
    CHECK_STR(sb_driver.sql->column(conn, &res, 0), "c");
    CHECK_INT(sb_driver.sql->fetch(conn, &res, &cell, &err), 0);
    sb_driver.sql->free_result(conn, &res);
    CHECK(room.own.result == &sbmy_no_result);
}

// An error after the first rows: the statement has no result.
static void check_interrupted(const char *bypass)
{
    struct sb_result res = { 0 };

    answer_prepare_column();
    put_rows("\0\0\0017", 4);
    PACKET(5, INTERRUPTED);
    next_answer();
    answer_text_row();
    connected("mysql-bypass-library", bypass);
    prepare();
    CHECK_INT(
        sb_driver.sql->execute(conn, stmt, NULL, 0, &res, &err), SB_EQUERY);
    CHECK_INT(err.native, 3024);
    CHECK(room.own.result == &sbmy_no_result);
    check_text_row();
    finish();
}

static void interrupted_in_the_library(void)
{
    check_interrupted("off");
}

static void interrupted_without_the_library(void)
{
    check_interrupted("on");
}

static void interrupted_text(void)
{
    struct sb_result res;

    put_rows("\0017", 2);
    PACKET(5, INTERRUPTED);
    next_answer();
    answer_text_row();
    connected("mysql-ssl", "off");
    CHECK_INT(query(&res), SB_EQUERY);
    CHECK_INT(err.native, 3024);
    check_text_row();
    finish();
}

// A statement with two results, of which the second one fails: so does the
// statement.
static void second_result_fails(void)
{
    struct sb_result res;

    PACKET(1, MORE_OK);
    PACKET(2, INTERRUPTED);
    next_answer();
    answer_text_row();
    connected("mysql-ssl", "off");
    CHECK_INT(query(&res), SB_EQUERY);
    CHECK_INT(err.native, 3024);
    CHECK_INT(sb_driver.sql->next_result(conn, &res, &err), 0);
    sb_driver.sql->free_result(conn, &res);
    check_text_row();
    finish();
}

// The results that follow a freed one are discarded.
static void freed_before_the_next(void)
{
    struct sb_result res;

    PACKET(1, MORE_OK);
    PACKET(2, OK);
    next_answer();
    answer_text_row();
    connected("mysql-ssl", "off");
    CHECK_INT(query(&res), 0);
    sb_driver.sql->free_result(conn, &res);
    check_text_row();
    finish();
}

// In a pipeline, the next result is that of the next statement.
static void results_of_a_pipeline(void)
{
    static const struct sb_item items[] = {
        { .sql = "DO 1", .len = 4 },
        { .sql = "DO 2", .len = 4 },
    };
    struct sb_result res = { 0 };

    PACKET(1, MORE_OK);
    PACKET(2, "\0\3\0\2\0\0\0");
    next_answer();
    answer_text_row();
    connected("mysql-ssl", "off");
    CHECK_INT(sb_driver.sql->pipeline_send(conn, items, 2, &err), 0);
    CHECK_INT(sb_driver.sql->pipeline_receive(conn, &res, &err), 0);
    CHECK_INT(res.affected, 1);
    CHECK_INT(sb_driver.sql->next_result(conn, &res, &err), 0);
    sb_driver.sql->free_result(conn, &res);
    CHECK_INT(sb_driver.sql->pipeline_receive(conn, &res, &err), 0);
    CHECK_INT(res.affected, 3);
    sb_driver.sql->free_result(conn, &res);
    CHECK_INT(sb_driver.sql->pipeline_end(conn, &err), 0);
    check_text_row();
    finish();
}

// A pipeline of which only the first result is received.
static void pipeline_that_ends_early(void)
{
    static const struct sb_item items[] = {
        { .sql = "DO 1", .len = 4 },
        { .sql = "SELECT c", .len = 8 },
    };
    struct sb_result res = { 0 };

    PACKET(1, MORE_OK);
    PACKET(2, "\1");
    PACKET(3, COLUMN);
    PACKET(4, EOF_PACKET);
    PACKET(5, "\0018");
    PACKET(6, EOF_PACKET);
    next_answer();
    answer_text_row();
    connected("mysql-ssl", "off");
    CHECK_INT(sb_driver.sql->pipeline_send(conn, items, 2, &err), 0);
    CHECK_INT(sb_driver.sql->pipeline_receive(conn, &res, &err), 0);
    sb_driver.sql->free_result(conn, &res);
    CHECK_INT(sb_driver.sql->pipeline_end(conn, &err), 0);
    check_text_row();
    finish();
}

// An error in an answer that is not received is that of the end of the
// pipeline.
static void pipeline_that_ends_before_an_error(void)
{
    static const struct sb_item items[] = {
        { .sql = "DO 1", .len = 4 },
        { .sql = "DO 2", .len = 4 },
    };

    PACKET(1, MORE_OK);
    PACKET(2, INTERRUPTED);
    next_answer();
    answer_text_row();
    connected("mysql-ssl", "off");
    CHECK_INT(sb_driver.sql->pipeline_send(conn, items, 2, &err), 0);
    CHECK_INT(sb_driver.sql->pipeline_end(conn, &err), SB_EQUERY);
    CHECK_INT(err.native, 3024);
    check_text_row();
    finish();
}

// Without a connection there is no result either.
static void operations_without_a_result(void)
{
    struct sb_result res = { .nfields = 1 };
    struct sb_cell cell;

    connected("mysql-ssl", "off");
    sb_driver.generic->disconnect(conn);
    CHECK_INT(sb_driver.sql->fetch(conn, &res, &cell, &err), 0);
    CHECK(!sb_driver.sql->column(conn, &res, 0));
    CHECK_INT(sb_driver.sql->next_result(conn, &res, &err), 0);
    sb_driver.sql->free_result(conn, &res);
    CHECK_INT(query(&res), SB_ELOST);
    CHECK_INT(err.native, 2006);
    finish();
}

CHECK_FILE
{
    RUN(interrupted_in_the_library);
    RUN(interrupted_without_the_library);
    RUN(interrupted_text);
    RUN(second_result_fails);
    RUN(freed_before_the_next);
    RUN(results_of_a_pipeline);
    RUN(pipeline_that_ends_early);
    RUN(pipeline_that_ends_before_an_error);
    RUN(operations_without_a_result);
    return check_done();
}
