// SPDX-License-Identifier: GPL-2.0-or-later
//
// The operations under which calls are counted.
#include "db/op.h"

#include "check.h"

static struct sb_stats stats;
static struct sb_db_ctx ctx;

static const char *name_of_text(const char *sql)
{
    int op = sb__op_of_text(&ctx, &stats.rec[0], sql, strlen(sql));

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

static void kinds(void)
{
    CHECK_INT(sb__op_kind("select", 6), SB_OP_READ);
    CHECK_INT(sb__op_kind("INSERT INTO", 11), SB_OP_WRITE);
    CHECK_INT(sb__op_kind("delete from", 11), SB_OP_CHANGE);
    CHECK_INT(sb__op_kind("vacuum", 6), SB_OP_OTHER);
}

static void own_names(void)
{
    struct sb_rec *rec = &stats.rec[0];

    CHECK_STR(stats.op[sb__op_of_next(&ctx, rec)].name, "next_result");
    CHECK_STR(stats.op[sb__op_of_prepare(&ctx, rec)].name, "prepare");
    CHECK_STR(stats.op[sb__op_of_reconnect(&ctx, rec)].name, "reconnect");
    CHECK_STR(stats.op[sb__op_of_connect(&ctx, rec)].name, "connect");
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
    RUN(first_words);
    RUN(kinds);
    RUN(own_names);
    RUN(of_a_component);
    sb_stats_done(&stats);
    return check_done();
}
