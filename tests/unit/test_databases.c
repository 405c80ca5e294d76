// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/opts.h"
#include "fake.h"

#define MOST 64

struct fake_opts {
    const char *db, *other;
};

static const struct sb_opt fake_options[] = {
    { .name = "fake-other",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct fake_opts, other) },
    { .name = "fake-db",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct fake_opts, db),
        .def = "sbtest",
        .flags = SB_OPT_DATABASES },
    { 0 },
};

static const struct sb_opt_table table = { .title = "fake",
    .opts = fake_options };
static const struct sb_generic_ops generic;
static struct fake_opts base;

static void begin(const char *databases)
{
    start();
    pthread_mutex_init(&owner.lock, NULL);
    owner.o = sb_opts_new();
    drv.opts = &table;
    drv.opts_size = sizeof(base);
    drv.generic = &generic;
    db.base = (struct sb__inst){ .db = &db, .opts = &base };
    CHECK_INT(sb_opts_add(owner.o, &table, &base, NULL), 0);
    CHECK_INT(
        sb_opts_set(owner.o, "fake-db", databases, SB_SRC_CMDLINE, NULL), 0);
    ctx.user = 0;
    ctx.turns = 0;
}

static void end(void)
{
    sb__insts_free(&db);
    sb_opts_free(owner.o);
    pthread_mutex_destroy(&owner.lock);
    finish();
}

static const char *connect_with(
    const char *const *names, const char *const *values, size_t n)
{
    struct sb__inst *i = NULL;
    const char *got;

    CHECK_INT(sb__inst_in_turn(&ctx, &db, names, values, n, &i, NULL), 0);
    got = i ? ((struct fake_opts *)i->opts)->db : "?";
    if (i)
        sb__inst_put(i);
    return got;
}

static const char *connect_one(void)
{
    return connect_with(NULL, NULL, 0);
}

static void one_database(void)
{
    begin("just one");
    CHECK_STR(connect_one(), "just one");
    CHECK_STR(connect_one(), "just one");
    CHECK_INT(ctx.turns, 0);
    CHECK(!db.more);
    CHECK_STR(sb_db_databases(&db), "just one");
    CHECK_STR(sb_db_databases_option(&db), "fake-db");
    end();
}

// Extra blanks and commas are not part of a name.
static void names(void)
{
    begin(" , a b,,\tc ,");
    CHECK_STR(connect_one(), "a b");
    CHECK_STR(connect_one(), "c");
    end();
    begin("a,");
    CHECK_STR(connect_one(), "a");
    CHECK_STR(connect_one(), "a");
    end();
    begin(",");
    CHECK_STR(connect_one(), "");
    end();
}

static void round_robin(void)
{
    static const char *const want[] = { "a", "b", "c", "a", "b", "c", "a", "b",
        "c", "a" };

    begin("a,b,c");
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
        CHECK_STR(connect_one(), want[i]);
    ctx.user = 1;
    ctx.turns = 0;
    CHECK_STR(connect_one(), "b");
    CHECK_STR(connect_one(), "c");
    end();
}

// Users and connections are distributed evenly among databases, and among
// pairs of host and database, since hosts are used round-robin as well.
static void even_distribution(void)
{
    for (unsigned hosts = 1; hosts <= 4; hosts++) {
        int count[MOST] = { 0 };

        begin("0,1,2,3");
        for (ctx.user = 0; ctx.user < 16 * hosts; ctx.user++) {
            ctx.turns = 0;
            count[(ctx.user % hosts) * 4 + (unsigned)(*connect_one() - '0')]++;
        }
        for (unsigned i = 0; i < 4 * hosts; i++)
            CHECK_INT(count[i], 4);
        end();
    }
}

// An instance is kept for each database, not for each connection.
static void one_instance_per_database(void)
{
    int n = 0;

    begin("a,b,c");
    for (int i = 0; i < 30; i++)
        connect_one();
    for (struct sb__inst *i = db.more; i; i = i->next)
        n++;
    CHECK_INT(n, 3);
    end();
}

static void overrides(void)
{
    static const char *const by_db[] = { "db" }, *const by_other[] = {
        "other"
    };
    static const char *const both[] = { "fake-db", "fake-other" };

    begin("a,b,c");
    CHECK_STR(connect_with(by_db, (const char *const[]){ "x" }, 1), "x");
    CHECK_INT(ctx.turns, 0);
    CHECK_STR(connect_with(by_db, (const char *const[]){ "x,y" }, 1), "x");
    CHECK_STR(connect_with(both, (const char *const[]){ "x,y", "o" }, 2), "y");
    ctx.turns = 0;
    CHECK_STR(connect_with(by_other, (const char *const[]){ "o" }, 1), "a");
    CHECK_STR(connect_with(by_other, (const char *const[]){ "o" }, 1), "b");
    end();
}

// A driver without an option for databases.
static void no_option(void)
{
    begin("a,b");
    drv.opts = NULL;
    CHECK(!sb_db_databases(&db));
    CHECK(!sb_db_databases_option(&db));
    CHECK_STR(connect_one(), "a,b");
    end();
}

CHECK_FILE
{
    RUN(one_database);
    RUN(names);
    RUN(round_robin);
    RUN(even_distribution);
    RUN(one_instance_per_database);
    RUN(overrides);
    RUN(no_option);
    return check_done();
}
