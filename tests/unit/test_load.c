// SPDX-License-Identifier: GPL-2.0-or-later
//
// The SQLite driver through the facade, and loading, with and without bulk
// operations.
#include <math.h>

#include "world.h"

// SQLite ---------------------------------------------------------------------

static void sqlite_world(struct world *w, const char *more)
{
    char args[512];

    snprintf(args, sizeof(args), "--db-driver=sqlite --sqlite-db=db %s", more);
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

// Executes statements, prepared or emulated, with the same values.
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
    p[2]->data_len = 9; // more than the buffer holds
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
    for (int i = 0; i < 4; i++)
        sb_param_free(p[i]);
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
    CHECK(run(a, "SELECT * FROM t") == NULL);
    CHECK(strstr(a->sql_errmsg, "in memory"));
    world_done(&w);
}

static void reading_leaves_no_file(void)
{
    struct world w;
    struct sb_con *con;

    world_init(&w, "--sqlite-db=none");
    con = world_connect(&w);
    CHECK(run(con, "SELECT * FROM t") == NULL);
    world_done(&w);
    CHECK(access("none", F_OK) != 0);
}

// Loading --------------------------------------------------------------------

static int load_rows(
    struct sb_con *con, const char *table, int from, int n, int commit)
{
    struct sb_load *ld = sb_load_open(con, table, "id,c,d,e");

    if (!ld)
        return ((const struct sb_con_priv *)con)->err.code;
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
    // Two users feed one load: a duplicate from the second undoes the rows of
    // the first, and both get an error.
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
    // Later loads are not affected.
    CHECK_INT(load_rows(a, "f", 20, 1, 1), 0);
    CHECK_INT(load_rows(a, "nosuch", 5, 1, 1), SB_EQUERY);
    CHECK_INT(w.rec->tally.err_ignored + w.rec->open_errors, 2);
    world_done(&w);
}

// A failed load that was not closed does not affect later loads.
static void failed_loads_that_stay_open(void)
{
    struct world w;
    struct sb_con *a, *b;
    struct sb_load *ld[4];

    sqlite_world(&w, "");
    a = world_connect(&w);
    b = world_connect(&w);
    run(a, "CREATE TABLE o(id INTEGER PRIMARY KEY, c TEXT, d TEXT, e)");
    CHECK_INT(load_rows(a, "o", 0, 10, 1), 0);
    for (int i = 0; i < 3; i++) {
        ld[i] = sb_load_open(a, "o", "id");
        sb_load_block(ld[i], 1);
        CHECK_INT(sb_load_int(ld[i], 100), 0);
        CHECK_INT(sb_load_int(ld[i], i == 1 ? NAN : 5), i == 1 ? SB_ERANGE : 0);
        CHECK_INT(sb_load_int(ld[i], 1), i == 1 ? SB_ERANGE : SB_EQUERY);
        CHECK_INT(load_rows(i == 2 ? b : a, "o", 20 + i, 1, 1), 0);
        // The failed load has added no row and still reports its own error.
        CHECK_STR(one(a, "SELECT count(*) FROM o WHERE id=100"), "0");
        CHECK(sb_load_int(ld[i], 1) != 0);
        CHECK(strstr(a->sql_errmsg, i == 1 ? "64-bit" : "UNIQUE"));
    }
    // reconnect() abandons an open load; later loads work.
    ld[3] = sb_load_open(a, "o", "id");
    CHECK_INT(sb_load_int(ld[3], 200), 0);
    CHECK_INT(sb_con_reconnect(a), 0);
    CHECK_INT(load_rows(a, "o", 30, 1, 1), 0);
    CHECK_INT(sb_load_int(ld[3], 201), SB_EUSAGE);
    for (int i = 0; i < 4; i++)
        CHECK(sb_load_close(ld[i], 1) != 0);
    CHECK_STR(
        one(a, "SELECT group_concat(id) FROM o WHERE id > 9"), "20,21,22,30");
    world_done(&w);
}

static void failed_load_frees_its_connection(void)
{
    struct world w;
    struct sb_con *con;
    struct sb_load *ld;

    world_init(&w, "--null-bulk=on");
    con = world_connect(&w);
    ld = sb_load_open(con, "t", "id");
    CHECK(run(con, "SELECT 1") == NULL); // the load is open
    CHECK_INT(sb_load_int(ld, NAN), SB_ERANGE);
    CHECK(run(con, "SELECT 1") != NULL);
    CHECK_INT(load_rows(con, "t", 0, 10, 1), 0);
    CHECK_INT(sb_load_close(ld, 0), 0);
    ld = sb_load_open(con, "t", "id");
    CHECK_INT(sb_con_reconnect(con), 0);
    CHECK(run(con, "SELECT 1") != NULL);
    CHECK_INT(sb_load_close(ld, 1), SB_EUSAGE);
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

static void numbers_that_are_not_integers(void)
{
    static const double bad[] = { NAN, INFINITY, 0x1p63, -0x1.0000000000001p63,
        3.7 };
    struct world w;
    struct sb_con *con;
    struct sb_load *ld;

    world_init(&w, "--db-driver=null");
    con = world_connect(&w);
    for (int i = 0; i < 5; i++) {
        ld = sb_load_open(con, "t", "id");
        CHECK_INT(sb_load_int(ld, -0x1p63), 0);
        CHECK_INT(sb_load_int(ld, bad[i]), SB_ERANGE);
        CHECK(strstr(con->sql_errmsg, "is not a 64-bit integer"));
        CHECK_INT(sb_load_int(ld, 1), SB_ERANGE);
        CHECK_INT(sb_load_close(ld, 1), SB_ERANGE);
    }
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
    CHECK_INT(sb_con_bulk_done(con), 0); // none is open
    world_done(&w);
}

static void sqlite_tests(void)
{
    RUN(sqlite_results);
    RUN(sqlite_prepared);
    RUN(sqlite_emulated);
    RUN(sqlite_busy_restarts);
    RUN(memory_is_shared);
    RUN(reading_leaves_no_file);
    RUN(many_threads_load);
    RUN(failed_load_keeps_nothing);
    RUN(failed_loads_that_stay_open);
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL - 1);
    if (!find_modules()) {
        printf("1..0 # SKIP no modules in %s\n", modules);
        return 0;
    }
    RUN(failed_load_frees_its_connection);
    RUN(loading_without_bulk);
    RUN(numbers_that_are_not_integers);
    RUN(classic_bulk_insert);
    if (has_sqlite()) {
        check_folder();
        sqlite_tests();
    }
    return check_done();
}
