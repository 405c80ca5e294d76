// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/waiter.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/loop.h"
#include "check.h"

#define STACK (256 * 1024)
#define MS    UINT64_C(1000000)

static uint64_t soon(void)
{
    return sb_clock_monotonic() + MS;
}

static void a_wake_up_is_kept(void)
{
    struct sb_waiter w;

    CHECK_INT(sb_waiter_init(&w), 0);
    sb_waiter_wake(&w);
    sb_waiter_wake(&w);
    CHECK(sb_waiter_sleep(&w, SB_FOREVER));
    CHECK(!sb_waiter_sleep(&w, soon()));
    sb_waiter_done(&w);
}

static void *wake_it(void *arg)
{
    sb_waiter_wake(arg);
    return NULL;
}

static void another_thread_wakes_a_thread(void)
{
    struct sb_waiter w;
    pthread_t thread;

    CHECK_INT(sb_waiter_init(&w), 0);
    CHECK_INT(pthread_create(&thread, NULL, wake_it, &w), 0);
    CHECK(sb_waiter_sleep(&w, SB_FOREVER));
    pthread_join(thread, NULL);
    sb_waiter_done(&w);
}

// Lists ----------------------------------------------------------------------

#define USERS 5

// Users that wait at a barrier, several times: some in fibers of one loop, some
// in threads.
struct barrier {
    pthread_mutex_t lock;
    struct sb_wait_list waiting;
    int arrived, generation, users;
};

struct user {
    struct sb_waiter w;
    struct barrier *b;
    int passed;
};

static void meet(struct user *u)
{
    struct barrier *b = u->b;

    pthread_mutex_lock(&b->lock);
    int mine = b->generation;
    if (++b->arrived == b->users) {
        b->arrived = 0;
        b->generation++;
        sb_wait_list_wake(&b->waiting);
    }
    while (b->generation == mine)
        sb_wait_list_wait(&b->waiting, &b->lock, &u->w, SB_FOREVER);
    pthread_mutex_unlock(&b->lock);
    u->passed++;
}

static void meet_often(void *arg)
{
    for (int i = 0; i < 200; i++)
        meet(arg);
}

static void *meet_in_thread(void *arg)
{
    meet_often(arg);
    return NULL;
}

static void fibers_and_threads_wait_in_one_list(void)
{
    struct barrier b = { .users = USERS };
    struct user u[USERS] = { 0 };
    struct sb_loop *l = sb_loop_new(USERS, false);
    pthread_t thread[2];
    struct sb_err err;

    pthread_mutex_init(&b.lock, NULL);
    for (int i = 0; i < USERS; i++) {
        u[i].b = &b;
        CHECK_INT(sb_waiter_init(&u[i].w), 0);
    }
    for (int i = 2; i < USERS; i++)
        u[i].w.fiber = sb_loop_add(l, STACK, meet_often, &u[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, meet_in_thread, &u[i]);
    CHECK_INT(sb_loop_open(l, SB_LOOP_ANY, &err), 0);
    sb_loop_run(l);
    sb_loop_close(l);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < USERS; i++) {
        CHECK_INT(u[i].passed, 200);
        sb_waiter_done(&u[i].w);
    }
    CHECK(!b.waiting.first && !b.waiting.last);
    sb_loop_free(l);
    pthread_mutex_destroy(&b.lock);
}

static void waiting_in_a_list_has_a_limit(void)
{
    struct sb_wait_list list = { 0 };
    pthread_mutex_t lock;
    struct sb_waiter w;

    pthread_mutex_init(&lock, NULL);
    CHECK_INT(sb_waiter_init(&w), 0);
    pthread_mutex_lock(&lock);
    CHECK(!sb_wait_list_wait(&list, &lock, &w, soon()));
    CHECK(!list.first && !list.last);
    CHECK(pthread_mutex_trylock(&lock) != 0); // it is held again
    pthread_mutex_unlock(&lock);
    pthread_mutex_destroy(&lock);
    sb_waiter_done(&w);
}

struct sleeper {
    pthread_mutex_t lock;
    struct sb_wait_list list;
    struct sb_waiter w;
    _Atomic bool returned;
};

static void *sleep_in_list(void *arg)
{
    struct sleeper *s = arg;

    pthread_mutex_lock(&s->lock);
    sb_wait_list_sleep(&s->list, &s->lock, &s->w);
    atomic_store(&s->returned, true);
    return NULL;
}

static void a_sleeper_does_not_wait_for_the_lock(void)
{
    struct sleeper s = { .returned = false };
    pthread_t thread;

    pthread_mutex_init(&s.lock, NULL);
    CHECK_INT(sb_waiter_init(&s.w), 0);
    CHECK_INT(pthread_create(&thread, NULL, sleep_in_list, &s), 0);
    pthread_mutex_lock(&s.lock);
    while (!s.list.first) {
        pthread_mutex_unlock(&s.lock);
        usleep(1000);
        pthread_mutex_lock(&s.lock);
    }
    sb_waiter_wake(&s.w); // without a reason: it sleeps on
    usleep(10000);
    CHECK(!s.returned && s.list.first);
    sb_wait_list_wake(&s.list);
    CHECK(!s.list.first && !s.list.last);
    for (int i = 0; i < 60000 && !s.returned; i++)
        usleep(1000);
    CHECK(s.returned); // although the lock is held
    pthread_mutex_unlock(&s.lock);
    pthread_join(thread, NULL);
    sb_waiter_done(&s.w);
    pthread_mutex_destroy(&s.lock);
}

// The clock of the condition is the monotonic one: with another one, this time
// would be long past or far away.
static void a_condition_has_the_monotonic_clock(void)
{
    pthread_mutex_t lock;
    pthread_cond_t cond;
    uint64_t until = sb_clock_monotonic() + 20 * MS;
    struct timespec ts = { .tv_sec = (time_t)(until / 1000000000),
        .tv_nsec = (long)(until % 1000000000) };
    int rc = 0;

    CHECK_INT(sb_lock_init(&lock, &cond), 0);
    pthread_mutex_lock(&lock);
    while (rc == 0)
        rc = pthread_cond_timedwait(&cond, &lock, &ts);
    pthread_mutex_unlock(&lock);
    CHECK_INT(rc, ETIMEDOUT);
    CHECK(sb_clock_monotonic() >= until);
    pthread_cond_destroy(&cond);
    pthread_mutex_destroy(&lock);
}

CHECK_FILE
{
    RUN(a_wake_up_is_kept);
    RUN(another_thread_wakes_a_thread);
    RUN(fibers_and_threads_wait_in_one_list);
    RUN(waiting_in_a_list_has_a_limit);
    RUN(a_sleeper_does_not_wait_for_the_lock);
    RUN(a_condition_has_the_monotonic_clock);
    return check_done();
}
