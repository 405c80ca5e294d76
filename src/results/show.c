// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench show FILE: the classic report again, from a result file.
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "results/cmd.h"
#include "results/cmd_private.h"
#include "results/sweep_figures.h"
#include "out/context.h"

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
    char *block = (char *)sb_result_text(run, "block");
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
    if (*block)
        text.own = (struct sb_text_own){ .data = block, .final = print_block };
    sb_text_final(&text, &run->report);
    sb_text_found(&text, &run->report);
    if (o->verbosity >= SB_LOG_NOTICE)
        sb__show_limits(run, args->out);
    if (o->report_context && o->verbosity >= SB_LOG_NOTICE)
        sb_context_print(run->json, args->out);
    if (o->verbosity >= SB_LOG_NOTICE)
        sb__show_beside(run, args->out);
    sb__show_end(run, &text);
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
        sb_sweep_figures_print(&figures, args->out);
    }
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

static int show(const struct sb_cmd_args *args)
{
    int status = SB_CMD_OK;

    for (unsigned i = 0; i < args->nfiles; i++) {
        struct sb_result_file f;

        if (sb__cmd_read(&f, args->file[i]))
            status = SB_CMD_FAILED;
        for (unsigned n = 0; status == SB_CMD_OK && n < f.nruns; n++)
            status = show_run(args, args->file[i], &f.run[n]);
        if (status == SB_CMD_OK && f.nruns == 0) {
            sb_log(SB_LOG_FATAL, "%s has no runs", args->file[i]);
            status = SB_CMD_FAILED;
        }
        if (status == SB_CMD_OK)
            status = show_sweep(args, &f);
        sb_result_done(&f);
    }
    return status;
}

const struct sb_cmd sb_cmd_show = {
    .name = "show",
    .usage = "show [OPTIONS] FILE...",
    .title = "Prints the report of result files. --percentile, --histogram, "
             "--report-operations and --report-context apply; their defaults "
             "are those of the run.",
    .min_files = 1,
    .max_files = 1000,
    .run = show,
};
