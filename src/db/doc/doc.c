// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs commands of document databases: times and counts them, handles their
// errors and their results.
#include <stdlib.h>

#include "db/doc/doc.h"
#include "db/op.h"
#include "kit/hash.h"

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

// Checks ---------------------------------------------------------------------

static int no_operations(struct sb_con_priv *c)
{
    return sb__error_usage(
        c, "the %s driver does not support documents", c->drv->name);
}

int sb__doc_ready(struct sb_con_priv *c)
{
    if (c->pub.error)
        sb__error_clear(c);
    if (!c->drv->doc)
        return no_operations(c);
    if (c->state > SB__CON_CLOSED)
        return 0;
    sb_log(SB_LOG_ALERT, "attempt to use an already closed connection");
    return sb__error_usage(c, "the connection is closed");
}

int sb__doc_begin(struct sb_con_priv *c)
{
    int rc = sb__call_ready(c);

    if (SB_UNLIKELY(rc))
        return rc;
    if (SB_UNLIKELY(!c->drv->doc))
        return no_operations(c);
    if (SB_UNLIKELY(c->pipe.state == SB__PIPE_OPEN))
        return sb__error_usage(
            c, "a pipeline is open; it does not support document commands");
    return 0;
}

int sb__doc_check(struct sb_con_priv *c, const uint8_t *body, size_t len)
{
    if (SB_UNLIKELY(!body || !sb_bson_framed(body, len)))
        return sb__error_usage(c,
            "the %zu bytes given are not a BSON document, which begins with "
            "its length and ends with a NUL",
            len);
    if (SB_UNLIKELY(len == SB_BSON_EMPTY || body[5] == '\0'))
        return sb__error_usage(c,
            "the first key of a command is its name; this document has none");
    return 0;
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

static void free_names(struct sb__child *k)
{
    struct sb__doc_names *names = (struct sb__doc_names *)k;

    sb__child_unlink(k);
    for (int i = 0; i < SB__DOC_BUCKETS; i++) {
        while (names->bucket[i]) {
            struct sb_doc_name *name = names->bucket[i];

            names->bucket[i] = name->next;
            free(name);
        }
    }
    free(names);
}

// The names of a context live as long as it does. NULL: out of memory.
static struct sb__doc_names *names_of(struct sb_db_ctx *ctx)
{
    static const struct sb__child_ops ops = { .free = free_names };

    if (ctx->doc_names)
        return ctx->doc_names;
    ctx->doc_names = calloc(1, sizeof(*ctx->doc_names));
    if (ctx->doc_names) {
        ctx->doc_names->child.ops = &ops;
        sb__child_link(&ctx->orphans, &ctx->doc_names->child);
    }
    return ctx->doc_names;
}

static struct sb_doc_name **bucket_of(
    struct sb__doc_names *names, const char *text)
{
    return &names->bucket[sb_hash_text(text) % SB__DOC_BUCKETS];
}

static struct sb_doc_name *find_name(
    struct sb__doc_names *names, const char *text)
{
    struct sb_doc_name *name = *bucket_of(names, text);

    while (name && strcmp(name->text, text) != 0)
        name = name->next;
    return name;
}

// Returns the name, which is added if it is new. NULL: out of memory.
static struct sb_doc_name *name_of(struct sb_db_ctx *ctx, const char *text)
{
    struct sb__doc_names *names = names_of(ctx);
    struct sb_doc_name **list, *name;
    size_t len;

    if (!names)
        return NULL;
    name = find_name(names, text);
    if (name)
        return name;
    list = bucket_of(names, text);
    len = strlen(text);
    name = malloc(sizeof(*name) + len + 1);
    if (!name)
        return NULL;
    name->stats = NULL;
    name->op = -1;
    memcpy(name->text, text, len + 1);
    name->next = *list;
    *list = name;
    names->n++;
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
        struct sb__doc_names *names = c->ctx->doc_names;
        bool many = names && names->n >= NAMES_MAX &&
                    !find_name(names, command);

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

// What a call of the driver executes.
struct content {
    const char *what;
    const uint8_t *body; // NULL: a step of a transaction
    size_t len;
    const char *step;
};

static char *text_of(
    struct sb_con_priv *c, const struct content *content, size_t *len)
{
    char *text;

    if (content->body)
        return sb__doc_text(c, content->body, content->len, len);
    text = strdup(content->step);
    *len = text ? strlen(text) : 0;
    return text;
}

// Ends a call with the text of the command, for the log.
static int end_with_text(
    struct sb__call call, const struct content *content, int rc)
{
    struct sb__call_text t = { .what = content->what, .sql = "" };
    char *text = text_of(call.con, content, &t.len);

    if (text)
        t.sql = text;
    else
        t.len = 0;
    rc = sb__call_end(call, rc, &t);
    free(text);
    return rc;
}

static int end_call(
    struct sb__call *call, const struct content *content, int rc)
{
    struct sb_con_priv *c = call->con;

    if (!sb__call_ends_well(call, rc))
        rc = end_with_text(*call, content, rc);
    if (SB_UNLIKELY(rc)) { // the driver may have allocated a result
        c->outcome = sb__con_lost(c) ? SB__OUTCOME_NONE : SB__OUTCOME_DROPPED;
        return rc;
    }
    sb__result_new(c, NULL);
    c->outcome = SB__OUTCOME_DOCS;
    return 0;
}

int sb__doc_run(struct sb_con_priv *c, const uint8_t *body, size_t len,
    struct sb_doc_name *name)
{
    const struct content content = { "command", body, len, NULL };
    struct sb_rec *rec = sb__rec(c);
    struct sb__call call = sb__call_begin(
        c, rec, rec ? op_of(c, rec, name, command_of(body)) : -1);

    // As sb__doc_check() says.
    assert(c->drv->doc && len > SB_BSON_EMPTY && *command_of(body));
    return end_call(&call, &content,
        c->drv->doc->command(c->conn, body, len, &c->res, &c->err));
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
    struct content content = { .what = "transaction" };
    struct sb_rec *rec = sb__rec(c);
    struct sb__call call;
    int rc = sb__doc_begin(c);

    if (rc)
        return rc;
    if (!c->drv->doc->transaction)
        return sb__error_usage(
            c, "the %s driver does not support transactions", c->drv->name);
    if (step < SB_DOC_BEGIN || step > SB_DOC_ABORT)
        return sb__error_usage(c, "unknown step of a transaction: %d", step);
    if (options && !sb_bson_framed(options, len))
        return sb__error_usage(
            c, "the options of a transaction are not a BSON document");
    content.step = steps[step];
    call = sb__call_begin(c, rec, rec ? op_of(c, rec, NULL, steps[step]) : -1);
    return end_call(&call, &content,
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

    if (SB_UNLIKELY(c->outcome != SB__OUTCOME_DOCS)) {
        if (!c->drv->doc)
            return no_operations(c);
        return sb__error_usage(c,
            "the result is no longer available: the command failed, the "
            "connection was closed, or it executed another statement");
    }
    rc = c->drv->doc->next(c->conn, &c->res, doc, len, &c->err);
    if (SB_LIKELY(rc >= 0))
        return rc;
    sb__call_complete_error(c, rc);
    return sb__error_report(c, "next", "", 0);
}

const uint8_t *sb_doc_reply(struct sb_con *con, size_t *len)
{
    struct sb_con_priv *c = priv(con);

    *len = 0;
    return sb__con_connected(c) && c->drv->doc
               ? c->drv->doc->reply(c->conn, len)
               : NULL;
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
    sb__call_complete_error(c, c->err.code ? c->err.code : SB_EUSAGE);
    return sb__error_show(c);
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
        return sb__error_usage(
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

void sb__doc_orphan(struct sb__child *k)
{
    struct sb_db_ctx *ctx = k->con->ctx;

    assert(k->ops->free); // what sb__children_free() calls for it
    sb__child_remove(k);
    sb__child_link(&ctx->orphans, k);
}
