// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>

#include "drivers/mysql/mysql_priv.h"

#define FACTS 6u

static const char *product(const char *version, const char *comment)
{
    if (strstr(version, "MariaDB") || strstr(comment, "mariadb"))
        return "MariaDB";
    if (strstr(version, "TiDB"))
        return "TiDB";
    return strstr(comment, "Percona") ? "Percona Server" : "MySQL";
}

static int describe(struct sbmy_conn *c, char *out, size_t size)
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
    if (sbmy_begin(c, NULL))
        return snprintf(out, size, "not connected");
    n = describe(c, out, size);
    return sbmy_end(c, n);
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

static const char counters_sql[] =
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Bytes_received', "
    "'Bytes_sent', 'Com_commit', 'Com_rollback', 'Created_tmp_disk_tables', "
    "'Handler_commit', 'Handler_delete', 'Handler_read_key', "
    "'Handler_read_next', 'Handler_read_rnd_next', 'Handler_update', "
    "'Handler_write', 'Innodb_buffer_pool_reads', "
    "'Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_pages_dirty', "
    "'Innodb_buffer_pool_wait_free', 'Innodb_data_fsyncs', "
    "'Innodb_data_reads', 'Innodb_data_writes', 'Innodb_history_list_length', "
    "'Innodb_log_waits', 'Innodb_os_log_written', "
    "'Innodb_row_lock_current_waits', 'Innodb_row_lock_time', "
    "'Innodb_row_lock_waits', 'Innodb_rows_deleted', 'Innodb_rows_inserted', "
    "'Innodb_rows_read', 'Innodb_rows_updated', 'Open_tables', "
    "'Prepared_stmt_count', 'Questions', 'Slow_queries', "
    "'Threads_connected', 'Threads_running', 'wsrep_flow_control_paused', "
    "'wsrep_local_bf_aborts', 'wsrep_local_cert_failures', "
    "'wsrep_local_recv_queue')";

static int visit_all(MYSQL_RES *res,
    int (*visit)(void *arg, const char *name, double value), void *arg)
{
    MYSQL_ROW row;
    int rc = 0;

    while (rc == 0 && (row = sbmy_ask_row(res, 2)) != NULL) {
        char *end;
        double value = strtod(row[1], &end);

        if (end != row[1])
            rc = visit(arg, row[0], value);
    }
    return rc;
}

static int counters(struct sb_conn *conn,
    int (*visit)(void *arg, const char *name, double value), void *arg,
    struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    MYSQL_RES *res;
    int rc;

    if (c->o->dry_run)
        return 0;
    rc = sbmy_begin(c, err);
    if (rc)
        return rc;
    rc = sbmy_ask(c, counters_sql, 2, &res, err);
    if (rc)
        return sbmy_end(c, rc);
    rc = visit_all(res, visit, arg);
    mysql_free_result(res);
    return sbmy_end(c, rc);
}

const struct sb_info_ops sbmy_info_ops = {
    .server = server,
    .client = client,
    .counters = counters,
};
