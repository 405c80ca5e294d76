// SPDX-License-Identifier: GPL-2.0-or-later
//
// A listener: collects during a run what shows whether its figures may be
// believed, and judges at its end. docs/internals/validity.md has the rules.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/host.h"
#include "base/log.h"
#include "base/procstat.h"
#include "kit/units.h"
#include "measure/mean.h"
#include "measure/steady.h"
#include "measure/tails.h"
#include "out/validity.h"

// Percent from which on a check is doubtful, and bad.
#define STEADY_DOUBTFUL  1
#define STEADY_BAD       10
#define ERRORS_DOUBTFUL  1
#define ERRORS_BAD       10
#define IDLE_SECONDS_MIN 1
#define IDLE_EVENTS_MIN  10 // of a user, on average

#define MISSES_DOUBTFUL 1
#define MISSES_BAD      50
#define MISSES_MIN      10

#define BEYOND_MIN 10 // events beyond a percentile

#define NETWORK_DOUBTFUL 50     // percent of the median time of an event
#define NETWORK_MIN_NS   200000 // less is within a machine, or beside it

// Of the machine, in percent or in the unit of the name.
#define THROTTLED_DOUBTFUL 1
#define THROTTLED_BAD      10
#define STEAL_DOUBTFUL     1
#define STEAL_BAD          10
#define OTHERS_DOUBTFUL    10
#define RESENT_DOUBTFUL    0.1
#define RESENT_MIN         10
#define SWAPPED_MIN_BYTES  1e6
#define CLOCK_STEP_NS      10000000

// Intervals of the measured part.
struct series {
    double *seconds, *rate, *latency, *events; // n values
    size_t n, capacity;
};

struct sb__app_validity {
    struct sb_validity result;
    struct series series;
    struct sb_tails tails;
    struct sb_tails goals;      // the percentiles of --until
    struct sb_host_state begin; // of the measured part
    uint64_t cpu_ns;            // of this process, then
    int64_t server;             // process of a local server; 0: unknown
    struct sb_throttled server_begin;
    bool incomplete; // out of memory: the series have gaps
};

// Collecting ------------------------------------------------------------------

bool sb__app_validity_wanted(const struct sb_app *a)
{
    switch (a->text_opts.report_validity) {
    case SB_TEXT_VALIDITY_ON:
        return true;
    case SB_TEXT_VALIDITY_OFF:
        return false;
    default:
        return a->reporters.n > 0 || sb_asserts_need_validity(&a->asserts);
    }
}

bool sb__app_validity_follows(const struct sb_app *a)
{
    return a->until.n > 0 || sb__app_validity_wanted(a);
}

static uint64_t own_cpu_ns(void)
{
    struct sb_proc_self self;

    return sb_procstat_self(&self, NULL) == 0 ? self.cpu_ns : 0;
}

// The measured part begins now, or later.
static void begin_measured(struct sb__listening *t)
{
    struct sb__app_validity *v = t->validity;
    struct sb_draws *draws = t->a->random.draws;

    sb_host_look(&v->begin);
    sb_host_throttled(&v->server_begin, v->server);
    v->cpu_ns = own_cpu_ns();
    if (draws)
        sb_draws_restart(draws);
}

void sb__app_validity_begin(struct sb__listening *t)
{
    if (sb__app_validity_wanted(t->a))
        t->a->random.draws = sb_draws_new();
}

static void make_validity(struct sb__listening *t)
{
    if (!sb__app_validity_follows(t->a))
        return;
    t->validity = calloc(1, sizeof(*t->validity));
    if (!t->validity)
        sb_log(SB_LOG_WARNING, "validity: out of memory");
    else if (sb__app_validity_wanted(t->a))
        sb_drivers_keep_plans(t->a->drivers);
}

static void follow_goals(struct sb__listening *t)
{
    const struct sb_until *u = &t->a->until;
    double pct[SB_UNTIL_MAX];
    unsigned n = 0;

    for (unsigned i = 0; i < u->n; i++) {
        if (u->goal[i].figure == SB_UNTIL_PERCENTILE)
            pct[n++] = u->goal[i].pct;
    }
    sb_tails_init(&t->validity->goals, pct, n);
}

// The maximum has no events beyond it.
static void follow_tails(struct sb__listening *t)
{
    const struct sb_text *text = &t->a->text;
    double pct[SB_TEXT_PERCENTILES];
    unsigned n = 0;

    for (unsigned i = 0; i < text->npct; i++) {
        if (text->pct[i] < 100)
            pct[n++] = text->pct[i];
    }
    sb_tails_init(&t->validity->tails, pct, n);
}

static void start_validity(struct sb__listening *t)
{
    if (!t->validity)
        return;
    t->validity->server = sb__app_server_process(t);
    follow_tails(t);
    follow_goals(t);
    begin_measured(t);
}

static bool make_room(struct series *s)
{
    size_t n = s->capacity ? 2 * s->capacity : 64;
    double **array[] = { &s->seconds, &s->rate, &s->latency, &s->events };

    if (s->n < s->capacity)
        return true;
    for (size_t i = 0; i < sizeof(array) / sizeof(array[0]); i++) {
        double *larger = realloc(*array[i], n * sizeof(*larger));

        if (!larger)
            return false;
        *array[i] = larger;
    }
    s->capacity = n;
    return true;
}

// Whether the figures are known as exactly as --until asks.
static void look_at_goals(struct sb__listening *t)
{
    const struct sb__app_validity *v = t->validity;
    const struct series *s = &v->series;
    double elapsed = 0;
    const struct sb_until_series so_far = { s->seconds, s->rate, s->latency,
        s->events, s->n, &v->goals };

    if (t->a->until.n == 0 || v->incomplete)
        return;
    for (size_t i = 0; i < s->n; i++)
        elapsed += s->seconds[i];
    // On a busy machine, some intervals are longer than others.
    double planned = ceil(
        (double)t->a->run.time / 1e9 * (double)s->n / elapsed);

    sb_until_look(&t->a->until, &so_far, (size_t)planned);
}

// The rest of a run that is shorter than an interval is left out: its values
// deviate more.
static void add_interval(struct sb__listening *t, const struct sb_report *r)
{
    struct sb__app_validity *v = t->validity;
    double completed = (double)r->snap->c.completed;

    if (v && r->warmup)
        begin_measured(t);
    if (!v || r->warmup || r->partial || !(r->interval_s > 0))
        return;
    if (!make_room(&v->series) || sb_tails_add(&v->tails, r->latency) ||
        sb_tails_add(&v->goals, r->latency)) {
        v->incomplete = true;
        return;
    }
    struct series *s = &v->series;

    s->seconds[s->n] = r->interval_s;
    s->rate[s->n] = completed / r->interval_s;
    s->latency[s->n] = completed > 0 ? r->lat_avg : NAN;
    s->events[s->n] = completed;
    s->n++;
    look_at_goals(t);
}

bool sb__app_until_reached(const struct sb__listening *t)
{
    return t->a->until.reached;
}

// Steady ----------------------------------------------------------------------

struct finding {
    const char *what; // "throughput"
    struct sb_steady s;
    double off; // difference of the mean of all from the last part's, or rise
                // of the line through the last part, if that is more, %
    bool drifts;
    double
        within; // half of the confidence interval of the mean, %; NaN: unknown
};

static double mean_of(const double *value, const double *weight, size_t n)
{
    double sum = 0, all = 0;

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(value[i]))
            continue;
        sum += value[i] * weight[i];
        all += weight[i];
    }
    return sum / all;
}

// weight: what the mean of the run is weighted by.
static void find_parts(const double *value, const double *weight, size_t n,
    const char *what, struct finding *f)
{
    const struct sb_values values = { value, weight, n, NAN };
    const struct sb_steady_part *last;
    double mean;

    *f = (struct finding){ .what = what };
    sb_steady(&values, &f->s);
    if (f->s.nparts == 0)
        return;
    last = &f->s.part[f->s.nparts - 1];
    f->off = 100 * (mean_of(value, weight, n) / last->mean - 1);
    f->drifts = f->s.drifts && 100 * fabs(f->s.drift) > fabs(f->off);
    if (f->drifts)
        f->off = 100 * f->s.drift;
    f->within = 100 * sb_mean_half(&values, 0.05, &mean) / mean;
}

// The part that deviates most from the last one, for the sentence.
static const struct sb_steady_part *strangest(const struct finding *f)
{
    const struct sb_steady_part *last = &f->s.part[f->s.nparts - 1];
    const struct sb_steady_part *p = &f->s.part[0];

    for (size_t i = 1; i + 1 < f->s.nparts; i++) {
        if (fabs(f->s.part[i].mean - last->mean) > fabs(p->mean - last->mean))
            p = &f->s.part[i];
    }
    return p;
}

// Seconds of the measured part before an interval, to a tenth.
static double time_of(const struct series *s, size_t interval)
{
    double at = 0;

    for (size_t i = 0; i < interval; i++)
        at += s->seconds[i];
    return round(10 * at) / 10;
}

// A first part that is short is a warm-up that was too short.
static void describe_change(struct sb_check *c, const struct series *s,
    const struct finding *f, double warmup)
{
    const struct sb_steady_part *last = &f->s.part[f->s.nparts - 1];
    const struct sb_steady_part *p = strangest(f);
    double share = 100 * (p->mean / last->mean - 1);
    double from = time_of(s, last->first), begin = time_of(s, p->first);
    bool cold = p->first == 0 && 3 * from <= time_of(s, s->n);

    snprintf(c->meaning, sizeof(c->meaning),
        "from %.7g s to %.7g s, %s was %.*g %% %s than from %.7g s on; that "
        "changes its mean by %.*g %%",
        begin, time_of(s, p->end), f->what, sb_units_digits(share), fabs(share),
        share > 0 ? "higher" : "lower", from, sb_units_digits(f->off),
        fabs(f->off));
    if (cold)
        snprintf(c->advice, sizeof(c->advice), "use --warmup-time=%.0f or more",
            ceil(warmup + from));
    else
        snprintf(c->advice, sizeof(c->advice),
            "find out what happened at %.7g s, or measure longer",
            p->first == 0 ? time_of(s, p->end) : begin);
}

static void describe_drift(struct sb_check *c, const struct finding *f)
{
    snprintf(c->meaning, sizeof(c->meaning),
        "%s %s by %.*g %% and had not settled at the end of the run", f->what,
        f->off > 0 ? "rose" : "fell", sb_units_digits(f->off), fabs(f->off));
    snprintf(c->advice, sizeof(c->advice),
        "measure longer, after a longer --warmup-time; if it does not settle, "
        "tables grow or a cache fills");
}

// Among intervals that differ much, a change is not found.
static void describe_level(struct sb_check *c, const struct finding f[2])
{
    const struct finding *wide = f[1].within > f[0].within ? &f[1] : &f[0];
    int digits = sb_units_digits(wide->within), used;

    if (wide->within > STEADY_BAD) {
        c->state = SB_VALIDITY_UNKNOWN;
        c->value = NAN;
        snprintf(c->meaning, sizeof(c->meaning),
            "%s differs so much between intervals that it is known only within "
            "%.*g %%",
            wide->what, digits, wide->within);
        snprintf(c->advice, sizeof(c->advice),
            "measure longer; find out what else uses the machines");
        return;
    }
    used = snprintf(c->meaning, sizeof(c->meaning),
        "no change of throughput or mean latency was found that altered its "
        "mean by 1 %%");
    if (isfinite(wide->within))
        snprintf(c->meaning + used, sizeof(c->meaning) - (size_t)used,
            "; the means are known within %.*g %%", digits, wide->within);
}

// The last interval with an event, and whether that is the last one of the run.
static void describe_stop(struct sb_check *c, const struct series *s)
{
    size_t last = s->n;

    while (last > 0 && !(s->events[last - 1] > 0))
        last--;
    if (last == 0) {
        snprintf(c->meaning, sizeof(c->meaning), "no event was completed");
        return;
    }
    c->state = SB_VALIDITY_BAD;
    snprintf(c->meaning, sizeof(c->meaning),
        "no event was completed after %.7g s", time_of(s, last));
    snprintf(c->advice, sizeof(c->advice), "find out what happened at %.7g s",
        time_of(s, last));
}

static void compare_levels(
    struct sb_check *c, const struct series *s, double warmup)
{
    const struct finding *worst;
    struct finding f[2];

    find_parts(s->rate, s->seconds, s->n, "throughput", &f[0]);
    find_parts(s->latency, s->events, s->n, "the mean latency", &f[1]);
    if (f[0].s.nparts == 0) {
        snprintf(c->meaning, sizeof(c->meaning),
            "the run has %zu whole intervals; %d are needed", s->n,
            SB_STEADY_VALUES_MIN);
        snprintf(c->advice, sizeof(c->advice),
            "measure longer, or use a shorter --report-interval");
        return;
    }
    if (!(f[0].s.part[f[0].s.nparts - 1].mean > 0)) {
        describe_stop(c, s);
        return;
    }
    worst = fabs(f[1].off) > fabs(f[0].off) ? &f[1] : &f[0];
    c->value = fabs(worst->off);
    c->unit = "%";
    c->state = sb_check_grade(c->value, STEADY_DOUBTFUL, STEADY_BAD);
    if (c->state == SB_VALIDITY_OK)
        describe_level(c, f);
    else if (worst->drifts)
        describe_drift(c, worst);
    else
        describe_change(c, s, worst, warmup);
}

static void check_steady(struct sb__listening *t)
{
    struct sb__app_validity *v = t->validity;
    struct sb_check *c = sb_validity_make(
        &v->result, SB_CHECK_STEADY, SB_VALIDITY_UNKNOWN);

    if (v->incomplete) {
        snprintf(c->meaning, sizeof(c->meaning), "out of memory");
    } else if (t->a->run.stages.n > 0) {
        c->state = SB_VALIDITY_NOT_APPLICABLE;
        snprintf(c->meaning, sizeof(c->meaning),
            "--stages changes the load during the run");
    } else {
        compare_levels(c, &v->series, (double)t->a->run.warmup_time / 1e9);
    }
}

// Samples ---------------------------------------------------------------------

// Appends to the sentence of a check what is known about a percentile.
static void describe_tail(struct sb_check *c, const struct sb_percentile *p)
{
    size_t used = strlen(c->meaning), size = sizeof(c->meaning) - used;
    char *out = c->meaning + used;
    const char *comma = used ? ", " : "";

    if (p->beyond < BEYOND_MIN)
        snprintf(out, size, "%sp%g rests on %.2g event%s", comma, p->pct,
            p->beyond, fabs(p->beyond - 1) < 0.05 ? "" : "s");
    else if (isfinite(p->low))
        snprintf(out, size, "%s95 %% interval of p%g: %.*g to %.*g ms", comma,
            p->pct, sb_units_digits(p->low), p->low, sb_units_digits(p->high),
            p->high);
}

static void advise_samples(struct sb_check *c, double beyond)
{
    if (beyond * 1000 >= BEYOND_MIN)
        snprintf(c->advice, sizeof(c->advice),
            "measure %.0f times as long, or use a lower percentile",
            ceil(BEYOND_MIN / beyond));
    else
        snprintf(c->advice, sizeof(c->advice), "use a lower percentile");
}

// Percentiles without enough events beyond them are named first.
static void check_samples(
    struct sb__app_validity *v, const struct sb_report *whole)
{
    struct sb_validity *r = &v->result;
    struct sb_check *c = sb_validity_make(r, SB_CHECK_SAMPLES, SB_VALIDITY_OK);

    if (v->tails.n == 0 || whole->latency->total == 0) {
        c->state = SB_VALIDITY_NOT_APPLICABLE;
        snprintf(c->meaning, sizeof(c->meaning), "%s",
            v->tails.n ? "no event was completed" : "no percentile is printed");
        return;
    }
    for (unsigned i = v->tails.n; i-- > 0;) {
        struct sb_percentile *p = &r->percentile[r->npercentiles++];
        struct sb_tail tail;

        sb_tails_estimate(
            &v->tails, i, whole->latency, whole->lat_max, 0.95, &tail);
        *p = (struct sb_percentile){ .pct = v->tails.pct[i],
            .value = tail.value / 1e6,
            .low = tail.low / 1e6,
            .high = tail.high / 1e6,
            .beyond = tail.beyond };
        describe_tail(c, p);
        if (tail.beyond < BEYOND_MIN && c->state == SB_VALIDITY_OK) {
            c->state = SB_VALIDITY_DOUBTFUL;
            advise_samples(c, tail.beyond);
        }
    }
    c->value = r->percentile[0].beyond;
    c->unit = "events";
    if (!c->meaning[0])
        snprintf(c->meaning, sizeof(c->meaning),
            "%.0f events took longer than p%g; there are too few intervals for "
            "a confidence interval",
            c->value, r->percentile[0].pct);
}

// Errors, misses, censored events ---------------------------------------------

// Users that completed nothing while the others were busy. In an open loop,
// other users may have taken all arrivals; with stages, some users
// exist only for a while.
static void find_idle_users(struct sb_check *c, const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    unsigned idle = 0;

    if (r->open_loop || r->nstages > 0 || r->total_s < IDLE_SECONDS_MIN ||
        !s->user_events ||
        (double)s->c.completed < IDLE_EVENTS_MIN * (double)s->users)
        return;
    for (unsigned i = 0; i < s->users; i++)
        idle += s->user_events[i] == 0;
    if (idle > 0)
        sb_check_find(c, SB_VALIDITY_DOUBTFUL,
            "find out what these users waited for",
            "%u of %u users completed no event", idle, s->users);
}

static void check_errors(struct sb__app_validity *v, const struct sb_report *r)
{
    const struct sb_counters *n = &r->snap->c;
    struct sb_check *c = sb_validity_make(
        &v->result, SB_CHECK_ERRORS, SB_VALIDITY_OK);
    double lost = (double)(n->restarts + sb_counters_failed(n));
    double tries = (double)n->tries / r->total_s;
    double events = (double)n->completed / r->total_s;

    c->unit = "%";
    c->value = n->tries ? 100 * lost / (double)n->tries : 0;
    c->state = sb_check_grade(c->value, ERRORS_DOUBTFUL, ERRORS_BAD);
    snprintf(c->meaning, sizeof(c->meaning),
        "%.3g %% of the attempts at an event failed or were repeated",
        c->value);
    if (c->state != SB_VALIDITY_OK) {
        snprintf(c->meaning, sizeof(c->meaning),
            "%.3g %% of the attempts at an event failed or were repeated: the "
            "server carried out %.*g per second for %.*g events per second",
            c->value, sb_units_digits(tries), tries, sb_units_digits(events),
            events);
        snprintf(c->advice, sizeof(c->advice),
            "see --report-errors; fewer users, or keys that are spread more, "
            "conflict less");
    }
    find_idle_users(c, r);
}

static void check_misses(struct sb__app_validity *v, const struct sb_report *r)
{
    struct sb_check *c = sb_validity_make(
        &v->result, SB_CHECK_MISSES, SB_VALIDITY_OK);
    const struct sb_snap_op *worst = NULL;
    unsigned number = 0;
    double looked = 0;

    c->unit = "%";
    for (unsigned i = 0; r->snap->op && i < r->snap->nops; i++) {
        const struct sb_snap_op *op = &r->snap->op[i];
        double share = 100 * (double)op->misses /
                       (double)(op->hits + op->misses);

        looked += (double)(op->hits + op->misses);
        if (op->misses < MISSES_MIN || (worst && share <= c->value))
            continue;
        worst = op;
        number = i;
        c->value = share;
    }
    if (looked <= 0) {
        c->state = SB_VALIDITY_NOT_APPLICABLE;
        snprintf(c->meaning, sizeof(c->meaning), "no statement looks for rows");
    } else if (!worst) {
        c->value = 0;
        snprintf(c->meaning, sizeof(c->meaning),
            "the statements found what they looked for");
    } else {
        c->state = sb_check_grade(c->value, MISSES_DOUBTFUL, MISSES_BAD);
        c->told = true; // by sb_text_found()
        snprintf(c->meaning, sizeof(c->meaning), "%.3g %% of %s found nothing",
            c->value, r->stats->op[number].name);
        if (c->state != SB_VALIDITY_OK)
            snprintf(c->advice, sizeof(c->advice),
                "give prepare and run the same --tables and --table-size");
    }
}

// Events that did not end within their limits have no latency, but would be
// among the slowest.
static void check_censored(
    struct sb__app_validity *v, const struct sb_report *r)
{
    const struct sb_counters *n = &r->snap->c;
    struct sb_check *c = sb_validity_make(
        &v->result, SB_CHECK_CENSORED, SB_VALIDITY_OK);
    double cut = (double)(n->failed + r->snap->unfinished) + (double)r->queue;
    double all = cut + (double)n->completed;

    c->unit = "%";
    c->value = all > 0 ? 100 * cut / all : 0;
    if (cut <= 0) {
        snprintf(c->meaning, sizeof(c->meaning),
            "all events that were started were completed");
        return;
    }
    snprintf(c->meaning, sizeof(c->meaning),
        "%.0f event%s given up, cut short or still waiting at the end, and "
        "may be the slowest: percentiles above p%.5g are lower bounds",
        cut, cut == 1 ? " was" : "s were", 100 - c->value);
    for (unsigned i = 0; i < v->result.npercentiles; i++) {
        struct sb_percentile *p = &v->result.percentile[i];

        p->is_bound = p->pct > 100 - c->value;
        if (p->is_bound)
            c->state = SB_VALIDITY_DOUBTFUL;
    }
    if (c->state != SB_VALIDITY_OK)
        snprintf(c->advice, sizeof(c->advice),
            "see --report-errors; use longer timeouts, or a lower percentile");
}

// Machine ---------------------------------------------------------------------

// who: "client"; advice: what to do.
static void find_throttled(struct sb_check *c, const char *who,
    const struct sb_throttled *from, const struct sb_throttled *to,
    const char *advice)
{
    double share = sb_check_percent((double)(to->throttled - from->throttled),
        (double)(to->periods - from->periods));

    if (to->periods > from->periods && share >= THROTTLED_DOUBTFUL)
        sb_check_find(c,
            sb_check_grade(share, THROTTLED_DOUBTFUL, THROTTLED_BAD), advice,
            "the control group's limit of processors stopped the %s in %.3g %% "
            "of its periods",
            who, share);
}

// The figures of a server with a limit are right for a server with that limit.
static void find_throttled_server(
    struct sb_check *c, const struct sb__app_validity *v)
{
    struct sb_throttled end;

    sb_host_throttled(&end, v->server);
    find_throttled(c, "server", &v->server_begin, &end,
        "raise the limit of the server's control group, unless the limit is "
        "what you measure");
}

static void find_stolen_time(struct sb_check *c,
    const struct sb_host_state *from, const struct sb_host_state *to)
{
    double stolen = (double)(to->cpu.stolen - from->cpu.stolen);
    double all = (double)(to->cpu.busy - from->cpu.busy) +
                 (double)(to->cpu.idle - from->cpu.idle) + stolen;
    double steal = sb_check_percent(stolen, all);

    find_throttled(c, "client", &from->groups, &to->groups,
        "raise the limit of the control group, or use fewer threads");
    if (steal >= STEAL_DOUBTFUL)
        sb_check_find(c, sb_check_grade(steal, STEAL_DOUBTFUL, STEAL_BAD),
            "use a machine that others do not share",
            "the hypervisor gave %.3g %% of the machine's processor time to "
            "others (steal)",
            steal);
    if (to->hot > from->hot)
        sb_check_find(c, SB_VALIDITY_DOUBTFUL,
            "cool the machine, or limit its clock",
            "processors slowed down %" PRIu64 " times because of their "
            "temperature",
            to->hot - from->hot);
}

static void find_slow_settings(struct sb_check *c,
    const struct sb_host_state *from, const struct sb_host_state *to)
{
    static const char *const slow[] = { "acpi_pm", "hpet", "jiffies", "pit",
        "refined-jiffies", NULL };
    int64_t step = to->clock_ns - from->clock_ns;
    double swapped = (double)(to->swapped - from->swapped);

    for (int i = 0; slow[i]; i++) {
        if (strcmp(slow[i], to->clock) == 0)
            sb_check_find(c, SB_VALIDITY_DOUBTFUL, "use the clock source tsc",
                "the clock source %s takes microseconds to read", to->clock);
    }
    // Drivers that set the frequency themselves call this "powersave", too.
    if (strcmp(to->governor, "powersave") == 0 &&
        strncmp(to->frequency_driver, "intel_pstate", 12) != 0 &&
        strncmp(to->frequency_driver, "amd-pstate", 10) != 0)
        sb_check_find(c, SB_VALIDITY_DOUBTFUL, "use the governor performance",
            "the governor powersave keeps processors at their lowest "
            "frequency");
    if (llabs(step) > CLOCK_STEP_NS)
        sb_check_find(c, SB_VALIDITY_DOUBTFUL,
            "wait until the clock is synchronized",
            "the time of day was set by %.*g s",
            sb_units_digits((double)step / 1e9), (double)step / 1e9);
    if (swapped >= SWAPPED_MIN_BYTES)
        sb_check_find(c, SB_VALIDITY_DOUBTFUL, "use less memory",
            "the machine swapped %.*g MB", sb_units_digits(swapped / 1e6),
            swapped / 1e6);
}

// What other processes of this machine used; a server on it is not known from
// them.
static void find_others(
    struct sb__listening *t, struct sb_check *c, const struct sb_host_state *to)
{
    const struct sb__app_validity *v = t->validity;
    const struct sb_host_state *from = &v->begin;
    double busy = (double)(to->cpu.busy - from->cpu.busy) *
                  (double)sb_procstat_tick_ns();
    double all = busy + (double)(to->cpu.idle - from->cpu.idle) *
                            (double)sb_procstat_tick_ns();
    double others = sb_check_percent(
        busy - (double)(own_cpu_ns() - v->cpu_ns), all);
    double resent = sb_check_percent((double)(to->resent - from->resent),
        (double)(to->segments - from->segments));

    // Other ranks and the command of --beside belong to the run.
    if (t->client.seen.peers == SB_PEERS_LOCAL || t->a->run.job || t->beside)
        return;
    if (others >= OTHERS_DOUBTFUL)
        sb_check_find(c, SB_VALIDITY_DOUBTFUL,
            "stop other programs and containers on the client's machine",
            "other processes used %.3g %% of the machine's processor time",
            others);
    if (t->client.seen.peers == SB_PEERS_REMOTE &&
        to->resent - from->resent >= RESENT_MIN && resent >= RESENT_DOUBTFUL)
        sb_check_find(c, SB_VALIDITY_DOUBTFUL,
            "find out where packets are lost",
            "%.3g %% of the TCP segments of this machine were retransmitted",
            resent);
}

static void check_machine(struct sb__listening *t)
{
    struct sb__app_validity *v = t->validity;
    struct sb_check *c = sb_validity_make(
        &v->result, SB_CHECK_MACHINE, SB_VALIDITY_OK);
    struct sb_host_state end;

    sb_host_look(&end);
    if (end.cpu.processors == 0) {
        c->state = SB_VALIDITY_UNKNOWN;
        snprintf(c->meaning, sizeof(c->meaning),
            "the system does not show what its processors do");
        return;
    }
    find_stolen_time(c, &v->begin, &end);
    find_throttled_server(c, v);
    find_slow_settings(c, &v->begin, &end);
    find_others(t, c, &end);
    if (!c->meaning[0])
        snprintf(c->meaning, sizeof(c->meaning),
            "nothing on the client's machine slowed it down");
}

// Network ---------------------------------------------------------------------

// How much of the median time of an event its round trips take at least.
static double network_share(
    const struct sb_round_trips *n, const struct sb_report *r)
{
    const struct sb_counters *c = &r->snap->c;
    double queries = (double)(c->reads + c->writes + c->others);
    double median = sb_hist_snap_percentile(
        &r->snap->service, 50, r->snap->service_max);
    double share = sb_check_percent(
        n->min * queries / (double)c->completed, median);

    return fmin(share, 100);
}

static void check_network(struct sb__listening *t, const struct sb_report *r)
{
    const struct sb_round_trips *n = &t->server.first.trips;
    struct sb_check *c = sb_validity_make(
        &t->validity->result, SB_CHECK_NETWORK, SB_VALIDITY_NOT_APPLICABLE);

    if (!sb_drivers_used_server(t->a->drivers)) {
        snprintf(c->meaning, sizeof(c->meaning), "no server was used");
        return;
    }
    if (n->n == 0 || r->snap->c.completed == 0) {
        c->state = SB_VALIDITY_UNKNOWN;
        snprintf(c->meaning, sizeof(c->meaning), "%s",
            n->n ? "no event was completed" : n->why);
        return;
    }
    if (sb_drivers_piped(t->a->drivers)) {
        sb_check_find(c, SB_VALIDITY_UNKNOWN, "",
            "a round trip without load took at least %.3g ms; how many an "
            "event needs is unknown, because statements were sent together",
            n->min / 1e6);
        return;
    }
    c->value = network_share(n, r);
    c->unit = "%";
    c->state = c->value >= NETWORK_DOUBTFUL && n->min >= NETWORK_MIN_NS
                   ? SB_VALIDITY_DOUBTFUL
                   : SB_VALIDITY_OK;
    snprintf(c->meaning, sizeof(c->meaning),
        "a round trip without load took at least %.3g ms, and 90 %% took at "
        "most %.3g ms; round trips are %.3g %% of the median time of an event",
        n->min / 1e6, n->p90 / 1e6, c->value);
    if (c->state != SB_VALIDITY_OK)
        snprintf(c->advice, sizeof(c->advice),
            "the figures are mostly those of the network: run the client "
            "nearer "
            "to the server, unless users have the same network");
}

// Client ----------------------------------------------------------------------

static void check_client(struct sb__listening *t)
{
    struct sb_validity *v = &t->validity->result;
    struct sb_check *c = sb_validity_make(v, SB_CHECK_CLIENT, SB_VALIDITY_OK);

    if (!sb_drivers_used_server(t->a->drivers)) {
        c->state = SB_VALIDITY_NOT_APPLICABLE;
        snprintf(c->meaning, sizeof(c->meaning), "no server was used");
    } else if (!t->client.judged) {
        c->state = SB_VALIDITY_UNKNOWN;
        snprintf(c->meaning, sizeof(c->meaning),
            "the run was too short to tell how busy the client was");
    } else if (t->client.why[0]) {
        c->state = SB_VALIDITY_BAD;
        c->told = true;
        snprintf(c->meaning, sizeof(c->meaning),
            "the client was the bottleneck, not the server: %s", t->client.why);
        snprintf(c->advice, sizeof(c->advice),
            "run the client on a machine of its own, or on several (--mpi)");
    } else {
        snprintf(c->meaning, sizeof(c->meaning),
            "the client was not the bottleneck");
    }
}

// Judging ---------------------------------------------------------------------

static void judge(struct sb__listening *t, const struct sb_report *final)
{
    struct sb__app_validity *v = t->validity;
    struct sb_report whole;

    if (!v || final->warmup)
        return;
    if (t->a->until.n > 0)
        t->a->facts.until = &t->a->until;
    if (!sb__app_validity_wanted(t->a))
        return;
    sb_reporters_whole(&whole, final);
    check_steady(t);
    sb__app_check_servers(t, &whole, &t->server.first, &v->result);
    sb__app_check_plans(t, &v->result);
    check_machine(t);
    check_network(t, &whole);
    check_client(t);
    check_samples(v, &whole);
    check_censored(v, &whole);
    sb__app_check_skew(t, &whole, &v->result);
    check_misses(v, &whole);
    check_errors(v, &whole);
    t->a->facts.validity = &v->result;
    t->a->text.censored = sb_validity_censored(&v->result);
}

static void print_validity(struct sb__listening *t, const struct sb_report *r)
{
    const struct sb_validity *v = t->a->facts.validity;
    char line[1000];

    if (t->a->facts.until && !sb__app_quiet(t->a))
        sb_until_print(t->a->facts.until, r->total_s, stdout);
    if (!v)
        return;
    if (t->a->text_opts.report_validity == SB_TEXT_VALIDITY_ON &&
        !sb__app_quiet(t->a))
        sb_validity_text(v, stdout);
    // The table of a sweep says it once for all of its runs.
    else if (t->a->setup.round == 0 && sb_validity_line(v, line, sizeof(line)))
        sb_log(SB_LOG_WARNING, "validity: %s", line);
}

void sb__app_validity_done(struct sb__listening *t)
{
    struct sb__app_validity *v = t->validity;

    // A user that did not return may still draw.
    if (!t->a->leave) {
        sb_draws_free(t->a->random.draws);
        t->a->random.draws = NULL;
    }
    if (!v)
        return;
    sb_tails_done(&v->tails);
    sb_tails_done(&v->goals);
    free(v->series.events);
    free(v->series.seconds);
    free(v->series.rate);
    free(v->series.latency);
    free(v);
    t->validity = NULL;
    t->a->facts.validity = NULL;
    t->a->facts.until = NULL;
}

const struct sb__app_listener sb__app_validity_listener = {
    .connecting = make_validity,
    .started = start_validity,
    .interval = add_interval,
    .complete = judge,
    .after = print_validity,
};
