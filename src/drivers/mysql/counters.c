// SPDX-License-Identifier: GPL-2.0-or-later
//
// Counters of the server: SHOW GLOBAL STATUS, and the metrics of InnoDB, whose
// names get the prefix "metric.".
#define _GNU_SOURCE // FNM_CASEFOLD
#include <fnmatch.h>
#include <stdlib.h>

#include "drivers/mysql/internal.h"

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

static void classify(struct sb_counter *c)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (is_known(i, c->name)) {
            c->kind = known[i].kind;
            c->unit = known[i].unit;
            return;
        }
    }
}

static int take_status(const char *const *row, const struct sb_counter_sink *to)
{
    struct sb_counter c = { .name = row[0], .kind = SB_COUNTER_TOTAL };
    char *end;

    if (!to->wanted(to->arg, row[0]))
        return 0;
    c.value = strtod(row[1], &end);
    if (end == row[1] || *end)
        return 0; // a text, such as ON
    classify(&c);
    return to->take(to->arg, &c);
}

// Columns: name, value, type. Of the types, only "value" is a level.
static int take_metric(const char *const *row, const struct sb_counter_sink *to)
{
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
    int (*take)(const char *const *row, const struct sb_counter_sink *to);
};

static const struct source sources[] = {
    { "SHOW GLOBAL STATUS", "SHOW GLOBAL STATUS", 2, "", take_status },
    // The column that says whether a metric is enabled has different names.
    { "information_schema.INNODB_METRICS",
        "SELECT NAME, COUNT, TYPE FROM information_schema.INNODB_METRICS "
        "WHERE TIME_ENABLED IS NOT NULL AND TIME_DISABLED IS NULL",
        3, PREFIX, take_metric },
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

static int read_source(struct sbmy_conn *c, const struct source *s,
    const struct sb_counter_sink *to, struct sb_err *err)
{
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sbmy_ask(c, s->sql, s->columns, &res, err);

    if (rc == SB_EQUERY) {
        to->missing(to->arg, s->name, err);
        return 0;
    }
    if (rc)
        return rc;
    while (rc == 0 && (row = sbmy_ask_row(res, s->columns)) != NULL)
        rc = s->take((const char *const *)row, to);
    mysql_free_result(res);
    return rc;
}

int sbmy_counters(
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
            rc = read_source(c, &sources[i], to, err);
    return sbmy_call_end(c, rc);
}
