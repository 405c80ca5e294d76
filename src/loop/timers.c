// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/timers.h"

#include <assert.h>
#include <stdlib.h>

#include "base/err.h"

#define CHILDREN 4u // fewer cache lines are touched than with two

int sb_timers_init(struct sb_timers *t, uint32_t cap)
{
    *t = (struct sb_timers){ .cap = cap };
    t->heap = calloc(cap ? cap : 1, sizeof(*t->heap));
    return t->heap ? 0 : SB_ENOMEM;
}

void sb_timers_done(struct sb_timers *t)
{
    free(t->heap);
    *t = (struct sb_timers){ 0 };
}

static void put_at(struct sb_timers *t, uint32_t i, struct sb_timer *timer)
{
    t->heap[i] = timer;
    timer->place = i + 1;
}

// Moves a timer up from i, while its parent is later.
static void sift_up(struct sb_timers *t, uint32_t i, struct sb_timer *timer)
{
    while (i > 0) {
        uint32_t parent = (i - 1) / CHILDREN;

        if (t->heap[parent]->at <= timer->at)
            break;
        put_at(t, i, t->heap[parent]);
        i = parent;
    }
    put_at(t, i, timer);
}

static uint32_t earliest_child(const struct sb_timers *t, uint32_t i)
{
    uint32_t first = i * CHILDREN + 1, best = first;

    for (uint32_t k = first + 1; k < first + CHILDREN && k < t->n; k++) {
        if (t->heap[k]->at < t->heap[best]->at)
            best = k;
    }
    return best;
}

// Moves a timer down from i, while one of its children is earlier.
static void sift_down(struct sb_timers *t, uint32_t i, struct sb_timer *timer)
{
    while (i * CHILDREN + 1 < t->n) {
        uint32_t child = earliest_child(t, i);

        if (t->heap[child]->at >= timer->at)
            break;
        put_at(t, i, t->heap[child]);
        i = child;
    }
    put_at(t, i, timer);
}

static void sift(struct sb_timers *t, uint32_t i, struct sb_timer *timer)
{
    if (i > 0 && t->heap[(i - 1) / CHILDREN]->at > timer->at)
        sift_up(t, i, timer);
    else
        sift_down(t, i, timer);
}

void sb_timers_set(struct sb_timers *t, struct sb_timer *timer, uint64_t at)
{
    timer->at = at;
    if (timer->place) {
        assert(t->heap[timer->place - 1] == timer);
        sift(t, timer->place - 1, timer);
        return;
    }
    assert(t->n < t->cap);
    sift_up(t, t->n++, timer);
}

void sb_timers_clear(struct sb_timers *t, struct sb_timer *timer)
{
    uint32_t i = timer->place;
    struct sb_timer *last;

    if (i == 0)
        return;
    assert(i <= t->n && t->heap[i - 1] == timer);
    timer->place = 0;
    last = t->heap[--t->n];
    if (last != timer)
        sift(t, i - 1, last);
}

// Steps up and down as parts of the margin; their ratio sets the share of
// wake-ups that are later than the margin.
#define UP   8
#define DOWN (20 * UP)

void sb_alarm_learn(struct sb_alarm *a, uint64_t late)
{
    uint64_t m = sb_alarm_margin(a);

    if (late > m)
        m += m / UP;
    else
        m -= m / DOWN;
    if (m < SB_ALARM_MIN)
        m = SB_ALARM_MIN;
    if (m > SB_ALARM_MAX)
        m = SB_ALARM_MAX;
    a->margin = m;
}
