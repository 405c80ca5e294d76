// SPDX-License-Identifier: GPL-2.0-or-later
//
// Texts of clients and of servers that have one shape.
#include "db/shape.h"

#include <stdlib.h>

#include "check.h"
#include "kit/sqlscan.h"

#define MYSQL (SB_SQLSCAN_BACKSLASH | SB_SQLSCAN_HASH | SB_SQLSCAN_BANG)
#define PGSQL (SB_SQLSCAN_DOLLAR | SB_SQLSCAN_NEST)

static void check(const char *sql, unsigned flags, const char *want)
{
    char *got = sb_shape(sql, strlen(sql), flags);

    CHECK_STR(got, want);
    free(got);
}

// The first text is the client's.
static void same(const char *a, const char *b, unsigned flags)
{
    char *x = sb_shape(a, strlen(a), flags);

    check(b, flags, x);
    free(x);
}

static void differ(const char *a, const char *b, unsigned flags)
{
    char *x = sb_shape(a, strlen(a), flags);
    char *y = sb_shape(b, strlen(b), flags);

    CHECK(strcmp(x, y) != 0);
    free(x);
    free(y);
}

static void what_remains(void)
{
    check("", 0, "");
    check(" ;", 0, "");
    check("SELECT c\n FROM sbtest12 WHERE id=?", 0,
        "select c from sbtest# where id = ?");
    check("select 1.5e-3, .5, x'00', 0x1F", 0, "select ?");
    check("a1b22", 0, "a#b#");
    check("t1.c", 0, "t# . c");
    check("SELECT -- a comment\n/* another */ 1", 0, "select ?");
    check("''", 0, "?");
    check("'it''s'", 0, "?");
    check("'no end", 0, "?");
    check("\"", 0, "");
}

static void texts_of_mysql(void)
{
    same("SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c",
        "SELECT DISTINCTROW `c` FROM `sbtest7` WHERE ID BETWEEN ? AND ? "
        "ORDER BY `c` ",
        MYSQL);
    same("SELECT COUNT(*) FROM t WHERE a<>5 AND b>=-3",
        "SELECT COUNT ( * ) FROM `t` WHERE `a` != ? AND `b` >= ? ", MYSQL);
    same("INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y\\'z')",
        "INSERT INTO `t` ( `a` , `b` ) VALUES (...) /* , ... */ ", MYSQL);
    same("SELECT a FROM t WHERE b IN (1, 2, 3)",
        "SELECT `a` FROM `t` WHERE `b` IN (...) ", MYSQL);
    same("SELECT 1, 2, a", "SELECT ?, ... , `a`", MYSQL);
    same("SELECT \"a\"", "SELECT ?", MYSQL);
    same("SELECT a # comment\n", "SELECT `a`", MYSQL);
}

static void texts_of_postgresql(void)
{
    same("SELECT c FROM sbtest1 WHERE id=?",
        "SELECT c FROM sbtest2 WHERE id=$1", PGSQL);
    same("SELECT \"A\" FROM t WHERE b IN (1,2,3)",
        "SELECT \"A\" FROM t WHERE b IN ($1 /*, ... */)", PGSQL);
    same("INSERT INTO t VALUES (1, NULL, true), (2, 'x', false)",
        "INSERT INTO t VALUES ($1, $2, $3), ($4, $5, $6)", PGSQL);
    same("SELECT $$a text$$, e'a\\'b'", "SELECT $1, $2", PGSQL);
    same("SELECT a::int", "SELECT a :: int", PGSQL);
}

static void other_statements(void)
{
    differ("SELECT a FROM t", "SELECT b FROM t", 0);
    differ("SELECT a - 1", "SELECT a, 1", 0);
    differ("SELECT a WHERE b IS NULL", "SELECT a WHERE b IS NOT NULL", 0);
    differ("SELECT a WHERE b IS NULL", "SELECT a WHERE b = NULL", 0);
    differ("SELECT a WHERE b < 1", "SELECT a WHERE b <= 1", 0);
    differ("f(1, a)", "f(a)", 0);
    differ("SELECT a FROM t", "SELECT a FROM t FOR UPDATE", 0);
}

CHECK_FILE
{
    RUN(what_remains);
    RUN(texts_of_mysql);
    RUN(texts_of_postgresql);
    RUN(other_statements);
    return check_done();
}
