// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench merge FILE...: the results of processes that ran side by side, as
// one run.
#define _GNU_SOURCE // strptime(), timegm()
#include "results/merge.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "kit/buf.h"
#include "measure/snap.h"
#include "out/division.h"
#include "out/json_parts.h"
#include "out/series.h"
#include "out/target.h"
#include "out/validity.h"
#include "results/cmd.h"
#include "results/sides.h"

// Options that differ ---------------------------------------------------------

// Returns whether the option usually has different values in processes that run
// together: files, labels, seeds, and values that are added.
static bool may_differ(const char *name)
{
    static const char *const names[] = { "report", "label", "rand-seed",
        "threads", "rank" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

// Adds "NAME A / B" if a run has another value than the first one. Options that
// only one of the programs has are left out.
static void add_option(struct sb_buf *b, const char *name, const char *value,
    const struct sb_result_run *const *run, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        const char *other = sb_result_option(run[i], name);

        if (!other || strcmp(other, value) == 0)
            continue;
        sb_buf_addf(b, "%s%s %s / %s", b->len ? ", " : "", name,
            *value ? value : "(none)", *other ? other : "(none)");
        return;
    }
}

// Logs a warning that names the options that n runs have different values of,
// other than their files, seeds and threads.
static void merge_warn_of_options(
    const struct sb_result_run *const *run, unsigned n)
{
    const json_t *list = json_object_get(run[0]->json, "options");
    struct sb_buf b;

    sb_buf_init(&b, 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(o, "name"));
        const char *value = json_string_value(json_object_get(o, "value"));

        if (name && value && !may_differ(name))
            add_option(&b, name, value, run, n);
    }
    if (b.len && !b.failed)
        sb_log(SB_LOG_WARNING, "the runs have different options: %s", b.data);
    sb_buf_done(&b);
}

// Ranks -----------------------------------------------------------------------
//
// Whether the runs are the ranks of one run.

// Ranks that began this many seconds apart were not one run for that long.
#define APART_MAX 1.0

static const json_t *rank_of(const struct sb_result_run *r)
{
    return json_object_get(r->json, "rank");
}

static unsigned count(const struct sb_result_run *r, const char *name)
{
    return (unsigned)json_integer_value(json_object_get(rank_of(r), name));
}

static int refuse_files(const char *why)
{
    sb_log(SB_LOG_FATAL, "the files are not ranks of one run: %s", why);
    return SB_EUSAGE;
}

// The first run is a rank.
static int check_same(
    const struct sb_result_run *const *run, unsigned n, unsigned ranks)
{
    static const char *const divided[] = { "rate", "events", "rank-weight" };
    char why[120];

    for (unsigned i = 1; i < n; i++) {
        if (!rank_of(run[i]))
            return refuse_files("some have no rank");
        if (count(run[i], "ranks") != ranks) {
            snprintf(why, sizeof(why), "one is of %u ranks, another of %u",
                ranks, count(run[i], "ranks"));
            return refuse_files(why);
        }
        if (count(run[i], "total_users") != count(run[0], "total_users"))
            return refuse_files("--threads differs");
        for (size_t k = 0; k < sizeof(divided) / sizeof(*divided); k++) {
            const char *a = sb_result_option(run[0], divided[k]);
            const char *b = sb_result_option(run[i], divided[k]);

            if (a && b && strcmp(a, b) == 0)
                continue;
            snprintf(why, sizeof(why), "--%s differs", divided[k]);
            return refuse_files(why);
        }
        if (strcmp(sb_result_text(run[i], "seed"),
                sb_result_text(run[0], "seed")) != 0)
            return refuse_files("--rand-seed differs");
    }
    return 0;
}

// Warns of ranks without a run.
static int check_each(
    const struct sb_result_run *const *run, unsigned n, unsigned ranks)
{
    bool *seen = calloc(ranks ? ranks : 1, sizeof(*seen));
    unsigned missing = 0, first = 0;
    char why[80];

    if (!seen) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_ENOMEM;
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned rank = count(run[i], "rank");

        if (rank >= ranks) {
            free(seen);
            return refuse_files("the number of a rank is not valid");
        }
        if (seen[rank]) {
            snprintf(why, sizeof(why), "rank %u occurs twice", rank);
            free(seen);
            return refuse_files(why);
        }
        seen[rank] = true;
    }
    for (unsigned i = ranks; i-- > 0;)
        if (!seen[i]) {
            first = i;
            missing++;
        }
    free(seen);
    if (missing)
        sb_log(SB_LOG_WARNING,
            "%u of %u ranks %s missing (rank %u%s): the totals are not those "
            "of the whole run",
            missing, ranks, missing == 1 ? "is" : "are", first,
            missing > 1 ? ", ..." : "");
    return 0;
}

static void warn_of_starts(const double *offset, unsigned n)
{
    double last = 0;

    for (unsigned i = 0; i < n; i++)
        last = fmax(last, offset[i]);
    if (last > APART_MAX)
        sb_log(SB_LOG_WARNING,
            "the ranks began up to %.3g s apart (--start-at lets all begin at "
            "the same time)",
            last);
}

// Checks runs that are ranks of one run: SB_EUSAGE, after logging why, if they
// do not belong together. Warns if ranks are missing, or began at different
// times; offset: of each run, in s.
static int merge_check_ranks(
    const struct sb_result_run *const *run, const double *offset, unsigned n)
{
    unsigned ranks, with = 0;

    for (unsigned i = 0; i < n; i++)
        with += rank_of(run[i]) != NULL;
    if (with == 0)
        return 0;
    if (!rank_of(run[0]))
        return refuse_files("some have no rank");
    ranks = count(run[0], "ranks");
    if (ranks > 100000)
        return refuse_files("the number of ranks is not valid");
    int rc = check_same(run, n, ranks);

    if (rc == 0)
        rc = check_each(run, n, ranks);
    if (rc == 0)
        warn_of_starts(offset, n);
    return rc;
}

static struct sb_rank_figures figures_of(const struct sb_result_run *run)
{
    const struct sb_report *r = &run->report;
    struct sb_rank_figures f = {
        .users = r->threads, .events = run->snap.c.completed, .mean = r->lat_avg
    };

    if (r->open_loop)
        sb_report_rank_open(&f, &run->snap, r->interval_s);
    return f;
}

// Logs a warning if the division of an open loop among them matters, and sets
// the member "division" of facts. Nothing if they are not all ranks of a run.
static void merge_division(
    const struct sb_result_run *const *run, unsigned n, json_t *facts)
{
    struct sb_rank_figures *f;

    if (!rank_of(run[0]) || count(run[0], "ranks") != n ||
        run[0]->report.nstages)
        return;
    f = calloc(n, sizeof(*f));
    for (unsigned i = 0; f && i < n; i++)
        f[i] = figures_of(run[i]);
    if (!f)
        return;
    sb_division_warn(f, n);
    json_object_set_new(facts, "division", sb_json_division(f, n));
    free(f);
}

// Rows ------------------------------------------------------------------------
//
// The intervals of the runs as one series: rows of the same moment are added. A
// run has at most one row in each of them.

// Times in files are rounded: this part of an interval before its end counts as
// the end.
#define ROUNDING 0.02

static unsigned run_column(const struct sb_result_run *r, const char *figure)
{
    return sb_result_column(r, "run", "", figure);
}

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

    if (strcmp(c->group, "server") == 0 || strcmp(c->group, "waits") == 0)
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

struct merge {
    const struct sb_cmd_args *args;
    struct sb_side *file; // one for each argument
    const struct sb_result_run **run;
    double *offset; // s after the start of the first run
    unsigned nruns;
    double start; // of the first run, s since 1970
    struct sb_snap snap;
    struct sb_stats *stats;  // too large for the stack
    struct sb_report *stage; // if all runs have the same stages
    struct sb_snap *stage_snap;
    unsigned nstages;
    struct sb_merge_rows rows;
    double seconds;
};

// Reading ---------------------------------------------------------------------

// The start of a run in seconds since 1970; NAN if it is not written as such.
static double start_of(const struct sb_result_run *r)
{
    const char *text = sb_result_text(r, "started");
    struct tm tm = { 0 };
    char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);

    if (!rest)
        return NAN;
    return (double)timegm(&tm) + strtod(rest, NULL);
}

static int merge_no_memory(void)
{
    sb_log(SB_LOG_FATAL, "out of memory");
    return SB_ENOMEM;
}

static int read_all(struct merge *m)
{
    unsigned n = m->args->nfiles, total = 0;

    m->file = calloc(n, sizeof(*m->file));
    if (!m->file)
        return merge_no_memory();
    for (unsigned i = 0; i < n; i++) {
        int rc = sb_side_read(&m->file[i], m->args->file[i]);

        if (rc)
            return rc;
        total += m->file[i].nruns;
    }
    m->run = calloc(total, sizeof(*m->run));
    m->offset = calloc(total, sizeof(*m->offset));
    if (!m->run || !m->offset)
        return merge_no_memory();
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < m->file[i].nruns; k++)
            m->run[m->nruns++] = m->file[i].run[k];
    assert(m->nruns == total && total > 0);
    return 0;
}

static double interval_of(const struct sb_result_run *r)
{
    return json_number_value(json_object_get(r->json, "interval"));
}

// The runs of a sweep were not at the same time.
static int check_files(const struct merge *m)
{
    for (unsigned i = 0; i < m->args->nfiles; i++)
        for (unsigned k = 0; k < m->file[i].nfiles; k++) {
            const struct sb_result_file *f = &m->file[i].file[k];

            if (f->nruns < 2)
                continue;
            sb_log(SB_LOG_FATAL,
                "%s is a sweep of %u runs, one after the other: only runs at "
                "the same time can be merged",
                f->path, f->nruns);
            return SB_EUSAGE;
        }
    return 0;
}

// Runs that differ in what they measure have no common figures.
static int check_runs(const struct merge *m)
{
    const struct sb_result_run *a = m->run[0];

    for (unsigned i = 1; i < m->nruns; i++) {
        const struct sb_result_run *b = m->run[i];

        if (strcmp(sb_result_text(a, "test"), sb_result_text(b, "test")) != 0) {
            sb_log(SB_LOG_FATAL,
                "runs of different tests cannot be merged: %s and %s",
                sb_result_text(a, "test"), sb_result_text(b, "test"));
            return SB_EUSAGE;
        }
        if (a->report.open_loop != b->report.open_loop) {
            sb_log(
                SB_LOG_FATAL, "runs with and without --rate cannot be merged");
            return SB_EUSAGE;
        }
        if (interval_of(a) != interval_of(b) || !(interval_of(a) > 0)) {
            sb_log(SB_LOG_FATAL,
                "runs with intervals of %g s and %g s cannot be merged",
                interval_of(a), interval_of(b));
            return SB_EUSAGE;
        }
    }
    return 0;
}

static void find_offsets(struct merge *m)
{
    m->start = INFINITY;
    for (unsigned i = 0; i < m->nruns; i++)
        m->start = fmin(m->start, start_of(m->run[i]));
    for (unsigned i = 0; i < m->nruns; i++) {
        double end, offset = start_of(m->run[i]) - m->start;

        m->offset[i] = isfinite(offset) ? offset : 0;
        end = m->offset[i] + m->run[i]->report.total_s;
        m->seconds = end > m->seconds ? end : m->seconds;
    }
}

// More slots than this are weeks of seconds: the runs do not belong together.
#define SLOTS_MAX 1e7

static int check_distance(const struct merge *m)
{
    if (m->seconds / interval_of(m->run[0]) <= SLOTS_MAX)
        return 0;
    sb_log(SB_LOG_FATAL,
        "the runs cannot be merged: there are %.6g s from the first start to "
        "the last end",
        m->seconds);
    return SB_EUSAGE;
}

// Warns of runs that began after the end of another one.
static void warn_of_gaps(const struct merge *m)
{
    for (unsigned i = 0; i < m->nruns; i++)
        if (m->offset[i] > m->run[0]->report.total_s + interval_of(m->run[0])) {
            sb_log(SB_LOG_WARNING,
                "the runs did not run at the same time: rates refer to the "
                "%.6g s from the first start to the last end",
                m->seconds);
            return;
        }
}

static bool any_warmup(const struct merge *m)
{
    for (unsigned i = 0; i < m->nruns; i++)
        if (m->run[i]->report.warmup)
            return true;
    return false;
}

static void warn_of_warmup(const struct merge *m)
{
    if (any_warmup(m))
        sb_log(SB_LOG_WARNING, "a run ended during its warm-up: the totals "
                               "have figures of the warm-up");
}

// Adding ----------------------------------------------------------------------

static unsigned sum_threads(const struct merge *m)
{
    unsigned n = 0;

    for (unsigned i = 0; i < m->nruns; i++)
        n += m->run[i]->report.threads;
    return n;
}

static const struct sb_result_run *first_run(const struct merge *m)
{
    unsigned first = 0;

    for (unsigned i = 1; i < m->nruns; i++)
        if (m->offset[i] < m->offset[first])
            first = i;
    return m->run[first];
}

static bool same_stages(const struct sb_report *a, const struct sb_report *b)
{
    bool same = a->nstages == b->nstages;

    for (unsigned i = 0; same && i < a->nstages; i++)
        same = strcmp(a->stages[i].stage_name, b->stages[i].stage_name) == 0;
    return same;
}

static int add_stage(struct merge *m, unsigned n, struct sb_err *err)
{
    const struct sb_report *first = &first_run(m)->report.stages[n];
    struct sb_report *to = &m->stage[n];
    double seconds = 0, users[2] = { 0 };
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < m->nruns; i++) {
        const struct sb_report *r = &m->run[i]->report.stages[n];

        assert(n < m->run[i]->report.nstages); // see same_stages()
        rc = sb_snap_add(
            &m->stage_snap[n], m->stats, r->snap, r->stats, 0, err);
        seconds = fmax(seconds, r->interval_s);
    }
    sb_report_fill(to, &m->stage_snap[n], sum_threads(m), first->open_loop,
        first->total_s - first->interval_s + seconds);
    to->interval_s = seconds;
    to->stage_name = first->stage_name;
    to->stage_mix = first->stage_mix;
    to->stats = m->stats;
    // Each rank of a run has the numbers of the whole.
    unsigned parts = json_object_get(first_run(m)->json, "rank") ? 1 : m->nruns;
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned i = 0; i < parts; i++) {
            users[k] += m->run[i]->report.stages[n].stage_users[k];
            to->stage_rate[k] += m->run[i]->report.stages[n].stage_rate[k];
        }
        to->stage_users[k] = (unsigned)users[k];
    }
    return rc;
}

// Stages of the same names are added. Runs with different stages have none in
// common.
static int add_stages(struct merge *m, struct sb_err *err)
{
    unsigned n = m->run[0]->report.nstages;
    int rc = 0;

    for (unsigned i = 1; i < m->nruns; i++)
        if (!same_stages(&m->run[0]->report, &m->run[i]->report))
            return 0;
    m->stage = calloc(n + 1, sizeof(*m->stage));
    m->stage_snap = calloc(n + 1, sizeof(*m->stage_snap));
    if (!m->stage || !m->stage_snap)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    for (m->nstages = 0; rc == 0 && m->nstages < n; m->nstages++)
        rc = add_stage(m, m->nstages, err);
    return rc;
}

// The largest of the sums of times, in ns.
static double longest_sum(const struct sb_snap *s)
{
    double most = fmax(fmax((double)s->c.service_ns, (double)s->c.response_ns),
        fmax((double)s->c.lag_ns, (double)s->c.client_delay_ns));

    for (unsigned i = 0; i < s->nops; i++)
        most = fmax(most, (double)s->op[i].ns);
    return most;
}

static int check_times(const struct merge *m, struct sb_err *err)
{
    double sum = 0;

    for (unsigned i = 0; i < m->nruns; i++) {
        const struct sb_result_run *r = m->run[i];
        double most = longest_sum(&r->snap);

        for (unsigned k = 0; k < r->report.nstages; k++)
            most = fmax(most, longest_sum(r->report.stages[k].snap));
        sum += most;
    }
    return sum < (double)INT64_MAX
               ? 0
               : sb_err_set(err, SB_EUSAGE,
                     "the runs cannot be merged: the sums of their times are "
                     "too large");
}

static int add_all(struct merge *m, struct sb_err *err)
{
    int rc = check_times(m, err);

    if (rc)
        return rc;
    rc = sb_stats_init(m->stats, 1, 1, false);

    if (rc)
        return sb_err_set(err, rc, "out of memory");
    for (unsigned i = 0; rc == 0 && i < m->nruns; i++)
        rc = sb_snap_add(&m->snap, m->stats, &m->run[i]->snap, m->run[i]->stats,
            (uint64_t)(m->offset[i] * 1e9), err);
    if (rc == 0)
        rc = add_stages(m, err);
    if (rc == 0 && sb_merge_rows_init(&m->rows, m->run, m->offset, m->nruns,
                       interval_of(m->run[0])))
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    return rc;
}

// Writing ---------------------------------------------------------------------

// Labels that all runs have with the same value.
static json_t *common_labels(const struct merge *m)
{
    json_t *labels = json_deep_copy(json_object_get(m->run[0]->json, "labels"));
    const char *key;
    json_t *value;
    void *next;

    for (unsigned i = 1; labels && i < m->nruns; i++) {
        json_t *other = json_object_get(m->run[i]->json, "labels");

        json_object_foreach_safe(labels, next, key, value)
        {
            if (!json_equal(value, json_object_get(other, key)))
                json_object_del(labels, key);
        }
    }
    return labels ? labels : json_object();
}

static json_t *all_databases(const struct merge *m)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < m->nruns; i++) {
        json_t *list = json_object_get(m->run[i]->json, "databases");

        for (size_t n = 0; n < json_array_size(list); n++) {
            json_t *d = json_array_get(list, n);
            size_t k = 0;

            while (k < json_array_size(all) &&
                   !json_equal(json_array_get(all, k), d))
                k++;
            if (k == json_array_size(all))
                json_array_append(all, d);
        }
    }
    return all;
}

// Adds the figures that show whether a run differs from the others.
static void add_figures(json_t *o, const json_t *run)
{
    json_t *events = json_object_get(
        json_object_get(run, "counters"), "completed");
    json_t *percentiles = json_object_get(
        json_object_get(run, "latency"), "percentiles");

    if (events)
        json_object_set(o, "events", events);
    if (percentiles)
        json_object_set(o, "percentiles", percentiles);
}

// Returns the facts and figures of each run. The figures of a command beside a
// run are here, because they are not figures of the sum.
static json_t *members(const struct merge *m)
{
    static const char *const kept[] = { "started", "seed", "threads", "workers",
        "event_loop", "worker_policy", "workers_reason", "labels", "host",
        "end", "rank", "beside" };
    json_t *all = json_array();

    for (unsigned i = 0; i < m->nruns; i++) {
        json_t *o = json_object();

        for (size_t n = 0; n < sizeof(kept) / sizeof(kept[0]); n++) {
            json_t *value = json_object_get(m->run[i]->json, kept[n]);

            if (value)
                json_object_set(o, kept[n], value);
        }
        add_figures(o, m->run[i]->json);
        json_array_append_new(all, o);
    }
    return all;
}

// Other facts of the first run, such as how it found its rate or its place in a
// sweep, are not those of the sum.
static json_t *merged_facts(const struct merge *m)
{
    static const char *const kept[] = { "test", "command", "started", "seed",
        "workers", "event_loop", "worker_policy", "workers_reason", "interval",
        "open_loop", "host", "options" };
    json_t *o = json_object();

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        json_t *value = json_object_get(first_run(m)->json, kept[i]);

        if (value)
            json_object_set(o, kept[i], value);
    }
    json_object_set_new(o, "threads", json_integer(sum_threads(m)));
    json_object_set_new(o, "labels", common_labels(m));
    json_object_set_new(o, "databases", all_databases(m));
    json_object_set_new(o, "merged", members(m));
    merge_division(m->run, m->nruns, o);
    return o;
}

// The end of the run that ended worst.
static json_t *merged_end(const struct merge *m)
{
    json_t *worst = NULL;
    double overrun = 0;

    for (unsigned i = 0; i < m->nruns; i++) {
        json_t *end = json_object_get(m->run[i]->json, "end");
        double own = json_number_value(json_object_get(end, "overrun"));

        overrun = own > overrun ? own : overrun;
        if (!worst || json_integer_value(json_object_get(end, "status")) >
                          json_integer_value(json_object_get(worst, "status")))
            worst = end;
    }
    worst = worst ? json_copy(worst) : json_object();
    json_object_set_new(worst, "seconds", json_real(m->seconds));
    if (overrun > 0)
        json_object_set_new(worst, "overrun", json_real(overrun));
    return worst;
}

// Slots lack the intervals that a run could not keep.
static uint64_t sum_missing(const struct merge *m)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < m->nruns; i++)
        n += (uint64_t)json_integer_value(json_object_get(
            json_object_get(m->run[i]->json, "intervals"), "missing"));
    return n;
}

// The worst of the states of all runs; NULL if one was not checked.
static json_t *merged_validity(const struct merge *m)
{
    struct sb_validity all = { 0 }, one;

    for (unsigned i = 0; i < m->nruns; i++) {
        const json_t *validity = json_object_get(m->run[i]->json, "validity");

        if (!validity)
            return NULL;
        sb_validity_read(&one, validity);
        sb_validity_add(&all, &one, i + 1);
    }
    return sb_validity_json(&all);
}

static int write_document(struct merge *m, FILE *out, struct sb_err *err)
{
    struct sb_report report;

    sb_report_fill(&report, &m->snap, sum_threads(m),
        m->run[0]->report.open_loop, m->seconds);
    report.interval_s = m->seconds;
    report.queue = m->snap.queue;
    report.stats = m->stats;
    report.stages = m->stage;
    report.nstages = m->nstages;
    report.warmup = any_warmup(m);
    const struct sb_document_run run = { .facts = merged_facts(m),
        .columns = m->rows.columns,
        .missing = sum_missing(m),
        .totals = sb_json_totals(&report),
        .validity = merged_validity(m),
        .end = merged_end(m),
        .rows = sb_merge_rows_write,
        .heat = sb_merge_rows_heat,
        .arg = &m->rows };
    sb_document_begin(out, json_object_get(m->file[0].file[0].json, "program"));
    int rc = sb_document_run(out, &run, true, err);
    sb_document_end(out);
    json_decref(run.facts);
    json_decref(run.totals);
    json_decref(run.validity);
    json_decref(run.end);
    return rc;
}

static int write_file(struct merge *m, const char *path)
{
    struct sb_target t;
    struct sb_err err = { 0 };
    int rc = sb_target_open(&t, path, SB_TARGET_WHOLE, &err);

    if (rc == 0)
        rc = write_document(m, t.file, &err);
    if (rc == 0)
        rc = sb_target_commit(&t, &err);
    sb_target_done(&t);
    if (rc)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    return rc;
}

// The command -----------------------------------------------------------------

struct merge_opts {
    const char *output;
};

static const struct sb_opt options[] = {
    { .name = "output",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct merge_opts, output),
        .def = "-",
        .flags = SB_OPT_FILENAME,
        .help = "file to write; '-' is standard output" },
    { .name = NULL },
};

static const struct sb_opt_table option_table = {
    .title = "Options of merge",
    .opts = options,
};

static int perform_merge(struct merge *m)
{
    const struct merge_opts *o = m->args->o;
    struct sb_err err = { 0 };
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < m->args->nfiles; i++)
        if (sb_side_is_output(m->args->file[i], o->output))
            return SB_EUSAGE;
    rc = read_all(m);
    if (rc == 0)
        rc = check_files(m);
    if (rc == 0)
        rc = check_runs(m);
    if (rc == 0)
        rc = sb_runs_check_different(m->run, m->nruns, "merge");
    if (rc == 0) {
        find_offsets(m);
        rc = check_distance(m);
    }
    if (rc == 0) {
        warn_of_gaps(m);
        warn_of_warmup(m);
        rc = merge_check_ranks(m->run, m->offset, m->nruns);
    }
    if (rc == 0) {
        merge_warn_of_options(m->run, m->nruns);
        rc = add_all(m, &err);
    }
    if (err.code)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    return rc ? rc : write_file(m, o->output);
}

static int merge(const struct sb_cmd_args *args)
{
    struct merge m = { .args = args, .stats = calloc(1, sizeof(*m.stats)) };
    int rc = m.stats ? perform_merge(&m) : merge_no_memory();

    sb_merge_rows_done(&m.rows);
    for (unsigned i = 0; i < m.nstages; i++)
        sb_snap_done(&m.stage_snap[i]);
    free(m.stage);
    free(m.stage_snap);
    sb_snap_done(&m.snap);
    if (m.stats)
        sb_stats_done(m.stats);
    free(m.stats);
    for (unsigned i = 0; m.file && i < args->nfiles; i++)
        sb_side_done(&m.file[i]);
    free(m.file);
    free(m.run);
    free(m.offset);
    return rc ? SB_CMD_FAILED : SB_CMD_OK;
}

const struct sb_cmd sb_cmd_merge = {
    .name = "merge",
    .usage = "merge [OPTIONS] FILE...",
    .title = "Adds the results of processes that ran at the same time. Totals "
             "are exact; intervals have no percentiles.",
    .min_files = 1,
    .max_files = 1000,
    .opts = &option_table,
    .opts_size = sizeof(struct merge_opts),
    .run = merge,
};
