// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is done about users that hold their worker. No worker runs: the test
// reports the holds.
#include "run/holds.h"

#include "run/run_state.h"
#include "check_log.h"
#include "runs.h"

#define USERS 40

static struct sb_run state, *const run = &state;
static struct sb_user users[USERS];
static struct sb_user_priv privs[USERS];
static enum sb_held held;
static const char *text;

static enum sb_held user_held(struct sb_workload *w, struct sb_user *u,
    const struct sb_hold *hold, char *what, size_t size)
{
    (void)w;
    CHECK(u->run == run);
    CHECK(hold->ns > SB_HOLD_NS);
    snprintf(what, size, "%s", text);
    return held;
}

static const struct sb_workload_ops ops = { .user_held = user_held };
static struct sb_workload w = { .ops = &ops };

static void begin(void)
{
    state = (struct sb_run){
        .w = &w, .users = USERS, .user = users, .priv = privs, .workers = 2
    };
    CHECK_INT(sb_lock_init(&run->lock, &run->changed), 0);
    for (unsigned i = 0; i < USERS; i++) {
        privs[i] = (struct sb_user_priv){ .in_loop = true };
        users[i] = (struct sb_user){ .run = run, .priv = &privs[i], .id = i };
    }
}

static void end(void)
{
    pthread_cond_destroy(&run->changed);
    pthread_mutex_destroy(&run->lock);
}

static void block(unsigned user, const char *what)
{
    const struct sb_hold h = {
        .from = 1,
        .to = 1 + 80 * MS,
        .ns = 80 * MS,
        .blocked = true,
        .at_least = true,
    };

    held = SB_HELD_FUNCTION;
    text = what;
    sb__holds_held(&run->user[user], &h);
}

static void hold_as(unsigned user, enum sb_held by, const char *what, bool cpu)
{
    const struct sb_hold h = {
        .from = 1, .to = 1 + 12 * MS, .ns = 12 * MS, .computed = cpu
    };

    held = by;
    text = what;
    sb__holds_held(&run->user[user], &h);
}

static void hold(unsigned user, enum sb_held by, const char *what)
{
    hold_as(user, by, what, false);
}

// The next hold is not the first one, so its user is watched.
static void begin_with_a_hold(void)
{
    begin();
    hold(USERS - 1, SB_HELD_FUNCTION, "event()");
    CHECK(!sb__holds_leave(&run->user[USERS - 1], 1));
}

static void a_user_is_watched_after_two_holds(void)
{
    struct sb_user *u;

    begin();
    u = &run->user[3];
    CHECK(!sb__holds_leave(u, 0));
    hold(3, SB_HELD_FUNCTION, "event()");
    CHECK(!sb__holds_leave(u, 1));
    hold(3, SB_HELD_FUNCTION, "event()");
    CHECK(!sb__holds_leave(&run->user[4], 0));
    CHECK(sb__holds_leave(u, 5 * MS));
    CHECK_INT(sb_user_lines(u), SB_LINES_BEGIN);
    // Another hold while it is watched, without a line, is not counted.
    hold(3, SB_HELD_FUNCTION, "event()");
    CHECK(!sb__holds_leave(u, 1004 * MS));
    CHECK(sb__holds_leave(u, 1005 * MS));
    CHECK_INT(sb_user_lines(u), SB_LINES_END);
    CHECK(!sb__holds_leave(u, 2000 * MS));
    CHECK_INT(sb_user_lines(u), SB_LINES_OVER);
    CHECK_INT(run->holds.count, 2);
    CHECK_INT(run->holds.others, USERS / 2 - 1);
    end();
}

static void a_loop_that_ends_ends_its_watch(void)
{
    struct sb_user *u;

    begin_with_a_hold();
    u = &run->user[0];
    hold(0, SB_HELD_FUNCTION, "event()");
    CHECK(sb__holds_leave(u, 1));
    CHECK_INT(sb_user_lines(u), SB_LINES_BEGIN);
    CHECK_INT(sb_user_lines(u), SB_LINES_OVER);
    CHECK(!sb__holds_leave(u, 5000 * MS));
    end();
}

static void begin_watch(unsigned user)
{
    CHECK(sb__holds_leave(&run->user[user], 1));
    CHECK_INT(sb_user_lines(&run->user[user]), SB_LINES_BEGIN);
}

static void a_line_is_named_when_it_has_held_twice(void)
{
    begin_with_a_hold();
    for (unsigned i = 0; i < 3; i++) {
        hold(i, SB_HELD_FUNCTION, "event()");
        begin_watch(i);
    }
    hold(0, SB_HELD_LINE, "x.lua:1");
    hold(1, SB_HELD_LINE, "x.lua:2");
    CHECK(!run->holds.known);
    CHECK(!sb__holds_leave(&run->user[0], 2));
    hold(2, SB_HELD_LINE, "x.lua:2");
    CHECK(run->holds.known);
    // That ends the watch, and no other begins.
    CHECK(sb__holds_leave(&run->user[0], 2));
    hold(5, SB_HELD_FUNCTION, "event()");
    CHECK(!sb__holds_leave(&run->user[5], 3));
    CHECK_INT(run->holds.count, 4);
    end();
}

// A watched event may compute for long only because it is watched.
static void a_line_that_computes_needs_events_that_do(void)
{
    begin_with_a_hold();
    hold_as(0, SB_HELD_FUNCTION, "event()", true);
    begin_watch(0);
    for (int i = 0; i < 5; i++)
        hold_as(0, SB_HELD_LINE, "x.lua:1", true);
    CHECK(!run->holds.known);
    CHECK_INT(run->holds.count, 2);
    hold_as(1, SB_HELD_FUNCTION, "event()", true);
    begin_watch(1);
    hold_as(1, SB_HELD_LINE, "x.lua:1", true);
    CHECK(!run->holds.known);
    hold_as(1, SB_HELD_LINE, "x.lua:1", true);
    CHECK(run->holds.known);
    end();
}

// The loop of a component ends whenever another one has the next event.
static void a_component_is_watched_until_the_end(void)
{
    struct sb_user *u;
    struct sb_user_priv *p;

    begin_with_a_hold();
    u = &run->user[3];
    p = u->priv;
    p->component = 1;
    hold(3, SB_HELD_FUNCTION, "event()");
    p->handed = true;
    CHECK_INT(sb_user_lines(u), SB_LINES_OVER);
    p->component = 0;
    CHECK(!sb__holds_leave(u, 1));
    p->component = 1;
    for (int i = 0; i < 5; i++) {
        CHECK(sb__holds_leave(u, (uint64_t)(1 + 200 * i) * MS));
        CHECK_INT(sb_user_lines(u), SB_LINES_BEGIN);
        CHECK_INT(sb_user_lines(u), SB_LINES_OVER);
    }
    CHECK_INT(run->holds.watches, 1);
    CHECK(!sb__holds_leave(u, 1001 * MS));
    // Another hold begins another watch, which ends with its last event.
    hold(3, SB_HELD_FUNCTION, "event()");
    CHECK(sb__holds_leave(u, 2000 * MS));
    CHECK_INT(sb_user_lines(u), SB_LINES_BEGIN);
    CHECK(sb__holds_leave(u, 3000 * MS));
    CHECK_INT(sb_user_lines(u), SB_LINES_END);
    CHECK_INT(run->holds.watches, 2);
    end();
}

static void few_users_are_watched(void)
{
    int n = 0;

    begin();
    for (unsigned i = 0; i < USERS; i++) {
        hold(i, SB_HELD_FUNCTION, "event()");
        n += sb__holds_leave(&run->user[i], 1);
    }
    CHECK_INT(n, 16);
    CHECK_INT(run->holds.count, USERS);
    end();
}

static void a_loop_of_its_own_does_not_end(void)
{
    begin();
    hold(0, SB_HELD_UNKNOWN, "thread_run()");
    CHECK(!sb__holds_leave(&run->user[0], 1));
    CHECK_STR(run->holds.who, "thread_run()");
    end();
}

static void outside_of_events_users_may_block(void)
{
    begin();
    run->priv[0].in_loop = false;
    hold(0, SB_HELD_FUNCTION, "event()");
    CHECK_INT(run->holds.count, 0);
    CHECK(!sb__holds_leave(&run->user[0], 1));
    end();
}

// Returns what the end of the run says.
static const char *end_text(void)
{
    capture();
    sb__holds_end(run);
    end();
    return captured();
}

// A turn in which the user has begun its events may contain what was before.
static void before_its_events_a_user_may_block(void)
{
    begin();
    run->priv[0].loop_since = 2;
    block(0, "event()");
    CHECK_INT(run->holds.count, 0);
    run->priv[0].loop_since = 1;
    block(0, "event()");
    CHECK_INT(run->holds.count, 1);
    end();
}

// The time is that of what is named, not of another user.
static void the_longest_hold_is_named(void)
{
    begin();
    block(0, "a");
    hold(1, SB_HELD_FUNCTION, "b");
    CHECK(strncmp(end_text(), "WARNING: a held a worker for at least 80 ms,",
              40) == 0);
    begin();
    capture();
    block(0, "a");
    hold(1, SB_HELD_FUNCTION, "b");
    hold(1, SB_HELD_LINE, "y.lua:1");
    hold(1, SB_HELD_LINE, "y.lua:1");
    CHECK_STR(captured(),
        "WARNING: y.lua:1 held a worker for 12 ms, and its 19 other users "
        "waited; use --workers=users for scripts that block or compute\n");
    end();
}

// Code that is not compiled while its user is watched takes longer.
static void a_line_that_computes_took_less_before(void)
{
    begin();
    capture();
    hold_as(0, SB_HELD_FUNCTION, "event()", true);
    hold_as(0, SB_HELD_FUNCTION, "event()", true);
    for (unsigned i = 0; i < 2; i++) {
        const struct sb_hold h = {
            .from = 1, .to = 1 + 90 * MS, .ns = 90 * MS, .computed = true
        };

        run->priv[0].lines = SB__LINES_ON;
        held = SB_HELD_LINE;
        text = "z.lua:1";
        sb__holds_held(&run->user[0], &h);
    }
    CHECK(strstr(captured(), "z.lua:1 held a worker for 12 ms, "));
    end();
}

static void one_hold_is_enough_if_it_was_seen(void)
{
    begin();
    hold(0, SB_HELD_FUNCTION, "event()");
    CHECK_STR(end_text(), "");
    begin();
    block(0, "event()");
    CHECK(!sb__holds_leave(&run->user[0], 1));
    CHECK_STR(end_text(),
        "WARNING: event() held a worker for at least 80 ms, and its 19 other "
        "users "
        "waited (which line did so is not known); use --workers=users for "
        "scripts that block or compute\n");
}

CHECK_FILE
{
    RUN(a_user_is_watched_after_two_holds);
    RUN(a_loop_that_ends_ends_its_watch);
    RUN(a_line_is_named_when_it_has_held_twice);
    RUN(a_line_that_computes_needs_events_that_do);
    RUN(a_component_is_watched_until_the_end);
    RUN(few_users_are_watched);
    RUN(a_loop_of_its_own_does_not_end);
    RUN(outside_of_events_users_may_block);
    RUN(before_its_events_a_user_may_block);
    RUN(the_longest_hold_is_named);
    RUN(a_line_that_computes_took_less_before);
    RUN(one_hold_is_enough_if_it_was_seen);
    return check_done();
}
