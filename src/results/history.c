// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench history DIR: the results of a folder over time. When did the figures
// change, and is the newest result as those before it? One struct has all
// answers; the text, the JSON document and the page are made of it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/paths.h"
#include "kit/units.h"
#include "out/json_parts.h"
#include "out/json_value.h"
#include "out/page.h"
#include "out/target.h"
#include "results/cmd.h"
#include "results/differences.h"
#include "results/history_export.h"
#include "results/history_figures.h"
#include "results/history_runs.h"

struct history_opts {
    const char *by, *order, *html, *json;
    struct sb_opt_list at, ignored, exports;
    double margin, confidence; // percent
    int64_t last;
};

struct history {
    const struct sb_cmd_args *args;
    const struct history_opts *o;
    struct sb_history_runs runs;
    struct sb_history_judged *judged; // of each series
};

#define AT(field) offsetof(struct history_opts, field)

static const struct sb_opt options[] = {
    { .name = "by",
        .type = SB_OPT_STRING,
        .offset = AT(by),
        .def = "commit",
        .flags = SB_OPT_YIELDS,
        .help = "the label that names results: neighboring results with the "
                "same value are repeats" },
    { .name = "order",
        .type = SB_OPT_STRING,
        .offset = AT(order),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "the label by which results are ordered, such as a version "
                "(9 is before 10); empty: by their start" },
    { .name = "ignore",
        .type = SB_OPT_LIST,
        .offset = AT(ignored),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "options that need not be equal in results that are compared: "
                "time,sqlite-db" },
    { .name = "at",
        .type = SB_OPT_LIST,
        .offset = AT(at),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "only the series with these values: threads=16" },
    { .name = "last",
        .type = SB_OPT_INT,
        .offset = AT(last),
        .def = "0",
        .min = 0,
        .max = 1e9,
        .flags = SB_OPT_YIELDS,
        .help = "use only the last N results of each series; 0: all" },
    { .name = "margin",
        .type = SB_OPT_DOUBLE,
        .offset = AT(margin),
        .def = "0",
        .min = 0,
        .max = 99,
        .help = "percentage: smaller changes do not count" },
    { .name = "confidence",
        .type = SB_OPT_DOUBLE,
        .offset = AT(confidence),
        .def = "99",
        .min = 50,
        .max = 99.99,
        .help = "confidence of intervals and of the verdict, percent" },
    { .name = "html",
        .type = SB_OPT_STRING,
        .offset = AT(html),
        .def = "",
        .flags = SB_OPT_FILENAME | SB_OPT_YIELDS,
        .help = "also write the history to this file as a page with charts" },
    { .name = "json",
        .type = SB_OPT_STRING,
        .offset = AT(json),
        .def = "",
        .flags = SB_OPT_FILENAME,
        .help = "also write the history to this file as JSON" },
    { .name = "export",
        .type = SB_OPT_LIST,
        .offset = AT(exports),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "also write markdown=FILE, bencher=FILE, github-bigger=FILE, "
                "github-smaller=FILE, otava=FILE; '-' is standard output" },
    { .name = NULL },
};

static const struct sb_opt_table option_table = {
    .title = "Options of history",
    .opts = options,
};

// Words -----------------------------------------------------------------------

static void print_difference(FILE *out,
    const struct sb_history_series_figure *g, const struct sb_difference *d,
    double confidence)
{
    char value[32], low[32], high[32];

    sb__cmd_print_line(out, g->name);
    fprintf(out, " %s (%g %% interval %s to %s)",
        sb_history_change_text(value, sizeof(value), g, d->value), confidence,
        sb_history_change_text(low, sizeof(low), g, d->low),
        sb_history_change_text(high, sizeof(high), g, d->high));
}

static const struct sb_history_point *newest_point(
    const struct sb_history_series *s)
{
    return &s->point[s->n - 1];
}

// Writes the verdict on the newest result of a series, a sentence.
static void write_verdict(
    const struct history *h, const struct sb_history_judged *j, FILE *out)
{
    const struct sb_history_series *s = j->series;
    const struct sb_history_series_figure *g = &j->figure[j->reason];
    size_t before = s->n - 1 - g->past.first;
    double margin = h->o->margin;

    sb__cmd_print_line(out, sb_history_point_name(newest_point(s)));
    switch (j->verdict) {
    case SB_HISTORY_FEW:
        if (!g->known) {
            fprintf(out, ": not enough history: not all results have ");
            sb__cmd_print_line(out, g->name);
            fprintf(out, ".");
            return;
        }
        fprintf(out,
            ": not enough history: %zu earlier result%s, %u are needed.",
            s->n - 1, s->n == 2 ? "" : "s", SB_HISTORY_MIN);
        return;
    case SB_HISTORY_UNDECIDED:
        fprintf(out,
            " is undecided: the results scatter so much that a change of %g %% "
            "is possible: ",
            margin > 0 ? margin : 100 * SB_HISTORY_EXCLUDED);
        break;
    case SB_HISTORY_SAME:
        fprintf(out, " is as the %zu result%s before: ", before,
            before == 1 ? "" : "s");
        break;
    default:
        if (g->shows) {
            const struct sb_change *c = &g->all.change[g->all.n - 1];

            fprintf(out, " confirms that the results are %s since ",
                sb_history_verdict_name(j->verdict));
            sb__cmd_print_line(out, sb_history_point_name(&s->point[c->at]));
            fprintf(out, ": ");
        } else {
            fprintf(out, " is %s than the %zu result%s before: ",
                sb_history_verdict_name(j->verdict), before,
                before == 1 ? "" : "s");
        }
    }
    print_difference(out, g, &g->newest, h->o->confidence);
    fprintf(out, ".");
}

// Writes why the newest results have no verdict as a whole, a sentence. Returns
// false if they have one.
static bool write_reason(const struct history *h, FILE *out)
{
    const struct sb_history_run *r = h->runs.missing;

    if (!r)
        return false;
    sb__cmd_print_line(out, sb_history_run_name(r));
    fprintf(out, " is undecided: a run was left out: ");
    sb__cmd_print_line(out, r->path);
    fprintf(out, " %s.", r->why);
    return true;
}

static enum sb_history_verdict worst_of(const struct history *h)
{
    enum sb_history_verdict worst = SB_HISTORY_BETTER;

    for (size_t i = 0; i < h->runs.nseries; i++)
        if (h->judged[i].series->newest && h->judged[i].verdict > worst)
            worst = h->judged[i].verdict;
    if (h->runs.missing && worst < SB_HISTORY_UNDECIDED)
        worst = SB_HISTORY_UNDECIDED;
    return worst;
}

// What does not count, and why. One line each.
static void write_notes(const struct history *h, FILE *out)
{
    static const struct {
        const char *one, *several;
    } words[SB_HISTORY_WHYS] = {
        [SB_HISTORY_FOREIGN] = { "file is no result file", "files are no "
                                                           "result files" },
        [SB_HISTORY_DAMAGED] = { "file or folder cannot be read",
            "files or folders cannot be read" },
        [SB_HISTORY_NEWER] = { "file is of a newer version of sysbench",
            "files are of a newer version of sysbench" },
        [SB_HISTORY_USELESS] = { "run was left out", "runs were left out" },
        [SB_HISTORY_TWICE] = { "run is there twice", "runs are there twice" },
    };

    for (int i = 0; i < SB_HISTORY_WHYS; i++) {
        const struct sb_history_skipped *s = &h->runs.skipped[i];

        if (s->n == 0)
            continue;
        fprintf(out, "%zu %s%s", s->n,
            s->n == 1 ? words[i].one : words[i].several,
            s->n == 1 ? ": " : "; the first: ");
        sb__cmd_print_line(out, s->first);
        fprintf(out, "\n");
    }
}

// What else differs between the results before and after a change: a new list,
// or NULL.
static json_t *facts_that_changed(
    const struct history *h, const struct sb_history_series *s, size_t at)
{
    struct sb_run_facts facts[2];
    json_t *list, *one;
    size_t i;

    for (size_t k = 0; k < 2; k++) {
        const struct sb_history_run *r = s->point[at - 1 + k].run;
        struct sb_result_file f;
        struct sb_err err = { 0 };

        sb_run_facts_init(&facts[k]);
        if (sb_result_read_brief(&f, r->path, &err) == 0 &&
            f.nruns >= r->number) {
            sb_run_facts_add_program(
                &facts[k], json_object_get(f.json, "program"));
            sb_run_facts_add(&facts[k], f.run[r->number - 1].json);
        }
        sb_result_done(&f);
    }
    list = sb_run_facts_compare(&facts[0], &facts[1]);
    sb_run_facts_done(&facts[0]);
    sb_run_facts_done(&facts[1]);
    for (i = json_array_size(list); i-- > 0;) {
        one = json_array_get(list, i);
        // The label by which results are named differs anyway.
        if (strcmp(sb_result_member(one, "kind"), "label") == 0 &&
            strcmp(sb_result_member(one, "name"), h->o->by) == 0)
            json_array_remove(list, i);
    }
    return list;
}

// Text ------------------------------------------------------------------------

static void print_point(FILE *out, const struct sb_history_point *p)
{
    sb__cmd_print_line(out, sb_history_point_name(p));
    if (*p->run->label && *p->run->started)
        fprintf(out, " (%.10s)", p->run->started);
}

static void print_row(FILE *out, const struct sb_history_series_figure *g,
    double before, double after, const struct sb_difference *d,
    const char *word)
{
    char raw[160], name[4 * sizeof(raw)];
    char a[32], b[32], value[32], low[32], high[32];

    snprintf(
        raw, sizeof(raw), "%s%s%s", g->name, *g->unit ? ", " : "", g->unit);
    sb_escape_line(name, sizeof(name), raw);
    fprintf(out, "%-16s %10s %10s %10s  %9s .. %-9s  %s", name,
        sb_number_text(a, sizeof(a), before),
        sb_number_text(b, sizeof(b), after),
        sb_history_change_text(value, sizeof(value), g, d->value),
        sb_history_change_text(low, sizeof(low), g, d->low),
        sb_history_change_text(high, sizeof(high), g, d->high), word);
}

static void print_heading(const struct history *h, const char *what,
    const char *before, const char *after)
{
    fprintf(h->args->out, "%-16s %10s %10s %10s  %10.4g %% interval\n", what,
        before, after, "change", h->o->confidence);
}

static void print_changes(
    const struct history *h, const struct sb_history_judged *j)
{
    FILE *out = h->args->out;
    size_t n = 0;

    for (int f = 0; f < SB_HISTORY_FIGURES; f++) {
        const struct sb_history_series_figure *g = &j->figure[f];

        for (size_t i = 0; i < g->all.n; i++) {
            const struct sb_change *one = &g->all.change[i];

            if (n++ == 0)
                print_heading(h, "Changes", "before", "after");
            print_row(out, g, one->before, one->after, &one->difference,
                sb_history_word(g, &one->difference));
            fprintf(out, " since ");
            print_point(out, &j->series->point[one->at]);
            fprintf(out, "\n");
        }
    }
    if (n == 0)
        fprintf(out,
            j->series->n < (size_t)2 * SB_CHANGES_SIDE_MIN
                ? "At least %d results are needed to find changes.\n"
                : "No change was found.\n",
            2 * SB_CHANGES_SIDE_MIN);
}

// The changes of the figure that decides, with the facts that changed.
static void print_facts(
    const struct history *h, const struct sb_history_judged *j)
{
    const struct sb_changes *c = &j->figure[j->deciding].all;

    for (size_t i = 0; i < c->n; i++) {
        json_t *list = facts_that_changed(h, j->series, c->change[i].at);

        if (json_array_size(list)) {
            fprintf(h->args->out, "Since ");
            print_point(h->args->out, &j->series->point[c->change[i].at]);
            fprintf(h->args->out, ":\n");
            sb_differences_print(list, h->args->out);
        }
        json_decref(list);
    }
}

static void print_newest(
    const struct history *h, const struct sb_history_judged *j)
{
    const struct sb_history_point *p = newest_point(j->series);

    print_heading(h, "Newest result", "before", "newest");
    for (int i = 0; i < SB_HISTORY_FIGURES; i++) {
        const struct sb_history_series_figure *g = &j->figure[i];

        if (!g->known ||
            (i == SB_HISTORY_ERRORS && !(p->figure[i] > 0) && !(g->level > 0)))
            continue;
        print_row(h->args->out, g, g->level, p->figure[i], &g->newest,
            sb_history_verdict_name(g->verdict));
        fprintf(h->args->out, "\n");
    }
}

static void print_series(
    const struct history *h, const struct sb_history_judged *j)
{
    const struct sb_history_series *s = j->series;
    FILE *out = h->args->out;

    sb__cmd_print_line(out, s->name);
    fprintf(out, ": %zu result%s", s->n, s->n == 1 ? ", " : "s, ");
    print_point(out, &s->point[0]);
    if (s->n > 1) {
        fprintf(out, " to ");
        print_point(out, newest_point(s));
    }
    fprintf(out, "\n\n");
    print_changes(h, j);
    print_facts(h, j);
    if (s->newest) {
        fprintf(out, "\n");
        print_newest(h, j);
    } else {
        fprintf(out, "The newest results have none of this series.\n");
    }
    fprintf(out, "\n");
}

static void print_history(const struct history *h)
{
    FILE *out = h->args->out;

    for (size_t i = 0; i < h->runs.nseries; i++)
        print_series(h, &h->judged[i]);
    for (size_t i = 0; i < h->runs.nseries; i++) {
        if (!h->judged[i].series->newest)
            continue;
        fprintf(out, "Verdict: ");
        if (h->runs.nseries > 1) {
            sb__cmd_print_line(out, h->judged[i].series->name);
            fprintf(out, ": ");
        }
        write_verdict(h, &h->judged[i], out);
        fprintf(out, "\n");
    }
    if (h->runs.missing) {
        fprintf(out, "Verdict: ");
        write_reason(h, out);
        fprintf(out, "\n");
    }
    write_notes(h, out);
}

// JSON ------------------------------------------------------------------------

static json_t *difference_json(const struct sb_difference *d)
{
    return json_pack("{s:o,s:o,s:o}", "value", sb_json_number(d->value), "low",
        sb_json_number(d->low), "high", sb_json_number(d->high));
}

static json_t *changes_json(const struct history *h,
    const struct sb_history_judged *j, enum sb_history_figure f)
{
    const struct sb_changes *c = &j->figure[f].all;
    json_t *list = json_array();

    for (size_t i = 0; i < c->n; i++) {
        const struct sb_change *one = &c->change[i];
        json_t *facts = f == j->deciding
                            ? facts_that_changed(h, j->series, one->at)
                            : json_array();

        sb__json_append(list,
            json_pack("{s:i,s:o,s:o,s:o,s:o,s:s,s:o}", "at", (int)one->at,
                "since",
                sb_json_text(sb_history_point_name(&j->series->point[one->at])),
                "before", sb_json_number(one->before), "after",
                sb_json_number(one->after), "difference",
                difference_json(&one->difference), "word",
                sb_history_word(&j->figure[f], &one->difference), "differences",
                facts ? facts : json_array()));
    }
    return list;
}

static json_t *figure_json(const struct history *h,
    const struct sb_history_judged *j, enum sb_history_figure f)
{
    const struct sb_history_series_figure *g = &j->figure[f];
    json_t *values = json_array();

    for (size_t i = 0; i < j->series->n; i++)
        sb__json_append(values, sb_json_number(j->series->point[i].figure[f]));
    return json_pack("{s:o,s:o,s:b,s:b,s:b,s:o,s:o,s:{s:o,s:o,s:s,s:b}}",
        "figure", sb_json_text(g->name), "unit", sb_json_text(g->unit),
        "less_is_better", g->less_is_better, "relative", g->relative, "decides",
        f == j->deciding, "values", values, "changes", changes_json(h, j, f),
        "newest", "before", sb_json_number(g->known ? g->level : NAN), "change",
        difference_json(&g->newest), "verdict",
        sb_history_verdict_name(g->verdict), "confirms", g->shows);
}

static json_t *points_json(const struct sb_history_series *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n; i++) {
        const struct sb_history_point *p = &s->point[i];

        sb__json_append(list, json_pack("{s:o,s:o,s:o,s:i,s:i}", "label",
                                  sb_json_text(p->run->label), "started",
                                  sb_json_text(p->run->started), "file",
                                  sb_json_text(p->run->path), "run",
                                  (int)p->run->number, "runs", (int)p->runs));
    }
    return list;
}

static char *sentence(void *history, const struct sb_history_judged *j)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    write_verdict(history, j, out);
    fclose(out);
    return text;
}

static json_t *verdict_json(
    const struct history *h, const struct sb_history_judged *j)
{
    char *text = sentence((void *)(uintptr_t)h, j);
    json_t *o = text ? sb_json_text(text) : NULL;

    free(text);
    return o;
}

static json_t *series_json(
    const struct history *h, const struct sb_history_judged *j)
{
    const struct sb_history_series *s = j->series;
    json_t *list = json_array(), *o;

    for (int f = 0; f < SB_HISTORY_FIGURES; f++)
        if (j->figure[f].known)
            sb__json_append(list, figure_json(h, j, (enum sb_history_figure)f));
    o = json_pack("{s:o,s:O,s:b,s:o,s:o,s:o,s:o}", "name",
        sb_json_text(s->name), "facts", s->last->facts, "newest", s->newest,
        "verdict",
        s->newest ? json_string(sb_history_verdict_name(j->verdict))
                  : json_null(),
        "sentence", s->newest ? verdict_json(h, j) : json_null(), "points",
        points_json(s), "figures", list);
    return o;
}

static json_t *notes_json(const struct history *h)
{
    char *text = NULL, *rest, *line;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    json_t *list = json_array();

    if (!out)
        return list;
    write_notes(h, out);
    fclose(out);
    rest = text;
    while ((line = strsep(&rest, "\n")))
        if (*line)
            sb__json_append(list, sb_json_text(line));
    free(text);
    return list;
}

// Why the verdict is of no series: a text that the caller frees, or NULL.
static char *reason_text(const struct history *h)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool is = out && write_reason(h, out);

    if (out)
        fclose(out);
    if (is)
        return text;
    free(text);
    return NULL;
}

// Returns the history as a new document; NULL: no memory.
static json_t *history_document(const struct history *h)
{
    json_t *series = json_array();
    char *reason = reason_text(h);
    json_t *o;

    for (size_t i = 0; i < h->runs.nseries; i++)
        sb__json_append(series, series_json(h, &h->judged[i]));
    o = json_pack("{s:s,s:i,s:o,s:o,s:f,s:f,s:i,s:i,s:o,s:s,s:o,s:o,s:o}",
        "format", "sysbench-history", "version", 1, "by",
        sb_json_text(h->o->by), "order", sb_json_text(h->o->order),
        "confidence", h->o->confidence, "margin", h->o->margin, "files",
        (int)h->runs.files, "runs", (int)h->runs.n, "newest",
        sb_json_text(sb_history_run_name(h->runs.newest)), "verdict",
        sb_history_verdict_name(worst_of(h)), "reason", sb_json_text(reason),
        "notes", notes_json(h), "series", series);
    free(reason);
    return o;
}

static int write_json(const struct history *h)
{
    struct sb_err err = { 0 };
    struct sb_target t = { 0 };
    json_t *o = history_document(h);
    int rc = o ? sb_target_open(&t, h->o->json, SB_TARGET_WHOLE, &err)
               : sb_err_set(&err, SB_ENOMEM, "out of memory");

    if (rc == 0 && json_dumpf(o, t.file, JSON_INDENT(1))) {
        rc = sb_target_flush(&t, &err);
        rc = rc ? rc : sb_err_set(&err, SB_ENOMEM, "out of memory");
    }
    if (rc == 0) {
        fputc('\n', t.file);
        rc = sb_target_commit(&t, &err);
    }
    sb_target_done(&t);
    json_decref(o);
    if (rc)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    return rc;
}

static int write_page(const struct history *h, char *text, struct sb_err *err)
{
    struct sb_page_doc doc = { .file = fmemopen(text, strlen(text), "r"),
        .kind = "history" };
    struct sb_page_parts parts = {
        .docs = &doc, .ndocs = 1, .title = "sysbench history"
    };
    struct sb_paths paths;
    int rc = sb_paths_find(&paths, err);

    if (rc == 0 && !doc.file)
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    parts.page = paths.page;
    parts.charts = paths.charts;
    rc = rc ? rc : sb__cmd_write_page(h->o->html, &parts, err);
    if (doc.file)
        fclose(doc.file);
    return rc;
}

static int write_html(const struct history *h)
{
    json_t *o = history_document(h);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    struct sb_err err = { 0 };
    int rc = text ? write_page(h, text, &err)
                  : sb_err_set(&err, SB_ENOMEM, "out of memory");

    if (rc)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    free(text);
    json_decref(o);
    return rc;
}

static int write_exports(struct history *h)
{
    char *reason = reason_text(h);
    json_t *notes = notes_json(h);
    const struct sb_history_exported x = { .judged = h->judged,
        .n = h->runs.nseries,
        .by = h->o->by,
        .confidence = h->o->confidence,
        .verdict = worst_of(h),
        .reason = reason,
        .notes = notes,
        .sentence = sentence,
        .arg = h };
    struct sb_err err = { 0 };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < h->o->exports.count; i++)
        rc = sb_history_export(&x, h->o->exports.item[i], &err);
    json_decref(notes);
    free(reason);
    if (rc)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    return rc;
}

// A result that is replaced is lost for the history.
static int check_output(const char *path)
{
    struct sb_result_file f = { 0 };
    struct sb_err err = { 0 };
    bool is_result = *path && strcmp(path, "-") != 0 &&
                     !sb_target_is_special(path) &&
                     sb_result_read_brief(&f, path, &err) == 0;

    sb_result_done(&f);
    if (!is_result)
        return 0;
    char line[4096];

    sb_escape_line(line, sizeof(line), path);
    sb_log(SB_LOG_FATAL, "cannot write %s: it is a result file", line);
    return SB_EUSAGE;
}

// Checks the outputs. *text: standard output is free for the text.
static int check_outputs(const struct history_opts *o, bool *text)
{
    struct sb_err err = { 0 };

    *text = strcmp(o->json, "-") != 0;
    *text = *text && strcmp(o->html, "-") != 0;
    if (check_output(o->json) || check_output(o->html))
        return SB_EUSAGE;
    for (size_t i = 0; i < o->exports.count; i++) {
        const char *file = NULL;

        if (sb_history_export_check(o->exports.item[i], &file, &err)) {
            sb_log(SB_LOG_USAGE, "%s", err.msg);
            return err.code;
        }
        *text = *text && strcmp(file, "-") != 0;
        if (check_output(file))
            return SB_EUSAGE;
    }
    return 0;
}

// The command -----------------------------------------------------------------

static int status_of(const struct history *h)
{
    static const int status[SB_HISTORY_VERDICTS] = {
        [SB_HISTORY_BETTER] = SB_CMD_OK,
        [SB_HISTORY_SAME] = SB_CMD_OK,
        [SB_HISTORY_UNDECIDED] = SB_CMD_INCONCLUSIVE,
        [SB_HISTORY_FEW] = SB_CMD_INCONCLUSIVE,
        [SB_HISTORY_WORSE] = SB_CMD_WORSE,
    };

    return status[worst_of(h)];
}

static int judge(struct history *h)
{
    const struct sb_history_limits l = { .confidence = h->o->confidence / 100,
        .margin = h->o->margin / 100 };
    int rc = 0;

    h->judged = calloc(h->runs.nseries, sizeof(*h->judged));
    if (!h->judged)
        return SB_ENOMEM;
    for (size_t i = 0; rc == 0 && i < h->runs.nseries; i++)
        rc = sb_history_judge(&h->judged[i], &h->runs.series[i], &l);
    return rc;
}

static int perform(struct history *h)
{
    const struct sb_history_opts o = { .by = h->o->by,
        .order = h->o->order,
        .ignored = &h->o->ignored,
        .at = &h->o->at,
        .last = (size_t)h->o->last };

    bool text = true;

    if (check_outputs(h->o, &text))
        return SB_CMD_FAILED;
    if (sb_history_runs_read(&h->runs, h->args->file, h->args->nfiles, &o))
        return SB_CMD_FAILED;
    if (h->runs.n == 0) {
        char line[4096];

        sb_escape_line(line, sizeof(line), h->args->file[0]);
        sb_log(SB_LOG_FATAL, "%s has no results with figures", line);
        write_notes(h, stderr);
        return SB_CMD_FAILED;
    }
    if (judge(h)) {
        sb_log(SB_LOG_FATAL, "out of memory");
        return SB_CMD_FAILED;
    }
    if (text)
        print_history(h);
    if ((*h->o->json && write_json(h)) || (*h->o->html && write_html(h)) ||
        write_exports(h))
        return SB_CMD_FAILED;
    return status_of(h);
}

static int history(const struct sb_cmd_args *args)
{
    struct history h = { .args = args, .o = args->o };
    int status = perform(&h);

    for (size_t i = 0; h.judged && i < h.runs.nseries; i++)
        sb_history_judged_done(&h.judged[i]);
    free(h.judged);
    sb_history_runs_done(&h.runs);
    return status;
}

const struct sb_cmd sb_cmd_history = {
    .name = "history",
    .usage = "history [OPTIONS] DIR|FILE...",
    .title =
        "Shows the results of folders over time: when figures changed, and "
        "whether the newest result is as those before it. Exit status: 0: as "
        "before, or better, 3: worse, 5: undecided, or not enough results, 1: "
        "failure.",
    .min_files = 1,
    .max_files = 1000,
    .opts = &option_table,
    .opts_size = sizeof(struct history_opts),
    .run = history,
};
