// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/waits.h"

#include <math.h>
#include <string.h>

#include "measure/student.h"
#include "out/waits.h"
#include "results/cmd.h"

// Several classes are compared, and a run resembles itself more than the next
// one: only clear differences are named.
#define CLEAR 1.5
#define LEAST 0.02 // of the active sessions

#define CLASSES 64

// The share of a class of waits on one side.
struct share {
    const char *name;
    double sum, squares, errors; // over the runs: shares, half-widths squared
};

struct shares {
    struct share of[CLASSES];
    unsigned n, nruns; // runs with samples
    uint64_t samples;
};

static struct share *share_of(struct shares *s, const char *name)
{
    unsigned i = 0;

    while (i < s->n && strcmp(s->of[i].name, name) != 0)
        i++;
    if (i == s->n && i < CLASSES)
        s->of[s->n++] = (struct share){ .name = name };
    return i < CLASSES ? &s->of[i] : NULL;
}

// Of several servers, the first one counts.
static void add_run(struct shares *s, const struct sb_result_run *run)
{
    const json_t *list = json_object_get(run->json, "waits");
    struct sb_waits_figures f = { 0 };
    struct sb_waits_facts w;

    if (sb_waits_read(json_array_get(list, 0), &w, &f) && f.samples > 0) {
        s->nruns++;
        s->samples += f.samples;
        for (unsigned i = 0; i < f.nrows; i++) {
            const struct sb_waits_row *r = &f.row[i];
            bool by_class = r->wait_class && !r->event && !r->operation;
            struct share *share = by_class ? share_of(s, r->wait_class) : NULL;

            if (!share || !isfinite(r->share))
                continue;
            share->sum += r->share;
            share->squares += r->share * r->share;
            share->errors += r->share_within * r->share_within;
        }
    }
    sb_waits_figures_done(&f);
}

// Half of the confidence interval of a mean share: from the errors of the runs,
// and from their deviations if there are several. A class that was in no sample
// has a share of less than 3 / n with 95 % confidence.
static double within(const struct shares *s, const struct share *share)
{
    double n = s->nruns, own, between = 0;

    if (!(share->sum > 0))
        return 3 / (double)s->samples;
    own = sqrt(share->errors) / n;
    if (s->nruns > 1) {
        double mean = share->sum / n;
        double variance = (share->squares - n * mean * mean) / (n - 1);

        between = sb_student_t(0.05, n - 1) * sqrt(fmax(variance, 0) / n);
    }
    return between > own ? between : own; // NaN: unknown
}

static bool differ(const struct shares *a, const struct share *of_a,
    const struct shares *b, const struct share *of_b)
{
    double difference = fabs(of_a->sum / a->nruns - of_b->sum / b->nruns);
    double error = hypot(within(a, of_a), within(b, of_b));

    return difference >= LEAST && difference > CLEAR * error;
}

void sb__compare_waits(
    const struct sb_side *a, const struct sb_side *b, FILE *out)
{
    struct shares of_a = { .n = 0 }, of_b = { .n = 0 };
    const char *before =
        "Waits that differ, in shares of the active sessions: ";
    bool any = false;

    for (unsigned i = 0; i < a->nruns; i++)
        add_run(&of_a, a->run[i]);
    for (unsigned i = 0; i < b->nruns; i++)
        add_run(&of_b, b->run[i]);
    if (of_a.nruns == 0 || of_b.nruns == 0)
        return;
    for (unsigned i = 0; i < of_b.n; i++) // classes that only b has
        share_of(&of_a, of_b.of[i].name);
    for (unsigned i = 0; i < of_a.n; i++) {
        const struct share *x = &of_a.of[i], *y = share_of(&of_b, x->name);

        if (!y || !differ(&of_a, x, &of_b, y))
            continue;
        fputs(before, out);
        sb__cmd_print_line(out, x->name);
        fprintf(out, " %.1f %% / %.1f %%", 100 * x->sum / of_a.nruns,
            100 * y->sum / of_b.nruns);
        before = ", ";
        any = true;
    }
    fputs(any ? ".\n" : "", out);
}
