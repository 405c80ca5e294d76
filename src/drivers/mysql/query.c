// SPDX-License-Identifier: GPL-2.0-or-later
//
// Text statements: their results, whose rows the library holds as text, those
// of scripts and of the driver itself, and quoting.
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/internal.h"

// Results --------------------------------------------------------------------

static int text_fetch(struct sbmy_conn *c, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    MYSQL_ROW row = c->res ? mysql_fetch_row(c->res) : NULL;
    unsigned long *lengths;

    if (!row)
        return 0;
    lengths = mysql_fetch_lengths(c->res);
    for (uint32_t i = 0; i < res->nfields; i++) {
        cells[i].s = row[i];
        cells[i].len = row[i] ? lengths[i] : 0;
    }
    return 1;
}

static const char *my_text_column(struct sbmy_conn *c, uint32_t i)
{
    return c->res ? mysql_fetch_fields(c->res)[i].name : NULL;
}

static void end_result(struct sbmy_conn *c)
{
    if (c->res)
        mysql_free_result(c->res);
    c->res = NULL;
    sbmy_result_unset(c);
}

int sbmy_text_drain(struct sbmy_conn *c, struct sb_err *err)
{
    int rc = 0;

    while (mysql_more_results(c->my) && (rc = sbmy_next_result(c)) == 0) {
        MYSQL_RES *res = sbmy_store_result(c);

        if (res)
            mysql_free_result(res);
    }
    return rc > 0 ? sbmy_fail(c, err) : 0;
}

static void text_free(struct sbmy_conn *c)
{
    bool more = c->more;

    end_result(c);
    if (more)
        sbmy_text_drain(c, NULL);
}

static int text_next(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    int rc;

    end_result(c);
    rc = sbmy_next_result(c);
    if (rc < 0)
        return 0;
    *res = (struct sb_result){ 0 };
    rc = rc > 0 ? sbmy_fail(c, err) : sbmy_text_begin(c, c->extent, res, err);
    return rc ? rc : 1;
}

static const struct sbmy_result_ops text_result = {
    .fetch = text_fetch,
    .column = my_text_column,
    .next = text_next,
    .free = text_free,
};

int sbmy_text_begin(struct sbmy_conn *c, enum sbmy_extent of,
    struct sb_result *res, struct sb_err *err)
{
    bool rows = mysql_field_count(c->my) > 0;

    assert(sbmy_in_call(c));
    sbmy_result_set(c, &text_result, NULL);
    c->extent = of;
    if (rows) {
        c->res = sbmy_store_result(c);
        if (!c->res) {
            int rc = sbmy_fail(c, err);

            c->more = true;
            c->result->free(c);
            return rc;
        }
        res->kind = SB_RESULT_ROWS;
        res->nfields = mysql_num_fields(c->res);
        res->nrows = mysql_num_rows(c->res);
    } else {
        sbmy_result_changed(
            c, res, mysql_affected_rows(c->my), mysql_insert_id(c->my));
    }
    c->more = (of == SBMY_ALL || (of == SBMY_OF_CALL && rows)) &&
              mysql_more_results(c->my);
    return 0;
}

// Statements of scripts ------------------------------------------------------

int sbmy_query(struct sb_conn *conn, const char *sql, size_t len,
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

// Quoting --------------------------------------------------------------------

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

size_t sbmy_quote(
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

// Statements of the driver ---------------------------------------------------
//
// A server or proxy may return anything: rows or columns may be missing, and
// values may be NULL unexpectedly.

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

// What the load ignores or repeats (--mysql-ignore-errors) is no matter here.
static int refused(int rc, struct sb_err *err)
{
    if (rc != SB_EIGNORE && rc != SB_ERESTART)
        return rc;
    if (err)
        err->code = SB_EQUERY;
    return SB_EQUERY;
}

int sbmy_ask(struct sbmy_conn *c, const char *sql, unsigned ncolumns,
    MYSQL_RES **res, struct sb_err *err)
{
    int rc = refused(run_query(c, sql, err), err);
    unsigned n;

    *res = NULL;
    if (rc)
        return rc;
    n = mysql_field_count(c->my);
    *res = sbmy_store_result(c);
    if (!*res && mysql_errno(c->my))
        return refused(sbmy_fail(c, err), err);
    rc = refused(sbmy_text_drain(c, err), err);
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

int sbmy_ask_each(struct sbmy_conn *c, const char *sql, unsigned ncolumns,
    int (*take)(void *arg, MYSQL_ROW row), void *arg, struct sb_err *err)
{
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sbmy_ask(c, sql, ncolumns, &res, err);

    if (rc)
        return rc;
    while (rc == 0 && (row = sbmy_ask_row(res, ncolumns)) != NULL)
        rc = take(arg, row);
    mysql_free_result(res);
    return rc;
}

const char *sbmy_ask_value(MYSQL_RES *res, const char *name)
{
    MYSQL_ROW row;

    mysql_data_seek(res, 0);
    do
        row = sbmy_ask_row(res, 2);
    while (row && strcasecmp(row[0], name) != 0);
    return row ? row[1] : NULL;
}
