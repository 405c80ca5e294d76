// SPDX-License-Identifier: GPL-2.0-or-later
//
// A user leaves a Lua state that others use, with a connection of a fake
// driver. tests/spec (connect, lifetime, loop, reconnect) tests the rest of
// connections.
#include "db/link.h"

#include "fake.h"

static int fake_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *values, const struct sb_conn_info *info, struct sb_err *err)
{
    note("connect(%llu) ", (unsigned long long)info->number);
    return 0;
}

// That the collector drops while a connection is closed, or NULL.
static struct sb_stmt_handle *dropped_meanwhile;

static void fake_disconnect(struct sb_conn *conn)
{
    note("disconnect ");
    sb_stmt_drop(dropped_meanwhile);
    dropped_meanwhile = NULL;
}

static const struct sb_generic_ops generic_ops = { .connect = fake_connect,
    .disconnect = fake_disconnect };

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

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL - 1);
    RUN(left);
    return check_done();
}
