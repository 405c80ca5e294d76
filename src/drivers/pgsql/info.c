// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/pgsql/internal.h"
#include "kit/sock.h"

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

static int server(struct sb_conn *conn, char *out, size_t size)
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

static int client(char *out, size_t size)
{
    int v = PQlibVersion();

    return snprintf(out, size, "libpq %d.%d", v / 10000, v % 10000);
}

// pg_settings has no row for settings that this user may not see.
static const char settings_sql[] =
    "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ("
    "'autovacuum', 'bgwriter_delay', 'bgwriter_lru_maxpages', "
    "'checkpoint_completion_target', 'checkpoint_timeout', 'commit_delay', "
    "'data_checksums', 'default_transaction_isolation', "
    "'effective_cache_size', 'effective_io_concurrency', 'fsync', "
    "'full_page_writes', 'huge_pages', 'io_method', 'jit', "
    "'maintenance_work_mem', 'max_connections', 'max_parallel_workers', "
    "'max_parallel_workers_per_gather', 'max_wal_size', 'max_worker_processes',"
    " 'min_wal_size', 'random_page_cost', 'server_version', "
    "'shared_buffers', 'shared_preload_libraries', 'synchronous_commit', "
    "'synchronous_standby_names', 'temp_buffers', 'wal_buffers', "
    "'wal_compression', 'wal_level', 'wal_sync_method', "
    "'wal_writer_delay', 'work_mem') ORDER BY name";

static int settings(struct pgsql_conn *c,
    int (*setting)(void *arg, const char *name, const char *value), void *arg,
    struct sb_err *err)
{
    const PGresult *r = NULL;
    int rc = pgsql_run(c, settings_sql, err);

    if (rc == 0)
        r = pgsql_answer(c, 0, 2, NULL);
    for (int i = 0; r && rc == 0 && i < PQntuples(r); i++) {
        const char *name = pgsql_cell(r, i, 0), *value = pgsql_cell(r, i, 1);

        if (name && value)
            rc = setting(arg, name, value);
    }
    pgsql_clear(c);
    return rc == SB_EQUERY ? 0 : rc; // a server without this view
}

static int describe(struct sb_conn *conn, struct sb_server *out,
    int (*setting)(void *arg, const char *name, const char *value), void *arg,
    struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    const char *version = NULL;
    int rc = pgsql_run(c, "SELECT version()", err);

    sb_sock_peer(c->fd, out->address, sizeof(out->address));
    snprintf(out->database, sizeof(out->database), "%s", PQdb(c->db));
    out->bypass = c->plain;
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

// target.c: the port changes with each connection, and the host after all
// ports.
static uint64_t servers(const struct sb_driver_env *env)
{
    const struct pgsql_opts *o = ((const struct pgsql_env *)env->shared)->o;
    uint64_t hosts = o->host.count ? o->host.count : 1;

    return hosts * (o->port.count ? o->port.count : 1);
}

const struct sb_info_ops pgsql_info_ops = {
    .server = server,
    .client = client,
    .describe = describe,
    .servers = servers,
    .counters = pgsql_counters,
    // PostgreSQL 15 and later: PGSTAT_MIN_INTERVAL. Before, a connection sent
    // what it had counted after half a second, and the file of the collector
    // was half a second old.
    .counters_delay = UINT64_C(1000000000),
    .counters_default = PGSQL_COUNTERS,
};
