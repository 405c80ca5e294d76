// SPDX-License-Identifier: GPL-2.0-or-later
//
// The current result of a connection, through the operations of its source.
#include "drivers/mysql/mysql_priv.h"

static int no_row(struct sbmy_conn *c, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    return 0;
}

static const char *no_column(struct sbmy_conn *c, uint32_t i)
{
    return NULL;
}

static int no_next(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    return 0;
}

static void free_nothing(struct sbmy_conn *c)
{
}

const struct sbmy_result_ops sbmy_no_result = {
    .fetch = no_row,
    .column = no_column,
    .next = no_next,
    .free = free_nothing,
};

void sbmy_result_changed(struct sbmy_conn *c, struct sb_result *res,
    uint64_t rows, uint64_t insert_id)
{
    const char *text = rows ? NULL : mysql_info(c->my);

    res->affected = rows;
    res->insert_id = insert_id;
    res->matched = text && sbmy_matched(text, strlen(text));
    res->kind = rows ? SB_RESULT_WRITE : SB_RESULT_NONE;
}

void sbmy_result_drop(struct sbmy_conn *c)
{
    assert(sbmy_in_call(c));
    c->result->free(c);
    assert(c->result == &sbmy_no_result);
}

int sbmy_result_fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);

    return c->result->fetch(c, res, cells, err);
}

const char *sbmy_result_column(
    struct sb_conn *conn, struct sb_result *res, uint32_t i)
{
    struct sbmy_conn *c = sbmy_own(conn);

    return i < res->nfields ? c->result->column(c, i) : NULL;
}

int sbmy_result_next(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc;

    if (!c->more)
        return 0;
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    return sbmy_call_end(c, c->result->next(c, res, err));
}

void sbmy_result_free(struct sb_conn *conn, struct sb_result *res)
{
    struct sbmy_conn *c = sbmy_own(conn);

    if (!c->more) {
        c->result->free(c);
        return;
    }
    sbmy_call_resume(c);
    sbmy_result_drop(c);
    sbmy_call_end(c, 0);
}
