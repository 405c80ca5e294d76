// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/sides.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "measure/answers.h"
#include "out/costs.h"
#include "out/json_value.h"
#include "results/cmd.h"

// The values that the runs of a sweep have, for messages.

static const char *value_of(const struct sb_result_run *r, const char *name)
{
    return json_string_value(
        json_object_get(json_object_get(r->json, "swept"), name));
}

static bool is_first(const struct sb_side *s, unsigned n, const char *name)
{
    const char *value = value_of(s->run[n], name);

    for (unsigned i = 0; value && i < n; i++) {
        const char *other = value_of(s->run[i], name);

        if (other && strcmp(other, value) == 0)
            return false;
    }
    return value != NULL;
}

// Adds the values that the runs have: "threads=1, 2, 4; table_size=10".
static void side_values(const struct sb_side *s, struct sb_buf *out)
{
    json_t *swept = s->nruns ? json_object_get(s->run[0]->json, "swept") : NULL;
    const char *name;
    json_t *value;

    json_object_foreach(swept, name, value)
    {
        sb_buf_addf(out, "%s%s=", out->len ? "; " : "", name);
        for (unsigned i = 0; i < s->nruns; i++)
            if (is_first(s, i, name))
                sb_buf_addf(
                    out, "%s%s", i ? ", " : "", value_of(s->run[i], name));
    }
}

// before: of the message, "--at: sweep.json".
static int no_run(const struct sb_side *s, const char *before)
{
    struct sb_buf has;

    sb_buf_init(&has, 0);
    side_values(s, &has);
    sb_log(SB_LOG_FATAL, "%s has no run with these values; it has %s", before,
        has.len && !has.failed ? has.data : "no others");
    sb_buf_done(&has);
    return SB_EUSAGE;
}

// Whether two results are of the same run, perhaps in different files.

static bool equal(const json_t *a, const json_t *b, const char *name)
{
    const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);

    return x == y || (x && y && json_equal(x, y));
}

bool sb_result_run_is_same(
    const struct sb_result_run *a, const struct sb_result_run *b)
{
    // Processes that start together may have the same seed, but they do not
    // measure the same nanoseconds.
    static const char *const names[] = { "started", "test", "seed", "host",
        "counters", "latency" };

    if (!*sb_result_text(a, "started"))
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!equal(a->json, b->json, names[i]))
            return false;
    return true;
}

int sb_runs_check_different(
    const struct sb_result_run *const *run, unsigned n, const char *what)
{
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < i; k++) {
            if (!sb_result_run_is_same(run[i], run[k]))
                continue;
            sb_log(SB_LOG_FATAL,
                "%s: the run of %s, seed %s, is given twice (runs %u and %u)",
                what, sb_result_text(run[i], "started"),
                sb_result_text(run[i], "seed"), k + 1, i + 1);
            return SB_EUSAGE;
        }
    }
    return 0;
}

// Files -----------------------------------------------------------------------

// Returns where the values begin in "sweep.json:threads=16", or NULL.
static char *find_values(char *path)
{
    // A colon may also be part of a name.
    if (access(path, F_OK) == 0)
        return NULL;
    for (char *colon = path; (colon = strchr(colon, ':')); colon++) {
        size_t n = strspn(colon + 1, "abcdefghijklmnopqrstuvwxyz0123456789_-");

        if (n > 0 && colon[1 + n] == '=')
            return colon;
    }
    return NULL;
}

// Whether a run of a sweep has all these values, ":threads=16:rate=100".
static bool has_values(const struct sb_result_run *r, const char *values)
{
    json_t *swept = json_object_get(r->json, "swept"), *value;
    size_t used = 0, n = 0;
    const char *name;

    json_object_foreach(swept, name, value)
    {
        struct sb_buf text = { 0 };
        const char *found;

        sb_buf_addf(&text, ":%s=%s", name, json_string_value(value));
        found = text.failed ? NULL : strstr(values, text.data);
        if (found && (!found[text.len] || found[text.len] == ':')) {
            used += text.len;
            n++;
        }
        sb_buf_done(&text);
    }
    return n > 0 && used == strlen(values);
}

static int add_runs(
    struct sb_side *s, const struct sb_result_file *f, const char *values)
{
    for (unsigned i = 0; i < f->nruns; i++) {
        if (!f->run[i].has_totals ||
            (values && !has_values(&f->run[i], values)))
            continue;
        if (s->nruns == SB_SIDE_RUNS_MAX) {
            sb_log(SB_LOG_FATAL, "%s: more than %u runs", s->text,
                SB_SIDE_RUNS_MAX);
            return SB_ERANGE;
        }
        s->run[s->nruns++] = &f->run[i];
    }
    return 0;
}

static unsigned count_files(const char *text)
{
    unsigned n = 1;

    // A comma may also be part of a name.
    if (access(text, F_OK) == 0)
        return 1;
    for (; *text; text++)
        n += *text == ',';
    return n;
}

static int read_file(struct sb_side *s, char *path)
{
    struct sb_result_file *f = &s->file[s->nfiles++];
    char *values = find_values(path), *copy = values ? strdup(values) : NULL;
    unsigned before = s->nruns;

    if (values && !copy) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_ENOMEM;
    }
    if (values)
        *values = '\0';
    int rc = sb__cmd_read(f, path);

    rc = rc ? rc : add_runs(s, f, copy);
    free(copy);
    if (rc == 0 && values && s->nruns == before) {
        struct sb_side all = { .text = s->text };

        rc = add_runs(&all, f, NULL);
        rc = rc ? rc : no_run(&all, s->text);
    }
    return rc;
}

int sb_side_read(struct sb_side *s, const char *text)
{
    unsigned n = count_files(text);
    char *rest;
    int rc = 0;

    memset(s, 0, sizeof(*s));
    s->text = text;
    s->paths = rest = strdup(text);
    s->file = calloc(n, sizeof(*s->file));
    if (!s->paths || !s->file) {
        sb_log(SB_LOG_FATAL, "out of memory");
        rc = SB_ENOMEM;
    }
    for (unsigned i = 0; rc == 0 && i < n; i++) {
        char *path = n > 1 ? strsep(&rest, ",") : rest;

        rc = read_file(s, path);
    }
    if (rc == 0 && s->nruns == 0) {
        sb_log(SB_LOG_FATAL, "%s has no run with figures", text);
        rc = SB_EUSAGE;
    }
    return rc;
}

bool sb_side_is_output(const char *text, const char *output)
{
    unsigned n = count_files(text);
    char *copy = strdup(text), *rest = copy;
    bool is = false;

    for (unsigned i = 0; copy && !is && i < n; i++) {
        char *path = n > 1 ? strsep(&rest, ",") : copy;
        char *values = find_values(path);

        if (values)
            *values = '\0';
        is = sb__cmd_is_output(path, output);
    }
    free(copy);
    return is;
}

void sb_side_done(struct sb_side *s)
{
    for (unsigned i = 0; i < s->nfiles; i++)
        sb_result_done(&s->file[i]);
    free(s->file);
    free(s->paths);
    memset(s, 0, sizeof(*s));
}

// Runs of sweeps --------------------------------------------------------------

// Whether a run has a value, "threads=16". Runs without this option do.
static bool has_value(const struct sb_result_run *r, const char *at)
{
    json_t *swept = json_object_get(r->json, "swept"), *value;
    const char *name, *wanted;

    json_object_foreach(swept, name, value)
    {
        wanted = sb__cmd_value_of(at, name);
        if (wanted)
            return json_is_string(value) &&
                   strcmp(json_string_value(value), wanted) == 0;
    }
    return true;
}

// The first option whose value is not the same in all runs, or NULL.
static const char *find_mixed(const struct sb_side *s)
{
    json_t *first = json_object_get(s->run[0]->json, "swept");
    const char *name;
    json_t *value;

    json_object_foreach(first, name, value)
    {
        for (unsigned i = 1; i < s->nruns; i++)
            if (!json_equal(value,
                    json_object_get(
                        json_object_get(s->run[i]->json, "swept"), name)))
                return name;
    }
    return NULL;
}

int sb_side_select(struct sb_side *s, const struct sb_opt_list *at)
{
    unsigned n = 0;

    for (unsigned i = 0; i < s->nruns; i++) {
        bool keep = true;

        for (size_t k = 0; k < at->count; k++)
            keep = keep && has_value(s->run[i], at->item[k]);
        if (keep)
            s->run[n++] = s->run[i];
    }
    if (n == 0) {
        char before[300];

        snprintf(before, sizeof(before), "--at: %s", s->text);
        return no_run(s, before);
    }
    s->nruns = n;
    const char *mixed = find_mixed(s);

    if (!mixed)
        return 0;
    sb_log(SB_LOG_FATAL,
        "%s is a sweep: its runs have different values of %s; choose one with "
        "--at=%s=VALUE",
        s->text, mixed, mixed);
    return SB_EUSAGE;
}

// Runs that say nothing -------------------------------------------------------

// Returns why a run cannot be compared, or NULL.
static const char *why_not(const struct sb_result_run *r, const char *reason)
{
    if (r->report.warmup)
        return "was left out, because it ended during its warm-up";
    if (r->report.search && !(r->report.search->rate > 0))
        return "was left out, because it ended during the search for its rate";
    if (strcmp(reason, "failed") == 0 || strcmp(reason, "forced") == 0 ||
        strcmp(reason, "hung") == 0)
        return "was left out, because it failed";
    return NULL;
}

static const struct sb_result_file *file_of(
    const struct sb_side *s, const struct sb_result_run *r)
{
    unsigned i = 0;

    while (r < s->file[i].run || r >= s->file[i].run + s->file[i].nruns) {
        i++;
        assert(i < s->nfiles);
    }
    return &s->file[i];
}

static void add_note(
    struct sb_side *s, const struct sb_result_run *r, const char *what)
{
    if (s->nnotes < SB_SIDE_NOTES_MAX)
        s->note[s->nnotes] = (struct sb_side_note){ file_of(s, r), r, what };
    s->nnotes++;
}

static const char *reason_of(const struct sb_result_run *r)
{
    const char *reason = json_string_value(
        json_object_get(json_object_get(r->json, "end"), "reason"));

    return reason ? reason : "";
}

int sb_side_leave_out(struct sb_side *s)
{
    unsigned n = 0, all = s->nruns;

    assert(s->nnotes == 0 && s->left_out == 0); // their notes come first
    for (unsigned i = 0; i < all; i++) {
        const char *why = why_not(s->run[i], reason_of(s->run[i]));

        if (why)
            add_note(s, s->run[i], why);
        else
            s->run[n++] = s->run[i];
    }
    s->nruns = n;
    s->left_out = all - n;
    if (n == 0) {
        sb_log(SB_LOG_FATAL, "%s has no run to compare: it %s", s->text,
            s->note[0].what);
        return SB_EUSAGE;
    }
    for (unsigned i = 0; i < n; i++)
        if (strcmp(reason_of(s->run[i]), "signal") == 0)
            add_note(s, s->run[i],
                "was interrupted, so it may be shorter than planned");
    return 0;
}

// Figures ---------------------------------------------------------------------

static const struct sb_snap_op *find_op(
    const struct sb_result_run *r, const char *name)
{
    for (unsigned i = 0; i < r->snap.nops; i++)
        if (strcmp(r->stats->op[i].name, name) == 0)
            return &r->snap.op[i];
    return NULL;
}

double sb_result_run_throughput(const struct sb_result_run *r)
{
    double seconds = r->report.total_s;

    return seconds > 0 ? (double)r->snap.c.completed / seconds : NAN;
}

double sb_result_run_own(const struct sb_result_run *r, const char *name)
{
    const json_t *list = json_object_get(r->json, "results");
    char full[2 * SB_ANSWER_NAME];

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);

        sb_answer_full_name(
            full, sb__json_text_of(o, "workload"), sb__json_text_of(o, "name"));
        if (strcmp(full, name) == 0)
            return sb__json_number_of(o, "value");
    }
    return NAN;
}

double sb_result_run_headline(const struct sb_result_run *r, const char *name)
{
    const json_t *o = json_object_get(r->json, "headline");

    return strcmp(sb__json_text_of(o, "figure"), name) == 0
               ? sb__json_number_of(o, "value")
               : NAN;
}

bool sb_cost_figure(unsigned n, struct sb_figure *f)
{
    *f = (struct sb_figure){
        .group = "costs", .name = "", .figure = SB_COSTS_USD, .unit = "USD"
    };
    if (n < SB_COSTS) {
        f->figure = sb_cost_name((enum sb_cost_id)n);
        f->unit = sb_cost_unit((enum sb_cost_id)n);
    }
    return n <= SB_COSTS;
}

// The figure of the whole run, in the unit of the figure; NAN: unknown.
static double whole(const struct sb_result_run *r, const struct sb_figure *f)
{
    const struct sb_report *p = &r->report;
    const struct sb_hist_snap *h = p->latency;
    uint64_t max = p->lat_max, sum = p->lat_sum;

    if (strcmp(f->group, "costs") == 0)
        return sb_costs_member(json_object_get(r->json, "costs"), f->figure);
    if (strcmp(f->group, "result") == 0)
        return sb_result_run_own(r, f->name);
    if (strcmp(f->group, "headline") == 0)
        return sb_result_run_headline(r, f->name);
    if (f->figure[0] == 't')
        return sb_result_run_throughput(r);
    if (strcmp(f->group, "operation") == 0) {
        const struct sb_snap_op *op = find_op(r, f->name);

        if (!op)
            return NAN;
        h = &op->hist;
        max = op->max;
        sum = op->ns;
    }
    if (h->total == 0)
        return NAN;
    if (f->figure[0] == 'a')
        return (double)sum / (double)h->total / 1e6;
    return sb_hist_snap_percentile(h, strtod(f->figure + 1, NULL), max) / 1e6;
}

// The columns of a figure: that of the value, and that of the length.
struct source {
    unsigned time, seconds, value;
    bool is_rate; // value / seconds
};

static void find_source(
    struct source *c, const struct sb_result_run *r, const struct sb_figure *f)
{
    c->is_rate = strcmp(f->figure, "throughput") == 0;
    c->time = sb_result_column(r, "run", "", "time");
    c->seconds = sb_result_column(r, "run", "", "seconds");
    c->value = sb_result_column(
        r, f->group, f->name, c->is_rate ? "events" : f->figure);
}

// Collects the measured intervals of a run, from which the error is estimated.
// An interval that is much shorter than the others is the rest of the run and
// says little.
static size_t collect(const struct sb_result_run *r, const struct sb_figure *f,
    double *value, double *seconds)
{
    double nominal = json_number_value(json_object_get(r->json, "interval"));
    struct source c;
    size_t n = 0;

    find_source(&c, r, f);
    for (size_t i = 0; i < r->intervals.nrows; i++) {
        double length = sb_result_value(r, i, c.seconds);

        if (!(sb_result_value(r, i, c.time) > 0) || !(length > nominal / 2))
            continue;
        value[n] = sb_result_value(r, i, c.value);
        if (c.is_rate)
            value[n] /= length;
        seconds[n++] = length;
    }
    return n;
}

int sb_result_run_mean(const struct sb_result_run *r, const struct sb_figure *f,
    struct sb_mean *mean)
{
    size_t rows = r->intervals.nrows + 1;
    double *value = malloc(2 * rows * sizeof(*value));

    if (!value)
        return SB_ENOMEM;
    const struct sb_values series = { .value = value,
        .seconds = value + rows,
        .n = collect(r, f, value, value + rows),
        .whole = whole(r, f) };
    sb_mean(&series, mean);
    free(value);
    return 0;
}

int sb_side_means(
    const struct sb_side *s, const struct sb_figure *f, struct sb_mean *mean)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->nruns; i++)
        rc = sb_result_run_mean(s->run[i], f, &mean[i]);
    return rc;
}
