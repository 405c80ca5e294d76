// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/escape.h"
#include "base/log.h"
#include "base/paths.h"
#include "kit/units.h"
#include "out/json_parts.h"
#include "out/page.h"
#include "out/target.h"
#include "results/cmd_private.h"
#include "results/compare_private.h"

// The text of `sysbench compare`.

// Writes which rates differ, a line, or nothing.
static void compare_work_note(const struct sb__comparison *c, FILE *out)
{
    const char *before = "The sides did different work: ";

    if (!c->other_work)
        before = "The sides differ in restarts: ";
    for (int i = 0; i < SB__WORKS; i++) {
        const struct sb__work *w = &c->work[i];
        char a[SB_UNITS_PERCENT], b[SB_UNITS_PERCENT];

        if (!w->differs)
            continue;
        fprintf(out, "%s%s in %s / %s %% of %s", before, w->name,
            sb_units_percent(a, w->a, 100), sb_units_percent(b, w->b, 100),
            w->of);
        before = ", ";
    }
    if (*before == ',')
        fprintf(out, "%s\n",
            c->other_work ? ". Their speeds cannot be compared." : ".");
}

// The verdict on a figure in one or a few words: "slower".
static const char *compare_word(
    const struct sb_figure *f, const struct sb_compare *r)
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

// Writes a number with four significant digits, or "-" for no value. Returns
// out.
static const char *compare_number(char *out, size_t size, double value)
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

static void print_row(const struct sb__comparison *c, unsigned n)
{
    const struct sb_figure *f = &c->figure[n];
    const struct sb_compare *r = &c->result[n];
    char raw[160], name[4 * sizeof(raw)];
    char a[32], b[32], diff[32], low[32], high[32];

    snprintf(raw, sizeof(raw), "%s%s%s, %s", f->name, *f->name ? " " : "",
        f->figure, f->unit);
    sb_escape_line(name, sizeof(name), raw);
    fprintf(c->args->out, "%-32s %10s %10s %10s  %9s .. %-9s  %s\n", name,
        compare_number(a, sizeof(a), r->a.value),
        compare_number(b, sizeof(b), r->b.value),
        percent(diff, sizeof(diff), r->difference),
        percent(low, sizeof(low), r->low), percent(high, sizeof(high), r->high),
        compare_word(f, r));
}

// Rates that are 0 on both sides are left out.
static void print_work(const struct sb__comparison *c)
{
    for (unsigned i = 0; i < SB__WORKS; i++) {
        const struct sb__work *w = &c->work[i];
        char name[64], a[SB_UNITS_PERCENT], b[SB_UNITS_PERCENT];

        if (!(w->a > 0) && !(w->b > 0))
            continue;
        snprintf(name, sizeof(name), "%s, %% of %s", w->name, w->of);
        fprintf(c->args->out, "%-32s %10s %10s %10s  %24s %s\n", name,
            sb_units_percent(a, w->a, 100), sb_units_percent(b, w->b, 100), "",
            "", w->differs ? "differs" : "similar");
    }
}

static void print_side(
    const struct sb__comparison *c, char name, const struct sb_side *s)
{
    const struct sb_result_run *r = s->run[0];
    char test[256], seconds[32];

    sb_escape_line(test, sizeof(test), sb_result_text(r, "test"));
    fprintf(c->args->out, "%c: ", name);
    sb__cmd_print_line(c->args->out, s->text);
    fprintf(c->args->out, ": %s, %u run%s of %s s, %u thread%s\n", test,
        s->nruns, s->nruns == 1 ? "" : "s",
        compare_number(seconds, sizeof(seconds), r->report.total_s),
        r->report.threads, r->report.threads == 1 ? "" : "s");
}

// Writes up to three values: "2 and 4".
static void print_values(FILE *out, const json_t *values)
{
    size_t n = json_array_size(values);

    if (n == 0)
        fprintf(out, "(none)");
    for (size_t i = 0; i < n && i < 3; i++) {
        const char *text = json_string_value(json_array_get(values, i));

        fprintf(out, "%s", i ? " and " : "");
        sb__cmd_print_line(out, *text ? text : "(none)");
    }
    if (n > 3)
        fprintf(out, " and %zu more", n - 3);
}

// What differs may be the reason of a difference, or a mistake.
static void print_differences(
    const struct sb__comparison *c, const char *kind, const char *title)
{
    FILE *out = c->args->out;
    const char *before = title;
    json_t *one;
    size_t i;

    json_array_foreach(c->differences, i, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "kind")), kind) != 0)
            continue;
        fprintf(out, "%s", before);
        sb__cmd_print_line(
            out, json_string_value(json_object_get(one, "name")));
        fprintf(out, " ");
        print_values(out, json_object_get(one, "a"));
        fprintf(out, " / ");
        print_values(out, json_object_get(one, "b"));
        before = ", ";
    }
    if (before != title)
        fprintf(out, "\n");
}

// Whether all runs of a were started before those of b. ISO 8601 in UTC sorts
// as text.
static bool before(const struct sb_side *a, const struct sb_side *b)
{
    for (unsigned i = 0; i < a->nruns; i++) {
        for (unsigned k = 0; k < b->nruns; k++) {
            if (strcmp(sb_result_text(a->run[i], "started"),
                    sb_result_text(b->run[k], "started")) >= 0)
                return false;
        }
    }
    return true;
}

static void write_side_notes(char name, const struct sb_side *s, FILE *out)
{
    for (unsigned i = 0; i < s->nnotes && i < SB_SIDE_NOTES_MAX; i++) {
        const struct sb_side_note *note = &s->note[i];

        fprintf(out, "%c: ", name);
        if (note->file->nruns > 1)
            fprintf(
                out, "run %u of ", (unsigned)(note->run - note->file->run) + 1);
        sb__cmd_print_line(out, note->file->path);
        fprintf(out, " %s.\n", note->what);
    }
    if (s->nnotes > SB_SIDE_NOTES_MAX)
        fprintf(out, "%c: %u more runs were left out or interrupted.\n", name,
            s->nnotes - SB_SIDE_NOTES_MAX);
}

static bool overlap(const struct sb_side *a, const struct sb_side *b)
{
    for (unsigned i = 0; i < a->nruns; i++)
        for (unsigned k = 0; k < b->nruns; k++)
            if (sb_result_run_is_same(a->run[i], b->run[k]))
                return true;
    return false;
}

// Writes the reservations about the verdict, each on a line.
static void compare_notes(const struct sb__comparison *c, FILE *out)
{
    const struct sb_compare *r = &c->result[0];
    unsigned na = c->a.nruns, nb = c->b.nruns;

    write_side_notes('A', &c->a, out);
    write_side_notes('B', &c->b, out);
    compare_work_note(c, out);
    if (overlap(&c->a, &c->b))
        fprintf(out, "A and B have a run in common.\n");
    if (r->drift_unknown && na == 1 && nb == 1)
        fprintf(out,
            "Two single runs: the deviation between repeated runs is unknown; "
            "%g %% is assumed (--run-deviation). Repeat the runs to be sure.\n",
            c->o.deviation);
    else if (r->drift_unknown && na != nb && (na == 1 || nb == 1))
        fprintf(out,
            "%s is a single run: the deviation between the runs of %s is "
            "assumed for both sides.\n",
            na == 1 ? "A" : "B", na == 1 ? "B" : "A");
    if (na > 1 && nb > 1 && (before(&c->a, &c->b) || before(&c->b, &c->a)))
        fprintf(out,
            "All runs of one side were measured before those of the other: "
            "slow changes of the machine look like a difference. Measure the "
            "sides in turn.\n");
    if (r->too_short)
        fprintf(out,
            "The runs are too short: their intervals depend on each other. "
            "Measure longer, or repeat the runs.\n");
    if (r->drifts_differ)
        fprintf(out, "One run drifts more than the other during its time: "
                     "the interval covers both.\n");
}

// Writes the verdict of the comparison, a sentence.
static void compare_verdict(const struct sb__comparison *c, FILE *out)
{
    const struct sb_figure *f = &c->figure[0];
    const struct sb_compare *r = &c->result[0];
    const char *what = strcmp(f->figure, "throughput") == 0
                           ? "throughput"
                           : "95th percentile of the response time";
    bool better = (r->verdict == SB_VERDICT_HIGHER) != f->less_is_better;

    if (c->other_work)
        fprintf(out, "none, the sides did different work (%s %+.2f %%).", what,
            100 * r->difference);
    else if (r->verdict == SB_VERDICT_NONE)
        fprintf(out, "none, too little data.");
    else if (r->verdict == SB_VERDICT_SAME && r->within_margin)
        fprintf(out, "no difference beyond %g %% (%s %+.2f %%).", c->o.margin,
            what, 100 * r->difference);
    else if (r->verdict == SB_VERDICT_SAME)
        fprintf(out,
            "no difference seen (%s %+.2f %%, interval %+.2f %% to "
            "%+.2f %%).",
            what, 100 * r->difference, 100 * r->low, 100 * r->high);
    else
        fprintf(out,
            "B is %s than A: %s %+.2f %% (interval %+.2f %% to "
            "%+.2f %%).",
            better ? "faster" : "slower", what, 100 * r->difference,
            100 * r->low, 100 * r->high);
}

void sb__compare_print(const struct sb__comparison *c)
{
    static const char *const kinds[][2] = {
        { "program", "Programs that differ: " },
        { "workload", "Workloads that differ: " },
        { "option", "Options that differ: " },
        { "users", "Users were run differently: " },
        { "server", "Servers that differ: " },
        { "setting", "Settings of the server that differ: " },
        { "client", "Client machines that differ: " },
        { "label", "Labels that differ: " },
    };
    FILE *out = c->args->out;

    print_side(c, 'A', &c->a);
    print_side(c, 'B', &c->b);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        print_differences(c, kinds[i][0], kinds[i][1]);
    fprintf(out, "\n%-32s %10s %10s %10s  %19.4g %% interval  %s\n", "figure",
        "A", "B", "B / A - 1", c->o.confidence, "verdict");
    for (unsigned i = 0; i < c->n; i++)
        print_row(c, i);
    print_work(c);
    fprintf(out, "The first figure decides. The verdicts on the others are "
                 "corrected for their number; their intervals are not.\n");
    fprintf(out, "\nVerdict: ");
    compare_verdict(c, out);
    fprintf(out, "\n");
    compare_notes(c, out);
}

// The comparison as a JSON document: docs/internals/compare.md.

static json_t *figure_json(
    const struct sb_figure *f, const struct sb_compare *r)
{
    static const char *const verdicts[] = { "none", "same", "higher", "lower" };

    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:s,s:b,s:b,"
                     "s:b,s:b}",
        "group", f->group, "name", f->name, "figure", f->figure, "unit",
        f->unit, "a", sb_estimate_json(&r->a, true), "b",
        sb_estimate_json(&r->b, true), "difference",
        sb_json_number(r->difference), "low", sb_json_number(r->low), "high",
        sb_json_number(r->high), "p",
        sb_json_number(isfinite(r->p_adjusted) ? r->p_adjusted : r->p),
        "verdict", verdicts[r->verdict], "words", compare_word(f, r),
        "within_margin", r->within_margin, "drift_unknown", r->drift_unknown,
        "too_short", r->too_short, "drifts_differ", r->drifts_differ);
}

static json_t *figures_json(const struct sb__comparison *c)
{
    json_t *figures = json_array();

    for (unsigned i = 0; i < c->n; i++) {
        if (json_array_append_new(
                figures, figure_json(&c->figure[i], &c->result[i]))) {
            json_decref(figures);
            return NULL;
        }
    }
    return figures;
}

static json_t *work_json(const struct sb__comparison *c)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < SB__WORKS; i++) {
        const struct sb__work *w = &c->work[i];

        if (json_array_append_new(
                list, json_pack("{s:s,s:s,s:s,s:o,s:o,s:b}", "name", w->name,
                          "of", w->of, "unit", "%", "a", sb_json_number(w->a),
                          "b", sb_json_number(w->b), "differs", w->differs))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *side_json(const struct sb_side *s)
{
    const struct sb_result_run *r = s->run[0];
    json_t *files = json_array();

    for (unsigned i = 0; i < s->nfiles; i++)
        json_array_append_new(files, sb_json_text(s->file[i].path));
    return json_pack("{s:o,s:i,s:s,s:f,s:i}", "files", files, "runs",
        (int)s->nruns, "test", sb_result_text(r, "test"), "seconds",
        r->report.total_s, "threads", (int)r->report.threads);
}

// What `write` writes, as a text or as a list of its lines.
static json_t *written(const struct sb__comparison *c,
    void (*write)(const struct sb__comparison *c, FILE *out), bool lines)
{
    char *text = NULL, *rest, *line;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    json_t *list;

    if (!out)
        return NULL;
    write(c, out);
    if (fclose(out) || !lines) {
        list = sb_json_text(text);
        free(text);
        return list;
    }
    list = json_array();
    rest = text;
    while ((line = strsep(&rest, "\n"))) {
        if (*line)
            json_array_append_new(list, sb_json_text(line));
    }
    free(text);
    return list;
}

static const char *outcome(const struct sb__comparison *c)
{
    const struct sb_compare *r = &c->result[0];

    if (r->verdict == SB_VERDICT_NONE || c->other_work)
        return "none";
    if (r->verdict == SB_VERDICT_SAME)
        return "same";
    return (r->verdict == SB_VERDICT_HIGHER) == c->figure[0].less_is_better
               ? "slower"
               : "faster";
}

// Returns the comparison as a new document; NULL: no memory.
static json_t *compare_document(const struct sb__comparison *c)
{
    return json_pack(
        "{s:s,s:i,s:o,s:o,s:f,s:f,s:f,s:b,s:b,s:o,s:o,s:o,s:[o,o],s:O,s:o,s:b,"
        "s:o}",
        "format", "sysbench-comparison", "version", 1, "a",
        sb_json_text(c->a.text), "b", sb_json_text(c->b.text), "confidence",
        c->o.confidence, "margin", c->o.margin, "run_deviation", c->o.deviation,
        "paired", c->o.paired, "open_loop", c->open_loop, "verdict",
        json_string(outcome(c)), "sentence", written(c, compare_verdict, false),
        "notes", written(c, compare_notes, true), "sides", side_json(&c->a),
        side_json(&c->b), "differences", c->differences, "figures",
        figures_json(c), "different_work", c->other_work, "work", work_json(c));
}

static int write_file(const char *path, const json_t *o, struct sb_err *err)
{
    struct sb_target t;
    int rc = sb_target_open(&t, path, SB_TARGET_WHOLE, err);

    if (rc == 0 && json_dumpf(o, t.file, JSON_INDENT(1))) {
        rc = sb_target_flush(&t, err);
        rc = rc ? rc : sb_err_set(err, SB_ENOMEM, "out of memory");
    }
    if (rc == 0) {
        fputc('\n', t.file);
        rc = sb_target_commit(&t, err);
    }
    sb_target_done(&t);
    return rc;
}

int sb__compare_write_json(const struct sb__comparison *c)
{
    struct sb_err err = { 0 };
    json_t *o = compare_document(c);
    int rc = o ? write_file(c->o.json, o, &err)
               : sb_err_set(&err, SB_ENOMEM, "out of memory");

    json_decref(o);
    if (rc)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    return rc;
}

// The comparison as a page: the document of the comparison, then all results.

static int open_side(const struct sb_side *s, const char *name,
    struct sb_page_doc *doc, struct sb_err *err)
{
    for (unsigned i = 0; i < s->nfiles; i++) {
        const char *path = s->file[i].path;
        struct stat st;

        if (strcmp(path, "-") == 0)
            return sb_err_set(err, SB_EUSAGE,
                "--html: standard input cannot be used: write it to a file");
        doc[i] = (struct sb_page_doc){
            .file = fopen(path, "re"), .name = path, .side = name
        };
        if (!doc[i].file)
            return sb_err_set(
                err, SB_ESYS, "cannot read %s: %s", path, strerror(errno));
        // It has been read once, for the comparison.
        if (fstat(fileno(doc[i].file), &st) || !S_ISREG(st.st_mode))
            return sb_err_set(err, SB_EUSAGE,
                "--html: %s cannot be read twice: write it to a file", path);
    }
    return 0;
}

// A page for the comparison's text, which ends with a null byte.
static int write_page(const struct sb__comparison *c, char *text,
    struct sb_page_doc *doc, struct sb_err *err)
{
    struct sb_page_parts parts = { .docs = doc,
        .ndocs = 1 + c->a.nfiles + c->b.nfiles,
        .title = "sysbench compare" };
    struct sb_paths paths;
    int rc = sb_paths_find(&paths, err);

    if (rc)
        return rc;
    parts.page = paths.page;
    parts.charts = paths.charts;
    doc[0] = (struct sb_page_doc){ .file = fmemopen(text, strlen(text), "r"),
        .kind = "comparison" };
    if (!doc[0].file)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    rc = open_side(&c->a, "A", doc + 1, err);
    if (rc == 0)
        rc = open_side(&c->b, "B", doc + 1 + c->a.nfiles, err);
    return rc ? rc : sb__cmd_write_page(c->o.html, &parts, err);
}

int sb__compare_write_html(const struct sb__comparison *c)
{
    size_t n = 1 + c->a.nfiles + c->b.nfiles;
    struct sb_page_doc *doc = calloc(n, sizeof(*doc));
    json_t *o = compare_document(c);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    struct sb_err err = { 0 };
    int rc = doc && text ? write_page(c, text, doc, &err)
                         : sb_err_set(&err, SB_ENOMEM, "out of memory");

    if (rc)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    for (size_t i = 0; doc && i < n; i++) {
        if (doc[i].file)
            fclose(doc[i].file);
    }
    free(doc);
    free(text);
    json_decref(o);
    return rc;
}
