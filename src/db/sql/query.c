// SPDX-License-Identifier: GPL-2.0-or-later
//
// Queries by SQL text.
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

int sb__query_run(struct sb_con_priv *c, const char *sql, size_t len, int op)
{
    struct sb_rec *rec = sb__rec(c);
    struct sb__call call;
    int rc;

    if (SB_UNLIKELY(!c->sql))
        return sb__error_usage(
            c, "the %s driver has no SQL operations", c->drv->name);
    if (!rec)
        op = -1;
    else if (op < 0)
        op = sb__op_of_text(c->ctx, rec, sql, len);
    call = sb__call_begin(c, rec, op);
    rc = c->sql->query(c->conn, sql, len, &c->res, &c->err);
    if (sb__call_ends_well(&call, rc))
        return 0;
    return sb__call_end(call, rc,
        &(struct sb__call_text){ .what = "query", .sql = sql, .len = len });
}

int sb__query_execute(struct sb_con_priv *c, const char *sql, size_t len)
{
    int rc = sb__call_ready(c);

    if (rc == 0)
        rc = sb__query_run(c, sql, len, -1);
    if (rc == 0)
        sb__result_new(c, NULL);
    return rc;
}

struct sb_rs *sb_con_query(struct sb_con *con, const char *sql, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (sb__call_ready(c))
        return NULL;
    if (SB_UNLIKELY(c->pipe.state == SB__PIPE_OPEN)) {
        struct sb_rec *rec = sb__rec(c);

        sb__pipe_add_text(
            c, sql, len, rec ? sb__op_of_text(c->ctx, rec, sql, len) : -1);
        return NULL;
    }
    return sb__query_run(c, sql, len, -1) ? NULL : sb__result_new(c, NULL);
}

struct sb_rs *sb_con_query_now(struct sb_con *con, const char *sql, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    return sb__pipe_refuse(c, "query_row()") ? NULL
                                             : sb_con_query(con, sql, len);
}

double sb_con_affected(const struct sb_con *con)
{
    return (double)((const struct sb_con_priv *)con)->res.affected;
}

uint64_t sb_con_insert_id(const struct sb_con *con)
{
    return ((const struct sb_con_priv *)con)->res.insert_id;
}

int sb_con_ids_are_signed(const struct sb_con *con)
{
    return (((const struct sb_con_priv *)con)->drv->caps & SB_CAP_SIGNED_IDS) !=
           0;
}

struct sb__quoting sb__query_quoting(const struct sb_con_priv *c)
{
    return (struct sb__quoting){
        .conn = c->conn,
        .quote = c->sql->quote,
        .casts = c->drv->caps & SB_CAP_CAST_LITERALS,
        .binary = c->drv->caps & SB_CAP_BINARY_LITERALS,
        .huge = c->drv->caps & SB_CAP_HUGE_LITERALS,
    };
}

size_t sb_con_quote(
    struct sb_con *con, const char *text, size_t len, char *out, size_t size)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (sb__con_connected(c) && c->sql && c->sql->quote)
        return c->sql->quote(c->conn, text, len, out, size);
    return sb__quote_plain(text, len, out, size);
}
