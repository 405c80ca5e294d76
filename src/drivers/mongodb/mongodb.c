// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mongodb/internal.h"

static const struct sb_doc_ops doc_ops = {
    .command = sbmo_command,
    .next = sbmo_next,
    .reply = sbmo_reply,
    .transaction = sbmo_transaction,
    .from_json = sbmo_from_json,
    .to_json = sbmo_to_json,
};

SB_DRIVER_EXPORT const struct sb_driver sb_driver = {
    .abi = SB_DRIVER_ABI,
    .name = "mongodb",
    .title = "MongoDB and compatible servers",
    .dialect = "mongodb",
    .caps = SB_CAP_CANCEL_CONNECT | SB_CAP_LOOP | SB_CAP_NAN | SB_CAP_INFINITY,
    .opts = &sbmo_opt_table,
    .opts_size = sizeof(struct sbmo_opts),
    .conn_size = sizeof(struct sbmo_conn),
    .generic = &sbmo_generic_ops,
    .sql = &sbmo_sql_ops,
    .doc = &doc_ops,
    .bulk = &sbmo_bulk_ops,
    .info = &sbmo_info_ops,
    .loop_users = 8,
};
