// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the extension pg_stat_statements has counted.
#include <math.h>
#include <stdlib.h>

#include "drivers/pgsql/internal.h"
#include "kit/buf.h"

// The extension as it is installed in this database.
struct extension {
    char schema[200]; // quoted
    int version;      // 1.10 is 110
};

// Without the library, the setting does not exist.
static const char ready_sql[] =
    "SELECT quote_ident(n.nspname), e.extversion, "
    "current_setting('pg_stat_statements.track', true) FROM pg_extension e "
    "JOIN pg_namespace n ON n.oid = e.extnamespace "
    "WHERE e.extname = 'pg_stat_statements'";

// "1.10" -> 110
static int version_of(const char *text)
{
    char *end;
    long major = strtol(text, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;

    return (int)(major * 100 + minor);
}

static int take_extension(
    const PGresult *r, struct extension *e, struct sb_err *err)
{
    const char *schema = pgsql_cell(r, 0, 0), *version = pgsql_cell(r, 0, 1);
    const char *track = pgsql_cell(r, 0, 2);

    if (!schema || !version)
        return sb_err_set(err, SB_EUNSUPPORTED,
            "the extension pg_stat_statements is not installed in this "
            "database");
    if (!track)
        return sb_err_set(err, SB_EUNSUPPORTED,
            "pg_stat_statements is not in shared_preload_libraries");
    if (strcmp(track, "none") == 0)
        return sb_err_set(
            err, SB_EUNSUPPORTED, "pg_stat_statements.track=none");
    snprintf(e->schema, sizeof(e->schema), "%s", schema);
    e->version = version_of(version);
    return 0;
}

static int find_extension(
    struct pgsql_conn *c, struct extension *e, struct sb_err *err)
{
    int rc = pgsql_run(c, ready_sql, err);
    const PGresult *r = rc ? NULL : pgsql_answer(c, 0, 3, err);

    if (rc == 0)
        rc = r ? take_extension(r, e, err) : SB_EQUERY;
    pgsql_clear(c);
    return rc;
}

static int take_totals(const PGresult *r, const struct sb_statement_sink *to)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < PQntuples(r); i++) {
        const struct sb_statement_count s = { .id = pgsql_cell(r, i, 0),
            .calls = pgsql_number(r, i, 1),
            .ns = pgsql_number(r, i, 2) * 1e6,
            .rows = pgsql_number(r, i, 3),
            .examined = NAN,
            .hit = pgsql_number(r, i, 4),
            .read = pgsql_number(r, i, 5),
            .written = pgsql_number(r, i, 6),
            .errors = NAN };

        if (s.id)
            rc = to->totals(to->arg, &s);
    }
    if (rc == 0 && PQntuples(r) > 0 && pgsql_cell(r, 0, 7))
        rc = to->server(to->arg, pgsql_cell(r, 0, 7));
    return rc;
}

static int take_texts(const PGresult *r, const struct sb_statement_sink *to)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < PQntuples(r); i++) {
        const char *id = pgsql_cell(r, i, 0), *text = pgsql_cell(r, i, 1);

        if (id && text)
            rc = to->text(to->arg, id, text);
    }
    return rc;
}

static int take_lost(const PGresult *r, const struct sb_statement_sink *to)
{
    return to->lost(to->arg, pgsql_number(r, 0, 0));
}

// sql: takes it, also if it is incomplete.
static int ask(struct pgsql_conn *c, struct sb_buf *sql, int rows, int columns,
    int (*take)(const PGresult *r, const struct sb_statement_sink *to),
    const struct sb_statement_sink *to, struct sb_err *err)
{
    int rc = sql->failed ? sb_err_set(err, SB_ENOMEM, "out of memory")
                         : pgsql_run(c, sql->data, err);
    const PGresult *r = rc ? NULL : pgsql_answer(c, rows, columns, err);

    if (rc == 0)
        rc = r ? take(r, to) : SB_EQUERY;
    pgsql_clear(c);
    sb_buf_done(sql);
    return rc;
}

// The time of planning is 0 unless pg_stat_statements.track_planning is on. Of
// nested statements, the outer one has the time, too.
#define MINE                                                            \
    "WHERE dbid = (SELECT oid FROM pg_database WHERE datname = "        \
    "current_database()) AND userid = (SELECT oid FROM pg_roles WHERE " \
    "rolname = current_user)"

static int read_totals(struct pgsql_conn *c, const struct extension *e,
    const struct sb_statement_sink *to, struct sb_err *err)
{
    struct sb_buf sql;

    sb_buf_init(&sql, 0);
    sb_buf_addf(&sql,
        "SELECT queryid, sum(calls), sum(%s), sum(rows), "
        "sum(shared_blks_hit + local_blks_hit), "
        "sum(shared_blks_read + local_blks_read), "
        "sum(shared_blks_written + local_blks_written), "
        "pg_postmaster_start_time() "
        "FROM %s.pg_stat_statements(false) " MINE
        " AND calls > 0%s GROUP BY queryid",
        e->version >= 108 ? "total_exec_time + total_plan_time" : "total_time",
        e->schema, e->version >= 109 ? " AND toplevel" : "");
    return ask(c, &sql, 0, 8, take_totals, to, err);
}

static int read_lost(struct pgsql_conn *c, const struct extension *e,
    const struct sb_statement_sink *to, struct sb_err *err)
{
    struct sb_buf sql;

    if (e->version < 109)
        return 0;
    sb_buf_init(&sql, 0);
    sb_buf_addf(
        &sql, "SELECT dealloc FROM %s.pg_stat_statements_info", e->schema);
    return ask(c, &sql, 1, 1, take_lost, to, err);
}

static bool is_id(const char *text)
{
    return *text && strspn(text, "-0123456789") == strlen(text);
}

// Leaves out what this driver asks a server, apart from SELECT 1. A text may
// have megabytes.
static int read_texts(struct pgsql_conn *c, const struct extension *e,
    const struct sb_statement_sink *to, struct sb_err *err)
{
    struct sb_buf sql;

    sb_buf_init(&sql, 0);
    sb_buf_addf(&sql,
        "SELECT DISTINCT ON (queryid) queryid, left(query, 65536) "
        "FROM %s.pg_stat_statements(true) " MINE " AND query !~ "
        "'(pg_(stat|settings|control|extension|locks|buffercache|is_in_recov)|"
        "version\\(\\)|to_regprocedure)'"
        " AND queryid IN (0",
        e->schema);
    for (unsigned i = 0; i < to->nids; i++) {
        if (is_id(to->ids[i]))
            sb_buf_addf(&sql, ",%s", to->ids[i]);
    }
    sb_buf_adds(&sql, ")");
    return ask(c, &sql, 0, 2, take_texts, to, err);
}

int pgsql_statements(struct sb_conn *conn, const struct sb_statement_sink *to,
    struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    struct extension e;
    int rc = find_extension(c, &e, err);

    if (rc)
        return rc;
    if (to->nids > 0)
        return read_texts(c, &e, to, err);
    rc = read_totals(c, &e, to, err);
    return rc ? rc : read_lost(c, &e, to, err);
}
