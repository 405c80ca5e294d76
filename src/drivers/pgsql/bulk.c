// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loading by COPY: one transaction, and frozen rows where the table is empty,
// which spares the server from writing them once more later.
#include <poll.h>

#include "drivers/pgsql/pgsql_priv.h"

#define SEND_BYTES (128u * 1024)

// Sends the COPY statement; 0 once the server waits for rows.
static int copy_start(struct pgsql_conn *c, struct sb_err *err)
{
    PGresult *r;
    int rc;

    pgsql_clear(c);
    c->rows.len = 0;
    if (!PQsendQuery(c->db, c->copy.s))
        return pgsql_fail(c, NULL, err);
    r = PQgetResult(c->db);
    if (r && PQresultStatus(r) == PGRES_COPY_IN) {
        PQclear(r);
        return 0;
    }
    rc = pgsql_fail(c, r, err);
    PQclear(r);
    pgsql_collect(c, NULL);
    return rc;
}

static int copy_begin(struct pgsql_conn *c, struct sb_err *err)
{
    int rc;

    pgsql_call_begin(c);
    rc = copy_start(c, err);
    pgsql_call_end(c);
    return rc;
}

// Ends it. why: NULL, or the reason for which the server drops the rows.
static int copy_end(struct pgsql_conn *c, const char *why, struct sb_err *err)
{
    int rc;

    if (PQputCopyEnd(c->db, why) != 1)
        return pgsql_fail(c, NULL, err);
    rc = pgsql_collect(c, err);
    pgsql_clear(c);
    return rc;
}

static int send(struct pgsql_conn *c, struct sb_err *err)
{
    size_t len = c->rows.len;

    c->rows.len = 0;
    if (len == 0 || PQputCopyData(c->db, c->rows.s, (int)len) == 1)
        return 0;
    return pgsql_fail(c, NULL, err);
}

static bool text_statement(struct pgsql_text *t, const char *table,
    const char *columns, const char *options)
{
    size_t size = strlen(table) + strlen(columns) + strlen(options) + 40;
    char *p;

    t->len = 0;
    p = pgsql_text_room(t, size);
    if (p)
        snprintf(p, size, "COPY %s (%s) FROM STDIN%s", table, columns, options);
    return p != NULL;
}

// Beginning ----------------------------------------------------------------

// Runs "<before><table><after>".
static int run_on(struct pgsql_conn *c, const char *before, const char *table,
    const char *after, struct sb_err *err)
{
    size_t size = strlen(before) + strlen(table) + strlen(after) + 1;
    char *p;

    c->sql.len = 0;
    p = pgsql_text_room(&c->sql, size);
    if (!p)
        return pgsql_no_memory(err);
    snprintf(p, size, "%s%s%s", before, table, after);
    return pgsql_run(c, p, err);
}

// Locks the table, to be sure that it stays empty until it is truncated, which
// is what admits FREEZE. SB_EUNSUPPORTED: it has rows.
static int empty_table(
    struct pgsql_conn *c, const char *table, struct sb_err *err)
{
    int rc = run_on(c, "LOCK TABLE ", table, " IN ACCESS EXCLUSIVE MODE", err);

    if (rc == 0)
        rc = run_on(c, "SELECT 1 FROM ", table, " LIMIT 1", err);
    if (rc == 0 && PQntuples(c->result[0]) > 0)
        rc = SB_EUNSUPPORTED;
    return rc ? rc : run_on(c, "TRUNCATE ", table, "", err);
}

// A COPY of nothing: whether the table can have frozen rows is said only when
// COPY has begun.
static int try_copy(struct pgsql_conn *c, struct sb_err *err)
{
    int rc;

    pgsql_call_begin(c);
    rc = copy_start(c, err);
    if (rc == 0)
        rc = copy_end(c, NULL, err);
    pgsql_call_end(c);
    return rc;
}

static int begin_frozen(struct pgsql_conn *c, const char *table,
    const char *columns, struct sb_err *err)
{
    int rc = pgsql_run(c, "BEGIN", err);

    if (rc == 0)
        rc = empty_table(c, table, err);
    if (rc == 0 && !text_statement(&c->copy, table, columns, " WITH (FREEZE)"))
        rc = pgsql_no_memory(err);
    if (rc == 0)
        rc = try_copy(c, err);
    return rc ? rc : copy_begin(c, err);
}

static int begin_plain(struct pgsql_conn *c, const char *table,
    const char *columns, struct sb_err *err)
{
    int rc = pgsql_run(c, "BEGIN", err);

    if (rc == 0 && !text_statement(&c->copy, table, columns, ""))
        rc = pgsql_no_memory(err);
    return rc ? rc : copy_begin(c, err);
}

static int no_copy(struct pgsql_conn *c, struct sb_err *err)
{
    char line[600];

    if (!atomic_exchange_explicit(
            &c->env->no_copy, true, memory_order_relaxed)) {
        snprintf(line, sizeof(line),
            "pgsql: no COPY here, loading by INSERT: %s", err->msg);
        c->host->log(3, line);
    }
    return SB_EUNSUPPORTED;
}

static int begin_any(struct pgsql_conn *c, const char *table,
    const char *columns, struct sb_err *err)
{
    int rc = begin_frozen(c, table, columns, err);

    // Rows that are there already, a partitioned or foreign table, references
    // to it, no right to lock: COPY alone asks for less.
    if (rc == SB_EQUERY || rc == SB_EUNSUPPORTED) {
        rc = pgsql_run(c, "ROLLBACK", err);
        if (rc == 0)
            rc = begin_plain(c, table, columns, err);
    }
    if (rc == 0)
        return 0;
    if (rc != SB_ELOST)
        pgsql_run(c, "ROLLBACK", NULL);
    return rc == SB_EQUERY && pgsql_not_known(err->state) ? no_copy(c, err)
                                                          : rc;
}

static int begin(struct sb_conn *conn, const char *table, const char *columns,
    uint32_t ncolumns, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    struct sb_err why = { 0 };
    int rc;

    if (atomic_load_explicit(&c->env->no_copy, memory_order_relaxed))
        return sb_err_set(err, SB_EUNSUPPORTED, "no COPY here");
    c->columns = ncolumns;
    rc = begin_any(c, table, columns, &why);
    pgsql_clear(c);
    why.code = rc;
    if (rc && err)
        *err = why;
    return rc;
}

// Rows that are on their way cannot be sent again, whatever the error.
static int final(int rc, struct sb_err *err)
{
    if (rc != SB_ERESTART && rc != SB_EIGNORE)
        return rc;
    if (err)
        err->code = SB_EQUERY;
    return SB_EQUERY;
}

// Rows ---------------------------------------------------------------------

static int add_row(
    struct pgsql_conn *c, const struct sb_value *v, struct sb_err *err)
{
    size_t size = 1;
    char *out, *start;

    for (uint32_t i = 0; i < c->columns; i++)
        size += pgsql_copy_size(&v[i]) + 1;
    out = start = pgsql_text_room(&c->rows, size);
    if (!out)
        return pgsql_no_memory(err);
    for (uint32_t i = 0; i < c->columns; i++) {
        out += pgsql_copy_value(out, &v[i]);
        *out++ = i + 1 < c->columns ? '\t' : '\n';
    }
    c->rows.len += (size_t)(out - start);
    return c->rows.len >= SEND_BYTES ? send(c, err) : 0;
}

// The server says nothing while all is well. An error of it shows only when
// COPY is ended, which is done early when it has said something; a mere notice
// it was if that succeeds.
static int listen_in(struct pgsql_conn *c, struct sb_err *err)
{
    struct pollfd p = { .fd = c->fd, .events = POLLIN };
    int rc;

    if (poll(&p, 1, 0) <= 0)
        return 0;
    rc = send(c, err);
    if (rc == 0)
        rc = copy_end(c, NULL, err);
    return rc ? rc : copy_start(c, err);
}

static int rows(struct sb_conn *conn, const struct sb_value *values,
    uint32_t nrows, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int rc;

    pgsql_call_begin(c);
    rc = listen_in(c, err);
    for (uint32_t i = 0; i < nrows && rc == 0; i++)
        rc = add_row(c, values + (size_t)i * c->columns, err);
    pgsql_call_end(c);
    return final(rc, err);
}

// Ending -------------------------------------------------------------------

static int end(struct sb_conn *conn, bool commit, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int rc = 0;

    pgsql_call_begin(c);
    if (commit)
        rc = send(c, err);
    if (pgsql_transaction(c) == PQTRANS_ACTIVE) {
        int ended = copy_end(c, commit ? NULL : "given up", rc ? NULL : err);

        rc = rc || !commit ? rc : ended;
    }
    pgsql_text_done(&c->rows);
    pgsql_call_end(c);
    if (commit && rc == 0)
        return final(pgsql_run(c, "COMMIT", err), err);
    if (!pgsql_gone(c))
        pgsql_run(c, "ROLLBACK", NULL);
    return final(rc, err);
}

const struct sb_bulk_ops pgsql_bulk_ops = {
    .begin = begin,
    .rows = rows,
    .end = end,
};
