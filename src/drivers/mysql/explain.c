// SPDX-License-Identifier: GPL-2.0-or-later
//
// Plans of statements: EXPLAIN of a text with literals, in a transaction that
// is rolled back and, where the server allows it, may not write: servers may
// call functions to find a plan.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "drivers/mysql/internal.h"
#include "kit/buf.h"
#include "kit/sqlscan.h"

#define READ_ONLY 1792 // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION

// The columns that are used, in any order; versions have others, too.
enum column { TABLE, TYPE, POSSIBLE, KEY, ROWS, FILTERED, EXTRA, COLUMNS };

static const char *const columns[COLUMNS] = {
    [TABLE] = "table",
    [TYPE] = "type",
    [POSSIBLE] = "possible_keys",
    [KEY] = "key",
    [ROWS] = "rows",
    [FILTERED] = "filtered",
    [EXTRA] = "Extra",
};

static void find_columns(MYSQL_RES *res, int at[COLUMNS])
{
    const MYSQL_FIELD *field = mysql_fetch_fields(res);

    for (int k = 0; k < COLUMNS; k++) {
        at[k] = -1;
        for (unsigned i = 0; i < mysql_num_fields(res); i++) {
            if (strcasecmp(field[i].name, columns[k]) == 0)
                at[k] = (int)i;
        }
    }
}

// "" for NULL, and for a column that this version does not have.
static const char *value(MYSQL_ROW row, const int at[COLUMNS], enum column k)
{
    return at[k] >= 0 && row[at[k]] ? row[at[k]] : "";
}

static double my_number(const char *text)
{
    return *text ? strtod(text, NULL) : NAN;
}

// A statement that changes rows reads them by the primary key in any case.
static bool reads_all(const char *type, const char *key, const char *extra)
{
    return strcmp(type, "ALL") == 0 ||
           (strcmp(type, "index") == 0 && strcmp(key, "PRIMARY") == 0 &&
               !strstr(extra, "Using index"));
}

static int take_row(
    MYSQL_ROW row, const int at[COLUMNS], const struct sb_plan_sink *to)
{
    const char *table = value(row, at, TABLE), *type = value(row, at, TYPE);
    const char *key = value(row, at, KEY), *extra = value(row, at, EXTRA);
    double rows = my_number(value(row, at, ROWS));
    double passed = my_number(value(row, at, FILTERED));
    char text[400];
    struct sb_plan_step s = { .text = text, .size = NAN, .rows = NAN };

    // "<derived2>" is a result of other steps.
    if (*table && *table != '<') {
        s.table = table;
        s.scans = reads_all(type, key, extra);
    }
    snprintf(text, sizeof(text), "%s%s%s%s%s%s%s%s", *type ? type : "",
        *table ? " on " : "", table, *key ? " using " : "", key,
        *extra ? " (" : "", extra, *extra ? ")" : "");
    if (s.scans)
        s.size = rows;
    // Without an index, the server has nothing to estimate this from.
    if (s.scans && *value(row, at, POSSIBLE))
        s.rows = rows * passed / 100;
    return to->step(to->arg, &s);
}

// The server reads a row by its key to explain a statement. If it is not there
// any more, there is no plan.
static bool is_no_row(MYSQL_ROW row, const int at[COLUMNS])
{
    return strstr(value(row, at, EXTRA), "const table") != NULL;
}

// In MySQL, an INSERT has a row of its own.
static bool is_insert(MYSQL_RES *res, MYSQL_ROW row)
{
    return mysql_num_fields(res) > 1 && row[1] &&
           (strcmp(row[1], "INSERT") == 0 || strcmp(row[1], "REPLACE") == 0);
}

static int my_take_plan(MYSQL_RES *res, const struct sb_plan_sink *to)
{
    int rc = to->plan(to->arg, "", true), at[COLUMNS];
    MYSQL_ROW row;

    find_columns(res, at);
    while (rc == 0 && (row = mysql_fetch_row(res)) != NULL) {
        if (is_no_row(row, at))
            break;
        if (!is_insert(res, row))
            rc = take_row(row, at, to);
    }
    return rc;
}

// Asking ---------------------------------------------------------------------

// Whether the text has a variable of a session, or writes to a file.
static const char *obstacle(const char *sql, size_t len, unsigned scan)
{
    for (size_t i = 0; i < len; i = sb_sqlscan_skip(sql, len, i, scan)) {
        if (sql[i] == '@')
            return "it uses a variable of the session";
        if (strncasecmp(sql + i, "outfile", 7) == 0 ||
            strncasecmp(sql + i, "dumpfile", 8) == 0)
            return "it writes to a file";
    }
    return NULL;
}

// 0 or SB_E*; err->native is READ_ONLY if the transaction does not allow it.
static int my_ask_plan(struct sbmy_conn *c, const char *begin, const char *sql,
    MYSQL_RES **res, struct sb_err *err)
{
    int rc = sbmy_ask_nothing(c, begin, err), ended;

    if (rc == 0)
        rc = sbmy_ask(c, sql, 9, res, err);
    if (rc && rc != SB_EQUERY && rc != SB_ERESTART)
        return rc;
    ended = sbmy_ask_nothing(c, "ROLLBACK", rc ? NULL : err);
    if (rc == 0 && ended) {
        mysql_free_result(*res);
        *res = NULL;
    }
    return rc ? rc : ended;
}

static int my_explain(struct sbmy_conn *c, const char *text,
    const struct sb_plan_sink *to, struct sb_err *err)
{
    struct sb_buf sql = { 0 };
    MYSQL_RES *res = NULL;
    int rc;

    // Columns, as MySQL 9 shows only if it is asked to; MariaDB has the column
    // "filtered" for another word only.
    if (sb_buf_addf(&sql, "EXPLAIN %s %s",
            sbmy_scan((struct sb_conn *)c) & SB_SQLSCAN_M_BANG
                ? "EXTENDED"
                : "FORMAT=TRADITIONAL",
            text))
        return sb_err_no_memory(err);
    // To read a row, the server may wait for its lock.
    sbmy_ask_nothing(c,
        "SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 1",
        NULL);
    rc = my_ask_plan(c, "START TRANSACTION READ ONLY", sql.data, &res, err);
    if (rc == SB_EQUERY && err->native == READ_ONLY)
        rc = my_ask_plan(c, "START TRANSACTION", sql.data, &res, err);
    sb_buf_done(&sql);
    if (rc)
        return rc;
    rc = my_take_plan(res, to);
    mysql_free_result(res);
    return rc;
}

int sbmy_explain(struct sb_conn *conn, const struct sb_statement *s,
    const struct sb_plan_sink *to, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    // The server plans each execution of a prepared statement for its values.
    const char *text = s->prepared ? s->literal : s->sql;
    const char *why = c->o->dry_run ? "nothing is executed in a dry run"
                      : text ? obstacle(text, strlen(text), sbmy_scan(conn))
                             : "a value has no literal";
    int rc;

    if (why)
        return sb_err_set(err, SB_EQUERY, "%s", why);
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    return sbmy_call_end(c, my_explain(c, text, to, err));
}
