// SPDX-License-Identifier: GPL-2.0-or-later
//
// Fibers that hold their thread.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // gettid()
#endif
#include "loop/hold.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/fiber.h"
#include "loop/loop.h"
#include "check.h"

#define STACK  (256 * 1024)
#define MS     UINT64_C(1000000)
#define ROUNDS 6

static struct {
    int n;
    void *arg;
    struct sb_hold last;
} held;

static void note(void *arg, const struct sb_hold *hold)
{
    CHECK(!sb_fiber_current());
    held.n++;
    held.arg = arg;
    held.last = *hold;
}

struct member {
    struct sb_fiber *self;
    void (*work)(struct member *m);
    uint64_t turn; // of the last round
};

static void run_rounds(void *arg)
{
    struct member *m = arg;

    for (int i = 0; i < ROUNDS; i++) {
        m->turn = sb_fiber_turn(m->self);
        m->work(m);
        sb_fiber_yield(m->self);
    }
}

// Runs members and returns the number of holds.
static int run_loop(struct member *m, int n)
{
    struct sb_loop *l = sb_loop_new((unsigned)n, true);
    struct sb_err err = { 0 };

    memset(&held, 0, sizeof(held));
    sb_loop_watch(l, note);
    for (int i = 0; i < n; i++)
        m[i].self = sb_loop_add(l, STACK, run_rounds, &m[i]);
    CHECK_INT(sb_loop_open(l, SB_LOOP_ANY, &err), 0);
    sb_loop_run(l);
    sb_loop_close(l);
    sb_loop_free(l);
    return held.n;
}

static void do_nothing(struct member *m)
{
    (void)m;
}

static void block(struct member *m)
{
    (void)m;
    usleep(20000);
}

static void compute(struct member *m)
{
    struct timespec ts;
    int64_t end = 0, now;

    (void)m;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
        now = ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
        end = end ? end : now + (int64_t)(30 * MS);
    } while (now < end);
}

static void wait_as_fibers_do(struct member *m)
{
    uint64_t until = sb_clock_monotonic() + 20 * MS;

    while (sb_fiber_sleep(m->self, until))
        ;
}

// The first long round only starts the clock.
static void a_fiber_that_blocks_is_found(void)
{
    struct member m[2] = { { .work = do_nothing }, { .work = block } };

    CHECK_INT(run_loop(m, 2), ROUNDS - 1);
    CHECK(held.arg == &m[1]);
    CHECK(held.last.ns > SB_HOLD_NS);
    CHECK(held.last.ns <= held.last.to - held.last.from);
    CHECK_INT(held.last.from, m[1].turn);
    CHECK(!held.last.computed);
}

static void a_fiber_that_computes_is_found(void)
{
    struct member m[2] = { { .work = compute }, { .work = do_nothing } };

    CHECK_INT(run_loop(m, 2), ROUNDS - 1);
    CHECK(held.arg == &m[0]);
    CHECK(held.last.ns > SB_HOLD_NS);
    CHECK(held.last.computed);
}

static void a_fiber_that_waits_holds_nothing(void)
{
    uint64_t turn = 1;

    // If the thread had to wait for a processor, a round was long.
    for (int i = 0; turn != 0 && i < 50; i++) {
        struct member m[2] = { { .work = do_nothing },
            { .work = wait_as_fibers_do } };

        CHECK_INT(run_loop(m, 2), 0);
        turn = m[1].turn;
    }
    CHECK_INT(turn, 0); // no long round: turns are not timed
}

static void a_fiber_alone_holds_up_no_other(void)
{
    struct member m[1] = { { .work = block } };

    CHECK_INT(run_loop(m, 1), 0);
}

// Holds of a loop that another thread checks.
static struct {
    struct sb_loop *loop;
    struct sb_fiber *other;
    int pipe[2];
    int checks; // while the fiber holds the thread
    bool sleeps;
    bool timed; // the turn of the fiber is timed: a round before it was long
    _Atomic bool held, over;
    _Atomic pid_t thread; // of the loop
} checked;

static bool is_asleep(pid_t thread)
{
    char path[64], state = '?';
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
    f = fopen(path, "r");
    if (!f)
        return false;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    fclose(f);
    return state == 'S';
}

// The kernel may wake a thread that goes on sleeping, and on a busy machine
// that thread waits for a processor in between.
static void await_sleep(void)
{
    for (int i = 0; !is_asleep(checked.thread) && i < 5000; i++)
        usleep(1000);
}

// Time passes faster for the check than it does.
static void check_later(uint64_t *now, bool asleep)
{
    usleep(2000);
    if (asleep)
        await_sleep();
    *now += SB_HOLD_CHECK_NS;
    sb_loop_check(checked.loop, *now);
}

static void *check_loop(void *arg)
{
    uint64_t now = sb_clock_monotonic();

    (void)arg;
    while (!atomic_load(&checked.held))
        usleep(1000);
    usleep(20000);
    for (int i = 0; i < checked.checks; i++)
        check_later(&now, checked.sleeps);
    CHECK(write(checked.pipe[1], "x", 1) == 1);
    while (!atomic_load(&checked.over))
        check_later(&now, false);
    return NULL;
}

static void block_until_checked(void)
{
    char c;

    CHECK(read(checked.pipe[0], &c, 1) == 1);
}

static void compute_until_checked(void)
{
    char c;

    fcntl(checked.pipe[0], F_SETFL, O_NONBLOCK);
    while (read(checked.pipe[0], &c, 1) != 1)
        ;
}

static void wait_until_checked(void)
{
    uint64_t until = sb_clock_monotonic() + 60 * MS;

    while (sb_fiber_sleep(sb_fiber_current(), until))
        ;
}

static void hold_once(void *arg)
{
    checked.timed = sb_fiber_turn(sb_fiber_current()) != 0;
    atomic_store(&checked.thread, gettid());
    atomic_store(&checked.held, true);
    ((void (*)(void))arg)();
    sb_fiber_yield(sb_fiber_current());
    sb_fiber_wake(checked.other);
}

static void wait_for_wakeup(void *arg)
{
    (void)arg;
    while (!sb_fiber_sleep(sb_fiber_current(), SB_FOREVER))
        ;
}

// Returns the number of holds in a loop with a fiber that holds it once.
static int run_once(void (*until_checked)(void), int checks)
{
    struct sb_err err = { 0 };
    pthread_t thread;

    memset(&held, 0, sizeof(held));
    checked.checks = checks;
    checked.sleeps = until_checked != compute_until_checked;
    atomic_store(&checked.held, false);
    atomic_store(&checked.over, false);
    checked.loop = sb_loop_new(2, true);
    CHECK_INT(pipe(checked.pipe), 0);
    sb_loop_watch(checked.loop, note);
    sb_loop_add(checked.loop, STACK, hold_once, (void *)until_checked);
    checked.other = sb_loop_add(checked.loop, STACK, wait_for_wakeup, NULL);
    CHECK_INT(sb_loop_open(checked.loop, SB_LOOP_ANY, &err), 0);
    CHECK_INT(pthread_create(&thread, NULL, check_loop, NULL), 0);
    sb_loop_run(checked.loop);
    atomic_store(&checked.over, true);
    CHECK_INT(pthread_join(thread, NULL), 0);
    sb_loop_close(checked.loop);
    sb_loop_free(checked.loop);
    close(checked.pipe[0]);
    close(checked.pipe[1]);
    return held.n;
}

// Repeats the run until turns are not timed. They are timed after a long round,
// such as one in which the thread waited for a processor.
static int run_checked(void (*until_checked)(void), int checks)
{
    int holds = 0;

    for (int i = 0; i < 100; i++) {
        holds = run_once(until_checked, checks);
        if (!checked.timed)
            break;
    }
    CHECK(!checked.timed);
    return holds;
}

static void a_fiber_that_blocks_once_is_found(void)
{
    CHECK_INT(run_checked(block_until_checked, 2), 0);
    CHECK_INT(run_checked(block_until_checked, 3), 1);
    CHECK(held.last.blocked);
    CHECK(!held.last.computed);
    CHECK(held.last.ns > SB_HOLD_NS);
    // From the first check to the third.
    CHECK(held.last.at_least);
    CHECK_INT(held.last.ns, 2 * SB_HOLD_CHECK_NS);
}

static void other_holds_need_two_rounds(void)
{
    CHECK_INT(run_checked(compute_until_checked, 25), 0);
    CHECK_INT(run_checked(wait_until_checked, 25), 0);
}

CHECK_FILE
{
    RUN(a_fiber_that_blocks_is_found);
    RUN(a_fiber_that_computes_is_found);
    RUN(a_fiber_that_waits_holds_nothing);
    RUN(a_fiber_alone_holds_up_no_other);
    RUN(a_fiber_that_blocks_once_is_found);
    RUN(other_holds_need_two_rounds);
    return check_done();
}
