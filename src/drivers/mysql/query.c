// SPDX-License-Identifier: GPL-2.0-or-later
//
// Text statements, quoting, and the table of SQL operations.
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/internal.h"

static int query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc;

    if (c->o->debug)
        sbmy_trace(c, "mysql_real_query(%.*s)", (int)len, sql);
    if (c->o->dry_run)
        return sbmy_dry(res);
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    rc = sbmy_real_query(c, sql, len) ? sbmy_fail(c, err)
                                      : sbmy_text_begin(c, SBMY_ALL, res, err);
    if (rc == 0)
        rc = sbmy_result_collect(c, res, err);
    else
        sbmy_name_limit(err, len);
    return sbmy_call_end(c, rc);
}

// Quoting ------------------------------------------------------------------

static unsigned long escape(MYSQL *my, char *out, const char *text, size_t len)
{
#ifdef HAVE_MYSQL_REAL_ESCAPE_STRING_QUOTE
    return mysql_real_escape_string_quote(
        my, out, text, (unsigned long)len, '\'');
#else
    return mysql_real_escape_string(my, out, text, (unsigned long)len);
#endif
}

// out must have room for each byte twice, the quotes and a NUL.
static size_t quote_into(
    struct sbmy_conn *c, const char *text, size_t len, char *out)
{
    size_t n = 1;

    out[0] = '\'';
    if (c->my) {
        n += escape(c->my, out + 1, text, len);
    } else {
        for (size_t i = 0; i < len; i++) {
            if (text[i] == '\'' || text[i] == '\\')
                out[n++] = text[i];
            out[n++] = text[i];
        }
    }
    out[n++] = '\'';
    out[n] = '\0';
    return n;
}

static size_t quote(
    struct sb_conn *conn, const char *text, size_t len, char *out, size_t size)
{
    size_t need = 2 * len + 3, n;
    char *p = need <= size ? out : malloc(need);

    if (!p)
        return SIZE_MAX / 2; // more than a caller can allocate
    n = quote_into(sbmy_own(conn), text, len, p);
    if (p == out)
        return n;
    if (size > 0) {
        size_t part = n < size ? n : size - 1;

        memcpy(out, p, part);
        out[part] = '\0';
    }
    free(p);
    return n;
}

const struct sb_sql_ops sbmy_sql_ops = {
    .query = query,
    .prepare = sbmy_prepare,
    .execute = sbmy_execute,
    .close = sbmy_close,
    .scan = sbmy_scan,
    .fetch = sbmy_result_fetch,
    .column = sbmy_result_column,
    .next_result = sbmy_result_next,
    .free_result = sbmy_result_free,
    .quote = quote,
    .pipeline_send = sbmy_pipeline_send,
    .pipeline_receive = sbmy_pipeline_receive,
    .pipeline_end = sbmy_pipeline_end,
};
