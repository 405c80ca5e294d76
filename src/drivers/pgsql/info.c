// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "drivers/pgsql/internal.h"
#include "kit/sock.h"

#define COUNTERS                                                        \
    "xact_commit,xact_rollback,tup_returned,tup_fetched,tup_inserted,"  \
    "tup_updated,tup_deleted,blks_read,blks_hit,temp_bytes,deadlocks,"  \
    "numbackends,connections_active,connections_idle_in_transaction,"   \
    "connections_waiting_for_lock,locks_waiting,wal_records,wal_bytes," \
    "wal_fpi,wal_buffers_full,checkpoints_timed,checkpoints_req,"       \
    "buffers_checkpoint,buffers_clean,buffers_backend"

// Counters of the server: views of its statistics. The columns are read as the
// server has them, so that new ones appear without a change here.

struct level {
    const char *name, *unit;
};

// Levels among the columns; all others are totals.
static const struct level levels[] = { { "numbackends", "connections" },
    { "locks_waiting", "locks" }, { "connections_active", "connections" },
    { "connections_idle", "connections" },
    { "connections_idle_in_transaction", "connections" },
    { "connections_waiting", "connections" },
    { "connections_waiting_for_lock", "connections" },
    { "oldest_transaction_age", "s" } };

// Units of totals by the end of the name.
static const struct level totals[] = { { "_bytes", "bytes" },
    { "_time", "ms" } };

// Columns that identify what is counted.
static const char *const ids[] = { "datid", "datname", "stats_reset",
    "checksum_last_failure", NULL };

// PostgreSQL 17 moved these to a view of their own; before, they were columns
// of pg_stat_bgwriter. They keep the names of the columns, so that servers of
// different versions can be compared.
#define CHECKPOINTER                                                           \
    "SELECT num_timed AS checkpoints_timed, "                                  \
    "num_requested AS checkpoints_req, "                                       \
    "write_time AS checkpoint_write_time, sync_time AS checkpoint_sync_time, " \
    "buffers_written AS buffers_checkpoint, restartpoints_timed, "             \
    "restartpoints_req, restartpoints_done"
static const char checkpointer_17_sql[] = CHECKPOINTER
    " FROM pg_stat_checkpointer";
static const char checkpointer_sql[] = CHECKPOINTER
    ", num_done AS checkpoints_done, slru_written FROM pg_stat_checkpointer";

// PostgreSQL 17 removed buffers_backend and buffers_backend_fsync of
// pg_stat_bgwriter, and 18 the writes and syncs of pg_stat_wal: all are in
// pg_stat_io.
#define OF_BACKENDS                                                       \
    "sum(fsyncs) AS buffers_backend_fsync FROM pg_stat_io "               \
    "WHERE object = 'relation' AND backend_type NOT IN ('checkpointer', " \
    "'background writer')"
static const char backends_17_sql[] =
    "SELECT sum(writes) + sum(extends) AS buffers_backend, " OF_BACKENDS;
static const char backends_sql[] =
    "SELECT (sum(write_bytes) + sum(extend_bytes)) / "
    "current_setting('block_size')::int AS buffers_backend, " OF_BACKENDS;
static const char wal_io_sql[] =
    "SELECT sum(writes) AS wal_write, sum(fsyncs) AS wal_sync, sum(write_time) "
    "AS wal_write_time, sum(fsync_time) AS wal_sync_time FROM pg_stat_io "
    "WHERE object = 'wal'";

static const char activity_sql[] =
    "SELECT (SELECT count(*) FROM pg_locks WHERE NOT granted) AS "
    "locks_waiting, count(*) FILTER (WHERE state = 'active') AS "
    "connections_active, count(*) FILTER (WHERE state = 'idle') AS "
    "connections_idle, count(*) FILTER (WHERE state LIKE 'idle in%') AS "
    "connections_idle_in_transaction, count(*) FILTER (WHERE state = 'active' "
    "AND wait_event IS NOT NULL) AS connections_waiting, count(*) FILTER ("
    "WHERE state = 'active' AND wait_event_type = 'Lock') AS "
    "connections_waiting_for_lock, coalesce(extract(epoch FROM "
    "max(clock_timestamp() - xact_start)), 0) AS oldest_transaction_age "
    "FROM pg_stat_activity WHERE datname = current_database() AND "
    "pid <> pg_backend_pid()";

struct source {
    const char *name, *sql;
    const char *prefixes; // of its names, each with its NUL; ends with ""
    int since, before;    // major versions of the server; 0: all
};

static const struct source sources[] = {
    { "pg_stat_database",
        "SELECT * FROM pg_stat_database WHERE datname = current_database()",
        "numbackends\0xact_\0blks_\0tup_\0conflicts\0temp_\0deadlocks\0"
        "checksum_\0blk_\0session\0active_time\0idle_in_\0parallel_\0",
        0, 0 },
    { "pg_stat_wal", "SELECT * FROM pg_stat_wal", "wal_\0", 14, 0 },
    { "pg_stat_io", wal_io_sql, "wal_\0", 18, 0 },
    { "pg_stat_bgwriter", "SELECT * FROM pg_stat_bgwriter",
        "buffers_\0maxwritten_\0checkpoint\0", 0, 0 },
    { "pg_stat_io", backends_17_sql, "buffers_\0", 17, 18 },
    { "pg_stat_io", backends_sql, "buffers_\0", 18, 0 },
    { "pg_stat_checkpointer", checkpointer_17_sql,
        "checkpoint\0buffers_checkpoint\0restartpoints_\0", 17, 18 },
    { "pg_stat_checkpointer", checkpointer_sql,
        "checkpoint\0buffers_checkpoint\0restartpoints_\0slru_\0", 18, 0 },
    { "pg_stat_activity, pg_locks", activity_sql,
        "locks_\0connections_\0oldest_\0", 9, 0 },
};

static bool has_ending(const char *name, const char *end)
{
    size_t len = strlen(name), n = strlen(end);

    return len >= n && strcmp(name + len - n, end) == 0;
}

static void pg_classify(struct sb_counter *c)
{
    c->kind = SB_COUNTER_TOTAL;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (strcmp(levels[i].name, c->name) == 0) {
            c->kind = SB_COUNTER_LEVEL;
            c->unit = levels[i].unit;
            return;
        }
    }
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        if (has_ending(c->name, totals[i].name))
            c->unit = totals[i].unit;
    }
}

static bool is_id(const char *name)
{
    size_t i = 0;

    while (ids[i] && strcmp(ids[i], name) != 0)
        i++;
    return ids[i] != NULL;
}

static int pg_take_row(const PGresult *r, const struct sb_counter_sink *to)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < PQnfields(r); i++) {
        struct sb_counter c = { .name = PQfname(r, i) };
        const char *value = pgsql_cell(r, 0, i);
        char *end;

        if (!value || !c.name || is_id(c.name))
            continue;
        c.value = strtod(value, &end);
        if (end == value || *end)
            continue;
        pg_classify(&c);
        rc = to->take(to->arg, &c);
    }
    return rc;
}

static int pg_read_source(struct pgsql_conn *c, const struct source *s,
    const struct sb_counter_sink *to, struct sb_err *err)
{
    const PGresult *r;
    int rc = pgsql_run(c, s->sql, err);

    if (rc == SB_EQUERY) {
        to->missing(to->arg, s->name, err);
        return 0;
    }
    if (rc)
        return rc;
    r = pgsql_answer(c, 1, 0, NULL);
    if (r)
        rc = pg_take_row(r, to);
    pgsql_clear(c);
    return rc;
}

static bool has_source(int version, const struct source *s)
{
    return version >= s->since && (!s->before || version < s->before);
}

static bool wanted(const struct source *s, const struct sb_counter_sink *to)
{
    const char *p = s->prefixes;

    while (*p && !to->wanted(to->arg, p))
        p += strlen(p) + 1;
    return *p;
}

// The operation counters of struct sb_info_ops, and its short list.
static int pg_counters(
    struct sb_conn *conn, const struct sb_counter_sink *to, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int version = PQserverVersion(c->db) / 10000, rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(sources) / sizeof(sources[0]);
         i++) {
        if (has_source(version, &sources[i]) && wanted(&sources[i], to))
            rc = pg_read_source(c, &sources[i], to, err);
    }
    return rc;
}

// Settings that affect performance, as far as the server has them.
static const char about_sql[] =
    "SELECT version(), current_setting('shared_buffers', true), "
    "current_setting('fsync', true), "
    "current_setting('synchronous_commit', true), "
    "current_setting('wal_level', true)";

static const char *const names[] = { "", "shared_buffers", "fsync",
    "synchronous_commit", "wal_level" };
#define FACTS ((int)(sizeof(names) / sizeof(names[0])))

// "PostgreSQL 15.18 (Debian 15.18-0+deb12u1)", without the machine.
static int version_len(const char *text)
{
    const char *end = strstr(text, " on ");

    return end ? (int)(end - text) : (int)strcspn(text, "\n");
}

static int plain(struct pgsql_conn *c, char *out, size_t size)
{
    const char *version = PQparameterStatus(c->db, "server_version");

    return snprintf(out, size, "PostgreSQL %s", version ? version : "?");
}

static int pg_server(struct sb_conn *conn, char *out, size_t size)
{
    struct pgsql_conn *c = pgsql_own(conn);
    const PGresult *r = NULL;
    const char *version = NULL;
    int n;

    // An error of this query must not end the script's transaction, nor its
    // result replace an open one.
    if (!c->result && !c->wire_stmt && pgsql_transaction(c) == PQTRANS_IDLE &&
        pgsql_run(c, about_sql, NULL) == 0)
        r = pgsql_answer(c, 1, FACTS, NULL);
    if (r)
        version = pgsql_cell(r, 0, 0);
    if (!version)
        return plain(c, out, size);
    n = snprintf(out, size, "%.*s", version_len(version), version);
    for (int i = 1; i < FACTS && n >= 0; i++) {
        size_t at = (size_t)n < size ? (size_t)n : size;
        const char *value = pgsql_cell(r, 0, i);

        if (value)
            n += snprintf(out + at, size - at, ", %s %s", names[i], value);
    }
    pgsql_clear(c);
    return n;
}

static int pg_client(char *out, size_t size)
{
    int v = PQlibVersion();

    return snprintf(out, size, "libpq %d.%d", v / 10000, v % 10000);
}

// pg_settings has no row for settings that this user may not see.
#define SETTINGS                                                             \
    "'autovacuum', 'bgwriter_delay', 'bgwriter_lru_maxpages', "              \
    "'checkpoint_completion_target', 'checkpoint_timeout', 'commit_delay', " \
    "'data_checksums', 'default_transaction_isolation', "                    \
    "'effective_cache_size', 'effective_io_concurrency', 'fsync', "          \
    "'full_page_writes', 'huge_pages', 'io_method', 'jit', "                 \
    "'maintenance_work_mem', 'max_connections', 'max_parallel_workers', "    \
    "'max_parallel_workers_per_gather', 'max_wal_size', "                    \
    "'max_worker_processes',"                                                \
    " 'min_wal_size', 'random_page_cost', 'server_version', "                \
    "'shared_buffers', 'shared_preload_libraries', 'synchronous_commit', "   \
    "'synchronous_standby_names', 'temp_buffers', 'wal_buffers', "           \
    "'wal_compression', 'wal_level', 'wal_sync_method', "                    \
    "'wal_writer_delay', 'work_mem'"

// Of the others, those that are not defaults, except for names, places and
// passwords.
static const char settings_sql[] =
    "SELECT name, current_setting(name), source IN ('default', 'override') OR "
    "setting IS NOT DISTINCT FROM boot_val FROM pg_settings WHERE name IN "
    "(" SETTINGS ") OR (source NOT IN ('default', 'override') AND setting IS "
    "DISTINCT FROM boot_val AND name !~* '^(application_name|archive_|bonjour|"
    "client_encoding|cluster_name|datestyle|default_text_search|hosts|"
    "intervalstyle|krb_|lc_|listen_|log_|oauth|port$|primary_|promote_|"
    "recovery_|restore_|search_path|ssl_|syslog|timezone|unix_socket)|_"
    "(command|directory|directories|file)$|conninfo|password|secret|[.]') "
    "ORDER BY name";
// For servers with fewer columns.
static const char known_sql[] = "SELECT name, current_setting(name), NULL FROM "
                                "pg_settings WHERE name IN (" SETTINGS
                                ") ORDER BY name";

static int settings(struct pgsql_conn *c,
    int (*setting)(void *arg, const char *name, const char *value,
        enum sb_setting_state state),
    void *arg, struct sb_err *err)
{
    const PGresult *r = NULL;
    int rc = pgsql_run(c, settings_sql, err);

    if (rc == SB_EQUERY) {
        pgsql_clear(c);
        rc = pgsql_run(c, known_sql, err);
    }
    if (rc == 0)
        r = pgsql_answer(c, 0, 3, NULL);
    for (int i = 0; r && rc == 0 && i < PQntuples(r); i++) {
        const char *name = pgsql_cell(r, i, 0), *value = pgsql_cell(r, i, 1);
        const char *is_default = pgsql_cell(r, i, 2);

        if (name && value)
            rc = setting(arg, name, value,
                !is_default          ? SB_SETTING_UNKNOWN
                : *is_default == 't' ? SB_SETTING_DEFAULT
                                     : SB_SETTING_CHANGED);
    }
    pgsql_clear(c);
    return rc == SB_EQUERY ? 0 : rc; // a server without this view
}

static int pg_describe(struct sb_conn *conn, struct sb_server *out,
    int (*setting)(void *arg, const char *name, const char *value,
        enum sb_setting_state state),
    void *arg, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    const char *version = NULL;
    int rc = pgsql_run(c, "SELECT version()", err);

    sb_sock_peer(c->fd, out->address, sizeof(out->address));
    snprintf(out->database, sizeof(out->database), "%s", PQdb(c->db));
    out->bypass = c->plain;
    out->pid = PQbackendPID(c->db);
    if (rc && rc != SB_EQUERY)
        return rc;
    if (rc == 0 && pgsql_answer(c, 1, 1, NULL))
        version = pgsql_cell(pgsql_answer(c, 1, 1, NULL), 0, 0);
    if (version)
        snprintf(out->name, sizeof(out->name), "%.*s", version_len(version),
            version);
    else
        plain(c, out->name, sizeof(out->name));
    pgsql_clear(c);
    return settings(c, setting, arg, err);
}

static int pg_ping(struct sb_conn *conn, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int rc = pgsql_run(c, "SELECT 1", err);

    pgsql_clear(c);
    return rc;
}

// target.c: the port changes with each connection, and the host after all
// ports.
static uint64_t pg_servers(const struct sb_driver_env *env)
{
    const struct pgsql_opts *o = ((const struct pgsql_env *)env->shared)->o;
    uint64_t hosts = o->host.count ? o->host.count : 1;

    return hosts * (o->port.count ? o->port.count : 1);
}

const struct sb_info_ops pgsql_info_ops = {
    .server = pg_server,
    .client = pg_client,
    .describe = pg_describe,
    .servers = pg_servers,
    .counters = pg_counters,
    .ping = pg_ping,
    .inspect = pgsql_inspect,
    .explain = pgsql_explain,
    .activity = pgsql_activity,
    .session = pgsql_session,
    .statements = pgsql_statements,
    // PostgreSQL 15 and later: PGSTAT_MIN_INTERVAL. Before, a connection sent
    // what it had counted after half a second, and the file of the collector
    // was half a second old.
    .counters_delay = UINT64_C(1000000000),
    .counters_default = COUNTERS,
};
