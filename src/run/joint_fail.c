// SPDX-License-Identifier: GPL-2.0-or-later
//
// Why a rank ends the run of all.
#include "run/joint_fail.h"

void sb__joint_fail_if_broken(struct sb__joint *j)
{
    if (!j->broken.code || j->told_error)
        return;
    j->told_error = true;
    sb__run_fail(j->run, &j->broken);
}

void sb__joint_fail_lost(const struct sb__joint *j, unsigned rank, uint64_t now,
    struct sb_err *failure)
{
    const struct sb_job_rank *r = &j->job->of[rank];

    if (r->failed)
        sb_err_set(
            failure, SB_ECONNECT, "rank %u (%.60s): %s", rank, r->host, r->why);
    else
        sb_err_set(failure, SB_ELOST,
            "rank %u (%.60s) was lost: its last message came %.1f s ago%s",
            rank, r->host, (double)(now - (r->heard ? r->heard : now)) / 1e9,
            j->run->task ? ""
                         : "; the figures are those of the intervals until "
                           "then");
}
