// SPDX-License-Identifier: GPL-2.0-or-later
//
// Pipelines, and statements that the server forgets, on a driver made of this
// file. What is sent goes into `log`, one piece an operation.
#include <stdlib.h>

#include "base/clock.h"
#include "check.h"
#include "db/internal.h"

static char log_text[512];
static bool text_only; // driver takes texts only
static int forget;     // executions that find their statement forgotten

static void note(const char *fmt, ...) SB_PRINTF(1, 2);

static void note(const char *fmt, ...)
{
    size_t n = strlen(log_text);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(log_text + n, sizeof(log_text) - n, fmt, ap);
    va_end(ap);
}

static const char *logged(void)
{
    static char copy[sizeof(log_text)];

    memcpy(copy, log_text, sizeof(copy));
    log_text[0] = '\0';
    return copy;
}

static int answer(const char *sql, struct sb_result *res, struct sb_err *err)
{
    if (*sql == 'e')
        return sb_err_native(err, SB_EQUERY, 7, "HY000", "broken");
    if (*sql == 'l')
        return sb_err_native(err, SB_ELOST, 8, "08S01", "gone");
    if (*sql == 's')
        *res = (struct sb_result){
            .kind = SB_RESULT_ROWS, .nrows = 1, .nfields = 1
        };
    return 0;
}

static int query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    note("query(%.*s) ", (int)len, sql);
    return answer(sql, res, err);
}

static int prepare(struct sb_conn *conn, struct sb_stmt *stmt, const char *sql,
    size_t len, uint32_t *nparams, struct sb_err *err)
{
    note("prepare(%.*s) ", (int)len, sql);
    *(const char **)(void *)stmt = sql;
    for (*nparams = 0; len > 0; len--)
        *nparams += sql[len - 1] == '?';
    return 0;
}

static void note_values(const struct sb_value *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].type == SB_VALUE_INT)
            note(" %lld", (long long)v[i].i);
        else
            note(" %.*s", (int)v[i].len, v[i].s);
    }
}

static int execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err)
{
    note("execute(");
    note_values(values, n);
    note(") ");
    if (forget > 0) {
        forget--;
        return sb_err_set(err, SB_EUNSUPPORTED, "what statement?");
    }
    return answer(*(const char **)(void *)stmt, res, err);
}

static void close_stmt(struct sb_conn *conn, struct sb_stmt *stmt)
{
    note("close ");
}

static int fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    cells[0] = (struct sb_cell){ "x", 1 };
    return 1;
}

static void free_result(struct sb_conn *conn, struct sb_result *res)
{
}

static char sent_text[200][64];
static uint32_t received;

static int pipeline_send(struct sb_conn *conn, const struct sb_item *items,
    uint32_t n, struct sb_err *err)
{
    received = 0;
    for (uint32_t i = 0; i < n; i++) {
        snprintf(sent_text[i], sizeof(sent_text[i]), "%.*s", (int)items[i].len,
            items[i].sql);
        note("send(%s%s", items[i].stmt ? "prepared: " : "", sent_text[i]);
        note_values(items[i].values, items[i].nvalues);
        note(") ");
    }
    return 0;
}

static int pipeline_receive(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err)
{
    note("receive ");
    return answer(sent_text[received++], res, err);
}

static int pipeline_end(struct sb_conn *conn, struct sb_err *err)
{
    note("end");
    return 0;
}

static const struct sb_sql_ops sql_ops = {
    .query = query,
    .prepare = prepare,
    .execute = execute,
    .close = close_stmt,
    .fetch = fetch,
    .free_result = free_result,
    .pipeline_send = pipeline_send,
    .pipeline_receive = pipeline_receive,
    .pipeline_end = pipeline_end,
};

static struct sb_driver drv = { .name = "fake",
    .dialect = "fake",
    .stmt_size = sizeof(char *),
    .sql = &sql_ops };
static struct sb_db_ctx ctx;
static const struct sb_db_opts opts;
static struct sb_drivers owner = { .opts = &opts };
static struct sb_db db = { .owner = &owner, .drv = &drv };
static struct sb__inst inst = { .db = &db };
static struct sb_con_priv c;
static struct sb_clock fake;

static void start(void)
{
    drv.caps = text_only ? SB_CAP_TEXT_PIPELINE : 0;
    ctx.clock = &fake;
    c = (struct sb_con_priv){
        .ctx = &ctx, .inst = &inst, .drv = &drv, .sql = &sql_ops, .open = true
    };
    c.pub.sql_state = c.pub.sql_errmsg = "";
    sb_buf_init(&c.pipe.bytes, 0);
    log_text[0] = '\0';
}

static void finish(void)
{
    sb__pipeline_done(&c);
    sb__stmts_orphan(&c);
    sb__stmts_done(&ctx);
    free(c.failed_sql);
}

// A statement with an integer and a text, collected twice with other values.
static void collect(void)
{
    const char *sql = "insert ?, ?";
    struct sb_stmt_handle *st = sb_stmt_open(&c.pub, sql, strlen(sql), NULL);
    struct sb_param *p[2] = { sb_stmt_param(st, SB_SQL_TYPE_INT, 0),
        sb_stmt_param(st, SB_SQL_TYPE_CHAR, 8) };

    CHECK_INT(sb_stmt_bind(st, p, 2), 0);
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    for (int i = 1; i <= 2; i++) {
        p[0]->is_null = p[1]->is_null = 0;
        p[0]->i = i;
        p[1]->data_len = (uint64_t)snprintf(
            p[1]->buffer, 8, "%s", i == 1 ? "one" : "two");
        CHECK(sb_stmt_execute(st) == NULL);
    }
    CHECK(sb_con_query(&c.pub, "select", 6) == NULL);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    sb_param_free(p[0]);
    sb_param_free(p[1]);
}

static void prepared(void)
{
    text_only = false;
    start();
    collect();
    CHECK_INT(sb_con_pipeline_run(&c.pub), 3);
    CHECK_STR(logged(), "prepare(insert ?, ?) "
                        "send(prepared: insert ?, ? 1 one) "
                        "send(prepared: insert ?, ? 2 two) send(select) "
                        "receive receive receive end");
    finish();
}

static void texts(void)
{
    text_only = true;
    start();
    collect();
    CHECK_INT(sb_con_pipeline_send(&c.pub), 3);
    CHECK_STR(logged(), "prepare(insert ?, ?) send(insert 1, 'one') "
                        "send(insert 2, 'two') send(select) ");
    CHECK(sb_con_pipeline_next(&c.pub) == NULL);
    CHECK(sb_con_pipeline_next(&c.pub) == NULL);
    CHECK(sb_con_pipeline_next(&c.pub) != NULL);
    CHECK_STR(logged(), "receive receive receive ");
    CHECK(sb_con_query(&c.pub, "select", 6) != NULL);
    CHECK_STR(logged(), "endquery(select) ");
    finish();
    text_only = false;
}

static void failing(void)
{
    start();
    sb_con_pipeline(&c.pub);
    sb_con_query(&c.pub, "a", 1);
    sb_con_query(&c.pub, "e", 1);
    sb_con_query(&c.pub, "b", 1);
    CHECK_INT(sb_con_pipeline_run(&c.pub), SB_EQUERY);
    CHECK_STR(logged(), "send(a) send(e) send(b) receive receive end");
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_STR(sb_con_failed_sql(&c.pub), "e");
    CHECK(sb_con_query(&c.pub, "select", 6) != NULL);
    CHECK_STR(logged(), "query(select) ");
    finish();
}

static void dropped(void)
{
    start();
    sb_con_pipeline(&c.pub);
    sb_con_query(&c.pub, "a", 1);
    sb_con_pipeline_drop(&c.pub);
    CHECK_STR(logged(), "");
    sb_con_pipeline(&c.pub);
    CHECK_INT(sb_con_pipeline_run(&c.pub), 0);
    CHECK_STR(logged(), "");
    sb_con_pipeline(&c.pub);
    sb_con_query(&c.pub, "a", 1);
    CHECK_INT(sb_con_pipeline_send(&c.pub), 1);
    sb_con_pipeline_drop(&c.pub);
    CHECK_STR(logged(), "send(a) end");
    finish();
}

// More than there is room for at first: the places of all that was collected
// move.
static void many(void)
{
    char sql[16];

    start();
    sb_con_pipeline(&c.pub);
    for (int i = 0; i < 200; i++) {
        snprintf(sql, sizeof(sql), "s%03d", i);
        sb_con_query(&c.pub, sql, strlen(sql));
    }
    CHECK_INT(sb_con_pipeline_run(&c.pub), 200);
    CHECK_STR(sent_text[0], "s000");
    CHECK_STR(sent_text[199], "s199");
    finish();
}

static struct sb_stmt_handle *plain(void)
{
    const char *sql = "select";

    return sb_stmt_open(&c.pub, sql, strlen(sql), NULL);
}

static void forgotten(void)
{
    struct sb_stmt_handle *st;

    start();
    st = plain();
    forget = 1;
    CHECK(sb_stmt_execute(st) != NULL);
    CHECK_STR(
        logged(), "prepare(select) execute() close prepare(select) execute() ");
    forget = 2;
    CHECK(sb_stmt_execute(st) != NULL);
    CHECK_STR(logged(), "execute() close prepare(select) execute() close "
                        "query(select) ");
    CHECK(sb_stmt_execute(st) != NULL);
    CHECK_STR(logged(), "query(select) ");
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    finish();
}

static void lost(void)
{
    start();
    CHECK(sb_con_query(&c.pub, "l", 1) == NULL);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK(c.lost);
    finish();
}

int main(void)
{
    sb_log_set_level(SB_LOG_FATAL);
    sb_clock_init(&fake);
    RUN(prepared);
    RUN(texts);
    RUN(failing);
    RUN(dropped);
    RUN(many);
    RUN(forgotten);
    RUN(lost);
    return check_done();
}
