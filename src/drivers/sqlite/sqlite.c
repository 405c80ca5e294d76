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
    .upkeep = &sqlite_upkeep_ops,
};
