// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which statements are kept to be explained, and what else users tell.
#include "db/plans.h"

#include <pthread.h>

#include "check.h"
#include "db/internal.h"
#include "kit/sqlscan.h"

static struct sb_drivers drivers = { .plans = true };
static struct sb_db db = { .owner = &drivers };
static struct sb__inst inst = { .db = &db };
static const struct sb__plan_op *list[SB__PLANS_MAX];

static void note(const char *op, const char *sql)
{
    sb__plans_note(&inst, op,
        &(struct sb_statement){ .sql = sql, .len = strlen(sql) },
        SB_SQLSCAN_BACKSLASH);
}

static void forget(void)
{
    sb__plans_free(atomic_exchange(&inst.plans, NULL));
}

// The operations after one statement, and what is kept of it.
static unsigned noted(const char *sql)
{
    forget();
    note("op", sql);
    return sb__plans_list(&inst, list);
}

static void first_execution(void)
{
    char text[] = "abc";
    struct sb_value v[] = { { .type = SB_VALUE_INT, .i = 7 },
        { .type = SB_VALUE_TEXT, .len = 3, .s = text } };
    uint8_t types[] = { SB_SQL_TYPE_INT, SB_SQL_TYPE_CHAR };
    struct sb_statement s = { .sql = "SELECT 1 FROM t WHERE a=? AND b=?XX",
        .len = 33,
        .prepared = true,
        .nvalues = 2,
        .values = v,
        .types = types,
        .literal = "L",
        .literal_len = 1 };

    sb__plans_note(&inst, "one", &s, 0);
    text[0] = 'x';
    v[0].i = types[0] = 0;
    sb__plans_note(&inst, "one", &s, 0);
    note("two", "UPDATE t SET a = 1");
    CHECK_INT(sb__plans_list(&inst, list), 2);
    CHECK_STR(list[0]->name, "one");
    CHECK_STR(list[0]->statement.sql, "SELECT 1 FROM t WHERE a=? AND b=?");
    CHECK_STR(list[0]->statement.literal, "L");
    CHECK_INT(list[0]->statement.values[0].i, 7);
    CHECK_STR(list[0]->statement.values[1].s, "abc");
    CHECK_INT(list[0]->statement.types[0], SB_SQL_TYPE_INT);
    CHECK(list[0]->filters && list[0]->statement.prepared);
    CHECK_STR(list[1]->name, "two");
    CHECK(!list[1]->filters && !list[1]->statement.prepared);
    forget();
    CHECK_INT(sb__plans_list(&inst, list), 0);
}

static void kinds(void)
{
    CHECK_INT(noted("/* a */ (SELECT 1) UNION SELECT 2"), 1);
    CHECK_INT(noted("with x as (select 1) select * from x"), 1);
    CHECK_INT(noted("DELETE FROM t"), 1);
    CHECK_INT(noted("INSERT INTO t VALUES ('select')"), 0);
    CHECK_INT(noted("INSERT INTO t SELECT 1"), 1);
    CHECK_INT(noted("REPLACE INTO t SELECT 1"), 1);
    CHECK_INT(noted("SELECTION"), 0);
    CHECK_INT(noted("BEGIN"), 0);
    CHECK_INT(noted(""), 0);
    CHECK_INT(noted("SELECT 'where' -- where"), 1);
    CHECK(!list[0]->filters);
    CHECK_INT(noted("SELECT 'it\\'s' FROM t wHere a"), 1);
    CHECK(list[0]->filters && !list[0]->why[0]);
    note(NULL, "SELECT 2");
    CHECK_INT(sb__plans_list(&inst, list), 1);
}

static void refused(void)
{
    static char sql[SB__PLANS_TEXT_MAX + 2];

    noted("SELECT ';' ; -- end\n");
    CHECK(!list[0]->why[0]);
    noted("SELECT 1; DROP TABLE t");
    CHECK_STR(list[0]->why, "its text has several statements");
    memset(sql, ' ', sizeof(sql) - 1);
    memcpy(sql, "SELECT", 6);
    noted(sql);
    CHECK_STR(list[0]->why, "its text is longer than 64 KiB");
}

static const char *session(const char *sql)
{
    const char *text;

    noted(sql);
    text = sb__plans_session(&inst);
    return text ? text : "";
}

static void sessions(void)
{
    CHECK_STR(session("SELECT 1"), "");
    CHECK_STR(session("SET NAMES utf8"), "");
    CHECK_STR(session("SET GLOBAL x = 1"), "");
    CHECK_STR(session("SET SESSION TRANSACTION READ ONLY"), "");
    CHECK_STR(session("SET SESSION CHARACTERISTICS AS TRANSACTION"), "");
    CHECK_STR(session("SET enable_seqscan = off"), "SET enable_seqscan");
    CHECK_STR(session("SET LOCAL a.b TO 'x'"), "SET LOCAL a.b");
    CHECK_STR(session("SET @x = 1"), "SET @x");
    note(NULL, "SET y = 1");
    CHECK_STR(sb__plans_session(&inst), "SET @x");
}

static void temporary(void)
{
    noted("CREATE TABLE t (a INT)");
    CHECK(!sb__plans_temporary(&inst, "SELECT a FROM t"));
    note(NULL, "CREATE TEMP TABLE IF NOT EXISTS \"Tt\" (a INT)");
    note(NULL, "create temporary table u as select 1");
    CHECK(sb__plans_temporary(&inst, "SELECT a FROM tt"));
    CHECK(sb__plans_temporary(&inst, "SELECT u.a FROM x"));
    CHECK(!sb__plans_temporary(&inst, "SELECT ttt FROM uu"));
    forget();
    CHECK(!sb__plans_temporary(&inst, "SELECT u.a FROM x"));
}

#define THREADS 8
#define NAMES   (2 * (int)SB__PLANS_MAX)

static void *note_all(void *arg)
{
    char op[16];

    for (int i = 0; i < NAMES; i++) {
        snprintf(op, sizeof(op), "%d", i);
        note(op, "SELECT 1");
    }
    return arg;
}

// Each operation is in the list once, and further ones have no room.
static void at_once(void)
{
    pthread_t thread[THREADS];
    unsigned n;

    forget();
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, note_all, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    n = sb__plans_list(&inst, list);
    CHECK_INT(n, SB__PLANS_MAX);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < i; k++)
            CHECK(strcmp(list[i]->name, list[k]->name) != 0);
    }
}

static void not_wanted(void)
{
    drivers.plans = false;
    CHECK_INT(noted("SELECT 1"), 0);
    CHECK_STR(session("SET x = 1"), "");
}

CHECK_FILE
{
    RUN(first_execution);
    RUN(kinds);
    RUN(refused);
    RUN(sessions);
    RUN(temporary);
    RUN(at_once);
    RUN(not_wanted);
    forget();
    return check_done();
}
