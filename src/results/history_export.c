// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/history_export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "out/json_parts.h"
#include "out/json_value.h"
#include "out/target.h"

static const struct sb_history_point *newest(const struct sb_history_judged *j)
{
    return &j->series->point[j->series->n - 1];
}

// Bencher ---------------------------------------------------------------------
//
// Bencher Metric Format: benchmark -> measure -> value.

#define MEASURE_MAX 64u // bytes of a name

static json_t *measure_name(const struct sb_history_series_figure *g)
{
    char name[256];

    // The measure that Bencher has already; its unit is that of the program.
    if (strcmp(g->unit, "/s") == 0 || !*g->unit)
        return sb_json_text(g->name);
    snprintf(name, sizeof(name), "%s (%s)", g->name, g->unit);
    name[sb_utf8_cut(name, strlen(name), MEASURE_MAX)] = '\0';
    return sb_json_text(name);
}

static json_t *measures(const struct sb_history_judged *j)
{
    const struct sb_history_point *p = newest(j);
    json_t *o = json_object();

    for (int f = 0; f < SB_HISTORY_FIGURES; f++) {
        json_t *name, *value;

        if (!j->figure[f].known)
            continue;
        name = measure_name(&j->figure[f]);
        value = json_pack("{s:o}", "value", sb_json_number(p->figure[f]));
        if (p->runs > 1) {
            sb__json_set(value, "lower_value", sb_json_number(p->low[f]));
            sb__json_set(value, "upper_value", sb_json_number(p->high[f]));
        }
        sb__json_set(o, json_string_value(name), value);
        json_decref(name);
    }
    return o;
}

static json_t *bencher(const struct sb_history_exported *h)
{
    json_t *o = json_object();

    for (size_t i = 0; i < h->n; i++) {
        json_t *name = sb_json_text(h->judged[i].series->name);

        if (h->judged[i].series->newest)
            sb__json_set(o, json_string_value(name), measures(&h->judged[i]));
        json_decref(name);
    }
    return o;
}

// github-action-benchmark -----------------------------------------------------
//
// Its tools customBiggerIsBetter and customSmallerIsBetter read one file each.

static json_t *entry(const struct sb_history_judged *j, int figure)
{
    const struct sb_history_series_figure *g = &j->figure[figure];
    const struct sb_history_point *p = newest(j);
    char name[512], range[48], number[24];
    json_t *o;

    snprintf(name, sizeof(name), "%s: %s", j->series->name, g->name);
    o = json_pack("{s:o,s:o,s:o,s:o}", "name", sb_json_text(name), "unit",
        sb_json_text(strcmp(g->unit, "/s") == 0 ? "events/s" : g->unit),
        "value", sb_json_number(p->figure[figure]), "extra",
        sb_json_text(sb_history_point_name(p)));
    if (p->runs > 1) {
        snprintf(range, sizeof(range), "\u00b1 %s",
            sb_number_text(number, sizeof(number),
                (p->high[figure] - p->low[figure]) / 2));
        sb__json_set(o, "range", sb_json_text(range));
    }
    return o;
}

static json_t *github(const struct sb_history_exported *h, bool smaller)
{
    json_t *list = json_array();

    for (size_t i = 0; i < h->n; i++) {
        const struct sb_history_judged *j = &h->judged[i];

        for (int f = 0; j->series->newest && f < SB_HISTORY_FIGURES; f++)
            if (j->figure[f].known && j->figure[f].less_is_better == smaller)
                sb__json_append(list, entry(j, f));
    }
    return list;
}

static int write_json(json_t *o, FILE *out, struct sb_err *err)
{
    int rc = o ? json_dumpf(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15))
               : -1;

    json_decref(o);
    fputc('\n', out);
    return rc ? sb_err_set(err, SB_ENOMEM, "out of memory") : 0;
}

static int write_bencher(
    const struct sb_history_exported *h, FILE *out, struct sb_err *err)
{
    return write_json(bencher(h), out, err);
}

static int write_bigger(
    const struct sb_history_exported *h, FILE *out, struct sb_err *err)
{
    return write_json(github(h, false), out, err);
}

static int write_smaller(
    const struct sb_history_exported *h, FILE *out, struct sb_err *err)
{
    return write_json(github(h, true), out, err);
}

// Apache Otava ----------------------------------------------------------------
//
// A table has one series: Otava accepts no empty cells.

static void write_cell(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
    putc('"', out);
}

static int write_otava(
    const struct sb_history_exported *h, FILE *out, struct sb_err *err)
{
    const struct sb_history_judged *j = &h->judged[0];

    if (h->n != 1)
        return sb_err_set(err, SB_EUSAGE,
            "--export=otava: there are %zu series, and the table has room for "
            "one: choose it with --at=OPTION=VALUE",
            h->n);
    fprintf(out, "time,");
    write_cell(out, h->by);
    for (int f = 0; f < SB_HISTORY_FIGURES; f++)
        if (j->figure[f].known) {
            putc(',', out);
            write_cell(out, j->figure[f].name);
        }
    putc('\n', out);
    for (size_t i = 0; i < j->series->n; i++) {
        const struct sb_history_point *p = &j->series->point[i];

        if (!*p->run->started)
            continue;
        write_cell(out, p->run->started);
        putc(',', out);
        write_cell(out, p->run->label);
        for (int f = 0; f < SB_HISTORY_FIGURES; f++)
            if (j->figure[f].known)
                fprintf(out, ",%.10g", p->figure[f]);
        putc('\n', out);
    }
    return 0;
}

// Markdown --------------------------------------------------------------------

#define CHANGES_MAX 20u // of the table; the last ones

// Text of a file: nothing in it is markup.
static void write_text(FILE *out, const char *text)
{
    size_t size = 4 * strlen(text) + 1;
    char *safe = malloc(size);

    if (!safe)
        return;
    sb_escape_line(safe, size, text);
    for (const char *p = safe; *p; p++) {
        if (*p == '<')
            fputs("&lt;", out);
        else if (strchr("\\`*_[]|#~@>!", *p))
            fprintf(out, "\\%c", *p);
        else
            putc(*p, out);
    }
    free(safe);
}

static void write_row(FILE *out, const struct sb_history_series_figure *g,
    double before, double after, const struct sb_difference *d)
{
    char a[24], b[24], value[32], low[32], high[32];

    write_text(out, g->name);
    if (*g->unit) {
        fputs(", ", out);
        write_text(out, g->unit);
    }
    fprintf(out, " | %s | %s | %s | %s to %s",
        sb_number_text(a, sizeof(a), before),
        sb_number_text(b, sizeof(b), after),
        sb_history_change_text(value, sizeof(value), g, d->value),
        sb_history_change_text(low, sizeof(low), g, d->low),
        sb_history_change_text(high, sizeof(high), g, d->high));
}

static void write_newest(
    FILE *out, const struct sb_history_exported *h, size_t i)
{
    const struct sb_history_judged *j = &h->judged[i];

    for (int f = 0; f < SB_HISTORY_FIGURES; f++) {
        const struct sb_history_series_figure *g = &j->figure[f];

        // Most results have no errors.
        if (!g->known || (f == SB_HISTORY_ERRORS && !(g->level > 0) &&
                             !(newest(j)->figure[f] > 0)))
            continue;
        fputs("| ", out);
        write_text(out, j->series->name);
        fputs(" | ", out);
        write_row(out, g, g->level, newest(j)->figure[f], &g->newest);
        fprintf(out, " | %s%s%s |\n", f == (int)j->reason ? "**" : "",
            sb_history_verdict_name(g->verdict),
            f == (int)j->reason ? "**" : "");
    }
}

// Writes the last changes of the figures that decide.
static void write_changes(FILE *out, const struct sb_history_judged *j)
{
    const struct sb_history_series_figure *g = &j->figure[j->deciding];
    size_t n = g->all.n;

    for (size_t i = n > CHANGES_MAX ? n - CHANGES_MAX : 0; i < n; i++) {
        const struct sb_change *c = &g->all.change[i];

        fputs("| ", out);
        write_text(out, j->series->name);
        fputs(" | ", out);
        write_text(out, sb_history_point_name(&j->series->point[c->at]));
        fputs(" | ", out);
        write_row(out, g, c->before, c->after, &c->difference);
        fprintf(out, " | %s |\n", sb_history_word(g, &c->difference));
    }
}

static int write_markdown(
    const struct sb_history_exported *h, FILE *out, struct sb_err *err)
{
    size_t changes = 0;
    const json_t *note;
    size_t i;

    fprintf(out, "### sysbench history: %s\n\n",
        sb_history_verdict_name(h->verdict));
    for (i = 0; i < h->n; i++) {
        const struct sb_history_judged *j = &h->judged[i];
        char *text = j->series->newest ? h->sentence(h->arg, j) : NULL;

        if (j->series->newest && !text)
            return sb_err_set(err, SB_ENOMEM, "out of memory");
        changes += j->figure[j->deciding].all.n;
        if (!text)
            continue;
        fputs("- ", out);
        write_text(out, j->series->name);
        fputs(": ", out);
        write_text(out, text);
        fputs("\n", out);
        free(text);
    }
    if (h->reason) {
        fputs("- ", out);
        write_text(out, h->reason);
        fputs("\n", out);
    }
    fprintf(out,
        "\n| series | figure | before | newest | change | %g %% interval | "
        "verdict |\n|---|---|---:|---:|---:|---|---|\n",
        h->confidence);
    for (i = 0; i < h->n; i++)
        if (h->judged[i].series->newest)
            write_newest(out, h, i);
    if (changes > 0)
        fprintf(out,
            "\nChanges:\n\n| series | since | figure | before | after | change "
            "| %g %% interval | |\n|---|---|---|---:|---:|---:|---|---|\n",
            h->confidence);
    for (i = 0; i < h->n; i++)
        write_changes(out, &h->judged[i]);
    fputs("\n", out);
    json_array_foreach(h->notes, i, note)
    {
        fputs("- ", out);
        write_text(out, json_string_value(note));
        fputs("\n", out);
    }
    return 0;
}

// The option ------------------------------------------------------------------

static const struct {
    const char *name;
    int (*write)(
        const struct sb_history_exported *h, FILE *out, struct sb_err *err);
} formats[] = {
    { "markdown", write_markdown },
    { "bencher", write_bencher },
    { "github-bigger", write_bigger },
    { "github-smaller", write_smaller },
    { "otava", write_otava },
};

#define FORMATS (sizeof(formats) / sizeof(*formats))

// FORMATS: unknown.
static size_t format_of(const char *text)
{
    size_t len = strcspn(text, "="), i = 0;

    while (i < FORMATS && (strlen(formats[i].name) != len ||
                              strncmp(formats[i].name, text, len) != 0))
        i++;
    return text[len] && text[len + 1] ? i : FORMATS;
}

int sb_history_export_check(
    const char *text, const char **file, struct sb_err *err)
{
    if (format_of(text) == FORMATS)
        return sb_err_set(err, SB_EUSAGE,
            "--export: '%.100s' is not FORMAT=FILE; formats are markdown, "
            "bencher, github-bigger, github-smaller and otava",
            SB_SHOWN(text));
    *file = strchr(text, '=') + 1;
    return 0;
}

int sb_history_export(
    const struct sb_history_exported *h, const char *text, struct sb_err *err)
{
    struct sb_target t = { 0 };
    const char *file = NULL;
    int rc = sb_history_export_check(text, &file, err);

    if (rc)
        return rc;
    rc = sb_target_open(&t, file, SB_TARGET_WHOLE, err);
    if (rc == 0)
        rc = formats[format_of(text)].write(h, t.file, err);
    if (rc == 0)
        rc = sb_target_commit(&t, err);
    sb_target_done(&t);
    return rc;
}
