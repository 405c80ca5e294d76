// SPDX-License-Identifier: GPL-2.0-or-later
//
// What performance_schema has counted of statements, by digest.
#include <math.h>
#include <stdlib.h>

#include "drivers/mysql/internal.h"
#include "kit/buf.h"

static int take_obstacle(void *arg, MYSQL_ROW row)
{
    return sb_err_set(arg, SB_EUNSUPPORTED, "%.100s", row[1]);
}

// Whether the server counts statements. 0 or SB_E* with the reason.
static int check_ready(struct sbmy_conn *c, struct sb_err *err)
{
    int rc = sbmy_ask_each(c,
        "SELECT @@performance_schema, 'performance_schema is off' FROM DUAL "
        "WHERE NOT @@performance_schema",
        2, take_obstacle, err, err);

    return rc ? rc
              : sbmy_ask_each(c,
                    "SELECT NAME, CONCAT('the consumer ', NAME, ' of "
                    "performance_schema is off') FROM "
                    "performance_schema.setup_consumers WHERE NAME IN "
                    "('global_instrumentation', 'statements_digest') AND "
                    "ENABLED = 'NO'",
                    2, take_obstacle, err, err);
}

// Columns: id, calls, time in ps, rows returned, changed and read, errors.
#define COLUMNS 7u
#define SUMS                                                         \
    "COUNT_STAR, SUM_TIMER_WAIT, SUM_ROWS_SENT, SUM_ROWS_AFFECTED, " \
    "SUM_ROWS_EXAMINED, SUM_ERRORS"

static bool is_id(const char *text)
{
    return *text && strspn(text, "0123456789abcdef") == strlen(text);
}

// The sum of prepared statements has the name of an event instead of an id.
static int take_totals(void *arg, MYSQL_ROW row)
{
    const struct sb_statement_sink *to = arg;
    const struct sb_statement_count s = { .id = row[0],
        .is_prepared = !is_id(row[0]),
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

static int take_lost(void *arg, MYSQL_ROW row)
{
    const struct sb_statement_sink *to = arg;

    return to->lost(to->arg, strtod(row[1], NULL));
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
        "AND DIGEST_TEXT NOT LIKE '%`information\\_schema%' AND DIGEST_TEXT "
        "NOT LIKE '%`performance\\_schema%' AND DIGEST IN (''");
    for (unsigned i = 0; i < to->nids; i++) {
        if (is_id(to->ids[i]))
            sb_buf_addf(sql, ",'%s'", to->ids[i]);
    }
    sb_buf_adds(sql, ")");
}

// MySQL 9 shows executions of prepared statements as EXECUTE with their text.
static int take_text(void *arg, MYSQL_ROW row)
{
    static const char execute[] = "EXECUTE ";
    const struct sb_statement_sink *to = arg;
    char *text = row[1];
    size_t n = sizeof(execute) - 1, len = strlen(text);

    // MariaDB ends a text with a blank.
    if (len > 0 && text[len - 1] == ' ')
        text[len - 1] = '\0';

    return to->text(
        to->arg, row[0], strncmp(text, execute, n) == 0 ? text + n : text);
}

static int read_texts(
    struct sbmy_conn *c, const struct sb_statement_sink *to, struct sb_err *err)
{
    struct sb_buf sql;
    int rc;

    sb_buf_init(&sql, 0);
    write_texts_sql(&sql, to);
    rc = sql.failed ? sb_err_set(err, SB_ENOMEM, "out of memory")
                    : sbmy_ask_each(c, sql.data, 2, take_text, (void *)to, err);
    sb_buf_done(&sql);
    return rc;
}

static int read_all(
    struct sbmy_conn *c, const struct sb_statement_sink *to, struct sb_err *err)
{
    void *arg = (void *)to;
    int rc = sbmy_ask_each(c,
        "SELECT DIGEST, " SUMS
        " FROM performance_schema.events_statements_summary_by_digest "
        "WHERE SCHEMA_NAME = DATABASE() AND COUNT_STAR > 0",
        COLUMNS, take_totals, arg, err);

    // MariaDB has no digests of executions of prepared statements, only their
    // sum for each user.
    if (rc == 0 && strstr(mysql_get_server_info(c->my), "MariaDB"))
        rc = sbmy_ask_each(c,
            "SELECT EVENT_NAME, " SUMS " FROM "
            "performance_schema.events_statements_summary_by_user_by_event_name"
            " WHERE EVENT_NAME = 'statement/com/Execute' AND USER = "
            "SUBSTRING_INDEX(USER(), '@', 1)",
            COLUMNS, take_totals, arg, err);
    return rc ? rc
              : sbmy_ask_each(c,
                    "SHOW GLOBAL STATUS LIKE "
                    "'Performance\\_schema\\_digest\\_lost'",
                    2, take_lost, arg, err);
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
