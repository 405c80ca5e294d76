// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a server says about itself, by the standard names of db/driver.h.
#include <math.h>
#include <stdlib.h>

#include "drivers/pgsql/internal.h"

static double number_of(const PGresult *r, int row, int column)
{
    const char *text = pgsql_cell(r, row, column);

    return text ? strtod(text, NULL) : NAN;
}

// A question whose answers belong to some parts.
struct question {
    const char *source, *sql;
    int since, before; // major versions of the server; 0: all
    unsigned parts;    // 1u << enum sb_inspect_part
    int columns;
    int (*take)(const PGresult *r, const struct sb_inspect_sink *to);
};

static int take_cache(const PGresult *r, const struct sb_inspect_sink *to)
{
    int rc = to->fact(to->arg, SB_FACT_CACHE_BYTES, number_of(r, 0, 0));

    if (rc == 0)
        rc = to->fact(to->arg, SB_FACT_CACHE_REQUESTS, number_of(r, 0, 1));
    return rc ? rc
              : to->fact(to->arg, SB_FACT_CACHE_MISSES, number_of(r, 0, 2));
}

static int take_tables(const PGresult *r, const struct sb_inspect_sink *to)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < PQntuples(r); i++) {
        const char *name = pgsql_cell(r, i, 0);
        const struct sb_table_facts t = { .name = name,
            .rows = number_of(r, i, 1),
            .bytes = number_of(r, i, 2),
            .changed = number_of(r, i, 3),
            .analyzed = number_of(r, i, 4),
            .uses = number_of(r, i, 5),
            .dead = number_of(r, i, 6) };

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

// The third column is a method of writing that counts no flushes, or NULL.
static int take_log(const PGresult *r, const struct sb_inspect_sink *to)
{
    const char *method = pgsql_cell(r, 0, 2);
    int rc = to->fact(to->arg, SB_FACT_LOG_BYTES, number_of(r, 0, 0));

    if (rc == 0 && !method)
        rc = to->fact(to->arg, SB_FACT_LOG_FLUSHES, number_of(r, 0, 1));
    return rc;
}

static int take_work(const PGresult *r, const struct sb_inspect_sink *to)
{
    static const enum sb_fact_id id[] = { SB_FACT_UPTIME, SB_FACT_ROWS_EXAMINED,
        SB_FACT_READ_BYTES, SB_FACT_WRITTEN_BYTES, SB_FACT_FSYNCS };
    int rc = 0;

    for (int i = 0; rc == 0 && i < 5; i++)
        rc = to->fact(to->arg, id[i], number_of(r, 0, i));
    return rc;
}

static int take_debt(const PGresult *r, const struct sb_inspect_sink *to)
{
    int rc = to->fact(to->arg, SB_FACT_LOG_DEBT, number_of(r, 0, 0));

    return rc ? rc : to->fact(to->arg, SB_FACT_LOG_LIMIT, number_of(r, 0, 1));
}

static int take_locks(const PGresult *r, const struct sb_inspect_sink *to)
{
    int rc = to->fact(to->arg, SB_FACT_LOCK_WAITERS, number_of(r, 0, 0));

    return rc ? rc : to->fact(to->arg, SB_FACT_DEADLOCKS, number_of(r, 0, 1));
}

#define NOT_COUNTED                                                        \
    "(SELECT setting FROM pg_settings WHERE name = 'wal_sync_method' AND " \
    "setting LIKE 'open%')"

// The position in the log is exact; its statistics are late. Without log of its
// own, a replica has only them.
#define LOG_POSITION                            \
    "SELECT CASE WHEN NOT pg_is_in_recovery() " \
    "THEN pg_current_wal_insert_lsn() - '0/0'::pg_lsn "

// Entries of indexes and rows of sequential scans; pages.
#define WORK                                                            \
    "SELECT extract(epoch FROM clock_timestamp() - "                    \
    "pg_postmaster_start_time()), sum(tup_returned), sum(blks_read) * " \
    "current_setting('block_size')::bigint, "
#define WORK_OF " FROM pg_stat_database"

static const struct question questions[] = {
    { "pg_stat_database",
        "SELECT (SELECT setting::bigint FROM pg_settings WHERE name = "
        "'shared_buffers') * current_setting('block_size')::bigint, "
        "blks_hit + blks_read, blks_read FROM pg_stat_database WHERE datname = "
        "current_database()",
        0, 0, 1u << SB_PART_CACHE, 3, take_cache },
    // The largest ones first: the core keeps some of them only. Sizes need a
    // lock, for which this statement does not wait long.
    { "pg_stat_user_tables",
        "WITH t AS MATERIALIZED (SELECT set_config('lock_timeout', '1000', "
        "true)) SELECT CASE s.schemaname WHEN 'public' THEN '' ELSE "
        "s.schemaname || '.' END || s.relname, s.n_live_tup, "
        "pg_total_relation_size(s.relid), "
        "s.n_mod_since_analyze, (s.last_analyze IS NOT NULL OR "
        "s.last_autoanalyze IS NOT NULL OR EXISTS (SELECT FROM pg_stats p "
        "WHERE p.schemaname = s.schemaname AND p.tablename = s.relname))::int, "
        "coalesce(s.seq_scan, 0) + coalesce(s.idx_scan, 0) + s.n_tup_ins + "
        "s.n_tup_upd + s.n_tup_del, s.n_dead_tup FROM t, pg_stat_user_tables s "
        "ORDER BY 3 DESC NULLS LAST LIMIT 1000",
        12, 0, 1u << SB_PART_SIZE | 1u << SB_PART_STATISTICS, 7, take_tables },
    { "pg_settings",
        // Only some users may see the folder.
        "SELECT CASE setting WHEN 'off' THEN name || '=off' END, CASE name "
        "WHEN 'data_directory' THEN setting END FROM pg_settings WHERE name IN "
        "('fsync', 'synchronous_commit', 'data_directory') ORDER BY name",
        0, 0, 1u << SB_PART_DURABILITY, 2, take_durability },
    { "pg_current_wal_insert_lsn()", LOG_POSITION "END, NULL, 'unknown'", 10,
        14, 1u << SB_PART_LOG, 3, take_log },
    { "pg_stat_wal",
        LOG_POSITION "ELSE wal_bytes END, wal_sync, " NOT_COUNTED
                     " FROM pg_stat_wal",
        14, 18, 1u << SB_PART_LOG, 3, take_log },
    { "pg_stat_io",
        LOG_POSITION "ELSE (SELECT wal_bytes FROM pg_stat_wal) END, "
                     "sum(fsyncs), " NOT_COUNTED
                     " FROM pg_stat_io WHERE object = 'wal'",
        18, 0, 1u << SB_PART_LOG, 3, take_log },
    { "pg_stat_database",
        WORK "(SELECT buffers_checkpoint + buffers_clean + buffers_backend "
             "FROM pg_stat_bgwriter) * current_setting('block_size')::bigint, "
             "NULL" WORK_OF,
        0, 16, 1u << SB_PART_WORK, 5, take_work },
    { "pg_stat_io",
        WORK "(SELECT sum((coalesce(writes, 0) + coalesce(extends, 0)) * "
             "op_bytes) FROM pg_stat_io WHERE object = 'relation'), "
             "(SELECT sum(fsyncs) FROM pg_stat_io) + "
             "(SELECT wal_sync FROM pg_stat_wal)" WORK_OF,
        16, 18, 1u << SB_PART_WORK, 5, take_work },
    { "pg_stat_io",
        WORK
        "(SELECT sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) "
        "FROM pg_stat_io WHERE object = 'relation'), "
        "(SELECT sum(fsyncs) FROM pg_stat_io)" WORK_OF,
        18, 0, 1u << SB_PART_WORK, 5, take_work },
    // The distance between checkpoints that keeps the log below max_wal_size.
    { "pg_control_checkpoint()",
        "SELECT pg_current_wal_insert_lsn() - redo_lsn, (SELECT "
        "setting::float8 * 1024 * 1024 FROM pg_settings WHERE name = "
        "'max_wal_size') / (1 + "
        "current_setting('checkpoint_completion_target')::float8) "
        "FROM pg_control_checkpoint()",
        10, 0, 1u << SB_PART_DEBT, 2, take_debt },
    // The server counts no waits for locks.
    { "pg_stat_activity",
        "SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = "
        "current_database() AND wait_event_type = 'Lock' AND wait_event IN "
        "('transactionid', 'tuple')), deadlocks FROM pg_stat_database WHERE "
        "datname = current_database()",
        10, 0, 1u << SB_PART_LOCKS, 2, take_locks },
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

// Runs a question with one answer, which is valid until pgsql_clear(). NULL:
// the server refused it, or the answer is NULL.
static const char *ask_text(
    struct pgsql_conn *c, const char *sql, int *rc, struct sb_err *err)
{
    *rc = pgsql_run(c, sql, err);
    return *rc ? NULL : pgsql_cell(pgsql_answer(c, 1, 1, NULL), 0, 0);
}

static int ask_extra(struct pgsql_conn *c, const struct extra *e,
    const struct sb_inspect_sink *to, struct sb_err *err)
{
    char sql[200];
    const char *text;
    bool can = true;
    int rc = 0;

    if (e->needs) {
        snprintf(sql, sizeof(sql), "SELECT 1 WHERE %s", e->needs);
        can = ask_text(c, sql, &rc, err) != NULL;
        pgsql_clear(c);
    }
    text = can ? ask_text(c, e->sql, &rc, err) : NULL;
    if (text)
        rc = to->fact(to->arg, e->id, strtod(text, NULL));
    pgsql_clear(c);
    return sb_err_is_refusal(rc) ? 0 : rc;
}

static bool is_for(int version, int since, int before)
{
    return version >= since && (!before || version < before);
}

static int answer(struct pgsql_conn *c, const struct question *q,
    const struct sb_inspect_sink *to, struct sb_err *err)
{
    int rc = pgsql_run(c, q->sql, err);
    const PGresult *r = rc ? NULL : pgsql_answer(c, 0, q->columns, err);
    const struct sb_err *why = r ? NULL : err;
    bool refused = sb_err_is_refusal(rc);

    if (rc == 0 && r)
        rc = q->take(r, to);
    for (int i = 0; (rc == 0 || refused) && i < SB_PARTS; i++) {
        if (q->parts >> i & 1)
            to->part(to->arg, (enum sb_inspect_part)i, q->source, why);
    }
    pgsql_clear(c);
    return refused ? 0 : rc;
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
    if (rc == SB_EQUERY)
        rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(questions) / sizeof(questions[0]);
         i++) {
        const struct question *q = &questions[i];

        if (is_for(version, q->since, q->before) && (to->parts & q->parts))
            rc = answer(c, q, to, err);
    }
    for (size_t i = 0; rc == 0 && (to->parts >> SB_PART_DEBT & 1) &&
                       i < sizeof(extras) / sizeof(extras[0]);
         i++) {
        if (is_for(version, extras[i].since, extras[i].before))
            rc = ask_extra(c, &extras[i], to, err);
    }
    return rc;
}
