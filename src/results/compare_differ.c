// SPDX-License-Identifier: GPL-2.0-or-later
//
// Facts in which the two sides of a comparison differ: options, settings of the
// server, and so on. Such a fact may be the reason of a difference, or a
// mistake.
#include <string.h>

#include "results/compare_private.h"

// Facts of a side: kind -> name -> list of the different values. The first
// failed allocation sets `failed`.
struct facts {
    json_t *kinds;
    bool failed;
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

static void add_fact(
    struct facts *f, const char *kind, const char *name, const json_t *value)
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
static void add_known(struct facts *f, const char *kind, json_t *object)
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
static void add_members(struct facts *f, const char *kind, json_t *object)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value) add_fact(f, kind, name, value);
}

static void add_options(struct facts *f, json_t *list)
{
    json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *name = json_string_value(json_object_get(one, "name"));

        // Where the results are written says nothing about the run.
        if (name && strcmp(name, "report") != 0 && strcmp(name, "label") != 0)
            add_fact(f, "option", name, json_object_get(one, "value"));
    }
}

// Of a side without workers, only that is a fact. Files of older programs do
// not say it.
static void add_workers(struct facts *f, const json_t *run)
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

static void add_run(struct facts *f, json_t *run)
{
    json_t *host = json_object_get(run, "host"), *database;
    json_t *container = json_object_get(host, "container");
    size_t i;

    add_fact(f, "workload", "test", json_object_get(run, "test"));
    add_options(f, json_object_get(run, "options"));
    json_array_foreach(json_object_get(run, "databases"), i, database)
    {
        add_known(f, "server", database);
        add_members(f, "setting", json_object_get(database, "settings"));
    }
    add_workers(f, run);
    add_members(f, "client", host);
    add_fact(f, "client", "container cpus", json_object_get(container, "cpus"));
    add_fact(f, "client", "container memory_bytes",
        json_object_get(container, "memory_bytes"));
    add_members(f, "label", json_object_get(run, "labels"));
}

static json_t *facts_of(const struct sb_side *s)
{
    struct facts f = { .kinds = json_object() };

    f.failed = !f.kinds;
    for (unsigned i = 0; i < s->nfiles; i++)
        add_members(&f, "program", json_object_get(s->file[i].json, "program"));
    for (unsigned i = 0; i < s->nruns; i++)
        add_run(&f, s->run[i]->json);
    if (f.failed) {
        json_decref(f.kinds);
        return NULL;
    }
    return f.kinds;
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

// Facts of a kind in A and B, then those only in B. Versions of the program and
// workloads do not have the same options: an option that a side does not have
// is no difference. Neither are facts of the server and of the workers that a
// side does not know.
static int differ(json_t *list, const char *kind, json_t *a, json_t *b)
{
    bool both = strcmp(kind, "option") == 0 || strcmp(kind, "server") == 0 ||
                strcmp(kind, "users") == 0 ||
                (strcmp(kind, "setting") == 0 && (!a || !b));
    const char *name;
    json_t *values;
    int rc = 0;

    json_object_foreach(a, name, values)
    {
        json_t *other = json_object_get(b, name);

        if (rc == 0 && !same_values(values, other) && (other || !both))
            rc = append(list, kind, name, values, other);
    }
    json_object_foreach(b, name, values)
    {
        if (rc == 0 && !both && !json_object_get(a, name))
            rc = append(list, kind, name, NULL, values);
    }
    return rc;
}

json_t *sb__compare_differences(
    const struct sb_side *a, const struct sb_side *b)
{
    static const char *const kinds[] = { "program", "workload", "option",
        "users", "server", "setting", "client", "label" };
    json_t *fa = facts_of(a), *fb = facts_of(b), *list = json_array();
    int rc = fa && fb && list ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < sizeof(kinds) / sizeof(*kinds); i++)
        rc = differ(list, kinds[i], json_object_get(fa, kinds[i]),
            json_object_get(fb, kinds[i]));
    json_decref(fa);
    json_decref(fb);
    if (rc) {
        json_decref(list);
        return NULL;
    }
    return list;
}
