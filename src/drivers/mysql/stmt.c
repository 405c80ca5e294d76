// SPDX-License-Identifier: GPL-2.0-or-later
//
// Prepared statements. Parameters are bound once, to memory that lives as long
// as the statement, and again only if a type or the address of a text changes.
// Rows stay in the library until they are fetched. For connections that bypass
// the library, it only prepares and closes statements; wire.c does the rest.
#include <stdlib.h>

#include "base/sqlscan.h"
#include "drivers/mysql/mysql_priv.h"

#define ER_UNKNOWN_STMT 1243
#define CR_NEW_METADATA 2057

static struct sbmy_stmt *own_stmt(struct sb_stmt *stmt)
{
    return (struct sbmy_stmt *)stmt;
}

int sbmy_stmt_fail(struct sbmy_conn *c, struct sbmy_stmt *p, struct sb_err *err)
{
    return sbmy_fail_with(c, (int)mysql_stmt_errno(p->st),
        mysql_stmt_sqlstate(p->st), mysql_stmt_error(p->st), err);
}

static uint32_t count_marks(const char *sql, size_t len)
{
    unsigned flags = SBMY_SCAN;
    size_t at = sb_sqlscan_next(sql, len, 0, flags);
    uint32_t n = 0;

    for (; at < len; at = sb_sqlscan_next(sql, len, at + 1, flags))
        n++;
    return n;
}

static void init_bind(struct sbmy_stmt *p)
{
    for (uint32_t i = 0; i < p->nparams; i++) {
        p->param[i].null = 1;
        p->bind[i].buffer_type = MYSQL_TYPE_LONGLONG;
        p->bind[i].buffer = &p->param[i].i;
        p->bind[i].is_null = &p->param[i].null;
        p->bind[i].length = &p->param[i].len;
    }
}

static bool make_params(const struct sbmy_conn *c, struct sbmy_stmt *p)
{
    size_t n = p->nparams + 1;

    if (c->wire.plain) {
        p->types = malloc(n * sizeof(*p->types));
        for (size_t i = 0; p->types && i < n; i++)
            p->types[i] = MYSQL_TYPE_LONGLONG;
        return p->types != NULL;
    }
    p->bind = calloc(n, sizeof(*p->bind) + sizeof(*p->param));
    if (!p->bind)
        return false;
    p->param = (struct sbmy_param *)(p->bind + n);
    init_bind(p);
    return true;
}

static int prepare_server(struct sbmy_conn *c, struct sbmy_stmt *p,
    const char *sql, size_t len, struct sb_err *err)
{
    int rc;

    p->st = mysql_stmt_init(c->my);
    if (!p->st)
        return sbmy_fail(c, err);
    if (mysql_stmt_prepare(p->st, sql, (unsigned long)len)) {
        rc = sbmy_stmt_fail(c, p, err);
        return rc != SB_ECANCELED &&
                       sbmy_refuses_prepare((int)mysql_stmt_errno(p->st))
                   ? SB_EUNSUPPORTED
                   : rc;
    }
    p->nparams = (uint32_t)mysql_stmt_param_count(p->st);
    if (!make_params(c, p))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return 0;
}

static void stmt_free(struct sbmy_stmt *p)
{
    if (p->meta)
        mysql_free_result(p->meta);
    if (p->st)
        mysql_stmt_close(p->st);
    free(p->bind);
    free(p->types);
    free(p->defs);
    *p = (struct sbmy_stmt){ 0 };
}

int sbmy_prepare(struct sb_conn *conn, struct sb_stmt *stmt, const char *sql,
    size_t len, uint32_t *nparams, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct sbmy_stmt *p = own_stmt(stmt);
    int rc;

    if (c->o->debug)
        sbmy_trace(c, "mysql_stmt_prepare(%.*s)", (int)len, sql);
    if (c->o->dry_run) {
        *nparams = count_marks(sql, len);
        return 0;
    }
    rc = sbmy_begin(c, err);
    if (rc)
        return rc;
    rc = prepare_server(c, p, sql, len, err);
    *nparams = p->nparams;
    if (rc)
        stmt_free(p);
    return sbmy_end(c, rc);
}

void sbmy_close(struct sb_conn *conn, struct sb_stmt *stmt)
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct sbmy_stmt *p = own_stmt(stmt);

    if (c->o->debug)
        sbmy_trace(c, "mysql_stmt_close()");
    if (p->st)
        sbmy_thread();
    if (c->stmt == p)
        sbmy_stmt_drop(c);
    if (c->wire.shown == p)
        sbmy_wire_drop(c);
    stmt_free(p);
}

// Parameters -----------------------------------------------------------------

static enum enum_field_types type_of(const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
    case SB_VALUE_UINT:
        return MYSQL_TYPE_LONGLONG;
    case SB_VALUE_DOUBLE:
        return MYSQL_TYPE_DOUBLE;
    case SB_VALUE_BLOB:
        return MYSQL_TYPE_BLOB;
    default:
        return MYSQL_TYPE_STRING;
    }
}

// Returns true if the parameters must be bound again. A NULL keeps the type
// that was bound.
static bool set_param(
    MYSQL_BIND *b, struct sbmy_param *p, const struct sb_value *v)
{
    bool is_unsigned = v->type == SB_VALUE_UINT;
    enum enum_field_types type;
    void *buffer = p;

    p->null = v->type == SB_VALUE_NULL;
    if (p->null)
        return false;
    type = type_of(v);
    if (type == MYSQL_TYPE_LONGLONG) {
        p->i = v->i;
    } else if (type == MYSQL_TYPE_DOUBLE) {
        p->d = v->d;
    } else {
        buffer = (void *)(uintptr_t)v->s; // the library only reads it
        p->len = v->len;
    }
    if (b->buffer_type == type && b->buffer == buffer &&
        (bool)b->is_unsigned == is_unsigned)
        return false;
    b->buffer_type = type;
    b->is_unsigned = is_unsigned;
    b->buffer = buffer;
    return true;
}

static int set_params(struct sbmy_conn *c, struct sbmy_stmt *p,
    const struct sb_value *values, uint32_t n, struct sb_err *err)
{
    bool tell = !p->bound;

    for (uint32_t i = 0; i < n; i++)
        tell |= set_param(&p->bind[i], &p->param[i], &values[i]);
    if (!tell || n == 0)
        return 0;
    if (mysql_stmt_bind_param(p->st, p->bind))
        return sbmy_stmt_fail(c, p, err);
    p->bound = true;
    return 0;
}

// Results --------------------------------------------------------------------

static void drop_meta(struct sbmy_stmt *p)
{
    if (p->meta)
        mysql_free_result(p->meta);
    p->meta = NULL;
}

static int take(struct sbmy_conn *c, struct sbmy_stmt *p, struct sb_result *res,
    struct sb_err *err)
{
    uint32_t nfields = mysql_stmt_field_count(p->st);

    // If several results follow, the library has described the columns of the
    // first one again, in the place of the old description.
    if (mysql_more_results(c->my))
        drop_meta(p);
    c->stmt = p;
    c->stmt_rows = 0;
    c->rows.bound = false;
    if (nfields == 0) {
        sbmy_changed(c, res, mysql_stmt_affected_rows(p->st),
            mysql_stmt_insert_id(p->st));
        return 0;
    }
    if (mysql_stmt_store_result(p->st))
        return sbmy_stmt_fail(c, p, err);
    res->kind = SB_RESULT_ROWS;
    res->nfields = nfields;
    res->nrows = c->stmt_rows = mysql_stmt_num_rows(p->st);
    return 0;
}

// ER_UNKNOWN_STMT: a proxy has moved the connection to another server. An open
// transaction was lost with the old server, so a statement in a transaction is
// not retried. CR_NEW_METADATA: the number of result columns changed
// because a table was altered.
bool sbmy_stmt_forgotten(const struct sbmy_conn *c, int native)
{
    bool open = c->my->server_status & SERVER_STATUS_IN_TRANS;

    return native == CR_NEW_METADATA || (native == ER_UNKNOWN_STMT && !open);
}

static int not_executed(
    struct sbmy_conn *c, struct sbmy_stmt *p, struct sb_err *err)
{
    bool forgotten = sbmy_stmt_forgotten(c, (int)mysql_stmt_errno(p->st));
    int rc = sbmy_stmt_fail(c, p, err);

    return rc != SB_ECANCELED && forgotten ? SB_EUNSUPPORTED : rc;
}

int sbmy_execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct sbmy_stmt *p = own_stmt(stmt);
    int rc;

    if (c->o->debug)
        sbmy_trace(c, "mysql_stmt_execute()");
    if (c->o->dry_run)
        return sbmy_dry(res);
    rc = sbmy_begin(c, err);
    if (rc)
        return rc;
    if (p->types)
        return sbmy_end(c, sbmy_wire_execute(c, p, values, res, err));
    rc = set_params(c, p, values, n, err);
    if (rc == 0)
        rc = mysql_stmt_execute(p->st) ? not_executed(c, p, err)
                                       : take(c, p, res, err);
    return sbmy_end(c, rc);
}

int sbmy_stmt_next(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    struct sbmy_stmt *p = c->stmt;
    int rc;

    mysql_stmt_free_result(p->st);
    drop_meta(p);
    rc = mysql_stmt_next_result(p->st);
    if (rc < 0)
        return 0;
    *res = (struct sb_result){ 0 };
    rc = rc > 0 ? sbmy_stmt_fail(c, p, err) : take(c, p, res, err);
    return rc ? rc : 1;
}

void sbmy_stmt_drop(struct sbmy_conn *c)
{
    struct sbmy_stmt *p = c->stmt;
    bool more = mysql_more_results(c->my);

    c->stmt = NULL;
    // A single row is not freed here: the next execution frees it, which saves
    // a call.
    if (more || c->stmt_rows > 1)
        mysql_stmt_free_result(p->st);
    c->stmt_rows = 0;
    if (!more)
        return;
    // The results of a procedure may have different columns.
    drop_meta(p);
    while (mysql_more_results(c->my) && mysql_stmt_next_result(p->st) == 0)
        mysql_stmt_free_result(p->st);
}

MYSQL_FIELD *sbmy_stmt_fields(struct sbmy_stmt *p)
{
    // After a change of the table, the server prepared the statement again on
    // its own.
    if (p->meta && mysql_num_fields(p->meta) != mysql_stmt_field_count(p->st))
        drop_meta(p);
    if (!p->meta)
        p->meta = mysql_stmt_result_metadata(p->st);
    return p->meta ? mysql_fetch_fields(p->meta) : NULL;
}
