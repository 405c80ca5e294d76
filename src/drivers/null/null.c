// SPDX-License-Identifier: GPL-2.0-or-later
//
// A driver without a database: a statement returns at once or after a given
// time. It shows the maximum load of the client machine, and the overhead of
// sysbench.
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "drivers/null/internal.h"
#include "kit/clock.h"
#include "kit/sqlscan.h"
#include "kit/timedist.h"

struct null_env {
    struct sb_timedist latency, connect_latency;
};

struct null_conn {
    const struct null_opts *o;
    const struct null_env *env;
    const struct sb_host *host;
    struct sb_rng random; // of the latencies
    uint64_t chance;      // state of chance()
    uint64_t calls;       // number of statements so far
    uint64_t samples;     // calls of null_counters()
    uint64_t row;         // next row to fetch
    bool plain;           // no latency, no failures, no hanging
    _Atomic bool canceled;
};

struct null_stmt {
    int kind; // enum sb_result_kind
};

static struct null_conn *null_own(struct sb_conn *conn)
{
    return (struct null_conn *)conn;
}

// The duration of calls ------------------------------------------------------

#define SLICE_NS 50000000 // interval of checks of the cancel flag
#define MOST_NS  (INT64_C(86400) * 1000000000) // a day

// Parses a time in the forms of --think-time, at most a day. Returns SB_EUSAGE
// if it is invalid.
static int null_time_parse(
    const char *text, struct sb_timedist *out, struct sb_err *err)
{
    struct sb_timedist t = { 0 };

    if (sb_timedist_parse(text, &t, NULL) || t.a > (double)MOST_NS)
        return sb_err_set(err, SB_EUSAGE,
            "'%s' is not a valid latency (2ms, uniform:1ms,3ms, exp:2ms, "
            "normal:2ms,0.5ms, pareto:1ms,1.5)",
            text);
    *out = t;
    return 0;
}

// Draws a time, in nanoseconds; at most a day.
static int64_t null_time_draw(const struct sb_timedist *t, struct sb_rng *r)
{
    int64_t ns = sb_timedist_draw(t, r);

    return ns < MOST_NS ? ns : MOST_NS;
}

// Sleeps for ns, precise to a microsecond. Returns SB_ECANCELED when *canceled
// becomes true.
static int null_sleep(
    const struct sb_host *host, int64_t ns, const _Atomic bool *canceled)
{
    uint64_t now = sb_clock_monotonic(), until = now + (uint64_t)ns;
    uint64_t to = until;

    // The last sleep is the one until the end, even if an earlier one lasted
    // longer: its end is when the answer is there.
    while (now < until || to < until) {
        to = until > now + SLICE_NS ? now + SLICE_NS : until;
        if (atomic_load_explicit(canceled, memory_order_relaxed))
            return SB_ECANCELED;
        host->sleep(to);
        now = sb_clock_monotonic();
    }
    return 0;
}

// Generic --------------------------------------------------------------------

static int null_env_init(
    struct sb_driver_env *env, const void *opts_in, struct sb_err *err)
{
    const struct null_opts *o = opts_in;
    struct null_env *e = calloc(1, sizeof(*e));
    int rc;

    if (!e)
        return sb_err_no_memory(err);
    rc = null_time_parse(o->latency, &e->latency, err);
    if (rc == 0)
        rc = null_time_parse(o->connect_latency, &e->connect_latency, err);
    if (rc) {
        free(e);
        return rc;
    }
    env->shared = e;
    return 0;
}

static void null_env_done(struct sb_driver_env *env)
{
    free(env->shared);
    env->shared = NULL;
}

static int null_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *opts_in, const struct sb_conn_info *info, struct sb_err *err)
{
    struct null_conn *c = null_own(conn);

    c->o = opts_in;
    c->env = env->shared;
    c->host = env->host;
    sb_rng_init(&c->random, info->seed, 0);
    c->chance = info->seed;
    c->plain = sb_timedist_is_zero(&c->env->latency) &&
               c->o->failure_rate <= 0 && c->o->hang_after == 0;
    if (null_sleep(c->host,
            null_time_draw(&c->env->connect_latency, &c->random), &c->canceled))
        return sb_err_native(
            err, SB_ECANCELED, 0, "57014", "the connect was canceled");
    return 0;
}

static void null_disconnect(struct sb_conn *conn)
{
}

static void null_cancel(struct sb_conn *conn)
{
    atomic_store_explicit(
        &null_own(conn)->canceled, true, memory_order_relaxed);
}

static const struct sb_generic_ops generic_ops = {
    .env_init = null_env_init,
    .env_done = null_env_done,
    .connect = null_connect,
    .disconnect = null_disconnect,
    .cancel = null_cancel,
};

// Statements -----------------------------------------------------------------

static int null_canceled(struct sb_err *err)
{
    return sb_err_native(
        err, SB_ECANCELED, 0, "57014", "the statement was canceled");
}

static int inject_failure(const struct null_conn *c, struct sb_err *err)
{
    switch ((enum null_failure)c->o->failure) {
    case FAIL_FATAL:
        return sb_err_native(
            err, SB_EQUERY, 1105, "HY000", "injected failure (fatal)");
    case FAIL_LOST:
        return sb_err_native(
            err, SB_ELOST, 2013, "08S01", "injected failure (lost)");
    case FAIL_RESTART:
    default:
        return sb_err_native(
            err, SB_ERESTART, 1213, "40001", "injected failure (restart)");
    }
}

// Returns a number in [0, 1). The failures of a seed must not depend on the
// latencies, so they have a sequence of their own: that of splitmix64.
static double chance(struct null_conn *c)
{
    uint64_t x = sb_rng_mix(c->chance);

    c->chance += SB_RNG_STEP;
    return (double)(x >> 11) * 0x1.0p-53;
}

static int delay_or_fail(struct null_conn *c, struct sb_err *err)
{
    atomic_store_explicit(&c->canceled, false, memory_order_relaxed);
    c->calls++;
    if (c->o->hang_after && c->calls > (uint64_t)c->o->hang_after) {
        while (null_sleep(c->host, 1000000000, &c->canceled) == 0)
            continue;
        return null_canceled(err);
    }
    if (!sb_timedist_is_zero(&c->env->latency) &&
        null_sleep(c->host, null_time_draw(&c->env->latency, &c->random),
            &c->canceled))
        return null_canceled(err);
    if (c->o->failure_rate > 0 && chance(c) < c->o->failure_rate)
        return inject_failure(c, err);
    return 0;
}

static bool starts_with(const char *sql, size_t len, const char *w)
{
    for (; *w; sql++, len--, w++) {
        if (len == 0 || (*sql | 32) != *w)
            return false;
    }
    return true;
}

static int null_kind_of(const char *sql, size_t len)
{
    while (len > 0 && (*sql <= ' ' || *sql == '(')) {
        sql++;
        len--;
    }
    switch (len ? *sql | 32 : 0) {
    case 's':
        return starts_with(sql, len, "sel") ? SB_RESULT_ROWS : SB_RESULT_NONE;
    case 'w':
        return starts_with(sql, len, "with") ? SB_RESULT_ROWS : SB_RESULT_NONE;
    case 'i':
    case 'u':
        return SB_RESULT_WRITE;
    case 'd':
        return starts_with(sql, len, "del") ? SB_RESULT_WRITE : SB_RESULT_NONE;
    case 'r':
        return starts_with(sql, len, "rep") ? SB_RESULT_WRITE : SB_RESULT_NONE;
    default:
        return SB_RESULT_NONE;
    }
}

static inline int null_answer(
    struct null_conn *c, int kind, struct sb_result *res, struct sb_err *err)
{
    if (!c->plain) {
        int rc = delay_or_fail(c, err);

        if (rc)
            return rc;
    }
    res->kind = kind;
    if (kind == SB_RESULT_ROWS) {
        res->nfields = 1;
        res->nrows = (uint64_t)c->o->rows;
        c->row = 0;
    } else if (kind == SB_RESULT_WRITE) {
        res->affected = 1;
    }
    return 0;
}

static int null_query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    return null_answer(null_own(conn), null_kind_of(sql, len), res, err);
}

static int null_prepare(struct sb_conn *conn, struct sb_stmt *stmt,
    const char *sql, size_t len, const uint8_t *types, uint32_t *nparams,
    struct sb_err *err)
{
    struct null_stmt *st = (struct null_stmt *)stmt;
    size_t i = sb_sqlscan_next(sql, len, 0, 0);

    st->kind = null_kind_of(sql, len);
    for (*nparams = 0; i < len; i = sb_sqlscan_next(sql, len, i + 1, 0))
        ++*nparams;
    return 0;
}

static int null_execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err)
{
    return null_answer(
        null_own(conn), ((struct null_stmt *)stmt)->kind, res, err);
}

static void null_close(struct sb_conn *conn, struct sb_stmt *stmt)
{
}

static int null_fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    struct null_conn *c = null_own(conn);

    if (c->row >= res->nrows)
        return 0;
    c->row++;
    cells[0] = (struct sb_cell){ "0", 1 };
    return 1;
}

static const char *null_column(
    struct sb_conn *conn, struct sb_result *res, uint32_t i)
{
    return i == 0 ? "c" : NULL;
}

static void null_free_result(struct sb_conn *conn, struct sb_result *res)
{
}

static const struct sb_sql_ops sql_ops = {
    .query = null_query,
    .prepare = null_prepare,
    .execute = null_execute,
    .close = null_close,
    .fetch = null_fetch,
    .column = null_column,
    .free_result = null_free_result,
};

// Loading ------------------------------------------------------------------

static int null_bulk_begin(struct sb_conn *conn, const char *table,
    const char *columns, uint32_t ncolumns, struct sb_err *err)
{
    if (null_own(conn)->o->bulk)
        return 0;
    return sb_err_set(err, SB_EUNSUPPORTED, "--null-bulk is off");
}

// Each call counts as one statement for the latency and the failures.
static int null_bulk_rows(struct sb_conn *conn, const struct sb_value *values,
    uint32_t nrows, struct sb_err *err)
{
    struct null_conn *c = null_own(conn);

    return c->plain ? 0 : delay_or_fail(c, err);
}

static int null_bulk_end(struct sb_conn *conn, bool commit, struct sb_err *err)
{
    return 0;
}

static const struct sb_bulk_ops bulk_ops = {
    .begin = null_bulk_begin,
    .rows = null_bulk_rows,
    .end = null_bulk_end,
};

static int null_server(struct sb_conn *conn, char *out, size_t size)
{
    const struct null_opts *o = null_own(conn)->o;

    return snprintf(out, size, "null driver, latency %s, failure rate %g",
        o->latency, o->failure_rate);
}

static int null_client(char *out, size_t size)
{
    return snprintf(out, size, "none");
}

static int null_describe(struct sb_conn *conn, struct sb_server *out,
    int (*setting)(void *arg, const char *name, const char *value,
        enum sb_setting_state state),
    void *arg, struct sb_err *err)
{
    const struct null_opts *o = null_own(conn)->o;

    snprintf(out->name, sizeof(out->name), "null driver");
    return setting(arg, "latency", o->latency, SB_SETTING_UNKNOWN);
}

// Invented, for tests: a total that grows by the same number each time, and a
// level. Only for those who ask for them: the short list is empty.
static int null_counters(
    struct sb_conn *conn, const struct sb_counter_sink *to, struct sb_err *err)
{
    struct null_conn *c = null_own(conn);
    struct sb_counter total = { .name = "null_total",
        .kind = SB_COUNTER_TOTAL };
    struct sb_counter level = {
        .name = "null_samples", .kind = SB_COUNTER_LEVEL, .unit = "samples"
    };
    int rc = c->plain ? 0 : delay_or_fail(c, err);

    level.value = (double)++c->samples;
    total.value = level.value * (double)c->o->counter_step;
    if (rc == 0)
        rc = to->take(to->arg, &total);
    return rc ? rc : to->take(to->arg, &level);
}

static const struct sb_info_ops info_ops = {
    .server = null_server,
    .client = null_client,
    .describe = null_describe,
    .counters = null_counters,
    .counters_default = "",
};

SB_DRIVER_EXPORT const struct sb_driver sb_driver = {
    .abi = SB_DRIVER_ABI,
    .name = "null",
    .title = "no database: answers at once or after a given time",
    .dialect = "null",
    .opts = &null_opt_table,
    .opts_size = sizeof(struct null_opts),
    .caps = SB_CAP_CANCEL_CONNECT | SB_CAP_LOOP | SB_CAP_UNSIGNED | SB_CAP_NAN |
            SB_CAP_INFINITY | SB_CAP_EMBEDDED,
    .conn_size = sizeof(struct null_conn),
    .stmt_size = sizeof(struct null_stmt),
    .generic = &generic_ops,
    .sql = &sql_ops,
    .bulk = &bulk_ops,
    .info = &info_ops,
};
