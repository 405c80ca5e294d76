// SPDX-License-Identifier: GPL-2.0-or-later
//
// The comparison as a JSON document: docs/internals/compare.md.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "results/compare_private.h"
#include "results/json.h"
#include "out/json_parts.h"
#include "out/target.h"

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
        "verdict", verdicts[r->verdict], "words", sb__compare_word(f, r),
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

json_t *sb__compare_document(const struct sb__comparison *c)
{
    return json_pack(
        "{s:s,s:i,s:o,s:o,s:f,s:f,s:f,s:b,s:b,s:o,s:o,s:o,s:[o,o],s:O,s:o,s:b,"
        "s:o}",
        "format", "sysbench-comparison", "version", 1, "a",
        sb_json_text(c->a.text), "b", sb_json_text(c->b.text), "confidence",
        c->o.confidence, "margin", c->o.margin, "run_deviation", c->o.deviation,
        "paired", c->o.paired, "open_loop", c->open_loop, "verdict",
        json_string(outcome(c)), "sentence",
        written(c, sb__compare_verdict, false), "notes",
        written(c, sb__compare_notes, true), "sides", side_json(&c->a),
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
    json_t *o = sb__compare_document(c);
    int rc = o ? write_file(c->o.json, o, &err)
               : sb_err_set(&err, SB_ENOMEM, "out of memory");

    json_decref(o);
    if (rc)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    return rc;
}
