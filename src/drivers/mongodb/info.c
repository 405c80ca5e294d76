// SPDX-License-Identifier: GPL-2.0-or-later
#include <fnmatch.h>
#include <stdlib.h>

#include "drivers/mongodb/internal.h"

// Runs a command with one number as its argument. The caller destroys the reply
// in any case.
static bool mo_ask_of(struct sbmo_conn *c, const char *db, const char *name,
    bson_t *reply, bson_error_t *e)
{
    bson_t body = BSON_INITIALIZER;
    bool fine;

    bson_append_int32(&body, name, -1, 1);
    // Runs outside the script's transaction, without its session.
    fine = mongoc_client_command_with_opts(
        c->client, db, &body, c->env->prefs, NULL, reply, e);
    bson_destroy(&body);
    return fine;
}

static bool mo_ask(
    struct sbmo_conn *c, const char *name, bson_t *reply, bson_error_t *e)
{
    return mo_ask_of(c, "admin", name, reply, e);
}

static const char *mo_text_of(
    const bson_t *doc, const char *key, struct sb_elem *room)
{
    return sb_bson_find(bson_get_data(doc), doc->len, key, room)
               ? sb_elem_text(room, NULL)
               : "";
}

// "MongoDB 6.0.6", or the product that only reports MongoDB's version.
static int mo_product(const bson_t *build, char *out, size_t size)
{
    struct sb_elem e, own, other;
    const char *version = mo_text_of(build, "version", &e), *ferret;

    ferret = mo_text_of(build, "ferretdbVersion", &other);
    if (sb_bson_find(bson_get_data(build), build->len, "ferretdb", &own) &&
        own.type == SB_BSON_DOCUMENT &&
        sb_bson_find(own.value, own.len, "version", &other))
        ferret = sb_elem_text(&other, NULL);
    if (*ferret)
        return snprintf(out, size, "FerretDB %s (as MongoDB %s)",
            ferret + (*ferret == 'v'), version);
    return snprintf(out, size, "MongoDB %s", *version ? version : "?");
}

static int topology(const bson_t *hello, char *out, size_t size)
{
    struct sb_elem e;
    const char *set = mo_text_of(hello, "setName", &e);

    if (*set)
        return snprintf(out, size, ", replica set %s", set);
    if (strcmp(mo_text_of(hello, "msg", &e), "isdbgrid") == 0)
        return snprintf(out, size, ", sharded cluster");
    return snprintf(out, size, ", standalone");
}

static int mo_server(struct sb_conn *conn, char *out, size_t size)
{
    struct sbmo_conn *c = sbmo_own(conn);
    bson_error_t e;
    bson_t reply;
    size_t at;
    bool fine;
    int n;

    if (sbmo_begin(c, NULL))
        return 0;
    mo_ask(c, "buildInfo", &reply, &e);
    n = mo_product(&reply, out, size);
    bson_destroy(&reply);
    at = (size_t)n < size ? (size_t)n : size;
    fine = mo_ask(c, "hello", &reply, &e);
    if (!fine) { // the older name of the command
        bson_destroy(&reply);
        fine = mo_ask(c, "isMaster", &reply, &e);
    }
    if (fine)
        n += topology(&reply, out + at, size - at);
    bson_destroy(&reply);
    sbmo_end(c);
    return n;
}

static int mo_client(char *out, size_t size)
{
    return snprintf(out, size, "libmongoc %s", mongoc_get_version());
}

// Settings -------------------------------------------------------------------

struct about {
    int (*setting)(void *arg, const char *name, const char *value,
        enum sb_setting_state state);
    void *arg;
    int rc;
};

static void tell(struct about *a, const char *name, const char *value)
{
    if (a->rc == 0 && *value)
        a->rc = a->setting(a->arg, name, value, SB_SETTING_UNKNOWN);
}

// A text or a document: "majority", {"w": "majority", "wtimeout": 0}.
static void tell_value(
    struct about *a, const bson_t *doc, const char *key, const char *name)
{
    struct sb_buf text = { 0 };
    struct sb_elem e;

    if (!sb_bson_find(bson_get_data(doc), doc->len, key, &e))
        return;
    if (sbmo_value_text(&text, &e) && sbmo_add(&text, "", 1))
        tell(a, name, text.data);
    sb_buf_done(&text);
}

static void tell_inner(struct about *a, const bson_t *doc, const char *part,
    const char *key, const char *name)
{
    struct sb_elem e;
    bson_t inner;

    if (sb_bson_find(bson_get_data(doc), doc->len, part, &e) &&
        e.type == SB_BSON_DOCUMENT && bson_init_static(&inner, e.value, e.len))
        tell_value(a, &inner, key, name);
}

static void tell_hello(struct sbmo_conn *c, struct about *a)
{
    bson_error_t e;
    bson_t reply;
    bool fine = mo_ask(c, "hello", &reply, &e);

    if (!fine) {
        bson_destroy(&reply);
        fine = mo_ask(c, "isMaster", &reply, &e);
    }
    if (fine) {
        tell_value(a, &reply, "setName", "replSetName");
        tell_value(a, &reply, "msg", "hello.msg");
        tell_value(a, &reply, "maxWireVersion", "maxWireVersion");
        tell_value(a, &reply, "maxWriteBatchSize", "maxWriteBatchSize");
    }
    bson_destroy(&reply);
}

// Needs the role clusterMonitor; without it these settings are left out.
static void tell_status(struct sbmo_conn *c, struct about *a)
{
    bson_error_t e;
    bson_t reply;

    if (mo_ask(c, "serverStatus", &reply, &e)) {
        tell_value(a, &reply, "process", "process");
        tell_inner(a, &reply, "storageEngine", "name", "storageEngine");
        tell_inner(a, &reply, "storageEngine", "persistent",
            "storageEngine.persistent");
    }
    bson_destroy(&reply);
}

static void tell_defaults(struct sbmo_conn *c, struct about *a)
{
    bson_error_t e;
    bson_t reply;

    if (mo_ask(c, "getDefaultRWConcern", &reply, &e)) {
        tell_value(a, &reply, "defaultReadConcern", "defaultReadConcern");
        tell_value(a, &reply, "defaultWriteConcern", "defaultWriteConcern");
    }
    bson_destroy(&reply);
}

static int tell_build(struct sbmo_conn *c, struct sb_server *out,
    struct about *a, struct sb_err *err)
{
    bson_error_t e = { 0 };
    bson_t reply;
    int rc = 0;

    if (mo_ask(c, "buildInfo", &reply, &e)) {
        mo_product(&reply, out->name, sizeof(out->name));
        tell_value(a, &reply, "gitVersion", "gitVersion");
        tell_value(a, &reply, "allocator", "allocator");
    } else {
        rc = sbmo_fail(c, &e, &reply, err);
        snprintf(out->name, sizeof(out->name), "MongoDB");
    }
    bson_destroy(&reply);
    return rc == SB_EQUERY ? 0 : rc; // no right to ask
}

static int mo_describe(struct sb_conn *conn, struct sb_server *out,
    int (*setting)(void *arg, const char *name, const char *value,
        enum sb_setting_state state),
    void *arg, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    struct about a = { .setting = setting, .arg = arg };
    int rc = sbmo_begin(c, err);

    if (rc)
        return rc;
    rc = tell_build(c, out, &a, err);
    snprintf(out->address, sizeof(out->address), "%s",
        sbmo_stream_last(c) ? sbmo_stream_last(c) : c->env->where);
    if (rc == 0) {
        tell_hello(c, &a);
        tell_status(c, &a);
        tell_defaults(c, &a);
        rc = a.rc;
    }
    sbmo_end(c);
    return rc;
}

// Counters -------------------------------------------------------------------

// The server does not say which numbers are levels. All others are totals.
static const struct {
    const char *pattern;
    const char *unit;
} levels[] = {
    { "connections.totalCreated", "" }, // "": a total
    { "connections.establishmentRateLimit.*", "" },
    { "connections.*", NULL },
    { "mem.bits", NULL },
    { "mem.*", "MB" },
    { "globalLock.currentQueue.*", NULL },
    { "globalLock.activeClients.*", NULL },
    { "metrics.cursor.open.*", NULL },
    { "metrics.repl.buffer.*ize*", NULL },
    { "queues.*.out", NULL },
    { "queues.*.available", NULL },
    { "queues.*.totalTickets", NULL },
    { "transactions.current*", NULL },
    { "transactions.lastCommittedTransaction.*", NULL },
    { "tcmalloc.*", NULL },
    { "logicalSessionRecordCache.active*", NULL },
    { "logicalSessionRecordCache.last*", NULL },
    { "opcountersRepl.constraintsRelaxed.*", "" },
    { "asserts.rollovers", "" },
    { "electionMetrics.average*", NULL },
    { "extra_info.heap_usage_bytes", "bytes" },
    { "wiredTiger.concurrentTransactions.*", NULL },
    { "*currently*", NULL },
    { "*maximum*", NULL },
    { "*max *", NULL },
    { "*configured*", NULL },
    { "*percentage*", NULL },
    { "*tracked dirty*", NULL },
    { "*files currently open*", NULL },
    { "*open session count*", NULL },
    { "*open cursor count*", NULL },
    { "*current*", NULL },
    { "catalogStats.*", NULL },
    { "ok", NULL },
    { "pid", NULL },
};

static void mo_classify(struct sb_counter *c)
{
    c->kind = SB_COUNTER_TOTAL;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        const char *unit = levels[i].unit;

        if (fnmatch(levels[i].pattern, c->name, 0) != 0)
            continue;
        if (!unit || *unit) {
            c->kind = SB_COUNTER_LEVEL;
            c->unit = unit;
        }
        return;
    }
    if (strcmp(c->name, "network.bytesIn") == 0 ||
        strcmp(c->name, "network.bytesOut") == 0)
        c->unit = "bytes";
}

static bool is_number(const struct sb_elem *e)
{
    return e->type == SB_BSON_INT32 || e->type == SB_BSON_INT64 ||
           e->type == SB_BSON_DOUBLE;
}

static int visit_number(
    const struct sb_elem *e, const char *name, const struct sb_counter_sink *to)
{
    struct sb_counter c = { .name = name };

    if (!to->wanted(to->arg, name))
        return 0;
    c.value = e->type == SB_BSON_DOUBLE ? sb_get_double(e->value)
                                        : (double)sb_elem_int(e);
    mo_classify(&c);
    return to->take(to->arg, &c);
}

#define DEPTH 6 // documents within documents

// One document that is being visited, and the length of its name.
struct place {
    struct sb_walk walk;
    size_t len;
};

// Visits all numbers as "opcounters.insert", "wiredTiger.cache.bytes read".
static int visit_all(const bson_t *status, const struct sb_counter_sink *to)
{
    struct place at[DEPTH];
    struct sb_elem e;
    char name[160];
    int n = 1, rc = 0;

    sb_walk_open(&at[0].walk, bson_get_data(status), status->len);
    at[0].len = 0;
    while (rc == 0 && n > 0) {
        struct place *p = &at[n - 1];

        if (!sb_walk_more(&p->walk, &e)) {
            n--;
            continue;
        }
        snprintf(name + p->len, sizeof(name) - p->len, "%s%s", n > 1 ? "." : "",
            e.key);
        if (is_number(&e)) {
            rc = visit_number(&e, name, to);
        } else if (e.type == SB_BSON_DOCUMENT && n < DEPTH) {
            at[n].len = strlen(name);
            sb_walk_into(&at[n++].walk, &e);
        }
    }
    return rc;
}

static int mo_counters(
    struct sb_conn *conn, const struct sb_counter_sink *to, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    bson_error_t e = { 0 };
    bson_t reply;
    int rc = sbmo_begin(c, err);

    if (rc)
        return rc;
    if (mo_ask(c, "serverStatus", &reply, &e))
        rc = visit_all(&reply, to);
    else
        rc = sbmo_fail(c, &e, &reply, err);
    if (rc == SB_EQUERY) {
        to->missing(to->arg, "serverStatus", err);
        rc = 0;
    }
    bson_destroy(&reply);
    sbmo_end(c);
    return rc;
}

// Inspection ------------------------------------------------------------------

// Finds a number behind a path of names.
static bool find_number(const bson_t *doc, const char *const *path, double *out)
{
    const uint8_t *at = bson_get_data(doc);
    uint32_t len = doc->len;
    struct sb_elem e;

    for (; *path; path++) {
        if (!sb_bson_find(at, len, *path, &e))
            return false;
        at = e.value;
        len = (uint32_t)e.len;
    }
    if (!is_number(&e))
        return false;
    *out = e.type == SB_BSON_DOUBLE ? sb_get_double(e.value)
                                    : (double)sb_elem_int(&e);
    return true;
}

// Reports the facts of a part from a reply, or which one is missing.
static int tell_facts(const bson_t *reply, const struct sb_inspect_sink *to,
    enum sb_inspect_part part, const char *source, const char *const (*path)[4],
    const enum sb_fact_id *id, size_t n)
{
    struct sb_err why = { 0 };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        double value;

        if (find_number(reply, path[i], &value))
            rc = to->fact(to->arg, id[i], value);
        else
            sb_err_set(&why, SB_EQUERY, "the answer has no '%s'",
                path[i][2] ? path[i][2] : path[i][0]);
    }
    to->part(to->arg, part, source, why.code ? &why : NULL);
    return rc;
}

// Says why a part is unknown, if the server refused to answer. 0 or SB_E*.
static int refused(struct sbmo_conn *c, const struct sb_inspect_sink *to,
    enum sb_inspect_part part, const char *source, const bson_error_t *e,
    const bson_t *reply, struct sb_err *err)
{
    int rc = sbmo_fail(c, e, reply, err);

    if (rc != SB_EQUERY)
        return rc;
    to->part(to->arg, part, source, err);
    return 0;
}

// The parts that one answer has.
static int inspect_status(
    struct sbmo_conn *c, const struct sb_inspect_sink *to, struct sb_err *err)
{
    static const enum sb_inspect_part parts[] = { SB_PART_CACHE, SB_PART_LOG,
        SB_PART_WORK, SB_PART_DEBT };
    static const size_t first[] = { 0, 3, 5, 9, 10 };
    static const char *const path[][4] = {
        { "wiredTiger", "cache", "maximum bytes configured", NULL },
        { "wiredTiger", "cache", "pages requested from the cache", NULL },
        { "wiredTiger", "cache", "pages read into cache", NULL },
        { "wiredTiger", "log", "log bytes written", NULL },
        { "wiredTiger", "log", "log sync operations", NULL },
        { "uptime", NULL },
        { "metrics", "queryExecutor", "scannedObjects", NULL },
        { "wiredTiger", "cache", "bytes read into cache", NULL },
        { "wiredTiger", "cache", "bytes written from cache", NULL },
        { "wiredTiger", "cache", "tracked dirty bytes in the cache", NULL },
    };
    static const enum sb_fact_id id[] = { SB_FACT_CACHE_BYTES,
        SB_FACT_CACHE_REQUESTS, SB_FACT_CACHE_MISSES, SB_FACT_LOG_BYTES,
        SB_FACT_LOG_FLUSHES, SB_FACT_UPTIME, SB_FACT_ROWS_EXAMINED,
        SB_FACT_READ_BYTES, SB_FACT_WRITTEN_BYTES, SB_FACT_DIRTY_BYTES };
    static const char source[] = "serverStatus";
    bson_error_t e = { 0 };
    bson_t reply;
    bool answered = mo_ask(c, source, &reply, &e);
    int rc = 0;

    for (int i = 0; rc == 0 && i < 4; i++) {
        if (!(to->parts >> parts[i] & 1))
            continue;
        if (answered)
            rc = tell_facts(&reply, to, parts[i], source, path + first[i],
                id + first[i], first[i + 1] - first[i]);
        else
            rc = refused(c, to, parts[i], source, &e, &reply, err);
    }
    bson_destroy(&reply);
    return rc;
}

static int inspect_size(
    struct sbmo_conn *c, const struct sb_inspect_sink *to, struct sb_err *err)
{
    static const char *const data[] = { "dataSize", NULL };
    static const char *const indexes[] = { "indexSize", NULL };
    static const char source[] = "dbStats";
    double bytes = 0, more = 0;
    bson_error_t e = { 0 };
    bson_t reply;
    int rc;

    if (mo_ask_of(c, c->env->db, source, &reply, &e)) {
        struct sb_err why = { 0 };

        if (!find_number(&reply, data, &bytes))
            sb_err_set(&why, SB_EQUERY, "the answer has no 'dataSize'");
        find_number(&reply, indexes, &more);
        rc = to->fact(to->arg, SB_FACT_DATA_BYTES, bytes + more);
        to->part(to->arg, SB_PART_SIZE, source, why.code ? &why : NULL);
    } else {
        rc = refused(c, to, SB_PART_SIZE, source, &e, &reply, err);
    }
    bson_destroy(&reply);
    return rc;
}

static int mo_inspect(
    struct sb_conn *conn, const struct sb_inspect_sink *to, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    int rc = sbmo_begin(c, err);

    if (rc)
        return rc;
    if (to->parts & ~(1u << SB_PART_SIZE))
        rc = inspect_status(c, to, err);
    if (rc == 0 && (to->parts >> SB_PART_SIZE & 1))
        rc = inspect_size(c, to, err);
    sbmo_end(c);
    return rc;
}

static int mo_ping(struct sb_conn *conn, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    bson_error_t e = { 0 };
    bson_t reply;
    int rc = sbmo_begin(c, err);

    if (rc)
        return rc;
    if (!mo_ask(c, "ping", &reply, &e))
        rc = sbmo_fail(c, &e, &reply, err);
    bson_destroy(&reply);
    sbmo_end(c);
    return rc;
}

// Writes what has changed in memory.
static int mo_checkpoint(
    struct sb_conn *conn, const char *table, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    bson_error_t e = { 0 };
    bson_t reply;
    int rc = sbmo_begin(c, err);

    (void)table;
    if (rc)
        return rc;
    if (!mo_ask(c, "fsync", &reply, &e))
        rc = sbmo_fail(c, &e, &reply, err);
    bson_destroy(&reply);
    sbmo_end(c);
    return rc;
}

const struct sb_upkeep_ops sbmo_upkeep_ops = {
    .checkpoint = mo_checkpoint,
    .no_prewarm = "MongoDB has no command for this; use --warmup-time",
};

const struct sb_info_ops sbmo_info_ops = {
    .server = mo_server,
    .client = mo_client,
    .describe = mo_describe,
    .counters = mo_counters,
    .ping = mo_ping,
    .inspect = mo_inspect,
    .activity = sbmo_activity,
    .session = sbmo_session,
    .counters_default =
        "opcounters.*,connections.current,connections.active,"
        "globalLock.currentQueue.total,globalLock.activeClients.total,"
        "mem.resident,network.bytesIn,network.bytesOut,network.numRequests,"
        "metrics.document.*,metrics.commands.find.total,"
        "metrics.commands.insert.total,metrics.commands.update.total,"
        "metrics.commands.delete.total,transactions.totalCommitted,"
        "transactions.totalAborted,transactions.currentOpen,"
        "metrics.operation.writeConflicts,"
        "wiredTiger.cache.bytes currently in the cache,"
        "wiredTiger.cache.tracked dirty bytes in the cache,"
        "wiredTiger.cache.pages read into cache,"
        "wiredTiger.cache.pages requested from the cache,"
        "wiredTiger.log.log bytes written,"
        "wiredTiger.transaction.transaction checkpoints",
};
