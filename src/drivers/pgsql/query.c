// SPDX-License-Identifier: GPL-2.0-or-later
//
// Text statements, quoting, and the table of SQL operations.
#include "drivers/pgsql/internal.h"

static int query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    const char *text = pgsql_terminated(c, sql, len, err);
    int rc;

    if (!text)
        return err ? err->code : SB_EQUERY;
    rc = pgsql_run(c, text, err);
    if (rc == 0 && pgsql_rolled_back(c))
        rc = pgsql_check_rollback(sql, len, err);
    if (rc == 0)
        pgsql_describe(c, res);
    return rc;
}

static size_t quote(
    struct sb_conn *conn, const char *text, size_t len, char *out, size_t size)
{
    return pgsql_put_literal(
        text, len, pgsql_escapes(pgsql_own(conn)), out, size);
}

const struct sb_sql_ops pgsql_sql_ops = {
    .query = query,
    .prepare = pgsql_prepare,
    .execute = pgsql_execute,
    .close = pgsql_close,
    .scan = pgsql_scan,
    .fetch = pgsql_fetch,
    .column = pgsql_column,
    .free_result = pgsql_free_result,
    .quote = quote,
#ifdef LIBPQ_HAS_PIPELINING
    .pipeline_send = pgsql_pipeline_send,
    .pipeline_receive = pgsql_pipeline_receive,
    .pipeline_end = pgsql_pipeline_end,
#endif
};
