// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "drivers/pgsql/pgsql_priv.h"

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

    // An error of this query must not end the script's transaction.
    if (pgsql_transaction(c) == PQTRANS_IDLE &&
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

static const char counters_sql[] =
    "SELECT sum(xact_commit) AS xact_commit, "
    "sum(xact_rollback) AS xact_rollback, "
    "sum(blks_read) AS blks_read, sum(blks_hit) AS blks_hit, "
    "sum(tup_returned) AS tup_returned, sum(tup_fetched) AS tup_fetched, "
    "sum(tup_inserted) AS tup_inserted, sum(tup_updated) AS tup_updated, "
    "sum(tup_deleted) AS tup_deleted, sum(deadlocks) AS deadlocks, "
    "sum(temp_bytes) AS temp_bytes, sum(numbackends) AS backends, "
    "(SELECT count(*) FROM pg_locks WHERE NOT granted) AS waiting_locks "
    "FROM pg_stat_database";

static int counters(struct sb_conn *conn,
    int (*visit)(void *arg, const char *name, double value), void *arg,
    struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int rc = pgsql_run(c, counters_sql, err);
    const PGresult *r;

    if (rc)
        return rc;
    r = pgsql_answer(c, 1, 0, err);
    if (!r)
        rc = SB_EQUERY;
    for (int i = 0; r && i < PQnfields(r) && rc == 0; i++) {
        const char *value = pgsql_cell(r, 0, i);

        if (value)
            rc = visit(arg, PQfname(r, i), strtod(value, NULL));
    }
    pgsql_clear(c);
    return rc;
}

const struct sb_info_ops pgsql_info_ops = {
    .server = server,
    .client = client,
    .counters = counters,
};
