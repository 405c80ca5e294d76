// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether both sides of a comparison did the same work: an event whose
// statements fail or find nothing is fast, but says nothing about speed.
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "kit/units.h"
#include "results/compare_private.h"
#include "measure/shares.h"

// Rates differ if chance is an unlikely reason, and if they are also this many
// percentage points apart and the greater one is that many times the smaller
// one; or if they are so far apart that only on one side most events are
// affected, however few there are.
#define CHANCE       0.001
#define POINTS_MIN   0.1
#define TIMES_MIN    1.2
#define POINTS_MOST  50.0
#define PERCENT_MOST 50.0

// How much rates vary is seen from the runs of a side if there are so many,
// otherwise from stretches of its runs, which are longer than the disturbances
// that one interval after the other shares.
#define RUNS_MIN  3u
#define STRETCHES 10u

// What happened ---------------------------------------------------------------

static double errors(const struct sb_counters *c)
{
    // Restarted errors are counted as restarts.
    return (double)c->err_ignored + (double)c->err_givenup +
           (double)c->err_fatal;
}

static struct sb_share lookups(const struct sb_result_run *r)
{
    struct sb_share s = { 0, 0 };

    for (unsigned i = 0; i < r->snap.nops; i++) {
        const struct sb_snap_op *op = &r->snap.op[i];

        s.n += (double)op->misses;
        s.of += (double)op->hits + (double)op->misses;
    }
    return s;
}

static struct sb_share in_run(const struct sb_result_run *r, unsigned work)
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
    return (struct sb_share){ n, (double)c->completed + failed };
}

// Failures in the last stretch of events that only the end of the run cut
// short: intervals count them, the totals of in_run() do not. Those behind the
// last interval are in neither.
static double cut_short(const struct sb_result_run *r, double in_intervals)
{
    uint64_t failed = sb_counters_failed(&r->snap.c);
    double more = in_intervals - (double)failed;

    return more > 0 ? fmin(more, (double)(r->snap.c.failed - failed)) : 0;
}

static void without_cut_short(
    const struct sb_result_run *r, unsigned work, struct sb_share *part)
{
    struct sb_share *last = &part[STRETCHES - 1];
    unsigned failed = sb_result_column(r, "run", "", "failed");
    unsigned time = sb_result_column(r, "run", "", "time");
    double sum = 0;

    for (size_t i = 0; i < r->intervals->nrows; i++)
        if (sb_result_value(r, i, time) > 0)
            sum += sb_result_value(r, i, failed);
    double cut = cut_short(r, sum);

    last->of -= cut;
    if (work == SB__WORK_FAILED)
        last->n -= cut;
}

// Adds the stretches of a run. Returns their number.
static size_t add_stretches(
    const struct sb_result_run *r, unsigned work, struct sb_share *part)
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

    for (size_t i = 0; i < r->intervals->nrows; i++) {
        struct sb_share *p = &part[i * STRETCHES / r->intervals->nrows];

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
static struct sb_share_side side_share(
    const struct sb_side *s, unsigned work, bool by_run, struct sb_share *part)
{
    struct sb_share_side share = { .part = part };

    for (unsigned i = 0; i < s->nruns; i++) {
        struct sb_share run = in_run(s->run[i], work);

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

static double percent(const struct sb_share *s)
{
    return s->of > 0 ? 100 * s->n / s->of : NAN;
}

static bool differ(unsigned work, const struct sb__work *w, double p)
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
    struct sb_share *a = calloc((size_t)c->a.nruns * STRETCHES, sizeof(*a));
    struct sb_share *b = calloc((size_t)c->b.nruns * STRETCHES, sizeof(*b));

    if (a && b) {
        struct sb_share_side side[] = { side_share(&c->a, work, by_run, a),
            side_share(&c->b, work, by_run, b) };

        w->a = percent(&side[0].total);
        w->b = percent(&side[1].total);
        w->differs = differ(work, w, p_of(work, &side[0], &side[1]));
        // A restarted event has done its work in the end.
        c->other_work |= w->differs && work != SB__WORK_RESTARTS;
    }
    int rc = a && b ? 0 : SB_ENOMEM;

    free(a);
    free(b);
    return rc;
}

int sb__compare_work(struct sb__comparison *c)
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

void sb__compare_work_note(const struct sb__comparison *c, FILE *out)
{
    const char *before = "The sides did different work: ";

    if (!c->other_work)
        before = "The sides differ in restarts: ";
    for (int i = 0; i < SB__WORKS; i++) {
        const struct sb__work *w = &c->work[i];
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
