// SPDX-License-Identifier: GPL-2.0-or-later
//
// Pipelines: statements are collected, sent together and answered one by one.
// Drivers without pipelines execute each statement when its answer is
// requested, so scripts work with every driver.
#include "db/sql/sql.h"
#include "kit/array.h"

static bool has_ops(const struct sb_con_priv *c)
{
    return c->sql->pipeline_send != NULL;
}

static void set_state(struct sb_con_priv *c, enum sb__pipe_state to)
{
    struct sb__pipe *p = &c->pipe;

    assert(to == SB__PIPE_NONE || to == p->state + 1);
    p->texts = to == SB__PIPE_OPEN && c->sql->pipeline_send &&
               (c->drv->caps & SB_CAP_TEXT_PIPELINE);
    if (to == SB__PIPE_SENT)
        c->unsettled++;
    else if (p->state == SB__PIPE_SENT)
        c->unsettled--;
    p->state = to;
}

// Ends a pipeline in any state and ignores errors.
static void drop_pipeline(struct sb__child *k)
{
    struct sb_con_priv *c = k->con;
    bool sent = c->pipe.state == SB__PIPE_SENT;
    struct sb_err why;

    if (c->pipe.state == SB__PIPE_NONE)
        return;
    set_state(c, SB__PIPE_NONE);
    if (sent)
        sb__result_end(c);
    // The caller reports an earlier error, so that of this call is ignored.
    if (sent && has_ops(c) && sb__con_connected(c))
        c->sql->pipeline_end(c->conn, &why);
    sb__children_free_late(c);
}

static void orphan_pipe(struct sb__child *k)
{
    struct sb_con_priv *c = k->con;

    sb__child_remove(k);
    sb__pipe_done(&c->pipe);
}

static int send_items(struct sb_con_priv *c)
{
    struct sb__pipe *p = &c->pipe;
    struct sb_item *items = sb_array_room(
        p->out, &p->out_cap, 0, p->n, sizeof(*items));

    if (!items)
        return sb__error_no_memory(c);
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
    atomic_store_explicit(
        &c->inst->db->owner->piped, true, memory_order_relaxed);
    return c->sql->pipeline_send(c->conn, items, p->n, &c->err);
}

int sb_con_pipeline_send(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb__pipe *p = &c->pipe;
    int rc = 0;

    if (p->state != SB__PIPE_OPEN)
        return sb__error_usage(c, "no pipeline is open");
    if (p->n == 0) {
        set_state(c, SB__PIPE_NONE);
        sb__children_free_late(c);
        return 0;
    }
    sb__pipe_settle(p);
    p->start = *c->ctx->rec || c->debug ? sb__now(c) : 0;
    p->waits = sb__call_waits(c);
    set_state(c, SB__PIPE_SENT);
    if (has_ops(c))
        rc = send_items(c);
    p->waited = sb__call_waits(c);
    if (rc == 0)
        return (int)p->n;
    c->err.code = rc;
    drop_pipeline(&p->child);
    return sb__error_report(c, "pipeline", "", 0);
}

static int one_by_one(struct sb_con_priv *c, const struct sb__pipe_item *item)
{
    struct sb__pipe *p = &c->pipe;

    if (item->st)
        return sb__stmt_run(item->st, p->value + item->value);
    return sb__query_run(c, p->bytes.data + item->text, item->len, item->op);
}

// An item, for messages.
static struct sb__call_text text_of(
    const struct sb_con_priv *c, const struct sb__pipe_item *item)
{
    const struct sb__pipe *p = &c->pipe;
    struct sb__stmt_view v = { .sql = p->bytes.data + item->text,
        .len = item->len };

    if (item->st)
        sb__stmt_view(item->st, &v);
    return (struct sb__call_text){ "query", v.sql, v.len,
        item->nvalues ? p->value + item->value : NULL, item->nvalues };
}

// Returns the waits of the fiber before those of the driver. An answer may have
// come with the last wait of the driver, but not if the user has waited for
// something else since.
static uint64_t driver_waits(struct sb__pipe *p, uint64_t now)
{
    if (now != p->waited)
        p->waits = now;
    return p->waits;
}

// The time of an answer is measured from sending the pipeline.
static int receive(struct sb_con_priv *c, const struct sb__pipe_item *item)
{
    struct sb__call call = sb__call_since(c, item->op, c->pipe.start);
    struct sb__call_text text;
    int rc;

    call.waits = driver_waits(&c->pipe, call.waits);
    c->res = (struct sb_result){ 0 };
    rc = c->sql->pipeline_receive(c->conn, &c->res, &c->err);
    c->pipe.waited = sb__call_waits(c);
    if (sb__call_ends_well(&call, rc))
        return 0;
    text = text_of(c, item);
    return sb__call_end(call, rc, &text);
}

// Gets the next answer. After a failure the pipeline is dropped.
static int next_answer(struct sb_con_priv *c)
{
    struct sb__pipe *p = &c->pipe;
    const struct sb__pipe_item *item = &p->item[p->next++];
    int rc;

    assert(p->state == SB__PIPE_SENT && p->next <= p->n);
    rc = has_ops(c) ? receive(c, item) : one_by_one(c, item);
    if (rc)
        drop_pipeline(&p->child);
    return rc;
}

// Ends a pipeline that was sent: receives its remaining answers, which counts
// the statements, and drops their rows. 0 or SB_E*.
static int end_sent(struct sb__child *k)
{
    struct sb_con_priv *c = k->con;
    struct sb__pipe *p = &c->pipe;
    int rc = 0;

    if (p->state != SB__PIPE_SENT)
        return 0;
    while (p->next < p->n) {
        rc = next_answer(c);
        if (rc)
            return rc;
        sb__result_new(c, NULL);
        sb__result_end(c);
    }
    set_state(c, SB__PIPE_NONE);
    if (has_ops(c))
        rc = c->sql->pipeline_end(c->conn, &c->err);
    sb__children_free_late(c);
    if (rc == 0)
        return 0;
    c->err.code = rc;
    return sb__error_report(c, "pipeline", "", 0);
}

static const struct sb__child_ops pipe_ops = {
    .settle = end_sent, .abandon = drop_pipeline, .orphan = orphan_pipe
};

int sb_con_pipeline(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb__pipe *p = &c->pipe;
    int rc;

    if (p->state == SB__PIPE_OPEN)
        return sb__error_usage(c, "a pipeline is already open");
    rc = sb__call_ready(c);
    if (rc)
        return rc;
    if (!c->sql)
        return sb__error_usage(c, "the driver has no SQL operations");
    if (!p->child.con) {
        p->child.ops = &pipe_ops;
        sb_buf_init(&p->bytes, 0);
        sb__child_add(c, &p->child);
    }
    sb__stmts_make_room(c, 0);
    sb__pipe_clear(p);
    set_state(c, SB__PIPE_OPEN);
    return 0;
}

struct sb_rs *sb_con_pipeline_next(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (c->pipe.state != SB__PIPE_SENT || c->pipe.next == c->pipe.n) {
        sb__error_usage(
            c, "no more pipeline results (was pipeline_send() called?)");
        return NULL;
    }
    sb__result_end(c);
    return next_answer(c) ? NULL : sb__result_new(c, NULL);
}

int sb_con_pipeline_end(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (c->pipe.state != SB__PIPE_SENT)
        return 0;
    sb__result_end(c);
    return end_sent(&c->pipe.child);
}

int sb_con_pipeline_run(struct sb_con *con)
{
    int n = sb_con_pipeline_send(con);
    int rc = n > 0 ? sb_con_pipeline_end(con) : 0;

    return rc ? rc : n;
}

void sb_con_pipeline_drop(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (c->pipe.child.con)
        drop_pipeline(&c->pipe.child);
}
