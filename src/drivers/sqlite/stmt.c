// SPDX-License-Identifier: GPL-2.0-or-later
//
// Statements. Rows are copied during stepping, so that the read lock ends with
// the call, and the time of the call includes all rows.
#include <math.h>
#include <stdlib.h>

#include "drivers/sqlite/internal.h"
#include "kit/array.h"
#include "kit/hash.h"

#define REAL_ROOM 40

static struct sqlite_conn *lite_own(struct sb_conn *conn)
{
    return (struct sqlite_conn *)conn;
}

// Result -------------------------------------------------------------------

static void result_clear(struct sqlite_conn *c)
{
    if (c->names_owned)
        sqlite3_finalize(c->names);
    c->names = NULL;
    c->names_owned = false;
    c->bytes.len = c->ncells = c->next = 0;
}

// Returns a value as text; NULL for SQL NULL. SQLite writes a real number with
// 15 digits. If they do not read back as the same number, 17 are used.
static const char *lite_text_of(
    sqlite3_stmt *st, int i, char room[REAL_ROOM], int *len)
{
    bool real = sqlite3_column_type(st, i) == SQLITE_FLOAT;
    double d = real ? sqlite3_column_double(st, i) : 0;
    const char *s = (const char *)sqlite3_column_text(st, i);

    *len = s ? sqlite3_column_bytes(st, i) : 0;
    if (!real || !s || isinf(d) || strtod(s, NULL) == d)
        return s;
    sqlite3_snprintf(REAL_ROOM, room, "%!.17g", d);
    *len = (int)strlen(room);
    return room;
}

static bool keep_row(struct sqlite_conn *c, sqlite3_stmt *st, int n)
{
    struct sqlite_cell *cell = sb_array_room(
        c->cell, &c->cap_cells, c->ncells, (size_t)n, sizeof(*cell));

    if (!cell)
        return false;
    c->cell = cell;
    cell += c->ncells;
    for (int i = 0; i < n; i++, cell++) {
        char room[REAL_ROOM];
        int len;
        const char *s = lite_text_of(st, i, room, &len);
        char *to = sb_buf_room(&c->bytes, (size_t)len);

        if (!to)
            return false;
        if (len > 0)
            memcpy(to, s, (size_t)len);
        cell->at = c->bytes.len;
        cell->len = s || sqlite3_column_type(st, i) != SQLITE_NULL ? len : -1;
        c->bytes.len += (size_t)len;
    }
    c->ncells += (size_t)n;
    return true;
}

// Steps to the end. Returns SQLITE_DONE after success. *columns: the number of
// columns, which the first step may change: SQLite prepares the statement again
// if the schema has changed.
static int step_all(struct sqlite_conn *c, sqlite3_stmt *st, int *columns,
    struct sb_result *res)
{
    int rc = sqlite3_step(st), n = sqlite3_column_count(st);

    *columns = n;
    for (; rc == SQLITE_ROW; rc = sqlite3_step(st)) {
        if (!keep_row(c, st, n))
            return SQLITE_NOMEM;
        res->nrows++;
    }
    return rc;
}

// Sets the counts of a write. SQLite also classifies DDL and BEGIN IMMEDIATE as
// writes, but after them its counters still have the values of the statement
// before.
static void count_changes(
    struct sqlite_conn *c, int64_t before, struct sb_result *res)
{
    if (sqlite3_total_changes64(c->db) == before)
        return;
    res->affected += (uint64_t)sqlite3_changes64(c->db);
    res->insert_id = (uint64_t)sqlite3_last_insert_rowid(c->db);
}

static int run_stmt(struct sqlite_conn *c, sqlite3_stmt *st,
    struct sb_result *res, struct sb_err *err)
{
    int n = sqlite3_column_count(st), rc;
    bool writes = !sqlite3_stmt_readonly(st);
    int64_t before = writes ? sqlite3_total_changes64(c->db) : 0;

    if (writes && !atomic_load_explicit(&c->env->written, memory_order_relaxed))
        atomic_store_explicit(&c->env->written, true, memory_order_relaxed);
    if (writes && c->journal_pending) {
        rc = sqlite_before_write(c, err);
        if (rc)
            return rc;
    }
    if (n > 0) {
        c->bytes.len = c->ncells = c->next = 0;
        res->nrows = 0;
    }
    rc = step_all(c, st, &n, res);
    if (rc != SQLITE_DONE) {
        int code = sqlite_fail(c, rc, err);

        sqlite3_reset(st);
        return code;
    }
    if (n > 0) {
        res->kind = SB_RESULT_ROWS;
        res->nfields = (uint32_t)n;
    } else if (writes) {
        count_changes(c, before, res);
    }
    sqlite3_reset(st);
    return 0;
}

// A cache of statements for texts that are repeated (BEGIN, COMMIT). A text
// replaces another one only when it occurs twice in a row in its slot, so texts
// that contain values rarely do.

static struct sqlite_text *text_slot(struct sqlite_conn *c, uint64_t h)
{
    return &c->text[(h ^ (h >> 32)) % SQLITE_TEXTS];
}

static sqlite3_stmt *text_find(
    struct sqlite_conn *c, const char *sql, size_t len, uint64_t h)
{
    struct sqlite_text *t = text_slot(c, h);

    if (t->stmt && t->hash == h && t->len == len &&
        memcmp(t->text, sql, len) == 0)
        return t->stmt;
    return NULL;
}

// Returns true if the slot owns the statement now.
static bool text_keep(struct sqlite_conn *c, const char *sql, size_t len,
    uint64_t h, sqlite3_stmt *st)
{
    struct sqlite_text *t = text_slot(c, h);

    if (t->missed != h) {
        t->missed = h;
        return false;
    }
    sqlite3_finalize(t->stmt);
    t->stmt = st;
    t->hash = h;
    t->len = len;
    memcpy(t->text, sql, len);
    return true;
}

void sqlite_texts_done(struct sqlite_conn *c)
{
    for (size_t i = 0; i < SQLITE_TEXTS; i++)
        sqlite3_finalize(c->text[i].stmt);
}

static void names_set(struct sqlite_conn *c, sqlite3_stmt *st, bool owned)
{
    if (c->names_owned)
        sqlite3_finalize(c->names);
    c->names = st;
    c->names_owned = owned;
}

static bool blank(const char *s, const char *end)
{
    while (s < end &&
           (*s == ' ' || *s == ';' || *s == '\n' || *s == '\t' || *s == '\r'))
        s++;
    return s == end;
}

// Prepares and runs the first statement in [*sql, end) and moves *sql past
// it.
static int query_one(struct sqlite_conn *c, const char **sql, const char *end,
    uint64_t h, struct sb_result *res, struct sb_err *err)
{
    const char *start = *sql;
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(c->db, start, (int)(end - start), &st, sql);

    if (rc != SQLITE_OK)
        return sqlite_fail(c, rc, err);
    if (!st) {
        // A comment, or a zero byte, at which SQLite does not advance.
        if (*sql == start)
            *sql = end;
        return 0;
    }
    rc = run_stmt(c, st, res, err);
    if (rc == 0 && h && blank(*sql, end) &&
        text_keep(c, start, (size_t)(end - start), h, st)) {
        if (sqlite3_column_count(st) > 0)
            names_set(c, st, false);
    } else if (rc == 0 && sqlite3_column_count(st) > 0) {
        names_set(c, st, true);
    } else {
        sqlite3_finalize(st);
    }
    return rc;
}

static void finish_kind(struct sb_result *res)
{
    if (res->kind == SB_RESULT_NONE && res->affected > 0)
        res->kind = SB_RESULT_WRITE;
}

// Runs all statements of the text. The rows are those of the last one that
// returns any.
static int lite_query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    struct sqlite_conn *c = lite_own(conn);
    const char *end = sql + len;
    uint64_t h = len <= SQLITE_TEXT_BYTES ? sb_hash(sql, len) : 0;
    sqlite3_stmt *kept = h ? text_find(c, sql, len, h) : NULL;
    int rc = 0;

    result_clear(c);
    sqlite_call_begin(c);
    if (len > INT32_MAX)
        return sb_err_set(err, SB_EQUERY, "the query is too long");
    if (kept) {
        c->names = kept;
        rc = run_stmt(c, kept, res, err);
    }
    while (!kept && rc == 0 && !blank(sql, end)) {
        rc = query_one(c, &sql, end, h, res, err);
        h = 0; // only a text of one statement is cached
    }
    finish_kind(res);
    return rc;
}

// Prepared statements --------------------------------------------------------

static int lite_prepare(struct sb_conn *conn, struct sb_stmt *stmt,
    const char *sql, size_t len, const uint8_t *types, uint32_t *nparams,
    struct sb_err *err)
{
    struct sqlite_conn *c = lite_own(conn);
    struct sqlite_prepared *p = (struct sqlite_prepared *)stmt;
    const char *tail;
    int rc;

    sqlite_call_begin(c);
    rc = sqlite3_prepare_v3(
        c->db, sql, (int)len, SQLITE_PREPARE_PERSISTENT, &p->stmt, &tail);
    if (rc != SQLITE_OK)
        return sqlite_fail(c, rc, err);
    if (p->stmt && blank(tail, sql + len)) {
        *nparams = (uint32_t)sqlite3_bind_parameter_count(p->stmt);
        return 0;
    }
    sqlite3_finalize(p->stmt);
    p->stmt = NULL;
    return sb_err_set(
        err, SB_EUNSUPPORTED, "the text must contain exactly one statement");
}

int sqlite_bind_value(sqlite3_stmt *st, int index, const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        return sqlite3_bind_int64(st, index, v->i);
    case SB_VALUE_DOUBLE:
        return sqlite3_bind_double(st, index, v->d);
    case SB_VALUE_TEXT:
    case SB_VALUE_TIME:
        return sqlite3_bind_text(st, index, v->s, (int)v->len, SQLITE_STATIC);
    case SB_VALUE_BLOB:
        return sqlite3_bind_blob(st, index, v->s, (int)v->len, SQLITE_STATIC);
    case SB_VALUE_NULL:
    default:
        return sqlite3_bind_null(st, index);
    }
}

static int lite_execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err)
{
    struct sqlite_conn *c = lite_own(conn);
    sqlite3_stmt *st = ((struct sqlite_prepared *)stmt)->stmt;
    int rc;

    if (c->names_owned)
        result_clear(c);
    c->bytes.len = c->ncells = c->next = 0;
    c->names = st;
    sqlite_call_begin(c);
    for (uint32_t i = 0; i < n; i++) {
        rc = sqlite_bind_value(st, (int)i + 1, &values[i]);
        if (rc != SQLITE_OK)
            return sqlite_fail(c, rc, err);
    }
    rc = run_stmt(c, st, res, err);
    finish_kind(res);
    return rc;
}

static void lite_close(struct sb_conn *conn, struct sb_stmt *stmt)
{
    struct sqlite_conn *c = lite_own(conn);
    struct sqlite_prepared *p = (struct sqlite_prepared *)stmt;

    if (c->names == p->stmt)
        result_clear(c);
    sqlite3_finalize(p->stmt);
    p->stmt = NULL;
}

static int lite_fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    struct sqlite_conn *c = lite_own(conn);

    if (c->next >= c->ncells)
        return 0;
    assert(res->nfields <= c->ncells - c->next); // rows are kept whole
    for (uint32_t i = 0; i < res->nfields; i++) {
        const struct sqlite_cell *cell = &c->cell[c->next++];

        cells[i].s = cell->len < 0 ? NULL
                     : cell->len   ? c->bytes.data + cell->at
                                   : "";
        cells[i].len = cell->len < 0 ? 0 : (uint64_t)cell->len;
    }
    return 1;
}

static const char *lite_column(
    struct sb_conn *conn, struct sb_result *res, uint32_t i)
{
    struct sqlite_conn *c = lite_own(conn);

    return c->names && i < res->nfields ? sqlite3_column_name(c->names, (int)i)
                                        : NULL;
}

// The buffers are kept for the next result.
static void lite_free_result(struct sb_conn *conn, struct sb_result *res)
{
    struct sqlite_conn *c = lite_own(conn);

    if (c->names_owned)
        result_clear(c);
}

const struct sb_sql_ops sqlite_sql_ops = {
    .query = lite_query,
    .prepare = lite_prepare,
    .execute = lite_execute,
    .close = lite_close,
    .fetch = lite_fetch,
    .column = lite_column,
    .free_result = lite_free_result,
};
