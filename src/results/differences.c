// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/differences.h"

#include <string.h>

#include "out/result_file.h"
#include "results/cmd.h"

// In the order in which they are printed.
static const struct {
    const char *name, *title;
} kinds[] = {
    { "program", "Programs that differ: " },
    { "workload", "Workloads that differ: " },
    { "script", "Scripts that differ (SHA-256): " },
    { "option", "Options that differ: " },
    { "users", "Users were run differently: " },
    { "server", "Servers that differ: " },
    { "setting", "Settings of the server that differ: " },
    { "plan", "Plans that differ: " },
    { "client", "Client machines that differ: " },
    { "label", "Labels that differ: " },
};

static bool contains(const json_t *list, const json_t *value)
{
    json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        if (json_equal(one, value))
            return true;
    }
    return false;
}

// Returns a member of an object, which is created if it is missing.
static json_t *member(json_t *object, const char *name, json_t *(*create)(void))
{
    json_t *found = json_object_get(object, name);

    if (found)
        return found;
    if (json_object_set_new(object, name, create()))
        return NULL;
    return json_object_get(object, name);
}

// The value as text, NULL for objects and lists.
static json_t *as_text(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return json_copy((json_t *)(uintptr_t)value);
    case JSON_INTEGER:
        return json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    case JSON_REAL:
        return json_sprintf("%.6g", json_real_value(value));
    case JSON_TRUE:
        return json_string("yes");
    case JSON_FALSE:
        return json_string("no");
    default:
        return NULL;
    }
}

static void add_fact(struct sb_run_facts *f, const char *kind, const char *name,
    const json_t *value)
{
    json_t *text, *names, *values;

    if (!value || json_is_null(value) || json_is_object(value) ||
        json_is_array(value))
        return;
    text = as_text(value);
    names = text ? member(f->kinds, kind, json_object) : NULL;
    values = names ? member(names, name, json_array) : NULL;
    if (!values || (!contains(values, text) && json_array_append(values, text)))
        f->failed = true;
    json_decref(text);
}

// Properties of the driver, which is listed itself.
static bool follows_from_driver(const char *name)
{
    return strcmp(name, "documents") == 0 || strcmp(name, "totals_late") == 0;
}

// Members whose text is not empty: a run that ends at once does not always
// learn the version of its server.
static void add_known(struct sb_run_facts *f, const char *kind, json_t *object)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        if (follows_from_driver(name))
            continue;
        if (!json_is_string(value) || json_string_length(value) > 0)
            add_fact(f, kind, name, value);
    }
}

// All members of an object that are no objects.
static void add_members(
    struct sb_run_facts *f, const char *kind, json_t *object)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value) add_fact(f, kind, name, value);
}

// Labels are listed by themselves.
static void add_options(struct sb_run_facts *f, json_t *list)
{
    json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *name = json_string_value(json_object_get(one, "name"));

        if (name && strcmp(name, "label") != 0 &&
            !sb_result_option_is_of_place(name))
            add_fact(f, "option", name, json_object_get(one, "value"));
    }
}

// The files with code, by their names without folders.
static void add_scripts(struct sb_run_facts *f, json_t *list)
{
    json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *file = sb_result_member(one, "file");
        const char *slash = strrchr(file, '/');
        json_t *sum = json_sprintf("%.12s", sb_result_member(one, "sha256"));

        add_fact(f, "script", slash ? slash + 1 : file, sum);
        json_decref(sum);
    }
}

// If a side has no workers, this is the only fact. Files of older programs do
// not contain the number of workers.
static void add_workers(struct sb_run_facts *f, const json_t *run)
{
    const json_t *n = json_object_get(run, "workers");
    json_t *none = json_string("none (a thread for each user)");

    if (!none)
        f->failed = true;
    add_fact(f, "users", "workers", n && json_is_null(n) ? none : n);
    json_decref(none);
    add_fact(f, "users", "event loop", json_object_get(run, "event_loop"));
    add_fact(
        f, "users", "worker policy", json_object_get(run, "worker_policy"));
}

// The plans that runs have most likely used after them. An empty one was not
// needed.
static void add_plans(struct sb_run_facts *f, json_t *list)
{
    json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        if (json_is_true(json_object_get(one, "used")) &&
            *sb_result_member(one, "after"))
            add_fact(f, "plan", sb_result_member(one, "operation"),
                json_object_get(one, "after"));
    }
}

void sb_run_facts_add(struct sb_run_facts *f, json_t *run)
{
    json_t *host = json_object_get(run, "host"), *database;
    json_t *container = json_object_get(host, "container");
    size_t i;

    add_fact(f, "workload", "test", json_object_get(run, "test"));
    add_fact(f, "seed", "seed", json_object_get(run, "seed"));
    add_scripts(f, json_object_get(run, "scripts"));
    add_options(f, json_object_get(run, "options"));
    json_array_foreach(json_object_get(run, "databases"), i, database)
    {
        add_known(f, "server", database);
        f->older = f->older || !json_object_get(database, "defaults");
        add_members(f, "setting", json_object_get(database, "settings"));
    }
    add_plans(f, json_object_get(run, "plans"));
    add_workers(f, run);
    add_known(f, "client", host);
    add_fact(f, "client", "container cpus", json_object_get(container, "cpus"));
    add_fact(f, "client", "container memory_bytes",
        json_object_get(container, "memory_bytes"));
    add_members(f, "label", json_object_get(run, "labels"));
}

void sb_run_facts_init(struct sb_run_facts *f)
{
    *f = (struct sb_run_facts){ .kinds = json_object() };
    f->failed = !f->kinds;
}

void sb_run_facts_done(struct sb_run_facts *f)
{
    json_decref(f->kinds);
    f->kinds = NULL;
}

void sb_run_facts_add_program(struct sb_run_facts *f, json_t *program)
{
    add_members(f, "program", program);
}

void sb_run_facts_add_build(struct sb_run_facts *f, json_t *build)
{
    add_fact(f, "program", "file", build);
}

static bool same_values(const json_t *a, const json_t *b)
{
    json_t *one;
    size_t i;

    if (json_array_size(a) != json_array_size(b))
        return false;
    json_array_foreach(a, i, one)
    {
        if (!contains(b, one))
            return false;
    }
    return true;
}

// Appends a difference. NULL stands for no values.
static int append(
    json_t *list, const char *kind, const char *name, json_t *a, json_t *b)
{
    return json_array_append_new(
        list, json_pack("{s:s,s:s,s:o,s:o}", "kind", kind, "name", name, "a",
                  a ? json_incref(a) : json_array(), "b",
                  b ? json_incref(b) : json_array()));
}

// Versions of the program and workloads do not have the same options: an option
// that a side does not have is no difference. Neither are facts of the server,
// plans, and facts of the workers and of the machine that a side does not know.
static bool is_unknown(const char *kind, const char *name, bool settings)
{
    if (strcmp(kind, "setting") == 0)
        return !settings;
    if (strcmp(kind, "client") == 0)
        return strncmp(name, "container", 9) != 0;
    return strcmp(kind, "option") == 0 || strcmp(kind, "server") == 0 ||
           strcmp(kind, "users") == 0 || strcmp(kind, "script") == 0 ||
           strcmp(kind, "plan") == 0;
}

// Facts of a kind in A and B, then those only in B. settings: the settings of
// the server that a side does not have are defaults there.
static int differ(
    json_t *list, const char *kind, json_t *a, json_t *b, bool settings)
{
    const char *name;
    json_t *values;
    int rc = 0;

    json_object_foreach(a, name, values)
    {
        json_t *other = json_object_get(b, name);

        if (rc == 0 && !same_values(values, other) &&
            (other || !is_unknown(kind, name, settings)))
            rc = append(list, kind, name, values, other);
    }
    json_object_foreach(b, name, values)
    {
        if (rc == 0 && !json_object_get(a, name) &&
            !is_unknown(kind, name, settings))
            rc = append(list, kind, name, NULL, values);
    }
    return rc;
}

// A seed of 0 is a random one, which the run then names: if it is the same,
// giving it is no difference.
static int without_seed(json_t *list)
{
    json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        if (strcmp(sb_result_member(one, "name"), "rand-seed") == 0)
            return json_array_remove(list, i);
    }
    return 0;
}

json_t *sb_run_facts_compare(
    const struct sb_run_facts *a, const struct sb_run_facts *b)
{
    json_t *list = json_array();
    bool settings = !a->older && !b->older &&
                    json_object_get(a->kinds, "setting") &&
                    json_object_get(b->kinds, "setting");
    int rc = !a->failed && !b->failed && list ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < sizeof(kinds) / sizeof(*kinds); i++)
        rc = differ(list, kinds[i].name,
            json_object_get(a->kinds, kinds[i].name),
            json_object_get(b->kinds, kinds[i].name), settings);
    if (rc == 0 && json_equal(json_object_get(a->kinds, "seed"),
                       json_object_get(b->kinds, "seed")))
        rc = without_seed(list);
    if (rc) {
        json_decref(list);
        return NULL;
    }
    return list;
}

// Writes up to three values: "2 and 4".
static void print_values(FILE *out, const json_t *values)
{
    size_t n = json_array_size(values);

    if (n == 0)
        fprintf(out, "(none)");
    for (size_t i = 0; i < n && i < 3; i++) {
        const char *text = json_string_value(json_array_get(values, i));

        fprintf(out, "%s", i ? " and " : "");
        sb__cmd_print_line(out, *text ? text : "(none)");
    }
    if (n > 3)
        fprintf(out, " and %zu more", n - 3);
}

static void print_kind(
    const json_t *list, const char *kind, const char *title, FILE *out)
{
    const char *before = title;
    json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        if (strcmp(sb_result_member(one, "kind"), kind) != 0)
            continue;
        fprintf(out, "%s", before);
        sb__cmd_print_line(out, sb_result_member(one, "name"));
        fprintf(out, " ");
        print_values(out, json_object_get(one, "a"));
        fprintf(out, " / ");
        print_values(out, json_object_get(one, "b"));
        before = ", ";
    }
    if (before != title)
        fprintf(out, "\n");
}

void sb_differences_print(const json_t *list, FILE *out)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        print_kind(list, kinds[i].name, kinds[i].title, out);
}
