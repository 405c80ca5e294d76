// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/statements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "db/probe.h"
#include "kit/array.h"

// More are not kept: a server has 5,000 (PostgreSQL) or 10,000 by default.
#define KEPT_MAX 100000u

void sb_statements_done(struct sb_statements *s)
{
    for (size_t i = 0; i < s->n; i++)
        free((char *)s->item[i].id);
    free(s->item);
    *s = (struct sb_statements){ 0 };
}

void sb_statements_growth_done(struct sb_statements_growth *g)
{
    for (unsigned i = 0; i < g->n; i++) {
        free(g->item[i].id);
        free(g->item[i].text);
    }
    free(g->item);
    *g = (struct sb_statements_growth){ 0 };
}

// Reading ---------------------------------------------------------------------

static int take_statement(void *arg, const struct sb_statement_count *s)
{
    struct sb_statements *out = arg;
    struct sb_statement_count *item;

    if (out->n == KEPT_MAX)
        return 0;
    item = sb_array_room(out->item, &out->cap, out->n, 1, sizeof(*item));
    if (!item)
        return SB_ENOMEM;
    out->item = item;
    item += out->n;
    *item = *s;
    item->id = strdup(s->id);
    if (!item->id)
        return SB_ENOMEM;
    out->n++;
    return 0;
}

static int take_lost(void *arg, double n)
{
    ((struct sb_statements *)arg)->lost = n;
    return 0;
}

static int take_server(void *arg, const char *id)
{
    struct sb_statements *out = arg;

    snprintf(out->server, sizeof(out->server), "%s", id);
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const struct sb_statement_count *x = a, *y = b;

    return strcmp(x->id, y->id);
}

// Whether an error is an answer of the server: the connection is still good.
static bool is_answer(int rc)
{
    return rc == SB_EUNSUPPORTED || sb_err_is_refusal(rc);
}

int sb__statements_read(
    struct sb__probe *p, struct sb_statements *out, struct sb_err *err)
{
    const struct sb_statement_sink sink = { .arg = out,
        .totals = take_statement,
        .lost = take_lost,
        .server = take_server };
    int rc;

    *out = (struct sb_statements){ .asked = true, .lost = NAN };
    rc = sb__probe_statements(p, &sink, err);
    out->ns = sb_clock_monotonic();
    if (out->n > 1)
        qsort(out->item, out->n, sizeof(*out->item), by_id);
    if (rc)
        snprintf(out->why, sizeof(out->why), "%.190s", err->msg);
    return is_answer(rc) ? 0 : rc;
}

// Growth ----------------------------------------------------------------------

static double grown(double before, double after)
{
    return isnan(before) ? after : after - before;
}

static struct sb_statement_count subtract(
    const struct sb_statement_count *before,
    const struct sb_statement_count *after)
{
    struct sb_statement_count s = *after;

    if (!before)
        return s;
    s.calls = grown(before->calls, after->calls);
    s.ns = grown(before->ns, after->ns);
    s.rows = grown(before->rows, after->rows);
    s.examined = grown(before->examined, after->examined);
    s.hit = grown(before->hit, after->hit);
    s.read = grown(before->read, after->read);
    s.written = grown(before->written, after->written);
    s.errors = grown(before->errors, after->errors);
    return s;
}

static int by_falling_time(const void *a, const void *b)
{
    double x = ((const struct sb_statement_count *)a)->ns;
    double y = ((const struct sb_statement_count *)b)->ns;

    return (x < y) - (x > y);
}

// Replaces the totals by their growth, and removes what has not grown. Its id
// is freed.
static void keep_grown(struct sb_statements *after,
    const struct sb_statements *before, struct sb_statements_growth *g)
{
    size_t n = 0;

    for (size_t i = 0; i < after->n; i++) {
        struct sb_statement_count *item = &after->item[i];
        const struct sb_statement_count *was =
            before->n
                ? bsearch(item, before->item, before->n, sizeof(*item), by_id)
                : NULL;
        struct sb_statement_count by = subtract(was, item);

        g->reset = g->reset || by.calls < 0;
        if (by.calls > 0)
            after->item[n++] = by;
        else
            free((char *)item->id);
    }
    after->n = n;
    if (n > 1)
        qsort(after->item, n, sizeof(*after->item), by_falling_time);
}

static int take_growth(
    struct sb_statements_growth *g, struct sb_statements *from)
{
    unsigned n = from->n < SB_STATEMENTS_MAX ? (unsigned)from->n
                                             : SB_STATEMENTS_MAX;

    g->item = calloc(n ? n : 1, sizeof(*g->item));
    if (!g->item)
        return SB_ENOMEM;
    for (size_t i = 0; i < from->n; i++) {
        struct sb_statement_count *item = &from->item[i];

        if (i < n) {
            g->item[i] = (struct sb_statement_growth){ .id = (char *)item->id,
                .by = *item };
        } else {
            g->others++;
            g->others_calls += item->calls;
            g->others_ns += item->ns;
            free((char *)item->id);
        }
    }
    g->n = n;
    from->n = 0;
    return 0;
}

static int take_text(void *arg, const char *id, const char *text)
{
    struct sb_statements_growth *g = arg;

    for (unsigned i = 0; i < g->n; i++) {
        if (strcmp(g->item[i].id, id) != 0)
            continue;
        if (!g->item[i].text)
            g->item[i].text = strdup(text);
        return g->item[i].text ? 0 : SB_ENOMEM;
    }
    return 0;
}

// Statements without a text are not part of the load.
static void remove_textless(struct sb_statements_growth *g)
{
    unsigned n = 0;

    for (unsigned i = 0; i < g->n; i++) {
        if (g->item[i].text || g->item[i].by.is_prepared)
            g->item[n++] = g->item[i];
        else
            free(g->item[i].id);
    }
    g->n = n;
}

static int read_texts(
    struct sb__probe *p, struct sb_statements_growth *g, struct sb_err *err)
{
    const char *ids[SB_STATEMENTS_MAX];
    const struct sb_statement_sink sink = {
        .arg = g, .ids = ids, .nids = g->n, .text = take_text
    };
    int rc;

    for (unsigned i = 0; i < g->n; i++)
        ids[i] = g->item[i].id;
    rc = g->n > 0 ? sb__probe_statements(p, &sink, err) : 0;
    if (is_answer(rc))
        snprintf(g->why, sizeof(g->why), "%.190s", err->msg);
    remove_textless(g);
    return is_answer(rc) ? 0 : rc;
}

static bool is_same_server(
    const struct sb_statements *before, const struct sb_statements *after)
{
    return !before->server[0] || !after->server[0] ||
           strcmp(before->server, after->server) == 0;
}

int sb__statements_grow(struct sb__probe *p, const struct sb_statements *before,
    struct sb_statements *after, struct sb_statements_growth *g,
    struct sb_err *err)
{
    const char *why = !before->asked ? "the server was not asked before the run"
                      : before->why[0] ? before->why
                      : after->why[0]  ? after->why
                      : is_same_server(before, after)
                          ? ""
                          : "the server was restarted, or the answers are of "
                            "different servers";
    int rc;

    *g = (struct sb_statements_growth){ .asked = true };
    snprintf(g->why, sizeof(g->why), "%.199s", why);
    if (why[0])
        return 0;
    keep_grown(after, before, g);
    g->lost = after->lost > before->lost;
    rc = take_growth(g, after);
    return rc ? sb_err_set(err, rc, "out of memory") : read_texts(p, g, err);
}
