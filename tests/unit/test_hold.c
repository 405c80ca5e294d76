// SPDX-License-Identifier: GPL-2.0-or-later
//
// Fibers that hold their thread.
#include "loop/hold.h"

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
    struct member m[2] = { { .work = do_nothing },
        { .work = wait_as_fibers_do } };

    CHECK_INT(run_loop(m, 2), 0);
    CHECK_INT(m[1].turn, 0); // no long round: turns are not timed
}

static void a_fiber_alone_holds_up_no_other(void)
{
    struct member m[1] = { { .work = block } };

    CHECK_INT(run_loop(m, 1), 0);
}

int main(void)
{
    RUN(a_fiber_that_blocks_is_found);
    RUN(a_fiber_that_computes_is_found);
    RUN(a_fiber_that_waits_holds_nothing);
    RUN(a_fiber_alone_holds_up_no_other);
    return check_done();
}
