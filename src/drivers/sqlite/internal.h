// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations shared by the files of the SQLite driver.
#ifndef SQLITE_INTERNAL_H
#define SQLITE_INTERNAL_H

#include <assert.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "db/driver.h"
#include "kit/buf.h"

struct sqlite_opts {
    const char *db;
    int journal_mode, synchronous, temp_store; // index into their choices
    int64_t cache_size, mmap_size, page_size;  // bytes
    int64_t busy_timeout;                      // ns
    bool create;
};

extern const struct sb_opt_table sqlite_opt_table;
extern const char *const sqlite_journal_modes[];
extern const char *const sqlite_synchronous[];
extern const char *const sqlite_temp_stores[];

#define SQLITE_COUNTS 3 // see info.c

// The state that the connections of one instance share.
struct sqlite_env {
    const struct sqlite_opts *o;
    const char *uri;
    bool memory;          // the database is in memory, one per process
    bool missing;         // the file did not exist at env_init()
    char *immutable;      // the URI if it is opened as immutable, or NULL
    _Atomic bool written; // a statement has changed the database
    sqlite3 *keep;        // keeps the database in memory open
    pthread_mutex_t lock; // of `keep`; users do not wait while they hold it
    // One connection at a time sets the journal mode. It may wait meanwhile,
    // and users that share its thread run, so this is not a mutex.
    _Atomic bool setting_journal;
    // Counters: see info.c.
    _Atomic unsigned asked;       // how often counters() asked for the counts
    _Atomic unsigned connections; // of the load, that are open
    _Atomic unsigned answers;     // how often a connection added its counts
    _Atomic uint64_t count[SQLITE_COUNTS];
};

// The position of a value in the buffered result; len < 0: NULL.
struct sqlite_cell {
    size_t at;
    int len;
};

#define SQLITE_TEXTS      16u  // slots of the cache of text statements
#define SQLITE_TEXT_BYTES 128u // maximum length of a cached text

struct sqlite_text {
    uint64_t hash;   // of the cached text
    uint64_t missed; // hash of the last text that missed this slot
    size_t len;
    sqlite3_stmt *stmt; // NULL: the slot is free
    char text[SQLITE_TEXT_BYTES];
};

// The connection: struct sb_conn in this driver.
struct sqlite_conn {
    sqlite3 *db;
    struct sqlite_env *env;
    const struct sqlite_opts *o;
    const struct sb_host *host;
    _Atomic bool canceled; // since the statement began
    bool journal_pending;  // the journal mode is to be set before a write
    bool apart;            // not of the load: its counts are not added
    bool counted;          // as one of env->connections
    unsigned asked;        // value of env->asked when the counts were added
    int64_t busy_since;    // ns
    int64_t changes;       // rows changed before the transaction
    // The result: all rows, copied out of SQLite.
    struct sb_buf bytes;
    struct sqlite_cell *cell;
    size_t ncells, cap_cells;
    size_t next;         // index of the next cell to fetch
    sqlite3_stmt *names; // the statement that has the column names
    bool names_owned;    // it is finalized together with the result
    struct sqlite_text text[SQLITE_TEXTS];
    // Bulk load.
    sqlite3_stmt *many, *one; // INSERT of bulk_rows rows, and of one row
    uint32_t bulk_rows, bulk_columns;
};

// The statement: struct sb_stmt in this driver.
struct sqlite_prepared {
    sqlite3_stmt *stmt;
};

// fail.c

// Fills err from the connection's last error and classifies it.
int sqlite_fail(struct sqlite_conn *c, int rc, struct sb_err *err);
// Sleeps for about ns nanoseconds, in which other users of the thread run.
void sqlite_pause(const struct sqlite_conn *c, int64_t ns);
// To be called at the beginning of a call: resets an earlier cancel, and counts
// the changes so far if no transaction is open.
void sqlite_call_begin(struct sqlite_conn *c);
// Runs a statement and discards its result.
int sqlite_simple(struct sqlite_conn *c, const char *sql, struct sb_err *err);

// journal.c

// Sets the journal mode that was selected.
int sqlite_set_journal(struct sqlite_conn *c, struct sb_err *err);
// To be called before the first write: applies the journal mode to a file
// that did not exist when it was opened.
int sqlite_before_write(struct sqlite_conn *c, struct sb_err *err);

// conn.c
extern const struct sb_generic_ops sqlite_generic_ops;

// info.c

// Operations of struct sb_info_ops.
int sqlite_server(struct sb_conn *conn, char *out, size_t size);
int sqlite_client(char *out, size_t size);
int sqlite_describe(struct sb_conn *conn, struct sb_server *out,
    int (*setting)(void *arg, const char *name, const char *value,
        enum sb_setting_state state),
    void *arg, struct sb_err *err);
int sqlite_counters(
    struct sb_conn *conn, const struct sb_counter_sink *to, struct sb_err *err);
int sqlite_inspect(
    struct sb_conn *conn, const struct sb_inspect_sink *to, struct sb_err *err);
// The connection of the load is open, or about to be closed.
void sqlite_count_begin(struct sqlite_conn *c);
void sqlite_count_end(struct sqlite_conn *c);
// Adds the counts of the connection to those of the environment.
void sqlite_count_last(struct sqlite_conn *c);
// The same, if counters() has asked for them since the last call.
static inline void sqlite_count(struct sqlite_conn *c)
{
    unsigned asked = atomic_load_explicit(&c->env->asked, memory_order_relaxed);

    if (asked != c->asked) {
        c->asked = asked;
        sqlite_count_last(c);
        atomic_fetch_add_explicit(&c->env->answers, 1, memory_order_release);
    }
}

// explain.c: explain() of struct sb_info_ops.
int sqlite_explain(struct sb_conn *conn, const struct sb_statement *s,
    const struct sb_plan_sink *to, struct sb_err *err);

// file.c

bool sqlite_file_missing(const char *path);
// Writes the text to append to an error of opening or writing: ": the reason",
// or "".
void sqlite_file_reason(sqlite3 *db, const char *path, char *out, size_t size);
// Returns the URI to open a file as immutable if it is in WAL format, has no
// log, and is in a folder that is not writable; NULL for any other file. The
// caller frees it.
char *sqlite_file_immutable(const char *path);
// Shrinks a database without tables to its minimum size. Does nothing if that
// is not possible at the moment.
void sqlite_file_shrink(const char *path);

// stmt.c
extern const struct sb_sql_ops sqlite_sql_ops;
void sqlite_texts_done(struct sqlite_conn *c);
// Binds a value. Its text is not copied, and must stay valid until the
// statement is reset.
int sqlite_bind_value(sqlite3_stmt *st, int index, const struct sb_value *v);

// bulk.c
extern const struct sb_bulk_ops sqlite_bulk_ops;
void sqlite_bulk_done(struct sqlite_conn *c);

#endif
