// SPDX-License-Identifier: GPL-2.0-or-later
//
// The current result of a connection, through the operations of its source.
#include <stdlib.h>

#include "drivers/mysql/internal.h"
#include "kit/array.h"

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

// Several results ------------------------------------------------------------

#define NO_VALUE UINT64_MAX

// A name or value: len bytes and a NUL, from `at` on in the bytes.
struct sbmy_copy {
    size_t at;
    uint64_t len; // NO_VALUE: NULL
};

static bool copy_cells(
    struct sbmy_several *s, const struct sb_cell *cells, uint32_t n)
{
    struct sbmy_copy *copy = sb_array_room(
        s->copy, &s->cap_copies, s->ncopies, n, sizeof(*copy));

    if (!copy)
        return false;
    s->copy = copy;
    for (uint32_t i = 0; i < n; i++) {
        bool null = !cells[i].s;

        s->copy[s->ncopies++] = (struct sbmy_copy){ .at = s->bytes.len,
            .len = null ? NO_VALUE : cells[i].len };
        if (!null && (sb_buf_add(&s->bytes, cells[i].s, cells[i].len) ||
                         sb_buf_add(&s->bytes, "", 1)))
            return false;
    }
    return true;
}

static bool my_copy_names(
    struct sbmy_conn *c, uint32_t n, struct sbmy_several *s)
{
    bool copied = true;

    for (uint32_t i = 0; i < n && copied; i++) {
        const char *name = c->result->column(c, i);
        struct sb_cell cell = { name, name ? strlen(name) : 0 };

        copied = copy_cells(s, &cell, 1);
    }
    return copied;
}

// Copies the current result, whose rows are fetched.
static int copy_result(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    struct sbmy_several *s = &c->several;
    struct sb_result *result = sb_array_room(
        s->result, &s->cap, s->n, 1, sizeof(*result));
    struct sb_cell *cells = calloc((size_t)res->nfields + 1, sizeof(*cells));
    int rc = res->nrows > 0;

    if (result)
        s->result = result;
    if (!result || !cells || !my_copy_names(c, res->nfields, s))
        rc = sb_err_no_memory(err);
    while (rc == 1) {
        rc = c->result->fetch(c, res, cells, err);
        if (rc == 1 && !copy_cells(s, cells, res->nfields))
            rc = sb_err_no_memory(err);
    }
    if (rc == 0)
        s->result[s->n++] = *res;
    free(cells);
    return rc;
}

static void several_done(struct sbmy_several *s)
{
    free(s->result);
    free(s->copy);
    sb_buf_done(&s->bytes);
    *s = (struct sbmy_several){ 0 };
}

// Makes copied result number i the current one. Its names begin at s->next.
static void show_copy(struct sbmy_conn *c, size_t i, struct sb_result *res)
{
    struct sbmy_several *s = &c->several;

    assert(i < s->n);
    *res = s->result[i];
    s->now = i;
    s->names = s->next;
    s->next += res->nfields;
    s->rows_left = res->nrows;
    c->more = res->more = i + 1 < s->n;
}

static int several_fetch(struct sbmy_conn *c, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    struct sbmy_several *s = &c->several;

    if (s->rows_left == 0)
        return 0;
    s->rows_left--;
    for (uint32_t i = 0; i < s->result[s->now].nfields; i++) {
        const struct sbmy_copy *copy = &s->copy[s->next++];
        bool null = copy->len == NO_VALUE;

        cells[i].s = null ? NULL : s->bytes.data + copy->at;
        cells[i].len = null ? 0 : copy->len;
    }
    return 1;
}

static const char *several_column(struct sbmy_conn *c, uint32_t i)
{
    const struct sbmy_copy *copy = &c->several.copy[c->several.names + i];

    return copy->len == NO_VALUE ? NULL : c->several.bytes.data + copy->at;
}

static int several_next(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    struct sbmy_several *s = &c->several;

    s->next += s->rows_left * s->result[s->now].nfields;
    show_copy(c, s->now + 1, res);
    return 1;
}

static void several_free(struct sbmy_conn *c)
{
    sbmy_result_unset(c);
    several_done(&c->several);
}

static const struct sbmy_result_ops several_results = {
    .fetch = several_fetch,
    .column = several_column,
    .next = several_next,
    .free = several_free,
};

int sbmy_result_collect(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    int rc;

    assert(sbmy_in_call(c));
    if (!c->more)
        return 0;
    do {
        rc = copy_result(c, res, err);
        if (rc == 0 && c->more)
            rc = c->result->next(c, res, err);
    } while (rc == 1);
    sbmy_result_drop(c);
    if (rc) {
        several_done(&c->several);
        return rc;
    }
    sbmy_result_set(c, &several_results, NULL);
    show_copy(c, 0, res);
    return 0;
}

// Operations -----------------------------------------------------------------

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

// The results that follow have been received already.
int sbmy_result_next(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);

    return c->more ? c->result->next(c, res, err) : 0;
}

void sbmy_result_free(struct sb_conn *conn, struct sb_result *res)
{
    struct sbmy_conn *c = sbmy_own(conn);

    c->result->free(c);
}
