// SPDX-License-Identifier: GPL-2.0-or-later
//
// Queries by SQL text.
#include "db/op.h"
#include "db/sql/sql.h"

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
