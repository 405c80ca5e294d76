// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mysql/internal.h"

static const struct sb_sql_ops sql_ops = {
    .query = sbmy_query,
    .prepare = sbmy_prepare,
    .execute = sbmy_execute,
    .close = sbmy_close,
    .scan = sbmy_scan,
    .fetch = sbmy_result_fetch,
    .column = sbmy_result_column,
    .next_result = sbmy_result_next,
    .free_result = sbmy_result_free,
    .quote = sbmy_quote,
    .pipeline_send = sbmy_pipeline_send,
    .pipeline_receive = sbmy_pipeline_receive,
    .pipeline_end = sbmy_pipeline_end,
};

SB_DRIVER_EXPORT const struct sb_driver sb_driver = {
    .abi = SB_DRIVER_ABI,
    .name = "mysql",
    .title = "MySQL, MariaDB and compatible servers",
    .dialect = "mysql",
    .scan = SBMY_SCAN,
    .isolation = "SET SESSION TRANSACTION ISOLATION LEVEL",
    .caps = SB_CAP_ONE_LOADER | SB_CAP_ONE_COMMIT | SB_CAP_TEXT_PIPELINE |
            SB_CAP_UNSIGNED | SB_CAP_BULK_BLOCKS | SB_CAP_BINARY_LITERALS |
            (SBMY_LOOP || SBMY_NONBLOCKING ? SB_CAP_LOOP : 0) |
            (SBMY_LOOP ? SB_CAP_CANCEL_CONNECT : 0),
    .opts = &sbmy_opt_table,
    .opts_size = sizeof(struct sbmy_opts),
    .conn_size = sizeof(struct sbmy_conn),
    .stmt_size = sizeof(struct sbmy_stmt),
    .generic = &sbmy_generic_ops,
    .sql = &sql_ops,
    .bulk = &sbmy_bulk_ops,
    .info = &sbmy_info_ops,
    .upkeep = &sbmy_upkeep_ops,
    // If client and server have the same processors, a user's thread that wakes
    // up replaces the server's thread and sends its next query, which the
    // server's thread finds when it continues. A worker does not replace it, so
    // the server's thread sleeps after each query (bench/RESULTS.md). Hence the
    // large number.
    .loop_users = SBMY_LOOP ? 256 : 0,
};
