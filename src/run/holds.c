// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/holds.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "run/run_state.h"

// How long the events of a user are watched.
#define WATCH_NS UINT64_C(1000000000)
// A watch takes compiled code from its user, so there are not many.
#define WATCHES_MAX 16
// A turn that is so long at the end of the run may never end.
#define STUCK_NS UINT64_C(500000000)
// One hold in which the user was not seen to block may have other reasons: the
// process was stopped, or a first call was slow.
#define HOLDS_MIN 2

// how_long: "12 ms".
static void warn(const struct sb__holds *h, const char *what,
    const char *how_long, const char *note)
{
    sb_log(SB_LOG_WARNING,
        "%s held a worker for %s, and its %u other user%s waited%s; use "
        "--workers=users for scripts that block or compute",
        what, how_long, h->others, h->others == 1 ? "" : "s", note);
}

static void warn_of_line(
    const struct sb__holds *h, const char *line, uint64_t ns)
{
    char how_long[32];

    snprintf(how_long, sizeof(how_long), "%.0f ms", (double)ns / 1e6);
    warn(h, line, how_long, "");
}

static void warn_at_end(const struct sb__holds *h)
{
    char how_long[32];

    snprintf(how_long, sizeof(how_long), "%s%.0f ms",
        h->at_least ? "at least " : "", (double)h->longest / 1e6);
    warn(h, h->who, how_long, " (which line did so is not known)");
}

// A watched user is slower, so its holds are not counted, and it may compute
// for too long only because of that.
static void count_hold(
    struct sb__holds *h, const struct sb_hold *hold, const char *what)
{
    h->count++;
    h->computed += hold->computed;
    h->blocked += hold->blocked;
    if (hold->ns <= h->longest)
        return;
    h->longest = hold->ns;
    h->at_least = hold->at_least;
    snprintf(h->who, sizeof(h->who), "%s", what);
}

// Counts a hold of a line. Returns how long the line held, in ns, or 0 if it
// has not held often enough to be named.
static uint64_t count_line(
    struct sb__holds *h, const struct sb_hold *hold, const char *line)
{
    for (unsigned i = 0; i < SB__HOLD_LINES; i++) {
        if (!h->line[i].text[0])
            snprintf(h->line[i].text, sizeof(h->line[i].text), "%s", line);
        if (strcmp(h->line[i].text, line) != 0)
            continue;
        if (hold->ns > h->line[i].longest)
            h->line[i].longest = hold->ns;
        if (++h->line[i].seen < HOLDS_MIN)
            return 0;
        // A line that computes took longer only because its user is watched.
        return hold->computed && h->longest < h->line[i].longest
                   ? h->longest
                   : h->line[i].longest;
    }
    return 0;
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
        count_hold(h, hold, what);
    h->others = others_of_worker(u);
    if (held == SB_HELD_LINE) {
        if (hold->computed && h->computed < HOLDS_MIN)
            return;
        uint64_t ns = count_line(h, hold, what);
        if (ns > 0) {
            atomic_store(&h->known, true);
            warn_of_line(h, what, ns);
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

    // Users may block before and after their events. A turn that began before
    // the loop contains some of that time.
    if (!u->priv->in_loop || hold->from < u->priv->loop_since ||
        atomic_load(&run->holds.known))
        return;
    if (run->w->ops->user_held)
        held = run->w->ops->user_held(run->w, u, hold, what, sizeof(what));
    if (held == SB_HELD_IGNORED)
        return;
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

uint64_t sb__holds_check(struct sb_run *run)
{
    uint64_t now = sb_clock_monotonic();

    // Without event loops, or with one user for each, no user waits for another
    // one.
    if (run->workers == 0 || run->users == run->workers ||
        (atomic_load(&run->holds.known) && !atomic_load(&run->stop)))
        return UINT64_MAX;
    for (unsigned i = 0; i < run->workers; i++)
        sb_loop_check(run->worker[i].loop, now);
    return now + SB_HOLD_CHECK_NS;
}

static void warn_of_stuck(struct sb_user *u, pthread_t thread, uint64_t ns)
{
    struct sb_run *run = u->run;
    struct sb__holds *h = &run->holds;
    char what[192] = "event()", how_long[32];
    enum sb_held held = SB_HELD_UNKNOWN;

    if (run->w->ops->user_stuck)
        held = run->w->ops->user_stuck(run->w, u, thread, what, sizeof(what));
    snprintf(how_long, sizeof(how_long), "at least %.0f ms", (double)ns / 1e6);
    pthread_mutex_lock(&run->lock);
    h->others = others_of_worker(u);
    atomic_store(&h->known, true);
    warn(h, what, how_long,
        held == SB_HELD_LINE ? "" : " (which line did so is not known)");
    pthread_mutex_unlock(&run->lock);
}

void sb__holds_stuck(struct sb_run *run, uint64_t now)
{
    uint64_t since;

    if (run->workers == 0 || run->users == run->workers)
        return;
    for (unsigned i = 0; i < run->workers; i++) {
        struct sb_user *u = sb_loop_stuck(run->worker[i].loop, &since);

        if (u && now > since && now - since > STUCK_NS)
            warn_of_stuck(u, run->worker[i].thread, now - since);
    }
}

void sb__holds_end(struct sb_run *run)
{
    struct sb__holds *h = &run->holds;

    pthread_mutex_lock(&run->lock);
    if (!atomic_load(&h->known) && (h->count >= HOLDS_MIN || h->blocked))
        warn_at_end(h);
    atomic_store(&h->known, true);
    pthread_mutex_unlock(&run->lock);
}
