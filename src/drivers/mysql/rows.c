// SPDX-License-Identifier: GPL-2.0-or-later
//
// Rows of prepared statements as text. Each column is bound as a string, so
// that the library converts the server's binary values.
#include <stdlib.h>

#include "drivers/mysql/mysql_priv.h"

#define NUMBER_ROOM 64u   // integers, times
#define DOUBLE_ROOM 400u  // with less room, the library rounds
#define TEXT_ROOM   1024u // initial size; grows for longer texts

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

static size_t first_room(const MYSQL_FIELD *f)
{
    switch (f->type) {
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
        return DOUBLE_ROOM;
    default:
        if (f->length >= TEXT_ROOM)
            return TEXT_ROOM;
        // The width of a ZEROFILL column is that of its definition.
        return f->length + 1 < NUMBER_ROOM ? NUMBER_ROOM : f->length + 1;
    }
}

static void bind_column(struct sbmy_rows *r, uint32_t i)
{
    struct sbmy_column *col = &r->column[i];

    r->bind[i] = (MYSQL_BIND){
        .buffer_type = MYSQL_TYPE_STRING,
        .buffer = col->s,
        .buffer_length = (unsigned long)col->cap,
        .length = &col->len,
        .is_null = &col->null,
        .error = &col->error,
    };
}

static int bind_columns(struct sbmy_conn *c, uint32_t n, struct sb_err *err)
{
    struct sbmy_rows *r = &c->rows;
    MYSQL_FIELD *fields = sbmy_meta_fields(c->stmt);

    if (!fields || !grow_columns(r, n))
        return sbmy_no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        if (!grow_cell(&r->column[i], first_room(&fields[i])))
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
    for (uint32_t i = 0; i < n; i++) {
        cells[i].s = r->column[i].null ? NULL : r->column[i].s;
        cells[i].len = r->column[i].null ? 0 : r->column[i].len;
    }
    return 1;
}
