// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bulk load by COPY, in one transaction. If the table is empty, rows are
// frozen, so that the server does not have to write them again later. The
// binary format is used if it is supported for the types of all columns, until
// a value occurs that only the server can convert. From then on, rows are sent
// as text.
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>

#include "drivers/pgsql/binary.h"
#include "drivers/pgsql/internal.h"

#define SEND_BYTES (128u * 1024)

// Returns the position after the contents of `rows`, with room for `more`
// bytes; NULL if out of memory.
static char *room(struct pgsql_conn *c, size_t more, struct sb_err *err)
{
    char *p = sb_buf_room(&c->rows, more);

    if (!p)
        sb_err_no_memory(err);
    return p;
}

static int pg_put_header(struct pgsql_conn *c, struct sb_err *err)
{
    char *p = room(c, PGSQL_BINARY_HEADER, err);

    if (!p)
        return SB_ENOMEM;
    pgsql_binary_header(p);
    c->rows.len += PGSQL_BINARY_HEADER;
    return 0;
}

// Returns the statement for the format in use: `copy` contains the one for
// text, its NUL, and the one for binary.
static const char *statement(const struct pgsql_conn *c)
{
    return c->binary ? c->copy.data + strlen(c->copy.data) + 1 : c->copy.data;
}

// Sends the COPY statement. Returns 0 once the server waits for rows.
static int copy_start(struct pgsql_conn *c, struct sb_err *err)
{
    PGresult *r;
    int rc;

    pgsql_clear(c);
    c->rows.len = 0;
    rc = c->binary ? pg_put_header(c, err) : 0;
    if (rc)
        return rc;
    if (!PQsendQuery(c->db, statement(c)))
        return pgsql_fail(c, NULL, err);
    r = pgsql_next(c);
    if (r && PQresultStatus(r) == PGRES_COPY_IN) {
        PQclear(r);
        c->heard = false;
        return 0;
    }
    rc = pgsql_fail(c, r, err);
    PQclear(r);
    pgsql_collect(c, NULL);
    return rc;
}

static int pg_send_rows(struct pgsql_conn *c, struct sb_err *err)
{
    size_t len = c->rows.len;

    c->rows.len = 0;
    if (len == 0 || pgsql_put_copy(c, c->rows.data, (int)len) == 0)
        return 0;
    return pgsql_fail(c, NULL, err);
}

// Sends the remaining rows and the trailer after the last one.
static int send_rest(struct pgsql_conn *c, struct sb_err *err)
{
    char *p;

    if (c->binary) {
        p = room(c, PGSQL_BINARY_COUNT, err);
        if (!p)
            return SB_ENOMEM;
        pgsql_binary_count(p, -1);
        c->rows.len += PGSQL_BINARY_COUNT;
    }
    return pg_send_rows(c, err);
}

// Ends COPY. why: NULL, or the reason why the server must discard the rows.
static int copy_end(struct pgsql_conn *c, const char *why, struct sb_err *err)
{
    int rc = why ? 0 : send_rest(c, err), ended;

    if (rc)
        why = "the client could not send all rows";
    if (pgsql_put_copy_end(c, why))
        return rc ? rc : pgsql_fail(c, NULL, err);
    ended = pgsql_collect(c, rc ? NULL : err);
    pgsql_clear(c);
    return rc ? rc : ended;
}

static bool make_statements(
    struct pgsql_conn *c, const char *table, const char *columns, bool frozen)
{
    size_t size = 2 * (strlen(table) + strlen(columns) + 64);
    char *p;
    int n;

    c->copy.len = 0;
    p = sb_buf_room(&c->copy, size);
    if (!p)
        return false;
    n = snprintf(p, size, "COPY %s (%s) FROM STDIN%s", table, columns,
        frozen ? " WITH (FREEZE)" : "");
    snprintf(p + n + 1, size - (size_t)n - 1,
        "COPY %s (%s) FROM STDIN WITH (%sFORMAT binary)", table, columns,
        frozen ? "FREEZE, " : "");
    return true;
}

// Beginning ----------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static int run(
    struct pgsql_conn *c, struct sb_err *err, const char *format, ...)
{
    va_list args, again;
    char *p;
    int n;

    c->sql.len = 0;
    va_start(args, format);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    p = n < 0 ? NULL : sb_buf_room(&c->sql, (size_t)n + 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, format, again);
    va_end(again);
    return p ? pgsql_run(c, p, err) : sb_err_no_memory(err);
}

// Chooses the format of the rows by the types in an answer.
static void choose_format(struct pgsql_conn *c, const PGresult *r)
{
    c->binary = (uint32_t)PQnfields(r) == c->columns;
    for (uint32_t i = 0; i < c->columns && c->binary; i++) {
        c->field[i] = pgsql_field_of(PQftype(r, (int)i));
        c->binary = c->field[i] != PGSQL_FIELD_TEXT_ONLY;
    }
}

// Chooses the format, locks the table so that it stays empty, and truncates it,
// which FREEZE requires. SB_EUNSUPPORTED: the table has rows.
static int lock_empty_table(struct pgsql_conn *c, const char *table,
    const char *columns, struct sb_err *err)
{
    int rc = run(c, err, "LOCK TABLE %s IN ACCESS EXCLUSIVE MODE", table);
    const PGresult *r;

    if (rc == 0)
        rc = run(c, err, "SELECT %s FROM %s LIMIT 1", columns, table);
    if (rc)
        return rc;
    r = pgsql_answer(c, 0, 0, err);
    if (!r)
        return SB_EQUERY;
    choose_format(c, r);
    if (PQntuples(r) > 0)
        return SB_EUNSUPPORTED;
    return run(c, err, "TRUNCATE %s", table);
}

// try: executes an empty COPY first, because the server may report only after
// COPY has begun that the table cannot have frozen rows or that binary rows are
// not supported.
static int copy_begin(struct pgsql_conn *c, bool try, struct sb_err *err)
{
    int rc;

    pgsql_call_begin(c);
    rc = copy_start(c, err);
    if (rc == 0 && try)
        rc = copy_end(c, NULL, err);
    if (rc == 0 && try)
        rc = copy_start(c, err);
    pgsql_call_end(c);
    return rc;
}

static int begin_frozen(struct pgsql_conn *c, const char *table,
    const char *columns, struct sb_err *err)
{
    int rc = pgsql_run(c, "BEGIN", err);

    if (rc == 0)
        rc = lock_empty_table(c, table, columns, err);
    if (rc == 0 && !make_statements(c, table, columns, true))
        rc = sb_err_no_memory(err);
    return rc ? rc : copy_begin(c, true, err);
}

static int begin_plain(struct pgsql_conn *c, const char *table,
    const char *columns, struct sb_err *err)
{
    int rc = pgsql_run(c, "BEGIN", err);

    if (rc == 0 && !make_statements(c, table, columns, false))
        rc = sb_err_no_memory(err);
    return rc ? rc : copy_begin(c, c->binary, err);
}

static int no_copy(struct pgsql_conn *c, struct sb_err *err)
{
    char line[600];

    if (!atomic_exchange_explicit(
            &c->env->no_copy, true, memory_order_relaxed)) {
        snprintf(line, sizeof(line),
            "pgsql: COPY is not supported (%s); rows are sent as INSERT "
            "statements, which is slower",
            err->msg);
        c->host->log(3, line);
    }
    return SB_EUNSUPPORTED;
}

// Rolls back after the server has refused a way to load, so that one with fewer
// requirements can be tried.
static bool roll_back(struct pgsql_conn *c, int *rc, struct sb_err *err)
{
    if (*rc != SB_EQUERY && *rc != SB_EUNSUPPORTED)
        return false;
    *rc = pgsql_run(c, "ROLLBACK", err);
    return *rc == 0;
}

// A short load sends text: asking for the types would take longer.
static int pg_begin_any(struct pgsql_conn *c, const char *table,
    const char *columns, struct sb_err *err)
{
    int rc = c->short_load ? begin_plain(c, table, columns, err)
                           : begin_frozen(c, table, columns, err);

    // The first way fails if the table has rows, is partitioned, foreign or
    // referenced, or if the user may not lock it. COPY alone requires less.
    if (!c->short_load && roll_back(c, &rc, err))
        rc = begin_plain(c, table, columns, err);
    if (c->binary && roll_back(c, &rc, err)) {
        c->binary = false;
        rc = begin_plain(c, table, columns, err);
    }
    if (rc == 0)
        return 0;
    if (rc != SB_ELOST)
        pgsql_run(c, "ROLLBACK", NULL);
    return rc == SB_EQUERY && pgsql_not_known(err->state) ? no_copy(c, err)
                                                          : rc;
}

static int pg_begin_load(struct pgsql_conn *c, const char *table,
    const char *columns, uint32_t ncolumns, struct sb_err *err)
{
    struct sb_err why = { 0 };
    uint8_t *field;
    int rc;

    if (atomic_load_explicit(&c->env->no_copy, memory_order_relaxed))
        return sb_err_set(err, SB_EUNSUPPORTED, "COPY is not supported");
    field = realloc(c->field, ncolumns);
    if (!field)
        return sb_err_no_memory(err);
    c->field = field;
    c->columns = ncolumns;
    c->binary = false;
    rc = pg_begin_any(c, table, columns, &why);
    pgsql_clear(c);
    why.code = rc;
    if (rc && err)
        *err = why;
    return rc;
}

static int pg_bulk_begin(struct sb_conn *conn, const char *table,
    const char *columns, uint32_t ncolumns, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);

    c->short_load = false;
    return pg_begin_load(c, table, columns, ncolumns, err);
}

static int pg_bulk_begin_short(struct sb_conn *conn, const char *table,
    const char *columns, uint32_t ncolumns, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);

    c->short_load = true;
    return pg_begin_load(c, table, columns, ncolumns, err);
}

// Rows that were sent cannot be sent again, so no error is retried or ignored,
// unless the load is short.
static int not_retryable(const struct pgsql_conn *c, int rc, struct sb_err *err)
{
    if (c->short_load)
        return rc;
    if (rc != SB_ERESTART && rc != SB_EIGNORE)
        return rc;
    if (err)
        err->code = SB_EQUERY;
    return SB_EQUERY;
}

// Rows ---------------------------------------------------------------------

static int pg_add_text(
    struct pgsql_conn *c, const struct sb_value *v, struct sb_err *err)
{
    size_t size = 1;
    char *out, *start;

    for (uint32_t i = 0; i < c->columns; i++)
        size += pgsql_copy_size(&v[i]) + 1;
    out = start = room(c, size, err);
    if (!out)
        return SB_ENOMEM;
    for (uint32_t i = 0; i < c->columns; i++) {
        out += pgsql_copy_value(out, &v[i]);
        *out++ = i + 1 < c->columns ? '\t' : '\n';
    }
    c->rows.len += (size_t)(out - start);
    return 0;
}

// SB_EUNSUPPORTED: a value requires the server's conversion.
static int add_binary(
    struct pgsql_conn *c, const struct sb_value *v, struct sb_err *err)
{
    size_t size = PGSQL_BINARY_COUNT;
    char *out, *start;

    for (uint32_t i = 0; i < c->columns; i++)
        size += pgsql_binary_size(&v[i]);
    out = start = room(c, size, err);
    if (!out)
        return SB_ENOMEM;
    pgsql_binary_count(out, (int)c->columns);
    out += PGSQL_BINARY_COUNT;
    for (uint32_t i = 0; i < c->columns; i++) {
        size_t n = pgsql_binary_value(out, c->field[i], &v[i]);

        if (n == 0)
            return SB_EUNSUPPORTED;
        out += n;
    }
    c->rows.len += (size_t)(out - start);
    return 0;
}

// Continues with another COPY, for text, in the same transaction.
static int continue_as_text(struct pgsql_conn *c, struct sb_err *err)
{
    int rc = copy_end(c, NULL, err);

    c->binary = false;
    return rc ? rc : copy_start(c, err);
}

static int pg_add_row(
    struct pgsql_conn *c, const struct sb_value *v, struct sb_err *err)
{
    int rc = c->binary ? add_binary(c, v, err) : pg_add_text(c, v, err);

    if (rc == SB_EUNSUPPORTED) {
        rc = continue_as_text(c, err);
        if (rc == 0)
            rc = pg_add_text(c, v, err);
    }
    return rc == 0 && c->rows.len >= SEND_BYTES ? pg_send_rows(c, err) : rc;
}

// While COPY succeeds, the server sends nothing. If it has sent something,
// which libpq may have read while it sent rows, ends COPY early to get the
// error. If that succeeds, it was only a notice, and COPY is started again.
static int check_for_error(struct pgsql_conn *c, struct sb_err *err)
{
    struct pollfd p = { .fd = c->fd, .events = POLLIN };
    int rc;

    if (!c->heard && poll(&p, 1, 0) <= 0)
        return 0;
    rc = copy_end(c, NULL, err);
    return rc ? rc : copy_start(c, err);
}

static int pg_bulk_rows(struct sb_conn *conn, const struct sb_value *values,
    uint32_t nrows, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int rc;

    pgsql_call_begin(c);
    rc = check_for_error(c, err);
    for (uint32_t i = 0; i < nrows && rc == 0; i++)
        rc = pg_add_row(c, values + (size_t)i * c->columns, err);
    pgsql_call_end(c);
    return not_retryable(c, rc, err);
}

// Ending -------------------------------------------------------------------

static int pg_bulk_end(struct sb_conn *conn, bool commit, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int rc = 0;

    pgsql_call_begin(c);
    if (commit)
        rc = copy_end(c, NULL, err);
    else if (pgsql_transaction(c) == PQTRANS_ACTIVE)
        copy_end(c, "the load was aborted", NULL);
    sb_buf_done(&c->rows);
    pgsql_call_end(c);
    if (commit && rc == 0)
        return not_retryable(c, pgsql_run(c, "COMMIT", err), err);
    if (!pgsql_gone(c))
        pgsql_run(c, "ROLLBACK", NULL);
    return not_retryable(c, rc, err);
}

const struct sb_bulk_ops pgsql_bulk_ops = {
    .begin = pg_bulk_begin,
    .rows = pg_bulk_rows,
    .end = pg_bulk_end,
    .begin_short = pg_bulk_begin_short,
};
