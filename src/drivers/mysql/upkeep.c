// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a database needs before a run: statistics, pages on disk, pages in the
// cache.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/internal.h"

#define NAME_SIZE 600 // a quoted name of up to 64 characters
#define SQL_SIZE  (3 * NAME_SIZE)

// Writes a name in quotes.
static const char *quote(const char *name, char out[NAME_SIZE])
{
    size_t n = 0;

    out[n++] = '`';
    for (; *name && n < NAME_SIZE - 3; name++) {
        if (*name == '`')
            out[n++] = '`';
        out[n++] = *name;
    }
    out[n++] = '`';
    out[n] = '\0';
    return out;
}

static int take_message(void *arg, MYSQL_ROW row)
{
    return strcasecmp(row[2], "Error") == 0
               ? sb_err_set(arg, SB_EQUERY, "%s", row[3])
               : 0;
}

// An error is in the answer. Other servers are left alone: LOCAL.
static int analyze(struct sbmy_conn *c, const char *table, struct sb_err *err)
{
    char name[NAME_SIZE], sql[SQL_SIZE];

    snprintf(sql, sizeof(sql), "ANALYZE LOCAL TABLE %s", quote(table, name));
    return sbmy_ask_each(c, sql, 4, take_message, err, err);
}

// InnoDB writes the changed pages of tables that are to be exported, at once.
// The lock ends with the session at the latest.
static int write_pages(
    struct sbmy_conn *c, const char *table, struct sb_err *err)
{
    char name[NAME_SIZE], sql[SQL_SIZE];
    int rc = sbmy_ask_nothing(c, "SET SESSION lock_wait_timeout = 5", err);

    snprintf(sql, sizeof(sql), "FLUSH LOCAL TABLES %s FOR EXPORT",
        quote(table, name));
    if (rc == 0)
        rc = sbmy_ask_nothing(c, sql, err);
    return rc ? rc : sbmy_ask_nothing(c, "UNLOCK TABLES", err);
}

// The index with the rows, then the others that have whole columns: a query
// that needs only its first column reads the whole index.
static int prewarm(struct sbmy_conn *c, const char *table, struct sb_err *err)
{
    char name[NAME_SIZE], index[NAME_SIZE], column[NAME_SIZE];
    char sql[SQL_SIZE + 100], literal[500];
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc;

    snprintf(sql, sizeof(sql), "SELECT COUNT(*) FROM %s USE INDEX ()",
        quote(table, name));
    rc = sbmy_ask_nothing(c, sql, err);
    if (rc || strlen(table) > sizeof(literal) / 2 - 1)
        return rc;
    mysql_real_escape_string(
        c->my, literal, table, (unsigned long)strlen(table));
    snprintf(sql, sizeof(sql),
        "SELECT index_name, column_name FROM information_schema.statistics "
        "WHERE table_schema = database() AND table_name = '%s' AND "
        "seq_in_index = 1 AND index_type = 'BTREE' AND sub_part IS NULL AND "
        "index_name <> 'PRIMARY'",
        literal);
    rc = sbmy_ask(c, sql, 2, &res, err);
    if (rc)
        return rc;
    while (rc == 0 && (row = sbmy_ask_row(res, 2)) != NULL) {
        snprintf(sql, sizeof(sql),
            "SELECT MAX(LENGTH(%s)) FROM %s FORCE INDEX (%s)",
            quote(row[1], column), name, quote(row[0], index));
        rc = sbmy_ask_nothing(c, sql, err);
    }
    mysql_free_result(res);
    return rc;
}

static int call(struct sb_conn *conn, const char *text, struct sb_err *err,
    int (*what)(struct sbmy_conn *c, const char *text, struct sb_err *err))
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc;

    if (c->o->dry_run)
        return sb_err_set(err, SB_EQUERY, "a dry run has no server");
    rc = sbmy_call_begin(c, err);
    return rc ? rc : sbmy_call_end(c, what(c, text, err));
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

static int my_prewarm(
    struct sb_conn *conn, const char *table, struct sb_err *err)
{
    return call(conn, table, err, prewarm);
}

// MariaDB keeps changed pages for as long as they are few: then there is no
// checkpoint. The upper limit is also one for the lower limit, which is not to
// change.
static int rush(
    struct sbmy_conn *c, char *undo, size_t size, struct sb_err *err)
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
        snprintf(undo, size, "SET GLOBAL innodb_max_dirty_pages_pct = %.20s",
            row[0]);
    mysql_free_result(res);
    if (rc)
        return rc;
    rc = sbmy_ask_nothing(c, "SET GLOBAL innodb_max_dirty_pages_pct = 0", err);
    // Other errors say nothing about what the server did.
    if (rc == SB_EQUERY)
        undo[0] = '\0';
    return rc;
}

static int my_rush(
    struct sb_conn *conn, char *undo, size_t size, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc = sbmy_call_begin(c, err);

    return rc ? rc : sbmy_call_end(c, rush(c, undo, size, err));
}

static int my_relax(struct sb_conn *conn, const char *undo, struct sb_err *err)
{
    return call(conn, undo, err, sbmy_ask_nothing);
}

const struct sb_upkeep_ops sbmy_upkeep_ops = {
    .analyze = my_analyze,
    .write = my_write,
    .rush = my_rush,
    .relax = my_relax,
    .prewarm = my_prewarm,
};
