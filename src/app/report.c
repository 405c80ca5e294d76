// SPDX-License-Identifier: GPL-2.0-or-later
//
// A run as the user sees it: passes its reports to the listeners. Of these, the
// files of --report, the limits, the classic text with the report hooks of the
// script, and the progress line are in this file.
#include <assert.h>
#include <luajit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "base/log.h"
#include "kit/clock.h"
#include "out/context.h"
#include "out/json_parts.h"
#include "out/target.h"
#include "run/rate_search.h"

// All listeners, in the order in which the functions below call them.
// Values of servers and of the client are in the row of an interval, and the
// facts of the run are complete, before files are written. The limit that ends
// a run is logged before the text of the interval; the progress line is last,
// because all other output erases it.
static const struct sb__app_listener files_listener, limits_listener,
    text_listener, progress_listener;
static const struct sb__app_listener *const listeners[] = {
    &sb__app_work_listener,
    &sb__app_server_listener,
    &sb__app_rerun_listener,
    &sb__app_client_listener,
    &sb__app_ranks_listener,
    &sb__app_validity_listener,
    &sb__app_costs_listener,
    &sb__app_statements_listener,
    &files_listener,
    &limits_listener,
    &sb__app_beside_listener,
    &text_listener,
    &progress_listener,
};

#define NOTIFY(call, ...)                                                 \
    for (size_t i = 0; i < sizeof(listeners) / sizeof(*listeners); i++) { \
        if (listeners[i]->call)                                           \
            listeners[i]->call(__VA_ARGS__);                              \
    }

// The line of progress --------------------------------------------------------

// --progress is on by default if no interval lines show how the run is going.
bool sb__app_has_progress(const struct sb_app *a)
{
    if (sb_log_level() < SB_LOG_NOTICE || !a->report_opts.progress ||
        !isatty(STDERR_FILENO))
        return false;
    return a->run.report_interval == 0 ||
           sb_opts_given(a->opts, "progress", false);
}

// Shows a line of progress, with the number of the run in its sweep.
static void print_progress(const struct sb_app *a, const char *line)
{
    const struct sb_app_setup *s = &a->setup;
    double left = NAN;
    char all[240];

    assert(s->place <= s->places); // 0 without a sweep
    if (!s->places) {
        sb_log_progress("%s", line);
        return;
    }
    if (s->ends)
        left = ((double)s->ends - (double)sb_clock_monotonic()) / 1e9;
    sb_progress_run(all, sizeof(all), s->place, s->places, left, line);
    sb_log_progress("%s", all);
}

// The search for the rate: --rate=80%, --rate=max -----------------------------

// Trials at rates that are too high take longer, because all their arrivals are
// waited for; most searches need fewer trials.
static void print_length(const struct sb_run_opts *o)
{
    double s = (double)sb_rate_search_ns(o) / 1e9;

    if (o->rate_search)
        printf("Time before the measured part: usually less than %.0f seconds "
               "(up to %lld trials)\n",
            ceil(s), (long long)o->rate_trials);
    else
        printf("Time before the measured part: about %.10g seconds\n", s);
}

// The line of "Running the test with following options" on the rate.
static void rate_mode(const struct sb_app *a)
{
    const struct sb_run_opts *o = &a->run;

    if (o->rate_percent > 0)
        printf("Target transaction rate: %.10g%% of the maximum\n",
            o->rate_percent);
    else if (o->rate_search)
        printf("Target transaction rate: the highest that keeps %s\n",
            o->rate_limit);
    else if (o->rate > 0)
        printf("Target transaction rate: %.10g/sec\n", o->rate);
    if (sb_run_opts_finds_rate(o))
        print_length(o);
}

static void print_trial(
    const struct sb_app *a, const struct sb_search_trial *t, unsigned n)
{
    const struct sb_limit *l = a->rate_limits.limit;
    char value[64];

    printf("trial %u: rate: %.2f/sec, %s: %s", n, t->rate, l->text,
        sb_assert_value(l, value, sizeof(value)));
    if (t->kept)
        printf(", kept\n");
    else if (t->missed == SB_SEARCH_NONE || (t->grew && t->missed == 0))
        printf(", not kept: the queue grew\n");
    else if (t->missed > 0)
        printf(", not kept: %s: %s\n", l[t->missed].text,
            sb_assert_value(&l[t->missed], value, sizeof(value)));
    else
        printf(", not kept\n");
}

static void on_searching(void *data, const struct sb_searching *now)
{
    const struct sb__listening *t = data;
    char line[120];

    if (!t->progress)
        return;
    sb_progress_search(line, sizeof(line), now);
    print_progress(t->a, line);
}

static void on_rate_found(void *data, const struct sb_rate_search *f)
{
    const struct sb__listening *t = data;

    sb_log_progress_done();
    if (sb__app_quiet(t->a))
        return;
    if (f->trials == 0)
        printf("Maximum of a closed loop: %.2f/sec%s\n", f->max,
            f->limit ? "\n" : "");
    else
        print_trial(t->a, &f->trial[f->trials - 1], f->trials);
    fflush(stdout);
}

// The start of the measured part on the wall clock.
static void set_start(struct sb_app *a, int64_t warmup_ns)
{
    a->facts.started = sb_clock_timespec(sb_clock_wall() + (uint64_t)warmup_ns);
}

// The measured part begins in warmup_ns.
static void begin_measured(struct sb__listening *t, int64_t warmup_ns)
{
    set_start(t->a, warmup_ns);
    NOTIFY(measured, t, warmup_ns);
}

static void on_measured(void *data, const struct sb_rate_search *f)
{
    struct sb__listening *t = data;
    char text[400];

    sb_log_progress_done();
    begin_measured(t, 0);
    if (sb__app_quiet(t->a))
        return;
    if (f->limit)
        printf("\n%s\n", sb_search_sentence(f, text, sizeof(text)));
    printf("%s: %.2f/sec\n\n",
        t->a->run.stages.n ? "Rate found, 100 % of the stages"
                           : "Rate of the measured part",
        f->rate);
    fflush(stdout);
}

// Lines before a run ----------------------------------------------------------

static void print_list(
    const char *before, const struct sb_opt_list *list, const char *after)
{
    printf("%s", before);
    for (size_t i = 0; i < list->count; i++)
        printf("%s%s", i ? ", " : "", list->item[i]);
    printf("%s\n", after);
}

static void print_mode(const struct sb_app *a)
{
    const struct sb_run_opts *o = &a->run;
    const double s = 1e9;
    bool found = sb_run_opts_finds_rate(o);

    printf("Running the test with following options:\n");
    printf("Number of threads: %lld\n", (long long)o->threads);
    sb__app_print_workers(a);
    if (o->job)
        printf("Number of ranks: %u\n", o->share.ranks);
    else if (o->share.ranks > 1)
        printf("Rank %u of %u: threads %llu to %llu\n", o->share.rank,
            o->share.ranks, (unsigned long long)o->share.first,
            (unsigned long long)(o->share.first + o->share.users - 1));
    if (o->warmup_time)
        printf("Warmup time: %gs\n", (double)o->warmup_time / s);
    rate_mode(a);
    if (o->mix.n)
        printf("Mix by %s: %s\n",
            o->mix.by == SB_MIX_USERS ? "users" : "events", a->o.mix);
    if (o->stages.n)
        printf("Stages: %s\n", o->stages_text);
    if (o->report_interval)
        printf("Report intermediate results every %g second(s)\n",
            (double)o->report_interval / s);
    if (o->report_checkpoints.count)
        print_list(
            "Report checkpoint(s) at ", &o->report_checkpoints, " seconds");
    if (o->debug)
        printf("Debug mode enabled.\n\n");
    if (o->validate)
        printf("Validation checks: on.\n\n");
    if (a->dist.seed)
        printf("Initializing random number generator from seed (%lld).\n\n",
            (long long)a->dist.seed);
    else
        printf("Initializing random number generator from current time "
               "(seed %llu)\n\n",
            (unsigned long long)a->random.seed);
    if (o->forced_shutdown_ns >= 0)
        printf("Forcing shutdown %s%g seconds%s\n", found ? "" : "in ",
            (double)(o->time + o->forced_shutdown_ns) / s,
            found ? " after the measured part begins" : "");
    printf("\n");
}

void sb__app_print_initializing(const struct sb_app *a)
{
    if (!sb__app_quiet(a))
        printf("Initializing worker threads...\n\n");
    fflush(stdout);
}

// The events of a script may end the run, but only the script knows: without
// limits, a script that does not say so counts as endless.
static bool is_endless(const struct sb_app *a)
{
    if (a->run.time > 0 || a->run.events > 0)
        return false;
    if (a->mix)
        return !sb_app_mix_ends(a);
    if (a->script)
        return !sb_script_ends(a->script);
    return !a->builtin || !a->builtin->ends ||
           !a->builtin->ends(a->builtin_opts);
}

// Prints the block "Running the test with following options".
static void print_options(struct sb_app *a, struct sb_workload *w)
{
    if (!sb__app_quiet(a))
        print_mode(a);
    if (!sb__app_quiet(a) && a->builtin && a->builtin->describe)
        a->builtin->describe(w, stdout);
    if (is_endless(a))
        sb_log(SB_LOG_WARNING,
            "Both event and time limits are disabled, running an endless "
            "test");
    sb__app_print_initializing(a);
}

// The start -------------------------------------------------------------------

// Interval of files without --report-interval.
#define FILE_INTERVAL INT64_C(1000000000)

static int64_t file_interval(const struct sb_app *a)
{
    return a->run.report_interval > 0 ? a->run.report_interval : FILE_INTERVAL;
}

void sb__app_facts(struct sb_app *a)
{
    struct sb_facts *f = &a->facts;

    *f = (struct sb_facts){
        .version = PACKAGE_VERSION,
        .luajit = LUAJIT_VERSION,
        .test = a->test,
        .command = a->command,
        .seed = a->random.seed,
        .opts = a->opts,
        .each_file = sb_app_each_file,
        .app = a,
        .labels = &a->report_opts.labels,
        .threads = (unsigned)(a->run.job ? (uint64_t)a->run.threads
                                         : a->run.share.users),
        .workers = a->workers.n,
        .event_loop = a->workers.event_loop,
        .worker_policy = a->workers.policy,
        .workers_reason = a->why_workers[0] ? a->why_workers : NULL,
        .share = a->run.job ? NULL : &a->run.share,
        .interval_s = (double)file_interval(a) / 1e9,
        .open_loop = sb_run_opts_open_loop(&a->run),
        .finds_rate = sb_run_opts_finds_rate(&a->run),
        .answers = &a->answers,
        .headline = &a->headline,
        .limits = &a->asserts,
        .swept = a->setup.shown,
        .nswept = a->setup.nshown,
        .round = a->setup.round,
        .place = a->setup.place,
        .places = a->setup.places,
        .following = a->setup.following,
    };
    // For a run that does not start.
    clock_gettime(CLOCK_REALTIME, &f->started);
    sb_host_facts(&f->host);
}

// Called after the init() of the script, so that its output comes first.
static void on_connecting(void *data)
{
    struct sb__listening *t = data;

    print_options(t->a, t->w);
    NOTIFY(connecting, t);
}

static void on_workers(void *data, const struct sb_run_workers *w)
{
    const struct sb__listening *t = data;

    t->a->workers = *w;
    t->a->facts.workers = w->n;
    t->a->facts.event_loop = w->event_loop;
    t->a->facts.worker_policy = w->policy;
}

// Whether users pause between a warm-up and the measured part.
static bool pauses(const struct sb_app *a)
{
    return a->run.warmup_time > 0 && a->run.stages.n == 0 &&
           sb__app_settles_again(a);
}

static void on_started(void *data)
{
    struct sb__listening *t = data;

    if (!sb__app_quiet(t->a))
        printf("Threads started!\n\n");
    fflush(stdout);
    NOTIFY(started, t);
    // A search or a pause before the measured part takes an unknown time.
    if (!sb_run_opts_finds_rate(&t->a->run) && !pauses(t->a))
        begin_measured(t, t->a->run.warmup_time);
}

// The plans that follow from new statistics are explained in this time.
#define REST_NS INT64_C(1000000000)

static int64_t on_pause(void *data, const _Atomic bool *stop)
{
    struct sb__listening *t = data;

    sb_log_progress_done();
    sb__app_settle_again(t->a, stop);
    if (sb_run_opts_finds_rate(&t->a->run))
        return 0; // on_measured() follows
    int64_t rest = t->server.sampler ? REST_NS : 0;

    begin_measured(t, rest);
    return rest;
}

static void on_warmup(void *data, int64_t ns)
{
    const struct sb__listening *t = data;

    if (!sb__app_quiet(t->a))
        printf("Warming up for %g seconds...\n\n", (double)ns / 1e9);
    fflush(stdout);
}

// Intervals -------------------------------------------------------------------

// Returns true if the script printed the report with a hook of its own. If that
// fails, the report is printed without it.
static bool call_report_hook(struct sb__listening *t, const struct sb_report *r)
{
    struct sb_err err = { 0 };

    if (!t->a->script || !sb_script_has_report_hook(t->a->script, r->final))
        return false;
    if (sb_script_report(t->a->script, r, &err)) {
        sb_log(SB_LOG_FATAL, "%s", err.msg);
        t->status = SB_EXIT_FAILED;
    }
    fflush(stdout);
    return err.code == 0;
}

// Gives the text reporter what it needs to know about this run.
static void prepare_text(struct sb_app *a, const struct sb_report *r)
{
    a->text.sql = sb_drivers_used(a->drivers);
    a->text.documents = !sb_drivers_used_sql(a->drivers);
    a->text.start_ns = r->start_ns;
    a->text.interval_ns = a->run.report_interval;
    a->text.stats = r->stats;
}

struct line {
    struct sb__listening *t;
    const struct sb_report *r;
};

static void print_line(void *arg, struct sb_script *s)
{
    const struct line *l = arg;
    struct sb_err err = { 0 };
    char *line = NULL;

    if (sb_script_report_line(s, l->r, &line, &err)) {
        sb_log(SB_LOG_FATAL, "%s", err.msg);
        l->t->status = SB_EXIT_FAILED;
    }
    if (line)
        sb_text_line(&l->t->a->text, l->r, line);
    free(line);
}

// Prints the lines that scripts add to an interval or to the final report.
static void print_script_line(
    struct sb__listening *t, const struct sb_report *r)
{
    struct line l = { t, r };

    if (t->a->script)
        print_line(&l, t->a->script);
    sb_app_mix_lines(t->a, print_line, &l);
}

static void show_progress(struct sb__listening *t, const struct sb_report *r)
{
    const struct sb_progress_plan plan = {
        .seconds = (double)t->a->run.time / 1e9,
        .events = t->a->run.job ? (uint64_t)t->a->run.events
                                : sb_share_of(&t->a->run.share,
                                      (uint64_t)t->a->run.events),
        .pct = t->a->text.npct ? t->a->text.classic_pct : 0,
    };
    char line[200];

    t->done += r->warmup ? 0 : r->snap->c.completed;
    if (!t->progress || r->partial)
        return;
    sb_progress_text(line, sizeof(line), r, &plan, t->done);
    print_progress(t->a, line);
}

static const struct sb__app_listener progress_listener = {
    .interval = show_progress,
};

static void print_interval(struct sb__listening *t, const struct sb_report *r)
{
    // The text has intervals only on request, and only whole ones.
    if (t->a->run.report_interval == 0 || r->partial)
        return;
    prepare_text(t->a, r);
    if (call_report_hook(t, r))
        return;
    sb_text_interval(&t->a->text, r);
    print_script_line(t, r);
}

// A run that ends while it looks for its rate may end in a closed loop.
static void note_loop(struct sb_app *a, const struct sb_report *r)
{
    a->facts.open_loop = r->open_loop;
}

static void on_interval(void *data, const struct sb_report *r)
{
    struct sb__listening *t = data;

    assert(!r->final);
    sb_log_progress_done();
    note_loop(t->a, r);
    struct sb_series *row = r->paused
                                ? NULL // which has no place on the time axis
                                : sb_reporters_row(&t->a->reporters, r);
    NOTIFY(row, t, r, row);
    NOTIFY(interval, t, r);
}

static bool on_stop(void *data)
{
    const struct sb__listening *t = data;

    return t->a->asserts.by != NULL || sb__app_beside_stop(t) ||
           sb__app_until_reached(t) ||
           (t->a->script && sb_script_stops(t->a->script));
}

static void on_checkpoint(void *data, const struct sb_report *r)
{
    struct sb__listening *t = data;
    struct sb_report copy = *r;

    sb_log_progress_done();
    prepare_text(t->a, r);
    // As in 1.0, scripts see a checkpoint as a cumulative report.
    copy.final = true;
    if (!call_report_hook(t, &copy))
        sb_text_checkpoint(&t->a->text, r);
}

// How a run ended -------------------------------------------------------------

// The names are those of result files.
static const char *reason(enum sb_run_end end)
{
    switch (end) {
    case SB_END_LIMIT:
        return "limit";
    case SB_END_SCRIPT:
        return "script";
    case SB_END_SIGNAL:
        return "signal";
    case SB_END_FAILED:
        return "failed";
    case SB_END_FORCED:
        return "forced";
    case SB_END_HUNG:
        return "hung";
    }
    return "failed";
}

static const char *failure_of(const struct sb__listening *t)
{
    if (t->res->err.code)
        return t->res->err.msg;
    return *t->no_rate ? t->no_rate : NULL;
}

// A run waits for the last event of each user, so all are a little longer than
// --time. More than this changes what rates mean.
#define OVERRUN_SECONDS 1
#define OVERRUN_SHARE   0.05

static double overrun(const struct sb_text_times *times)
{
    double over = times->seconds - times->planned;

    return times->planned > 0 && over > OVERRUN_SECONDS &&
                   over > times->planned * OVERRUN_SHARE
               ? over
               : 0;
}

static struct sb_outcome outcome(
    const struct sb__listening *t, int status, bool unwritten)
{
    const struct sb_app *a = t->a;

    return (struct sb_outcome){
        .reason = reason(t->res->end),
        .status = status,
        .unwritten = unwritten,
        .failure = failure_of(t),
        .limit = a->asserts.by ? a->asserts.why : NULL,
        .answers = a->answers.nresults + a->answers.nverdicts,
        .overrun = t->res->end == SB_END_LIMIT ? overrun(&t->times) : 0,
    };
}

int sb__app_status_of(const struct sb_run_result *res)
{
    switch (res->end) {
    case SB_END_LIMIT:
    case SB_END_SCRIPT:
        return res->err.code ? SB_EXIT_FAILED : SB_EXIT_OK;
    case SB_END_SIGNAL:
        return 128 + res->signal;
    case SB_END_FORCED:
    case SB_END_HUNG:
        return SB_EXIT_FORCED;
    case SB_END_FAILED:
        // With os.exit(), a script chooses the status.
        if (res->err.code == SB_ESCRIPT && res->err.native)
            return res->err.native;
        break;
    }
    return SB_EXIT_FAILED;
}

// Limits ----------------------------------------------------------------------
//
// --assert during the run and at its end, and --rate-limit, by which --rate=max
// judges.

static void warn(const char *text)
{
    sb_log(SB_LOG_WARNING, "%s", text);
}

// Logs which limit ends the run.
static void check_interval(struct sb__listening *t, const struct sb_report *r)
{
    struct sb_asserts *limits = &t->a->asserts;

    sb_asserts_look(limits, r, warn);
    if (!limits->by && sb_asserts_interval(limits, r))
        sb_log(SB_LOG_ALERT, "%s; ending the run", limits->why);
}

static void check_search(
    struct sb__listening *t, const struct sb_rate_search *f)
{
    if (!f || !f->limit || f->result.end == SB_SEARCH_GOES_ON ||
        (f->result.end != SB_SEARCH_BELOW && f->result.kept > 0))
        return;
    snprintf(t->no_rate, sizeof(t->no_rate),
        "--rate=max: no rate was found that keeps --rate-limit=%s", f->limit);
}

static void check_final(struct sb__listening *t, const struct sb_report *final)
{
    const struct sb_assert_facts facts = { .validity = t->a->facts.validity,
        .costs = t->a->facts.costs,
        .beside = sb__app_beside_figures(t) };
    struct sb_report whole;

    sb_reporters_whole(&whole, final);
    sb_asserts_final(&t->a->asserts, &whole, &facts);
    sb_asserts_final(&t->a->headline_of, &whole, &facts);
    sb__app_answers_judge(t->a);
    check_search(t, final->search);
}

static void print_limits(struct sb__listening *t, const struct sb_report *r)
{
    (void)r;
    if (!sb__app_quiet(t->a) && !sb_asserts_need_results(&t->a->asserts))
        sb_asserts_text(&t->a->asserts, stdout);
    fflush(stdout);
}

static const struct sb__app_listener limits_listener = {
    .interval = check_interval,
    .complete = check_final,
    .after = print_limits,
};

// Whether a limit of --assert was not kept, or no rate keeps --rate-limit.
// After complete().
static bool limits_missed(const struct sb__listening *t)
{
    return sb_asserts_failed(&t->a->asserts) > 0 || *t->no_rate;
}

// At any verbosity, because these limits explain the exit status.
static void log_missed(const struct sb__listening *t)
{
    const struct sb_asserts *s = &t->a->asserts;
    char value[64];

    for (unsigned i = 0; i < s->n; i++) {
        const struct sb_limit *l = &s->limit[i];
        const struct sb_verdict *v = &l->verdict;

        if (!v->passed)
            sb_log(SB_LOG_USAGE, "limit not kept: %s: %s%s%s%s", l->text,
                sb_assert_value(l, value, sizeof(value)), *v->why ? " (" : "",
                v->why, *v->why ? ")" : "");
    }
    if (*t->no_rate)
        sb_log(SB_LOG_USAGE, "%s", t->no_rate);
}

// Returns the exit status: SB_EXIT_LIMITS if the run was successful and a limit
// was not kept, or it was successful or interrupted and a verdict of a script
// is not true; otherwise `status`. Logs the verdicts and limits that decide.
static int judged_status(const struct sb__listening *t, int status)
{
    bool missed = limits_missed(t), wrong = sb__app_answers_log(t->a) > 0;

    if (missed)
        log_missed(t);
    // A signal must not hide that the workload has found something wrong.
    if ((status == SB_EXIT_OK && (missed || wrong)) ||
        (t->res->end == SB_END_SIGNAL && wrong))
        return SB_EXIT_LIMITS;
    return status;
}

// judge() of struct sb_listener: whether --rate-limit is kept. The final report
// is judged without its checkpoints.
static bool limits_judge(
    void *data, const struct sb_report *r, double *value, unsigned *missed)
{
    const struct sb__listening *t = data;
    struct sb_asserts *limits = &t->a->rate_limits;
    struct sb_report whole = *r;
    bool kept = true;

    assert(limits->n > 0);
    if (r->whole)
        sb_reporters_whole(&whole, r);
    for (unsigned i = 0; i < limits->n; i++) {
        struct sb_limit *l = &limits->limit[i];

        sb_assert_check(l, &whole, &l->verdict);
        if (kept && !l->verdict.passed)
            *missed = i;
        kept = kept && l->verdict.passed;
    }
    *value = limits->limit[0].verdict.known ? limits->limit[0].verdict.value
                                            : NAN;
    return kept;
}

// Files -----------------------------------------------------------------------

static void write_interval(struct sb__listening *t, const struct sb_report *r)
{
    if (!r->paused)
        sb_reporters_interval(&t->a->reporters, r);
}

// Keeps the lines of a built-in test for result files.
static void keep_block(struct sb__listening *t, const struct sb_report *r)
{
    const struct sb_text_own *own = &t->a->text.own;
    size_t len;
    FILE *out;

    if (!own->final || t->a->reporters.n == 0)
        return;
    assert(!t->block); // there is one final report
    out = open_memstream(&t->block, &len);
    if (!out)
        return;
    own->final(own->data, r, out);
    fclose(out);
    t->a->facts.block = t->block;
}

// Completes the files before done() and the hooks of the script run, because
// these may end the process.
static void draft_files(struct sb__listening *t, const struct sb_report *r)
{
    struct sb_app *a = t->a;

    sb_reporters_final(&a->reporters, r);
    int status = sb__app_status_of(t->res);

    if (status == SB_EXIT_OK && limits_missed(t))
        status = SB_EXIT_LIMITS;
    const struct sb_outcome o = outcome(t, status ? status : t->status, false);

    sb_reporters_draft(&a->reporters, &o);
}

static const struct sb__app_listener files_listener = {
    .interval = write_interval,
    .complete = keep_block,
    .final = draft_files,
};

// The final report ------------------------------------------------------------

// Warns that no event was completed, for example because of a low rate. There
// is no warning if a script ended the run, even in its first event.
static void warn_of_nothing(
    const struct sb__listening *t, const struct sb_report *r)
{
    const struct sb_counters *c = &r->whole->c;

    if (c->completed == 0 && c->failed == 0 && t->res->end == SB_END_LIMIT &&
        !t->res->err.code)
        sb_log(SB_LOG_WARNING,
            "no event was completed in %.4g s, so there are no figures",
            r->total_s);
}

static void print_final(struct sb__listening *t, const struct sb_report *r)
{
    struct sb_err err = { 0 };

    prepare_text(t->a, r);
    if (t->a->script && sb_script_before_final(t->a->script, &err)) {
        sb_log(SB_LOG_FATAL, "%s", err.msg);
        t->status = SB_EXIT_FAILED;
    }
    if (!call_report_hook(t, r)) {
        sb_text_final(&t->a->text, r);
        print_script_line(t, r);
        t->printed = true;
    }
    warn_of_nothing(t, r);
    sb_text_found(&t->a->text, r);
}

static const struct sb__app_listener text_listener = {
    .interval = print_interval,
    .final = print_final,
};

static void on_final(void *data, const struct sb_report *r)
{
    struct sb__listening *t = data;

    assert(r->final && r->whole);
    assert(!t->printed);
    sb_log_progress_done();
    note_loop(t->a, r);
    t->times = (struct sb_text_times){ .seconds = r->total_s,
        .planned = (double)t->a->run.time / 1e9,
        .warmup = r->warmup };
    NOTIFY(complete, t, r);
    NOTIFY(final, t, r);
    NOTIFY(after, t, r);
}

void sb__app_listen(struct sb__listening *t, struct sb_listener *l)
{
    const struct sb_app *a = t->a;

    t->progress = sb__app_has_progress(a);
    sb__app_validity_begin(t);
    *l = (struct sb_listener){
        .data = t,
        .connecting = on_connecting,
        .workers = on_workers,
        .started = on_started,
        .warmup = on_warmup,
        .pause = sb__app_settles_again(a) ? on_pause : NULL,
        .interval = on_interval,
        .checkpoint = on_checkpoint,
        .final = on_final,
        .rate_found = on_rate_found,
        .searching = on_searching,
        .measured = on_measured,
        // Scripts may measure a server: the client is watched (app/observe.c).
        .interval_ns = a->script || a->mix || t->beside || a->reporters.n ||
                               sb__app_validity_follows(a) ||
                               sb__app_costs_wanted(a) ||
                               sb_asserts_abort(&a->asserts) ||
                               sb_asserts_of_operations(&a->asserts) ||
                               t->progress
                           ? FILE_INTERVAL
                           : 0,
        // The end of a warm-up is the end of an interval.
        .partial = a->reporters.n > 0 || t->beside ||
                   sb__app_validity_follows(a) || sb__app_costs_wanted(a),
        .operations = a->reporters.n > 0 ||
                      (a->mix && a->run.report_interval > 0) ||
                      sb_asserts_need_operations(&a->asserts),
        .stop = on_stop,
        .judge = a->run.rate_search ? limits_judge : NULL,
        .judge_unit = a->rate_limits.n ? sb_assert_unit(a->rate_limits.limit)
                                       : "",
    };
}

void sb__app_listening_done(struct sb__listening *t)
{
    sb__app_server_done(t);
    sb__app_beside_done(t);
    sb__app_validity_done(t);
    sb__app_costs_done(t);
    sb__app_statements_done(t);
    free(t->block);
    t->block = NULL;
    t->a->facts.block = NULL;
}

void sb__app_context(const struct sb__listening *t)
{
    json_t *run;

    if (!t->printed || !t->a->text_opts.report_context || sb__app_quiet(t->a))
        return;
    run = sb_json_facts(&t->a->facts);
    // As in the result file of a job, facts about a process are about rank 0.
    if (run && t->a->run.job)
        json_object_set_new(run, "ranks", json_array());
    if (run)
        sb_context_print(run, stdout);
    else
        sb_log(SB_LOG_WARNING, "--report-context: out of memory");
    json_decref(run);
    fflush(stdout);
}

int sb__app_finish_reports(struct sb__listening *t, int status)
{
    struct sb_app *a = t->a;

    sb__app_answers_end(t);
    status = judged_status(t, status);
    // Documents have the status with which the program will end.
    bool unwritten = status == SB_EXIT_OK && (fflush(stdout) || ferror(stdout));

    if (unwritten)
        status = SB_EXIT_FAILED;
    const struct sb_outcome o = outcome(t, status, unwritten);

    if (t->printed)
        sb_text_end(&a->text, &o, &t->times);
    sb_reporters_finish(&a->reporters, &o);
    status = sb_reporters_status(&a->reporters, status);
    sb_reporters_done(&a->reporters);
    return status;
}

// The run of another rank than 0 ----------------------------------------------
//
// It reports nothing by itself. If rank 0 is lost, its figures are written to a
// result file of its own.

// How long a rank stays after it has written its figures. A launcher ends all
// others when the first one leaves, and they may detect the loss a moment
// later.
#define STAY_S 8

// Returns FILE of --report=json=FILE, or NULL without such a report.
static const char *result_file(const struct sb_app *a)
{
    for (unsigned i = 0; i < a->reporters.n; i++) {
        const struct sb_reporter *r = &a->reporters.item[i];

        if (strcmp(r->kind->name, "json") == 0 && strcmp(r->target, "-") != 0 &&
            !sb_target_is_special(r->target))
            return r->target;
    }
    return NULL;
}

static void set_facts(struct sb_app *a, const struct sb_report *r)
{
    uint64_t ago = sb_clock_monotonic() - r->start_ns;
    uint64_t began = sb_clock_wall() - ago;

    sb__app_facts(a);
    a->facts.started = sb_clock_timespec(began);
    a->facts.share = &a->run.share;
    a->facts.threads = (unsigned)a->run.share.users;
    a->facts.open_loop = r->open_loop;
}

static int write_result(
    struct sb_app *a, const struct sb_report *r, const char *path)
{
    const struct sb_outcome o = {
        .reason = "failed", .status = SB_EXIT_FAILED, .failure = r->failure
    };
    struct sb_reporters files = { 0 };
    struct sb_err err = { 0 };
    char item[4200];

    snprintf(item, sizeof(item), "json=%s", path);
    const char *const items[] = { item };
    const struct sb_report_opts only = { .report = { items, 1 } };
    int rc = sb_reporters_init(&files, &only, &err);

    files.item[0].chosen = SB_TARGET_CHOSEN;
    set_facts(a, r);
    if (rc == 0)
        rc = sb_reporters_open(&files, &a->facts, &err);
    if (rc) {
        sb_log(SB_LOG_ALERT, "%s", err.msg);
        sb_reporters_done(&files);
        return rc;
    }
    sb_reporters_final(&files, r);
    sb_reporters_finish(&files, &o);
    rc = files.failed ? SB_ESYS : 0;
    sb_reporters_done(&files);
    return rc;
}

// Rank 0 does not answer any more.
static void on_rank_final(void *data, const struct sb_report *r)
{
    struct sb_app *a = data;
    const char *file = result_file(a);
    char path[4100];

    if (!file)
        return;
    snprintf(path, sizeof(path), "%.4000s.rank%u", file, a->job->rank);
    if (write_result(a, r, path))
        return;
    sb_log(SB_LOG_ALERT,
        "rank 0 does not answer: the figures of rank %u are in %s",
        a->job->rank, path);
    nanosleep(&(const struct timespec){ .tv_sec = STAY_S }, NULL);
}

static void on_rank_workers(void *data, const struct sb_run_workers *w)
{
    struct sb_app *a = data;

    a->workers = *w; // see sb__app_facts()
}

void sb__app_follow(
    struct sb_app *a, struct sb_workload *w, struct sb_run_result *res)
{
    // Rank 0 may need the operations of intervals.
    const struct sb_listener l = {
        .data = a,
        .operations = true,
        .workers = on_rank_workers,
        .final = on_rank_final,
    };

    sb_run(w, &a->run, &a->random, &l, res);
}
