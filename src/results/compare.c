// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench compare A B: are two results, or two sets of repeats, different? One
// struct has all results; the text, the JSON document and the page are made of
// it.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/paths.h"
#include "kit/units.h"
#include "measure/answers.h"
#include "measure/compare.h"
#include "out/costs.h"
#include "out/json_parts.h"
#include "out/json_value.h"
#include "out/page.h"
#include "out/target.h"
#include "results/ab.h"
#include "results/checks.h"
#include "results/cmd.h"
#include "results/differences.h"
#include "results/sides.h"
#include "results/waits.h"
#include "results/statements.h"

#define FIGURES_MAX 512u

struct compare_opts {
    double margin, confidence, deviation; // percent
    bool paired;
    struct sb_opt_list at, name, pass;
    const char *json, *html;
};

// How often something other than the usual work happened, percent of `of`.
struct work {
    const char *name, *of; // "errors", "events"
    double a, b;           // NAN: `of` is 0
    bool differs;          // by more than chance, and enough to matter
};

// What the first figure says of B.
enum verdict {
    NO_VERDICT, // too little data, or different work
    BETTER,
    WORSE,
    EQUIVALENT, // the interval lies within the margin
    INCONCLUSIVE,
    VERDICTS,
};

static const struct {
    const char *name;
    int status;
} verdicts[VERDICTS] = {
    [NO_VERDICT] = { "none", SB_CMD_NO_VERDICT },
    [BETTER] = { "better", SB_CMD_BETTER },
    [WORSE] = { "worse", SB_CMD_WORSE },
    [EQUIVALENT] = { "equivalent", SB_CMD_EQUIVALENT },
    [INCONCLUSIVE] = { "inconclusive", SB_CMD_INCONCLUSIVE },
};

// --pass: the interval is above the margin's lower end.
#define NOT_WORSE "not-worse"

enum {
    WORK_ERRORS, // ignored, given up and fatal
    WORK_FAILED,
    WORK_RESTARTS,
    WORK_MISSES, // executions that look for rows and found none
    WORKS,
};

struct comparison {
    const struct sb_cmd_args *args;
    struct compare_opts o;
    struct sb_side a, b;
    struct sb_checks checks_a, checks_b;  // of their runs
    struct sb_figure figure[FIGURES_MAX]; // the first decides
    struct sb_compare result[FIGURES_MAX];
    unsigned n;
    char result_name[SB_ANSWERS_MAX][2 * SB_ANSWER_NAME]; // of figures
    bool undirected[FIGURES_MAX]; // it is unknown which of two values is better
    bool open_loop;
    struct work work[WORKS];
    bool other_work;        // the sides did different work: there is no verdict
    json_t *differences;    // facts and statements; owned
    const struct sb_ab *ab; // of sysbench ab; otherwise NULL
};

#define AT(field) offsetof(struct compare_opts, field)

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
    { .name = "name",
        .type = SB_OPT_LIST,
        .offset = AT(name),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "names of A and B: old,new" },
    { .name = "pass",
        .type = SB_OPT_LIST,
        .offset = AT(pass),
        .def = "better,equivalent",
        .flags = SB_OPT_YIELDS,
        .help = "verdicts with exit status 0: better, equivalent, not-worse "
                "(by more than the margin), inconclusive, worse" },
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

// Work ------------------------------------------------------------------------
//
// Whether both sides did the same work: an event whose statements fail or find
// nothing is fast, but says nothing about speed.

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
    case WORK_MISSES:
        return lookups(r);
    case WORK_ERRORS:
        n = errors(c);
        break;
    case WORK_FAILED:
        n = failed;
        break;
    case WORK_RESTARTS:
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
    if (work == WORK_FAILED)
        last->n -= cut;
}

// Adds the stretches of a run. Returns their number.
static size_t add_stretches(
    const struct sb_result_run *r, unsigned work, struct sb_occurrences *part)
{
    static const char *const column[] = { [WORK_ERRORS] = "errors",
        [WORK_FAILED] = "failed",
        [WORK_RESTARTS] = "restarts" };
    unsigned time = sb_result_column(r, "run", "", "time");
    unsigned events = sb_result_column(r, "run", "", "events");
    unsigned failed = sb_result_column(r, "run", "", "failed");
    unsigned restarts = sb_result_column(r, "run", "", "restarts");

    // Intervals do not have lookups.
    if (work == WORK_MISSES)
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
        if (work == WORK_ERRORS)
            p->n -= sb_result_value(r, i, restarts);
    }
    without_cut_short(r, work, part);
    // The restart may be counted one interval after its error.
    for (size_t i = 0; i < STRETCHES; i++)
        if (part[i].n < 0)
            part[i].n = 0;
    return STRETCHES;
}

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
    return work == WORK_ERRORS || work == WORK_RESTARTS;
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

static bool rates_differ(unsigned work, const struct work *w, double p)
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

static int compare_rate(struct comparison *c, unsigned work)
{
    struct work *w = &c->work[work];
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
        c->other_work |= w->differs && work != WORK_RESTARTS;
    }
    int rc = a && b ? 0 : SB_ENOMEM;

    free(a);
    free(b);
    return rc;
}

// Fills work and other_work. 0 or SB_ENOMEM.
static int compare_work(struct comparison *c)
{
    static const struct work kinds[WORKS] = {
        [WORK_ERRORS] = { .name = "errors", .of = "events" },
        [WORK_FAILED] = { .name = "failed events", .of = "events" },
        [WORK_RESTARTS] = { .name = "restarts", .of = "events" },
        [WORK_MISSES] = { .name = "found nothing", .of = "lookups" },
    };
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < WORKS; i++) {
        c->work[i] = kinds[i];
        rc = compare_rate(c, i);
    }
    return rc;
}

// Figures ---------------------------------------------------------------------

// Infinite: unknown.
static double cost_of(const struct sb_result_run *r, const struct sb_figure *f)
{
    double cost = sb_costs_member(json_object_get(r->json, "costs"), f->figure);

    return isfinite(cost) ? cost : INFINITY;
}

// Operations with fewer executions (such as preparing) are not compared.
#define EXECUTIONS_MIN 100u

static void add_figure(struct comparison *c, const char *group,
    const char *name, const char *figure)
{
    bool rate = strcmp(figure, "throughput") == 0;

    if (c->n < FIGURES_MAX)
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

// Costs that all runs of both sides know, and that are 0 on one side at most.
static void add_costs(struct comparison *c)
{
    struct sb_figure f;

    for (unsigned n = 0; sb_cost_figure(n, &f); n++) {
        double highest = 0;

        for (unsigned i = 0; i < c->a.nruns; i++)
            highest = fmax(highest, cost_of(c->a.run[i], &f));
        for (unsigned i = 0; i < c->b.nruns; i++)
            highest = fmax(highest, cost_of(c->b.run[i], &f));
        if (highest > 0 && isfinite(highest) && c->n < FIGURES_MAX)
            c->figure[c->n++] = f;
    }
}

static bool all_know(const struct comparison *c, const char *name,
    double (*value)(const struct sb_result_run *r, const char *name))
{
    bool known = true;

    for (unsigned i = 0; i < c->a.nruns; i++)
        known = known && isfinite(value(c->a.run[i], name));
    for (unsigned i = 0; i < c->b.nruns; i++)
        known = known && isfinite(value(c->b.run[i], name));
    return known;
}

static void add_own(
    struct comparison *c, const char *group, const char *name, const json_t *o)
{
    enum sb_better better = sb_better_named(sb__json_text_of(o, "better"));

    if (c->n == FIGURES_MAX)
        return;
    c->undirected[c->n] = better == SB_BETTER_UNKNOWN;
    c->figure[c->n++] = (struct sb_figure){ .group = group,
        .name = name,
        .figure = "value",
        .unit = sb__json_text_of(o, "unit"),
        .less_is_better = better == SB_BETTER_LOWER };
}

// The results of scripts that all runs of both sides know.
static void add_results(struct comparison *c)
{
    const json_t *list = json_object_get(c->a.run[0]->json, "results");

    for (size_t i = 0; i < json_array_size(list) && i < SB_ANSWERS_MAX; i++) {
        const json_t *o = json_array_get(list, i);
        char *name = c->result_name[i];

        sb_answer_full_name(
            name, sb__json_text_of(o, "workload"), sb__json_text_of(o, "name"));
        if (all_know(c, name, sb_result_run_own) &&
            strcmp(name, c->figure[0].name) != 0) // the headline
            add_own(c, "result", name, o);
    }
}

// The headline that the user has chosen decides if all runs have it, and it is
// known which of two values is better. Throughput and percentiles of all events
// have errors, which other figures of a single run lack.
static void add_headline(struct comparison *c)
{
    const json_t *o = json_object_get(c->a.run[0]->json, "headline");
    const char *name = sb__json_text_of(o, "figure");

    if (c->ab || !json_is_true(json_object_get(o, "chosen")) ||
        !all_know(c, name, sb_result_run_headline))
        return;
    if (strcmp(name, "tps") == 0 || strcmp(name, "eps") == 0)
        add_figure(c, "run", "", "throughput");
    else if (strcmp(name, "p50") == 0 || strcmp(name, "p95") == 0 ||
             strcmp(name, "p99") == 0)
        add_figure(c, "run", "", name);
    else if (json_is_string(json_object_get(o, "better")))
        add_own(c, "headline", name, o);
}

static bool is_first(const struct comparison *c, const char *figure)
{
    return c->n > 0 && strcmp(c->figure[0].group, "run") == 0 &&
           strcmp(c->figure[0].figure, figure) == 0;
}

// The figure that decides comes first: docs/internals/compare.md.
static void choose_figures(struct comparison *c)
{
    const struct sb_result_run *r = c->a.run[0];
    static const char *const closed[] = { "throughput", "p50", "p95", "p99" };
    static const char *const open[] = { "p95", "p50", "p99", "throughput" };

    add_headline(c);
    for (int i = 0; i < 4; i++) {
        const char *figure = c->open_loop ? open[i] : closed[i];

        if (!is_first(c, figure))
            add_figure(c, "run", "", figure);
    }
    add_results(c);
    for (unsigned i = 0; i < r->snap.nops; i++) {
        const char *name = r->stats->op[i].name;

        if (!has_operation(&c->a, name) || !has_operation(&c->b, name))
            continue;
        add_figure(c, "operation", name, "avg");
        add_figure(c, "operation", name, "p95");
    }
    add_costs(c);
}

static int compare_figure(struct comparison *c, unsigned n)
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

static bool has_quotient(const struct sb_compare *r)
{
    return isfinite(r->difference);
}

// Whether all runs have the value 0, or all a value above 0.
static bool all_are(const struct sb_side *s, const char *headline, bool zero)
{
    for (unsigned i = 0; i < s->nruns; i++) {
        double value = sb_result_run_headline(s->run[i], headline);

        if (zero ? value != 0 : !(value > 0))
            return false;
    }
    return true;
}

// A headline that decides, if there is no quotient because a side has the value
// 0: docs/internals/compare.md.
static void judge_zero(struct comparison *c)
{
    const char *name = c->figure[0].name;
    struct sb_compare *r = &c->result[0];
    bool zero_a = all_are(&c->a, name, true);
    bool zero_b = all_are(&c->b, name, true);

    if (strcmp(c->figure[0].group, "headline") != 0 || has_quotient(r))
        return;
    r->verdict = SB_VERDICT_SAME;
    r->within_margin = zero_a && zero_b;
    if (zero_a && all_are(&c->b, name, false))
        r->verdict = SB_VERDICT_HIGHER;
    else if (zero_b && all_are(&c->a, name, false))
        r->verdict = SB_VERDICT_LOWER;
}

// The interval of the first figure may be used after each pair.
static void take_answer(struct comparison *c)
{
    static const enum sb_compare_verdict verdict[] = { SB_VERDICT_SAME,
        SB_VERDICT_HIGHER, SB_VERDICT_LOWER, SB_VERDICT_SAME };
    const struct sb_pairs_answer *a = &c->ab->answer;
    struct sb_compare *r = &c->result[0];

    r->difference = a->difference;
    r->low = a->low;
    r->high = a->high;
    r->p = r->p_adjusted = NAN;
    r->verdict = isfinite(a->low) ? verdict[a->verdict] : SB_VERDICT_NONE;
    r->within_margin = a->verdict == SB_PAIRS_EQUIVALENT;
}

static int compare_all(struct comparison *c)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < c->n; i++)
        rc = compare_figure(c, i);
    if (c->ab)
        take_answer(c);
    judge_zero(c);
    // The first figure was chosen beforehand; the others are a search.
    if (rc == 0 && c->n > 1)
        rc = sb_compare_holm(c->result + 1, c->n - 1, c->o.confidence / 100);
    return rc;
}

// Text ------------------------------------------------------------------------

// Writes which rates differ, a line, or nothing.
static void compare_work_note(const struct comparison *c, FILE *out)
{
    const char *before = "The sides did different work: ";

    if (!c->other_work)
        before = "The sides differ in restarts: ";
    for (int i = 0; i < WORKS; i++) {
        const struct work *w = &c->work[i];
        char a[SB_UNITS_PERCENT], b[SB_UNITS_PERCENT];

        if (!w->differs)
            continue;
        fprintf(out, "%s%s in %s / %s %% of %s", before, w->name,
            sb_units_percent(a, w->a, 100), sb_units_percent(b, w->b, 100),
            w->of);
        before = ", ";
    }
    if (*before == ',')
        fprintf(out, "%s\n",
            c->other_work ? ". Their speeds cannot be compared." : ".");
}

static bool is_own(const struct sb_figure *f)
{
    return strcmp(f->group, "result") == 0 || strcmp(f->group, "headline") == 0;
}

// The verdict on a figure in one or a few words: "slower".
static const char *compare_word(const struct comparison *c, unsigned n)
{
    const struct sb_figure *f = &c->figure[n];
    const struct sb_compare *r = &c->result[n];
    bool higher = r->verdict == SB_VERDICT_HIGHER;

    // There is no quotient to a value that is not above 0.
    if (is_own(f) && !has_quotient(r) && r->verdict <= SB_VERDICT_SAME)
        return r->a.value < r->b.value || r->a.value > r->b.value ? "differs"
                                                                  : "equal";

    switch (r->verdict) {
    case SB_VERDICT_NONE:
        return "too little data";
    case SB_VERDICT_SAME:
        return r->within_margin ? "equal within the margin"
                                : "no difference seen";
    case SB_VERDICT_HIGHER:
    case SB_VERDICT_LOWER:
        break;
    }
    if (is_own(f) && !c->undirected[n])
        return higher == f->less_is_better ? "worse" : "better";
    if (!f->less_is_better)
        return higher ? "higher" : "lower";
    return higher ? "slower" : "faster";
}

// Whether a figure of a side is a percentile that is a lower bound.
static bool is_bound(const struct sb_figure *f, const struct sb_checks *checks)
{
    double pct = f->figure[0] == 'p' ? strtod(f->figure + 1, NULL) : 0;

    return strcmp(f->group, "run") == 0 && pct > 100 - checks->censored;
}

// The value of a figure, "> 12.3" if it is a lower bound. Returns out.
static const char *figure_text(char *out, size_t size,
    const struct sb_figure *f, const struct sb_checks *checks, double value)
{
    char number[24];

    snprintf(out, size, "%s%s", is_bound(f, checks) ? "> " : "",
        sb_number_text(number, sizeof(number), value));
    return out;
}

static const char *share_text(char *out, size_t size, double share)
{
    if (isfinite(share))
        snprintf(out, size, "%+.2f %%", 100 * share);
    else
        snprintf(out, size, "-");
    return out;
}

static void print_row(const struct comparison *c, unsigned n)
{
    const struct sb_figure *f = &c->figure[n];
    const struct sb_compare *r = &c->result[n];
    char raw[160], name[4 * sizeof(raw)];
    char a[32], b[32], diff[32], low[32], high[32];

    // The names of costs have their units.
    if (strcmp(f->group, "costs") == 0)
        snprintf(raw, sizeof(raw), "%s%s", f->figure,
            strcmp(f->figure, SB_COSTS_USD) == 0 ? "" : " per event");
    else if (is_own(f))
        snprintf(
            raw, sizeof(raw), "%s%s%s", f->name, *f->unit ? ", " : "", f->unit);
    else
        snprintf(raw, sizeof(raw), "%s%s%s, %s", f->name, *f->name ? " " : "",
            f->figure, f->unit);
    sb_escape_line(name, sizeof(name), raw);
    fprintf(c->args->out, "%-32s %10s %10s %10s  %9s .. %-9s  %s\n", name,
        figure_text(a, sizeof(a), f, &c->checks_a, r->a.value),
        figure_text(b, sizeof(b), f, &c->checks_b, r->b.value),
        share_text(diff, sizeof(diff), r->difference),
        share_text(low, sizeof(low), r->low),
        share_text(high, sizeof(high), r->high), compare_word(c, n));
}

// Rates that are 0 on both sides are left out.
static void print_work(const struct comparison *c)
{
    for (unsigned i = 0; i < WORKS; i++) {
        const struct work *w = &c->work[i];
        char name[64], a[SB_UNITS_PERCENT], b[SB_UNITS_PERCENT];

        if (!(w->a > 0) && !(w->b > 0))
            continue;
        snprintf(name, sizeof(name), "%s, %% of %s", w->name, w->of);
        fprintf(c->args->out, "%-32s %10s %10s %10s  %24s %s\n", name,
            sb_units_percent(a, w->a, 100), sb_units_percent(b, w->b, 100), "",
            "", w->differs ? "differs" : "similar");
    }
}

static void print_side(
    const struct comparison *c, char letter, const struct sb_side *s)
{
    const struct sb_result_run *r = s->run[0];
    char test[256], seconds[32];

    sb_escape_line(test, sizeof(test), sb_result_text(r, "test"));
    fprintf(c->args->out, "%c", letter);
    if (s->name[1]) {
        fprintf(c->args->out, " (");
        sb__cmd_print_line(c->args->out, s->name);
        fprintf(c->args->out, ")");
    }
    fprintf(c->args->out, ": ");
    if (!c->ab) {
        sb__cmd_print_line(c->args->out, s->text);
        fprintf(c->args->out, ": ");
    }
    fprintf(c->args->out, "%s, %u run%s of %s s, %u thread%s\n", test, s->nruns,
        s->nruns == 1 ? "" : "s",
        sb_number_text(seconds, sizeof(seconds), r->report.total_s),
        r->report.threads, r->report.threads == 1 ? "" : "s");
}

// Whether all runs of a were started before those of b. ISO 8601 in UTC sorts
// as text.
static bool before(const struct sb_side *a, const struct sb_side *b)
{
    for (unsigned i = 0; i < a->nruns; i++) {
        for (unsigned k = 0; k < b->nruns; k++) {
            if (strcmp(sb_result_text(a->run[i], "started"),
                    sb_result_text(b->run[k], "started")) >= 0)
                return false;
        }
    }
    return true;
}

static void write_side_notes(const struct sb_side *s, FILE *out)
{
    for (unsigned i = 0; i < s->nnotes && i < SB_SIDE_NOTES_MAX; i++) {
        const struct sb_side_note *note = &s->note[i];

        sb__cmd_print_line(out, s->name);
        fprintf(out, ": ");
        if (note->file->nruns > 1)
            fprintf(
                out, "run %u of ", (unsigned)(note->run - note->file->run) + 1);
        sb__cmd_print_line(out, note->file->path);
        fprintf(out, " %s.\n", note->what);
    }
    if (s->nnotes > SB_SIDE_NOTES_MAX)
        fprintf(out, "%u more runs were left out or interrupted.\n",
            s->nnotes - SB_SIDE_NOTES_MAX);
}

static void add_checks(struct sb_checks *c, const struct sb_side *s)
{
    for (unsigned i = 0; i < s->nruns; i++)
        sb_checks_add(c, s->run[i]->json);
}

// Whether the figures of a side are to be believed, if there is a doubt. Of one
// run, with the reasons.
static void write_side_validity(
    const struct sb_side *s, const struct sb_checks *checks, FILE *out)
{
    struct sb_validity v;
    const char *before = "";
    char names[400];

    if (checks->worst == SB_VALIDITY_OK)
        return;
    fprintf(out, "Validity of ");
    sb__cmd_print_line(out, s->name[1] ? s->name : s->text);
    fprintf(out, ": %s", sb_validity_name(checks->worst));
    if (checks->runs > 1) {
        fprintf(out, " (%u of %u runs: %s).\n", checks->doubtful + checks->bad,
            checks->runs, sb_checks_names(checks, names, sizeof(names)));
        return;
    }
    fprintf(out, " (");
    sb_validity_read(&v, json_object_get(s->run[0]->json, "validity"));
    for (int i = 0; i < SB_CHECKS; i++) {
        if (!checks->failed[i])
            continue;
        fprintf(out, "%s%s: ", before, sb_check_name((enum sb_check_id)i));
        sb__cmd_print_line(out, v.check[i].meaning);
        before = "; ";
    }
    fprintf(out, ").\n");
}

static bool overlap(const struct sb_side *a, const struct sb_side *b)
{
    for (unsigned i = 0; i < a->nruns; i++)
        for (unsigned k = 0; k < b->nruns; k++)
            if (sb_result_run_is_same(a->run[i], b->run[k]))
                return true;
    return false;
}

// What a single run does not show, and what is assumed instead.
static void write_single_notes(const struct comparison *c, FILE *out)
{
    unsigned na = c->a.nruns, nb = c->b.nruns;

    if (na == 1 && nb == 1) {
        fprintf(out, "Two single runs: the deviation between repeated runs is "
                     "unknown");
        if (has_quotient(&c->result[0]))
            fprintf(
                out, "; %g %% is assumed (--run-deviation)", c->o.deviation);
        fprintf(out, ". Repeat the runs to be sure.\n");
    } else if (has_quotient(&c->result[0]) && na != nb &&
               (na == 1 || nb == 1)) {
        sb__cmd_print_line(out, na == 1 ? c->a.name : c->b.name);
        fprintf(out, " is a single run: the deviation between the runs of ");
        sb__cmd_print_line(out, na == 1 ? c->b.name : c->a.name);
        fprintf(out, " is assumed for both sides.\n");
    }
}

// Writes the reservations about the verdict, each on a line.
static void compare_notes(const struct comparison *c, FILE *out)
{
    const struct sb_compare *r = &c->result[0];
    unsigned na = c->a.nruns, nb = c->b.nruns;

    write_side_notes(&c->a, out);
    write_side_notes(&c->b, out);
    write_side_validity(&c->a, &c->checks_a, out);
    write_side_validity(&c->b, &c->checks_b, out);
    compare_work_note(c, out);
    sb__compare_waits(&c->a, &c->b, out);
    if (overlap(&c->a, &c->b))
        fprintf(out, "The sides have a run in common.\n");
    if (r->drift_unknown)
        write_single_notes(c, out);
    if (na > 1 && nb > 1 && (before(&c->a, &c->b) || before(&c->b, &c->a)))
        fprintf(out,
            "All runs of one side were measured before those of the other: "
            "slow changes of the machine look like a difference. Measure the "
            "sides in turn.\n");
    if (r->too_short)
        fprintf(out,
            "The runs are too short: their intervals depend on each other. "
            "Measure longer, or repeat the runs.\n");
    if (r->drifts_differ)
        fprintf(out, "One run drifts more than the other during its time: "
                     "the interval covers both.\n");
}

static enum verdict verdict_of(const struct comparison *c)
{
    const struct sb_compare *r = &c->result[0];

    if (r->verdict == SB_VERDICT_NONE || c->other_work)
        return NO_VERDICT;
    if (r->verdict == SB_VERDICT_SAME)
        return r->within_margin ? EQUIVALENT : INCONCLUSIVE;
    return (r->verdict == SB_VERDICT_HIGHER) == c->figure[0].less_is_better
               ? WORSE
               : BETTER;
}

// Whether B is known not to be worse by more than the margin.
static bool is_not_worse(const struct comparison *c)
{
    const struct sb_compare *r = &c->result[0];
    double margin = c->o.margin / 100;

    if (verdict_of(c) == NO_VERDICT)
        return false;
    if (!has_quotient(r))
        return verdict_of(c) == BETTER || verdict_of(c) == EQUIVALENT;
    return c->figure[0].less_is_better ? r->high < margin : r->low > -margin;
}

// Writes the figure that decides and its difference, in the sentence about it.
static void write_difference(const struct comparison *c, FILE *out)
{
    const struct sb_figure *f = &c->figure[0];
    const struct sb_compare *r = &c->result[0];
    char a[32], b[32];

    if (is_own(f))
        sb__cmd_print_line(out, f->name);
    else if (strcmp(f->figure, "throughput") == 0)
        fprintf(out, "throughput");
    else
        fprintf(out, "%sth percentile of the %s", f->figure + 1,
            c->open_loop ? "response time" : "latency");
    if (has_quotient(r))
        fprintf(out, " %+.2f %%", 100 * r->difference);
    else
        fprintf(out, " %s against %s", sb_number_text(b, sizeof(b), r->b.value),
            sb_number_text(a, sizeof(a), r->a.value));
}

// Writes the verdict of the comparison, a sentence.
static void compare_verdict(const struct comparison *c, FILE *out)
{
    const struct sb_compare *r = &c->result[0];
    enum verdict v = verdict_of(c);

    if (c->other_work) {
        fprintf(out, "none, the sides did different work (");
        write_difference(c, out);
        fprintf(out, ").");
        return;
    }
    if (v == NO_VERDICT) {
        fprintf(out, "none, too little data.");
        return;
    }
    sb__cmd_print_line(out, c->b.name);
    if (v == INCONCLUSIVE)
        fprintf(out, is_not_worse(c) ? " is not worse than "
                                     : " may be better or worse than ");
    else
        fprintf(out, " is %s %s ", verdicts[v].name,
            v == EQUIVALENT ? "to" : "than");
    sb__cmd_print_line(out, c->a.name);
    if (v == INCONCLUSIVE && is_not_worse(c))
        fprintf(out, " by more than %g %%, and may be better", c->o.margin);
    else if (v == EQUIVALENT && has_quotient(r))
        fprintf(out, " within %g %%", c->o.margin);
    fprintf(out, ": ");
    write_difference(c, out);
    if (has_quotient(r))
        fprintf(out, " (interval %+.2f %% to %+.2f %%)", 100 * r->low,
            100 * r->high);
    fprintf(out, ".");
}

// A name that fits above a column of numbers.
static const char *column_name(const struct sb_side *s, const char *letter)
{
    size_t n = strlen(s->name);

    for (size_t i = 0; i < n; i++)
        if (!isgraph((unsigned char)s->name[i]))
            return letter;
    return n <= 10 ? s->name : letter;
}

static void print_comparison(const struct comparison *c)
{
    FILE *out = c->args->out;

    print_side(c, 'A', &c->a);
    print_side(c, 'B', &c->b);
    sb_differences_print(c->differences, out);
    sb__statements_print(c->differences, out);
    fprintf(out, "\n%-32s %10s %10s %10s  %19.4g %% interval  %s\n", "figure",
        column_name(&c->a, "A"), column_name(&c->b, "B"), "B / A - 1",
        c->o.confidence, "verdict");
    for (unsigned i = 0; i < c->n; i++)
        print_row(c, i);
    print_work(c);
    fprintf(out, "The first figure decides. The verdicts on the others are "
                 "corrected for their number; their intervals are not.\n");
    fprintf(out, "\nVerdict: ");
    compare_verdict(c, out);
    fprintf(out, "\n");
    if (c->ab)
        sb_ab_print_end(c->ab, out);
    compare_notes(c, out);
}

// JSON ------------------------------------------------------------------------
//
// The document is described in docs/internals/compare.md.

static json_t *figure_json(const struct comparison *c, unsigned n)
{
    const struct sb_figure *f = &c->figure[n];
    const struct sb_compare *r = &c->result[n];
    static const char *const words[] = { "none", "same", "higher", "lower" };
    json_t *o = json_pack(
        "{s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:s,s:b,s:b,"
        "s:b,s:b,s:[b,b]}",
        "group", f->group, "name", f->name, "figure", f->figure, "unit",
        f->unit, "a", sb_estimate_json(&r->a, true), "b",
        sb_estimate_json(&r->b, true), "difference",
        sb_json_number(r->difference), "low", sb_json_number(r->low), "high",
        sb_json_number(r->high), "p",
        sb_json_number(isfinite(r->p_adjusted) ? r->p_adjusted : r->p),
        "verdict", words[r->verdict], "words", compare_word(c, n),
        "within_margin", r->within_margin, "drift_unknown", r->drift_unknown,
        "too_short", r->too_short, "drifts_differ", r->drifts_differ,
        "lower_bounds", is_bound(f, &c->checks_a), is_bound(f, &c->checks_b));

    if (o && is_own(f))
        json_object_set_new(o, "better",
            c->undirected[n]
                ? json_null()
                : json_string(f->less_is_better ? "lower" : "higher"));
    return o;
}

static json_t *figures_json(const struct comparison *c)
{
    json_t *figures = json_array();

    for (unsigned i = 0; i < c->n; i++) {
        if (json_array_append_new(figures, figure_json(c, i))) {
            json_decref(figures);
            return NULL;
        }
    }
    return figures;
}

static json_t *work_json(const struct comparison *c)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < WORKS; i++) {
        const struct work *w = &c->work[i];

        if (json_array_append_new(
                list, json_pack("{s:s,s:s,s:s,s:o,s:o,s:b}", "name", w->name,
                          "of", w->of, "unit", "%", "a", sb_json_number(w->a),
                          "b", sb_json_number(w->b), "differs", w->differs))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

// The runs of a file that belong to the side, from 1.
static json_t *run_numbers(
    const struct sb_side *s, const struct sb_result_file *f)
{
    json_t *numbers = json_array();

    for (unsigned i = 0; i < s->nruns; i++)
        if (s->run[i] >= f->run && s->run[i] < f->run + f->nruns)
            json_array_append_new(
                numbers, json_integer(s->run[i] - f->run + 1));
    return numbers;
}

static json_t *side_json(
    const struct sb_side *s, const struct sb_checks *checks)
{
    const struct sb_result_run *r = s->run[0];
    json_t *files = json_array(), *numbers = json_array();

    for (unsigned i = 0; i < s->nfiles; i++) {
        json_array_append_new(files, sb_json_text(s->file[i].path));
        json_array_append_new(numbers, run_numbers(s, &s->file[i]));
    }
    return json_pack("{s:o,s:o,s:o,s:i,s:s,s:f,s:i,s:o}", "name",
        sb_json_text(s->name), "files", files, "numbers", numbers, "runs",
        (int)s->nruns, "test", sb_result_text(r, "test"), "seconds",
        r->report.total_s, "threads", (int)r->report.threads, "validity",
        sb_checks_json(checks));
}

// What `write` writes, as a text or as a list of its lines.
static json_t *written(const struct comparison *c,
    void (*write)(const struct comparison *c, FILE *out), bool lines)
{
    char *text = NULL, *rest, *line;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    json_t *list;

    if (!out)
        return NULL;
    write(c, out);
    if (fclose(out) || !lines) {
        list = sb_json_text(text);
        free(text);
        return list;
    }
    list = json_array();
    rest = text;
    while ((line = strsep(&rest, "\n"))) {
        if (*line)
            json_array_append_new(list, sb_json_text(line));
    }
    free(text);
    return list;
}

// Returns the comparison as a new document; NULL: no memory.
static json_t *compare_document(const struct comparison *c)
{
    json_t *o = json_pack(
        "{s:s,s:i,s:o,s:o,s:f,s:f,s:f,s:b,s:b,s:s,s:b,s:o,s:o,s:[o,o],s:O,s:o,"
        "s:b,s:o}",
        "format", "sysbench-comparison", "version", 1, "a",
        sb_json_text(c->a.text), "b", sb_json_text(c->b.text), "confidence",
        c->o.confidence, "margin", c->o.margin, "run_deviation", c->o.deviation,
        "paired", c->o.paired, "open_loop", c->open_loop, "verdict",
        verdicts[verdict_of(c)].name, "not_worse", is_not_worse(c), "sentence",
        written(c, compare_verdict, false), "notes",
        written(c, compare_notes, true), "sides",
        side_json(&c->a, &c->checks_a), side_json(&c->b, &c->checks_b),
        "differences", c->differences, "figures", figures_json(c),
        "different_work", c->other_work, "work", work_json(c));
    json_t *ab = c->ab && o ? sb_ab_json(c->ab) : NULL;

    if (ab)
        json_object_set_new(o, "ab", ab);
    return o;
}

static int write_file(const char *path, const json_t *o, struct sb_err *err)
{
    struct sb_target t;
    int rc = sb_target_open(&t, path, SB_TARGET_WHOLE, err);

    if (rc == 0 && json_dumpf(o, t.file, JSON_INDENT(1))) {
        rc = sb_target_flush(&t, err);
        rc = rc ? rc : sb_err_set(err, SB_ENOMEM, "out of memory");
    }
    if (rc == 0) {
        fputc('\n', t.file);
        rc = sb_target_commit(&t, err);
    }
    sb_target_done(&t);
    return rc;
}

static int write_json(const struct comparison *c)
{
    struct sb_err err = { 0 };
    json_t *o = compare_document(c);
    int rc = o ? write_file(c->o.json, o, &err)
               : sb_err_set(&err, SB_ENOMEM, "out of memory");

    json_decref(o);
    if (rc)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    return rc;
}

// Page ------------------------------------------------------------------------
//
// The document of the comparison, then all results.

static int open_side(const struct sb_side *s, const char *name,
    struct sb_page_doc *doc, struct sb_err *err)
{
    for (unsigned i = 0; i < s->nfiles; i++) {
        const char *path = s->file[i].path;
        struct stat st;

        if (strcmp(path, "-") == 0)
            return sb_err_set(err, SB_EUSAGE,
                "--html: standard input cannot be used: write it to a file");
        doc[i] = (struct sb_page_doc){
            .file = fopen(path, "re"), .name = path, .side = name
        };
        if (!doc[i].file)
            return sb_err_set(
                err, SB_ESYS, "cannot read %s: %s", path, strerror(errno));
        // It has been read once, for the comparison.
        if (fstat(fileno(doc[i].file), &st) || !S_ISREG(st.st_mode))
            return sb_err_set(err, SB_EUSAGE,
                "--html: %s cannot be read twice: write it to a file", path);
    }
    return 0;
}

// A page for the comparison's text, which ends with a null byte.
static int write_page(const struct comparison *c, char *text,
    struct sb_page_doc *doc, struct sb_err *err)
{
    struct sb_page_parts parts = { .docs = doc,
        .several = true,
        .ndocs = 1 + c->a.nfiles + c->b.nfiles,
        .title = "sysbench compare" };
    struct sb_paths paths;
    int rc = sb_paths_find(&paths, err);

    if (rc)
        return rc;
    parts.page = paths.page;
    parts.charts = paths.charts;
    doc[0] = (struct sb_page_doc){ .file = fmemopen(text, strlen(text), "r"),
        .kind = "comparison" };
    if (!doc[0].file)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    rc = open_side(&c->a, c->a.name, doc + 1, err);
    if (rc == 0)
        rc = open_side(&c->b, c->b.name, doc + 1 + c->a.nfiles, err);
    return rc ? rc : sb__cmd_write_page(c->o.html, &parts, err);
}

static int write_html(const struct comparison *c)
{
    size_t n = 1 + c->a.nfiles + c->b.nfiles;
    struct sb_page_doc *doc = calloc(n, sizeof(*doc));
    json_t *o = compare_document(c);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    struct sb_err err = { 0 };
    int rc = doc && text ? write_page(c, text, doc, &err)
                         : sb_err_set(&err, SB_ENOMEM, "out of memory");

    if (rc)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    for (size_t i = 0; doc && i < n; i++) {
        if (doc[i].file)
            fclose(doc[i].file);
    }
    free(doc);
    free(text);
    json_decref(o);
    return rc;
}

// The command -----------------------------------------------------------------

static int status_of(const struct comparison *c)
{
    enum verdict v = verdict_of(c);

    for (size_t i = 0; i < c->o.pass.count; i++) {
        const char *pass = c->o.pass.item[i];

        if (strcmp(pass, verdicts[v].name) == 0 ||
            (strcmp(pass, NOT_WORSE) == 0 && is_not_worse(c)))
            return SB_CMD_OK;
    }
    return verdicts[v].status;
}

static bool is_verdict(const char *text)
{
    for (int i = NO_VERDICT + 1; i < VERDICTS; i++)
        if (strcmp(text, verdicts[i].name) == 0)
            return true;
    return strcmp(text, NOT_WORSE) == 0;
}

static int count_value(void *arg, const char *text)
{
    (void)text;
    ++*(unsigned *)arg;
    return 0;
}

static int check_options(const struct comparison *c)
{
    const struct sb_opt_list *name = &c->o.name;
    unsigned at = 0;

    for (size_t i = 0; i < c->o.pass.count; i++)
        if (!is_verdict(c->o.pass.item[i])) {
            sb_log(SB_LOG_USAGE,
                "--pass: '%s' is no verdict: better, equivalent, not-worse, "
                "inconclusive and worse are",
                c->o.pass.item[i]);
            return SB_EUSAGE;
        }
    if (name->count &&
        (name->count != 2 || strcmp(name->item[0], name->item[1]) == 0)) {
        sb_log(SB_LOG_USAGE, "--name: two different names are expected, "
                             "separated by a comma");
        return SB_EUSAGE;
    }
    if (c->args->opts)
        sb_opts_values(c->args->opts, "at", SB_SRC_CMDLINE, count_value, &at);
    if (at > 1) {
        sb_log(SB_LOG_USAGE,
            "--at was given %u times and applies to both sides: separate "
            "several values by commas, or add values to the names of files "
            "(%s:threads=8)",
            at, c->args->file[0]);
        return SB_EUSAGE;
    }
    return 0;
}

// Names -----------------------------------------------------------------------

// The only value that a side has of something that differs, or NULL.
static const char *only(const json_t *difference, const char *side)
{
    const json_t *values = json_object_get(difference, side);

    return json_array_size(values) == 1
               ? json_string_value(json_array_get(values, 0))
               : NULL;
}

// The values of the runs of a sweep: "threads=8". Empty: not of a sweep.
static void swept_name(const struct sb_side *s, char *out, size_t size)
{
    json_t *swept = json_object_get(s->run[0]->json, "swept"), *value;
    size_t used = 0;
    const char *name;

    out[0] = '\0';
    json_object_foreach(swept, name, value)
    {
        used += (size_t)snprintf(out + used, size - used, "%s%s=%s",
            used ? " " : "", name, json_string_value(value));
        if (used >= size)
            return;
    }
}

static bool take_names(struct comparison *c, const char *a, const char *b)
{
    if (!a || !b || !*a || !*b || strcmp(a, b) == 0)
        return false;
    snprintf(c->a.name, sizeof(c->a.name), "%s", a);
    snprintf(c->b.name, sizeof(c->b.name), "%s", b);
    return true;
}

// The names that were given; otherwise the first thing that names the sides:
// swept values, a label, the server's version.
static void choose_names(struct comparison *c)
{
    char a[sizeof(c->a.name)], b[sizeof(c->b.name)];
    json_t *d;
    size_t i;

    if (c->ab && take_names(c, c->ab->side[0].name, c->ab->side[1].name))
        return;
    if (c->o.name.count == 2 &&
        take_names(c, c->o.name.item[0], c->o.name.item[1]))
        return;
    swept_name(&c->a, a, sizeof(a));
    swept_name(&c->b, b, sizeof(b));
    if (take_names(c, a, b))
        return;
    json_array_foreach(c->differences, i, d)
    {
        const char *kind = json_string_value(json_object_get(d, "kind"));

        if (strcmp(kind, "label") == 0 &&
            take_names(c, only(d, "a"), only(d, "b")))
            return;
    }
    json_array_foreach(c->differences, i, d)
    {
        const char *kind = json_string_value(json_object_get(d, "kind"));
        const char *name = json_string_value(json_object_get(d, "name"));

        if (strcmp(kind, "server") == 0 && strcmp(name, "server") == 0 &&
            take_names(c, only(d, "a"), only(d, "b")))
            return;
    }
    take_names(c, "A", "B");
}

static int read_side(struct comparison *c, struct sb_side *s, const char *text)
{
    int rc = sb_side_read(s, text);

    if (rc == 0)
        rc = sb_side_select(s, &c->o.at);
    return rc ? rc : sb_side_leave_out(s);
}

static int check_pairs(const struct comparison *c)
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

static int read_sides(struct comparison *c)
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
    add_checks(&c->checks_a, &c->a);
    add_checks(&c->checks_b, &c->b);
    c->open_loop = c->a.run[0]->report.open_loop;
    if (c->open_loop != c->b.run[0]->report.open_loop) {
        sb_log(SB_LOG_FATAL, "one side was measured with --rate, the other "
                             "without: they cannot be compared");
        return SB_EUSAGE;
    }
    return check_pairs(c);
}

// Adds the program of the side of sysbench ab that a run belongs to, if its
// file names it.
static void add_build(struct sb_run_facts *f, const struct sb_side *s,
    const struct sb_result_run *run)
{
    for (unsigned i = 0; i < s->nfiles; i++) {
        const struct sb_result_file *file = &s->file[i];
        json_t *ab = json_object_get(file->json, "ab");
        int side = ab ? sb_ab_side_of(ab, run->json) : -1;

        if (side >= 0 && run >= file->run && run < file->run + file->nruns)
            sb_run_facts_add_build(f,
                json_array_get(json_object_get(ab, "programs"), (size_t)side));
    }
}

// build: the program of the side of sysbench ab, or NULL.
static void add_side(
    struct sb_run_facts *f, const struct sb_side *s, const char *build)
{
    json_t *text = build ? sb_json_text(build) : NULL;

    sb_run_facts_init(f);
    for (unsigned i = 0; i < s->nfiles; i++)
        sb_run_facts_add_program(
            f, json_object_get(s->file[i].json, "program"));
    sb_run_facts_add_build(f, text);
    json_decref(text);
    for (unsigned i = 0; i < s->nruns; i++) {
        add_build(f, s, s->run[i]);
        sb_run_facts_add(f, s->run[i]->json);
    }
}

static json_t *differences(const struct comparison *c)
{
    const struct sb_side *a = &c->a, *b = &c->b;
    struct sb_run_facts fa, fb;
    json_t *list;

    add_side(&fa, a, c->ab ? c->ab->side[0].build : NULL);
    add_side(&fb, b, c->ab ? c->ab->side[1].build : NULL);
    list = sb_run_facts_compare(&fa, &fb);
    sb_run_facts_done(&fa);
    sb_run_facts_done(&fb);
    if (!list || sb__statements_differ(list, a, b) == 0)
        return list;
    json_decref(list);
    return NULL;
}

static int perform_comparison(struct comparison *c)
{
    assert(c->n == 0);
    if (check_options(c) || read_sides(c))
        return SB_CMD_FAILED;
    choose_figures(c);
    if (compare_all(c) || compare_work(c)) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    c->differences = differences(c);
    if (!c->differences) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    choose_names(c);
    if (c->args->out)
        print_comparison(c);
    if (*c->o.json && write_json(c))
        return SB_CMD_FAILED;
    if (*c->o.html && write_html(c))
        return SB_CMD_FAILED;
    return status_of(c);
}

static int compare_with(const struct sb_cmd_args *args,
    const struct compare_opts *o, const struct sb_ab *ab)
{
    struct comparison *c = calloc(1, sizeof(*c));
    int status;

    if (!c) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    c->args = args;
    c->o = *o;
    c->ab = ab;
    status = perform_comparison(c);
    json_decref(c->differences);
    sb_side_done(&c->a);
    sb_side_done(&c->b);
    free(c);
    return status;
}

static int compare(const struct sb_cmd_args *args)
{
    return compare_with(args, args->o, NULL);
}

int sb_compare_sides(const struct sb_ab *ab, const char *a, const char *b,
    const char *html, FILE *out)
{
    const char *const file[] = { a, b };
    const char *const pass[] = { verdicts[BETTER].name,
        verdicts[EQUIVALENT].name };
    const struct sb_cmd_args args = { .file = file, .nfiles = 2, .out = out };
    const struct compare_opts o = { .margin = 100 * ab->o.margin,
        .confidence = 100 * ab->o.confidence,
        .deviation = 100 * SB_COMPARE_RUN_DEVIATION,
        .paired = true,
        .pass = { .item = pass, .count = 2 },
        .json = "",
        .html = html };

    return compare_with(&args, &o, ab);
}

const struct sb_cmd sb_cmd_compare = {
    .name = "compare",
    .usage = "compare [OPTIONS] A.json[,A2.json...] B.json[,B2.json...]",
    .title =
        "Compares two results, or two sets of repeats. Exit status: 0: the "
        "verdict is one of --pass, by default B is better or equivalent, 3: B "
        "is worse, 4: no verdict (too little data, or different work), 5: "
        "inconclusive, 6: equivalent, 7: better, 1: failure.",
    .min_files = 2,
    .max_files = 2,
    .opts = &option_table,
    .opts_size = sizeof(struct compare_opts),
    .run = compare,
};
