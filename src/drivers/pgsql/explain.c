// SPDX-License-Identifier: GPL-2.0-or-later
//
// Plans of statements: EXPLAIN in text format, in a transaction that may not
// write and is rolled back.
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "drivers/pgsql/binary.h"
#include "drivers/pgsql/internal.h"

// A blocked EXPLAIN is not to wait for long.
#define BEGIN                                                         \
    "BEGIN READ ONLY; SET LOCAL statement_timeout = 1000; SET LOCAL " \
    "lock_timeout = 500; "
#define EXPLAIN "EXPLAIN (VERBOSE) "

// The server compares the costs of both kinds of plans from the sixth execution
// on.
#define CUSTOM_PLANS 5

// The lines of an answer, each with its end.
static int keep_answer(
    const struct pgsql_conn *c, struct sb_buf *out, struct sb_err *err)
{
    const PGresult *r = pgsql_answer(c, 1, 1, err);

    if (!r)
        return SB_EQUERY;
    sb_buf_clear(out);
    for (int i = 0; i < PQntuples(r); i++)
        sb_buf_addf(out, "%s\n", PQgetvalue(r, i, 0));
    return out->failed ? sb_err_no_memory(err) : 0;
}

static int ask(struct pgsql_conn *c, const char *sql, struct sb_buf *out,
    struct sb_err *err)
{
    int rc = pgsql_run(c, sql, err);

    return rc ? rc : keep_answer(c, out, err);
}

// Reading a plan -------------------------------------------------------------

// Returns what a node does, as "Seq Scan on " with the name of a table behind
// it; NULL: the line is not that of a node. *costs: what follows.
static const char *node_of(const char *line, bool first, const char **costs)
{
    const char *text = line + strspn(line, " ");

    *costs = strstr(text, "  (cost=");
    if (!*costs || (!first && strncmp(text, "->  ", 4) != 0))
        return NULL;
    return first ? text : text + 4;
}

// Removes "public.", as the names of tables have it.
static void pg_copy_step(char *out, size_t size, const char *text, size_t len)
{
    static const char schema[] = " on public.";
    const char *at;

    snprintf(out, size, "%.*s", (int)len, text);
    at = strstr(out, schema);
    if (at)
        memmove(out + (at - out) + 4, at + sizeof(schema) - 1,
            strlen(at + sizeof(schema) - 1) + 1);
}

// The name of the table behind " on ", without its alias; false: none.
static bool pg_table_of(const char *step, char *out, size_t size)
{
    const char *at = strstr(step, " on "), *end;

    if (!at)
        return false;
    at += 4;
    end = at;
    for (bool quoted = false; *end && (quoted || *end != ' '); end++)
        quoted = quoted != (*end == '"');
    snprintf(out, size, "%.*s", (int)(end - at), at);
    return true;
}

// A plan divides the rows of a parallel scan by this.
static double divisor_of(const char *line)
{
    const char *at = strstr(line, "Workers Planned: ");
    double workers = at ? strtod(at + 17, NULL) : 0;

    return workers + fmax(0, 1 - 0.3 * workers);
}

static int take_node(const char *node, const char *costs, double *divisor,
    const struct sb_plan_sink *to)
{
    const char *rows = strstr(costs, " rows=");
    char text[300], table[200];
    struct sb_plan_step s = { .text = text, .size = NAN, .rows = NAN };

    pg_copy_step(text, sizeof(text), node, (size_t)(costs - node));
    // A bitmap names its index in this way.
    if (strncmp(text, "Bitmap Index Scan", 17) != 0 &&
        pg_table_of(text, table, sizeof(table)))
        s.table = table;
    s.scans = strncmp(text, "Seq Scan", 8) == 0 ||
              strncmp(text, "Parallel Seq Scan", 17) == 0;
    if (rows)
        s.rows = strtod(rows + 6, NULL) * (*text == 'P' ? *divisor : 1);
    return to->step(to->arg, &s);
}

static int take_plan(char *answer, const char *kind, bool used,
    const struct sb_plan_sink *to, struct sb_err *err)
{
    int rc = to->plan(to->arg, kind, used);
    double divisor = 1;
    unsigned nodes = 0;
    char *rest = answer, *line;

    while (rc == 0 && (line = strsep(&rest, "\n")) != NULL) {
        const char *costs, *node = node_of(line, nodes == 0, &costs);

        if (strstr(line, " Workers Planned: "))
            divisor = divisor_of(line);
        if (!node)
            continue;
        nodes++;
        rc = take_node(node, costs, &divisor, to);
    }
    if (rc == 0 && nodes == 0)
        return sb_err_set(err, SB_EQUERY, "the server's answer has no plan");
    return rc;
}

// Asking ---------------------------------------------------------------------

static void end(struct pgsql_conn *c)
{
    pgsql_run(c, "ROLLBACK", NULL);
    pgsql_clear(c);
}

// The server refuses more than one statement in this protocol.
static int explain_text(struct pgsql_conn *c, const struct sb_statement *s,
    struct sb_buf *answer, struct sb_err *err)
{
    struct sb_buf sql = { 0 };
    int rc = pgsql_run(c, BEGIN, err);

    sb_buf_addf(&sql, EXPLAIN "%s", s->sql);
    if (rc == 0 && sql.failed)
        rc = sb_err_no_memory(err);
    if (rc == 0) {
        pgsql_clear(c);
        pgsql_call_begin(c);
        rc = PQsendQueryParams(c->db, sql.data, 0, NULL, NULL, NULL, NULL, 0)
                 ? pgsql_collect(c, err)
                 : pgsql_fail(c, NULL, err);
        pgsql_call_end(c);
    }
    if (rc == 0)
        rc = keep_answer(c, answer, err);
    sb_buf_done(&sql);
    return rc;
}

// Values as the protocol sends them, in text format: each has the type of its
// parameter.
static int add_argument(
    struct pgsql_conn *c, struct sb_buf *b, const struct sb_value *v)
{
    char number[SB_NUMBER_ROOM + 1] = "";
    size_t n, size;

    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_NULL:
        return sb_buf_adds(b, "NULL");
    case SB_VALUE_INT:
        number[sb_number_int(number, v->i)] = '\0';
        return sb_buf_addf(b, "'%s'", number);
    case SB_VALUE_UINT:
        number[sb_number_uint(number, v->u)] = '\0';
        return sb_buf_addf(b, "'%s'", number);
    case SB_VALUE_DOUBLE:
        pgsql_put_double(number, v->d);
        return sb_buf_addf(b, "'%s'", number);
    case SB_VALUE_BLOB:
        n = 2 * (size_t)v->len;
        sb_buf_adds(b, "'\\x");
        if (!sb_buf_room(b, n))
            return SB_ENOMEM;
        sb_number_hex(b->data + b->len, v->s, v->len);
        b->len += n;
        return sb_buf_adds(b, "'");
    default:
        size = 2 * (size_t)v->len + 8;
        if (!sb_buf_room(b, size))
            return SB_ENOMEM;
        n = pgsql_quote(
            (struct sb_conn *)c, v->s, v->len, b->data + b->len, size);
        b->len += n;
        return n < size ? 0 : SB_ENOMEM;
    }
}

// "EXPLAIN EXECUTE name('1', ...)"
static int put_execute(struct pgsql_conn *c, struct sb_buf *out,
    const char *name, const struct sb_statement *s, struct sb_err *err)
{
    sb_buf_addf(out, EXPLAIN "EXECUTE %s", name);
    for (uint32_t i = 0; i < s->nvalues; i++) {
        sb_buf_adds(out, i ? "," : "(");
        if (add_argument(c, out, &s->values[i]))
            return sb_err_no_memory(err);
    }
    sb_buf_adds(out, s->nvalues ? ")" : "");
    return out->failed ? sb_err_no_memory(err) : 0;
}

// `first` is a text of statements, and then the plan is asked for n times; the
// last answer is kept.
static int execute_times(struct pgsql_conn *c, const char *first,
    const char *execute, int n, struct sb_buf *answer, struct sb_err *err)
{
    struct sb_buf sql = { 0 };
    int rc;

    sb_buf_adds(&sql, first);
    for (int i = 0; i < n; i++)
        sb_buf_addf(&sql, "%s%s", i ? "; " : "", execute);
    rc = sql.failed ? sb_err_no_memory(err) : ask(c, sql.data, answer, err);
    sb_buf_done(&sql);
    return rc;
}

// What the server chooses for this statement from the sixth execution on is
// what it shows for the sixth EXPLAIN, which counts as one.
static int explain_kinds(struct pgsql_conn *c, const char *execute,
    const struct sb_plan_sink *to, struct sb_err *err)
{
    struct sb_buf chosen = { 0 }, custom = { 0 }, generic = { 0 };
    bool is_generic;
    int rc = execute_times(c, BEGIN, execute, CUSTOM_PLANS + 1, &chosen, err);

    if (rc == 0)
        rc = execute_times(c, "SET LOCAL plan_cache_mode = force_custom_plan; ",
            execute, 1, &custom, err);
    if (rc == 0)
        rc = execute_times(c,
            "SET LOCAL plan_cache_mode = force_generic_plan; ", execute, 1,
            &generic, err);
    is_generic = rc == 0 && strcmp(chosen.data, generic.data) == 0;
    if (rc == 0)
        rc = take_plan(custom.data, "custom", !is_generic, to, err);
    if (rc == 0)
        rc = take_plan(generic.data, "generic", is_generic, to, err);
    sb_buf_done(&chosen);
    sb_buf_done(&custom);
    sb_buf_done(&generic);
    return rc;
}

static int explain_prepared(struct pgsql_conn *c, const struct sb_statement *s,
    const struct sb_plan_sink *to, struct sb_err *err)
{
    struct pgsql_stmt st = { 0 };
    struct sb_buf execute = { 0 };
    uint32_t n = s->nvalues;
    int rc;

    // A pooler may give this connection the server connection of a user: the
    // statement has another name than that of any user.
    c->prepared |= (uint64_t)getpid() << 32;
    rc = pgsql_prepare((struct sb_conn *)c, (struct sb_stmt *)&st, s->sql,
        s->len, s->types, &n, err);
    if (rc)
        return rc;
    // Behind a pooler, texts are sent.
    if (!st.name[0] || n != s->nvalues)
        rc = sb_err_set(
            err, SB_EQUERY, "the server does not keep prepared statements");
    if (rc == 0)
        rc = put_execute(c, &execute, st.name, s, err);
    if (rc == 0)
        rc = explain_kinds(c, execute.data, to, err);
    sb_buf_done(&execute);
    end(c);
    pgsql_close((struct sb_conn *)c, (struct sb_stmt *)&st);
    return rc;
}

int pgsql_explain(struct sb_conn *conn, const struct sb_statement *s,
    const struct sb_plan_sink *to, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    struct sb_buf answer = { 0 };
    int rc;

    if (s->prepared)
        return explain_prepared(c, s, to, err);
    rc = explain_text(c, s, &answer, err);
    end(c);
    if (rc == 0)
        rc = take_plan(answer.data, "", true, to, err);
    sb_buf_done(&answer);
    return rc;
}
