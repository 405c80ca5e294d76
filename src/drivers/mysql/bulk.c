// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bulk load by LOAD DATA LOCAL INFILE without a file. The library pulls the
// data and the core pushes rows, so the statement runs in a thread of its own,
// which takes blocks of encoded rows from the pushing thread: one block is
// filled while the previous one is sent.
#include <stdio.h>
#include <stdlib.h>

#include "drivers/mysql/internal.h"
#include "kit/array.h"
#include "kit/locale.h"

// A load: the data that the two threads share.

enum sbmy_bulk_state {
    SBMY_BULK_IDLE,     // no statement was sent yet
    SBMY_BULK_STARTING, // the server has not requested data yet
    SBMY_BULK_LOADING,
    SBMY_BULK_DONE, // the statement ended with rc and err
};

struct sbmy_block {
    char *data;
    size_t len, cap;
};

struct sbmy_bulk {
    struct sbmy_conn *c;
    char *sql;
    uint32_t ncolumns;
    uint64_t sent;   // rows of this statement
    uint64_t bytes;  // of this statement, passed to the library
    bool short_load; // keeps the settings of the session
    bool old_unique, old_foreign, strict;
    struct sbmy_block fill; // owned by the pushing thread
    // Shared by the two threads, protected by lock:
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool running; // the thread must be joined
    enum sbmy_bulk_state state;
    bool full;    // `ready` has data and belongs to the library
    bool no_more; // no more rows
    bool give_up; // the statement is to fail
    struct sbmy_block ready;
    // Owned by the pulling thread: whether it reads `ready`, and its position
    // there.
    bool taking;
    size_t at;
    // The outcome of the statement, valid when SBMY_BULK_DONE:
    int rc;
    struct sb_err err;
    uint64_t loaded;
    unsigned warnings;
};

// Wakes the other thread. The caller holds b->lock.
static void sbmy_bulk_wake(struct sbmy_bulk *b)
{
    pthread_cond_broadcast(&b->changed);
}

// The pulling thread ----------------------------------------------------------
//
// The functions by which the library reads a local file, in the thread of the
// statement. They pass on the blocks that the pushing thread hands over, and
// refuse every other file.

static int infile_init(void **ptr, const char *name, void *userdata)
{
    struct sbmy_conn *c = userdata;
    struct sbmy_bulk *b = c->bulk;

    *ptr = NULL; // Oracle's library does not initialize it
    // Refuse a file that the server requests while no LOAD DATA is being
    // started, for example in reply to the settings query of a load that is
    // about to begin.
    if (!b || b->state != SBMY_BULK_STARTING)
        return 1;
    pthread_mutex_lock(&b->lock);
    b->state = SBMY_BULK_LOADING;
    sbmy_bulk_wake(b);
    pthread_mutex_unlock(&b->lock);
    *ptr = b;
    return 0;
}

// Gives back the block that was read, if any, and waits for the next one.
// Returns 1, 0 if there are no more blocks, -1 if the load is aborted.
static int await_block(struct sbmy_bulk *b)
{
    int have;

    pthread_mutex_lock(&b->lock);
    assert(!b->taking || b->full);
    if (b->taking) {
        b->ready.len = 0;
        b->full = false;
        sbmy_bulk_wake(b);
    }
    while (!b->full && !b->no_more && !b->give_up)
        pthread_cond_wait(&b->changed, &b->lock);
    have = b->give_up ? -1 : b->full;
    b->taking = have == 1;
    b->at = 0;
    pthread_mutex_unlock(&b->lock);
    return have;
}

static int infile_read(void *ptr, char *out, unsigned size)
{
    struct sbmy_bulk *b = ptr;
    int have = b->taking && b->at < b->ready.len ? 1 : await_block(b);
    size_t n;

    if (have <= 0)
        return have;
    assert(b->at <= b->ready.len);
    n = b->ready.len - b->at;
    if (n > size)
        n = size;
    memcpy(out, b->ready.data + b->at, n);
    b->at += n;
    return (int)n;
}

static void infile_end(void *ptr)
{
}

static int infile_error(void *ptr, char *text, unsigned size)
{
    snprintf(text, size, "%s",
        ptr ? "the load was aborted"
            : "the server requested a local file, which is refused");
    return SBMY_CR_FILE_REFUSED;
}

void sbmy_infile_guard(struct sbmy_conn *c, MYSQL *my)
{
    mysql_set_local_infile_handler(
        my, infile_init, infile_read, infile_end, infile_error, c);
}

#define BLOCK_BYTES  (1024u * 1024)
#define THREAD_STACK (256u * 1024)
#define SETTINGS     4u // columns of the query in my_read_settings()
#define WARNING      3u // columns of SHOW WARNINGS: level, number, text
// A server that cannot store more rows (its disk is full) reports this only at
// the end of the statement, after it has read all data. Statements of limited
// size detect the error earlier.
#define STATEMENT_BYTES (256u * 1024 * 1024)

static void *run_statement(void *arg)
{
    struct sbmy_bulk *b = arg;
    struct sbmy_conn *c = b->c;
    int rc;

    sb_locale_keep();
    sbmy_thread();
    rc = sbmy_ask_nothing(c, b->sql, &b->err);
    pthread_mutex_lock(&b->lock);
    if (rc == 0) {
        b->loaded = mysql_affected_rows(c->my);
        b->warnings = mysql_warning_count(c->my);
    }
    b->rc = rc;
    b->state = SBMY_BULK_DONE;
    sbmy_bulk_wake(b);
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

// The pushing thread ---------------------------------------------------------

static void bulk_free(struct sbmy_bulk *b)
{
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->changed);
    free(b->fill.data);
    free(b->ready.data);
    free(b->sql);
    free(b);
}

static int write_statement(struct sbmy_bulk *b, const char *table,
    const char *columns, struct sb_err *err)
{
    static const char form[] =
        "LOAD DATA LOCAL INFILE 'sysbench' INTO TABLE %s CHARACTER SET binary "
        "FIELDS TERMINATED BY x'09' ESCAPED BY x'%02X' "
        "LINES TERMINATED BY x'0A' (%s)";
    // With another character set, MySQL 5.7 and newer refuse bytes that are no
    // text, also for a BLOB.
    size_t size = sizeof(form) + strlen(table) + strlen(columns);

    b->sql = malloc(size);
    if (!b->sql)
        return sb_err_no_memory(err);
    snprintf(b->sql, size, form, table, SBMY_ESCAPE, columns);
    return 0;
}

static struct sbmy_bulk *bulk_new(struct sbmy_conn *c, uint32_t ncolumns)
{
    struct sbmy_bulk *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    b->c = c;
    b->ncolumns = ncolumns;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    b->fill.cap = b->ready.cap = BLOCK_BYTES + 4096;
    b->fill.data = malloc(b->fill.cap);
    b->ready.data = malloc(b->ready.cap);
    if (b->fill.data && b->ready.data)
        return b;
    bulk_free(b);
    return NULL;
}

static bool my_is_on(const char *text)
{
    return strcmp(text, "0") != 0;
}

static int no_load(const char *why, struct sb_err *err)
{
    return sb_err_set(err, SB_EUNSUPPORTED, "%s", why);
}

// Reads the settings of the session. SB_EUNSUPPORTED: it does not support
// loads.
static int my_read_settings(
    struct sbmy_conn *c, struct sbmy_bulk *b, struct sb_err *err)
{
    static const char sql[] =
        "SELECT @@local_infile, @@unique_checks, @@foreign_key_checks, "
        "@@sql_mode LIKE '%STRICT%'";
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sbmy_ask(c, sql, SETTINGS, &res, err);

    if (rc)
        return rc == SB_EQUERY || rc == SB_EIGNORE ? SB_EUNSUPPORTED : rc;
    row = sbmy_ask_row(res, SETTINGS);
    if (!row) {
        rc = no_load("the server did not return its settings", err);
    } else if (!my_is_on(row[0])) {
        rc = no_load("local_infile is off", err);
    } else {
        b->old_unique = my_is_on(row[1]);
        b->old_foreign = my_is_on(row[2]);
        b->strict = my_is_on(row[3]);
    }
    mysql_free_result(res);
    return rc;
}

static void restore_settings(struct sbmy_conn *c, const struct sbmy_bulk *b)
{
    char sql[80];

    if (b->short_load)
        return;
    snprintf(sql, sizeof(sql), "SET unique_checks=%d, foreign_key_checks=%d",
        b->old_unique, b->old_foreign);
    sbmy_ask_nothing(c, sql, NULL);
}

// Logs once that the slower method is used.
static int log_refused(struct sbmy_conn *c, const struct sb_err *why)
{
    char text[700];

    if (atomic_exchange_explicit(&c->env->no_load, true, memory_order_relaxed))
        return SB_EUNSUPPORTED;
    snprintf(text, sizeof(text),
        "mysql: the server does not accept LOAD DATA LOCAL (%s); rows are "
        "sent as INSERT statements, which is slower. SET GLOBAL "
        "local_infile=ON enables LOAD DATA LOCAL.",
        why->msg);
    c->host->log(3, text);
    return SB_EUNSUPPORTED;
}

static int start_statement(struct sbmy_bulk *b, struct sb_err *err)
{
    pthread_attr_t attr;
    int rc;

    b->state = SBMY_BULK_STARTING;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK);
    rc = pthread_create(&b->thread, &attr, run_statement, b);
    pthread_attr_destroy(&attr);
    b->running = rc == 0;
    if (rc)
        b->state = SBMY_BULK_IDLE;
    return rc ? sb_err_set(err, SB_ESYS, "cannot start a loading thread: %s",
                    strerror(rc))
              : 0;
}

static void attach_load(struct sbmy_conn *c, struct sbmy_bulk *b)
{
    pthread_mutex_lock(&c->lock);
    c->bulk = b;
    pthread_mutex_unlock(&c->lock);
}

// Waits until the server requests data or refuses the load.
static int await_start(struct sbmy_bulk *b, struct sb_err *err)
{
    bool loading;

    pthread_mutex_lock(&b->lock);
    while (b->state == SBMY_BULK_STARTING)
        pthread_cond_wait(&b->changed, &b->lock);
    loading = b->state == SBMY_BULK_LOADING;
    pthread_mutex_unlock(&b->lock);
    if (loading)
        return 0;
    pthread_join(b->thread, NULL);
    b->running = false;
    *err = b->err;
    if (b->rc == 0)
        return sb_err_set(
            err, SB_EUNSUPPORTED, "the server did not request any data");
    return b->rc != SB_ECANCELED && sbmy_refuses_load(err->native)
               ? SB_EUNSUPPORTED
               : b->rc;
}

static int begin_statements(struct sbmy_conn *c, struct sbmy_bulk *b,
    const char *table, const char *columns, struct sb_err *err)
{
    int rc = my_read_settings(c, b, err);

    if (rc == 0)
        rc = write_statement(b, table, columns, err);
    if (rc)
        return rc;
    if (!b->short_load)
        rc = sbmy_ask_nothing(
            c, "SET unique_checks=0, foreign_key_checks=0", err);
    if (rc == 0)
        rc = sbmy_ask_nothing(c, "START TRANSACTION", err);
    if (rc == 0)
        rc = start_statement(b, err);
    if (rc == 0)
        rc = await_start(b, err);
    if (rc) {
        sbmy_ask_nothing(c, "ROLLBACK", NULL);
        restore_settings(c, b);
    }
    return rc;
}

static int my_begin_any(struct sbmy_conn *c, bool short_load, const char *table,
    const char *columns, uint32_t ncolumns, struct sb_err *err)
{
    struct sb_err why = { 0 };
    struct sbmy_bulk *b;
    int rc;

    if (c->o->dry_run ||
        atomic_load_explicit(&c->env->no_load, memory_order_relaxed))
        return sb_err_set(
            err, SB_EUNSUPPORTED, "LOAD DATA LOCAL is not available");
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    b = bulk_new(c, ncolumns);
    if (!b)
        return sbmy_call_end(c, sb_err_no_memory(err));
    b->short_load = short_load;
    attach_load(c, b);
    rc = begin_statements(c, b, table, columns, &why);
    if (rc == 0)
        return 0; // the call is in progress until my_bulk_end()
    attach_load(c, NULL);
    bulk_free(b);
    if (rc == SB_EUNSUPPORTED)
        log_refused(c, &why);
    if (err)
        *err = why;
    return sbmy_call_end(c, rc);
}

static int my_bulk_begin(struct sb_conn *conn, const char *table,
    const char *columns, uint32_t ncolumns, struct sb_err *err)
{
    return my_begin_any(sbmy_own(conn), false, table, columns, ncolumns, err);
}

static int my_bulk_begin_short(struct sb_conn *conn, const char *table,
    const char *columns, uint32_t ncolumns, struct sb_err *err)
{
    return my_begin_any(sbmy_own(conn), true, table, columns, ncolumns, err);
}

static int statement_failure(struct sbmy_bulk *b, struct sb_err *err)
{
    *err = b->err;
    if (b->rc == 0) // ended before all rows were sent
        return sb_err_set(err, SB_EQUERY, "the server ended the load early");
    return b->rc;
}

// Passes the filled block to the pulling thread.
static int hand_over(struct sbmy_bulk *b, struct sb_err *err)
{
    int rc = 0;

    pthread_mutex_lock(&b->lock);
    while (b->full && b->state != SBMY_BULK_DONE)
        pthread_cond_wait(&b->changed, &b->lock);
    if (b->state == SBMY_BULK_DONE) {
        rc = statement_failure(b, err);
    } else {
        struct sbmy_block sent = b->fill;

        b->fill = b->ready;
        b->fill.len = 0;
        b->ready = sent;
        b->bytes += sent.len;
        b->full = true;
        sbmy_bulk_wake(b);
    }
    pthread_mutex_unlock(&b->lock);
    return rc;
}

static int my_add_row(
    struct sbmy_bulk *b, const struct sb_value *v, struct sb_err *err)
{
    struct sbmy_block *f = &b->fill;
    size_t need = 0;
    char *out;

    for (uint32_t i = 0; i < b->ncolumns; i++)
        need += sbmy_encode_room(&v[i]);
    out = sb_array_room(f->data, &f->cap, f->len, need, 1);
    if (!out)
        return sb_err_no_memory(err);
    f->data = out;
    out += f->len;
    for (uint32_t i = 0; i < b->ncolumns; i++)
        out = sbmy_encode(out, &v[i], i + 1 < b->ncolumns ? '\t' : '\n');
    f->len = (size_t)(out - f->data);
    b->sent++;
    return f->len < BLOCK_BYTES ? 0 : hand_over(b, err);
}

// Ends the statement and joins its thread.
static void finish_statement(struct sbmy_bulk *b, bool give_up)
{
    struct sb_err unused;

    if (!b->running)
        return;
    if (!give_up && b->fill.len > 0)
        hand_over(b, &unused);
    pthread_mutex_lock(&b->lock);
    b->no_more = true;
    b->give_up = b->give_up || give_up; // or canceled
    sbmy_bulk_wake(b);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    b->running = false;
}

// With LOCAL, the server skips rows that it cannot store, and issues a warning.
static int first_warning(
    struct sbmy_conn *c, const struct sbmy_bulk *b, struct sb_err *err)
{
    MYSQL_RES *res;
    MYSQL_ROW row = NULL;

    if (b->loaded >= b->sent && (b->warnings == 0 || !b->strict))
        return 0;
    if (sbmy_ask(c, "SHOW WARNINGS LIMIT 1", WARNING, &res, NULL) == 0)
        row = sbmy_ask_row(res, WARNING);
    if (row)
        sb_err_native(err, SB_EQUERY, (int)strtol(row[1], NULL, 10),
            strcmp(row[1], "1062") == 0 ? "23000" : "HY000", row[2]);
    else
        sb_err_set(err, SB_EQUERY,
            "the server loaded %llu of %llu rows; it skips duplicate keys",
            (unsigned long long)b->loaded, (unsigned long long)b->sent);
    if (res)
        mysql_free_result(res);
    return SB_EQUERY;
}

static int start_again(struct sbmy_bulk *b, struct sb_err *err)
{
    int rc;

    b->full = b->no_more = false;
    b->at = b->ready.len = 0;
    b->sent = b->bytes = 0;
    rc = start_statement(b, err);
    if (rc == 0)
        rc = await_start(b, err);
    return rc == SB_EUNSUPPORTED ? SB_EQUERY : rc;
}

// Ends the statement and begins the next one of the transaction. An error is
// kept as the result of the load.
static int next_statement(
    struct sbmy_conn *c, struct sbmy_bulk *b, struct sb_err *err)
{
    int rc;

    finish_statement(b, false);
    rc = b->rc ? statement_failure(b, err) : first_warning(c, b, err);
    if (rc == 0)
        rc = start_again(b, err);
    if (rc) {
        b->state = SBMY_BULK_DONE;
        b->rc = rc;
        b->err = *err;
    }
    return rc;
}

static int my_bulk_rows(struct sb_conn *conn, const struct sb_value *values,
    uint32_t nrows, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct sbmy_bulk *b = c->bulk;
    int rc = 0;

    for (uint32_t r = 0; rc == 0 && r < nrows; r++)
        rc = my_add_row(b, values + (size_t)r * b->ncolumns, err);
    if (rc == 0 && b->bytes >= STATEMENT_BYTES)
        rc = next_statement(c, b, err);
    return rc;
}

static int end_transaction(
    struct sbmy_conn *c, struct sbmy_bulk *b, bool commit, struct sb_err *err)
{
    int rc = b->rc;

    if (commit && rc)
        *err = b->err;
    if (commit && rc == 0)
        rc = first_warning(c, b, err);
    if (commit && rc == 0)
        rc = sbmy_ask_nothing(c, "COMMIT", err);
    if (!commit || rc)
        sbmy_ask_nothing(c, "ROLLBACK", NULL);
    restore_settings(c, b);
    return commit ? rc : 0;
}

static int my_bulk_end(struct sb_conn *conn, bool commit, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    struct sbmy_bulk *b = c->bulk;
    int rc;

    if (!b)
        return 0;
    finish_statement(b, !commit);
    rc = end_transaction(c, b, commit, err);
    attach_load(c, NULL);
    bulk_free(b);
    return sbmy_call_end(c, rc);
}

void sbmy_bulk_cancel(struct sbmy_bulk *b)
{
    pthread_mutex_lock(&b->lock);
    b->give_up = true;
    sbmy_bulk_wake(b);
    pthread_mutex_unlock(&b->lock);
}

void sbmy_bulk_drop(struct sbmy_conn *c)
{
    struct sb_err unused;

    my_bulk_end((struct sb_conn *)c, false, &unused);
}

const struct sb_bulk_ops sbmy_bulk_ops = {
    .begin = my_bulk_begin,
    .rows = my_bulk_rows,
    .end = my_bulk_end,
    .begin_short = my_bulk_begin_short,
};
