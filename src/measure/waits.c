// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/waits.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/student.h"
#include "measure/mean.h"

#define BATCHES 256 // at most; then two become one
#define PENDING 32
#define TEXT    96 // room for one

// Sums of one kind over batches of samples, all of the same number.
struct kind {
    char text[3][TEXT]; // class, event, operation
    double total;
    double interval;
    float batch[BATCHES + 1]; // the last one is incomplete
};

// Sessions of a sample, by kind.
struct sample {
    uint64_t at;
    unsigned count[SB_WAITS_KINDS];
};

struct sb_waits {
    struct kind *kind[SB_WAITS_KINDS];
    unsigned nkinds;
    struct sample now;
    // The last samples, which may turn out to be later than the measured part.
    struct sample pending[PENDING];
    unsigned first, npending;
    uint64_t samples, since, until; // that count; times of first and last
    uint64_t interval;              // number of samples
    unsigned nbatches;              // that are complete
    uint64_t batch_size, in_batch;  // samples
};

struct sb_waits *sb_waits_new(void)
{
    struct sb_waits *w = calloc(1, sizeof(*w));

    if (w)
        w->batch_size = 1;
    return w;
}

void sb_waits_free(struct sb_waits *w)
{
    for (unsigned i = 0; w && i < w->nkinds; i++)
        free(w->kind[i]);
    free(w);
}

// Samples ---------------------------------------------------------------------

static bool is_kind(const struct kind *k, const char *const text[3])
{
    for (int i = 0; i < 3; i++) {
        if (strncmp(k->text[i], text[i], TEXT - 1) != 0)
            return false;
    }
    return true;
}

// Returns the number of the kind; SB_WAITS_KINDS: there is no room.
static unsigned kind_of(struct sb_waits *w, const char *wait_class,
    const char *event, const char *operation, unsigned most)
{
    const char *const text[3] = { wait_class, event, operation };
    struct kind *k;

    for (unsigned i = 0; i < w->nkinds; i++) {
        if (is_kind(w->kind[i], text))
            return i;
    }
    k = w->nkinds < most ? calloc(1, sizeof(*k)) : NULL;
    if (!k)
        return SB_WAITS_KINDS;
    for (int i = 0; i < 3; i++)
        memcpy(k->text[i], text[i], strnlen(text[i], TEXT - 1));
    w->kind[w->nkinds] = k;
    return w->nkinds++;
}

// The last quarter of the room is for the rest of classes.
void sb_waits_seen(struct sb_waits *w, const char *wait_class,
    const char *event, const char *operation)
{
    unsigned i = kind_of(
        w, wait_class, event, operation, SB_WAITS_KINDS / 4 * 3);

    if (i == SB_WAITS_KINDS)
        i = kind_of(
            w, wait_class, SB_WAITS_REST, SB_WAITS_REST, SB_WAITS_KINDS - 1);
    if (i == SB_WAITS_KINDS)
        i = kind_of(
            w, SB_WAITS_REST, SB_WAITS_REST, SB_WAITS_REST, SB_WAITS_KINDS);
    if (i < SB_WAITS_KINDS)
        w->now.count[i]++;
}

static void join_batches(struct sb_waits *w)
{
    for (unsigned k = 0; k < w->nkinds; k++) {
        float *b = w->kind[k]->batch;

        for (unsigned i = 0; i < BATCHES / 2; i++)
            b[i] = b[2 * i] + b[2 * i + 1];
        memset(b + BATCHES / 2, 0, (BATCHES / 2 + 1) * sizeof(*b));
    }
    w->nbatches = BATCHES / 2;
    w->batch_size *= 2;
}

static void count(struct sb_waits *w, const struct sample *s)
{
    for (unsigned i = 0; i < w->nkinds; i++) {
        w->kind[i]->total += s->count[i];
        w->kind[i]->batch[w->nbatches] += (float)s->count[i];
    }
    if (w->samples++ == 0)
        w->since = s->at;
    w->until = s->at;
    if (++w->in_batch < w->batch_size)
        return;
    w->in_batch = 0;
    if (++w->nbatches == BATCHES)
        join_batches(w);
}

static void count_first(struct sb_waits *w)
{
    assert(w->npending > 0);
    count(w, &w->pending[w->first]);
    w->first = (w->first + 1) % PENDING;
    w->npending--;
}

void sb_waits_drop(struct sb_waits *w)
{
    memset(&w->now, 0, sizeof(w->now));
}

void sb_waits_end(struct sb_waits *w, uint64_t at)
{
    w->now.at = at;
    for (unsigned i = 0; i < w->nkinds; i++)
        w->kind[i]->interval += w->now.count[i];
    w->interval++;
    if (w->npending == PENDING)
        count_first(w);
    w->pending[(w->first + w->npending++) % PENDING] = w->now;
    sb_waits_drop(w);
}

void sb_waits_restart(struct sb_waits *w, uint64_t at)
{
    while (w->npending > 0 && w->pending[w->first].at < at) {
        w->first = (w->first + 1) % PENDING;
        w->npending--;
    }
    for (unsigned i = 0; i < w->nkinds; i++) {
        w->kind[i]->total = 0;
        memset(w->kind[i]->batch, 0, sizeof(w->kind[i]->batch));
    }
    w->samples = w->in_batch = 0;
    w->nbatches = 0;
    w->batch_size = 1;
}

void sb_waits_finish(struct sb_waits *w, uint64_t at)
{
    while (w->npending > 0 && w->pending[w->first].at <= at)
        count_first(w);
    w->npending = 0;
}

void sb_waits_interval(struct sb_waits *w,
    void (*visit)(void *arg, const char *wait_class, double sessions),
    void *arg)
{
    for (unsigned i = 0; w->interval > 0 && i < w->nkinds; i++) {
        const char *name = w->kind[i]->text[0];
        double sum = 0;
        bool first = true;

        for (unsigned k = 0; k < w->nkinds; k++) {
            if (strcmp(w->kind[k]->text[0], name) != 0)
                continue;
            first = first && k >= i;
            sum += w->kind[k]->interval;
        }
        if (first)
            visit(arg, name, sum / (double)w->interval);
    }
    for (unsigned i = 0; i < w->nkinds; i++)
        w->kind[i]->interval = 0;
    w->interval = 0;
}

// Figures ---------------------------------------------------------------------

static bool agrees(const char *wanted, const char *text)
{
    return !wanted || strcmp(wanted, text) == 0;
}

static bool belongs(const struct kind *k, const struct sb_waits_row *r)
{
    return agrees(r->wait_class, k->text[0]) && agrees(r->event, k->text[1]) &&
           agrees(r->operation, k->text[2]);
}

// Half of the 95 % confidence interval of the mean.
static double within(const double *value, unsigned n)
{
    const struct sb_values v = { .value = value, .n = n, .whole = NAN };
    struct sb_mean m;

    sb_mean(&v, &m);
    return isfinite(m.error) && m.df > 0 ? sb_student_t(0.05, m.df) * m.error
                                         : NAN;
}

// Sessions of the row in each batch, per sample.
static double add_up(
    const struct sb_waits *w, const struct sb_waits_row *r, double *batch)
{
    double total = 0;

    memset(batch, 0, BATCHES * sizeof(*batch));
    for (unsigned i = 0; i < w->nkinds; i++) {
        const struct kind *k = w->kind[i];

        if (!belongs(k, r))
            continue;
        total += k->total;
        for (unsigned b = 0; b < w->nbatches; b++)
            batch[b] += (double)k->batch[b] / (double)w->batch_size;
    }
    return total / (double)w->samples;
}

// all: sessions of all kinds by batch. The error of a share is that of a ratio
// of two means: of what is left of the row if its share is taken away.
static void fill_row(const struct sb_waits *w, const struct sb_waits_row *sum,
    const double *all, struct sb_waits_row *r)
{
    double batch[BATCHES];

    r->sessions = add_up(w, r, batch);
    r->sessions_within = within(batch, w->nbatches);
    r->share = sum->sessions > 0 ? r->sessions / sum->sessions : 0;
    for (unsigned b = 0; b < w->nbatches; b++)
        batch[b] -= r->share * all[b];
    r->share_within = sum->sessions > 0
                          ? within(batch, w->nbatches) / sum->sessions
                          : NAN;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool has_row(const struct sb_waits_figures *f, unsigned from,
    const struct sb_waits_row *r)
{
    for (unsigned i = from; i < f->nrows; i++) {
        if (same(f->row[i].wait_class, r->wait_class) &&
            same(f->row[i].event, r->event) &&
            same(f->row[i].operation, r->operation))
            return true;
    }
    return false;
}

static int by_sessions(const void *a, const void *b)
{
    double x = ((const struct sb_waits_row *)a)->sessions;
    double y = ((const struct sb_waits_row *)b)->sessions;

    return (x < y) - (x > y);
}

// Adds the rows of all kinds, as far as they differ in these texts.
static void add_rows(const struct sb_waits *w, const double *all,
    struct sb_waits_figures *f, bool by_class, bool by_event, bool by_operation)
{
    unsigned from = f->nrows;

    for (unsigned i = 0; i < w->nkinds; i++) {
        const struct kind *k = w->kind[i];
        struct sb_waits_row r = { .wait_class = by_class ? k->text[0] : NULL,
            .event = by_event ? k->text[1] : NULL,
            .operation = by_operation ? k->text[2] : NULL };

        // From before the measured part.
        if (!(k->total > 0) || has_row(f, from, &r))
            continue;
        fill_row(w, &f->all, all, &r);
        f->row[f->nrows++] = r;
    }
    qsort(f->row + from, f->nrows - from, sizeof(*f->row), by_sessions);
}

bool sb_waits_figures(const struct sb_waits *w, struct sb_waits_figures *out)
{
    double all[BATCHES];

    assert(w->npending == 0);
    *out = (struct sb_waits_figures){ .samples = w->samples,
        .seconds = (double)(w->until - w->since) / 1e9 };
    if (w->samples == 0)
        return true;
    out->row = calloc(4 * SB_WAITS_KINDS, sizeof(*out->row));
    if (!out->row)
        return false;
    out->all.sessions = add_up(w, &out->all, all);
    out->all.sessions_within = within(all, w->nbatches);
    out->all.share = 1;
    add_rows(w, all, out, true, false, false);
    add_rows(w, all, out, true, true, false);
    add_rows(w, all, out, false, false, true);
    add_rows(w, all, out, true, false, true);
    return true;
}

void sb_waits_figures_done(struct sb_waits_figures *f)
{
    free(f->row);
    *f = (struct sb_waits_figures){ 0 };
}
