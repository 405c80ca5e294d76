// SPDX-License-Identifier: GPL-2.0-or-later
//
// About the library, the database and its counters.
//
// SQLite counts the use of the page cache in each connection, and only the
// thread that uses a connection may read these counts. So sqlite_counters()
// asks all connections to add their counts to those of the environment, by
// incrementing `asked`. Once per call, a connection compares this number with
// the one it has seen last. If no connection makes a call in time, there are no
// new counts: a later sample includes them, and its rates cover the time since
// the last sample with new counts.
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "drivers/sqlite/internal.h"

static void pragma_text(
    struct sqlite_conn *c, const char *sql, char *out, size_t size)
{
    sqlite3_stmt *st = NULL;
    const unsigned char *text = NULL;

    if (sqlite3_prepare_v2(c->db, sql, -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        text = sqlite3_column_text(st, 0);
    snprintf(out, size, "%s", text ? (const char *)text : "?");
    sqlite3_finalize(st);
}

int sqlite_server(struct sb_conn *conn, char *out, size_t size)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;
    char mode[32], page[32];

    pragma_text(c, "PRAGMA journal_mode", mode, sizeof(mode));
    pragma_text(c, "PRAGMA page_size", page, sizeof(page));
    return snprintf(out, size,
        "SQLite %s, journal mode %s, synchronous %s, page size %s",
        sqlite3_libversion(), mode, sqlite_synchronous[c->o->synchronous],
        page);
}

int sqlite_client(char *out, size_t size)
{
    return snprintf(out, size, "SQLite %s", sqlite3_libversion());
}

// Settings -------------------------------------------------------------------

static void lite_address_of(const struct sqlite_conn *c, char *out, size_t size)
{
    char *path = c->env->memory ? NULL : realpath(c->o->db, NULL);

    snprintf(out, size, "%s", path ? path : c->o->db);
    free(path);
}

static int compile_options(int (*setting)(void *arg, const char *name,
                               const char *value, enum sb_setting_state state),
    void *arg)
{
    static const char *const notable[] = { "THREADSAFE", "DEFAULT_MMAP_SIZE",
        "DEFAULT_PAGE_SIZE", "DEFAULT_CACHE_SIZE", "DEFAULT_SYNCHRONOUS",
        "DEFAULT_WAL_SYNCHRONOUS", "DIRECT_OVERFLOW_READ", "SECURE_DELETE",
        "TEMP_STORE", "COMPILER", "DEBUG" };
    int rc = 0;

    for (int i = 0; rc == 0 && sqlite3_compileoption_get(i); i++) {
        const char *text = sqlite3_compileoption_get(i);
        size_t n = strcspn(text, "=");

        for (size_t k = 0; k < sizeof(notable) / sizeof(notable[0]); k++) {
            if (strlen(notable[k]) == n && strncmp(text, notable[k], n) == 0)
                rc = setting(arg, notable[k], text[n] ? text + n + 1 : "1",
                    SB_SETTING_UNKNOWN);
        }
    }
    return rc;
}

int sqlite_describe(struct sb_conn *conn, struct sb_server *out,
    int (*setting)(void *arg, const char *name, const char *value,
        enum sb_setting_state state),
    void *arg, struct sb_err *err)
{
    // With the defaults of the library's authors.
    static const char *const pragmas[][2] = { { "journal_mode", "delete" },
        { "synchronous", "2" }, { "page_size", "4096" },
        { "cache_size", "-2000" }, { "mmap_size", "0" }, { "temp_store", "0" },
        { "locking_mode", "normal" }, { "wal_autocheckpoint", "1000" },
        { "auto_vacuum", "0" }, { "encoding", "UTF-8" } };
    struct sqlite_conn *c = (struct sqlite_conn *)conn;
    int rc = 0;

    snprintf(out->name, sizeof(out->name), "SQLite %s", sqlite3_libversion());
    lite_address_of(c, out->address, sizeof(out->address));
    for (size_t i = 0; rc == 0 && i < sizeof(pragmas) / sizeof(pragmas[0]);
         i++) {
        char sql[64], value[64];

        snprintf(sql, sizeof(sql), "PRAGMA %s", pragmas[i][0]);
        pragma_text(c, sql, value, sizeof(value));
        if (value[0] != '?')
            rc = setting(arg, pragmas[i][0], value,
                strcmp(value, pragmas[i][1]) == 0 ? SB_SETTING_DEFAULT
                                                  : SB_SETTING_CHANGED);
    }
    return rc ? rc : compile_options(setting, arg);
}

// Counters -------------------------------------------------------------------

// How long to wait for the counts of all connections, and for those of at least
// one, in units of WAIT_NS.
#define WAIT_NS  4000000
#define WAIT_ALL 5
#define WAIT_ANY 15

static const struct {
    const char *name;
    int code;
} counts[SQLITE_COUNTS] = {
    { "cache_hit", SQLITE_DBSTATUS_CACHE_HIT },
    { "cache_miss", SQLITE_DBSTATUS_CACHE_MISS },
    { "cache_write", SQLITE_DBSTATUS_CACHE_WRITE },
};

void sqlite_count_last(struct sqlite_conn *c)
{
    if (!c->db || c->apart)
        return;
    for (size_t i = 0; i < SQLITE_COUNTS; i++) {
        int now = 0, most = 0;

        if (sqlite3_db_status(c->db, counts[i].code, &now, &most, 1) ==
            SQLITE_OK)
            atomic_fetch_add_explicit(
                &c->env->count[i], (unsigned)now, memory_order_relaxed);
    }
}

void sqlite_count_begin(struct sqlite_conn *c)
{
    c->counted = true;
    atomic_fetch_add_explicit(&c->env->connections, 1, memory_order_relaxed);
}

static void leave_load(struct sqlite_conn *c)
{
    if (c->counted)
        atomic_fetch_sub_explicit(
            &c->env->connections, 1, memory_order_relaxed);
    c->counted = false;
}

void sqlite_count_end(struct sqlite_conn *c)
{
    sqlite_count_last(c);
    leave_load(c);
}

// Asks the connections to add their counts, and waits until those in use have
// done it. Returns false if none has, and the counts are old.
static bool lite_ask(struct sqlite_env *e)
{
    unsigned before = atomic_load(&e->answers), n = 0;
    unsigned first = atomic_fetch_add(&e->asked, 1) == 0;

    for (int i = 0; i < (n > 0 ? WAIT_ALL : WAIT_ANY); i++) {
        nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
        n = atomic_load(&e->answers) - before;
        if (n >= atomic_load(&e->connections))
            return true;
    }
    // With the first sample, counting begins.
    return n > 0 || first;
}

static int pass_counter(const struct sb_counter_sink *to, const char *name,
    double value, int kind, const char *unit)
{
    struct sb_counter c = {
        .name = name, .value = value, .kind = kind, .unit = unit
    };

    return to->take(to->arg, &c);
}

static double file_size(const char *path, const char *ending)
{
    size_t size = strlen(path) + strlen(ending) + 1;
    char *name = malloc(size);
    struct stat st = { 0 };

    if (!name)
        return 0;
    snprintf(name, size, "%s%s", path, ending);
    if (stat(name, &st))
        st.st_size = 0;
    free(name);
    return (double)st.st_size;
}

int sqlite_counters(
    struct sb_conn *conn, const struct sb_counter_sink *to, struct sb_err *err)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;
    struct sqlite_env *e = c->env;
    int rc = 0;

    c->apart = true;
    leave_load(c);
    // On a busy machine, users may not run for some time.
    bool fresh = lite_ask(e);
    for (size_t i = 0; fresh && rc == 0 && i < SQLITE_COUNTS; i++)
        rc = pass_counter(to, counts[i].name,
            (double)atomic_load_explicit(&e->count[i], memory_order_relaxed),
            SB_COUNTER_TOTAL, "pages");
    if (rc == 0)
        rc = pass_counter(to, "memory_used", (double)sqlite3_memory_used(),
            SB_COUNTER_LEVEL, "bytes");
    if (rc == 0 && !e->memory)
        rc = pass_counter(to, "database_bytes", file_size(e->o->db, ""),
            SB_COUNTER_LEVEL, "bytes");
    if (rc == 0 && !e->memory)
        rc = pass_counter(to, "wal_bytes", file_size(e->o->db, "-wal"),
            SB_COUNTER_LEVEL, "bytes");
    return rc;
}

// Inspection ------------------------------------------------------------------

// NaN: the database is locked, for example.
static double pragma_number(struct sqlite_conn *c, const char *sql)
{
    char text[32], *end;
    double value;

    pragma_text(c, sql, text, sizeof(text));
    value = strtod(text, &end);
    return end == text ? NAN : value;
}

static int inspect_cache(
    struct sqlite_conn *c, const struct sb_inspect_sink *to)
{
    double page = pragma_number(c, "PRAGMA page_size");
    double size = pragma_number(c, "PRAGMA cache_size"); // negative: KiB
    double hits = (double)atomic_load(&c->env->count[0]);
    double misses = (double)atomic_load(&c->env->count[1]);
    int rc = to->fact(
        to->arg, SB_FACT_CACHE_BYTES, size < 0 ? -1024 * size : page * size);

    if (rc == 0)
        rc = to->fact(to->arg, SB_FACT_CACHE_REQUESTS, hits + misses);
    if (rc == 0)
        rc = to->fact(to->arg, SB_FACT_CACHE_MISSES, misses);
    if (rc == 0)
        rc = to->fact(to->arg, SB_FACT_DATA_BYTES,
            page * pragma_number(c, "PRAGMA page_count"));
    to->part(to->arg, SB_PART_CACHE, "", NULL);
    to->part(to->arg, SB_PART_SIZE, "", NULL);
    return rc;
}

// Pages that all connections have read and written.
static int inspect_work(struct sqlite_conn *c, const struct sb_inspect_sink *to)
{
    double page = pragma_number(c, "PRAGMA page_size");
    int rc;

    lite_ask(c->env);
    rc = to->fact(to->arg, SB_FACT_READ_BYTES,
        page * (double)atomic_load(&c->env->count[1]));
    if (rc == 0)
        rc = to->fact(to->arg, SB_FACT_WRITTEN_BYTES,
            page * (double)atomic_load(&c->env->count[2]));
    to->part(to->arg, SB_PART_WORK, "", NULL);
    return rc;
}

// The highest row number, which costs one lookup; NaN: the table has none.
static double rows_of(struct sqlite_conn *c, const char *table)
{
    sqlite3_stmt *st = NULL;
    double rows = NAN;
    char *sql = sqlite3_mprintf("SELECT max(rowid) FROM \"%w\"", table);

    if (sql && sqlite3_prepare_v2(c->db, sql, -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        rows = sqlite3_column_double(st, 0);
    sqlite3_finalize(st);
    sqlite3_free(sql);
    return rows;
}

static int inspect_tables(
    struct sqlite_conn *c, const struct sb_inspect_sink *to)
{
    // Without the table of statistics, the second text fails.
    static const char *const sql[] = {
        "SELECT m.name, EXISTS (SELECT 1 FROM sqlite_stat1 s WHERE s.tbl = "
        "m.name) FROM sqlite_master m WHERE m.type = 'table' AND m.name NOT "
        "LIKE 'sqlite%' LIMIT 1000",
        "SELECT name, 0 FROM sqlite_master WHERE type = 'table' AND name NOT "
        "LIKE 'sqlite%' LIMIT 1000",
    };
    sqlite3_stmt *st = NULL;
    struct sb_err err = { 0 };
    int rc = 0, step;

    if (sqlite3_prepare_v2(c->db, sql[0], -1, &st, NULL) != SQLITE_OK)
        sqlite3_prepare_v2(c->db, sql[1], -1, &st, NULL);
    while (rc == 0 && (step = sqlite3_step(st)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(st, 0);
        const struct sb_table_facts t = {
            .name = name,
            .analyzed = sqlite3_column_int(st, 1) != 0,
            .rows = name ? rows_of(c, name) : NAN,
            .bytes = NAN,
            .changed = NAN,
            .dead = NAN,
            .uses = NAN,
        };

        if (t.name)
            rc = to->table(to->arg, &t);
    }
    if (step != SQLITE_DONE && rc == 0)
        sb_err_set(&err, SB_EQUERY, "%s", sqlite3_errmsg(c->db));
    sqlite3_finalize(st);
    to->part(
        to->arg, SB_PART_STATISTICS, "sqlite_master", err.code ? &err : NULL);
    return rc;
}

static int inspect_durability(
    struct sqlite_conn *c, const struct sb_inspect_sink *to)
{
    double level = pragma_number(c, "PRAGMA synchronous");
    struct sb_err err = { 0 };
    char mode[32], path[PATH_MAX];
    int rc = 0;

    lite_address_of(c, path, sizeof(path));
    if (!c->env->memory && path[0] == '/')
        rc = to->folder(to->arg, dirname(path));
    pragma_text(c, "PRAGMA journal_mode", mode, sizeof(mode));
    if (c->env->memory)
        rc = to->undurable(to->arg, "a database in memory");
    else if (level == 0)
        rc = to->undurable(to->arg, "synchronous=off");
    else if (level == 1 && strcmp(mode, "wal") == 0)
        rc = to->undurable(to->arg, "synchronous=normal with journal_mode=wal");
    if (isnan(level))
        sb_err_set(&err, SB_EQUERY, "%s", sqlite3_errmsg(c->db));
    to->part(to->arg, SB_PART_DURABILITY, "PRAGMA synchronous",
        err.code ? &err : NULL);
    return rc;
}

int sqlite_inspect(
    struct sb_conn *conn, const struct sb_inspect_sink *to, struct sb_err *err)
{
    struct sqlite_conn *c = (struct sqlite_conn *)conn;
    static const struct {
        enum sb_inspect_part part;
        int (*answer)(struct sqlite_conn *c, const struct sb_inspect_sink *to);
    } parts[] = {
        { SB_PART_CACHE, inspect_cache }, // and SB_PART_SIZE
        { SB_PART_STATISTICS, inspect_tables },
        { SB_PART_DURABILITY, inspect_durability },
        { SB_PART_WORK, inspect_work },
    };
    int rc = 0;

    (void)err;
    c->apart = true;
    leave_load(c);
    for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (to->parts >> parts[i].part & 1)
            rc = parts[i].answer(c, to);
    }
    return rc;
}
