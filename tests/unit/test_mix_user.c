// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which component the events of a user have.
#include "run/mix_user.h"

#include "check.h"
#include "run/user_private.h"

#define USERS  4
#define SECOND UINT64_C(1000000000)

static struct sb_run_opts o;
static struct sb_run run;
static struct sb_user user[USERS];
static struct sb_user_priv priv[USERS];
static struct sb_random_shared random_shared = { .seed = 5 };

static void reset(const char *mix, const char *stages, enum sb_mix_by by)
{
    struct sb_err err;

    o = (struct sb_run_opts){ .threads = USERS };
    run = (struct sb_run){ .o = &o,
        .random = &random_shared,
        .users = USERS,
        .user = user,
        .priv = priv };
    sb_share_whole(&run.share, USERS);
    CHECK_INT(sb_mix_parse(&o.mix, mix, &err), 0);
    o.mix.by = by;
    if (stages) {
        CHECK_INT(
            sb_stages_parse(&o.stages, stages, USERS, 0, &o.mix, &err), 0);
        run.staged = true;
    }
    sb_stats_init(&run.stats[SB_PHASE_MEASURED], USERS, USERS, false);
    CHECK_INT(sb__mix_user_register(&run), 0);
    for (unsigned i = 0; i < USERS; i++) {
        priv[i] = (struct sb_user_priv){ .turn = i };
        user[i] = (struct sb_user){ .id = i,
            .number = i,
            .run = &run,
            .priv = &priv[i],
            .rec = &run.stats[SB_PHASE_MEASURED].rec[i] };
        sb__mix_user_init(&user[i]);
    }
}

static void done(void)
{
    sb__mix_user_unregister(&run);
    sb_stats_done(&run.stats[SB_PHASE_MEASURED]);
}

static void events_are_handed_over_in_proportion(void)
{
    unsigned kept = 0;

    reset("one:3,two:1", NULL, SB_MIX_EVENTS);
    for (unsigned i = 0; i < 4000; i++) {
        priv[0].handed = false;
        if (sb__mix_user_keeps(&user[0], 100 + i, 200 + i)) {
            kept++;
            CHECK(!priv[0].handed);
            continue;
        }
        CHECK(priv[0].handed);
        CHECK_INT(priv[0].next_component, 1);
        CHECK_INT(priv[0].handed_arrival, 100 + i);
        CHECK_INT(priv[0].handed_start, 200 + i);
        CHECK_INT(atomic_load(&priv[0].held), 0); // of an open loop only
    }
    CHECK_NEAR(kept, 3000, 150);
    run.open_loop = true;
    priv[0].component = 2; // so that every event belongs to another one
    CHECK(!sb__mix_user_keeps(&user[0], 77, 78));
    CHECK_INT(atomic_load(&priv[0].held), 77);
    done();
}

static void users_keep_their_component(void)
{
    unsigned of[2] = { 0, 0 };

    reset("one:3,two:1", NULL, SB_MIX_USERS);
    for (unsigned i = 0; i < USERS; i++) {
        of[sb__mix_user_component(&user[i])]++;
        CHECK(sb__mix_user_keeps(&user[i], 1, 2));
        CHECK(sb__mix_user_until(&run, i, 0) == UINT64_MAX);
    }
    CHECK_INT(of[0], 3);
    CHECK_INT(of[1], 1);
    done();
}

static void a_stage_with_other_weights_changes_it(void)
{
    reset("one:1,two:1", "mix=one:1 for 2s; mix=one:1 for 3s; mix=two:1 for 4s",
        SB_MIX_USERS);
    for (unsigned i = 0; i < USERS; i++) {
        CHECK_INT(sb__mix_user_until(&run, i, 0), 5 * SECOND);
        CHECK_INT(sb__mix_user_until(&run, i, 4 * SECOND), 5 * SECOND);
        CHECK(sb__mix_user_until(&run, i, 6 * SECOND) == UINT64_MAX);
        CHECK_INT(sb__mix_user_component(&user[i]), 0);
    }
    done();
}

static void events_are_operations_of_their_component(void)
{
    const struct sb_rec *rec;
    struct sb_snap s = { 0 };

    reset("one:1,two:1", NULL, SB_MIX_EVENTS);
    rec = user[1].rec;
    priv[1].component = 1;
    sb__mix_user_started(&user[1]);
    CHECK_INT(rec->workload, 1 + run.mix_op[1]);
    user[1].start = 10;
    sb__mix_user_completed(&user[1], 35);
    CHECK_INT(
        sb_snap_take(&s, &run.stats[SB_PHASE_MEASURED], SB_SNAP_FINAL, 1, NULL),
        0);
    CHECK_INT(s.op[run.mix_op[0]].count, 0);
    CHECK_INT(s.op[run.mix_op[1]].count, 1);
    CHECK_INT(s.op[run.mix_op[1]].max, 25);
    sb_snap_done(&s);
    done();
}

CHECK_FILE
{
    RUN(events_are_handed_over_in_proportion);
    RUN(users_keep_their_component);
    RUN(a_stage_with_other_weights_changes_it);
    RUN(events_are_operations_of_their_component);
    return check_done();
}
