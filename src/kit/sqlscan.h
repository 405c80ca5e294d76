// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds the '?' placeholders of SQL text: those outside of strings, quoted
// names, comments and dollar quoting. '??' stands for a literal '?', as used
// by PostgreSQL's jsonb operators. Pure. Inline and installed, because drivers
// that number placeholders ($1, $2) use it and do not link with the core.
#ifndef SB_SQLSCAN_H
#define SB_SQLSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Differences between dialects. Always supported: '..' and ".." with doubled
// quotes, `..`, -- to the end of the line, /* */.
enum sb_sqlscan_flags {
    SB_SQLSCAN_BACKSLASH = 1 << 0, // \ escapes in '..', and in "..", unless
                                   // with DOLLAR
    SB_SQLSCAN_HASH = 1 << 1,      // # comments; -- only before a blank
    SB_SQLSCAN_BANG = 1 << 2,      // /*! ... */ is not a comment
    SB_SQLSCAN_DOLLAR = 1 << 3,    // $tag$ .. $tag$, e'..' with escapes
    SB_SQLSCAN_NEST = 1 << 4,      // /* */ nest
    SB_SQLSCAN_M_BANG = 1 << 5,    // /*M! ... */ is not a comment
};

// Each of these functions takes the position of an element and returns the
// position after it, or `len` if the element has no end.

static inline size_t sb__sqlscan_quoted(
    const char *s, size_t len, size_t i, bool backslash)
{
    char quote = s[i++];

    for (; i < len; i++) {
        if (backslash && s[i] == '\\' && i + 1 < len)
            i++;
        else if (s[i] == quote && i + 1 < len && s[i + 1] == quote)
            i++;
        else if (s[i] == quote)
            return i + 1;
    }
    return len;
}

static inline size_t sb__sqlscan_line(const char *s, size_t len, size_t i)
{
    const char *end = memchr(s + i, '\n', len - i);

    return end ? (size_t)(end - s) + 1 : len;
}

static inline size_t sb__sqlscan_block(
    const char *s, size_t len, size_t i, bool nest)
{
    size_t depth = 1;

    for (i += 2; i + 1 < len; i++) {
        if (s[i] == '*' && s[i + 1] == '/') {
            i++;
            if (--depth == 0)
                return i + 1;
        } else if (nest && s[i] == '/' && s[i + 1] == '*') {
            i++;
            depth++;
        }
    }
    return len;
}

static inline bool sb__sqlscan_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

static inline bool sb__sqlscan_after_word(const char *s, size_t i)
{
    return i > 0 && (sb__sqlscan_word(s[i - 1]) || s[i - 1] == '$');
}

// $1 and a$b are not quotes.
static inline size_t sb__sqlscan_dollar(const char *s, size_t len, size_t i)
{
    size_t tag = i + 1, n;

    if (sb__sqlscan_after_word(s, i) ||
        (tag < len && s[tag] >= '0' && s[tag] <= '9'))
        return i + 1;
    while (tag < len && sb__sqlscan_word(s[tag]))
        tag++;
    if (tag >= len || s[tag] != '$')
        return i + 1;
    n = tag + 1 - i;
    for (size_t j = tag + 1; j + n <= len; j++) {
        if (memcmp(s + i, s + j, n) == 0)
            return j + n;
    }
    return len;
}

static inline bool sb__sqlscan_dashes(
    const char *s, size_t len, size_t i, unsigned flags)
{
    if (i + 1 >= len || s[i + 1] != '-')
        return false;
    return !(flags & SB_SQLSCAN_HASH) || i + 2 >= len ||
           (unsigned char)s[i + 2] <= ' ';
}

static inline bool sb__sqlscan_opens(
    const char *s, size_t len, size_t i, unsigned flags)
{
    if (i + 1 >= len || s[i + 1] != '*')
        return false;
    if (i + 2 < len && s[i + 2] == '!')
        return !(flags & SB_SQLSCAN_BANG);
    return !((flags & SB_SQLSCAN_M_BANG) && i + 3 < len && s[i + 2] == 'M' &&
             s[i + 3] == '!');
}

static inline bool sb__sqlscan_escapes(const char *s, size_t i, unsigned flags)
{
    if (flags & SB_SQLSCAN_BACKSLASH)
        return s[i] == '\'' || !(flags & SB_SQLSCAN_DOLLAR);
    return (flags & SB_SQLSCAN_DOLLAR) && i > 0 && (s[i - 1] | 32) == 'e' &&
           !sb__sqlscan_after_word(s, i - 1);
}

// Returns the position of the first word: after blanks and comments.
static inline size_t sb_sqlscan_start(const char *s, size_t len, unsigned flags)
{
    size_t i = 0;

    while (i < len) {
        if ((unsigned char)s[i] <= ' ')
            i++;
        else if ((s[i] == '-' && sb__sqlscan_dashes(s, len, i, flags)) ||
                 (s[i] == '#' && (flags & SB_SQLSCAN_HASH)))
            i = sb__sqlscan_line(s, len, i);
        else if (s[i] == '/' && sb__sqlscan_opens(s, len, i, flags))
            i = sb__sqlscan_block(s, len, i, flags & SB_SQLSCAN_NEST);
        else
            break;
    }
    return i;
}

// Returns the position after the string, quoted name, comment or, if there is
// none of them, character at i.
static inline size_t sb_sqlscan_skip(
    const char *s, size_t len, size_t i, unsigned flags)
{
    switch (s[i]) {
    case '\'':
    case '"':
        return sb__sqlscan_quoted(s, len, i, sb__sqlscan_escapes(s, i, flags));
    case '`':
        return sb__sqlscan_quoted(s, len, i, false);
    case '-':
        return sb__sqlscan_dashes(s, len, i, flags)
                   ? sb__sqlscan_line(s, len, i)
                   : i + 1;
    case '#':
        return flags & SB_SQLSCAN_HASH ? sb__sqlscan_line(s, len, i) : i + 1;
    case '/':
        return sb__sqlscan_opens(s, len, i, flags)
                   ? sb__sqlscan_block(s, len, i, flags & SB_SQLSCAN_NEST)
                   : i + 1;
    case '$':
        return flags & SB_SQLSCAN_DOLLAR ? sb__sqlscan_dollar(s, len, i)
                                         : i + 1;
    default:
        return i + 1;
    }
}

// Returns the position of the first '?' at or after `from` that is not inside
// a string or the like, or len.
static inline size_t sb_sqlscan_mark(
    const char *s, size_t len, size_t from, unsigned flags)
{
    size_t i = from;

    while (i < len && s[i] != '?')
        i = sb_sqlscan_skip(s, len, i, flags);
    return i;
}

// True if the '?' that sb_sqlscan_mark() found at i is the first of two, which
// stand for one literal '?'.
static inline bool sb_sqlscan_escaped(const char *s, size_t len, size_t i)
{
    return i + 1 < len && s[i] == '?' && s[i + 1] == '?';
}

// Returns the position of the first placeholder at or after `from`, or
// len. Start with 0 and continue after the last one found.
static inline size_t sb_sqlscan_next(
    const char *s, size_t len, size_t from, unsigned flags)
{
    size_t i = sb_sqlscan_mark(s, len, from, flags);

    while (sb_sqlscan_escaped(s, len, i))
        i = sb_sqlscan_mark(s, len, i + 2, flags);
    return i;
}

#endif
