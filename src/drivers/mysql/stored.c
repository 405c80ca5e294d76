// SPDX-License-Identifier: GPL-2.0-or-later
//
// Results of prepared statements that the library executed and whose rows it
// holds until they are fetched (rows.c).
#include "drivers/mysql/internal.h"

static const char *stored_column(struct sbmy_conn *c, uint32_t i)
{
    MYSQL_FIELD *fields = sbmy_meta_fields(c->stmt);

    return fields ? fields[i].name : NULL;
}

static int stored_next(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    struct sbmy_stmt *p = c->stmt;
    int rc;

    sbmy_result_unset(c);
    mysql_stmt_free_result(p->st);
    sbmy_meta_drop(p);
    rc = mysql_stmt_next_result(p->st);
    if (rc < 0)
        return 0;
    *res = (struct sb_result){ 0 };
    rc = rc > 0 ? sbmy_fail_stmt(c, p, err) : sbmy_stored_begin(c, p, res, err);
    return rc ? rc : 1;
}

static void stored_free(struct sbmy_conn *c)
{
    struct sbmy_stmt *p = c->stmt;
    bool more = c->more;

    sbmy_result_unset(c);
    // A single row is not freed here: the next execution frees it, which saves
    // a call.
    if (more || c->stmt_rows > 1)
        mysql_stmt_free_result(p->st);
    c->stmt_rows = 0;
    if (!more)
        return;
    // The results of a procedure may have different columns.
    sbmy_meta_drop(p);
    while (mysql_more_results(c->my) && mysql_stmt_next_result(p->st) == 0)
        mysql_stmt_free_result(p->st);
}

static const struct sbmy_result_ops stored_result = {
    .fetch = sbmy_rows_fetch,
    .column = stored_column,
    .next = stored_next,
    .free = stored_free,
};

int sbmy_stored_begin(struct sbmy_conn *c, struct sbmy_stmt *p,
    struct sb_result *res, struct sb_err *err)
{
    uint32_t nfields = mysql_stmt_field_count(p->st);

    assert(sbmy_in_call(c) && p->st);
    sbmy_result_set(c, &stored_result, p);
    c->more = mysql_more_results(c->my);
    // If several results follow, the library has described the columns of the
    // first one again, in the place of the old description.
    if (c->more)
        sbmy_meta_drop(p);
    c->stmt_rows = 0;
    c->rows.bound = false;
    if (nfields == 0) {
        sbmy_result_changed(c, res, mysql_stmt_affected_rows(p->st),
            mysql_stmt_insert_id(p->st));
        return 0;
    }
    if (mysql_stmt_store_result(p->st) || !sbmy_names_take(c, p)) {
        int rc = mysql_stmt_errno(p->st) ? sbmy_fail_stmt(c, p, err)
                                         : sbmy_no_memory(err);

        stored_free(c);
        return rc;
    }
    c->more = mysql_more_results(c->my);
    res->kind = SB_RESULT_ROWS;
    res->nfields = nfields;
    res->nrows = c->stmt_rows = mysql_stmt_num_rows(p->st);
    return 0;
}
