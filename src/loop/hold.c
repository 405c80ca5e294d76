// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // RUSAGE_THREAD
#include "loop/hold.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/loop_private.h"

// How long turns are timed after the last round or turn that was too long.
#define TIMED_NS UINT64_C(10000000000)
// The account of a hold includes what came up to this long before it. So a
// thread that waited for a processor shortly before it may seem to have held
// its processor for a shorter time, but never for a longer one.
#define FRESH_NS UINT64_C(5000000)

void sb_loop_watch(
    struct sb_loop *l, void (*held)(void *arg, const struct sb_hold *hold))
{
    l->turns.held = held;
}

uint64_t sb_fiber_turn(const struct sb_fiber *f)
{
    return f->loop->turns.until ? f->loop->turns.from : 0;
}

// Account --------------------------------------------------------------------

// The kernel's count of ns in which the calling thread was ready and had to
// wait for a processor. Returns false if the kernel does not count it.
static bool read_delay(int fd, uint64_t *ns)
{
    char text[128], *end;
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

    if (n <= 0)
        return false;
    text[n] = '\0'; // "ns with a processor, ns of delay, number of turns"
    strtoull(text, &end, 10);
    *ns = strtoull(end, NULL, 10);
    return true;
}

static void take_account(
    const struct sb__turns *t, struct sb__account *a, uint64_t now)
{
    struct rusage usage;
    bool known = getrusage(RUSAGE_THREAD, &usage) == 0;

    a->at = now;
    a->cpu = sb_clock_read(CLOCK_THREAD_CPUTIME_ID);
    a->has_delay = read_delay(t->schedstat, &a->delay);
    a->preempted = known ? usage.ru_nivcsw : -1;
    a->sleeps = known ? usage.ru_nvcsw : -1;
}

// How long the thread was held in `wall` ns between two accounts. slept: how
// often it had slept before these; < 0: not known.
static uint64_t without_delay(const struct sb__account *a,
    const struct sb__account *b, long slept, uint64_t wall)
{
    uint64_t cpu = b->cpu - a->cpu, delay = b->delay - a->delay;

    // A thread that had no processor and did not sleep was not held, whatever
    // the kernel knows: the host of a virtual machine runs another one.
    if (b->sleeps >= 0 && b->sleeps == slept)
        return cpu < wall ? cpu : wall;
    if (a->has_delay && b->has_delay)
        return delay < wall ? wall - delay : 0;
    if (a->preempted >= 0 && a->preempted == b->preempted)
        return wall;
    return cpu < wall ? cpu : wall;
}

// Check by another thread ----------------------------------------------------

static bool is_asleep(int stat)
{
    char text[512];
    ssize_t n = stat < 0 ? -1 : pread(stat, text, sizeof(text) - 1, 0);
    const char *name_end;

    if (n <= 0)
        return false;
    text[n] = '\0'; // "id (name) state ..."
    name_end = strrchr(text, ')');
    return name_end && (name_end[2] == 'S' || name_end[2] == 'D');
}

void sb_loop_check(struct sb_loop *l, uint64_t now)
{
    struct sb__check *c = &l->check;
    unsigned round = atomic_load(&l->round);
    struct sb_fiber *f = atomic_load(&l->running);
    bool same = f && f == c->fiber && round == c->round;

    if (now - c->at < SB_HOLD_CHECK_NS / 2)
        return;
    // The thread slept in this turn if that has not ended meanwhile: a fiber
    // has one turn in a round.
    bool asleep = same && is_asleep(atomic_load(&c->stat)) &&
                  atomic_load(&l->running) == f &&
                  atomic_load(&l->round) == round;
    if (asleep && c->asleep) {
        atomic_store(&c->blocked_round, round);
        atomic_store(&c->blocked, f);
    }
    c->at = now;
    c->fiber = f;
    c->round = round;
    c->asleep = asleep;
}

// Returns the fiber that was seen to block the thread in this round, or NULL.
static struct sb_fiber *take_blocked(struct sb_loop *l)
{
    struct sb_fiber *f = atomic_exchange(&l->check.blocked, NULL);

    // The check may have come at the end of an earlier one.
    return atomic_load(&l->check.blocked_round) == atomic_load(&l->round)
               ? f
               : NULL;
}

// Turns ----------------------------------------------------------------------

void sb__turns_begin(struct sb_loop *l)
{
    l->turns.schedstat = -1;
    l->turns.until = 0;
    if (l->turns.held)
        atomic_store(&l->check.stat,
            open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC));
}

void sb__turns_close(struct sb_loop *l)
{
    int stat = atomic_exchange(&l->check.stat, -1);

    if (stat >= 0)
        close(stat);
}

void sb__turns_end(struct sb_loop *l)
{
    if (l->turns.schedstat >= 0)
        close(l->turns.schedstat);
    l->turns.schedstat = -1;
    l->turns.until = 0;
}

static void time_turns(struct sb_loop *l, uint64_t now)
{
    struct sb__turns *t = &l->turns;

    if (t->schedstat < 0)
        t->schedstat = open(
            "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (!t->until)
        take_account(t, &t->before, now);
    t->until = now + TIMED_NS;
}

void sb__turns_ready(struct sb_loop *l)
{
    struct rusage usage;

    l->turns.sleeps = getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw
                                                            : -1;
}

// The fibers of a round were not timed, but one was seen to block.
static void report_blocked(struct sb_loop *l, uint64_t from, uint64_t to)
{
    struct sb_fiber *f = take_blocked(l);
    struct sb_hold hold = {
        .from = from, .to = to, .ns = to - from, .blocked = true
    };

    if (f)
        l->turns.held(f->context.arg, &hold);
}

void sb__turns_round(struct sb_loop *l, uint64_t from, uint64_t to)
{
    struct sb__turns *t = &l->turns;

    if (to - from > SB_HOLD_NS && t->held && l->alive > 1) {
        report_blocked(l, from, to);
        time_turns(l, to);
    } else if (t->until && to >= t->until) {
        t->until = 0;
    }
}

static void report(
    struct sb_loop *l, struct sb_fiber *f, uint64_t from, uint64_t to)
{
    struct sb__turns *t = &l->turns;
    struct sb__account now = { 0 };
    struct sb_hold hold = { .from = from, .to = to };

    take_account(t, &now, to);
    hold.ns = without_delay(&t->before, &now, t->sleeps, to - from);
    hold.computed = now.cpu - t->before.cpu > hold.ns / 2;
    t->before = now;
    hold.blocked = take_blocked(l) == f;
    if (hold.ns <= SB_HOLD_NS || l->alive < 2)
        return;
    t->until = to + TIMED_NS;
    t->held(f->context.arg, &hold);
}

void sb__turns_switched(struct sb_loop *l, struct sb_fiber *f)
{
    struct sb__turns *t = &l->turns;
    uint64_t from = t->from;

    t->from = sb_clock_monotonic();
    if (t->from - from > SB_HOLD_NS)
        report(l, f, from, t->from);
    else if (t->from - t->before.at > FRESH_NS)
        take_account(t, &t->before, t->from);
}
