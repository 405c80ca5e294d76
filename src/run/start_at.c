// SPDX-License-Identifier: GPL-2.0-or-later
//
// --start-at: the users are ready and wait for a moment.
#include "run/start_at.h"

#include "base/log.h"
#include "kit/clock.h"

static int64_t left_until(int64_t at)
{
    return at - (int64_t)sb_clock_wall();
}

// The wall clock may be set meanwhile, so it is read again from time to time.
void sb__start_at_wait(struct sb_run *run)
{
    int64_t at = run->o->start_at, left = at ? left_until(at) : 0;

    if (at && left <= 0)
        sb_log(SB_LOG_WARNING,
            "all users were ready %.3g s after --start-at; the run starts now",
            (double)-left / SB_SECOND);
    for (; left > 0 && !atomic_load(&run->stop); left = left_until(at)) {
        uint64_t step = left < (int64_t)SB_SECOND ? (uint64_t)left : SB_SECOND;
        uint64_t until = sb_clock_monotonic() + step;

        sb_log_progress("all users are ready, %.0f s until --start-at",
            (double)left / SB_SECOND);
        pthread_mutex_lock(&run->lock);
        while (!atomic_load(&run->stop) && sb_clock_monotonic() < until)
            sb__run_wait(run, until);
        pthread_mutex_unlock(&run->lock);
    }
    sb_log_progress_done();
}
