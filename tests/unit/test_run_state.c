// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a run consists of when it begins.
#include "run/run_private.h"

#include "run/user_private.h"
#include "runs.h"

static const struct sb_workload_ops no_ops = { 0 };
static struct sb_workload w = { .ops = &no_ops };

static struct sb_run *create(struct seen *s)
{
    struct sb_run *run = sb__run_state_new(&w, &s->o, &s->random);

    CHECK_INT(sb__run_state_init(run), 0);
    return run;
}

static void every_user_is_new(void)
{
    const struct sb_run_result res = { .end = SB_END_SCRIPT };
    struct seen s;

    prepare(&s, 3);
    s.o.events = 7;
    struct sb_run *run = create(&s);

    CHECK_INT(run->users, 3);
    CHECK_INT(run->events, 7);
    CHECK(run->limited);
    CHECK(!run->open_loop && !run->searching && !run->staged && !run->mixed);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_INT(run->user[i].number, i);
        CHECK_INT(run->priv[i].state, SB_USER_NEW);
        CHECK(run->priv[i].leave == UINT64_MAX);
        CHECK(run->priv[i].chained);
        CHECK(run->priv[i].crew == &run->crew);
    }
    CHECK_INT(run->stats[SB_PHASE_MEASURED].users, 3);
    CHECK_INT(run->stats[SB_PHASE_WARMUP].users, 0); // not initialized
    CHECK(!run->group);
    CHECK_INT(sb__run_state_end(run, &res), 0);
}

static void options_decide_how_users_run(void)
{
    struct sb_run_result res = { .unjoined = false };
    struct seen s;

    prepare(&s, 2);
    s.o.rate = 100;
    s.o.warmup_time = 1000 * MS;
    struct sb_run *run = create(&s);

    CHECK(run->open_loop);
    CHECK(!run->priv[0].chained);
    CHECK_INT(run->stats[SB_PHASE_WARMUP].users, 2);
    res.err.code = SB_ECONNECT;
    CHECK_INT(sb__run_state_end(run, &res), SB_ECONNECT);
}

CHECK_FILE
{
    RUN(every_user_is_new);
    RUN(options_decide_how_users_run);
    return check_done();
}
