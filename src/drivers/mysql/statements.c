// SPDX-License-Identifier: GPL-2.0-or-later
//
// What performance_schema has counted of statements, by digest.
#include <math.h>
#include <stdlib.h>

#include "drivers/mysql/internal.h"
#include "kit/buf.h"

// Whether the server counts statements. 0 or SB_E* with the reason.
static int check_ready(struct sbmy_conn *c, struct sb_err *err)
{
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sbmy_ask(c, "SELECT @@performance_schema", 1, &res, err);

    if (rc)
        return rc;
    row = sbmy_ask_row(res, 1);
    if (!row || strcmp(row[0], "1") != 0)
        rc = sb_err_set(err, SB_EUNSUPPORTED, "performance_schema is off");
    mysql_free_result(res);
    if (rc)
        return rc;
    rc = sbmy_ask(c,
        "SELECT NAME FROM performance_schema.setup_consumers WHERE NAME IN "
        "('global_instrumentation', 'statements_digest') AND ENABLED = 'NO'",
        1, &res, err);
    if (rc)
        return rc;
    row = sbmy_ask_row(res, 1);
    if (row)
        rc = sb_err_set(err, SB_EUNSUPPORTED,
            "the consumer %.40s of performance_schema is off", row[0]);
    mysql_free_result(res);
    return rc;
}

// Columns: id, calls, time in ps, rows returned, changed and read, errors.
#define COLUMNS 7u
#define SUMS                                                         \
    "COUNT_STAR, SUM_TIMER_WAIT, SUM_ROWS_SENT, SUM_ROWS_AFFECTED, " \
    "SUM_ROWS_EXAMINED, SUM_ERRORS"

static int take_totals(const char *const *row, bool is_prepared,
    const struct sb_statement_sink *to)
{
    const struct sb_statement_count s = { .id = row[0],
        .is_prepared = is_prepared,
        .calls = strtod(row[1], NULL),
        .ns = strtod(row[2], NULL) / 1000,
        .rows = strtod(row[3], NULL) + strtod(row[4], NULL),
        .examined = strtod(row[5], NULL),
        .hit = NAN,
        .read = NAN,
        .written = NAN,
        .errors = strtod(row[6], NULL) };

    return to->totals(to->arg, &s);
}

static int read_totals(struct sbmy_conn *c, const char *sql, bool is_prepared,
    const struct sb_statement_sink *to, struct sb_err *err)
{
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sbmy_ask(c, sql, COLUMNS, &res, err);

    if (rc)
        return rc;
    while (rc == 0 && (row = sbmy_ask_row(res, COLUMNS)) != NULL)
        rc = take_totals((const char *const *)row, is_prepared, to);
    mysql_free_result(res);
    return rc;
}

static int read_lost(
    struct sbmy_conn *c, const struct sb_statement_sink *to, struct sb_err *err)
{
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sbmy_ask(c,
        "SHOW GLOBAL STATUS LIKE 'Performance\\_schema\\_digest\\_lost'", 2,
        &res, err);

    if (rc)
        return rc;
    row = sbmy_ask_row(res, 2);
    if (row)
        rc = to->lost(to->arg, strtod(row[1], NULL));
    mysql_free_result(res);
    return rc;
}

static bool is_id(const char *text)
{
    return *text && strspn(text, "0123456789abcdef") == strlen(text);
}

// Leaves out what this driver asks a server.
static void write_texts_sql(
    struct sb_buf *sql, const struct sb_statement_sink *to)
{
    sb_buf_adds(sql,
        "SELECT DIGEST, DIGEST_TEXT FROM "
        "performance_schema.events_statements_summary_by_digest WHERE "
        "SCHEMA_NAME = DATABASE() AND DIGEST_TEXT NOT LIKE 'SHOW %' AND "
        "DIGEST_TEXT <> 'DO ?' AND DIGEST_TEXT NOT LIKE 'SELECT @@%' "
        "AND DIGEST_TEXT NOT LIKE 'SELECT ? , @@%' "
        "AND DIGEST_TEXT NOT LIKE '%`information\\_schema%' AND DIGEST_TEXT "
        "NOT LIKE '%`performance\\_schema%' AND DIGEST IN (''");
    for (unsigned i = 0; i < to->nids; i++) {
        if (is_id(to->ids[i]))
            sb_buf_addf(sql, ",'%s'", to->ids[i]);
    }
    sb_buf_adds(sql, ")");
}

// MySQL 9 shows executions of prepared statements as EXECUTE with their text.
static int take_text(
    const char *id, char *text, const struct sb_statement_sink *to)
{
    static const char execute[] = "EXECUTE ";
    size_t n = sizeof(execute) - 1, len = strlen(text);

    // MariaDB ends a text with a blank.
    if (len > 0 && text[len - 1] == ' ')
        text[len - 1] = '\0';

    return to->text(
        to->arg, id, strncmp(text, execute, n) == 0 ? text + n : text);
}

static int read_texts(
    struct sbmy_conn *c, const struct sb_statement_sink *to, struct sb_err *err)
{
    struct sb_buf sql;
    MYSQL_RES *res = NULL;
    MYSQL_ROW row;
    int rc;

    sb_buf_init(&sql, 0);
    write_texts_sql(&sql, to);
    rc = sql.failed ? sb_err_set(err, SB_ENOMEM, "out of memory")
                    : sbmy_ask(c, sql.data, 2, &res, err);
    sb_buf_done(&sql);
    if (rc)
        return rc;
    while (rc == 0 && (row = sbmy_ask_row(res, 2)) != NULL)
        rc = take_text(row[0], row[1], to);
    mysql_free_result(res);
    return rc;
}

static int read_all(
    struct sbmy_conn *c, const struct sb_statement_sink *to, struct sb_err *err)
{
    int rc = read_totals(c,
        "SELECT DIGEST, " SUMS
        " FROM performance_schema.events_statements_summary_by_digest "
        "WHERE SCHEMA_NAME = DATABASE() AND COUNT_STAR > 0",
        false, to, err);

    // MariaDB has no digests of executions of prepared statements, only their
    // sum for each user.
    if (rc == 0 && strstr(mysql_get_server_info(c->my), "MariaDB"))
        rc = read_totals(c,
            "SELECT EVENT_NAME, " SUMS " FROM "
            "performance_schema.events_statements_summary_by_user_by_event_name"
            " WHERE EVENT_NAME = 'statement/com/Execute' AND USER = "
            "SUBSTRING_INDEX(USER(), '@', 1)",
            true, to, err);
    return rc ? rc : read_lost(c, to, err);
}

int sbmy_statements(struct sb_conn *conn, const struct sb_statement_sink *to,
    struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc;

    if (c->o->dry_run)
        return sb_err_set(err, SB_EUNSUPPORTED, "a dry run has no server");
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    rc = check_ready(c, err);
    if (rc == 0)
        rc = to->nids > 0 ? read_texts(c, to, err) : read_all(c, to, err);
    return sbmy_call_end(c, rc);
}
