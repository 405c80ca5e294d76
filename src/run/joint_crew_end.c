// SPDX-License-Identifier: GPL-2.0-or-later
//
// The end of a parallel command of several ranks.
#include "run/joint_crew_end.h"

#include <time.h>

#include "run/joint_poll.h"

// A rank that has failed removes what it created; one that failed before it
// had users sends no figures.
static bool has_ended(const struct sb__joint *j, unsigned rank)
{
    const struct sb__joint_rank *r = &j->of[rank];

    return r->final || rank == j->lost ||
           (j->job->of[rank].failed && !r->answered);
}

static bool all_ended(const struct sb__joint *j)
{
    for (unsigned i = 1; i < j->job->ranks; i++)
        if (!has_ended(j, i))
            return false;
    return true;
}

// The other ranks may take as long to remove what they created as it took to
// create it: see sb__watch_stop_task().
static uint64_t removal_ns(const struct sb__joint *j)
{
    uint64_t grace = (uint64_t)j->run->o->shutdown_grace;
    uint64_t took = j->stopped_at - j->began;

    return 2 * (took > grace ? took : grace) + grace;
}

void sb__joint_crew_end(struct sb_run *run)
{
    const struct timespec nap = { .tv_nsec = 1000000 };
    struct sb__joint *j = run->joint;
    uint64_t limit = UINT64_MAX;

    sb__joint_poll(run);
    if (!j->of) {
        sb_job_send(j->job, 0, SB_JOB_ENDED, NULL);
        return;
    }
    while (!all_ended(j) && !j->job->broken.code) {
        sb__joint_poll(run);
        uint64_t now = sb_clock_monotonic();

        if (limit == UINT64_MAX && j->told_stop)
            limit = j->stopped_at + removal_ns(j);
        if (now > limit)
            break;
        nanosleep(&nap, NULL);
    }
    j->job->lost |= !all_ended(j) || j->lost;
}
