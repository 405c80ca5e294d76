// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs with stages: users come and go, the rate changes. Stages are short. A
// test that requires that users ran repeats the run with longer stages until
// they did.
#include "run/run_state.h"
#include "runs.h"

#define USERS 8

// What happened to each user.
static struct {
    _Atomic int inits, runs, dones, frees, here;
    _Atomic int events;
} visits[USERS];

static int visit_init(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    visits[u->id].inits++;
    CHECK_INT(++visits[u->id].here, 1);
    CHECK(u->data == NULL);
    CHECK(u->rec == NULL); // what thread_init() does is not counted
    u->data = &visits[u->id];
    return 0;
}

static int visit_run(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    visits[u->id].runs++;
    CHECK_INT(visits[u->id].here, 1);
    while (sb_user_next(u)) {
        visits[u->id].events++;
        // No event starts after the user should have gone.
        CHECK(u->run->open_loop || u->start < u->priv->leave);
        atomic_fetch_add(&seen_of(w)->calls, 1);
        nap(MS / 10);
    }
    return 0;
}

static int visit_done(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    visits[u->id].dones++;
    CHECK(u->data == &visits[u->id]);
    return 0;
}

static void visit_free(struct sb_workload *w, struct sb_user *u)
{
    if (!u->data)
        return;
    visits[u->id].frees++;
    CHECK_INT(--visits[u->id].here, 0);
    u->data = NULL;
}

static const struct sb_workload_ops visiting = { .user_init = visit_init,
    .user_run = visit_run,
    .user_done = visit_done,
    .user_free = visit_free };

// Sets --stages; a unit of time in the text is 1 s, in the run it is `unit` ns.
static void set_stages(struct seen *s, const char *text, int64_t unit)
{
    struct sb_stages *st = &s->o.stages;
    struct sb_err err;

    memset(visits, 0, sizeof(visits));
    CHECK_INT(sb_stages_parse(
                  st, text, (uint32_t)s->o.threads, s->o.rate, NULL, &err),
        0);
    for (unsigned i = 0; i < st->n; i++)
        st->stage[i].ns = st->stage[i].ns / 1000000 * (uint64_t)unit / 1000;
    st->ns = st->ns / 1000000 * (uint64_t)unit / 1000;
    s->o.time = (int64_t)st->ns;
    if (s->o.threads < st->max_users)
        s->o.threads = st->max_users;
}

// Each visit of a user was complete.
static int check_visits(void)
{
    int n = 0;

    for (int i = 0; i < USERS; i++) {
        n += visits[i].inits;
        CHECK_INT(visits[i].runs, visits[i].inits);
        CHECK_INT(visits[i].dones, visits[i].inits);
        CHECK_INT(visits[i].frees, visits[i].inits);
        CHECK_INT(visits[i].here, 0);
    }
    return n;
}

static void users_come_and_go(void)
{
    const char *text = "threads=2 for 1s; threads=2..6 for 1s; threads=1 for "
                       "1s; threads=4 for 1s";
    const char *at[] = { "0.05" };
    struct seen s;

    for (int64_t ns = 40 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 1);
        set_stages(&s, text, ns);
        CHECK_INT(s.o.threads, 6);
        s.o.report_interval = ns / 3;
        s.o.report_checkpoints = (struct sb_opt_list){ .item = at, .count = 1 };
        CHECK_INT(perform(&s, &visiting), 0);
        CHECK_INT(s.res.end, SB_END_LIMIT);
        CHECK_INT(s.stages, s.final_stages);
        CHECK_INT(s.stage_events, s.whole.completed);
        CHECK_INT(s.whole.completed, s.calls);
        // The first two are ready before the run starts. User 2 may be the
        // third.
        int n = check_visits();
        CHECK_INT(visits[0].inits, 1);
        CHECK(visits[1].inits <= 2);
        CHECK(s.connects <= (uint64_t)n - 2);
        if (s.stages == 4 && n == 1 + 2 + 2 + 2 + 1 + 1 && visits[5].events > 0)
            break;
    }
    CHECK_INT(s.stages, 4);
    CHECK_INT(visits[1].inits, 2);
    CHECK_INT(visits[2].inits, 2);
    CHECK_INT(visits[5].inits, 1);
    CHECK_INT(s.running[3], 4);
    CHECK(visits[5].events > 0);
}

static void connects_are_counted(void)
{
    struct seen s;

    for (int64_t ns = 40 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 1);
        set_stages(
            &s, "threads=3 for 1s; threads=1 for 1s; threads=5 for 1s", ns);
        CHECK_INT(perform(&s, &visiting), 0);
        int n = check_visits();
        // Not those of the users that were ready before the run started.
        CHECK_INT(s.connects, n - 3);
        if (s.connects == 4)
            break;
    }
    CHECK_INT(s.connects, 4);
}

static void the_rate_changes(void)
{
    struct seen s;

    prepare(&s, 4);
    s.o.rate = 1000;
    s.o.arrivals = SB_PACE_CONSTANT;
    set_stages(&s, "rate=100% for 1s; rate=..3000 for 1s; rate=0 for 1s", // 300
        100 * MS);
    CHECK_INT(perform(&s, &empty), 0); // calls sb_snap_check()
    CHECK_INT(s.scheduled, 100 + 200);
    CHECK_INT(s.stage_events, s.c.completed);
}

// Users that go leave no arrival behind: others take it.
static void a_user_that_goes_loses_no_arrival(void)
{
    struct seen s;

    for (int64_t ns = 50 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 8);
        s.o.rate = 300e9 / (double)ns;
        set_stages(&s,
            "threads=8..1 for 1s; threads=1..8 for 1s; threads=0 "
            "for 1s; threads=1 for 1s",
            ns);
        CHECK_INT(perform(&s, &empty), 0);
        CHECK(s.c.completed <= s.scheduled);
        CHECK_INT(s.queue, s.scheduled - s.c.started);
        if (s.c.completed > 900)
            break;
    }
    CHECK(s.c.completed > 900);
}

// A user does not stay because the next arrival is far away.
static void users_go_before_a_distant_arrival(void)
{
    struct seen s;

    for (int64_t ns = 40 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 1);
        set_stages(&s,
            "threads=3 rate=1k for 1s; threads=1 rate=0 for 1s; for 1s; "
            "threads=3 rate=1k for 1s",
            ns);
        CHECK_INT(perform(&s, &visiting), 0);
        check_visits();
        if (s.stages == 4 && s.running[1] == 1 && visits[2].inits == 2)
            break;
    }
    CHECK_INT(s.running[1], 1);
    CHECK_INT(visits[2].inits, 2);
}

static void used_up_events_end_the_run(void)
{
    struct seen s;

    prepare(&s, 1);
    s.o.events = 500;
    set_stages(&s, "threads=2 for 1s; threads=8 for 1s", 60000 * MS);
    CHECK_INT(perform(&s, &empty), 0);
    CHECK_INT(s.res.end, SB_END_LIMIT);
    CHECK_INT(s.c.completed, 500);
    CHECK(s.total_s < 50);
    CHECK_INT(s.final_stages, 1);
}

static void a_time_limit_cuts_stages_off(void)
{
    struct seen s;

    prepare(&s, 1);
    set_stages(&s, "threads=1 for 1s; threads=2 for 2s", 60000 * MS);
    s.o.time = 30 * MS;
    CHECK_INT(perform(&s, &empty), 0);
    CHECK_INT(s.final_stages, 1);
    CHECK_INT(s.stages, 1);
    CHECK_INT(s.stage_events, s.c.completed);
    CHECK(s.total_s < 50);
}

static void no_user_at_the_end(void)
{
    struct seen s;

    prepare(&s, 1);
    set_stages(&s, "threads=2 for 1s; threads=0 for 1s", 20 * MS);
    CHECK_INT(perform(&s, &visiting), 0);
    CHECK_INT(s.res.end, SB_END_LIMIT);
    CHECK(s.total_s >= 0.039);
    CHECK_INT(check_visits(), 2);
}

static void the_warmup_has_the_first_users(void)
{
    struct seen s;

    for (int64_t ns = 40 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 1);
        set_stages(&s, "threads=2 for 1s; threads=4 for 1s", ns);
        s.o.warmup_time = s.o.report_interval = ns;
        CHECK_INT(perform(&s, &visiting), 0);
        CHECK_INT(s.stage_events, s.c.completed);
        check_visits();
        if (s.stages == 2 && s.warm_events > 0 && visits[3].events > 0)
            break;
    }
    CHECK(s.warm_events > 0);
    CHECK_INT(s.stages, 2);
    CHECK_INT(visits[3].inits, 1);
    prepare(&s, 1);
    set_stages(&s, "rate=5000 for 1s; rate=0 for 1s", 20 * MS);
    s.o.arrivals = SB_PACE_CONSTANT;
    s.o.warmup_time = 10 * MS + 1;
    CHECK_INT(perform(&s, &empty), 0);
    // Arrivals 51 to 150 after the start of the warm-up.
    CHECK_INT(s.scheduled, 100);
}

// A user that ends its loop by itself does not come again, also if it returns
// when its stage is over.
static int short_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    bool own = true;

    visits[u->id].runs++;
    for (int i = 0; own && i < 3; i++)
        own = sb_user_next(u);
    sb_user_end(u);
    visits[u->id].dones += own;
    while (
        u->priv->leave != UINT64_MAX && sb_clock_monotonic() < u->priv->leave)
        nap(MS);
    return 0;
}

static const struct sb_workload_ops ending = { .user_run = short_loop };

static int64_t hold_up_ns;

static void hold_up_once(void *data, const struct sb_report *r)
{
    on_interval(data, r);
    nap(hold_up_ns);
    hold_up_ns = 0;
}

// The main thread is held up in its first interval, for this number of thirds
// of the run. Each stage lasts a third.
static void run_with_late_reports(struct seen *s, int64_t ns, int64_t thirds)
{
    struct sb_workload w = { .ops = &visiting, .data = s };
    const struct sb_listener l = { .data = s,
        .interval = hold_up_once,
        .stage = on_stage,
        .final = on_final };

    prepare(s, USERS);
    set_stages(s, "threads=1 for 1s; threads=2 for 1s; threads=3 for 1s", ns);
    s->o.report_interval = ns / 4;
    hold_up_ns = thirds * ns;
    CHECK_INT(sb_run(&w, &s->o, &s->random, &l, &s->res), 0);
    CHECK_INT(s->final_stages, s->stages);
    CHECK_INT(s->stage_events, s->whole.completed);
}

static void late_reports_leave_out_stages(void)
{
    struct seen s;

    for (int64_t ns = 40 * MS; ns <= LONGEST; ns *= 4) {
        run_with_late_reports(&s, ns, 2); // until the third stage
        if (s.stages == 2 && s.running[0] > 0 && s.running[2] > 0)
            break;
    }
    CHECK_INT(s.stages, 2);
    CHECK_INT(s.running[1], 0);
    // After the time limit only the final report counts.
    run_with_late_reports(&s, 20 * MS, 4);
    CHECK_INT(s.stages, 1);
    CHECK(s.running[0] > 0);
}

static int fail_at_once(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    sb_user_next(u);
    return sb_err_set(err, SB_ESCRIPT, "boom");
}

static void a_warmup_has_no_stages(void)
{
    static const struct sb_workload_ops failing = { .user_run = fail_at_once };
    struct seen s;

    prepare(&s, 1);
    set_stages(&s, "threads=1 for 1s", 1000 * MS);
    s.o.warmup_time = 60000 * MS;
    CHECK_INT(perform(&s, &failing), SB_ESCRIPT);
    CHECK_INT(s.finals, 1);
    CHECK_INT(s.stages, 0);
}

static void a_loop_that_ends_is_the_end_of_its_user(void)
{
    struct seen s;

    prepare(&s, 1);
    set_stages(
        &s, "threads=2 for 1s; threads=1 for 1s; threads=2 for 1s", 20 * MS);
    CHECK_INT(perform(&s, &ending), 0);
    CHECK(visits[0].runs == 1);
    CHECK(visits[1].dones == 0 || visits[1].runs == 1);
    CHECK(s.c.completed <= 9);
}

static int refuse(struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    if (u->id == 2)
        return sb_err_set(err, SB_ECONNECT, "too many connections");
    return 0;
}

static const struct sb_workload_ops refusing = { .user_init = refuse,
    .user_run = empty_loop };

static void a_user_that_cannot_come_fails_the_run(void)
{
    struct seen s;

    prepare(&s, 1);
    set_stages(&s, "threads=2 for 0.001s; threads=4 for 2s", 60000 * MS);
    CHECK_INT(perform(&s, &refusing), SB_ECONNECT);
    CHECK_INT(s.res.end, SB_END_FAILED);
    CHECK_INT(s.finals, 1);
    CHECK_STR(s.failure, "too many connections");
    CHECK(s.total_s < 50);
}

// A user whose connection hangs until it is canceled.
static int hang(struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    if (u->id == 0)
        return 0;
    while (!seen_of(w)->canceled)
        nap(MS);
    return sb_err_set(err, SB_ECANCELED, "canceled");
}

static void cancel_hang(struct sb_workload *w, struct sb_user *u)
{
    seen_of(w)->canceled = true;
}

static const struct sb_workload_ops hanging = {
    .user_init = hang, .user_run = empty_loop, .cancel = cancel_hang
};

static void a_hung_connection_is_canceled(void)
{
    struct seen s;

    for (int64_t ns = 40 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 1);
        s.o.shutdown_grace = 3600 * 1000 * MS;
        set_stages(&s, "threads=1 for 1s; threads=2 for 1s", ns);
        perform(&s, &hanging);
        CHECK_INT(s.finals, 1);
        CHECK_INT(s.unfinished, 0);
        if (s.canceled)
            break;
    }
    CHECK(s.canceled);
    CHECK_INT(s.res.end, SB_END_LIMIT);
    CHECK_INT(s.res.err.code, 0);
    CHECK(s.total_s < 1000); // less than half of the grace
}

CHECK_FILE
{
    RUN(users_come_and_go);
    RUN(connects_are_counted);
    RUN(the_rate_changes);
    RUN(a_user_that_goes_loses_no_arrival);
    RUN(users_go_before_a_distant_arrival);
    RUN(used_up_events_end_the_run);
    RUN(a_time_limit_cuts_stages_off);
    RUN(no_user_at_the_end);
    RUN(the_warmup_has_the_first_users);
    RUN(late_reports_leave_out_stages);
    RUN(a_warmup_has_no_stages);
    RUN(a_loop_that_ends_is_the_end_of_its_user);
    RUN(a_user_that_cannot_come_fails_the_run);
    RUN(a_hung_connection_is_canceled);
    return check_done();
}
