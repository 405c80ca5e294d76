// SPDX-License-Identifier: GPL-2.0-or-later
//
// What servers have counted beside the operations of the client: which calls
// agree, and what the difference of times is.
#include "out/statements.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"

static const struct sb_counting_server server = { "pgsql", "10.0.0.1:5432", "",
    false, false };

static json_t *json;

static struct sb_counted_statement statement(
    const char *operation, double calls, double ns)
{
    return (struct sb_counted_statement){ .operation = operation,
        .text = "SELECT $1",
        .shape = "select ?",
        .calls = calls,
        .ns = ns,
        .rows = 3 * calls,
        .examined = NAN,
        .hit = NAN,
        .read = NAN,
        .written = NAN,
        .errors = NAN };
}

static void make(const struct sb_counted_statement *s, unsigned ns,
    const struct sb_client_operation *o, unsigned no, double slack)
{
    json_decref(json);
    json = sb_statements_json(&(struct sb_counted_run){ .server = &server,
        .nservers = 1,
        .statement = s,
        .nstatements = ns,
        .operation = o,
        .noperations = no,
        .slack = slack });
}

static const json_t *operation(size_t i)
{
    return json_array_get(json_object_get(json, "operations"), i);
}

static double number(const json_t *o, const char *name)
{
    const json_t *value = json_object_get(o, name);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool agrees(size_t i)
{
    return json_is_true(json_object_get(operation(i), "agree"));
}

static void sums(void)
{
    const struct sb_counted_statement s[] = { statement("a", 60, 60e6),
        statement("a", 40, 140e6), statement(NULL, 5, 5e6) };
    const struct sb_client_operation o[] = { { "a", 100, 0, 500e6, true },
        { "b", 7, 0, 7e6, true } };
    const json_t *digest;

    make(s, 3, o, 2, 0);
    CHECK_NEAR(number(operation(0), "digests"), 2, 0);
    CHECK_NEAR(number(operation(0), "client_calls"), 100, 0);
    CHECK_NEAR(number(operation(0), "server_calls"), 100, 0);
    CHECK_NEAR(number(operation(0), "client_ms"), 5, 1e-9);
    CHECK_NEAR(number(operation(0), "server_ms"), 2, 1e-9);
    CHECK_NEAR(number(operation(0), "difference_ms"), 3, 1e-9);
    CHECK(agrees(0));
    CHECK(isnan(number(operation(1), "server_calls")));
    CHECK(isnan(number(operation(1), "server_ms")));
    CHECK_INT(json_array_size(json_object_get(json, "operations")), 2);
    digest = json_array_get(json_object_get(json, "digests"), 1);
    CHECK_NEAR(number(digest, "ms"), 3.5, 1e-9);
    CHECK_NEAR(number(digest, "rows"), 3, 1e-9);
    CHECK(isnan(number(digest, "hit")));
}

static void calls_that_agree(void)
{
    struct sb_counted_statement s = statement("a", 1001, 1e6);
    const struct sb_client_operation o = { "a", 1000, 10, 1e6, true };

    make(&s, 1, &o, 1, 0);
    CHECK(agrees(0));
    s.calls = 1002;
    make(&s, 1, &o, 1, 0);
    CHECK(!agrees(0));
    make(&s, 1, &o, 1, 0.01);
    CHECK(agrees(0));
    s.calls = 998;
    make(&s, 1, &o, 1, 0);
    CHECK(!agrees(0));
    // A server that counts errors counts the calls that failed, too.
    s.errors = 10;
    s.calls = 1010;
    make(&s, 1, &o, 1, 0);
    CHECK(agrees(0));
}

// Of prepared statements, the server knows the sum.
static void prepared_statements(void)
{
    struct sb_counted_statement s[] = { statement("text", 4, 4e6),
        statement(NULL, 30, 60e6) };
    const struct sb_client_operation o[] = { { "a", 10, 0, 100e6, true },
        { "b", 20, 0, 20e6, true }, { "text", 4, 0, 8e6, true },
        { "select", 3, 0, 3e6, false } };

    s[1].is_prepared = true;
    make(s, 2, o, 4, 0);
    CHECK_INT(json_array_size(json_object_get(json, "operations")), 5);
    CHECK_STR(json_string_value(json_object_get(operation(4), "name")),
        "(prepared statements)");
    CHECK_NEAR(number(operation(4), "client_calls"), 30, 0);
    CHECK_NEAR(number(operation(4), "client_ms"), 4, 1e-9);
    CHECK_NEAR(number(operation(4), "server_ms"), 2, 1e-9);
    CHECK(agrees(4));
    CHECK(isnan(number(operation(0), "server_calls")));
    CHECK_INT(json_array_size(json_object_get(json, "digests")), 1);
}

static void as_text(void)
{
    struct sb_counted_statement s = statement("a", 1234, 1e6);
    const struct sb_client_operation o = { "a", 1000, 0, 1e9, true };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    make(&s, 1, &o, 1, 0);
    sb_statements_text(json, out);
    fclose(out);
    CHECK(strstr(text, "\na                      1000         1234"));
    CHECK(strstr(text, "the server does not count): a\n"));
    CHECK(strstr(text, "SELECT $1\n"));
    CHECK(strstr(text, "rows") && !strstr(text, "examined"));
    free(text);
}

CHECK_FILE
{
    RUN(sums);
    RUN(calls_that_agree);
    RUN(prepared_statements);
    RUN(as_text);
    json_decref(json);
    return check_done();
}
