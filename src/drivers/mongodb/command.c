// SPDX-License-Identifier: GPL-2.0-or-later
//
// One command: its server and its options, its reply, the batches of its
// cursor.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "db/driver.h"
#include "drivers/mongodb/internal.h"

#define NONE  SB_RESULT_NONE
#define ROWS  SB_RESULT_ROWS
#define WRITE SB_RESULT_WRITE

// The first entry is for all commands without one of their own.
static const struct sbmo_kind table[] = {
    { "", SBMO_OTHER, SBMO_REPLY, NONE, NULL, false, false },
    { "find", SBMO_READ, SBMO_CURSOR, ROWS, NULL, true, false },
    { "insert", SBMO_WRITE, SBMO_REPLY, WRITE, "documents", false, true },
    { "update", SBMO_WRITE, SBMO_REPLY, WRITE, "updates", false, true },
    { "delete", SBMO_WRITE, SBMO_REPLY, WRITE, "deletes", false, true },
    { "findAndModify", SBMO_WRITE, SBMO_REPLY, WRITE, NULL, false, true },
    { "aggregate", SBMO_READ, SBMO_CURSOR, ROWS, NULL, true, false },
    { "count", SBMO_READ, SBMO_COUNT, ROWS, NULL, true, false },
    { "distinct", SBMO_READ, SBMO_VALUES, ROWS, NULL, true, false },
    { "listIndexes", SBMO_READ, SBMO_CURSOR, ROWS, NULL, false, false },
    { "listCollections", SBMO_READ, SBMO_CURSOR, ROWS, NULL, false, false },
    { "create", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "createIndexes", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "drop", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "dropDatabase", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "dropIndexes", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "collMod", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "renameCollection", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
    { "convertToCapped", SBMO_WRITE, SBMO_REPLY, NONE, NULL, false, true },
};

// True for an aggregation that writes.
static const struct sbmo_kind writing = { "aggregate", SBMO_READWRITE,
    SBMO_CURSOR, WRITE, NULL, true, true };

static const struct sbmo_kind *mo_find_kind(const char *name)
{
    for (size_t i = 1; i < sizeof(table) / sizeof(table[0]); i++) {
        // Servers have always accepted this one in lower case as well.
        if (strcmp(name, table[i].name) == 0 ||
            (strcmp(name, "findandmodify") == 0 &&
                strcasecmp(name, table[i].name) == 0))
            return &table[i];
    }
    return &table[0];
}

static const char *first_key(const struct sb_elem *doc)
{
    struct sb_walk w;
    struct sb_elem e;

    sb_walk_into(&w, doc);
    return sb_walk_more(&w, &e) ? e.key : "";
}

static void look_at_pipeline(
    struct sbmo_command *c, const struct sb_elem *pipeline)
{
    struct sb_walk w;
    struct sb_elem e;
    const char *key = "";

    sb_walk_into(&w, pipeline);
    while (sb_walk_more(&w, &e)) {
        key = first_key(&e);
        if (strcmp(key, "$changeStream") == 0)
            c->tailable = true;
    }
    if (strcmp(key, "$out") == 0 || strcmp(key, "$merge") == 0)
        c->kind = &writing;
}

// Reads an element of "updates" or "deletes".
static bool is_multi(const struct sb_elem *statement)
{
    struct sb_walk w;
    struct sb_elem e;
    bool multi = false;

    sb_walk_into(&w, statement);
    while (sb_walk_more(&w, &e)) {
        if (sb_elem_is(&e, "multi"))
            multi = sb_elem_int(&e) != 0;
        else if (sb_elem_is(&e, "limit"))
            multi = sb_elem_int(&e) != 1;
    }
    return multi;
}

static void look_at_statements(
    struct sbmo_command *c, const struct sb_elem *list)
{
    bool plain = strcmp(c->kind->writes, "documents") == 0;
    struct sb_walk w;
    struct sb_elem e;

    sb_walk_into(&w, list);
    while (sb_walk_more(&w, &e)) {
        c->statements++;
        if (!plain && is_multi(&e))
            c->multi = true;
    }
}

static int64_t batch_size(const struct sb_elem *cursor)
{
    struct sb_walk w;
    struct sb_elem e;

    sb_walk_into(&w, cursor);
    while (sb_walk_more(&w, &e)) {
        if (sb_elem_is(&e, "batchSize"))
            return sb_elem_int(&e);
    }
    return 0;
}

static void look_at(struct sbmo_command *c, const struct sb_elem *e)
{
    if (c->kind->writes && sb_elem_is(e, c->kind->writes))
        look_at_statements(c, e);
    else if (sb_elem_is(e, "pipeline"))
        look_at_pipeline(c, e);
    else if (sb_elem_is(e, "batchSize"))
        c->batch = sb_elem_int(e);
    else if (sb_elem_is(e, "cursor"))
        c->batch = batch_size(e);
    else if (sb_elem_is(e, "tailable"))
        c->tailable = sb_elem_int(e) != 0;
    else if (sb_elem_is(e, "readConcern"))
        c->own_read_concern = true;
    else if (sb_elem_is(e, "writeConcern"))
        c->own_write_concern = true;
    else if (sb_elem_is(e, "$db"))
        c->db = sb_elem_text(e, NULL);
}

bool sbmo_look(struct sbmo_command *c, const uint8_t *body, size_t len)
{
    struct sb_walk w;
    struct sb_elem e;

    *c = (struct sbmo_command){ .kind = &table[0], .name = "" };
    if (!sb_walk_open(&w, body, len) || !sb_walk_more(&w, &e))
        return false;
    c->name = e.key;
    c->kind = mo_find_kind(e.key);
    while (sb_walk_more(&w, &e))
        look_at(c, &e);
    return true;
}

// Sending --------------------------------------------------------------------

static bool unacknowledged(
    const struct sbmo_conn *c, const struct sbmo_command *cmd)
{
    if (cmd->own_write_concern || c->loading)
        return false;
    return c->env->unacknowledged && cmd->kind->write_concern &&
           cmd->kind->writes && !c->in_trx;
}

// Selects the options to send. Fields of the command itself take precedence.
static unsigned mo_select_options(
    const struct sbmo_conn *c, const struct sbmo_command *cmd)
{
    const struct sbmo_kind *k = cmd->kind;
    unsigned with = c->session ? SBMO_WITH_SESSION : 0;

    if (c->in_trx)
        return with;
    if (k->read_concern && !cmd->own_read_concern)
        with |= SBMO_WITH_READ;
    // Creating a collection is always acknowledged.
    if (k->write_concern && !cmd->own_write_concern &&
        (!c->env->unacknowledged || (k->writes && !c->loading)))
        with |= SBMO_WITH_WRITE;
    if (unacknowledged(c, cmd))
        with &= ~SBMO_WITH_SESSION;
    return with;
}

static bool transmit_once(struct sbmo_conn *c, const struct sbmo_command *cmd,
    const bson_t *body, const bson_t *opts, bson_t *reply, bson_error_t *e)
{
    const char *db = cmd->db ? cmd->db : c->env->db;
    const mongoc_read_prefs_t *prefs = c->in_trx ? NULL : c->env->prefs;

    switch (cmd->kind->way) {
    case SBMO_READ:
        return mongoc_client_read_command_with_opts(
            c->client, db, body, prefs, opts, reply, e);
    case SBMO_WRITE:
        return mongoc_client_write_command_with_opts(
            c->client, db, body, opts, reply, e);
    case SBMO_READWRITE:
        return mongoc_client_read_write_command_with_opts(
            c->client, db, body, NULL, opts, reply, e);
    case SBMO_OTHER:
    default:
        return mongoc_client_command_with_opts(
            c->client, db, body, NULL, opts, reply, e);
    }
}

static bool mo_transmit(struct sbmo_conn *c, const struct sbmo_command *cmd,
    const bson_t *body, const bson_t *opts, bson_t *reply, bson_error_t *e)
{
    struct sbmo_search search = { .until = 0 };
    bool fine = transmit_once(c, cmd, body, opts, reply, e);

    while (!fine && sbmo_look_again(c, &search, e)) {
        bson_destroy(reply);
        fine = transmit_once(c, cmd, body, opts, reply, e);
    }
    return fine;
}

// True for a write that servers recognize by its number, so that it can be sent
// again when it is unknown whether the first one arrived. The library does this
// itself for findAndModify.
static bool numbered(const struct sbmo_conn *c, const struct sbmo_command *cmd)
{
    return c->with_number && cmd->kind->writes && !cmd->multi && !c->in_trx &&
           !cmd->own_write_concern && !c->env->unacknowledged;
}

static bool send_numbered(struct sbmo_conn *c, const struct sbmo_command *cmd,
    const bson_t *body, bson_t *reply, bson_error_t *e)
{
    struct sbmo_complaint p;
    bson_iter_t at;
    bool fine;

    if (bson_iter_init_find(&at, c->with_number, "txnNumber"))
        bson_iter_overwrite_int64(&at, ++c->number);
    fine = mo_transmit(c, cmd, body, c->with_number, reply, e);
    sbmo_read_complaint(&p, bson_get_data(reply), reply->len);
    if ((fine || e->domain != MONGOC_ERROR_STREAM) && !p.retryable)
        return fine;
    if (sbmo_canceled(c))
        return fine;
    bson_destroy(reply);
    return mo_transmit(c, cmd, body, c->with_number, reply, e);
}

// The error in a reply that is "ok": a write failed, or was not acknowledged as
// asked. Commands that are no writes have them too, such as an aggregate with
// $out or $merge, in each of its batches.
static int check_reply(const bson_t *reply, struct sb_err *err)
{
    struct sbmo_complaint p;

    return sbmo_read_complaint(&p, bson_get_data(reply), reply->len)
               ? sbmo_set_complaint(&p, err)
               : 0;
}

// Sends a command and receives its (first) reply. 0 or SB_E*.
static int sbmo_run(struct sbmo_conn *c, const struct sbmo_command *cmd,
    const bson_t *body, struct sb_err *err)
{
    bson_t *reply = sbmo_result_batch(&c->result);
    bson_error_t e;
    bool fine;

    if (!reply)
        return sb_err_no_memory(err);
    e.domain = e.code = 0;
    e.message[0] = '\0';
    fine = numbered(c, cmd)
               ? send_numbered(c, cmd, body, reply, &e)
               : mo_transmit(c, cmd, body, c->with[mo_select_options(c, cmd)],
                     reply, &e);
    c->has_reply = reply->len > 5;
    if (!fine)
        return sbmo_fail(c, &e, c->has_reply ? reply : NULL, err);
    return c->has_reply ? check_reply(reply, err) : 0;
}

// Cursors --------------------------------------------------------------------

// The id of the server that answered last, which has the rest of a cursor.
static uint32_t server_id(struct sbmo_conn *c)
{
    const char *last = sbmo_stream_last(c);
    uint32_t id = 0;
    size_t n = 0;
    mongoc_server_description_t **all = mongoc_client_get_server_descriptions(
        c->client, &n);

    for (size_t i = 0; i < n && last; i++) {
        if (strcmp(mongoc_server_description_host(all[i])->host_and_port,
                last) == 0)
            id = mongoc_server_description_id(all[i]);
    }
    mongoc_server_descriptions_destroy_all(all, n);
    return id;
}

// Options of commands for a cursor: the session and the server.
static bson_t *cursor_opts(struct sbmo_conn *c)
{
    bson_t *o = bson_copy(c->with[c->session ? SBMO_WITH_SESSION : 0]);
    uint32_t id = server_id(c);

    if (id)
        BSON_APPEND_INT32(o, "serverId", (int32_t)id);
    return o;
}

static void mo_split(const struct sbmo_cursor *at, char *db, size_t size,
    const char **collection)
{
    const char *ns = sb_elem_text(&at->ns, NULL), *dot = strchr(ns, '.');

    snprintf(db, size, "%.*s", (int)(dot ? dot - ns : 0), ns);
    *collection = dot ? dot + 1 : "";
}

static int get_more(struct sbmo_conn *c, const struct sbmo_command *cmd,
    const struct sbmo_cursor *at, const bson_t *opts, struct sb_err *err)
{
    static const struct sbmo_kind kind = { "getMore", SBMO_READ, SBMO_CURSOR,
        SB_RESULT_ROWS, NULL, false, false };
    struct sbmo_command more = { .kind = &kind, .name = "getMore" };
    const char *collection;
    char db[256];
    bson_error_t e = { 0 };
    bson_t body = BSON_INITIALIZER, *reply;
    int rc = 0;

    mo_split(at, db, sizeof(db), &collection);
    more.db = db;
    BSON_APPEND_INT64(&body, "getMore", at->id);
    BSON_APPEND_UTF8(&body, "collection", collection);
    if (cmd->batch > 0)
        BSON_APPEND_INT64(&body, "batchSize", cmd->batch);
    reply = sbmo_result_batch(&c->result);
    if (!reply)
        rc = sb_err_no_memory(err);
    else if (!mo_transmit(c, &more, &body, opts, reply, &e))
        rc = sbmo_fail(c, &e, reply->len > 5 ? reply : NULL, err);
    else
        rc = check_reply(reply, err);
    bson_destroy(&body);
    return rc;
}

// Errors are ignored: the server closes idle cursors itself.
static void kill_cursor(
    struct sbmo_conn *c, const struct sbmo_cursor *at, const bson_t *opts)
{
    const char *collection;
    char db[256];
    bson_error_t e;
    bson_t body = BSON_INITIALIZER, list = BSON_INITIALIZER, reply;

    mo_split(at, db, sizeof(db), &collection);
    BSON_APPEND_UTF8(&body, "killCursors", collection);
    BSON_APPEND_INT64(&list, "0", at->id);
    BSON_APPEND_ARRAY(&body, "cursors", &list);
    mongoc_client_command_with_opts(
        c->client, db, &body, NULL, opts, &reply, &e);
    bson_destroy(&reply);
    bson_destroy(&list);
    bson_destroy(&body);
}

static bool mo_is_empty(const struct sbmo_cursor *at)
{
    return at->documents.len <= 5;
}

// Receives all batches. A tailable cursor ends with the documents that exist
// now.
static int drain(
    struct sbmo_conn *c, const struct sbmo_command *cmd, struct sb_err *err)
{
    struct sbmo_cursor at;
    bson_t *opts = NULL;
    int rc = 0;

    while (rc == 0 && sbmo_result_cursor(&c->result, c->result.n - 1, &at) &&
           at.id != 0) {
        if (!opts)
            opts = cursor_opts(c);
        if (cmd->tailable && (c->result.n > 1 || !mo_is_empty(&at)) &&
            mo_is_empty(&at)) {
            kill_cursor(c, &at, opts);
            break;
        }
        rc = get_more(c, cmd, &at, opts, err);
    }
    if (opts)
        bson_destroy(opts);
    return rc;
}

// Documents that a write changed: the reply's count, or without a reply the
// number sent.
static uint64_t count_affected(
    const struct sbmo_conn *c, const struct sbmo_command *cmd, int rc)
{
    const bson_t *reply = c->result.batch[0];
    const uint8_t *doc = bson_get_data(reply);
    struct sb_elem e, last;
    struct sb_walk w;
    int64_t n = 0;

    if (!c->has_reply)
        return rc ? 0 : cmd->statements;
    if (cmd->kind->writes) {
        if (sb_bson_find(doc, reply->len, "n", &e))
            n = sb_elem_int(&e);
    } else if (sb_bson_find(doc, reply->len, "lastErrorObject", &last)) {
        sb_walk_into(&w, &last);
        while (sb_walk_more(&w, &e)) {
            if (sb_elem_is(&e, "n"))
                n = sb_elem_int(&e);
        }
    }
    return n > 0 ? (uint64_t)n : 0;
}

int sbmo_command(struct sb_conn *conn, const uint8_t *body, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    struct sbmo_command cmd;
    bson_t doc;
    int rc;

    sbmo_result_clear(&c->result);
    c->has_reply = false;
    if (!sbmo_look(&cmd, body, len) || !bson_init_static(&doc, body, len))
        return sb_err_set(err, SB_EQUERY,
            "a command is a document whose first field is its name; this "
            "document has no fields");
    rc = sbmo_begin(c, err);
    if (rc)
        return rc;
    rc = sbmo_run(c, &cmd, &doc, err);
    c->result.shape = cmd.kind->shape;
    res->kind = cmd.kind->result;
    if (rc == 0 && cmd.kind->shape == SBMO_CURSOR)
        rc = drain(c, &cmd, err);
    if (res->kind == SB_RESULT_WRITE && c->result.n)
        res->affected = count_affected(c, &cmd, rc);
    if (rc == 0)
        rc = sbmo_result_ready(&c->result, res, err);
    sbmo_end(c);
    return rc;
}
