// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <math.h>
#include <string.h>

#include "kit/clock.h"
#include "kit/timedist.h"
#include "kit/units.h"
#include "run/run_opts.h"

#define WORKERS_MAX        10000
#define WORKERS_AUTO       (WORKERS_MAX + 1)
#define WORKERS_PROCESSORS (WORKERS_MAX + 2)

static const char *const arrivals[] = { "poisson", "constant", NULL };
static const char *const event_loops[] = { "auto", "io_uring", "epoll", NULL };
static const char *const policies[] = { "auto", "batch", "normal", NULL };
static const char *const pace[] = { "auto", "sleep", "spin", NULL };

#define AT(field) offsetof(struct sb_run_opts, field)

static const struct sb_opt options[] = {
    { .name = "threads",
        .type = SB_OPT_INT,
        .offset = AT(threads),
        .def = "1",
        .min = 1,
        .max = 1000000,
        .flags = SB_OPT_COMMON,
        .help = "number of users (threads, unless users share workers)" },
    { .name = "events",
        .type = SB_OPT_INT,
        .offset = AT(events),
        .def = "0",
        .min = 0,
        .max = 9e15,
        .flags = SB_OPT_COMMON,
        .help = "limit for total number of events" },
    { .name = "time",
        .type = SB_OPT_DURATION,
        .offset = AT(time),
        .def = "10",
        .min = 0,
        .max = 1e7,
        .flags = SB_OPT_COMMON,
        .help = "limit for total execution time in seconds" },
    { .name = "warmup-time",
        .type = SB_OPT_DURATION,
        .offset = AT(warmup_time),
        .def = "0",
        .min = 0,
        .max = 1e7,
        .flags = SB_OPT_COMMON | SB_OPT_YIELDS,
        .help = "run events for this many seconds before measuring; not part "
                "of --time" },
    { .name = "forced-shutdown",
        .type = SB_OPT_STRING,
        .offset = AT(forced_shutdown),
        .def = "off",
        .help = "number of seconds, or percentage of --time, to wait after "
                "the --time limit before forcing shutdown, or 'off' to "
                "disable" },
    { .name = "thread-stack-size",
        .type = SB_OPT_SIZE,
        .offset = AT(thread_stack_size),
        .def = "256K",
        .min = 1024,
        .max = 1024.0 * 1024 * 1024,
        .help = "size of stack per thread, or per user if users share workers; "
                "at least 256K is used" },
    { .name = "thread-init-timeout",
        .type = SB_OPT_DURATION,
        .offset = AT(thread_init_timeout),
        .def = "30",
        .min = 0.001,
        .max = 1e6,
        .flags = SB_OPT_YIELDS,
        .help = "wait time in seconds for worker threads to initialize" },
    { .name = "max-restarts",
        .type = SB_OPT_INT,
        .offset = AT(max_restarts),
        .def = "100",
        .min = 0,
        .max = 4e9,
        .flags = SB_OPT_YIELDS,
        .help =
            "maximum number of restarts of an event (after a deadlock, "
            "for example); after that, it counts as failed. 0 for no limit" },
    { .name = "restart-backoff",
        .type = SB_OPT_DURATION,
        .offset = AT(restart_backoff),
        .def = "1ms",
        .min = 0,
        .max = 60,
        .flags = SB_OPT_YIELDS,
        .help = "maximum wait before the first restart of an event; doubles "
                "with each further restart, up to 100ms" },
    { .name = "max-failed",
        .type = SB_OPT_DOUBLE,
        .offset = AT(max_failed),
        .def = "100",
        .min = 0,
        .max = 100,
        .flags = SB_OPT_YIELDS,
        .help = "maximum percentage of failed events; if more fail, the run "
                "fails. A run in which all events failed always fails" },
    { .name = "report-interval",
        .type = SB_OPT_DURATION,
        .offset = AT(report_interval),
        .def = "0",
        .min = 0,
        .max = 1e7,
        .flags = SB_OPT_COMMON,
        .help = "periodically report intermediate statistics with a "
                "specified interval in seconds, fractions allowed. 0 "
                "disables intermediate reports" },
    { .name = "report-checkpoints",
        .type = SB_OPT_LIST,
        .offset = AT(report_checkpoints),
        .def = "",
        .help = "dump full statistics and reset all counters at specified "
                "points in time: a list of comma-separated seconds since the "
                "start of the test" },
    { .name = "shutdown-grace",
        .type = SB_OPT_DURATION,
        .offset = AT(shutdown_grace),
        .def = "10",
        .min = 0.1,
        .max = 1e6,
        .flags = SB_OPT_YIELDS,
        .help = "seconds to wait for running calls at the end of a run (at "
                "least five times the longest event); they are canceled at "
                "half that time" },
    { .name = "debug",
        .type = SB_OPT_BOOL,
        .offset = AT(debug),
        .def = "off",
        .help = "print more debugging info" },
    { .name = "validate",
        .type = SB_OPT_BOOL,
        .offset = AT(validate),
        .def = "off",
        .help = "perform validation checks where possible" },
    { .name = "max-requests",
        .type = SB_OPT_INT,
        .alias_of = "events",
        .flags = SB_OPT_DEPRECATED,
        .help = "deprecated alias for --events" },
    { .name = "max-time",
        .type = SB_OPT_DURATION,
        .alias_of = "time",
        .flags = SB_OPT_DEPRECATED,
        .help = "deprecated alias for --time" },
    { .name = "num-threads",
        .type = SB_OPT_INT,
        .alias_of = "threads",
        .flags = SB_OPT_DEPRECATED,
        .help = "deprecated alias for --threads" },
    { 0 },
};

const struct sb_opt_table sb_run_opt_table = {
    .title = "General options",
    .section = "general",
    .opts = options,
};

static const struct sb_opt rate_options[] = {
    { .name = "rate",
        .type = SB_OPT_DOUBLE,
        .offset = AT(rate),
        .def = "0",
        .min = 0,
        .max = 1e7,
        .flags = SB_OPT_COMMON | SB_OPT_RATE,
        .help = "average transactions rate, fractions allowed; 0: no limit; "
                "80%: this share of the maximum rate, which is measured first; "
                "max: the highest rate at which --rate-limit is kept" },
    { .name = "rate-limit",
        .type = SB_OPT_STRING,
        .offset = AT(rate_limit),
        .def = "",
        .flags = SB_OPT_COMMON | SB_OPT_YIELDS,
        .help = "with --rate=max: limits as in --assert, such as "
                "'p99<10ms, failed==0'" },
    { .name = "rate-probe-time",
        .type = SB_OPT_DURATION,
        .offset = AT(rate_probe_time),
        .def = "10",
        .min = 0.01,
        .max = 1e6,
        .flags = SB_OPT_YIELDS,
        .help = "with --rate=80% or max: time in seconds in which the maximum "
                "is measured in a closed loop" },
    { .name = "rate-trial-time",
        .type = SB_OPT_DURATION,
        .offset = AT(rate_trial_time),
        .def = "3",
        .min = 0.01,
        .max = 1e6,
        .flags = SB_OPT_YIELDS,
        .help = "with --rate=max: length of a trial in seconds" },
    { .name = "rate-trials",
        .type = SB_OPT_INT,
        .offset = AT(rate_trials),
        .def = "30",
        .min = 1,
        .max = 10000,
        .flags = SB_OPT_YIELDS,
        .help = "with --rate=max: maximum number of trials" },
    { .name = "rate-tolerance",
        .type = SB_OPT_DOUBLE,
        .offset = AT(rate_tolerance),
        .def = "10",
        .min = 0.1,
        .max = 100,
        .flags = SB_OPT_YIELDS,
        .help = "with --rate=max: the search ends when the rate is known to "
                "within this many percent" },
    { .name = "stages",
        .type = SB_OPT_STRING,
        .offset = AT(stages_text),
        .def = "",
        .flags = SB_OPT_COMMON | SB_OPT_YIELDS | SB_OPT_TEXT,
        .help = "change threads, rate or mix during the run: 'threads=16 for "
                "10s; threads=16..64 for 30s; rate=100..2000 for 1m'" },
    { .name = "arrivals",
        .type = SB_OPT_ENUM,
        .offset = AT(arrivals),
        .def = "poisson",
        .choices = arrivals,
        .flags = SB_OPT_YIELDS,
        .help = "with --rate: distribution of the gaps between events" },
    { .name = "pace",
        .type = SB_OPT_ENUM,
        .offset = AT(pace),
        .def = "auto",
        .choices = pace,
        .flags = SB_OPT_YIELDS,
        .help = "with --rate: how to wait for the next event; 'auto' sleeps, "
                "then busy-waits for the time by which timers of this machine "
                "are late, 'sleep' only sleeps, 'spin' busy-waits longer. If "
                "users share workers, 'spin' is the same as 'auto', and all "
                "waits for a time, such as --think-time, use this setting" },
    { .name = "think-time",
        .type = SB_OPT_STRING,
        .offset = AT(think_time),
        .def = "",
        .flags = SB_OPT_COMMON | SB_OPT_YIELDS,
        .help =
            "pause of each user between events, not part of any latency: 5ms, "
            "uniform:1ms,3ms, exp:2ms, normal:2ms,0.5ms, pareto:1ms,1.5" },
    { .name = "tx-rate",
        .type = SB_OPT_DOUBLE,
        .alias_of = "rate",
        .flags = SB_OPT_DEPRECATED | SB_OPT_RATE,
        .help = "deprecated alias for --rate" },
    { 0 },
};

const struct sb_opt_table sb_rate_opt_table = {
    .title = "Rate options",
    .section = "rate",
    .opts = rate_options,
};

static const struct sb_opt worker_options[] = {
    { .name = "workers",
        .type = SB_OPT_STRING,
        .offset = AT(workers),
        .def = "auto",
        .flags = SB_OPT_YIELDS,
        .help = "number of operating system threads that run the users; "
                "'processors': one per processor; 'users': one per user; "
                "'auto': 'processors' if there are at least 8 users per "
                "processor (PostgreSQL, MongoDB) or 256 (MySQL, MariaDB), and "
                "at least 64 for your own scripts, which must not contain "
                "functions that block; otherwise 'users'" },
    { .name = "event-loop",
        .type = SB_OPT_ENUM,
        .offset = AT(event_loop),
        .def = "auto",
        .choices = event_loops,
        .flags = SB_OPT_YIELDS,
        .help = "if users share workers: how workers wait for servers; 'auto' "
                "is io_uring if the system allows it, otherwise epoll" },
    { .name = "worker-policy",
        .type = SB_OPT_ENUM,
        .offset = AT(worker_policy),
        .def = "auto",
        .choices = policies,
        .flags = SB_OPT_YIELDS,
        .help = "if users share workers: scheduling policy of workers; with "
                "'batch', an answer does not interrupt a server on this "
                "machine; 'auto' "
                "is 'normal' with a rate or think time, otherwise 'batch'" },
    { 0 },
};

const struct sb_opt_table sb_worker_opt_table = {
    .title = "Worker options",
    .section = "workers",
    .opts = worker_options,
};

#define STACK_MIN       (256 * 1024)
#define CHECKPOINTS_MAX 256

static int finish_forced_shutdown(struct sb_run_opts *o, struct sb_err *err)
{
    const char *text = o->forced_shutdown;
    double percent;

    o->forced_shutdown_ns = -1;
    if (strcmp(text, "off") == 0)
        return 0;
    if (!*text || strcmp(text, "on") == 0) {
        o->forced_shutdown_ns = o->time / 20;
        return 0;
    }
    if (sb_units_parse_percent(text, &percent) == 0) {
        if (percent >= 0 && percent <= 1e6) {
            o->forced_shutdown_ns = (int64_t)(o->time / 100.0 * percent);
            return 0;
        }
    } else if (sb_units_duration(text, SB_SECOND, &o->forced_shutdown_ns) ==
                   0 &&
               o->forced_shutdown_ns >= 0) {
        return 0;
    }
    return sb_err_set(err, SB_EUSAGE,
        "Invalid value for the 'forced-shutdown' option: '%s' (seconds, a "
        "percentage of --time, or 'off')",
        text);
}

static int finish_checkpoints(const struct sb_run_opts *o, struct sb_err *err)
{
    const struct sb_opt_list *list = &o->report_checkpoints;
    double last = 0, at;

    if (list->count > CHECKPOINTS_MAX)
        return sb_err_set(err, SB_ERANGE,
            "too many values in --report-checkpoints: %zu; the maximum is %d",
            list->count, CHECKPOINTS_MAX);
    for (size_t i = 0; i < list->count; i++, last = at)
        if (sb_units_double(list->item[i], &at) || at <= last)
            return sb_err_set(err, SB_EUSAGE,
                "Invalid value for the 'report-checkpoints' option: '%s' "
                "(seconds, each later than the one before)",
                list->item[i]);
    return 0;
}

static int finish_think_time(const struct sb_run_opts *o, struct sb_err *err)
{
    struct sb_timedist think;
    struct sb_err why;

    if (o->think_time[0] == '\0' ||
        sb_timedist_parse(o->think_time, &think, &why) == 0)
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "Invalid value for the 'think-time' option: '%s' (%.200s)",
        o->think_time, why.msg);
}

// A rate that is found before the measured part. `rate` stays as it is, because
// scripts read it.
static int finish_rate(struct sb_run_opts *o, struct sb_err *err)
{
    o->rate_percent = o->rate < 0 ? -o->rate : 0;
    o->rate_search = isinf(o->rate);
    if (o->rate_search && o->rate_limit[0] == '\0')
        return sb_err_set(err, SB_EUSAGE,
            "--rate=max requires --rate-limit, such as "
            "--rate-limit='p99<10ms'");
    if (!o->rate_search && o->rate_limit[0])
        return sb_err_set(
            err, SB_EUSAGE, "--rate-limit is only used with --rate=max");
    if (!o->rate_search && o->rate_percent <= 0)
        return 0;
    return 0;
}

bool sb_run_opts_finds_rate(const struct sb_run_opts *o)
{
    return o->rate_search || o->rate_percent > 0;
}

bool sb_run_opts_open_loop(const struct sb_run_opts *o)
{
    if (o->stages.n)
        return o->stages.open_loop;
    return o->rate > 0 || sb_run_opts_finds_rate(o);
}

// The run ends after the last stage, or after --time if that is earlier.
static int finish_stages(
    struct sb_run_opts *o, bool time_given, struct sb_err *err)
{
    int rc;

    o->stages.n = 0;
    if (o->stages_text[0] == '\0')
        return 0;
    // If the rate is still to be found, the rates of the stages are parts of
    // it.
    bool found = sb_run_opts_finds_rate(o);
    rc = sb_stages_parse(&o->stages, o->stages_text, (uint32_t)o->threads,
        found ? 1 : o->rate, &o->mix, err);
    if (rc)
        return rc;
    if (found && (o->stages.sets_users || o->stages.sets_rate))
        return sb_err_set(err, SB_EUSAGE,
            "--stages with --rate=%s: a stage can only set a rate in percent "
            "of the rate that is found, such as rate=80%%",
            o->rate_search ? "max" : "N%");
    if (found && o->mix.n)
        return sb_err_set(err, SB_EUSAGE,
            "--stages with --rate=%s cannot be combined with --mix",
            o->rate_search ? "max" : "N%");
    if (o->threads < o->stages.max_users)
        o->threads = o->stages.max_users;
    if (!time_given || o->time == 0 || o->time > (int64_t)o->stages.ns)
        o->time = (int64_t)o->stages.ns;
    return 0;
}

#define USERS_MAX 1000000

// Sets missing[] to the components without a user although they have a weight;
// returns their number.
static unsigned find_missing(
    const struct sb_mix *m, const double *weight, int64_t users, bool *missing)
{
    uint32_t least[SB_MIX_MAX];
    unsigned n = 0;

    assert(m->n <= SB_MIX_MAX);
    sb_mix_users(weight, m->n, least, (uint32_t)users);
    for (unsigned i = 0; i < m->n; i++) {
        missing[i] = weight[i] > 0 && least[i] == 0;
        n += missing[i];
    }
    return n;
}

static int too_few(const struct sb_run_opts *o, struct sb_err *err)
{
    uint32_t least[SB_MIX_MAX], users = 0;

    sb_mix_users(o->mix.weight, o->mix.n, least, USERS_MAX);
    for (unsigned i = 0; i < o->mix.n; i++) {
        uint32_t n = least[i] ? least[i] : USERS_MAX + 1;

        users = n > users ? n : users;
    }
    return sb_err_set(err, SB_EUSAGE,
        "--mix-by=users: %lld users are too few for one user per workload; "
        "with these weights, the minimum is --threads=%u",
        (long long)o->threads, users);
}

// A component without a weight in any stage is left out on purpose. One that
// has a weight needs a user in one of the stages.
static int check_stages(const struct sb_run_opts *o, struct sb_err *err)
{
    bool missing[SB_MIX_MAX], some[SB_MIX_MAX] = { false };
    bool has[SB_MIX_MAX] = { false };

    for (unsigned i = 0; i < o->stages.n; i++) {
        const struct sb_stage *st = &o->stages.stage[i];
        uint32_t users = st->users_from > st->users_to ? st->users_from
                                                       : st->users_to;

        find_missing(&o->mix, st->mix, users, missing);
        for (unsigned k = 0; k < o->mix.n; k++) {
            some[k] = some[k] || missing[k];
            has[k] = has[k] || (st->mix[k] > 0 && !missing[k]);
        }
    }
    for (unsigned k = 0; k < o->mix.n; k++)
        if (some[k] && !has[k])
            return sb_err_set(err, SB_EUSAGE,
                "--mix-by=users: the users of the stages are too few for the "
                "workload '%s' to have one in any of them",
                o->mix.part[k].name);
    return 0;
}

// Each component must have a user, or it would not be measured.
static int finish_mix(const struct sb_run_opts *o, struct sb_err *err)
{
    bool missing[SB_MIX_MAX];

    if (o->mix.n == 0 || o->mix.by != SB_MIX_USERS)
        return 0;
    if (o->stages.n)
        return check_stages(o, err);
    return find_missing(&o->mix, o->mix.weight, o->threads, missing)
               ? too_few(o, err)
               : 0;
}

// Returns the number of --workers: 0 for "users", WORKERS_AUTO for "auto",
// WORKERS_PROCESSORS for "processors", and SB_ERANGE for anything else that is
// not a number from 1.
static int64_t workers_of(const char *text)
{
    int64_t n;

    if (!text || strcmp(text, "users") == 0)
        return 0;
    if (strcmp(text, "auto") == 0)
        return WORKERS_AUTO;
    if (strcmp(text, "processors") == 0)
        return WORKERS_PROCESSORS;
    return sb_units_count(text, &n) || n < 1 || n > WORKERS_MAX ? SB_ERANGE : n;
}

static int finish_workers(const struct sb_run_opts *o, struct sb_err *err)
{
    if (workers_of(o->workers) >= 0)
        return 0;
    return sb_err_set(err, SB_ERANGE,
        "--workers: '%.100s' is not 'auto', 'users', 'processors' or a number "
        "from 1 to %d",
        o->workers, WORKERS_MAX);
}

unsigned sb_run_opts_workers(
    const struct sb_run_opts *o, unsigned users, unsigned processors)
{
    int64_t n = workers_of(o->workers);

    assert(n >= 0); // as finish_workers() says
    if (n == WORKERS_PROCESSORS || (n == WORKERS_AUTO && o->auto_loops))
        n = processors;
    else if (n == WORKERS_AUTO)
        n = 0;
    return n < users ? (unsigned)n : users;
}

// With SCHED_BATCH, a time that users wait for may come late on a busy machine.
bool sb_run_opts_batch(const struct sb_run_opts *o)
{
    if (o->worker_policy != SB_POLICY_AUTO)
        return o->worker_policy == SB_POLICY_BATCH;
    return !sb_run_opts_open_loop(o) && !sb_run_opts_finds_rate(o) &&
           o->think_time[0] == '\0';
}

int sb_run_opts_finish(struct sb_run_opts *o, bool time_given,
    bool requests_given, struct sb_err *err)
{
    int rc;

    // --max-requests of 0.5 limited the events instead of the time.
    if (requests_given && !time_given && o->events > 0)
        o->time = 0;
    if (o->thread_stack_size < STACK_MIN)
        o->thread_stack_size = STACK_MIN;
    rc = finish_rate(o, err);
    if (rc == 0)
        rc = finish_stages(o, time_given, err);
    if (rc == 0)
        rc = finish_mix(o, err);
    if (rc == 0)
        rc = finish_forced_shutdown(o, err);
    if (rc == 0)
        rc = finish_checkpoints(o, err);
    if (rc == 0)
        rc = finish_think_time(o, err);
    if (rc == 0)
        rc = finish_workers(o, err);
    return rc;
}
