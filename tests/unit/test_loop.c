// SPDX-License-Identifier: GPL-2.0-or-later
//
// Fibers on a loop, with each way to wait for the kernel.
#include "loop/loop.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "check.h"
#include "loop/fiber_private.h"

#define STACK (256 * 1024)
#define MS    UINT64_C(1000000)
#define N     100

static enum sb_loop_kind kind;
static bool exact;

// Runs the fibers that were added and frees the loop.
static void run_loop(struct sb_loop *l)
{
    struct sb_err err = { 0 };

    if (sb_loop_open(l, kind, &err)) {
        CHECK_STR(err.msg, "");
    } else {
        sb_loop_run(l);
        sb_loop_close(l);
    }
    CHECK(!sb_fiber_current());
    sb_loop_free(l);
}

struct trace {
    int n;
    int who[10 * N];
};

struct member {
    struct sb_fiber *self;
    struct trace *trace;
    int number;
    uint64_t until;
};

static void note(struct member *m)
{
    m->trace->who[m->trace->n++] = m->number;
}

static void take_turns(void *arg)
{
    struct member *m = arg;

    CHECK(sb_fiber_current() == m->self);
    for (int i = 0; i < 10; i++) {
        note(m);
        sb_fiber_yield(m->self);
        CHECK(sb_fiber_current() == m->self);
    }
}

static void fibers_take_turns(void)
{
    struct sb_loop *l = sb_loop_new(N, exact);
    struct trace t = { 0 };
    struct member m[N];

    for (int i = 0; i < N; i++) {
        m[i] = (struct member){ .trace = &t, .number = i };
        m[i].self = sb_loop_add(l, STACK, take_turns, &m[i]);
    }
    run_loop(l);
    CHECK_INT(t.n, 10 * N);
    for (int i = 0; i < t.n; i++)
        CHECK_INT(t.who[i], i % N);
}

struct shares {
    struct sb_fiber *other, *slow;
    uint64_t ended, took; // the last turn of the slow one
    bool over;
    int turns; // of the other since then
};

static void compute_in_background(void *arg)
{
    struct shares *s = arg;

    sb_fiber_set_background(s->slow, true);
    sb_fiber_yield(s->slow);
    for (int i = 0; i < 10; i++) {
        uint64_t from = sb_clock_monotonic();

        if (i > 0) {
            CHECK(from - s->ended >= s->took);
            CHECK(s->turns > 0);
        }
        while (sb_clock_monotonic() - from < MS / 2)
            ;
        s->turns = 0;
        s->ended = sb_clock_monotonic();
        s->took = s->ended - from;
        sb_fiber_yield(s->slow);
    }
    s->over = true;
}

static void have_many_turns(void *arg)
{
    struct shares *s = arg;

    while (!s->over) {
        s->turns++;
        sb_fiber_yield(s->other);
    }
}

static void sleep_a_little(void *arg)
{
    struct shares *s = arg;

    while (!s->over) {
        s->turns++;
        sb_fiber_sleep(s->other, sb_clock_monotonic() + MS / 10);
    }
}

// The turns of a fiber in the background leave half of the time to others, both
// if those are always ready and if they wait.
static void the_background_takes_half_of_the_time(void)
{
    for (int i = 0; i < 2; i++) {
        struct sb_loop *l = sb_loop_new(2, exact);
        struct shares s = { 0 };

        s.slow = sb_loop_add(l, STACK, compute_in_background, &s);
        s.other = sb_loop_add(
            l, STACK, i ? sleep_a_little : have_many_turns, &s);
        run_loop(l);
        CHECK(s.over);
    }
}

static void sleep_until(void *arg)
{
    struct member *m = arg;

    CHECK(!sb_fiber_sleep(m->self, m->until));
    CHECK(sb_clock_monotonic() >= m->until);
    CHECK(sb_fiber_reported(m->self) >= m->until);
    note(m);
}

static void sleeping_ends_in_the_order_of_time(void)
{
    struct sb_loop *l = sb_loop_new(N, exact);
    uint64_t now = sb_clock_monotonic();
    struct trace t = { 0 };
    struct member m[N];

    for (int i = 0; i < N; i++) {
        m[i] = (struct member){ .trace = &t,
            .number = i,
            .until = now + MS + (uint64_t)(i * 37 % N) * MS / 20 };
        m[i].self = sb_loop_add(l, STACK, sleep_until, &m[i]);
    }
    run_loop(l);
    CHECK_INT(t.n, N);
    for (int i = 1; i < t.n; i++)
        CHECK(m[t.who[i - 1]].until <= m[t.who[i]].until);
}

// On a busy machine, many sleeps may be late.
static void sleep_until_in_time(void *arg)
{
    struct member *m = arg;
    uint64_t start = sb_clock_monotonic(), late, until;

    do {
        until = sb_clock_monotonic() + MS / 2;
        sb_fiber_sleep(m->self, until);
        late = sb_clock_monotonic() - until;
    } while (late > MS * 4 / 10 && until - start < 30000 * MS);
    CHECK(late <= MS * 4 / 10);
}

// Not only to a millisecond.
static void sleeping_ends_in_time(void)
{
    struct sb_loop *l = sb_loop_new(1, exact);
    struct member m = { 0 };

    m.self = sb_loop_add(l, STACK, sleep_until_in_time, &m);
    run_loop(l);
}

static void sleep_a_moment(void *arg)
{
    struct member *m = arg;

    m->until = sb_clock_monotonic() + MS;
    sb_fiber_sleep(m->self, m->until);
}

static void work_until(void *arg)
{
    const struct member *m = arg;

    while (sb_clock_monotonic() <= m->until)
        ;
}

// A timer that expires while fibers run has woken no fiber too late.
static void only_wake_ups_are_learned_from(void)
{
    struct sb_loop *l = sb_loop_new(2, exact);
    struct member m = { 0 };
    struct sb_err err = { 0 };

    m.self = sb_loop_add(l, STACK, sleep_a_moment, &m);
    sb_loop_add(l, STACK, work_until, &m);
    CHECK_INT(sb_loop_open(l, kind, &err), 0);
    sb_loop_run(l);
    CHECK_INT(l->alarm.margin, 0);
    sb_loop_close(l);
    sb_loop_free(l);
}

struct pair {
    struct sb_fiber *sleeper, *waker;
    int woken;
};

static void sleep_often(void *arg)
{
    struct pair *p = arg;

    for (int i = 0; i < 100; i++)
        p->woken += sb_fiber_sleep(p->sleeper, SB_FOREVER);
}

static void wake_often(void *arg)
{
    struct pair *p = arg;

    for (int i = 0; i < 100; i++) {
        sb_fiber_wake(p->sleeper);
        sb_fiber_yield(p->waker);
    }
}

static void a_fiber_wakes_another(void)
{
    struct sb_loop *l = sb_loop_new(2, exact);
    struct pair p = { 0 };

    p.waker = sb_loop_add(l, STACK, wake_often, &p);
    p.sleeper = sb_loop_add(l, STACK, sleep_often, &p);
    run_loop(l);
    CHECK_INT(p.woken, 100);
}

struct woken {
    struct sb_fiber *sleeper;
    uint64_t at;
};

static void sleep_until_woken(void *arg)
{
    struct woken *w = arg;

    CHECK(sb_fiber_sleep(w->sleeper, SB_FOREVER));
    CHECK(sb_fiber_reported(w->sleeper) >= w->at);
}

static void wake_at_once(void *arg)
{
    struct woken *w = arg;

    w->at = sb_clock_monotonic();
    sb_fiber_wake(w->sleeper);
}

static void a_wake_up_has_the_time_of_its_cause(void)
{
    struct sb_loop *l = sb_loop_new(2, exact);
    struct woken w = { 0 };

    w.sleeper = sb_loop_add(l, STACK, sleep_until_woken, &w);
    sb_loop_add(l, STACK, wake_at_once, &w);
    run_loop(l);
}

static void a_wake_up_before_the_sleep_is_kept_once(void)
{
    // The waker runs first, twice per round of the sleeper.
    struct sb_loop *l = sb_loop_new(1, exact);
    struct pair p = { 0 };

    p.sleeper = sb_loop_add(l, STACK, sleep_often, &p);
    for (int i = 0; i < 3; i++)
        sb_fiber_wake(p.sleeper);
    CHECK(p.woken == 0);
    // Only one of the three is kept, so another thread has to wake it.
    sb_loop_free(l);
}

static void *wake_from_outside(void *arg)
{
    struct pair *p = arg;

    while (__atomic_load_n(&p->woken, __ATOMIC_ACQUIRE) < 1000)
        sb_fiber_wake(p->sleeper);
    return NULL;
}

static void count_wake_ups(void *arg)
{
    struct pair *p = arg;

    for (int i = 0; i < 1000; i++) {
        CHECK(sb_fiber_sleep(p->sleeper, SB_FOREVER));
        __atomic_add_fetch(&p->woken, 1, __ATOMIC_RELEASE);
    }
}

static void another_thread_wakes_a_fiber(void)
{
    struct sb_loop *l = sb_loop_new(1, exact);
    struct pair p = { 0 };
    pthread_t thread[2];
    struct sb_err err = { 0 };

    p.sleeper = sb_loop_add(l, STACK, count_wake_ups, &p);
    CHECK_INT(sb_loop_open(l, kind, &err), 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, wake_from_outside, &p);
    sb_loop_run(l);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    sb_loop_close(l);
    CHECK_INT(p.woken, 1000);
    sb_loop_free(l);
}

// A fiber that is always ready does not keep the timers of others from
// expiring.
static void spin_until(void *arg)
{
    struct member *m = arg;

    while (m->trace->n == 0 && sb_clock_monotonic() < m->until)
        sb_fiber_yield(m->self);
    CHECK_INT(m->trace->n, 1);
}

static void a_busy_fiber_starves_none(void)
{
    struct sb_loop *l = sb_loop_new(2, exact);
    uint64_t now = sb_clock_monotonic();
    struct trace t = { 0 };
    struct member busy = { .trace = &t, .until = now + 10000 * MS };
    struct member idle = { .trace = &t, .until = now + MS };

    busy.self = sb_loop_add(l, STACK, spin_until, &busy);
    idle.self = sb_loop_add(l, STACK, sleep_until, &idle);
    run_loop(l);
}

static void set_errno(void *arg)
{
    struct member *m = arg;

    for (int i = 0; i < 10; i++) {
        errno = m->number;
        sb_fiber_yield(m->self);
        CHECK_INT(errno, m->number);
    }
}

static void errno_follows_the_fiber(void)
{
    struct sb_loop *l = sb_loop_new(2, exact);
    struct member m[2] = { { .number = 5 }, { .number = 9 } };

    for (int i = 0; i < 2; i++)
        m[i].self = sb_loop_add(l, STACK, set_errno, &m[i]);
    run_loop(l);
}

static void each_kind_has_a_name(void)
{
    struct sb_loop *l = sb_loop_new(1, exact);
    struct sb_err err = { 0 };

    CHECK_INT(sb_loop_open(l, kind, &err), 0);
    CHECK_STR(
        sb_loop_kind_name(l), kind == SB_LOOP_EPOLL ? "epoll" : "io_uring");
    sb_loop_close(l);
    sb_loop_close(l);
    sb_loop_free(l);
    sb_loop_free(NULL);
}

static void run_tests(void)
{
    RUN(each_kind_has_a_name);
    RUN(fibers_take_turns);
    RUN(the_background_takes_half_of_the_time);
    RUN(sleeping_ends_in_the_order_of_time);
    RUN(sleeping_ends_in_time);
    RUN(only_wake_ups_are_learned_from);
    RUN(a_fiber_wakes_another);
    RUN(a_wake_up_has_the_time_of_its_cause);
    RUN(a_wake_up_before_the_sleep_is_kept_once);
    RUN(another_thread_wakes_a_fiber);
    RUN(a_busy_fiber_starves_none);
    RUN(errno_follows_the_fiber);
}

static void run_all(void)
{
    exact = false;
    run_tests();
    exact = true;
    run_tests();
}

// io_uring is refused in some containers.
static int has(enum sb_loop_kind k)
{
    struct sb_loop *l = sb_loop_new(1, exact);
    struct sb_err err;
    int rc = sb_loop_open(l, k, &err);

    sb_loop_close(l);
    sb_loop_free(l);
    return rc == 0;
}

// From now on, as on kernels before 5.11. Returns whether that is so.
static bool refuse_pwait2(void)
{
#ifdef SYS_epoll_pwait2
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]),
        .filter = code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
#else
    return true;
#endif
}

CHECK_FILE
{
    kind = SB_LOOP_EPOLL;
    run_all();
    if (has(SB_LOOP_URING)) {
        kind = SB_LOOP_URING;
        run_all();
    } else {
        printf("ok %d - io_uring # SKIP refused\n", ++check_tests);
    }
    kind = SB_LOOP_EPOLL;
    if (refuse_pwait2())
        run_all();
    else
        printf("ok %d - no epoll_pwait2() # SKIP no filter of system calls\n",
            ++check_tests);
    return check_done();
}
