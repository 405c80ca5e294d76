// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // RUSAGE_THREAD
#include "loop/hold.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/fiber_private.h"

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

void sb_account_take(struct sb_account *a, int schedstat, uint64_t now)
{
    struct rusage usage;
    bool known = getrusage(RUSAGE_THREAD, &usage) == 0;

    a->at = now;
    a->cpu = sb_clock_read(CLOCK_THREAD_CPUTIME_ID);
    a->has_delay = read_delay(schedstat, &a->delay);
    a->preempted = known ? usage.ru_nivcsw : -1;
    a->sleeps = known ? usage.ru_nvcsw : -1;
}

long sb_account_sleeps(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : -1;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

uint64_t sb_account_held(const struct sb_account *a, const struct sb_account *b,
    long slept, uint64_t from, uint64_t to)
{
    uint64_t wall = to - from, before = minus(from, a->at);
    uint64_t cpu = minus(b->cpu - a->cpu, before);

    cpu = cpu < wall ? cpu : wall;
    // A thread that did not sleep was held only while it had a processor. The
    // host of a virtual machine may have given the processor to another one,
    // which the kernel does not count as a delay.
    if (slept >= 0 && b->sleeps == slept)
        return cpu;
    if (a->has_delay && b->has_delay)
        return minus(wall, b->delay - a->delay);
    if (a->preempted >= 0 && a->preempted == b->preempted)
        return wall;
    return cpu;
}

// How long turns are timed after the last round or turn that was too long.
#define TIMED_NS UINT64_C(10000000000)
// How old the account before a hold may be.
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
    // Not in state D: it may wait for a page of its own memory.
    return name_end && name_end[2] == 'S';
}

// The loop sets the number of the round before the fiber that runs.
static struct sb_fiber *what_runs(struct sb_loop *l, unsigned *round)
{
    struct sb_fiber *f = atomic_load_explicit(
        &l->running, memory_order_acquire);

    *round = atomic_load_explicit(&l->round, memory_order_acquire);
    return f;
}

// Returns whether the thread sleeps in this turn of the fiber. If the turn has
// not ended after the state of the thread was read, the state is that of this
// turn, because a fiber has only one turn in a round.
static bool sleeps_in(struct sb_loop *l, struct sb_fiber *f, unsigned round)
{
    int stat = atomic_load_explicit(&l->check.stat, memory_order_relaxed);
    bool asleep = is_asleep(stat);
    unsigned now;

    return asleep && what_runs(l, &now) == f && now == round;
}

// Never stores a fiber of an earlier round with the number of this round.
static void set_blocked(
    struct sb__check *c, struct sb_fiber *f, unsigned round, uint64_t ns)
{
    struct sb_fiber *last = atomic_exchange_explicit(
        &c->blocked, NULL, memory_order_acq_rel);
    bool same = last && atomic_load_explicit(
                            &c->blocked_round, memory_order_relaxed) == round;

    if (same && atomic_load_explicit(&c->blocked_ns, memory_order_relaxed) > ns)
        f = last;
    else
        atomic_store_explicit(&c->blocked_ns, ns, memory_order_relaxed);
    atomic_store_explicit(&c->blocked_round, round, memory_order_release);
    atomic_store_explicit(&c->blocked, f, memory_order_release);
}

void sb_loop_check(struct sb_loop *l, uint64_t now)
{
    struct sb__check *c = &l->check;
    unsigned round;
    struct sb_fiber *f = what_runs(l, &round);
    bool same = f && f == c->fiber && round == c->round, asleep;

    if (now - c->at < SB_HOLD_CHECK_NS / 2)
        return;
    asleep = same && sleeps_in(l, f, round);
    if (!same)
        c->since = now;
    if (asleep && c->asleep)
        set_blocked(c, f, round, now - c->since);
    c->at = now;
    c->fiber = f;
    c->round = round;
    c->asleep = asleep;
}

void *sb_loop_stuck(struct sb_loop *l, uint64_t *since)
{
    const struct sb__check *c = &l->check;
    unsigned round;
    struct sb_fiber *f = what_runs(l, &round);

    if (!f || f != c->fiber || round != c->round || c->asleep)
        return NULL;
    *since = c->since;
    return f->context.arg;
}

// Returns the fiber that was seen to block the thread in this round, or NULL.
static struct sb_fiber *take_blocked(struct sb_loop *l)
{
    struct sb__check *c = &l->check;
    struct sb_fiber *f = atomic_exchange_explicit(
        &c->blocked, NULL, memory_order_acq_rel);
    unsigned round = atomic_load_explicit(
        &c->blocked_round, memory_order_acquire);

    // The check may have stored the fiber after the round had ended.
    return round == atomic_load_explicit(&l->round, memory_order_relaxed)
               ? f
               : NULL;
}

// Turns ----------------------------------------------------------------------

void sb__turns_begin(struct sb_loop *l)
{
    assert(l->check.stat < 0);
    l->turns.schedstat = -1;
    l->turns.until = 0;
    if (l->turns.held)
        atomic_store_explicit(&l->check.stat,
            open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC),
            memory_order_relaxed);
}

void sb__turns_close(struct sb_loop *l)
{
    int stat = atomic_exchange_explicit(
        &l->check.stat, -1, memory_order_relaxed);

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
        sb_account_take(&t->before, t->schedstat, now);
    t->until = now + TIMED_NS;
}

void sb__turns_ready(struct sb_loop *l)
{
    l->turns.sleeps = sb_account_sleeps();
}

// The turns of a round were not timed, but one was seen to block the thread.
static void report_blocked(struct sb_loop *l, uint64_t from, uint64_t to)
{
    struct sb_fiber *f = take_blocked(l);
    struct sb_hold hold = {
        .from = from,
        .to = to,
        .ns = atomic_load_explicit(&l->check.blocked_ns, memory_order_relaxed),
        .blocked = true,
        .at_least = true,
    };

    if (f)
        l->turns.held(f->context.arg, &hold);
}

void sb__turns_round(struct sb_loop *l, uint64_t from, uint64_t to)
{
    struct sb__turns *t = &l->turns;

    if (to - from > SB_HOLD_NS && t->held && l->alive > 1) {
        if (!t->until)
            report_blocked(l, from, to);
        time_turns(l, to);
    } else if (t->until && to >= t->until) {
        t->until = 0;
    }
}

static void report_turn(
    struct sb_loop *l, struct sb_fiber *f, uint64_t from, uint64_t to)
{
    struct sb__turns *t = &l->turns;
    struct sb_account now = { 0 };
    struct sb_hold hold = { .from = from, .to = to };

    sb_account_take(&now, t->schedstat, to);
    hold.ns = sb_account_held(&t->before, &now, t->sleeps, from, to);
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
        report_turn(l, f, from, t->from);
    else if (t->from - t->before.at > FRESH_NS)
        sb_account_take(&t->before, t->schedstat, t->from);
}
