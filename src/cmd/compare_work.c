// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether both sides of a comparison did the same work: an event whose
// statements fail or find nothing is fast, but says nothing about speed.
#include <math.h>

#include "base/units.h"
#include "cmd/compare_private.h"

// Rates differ if they are this many percentage points apart, the greater one
// is that many times the smaller one, and there were that many occurrences or
// most events are affected.
#define POINTS_MIN  0.1
#define TIMES_MIN   1.2
#define COUNT_MIN   10.0
#define POINTS_MOST 50.0

struct sums {
    double events, errors, failed, restarts, looked, misses;
};

static void add_run(struct sums *s, const struct sb_result_run *r)
{
    const struct sb_counters *c = &r->snap.c;

    s->events += (double)c->completed + (double)sb_counters_failed(c);
    // Restarted errors are counted as restarts.
    s->errors += (double)c->err_ignored + (double)c->err_givenup +
                 (double)c->err_fatal;
    s->failed += (double)sb_counters_failed(c);
    s->restarts += (double)c->restarts;
    for (unsigned i = 0; i < r->snap.nops; i++) {
        const struct sb_snap_op *op = &r->snap.op[i];

        s->looked += (double)op->hits + (double)op->misses;
        s->misses += (double)op->misses;
    }
}

static double percent(double n, double of)
{
    return of > 0 ? 100 * n / of : NAN;
}

static void set(struct sb__work *w, const char *name, const char *of,
    const double n[2], const double all[2])
{
    double high, low;

    *w = (struct sb__work){ .name = name,
        .of = of,
        .a = percent(n[0], all[0]),
        .b = percent(n[1], all[1]) };
    // Without lookups there is nothing to compare.
    if (isnan(w->a) || isnan(w->b))
        return;
    high = fmax(w->a, w->b);
    low = fmin(w->a, w->b);
    w->differs = high - low >= POINTS_MIN && high >= TIMES_MIN * low &&
                 ((w->a > w->b ? n[0] : n[1]) >= COUNT_MIN ||
                     high - low >= POINTS_MOST);
}

void sb__compare_work(struct sb__comparison *c)
{
    struct sums s[2] = { 0 };

    for (unsigned i = 0; i < c->a.nruns; i++)
        add_run(&s[0], c->a.run[i]);
    for (unsigned i = 0; i < c->b.nruns; i++)
        add_run(&s[1], c->b.run[i]);
    const double events[] = { s[0].events, s[1].events };
    const double looked[] = { s[0].looked, s[1].looked };

    set(&c->work[SB__WORK_ERRORS], "errors", "events",
        (const double[]){ s[0].errors, s[1].errors }, events);
    set(&c->work[SB__WORK_FAILED], "failed events", "events",
        (const double[]){ s[0].failed, s[1].failed }, events);
    set(&c->work[SB__WORK_RESTARTS], "restarts", "events",
        (const double[]){ s[0].restarts, s[1].restarts }, events);
    set(&c->work[SB__WORK_MISSES], "found nothing", "lookups",
        (const double[]){ s[0].misses, s[1].misses }, looked);
    // A restarted event has done its work in the end.
    for (int i = 0; i < SB__WORKS; i++)
        c->other_work |= c->work[i].differs && i != SB__WORK_RESTARTS;
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
