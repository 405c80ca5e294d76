// SPDX-License-Identifier: GPL-2.0-or-later
//
// Collects writes into few commands. Each command is built in the buffer that
// it is sent from, so a document is copied only once.
#include <stdlib.h>

#include "db/doc/doc.h"
#include "kit/array.h"

#define OPS_MAX   1000u
#define BYTES_MAX (12u << 20) // of a command with more than one document
#define KEEP_MAX  (2u << 20)  // of a buffer kept between executions

enum kind { KIND_INSERT, KIND_UPDATE, KIND_DELETE, KINDS };

static const struct {
    char letter;
    const char *command, *list;
} kinds[KINDS] = {
    { 'i', "insert", "documents" },
    { 'u', "update", "updates" },
    { 'd', "delete", "deletes" },
};

// A command.
struct batch {
    size_t at, list; // where it and its list of documents begin
    uint32_t n;
    enum kind kind;
    bool closed;
};

// A buffer of consecutive commands.
struct part {
    struct sb_buf body;
    struct batch *batch;
    uint32_t nbatches;
    size_t cap;
};

struct sb_doc_bulk {
    struct sb__child child; // first
    struct sb__handle handle;
    bool ordered;
    struct sb_doc_name *name; // NULL: the names of the commands
    char *collection;
    struct part part[KINDS]; // ordered: only the first one is used
    double count;
    struct sb_doc_bulk_result result;
};

// Building commands ----------------------------------------------------------

static void add_bytes(struct sb_buf *b, const void *data, size_t len)
{
    memcpy(b->data + b->len, data, len);
    b->len += len;
}

static void add_key(struct sb_buf *b, uint8_t type, const char *key)
{
    b->data[b->len++] = (char)type;
    add_bytes(b, key, strlen(key) + 1);
}

static void add_int32(struct sb_buf *b, uint32_t v)
{
    sb_put32((uint8_t *)b->data + b->len, v);
    b->len += 4;
}

// Ends the document that began at `at`.
static void close_document(struct sb_buf *b, size_t at)
{
    b->data[b->len++] = '\0';
    sb_put32((uint8_t *)b->data + at, (uint32_t)(b->len - at));
}

// Begins a command: {insert: "collection", ordered: true, documents: [
static bool open_batch(
    const struct sb_doc_bulk *bulk, struct part *p, enum kind kind)
{
    size_t name = strlen(bulk->collection) + 1;
    struct sb_buf *b = &p->body;
    struct batch *batch = sb_array_room(
        p->batch, &p->cap, p->nbatches, 1, sizeof(*batch));

    if (!batch)
        return false;
    p->batch = batch;
    if (!sb_buf_room(b, name + 64))
        return false;
    batch = &p->batch[p->nbatches++];
    *batch = (struct batch){ .at = b->len, .kind = kind };
    add_int32(b, 0);
    add_key(b, SB_BSON_TEXT, kinds[kind].command);
    add_int32(b, (uint32_t)name);
    add_bytes(b, bulk->collection, name);
    add_key(b, SB_BSON_BOOL, "ordered");
    b->data[b->len++] = bulk->ordered;
    add_key(b, SB_BSON_ARRAY, kinds[kind].list);
    batch->list = b->len;
    add_int32(b, 0);
    return true;
}

static void close_batch(struct part *p)
{
    struct batch *batch = p->nbatches ? &p->batch[p->nbatches - 1] : NULL;

    if (!batch || batch->closed)
        return;
    assert(batch->at < batch->list && batch->list < p->body.len);
    close_document(&p->body, batch->list);
    close_document(&p->body, batch->at);
    batch->closed = true;
}

// The keys of an array are its indexes: "0" to "999".
static size_t put_index(uint8_t *out, unsigned i)
{
    size_t n = 0;

    if (i >= 100)
        out[n++] = (uint8_t)('0' + i / 100);
    if (i >= 10)
        out[n++] = (uint8_t)('0' + i / 10 % 10);
    out[n++] = (uint8_t)('0' + i % 10);
    out[n++] = '\0';
    return n;
}

// Returns the place for a document of at most `room` bytes, in the part's last
// command or in a new one; NULL: out of memory. Its key is written before it,
// and the buffer has room for the bytes that close the command.
static uint8_t *place_value(
    const struct sb_doc_bulk *bulk, struct part *p, enum kind kind, size_t room)
{
    struct batch *batch = p->nbatches ? &p->batch[p->nbatches - 1] : NULL;
    struct sb_buf *b = &p->body;
    uint8_t *out;

    if (!batch || batch->closed || batch->kind != kind || batch->n == OPS_MAX ||
        b->len - batch->at + room + 7 > BYTES_MAX) {
        close_batch(p);
        if (!open_batch(bulk, p, kind))
            return NULL;
        batch = &p->batch[p->nbatches - 1];
    }
    out = (uint8_t *)sb_buf_room(b, room + 7);
    if (!out)
        return NULL;
    *out = SB_BSON_DOCUMENT;
    return out + 1 + put_index(out + 1, batch->n);
}

static void placed(struct sb_doc_bulk *bulk, struct part *p, const uint8_t *end)
{
    // place_value() has left room for the bytes that close the command.
    assert(end > (const uint8_t *)p->body.data + p->body.len &&
           end < (const uint8_t *)p->body.data + p->body.cap);
    p->body.len = (size_t)(end - (const uint8_t *)p->body.data);
    p->batch[p->nbatches - 1].n++;
    bulk->count++;
}

// Opening and freeing --------------------------------------------------------

static void empty(struct sb_doc_bulk *bulk)
{
    for (int i = 0; i < KINDS; i++) {
        struct part *p = &bulk->part[i];

        p->nbatches = 0;
        sb_buf_trim(&p->body, KEEP_MAX);
    }
    bulk->count = 0;
}

static void bulk_free(struct sb__child *k)
{
    struct sb_doc_bulk *bulk = (struct sb_doc_bulk *)k;

    sb__child_unlink(k);
    for (int i = 0; i < KINDS; i++) {
        sb_buf_done(&bulk->part[i].body);
        free(bulk->part[i].batch);
    }
    free(bulk->collection);
    free(bulk);
}

static void free_dropped(struct sb__handle *h)
{
    sb_doc_bulk_free(
        (struct sb_doc_bulk *)((char *)h -
                               offsetof(struct sb_doc_bulk, handle)));
}

struct sb_doc_bulk *sb_doc_bulk_open(
    struct sb_con *con, const char *collection, int ordered)
{
    static const struct sb__child_ops ops = { .orphan = sb__doc_orphan,
        .free = bulk_free };
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb_doc_bulk *bulk;

    if (sb__doc_ready(c))
        return NULL;
    if (!collection || !*collection) {
        sb__error_usage(c, "a bulk requires the name of a collection");
        return NULL;
    }
    bulk = calloc(1, sizeof(*bulk));
    if (!bulk) {
        sb__error_no_memory(c);
        return NULL;
    }
    bulk->child.ops = &ops;
    sb__child_add(c, &bulk->child);
    bulk->ordered = ordered & 1;
    bulk->collection = strdup(collection);
    if (ordered & 2)
        bulk->name = sb_doc_name(con, "");
    if (bulk->collection && (bulk->name || !(ordered & 2))) {
        sb__handle_give(&bulk->handle, c->ctx, free_dropped);
        return bulk;
    }
    bulk_free(&bulk->child);
    sb__error_no_memory(c);
    return NULL;
}

void sb_doc_bulk_free(struct sb_doc_bulk *bulk)
{
    if (!bulk)
        return;
    sb__handle_end(&bulk->handle);
    bulk_free(&bulk->child);
}

void sb_doc_bulk_drop(struct sb_doc_bulk *bulk)
{
    if (bulk)
        sb__handle_drop(&bulk->handle);
}

double sb_doc_bulk_count(const struct sb_doc_bulk *bulk)
{
    return bulk->count;
}

void sb_doc_bulk_result(
    const struct sb_doc_bulk *bulk, struct sb_doc_bulk_result *out)
{
    *out = bulk->result;
}

// Adding ---------------------------------------------------------------------

static int closed(void)
{
    sb_log(SB_LOG_ALERT, "attempt to use an already closed connection");
    return SB_EUSAGE;
}

// Returns the part for operations with this letter; NULL, with SB_EUSAGE as the
// error of c, for an unknown letter.
static struct part *part_of(
    struct sb_doc_bulk *bulk, int letter, enum kind *kind)
{
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].letter != letter)
            continue;
        *kind = (enum kind)i;
        return &bulk->part[bulk->ordered ? 0 : i];
    }
    sb__error_usage(bulk->child.con,
        "a bulk does not support operations of kind %d", letter);
    return NULL;
}

int sb_doc_bulk_add(
    struct sb_doc_bulk *bulk, int kind, const uint8_t *a, size_t len)
{
    struct sb_con_priv *c = bulk->child.con;
    struct part *p;
    enum kind k;
    uint8_t *out;

    if (!c)
        return closed();
    p = part_of(bulk, kind, &k);
    if (!p)
        return c->err.code;
    if (!a || !sb_bson_framed(a, len))
        return sb__error_usage(
            c, "the %zu bytes given to a bulk are not a BSON document", len);
    out = place_value(bulk, p, k, len);
    if (!out)
        return sb__error_no_memory(c);
    memcpy(out, a, len);
    placed(bulk, p, out + len);
    return 0;
}

int sb_doc_bulk_add_op(struct sb_doc_bulk *bulk, int kind, struct sb_doc_op *op,
    const struct sb_doc_value *values, uint32_t n)
{
    struct sb_con_priv *c = bulk->child.con;
    struct part *p;
    enum kind k;
    size_t len, room;
    uint8_t *out;
    int rc;

    if (!c)
        return closed();
    p = part_of(bulk, kind, &k);
    if (!p)
        return c->err.code;
    rc = sb__doc_op_room(op, c, values, n, &room);
    if (rc)
        return rc;
    out = place_value(bulk, p, k, room);
    if (!out)
        return sb__error_no_memory(c);
    len = sb__doc_op_write(op, c, values, out);
    assert(len <= room);
    if (!len)
        return c->err.code;
    placed(bulk, p, out + len);
    return 0;
}

// Executing ------------------------------------------------------------------

static unsigned elements(const struct sb_elem *list)
{
    struct sb_walk w;
    struct sb_elem e;
    unsigned n = 0;

    if (list->type != SB_BSON_ARRAY)
        return 0;
    sb_walk_begin(&w, list->value, list->len);
    while (sb_walk_next(&w, &e) == 1)
        n++;
    return n;
}

// The contents of a reply.
struct said {
    bool ok, write_errors;
    double n, modified, upserted;
};

static void read_reply(struct sb_con_priv *c, struct said *s)
{
    size_t len;
    const uint8_t *reply = sb_doc_reply(&c->pub, &len);
    struct sb_walk w;
    struct sb_elem e;

    *s = (struct said){ 0 };
    // Unacknowledged writes have no reply.
    if (!reply || !sb_bson_framed(reply, len)) {
        s->n = (double)c->res.affected;
        return;
    }
    sb_walk_begin(&w, reply, len);
    while (sb_walk_next(&w, &e) == 1) {
        if (strcmp(e.key, "ok") == 0)
            s->ok = sb_elem_number(&e) != 0;
        else if (strcmp(e.key, "n") == 0)
            s->n = sb_elem_number(&e);
        else if (strcmp(e.key, "writeErrors") == 0)
            s->write_errors = true;
        else if (strcmp(e.key, "nModified") == 0)
            s->modified = sb_elem_number(&e);
        else if (strcmp(e.key, "upserted") == 0)
            s->upserted = elements(&e);
    }
}

static void add_result(
    struct sb_doc_bulk_result *r, enum kind kind, const struct said *s)
{
    switch (kind) {
    case KIND_INSERT:
        r->inserted += s->n;
        break;
    case KIND_UPDATE:
        r->matched += s->n - s->upserted;
        r->modified += s->modified;
        r->upserted += s->upserted;
        break;
    case KIND_DELETE:
        r->removed += s->n;
        break;
    case KINDS:
    default:
        break;
    }
}

// The first of several failures.
struct first {
    struct sb_err err;
    char *sql;
};

static void keep_first(struct sb_con_priv *c, struct first *f)
{
    if (f->err.code)
        return;
    f->err = c->err;
    f->sql = c->failed_sql;
    c->failed_sql = NULL;
}

static int report_first(struct sb_con_priv *c, struct first *f)
{
    if (!f->err.code)
        return 0;
    c->err = f->err;
    free(c->failed_sql);
    c->failed_sql = f->sql;
    return sb__error_show(c);
}

// Runs one command. *on: whether the bulk continues after a failure. It does if
// the command as a whole succeeded and, in an ordered bulk, each of its writes
// did, that is, only the write concern was not satisfied.
static int run_batch(
    struct sb_doc_bulk *bulk, const struct part *p, uint32_t i, bool *on)
{
    const struct batch *b = &p->batch[i];
    struct sb_con_priv *c = bulk->child.con;
    struct said said;
    const uint8_t *body = (const uint8_t *)p->body.data + b->at;
    int rc = sb__doc_begin(c);

    assert(b->closed && b->n > 0 && b->n <= OPS_MAX);
    *on = false;
    if (rc)
        return rc;
    rc = sb__doc_run(c, body, sb_get32(body), bulk->name);
    if (rc == 0 || !sb__con_lost(c)) {
        read_reply(c, &said);
        if (rc == 0 || said.ok)
            add_result(&bulk->result, b->kind, &said);
        *on = said.ok && !(bulk->ordered && said.write_errors) &&
              (rc == SB_EQUERY || rc == SB_EIGNORE);
    }
    return rc;
}

static int run_part(
    struct sb_doc_bulk *bulk, struct part *p, struct first *first)
{
    close_batch(p);
    for (uint32_t i = 0; i < p->nbatches; i++) {
        bool on;
        int rc;

        if (p->batch[i].n == 0)
            continue; // the only document of this command was invalid
        rc = run_batch(bulk, p, i, &on);
        if (rc && !on)
            return rc;
        if (rc)
            keep_first(bulk->child.con, first);
    }
    return 0;
}

int sb_doc_bulk_execute(struct sb_doc_bulk *bulk)
{
    struct sb_con_priv *c = bulk->child.con;
    struct first first = { .err = { 0 } };
    int rc = 0;

    bulk->result = (struct sb_doc_bulk_result){ 0 };
    if (!c) {
        empty(bulk);
        return closed();
    }
    if (bulk->count == 0 && c->pub.error)
        sb__error_clear(c);
    for (int i = 0; rc == 0 && i < KINDS; i++)
        rc = run_part(bulk, &bulk->part[i], &first);
    empty(bulk);
    // The error that stopped the bulk takes precedence over earlier ones.
    if (rc)
        free(first.sql);
    else
        rc = report_first(c, &first);
    return rc;
}
