// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/escape.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool follows(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

// Returns the length of the non-ASCII UTF-8 character at s, or 0 if there is
// no valid one. Overlong forms, surrogates and numbers above U+10FFFF are
// invalid.
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0xc2 || s[0] > 0xf4 || !follows(s[1]))
        return 0;
    if (s[0] < 0xe0)
        return 2;
    if (s[0] == 0xe0 && s[1] < 0xa0)
        return 0;
    if (s[0] == 0xed && s[1] >= 0xa0)
        return 0;
    if (!follows(s[2]))
        return 0;
    if (s[0] < 0xf0)
        return 3;
    if (s[0] == 0xf0 && s[1] < 0x90)
        return 0;
    if (s[0] == 0xf4 && s[1] >= 0x90)
        return 0;
    return follows(s[3]) ? 4 : 0;
}

// Returns the length of the character at s if it is printed unchanged, 0 if it
// must be escaped.
static size_t shown_length(const unsigned char *s)
{
    size_t n;

    if (s[0] < 0x80)
        return (s[0] >= 0x20 && s[0] != 0x7f) || s[0] == '\n' || s[0] == '\t';
    n = utf8_length(s);
    // U+0080 to U+009F: some terminals interpret U+009B as an escape sequence.
    return s[0] == 0xc2 && s[1] < 0xa0 ? 0 : n;
}

// Appends the character at *s and advances *s. Returns false if out is full.
static bool add_char(
    char *out, size_t size, size_t *len, const unsigned char **s)
{
    size_t n = shown_length(*s), need = n ? n : 4;

    if (size - *len <= need)
        return false;
    if (n) {
        memcpy(out + *len, *s, n);
        *s += n;
    } else {
        snprintf(out + *len, size - *len, "\\x%02x", **s);
        *s += 1;
    }
    *len += need;
    return true;
}

size_t sb_escape(char *out, size_t size, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t len = 0;

    assert(size > 0);
    while (*s && add_char(out, size, &len, &s))
        ;
    out[len] = '\0';
    return len;
}

size_t sb_escape_line(char *out, size_t size, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    const unsigned char *space = (const unsigned char *)" ";
    bool room = true;
    size_t len = 0;

    assert(size > 0);
    while (room && *s) {
        size_t breaks = strspn((const char *)s, "\n\r\t");

        s += breaks;
        if (*s && breaks) {
            const unsigned char *one = space;

            room = add_char(out, size, &len, &one);
        }
        if (*s && room)
            room = add_char(out, size, &len, &s);
    }
    out[len] = '\0';
    return len;
}

bool sb_utf8_copy(char *out, size_t size, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t len = 0;
    bool same = true;

    assert(size > 0);
    while (*s) {
        size_t n = *s < 0x80 ? 1 : utf8_length(s);
        const void *from = n ? (const void *)s : "\xef\xbf\xbd";
        size_t need = n ? n : 3;

        if (size - len <= need)
            break;
        memcpy(out + len, from, need);
        len += need;
        s += n ? n : 1;
        same = same && n;
    }
    out[len] = '\0';
    return same && !*s;
}

void sb_utf8_name(char *out, size_t size, const char *text)
{
    enum { SUFFIX = 9 };
    uint32_t hash = 2166136261u; // FNV-1a

    assert(size > SUFFIX + 4);
    if (sb_utf8_copy(out, size, text))
        return;
    for (const char *s = text; *s; s++)
        hash = (hash ^ (unsigned char)*s) * 16777619u;
    sb_utf8_copy(out, size - SUFFIX, text);
    snprintf(out + strlen(out), SUFFIX + 1, "~%08" PRIx32, hash);
}

size_t sb_utf8_cut(const char *text, size_t len, size_t most)
{
    size_t n = most, steps = 0;

    if (n >= len)
        return len;
    while (n > 0 && steps < 3 && follows((unsigned char)text[n])) {
        n--;
        steps++;
    }
    return follows((unsigned char)text[n]) ? most : n;
}
