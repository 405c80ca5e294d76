// SPDX-License-Identifier: GPL-2.0-or-later
//
// The ranks of a job that carry out a parallel command.
#ifndef JOINT_TASKS_H
#define JOINT_TASKS_H

#include "joint_ranks.h"
#include "ranks/joint.h"

static inline int no_task(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    (void)w;
    (void)u;
    (void)err;
    return 0;
}

static inline void task_init(struct rank *r, unsigned number, unsigned ranks)
{
    rank_init(r, number, ranks);
    r->run.task = no_task;
    r->o.shutdown_grace = (int64_t)SECOND / 10;
    sb__joint_crew_init(sb__joint_of(&r->run));
}

#endif
