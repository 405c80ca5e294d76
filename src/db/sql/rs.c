// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/op.h"
#include "db/sql/sql.h"

_Static_assert(
    sizeof(struct sb_cell) == sizeof(struct sb_sql_cell) &&
        offsetof(struct sb_cell, len) == offsetof(struct sb_sql_cell, len),
    "drivers fill the cells that Lua passes");

// Returns the connection of rs; NULL if rs is not its current result set.
static struct sb_con_priv *owner(struct sb_rs *rs)
{
    struct sb_con_priv *c = rs ? (struct sb_con_priv *)rs->connection : NULL;

    return c && rs == &c->rs[c->rs_now] && c->outcome == SB__OUTCOME_SQL &&
                   c->res.kind == SB_RESULT_ROWS
               ? c
               : NULL;
}

static int invalid(struct sb_rs *rs)
{
    struct sb_con_priv *c = rs ? (struct sb_con_priv *)rs->connection : NULL;

    sb_log(SB_LOG_ALERT, "attempt to fetch row from an invalid result set");
    if (!c)
        return SB_EUSAGE;
    return sb__error_usage(c,
        "the result set is no longer available: it was freed, its connection "
        "was closed, or it executed another statement");
}

int sb_rs_fetch(struct sb_rs *rs, struct sb_sql_cell *cells)
{
    struct sb_con_priv *c = owner(rs);
    int rc;

    if (!c)
        return invalid(rs);
    if (c->res.nrows == 0)
        return 0;
    rc = c->sql->fetch(c->conn, &c->res, (struct sb_cell *)cells, &c->err);
    return rc < 0 ? sb__error_report(c, "fetch", "", 0) : rc;
}

const char *sb_rs_column(struct sb_rs *rs, uint32_t i)
{
    struct sb_con_priv *c = owner(rs);

    if (!c || i >= c->res.nfields)
        return NULL;
    return c->sql->column(c->conn, &c->res, i);
}

int sb_rs_more(struct sb_con *con)
{
    const struct sb_con_priv *c = (struct sb_con_priv *)con;

    return c->outcome != SB__OUTCOME_NONE && c->res.more;
}

// Each further result of a statement counts as a query.
struct sb_rs *sb_rs_next(struct sb_con *con)
{
    static const struct sb__call_text text = { "next result", "", 0, NULL, 0 };
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb_rec *rec = sb__rec(c);
    struct sb__call call;
    int rc;

    if (!sb_rs_more(con))
        return NULL;
    call = sb__call_since(c, rec, -1, rec ? sb__now(c) : 0);
    rc = c->sql->next_result(c->conn, &c->res, &c->err);
    sb__call_stop(&call);
    if (rc < 0) {
        sb__call_failed(call, rc, &text);
        return NULL;
    }
    if (rc == 0) {
        c->res.more = false;
        return NULL;
    }
    if (rec)
        call.op = sb__op_of_next(c->ctx, rec);
    sb__call_succeeded(&call);
    return sb__result_new(c, c->statement);
}

void sb_rs_free(struct sb_rs *rs)
{
    struct sb_con_priv *c = owner(rs);

    if (!c)
        sb_log(SB_LOG_ALERT, "attempt to free an invalid result set");
    else if (c->res.more)
        c->outcome = SB__OUTCOME_DROPPED; // ended by the next call
    else
        sb__result_end(c);
}
