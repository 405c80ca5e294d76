// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/holds.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "run/user_private.h"

// How long the events of a user are watched.
#define WATCH_NS UINT64_C(1000000000)
// A watch takes compiled code from its user, so there are not many.
#define WATCHES_MAX 16
// One hold in which the user was not seen to block may have other reasons: the
// process was stopped, or a first call was slow.
#define HOLDS_MIN 2

static void warn(const struct sb__holds *h, const char *what, const char *note)
{
    sb_log(SB_LOG_WARNING,
        "%s held a worker for %.0f ms, and its %u other user%s waited%s; use "
        "--workers=users for scripts that block or compute",
        what, (double)h->longest / 1e6, h->others, h->others == 1 ? "" : "s",
        note);
}

// A watched user is slower, so its holds are not counted, and it may compute
// for too long only because of that.
static void count_hold(struct sb__holds *h, const struct sb_hold *hold)
{
    h->count++;
    h->computed += hold->computed;
    h->blocked += hold->blocked;
    if (hold->ns > h->longest)
        h->longest = hold->ns;
}

// Counts a line. Returns true if it has held often enough to be named.
static bool count_line(struct sb__holds *h, const char *line)
{
    for (unsigned i = 0; i < SB__HOLD_LINES; i++) {
        if (!h->line[i][0])
            snprintf(h->line[i], sizeof(h->line[i]), "%s", line);
        if (strcmp(h->line[i], line) == 0)
            return ++h->seen[i] >= HOLDS_MIN;
    }
    return false;
}

static unsigned others_of_worker(const struct sb_user *u)
{
    const struct sb_run *run = u->run;
    unsigned first = u->id % run->workers;

    return (run->users - first + run->workers - 1) / run->workers - 1;
}

// Called under run->lock.
static void note_hold(struct sb_user *u, const struct sb_hold *hold,
    enum sb_held held, const char *what)
{
    struct sb__holds *h = &u->run->holds;
    struct sb_user_priv *p = u->priv;

    if (p->lines != SB__LINES_ON)
        count_hold(h, hold);
    h->others = others_of_worker(u);
    if (held != SB_HELD_LINE)
        snprintf(h->who, sizeof(h->who), "%s", what);
    if (held == SB_HELD_LINE) {
        if (hold->computed && h->computed < HOLDS_MIN)
            return;
        if (count_line(h, what)) {
            atomic_store(&h->known, true);
            warn(h, what, "");
        }
    } else if (held == SB_HELD_FUNCTION && p->lines == SB__LINES_NONE &&
               h->count >= HOLDS_MIN && h->watches < WATCHES_MAX) {
        h->watches++;
        p->lines = SB__LINES_WANTED;
        p->lines_until = 0;
        p->lines_of = p->component;
    }
}

void sb__holds_held(void *user, const struct sb_hold *hold)
{
    struct sb_user *u = user;
    struct sb_run *run = u->run;
    char what[192] = "event()";
    enum sb_held held = SB_HELD_UNKNOWN;

    // Before and after their events, users may block. A turn may contain the
    // end of the former.
    if (!u->priv->in_loop || hold->from < u->priv->loop_since ||
        atomic_load(&run->holds.known))
        return;
    if (run->w->ops->user_held)
        held = run->w->ops->user_held(run->w, u, hold, what, sizeof(what));
    pthread_mutex_lock(&run->lock);
    if (!atomic_load(&run->holds.known))
        note_hold(u, hold, held, what);
    pthread_mutex_unlock(&run->lock);
}

bool sb__holds_leave(struct sb_user *u, uint64_t now)
{
    struct sb_user_priv *p = u->priv;
    bool over = (p->lines_until && now >= p->lines_until) ||
                atomic_load(&u->run->holds.known);

    if (p->lines == SB__LINES_WANTED && over)
        p->lines = SB__LINES_NONE;
    if (p->lines == SB__LINES_WANTED && p->component == p->lines_of) {
        p->lines = SB__LINES_BEGIN;
        if (p->lines_until == 0)
            p->lines_until = now + WATCH_NS;
        return true;
    }
    if (p->lines == SB__LINES_ON && over) {
        p->lines = SB__LINES_END;
        return true;
    }
    return false;
}

void sb__holds_end(struct sb_run *run)
{
    struct sb__holds *h = &run->holds;

    pthread_mutex_lock(&run->lock);
    if (!atomic_load(&h->known) && (h->count >= HOLDS_MIN || h->blocked))
        warn(h, h->who[0] ? h->who : "event()",
            " (which line did so is not known)");
    atomic_store(&h->known, true);
    pthread_mutex_unlock(&run->lock);
}
