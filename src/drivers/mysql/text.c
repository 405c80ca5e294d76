// SPDX-License-Identifier: GPL-2.0-or-later
//
// Results of text statements, whose rows the library holds as text.
#include "drivers/mysql/internal.h"

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

static const char *text_column(struct sbmy_conn *c, uint32_t i)
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
    .column = text_column,
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
