// SPDX-License-Identifier: GPL-2.0-or-later
//
// Collects writes into few commands. Each command is built in the buffer that
// it is sent from, so a document is copied only once.
#include <stdlib.h>

#include "drivers/mongodb/documents.h"
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

struct sbmo_doc_bulk {
    bool ordered, counted;
    char *collection;
    struct part part[KINDS]; // ordered: only the first one is used
    double count;
    struct sbmo_doc_bulk_result result;
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
    const struct sbmo_doc_bulk *bulk, struct part *p, enum kind kind)
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
static size_t mo_put_array_key(uint8_t *out, unsigned i)
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
static uint8_t *place_value(const struct sbmo_doc_bulk *bulk, struct part *p,
    enum kind kind, size_t room)
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
    return out + 1 + mo_put_array_key(out + 1, batch->n);
}

static void placed(
    struct sbmo_doc_bulk *bulk, struct part *p, const uint8_t *end)
{
    // place_value() has left room for the bytes that close the command.
    assert(end > (const uint8_t *)p->body.data + p->body.len &&
           end < (const uint8_t *)p->body.data + p->body.cap);
    p->body.len = (size_t)(end - (const uint8_t *)p->body.data);
    p->batch[p->nbatches - 1].n++;
    bulk->count++;
}

// Opening and freeing --------------------------------------------------------

static void empty(struct sbmo_doc_bulk *bulk)
{
    for (int i = 0; i < KINDS; i++) {
        struct part *p = &bulk->part[i];

        p->nbatches = 0;
        sb_buf_trim(&p->body, KEEP_MAX);
    }
    bulk->count = 0;
}

static void bulk_done(void *object)
{
    struct sbmo_doc_bulk *bulk = object;

    for (int i = 0; i < KINDS; i++) {
        sb_buf_done(&bulk->part[i].body);
        free(bulk->part[i].batch);
    }
    free(bulk->collection);
}

struct sbmo_doc_bulk *sbmo_doc_bulk_open(
    struct sb_con *con, const char *collection, int ordered)
{
    struct sbmo_doc_bulk *bulk;

    if (sbmo_doc_ready(con))
        return NULL;
    if (!collection || !*collection) {
        sbmo_doc_usage(con, "a bulk requires the name of a collection");
        return NULL;
    }
    bulk = con->host->object_new(con, sizeof(*bulk), bulk_done);
    if (bulk) {
        bulk->ordered = ordered & 1;
        bulk->counted = !(ordered & 2);
        bulk->collection = strdup(collection);
        if (bulk->collection)
            return bulk;
        con->host->object_drop(bulk);
    }
    sbmo_doc_no_memory(con);
    return NULL;
}

double sbmo_doc_bulk_count(const struct sbmo_doc_bulk *bulk)
{
    return bulk->count;
}

void sbmo_doc_bulk_result(
    const struct sbmo_doc_bulk *bulk, struct sbmo_doc_bulk_result *out)
{
    *out = bulk->result;
}

// Adding ---------------------------------------------------------------------

// True if the bulk belongs to con, which was not freed.
static bool mo_is_open(const struct sbmo_doc_bulk *bulk, struct sb_con *con)
{
    if (con->host->object_con(bulk) == con)
        return true;
    con->host->log(
        SBMO_LOG_ALERT, "attempt to use an already closed connection");
    return false;
}

// Returns the part for operations with this letter; NULL, with SB_EUSAGE as the
// error of c, for an unknown letter.
static struct part *part_of(
    struct sb_con *con, struct sbmo_doc_bulk *bulk, int letter, enum kind *kind)
{
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].letter != letter)
            continue;
        *kind = (enum kind)i;
        return &bulk->part[bulk->ordered ? 0 : i];
    }
    sbmo_doc_usage(
        con, "a bulk does not support operations of kind %d", letter);
    return NULL;
}

int sbmo_doc_bulk_add(struct sb_con *con, struct sbmo_doc_bulk *bulk, int kind,
    const uint8_t *a, size_t len)
{
    struct part *p;
    enum kind k;
    uint8_t *out;

    if (!mo_is_open(bulk, con))
        return SB_EUSAGE;
    p = part_of(con, bulk, kind, &k);
    if (!p)
        return SB_EUSAGE;
    if (!a || !sb_bson_framed(a, len))
        return sbmo_doc_usage(
            con, "the %zu bytes given to a bulk are not a BSON document", len);
    out = place_value(bulk, p, k, len);
    if (!out)
        return sbmo_doc_no_memory(con);
    memcpy(out, a, len);
    placed(bulk, p, out + len);
    return 0;
}

int sbmo_doc_bulk_add_op(struct sb_con *con, struct sbmo_doc_bulk *bulk,
    int kind, struct sbmo_doc_op *op, const struct sbmo_doc_value *values,
    uint32_t n)
{
    struct part *p;
    enum kind k;
    size_t len, room;
    uint8_t *out;
    int rc;

    if (!mo_is_open(bulk, con))
        return SB_EUSAGE;
    p = part_of(con, bulk, kind, &k);
    if (!p)
        return SB_EUSAGE;
    rc = sbmo_doc_op_room(op, con, values, n, &room);
    if (rc)
        return rc;
    out = place_value(bulk, p, k, room);
    if (!out)
        return sbmo_doc_no_memory(con);
    len = sbmo_doc_op_write(op, con, values, out);
    assert(len <= room);
    if (!len)
        return SB_EUSAGE;
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

static void read_reply(const struct sb_con *con, struct said *s)
{
    size_t len;
    const uint8_t *reply = sbmo_doc_reply(con, &len);
    struct sb_walk w;
    struct sb_elem e;

    *s = (struct said){ 0 };
    // Unacknowledged writes have no reply.
    if (!reply || !sb_bson_framed(reply, len)) {
        s->n = sbmo_doc_affected(con);
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
    struct sbmo_doc_bulk_result *r, enum kind kind, const struct said *s)
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
    char *text; // of the command
};

static void keep_first(struct first *f, const struct sb_con *con, int rc,
    const struct sbmo_doc_command *command)
{
    size_t len;

    if (f->err.code)
        return;
    sb_err_native(&f->err, rc, con->sql_errno, con->sql_state, con->sql_errmsg);
    f->text = sbmo_doc_text(command->body, command->len, &len);
}

// Runs one command. Returns 0; or the error of the command, with *on: whether
// the bulk continues after it. It does if the command as a whole succeeded and,
// in an ordered bulk, each of its writes did, that is, only the write concern
// was not satisfied.
static int run_batch(struct sb_con *con, struct sbmo_doc_bulk *bulk,
    const struct batch *b, const struct sbmo_doc_command *command, bool *on)
{
    struct said said;
    bool sent;
    int rc = sbmo_doc_run(con, command, &sent);

    *on = false;
    if (rc && (!sent || rc == SB_ELOST || rc == SB_ERECONNECT))
        return rc;
    read_reply(con, &said);
    if (rc == 0 || said.ok)
        add_result(&bulk->result, b->kind, &said);
    *on = said.ok && !(bulk->ordered && said.write_errors) &&
          (rc == SB_EQUERY || rc == SB_EIGNORE);
    return rc;
}

static int run_part(struct sb_con *con, struct sbmo_doc_bulk *bulk,
    struct part *p, struct first *first)
{
    close_batch(p);
    for (uint32_t i = 0; i < p->nbatches; i++) {
        const struct batch *b = &p->batch[i];
        const uint8_t *body = (const uint8_t *)p->body.data + b->at;
        const struct sbmo_doc_command command = { body, sb_get32(body),
            bulk->counted ? NULL : "" };
        bool on;
        int rc;

        assert(b->closed && b->n <= OPS_MAX);
        if (b->n == 0)
            continue; // the only document of this command was invalid
        rc = run_batch(con, bulk, b, &command, &on);
        if (rc && !on)
            return rc;
        if (rc)
            keep_first(first, con, rc, &command);
    }
    return 0;
}

int sbmo_doc_bulk_execute(struct sb_con *con, void *arg)
{
    struct sbmo_doc_bulk *bulk = arg;
    struct first first = { .err = { 0 } };
    int rc = 0;

    bulk->result = (struct sbmo_doc_bulk_result){ 0 };
    if (!mo_is_open(bulk, con)) {
        empty(bulk);
        return SB_EUSAGE;
    }
    if (bulk->count == 0)
        rc = sbmo_doc_ready(con);
    for (int i = 0; rc == 0 && i < KINDS; i++)
        rc = run_part(con, bulk, &bulk->part[i], &first);
    empty(bulk);
    // The error that stopped the bulk takes precedence over earlier ones.
    if (rc == 0 && first.err.code)
        rc = con->host->fail(con, NULL, first.text, &first.err);
    free(first.text);
    return rc;
}
