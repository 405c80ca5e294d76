// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/settle.h"

#include <math.h>

#include "fake_server.h"

static struct sb_err err;
static struct sb_db_opts db_opts = { .driver = "fake" };
static char said[2000], order[200];
static double dirty, cache;
static int answer; // to the operations for the table "b"

static int inspect(
    struct sb_conn *conn, const struct sb_inspect_sink *to, struct sb_err *e)
{
    // Nothing is to be done for the first one.
    const struct sb_table_facts table[] = {
        { .name = "a", .analyzed = 1, .bytes = 60 },
        { .name = "b", .analyzed = 1, .changed = 7, .bytes = 50 },
        { .name = "c", .analyzed = 1, .dead = NAN, .bytes = 30 },
    };

    if (to->parts >> SB_PART_CACHE & 1)
        to->fact(to->arg, SB_FACT_CACHE_BYTES, cache);
    if (to->parts >> SB_PART_DEBT & 1) {
        to->fact(to->arg, SB_FACT_DIRTY_BYTES, dirty);
        dirty = fake_upkeep.rush ? NAN : dirty / 100;
    }
    for (int i = 0; to->parts >> SB_PART_SIZE & 1 && i < 3; i++)
        to->table(to->arg, &table[i]);
    return 0;
}

static int note(const char *what, const char *table, struct sb_err *e)
{
    size_t used = strlen(order);

    snprintf(
        order + used, sizeof(order) - used, "%s%s ", what, table ? table : "");
    if (answer && table && strcmp(table, "b") == 0)
        return sb_err_set(e, answer, "not yours");
    return 0;
}

static int analyze(struct sb_conn *conn, const char *table, struct sb_err *e)
{
    return note("A", table, e);
}

static int write_table(
    struct sb_conn *conn, const char *table, struct sb_err *e)
{
    return note("W", table, e);
}

static int checkpoint(struct sb_conn *conn, const char *table, struct sb_err *e)
{
    note("C", table, e);
    return sb_err_set(e, SB_EQUERY, "not allowed");
}

static int hang(struct sb_conn *conn, const char *table, struct sb_err *e)
{
    while (!((struct fake_conn *)conn)->canceled)
        nap();
    return sb_err_set(e, SB_ECANCELED, "canceled");
}

static int prewarm(struct sb_conn *conn, const char *table, struct sb_err *e)
{
    int rc = note("P", table, e);

    if (rc == 0)
        snprintf(e->msg, sizeof(e->msg), "without indexes");
    return rc;
}

static int rush(struct sb_conn *conn, char *undo, size_t size, struct sb_err *e)
{
    note("R", NULL, e);
    snprintf(undo, size, "UNDO");
    return 0;
}

// The server is gone.
static int relax(struct sb_conn *conn, const char *undo, struct sb_err *e)
{
    note(undo, NULL, e);
    mode = REFUSES;
    return sb_err_set(e, SB_ELOST, "gone");
}

static void take(void *arg, const struct sb_settle_step *s)
{
    size_t used = strlen(said);

    CHECK(s->seconds >= 0);
    snprintf(said + used, sizeof(said) - used, "%s%s%s%s: %s\n",
        s->failed ? "!" : "", s->name, *s->server ? " " : "", s->server,
        s->text);
}

static void start(void)
{
    begin();
    owner.opts = &db_opts;
    fake_info.inspect = inspect;
    fake_upkeep = (struct sb_upkeep_ops){ .analyze = analyze };
    said[0] = order[0] = '\0';
    dirty = answer = 0;
    cache = 100;
}

static void settle(const char *limit, bool prewarms)
{
    const struct sb_settle_opts o = { limit, prewarms };

    sb_settle(&owner, &o, NULL, take, NULL);
}

static void limits(void)
{
    struct sb_settle_opts o = { "off", false };
    uint64_t ns = 1;

    CHECK_INT(sb_settle_limit(&o, &ns, &err), 0);
    CHECK_INT(ns, 0);
    o.settle = "on";
    CHECK_INT(sb_settle_limit(&o, &ns, &err), 0);
    CHECK_INT(ns, 60000000000);
    o.settle = "1.5";
    CHECK_INT(sb_settle_limit(&o, &ns, &err), 0);
    CHECK_INT(ns, 1500000000);
    o.settle = "soon";
    CHECK_INT(sb_settle_limit(&o, &ns, &err), SB_EUSAGE);
    CHECK_STR(
        err.msg, "--settle: 'soon' is neither on, off nor a time such as 30s");
    o.settle = "0s";
    CHECK_INT(sb_settle_limit(&o, &ns, &err), SB_EUSAGE);
}

static void steps_in_order(void)
{
    start();
    fake_upkeep.vacuums = true;
    fake_upkeep.write = write_table;
    fake_upkeep.checkpoint = checkpoint;
    dirty = 300e6;
    settle("20s", false);
    CHECK_STR(order, "Ab Ac Wa Wb Wc C ");
    CHECK_STR(said, "analyze: vacuumed and analyzed 2 tables\n"
                    "write: wrote 3 tables to disk\n"
                    "!checkpoint: no checkpoint was made: not allowed\n"
                    "wait: waited for dirty pages: 300 MB, then 0.03 MB\n");
    CHECK_INT(connects, 1);
    end();
}

static void refusals(void)
{
    start();
    answer = SB_EQUERY;
    settle("20s", false);
    CHECK_STR(said, "analyze: analyzed 1 table\n"
                    "!analyze: 1 table was not analyzed: not yours\n");
    end();
    start();
    answer = SB_ELOST;
    settle("20s", true);
    CHECK_STR(order, "Ab ");
    CHECK_STR(said, "!settle: not yours\n");
    end();
    start();
    mode = REFUSES;
    settle("20s", true);
    CHECK_STR(said, "!settle: refused\n");
    end();
}

static void the_limit_ends_a_call(void)
{
    start();
    fake_upkeep.checkpoint = hang;
    fake_upkeep.prewarm = prewarm;
    settle("50ms", true);
    CHECK_STR(said,
        "analyze: analyzed 2 tables\n"
        "!settle: the time limit was reached\n"
        "prewarm: read 2 tables (9e-05 MB) into the cache\n"
        "!prewarm: without indexes\n"
        "!prewarm: 1 table was not read, because the cache (0.0001 MB) is too "
        "small\n");
    CHECK_INT(connects, 2);
    end();
}

// The server dies before its setting is set back.
static void lost_before_the_end(void)
{
    start();
    fake_upkeep.prewarm = prewarm;
    fake_upkeep.rush = rush;
    fake_upkeep.relax = relax;
    dirty = 300e6;
    settle("20s", true);
    CHECK_STR(order, "Ab Ac R UNDO ");
    CHECK_STR(said, "analyze: analyzed 2 tables\n"
                    "!wait: waited for dirty pages: 300 MB, then 300 MB, which "
                    "the server keeps\n"
                    "!settle: refused\n");
    end();
}

static void tables_that_fit(void)
{
    start();
    fake_upkeep.prewarm = prewarm;
    settle("off", true);
    CHECK_STR(order, "Pa Pc ");
    end();
    start();
    fake_upkeep.prewarm = prewarm;
    cache = NAN; // unknown
    answer = SB_EQUERY;
    settle("off", true);
    CHECK_STR(order, "Pa Pb Pc ");
    CHECK(strstr(said, "!prewarm: 1 table was not read: not yours\n") != NULL);
    end();
    start();
    fake_upkeep.no_prewarm = "it has no cache";
    settle("off", true);
    CHECK_STR(said, "!prewarm: no table was read: it has no cache\n");
    end();
}

static void every_server(void)
{
    start();
    places = 2;
    settle("20s", false);
    CHECK_STR(order, "Ab Ac Ab Ac ");
    CHECK_STR(said, "analyze 10.0.0.0:1: analyzed 2 tables\n"
                    "analyze 10.0.0.1:1: analyzed 2 tables\n");
    end();
    start();
    db_opts.driver = "";
    settle("20s", false);
    CHECK_STR(said,
        "!settle: no database is known before the users connect; --db-driver "
        "selects one\n");
    db_opts.driver = "fake";
    end();
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL);
    RUN(limits);
    RUN(steps_in_order);
    RUN(refusals);
    RUN(the_limit_ends_a_call);
    RUN(lost_before_the_end);
    RUN(tables_that_fit);
    RUN(every_server);
    return check_done();
}
