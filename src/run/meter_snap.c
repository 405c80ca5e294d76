// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/meter_snap.h"

#include <assert.h>

#include "run/user_private.h"

// Returns the number of arrivals of this phase that were due by `until`.
static uint64_t scheduled_by(
    struct sb_meter *m, uint64_t until, const struct sb_snap *s)
{
    struct sb_run *run = m->run;

    if (!run->open_loop || run->searching)
        return s->c.started;
    m->until = until;
    m->scheduled += sb_pace_walk(
        &run->pace, &m->walked, until - run->t0, SB__RUN_WALK_MAX);
    if (run->limited && m->phase == SB_PHASE_MEASURED &&
        m->scheduled > run->events)
        return run->events;
    return m->scheduled;
}

static void count_users(const struct sb_meter *m, struct sb_snap *s)
{
    struct sb_run *run = m->run;

    for (unsigned i = 0; i < run->users; i++) {
        s->unfinished += atomic_load_explicit(&run->user[i].in_event,
                             memory_order_relaxed) == 1 + m->phase;
        if (m->phase == SB_PHASE_MEASURED)
            s->skipped += atomic_load_explicit(
                &run->priv[i].skipped, memory_order_relaxed);
    }
    pthread_mutex_lock(&run->lock);
    s->running = run->running;
    pthread_mutex_unlock(&run->lock);
}

int sb__meter_snap_take(struct sb_meter *m, struct sb_snap *s,
    enum sb_snap_detail detail, const struct sb_snap *earlier, uint64_t now,
    uint64_t until)
{
    struct sb_run *run = m->run;

    assert(until >= run->t0);
    int rc = sb_snap_take(s, &run->stats[m->phase], detail, now, earlier);
    if (rc)
        return rc;
    count_users(m, s);
    // Users are writing: a full snapshot is consistent all the same.
    if (detail == SB_SNAP_FULL)
        s->c.started = s->c.completed + s->c.failed + s->unfinished;
    s->scheduled = scheduled_by(m, until, s);
    if (detail == SB_SNAP_FULL && s->scheduled < s->c.started + s->skipped)
        s->scheduled = s->c.started + s->skipped;
    return 0;
}

uint64_t sb__meter_snap_pending(
    struct sb_meter *m, uint64_t until, const struct sb_snap *s)
{
    struct sb_run *run = m->run;
    sb_pace_pos pos = atomic_load_explicit(&run->cursor, memory_order_relaxed);

    if (!run->open_loop)
        return 0;
    if (pos < m->border)
        pos = m->border; // those of the warm-up were dropped
    uint64_t n = sb_pace_walk(
        &run->pace, &pos, until - run->t0, SB__RUN_WALK_MAX);
    for (unsigned i = 0; i < run->users; i++) {
        uint64_t held = atomic_load_explicit(
            &run->priv[i].held, memory_order_relaxed);

        n += held >= run->warm_end && held != 0 && held <= until;
    }
    uint64_t begun = s->c.started + s->skipped;
    if (run->limited && n > run->events - begun)
        n = run->events - begun; // --events does not allow more
    return n;
}
