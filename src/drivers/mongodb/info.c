// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mongodb/mongodb_priv.h"

// Runs a command with one number as its argument. The caller destroys the reply
// in any case.
static bool ask(
    struct sbmo_conn *c, const char *name, bson_t *reply, bson_error_t *e)
{
    bson_t body = BSON_INITIALIZER;
    bool fine;

    bson_append_int32(&body, name, -1, 1);
    // Runs outside the script's transaction, without its session.
    fine = mongoc_client_command_with_opts(
        c->client, "admin", &body, c->env->prefs, NULL, reply, e);
    bson_destroy(&body);
    return fine;
}

static const char *text_of(
    const bson_t *doc, const char *key, struct sbmo_elem *room)
{
    return sbmo_walk_find(bson_get_data(doc), doc->len, key, room)
               ? sbmo_text(room, NULL)
               : "";
}

// "MongoDB 6.0.6", or the product that only reports MongoDB's version.
static int product(const bson_t *build, char *out, size_t size)
{
    struct sbmo_elem e, own, other;
    const char *version = text_of(build, "version", &e), *ferret;

    ferret = text_of(build, "ferretdbVersion", &other);
    if (sbmo_walk_find(bson_get_data(build), build->len, "ferretdb", &own) &&
        own.type == SBMO_DOCUMENT &&
        sbmo_walk_find(own.value, own.len, "version", &other))
        ferret = sbmo_text(&other, NULL);
    if (*ferret)
        return snprintf(out, size, "FerretDB %s (as MongoDB %s)",
            ferret + (*ferret == 'v'), version);
    return snprintf(out, size, "MongoDB %s", *version ? version : "?");
}

static int topology(const bson_t *hello, char *out, size_t size)
{
    struct sbmo_elem e;
    const char *set = text_of(hello, "setName", &e);

    if (*set)
        return snprintf(out, size, ", replica set %s", set);
    if (strcmp(text_of(hello, "msg", &e), "isdbgrid") == 0)
        return snprintf(out, size, ", sharded cluster");
    return snprintf(out, size, ", standalone");
}

static int server(struct sb_conn *conn, char *out, size_t size)
{
    struct sbmo_conn *c = sbmo_own(conn);
    bson_error_t e;
    bson_t reply;
    size_t at;
    bool fine;
    int n;

    if (sbmo_begin(c, NULL))
        return 0;
    ask(c, "buildInfo", &reply, &e);
    n = product(&reply, out, size);
    bson_destroy(&reply);
    at = (size_t)n < size ? (size_t)n : size;
    fine = ask(c, "hello", &reply, &e);
    if (!fine) { // the older name of the command
        bson_destroy(&reply);
        fine = ask(c, "isMaster", &reply, &e);
    }
    if (fine)
        n += topology(&reply, out + at, size - at);
    bson_destroy(&reply);
    sbmo_end(c);
    return n;
}

static int client(char *out, size_t size)
{
    return snprintf(out, size, "libmongoc %s", mongoc_get_version());
}

// Counters -------------------------------------------------------------------

typedef int (*visitor)(void *arg, const char *name, double value);

static bool is_number(const struct sbmo_elem *e)
{
    return e->type == SBMO_INT32 || e->type == SBMO_INT64 ||
           e->type == SBMO_DOUBLE;
}

// Adds the numbers below one field of the status: "opcounters.insert" etc.
static int visit_part(
    const struct sbmo_elem *part, const char *prefix, visitor visit, void *arg)
{
    struct sbmo_walk w;
    struct sbmo_elem e;
    char name[120];
    int rc = 0;

    sbmo_walk_into(&w, part);
    while (rc == 0 && sbmo_walk_next(&w, &e)) {
        if (!is_number(&e))
            continue;
        snprintf(name, sizeof(name), "%s.%.60s", prefix, e.key);
        rc = visit(arg, name,
            e.type == SBMO_DOUBLE ? sbmo_f64(e.value)
                                  : (double)sbmo_number(&e));
    }
    return rc;
}

static int counters(
    struct sb_conn *conn, visitor visit, void *arg, struct sb_err *err)
{
    static const char *const parts[] = { "opcounters", "connections", "network",
        "mem", "globalLock", "transactions" };
    struct sbmo_conn *c = sbmo_own(conn);
    struct sbmo_elem part;
    bson_error_t e = { 0 };
    bson_t reply;
    int rc = sbmo_begin(c, err);

    if (rc)
        return rc;
    if (!ask(c, "serverStatus", &reply, &e))
        rc = sbmo_fail(c, &e, &reply, err);
    for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (sbmo_walk_find(bson_get_data(&reply), reply.len, parts[i], &part))
            rc = visit_part(&part, parts[i], visit, arg);
    }
    bson_destroy(&reply);
    sbmo_end(c);
    return rc;
}

const struct sb_info_ops sbmo_info_ops = {
    .server = server,
    .client = client,
    .counters = counters,
};
