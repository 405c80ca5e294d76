// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/live_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/document.h"
#include "out/json_parts.h"

static int no_memory(struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM, "out of memory");
}

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
        no_memory(err);
    return out;
}

static int close_text(struct sb_live_text *t, FILE *out, struct sb_err *err)
{
    bool failed = ferror(out) != 0;

    if (fclose(out) || failed)
        return no_memory(err);
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
        rc = no_memory(err);
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
        rc = no_memory(err);
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
