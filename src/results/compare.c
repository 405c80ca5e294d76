// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench compare A B: are two results, or two sets of repeats, different?
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "results/compare_private.h"

// Operations with fewer executions (such as preparing) are not compared.
#define EXECUTIONS_MIN 100u

#define AT(field) offsetof(struct sb__compare_opts, field)

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
    { .name = "at",
        .type = SB_OPT_LIST,
        .offset = AT(at),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "of sweeps, compare the runs with these values: threads=16" },
    { .name = "html",
        .type = SB_OPT_STRING,
        .offset = AT(html),
        .def = "",
        .flags = SB_OPT_FILENAME | SB_OPT_YIELDS,
        .help = "also write the comparison to this file as a page with "
                "charts" },
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

// Figures ---------------------------------------------------------------------

static void add_figure(struct sb__comparison *c, const char *group,
    const char *name, const char *figure)
{
    bool rate = strcmp(figure, "throughput") == 0;

    if (c->n < SB__FIGURES_MAX)
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
static void choose_figures(struct sb__comparison *c)
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

static int compare_figure(struct sb__comparison *c, unsigned n)
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

static int compare_all(struct sb__comparison *c)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < c->n; i++)
        rc = compare_figure(c, i);
    // The first figure was chosen beforehand; the others are a search.
    if (rc == 0 && c->n > 1)
        rc = sb_compare_holm(c->result + 1, c->n - 1, c->o.confidence / 100);
    return rc;
}

// The command -----------------------------------------------------------------

static int status_of(const struct sb__comparison *c)
{
    const struct sb_compare *r = &c->result[0];
    bool lower = r->verdict == SB_VERDICT_LOWER;

    assert(c->n > 0);
    if (c->other_work)
        return SB_CMD_UNDECIDED;
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

static int read_side(
    struct sb__comparison *c, struct sb_side *s, const char *text)
{
    int rc = sb_side_read(s, text);

    if (rc == 0)
        rc = sb_side_select(s, &c->o.at);
    return rc ? rc : sb_side_leave_out(s);
}

static int check_pairs(const struct sb__comparison *c)
{
    if (!c->o.paired)
        return 0;
    // Which runs are pairs depends on their order.
    if (c->a.left_out + c->b.left_out > 0) {
        const struct sb_side *s = c->a.left_out ? &c->a : &c->b;

        sb_log(SB_LOG_FATAL, "--paired: a run of %s %s; leave out the pair",
            s->text, s->note[0].what);
        return SB_EUSAGE;
    }
    if (c->a.nruns == c->b.nruns)
        return 0;
    sb_log(SB_LOG_FATAL,
        "--paired: A has %u runs and B has %u; they must be equal", c->a.nruns,
        c->b.nruns);
    return SB_EUSAGE;
}

static int read_sides(struct sb__comparison *c)
{
    for (int i = 0; i < 2; i++)
        if (sb_side_is_output(c->args->file[i], c->o.json) ||
            sb_side_is_output(c->args->file[i], c->o.html))
            return SB_EUSAGE;
    if (read_side(c, &c->a, c->args->file[0]) ||
        read_side(c, &c->b, c->args->file[1]))
        return SB_EUSAGE;
    // The same run again says nothing about how much runs differ.
    if (sb_runs_check_different(c->a.run, c->a.nruns, c->a.text) ||
        sb_runs_check_different(c->b.run, c->b.nruns, c->b.text))
        return SB_EUSAGE;
    c->open_loop = c->a.run[0]->report.open_loop;
    if (c->open_loop != c->b.run[0]->report.open_loop) {
        sb_log(SB_LOG_FATAL, "one side was measured with --rate, the other "
                             "without: they cannot be compared");
        return SB_EUSAGE;
    }
    return check_pairs(c);
}

static int perform_comparison(struct sb__comparison *c)
{
    if (read_sides(c))
        return SB_CMD_FAILED;
    choose_figures(c);
    if (compare_all(c) || sb__compare_work(c)) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    c->differences = sb__compare_differences(&c->a, &c->b);
    if (!c->differences) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    sb__compare_print(c);
    if (*c->o.json && sb__compare_write_json(c))
        return SB_CMD_FAILED;
    if (*c->o.html && sb__compare_write_html(c))
        return SB_CMD_FAILED;
    return status_of(c);
}

static int compare(const struct sb_cmd_args *args)
{
    struct sb__comparison *c = calloc(1, sizeof(*c));
    int status;

    if (!c) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    c->args = args;
    c->o = *(const struct sb__compare_opts *)args->o;
    status = perform_comparison(c);
    json_decref(c->differences);
    sb_side_done(&c->a);
    sb_side_done(&c->b);
    free(c);
    return status;
}

const struct sb_cmd sb_cmd_compare = {
    .name = "compare",
    .usage = "compare [OPTIONS] A.json[,A2.json...] B.json[,B2.json...]",
    .title =
        "Compares two results, or two sets of repeats. Exit status: 0: B "
        "is not slower, 3: B is slower, 4: no verdict (too little data, or "
        "different work), 1: failure.",
    .min_files = 2,
    .max_files = 2,
    .opts = &option_table,
    .opts_size = sizeof(struct sb__compare_opts),
    .run = compare,
};
