// SPDX-License-Identifier: GPL-2.0-or-later
//
// Documents as rows, for scripts that work with any kind of database. The
// columns are the fields of the first document.
#include <stdlib.h>

#include "drivers/mongodb/internal.h"

static bool mo_add_column(struct sbmo_result *r, const char *name, size_t len)
{
    uint32_t at = (uint32_t)r->names.len;

    assert(name[len] == '\0');
    return sbmo_add(&r->offsets, &at, sizeof(at)) &&
           sbmo_add(&r->names, name, len + 1);
}

static uint32_t columns(const struct sbmo_result *r)
{
    return (uint32_t)(r->offsets.len / sizeof(uint32_t));
}

static const char *mo_name_of(const struct sbmo_result *r, uint32_t i)
{
    uint32_t at;

    memcpy(&at, r->offsets.data + i * sizeof(at), sizeof(at));
    return r->names.data + at;
}

// Returns the first document without consuming it.
static bool peek(struct sbmo_result *r, struct sb_walk *fields)
{
    struct sb_walk w;
    struct sbmo_cursor at;
    struct sb_elem e;

    for (uint32_t i = 0; i < r->n; i++) {
        if (!sbmo_result_cursor(r, i, &at))
            return false;
        sb_walk_into(&w, &at.documents);
        if (sb_walk_more(&w, &e)) {
            sb_walk_into(fields, &e);
            return true;
        }
    }
    return false;
}

static int find_columns(struct sbmo_result *r, struct sb_err *err)
{
    struct sb_walk fields;
    struct sb_elem e;
    bool done = true;

    if (r->shape == SBMO_COUNT)
        done = mo_add_column(r, "n", 1);
    else if (r->shape == SBMO_VALUES)
        done = mo_add_column(r, "value", 5);
    else if (r->shape == SBMO_CURSOR && peek(r, &fields))
        while (done && sb_walk_more(&fields, &e))
            done = mo_add_column(r, e.key, e.key_len);
    return done ? 0 : sb_err_no_memory(err);
}

static int mo_query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    uint8_t *body;
    size_t n;
    int rc;

    sbmo_result_clear(&c->result);
    c->has_reply = false;
    body = sbmo_from_json(sql, len, &n, err);
    if (!body)
        return SB_EQUERY;
    rc = sbmo_command(conn, body, n, res, err);
    free(body);
    if (rc == 0 && res->kind == SB_RESULT_ROWS) {
        c->result.rows = true;
        rc = find_columns(&c->result, err);
        res->nfields = columns(&c->result);
    }
    return rc;
}

// A column in the text of the row: its offset, because the text moves when it
// grows.
struct span {
    size_t at, len;
    bool set;
};

static struct span *spans(struct sbmo_result *r, uint32_t n)
{
    size_t size = n * sizeof(struct span);

    r->spans.len = 0;
    if (!sb_buf_room(&r->spans, size))
        return NULL;
    if (size)
        memset(r->spans.data, 0, size);
    return (struct span *)(void *)r->spans.data;
}

static bool put_cell(
    struct sbmo_result *r, struct span *s, const struct sb_elem *e)
{
    if (s->set || e->type == SB_BSON_NULL || e->type == SB_BSON_UNDEFINED)
        return true;
    s->set = true;
    s->at = r->text.len;
    if (!sbmo_value_text(&r->text, e))
        return false;
    s->len = r->text.len - s->at;
    return true;
}

// Returns the column of a field. Tries `guess` first, because most documents
// have their fields in the order of the first one.
static uint32_t mo_column_of(
    const struct sbmo_result *r, const struct sb_elem *e, uint32_t guess)
{
    uint32_t n = columns(r);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = guess + i < n ? guess + i : guess + i - n;

        if (sb_elem_is(e, mo_name_of(r, at)))
            return at;
    }
    return n;
}

static bool fill_row(struct sbmo_result *r, struct span *at, uint32_t n,
    const uint8_t *doc, size_t len)
{
    uint32_t guess = 0;
    struct sb_walk w;
    struct sb_elem e;

    r->text.len = 0;
    sb_walk_open(&w, doc, len);
    while (sb_walk_more(&w, &e)) {
        uint32_t i = mo_column_of(r, &e, guess);

        if (i == n)
            continue;
        guess = i + 1 < n ? i + 1 : 0;
        if (!put_cell(r, &at[i], &e))
            return false;
    }
    return true;
}

static int mo_fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    struct sbmo_result *r = &sbmo_own(conn)->result;
    uint32_t n = columns(r);
    const uint8_t *doc;
    struct span *at;
    size_t len;

    if (!r->rows || sbmo_next(conn, res, &doc, &len, err) != 1)
        return 0;
    at = spans(r, n);
    if (!at || !fill_row(r, at, n, doc, len) || !sb_buf_room(&r->text, 1))
        return sb_err_no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        cells[i].s = at[i].set ? r->text.data + at[i].at : NULL;
        cells[i].len = at[i].len;
    }
    return 1;
}

static const char *mo_column(
    struct sb_conn *conn, struct sb_result *res, uint32_t i)
{
    const struct sbmo_result *r = &sbmo_own(conn)->result;

    return i < columns(r) ? mo_name_of(r, i) : NULL;
}

static void mo_free_result(struct sb_conn *conn, struct sb_result *res)
{
    sbmo_result_clear(&sbmo_own(conn)->result);
}

const struct sb_sql_ops sbmo_sql_ops = {
    .query = mo_query,
    .fetch = mo_fetch,
    .column = mo_column,
    .free_result = mo_free_result,
};
