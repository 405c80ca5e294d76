// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench compare A B: are two results, or two sets of repeats, different?
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "kit/units.h"
#include "measure/compare.h"
#include "results/compare_private.h"

// Whether both sides of a comparison did the same work: an event whose
// statements fail or find nothing is fast, but says nothing about speed.

// Two rates differ if chance is an unlikely reason (CHANCE), they are at least
// POINTS_MIN percentage points apart, and the greater one is at least TIMES_MIN
// times the smaller one. They also differ, however few events there are, if
// they are POINTS_MOST apart and most events are affected on one side only.
#define CHANCE       0.001
#define POINTS_MIN   0.1
#define TIMES_MIN    1.2
#define POINTS_MOST  50.0
#define PERCENT_MOST 50.0

// The variance of a rate is estimated from the runs of a side if there are at
// least RUNS_MIN. Otherwise each run is divided into STRETCHES, which are
// longer than the disturbances that neighboring intervals share.
#define RUNS_MIN  3u
#define STRETCHES 10u

// What happened ---------------------------------------------------------------

static double errors(const struct sb_counters *c)
{
    // Restarted errors are counted as restarts.
    return (double)c->err_ignored + (double)c->err_givenup +
           (double)c->err_fatal;
}

static struct sb_occurrences lookups(const struct sb_result_run *r)
{
    struct sb_occurrences s = { 0, 0 };

    for (unsigned i = 0; i < r->snap.nops; i++) {
        const struct sb_snap_op *op = &r->snap.op[i];

        s.n += (double)op->misses;
        s.of += (double)op->hits + (double)op->misses;
    }
    return s;
}

static struct sb_occurrences in_run(
    const struct sb_result_run *r, unsigned work)
{
    const struct sb_counters *c = &r->snap.c;
    double failed = (double)sb_counters_failed(c);
    double n = 0;

    switch (work) {
    case SB__WORK_MISSES:
        return lookups(r);
    case SB__WORK_ERRORS:
        n = errors(c);
        break;
    case SB__WORK_FAILED:
        n = failed;
        break;
    case SB__WORK_RESTARTS:
        n = (double)c->restarts;
        break;
    default:
        break;
    }
    return (struct sb_occurrences){ n, (double)c->completed + failed };
}

// Returns the number of failed events in the last stretch that failed only
// because the run ended. Intervals include them, the totals of in_run() do not.
// Neither includes such events after the last interval.
static double cut_short(const struct sb_result_run *r, double in_intervals)
{
    uint64_t failed = sb_counters_failed(&r->snap.c);
    double more = in_intervals - (double)failed;

    return more > 0 ? fmin(more, (double)(r->snap.c.failed - failed)) : 0;
}

static void without_cut_short(
    const struct sb_result_run *r, unsigned work, struct sb_occurrences *part)
{
    struct sb_occurrences *last = &part[STRETCHES - 1];
    unsigned failed = sb_result_column(r, "run", "", "failed");
    unsigned time = sb_result_column(r, "run", "", "time");
    double sum = 0;

    for (size_t i = 0; i < r->intervals.nrows; i++)
        if (sb_result_value(r, i, time) > 0)
            sum += sb_result_value(r, i, failed);
    double cut = cut_short(r, sum);

    last->of -= cut;
    if (work == SB__WORK_FAILED)
        last->n -= cut;
}

// Adds the stretches of a run. Returns their number.
static size_t add_stretches(
    const struct sb_result_run *r, unsigned work, struct sb_occurrences *part)
{
    static const char *const column[] = { [SB__WORK_ERRORS] = "errors",
        [SB__WORK_FAILED] = "failed",
        [SB__WORK_RESTARTS] = "restarts" };
    unsigned time = sb_result_column(r, "run", "", "time");
    unsigned events = sb_result_column(r, "run", "", "events");
    unsigned failed = sb_result_column(r, "run", "", "failed");
    unsigned restarts = sb_result_column(r, "run", "", "restarts");

    // Intervals do not have lookups.
    if (work == SB__WORK_MISSES)
        return 0;
    assert(work < sizeof(column) / sizeof(column[0]) && column[work]);
    unsigned n = sb_result_column(r, "run", "", column[work]);

    for (size_t i = 0; i < r->intervals.nrows; i++) {
        struct sb_occurrences *p = &part[i * STRETCHES / r->intervals.nrows];

        if (!(sb_result_value(r, i, time) > 0)) // warm-up
            continue;
        p->n += sb_result_value(r, i, n);
        p->of += sb_result_value(r, i, events) + sb_result_value(r, i, failed);
        // The errors of an interval include restarted ones, one per restart.
        if (work == SB__WORK_ERRORS)
            p->n -= sb_result_value(r, i, restarts);
    }
    without_cut_short(r, work, part);
    // The restart may be counted one interval after its error.
    for (size_t i = 0; i < STRETCHES; i++)
        if (part[i].n < 0)
            part[i].n = 0;
    return STRETCHES;
}

// The rates -------------------------------------------------------------------

// part: cleared, nruns * STRETCHES entries.
static struct sb_share_side side_share(const struct sb_side *s, unsigned work,
    bool by_run, struct sb_occurrences *part)
{
    struct sb_share_side share = { .part = part };

    for (unsigned i = 0; i < s->nruns; i++) {
        struct sb_occurrences run = in_run(s->run[i], work);

        share.total.n += run.n;
        share.total.of += run.of;
        if (by_run)
            part[share.nparts++] = run;
        else
            share.nparts += add_stretches(s->run[i], work, part + share.nparts);
    }
    assert(share.nparts <= (size_t)s->nruns * STRETCHES);
    return share;
}

// An event may have several errors and restarts, but fails once.
static bool is_rate(unsigned work)
{
    return work == SB__WORK_ERRORS || work == SB__WORK_RESTARTS;
}

static double p_of(
    unsigned work, const struct sb_share_side *a, const struct sb_share_side *b)
{
    return is_rate(work) ? sb_rate_p(a, b) : sb_share_p(a, b);
}

static double percent(const struct sb_occurrences *s)
{
    return s->of > 0 ? 100 * s->n / s->of : NAN;
}

static bool rates_differ(unsigned work, const struct sb__work *w, double p)
{
    double high = fmax(w->a, w->b), low = fmin(w->a, w->b);
    // Shares that are so far apart are below 50 % on one side.
    bool few = !is_rate(work) || low < PERCENT_MOST;

    // Only one side looked for something.
    if (isnan(w->a) || isnan(w->b))
        return high >= POINTS_MIN;
    if (high - low < POINTS_MIN || high < TIMES_MIN * low)
        return false;
    return p < CHANCE || (few && high - low >= POINTS_MOST);
}

static int compare_rate(struct sb__comparison *c, unsigned work)
{
    struct sb__work *w = &c->work[work];
    bool by_run = c->a.nruns >= RUNS_MIN && c->b.nruns >= RUNS_MIN;
    struct sb_occurrences *a = calloc(
        (size_t)c->a.nruns * STRETCHES, sizeof(*a));
    struct sb_occurrences *b = calloc(
        (size_t)c->b.nruns * STRETCHES, sizeof(*b));

    if (a && b) {
        struct sb_share_side side[] = { side_share(&c->a, work, by_run, a),
            side_share(&c->b, work, by_run, b) };

        w->a = percent(&side[0].total);
        w->b = percent(&side[1].total);
        w->differs = rates_differ(work, w, p_of(work, &side[0], &side[1]));
        // A restarted event has done its work in the end.
        c->other_work |= w->differs && work != SB__WORK_RESTARTS;
    }
    int rc = a && b ? 0 : SB_ENOMEM;

    free(a);
    free(b);
    return rc;
}

// Fills work and other_work. 0 or SB_ENOMEM.
static int compare_work(struct sb__comparison *c)
{
    static const struct sb__work kinds[SB__WORKS] = {
        [SB__WORK_ERRORS] = { .name = "errors", .of = "events" },
        [SB__WORK_FAILED] = { .name = "failed events", .of = "events" },
        [SB__WORK_RESTARTS] = { .name = "restarts", .of = "events" },
        [SB__WORK_MISSES] = { .name = "found nothing", .of = "lookups" },
    };
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < SB__WORKS; i++) {
        c->work[i] = kinds[i];
        rc = compare_rate(c, i);
    }
    return rc;
}

// Facts in which the two sides of a comparison differ: options, settings of the
// server, and so on. Such a fact may be the reason of a difference, or a
// mistake.

// Facts of a side: kind -> name -> list of the different values. The first
// failed allocation sets `failed`.
struct facts {
    json_t *kinds;
    bool failed;
};

static bool contains(const json_t *list, const json_t *value)
{
    json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        if (json_equal(one, value))
            return true;
    }
    return false;
}

// Returns a member of an object, which is created if it is missing.
static json_t *member(json_t *object, const char *name, json_t *(*create)(void))
{
    json_t *found = json_object_get(object, name);

    if (found)
        return found;
    if (json_object_set_new(object, name, create()))
        return NULL;
    return json_object_get(object, name);
}

// The value as text, NULL for objects and lists.
static json_t *as_text(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return json_copy((json_t *)(uintptr_t)value);
    case JSON_INTEGER:
        return json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    case JSON_REAL:
        return json_sprintf("%.6g", json_real_value(value));
    case JSON_TRUE:
        return json_string("yes");
    case JSON_FALSE:
        return json_string("no");
    default:
        return NULL;
    }
}

static void add_fact(
    struct facts *f, const char *kind, const char *name, const json_t *value)
{
    json_t *text, *names, *values;

    if (!value || json_is_null(value) || json_is_object(value) ||
        json_is_array(value))
        return;
    text = as_text(value);
    names = text ? member(f->kinds, kind, json_object) : NULL;
    values = names ? member(names, name, json_array) : NULL;
    if (!values || (!contains(values, text) && json_array_append(values, text)))
        f->failed = true;
    json_decref(text);
}

// Properties of the driver, which is listed itself.
static bool follows_from_driver(const char *name)
{
    return strcmp(name, "documents") == 0 || strcmp(name, "totals_late") == 0;
}

// Members whose text is not empty: a run that ends at once does not always
// learn the version of its server.
static void add_known(struct facts *f, const char *kind, json_t *object)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        if (follows_from_driver(name))
            continue;
        if (!json_is_string(value) || json_string_length(value) > 0)
            add_fact(f, kind, name, value);
    }
}

// All members of an object that are no objects.
static void add_members(struct facts *f, const char *kind, json_t *object)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value) add_fact(f, kind, name, value);
}

static void add_options(struct facts *f, json_t *list)
{
    json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *name = json_string_value(json_object_get(one, "name"));

        // Where the results are written says nothing about the run.
        if (name && strcmp(name, "report") != 0 && strcmp(name, "label") != 0)
            add_fact(f, "option", name, json_object_get(one, "value"));
    }
}

// If a side has no workers, this is the only fact. Files of older programs do
// not contain the number of workers.
static void add_workers(struct facts *f, const json_t *run)
{
    const json_t *n = json_object_get(run, "workers");
    json_t *none = json_string("none (a thread for each user)");

    if (!none)
        f->failed = true;
    add_fact(f, "users", "workers", n && json_is_null(n) ? none : n);
    json_decref(none);
    add_fact(f, "users", "event loop", json_object_get(run, "event_loop"));
    add_fact(
        f, "users", "worker policy", json_object_get(run, "worker_policy"));
}

static void add_run(struct facts *f, json_t *run)
{
    json_t *host = json_object_get(run, "host"), *database;
    json_t *container = json_object_get(host, "container");
    size_t i;

    add_fact(f, "workload", "test", json_object_get(run, "test"));
    add_options(f, json_object_get(run, "options"));
    json_array_foreach(json_object_get(run, "databases"), i, database)
    {
        add_known(f, "server", database);
        add_members(f, "setting", json_object_get(database, "settings"));
    }
    add_workers(f, run);
    add_members(f, "client", host);
    add_fact(f, "client", "container cpus", json_object_get(container, "cpus"));
    add_fact(f, "client", "container memory_bytes",
        json_object_get(container, "memory_bytes"));
    add_members(f, "label", json_object_get(run, "labels"));
}

static json_t *facts_of(const struct sb_side *s)
{
    struct facts f = { .kinds = json_object() };

    f.failed = !f.kinds;
    for (unsigned i = 0; i < s->nfiles; i++)
        add_members(&f, "program", json_object_get(s->file[i].json, "program"));
    for (unsigned i = 0; i < s->nruns; i++)
        add_run(&f, s->run[i]->json);
    if (f.failed) {
        json_decref(f.kinds);
        return NULL;
    }
    return f.kinds;
}

static bool same_values(const json_t *a, const json_t *b)
{
    json_t *one;
    size_t i;

    if (json_array_size(a) != json_array_size(b))
        return false;
    json_array_foreach(a, i, one)
    {
        if (!contains(b, one))
            return false;
    }
    return true;
}

// Appends a difference. NULL stands for no values.
static int append(
    json_t *list, const char *kind, const char *name, json_t *a, json_t *b)
{
    return json_array_append_new(
        list, json_pack("{s:s,s:s,s:o,s:o}", "kind", kind, "name", name, "a",
                  a ? json_incref(a) : json_array(), "b",
                  b ? json_incref(b) : json_array()));
}

// Facts of a kind in A and B, then those only in B. Versions of the program and
// workloads do not have the same options: an option that a side does not have
// is no difference. Neither are facts of the server and of the workers that a
// side does not know.
static int differ(json_t *list, const char *kind, json_t *a, json_t *b)
{
    bool both = strcmp(kind, "option") == 0 || strcmp(kind, "server") == 0 ||
                strcmp(kind, "users") == 0 ||
                (strcmp(kind, "setting") == 0 && (!a || !b));
    const char *name;
    json_t *values;
    int rc = 0;

    json_object_foreach(a, name, values)
    {
        json_t *other = json_object_get(b, name);

        if (rc == 0 && !same_values(values, other) && (other || !both))
            rc = append(list, kind, name, values, other);
    }
    json_object_foreach(b, name, values)
    {
        if (rc == 0 && !both && !json_object_get(a, name))
            rc = append(list, kind, name, NULL, values);
    }
    return rc;
}

// Returns the facts in which the runs of the sides differ: a new list of
// {"kind", "name", "a", "b"}, where a and b are lists of the different values
// of a side, as text. NULL: no memory.
static json_t *compare_differences(
    const struct sb_side *a, const struct sb_side *b)
{
    static const char *const kinds[] = { "program", "workload", "option",
        "users", "server", "setting", "client", "label" };
    json_t *fa = facts_of(a), *fb = facts_of(b), *list = json_array();
    int rc = fa && fb && list ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < sizeof(kinds) / sizeof(*kinds); i++)
        rc = differ(list, kinds[i], json_object_get(fa, kinds[i]),
            json_object_get(fb, kinds[i]));
    json_decref(fa);
    json_decref(fb);
    if (rc) {
        json_decref(list);
        return NULL;
    }
    return list;
}

// Operations with fewer executions (such as preparing) are not compared.
#define EXECUTIONS_MIN 100u

#define AT(field) offsetof(struct sb__compare_opts, field)

static const struct sb_opt options[] = {
    { .name = "margin",
        .type = SB_OPT_DOUBLE,
        .offset = AT(margin),
        .def = "0",
        .min = 0,
        .max = 99,
        .help = "percentage: smaller differences do not count" },
    { .name = "confidence",
        .type = SB_OPT_DOUBLE,
        .offset = AT(confidence),
        .def = "95",
        .min = 50,
        .max = 99.99,
        .help = "confidence of intervals and verdicts, percent" },
    { .name = "paired",
        .type = SB_OPT_BOOL,
        .offset = AT(paired),
        .def = "off",
        .help = "run n of A and run n of B were measured one after the other" },
    { .name = "run-deviation",
        .type = SB_OPT_DOUBLE,
        .offset = AT(deviation),
        .def = "1",
        .min = 0,
        .max = 100,
        .help = "percentage: standard deviation between repeated runs, assumed "
                "if each side is a single run" },
    { .name = "at",
        .type = SB_OPT_LIST,
        .offset = AT(at),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "of sweeps, compare the runs with these values: threads=16" },
    { .name = "html",
        .type = SB_OPT_STRING,
        .offset = AT(html),
        .def = "",
        .flags = SB_OPT_FILENAME | SB_OPT_YIELDS,
        .help = "also write the comparison to this file as a page with "
                "charts" },
    { .name = "json",
        .type = SB_OPT_STRING,
        .offset = AT(json),
        .def = "",
        .flags = SB_OPT_FILENAME,
        .help = "also write the comparison to this file as JSON" },
    { .name = NULL },
};

static const struct sb_opt_table option_table = {
    .title = "Options of compare",
    .opts = options,
};

// Figures ---------------------------------------------------------------------

static void add_figure(struct sb__comparison *c, const char *group,
    const char *name, const char *figure)
{
    bool rate = strcmp(figure, "throughput") == 0;

    if (c->n < SB__FIGURES_MAX)
        c->figure[c->n++] = (struct sb_figure){ group, name, figure,
            rate ? "/s" : "ms", !rate };
}

static bool has_operation(const struct sb_side *s, const char *name)
{
    for (unsigned i = 0; i < s->run[0]->snap.nops; i++)
        if (strcmp(s->run[0]->stats->op[i].name, name) == 0)
            return s->run[0]->snap.op[i].count >= EXECUTIONS_MIN;
    return false;
}

// The figure that decides comes first: docs/internals/compare.md.
static void choose_figures(struct sb__comparison *c)
{
    const struct sb_result_run *r = c->a.run[0];
    static const char *const closed[] = { "throughput", "p50", "p95", "p99" };
    static const char *const open[] = { "p95", "p50", "p99", "throughput" };

    for (int i = 0; i < 4; i++)
        add_figure(c, "run", "", c->open_loop ? open[i] : closed[i]);
    for (unsigned i = 0; i < r->snap.nops; i++) {
        const char *name = r->stats->op[i].name;

        if (!has_operation(&c->a, name) || !has_operation(&c->b, name))
            continue;
        add_figure(c, "operation", name, "avg");
        add_figure(c, "operation", name, "p95");
    }
}

static int compare_figure(struct sb__comparison *c, unsigned n)
{
    const struct sb_compare_opts o = { .confidence = c->o.confidence / 100,
        .margin = c->o.margin / 100,
        .run_deviation = c->o.deviation / 100,
        .paired = c->o.paired };
    struct sb_mean *a = calloc(c->a.nruns, sizeof(*a));
    struct sb_mean *b = calloc(c->b.nruns, sizeof(*b));
    int rc = a && b ? 0 : SB_ENOMEM;

    if (rc == 0)
        rc = sb_side_means(&c->a, &c->figure[n], a);
    if (rc == 0)
        rc = sb_side_means(&c->b, &c->figure[n], b);
    if (rc == 0)
        sb_compare(a, c->a.nruns, b, c->b.nruns, &o, &c->result[n]);
    free(a);
    free(b);
    return rc;
}

static int compare_all(struct sb__comparison *c)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < c->n; i++)
        rc = compare_figure(c, i);
    // The first figure was chosen beforehand; the others are a search.
    if (rc == 0 && c->n > 1)
        rc = sb_compare_holm(c->result + 1, c->n - 1, c->o.confidence / 100);
    return rc;
}

// The command -----------------------------------------------------------------

static int status_of(const struct sb__comparison *c)
{
    const struct sb_compare *r = &c->result[0];
    bool lower = r->verdict == SB_VERDICT_LOWER;

    assert(c->n > 0);
    if (c->other_work)
        return SB_CMD_UNDECIDED;
    switch (r->verdict) {
    case SB_VERDICT_NONE:
        return SB_CMD_UNDECIDED;
    case SB_VERDICT_SAME:
        return SB_CMD_OK;
    case SB_VERDICT_HIGHER:
    case SB_VERDICT_LOWER:
        break;
    }
    return lower != c->figure[0].less_is_better ? SB_CMD_SLOWER : SB_CMD_OK;
}

static int read_side(
    struct sb__comparison *c, struct sb_side *s, const char *text)
{
    int rc = sb_side_read(s, text);

    if (rc == 0)
        rc = sb_side_select(s, &c->o.at);
    return rc ? rc : sb_side_leave_out(s);
}

static int check_pairs(const struct sb__comparison *c)
{
    if (!c->o.paired)
        return 0;
    // Which runs are pairs depends on their order.
    if (c->a.left_out + c->b.left_out > 0) {
        const struct sb_side *s = c->a.left_out ? &c->a : &c->b;

        sb_log(SB_LOG_FATAL, "--paired: a run of %s %s; leave out the pair",
            s->text, s->note[0].what);
        return SB_EUSAGE;
    }
    if (c->a.nruns == c->b.nruns)
        return 0;
    sb_log(SB_LOG_FATAL,
        "--paired: A has %u runs and B has %u; they must be equal", c->a.nruns,
        c->b.nruns);
    return SB_EUSAGE;
}

static int read_sides(struct sb__comparison *c)
{
    for (int i = 0; i < 2; i++)
        if (sb_side_is_output(c->args->file[i], c->o.json) ||
            sb_side_is_output(c->args->file[i], c->o.html))
            return SB_EUSAGE;
    if (read_side(c, &c->a, c->args->file[0]) ||
        read_side(c, &c->b, c->args->file[1]))
        return SB_EUSAGE;
    // The same run again says nothing about how much runs differ.
    if (sb_runs_check_different(c->a.run, c->a.nruns, c->a.text) ||
        sb_runs_check_different(c->b.run, c->b.nruns, c->b.text))
        return SB_EUSAGE;
    c->open_loop = c->a.run[0]->report.open_loop;
    if (c->open_loop != c->b.run[0]->report.open_loop) {
        sb_log(SB_LOG_FATAL, "one side was measured with --rate, the other "
                             "without: they cannot be compared");
        return SB_EUSAGE;
    }
    return check_pairs(c);
}

static int perform_comparison(struct sb__comparison *c)
{
    if (read_sides(c))
        return SB_CMD_FAILED;
    choose_figures(c);
    if (compare_all(c) || compare_work(c)) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    c->differences = compare_differences(&c->a, &c->b);
    if (!c->differences) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    sb__compare_print(c);
    if (*c->o.json && sb__compare_write_json(c))
        return SB_CMD_FAILED;
    if (*c->o.html && sb__compare_write_html(c))
        return SB_CMD_FAILED;
    return status_of(c);
}

static int compare(const struct sb_cmd_args *args)
{
    struct sb__comparison *c = calloc(1, sizeof(*c));
    int status;

    if (!c) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    c->args = args;
    c->o = *(const struct sb__compare_opts *)args->o;
    status = perform_comparison(c);
    json_decref(c->differences);
    sb_side_done(&c->a);
    sb_side_done(&c->b);
    free(c);
    return status;
}

const struct sb_cmd sb_cmd_compare = {
    .name = "compare",
    .usage = "compare [OPTIONS] A.json[,A2.json...] B.json[,B2.json...]",
    .title =
        "Compares two results, or two sets of repeats. Exit status: 0: B "
        "is not slower, 3: B is slower, 4: no verdict (too little data, or "
        "different work), 1: failure.",
    .min_files = 2,
    .max_files = 2,
    .opts = &option_table,
    .opts_size = sizeof(struct sb__compare_opts),
    .run = compare,
};
