// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench show FILE: the classic report again, from a result file.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "kit/buf.h"
#include "kit/units.h"
#include "out/assert.h"
#include "out/beside_figures.h"
#include "out/answers.h"
#include "out/context.h"
#include "out/costs.h"
#include "out/facts.h"
#include "out/waits.h"
#include "out/statements.h"
#include "results/ab.h"
#include "results/cmd.h"
#include "results/sweep_figures.h"

struct show_opts {
    bool validity, disclosure, statements;
};

static const struct sb_opt show_options[] = {
    { .name = "validity",
        .type = SB_OPT_BOOL,
        .offset = offsetof(struct show_opts, validity),
        .def = "off",
        .help = "print whether the figures of the run may be believed: the "
                "checks that were made" },
    { .name = "disclosure",
        .type = SB_OPT_BOOL,
        .offset = offsetof(struct show_opts, disclosure),
        .def = "off",
        .help = "print how the run was measured instead of its figures, for a "
                "paper or a bug report: command line, server, settings that "
                "are not defaults, machine, data and checks" },
    { .name = "statements",
        .type = SB_OPT_BOOL,
        .offset = offsetof(struct show_opts, statements),
        .def = "off",
        .flags = SB_OPT_YIELDS,
        .help = "print what the servers counted of each statement" },
    { .name = NULL },
};

static const struct sb_opt_table show_opt_table = { .title = "Options of show",
    .opts = show_options };

// What sysbench show prints behind the figures of a run: its limits, the
// command of --beside, and how it ended.

// The limits as they were typed.
static int parse_limits(
    struct sb_asserts *a, const json_t *list, struct sb_err *err)
{
    struct sb_buf text;
    int rc;

    sb_buf_init(&text, 0);
    for (size_t i = 0; i < json_array_size(list); i++)
        sb_buf_addf(&text, "%s%s", i ? ", " : "",
            sb_result_member(json_array_get(list, i), "limit"));
    rc = text.failed
             ? sb_err_set(err, SB_ENOMEM, "out of memory")
             : sb_asserts_init(a, text.data ? text.data : "", NULL, err);
    sb_buf_done(&text);
    if (rc == 0 && a->n != json_array_size(list)) {
        sb_asserts_done(a);
        rc = sb_err_set(err, SB_EUSAGE, "a limit is not complete");
    }
    return rc;
}

static void take_verdicts(struct sb_asserts *a, const json_t *list)
{
    for (unsigned i = 0; i < a->n; i++) {
        const json_t *o = json_array_get(list, i);
        const json_t *value = json_object_get(o, "value");
        struct sb_verdict *v = &a->limit[i].verdict;
        enum sb_validity_state state = sb_validity_named(
            sb_result_member(o, "value"));

        v->known = json_is_number(value) || state < SB_VALIDITY_STATES;
        v->value = json_is_number(value) ? json_number_value(value) : state;
        v->passed = json_is_true(json_object_get(o, "passed"));
        snprintf(v->why, sizeof(v->why), "%s", sb_result_member(o, "why"));
        snprintf(a->limit[i].unit, sizeof(a->limit[i].unit), "%s",
            sb_result_member(o, "unit"));
    }
}

static void write_limits(const void *limits, FILE *out)
{
    sb_asserts_text(limits, out);
}

static void write_validity(const void *validity, FILE *out)
{
    sb_validity_text(validity, out);
}

static void write_costs(const void *costs, FILE *out)
{
    sb_costs_text(costs, out);
}

// Prints a table with what a terminal must not execute made visible.
static void print_table(
    void (*write)(const void *data, FILE *out), const void *data, FILE *out)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        return;
    write(data, memory);
    if (fclose(memory) == 0)
        sb__cmd_print(out, text);
    free(text);
}

// Prints the table of limits, if the run had any.
static void show_limits(const struct sb_result_run *run, FILE *out)
{
    const json_t *list = json_object_get(run->json, "limits");
    struct sb_asserts a = { 0 };
    struct sb_err err = { 0 };

    if (json_array_size(list) == 0)
        return;
    // For example, of a later version.
    if (parse_limits(&a, list, &err)) {
        sb_log(SB_LOG_WARNING, "the limits of the run cannot be shown: %s",
            err.msg);
        return;
    }
    take_verdicts(&a, list);
    print_table(write_limits, &a, out);
    sb_asserts_done(&a);
}

struct shown_answers {
    struct sb_answers answers;
    struct sb_headline headline;
};

static void write_answers(const void *data, FILE *out)
{
    const struct shown_answers *s = data;

    sb_answers_text(&s->answers, &s->headline, out);
}

// Prints the headline of the run, and the results and verdicts of scripts.
static void show_answers(const struct sb_result_run *run, FILE *out)
{
    struct shown_answers s;

    if (sb_answers_read(&s.answers, &s.headline, run->json) == 0)
        print_table(write_answers, &s, out);
    sb_answers_done(&s.answers);
}

// Prints the checks of the run's figures.
static void show_validity(const struct sb_result_run *run, FILE *out)
{
    const json_t *json = json_object_get(run->json, "validity");
    struct sb_validity v;

    if (!json) {
        fputs("Validity: the figures of the run were not checked\n\n", out);
        return;
    }
    sb_validity_read(&v, json);
    print_table(write_validity, &v, out);
}

// Prints what the events cost the server. price: as given now, or in the run.
static void show_costs(const struct sb_result_run *run, double price, FILE *out)
{
    const json_t *json = json_object_get(run->json, "costs");
    struct sb_costs c;

    if (!json) {
        fputs("Costs: the result file has none\n\n", out);
        return;
    }
    sb_costs_read(&c, json);
    if (price > 0)
        c.price = price;
    print_table(write_costs, &c, out);
}

static void write_waits(const void *waits, FILE *out)
{
    sb_waits_text(waits, false, out);
}

static void write_waits_of_several(const void *waits, FILE *out)
{
    sb_waits_text(waits, true, out);
}

// Prints what the sessions of the servers were waiting for, if it is known.
static void show_waits(const struct sb_result_run *run, FILE *out)
{
    const json_t *list = json_object_get(run->json, "waits");

    for (size_t i = 0; i < json_array_size(list); i++) {
        struct sb_waits_figures figures;
        struct sb_waits_facts w;

        if (sb_waits_read(json_array_get(list, i), &w, &figures))
            print_table(json_array_size(list) > 1 ? write_waits_of_several
                                                  : write_waits,
                &w, out);
        sb_waits_figures_done(&figures);
    }
}

static void write_statements(const void *statements, FILE *out)
{
    sb_statements_text(statements, out);
}

// Prints what servers have counted of statements: demanded now or by the run.
static void show_statements(
    const struct sb_result_run *run, bool demanded, FILE *out)
{
    const json_t *json = json_object_get(run->json, "statements");
    const char *option = sb_result_option(run, "server-statements");

    if (json && (demanded || (option && strcmp(option, "on") == 0)))
        print_table(write_statements, json, out);
    else if (demanded)
        fputs("Statements: no server was asked what it counts, or none counts "
              "statements\n\n",
            out);
}

static void show_command(const json_t *member, FILE *out)
{
    struct sb_beside_summary s;

    if (sb_beside_read(&s, member))
        sb_beside_print(&s, out);
}

// Prints the figures of the command of --beside, if there was one; of a merged
// run those of each run with one.
static void show_beside(const struct sb_result_run *run, FILE *out)
{
    const json_t *merged = json_object_get(run->json, "merged");

    show_command(json_object_get(run->json, "beside"), out);
    for (size_t i = 0; i < json_array_size(merged); i++) {
        const json_t *o = json_object_get(json_array_get(merged, i), "beside");

        if (!o)
            continue;
        fprintf(out, "Run %zu of %zu:\n", i + 1, json_array_size(merged));
        show_command(o, out);
    }
}

// Prints how the run ended, if early.
static void show_end(const struct sb_result_run *run, struct sb_text *text)
{
    const json_t *end = json_object_get(run->json, "end");
    const char *limit = json_string_value(json_object_get(end, "limit"));
    const char *time = sb_result_option(run, "time");
    struct sb_text_times times = { .seconds = run->report.total_s,
        .warmup = run->report.warmup };
    int64_t ns;

    if (time && sb_units_duration(time, INT64_C(1000000000), &ns) == 0)
        times.planned = (double)ns / 1e9;
    sb_text_end(text,
        &(struct sb_outcome){ .reason = sb_result_member(end, "reason"),
            .limit = limit,
            .overrun = json_number_value(json_object_get(end, "overrun")) },
        &times);
}

// The block of a built-in test, as it was printed.
static void print_block(void *data, const struct sb_report *r, FILE *out)
{
    (void)r;
    sb__cmd_print(out, data);
}

// The options of the text report: given now, otherwise as in the run, otherwise
// the defaults. An earlier file has no effect. The values of a file are checked
// as those of a config file are.
static int take_options(const struct sb_cmd_args *args,
    const struct sb_result_run *run, struct sb_err *err)
{
    int rc = 0;

    for (const struct sb_opt *o = sb_text_opt_table.opts; rc == 0 && o->name;
         o++) {
        const char *value = sb_result_option(run, o->name);

        if (!value || !*value)
            value = o->def;
        if (strcmp(o->name, "verbosity") != 0)
            rc = sb_opts_set(args->opts, o->name, value, SB_SRC_FILE, err);
    }
    return rc;
}

static bool has_only_documents(const struct sb_result_run *run)
{
    json_t *list = json_object_get(run->json, "databases"), *database;
    size_t i;

    json_array_foreach(list, i, database)
    {
        if (!json_is_true(json_object_get(database, "documents")))
            return false;
    }
    return json_array_size(list) > 0;
}

static void print_run(const struct sb_cmd_args *args,
    const struct sb_text_opts *o, const struct sb_result_run *run)
{
    const struct sb_counters *c = &run->snap.c;
    const struct show_opts *own = args->o;
    char *block = (char *)sb_result_text(run, "block");
    struct sb_validity validity;
    struct sb_text text;
    struct sb_err err = { 0 };

    if (sb_text_init(&text, o, args->out, &err)) {
        sb_log(SB_LOG_FATAL, "%s", err.msg);
        return;
    }
    text.sql = c->reads + c->writes + c->others > 0 ||
               json_array_size(json_object_get(run->json, "databases")) > 0;
    text.documents = has_only_documents(run);
    text.stats = run->report.stats;
    sb_validity_read(&validity, json_object_get(run->json, "validity"));
    text.censored = sb_validity_censored(&validity);
    if (*block)
        text.own = (struct sb_text_own){ .data = block, .final = print_block };
    sb_text_final(&text, &run->report);
    sb_text_found(&text, &run->report);
    if (o->verbosity >= SB_LOG_NOTICE)
        show_waits(run, args->out);
    if (own->validity || o->report_validity == SB_TEXT_VALIDITY_ON)
        show_validity(run, args->out);
    if (o->report_costs == SB_TEXT_COSTS_ON || o->price > 0)
        show_costs(run, o->price, args->out);
    show_statements(run, own->statements, args->out);
    if (o->verbosity >= SB_LOG_NOTICE) {
        show_answers(run, args->out);
        show_limits(run, args->out);
    }
    if (o->report_context && o->verbosity >= SB_LOG_NOTICE)
        sb_context_print(run->json, args->out);
    if (o->verbosity >= SB_LOG_NOTICE)
        show_beside(run, args->out);
    show_end(run, &text);
}

// The values of a run of a sweep.
static void print_values(FILE *out, const struct sb_result_run *run)
{
    json_t *swept = json_object_get(run->json, "swept");
    const char *name;
    json_t *value;

    if (!swept)
        return;
    json_object_foreach(swept, name, value)
    {
        const char *text = json_string_value(value);

        sb__cmd_print_line(out, name);
        fputs("=", out);
        sb__cmd_print_line(out, text ? text : "");
        fputs(", ", out);
    }
    fprintf(out, "round %lld\n",
        (long long)json_integer_value(json_object_get(run->json, "round")));
}

// The table of a sweep comes after the reports of its runs.
static int show_sweep(
    const struct sb_cmd_args *args, const struct sb_result_file *f)
{
    const json_t *ab = json_object_get(f->json, "ab");
    struct sb_sweep_figures figures;
    int rc = 0;

    sb_sweep_figures_init(&figures);
    for (unsigned i = 0; rc == 0 && i < f->nruns; i++)
        rc = sb_sweep_figures_add_run(&figures, &f->run[i]);
    if (rc == 0)
        rc = sb_sweep_figures_compute(&figures);
    if (rc)
        sb_log(SB_LOG_FATAL, "%s: %s", f->path, sb_err_text(rc));
    else if (figures.npoints) {
        fputs("\n", args->out);
        sb_sweep_figures_print(&figures, !ab, args->out);
    }
    if (ab)
        sb_ab_show(ab, args->out);
    sb_sweep_figures_done(&figures);
    return rc ? SB_CMD_FAILED : SB_CMD_OK;
}

static int show_run(const struct sb_cmd_args *args, const char *path,
    const struct sb_result_run *run)
{
    struct sb_err err = { 0 };

    sb__cmd_print_line(args->out, path);
    fputs(": ", args->out);
    sb__cmd_print_line(args->out, sb_result_text(run, "test"));
    fputs(", started ", args->out);
    sb__cmd_print_line(args->out, sb_result_text(run, "started"));
    fputs("\n", args->out);
    print_values(args->out, run);
    fputs("\n", args->out);
    if (!run->has_totals) {
        const char *failure = json_string_value(
            json_object_get(json_object_get(run->json, "end"), "failure"));

        fputs("The run has no figures: ", args->out);
        sb__cmd_print_line(
            args->out, failure ? failure : "no event was started");
        fputs("\n", args->out);
        return SB_CMD_OK;
    }
    if (take_options(args, run, &err)) {
        sb_log(SB_LOG_FATAL, "%s: %s", path, err.msg);
        return SB_CMD_FAILED;
    }
    if (run->report.warmup)
        sb_log(SB_LOG_WARNING,
            "%s: the run ended during its warm-up; the figures are those of "
            "the warm-up",
            path);
    // take_options() has changed the options, which the registry fills.
    print_run(args, args->text, run);
    return SB_CMD_OK;
}

// Prints it with what a terminal must not execute made visible.
static void show_disclosure(const struct sb_cmd_args *args,
    const struct sb_result_file *f, const struct sb_result_run *run)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        return;
    sb_disclosure_print(json_object_get(f->json, "program"), run->json, memory);
    if (fclose(memory) == 0)
        sb__cmd_print(args->out, text);
    free(text);
}

static int show(const struct sb_cmd_args *args)
{
    const struct show_opts *o = args->o;
    int status = SB_CMD_OK;

    for (unsigned i = 0; i < args->nfiles; i++) {
        struct sb_result_file f;

        if (sb__cmd_read(&f, args->file[i]))
            status = SB_CMD_FAILED;
        for (unsigned n = 0; status == SB_CMD_OK && n < f.nruns; n++) {
            if (o->disclosure)
                show_disclosure(args, &f, &f.run[n]);
            else
                status = show_run(args, args->file[i], &f.run[n]);
        }
        if (status == SB_CMD_OK && f.nruns == 0) {
            sb_log(SB_LOG_FATAL, "%s has no runs", args->file[i]);
            status = SB_CMD_FAILED;
        }
        if (status == SB_CMD_OK && !o->disclosure)
            status = show_sweep(args, &f);
        sb_result_done(&f);
    }
    return status;
}

const struct sb_cmd sb_cmd_show = {
    .name = "show",
    .usage = "show [OPTIONS] FILE...",
    .title = "Prints the report of result files. --percentile, --histogram, "
             "--report-operations, --report-context, --report-validity, "
             "--report-costs and --price apply; their defaults are those of "
             "the run.",
    .min_files = 1,
    .max_files = 1000,
    .opts = &show_opt_table,
    .opts_size = sizeof(struct show_opts),
    .run = show,
};
