// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "drivers/mysql/internal.h"
#include "kit/sock.h"

#define FACTS 6u

static const char *product(const char *version, const char *comment)
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
            product(version, row[0]), version, row[1], row[2], row[3],
            strcmp(row[4], "0") == 0 ? "off" : "on", cipher ? cipher : "off");
    else
        n = snprintf(out, size, "%s %s, TLS %s", product(version, ""), version,
            cipher ? cipher : "off");
    if (res)
        mysql_free_result(res);
    return n;
}

static int server(struct sb_conn *conn, char *out, size_t size)
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

static int client(char *out, size_t size)
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
    "'query_cache_size', 'query_cache_type', 'read_only', 'sync_binlog', "
    "'table_open_cache', 'thread_cache_size', 'thread_handling', "
    "'transaction_isolation', 'tx_isolation', 'version_compile_machine', "
    "'wsrep_on')";

struct about {
    char comment[80];
    int (*setting)(void *arg, const char *name, const char *value);
    void *arg;
};

static int visit_settings(MYSQL_RES *res, struct about *a)
{
    MYSQL_ROW row;
    int rc = 0;

    while (rc == 0 && (row = sbmy_ask_row(res, 2)) != NULL) {
        if (strcmp(row[0], "version_comment") == 0)
            snprintf(a->comment, sizeof(a->comment), "%s", row[1]);
        rc = a->setting(a->arg, row[0], row[1]);
    }
    return rc;
}

static int describe(struct sb_conn *conn, struct sb_server *out,
    int (*setting)(void *arg, const char *name, const char *value), void *arg,
    struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct about a = { .setting = setting, .arg = arg };
    MYSQL_RES *res;
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
    rc = sbmy_ask(c, settings_sql, 2, &res, err);
    if (rc == 0) {
        rc = visit_settings(res, &a);
        mysql_free_result(res);
    } else if (rc == SB_EQUERY) {
        rc = 0; // a proxy that does not support it
    }
    snprintf(out->name, sizeof(out->name), "%s %s",
        product(mysql_get_server_info(c->my), a.comment),
        mysql_get_server_info(c->my));
    return sbmy_call_end(c, rc);
}

static uint64_t servers(const struct sb_driver_env *env)
{
    const struct sbmy_env *e = env->shared;

    return sbmy_places_count(&e->places);
}

const struct sb_info_ops sbmy_info_ops = {
    .server = server,
    .client = client,
    .describe = describe,
    .servers = servers,
    .counters = sbmy_counters,
    .counters_default = SBMY_COUNTERS,
};
