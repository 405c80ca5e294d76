// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared loaders of a fake driver whose server may not answer a connect.
#include <stdatomic.h>
#include <time.h>

#include "db/load/load_private.h"

#include "fake.h"

static _Atomic bool hangs;
static _Atomic unsigned connecting, connected, cancels, disconnects;

struct fake_conn {
    _Atomic bool canceled;
};

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static int fake_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *values, const struct sb_conn_info *info, struct sb_err *err)
{
    struct fake_conn *f = (struct fake_conn *)conn;

    connecting++;
    while (hangs && !f->canceled)
        nap();
    connecting--;
    if (f->canceled)
        return sb_err_set(err, SB_ECANCELED, "canceled");
    connected++;
    return 0;
}

static void fake_disconnect(struct sb_conn *conn)
{
    disconnects++;
}

static void fake_cancel(struct sb_conn *conn)
{
    cancels++;
    ((struct fake_conn *)conn)->canceled = true;
}

static int bulk_begin(struct sb_conn *conn, const char *table,
    const char *columns, uint32_t ncolumns, struct sb_err *err)
{
    return 0;
}

static int bulk_rows(struct sb_conn *conn, const struct sb_value *values,
    uint32_t nrows, struct sb_err *err)
{
    return 0;
}

static int bulk_end(struct sb_conn *conn, bool commit, struct sb_err *err)
{
    return 0;
}

static const struct sb_generic_ops feed_generic = { .connect = fake_connect,
    .disconnect = fake_disconnect,
    .cancel = fake_cancel };
static const struct sb_bulk_ops feed_bulk = { bulk_begin, bulk_rows, bulk_end,
    NULL };

// A user in a thread of its own, who loads into a table.
struct user {
    struct sb_db_ctx ctx;
    struct sb_con_priv con;
    const char *table;
    pthread_t thread;
    _Atomic bool done;
    int rc;
};

static void *load(void *arg)
{
    struct user *u = arg;
    struct sb_load *ld = sb_load_open(&u->con.pub, u->table, "id");

    u->rc = ld ? sb_load_int(ld, 1) : u->con.err.code;
    if (ld && u->rc == 0)
        u->rc = sb_load_close(ld, 1);
    u->done = true;
    return NULL;
}

static void begin_user(struct user *u, const char *table)
{
    *u = (struct user){ .table = table };
    pthread_mutex_init(&u->ctx.lock, NULL);
    u->ctx.clock = &fake;
    u->ctx.rec = &no_rec;
    u->con = (struct sb_con_priv){ .ctx = &u->ctx,
        .inst = &inst,
        .drv = &drv,
        .sql = &sql_ops,
        .conn = (struct sb_conn *)own,
        .state = SB__CON_OPEN,
        .pub = { .sql_state = "", .sql_errmsg = "" } };
    u->ctx.cons = &u->con;
    pthread_create(&u->thread, NULL, load, u);
}

static bool is_done(const struct user *u, int ms)
{
    while (!u->done && ms-- > 0)
        nap();
    return u->done;
}

static int end_user(struct user *u)
{
    pthread_join(u->thread, NULL);
    CHECK(!u->con.cancelables);
    free(u->con.failed_sql);
    pthread_mutex_destroy(&u->ctx.lock);
    return u->rc;
}

static void start_feeds(bool cancel_connect)
{
    start();
    pthread_mutex_init(&owner.feed_lock, NULL);
    drv.generic = &feed_generic;
    drv.bulk = &feed_bulk;
    drv.conn_size = sizeof(struct fake_conn);
    drv.caps = SB_CAP_ONE_LOADER | (cancel_connect ? SB_CAP_CANCEL_CONNECT : 0);
    hangs = true;
    connecting = connected = cancels = disconnects = 0;
}

static void finish_feeds(void)
{
    CHECK(!inst.feeds);
    pthread_mutex_destroy(&owner.feed_lock);
    drv.caps = 0;
    finish();
}

static void wait_for(const _Atomic unsigned *n, unsigned want)
{
    for (int i = 0; *n != want && i < 5000; i++)
        nap();
    CHECK_INT(*n, want);
}

static void a_connect_is_canceled(void)
{
    struct user u;

    start_feeds(true);
    begin_user(&u, "t");
    wait_for(&connecting, 1);
    CHECK(!is_done(&u, 20));
    sb_db_ctx_cancel(&u.ctx);
    CHECK(is_done(&u, 5000));
    hangs = false; // for an unfixed loader
    CHECK_INT(end_user(&u), SB_ECANCELED);
    CHECK_INT(cancels, 1);
    CHECK_INT(disconnects, 1);
    finish_feeds();
}

static void a_driver_that_cannot_cancel_a_connect(void)
{
    struct user u;

    start_feeds(false);
    begin_user(&u, "t");
    wait_for(&connecting, 1);
    sb_db_ctx_cancel(&u.ctx);
    CHECK(!is_done(&u, 20));
    CHECK_INT(cancels, 0);
    hangs = false;
    CHECK_INT(end_user(&u), 0);
    finish_feeds();
}

// The server of one table hangs; another table has a connection of its own.
static void other_tables_do_not_wait(void)
{
    struct user a, b;

    start_feeds(true);
    begin_user(&a, "a");
    wait_for(&connecting, 1);
    begin_user(&b, "b");
    wait_for(&connecting, 2);
    sb_db_ctx_cancel(&b.ctx);
    CHECK(is_done(&b, 5000));
    CHECK(!a.done);
    hangs = false;
    CHECK_INT(end_user(&b), SB_ECANCELED);
    CHECK_INT(end_user(&a), 0);
    finish_feeds();
}

// Two users need the same loader: one connects, and each ends by its own
// cancel.
static void one_waits_for_the_other(void)
{
    struct user a, b;

    start_feeds(true);
    begin_user(&a, "t");
    wait_for(&connecting, 1);
    begin_user(&b, "t");
    CHECK(!is_done(&b, 50));
    CHECK_INT(connecting, 1);
    sb_db_ctx_cancel(&b.ctx);
    CHECK(is_done(&b, 5000));
    CHECK_INT(cancels, 0); // the connect goes on
    CHECK(!a.done);
    hangs = false;
    CHECK_INT(end_user(&b), SB_ECANCELED);
    CHECK_INT(end_user(&a), 0);
    CHECK_INT(connected, 1);
    finish_feeds();
}

// After a connect that was canceled, the user that waits connects.
static void the_next_one_connects(void)
{
    struct user a, b;

    start_feeds(true);
    begin_user(&a, "t");
    wait_for(&connecting, 1);
    begin_user(&b, "t");
    CHECK(!is_done(&b, 50));
    sb_db_ctx_cancel(&a.ctx);
    CHECK(is_done(&a, 5000));
    wait_for(&connecting, 1);
    hangs = false;
    CHECK_INT(end_user(&a), SB_ECANCELED);
    CHECK_INT(end_user(&b), 0);
    CHECK_INT(connected, 1);
    CHECK_INT(disconnects, 2);
    finish_feeds();
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL - 1);
    RUN(a_connect_is_canceled);
    RUN(a_driver_that_cannot_cancel_a_connect);
    RUN(other_tables_do_not_wait);
    RUN(one_waits_for_the_other);
    RUN(the_next_one_connects);
    return check_done();
}
