// SPDX-License-Identifier: GPL-2.0-or-later
//
// The statements that a pipeline collects: copies of their texts and values.
#include <stdlib.h>

#include "db/sql/sql.h"
#include "kit/array.h"

static struct sb__pipe_item *add_item(struct sb_con_priv *c)
{
    struct sb__pipe *p = &c->pipe;
    struct sb__pipe_item *item = sb_array_room(
        p->item, &p->items_cap, p->n, 1, sizeof(*item));

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
    struct sb_value *v = sb_array_room(
        p->value, &p->values_cap, p->nvalues, n, sizeof(*v));

    if (!v)
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

// An item without its bytes is not sent.
static int count_item(struct sb_con_priv *c)
{
    if (c->pipe.bytes.failed)
        return sb__error_no_memory(c);
    c->pipe.n++;
    return 0;
}

int sb__pipe_add_text(
    struct sb_con_priv *c, const char *sql, size_t len, int op)
{
    struct sb__pipe_item *item = add_item(c);

    if (!item)
        return sb__error_no_memory(c);
    sb_buf_add(&c->pipe.bytes, sql, len);
    item->len = len;
    item->op = op;
    return count_item(c);
}

int sb__pipe_add_stmt(struct sb_con_priv *c, struct sb_stmt_handle *st,
    const struct sb_value *values, uint32_t n, int op)
{
    struct sb__pipe_item *item = add_item(c);

    if (!item)
        return sb__error_no_memory(c);
    item->op = op;
    item->st = st;
    if (!add_values(&c->pipe, item, values, n))
        return sb__error_no_memory(c);
    return count_item(c);
}

void sb__pipe_clear(struct sb__pipe *p)
{
    assert(p->state == SB__PIPE_NONE);
    p->n = p->next = p->nvalues = 0;
    sb_buf_clear(&p->bytes);
}

void sb__pipe_settle(struct sb__pipe *p)
{
    for (uint32_t i = 0; i < p->nvalues; i++) {
        if (p->value[i].type >= SB_VALUE_TEXT)
            p->value[i].s = p->bytes.data + p->value[i].i;
    }
}

void sb__pipe_done(struct sb__pipe *p)
{
    assert(p->state == SB__PIPE_NONE);
    sb_buf_done(&p->bytes);
    free(p->item);
    free(p->value);
    free(p->out);
    *p = (struct sb__pipe){ 0 };
}

int sb__pipe_refuse(struct sb_con_priv *c, const char *what)
{
    if (c->pipe.state != SB__PIPE_OPEN)
        return 0;
    return sb__error_usage(c,
        "%s cannot be used while a pipeline is open; call pipeline_send() or "
        "pipeline_run() first",
        what);
}
