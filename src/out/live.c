// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/live.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/snap_add.h"
#include "out/json_private.h"

// Between rows in the files.
#define BETWEEN     ",\n"
#define BETWEEN_LEN 2u

static void free_state(struct sb_live_state *s)
{
    if (!s)
        return;
    sb_snap_done(&s->sums);
    sb_series_done(&s->series);
    json_decref(s->facts);
    json_decref(s->limits);
    json_decref(s->end);
    json_decref(s->stages);
    free(s);
}

int sb_live_init(struct sb_live *l, const char *dir, struct sb_err *err)
{
    int rc;

    memset(l, 0, sizeof(*l));
    sb_buf_init(&l->line, 0);
    rc = sb_spool_open(&l->rows, dir, err);
    if (rc == 0)
        rc = sb_spool_open(&l->heat, dir, err);
    return rc ? rc : sb_spool_open(&l->index, dir, err);
}

void sb_live_done(struct sb_live *l)
{
    sb_spool_done(&l->rows);
    sb_spool_done(&l->heat);
    sb_spool_done(&l->index);
    sb_buf_done(&l->line);
    free_state(l->news);
    free_state(l->state);
    memset(l, 0, sizeof(*l));
}

// Exchange --------------------------------------------------------------------

// Returns news for the main thread to extend: those that the reader has not
// taken yet, or new ones.
static struct sb_live_state *take_news(struct sb_live *l, struct sb_err *err)
{
    struct sb_live_state *s = atomic_exchange(&l->news, NULL);

    if (!s)
        s = calloc(1, sizeof(*s));
    if (!s)
        sb_err_set(err, SB_ENOMEM, "out of memory");
    return s;
}

static void publish(struct sb_live *l, struct sb_live_state *s)
{
    s->nrows = l->nrows;
    s->missing = l->missing;
    atomic_store(&l->news, s);
}

// Takes what the news do not replace from the state before.
static int inherit(struct sb_live_state *s, struct sb_live_state *old)
{
    struct sb_snap sums = old->sums;
    json_t **const now[] = { &s->facts, &s->limits, &s->end, &s->stages };
    json_t **const before[] = { &old->facts, &old->limits, &old->end,
        &old->stages };

    for (int i = 0; i < 4; i++) {
        if (*now[i])
            continue;
        *now[i] = *before[i];
        *before[i] = NULL;
    }
    if (s->series.ncols == 0) {
        struct sb_series none = s->series;

        s->series = old->series;
        old->series = none;
    }
    if (!s->has_report) {
        s->names = old->names;
        s->report = old->report;
        s->has_report = old->has_report;
    }
    if (s->whole)
        return 0;
    old->sums = s->sums;
    s->sums = sums;
    s->whole = old->whole;
    // No interval follows the final report.
    if (s->whole)
        return 0;
    return sb_snap_add_interval(&s->sums, &old->sums);
}

const struct sb_live_state *sb_live_read(struct sb_live *l)
{
    struct sb_live_state *s = atomic_exchange(&l->news, NULL);
    int rc = 0;

    if (!s)
        return l->state;
    if (l->state)
        rc = inherit(s, l->state);
    free_state(l->state);
    l->state = s;
    if (rc) {
        free_state(s);
        l->state = NULL;
        return NULL;
    }
    struct sb_report r = s->report;
    sb_report_fill(&s->report, &s->sums, r.threads, r.open_loop, r.total_s);
    s->report.interval_s = r.total_s;
    s->report.running = r.running;
    s->report.queue = r.queue;
    s->report.concurrency = r.concurrency;
    s->report.start_ns = r.start_ns;
    s->report.warmup = r.warmup;
    s->report.stats = &s->names;
    return s;
}

// Rows ------------------------------------------------------------------------

// Writes a row behind the last one. What an earlier failure left there is
// overwritten.
static int add_row(struct sb_live *l, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err)
{
    struct sb_buf *b = &l->line;
    uint64_t end[2];
    size_t len;

    sb_buf_clear(b);
    sb_buf_adds(b, l->nrows ? BETWEEN : "");
    sb_series_json(b, row);
    len = b->len;
    sb_buf_adds(b, l->nrows ? BETWEEN : "");
    sb_series_heat(b, report->latency);
    if (b->failed)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    end[0] = l->rows_end + len;
    end[1] = l->heat_end + b->len - len;
    if (sb_spool_put(&l->rows, b->data, len, l->rows_end, err) ||
        sb_spool_put(&l->heat, b->data + len, b->len - len, l->heat_end, err) ||
        sb_spool_put(&l->index, (const char *)end, sizeof(end),
            l->nrows * sizeof(end), err))
        return err->code;
    l->rows_end = end[0];
    l->heat_end = end[1];
    l->nrows++;
    return 0;
}

// Reads the ends of row n - 1; 0 for n = 0.
static int read_ends(
    const struct sb_live *l, uint64_t n, uint64_t end[2], struct sb_err *err)
{
    const size_t size = 2 * sizeof(*end);

    end[0] = end[1] = 0;
    if (n == 0)
        return 0;
    if (pread(fileno(l->index.file), end, size, (off_t)((n - 1) * size)) ==
        (ssize_t)size)
        return 0;
    return sb_err_set(err, SB_ESYS, "cannot read the figures of intervals: %s",
        strerror(errno));
}

int sb_live_rows(const struct sb_live *l, uint64_t first, uint64_t end,
    struct sb_live_part *rows, struct sb_live_part *heat, struct sb_err *err)
{
    uint64_t a[2], b[2];
    int rc;

    assert(first <= end);
    rc = read_ends(l, first, a, err);
    if (rc == 0)
        rc = read_ends(l, end, b, err);
    if (rc)
        return rc;
    *rows = (struct sb_live_part){ fileno(l->rows.file), a[0], b[0] - a[0] };
    *heat = (struct sb_live_part){ fileno(l->heat.file), a[1], b[1] - a[1] };
    if (first > 0 && end > first) {
        rows->from += BETWEEN_LEN;
        rows->size -= BETWEEN_LEN;
        heat->from += BETWEEN_LEN;
        heat->size -= BETWEEN_LEN;
    }
    return 0;
}

// Main thread -----------------------------------------------------------------

static void copy_names(struct sb_stats *to, const struct sb_report *r)
{
    const struct sb_stats *from = r->stats;

    if (!from)
        return;
    for (unsigned i = 0; i < r->snap->nops; i++) {
        memcpy(to->op[i].name, from->op[i].name, sizeof(to->op[i].name));
        to->op[i].kind = from->op[i].kind;
    }
    for (unsigned i = 0; i < r->snap->nmetrics; i++) {
        struct sb_metric *m = &to->metrics.metric[i];
        const struct sb_metric *f = &from->metrics.metric[i];

        memcpy(m->name, f->name, sizeof(m->name));
        memcpy(m->unit, f->unit, sizeof(m->unit));
        memcpy(m->help, f->help, sizeof(m->help));
        m->kind = f->kind;
    }
}

// Takes from a report what sb_live_read() needs to compute another one.
static void copy_report(struct sb_live_state *s, const struct sb_report *r)
{
    s->report = (struct sb_report){
        .threads = r->threads,
        .running = r->running,
        .open_loop = r->open_loop,
        .total_s = r->total_s,
        .queue = r->queue,
        .concurrency = r->concurrency,
        .start_ns = r->start_ns,
        .warmup = r->warmup,
    };
    s->has_report = true;
    copy_names(&s->names, r);
}

int sb_live_interval(struct sb_live *l, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err)
{
    struct sb_err lost = { 0 };
    int rc = add_row(l, report, row, &lost);

    l->missing += rc != 0;
    struct sb_live_state *s = take_news(l, err);
    if (!s)
        return err->code;
    copy_report(s, report);
    rc = sb_series_copy(&s->series, row);
    if (rc == 0 && !report->warmup)
        rc = sb_snap_add_interval(&s->sums, report->snap);
    if (rc) {
        free_state(s);
        return sb_err_set(err, rc, "out of memory");
    }
    publish(l, s);
    if (lost.code)
        *err = lost;
    return lost.code;
}

static void replace(json_t **member, json_t *value)
{
    json_decref(*member);
    *member = value;
}

int sb_live_final(
    struct sb_live *l, const struct sb_report *whole, struct sb_err *err)
{
    static const struct sb_snap nothing;
    struct sb_live_state *s = take_news(l, err);
    int rc;

    if (!s)
        return err->code;
    copy_report(s, whole);
    sb_snap_done(&s->sums);
    memset(&s->sums, 0, sizeof(s->sums));
    s->whole = true;
    rc = sb_snap_sub(&s->sums, whole->snap, &nothing);
    replace(&s->stages, sb__json_stages(whole));
    if (rc || !s->stages) {
        free_state(s);
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    }
    publish(l, s);
    return 0;
}

int sb_live_facts(struct sb_live *l, json_t *facts, struct sb_err *err)
{
    struct sb_live_state *s = take_news(l, err);

    if (!s) {
        json_decref(facts);
        return err->code;
    }
    replace(&s->facts, facts);
    publish(l, s);
    return facts ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");
}

int sb_live_end(
    struct sb_live *l, json_t *limits, json_t *end, struct sb_err *err)
{
    struct sb_live_state *s = take_news(l, err);

    if (!s) {
        json_decref(limits);
        json_decref(end);
        return err->code;
    }
    replace(&s->limits, limits);
    replace(&s->end, end);
    publish(l, s);
    return end ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");
}
