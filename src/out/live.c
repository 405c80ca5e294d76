// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/live.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/snap.h"
#include "out/json_parts.h"
#include "out/json_value.h"

// Writing ---------------------------------------------------------------------

struct writer {
    struct sb_live_text *t;
    uint64_t rows; // their number
};

// Notes where rows belong, and ends their last line.
static void insert(const struct writer *w, int which, FILE *out)
{
    fflush(out);
    w->t->insert[which].at = w->t->len;
    if (w->rows)
        fputc('\n', out);
}

static int insert_rows(void *arg, FILE *out, struct sb_err *err)
{
    (void)err;
    insert(arg, 0, out);
    return 0;
}

static int insert_heat(void *arg, FILE *out, struct sb_err *err)
{
    (void)err;
    insert(arg, 1, out);
    return 0;
}

static FILE *open_text(struct sb_live_text *t, struct sb_err *err)
{
    FILE *out = open_memstream(&t->text, &t->len);

    if (!out)
        sb_err_no_memory(err);
    return out;
}

static int close_text(struct sb_live_text *t, FILE *out, struct sb_err *err)
{
    bool failed = ferror(out) != 0;

    if (fclose(out) || failed)
        return sb_err_no_memory(err);
    // For sb_live_text_read().
    assert(t->insert[0].at <= t->insert[1].at && t->insert[1].at <= t->len);
    t->size = t->len + t->insert[0].part.size + t->insert[1].part.size;
    return 0;
}

int sb_live_result(struct sb_live_text *t, const struct sb_live *l,
    const struct sb_live_state *s, json_t *program, struct sb_err *err)
{
    struct writer w = { t, s->nrows };
    int rc;

    memset(t, 0, sizeof(*t));
    rc = sb_live_rows(
        l, 0, s->nrows, &t->insert[0].part, &t->insert[1].part, err);
    FILE *out = rc ? NULL : open_text(t, err);
    if (!out)
        return err->code;
    struct sb_document_run run = {
        .facts = s->facts,
        .columns = sb_json_columns(&s->series),
        .missing = s->missing,
        .totals = s->has_report ? sb_json_totals(&s->report) : NULL,
        .limits = s->limits,
        .validity = s->validity,
        .answers = s->answers,
        .end = s->end ? s->end : json_null(),
        .rows = insert_rows,
        .heat = insert_heat,
        .arg = &w,
    };
    if (run.totals && s->stages)
        json_object_set(run.totals, "stages", s->stages);
    sb_document_begin(out, program);
    rc = sb_document_run(out, &run, true, err);
    sb_document_end(out);
    if (s->has_report && !run.totals)
        rc = sb_err_no_memory(err);
    json_decref(run.columns);
    json_decref(run.totals);
    int failed = close_text(t, out, err);
    return rc ? rc : failed;
}

static void write_member(FILE *out, const char *name, json_t *value)
{
    if (!value)
        return;
    fprintf(out, ",\"%s\":", name);
    json_dumpf(value, out, SB_JSON_FLAGS);
}

static void write_members(FILE *out, json_t *totals)
{
    const char *name;
    json_t *value;

    json_object_foreach(totals, name, value)
    {
        write_member(out, name, value);
    }
}

// Returns the row before which the answer ends.
static uint64_t last_row(
    const struct sb_live *l, uint64_t from, uint64_t n, struct sb_err *err)
{
    struct sb_live_part rows, heat;

    while (n > from + 1 && sb_live_rows(l, from, n, &rows, &heat, err) == 0 &&
           rows.size > SB_LIVE_ROWS_MAX)
        n = from + (n - from) / 2;
    return n;
}

int sb_live_intervals(struct sb_live_text *t, const struct sb_live *l,
    const struct sb_live_state *s, uint64_t from, struct sb_err *err)
{
    uint64_t first = from < s->nrows ? from : s->nrows;
    uint64_t end = last_row(l, first, s->nrows, err);
    struct writer w = { t, end - first };
    int rc;

    memset(t, 0, sizeof(*t));
    rc = sb_live_rows(
        l, first, end, &t->insert[0].part, &t->insert[1].part, err);
    FILE *out = rc ? NULL : open_text(t, err);
    if (!out)
        return err->code;
    json_t *columns = sb_json_columns(&s->series);
    json_t *totals = s->has_report ? sb_json_live_totals(&s->report) : NULL;
    fprintf(out, "{\"run\":0,\"from\":%" PRIu64 ",\"rows\":[\n", first);
    insert(&w, 0, out);
    fputs("],\n\"histograms\":[\n", out);
    insert(&w, 1, out);
    fputs("]\n", out);
    write_member(out, "started", json_object_get(s->facts, "started"));
    write_member(out, "columns", columns);
    if (s->missing)
        fprintf(out, ",\"missing\":%" PRIu64, s->missing);
    write_members(out, totals);
    write_member(out, "databases", json_object_get(s->facts, "databases"));
    write_member(out, "end", s->end ? s->end : json_null());
    fputs("}\n", out);
    if (!columns || (s->has_report && !totals))
        rc = sb_err_no_memory(err);
    json_decref(columns);
    json_decref(totals);
    int failed = close_text(t, out, err);
    return rc ? rc : failed;
}

void sb_live_text_done(struct sb_live_text *t)
{
    free(t->text);
    memset(t, 0, sizeof(*t));
}

// Reading ---------------------------------------------------------------------

static ssize_t copy_text(
    const struct sb_live_text *t, uint64_t at, uint64_t n, char *to, size_t max)
{
    size_t len = n < max ? (size_t)n : max;

    memcpy(to, t->text + at, len);
    return (ssize_t)len;
}

static ssize_t copy_file(
    const struct sb_live_part *p, uint64_t at, char *to, size_t max)
{
    uint64_t left = p->size - at;
    ssize_t n;

    assert(at < p->size);
    n = pread(
        p->fd, to, left < max ? (size_t)left : max, (off_t)(p->from + at));
    return n > 0 ? n : -1;
}

// The document is text, part, text, part, text.
ssize_t sb_live_text_read(
    const struct sb_live_text *t, uint64_t pos, char *to, size_t max)
{
    uint64_t begin = 0;

    for (int i = 0; i < 2; i++) {
        const struct sb_live_part *p = &t->insert[i].part;
        uint64_t n = t->insert[i].at - begin;

        if (pos < n)
            return copy_text(t, begin + pos, n - pos, to, max);
        pos -= n;
        if (pos < p->size)
            return copy_file(p, pos, to, max);
        pos -= p->size;
        begin = t->insert[i].at;
    }
    if (pos >= t->len - begin)
        return 0;
    return copy_text(t, begin + pos, t->len - begin - pos, to, max);
}

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
    json_decref(s->validity);
    json_decref(s->answers);
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
        sb_err_no_memory(err);
    return s;
}

static void publish(struct sb_live *l, struct sb_live_state *s)
{
    s->nrows = l->nrows;
    s->missing = l->missing;
    atomic_store(&l->news, s);
}

// Moves the members that the news do not replace from the old state to *s.
static int inherit(struct sb_live_state *s, struct sb_live_state *old)
{
    struct sb_snap sums = old->sums;
    json_t **const now[] = { &s->facts, &s->limits, &s->validity, &s->answers,
        &s->end, &s->stages };
    json_t **const before[] = { &old->facts, &old->limits, &old->validity,
        &old->answers, &old->end, &old->stages };

    for (size_t i = 0; i < sizeof(now) / sizeof(now[0]); i++) {
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
        return sb_err_no_memory(err);
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

// Copies the figures of a report from which sb_live_read() computes another
// one.
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
        return sb_err_no_memory(err);
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
    return facts ? 0 : sb_err_no_memory(err);
}

int sb_live_end(struct sb_live *l, json_t *limits, json_t *validity,
    json_t *answers, json_t *end, struct sb_err *err)
{
    struct sb_live_state *s = take_news(l, err);

    if (!s) {
        json_decref(limits);
        json_decref(validity);
        json_decref(answers);
        json_decref(end);
        return err->code;
    }
    replace(&s->limits, limits);
    replace(&s->validity, validity);
    replace(&s->answers, answers);
    replace(&s->end, end);
    publish(l, s);
    return end ? 0 : sb_err_no_memory(err);
}
