// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a rank says when the run of all fails.
#include "ranks/joint.h"
#include "joint_ranks.h"

static void broken_figures_fail_the_run_once(void)
{
    struct rank r;
    struct sb__joint *j;

    rank_init(&r, 0, 2);
    j = sb__joint_of(&r.run);
    sb__joint_fail_if_broken(j);
    CHECK(!atomic_load(&r.run.stop));
    sb_err_set(&j->broken, SB_ENOMEM, "out of memory for intervals");
    sb__joint_fail_if_broken(j);
    CHECK(atomic_load(&r.run.stop));
    CHECK_STR(r.run.err.msg, "out of memory for intervals");
    r.run.err.code = 0;
    sb__joint_fail_if_broken(j);
    CHECK_INT(r.run.err.code, 0);
    rank_done(&r);
    loopback_reset();
}

static void a_lost_rank_is_named(void)
{
    struct sb_err err;
    struct rank r;

    rank_init(&r, 0, 2);
    snprintf(r.o.job->of[1].host, sizeof(r.o.job->of[1].host), "beta");
    r.o.job->of[1].heard = SECOND;
    sb__joint_fail_lost(sb__joint_of(&r.run), 1, 4 * SECOND, &err);
    CHECK_INT(err.code, SB_ELOST);
    CHECK(strstr(err.msg, "rank 1 (beta) was lost: its last message came 3.0 "
                          "s ago; the figures") != NULL);
    r.o.job->of[1].failed = true;
    snprintf(r.o.job->of[1].why, sizeof(r.o.job->of[1].why), "no server");
    sb__joint_fail_lost(sb__joint_of(&r.run), 1, 4 * SECOND, &err);
    CHECK_INT(err.code, SB_ECONNECT);
    CHECK_STR(err.msg, "rank 1 (beta): no server");
    rank_done(&r);
    loopback_reset();
}

CHECK_FILE
{
    RUN(broken_figures_fail_the_run_once);
    RUN(a_lost_rank_is_named);
    return check_done();
}
