// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sends the rows of a load as documents, in unordered inserts of a thousand.
// The command is written as bytes into the buffer from which it is sent.
#include <stdlib.h>

#include "drivers/mongodb/internal.h"

#define DOCUMENTS 1000u
#define BYTES     (12u * 1024 * 1024) // servers accept 16 MB

// Beginning ----------------------------------------------------------------

// Splits the list at commas and trims blanks; each name ends with NUL.
static int mo_read_columns(
    struct sbmo_conn *c, const char *list, uint32_t n, struct sb_err *err)
{
    c->columns.len = 0;
    c->ncolumns = 0;
    while (*list) {
        size_t len = strcspn(list, ","), end = len, skip = 0;

        while (skip < end && list[skip] == ' ')
            skip++;
        while (end > skip && list[end - 1] == ' ')
            end--;
        if (!sbmo_add(&c->columns, list + skip, end - skip) ||
            !sbmo_add(&c->columns, "", 1))
            return sb_err_no_memory(err);
        c->ncolumns++;
        list += len + (list[len] == ',');
    }
    if (c->ncolumns != n)
        return sb_err_set(err, SB_EUSAGE, "%u columns, but %u names",
            (unsigned)n, (unsigned)c->ncolumns);
    return 0;
}

// Writes the command up to its first document.
static int mo_write_head(
    struct sbmo_conn *c, const char *table, struct sb_err *err)
{
    bson_t body = BSON_INITIALIZER, list = BSON_INITIALIZER;
    bool done;

    BSON_APPEND_UTF8(&body, "insert", table);
    BSON_APPEND_BOOL(&body, "ordered", false);
    BSON_APPEND_ARRAY(&body, "documents", &list);
    c->head.len = 0;
    // Without the ends of the array and of the command.
    done = sbmo_add(&c->head, bson_get_data(&body), body.len - 2);
    bson_destroy(&list);
    bson_destroy(&body);
    return done ? 0 : sb_err_no_memory(err);
}

static bool begin_command(struct sbmo_conn *c)
{
    c->bulk.len = 0;
    c->nrows = 0;
    return sbmo_add(&c->bulk, c->head.data, c->head.len);
}

static int mo_bulk_begin(struct sb_conn *conn, const char *table,
    const char *columns, uint32_t ncolumns, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    int rc = mo_read_columns(c, columns, ncolumns, err);

    if (rc == 0)
        rc = mo_write_head(c, table, err);
    if (rc == 0 && !begin_command(c))
        rc = sb_err_no_memory(err);
    return rc;
}

// Documents ------------------------------------------------------------------

// Maximum size of one value without its name.
static size_t mo_value_room(const struct sb_value *v)
{
    bool bytes = v->type == SB_VALUE_TEXT || v->type == SB_VALUE_BLOB ||
                 v->type == SB_VALUE_TIME;

    return 1 + 8 + (bytes ? (size_t)v->len + 1 : 0);
}

static uint8_t *put_name(uint8_t *p, uint8_t type, const char *name, size_t len)
{
    *p++ = type;
    memcpy(p, name, len);
    return p + len;
}

// name: len bytes including the NUL. Returns the position of the next value.
static uint8_t *mo_put_value(
    uint8_t *p, const char *name, size_t len, const struct sb_value *v)
{
    uint64_t bits;

    switch (v->type) {
    case SB_VALUE_INT:
        if (v->i >= INT32_MIN && v->i <= INT32_MAX) {
            p = put_name(p, SB_BSON_INT32, name, len);
            sb_put32(p, (uint32_t)v->i);
            return p + 4;
        }
        p = put_name(p, SB_BSON_INT64, name, len);
        sb_put64(p, (uint64_t)v->i);
        return p + 8;
    case SB_VALUE_DOUBLE:
        p = put_name(p, SB_BSON_DOUBLE, name, len);
        memcpy(&bits, &v->d, sizeof(bits));
        sb_put64(p, bits);
        return p + 8;
    case SB_VALUE_TEXT:
    case SB_VALUE_TIME:
        p = put_name(p, SB_BSON_TEXT, name, len);
        sb_put32(p, v->len + 1);
        memcpy(p + 4, v->s, v->len);
        p[4 + v->len] = 0;
        return p + 5 + v->len;
    case SB_VALUE_BLOB:
        p = put_name(p, SB_BSON_BINARY, name, len);
        sb_put32(p, v->len);
        p[4] = 0; // subtype: generic
        memcpy(p + 5, v->s, v->len);
        return p + 5 + v->len;
    case SB_VALUE_NULL:
    default:
        return put_name(p, SB_BSON_NULL, name, len);
    }
}

// Writes the key of an array element: its index.
static size_t mo_put_index(uint8_t *p, uint32_t n)
{
    char digits[12];
    int len = snprintf(digits, sizeof(digits), "%u", (unsigned)n);

    memcpy(p, digits, (size_t)len + 1);
    return (size_t)len + 1;
}

// Maximum size of a row.
static size_t row_room(const struct sbmo_conn *c, const struct sb_value *v)
{
    size_t room = 1 + 12 + 5 + c->columns.len;

    for (uint32_t i = 0; i < c->ncolumns; i++)
        room += mo_value_room(&v[i]);
    return room;
}

static bool mo_add_row(
    struct sbmo_conn *c, const struct sb_value *v, size_t room)
{
    const char *name = c->columns.data;
    uint8_t *p = (uint8_t *)sb_buf_room(&c->bulk, room), *doc;

    assert(c->nrows < DOCUMENTS);
    if (!p)
        return false;
    *p++ = SB_BSON_DOCUMENT;
    p += mo_put_index(p, c->nrows);
    doc = p;
    p += 4;
    for (uint32_t i = 0; i < c->ncolumns; i++) {
        size_t len = strlen(name) + 1;

        p = mo_put_value(p, name, len, &v[i]);
        name += len;
    }
    *p++ = 0;
    sb_put32(doc, (uint32_t)(p - doc));
    assert((size_t)((char *)p - c->bulk.data) - c->bulk.len <= room);
    c->bulk.len = (size_t)((char *)p - c->bulk.data);
    c->nrows++;
    return true;
}

// Sending --------------------------------------------------------------------

static int mo_send_insert(struct sbmo_conn *c, struct sb_err *err)
{
    size_t array = c->head.len - 4; // position of its length
    struct sb_result res = { 0 };
    uint8_t *p;
    int rc;

    assert(!c->loading);
    if (c->nrows == 0)
        return 0;
    if (!sbmo_add(&c->bulk, "\0", 2))
        return sb_err_no_memory(err);
    p = (uint8_t *)c->bulk.data;
    sb_put32(p + array, (uint32_t)(c->bulk.len - 1 - array));
    sb_put32(p, (uint32_t)c->bulk.len);
    c->loading = true;
    rc = sbmo_command((struct sb_conn *)c, p, c->bulk.len, &res, err);
    c->loading = false;
    if (!begin_command(c) && rc == 0)
        rc = sb_err_no_memory(err);
    return rc;
}

static int mo_bulk_rows(struct sb_conn *conn, const struct sb_value *values,
    uint32_t nrows, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    int rc = 0;

    for (uint32_t i = 0; i < nrows && rc == 0; i++) {
        const struct sb_value *v = values + (size_t)i * c->ncolumns;
        size_t room = row_room(c, v);

        if (c->nrows == DOCUMENTS || c->bulk.len + room > BYTES)
            rc = mo_send_insert(c, err);
        if (rc == 0 && !mo_add_row(c, v, room))
            rc = sb_err_no_memory(err);
    }
    return rc;
}

// Inserted documents stay: a load is not a transaction.
static int mo_bulk_end(struct sb_conn *conn, bool commit, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    int rc = commit ? mo_send_insert(c, err) : 0;

    c->nrows = 0;
    return rc;
}

const struct sb_bulk_ops sbmo_bulk_ops = {
    .begin = mo_bulk_begin,
    .rows = mo_bulk_rows,
    .end = mo_bulk_end,
};
