// SPDX-License-Identifier: GPL-2.0-or-later
//
// The result that a connection has: one at a time.
#include "db/call.h"

struct sb_rs *sb__result_new(struct sb_con_priv *c, struct sb_stmt_handle *st)
{
    struct sb_rs *rs;

    c->outcome = SB__OUTCOME_SQL;
    c->statement = st;
    if (c->res.kind != SB_RESULT_ROWS)
        return NULL;
    c->rs_now = (c->rs_now + 1) % SB__RESULTS;
    rs = &c->rs[c->rs_now];
    *rs = (struct sb_rs){
        .nrows = c->res.nrows,
        .nfields = c->res.nfields,
        .affected = c->res.affected,
        .insert_id = c->res.insert_id,
        .statement = st,
        .connection = &c->pub,
    };
    return rs;
}

void sb__result_end(struct sb_con_priv *c)
{
    if (c->outcome == SB__OUTCOME_NONE)
        return;
    assert(sb__con_connected(c));
    c->sql->free_result(c->conn, &c->res);
    c->outcome = SB__OUTCOME_NONE;
}
