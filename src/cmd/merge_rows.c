// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/merge_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/series.h"

#define HEAT_MAX 256u // buckets of a row of histograms

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

// Slots -----------------------------------------------------------------------

// The slot of a row: the one in which its middle lies.
static long slot_of(const struct sb_merge_rows *m, unsigned k, size_t row)
{
    const struct sb_result_run *r = m->run[k];
    double end = sb_result_value(r, row, run_column(r, "time"));
    double length = sb_result_value(r, row, run_column(r, "seconds"));
    double slot = floor((m->offset[k] + end - length / 2) / m->interval);

    return slot > -1e9 && slot < 1e9 ? (long)slot : 0;
}

static void find_slots(struct sb_merge_rows *m)
{
    long last = 0;
    bool any = false;

    for (unsigned k = 0; k < m->nruns; k++) {
        size_t n = m->run[k]->intervals->nrows;

        if (n == 0)
            continue;
        long a = slot_of(m, k, 0), b = slot_of(m, k, n - 1);

        m->first = !any || a < m->first ? a : m->first;
        last = !any || b > last ? b : last;
        any = true;
    }
    m->nslots = any && last >= m->first ? (size_t)(last - m->first) + 1 : 0;
}

static size_t *row_of(const struct sb_merge_rows *m, unsigned k, size_t slot)
{
    return &m->from[k * (m->nslots + 1) + slot];
}

// Rows of a warm-up are left out: they may be at the time of another run's
// measured part.
static size_t first_measured(const struct sb_result_run *r)
{
    unsigned time = run_column(r, "time");
    size_t row = 0;

    while (row < r->intervals->nrows && sb_result_value(r, row, time) <= 0)
        row++;
    return row;
}

// Assigns rows to slots. A run may have no row or several in a slot.
static int assign_rows(struct sb_merge_rows *m)
{
    m->from = calloc(m->nruns * (m->nslots + 1) + 1, sizeof(*m->from));
    if (!m->from)
        return SB_ENOMEM;
    for (unsigned k = 0; k < m->nruns; k++) {
        size_t n = m->run[k]->intervals->nrows;
        size_t row = first_measured(m->run[k]);

        for (size_t slot = 0; slot <= m->nslots; slot++) {
            *row_of(m, k, slot) = row;
            while (row < n && slot < m->nslots &&
                   slot_of(m, k, row) <= m->first + (long)slot)
                row++;
        }
        *row_of(m, k, m->nslots) = n;
    }
    return 0;
}

int sb_merge_rows_init(struct sb_merge_rows *m,
    const struct sb_result_run *const *run, const double *offset,
    unsigned nruns, double interval)
{
    int rc;

    *m = (struct sb_merge_rows){
        .run = run, .offset = offset, .nruns = nruns, .interval = interval
    };
    rc = merge_columns(m);
    find_slots(m);
    return rc ? rc : assign_rows(m);
}

void sb_merge_rows_done(struct sb_merge_rows *m)
{
    for (unsigned k = 0; m->to && k < m->nruns; k++)
        free(m->to[k]);
    free(m->to);
    free(m->from);
    json_decref(m->columns);
    memset(m, 0, sizeof(*m));
}

// Returns false if no run has a row in the slot: it is left out.
static bool has_rows(const struct sb_merge_rows *m, size_t slot)
{
    for (unsigned k = 0; k < m->nruns; k++)
        if (*row_of(m, k, slot) < *row_of(m, k, slot + 1))
            return true;
    return false;
}

// Values ----------------------------------------------------------------------

enum rule { SUM, MINIMUM, MAXIMUM, AVERAGE, FIRST, SINGLE };

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
    if (!isfinite(value))
        return;
    if (rule == AVERAGE) {
        c->value += value * weight;
        c->weight += weight;
    } else if (rule == SUM) {
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

    for (unsigned i = 0; i < r->ncols; i++) {
        enum rule rule = rule_of(&r->col[i]);
        double value = sb_result_value(r, row, i);

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

        sb_buf_adds(line, i ? "," : "[");
        sb_series_number(line, result_of(&cell[i], rule_of(&c)), c.unit);
    }
    sb_buf_adds(line, "]");
}

int sb_merge_rows_write(void *arg, FILE *out, struct sb_err *err)
{
    struct sb_merge_rows *m = arg;
    struct cell *cell = calloc(m->ncols + 1, sizeof(*cell));
    const char *before = "";
    struct sb_buf line;
    int rc = cell ? 0 : SB_ENOMEM;

    sb_buf_init(&line, 0);
    for (size_t slot = 0; rc == 0 && slot < m->nslots; slot++) {
        if (!has_rows(m, slot))
            continue;
        memset(cell, 0, m->ncols * sizeof(*cell));
        for (unsigned k = 0; k < m->nruns; k++)
            for (size_t row = *row_of(m, k, slot);
                 row < *row_of(m, k, slot + 1); row++)
                add_row(m, k, row, cell);
        print_row(m, cell, &line);
        rc = line.failed ? SB_ENOMEM : 0;
        if (rc == 0)
            fprintf(out, "%s%s", before, line.data);
        before = ",\n";
    }
    fputs(*before ? "\n" : "", out);
    sb_buf_done(&line);
    free(cell);
    return rc ? sb_err_set(err, rc, "out of memory") : 0;
}

// Histograms ------------------------------------------------------------------

static void add_heat(
    const struct sb_rows *rows, size_t row, uint64_t heat[HEAT_MAX])
{
    if (row >= rows->nrows)
        return;
    const double *v = rows->value + rows->first[row];
    size_t n = rows->first[row + 1] - rows->first[row];

    for (size_t i = 1; i < n; i++) {
        double bucket = v[0] + (double)i - 1;

        if (bucket >= 0 && bucket < HEAT_MAX && v[i] > 0 && v[i] < 1e18)
            heat[(size_t)bucket] += (uint64_t)v[i];
    }
}

static void print_heat(const uint64_t heat[HEAT_MAX], FILE *out)
{
    unsigned first = 0, end = HEAT_MAX;

    while (first < end && heat[first] == 0)
        first++;
    while (end > first && heat[end - 1] == 0)
        end--;
    fputs("[", out);
    if (first < end)
        fprintf(out, "%u", first);
    for (unsigned i = first; i < end; i++)
        fprintf(out, ",%" PRIu64, heat[i]);
    fputs("]", out);
}

int sb_merge_rows_heat(void *arg, FILE *out, struct sb_err *err)
{
    const struct sb_merge_rows *m = arg;
    const char *before = "";

    (void)err;
    for (size_t slot = 0; slot < m->nslots; slot++) {
        uint64_t heat[HEAT_MAX] = { 0 };

        if (!has_rows(m, slot))
            continue;
        for (unsigned k = 0; k < m->nruns; k++)
            for (size_t row = *row_of(m, k, slot);
                 row < *row_of(m, k, slot + 1); row++)
                add_heat(m->run[k]->histograms, row, heat);
        fputs(before, out);
        print_heat(heat, out);
        before = ",\n";
    }
    fputs(*before ? "\n" : "", out);
    return 0;
}
