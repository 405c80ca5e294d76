// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reconnecting, with a clock that advances only when the code waits.
#include "db/link.h"
#include "fake.h"

#define SECOND UINT64_C(1000000000)

static struct sb_stats stats;
static struct sb_rec *rec;
static int failing_attempts; // number of attempts to connect that fail
static bool lost_at_reset, canceled;

static int connect_fake(struct sb_conn *conn, struct sb_driver_env *env,
    const void *o, const struct sb_conn_info *info, struct sb_err *err)
{
    note("connect ");
    if (failing_attempts == 0)
        return 0;
    failing_attempts--;
    if (canceled && failing_attempts == 0)
        return sb_err_set(err, SB_ECANCELED, "canceled");
    return sb_err_native(err, SB_ECONNECT, 2002, "HY000", "no server");
}

static void disconnect_fake(struct sb_conn *conn)
{
}

static int reset_fake(struct sb_conn *conn, struct sb_err *err)
{
    note("reset ");
    return lost_at_reset ? sb_err_native(err, SB_ELOST, 2013, "HY000", "gone")
                         : 0;
}

static const struct sb_generic_ops generic = {
    .connect = connect_fake, .disconnect = disconnect_fake, .reset = reset_fake
};

static bool advance_clock(void *arg, uint64_t ns)
{
    fake.ns0 += ns;
    return true;
}

static void start_reconnect(void)
{
    drv.generic = &generic;
    CHECK_INT(sb_stats_init(&stats, 1, 1, false), 0);
    rec = &stats.rec[0];
    ctx.rec = &rec;
    memset(ctx.op, 0, sizeof(ctx.op));
    ctx.wait = advance_clock;
    lost_at_reset = canceled = false;
    failing_attempts = 0;
    start();
    sb__reconnect_often(&c);
}

static void finish_reconnect(void)
{
    finish();
    sb_stats_done(&stats);
    ctx.rec = &no_rec;
    opts = (struct sb_db_opts){ 0 };
}

// Returns the count of errors with this error number.
static uint64_t counted(int native)
{
    for (uint32_t i = 0; i < rec->ncodes; i++) {
        if (rec->codes[i].native == native)
            return rec->codes[i].count;
    }
    return 0;
}

static void next_event(void)
{
    sb_tally_add(&rec->tally.tries, 1);
}

static int statement(void)
{
    sb_con_query(&c.pub, "a", 1);
    return c.pub.error ? c.err.code : 0;
}

// Each failed attempt is counted, including the first.
static void failed_attempts_are_counted(void)
{
    for (int n = 0; n < 4; n++) {
        opts.reconnect = true;
        start_reconnect();
        CHECK(sb_con_query(&c.pub, "l", 1) == NULL);
        failing_attempts = n;
        CHECK_INT(sb_con_reset(&c.pub), 0);
        CHECK_INT(c.state, SB__CON_OPEN);
        CHECK_INT(counted(8), 1);
        CHECK_INT(counted(2002), n);
        CHECK_INT(rec->tally.reconnects, 1);
        finish_reconnect();
    }
}

static void reconnect_timeout_is_kept(void)
{
    uint64_t since = fake.ns0;

    opts.reconnect = true;
    opts.reconnect_timeout = 5 * (int64_t)SECOND;
    start_reconnect();
    sb_con_query(&c.pub, "l", 1);
    failing_attempts = 1000;
    CHECK_INT(sb_con_reset(&c.pub), SB_ELOST);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK(strstr(c.err.msg, "--db-reconnect-timeout") != NULL);
    CHECK(strstr(c.err.msg, "no server") != NULL);
    CHECK_INT(counted(2002), 1000 - failing_attempts);
    CHECK((fake.ns0 - since) / SECOND >= 5);
    CHECK((fake.ns0 - since) / SECOND < 7);
    finish_reconnect();
}

static bool is_late;

static bool late(void *arg)
{
    return is_late;
}

// Opens a connection as a script does. Returns the error.
static int open_new(void)
{
    struct sb_con *con = sb_con_open(&ctx, &db, NULL, NULL, 0);

    if (!con)
        return ctx.err.code;
    CHECK(!sb__con_lost((struct sb_con_priv *)con));
    sb_con_free(con);
    return 0;
}

// Users that come while the run is in progress wait as the others do; those of
// the start do not.
static void late_users_wait(void)
{
    ctx.late = late;
    db.base = (struct sb__inst){ .db = &db, .ready = true };
    start_reconnect();
    is_late = opts.reconnect = true;
    failing_attempts = 3;
    CHECK_INT(open_new(), 0);
    CHECK_INT(failing_attempts, 0);
    is_late = false;
    failing_attempts = 3;
    CHECK_INT(open_new(), SB_ECONNECT);
    CHECK_INT(failing_attempts, 2);
    is_late = true;
    opts.reconnect = false;
    CHECK_INT(open_new(), SB_ECONNECT);
    CHECK_INT(failing_attempts, 1);
    // The run ends.
    opts.reconnect = canceled = true;
    failing_attempts = 3;
    CHECK_INT(open_new(), SB_ECANCELED);
    canceled = false;
    opts.reconnect_timeout = 5 * (int64_t)SECOND;
    failing_attempts = 1000;
    CHECK_INT(open_new(), SB_ELOST);
    CHECK(strstr(ctx.err.msg, "--db-reconnect-timeout") != NULL);
    CHECK(strstr(ctx.err.msg, "no server") != NULL);
    failing_attempts = 0;
    CHECK_INT(open_new(), 0);
    ctx.late = NULL;
    free(ctx.idle_cons);
    ctx.idle_cons = NULL;
    finish_reconnect();
}

// The run ends during the n-th attempt to connect, which is not counted.
static void canceled_attempts(void)
{
    for (int n = 1; n < 4; n++) {
        opts.reconnect = true;
        opts.reconnect_timeout = 60 * (int64_t)SECOND;
        start_reconnect();
        sb_con_query(&c.pub, "l", 1);
        canceled = true;
        failing_attempts = n;
        CHECK_INT(sb_con_reset(&c.pub), 0);
        CHECK(sb__con_lost(&c));
        CHECK_INT(counted(2002), n - 1);
        CHECK_INT(rec->tally.reconnects, 0);
        finish_reconnect();
    }
}

// A connection is closed to be replaced, and the new one cannot be opened.
static void refresh_fails(bool by_time)
{
    uint64_t since;

    opts.reconnect = true;
    opts.reconnect_timeout = 5 * (int64_t)SECOND;
    if (by_time)
        opts.refresh_ns = (int64_t)SECOND;
    else
        opts.refresh_events = 1;
    start_reconnect();
    next_event();
    if (!by_time)
        CHECK_INT(statement(), 0);
    next_event();
    fake.ns0 += SECOND;
    failing_attempts = 1000;
    since = fake.ns0;
    CHECK_INT(statement(), SB_ERECONNECT);
    CHECK_INT(c.pub.error, SB_SQL_IGNORABLE);
    CHECK_INT(counted(2002), 1);
    CHECK_INT(sb_con_reset(&c.pub), SB_ELOST);
    CHECK(strstr(c.err.msg, "--db-reconnect-timeout") != NULL);
    CHECK_INT(counted(2002), 1000 - failing_attempts);
    CHECK((fake.ns0 - since) / SECOND >= 5);
    CHECK((fake.ns0 - since) / SECOND < 7);
    finish_reconnect();
}

static void timeout_after_a_refresh(void)
{
    refresh_fails(false);
    refresh_fails(true);
}

static void refresh_that_fails_once(void)
{
    opts.reconnect = true;
    opts.refresh_events = 1;
    start_reconnect();
    next_event();
    CHECK_INT(statement(), 0);
    next_event();
    failing_attempts = 1;
    CHECK_INT(statement(), SB_ERECONNECT);
    CHECK_INT(sb_con_reset(&c.pub), 0);
    CHECK_INT(statement(), 0);
    finish_reconnect();
}

// After the configured time the connection is replaced at the first statement
// of an event, not in the middle of one.
static void refresh_by_time(void)
{
    opts.refresh_ns = (int64_t)(10 * SECOND);
    start_reconnect();
    CHECK(c.refresh.at_ns >= fake.ns0 &&
          c.refresh.at_ns < fake.ns0 + 10 * SECOND);
    next_event();
    fake.ns0 = c.refresh.at_ns - 1;
    CHECK_INT(statement(), 0);
    CHECK_STR(logged(), "query(a) ");
    fake.ns0 += 1;
    CHECK_INT(statement(), 0);
    CHECK_STR(logged(), "query(a) "); // in the middle of an event
    next_event();
    CHECK_INT(statement(), 0);
    CHECK_INT(statement(), 0);
    CHECK_STR(logged(), "connect query(a) query(a) ");
    CHECK_INT(c.refresh.at_ns, fake.ns0 + 10 * SECOND);
    next_event();
    fake.ns0 += 10 * SECOND - 1;
    CHECK_INT(statement(), 0);
    CHECK_STR(logged(), "query(a) ");
    next_event();
    fake.ns0 += 1;
    CHECK_INT(statement(), 0);
    CHECK_STR(logged(), "connect query(a) ");
    CHECK_INT(rec->tally.reconnects, 2);
    finish_reconnect();
}

static bool keeps(const struct sb__child *k)
{
    return true;
}

// A load is open over several events.
static void no_refresh_while_a_child_keeps_the_connection(void)
{
    static const struct sb__child_ops ops = { .keeps = keeps };
    struct sb__child load = { .ops = &ops };

    opts.refresh_events = 1;
    start_reconnect();
    sb__child_add(&c, &load);
    for (int i = 0; i < 3; i++) {
        next_event();
        CHECK_INT(statement(), 0);
    }
    CHECK_STR(logged(), "query(a) query(a) query(a) ");
    sb__child_remove(&load);
    next_event();
    CHECK_INT(statement(), 0);
    CHECK_STR(logged(), "connect query(a) ");
    finish_reconnect();
}

// The ROLLBACK of a failed event is the first statement to detect the loss.
static void lost_at_rollback(void)
{
    opts.reconnect = true;
    start_reconnect();
    lost_at_reset = true;
    failing_attempts = 2;
    CHECK_INT(sb_con_reset(&c.pub), 0);
    CHECK_STR(logged(), "reset connect connect connect query(SELECT 1) ");
    CHECK_INT(c.state, SB__CON_OPEN);
    CHECK_INT(counted(2013), 1);
    CHECK_INT(counted(2002), 2);
    CHECK_INT(rec->tally.reconnects, 1);
    CHECK_INT(statement(), 0);
    finish_reconnect();
}

static void lost_at_rollback_without_reconnect(void)
{
    start_reconnect();
    lost_at_reset = true;
    CHECK_INT(sb_con_reset(&c.pub), SB_ELOST);
    CHECK_STR(logged(), "reset ");
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_INT(counted(2013), 1);
    CHECK(sb__con_lost(&c));
    finish_reconnect();
}

CHECK_FILE
{
    RUN(late_users_wait);
    sb_log_set_level(-1);
    RUN(failed_attempts_are_counted);
    RUN(reconnect_timeout_is_kept);
    RUN(canceled_attempts);
    RUN(timeout_after_a_refresh);
    RUN(refresh_that_fails_once);
    RUN(refresh_by_time);
    RUN(no_refresh_while_a_child_keeps_the_connection);
    RUN(lost_at_rollback);
    RUN(lost_at_rollback_without_reconnect);
    return check_done();
}
