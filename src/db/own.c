// SPDX-License-Identifier: GPL-2.0-or-later
//
// The functions of struct sb_host for the own API of a driver: calls, which are
// timed and counted as SQL statements are, and objects that Lua holds.
#include <stdlib.h>

#include "db/call.h"
#include "db/op.h"

static_assert((int)SB_OWN_READ == (int)SB_OP_READ &&
                  (int)SB_OWN_WRITE == (int)SB_OP_WRITE &&
                  (int)SB_OWN_CHANGE == (int)SB_OP_CHANGE &&
                  (int)SB_OWN_OTHER == (int)SB_OP_OTHER,
    "the kinds of a driver's own calls are kinds of operations");

static struct sb_con_priv *priv(const struct sb_con *con)
{
    return (struct sb_con_priv *)con;
}

int sb_con_run(struct sb_con *con,
    int (*function)(struct sb_con *con, void *arg), void *arg)
{
    return con ? function(con, arg) : SB_EUSAGE;
}

int sb_con_has_sql(const struct sb_con *con)
{
    const struct sb_con_priv *c = priv(con);

    return c->sql && !(c->drv->caps & SB_CAP_NO_SQL);
}

int sb_con_is_of(const struct sb_con *con, const char *driver)
{
    return strcmp(priv(con)->drv->name, driver) == 0;
}

// Calls ----------------------------------------------------------------------

static int check_driver(struct sb_con_priv *c, const struct sb_driver *driver)
{
    if (SB_LIKELY(c->drv == driver))
        return 0;
    return sb__error_usage(c,
        "this is a function of the %s driver, but the connection is one of the "
        "%s driver",
        driver->name, c->drv->name);
}

static int ready(struct sb_con *con, const struct sb_driver *driver)
{
    struct sb_con_priv *c = priv(con);
    int rc;

    if (c->pub.error)
        sb__error_clear(c);
    rc = check_driver(c, driver);
    if (rc || c->state > SB__CON_CLOSED)
        return rc;
    sb_log(SB_LOG_ALERT, "attempt to use an already closed connection");
    return sb__error_usage(c, "the connection is closed");
}

// Ends a call with its text, for the log.
static int end_with_text(
    struct sb__call call, const struct sb_own_call *own, int rc)
{
    struct sb__call_text t = { .what = own->what, .sql = "" };
    char *text = own->text ? own->text(call.con->conn, own->arg, &t.len) : NULL;

    if (text)
        t.sql = text;
    else
        t.len = 0;
    rc = sb__call_end(call, rc, &t);
    free(text);
    return rc;
}

static int end_call(
    struct sb__call *call, const struct sb_own_call *own, int rc)
{
    struct sb_con_priv *c = call->con;

    if (!sb__call_ends_well(call, rc))
        rc = end_with_text(*call, own, rc);
    if (SB_UNLIKELY(rc)) { // the driver may have allocated a result
        c->outcome = sb__con_lost(c) ? SB__OUTCOME_NONE : SB__OUTCOME_DROPPED;
        return rc;
    }
    sb__result_new(c, NULL);
    c->outcome = SB__OUTCOME_OWN;
    return 0;
}

static int call(struct sb_con *con, const struct sb_own_call *own)
{
    struct sb_con_priv *c = priv(con);
    struct sb__call call;
    int rc = sb__call_ready(c);

    if (rc == 0)
        rc = check_driver(c, own->driver);
    if (SB_UNLIKELY(rc))
        return rc;
    if (SB_UNLIKELY(c->pipe.state == SB__PIPE_OPEN))
        return sb__error_usage(
            c, "a pipeline is open; '%s' is not possible in it", own->what);
    call = sb__call_begin(
        c, sb__op_of_name(c->ctx, own->op, (enum sb_op_kind)own->kind));
    return end_call(&call, own, own->run(c->conn, own->arg, &c->res, &c->err));
}

static struct sb_conn *conn(
    const struct sb_con *con, const struct sb_driver *driver)
{
    const struct sb_con_priv *c = priv(con);

    return c->drv == driver && sb__con_connected(c) ? c->conn : NULL;
}

static struct sb_result *result(
    const struct sb_con *con, const struct sb_driver *driver)
{
    struct sb_con_priv *c = priv(con);

    return c->drv == driver && c->outcome == SB__OUTCOME_OWN ? &c->res : NULL;
}

static int fail(struct sb_con *con, const char *what, const char *text,
    const struct sb_err *err)
{
    struct sb_con_priv *c = priv(con);
    size_t len = text ? strlen(text) : 0;

    if (&c->err != err)
        c->err = *err;
    sb__call_complete_error(c, err->code ? err->code : SB_EUSAGE);
    return what ? sb__error_report(c, what, text ? text : "", len)
                : sb__error_again(c, text ? text : "", len);
}

// Objects --------------------------------------------------------------------

struct object {
    struct sb__child child; // first
    struct sb__handle handle;
    void (*done)(void *data);
    _Alignas(16) char data[];
};

static struct object *object_of(const void *data)
{
    return (struct object *)((char *)data - offsetof(struct object, data));
}

static void free_object(struct sb__child *k)
{
    struct object *o = (struct object *)k;

    sb__child_unlink(k);
    o->done(o->data);
    free(o);
}

static void free_dropped_object(struct sb__handle *h)
{
    struct object *o = (struct object *)((char *)h -
                                         offsetof(struct object, handle));

    sb__handle_end(h);
    free_object(&o->child);
}

// The connection is freed; the object stays readable for Lua.
static void orphan_object(struct sb__child *k)
{
    struct sb_db_ctx *ctx = k->con->ctx;

    sb__child_remove(k);
    sb__child_link(&ctx->orphans, k);
}

static void *object_new(
    struct sb_con *con, size_t size, void (*done)(void *data))
{
    static const struct sb__child_ops ops = { .orphan = orphan_object,
        .free = free_object };
    struct sb_con_priv *c = priv(con);
    struct object *o = calloc(1, sizeof(*o) + size);

    if (!o)
        return NULL;
    o->child.ops = &ops;
    o->done = done;
    sb__child_add(c, &o->child);
    sb__handle_give(&o->handle, c->ctx, free_dropped_object);
    return o->data;
}

static struct sb_con *object_con(const void *data)
{
    const struct object *o = object_of(data);

    return o->child.con ? &o->child.con->pub : NULL;
}

void sb_object_drop(void *object)
{
    if (object)
        sb__handle_drop(&object_of(object)->handle);
}

void sb__own_host(struct sb_host *host)
{
    host->call = call;
    host->ready = ready;
    host->conn = conn;
    host->result = result;
    host->fail = fail;
    host->object_new = object_new;
    host->object_drop = sb_object_drop;
    host->object_con = object_con;
}
