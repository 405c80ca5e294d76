// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads for what blocks: a call in one of them blocks no other fiber.
#include "loop/helper.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "check.h"
#include "loop/loop.h"

#define STACK (64 * 1024)
#define MS    UINT64_C(1000000)
#define FEW   4u
#define MANY  2000u

static enum sb_loop_kind kind;

// What the fibers and the helpers share. A call ends when the gate is open.
static struct world {
    struct sb_loop *loop;
    struct sb_helpers *helpers;
    pthread_t thread; // of the loop
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool open;                // the following: under the lock
    unsigned inside, most_in; // calls in progress
    unsigned begun;
    unsigned order[MANY];
    pthread_t threads[FEW]; // that carried out calls
    unsigned nthreads;
    // Of the fibers:
    unsigned ended, refused, canceled;
    struct sb_fiber *gatekeeper;
} w;

struct call {
    struct sb_fiber *fiber;
    unsigned number;
    uint64_t deadline;
    bool left; // it is to be canceled
    uint64_t took, queued;
};

static void wait_at_gate(void *arg)
{
    struct call *c = arg;

    CHECK(!sb_fiber_current() && !sb_helper_shared());
    CHECK(!pthread_equal(pthread_self(), w.thread));
    pthread_mutex_lock(&w.lock);
    w.order[w.begun++] = c->number;
    w.inside++;
    if (w.inside > w.most_in)
        w.most_in = w.inside;
    pthread_cond_broadcast(&w.moved);
    while (!w.open)
        pthread_cond_wait(&w.moved, &w.lock);
    w.inside--;
    pthread_mutex_unlock(&w.lock);
}

static bool is_left(void *arg)
{
    const struct call *c = arg;

    CHECK(sb_fiber_current() == c->fiber);
    return c->left;
}

static void make_call(void *arg)
{
    struct call *c = arg;

    CHECK(sb_helper_shared());
    uint64_t since = sb_clock_monotonic();
    int rc = sb_helper_run(wait_at_gate, is_left, c, c->deadline);
    c->took = sb_clock_monotonic() - since;
    c->queued = sb_fiber_waits(c->fiber)->queued;
    CHECK(rc == 0 || rc == SB_ETIMEOUT || rc == SB_ECANCELED);
    w.refused += rc == SB_ETIMEOUT;
    w.canceled += rc == SB_ECANCELED;
    CHECK(sb_fiber_current() == c->fiber);
    w.ended++;
}

static unsigned begun(void)
{
    pthread_mutex_lock(&w.lock);
    unsigned n = w.begun;
    pthread_mutex_unlock(&w.lock);
    return n;
}

static void open_gate(void)
{
    pthread_mutex_lock(&w.lock);
    w.open = true;
    pthread_cond_broadcast(&w.moved);
    pthread_mutex_unlock(&w.lock);
}

static void nap(void)
{
    sb_fiber_sleep(w.gatekeeper, sb_clock_monotonic() + MS);
}

static unsigned threads_of_process(void)
{
    DIR *dir = opendir("/proc/self/task");
    unsigned n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n - 2; // "." and ".."
}

static void start(unsigned fibers, unsigned helpers)
{
    w = (struct world){ .loop = sb_loop_new(fibers, false),
        .helpers = helpers ? sb_helpers_new(helpers) : NULL,
        .thread = pthread_self() };
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.moved, NULL);
    sb_loop_helpers(w.loop, w.helpers);
}

static void run(void)
{
    struct sb_err err = { 0 };

    CHECK_INT(sb_loop_open(w.loop, kind, &err), 0);
    sb_loop_run(w.loop);
    sb_helpers_free(w.helpers);
    sb_loop_close(w.loop);
    sb_loop_free(w.loop);
    pthread_cond_destroy(&w.moved);
    pthread_mutex_destroy(&w.lock);
}

static void add(struct call *c, unsigned number, uint64_t deadline)
{
    *c = (struct call){ .number = number, .deadline = deadline };
    c->fiber = sb_loop_add(w.loop, STACK, make_call, c);
}

// Runs while all helpers are busy and the other calls wait.
static void open_when_all_wait(void *arg)
{
    while (begun() < FEW)
        nap();
    CHECK_INT(w.ended, 0);
    // The test has no other threads, but a sanitizer may.
    CHECK(threads_of_process() <= FEW + 2);
    open_gate();
}

static void many_calls_few_threads(void)
{
    struct call *c = calloc(MANY, sizeof(*c));

    start(MANY + 1, FEW);
    for (unsigned i = 0; i < MANY; i++)
        add(&c[i], i, SB_FOREVER);
    w.gatekeeper = sb_loop_add(w.loop, STACK, open_when_all_wait, NULL);
    run();
    CHECK_INT(w.ended, MANY);
    CHECK_INT(w.begun, MANY);
    CHECK_INT(w.most_in, FEW);
    CHECK_INT(w.refused, 0);
    free(c);
}

static void open_after_deadlines(void *arg)
{
    while (w.refused < 2)
        nap();
    open_gate();
}

// One helper, which is busy until the second and the third call were refused;
// the last one waits for its turn.
static void deadlines(void)
{
    struct call c[4];

    start(5, 1);
    add(&c[0], 0, SB_FOREVER);
    add(&c[1], 1, sb_clock_monotonic() + MS);
    add(&c[2], 2, sb_clock_monotonic() + 2 * MS);
    add(&c[3], 3, SB_FOREVER);
    w.gatekeeper = sb_loop_add(w.loop, STACK, open_after_deadlines, NULL);
    run();
    CHECK_INT(w.refused, 2);
    CHECK_INT(w.ended, 4);
    CHECK_INT(w.begun, 2);
    CHECK_INT(w.order[0], 0);
    CHECK_INT(w.order[1], 3);
}

static void open_after_the_deadline(void *arg)
{
    const struct call *c = arg;

    while (begun() == 0 && w.refused == 0)
        nap();
    while (sb_clock_monotonic() < c->deadline)
        nap();
    nap();
    CHECK_INT(w.ended, w.refused);
    open_gate();
}

// On a very busy machine the call may not have begun.
static void a_call_that_has_begun_has_no_deadline(void)
{
    struct call c;

    start(2, 1);
    add(&c, 0, sb_clock_monotonic() + 200 * MS);
    w.gatekeeper = sb_loop_add(w.loop, STACK, open_after_the_deadline, &c);
    run();
    CHECK_INT(w.ended, 1);
    CHECK_INT(w.begun + w.refused, 1);
}

static void first_come_first_served(void)
{
    struct call c[20];

    start(20, 1);
    w.open = true;
    for (unsigned i = 0; i < 20; i++)
        add(&c[i], i, SB_FOREVER);
    run();
    for (unsigned i = 0; i < 20; i++)
        CHECK_INT(w.order[i], i);
}

static void open_after_some_time(void *arg)
{
    while (begun() == 0)
        nap();
    sb_fiber_sleep(w.gatekeeper, sb_clock_monotonic() + 20 * MS);
    open_gate();
}

// One helper: the first call takes some time, for which the second one waits.
static void time_in_the_queue(void)
{
    struct call c[2];

    start(3, 1);
    add(&c[0], 0, SB_FOREVER);
    add(&c[1], 1, SB_FOREVER);
    w.gatekeeper = sb_loop_add(w.loop, STACK, open_after_some_time, NULL);
    run();
    CHECK(c[0].took - c[0].queued >= 20 * MS);
    CHECK(c[1].queued >= 20 * MS && c[1].queued <= c[1].took);
}

static void open_after_a_cancel(void *arg)
{
    struct call *c = arg;

    while (begun() == 0)
        nap();
    c[0].left = c[1].left = true;
    while (w.canceled == 0)
        nap();
    CHECK_INT(w.ended, 1);
    open_gate();
}

// One helper, which is busy with the first call. Of the two that are canceled,
// only the second one has not begun. The third keeps its turn.
static void a_call_that_waits_is_canceled(void)
{
    struct call c[3];

    start(4, 1);
    for (unsigned i = 0; i < 3; i++)
        add(&c[i], i, SB_FOREVER);
    w.gatekeeper = sb_loop_add(w.loop, STACK, open_after_a_cancel, c);
    run();
    CHECK_INT(w.canceled, 1);
    CHECK_INT(w.refused, 0);
    CHECK_INT(w.begun, 2);
    CHECK_INT(w.order[0], 0);
    CHECK_INT(w.order[1], 2);
}

// Two loops share helpers.
static void *run_second(void *arg)
{
    struct sb_loop *l = arg;
    struct sb_err err = { 0 };

    CHECK_INT(sb_loop_open(l, kind, &err), 0);
    sb_loop_run(l);
    return NULL;
}

static void here(void *arg)
{
    *(pthread_t *)arg = pthread_self();
}

static void note_thread(pthread_t thread)
{
    unsigned i = 0;

    pthread_mutex_lock(&w.lock);
    while (i < w.nthreads && !pthread_equal(w.threads[i], thread))
        i++;
    if (i == w.nthreads && i < FEW)
        w.threads[w.nthreads++] = thread;
    pthread_mutex_unlock(&w.lock);
}

static void call_many(void *arg)
{
    pthread_t where;

    for (int i = 0; i < 500; i++) {
        where = pthread_self();
        CHECK_INT(sb_helper_run(here, NULL, &where, SB_FOREVER), 0);
        CHECK(!pthread_equal(where, pthread_self()));
        note_thread(where);
    }
}

static void loops_share_helpers(void)
{
    struct sb_loop *second = sb_loop_new(3, false);
    struct sb_err err = { 0 };
    pthread_t thread;

    start(3, 2);
    sb_loop_helpers(second, w.helpers);
    for (int i = 0; i < 3; i++) {
        sb_loop_add(w.loop, STACK, call_many, NULL);
        sb_loop_add(second, STACK, call_many, NULL);
    }
    pthread_create(&thread, NULL, run_second, second);
    CHECK_INT(sb_loop_open(w.loop, kind, &err), 0);
    sb_loop_run(w.loop);
    pthread_join(thread, NULL);
    CHECK(w.nthreads >= 1 && w.nthreads <= 2);
    sb_helpers_free(w.helpers);
    sb_loop_close(w.loop);
    sb_loop_close(second);
    sb_loop_free(w.loop);
    sb_loop_free(second);
}

static void call_here(void *arg)
{
    pthread_t where;

    CHECK_INT(sb_helper_run(here, NULL, &where, 0), 0);
    CHECK(pthread_equal(where, pthread_self()));
}

static void without_helpers_it_is_a_call(void)
{
    CHECK(!sb_helper_shared());
    call_here(NULL);
    start(1, 0);
    sb_loop_add(w.loop, STACK, call_here, NULL);
    run();
}

static int has(enum sb_loop_kind k)
{
    struct sb_loop *l = sb_loop_new(1, false);
    struct sb_err err = { 0 };
    int rc = sb_loop_open(l, k, &err);

    sb_loop_close(l);
    sb_loop_free(l);
    return rc == 0;
}

CHECK_FILE
{
    static const enum sb_loop_kind kinds[] = { SB_LOOP_EPOLL, SB_LOOP_URING };

    for (int i = 0; i < 2; i++) {
        kind = kinds[i];
        if (!has(kind))
            continue;
        RUN(many_calls_few_threads);
        RUN(deadlines);
        RUN(a_call_that_has_begun_has_no_deadline);
        RUN(a_call_that_waits_is_canceled);
        RUN(first_come_first_served);
        RUN(time_in_the_queue);
        RUN(loops_share_helpers);
        RUN(without_helpers_it_is_a_call);
    }
    return check_done();
}
