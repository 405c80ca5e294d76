// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/crew.h"

#include <time.h>

#include "check.h"
#include "crew_member.h"

static void tickets_count_by_key(void)
{
    struct sb_crew c;
    char name[SB_CREW_NAME + 1];

    CHECK_INT(sb_crew_init(&c, 1), 0);
    CHECK_INT(add_to(&c, "a", 1), 0);
    CHECK_INT(add_to(&c, "a", 1), 1);
    CHECK_INT(add_to(&c, "b", 1), 0);
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    CHECK_INT(add_to(&c, name, 1), SB_ERANGE);
    name[sizeof(name) - 2] = '\0';
    CHECK_INT(add_to(&c, name, 1), 0);
    sb_crew_cancel(&c);
    CHECK_INT(add_to(&c, "a", 1), SB_ECANCELED);
    sb_crew_done(&c);
}

struct member {
    struct sb_crew *crew;
    int rc;
    _Atomic bool back;
};

static void *wait_twice(void *arg)
{
    struct member *m = arg;

    m->rc = wait_at_barrier(m->crew);
    if (m->rc == 0)
        m->rc = wait_at_barrier(m->crew);
    sb_crew_leave(m->crew);
    return NULL;
}

static void barrier_opens_for_all_twice(void)
{
    struct sb_crew c;
    struct member m[3];
    pthread_t t[3];

    CHECK_INT(sb_crew_init(&c, 3), 0);
    for (int i = 0; i < 3; i++) {
        m[i] = (struct member){ .crew = &c, .rc = -99 };
        pthread_create(&t[i], NULL, wait_twice, &m[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
        CHECK_INT(m[i].rc, 0);
    }
    CHECK_INT(c.generation, 3); // two barriers, and all left
    sb_crew_done(&c);
}

static void barrier_ignores_members_that_left(void)
{
    struct sb_crew c;

    CHECK_INT(sb_crew_init(&c, 2), 0);
    sb_crew_leave(&c);
    CHECK_INT(wait_at_barrier(&c), 0);
    sb_crew_done(&c);
}

static void cancel_ends_waiting(void)
{
    struct sb_crew c;
    struct member m = { .crew = &c, .rc = 0 };
    pthread_t t;

    CHECK_INT(sb_crew_init(&c, 2), 0);
    pthread_create(&t, NULL, wait_twice, &m);
    sb_crew_cancel(&c);
    pthread_join(t, NULL);
    CHECK_INT(m.rc, SB_ECANCELED);
    CHECK_INT(wait_at_barrier(&c), SB_ECANCELED);
    sb_crew_done(&c);
}

static void *settle(void *arg)
{
    struct member *m = arg;

    settle_with(m->crew);
    atomic_store(&m->back, true);
    return NULL;
}

static bool is_back(struct member *m)
{
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    return atomic_load(&m->back);
}

static void undo_waits_for_all_members(void)
{
    struct sb_crew c;
    struct member m = { .crew = &c };
    pthread_t t;

    CHECK_INT(sb_crew_init(&c, 3), 0);
    settle_with(&c); // returns at once: the crew is not canceled
    sb_crew_cancel(&c);
    pthread_create(&t, NULL, settle, &m);
    CHECK(!is_back(&m));
    sb_crew_leave(&c);
    CHECK(!is_back(&m));
    settle_with(&c); // the last member
    pthread_join(t, NULL);
    CHECK(!sb_crew_hold(&c));
    sb_crew_done(&c);
}

static void undo_waits_until_calls_are_canceled(void)
{
    struct sb_crew c;
    struct member m[2] = { { .crew = &c }, { .crew = &c } };
    pthread_t t[2];

    CHECK_INT(sb_crew_init(&c, 2), 0);
    sb_crew_cancel(&c);
    pthread_create(&t[0], NULL, settle, &m[0]);
    CHECK(sb_crew_hold(&c));
    pthread_create(&t[1], NULL, settle, &m[1]);
    CHECK(!is_back(&m[0]) && !is_back(&m[1]));
    sb_crew_let_go(&c);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    CHECK(!sb_crew_hold(&c));
    settle_with(&c); // returns at once: all have settled
    sb_crew_done(&c);
}

static void progress_shows_rate_and_time_left(void)
{
    struct sb_crew c;
    char line[160];
    const uint64_t s = 1000000000;

    CHECK_INT(sb_crew_init(&c, 1), 0);
    CHECK(!sb_crew_progress_line(&c, s, line, sizeof(line)));
    sb_crew_progress(&c, "loading", 0, 1000, 10 * s);
    sb_crew_progress(&c, "loading", 250, 0, 12 * s);
    CHECK(sb_crew_progress_line(&c, 12 * s, line, sizeof(line)));
    CHECK_STR(line, "loading: 250 of 1000 (25 %), 125/s, 6 s left");
    sb_crew_progress(&c, "indexes", 1, 2, 20 * s);
    CHECK(sb_crew_progress_line(&c, 21 * s, line, sizeof(line)));
    CHECK_STR(line, "indexes: 1 of 2 (50 %), 1/s, 1 s left");
    sb_crew_done(&c);
}

static _Atomic unsigned wakes;

static void wake(void *arg)
{
    (void)arg;
    atomic_fetch_add(&wakes, 1);
}

static void *barrier_once(void *arg)
{
    struct member *m = arg;

    m->rc = wait_at_barrier(m->crew);
    atomic_store(&m->back, true);
    return NULL;
}

// With other processes, a barrier is opened by the main thread.
static void shared_barriers_are_opened(void)
{
    struct sb_crew c;
    struct member m = { .crew = &c, .rc = 1 };
    uint64_t number;
    bool gone;
    pthread_t t;

    CHECK_INT(sb_crew_init(&c, 2), 0);
    sb_crew_share(&c, false, wake, NULL);
    sb_crew_leave(&c);
    CHECK(!sb_crew_full(&c, &number, &gone));
    pthread_create(&t, NULL, barrier_once, &m);
    while (!sb_crew_full(&c, &number, &gone))
        is_back(&m);
    CHECK(!gone);
    CHECK_INT(number, 0);
    CHECK(atomic_load(&wakes) >= 1);
    CHECK(!is_back(&m));
    sb_crew_open(&c, 1); // another one
    CHECK(!is_back(&m));
    sb_crew_open(&c, 0);
    pthread_join(t, NULL);
    CHECK_INT(m.rc, 0);
    sb_crew_leave(&c);
    CHECK(sb_crew_full(&c, &number, &gone));
    CHECK(gone);
    CHECK_INT(number, 1);
    sb_crew_done(&c);
}

struct adder {
    struct sb_crew *crew;
    double n, before;
};

static void *add_to_rows(void *arg)
{
    struct adder *a = arg;

    a->before = add_to(a->crew, "rows", a->n);
    return NULL;
}

// The counters are those of the root.
static void shared_counters_are_asked_for(void)
{
    struct sb_crew c, root;
    struct adder a = { &c, 1, 0 }, b = { &c, 20, 0 };
    char name[SB_CREW_NAME];
    double n, before[2] = { 0, 0 };
    pthread_t t[2];

    CHECK_INT(sb_crew_init(&c, 2), 0);
    CHECK_INT(sb_crew_init(&root, 1), 0);
    sb_crew_share(&c, false, wake, NULL);
    sb_crew_share(&root, true, wake, NULL);
    CHECK(!sb_crew_wanted(&c, name, &n));
    pthread_create(&t[0], NULL, add_to_rows, &a);
    pthread_create(&t[1], NULL, add_to_rows, &b);
    for (int i = 0; i < 2; i++) {
        while (!sb_crew_wanted(&c, name, &n))
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        CHECK_STR(name, "rows");
        before[n == 20] = add_to(&root, name, n);
    }
    CHECK(!sb_crew_wanted(&c, name, &n)); // each once
    sb_crew_answer(&c, "other", 1, 7);
    sb_crew_answer(&c, "rows", 20, before[1]);
    pthread_join(t[1], NULL);
    sb_crew_answer(&c, "rows", 1, before[0]);
    pthread_join(t[0], NULL);
    CHECK(a.before == before[0]);
    CHECK(b.before == before[1]);
    CHECK_INT(add_to(&root, "rows", 0), 21);
    // A cancel ends the wait.
    pthread_create(&t[0], NULL, add_to_rows, &a);
    while (!sb_crew_wanted(&c, name, &n))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    sb_crew_cancel(&c);
    pthread_join(t[0], NULL);
    CHECK_INT(a.before, SB_ECANCELED);
    sb_crew_answer(&c, "rows", 1, 3); // comes too late
    sb_crew_done(&c);
    sb_crew_done(&root);
}

static void shared_undo_waits_for_all_processes(void)
{
    struct sb_crew c;
    struct member m = { .crew = &c };
    pthread_t t;

    CHECK_INT(sb_crew_init(&c, 1), 0);
    sb_crew_share(&c, false, wake, NULL);
    sb_crew_cancel(&c);
    CHECK(!sb_crew_settled(&c));
    pthread_create(&t, NULL, settle, &m);
    while (!sb_crew_settled(&c))
        is_back(&m);
    CHECK(!is_back(&m));
    sb_crew_settle_all(&c);
    pthread_join(t, NULL);
    sb_crew_done(&c);
}

static void shared_progress_is_taken_once(void)
{
    struct sb_crew c;
    char title[64];
    double n, total;

    CHECK_INT(sb_crew_init(&c, 1), 0);
    CHECK(!sb_crew_take_progress(&c, title, &n, &total));
    sb_crew_progress(&c, "rows", 5, 100, 1);
    sb_crew_progress(&c, "rows", 6, 100, 1);
    CHECK(sb_crew_take_progress(&c, title, &n, &total));
    CHECK_STR(title, "rows");
    CHECK(n == 11 && total == 100);
    CHECK(!sb_crew_take_progress(&c, title, &n, &total));
    sb_crew_done(&c);
}

static void done_accepts_zeroed_struct(void)
{
    struct sb_crew c = { 0 };

    sb_crew_done(&c);
    CHECK_INT(c.size, 0);
}

CHECK_FILE
{
    RUN(tickets_count_by_key);
    RUN(barrier_opens_for_all_twice);
    RUN(barrier_ignores_members_that_left);
    RUN(cancel_ends_waiting);
    RUN(undo_waits_for_all_members);
    RUN(undo_waits_until_calls_are_canceled);
    RUN(progress_shows_rate_and_time_left);
    RUN(shared_barriers_are_opened);
    RUN(shared_counters_are_asked_for);
    RUN(shared_undo_waits_for_all_processes);
    RUN(shared_progress_is_taken_once);
    RUN(done_accepts_zeroed_struct);
    return check_done();
}
