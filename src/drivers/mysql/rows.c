// SPDX-License-Identifier: GPL-2.0-or-later
//
// Rows of prepared statements as text. Numbers are bound as numbers, because
// the library does not write all of them as the server does, and its buffer is
// too small for ROUND(1e308, 3). It converts other values to text.
#include <stdlib.h>

#include "drivers/mysql/internal.h"

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

static bool grow_columns(struct sbmy_rows *r, uint32_t n)
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

    if (!fields || !grow_columns(r, n))
        return sbmy_no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        struct sbmy_column *col = &r->column[i];

        col->shape = sbmy_meta_shape(&fields[i]);
        if (!grow_cell(col, first_room(&col->shape)))
            return sbmy_no_memory(err);
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
        return sbmy_no_memory(err);
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

int sbmy_rows_fetch(struct sbmy_conn *c, struct sb_result *res,
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
