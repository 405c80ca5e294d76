// SPDX-License-Identifier: GPL-2.0-or-later
//
// The driver's own queries, and servers that answer them in an unexpected way:
// missing rows or columns, NULL, no result set, a request for a file.
#include "fake_mysql.h"

#define COLUMN       "\3def\0\0\0\1c\0\14\41\0\170\0\0\0\375\0\0\0\0\0"
#define EOF_PACKET   "\376\0\0\2\0"
#define FILE_REQUEST "\373/etc/hostname"

// A result set of the text protocol with n columns and one row of these bytes,
// or no row.
static void answer_text(unsigned n, const char *row, size_t len)
{
    const char count = (char)n;
    uint8_t seq = 1;

    packet(seq++, &count, 1);
    for (unsigned i = 0; i < n; i++)
        PACKET(seq++, COLUMN);
    PACKET(seq++, EOF_PACKET);
    if (row)
        packet(seq++, row, len);
    PACKET(seq, EOF_PACKET);
    next_answer();
}
#define TEXT(n, row) answer_text(n, row, sizeof(row) - 1)

static void connected(void)
{
    CHECK_INT(start("mysql-ssl", "off"), 0);
    CHECK_STR(err.msg, "");
}

// The line about the server -------------------------------------------------

static void check_server(const char *want)
{
    char line[200];

    connected();
    CHECK(sb_driver.info->server(conn, line, sizeof(line)) > 0);
    CHECK_STR(line, want);
    finish();
}

static void server_line(void)
{
    TEXT(6, "\4Here\6InnoDB\00264\0011\0010\0011");
    check_server("MySQL 5.6.0, InnoDB, buffer pool 64 MB, flush log at commit "
                 "1, binlog off, TLS off");
}

static void server_line_of_null(void)
{
    TEXT(6, "\4Here\6InnoDB\373\373\373\373");
    check_server("MySQL 5.6.0, TLS off");
}

static void server_line_of_one_column(void)
{
    TEXT(1, "\4Here");
    check_server("MySQL 5.6.0, TLS off");
}

static void server_line_of_no_row(void)
{
    answer_text(6, NULL, 0);
    check_server("MySQL 5.6.0, TLS off");
}

static void server_line_of_no_result(void)
{
    answer_ok();
    check_server("MySQL 5.6.0, TLS off");
}

// What the server and its settings are ----------------------------------------

static char told[200];

static int tell(
    void *arg, const char *name, const char *value, enum sb_setting_state state)
{
    size_t n = strlen(told);

    snprintf(told + n, sizeof(told) - n, "%s=%s%s ", name, value,
        state == SB_SETTING_CHANGED   ? "!"
        : state == SB_SETTING_UNKNOWN ? "?"
                                      : "");
    return 0;
}

static void check_description(const char *name, const char *settings)
{
    struct sb_server s = { .bypass = false };

    connected();
    told[0] = '\0';
    CHECK_INT(sb_driver.info->describe(conn, &s, tell, NULL, &err), 0);
    CHECK_STR(s.name, name);
    CHECK_STR(told, settings);
    finish();
}

static void description(void)
{
    TEXT(2, "\17version_comment\15Percona, Inc.");
    TEXT(2, "\7log_bin\0011");
    check_description(
        "Percona Server 5.6.0", "version_comment=Percona, Inc. log_bin=1! ");
    TEXT(2, "\7log_bin\0011");
    answer_ok(); // no such table: the other product is asked
    TEXT(2, "\7log_bin\0011");
    check_description("MySQL 5.6.0", "log_bin=1! ");
    TEXT(2, "\7log_bin\0011");
    answer_ok();
    answer_ok();
    check_description("MySQL 5.6.0", "log_bin=1? ");
    TEXT(2, "\7log_bin\373");
    TEXT(2, "\7log_bin\373");
    check_description("MySQL 5.6.0", "");
    TEXT(1, "\7log_bin");
    check_description("MySQL 5.6.0", "");
    answer_ok();
    check_description("MySQL 5.6.0", "");
}

// Counters --------------------------------------------------------------------

static int visits, missed;
static bool metrics; // ask for the metrics of InnoDB, not for the status
static struct sb_counter seen;
static char seen_name[100];

static bool wanted(void *arg, const char *prefix)
{
    return metrics == (strncmp(prefix, "metric.", 7) == 0);
}

static int visit(void *arg, const struct sb_counter *c)
{
    visits++;
    seen = *c;
    snprintf(seen_name, sizeof(seen_name), "%s", c->name);
    return 0;
}

static void missing(void *arg, const char *source, const struct sb_err *why)
{
    missed++;
    CHECK_STR(source,
        metrics ? "information_schema.INNODB_METRICS" : "SHOW GLOBAL STATUS");
}

static const struct sb_counter_sink sink = { NULL, wanted, visit, missing };

static void read_counters(int found, int sources_missed)
{
    visits = missed = 0;
    CHECK_INT(sb_driver.info->counters(conn, &sink, &err), 0);
    CHECK_INT(visits, found);
    CHECK_INT(missed, sources_missed);
}

static void counters(void)
{
    TEXT(2, "\11Questions\00242");
    TEXT(2, "\11Questions\373");
    TEXT(2, "\373\00242");
    TEXT(2, "\11Questions\2ON");
    TEXT(2, "\11Questions\0034:2");
    TEXT(1, "\11Questions");
    answer_ok();
    connected();
    read_counters(1, 0);
    CHECK_STR(seen_name, "Questions");
    CHECK_INT(seen.value, 42);
    CHECK_INT(seen.kind, SB_COUNTER_TOTAL);
    CHECK(!seen.unit);
    for (int i = 0; i < 4; i++)
        read_counters(0, 0);
    read_counters(0, 1);
    CHECK(strstr(err.msg, "has too few columns: 1 instead of 2") != NULL);
    read_counters(0, 1);
    CHECK(strstr(err.msg, "has too few columns: 0 instead of 2") != NULL);
    finish();
}

static void kinds_of_counters(void)
{
    TEXT(2, "\17Threads_running\0013");
    TEXT(2, "\16Bytes_received\0013");
    TEXT(2, "\13Open_tables\0013");
    TEXT(2, "\15Opened_tables\0013");
    connected();
    read_counters(1, 0);
    CHECK_INT(seen.kind, SB_COUNTER_LEVEL);
    read_counters(1, 0);
    CHECK_INT(seen.kind, SB_COUNTER_TOTAL);
    CHECK_STR(seen.unit, "bytes");
    read_counters(1, 0);
    CHECK_INT(seen.kind, SB_COUNTER_LEVEL);
    read_counters(1, 0);
    CHECK_INT(seen.kind, SB_COUNTER_TOTAL);
    finish();
}

static void metrics_of_innodb(void)
{
    metrics = true;
    TEXT(3, "\6dml_up\0017\7counter");
    TEXT(3, "\6dml_up\0017\5value");
    TEXT(2, "\6dml_up\0017");
    connected();
    read_counters(1, 0);
    CHECK_STR(seen_name, "metric.dml_up");
    CHECK_INT(seen.kind, SB_COUNTER_TOTAL);
    read_counters(1, 0);
    CHECK_INT(seen.kind, SB_COUNTER_LEVEL);
    read_counters(0, 1);
    finish();
    metrics = false;
}

// Further result sets of an answer are skipped: they are not the next answer.
static void further_results(void)
{
    PACKET(1, "\2");
    PACKET(2, COLUMN);
    PACKET(3, COLUMN);
    PACKET(4, EOF_PACKET);
    PACKET(5, "\376\0\0\12\0"); // more results follow
    PACKET(6, OK);
    next_answer();
    TEXT(2, "\11Questions\00242");
    connected();
    read_counters(0, 0);
    read_counters(1, 0);
    finish();
}

// Loading -------------------------------------------------------------------

static int begin(void)
{
    memset(&err, 0, sizeof(err));
    return sb_driver.bulk->begin(conn, "t", "id", 1, &err);
}

static void check_no_load(const char *why)
{
    connected();
    CHECK_INT(begin(), SB_EUNSUPPORTED);
    CHECK_STR(err.msg, why);
    finish();
}

static void settings_of_one_column(void)
{
    TEXT(1, "\0011");
    check_no_load(
        "the server's answer to \"SELECT @@local_infile, @@unique_checks, "
        "@@foreign_key_checks\" has too few columns: 1 instead of 4");
}

static void settings_of_null(void)
{
    TEXT(5, "\0011\373\0011\0011\0010");
    check_no_load("the server did not return its settings");
}

static void settings_of_no_row(void)
{
    answer_text(5, NULL, 0);
    check_no_load("the server did not return its settings");
}

// A server may not request a file during a load either, before LOAD DATA.
static void file_for_settings(void)
{
    PACKET(1, FILE_REQUEST);
    next_answer();
    PACKET(3, OK);
    next_answer();
    check_no_load(
        "the server requested a local file, which is refused (instead of "
        "LOAD DATA LOCAL, use con:load())");
}

static void file_for_a_setting(void)
{
    TEXT(5, "\0011\0011\0011\0011\0010");
    PACKET(1, FILE_REQUEST);
    next_answer();
    PACKET(3, OK);
    next_answer();
    answer_ok(); // ROLLBACK
    answer_ok(); // SET
    connected();
    CHECK_INT(begin(), SB_EQUERY);
    CHECK_INT(err.native, 2068);
    finish();
}

// A load of one row that the server does not insert. The answer to SHOW
// WARNINGS comes next.
static void answer_load(void)
{
    TEXT(5, "\0011\0011\0011\0011\0010");
    answer_ok(); // SET
    answer_ok(); // START TRANSACTION
    PACKET(1, FILE_REQUEST);
    next_answer();
    next_answer(); // the row
    PACKET(4, "\0\0\0\2\0\1\0");
    next_answer();
}

static void check_load(int native, const char *text)
{
    const struct sb_value one = { .type = SB_VALUE_INT, .i = 1 };

    answer_ok(); // ROLLBACK
    answer_ok(); // SET
    connected();
    CHECK_INT(begin(), 0);
    CHECK_INT(sb_driver.bulk->rows(conn, &one, 1, &err), 0);
    CHECK_INT(sb_driver.bulk->end(conn, true, &err), SB_EQUERY);
    CHECK_INT(err.native, native);
    CHECK_STR(err.msg, text);
    finish();
}

#define SKIPPED "the server loaded 0 of 1 rows; it skips duplicate keys"

static void warning(void)
{
    answer_load();
    TEXT(3, "\7Warning\0041062\11Duplicate");
    check_load(1062, "Duplicate");
}

// The statement of the load uses the connection.
static void no_call_during_a_load(void)
{
    const struct sb_value one = { .type = SB_VALUE_INT, .i = 1 };
    struct sb_result res = { 0 };
    char line[100];

    answer_load();
    answer_ok(); // SHOW WARNINGS
    answer_ok(); // ROLLBACK
    answer_ok(); // SET
    connected();
    CHECK_INT(begin(), 0);
    sb_driver.info->server(conn, line, sizeof(line));
    CHECK_STR(line, "loading");
    CHECK_INT(sb_driver.sql->query(conn, "DO 1", 4, &res, &err), SB_EUSAGE);
    CHECK_STR(err.msg, "the connection is loading a table");
    CHECK_INT(sb_driver.bulk->rows(conn, &one, 1, &err), 0);
    CHECK_INT(sb_driver.bulk->end(conn, true, &err), SB_EQUERY);
    CHECK_STR(err.msg, SKIPPED);
    finish();
}

static void warning_of_one_column(void)
{
    answer_load();
    TEXT(1, "\7Warning");
    check_load(0, SKIPPED);
}

static void warning_of_null(void)
{
    answer_load();
    TEXT(3, "\7Warning\373\373");
    check_load(0, SKIPPED);
}

static void warning_of_no_result(void)
{
    answer_load();
    answer_ok();
    check_load(0, SKIPPED);
}

CHECK_FILE
{
    RUN(server_line);
    RUN(server_line_of_null);
    RUN(server_line_of_one_column);
    RUN(server_line_of_no_row);
    RUN(server_line_of_no_result);
    RUN(description);
    RUN(counters);
    RUN(kinds_of_counters);
    RUN(metrics_of_innodb);
    RUN(further_results);
    RUN(settings_of_one_column);
    RUN(settings_of_null);
    RUN(settings_of_no_row);
    RUN(file_for_settings);
    RUN(file_for_a_setting);
    RUN(warning);
    RUN(no_call_during_a_load);
    RUN(warning_of_one_column);
    RUN(warning_of_null);
    RUN(warning_of_no_result);
    return check_done();
}
