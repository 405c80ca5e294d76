// SPDX-License-Identifier: GPL-2.0-or-later
//
// Results of libpq.
#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "drivers/pgsql/internal.h"

// Keeping ------------------------------------------------------------------

void pgsql_clear(struct pgsql_conn *c)
{
    if (c->wire_stmt)
        pgsql_wire_clear(c);
    PQclear(c->result);
    c->result = NULL;
    c->row = 0;
}

static bool end_copy(struct pgsql_conn *c, ExecStatusType status)
{
    switch (status) {
    case PGRES_COPY_OUT:
        return pgsql_skip_copy(c) == 0;
    case PGRES_COPY_IN:
        return pgsql_put_copy_end(
                   c, "COPY FROM STDIN is not supported: use con:load()") == 0;
    default:
        return status != PGRES_COPY_BOTH;
    }
}

// Ends a COPY that a text statement started. While it lasts, libpq returns no
// other result. If it cannot be ended, the connection is closed: SB_ELOST.
static int leave_copy(
    struct pgsql_conn *c, ExecStatusType status, struct sb_err *err)
{
    static const struct pgsql_problem problem = {
        .state = "",
        .text = "connection lost: the server started a COPY that does not end",
        .detail = "",
        .routine = "",
    };

    if (end_copy(c, status) || pgsql_gone(c))
        return 0;
    c->gone = true;
    shutdown(PQsocket(c->db), SHUT_RDWR);
    // libpq ends the COPY once it has detected the end of the connection.
    while (PQconsumeInput(c->db) && PQstatus(c->db) == CONNECTION_OK)
        continue;
    return pgsql_fail_with(c, &problem, err);
}

// Handles one result. rc: the code of those before it.
static int pg_take_result(
    struct pgsql_conn *c, PGresult *r, int rc, struct sb_err *err)
{
    ExecStatusType status = PQresultStatus(r);
    int lost;

    if (rc == 0 && status == PGRES_COMMAND_OK)
        rc = pgsql_check_commit(c, PQcmdStatus(r), err);
    switch (status) {
    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
        if (rc)
            break;
        PQclear(c->result);
        c->result = r;
        return 0;
    case PGRES_COPY_OUT:
    case PGRES_COPY_IN:
    case PGRES_COPY_BOTH:
        lost = leave_copy(c, status, rc ? NULL : err);
        rc = rc ? rc : lost;
        break;
    default:
        if (rc == 0)
            rc = pgsql_fail(c, r, err);
    }
    PQclear(r);
    return rc;
}

int pgsql_collect(struct pgsql_conn *c, struct sb_err *err)
{
    PGresult *r;
    int rc = 0;

    while ((r = pgsql_next(c)) != NULL)
        rc = pg_take_result(c, r, rc, err);
    if (rc)
        pgsql_clear(c);
    return rc == SB_EQUERY && pgsql_gone(c) ? pgsql_fail_fatal(c, err) : rc;
}

int pgsql_run(struct pgsql_conn *c, const char *sql, struct sb_err *err)
{
    int rc;

    pgsql_clear(c);
    pgsql_call_begin(c);
    rc = PQsendQuery(c->db, sql) ? pgsql_collect(c, err)
                                 : pgsql_fail(c, NULL, err);
    pgsql_call_end(c);
    return rc;
}

#ifdef LIBPQ_HAS_PIPELINING

int pgsql_drain(struct pgsql_conn *c, struct sb_err *err)
{
    int nothing = 0, rc = 0;

    while (!pgsql_gone(c) && nothing < 2) {
        PGresult *r = pgsql_next(c);
        ExecStatusType status = r ? PQresultStatus(r) : PGRES_EMPTY_QUERY;

        nothing = r ? 0 : nothing + 1;
        if (status == PGRES_FATAL_ERROR && !c->failed && rc == 0)
            rc = pgsql_fail(c, r, err);
        PQclear(r);
        leave_copy(c, status, NULL);
        if (status == PGRES_PIPELINE_SYNC)
            break;
    }
    return rc;
}

#endif

// Internal queries -----------------------------------------------------------

const PGresult *pgsql_answer(
    const struct pgsql_conn *c, int rows, int columns, struct sb_err *err)
{
    const PGresult *r = c->result;

    if (r && PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) >= rows &&
        (columns == 0 || PQnfields(r) == columns))
        return r;
    sb_err_set(err, SB_EQUERY,
        "the server answered an internal query in an unexpected form");
    return NULL;
}

const char *pgsql_cell(const PGresult *r, int row, int column)
{
    if (row < 0 || row >= PQntuples(r) || column < 0 ||
        column >= PQnfields(r) || PQgetisnull(r, row, column))
        return NULL;
    return PQgetvalue(r, row, column);
}

double pgsql_number(const PGresult *r, int row, int column)
{
    const char *text = pgsql_cell(r, row, column);

    return text ? strtod(text, NULL) : NAN;
}

// Reading ------------------------------------------------------------------

bool pgsql_rolled_back(const struct pgsql_conn *c)
{
    if (c->wire_stmt)
        return c->wire.rollback;
    return c->result && strcmp(PQcmdStatus(c->result), "ROLLBACK") == 0;
}

void pgsql_describe(const struct pgsql_conn *c, struct sb_result *res)
{
    PGresult *r = c->result;
    const char *tuples;

    if (c->wire_stmt) {
        pgsql_wire_describe(c, res);
        return;
    }
    if (!r)
        return;
    if (PQresultStatus(r) == PGRES_TUPLES_OK) {
        res->kind = SB_RESULT_ROWS;
        res->nfields = (uint32_t)PQnfields(r);
        res->affected = res->nrows = (uint64_t)PQntuples(r);
        return;
    }
    tuples = PQcmdTuples(r);
    if (tuples[0])
        res->kind = SB_RESULT_WRITE;
    res->affected = strtoull(tuples, NULL, 10);
}

int pgsql_fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    const PGresult *r = c->result;
    int row = (int)c->row;

    if (c->wire_stmt)
        return pgsql_wire_fetch(c, res, cells, err);
    if (!r || c->row >= res->nrows)
        return 0;
    for (int i = 0; i < (int)res->nfields; i++) {
        bool null = PQgetisnull(r, row, i);

        cells[i].s = null ? NULL : PQgetvalue(r, row, i);
        cells[i].len = null ? 0 : (uint64_t)PQgetlength(r, row, i);
    }
    c->row++;
    return 1;
}

static const char *nth(const char *names, uint32_t i)
{
    while (i-- > 0)
        names += strlen(names) + 1;
    return names;
}

const char *pgsql_column(
    struct sb_conn *conn, struct sb_result *res, uint32_t i)
{
    struct pgsql_conn *c = pgsql_own(conn);

    if (i >= res->nfields)
        return NULL;
    if (c->wire_stmt)
        return nth(c->wire_stmt->columns, i);
    return c->result ? PQfname(c->result, (int)i) : NULL;
}

void pgsql_free_result(struct sb_conn *conn, struct sb_result *res)
{
    pgsql_clear(pgsql_own(conn));
}
