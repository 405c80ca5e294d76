// SPDX-License-Identifier: GPL-2.0-or-later
//
// --report=csv=FILE: a table with a header. Operations and counters may appear
// during a run, so each has rows of its own rather than columns: the header
// never changes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/reporter.h"
#include "out/target.h"

// The columns after time, seconds, group and name.
static const char *const figures[] = { "stage", "events", "failed", "errors",
    "rows", "restarts", "reconnects", "reads", "writes", "others", "running",
    "queue", "concurrency", "scheduled", "min", "avg", "p50", "p75", "p90",
    "p95", "p99", "p999", "max", "service_avg", "service_p99", "lag_avg",
    "lag_p99", "client_delay_avg", "client_delay_p99", "value" };

#define FIGURES (sizeof(figures) / sizeof(figures[0]))

struct csv {
    struct sb_target target;
    struct sb_buf line;
};

static int csv_open(struct sb_reporter *r, struct sb_err *err)
{
    struct csv *c = calloc(1, sizeof(*c));

    r->data = c;
    if (!c)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    sb_buf_init(&c->line, 0);
    return sb_target_open(
        &c->target, r->target, SB_TARGET_LINES | r->chosen, err);
}

static int csv_begin(struct sb_reporter *r, struct sb_err *err)
{
    struct csv *c = r->data;
    int rc = sb_target_begin(&c->target, err);

    if (rc)
        return rc;
    fputs("time,seconds,group,name", c->target.file);
    for (size_t i = 0; i < FIGURES; i++)
        fprintf(c->target.file, ",%s", figures[i]);
    fputs("\n", c->target.file);
    return sb_target_flush(&c->target, err);
}

// Quotes a text as RFC 4180 says, if it needs that. A spreadsheet would execute
// a cell that begins like a formula, also after spaces: an apostrophe makes it
// text.
static void add_text(struct sb_buf *b, const char *text)
{
    const char *first = text + strspn(text, " ");
    const char *mark = *first && strchr("=+-@\t\r", *first) ? "'" : "";

    if (!strpbrk(text, ",\"\r\n")) {
        sb_buf_addf(b, "%s%s", mark, text);
        return;
    }
    sb_buf_addf(b, "\"%s", mark);
    for (; *text; text++)
        sb_buf_add(b, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    sb_buf_adds(b, "\"");
}

// The column of a figure. A count of an operation or a distribution is in the
// column of events, and any other single value in the last one.
static size_t column_of(const char *figure)
{
    if (strcmp(figure, "count") == 0)
        figure = "events";
    for (size_t i = 0; i < FIGURES; i++)
        if (strcmp(figures[i], figure) == 0)
            return i;
    return FIGURES - 1;
}

// Adds the row of the columns that begin at `from` and have the same group and
// name. Returns the first column behind them.
static unsigned add_row(struct sb_buf *b, const struct sb_series *s,
    unsigned from, double time, double seconds)
{
    const struct sb_column *first = &s->col[from];
    const char *unit[FIGURES];
    double value[FIGURES];
    unsigned i;

    for (size_t n = 0; n < FIGURES; n++)
        value[n] = NAN;
    for (i = from; i < s->ncols; i++) {
        const struct sb_column *c = &s->col[i];
        size_t n = column_of(c->figure);

        if (strcmp(c->group, first->group) || strcmp(c->name, first->name))
            break;
        value[n] = s->value[i];
        unit[n] = sb_series_digits(c);
    }
    sb_series_number(b, time, "s");
    sb_buf_adds(b, ",");
    sb_series_number(b, seconds, "s");
    sb_buf_addf(b, ",%s,", first->group);
    add_text(b, first->name);
    for (size_t n = 0; n < FIGURES; n++) {
        sb_buf_adds(b, ",");
        if (isfinite(value[n]))
            sb_series_number(b, value[n], unit[n]);
    }
    sb_buf_adds(b, "\n");
    return i;
}

static int csv_interval(struct sb_reporter *r, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err)
{
    struct csv *c = r->data;
    // The first two columns are time and seconds.
    unsigned i = 2;

    (void)report;
    sb_buf_clear(&c->line);
    while (i < row->ncols)
        i = add_row(&c->line, row, i, row->value[0], row->value[1]);
    if (c->line.failed)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    fwrite(c->line.data, 1, c->line.len, c->target.file);
    return sb_target_flush(&c->target, err);
}

static int csv_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct csv *c = r->data;

    (void)o;
    return sb_target_commit(&c->target, err);
}

static void csv_done(struct sb_reporter *r)
{
    struct csv *c = r->data;

    if (!c)
        return;
    sb_target_done(&c->target);
    sb_buf_done(&c->line);
    free(c);
}

const struct sb_reporter_kind sb__csv_kind = {
    .name = "csv",
    .target = "FILE",
    .form = SB_REPORT_LINES,
    .open = csv_open,
    .begin = csv_begin,
    .interval = csv_interval,
    .finish = csv_finish,
    .done = csv_done,
};
