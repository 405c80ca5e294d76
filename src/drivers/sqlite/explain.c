// SPDX-License-Identifier: GPL-2.0-or-later
//
// Plans of statements: EXPLAIN QUERY PLAN.
#include <math.h>
#include <string.h>

#include "drivers/sqlite/internal.h"

// The name of the table behind a word, without what follows; false: other text.
static bool lite_table_of(
    const char *step, const char *word, char *out, size_t size)
{
    size_t n = strlen(word);

    if (strncmp(step, word, n) != 0)
        return false;
    step += n;
    if (strncmp(step, "TABLE ", 6) == 0) // before 3.36
        step += 6;
    n = strcspn(step, " ");
    // "(subquery-2)", "3 CONSTANT ROWS"
    if (n == 0 || *step == '(' || strncmp(step + n, " CONSTANT", 9) == 0)
        return false;
    snprintf(out, size, "%.*s", (int)n, step);
    return true;
}

// An index that the statement makes for itself is made of all rows. SQLite
// estimates no rows.
static int lite_take_step(const char *text, const struct sb_plan_sink *to)
{
    struct sb_plan_step s = { .text = text, .size = NAN, .rows = NAN };
    char table[200];
    bool scan = lite_table_of(text, "SCAN ", table, sizeof(table));

    if (scan || lite_table_of(text, "SEARCH ", table, sizeof(table)))
        s.table = table;
    s.scans = (scan && !strstr(text, " USING ")) ||
              (s.table && strstr(text, " AUTOMATIC "));
    return to->step(to->arg, &s);
}

static int lite_plan(struct sqlite_conn *c, sqlite3_stmt *st,
    const struct sb_statement *s, const struct sb_plan_sink *to,
    struct sb_err *err)
{
    int rc = SQLITE_OK, taken;

    for (uint32_t i = 0; rc == SQLITE_OK && i < s->nvalues; i++)
        rc = sqlite_bind_value(st, (int)i + 1, &s->values[i]);
    if (rc != SQLITE_OK)
        return sqlite_fail(c, rc, err);
    taken = to->plan(to->arg, "", true);
    while (taken == 0 && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(st, 3);

        taken = text ? lite_take_step(text, to) : SB_ENOMEM;
    }
    return taken || rc == SQLITE_DONE ? taken : sqlite_fail(c, rc, err);
}

int sqlite_explain(struct sb_conn *conn, const struct sb_statement *s,
    const struct sb_plan_sink *to, struct sb_err *err)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;
    char *sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", s->sql);
    sqlite3_stmt *st = NULL;
    int rc;

    if (!sql)
        return sb_err_no_memory(err);
    c->apart = true;
    sqlite_call_begin(c);
    rc = sqlite3_prepare_v2(c->db, sql, -1, &st, NULL);
    rc = rc == SQLITE_OK ? lite_plan(c, st, s, to, err)
                         : sqlite_fail(c, rc, err);
    sqlite3_finalize(st);
    sqlite3_free(sql);
    return rc;
}
