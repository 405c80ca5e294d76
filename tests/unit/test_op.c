// SPDX-License-Identifier: GPL-2.0-or-later
//
// The operations under which calls are counted.
#include "db/op.h"

#include "check.h"

static struct sb_stats stats;
static struct sb_rec *rec;
static struct sb_db_ctx ctx = { .rec = &rec };

static const char *name_of_text(const char *sql)
{
    int op = sb__op_of_text(&ctx, sql, strlen(sql));

    return stats.op[op].name;
}

static void first_words(void)
{
    CHECK_STR(name_of_text("SELECT 1"), "select");
    CHECK_STR(name_of_text("\n\t (select 1)"), "select");
    CHECK_STR(name_of_text("Commit"), "commit");
    CHECK_STR(name_of_text("BEGIN"), "begin");
    CHECK_STR(name_of_text("start\n transaction READ ONLY"), "begin");
    CHECK_STR(name_of_text("START"), "start");
    CHECK_STR(name_of_text("START REPLICA"), "start");
    CHECK_STR(name_of_text("selects"), "query");
    CHECK_STR(name_of_text("prepare s FROM 'x'"), "query");
    CHECK_STR(name_of_text(""), "query");
    CHECK_STR(name_of_text("/* x */ SELECT 1"), "query");
}

// Each SET may change another setting of the session.
static void what_is_noted(void)
{
    for (int i = 0; i < 2; i++) {
        ctx.op_is_new = false;
        name_of_text("SET a = 1");
        CHECK(ctx.op_is_new);
        ctx.op_is_new = false;
        name_of_text("UPDATE t SET a = 1");
        CHECK(ctx.op_is_new == (i == 0));
    }
}

static void kinds(void)
{
    CHECK_INT(sb__op_kind("select", 6), SB_OP_READ);
    CHECK_INT(sb__op_kind("INSERT INTO", 11), SB_OP_WRITE);
    CHECK_INT(sb__op_kind("delete from", 11), SB_OP_CHANGE);
    CHECK_INT(sb__op_kind("vacuum", 6), SB_OP_OTHER);
}

static void own_names(void)
{
    CHECK_STR(stats.op[sb__op_of_next(&ctx)].name, "next_result");
    CHECK_STR(stats.op[sb__op_of_prepare(&ctx)].name, "prepare");
    CHECK_STR(stats.op[sb__op_of_reconnect(&ctx)].name, "reconnect");
    CHECK_STR(stats.op[sb__op_of_connect(&ctx)].name, "connect");
}

static void without_a_recorder(void)
{
    struct sb__op op = { 0 };

    CHECK_INT(sb__op_of_text(&ctx, "SELECT 1", 8), -1);
    CHECK_INT(sb__op_of_prepare(&ctx), -1);
    CHECK_INT(sb__op_cached(&ctx, &op, "x", SB_OP_READ), -1);
    CHECK(!op.stats);
}

// The number is looked up again for other statistics, as at the end of the
// warm-up.
static void cached(void)
{
    struct sb_stats other;
    struct sb__op op = { 0 };
    int number = sb__op_cached(&ctx, &op, "cached", SB_OP_READ);

    CHECK_STR(stats.op[number].name, "cached");
    CHECK_INT(sb__op_cached(&ctx, &op, "another name", SB_OP_READ), number);
    CHECK_INT(sb_stats_init(&other, 1, 1, false), 0);
    rec = &other.rec[0];
    CHECK(number > 0);
    CHECK_INT(sb__op_cached(&ctx, &op, "cached", SB_OP_READ), 0);
    CHECK_STR(other.op[0].name, "cached");
    rec = &stats.rec[0];
    sb_stats_done(&other);
}

static void of_a_component(void)
{
    const struct sb_db_own own = { .prefix = "report/" };
    struct sb_db_ctx mine = { .own = &own };
    int op = sb__op_named(&mine, &stats.rec[0], "x", SB_OP_OTHER);

    CHECK_STR(stats.op[op].name, "report/x");
}

CHECK_FILE
{
    CHECK_INT(sb_stats_init(&stats, 1, 1, false), 0);
    RUN(without_a_recorder);
    rec = &stats.rec[0];
    RUN(first_words);
    RUN(what_is_noted);
    RUN(kinds);
    RUN(own_names);
    RUN(cached);
    RUN(of_a_component);
    sb_stats_done(&stats);
    return check_done();
}
