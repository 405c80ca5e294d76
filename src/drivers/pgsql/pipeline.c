// SPDX-License-Identifier: GPL-2.0-or-later
//
// Pipelines: statements sent together.
#include <sys/socket.h>

#include "drivers/pgsql/internal.h"

#ifdef LIBPQ_HAS_PIPELINING

static int send_sync(struct pgsql_conn *c, struct sb_err *err)
{
    if (!PQpipelineSync(c->db))
        return pgsql_fail(c, NULL, err);
    c->synced = true;
    return pgsql_flush(c) ? pgsql_fail(c, NULL, err) : 0;
}

static int pg_send_text(
    struct pgsql_conn *c, const char *sql, size_t len, struct sb_err *err)
{
    struct sb_err why = { 0 };
    const char *text = pgsql_terminated(c, sql, len, &why);

    if (!text) {
        if (err)
            *err = why;
        return why.code;
    }
    if (PQsendQueryParams(c->db, text, 0, NULL, NULL, NULL, NULL, 0))
        return 0;
    return pgsql_fail(c, NULL, err);
}

static int send_item(
    struct pgsql_conn *c, const struct sb_item *item, struct sb_err *err)
{
    if (item->stmt)
        return pgsql_send_stmt(c, (const struct pgsql_stmt *)item->stmt,
            item->values, item->nvalues, err);
    return pg_send_text(c, item->sql, item->len, err);
}

// Items that are queued already would be executed at the sync, although the
// pipeline has failed. An error makes the server undo them; otherwise it must
// not receive the sync.
static void spoil(struct pgsql_conn *c)
{
    if (!PQsendQueryParams(c->db, "the pipeline could not be sent", 0, NULL,
            NULL, NULL, NULL, 0))
        shutdown(c->fd, SHUT_RDWR);
}

static int pg_send_all(struct pgsql_conn *c, const struct sb_item *items,
    uint32_t n, struct sb_err *err)
{
    int rc;

    if (!PQenterPipelineMode(c->db))
        return pgsql_fail(c, NULL, err);
    for (uint32_t i = 0; i < n; i++) {
        rc = send_item(c, &items[i], err);
        if (rc && i > 0)
            spoil(c);
        if (rc)
            return rc;
    }
    return send_sync(c, err);
}

static int renew_all(struct pgsql_conn *c, const struct sb_item *items,
    uint32_t n, struct sb_err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < n && rc == 0; i++) {
        if (items[i].stmt)
            rc = pgsql_renew(c, (struct pgsql_stmt *)items[i].stmt, err);
    }
    return rc;
}

int pgsql_pipeline_send(struct sb_conn *conn, const struct sb_item *items,
    uint32_t n, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int rc;

    pgsql_clear(c);
    rc = renew_all(c, items, n, err);
    if (rc)
        return rc;
    c->synced = false;
    c->drained = false;
    pgsql_call_begin(c);
    rc = pg_send_all(c, items, n, err);
    pgsql_call_end(c);
    c->unanswered = rc ? 0 : n;
    c->failed = rc != 0;
    return rc;
}

static int pg_receive(
    struct pgsql_conn *c, struct sb_result *res, struct sb_err *err)
{
    struct sb_err why = { 0 };
    int rc;

    assert(c->unanswered > 0);
    pgsql_clear(c);
    rc = pgsql_collect(c, &why);
    c->unanswered--;
    // The last statement has succeeded only if the commit at the sync has.
    if (rc == 0 && c->unanswered == 0 && c->synced) {
        rc = pgsql_drain(c, &why);
        c->drained = true;
    }
    if (rc == 0) {
        pgsql_describe(c, res);
        return 0;
    }
    // The server has skipped the statements after this one.
    c->unanswered = 0;
    c->failed = true;
    if (rc == SB_EQUERY && pgsql_stmt_lost(c, &why))
        rc = SB_ERESTART;
    why.code = rc;
    if (err)
        *err = why;
    return rc;
}

int pgsql_pipeline_receive(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int rc;

    pgsql_call_begin(c);
    rc = pg_receive(c, res, err);
    pgsql_call_end(c);
    return rc;
}

static int end_pipeline(struct pgsql_conn *c, struct sb_err *err)
{
    int rc = c->synced ? 0 : send_sync(c, err);
    bool synced = rc == 0;

    while (rc == 0 && c->unanswered > 0)
        rc = pg_receive(c, &(struct sb_result){ 0 }, err);
    if (synced && !c->drained) {
        int late = pgsql_drain(c, err);

        rc = rc ? rc : late;
    }
    if (!PQexitPipelineMode(c->db) && rc == 0)
        rc = pgsql_fail(c, NULL, err);
    return rc;
}

int pgsql_pipeline_end(struct sb_conn *conn, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int rc;

    pgsql_clear(c);
    if (PQpipelineStatus(c->db) == PQ_PIPELINE_OFF)
        return 0;
    pgsql_call_begin(c);
    rc = end_pipeline(c, err);
    pgsql_call_end(c);
    pgsql_clear(c);
    return rc;
}

#endif
