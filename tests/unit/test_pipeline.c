// SPDX-License-Identifier: GPL-2.0-or-later
//
// Pipelines, and statements that the server forgets.
#include <unistd.h>

#include "check_log.h"
#include "db/sql/sql.h"
#include "fake.h"
#include "loop/fiber.h"

static bool text_only; // the driver accepts only text
static char sent_text[200][64];
static uint32_t received;
static struct sb_fiber_waits waits;
static uint64_t late; // of the wait in pipeline_receive(); 0: it does not wait

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
    waits.count += late > 0;
    if (late > 0)
        waits.late = late;
    return answer(sent_text[received++], res, err);
}

static int pipeline_end(struct sb_conn *conn, struct sb_err *err)
{
    note("end");
    return 0;
}

static void start_pipelines(void)
{
    drv.caps = text_only ? SB_CAP_TEXT_PIPELINE : 0;
    sql_ops.pipeline_send = pipeline_send;
    sql_ops.pipeline_receive = pipeline_receive;
    sql_ops.pipeline_end = pipeline_end;
    start();
}

// Adds a statement with an integer and a text twice, with different values.
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
    start_pipelines();
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
    start_pipelines();
    collect();
    CHECK_INT(sb_con_pipeline_send(&c.pub), 3);
    // A statement sent as text is not prepared.
    CHECK_STR(logged(), "send(insert 1, 'one') "
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

static int wrong_items;

static int check_items(struct sb_conn *conn, const struct sb_item *items,
    uint32_t n, struct sb_err *err)
{
    for (uint32_t i = 0; i + 1 < n; i++) {
        const struct sb_value *v = items[i].values;
        char text[32];

        snprintf(text, sizeof(text), "text %d", (int)i);
        wrong_items += items[i].nvalues != 2 || v[0].i != i ||
                       v[1].len != strlen(text) ||
                       memcmp(v[1].s, text, v[1].len) != 0;
    }
    wrong_items += n != 1001 || items[n - 1].nvalues != 0 ||
                   items[n - 1].len != 6 ||
                   memcmp(items[n - 1].sql, "COMMIT", 6) != 0;
    return 0;
}

// Values are copied: the caller may change them right after. Many of them move
// the buffers.
static void copies(void)
{
    struct sb_stmt_handle *st;
    char text[32];
    struct sb_value v[2] = { { .type = SB_VALUE_INT },
        { .type = SB_VALUE_TEXT, .s = text } };
    struct sb_item item = { .values = v, .nvalues = 2 };

    start_pipelines();
    sql_ops.pipeline_send = check_items;
    st = sb_stmt_open(&c.pub, "a", 1, NULL);
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    for (int i = 0; i < 1000; i++) {
        v[0].i = i;
        v[1].len = (uint32_t)snprintf(text, sizeof(text), "text %d", i);
        CHECK_INT(sb__pipe_add(&c, st, &item, -1), 0);
        memset(text, 'x', sizeof(text));
    }
    CHECK(sb_con_query(&c.pub, "COMMIT", 6) == NULL);
    wrong_items = 0;
    CHECK_INT(sb_con_pipeline_send(&c.pub), 1001);
    CHECK_INT(wrong_items, 0);
    sb_con_pipeline_drop(&c.pub);
    CHECK_INT(sb_con_pipeline(&c.pub), 0); // empty again
    CHECK_INT(sb_con_pipeline_send(&c.pub), 0);
    finish();
}

static void refuses_while_open(void)
{
    start_pipelines();
    CHECK_INT(sb__pipe_refuse(&c, "load()"), 0);
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    CHECK_INT(sb__pipe_refuse(&c, "load()"), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "load() cannot be used"));
    sb_con_query(&c.pub, "select", 6);
    CHECK_INT(sb_con_pipeline_send(&c.pub), 1);
    CHECK_INT(sb__pipe_refuse(&c, "load()"), 0);
    finish();
}

// An answer that is left is received, and counts.
static void answers_left(void)
{
    start_pipelines();
    sb_con_pipeline(&c.pub);
    sb_con_query(&c.pub, "a", 1);
    sb_con_query(&c.pub, "select", 6);
    CHECK_INT(sb_con_pipeline_end(&c.pub), 0);
    CHECK_STR(logged(), "");
    CHECK_INT(sb_con_pipeline_send(&c.pub), 2);
    CHECK_INT(sb_con_pipeline_end(&c.pub), 0);
    CHECK_STR(logged(), "send(a) send(select) receive receive end");
    CHECK_INT(sb_con_pipeline_end(&c.pub), 0);
    CHECK_STR(logged(), "");
    sb_con_pipeline(&c.pub);
    sb_con_query(&c.pub, "e", 1);
    CHECK_INT(sb_con_pipeline_send(&c.pub), 1);
    CHECK_INT(sb_con_pipeline_end(&c.pub), SB_EQUERY);
    CHECK_STR(sb_con_failed_sql(&c.pub), "e");
    finish();
}

static void failing(void)
{
    start_pipelines();
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

static const struct sb_tally *next_answer_of(struct sb_rec *rec)
{
    fake.ns0 += 1000;
    CHECK(sb_con_pipeline_next(&c.pub) != NULL);
    sb_rec_flush(rec);
    return &rec->tally;
}

// Client delays are those of the driver's waits, not of what the script has
// waited for since the pipeline was sent.
static void delays(void)
{
    struct sb_stats stats;
    struct sb_rec *rec;

    start_pipelines();
    CHECK_INT(sb_stats_init(&stats, 1, 1, false), 0);
    CHECK_INT(sb_stats_add_delays(&stats), 0);
    rec = &stats.rec[0];
    ctx.rec = &rec;
    ctx.waits = &waits;
    sb_con_pipeline(&c.pub);
    for (int i = 0; i < 4; i++)
        sb_con_query(&c.pub, "select", 6);
    CHECK_INT(sb_con_pipeline_send(&c.pub), 4);
    waits = (struct sb_fiber_waits){ .count = 1, .late = 300 };
    CHECK_INT(next_answer_of(rec)->client_delays, 0);
    late = 70;
    CHECK_INT(next_answer_of(rec)->client_delays, 1);
    CHECK_INT(rec->tally.client_delay_ns, 70);
    late = 0; // this answer came with the one before
    CHECK_INT(next_answer_of(rec)->client_delays, 1);
    waits = (struct sb_fiber_waits){ .count = 3, .late = 500 };
    CHECK_INT(next_answer_of(rec)->client_delays, 1);
    CHECK_INT(
        sb_rec_op_tally(rec, 0)->ns, 1000 + (2000 - 70) + (3000 - 70) + 4000);
    ctx.waits = NULL;
    ctx.rec = &no_rec;
    finish();
    sb_stats_done(&stats);
}

static int server(struct sb_conn *conn, char *out, size_t size)
{
    note("server ");
    return snprintf(out, size, "1.0");
}

// A question to the server comes after the answers of the pipeline.
static void server_info_after_a_pipeline(void)
{
    static const struct sb_info_ops info = { .server = server };
    char out[8];

    start_pipelines();
    drv.info = &info;
    sb_con_pipeline(&c.pub);
    sb_con_query(&c.pub, "a", 1);
    CHECK_INT(sb_con_pipeline_send(&c.pub), 1);
    CHECK_INT(sb_con_server(&c.pub, out, sizeof(out)), 3);
    CHECK_STR(logged(), "send(a) receive endserver ");
    drv.info = NULL;
    finish();
}

static void dropped(void)
{
    start_pipelines();
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

// More statements than the first buffer holds: their text is moved.
static void many(void)
{
    char sql[16];

    start_pipelines();
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

static struct sb_stmt_handle *open_select(void)
{
    const char *sql = "select";

    return sb_stmt_open(&c.pub, sql, strlen(sql), NULL);
}

static void forgotten(void)
{
    struct sb_stmt_handle *st;

    start_pipelines();
    st = open_select();
    forget = 1;
    CHECK(sb_stmt_execute(st) != NULL);
    CHECK_STR(logged(),
        "prepare(select) execute() close(select) prepare(select) "
        "execute() ");
    forget = 2;
    CHECK(sb_stmt_execute(st) != NULL);
    CHECK_STR(logged(), "execute() close(select) prepare(select) execute() "
                        "close(select) "
                        "query(select) ");
    CHECK(sb_stmt_execute(st) != NULL);
    CHECK_STR(logged(), "query(select) ");
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    finish();
}

static void lost(void)
{
    start_pipelines();
    CHECK(sb_con_query(&c.pub, "l", 1) == NULL);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK(sb__con_lost(&c));
    finish();
}

static void run_logged(void)
{
    struct sb_stmt_handle *st = open_select();

    sb_con_pipeline(&c.pub);
    sb_con_query(&c.pub, "insert one", 10);
    sb_stmt_execute(st);
    sb_con_query(&c.pub, "error", 5);
    CHECK_INT(sb_con_pipeline_run(&c.pub), SB_EQUERY);
}

static void debug_lines(void)
{
    opts.debug = true;
    for (int texts = 0; texts < 2; texts++) {
        text_only = texts;
        start_pipelines();
        sb_log_set_level(SB_LOG_NOTICE);
        capture();
        run_logged();
        CHECK_STR(captured(), "fake: user 0: 0.000 ms: insert one\n"
                              "fake: user 0: 0.000 ms: select\n"
                              "fake: user 0: 0.000 ms: error\n");
        sb_log_set_level(SB_LOG_FATAL);
        finish();
    }
    opts.debug = false;
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL);
    RUN(prepared);
    RUN(texts);
    RUN(copies);
    RUN(refuses_while_open);
    RUN(answers_left);
    RUN(failing);
    RUN(delays);
    RUN(server_info_after_a_pipeline);
    RUN(dropped);
    RUN(many);
    RUN(forgotten);
    RUN(lost);
    RUN(debug_lines);
    return check_done();
}
