// SPDX-License-Identifier: GPL-2.0-or-later
//
// The check of plans: which tables statements read as a whole to find some of
// their rows, and which plans changed. docs/internals/validity.md has the
// rules.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "kit/array.h"
#include "out/validity.h"

#define TABLE_MIN 1000 // rows: others are read as fast without an index

// What the check has found so far.
struct findings {
    const struct sb__listening *t;
    struct sb_check *c;
    unsigned operations, compared; // that were explained; twice
    unsigned found, refused;
    const char *why; // of the first one that was refused
};

// The number of rows; NaN: unknown.
static double rows_of(
    const struct sb_inspection *i, const struct sb_plan_table *table)
{
    const struct sb_table_facts *f = sb_inspected_find(&i->after, table->name);

    if (!f)
        f = sb_inspected_find(&i->before, table->name);
    return f && isfinite(f->rows) ? f->rows : table->size;
}

// Whether a plan is worth to be named: it is not if all of its tables are
// small.
static bool uses_large_table(
    const struct sb_inspection *i, const struct sb_plan *p)
{
    bool large = p->ntables == 0;

    for (unsigned k = 0; k < p->ntables && !large; k++)
        large = !(rows_of(i, &p->table[k]) < TABLE_MIN);
    return large;
}

#define STEPS_MAX 130 // bytes of a plan in a sentence

// The steps with which two plans differ, from the first one on.
static size_t same_steps(const char *a, const char *b)
{
    size_t same = 0;

    for (size_t i = 0; a[i] && a[i] == b[i]; i++) {
        if (strncmp(a + i, " > ", 3) == 0)
            same = i + 3;
    }
    return same;
}

static const char *steps(char out[STEPS_MAX + 4], const char *text)
{
    bool cut = strlen(text) > STEPS_MAX;

    snprintf(out, STEPS_MAX + 4, "%.*s%s", STEPS_MAX, text, cut ? "..." : "");
    return out;
}

static bool find_change(struct findings *f, const struct sb_inspection *i,
    const struct sb_op_plans *before, const struct sb_op_plans *after)
{
    const struct sb_plan *was = sb_plan_used(before);
    const struct sb_plan *is = sb_plan_used(after);
    char a[STEPS_MAX + 4], b[STEPS_MAX + 4];
    size_t same;

    if (!was || !is || !was->text[0] || !is->text[0])
        return false;
    f->compared++;
    same = same_steps(was->text, is->text);
    if (strcmp(was->text, is->text) == 0 ||
        (!uses_large_table(i, was) && !uses_large_table(i, is)))
        return false;
    sb_check_find(f->c, SB_VALIDITY_DOUBTFUL,
        "analyze the tables before the run, and do not change them or their "
        "indexes during it",
        "the server's plan of %.60s changed during the run: %s became %s",
        after->operation, steps(a, was->text + same),
        steps(b, is->text + same));
    return true;
}

// A statement without a WHERE means to read all rows, and an index would not
// help one that takes half of them.
static bool is_full_scan(const struct sb_plan_table *table, double rows)
{
    return table->scanned && !(rows < TABLE_MIN) && !(table->rows >= rows / 2);
}

static bool find_scan(struct findings *f, const struct sb_inspection *i,
    const struct sb_op_plans *op)
{
    const struct sb_plan *p = sb_plan_used(op);
    char text[STEPS_MAX + 4];

    for (unsigned k = 0; p && op->filters && k < p->ntables; k++) {
        const struct sb_plan_table *table = &p->table[k];
        double rows = rows_of(i, table);

        if (!is_full_scan(table, rows))
            continue;
        if (isnan(rows)) {
            sb_check_find(f->c, SB_VALIDITY_UNKNOWN, "",
                "%.60s reads all rows of %.60s, whose size is unknown",
                op->operation, table->name);
            continue;
        }
        sb_check_find(f->c, SB_VALIDITY_DOUBTFUL,
            "create an index, or analyze the tables; if the workload means to "
            "read the whole table, ignore this",
            "%.60s reads all %.0f rows of %.60s to find some of them: %s",
            op->operation, rows, table->name, steps(text, p->text));
        return true;
    }
    return false;
}

static void find_in_server(struct findings *f, const struct sb_inspection *i)
{
    const struct sb_plans *after = &i->plans_after;
    const struct sb_plans *before = &i->plans_before;

    for (unsigned k = 0; k < after->n; k++) {
        const struct sb_op_plans *op = &after->op[k];
        if (op->why[0]) {
            if (f->refused++ == 0)
                f->why = op->why;
            continue;
        }
        f->operations++;
        if ((k < before->n && find_change(f, i, &before->op[k], op)) ||
            find_scan(f, i, op))
            f->found++;
    }
}

// Whether the check is made, because nothing is known about plans.
static bool is_unknown(const struct sb__listening *t, struct sb_check *c)
{
    bool documents = t->server.ninspections > 0;

    for (unsigned k = 0; k < t->server.ninspections; k++)
        documents = documents && t->server.inspection[k].documents;
    if (documents) {
        c->state = SB_VALIDITY_NOT_APPLICABLE;
        snprintf(c->meaning, sizeof(c->meaning), "the database has no SQL");
        return true;
    }
    if (!sb__app_servers_answered(t, c))
        return true;
    for (unsigned k = 0; k < t->server.ninspections; k++) {
        const struct sb_inspection *i = &t->server.inspection[k];

        if (i->plans_after.session[0])
            snprintf(c->meaning, sizeof(c->meaning),
                "a session had settings of its own (%s), on which plans may "
                "depend",
                i->plans_after.session);
        else if (!i->plans_after.asked)
            snprintf(c->meaning, sizeof(c->meaning), "%s",
                i->plans_after.why[0] ? i->plans_after.why
                                      : "the plans were not asked for");
    }
    return c->meaning[0];
}

// What is known of changes.
static const char *changes(const struct findings *f, char *out, size_t size)
{
    if (f->compared == f->operations)
        return ", and none changed since the warm-up";
    if (f->compared == 0)
        return "; changes are not seen, because the server explained no plan "
               "during a warm-up";
    snprintf(out, size,
        "; the plans of %u of %u operations were explained during the warm-up, "
        "and did not change",
        f->compared, f->operations);
    return out;
}

static void conclude(const struct findings *f)
{
    struct sb_check *c = f->c;
    char text[160];

    if (f->refused > 0)
        sb_check_find(c, SB_VALIDITY_UNKNOWN, "",
            "%u operation%s could not be explained: %.150s", f->refused,
            f->refused > 1 ? "s" : "", f->why);
    if (f->operations > 0) {
        c->value = f->found;
        c->unit = "operations";
    }
    if (c->meaning[0])
        return;
    if (f->operations == 0) {
        c->state = SB_VALIDITY_NOT_APPLICABLE;
        snprintf(c->meaning, sizeof(c->meaning), "no statement looks for rows");
        return;
    }
    snprintf(c->meaning, sizeof(c->meaning),
        "no plan reads a whole table of %d rows or more to find some of them%s",
        TABLE_MIN, changes(f, text, sizeof(text)));
}

static void append_scan(struct sb_plan_facts *p, const char *table)
{
    size_t used = strlen(p->scans);

    snprintf(p->scans + used, sizeof(p->scans) - used, "%s%s", used ? ", " : "",
        table);
}

// The plan of the same kind; NULL: none.
static const struct sb_plan *plan_of(
    const struct sb_op_plans *op, const char *kind)
{
    for (unsigned i = 0; op && i < op->nplans; i++) {
        if (strcmp(op->plan[i].kind, kind) == 0)
            return &op->plan[i];
    }
    return NULL;
}

static struct sb_plan_facts *new_fact(struct sb__listening *t,
    const struct sb_inspection *i, const struct sb_op_plans *op)
{
    struct sb_facts *f = &t->a->facts;
    struct sb_plan_facts *all = sb_array_least(
        t->server.plans, &f->nplans, f->nplans + 1, sizeof(*all));

    if (!all)
        return NULL;
    f->plans = t->server.plans = all;
    all += f->nplans - 1;
    *all = (struct sb_plan_facts){ .operation = op->operation,
        .address = i->address,
        .kind = "",
        .why = op->why };
    return all;
}

// For result files. Texts stay those of the inspections.
static void add_facts(struct sb__listening *t, const struct sb_inspection *i)
{
    for (unsigned k = 0; k < i->plans_after.n; k++) {
        const struct sb_op_plans *op = &i->plans_after.op[k];
        const struct sb_op_plans *before = k < i->plans_before.n
                                               ? &i->plans_before.op[k]
                                               : NULL;
        struct sb_plan_facts *fact;

        if (op->why[0])
            new_fact(t, i, op);
        for (unsigned j = 0; j < op->nplans; j++) {
            const struct sb_plan *p = &op->plan[j];
            const struct sb_plan *was = plan_of(before, p->kind);

            fact = new_fact(t, i, op);
            if (!fact)
                return;
            fact->kind = p->kind;
            fact->used = p->used;
            fact->before = was ? was->text : NULL;
            fact->after = p->text;
            for (unsigned s = 0; s < p->ntables; s++) {
                if (p->table[s].scanned)
                    append_scan(fact, p->table[s].name);
            }
        }
    }
}

void sb__app_check_plans(struct sb__listening *t, struct sb_validity *v)
{
    struct findings f = { .t = t,
        .c = sb_validity_make(v, SB_CHECK_PLANS, SB_VALIDITY_OK) };

    for (unsigned i = 0; i < t->server.ninspections; i++)
        add_facts(t, &t->server.inspection[i]);
    if (is_unknown(t, f.c))
        return;
    f.c->state = SB_VALIDITY_OK;
    for (unsigned i = 0; i < t->server.ninspections; i++)
        find_in_server(&f, &t->server.inspection[i]);
    conclude(&f);
}
