// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/context.h"

#include <stdbool.h>
#include <string.h>

#include "base/escape.h"

// Width of names, so that values begin where those of the classic report do.
#define WIDTH 37

// Values come from servers and files: each one stays on its line.
static void text_line(
    FILE *out, int indent, const char *name, const char *value)
{
    char shown_name[200], shown[2000], label[210];

    if (!value || !*value)
        return;
    sb_escape_line(shown_name, sizeof(shown_name), name);
    sb_escape_line(shown, sizeof(shown), value);
    snprintf(label, sizeof(label), "%s:", shown_name);
    fprintf(
        out, "%*s%-*s %s\n", indent, "", WIDTH + 4 - indent - 1, label, shown);
}

static const char *text_of(const json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

static void member_line(
    FILE *out, const json_t *o, const char *label, const char *name)
{
    text_line(out, 4, label, text_of(o, name));
}

// Adds "2 processors" to a list; nothing for 0.
static void add_number(char *line, size_t size, double value, const char *unit)
{
    size_t len = strlen(line);

    if (value > 0)
        snprintf(line + len, size - len, "%s%.4g %s%s", len ? ", " : "", value,
            unit, value == 1 || strcmp(unit, "processor") != 0 ? "" : "s");
}

static void resources(FILE *out, const json_t *o, const char *label,
    const char *processors, const char *memory)
{
    char line[100] = "";

    add_number(line, sizeof(line),
        json_number_value(json_object_get(o, processors)), "processor");
    add_number(line, sizeof(line),
        json_number_value(json_object_get(o, memory)) / (1 << 30),
        "GiB of memory");
    text_line(out, 4, label, line);
}

static void print_settings(FILE *out, json_t *settings)
{
    const char *name;
    json_t *value;

    if (json_object_size(settings) == 0)
        return;
    fprintf(out, "    settings:\n");
    json_object_foreach(settings, name, value)
    {
        text_line(out, 8, name, json_string_value(value));
    }
}

static void print_database(FILE *out, const json_t *d)
{
    const json_t *bypass = json_object_get(d, "bypass");
    const char *server = text_of(d, "server");
    bool known = server && *server;

    fprintf(out, "\nServer:\n");
    text_line(
        out, 4, "name", known ? server : "unknown: the server did not answer");
    member_line(out, d, "address", "address");
    member_line(out, d, "driver", "driver");
    member_line(out, d, "client library", "client");
    if (known && json_is_boolean(bypass))
        text_line(out, 4, "statements",
            json_is_true(bypass) ? "sent without the client library"
                                 : "sent by the client library");
    print_settings(out, json_object_get(d, "settings"));
}

// "32, on 2 workers (io_uring, batch)". Of a run of several processes, all
// users are counted, but only the first process is known.
static void print_users(FILE *out, const json_t *run)
{
    json_t *workers = json_object_get(run, "workers");
    json_int_t n = json_integer_value(workers);
    json_int_t users = json_integer_value(json_object_get(run, "threads"));
    const char *loop = text_of(run, "event_loop");
    const char *policy = text_of(run, "worker_policy");
    bool parts = json_object_get(run, "merged") ||
                 json_object_get(run, "ranks");
    const char *of = parts ? "; those of the first process " : ", ";
    char line[300];

    // Files of older programs do not say it.
    if (users <= 0 || (!json_is_integer(workers) && !json_is_null(workers)))
        return;
    if (json_is_null(workers))
        snprintf(line, sizeof(line), "%lld%s%swith a thread", (long long)users,
            of, users == 1 ? "" : "each ");
    else
        snprintf(line, sizeof(line), "%lld%son %lld worker%s%s%.50s%s%.50s%s",
            (long long)users, of, (long long)n, n == 1 ? "" : "s",
            loop ? " (" : "", loop ? loop : "", loop && policy ? ", " : "",
            loop && policy ? policy : "", loop ? ")" : "");
    text_line(out, 4, "users", line);
}

void sb_context_print(const json_t *run, FILE *out)
{
    const json_t *host = json_object_get(run, "host");
    json_t *list = json_object_get(run, "databases"), *value;
    const char *key;
    size_t i;

    fprintf(out, "Context:\n");
    member_line(out, run, "workload", "test");
    member_line(out, run, "started", "started");
    member_line(out, run, "seed", "seed");
    print_users(out, run);
    json_object_foreach(json_object_get(run, "labels"), key, value)
    {
        char label[200];

        snprintf(label, sizeof(label), "label %s", key);
        text_line(out, 4, label, json_string_value(value));
    }
    member_line(out, host, "host", "name");
    member_line(out, host, "processor", "cpu");
    resources(out, host, "machine", "processors", "memory_bytes");
    resources(out, json_object_get(host, "container"),
        "limits of the container", "cpus", "memory_bytes");
    member_line(out, host, "system", "kernel");
    json_array_foreach(list, i, value) print_database(out, value);
    fprintf(out, "\n");
}
