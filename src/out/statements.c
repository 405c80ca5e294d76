// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/statements.h"

#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "out/json_value.h"

// Calls of both sides that differ by more than this share do not agree.
#define AGREEMENT 0.001

#define TEXT_MAX 4096u // bytes of a text in a result file

#define PREPARED "(prepared statements)"

// JSON ------------------------------------------------------------------------

static json_t *server_json(const struct sb_counting_server *s)
{
    return json_pack("{s:o,s:o,s:o,s:b,s:b}", "driver", sb_json_text(s->driver),
        "address", sb_json_text(s->address), "why",
        sb_json_text(s->why[0] ? s->why : NULL), "lost", s->lost, "reset",
        s->reset);
}

static json_t *text_json(const char *text)
{
    char part[TEXT_MAX + 1];

    snprintf(part, sizeof(part), "%s", text);
    part[sb_utf8_cut(part, strlen(part), TEXT_MAX - 1)] = '\0';
    return sb_json_text(part);
}

static json_t *statement_json(const struct sb_counted_statement *s)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
        "operation", sb_json_text(s->operation), "text", text_json(s->text),
        "shape", text_json(s->shape), "calls", sb_json_number(s->calls), "ms",
        sb_json_number(s->ns / s->calls / 1e6), "rows",
        sb_json_number(s->rows / s->calls), "examined",
        sb_json_number(s->examined / s->calls), "hit",
        sb_json_number(s->hit / s->calls), "read",
        sb_json_number(s->read / s->calls), "written",
        sb_json_number(s->written / s->calls), "errors",
        sb_json_number(s->errors));
}

// An operation, or several, beside what servers have counted of it.
struct pair {
    double client_calls, client_ns;
    double calls, ns;
    double errors; // of the client, if the server counts failed calls
    unsigned digests;
};

static json_t *pair_json(
    const char *name, const struct pair *p, const struct sb_counted_run *r)
{
    double client = p->client_ns / p->client_calls / 1e6;
    double server = p->ns / p->calls / 1e6;
    double expected = p->client_calls + p->errors;
    bool agree = p->digests > 0 &&
                 fabs(p->calls - expected) <= (AGREEMENT + r->slack) * expected;

    return json_pack("{s:o,s:i,s:o,s:o,s:o,s:o,s:o,s:b}", "name",
        sb_json_text(name), "digests", (int)p->digests, "client_calls",
        sb_json_number(p->client_calls), "server_calls",
        sb_json_number(p->digests ? p->calls : NAN), "client_ms",
        sb_json_number(client), "server_ms",
        sb_json_number(p->digests ? server : NAN), "difference_ms",
        sb_json_number(p->digests ? client - server : NAN), "agree", agree);
}

static void add_client(struct pair *p, const struct sb_client_operation *o)
{
    p->client_calls += o->calls;
    p->client_ns += o->ns;
}

static void add_server(struct pair *p, const struct sb_counted_statement *s)
{
    p->calls += s->calls;
    p->ns += s->ns;
    p->digests++;
}

static struct pair pair_of(
    const struct sb_counted_run *r, const struct sb_client_operation *o)
{
    struct pair p = { 0 };

    add_client(&p, o);
    for (unsigned i = 0; i < r->nstatements; i++) {
        const struct sb_counted_statement *s = &r->statement[i];

        if (!s->operation || strcmp(s->operation, o->name) != 0)
            continue;
        add_server(&p, s);
        if (!isnan(s->errors))
            p.errors = o->errors;
    }
    return p;
}

// Appends what the server has counted of all prepared statements, if it did so,
// beside the operations of which it has counted nothing else.
static bool append_prepared(json_t *list, const struct sb_counted_run *r)
{
    struct pair all = { 0 };

    for (unsigned i = 0; i < r->nstatements; i++) {
        if (r->statement[i].is_prepared)
            add_server(&all, &r->statement[i]);
    }
    if (all.digests == 0)
        return true;
    for (unsigned i = 0; i < r->noperations; i++) {
        const struct sb_client_operation *o = &r->operation[i];

        if (!o->is_prepared || pair_of(r, o).digests > 0)
            continue;
        add_client(&all, o);
        all.errors += o->errors;
    }
    return all.client_calls == 0 ||
           sb__json_append(list, pair_json(PREPARED, &all, r));
}

static json_t *operations_json(const struct sb_counted_run *r)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (unsigned i = 0; ok && i < r->noperations; i++) {
        struct pair p = pair_of(r, &r->operation[i]);

        ok = sb__json_append(list, pair_json(r->operation[i].name, &p, r));
    }
    ok = ok && append_prepared(list, r);
    return sb__json_complete(list, ok);
}

json_t *sb_statements_json(const struct sb_counted_run *r)
{
    json_t *o = json_object(), *servers = json_array(), *list = json_array();
    bool ok = true;

    for (unsigned i = 0; i < r->nservers; i++)
        ok = ok && sb__json_append(servers, server_json(&r->server[i]));
    for (unsigned i = 0; i < r->nstatements; i++) {
        if (!r->statement[i].is_prepared)
            ok = ok && sb__json_append(list, statement_json(&r->statement[i]));
    }
    ok = sb__json_set(o, "servers", servers) && ok;
    ok = sb__json_set(o, "operations", operations_json(r)) && ok;
    ok = sb__json_set(o, "digests", list) && ok;
    ok = sb__json_set(o, "unlisted",
             json_pack("{s:i,s:o,s:o}", "digests", (int)r->others, "calls",
                 sb_json_number(r->others_calls), "ms",
                 sb_json_number(r->others_ns / r->others_calls / 1e6))) &&
         ok;
    return sb__json_complete(o, ok);
}

// Text ------------------------------------------------------------------------

#define ROWS_MAX 30u // statements in the text
#define SHOWN    160 // bytes of a statement

// A number with three significant digits, "-" for none.
static const char *cell(
    char *out, size_t size, const json_t *o, const char *name)
{
    const json_t *value = json_object_get(o, name);
    double v = json_number_value(value);

    if (!json_is_number(value))
        snprintf(out, size, "-");
    else if (json_is_integer(value) || fabs(v) >= 1000)
        snprintf(out, size, "%.0f", v);
    else
        snprintf(out, size, "%.3g", v);
    return out;
}

static void print_cells(
    const json_t *o, const char *const *names, int width, FILE *out)
{
    char text[40];

    for (; *names; names++)
        fprintf(out, " %*s", width, cell(text, sizeof(text), o, *names));
}

static int width_of(const json_t *list, const char *head)
{
    int width = (int)strlen(head);

    for (size_t i = 0; i < json_array_size(list); i++) {
        int n = (int)strlen(sb__json_text_of(json_array_get(list, i), "name"));

        width = n > width ? n : width;
    }
    return width;
}

static void print_operations(const json_t *list, FILE *out)
{
    static const char head[] = "Operation (ms)";
    static const char *const names[] = { "client_calls", "server_calls",
        "client_ms", "server_ms", "difference_ms", NULL };
    int width = width_of(list, head);

    fprintf(out, "%-*s %12s %12s %12s %12s %12s\n", width, head, "calls",
        "on server", "client", "server", "difference");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);

        fprintf(out, "%-*s", width, sb__json_text_of(o, "name"));
        print_cells(o, names, 12, out);
        fputc('\n', out);
    }
}

// Chooses the figures that at least one statement has.
static void choose_figures(const json_t *list, const char **names)
{
    static const char *const all[] = { "calls", "ms", "rows", "examined", "hit",
        "read", "written" };

    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
        size_t i = 0, n = json_array_size(list);

        while (i < n && !json_is_number(
                            json_object_get(json_array_get(list, i), all[k])))
            i++;
        if (i < n)
            *names++ = all[k];
    }
    *names = NULL;
}

static void print_statement(
    const json_t *o, const char *const *names, FILE *out)
{
    char line[4 * SHOWN];
    size_t n;

    print_cells(o, names, 10, out);
    sb_escape_line(line, sizeof(line), sb__json_text_of(o, "text"));
    n = strlen(line);
    fprintf(out, "  %.*s%s\n", (int)sb_utf8_cut(line, n, SHOWN), line,
        n > SHOWN ? "..." : "");
}

static void print_statements(const json_t *list, FILE *out)
{
    const char *names[8];
    size_t n = json_array_size(list);

    if (n == 0)
        return;
    choose_figures(list, names);
    for (const char **name = names; *name; name++)
        fprintf(out, " %10s", *name);
    fprintf(out, "  statement (ms, rows and pages per call)\n");
    for (size_t i = 0; i < n && i < ROWS_MAX; i++)
        print_statement(json_array_get(list, i), names, out);
    if (n > ROWS_MAX)
        fprintf(out, " %zu more\n", n - ROWS_MAX);
}

// Names the operations whose calls do not agree.
static void print_disagreement(const json_t *list, FILE *out)
{
    const char *before = "Calls of client and server differ (other users, or "
                         "calls that the server does not count): ";
    bool any = false;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);

        if (json_is_true(json_object_get(o, "agree")) ||
            json_is_null(json_object_get(o, "server_calls")))
            continue;
        fprintf(out, "%s%s", any ? ", " : before, sb__json_text_of(o, "name"));
        any = true;
    }
    if (any)
        fputc('\n', out);
}

static void print_server(const json_t *server, FILE *out)
{
    const char *why = sb__json_text_of(server, "why");
    const char *address = sb__json_text_of(server, "address");

    const char *colon = *address ? ": " : "";

    if (*why)
        fprintf(out, "%s%sunknown: %s\n", address, colon, why);
    if (json_is_true(json_object_get(server, "lost")))
        fprintf(out,
            "%s%sincomplete: the server had no room for all "
            "statements\n",
            address, colon);
    if (json_is_true(json_object_get(server, "reset")))
        fprintf(out,
            "%s%sincomplete: the server's statistics were reset "
            "during the run\n",
            address, colon);
}

void sb_statements_text(const json_t *statements, FILE *out)
{
    const json_t *servers = json_object_get(statements, "servers");
    const json_t *operations = json_object_get(statements, "operations");
    bool known = false;

    fprintf(out, "Statements as counted by the server:\n");
    for (size_t i = 0; i < json_array_size(servers); i++) {
        const json_t *server = json_array_get(servers, i);

        print_server(server, out);
        known = known || !*sb__json_text_of(server, "why");
    }
    if (known) {
        print_operations(operations, out);
        print_disagreement(operations, out);
        fputc('\n', out);
        print_statements(json_object_get(statements, "digests"), out);
    }
    fputc('\n', out);
}
