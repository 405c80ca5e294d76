// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run_private.h"

#include "check.h"
#include "run/group.h"
#include "run/user_private.h"

#define SECOND UINT64_C(1000000000)

static struct sb_run_opts o;
static struct sb_run run;
static struct sb_user_priv priv[3];
static struct sb_stats names_of_all;
static struct sb_group group = { .names = &names_of_all };

// 3 users of this process, 12 of all ranks; with stages, the users of a stage
// are those with the lowest turns.
static void reset(const char *stages)
{
    struct sb_err err;

    o = (struct sb_run_opts){ .threads = 12 };
    run = (struct sb_run){ .o = &o,
        .users = 3,
        .priv = priv,
        .t0 = 10 * SECOND,
        .warm_end = 12 * SECOND,
        .deadline = 16 * SECOND };
    for (unsigned i = 0; i < 3; i++)
        priv[i].turn = i;
    if (stages) {
        CHECK_INT(sb_stages_parse(&o.stages, stages, 12, 0, NULL, &err), 0);
        run.staged = true;
    }
}

static void users_of_a_group_are_those_of_all_ranks(void)
{
    reset(NULL);
    CHECK_INT(sb__run_report_users(&run), 3);
    CHECK_INT(sb__run_report_users_at_end(&run), 3);
    run.group = &group;
    CHECK_INT(sb__run_report_users(&run), 12);
    CHECK_INT(sb__run_report_users_at_end(&run), 12);
}

static void the_last_stage_has_the_users_at_the_end(void)
{
    reset("threads=3 for 2s; threads=2 for 2s");
    CHECK_INT(sb__run_report_users_at_end(&run), 2);
    run.group = &group;
    CHECK_INT(sb__run_report_users_at_end(&run), 2);
}

static void names_are_those_of_the_phase_or_of_the_group(void)
{
    reset(NULL);
    CHECK(sb__run_report_names(&run, SB_PHASE_WARMUP) ==
          &run.stats[SB_PHASE_WARMUP]);
    run.group = &group;
    CHECK(sb__run_report_names(&run, SB_PHASE_WARMUP) == &names_of_all);
}

static void a_report_has_its_time_and_stage(void)
{
    struct sb_snap sum = { .ns = SECOND, .running = 1, .queue = 5 };
    struct sb_report r;

    reset("a: threads=3 for 2s; b: threads=2 for 2s");
    sb__run_report_fill(&run, &r, &sum, 15 * SECOND, false);
    CHECK(r.total_s == 3);
    CHECK(r.interval_s == 1);
    CHECK_INT(r.threads, 3);
    CHECK_INT(r.running, 1);
    CHECK_INT(r.queue, 5);
    CHECK_STR(r.stage_name, "b");
    CHECK_INT(r.stage, 1);
    CHECK_INT(r.stage_users[0], 2);
    // Users that have just ended because of the limit were running.
    sb__run_report_fill(&run, &r, &sum, 16 * SECOND, false);
    CHECK_INT(r.running, 2);
    // An interval across the border belongs to the stage of its middle.
    sb__run_report_fill(&run, &r, &sum, 14 * SECOND + SECOND / 3, false);
    CHECK_STR(r.stage_name, "a");
    sb__run_report_fill(&run, &r, &sum, 11 * SECOND, true);
    CHECK(r.warmup);
    CHECK(r.total_s == 1);
    CHECK_INT(r.start_ns, 10 * SECOND);
}

CHECK_FILE
{
    RUN(users_of_a_group_are_those_of_all_ranks);
    RUN(the_last_stage_has_the_users_at_the_end);
    RUN(names_are_those_of_the_phase_or_of_the_group);
    RUN(a_report_has_its_time_and_stage);
    return check_done();
}
