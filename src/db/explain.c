// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "db/internal.h"
#include "db/plans.h"
#include "db/probe.h"
#include "kit/array.h"

#define TEXT_MAX   2000u // bytes of a plan's text
#define TABLES_MAX 50u
#define AND        " > " // between two steps

static int begin_plan(void *arg, const char *kind, bool used)
{
    struct sb_op_plans *op = arg;
    struct sb_plan *p;

    if (op->nplans == SB_PLANS_OF_ONE)
        return SB_EINTERNAL;
    p = &op->plan[op->nplans];
    *p = (struct sb_plan){ .used = used, .text = strdup("") };
    snprintf(p->kind, sizeof(p->kind), "%s", kind);
    if (!p->text)
        return SB_ENOMEM;
    op->nplans++;
    return 0;
}

// A text that is too long is cut.
static int add_text(struct sb_plan *p, const char *text)
{
    size_t has = strlen(p->text), n = strlen(text);
    char *more;

    if (has + n + sizeof(AND) > TEXT_MAX)
        return 0;
    more = realloc(p->text, has + n + sizeof(AND));
    if (!more)
        return SB_ENOMEM;
    p->text = more;
    snprintf(more + has, n + sizeof(AND), "%s%s", has ? AND : "", text);
    return 0;
}

static int add_table(struct sb_plan *p, const struct sb_plan_step *s)
{
    unsigned n = p->ntables;
    struct sb_plan_table *t;

    if (n == TABLES_MAX)
        return 0;
    t = sb_array_least(p->table, &n, n + 1, sizeof(*t));
    if (!t)
        return SB_ENOMEM;
    p->table = t;
    t += p->ntables;
    *t = (struct sb_plan_table){ strdup(s->table), s->scans, s->size, s->rows };
    if (!t->name)
        return SB_ENOMEM;
    p->ntables++;
    return 0;
}

static int add_step(void *arg, const struct sb_plan_step *s)
{
    struct sb_op_plans *op = arg;
    struct sb_plan *p = &op->plan[op->nplans - 1];
    int rc = op->nplans ? add_text(p, s->text) : SB_EINTERNAL;

    return rc || !s->table ? rc : add_table(p, s);
}

static void drop_plans(struct sb_op_plans *op)
{
    for (unsigned i = 0; i < op->nplans; i++) {
        struct sb_plan *p = &op->plan[i];

        for (unsigned k = 0; k < p->ntables; k++)
            free(p->table[k].name);
        free(p->table);
        free(p->text);
    }
    op->nplans = 0;
}

// refused: why the server cannot be asked, or "".
static int explain(struct sb__probe *p, const struct sb__plan_op *from,
    const struct sb__explain_limit *limit, const char *refused,
    struct sb_op_plans *to, struct sb_err *err)
{
    static const char late[] = "there was no time left to ask the server";
    const struct sb_plan_sink sink = {
        .arg = to, .plan = begin_plan, .step = add_step
    };
    const char *why = refused[0] ? refused : from->why;
    struct sb_err refusal = { 0 };
    int rc = 0;

    if (!why[0] && sb__plans_temporary(sb__probe_inst(p), from->statement.sql))
        why = "it uses a temporary table";
    else if (!why[0] && sb_clock_monotonic() >= limit->until)
        why = late;
    if (!why[0]) {
        rc = sb__probe_explain(p, &from->statement, &sink, &refusal);
        why = rc ? refusal.msg : "";
        if (!rc && limit->strict && sb_clock_monotonic() >= limit->until)
            why = late;
    }
    snprintf(to->why, sizeof(to->why), "%.190s", why);
    if (why[0])
        drop_plans(to);
    if (rc == 0)
        return 0;
    *err = refusal;
    return sb_err_is_refusal(rc) ? 0 : rc;
}

static int explain_all(struct sb__probe *p, const struct sb__plan_op *const *op,
    unsigned n, const struct sb__explain_limit *limit, const char *refused,
    struct sb_plans *out, struct sb_err *err)
{
    int rc = 0;

    out->op = calloc(n, sizeof(*out->op));
    for (unsigned i = 0; rc == 0 && i < n; i++) {
        struct sb_op_plans *to = &out->op[i];

        if (out->op)
            *to = (struct sb_op_plans){ .operation = strdup(op[i]->name),
                .filters = op[i]->filters };
        if (!out->op || !to->operation)
            return sb_err_set(err, SB_ENOMEM, "out of memory");
        out->n++;
        rc = explain(p, op[i], limit, refused, to, err);
    }
    return rc;
}

int sb__plans_explain(struct sb__probe *p,
    const struct sb__explain_limit *limit, struct sb_plans *out,
    struct sb_err *err)
{
    const struct sb__inst *inst = sb__probe_inst(p);
    const struct sb_info_ops *ops = inst->db->drv->info;
    const char *session = sb__plans_session(inst);
    const char *init_sql;
    const struct sb__plan_op *op[SB__PLANS_MAX];
    struct sb_err refusal = { 0 };
    unsigned n;
    int rc = 0;

    *out = (struct sb_plans){ 0 };
    if (!ops || !ops->explain) {
        snprintf(out->why, sizeof(out->why), "the %s driver cannot report this",
            inst->db->drv->name);
        return 0;
    }
    n = sb__plans_list(inst, op);
    out->asked = true;
    snprintf(out->session, sizeof(out->session), "%s", session ? session : "");
    if (n == 0)
        return 0;
    // --db-init-sql may fail on one more connection.
    rc = sb__probe_begin(p, &refusal);
    if (rc == 0 || sb_err_is_refusal(rc))
        rc = explain_all(p, op, n, limit, refusal.msg, out, err);
    else
        *err = refusal;
    if (rc)
        sb_plans_done(out);
    init_sql = inst->db->owner->opts->init_sql;
    if (rc == 0 && init_sql && init_sql[0])
        sb__probe_disconnect(p); // what else the probe asks is not to change
    return rc;
}

const struct sb_plan *sb_plan_used(const struct sb_op_plans *op)
{
    for (unsigned i = 0; i < op->nplans; i++) {
        if (op->plan[i].used)
            return &op->plan[i];
    }
    return NULL;
}

void sb_plans_done(struct sb_plans *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        drop_plans(&p->op[i]);
        free(p->op[i].operation);
    }
    free(p->op);
    *p = (struct sb_plans){ 0 };
}
