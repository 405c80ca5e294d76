// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/sqlite/internal.h"

static const struct sb_info_ops lite_info_ops = {
    .server = sqlite_server,
    .client = sqlite_client,
    .describe = sqlite_describe,
    .counters = sqlite_counters,
    .inspect = sqlite_inspect,
    .explain = sqlite_explain,
};

// Before a run: statistics, and the log in the file.

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

static const struct sb_upkeep_ops lite_upkeep_ops = {
    .analyze = lite_analyze,
    .checkpoint = lite_checkpoint,
    .no_prewarm = "each connection of SQLite has a cache of its own; use "
                  "--warmup-time",
};

SB_DRIVER_EXPORT const struct sb_driver sb_driver = {
    .abi = SB_DRIVER_ABI,
    .name = "sqlite",
    .title = "SQLite, embedded: requires no server",
    .dialect = "sqlite",
    .caps = SB_CAP_HUGE_LITERALS | SB_CAP_INFINITY | SB_CAP_ONE_LOADER |
            SB_CAP_ONE_WRITER | SB_CAP_SIGNED_IDS | SB_CAP_EMBEDDED,
    .opts = &sqlite_opt_table,
    .opts_size = sizeof(struct sqlite_opts),
    .conn_size = sizeof(struct sqlite_conn),
    .stmt_size = sizeof(struct sqlite_prepared),
    .generic = &sqlite_generic_ops,
    .sql = &sqlite_sql_ops,
    .bulk = &sqlite_bulk_ops,
    .info = &lite_info_ops,
    .upkeep = &lite_upkeep_ops,
};
