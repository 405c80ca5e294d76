// SPDX-License-Identifier: GPL-2.0-or-later
//
// A fake driver for the tests of probes and of the sampler. Its server answers,
// refuses, hangs or loses the connection, as `mode` says.
#ifndef FAKE_SERVER_H
#define FAKE_SERVER_H

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "check.h"
#include "db/internal.h"

enum mode {
    ANSWERS,
    REFUSES,     // connect() fails
    REFUSES_ONE, // connect() to the first place fails
    HANGS,       // counters() waits for cancel()
    HANGS_ALONE, // counters() waits until the mode changes: cancel() does
                 // nothing
    LOSES,       // counters() returns SB_ELOST
    NO_RIGHTS,   // one of two sources cannot be read
};

static _Atomic int mode;
static _Atomic unsigned connects, disconnects, calls, waiting;
static _Atomic double total_now;     // of the counter "Total"
static _Atomic int64_t timeout_seen; // connect timeout of the last connect
static uint64_t places = 1;
static const char *address = "10.0.0.%u:1";

struct fake_options {
    int64_t connect_timeout;
    const char *host;
};

static const struct sb_opt fake_opts[] = {
    { .name = "fake-connect-timeout",
        .type = SB_OPT_DURATION,
        .offset = offsetof(struct fake_options, connect_timeout),
        .def = "0" },
    { .name = "fake-host",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct fake_options, host),
        .def = "h" },
    { 0 },
};
static const struct sb_opt_table fake_table = { .title = "fake",
    .opts = fake_opts };

struct fake_conn {
    uint64_t number;
    _Atomic bool canceled;
};

static inline void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static inline int fake_env_init(
    struct sb_driver_env *env, const void *opts, struct sb_err *err)
{
    env->shared = malloc(1);
    return 0;
}

static inline void fake_env_done(struct sb_driver_env *env)
{
    free(env->shared);
}

static inline int fake_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *opts, const struct sb_conn_info *info, struct sb_err *err)
{
    const struct fake_options *o = opts;

    connects++;
    timeout_seen = o->connect_timeout;
    ((struct fake_conn *)conn)->number = info->number;
    if (mode == REFUSES || (mode == REFUSES_ONE && info->number == 0))
        return sb_err_set(err, SB_ECONNECT, "refused");
    return 0;
}

static inline void fake_disconnect(struct sb_conn *conn)
{
    disconnects++;
}

static inline void fake_cancel(struct sb_conn *conn)
{
    ((struct fake_conn *)conn)->canceled = true;
}

static inline int fake_server(struct sb_conn *conn, char *out, size_t size)
{
    return snprintf(out, size, "line");
}

static inline int fake_client(char *out, size_t size)
{
    return snprintf(out, size, "libfake 1");
}

static inline int fake_describe(struct sb_conn *conn, struct sb_server *out,
    int (*setting)(void *arg, const char *name, const char *value,
        enum sb_setting_state state),
    void *arg, struct sb_err *err)
{
    int rc;

    snprintf(out->name, sizeof(out->name), "Fake 2");
    snprintf(out->address, sizeof(out->address), address,
        (unsigned)((struct fake_conn *)conn)->number);
    rc = setting(arg, "a", "1", SB_SETTING_DEFAULT);
    return rc ? rc : setting(arg, "b", "2", SB_SETTING_CHANGED);
}

static inline uint64_t fake_servers(const struct sb_driver_env *env)
{
    return places;
}

static inline int fake_counters(
    struct sb_conn *conn, const struct sb_counter_sink *to, struct sb_err *err)
{
    struct fake_conn *c = (struct fake_conn *)conn;
    struct sb_counter total = { "Total", total_now, SB_COUNTER_TOTAL, NULL };
    struct sb_counter level = { "Level", 5, SB_COUNTER_LEVEL, "bytes" };
    struct sb_err why;
    int rc;

    waiting++;
    while ((mode == HANGS && !c->canceled) || mode == HANGS_ALONE)
        nap();
    waiting--;
    if (c->canceled)
        return sb_err_set(err, SB_ECANCELED, "canceled");
    if (mode == LOSES)
        return sb_err_set(err, SB_ELOST, "lost");
    rc = to->take(to->arg, &total);
    if (mode == NO_RIGHTS) {
        sb_err_set(&why, SB_EQUERY, "not allowed");
        to->missing(to->arg, "secrets", &why);
    } else if (rc == 0) {
        rc = to->take(to->arg, &level);
    }
    calls++;
    return rc;
}

static _Atomic unsigned inspections, pings;

static inline int fake_ping(struct sb_conn *conn, struct sb_err *err)
{
    pings++;
    return 0;
}

// Tells what total_now is, and whether all parts are asked for. The parts of
// the costs are asked for separately.
static inline int fake_inspect(
    struct sb_conn *conn, const struct sb_inspect_sink *to, struct sb_err *err)
{
    const struct sb_table_facts table = { .name = "t", .rows = total_now };
    struct sb_err why;
    int rc = to->fact(to->arg, SB_FACT_CACHE_REQUESTS, total_now);

    inspections += to->parts >> SB_PART_CACHE & 1;
    if (mode == LOSES)
        return sb_err_set(err, SB_ELOST, "lost");
    if (to->parts >> SB_PART_CACHE & 1)
        to->part(to->arg, SB_PART_CACHE, "cache", NULL);
    if (to->parts >> SB_PART_STATISTICS & 1) {
        sb_err_set(&why, SB_EQUERY, "not allowed");
        to->part(to->arg, SB_PART_STATISTICS, "secrets", &why);
    }
    if (rc == 0 && (to->parts >> SB_PART_SIZE & 1))
        rc = to->table(to->arg, &table);
    return rc;
}

static _Atomic unsigned looks; // at the sessions

// Each session waits for a lock. The second look hangs.
static inline int fake_activity(
    struct sb_conn *conn, const struct sb_activity_sink *to, struct sb_err *err)
{
    const struct sb_activity a = { .wait_class = "Lock", .event = "row" };
    int rc;

    looks++;
    waiting++;
    while (mode == HANGS_ALONE && looks > 1)
        nap();
    waiting--;
    rc = to->session(to->arg, &a);
    return rc ? rc : to->session(to->arg, &a);
}

static const struct sb_generic_ops fake_generic = { .env_init = fake_env_init,
    .env_done = fake_env_done,
    .connect = fake_connect,
    .disconnect = fake_disconnect,
    .cancel = fake_cancel };
static struct sb_info_ops fake_info = { .server = fake_server,
    .client = fake_client,
    .describe = fake_describe,
    .servers = fake_servers,
    .counters = fake_counters,
    .ping = fake_ping,
    .inspect = fake_inspect,
    .activity = fake_activity,
    .counters_default = "tot*" };
static struct sb_upkeep_ops fake_upkeep;
static const struct sb_driver fake_driver = { .name = "fake",
    .conn_size = sizeof(struct fake_conn),
    .opts = &fake_table,
    .opts_size = sizeof(struct fake_options),
    .generic = &fake_generic,
    .info = &fake_info,
    .upkeep = &fake_upkeep };
static struct fake_options base_opts;
static struct sb_drivers owner;
static struct sb_db db = { .owner = &owner, .drv = &fake_driver };

static inline void begin(void)
{
    pthread_mutex_init(&owner.lock, NULL);
    owner.o = sb_opts_new();
    owner.dbs = &db;
    db.base = (struct sb__inst){ .db = &db, .opts = &base_opts };
    CHECK_INT(sb_opts_add(owner.o, &fake_table, &base_opts, NULL), 0);
    mode = ANSWERS;
    connects = disconnects = calls = waiting = 0;
    inspections = pings = looks = 0;
    total_now = 0;
    places = 1;
    address = "10.0.0.%u:1";
}

// As if a user had connected with this instance.
static inline struct sb__inst *use(const char *host)
{
    const char *name = "host";
    struct sb__inst *i = NULL;

    CHECK_INT(sb__inst_get(&db, &name, &host, host ? 1 : 0, &i, NULL), 0);
    i->used = true;
    return i;
}

static inline void end(void)
{
    CHECK_INT(disconnects, connects);
    sb__insts_free(&db);
    sb__inst_done(&db.base);
    sb_opts_free(owner.o);
    pthread_mutex_destroy(&owner.lock);
}

#endif
