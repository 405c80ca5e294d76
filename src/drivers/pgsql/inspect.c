// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a server says about itself, by the standard names of db/driver.h.
#include <math.h>

#include "drivers/pgsql/internal.h"

// A question whose answers belong to some parts.
struct question {
    const char *source, *sql;
    int since, before; // major versions of the server; 0: all
    unsigned parts;    // 1u << enum sb_inspect_part
    int columns;
    // NULL: one row of facts.
    int (*take)(const PGresult *r, const struct sb_inspect_sink *to);
    enum sb_fact_id id[5]; // of its columns
};

static int take_tables(const PGresult *r, const struct sb_inspect_sink *to)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < PQntuples(r); i++) {
        const char *name = pgsql_cell(r, i, 0);
        const struct sb_table_facts t = { .name = name,
            .rows = pgsql_number(r, i, 1),
            .bytes = pgsql_number(r, i, 2),
            .changed = pgsql_number(r, i, 3),
            .analyzed = pgsql_number(r, i, 4),
            .uses = pgsql_number(r, i, 5),
            .dead = pgsql_number(r, i, 6) };

        if (name)
            rc = to->table(to->arg, &t);
    }
    return rc;
}

static int take_durability(const PGresult *r, const struct sb_inspect_sink *to)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < PQntuples(r); i++) {
        const char *setting = pgsql_cell(r, i, 0);
        const char *folder = pgsql_cell(r, i, 1);

        if (setting)
            rc = to->undurable(to->arg, setting);
        if (folder && rc == 0)
            rc = to->folder(to->arg, folder);
    }
    return rc;
}

// The position in the log is exact; its statistics are late. The server does
// not count the flushes of log that a standby receives, and with two methods of
// writing there are none.
#define LOG                                                          \
    "SELECT CASE WHEN pg_is_in_recovery() THEN "                     \
    "greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) " \
    "ELSE pg_current_wal_insert_lsn() END - '0/0'::pg_lsn"
#define FLUSHES(count)                                     \
    ", CASE WHEN NOT pg_is_in_recovery() AND "             \
    "current_setting('wal_sync_method') NOT LIKE 'open%' " \
    "THEN " count " END "
#define LOG_FACTS                              \
    {                                          \
        SB_FACT_LOG_BYTES, SB_FACT_LOG_FLUSHES \
    }

// Entries of indexes and rows of sequential scans; pages.
#define WORK                                                            \
    "SELECT extract(epoch FROM clock_timestamp() - "                    \
    "pg_postmaster_start_time()), sum(tup_returned), sum(blks_read) * " \
    "current_setting('block_size')::bigint, "
#define WORK_OF " FROM pg_stat_database"
#define WORK_FACTS                                                 \
    {                                                              \
        SB_FACT_UPTIME, SB_FACT_ROWS_EXAMINED, SB_FACT_READ_BYTES, \
            SB_FACT_WRITTEN_BYTES, SB_FACT_FSYNCS                  \
    }

// Of the questions for a part, those for older versions come first.
static const struct question questions[] = {
    { "pg_stat_database",
        "SELECT (SELECT setting::bigint FROM pg_settings WHERE name = "
        "'shared_buffers') * current_setting('block_size')::bigint, "
        "blks_hit + blks_read, blks_read FROM pg_stat_database WHERE datname = "
        "current_database()",
        0, 0, 1u << SB_PART_CACHE, 3, NULL,
        { SB_FACT_CACHE_BYTES, SB_FACT_CACHE_REQUESTS, SB_FACT_CACHE_MISSES } },
    // The largest ones first: the core keeps some of them only. Sizes need a
    // lock, for which this statement does not wait long.
    { "pg_stat_user_tables",
        "WITH t AS MATERIALIZED (SELECT set_config('lock_timeout', '1000', "
        "true)) SELECT CASE s.schemaname WHEN 'public' THEN '' ELSE "
        "s.schemaname || '.' END || s.relname, "
        // A standby does not count rows.
        "CASE WHEN pg_is_in_recovery() THEN (SELECT greatest(reltuples, 0) "
        "FROM pg_class WHERE oid = s.relid) ELSE s.n_live_tup END, "
        "pg_total_relation_size(s.relid), "
        "s.n_mod_since_analyze, (s.last_analyze IS NOT NULL OR "
        "s.last_autoanalyze IS NOT NULL OR EXISTS (SELECT FROM pg_stats p "
        "WHERE p.schemaname = s.schemaname AND p.tablename = s.relname))::int, "
        "coalesce(s.seq_scan, 0) + coalesce(s.idx_scan, 0) + s.n_tup_ins + "
        "s.n_tup_upd + s.n_tup_del, s.n_dead_tup FROM t, pg_stat_user_tables s "
        "ORDER BY 3 DESC NULLS LAST LIMIT 1000",
        12, 0, 1u << SB_PART_SIZE | 1u << SB_PART_STATISTICS, 7, take_tables,
        { 0 } },
    { "pg_settings",
        // Only some users may see the folder.
        "SELECT CASE setting WHEN 'off' THEN name || '=off' END, CASE name "
        "WHEN 'data_directory' THEN setting END FROM pg_settings WHERE name IN "
        "('fsync', 'synchronous_commit', 'data_directory') ORDER BY name",
        0, 0, 1u << SB_PART_DURABILITY, 2, take_durability, { 0 } },
    { "pg_current_wal_insert_lsn()", LOG, 10, 14, 1u << SB_PART_LOG, 1, NULL,
        LOG_FACTS },
    { "pg_stat_wal", LOG FLUSHES("wal_sync") "FROM pg_stat_wal", 14, 18,
        1u << SB_PART_LOG, 2, NULL, LOG_FACTS },
    { "pg_stat_io",
        LOG FLUSHES("sum(fsyncs)") "FROM pg_stat_io WHERE object = 'wal'", 18,
        0, 1u << SB_PART_LOG, 2, NULL, LOG_FACTS },
    { "pg_stat_database",
        WORK "(SELECT buffers_checkpoint + buffers_clean + buffers_backend "
             "FROM pg_stat_bgwriter) * current_setting('block_size')::bigint, "
             "NULL" WORK_OF,
        0, 16, 1u << SB_PART_WORK, 5, NULL, WORK_FACTS },
    { "pg_stat_io",
        WORK "(SELECT sum((coalesce(writes, 0) + coalesce(extends, 0)) * "
             "op_bytes) FROM pg_stat_io WHERE object = 'relation'), "
             "(SELECT sum(fsyncs) FROM pg_stat_io) + "
             "(SELECT wal_sync FROM pg_stat_wal)" WORK_OF,
        16, 18, 1u << SB_PART_WORK, 5, NULL, WORK_FACTS },
    { "pg_stat_io",
        WORK
        "(SELECT sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) "
        "FROM pg_stat_io WHERE object = 'relation'), "
        "(SELECT sum(fsyncs) FROM pg_stat_io)" WORK_OF,
        18, 0, 1u << SB_PART_WORK, 5, NULL, WORK_FACTS },
    // The distance between checkpoints that keeps the log below max_wal_size.
    { "pg_control_checkpoint()",
        "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() "
        "ELSE pg_current_wal_insert_lsn() END - redo_lsn, (SELECT "
        "setting::float8 * 1024 * 1024 FROM pg_settings WHERE name = "
        "'max_wal_size') / (1 + "
        "current_setting('checkpoint_completion_target')::float8) "
        "FROM pg_control_checkpoint()",
        10, 0, 1u << SB_PART_DEBT, 2, NULL,
        { SB_FACT_LOG_DEBT, SB_FACT_LOG_LIMIT } },
    // The server counts no waits for locks.
    { "pg_stat_activity",
        "SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = "
        "current_database() AND wait_event_type = 'Lock' AND wait_event IN "
        "('transactionid', 'tuple')), deadlocks FROM pg_stat_database WHERE "
        "datname = current_database()",
        10, 0, 1u << SB_PART_LOCKS, 2, NULL,
        { SB_FACT_LOCK_WAITERS, SB_FACT_DEADLOCKS } },
};

// Debts that only some servers have, or show to some users: the part is
// complete without them.
static const struct extra {
    enum sb_fact_id id;
    int since, before; // as of a question
    const char *needs; // must be true; NULL: nothing
    const char *sql;
} extras[] = {
    // The view pg_buffercache would lock each page.
    { SB_FACT_DIRTY_BYTES, 16, 0,
        "has_function_privilege(to_regprocedure('pg_buffercache_summary()'), "
        "'EXECUTE')",
        "SELECT buffers_dirty * current_setting('block_size')::bigint FROM "
        "pg_buffercache_summary()" },
    // Users who are no members of pg_monitor see NULL.
    { SB_FACT_REPLICA_BYTES, 10, 0, NULL,
        "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() - "
        "pg_last_wal_replay_lsn() ELSE (SELECT max(pg_current_wal_lsn() - "
        "replay_lsn) FROM pg_stat_replication) END" },
};

// Runs a question with one answer. NaN: the server refused it, or the answer is
// NULL.
static double ask_number(
    struct pgsql_conn *c, const char *sql, int *rc, struct sb_err *err)
{
    double value = NAN;

    *rc = pgsql_run(c, sql, err);
    if (*rc == 0)
        value = pgsql_number(pgsql_answer(c, 1, 1, NULL), 0, 0);
    pgsql_clear(c);
    return value;
}

static int ask_extra(struct pgsql_conn *c, const struct extra *e,
    const struct sb_inspect_sink *to, struct sb_err *err)
{
    char sql[200];
    double value = 1;
    int rc = 0;

    if (e->needs) {
        snprintf(sql, sizeof(sql), "SELECT 1 WHERE %s", e->needs);
        value = ask_number(c, sql, &rc, err);
    }
    if (!isnan(value))
        value = ask_number(c, e->sql, &rc, err);
    if (!isnan(value))
        rc = to->fact(to->arg, e->id, value);
    return sb_err_is_refusal(rc) ? 0 : rc;
}

static bool is_for(int version, int since, int before)
{
    return version >= since && (!before || version < before);
}

static int take_facts(const struct question *q, const PGresult *r,
    const struct sb_inspect_sink *to)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < q->columns; i++)
        rc = to->fact(to->arg, q->id[i], pgsql_number(r, 0, i));
    return rc;
}

static void tell_parts(const struct question *q, unsigned parts,
    const struct sb_inspect_sink *to, const struct sb_err *why)
{
    for (int i = 0; i < SB_PARTS; i++) {
        if (parts >> i & 1)
            to->part(to->arg, (enum sb_inspect_part)i, q->source, why);
    }
}

static int answer(struct pgsql_conn *c, const struct question *q,
    const struct sb_inspect_sink *to, struct sb_err *err)
{
    int rc = pgsql_run(c, q->sql, err);
    const PGresult *r = rc ? NULL : pgsql_answer(c, 0, q->columns, err);
    bool refused = sb_err_is_refusal(rc);

    if (rc == 0 && r)
        rc = q->take ? q->take(r, to) : take_facts(q, r, to);
    if (rc == 0 || refused)
        tell_parts(q, q->parts, to, r ? NULL : err);
    pgsql_clear(c);
    return refused ? 0 : rc;
}

static int answer_all(struct pgsql_conn *c, int version,
    const struct sb_inspect_sink *to, struct sb_err *err)
{
    size_t n = sizeof(questions) / sizeof(questions[0]);
    unsigned left = to->parts;
    struct sb_err old = { 0 };
    int rc = 0;

    for (const struct question *q = questions; rc == 0 && q < questions + n;
         q++) {
        if (!is_for(version, q->since, q->before) || !(to->parts & q->parts))
            continue;
        left &= ~q->parts;
        rc = answer(c, q, to, err);
    }
    for (const struct question *q = questions; q < questions + n; q++) {
        sb_err_set(&old, SB_EUNSUPPORTED, "needs PostgreSQL %d", q->since);
        tell_parts(q, q->parts & left, to, &old);
        left &= ~q->parts;
    }
    return rc;
}

int pgsql_inspect(
    struct sb_conn *conn, const struct sb_inspect_sink *to, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int version = PQserverVersion(c->db) / 10000, rc = 0;

    // What this connection has done so far is then in the statistics.
    if ((to->parts >> SB_PART_WORK & 1) && version >= 15)
        rc = pgsql_run(c, "SELECT pg_stat_force_next_flush()", err);
    pgsql_clear(c);
    if (rc == 0 || rc == SB_EQUERY)
        rc = answer_all(c, version, to, err);
    for (size_t i = 0; rc == 0 && (to->parts >> SB_PART_DEBT & 1) &&
                       i < sizeof(extras) / sizeof(extras[0]);
         i++) {
        if (is_for(version, extras[i].since, extras[i].before))
            rc = ask_extra(c, &extras[i], to, err);
    }
    return rc;
}
