// SPDX-License-Identifier: GPL-2.0-or-later
//
// The number of prepared statements that a connection keeps on the server.
#include "db/load.ffi.h"
#include "fake.h"

static struct sb_stmt_handle *open_stmt(const char *sql)
{
    struct sb_stmt_handle *st = sb_stmt_open(&c.pub, sql, strlen(sql), NULL);

    CHECK_INT(sb_stmt_bind(st, NULL, 0), 0);
    return st;
}

static void run(struct sb_stmt_handle *st)
{
    sb_stmt_execute(st);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
}

static void without_a_limit(void)
{
    struct sb_stmt_handle *st[3];

    start();
    for (int i = 0; i < 3; i++)
        run(st[i] = open_stmt("a"));
    logged();
    for (int i = 0; i < 3; i++)
        run(st[i]);
    CHECK_STR(logged(), "execute() execute() execute() ");
    CHECK(!owner.crowded);
    finish();
}

static void run_with_parameter(const struct sb_prefetch *p)
{
    struct sb_stmt_handle *st = sb_stmt_open(&c.pub, "b ?", 3, NULL);
    struct sb_param *param = sb_stmt_param(st, SB_SQL_TYPE_INT, 0);

    CHECK_INT(sb_stmt_bind(st, &param, 1), 0);
    run(st);
    CHECK(p->range[SB__PREFETCH_VALUES] != 0);
    CHECK((p->range[SB__PREFETCH_PARAMETER] & ~(uintptr_t)63) ==
          ((uintptr_t)param & ~(uintptr_t)63));
    sb_param_free(param);
}

// On an event loop a statement says what its user's fiber uses when it
// continues.
static void what_is_prefetched(void)
{
    struct sb_prefetch p = { { 0 } };
    struct sb_stmt_handle *st;
    uintptr_t line = ~(uintptr_t)63;

    start();
    ctx.prefetch = &p;
    run(st = open_stmt("a"));
    CHECK((p.range[SB__PREFETCH_STATEMENT] & line) == ((uintptr_t)st & line));
    CHECK(p.range[SB__PREFETCH_DRIVER_STATEMENT] != 0);
    CHECK_INT(p.range[SB__PREFETCH_VALUES], 0); // it has none
    run_with_parameter(&p);
    ctx.prefetch = NULL;
    finish();
}

static void least_recently_used(void)
{
    struct sb_stmt_handle *a, *b, *d;

    opts.statement_cache = 2;
    start();
    run(a = open_stmt("a"));
    run(b = open_stmt("b"));
    CHECK_STR(logged(), "prepare(a) execute() prepare(b) execute() ");
    CHECK(!owner.crowded);
    run(a);
    run(d = open_stmt("d"));
    CHECK_STR(logged(), "execute() close(b) prepare(d) execute() ");
    CHECK(owner.crowded);
    run(a);
    run(b);
    CHECK_STR(logged(), "execute() close(d) prepare(b) execute() ");
    CHECK_INT(c.prepared.n, 2);
    // Freeing a statement makes room.
    sb_stmt_free(a);
    run(d);
    CHECK_STR(logged(), "close(a) prepare(d) execute() ");
    sb__children_reset(&c);
    CHECK_INT(c.prepared.n, 0);
    finish();
    opts.statement_cache = 0;
}

// The newest, the oldest and one between them are used, closed and prepared
// again.
static void order_of_use(void)
{
    struct sb_stmt_handle *st[5];
    const char *const sql[] = { "a", "b", "d", "f", "g" };

    opts.statement_cache = 3;
    start();
    for (int i = 0; i < 5; i++)
        st[i] = open_stmt(sql[i]);
    for (int i = 0; i < 3; i++)
        run(st[i]); // from the newest: d, b, a
    run(st[2]);
    run(st[1]);
    run(st[0]); // a, b, d
    logged();
    run(st[3]);
    run(st[0]); // a, f, b
    sb_stmt_free(st[3]);
    run(st[4]); // g, a, b
    CHECK_STR(logged(), "close(d) prepare(f) execute() execute() close(f) "
                        "prepare(g) execute() ");
    run(st[2]);
    run(st[0]); // a, d, g
    sb_stmt_free(st[0]);
    run(st[1]); // b, d, g
    run(st[4]);
    CHECK_STR(logged(), "close(b) prepare(d) execute() execute() close(a) "
                        "prepare(b) execute() execute() ");
    CHECK_INT(c.prepared.n, 3);
    finish();
    CHECK_INT(c.prepared.n, 0);
    CHECK(!c.prepared.newest && !c.prepared.oldest && !c.prepared.full);
    opts.statement_cache = 0;
}

static void forgotten_by_the_server(void)
{
    struct sb_stmt_handle *a, *b;

    opts.statement_cache = 2;
    start();
    run(a = open_stmt("a"));
    run(b = open_stmt("b"));
    logged();
    forget = 1;
    run(a);
    CHECK_STR(logged(), "execute() close(a) prepare(a) execute() ");
    CHECK_INT(c.prepared.n, 2);
    forget = 2;
    run(b); // sent as text from now on
    CHECK_STR(logged(), "execute() close(b) prepare(b) execute() close(b) "
                        "query(b) ");
    CHECK_INT(c.err.code, 0);
    CHECK_INT(c.prepared.n, 1);
    finish();
    opts.statement_cache = 0;
}

static int send(struct sb_conn *conn, const struct sb_item *items, uint32_t n,
    struct sb_err *err)
{
    for (uint32_t i = 0; i < n; i++)
        note("send(%s) ", items[i].stmt ? items[i].sql : "a text");
    return 0;
}

static int receive(
    struct sb_conn *conn, struct sb_result *res, struct sb_err *err)
{
    return 0;
}

static int end(struct sb_conn *conn, struct sb_err *err)
{
    return 0;
}

// The statements of a pipeline stay prepared until it ends, even above the
// limit.
static void in_pipelines(void)
{
    struct sb_stmt_handle *a, *b;

    opts.statement_cache = 1;
    sql_ops.pipeline_send = send;
    sql_ops.pipeline_receive = receive;
    sql_ops.pipeline_end = end;
    start();
    a = open_stmt("a");
    b = open_stmt("b");
    for (int i = 0; i < 2; i++) {
        CHECK_INT(sb_con_pipeline(&c.pub), 0);
        run(a);
        run(b);
        CHECK_INT(sb_con_pipeline_run(&c.pub), 2);
    }
    CHECK_STR(logged(), "prepare(a) prepare(b) send(a) send(b) close(a) "
                        "prepare(a) send(a) send(b) ");
    finish();
    opts.statement_cache = 0;
    sql_ops.pipeline_send = NULL;
    sql_ops.pipeline_receive = NULL;
    sql_ops.pipeline_end = NULL;
}

// A driver without pipelines executes statements when results are requested.
static void in_pipelines_one_by_one(void)
{
    struct sb_stmt_handle *a, *b;

    opts.statement_cache = 1;
    start();
    a = open_stmt("a");
    b = open_stmt("b");
    for (int i = 0; i < 2; i++) {
        CHECK_INT(sb_con_pipeline(&c.pub), 0);
        run(a);
        run(b);
        CHECK_INT(sb_con_pipeline_run(&c.pub), 2);
    }
    CHECK_STR(logged(), "prepare(a) prepare(b) execute() execute() close(a) "
                        "prepare(a) execute() execute() ");
    finish();
    opts.statement_cache = 0;
}

static int bulk_begin(struct sb_conn *conn, const char *table,
    const char *columns, uint32_t ncolumns, struct sb_err *err)
{
    note("begin ");
    return 0;
}

static int bulk_rows(struct sb_conn *conn, const struct sb_value *values,
    uint32_t nrows, struct sb_err *err)
{
    return 0;
}

static int bulk_end(struct sb_conn *conn, bool commit, struct sb_err *err)
{
    note("end ");
    return 0;
}

// The finalizer of a statement may run during a load, whose connection accepts
// nothing else.
static void freed_during_a_load(void)
{
    static const struct sb_bulk_ops bulk = { bulk_begin, bulk_rows, bulk_end,
        NULL };
    struct sb_stmt_handle *st;
    struct sb_load *ld;

    start();
    drv.bulk = &bulk;
    run(st = open_stmt("a"));
    ld = sb_load_open_private(&c.pub, "t", "id");
    CHECK(ld != NULL);
    sb_stmt_free(st);
    CHECK(sb_stmt_execute(st) == NULL);
    CHECK_INT(sb_load_close(ld, true), 0);
    CHECK_STR(logged(), "prepare(a) execute() begin end close(a) ");

    // The load is abandoned.
    run(st = open_stmt("b"));
    ld = sb_load_open_private(&c.pub, "t", "id");
    sb_stmt_free(st);
    CHECK_INT(sb_load_close(ld, false), 0);
    CHECK_STR(logged(), "prepare(b) execute() begin end close(b) ");
    drv.bulk = NULL;
    finish();
}

// The connection is lost and opened again: its statements do not exist any
// more.
static void freed_before_a_reset(void)
{
    struct sb_stmt_handle *st;

    start();
    run(st = open_stmt("a"));
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    sb_stmt_free(st);
    sb__children_reset(&c);
    CHECK_STR(logged(), "prepare(a) execute() close(a) ");
    sb__children_abandon(&c);
    CHECK_STR(logged(), "");
    finish();
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL);
    RUN(without_a_limit);
    RUN(what_is_prefetched);
    RUN(least_recently_used);
    RUN(order_of_use);
    RUN(forgotten_by_the_server);
    RUN(in_pipelines);
    RUN(in_pipelines_one_by_one);
    RUN(freed_during_a_load);
    RUN(freed_before_a_reset);
    return check_done();
}
