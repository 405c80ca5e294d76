// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/crew.h"

#include <time.h>

#include "check.h"

static void tickets_count_by_key(void)
{
    struct sb_crew c;

    CHECK_INT(sb_crew_init(&c, 1), 0);
    CHECK_INT(sb_crew_ticket(&c, 0), 0);
    CHECK_INT(sb_crew_ticket(&c, 0), 1);
    CHECK_INT(sb_crew_ticket(&c, 63), 0);
    CHECK_INT(sb_crew_ticket(&c, 64), SB_ERANGE);
    CHECK_INT(sb_crew_ticket(&c, -1), SB_ERANGE);
    sb_crew_cancel(&c);
    CHECK_INT(sb_crew_ticket(&c, 0), SB_ECANCELED);
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

    m->rc = sb_crew_barrier(m->crew);
    if (m->rc == 0)
        m->rc = sb_crew_barrier(m->crew);
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
    CHECK_INT(sb_crew_barrier(&c), 0);
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
    CHECK_INT(sb_crew_barrier(&c), SB_ECANCELED);
    sb_crew_done(&c);
}

static void *settle(void *arg)
{
    struct member *m = arg;

    sb_crew_settle(m->crew);
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
    sb_crew_settle(&c); // returns at once: the crew is not canceled
    sb_crew_cancel(&c);
    pthread_create(&t, NULL, settle, &m);
    CHECK(!is_back(&m));
    sb_crew_leave(&c);
    CHECK(!is_back(&m));
    sb_crew_settle(&c); // the last member
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
    sb_crew_settle(&c); // returns at once: all have settled
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

static void done_accepts_zeroed_struct(void)
{
    struct sb_crew c = { 0 };

    sb_crew_done(&c);
    CHECK_INT(c.size, 0);
}

int main(void)
{
    RUN(tickets_count_by_key);
    RUN(barrier_opens_for_all_twice);
    RUN(barrier_ignores_members_that_left);
    RUN(cancel_ends_waiting);
    RUN(undo_waits_for_all_members);
    RUN(undo_waits_until_calls_are_canceled);
    RUN(progress_shows_rate_and_time_left);
    RUN(done_accepts_zeroed_struct);
    return check_done();
}
