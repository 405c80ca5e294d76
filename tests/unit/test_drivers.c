// SPDX-License-Identifier: GPL-2.0-or-later
//
// Choosing drivers, and what all of them have in common: connections,
// statements, results, recording. With the null driver.
#include "db/call.h"
#include "world.h"

// Choice ---------------------------------------------------------------------

static void missing_driver_is_named(void)
{
    struct world w;

    world_init(&w, "--db-driver=nosuch");
    CHECK_INT(sb_drivers_claim(w.d, &w.err), SB_ENOTFOUND);
    CHECK(strstr(w.err.msg, "nosuch") && strstr(w.err.msg, modules));
    CHECK(sb_db_get(&w.ctx, "../x") == NULL);
    CHECK(strstr(sb_db_error(&w.ctx), "../x"));
    world_done(&w);
}

static void choice_follows_the_options(void)
{
    struct world w;
    struct sb_db *db;

    world_init(&w, "--null-rows=3");
    CHECK(sb_drivers_claim(w.d, &w.err) == 0);
    db = sb_db_get(&w.ctx, NULL);
    CHECK_STR(db ? sb_db_name(db) : "", "null");
    CHECK(sb_db_get(&w.ctx, "null") == db);
    world_done(&w);
    world_init(&w, "");
    CHECK(sb_drivers_claim(w.d, &w.err) == 0);
    db = sb_db_get(&w.ctx, NULL);
    CHECK_STR(db ? sb_db_name(db) : "", "sqlite");
    CHECK(sb_db_get(&w.ctx, "") == db);
    world_done(&w);
    world_init(&w, "--null-rows=3 --sqlite-db=x");
    CHECK(sb_drivers_claim(w.d, &w.err) == 0);
    CHECK(sb_db_get(&w.ctx, NULL) == NULL);
    CHECK(strstr(sb_db_error(&w.ctx), "--db-driver"));
    world_done(&w);
}

static void a_close_name_is_suggested(void)
{
    struct world w;

    world_init(&w, "--db-driver=nul");
    CHECK_INT(sb_drivers_claim(w.d, &w.err), SB_ENOTFOUND);
    CHECK(strstr(w.err.msg, "(did you mean null?)"));
    CHECK(strstr(w.err.msg, "; drivers: "));
    world_done(&w);
}

static void drivers_are_found_by_their_options(void)
{
    static const struct sb_opt_table other = { .title = "X", .opts = NULL };
    struct world w;
    struct sb_db *db;

    world_init(&w, "");
    const char *name;
    CHECK_INT(sb_drivers_loop_users(w.d, &name), 0); // no driver is loaded
    CHECK(!name);
    CHECK_INT(sb_drivers_need(w.d, "null", &w.err), 0);
    db = sb_db_get(&w.ctx, "null");
    CHECK(db && sb_drivers_of(w.d, sb_db_driver(db)->opts) == sb_db_name(db));
    CHECK(sb_drivers_of(w.d, &other) == NULL);
    world_done(&w);
}

struct modules_seen {
    unsigned n, nulls;
    char last[64];
};

static int see_module(void *arg, const char *name,
    const struct sb_driver *driver, const char *problem)
{
    struct modules_seen *seen = arg;

    CHECK(strcmp(seen->last, name) < 0); // in order
    snprintf(seen->last, sizeof(seen->last), "%s", name);
    CHECK(!strstr(name, "-options"));
    CHECK(!driver == !!problem);
    seen->n++;
    seen->nulls += driver && strcmp(driver->name, "null") == 0;
    return 0;
}

static int stop_at_once(void *arg, const char *name,
    const struct sb_driver *driver, const char *problem)
{
    (*(unsigned *)arg)++;
    return SB_EUSAGE;
}

static void every_module_is_visited(void)
{
    struct modules_seen seen = { 0 };
    unsigned visits = 0;
    struct world w;

    world_init(&w, "");
    CHECK_INT(sb_drivers_each(w.d, see_module, &seen), 0);
    CHECK(seen.n >= 1);
    CHECK_INT(seen.nulls, 1);
    CHECK_INT(sb_drivers_each(w.d, stop_at_once, &visits), SB_EUSAGE);
    CHECK_INT(visits, 1);
    world_done(&w);
}

static int see_option(void *arg, const struct sb_opt_view *view)
{
    *(unsigned *)arg += strcmp(view->opt->name, "null-rows") == 0;
    return 0;
}

// The options of a driver that is loaded are in the registry.
static void options_of_other_drivers_are_visited(void)
{
    unsigned found = 0;
    struct world w;

    world_init(&w, "");
    CHECK_INT(sb_drivers_idle(w.d, see_option, &found, &w.err), 0);
    CHECK_INT(found, 1);
    CHECK_INT(sb_drivers_need(w.d, "null", &w.err), 0);
    CHECK_INT(sb_drivers_idle(w.d, see_option, &found, &w.err), 0);
    CHECK_INT(found, 1);
    world_done(&w);
}

// The core itself names no driver.
static void no_driver_is_the_default_one(void)
{
    struct world w;

    world_init(&w, "");
    w.d->dir = "/nonexistent";
    CHECK(sb_drivers_claim(w.d, &w.err) == 0);
    CHECK(sb_db_get(&w.ctx, NULL) == NULL);
    CHECK_INT(w.ctx.err.code, SB_ENOTFOUND);
    CHECK(strstr(sb_db_error(&w.ctx), "--db-driver"));
    world_done(&w);
}

static void overrides_reach_one_connection(void)
{
    static const char *names[] = { "rows" }, *values[] = { "7" };
    static const char *full[] = { "null_rows" }, *bad[] = { "rowz" };
    struct world w;
    struct sb_con *con;
    struct sb_db *db;
    struct sb_rs *rs;

    world_init(&w, "--null-rows=3");
    con = world_connect(&w);
    db = con->driver;
    rs = run(con, "SELECT 1");
    CHECK_INT(rs->nrows, 3);
    con = sb_con_open(&w.ctx, db, names, values, 1);
    rs = run(con, "SELECT 1");
    CHECK_INT(rs->nrows, 7);
    con = sb_con_open(&w.ctx, db, full, values, 1);
    CHECK(con != NULL);
    sb_con_free(con);
    CHECK(sb_con_open(&w.ctx, db, bad, values, 1) == NULL);
    CHECK(strstr(sb_db_error(&w.ctx), "'rowz'") &&
          strstr(sb_db_error(&w.ctx), "'rows'"));
    world_done(&w);
}

// Recording ------------------------------------------------------------------

static void results_are_counted_by_kind(void)
{
    struct world w;
    struct sb_con *con;

    world_init(&w, "--db-driver=null");
    con = world_connect(&w);
    CHECK(run(con, "SELECT 1") != NULL);
    CHECK(run(con, "insert into t values (1)") == NULL);
    CHECK(con->error == SB_SQL_NONE && sb_con_affected(con) == 1);
    CHECK(run(con, "BEGIN") == NULL);
    CHECK(run(con, "FROBNICATE") == NULL);
    CHECK_INT(w.rec->tally.reads, 1);
    CHECK_INT(w.rec->tally.writes, 1);
    CHECK_INT(w.rec->tally.others, 2);
    CHECK_INT(count_of(&w, "select"), 1);
    CHECK_INT(count_of(&w, "insert"), 1);
    CHECK_INT(count_of(&w, "begin"), 1);
    CHECK_INT(count_of(&w, "query"), 1);
    CHECK(sb_drivers_used(w.d));
    CHECK(sb_drivers_used_sql(w.d));
    world_done(&w);
}

static void statements_have_operations(void)
{
    struct world w;
    struct sb_con *con;
    struct sb_stmt_handle *a, *b;
    struct sb_param *p;

    world_init(&w, "--db-driver=null");
    con = world_connect(&w);
    a = sb_stmt_open(con, "SELECT c FROM sbtest12 WHERE id=?", 33, NULL);
    b = sb_stmt_open(con, "COMMIT", 6, "done");
    p = sb_stmt_param(a, SB_SQL_TYPE_INT, 0);
    CHECK(sb_stmt_execute(a) == NULL && con->error == SB_SQL_FATAL);
    CHECK_INT(sb_stmt_bind(a, NULL, 0), SB_EUSAGE);
    CHECK_INT(sb_stmt_bind(a, &p, 1), 0);
    CHECK(sb_stmt_execute(a) != NULL);
    CHECK(sb_stmt_execute(a) != NULL);
    CHECK(sb_stmt_execute(b) == NULL && con->error == SB_SQL_NONE);
    CHECK_INT(count_of(&w, "SELECT c FROM sbtest# WHERE id=?"), 2);
    CHECK_INT(count_of(&w, "done"), 1);
    CHECK_INT(count_of(&w, "prepare"), 2);
    CHECK_INT(w.rec->tally.reads + w.rec->tally.others, 3);
    // Statements of a freed connection fail without harm.
    sb_con_free(con);
    CHECK(sb_stmt_execute(a) == NULL);
    CHECK(sb_stmt_param(a, SB_SQL_TYPE_INT, 0) == NULL);
    sb_stmt_free(a);
    sb_stmt_free(b);
    sb_param_free(p);
    world_done(&w);
}

static void old_results_are_rejected(void)
{
    struct world w;
    struct sb_con *con;
    struct sb_sql_cell cell;
    struct sb_rs *a, *b;

    world_init(&w, "--db-driver=null");
    con = world_connect(&w);
    a = run(con, "SELECT 1");
    b = run(con, "SELECT 2");
    CHECK_INT(sb_rs_fetch(a, &cell), SB_EUSAGE);
    CHECK_INT(con->error, SB_SQL_FATAL);
    CHECK(strstr(con->sql_errmsg, "the result set is no longer available"));
    sb_rs_free(a); // does not free the result of b
    CHECK(sb_rs_column(a, 0) == NULL);
    CHECK_INT(sb_rs_fetch(b, &cell), 1);
    CHECK_INT(sb_rs_fetch(b, &cell), 0);
    run(con, "UPDATE t");
    CHECK_INT(con->error, SB_SQL_NONE);
    CHECK_INT(sb_rs_fetch(b, &cell), SB_EUSAGE);
    CHECK_INT(sb_rs_fetch(NULL, &cell), SB_EUSAGE);
    world_done(&w);
}

// Handles that a script holds stay valid, whatever is freed first.
static void handles_outlive_their_connection(void)
{
    struct world w;
    struct sb_con *con, *other;
    struct sb_stmt_handle *st;
    struct sb_param *p;
    struct sb_sql_cell cell;
    struct sb_rs *rs;

    world_init(&w, "--db-driver=null");
    con = world_connect(&w);
    st = sb_stmt_open(con, "SELECT ?", 8, NULL);
    p = sb_stmt_param(st, SB_SQL_TYPE_VARCHAR, 9);
    CHECK_INT(sb_stmt_bind(st, &p, 1), 0);
    CHECK_INT(sb_stmt_bind(st, &p, 1), 0);
    rs = sb_stmt_execute(st);
    sb_stmt_free(st);
    memset(p->buffer, 'x', 9);
    CHECK_INT(sb_rs_fetch(rs, &cell), SB_EUSAGE);
    // A statement keeps using a parameter that its owner freed.
    st = sb_stmt_open(con, "SELECT ?", 8, NULL);
    CHECK_INT(sb_stmt_bind(st, &(struct sb_param *){ NULL }, 1), SB_EUSAGE);
    CHECK_INT(sb_stmt_bind(st, &p, 1), 0);
    sb_param_free(p);
    rs = sb_stmt_execute(st);
    CHECK(rs != NULL);
    sb_con_free(con);
    other = world_connect(&w);
    run(other, "SELECT 1");
    CHECK_INT(sb_rs_fetch(rs, &cell), SB_EUSAGE);
    CHECK(run(other, "SELECT 1") != NULL);
    // A handle is not reused before its owner frees it ...
    CHECK(sb_stmt_open(other, "SELECT 1", 8, NULL) != st);
    sb_stmt_free(st);
    // ... and open statements are freed with the connection.
    sb_con_free(other);
    world_done(&w);
}

// Handles are reused: there are only as many as were in use at the same time.
static void handles_are_reused(void)
{
    struct world w;
    struct sb_con *con, *first = NULL;

    world_init(&w, "--db-driver=null");
    for (int i = 0; i < 10; i++) {
        con = world_connect(&w);
        if (!first)
            first = con;
        CHECK(con == first);
        CHECK(((struct sb_con_priv *)con)->state != SB__CON_SPARE);
        sb_stmt_free(sb_stmt_open(con, "SELECT 1", 8, NULL));
        sb_con_free(con);
        sb_con_free(con); // as a late finalizer does
    }
    CHECK(!w.ctx.cons && w.ctx.idle_cons && !w.ctx.idle_cons->next);
    CHECK(!w.ctx.orphans && w.ctx.idle_stmts);
    world_done(&w);
}

static void connect_is_retried_after_a_free(void)
{
    static const char *const name = "failure-rate", *const value = "x";
    struct world w;
    struct sb_con *con;
    struct sb_db *db;

    world_init(&w, "--db-driver=null");
    con = world_connect(&w);
    db = con->driver;
    CHECK(sb_con_open(&w.ctx, db, &name, &value, 1) == NULL);
    CHECK(!sb_con_retry(&w.ctx));
    sb_con_free(con);
    CHECK(sb_con_retry(&w.ctx));
    w.ctx.err.code = SB_ECANCELED;
    CHECK(!sb_con_retry(&w.ctx));
    world_done(&w);
}

static void errors_are_classified(void)
{
    struct world w;
    struct sb_con *con;

    world_init(&w, "--null-failure-rate=1");
    con = world_connect(&w);
    CHECK(run(con, "SELECT 1") == NULL);
    CHECK_INT(con->error, SB_SQL_IGNORABLE);
    CHECK_INT(con->sql_errno, 1213);
    CHECK_STR(con->sql_state, "40001");
    CHECK_INT(sb_con_err(con)->code, SB_ERESTART);
    CHECK_INT(w.rec->ncodes, 1);
    CHECK_STR(w.rec->codes[0].driver, "null");
    CHECK_INT(w.rec->open_errors, 1);
    CHECK_INT(w.rec->tally.reads, 0);
    world_done(&w);
}

static void reconnects_are_counted(void)
{
    struct world w;
    struct sb_con *con;
    struct sb_stmt_handle *st;

    world_init(&w, "--db-driver=null");
    con = world_connect(&w);
    st = sb_stmt_open(con, "SELECT 1", 8, NULL);
    CHECK(sb_stmt_execute(st) != NULL);
    CHECK_INT(sb_con_reconnect(con), 0);
    CHECK_INT(w.rec->tally.reconnects, 1);
    CHECK(sb_stmt_execute(st) != NULL);
    CHECK_INT(count_of(&w, "prepare"), 2);
    CHECK_INT(sb_con_close(con), 0);
    CHECK_INT(sb_con_close(con), SB_EUSAGE);
    CHECK(run(con, "SELECT 1") == NULL && con->error == SB_SQL_FATAL);
    CHECK_INT(sb_con_reset(con), 0);
    sb_stmt_free(st);
    world_done(&w);
}

static void nothing_is_called_after_the_end(void)
{
    struct world w;
    struct sb_con *con;
    struct sb_db *db;
    world_init(&w, "--db-driver=null");
    con = world_connect(&w);
    db = con->driver;
    sb_rs_free(run(con, "SELECT 1"));
    CHECK_INT(w.rec->tally.reads, 1);
    sb_db_ctx_end(&w.ctx);
    CHECK(run(con, "SELECT 1") == NULL && con->error == SB_SQL_FATAL);
    CHECK(sb_con_canceled(con));
    CHECK_INT(w.rec->tally.reads, 1);
    CHECK(sb_con_open(&w.ctx, db, NULL, NULL, 0) == NULL);
    CHECK_INT(w.ctx.err.code, SB_ECANCELED);
    world_done(&w);
}

static void *cancel_soon(void *arg)
{
    struct world *w = arg;

    // Repeats until the call returns: a cancel before it has no effect.
    while (!atomic_load((_Atomic bool *)&w->opts.debug)) {
        sb_db_ctx_cancel(&w->ctx);
        usleep(1000);
    }
    return NULL;
}

static void cancel_ends_a_hanging_call(void)
{
    struct world w;
    struct sb_con *con;
    pthread_t t;

    world_init(&w, "--null-hang-after=1");
    con = world_connect(&w);
    CHECK(run(con, "SELECT 1") != NULL);
    pthread_create(&t, NULL, cancel_soon, &w);
    CHECK(run(con, "SELECT 1") == NULL);
    CHECK_INT(sb_con_err(con)->code, SB_ECANCELED);
    atomic_store((_Atomic bool *)&w.opts.debug, true);
    pthread_join(t, NULL);
    world_done(&w);
}

static void cancel_ends_a_connect(void)
{
    struct world w;
    struct sb_db *db;
    pthread_t t;

    world_init(&w, "--null-connect-latency=100");
    CHECK(sb_drivers_claim(w.d, &w.err) == 0);
    db = sb_db_get(&w.ctx, NULL);
    pthread_create(&t, NULL, cancel_soon, &w);
    CHECK(sb_con_open(&w.ctx, db, NULL, NULL, 0) == NULL);
    CHECK_INT(w.ctx.err.code, SB_ECANCELED);
    CHECK_STR(sb_db_error(&w.ctx), "the connect was canceled");
    CHECK(w.ctx.cons == NULL);
    atomic_store((_Atomic bool *)&w.opts.debug, true);
    pthread_join(t, NULL);
    world_done(&w);
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL - 1);
    if (!find_modules()) {
        printf("ok %d - drivers # SKIP no modules in %s\n", ++check_tests,
            modules);
        return check_done();
    }
    RUN(missing_driver_is_named);
    RUN(a_close_name_is_suggested);
    RUN(drivers_are_found_by_their_options);
    RUN(every_module_is_visited);
    RUN(options_of_other_drivers_are_visited);
    RUN(no_driver_is_the_default_one);
    RUN(overrides_reach_one_connection);
    RUN(results_are_counted_by_kind);
    RUN(statements_have_operations);
    RUN(old_results_are_rejected);
    RUN(handles_outlive_their_connection);
    RUN(handles_are_reused);
    RUN(connect_is_retried_after_a_free);
    RUN(errors_are_classified);
    RUN(reconnects_are_counted);
    RUN(nothing_is_called_after_the_end);
    RUN(cancel_ends_a_hanging_call);
    RUN(cancel_ends_a_connect);
    if (has_sqlite())
        RUN(choice_follows_the_options);
    return check_done();
}
