// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "drivers/sqlite/internal.h"

#define MOST_ROWS 100u // per statement; more are not faster

// Prepares "INSERT INTO t (c) VALUES (?,?),(?,?)...".
static int prepare_insert(struct sqlite_conn *c, const char *table,
    const char *columns, uint32_t ncolumns, uint32_t nrows, sqlite3_stmt **out,
    struct sb_err *err)
{
    size_t head = strlen(table) + strlen(columns) + 32, n;
    char *sql = malloc(head + (size_t)nrows * (2 * (size_t)ncolumns + 2));
    int rc;

    if (!sql)
        return sb_err_no_memory(err);
    n = (size_t)snprintf(
        sql, head, "INSERT INTO %s (%s) VALUES ", table, columns);
    for (uint32_t r = 0; r < nrows; r++) {
        sql[n++] = r ? ',' : ' ';
        sql[n++] = '(';
        for (uint32_t i = 0; i < ncolumns; i++) {
            sql[n++] = '?';
            sql[n++] = i + 1 < ncolumns ? ',' : ')';
        }
    }
    rc = sqlite3_prepare_v3(
        c->db, sql, (int)n, SQLITE_PREPARE_PERSISTENT, out, NULL);
    free(sql);
    return rc == SQLITE_OK ? 0 : sqlite_fail(c, rc, err);
}

void sqlite_bulk_done(struct sqlite_conn *c)
{
    sqlite3_finalize(c->many);
    sqlite3_finalize(c->one);
    c->many = c->one = NULL;
}

static uint32_t rows_a_statement(struct sqlite_conn *c, uint32_t ncolumns)
{
    int limit = sqlite3_limit(c->db, SQLITE_LIMIT_VARIABLE_NUMBER, -1);
    uint32_t rows = (uint32_t)limit / ncolumns;

    return rows < 1 ? 1 : rows < MOST_ROWS ? rows : MOST_ROWS;
}

static int lite_bulk_begin(struct sb_conn *conn, const char *table,
    const char *columns, uint32_t ncolumns, struct sb_err *err)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;
    int rc;

    sqlite_call_begin(c);
    rc = sqlite_before_write(c, err);
    if (rc == 0)
        rc = sqlite_simple(c, "BEGIN IMMEDIATE", err);
    if (rc)
        return rc;
    c->bulk_columns = ncolumns;
    c->bulk_rows = rows_a_statement(c, ncolumns);
    rc = prepare_insert(
        c, table, columns, ncolumns, c->bulk_rows, &c->many, err);
    if (rc == 0)
        rc = prepare_insert(c, table, columns, ncolumns, 1, &c->one, err);
    if (rc) {
        sqlite_bulk_done(c);
        sqlite_simple(c, "ROLLBACK", NULL);
    }
    return rc;
}

static int lite_insert(struct sqlite_conn *c, sqlite3_stmt *st,
    const struct sb_value *values, uint32_t nrows, struct sb_err *err)
{
    int n = (int)(nrows * c->bulk_columns), rc = SQLITE_OK;

    assert(n == sqlite3_bind_parameter_count(st));
    for (int i = 0; rc == SQLITE_OK && i < n; i++)
        rc = sqlite_bind_value(st, i + 1, &values[i]);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_DONE) {
        sqlite3_reset(st);
        return 0;
    }
    rc = sqlite_fail(c, rc, err);
    sqlite3_reset(st);
    return rc;
}

static int lite_bulk_rows(struct sb_conn *conn, const struct sb_value *values,
    uint32_t nrows, struct sb_err *err)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;
    int rc = 0;

    assert(c->many && c->one);
    sqlite_call_begin(c);
    while (rc == 0 && nrows > 0) {
        uint32_t n = nrows >= c->bulk_rows ? c->bulk_rows : 1;

        rc = lite_insert(c, n > 1 ? c->many : c->one, values, n, err);
        values += (size_t)n * c->bulk_columns;
        nrows -= n;
    }
    return rc;
}

// Some errors, such as a full disk, have already ended the transaction.
static int undo(struct sqlite_conn *c)
{
    return sqlite3_get_autocommit(c->db) ? 0
                                         : sqlite_simple(c, "ROLLBACK", NULL);
}

static int lite_bulk_end(struct sb_conn *conn, bool commit, struct sb_err *err)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;
    int rc;

    sqlite_bulk_done(c);
    if (!commit)
        return undo(c);
    rc = sqlite_simple(c, "COMMIT", err);
    if (rc)
        undo(c);
    return rc;
}

const struct sb_bulk_ops sqlite_bulk_ops = {
    .begin = lite_bulk_begin,
    .rows = lite_bulk_rows,
    .end = lite_bulk_end,
};
