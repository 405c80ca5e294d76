// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench compare A B: are two results, or two sets of repeats, different?
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/sides.h"

#define FIGURES_MAX 512u
// Operations with fewer executions (such as preparing) are not compared.
#define EXECUTIONS_MIN 100u

struct compare_opts {
    double margin, confidence, deviation; // percent
    bool paired;
    const char *json;
};

#define AT(field) offsetof(struct compare_opts, field)

static const struct sb_opt options[] = {
    { .name = "margin",
        .type = SB_OPT_DOUBLE,
        .offset = AT(margin),
        .def = "0",
        .min = 0,
        .max = 99,
        .help = "percentage: smaller differences do not count" },
    { .name = "confidence",
        .type = SB_OPT_DOUBLE,
        .offset = AT(confidence),
        .def = "95",
        .min = 50,
        .max = 99.99,
        .help = "confidence of intervals and verdicts, percent" },
    { .name = "paired",
        .type = SB_OPT_BOOL,
        .offset = AT(paired),
        .def = "off",
        .help = "run n of A and run n of B were measured one after the other" },
    { .name = "run-deviation",
        .type = SB_OPT_DOUBLE,
        .offset = AT(deviation),
        .def = "1",
        .min = 0,
        .max = 100,
        .help = "percentage: standard deviation between runs of the same "
                "thing, assumed if each side is a single run" },
    { .name = "json",
        .type = SB_OPT_STRING,
        .offset = AT(json),
        .def = "",
        .flags = SB_OPT_FILENAME,
        .help = "also write the comparison to this file as JSON" },
    { .name = NULL },
};

static const struct sb_opt_table option_table = {
    .title = "Options of compare",
    .opts = options,
};

struct comparison {
    const struct sb_cmd_args *args;
    struct compare_opts o;
    struct sb_side a, b;
    struct sb_figure figure[FIGURES_MAX]; // the first decides
    struct sb_compare result[FIGURES_MAX];
    unsigned n;
    bool open_loop;
};

// Figures ---------------------------------------------------------------------

static void add_figure(struct comparison *c, const char *group,
    const char *name, const char *figure)
{
    bool rate = strcmp(figure, "throughput") == 0;

    if (c->n < FIGURES_MAX)
        c->figure[c->n++] = (struct sb_figure){ group, name, figure,
            rate ? "/s" : "ms", !rate };
}

static bool has_operation(const struct sb_side *s, const char *name)
{
    for (unsigned i = 0; i < s->run[0]->snap.nops; i++)
        if (strcmp(s->run[0]->stats.op[i].name, name) == 0)
            return s->run[0]->snap.op[i].count >= EXECUTIONS_MIN;
    return false;
}

// The figure that decides comes first: docs/internals/compare.md.
static void choose_figures(struct comparison *c)
{
    const struct sb_result_run *r = c->a.run[0];
    static const char *const closed[] = { "throughput", "p50", "p95", "p99" };
    static const char *const open[] = { "p95", "p50", "p99", "throughput" };

    for (int i = 0; i < 4; i++)
        add_figure(c, "run", "", c->open_loop ? open[i] : closed[i]);
    for (unsigned i = 0; i < r->snap.nops; i++) {
        const char *name = r->stats.op[i].name;

        if (!has_operation(&c->a, name) || !has_operation(&c->b, name))
            continue;
        add_figure(c, "operation", name, "avg");
        add_figure(c, "operation", name, "p95");
    }
}

static int compare_figure(struct comparison *c, unsigned n)
{
    const struct sb_compare_opts o = { .confidence = c->o.confidence / 100,
        .margin = c->o.margin / 100,
        .run_deviation = c->o.deviation / 100,
        .paired = c->o.paired };
    struct sb_mean *a = calloc(c->a.nruns, sizeof(*a));
    struct sb_mean *b = calloc(c->b.nruns, sizeof(*b));
    int rc = a && b ? 0 : SB_ENOMEM;

    if (rc == 0)
        rc = sb_side_means(&c->a, &c->figure[n], a);
    if (rc == 0)
        rc = sb_side_means(&c->b, &c->figure[n], b);
    if (rc == 0)
        sb_compare(a, c->a.nruns, b, c->b.nruns, &o, &c->result[n]);
    free(a);
    free(b);
    return rc;
}

static int compare_all(struct comparison *c)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < c->n; i++)
        rc = compare_figure(c, i);
    // The first figure was chosen beforehand; the others are a search.
    if (rc == 0 && c->n > 1)
        rc = sb_compare_holm(c->result + 1, c->n - 1, c->o.confidence / 100);
    return rc;
}

// Text ------------------------------------------------------------------------

static const char *word(const struct sb_figure *f, const struct sb_compare *r)
{
    bool higher = r->verdict == SB_VERDICT_HIGHER;

    switch (r->verdict) {
    case SB_VERDICT_NONE:
        return "too little data";
    case SB_VERDICT_SAME:
        return r->within_margin ? "equal within the margin"
                                : "no difference seen";
    case SB_VERDICT_HIGHER:
    case SB_VERDICT_LOWER:
        break;
    }
    if (!f->less_is_better)
        return higher ? "higher" : "lower";
    return higher ? "slower" : "faster";
}

// Writes a number with four significant digits, or "-" for no value.
static const char *number(char *out, size_t size, double value)
{
    if (!isfinite(value))
        snprintf(out, size, "-");
    else if (fabs(value) >= 1000)
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, "%.4g", value);
    return out;
}

static const char *percent(char *out, size_t size, double share)
{
    if (isfinite(share))
        snprintf(out, size, "%+.2f %%", 100 * share);
    else
        snprintf(out, size, "-");
    return out;
}

static void print_row(const struct comparison *c, unsigned n)
{
    const struct sb_figure *f = &c->figure[n];
    const struct sb_compare *r = &c->result[n];
    char name[160], a[32], b[32], diff[32], low[32], high[32];

    snprintf(name, sizeof(name), "%s%s%s, %s", f->name, *f->name ? " " : "",
        f->figure, f->unit);
    fprintf(c->args->out, "%-32s %10s %10s %10s  %9s .. %-9s  %s\n", name,
        number(a, sizeof(a), r->a.value), number(b, sizeof(b), r->b.value),
        percent(diff, sizeof(diff), r->difference),
        percent(low, sizeof(low), r->low), percent(high, sizeof(high), r->high),
        word(f, r));
}

static void print_side(
    const struct comparison *c, char name, const struct sb_side *s)
{
    const struct sb_result_run *r = s->run[0];

    fprintf(c->args->out, "%c: %s: %s, %u run%s of %.6g s, %u threads\n", name,
        s->text, sb_result_text(r, "test"), s->nruns, s->nruns == 1 ? "" : "s",
        r->report.total_s, r->report.threads);
}

// Options that differ may be the reason of a difference, or a mistake.
static void print_options(const struct comparison *c)
{
    json_t *list = json_object_get(c->a.run[0]->json, "options");
    const char *before = "Options that differ: ";

    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(
            json_object_get(json_array_get(list, i), "name"));
        const char *a = name ? sb_result_option(c->a.run[0], name) : NULL;
        const char *b = name ? sb_result_option(c->b.run[0], name) : NULL;

        if (!a || !b || strcmp(a, b) == 0 || strcmp(name, "report") == 0 ||
            strcmp(name, "label") == 0)
            continue;
        fprintf(c->args->out, "%s%s %s / %s", before, name, *a ? a : "(none)",
            *b ? b : "(none)");
        before = ", ";
    }
    if (before[0] == ',')
        fprintf(c->args->out, "\n");
}

static void print_notes(const struct comparison *c)
{
    const struct sb_compare *r = &c->result[0];
    FILE *out = c->args->out;

    if (r->drift_unknown && c->a.nruns == 1 && c->b.nruns == 1)
        fprintf(out,
            "Two single runs: how much runs of the same thing differ is "
            "unknown; a deviation of %g %% is assumed (--run-deviation). "
            "Repeat the runs to be sure.\n",
            c->o.deviation);
    if (r->too_short)
        fprintf(out,
            "The runs are too short: their intervals depend on each other. "
            "Measure longer, or repeat the runs.\n");
    if (r->drifts_differ)
        fprintf(out, "One run drifts more than the other during its time: "
                     "the interval covers both.\n");
}

static void print_verdict(const struct comparison *c)
{
    const struct sb_figure *f = &c->figure[0];
    const struct sb_compare *r = &c->result[0];
    const char *what = strcmp(f->figure, "throughput") == 0
                           ? "throughput"
                           : "95th percentile of the response time";
    bool better = (r->verdict == SB_VERDICT_HIGHER) != f->less_is_better;
    FILE *out = c->args->out;

    fprintf(out, "\nVerdict: ");
    if (r->verdict == SB_VERDICT_NONE)
        fprintf(out, "none, too little data.\n");
    else if (r->verdict == SB_VERDICT_SAME && r->within_margin)
        fprintf(out, "no difference beyond %g %% (%s %+.2f %%).\n", c->o.margin,
            what, 100 * r->difference);
    else if (r->verdict == SB_VERDICT_SAME)
        fprintf(out,
            "no difference seen (%s %+.2f %%, interval %+.2f %% to "
            "%+.2f %%).\n",
            what, 100 * r->difference, 100 * r->low, 100 * r->high);
    else
        fprintf(out,
            "B is %s than A: %s %+.2f %% (interval %+.2f %% to "
            "%+.2f %%).\n",
            better ? "faster" : "slower", what, 100 * r->difference,
            100 * r->low, 100 * r->high);
}

static void print(const struct comparison *c)
{
    print_side(c, 'A', &c->a);
    print_side(c, 'B', &c->b);
    print_options(c);
    fprintf(c->args->out, "\n%-32s %10s %10s %10s  %19.4g %% interval  %s\n",
        "figure", "A", "B", "B / A - 1", c->o.confidence, "verdict");
    for (unsigned i = 0; i < c->n; i++)
        print_row(c, i);
    print_verdict(c);
    print_notes(c);
}

// JSON ------------------------------------------------------------------------

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *estimate(const struct sb_estimate *e)
{
    return json_pack("{s:o,s:o,s:o,s:i}", "value", real(e->value), "low",
        real(e->low), "high", real(e->high), "runs", (int)e->runs);
}

static json_t *figure_json(
    const struct sb_figure *f, const struct sb_compare *r)
{
    static const char *const verdicts[] = { "none", "same", "higher", "lower" };

    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:b,s:b,"
                     "s:b,s:b}",
        "group", f->group, "name", f->name, "figure", f->figure, "unit",
        f->unit, "a", estimate(&r->a), "b", estimate(&r->b), "difference",
        real(r->difference), "low", real(r->low), "high", real(r->high), "p",
        real(isfinite(r->p_adjusted) ? r->p_adjusted : r->p), "verdict",
        verdicts[r->verdict], "within_margin", r->within_margin,
        "drift_unknown", r->drift_unknown, "too_short", r->too_short,
        "drifts_differ", r->drifts_differ);
}

static int write_json(const struct comparison *c)
{
    json_t *figures = json_array();
    int rc = figures ? 0 : -1;

    for (unsigned i = 0; rc == 0 && i < c->n; i++)
        rc = json_array_append_new(
            figures, figure_json(&c->figure[i], &c->result[i]));
    json_t *o = json_pack("{s:s,s:i,s:s,s:s,s:f,s:f,s:o}", "format",
        "sysbench-comparison", "version", 1, "a", c->a.text, "b", c->b.text,
        "confidence", c->o.confidence, "margin", c->o.margin, "figures",
        figures);
    if (rc == 0)
        rc = json_dump_file(o, c->o.json, JSON_INDENT(1));
    json_decref(o);
    if (rc)
        sb_log(SB_LOG_FATAL, "cannot write %s: %s", c->o.json, strerror(errno));
    return rc;
}

// The command -----------------------------------------------------------------

static int status_of(const struct comparison *c)
{
    const struct sb_compare *r = &c->result[0];
    bool lower = r->verdict == SB_VERDICT_LOWER;

    switch (r->verdict) {
    case SB_VERDICT_NONE:
        return SB_CMD_UNDECIDED;
    case SB_VERDICT_SAME:
        return SB_CMD_OK;
    case SB_VERDICT_HIGHER:
    case SB_VERDICT_LOWER:
        break;
    }
    return lower != c->figure[0].less_is_better ? SB_CMD_SLOWER : SB_CMD_OK;
}

static int perform(struct comparison *c)
{
    if (sb_side_read(&c->a, c->args->file[0]) ||
        sb_side_read(&c->b, c->args->file[1]))
        return SB_CMD_FAILED;
    c->open_loop = c->a.run[0]->report.open_loop;
    if (c->open_loop != c->b.run[0]->report.open_loop) {
        sb_log(SB_LOG_FATAL, "one side was measured with --rate, the other "
                             "without: they cannot be compared");
        return SB_CMD_FAILED;
    }
    if (c->o.paired && c->a.nruns != c->b.nruns) {
        sb_log(SB_LOG_FATAL,
            "--paired: A has %u runs and B has %u; they must be equal",
            c->a.nruns, c->b.nruns);
        return SB_CMD_FAILED;
    }
    choose_figures(c);
    if (compare_all(c)) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    print(c);
    if (*c->o.json && write_json(c))
        return SB_CMD_FAILED;
    return status_of(c);
}

static int compare(const struct sb_cmd_args *args)
{
    struct comparison *c = calloc(1, sizeof(*c));
    int status;

    if (!c) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    c->args = args;
    c->o = *(const struct compare_opts *)args->o;
    status = perform(c);
    sb_side_done(&c->a);
    sb_side_done(&c->b);
    free(c);
    return status;
}

const struct sb_cmd sb_cmd_compare = {
    .name = "compare",
    .usage = "compare [OPTIONS] A.json[,A2.json...] B.json[,B2.json...]",
    .title = "Compares two results, or two sets of repeats. Exit status: 0: B "
             "is not slower, 3: B is slower, 4: too little data, 1: failure.",
    .min_files = 2,
    .max_files = 2,
    .opts = &option_table,
    .opts_size = sizeof(struct compare_opts),
    .run = compare,
};
