// SPDX-License-Identifier: GPL-2.0-or-later
//
// The statements that a pipeline collects: copies of their texts and values.
#include <stdlib.h>

#include "db/sql/sql.h"
#include "kit/array.h"

static bool pipe_room(struct sb__pipe *p, uint32_t nvalues)
{
    struct sb__pipe_item *item = sb_array_room(
        p->item, &p->items_cap, p->n, 1, sizeof(*item));
    struct sb_value *value = sb_array_room(
        p->value, &p->values_cap, p->nvalues, nvalues, sizeof(*value));

    p->item = item ? item : p->item;
    p->value = value ? value : p->value;
    return item && value;
}

// False: out of memory. An item without its bytes is not counted, and not sent.
static bool pipe_copy(struct sb__pipe *p, struct sb_stmt_handle *st,
    const struct sb_item *add, int op)
{
    struct sb_buf *b = &p->bytes;

    if (!pipe_room(p, add->nvalues))
        return false;
    p->item[p->n] = (struct sb__pipe_item){ .st = st,
        .text = b->len,
        .len = add->len,
        .value = p->nvalues,
        .nvalues = add->nvalues,
        .op = op };
    if (!st)
        sb_buf_add(b, add->sql, add->len);
    for (uint32_t i = 0; i < add->nvalues; i++) {
        struct sb_value v = add->values[i];

        if (v.type >= SB_VALUE_TEXT) {
            v.i = (int64_t)b->len;
            sb_buf_add(b, add->values[i].s, v.len);
        }
        p->value[p->nvalues++] = v;
    }
    if (!b->failed)
        p->n++;
    return !b->failed;
}

int sb__pipe_add(struct sb_con_priv *c, struct sb_stmt_handle *st,
    const struct sb_item *add, int op)
{
    return pipe_copy(&c->pipe, st, add, op) ? 0 : sb__error_no_memory(c);
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
