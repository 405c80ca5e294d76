// SPDX-License-Identifier: GPL-2.0-or-later
//
// The functions that the Lua modules call: commands, their results, JSON.
// compiled.c has compiled commands, writes.c bulks.
#include <stdarg.h>
#include <stdlib.h>

#include "drivers/mongodb/documents.h"

struct sbmo_conn *sbmo_doc_conn(const struct sb_con *con)
{
    return (struct sbmo_conn *)con->host->conn(con, &sb_driver);
}

int sbmo_doc_ready(struct sb_con *con)
{
    return con ? con->host->ready(con, &sb_driver) : SB_EUSAGE;
}

// Sets the error of the connection, which is not counted, and returns its code.
static int fail_con(struct sb_con *con, const struct sb_err *err)
{
    return con->host->fail(con, NULL, NULL, err);
}

int sbmo_doc_usage(struct sb_con *con, const char *fmt, ...)
{
    struct sb_err err = { .code = SB_EUSAGE };
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(err.msg, sizeof(err.msg), fmt, ap);
    va_end(ap);
    return fail_con(con, &err);
}

int sbmo_doc_no_memory(struct sb_con *con)
{
    struct sb_err err = { 0 };

    sb_err_no_memory(&err);
    return fail_con(con, &err);
}

int sbmo_doc_check(struct sb_con *con, const uint8_t *body, size_t len)
{
    if (!body || !sb_bson_framed(body, len))
        return sbmo_doc_usage(con,
            "the %zu bytes given are not a BSON document, which begins with "
            "its length and ends with a NUL",
            len);
    if (len == SB_BSON_EMPTY || body[5] == '\0')
        return sbmo_doc_usage(con,
            "the first key of a command is its name; this document has none");
    return 0;
}

// Commands -------------------------------------------------------------------

static enum sb_own_kind mo_kind_of(const char *command)
{
    static const struct {
        char name[16];
        enum sb_own_kind kind;
    } known[] = {
        { "find", SB_OWN_READ },
        { "aggregate", SB_OWN_READ },
        { "distinct", SB_OWN_READ },
        { "count", SB_OWN_READ },
        { "getMore", SB_OWN_READ },
        { "insert", SB_OWN_WRITE },
        { "update", SB_OWN_CHANGE },
        { "delete", SB_OWN_CHANGE },
        { "findAndModify", SB_OWN_CHANGE },
        { "findandmodify", SB_OWN_CHANGE },
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(command, known[i].name) == 0)
            return known[i].kind;
    }
    return SB_OWN_OTHER;
}

struct run {
    const struct sbmo_doc_command *command;
    bool sent;
};

static int mo_run_command(
    struct sb_conn *conn, void *arg, struct sb_result *res, struct sb_err *err)
{
    struct run *run = arg;
    const struct sbmo_doc_command *c = run->command;
    int rc = sbmo_command(conn, c->body, c->len, res, err);

    run->sent = true;
    sbmo_own(conn)->affected = res->affected;
    return rc;
}

static char *text_of_command(struct sb_conn *conn, void *arg, size_t *len)
{
    const struct sbmo_doc_command *c = ((const struct run *)arg)->command;

    return sbmo_doc_text(c->body, c->len, len);
}

int sbmo_doc_run(
    struct sb_con *con, const struct sbmo_doc_command *command, bool *sent)
{
    const char *name = (const char *)command->body + 5;
    struct run run = { .command = command };
    const struct sb_own_call call = { .driver = &sb_driver,
        .what = "command",
        .op = command->op ? command->op : name,
        .kind = mo_kind_of(name),
        .run = mo_run_command,
        .text = text_of_command,
        .arg = &run };
    int rc;

    // As sbmo_doc_check() says.
    assert(command->len > SB_BSON_EMPTY && *name);
    rc = con->host->call(con, &call);
    if (sent)
        *sent = run.sent;
    return rc;
}

// The document may be in the buffer of a Lua state, where other users write
// while the call waits: replaces it by a copy, which the caller frees. *copy is
// NULL if it needs none. 0 or SB_ENOMEM.
static int keep(
    struct sb_con *con, const uint8_t **doc, size_t len, uint8_t **copy)
{
    *copy = NULL;
    if (!*doc || !con->host->shared())
        return 0;
    *copy = malloc(len);
    if (!*copy)
        return sbmo_doc_no_memory(con);
    memcpy(*copy, *doc, len);
    *doc = *copy;
    return 0;
}

int sbmo_doc_command(struct sb_con *con, void *arg)
{
    struct sbmo_doc_command command = *(struct sbmo_doc_command *)arg;
    uint8_t *copy = NULL;
    int rc = sbmo_doc_check(con, command.body, command.len);

    if (rc == 0)
        rc = keep(con, &command.body, command.len, &copy);
    if (rc == 0)
        rc = sbmo_doc_run(con, &command, NULL);
    free(copy);
    return rc;
}

// A step of a transaction.

static const char *const steps[] = { "begin", "commit", "abort" };

static int run_step(
    struct sb_conn *conn, void *arg, struct sb_result *res, struct sb_err *err)
{
    return sbmo_transaction(conn, arg, err);
}

static char *text_of_step(struct sb_conn *conn, void *arg, size_t *len)
{
    const char *step = steps[((const struct sbmo_doc_transaction *)arg)->step];

    *len = strlen(step);
    return strdup(step);
}

int sbmo_doc_transaction(struct sb_con *con, void *arg)
{
    struct sbmo_doc_transaction t = *(struct sbmo_doc_transaction *)arg;
    struct sb_own_call call = { .driver = &sb_driver,
        .what = "transaction",
        .kind = SB_OWN_OTHER,
        .run = run_step,
        .text = text_of_step,
        .arg = &t };
    uint8_t *copy;
    int rc;

    if (t.step < SBMO_DOC_BEGIN || t.step > SBMO_DOC_ABORT)
        return sbmo_doc_usage(con, "unknown step of a transaction: %d", t.step);
    if (t.options && !sb_bson_framed(t.options, t.len))
        return sbmo_doc_usage(
            con, "the options of a transaction are not a BSON document");
    rc = keep(con, &t.options, t.len, &copy);
    if (rc)
        return rc;
    call.op = steps[t.step];
    rc = con->host->call(con, &call);
    free(copy);
    return rc;
}

// Results --------------------------------------------------------------------

double sbmo_doc_nrows(const struct sb_con *con)
{
    const struct sb_result *res = con->host->result(con, &sb_driver);

    return res ? (double)res->nrows : 0;
}

double sbmo_doc_affected(const struct sb_con *con)
{
    const struct sbmo_conn *c = sbmo_doc_conn(con);

    return c ? (double)c->affected : 0;
}

int sbmo_doc_next(struct sb_con *con, const uint8_t **doc, size_t *len)
{
    struct sb_result *res = con->host->result(con, &sb_driver);
    struct sb_err err = { 0 };
    int rc;

    if (!res)
        return sbmo_doc_usage(con,
            "the result is no longer available: the command failed, the "
            "connection was closed, or it executed another statement");
    rc = sbmo_next(con->host->conn(con, &sb_driver), res, doc, len, &err);
    if (rc >= 0)
        return rc;
    err.code = rc;
    return con->host->fail(con, "next", NULL, &err);
}

const uint8_t *sbmo_doc_reply(const struct sb_con *con, size_t *len)
{
    struct sb_conn *c = con->host->conn(con, &sb_driver);

    *len = 0;
    return c ? sbmo_reply(c, len) : NULL;
}

double sbmo_doc_reply_number(const struct sb_con *con, const char *name)
{
    size_t len;
    const uint8_t *doc = sbmo_doc_reply(con, &len);
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

int sbmo_doc_from_json(struct sb_con *con, const char *json, size_t len,
    uint8_t **out, size_t *out_len)
{
    struct sb_err err = { 0 };

    *out_len = 0;
    *out = sbmo_from_json(json, len, out_len, &err);
    return *out ? 0 : fail_con(con, &err);
}

int sbmo_doc_to_json(struct sb_con *con, const uint8_t *doc, size_t len,
    char **out, size_t *out_len)
{
    struct sb_err err = { 0 };

    *out = NULL;
    *out_len = 0;
    if (!doc || !sb_bson_framed(doc, len))
        return sbmo_doc_usage(
            con, "the %zu bytes given are not a BSON document", len);
    *out = sbmo_to_json(doc, len, out_len, &err);
    return *out ? 0 : fail_con(con, &err);
}

void sbmo_doc_free(void *memory)
{
    free(memory);
}

// Commands as text, for errors and for --db-debug -----------------------------

// Maximum bytes of a command that are converted to JSON: the text is longer
// than any message.
#define PART_MAX 4096u

// Appends a complete document with as many elements as fit. Returns false if
// some were left out.
static bool copy_part(
    struct sb_buf *out, const uint8_t *doc, size_t len, unsigned depth)
{
    size_t at = out->len;
    struct sb_walk w;
    struct sb_elem e;
    int more;

    sb_walk_begin(&w, doc, len);
    sb_buf_add(out, doc, 4);
    while ((more = sb_walk_next(&w, &e)) == 1) {
        size_t head = e.key_len + 2;

        if (out->len + head + e.len <= PART_MAX) {
            sb_buf_add(out, e.value - head, head + e.len);
            continue;
        }
        if ((e.type == SB_BSON_DOCUMENT || e.type == SB_BSON_ARRAY) &&
            depth < SB_BSON_DEPTH && out->len + head <= PART_MAX) {
            sb_buf_add(out, e.value - head, head);
            copy_part(out, e.value, e.len, depth + 1);
        }
        break;
    }
    sb_buf_add(out, "", 1);
    if (!out->failed)
        sb_put32((uint8_t *)out->data + at, (uint32_t)(out->len - at));
    return more == 0;
}

static char *unreadable(size_t len, size_t *n)
{
    char text[64], *out;

    *n = (size_t)snprintf(text, sizeof(text), "(a command of %zu bytes)", len);
    out = malloc(*n + 1);
    if (out)
        memcpy(out, text, *n + 1);
    return out;
}

char *sbmo_doc_text(const uint8_t *body, size_t len, size_t *n)
{
    struct sb_buf part;
    struct sb_err ignored;
    bool whole = true;
    char *json, *longer;

    sb_buf_init(&part, 0);
    if (len > PART_MAX && sb_bson_framed(body, len)) {
        whole = copy_part(&part, body, len, 1);
        body = (const uint8_t *)part.data;
        len = part.failed ? 0 : part.len;
    }
    json = len ? sbmo_to_json(body, len, n, &ignored) : NULL;
    sb_buf_done(&part);
    if (!json)
        return unreadable(len, n);
    if (whole)
        return json;
    longer = realloc(json, *n + sizeof("..."));
    if (!longer)
        return json;
    memcpy(longer + *n, "...", sizeof("..."));
    *n += 3;
    return longer;
}
