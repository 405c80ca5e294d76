// SPDX-License-Identifier: GPL-2.0-or-later
//
// The name of the command of --beside: its first word, but nothing that may be
// a password.
#define _GNU_SOURCE // memrchr()
#include <stdio.h>
#include <string.h>

#include "run/beside.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS  "0123456789"

// Whether the shell may replace what is at p by something with quotes or spaces
// of its own: by the output of a command, or "${a:-b c}". "$a" and "${a}" are
// plain.
static bool is_substitution(const char *p)
{
    if (p[0] != '$' || p[1] != '{')
        return p[0] == '`' || (p[0] == '$' && p[1] == '(');
    return p[2 + strspn(p + 2, LETTERS DIGITS)] != '}';
}

// Reads a quotation that begins at p. Returns its end, or NULL if it is not
// clear what the shell makes of it.
static const char *skip_quotation(const char *p)
{
    char quote = *p++;

    while (*p && *p != quote) {
        if (quote == '"' && is_substitution(p))
            return NULL;
        if (quote == '"' && *p == '\\' && p[1])
            p++;
        p++;
    }
    return *p ? p + 1 : NULL;
}

// Returns the end of the word at p as the shell reads it, or NULL if that is
// not clear: a value that looks like several words may be a password.
static const char *skip_word(const char *p)
{
    while (*p && !strchr(" \t\n;|&)", *p)) {
        if (*p == '\'' || *p == '"') {
            p = skip_quotation(p);
            if (!p)
                return NULL;
            continue;
        }
        // $'...' depends on the shell.
        if (strchr("(<>", *p) || is_substitution(p) ||
            (*p == '$' && (p[1] == '\'' || p[1] == '"')))
            return NULL;
        p += *p == '\\' && p[1] ? 2 : 1;
    }
    return p;
}

static bool is_assignment(const char *word)
{
    size_t len = strspn(word, LETTERS DIGITS);

    return len && !strchr(DIGITS, *word) &&
           (word[len] == '=' || (word[len] == '+' && word[len + 1] == '='));
}

static const char *skip_space(const char *p)
{
    for (;;) {
        p += strspn(p, " \t\n;|&(");
        if (p[0] != '\\' || p[1] != '\n')
            return p;
        p += 2;
    }
}

// Finds the first word that is no assignment. Returns its length without
// quotes, or 0 if it does not look like the name of a command.
static size_t find_command(const char *p, const char **word)
{
    const char *end;

    for (p = skip_space(p); is_assignment(p); p = skip_space(end)) {
        end = skip_word(p);
        if (!end)
            return 0;
    }
    end = skip_word(p);
    if (!end || end == p)
        return 0;
    bool quoted = *p == '\'' || *p == '"';

    if (quoted && (end - p < 3 || end[-1] != *p))
        return 0;
    p += quoted;
    end -= quoted;
    size_t len = (size_t)(end - p);
    const char *sign = memchr(p, '=', len);

    *word = p;
    if (sign && !memchr(p, '/', (size_t)(sign - p)))
        return 0;
    return strspn(p, LETTERS DIGITS "+-./=") >= len ? len : 0;
}

void sb_beside_name(const struct sb_beside_opts *o, char out[SB_BESIDE_NAME])
{
    const char *word = "", *slash;
    size_t len = 0;

    if (*o->name) {
        snprintf(out, SB_BESIDE_NAME, "%s", o->name);
        return;
    }
    len = find_command(o->command, &word);
    slash = len ? memrchr(word, '/', len) : NULL;
    if (slash) {
        len -= (size_t)(slash + 1 - word);
        word = slash + 1;
    }
    snprintf(out, SB_BESIDE_NAME, "%.*s", len ? (int)len : 7,
        len ? word : "command");
}
