// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/pgsql/binary.h"
#include "drivers/pgsql/internal.h"

static const struct sb_sql_ops sql_ops = {
    .query = pgsql_query,
    .prepare = pgsql_prepare,
    .execute = pgsql_execute,
    .close = pgsql_close,
    .scan = pgsql_scan,
    .fetch = pgsql_fetch,
    .column = pgsql_column,
    .free_result = pgsql_free_result,
    .quote = pgsql_quote,
#ifdef LIBPQ_HAS_PIPELINING
    .pipeline_send = pgsql_pipeline_send,
    .pipeline_receive = pgsql_pipeline_receive,
    .pipeline_end = pgsql_pipeline_end,
#endif
};

SB_DRIVER_EXPORT const struct sb_driver sb_driver = {
    .abi = SB_DRIVER_ABI,
    .name = "pgsql",
    .title = "PostgreSQL and compatible servers",
    .dialect = "pgsql",
    .scan = PGSQL_SCAN,
    .isolation = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL",
    .caps = SB_CAP_CAST_LITERALS | SB_CAP_PARAM_TYPES | SB_CAP_ONE_LOADER |
            SB_CAP_CANCEL_CONNECT | SB_CAP_ONE_COMMIT | SB_CAP_LOOP |
            SB_CAP_ESCAPED_MARKS | SB_CAP_UNSIGNED | SB_CAP_NAN |
            SB_CAP_INFINITY,
    .opts = &pgsql_opt_table,
    .opts_size = sizeof(struct pgsql_opts),
    .conn_size = sizeof(struct pgsql_conn),
    .stmt_size = sizeof(struct pgsql_stmt),
    .generic = &pgsql_generic_ops,
    .sql = &sql_ops,
    .bulk = &pgsql_bulk_ops,
    .info = &pgsql_info_ops,
    .upkeep = &pgsql_upkeep_ops,
    .loop_users = 8,
};
