// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/crew.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

int sb_crew_init(struct sb_crew *c, unsigned size)
{
    memset(c, 0, sizeof(*c));
    if (pthread_mutex_init(&c->lock, NULL))
        return SB_ENOMEM;
    if (pthread_cond_init(&c->moved, NULL)) {
        pthread_mutex_destroy(&c->lock);
        return SB_ENOMEM;
    }
    c->size = size;
    return 0;
}

void sb_crew_done(struct sb_crew *c)
{
    if (c->size == 0)
        return;
    pthread_cond_destroy(&c->moved);
    pthread_mutex_destroy(&c->lock);
    c->size = 0;
}

static void open_if_full(struct sb_crew *c)
{
    assert(c->arrived + c->gone <= c->size);
    if (c->arrived + c->gone == c->size) {
        c->arrived = 0;
        c->generation++;
        pthread_cond_broadcast(&c->moved);
    }
}

int sb_crew_barrier(struct sb_crew *c)
{
    pthread_mutex_lock(&c->lock);
    uint64_t mine = c->generation;
    c->arrived++;
    open_if_full(c);
    while (mine == c->generation && !c->canceled)
        pthread_cond_wait(&c->moved, &c->lock);
    bool canceled = c->canceled;
    if (mine == c->generation)
        c->arrived--; // canceled before all had arrived
    pthread_mutex_unlock(&c->lock);
    return canceled ? SB_ECANCELED : 0;
}

void sb_crew_leave(struct sb_crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->gone++;
    open_if_full(c);
    pthread_cond_broadcast(&c->moved); // wakes members in sb_crew_settle()
    pthread_mutex_unlock(&c->lock);
}

void sb_crew_cancel(struct sb_crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->canceled = true;
    pthread_cond_broadcast(&c->moved);
    pthread_mutex_unlock(&c->lock);
}

// Call with c->lock held.
static bool all_settled(const struct sb_crew *c)
{
    return c->let_go || c->settled + c->gone >= c->size;
}

void sb_crew_settle(struct sb_crew *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->canceled) {
        c->settled++;
        pthread_cond_broadcast(&c->moved);
        while (c->held || !all_settled(c))
            pthread_cond_wait(&c->moved, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
}

bool sb_crew_hold(struct sb_crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->held = !all_settled(c);
    bool held = c->held;
    pthread_mutex_unlock(&c->lock);
    return held;
}

void sb_crew_let_go(struct sb_crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->held = false;
    c->let_go = true;
    pthread_cond_broadcast(&c->moved);
    pthread_mutex_unlock(&c->lock);
}

double sb_crew_ticket(struct sb_crew *c, int key)
{
    if (key < 0 || key >= SB_CREW_TICKETS)
        return SB_ERANGE;
    if (c->canceled)
        return SB_ECANCELED;
    return (double)atomic_fetch_add_explicit(
        &c->ticket[key], 1, memory_order_relaxed);
}

void sb_crew_progress(struct sb_crew *c, const char *title, double n,
    double total, uint64_t now_ns)
{
    pthread_mutex_lock(&c->lock);
    if (strncmp(c->title, title, sizeof(c->title) - 1) != 0) {
        snprintf(c->title, sizeof(c->title), "%s", title);
        c->done = 0;
        c->since_ns = now_ns;
    }
    c->done += n;
    if (total > 0)
        c->total = total;
    pthread_mutex_unlock(&c->lock);
}

bool sb_crew_progress_line(
    struct sb_crew *c, uint64_t now_ns, char *out, size_t size)
{
    bool some = false;

    pthread_mutex_lock(&c->lock);
    double passed = (double)(now_ns - c->since_ns) / 1e9;
    if (c->title[0] && c->total > 0 && passed > 0) {
        double rate = c->done / passed;
        int n = snprintf(out, size, "%s: %.0f of %.0f (%.0f %%), %.0f/s",
            c->title, c->done, c->total, 100 * c->done / c->total, rate);

        if (rate > 0 && n > 0 && (size_t)n < size)
            snprintf(out + n, size - (size_t)n, ", %.0f s left",
                (c->total - c->done) / rate);
        some = true;
    }
    pthread_mutex_unlock(&c->lock);
    return some;
}
