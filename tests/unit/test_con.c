// SPDX-License-Identifier: GPL-2.0-or-later
//
// Opening, closing and freeing connections of a fake driver; their sessions.
#include "db/link.h"

#include "fake.h"

static int fails; // of connect()

static int fake_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *values, const struct sb_conn_info *info, struct sb_err *err)
{
    note("connect(%llu) ", (unsigned long long)info->number);
    return fails ? sb_err_set(err, fails, "refused") : 0;
}

// That the collector drops while a connection is closed, or NULL.
static struct sb_stmt_handle *dropped_meanwhile;

static void fake_disconnect(struct sb_conn *conn)
{
    note("disconnect ");
    sb_stmt_drop(dropped_meanwhile);
    dropped_meanwhile = NULL;
}

static int fake_reset(struct sb_conn *conn, struct sb_err *err)
{
    note("reset ");
    return 0;
}

static const struct sb_generic_ops generic_ops = {
    .connect = fake_connect, .disconnect = fake_disconnect, .reset = fake_reset
};

static void start_context(void)
{
    drv.generic = &generic_ops;
    owner.connections = 0;
    db.base.ready = true;
    db.base.db = &db;
    log_text[0] = '\0';
    sb_db_ctx_init(&ctx, &owner, NULL, &fake, 0, 1);
}

static struct sb_con *open_con(void)
{
    return sb_con_open(&ctx, &db, NULL, NULL, 0);
}

static enum sb__con_state state_of(const struct sb_con *con)
{
    return ((const struct sb_con_priv *)con)->state;
}

static void opened_closed_freed(void)
{
    struct sb_con *con;

    start_context();
    con = open_con();
    CHECK_INT(state_of(con), SB__CON_OPEN);
    CHECK_INT(sb_con_held(&ctx), 1);
    CHECK_INT(sb_con_reset(con), 0);
    CHECK_INT(sb_con_close(con), 0);
    CHECK_INT(state_of(con), SB__CON_CLOSED);
    CHECK_INT(sb_con_close(con), SB_EUSAGE);
    CHECK(sb_con_query(con, "s", 1) == NULL && con->error == SB_SQL_FATAL);
    CHECK_STR(logged(), "connect(0) reset disconnect ");
    sb_con_free(con);
    CHECK_INT(state_of(con), SB__CON_SPARE);
    sb_con_free(con);         // has no effect
    CHECK(open_con() == con); // the handle is reused
    CHECK_STR(logged(), "connect(1) ");
    sb_db_ctx_done(&ctx);
    CHECK_STR(logged(), "disconnect ");
}

// Everything that belongs to a connection ends with it.
static void closed_with_its_children(void)
{
    struct sb_stmt_handle *st;
    struct sb_con *con;

    start_context();
    con = open_con();
    st = sb_stmt_open(con, "select", 6, NULL);
    CHECK(sb_stmt_execute(st) != NULL);
    CHECK_INT(sb_con_pipeline(con), 0);
    CHECK_INT(sb_con_close(con), 0);
    CHECK_STR(logged(),
        "connect(0) prepare(select) execute() close(select) disconnect ");
    CHECK_INT(((struct sb_con_priv *)con)->pipe.state, SB__PIPE_NONE);
    CHECK_INT(((struct sb_con_priv *)con)->outcome, SB__OUTCOME_NONE);
    sb_con_free(con);
    CHECK(sb_stmt_execute(st) == NULL);
    sb_stmt_free(st);
    CHECK(!ctx.orphans && ctx.idle_stmts);
    sb_db_ctx_done(&ctx);
}

// The collector drops handles at any time, in any order: the next call frees
// them.
static void dropped(void)
{
    struct sb_stmt_handle *st, *other;
    struct sb_con *con, *second;

    start_context();
    con = open_con();
    second = open_con();
    st = sb_stmt_open(con, "select", 6, NULL);
    other = sb_stmt_open(second, "select", 6, NULL);
    CHECK(sb_stmt_execute(st) != NULL);
    logged();
    sb_con_drop(con);
    sb_stmt_drop(st);
    CHECK_STR(logged(), "");
    CHECK_INT(state_of(con), SB__CON_OPEN);
    CHECK(sb_stmt_execute(other) != NULL);
    CHECK_STR(logged(), "close(select) disconnect prepare(select) execute() ");
    CHECK_INT(state_of(con), SB__CON_SPARE);
    CHECK_INT(sb_con_held(&ctx), 1);
    sb_con_drop(second);
    CHECK_INT(sb_con_held(&ctx), 0);
    sb_stmt_drop(other);
    sb_db_ctx_done(&ctx);
}

// A user leaves a Lua state that others use.
static void left(void)
{
    struct sb_stmt_handle *st;
    struct sb_con *con;

    start_context();
    con = open_con();
    st = sb_stmt_open(con, "select", 6, NULL);
    CHECK(sb_stmt_execute(st) != NULL);
    logged();
    dropped_meanwhile = sb_stmt_open(con, "select", 6, NULL);
    sb_db_ctx_leave(&ctx);
    CHECK(!ctx.dropped);
    CHECK_STR(logged(), "close(select) disconnect ");
    CHECK_INT(state_of(con), SB__CON_CLOSED);
    CHECK(!sb_db_ctx_unused(&ctx));
    CHECK(sb_stmt_execute(st) == NULL);
    sb_stmt_drop(st);
    CHECK(!sb_db_ctx_unused(&ctx));
    sb_con_drop(con);
    CHECK(sb_db_ctx_unused(&ctx));
    CHECK_STR(logged(), "");
    sb_db_ctx_done(&ctx);
}

static void refused(void)
{
    start_context();
    fails = SB_ECONNECT;
    CHECK(open_con() == NULL);
    CHECK_INT(ctx.err.code, SB_ECONNECT);
    CHECK_INT(sb_con_held(&ctx), 0);
    CHECK_STR(logged(), "connect(0) disconnect ");
    fails = 0;
    sb_db_ctx_done(&ctx);
}

// Statements of the session are executed after each connect, before others.
static void sessions(void)
{
    struct sb_con *con;

    start_context();
    opts.init_sql = "set a";
    con = open_con();
    CHECK_INT(sb_con_init_sql(con, "set b", 5), 0);
    CHECK_STR(logged(), "connect(0) query(set a) ");
    CHECK_INT(sb_con_reconnect(con), 0);
    CHECK_STR(logged(), "disconnect connect(0) query(set a) query(set b) ");
    opts.init_sql = "error";
    CHECK(open_con() == NULL);
    CHECK(strstr(ctx.err.msg, "--db-init-sql 'error': broken"));
    CHECK_STR(logged(), "connect(1) query(error) disconnect ");
    CHECK_INT(sb_con_reconnect(con), SB_EQUERY);
    CHECK_INT(state_of(con), SB__CON_AWAY);
    opts.init_sql = NULL;
    CHECK_INT(sb_con_reset(con), 0);
    CHECK_INT(state_of(con), SB__CON_OPEN);
    sb_db_ctx_done(&ctx);
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL - 1);
    RUN(opened_closed_freed);
    RUN(closed_with_its_children);
    RUN(dropped);
    RUN(left);
    RUN(refused);
    RUN(sessions);
    return check_done();
}
