// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a database needs before a run: vacuum, statistics, a checkpoint, pages
// in the cache.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/pgsql/internal.h"

struct warning {
    PQnoticeReceiver next;
    void *arg;
    char text[300]; // the first one; "" for none
};

static void take_notice(void *arg, const PGresult *r)
{
    struct warning *w = arg;
    const char *level = PQresultErrorField(r, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *text = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);

    if (level && text && strcmp(level, "WARNING") == 0 && !w->text[0])
        snprintf(w->text, sizeof(w->text), "%s", text);
    w->next(w->arg, r);
}

// Runs a statement. A table that this user may not vacuum is skipped, with a
// warning of the server.
static int run_all(struct pgsql_conn *c, const char *sql, struct sb_err *err)
{
    struct warning w = { .arg = c };
    int rc;

    w.next = PQsetNoticeReceiver(c->db, take_notice, &w);
    rc = pgsql_run(c, sql, err);
    pgsql_clear(c);
    PQsetNoticeReceiver(c->db, w.next, c);
    if (rc == 0 && w.text[0])
        rc = sb_err_set(err, SB_EQUERY, "%s", w.text);
    return rc;
}

// Asks for one text about a table that inspect() has named; `column` is of
// pg_class c. The caller frees *out.
static int ask_table(struct pgsql_conn *c, const char *column,
    const char *table, char **out, struct sb_err *err)
{
    char *name = PQescapeLiteral(c->db, table, strlen(table));
    size_t size = strlen(column) + (name ? strlen(name) : 0) + 300;
    char *sql = name ? malloc(size) : NULL;
    const char *text = NULL;
    int rc;

    *out = NULL;
    if (!sql) {
        PQfreemem(name);
        return sb_err_no_memory(err);
    }
    snprintf(sql, size,
        "SELECT %s FROM pg_class c JOIN pg_namespace n ON n.oid = "
        "c.relnamespace WHERE c.relkind IN ('r', 'm', 'p') AND CASE n.nspname "
        "WHEN "
        "'public' THEN '' ELSE n.nspname || '.' END || c.relname = %s",
        column, name);
    rc = pgsql_run(c, sql, err);
    if (rc == 0)
        text = pgsql_cell(pgsql_answer(c, 0, 1, NULL), 0, 0);
    if (text)
        *out = strdup(text);
    else if (rc == 0)
        rc = sb_err_set(err, SB_EQUERY, "the table %s does not exist", name);
    pgsql_clear(c);
    PQfreemem(name);
    free(sql);
    return rc || *out ? rc : sb_err_no_memory(err);
}

static int run_for(struct pgsql_conn *c, const char *column, const char *table,
    struct sb_err *err)
{
    char *sql = NULL;
    int rc = ask_table(c, column, table, &sql, err);

    if (rc == 0)
        rc = run_all(c, sql, err);
    free(sql);
    return rc;
}

static int pg_analyze(
    struct sb_conn *conn, const char *table, struct sb_err *err)
{
    // The partitions of a table are in the list, too.
    return run_for(pgsql_own(conn),
        "format(CASE c.relkind WHEN 'p' THEN 'ANALYZE' ELSE 'VACUUM (ANALYZE)' "
        "END || ' %I.%I', n.nspname, c.relname)",
        table, err);
}

static int pg_checkpoint(
    struct sb_conn *conn, const char *table, struct sb_err *err)
{
    (void)table;
    return run_all(pgsql_own(conn), "CHECKPOINT", err);
}

// Whether the extension can be used, in whatever schema it is.
static bool has_prewarm(struct pgsql_conn *c)
{
    static const char sql[] =
        "SELECT 1 FROM pg_extension WHERE extname = 'pg_prewarm'";
    bool has = pgsql_run(c, sql, NULL) == 0 && pgsql_answer(c, 1, 1, NULL);

    pgsql_clear(c);
    return has;
}

// With its indexes, and the table of its long values with the index of that.
static int pg_prewarm(
    struct sb_conn *conn, const char *table, struct sb_err *err)
{
    // By numbers: users may not name what is in the schema of such tables.
    static const char blocks[] =
        "CASE c.relkind WHEN 'p' THEN 'SELECT 0' ELSE "
        "format('SELECT sum(%I.pg_prewarm(r::regclass)) FROM "
        "unnest(%L::oid[]) r', (SELECT s.nspname FROM pg_extension e JOIN "
        "pg_namespace s ON s.oid = e.extnamespace WHERE e.extname = "
        "'pg_prewarm'), ARRAY(SELECT c.oid UNION ALL SELECT x.indexrelid FROM "
        "pg_index x WHERE x.indrelid IN (c.oid, c.reltoastrelid) UNION ALL "
        "SELECT c.reltoastrelid WHERE c.reltoastrelid <> 0)) END";
    static const char rows[] =
        "CASE c.relkind WHEN 'p' THEN 'SELECT 0' ELSE "
        "format('SELECT count(*) FROM %I.%I', n.nspname, c.relname) END";
    struct pgsql_conn *c = pgsql_own(conn);
    bool has = has_prewarm(c);
    int rc = run_for(c, has ? blocks : rows, table, err);

    if (rc == 0 && !has)
        snprintf(err->msg, sizeof(err->msg),
            "tables were read by SELECT count(*), and indexes were not: the "
            "database lacks the extension pg_prewarm");
    return rc;
}

const struct sb_upkeep_ops pgsql_upkeep_ops = {
    .analyze = pg_analyze,
    .vacuums = true,
    .checkpoint = pg_checkpoint,
    .prewarm = pg_prewarm,
};
