// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mongodb/internal.h"

SB_DRIVER_EXPORT const struct sb_driver sb_driver = {
    .abi = SB_DRIVER_ABI,
    .name = "mongodb",
    .title = "MongoDB and compatible servers",
    .dialect = "mongodb",
    .caps = SB_CAP_CANCEL_CONNECT | SB_CAP_LOOP | SB_CAP_NAN | SB_CAP_INFINITY |
            SB_CAP_NO_SQL,
    .opts = &sbmo_opt_table,
    .opts_size = sizeof(struct sbmo_opts),
    .conn_size = sizeof(struct sbmo_conn),
    .generic = &sbmo_generic_ops,
    .sql = &sbmo_sql_ops,
    .bulk = &sbmo_bulk_ops,
    .info = &sbmo_info_ops,
    .upkeep = &sbmo_upkeep_ops,
    .lua = (const char *)sbmo_lua,
    .lua_declarations = (const char *)sbmo_lua_declarations,
    .lua_modules = sbmo_lua_modules,
    .loop_users = 8,
};
