// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the sessions of the server are doing: pg_stat_activity.
#include <stdlib.h>

#include "drivers/pgsql/internal.h"

#define COLUMNS 5

// Sessions of others have other settings of these three. A pooler keeps the
// name of the application.
static const char sessions_sql[] =
    "SELECT pid, wait_event_type, wait_event, state, left(query, 1100) FROM "
    "pg_stat_activity WHERE datname = current_database() AND usename = "
    "current_user AND application_name = current_setting('application_name') "
    "AND state <> 'idle' AND pid <> pg_backend_pid()";

#define IDLE_IN "idle in transaction"

static int take_session(
    const PGresult *r, int row, const struct sb_activity_sink *to)
{
    const char *pid = pgsql_cell(r, row, 0), *state = pgsql_cell(r, row, 3);
    const char *type = pgsql_cell(r, row, 1), *event = pgsql_cell(r, row, 2);
    const char *text = pgsql_cell(r, row, 4);
    struct sb_activity a = { .session = pid ? strtoull(pid, NULL, 10) : 0,
        .wait_class = type ? type : "CPU",
        .event = event ? event : "" };

    if (!state || strcmp(state, "disabled") == 0) {
        to->note(to->arg, "sessions with track_activities=off are not seen");
        return 0;
    }
    if (strncmp(state, IDLE_IN, sizeof(IDLE_IN) - 1) == 0) {
        a.wait_class = "Client";
        a.event = IDLE_IN;
    } else {
        a.text = text ? text : "";
        a.len = strlen(a.text);
    }
    return to->session(to->arg, &a);
}

int pgsql_activity(
    struct sb_conn *conn, const struct sb_activity_sink *to, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    const PGresult *r;
    int rc;

    if (PQserverVersion(c->db) < 90600)
        return sb_err_set(
            err, SB_EUNSUPPORTED, "waits are known from PostgreSQL 9.6 on");
    rc = pgsql_run(c, sessions_sql, err);
    r = rc ? NULL : pgsql_answer(c, 0, COLUMNS, err);
    if (r)
        to->note(to->arg, "all sessions of this user and application name");
    for (int i = 0; rc == 0 && r && i < PQntuples(r); i++)
        rc = take_session(r, i, to);
    if (rc == 0 && !r)
        rc = SB_EQUERY;
    pgsql_clear(c);
    if (rc == SB_EQUERY)
        rc = err->code = SB_EUNSUPPORTED; // a server without this view
    return rc;
}

uint64_t pgsql_session(const struct sb_conn *conn)
{
    return (uint64_t)PQbackendPID(((const struct pgsql_conn *)conn)->db);
}
