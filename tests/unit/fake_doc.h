// SPDX-License-Identifier: GPL-2.0-or-later
//
// The fake driver with document operations, a recorder, and functions that
// build documents. Commands are answered by answers[] in order; all later ones
// succeed.
#ifndef FAKE_DOC_H
#define FAKE_DOC_H

#include "db/doc/doc.h"
#include "fake.h"

// Documents ------------------------------------------------------------------

struct doc {
    uint8_t data[4096];
    size_t len;
    size_t open[16];
    int depth;
};

static inline struct doc *begin(struct doc *d)
{
    d->len = 4;
    d->depth = 0;
    d->open[0] = 0;
    return d;
}

static inline void bytes(struct doc *d, const void *p, size_t len)
{
    memcpy(d->data + d->len, p, len);
    d->len += len;
}

static inline void key(struct doc *d, uint8_t type, const char *name)
{
    d->data[d->len++] = type;
    bytes(d, name, strlen(name) + 1);
}

static inline void put_text(struct doc *d, const char *name, const char *text)
{
    key(d, 0x02, name);
    sb_put32(d->data + d->len, (uint32_t)strlen(text) + 1);
    d->len += 4;
    bytes(d, text, strlen(text) + 1);
}

static inline void put_int(struct doc *d, const char *name, int32_t i)
{
    key(d, 0x10, name);
    sb_put32(d->data + d->len, (uint32_t)i);
    d->len += 4;
}

static inline void put_bool(struct doc *d, const char *name, bool b)
{
    key(d, 0x08, name);
    d->data[d->len++] = b;
}

static inline void open_in(struct doc *d, uint8_t type, const char *name)
{
    key(d, type, name);
    d->open[++d->depth] = d->len;
    d->len += 4;
}

static inline struct doc *end(struct doc *d)
{
    size_t at = d->open[d->depth--];

    d->data[d->len++] = '\0';
    sb_put32(d->data + at, (uint32_t)(d->len - at));
    return d;
}

// {"$arg": n, "type": type}; type may be NULL.
static inline void put_arg(
    struct doc *d, const char *name, int n, const char *type)
{
    open_in(d, 0x03, name);
    put_int(d, "$arg", n);
    if (type)
        put_text(d, "type", type);
    end(d);
}

// Prints the types that tests use, in a form similar to JSON.
static inline void print(struct sb_buf *out, const uint8_t *doc, size_t len)
{
    struct sb_walk w;
    struct sb_elem e;

    sb_buf_adds(out, "{");
    sb_walk_begin(&w, doc, len);
    while (sb_walk_next(&w, &e) == 1) {
        sb_buf_addf(
            out, "%s%s:", out->data[out->len - 1] == '{' ? "" : ",", e.key);
        if (e.type == 0x02)
            sb_buf_addf(out, "'%s'", (const char *)e.value + 4);
        else if (e.type == 0x03 || e.type == 0x04)
            print(out, e.value, e.len);
        else if (e.type == 0x0a)
            sb_buf_adds(out, "null");
        else if (e.type == 0x09)
            sb_buf_addf(out, "date(%lld)", (long long)sb_get64(e.value));
        else if (e.type == 0x12)
            sb_buf_addf(out, "%lldL", (long long)sb_get64(e.value));
        else if (e.type == 0x01)
            sb_buf_addf(out, "%gd", sb_elem_number(&e));
        else if (e.type == 0x08)
            sb_buf_adds(out, e.value[0] ? "true" : "false");
        else
            sb_buf_addf(out, "%g", sb_elem_number(&e));
    }
    sb_buf_adds(out, "}");
}

// The driver -----------------------------------------------------------------

struct answer {
    int rc, native;
    int32_t kind;
    uint64_t nrows, affected;
    const struct doc *reply;
    bool plain; // *err is not set
};

static struct answer answers[16];
static unsigned nanswers, ncommands;
static struct sb_buf last; // the command sent last
static char history[4096]; // commands as JSON, truncated, in order
static const struct doc *last_reply;
static uint64_t rows_left;
static struct doc row;
static bool cut_json; // history keeps 40 bytes of a command

static inline int answer_command(
    const struct answer *a, struct sb_result *res, struct sb_err *err)
{
    res->kind = a->kind;
    res->nrows = rows_left = a->nrows;
    res->affected = a->affected;
    last_reply = a->reply;
    if (a->rc && !a->plain)
        sb_err_native(err, a->rc, a->native, "", "refused");
    return a->rc;
}

static inline int doc_command(struct sb_conn *conn, const uint8_t *body,
    size_t len, struct sb_result *res, struct sb_err *err)
{
    static const struct answer good;
    struct sb_buf text;
    size_t n = strlen(history);

    sb_buf_init(&text, 0);
    print(&text, body, len);
    snprintf(history + n, sizeof(history) - n, "%.*s ", cut_json ? 40 : 4000,
        text.data);
    sb_buf_done(&text);
    sb_buf_clear(&last);
    sb_buf_add(&last, body, len);
    CHECK(sb_bson_framed(body, len));
    ncommands++;
    return answer_command(
        ncommands <= nanswers ? &answers[ncommands - 1] : &good, res, err);
}

static inline int doc_next(struct sb_conn *conn, struct sb_result *res,
    const uint8_t **doc, size_t *len, struct sb_err *err)
{
    if (rows_left == 0)
        return 0;
    if (rows_left == 99)
        return sb_err_native(err, SB_EQUERY, 9, "", "no more");
    put_int(begin(&row), "n", (int32_t)rows_left--);
    end(&row);
    *doc = row.data;
    *len = row.len;
    return 1;
}

static inline const uint8_t *doc_reply(struct sb_conn *conn, size_t *len)
{
    if (!last_reply)
        return NULL;
    *len = last_reply->len;
    return last_reply->data;
}

static inline int doc_transaction(struct sb_conn *conn, enum sb_doc_step step,
    const uint8_t *options, size_t len, struct sb_err *err)
{
    static const struct answer good;
    struct sb_result res;

    note("step(%d,%zu) ", (int)step, len);
    ncommands++;
    return answer_command(
        ncommands <= nanswers ? &answers[ncommands - 1] : &good, &res, err);
}

static inline uint8_t *doc_from_json(
    const char *json, size_t len, size_t *doc_len, struct sb_err *err)
{
    uint8_t *out = malloc(5);

    if (len < 2 || !out) {
        free(out);
        sb_err_set(err, SB_EUSAGE, "no JSON: %.*s", (int)len, json);
        return NULL;
    }
    memcpy(out, "\5\0\0\0", 5);
    *doc_len = 5;
    return out;
}

static inline char *doc_to_json(
    const uint8_t *doc, size_t len, size_t *json_len, struct sb_err *err)
{
    struct sb_buf text;

    note("json ");
    sb_buf_init(&text, 0);
    print(&text, doc, len);
    *json_len = text.len;
    return text.data;
}

static struct sb_doc_ops doc_ops = {
    .command = doc_command,
    .next = doc_next,
    .reply = doc_reply,
    .transaction = doc_transaction,
    .from_json = doc_from_json,
    .to_json = doc_to_json,
};

static int connects;

static inline int doc_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *o, const struct sb_conn_info *info, struct sb_err *err)
{
    connects++;
    return 0;
}

static inline void doc_disconnect(struct sb_conn *conn)
{
    last_reply = NULL;
}

static const struct sb_generic_ops generic_ops = {
    .connect = doc_connect,
    .disconnect = doc_disconnect,
};

// The connection `c` of the fake driver, recorded ----------------------------

static struct sb_stats stats;
static struct sb_rec *rec;

static inline void start_docs(void)
{
    CHECK_INT(sb_stats_init(&stats, 1, 1, false), 0);
    rec = &stats.rec[0];
    drv.doc = &doc_ops;
    drv.generic = &generic_ops;
    start();
    ctx.rec = &rec;
    ctx.op_stats = NULL;
    nanswers = ncommands = 0;
    history[0] = '\0';
    last_reply = NULL;
    cut_json = false;
    memset(answers, 0, sizeof(answers));
}

static inline void finish_docs(void)
{
    free(c.doc_body.data);
    sb__children_orphan(&c);
    sb__children_free(&ctx.orphans);
    ctx.doc_names = NULL;
    sb_buf_done(&last);
    finish();
    sb_stats_done(&stats);
    ctx.rec = NULL;
}

static inline const char *commands(void)
{
    static char copy[sizeof(history)];

    memcpy(copy, history, sizeof(copy));
    history[0] = '\0';
    return copy;
}

static inline struct answer *next_answer(int rc, int native)
{
    struct answer *a = &answers[ncommands < nanswers ? nanswers : ncommands];

    nanswers = (unsigned)(a - answers) + 1;
    *a = (struct answer){ .rc = rc, .native = native };
    return a;
}

static inline int run_doc(const struct doc *d)
{
    return sb_doc_command(&c.pub, d->data, d->len, NULL);
}

static inline int64_t op_index(const char *op)
{
    sb_rec_flush(rec);
    for (unsigned i = 0; i < stats.nops; i++) {
        if (strcmp(stats.op[i].name, op) == 0)
            return i;
    }
    return -1;
}

static inline int64_t op_count(const char *op)
{
    int64_t i = op_index(op);

    return i < 0 ? -1 : (int64_t)sb_rec_op_tally(rec, (int)i)->count;
}

static inline int64_t op_errors(const char *op)
{
    int64_t i = op_index(op);

    return i < 0 ? -1 : (int64_t)sb_rec_op_tally(rec, (int)i)->errors;
}

#endif
