// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a database needs before a run: statistics, pages on disk, pages in the
// cache.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/internal.h"
#include "kit/buf.h"

static void add_name(struct sb_buf *b, const char *name)
{
    sb_buf_adds(b, "`");
    for (; *name; name++)
        sb_buf_addf(b, *name == '`' ? "`%c" : "%c", *name);
    sb_buf_adds(b, "`");
}

// Writes a statement: its beginning, up to three names, each with the text
// behind it.
static const char *write_sql(struct sb_buf *b, const char *begin,
    const char *const (*names)[2], unsigned n)
{
    sb_buf_clear(b);
    sb_buf_adds(b, begin);
    for (unsigned i = 0; i < n; i++) {
        add_name(b, names[i][0]);
        sb_buf_adds(b, names[i][1]);
    }
    return sb_buf_add(b, "", 1) ? NULL : b->data;
}

static int ask_nothing(struct sbmy_conn *c, struct sb_buf *b, const char *begin,
    const char *table, const char *end, struct sb_err *err)
{
    const char *const name[][2] = { { table, end } };
    const char *sql = write_sql(b, begin, name, 1);

    return sql ? sbmy_ask_nothing(c, sql, err) : sb_err_no_memory(err);
}

// An error is in the answer. Other servers are left alone: LOCAL.
static int analyze(struct sbmy_conn *c, struct sb_buf *b, const char *table,
    struct sb_err *err)
{
    const char *const name[][2] = { { table, "" } };
    const char *sql = write_sql(b, "ANALYZE LOCAL TABLE ", name, 1);
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sql ? sbmy_ask(c, sql, 4, &res, err) : sb_err_no_memory(err);

    if (rc)
        return rc;
    while ((row = sbmy_ask_row(res, 4)) != NULL) {
        if (rc == 0 && strcasecmp(row[2], "Error") == 0)
            rc = sb_err_set(err, SB_EQUERY, "%s", row[3]);
    }
    mysql_free_result(res);
    return rc;
}

// InnoDB writes the changed pages of tables that are to be exported, at once.
// The lock ends with the session at the latest.
static int write_pages(struct sbmy_conn *c, struct sb_buf *b, const char *table,
    struct sb_err *err)
{
    int rc = sbmy_ask_nothing(c, "SET SESSION lock_wait_timeout = 5", err);

    if (rc == 0)
        rc = ask_nothing(
            c, b, "FLUSH LOCAL TABLES ", table, " FOR EXPORT", err);
    return rc ? rc : sbmy_ask_nothing(c, "UNLOCK TABLES", err);
}

// The index with the rows, then the others that have whole columns: a query
// that needs only its first column reads the whole index.
static int prewarm(struct sbmy_conn *c, struct sb_buf *b, const char *table,
    struct sb_err *err)
{
    char text[600], literal[500];
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = ask_nothing(
        c, b, "SELECT COUNT(*) FROM ", table, " USE INDEX ()", err);

    if (rc)
        return rc;
    if (strlen(table) > sizeof(literal) / 2 - 1)
        return 0;
    mysql_real_escape_string(
        c->my, literal, table, (unsigned long)strlen(table));
    snprintf(text, sizeof(text),
        "SELECT index_name, column_name FROM information_schema.statistics "
        "WHERE table_schema = database() AND table_name = '%.300s' AND "
        "seq_in_index = 1 AND index_type = 'BTREE' AND sub_part IS NULL AND "
        "index_name <> 'PRIMARY'",
        literal);
    rc = sbmy_ask(c, text, 2, &res, err);
    if (rc)
        return rc;
    while (rc == 0 && (row = sbmy_ask_row(res, 2)) != NULL) {
        const char *const names[][2] = { { row[1], ")) FROM " },
            { table, " FORCE INDEX (" }, { row[0], ")" } };
        const char *sql = write_sql(b, "SELECT MAX(LENGTH(", names, 3);

        rc = sql ? sbmy_ask_nothing(c, sql, err) : sb_err_no_memory(err);
    }
    mysql_free_result(res);
    return rc;
}

static int call(struct sb_conn *conn, const char *table, struct sb_err *err,
    int (*what)(struct sbmy_conn *c, struct sb_buf *b, const char *table,
        struct sb_err *err))
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct sb_buf b;
    int rc;

    if (c->o->dry_run)
        return sb_err_set(err, SB_EQUERY, "a dry run has no server");
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    sb_buf_init(&b, 2000);
    rc = what(c, &b, table, err);
    sb_buf_done(&b);
    return sbmy_call_end(c, rc);
}

static int my_analyze(
    struct sb_conn *conn, const char *table, struct sb_err *err)
{
    return call(conn, table, err, analyze);
}

static int my_write(struct sb_conn *conn, const char *table, struct sb_err *err)
{
    return call(conn, table, err, write_pages);
}

// MariaDB keeps changed pages for as long as they are few: then there is no
// checkpoint. The upper limit is also one for the lower limit, which is not to
// change.
static int rush(
    struct sbmy_conn *c, struct sb_buf *b, const char *sql, struct sb_err *err)
{
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sbmy_ask(c,
        "SELECT @@GLOBAL.innodb_max_dirty_pages_pct, "
        "@@GLOBAL.innodb_max_dirty_pages_pct_lwm + 0",
        2, &res, err);

    if (rc)
        return rc;
    row = sbmy_ask_row(res, 2);
    if (!row || strtod(row[1], NULL) > 0)
        rc = sb_err_set(err, SB_EQUERY,
            "innodb_max_dirty_pages_pct_lwm is not 0 on this server");
    else if (strtod(row[0], NULL) <= 0)
        rc = sb_err_set(err, SB_EQUERY,
            "innodb_max_dirty_pages_pct is 0 already: another program may be "
            "settling this server");
    else
        sb_buf_addf(b, "%s%.20s", sql, row[0]);
    mysql_free_result(res);
    return rc ? rc
              : sbmy_ask_nothing(
                    c, "SET GLOBAL innodb_max_dirty_pages_pct = 0", err);
}

static int my_rush(
    struct sb_conn *conn, char *undo, size_t size, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct sb_buf b;
    int rc = sbmy_call_begin(c, err);

    if (rc)
        return rc;
    sb_buf_init(&b, 300);
    rc = rush(c, &b, "SET GLOBAL innodb_max_dirty_pages_pct = ", err);
    // Also after an error that says nothing about what the server did.
    if (b.len > 0 && rc != SB_EQUERY)
        snprintf(undo, size, "%.*s", (int)b.len, b.data);
    sb_buf_done(&b);
    return sbmy_call_end(c, rc);
}

static int run_statement(
    struct sbmy_conn *c, struct sb_buf *b, const char *sql, struct sb_err *err)
{
    (void)b;
    return sbmy_ask_nothing(c, sql, err);
}

static int my_relax(struct sb_conn *conn, const char *undo, struct sb_err *err)
{
    return call(conn, undo, err, run_statement);
}

static int my_prewarm(
    struct sb_conn *conn, const char *table, struct sb_err *err)
{
    return call(conn, table, err, prewarm);
}

const struct sb_upkeep_ops sbmy_upkeep_ops = {
    .analyze = my_analyze,
    .write = my_write,
    .rush = my_rush,
    .relax = my_relax,
    .prewarm = my_prewarm,
};
