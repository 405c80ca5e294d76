// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/marks.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "out/beside_report.h"
#include "out/json_parts.h"

static json_t *mark(double time, const char *kind, const char *text)
{
    json_t *o = json_object();
    bool ok = sb__json_set(o, "time", sb_json_number(time)) &&
              sb__json_set(o, "kind", json_string(kind)) &&
              sb__json_set(o, "text", sb_json_text(text));

    return sb__json_complete(o, ok);
}

// The kinds of stretches, and what happened in them.
static const struct kind {
    const char *name, *noun;
} lost = { "lost", "connection error" },
  reconnect = { "reconnect", "reconnect" }, restart = { "restart", "restart" };

static json_t *stretch_mark(
    const struct sb_mark_stretch *s, const struct kind *kind)
{
    char text[96], until[40] = "";

    if (s->to > s->from)
        snprintf(
            until, sizeof(until), " until %.9g s", round(100 * s->to) / 100);
    snprintf(text, sizeof(text), "%" PRIu64 " %s%s%s", s->n, kind->noun,
        s->n == 1 ? "" : "s", until);
    return mark(s->from, kind->name, text);
}

// Inserts a mark behind those that are not later. Takes the reference.
static bool insert(json_t *list, json_t *one)
{
    double time = json_number_value(json_object_get(one, "time"));
    size_t i = json_array_size(list);

    while (i > 0 && json_number_value(json_object_get(
                        json_array_get(list, i - 1), "time")) > time)
        i--;
    return json_array_insert_new(list, i, one) == 0;
}

static int note(struct sb_marks *m, struct sb_mark_stretch *s,
    const struct kind *kind, uint64_t n, double time)
{
    bool full = json_array_size(m->list) >= SB_MARKS_MAX;

    if (n > 0) {
        s->from = s->n ? s->from : time;
        s->to = time;
        s->n += n;
    } else if (s->n > 0 && !full) {
        if (!insert(m->list, stretch_mark(s, kind)))
            return SB_ENOMEM;
        s->n = 0;
    }
    return 0;
}

static uint64_t losses(const struct sb_snap *s)
{
    uint64_t n = 0;

    for (unsigned i = 0; s->code && i < s->ncodes; i++)
        n += s->code[i].lost;
    return n;
}

int sb_marks_interval(struct sb_marks *m, const struct sb_report *r)
{
    const struct sb_counters *c = &r->snap->c;
    int rc;

    if (r->warmup)
        return 0;
    if (!m->list)
        m->list = json_array();
    if (!m->list)
        return SB_ENOMEM;
    rc = note(m, &m->lost, &lost, losses(r->snap), r->total_s);
    if (rc == 0)
        rc = note(m, &m->reconnects, &reconnect, c->reconnects, r->total_s);
    if (rc == 0)
        rc = note(m, &m->restarts, &restart, c->restarts, r->total_s);
    return rc;
}

void sb_marks_done(struct sb_marks *m)
{
    json_decref(m->list);
    *m = (struct sb_marks){ 0 };
}

static bool add_stages(json_t *list, const json_t *stages)
{
    bool ok = true;

    for (size_t i = 0; ok && i < json_array_size(stages); i++) {
        const json_t *s = json_array_get(stages, i);

        ok = insert(
            list, mark(json_number_value(json_object_get(s, "start")), "stage",
                      json_string_value(json_object_get(s, "name"))));
    }
    return ok;
}

json_t *sb_marks_json(const struct sb_marks *m, const json_t *stages,
    const struct sb_outcome *o, double seconds)
{
    json_t *list = m->list ? json_copy(m->list) : json_array();
    bool ok = list != NULL;

    if (ok && m->lost.n)
        ok = insert(list, stretch_mark(&m->lost, &lost));
    if (ok && m->reconnects.n)
        ok = insert(list, stretch_mark(&m->reconnects, &reconnect));
    if (ok && m->restarts.n)
        ok = insert(list, stretch_mark(&m->restarts, &restart));
    if (ok)
        ok = add_stages(list, stages);
    if (ok && o && strcmp(o->reason, "signal") == 0)
        ok = insert(list, mark(seconds, "interrupt", "ended by a signal"));
    if (ok && o && o->failure)
        ok = insert(list, mark(seconds, "failure", o->failure));
    return sb__json_complete(list, ok);
}

static bool add_beside(
    void *arg, double time, const char *kind, const char *text)
{
    return insert(arg, mark(time, kind, text));
}

bool sb_marks_add_beside(json_t *list, const struct sb_beside_figures *f)
{
    return list && sb_beside_each_mark(f, add_beside, list);
}
