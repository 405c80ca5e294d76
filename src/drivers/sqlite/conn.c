// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/sqlite/internal.h"
#include "kit/clock.h"

#define MEMORY     ":memory:"
#define MEMORY_URI "file:/sbtest?vfs=memdb"

// Waits for another connection's lock: 50 us at first, up to 2 ms, with a
// random part, so that two connections that wait for each other do not wait
// equally long.
static int on_busy(void *arg, int count)
{
    struct sqlite_conn *c = arg;
    int64_t now = (int64_t)sb_clock_monotonic(), wait;

    if (count == 0)
        c->busy_since = now;
    if (atomic_load_explicit(&c->canceled, memory_order_relaxed) ||
        now - c->busy_since >= c->o->busy_timeout)
        return 0;
    wait = 50000 + (int64_t)count * 25000;
    if (wait > 2000000)
        wait = 2000000;
    wait -= (now ^ (int64_t)((uintptr_t)c >> 4)) % (wait / 4);
    sqlite_pause(c, wait);
    return 1;
}

// Environment ----------------------------------------------------------------

static void log_immutable(const struct sb_host *host, const char *path)
{
    char line[300];

    snprintf(line, sizeof(line),
        "Database '%.160s' is opened as immutable, because its folder is not "
        "writable. Other processes must not change it during the run.",
        path);
    host->log(3, line);
}

static int lite_env_init(
    struct sb_driver_env *env, const void *opts, struct sb_err *err)
{
    const struct sqlite_opts *o = opts;
    struct sqlite_env *e = calloc(1, sizeof(*e));

    if (!e)
        return sb_err_no_memory(err);
    e->o = o;
    e->memory = strcmp(o->db, MEMORY) == 0;
    e->missing = !e->memory && sqlite_file_missing(o->db);
    e->immutable = e->memory ? NULL : sqlite_file_immutable(o->db);
    e->uri = e->memory ? MEMORY_URI : e->immutable ? e->immutable : o->db;
    if (e->immutable)
        log_immutable(env->host, o->db);
    pthread_mutex_init(&e->lock, NULL);
    env->shared = e;
    return 0;
}

static void lite_env_done(struct sb_driver_env *env)
{
    struct sqlite_env *e = env->shared;
    struct stat st;

    if (!e)
        return;
    sqlite3_close(e->keep);
    // Reading from a database that did not exist has created an empty file.
    if (e->missing && stat(e->o->db, &st) == 0 && st.st_size == 0)
        unlink(e->o->db);
    else if (!e->memory &&
             atomic_load_explicit(&e->written, memory_order_relaxed))
        sqlite_file_shrink(e->o->db);
    pthread_mutex_destroy(&e->lock);
    free(e->immutable);
    free(e);
    env->shared = NULL;
}

// Connections --------------------------------------------------------------

static int open_db(const struct sqlite_env *e, sqlite3 **db, struct sb_err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    int rc;

    if (e->o->create || e->memory)
        flags |= SQLITE_OPEN_CREATE;
    if (e->memory || e->immutable)
        flags |= SQLITE_OPEN_URI;
    rc = sqlite3_open_v2(e->uri, db, flags, NULL);
    if (rc == SQLITE_OK)
        return 0;
    char why[240];

    sqlite_file_reason(*db, e->o->db, why, sizeof(why));
    sb_err_set(err, SB_ECONNECT, "cannot open database '%s': %s%s%s", e->o->db,
        *db ? sqlite3_errmsg(*db) : sqlite3_errstr(rc), why,
        sqlite_file_missing(e->o->db) && !e->o->create
            ? " (the file does not exist; was the 'prepare' command run?)"
            : "");
    if (err)
        err->native = rc;
    return SB_ECONNECT;
}

static int keep_open(struct sqlite_env *e, struct sb_err *err)
{
    int rc = 0;

    pthread_mutex_lock(&e->lock);
    if (e->memory && !e->keep)
        rc = open_db(e, &e->keep, err);
    pthread_mutex_unlock(&e->lock);
    return rc;
}

static int set_pragmas(struct sqlite_conn *c, struct sb_err *err)
{
    const struct sqlite_opts *o = c->o;
    char sql[256];
    int n = 0;

    if (o->page_size)
        n += snprintf(sql + n, sizeof(sql) - (size_t)n,
            "PRAGMA page_size=%" PRId64 ";", o->page_size);
    if (o->cache_size)
        n += snprintf(sql + n, sizeof(sql) - (size_t)n,
            "PRAGMA cache_size=-%" PRId64 ";", (o->cache_size + 1023) / 1024);
    if (o->mmap_size)
        n += snprintf(sql + n, sizeof(sql) - (size_t)n,
            "PRAGMA mmap_size=%" PRId64 ";", o->mmap_size);
    snprintf(sql + n, sizeof(sql) - (size_t)n,
        "PRAGMA synchronous=%s;PRAGMA temp_store=%s",
        sqlite_synchronous[o->synchronous], sqlite_temp_stores[o->temp_store]);
    return sqlite_simple(c, sql, err);
}

// Adds the name of the database: "file is not a database" does not contain it.
static int add_db_name(const struct sqlite_conn *c, struct sb_err *err)
{
    char was[sizeof(err->msg)];

    if (!err)
        return SB_ECONNECT;
    memcpy(was, err->msg, sizeof(was));
    snprintf(err->msg, sizeof(err->msg), "cannot use database '%.160s': %.300s",
        c->o->db, was);
    err->code = SB_ECONNECT;
    return SB_ECONNECT;
}

static int lite_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *opts, const struct sb_conn_info *info, struct sb_err *err)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;
    int rc;

    c->env = env->shared;
    c->o = opts;
    c->host = env->host;
    rc = keep_open(c->env, err);
    if (rc)
        return rc;
    c->journal_pending = !c->env->memory && sqlite_file_missing(c->o->db);
    rc = open_db(c->env, &c->db, err);
    if (rc)
        return rc;
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_busy_handler(c->db, on_busy, c);
    rc = set_pragmas(c, err);
    if (rc == 0 && !c->journal_pending)
        rc = sqlite_set_journal(c, err);
    if (rc)
        return add_db_name(c, err);
    sqlite_count_begin(c);
    return 0;
}

static void lite_disconnect(struct sb_conn *conn)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;

    if (c->names_owned)
        sqlite3_finalize(c->names);
    sqlite_texts_done(c);
    sqlite_bulk_done(c);
    sqlite_count_end(c);
    sqlite3_close_v2(c->db);
    sb_buf_done(&c->bytes);
    free(c->cell);
    memset(c, 0, sizeof(*c));
}

static void lite_cancel(struct sb_conn *conn)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;

    atomic_store_explicit(&c->canceled, true, memory_order_relaxed);
    sqlite3_interrupt(c->db);
}

static int lite_reset(struct sb_conn *conn, struct sb_err *err)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;

    if (sqlite3_get_autocommit(c->db))
        return 0;
    sqlite_call_begin(c);
    return sqlite_simple(c, "ROLLBACK", err);
}

static const char *lite_open_transaction(const struct sb_conn *conn)
{
    const struct sqlite_conn *c = (const struct sqlite_conn *)conn;

    return sqlite3_get_autocommit(c->db) ? NULL : "";
}

static bool lite_has_written(struct sb_conn *conn)
{
    const struct sqlite_conn *c = (const struct sqlite_conn *)conn;

    return sqlite3_total_changes64(c->db) != c->changes;
}

const struct sb_generic_ops sqlite_generic_ops = {
    .env_init = lite_env_init,
    .env_done = lite_env_done,
    .connect = lite_connect,
    .disconnect = lite_disconnect,
    .cancel = lite_cancel,
    .reset = lite_reset,
    .open_transaction = lite_open_transaction,
    .has_written = lite_has_written,
};
