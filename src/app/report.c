// SPDX-License-Identifier: GPL-2.0-or-later
//
// The listener of a run: prints the classic text, calls the report hooks of the
// script, and passes reports to the reporters of --report.
#include <assert.h>
#include <luajit.h>
#include <stdlib.h>

#include "app/private.h"
#include "base/log.h"
#include "out/context.h"
#include "out/division.h"
#include "out/json_parts.h"

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
        .limits = &a->asserts,
        .swept = a->swept,
        .nswept = a->nswept,
        .round = a->round,
        .place = a->place,
        .places = a->places,
        .following = a->following,
    };
    // Of a run that does not start.
    clock_gettime(CLOCK_REALTIME, &f->started);
    sb_host_facts(&f->host);
}

static void on_connecting(void *data)
{
    const struct sb__listening *t = data;

    sb__app_print_mode(t->a, t->w);
}

static void on_workers(void *data, const struct sb_run_workers *w)
{
    const struct sb__listening *t = data;

    t->a->workers = *w;
    t->a->facts.workers = w->n;
    t->a->facts.event_loop = w->event_loop;
    t->a->facts.worker_policy = w->policy;
}

static void on_started(void *data)
{
    struct sb__listening *t = data;

    if (!sb__app_quiet(t->a))
        printf("Threads started!\n\n");
    fflush(stdout);
    // Files name the servers also if the run ends before its measured part.
    sb_app_server_start(t->a);
    // A search before the measured part takes an unknown time.
    if (!sb_run_opts_finds_rate(&t->a->run))
        sb__app_measured(t->a, t->a->run.warmup_time);
}

static void on_warmup(void *data, int64_t ns)
{
    const struct sb__listening *t = data;

    if (!sb__app_quiet(t->a))
        printf("Warming up for %g seconds...\n\n", (double)ns / 1e9);
    fflush(stdout);
}

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
    sb__app_show_progress(t->a, line);
}

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
    struct sb_series *row = sb_reporters_row(&t->a->reporters, r);
    sb_app_server_interval(t->a, row);
    sb_app_client_interval(t->a, r, row);
    sb_reporters_interval(&t->a->reporters, r);
    sb__app_limits_interval(t->a, r);
    sb__app_beside_interval(t->a, r);
    print_interval(t, r);
    show_progress(t, r);
}

static bool on_stop(void *data)
{
    const struct sb__listening *t = data;

    return t->a->asserts.by != NULL || sb__app_beside_stop(t->a) ||
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

// Keeps the lines of a built-in test for result files.
static void keep_block(struct sb_app *a, const struct sb_report *r)
{
    size_t len;
    FILE *out;

    if (!a->text.own.final || a->reporters.n == 0)
        return;
    free(a->block);
    a->block = NULL;
    out = open_memstream(&a->block, &len);
    if (!out)
        return;
    a->text.own.final(a->text.own.data, r, out);
    fclose(out);
    a->facts.block = a->block;
}

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

static const char *failure_of(
    const struct sb_app *a, const struct sb_run_result *res)
{
    if (res->err.code)
        return res->err.msg;
    return *a->no_rate ? a->no_rate : NULL;
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

static struct sb_outcome outcome(const struct sb__listening *t,
    const struct sb_run_result *res, int status, bool unwritten)
{
    const struct sb_app *a = t->a;

    return (struct sb_outcome){
        .reason = reason(res->end),
        .status = status,
        .unwritten = unwritten,
        .failure = failure_of(a, res),
        .limit = a->asserts.by ? a->asserts.why : NULL,
        .overrun = res->end == SB_END_LIMIT ? overrun(&t->times) : 0,
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

// done(), hooks and whatever else the script has left to do may end the
// process: the files are complete before it.
static void draft_files(struct sb__listening *t, const struct sb_report *r)
{
    struct sb_app *a = t->a;
    const struct sb_run_result *res = t->res;

    sb_app_server_stop(a);
    keep_block(a, r);
    sb__app_limits_judge(a, r);
    sb_reporters_final(&a->reporters, r);
    int status = sb__app_status_of(res);

    if (status == SB_EXIT_OK && sb__app_limits_missed(a))
        status = SB_EXIT_LIMITS;
    const struct sb_outcome o = outcome(
        t, res, status ? status : t->status, false);

    sb_reporters_draft(&a->reporters, &o);
}

// For example, because of a low rate. Scripts that end the run in their first
// event want that.
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

static void on_final(void *data, const struct sb_report *r)
{
    struct sb__listening *t = data;
    struct sb_err err = { 0 };

    assert(r->final && r->whole);
    assert(!t->printed);
    sb_log_progress_done();
    note_loop(t->a, r);
    prepare_text(t->a, r);
    t->times = (struct sb_text_times){ .seconds = r->total_s,
        .planned = (double)t->a->run.time / 1e9,
        .warmup = r->warmup };
    draft_files(t, r);
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
    sb_app_client_final(t->a, r);
    // Erlang's formula is that of a constant load.
    if (r->nstages == 0)
        sb_division_warn(r->ranks, r->nranks);
    sb__app_limits_text(t->a);
}

void sb__app_listen(struct sb_app *a, struct sb_workload *w,
    struct sb__listening *t, struct sb_listener *l)
{
    *t = (struct sb__listening){
        .a = a, .w = w, .progress = sb__app_has_progress(a)
    };
    *l = (struct sb_listener){
        .data = t,
        .connecting = on_connecting,
        .workers = on_workers,
        .started = on_started,
        .warmup = on_warmup,
        .interval = on_interval,
        .checkpoint = on_checkpoint,
        .final = on_final,
        // Scripts may measure a server: the client is watched (app/client.c).
        .interval_ns = a->script || a->mix || a->beside || a->reporters.n ||
                               sb_asserts_abort(&a->asserts) || t->progress
                           ? FILE_INTERVAL
                           : 0,
        .stop = on_stop,
        .partial = a->reporters.n > 0 || a->beside,
        .operations = a->reporters.n > 0 ||
                      (a->mix && a->run.report_interval > 0) ||
                      sb_asserts_need_operations(&a->asserts),
    };
    sb__app_rate_listen(a, l);
}

void sb__app_context(const struct sb__listening *t)
{
    json_t *run;

    if (!t->printed || !t->a->text_opts.report_context || sb__app_quiet(t->a))
        return;
    run = sb_json_facts(&t->a->facts);
    // As in the file of a job, whose facts of a process are those of rank 0.
    if (run && t->a->run.job)
        json_object_set_new(run, "ranks", json_array());
    if (run)
        sb_context_print(run, stdout);
    else
        sb_log(SB_LOG_WARNING, "--report-context: out of memory");
    json_decref(run);
    fflush(stdout);
}

int sb__app_finish_reports(
    struct sb__listening *t, const struct sb_run_result *res, int status)
{
    struct sb_app *a = t->a;

    status = sb__app_limits_status(a, status);
    // Documents have the status with which the program will end.
    bool unwritten = status == SB_EXIT_OK && (fflush(stdout) || ferror(stdout));

    if (unwritten)
        status = SB_EXIT_FAILED;
    const struct sb_outcome o = outcome(t, res, status, unwritten);

    if (t->printed)
        sb_text_end(&a->text, &o, &t->times);
    sb_reporters_finish(&a->reporters, &o);
    status = sb_reporters_status(&a->reporters, status);
    sb_reporters_done(&a->reporters);
    return status;
}
