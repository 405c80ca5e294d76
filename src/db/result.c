// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/internal.h"

_Static_assert(
    sizeof(struct sb_cell) == sizeof(struct sb_sql_cell) &&
        offsetof(struct sb_cell, len) == offsetof(struct sb_sql_cell, len),
    "drivers fill the cells that Lua passes");

// Returns the connection of rs; NULL if rs is not its current result set.
static struct sb_con_priv *owner(struct sb_rs *rs)
{
    struct sb_con_priv *c = rs ? (struct sb_con_priv *)rs->connection : NULL;

    return c && rs == &c->rs[c->rs_now] && c->has_result && !c->ahead &&
                   !c->freed && c->res.kind == SB_RESULT_ROWS
               ? c
               : NULL;
}

static int invalid(struct sb_rs *rs)
{
    struct sb_con_priv *c = rs ? (struct sb_con_priv *)rs->connection : NULL;

    sb_log(SB_LOG_ALERT, "attempt to fetch row from an invalid result set");
    if (!c)
        return SB_EUSAGE;
    sb_err_set(&c->err, SB_EUSAGE,
        "the result set is no longer available: it was freed, its connection "
        "was closed, or it executed another statement");
    return sb__con_failed(c);
}

void sb__result_end(struct sb_con_priv *c)
{
    if (!c->has_result)
        return;
    c->sql->free_result(c->conn, &c->res);
    c->has_result = c->ahead = c->doc_result = false;
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
    return rc < 0 ? sb__con_error(c, "fetch", "", 0) : rc;
}

const char *sb_rs_column(struct sb_rs *rs, uint32_t i)
{
    struct sb_con_priv *c = owner(rs);

    if (!c || i >= c->res.nfields)
        return NULL;
    return c->sql->column(c->conn, &c->res, i);
}

// Counts each further result of a statement as a query.
static void record(struct sb_con_priv *c, uint64_t start)
{
    struct sb_rec *rec = sb__rec(c);
    uint64_t now;

    if (!rec)
        return;
    now = sb__now(c);
    sb__count_result(
        rec, sb__op_of_next(c->ctx, rec), &c->res, now - start, now);
}

int sb_rs_more(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    uint64_t start;
    int rc;

    if (c->ahead)
        return 1;
    if (!c->open || !c->has_result || !c->sql->next_result)
        return 0;
    start = sb__timed(c) ? sb__now(c) : 0;
    rc = c->sql->next_result(c->conn, &c->res, &c->err);
    if (rc < 0)
        return sb__con_error(c, "next result", "", 0);
    if (rc == 0) {
        sb__result_end(c);
        return 0;
    }
    c->ahead = true;
    record(c, start);
    return 1;
}

struct sb_rs *sb_rs_next(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (sb_rs_more(con) != 1)
        return NULL;
    c->ahead = false;
    return sb__con_result(c, c->statement);
}

void sb_rs_free(struct sb_rs *rs)
{
    struct sb_con_priv *c = owner(rs);

    if (!c)
        sb_log(SB_LOG_ALERT, "attempt to free an invalid result set");
    else if (c->sql->next_result)
        c->freed = true; // more results may follow: ended by the next call
    else
        sb__result_end(c);
}
