// SPDX-License-Identifier: GPL-2.0-or-later
//
// The replies of a result, and its documents, one after another.
#include <stdlib.h>

#include "drivers/mongodb/internal.h"
#include "kit/array.h"

void sbmo_result_clear(struct sbmo_result *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        bson_destroy(r->batch[i]);
    r->n = r->at = 0;
    r->given = true;
    r->rows = false;
    r->walk = (struct sb_walk){ 0 };
    r->values.len = r->value_at = 0;
    r->names.len = r->offsets.len = r->text.len = 0;
}

void sbmo_result_done(struct sbmo_result *r)
{
    sbmo_result_clear(r);
    for (uint32_t i = 0; i < r->cap; i++)
        free(r->batch[i]);
    free(r->batch);
    sb_buf_done(&r->values);
    sb_buf_done(&r->names);
    sb_buf_done(&r->offsets);
    sb_buf_done(&r->text);
    sb_buf_done(&r->spans);
    *r = (struct sbmo_result){ 0 };
}

bson_t *sbmo_result_batch(struct sbmo_result *r)
{
    bson_t **p;
    void *batch;

    assert(r->n <= r->cap);
    if (r->n < r->cap) {
        bson_init(r->batch[r->n]);
        return r->batch[r->n++];
    }
    p = sb_array_room(r->batch, &r->room, r->cap, 1, sizeof(*p));
    if (!p)
        return NULL;
    r->batch = p;
    // The library's documents need a larger alignment than malloc() guarantees.
    if (posix_memalign(&batch, 128, sizeof(bson_t)))
        return NULL;
    p[r->cap++] = batch;
    bson_init(batch);
    return p[r->n++];
}

bool sbmo_result_cursor(
    const struct sbmo_result *r, uint32_t i, struct sbmo_cursor *out)
{
    struct sb_elem cursor, e;
    struct sb_walk w;

    *out = (struct sbmo_cursor){ 0 };
    if (i >= r->n || !sb_bson_find(bson_get_data(r->batch[i]), r->batch[i]->len,
                         "cursor", &cursor))
        return false;
    sb_walk_into(&w, &cursor);
    while (sb_walk_more(&w, &e)) {
        if (sb_elem_is(&e, "id"))
            out->id = sb_elem_int(&e);
        else if (sb_elem_is(&e, "ns"))
            out->ns = e;
        else if (sb_elem_is(&e, "firstBatch") || sb_elem_is(&e, "nextBatch"))
            out->documents = e;
    }
    return out->documents.value != NULL;
}

// Points `walk` at the documents of batch i.
static bool enter_batch(struct sbmo_result *r, uint32_t i)
{
    struct sbmo_cursor at;

    r->at = i;
    if (!sbmo_result_cursor(r, i, &at))
        return false;
    sb_walk_into(&r->walk, &at.documents);
    return true;
}

static uint64_t count_documents(struct sbmo_result *r)
{
    struct sb_elem e;
    uint64_t n = 0;

    for (uint32_t i = 0; i < r->n && enter_batch(r, i); i++) {
        while (sb_walk_more(&r->walk, &e))
            n++;
    }
    return n;
}

// Converts an element to {"value": ...}.
static bool mo_add_value(struct sb_buf *m, const struct sb_elem *e)
{
    static const char key[] = "value";
    uint32_t len = (uint32_t)(4 + 1 + sizeof(key) + e->len + 1);
    uint8_t head[5] = { (uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16),
        (uint8_t)(len >> 24), e->type };

    return sbmo_add(m, head, sizeof(head)) && sbmo_add(m, key, sizeof(key)) &&
           sbmo_add(m, e->value, e->len) && sbmo_add(m, "", 1);
}

// Converts each value that distinct returned to a document. Returns their
// number, or -1.
static int64_t make_values(struct sbmo_result *r)
{
    struct sb_elem list, e;
    struct sb_walk w;
    int64_t n = 0;

    assert(r->n > 0); // the reply
    if (!sb_bson_find(
            bson_get_data(r->batch[0]), r->batch[0]->len, "values", &list))
        return 0;
    sb_walk_into(&w, &list);
    for (; sb_walk_more(&w, &e); n++) {
        if (!mo_add_value(&r->values, &e))
            return -1;
    }
    return n;
}

int sbmo_result_ready(
    struct sbmo_result *r, struct sb_result *res, struct sb_err *err)
{
    struct sbmo_cursor at;
    int64_t n = 1;

    // The reply of an aggregate with explain has no cursor.
    r->given = r->shape == SBMO_VALUES ||
               (r->shape == SBMO_CURSOR && sbmo_result_cursor(r, 0, &at));
    if (r->shape == SBMO_CURSOR && r->given) {
        n = (int64_t)count_documents(r);
        enter_batch(r, 0);
    } else if (r->shape == SBMO_VALUES) {
        n = make_values(r);
    }
    if (n < 0)
        return sb_err_no_memory(err);
    if (res->kind == SB_RESULT_ROWS)
        res->nrows = (uint64_t)n;
    return 0;
}

const uint8_t *sbmo_reply(struct sb_conn *conn, size_t *len)
{
    struct sbmo_conn *c = sbmo_own(conn);

    if (!c->has_reply || c->result.n == 0)
        return NULL;
    *len = c->result.batch[0]->len;
    return bson_get_data(c->result.batch[0]);
}

static int mo_next_value(
    struct sbmo_result *r, const uint8_t **doc, size_t *len)
{
    if (r->value_at >= r->values.len)
        return 0;
    *doc = (const uint8_t *)r->values.data + r->value_at;
    *len = sb_get32(*doc);
    r->value_at += *len;
    assert(r->value_at <= r->values.len); // mo_add_value() wrote the lengths
    return 1;
}

int sbmo_next(struct sb_conn *conn, struct sb_result *res, const uint8_t **doc,
    size_t *len, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    struct sbmo_result *r = &c->result;
    struct sb_elem e;

    if (r->shape == SBMO_VALUES)
        return mo_next_value(r, doc, len);
    if (!r->given) {
        r->given = true;
        *doc = sbmo_reply(conn, len);
        return *doc != NULL;
    }
    while (r->shape == SBMO_CURSOR && r->n > 0) {
        if (sb_walk_more(&r->walk, &e) && e.type == SB_BSON_DOCUMENT) {
            *doc = e.value;
            *len = e.len;
            return 1;
        }
        if (r->at + 1 >= r->n || !enter_batch(r, r->at + 1))
            return 0;
    }
    return 0;
}
