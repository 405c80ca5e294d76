// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs commands of document databases: times and counts them, handles their
// errors and their results.
#include <stdarg.h>
#include <stdlib.h>

#include "db/doc.h"

#define NAMES_MAX 256 // maximum of commands with their own operations

struct sb_doc_name {
    struct sb_doc_name *next;
    struct sb_stats *stats; // where op is registered, NULL at first
    int op;
    char text[];
};

static struct sb_con_priv *priv(const struct sb_con *con)
{
    return (struct sb_con_priv *)con;
}

// Failures -------------------------------------------------------------------

int sb__doc_usage(struct sb_con_priv *c, const char *fmt, ...)
{
    char text[sizeof(c->err.msg)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sb_err_set(&c->err, SB_EUSAGE, "%s", text);
    return sb__con_failed(c);
}

int sb__doc_no_memory(struct sb_con_priv *c)
{
    sb_err_set(&c->err, SB_ENOMEM, "out of memory");
    return sb__con_failed(c);
}

static int no_operations(struct sb_con_priv *c)
{
    return sb__doc_usage(
        c, "the %s driver does not support documents", c->drv->name);
}

int sb__doc_ready(struct sb_con_priv *c)
{
    if (c->pub.error)
        sb__con_clear(c);
    if (!c->drv->doc)
        return no_operations(c);
    if (c->open || c->lost)
        return 0;
    sb_log(SB_LOG_ALERT, "attempt to use an already closed connection");
    return sb__doc_usage(c, "the connection is closed");
}

int sb__doc_begin(struct sb_con_priv *c)
{
    int rc = sb__con_begin(c);

    if (SB_UNLIKELY(rc))
        return rc;
    if (SB_UNLIKELY(!c->drv->doc))
        return no_operations(c);
    if (SB_UNLIKELY(c->pipe.open))
        return sb__doc_usage(
            c, "a pipeline is open; it does not support document commands");
    return 0;
}

int sb__doc_check(struct sb_con_priv *c, const uint8_t *body, size_t len)
{
    if (SB_UNLIKELY(!body || !sb_bson_framed(body, len)))
        return sb__doc_usage(c,
            "the %zu bytes given are not a BSON document, which begins with "
            "its length and ends with a NUL",
            len);
    if (SB_UNLIKELY(len == SB_BSON_EMPTY || body[5] == '\0'))
        return sb__doc_usage(c,
            "the first key of a command is its name; this document has none");
    return 0;
}

// Completes *err, in case the driver did not fill it.
static void complete_error(struct sb_con_priv *c, int rc)
{
    if (c->err.code == 0)
        sb_err_set(&c->err, rc, "%s", sb_err_text(rc));
    c->err.code = rc;
}

// Names of operations --------------------------------------------------------

static enum sb_op_kind kind_of(const char *command)
{
    static const struct {
        char name[16];
        enum sb_op_kind kind;
    } known[] = {
        { "find", SB_OP_READ },
        { "aggregate", SB_OP_READ },
        { "distinct", SB_OP_READ },
        { "count", SB_OP_READ },
        { "getMore", SB_OP_READ },
        { "insert", SB_OP_WRITE },
        { "update", SB_OP_CHANGE },
        { "delete", SB_OP_CHANGE },
        { "findAndModify", SB_OP_CHANGE },
        { "findandmodify", SB_OP_CHANGE },
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(command, known[i].name) == 0)
            return known[i].kind;
    }
    return SB_OP_OTHER;
}

static struct sb_doc_name *name_of(struct sb_db_ctx *ctx, const char *text)
{
    struct sb_doc_name **list, *name;
    unsigned hash = 0;
    size_t len;

    for (const char *p = text; *p; p++)
        hash = hash * 31 + (unsigned char)*p;
    list = &ctx->doc_names[hash % SB_DB_DOC_NAMES];
    for (name = *list; name; name = name->next) {
        if (strcmp(name->text, text) == 0)
            return name;
    }
    len = strlen(text);
    name = malloc(sizeof(*name) + len + 1);
    if (!name)
        return NULL;
    name->stats = NULL;
    name->op = -1;
    memcpy(name->text, text, len + 1);
    name->next = *list;
    *list = name;
    ctx->ndoc_names++;
    return name;
}

struct sb_doc_name *sb_doc_name(struct sb_con *con, const char *name)
{
    return name_of(priv(con)->ctx, name);
}

static const char *command_of(const uint8_t *body)
{
    return (const char *)body + 5;
}

// The operation of a command, registered with rec's stats; -1: not counted.
static int op_of(struct sb_con_priv *c, struct sb_rec *rec,
    struct sb_doc_name *name, const char *command)
{
    if (!name) {
        // Limits the number of names, because a script can call any number of
        // different commands.
        bool many = c->ctx->ndoc_names >= NAMES_MAX;

        name = name_of(c->ctx, many ? SB_OPS_REST : command);
        if (!name)
            return sb__op_named(c->ctx, rec, command, kind_of(command));
    }
    if (SB_UNLIKELY(!name->text[0]))
        return -1;
    if (SB_UNLIKELY(name->stats != rec->stats)) {
        name->op = sb__op_named(c->ctx, rec, name->text, kind_of(command));
        name->stats = rec->stats;
    }
    return name->op;
}

// Commands -------------------------------------------------------------------

// A call of the driver, to be counted and described in messages.
struct call {
    const char *what;
    const uint8_t *body; // NULL: a step of a transaction
    size_t len;
    const char *text; // name of the step
    struct sb_rec *rec;
    int op; // -1: not counted
    uint64_t start, end;
};

static void begin_call(struct sb_con_priv *c, struct call *call)
{
    c->res = (struct sb_result){ 0 };
    call->start = call->rec || c->debug ? sb__now(c) : 0;
}

static char *text_of(
    struct sb_con_priv *c, const struct call *call, size_t *len)
{
    char *text;

    if (call->body)
        return sb__doc_text(c, call->body, call->len, len);
    text = strdup(call->text);
    *len = text ? strlen(text) : 0;
    return text;
}

static void debug_line(struct sb_con_priv *c, const struct call *call)
{
    size_t len = 0;
    char *text = text_of(c, call, &len);

    if (text)
        sb__debug_line(c, call->end - call->start, text, len);
    free(text);
}

static int failed(struct sb_con_priv *c, const struct call *call, int rc)
{
    size_t len = 0;
    char *text = text_of(c, call, &len);

    if (call->op >= 0)
        sb_tally_add(&sb_rec_op_tally(call->rec, call->op)->errors, 1);
    complete_error(c, rc);
    rc = sb__con_error(c, call->what, text ? text : "", text ? len : 0);
    free(text);
    // The driver may have allocated a result.
    c->has_result = !c->lost;
    c->freed = false;
    c->statement = NULL;
    return rc;
}

static int end_call(struct sb_con_priv *c, struct call *call, int rc)
{
    call->end = call->rec || c->debug ? sb__now(c) : 0;
    if (SB_UNLIKELY(c->debug))
        debug_line(c, call);
    if (SB_UNLIKELY(rc))
        return failed(c, call, rc);
    if (call->op >= 0)
        sb__count_result(
            call->rec, call->op, &c->res, call->end - call->start, call->end);
    sb__con_result(c, NULL);
    c->doc_result = true;
    return 0;
}

int sb__doc_run(struct sb_con_priv *c, const uint8_t *body, size_t len,
    struct sb_doc_name *name)
{
    struct call call = {
        .what = "command", .body = body, .len = len, .rec = sb__rec(c), .op = -1
    };

    if (call.rec)
        call.op = op_of(c, call.rec, name, command_of(body));
    begin_call(c, &call);
    return end_call(
        c, &call, c->drv->doc->command(c->conn, body, len, &c->res, &c->err));
}

int sb_doc_command(
    struct sb_con *con, const uint8_t *body, size_t len, struct sb_doc_name *op)
{
    struct sb_con_priv *c = priv(con);
    int rc = sb__doc_begin(c);

    if (rc == 0)
        rc = sb__doc_check(c, body, len);
    return rc ? rc : sb__doc_run(c, body, len, op);
}

int sb_doc_transaction(
    struct sb_con *con, int step, const uint8_t *options, size_t len)
{
    static const char *const steps[] = { "begin", "commit", "abort" };
    struct sb_con_priv *c = priv(con);
    struct call call = { .what = "transaction", .op = -1 };
    int rc = sb__doc_begin(c);

    if (rc)
        return rc;
    if (!c->drv->doc->transaction)
        return sb__doc_usage(
            c, "the %s driver does not support transactions", c->drv->name);
    if (step < SB_DOC_BEGIN || step > SB_DOC_ABORT)
        return sb__doc_usage(c, "unknown step of a transaction: %d", step);
    if (options && !sb_bson_framed(options, len))
        return sb__doc_usage(
            c, "the options of a transaction are not a BSON document");
    call.text = steps[step];
    call.rec = sb__rec(c);
    if (call.rec)
        call.op = op_of(c, call.rec, NULL, call.text);
    begin_call(c, &call);
    return end_call(c, &call,
        c->drv->doc->transaction(
            c->conn, (enum sb_doc_step)step, options, len, &c->err));
}

// Results --------------------------------------------------------------------

int sb_doc_has(const struct sb_con *con)
{
    return priv(con)->drv->doc != NULL;
}

double sb_doc_nrows(const struct sb_con *con)
{
    return (double)priv(con)->res.nrows;
}

double sb_doc_affected(const struct sb_con *con)
{
    return (double)priv(con)->res.affected;
}

int sb_doc_next(struct sb_con *con, const uint8_t **doc, size_t *len)
{
    struct sb_con_priv *c = priv(con);
    int rc;

    if (SB_UNLIKELY(!c->doc_result || !c->has_result || !c->open)) {
        if (!c->drv->doc)
            return no_operations(c);
        return sb__doc_usage(c,
            "the result is no longer available: the command failed, the "
            "connection was closed, or it executed another statement");
    }
    rc = c->drv->doc->next(c->conn, &c->res, doc, len, &c->err);
    if (SB_LIKELY(rc >= 0))
        return rc;
    complete_error(c, rc);
    return sb__con_error(c, "next", "", 0);
}

const uint8_t *sb_doc_reply(struct sb_con *con, size_t *len)
{
    struct sb_con_priv *c = priv(con);

    *len = 0;
    return c->open && c->drv->doc ? c->drv->doc->reply(c->conn, len) : NULL;
}

double sb_doc_reply_number(struct sb_con *con, const char *name)
{
    size_t len;
    const uint8_t *doc = sb_doc_reply(con, &len);
    struct sb_elem e, one;
    struct sb_walk w;
    double n = 0;

    if (!doc || !sb_bson_find(doc, len, name, &e))
        return 0;
    if (e.type != SB_BSON_ARRAY)
        return sb_elem_number(&e);
    sb_walk_begin(&w, e.value, e.len);
    while (sb_walk_next(&w, &one) == 1)
        n++;
    return n;
}

// JSON -----------------------------------------------------------------------

static int json_failed(struct sb_con_priv *c)
{
    complete_error(c, c->err.code ? c->err.code : SB_EUSAGE);
    return sb__con_failed(c);
}

int sb_doc_from_json(struct sb_con *con, const char *json, size_t len,
    uint8_t **out, size_t *out_len)
{
    struct sb_con_priv *c = priv(con);

    *out = NULL;
    *out_len = 0;
    if (!c->drv->doc)
        return no_operations(c);
    sb_err_clear(&c->err);
    *out = c->drv->doc->from_json(json, len, out_len, &c->err);
    return *out ? 0 : json_failed(c);
}

int sb_doc_to_json(struct sb_con *con, const uint8_t *doc, size_t len,
    char **out, size_t *out_len)
{
    struct sb_con_priv *c = priv(con);

    *out = NULL;
    *out_len = 0;
    if (!c->drv->doc)
        return no_operations(c);
    if (!doc || !sb_bson_framed(doc, len))
        return sb__doc_usage(
            c, "the %zu bytes given are not a BSON document", len);
    sb_err_clear(&c->err);
    *out = c->drv->doc->to_json(doc, len, out_len, &c->err);
    return *out ? 0 : json_failed(c);
}

void sb_doc_free(void *memory)
{
    free(memory);
}

// Objects of connections -----------------------------------------------------

static void link_kept(struct sb__doc_kept **list, struct sb__doc_kept *k)
{
    k->next = *list;
    k->prev = list;
    if (k->next)
        k->next->prev = &k->next;
    *list = k;
}

void sb__doc_keep(struct sb_con_priv *c, struct sb__doc_kept *k)
{
    k->con = c;
    link_kept(&c->docs, k);
}

void sb__doc_unkeep(struct sb__doc_kept *k)
{
    *k->prev = k->next;
    if (k->next)
        k->next->prev = k->prev;
}

void sb__docs_orphan(struct sb_con_priv *c)
{
    while (c->docs) {
        struct sb__doc_kept *k = c->docs;

        sb__doc_unkeep(k);
        k->con = NULL;
        link_kept(&c->ctx->doc_orphans, k);
    }
}

void sb__docs_done(struct sb_db_ctx *ctx)
{
    while (ctx->doc_orphans)
        ctx->doc_orphans->free(ctx->doc_orphans);
    for (int i = 0; i < SB_DB_DOC_NAMES; i++) {
        while (ctx->doc_names[i]) {
            struct sb_doc_name *name = ctx->doc_names[i];

            ctx->doc_names[i] = name->next;
            free(name);
        }
    }
    ctx->ndoc_names = 0;
}

uint8_t *sb__bytes_room(struct sb__bytes *b, size_t more)
{
    size_t cap = b->cap * 2;
    uint8_t *grown;

    if (SB_LIKELY(more <= b->cap - b->len))
        return b->data + b->len;
    if (more > SIZE_MAX / 4 - b->len)
        return NULL;
    if (cap < b->len + more)
        cap = b->len + more;
    if (cap < 256)
        cap = 256;
    grown = realloc(b->data, cap);
    if (!grown)
        return NULL;
    b->data = grown;
    b->cap = cap;
    return grown + b->len;
}
