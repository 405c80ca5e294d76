// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs that find their rate: --rate=80% and --rate=max. What is checked does
// not depend on how fast users run, but for tests that repeat with longer
// times.
// Not with tsan: it delays the client, and trials of a late client do not
// count.
#include <math.h>
#include <signal.h>

#include "base/log.h"
#include "run/rate_search.h"
#include "run/run_state.h"
#include "runs.h"

#define USERS 4

static struct {
    struct sb_rate_search last; // of rate_found()
    int maxima, trials, measured, judged, finals;
    bool answer;      // of judge()
    double threshold; // if > 0: keeps up to this rate
    int interrupt_at; // trial in which a signal arrives
    double warmup_s;
    _Atomic int late;   // trials in which the main thread is late
    uint64_t late_part; // the last one of them; of user 1
    _Atomic uint64_t measured_part;
    struct sb_rate_search final;
    char sentence[300]; // of rate_found()
    int shown;          // calls of searching()
} got;

static bool on_judge(
    void *data, const struct sb_report *r, double *value, unsigned *missed)
{
    CHECK(r->open_loop && r->latency == &r->snap->response);
    CHECK_INT(r->snap->response.total, r->snap->c.completed);
    got.judged++;
    *value = (double)r->snap->c.completed / r->interval_s;
    bool kept = got.threshold > 0 ? *value <= got.threshold : got.answer;
    *missed = kept ? SB_SEARCH_NONE : 0;
    if (got.interrupt_at == got.judged)
        kill(getpid(), SIGINT);
    return kept;
}

// The trials exist only during the call.
static void keep(const struct sb_rate_search *f)
{
    got.last = *f;
    got.last.trial = NULL;
    sb_search_sentence(f, got.sentence, sizeof(got.sentence));
}

static void on_rate_found(void *data, const struct sb_rate_search *f)
{
    got.maxima += f->trials == 0;
    got.trials += f->trials > 0;
    if (f->trials > 0)
        CHECK_INT(f->trials, got.trials);
    CHECK_INT(got.measured, 0);
    keep(f);
}

// Called at once, then every second.
static void on_searching(void *data, const struct sb_searching *now)
{
    const struct seen *s = data;

    CHECK_INT(got.measured, 0);
    CHECK_INT(now->max_trials, s->o.rate_search ? s->o.rate_trials : 0);
    CHECK(now->warmup == (got.shown == 0 && s->o.warmup_time > 0) ||
          got.shown > 0);
    CHECK(got.shown > 0 || now->trial == 0);
    CHECK((now->trial > 0) == (now->rate > 0));
    CHECK_INT(now->trial, now->rate > 0 ? got.trials + 1 : 0);
    CHECK(now->left >= 0 && now->left < 1e4);
    got.shown++;
}

static void on_measured(void *data, const struct sb_rate_search *f)
{
    got.measured++;
    keep(f);
}

static void on_end(void *data, const struct sb_report *r)
{
    struct seen *s = data;

    on_final(s, r);
    CHECK(r->search != NULL);
    if (r->search)
        got.final = *r->search;
    got.warmup_s = r->warmup_s;
    got.finals++;
}

static int go(struct seen *s, const struct sb_workload_ops *ops)
{
    struct sb_workload w = { .ops = ops, .data = s };
    const struct sb_listener l = { .data = s,
        .interval = on_interval,
        .checkpoint = on_checkpoint,
        .final = on_end,
        .judge = on_judge,
        .judge_unit = "/s",
        .rate_found = on_rate_found,
        .searching = on_searching,
        .measured = on_measured };

    return sb_run(&w, &s->o, &s->random, &l, &s->res);
}

static void set_up(struct seen *s, int64_t ns)
{
    bool answer = got.answer;

    memset(&got, 0, sizeof(got));
    got.answer = answer;
    prepare(s, USERS);
    s->o.time = ns;
    // Users of a busy machine may get no processor for some time.
    s->o.rate_probe_time = ns < 400 * MS ? 400 * MS : ns;
    s->o.rate_trial_time = ns;
    s->o.rate_trials = 40;
    s->o.rate_tolerance = 10;
    s->o.rate_limit = "p99<1s";
    s->o.arrivals = SB_PACE_CONSTANT;
}

// Searches with trials of ns, and with longer ones while the machine is too
// busy for them. also: sets more options.
static int search(struct seen *s, int64_t ns, const struct sb_workload_ops *ops,
    void (*also)(struct seen *s))
{
    int rc = SB_ELIMIT;

    for (; rc == SB_ELIMIT && ns <= LONGEST; ns *= 4) {
        set_up(s, ns);
        s->o.rate_search = true;
        if (also)
            also(s);
        rc = go(s, ops);
    }
    return rc;
}

// A user completes at most 500 events per second.
static int slow_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u)) {
        atomic_fetch_add(&seen_of(w)->calls, 1);
        nap(2 * MS);
    }
    return 0;
}

static const struct sb_workload_ops slow = { .user_run = slow_loop };

static void a_share_of_the_maximum(void)
{
    struct seen s;
    double window = 0.3; // s, of the probe; each user may add one event

    set_up(&s, 100 * MS);
    s.o.rate_percent = 50;
    s.o.warmup_time = 10 * MS;
    s.o.report_interval = 20 * MS;
    CHECK_INT(go(&s, &slow), 0);
    CHECK_INT(s.res.end, SB_END_LIMIT);
    CHECK_INT(got.maxima, 1);
    CHECK_INT(got.measured, 1);
    CHECK_INT(got.judged, 0);
    CHECK(got.shown > 0);
    CHECK(got.last.max > 0 && got.last.max <= USERS * (500 + 1 / window));
    CHECK_NEAR(got.last.rate, got.last.max / 2, 1e-9);
    CHECK_NEAR(got.final.percent, 50, 0);
    // The measured part is an open loop at this rate, and only it is reported.
    CHECK_NEAR((double)s.scheduled, got.last.rate * 0.1, 1);
    CHECK_INT(s.whole.completed, s.sum_of_users);
    CHECK_INT(s.warm_events, 0);
    CHECK(s.calls > (int)s.whole.completed);
    CHECK(s.total_s >= 0.1);
    CHECK_NEAR(got.warmup_s, 0.01, 1e-9);
}

static void events_limit_the_measured_part(void)
{
    struct seen s;

    set_up(&s, 50 * MS);
    s.o.rate_percent = 80;
    s.o.events = 5;
    s.o.time = 0;
    CHECK_INT(go(&s, &slow), 0);
    CHECK_INT(s.whole.completed, 5);
    CHECK(got.last.max > 0);
}

static void a_limit_that_is_never_kept(void)
{
    struct seen s;

    int64_t ns = 40 * MS;

    // On a busy machine, a short probe completes too few events.
    for (;; ns *= 4) {
        got.answer = false;
        set_up(&s, ns);
        s.o.rate_search = true;
        if (go(&s, &slow) == 0 || ns > LONGEST)
            break;
    }
    CHECK_INT(got.last.result.end, SB_SEARCH_BELOW);
    CHECK_INT(got.last.result.kept, 0);
    CHECK_NEAR(got.last.lowest, 1e10 / (double)ns, 1e-6);
    CHECK(isnan(got.last.result.safe));
    CHECK_NEAR(got.last.rate, got.last.lowest, 1e-9);
    // Each trial, and the measured part at the end.
    CHECK_INT(got.judged, got.trials + 1);
    CHECK(got.final.judged && !got.final.kept);
    CHECK_INT(got.measured, 1);
}

// Users that are slow only while the maximum is measured, as a cold cache is,
// and at the start of each trial: the queue is then longer when counting begins
// than at the end, which is no reason to refuse the rate.
static int cold_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    uint64_t part = 0;

    while (sb_user_next(u)) {
        if (!u->run->open_loop)
            nap(4 * MS);
        else if (u->run->searching && part != u->run->search.part)
            nap(u->run->o->rate_trial_time * 3 / 10);
        part = u->run->search.part;
    }
    return 0;
}

static const struct sb_workload_ops cold = { .user_run = cold_loop };

static void a_limit_that_is_always_kept(void)
{
    struct seen s;
    int rc = -1;

    // On a busy machine, a short probe completes too few events.
    for (int64_t ns = 60 * MS; ns <= LONGEST; ns *= 4) {
        got.answer = true;
        set_up(&s, ns);
        s.o.rate_search = true;
        rc = go(&s, &cold);
        if (rc)
            continue;
        CHECK(got.last.highest >= got.last.max * 3.9);
        if (got.last.result.end == SB_SEARCH_ABOVE)
            break;
    }
    CHECK_INT(rc, 0);
    CHECK_INT(got.last.result.end, SB_SEARCH_ABOVE);
    CHECK_INT(got.last.result.kept, got.trials);
    CHECK(got.final.judged && got.final.kept);
    CHECK(got.last.rate > got.last.max);
}

// The rate at which the answer changes is found. Also a busy machine can keep
// it.
static void the_threshold_is_found(void)
{
    struct seen s;

    for (int64_t ns = 100 * MS; ns <= LONGEST; ns *= 4) {
        set_up(&s, ns);
        got.threshold = 400;
        s.o.rate_search = true;
        if (go(&s, &slow) == 0 && got.last.result.end == SB_SEARCH_FOUND &&
            fabs(log(got.last.result.rate / got.threshold)) < 0.1)
            break;
    }
    CHECK_INT(got.last.result.end, SB_SEARCH_FOUND);
    CHECK_NEAR(got.last.result.rate, 400, 40);
    CHECK(got.last.result.high <= got.last.result.low * 1.1001);
    // The measured part is to keep the limit.
    CHECK_NEAR(got.last.rate, got.last.result.safe, 0);
    CHECK(got.last.rate < got.last.result.rate);
}

// More arrive than users can start: no limit is missed, but the rate is too
// high.
static void a_queue_that_grows_is_not_kept(void)
{
    struct seen s;

    got.answer = true;
    CHECK_INT(search(&s, 100 * MS, &slow, NULL), 0);
    CHECK(got.last.result.end != SB_SEARCH_ABOVE);
    CHECK(got.last.result.kept < got.last.trials);
    // 2,000 per second for 125 ms; the queue may grow by sqrt(n) + users.
    CHECK(got.last.rate < 4000);
    CHECK(strstr(got.sentence, "maximum") ||
          got.last.result.end == SB_SEARCH_EXHAUSTED);
}

static void in_the_third_trial(struct seen *s)
{
    (void)s;
    got.interrupt_at = 3;
}

static void a_signal_ends_the_search(void)
{
    struct seen s;

    got.answer = false;
    CHECK_INT(search(&s, 40 * MS, &slow, in_the_third_trial), 0);
    CHECK_INT(s.res.end, SB_END_SIGNAL);
    CHECK_INT(s.res.signal, SIGINT);
    CHECK_INT(got.finals, 1);
    CHECK_INT(got.measured, 0);
    CHECK_INT(got.final.result.end, SB_SEARCH_GOES_ON);
    CHECK(got.final.rate == 0 && !got.final.judged);
    CHECK(got.final.trials >= 2 && got.final.trials <= 4);
    // The figures are those of the last part, not of all loads together.
    CHECK(s.whole.completed < (uint64_t)s.calls);
    CHECK_INT(s.whole.completed, s.c.completed);
    CHECK_INT(s.sum_of_users, s.c.completed);
}

// A user that keeps the main thread from counting, while the first trials take
// place.
static int blocking_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb_run *run = u->run;

    while (sb_user_next(u)) {
        if (!run->searching)
            atomic_store(&got.measured_part, run->search.part);
        if (run->open_loop && run->searching && u->id == 1 && got.late > 0 &&
            run->search.part != got.late_part) {
            got.late--;
            got.late_part = run->search.part;
            pthread_mutex_lock(&run->lock);
            nap(run->o->rate_trial_time * 5);
            pthread_mutex_unlock(&run->lock);
        }
        nap(MS);
    }
    return 0;
}

static const struct sb_workload_ops blocking = { .user_run = blocking_loop };

static void two_late_trials(struct seen *s)
{
    s->o.rate_trials = 1;
    got.late = 2;
}

static void a_trial_that_was_not_counted_is_repeated(void)
{
    struct seen s;

    got.answer = true;
    CHECK_INT(search(&s, 40 * MS, &blocking, two_late_trials), 0);
    CHECK_INT(got.late, 0);
    CHECK_INT(got.trials, 1);
    CHECK_INT(got.judged, 2); // and the measured part
    CHECK_INT(got.final.result.trials, 1);
    // After the probe, the trial, and at least two repeated ones.
    CHECK(got.measured_part >= 5);
}

static int failing_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u)) {
        if (u->run->open_loop && u->id == 1)
            return sb_err_set(err, SB_ESYS, "the server has gone away");
        nap(MS);
    }
    return 0;
}

static const struct sb_workload_ops failing = { .user_run = failing_loop };

static void an_error_ends_the_search(void)
{
    struct seen s;

    got.answer = true;
    CHECK_INT(search(&s, 40 * MS, &failing, NULL), SB_ESYS);
    CHECK_INT(s.res.end, SB_END_FAILED);
    CHECK_STR(s.res.err.msg, "the server has gone away");
    CHECK_INT(got.finals, 1);
    CHECK_INT(got.measured, 0);
}

static int short_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u)) {
        if (u->run->open_loop)
            break;
        nap(MS);
    }
    return 0;
}

static const struct sb_workload_ops ending = { .user_run = short_loop };

static void loops_that_end_end_the_search(void)
{
    struct seen s;

    got.answer = true;
    CHECK_INT(search(&s, 40 * MS, &ending, NULL), SB_ELIMIT);
    CHECK_INT(s.res.end, SB_END_FAILED);
    CHECK_STR(s.res.err.msg,
        "the users ended before the search for the rate did, so there is no "
        "measured part");
    CHECK_INT(got.finals, 1);
    CHECK_INT(got.measured, 0);
}

static int hanging_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u)) {
        while (u->run->open_loop && u->id == 2 && !seen_of(w)->canceled)
            nap(MS);
        nap(MS);
    }
    return 0;
}

static void cancel(struct sb_workload *w, struct sb_user *u)
{
    seen_of(w)->canceled = true;
}

static const struct sb_workload_ops hanging = { .user_run = hanging_loop,
    .cancel = cancel };

static void soon(struct seen *s)
{
    s->o.shutdown_grace = 50 * MS;
}

static void a_call_that_hangs_ends_the_search(void)
{
    struct seen s;

    got.answer = true;
    CHECK_INT(search(&s, 40 * MS, &hanging, soon), SB_ETIMEOUT);
    CHECK(strstr(s.res.err.msg, "do not return from their events"));
    CHECK(strstr(s.res.err.msg, "trial 1: 1 of 4 users") == s.res.err.msg);
    CHECK(s.canceled);
    CHECK_INT(got.finals, 1);
    CHECK_INT(got.measured, 0);
}

static void too_few_events(void)
{
    struct seen s;

    set_up(&s, 40 * MS);
    s.o.rate_search = true;
    s.o.rate_trial_time = 5 * MS; // 4 users: at most 14 events
    CHECK_INT(go(&s, &slow), SB_ELIMIT);
    CHECK(strstr(s.res.err.msg, "--rate-trial-time"));
    CHECK_INT(got.measured, 0);
}

// The first event takes longer than the probe.
static int sleeping_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u))
        nap(1000 * MS);
    return 0;
}

static const struct sb_workload_ops sleeping = { .user_run = sleeping_loop };

static void no_event(void)
{
    struct seen s;

    set_up(&s, 10 * MS);
    s.o.rate_probe_time = 10 * MS;
    s.o.rate_percent = 80;
    CHECK_INT(go(&s, &sleeping), SB_ELIMIT);
    CHECK(strstr(s.res.err.msg, "no event was completed in 0.01 s"));
    CHECK_INT(s.res.end, SB_END_FAILED);
}

// Options.

static int finish(double rate, const char *limit, const char *stages,
    struct sb_run_opts *o, struct sb_err *err)
{
    *o = (struct sb_run_opts){ .threads = 1,
        .rate = rate,
        .rate_limit = limit,
        .stages_text = stages,
        .forced_shutdown = "off",
        .think_time = "" };
    *err = (struct sb_err){ 0 };
    return sb_run_opts_finish(o, false, false, err);
}

static void length(void)
{
    struct sb_run_opts o = { .warmup_time = 5 * MS,
        .rate_probe_time = 100 * MS,
        .rate_trial_time = 40 * MS,
        .rate_trials = 10 };

    CHECK_INT(sb_rate_search_ns(&o), 115 * MS);
    o.rate_search = true;
    CHECK_INT(sb_rate_search_ns(&o), (115 + 500) * MS);
}

static void options(void)
{
    struct sb_run_opts o;
    struct sb_err err;

    CHECK_INT(finish(INFINITY, "p99<1", "", &o, &err), 0);
    CHECK(o.rate_search && o.rate_percent == 0);
    CHECK(sb_run_opts_finds_rate(&o) && sb_run_opts_open_loop(&o));
    CHECK_INT(finish(-80, "", "", &o, &err), 0);
    CHECK(!o.rate_search && o.rate_percent == 80);
    CHECK(sb_run_opts_finds_rate(&o) && sb_run_opts_open_loop(&o));
    CHECK_INT(finish(0, "", "", &o, &err), 0);
    CHECK(!sb_run_opts_finds_rate(&o) && !sb_run_opts_open_loop(&o));
    CHECK_INT(finish(5, "", "", &o, &err), 0);
    CHECK(!sb_run_opts_finds_rate(&o) && sb_run_opts_open_loop(&o));
    CHECK_INT(finish(INFINITY, "", "", &o, &err), SB_EUSAGE);
    CHECK(strstr(err.msg, "--rate=max requires --rate-limit"));
    CHECK_INT(finish(5, "p99<1", "", &o, &err), SB_EUSAGE);
    // Stages have parts of the rate that is found, and nothing else.
    CHECK_INT(finish(INFINITY, "p99<1", "rate=150% for 1s", &o, &err), 0);
    CHECK(o.stages.stage[0].rate_from == 1.5);
    CHECK_INT(o.time, 1000000000);
    CHECK_INT(finish(-80, "", "for 1s", &o, &err), 0);
    CHECK_INT(finish(-80, "", "rate=9 for 1s", &o, &err), SB_EUSAGE);
    CHECK_INT(
        finish(INFINITY, "p99<1", "threads=2 for 1s", &o, &err), SB_EUSAGE);
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL);
    RUN(options);
    RUN(length);
    RUN(a_share_of_the_maximum);
    RUN(events_limit_the_measured_part);
    RUN(a_limit_that_is_never_kept);
    RUN(a_limit_that_is_always_kept);
    RUN(the_threshold_is_found);
    RUN(a_queue_that_grows_is_not_kept);
    RUN(a_signal_ends_the_search);
    RUN(a_trial_that_was_not_counted_is_repeated);
    RUN(an_error_ends_the_search);
    RUN(loops_that_end_end_the_search);
    RUN(a_call_that_hangs_ends_the_search);
    RUN(too_few_events);
    RUN(no_event);
    return check_done();
}
