// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/context.h"

#include <stdbool.h>
#include <string.h>

#include "base/escape.h"
#include "kit/units.h"
#include "out/result_file.h"
#include "out/validity.h"

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

static bool lists(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *s = json_string_value(json_array_get(list, i));

        if (s && strcmp(s, text) == 0)
            return true;
    }
    return false;
}

// skip: the names of settings that are left out; NULL: none.
static void print_settings(
    FILE *out, json_t *settings, const json_t *skip, const char *title)
{
    const char *name;
    json_t *value;

    if (json_object_size(settings) <= json_array_size(skip))
        return;
    fprintf(out, "    %s:\n", title);
    json_object_foreach(settings, name, value)
    {
        if (!lists(skip, name))
            text_line(out, 8, name, json_string_value(value));
    }
}

// defaults: with the settings that have their default value.
static void print_database(FILE *out, const json_t *d, bool defaults)
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
    // Empty: the server does not say which settings are defaults.
    const json_t *skip = json_object_get(d, "defaults");

    if (defaults || json_array_size(skip) == 0)
        print_settings(out, json_object_get(d, "settings"), NULL, "settings");
    else
        print_settings(out, json_object_get(d, "settings"), skip,
            "settings, without the defaults of the server");
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

static void print_context(const json_t *run, bool defaults, FILE *out)
{
    const json_t *host = json_object_get(run, "host");
    json_t *list = json_object_get(run, "databases"), *value;
    const char *key;
    size_t i;

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
    if (!defaults) {
        member_line(out, host, "clock source", "clock");
        member_line(out, host, "frequency governor", "governor");
        member_line(out, host, "frequency driver", "frequency_driver");
    }
    json_array_foreach(list, i, value) print_database(out, value, defaults);
    fprintf(out, "\n");
}

void sb_context_print(const json_t *run, FILE *out)
{
    fprintf(out, "Context:\n");
    print_context(run, true, out);
}

// How it was measured ---------------------------------------------------------

// Columns of the command line.
#define LINE 78

#define WORD 4000u // bytes of a word of it; longer ones end with "..."

struct words {
    FILE *out;
    size_t at; // column
};

// Writes a word as a shell reads it.
static void add_word(struct words *w, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                "UVWXYZ0123456789_-+=./:,@%";
    char shown[4 * WORD], quoted[4 * sizeof(shown)];
    size_t n = 0;

    sb_escape_line(shown, sizeof(shown), word);
    bool quotes = !*shown || shown[strspn(shown, plain)];

    if (quotes)
        quoted[n++] = '\'';
    for (const char *p = shown; *p; p++) {
        n += (size_t)snprintf(quoted + n, sizeof(quoted) - n, "%s",
            quotes && *p == '\'' ? "'\\''" : (char[]){ *p, '\0' });
    }
    if (quotes)
        quoted[n++] = '\'';
    quoted[n] = '\0';
    if (w->at > 0 && w->at + n + 3 > LINE) {
        fprintf(w->out, " \\\n       ");
        w->at = 7;
    }
    w->at += (size_t)fprintf(w->out, "%s%s", w->at ? " " : "    ", quoted);
}

// The options of the run that were not defaults, as if all of them had been on
// the command line.
static void print_command(FILE *out, const json_t *run)
{
    const json_t *merged = json_object_get(run, "merged");
    const json_t *list = json_object_get(run, "options");
    const char *test = text_of(run, "test"), *command = text_of(run, "command");
    struct words w = { .out = out };
    bool mix = false;

    if (merged) {
        fprintf(out, "Command line: none, merged from %zu runs\n\n",
            json_array_size(merged));
        return;
    }
    fprintf(out, "Command line:\n");
    add_word(&w, "sysbench");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *name = text_of(o, "name"), *value = text_of(o, "value");
        const char *source = text_of(o, "source");
        const char *origin = text_of(o, "origin");
        char word[WORD];

        if (!name || !value || !source || strcmp(source, "default") == 0 ||
            sb_result_option_is_of_place(name))
            continue;
        mix = mix || strcmp(name, "mix") == 0;
        // Without --time, this older name of --events has another meaning.
        if (origin && strcmp(origin, "max-requests") == 0)
            name = origin;
        if ((size_t)snprintf(word, sizeof(word), "--%s=%s", name, value) >=
            sizeof(word))
            memcpy(word + sizeof(word) - 4, "...", 4);
        add_word(&w, word);
    }
    if (!mix)
        add_word(&w, test ? test : "");
    add_word(&w, command ? command : "run");
    fprintf(out, "\n\n");
}

// The end of a path, because folders say nothing about what was measured.
static void print_scripts(FILE *out, const json_t *list)
{
    if (json_array_size(list) == 0)
        return;
    fprintf(out, "Scripts, with the SHA-256 of their files:\n");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *file = text_of(o, "file"), *sum = text_of(o, "sha256");
        const char *slash = file ? strrchr(file, '/') : NULL;
        char shown[500];

        if (!file || !sum)
            continue;
        sb_escape_line(shown, sizeof(shown), slash ? slash + 1 : file);
        fprintf(out, "    %-24.200s %.64s\n", shown, sum);
    }
    fprintf(out, "\n");
}

// 10 at most: a run may have hundreds of equal tables.
#define TABLES 10

static void print_data(FILE *out, const json_t *list)
{
    size_t n = json_array_size(list), shown = 0;

    if (n == 0)
        return;
    fprintf(out, "Data that was used, after the run, as the server says:\n");
    for (size_t i = 0; i < n && shown < TABLES; i++, shown++) {
        const json_t *o = json_array_get(list, i);
        const json_t *rows = json_object_get(o, "rows");
        const json_t *bytes = json_object_get(o, "bytes");
        const char *table = text_of(o, "table");
        double mb = json_number_value(bytes) / 1e6;
        char count[50] = "", size[50] = "", line[110];

        if (json_is_number(rows))
            snprintf(
                count, sizeof(count), "%.10g rows", json_number_value(rows));
        if (json_is_number(bytes))
            snprintf(size, sizeof(size), "%.*g MB", sb_units_digits(mb), mb);
        snprintf(line, sizeof(line), "%s%s%s", count,
            *count && *size ? ", " : "", size);
        text_line(out, 4, table ? table : "database", *line ? line : "unknown");
    }
    if (n > shown)
        fprintf(out, "    and %zu more tables\n", n - shown);
    fprintf(out, "\n");
}

static void print_length(FILE *out, const json_t *run)
{
    const json_t *end = json_object_get(run, "end");
    const char *failure = text_of(end, "failure");
    char line[100];

    snprintf(line, sizeof(line), "%.6g s",
        json_number_value(json_object_get(end, "seconds")));
    text_line(out, 4, "measured part", line);
    text_line(out, 4, "failure", failure);
}

static void print_checks(FILE *out, const json_t *json)
{
    struct sb_validity v;

    if (!json) {
        fprintf(out, "Validity: the figures of the run were not checked\n\n");
        return;
    }
    sb_validity_read(&v, json);
    sb_validity_text(&v, out);
}

void sb_disclosure_print(const json_t *program, const json_t *run, FILE *out)
{
    fprintf(out, "How this was measured\n\n");
    print_command(out, run);
    fprintf(out, "Program:\n");
    member_line(out, program, "sysbench", "version");
    member_line(out, program, "Lua", "luajit");
    member_line(out, program, "compiler", "compiler");
    fprintf(out, "\nRun:\n");
    print_length(out, run);
    print_context(run, false, out);
    print_scripts(out, json_object_get(run, "scripts"));
    print_data(out, json_object_get(run, "data"));
    print_checks(out, json_object_get(run, "validity"));
}
