// SPDX-License-Identifier: GPL-2.0-or-later
#include "ranks/place.h"

#include <assert.h>
#include <stdlib.h>

#include "ranks/joint.h"

static void leave(struct sb_run *run)
{
    struct sb__joint *j = sb__joint_of(run);

    for (int what = SB_JOB_GO; what < SB_JOB_FAILED; what++)
        sb_job_on(j->job, (enum sb_job_what)what, NULL, NULL);
    for (unsigned i = 0; j->of && i < j->job->ranks; i++)
        sb_buf_done(&j->of[i].body);
    sb__joint_intervals_done(j);
    sb__joint_sections_done(j);
    sb__joint_parts_done(j);
    free(j->of);
    free(j->figures);
    free(j);
    run->group = NULL;
}

static const struct sb_group_ops ops = {
    .poll = sb__joint_poll,
    .go = sb__joint_start_go,
    .agree = sb__joint_start_agree,
    .wait = sb__joint_start_wait,
    .begin = sb__joint_end_start,
    .begin_part = sb__joint_parts_begin,
    .add_part = sb__joint_parts_sum,
    .next_part = sb__joint_parts_next,
    .give_part = sb__joint_parts_send,
    .give_interval = sb__joint_intervals_add,
    .give_section = sb__joint_sections_add,
    .end = sb__joint_end_final,
    .end_command = sb__joint_crew_end,
    .leave = leave,
};

int sb_ranks_join(struct sb_run *run)
{
    struct sb_job *job = run->o->job;
    struct sb__joint *j = calloc(1, sizeof(*j));
    int rc;

    assert(!run->group && job);
    if (!j)
        return SB_ENOMEM;
    j->group = (struct sb_group){
        .ops = &ops,
        .rank = job->rank,
        .ranks = job->ranks,
        .poll_every = run->task ? SB_JOB_POLL_COMMAND : SB_JOB_POLL,
        .kill_after = job->t.kill_after,
        .names = &j->names,
    };
    run->group = &j->group;
    j->run = run;
    j->job = job;
    if (job->rank == 0) {
        j->of = calloc(job->ranks, sizeof(*j->of));
        j->figures = calloc(job->ranks, sizeof(*j->figures));
        if (!j->of || !j->figures)
            return SB_ENOMEM;
        j->group.figures = j->figures;
    }
    rc = sb__joint_intervals_init(j);
    if (rc == 0)
        rc = sb__joint_sections_init(j);
    if (rc == 0 && run->task)
        sb__joint_crew_init(j);
    sb__joint_parts_init(j);
    sb__joint_start_init(j);
    sb__joint_end_init(j);
    return rc;
}
