// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/opts.h"
#include "out/json_value.h"

#define NAMES    44   // width of the names with their indent
#define SHARES   60   // column of the shares
#define SHOW_MIN 0.01 // others are only in result files

// Text ------------------------------------------------------------------------

static void put_name(FILE *out, int indent, const char *name)
{
    char line[128];
    size_t most = (size_t)(NAMES - 2 - indent), n;

    if (!*name)
        name = "(no name)";
    sb_escape_line(line, sizeof(line), name);
    n = strlen(line);
    if (n > most) {
        n = sb_utf8_cut(line, n, most - 3);
        snprintf(line + n, sizeof(line) - n, "...");
    }
    fprintf(out, "%*s%-*s", indent, "", NAMES - indent, line);
}

// Returns the column behind it.
static int put_sessions(
    FILE *out, int indent, const char *name, const struct sb_waits_row *r)
{
    int column = NAMES;

    put_name(out, indent, name);
    column += fprintf(out, "%8.2f", r->sessions);
    if (isfinite(r->sessions_within))
        // The sign has two bytes.
        column += fprintf(out, " ±%.2f", r->sessions_within) - 1;
    return column;
}

static void put_row(
    FILE *out, int indent, const char *name, const struct sb_waits_row *r)
{
    int column = put_sessions(out, indent, name, r);

    fprintf(out, "%*s%6.1f %%", column < SHARES ? SHARES - column : 1, "",
        100 * r->share);
    if (isfinite(r->share_within))
        fprintf(out, " ±%.1f", 100 * r->share_within);
    fputc('\n', out);
}

static bool is_of(const struct sb_waits_row *r, bool by_class, bool by_event,
    bool by_operation)
{
    return (r->wait_class != NULL) == by_class &&
           (r->event != NULL) == by_event &&
           (r->operation != NULL) == by_operation && r->share >= SHOW_MIN;
}

// Without a name of an event, there is nothing to add to the class.
static void put_class(
    FILE *out, const struct sb_waits_figures *f, const struct sb_waits_row *of)
{
    put_row(out, 8, of->wait_class, of);
    for (unsigned i = 0; i < f->nrows; i++) {
        const struct sb_waits_row *r = &f->row[i];

        if (is_of(r, true, true, false) && *r->event &&
            strcmp(r->wait_class, of->wait_class) == 0)
            put_row(out, 12, r->event, r);
    }
}

static void put_operation(
    FILE *out, const struct sb_waits_figures *f, const struct sb_waits_row *of)
{
    put_row(out, 8, of->operation, of);
    for (unsigned i = 0; i < f->nrows; i++) {
        const struct sb_waits_row *r = &f->row[i];

        if (is_of(r, true, false, true) &&
            strcmp(r->operation, of->operation) == 0)
            put_row(out, 12, r->wait_class, r);
    }
}

static void put_figures(FILE *out, const struct sb_waits_figures *f)
{
    char title[80];

    snprintf(title, sizeof(title), "%llu samples in %.1f s",
        (unsigned long long)f->samples, f->seconds);
    fprintf(out, "    %-*s%8s%*s\n", NAMES - 4, title, "sessions",
        SHARES - NAMES, "share");
    put_sessions(out, 4, "active", &f->all);
    fputc('\n', out);
    if (f->nrows == 0)
        return;
    fputs("    by wait:\n", out);
    for (unsigned i = 0; i < f->nrows; i++) {
        if (is_of(&f->row[i], true, false, false))
            put_class(out, f, &f->row[i]);
    }
    fputs("    by operation:\n", out);
    for (unsigned i = 0; i < f->nrows; i++) {
        if (is_of(&f->row[i], false, false, true))
            put_operation(out, f, &f->row[i]);
    }
}

// A sentence from the server, or about it.
static void put_sentence(FILE *out, const char *text)
{
    char line[512];

    sb_escape_line(line, sizeof(line), text);
    fputs("    ", out);
    sb_wrap(out, 4, 4, line);
}

void sb_waits_text(const struct sb_waits_facts *w, bool several, FILE *out)
{
    char address[300];

    sb_escape_line(address, sizeof(address), w->address);
    fprintf(out, "Waits of the server%s%s:\n", several ? " " : "",
        several ? address : "");
    if (*w->why)
        put_sentence(out, w->why);
    else
        put_figures(out, w->figures);
    if (*w->note)
        put_sentence(out, w->note);
    fputc('\n', out);
}

// JSON ------------------------------------------------------------------------

static bool set_text(json_t *o, const char *name, const char *text)
{
    return !text || sb__json_set_text(o, name, text);
}

static bool set_row(json_t *o, const struct sb_waits_row *r)
{
    return set_text(o, "class", r->wait_class) &&
           set_text(o, "event", r->event) &&
           set_text(o, "operation", r->operation) &&
           sb__json_set(o, "sessions", sb_json_number(r->sessions)) &&
           sb__json_set(
               o, "sessions_within", sb_json_number(r->sessions_within)) &&
           sb__json_set(o, "share", sb_json_number(r->share)) &&
           sb__json_set(o, "share_within", sb_json_number(r->share_within));
}

static bool set_figures(json_t *o, const struct sb_waits_figures *f)
{
    json_t *list = json_array();
    bool ok = sb__json_set_count(o, "samples", f->samples) &&
              sb__json_set(o, "seconds", sb_json_number(f->seconds)) &&
              set_row(o, &f->all);

    for (unsigned i = 0; i < f->nrows; i++) {
        json_t *row = json_object();
        bool complete = set_row(row, &f->row[i]);

        ok = sb__json_append(list, sb__json_complete(row, complete)) && ok;
    }
    return sb__json_set(o, "shares", list) && ok;
}

json_t *sb_waits_json(const struct sb_waits_facts *w)
{
    json_t *o = json_object();
    bool ok = sb__json_set_text(o, "address", w->address) &&
              sb__json_set_text(o, "note", w->note);

    if (*w->why)
        ok = ok && sb__json_set_text(o, "why", w->why);
    else
        ok = ok && set_figures(o, w->figures);
    return sb__json_complete(o, ok);
}

static const char *text_or_null(const json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

static void read_row(const json_t *o, struct sb_waits_row *r)
{
    *r = (struct sb_waits_row){ .wait_class = text_or_null(o, "class"),
        .event = text_or_null(o, "event"),
        .operation = text_or_null(o, "operation"),
        .sessions = sb__json_number_of(o, "sessions"),
        .sessions_within = sb__json_number_of(o, "sessions_within"),
        .share = sb__json_number_of(o, "share"),
        .share_within = sb__json_number_of(o, "share_within") };
}

bool sb_waits_read(const json_t *json, struct sb_waits_facts *w,
    struct sb_waits_figures *figures)
{
    const json_t *list = json_object_get(json, "shares");
    size_t n = json_array_size(list);

    *w = (struct sb_waits_facts){ .address = sb__json_text_of(json, "address"),
        .note = sb__json_text_of(json, "note"),
        .why = sb__json_text_of(json, "why"),
        .figures = figures };
    *figures = (struct sb_waits_figures){ .seconds = sb__json_number_of(
                                              json, "seconds") };
    sb__json_is_count(json_object_get(json, "samples"), &figures->samples);
    read_row(json, &figures->all);
    figures->row = calloc(n + 1, sizeof(*figures->row));
    if (!figures->row)
        return false;
    for (; figures->nrows < n; figures->nrows++)
        read_row(json_array_get(list, figures->nrows),
            &figures->row[figures->nrows]);
    return true;
}
