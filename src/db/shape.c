// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/shape.h"

#include <stdlib.h>
#include <strings.h>

#include "kit/array.h"
#include "kit/sqlscan.h"

// Tokens are separated by blanks. A value is the token "?".

enum kind { WORD, VALUE, SIGN };

struct token {
    size_t at; // of its text in the shape
    char sign; // of a SIGN
    enum kind kind;
};

struct shape {
    const char *sql;
    size_t len;
    unsigned flags;
    char *out;
    size_t used, cap;
    struct token *token;
    size_t n, token_cap;
    bool failed;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void add(struct shape *s, enum kind kind, const char *text, size_t len)
{
    char *out = sb_array_room(s->out, &s->cap, s->used, len + 1, 1);
    struct token *token;

    if (out)
        s->out = out;
    token = out ? sb_array_room(
                      s->token, &s->token_cap, s->n, 1, sizeof(*token))
                : NULL;
    s->failed = s->failed || !token;
    if (!token)
        return;
    s->token = token;
    token[s->n++] = (struct token){ s->used, text[0], kind };
    memcpy(out + s->used, text, len);
    s->used += len;
    out[s->used++] = ' ';
}

// Removes the last n tokens.
static void drop(struct shape *s, size_t n)
{
    s->n -= n;
    s->used = s->token[s->n].at;
}

// Whether the token `back` from the end, 0 for the last one, is this sign.
static bool was(const struct shape *s, size_t back, char sign)
{
    const struct token *t = s->n > back ? &s->token[s->n - 1 - back] : NULL;

    return t && t->kind == SIGN && t->sign == sign;
}

static bool was_value(const struct shape *s, size_t back)
{
    return s->n > back && s->token[s->n - 1 - back].kind == VALUE;
}

// A sign of a number, rather than an operator between two.
static bool was_unary(const struct shape *s)
{
    return (was(s, 0, '-') || was(s, 0, '+')) &&
           (s->n == 1 || (s->token[s->n - 2].kind == SIGN && !was(s, 1, ')')));
}

// A list of values becomes one value.
static void add_value(struct shape *s)
{
    if (was_unary(s))
        drop(s, 1);
    if (was(s, 0, ',') && was_value(s, 1))
        drop(s, 1);
    else
        add(s, VALUE, "?", 1);
}

// A list of such lists becomes one of them: "(?), (?" without its end.
static void add_sign(struct shape *s, char sign)
{
    if (sign == ')' && was_value(s, 0) && was(s, 1, '(') && was(s, 2, ',') &&
        was(s, 3, ')') && was_value(s, 4) && was(s, 5, '('))
        drop(s, 3);
    else
        add(s, SIGN, &sign, 1);
}

static bool last_word_is(const struct shape *s, const char *word)
{
    const struct token *t = s->n ? &s->token[s->n - 1] : NULL;
    size_t n = strlen(word);

    return t && t->kind == WORD && s->used - t->at == n + 1 &&
           memcmp(s->out + t->at, word, n) == 0;
}

// NULL is a value, except in IS NULL and NOT NULL.
static bool is_value_word(const struct shape *s, const char *word, size_t n)
{
    return ((n == 4 && strncasecmp(word, "null", n) == 0) ||
               (n == 4 && strncasecmp(word, "true", n) == 0) ||
               (n == 5 && strncasecmp(word, "false", n) == 0)) &&
           !last_word_is(s, "is") && !last_word_is(s, "not");
}

static void add_word(struct shape *s, const char *word, size_t n)
{
    size_t start = s->used, to;

    // MySQL and MariaDB show DISTINCT in this way.
    if (n == 11 && strncasecmp(word, "distinctrow", n) == 0)
        n = 8;
    add(s, WORD, n ? word : " ", n ? n : 1);
    if (s->failed)
        return;
    to = start;
    for (size_t i = 0; i < n; i++) {
        char c = word[i];

        if (is_digit(c) && i > 0 && is_digit(word[i - 1]))
            continue;
        if (is_digit(c))
            c = '#';
        s->out[to++] = c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
    }
    s->out[to++] = ' ';
    s->used = to;
}

static size_t end_of_word(const struct shape *s, size_t i)
{
    while (i < s->len && (sb__sqlscan_word(s->sql[i]) || s->sql[i] == '$'))
        i++;
    return i;
}

// "1", "0x1f", "1.5e-3"
static size_t end_of_number(const struct shape *s, size_t i)
{
    const char *sql = s->sql;

    while (i < s->len) {
        bool exponent = (sql[i] | 32) == 'e' && i + 2 < s->len &&
                        (sql[i + 1] == '-' || sql[i + 1] == '+') &&
                        is_digit(sql[i + 2]);

        if (exponent)
            i += 2;
        else if (!sb__sqlscan_word(sql[i]) && sql[i] != '.')
            break;
        i++;
    }
    return i;
}

// Strings, and names in quotes.
static size_t take_quoted(struct shape *s, size_t i)
{
    unsigned backslash = s->flags & SB_SQLSCAN_BACKSLASH;
    // Where \ escapes in strings, "..." is one, except in PostgreSQL.
    bool is_string = s->sql[i] == '\'' || (s->sql[i] == '"' && backslash &&
                                              !(s->flags & SB_SQLSCAN_DOLLAR));
    size_t end = sb__sqlscan_quoted(s->sql, s->len, i,
        s->sql[i] != '`' && sb__sqlscan_escapes(s->sql, i, s->flags));

    if (is_string)
        add_value(s);
    else
        add_word(s, s->sql + i + 1, end - i > 1 ? end - i - 2 : 0);
    return end;
}

static size_t take_word(struct shape *s, size_t i)
{
    size_t end = end_of_word(s, i);

    // X'00', e'\n'
    if (end == i + 1 && end < s->len && s->sql[end] == '\'')
        return take_quoted(s, end);
    if (is_value_word(s, s->sql + i, end - i))
        add_value(s);
    else
        add_word(s, s->sql + i, end - i);
    return end;
}

// $1, or a text in dollar quotes.
static size_t take_dollar(struct shape *s, size_t i)
{
    size_t end = i + 1;

    while (end < s->len && is_digit(s->sql[end]))
        end++;
    if (end == i + 1 && (s->flags & SB_SQLSCAN_DOLLAR))
        end = sb__sqlscan_dollar(s->sql, s->len, i);
    if (end == i + 1)
        add_sign(s, '$');
    else
        add_value(s);
    return end;
}

// Blanks and comments. Returns i if the text at i is neither.
static size_t skip(const struct shape *s, size_t i)
{
    char c = s->sql[i];

    if ((unsigned char)c <= ' ' || c == ';')
        return i + 1;
    if ((c == '-' && sb__sqlscan_dashes(s->sql, s->len, i, s->flags)) ||
        (c == '#' && (s->flags & SB_SQLSCAN_HASH)))
        return sb__sqlscan_line(s->sql, s->len, i);
    if (c == '/' && sb__sqlscan_opens(s->sql, s->len, i, s->flags))
        return sb__sqlscan_block(s->sql, s->len, i, s->flags & SB_SQLSCAN_NEST);
    return i;
}

static bool begins_with(const struct shape *s, size_t i, const char *text)
{
    size_t n = strlen(text);

    return s->len - i >= n && memcmp(s->sql + i, text, n) == 0;
}

static size_t take_other(struct shape *s, size_t i)
{
    // Servers show lists of values in this way.
    if (begins_with(s, i, "...")) {
        add_value(s);
        return i + 3;
    }
    if (s->sql[i] == '?') {
        add_value(s);
        return i + 1;
    }
    if (begins_with(s, i, "<>")) {
        add_sign(s, '!');
        add_sign(s, '=');
        return i + 2;
    }
    add_sign(s, s->sql[i]);
    return i + 1;
}

static size_t take(struct shape *s, size_t i)
{
    char c = s->sql[i];
    bool fraction = c == '.' && i + 1 < s->len && is_digit(s->sql[i + 1]) &&
                    (s->n == 0 || s->token[s->n - 1].kind != WORD);

    if (c == '\'' || c == '"' || c == '`')
        return take_quoted(s, i);
    if (c == '$')
        return take_dollar(s, i);
    if (is_digit(c) || fraction) {
        add_value(s);
        return end_of_number(s, i);
    }
    return sb__sqlscan_word(c) ? take_word(s, i) : take_other(s, i);
}

char *sb_shape(const char *sql, size_t len, unsigned flags)
{
    struct shape s = { .sql = sql, .len = len, .flags = flags };
    size_t i = 0;

    while (i < len && !s.failed) {
        size_t next = skip(&s, i);

        i = next > i ? next : take(&s, i);
    }
    free(s.token);
    if (!s.failed && !s.out)
        return strdup("");
    if (s.failed) {
        free(s.out);
        return NULL;
    }
    s.out[s.used ? s.used - 1 : 0] = '\0';
    return s.out;
}
