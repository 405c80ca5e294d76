// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // tdestroy()
#include "run/crew.h"

#include <assert.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A counter of tickets.
struct counter {
    double value;
    char name[];
};

int sb_crew_init(struct sb_crew *c, unsigned size)
{
    memset(c, 0, sizeof(*c));
    if (pthread_mutex_init(&c->lock, NULL))
        return SB_ENOMEM;
    c->size = size;
    return 0;
}

void sb_crew_done(struct sb_crew *c)
{
    if (c->size == 0)
        return;
    pthread_mutex_destroy(&c->lock);
    tdestroy(c->tickets, free);
    c->tickets = NULL;
    c->size = 0;
}

static void wake_main(const struct sb_crew *c)
{
    if (c->wake)
        c->wake(c->wake_arg);
}

static void open_barrier(struct sb_crew *c)
{
    c->arrived = 0;
    c->generation++;
    sb_wait_list_wake(&c->moved);
}

static bool is_full(const struct sb_crew *c)
{
    assert(c->arrived + c->gone <= c->size);
    return c->arrived + c->gone == c->size;
}

static void open_if_full(struct sb_crew *c)
{
    if (is_full(c) && !c->wake)
        open_barrier(c);
}

int sb_crew_barrier(struct sb_crew *c, struct sb_waiter *w)
{
    pthread_mutex_lock(&c->lock);
    uint64_t mine = c->generation;
    c->arrived++;
    open_if_full(c);
    if (c->wake && is_full(c)) {
        pthread_mutex_unlock(&c->lock);
        wake_main(c);
        pthread_mutex_lock(&c->lock);
    }
    while (mine == c->generation && !c->canceled)
        sb_wait_list_wait(&c->moved, &c->lock, w, SB_FOREVER);
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
    sb_wait_list_wake(&c->moved); // wakes members in sb_crew_settle()
    pthread_mutex_unlock(&c->lock);
    wake_main(c);
}

void sb_crew_cancel(struct sb_crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->canceled = true;
    sb_wait_list_wake(&c->moved);
    pthread_mutex_unlock(&c->lock);
}

// Call with c->lock held.
static bool all_settled(const struct sb_crew *c)
{
    bool here = c->settled + c->gone >= c->size;

    return c->let_go || (c->wake ? c->settle_all : here);
}

void sb_crew_settle(struct sb_crew *c, struct sb_waiter *w)
{
    pthread_mutex_lock(&c->lock);
    if (c->canceled) {
        c->settled++;
        sb_wait_list_wake(&c->moved);
        while (c->held || !all_settled(c))
            sb_wait_list_wait(&c->moved, &c->lock, w, SB_FOREVER);
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
    sb_wait_list_wake(&c->moved);
    pthread_mutex_unlock(&c->lock);
}

static int by_name(const void *a, const void *b)
{
    const struct counter *x = a, *y = b;

    return strcmp(x->name, y->name);
}

// Returns the counter, which is created on first use; NULL if out of memory.
static struct counter *counter_of(struct sb_crew *c, const char *name)
{
    size_t len = strlen(name) + 1;
    struct counter *one = calloc(1, sizeof(*one) + len), **found;

    if (!one)
        return NULL;
    memcpy(one->name, name, len);
    found = tsearch(one, &c->tickets, by_name);
    struct counter *is = found ? *found : NULL;
    if (is != one)
        free(one);
    return is;
}

// Adds to a counter of the process that counts. Call with c->lock held.
static double add_elsewhere(
    struct sb_crew *c, struct sb_waiter *w, const char *name, double n)
{
    struct sb_crew_request r = { .n = n }, **at = &c->first;

    snprintf(r.name, sizeof(r.name), "%s", name);
    while (*at)
        at = &(*at)->next;
    *at = &r;
    pthread_mutex_unlock(&c->lock);
    wake_main(c);
    pthread_mutex_lock(&c->lock);
    while (!r.answered && !c->canceled)
        sb_wait_list_wait(&c->moved, &c->lock, w, SB_FOREVER);
    for (at = &c->first; *at != &r; at = &(*at)->next)
        ;
    *at = r.next;
    return r.answered ? r.number : SB_ECANCELED;
}

double sb_crew_add(
    struct sb_crew *c, struct sb_waiter *w, const char *name, double n)
{
    double number;

    if (strlen(name) >= SB_CREW_NAME)
        return SB_ERANGE;
    pthread_mutex_lock(&c->lock);
    if (c->canceled) {
        number = SB_ECANCELED;
    } else if (c->wake && !c->root) {
        number = add_elsewhere(c, w, name, n);
    } else {
        struct counter *counter = counter_of(c, name);

        number = counter ? counter->value : SB_ENOMEM;
        if (counter)
            counter->value += n;
    }
    pthread_mutex_unlock(&c->lock);
    return number;
}

void sb_crew_progress(struct sb_crew *c, const char *title, double n,
    double total, uint64_t now_ns)
{
    pthread_mutex_lock(&c->lock);
    if (strncmp(c->title, title, sizeof(c->title) - 1) != 0) {
        snprintf(c->title, sizeof(c->title), "%s", title);
        c->done = 0;
        c->since_ns = now_ns;
        c->added = 0;
    }
    c->done += n;
    c->added += n;
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

// Several processes -----------------------------------------------------------

void sb_crew_share(
    struct sb_crew *c, bool root, void (*wake)(void *arg), void *arg)
{
    c->root = root;
    c->wake = wake;
    c->wake_arg = arg;
}

bool sb_crew_full(struct sb_crew *c, uint64_t *barrier, bool *gone)
{
    pthread_mutex_lock(&c->lock);
    bool full = is_full(c);
    *barrier = c->generation;
    *gone = c->gone == c->size;
    pthread_mutex_unlock(&c->lock);
    return full;
}

void sb_crew_open(struct sb_crew *c, uint64_t barrier)
{
    pthread_mutex_lock(&c->lock);
    if (c->generation == barrier)
        open_barrier(c);
    pthread_mutex_unlock(&c->lock);
}

bool sb_crew_wanted(struct sb_crew *c, char name[SB_CREW_NAME], double *n)
{
    struct sb_crew_request *r;

    pthread_mutex_lock(&c->lock);
    for (r = c->first; r && r->sent; r = r->next)
        ;
    if (r) {
        r->sent = true;
        memcpy(name, r->name, SB_CREW_NAME);
        *n = r->n;
    }
    pthread_mutex_unlock(&c->lock);
    return r != NULL;
}

void sb_crew_answer(
    struct sb_crew *c, const char *name, double n, double number)
{
    struct sb_crew_request *r;

    pthread_mutex_lock(&c->lock);
    for (r = c->first; r; r = r->next)
        if (r->sent && !r->answered && r->n == n && strcmp(r->name, name) == 0)
            break;
    if (r) {
        r->answered = true;
        r->number = number;
        sb_wait_list_wake(&c->moved);
    }
    pthread_mutex_unlock(&c->lock);
}

bool sb_crew_settled(struct sb_crew *c)
{
    pthread_mutex_lock(&c->lock);
    bool settled = c->settled + c->gone >= c->size;
    pthread_mutex_unlock(&c->lock);
    return settled;
}

void sb_crew_settle_all(struct sb_crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->settle_all = true;
    sb_wait_list_wake(&c->moved);
    pthread_mutex_unlock(&c->lock);
}

bool sb_crew_take_progress(
    struct sb_crew *c, char title[64], double *n, double *total)
{
    pthread_mutex_lock(&c->lock);
    bool some = c->added > 0;
    memcpy(title, c->title, sizeof(c->title));
    *n = c->added;
    *total = c->total;
    c->added = 0;
    pthread_mutex_unlock(&c->lock);
    return some;
}
