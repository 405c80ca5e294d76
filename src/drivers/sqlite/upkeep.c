// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a database needs before a run: statistics, and its log in its file.
#include "drivers/sqlite/internal.h"

static int lite_analyze(
    struct sb_conn *conn, const char *table, struct sb_err *err)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;
    char *sql = sqlite3_mprintf("ANALYZE \"%w\"", table);
    int rc = sql ? 0 : sb_err_no_memory(err);

    c->apart = true;
    if (rc == 0)
        rc = sqlite_before_write(c, err);
    if (rc == 0)
        rc = sqlite_simple(c, sql, err);
    sqlite3_free(sql);
    return rc;
}

// Does nothing if there is no log.
static int lite_checkpoint(
    struct sb_conn *conn, const char *table, struct sb_err *err)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;
    int rc;

    (void)table;
    c->apart = true;
    rc = sqlite3_wal_checkpoint_v2(
        c->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return rc == SQLITE_OK ? 0 : sqlite_fail(c, rc, err);
}

const struct sb_upkeep_ops sqlite_upkeep_ops = {
    .analyze = lite_analyze,
    .checkpoint = lite_checkpoint,
    .no_prewarm = "each connection of SQLite has a cache of its own; use "
                  "--warmup-time",
};
