// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/watch.h"

#include <assert.h>
#include <signal.h>

#include "kit/clock.h"
#include "run/group.h"

static uint64_t at_least(uint64_t ns, int64_t minimum)
{
    return ns < (uint64_t)minimum ? (uint64_t)minimum : ns;
}

// The launcher of several processes kills them soon after SIGTERM. Calls get a
// part of this time to end.
static uint64_t limit_grace(const struct sb_run *run, uint64_t grace)
{
    if (!run->group || run->signal != SIGTERM)
        return grace;
    uint64_t most = run->group->kill_after * 4 / 10;

    return grace > most ? most : grace;
}

void sb__watch_stop(struct sb__watch *w, const struct sb_run *run, uint64_t now)
{
    // A server that hangs must not delay the report forever; a slow one gets
    // five times the time of its slowest event.
    uint64_t grace = limit_grace(
        run, at_least(5 * sb__run_longest_event(run), run->o->shutdown_grace));

    assert(!w->stopped_at && !w->canceled);
    w->stopped_at = now < run->deadline ? now : run->deadline;
    w->cancel_at = now + grace / 2;
    w->leave_at = now + grace;
    w->force_at = w->coming_at = UINT64_MAX;
    if (run->o->forced_shutdown_ns >= 0 && now >= run->deadline)
        w->force_at = run->deadline + (uint64_t)run->o->forced_shutdown_ns;
}

// Calls in progress get some time to end, then they are canceled. Then users
// remove what they created, which may take as long as creating it did.
void sb__watch_stop_task(
    struct sb__watch *w, const struct sb_run *run, uint64_t since, uint64_t now)
{
    uint64_t grace = at_least(now - since, run->o->shutdown_grace);

    assert(!w->stopped_at && since <= now);
    w->stopped_at = now;
    w->coming_at = UINT64_MAX;
    w->leave_at = now + 2 * grace;
    grace = limit_grace(run, grace);
    w->cancel_at = now + (grace < 2 * SB_SECOND ? grace / 2 : SB_SECOND);
    w->force_at = now + grace;
}

uint64_t sb__watch_extend(struct sb__watch *w, uint64_t due, uint64_t now)
{
    uint64_t late = w->stopped_at && now > due ? now - due : 0;

    w->cancel_at += late;
    w->leave_at += late;
    return late;
}

uint64_t sb__watch_next(
    const struct sb__watch *w, const struct sb_run *run, uint64_t report)
{
    uint64_t mine = run->deadline;

    if (w->stopped_at) {
        // Reports are due only up to the limit.
        report = report <= w->stopped_at ? report : UINT64_MAX;
        mine = w->cancel_at < w->leave_at ? w->cancel_at : w->leave_at;
        mine = w->force_at < mine ? w->force_at : mine;
        mine = w->coming_at < mine ? w->coming_at : mine;
    }
    return mine < report ? mine : report;
}
