// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a server says about itself, by the standard names of db/driver.h.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "drivers/mysql/internal.h"

// Columns: name, rows, bytes, rows changed since the statistics were collected,
// whether there are any, accesses; -1 is unknown. The view of InnoDB requires
// the privilege PROCESS and has two names; a table in partitions has no row
// there. performance_schema counts accesses if it is on; it requires
// privileges, too.
static void write_tables_sql(
    char *out, size_t size, const char *view, bool counts)
{
    char joined[200] = "";

    if (view)
        snprintf(joined, sizeof(joined),
            "LEFT JOIN information_schema.%s s ON s.name = "
            "concat(t.table_schema, '/', t.table_name) ",
            view);
    snprintf(out, size,
        "SELECT t.table_name, coalesce(t.table_rows, -1), "
        "coalesce(t.data_length + t.index_length, -1), %s, %s "
        "FROM information_schema.tables t %s%sWHERE t.table_schema = "
        "database() AND t.table_type = 'BASE TABLE' ORDER BY 3 DESC "
        "LIMIT 1000",
        view ? "coalesce(s.modified_counter, -1), "
               "coalesce(CAST(s.stats_initialized AS CHAR) IN "
               "('1', 'Initialized'), -1)"
             : "-1, -1",
        counts ? "coalesce(u.count_star, -1)" : "-1", joined,
        counts ? "LEFT JOIN performance_schema.table_io_waits_summary_by_table "
                 "u ON u.object_schema = t.table_schema AND u.object_name = "
                 "t.table_name AND @@performance_schema "
               : "");
}

static double known_number(const char *text)
{
    double value = strtod(text, NULL);

    return value < 0 ? NAN : value;
}

static int take_table(void *arg, MYSQL_ROW row)
{
    const struct sb_inspect_sink *to = arg;
    const struct sb_table_facts t = { .name = row[0],
        .rows = known_number(row[1]),
        .bytes = known_number(row[2]),
        .changed = known_number(row[3]),
        .dead = NAN,
        .analyzed = known_number(row[4]),
        .uses = known_number(row[5]) };

    return to->table(to->arg, &t);
}

#define NO_TABLE 1109 // ER_UNKNOWN_TABLE

// Reads the tables with as much as this user may see. *view: the view of
// InnoDB, or NULL if it cannot be read, with the reason in *why.
static int read_tables(struct sbmy_conn *c, const struct sb_inspect_sink *to,
    const char **view, struct sb_err *why, struct sb_err *err)
{
    static const char *const views[] = { "innodb_tablestats",
        "innodb_sys_tablestats", NULL };
    int rc = SB_EQUERY;

    for (size_t i = 0; rc == SB_EQUERY && i < 3; i++) {
        for (int counts = 1; rc == SB_EQUERY && counts >= 0; counts--) {
            char sql[1000];

            *view = views[i];
            write_tables_sql(sql, sizeof(sql), views[i], counts);
            rc = sbmy_ask_each(c, sql, 6, take_table, (void *)to, err);
            // A view that the other fork has says nothing.
            if (rc == SB_EQUERY && !counts &&
                (why->code == 0 || why->native == NO_TABLE))
                *why = *err;
        }
    }
    return rc;
}

static int inspect_tables(
    struct sbmy_conn *c, const struct sb_inspect_sink *to, struct sb_err *err)
{
    struct sb_err why = { 0 };
    const char *view = NULL;
    int rc;

    // MySQL 8 otherwise shows sizes that are a day old; others do not have it.
    sbmy_ask_nothing(
        c, "SET SESSION information_schema_stats_expiry = 0", NULL);
    rc = read_tables(c, to, &view, &why, err);
    if (rc && rc != SB_EQUERY)
        return rc;
    to->part(
        to->arg, SB_PART_SIZE, "information_schema.tables", rc ? err : NULL);
    to->part(to->arg, SB_PART_STATISTICS,
        "information_schema.innodb_tablestats", view ? NULL : &why);
    return 0;
}

// What InnoDB counts does not include tables of other engines.
static int take_engine(void *arg, MYSQL_ROW row)
{
    sb_err_set(arg, SB_EUNSUPPORTED,
        "table %.50s uses the engine %.20s; only InnoDB's settings and "
        "counters are known",
        row[0], row[1]);
    return 0;
}

static int find_other_engine(
    struct sbmy_conn *c, struct sb_err *other, struct sb_err *err)
{
    int rc = sbmy_ask_each(c,
        "SELECT table_name, engine FROM information_schema.tables WHERE "
        "table_schema = database() AND engine <> 'InnoDB' LIMIT 1",
        2, take_engine, other, err);

    return rc == SB_EQUERY ? 0 : rc;
}

static bool wants(const struct sb_inspect_sink *to, enum sb_inspect_part part)
{
    return to->parts >> part & 1;
}

static int take_sizes(void *arg, MYSQL_ROW row)
{
    const struct sb_inspect_sink *to = arg;
    int rc = 0;

    if (wants(to, SB_PART_CACHE))
        rc = to->fact(to->arg, SB_FACT_CACHE_BYTES, strtod(row[0], NULL));
    if (rc == 0 && wants(to, SB_PART_DEBT))
        rc = to->fact(to->arg, SB_FACT_DIRTY_LIMIT, strtod(row[1], NULL));
    return rc;
}

// What the server counts; `unit` is the count that it is multiplied by. Each
// server has some of these. Of several for a fact, the last one is used:
// MariaDB counts rows of all engines but those of temporary tables, and MySQL
// those of InnoDB, without system tables.
static const struct {
    enum sb_inspect_part part;
    enum sb_fact_id id;
    const char *name, *unit;
} counts[] = {
    { SB_PART_CACHE, SB_FACT_CACHE_REQUESTS, "Innodb_buffer_pool_read_requests",
        NULL },
    { SB_PART_CACHE, SB_FACT_CACHE_MISSES, "Innodb_buffer_pool_reads", NULL },
    { SB_PART_LOG, SB_FACT_LOG_BYTES, "Innodb_os_log_written", NULL },
    { SB_PART_LOG, SB_FACT_LOG_FLUSHES, "Innodb_os_log_fsyncs", NULL },
    { SB_PART_DEBT, SB_FACT_LOG_DEBT, "Innodb_checkpoint_age", NULL },
    { SB_PART_DEBT, SB_FACT_LOG_LIMIT, "Innodb_checkpoint_max_age", NULL },
    { SB_PART_DEBT, SB_FACT_LOG_DEBT, "Innodb_redo_log_logical_size", NULL },
    { SB_PART_DEBT, SB_FACT_LOG_LIMIT, "Innodb_redo_log_capacity_resized",
        NULL },
    { SB_PART_DEBT, SB_FACT_DIRTY_BYTES, "Innodb_buffer_pool_bytes_dirty",
        NULL },
    { SB_PART_DEBT, SB_FACT_PURGE, "Innodb_history_list_length", NULL },
    { SB_PART_LOCKS, SB_FACT_LOCK_WAITS, "Innodb_row_lock_waits", NULL },
    { SB_PART_LOCKS, SB_FACT_DEADLOCKS, "Innodb_deadlocks", NULL },
    { SB_PART_WORK, SB_FACT_UPTIME, "Uptime", NULL },
    { SB_PART_WORK, SB_FACT_ROWS_EXAMINED, "Innodb_rows_read", NULL },
    { SB_PART_WORK, SB_FACT_ROWS_EXAMINED, "Rows_read", NULL },
    { SB_PART_WORK, SB_FACT_READ_BYTES, "Innodb_pages_read",
        "Innodb_page_size" },
    { SB_PART_WORK, SB_FACT_WRITTEN_BYTES, "Innodb_pages_written",
        "Innodb_page_size" },
    { SB_PART_WORK, SB_FACT_FSYNCS, "Innodb_data_fsyncs", NULL },
};
#define COUNTS (sizeof(counts) / sizeof(counts[0]))

static double count_of(MYSQL_RES *status, const char *name)
{
    const char *text = sbmy_ask_value(status, name);

    return text ? strtod(text, NULL) : NAN;
}

static int take_counts(
    MYSQL_RES *status, bool innodb, const struct sb_inspect_sink *to)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < COUNTS; i++) {
        const char *name = counts[i].name, *unit = counts[i].unit;
        double value = count_of(status, name) *
                       (unit ? count_of(status, unit) : 1);

        if (wants(to, counts[i].part) && !isnan(value) &&
            (innodb || strncmp(name, "Innodb_", 7) != 0))
            rc = to->fact(to->arg, counts[i].id, value);
    }
    return rc;
}

// other: why what InnoDB counts says nothing; NULL if it does.
static int inspect_counts(struct sbmy_conn *c, struct sb_err *other,
    const struct sb_inspect_sink *to, struct sb_err *err)
{
    MYSQL_RES *status = NULL;
    int rc = 0;

    if (!other)
        rc = sbmy_ask_each(c,
            "SELECT @@innodb_buffer_pool_size, @@innodb_buffer_pool_size / 100 "
            "* @@innodb_max_dirty_pages_pct",
            2, take_sizes, (void *)to, err);
    // Written with O_SYNC, the log needs no flushes.
    if (rc == 0)
        rc = sbmy_ask(c,
            "SHOW GLOBAL STATUS WHERE Variable_name <> 'Innodb_os_log_fsyncs' "
            "OR @@innodb_flush_method <> 'O_DSYNC'",
            2, &status, err);
    if (rc && rc != SB_EQUERY)
        return rc;
    for (size_t i = 0; i < COUNTS; i++) {
        if (wants(to, counts[i].part))
            to->part(to->arg, counts[i].part, "SHOW GLOBAL STATUS",
                rc ? err : other);
    }
    if (rc)
        return 0;
    rc = take_counts(status, !other, to);
    mysql_free_result(status);
    return rc;
}

static int take_setting(void *arg, MYSQL_ROW row)
{
    const struct sb_inspect_sink *to = arg;
    char setting[80];

    if (strcmp(row[0], "datadir") == 0)
        return to->folder(to->arg, row[1]);
    snprintf(setting, sizeof(setting), "%.50s=%.20s", row[0], row[1]);
    return to->undurable(to->arg, setting);
}

// Only MariaDB has the value 3, which flushes more often than 1. If the binary
// log is on, a transaction is durable when it is in that log.
static int inspect_durability(struct sbmy_conn *c, struct sb_err *other,
    const struct sb_inspect_sink *to, struct sb_err *err)
{
    static const char sql[] =
        "SHOW GLOBAL VARIABLES WHERE Variable_name = 'datadir' OR "
        "(Variable_name = 'innodb_flush_log_at_trx_commit' AND Value NOT IN "
        "('1', '3')) OR (Variable_name = 'sync_binlog' AND Value <> '1' AND "
        "@@log_bin) OR (Variable_name = 'innodb_flush_method' AND Value = "
        "'nosync')";
    int rc = other ? 0
                   : sbmy_ask_each(c, sql, 2, take_setting, (void *)to, err);

    if (rc && rc != SB_EQUERY)
        return rc;
    to->part(
        to->arg, SB_PART_DURABILITY, "SHOW GLOBAL VARIABLES", rc ? err : other);
    return 0;
}

static int take_history(void *arg, MYSQL_ROW row)
{
    const struct sb_inspect_sink *to = arg;

    return to->fact(to->arg, SB_FACT_PURGE, strtod(row[0], NULL));
}

// What the server does not have, or does not show to this user, is left out.
// MySQL has the length of the history only in a view with the privilege
// PROCESS.
static int inspect_history(
    struct sbmy_conn *c, const struct sb_inspect_sink *to, struct sb_err *err)
{
    int rc = sbmy_ask_each(c,
        "SELECT count FROM information_schema.innodb_metrics WHERE name = "
        "'trx_rseg_history_len' AND status = 'enabled'",
        1, take_history, (void *)to, err);

    return rc == SB_EQUERY ? 0 : rc;
}

// A server that is no replica has no row; one that is stopped has NULL.
static int inspect_replica(
    struct sbmy_conn *c, const struct sb_inspect_sink *to, struct sb_err *err)
{
    static const char *const sql[] = { "SHOW REPLICA STATUS",
        "SHOW SLAVE STATUS" };
    MYSQL_RES *res = NULL;
    double most = NAN;
    MYSQL_ROW row;
    int rc = SB_EQUERY;

    for (int i = 0; rc == SB_EQUERY && i < 2; i++)
        rc = sbmy_ask(c, sql[i], 1, &res, err);
    if (rc)
        return rc == SB_EQUERY ? 0 : rc;
    while ((row = mysql_fetch_row(res)) != NULL) {
        for (unsigned i = 0; i < mysql_num_fields(res); i++) {
            if (strncasecmp(mysql_fetch_field_direct(res, i)->name,
                    "Seconds_Behind_", 15) == 0 &&
                row[i])
                most = fmax(most, strtod(row[i], NULL));
        }
    }
    mysql_free_result(res);
    return to->fact(to->arg, SB_FACT_REPLICA_SECONDS, most);
}

int sbmy_inspect(
    struct sb_conn *conn, const struct sb_inspect_sink *to, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct sb_err why = { 0 }, *other;
    int rc;

    if (c->o->dry_run)
        return 0;
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    if (wants(to, SB_PART_SIZE) || wants(to, SB_PART_STATISTICS))
        rc = inspect_tables(c, to, err);
    if (rc == 0)
        rc = find_other_engine(c, &why, err);
    other = why.code ? &why : NULL;
    if (rc == 0)
        rc = inspect_counts(c, other, to, err);
    if (rc == 0 && wants(to, SB_PART_DURABILITY))
        rc = inspect_durability(c, other, to, err);
    if (rc == 0 && wants(to, SB_PART_DEBT) && !other)
        rc = inspect_history(c, to, err);
    if (rc == 0 && wants(to, SB_PART_DEBT))
        rc = inspect_replica(c, to, err);
    return sbmy_call_end(c, rc);
}
