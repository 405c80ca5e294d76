// SPDX-License-Identifier: GPL-2.0-or-later
//
// Statements of the driver itself. A server or proxy may return anything: rows
// or columns may be missing, and values may be NULL unexpectedly.
#include "drivers/mysql/internal.h"

static int no_rows(
    const char *sql, unsigned have, unsigned want, struct sb_err *err)
{
    return sb_err_set(err, SB_EQUERY,
        "the server's answer to \"%.60s\" has too few columns: %u instead "
        "of %u",
        sql, have, want);
}

static int run_query(struct sbmy_conn *c, const char *sql, struct sb_err *err)
{
    assert(sbmy_in_call(c));
    if (c->o->debug)
        sbmy_trace(c, "mysql_real_query(%s)", sql);
    return sbmy_real_query(c, sql, strlen(sql)) ? sbmy_fail(c, err) : 0;
}

int sbmy_ask_nothing(struct sbmy_conn *c, const char *sql, struct sb_err *err)
{
    MYSQL_RES *res;
    int rc = run_query(c, sql, err);

    if (rc)
        return rc;
    res = sbmy_store_result(c);
    if (res)
        mysql_free_result(res);
    return sbmy_text_drain(c, err);
}

int sbmy_ask(struct sbmy_conn *c, const char *sql, unsigned ncolumns,
    MYSQL_RES **res, struct sb_err *err)
{
    int rc = run_query(c, sql, err);
    unsigned n;

    *res = NULL;
    if (rc)
        return rc;
    n = mysql_field_count(c->my);
    *res = sbmy_store_result(c);
    if (!*res && mysql_errno(c->my))
        return sbmy_fail(c, err);
    rc = sbmy_text_drain(c, err);
    if (rc == 0 && *res && n >= ncolumns)
        return 0;
    if (*res)
        mysql_free_result(*res);
    *res = NULL;
    return rc ? rc : no_rows(sql, n, ncolumns, err);
}

MYSQL_ROW sbmy_ask_row(MYSQL_RES *res, unsigned ncolumns)
{
    MYSQL_ROW row;

    while ((row = mysql_fetch_row(res)) != NULL) {
        unsigned i = 0;

        while (i < ncolumns && row[i])
            i++;
        if (i == ncolumns)
            break;
    }
    return row;
}
