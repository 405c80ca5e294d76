// SPDX-License-Identifier: GPL-2.0-or-later
//
// Pipelines: statements are collected, sent together and answered one by one.
// Drivers without pipelines execute each statement when its answer is
// requested, so scripts work with every driver.
#include <stdlib.h>

#include "db/internal.h"

// A collected statement. Its text and values are in the buffers of the pipe,
// which move as they grow: so it has offsets.
struct sb__pipe_item {
    struct sb_stmt_handle *st; // NULL: SQL text
    size_t text, len;          // offset and length in `bytes`
    size_t value;              // index of the first value
    uint32_t nvalues;
    int op;
};

static bool has_ops(const struct sb_con_priv *c)
{
    return c->sql->pipeline_send != NULL;
}

static int no_memory(struct sb_con_priv *c)
{
    sb_err_set(&c->err, SB_ENOMEM, "out of memory");
    return sb__con_failed(c);
}

static int usage(struct sb_con_priv *c, const char *text)
{
    sb_err_set(&c->err, SB_EUSAGE, "%s", text);
    return sb__con_failed(c);
}

// Returns the array of n members with room for `more`; NULL: out of memory.
static void *room(
    void *array, uint32_t n, uint32_t more, uint32_t *cap, size_t size)
{
    uint32_t want = *cap ? *cap : 32;
    void *p;

    if (n + more <= *cap)
        return array;
    while (want < n + more)
        want *= 2;
    p = realloc(array, want * size);
    if (p)
        *cap = want;
    return p;
}

static struct sb__pipe_item *add_item(struct sb_con_priv *c)
{
    struct sb__pipe *p = &c->pipe;
    struct sb__pipe_item *item = room(p->item, p->n, 1, &p->cap, sizeof(*item));

    if (!item)
        return NULL;
    p->item = item;
    item += p->n;
    *item = (struct sb__pipe_item){ .text = p->bytes.len };
    return item;
}

static bool add_values(struct sb__pipe *p, struct sb__pipe_item *item,
    const struct sb_value *value, uint32_t n)
{
    struct sb_value *v = room(
        p->value, p->nvalues, n, &p->values_cap, sizeof(*v));

    if (!v && n > 0)
        return false;
    p->value = v;
    item->value = p->nvalues;
    item->nvalues = n;
    for (uint32_t i = 0; i < n; i++) {
        v[p->nvalues] = value[i];
        if (value[i].type >= SB_VALUE_TEXT) {
            v[p->nvalues].i = (int64_t)p->bytes.len;
            sb_buf_add(&p->bytes, value[i].s, value[i].len);
        }
        p->nvalues++;
    }
    return true;
}

int sb__pipeline_query(struct sb_con_priv *c, const char *sql, size_t len)
{
    struct sb__pipe_item *item = add_item(c);
    struct sb_rec *rec = sb__rec(c);

    if (!item)
        return no_memory(c);
    sb_buf_add(&c->pipe.bytes, sql, len);
    item->len = len;
    item->op = rec ? sb__op_of_text(c->ctx, rec, sql, len) : -1;
    c->pipe.n++;
    return c->pipe.bytes.failed ? no_memory(c) : 0;
}

int sb__pipeline_execute(struct sb_con_priv *c, struct sb_stmt_handle *st)
{
    struct sb__pipe *p = &c->pipe;
    struct sb__pipe_item *item = add_item(c);
    struct sb__stmt_view v;

    if (!item)
        return no_memory(c);
    sb__stmt_view(st, &v);
    item->op = v.op;
    if (!v.stmt || sb__pipeline_of_texts(c)) {
        if (sb__stmt_text(st, &p->bytes))
            return sb__con_failed(c);
        item->len = p->bytes.len - item->text;
    } else {
        item->st = st;
        if (!add_values(p, item, v.value, v.nvalues))
            return no_memory(c);
    }
    p->n++;
    return p->bytes.failed ? no_memory(c) : 0;
}

int sb__pipeline_refuse(struct sb_con_priv *c, const char *what)
{
    if (!c->pipe.open)
        return 0;
    sb_err_set(&c->err, SB_EUSAGE,
        "%s cannot be used while a pipeline is open; call pipeline_send() or "
        "pipeline_run() first",
        what);
    return sb__con_failed(c);
}

int sb_con_pipeline(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb__pipe *p = &c->pipe;
    int rc;

    if (p->open)
        return usage(c, "a pipeline is already open");
    rc = sb__con_begin(c);
    if (rc)
        return rc;
    if (!c->sql)
        return usage(c, "the driver has no SQL operations");
    sb__stmts_make_room(c, 0);
    p->n = p->next = p->nvalues = 0;
    sb_buf_clear(&p->bytes);
    p->open = true;
    return 0;
}

// Converts offsets to addresses.
static void settle(struct sb__pipe *p)
{
    for (uint32_t i = 0; i < p->nvalues; i++) {
        if (p->value[i].type >= SB_VALUE_TEXT)
            p->value[i].s = p->bytes.data + p->value[i].i;
    }
}

static int send(struct sb_con_priv *c)
{
    struct sb__pipe *p = &c->pipe;
    struct sb_item *items = room(p->out, 0, p->n, &p->out_cap, sizeof(*items));

    if (!items)
        return no_memory(c);
    p->out = items;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct sb__pipe_item *item = &p->item[i];
        struct sb__stmt_view v = { 0 };

        if (item->st)
            sb__stmt_view(item->st, &v);
        items[i] = (struct sb_item){
            .sql = item->st ? v.sql : p->bytes.data + item->text,
            .len = item->st ? v.len : item->len,
            .stmt = v.stmt,
            .values = item->st ? p->value + item->value : NULL,
            .nvalues = item->nvalues,
        };
    }
    return c->sql->pipeline_send(c->conn, items, p->n, &c->err);
}

int sb_con_pipeline_send(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb__pipe *p = &c->pipe;
    int rc = 0;

    if (!p->open)
        return usage(c, "no pipeline is open");
    p->open = false;
    if (p->n == 0) {
        sb__stmts_free_late(c);
        return 0;
    }
    settle(p);
    p->start = sb__timed(c) ? sb__now(c) : 0;
    p->sent = true;
    if (has_ops(c))
        rc = send(c);
    if (rc == 0)
        return (int)p->n;
    c->err.code = rc;
    sb__pipeline_drop(c);
    return sb__con_error(c, "pipeline", "", 0);
}

static int one_by_one(struct sb_con_priv *c, const struct sb__pipe_item *item)
{
    struct sb__pipe *p = &c->pipe;

    if (item->st)
        return sb__stmt_run(item->st, p->value + item->value);
    return sb__con_run(c, p->bytes.data + item->text, item->len, item->op);
}

// The text of an item, for messages.
static struct sb__stmt_view text_of(
    const struct sb_con_priv *c, const struct sb__pipe_item *item)
{
    struct sb__stmt_view v = { .sql = c->pipe.bytes.data + item->text,
        .len = item->len };

    if (item->st)
        sb__stmt_view(item->st, &v);
    return v;
}

static int failed(
    struct sb_con_priv *c, const struct sb__pipe_item *item, int rc)
{
    struct sb__stmt_view v = text_of(c, item);
    struct sb_rec *rec = sb__rec(c);

    if (c->err.code == 0)
        sb_err_set(&c->err, rc, "%s", sb_err_text(rc));
    c->err.code = rc;
    if (rec && item->op >= 0)
        sb_tally_add(&sb_rec_op_tally(rec, item->op)->errors, 1);
    rc = sb__con_error(c, "query", v.sql, v.len);
    sb__pipeline_drop(c);
    return rc;
}

static int receive(struct sb_con_priv *c)
{
    struct sb__pipe *p = &c->pipe;
    const struct sb__pipe_item *item = &p->item[p->next++];
    struct sb_rec *rec = sb__rec(c);
    uint64_t now;
    int rc;

    if (!has_ops(c)) {
        rc = one_by_one(c, item);
        if (rc)
            sb__pipeline_drop(c);
        return rc;
    }
    c->res = (struct sb_result){ 0 };
    rc = c->sql->pipeline_receive(c->conn, &c->res, &c->err);
    now = sb__timed(c) ? sb__now(c) : 0;
    if (SB_UNLIKELY(c->debug)) {
        struct sb__stmt_view v = text_of(c, item);

        sb__debug_stmt(c, now - p->start, v.sql, v.len,
            item->nvalues ? p->value + item->value : NULL, item->nvalues);
    }
    if (rc)
        return failed(c, item, rc);
    if (rec && item->op >= 0)
        sb__count_result(rec, item->op, &c->res, now - p->start, now);
    return 0;
}

struct sb_rs *sb_con_pipeline_next(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (!c->pipe.sent || c->pipe.next == c->pipe.n) {
        usage(c, "no more pipeline results (was pipeline_send() called?)");
        return NULL;
    }
    if (c->has_result)
        sb__result_end(c);
    return receive(c) ? NULL : sb__con_result(c, NULL);
}

int sb_con_pipeline_run(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    int n = sb_con_pipeline_send(con);

    for (int i = 0; i < n; i++) {
        int rc = receive(c);

        if (rc)
            return rc;
        sb__con_result(c, NULL);
        sb__result_end(c);
    }
    return n > 0 && sb__pipeline_end(c) ? c->err.code : n;
}

int sb__pipeline_end(struct sb_con_priv *c)
{
    int rc = 0;

    if (!c->pipe.sent)
        return 0;
    c->pipe.sent = false;
    if (has_ops(c))
        rc = c->sql->pipeline_end(c->conn, &c->err);
    sb__stmts_free_late(c);
    if (rc == 0)
        return 0;
    c->err.code = rc;
    return sb__con_error(c, "pipeline", "", 0);
}

void sb__pipeline_drop(struct sb_con_priv *c)
{
    struct sb_err why;
    bool sent = c->pipe.sent;

    if (!c->pipe.open && !sent)
        return;
    c->pipe.open = c->pipe.sent = false;
    if (sent && c->has_result)
        sb__result_end(c);
    // The caller reports an earlier error, so that of this call is ignored.
    if (sent && has_ops(c) && c->open)
        c->sql->pipeline_end(c->conn, &why);
    sb__stmts_free_late(c);
}

void sb_con_pipeline_drop(struct sb_con *con)
{
    sb__pipeline_drop((struct sb_con_priv *)con);
}

void sb__pipeline_done(struct sb_con_priv *c)
{
    sb_buf_done(&c->pipe.bytes);
    free(c->pipe.item);
    free(c->pipe.value);
    free(c->pipe.out);
    c->pipe = (struct sb__pipe){ 0 };
}
