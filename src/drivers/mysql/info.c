// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // FNM_CASEFOLD
#include <fnmatch.h>
#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "drivers/mysql/internal.h"
#include "kit/sock.h"

#define COUNTERS                                                            \
    "Questions,Com_commit,Com_rollback,Handler_read_key,Handler_read_next," \
    "Handler_write,Handler_update,Handler_delete,Threads_connected,"        \
    "Threads_running,Innodb_row_lock_waits,Innodb_row_lock_current_waits,"  \
    "Innodb_buffer_pool_read_requests,Innodb_buffer_pool_reads,"            \
    "Innodb_buffer_pool_pages_dirty,Innodb_buffer_pool_pages_flushed,"      \
    "Innodb_data_fsyncs,Innodb_os_log_written,Innodb_log_waits,"            \
    "Innodb_checkpoint_age,Innodb_history_list_length,Bytes_received,"      \
    "Bytes_sent"

// Counters of the server: SHOW GLOBAL STATUS, and the metrics of InnoDB, whose
// names get the prefix "metric.".

#define PREFIX "metric."

// The server does not say which of its status variables are levels. This is a
// list of them; all others are totals. The first match counts.
static const struct {
    const char *pattern;
    int kind; // enum sb_counter_kind
    const char *unit;
} known[] = {
    { "bytes_*", SB_COUNTER_TOTAL, "bytes" },
    { "binlog_bytes_written", SB_COUNTER_TOTAL, "bytes" },
    { "innodb_data_read", SB_COUNTER_TOTAL, "bytes" },
    { "innodb_data_written", SB_COUNTER_TOTAL, "bytes" },
    { "innodb_os_log_written", SB_COUNTER_TOTAL, "bytes" },
    { "innodb_row_lock_time", SB_COUNTER_TOTAL, "ms" },
    { "innodb_lsn_*", SB_COUNTER_TOTAL, "bytes" },
    { "innodb_redo_log_*lsn", SB_COUNTER_TOTAL, "bytes" },
    { "innodb_buffer_pool_pages_*flushed", SB_COUNTER_TOTAL, NULL },
    { "innodb_buffer_pool_pages_lru_freed", SB_COUNTER_TOTAL, NULL },
    { "innodb_buffer_pool_pages_made_*", SB_COUNTER_TOTAL, NULL },
    { "acl_*", SB_COUNTER_LEVEL, NULL },
    { "delayed_insert_threads", SB_COUNTER_LEVEL, NULL },
    { "innodb_adaptive_hash_*cells", SB_COUNTER_LEVEL, NULL },
    { "innodb_adaptive_hash_heap_buffers", SB_COUNTER_LEVEL, NULL },
    { "innodb_available_undo_logs", SB_COUNTER_LEVEL, NULL },
    { "innodb_buffer_pool_bytes_*", SB_COUNTER_LEVEL, "bytes" },
    { "innodb_buffer_pool_pages_*", SB_COUNTER_LEVEL, "pages" },
    { "innodb_checkpoint_*age", SB_COUNTER_LEVEL, "bytes" },
    { "innodb_current_row_locks", SB_COUNTER_LEVEL, NULL },
    { "innodb_data_pending_*", SB_COUNTER_LEVEL, NULL },
    { "innodb_dictionary_size", SB_COUNTER_LEVEL, "bytes" },
    { "innodb_history_list_length", SB_COUNTER_LEVEL, NULL },
    { "innodb_ibuf_*size", SB_COUNTER_LEVEL, "pages" },
    { "innodb_ibuf_free_list", SB_COUNTER_LEVEL, "pages" },
    { "innodb_mem_*", SB_COUNTER_LEVEL, "bytes" },
    { "innodb_num_open_files", SB_COUNTER_LEVEL, NULL },
    { "innodb_os_log_pending_*", SB_COUNTER_LEVEL, NULL },
    { "innodb_page_size", SB_COUNTER_LEVEL, "bytes" },
    { "innodb_redo_log_*", SB_COUNTER_LEVEL, NULL },
    { "innodb_row_lock_current_waits", SB_COUNTER_LEVEL, NULL },
    { "innodb_row_lock_time_*", SB_COUNTER_LEVEL, "ms" },
    { "innodb_undo_tablespaces_*", SB_COUNTER_LEVEL, NULL },
    { "key_blocks_*", SB_COUNTER_LEVEL, NULL },
    { "last_query_*", SB_COUNTER_LEVEL, NULL },
    { "max_*", SB_COUNTER_LEVEL, NULL },
    { "memory_used*", SB_COUNTER_LEVEL, "bytes" },
    { "not_flushed_delayed_rows", SB_COUNTER_LEVEL, NULL },
    { "open_*", SB_COUNTER_LEVEL, NULL },
    { "prepared_stmt_count", SB_COUNTER_LEVEL, NULL },
    { "qcache_free_*", SB_COUNTER_LEVEL, NULL },
    { "qcache_queries_in_cache", SB_COUNTER_LEVEL, NULL },
    { "qcache_total_blocks", SB_COUNTER_LEVEL, NULL },
    { "rpl_semi_sync_*_avg_*", SB_COUNTER_LEVEL, NULL },
    { "rpl_semi_sync_*_clients", SB_COUNTER_LEVEL, NULL },
    { "rpl_semi_sync_*_sessions", SB_COUNTER_LEVEL, NULL },
    { "slave_heartbeat_period", SB_COUNTER_LEVEL, NULL },
    { "slave_open_temp_tables", SB_COUNTER_LEVEL, NULL },
    { "ssl_session_cache_size", SB_COUNTER_LEVEL, NULL },
    { "ssl_*timeout", SB_COUNTER_LEVEL, NULL },
    { "ssl_verify_*", SB_COUNTER_LEVEL, NULL },
    { "tc_log_*page*", SB_COUNTER_LEVEL, NULL },
    { "threadpool_*", SB_COUNTER_LEVEL, NULL },
    { "threads_cached", SB_COUNTER_LEVEL, NULL },
    { "threads_connected", SB_COUNTER_LEVEL, NULL },
    { "threads_running", SB_COUNTER_LEVEL, NULL },
    { "wsrep_apply_*", SB_COUNTER_LEVEL, NULL },
    { "wsrep_cert_deps_distance", SB_COUNTER_LEVEL, NULL },
    { "wsrep_cert_index_size", SB_COUNTER_LEVEL, NULL },
    { "wsrep_cert_interval", SB_COUNTER_LEVEL, NULL },
    { "wsrep_cluster_*", SB_COUNTER_LEVEL, NULL },
    { "wsrep_commit_*", SB_COUNTER_LEVEL, NULL },
    { "wsrep_flow_control_paused", SB_COUNTER_LEVEL, NULL },
    { "wsrep_flow_control_interval*", SB_COUNTER_LEVEL, NULL },
    { "wsrep_gcache_pool_size", SB_COUNTER_LEVEL, "bytes" },
    { "wsrep_local_cached_downto", SB_COUNTER_LEVEL, NULL },
    { "wsrep_local_index", SB_COUNTER_LEVEL, NULL },
    { "wsrep_local_*_queue*", SB_COUNTER_LEVEL, NULL },
    { "wsrep_local_state", SB_COUNTER_LEVEL, NULL },
    { "wsrep_open_*", SB_COUNTER_LEVEL, NULL },
    { "wsrep_protocol_version", SB_COUNTER_LEVEL, NULL },
    { "wsrep_thread_count", SB_COUNTER_LEVEL, NULL },
};

// The first letters are compared first, because fnmatch() takes much longer.
static bool is_known(size_t i, const char *name)
{
    return known[i].pattern[0] == (name[0] | 32) &&
           fnmatch(known[i].pattern, name, FNM_CASEFOLD) == 0;
}

static void my_classify(struct sb_counter *c)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (is_known(i, c->name)) {
            c->kind = known[i].kind;
            c->unit = known[i].unit;
            return;
        }
    }
}

static int take_status(void *arg, MYSQL_ROW row)
{
    const struct sb_counter_sink *to = arg;
    struct sb_counter c = { .name = row[0], .kind = SB_COUNTER_TOTAL };
    char *end;

    if (!to->wanted(to->arg, row[0]))
        return 0;
    c.value = strtod(row[1], &end);
    if (end == row[1] || *end)
        return 0; // a text, such as ON
    my_classify(&c);
    return to->take(to->arg, &c);
}

// Columns: name, value, type. Of the types, only "value" is a level.
static int my_take_metric(void *arg, MYSQL_ROW row)
{
    const struct sb_counter_sink *to = arg;
    char name[128];
    struct sb_counter c = { .name = name, .kind = SB_COUNTER_TOTAL };
    char *end;

    snprintf(name, sizeof(name), PREFIX "%.100s", row[0]);
    c.value = strtod(row[1], &end);
    if (end == row[1] || *end)
        return 0;
    if (strcmp(row[2], "value") == 0)
        c.kind = SB_COUNTER_LEVEL;
    return to->take(to->arg, &c);
}

struct source {
    const char *name, *sql;
    unsigned columns;
    const char *prefix; // of its names; "": none
    int (*take)(void *arg, MYSQL_ROW row);
};

static const struct source sources[] = {
    { "SHOW GLOBAL STATUS", "SHOW GLOBAL STATUS", 2, "", take_status },
    // The column that says whether a metric is enabled has different names.
    { "information_schema.INNODB_METRICS",
        "SELECT NAME, COUNT, TYPE FROM information_schema.INNODB_METRICS "
        "WHERE TIME_ENABLED IS NOT NULL AND TIME_DISABLED IS NULL",
        3, PREFIX, my_take_metric },
};

// Returns whether a name may be wanted that does not begin with PREFIX, such as
// a status variable. Tries the beginnings of names that differ from PREFIX in
// one character: the first, the second and so on. So a pattern such as
// "metric.*" does not cause the status to be read.
static bool wants_status(const struct sb_counter_sink *to)
{
    static const char chars[] = "abcdefghijklmnopqrstuvwxyz0123456789_-.";
    char start[sizeof(PREFIX)] = PREFIX;

    for (size_t i = strlen(PREFIX); i-- > 0;) {
        start[i + 1] = '\0';
        for (const char *c = chars; *c; c++) {
            start[i] = *c;
            if (*c != PREFIX[i] && to->wanted(to->arg, start))
                return true;
        }
        start[i] = PREFIX[i];
    }
    return false;
}

static bool wants_source(
    const struct source *s, const struct sb_counter_sink *to)
{
    return *s->prefix ? to->wanted(to->arg, s->prefix) : wants_status(to);
}

static int my_read_source(struct sbmy_conn *c, const struct source *s,
    const struct sb_counter_sink *to, struct sb_err *err)
{
    int rc = sbmy_ask_each(c, s->sql, s->columns, s->take, (void *)to, err);

    if (rc == SB_EQUERY) {
        to->missing(to->arg, s->name, err);
        return 0;
    }
    return rc;
}

// The operation counters of struct sb_info_ops, and its short list.
static int my_counters(
    struct sb_conn *conn, const struct sb_counter_sink *to, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc;

    if (c->o->dry_run)
        return 0;
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    for (size_t i = 0; rc == 0 && i < sizeof(sources) / sizeof(sources[0]); i++)
        if (wants_source(&sources[i], to))
            rc = my_read_source(c, &sources[i], to, err);
    return sbmy_call_end(c, rc);
}

#define FACTS 6u

static const char *my_product(const char *version, const char *comment)
{
    if (strstr(version, "MariaDB") || strstr(comment, "mariadb"))
        return "MariaDB";
    if (strstr(version, "TiDB"))
        return "TiDB";
    return strstr(comment, "Percona") ? "Percona Server" : "MySQL";
}

static int one_line(struct sbmy_conn *c, char *out, size_t size)
{
    const char *version = mysql_get_server_info(c->my);
    const char *cipher = mysql_get_ssl_cipher(c->my);
    MYSQL_RES *res;
    MYSQL_ROW row = NULL;
    int n;

    if (sbmy_ask(c,
            "SELECT @@version_comment, @@default_storage_engine, "
            "@@innodb_buffer_pool_size DIV 1048576, "
            "@@innodb_flush_log_at_trx_commit, @@log_bin, @@sync_binlog",
            FACTS, &res, NULL) == 0)
        row = sbmy_ask_row(res, FACTS);
    if (row)
        n = snprintf(out, size,
            "%s %s, %s, buffer pool %s MB, flush log at commit %s, binlog %s, "
            "TLS %s",
            my_product(version, row[0]), version, row[1], row[2], row[3],
            strcmp(row[4], "0") == 0 ? "off" : "on", cipher ? cipher : "off");
    else
        n = snprintf(out, size, "%s %s, TLS %s", my_product(version, ""),
            version, cipher ? cipher : "off");
    if (res)
        mysql_free_result(res);
    return n;
}

static int my_server(struct sb_conn *conn, char *out, size_t size)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int n;

    if (c->o->dry_run)
        return snprintf(out, size, "none (dry run)");
    if (sbmy_call_begin(c, NULL))
        return snprintf(out, size, c->bulk ? "loading" : "not connected");
    n = one_line(c, out, size);
    return sbmy_call_end(c, n);
}

static int my_client(char *out, size_t size)
{
#ifdef MARIADB_PACKAGE_VERSION
    return snprintf(out, size,
        "MariaDB Connector/C " MARIADB_PACKAGE_VERSION " (%s)",
        mysql_get_client_info());
#else
    return snprintf(out, size, "libmysqlclient %s", mysql_get_client_info());
#endif
}

// Settings that affect performance, and those that differ between forks. The
// server returns those that it has.
static const char settings_sql[] =
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version_comment', "
    "'autocommit', 'binlog_format', 'binlog_row_image', 'gtid_mode', "
    "'character_set_server', 'default_storage_engine', "
    "'innodb_adaptive_hash_index', 'innodb_buffer_pool_instances', "
    "'innodb_buffer_pool_size', 'innodb_change_buffering', "
    "'innodb_doublewrite', 'innodb_file_per_table', "
    "'innodb_flush_log_at_trx_commit', 'innodb_flush_method', "
    "'innodb_io_capacity', 'innodb_io_capacity_max', "
    "'innodb_lock_wait_timeout', 'innodb_log_buffer_size', "
    "'innodb_log_file_size', 'innodb_log_files_in_group', "
    "'innodb_page_size', 'innodb_purge_threads', 'innodb_read_io_threads', "
    "'innodb_redo_log_capacity', 'innodb_thread_concurrency', "
    "'innodb_use_native_aio', 'innodb_write_io_threads', 'log_bin', "
    "'max_connections', 'max_prepared_stmt_count', 'performance_schema', "
    "'pid_file', "
    "'query_cache_size', 'query_cache_type', 'read_only', 'sync_binlog', "
    "'table_open_cache', 'thread_cache_size', 'thread_handling', "
    "'transaction_isolation', 'tx_isolation', 'version_compile_machine', "
    "'wsrep_on')";

// What is not the default, as MariaDB and MySQL say it, except
// for names, places, passwords, and what sessions such as this one set.
#define NO_PLACES                                                         \
    "NOT REGEXP '^(basedir|bind_address|character_set|collation|datadir|" \
    "foreign_key_checks|hostname|information_schema_stats|init_|lc_|"     \
    "log_error|mysqlx_|pid_file|plugin|port$|pseudo_|report_|server_|"    \
    "socket|ssl_|admin_|time_zone|tmpdir|unique_checks|version)|"         \
    "_(dir|dirs|file|path|port|socket)$|password|secret|keyring|_tmpdir'"
static const char *const changed_sql[] = {
    "SELECT LOWER(variable_name), global_value FROM "
    "information_schema.system_variables WHERE global_value_origin NOT IN "
    "('COMPILE-TIME', 'AUTO') AND global_value <> default_value AND "
    "LOWER(variable_name) " NO_PLACES,
    "SELECT LOWER(i.variable_name), g.variable_value FROM "
    "performance_schema.variables_info i JOIN "
    "performance_schema.global_variables g USING (variable_name) WHERE "
    "i.variable_source <> 'COMPILED' AND LOWER(i.variable_name) " NO_PLACES,
};

struct about {
    char comment[80];
    MYSQL_RES *all, *changed; // changed NULL: unknown
    int (*setting)(void *arg, const char *name, const char *value,
        enum sb_setting_state state);
    void *arg;
    struct sb_server *server;
};

// The server may be on another machine, or the user may not read the file.
static int64_t read_pid(const char *path)
{
    FILE *file = fopen(path, "re");
    int64_t pid = 0;

    if (file && fscanf(file, "%" SCNd64, &pid) != 1)
        pid = 0;
    if (file)
        fclose(file);
    return pid;
}

// The known settings, then all others that are not defaults.
static int visit_settings(struct about *a)
{
    MYSQL_ROW row;
    int rc = 0;

    while (rc == 0 && (row = sbmy_ask_row(a->all, 2)) != NULL) {
        if (strcmp(row[0], "version_comment") == 0)
            snprintf(a->comment, sizeof(a->comment), "%s", row[1]);
        if (strcmp(row[0], "pid_file") == 0) {
            a->server->pid = read_pid(row[1]);
            continue;
        }
        rc = a->setting(a->arg, row[0], row[1],
            !a->changed                          ? SB_SETTING_UNKNOWN
            : sbmy_ask_value(a->changed, row[0]) ? SB_SETTING_CHANGED
                                                 : SB_SETTING_DEFAULT);
    }
    if (a->changed)
        mysql_data_seek(a->changed, 0);
    while (
        rc == 0 && a->changed && (row = sbmy_ask_row(a->changed, 2)) != NULL) {
        if (!sbmy_ask_value(a->all, row[0]))
            rc = a->setting(a->arg, row[0], row[1], SB_SETTING_CHANGED);
    }
    return rc;
}

static int my_settings(struct sbmy_conn *c, struct about *a, struct sb_err *err)
{
    int rc = sbmy_ask(c, settings_sql, 2, &a->all, err);

    for (size_t i = 0; i < sizeof(changed_sql) / sizeof(*changed_sql); i++) {
        if (rc == 0 && !a->changed)
            rc = sbmy_ask(c, changed_sql[i], 2, &a->changed, err);
        rc = rc == SB_EQUERY && a->all ? 0 : rc; // of another product
    }
    if (rc == 0)
        rc = visit_settings(a);
    if (a->all)
        mysql_free_result(a->all);
    if (a->changed)
        mysql_free_result(a->changed);
    return rc == SB_EQUERY ? 0 : rc; // a proxy that does not support it
}

static int my_describe(struct sb_conn *conn, struct sb_server *out,
    int (*setting)(void *arg, const char *name, const char *value,
        enum sb_setting_state state),
    void *arg, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct about a = { .setting = setting, .arg = arg, .server = out };
    int rc;

    if (c->o->dry_run) {
        snprintf(out->name, sizeof(out->name), "none (dry run)");
        return 0;
    }
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    sb_sock_peer(c->socket.fd, out->address, sizeof(out->address));
    out->bypass = c->wire.plain;
    rc = my_settings(c, &a, err);
    snprintf(out->name, sizeof(out->name), "%s %s",
        my_product(mysql_get_server_info(c->my), a.comment),
        mysql_get_server_info(c->my));
    return sbmy_call_end(c, rc);
}

static int my_ping(struct sb_conn *conn, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc;

    if (c->o->dry_run)
        return sb_err_set(err, SB_EUNSUPPORTED, "a dry run has no server");
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    return sbmy_call_end(c, sbmy_ask_nothing(c, "DO 0", err));
}

static uint64_t my_servers(const struct sb_driver_env *env)
{
    const struct sbmy_env *e = env->shared;

    return sbmy_places_count(&e->places);
}

const struct sb_info_ops sbmy_info_ops = {
    .server = my_server,
    .client = my_client,
    .describe = my_describe,
    .servers = my_servers,
    .counters = my_counters,
    .ping = my_ping,
    .inspect = sbmy_inspect,
    .explain = sbmy_explain,
    .activity = sbmy_activity,
    .session = sbmy_session,
    .statements = sbmy_statements,
    .counters_default = COUNTERS,
};
