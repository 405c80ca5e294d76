// SPDX-License-Identifier: GPL-2.0-or-later
//
// The database layer over the null and sqlite modules of the build tree.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "db/internal.h"

static char modules[4096], folder[] = "/tmp/test_loader.XXXXXX";

// What a program has: a registry, drivers, a recorder, one user.
struct world {
    struct sb_opts *o;
    struct sb_db_opts opts;
    struct sb_drivers *d;
    struct sb_stats stats;
    struct sb_rec *rec;
    struct sb_clock clock;
    struct sb_db_ctx ctx;
    struct sb_err err;
};

// args: options, space-separated.
static void world_init(struct world *w, const char *args)
{
    char *argv[16] = { (char *)"test" }, *save = NULL;
    static char text[512]; // the registry keeps pointers into it
    int argc = 1;

    memset(w, 0, sizeof(*w));
    snprintf(text, sizeof(text), "%s", args);
    for (char *a = strtok_r(text, " ", &save); a;
         a = strtok_r(NULL, " ", &save))
        argv[argc++] = a;
    w->o = sb_opts_new();
    CHECK(sb_opts_argv(w->o, argc, argv, &w->err) == 0);
    CHECK(sb_opts_add(w->o, &sb_db_opt_table, &w->opts, &w->err) == 0);
    w->d = sb_drivers_new(modules, w->o, &w->opts);
    CHECK(sb_stats_init(&w->stats, 2, false) == 0);
    w->rec = &w->stats.rec[0];
    sb_clock_init(&w->clock);
    sb_db_ctx_init(&w->ctx, w->d, &w->rec, &w->clock, 0, 1);
}

static void world_done(struct world *w)
{
    sb_db_ctx_done(&w->ctx);
    sb_drivers_free(w->d);
    sb_stats_done(&w->stats);
    sb_opts_free(w->o);
}

static struct sb_con *world_connect(struct world *w)
{
    struct sb_db *db;
    struct sb_con *con = NULL;

    CHECK(sb_drivers_claim(w->d, &w->err) == 0);
    db = sb_db_get(&w->ctx, NULL);
    if (db)
        con = sb_con_open(&w->ctx, db, NULL, NULL, 0);
    CHECK_STR(sb_db_error(&w->ctx), "");
    CHECK(con != NULL);
    return con;
}

static struct sb_rs *run(struct sb_con *con, const char *sql)
{
    return sb_con_query(con, sql, strlen(sql));
}

// First cell of the first row, "" for none.
static const char *one(struct sb_con *con, const char *sql)
{
    static char out[256];
    struct sb_sql_cell cell[8];
    struct sb_rs *rs = run(con, sql);

    out[0] = '\0';
    if (rs && rs->nrows && sb_rs_fetch(rs, cell) == 1 && cell[0].s)
        snprintf(out, sizeof(out), "%.*s", (int)cell[0].len, cell[0].s);
    if (rs)
        sb_rs_free(rs);
    return out;
}

static uint64_t count_of(const struct world *w, const char *op)
{
    for (unsigned i = 0; i < w->stats.nops; i++) {
        if (strcmp(w->stats.op[i].name, op) == 0)
            return w->rec->ops[i].count;
    }
    return UINT64_MAX;
}

// Broken drivers -------------------------------------------------------------

static int ok_connect(struct sb_conn *c, struct sb_driver_env *e, const void *o,
    const struct sb_conn_info *i, struct sb_err *err)
{
    return 0;
}
static void ok_disconnect(struct sb_conn *c)
{
}
static int ok_query(struct sb_conn *c, const char *s, size_t n,
    struct sb_result *r, struct sb_err *e)
{
    return 0;
}
static int ok_prepare(struct sb_conn *c, struct sb_stmt *st, const char *s,
    size_t n, uint32_t *p, struct sb_err *e)
{
    return 0;
}
static int ok_fetch(
    struct sb_conn *c, struct sb_result *r, struct sb_cell *l, struct sb_err *e)
{
    return 0;
}
static const char *ok_column(struct sb_conn *c, struct sb_result *r, uint32_t i)
{
    return NULL;
}
static void ok_free(struct sb_conn *c, struct sb_result *r)
{
}

static struct sb_generic_ops generic;
static struct sb_sql_ops sql;
static struct sb_driver driver;

static void whole_driver(void)
{
    generic = (struct sb_generic_ops){ .connect = ok_connect,
        .disconnect = ok_disconnect };
    sql = (struct sb_sql_ops){ .query = ok_query,
        .fetch = ok_fetch,
        .column = ok_column,
        .free_result = ok_free };
    driver = (struct sb_driver){ .abi = SB_DRIVER_ABI,
        .name = "x",
        .title = "an x",
        .dialect = "x",
        .conn_size = 1,
        .generic = &generic,
        .sql = &sql };
}

static const char *verdict(void)
{
    static struct sb_err err;

    sb_err_clear(&err);
    if (sb__driver_check(&driver, "x", "/lib/x.so", &err) == 0)
        return "";
    CHECK(err.code == SB_EDRIVER && strstr(err.msg, "'x' (/lib/x.so)"));
    return err.msg;
}

static void broken_drivers_are_refused(void)
{
    static const struct sb_opt stray[] = {
        { .name = "y-host", .type = SB_OPT_STRING }, { 0 }
    };
    static const struct sb_opt_table table = { "X", stray };

    whole_driver();
    CHECK_STR(verdict(), "");
    driver.abi = 99;
    CHECK(strstr(verdict(), "interface 99"));
    whole_driver();
    driver.name = "z";
    CHECK(strstr(verdict(), "calls itself 'z'"));
    whole_driver();
    generic.connect = NULL;
    CHECK(strstr(verdict(), "connect and disconnect"));
    whole_driver();
    sql.fetch = NULL;
    CHECK(strstr(verdict(), "query, fetch"));
    whole_driver();
    sql.prepare = ok_prepare;
    CHECK(strstr(verdict(), "come together"));
    whole_driver();
    driver.caps = SB_CAP_ONE_LOADER;
    CHECK(strstr(verdict(), "need bulk operations"));
    whole_driver();
    driver.caps = 1u << 31;
    CHECK(strstr(verdict(), "capability bits"));
    whole_driver();
    driver.opts = &table;
    driver.opts_size = 64;
    CHECK(strstr(verdict(), "does not begin with"));
    whole_driver();
    driver.conn_size = 0;
    CHECK(strstr(verdict(), "conn_size"));
}

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
    world_done(&w);
    world_init(&w, "--null-rows=3 --sqlite-db=x");
    CHECK(sb_drivers_claim(w.d, &w.err) == 0);
    CHECK(sb_db_get(&w.ctx, NULL) == NULL);
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
    // An UPDATE that changed nothing is no write.
    sb__count_result(w.rec, &(struct sb_result){ .kind = SB_RESULT_WRITE });
    CHECK_INT(w.rec->tally.writes, 1);
    CHECK_INT(w.rec->tally.others, 3);
    CHECK(sb_drivers_used(w.d));
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
    // A connection that goes first leaves its statements harmless.
    sb_con_free(con);
    CHECK(sb_stmt_execute(a) == NULL);
    sb_stmt_free(a);
    sb_stmt_free(b);
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

static void *cancel_soon(void *arg)
{
    struct world *w = arg;

    // Until it returns: a cancel that comes before the call is nothing.
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

// SQLite ---------------------------------------------------------------------

static void sqlite_world(struct world *w, const char *more)
{
    char args[512];

    snprintf(args, sizeof(args), "--db-driver=sqlite --sqlite-db=%s/db %s",
        folder, more);
    world_init(w, args);
}

static void sqlite_results(void)
{
    struct world w;
    struct sb_con *con;
    struct sb_sql_cell cell[3];
    struct sb_rs *rs;

    sqlite_world(&w, "");
    con = world_connect(&w);
    CHECK(run(con, "SELECT * FROM t") == NULL);
    CHECK_STR(con->sql_state, "42S02");
    CHECK(strstr(con->sql_errmsg, "prepare"));
    run(con, "CREATE TABLE t(id INTEGER PRIMARY KEY, c TEXT, b BLOB)");
    CHECK_INT(con->error, SB_SQL_NONE);
    run(con, "INSERT INTO t VALUES (1,'a',NULL),(2,'',x'00ff')");
    CHECK_NEAR(sb_con_affected(con), 2, 0);
    run(con, "CREATE INDEX i ON t(c)");
    CHECK_NEAR(sb_con_affected(con), 0, 0);
    run(con, "BEGIN IMMEDIATE; UPDATE t SET c='x' WHERE id=1; COMMIT");
    CHECK_NEAR(sb_con_affected(con), 1, 0);
    sb_con_query(con, "-- nothing\n;\0", 13);
    CHECK_INT(con->error, SB_SQL_NONE);
    run(con, "UPDATE t SET c='x' WHERE id=77");
    CHECK_NEAR(sb_con_affected(con), 0, 0);
    CHECK_INT(w.rec->tally.writes, 2);
    rs = run(con, "SELECT id, c, b FROM t ORDER BY id");
    CHECK_INT(rs->nrows, 2);
    CHECK_STR(sb_rs_column(rs, 2), "b");
    CHECK(sb_rs_column(rs, 3) == NULL);
    CHECK(sb_rs_fetch(rs, cell) == 1 && cell[1].len == 1 && !cell[2].s);
    CHECK(sb_rs_fetch(rs, cell) == 1 && cell[1].s && cell[1].len == 0);
    CHECK(cell[2].len == 2 && memcmp(cell[2].s, "\0\xff", 2) == 0);
    CHECK_INT(sb_rs_fetch(rs, cell), 0);
    run(con, "INSERT INTO t VALUES (1,'a',NULL)");
    CHECK_INT(con->error, SB_SQL_FATAL);
    CHECK_STR(con->sql_state, "23505");
    CHECK_INT(sb_rs_fetch(rs, cell), SB_EUSAGE);
    CHECK_STR(one(con, "PRAGMA journal_mode"), "wal");
    run(con, "DROP TABLE t");
    world_done(&w);
}

// Both ways to run a statement, with the same values.
static void sqlite_statements(const char *mode)
{
    static const char insert[] = "INSERT INTO p VALUES (?,?,?,?)";
    static const char select[] = "SELECT group_concat(quote(a)||quote(b)||"
                                 "quote(c)||quote(d), '?') FROM p WHERE a=?";
    struct world w;
    struct sb_con *con;
    struct sb_stmt_handle *in, *out;
    struct sb_param *p[4];
    struct sb_sql_cell cell;
    struct sb_rs *rs;

    sqlite_world(&w, mode);
    con = world_connect(&w);
    run(con, "CREATE TABLE p(a INTEGER, b DOUBLE, c TEXT, d BLOB)");
    in = sb_stmt_open(con, insert, strlen(insert), NULL);
    p[0] = sb_stmt_param(in, SB_SQL_TYPE_BIGINT, 0);
    p[1] = sb_stmt_param(in, SB_SQL_TYPE_DOUBLE, 0);
    p[2] = sb_stmt_param(in, SB_SQL_TYPE_VARCHAR, 5);
    p[3] = sb_stmt_param(in, SB_SQL_TYPE_BLOB, 5);
    CHECK_INT(sb_stmt_bind(in, p, 4), 0);
    p[0]->is_null = p[1]->is_null = p[2]->is_null = 0;
    p[0]->i = -5;
    p[1]->d = 0.25;
    memcpy(p[2]->buffer, "it's?", 5);
    p[2]->data_len = 9; // more than there is room for
    CHECK(sb_stmt_execute(in) == NULL);
    CHECK_NEAR(sb_con_affected(con), 1, 0);
    out = sb_stmt_open(con, select, strlen(select), NULL);
    CHECK_INT(sb_stmt_bind(out, p, 1), 0);
    rs = sb_stmt_execute(out);
    CHECK(rs && rs->statement == out && sb_rs_fetch(rs, &cell) == 1);
    CHECK(
        rs && cell.len == 18 && memcmp(cell.s, "-50.25'it''s?'NULL", 18) == 0);
    run(con, "DROP TABLE p");
    sb_stmt_free(in);
    sb_stmt_free(out);
    world_done(&w);
}

static void sqlite_prepared(void)
{
    sqlite_statements("");
}

static void sqlite_emulated(void)
{
    sqlite_statements("--db-ps-mode=disable");
}

static void sqlite_busy_restarts(void)
{
    struct world w;
    struct sb_con *a, *b;

    sqlite_world(&w, "--sqlite-busy-timeout=0");
    a = world_connect(&w);
    b = world_connect(&w);
    run(a, "CREATE TABLE IF NOT EXISTS q(x)");
    run(a, "BEGIN IMMEDIATE");
    run(a, "INSERT INTO q VALUES (1)");
    run(b, "BEGIN IMMEDIATE");
    CHECK_INT(b->error, SB_SQL_IGNORABLE);
    CHECK_STR(b->sql_state, "40001");
    CHECK_INT(sb_con_reset(a), 0);
    run(b, "BEGIN IMMEDIATE");
    CHECK_INT(b->error, SB_SQL_NONE);
    CHECK_STR(one(b, "SELECT count(*) FROM q"), "0");
    run(b, "COMMIT");
    run(b, "DROP TABLE q");
    world_done(&w);
}

static void memory_is_shared(void)
{
    struct world w;
    struct sb_con *a, *b;

    world_init(&w, "--sqlite-db=:memory:");
    a = world_connect(&w);
    b = world_connect(&w);
    run(a, "CREATE TABLE m(x)");
    run(a, "INSERT INTO m VALUES (42)");
    CHECK_STR(one(b, "SELECT x FROM m"), "42");
    world_done(&w);
}

static void reading_leaves_no_file(void)
{
    char args[128], file[64];
    struct world w;
    struct sb_con *con;

    snprintf(file, sizeof(file), "%s/none", folder);
    snprintf(args, sizeof(args), "--sqlite-db=%s", file);
    world_init(&w, args);
    con = world_connect(&w);
    CHECK(run(con, "SELECT * FROM t") == NULL);
    world_done(&w);
    CHECK(access(file, F_OK) != 0);
}

// Loading
// ----------------------------------------------------------------------

static int load_rows(
    struct sb_con *con, const char *table, int from, int n, int commit)
{
    struct sb_load *ld = sb_load_open(con, table, "id,c,d,e");

    if (!ld)
        return sb_con_err(con)->code;
    for (int i = from; i < from + n; i++) {
        char *room;

        sb_load_int(ld, i);
        room = sb_load_room(ld, 120);
        if (room)
            memset(room, 'a' + i % 26, 120);
        sb_load_text(ld, "o'clock", 7);
        sb_load_null(ld);
    }
    return sb_load_close(ld, commit);
}

struct feeder {
    struct world *w;
    struct sb_db *db;
    int number, rc;
    pthread_t thread;
};

static void *feed(void *arg)
{
    struct feeder *f = arg;
    struct sb_db_ctx ctx;
    struct sb_con *con;

    sb_db_ctx_init(&ctx, f->w->d, NULL, &f->w->clock, 9, 1);
    con = sb_con_open(&ctx, f->db, NULL, NULL, 0);
    f->rc = load_rows(
        con, f->number % 2 ? "l1" : "l2", f->number * 10000, 3500, 1);
    sb_db_ctx_done(&ctx);
    return NULL;
}

static void many_threads_load(void)
{
    struct feeder f[4] = { { 0 } };
    struct world w;
    struct sb_con *con;

    sqlite_world(&w, "");
    con = world_connect(&w);
    run(con, "CREATE TABLE l1(id INTEGER PRIMARY KEY, c TEXT, d TEXT, e)");
    run(con, "CREATE TABLE l2(id INTEGER PRIMARY KEY, c TEXT, d TEXT, e)");
    for (int i = 0; i < 4; i++) {
        f[i] = (struct feeder){ .w = &w, .db = con->driver, .number = i };
        pthread_create(&f[i].thread, NULL, feed, &f[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(f[i].thread, NULL);
        CHECK_INT(f[i].rc, 0);
    }
    CHECK_STR(one(con, "SELECT count(*)||'/'||min(length(c))||'/'||max(d) "
                       "FROM l1 WHERE e IS NULL"),
        "7000/120/o'clock");
    CHECK_STR(one(con, "SELECT substr(c,7,1) FROM l2 WHERE id=20027"), "h");
    world_done(&w);
}

static void failed_load_keeps_nothing(void)
{
    struct world w;
    struct sb_con *a, *b;
    struct sb_load *ld;
    int rc = 0;

    sqlite_world(&w, "");
    a = world_connect(&w);
    b = world_connect(&w);
    run(a, "CREATE TABLE f(id INTEGER PRIMARY KEY, c TEXT, d TEXT, e)");
    CHECK_INT(load_rows(a, "f", 0, 10, 1), 0);
    CHECK_INT(load_rows(a, "f", 100, 2500, 0), 0);
    CHECK_STR(one(a, "SELECT count(*) FROM f"), "10");
    // Two who feed: the second one's duplicate undoes the first one's rows,
    // and both are told.
    ld = sb_load_open(b, "f", "id,c,d,e");
    for (int i = 0; i < 2500; i++) {
        rc |= sb_load_int(ld, 5000 + i) | sb_load_int(ld, i);
        rc |= sb_load_null(ld) | sb_load_null(ld);
    }
    CHECK_INT(rc, 0);
    CHECK_INT(load_rows(a, "f", 5, 1, 1), SB_EQUERY);
    CHECK_INT(sb_load_close(ld, 1), SB_EQUERY);
    CHECK_INT(b->error, SB_SQL_FATAL);
    CHECK(strstr(b->sql_errmsg, "UNIQUE"));
    CHECK_STR(one(a, "SELECT count(*) FROM f"), "10");
    // The failure is over with those who met it.
    CHECK_INT(load_rows(a, "f", 20, 1, 1), 0);
    CHECK_INT(load_rows(a, "nosuch", 5, 1, 1), SB_EQUERY);
    CHECK_INT(w.rec->tally.err_ignored + w.rec->open_errors, 2);
    world_done(&w);
}

static void loading_without_bulk(void)
{
    struct world w;
    struct sb_con *con;

    world_init(&w, "--null-bulk=off");
    con = world_connect(&w);
    CHECK_INT(load_rows(con, "t", 0, 2500, 1), 0);
    CHECK_INT(w.rec->tally.writes, 3);
    CHECK_INT(count_of(&w, "insert"), 3);
    world_done(&w);
    world_init(&w, "--null-bulk=on");
    con = world_connect(&w);
    CHECK_INT(load_rows(con, "t", 0, 2500, 1), 0);
    CHECK_INT(w.rec->tally.writes, 0);
    CHECK(run(con, "SELECT 1") != NULL);
    world_done(&w);
}

static void classic_bulk_insert(void)
{
    struct world w;
    struct sb_con *con;
    static char row[300000];

    world_init(&w, "--db-driver=null");
    con = world_connect(&w);
    memset(row, 'x', sizeof(row));
    CHECK_INT(sb_con_bulk_next(con, "(1)", 3), SB_EUSAGE);
    CHECK_INT(sb_con_bulk_init(con, "INSERT INTO t VALUES", 20), 0);
    CHECK_INT(sb_con_bulk_next(con, row, sizeof(row)), 0);
    CHECK_INT(w.rec->tally.writes, 0);
    CHECK_INT(sb_con_bulk_next(con, row, sizeof(row)), 0);
    CHECK_INT(w.rec->tally.writes, 1);
    CHECK_INT(sb_con_bulk_done(con), 0);
    CHECK_INT(w.rec->tally.writes, 2);
    CHECK_INT(sb_con_bulk_done(con), SB_EUSAGE);
    world_done(&w);
}

static bool find_modules(void)
{
    const char *dir = getenv("SYSBENCH_DRIVER_DIR");
    const char *build = getenv("SB_BUILDDIR");
    char file[4200];

    if (dir && *dir)
        snprintf(modules, sizeof(modules), "%s", dir);
    else
        snprintf(modules, sizeof(modules), "%s/src/drivers/.libs",
            build && *build ? build : ".");
    snprintf(file, sizeof(file), "%s/null.so", modules);
    return access(file, F_OK) == 0;
}

static bool has_sqlite(void)
{
    char file[4200];

    snprintf(file, sizeof(file), "%s/sqlite.so", modules);
    return access(file, F_OK) == 0;
}

static void remove_folder(void)
{
    static const char *const files[] = { "db", "db-wal", "db-shm", "none" };
    char file[64];

    for (int i = 0; i < 4; i++) {
        snprintf(file, sizeof(file), "%s/%s", folder, files[i]);
        unlink(file);
    }
    rmdir(folder);
}

static void sqlite_tests(void)
{
    RUN(choice_follows_the_options);
    RUN(sqlite_results);
    RUN(sqlite_prepared);
    RUN(sqlite_emulated);
    RUN(sqlite_busy_restarts);
    RUN(memory_is_shared);
    RUN(reading_leaves_no_file);
    RUN(many_threads_load);
    RUN(failed_load_keeps_nothing);
}

int main(void)
{
    sb_log_set_level(SB_LOG_FATAL - 1);
    RUN(broken_drivers_are_refused);
    if (!find_modules()) {
        printf("ok %d - drivers # SKIP no modules in %s\n", ++check_tests,
            modules);
        return check_done();
    }
    RUN(missing_driver_is_named);
    RUN(overrides_reach_one_connection);
    RUN(results_are_counted_by_kind);
    RUN(statements_have_operations);
    RUN(errors_are_classified);
    RUN(reconnects_are_counted);
    RUN(cancel_ends_a_hanging_call);
    RUN(loading_without_bulk);
    RUN(classic_bulk_insert);
    if (has_sqlite() && mkdtemp(folder)) {
        sqlite_tests();
        remove_folder();
    }
    return check_done();
}
