// SPDX-License-Identifier: GPL-2.0-or-later
//
// --server-statements: what servers have counted of the statements of a run,
// beside the operations of the client.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/log.h"
#include "db/shape.h"
#include "db/texts.h"
#include "out/statements.h"

struct sb__app_statements {
    struct sb_sampler_growth *growth; // of the servers, after the run
    unsigned ngrowth;
    json_t *json; // facts.statements
};

bool sb__app_statements_wanted(const struct sb_app *a)
{
    int mode = a->sampler_opts.statements;

    return mode == SB_STATEMENTS_ON ||
           (mode == SB_STATEMENTS_AUTO && a->reporters.n > 0);
}

void sb__app_statements_take(
    struct sb__listening *t, struct sb_sampler *sampler)
{
    if (t->statements)
        t->statements->growth = sb_sampler_statements(
            sampler, &t->statements->ngrowth);
}

static void begin_statements(struct sb__listening *t)
{
    if (sb__app_statements_wanted(t->a))
        t->statements = calloc(1, sizeof(*t->statements));
}

// Figures ---------------------------------------------------------------------

struct lists {
    struct sb_counting_server *server;
    struct sb_counted_statement *statement;
    struct sb_client_operation *operation;
    struct sb_counted_run run;
};

static void lists_done(struct lists *l)
{
    for (unsigned i = 0; i < l->run.nstatements; i++)
        free((char *)l->statement[i].shape);
    free(l->server);
    free(l->statement);
    free(l->operation);
}

static void add_statement(struct sb__listening *t, struct lists *l,
    const char *driver, const struct sb_statement_growth *g)
{
    const char *text = g->text ? g->text : "";
    size_t len = strlen(text);
    char *shape = sb_shape(text, len, 0);

    l->statement[l->run.nstatements++] = (struct sb_counted_statement){
        .operation = g->text ? sb_drivers_operation(
                                   t->a->drivers, driver, text, len)
                             : NULL,
        .text = text,
        .shape = shape,
        .is_prepared = g->by.is_prepared,
        .calls = g->by.calls,
        .ns = g->by.ns,
        .rows = g->by.rows,
        .examined = g->by.examined,
        .hit = g->by.hit,
        .read = g->by.read,
        .written = g->by.written,
        .errors = g->by.errors
    };
}

static void add_server(
    struct sb__listening *t, struct lists *l, const struct sb_sampler_growth *s)
{
    const struct sb_statements_growth *g = &s->growth;

    l->server[l->run.nservers++] =
        (struct sb_counting_server){ .driver = s->driver,
            .address = s->address,
            .why = g->why,
            .lost = g->lost,
            .reset = g->reset };
    for (unsigned i = 0; i < g->n; i++)
        add_statement(t, l, s->driver, &g->item[i]);
    l->run.others += g->others;
    l->run.others_calls += g->others_calls;
    l->run.others_ns += g->others_ns;
}

// Not those of a driver's own API or of a script, which execute no statement.
static void add_operations(
    struct sb__listening *t, struct lists *l, const struct sb_report *r)
{
    for (unsigned i = 0; i < r->snap->nops; i++) {
        const struct sb_snap_op *op = &r->snap->op[i];
        const struct sb_op *of = &r->stats->op[i];

        if (of->kind == SB_OP_CUSTOM || of->kind == SB_OP_WORKLOAD ||
            op->count == 0)
            continue;
        l->operation[l->run.noperations++] =
            (struct sb_client_operation){ .name = of->name,
                .calls = (double)op->count,
                .errors = (double)op->errors,
                .ns = (double)op->ns,
                .is_prepared = sb_drivers_prepared(t->a->drivers, of->name) };
    }
}

// The calls of a run that began or ended while the server was asked: events in
// progress when the warm-up ended, and those until the answer.
static double slack_of(struct sb__listening *t, const struct sb_report *r)
{
    double late = 0, events = (double)r->snap->c.completed;

    for (unsigned i = 0; i < t->statements->ngrowth; i++)
        late = fmax(late, t->statements->growth[i].late_s);
    if (late <= 0 || events <= 0 || r->total_s <= 0)
        return 0;
    return late / r->total_s + (double)r->threads / events;
}

static int by_falling_time(const void *a, const void *b)
{
    double x = ((const struct sb_counted_statement *)a)->ns;
    double y = ((const struct sb_counted_statement *)b)->ns;

    return (x < y) - (x > y);
}

static bool make_lists(
    struct sb__listening *t, struct lists *l, const struct sb_report *r)
{
    const struct sb__app_statements *s = t->statements;
    unsigned n = 0;

    for (unsigned i = 0; i < s->ngrowth; i++)
        n += s->growth[i].growth.n;
    l->server = calloc(s->ngrowth + 1, sizeof(*l->server));
    l->statement = calloc(n + 1, sizeof(*l->statement));
    l->operation = calloc(r->snap->nops + 1, sizeof(*l->operation));
    if (!l->server || !l->statement || !l->operation)
        return false;
    for (unsigned i = 0; i < s->ngrowth; i++)
        add_server(t, l, &s->growth[i]);
    qsort(l->statement, l->run.nstatements, sizeof(*l->statement),
        by_falling_time);
    add_operations(t, l, r);
    l->run.server = l->server;
    l->run.statement = l->statement;
    l->run.operation = l->operation;
    l->run.slack = slack_of(t, r);
    return true;
}

static bool any_known(const struct sb__app_statements *s)
{
    bool known = false;

    for (unsigned i = 0; i < s->ngrowth; i++)
        known = known || !s->growth[i].growth.why[0];
    return known;
}

static void complete_statements(
    struct sb__listening *t, const struct sb_report *final)
{
    struct sb__app_statements *s = t->statements;
    bool demanded = t->a->sampler_opts.statements == SB_STATEMENTS_ON;
    struct lists l = { 0 };
    struct sb_report whole;

    if (!s || final->warmup || (!demanded && !any_known(s)))
        return;
    sb_reporters_whole(&whole, final);
    if (make_lists(t, &l, &whole))
        s->json = sb_statements_json(&l.run);
    lists_done(&l);
    t->a->facts.statements = s->json;
}

static void print_statements(struct sb__listening *t, const struct sb_report *r)
{
    const struct sb__app_statements *s = t->statements;

    (void)r;
    if (!s || t->a->sampler_opts.statements != SB_STATEMENTS_ON)
        return;
    if (!any_known(s))
        sb_log(SB_LOG_WARNING, "--server-statements: %s",
            s->ngrowth ? s->growth[0].growth.why
                       : "no server was used that counts statements");
    else if (s->json && !sb__app_quiet(t->a))
        sb_statements_text(s->json, stdout);
}

void sb__app_statements_done(struct sb__listening *t)
{
    struct sb__app_statements *s = t->statements;

    if (!s)
        return;
    for (unsigned i = 0; i < s->ngrowth; i++)
        sb_statements_growth_done(&s->growth[i].growth);
    free(s->growth);
    json_decref(s->json);
    free(s);
    t->statements = NULL;
    t->a->facts.statements = NULL;
}

const struct sb__app_listener sb__app_statements_listener = {
    .connecting = begin_statements,
    .complete = complete_statements,
    .after = print_statements,
};
