// SPDX-License-Identifier: GPL-2.0-or-later
//
// Prepared statements. Parameters are bound once, to memory that lives as long
// as the statement, and again only if a type or the address of a text changes.
// Rows stay in the library until they are fetched. For connections that bypass
// the library, it only prepares and closes statements; wire.c does the rest.
#include <stdlib.h>

#include "drivers/mysql/internal.h"
#include "kit/sqlscan.h"

// Rows of prepared statements as text. Numbers are bound as numbers, because
// the library does not write all of them as the server does, and its buffer is
// too small for ROUND(1e308, 3). It converts other values to text.

#define TIME_ROOM 64u
#define TEXT_ROOM 1024u // initial size; grows for longer texts

void sbmy_rows_done(struct sbmy_rows *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        free(r->column[i].s);
    free(r->column);
    free(r->bind);
    *r = (struct sbmy_rows){ 0 };
}

static bool my_grow_columns(struct sbmy_rows *r, uint32_t n)
{
    MYSQL_BIND *bind;
    struct sbmy_column *column;

    if (n <= r->n)
        return true;
    bind = realloc(r->bind, n * sizeof(*bind));
    if (!bind)
        return false;
    r->bind = bind;
    column = realloc(r->column, n * sizeof(*column));
    if (!column)
        return false;
    r->column = column;
    memset(column + r->n, 0, (n - r->n) * sizeof(*column));
    r->n = n;
    return true;
}

static bool grow_cell(struct sbmy_column *col, size_t cap)
{
    char *s;

    if (cap <= col->cap)
        return true;
    s = realloc(col->s, cap);
    if (!s)
        return false;
    col->s = s;
    col->cap = cap;
    return true;
}

static size_t first_room(const struct sbmy_shape *s)
{
    size_t room = sbmy_binary_room(s);

    if (room == 0)
        room = s->length < TEXT_ROOM ? s->length + 1 : TEXT_ROOM;
    return room < TIME_ROOM ? TIME_ROOM : room;
}

static void bind_column(struct sbmy_rows *r, uint32_t i)
{
    struct sbmy_column *col = &r->column[i];
    enum sbmy_form form = sbmy_binary_form(&col->shape);

    r->bind[i] = (MYSQL_BIND){
        .buffer_type = MYSQL_TYPE_STRING,
        .buffer = col->s,
        .buffer_length = (unsigned long)col->cap,
        .length = &col->len,
        .is_null = &col->null,
        .error = &col->error,
    };
    if (form != SBMY_FORM_INT && form != SBMY_FORM_REAL)
        return;
    r->bind[i].buffer = &col->number;
    r->bind[i].buffer_length = sizeof(col->number);
    r->bind[i].is_unsigned = (col->shape.flags & UNSIGNED_FLAG) != 0;
    if (form == SBMY_FORM_INT)
        r->bind[i].buffer_type = MYSQL_TYPE_LONGLONG;
    else // a float is not to be rounded as a decimal number
        r->bind[i].buffer_type = (enum enum_field_types)col->shape.type;
}

static int bind_columns(struct sbmy_conn *c, uint32_t n, struct sb_err *err)
{
    struct sbmy_rows *r = &c->rows;
    MYSQL_FIELD *fields = sbmy_meta_fields(c->stmt);

    if (!fields || !my_grow_columns(r, n))
        return sb_err_no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        struct sbmy_column *col = &r->column[i];

        col->shape = sbmy_meta_shape(&fields[i]);
        if (!grow_cell(col, first_room(&col->shape)))
            return sb_err_no_memory(err);
        bind_column(r, i);
    }
    if (mysql_stmt_bind_result(c->stmt->st, r->bind))
        return sbmy_fail_stmt(c, c->stmt, err);
    r->bound = true;
    return 0;
}

static bool grow_row(struct sbmy_rows *r, uint32_t n, bool *grown)
{
    for (uint32_t i = 0; i < n; i++) {
        struct sbmy_column *col = &r->column[i];

        if (col->null || col->len <= col->cap)
            continue;
        if (!grow_cell(col, col->len + 1))
            return false;
        bind_column(r, i);
        *grown = true;
    }
    return true;
}

// If values are longer than their buffers, the buffers grow, and the row is
// read again. (mysql_stmt_fetch_column() does nothing in some versions.)
static int complete_row(
    struct sbmy_conn *c, uint32_t n, MYSQL_ROW_OFFSET row, struct sb_err *err)
{
    MYSQL_STMT *st = c->stmt->st;
    bool grown = false;
    int rc;

    if (!grow_row(&c->rows, n, &grown))
        return sb_err_no_memory(err);
    if (!grown)
        return 0;
    if (mysql_stmt_bind_result(st, c->rows.bind))
        return sbmy_fail_stmt(c, c->stmt, err);
    mysql_stmt_row_seek(st, row);
    rc = mysql_stmt_fetch(st);
    return rc == 0 || rc == MYSQL_DATA_TRUNCATED
               ? 0
               : sbmy_fail_stmt(c, c->stmt, err);
}

static struct sb_cell cell_of(struct sbmy_column *col)
{
    if (col->null)
        return (struct sb_cell){ 0 };
    switch (sbmy_binary_form(&col->shape)) {
    case SBMY_FORM_INT:
        col->len = sbmy_binary_int(&col->shape, col->number.i, col->s);
        break;
    case SBMY_FORM_REAL:
        col->len = sbmy_binary_real(&col->shape,
            col->shape.type == SBMY_TYPE_FLOAT ? (double)col->number.f
                                               : col->number.d,
            col->s);
        break;
    default:
        break;
    }
    return (struct sb_cell){ .s = col->s, .len = col->len };
}

static int sbmy_rows_fetch(struct sbmy_conn *c, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    struct sbmy_rows *r = &c->rows;
    MYSQL_STMT *st = c->stmt->st;
    uint32_t n = mysql_stmt_field_count(st);
    int rc = r->bound ? 0 : bind_columns(c, n, err);
    MYSQL_ROW_OFFSET row;

    if (rc)
        return rc;
    row = mysql_stmt_row_tell(st);
    rc = mysql_stmt_fetch(st);
    if (rc == MYSQL_NO_DATA)
        return 0;
    if (rc != 0 && rc != MYSQL_DATA_TRUNCATED)
        return sbmy_fail_stmt(c, c->stmt, err);
    rc = complete_row(c, n, row, err);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < n; i++)
        cells[i] = cell_of(&r->column[i]);
    return 1;
}

// Results of prepared statements that the library executed and whose rows it
// holds until they are fetched (stmt.c).

static const char *stored_column(struct sbmy_conn *c, uint32_t i)
{
    MYSQL_FIELD *fields = sbmy_meta_fields(c->stmt);

    return fields ? fields[i].name : NULL;
}

static int sbmy_stored_begin(struct sbmy_conn *c, struct sbmy_stmt *p,
    struct sb_result *res, struct sb_err *err);

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

// Makes the answer that has just arrived the current result.
static int sbmy_stored_begin(struct sbmy_conn *c, struct sbmy_stmt *p,
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
                                         : sb_err_no_memory(err);

        stored_free(c);
        return rc;
    }
    c->more = mysql_more_results(c->my);
    res->kind = SB_RESULT_ROWS;
    res->nfields = nfields;
    res->nrows = c->stmt_rows = mysql_stmt_num_rows(p->st);
    return 0;
}

static struct sbmy_stmt *own_stmt(struct sb_stmt *stmt)
{
    return (struct sbmy_stmt *)stmt;
}

uint32_t sbmy_scan(const struct sb_conn *conn)
{
    const struct sbmy_conn *c = (const struct sbmy_conn *)conn;
    const char *version = c->my ? mysql_get_server_info(c->my) : NULL;
    uint32_t scan = SBMY_SCAN;

    if (c->my && (c->my->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES))
        scan &= ~(uint32_t)SB_SQLSCAN_BACKSLASH;
    if (version && strstr(version, "MariaDB"))
        scan |= SB_SQLSCAN_M_BANG;
    return scan;
}

static uint32_t count_marks(const char *sql, size_t len, uint32_t flags)
{
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
        p->id = (uint32_t)p->st->stmt_id;
        p->ndefs = mysql_stmt_field_count(p->st);
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
        rc = sbmy_fail_stmt(c, p, err);
        sbmy_name_limit(err, len);
        return rc != SB_ECANCELED &&
                       sbmy_refuses_prepare((int)mysql_stmt_errno(p->st))
                   ? SB_EUNSUPPORTED
                   : rc;
    }
    p->nparams = (uint32_t)mysql_stmt_param_count(p->st);
    if (!make_params(c, p))
        return sb_err_no_memory(err);
    return 0;
}

struct preparation {
    struct sbmy_conn *c;
    struct sbmy_stmt *p;
    const char *sql;
    size_t len;
    struct sb_err *err;
    int rc;
};

static void prepare_apart(void *arg)
{
    struct preparation *a = arg;

    sbmy_thread();
    a->rc = prepare_server(a->c, a->p, a->sql, a->len, a->err);
}

// Prepares without blocking the other users of this thread.
static int prepare_yielding(struct sbmy_conn *c, struct sbmy_stmt *p,
    const char *sql, size_t len, struct sb_err *err)
{
    struct preparation a = { c, p, sql, len, err, 0 };
    int rc = c->host->apart(prepare_apart, NULL, &a, UINT64_MAX);

    return rc ? rc : a.rc;
}

// Logs, once, that statements are not prepared. Returns SB_EUNSUPPORTED.
static int cannot_execute(struct sbmy_conn *c)
{
    if (!atomic_exchange_explicit(&c->env->as_text, true, memory_order_relaxed))
        c->host->log(3,
            "mysql: statements are sent as text, because this client "
            "library would block the other users of a worker if it executed "
            "prepared statements; to use prepared statements, set "
            "--workers=users, or turn off encryption and compression");
    return SB_EUNSUPPORTED;
}

static void stmt_free(struct sbmy_stmt *p)
{
    sbmy_meta_drop(p);
    if (p->st)
        mysql_stmt_close(p->st);
    sbmy_names_done(p);
    free(p->bind);
    free(p->types);
    free(p->defs);
    *p = (struct sbmy_stmt){ 0 };
}

int sbmy_prepare(struct sb_conn *conn, struct sb_stmt *stmt, const char *sql,
    size_t len, const uint8_t *types, uint32_t *nparams, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct sbmy_stmt *p = own_stmt(stmt);
    int rc;

    if (c->o->debug)
        sbmy_trace(c, "mysql_stmt_prepare(%.*s)", (int)len, sql);
    if (c->o->dry_run) {
        *nparams = count_marks(sql, len, sbmy_scan(conn));
        return 0;
    }
    if (sbmy_yields(c) && !c->wire.plain)
        return cannot_execute(c);
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    rc = sbmy_yields(c) ? prepare_yielding(c, p, sql, len, err)
                        : prepare_server(c, p, sql, len, err);
    *nparams = p->nparams;
    if (rc)
        stmt_free(p);
    return sbmy_call_end(c, rc);
}

void sbmy_close(struct sb_conn *conn, struct sb_stmt *stmt)
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct sbmy_stmt *p = own_stmt(stmt);

    if (c->o->debug)
        sbmy_trace(c, "mysql_stmt_close()");
    if (!p->st) // a dry run, or not prepared
        return;
    sbmy_apart_begin(c);
    if (c->stmt == p)
        sbmy_result_drop(c);
    stmt_free(p);
    sbmy_apart_end(c);
}

// Parameters -----------------------------------------------------------------

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
    type = sbmy_meta_type(v);
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
        return sbmy_fail_stmt(c, p, err);
    p->bound = true;
    return 0;
}

// Executing ------------------------------------------------------------------

static int not_executed(
    struct sbmy_conn *c, struct sbmy_stmt *p, struct sb_err *err)
{
    bool forgotten = sbmy_stmt_forgotten(c, (int)mysql_stmt_errno(p->st));
    int rc = sbmy_fail_stmt(c, p, err);

    return rc != SB_ECANCELED && forgotten ? SB_EUNSUPPORTED : rc;
}

static size_t size_of(const struct sb_value *values, uint32_t n)
{
    size_t size = 0;

    for (uint32_t i = 0; i < n; i++)
        size += values[i].type < SB_VALUE_TEXT ? 0 : values[i].len;
    return size;
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
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    if (p->types) {
        rc = sbmy_wire_execute(c, p, values, res, err);
        if (c->more)
            rc = sbmy_result_collect(c, res, err);
        if (rc)
            sbmy_name_limit(err, size_of(values, n));
        return sbmy_call_end_own(c, rc);
    }
    rc = set_params(c, p, values, n, err);
    if (rc == 0)
        rc = mysql_stmt_execute(p->st) ? not_executed(c, p, err)
                                       : sbmy_stored_begin(c, p, res, err);
    if (rc == 0)
        rc = sbmy_result_collect(c, res, err);
    else
        sbmy_name_limit(err, size_of(values, n));
    return sbmy_call_end(c, rc);
}
