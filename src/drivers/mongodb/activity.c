// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the sessions of the server are doing: the command currentOp.
#include "drivers/mongodb/internal.h"

// A document in the list of operations.
struct doc {
    const uint8_t *at;
    size_t len;
};

static bool find(const struct doc *d, const char *key, struct sb_elem *e)
{
    return sb_bson_find(d->at, d->len, key, e);
}

static const char *text_in(const struct doc *d, const char *key)
{
    struct sb_elem e;

    return find(d, key, &e) ? sb_elem_text(&e, NULL) : "";
}

static bool is_true(const struct doc *d, const char *key)
{
    struct sb_elem e;

    return find(d, key, &e) && e.type == SB_BSON_BOOL && e.value[0] != 0;
}

// The name of the command, as the operations of scripts have it. For parts of
// a write command, the server shows the part and the kind.
static const char *name_of(const struct doc *op)
{
    static const char *const kinds[][2] = { { "update", "update" },
        { "remove", "delete" }, { "insert", "insert" },
        { "getmore", "getMore" } };
    const char *kind = text_in(op, "op");
    struct sb_elem e, first;
    struct sb_walk w;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i][0], kind) == 0)
            return kinds[i][1];
    }
    if (!find(op, "command", &e))
        return "";
    sb_walk_into(&w, &e);
    if (!sb_walk_more(&w, &first))
        return "";
    if (strcmp(first.key, "commitTransaction") == 0)
        return "commit";
    return strcmp(first.key, "abortTransaction") == 0 ? "abort" : first.key;
}

// Commands by which clients, this one among them, ask the server about itself.
// Libraries wait for changes in one of them all the time.
static bool is_question(const char *name)
{
    static const char *const questions[] = { "currentOp", "serverStatus",
        "dbStats", "buildInfo", "hello", "isMaster", "ismaster", "ping" };
    size_t i = 0;

    while (i < sizeof(questions) / sizeof(questions[0]) &&
           strcmp(questions[i], name) != 0)
        i++;
    return i < sizeof(questions) / sizeof(questions[0]);
}

static void set_wait(const struct doc *op, struct sb_activity *a)
{
    struct sb_elem e;

    if (is_true(op, "waitingForLock")) {
        a->wait_class = "Lock";
    } else if (is_true(op, "waitingForFlowControl")) {
        a->wait_class = "Other";
        a->event = "flow control";
    } else if (find(op, "waitingForLatch", &e) && e.type == SB_BSON_DOCUMENT) {
        const struct doc latch = { e.value, e.len };

        a->wait_class = "Latch";
        a->event = text_in(&latch, "captureName");
    } else if (find(op, "currentQueue", &e) && e.type == SB_BSON_DOCUMENT) {
        const struct doc queue = { e.value, e.len };

        a->wait_class = "Queue";
        a->event = text_in(&queue, "name");
    }
}

// *listed: this question is in the list.
static int take_operation(const struct doc *op, const char *application,
    bool *listed, const struct sb_activity_sink *to)
{
    const char *type = text_in(op, "type"), *name = name_of(op);
    struct sb_activity a = { .wait_class = "CPU", .event = "", .text = name };
    struct sb_elem e;

    *listed = *listed || strcmp(name, "currentOp") == 0;
    if (strcmp(text_in(op, "appName"), application) != 0 || is_question(name))
        return 0;
    if (strcmp(type, "idleSession") == 0 && find(op, "transaction", &e)) {
        a.wait_class = "Client";
        a.event = "idle in transaction";
        a.text = NULL;
    } else if (!is_true(op, "active") || (*type && strcmp(type, "op") != 0)) {
        return 0;
    } else {
        a.len = strlen(name);
        set_wait(op, &a);
    }
    return to->session(to->arg, &a);
}

static int take_operations(const bson_t *reply, const char *application,
    const struct sb_activity_sink *to, struct sb_err *err)
{
    struct sb_elem list, e;
    struct sb_walk w = { 0 };
    bool listed = false;
    int rc = 0;

    if (sb_bson_find(bson_get_data(reply), reply->len, "inprog", &list))
        sb_walk_into(&w, &list);
    while (rc == 0 && sb_walk_more(&w, &e)) {
        const struct doc op = { e.value, e.len };

        if (e.type == SB_BSON_DOCUMENT && sb_bson_framed(e.value, e.len))
            rc = take_operation(&op, application, &listed, to);
    }
    // FerretDB, for example, always answers with an empty list.
    if (rc == 0 && !listed)
        rc = sb_err_set(err, SB_EUNSUPPORTED,
            "the server does not list its operations in currentOp");
    return rc;
}

int sbmo_activity(
    struct sb_conn *conn, const struct sb_activity_sink *to, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    const char *application = mongoc_uri_get_appname(c->env->uri);
    bson_t body = BSON_INITIALIZER, reply;
    bson_error_t e = { 0 };
    int rc = sbmo_begin(c, err);

    if (rc)
        return rc;
    bson_append_int32(&body, "currentOp", -1, 1);
    // Those of the same user need no privilege.
    bson_append_bool(&body, "$ownOps", -1, true);
    if (mongoc_client_command_with_opts(
            c->client, "admin", &body, c->env->prefs, NULL, &reply, &e)) {
        to->note(to->arg, "waits for files count as CPU");
        rc = take_operations(&reply, application ? application : "", to, err);
    } else {
        rc = sbmo_fail(c, &e, &reply, err);
    }
    bson_destroy(&reply);
    bson_destroy(&body);
    sbmo_end(c);
    if (rc == SB_EQUERY)
        rc = err->code = SB_EUNSUPPORTED;
    return rc;
}

// Its questions are told from those of scripts by their names.
uint64_t sbmo_session(const struct sb_conn *conn)
{
    (void)conn;
    return 0;
}
