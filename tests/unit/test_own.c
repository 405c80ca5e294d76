// SPDX-License-Identifier: GPL-2.0-or-later
//
// A driver's own API: how calls are counted, their failures and results, and
// the objects of connections.
#include "check_log.h"
#include "fake_recorded.h"

// Calls ----------------------------------------------------------------------

static struct sb_result answered; // of calls that succeed, and that fail
static int rc_of_call, native_of_call;
static bool silent; // a failed call does not set *err
static const struct sb_driver other = { .name = "other" };

static int run(
    struct sb_conn *conn, void *arg, struct sb_result *res, struct sb_err *err)
{
    note("run(%s) ", (const char *)arg);
    CHECK(conn == c.conn);
    CHECK(res->kind == SB_RESULT_NONE && res->nrows == 0 && res->affected == 0);
    *res = answered;
    if (rc_of_call && !silent)
        sb_err_native(err, rc_of_call, native_of_call, "HY000", "refused");
    return rc_of_call;
}

static char *text(struct sb_conn *conn, void *arg, size_t *len)
{
    note("text ");
    CHECK(conn == c.conn);
    *len = strlen(arg) + 2;
    // More bytes than the length.
    char *out = malloc(*len + 2);

    snprintf(out, *len + 2, "<%s>!", (const char *)arg);
    return out;
}

static char *no_text(struct sb_conn *conn, void *arg, size_t *len)
{
    *len = 99;
    return NULL;
}

static struct sb_own_call get(const char *op)
{
    return (struct sb_own_call){ .driver = &drv,
        .what = "command",
        .op = op,
        .kind = SB_OWN_OTHER,
        .run = run,
        .text = text,
        .arg = (void *)op };
}

static int call(const char *op)
{
    const struct sb_own_call made = get(op);

    return host.call(&c.pub, &made);
}

static int call_kind(const char *op, int kind)
{
    struct sb_own_call made = get(op);

    made.kind = kind;
    return host.call(&c.pub, &made);
}

static void start_own(void)
{
    start_recorded();
    answered = (struct sb_result){ 0 };
    rc_of_call = native_of_call = 0;
    silent = false;
}

static void counts_and_kinds(void)
{
    start_own();
    answered = (struct sb_result){ .kind = SB_RESULT_ROWS, .nrows = 2 };
    CHECK_INT(call_kind("find", SB_OWN_READ), 0);
    answered = (struct sb_result){ .kind = SB_RESULT_WRITE, .affected = 3 };
    CHECK_INT(call_kind("insert", SB_OWN_WRITE), 0);
    CHECK_INT(call_kind("update", SB_OWN_CHANGE), 0);
    answered = (struct sb_result){ 0 };
    CHECK_INT(call_kind("ping", SB_OWN_OTHER), 0);
    CHECK_INT(call_kind("find", SB_OWN_READ), 0);
    CHECK_INT(rec->tally.reads, 1);
    CHECK_INT(rec->tally.writes, 2);
    CHECK_INT(rec->tally.others, 2);
    CHECK_INT(op_count("find"), 2);
    CHECK_INT(op_count("insert"), 1);
    CHECK_INT(op_count("update"), 1);
    CHECK_INT(op_count("ping"), 1);
    CHECK_INT(stats.op[op_index("find")].kind, SB_OP_READ);
    CHECK_INT(stats.op[op_index("insert")].kind, SB_OP_WRITE);
    CHECK_INT(stats.op[op_index("update")].kind, SB_OP_CHANGE);
    CHECK_INT(stats.op[op_index("ping")].kind, SB_OP_OTHER);
    CHECK_STR(
        logged(), "run(find) run(insert) run(update) run(ping) run(find) ");
    finish_recorded();
}

// The name may be freed after the call.
static void names_are_copied(void)
{
    char name[8] = "mine";

    start_own();
    CHECK_INT(call(name), 0);
    snprintf(name, sizeof(name), "yours");
    CHECK_INT(call("mine"), 0);
    CHECK_INT(call("yours"), 0);
    CHECK_INT(op_count("mine"), 2);
    CHECK_INT(op_count("yours"), 1);
    finish_recorded();
}

static void empty_name_is_not_counted(void)
{
    start_own();
    answered.kind = SB_RESULT_ROWS;
    CHECK_INT(call_kind("", SB_OWN_READ), 0);
    CHECK_INT(rec->tally.reads + rec->tally.writes + rec->tally.others, 0);
    CHECK_INT(stats.nops, 0);
    rc_of_call = SB_EQUERY;
    native_of_call = 7;
    CHECK_INT(call(""), SB_EQUERY);
    CHECK_INT(rec->codes[0].count, 1);
    CHECK_INT(stats.nops, 0);
    finish_recorded();
}

static void new_statistics(void)
{
    struct sb_stats more;

    start_own();
    CHECK_INT(call("ping"), 0);
    CHECK_INT(sb_stats_init(&more, 1, 1, false), 0);
    sb_stats_op(&more, "another", SB_OP_OTHER);
    rec = &more.rec[0];
    CHECK_INT(call("ping"), 0);
    sb_rec_flush(rec);
    CHECK_STR(more.op[1].name, "ping");
    CHECK_INT(sb_rec_op_tally(rec, 1)->count, 1);
    rec = &stats.rec[0];
    CHECK_INT(call("ping"), 0);
    CHECK_INT(op_count("ping"), 2);
    // Without a recorder.
    rec = NULL;
    CHECK_INT(call("ping"), 0);
    rc_of_call = SB_EQUERY;
    CHECK_INT(call("ping"), SB_EQUERY);
    rec = &stats.rec[0];
    CHECK_INT(op_count("ping"), 2);
    sb_stats_done(&more);
    finish_recorded();
}

static void many_names(void)
{
    struct sb_stats more;
    char name[16];

    start_own();
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof(name), "made%d", i);
        CHECK_INT(call(name), 0);
        logged();
    }
    CHECK(op_count(SB_OPS_REST) > 900);
    CHECK_INT(call("made3"), 0);
    CHECK_INT(op_count("made3"), 2);
    CHECK_INT(rec->tally.others, 2001);
    // As many names are kept as statistics have room for.
    CHECK_INT(sb_stats_init(&more, 1, 1, false), 0);
    rec = &more.rec[0];
    CHECK_INT(call("made1023"), 0);
    CHECK_STR(more.op[0].name, "made1023");
    CHECK_INT(call("made1024"), 0);
    CHECK_STR(more.op[1].name, SB_OPS_REST);
    CHECK_INT(call("made999"), 0);
    CHECK_INT(call("new"), 0);
    CHECK_INT(more.nops, 2);
    rec = &stats.rec[0];
    sb_stats_done(&more);
    finish_recorded();
}

// In a mix.
static void names_of_a_component(void)
{
    const struct sb_db_own component = { .prefix = "report/" };

    start_own();
    ctx.own = &component;
    CHECK_INT(call("ping"), 0);
    ctx.own = NULL;
    CHECK_INT(op_count("report/ping"), 1);
    finish_recorded();
}

// Failures -------------------------------------------------------------------

static void failures(void)
{
    static const struct {
        int rc, error;
    } cases[] = {
        { SB_EQUERY, SB_SQL_FATAL },
        { SB_ERESTART, SB_SQL_IGNORABLE },
        { SB_EIGNORE, SB_SQL_IGNORABLE },
        { SB_ECANCELED, SB_SQL_FATAL },
        { SB_ENOMEM, SB_SQL_FATAL },
    };

    start_own();
    for (int i = 0; i < 5; i++) {
        rc_of_call = cases[i].rc;
        native_of_call = 100 + i;
        CHECK_INT(call("insert"), cases[i].rc);
        CHECK_INT(c.pub.error, cases[i].error);
        CHECK_INT(c.pub.sql_errno, 100 + i);
        CHECK_STR(c.pub.sql_state, "HY000");
        CHECK_STR(c.pub.sql_errmsg, "refused");
        CHECK_STR(sb_con_failed_sql(&c.pub), "<insert>");
        CHECK_INT(rec->codes[i].native, 100 + i);
        CHECK_INT(rec->codes[i].count, 1);
        CHECK_INT(op_errors("insert"), i + 1);
        CHECK(host.result(&c.pub, &drv) == NULL);
    }
    CHECK_INT(op_count("insert"), 0);
    CHECK_INT(rec->tally.writes + rec->tally.others, 0);
    // A driver that does not set an error message.
    rc_of_call = SB_EQUERY;
    silent = true;
    CHECK_INT(call("insert"), SB_EQUERY);
    CHECK_STR(c.pub.sql_errmsg, sb_err_text(SB_EQUERY));
    rc_of_call = 0;
    CHECK_INT(call("insert"), 0);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    CHECK_INT(c.pub.sql_errno, 0);
    CHECK_STR(c.pub.sql_errmsg, "");
    CHECK_STR(sb_con_failed_sql(&c.pub), "");
    finish_recorded();
}

static void calls_without_text(void)
{
    struct sb_own_call made = get("get");

    start_own();
    rc_of_call = SB_EQUERY;
    made.text = NULL;
    CHECK_INT(host.call(&c.pub, &made), SB_EQUERY);
    CHECK_STR(c.pub.sql_errmsg, "refused");
    CHECK_STR(sb_con_failed_sql(&c.pub), "");
    made.text = no_text;
    CHECK_INT(host.call(&c.pub, &made), SB_EQUERY);
    CHECK_STR(sb_con_failed_sql(&c.pub), "");
    finish_recorded();
}

// A failure is logged with the text of the call, and --db-debug logs every
// call. Otherwise no text is made.
static void log_lines(void)
{
    start_own();
    CHECK_INT(call("get"), 0);
    CHECK_STR(logged(), "run(get) ");
    rc_of_call = SB_EQUERY;
    native_of_call = 7;
    sb_log_set_level(SB_LOG_INFO);
    capture();
    CHECK_INT(call("get"), SB_EQUERY);
    CHECK_STR(captured(),
        "fake: command failed, errno = 7, state = 'HY000': refused, for "
        "query: <get>\n");
    sb_log_set_level(SB_LOG_NOTICE);
    CHECK_STR(logged(), "run(get) text ");
    rc_of_call = 0;
    c.debug = true;
    capture();
    CHECK_INT(call("get"), 0);
    CHECK_INT(call("put"), 0);
    CHECK_STR(captured(), "fake: user 0: 0.000 ms: <get>\n"
                          "fake: user 0: 0.000 ms: <put>\n");
    finish_recorded();
}

static void lost_and_reconnected(void)
{
    start_own();
    opts.reconnect = true;
    rc_of_call = SB_ELOST;
    CHECK_INT(call("find"), SB_ERECONNECT);
    CHECK_INT(c.pub.error, SB_SQL_IGNORABLE);
    CHECK(sb__con_lost(&c) && !c.outcome); // the next one has nothing to free
    rc_of_call = 0;
    CHECK_INT(sb_con_reset(&c.pub), 0);
    CHECK(!sb__con_lost(&c) && connects == 1);
    CHECK_INT(call("find"), 0);
    CHECK_INT(rec->tally.reconnects, 1);
    opts.reconnect = false;
    rc_of_call = SB_ELOST;
    CHECK_INT(call("find"), SB_ELOST);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    // The connection was closed after the loss.
    c.outcome = SB__OUTCOME_NONE;
    sb__con_enter(&c, SB__CON_AWAY);
    logged();
    CHECK_INT(call("find"), SB_ELOST);
    CHECK_STR(c.pub.sql_errmsg, "the connection was lost");
    CHECK(host.conn(&c.pub, &drv) == NULL);
    CHECK_INT(host.ready(&c.pub, &drv), 0);
    CHECK_STR(logged(), "");
    finish_recorded();
}

static void refused_calls(void)
{
    start_own();
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    CHECK_INT(call("find"), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg,
        "a pipeline is open; 'command' is not possible in it");
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    sb_con_pipeline_drop(&c.pub);
    sb__con_enter(&c, SB__CON_LOADING);
    CHECK_INT(call("find"), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "the connection is loading a table");
    sb__con_enter(&c, SB__CON_OPEN);
    ctx.ended = true;
    CHECK_INT(call("find"), SB_ECANCELED);
    ctx.ended = false;
    CHECK_INT(rec->ncodes, 1); // the cancel
    sb__con_enter(&c, SB__CON_CLOSED);
    CHECK_INT(call("find"), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "the connection is closed");
    CHECK_STR(logged(), "");
    CHECK_INT(rec->ncodes, 1);
    CHECK_INT(stats.nops, 0);
    finish_recorded();
}

static void another_driver(void)
{
    static const char why[] =
        "this is a function of the other driver, but the connection is one of "
        "the fake driver";
    struct sb_own_call made = get("find");

    start_own();
    answered.kind = SB_RESULT_ROWS;
    CHECK_INT(call("find"), 0);
    CHECK(host.result(&c.pub, &drv) == &c.res);
    CHECK(host.result(&c.pub, &other) == NULL);
    CHECK(host.conn(&c.pub, &drv) == c.conn);
    CHECK(host.conn(&c.pub, &other) == NULL);
    CHECK_INT(host.ready(&c.pub, &other), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, why);
    logged();
    made.driver = &other;
    CHECK_INT(host.call(&c.pub, &made), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, why);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_STR(logged(), "");
    CHECK_INT(rec->ncodes, 0);
    finish_recorded();
}

static void readiness(void)
{
    start_own();
    answered.kind = SB_RESULT_ROWS;
    rc_of_call = SB_EQUERY;
    CHECK_INT(call("find"), SB_EQUERY);
    CHECK_INT(host.ready(&c.pub, &drv), 0);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    CHECK_STR(c.pub.sql_errmsg, "");
    CHECK_STR(sb_con_failed_sql(&c.pub), "");
    // The current result stays.
    rc_of_call = 0;
    CHECK_INT(call("find"), 0);
    CHECK_INT(host.ready(&c.pub, &drv), 0);
    CHECK(host.result(&c.pub, &drv) != NULL);
    c.outcome = SB__OUTCOME_NONE;
    sb__con_enter(&c, SB__CON_CLOSED);
    CHECK_INT(host.ready(&c.pub, &drv), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "the connection is closed");
    CHECK(host.conn(&c.pub, &drv) == NULL);
    finish_recorded();
}

// fail() ---------------------------------------------------------------------

static void failures_outside_of_calls(void)
{
    struct sb_err err = { .code = SB_EQUERY, .native = 9, .msg = "no more" };

    start_own();
    CHECK_INT(host.fail(&c.pub, "next", "<find>", &err), SB_EQUERY);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_INT(c.pub.sql_errno, 9);
    CHECK_STR(c.pub.sql_errmsg, "no more");
    CHECK_STR(sb_con_failed_sql(&c.pub), "<find>");
    CHECK_INT(rec->codes[0].native, 9);
    CHECK_INT(rec->codes[0].count, 1);
    // Without `what`, it is not counted.
    err.native = 10;
    CHECK_INT(host.fail(&c.pub, NULL, "<get>", &err), SB_EQUERY);
    CHECK_INT(c.pub.sql_errno, 10);
    CHECK_STR(sb_con_failed_sql(&c.pub), "<get>");
    CHECK_INT(rec->ncodes, 1);
    // The default code; no text.
    err = (struct sb_err){ .msg = "" };
    CHECK_INT(host.fail(&c.pub, NULL, NULL, &err), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, sb_err_text(SB_EUSAGE));
    CHECK_STR(sb_con_failed_sql(&c.pub), "");
    // The error of the connection itself.
    sb_err_set(&c.err, SB_ERESTART, "again");
    CHECK_INT(host.fail(&c.pub, NULL, NULL, &c.err), SB_ERESTART);
    CHECK_INT(c.pub.error, SB_SQL_IGNORABLE);
    CHECK_STR(c.pub.sql_errmsg, "again");
    CHECK_INT(call("get"), 0);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    finish_recorded();
}

static void lost_outside_of_a_call(void)
{
    const struct sb_err err = { .code = SB_ELOST, .msg = "gone" };

    start_own();
    opts.reconnect = true;
    CHECK_INT(host.fail(&c.pub, "next", NULL, &err), SB_ERECONNECT);
    CHECK_INT(c.pub.error, SB_SQL_IGNORABLE);
    CHECK(sb__con_lost(&c));
    opts.reconnect = false;
    finish_recorded();
}

// Results --------------------------------------------------------------------

static int freed_results;

static void count_freed(struct sb_conn *conn, struct sb_result *res)
{
    freed_results++;
}

static void results_end_with_the_next_call(void)
{
    const struct sb_result *res;

    start_own();
    freed_results = 0;
    sql_ops.free_result = count_freed;
    CHECK(host.result(&c.pub, &drv) == NULL);
    answered = (struct sb_result){ .kind = SB_RESULT_ROWS, .nrows = 2 };
    CHECK_INT(call("find"), 0);
    res = host.result(&c.pub, &drv);
    CHECK(res && res->nrows == 2);
    CHECK_INT(freed_results, 0);
    answered = (struct sb_result){ .kind = SB_RESULT_WRITE, .affected = 3 };
    CHECK_INT(call("insert"), 0);
    CHECK_INT(freed_results, 1);
    res = host.result(&c.pub, &drv);
    CHECK(res && res->nrows == 0 && res->affected == 3);
    // The driver may have allocated a result of a call that fails.
    rc_of_call = SB_EQUERY;
    CHECK_INT(call("find"), SB_EQUERY);
    CHECK_INT(freed_results, 2);
    CHECK(host.result(&c.pub, &drv) == NULL);
    rc_of_call = 0;
    CHECK_INT(call("find"), 0);
    CHECK_INT(freed_results, 3);
    // The result ends when the connection is lost.
    rc_of_call = SB_ELOST;
    CHECK_INT(call("find"), SB_ELOST);
    CHECK_INT(freed_results, 4);
    CHECK_INT(call("find"), SB_ELOST);
    CHECK_INT(freed_results, 4);
    sql_ops.free_result = free_result;
    finish_recorded();
}

// Results of SQL are invalid after a call, and the reverse.
static void mixed_with_sql(void)
{
    struct sb_sql_cell cell[1];
    struct sb_rs *rs;

    start_own();
    rs = sb_con_query(&c.pub, "select", 6);
    CHECK(rs && sb_rs_fetch(rs, cell) == 1);
    CHECK(host.result(&c.pub, &drv) == NULL);
    answered = (struct sb_result){ .kind = SB_RESULT_ROWS, .nrows = 2 };
    CHECK_INT(call("find"), 0);
    CHECK_INT(sb_rs_fetch(rs, cell), SB_EUSAGE);
    CHECK(host.result(&c.pub, &drv) != NULL);
    rs = sb_con_query(&c.pub, "select", 6);
    CHECK(rs && sb_rs_fetch(rs, cell) == 1);
    CHECK(host.result(&c.pub, &drv) == NULL);
    CHECK(sb_con_query(&c.pub, "update", 6) == NULL);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    CHECK_INT(op_count("select"), 2);
    CHECK_INT(op_count("find"), 1);
    finish_recorded();
}

// A driver need not have SQL functions.
static void without_sql(void)
{
    start_own();
    c.sql = NULL;
    CHECK(!sb_con_has_sql(&c.pub));
    answered.kind = SB_RESULT_ROWS;
    CHECK_INT(call("find"), 0);
    CHECK_INT(call("find"), 0);
    rc_of_call = SB_EQUERY;
    CHECK_INT(call("find"), SB_EQUERY);
    rc_of_call = 0;
    CHECK_INT(call("find"), 0);
    CHECK_INT(op_count("find"), 3);
    c.sql = &sql_ops;
    CHECK(sb_con_has_sql(&c.pub));
    drv.caps = SB_CAP_NO_SQL;
    CHECK(!sb_con_has_sql(&c.pub));
    drv.caps = 0;
    finish_recorded();
}

// What Lua calls -------------------------------------------------------------

static int take(struct sb_con *con, void *arg)
{
    CHECK(con == &c.pub);
    *(int *)arg += 1;
    return SB_ERANGE;
}

static void from_lua(void)
{
    int n = 4;

    start_own();
    CHECK_INT(sb_con_run(&c.pub, take, &n), SB_ERANGE);
    CHECK_INT(n, 5);
    CHECK_INT(sb_con_run(NULL, take, &n), SB_EUSAGE);
    CHECK_INT(n, 5);
    CHECK(sb_con_is_of(&c.pub, "fake"));
    CHECK(!sb_con_is_of(&c.pub, "fak"));
    CHECK(!sb_con_is_of(&c.pub, "mysql"));
    finish_recorded();
}

// Objects --------------------------------------------------------------------

static char done_text[64];

static void object_done(void *object)
{
    size_t n = strlen(done_text);

    snprintf(done_text + n, sizeof(done_text) - n, "%s ", (char *)object);
}

static char *object(const char *name)
{
    char *o = host.object_new(&c.pub, 64, object_done);
    static const char zero[64];

    CHECK(o && ((uintptr_t)o & 15) == 0);
    CHECK(memcmp(o, zero, 64) == 0);
    CHECK(host.object_con(o) == &c.pub);
    snprintf(o, 64, "%s", name);
    return o;
}

// The next call of the user frees an object that Lua does not use any more.
static void dropped_objects(void)
{
    char *a, *b;

    start_own();
    done_text[0] = '\0';
    a = object("a");
    b = object("b");
    object("c");
    CHECK_INT(ctx.handles, 3);
    sb_object_drop(NULL);
    sb_object_drop(b);
    CHECK_STR(done_text, "");
    CHECK(host.object_con(b) == &c.pub);
    CHECK_INT(call("get"), 0);
    CHECK_STR(done_text, "b ");
    CHECK_INT(ctx.handles, 2);
    host.object_drop(a);
    CHECK_INT(call("get"), 0);
    CHECK_STR(done_text, "b a ");
    CHECK_INT(ctx.handles, 1);
    finish_recorded();
    CHECK_STR(done_text, "b a c ");
    CHECK(c.children == NULL);
}

// Lua may hold an object longer than its connection.
static void orphaned_objects(void)
{
    char *a, *b;

    start_own();
    done_text[0] = '\0';
    a = object("a");
    b = object("b");
    sb__children_reset(&c); // the connection is closed
    CHECK(host.object_con(a) == &c.pub);
    sb__children_orphan(&c); // and freed
    CHECK(c.children == NULL);
    CHECK(host.object_con(a) == NULL && host.object_con(b) == NULL);
    CHECK_STR(a, "a");
    CHECK_STR(done_text, "");
    sb_object_drop(a);
    sb__handles_free(&ctx);
    CHECK_STR(done_text, "a ");
    CHECK(ctx.orphans != NULL);
    CHECK_INT(ctx.handles, 1);
    finish_recorded();
    CHECK_STR(done_text, "a b ");
    CHECK(ctx.orphans == NULL);
}

// The user has left: nothing is called after that.
static void dropped_by_no_user(void)
{
    char *a;

    start_own();
    done_text[0] = '\0';
    a = object("a");
    sb__children_orphan(&c);
    ctx.left = true;
    sb_object_drop(a);
    CHECK_STR(done_text, "a ");
    CHECK(ctx.orphans == NULL && ctx.handles == 0);
    ctx.left = false;
    finish_recorded();
    CHECK_STR(done_text, "a ");
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_NOTICE);
    RUN(counts_and_kinds);
    RUN(names_are_copied);
    RUN(empty_name_is_not_counted);
    RUN(new_statistics);
    RUN(many_names);
    RUN(names_of_a_component);
    RUN(failures);
    RUN(calls_without_text);
    RUN(log_lines);
    RUN(lost_and_reconnected);
    RUN(refused_calls);
    RUN(another_driver);
    RUN(readiness);
    RUN(failures_outside_of_calls);
    RUN(lost_outside_of_a_call);
    RUN(results_end_with_the_next_call);
    RUN(mixed_with_sql);
    RUN(without_sql);
    RUN(from_lua);
    RUN(dropped_objects);
    RUN(orphaned_objects);
    RUN(dropped_by_no_user);
    return check_done();
}
