// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/statements.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "kit/array.h"
#include "out/json_parts.h"
#include "out/json_value.h"
#include "results/cmd.h"
#include "results/sides.h"

// Statements that were called less often are not compared.
#define CALLS_MIN 100.0
// The mean time of a statement differs by at least this factor, or the number
// of its rows by the second one.
#define TIME_FACTOR 1.5
#define ROWS_FACTOR 1.2
// Fewer rows per call are no difference.
#define ROWS_MIN 0.01

#define NAME_MAX 160u // bytes of a statement

// What the servers of a side have counted of statements of one shape.
struct counted {
    const char *shape;
    double calls, ms, rows; // ms: of all calls
};

struct list {
    struct counted *item;
    size_t n, cap;
    bool any, incomplete, failed;
};

static struct counted *find(const struct list *l, const char *shape)
{
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->item[i].shape, shape) == 0)
            return &l->item[i];
    }
    return NULL;
}

static void add_digest(struct list *l, const json_t *digest)
{
    const char *shape = sb_result_member(digest, "shape");
    double calls = sb__json_number_of(digest, "calls"),
           ms = sb__json_number_of(digest, "ms");
    struct counted *c = find(l, shape);

    if (!*shape || !(calls > 0) || isnan(ms))
        return;
    if (!c) {
        c = sb_array_room(l->item, &l->cap, l->n, 1, sizeof(*c));
        l->failed = l->failed || !c;
        if (!c)
            return;
        l->item = c;
        c += l->n++;
        *c = (struct counted){ .shape = shape };
    }
    c->calls += calls;
    c->ms += calls * ms;
    c->rows += calls * sb__json_number_of(digest, "rows");
}

static void add_run(struct list *l, const json_t *run)
{
    const json_t *statements = json_object_get(run, "statements");
    const json_t *digests = json_object_get(statements, "digests");
    json_t *server;
    size_t i;

    l->any = l->any || json_array_size(digests) > 0;
    for (i = 0; i < json_array_size(digests); i++)
        add_digest(l, json_array_get(digests, i));
    l->incomplete = l->incomplete ||
                    sb__json_number_of(
                        json_object_get(statements, "unlisted"), "digests") > 0;
    json_array_foreach(json_object_get(statements, "servers"), i, server)
    {
        l->incomplete = l->incomplete ||
                        json_is_true(json_object_get(server, "lost")) ||
                        json_is_true(json_object_get(server, "reset")) ||
                        json_is_string(json_object_get(server, "why"));
    }
}

static struct list list_of(const struct sb_side *s)
{
    struct list l = { 0 };

    for (unsigned i = 0; i < s->nruns; i++)
        add_run(&l, s->run[i]->json);
    return l;
}

// "0.0213 ms, 1 row"
static json_t *figures(const struct counted *c)
{
    double rows = c ? c->rows / c->calls : 0;

    if (!c)
        return json_array();
    if (isnan(rows))
        return json_pack("[o]", json_sprintf("%.3g ms", c->ms / c->calls));
    return json_pack("[o]", json_sprintf("%.3g ms, %.4g row%s",
                                c->ms / c->calls, rows, rows == 1 ? "" : "s"));
}

static int append(json_t *list, const char *shape, const struct counted *a,
    const struct counted *b)
{
    char name[NAME_MAX + 8];

    snprintf(name, sizeof(name), "%.*s%s", (int)NAME_MAX, shape,
        strlen(shape) > NAME_MAX ? "..." : "");
    return json_array_append_new(
               list, json_pack("{s:s,s:o,s:o,s:o}", "kind", "statement", "name",
                         sb_json_text(name), "a", figures(a), "b", figures(b)))
               ? SB_ENOMEM
               : 0;
}

static bool by_factor(double a, double b, double factor)
{
    return fmax(a, b) > factor * fmin(a, b);
}

static bool differs(const struct counted *a, const struct counted *b)
{
    if (a->calls < CALLS_MIN || b->calls < CALLS_MIN)
        return false;
    double rows_a = a->rows / a->calls, rows_b = b->rows / b->calls;

    return by_factor(a->ms / a->calls, b->ms / b->calls, TIME_FACTOR) ||
           (by_factor(rows_a, rows_b, ROWS_FACTOR) &&
               fabs(rows_a - rows_b) >= ROWS_MIN);
}

// Statements of a that b does not have. The list of b may lack some.
static int append_alone(
    json_t *list, const struct list *a, const struct list *b, bool swapped)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < a->n && !b->incomplete; i++) {
        const struct counted *c = &a->item[i];

        if (c->calls >= CALLS_MIN && !find(b, c->shape))
            rc = append(list, c->shape, swapped ? NULL : c, swapped ? c : NULL);
    }
    return rc;
}

int sb__statements_differ(
    json_t *list, const struct sb_side *a, const struct sb_side *b)
{
    struct list la = list_of(a), lb = list_of(b);
    int rc = la.failed || lb.failed ? SB_ENOMEM : 0;

    if (rc == 0 && la.any && lb.any) {
        for (size_t i = 0; rc == 0 && i < la.n; i++) {
            const struct counted *other = find(&lb, la.item[i].shape);

            if (other && differs(&la.item[i], other))
                rc = append(list, other->shape, &la.item[i], other);
        }
        rc = rc ? rc : append_alone(list, &la, &lb, false);
        rc = rc ? rc : append_alone(list, &lb, &la, true);
    }
    free(la.item);
    free(lb.item);
    return rc;
}

static void print_figures(const json_t *list, FILE *out)
{
    const char *text = json_string_value(json_array_get(list, 0));

    sb__cmd_print_line(out, text ? text : "(none)");
}

void sb__statements_print(const json_t *list, FILE *out)
{
    bool any = false;
    json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        if (strcmp(sb_result_member(one, "kind"), "statement") != 0)
            continue;
        if (!any)
            fputs("Statements that differ on the servers (mean time, rows):\n",
                out);
        any = true;
        fputs("    ", out);
        print_figures(json_object_get(one, "a"), out);
        fputs(" / ", out);
        print_figures(json_object_get(one, "b"), out);
        fputs(": ", out);
        sb__cmd_print_line(out, sb_result_member(one, "name"));
        fputc('\n', out);
    }
}
