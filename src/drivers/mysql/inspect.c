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

static int take_tables(MYSQL_RES *res, const struct sb_inspect_sink *to)
{
    MYSQL_ROW row;
    int rc = 0;

    while (rc == 0 && (row = sbmy_ask_row(res, 6)) != NULL) {
        const struct sb_table_facts t = { .name = row[0],
            .rows = known_number(row[1]),
            .bytes = known_number(row[2]),
            .changed = known_number(row[3]),
            .dead = NAN,
            .analyzed = known_number(row[4]),
            .uses = known_number(row[5]) };

        rc = to->table(to->arg, &t);
    }
    return rc;
}

#define NO_TABLE 1109 // ER_UNKNOWN_TABLE

// Reads the tables with as much as this user may see. *view: the view of
// InnoDB, or NULL if it cannot be read, with the reason in *why.
static int read_tables(struct sbmy_conn *c, MYSQL_RES **res, const char **view,
    struct sb_err *why, struct sb_err *err)
{
    static const char *const views[] = { "innodb_tablestats",
        "innodb_sys_tablestats", NULL };
    int rc = SB_EQUERY;

    for (size_t i = 0; rc == SB_EQUERY && i < 3; i++) {
        for (int counts = 1; rc == SB_EQUERY && counts >= 0; counts--) {
            char sql[1000];

            *view = views[i];
            write_tables_sql(sql, sizeof(sql), views[i], counts);
            rc = sbmy_ask(c, sql, 6, res, err);
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
    MYSQL_RES *res = NULL;
    int rc;

    // MySQL 8 otherwise shows sizes that are a day old; others do not have it.
    sbmy_ask_nothing(
        c, "SET SESSION information_schema_stats_expiry = 0", NULL);
    rc = read_tables(c, &res, &view, &why, err);
    if (rc && rc != SB_EQUERY)
        return rc;
    to->part(
        to->arg, SB_PART_SIZE, "information_schema.tables", rc ? err : NULL);
    to->part(to->arg, SB_PART_STATISTICS,
        "information_schema.innodb_tablestats", view ? NULL : &why);
    if (rc)
        return 0;
    rc = take_tables(res, to);
    mysql_free_result(res);
    return rc;
}

// If the binary log is on, a transaction is durable when it is in that log.
static int take_setting(
    const char *name, const char *value, const struct sb_inspect_sink *to)
{
    char setting[80];

    if (strcmp(name, "datadir") == 0)
        return to->folder(to->arg, value);
    if (strcmp(value, "1") == 0)
        return 0;
    snprintf(setting, sizeof(setting), "%.50s=%.20s", name, value);
    return to->undurable(to->arg, setting);
}

static int take_status_fact(
    const char *name, const char *value, const struct sb_inspect_sink *to)
{
    static const struct {
        const char *name;
        enum sb_fact_id id;
    } facts[] = {
        { "Innodb_buffer_pool_read_requests", SB_FACT_CACHE_REQUESTS },
        { "Innodb_buffer_pool_reads", SB_FACT_CACHE_MISSES },
        { "Innodb_os_log_written", SB_FACT_LOG_BYTES },
        { "Innodb_os_log_fsyncs", SB_FACT_LOG_FLUSHES },
        { "innodb_buffer_pool_size", SB_FACT_CACHE_BYTES },
        { "Innodb_checkpoint_age", SB_FACT_LOG_DEBT },
        { "Innodb_checkpoint_max_age", SB_FACT_LOG_LIMIT },
        { "Innodb_redo_log_logical_size", SB_FACT_LOG_DEBT },
        { "Innodb_redo_log_capacity_resized", SB_FACT_LOG_LIMIT },
        { "Innodb_row_lock_waits", SB_FACT_LOCK_WAITS },
        { "Innodb_deadlocks", SB_FACT_DEADLOCKS },
        { "Innodb_buffer_pool_bytes_dirty", SB_FACT_DIRTY_BYTES },
        { "dirty_limit", SB_FACT_DIRTY_LIMIT },
        { "Innodb_history_list_length", SB_FACT_PURGE },
    };

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (strcasecmp(facts[i].name, name) == 0)
            return to->fact(to->arg, facts[i].id, strtod(value, NULL));
    }
    return 0;
}

// What the server has done so far. MariaDB counts rows of all engines but
// those of temporary tables, and MySQL those of InnoDB, without system tables.
static int inspect_work(
    struct sbmy_conn *c, const struct sb_inspect_sink *to, struct sb_err *err)
{
    enum { UPTIME, ROWS, ROWS_OF_ALL, READ, WRITTEN, PAGE, FSYNCS, COUNTERS };
    static const char *const names[COUNTERS] = { "Uptime", "Innodb_rows_read",
        "Rows_read", "Innodb_pages_read", "Innodb_pages_written",
        "Innodb_page_size", "Innodb_data_fsyncs" };
    double value[COUNTERS];
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sbmy_ask(c,
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', "
        "'Innodb_rows_read', 'Rows_read', 'Innodb_pages_read', "
        "'Innodb_pages_written', 'Innodb_page_size', 'Innodb_data_fsyncs')",
        2, &res, err);

    if (rc && rc != SB_EQUERY)
        return rc;
    to->part(to->arg, SB_PART_WORK, "SHOW GLOBAL STATUS", rc ? err : NULL);
    if (rc)
        return 0;
    for (int i = 0; i < COUNTERS; i++)
        value[i] = NAN;
    while ((row = sbmy_ask_row(res, 2)) != NULL) {
        for (int i = 0; i < COUNTERS; i++) {
            if (strcasecmp(row[0], names[i]) == 0)
                value[i] = strtod(row[1], NULL);
        }
    }
    mysql_free_result(res);
    const struct {
        enum sb_fact_id id;
        double value;
    } facts[] = {
        { SB_FACT_UPTIME, value[UPTIME] },
        { SB_FACT_ROWS_EXAMINED,
            isnan(value[ROWS_OF_ALL]) ? value[ROWS] : value[ROWS_OF_ALL] },
        { SB_FACT_READ_BYTES, value[READ] * value[PAGE] },
        { SB_FACT_WRITTEN_BYTES, value[WRITTEN] * value[PAGE] },
        { SB_FACT_FSYNCS, value[FSYNCS] },
    };

    for (size_t i = 0; rc == 0 && i < sizeof(facts) / sizeof(facts[0]); i++)
        rc = to->fact(to->arg, facts[i].id, facts[i].value);
    return rc;
}

// Questions with rows of a name and a value. A part may have several.
static const struct question {
    enum sb_inspect_part part;
    const char *source, *sql;
    int (*take)(
        const char *name, const char *value, const struct sb_inspect_sink *to);
} questions[] = {
    { SB_PART_CACHE, "SHOW GLOBAL VARIABLES",
        "SHOW GLOBAL VARIABLES LIKE 'innodb\\_buffer\\_pool\\_size'",
        take_status_fact },
    { SB_PART_CACHE, "SHOW GLOBAL STATUS",
        "SHOW GLOBAL STATUS WHERE Variable_name IN "
        "('Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_reads')",
        take_status_fact },
    // Written with O_SYNC, the log needs no flushes.
    { SB_PART_LOG, "SHOW GLOBAL STATUS",
        "SHOW GLOBAL STATUS WHERE Variable_name = 'Innodb_os_log_written' OR "
        "(Variable_name = 'Innodb_os_log_fsyncs' AND "
        "@@innodb_flush_method <> 'O_DSYNC')",
        take_status_fact },
    { SB_PART_DEBT, "SHOW GLOBAL STATUS",
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_checkpoint_age', "
        "'Innodb_checkpoint_max_age', 'Innodb_redo_log_logical_size', "
        "'Innodb_redo_log_capacity_resized', 'Innodb_buffer_pool_bytes_dirty', "
        "'Innodb_history_list_length')",
        take_status_fact },
    { SB_PART_DEBT, "SHOW GLOBAL VARIABLES",
        "SELECT 'dirty_limit', @@innodb_buffer_pool_size / 100 * "
        "@@innodb_max_dirty_pages_pct",
        take_status_fact },
    { SB_PART_LOCKS, "SHOW GLOBAL STATUS",
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_row_lock_waits', "
        "'Innodb_deadlocks')",
        take_status_fact },
    { SB_PART_DURABILITY, "SHOW GLOBAL VARIABLES",
        "SHOW GLOBAL VARIABLES WHERE Variable_name = "
        "'innodb_flush_log_at_trx_commit' OR (Variable_name = 'sync_binlog' "
        "AND @@log_bin) OR Variable_name = 'datadir' OR (Variable_name = "
        "'innodb_flush_method' AND Value = "
        "'nosync')",
        take_setting },
};

static int inspect_rows(struct sbmy_conn *c, const struct question *q,
    const struct sb_inspect_sink *to, struct sb_err *err)
{
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sbmy_ask(c, q->sql, 2, &res, err);

    if (rc && rc != SB_EQUERY)
        return rc;
    to->part(to->arg, q->part, q->source, rc ? err : NULL);
    if (rc)
        return 0;
    while (rc == 0 && (row = sbmy_ask_row(res, 2)) != NULL)
        rc = q->take(row[0], row[1], to);
    mysql_free_result(res);
    return rc;
}

// What the server does not have, or does not show to this user, is left out.
// MySQL has the length of the history only in a view with the privilege
// PROCESS.
static int inspect_history(
    struct sbmy_conn *c, const struct sb_inspect_sink *to, struct sb_err *err)
{
    static const char sql[] =
        "SELECT count FROM information_schema.innodb_metrics WHERE name = "
        "'trx_rseg_history_len' AND status = 'enabled'";
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sbmy_ask(c, sql, 1, &res, err);

    if (rc)
        return rc == SB_EQUERY ? 0 : rc;
    row = sbmy_ask_row(res, 1);
    if (row)
        rc = to->fact(to->arg, SB_FACT_PURGE, strtod(row[0], NULL));
    mysql_free_result(res);
    return rc;
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

static int inspect_debt(
    struct sbmy_conn *c, const struct sb_inspect_sink *to, struct sb_err *err)
{
    int rc = inspect_history(c, to, err);

    return rc ? rc : inspect_replica(c, to, err);
}

static bool wants(const struct sb_inspect_sink *to, enum sb_inspect_part part)
{
    return to->parts >> part & 1;
}

int sbmy_inspect(
    struct sb_conn *conn, const struct sb_inspect_sink *to, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc;

    if (c->o->dry_run)
        return 0;
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    if (wants(to, SB_PART_SIZE) || wants(to, SB_PART_STATISTICS))
        rc = inspect_tables(c, to, err);
    if (rc == 0 && wants(to, SB_PART_WORK))
        rc = inspect_work(c, to, err);
    for (size_t i = 0; rc == 0 && i < sizeof(questions) / sizeof(questions[0]);
         i++) {
        if (wants(to, questions[i].part))
            rc = inspect_rows(c, &questions[i], to, err);
    }
    if (rc == 0 && wants(to, SB_PART_DEBT))
        rc = inspect_debt(c, to, err);
    return sbmy_call_end(c, rc);
}
