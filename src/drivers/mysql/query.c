// SPDX-License-Identifier: GPL-2.0-or-later
//
// Text statements, and the operations on results of all kinds.
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/mysql_priv.h"

void sbmy_changed(struct sbmy_conn *c, struct sb_result *res, uint64_t rows,
    uint64_t insert_id)
{
    const char *text = rows ? NULL : mysql_info(c->my);

    res->affected = rows;
    res->insert_id = insert_id;
    res->matched = text && sbmy_matched(text, strlen(text));
    res->kind = rows ? SB_RESULT_WRITE : SB_RESULT_NONE;
}

int sbmy_take(struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    if (mysql_field_count(c->my) == 0) {
        sbmy_changed(
            c, res, mysql_affected_rows(c->my), mysql_insert_id(c->my));
        return 0;
    }
    c->res = mysql_store_result(c->my);
    if (!c->res)
        return sbmy_fail(c, err);
    res->kind = SB_RESULT_ROWS;
    res->nfields = mysql_num_fields(c->res);
    res->nrows = mysql_num_rows(c->res);
    return 0;
}

static int query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc;

    if (c->o->debug)
        sbmy_trace(c, "mysql_real_query(%.*s)", (int)len, sql);
    if (c->o->dry_run)
        return sbmy_dry(res);
    rc = sbmy_begin(c, err);
    if (rc)
        return rc;
    rc = mysql_real_query(c->my, sql, (unsigned long)len)
             ? sbmy_fail(c, err)
             : sbmy_take(c, res, err);
    return sbmy_end(c, rc);
}

void sbmy_drop_texts(struct sbmy_conn *c)
{
    while (mysql_more_results(c->my) && mysql_next_result(c->my) == 0) {
        MYSQL_RES *res = mysql_store_result(c->my);

        if (res)
            mysql_free_result(res);
    }
}

void sbmy_drop_result(struct sbmy_conn *c)
{
    if (c->res)
        mysql_free_result(c->res);
    c->res = NULL;
    if (c->wire.shown)
        sbmy_wire_drop(c);
    else if (c->stmt)
        sbmy_stmt_drop(c);
    else if (mysql_more_results(c->my))
        sbmy_drop_texts(c);
}

// Answers of a pipeline that follow are kept: they are received one by one.
static void free_result(struct sb_conn *conn, struct sb_result *res)
{
    struct sbmy_conn *c = sbmy_own(conn);

    if (!c->my)
        return;
    if (c->wire.shown && !c->wire.more) {
        sbmy_wire_drop(c);
        return;
    }
    if (c->piped) {
        if (c->res)
            mysql_free_result(c->res);
        c->res = NULL;
        return;
    }
    if (!c->wire.shown && !c->stmt && !mysql_more_results(c->my)) {
        if (c->res)
            mysql_free_result(c->res);
        c->res = NULL;
        return;
    }
    atomic_store_explicit(&c->busy, true, memory_order_release);
    sbmy_drop_result(c);
    sbmy_end(c, 0);
}

static int next_text(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    int rc;

    if (c->res)
        mysql_free_result(c->res);
    c->res = NULL;
    rc = mysql_next_result(c->my);
    if (rc < 0)
        return 0;
    *res = (struct sb_result){ 0 };
    rc = rc > 0 ? sbmy_fail(c, err) : sbmy_take(c, res, err);
    return rc ? rc : 1;
}

static int next_result(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc;

    if (!c->my || !(c->wire.more || mysql_more_results(c->my)))
        return 0;
    rc = sbmy_begin(c, err);
    if (rc)
        return rc;
    if (c->wire.more)
        rc = sbmy_wire_next(c, res, err);
    else
        rc = c->stmt ? sbmy_stmt_next(c, res, err) : next_text(c, res, err);
    return sbmy_end(c, rc);
}

static int fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    unsigned long *lengths;
    MYSQL_ROW row;

    if (c->wire.shown)
        return sbmy_wire_fetch(c, cells, err);
    if (c->stmt)
        return sbmy_rows_fetch(c, cells, err);
    row = c->res ? mysql_fetch_row(c->res) : NULL;
    if (!row)
        return 0;
    lengths = mysql_fetch_lengths(c->res);
    for (uint32_t i = 0; i < res->nfields; i++) {
        cells[i].s = row[i];
        cells[i].len = row[i] ? lengths[i] : 0;
    }
    return 1;
}

static const char *column(
    struct sb_conn *conn, struct sb_result *res, uint32_t i)
{
    struct sbmy_conn *c = sbmy_own(conn);
    MYSQL_FIELD *fields = NULL;

    if (i >= res->nfields)
        return NULL;
    if (c->wire.shown)
        return sbmy_wire_column(c, i);
    if (c->stmt)
        fields = sbmy_stmt_fields(c->stmt);
    else if (c->res)
        fields = mysql_fetch_fields(c->res);
    return fields ? fields[i].name : NULL;
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
    .fetch = fetch,
    .column = column,
    .next_result = next_result,
    .free_result = free_result,
    .quote = quote,
    .pipeline_send = sbmy_pipeline_send,
    .pipeline_receive = sbmy_pipeline_receive,
    .pipeline_end = sbmy_pipeline_end,
};
