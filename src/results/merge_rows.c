// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/merge_rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/series.h"

// Times in files are rounded: this part of an interval before its end counts as
// the end.
#define ROUNDING 0.02

static unsigned run_column(const struct sb_result_run *r, const char *figure)
{
    return sb_result_column(r, "run", "", figure);
}

// Columns ---------------------------------------------------------------------

static json_t *column_json(const struct sb_result_column *c)
{
    return json_pack("{s:s,s:s,s:s,s:s}", "group", c->group, "name", c->name,
        "figure", c->figure, "unit", c->unit);
}

// Returns the merged column of a column, which is added if it is new. The
// number of columns at failure.
static unsigned merged_column(
    struct sb_merge_rows *m, const struct sb_result_column *c)
{
    json_t *o = column_json(c);
    size_t n = json_array_size(m->columns);

    for (size_t i = 0; o && i < n; i++) {
        if (json_equal(json_array_get(m->columns, i), o)) {
            json_decref(o);
            return (unsigned)i;
        }
    }
    json_array_append_new(m->columns, o);
    return (unsigned)n;
}

static int merge_columns(struct sb_merge_rows *m)
{
    m->columns = json_array();
    m->to = calloc(m->nruns, sizeof(*m->to));
    if (!m->columns || !m->to)
        return SB_ENOMEM;
    for (unsigned k = 0; k < m->nruns; k++) {
        const struct sb_result_run *r = m->run[k];

        m->to[k] = calloc(r->ncols + 1, sizeof(**m->to));
        if (!m->to[k])
            return SB_ENOMEM;
        for (unsigned i = 0; i < r->ncols; i++) {
            m->to[k][i] = merged_column(m, &r->col[i]);
            if (m->to[k][i] >= json_array_size(m->columns))
                return SB_ENOMEM;
        }
    }
    m->ncols = (unsigned)json_array_size(m->columns);
    return 0;
}

int sb_merge_rows_init(struct sb_merge_rows *m,
    const struct sb_result_run *const *run, const double *offset,
    unsigned nruns, double interval)
{
    *m = (struct sb_merge_rows){
        .run = run, .offset = offset, .nruns = nruns, .interval = interval
    };
    return merge_columns(m);
}

void sb_merge_rows_done(struct sb_merge_rows *m)
{
    for (unsigned k = 0; m->to && k < m->nruns; k++)
        free(m->to[k]);
    free(m->to);
    json_decref(m->columns);
    memset(m, 0, sizeof(*m));
}

// Slots -----------------------------------------------------------------------

// The next row of a run. The merged series is a sequence of slots, each as long
// as an interval.
struct cursor {
    size_t row;
    double slot; // INFINITY after the last row
};

// Finds the slot of the row. Runs are shifted by whole slots: if each row was
// put where it lies in time, two rows of a run could be in one slot and the
// next slot empty. A report is late, never early, so the interval that has
// ended is known; the last interval of a run may be short and end within it.
static void find_slot(
    const struct sb_merge_rows *m, unsigned k, struct cursor *c, double before)
{
    const struct sb_result_run *r = m->run[k];
    double end = sb_result_value(r, c->row, run_column(r, "time"));
    double slot = floor(m->offset[k] / m->interval + 0.5) +
                  floor(end / m->interval + ROUNDING) - 1;

    if (c->row >= r->intervals.nrows)
        c->slot = INFINITY;
    else
        c->slot = slot > before ? slot : before + 1;
}

// Rows of a warm-up are left out: they may be at the time of another run's
// measured part.
static size_t first_measured(const struct sb_result_run *r)
{
    unsigned time = run_column(r, "time");
    size_t row = 0;

    while (row < r->intervals.nrows && sb_result_value(r, row, time) <= 0)
        row++;
    return row;
}

// Returns a cursor for each run. NULL if out of memory.
static struct cursor *first_rows(const struct sb_merge_rows *m)
{
    struct cursor *c = calloc(m->nruns + 1, sizeof(*c));

    for (unsigned k = 0; c && k < m->nruns; k++) {
        c[k].row = first_measured(m->run[k]);
        find_slot(m, k, &c[k], -INFINITY);
    }
    return c;
}

// The first slot in which a run has a row; INFINITY if there are no more.
static double first_slot(const struct sb_merge_rows *m, const struct cursor *c)
{
    double slot = INFINITY;

    for (unsigned k = 0; k < m->nruns; k++)
        slot = fmin(slot, c[k].slot);
    return slot;
}

// Moves the cursor of a run behind its row in this slot.
static void next_row(
    const struct sb_merge_rows *m, unsigned k, struct cursor *c)
{
    c->row++;
    find_slot(m, k, c, c->slot);
}

// Values ----------------------------------------------------------------------

enum rule { SUM, GAUGE, MINIMUM, MAXIMUM, AVERAGE, FIRST, SINGLE };

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

static enum rule rule_of(const struct sb_result_column *c)
{
    static const char *const sums[] = { "events", "failed", "errors",
        "restarts", "reconnects", "reads", "writes", "others", "queue",
        "concurrency", "running", "scheduled", "count", "rows", "sum" };

    if (strcmp(c->group, "server") == 0)
        return FIRST; // they measured the same server
    // Processes may have run on one machine or on several.
    if (strcmp(c->group, "client") == 0)
        return strcmp(c->name, "cpu") == 0 ? SUM : MAXIMUM;
    // A gauge is the sum over users, so it is the sum over processes.
    if (strcmp(c->group, "metric") == 0 && strcmp(c->figure, "value") == 0)
        return GAUGE;
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
        if (strcmp(c->figure, sums[i]) == 0)
            return SUM;
    if (strcmp(c->figure, "min") == 0)
        return MINIMUM;
    if (strcmp(c->figure, "max") == 0 || strcmp(c->figure, "time") == 0 ||
        strcmp(c->figure, "seconds") == 0 || strcmp(c->figure, "stage") == 0)
        return MAXIMUM;
    return ends_with(c->figure, "avg") ? AVERAGE : SINGLE;
}

// The merged value of a column, as rows are added to it.
struct cell {
    double value, weight;
    unsigned n; // rows with a value
};

static void add_value(
    struct cell *c, enum rule rule, double value, double weight)
{
    // A sum with an unknown value is unknown, too.
    if (!isfinite(value) && rule != GAUGE)
        return;
    if (rule == AVERAGE) {
        c->value += value * weight;
        c->weight += weight;
    } else if (rule == SUM || rule == GAUGE) {
        c->value += value;
    } else if (c->n == 0 || (rule == MINIMUM && value < c->value) ||
               (rule == MAXIMUM && value > c->value)) {
        c->value = value;
    }
    c->n++;
}

static double result_of(const struct cell *c, enum rule rule)
{
    if (c->n == 0 || (rule == SINGLE && c->n > 1) ||
        (rule == AVERAGE && c->weight <= 0))
        return NAN;
    return rule == AVERAGE ? c->value / c->weight : c->value;
}

// The number of events or executions that an average is of.
static double weight_of(
    const struct sb_result_run *r, size_t row, const struct sb_result_column *c)
{
    bool whole = strcmp(c->group, "run") == 0;

    return sb_result_value(r, row,
        sb_result_column(r, c->group, c->name, whole ? "events" : "count"));
}

static void add_row(
    const struct sb_merge_rows *m, unsigned k, size_t row, struct cell *cell)
{
    const struct sb_result_run *r = m->run[k];
    unsigned time = run_column(r, "time");
    size_t length = r->intervals.first[row + 1] - r->intervals.first[row];

    // A row that is older than a column has no value for it, rather than an
    // unknown one.
    for (unsigned i = 0; i < r->ncols && i < length; i++) {
        enum rule rule = rule_of(&r->col[i]);
        double value = sb_result_value(r, row, i);

        assert(m->to[k][i] < m->ncols);
        add_value(&cell[m->to[k][i]], rule,
            i == time ? value + m->offset[k] : value,
            rule == AVERAGE ? weight_of(r, row, &r->col[i]) : 1);
    }
}

static struct sb_result_column column_at(
    const struct sb_merge_rows *m, unsigned i)
{
    json_t *o = json_array_get(m->columns, i);

    return (struct sb_result_column){ json_string_value(
                                          json_object_get(o, "group")),
        json_string_value(json_object_get(o, "name")),
        json_string_value(json_object_get(o, "figure")),
        json_string_value(json_object_get(o, "unit")) };
}

static void print_row(
    const struct sb_merge_rows *m, const struct cell *cell, struct sb_buf *line)
{
    sb_buf_clear(line);
    for (unsigned i = 0; i < m->ncols; i++) {
        struct sb_result_column c = column_at(m, i);

        const struct sb_column as = { .group = c.group, .unit = c.unit };

        sb_buf_adds(line, i ? "," : "[");
        sb_series_number(
            line, result_of(&cell[i], rule_of(&c)), sb_series_digits(&as));
    }
    sb_buf_adds(line, "]");
}

// Makes the times of rows ascending: the rows of a run that started half an
// interval later than its slots may end after the next slot.
static void keep_order(
    const struct sb_merge_rows *m, struct cell *cell, double *until)
{
    for (unsigned i = 0; i < m->ncols; i++) {
        struct sb_result_column c = column_at(m, i);

        if (strcmp(c.group, "run") || strcmp(c.figure, "time"))
            continue;
        cell[i].value = fmax(cell[i].value, *until);
        *until = cell[i].value;
    }
}

int sb_merge_rows_write(void *arg, FILE *out, struct sb_err *err)
{
    struct sb_merge_rows *m = arg;
    struct cell *cell = calloc(m->ncols + 1, sizeof(*cell));
    struct cursor *c = first_rows(m);
    double slot, until = -INFINITY;
    const char *before = "";
    struct sb_buf line;
    int rc = cell && c ? 0 : SB_ENOMEM;

    sb_buf_init(&line, 0);
    while (rc == 0 && isfinite(slot = first_slot(m, c))) {
        memset(cell, 0, m->ncols * sizeof(*cell));
        for (unsigned k = 0; k < m->nruns; k++) {
            if (c[k].slot > slot)
                continue;
            add_row(m, k, c[k].row, cell);
            next_row(m, k, &c[k]);
        }
        keep_order(m, cell, &until);
        print_row(m, cell, &line);
        rc = line.failed ? SB_ENOMEM : 0;
        if (rc == 0)
            fprintf(out, "%s%s", before, line.data);
        before = ",\n";
    }
    fputs(*before ? "\n" : "", out);
    sb_buf_done(&line);
    free(cell);
    free(c);
    return rc ? sb_err_set(err, rc, "out of memory") : 0;
}

// Histograms ------------------------------------------------------------------

static void add_heat(
    const struct sb_rows *rows, size_t row, uint64_t heat[SB_HEAT_BUCKETS])
{
    if (row >= rows->nrows)
        return;
    const double *v = rows->value + rows->first[row];
    size_t n = rows->first[row + 1] - rows->first[row];

    for (size_t i = 1; i < n; i++) {
        double bucket = v[0] + (double)i - 1;

        if (bucket >= 0 && bucket < SB_HEAT_BUCKETS && v[i] > 0 && v[i] < 1e15)
            heat[(size_t)bucket] += (uint64_t)v[i];
    }
}

int sb_merge_rows_heat(void *arg, FILE *out, struct sb_err *err)
{
    const struct sb_merge_rows *m = arg;
    struct cursor *c = first_rows(m);
    const char *before = "";
    struct sb_buf line;
    double slot;
    int rc = c ? 0 : SB_ENOMEM;

    sb_buf_init(&line, 0);
    while (rc == 0 && isfinite(slot = first_slot(m, c))) {
        uint64_t heat[SB_HEAT_BUCKETS] = { 0 };

        for (unsigned k = 0; k < m->nruns; k++) {
            if (c[k].slot > slot)
                continue;
            add_heat(&m->run[k]->histograms, c[k].row, heat);
            next_row(m, k, &c[k]);
        }
        sb_buf_clear(&line);
        sb_buf_adds(&line, before);
        sb_series_heat_row(&line, heat);
        rc = line.failed ? SB_ENOMEM : 0;
        if (rc == 0)
            fputs(line.data, out);
        before = ",\n";
    }
    fputs(*before ? "\n" : "", out);
    sb_buf_done(&line);
    free(c);
    return rc ? sb_err_set(err, rc, "out of memory") : 0;
}
