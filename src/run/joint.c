// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/joint.h"

#include <assert.h>
#include <stdlib.h>

#include "run/joint_crew.h"
#include "run/joint_end.h"
#include "run/joint_intervals.h"
#include "run/joint_parts.h"
#include "run/joint_poll.h"
#include "run/joint_sections.h"
#include "run/joint_start.h"

int sb__joint_init(struct sb_run *run)
{
    struct sb__joint *j;
    int rc;

    assert(!run->joint && !run->poll);
    if (!run->o->job)
        return 0;
    j = calloc(1, sizeof(*j));
    if (!j)
        return SB_ENOMEM;
    run->joint = j;
    run->poll = sb__joint_poll;
    run->poll_every = run->task ? SB_JOB_POLL_COMMAND : SB_JOB_POLL;
    run->names = &j->names;
    j->run = run;
    j->job = run->o->job;
    if (j->job->rank == 0) {
        j->of = calloc(j->job->ranks, sizeof(*j->of));
        j->figures = calloc(j->job->ranks, sizeof(*j->figures));
        if (!j->of || !j->figures)
            return SB_ENOMEM;
    }
    rc = sb__joint_intervals_init(j);
    if (rc == 0)
        rc = sb__joint_sections_init(j);
    if (rc == 0 && run->task)
        sb__joint_crew_init(j);
    sb__joint_parts_init(j);
    sb__joint_start_handlers(j);
    sb__joint_end_handlers(j);
    return rc;
}

void sb__joint_done(struct sb_run *run)
{
    struct sb__joint *j = run->joint;

    if (!j)
        return;
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
    run->joint = NULL;
    run->poll = NULL;
    run->names = NULL;
}
